//! Values for sizes and integer arguments that fit a program: for made-up runs and for drawings.

mod scalars;

use crate::unit::Built;
use std::collections::BTreeMap;
use tessella_codegen::leave::ENDLESS;
use tessella_polyhedral::affine::ParamId;
use tessella_polyhedral::algorithm::{AccessRef, Algorithm, Computation, Param, ParamOrigin, ScanCheck, Which};
use tessella_polyhedral::bounds;
use tessella_polyhedral::count::points;
use tessella_polyhedral::error::{Error, LayoutError};
use tessella_polyhedral::isl::{DimType, Set, Val};

pub use scalars::Scalars;

/// What parameters get that nothing determines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Defaults {
    /// Sizes of arrays.
    pub side: i64,
    /// Integer arguments.
    pub count: i64,
}

impl Defaults {
    fn of(self, origin: &ParamOrigin) -> i64 {
        match origin {
            ParamOrigin::Argument(_) | ParamOrigin::Derived(_) => self.count,
            ParamOrigin::Extent { .. } => self.side,
            ParamOrigin::First { .. } => 1,
        }
    }
}

/// Why there are no sizes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SizesError {
    pub text: String,
    /// The way out.
    pub help: String,
}

/// What compiled functions take as sizes and integer arguments at most.
const LARGEST: i64 = 1 << 40;

/// Values for all parameters: what the user gave, what the checks at entry then need, else defaults.
pub fn choose(built: &Built, given: &[(String, i64)], defaults: Defaults) -> Result<Vec<i64>, SizesError> {
    let algorithm = built.analysed.verified.algorithm();
    choose_with(built, given, defaults, &Scalars::choose(algorithm, &|_| None, defaults))
}

/// [`choose`], where scalar arguments that are no parameters have these values.
pub fn choose_with(
    built: &Built,
    given: &[(String, i64)],
    defaults: Defaults,
    scalars: &Scalars,
) -> Result<Vec<i64>, SizesError> {
    let algorithm = built.analysed.verified.algorithm();
    let is_param = |name: &String| algorithm.params.iter().any(|param| param.name == *name && !is_derived(param));
    let is_scalar = |name: &String| algorithm.scalars.iter().any(|scalar| scalar.name == *name);
    if let Some((name, _)) = given.iter().find(|(name, _)| !is_param(name) && !is_scalar(name)) {
        let known = algorithm.params.iter().filter(|param| !is_derived(param));
        let known: Vec<&str> = known.map(|param| param.name.as_str()).collect();
        let text = format!("`{}` has no size `{name}`", algorithm.name);
        return Err(SizesError { text, help: format!("it has {}", known.join(", ")) });
    }
    for (name, value) in given {
        let Some(param) = algorithm.params.iter().find(|param| param.name == *name) else { continue };
        let least = match param.origin {
            ParamOrigin::Extent { .. } => 0,
            ParamOrigin::Argument(_) | ParamOrigin::First { .. } | ParamOrigin::Derived(_) => -LARGEST,
        };
        if !(least..=LARGEST).contains(value) {
            let text = format!("`{name}` cannot be {value}");
            let from = if least == 0 { "0" } else { "-2^40" };
            return Err(SizesError { text, help: format!("it is between {from} and 2^40 = {LARGEST}") });
        }
    }
    let help = "give other sizes".to_string();
    match built.ctx.with_budget(built.renewed(), || solve_all(built, given, defaults, scalars)) {
        Ok(Some(params)) => Ok(params),
        Ok(None) if scalars.missing(algorithm, defaults).is_some() => {
            let missing = scalars.missing(algorithm, defaults).unwrap_or_default();
            Err(SizesError { text: format!("`{missing}` has no value"), help: "give other numbers".to_string() })
        }
        Ok(None) => {
            let given: Vec<String> = given.iter().map(|(name, value)| format!("{name}={value}")).collect();
            let with = if given.is_empty() { String::new() } else { format!(" with {}", given.join(", ")) };
            Err(SizesError { text: format!("no sizes satisfy `{}`{with}", algorithm.name), help })
        }
        Err(error) => match built.ctx.with_budget(built.renewed(), || alike(built, given, defaults, scalars)) {
            Ok(Some(params)) => Ok(params),
            Ok(None) | Err(_) => Err(SizesError { text: error.to_string(), help }),
        },
    }
}

/// [`choose_with`] with smaller defaults where loops would run more often than `most` times: with the largest that take no more, or else
/// with the least.
pub fn choose_within(
    built: &Built,
    given: &[(String, i64)],
    defaults: Defaults,
    scalars: &Scalars,
    most: u64,
) -> Result<Vec<i64>, SizesError> {
    let mut chosen = choose_with(built, given, defaults, scalars)?;
    let Defaults { mut side, mut count } = defaults;
    while takes_more(built, &chosen, most) && (side > LEAST || count > LEAST) {
        // Few steps in time show less than few points in space.
        match side > SMALL {
            true => side /= 2,
            false => (side, count) = ((side / 2).max(LEAST), (count / 2).max(LEAST)),
        }
        chosen = choose_with(built, given, Defaults { side, count }, scalars)?;
    }
    Ok(chosen)
}

/// Sides that are halved before counts are.
const SMALL: i64 = 8;
/// What sides and counts are at least.
const LEAST: i64 = 2;
/// Iterations that counting instances may run.
const COUNTING: u64 = 1 << 20;

/// What loops that only data end are taken to run for.
const TURNS: i64 = 10;

/// Whether statements have more than `most` instances, as far as that can be told.
fn takes_more(built: &Built, params: &[i64], most: u64) -> bool {
    let algorithm = built.analysed.verified.source();
    let instances = |computation: &Computation, steps: &mut u64| -> Result<Option<u64>, Error> {
        let mut domain = computation.domain.clone();
        for (param, &value) in algorithm.params.iter().zip(params) {
            if let Some(at) = domain.space()?.find_dim_by_name(DimType::Param, &param.name)? {
                domain = domain.fix(DimType::Param, at, &Val::from_i64(&built.ctx, value)?)?;
            }
        }
        let mut domain = domain.project_out_all_params()?;
        // What only data end may end soon.
        for at in 0..domain.dim(DimType::Set)? {
            if domain.dim_max_val(at.cast_signed())?.to_i64().is_none_or(|most| most > ENDLESS) {
                domain = domain.upper_bound(DimType::Set, at, &Val::from_i64(&built.ctx, TURNS)?)?;
            }
        }
        points(&domain, steps)
    };
    let (mut steps, mut total) = (COUNTING, 0_u64);
    algorithm.computations.iter().any(|computation| {
        let count = built.ctx.with_budget(built.renewed(), || instances(computation, &mut steps));
        total = total.saturating_add(count.ok().flatten().unwrap_or(0));
        total > most
    })
}

/// Arrays with as many axes alike, where these sizes pass all checks: for programs whose checks have so many alternatives that solving for
/// them takes too much.
fn alike(
    built: &Built,
    given: &[(String, i64)],
    defaults: Defaults,
    scalars: &Scalars,
) -> Result<Option<Vec<i64>>, Error> {
    let verified = &built.analysed.verified;
    let algorithm = verified.source();
    let mut shapes: BTreeMap<(u32, u32), i64> = BTreeMap::new();
    for (name, value) in given {
        let param = algorithm.params.iter().find(|param| param.name == *name);
        if let Some(&ParamOrigin::Extent { array, axis }) = param.map(|param| &param.origin) {
            shapes.entry((algorithm.array(array).rank, axis)).or_insert(*value);
        }
    }
    let mut values = vec![];
    for param in &algorithm.params {
        let own = given.iter().find(|(name, _)| *name == param.name).map(|(_, value)| *value);
        values.push(match param.origin {
            ParamOrigin::Extent { array, axis } => {
                let first = shapes.entry((algorithm.array(array).rank, axis));
                let like = *first.or_insert(own.unwrap_or(defaults.of(&param.origin)));
                own.unwrap_or(like)
            }
            ParamOrigin::Argument(_) | ParamOrigin::First { .. } => own.unwrap_or(defaults.of(&param.origin)),
            ParamOrigin::Derived(ref derived) => derived.evaluate(&values, &|id| scalars.value(algorithm, &values, id)),
        });
    }
    let passes = |set: &Set| -> Result<bool, Error> {
        let mut here = set.clone();
        for (param, &value) in algorithm.params.iter().zip(&values) {
            if let Some(at) = here.space()?.find_dim_by_name(DimType::Param, &param.name)? {
                here = here.fix(DimType::Param, at, &Val::from_i64(&built.ctx, value)?)?;
            }
        }
        Ok(!here.is_empty()?)
    };
    let required = algorithm.requirements.iter().map(|it| &it.holds);
    for set in required.chain(verified.checks().iter().map(|it| &it.holds)).chain([&algorithm.context]) {
        if !passes(set)? {
            return Ok(None);
        }
    }
    Ok(Some(values))
}

/// [`choose`], which is much work where many checks at entry have alternatives: the defaults for all that bounds loops, if these are
/// allowed, without a look at others.
pub fn choose_usual(built: &Built, given: &[(String, i64)], defaults: Defaults) -> Result<Vec<i64>, SizesError> {
    let algorithm = built.analysed.verified.algorithm();
    let mut all = given.to_vec();
    for (at, param) in algorithm.params.iter().enumerate() {
        let is_given = given.iter().any(|(name, _)| *name == param.name);
        let is_enough = matches!(of_param(algorithm, ParamId(at as u32)), Ok(Wanted::Enough) | Err(_));
        if !is_given && !is_enough {
            all.push((param.name.clone(), defaults.of(&param.origin)));
        }
    }
    choose(built, &all, defaults).or_else(|_| choose(built, given, defaults))
}

/// [`solve`], where some parameters follow from others and from scalars.
fn solve_all(
    built: &Built,
    given: &[(String, i64)],
    defaults: Defaults,
    scalars: &Scalars,
) -> Result<Option<Vec<i64>>, Error> {
    let algorithm = built.analysed.verified.source();
    let params = &algorithm.params;
    let Some(mut found) = solve(built, given, defaults)? else { return Ok(None) };
    let mut all = given.to_vec();
    for (position, param) in params.iter().enumerate() {
        let ParamOrigin::Derived(derived) = &param.origin else { continue };
        let through_scalars = derived.scalars().into_iter().filter_map(|id| scalars::param_of(algorithm, id));
        let read = derived.params().into_iter().map(|ParamId(at)| at as usize).chain(through_scalars);
        all.extend(read.filter(|&at| !is_derived(&params[at])).map(|at| (params[at].name.clone(), found[at])));
        found[position] = derived.evaluate(&found, &|id| scalars.value(algorithm, &found, id));
        all.push((param.name.clone(), found[position]));
    }
    if all.len() == given.len() { Ok(Some(found)) } else { solve(built, &all, defaults) }
}

fn is_derived(param: &Param) -> bool {
    matches!(param.origin, ParamOrigin::Derived(_))
}

fn solve(built: &Built, given: &[(String, i64)], defaults: Defaults) -> Result<Option<Vec<i64>>, Error> {
    let verified = &built.analysed.verified;
    let algorithm = verified.source();
    let fix = |set: &Set, name: &str, value: i64| -> Result<Set, Error> {
        match set.space()?.find_dim_by_name(DimType::Param, name)? {
            Some(at) => Ok(set.fix(DimType::Param, at, &Val::from_i64(&built.ctx, value)?)?),
            None => Ok(set.clone()),
        }
    };
    // First of all, since a condition on a subscript reads "nothing runs, or it is inside": with sizes for what runs such
    // alternatives go, which would multiply.
    let with_given = |set: &Set| given.iter().try_fold(set.clone(), |set, (name, value)| fix(&set, name, *value));
    let mut allowed = with_given(&algorithm.limited_context()?)?;
    for requirement in &algorithm.requirements {
        allowed = allowed.intersect(&with_given(&requirement.holds)?.coalesce()?)?.coalesce()?;
    }
    for check in verified.checks() {
        allowed = allowed.intersect(&with_given(&check.holds)?.coalesce()?)?.coalesce()?;
    }
    // Nobody checks what stands under `@inbounds`, so the inputs made here have to fit it.
    let mut all_checked = algorithm.clone();
    for computation in &mut all_checked.computations {
        computation.write.checked = true;
        computation.reads.iter_mut().for_each(|read| read.checked = true);
    }
    all_checked.context = with_given(&all_checked.context)?;
    let checks = match bounds::entry_checks(&built.ctx, &all_checked) {
        Err(Error::Layout(LayoutError::NeverInside { .. })) => return Ok(None),
        checks => checks?,
    };
    for check in checks {
        allowed = allowed.intersect(&with_given(&check.holds)?.coalesce()?)?.coalesce()?;
    }
    // Where the data decide whether an access happens, inputs made here had better fit it whatever they are.
    for check in algorithm.scan.iter().flat_map(|scan| &scan.checks) {
        let ScanCheck::Inside { access: AccessRef { computation, which }, axis: _ } = *check else { continue };
        let computation = &mut all_checked.computations[computation.0 as usize];
        let access = match which {
            Which::Write => &mut computation.write,
            Which::Read(at) => &mut computation.reads[at as usize],
        };
        access.within = None;
    }
    match bounds::entry_checks(&built.ctx, &all_checked) {
        Ok(checks) => {
            let mut spacious = allowed.clone();
            for check in checks {
                spacious = spacious.intersect(&with_given(&check.holds)?.coalesce()?)?.coalesce()?;
            }
            if !spacious.is_empty()? {
                allowed = spacious;
            }
        }
        // Some subscript would be outside for all sizes if the data let it.
        Err(Error::Layout(LayoutError::NeverInside { .. })) => {}
        Err(error) => return Err(error),
    }
    if allowed.is_empty()? {
        return Ok(None);
    }
    // Sizes for which every statement runs, where there are such, and then none that says that a test on the way has failed.
    let notes = |computation: &&Computation| algorithm.failed == Some(computation.write.array);
    for computation in algorithm.computations.iter().filter(|it| !notes(it)) {
        let running = allowed.intersect(&computation.domain.params()?)?.coalesce()?;
        if !running.is_empty()? {
            allowed = running;
        }
    }
    for computation in algorithm.computations.iter().filter(notes) {
        let passing = allowed.subtract(&computation.domain.params()?)?.coalesce()?;
        if !passing.is_empty()? {
            allowed = passing;
        }
    }
    // Defaults for what the user named himself in the source, then for what bounds loops; for the rest, extents of arrays that loops do
    // not go along, the least that the checks need.
    for wanted in [Wanted::Named, Wanted::Bounds, Wanted::Enough] {
        let named = wanted != Wanted::Enough;
        for (at, param) in algorithm.params.iter().enumerate() {
            if given.iter().any(|(name, _)| *name == param.name) || of_param(algorithm, ParamId(at as u32))? != wanted {
                continue;
            }
            let default = defaults.of(&param.origin);
            let tried = if named { fix(&allowed, &param.name, default)? } else { allowed.clone() };
            if named && !tried.is_empty()? {
                allowed = tried;
                continue;
            }
            let Some(position) = allowed.space()?.find_dim_by_name(DimType::Param, &param.name)? else { continue };
            let as_set = allowed.from_params()?.move_dims(DimType::Set, 0, DimType::Param, position, 1)?;
            let least = as_set.project_out_all_params()?.dim_min_val(0)?.to_i64();
            // A size that nothing needs gets the default, so that there is something to see.
            let value = match least {
                Some(least) if least > 1 => least,
                _ if !fix(&allowed, &param.name, default)?.is_empty()? => default,
                _ => least.unwrap_or(0),
            };
            allowed = fix(&allowed, &param.name, value)?;
        }
    }
    let mut values = vec![];
    for param in &algorithm.params {
        let value = match allowed.space()?.find_dim_by_name(DimType::Param, &param.name)? {
            Some(at) => allowed.fixed_val(DimType::Param, at)?.to_i64(),
            None => given.iter().find(|(name, _)| *name == param.name).map(|(_, value)| *value),
        };
        values.push(value.unwrap_or(defaults.of(&param.origin)));
    }
    Ok(Some(values))
}

/// What a parameter is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Named,
    /// Bounds loops, without a name of the user's.
    Bounds,
    Enough,
}

fn of_param(algorithm: &Algorithm, id: ParamId) -> Result<Wanted, Error> {
    if is_named(algorithm, id) {
        return Ok(Wanted::Named);
    }
    for computation in &algorithm.computations {
        if computation.domain.involves_dims(DimType::Param, id.0, 1)? {
            return Ok(Wanted::Bounds);
        }
    }
    Ok(Wanted::Enough)
}

/// Whether the user gave the parameter a name, rather than us (`A_1`).
fn is_named(algorithm: &Algorithm, id: ParamId) -> bool {
    let param = algorithm.param(id);
    match param.origin {
        ParamOrigin::Argument(_) | ParamOrigin::First { .. } | ParamOrigin::Derived(_) => true,
        ParamOrigin::Extent { array, axis } => param.name != format!("{}_{}", algorithm.array(array).name, axis + 1),
    }
}

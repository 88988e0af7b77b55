//! How many iterations a loop inside a kernel can have, seen from the host.

use crate::error::CodegenError;
use crate::from_ast::{Scope, condition, expression};
use crate::input::Input;
use crate::int_expr::{Cond, IntExpr, VariableId};
use crate::program::For;
use crate::whole_tiles::{Values, affine, parts};
use tessella_polyhedral::affine::{Affine, ParamId};
use tessella_polyhedral::isl::{Aff, AstBuild, DimType, Id, Map, MultiAff, PwAff, Set, Val};
use tessella_polyhedral::schedule::{Node, Path};
use tessella_scalar::CompareOp;

/// A loop around a kernel and the variable that holds its value.
pub type HostLoop = (Path, VariableId);

/// The values that the loop at `path` takes, by those of the loops around it inside of the kernel, the values of `host`
/// being parameters: `[params, host] -> { [enclosing] -> [value] }`; `None` if no computation runs it.
fn values(input: &Input<'_>, context: &Set, path: &Path, host: &[HostLoop]) -> Result<Option<Map>, CodegenError> {
    let params = input.algorithm.param_names();
    let mut values = vec![];
    let Some(Node::Loop(target)) = input.schedule.node(path) else { return Ok(None) };
    for (&id, at) in &target.at {
        let mut domain = input.instances(id)?.intersect_params(context)?;
        let mut space = domain.space()?;
        for number in 0..host.len() {
            space = space.add_param(&Id::new(context.ctx(), &host_name(number))?)?;
        }
        domain = domain.align_params(&space)?;
        let mut inner: Vec<Aff> = vec![];
        for (outer, it) in input.schedule.loops_around(id) {
            if outer.0.len() >= path.0.len() {
                break;
            }
            let value = it.at[&id].to_isl(&space, &params)?;
            match host.iter().position(|(known, _)| *known == outer) {
                Some(number) => {
                    let known = Aff::param_on(&space, &host_name(number))?;
                    domain = domain.intersect(&value.eq_set(&known)?)?;
                }
                None => inner.push(value),
            }
        }
        let tuple = space.add_unnamed_tuple(inner.len() as u32)?;
        let around = Map::from_multi_aff(&MultiAff::from_affs(&tuple, &inner)?)?.intersect_domain(&domain)?;
        let tuple = space.add_unnamed_tuple(1)?;
        let value = Map::from_multi_aff(&MultiAff::from_affs(&tuple, &[at.to_isl(&space, &params)?])?)?;
        let own = around.reverse()?.apply_range(&value)?;
        // Dozens of statements of one nest take the same.
        let is_known = |known: &Map| known.is_plainly_equal(&own);
        if !values.iter().map(is_known).collect::<Result<Vec<_>, _>>()?.contains(&true) {
            values.push(own);
        }
    }
    Ok(if values.is_empty() { None } else { Some(Map::union_all(values)?) })
}

/// The differences between any two values that the loop takes in one execution of it: `[params, host] -> { [difference] }`.
fn differences(input: &Input<'_>, context: &Set, path: &Path, host: &[HostLoop]) -> Result<Set, CodegenError> {
    match values(input, context, path, host)? {
        Some(values) => Ok(values.reverse()?.apply_range(&values)?.deltas()?.coalesce()?),
        None => Ok(Set::empty(&context.space()?.add_unnamed_tuple(1)?)?),
    }
}

/// The most iterations that the loop has in one execution, as an expression of parameters and host loops.
pub fn iterations(
    input: &Input<'_>,
    context: &Set,
    path: &Path,
    step: i64,
    host: &[HostLoop],
) -> Result<IntExpr, CodegenError> {
    let differences = differences(input, context, path, host)?;
    let known = differences.params()?;
    let build = AstBuild::from_context(&known.intersect_params(context)?)?;
    let scope = scope(input, host);
    let most: PwAff = differences.dim_max(0)?.coalesce()?;
    let most = expression(&build.expr_from_pw_aff(&most)?.view()?, &scope)?;
    let count = most.floor_div(step).plus(IntExpr::Const(1));
    // Where no iteration exists, the expression may have any value.
    let known = known.gist(context)?;
    if known.is_plainly_universe()? {
        return Ok(count);
    }
    let exists = AstBuild::from_context(context)?.expr_from_set(&known)?;
    Ok(IntExpr::Select(Box::new(condition(&exists.view()?, &scope)?), Box::new(count), Box::new(IntExpr::Const(0))))
}

/// The most iterations that the loop ever has; `None` if nothing bounds them.
pub fn most_iterations(input: &Input<'_>, context: &Set, path: &Path, step: i64) -> Result<Option<i64>, CodegenError> {
    let count = |apart: i64| apart.div_euclid(step).checked_add(1);
    let Some(values) = values(input, context, path, &[])? else { return Ok(Some(1)) };
    // Dozens of statements have many pairs of values, where one conjunction of them mostly has all that any of them ever takes.
    let range = value_range(input, context, path)?;
    let widest = range.and_then(|(low, high)| high.checked_sub(low));
    let values = values.coalesce()?;
    if let Some(widest) = widest {
        for own in values.basic_maps()? {
            let own = Map::from_basic_map(&own)?;
            let own = own.reverse()?.apply_range(&own)?.deltas()?;
            if !own.is_empty()? && own.dim_max_val(0)?.to_i64() == Some(widest) {
                return Ok(count(widest));
            }
        }
    }
    let differences = values.reverse()?.apply_range(&values)?.deltas()?;
    if differences.is_empty()? {
        return Ok(Some(1));
    }
    let most = differences.dim_max_val(0)?;
    if !most.is_int()? {
        return Ok(None);
    }
    Ok(most.to_i64().and_then(count))
}

/// The least and the greatest value that a loop takes, whatever the loops around it inside of the kernel.
pub struct Hull {
    pub low: IntExpr,
    pub high: IntExpr,
    /// Whether there is any; else the others mean nothing.
    pub exists: Cond,
}

/// The hull of no values.
fn nothing() -> Hull {
    Hull { low: IntExpr::Const(0), high: IntExpr::Const(0), exists: Cond::Const(false) }
}

/// The hull of a loop's values, as expressions of parameters and host loops.
pub fn hull(input: &Input<'_>, context: &Set, path: &Path, host: &[HostLoop]) -> Result<Hull, CodegenError> {
    let Some(values) = values(input, context, path, host)? else { return Ok(nothing()) };
    let values = values.range()?.coalesce()?;
    let known = values.params()?;
    let build = AstBuild::from_context(&known.intersect_params(context)?)?;
    let scope = scope(input, host);
    let text = |bound: PwAff| -> Result<IntExpr, CodegenError> {
        expression(&build.expr_from_pw_aff(&bound.coalesce()?)?.view()?, &scope)
    };
    let (low, high) = (text(values.dim_min(0)?)?, text(values.dim_max(0)?)?);
    let known = known.gist(context)?;
    let exists = match known.is_plainly_universe()? {
        true => Cond::Const(true),
        false => condition(&AstBuild::from_context(context)?.expr_from_set(&known)?.view()?, &scope)?,
    };
    Ok(Hull { low, high, exists })
}

/// Bounds of a loop's values that may lie outside of their hull: those of the rational numbers that its computations' bounds leave
/// it, so that isl has no cases to tell apart. `None` where these leave it no bounds.
pub fn rough_hull(
    input: &Input<'_>,
    context: &Set,
    path: &Path,
    host: &[HostLoop],
) -> Result<Option<Hull>, CodegenError> {
    let Some(values) = values(input, context, path, host)? else { return Ok(Some(nothing())) };
    let around = values.dim(DimType::In)?;
    let rough = values.remove_divs()?.eliminate(DimType::In, 0, around)?.range()?;
    let hull = Set::from_basic_set(&rough.simple_hull()?)?;
    if !hull.is_dim_bounded(DimType::Set, 0)? {
        return Ok(None);
    }
    let build = AstBuild::from_context(context)?;
    let scope = scope(input, host);
    let text = |bound: PwAff| -> Result<IntExpr, CodegenError> {
        expression(&build.expr_from_pw_aff(&bound)?.view()?, &scope)
    };
    let (low, high) = (text(hull.dim_min(0)?)?, text(hull.dim_max(0)?)?);
    let exists = Cond::compare(CompareOp::Le, low.clone(), high.clone());
    Ok(Some(Hull { low, high, exists }))
}

/// Whether the printed bounds of the loop `it` at `path`, below the loops `around` inside of the kernel, are never further
/// apart than two of its values in some execution of it.
pub fn values_fill_bounds(
    input: &Input<'_>,
    context: &Set,
    path: &Path,
    host: &[HostLoop],
    around: &[For],
    it: &For,
) -> Result<bool, CodegenError> {
    let mut names = input.algorithm.param_names();
    let mut known = Values::new();
    let variables = host.iter().map(|(_, variable)| *variable).chain(around.iter().map(|it| it.variable));
    for (number, variable) in variables.enumerate() {
        known.insert(variable, Affine::param(ParamId(names.len() as u32)));
        names.push(host_name(number));
    }
    let mut space = context.space()?;
    for name in &names {
        space = space.add_param(&Id::new(context.ctx(), name)?)?;
    }
    let space = space.add_unnamed_tuple(0)?;
    let zero = Aff::constant_on(&space, 0)?;
    // [params, host, around] -> { : the loops around have such values }
    let mut runs = Set::universe(&space)?.intersect_params(context)?;
    let mut distances: Vec<PwAff> = vec![];
    for one in around.iter().chain([it]) {
        let low = parts(&one.lower, true).into_iter().filter_map(|part| affine(&part, &known));
        let high: Vec<Affine> = parts(&one.upper, false).iter().filter_map(|part| affine(part, &known)).collect();
        for low in low {
            for high in &high {
                let Ok(distance) = high.sub(&low) else { continue };
                let distance = distance.to_isl(&space, &names)?;
                runs = runs.intersect(&distance.ge_set(&zero)?)?;
                if std::ptr::eq(one, it) {
                    distances.push(PwAff::from_aff(&distance)?);
                }
            }
        }
        if let Some(itself) = known.get(&one.variable) {
            let itself = itself.to_isl(&space, &names)?;
            let lower = parts(&one.lower, true).into_iter().map(|it| (it, true));
            for (bound, is_lower) in lower.chain(parts(&one.upper, false).into_iter().map(|it| (it, false))) {
                let Some(bound) = affine(&bound, &known) else { continue };
                let bound = bound.to_isl(&space, &names)?;
                let inside = if is_lower { itself.ge_set(&bound)? } else { itself.le_set(&bound)? };
                runs = runs.intersect(&inside)?;
            }
        }
    }
    if distances.is_empty() {
        return Ok(false);
    }
    let apart = PwAff::min_of(&distances)?.project_domain_on_params()?;
    let next = Val::from_i64(context.ctx(), it.step)?;
    let beyond = differences(input, context, path, host)?.dim_max(0)?.add_constant(&next)?;
    Ok(apart.ge_set(&beyond)?.is_disjoint(&runs.params()?)?)
}

/// The least and the greatest value that the loop ever takes, for all parameters; `None` if nothing bounds them.
pub fn value_range(input: &Input<'_>, context: &Set, path: &Path) -> Result<Option<(i64, i64)>, CodegenError> {
    let Some(Node::Loop(it)) = input.schedule.node(path) else { return Ok(None) };
    let mut range: Option<(i64, i64)> = None;
    for (&id, at) in &it.at {
        let domain = input.instances(id)?.intersect_params(context)?;
        let value = Map::from_aff(&at.to_isl(&domain.space()?, &input.algorithm.param_names())?)?;
        let values = domain.apply(&value)?.project_out_all_params()?;
        if values.is_empty()? {
            continue;
        }
        let bounds = (values.dim_min_val(0)?.to_i64(), values.dim_max_val(0)?.to_i64());
        let (Some(low), Some(high)) = bounds else { return Ok(None) };
        range = Some(range.map_or((low, high), |(least, most)| (least.min(low), most.max(high))));
    }
    Ok(range)
}

/// What isl's names mean: parameters and host loops.
fn scope(input: &Input<'_>, host: &[HostLoop]) -> Scope {
    let mut scope = Scope::new(&input.algorithm.param_names());
    for (number, (_, variable)) in host.iter().enumerate() {
        scope.bind(&host_name(number), IntExpr::Variable(*variable));
    }
    scope
}

/// The parameter that stands for a host loop; users' names have no spaces.
fn host_name(number: usize) -> String {
    format!("host {number}")
}

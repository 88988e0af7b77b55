//! One program, analysed once for many schedules: its dependences, its instances for small sizes, and what it computes.

use crate::examine::{Fault, OPERATIONS, codes, fault, refusal};
use crate::inputs;
use crate::instances::{Instances, Touch};
use crate::random::Random;
use std::cell::OnceCell;
use std::rc::Rc;
use tessella::file::{FileOptions, ScheduleSource, Sources};
use tessella::pipeline;
use tessella::results;
use tessella::unit::Unit;
use tessella_frontend::typed::tree::Type as ArgumentType;
use tessella_interpreter::{RunError, Value, run_within};
use tessella_lowering::Lowered;
use tessella_polyhedral::algorithm::{Algorithm, ArrayKind, ScanCheck};
use tessella_polyhedral::command::Command;
use tessella_polyhedral::dependence::{Dependence, dependences};
use tessella_polyhedral::effort;
use tessella_polyhedral::error::Error;
use tessella_polyhedral::isl::Ctx;
use tessella_polyhedral::layers::{Scheduled, Target};
use tessella_polyhedral::machine::Machine;
use tessella_polyhedral::storage::Stored;

/// What a program is for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setting {
    pub target: Target,
    /// The machine that Tessella's own order is made for.
    pub machine: Machine,
    /// The largest size that it runs with.
    pub most: i64,
    /// What isl may do in one pass, in [`OPERATIONS`].
    pub effort: u64,
}

impl Setting {
    pub fn small(target: Target) -> Setting {
        Setting { target, machine: Machine::GENERIC, most: 11, effort: 1 }
    }
}

/// How far a schedule has come.
#[derive(Clone)]
pub struct Progress {
    pub scheduled: Scheduled,
    /// Of the algorithm as commands have left it.
    pub all: Rc<Vec<Dependence>>,
    /// Storage commands, which are carried out last.
    pub storage: Vec<Command>,
    /// What they lead to.
    pub stored: Option<Rc<Stored>>,
    /// Instances for small parameters, where commands changed what they access.
    pub changed: Option<Rc<Vec<Instances>>>,
    /// Whether Tessella tiled time by hexagons.
    pub hexagons: bool,
}

/// A program that went through all that does not depend on its schedule.
pub struct Subject<'a> {
    pub unit: &'a Unit<'a>,
    pub ctx: Ctx,
    /// In the source's order.
    pub source: Scheduled,
    pub all: Rc<Vec<Dependence>>,
    pub setting: Setting,
    pub types: Vec<ArgumentType>,
    seed: u64,
    small: OnceCell<Vec<Instances>>,
    runs: OnceCell<Vec<Run>>,
}

/// Arguments, and what the source makes of them.
pub struct Run {
    pub arguments: Vec<Value>,
    pub params: Vec<i64>,
    pub fit: Fit,
    pub after: Vec<Value>,
    /// The scalars and new arrays that it gives back.
    pub outcome: Result<Vec<Value>, RunError>,
}

/// Whether all accesses that may happen are inside their arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    Inside,
    Outside,
    /// Those are outside which happen if data say so.
    DataDecide,
}

/// Programs with more instances are not enumerated.
const MOST: usize = 2500;

/// Statements and expressions that a run of the typed tree may execute.
const STEPS: u64 = 20_000_000;

/// Runs of one program.
const RUNS: usize = 3;

/// A text's function and commands.
pub fn with_unit<T>(
    source: &str,
    work: impl FnOnce(&Unit<'_>) -> Result<T, Fault>,
) -> Result<Result<T, String>, Fault> {
    let options =
        FileOptions { name: "case.jl".into(), function: None, types: vec![], schedule: ScheduleSource::InFile };
    let sources = match Sources::read(source, &options) {
        Ok(sources) => sources,
        Err(text) => return Ok(Err(text)),
    };
    let [item] = sources.functions() else { return Ok(Err("not one function".into())) };
    match sources.unit(item, &[]) {
        Ok(unit) => work(&unit).map(Ok),
        Err(errors) => Ok(Err(codes(&errors))),
    }
}

impl<'a> Subject<'a> {
    /// The program; or the reason why it is refused, where it may be.
    pub fn new(unit: &'a Unit<'a>, setting: Setting, seed: u64) -> Result<Result<Subject<'a>, String>, Fault> {
        let ctx = pipeline::context();
        let Lowered { algorithm, .. } = match pipeline::lower(&ctx, &unit.function) {
            Ok(lowered) => lowered,
            Err(errors) => return Ok(Err(codes(&errors))),
        };
        let all = match dependences(&ctx, &algorithm) {
            Ok(all) => Rc::new(all),
            Err(error) => return refusal(error).map(Err),
        };
        let types = unit.function.arguments.iter().map(|id| unit.function.locals[id.0 as usize].ty).collect();
        let schedule = algorithm.source_order.clone();
        let Setting { target, machine, most: _, effort: _ } = setting;
        let source = Scheduled { algorithm, schedule, target, machine, versions: vec![], scratch: Default::default() };
        ctx.set_max_operations(0);
        let (small, runs) = (OnceCell::new(), OnceCell::new());
        Ok(Ok(Subject { unit, ctx, source, all, setting, types, seed, small, runs }))
    }

    pub fn algorithm(&self) -> &Algorithm {
        &self.source.algorithm
    }

    /// What isl may do in one pass.
    pub fn operations(&self) -> u64 {
        self.setting.effort * OPERATIONS
    }

    /// Runs a pass under the limit of one pass.
    pub fn limited<T>(&self, scheduled: &Scheduled, work: impl FnOnce() -> T) -> T {
        let weight = effort::weight(&scheduled.algorithm, &scheduled.schedule);
        self.ctx.with_budget((self.operations() / weight).max(1), work)
    }

    /// The instances for small parameters: all values from 0 to 6 of one, some of several.
    pub fn small(&self) -> Result<&[Instances], Fault> {
        if let Some(known) = self.small.get() {
            return Ok(known);
        }
        let found = self.instances(self.algorithm())?;
        Ok(self.small.get_or_init(|| found))
    }

    /// The instances of the algorithm, or of what commands made of it, for small parameters.
    pub fn instances(&self, algorithm: &Algorithm) -> Result<Vec<Instances>, Fault> {
        let mut found = vec![];
        for params in inputs::small_parameters(self.algorithm(), &mut Random::new(self.seed)) {
            found.extend(Instances::new(&self.ctx, algorithm, &params, MOST).map_err(enumeration)?);
        }
        Ok(found)
    }

    /// The program in the source's order.
    pub fn start(&self) -> Progress {
        let (scheduled, all) = (self.source.clone(), self.all.clone());
        Progress { scheduled, all, storage: vec![], stored: None, changed: None, hexagons: false }
    }

    /// Some arguments and what the source makes of them.
    pub fn runs(&self) -> Result<&[Run], Fault> {
        if let Some(known) = self.runs.get() {
            return Ok(known);
        }
        let mut random = Random::new(self.seed ^ 0x5eed);
        let mut runs = vec![];
        for _ in 0..RUNS {
            let Some((arguments, params)) =
                inputs::arguments(&self.ctx, self.algorithm(), &self.types, self.setting.most, &mut random)?
            else {
                continue;
            };
            let fit = fit_of(&self.ctx, self.algorithm(), &params)?;
            let unchecked = self.algorithm().accesses().any(|at| !self.algorithm().access(at).checked);
            if unchecked && fit != Fit::Inside {
                // `@inbounds` promises that this does not happen.
                continue;
            }
            let mut after = arguments.clone();
            let outcome = run_within(STEPS, &self.unit.function, &mut after);
            let outcome = outcome.map(|returned| results::filled(&self.unit.function, &returned));
            runs.push(Run { arguments, params, fit, after, outcome });
        }
        Ok(self.runs.get_or_init(|| runs))
    }

    /// `n = 3, m = 0`.
    pub fn named(&self, params: &[i64]) -> String {
        let names = self.algorithm().param_names();
        let shown = names.into_iter().zip(params).map(|(name, value)| format!("{name} = {value}"));
        shown.collect::<Vec<_>>().join(", ")
    }
}

pub fn enumeration(error: Error) -> Fault {
    Fault { kind: "enumeration", text: format!("{error:?}") }
}

/// Of the accesses to arguments and local arrays.
fn fit_of(ctx: &Ctx, algorithm: &Algorithm, params: &[i64]) -> Result<Fit, Fault> {
    let Some(instances) = Instances::new(ctx, algorithm, params, inputs::MOST).map_err(enumeration)? else {
        return fault("enumeration", "too many instances of a run");
    };
    let is_inside = |touch: &Touch| {
        let array = algorithm.array(touch.array);
        match array.kind {
            ArrayKind::Private | ArrayKind::Result => true,
            ArrayKind::Argument | ArrayKind::Local { .. } | ArrayKind::Returned => {
                let (outer, own) = touch.element.split_at(array.kind.outer() as usize);
                own.iter().zip(&array.extents).all(|(&subscript, extent)| {
                    subscript >= 1 && subscript <= extent.evaluate(outer, params).unwrap_or(0)
                })
            }
        }
    };
    let outside = instances.touched.iter().flatten().filter(|touch| !is_inside(touch));
    // Entry looks at ranges that data tell, also where conditions that it does not know keep the source from them.
    let looks_at_values =
        algorithm.scan.as_ref().is_some_and(|scan| scan.checks.iter().any(|it| matches!(it, ScanCheck::Holds { .. })));
    let start = if looks_at_values { Fit::DataDecide } else { Fit::Inside };
    let data_decide = |touch: &Touch| {
        instances.shortened.contains(&touch.access.computation) || !algorithm.access(touch.access).is_affine()
    };
    Ok(outside.fold(start, |sofar, touch| match data_decide(touch) {
        true if sofar == Fit::Inside => Fit::DataDecide,
        true => sofar,
        false => Fit::Outside,
    }))
}

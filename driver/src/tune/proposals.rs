//! What a tuner would try, on a machine that cannot run it.

use super::{Begin, Share, Subject, TuneOptions, only, propose};
use crate::file::FileOptions;
use crate::pipeline::Refusal;
use crate::request::Backend;
use crate::run::{self, RunOptions};
use tessella_polyhedral::candidates::{self, Candidate};

/// What would be tried for the one chosen function of a file, in its order, and what the models looked at: for machines that cannot run it.
///
/// # Errors
/// As for [`super::of_file`], without those of a missing tool chain.
pub fn proposals(
    text: &str,
    options: &FileOptions,
    run_options: &RunOptions,
    backend: Backend,
    tune_options: TuneOptions,
) -> Result<Proposals, run::Failed> {
    let sources = run::sources(text, options, run_options)?;
    let refused = |errors: Refusal| run::Failed::Refused(sources.show(&errors));
    let item = only(&sources, options)?;
    let mut unit = sources.unit(item, &options.types).map_err(refused)?;
    unit.machine = tessella_runtime::machine::native();
    let built = unit.build(backend).map_err(refused)?;
    let values = run::choose_params(&built, run_options)?;
    let (function, machine) = (unit.function.clone(), unit.machine);
    let subject = Subject { sources: sources.map.clone(), function, target: backend, machine, threads: None };
    let space = propose(&unit, &subject, &built.own_commands(&unit), &values).map_err(refused)?;
    let mut order = candidates::in_order(&space, tune_options.seed);
    if tune_options.begin == Begin::Guesses {
        for share in space.shares.iter().rev() {
            let its = order.iter().enumerate().filter(|(_, it)| it.family.model() == share.model);
            let time = |it: &Candidate| it.predicted.map_or(f64::INFINITY, |it| it.time);
            if let Some((at, _)) = its.min_by(|(_, a), (_, b)| time(a).total_cmp(&time(b))) {
                order[..=at].rotate_right(1);
            }
        }
    }
    order.truncate(tune_options.most);
    Ok(Proposals { function: subject.function.name, candidates: order, shares: space.shares })
}

/// Candidates that nobody times.
pub struct Proposals {
    pub function: String,
    pub candidates: Vec<Candidate>,
    pub shares: Vec<Share>,
}

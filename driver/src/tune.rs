//! The tuner: times schedules that the core proposes, and keeps the fastest.
//!
//! A [`Tuner`] takes one step a candidate, so that whoever drives it can show how far it is and stop when he likes: what is best
//! so far stands at any time. A candidate counts only where its results are those of the untuned function, bit for bit.

mod proposals;

use crate::abi::values::{profiled, timed_call};
use crate::diagnose::{Place, diagnose};
use crate::file::{FileOptions, Sources};
use crate::pipeline::{self, Refusal};
use crate::request::{Backend, Options, Program, Status};
use crate::results;
use crate::run::{self, RunOptions};
use crate::session;
use crate::tuned::{Entry, Store, class_of, key_of};
use crate::unit::{Unit, target};
use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};
use tessella_diagnostics::{Code, Diagnostic, SourceMap, Spanned};
use tessella_frontend::scan::FunctionItem;
use tessella_frontend::typed::tree;
use tessella_interpreter::Value;
use tessella_polyhedral::candidates::{self, Candidate, Model};
use tessella_polyhedral::dependence::dependences;
use tessella_polyhedral::effort;
use tessella_polyhedral::layers::Scheduled;
use tessella_polyhedral::machine::Machine;

pub use proposals::{Proposals, proposals};
pub use tessella_polyhedral::candidates::{Family, Prediction, Share};
pub use tessella_polyhedral::command::Command;

/// The function that is tuned, as all of its candidates share it.
pub struct Subject {
    pub sources: SourceMap,
    pub function: tree::Function,
    pub target: Backend,
    pub machine: Machine,
    /// CPU threads; `None`: as many as OpenMP gives.
    pub threads: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TuneOptions {
    /// No candidate is begun after this time.
    pub budget: Duration,
    /// What the random part of the order of candidates grows from.
    pub seed: u64,
    /// How often a candidate is called at most; its fastest call counts.
    pub repeat: u32,
    /// The most candidates that are looked at.
    pub most: usize,
    pub begin: Begin,
}

/// Which candidates come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begin {
    /// The most promising of each group, in turns.
    InTurns,
    /// What each model likes best, until one of its candidates was timed; these are begun whatever the budget.
    Guesses,
}

/// Why nothing is tuned.
pub enum Failed {
    Refused(Refusal),
    ToolChain(Refusal),
}

/// What became of one candidate.
#[derive(Debug, Clone, PartialEq)]
pub struct Tried {
    pub family: Family,
    pub commands: Vec<Command>,
    pub predicted: Option<Prediction>,
    pub outcome: Outcome,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// Seconds of its fastest call.
    Timed(f64),
    /// It is not legal, or no code can be made of it; with the code of the diagnostic.
    Refused(String),
    /// Its results were others. It does not count.
    Differs(String),
}

/// What a step found to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Tried,
    /// The budget is used up.
    OutOfTime,
    /// All candidates were looked at.
    Exhausted,
}

/// The fastest so far. `None`: Tessella's own choice.
#[derive(Debug, Clone, PartialEq)]
pub struct Best {
    pub commands: Option<Vec<Command>>,
    pub seconds: f64,
}

pub struct Tuner {
    pub subject: Subject,
    options: TuneOptions,
    inputs: Vec<Value>,
    expected: (Vec<Value>, Vec<Value>),
    /// Whether the source lets results differ by rounding.
    may_round: bool,
    queue: VecDeque<Candidate>,
    /// By family: how many were refused for which reason before any went through; `None` once one did.
    refusals: BTreeMap<Family, Option<BTreeMap<String, u32>>>,
    /// Models whose first guess is still to be timed, before all others.
    guesses: Vec<Model>,
    pub untuned: f64,
    pub best: Best,
    pub tried: Vec<Tried>,
    /// How many schedules the models looked at, and how many of them they left.
    pub considered: usize,
    pub proposed: usize,
    /// The same by model.
    pub shares: Vec<Share>,
    /// Candidates of families that were given up.
    pub skipped: usize,
    /// The best one was compared with the untuned function once again.
    is_settled: bool,
    clock: Clock,
}

/// Tells the time since a tuner was asked for.
pub type Clock = Box<dyn FnMut() -> Duration + Send>;

/// A family of which so many were refused for one reason, and none went through, is given up.
const GIVE_UP: u32 = 3;
/// A candidate whose first call takes this many times the best is called no more.
const SLOW: f64 = 1.3;
/// Proofs and code of one candidate take no longer than this: numbers beyond machine words can take minutes, which no count of
/// operations tells. It is long, so that a busy machine refuses nothing else.
const LONG_BUILD: Duration = Duration::from_secs(30);
/// How often the best candidate and the untuned function are timed in turns at the end.
const TURNS: u32 = 3;
/// Calls of one candidate take no longer than this together, unless the first does.
const LONG: Duration = Duration::from_secs(2);

impl Tuner {
    /// Measures the untuned function and asks for candidates. `clock` tells the time since the tuner was asked for.
    pub fn new(subject: Subject, inputs: Vec<Value>, options: TuneOptions, clock: Clock) -> Result<Tuner, Failed> {
        let (program, space, may_round) = {
            let unit = subject.unit(None);
            let built = unit.build(subject.target).map_err(Failed::Refused)?;
            let program = load(&unit, &built, &subject)?;
            let own = built.own_commands(&unit);
            let values = run::params_of(built.analysed.verified.source(), &inputs);
            let may_round = run::rounding::freedom(built.analysed.verified.source()).is_some();
            (program, propose(&unit, &subject, &own, &values).map_err(Failed::Refused)?, may_round)
        };
        let mut queue: VecDeque<Candidate> = candidates::in_order(&space, options.seed).into();
        queue.truncate(options.most);
        let mut tuner = Tuner {
            subject,
            options,
            inputs,
            expected: (vec![], vec![]),
            may_round,
            refusals: BTreeMap::new(),
            guesses: match options.begin {
                Begin::InTurns => vec![],
                Begin::Guesses => space.shares.iter().map(|it| it.model).collect(),
            },
            untuned: f64::INFINITY,
            best: Best { commands: None, seconds: f64::INFINITY },
            tried: vec![],
            considered: space.considered,
            shares: space.shares.clone(),
            proposed: queue.len(),
            skipped: 0,
            is_settled: false,
            queue,
            clock,
        };
        match tuner.measure(&*program, None) {
            Ok((seconds, given)) => {
                (tuner.untuned, tuner.best.seconds) = (seconds, seconds);
                tuner.expected = given;
                Ok(tuner)
            }
            Err(code) => Err(Failed::Refused(vec![tuner.refused_inputs(&*program, code)])),
        }
    }

    /// Looks at the next candidate. Where there is none any more, the best one is compared with the untuned function once again.
    pub fn step(&mut self) -> Step {
        loop {
            let guess = self.next_guess();
            if guess.is_none() && (self.clock)() >= self.options.budget {
                self.settle();
                return Step::OutOfTime;
            }
            let Some(candidate) = self.queue.remove(guess.unwrap_or(0)) else {
                self.settle();
                return Step::Exhausted;
            };
            if self.is_given_up(candidate.family) {
                self.skipped += 1;
                continue;
            }
            let outcome = self.attempt(&candidate);
            if !matches!(outcome, Outcome::Refused(_)) {
                self.guesses.retain(|model| *model != candidate.family.model());
            }
            let reasons = self.refusals.entry(candidate.family).or_insert_with(|| Some(BTreeMap::new()));
            match &outcome {
                Outcome::Refused(code) => {
                    if let Some(reasons) = reasons {
                        *reasons.entry(code.clone()).or_default() += 1;
                    }
                }
                Outcome::Timed(_) | Outcome::Differs(_) => *reasons = None,
            }
            if let Outcome::Timed(seconds) = outcome
                && seconds < self.best.seconds
            {
                self.best = Best { commands: Some(candidate.commands.clone()), seconds };
            }
            let Candidate { family, commands, predicted } = candidate;
            self.tried.push(Tried { family, commands, predicted, outcome });
            return Step::Tried;
        }
    }

    /// Times the best candidate and the untuned function in turns: of many candidates some are fast by chance, and the
    /// untuned function was timed when the machine may have been busier.
    fn settle(&mut self) {
        let Some(commands) = self.best.commands.clone().filter(|_| !std::mem::replace(&mut self.is_settled, true))
        else {
            return;
        };
        let made = |commands: Option<&[Command]>| {
            let unit = self.subject.unit(commands);
            let built = unit.build(self.subject.target).ok()?;
            load(&unit, &built, &self.subject).ok()
        };
        let (Some(own), Some(best)) = (made(None), made(Some(&commands))) else { return };
        let (mut untuned, mut tuned) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..TURNS {
            for (program, fastest) in [(&own, &mut untuned), (&best, &mut tuned)] {
                if let Ok((seconds, _)) = self.measure(&**program, None) {
                    *fastest = fastest.min(seconds);
                }
            }
        }
        if tuned.is_finite() && untuned.is_finite() {
            self.untuned = untuned;
            self.best = if tuned < untuned {
                Best { commands: Some(commands), seconds: tuned }
            } else {
                Best { commands: None, seconds: untuned }
            };
        }
    }

    /// The place of the candidate that a model likes best of which none was timed yet.
    fn next_guess(&mut self) -> Option<usize> {
        while let Some(&model) = self.guesses.first() {
            let is_its = |it: &Candidate| it.family.model() == model && !self.is_given_up(it.family);
            let its = self.queue.iter().enumerate().filter(|(_, it)| is_its(it));
            let time = |it: &Candidate| it.predicted.map_or(f64::INFINITY, |it| it.time);
            if let Some((at, _)) = its.min_by(|(_, a), (_, b)| time(a).total_cmp(&time(b))) {
                return Some(at);
            }
            self.guesses.remove(0);
        }
        None
    }

    fn is_given_up(&self, family: Family) -> bool {
        let reasons = self.refusals.get(&family).and_then(Option::as_ref);
        reasons.is_some_and(|reasons| reasons.values().any(|&count| count >= GIVE_UP))
    }

    fn attempt(&self, candidate: &Candidate) -> Outcome {
        let unit = self.subject.unit(Some(&candidate.commands));
        let made = match unit.build_within(self.subject.target, LONG_BUILD) {
            Ok(Some(built)) => load(&unit, &built, &self.subject),
            Ok(None) => return Outcome::Refused("E0601".into()),
            Err(errors) => Err(Failed::Refused(errors)),
        };
        let program = match made {
            Ok(program) => program,
            Err(Failed::Refused(errors) | Failed::ToolChain(errors)) => {
                return Outcome::Refused(errors.first().map_or_else(String::new, |error| error.code.0.to_string()));
            }
        };
        match self.measure(&*program, Some(self.best.seconds)) {
            Err(code) => Outcome::Differs(format!("the call ended with {code}")),
            Ok((seconds, given)) => {
                let expected: Vec<Option<Value>> = self.expected.1.iter().cloned().map(Some).collect();
                let differences = run::differences(&self.subject.function, &given, &self.expected.0, &expected);
                let is_rounding = || self.may_round && run::by_rounding(&given, &self.expected.0, &expected).is_some();
                match differences.into_iter().next() {
                    Some(difference) if !is_rounding() => Outcome::Differs(difference),
                    Some(_) | None => Outcome::Timed(seconds),
                }
            }
        }
    }

    /// Seconds of the fastest call, on a GPU of the kernels of a call, and what the first gave; the code of a call that failed.
    /// `best` is what there is to beat.
    #[allow(clippy::type_complexity, reason = "arguments afterwards, and results")]
    fn measure(&self, program: &dyn Program, best: Option<f64>) -> Result<(f64, (Vec<Value>, Vec<Value>)), i32> {
        let types = self.subject.types();
        let results = results::types(&self.subject.function);
        let begun = Instant::now();
        let mut first = None;
        let mut fastest = f64::INFINITY;
        let is_profiled = self.subject.target == Backend::Cuda;
        let repeat = self.options.repeat.max(1);
        for _ in 0..if is_profiled { 1 } else { repeat } {
            let mut values = self.inputs.clone();
            let (code, given, time) = timed_call(program, &types, &mut values, &results);
            fastest = fastest.min(time.as_secs_f64());
            if code != 0 {
                return Err(code);
            }
            first.get_or_insert((values, given));
            if best.is_some_and(|best| fastest > SLOW * best) || begun.elapsed() > LONG {
                break;
            }
        }
        if is_profiled {
            // Copies take the same time whatever the kernels do, mostly longer than these.
            let measured = profiled(program, &types, &mut self.inputs.clone(), &results, repeat)?;
            fastest = measured.profile.kernels_time.as_secs_f64();
        }
        Ok((fastest, first.expect("at least one call was made")))
    }

    fn refused_inputs(&self, program: &dyn Program, code: i32) -> Diagnostic {
        let name = &self.subject.function.name;
        let reason = program.failure(code).map_or_else(|| format!("code {code}"), |failure| failure.to_string());
        let words = reason.split("text=").last().unwrap_or_default().to_string();
        Diagnostic::error(Code("E0777"), format!("`{name}` refused the arguments that it was to be tuned with"))
            .with_note(words)
            .with_help("tune with arguments that a call takes")
    }

    /// Keeps the best schedule for later compilations for sizes of this class.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn keep(&self, store: &Store, class: Vec<u32>) -> Result<(), Failed> {
        let Subject { function, target, machine, threads, .. } = &self.subject;
        let key = key_of(function, *target, machine, *threads).map_err(Failed::Refused)?;
        let Some(key) = key else { return Ok(()) };
        let entry = Entry { class, schedule: self.schedule(), seconds: self.best.seconds, untuned: self.untuned };
        use tessella_diagnostics::IntoDiagnostic;
        store.put(&key, &function.name, entry).map_err(|error| Failed::ToolChain(vec![error.into_diagnostic()]))
    }

    /// The best schedule as commands, one a line; empty where Tessella's own choice is best.
    pub fn schedule(&self) -> String {
        commands_text(self.best.commands.as_deref().unwrap_or_default())
    }

    pub fn budget(&self) -> Duration {
        self.options.budget
    }

    pub fn elapsed(&mut self) -> Duration {
        (self.clock)()
    }

    /// How many candidates are still to be looked at.
    pub fn left(&self) -> usize {
        self.queue.len()
    }

    /// The candidates that are still to be looked at, in their order.
    pub fn waiting(&self) -> impl Iterator<Item = &Candidate> {
        self.queue.iter()
    }

    /// Another clock, which tells the time since the tuner was asked for.
    pub fn set_clock(&mut self, clock: Clock) {
        self.clock = clock;
    }
}

pub fn commands_text(commands: &[Command]) -> String {
    commands.iter().map(Command::to_string).collect::<Vec<_>>().join("\n")
}

impl Subject {
    /// The function under a schedule; `None`: Tessella's own choice.
    pub fn unit(&self, commands: Option<&[Command]>) -> Unit<'_> {
        let span = self.function.span;
        let commands = commands.map(|all| all.iter().map(|it| Spanned { value: it.clone(), span }).collect());
        Unit {
            sources: &self.sources,
            function: self.function.clone(),
            commands,
            assumed: vec![],
            machine: self.machine,
        }
    }

    pub fn types(&self) -> Vec<tree::Type> {
        self.function.arguments.iter().map(|id| self.function.locals[id.0 as usize].ty).collect()
    }
}

/// A tuner for one function of a file, with made-up inputs, and the class of their sizes.
///
/// # Errors
/// As for [`run::run`]; also where the file has several functions and none is named.
pub fn of_file(
    text: &str,
    options: &FileOptions,
    run_options: &RunOptions,
    backend: Backend,
    tune_options: TuneOptions,
) -> Result<(Tuner, Vec<u32>), run::Failed> {
    let begun = Instant::now();
    let sources = run::sources(text, options, run_options)?;
    let refused = |errors: Refusal| run::Failed::Refused(sources.show(&errors));
    let item = only(&sources, options)?;
    let mut unit = sources.unit(item, &options.types).map_err(refused)?;
    unit.machine = tessella_runtime::machine::native();
    if unit.commands.is_some() {
        return Err(refused(has_schedule(&unit.function)));
    }
    let built = unit.build(backend).map_err(refused)?;
    let inputs = run::inputs(&unit, &built, run_options)?;
    let class = class_of(&inputs);
    let (function, machine) = (unit.function.clone(), unit.machine);
    let subject = Subject { sources: sources.map.clone(), function, target: backend, machine, threads: None };
    let clock = Box::new(move || begun.elapsed());
    let tuner = Tuner::new(subject, inputs, tune_options, clock).map_err(|failed| match failed {
        Failed::Refused(errors) => refused(errors),
        Failed::ToolChain(errors) => run::Failed::ToolChain(sources.show(&errors)),
    })?;
    Ok((tuner, class))
}

/// A function that has a schedule is not tuned.
pub fn has_schedule(function: &tree::Function) -> Refusal {
    let name = &function.name;
    vec![
        Diagnostic::error(Code("E0776"), format!("`{name}` has a schedule, and a tuner would look for another"))
            .primary(function.span, "this function")
            .with_help("take the `@schedule` away, in Julia with `Tessella.unschedule!`"),
    ]
}

fn load(unit: &Unit<'_>, built: &crate::unit::Built, subject: &Subject) -> Result<Box<dyn Program>, Failed> {
    let options = Options { threads: subject.threads, ..Options::default() };
    session::load(unit, built, subject.target, &options).map_err(|(status, errors)| match status {
        Status::ToolChain => Failed::ToolChain(errors),
        Status::Done | Status::Refused | Status::Internal => Failed::Refused(errors),
    })
}

/// The one function that is chosen.
fn only<'s>(sources: &'s Sources, options: &FileOptions) -> Result<&'s FunctionItem, run::Failed> {
    let [item] = sources.functions() else {
        let known: Vec<&str> = sources.functions().iter().map(|item| item.name.value.as_str()).collect();
        let text = format!("`{}` has {} functions, and one is tuned at a time", options.name, known.len());
        return Err(run::Failed::Usage(format!("{text}: choose one with `--function`: {}", known.join(", "))));
    };
    Ok(item)
}

/// The candidates for a function at these values of its parameters.
fn propose(unit: &Unit<'_>, subject: &Subject, own: &[Command], params: &[i64]) -> Result<candidates::Space, Refusal> {
    let ctx = pipeline::context();
    let lowered = pipeline::lower_with_tests(&ctx, &unit.function, target(subject.target))?;
    let start = Scheduled {
        algorithm: lowered.algorithm.clone(),
        schedule: lowered.algorithm.source_order.clone(),
        target: target(subject.target),
        machine: subject.machine,
        versions: vec![],
        scratch: Default::default(),
    };
    let weight = effort::weight(&start.algorithm, &start.schedule);
    let found = ctx
        .weighed(weight, || dependences(&ctx, &start.algorithm))
        .and_then(|all| candidates::candidates(&ctx, &start, &all, own, params));
    found.map_err(|error| {
        let place = Place {
            sources: unit.sources,
            algorithm: &start.algorithm,
            spans: &lowered.spans,
            command: None,
            legal_above: None,
        };
        vec![diagnose(&place, error)]
    })
}

//! `tessella tune`.

use crate::Failure;
use crate::arguments::{Arguments, Source};
use crate::output;
use crate::run::failure;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use signal_hook::consts::SIGINT;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tessella::run::{Failed, RunOptions};
use tessella::tune::{self, Begin, Command, Family, Outcome, Prediction, Proposals, Share, Step, TuneOptions, Tuner};
use tessella::tuned::Store;

#[derive(Args)]
#[command(mut_arg("function", |it| it.help("The function; it may be left out where only one is marked `@tessella`, or there is only one")))]
pub struct Tune {
    #[command(flatten)]
    source: TuneSource,
    #[command(flatten)]
    arguments: Arguments,
    /// Seconds after which no candidate is begun
    #[arg(short, long, value_name = "SECONDS", default_value_t = 60.0)]
    budget: f64,
    /// How often a candidate is called at most; the fastest call counts
    #[arg(long, default_value_t = 5)]
    repeat: u32,
    /// The most candidates that are looked at
    #[arg(long, value_name = "COUNT", default_value_t = 10_000)]
    most: usize,
    /// Times first what each model likes best, whatever the budget
    #[arg(long)]
    guesses: bool,
    /// Prints each candidate with what the models predict and what was measured; where nothing can run, what would be tried
    #[arg(long)]
    list: bool,
    /// Writes the best schedule to this file, for `--schedule`
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Does not keep the result
    #[arg(long)]
    dry: bool,
    /// Forgets what was found for all functions, and tunes nothing
    #[arg(long, exclusive = true)]
    clear: bool,
}

/// A file, unless there is nothing to tune.
#[derive(Args)]
struct TuneSource {
    #[command(flatten)]
    given: Option<Source>,
}

pub fn run(command: &Tune) -> Result<(), Failure> {
    if command.clear {
        let cleared = Store::open().and_then(|store| store.clear());
        let count = cleared.map_err(|error| Failure::ToolChain(error.to_string()))?;
        println!("forgot the schedules of {count} function{}", if count == 1 { "" } else { "s" });
        return Ok(());
    }
    let Some(source) = &command.source.given else {
        return Err(Failure::Usage("give a file to tune, or `--clear`".to_string()));
    };
    let budget = Duration::try_from_secs_f64(command.budget)
        .map_err(|_| Failure::Usage(format!("`--budget {}` is no number of seconds", command.budget)))?;
    let (text, options) = source.read()?;
    let run_options = RunOptions {
        sizes: command.arguments.sizes()?,
        values: command.arguments.values()?,
        seed: command.arguments.seed,
        repeat: command.repeat,
        compare: false,
        profile: false,
        chunked: false,
    };
    let begin = if command.guesses { Begin::Guesses } else { Begin::InTurns };
    let (seed, repeat, most) = (command.arguments.seed, command.repeat, command.most);
    let tune_options = TuneOptions { budget, seed, repeat, most, begin };
    let stop = Arc::new(AtomicBool::new(false));
    // A second Ctrl-C ends the process at once, while a candidate is still running.
    signal_hook::flag::register_conditional_default(SIGINT, stop.clone())
        .and_then(|_| signal_hook::flag::register(SIGINT, stop.clone()))
        .map_err(|error| Failure::Usage(format!("Ctrl-C cannot be caught: {error}")))?;
    let tuned = tune::of_file(&text, &options, &run_options, command.arguments.target.backend(), tune_options);
    let (mut tuner, class) = match tuned {
        // What the models say can be seen on a machine that cannot run it.
        Err(Failed::ToolChain(reason)) if command.list => {
            let backend = command.arguments.target.backend();
            let proposals = tune::proposals(&text, &options, &run_options, backend, tune_options).map_err(failure)?;
            print!("{}", listed(&proposals));
            return Err(Failure::ToolChain(reason));
        }
        other => other.map_err(failure)?,
    };
    let end = search(&mut tuner, &stop);
    print!("{}", told(&tuner, end, command.list));
    if let Some(path) = &command.output {
        output::write(Some(path), &(tuner.schedule() + "\n"))?;
    }
    if !command.dry {
        let store = Store::open().map_err(|error| Failure::ToolChain(error.to_string()))?;
        tuner.keep(&store, class).map_err(|_| Failure::ToolChain("the result cannot be kept".to_string()))?;
    }
    Ok(())
}

/// Why a search ended.
#[derive(Clone, Copy)]
enum End {
    Step(Step),
    Interrupted,
}

fn search(tuner: &mut Tuner, stop: &AtomicBool) -> End {
    let bar = ProgressBar::new(tuner.proposed as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}") {
        bar.set_style(style);
    }
    let end = loop {
        if stop.load(Ordering::Relaxed) {
            break End::Interrupted;
        }
        let (best, untuned) = (tuner.best.seconds, tuner.untuned);
        bar.set_position((tuner.proposed - tuner.left()) as u64);
        bar.set_message(format!(
            "best {:.3} ms, untuned {:.3} ms, {:.0} s",
            best * 1e3,
            untuned * 1e3,
            tuner.elapsed().as_secs_f64()
        ));
        match tuner.step() {
            Step::Tried => {}
            step @ (Step::OutOfTime | Step::Exhausted) => break End::Step(step),
        }
    };
    bar.finish_and_clear();
    end
}

/// What the models propose, where nothing can be timed.
fn listed(proposals: &Proposals) -> String {
    let mut text = format!("{}: nothing can be timed here\n", proposals.function);
    for it in &proposals.candidates {
        text.push_str(&line("not timed", it.predicted, it.family, &it.commands));
    }
    text + &by_model(&proposals.shares)
}

/// A candidate of the list.
fn line(outcome: &str, predicted: Option<Prediction>, family: Family, commands: &[Command]) -> String {
    let predicted = predicted.map_or("-".to_string(), |it| {
        let bytes = it.bytes.map_or(String::new(), |bytes| format!(", {bytes:.2} B"));
        format!("{:.4} ns{bytes}", it.time)
    });
    let commands = tune::commands_text(commands).replace('\n', "; ");
    format!("  {outcome:<16} {predicted:<22} {:<13}  {commands}\n", family.name())
}

fn by_model(shares: &[Share]) -> String {
    let line = |share: &Share| {
        format!("    {}: {} considered, {} proposed\n", share.model.name(), share.considered, share.proposed)
    };
    shares.iter().map(line).collect()
}

fn told(tuner: &Tuner, end: End, list: bool) -> String {
    let mut text = format!("{}: untuned {:.3} ms\n", tuner.subject.function.name, tuner.untuned * 1e3);
    if list {
        for tried in &tuner.tried {
            let outcome = match &tried.outcome {
                Outcome::Timed(seconds) => format!("{:.3} ms", seconds * 1e3),
                Outcome::Refused(code) => format!("refused, {code}"),
                Outcome::Differs(difference) => format!("does not count: {difference}"),
            };
            text.push_str(&line(&outcome, tried.predicted, tried.family, &tried.commands));
        }
    }
    let timed = tuner.tried.iter().filter(|it| matches!(it.outcome, Outcome::Timed(_))).count();
    let differ = tuner.tried.iter().filter(|it| matches!(it.outcome, Outcome::Differs(_))).count();
    let refused = tuner.tried.len() - timed - differ;
    text.push_str(&format!(
        "  {} schedules considered, {} proposed by the models; {timed} timed, {refused} refused, {} given up with their kind\n",
        tuner.considered, tuner.proposed, tuner.skipped
    ));
    text.push_str(&by_model(&tuner.shares));
    if differ > 0 {
        text.push_str(&format!("  {differ} gave other results and do not count: please report this\n"));
    }
    text.push_str(match end {
        End::Step(Step::Exhausted) => "  all were looked at\n",
        End::Step(Step::OutOfTime | Step::Tried) => "  the budget is used up\n",
        End::Interrupted => "  interrupted\n",
    });
    match &tuner.best.commands {
        None => text.push_str("  best: Tessella's own choice\n"),
        Some(commands) => {
            text.push_str(&format!(
                "  best: {:.3} ms, {:.2} times as fast\n",
                tuner.best.seconds * 1e3,
                tuner.untuned / tuner.best.seconds
            ));
            for line in tune::commands_text(commands).lines() {
                text.push_str(&format!("    {line}\n"));
            }
        }
    }
    text
}

//! `tessella run`.

use crate::Failure;
use crate::arguments::{Arguments, Source, TargetName};
use clap::Args;
use tessella::run::{self, Failed, RunOptions, Schedules};

#[derive(Args)]
pub struct Run {
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    arguments: Arguments,
    /// How many calls are timed; the fastest counts
    #[arg(long, default_value_t = 3)]
    repeat: u32,
    /// Skips the interpreter, which is slow on large inputs
    #[arg(long)]
    no_compare: bool,
    /// Measures kernels and copies, beside the bytes and operations that they stand for; needs --target cuda
    #[arg(long)]
    profile: bool,
    /// Runs an outer parallel loop in slices where the memory of the GPU does not hold all arrays; needs --target cuda
    #[arg(long)]
    chunked: bool,
    /// Ignores schedules that `tessella tune` has found
    #[arg(long)]
    untuned: bool,
}

pub fn run(command: &Run) -> Result<(), Failure> {
    if command.profile && command.arguments.target != TargetName::Cuda {
        return Err(Failure::Usage("`--profile` measures kernels on a GPU: add `--target cuda`".to_owned()));
    }
    if command.chunked && command.arguments.target != TargetName::Cuda {
        return Err(Failure::Usage("`--chunked` is about the memory of a GPU: add `--target cuda`".to_owned()));
    }
    let (text, options) = command.source.read()?;
    let run_options = RunOptions {
        sizes: command.arguments.sizes()?,
        values: command.arguments.values()?,
        seed: command.arguments.seed,
        repeat: command.repeat,
        compare: !command.no_compare,
        profile: command.profile,
        chunked: command.chunked,
    };
    let schedules = if command.untuned { Schedules::Own } else { Schedules::Tuned };
    let outcomes =
        run::run_by(&text, &options, &run_options, command.arguments.target.backend(), schedules).map_err(failure)?;
    let mut differing = vec![];
    for outcome in outcomes {
        let params: Vec<String> = outcome.params.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        println!("{}: {}", outcome.name, params.join(", "));
        for (at, result) in outcome.results.iter().enumerate() {
            println!("  result {:<6}{result}", at + 1);
        }
        if let Some(schedule) = &outcome.tuned {
            println!("  tuned        {}", schedule.replace('\n', "; "));
        }
        println!("  compiled     {:>12.3} ms", outcome.compiled.as_secs_f64() * 1e3);
        if let Some(profile) = &outcome.profile {
            profile.table().lines().for_each(|line| println!("  {line}"));
        }
        if let Some(interpreted) = outcome.interpreted {
            println!("  interpreter  {:>12.3} ms", interpreted.as_secs_f64() * 1e3);
            match (outcome.differences.is_empty(), &outcome.rounding) {
                (true, None) => println!("  identical"),
                (true, Some(rounding)) => println!("  close        {rounding}"),
                (false, _) => differing.push(format!("`{}`: {}", outcome.name, outcome.differences.join("; "))),
            }
        }
    }
    if differing.is_empty() { Ok(()) } else { Err(Failure::Differs(differing.join("\n"))) }
}

/// As the command line tells it.
pub fn failure(failed: Failed) -> Failure {
    match failed {
        Failed::Refused(text) => Failure::Refused(text),
        Failed::ToolChain(text) => Failure::ToolChain(text.trim_end().trim_start_matches("error: ").to_string()),
        Failed::Usage(text) => Failure::Usage(text),
    }
}

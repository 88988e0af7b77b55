//! The command behind `./x fuzz`.

use clap::{Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use tessella_fuzz::campaign::{Plan, campaign, corpus, work};
use tessella_fuzz::corpus::repository;
use tessella_fuzz::{Part, run};

#[derive(Parser)]
#[command(about = "Fuzzes Tessella's front end with mutated Julia sources")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Runs many inputs; exit status 1 if one fails.
    Run {
        part: Part,
        #[arg(default_value_t = 1_000_000)]
        inputs: u64,
        #[arg(default_value_t = 1)]
        seed: u64,
        /// Begin no input after this many seconds.
        #[arg(long, default_value_t = 3600)]
        seconds: u64,
        #[arg(long, default_value_t = default_workers())]
        workers: u64,
        /// Mutate these files and folders instead of the repository's.
        #[arg(long)]
        corpus: Vec<PathBuf>,
    },
    /// Prints one input.
    Show {
        part: Part,
        seed: u64,
        number: u64,
        #[arg(long)]
        corpus: Vec<PathBuf>,
    },
    /// Runs the text of a file.
    Check { part: Part, file: PathBuf },
    /// What `run` starts.
    #[command(hide = true)]
    Work { part: Part, seed: u64, from: u64, to: u64, seconds: u64, progress: PathBuf, corpus: Vec<PathBuf> },
}

fn default_workers() -> u64 {
    std::thread::available_parallelism().map_or(1, |count| count.get() as u64)
}

fn main() -> ExitCode {
    match perform(Cli::parse().task) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("tessella-fuzz: {error}");
            ExitCode::from(2)
        }
    }
}

/// Whether nothing failed.
fn perform(task: Task) -> std::io::Result<bool> {
    match task {
        Task::Run { part, inputs, seed, seconds, workers, corpus } => {
            let (time, regressions) = (Duration::from_secs(seconds), repository().join("fuzz/regressions"));
            let found = campaign(&Plan { part, inputs, seed, workers: workers.max(1), time, corpus, regressions })?;
            let refused: Vec<String> = found.refused.iter().map(|(code, count)| format!("{count} {code}")).collect();
            println!(
                "fuzz {}: {} inputs of seed {seed}, {} accepted, {} failing of {} causes; refused: {}",
                part.name(),
                found.inputs,
                found.accepted,
                found.failing_inputs,
                found.failures.len(),
                refused.join(", ")
            );
            Ok(found.failures.is_empty() && !found.stopped)
        }
        Task::Show { part, seed, number, corpus: more } => {
            print!("{}", corpus(part, &more)?.input(seed, number));
            Ok(true)
        }
        Task::Check { part, file } => {
            let verdict = run(part, &std::fs::read_to_string(file)?);
            println!("{verdict}");
            Ok(!verdict.is_failure())
        }
        Task::Work { part, seed, from, to, seconds, progress, corpus } => {
            work(part, seed, from..to, Duration::from_secs(seconds), &progress, &corpus)?;
            Ok(true)
        }
    }
}

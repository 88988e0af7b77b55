//! The `tessella` command: thin over the driver.

mod arguments;
mod check;
mod draw;
mod explain;
mod model;
mod output;
mod run;
mod transpile;
mod tune;

use clap::{Parser, Subcommand};
use signal_hook::consts::SIGPIPE;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Turns numeric Julia functions into CPU and GPU code with the same results.
#[derive(Parser)]
#[command(name = "tessella", version, after_help = EXIT_CODES, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  the program was refused: see the diagnostics on standard error
  2  the command line, or a file, could not be understood
  3  a compiler, NVRTC, the GPU driver or a GPU is missing or failed
  4  `run` found a result that differs from the interpreter's";

#[derive(Subcommand)]
enum Command {
    /// Prints what a function becomes: C, CUDA, or any stage before
    ///
    /// Without --function, all functions marked `@tessella` (or all, if none is marked) are printed, as one file where it is code.
    Transpile(transpile::Transpile),
    /// Checks functions of a file and reports what cannot be transpiled
    ///
    /// Those marked `@tessella`, or all, if none is marked or with --all. What is not checked is listed.
    Check(check::Check),
    /// Runs a function on made-up inputs and compares the result with the interpreter's, bit for bit
    Run(run::Run),
    /// Times schedules of a function, and keeps the fastest for later runs with sizes like these
    ///
    /// Candidates are ordered by models of what each moves and computes; each must give the untuned function's results, bit
    /// for bit. Ctrl-C ends the search, and keeps what is best so far.
    Tune(tune::Tune),
    /// Explains a function in words: dependences, what runs in parallel and why, what is checked
    ///
    /// With a diagnostic's code instead of a file (`tessella explain E0401`), explains the code.
    Explain(explain::Explain),
    /// Draws two dimensions of a function's iterations as SVG: points, dependences, tiles, order
    Draw(draw::Draw),
    /// Asks a model what it predicts: which tiles fit into memory best, and so on
    #[command(subcommand)]
    Model(model::Model),
}

fn main() -> ExitCode {
    // Whoever reads what is printed may stop, as `head` does: that ends the command as it ends others. Where the system does not
    // let us, printing fails instead.
    let _ = signal_hook::flag::register_conditional_default(SIGPIPE, Arc::new(AtomicBool::new(true)));
    let done = match Cli::parse().command {
        Command::Transpile(command) => transpile::run(&command),
        Command::Check(command) => check::run(&command),
        Command::Run(command) => run::run(&command),
        Command::Tune(command) => tune::run(&command),
        Command::Explain(command) => explain::run(&command),
        Command::Draw(command) => draw::run(&command),
        Command::Model(command) => model::run(&command),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprint!("{}", failure.text());
            ExitCode::from(failure.exit_code())
        }
    }
}

/// Why a command failed; each kind has its own exit code.
pub enum Failure {
    /// Rendered diagnostics.
    Refused(String),
    Usage(String),
    ToolChain(String),
    Differs(String),
}

impl Failure {
    fn text(&self) -> String {
        match self {
            Failure::Refused(text) => text.clone(),
            // Diagnostics say themselves that they are errors.
            Failure::ToolChain(text) if text.starts_with("error[") => format!("{}\n", text.trim_end()),
            Failure::Usage(text) | Failure::ToolChain(text) | Failure::Differs(text) => format!("error: {text}\n"),
        }
    }

    fn exit_code(&self) -> u8 {
        match self {
            Failure::Refused(_) => 1,
            Failure::Usage(_) => 2,
            Failure::ToolChain(_) => 3,
            Failure::Differs(_) => 4,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_function_is_tuned_and_help_says_so() {
        let said = Cli::try_parse_from(["tessella", "tune", "--help"]).err().expect("help is printed").to_string();
        assert!(said.contains("it may be left out where only one is marked"), "{said}");
    }

    #[test]
    fn a_failure_is_called_an_error_once() {
        let said = |text: &str| run::failure(tessella::run::Failed::ToolChain(text.to_string())).text();
        assert_eq!(said("error[E0703]: no NVIDIA driver\n"), "error[E0703]: no NVIDIA driver\n");
        assert_eq!(said("no compiler"), "error: no compiler\n");
        assert_eq!(said("error: no compiler\n"), "error: no compiler\n");
    }
}

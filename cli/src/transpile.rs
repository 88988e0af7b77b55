//! `tessella transpile`.

use crate::Failure;
use crate::arguments::{Source, TargetName};
use crate::output;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use tessella::file;
use tessella::request::{Backend, TextKind};

#[derive(Args)]
pub struct Transpile {
    #[command(flatten)]
    source: Source,
    #[arg(long, value_enum, default_value = "c")]
    target: TargetName,
    /// What to print; by default the target's code
    #[arg(short, long, value_enum)]
    emit: Option<Stage>,
    /// Writes to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Stage {
    /// Computations with their domains
    Algorithm,
    /// Dependences with distances
    Dependences,
    /// The order, as a tree of loops
    Schedule,
    /// The loops as generated, before they are printed for a target
    Loops,
    /// C with OpenMP
    C,
    /// A header for the C interface
    Header,
    /// CUDA with a host wrapper
    Cuda,
}

pub fn run(command: &Transpile) -> Result<(), Failure> {
    let (text, options) = command.source.read()?;
    let (kind, backend) = match (command.emit, command.target) {
        (None, TargetName::C) | (Some(Stage::C), _) => (TextKind::C, Backend::C),
        (None, TargetName::Cuda) | (Some(Stage::Cuda), _) => (TextKind::Cuda, Backend::Cuda),
        (Some(Stage::Header), target) => (TextKind::Header, target.backend()),
        (Some(Stage::Algorithm), target) => (TextKind::Algorithm, target.backend()),
        (Some(Stage::Dependences), target) => (TextKind::Dependences, target.backend()),
        (Some(Stage::Schedule), target) => (TextKind::Schedule, target.backend()),
        (Some(Stage::Loops), target) => (TextKind::Loops, target.backend()),
    };
    let (printed, warnings) =
        file::transpile_with_warnings(&text, &options, backend, kind).map_err(Failure::Refused)?;
    eprint!("{warnings}");
    output::write(command.output.as_deref(), &printed)
}

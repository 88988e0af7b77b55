//! `tessella check`.

use crate::Failure;
use crate::arguments::{Source, TargetName};
use clap::Args;
use tessella::file;

#[derive(Args)]
pub struct Check {
    #[command(flatten)]
    source: Source,
    #[arg(long, value_enum, default_value = "c")]
    target: TargetName,
}

pub fn run(command: &Check) -> Result<(), Failure> {
    let (text, options) = command.source.read()?;
    let report = file::check(&text, &options, command.target.backend());
    for line in &report.passed {
        println!("{line}");
    }
    match report.diagnostics.is_empty() {
        true => Ok(()),
        false => Err(Failure::Refused(report.diagnostics)),
    }
}

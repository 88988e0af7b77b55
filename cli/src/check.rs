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
    /// Checks functions that are not marked `@tessella`, too
    #[arg(long, conflicts_with = "function")]
    all: bool,
}

pub fn run(command: &Check) -> Result<(), Failure> {
    let (text, options) = command.source.read()?;
    let scope = if command.all { file::Scope::All } else { file::Scope::Marked };
    let report = file::check_scope(&text, &options, command.target.backend(), scope);
    for line in &report.passed {
        println!("{line}");
    }
    if !report.skipped.is_empty() {
        let names: Vec<String> = report.skipped.iter().map(|name| format!("`{name}`")).collect();
        println!("not marked `@tessella`, and not checked on their own: {} (--all checks them)", names.join(", "));
    }
    match report.diagnostics.is_empty() {
        true => Ok(()),
        false => Err(Failure::Refused(report.diagnostics)),
    }
}

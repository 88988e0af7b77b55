//! `tessella explain`.

use crate::Failure;
use crate::arguments::{Source, TargetName};
use clap::Args;
use tessella::codes;
use tessella::file;
use tessella::request::TextKind;

#[derive(Args)]
pub struct Explain {
    #[command(flatten)]
    source: Source,
    #[arg(long, value_enum, default_value = "c")]
    target: TargetName,
}

pub fn run(command: &Explain) -> Result<(), Failure> {
    let name = command.source.file.display().to_string();
    if codes::looks_like_code(&name) && !command.source.file.exists() {
        return match codes::page(&name) {
            Some(page) => {
                print!("{page}");
                Ok(())
            }
            None => Err(Failure::Usage(format!("there is no diagnostic `{name}`; docs/codes.md lists them"))),
        };
    }
    let (text, options) = command.source.read()?;
    let explained = file::transpile(&text, &options, command.target.backend(), TextKind::Explain);
    print!("{}", explained.map_err(Failure::Refused)?);
    Ok(())
}

//! `tessella model`.

use crate::Failure;
use crate::arguments::Source;
use clap::{Args, Subcommand};
use tessella::model::{self, Cell};

#[derive(Subcommand)]
pub enum Model {
    /// Ranks tilings of a function by useful results for each transferred element
    Tiles(Tiles),
    /// The same for a 5-point stencil of two space dimensions, by closed formulas
    Stencil(Stencil),
}

#[derive(Args)]
pub struct Tiles {
    #[command(flatten)]
    source: Source,
    /// How many elements fit into the memory that a tile works in
    #[arg(short, long, value_name = "ELEMENTS", value_parser = clap::value_parser!(u64).range(1..=MOST_MEMORY))]
    memory: u64,
}

#[derive(Args)]
pub struct Stencil {
    /// Variables of a computed cell, variables used of a cell that is only read, and coefficients of a cell
    #[arg(long, value_name = "V_C,V_L,C", value_delimiter = ',', num_args = 1, default_value = "1,1,0")]
    cell: Vec<u64>,
    /// How many elements fit into the memory that a tile works in
    #[arg(short, long, value_name = "ELEMENTS", value_parser = clap::value_parser!(u64).range(1..=MOST_MEMORY))]
    memory: u64,
}

/// All sizes that fit are tried, so there must be an end.
const MOST_MEMORY: u64 = 1 << 20;

pub fn run(command: &Model) -> Result<(), Failure> {
    let text = match command {
        Model::Tiles(command) => {
            let (text, options) = command.source.read()?;
            model::tiles(&text, &options, command.memory).map_err(Failure::Refused)?
        }
        Model::Stencil(command) => match command.cell.as_slice() {
            &[computed, read, coefficients] if (1..=1000).contains(&computed) && read <= 1000 && coefficients <= 1000 => {
                model::stencil(Cell { computed, read, coefficients }, command.memory)
            }
            _ => return Err(Failure::Usage("`--cell` takes three numbers up to 1000, as in `--cell 18,2,44`; the first is not 0".into())),
        },
    };
    print!("{text}");
    Ok(())
}

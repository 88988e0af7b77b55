//! `tessella model`.

use crate::Failure;
use crate::arguments::{Source, read};
use clap::{Args, Subcommand};
use indicatif::ProgressBar;
use std::path::PathBuf;
use tessella::model::{self, Cell, LayoutOptions, SearchOptions};

#[derive(Subcommand)]
pub enum Model {
    /// Ranks tilings of a function by useful results for each transferred element
    Tiles(Tiles),
    /// The same for a 5-point stencil of two space dimensions, by closed formulas
    Stencil(Stencil),
    /// Finds the paddings that bring most reads of a stencil to one place in their vectors
    Layout(Layout),
    /// Chooses the shapes of tiles at each level of a machine for a problem that a file describes
    Parallelograms(Parallelograms),
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

#[derive(Args)]
pub struct Layout {
    #[command(flatten)]
    source: Source,
    /// How many elements a vector has
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=64))]
    vector: u32,
    /// The extents of the arrays along their first axes, such as 1000,1000; what is missing is a multiple of the vector
    #[arg(long, value_delimiter = ',')]
    extents: Vec<u64>,
    /// Paddings may repeat after up to so many rows
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=8))]
    period: u32,
}

#[derive(Args)]
pub struct Parallelograms {
    /// The file that describes the problem, as docs/models.md says
    file: PathBuf,
    /// What the random directions of the search grow from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many shapes are looked at
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    evaluations: u64,
    /// Draws the shapes as SVG into this file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// All sizes that fit are tried, so there must be an end.
const MOST_MEMORY: u64 = 1 << 16;

pub fn run(command: &Model) -> Result<(), Failure> {
    let text = match command {
        Model::Tiles(command) => {
            let (text, options) = command.source.read()?;
            model::tiles(&text, &options, command.memory).map_err(Failure::Refused)?
        }
        Model::Stencil(command) => match command.cell.as_slice() {
            &[computed, read, coefficients]
                if (1..=1000).contains(&computed) && read <= 1000 && coefficients <= 1000 =>
            {
                model::stencil(Cell { computed, read, coefficients }, command.memory)
            }
            _ => {
                return Err(Failure::Usage(
                    "`--cell` takes three numbers up to 1000, as in `--cell 18,2,44`; the first is not 0".into(),
                ));
            }
        },
        Model::Layout(command) => {
            let (text, options) = command.source.read()?;
            if command.extents.iter().any(|&it| it > 1 << 40) {
                return Err(Failure::Usage("an extent of `--extents` is beyond 2^40".into()));
            }
            let extents = command.extents.clone();
            let asked = LayoutOptions { vector: command.vector, extents, period: command.period };
            model::layout(&text, &options, &asked).map_err(Failure::Refused)?
        }
        Model::Parallelograms(command) => parallelograms(command)?,
    };
    print!("{text}");
    Ok(())
}

fn parallelograms(command: &Parallelograms) -> Result<String, Failure> {
    let text = read(&command.file)?;
    let bar = ProgressBar::new(command.evaluations);
    let options = SearchOptions { seed: command.seed, evaluations: command.evaluations };
    let name = command.file.display().to_string();
    let told = model::parallelograms(&text, &name, options, &mut |used, _| bar.set_position(used));
    bar.finish_and_clear();
    let told = told.map_err(Failure::Refused)?;
    if let Some(path) = &command.output {
        let picture = told.picture.ok_or_else(|| Failure::Usage("only shapes of two axes can be drawn".into()))?;
        std::fs::write(path, picture)
            .map_err(|error| Failure::Usage(format!("`{}` cannot be written: {error}", path.display())))?;
    }
    Ok(told.text)
}

//! `tessella model`.

use crate::Failure;
use crate::arguments::{Source, number};
use clap::{Args, Subcommand};
use indicatif::ProgressBar;
use std::path::PathBuf;
use tessella::model::{self, Cell, LayoutOptions, ProgramOptions, SearchOptions};

#[derive(Subcommand)]
pub enum Model {
    /// Ranks tilings of a function by useful results for each transferred element
    Tiles(Tiles),
    /// The same for a 5-point stencil of two space dimensions, by closed formulas
    Stencil(Stencil),
    /// Finds the paddings that bring most reads of a stencil to one place in their vectors
    Layout(Layout),
    /// Chooses the shapes of tiles at each level of a machine, for a function or for a problem that a file describes
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
    /// A Julia file, or (any other name than `*.jl`) a file that describes a problem, as docs/models.md says
    #[command(flatten)]
    source: Source,
    /// A size or integer argument of the function, such as n=1000; what is not given is chosen to fit
    #[arg(long = "size", value_name = "NAME=VALUE", num_args = 1..)]
    sizes: Vec<String>,
    /// How long an iteration of the function takes, in seconds; else estimated from its operations
    #[arg(long, value_name = "SECONDS")]
    iteration: Option<f64>,
    /// A level of tiles for a function, from the innermost on: the seconds that starting a tile costs, and the most points that it
    /// may have; else one level, for the threads and the second-level caches of a CPU
    #[arg(long = "level", value_name = "SECONDS,POINTS")]
    levels: Vec<String>,
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
/// Levels of tiles.
const MOST_LEVELS: usize = 4;

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
    let (text, options) = command.source.read()?;
    let bar = ProgressBar::new(command.evaluations);
    let search = SearchOptions { seed: command.seed, evaluations: command.evaluations };
    let mut progress = |used, _| bar.set_position(used);
    let told = if command.source.file.extension().is_some_and(|it| it == "jl") {
        model::parallelograms_of(&text, &options, &of_program(command)?, search, &mut progress)
    } else {
        if command.describes_a_function() {
            let file = command.source.file.display();
            return Err(Failure::Usage(format!(
                "`{file}` is a problem, not a Julia file: it has no function, sizes or levels to choose"
            )));
        }
        model::parallelograms(&text, &options.name, search, &mut progress)
    };
    bar.finish_and_clear();
    let told = told.map_err(Failure::Refused)?;
    if let Some(path) = &command.output {
        let picture = told.picture.ok_or_else(|| Failure::Usage("only shapes of two axes can be drawn".into()))?;
        std::fs::write(path, picture)
            .map_err(|error| Failure::Usage(format!("`{}` cannot be written: {error}", path.display())))?;
    }
    Ok(told.text)
}

impl Parallelograms {
    /// Whether an option is given that says something of a function.
    fn describes_a_function(&self) -> bool {
        let Source { file: _, function, types, schedule } = &self.source;
        let is_plain = function.is_none() && types.is_empty() && schedule.is_none();
        !is_plain || !self.sizes.is_empty() || self.iteration.is_some() || !self.levels.is_empty()
    }
}

fn of_program(command: &Parallelograms) -> Result<ProgramOptions, Failure> {
    let sizes = command.sizes.iter().map(|item| number(item, "--size n=1000"));
    let is_time = |it: &f64| it.is_finite() && *it >= 0.0;
    let level = |item: &String| {
        let parts = item
            .split_once(',')
            .map(|(start, most)| (start.trim().parse::<f64>().ok(), most.trim().parse::<u64>().ok()));
        match parts {
            Some((Some(start), Some(most))) if is_time(&start) && most > 0 => Ok((start, most)),
            _ => Err(Failure::Usage(format!("`{item}` is no level of tiles, as in `--level 5e-6,65536`"))),
        }
    };
    if command.levels.len() > MOST_LEVELS {
        return Err(Failure::Usage(format!("a machine has at most {MOST_LEVELS} levels")));
    }
    if let Some(seconds) = command.iteration.filter(|it| !is_time(it) || *it == 0.0) {
        return Err(Failure::Usage(format!("`--iteration {seconds}` is no time")));
    }
    Ok(ProgramOptions {
        sizes: sizes.collect::<Result<_, _>>()?,
        iteration: command.iteration,
        levels: command.levels.iter().map(level).collect::<Result<_, _>>()?,
    })
}

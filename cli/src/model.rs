//! `tessella model`.

use crate::Failure;
use crate::arguments::{Source, TargetName, number};
use crate::output;
use clap::{Args, Subcommand};
use indicatif::ProgressBar;
use std::path::PathBuf;
use tessella::model::{
    self, Answers, Cell, IterationOptions, LONGEST_TIME, LayoutOptions, Memory, ProgramOptions, SearchOptions, Told,
};

/// What holds of all that take a Julia file.
const SEVERAL: &str = "Of several functions each is answered by itself: what a model cannot treat is refused on standard error, the other answers are \
printed, and the exit code is 1 if one was refused.";

#[derive(Subcommand)]
pub enum Model {
    /// Ranks tilings of a function by useful results for each transferred element
    Tiles(Tiles),
    /// The same for a 5-point stencil of two space dimensions, by closed formulas
    Stencil(Stencil),
    /// Finds the paddings that bring most reads of a stencil to one place in their vectors
    Layout(Layout),
    /// Counts the threads of a warp that meet in a bank of shared memory, for the tiles of a function's GPU program
    Banks(Banks),
    /// Chooses the shapes of tiles at each level of a machine, for a function or for a problem that a file describes
    Parallelograms(Parallelograms),
}

#[derive(Args)]
#[command(after_help = SEVERAL)]
pub struct Tiles {
    #[command(flatten)]
    source: Source,
    /// How many elements fit into the memory that a tile works in; else as many as a first-level cache holds, or, with `--target cuda`, the
    /// shared memory of a block
    #[arg(short, long, value_name = "ELEMENTS", value_parser = clap::value_parser!(u64).range(1..=MOST_MEMORY))]
    memory: Option<u64>,
    /// Tells what this tile costs instead: its sizes in space, then its time steps, such as 32,32,8, each up to 128, since the tile
    /// lies in the middle of loops of 240 iterations
    #[arg(long, value_name = "SIZES", value_delimiter = ',', num_args = 1, conflicts_with = "memory",
        value_parser = clap::value_parser!(u64).range(1..=MOST_SIDE))]
    tile: Vec<u64>,
    /// Tells what an iteration of this loop costs instead, as scheduled: by `--schedule`, by the source's own `@schedule`, or by Tessella
    #[arg(long, value_name = "LOOP", conflicts_with_all = ["memory", "tile"])]
    at: Option<String>,
    /// With `--at`: a size or integer argument, such as n=1000; else 240
    #[arg(long = "size", value_name = "NAME=VALUE", num_args = 1.., requires = "at")]
    sizes: Vec<String>,
    /// For which machine tiles are, or, with `--at`, for which one the function is scheduled
    #[arg(long, value_enum, default_value = "c", conflicts_with_all = ["memory", "tile"])]
    target: TargetName,
}

#[derive(Args)]
pub struct Stencil {
    /// Variables of a computed cell, variables used of a cell that is only read, and coefficients of a cell
    #[arg(long, value_name = "V_C,V_L,C", value_delimiter = ',', num_args = 1, default_value = "1,1,0", value_parser = of_cell)]
    cell: Vec<u64>,
    /// How many elements fit into the memory that a tile works in
    #[arg(short, long, value_name = "ELEMENTS", value_parser = clap::value_parser!(u64).range(1..=MOST_MEMORY))]
    memory: u64,
}

#[derive(Args)]
#[command(after_help = SEVERAL)]
pub struct Layout {
    #[command(flatten)]
    source: Source,
    /// How many elements a vector has
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(2..=64))]
    vector: u32,
    /// The extents of the arrays along their first axes, such as 1000,1000; what is missing is a multiple of the vector
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u64).range(1..=MOST_ELEMENTS))]
    extents: Vec<u64>,
    /// Paddings may repeat after up to so many rows
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=8))]
    period: u32,
}

#[derive(Args)]
#[command(after_help = SEVERAL)]
pub struct Banks {
    #[command(flatten)]
    source: Source,
}

#[derive(Args)]
#[command(after_help = SEVERAL, mut_arg("file", |it| it.help("A Julia file, if its name ends in `.jl`; else a file that describes a problem, as docs/models.md says")))]
pub struct Parallelograms {
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
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    evaluations: u64,
    /// The edges of a tile to compare with, as the rows of a matrix, such as '53,-53;53,53'; one for each level, from the innermost on
    #[arg(long = "shape", value_name = "EDGES", allow_hyphen_values = true, value_parser = edges)]
    shapes: Vec<Edges>,
    /// Draws the shapes as SVG into this file: for each pair of axes what a plane along both, through the middle of a tile, has of it
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The axes to draw, by their loops or by numbers from 1, such as t,i
    #[arg(long, value_name = "FIRST,SECOND", value_delimiter = ',', num_args = 1, requires = "output")]
    dims: Vec<String>,
}

/// A matrix of `--shape`.
#[derive(Debug, Clone)]
struct Edges(Vec<Vec<i64>>);

/// All sizes that fit are tried, so there must be an end.
const MOST_MEMORY: u64 = 1 << 16;
/// A tile lies in the middle of loops of 240 iterations.
const MOST_SIDE: u64 = 128;
/// An array with more elements fits nowhere.
const MOST_ELEMENTS: u64 = 1 << 40;
/// Variables and coefficients of a cell.
const MOST_OF_CELL: u64 = 1000;
/// Levels of tiles.
const MOST_LEVELS: usize = 4;

pub fn run(command: &Model) -> Result<(), Failure> {
    let answers = match command {
        Model::Tiles(command) => {
            if command.source.schedule.is_some() && command.at.is_none() {
                return Err(Failure::Usage(
                    "without `--at`, `model tiles` counts tilings of the source's order, and reads no schedule: name a loop of the \
                     schedule with `--at`, or leave `--schedule` out and name the sizes of a tile with `--tile`"
                        .into(),
                ));
            }
            let (text, options) = command.source.read()?;
            let backend = command.target.backend();
            match (command.memory, &command.at) {
                (Some(memory), _) => model::tiles(&text, &options, Memory::Elements(memory)),
                (None, Some(name)) => {
                    let sizes =
                        command.sizes.iter().map(|item| number(item, "--size n=1000")).collect::<Result<_, _>>()?;
                    let asked = IterationOptions { loop_name: name.clone(), sizes, backend };
                    model::tiles_of_loop(&text, &options, &asked)
                }
                (None, None) if command.tile.is_empty() => model::tiles(&text, &options, Memory::Of(backend)),
                (None, None) => model::given_tile(&text, &options, &command.tile),
            }
        }
        Model::Stencil(command) => match command.cell.as_slice() {
            &[computed, read, coefficients] if computed > 0 => {
                let text = model::stencil(Cell { computed, read, coefficients }, command.memory);
                Answers { text, refused: String::new() }
            }
            _ => {
                return Err(Failure::Usage(format!(
                    "`--cell` takes three numbers up to {MOST_OF_CELL}, as in `--cell 18,2,44`; the first is not 0"
                )));
            }
        },
        Model::Layout(command) => {
            let (text, options) = command.source.read()?;
            let elements = command.extents.iter().try_fold(1_u64, |product, &it| product.checked_mul(it));
            if elements.is_none_or(|it| it > MOST_ELEMENTS) {
                return Err(Failure::Usage(
                    "the extents of `--extents` make an array of more than 2^40 elements".into(),
                ));
            }
            let extents = command.extents.clone();
            let asked = LayoutOptions { vector: command.vector, extents, period: command.period };
            model::layout(&text, &options, &asked)
        }
        Model::Banks(command) => {
            let (text, options) = command.source.read()?;
            model::banks(&text, &options)
        }
        Model::Parallelograms(command) => {
            let told = parallelograms(command)?;
            // The table took a search: it is shown even where the drawing comes to nothing.
            print!("{}", told.text);
            if !told.text.is_empty() {
                drawn(command, &told)?;
            }
            Answers { text: String::new(), refused: told.refused }
        }
    };
    print!("{}", answers.text);
    if answers.refused.is_empty() { Ok(()) } else { Err(Failure::Refused(answers.refused)) }
}

/// A matrix of `--shape`.
fn edges(text: &str) -> Result<Edges, String> {
    let row = |row: &str| row.split(',').map(|it| it.trim().parse().ok()).collect::<Option<Vec<i64>>>();
    let rows: Option<Vec<Vec<i64>>> = text.split(';').map(row).collect();
    let is_small = |it: &i64| it.unsigned_abs() <= 1 << 32;
    let rows = rows.filter(|all| all.iter().all(|row| row.len() == all.len() && row.iter().all(is_small)));
    rows.map(Edges).ok_or_else(|| "edges are as many rows as there are axes, as in '8,0;0,8'".to_string())
}

/// A number of `--cell`.
fn of_cell(text: &str) -> Result<u64, String> {
    let number = text.trim().parse().ok().filter(|&it| it <= MOST_OF_CELL);
    number.ok_or_else(|| format!("each of the three is a number from 0 to {MOST_OF_CELL}"))
}

fn parallelograms(command: &Parallelograms) -> Result<Told, Failure> {
    let (text, options) = command.source.read()?;
    let bar = ProgressBar::new(command.evaluations);
    let given = command.shapes.iter().map(|Edges(rows)| rows.clone()).collect();
    let search = SearchOptions { seed: command.seed, evaluations: command.evaluations, given };
    let mut progress = |used, _| bar.set_position(used);
    let told = if command.source.file.extension().is_some_and(|it| it == "jl") {
        Ok(model::parallelograms_of(&text, &options, &of_program(command)?, search, &mut progress))
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
    told.map_err(Failure::Refused)
}

/// Writes the drawing, if one is asked for.
fn drawn(command: &Parallelograms, told: &Told) -> Result<(), Failure> {
    let Some(path) = &command.output else { return Ok(()) };
    let dims = match command.dims.as_slice() {
        [] => None,
        [first, second] => Some((first.trim(), second.trim())),
        _ => return Err(Failure::Usage("`--dims` takes two axes, as in `--dims t,i`".into())),
    };
    let picture = told.picture(dims).map_err(|error| Failure::Usage(error.to_string()))?;
    output::write(Some(path), &picture)
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
    let is_time = |it: &f64| (0.0..=LONGEST_TIME).contains(it);
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

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(subcommand)]
        model: Model,
    }

    fn read(line: &str) -> Result<Model, String> {
        let words = std::iter::once("model").chain(line.split(' '));
        Line::try_parse_from(words).map(|it| it.model).map_err(|error| error.to_string())
    }

    fn refused(line: &str) -> String {
        match read(line).map(|it| run(&it)) {
            Err(text) => text,
            Ok(Err(failure)) => failure.text(),
            Ok(Ok(())) => panic!("`{line}` is not refused"),
        }
    }

    #[test]
    fn numbers_of_a_cell_have_a_range() {
        for line in ["stencil --memory 64 --cell 1,1,-3", "stencil --memory 64 --cell 1,1001,0"] {
            let said = refused(line);
            assert!(said.contains("from 0 to 1000"), "{said}");
        }
        for line in ["stencil --memory 64 --cell 0,1,1", "stencil --memory 64 --cell 1,1"] {
            let said = refused(line);
            assert!(said.contains("three numbers up to 1000") && said.contains("the first is not 0"), "{said}");
        }
        assert!(read("stencil --memory 64 --cell 18,2,44").is_ok());
    }

    #[test]
    fn tiles_of_a_schedule_belong_to_a_loop() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/heat2d.jl");
        let said = refused(&format!("tiles {file} --memory 64 --schedule s.txt"));
        assert!(said.contains("reads no schedule") && said.contains("--tile") && said.contains("--at"), "{said}");
    }

    #[test]
    fn extents_are_those_of_an_array_that_there_can_be() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/stencils/jacobi3d27.jl");
        for extents in ["0,0", "5,0", "1099511627777"] {
            let said = refused(&format!("layout {file} --extents {extents}"));
            assert!(said.contains("1..=1099511627776"), "{said}");
        }
        for extents in ["1048576,1048577", "1099511627776,1099511627776"] {
            let said = refused(&format!("layout {file} --extents {extents}"));
            assert!(said.contains("more than 2^40 elements"), "{said}");
        }
    }

    #[test]
    fn help_says_what_a_file_may_be_and_what_becomes_of_several_functions() {
        let said = refused("parallelograms --help");
        assert!(
            said.contains("A Julia file, if its name ends in `.jl`; else a file that describes a problem"),
            "{said}"
        );
        for command in ["tiles", "layout", "banks", "parallelograms"] {
            let said = refused(&format!("{command} --help"));
            assert!(said.contains("the exit code is 1 if one was refused"), "{said}");
        }
    }

    #[test]
    fn one_function_that_is_refused_decides_the_exit_code() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/ui/e0580_no_loops_to_tile.jl");
        let Ok(Err(failure)) = read(&format!("tiles {file} --memory 64")).map(|it| run(&it)) else {
            panic!("it is not refused")
        };
        assert_eq!(failure.exit_code(), 1);
    }

    #[test]
    fn a_drawing_that_comes_to_nothing_leaves_the_table() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/models/gauss2d.txt");
        let said = |more: &str| {
            let line = format!("parallelograms {file} --evaluations 50 {more}");
            let Ok(Model::Parallelograms(command)) = read(&line) else { panic!("the command is not read") };
            let Ok(told) = parallelograms(&command) else { panic!("the search is refused") };
            assert!(told.text.contains("selected"), "{}", told.text);
            match drawn(&command, &told) {
                Ok(()) => panic!("it is drawn"),
                Err(failure) => failure.text(),
            }
        };
        let axes = said("-o x.svg --dims t,1");
        assert!(axes.contains("nothing has the axes `t` and `1`: there are axis 1, axis 2, axis 3"), "{axes}");
        assert!(said("-o x.svg --dims t").contains("`--dims` takes two axes"));
        assert!(said("-o /nowhere/x.svg").contains("`/nowhere/x.svg` cannot be written"));
    }
}

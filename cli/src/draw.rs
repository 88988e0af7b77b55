//! `tessella draw`.

use crate::Failure;
use crate::arguments::{Source, TargetName, number};
use crate::output;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use tessella::file;
use tessella::request::{DrawOptions, DrawOrder};

#[derive(Args)]
pub struct Draw {
    #[command(flatten)]
    source: Source,
    #[arg(long, value_enum, default_value = "c")]
    target: TargetName,
    /// Draws this computation alone; else all that have the dimensions
    #[arg(short, long, value_name = "NAME")]
    computation: Option<String>,
    /// The horizontal and the vertical dimension, such as i,j; else two that are tiled, or the two outermost
    #[arg(short, long, value_name = "I,J", value_delimiter = ',')]
    dims: Vec<String>,
    /// What the dimensions are
    #[arg(long, value_enum, default_value = "iterations")]
    space: Space,
    /// A size or integer argument, such as n=8; what is not given is chosen to fit
    #[arg(long = "size", value_name = "NAME=VALUE", num_args = 1..)]
    sizes: Vec<String>,
    /// The value of another dimension, such as k=1; else the middle of its range
    #[arg(long, value_name = "NAME=VALUE", num_args = 1..)]
    fix: Vec<String>,
    /// How the order of execution is shown
    #[arg(long, value_enum, default_value = "auto")]
    order: Order,
    /// Draws the tiles of each tiling of time along time and one dimension of space instead, whatever the schedule is
    #[arg(long)]
    tiling: bool,
    /// Writes to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Space {
    /// The iterators of the source
    Iterations,
    /// The loops of the schedule
    Schedule,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Order {
    /// Numbers where they can be read, else lines
    Auto,
    /// A number in each point
    Numbers,
    /// A line from each point to the next
    Line,
    /// Not at all
    None,
}

pub fn run(command: &Draw) -> Result<(), Failure> {
    let (text, options) = command.source.read()?;
    let order = match command.order {
        Order::Auto => DrawOrder::Auto,
        Order::Numbers => DrawOrder::Numbers,
        Order::Line => DrawOrder::Line,
        Order::None => DrawOrder::None,
    };
    let sizes = command.sizes.iter().map(|item| number(item, "--size n=8"));
    let fix = command.fix.iter().map(|item| number(item, "--fix k=1"));
    let draw = DrawOptions {
        computation: command.computation.clone(),
        dims: command.dims.clone(),
        sizes: sizes.collect::<Result<_, _>>()?,
        fix: fix.collect::<Result<_, _>>()?,
        scheduled: command.space == Space::Schedule,
        order: Some(order),
        tiling: command.tiling,
    };
    let drawn = file::draw(&text, &options, &draw, command.target.backend()).map_err(Failure::Refused)?;
    drawn.missing.iter().for_each(|text| eprintln!("{text}"));
    output::write(command.output.as_deref(), &drawn.svg)
}

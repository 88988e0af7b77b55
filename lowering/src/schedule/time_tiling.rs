//! Commands that tile time: hexagonal, time_skew, space, grid_sync.

use super::error::CommandError;
use super::reader::Call;
use tessella_frontend::ast::{Expr, ExprKind};
use tessella_polyhedral::command::Command;
use tessella_polyhedral::schedule::{HexagonSize, OPEN, ResidentSize, StreamSize};

/// Tiles as loops, or, where no dimensions are named, tiles whose rows lie in registers: `(S, t, height, width)` and, each
/// optional after the one before, points, threads and tiles.
pub(super) fn hexagonal(call: &Call<'_>) -> Result<Command, CommandError> {
    if let [computation, time, height, width, more @ ..] = call.arguments.as_slice()
        && more.len() <= 3
        && matches!(height.kind, ExprKind::Integer(_))
    {
        let more = |at: usize| more.get(at).map_or(Ok(OPEN), |given| call.size(given));
        let hexagon =
            HexagonSize { height: call.size(height)?, width: call.size(width)?, threads: more(1)?, tiles: more(2)? };
        let size = StreamSize::hexagons(more(0)?, hexagon);
        return Ok(Command::Stream { computation: call.computation(computation)?, at: call.loop_name(time)?, size });
    }
    let [computations, time, loops, height, widths] = call.exactly()?;
    let (time, height) = (call.loop_name(time)?, call.size(height)?);
    let Tiles { computations, loops, widths } = tiles(call, computations, loops, widths)?;
    Ok(Command::Hexagonal { computations, time, loops, height, widths })
}

pub(super) fn time_skew(call: &Call<'_>) -> Result<Command, CommandError> {
    let [computations, time, loops, steps, widths] = call.exactly()?;
    let (time, steps) = (call.loop_name(time)?, call.size(steps)?);
    let Tiles { computations, loops, widths } = tiles(call, computations, loops, widths)?;
    Ok(Command::TimeSkew { computations, time, loops, steps, widths })
}

pub(super) fn space(call: &Call<'_>) -> Result<Command, CommandError> {
    let [computations, time, loops, widths] = call.exactly()?;
    let time = call.loop_name(time)?;
    let Tiles { computations, loops, widths } = tiles(call, computations, loops, widths)?;
    Ok(Command::Space { computations, time, loops, widths })
}

/// Loops of blocks that take turns, or, where no dimensions are named, tiles that stay where they are: `(S, t, steps)` and, each optional
/// after the one before, points, rows, warps and lines.
pub(super) fn grid_sync(call: &Call<'_>) -> Result<Command, CommandError> {
    if let [computation, time, steps, more @ ..] = call.arguments.as_slice()
        && more.len() <= 4
        && matches!(steps.kind, ExprKind::Integer(_))
    {
        let more = |at: usize| more.get(at).map_or(Ok(OPEN), |given| call.size(given));
        let size = ResidentSize {
            steps: call.size(steps)?,
            points: more(0)?,
            rows: more(1)?,
            warps: more(2)?,
            lines: more(3)?,
        };
        return Ok(Command::Resident { computation: call.computation(computation)?, at: call.loop_name(time)?, size });
    }
    let [computations, time, loops, widths] = call.exactly()?;
    let time = call.loop_name(time)?;
    let Tiles { computations, loops, widths } = tiles(call, computations, loops, widths)?;
    Ok(Command::GridSync { computations, time, loops, widths })
}

/// What all of them have.
struct Tiles {
    computations: Vec<String>,
    loops: Vec<String>,
    widths: Vec<u32>,
}

fn tiles(call: &Call<'_>, computations: &Expr, loops: &Expr, widths: &Expr) -> Result<Tiles, CommandError> {
    let computations = call.computations(computations)?;
    let (loops, sizes) = (call.loop_names(loops)?, call.sizes(widths)?);
    Ok(Tiles { computations, loops, widths: sizes })
}

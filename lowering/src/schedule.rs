//! Scheduling commands from the body of `@schedule f begin ... end`.

mod communication;
mod condition;
mod error;
mod reader;
mod storage;
mod time_tiling;
mod tree;

#[cfg(test)]
mod tests;

pub use error::{CommandError, Expected, TreeProblem};

use reader::{Call, call_of};
use tessella_diagnostics::Spanned;
use tessella_frontend::ast::{Block, Expr, ExprKind};
use tessella_polyhedral::command::Command;
use tessella_polyhedral::schedule::StreamSize;

/// A command's name, how it is written, and how it is read.
pub(crate) struct Form {
    pub(crate) name: &'static str,
    /// As the documentation spells it.
    pub(crate) usage: &'static str,
    read: fn(&Call<'_>) -> Result<Command, CommandError>,
}

/// All commands, by name.
pub(crate) const FORMS: [Form; 47] = [
    Form { name: "after", usage: "after(R, S, i)", read: after },
    Form { name: "allocate", usage: "allocate(b, i; once=true)", read: communication::allocate },
    Form { name: "assume", usage: "assume(n % 8 == 0)", read: assume },
    Form { name: "auto", usage: "auto()", read: auto },
    Form { name: "before", usage: "before(R, S, i)", read: before },
    Form { name: "between", usage: "between(Q, S, i, R, i)", read: between },
    Form { name: "cache_register", usage: "cache_register(A, S, i)", read: storage::cache_register },
    Form {
        name: "cache_shared",
        usage: "cache_shared(A, S, i; ahead=1, axes=(2, 1), threads=:footprint)",
        read: storage::cache_shared,
    },
    Form { name: "atomic", usage: "atomic(S)", read: atomic },
    Form { name: "collapse", usage: "collapse(S, i, j)", read: collapse },
    Form { name: "compute_at", usage: "compute_at(R, S, i)", read: compute_at },
    Form { name: "constant", usage: "constant(w)", read: storage::constant },
    Form { name: "copy_in", usage: "copy_in(A, i; once=true)", read: communication::copy_in },
    Form { name: "copy_out", usage: "copy_out(A, i; once=true)", read: communication::copy_out },
    Form { name: "distribute", usage: "distribute(S, i)", read: distribute },
    Form { name: "free", usage: "free(b, i; once=true)", read: communication::free },
    Form { name: "fuse", usage: "fuse(R, S, i; shift=:auto)", read: fuse },
    Form { name: "gpu", usage: "gpu(S, (i0, j0), (i1, j1))", read: gpu },
    Form {
        name: "grid_sync",
        usage: "grid_sync(S, t, 4)` or `grid_sync((S, R), t, (j, i), (8, 32))",
        read: time_tiling::grid_sync,
    },
    Form {
        name: "hexagonal",
        usage: "hexagonal(S, t, 3, 7)` or `hexagonal((S, R), t, (j, i), 3, (8, 64))",
        read: time_tiling::hexagonal,
    },
    Form { name: "inline", usage: "inline(S)", read: inline },
    Form { name: "interchange", usage: "interchange(S, i, j)", read: interchange },
    Form { name: "overlapped", usage: "overlapped(S, t, (j, i), 8, (16, 64))", read: overlapped },
    Form { name: "owners", usage: "owners(S, 1024)", read: owners },
    Form { name: "pad", usage: "pad(A, (1, 0))", read: storage::pad },
    Form { name: "parallel", usage: "parallel(S, i)", read: parallel },
    Form { name: "parallelogram", usage: "parallelogram(S, (t, i), ((8, -8), (4, 4)))", read: parallelogram },
    Form { name: "pieces", usage: "pieces(S, j, k)", read: pieces },
    Form { name: "prefetch", usage: "prefetch(A, S, i, 8)", read: communication::prefetch },
    Form { name: "privatize", usage: "privatize(A, S, i)", read: privatize },
    Form { name: "reverse", usage: "reverse(S, i)", read: reverse },
    Form { name: "rfactor", usage: "rfactor(S, k, 8)", read: rfactor },
    Form { name: "separate", usage: "separate(S, (i0, j0))", read: separate },
    Form { name: "share_rows", usage: "share_rows(S, k)", read: share_rows },
    Form { name: "shift", usage: "shift(S, i, 1)", read: shift },
    Form { name: "skew", usage: "skew(S, i, j, 1)", read: skew },
    Form { name: "space", usage: "space((S, R), t, (j, i), (32, 32))", read: time_tiling::space },
    Form { name: "specialize", usage: "specialize(n == 1024)", read: specialize },
    Form { name: "split", usage: "split(S, i, 32)", read: split },
    Form { name: "store_in", usage: "store_in(S, b, (t, i) -> (t % 2, i))", read: storage::store_in },
    Form { name: "stream", usage: "stream(S, t, 8, 4, 64)", read: stream },
    Form { name: "synchronize", usage: "synchronize(S, i)", read: communication::synchronize },
    Form { name: "tile", usage: "tile(S, (i, j), (32, 32))", read: tile },
    Form { name: "time_skew", usage: "time_skew((S, R), t, (j, i), 8, (32, 32))", read: time_tiling::time_skew },
    Form { name: "unroll", usage: "unroll(S, i, 4)", read: unroll },
    Form { name: "unroll_and_jam", usage: "unroll_and_jam(S, i, 4)", read: unroll_and_jam },
    Form { name: "vectorize", usage: "vectorize(S, i, 8)", read: vectorize },
];

/// The names of all commands.
pub fn command_names() -> impl Iterator<Item = &'static str> {
    FORMS.iter().map(|form| form.name)
}

/// The commands of a block, in order, each with the place of its call.
///
/// # Errors
/// Everything that is neither a command call nor a loop, `E0480` to `E0485` and `E0475`.
pub fn commands(block: &Block) -> Result<Vec<Spanned<Command>>, Vec<CommandError>> {
    let (mut found, mut errors) = (vec![], vec![]);
    let mut lines = vec![];
    flatten(block, &mut lines);
    // Loops and names of computations that follow one another are one tree.
    for group in lines.chunk_by(|before, after| tree::is_tree(before) && tree::is_tree(after)) {
        let read = match group.first() {
            Some(first) if tree::is_tree(first) => ordered(first, group),
            Some(_) | None => group
                .iter()
                .try_for_each(|expr| {
                    found.push(Spanned { value: command(expr)?, span: expr.span });
                    Ok(())
                })
                .map(|()| None),
        };
        match read {
            Ok(order) => found.extend(order),
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(found) } else { Err(errors) }
}

fn ordered(first: &Expr, group: &[&Expr]) -> Result<Option<Spanned<Command>>, CommandError> {
    let nodes = group.iter().map(|expr| tree::node(expr)).collect::<Result<_, _>>()?;
    Ok(Some(Spanned { value: Command::Order(nodes), span: tree::head(first) }))
}

/// `begin ... end` inside the block only groups.
fn flatten<'e>(block: &'e [Expr], lines: &mut Vec<&'e Expr>) {
    for expr in block {
        match &expr.kind {
            ExprKind::Block(inner) => flatten(inner, lines),
            _ => lines.push(expr),
        }
    }
}

fn command(expr: &Expr) -> Result<Command, CommandError> {
    let call = call_of(expr)?;
    (call.form.read)(&call)
}

fn interchange(call: &Call<'_>) -> Result<Command, CommandError> {
    let [computation, outer, inner] = call.exactly()?;
    Ok(Command::Interchange {
        computation: call.computation(computation)?,
        outer: call.loop_name(outer)?,
        inner: call.loop_name(inner)?,
    })
}

fn split(call: &Call<'_>) -> Result<Command, CommandError> {
    let [computation, at, size] = call.exactly()?;
    Ok(Command::Split { computation: call.computation(computation)?, at: call.loop_name(at)?, size: call.size(size)? })
}

fn tile(call: &Call<'_>) -> Result<Command, CommandError> {
    let [computation, loops, sizes] = call.exactly()?;
    let computation = call.computation(computation)?;
    let (names, numbers) = (call.loop_names(loops)?, call.sizes(sizes)?);
    if names.len() != numbers.len() {
        return Err(CommandError::TileSizes {
            loops: names.len(),
            loops_span: loops.span,
            sizes: numbers.len(),
            sizes_span: sizes.span,
        });
    }
    Ok(Command::Tile { computation, loops: names, sizes: numbers })
}

fn parallelogram(call: &Call<'_>) -> Result<Command, CommandError> {
    let (computation, loops, edges) = match call.arguments[..] {
        [computation, edges] => (computation, vec![], edges),
        _ => {
            let [computation, loops, edges] = call.exactly()?;
            (computation, call.loop_names(loops)?, edges)
        }
    };
    let edge = |edge: &Expr| call.one_or_more(edge, Expected::Edges, |number| call.integer(number));
    let edges = call.one_or_more(edges, Expected::Edges, edge)?;
    Ok(Command::Parallelogram { computation: call.computation(computation)?, loops, edges })
}

fn skew(call: &Call<'_>) -> Result<Command, CommandError> {
    let [computation, outer, inner, factor] = call.exactly()?;
    let computation = call.computation(computation)?;
    let (outer, inner) = (call.loop_name(outer)?, call.loop_name(inner)?);
    Ok(match call.integer_or_auto(factor)? {
        Some(factor) => Command::Skew { computation, outer, inner, factor },
        None => Command::SkewAuto { computation, outer, inner },
    })
}

fn shift(call: &Call<'_>) -> Result<Command, CommandError> {
    let [computation, at, by] = call.exactly()?;
    Ok(Command::Shift { computation: call.computation(computation)?, at: call.loop_name(at)?, by: call.integer(by)? })
}

fn reverse(call: &Call<'_>) -> Result<Command, CommandError> {
    let [computation, at] = call.exactly()?;
    Ok(Command::Reverse { computation: call.computation(computation)?, at: call.loop_name(at)? })
}

fn parallel(call: &Call<'_>) -> Result<Command, CommandError> {
    let [computation, at] = call.exactly()?;
    Ok(Command::Parallel { computation: call.computation(computation)?, at: call.loop_name(at)? })
}

fn vectorize(call: &Call<'_>) -> Result<Command, CommandError> {
    let [computation, at, width] = call.exactly()?;
    Ok(Command::Vectorize {
        computation: call.computation(computation)?,
        at: call.loop_name(at)?,
        width: call.size(width)?,
    })
}

fn unroll(call: &Call<'_>) -> Result<Command, CommandError> {
    let [computation, at, factor] = call.exactly()?;
    Ok(Command::Unroll {
        computation: call.computation(computation)?,
        at: call.loop_name(at)?,
        factor: call.size(factor)?,
    })
}

fn share_rows(call: &Call<'_>) -> Result<Command, CommandError> {
    let [computation, at] = call.exactly()?;
    Ok(Command::ShareRows { computation: call.computation(computation)?, at: call.loop_name(at)? })
}

fn fuse(call: &Call<'_>) -> Result<Command, CommandError> {
    let [first, second, at] = call.exactly()?;
    let (first, second) = (call.computation(first)?, call.computation(second)?);
    let at = call.loop_name(at)?;
    Ok(match call.keyword("shift") {
        None => Command::Fuse { first, second, at },
        Some(value) => match call.integer_or_auto(value)? {
            None => Command::FuseShifted { first, second, at },
            Some(0) => Command::Fuse { first, second, at },
            Some(_) => return Err(call.wrong(Expected::Auto, value)),
        },
    })
}

fn between(call: &Call<'_>) -> Result<Command, CommandError> {
    let [computation, first, first_at, second, second_at] = call.exactly()?;
    Ok(Command::Between {
        computation: call.computation(computation)?,
        first: call.computation(first)?,
        first_at: call.loop_name(first_at)?,
        second: call.computation(second)?,
        second_at: call.loop_name(second_at)?,
    })
}

fn pieces(call: &Call<'_>) -> Result<Command, CommandError> {
    if let [computation, holds] = call.arguments[..] {
        let condition = condition::condition(call, holds)?;
        return Ok(Command::PiecesBySize { computation: call.computation(computation)?, condition });
    }
    let [computation, first, second] = call.exactly()?;
    Ok(Command::Pieces {
        computation: call.computation(computation)?,
        first: call.loop_name(first)?,
        second: call.loop_name(second)?,
    })
}

fn collapse(call: &Call<'_>) -> Result<Command, CommandError> {
    let [computation, outer, inner] = call.exactly()?;
    Ok(Command::Collapse {
        computation: call.computation(computation)?,
        outer: call.loop_name(outer)?,
        inner: call.loop_name(inner)?,
    })
}

fn rfactor(call: &Call<'_>) -> Result<Command, CommandError> {
    let [computation, at, size] = call.exactly()?;
    Ok(Command::Rfactor {
        computation: call.computation(computation)?,
        at: call.loop_name(at)?,
        size: call.size(size)?,
    })
}

fn atomic(call: &Call<'_>) -> Result<Command, CommandError> {
    let [computation] = call.exactly()?;
    Ok(Command::Atomic { computation: call.computation(computation)? })
}

fn owners(call: &Call<'_>) -> Result<Command, CommandError> {
    let [computations, count] = call.exactly()?;
    Ok(Command::Owners { computations: call.computations(computations)?, count: call.size(count)? })
}

fn privatize(call: &Call<'_>) -> Result<Command, CommandError> {
    let [array, computation, at] = call.exactly()?;
    let array = call.array(array)?;
    Ok(Command::Privatize { array, computation: call.computation(computation)?, at: call.loop_name(at)? })
}

fn compute_at(call: &Call<'_>) -> Result<Command, CommandError> {
    let [computation, reader, at] = call.exactly()?;
    let (computation, reader) = (call.computation(computation)?, call.computation(reader)?);
    Ok(Command::ComputeAt { computation, reader, at: call.loop_name(at)? })
}

fn overlapped(call: &Call<'_>) -> Result<Command, CommandError> {
    let [computation, time, loops, steps, sizes] = call.exactly()?;
    let computation = call.computation(computation)?;
    let (names, numbers) = (call.loop_names(loops)?, call.sizes(sizes)?);
    if names.len() != numbers.len() {
        return Err(CommandError::TileSizes {
            loops: names.len(),
            loops_span: loops.span,
            sizes: numbers.len(),
            sizes_span: sizes.span,
        });
    }
    let time = call.loop_name(time)?;
    Ok(Command::Overlapped { computation, time, loops: names, steps: call.size(steps)?, sizes: numbers })
}

fn separate(call: &Call<'_>) -> Result<Command, CommandError> {
    let [computation, loops] = call.exactly()?;
    Ok(Command::Separate { computation: call.computation(computation)?, loops: call.loop_names(loops)? })
}

fn unroll_and_jam(call: &Call<'_>) -> Result<Command, CommandError> {
    let [computation, at, factor] = call.exactly()?;
    Ok(Command::UnrollAndJam {
        computation: call.computation(computation)?,
        at: call.loop_name(at)?,
        factor: call.size(factor)?,
    })
}

fn distribute(call: &Call<'_>) -> Result<Command, CommandError> {
    let [computation, at] = call.exactly()?;
    Ok(Command::Distribute { computation: call.computation(computation)?, at: call.loop_name(at)? })
}

fn after(call: &Call<'_>) -> Result<Command, CommandError> {
    let (computation, other, at) = placed(call)?;
    Ok(Command::After { computation, other, at })
}

fn before(call: &Call<'_>) -> Result<Command, CommandError> {
    let (computation, other, at) = placed(call)?;
    Ok(Command::Before { computation, other, at })
}

/// `(R, S)` or `(R, S, i)`.
fn placed(call: &Call<'_>) -> Result<(String, String, Option<String>), CommandError> {
    let (computation, other, at) = match call.arguments.as_slice() {
        &[computation, other] => (computation, other, None),
        _ => {
            let [computation, other, at] = call.exactly()?;
            (computation, other, Some(at))
        }
    };
    let at = at.map(|at| call.loop_name(at)).transpose()?;
    Ok((call.computation(computation)?, call.computation(other)?, at))
}

fn gpu(call: &Call<'_>) -> Result<Command, CommandError> {
    let [computation, blocks, threads] = call.exactly()?;
    let computation = call.computation(computation)?;
    let (block_names, thread_names) = (call.loop_names(blocks)?, call.loop_names(threads)?);
    if block_names.len() != thread_names.len() || block_names.len() > 3 {
        return Err(CommandError::GpuAxes {
            blocks: block_names.len(),
            blocks_span: blocks.span,
            threads: thread_names.len(),
            threads_span: threads.span,
        });
    }
    Ok(Command::Gpu { computation, blocks: block_names, threads: thread_names })
}

fn auto(call: &Call<'_>) -> Result<Command, CommandError> {
    let [] = call.exactly()?;
    Ok(Command::Auto)
}

fn assume(call: &Call<'_>) -> Result<Command, CommandError> {
    let [holds] = call.exactly()?;
    Ok(Command::Assume(condition::condition(call, holds)?))
}

fn specialize(call: &Call<'_>) -> Result<Command, CommandError> {
    let [holds] = call.exactly()?;
    Ok(Command::Specialize(condition::condition(call, holds)?))
}

/// `(S, t, steps)`, and, each optional after the one before, `points`, `rows` (0 to leave them to the launch), `lines` and `warps`.
fn stream(call: &Call<'_>) -> Result<Command, CommandError> {
    let (places, sizes) = match call.arguments.as_slice() {
        [computation, at, sizes @ ..] if (1..=5).contains(&sizes.len()) => ((*computation, *at), sizes),
        _ => {
            let [computation, at, _, _, _] = call.exactly()?;
            ((computation, at), &call.arguments[2..])
        }
    };
    let size = |at: usize, usual: u32| sizes.get(at).map_or(Ok(usual), |given| call.size(given));
    Ok(Command::Stream {
        computation: call.computation(places.0)?,
        at: call.loop_name(places.1)?,
        size: StreamSize {
            steps: size(0, 1)?,
            points: size(1, StreamSize::POINTS)?,
            rows: sizes.get(2).filter(|rows| !reader::leaves_rows(rows)).map(|rows| call.size(rows)).transpose()?,
            lines: size(3, StreamSize::LINES)?,
            warps: size(4, StreamSize::WARPS)?,
            ..StreamSize::USUAL
        },
    })
}

fn inline(call: &Call<'_>) -> Result<Command, CommandError> {
    let [computation] = call.exactly()?;
    Ok(Command::Inline { computation: call.computation(computation)? })
}

//! Scheduling commands: what a user asks for, by name.
//!
//! [`crate::transform::apply_and_renew`] carries one out. Names are those of the user: computations as `@comp` labels them, loops
//! as the source (or an earlier command) names them.

use crate::affine::Affine;
use crate::condition::Condition;
use crate::order::{OrderNode, OrderTree};
use crate::schedule::{ResidentSize, StreamSize};

/// How `pad` lays out the columns of a buffer: elements left free before the first one of each, and a number of which their length,
/// those included, is a multiple before anything is added at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Columns {
    pub before: u32,
    /// At least 1.
    pub multiple: u32,
}

/// The axes of an array, from 0, in the order in which a buffer has them: elements along the first one are neighbours.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AxisOrder(Vec<u32>);

impl AxisOrder {
    /// `None` unless each axis stands there once.
    pub fn new(axes: Vec<u32>) -> Option<AxisOrder> {
        let all = |axis: u32| axes.contains(&axis);
        (0..axes.len() as u32).all(all).then_some(AxisOrder(axes))
    }

    /// The axes, where they are named.
    pub fn named(&self) -> Option<&[u32]> {
        (!self.0.is_empty()).then_some(&self.0)
    }

    /// Whether the buffer has the axes as the array does.
    pub fn is_natural(&self) -> bool {
        (0..).zip(&self.0).all(|(place, axis)| place == *axis)
    }

    /// The order of so many axes.
    pub fn of(&self, axes: u32) -> Vec<u32> {
        if self.0.is_empty() { (0..axes).collect() } else { self.0.clone() }
    }
}

/// The threads of a block that fill a buffer in shared memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Filling {
    /// As many as compute: each loads every so many elements.
    #[default]
    Shared,
    /// As many as the buffer has elements along each axis: each loads one. Of these, only those compute that have something to.
    OneEach,
}

/// A scheduling command. `S` and `R` below are computations, `i` and `j` loops around them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// `interchange(S, i, j)`.
    Interchange { computation: String, outer: String, inner: String },
    /// `split(S, i, 32)`: `i` becomes `i0` (tiles) and `i1` (points).
    Split { computation: String, at: String, size: u32 },
    /// `tile(S, (i, j), (32, 32))`: `i, j` become `i0, j0, i1, j1`.
    Tile { computation: String, loops: Vec<String>, sizes: Vec<u32> },
    /// `parallelogram(S, (t, i), ((8, -8), (4, 4)))`: tiles whose edges are the rows of the matrix, in steps of the loops. Without
    /// names: the outermost loops.
    Parallelogram { computation: String, loops: Vec<String>, edges: Vec<Vec<i64>> },
    /// `skew(S, i, j, f)`: `j` becomes `j + f*i`.
    Skew { computation: String, outer: String, inner: String, factor: i64 },
    /// `skew(S, i, j, :auto)`: the smallest factor that makes `i` and `j` permutable.
    SkewAuto { computation: String, outer: String, inner: String },
    /// `shift(S, i, k)`: `S` alone runs `k` iterations of `i` later.
    Shift { computation: String, at: String, by: i64 },
    /// `reverse(S, i)`.
    Reverse { computation: String, at: String },
    /// `parallel(S, i)`.
    Parallel { computation: String, at: String },
    /// `vectorize(S, i, 8)`.
    Vectorize { computation: String, at: String, width: u32 },
    /// `unroll(S, i, 4)`.
    Unroll { computation: String, at: String, factor: u32 },
    /// `share_rows(S, k)`: the lanes of a warp compute values of the iterations of `k` for one another.
    ShareRows { computation: String, at: String },
    /// `unroll_and_jam(S, i, 4)`: `i` becomes `i0` outside of the loops below, and `i1`, unrolled, inside of them.
    UnrollAndJam { computation: String, at: String, factor: u32 },
    /// `collapse(S, i, j)`: `i` and `j`, whose range is the same for all sizes, become `ij`.
    Collapse { computation: String, outer: String, inner: String },
    /// `pieces(S, j, k)`: the instances with `j < k`, `j == k` and `j > k` as computations of their own.
    Pieces { computation: String, first: String, second: String },
    /// `pieces(S, m + n > 1000)`: the instances for sizes for which a condition holds, and those for other sizes, as computations of
    /// their own.
    PiecesBySize { computation: String, condition: Condition },
    /// `separate(S, (i0, j0))`: full tiles apart from partial ones.
    Separate { computation: String, loops: Vec<String> },
    /// `fuse(R, S, i)`: the loops `i` of `R` and of `S`, which follow one another, become one.
    Fuse { first: String, second: String, at: String },
    /// `fuse(R, S, i; shift=:auto)`: the later of the two delayed by as few iterations of `i` as is legal.
    FuseShifted { first: String, second: String, at: String },
    /// `distribute(S, i)`: each child of `i`'s body gets a loop `i` of its own.
    Distribute { computation: String, at: String },
    /// `after(R, S, i)`: `R` runs after `S`, sharing the loops down to `i`; without `i`, after all of `S`.
    After { computation: String, other: String, at: Option<String> },
    /// `before(R, S, i)`.
    Before { computation: String, other: String, at: Option<String> },
    /// `between(Q, S, i, R, i)`: `Q` runs after `S` and before `R`, sharing the loops down to `i`.
    Between { computation: String, first: String, first_at: String, second: String, second_at: String },
    /// `gpu(S, (i0, j0), (i1, j1))`: loops that become block and thread indices, x first.
    Gpu { computation: String, blocks: Vec<String>, threads: Vec<String> },
    /// `stream(S, t, 8, 4, 64)`: eight steps of the time loop in one pass, four points a lane, 64 rows a warp; in space also
    /// the lines of each plane that a lane holds.
    Stream { computation: String, at: String, size: StreamSize },
    /// `grid_sync(S, t, 4)`: all steps of the time loop in one kernel, whose blocks keep the domain in shared memory and wait for each
    /// other after every four steps; where they cannot hold it, a loop that streams already does so, and others are refused.
    Resident { computation: String, at: String, size: ResidentSize },
    /// `inline(S)`: the readers of `S` compute its value themselves.
    Inline { computation: String },
    /// `privatize(A, S, i)`: each iteration of `i` around `S` has an array of its own in place of `A`.
    Privatize { array: String, computation: String, at: String },
    /// `compute_at(R, S, i)`: each iteration of `i` around `S` computes what it reads of what `R` writes.
    ComputeAt { computation: String, reader: String, at: String },
    /// `overlapped(S, t, (j, i), 8, (16, 64))`: eight steps of the time loop `t` around `S` at once, in tiles that compute what they
    /// need of their neighbours themselves.
    Overlapped { computation: String, time: String, loops: Vec<String>, steps: u32, sizes: Vec<u32> },
    /// `rfactor(S, k, 8)`: `k` becomes `k0` and `k1`, and each point of `k1` updates a partial result of its own.
    Rfactor { computation: String, at: String, size: u32 },
    /// `atomic(S)`: threads of a GPU may update the integer that `S` updates at one time, each in one piece.
    Atomic { computation: String },
    /// `owners((S, R), 1024)`: each element that data name belongs to one of so many owners, who alone stores into it; a loop over them
    /// comes around all loops of `S` and `R`.
    Owners { computations: Vec<String>, count: u32 },
    /// `hexagonal((S, R), t, (j, i), 3, (8, 64))`: hexagons of `2h + 2` steps along `t` and `j`, parallelograms along the others.
    Hexagonal { computations: Vec<String>, time: String, loops: Vec<String>, height: u32, widths: Vec<u32> },
    /// `time_skew((S, R), t, (j, i), 8, (32, 32))`: wavefronts of skewed tiles of so many time steps.
    TimeSkew { computations: Vec<String>, time: String, loops: Vec<String>, steps: u32, widths: Vec<u32> },
    /// `space((S, R), t, (j, i), (32, 32))`: tiles of space in each time step.
    Space { computations: Vec<String>, time: String, loops: Vec<String>, widths: Vec<u32> },
    /// `grid_sync((S, R), t, (j, i), (16, 32))`: tiles of space in each time step, all steps in one kernel whose blocks wait for
    /// each other.
    GridSync { computations: Vec<String>, time: String, loops: Vec<String>, widths: Vec<u32> },
    /// `assume(n % 8 == 0)`: the order is for these sizes only; tested at entry.
    Assume(Condition),
    /// `specialize(n == 1024)`: code of its own for these sizes, chosen at entry.
    Specialize(Condition),
    /// `auto()`: lets Tessella choose.
    Auto,
    /// Loops written out, `for i = i ... end`: the whole order as a tree.
    Order(OrderTree),
    /// `store_in(S, b, (t, i) -> (t % 2, i))`: the array that `S` writes lies in the buffer `b`. The map takes the
    /// array's subscripts, those of the loops around its declaration first.
    StoreIn { computation: String, buffer: String, iterators: Vec<String>, map: Vec<Affine> },
    /// `cache_shared(A, S, i)`: what an iteration of `i` around `S` touches of `A` lies in shared memory. With `ahead=n`, it is
    /// copied there while the `n` iterations before compute; with `axes=(2, 1)`, the elements along the second axis are neighbours;
    /// with `threads=:footprint`, the block has a thread for each element.
    CacheShared { array: String, computation: String, at: String, ahead: u32, axes: AxisOrder, filling: Filling },
    /// `cache_register(A, S, i)`: the same in registers.
    CacheRegister { array: String, computation: String, at: String },
    /// `pad(A, (1, 0))`: unused elements at the end of each axis of `A`'s buffer; with `before` and `multiple` also before the
    /// first element of each column, and to a length of columns that does not depend on sizes.
    Pad { array: String, by: Vec<u32>, columns: Columns },
    /// `constant(w)`: the argument `w`, which is only read, lies in the GPU's constant memory.
    Constant { array: String },
    /// `copy_in(A, i)`: the argument `A` goes to the device at the beginning of each iteration of `i`.
    CopyIn { array: String, place: Place },
    /// `copy_out(A, i)`: `A` comes back at the end of each iteration of `i`.
    CopyOut { array: String, place: Place },
    /// `synchronize(S, i)`: in each iteration of `i` all wait after `S`.
    Synchronize { computation: String, at: String },
    /// `prefetch(A, S, i, 8)`: what `S` touches of `A` eight iterations of `i` later is asked for.
    Prefetch { array: String, computation: String, at: String, distance: i64 },
    /// `allocate(b, i)`: the memory of `b` is allocated at the beginning of each iteration of `i`.
    Allocate { buffer: String, place: Place },
    /// `free(b, i)`: it is freed at the end of each iteration of `i`.
    Free { buffer: String, place: Place },
}

/// A loop at which something happens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// A computation inside of the loop, where the name alone does not tell which loop is meant.
    pub computation: Option<String>,
    pub at: String,
    pub times: Times,
}

/// How often something happens at a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Times {
    /// In each iteration.
    Each,
    /// Around all iterations: before the first or after the last.
    Once,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(computation) = &self.computation {
            write!(f, "{computation}, ")?;
        }
        f.write_str(&self.at)?;
        match self.times {
            Times::Each => Ok(()),
            Times::Once => f.write_str("; once=true"),
        }
    }
}

impl std::fmt::Display for Command {
    /// As a user writes it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let tuple = |names: &[String]| match names {
            [one] => one.clone(),
            _ => format!("({})", names.join(", ")),
        };
        let numbers = |sizes: &[u32]| tuple(&sizes.iter().map(u32::to_string).collect::<Vec<_>>());
        match self {
            Command::Interchange { computation, outer, inner } => {
                write!(f, "interchange({computation}, {outer}, {inner})")
            }
            Command::Split { computation, at, size } => write!(f, "split({computation}, {at}, {size})"),
            Command::Tile { computation, loops, sizes } => {
                let sizes: Vec<String> = sizes.iter().map(u32::to_string).collect();
                write!(f, "tile({computation}, {}, {})", tuple(loops), tuple(&sizes))
            }
            Command::Parallelogram { computation, loops, edges } => {
                let row = |row: &Vec<i64>| row.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
                let rows: Vec<String> = edges.iter().map(|edge| format!("({})", row(edge))).collect();
                let named = if loops.is_empty() { String::new() } else { format!("{}, ", tuple(loops)) };
                write!(f, "parallelogram({computation}, {named}({}))", rows.join(", "))
            }
            Command::Skew { computation, outer, inner, factor } => {
                write!(f, "skew({computation}, {outer}, {inner}, {factor})")
            }
            Command::SkewAuto { computation, outer, inner } => {
                write!(f, "skew({computation}, {outer}, {inner}, :auto)")
            }
            Command::UnrollAndJam { computation, at, factor } => {
                write!(f, "unroll_and_jam({computation}, {at}, {factor})")
            }
            Command::Pieces { computation, first, second } => write!(f, "pieces({computation}, {first}, {second})"),
            Command::PiecesBySize { computation, condition } => write!(f, "pieces({computation}, {condition})"),
            Command::Collapse { computation, outer, inner } => write!(f, "collapse({computation}, {outer}, {inner})"),
            Command::Separate { computation, loops } => write!(f, "separate({computation}, {})", tuple(loops)),
            Command::FuseShifted { first, second, at } => write!(f, "fuse({first}, {second}, {at}; shift=:auto)"),
            Command::Between { computation, first, first_at, second, second_at } => {
                write!(f, "between({computation}, {first}, {first_at}, {second}, {second_at})")
            }
            Command::Shift { computation, at, by } => write!(f, "shift({computation}, {at}, {by})"),
            Command::Reverse { computation, at } => write!(f, "reverse({computation}, {at})"),
            Command::Parallel { computation, at } => write!(f, "parallel({computation}, {at})"),
            Command::Vectorize { computation, at, width } => write!(f, "vectorize({computation}, {at}, {width})"),
            Command::Unroll { computation, at, factor } => write!(f, "unroll({computation}, {at}, {factor})"),
            Command::ShareRows { computation, at } => write!(f, "share_rows({computation}, {at})"),
            Command::Fuse { first, second, at } => write!(f, "fuse({first}, {second}, {at})"),
            Command::Distribute { computation, at } => write!(f, "distribute({computation}, {at})"),
            Command::After { computation, other, at: Some(at) } => write!(f, "after({computation}, {other}, {at})"),
            Command::After { computation, other, at: None } => write!(f, "after({computation}, {other})"),
            Command::Before { computation, other, at: Some(at) } => write!(f, "before({computation}, {other}, {at})"),
            Command::Before { computation, other, at: None } => write!(f, "before({computation}, {other})"),
            Command::Gpu { computation, blocks, threads } => {
                write!(f, "gpu({computation}, {}, {})", tuple(blocks), tuple(threads))
            }
            Command::Stream { computation, at, size } => f.write_str(&size.command(computation, at)),
            Command::Resident { computation, at, size } => write!(f, "grid_sync({computation}, {at}, {size})"),
            Command::Inline { computation } => write!(f, "inline({computation})"),
            Command::Privatize { array, computation, at } => write!(f, "privatize({array}, {computation}, {at})"),
            Command::ComputeAt { computation, reader, at } => write!(f, "compute_at({computation}, {reader}, {at})"),
            Command::Overlapped { computation, time, loops, steps, sizes } => {
                let sizes: Vec<String> = sizes.iter().map(u32::to_string).collect();
                write!(f, "overlapped({computation}, {time}, {}, {steps}, {})", tuple(loops), tuple(&sizes))
            }
            Command::Rfactor { computation, at, size } => write!(f, "rfactor({computation}, {at}, {size})"),
            Command::Atomic { computation } => write!(f, "atomic({computation})"),
            Command::Owners { computations, count } => write!(f, "owners({}, {count})", tuple(computations)),
            Command::Hexagonal { computations, time, loops, height, widths } => {
                write!(f, "hexagonal({}, {time}, {}, {height}, {})", tuple(computations), tuple(loops), numbers(widths))
            }
            Command::TimeSkew { computations, time, loops, steps, widths } => {
                write!(f, "time_skew({}, {time}, {}, {steps}, {})", tuple(computations), tuple(loops), numbers(widths))
            }
            Command::Space { computations, time, loops, widths } => {
                write!(f, "space({}, {time}, {}, {})", tuple(computations), tuple(loops), numbers(widths))
            }
            Command::GridSync { computations, time, loops, widths } => {
                write!(f, "grid_sync({}, {time}, {}, {})", tuple(computations), tuple(loops), numbers(widths))
            }
            Command::Assume(condition) => write!(f, "assume({condition})"),
            Command::Specialize(condition) => write!(f, "specialize({condition})"),
            Command::Auto => write!(f, "auto()"),
            Command::Order(tree) => {
                let lines: Vec<String> = tree.iter().map(OrderNode::to_string).collect();
                f.write_str(&lines.join("\n"))
            }
            Command::StoreIn { computation, buffer, iterators, map } => {
                let map: Vec<String> = map.iter().map(|place| crate::storage::julia(place, iterators)).collect();
                let one = |all: &[String]| match all {
                    [one] => one.clone(),
                    _ => format!("({})", all.join(", ")),
                };
                write!(f, "store_in({computation}, {buffer}, {} -> {})", one(iterators), one(&map))
            }
            Command::CacheShared { array, computation, at, ahead, axes, filling } => {
                let ahead = (*ahead != 0).then(|| format!("ahead={ahead}"));
                let axes = (!axes.is_natural()).then(|| format!("axes={axes}"));
                let threads = match filling {
                    Filling::Shared => None,
                    Filling::OneEach => Some("threads=:footprint".to_string()),
                };
                let all: Vec<String> = ahead.into_iter().chain(axes).chain(threads).collect();
                let all = if all.is_empty() { String::new() } else { format!("; {}", all.join(", ")) };
                write!(f, "cache_shared({array}, {computation}, {at}{all})")
            }
            Command::CacheRegister { array, computation, at } => {
                write!(f, "cache_register({array}, {computation}, {at})")
            }
            Command::Pad { array, by, columns } => {
                let by: Vec<String> = by.iter().map(u32::to_string).collect();
                write!(f, "pad({array}, {}{columns})", tuple(&by))
            }
            Command::Constant { array } => write!(f, "constant({array})"),
            Command::CopyIn { array, place } => write!(f, "copy_in({array}, {place})"),
            Command::CopyOut { array, place } => write!(f, "copy_out({array}, {place})"),
            Command::Synchronize { computation, at } => write!(f, "synchronize({computation}, {at})"),
            Command::Prefetch { array, computation, at, distance } => {
                write!(f, "prefetch({array}, {computation}, {at}, {distance})")
            }
            Command::Allocate { buffer, place } => write!(f, "allocate({buffer}, {place})"),
            Command::Free { buffer, place } => write!(f, "free({buffer}, {place})"),
        }
    }
}

impl std::fmt::Display for AxisOrder {
    /// As a user writes it, from 1.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let axes: Vec<String> = self.0.iter().map(|axis| (axis + 1).to_string()).collect();
        write!(f, "({})", axes.join(", "))
    }
}

impl Default for Columns {
    fn default() -> Self {
        Columns { before: 0, multiple: 1 }
    }
}

impl std::fmt::Display for Columns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let before = (self.before != 0).then(|| format!("before={}", self.before));
        let multiple = (self.multiple != 1).then(|| format!("multiple={}", self.multiple));
        let all: Vec<String> = before.into_iter().chain(multiple).collect();
        if all.is_empty() { Ok(()) } else { write!(f, "; {}", all.join(", ")) }
    }
}

impl Command {
    /// Whether the name stands in it, whatever it names there.
    pub fn mentions(&self, name: &str) -> bool {
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '!';
        self.to_string().split(|c| !is_part(c)).any(|word| word == name)
    }

    /// Whether it changes the computations, or what they read and write, so that their dependences are others.
    pub fn changes_accesses(&self) -> bool {
        matches!(
            self,
            Command::Inline { .. }
                | Command::Rfactor { .. }
                | Command::Owners { .. }
                | Command::ComputeAt { .. }
                | Command::Privatize { .. }
                | Command::Overlapped { .. }
                | Command::Hexagonal { .. }
                | Command::Pieces { .. }
                | Command::PiecesBySize { .. }
        )
    }
}

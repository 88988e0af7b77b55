//! Columns that threads of a GPU go along in the source's order, each thread one: recurrences, running sums, tridiagonal solves.
//!
//! ```text
//! for j { S; for i { T: B[i, j] = f(B[i-1, j], A[i, j]) }; U }
//!   -> @block j0 { @thread j1 { S }; for i0 { @thread j1 { @unroll i1 { T } } }; @thread j1 { U } }
//! ```
//!
//! Neighbouring threads are a column apart, so that a warp's loads and stores touch a sector for each thread. Tiles of the matrices pass
//! through shared memory instead: copied along the columns, those that are only read while tiles before them are in use.

use super::chooser::{Chooser, has_loop, loop_at};
use super::gpu::AXES;
use super::gpu_storage::iterators;
use super::profile::{Step, iterator_of, step};
use crate::affine::{Affine, gcd};
use crate::algorithm::{Access, Algorithm, ArrayId, ArrayKind, ComputationId};
use crate::command::{AxisOrder, Columns, Command, Filling};
use crate::error::Error;
use crate::machine::Gpu;
use crate::relation;
use crate::schedule::{Loop, Node, Path, ProcessorAxis, Schedule, Tag};
use crate::transform::{put_chain, split_at};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

/// Columns of a block: a warp of threads, so that many blocks run beside one another.
const COLUMNS: u32 = 32;
/// Elements of a column in a tile, those that the ones before or behind it read as well included: no more than threads of a warp, which
/// copy them side by side. The most that fit are the best.
const ELEMENTS: RangeInclusive<u32> = 8..=32;
/// How many tiles of what is only read are under way, if they fit.
const AHEAD: [u32; 2] = [2, 1];
/// Banks of shared memory, a word of four bytes wide.
const BANKS: i64 = 32;

/// A statement that goes along columns, with the iterators of the column and of the element in it.
#[derive(Debug, Clone, Copy)]
struct Along {
    id: ComputationId,
    column: u32,
    element: u32,
}

impl Along {
    /// Whether the statement writes an element of an array for each place in the column.
    fn is_stored(self, algorithm: &Algorithm) -> bool {
        let computation = algorithm.computation(self.id);
        let is_array = algorithm.array(computation.write.array).kind != ArrayKind::Private;
        is_array && computation.write.subscripts.iter().any(|it| computation.involves_iterator(it, self.element))
    }
}

/// What the statements of one loop along columns access of a matrix.
#[derive(Debug, Clone)]
struct Matrix {
    array: ArrayId,
    /// Who accesses it.
    id: ComputationId,
    /// Elements and columns beyond those that the loops run through.
    more: [i64; 2],
    is_written: bool,
    /// Whether a column's elements are neighbours in memory.
    is_turned: bool,
}

impl Matrix {
    fn bytes(&self, algorithm: &Algorithm, elements: u32, ahead: u32) -> Option<i64> {
        let [more_elements, more_columns] = self.more;
        // An element more between columns keeps them in different banks.
        let column = i64::from(elements).checked_add(more_elements)?.checked_add(1)?;
        let stages = if self.is_written { 1 } else { i64::from(ahead) + 1 };
        let columns = i64::from(COLUMNS).checked_add(more_columns)?.checked_mul(stages)?;
        column.checked_mul(columns)?.checked_mul(i64::from(algorithm.array(self.array).element.bytes()))
    }
}

/// How many tiles are under way where tiles of so many elements a column fit.
fn ahead(algorithm: &Algorithm, matrices: &[Vec<Matrix>], elements: u32) -> Option<u32> {
    let fits = |ahead: u32| {
        let mut bytes = matrices.iter().flatten().map(|it| it.bytes(algorithm, elements, ahead));
        let sum = bytes.try_fold(0_i64, |sum, bytes| sum.checked_add(bytes?));
        sum.is_some_and(|sum| sum <= i64::from(Gpu::HOPPER.shared_bytes_of_block))
    };
    AHEAD.into_iter().find(|ahead| fits(*ahead))
}

impl Chooser<'_> {
    /// Lets blocks go along columns tile by tile, where threads of the `leading` parallel loops at `path` would each go along one that lies
    /// apart from the next.
    pub(super) fn stage_columns(&self, schedule: &mut Schedule, path: &Path, leading: usize) -> Result<bool, Error> {
        if leading > AXES {
            return Ok(false);
        }
        // Loops in order that hold the columns' own stay around these.
        let holds_loops = |level: &usize| loop_at(schedule, &path.down(*level)).is_some_and(|it| has_loop(&it.body));
        let outer = (leading..).take_while(holds_loops).count();
        let body = path.down(leading + outer);
        let mut found = None;
        for level in (0..leading).rev() {
            let Some(statements) = self.columns(schedule, path, level, &body) else { continue };
            let matrices: Vec<Vec<Matrix>> = statements.iter().map(|it| matrices(self.algorithm, it)).collect();
            let is_turned = matrices.iter().flatten().any(|it| it.is_turned);
            if is_turned && self.may_reach(schedule, path, level, 2 * i64::from(COLUMNS))? {
                found = Some((level, matrices));
                break;
            }
        }
        let Some((level, matrices)) = found else { return Ok(false) };
        let more = matrices.iter().flatten().map(|it| it.more[0]).max().and_then(|more| u32::try_from(more).ok());
        let without = |all: u32| all.checked_sub(more?).filter(|elements| *elements >= all / 2);
        let mut sizes = ELEMENTS.rev().filter_map(without);
        let Some(elements) = sizes.find(|&it| ahead(self.algorithm, &matrices, it).is_some()) else { return Ok(false) };
        for child in children_of(schedule, &body) {
            if loop_at(schedule, &child).is_some() && !self.goes_on(schedule, &child, elements)? {
                return Ok(false);
            }
        }
        let mut splits = vec![vec![]; leading];
        splits[level] = vec![COLUMNS];
        let (mut trial, mut parts) = self.split_levels(schedule, path, &splits)?;
        let Some(thread) = parts[level].pop() else { return Ok(false) };
        if !self.tile_by_tile(&mut trial, &path.down(outer), &thread, elements)? {
            return Ok(false);
        }
        let axes = [ProcessorAxis::Z, ProcessorAxis::Y, ProcessorAxis::X];
        let own = parts.remove(level);
        let grid: Vec<Loop> = parts.into_iter().flatten().chain(own).collect();
        let axes = &axes[axes.len() - grid.len()..];
        let blocks = grid.into_iter().zip(axes).map(|(it, axis)| Loop { tag: Tag::GpuBlock(*axis), ..it });
        put_chain(&mut trial, path, blocks.collect());
        let is_legal = self.is_legal(&trial, path)?;
        if is_legal {
            *schedule = trial;
        }
        Ok(is_legal)
    }

    /// Whether a loop may have more than a tile of iterations, one beside the other: with one tile, nothing is under way while another is in use.
    fn goes_on(&self, schedule: &Schedule, path: &Path, elements: u32) -> Result<bool, Error> {
        let Some(it) = loop_at(schedule, path) else { return Ok(false) };
        for (&id, at) in &it.at {
            let domain = relation::domain(self.algorithm, id)?;
            let values = relation::function(self.ctx, self.algorithm, id, at)?.intersect_domain(&domain)?.range()?;
            if values.stride(0)?.to_i64().is_none_or(|stride| stride > 1) {
                return Ok(false);
            }
        }
        self.may_reach(schedule, path, 0, i64::from(elements) + 1)
    }

    /// Splits the loops of `body` into tiles, with threads of a block around what is inside of one, and around what stands beside the loops.
    fn tile_by_tile(&self, tree: &mut Schedule, body: &Path, thread: &Loop, elements: u32) -> Result<bool, Error> {
        let mut nests: Vec<Node> = vec![];
        let mut beside: Vec<Node> = vec![];
        let on_threads = |body: Node| {
            let at = body.computations().into_iter().map(|id| (id, thread.at[&id].clone())).collect();
            let tag = Tag::GpuThread(ProcessorAxis::X);
            Node::Loop(Loop { name: thread.name.clone(), tag, at, body: Box::new(body) })
        };
        for child in children_of(tree, body) {
            if loop_at(tree, &child).is_none() {
                beside.extend(tree.node(&child).cloned());
                continue;
            }
            if !beside.is_empty() {
                nests.push(on_threads(Node::Sequence(std::mem::take(&mut beside))));
            }
            split_at(self.ctx, self.algorithm, tree, &child, elements)?;
            let Some(Node::Loop(tiles)) = tree.node(&child).cloned() else { return Ok(false) };
            let Node::Loop(inner) = *tiles.body else { return Ok(false) };
            let inner = Node::Loop(Loop { tag: Tag::Unroll(elements), ..inner });
            nests.push(Node::Loop(Loop { body: Box::new(on_threads(inner)), ..tiles }));
        }
        if !beside.is_empty() {
            nests.push(on_threads(Node::Sequence(beside)));
        }
        if let Some(node) = tree.node_mut(body) {
            *node = Node::Sequence(nests);
        }
        Ok(true)
    }

    /// The statements of each loop in `body`, if those of one of the loops around it are columns: loops in order, with statements alone
    /// inside, that each go along one axis.
    fn columns(&self, schedule: &Schedule, path: &Path, level: usize, body: &Path) -> Option<Vec<Vec<Along>>> {
        let column = loop_at(schedule, &path.down(level))?;
        let along = |it: &Loop| -> Option<Vec<Along>> {
            let iterator = |it: &Loop, id: ComputationId| iterator_of(it.at.get(&id)?).map(|(iterator, _)| iterator);
            let one = |id: ComputationId| {
                let computation = self.algorithm.computation(id);
                let is_plain = computation.ranged.is_empty() && iterator_of(column.at.get(&id)?)?.1 == 1;
                is_plain.then_some(Along { id, column: iterator(column, id)?, element: iterator(it, id)? })
            };
            (!has_loop(&it.body)).then(|| it.body.computations().into_iter().map(one).collect::<Option<_>>())?
        };
        let mut found = vec![];
        for child in children_of(schedule, body) {
            match schedule.node(&child)? {
                Node::Loop(it) => found.push(along(it)?),
                Node::Computation(_) => {}
                Node::Sequence(_) => return None,
            }
        }
        let stored = |it: &Along| it.is_stored(self.algorithm);
        found.iter().flatten().any(stored).then_some(found)
    }
}

/// What stands in a sequence, or a single node.
fn children_of(schedule: &Schedule, path: &Path) -> Vec<Path> {
    match schedule.node(path) {
        Some(Node::Sequence(children)) => (0..children.len()).map(|at| path.child(at)).collect(),
        Some(Node::Loop(_) | Node::Computation(_)) | None => vec![path.clone()],
    }
}

/// The matrices of which statements along columns access elements that go with the column and the place in it.
fn matrices(algorithm: &Algorithm, statements: &[Along]) -> Vec<Matrix> {
    let mut all: BTreeMap<ArrayId, Vec<(Along, &Access, bool)>> = BTreeMap::new();
    for along in statements {
        let computation = algorithm.computation(along.id);
        let reads = computation.reads.iter().map(|it| (it, false));
        for (access, is_write) in reads.chain([(&computation.write, true)]) {
            all.entry(access.array).or_default().push((*along, access, is_write));
        }
    }
    all.into_iter().filter_map(|(array, accesses)| matrix(algorithm, array, &accesses)).collect()
}

fn matrix(algorithm: &Algorithm, array: ArrayId, accesses: &[(Along, &Access, bool)]) -> Option<Matrix> {
    let &(first, of_first, _) = accesses.first()?;
    let it = algorithm.array(array);
    if it.rank < 2 || !matches!(it.kind, ArrayKind::Argument | ArrayKind::Local { outer: 0 } | ArrayKind::Returned) {
        return None;
    }
    let axis = |along: &Along, access: &Access, iterator: u32, other: u32| {
        let computation = algorithm.computation(along.id);
        let moves = |axis: usize, it: u32| computation.involves_iterator(&access.subscripts[axis], it);
        let mut axes = (0..access.subscripts.len()).filter(|&axis| moves(axis, iterator));
        let axis = axes.next().filter(|&axis| !moves(axis, other))?;
        axes.next().is_none().then_some(axis)
    };
    let axes = |along: &Along, access: &Access| {
        let element = axis(along, access, along.element, along.column)?;
        Some([element, axis(along, access, along.column, along.element)?])
    };
    let home = axes(&first, of_first)?;
    let mut ends: [Option<(i64, i64)>; 2] = [None; 2];
    for (along, access, _) in accesses {
        let subscripts: Vec<&Affine> = access.subscripts.iter().map(|it| it.as_affine()).collect::<Option<_>>()?;
        if axes(along, access)? != home {
            return None;
        }
        for (at, subscript) in subscripts.iter().enumerate() {
            let iterator = match home.iter().position(|axis| *axis == at) {
                Some(0) => along.element,
                Some(_) => along.column,
                // Other axes are a plane that the loops stay in.
                None if *subscript == of_first.subscripts[at].as_affine()? => continue,
                None => return None,
            };
            if subscript.coefficient(iterator) != 1 || subscript.terms().len() != 1 {
                return None;
            }
            let place = subscript.constant_term();
            let end = &mut ends[usize::from(at == home[1])];
            *end = Some(end.map_or((place, place), |(low, high)| (low.min(place), high.max(place))));
        }
    }
    let is_written = accesses.iter().any(|(.., is_write)| *is_write);
    // What is written where data say so would have to come in first.
    let is_certain = |(along, _, is_write): &(Along, &Access, bool)| {
        !is_write || algorithm.computation(along.id).predicate.is_none()
    };
    if !accesses.iter().all(is_certain) {
        return None;
    }
    let along = |iterator: u32| step(algorithm, first.id, of_first, iterator);
    let is_turned = along(first.element) == Step::Next && along(first.column) == Step::Jumps;
    let more = ends.map(|end| end.map_or(0, |(low, high)| high.saturating_sub(low)));
    (is_turned || !is_written).then_some(Matrix { array, id: first.id, more, is_written, is_turned })
}

/// The commands for a kernel that goes along columns tile by tile; `None` if this one does not.
pub(super) fn commands(algorithm: &Algorithm, schedule: &Schedule, inside: &[ComputationId]) -> Option<Vec<Command>> {
    let mut block: Option<&Loop> = None;
    let mut elements = 0;
    // The loops from tile to tile, with their statements.
    let mut loops: Vec<(&Loop, Vec<Along>)> = vec![];
    for &id in inside {
        let around = schedule.loops_around(id);
        let last = around.iter().rposition(|(_, it)| matches!(it.tag, Tag::GpuBlock(_)))?;
        block = Some(around[last].1);
        let in_order = around[last + 1..].iter().take_while(|(_, it)| it.tag == Tag::Sequential).count();
        match &around[last + 1 + in_order.saturating_sub(1)..] {
            [(_, thread)] | [_, (_, thread)] if thread.tag.thread().is_some() => {}
            [(_, tiles), (_, thread), (_, inner)] => {
                let (Tag::Sequential, Some(_), Tag::Unroll(of_tile)) = (tiles.tag, thread.tag.thread(), inner.tag)
                else {
                    return None;
                };
                let one = |it: &Loop| match iterators(algorithm.computation(id), id, it)[..] {
                    [iterator] => Some(iterator),
                    _ => None,
                };
                if elements != 0 && elements != of_tile {
                    return None;
                }
                elements = of_tile;
                let along = Along { id, column: one(thread)?, element: one(inner)? };
                match loops.iter_mut().find(|(other, _)| std::ptr::eq(*other, *tiles)) {
                    Some((_, statements)) => statements.push(along),
                    None => loops.push((tiles, vec![along])),
                }
            }
            _ => return None,
        }
    }
    let stored = loops.iter().flat_map(|(_, statements)| statements).any(|it| it.is_stored(algorithm));
    let all: Vec<Vec<Matrix>> = loops.iter().map(|(_, statements)| matrices(algorithm, statements)).collect();
    let (block, ahead) = (block?, ahead(algorithm, &all, elements)?);
    if !stored || !all.iter().flatten().any(|it| it.is_turned) {
        return None;
    }
    let mut commands = kept(algorithm, inside, &loops, block);
    let mut columns: BTreeMap<ArrayId, Vec<i64>> = BTreeMap::new();
    for ((tiles, _), matrices) in loops.iter().zip(&all) {
        for it in matrices {
            commands.push(Command::CacheShared {
                array: algorithm.array(it.array).name.clone(),
                computation: algorithm.computation(it.id).name.clone(),
                at: tiles.name.clone(),
                ahead: if it.is_written { 0 } else { ahead },
                axes: AxisOrder::default(),
                filling: Filling::Shared,
            });
            if it.is_turned {
                columns.entry(it.array).or_default().push(i64::from(elements).saturating_add(it.more[0]));
            }
        }
    }
    for (array, columns) in columns {
        let conflicts = |by: i64| columns.iter().map(|column| gcd(column.saturating_add(by), BANKS)).sum::<i64>();
        if conflicts(1) < conflicts(0) {
            let array = algorithm.array(array);
            let by = (0..array.rank).map(|axis| u32::from(axis == 0)).collect();
            commands.push(Command::Pad { array: array.name.clone(), by, columns: Columns::default() });
        }
    }
    Some(commands)
}

/// What each thread keeps in registers from one nest of threads to the next: what stays along its column.
fn kept(algorithm: &Algorithm, inside: &[ComputationId], loops: &[(&Loop, Vec<Along>)], block: &Loop) -> Vec<Command> {
    let element = |id: ComputationId| {
        loops.iter().flat_map(|(_, statements)| statements).find(|along| along.id == id).map(|along| along.element)
    };
    let mut accesses: BTreeMap<ArrayId, Vec<(ComputationId, &Access)>> = BTreeMap::new();
    for &id in inside {
        let computation = algorithm.computation(id);
        for access in computation.reads.iter().chain([&computation.write]) {
            accesses.entry(access.array).or_default().push((id, access));
        }
    }
    let written: BTreeSet<ArrayId> = inside.iter().map(|&id| algorithm.computation(id).write.array).collect();
    let stays = |(id, access): &(ComputationId, &Access)| {
        let computation = algorithm.computation(*id);
        let moves = |iterator: u32| access.subscripts.iter().any(|it| computation.involves_iterator(it, iterator));
        access.is_affine() && element(*id).is_none_or(|iterator| !moves(iterator))
    };
    let mut commands = vec![];
    for (array, all) in accesses.into_iter().filter(|(array, _)| written.contains(array)) {
        let it = algorithm.array(array);
        let is_one = all.iter().all(|(_, access)| access.subscripts == all[0].1.subscripts);
        let is_element = matches!(it.kind, ArrayKind::Argument | ArrayKind::Local { outer: 0 } | ArrayKind::Returned);
        if it.rank > 0
            && (it.kind == ArrayKind::Private || is_element)
            && is_one
            && all.iter().all(stays)
            && all.iter().any(|(id, _)| element(*id).is_some())
        {
            commands.push(Command::CacheRegister {
                array: it.name.clone(),
                computation: algorithm.computation(all[0].0).name.clone(),
                at: block.name.clone(),
            });
        }
    }
    commands
}

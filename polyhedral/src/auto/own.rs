//! Arrays that each iteration of a loop has for itself: those that the source makes there, and work arrays that it made once for
//! all of them.
//!
//! ```text
//! for r { for q { for p { row[p] = ..; .. }; for p { A[p,q,r] = row[p] } } }
//!   -> parallel for r { for q { for p { row_own[r,q,p] = ..; .. }; for p { A[p,q,r] = row_own[r,q,p] }; .. } }
//! ```
//!
//! A thread of a CPU keeps the arrays of one iteration in memory of its own ([`crate::place`]), so the loop stays one: taken apart, the
//! arrays of all iterations would be alive at a time. Inside, they lie in a cache, and products that fill them get register tiles.
//! On a GPU the arrays of all iterations lie side by side in its memory, and what is done to them is taken apart into kernels.

use super::chooser::{Chooser, has_loop, loop_at};
use crate::affine::Affine;
use crate::algorithm::{Access, Algorithm, ArrayId, ArrayKind, ComputationId};
use crate::command::Command;
use crate::dependence::Dependence;
use crate::error::{Error, ScheduleError};
use crate::isl::Ctx;
use crate::layers::{Lifetime, Scheduled, Target};
use crate::legality;
use crate::place;
use crate::schedule::{Loop, Node, Path, Schedule, Tag};
use crate::transform::{loop_mut, privatize};
use std::collections::BTreeSet;

/// A program whose iterations have work arrays for themselves.
pub(crate) struct Privatized {
    pub(crate) scheduled: Scheduled,
    pub(crate) commands: Vec<Command>,
    pub(crate) dependences: Vec<Dependence>,
    /// The new arrays.
    pub(crate) arrays: Vec<ArrayId>,
}

/// A work array, what uses it inside of the outermost loop around a write to it, and the loops around that.
struct Work {
    array: ArrayId,
    users: Vec<ComputationId>,
    /// Outermost first; none of them tells where in the array an iteration writes.
    loops: Vec<(Path, Loop)>,
}

/// Gives those loops arrays for each iteration that nothing but work arrays keeps from running on threads; `None` where
/// there are none, or where an iteration needs what another one left in such an array.
///
/// # Errors
/// Where isl fails, or gives up.
pub(crate) fn privatized(
    ctx: &Ctx,
    scheduled: &Scheduled,
    dependences: &[Dependence],
) -> Result<Option<Privatized>, Error> {
    let (algorithm, schedule) = (&scheduled.algorithm, &scheduled.schedule);
    let work = work_arrays(algorithm, schedule);
    let mut chosen: Vec<&Work> = vec![];
    let tops: BTreeSet<&Path> = work.iter().filter_map(|it| it.loops.first()).map(|(path, _)| path).collect();
    for path in tops {
        let here: Vec<&Work> = work.iter().filter(|it| it.loops.first().is_some_and(|(top, _)| top == path)).collect();
        let waits = |without: &[&Work]| -> Result<bool, Error> {
            let below = schedule.node(path).map(Node::computations).unwrap_or_default();
            let inside = dependences.iter().filter(|it| {
                let ends = [it.source.computation, it.sink.computation];
                ends.iter().all(|id| below.contains(id)) && without.iter().all(|work| work.array != it.array)
            });
            let mut trial = schedule.clone();
            loop_mut(&mut trial, path).tag = Tag::Parallel;
            let inside: Vec<Dependence> = inside.cloned().collect();
            Ok(!legality::is_legal(ctx, algorithm, &trial, &inside)?)
        };
        if waits(&[])? && !waits(&here)? && here.iter().all(|it| is_bounded(algorithm, it, scheduled.target)) {
            chosen.extend(here);
        }
    }
    if chosen.is_empty() {
        return Ok(None);
    }
    let mut own = Privatized {
        scheduled: scheduled.clone(),
        commands: vec![],
        dependences: dependences.to_vec(),
        arrays: vec![],
    };
    for work in chosen {
        let Some((_, innermost)) = work.loops.last() else { continue };
        let name = algorithm.array(work.array).name.clone();
        let computation = algorithm.computation(work.users[0]).name.clone();
        let new = ArrayId(own.scheduled.algorithm.arrays.len() as u32);
        match privatize(ctx, &own.scheduled, &own.dependences, &name, &computation, &innermost.name) {
            Ok((next, dependences)) => (own.scheduled, own.dependences) = (next, dependences),
            Err(Error::Schedule(ScheduleError::CannotPrivatize { .. } | ScheduleError::OtherValues(_))) => {
                return Ok(None);
            }
            Err(other) => return Err(other),
        }
        own.commands.push(Command::Privatize { array: name, computation, at: innermost.name.clone() });
        own.arrays.push(new);
    }
    Ok(Some(own))
}

/// Whether all of the arrays lie in memory of the thread that runs the iteration.
pub(crate) fn belong_to_threads(ctx: &Ctx, scheduled: &Scheduled, arrays: &[ArrayId]) -> Result<bool, Error> {
    let placed = match place::place(ctx, scheduled.clone()) {
        Ok(placed) => placed,
        Err(Error::Layout(_)) => return Ok(false),
        Err(other) => return Err(other),
    };
    let lifetime = |id: &ArrayId| &placed.layout.buffer(placed.layout.placement(*id).buffer).lifetime;
    Ok(arrays.iter().all(|id| matches!(lifetime(id), Lifetime::Node(path) if is_on_threads(&scheduled.schedule, path))))
}

/// Whether all statements that use the arrays run on blocks of a GPU from their outermost loop on.
pub(crate) fn belong_to_blocks(scheduled: &Scheduled, arrays: &[ArrayId]) -> bool {
    let algorithm = &scheduled.algorithm;
    let uses = |id: &ComputationId| {
        let it = algorithm.computation(*id);
        it.reads.iter().chain([&it.write]).any(|access| arrays.contains(&access.array))
    };
    algorithm.ids().filter(uses).all(|id| {
        let around = scheduled.schedule.loops_around(id);
        around.first().is_some_and(|(_, it)| matches!(it.tag, Tag::GpuBlock(_)))
    })
}

fn is_on_threads(schedule: &Schedule, path: &Path) -> bool {
    let mut above = (0..path.0.len()).map(|depth| Path(path.0[..depth].to_vec()));
    above.any(|here| loop_at(schedule, &here).is_some_and(|it| it.tag == Tag::Parallel))
}

/// The arrays that are overwritten within loops whose iterators do not tell where.
fn work_arrays(algorithm: &Algorithm, schedule: &Schedule) -> Vec<Work> {
    let mut found = vec![];
    for array in (0..algorithm.arrays.len() as u32).map(ArrayId) {
        if !matches!(
            algorithm.array(array).kind,
            ArrayKind::Argument | ArrayKind::Returned | ArrayKind::Local { outer: 0 }
        ) {
            continue;
        }
        let accesses = |id: ComputationId| {
            let it = algorithm.computation(id);
            it.reads.iter().chain([&it.write]).filter(move |access| access.array == array)
        };
        let writes = |id: &ComputationId| algorithm.computation(*id).write.array == array;
        let Some((top, _)) = algorithm.ids().find(writes).and_then(|id| schedule.loops_around(id).into_iter().next())
        else {
            continue;
        };
        let below = schedule.node(&top).map(Node::computations).unwrap_or_default();
        let users: Vec<ComputationId> = below.into_iter().filter(|&id| accesses(id).next().is_some()).collect();
        let known = users.iter().all(|&id| accesses(id).all(|access| access.is_affine()));
        let certain = users.iter().copied().filter(writes).all(|id| algorithm.computation(id).writes_for_certain());
        if users.len() < 2 || !known || !certain {
            continue;
        }
        // Whether iterations write to places of their own.
        let tells_apart = |it: &Loop| {
            users.iter().any(|&id| {
                let computation = algorithm.computation(id);
                let moves = |iterator: u32| {
                    let mut subscripts = computation.write.subscripts.iter();
                    writes(&id) && subscripts.any(|subscript| computation.involves_iterator(subscript, iterator))
                };
                let of_loop = |at: &Affine| {
                    (0..computation.iterators.len() as u32)
                        .any(|iterator| at.involves_iterator(iterator) && moves(iterator))
                };
                it.at.get(&id).is_none_or(of_loop)
            })
        };
        let around = schedule.loops_around(users[0]).into_iter();
        let shared = around.take_while(|(_, it)| it.tag == Tag::Sequential && !tells_apart(it));
        let loops: Vec<(Path, Loop)> = shared.map(|(path, it)| (path, it.clone())).collect();
        if !loops.is_empty() {
            found.push(Work { array, users, loops });
        }
    }
    found
}

/// Whether the arrays that are alive at a time take no more memory than an array that the program has anyway: one whose elements
/// the iterators of the loops around tell apart, too. A thread of a CPU keeps those of one iteration of the outermost loop, on a
/// GPU all iterations are under way.
fn is_bounded(algorithm: &Algorithm, work: &Work, target: Target) -> bool {
    let loops: Vec<&Loop> = work.loops.iter().map(|(_, it)| it).collect();
    match target {
        Target::Cpu => loops[1..].iter().all(|it| is_told_by_another(algorithm, work, &[it])),
        Target::Gpu => is_told_by_another(algorithm, work, &loops),
    }
}

/// Whether some user of a work array accesses another array by the iterators of these loops and of the work array's subscripts.
fn is_told_by_another(algorithm: &Algorithm, work: &Work, loops: &[&Loop]) -> bool {
    work.users.iter().any(|&id| {
        let computation = algorithm.computation(id);
        let accesses = || computation.reads.iter().chain([&computation.write]);
        let tells = |access: &Access, iterator: u32| {
            access.subscripts.iter().any(|subscript| computation.involves_iterator(subscript, iterator))
        };
        let of_work: Vec<&Access> = accesses().filter(|access| access.array == work.array).collect();
        let needed = |iterator: &u32| {
            loops.iter().any(|it| it.at[&id].involves_iterator(*iterator))
                || of_work.iter().any(|access| tells(access, *iterator))
        };
        let needed: Vec<u32> = (0..computation.iterators.len() as u32).filter(needed).collect();
        accesses().any(|access| access.array != work.array && needed.iter().all(|iterator| tells(access, *iterator)))
    })
}

impl Chooser<'_> {
    /// Runs the loop at `path` on threads as a whole, where its iterations can have arrays of the source, or work arrays, for
    /// themselves.
    pub(crate) fn with_own_arrays(&self, schedule: &mut Schedule, path: &Path) -> Result<bool, Error> {
        let Some(it) = loop_at(schedule, path) else { return Ok(false) };
        let below = it.body.computations();
        let has_own = |id: &ComputationId| {
            let computation = self.algorithm.computation(*id);
            // Of a constant size it may as well lie on the stack, or in registers.
            let array = self.algorithm.array(computation.write.array);
            matches!(array.kind, ArrayKind::Local { outer } if outer > 0)
                && array.extents.iter().any(|extent| extent.as_constant().is_none())
        };
        let arrays: BTreeSet<ArrayId> =
            below.iter().filter(|id| has_own(id)).map(|&id| self.algorithm.computation(id).write.array).collect();
        if arrays.is_empty() || !has_loop(&it.body) {
            return Ok(false);
        }
        let mut trial = schedule.clone();
        loop_mut(&mut trial, path).tag = Tag::Parallel;
        if !self.is_legal(&trial, path)? {
            return Ok(false);
        }
        self.below_threads(&mut trial, &path.down(1))?;
        let scheduled = Scheduled {
            algorithm: self.algorithm.clone(),
            schedule: trial.clone(),
            target: self.target,
            machine: *self.machine,
            versions: vec![],
            scratch: BTreeSet::new(),
        };
        let fits = belong_to_threads(self.ctx, &scheduled, &arrays.into_iter().collect::<Vec<_>>())?;
        if fits {
            *schedule = trial;
        }
        Ok(fits)
    }

    /// Orders what a thread runs by itself.
    fn below_threads(&self, schedule: &mut Schedule, path: &Path) -> Result<(), Error> {
        match schedule.node(path) {
            None | Some(Node::Computation(_)) => Ok(()),
            Some(Node::Sequence(children)) => {
                (0..children.len()).try_for_each(|child| self.below_threads(schedule, &path.child(child)))
            }
            Some(Node::Loop(_)) => match self.take_sums_apart(schedule, path)? {
                true => self.below_threads(schedule, path),
                false => self.vectors_below(schedule, path),
            },
        }
    }
}

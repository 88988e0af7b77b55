//! Tiles of a GPU's blocks and threads in nests without time: Tessella's own with other numbers, and those of plain orders.
//!
//! What a block loads and stores is counted ([`crate::models::tiles::inside`]), and so is what one of its threads loads of that: a
//! larger tile moves less, and leaves fewer blocks, or asks for more registers or shared memory than there are.

use super::nests::{Probe, exchanges, tile};
use super::predict::{OfBlock, Prediction, Rates};
use super::{Candidate, Family, MODEL_OPERATIONS, quota_as, unless_refused};
use crate::affine::Affine;
use crate::algorithm::{Algorithm, ComputationId};
use crate::auto::device_pads::launches;
use crate::command::Command;
use crate::dependence::Dependence;
use crate::error::Error;
use crate::isl::{Ctx, DimType, Val};
use crate::layers::{Scheduled, Target};
use crate::machine::Gpu;
use crate::models::tiles::fit::Nest;
use crate::models::tiles::inside::{Inside, deepest};
use crate::order;
use crate::relation;
use crate::schedule::{Loop, Schedule, Tag};
use crate::transform;
use std::collections::{BTreeMap, HashMap};

/// Threads of a block.
const THREADS: std::ops::RangeInclusive<u64> = 32..=1024;
/// Sides of tiles, a point for each thread: along neighbouring threads, and across.
const ALONG: [u32; 4] = [16, 32, 64, 128];
const ACROSS: [u32; 5] = [2, 4, 8, 16, 32];
/// What a probe of an order is tiled by.
const PROBE: [u32; 2] = [8, 32];

/// What the model says of an order.
#[derive(Clone, Copy)]
enum Verdict {
    Takes(Prediction),
    /// More threads, registers or shared memory than a block has, or fewer threads than a warp.
    Impossible,
    /// Nothing runs on blocks, or not in boxes.
    Unknown,
}

/// Tessella's own commands with other numbers as tiles with predictions, where these can be made, and how many impossible ones were left
/// out.
pub(super) fn predicted(
    ctx: &Ctx,
    start: &Scheduled,
    dependences: &[Dependence],
    others: Vec<Candidate>,
    params: &[i64],
) -> Result<(Vec<Candidate>, usize), Error> {
    let model = Model { ctx, start, params };
    let judged = ctx.with_budget(MODEL_OPERATIONS, || {
        let mut reached = Reached { ctx, start, dependences, before: None };
        let (mut known, mut seen) = (BTreeMap::new(), HashMap::new());
        let mut judged = vec![];
        for candidate in &others {
            let verdict = match reached.by(&candidate.commands)? {
                Some((algorithm, schedule)) => model.judge(&algorithm, &schedule, &mut known, &mut seen)?,
                None => Verdict::Unknown,
            };
            judged.push(verdict);
        }
        Ok(judged)
    });
    let judged = quota_as(judged, vec![])?;
    let impossible = judged.iter().filter(|it| matches!(it, Verdict::Impossible)).count();
    let verdicts = judged.into_iter().map(Some).chain(std::iter::repeat_with(|| None));
    let kept = others.into_iter().zip(verdicts).filter_map(|(candidate, verdict)| match verdict {
        Some(Verdict::Takes(predicted)) => {
            Some(Candidate { family: Family::Tiles, predicted: Some(predicted), ..candidate })
        }
        Some(Verdict::Impossible) => None,
        Some(Verdict::Unknown) | None => Some(candidate),
    });
    Ok((kept.collect(), impossible))
}

/// Where commands lead, storage left out. Nothing is proved: a candidate that is tried is.
struct Reached<'a> {
    ctx: &'a Ctx,
    start: &'a Scheduled,
    dependences: &'a [Dependence],
    /// The commands before an order that is written out, and where they lead: candidates share them.
    before: Option<(Vec<Command>, Option<Scheduled>)>,
}

impl Reached<'_> {
    fn by(&mut self, commands: &[Command]) -> Result<Option<(Algorithm, Schedule)>, Error> {
        let moves: Vec<&Command> = commands.iter().filter(|it| !it.is_storage() && !it.is_communication()).collect();
        let (before, tree) = match moves.split_last() {
            Some((Command::Order(tree), before)) => (before, Some(tree)),
            Some(_) | None => (moves.as_slice(), None),
        };
        let before: Vec<Command> = before.iter().map(|it| (*it).clone()).collect();
        if self.before.as_ref().is_none_or(|(known, _)| *known != before) {
            let mut now = Some(self.start.clone());
            let mut dependences = self.dependences.to_vec();
            for command in &before {
                let Some(last) = &now else { break };
                now = match unless_refused(transform::apply_and_renew(self.ctx, last, &dependences, command))? {
                    Some((next, renewed)) => {
                        dependences = renewed.unwrap_or(dependences);
                        Some(next)
                    }
                    None => None,
                };
            }
            self.before = Some((before, now));
        }
        let Some((_, Some(now))) = &self.before else { return Ok(None) };
        Ok(match tree {
            None => Some((now.algorithm.clone(), now.schedule.clone())),
            Some(tree) => unless_refused(order::look_up(now, tree))?.map(|schedule| (now.algorithm.clone(), schedule)),
        })
    }
}

/// Orders in which two loops run on blocks and threads, a point for each thread.
pub(super) fn tilings(
    ctx: &Ctx,
    start: &Scheduled,
    dependences: &[Dependence],
    nest: &Nest,
    params: &[i64],
) -> Result<Vec<Candidate>, Error> {
    let computation = start.algorithm.computation(nest.computations[0]).name.clone();
    let model = Model { ctx, start, params };
    let probe = Probe { ctx, start, dependences, computation: &computation };
    let mut known = BTreeMap::new();
    let mut all = vec![];
    for across in &nest.space {
        for along in nest.space.iter().filter(|it| *it != across) {
            let mut names = vec![across.clone(), along.clone()];
            names.extend(nest.space.iter().filter(|it| !names.contains(it)).cloned().collect::<Vec<_>>());
            let exchanged = exchanges(&computation, &nest.space, &names);
            let mapped = |sides: [u32; 2]| {
                let part = |digit: &str| names[..2].iter().map(|name| format!("{name}{digit}")).collect();
                let gpu = Command::Gpu { computation: computation.clone(), blocks: part("0"), threads: part("1") };
                let tiled = [tile(&computation, &names[..2], &sides), gpu];
                exchanged.iter().cloned().chain(tiled).collect::<Vec<_>>()
            };
            let mut now = Some(start.clone());
            for command in &mapped(PROBE) {
                now = match &now {
                    Some(now) => probe.apply(now, command)?,
                    None => break,
                };
            }
            let Some(now) = now else { continue };
            let mains = deepest(&now.algorithm, &now.schedule);
            let Some(main) = mains.into_iter().find(|id| nest.computations.contains(id)) else { continue };
            let Some(levels) = model.levels(&now.algorithm, &now.schedule, main)? else { continue };
            let extents = model.extents(&now.algorithm, main, &mut known)?;
            let place = |name: &String| levels.block.names.iter().position(|it| it == name);
            let (Some(first), Some(second)) = (place(across), place(along)) else { continue };
            for (wide, narrow) in ALONG.into_iter().flat_map(|wide| ACROSS.map(|narrow| (wide, narrow))) {
                let mut sides = levels.block.sides.clone();
                (sides[first], sides[second]) = (Some(narrow.into()), Some(wide.into()));
                if let Verdict::Takes(predicted) = model.weigh(&levels, &sides, &extents) {
                    let commands = mapped([narrow, wide]);
                    all.push(Candidate { family: Family::Tiles, commands, predicted: Some(predicted) });
                }
            }
        }
    }
    Ok(all)
}

/// A program on a GPU at concrete sizes.
struct Model<'a> {
    ctx: &'a Ctx,
    start: &'a Scheduled,
    params: &'a [i64],
}

/// What runs in a block, in what shared memory has at a time, and in a thread.
struct Levels<'a> {
    block: Inside<'a>,
    stage: Option<Inside<'a>>,
    thread: Inside<'a>,
    element: u32,
    /// How often the kernel is launched.
    launches: f64,
}

/// A computation in its loops.
type Nested = (ComputationId, Vec<(Affine, Tag)>);

/// How many values each iterator of a computation has.
type Extents = Vec<u64>;

impl Model<'_> {
    /// What a whole order takes, its nests weighed by their instances.
    fn judge(
        &self,
        algorithm: &Algorithm,
        schedule: &Schedule,
        known: &mut BTreeMap<ComputationId, Extents>,
        seen: &mut HashMap<Nested, Verdict>,
    ) -> Result<Verdict, Error> {
        let (mut time, mut bytes, mut instances) = (0.0, 0.0, 0.0);
        for main in deepest(algorithm, schedule) {
            let extents = self.extents(algorithm, main, known)?;
            let around = schedule.loops_around(main).into_iter().map(|(_, it)| (it.at[&main].clone(), it.tag));
            // Most of the orders that are judged differ in one nest of several.
            let key = (main, around.collect());
            let verdict = match seen.get(&key) {
                Some(verdict) => *verdict,
                None => {
                    let levels = self.levels(algorithm, schedule, main)?;
                    let weighed = levels.map(|levels| self.weigh(&levels, &levels.block.sides, &extents));
                    let verdict = weighed.unwrap_or(Verdict::Unknown);
                    seen.insert(key, verdict);
                    verdict
                }
            };
            match verdict {
                Verdict::Takes(predicted) => {
                    let count: f64 = extents.iter().map(|&it| it as f64).product();
                    time += count * predicted.time;
                    bytes += count * predicted.bytes.unwrap_or(0.0);
                    instances += count;
                }
                Verdict::Impossible => return Ok(Verdict::Impossible),
                Verdict::Unknown => {}
            }
        }
        Ok(match instances > 0.0 {
            true => Verdict::Takes(Prediction {
                time: time / instances,
                bytes: Some(bytes / instances),
                runs: 1.0,
                fits: true,
            }),
            false => Verdict::Unknown,
        })
    }

    fn levels<'b>(
        &self,
        algorithm: &'b Algorithm,
        schedule: &Schedule,
        main: ComputationId,
    ) -> Result<Option<Levels<'b>>, Error> {
        let around: Vec<&Loop> = schedule.loops_around(main).into_iter().map(|(_, it)| it).collect();
        let is_thread = |it: &&Loop| matches!(it.tag, Tag::GpuThread(_));
        let blocks = around.iter().rposition(|it| matches!(it.tag, Tag::GpuBlock(_)));
        let (first, last) = (around.iter().position(is_thread), around.iter().rposition(is_thread));
        let (Some(blocks), Some(first), Some(last)) = (blocks, first, last) else { return Ok(None) };
        let at = |depth: usize| Inside::of(algorithm, schedule, main, depth);
        let (Some(block), Some(thread)) = (at(blocks + 1)?, at(last + 1)?) else { return Ok(None) };
        let stage = if first > blocks + 1 { at(first)? } else { None };
        let element = algorithm.array(algorithm.computation(main).write.array).element.bytes();
        let launches = launches(algorithm, main, &schedule.loops_around(main), Some(self.params))?.unwrap_or(1.0);
        Ok(Some(Levels { block, stage, thread, element, launches }))
    }

    /// What blocks of these sides take.
    fn weigh(&self, levels: &Levels<'_>, sides: &[Option<u64>], extents: &[u64]) -> Verdict {
        let gpu = Gpu::HOPPER;
        let own = levels.thread.sides.iter().zip(sides).filter_map(|(thread, block)| thread.zip(*block));
        let (mut threads, mut results) = (1, 1);
        for (thread, block) in own {
            threads *= block.div_ceil(thread);
            results *= thread;
        }
        let held = levels
            .stage
            .as_ref()
            .and_then(|it| it.moves(&it.sides))
            .map_or(0, |it| it.loaded - it.loaded.min(it.stored));
        let registers = results * u64::from(levels.element.div_ceil(4)) + u64::from(gpu.other_registers);
        let fits = held <= u64::from(gpu.shared_bytes_of_block) && registers * threads <= u64::from(gpu.registers);
        if !THREADS.contains(&threads)
            || !fits
            || results * u64::from(levels.element.div_ceil(4)) > u64::from(gpu.registers_of_thread)
        {
            return Verdict::Impossible;
        }
        let inside = levels.block.moves(sides).zip(levels.thread.moves(&levels.thread.sides));
        let Some((block, thread)) = inside.filter(|(block, thread)| block.cost.useful > 0 && thread.cost.useful > 0)
        else {
            return Verdict::Unknown;
        };
        let counts = extents.iter().zip(sides).filter_map(|(&extent, side)| side.map(|side| extent.div_ceil(side)));
        let launches = levels.launches.max(1.0);
        let of_block = OfBlock {
            blocks: (counts.map(|it| it as f64).product::<f64>() / launches).max(1.0),
            threads: threads as f64,
            held: held as f64,
            bytes: block.bytes(),
            operations: block.operations as f64 / block.cost.useful as f64,
            loads: thread.cost.loads as f64 / thread.cost.useful as f64,
        };
        let rates = Rates::of(Target::Gpu, &self.start.machine, levels.element.into());
        let results: f64 = extents.iter().map(|&it| it as f64).product();
        let time = of_block.time(&rates) + launches * rates.wait / results.max(1.0);
        Verdict::Takes(Prediction { time, bytes: Some(of_block.bytes), runs: 1.0, fits: true })
    }

    fn extents(
        &self,
        algorithm: &Algorithm,
        id: ComputationId,
        known: &mut BTreeMap<ComputationId, Extents>,
    ) -> Result<Extents, Error> {
        if let Some(extents) = known.get(&id) {
            return Ok(extents.clone());
        }
        let mut domain = relation::domain(algorithm, id)?;
        for (at, &value) in self.params.iter().enumerate() {
            domain = domain.fix(DimType::Param, at as u32, &Val::from_i64(self.ctx, value)?)?;
        }
        let count = algorithm.computation(id).iterators.len();
        let mut extents = vec![0; count];
        if !domain.is_empty()? {
            for (at, extent) in extents.iter_mut().enumerate() {
                let ends = (domain.dim_min_val(at as i32)?.to_i64(), domain.dim_max_val(at as i32)?.to_i64());
                *extent = ends.0.zip(ends.1).map_or(1, |(low, high)| (high - low + 1).max(1) as u64);
            }
        }
        known.insert(id, extents.clone());
        Ok(extents)
    }
}

//! What runs inside the outer loops of a schedule, as a box of iterations, and what boxes of any size load and store.
//!
//! This is for nests without time, such as products and convolutions: their loops run through single iterators, whole or in tiles,
//! so that an iteration of some outer loops is a box. What it loads and stores is counted over the points of small boxes, and grows
//! with each side in a straight line, which one more box confirms. That takes some milliseconds; isl tells constant lengths only.

use super::Cost;
use super::count::is_result;
use crate::affine::Affine;
use crate::algorithm::{Algorithm, ArrayId, ArrayKind, ComputationId, Subscript};
use crate::error::Error;
use crate::schedule::{Loop, Node, Schedule};
use crate::work;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap};

/// What a loop runs for whose length depends on sizes, or is more than [`SHORT`].
pub const TYPICAL: u64 = 1000;
/// Loops that run so often at most are counted as they are.
const SHORT: u64 = 32;
/// Where boxes begin along the iterators that outer loops tile: far from one another.
const APART: i64 = 12_000;
/// How far the end of a tile is looked for.
const FARTHEST: i64 = 4096;
/// Boxes are counted whose long sides are multiples of this.
const NODE: u64 = 4;
/// The degree in the length of loops that stay whole.
const DEGREE_OF_WHOLE: usize = 3;
/// The most accesses that are looked at, in all boxes together: about a tenth of a second.
const MOST_ACCESSES: u64 = 1_000_000;
/// The most subscripts of an array, and the bits of each in the name of an element.
const MOST_SUBSCRIPTS: usize = 5;
const BITS: u32 = 20;

/// The iterations that run inside of some loops around a computation.
pub struct Inside<'a> {
    algorithm: &'a Algorithm,
    /// The iterators of the computation.
    pub names: Vec<String>,
    /// How many values each of them has inside, where a loop outside tells.
    pub sides: Vec<Option<u64>>,
    members: Vec<Member>,
    /// What was counted before, by the sides and the length of whole loops.
    known: RefCell<HashMap<Lengths, Option<Quantities>>>,
    /// How many accesses may still be looked at.
    left: Cell<u64>,
}

/// A computation that runs inside, and what its iterators run through.
struct Member {
    id: ComputationId,
    along: Vec<Along>,
}

#[derive(Debug, Clone, Copy)]
enum Along {
    /// A side of the box, from so far beyond its first value on.
    Side { at: usize, from: i64 },
    /// All of a loop of so few iterations, or of any length.
    Whole(Option<u64>),
}

/// What a box costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moves {
    /// In elements.
    pub cost: Cost,
    /// Bytes that come from outside, and that others, or the caller, need.
    pub loaded: u64,
    pub stored: u64,
    /// Operations of all instances.
    pub operations: u64,
    /// Whether boxes that the lines were not laid through agree, and all subscripts are known.
    pub is_exact: bool,
}

impl Moves {
    /// Bytes to and from the box for a result.
    pub fn bytes(&self) -> f64 {
        (self.loaded + self.stored) as f64 / self.cost.useful.max(1) as f64
    }

    /// Bytes that the box takes of a cache: results take the places of what was loaded.
    pub fn held(&self) -> u64 {
        self.loaded.max(self.stored)
    }
}

/// The sides of a box, and the length of whole loops.
type Lengths = (Vec<u64>, u64);

/// Loads, stores, useful results, bytes loaded and stored, operations.
type Quantities = [u64; 6];

impl<'a> Inside<'a> {
    /// What runs inside of the first loops around a computation. Accesses are those of `algorithm`; computations that the schedule
    /// has besides, such as copies, are left out. `None` where a loop runs through several iterators at a time.
    pub fn of(
        algorithm: &'a Algorithm,
        schedule: &Schedule,
        main: ComputationId,
        depth: usize,
    ) -> Result<Option<Inside<'a>>, Error> {
        let around = schedule.loops_around(main);
        let Some((_, innermost)) = depth.checked_sub(1).and_then(|at| around.get(at)) else { return Ok(None) };
        let outside: Vec<&Loop> = around[..depth].iter().map(|(_, it)| *it).collect();
        let mut runs = vec![];
        for iterator in 0..algorithm.computation(main).iterators.len() as u32 {
            runs.push(match told(&outside, main, iterator) {
                true => match run(algorithm, &outside, (main, iterator), (main, iterator)) {
                    Some(run) => Some(run),
                    None => return Ok(None),
                },
                false => None,
            });
        }
        let mut members = vec![];
        for id in innermost.body.computations() {
            if id.0 as usize >= algorithm.computations.len() {
                continue;
            }
            let mut along = vec![];
            for iterator in 0..algorithm.computation(id).iterators.len() as u32 {
                if !told(&outside, id, iterator) {
                    along.push(Along::Whole(length(algorithm, id, iterator)?));
                    continue;
                }
                let Some(at) = shared(&outside, main, (id, iterator)) else { return Ok(None) };
                let (Some(run), Some(mine)) = (run(algorithm, &outside, (id, iterator), (main, at)), runs[at as usize])
                else {
                    return Ok(None);
                };
                along.push(Along::Side { at: at as usize, from: run.0 - mine.0 });
            }
            members.push(Member { id, along });
        }
        let short = members.iter().all(|it| {
            let computation = algorithm.computation(it.id);
            let mut accesses = computation.reads.iter().chain([&computation.write]);
            accesses.all(|access| access.subscripts.len() <= MOST_SUBSCRIPTS)
        });
        let names = algorithm.computation(main).iterators.clone();
        let sides = runs.iter().map(|run| run.map(|(first, last)| (last - first + 1) as u64)).collect();
        Ok(short.then(|| Inside {
            algorithm,
            names,
            sides,
            members,
            known: RefCell::default(),
            left: Cell::new(MOST_ACCESSES),
        }))
    }

    /// What a box of these sides costs; sides of whole loops do not count. `None` where that takes too long.
    pub fn moves(&self, sides: &[Option<u64>]) -> Option<Moves> {
        let sides: Vec<u64> = sides.iter().map(|side| side.unwrap_or(1)).collect();
        let unknown = |along: &Along| matches!(along, Along::Whole(None));
        let has_whole = self.members.iter().flat_map(|it| &it.along).any(unknown);
        let lines = Lines { of: self, open: (0..sides.len()).filter(|&at| sides[at] > 2 * NODE).collect(), has_whole };
        let sums = lines.at(&sides, TYPICAL)?;
        let beyond: Vec<u64> =
            (0..sides.len()).map(|at| if lines.is_open(at) { 3 * NODE } else { sides[at] }).collect();
        let length = NODE * (DEGREE_OF_WHOLE as u64 + 2);
        let is_straight = match lines.open.is_empty() && !has_whole {
            true => true,
            false => {
                let (counted, told) = (self.counted(&beyond, length)?, lines.at(&beyond, length)?);
                told.iter().zip(counted).all(|(told, counted)| (told - counted as f64).abs() < 0.5)
            }
        };
        let [loads, stores, useful, loaded, stored, operations] = sums.map(|it| it.round().max(0.0) as u64);
        let cost = Cost { memory: loads.max(stores), loads, stores, useful };
        Some(Moves { cost, loaded, stored, operations, is_exact: is_straight && self.is_certain() })
    }

    /// Whether it is known which accesses happen, and to which elements.
    fn is_certain(&self) -> bool {
        self.members.iter().all(|it| {
            let computation = self.algorithm.computation(it.id);
            computation.writes_for_certain() && computation.reads.iter().all(|read| read.is_affine())
        })
    }

    /// The counts of a box, over its points.
    fn counted(&self, sides: &[u64], length: u64) -> Option<Quantities> {
        let key = (sides.to_vec(), length);
        if let Some(known) = self.known.borrow().get(&key) {
            return *known;
        }
        let counted = self.count(sides, length);
        self.known.borrow_mut().insert(key, counted);
        counted
    }

    fn count(&self, sides: &[u64], length: u64) -> Option<Quantities> {
        let params = vec![3 * APART; self.algorithm.params.len()];
        let ranges = |it: &Member| -> Vec<(i64, i64)> {
            let range = |along: &Along| match *along {
                Along::Side { at, from } => {
                    let first = APART * (at as i64 + 1) + from;
                    (first, first + sides[at] as i64)
                }
                Along::Whole(known) => (1, 1 + known.unwrap_or(length) as i64),
            };
            it.along.iter().map(range).collect()
        };
        let accesses: u64 = self
            .members
            .iter()
            .map(|it| {
                let points =
                    ranges(it).iter().fold(1_u64, |points, (low, high)| points.saturating_mul((high - low) as u64));
                points.saturating_mul(1 + self.algorithm.computation(it.id).reads.len() as u64)
            })
            .fold(0, u64::saturating_add);
        self.left.set(self.left.get().checked_sub(accesses)?);
        let mut instances: Vec<(Vec<i64>, usize, Vec<i64>)> = vec![];
        for (place, member) in self.members.iter().enumerate() {
            for point in points(&ranges(member)) {
                // Of one computation the order of the loops is that of the iterators.
                let time = if self.members.len() > 1 { self.time(member.id, &point, &params)? } else { vec![] };
                instances.push((time, place, point));
            }
        }
        if self.members.len() > 1 {
            instances.sort_unstable();
        }
        let mut seen: HashMap<(ArrayId, u128), Seen> = HashMap::new();
        let (mut useful, mut operations, mut fresh) = (0, 0, 0_i64);
        for (_, place, point) in &instances {
            let id = self.members[*place].id;
            let computation = self.algorithm.computation(id);
            useful += u64::from(is_result(self.algorithm, id));
            let (narrow, wide) = work::operations(computation);
            operations += narrow + wide;
            let mut element = |subscripts: &[Subscript]| -> Option<u128> {
                subscripts.iter().try_fold(0, |name: u128, subscript| {
                    let value = match subscript {
                        Subscript::Affine(affine) => affine.evaluate(point, &params)?,
                        // One of its own for each instance, for want of knowing better.
                        Subscript::Computed(_) => {
                            fresh -= 1;
                            fresh
                        }
                    };
                    Some(name << BITS | value.rem_euclid(1 << BITS) as u128)
                })
            };
            for read in &computation.reads {
                seen.entry((read.array, element(&read.subscripts)?)).or_insert(Seen { loaded: true, stored: false });
            }
            let name = element(&computation.write.subscripts)?;
            seen.entry((computation.write.array, name)).or_insert(Seen { loaded: false, stored: true }).stored = true;
        }
        let mut sums = [0, 0, useful, 0, 0, operations];
        for ((array, _), it) in seen {
            let bytes = u64::from(self.algorithm.array(array).element.bytes());
            if it.loaded {
                sums[0] += 1;
                sums[3] += bytes;
            }
            if it.stored && self.is_seen_outside(array) {
                sums[1] += 1;
                sums[4] += bytes;
            }
        }
        Some(sums)
    }

    /// Whether what is written to an array matters to anything but the members.
    fn is_seen_outside(&self, array: ArrayId) -> bool {
        match self.algorithm.array(array).kind {
            ArrayKind::Argument | ArrayKind::Result | ArrayKind::Returned => true,
            ArrayKind::Private | ArrayKind::Local { .. } => self.algorithm.ids().any(|id| {
                let reads = self.algorithm.computation(id).reads.iter().any(|read| read.array == array);
                reads && self.members.iter().all(|it| it.id != id)
            }),
        }
    }

    /// When an instance runs in the source's order.
    fn time(&self, id: ComputationId, point: &[i64], params: &[i64]) -> Option<Vec<i64>> {
        let (mut time, mut node) = (vec![], &self.algorithm.source_order.root);
        for step in self.algorithm.source_order.path_of(id)?.0 {
            node = match node {
                Node::Sequence(children) => {
                    time.push(step as i64);
                    children.get(step)?
                }
                Node::Loop(it) => {
                    time.push(it.at.get(&id)?.evaluate(point, params)?);
                    &it.body
                }
                Node::Computation(_) => return None,
            };
        }
        Some(time)
    }
}

/// The computations with the most loops in each part of a program that runs by itself, one of each innermost loop. Those that only the
/// schedule has, such as copies, are left out.
pub fn deepest(algorithm: &Algorithm, schedule: &Schedule) -> Vec<ComputationId> {
    let depth = |id: &ComputationId| algorithm.computation(*id).iterators.len();
    let innermost = |id: ComputationId| schedule.loops_around(id).last().map(|(path, _)| path.clone());
    let mut found = vec![];
    for part in schedule.parts() {
        let below = schedule.node(&part).map(Node::computations).unwrap_or_default();
        let below: Vec<_> = below.into_iter().filter(|id| (id.0 as usize) < algorithm.computations.len()).collect();
        let most = below.iter().map(depth).max().unwrap_or(0);
        let mut seen = BTreeSet::new();
        found.extend(below.into_iter().filter(|id| most > 1 && depth(id) == most && seen.insert(innermost(*id))));
    }
    found
}

/// What happens to an element.
struct Seen {
    loaded: bool,
    stored: bool,
}

/// Quantities as straight lines in long sides, and as a polynomial in the length of whole loops.
struct Lines<'a> {
    of: &'a Inside<'a>,
    /// The long sides.
    open: Vec<usize>,
    has_whole: bool,
}

impl Lines<'_> {
    fn is_open(&self, at: usize) -> bool {
        self.open.contains(&at)
    }

    fn at(&self, sides: &[u64], length: u64) -> Option<[f64; 6]> {
        let lengths = if self.has_whole { DEGREE_OF_WHOLE + 1 } else { 1 };
        let mut sums = [0.0; 6];
        for corner in 0..1_usize << self.open.len() {
            let (mut corner_sides, mut weight) = (sides.to_vec(), 1.0);
            for (place, &side) in self.open.iter().enumerate() {
                let node = corner >> place & 1;
                corner_sides[side] = NODE * (node as u64 + 1);
                weight *= lagrange(sides[side], node, 2);
            }
            for node in 0..lengths {
                let counted = self.of.counted(&corner_sides, NODE * (node as u64 + 1))?;
                let weight = weight * lagrange(length, node, lengths);
                sums.iter_mut().zip(counted).for_each(|(sum, it)| *sum += weight * it as f64);
            }
        }
        Some(sums)
    }
}

/// The polynomial that is 1 at one of the first multiples of [`NODE`] and 0 at the others.
fn lagrange(at: u64, node: usize, nodes: usize) -> f64 {
    let value = |node: usize| (NODE * (node as u64 + 1)) as f64;
    let others = (0..nodes).filter(|&other| other != node);
    others.map(|other| (at as f64 - value(other)) / (value(node) - value(other))).product()
}

/// All points whose coordinates lie from the first to before the last of these.
fn points(ranges: &[(i64, i64)]) -> Vec<Vec<i64>> {
    ranges.iter().fold(vec![vec![]], |all: Vec<Vec<i64>>, &(low, high)| {
        all.iter().flat_map(|begun| (low..high).map(move |it| [begun.as_slice(), &[it]].concat())).collect()
    })
}

/// Whether a loop says something of an iterator.
fn told(loops: &[&Loop], id: ComputationId, iterator: u32) -> bool {
    loops.iter().any(|it| it.at.get(&id).is_some_and(|at| at.involves_iterator(iterator)))
}

/// The iterator of the main computation that runs along with another one's, by the loops that they share; `None` if there are several.
fn shared(loops: &[&Loop], main: ComputationId, (id, iterator): (ComputationId, u32)) -> Option<u32> {
    let mut found = None;
    for it in loops.iter().filter(|it| it.at.get(&id).is_some_and(|at| at.involves_iterator(iterator))) {
        let mine = single(it.at.get(&main)?)?;
        if found.is_some_and(|known| known != mine) {
            return None;
        }
        found = Some(mine);
    }
    found
}

/// The only iterator of an expression.
fn single(at: &Affine) -> Option<u32> {
    let mut all = (0..at.iterator_count()).filter(|&iterator| at.involves_iterator(iterator));
    let first = all.next()?;
    all.next().is_none().then_some(first)
}

/// The first and the last value of an iterator in the iteration of the loops in which an iterator of another computation has a value in
/// the middle of nowhere. `None` where loops run through several iterators, or where there is no end.
fn run(
    algorithm: &Algorithm,
    loops: &[&Loop],
    (id, iterator): (ComputationId, u32),
    like: (ComputationId, u32),
) -> Option<(i64, i64)> {
    let mine = loops.iter().filter_map(|it| it.at.get(&id).zip(it.at.get(&like.0)));
    let mine: Vec<(&Affine, &Affine)> = mine.filter(|(at, _)| at.involves_iterator(iterator)).collect();
    if mine.iter().any(|(at, other)| single(at) != Some(iterator) || single(other) != Some(like.1)) {
        return None;
    }
    let value = |at: &Affine, of: u32, value: i64| {
        let mut point = vec![0; at.iterator_count().max(of + 1) as usize];
        point[of as usize] = value;
        // Whatever the sizes are, they move all of it.
        at.evaluate(&point, &vec![0; algorithm.params.len()])
    };
    let middle = 16 * FARTHEST;
    let wanted: Vec<i64> = mine.iter().map(|(_, other)| value(other, like.1, middle)).collect::<Option<_>>()?;
    let fits = |at: i64| mine.iter().zip(&wanted).all(|((it, _), &wanted)| value(it, iterator, at) == Some(wanted));
    let first = (0..FARTHEST).map(|by| middle - by).chain((1..FARTHEST).map(|by| middle + by)).find(|&at| fits(at))?;
    let low = (0..FARTHEST).map(|by| first - by).take_while(|&at| fits(at)).last()?;
    let high = (0..FARTHEST).map(|by| first + by).take_while(|&at| fits(at)).last()?;
    (high - low + 1 < FARTHEST).then_some((low, high))
}

/// How many iterations a loop has at most, where these are few.
fn length(algorithm: &Algorithm, id: ComputationId, iterator: u32) -> Result<Option<u64>, Error> {
    let range = algorithm.computation(id).domain.project_out_all_params()?;
    let ends = (range.dim_min_val(iterator as i32)?.to_i64(), range.dim_max_val(iterator as i32)?.to_i64());
    let length = ends.0.zip(ends.1).map(|(low, high)| (high - low + 1).max(1) as u64);
    Ok(length.filter(|&it| it <= SHORT))
}

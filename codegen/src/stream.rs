//! Time loops that stream: the kernel as data, and the launches that make up the loop.
//!
//! ```text
//! for t in first:last { nests }
//!   -> for each pair of blocks { kernel(A -> A_next); kernel(A_next -> A) }
//!      for each pair of short blocks of what is left { few(A -> A_next); few(A_next -> A) }
//!      few(A -> A_next), or rest(A -> A_next, half of what is left) where that is less; rest(A_next -> A, the others, and what is stored but once)
//! ```
//!
//! A kernel that is told how many steps it makes asks at each of them whether it is there, and keeps what it was where it is not. So it has room for few
//! ([`Stream::fewer`]), and so have the launches that leave it no more than it has room for. Where blocks are short themselves, they are these. Where all fields
//! go from launch to launch nothing is left to store in the end, and there may be no rest.
//!
//! Where the sizes of a stream say so, one kernel makes all steps of domains that its blocks can hold ([`Residing`]), and those launches others; or
//! there are none, and a call with another domain is refused.
//!
//! There is always an even number of launches, so that results end where they belong. [`Streaming`] says what a warp does;
//! see `tessella_polyhedral::stream` for why that is right.

mod passes;
mod tiles;

use crate::input::Input;
use crate::int_expr::{Cond, IntExpr, VariableId};
use crate::names::Names;
use crate::params::params_of_stream;
use crate::program::{Blocks, BufferAccess, For, Kernel, KernelId, KernelParam, Node, Width};
use passes::{Left, Pass, Passes, Told, if_any};
use tessella_polyhedral::affine::Affine;
use tessella_polyhedral::expr::Expr;
use tessella_polyhedral::layers::{BufferId, PlacedStream};
use tessella_polyhedral::machine::Gpu;
use tessella_polyhedral::schedule::Tag;
use tessella_polyhedral::stream::hexagon::Place;
use tessella_polyhedral::stream::{Hexagon, LANES, Resident, Settled, Stage, Stream};
use tessella_scalar::CompareOp;
use tiles::Tiles;

/// What a kernel that streams does; all its threads run it.
#[derive(Debug, Clone, PartialEq)]
pub struct Streaming {
    pub stream: Stream,
    /// For each field, the buffer that holds its values before the launch, and the one that gets those after it. They
    /// are the same for fields that only the last launch stores.
    pub buffers: Vec<(BufferId, BufferId)>,
    /// Extents of each field along columns, lines and rows; 1 where it has no such axis.
    pub extents: Vec<[IntExpr; 3]>,
    /// The last subscripts along columns, lines and rows of what launches have to go through: the extents of fields whose values go from step to
    /// step, and what is written of others beyond them.
    pub widest: [IntExpr; 3],
    /// How many subscripts there are along axes that go round: columns, lines and rows.
    pub rounds: [Option<IntExpr>; 3],
    /// First and last subscripts that each stage writes, along columns, lines and rows; after them those of what records.
    pub limits: Vec<[(IntExpr, IntExpr); 3]>,
    /// Comparisons of each stage that come out alike away from the edges; of stages that are an edge, none.
    pub settled: Vec<Vec<(Expr, Settled)>>,
    /// The iterators of each stage's statement, in the statement's order; after them those of what records.
    pub iterators: Vec<Vec<VariableId>>,
    /// Into how many parts a launch cuts the rows, where the schedule leaves that to it.
    pub parts: Option<VariableId>,
    /// The first time step of the launch.
    pub first: VariableId,
    /// For launches that make fewer than all steps, or store fields that are not carried.
    pub rest: Option<Rest>,
    /// For launches of hexagons.
    pub halves: Option<Halves>,
    /// For a launch whose blocks keep their tiles until all steps are made.
    pub residing: Option<Residing>,
}

/// What a launch of blocks that keep their tiles is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Residing {
    /// How many time steps it makes; at least 1.
    pub count: VariableId,
    /// How many iterations of the time loop these are, where that does not follow.
    pub turns: Option<VariableId>,
    /// Rows, or planes, that each block owns.
    pub rows: VariableId,
}

/// What a launch of hexagons is told, and where they keep the fields that are carried.
#[derive(Debug, Clone, PartialEq)]
pub struct Halves {
    /// The number of the launch: twice the round, and the phase.
    pub half: VariableId,
    /// The last round.
    pub last: VariableId,
    /// How many time steps all launches make.
    pub steps: VariableId,
    pub sets: Vec<Option<[BufferId; 4]>>,
}

/// What a launch at the end is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rest {
    /// How many time steps it makes; may be 0.
    pub steps: VariableId,
    /// How many iterations of the time loop these are, where that does not follow.
    pub turns: Option<VariableId>,
    /// Not 0 for the last one, which stores the fields that are not carried.
    pub last: VariableId,
}

impl Streaming {
    /// Whether the values of a field go from launch to launch.
    pub fn is_carried(&self, field: usize) -> bool {
        self.stream.fields[field].carried
    }

    /// Whether all axes that there are go round, so that each point is computed like any other.
    pub fn goes_round(&self) -> bool {
        self.stream.axes.iter().zip(&self.rounds).all(|(axis, round)| axis.is_none() || round.is_some())
    }

    /// The last subscript of a field along an axis that a stream loads and stores.
    pub fn last(&self, field: usize, axis: usize) -> &IntExpr {
        self.rounds[axis].as_ref().unwrap_or(&self.extents[field][axis])
    }

    /// Comparisons that come out alike away from the edges, with their stages.
    pub fn all_settled(&self) -> impl Iterator<Item = (&Stage, &Settled)> {
        let stages = self.stream.stages.iter().zip(&self.settled);
        stages.flat_map(|(stage, all)| all.iter().map(move |(_, settled)| (stage, settled)))
    }

    fn widest(&self, axis: usize) -> IntExpr {
        self.widest[axis].clone()
    }

    /// The last column that launches have to go through.
    pub fn widest_columns(&self) -> IntExpr {
        self.widest(0)
    }

    /// Strips along the first axis.
    pub fn strips(&self) -> IntExpr {
        parts(self.widest(0), self.stream.width())
    }

    /// Bands of lines; 1 where rows have none.
    pub fn bands(&self) -> IntExpr {
        parts(self.widest(1), self.stream.band())
    }

    /// Rows of all parts together.
    pub fn rows(&self) -> IntExpr {
        self.widest(2)
    }

    /// How many rows each part has, if the schedule says so.
    pub fn rows_of_part(&self) -> Option<i64> {
        self.stream.size.rows.map(i64::from)
    }

    /// The hexagons, where launches run some.
    pub fn hexagons(&self) -> Option<(&Hexagon, &Halves)> {
        self.stream.hexagon.as_ref().zip(self.halves.as_ref())
    }

    /// The buffer in which hexagons keep versions of a field that is carried.
    pub fn kept_in(&self, halves: &Halves, field: usize, place: Place) -> BufferId {
        match place {
            Place::Own => self.buffers[field].0,
            Place::Set { set, odd } => halves.sets[field].expect("a carried field has sets")[(2 * set + odd) as usize],
        }
    }

    /// Strips along the first axis, bands of lines, and hexagons along the last.
    pub fn hexagon_grid(&self, hexagon: &Hexagon) -> [IntExpr; 3] {
        let rows = self.widest(2).plus(IntExpr::Const(hexagon.bulge()));
        let bands = match &hexagon.planes {
            Some(planes) => parts(self.widest(1), planes.band(hexagon)),
            None => IntExpr::Const(1),
        };
        [parts(self.widest(0), hexagon.strip(&self.stream)), bands, parts(rows, hexagon.period())]
    }

    /// How many elements of its array lie before those of a field, if there are other levels of it.
    pub fn before(&self, field: usize) -> Option<IntExpr> {
        let [columns, lines, rows] = self.extents[field].clone();
        let level = self.stream.fields[field].level.filter(|level| *level != 1)?;
        Some(columns.times(lines).times(rows).times(IntExpr::Const(level - 1)))
    }

    /// The blocks that keep their tiles, where the launch has such.
    pub fn resident(&self) -> Option<(&Resident, &Residing)> {
        self.stream.resident.as_ref().zip(self.residing.as_ref())
    }

    /// Strips along the first axis, bands of lines, and tiles along the last, of blocks that keep theirs.
    pub fn resident_grid(&self, resident: &Resident, rows: IntExpr) -> [IntExpr; 3] {
        let strips = parts(self.widest(0), resident.strip(&self.stream));
        let bands = parts(self.widest(1), resident.band(&self.stream));
        [strips, bands, self.rows().plus(rows.clone()).minus(IntExpr::Const(1)).over(rows)]
    }

    /// A block for each strip, band and part.
    fn grid(&self) -> IntExpr {
        let parts = match (self.parts, self.rows_of_part()) {
            (Some(parts), _) => IntExpr::variable(parts),
            (None, rows) => parts(self.rows(), rows.expect("launches choose, or the schedule says it")),
        };
        let all = self.strips().times(parts);
        if self.stream.axes[1].is_some() { all.times(self.bands()) } else { all }
    }
}

/// Parameters of buffers, each once: an array has a field for each of its levels.
fn once_each(params: Vec<KernelParam>) -> Vec<KernelParam> {
    let mut all: Vec<KernelParam> = vec![];
    for param in params {
        let KernelParam::Buffer { buffer, access } = param else {
            all.push(param);
            continue;
        };
        let known = all.iter_mut().find_map(|it| match it {
            KernelParam::Buffer { buffer: known, access } if *known == buffer => Some(access),
            _ => None,
        });
        match known {
            Some(known) => *known = (*known).max(access),
            None => all.push(KernelParam::Buffer { buffer, access }),
        }
    }
    all
}

/// How many parts of this size cover all.
fn parts(all: IntExpr, size: i64) -> IntExpr {
    all.plus(IntExpr::Const(size - 1)).floor_div(size)
}

/// Turns a time loop into launches; the kernels go to `kernels`.
pub(crate) fn launches(
    input: &Input<'_>,
    names: &mut Names,
    placed: &PlacedStream,
    it: &For,
    kernel_name: String,
    kernels: &mut Vec<Kernel>,
) -> Vec<Node> {
    let stream = &placed.stream;
    let text = |affine: &Affine| IntExpr::from_affine(affine, &[]);
    let period = stream.period;
    let time = names.variables[it.variable.0 as usize].clone();
    let mut fresh = |wanted: &str| {
        let variable = VariableId(names.variables.len() as u32);
        let name = names.namer().fresh(wanted);
        names.variables.push(name);
        variable
    };
    let [count, pairs, pair, left] = ["steps", "pairs", "pair", "left"].map(|it| fresh(&format!("{time}_{it}")));
    // The first step of each launch, and what the two at the end are told.
    let firsts = [(); 4].map(|()| fresh(&format!("{time}_first")));
    let rests = [(); 2].map(|()| Rest {
        steps: fresh(&format!("{time}_now")),
        turns: (period > 1).then(|| fresh(&format!("{time}_turns"))),
        last: fresh("is_last"),
    });
    let few = stream.fewer.as_deref().map(|fewer| Pass {
        stream: fewer,
        pairs: fresh(&format!("{time}_few_pairs")),
        pair: fresh(&format!("{time}_few_pair")),
        left: fresh(&format!("{time}_few_left")),
        firsts: [(); 2].map(|()| fresh(&format!("{time}_first"))),
        cuts: fewer.size.rows.is_none().then(|| fresh("few_parts")),
    });
    let cuts = stream.size.rows.is_none().then(|| fresh("parts"));
    let usual = Pass { stream, cuts, pairs, pair, left, firsts: [firsts[0], firsts[1]] };
    let end = few.as_ref().unwrap_or(&usual);
    let of_hexagons = stream
        .hexagon
        .as_ref()
        .map(|_| ["some", "made", "last", "half", "after"].map(|it| fresh(&format!("{time}_{it}"))));
    let of_tiles = stream
        .resident
        .as_ref()
        .map(|_| ["all_steps", "rows_of_tile", "tiles", "turns"].map(|it| fresh(&format!("{time}_{it}"))));
    let of_fewest = stream.size.only_in_tiles().map(|_| fresh(&format!("{time}_most_rows")));
    let stage_iterators = stream.nests().map(|stage| {
        let computation = input.algorithm.computation(stage.computation);
        computation.iterators.iter().map(|name| fresh(name)).collect::<Vec<_>>()
    });
    let iterators: Vec<Vec<VariableId>> = stage_iterators.collect();

    let streaming = |of: &Pass<'_>, back: bool, first: VariableId, rest: Option<Rest>| Streaming {
        stream: of.stream.clone(),
        buffers: (stream.fields.iter())
            .map(|field| {
                let own = input.buffer_of(field.array);
                match placed.copies.get(&field.array).filter(|_| field.carried) {
                    Some(&copy) if back => (copy, own),
                    Some(&copy) => (own, copy),
                    None => (own, own),
                }
            })
            .collect(),
        extents: (stream.fields.iter())
            .map(|field| {
                let extents = &input.algorithm.array(field.array).extents;
                stream.axes.map(|axis| axis.map_or(IntExpr::Const(1), |axis| text(&extents[axis as usize])))
            })
            .collect(),
        widest: widest(input, stream),
        rounds: stream.rounds.clone().map(|period| period.map(|it| text(&it))),
        settled: (stream.stages.iter())
            .map(|stage| if stage.thin == [false; 3] { Settled::all(input.algorithm, stage) } else { vec![] })
            .collect(),
        limits: (stream.nests())
            .map(|stage| stage.limits.clone().map(|(low, high)| (text(&low), text(&high))))
            .collect(),
        iterators: iterators.clone(),
        parts: of.cuts,
        first,
        rest,
        halves: None,
        residing: None,
    };
    let tiles = stream.resident.as_ref().zip(of_tiles).map(|(resident, [whole, rows, share, turns])| {
        let residing = Residing { count: whole, turns: (period > 1).then_some(turns), rows };
        let it = Streaming { parts: None, residing: Some(residing), ..streaming(&usual, false, firsts[0], None) };
        let (from, iterations) = (text(&stream.time.0), iterations(&stream.time));
        Tiles { it, residing, resident, share, from, iterations, name: format!("{kernel_name}_resident") }
    });
    if let (Some(tiles), Some(rows)) = (&tiles, of_fewest) {
        let usual = tiles.usual(input, names, kernels);
        let fewest = tiles.fewest(input, names, usual, rows, kernels);
        return where_points_exist(input, stream, tiles.launches(usual, fewest));
    }
    let mut launch = |of: &Pass<'_>, back, first, rest, name: &str, same_as: Option<KernelId>| {
        let streaming = streaming(of, back, first, rest);
        let mut params = vec![];
        for (field, (from, to)) in streaming.buffers.iter().enumerate() {
            if streaming.is_carried(field) {
                params.push(KernelParam::Buffer { buffer: *from, access: BufferAccess::Read });
            }
            params.push(KernelParam::Buffer { buffer: *to, access: BufferAccess::Write });
        }
        let mut params = once_each(params);
        params.extend(params_of_stream(input, names, &streaming));
        let kernel = Kernel {
            name: name.to_string(),
            grid: [streaming.grid(), IntExpr::Const(1), IntExpr::Const(1)],
            block: [LANES * stream.warps() as u32, 1, 1],
            params,
            shared: vec![],
            body: vec![Node::Streaming(Box::new(streaming))],
            same_as,
            warps: false,
            width: Width::Wide,
            blocks: Blocks::Apart,
            dynamic: 0,
        };
        let id = KernelId(kernels.len() as u32);
        kernels.push(kernel);
        id
    };
    let mut there_and_back =
        |of: &Pass<'_>, [first, other]: [VariableId; 2], rests: [Option<Rest>; 2], name: String| {
            let there = launch(of, false, first, rests[0], &name, None);
            (there, launch(of, true, other, rests[1], &name, Some(there)))
        };
    let full = there_and_back(&usual, usual.firsts, [None; 2], kernel_name.clone());
    let fewer = few.as_ref().map(|few| there_and_back(few, few.firsts, [None; 2], format!("{kernel_name}_few")));
    let told = there_and_back(end, [firsts[2], firsts[3]], rests.map(Some), format!("{kernel_name}_rest"));

    let set = |variable: VariableId, value: IntExpr| Node::Let { variable, value };
    let get = IntExpr::variable;
    let from = text(&stream.time.0);
    let turns = iterations(&stream.time);
    let all = parts(turns.clone(), period);
    // What the last step leaves out.
    let short = all.clone().times(IntExpr::Const(period)).minus(turns);
    let (hexagons, from, all) = match &stream.hexagon {
        None => (vec![], from, all),
        Some(hexagon) => {
            let [some, made, last, half, after] = of_hexagons.expect("hexagons have names");
            let sets = stream.fields.iter().map(|field| placed.sets.get(&field.array).copied()).collect();
            let halves = Halves { half, last, steps: made, sets };
            let own = |buffer| (buffer, buffer);
            let it = Streaming {
                buffers: stream.fields.iter().map(|field| own(input.buffer_of(field.array))).collect(),
                halves: Some(halves),
                ..streaming(&usual, false, firsts[0], None)
            };
            let few = hexagon.steps();
            // Both are 0 where too few steps are to be made, or rows are too long for integers of 32 bits.
            let rounds = all.clone().minus(IntExpr::Const(STREAMED + 1 - few)).floor_div(few);
            let shortest = it.extents.iter().map(|extents| extents[0].clone().times(extents[1].clone()));
            let fit = IntExpr::Const(i64::from(i32::MAX) / hexagon.held().1).minus(IntExpr::max_of(shortest));
            let few_enough = [IntExpr::Const(1), rounds.clone().minus(IntExpr::Const(1)), fit.plus(IntExpr::Const(1))];
            let any = IntExpr::max_of([IntExpr::Const(0), IntExpr::min_of(few_enough)]);
            let name = format!("{kernel_name}_hexagons");
            let launch = Node::Launch(hexagon_kernel(input, names, it, hexagon, name, kernels));
            let halves = get(some).times(get(last).plus(get(last)).plus(IntExpr::Const(1)));
            let nodes = vec![
                set(some, any),
                set(made, get(some).times(all.clone().minus(IntExpr::Const(STREAMED)))),
                set(last, rounds),
                set(firsts[0], from.clone()),
                Node::For(For {
                    variable: half,
                    name: format!("{time}_half"),
                    tag: Tag::Sequential,
                    lower: IntExpr::Const(0),
                    upper: halves.minus(IntExpr::Const(1)),
                    step: 1,
                    clip: None,
                    going: None,
                    asked: None,
                    wide: None,
                    stores_last: false,
                    body: vec![launch],
                }),
                set(after, from.plus(get(made).times(IntExpr::Const(period)))),
            ];
            (nodes, get(after), all.minus(get(made)))
        }
    };
    let cut = |of: &Pass<'_>| {
        of.cuts.map(|parts| {
            let it = streaming(of, false, firsts[0], None);
            let columns = if stream.axes[1].is_some() { it.strips().times(it.bands()) } else { it.strips() };
            let decides = of.stream.parts(input.algorithm, &Gpu::HOPPER);
            set(parts, IntExpr::Parts(decides, Box::new(columns), Box::new(it.rows())))
        })
    };
    let may_end = period == 1 && stream.fields.iter().all(|field| field.carried);
    let passes = Passes { name: &it.name, period, may_end };
    let mut body = Vec::from_iter(cut(&usual));
    let (nodes, mut left) = passes.pairs(&usual, &Left { steps: count, from }, full);
    body.extend(nodes);
    if let Some((few, kernels)) = few.as_ref().zip(fewer) {
        body.extend(cut(few));
        let (nodes, after) = passes.pairs(few, &left, kernels);
        body.extend(nodes);
        left = after;
    }
    let [one, last] = [(rests[0], firsts[2], told.0), (rests[1], firsts[3], told.1)]
        .map(|(rest, first, kernel)| Told { rest, first, kernel });
    body.extend(passes.end(left, (end, fewer.unwrap_or(full).0), [one, last], short));
    let streamed = [hexagons, vec![set(count, all), if_any(count, body)]].concat();
    let all = match tiles {
        Some(tiles) => {
            let usual = tiles.usual(input, names, kernels);
            tiles.launches(usual, streamed)
        }
        None => streamed,
    };
    where_points_exist(input, stream, all)
}

/// Launches over arrays that have points, and all levels: others have nothing to go through.
fn where_points_exist(input: &Input<'_>, stream: &Stream, then: Vec<Node>) -> Vec<Node> {
    let exist = stream.highest_levels().into_iter().map(|(array, highest)| {
        let extent = input.algorithm.array(array).extents.last().expect("levels lie along an axis");
        Cond::compare(CompareOp::Ge, IntExpr::from_affine(extent, &[]), IntExpr::Const(highest))
    });
    let needed =
        stream.needs.iter().map(|it| Cond::compare(CompareOp::Ge, IntExpr::from_affine(it, &[]), IntExpr::Const(0)));
    match Cond::all_of(exist.chain(needed)) {
        Cond::Const(true) => then,
        condition => vec![Node::If { condition, then, otherwise: vec![] }],
    }
}

/// What launches have to go through along each axis.
fn widest(input: &Input<'_>, stream: &Stream) -> [IntExpr; 3] {
    [0, 1, 2].map(|at| {
        let Some(axis) = stream.axes[at] else { return IntExpr::Const(1) };
        // What lies behind the last one of these stays where it is.
        if let Some(period) = &stream.rounds[at] {
            return IntExpr::from_affine(period, &[]);
        }
        let carried = stream.fields.iter().filter(|field| field.carried);
        let mut ends: Vec<Affine> = vec![];
        let mut reach = |end: &Affine| {
            let is_inside = |other: &Affine| other.sub(end).ok().and_then(|it| it.as_constant()) >= Some(0);
            if !ends.iter().any(is_inside) {
                ends.push(end.clone());
            }
        };
        carried.for_each(|field| reach(&input.algorithm.array(field.array).extents[axis as usize]));
        let others = stream.nests().filter(|stage| !stream.fields[stage.field].carried);
        others.for_each(|stage| reach(&stage.limits[at].1));
        IntExpr::max_of(ends.iter().map(|end| IntExpr::from_affine(end, &[])))
    })
}

/// How many iterations a time loop has, given the first and the last.
fn iterations((from, until): &(Affine, Affine)) -> IntExpr {
    let text = |affine: &Affine| IntExpr::from_affine(affine, &[]);
    text(until).minus(text(from)).plus(IntExpr::Const(1))
}

/// Time steps that stream after hexagons: the last ones store the fields that are not carried.
const STREAMED: i64 = 2;

/// The kernel whose blocks run hexagons.
fn hexagon_kernel(
    input: &Input<'_>,
    names: &Names,
    it: Streaming,
    hexagon: &Hexagon,
    name: String,
    kernels: &mut Vec<Kernel>,
) -> KernelId {
    let mut params = vec![];
    let halves = it.halves.as_ref().expect("hexagons run in halves of rounds");
    for (field, (own, _)) in it.buffers.iter().enumerate() {
        match &halves.sets[field] {
            Some(set) => {
                let all = std::iter::once(own).chain(set);
                params.extend(all.map(|&buffer| KernelParam::Buffer { buffer, access: BufferAccess::Write }));
            }
            None if it.stream.fields[field].rim => {
                params.push(KernelParam::Buffer { buffer: *own, access: BufferAccess::Read });
            }
            None => {}
        }
    }
    params.extend(params_of_stream(input, names, &it));
    let [strips, bands, along] = it.hexagon_grid(hexagon);
    let dynamic = hexagon.shared_bytes(input.algorithm, &it.stream);
    let kernel = Kernel {
        name,
        grid: [strips.times(bands).times(along), IntExpr::Const(1), IntExpr::Const(1)],
        block: [hexagon.size.threads, 1, 1],
        params,
        shared: vec![],
        dynamic: u32::try_from(dynamic).expect("checked against what a block may have"),
        body: vec![Node::Streaming(Box::new(it))],
        same_as: None,
        warps: false,
        width: Width::Wide,
        blocks: Blocks::Apart,
    };
    kernels.push(kernel);
    KernelId(kernels.len() as u32 - 1)
}

//! What each loop does, and what stands in the way of more.

use super::Lines;
use super::streams::streams;
use super::words::{access, array, listed, named, origin, sum, taken, verb};
use std::collections::{BTreeMap, BTreeSet};
use tessella_polyhedral::affine::{Affine, Atom};
use tessella_polyhedral::algorithm::{AccessRef, ArrayId, ArrayKind, ComputationId, Which};
use tessella_polyhedral::dependence::{DependenceKind, Keeps};
use tessella_polyhedral::error::Error;
use tessella_polyhedral::isl::Ctx;
use tessella_polyhedral::layers::Target;
use tessella_polyhedral::reduction::accumulates;
use tessella_polyhedral::report::{self, Carried, Distance, LoopReport, ReportedDependence};
use tessella_polyhedral::schedule::{Larger, Node, Path, ProcessorAxis, StreamSize, Tag};
use tessella_polyhedral::verify::Verified;
use tessella_scalar::BinaryOp;

/// A line for each loop, indented as it is nested, and more below where there is more to say; and one for each statement in no loop.
pub fn lines(
    ctx: &Ctx,
    verified: &Verified,
    dependences: &[ReportedDependence],
    lines: &Lines,
) -> Result<Vec<String>, Error> {
    let plain: Vec<_> = dependences.iter().map(|item| item.dependence.clone()).collect();
    let reports = report::report_loops(ctx, verified.algorithm(), verified.schedule(), &plain)?;
    told(ctx, verified, &reports, dependences, lines)
}

/// As [`lines`], with the dependences of whole statements where the schedule runs pieces of them: those of the pieces take too long
/// to find.
pub fn lines_of_pieces(
    ctx: &Ctx,
    verified: &Verified,
    dependences: &[ReportedDependence],
    lines: &Lines,
) -> Result<Vec<String>, Error> {
    let plain: Vec<_> = dependences.iter().map(|item| item.dependence.clone()).collect();
    let algorithm = verified.algorithm();
    let pieces = |whole| algorithm.ids().filter(|&id| origin(verified, id) == Some(whole)).collect();
    let reports = report::report_loops_of_pieces(ctx, verified.source(), verified.schedule(), &plain, pieces)?;
    told(ctx, verified, &reports, dependences, lines)
}

fn told(
    ctx: &Ctx,
    verified: &Verified,
    reports: &[LoopReport],
    dependences: &[ReportedDependence],
    lines: &Lines,
) -> Result<Vec<String>, Error> {
    let mut text = Text::of(verified);
    let mut told_notes = BTreeSet::new();
    // What `inline` leaves behind runs for no size.
    let runs = |it: &&LoopReport| {
        let below = verified.schedule().node(&it.path).map(Node::computations).unwrap_or_default();
        below.iter().any(|&id| !verified.algorithm().computation(id).never_runs())
    };
    for it in reports.iter().filter(runs) {
        text.add(it, &way(verified, reports, it, dependences, lines));
        if let Tag::Stream(size) = it.tag {
            streams(ctx, verified, &it.path, size)?.iter().for_each(|line| text.add_below(it, line));
        }
        let note = note(verified, it, dependences, lines);
        if let Some(note) = note.filter(|note| told_notes.insert(note.clone())) {
            text.add_below(it, &note);
        }
    }
    let mut text = text.finish();
    if text.is_empty() {
        text.push("there are none".to_string());
    } else if reports.iter().any(|it| matches!(it.tag, Tag::Stream(_))) {
        // Its warps share the points.
    } else if reports.iter().all(|it| it.tag.keeps_order()) && reports.iter().any(|it| depth(verified, &it.path) > 0) {
        text.extend(not_in_parallel(verified, reports));
    }
    text.extend(hexagons(verified));
    Ok(text)
}

/// What a user may do where no loop runs in parallel.
fn not_in_parallel(verified: &Verified, reports: &[LoopReport]) -> Vec<String> {
    let algorithm = verified.algorithm();
    let inside = |it: &LoopReport| -> Vec<ComputationId> {
        let ids = verified.schedule().node(&it.path).map(Node::computations).unwrap_or_default();
        ids.into_iter().filter(|&id| origin(verified, id).is_some()).collect()
    };
    let mut free = reports.iter().filter(|it| it.tag == Tag::Sequential && it.carries.is_empty());
    if let Some((it, id)) = free.find_map(|it| Some((it, *inside(it).first()?))) {
        let (at, name) = (&it.name, &algorithm.computation(id).name);
        let commands = match verified.target() {
            Target::Cpu => format!("`parallel({name}, {at})`"),
            Target::Gpu => format!("`split({name}, {at}, 32)`, then `gpu({name}, {at}0, {at}1)`"),
        };
        return vec![format!("No loop runs in parallel, though `{at}` could: {commands}.")];
    }
    let computed = algorithm.computations.iter().find(|it| !it.never_runs() && !it.write.is_affine());
    if let Some(it) = computed {
        let array = &algorithm.array(it.write.array).name;
        return vec![
            format!(
                "No loop runs in parallel: which elements of `{array}` an iteration writes is known only when it runs,"
            ),
            "and two at one time may write the same.".to_string(),
        ];
    }
    vec![
        "No loop runs in parallel. Where loops inside one another all have to wait, the waiting often".to_string(),
        "runs along a diagonal: `skew(S, i, j, 1)` leans `j` against `i`, and after an `interchange`".to_string(),
        "the inner loop may be free. `tessella draw` shows which way the arrows point.".to_string(),
    ]
}

/// As [`lines`], where it takes too long to find out why.
pub fn lines_without_reasons(verified: &Verified) -> Vec<String> {
    let mut text = Text::of(verified);
    let reports = report::loops(verified.schedule());
    for it in &reports {
        let is_on_thread = reports
            .iter()
            .any(|outer| outer.tag == Tag::Parallel && outer.path != it.path && outer.path.contains(&it.path));
        let in_order = if is_on_thread { "in order, by one thread" } else { "in order" };
        text.add(it, &at_one_time(verified.target(), it.tag).unwrap_or_else(|| Way::plain(in_order.to_string())));
    }
    let mut text = text.finish();
    text.extend(hexagons(verified));
    text.push(
        "This order is proved to keep all dependences above; which of them keeps which loop in order takes too long"
            .to_string(),
    );
    text.push("to find out here.".to_string());
    text
}

/// How hexagons wait for one another, where there are any.
fn hexagons(verified: &Verified) -> Vec<String> {
    match verified.algorithm().computations.iter().any(|it| it.name.contains("_phase")) {
        true => HEXAGONS.map(str::to_string).to_vec(),
        false => vec![],
    }
}

const HEXAGONS: [&str; 4] = [
    "Tiles over time are hexagons: the loop over tiles of time counts rows of them, and the two nests below it are two phases,",
    "each with every other hexagon. Rows and phases run one after the other, since a hexagon needs those before it. Hexagons of",
    "one phase need nothing of one another, so they run in parallel. Inside of a hexagon, time steps run in order, each on what",
    "the step before left.",
];

const FREE: &str = "no iteration needs another one's values or memory";

/// What a loop does.
struct Way {
    does: String,
    /// Whether its iterations are free of one another, which is said once a nest.
    is_free: bool,
    more: String,
}

impl Way {
    fn plain(does: String) -> Way {
        Way { does, is_free: false, more: String::new() }
    }

    fn free(does: String) -> Way {
        Way { is_free: true, ..Way::plain(does) }
    }
}

/// The lines of loops, each with its place in the program.
struct Text<'a> {
    verified: &'a Verified,
    lines: Vec<(Path, String)>,
    /// Nests of which one loop was said to be free, by their places at the top.
    told_free: BTreeSet<Path>,
}

impl Text<'_> {
    fn of(verified: &Verified) -> Text<'_> {
        Text { verified, lines: vec![], told_free: BTreeSet::new() }
    }

    fn indent(&self, it: &LoopReport) -> String {
        "  ".repeat(depth(self.verified, &it.path))
    }

    fn add(&mut self, it: &LoopReport, way: &Way) {
        let top = match self.verified.schedule().root {
            Node::Sequence(_) => 1,
            Node::Loop(_) | Node::Computation(_) => 0,
        };
        let nest = Path(it.path.0[..top].to_vec());
        let free = match way.is_free && self.told_free.insert(nest) {
            true => format!("; {FREE}"),
            false => String::new(),
        };
        let (members, passes) = (members(self.verified, &it.path), passes(self.verified, &it.path));
        let line = format!("{}{} ({members}){passes}: {}{free}{}", self.indent(it), it.name, way.does, way.more);
        self.lines.push((it.path.clone(), line));
    }

    fn add_below(&mut self, it: &LoopReport, line: &str) {
        self.lines.push((it.path.clone(), format!("{}    {line}", self.indent(it))));
    }

    /// All lines, and those of statements in no loop, in the order in which they run.
    fn finish(mut self) -> Vec<String> {
        let (algorithm, schedule) = (self.verified.algorithm(), self.verified.schedule());
        for id in algorithm.ids().filter(|&id| schedule.loops_around(id).is_empty()) {
            let line = format!("{}: once, in no loop", algorithm.computation(id).name);
            self.lines.extend(schedule.path_of(id).map(|path| (path, line)));
        }
        self.lines.sort_by(|one, other| one.0.cmp(&other.0));
        self.lines.into_iter().map(|(_, line)| line).collect()
    }
}

/// What runs the iterations of a loop at one time; `None` where they keep their order.
fn at_one_time(target: Target, tag: Tag) -> Option<Way> {
    match tag {
        Tag::Parallel => Some(Way::free("in parallel on CPU threads".to_string())),
        Tag::Vector(_) if target == Target::Gpu => {
            Some(Way::plain("in order: `vectorize` is for CPUs, and changes nothing on a GPU".to_string()))
        }
        Tag::Vector(width) => Some(Way::free(format!("in SIMD vectors of {width}"))),
        Tag::GpuBlock(along) => Some(Way::free(format!("spread over thread blocks along {}", axis(along)))),
        Tag::GpuThread(along) => Some(Way::free(format!("spread over threads along {}", axis(along)))),
        Tag::Combine => Some(Way::plain(
            "spread over the threads of a block, whose updates the block combines: those of 32 threads by shuffles, then one \
             of each 32 through shared memory"
                .to_string(),
        )),
        Tag::Sequential | Tag::Rows | Tag::Stream(_) | Tag::GridSync | Tag::Separate | Tag::Unroll(_) => None,
    }
}

fn axis(axis: ProcessorAxis) -> &'static str {
    match axis {
        ProcessorAxis::X => "x",
        ProcessorAxis::Y => "y",
        ProcessorAxis::Z => "z",
    }
}

/// How many loops stand around a path.
fn depth(verified: &Verified, path: &Path) -> usize {
    let above = (0..path.0.len()).map(|depth| Path(path.0[..depth].to_vec()));
    above.filter(|path| matches!(verified.schedule().node(path), Some(Node::Loop(_)))).count()
}

/// What a loop that is more than one of the source's passes through: `, 60 values of `j` at a time` or `, each `j` of these`.
fn passes(verified: &Verified, path: &Path) -> String {
    let Some(Node::Loop(it)) = verified.schedule().node(path) else { return String::new() };
    // Copies that storage commands added follow the statements.
    let own = it.at.iter().filter(|(id, _)| origin(verified, **id).is_some());
    let mut all = own.map(|(&id, at)| counted(verified, id, at));
    let first = all.next().unwrap_or_default();
    if all.all(|other| other == first) { first } else { String::new() }
}

/// How a time loop streams.
fn how_it_streams(size: StreamSize) -> String {
    let elsewhere = match size.hexagon {
        Some(it) => format!(
            "in hexagons of {} steps, in their first and last step {} rows high, whose rows lie in registers",
            it.steps(),
            it.width + 1
        ),
        None if size.steps == 1 => "each step in one pass over the data, in registers".to_string(),
        None => format!("{} steps in one pass over the data, in registers", size.steps),
    };
    let Some(it) = size.resident else { return format!("in order, {elsewhere}") };
    let often = if it.steps == 1 { "step".to_string() } else { format!("{} steps", it.steps) };
    match size.larger {
        Larger::Stream => format!(
            "in order inside of one kernel where its blocks hold all of it in shared memory, which wait for each other after every {often}; else {elsewhere}"
        ),
        Larger::Refuse => format!(
            "in order inside of one kernel whose blocks hold all of it in shared memory (else the call is refused), and wait for each other after every {often}"
        ),
    }
}

/// The same for one statement, whose instances the loop numbers so.
fn counted(verified: &Verified, id: ComputationId, at: &Affine) -> String {
    let iterators = &verified.algorithm().computation(id).iterators;
    let involved = |at: &Affine| -> Vec<usize> {
        (0..iterators.len()).filter(|&iterator| at.involves_iterator(iterator as u32)).collect()
    };
    let [only] = involved(at)[..] else { return leaning(at, iterators) };
    // Where threads take every eighth value, say, the loops stand the other way round.
    let around = verified.schedule().loops_around(id);
    let mut parts = around.iter().filter(|(_, it)| involved(&it.at[&id]) == [only]).rev().skip(1);
    if parts.any(|(_, it)| !matches!(it.at[&id].terms(), [(Atom::FloorDiv(..), 1)])) {
        return String::new();
    }
    match taken(at, iterators) {
        Some(values) => format!(", {values} at a time"),
        None if at.terms().iter().any(is_division) => format!(", each `{}` of these", iterators[only]),
        None => String::new(),
    }
}

/// The same for a loop that runs through sums of several iterators.
fn leaning(at: &Affine, iterators: &[String]) -> String {
    let tile = |(atom, factor): &(Atom, i64)| match (atom, factor) {
        (Atom::FloorDiv(inner, size), 1) => sum(inner.terms(), iterators).map(|of| (*size, of)),
        _ => None,
    };
    let tiles: Option<Vec<(i64, String)>> = at.terms().iter().map(tile).collect();
    match tiles.as_deref() {
        Some([]) => return String::new(),
        Some([(size, of)]) => return format!(", tiles of {size} of `{of}`"),
        Some(several) => {
            let numbers: Vec<String> = several.iter().map(|(size, of)| format!("`{of}` ({size} a tile)")).collect();
            return format!(", the sum of the numbers of the tiles along {}", numbers.join(" and "));
        }
        None => {}
    }
    let points: Vec<(Atom, i64)> = at.terms().iter().filter(|term| !is_division(term)).cloned().collect();
    match sum(&points, iterators) {
        Some(of) if points.len() < at.terms().len() => format!(", each `{of}` of these"),
        Some(of) => format!(", the values of `{of}`"),
        None => String::new(),
    }
}

fn is_division((atom, _): &(Atom, i64)) -> bool {
    matches!(atom, Atom::FloorDiv(..))
}

fn members(verified: &Verified, path: &Path) -> String {
    let below = verified.schedule().node(path).map(Node::computations).unwrap_or_default();
    let names: Vec<&str> = below.iter().map(|&id| verified.algorithm().computation(id).name.as_str()).collect();
    names.join(", ")
}

/// What a loop does and why.
fn way(
    verified: &Verified,
    reports: &[LoopReport],
    it: &LoopReport,
    dependences: &[ReportedDependence],
    lines: &Lines,
) -> Way {
    if is_streamed(verified, &it.path) {
        return Way::plain("its points are shared by the threads of the stream".to_string());
    }
    if let Some(way) = at_one_time(verified.target(), it.tag) {
        let shared = if it.tag == Tag::Parallel { shared_arrays(verified, &it.path) } else { vec![] };
        let more = match shared.is_empty() {
            true => String::new(),
            false => format!("; its nests find {} in the cache", listed(&shared)),
        };
        return Way { more, ..way };
    }
    let turn = match it.tag {
        Tag::Sequential if is_wave(verified, &it.path) => "over diagonals of tiles, in order".to_string(),
        Tag::Sequential | Tag::Parallel | Tag::Vector(_) | Tag::GpuBlock(_) | Tag::GpuThread(_) | Tag::Combine => {
            "in order".to_string()
        }
        Tag::Stream(size) => how_it_streams(size),
        Tag::GridSync => "in order inside of one kernel, whose blocks wait for each other".to_string(),
        Tag::Separate => "in order, full tiles apart from partial ones".to_string(),
        Tag::Rows => "in order, values of a row computed by the lanes of a warp together".to_string(),
        Tag::Unroll(factor) => format!("in order, {factor} iterations written out at a time"),
    };
    let Some(reason) = strongest(&it.carries, dependences) else {
        let outer = reports.iter().find(|other| {
            let around = other.path != it.path && other.path.contains(&it.path);
            around && matches!(other.tag, Tag::Parallel | Tag::GpuBlock(_) | Tag::GpuThread(_) | Tag::Combine)
        });
        return match outer {
            Some(outer) => {
                Way::plain(format!("{turn}; could run in parallel, but `{}` around it already does", outer.name))
            }
            None if on_one_thread(verified, reports, it) => Way::plain(format!(
                "{turn}, by one thread of the GPU; could run in parallel: {}",
                parallel_on_gpu(verified, &it.path)
            )),
            None => Way::free(format!("{turn}; could run in parallel")),
        };
    };
    let because = because(verified, reason, dependences, lines);
    let others = others(verified, reason, &it.carries, dependences);
    let is_inside = |other: &&LoopReport| other.path != it.path && other.path.contains(&it.path);
    let is_outermost = !reports.iter().filter(is_inside).any(|other| on_one_thread(verified, reports, other));
    let turn = match is_outermost && on_one_thread(verified, reports, it) {
        true => format!("{turn}, by one thread of the GPU"),
        false => turn,
    };
    Way::plain(format!("{turn}, since {because}{others}{}", behind(verified, &it.path)))
}

/// Whether neither a loop nor one around or inside of it has threads of a GPU.
fn on_one_thread(verified: &Verified, reports: &[LoopReport], it: &LoopReport) -> bool {
    let shares = |other: &&LoopReport| other.path.contains(&it.path) || it.path.contains(&other.path);
    verified.target() == Target::Gpu && !reports.iter().filter(shares).any(|other| has_threads(other.tag))
}

/// Whether a loop with such a tag has threads of a GPU.
pub(crate) fn has_threads(tag: Tag) -> bool {
    match tag {
        Tag::GpuBlock(_) | Tag::GpuThread(_) | Tag::Combine | Tag::Stream(_) | Tag::GridSync => true,
        Tag::Sequential | Tag::Parallel | Tag::Vector(_) | Tag::Unroll(_) | Tag::Rows | Tag::Separate => false,
    }
}

/// The commands that give a loop threads of a GPU.
pub(crate) fn parallel_on_gpu(verified: &Verified, path: &Path) -> String {
    let schedule = verified.schedule();
    let first = schedule.node(path).and_then(|node| node.computations().first().copied());
    match (first, schedule.node(path)) {
        (Some(id), Some(Node::Loop(it))) => {
            let (name, at) = (&verified.algorithm().computation(id).name, &it.name);
            format!("`split({name}, {at}, 256); gpu({name}, {at}0, {at}1)`, or `auto()` for all that commands leave")
        }
        _ => "`auto()`".to_string(),
    }
}

/// What the source could say to allow more of a loop.
fn note(verified: &Verified, it: &LoopReport, dependences: &[ReportedDependence], lines: &Lines) -> Option<String> {
    if is_streamed(verified, &it.path) || !it.tag.keeps_order() {
        return None;
    }
    let reported = &dependences[strongest(&it.carries, dependences)?.dependence];
    let (source, sink) = (reported.dependence.source.computation, reported.dependence.sink.computation);
    let op = accumulates(verified.algorithm().computation(source)).filter(|_| source == sink)?;
    rounding(verified, op, reported, lines)
}

/// Which statements a loop runs for an iteration that others have already left behind: `; S2 comes 1 iteration behind S1`.
fn behind(verified: &Verified, path: &Path) -> String {
    let Some(Node::Loop(it)) = verified.schedule().node(path) else { return String::new() };
    let mut at: BTreeMap<i64, Vec<&str>> = BTreeMap::new();
    for (id, function) in &it.at {
        if !matches!(function.terms(), [(Atom::Iterator(_), 1)]) {
            return String::new();
        }
        at.entry(function.constant_term()).or_default().push(&verified.algorithm().computation(*id).name);
    }
    let mut groups = at.into_iter();
    let Some((first, ahead)) = groups.next() else { return String::new() };
    let late = groups.map(|(constant, names)| {
        let count = constant - first;
        let s = if count == 1 { "" } else { "s" };
        let come = if names.len() == 1 { "comes" } else { "come" };
        format!("; {} {come} {count} iteration{s} behind {}", names.join(", "), ahead.join(", "))
    });
    late.collect()
}

/// The arrays with the most axes that several nests directly inside a loop use.
fn shared_arrays(verified: &Verified, path: &Path) -> Vec<String> {
    let Some(Node::Sequence(children)) = verified.schedule().node(&path.child(0)) else { return vec![] };
    let algorithm = verified.algorithm();
    let arrays = |child: &Node| -> BTreeSet<ArrayId> {
        let computations = child.computations().into_iter().map(|id| algorithm.computation(id));
        computations
            .flat_map(|it| it.reads.iter().chain([&it.write]).map(|access| access.array).collect::<Vec<_>>())
            .collect()
    };
    let nests = children.iter().filter(|child| !matches!(child, Node::Computation(_)));
    let used: Vec<BTreeSet<ArrayId>> = nests.map(arrays).collect();
    let in_memory = |array: &ArrayId| algorithm.array(*array).kind != ArrayKind::Private;
    let all: BTreeSet<ArrayId> = used.iter().flatten().copied().filter(in_memory).collect();
    let several = all.into_iter().filter(|array| used.iter().filter(|it| it.contains(array)).count() > 1);
    let several: Vec<ArrayId> = several.collect();
    let most = several.iter().map(|&array| algorithm.array(array).rank).max().unwrap_or(0);
    several
        .into_iter()
        .map(|id| algorithm.array(id))
        .filter(|array| array.rank == most)
        .map(|it| it.name.clone())
        .collect()
}

/// Whether a loop around streams.
fn is_streamed(verified: &Verified, path: &Path) -> bool {
    let above = (0..path.0.len()).map(|depth| Path(path.0[..depth].to_vec()));
    above
        .into_iter()
        .any(|path| matches!(verified.schedule().node(&path), Some(Node::Loop(it)) if matches!(it.tag, Tag::Stream(_))))
}

/// Whether a loop runs through sums of tile numbers, with parallel tiles directly inside: a wavefront.
fn is_wave(verified: &Verified, path: &Path) -> bool {
    let Some(Node::Loop(it)) = verified.schedule().node(path) else { return false };
    let counts_diagonals = it.at.values().all(|at| {
        at.terms().len() > 1
            && at.terms().iter().all(|(atom, factor)| *factor == 1 && matches!(atom, Atom::FloorDiv(..)))
    });
    counts_diagonals && matches!(&*it.body, Node::Loop(tiles) if !tiles.tag.keeps_order())
}

/// Values come before memory that is used again; the nearest first.
fn strongest<'a>(carried: &'a [Carried], dependences: &[ReportedDependence]) -> Option<&'a Carried> {
    let rank = |it: &&Carried| {
        let near = match it.distance {
            Distance::Exactly(by) | Distance::AtLeast(by) | Distance::Between(by, _) => by,
            Distance::AtMost(_) | Distance::Any => 1,
        };
        (dependences[it.dependence].dependence.kind != DependenceKind::Flow, near)
    };
    carried.iter().min_by_key(rank)
}

fn because(verified: &Verified, reason: &Carried, dependences: &[ReportedDependence], lines: &Lines) -> String {
    let algorithm = verified.algorithm();
    let dependence = &dependences[reason.dependence].dependence;
    let (source, sink) = (dependence.source.computation, dependence.sink.computation);
    let before = match reason.distance {
        Distance::Exactly(1) => "in the iteration before".to_string(),
        Distance::Exactly(count) => format!("{count} iterations before"),
        Distance::AtLeast(_) | Distance::AtMost(_) | Distance::Between(..) | Distance::Any => {
            "in earlier iterations".to_string()
        }
    };
    let to = named(algorithm, sink, lines);
    if let (true, Some(op)) = (source == sink, accumulates(algorithm.computation(source))) {
        let place = access(verified, AccessRef { computation: source, which: Which::Write });
        return format!("{to} {} the `{place}` that it left {before}", verb(op));
    }
    let from = if source == sink { "it".to_string() } else { named(algorithm, source, lines) };
    let array = array(verified, dependence.source);
    match dependence.kind {
        DependenceKind::Flow => {
            format!("{to} reads `{}`, which {from} wrote {before}", access(verified, dependence.sink))
        }
        DependenceKind::Anti => format!("{to} overwrites what {from} read of `{array}` {before}"),
        DependenceKind::Output => format!("{to} overwrites what {from} wrote to `{array}` {before}"),
    }
}

/// What it takes to run a reduction, which a dependence orders, in another order.
fn rounding(verified: &Verified, op: BinaryOp, reported: &ReportedDependence, lines: &Lines) -> Option<String> {
    let id = reported.dependence.source.computation;
    let computation = verified.algorithm().computation(id);
    if computation.value.ty.is_float() && !computation.write.is_affine() {
        if computation.owner.is_some() {
            return None;
        }
        if computation.atomic {
            return Some(format!(
                "threads take these {} each in one piece, in whatever order they come, as `@fastmath` allows: last bits differ \
                 from call to call",
                operations(op)
            ));
        }
        let (meeting, order) = match op {
            BinaryOp::Add | BinaryOp::Sub => (
                "add them up in another order in every run",
                "they stay in order, but for threads of a GPU under `@fastmath` where nothing else keeps the loop in order",
            ),
            _ => ("lose updates", "they stay in order, also under `@fastmath`"),
        };
        return Some(format!(
            "data say which elements these {} of floats go to, and threads that meet at one would {meeting}: {order}; of integers, \
             threads of a GPU take them together, and a loop over the elements of `{}` with one over the updates of each inside \
             runs in parallel, as do owners of its elements (`owners`)",
            operations(op),
            array(verified, reported.dependence.source),
        ));
    }
    let why = match op {
        BinaryOp::Min | BinaryOp::Max => "so that NaN and signed zeros come out alike",
        _ => "so that they round alike",
    };
    match (computation.value.ty.is_float(), reported.dependence.keeps) {
        (false, Keeps::Apart | Keeps::Order) => None,
        (true, Keeps::Apart) if computation.fastmath => Some(format!(
            "the source allows another order of these {} (`@fastmath`); the compiler may use it",
            operations(op)
        )),
        (true, Keeps::Apart) => {
            Some(format!("the source allows another order of these {}; `rfactor` uses it", operations(op)))
        }
        (true, Keeps::Order) => {
            let place = lines.get(&id).map_or_else(String::new, |line| match line.starts_with("line ") {
                true => format!(" on {line}"),
                false => format!(" at {line}"),
            });
            Some(format!(
                "{} keep Julia's order, {why}; `@fastmath`{place}{} lets them be taken in another",
                operations(op),
                simd(verified, id, &reported.carried)
            ))
        }
    }
}

/// Where `@simd` would do as well: at an innermost loop of the source, if that has one iterator.
fn simd(verified: &Verified, id: ComputationId, carried: &[String]) -> String {
    let source = verified.source();
    let around = origin(verified, id).map(|id| source.source_order.loops_around(id));
    let innermost = around.and_then(|loops| loops.last().map(|(_, it)| *it));
    match innermost.filter(|it| !it.body.has_loop(&|_| true)) {
        Some(inner) if *carried == [inner.name.clone()] => {
            format!(", or `@simd` at the loop over `{}` if it has a `for` of its own,", inner.name)
        }
        _ => String::new(),
    }
}

fn operations(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Mul => "products",
        BinaryOp::Sub => "differences",
        BinaryOp::Min => "minima",
        BinaryOp::Max => "maxima",
        _ => "sums",
    }
}

/// How much else is in the way.
fn others(verified: &Verified, told: &Carried, carried: &[Carried], dependences: &[ReportedDependence]) -> String {
    let text = |it: &Carried| {
        let dependence = &dependences[it.dependence].dependence;
        let name = |at: AccessRef| &verified.algorithm().computation(at.computation).name;
        let (sink, source) = (name(dependence.sink), name(dependence.source));
        format!("{sink} after {source} on `{}`", array(verified, dependence.source))
    };
    let mut seen = vec![text(told)];
    for it in carried.iter().map(text) {
        if !seen.contains(&it) {
            seen.push(it);
        }
    }
    match &seen[1..] {
        [] => String::new(),
        [one] => format!("; also {one}"),
        [one, two] => format!("; also {one}, {two}"),
        [one, two, more @ ..] => format!("; also {one}, {two}, and {} more", more.len()),
    }
}

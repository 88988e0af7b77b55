//! Layer II: the order of execution, as a tree of sequences, named loops and computations.
//!
//! Every loop has, for each computation below it, an affine function of that computation's iterators: the value the
//! loop runs through when it executes that instance. Instances run in the lexicographic order that the tree spells
//! out; the order that parallel loops leave open is open.

use crate::affine::Affine;
use crate::algorithm::ComputationId;
use crate::transform::loop_names;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    pub root: Node,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// Children one after the other.
    Sequence(Vec<Node>),
    Loop(Loop),
    Computation(ComputationId),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loop {
    /// As the user sees it; unique among the loops around any one computation.
    pub name: String,
    pub tag: Tag,
    /// One for each computation below.
    pub at: BTreeMap<ComputationId, Affine>,
    pub body: Box<Node>,
}

/// How a loop is executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tag {
    Sequential,
    /// CPU threads, in any order.
    Parallel,
    /// SIMD lanes, this many at a time.
    Vector(u32),
    /// Unrolled, this many iterations at a time.
    Unroll(u32),
    /// In order, on a GPU: what a lane's row has of values that nothing in the kernel changes, the lanes of a warp compute for one another, some
    /// rows at a time, so that neighbours read what lies side by side: see [`crate::rows`].
    Rows,
    /// Over tiles, in order; the code has full tiles, without guards, apart from partial ones.
    Separate,
    GpuBlock(ProcessorAxis),
    GpuThread(ProcessorAxis),
    /// Over the threads of a block along x, which combines their updates of one element: see [`crate::combine`].
    Combine,
    /// A time loop on the GPU: see [`crate::stream`].
    Stream(StreamSize),
    /// On the GPU, in order, inside of one kernel: all blocks wait for each other between the nests of its body.
    GridSync,
}

/// How much of a time loop streams at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamSize {
    /// Time steps of one launch.
    pub steps: u32,
    /// Neighbouring points that a lane holds.
    pub points: u32,
    /// Rows that a warp stores; `None` where each launch chooses, by the extents.
    pub rows: Option<u32>,
    /// Lines of each row that a lane holds, where rows are planes of an array with three axes.
    pub lines: u32,
    /// Warps of a block, which share the lines of such planes.
    pub warps: u32,
    /// Hexagons over time and rows; `None` where rows stream one after the other.
    pub hexagon: Option<HexagonSize>,
    /// All steps in one kernel where the blocks' shared memory holds the whole domain; `None` where they stream whatever the sizes.
    pub resident: Option<ResidentSize>,
    /// What becomes of other domains.
    pub larger: Larger,
}

/// What becomes of domains that blocks cannot hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Larger {
    Stream,
    /// The call is refused: all steps were asked for in one kernel, and nothing else.
    Refuse,
}

/// Tiles that stay in shared memory for all time steps: see [`crate::stream::resident`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResidentSize {
    /// Time steps between two barriers of the grid.
    pub steps: u32,
    /// Points of a row that a lane has, 32 columns apart.
    pub points: u32,
    /// The most rows that a warp has, one after the other; lines of planes, where the array has three axes.
    pub rows: u32,
    /// Warps of a block.
    pub warps: u32,
    /// Lines of each plane, where the array has three axes.
    pub lines: u32,
}

impl ResidentSize {
    /// The sizes where the user gives none but the steps, and they fit.
    pub const POINTS: u32 = 4;
    pub const ROWS: u32 = 20;
    pub const WARPS: u32 = 16;
    pub const LINES: u32 = 16;
}

impl std::fmt::Display for ResidentSize {
    /// The sizes as a command has them.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ResidentSize { steps, points, rows, warps, lines } = self;
        write!(f, "{steps}")?;
        given(f, &[*points, *rows, *warps, *lines])
    }
}

/// Stands in a command for a size that the user leaves open. Loops have none of these.
pub const OPEN: u32 = 0;

/// Hexagons whose rows lie in registers: see [`crate::stream::hexagon`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HexagonSize {
    /// Half of the steps of a hexagon, less one: `h` of the report.
    pub height: u32,
    /// Rows of its first and last step, less one: `w0` of the report.
    pub width: u32,
    /// Threads of a block, each of which holds its points of all rows.
    pub threads: u32,
    /// Tiles along columns, one after the other, that a block runs; over arrays with three axes lines of each plane that a thread holds.
    pub tiles: u32,
}

impl HexagonSize {
    /// The sizes where the user gives none but height and width, and they fit.
    pub const POINTS: u32 = 2;
    pub const THREADS: u32 = 256;
    pub const TILES: u32 = 2;

    /// Steps of a hexagon.
    pub fn steps(&self) -> i64 {
        2 * i64::from(self.height) + 2
    }
}

impl StreamSize {
    /// What a user writes for the rows to leave them to each launch, and name sizes that stand behind.
    pub const AT_LAUNCH: u32 = 0;
    /// The sizes where the user gives none but the steps.
    pub const POINTS: u32 = 4;
    pub const LINES: u32 = 8;
    pub const WARPS: u32 = 8;
    pub const USUAL: StreamSize = StreamSize {
        steps: 1,
        points: StreamSize::POINTS,
        rows: None,
        lines: StreamSize::LINES,
        warps: StreamSize::WARPS,
        hexagon: None,
        resident: None,
        larger: Larger::Stream,
    };

    /// Hexagons. The steps that they leave to the end stream, a few at a time.
    pub fn hexagons(points: u32, hexagon: HexagonSize) -> StreamSize {
        StreamSize { steps: 2, points, rows: Some(64), lines: 4, hexagon: Some(hexagon), ..StreamSize::USUAL }
    }

    /// All steps in one kernel, and no streams.
    pub fn in_tiles(resident: ResidentSize) -> StreamSize {
        StreamSize { resident: Some(resident), larger: Larger::Refuse, ..StreamSize::USUAL }
    }

    /// What makes the steps that launches of these leave to the end: about a third of them at a time, where that spares much. No launch waits for memory
    /// then that did not before, if it has as much to compute for each step.
    pub fn fewer(&self) -> Option<StreamSize> {
        let steps = match self.steps {
            0..4 => return None,
            4 | 5 => self.steps.div_ceil(2),
            more => more.div_ceil(3),
        };
        let streams = self.hexagon.is_none() && self.only_in_tiles().is_none();
        streams.then_some(StreamSize { steps, resident: None, ..*self })
    }

    /// The tiles that blocks keep, where there is nothing else.
    pub fn only_in_tiles(&self) -> Option<ResidentSize> {
        match self.larger {
            Larger::Stream => None,
            Larger::Refuse => self.resident,
        }
    }

    /// The command that asks for it; of several the last one.
    pub fn called(&self) -> &'static str {
        match (self.resident, self.hexagon) {
            (Some(_), _) => "grid_sync",
            (None, Some(_)) => "hexagonal",
            (None, None) => "stream",
        }
    }

    /// What a time loop does not do that cannot run so.
    pub fn refusal(&self) -> &'static str {
        match (self.resident, self.hexagon) {
            (Some(_), _) => "does not stay in tiles of blocks",
            (None, Some(_)) => "does not run in hexagons in registers",
            (None, None) => "does not stream",
        }
    }

    /// The commands that ask for it, as comments beside a loop have them.
    pub fn comment(&self) -> String {
        if let Some(it) = self.only_in_tiles() {
            return format!("  # grid_sync({it})");
        }
        let name = if self.hexagon.is_some() { "hexagonal" } else { "stream" };
        let resident = self.resident.map(|it| format!("grid_sync({it}), else "));
        format!("  # {}{name}({self})", resident.unwrap_or_default())
    }

    /// The command that asks for it, but for domains that blocks can hold.
    pub fn command(&self, computation: &str, at: &str) -> String {
        let name = if self.hexagon.is_some() { "hexagonal" } else { "stream" };
        format!("{name}({computation}, {at}, {self})")
    }
}

impl std::fmt::Display for StreamSize {
    /// The sizes as a command has them.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let StreamSize { steps, points, rows, lines, warps, hexagon, resident: _, larger: _ } = self;
        if let Some(HexagonSize { height, width, threads, tiles }) = hexagon {
            write!(f, "{height}, {width}")?;
            return given(f, &[*points, *threads, *tiles]);
        }
        write!(f, "{steps}, {points}")?;
        let usual = (*lines, *warps) == (StreamSize::LINES, StreamSize::WARPS);
        match rows {
            None if usual => {}
            rows => write!(f, ", {}", rows.unwrap_or(StreamSize::AT_LAUNCH))?,
        }
        if !usual {
            write!(f, ", {lines}")?;
        }
        if *warps == StreamSize::WARPS { Ok(()) } else { write!(f, ", {warps}") }
    }
}

/// Sizes that a command has at its end, up to the first that is open.
fn given(f: &mut std::fmt::Formatter<'_>, sizes: &[u32]) -> std::fmt::Result {
    sizes.iter().take_while(|size| **size != OPEN).try_for_each(|size| write!(f, ", {size}"))
}

/// A dimension of a grid or thread block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProcessorAxis {
    X,
    Y,
    Z,
}

/// A node of the tree: the child taken at each step from the root; a loop's body is its child 0.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Path(pub Vec<usize>);

impl Path {
    /// The child of this number.
    pub fn child(&self, at: usize) -> Path {
        Path([self.0.as_slice(), &[at]].concat())
    }

    /// The node `levels` loops further in.
    pub fn down(&self, levels: usize) -> Path {
        Path([self.0.as_slice(), &vec![0; levels]].concat())
    }

    /// Whether `other` is this node or below it.
    pub fn contains(&self, other: &Path) -> bool {
        other.0.starts_with(&self.0)
    }
}

impl Schedule {
    /// The places of what runs one after another, outermost.
    pub fn parts(&self) -> Vec<Path> {
        let top = Path::default();
        match &self.root {
            Node::Sequence(children) if !children.is_empty() => (0..children.len()).map(|at| top.child(at)).collect(),
            Node::Sequence(_) | Node::Loop(_) | Node::Computation(_) => vec![top],
        }
    }

    /// The loops that nothing but loops without a tag, which the host runs, stands around, outermost first.
    pub fn host_loops(&self) -> Vec<Path> {
        let mut found = vec![];
        host_loops(&self.root, &Path::default(), &mut found);
        found
    }

    pub fn node(&self, path: &Path) -> Option<&Node> {
        path.0.iter().try_fold(&self.root, |node, &child| match node {
            Node::Sequence(children) => children.get(child),
            Node::Loop(it) if child == 0 => Some(&*it.body),
            Node::Loop(_) | Node::Computation(_) => None,
        })
    }

    /// The names of all loops, each once, in tree order.
    pub fn loop_names(&self) -> Vec<String> {
        let (mut all, mut names) = (vec![], vec![]);
        loop_names(&self.root, &mut all);
        for name in all {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    pub fn node_mut(&mut self, path: &Path) -> Option<&mut Node> {
        path.0.iter().try_fold(&mut self.root, |node, &child| match node {
            Node::Sequence(children) => children.get_mut(child),
            Node::Loop(it) if child == 0 => Some(&mut *it.body),
            Node::Loop(_) | Node::Computation(_) => None,
        })
    }

    /// Takes a computation out of all loops, to the end: what has no instances is part of no nest. Other parts keep their numbers.
    pub(crate) fn stand_last(&mut self, gone: ComputationId) {
        let left: BTreeSet<ComputationId> = self.root.computations().into_iter().filter(|id| *id != gone).collect();
        let Some(left) = self.root.restricted(&left) else { return };
        let mut parts = match left {
            Node::Sequence(parts) => parts,
            one @ (Node::Loop(_) | Node::Computation(_)) => vec![one],
        };
        parts.push(Node::Computation(gone));
        self.root = Node::Sequence(parts);
    }

    /// The path of a computation's leaf.
    pub fn path_of(&self, computation: ComputationId) -> Option<Path> {
        let mut path = vec![];
        self.root.find(computation, &mut path).then_some(Path(path))
    }

    /// The loops around a computation, outermost first, with their paths.
    pub fn loops_around(&self, computation: ComputationId) -> Vec<(Path, &Loop)> {
        self.path_of(computation).map_or(vec![], |path| self.around(&path))
    }

    /// Whether two computations are children of one sequence, and all loops around it have the same function for both.
    pub fn are_neighbours(&self, one: ComputationId, other: ComputationId) -> bool {
        let above = |id| self.path_of(id).and_then(|path| Some(path.0.split_last()?.1.to_vec()));
        above(one).is_some_and(|above_one| above(other) == Some(above_one))
            && self.loops_around(one).iter().all(|(_, it)| it.at.get(&one) == it.at.get(&other))
    }

    /// The loops around a node, outermost first, with their paths.
    pub fn around(&self, path: &Path) -> Vec<(Path, &Loop)> {
        (0..path.0.len())
            .filter_map(|depth| {
                let here = Path(path.0[..depth].to_vec());
                match self.node(&here) {
                    Some(Node::Loop(it)) => Some((here, it)),
                    _ => None,
                }
            })
            .collect()
    }
}

fn host_loops(node: &Node, path: &Path, found: &mut Vec<Path>) {
    match node {
        Node::Computation(_) => {}
        Node::Sequence(children) => {
            children.iter().enumerate().for_each(|(at, child)| host_loops(child, &path.child(at), found));
        }
        Node::Loop(it) => {
            found.push(path.clone());
            if it.tag == Tag::Sequential {
                host_loops(&it.body, &path.child(0), found);
            }
        }
    }
}

impl Node {
    fn find(&self, computation: ComputationId, path: &mut Vec<usize>) -> bool {
        match self {
            Node::Computation(id) => *id == computation,
            Node::Loop(it) => {
                path.push(0);
                it.body.find(computation, path) || {
                    path.pop();
                    false
                }
            }
            Node::Sequence(children) => children.iter().enumerate().any(|(at, child)| {
                path.push(at);
                child.find(computation, path) || {
                    path.pop();
                    false
                }
            }),
        }
    }

    /// Whether a loop has such a tag, here or below.
    pub fn has_loop(&self, wanted: &dyn Fn(Tag) -> bool) -> bool {
        match self {
            Node::Computation(_) => false,
            Node::Sequence(children) => children.iter().any(|child| child.has_loop(wanted)),
            Node::Loop(it) => wanted(it.tag) || it.body.has_loop(wanted),
        }
    }

    /// The node with just these computations; `None` if none is left.
    pub(crate) fn restricted(&self, ids: &BTreeSet<ComputationId>) -> Option<Node> {
        match self {
            Node::Computation(id) => ids.contains(id).then_some(Node::Computation(*id)),
            Node::Loop(it) => {
                let body = it.body.restricted(ids)?;
                let at = it.at.iter().filter(|(id, _)| ids.contains(id)).map(|(id, at)| (*id, at.clone())).collect();
                Some(Node::Loop(Loop { name: it.name.clone(), tag: it.tag, at, body: Box::new(body) }))
            }
            Node::Sequence(children) => {
                let mut kept: Vec<Node> = children.iter().filter_map(|child| child.restricted(ids)).collect();
                match kept.len() {
                    0 => None,
                    1 => kept.pop(),
                    _ => Some(Node::Sequence(kept)),
                }
            }
        }
    }

    /// Has computations stand under other names.
    pub(crate) fn rename(&mut self, names: &BTreeMap<ComputationId, ComputationId>) {
        match self {
            Node::Computation(id) => *id = names[id],
            Node::Loop(it) => {
                it.at = it.at.iter().map(|(id, at)| (names[id], at.clone())).collect();
                it.body.rename(names);
            }
            Node::Sequence(children) => children.iter_mut().for_each(|child| child.rename(names)),
        }
    }

    /// The computations below, in tree order.
    pub fn computations(&self) -> Vec<ComputationId> {
        match self {
            Node::Computation(id) => vec![*id],
            Node::Loop(it) => it.body.computations(),
            Node::Sequence(children) => children.iter().flat_map(Node::computations).collect(),
        }
    }
}

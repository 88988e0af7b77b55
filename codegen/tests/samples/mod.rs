//! Programs built by hand, for the tests of this crate and of the backends.
#![allow(dead_code, reason = "each test file uses some of it")]

use std::collections::BTreeMap;
use tessella_codegen::Input;
use tessella_codegen::c_family::TextOptions;
use tessella_polyhedral::affine::{Affine, ParamId};
use tessella_polyhedral::algorithm::*;
use tessella_polyhedral::expr::{Expr, ExprKind};
use tessella_polyhedral::isl::{Ctx, Set};
use tessella_polyhedral::layers::*;
use tessella_polyhedral::machine::Machine;
use tessella_polyhedral::schedule::{Loop, Node, Path, ProcessorAxis, Schedule, Tag};
use tessella_polyhedral::unused;
use tessella_polyhedral::verify::EntryCheck;
use tessella_scalar::{BinaryOp, Constant, ScalarType};

/// All layers of a program.
pub struct Sample {
    pub algorithm: Algorithm,
    pub schedule: Schedule,
    pub target: Target,
    pub layout: Layout,
    pub transfers: Vec<Transfer>,
    pub checks: Vec<EntryCheck>,
}

impl Sample {
    pub fn input(&self) -> Input<'_> {
        Input {
            algorithm: &self.algorithm,
            source: &self.algorithm,
            schedule: &self.schedule,
            target: self.target,
            machine: &Machine::GENERIC,
            layout: &self.layout,
            transfers: &self.transfers,
            barriers: &[],
            prefetches: &[],
            checks: &self.checks,
            scan: None,
            versions: &[],
            unused: &unused::NONE,
        }
    }

    /// The program with another order.
    pub fn scheduled(mut self, root: Node) -> Self {
        self.schedule = Schedule { root };
        self
    }

    /// The program on the GPU: arguments copied in before and, if written, out after.
    pub fn on_gpu(mut self) -> Self {
        self.target = Target::Gpu;
        for (at, buffer) in self.layout.buffers.iter_mut().enumerate() {
            if buffer.space != MemorySpace::Host {
                continue;
            }
            buffer.space = MemorySpace::Global;
            let Lifetime::Argument(array) = buffer.lifetime else { continue };
            let transfer = |direction, moment| Transfer {
                buffer: BufferId(at as u32),
                direction,
                at: Path::default(),
                moment,
                needed: None,
                part: vec![],
            };
            self.transfers.push(transfer(Direction::HostToDevice, Moment::Before));
            if self.algorithm.is_written(array) {
                self.transfers.push(transfer(Direction::DeviceToHost, Moment::After));
            }
        }
        self
    }
}

pub fn options(sample: &Sample) -> TextOptions {
    let line = |id: ComputationId| (id, format!("kernel.jl:{}", id.0 + 3));
    TextOptions {
        positions: sample.algorithm.ids().map(line).collect(),
        source_name: sample.algorithm.name.clone(),
        schedule: String::new(),
        threads: None,
    }
}

// Affine expressions.
pub fn it(position: u32) -> Affine {
    Affine::iterator(position)
}
pub fn par(param: u32) -> Affine {
    Affine::param(ParamId(param))
}
pub fn plus(affine: Affine, value: i64) -> Affine {
    affine.add_constant(value).unwrap()
}

// Expressions.
pub fn read(position: u32, ty: ScalarType) -> Expr {
    Expr { kind: ExprKind::Read(position), ty }
}
pub fn constant(constant: Constant) -> Expr {
    Expr { kind: ExprKind::Constant(constant), ty: constant.ty }
}
pub fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    let ty = left.ty;
    Expr { kind: ExprKind::Binary(op, Box::new(left), Box::new(right)), ty }
}
pub fn scalar(id: u32, ty: ScalarType) -> Expr {
    Expr { kind: ExprKind::Scalar(ScalarId(id)), ty }
}
pub fn access(array: u32, subscripts: Vec<Affine>) -> Access {
    let subscripts = subscripts.into_iter().map(Subscript::Affine).collect();
    Access { array: ArrayId(array), subscripts, within: None, checked: true, conditional: false }
}

// Schedules.
pub fn seq(children: Vec<Node>) -> Node {
    Node::Sequence(children)
}
pub fn leaf(id: u32) -> Node {
    Node::Computation(ComputationId(id))
}
pub fn nest(name: &str, tag: Tag, at: &[(u32, Affine)], body: Node) -> Node {
    let at = at.iter().map(|(id, affine)| (ComputationId(*id), affine.clone())).collect();
    Node::Loop(Loop { name: name.to_string(), tag, at, body: Box::new(body) })
}
/// Loops over the iterators of one computation.
pub fn simple(id: u32, names: &[(&str, Tag)]) -> Node {
    let all = names.iter().enumerate().rev();
    all.fold(leaf(id), |body, (at, (name, tag))| nest(name, *tag, &[(id, it(at as u32))], body))
}
pub fn block(axis: ProcessorAxis) -> Tag {
    Tag::GpuBlock(axis)
}
pub fn thread(axis: ProcessorAxis) -> Tag {
    Tag::GpuThread(axis)
}

fn argument_layout(algorithm: &Algorithm) -> Layout {
    let mut layout = Layout { buffers: vec![], placements: BTreeMap::new(), streams: vec![], ahead: vec![] };
    for (at, array) in algorithm.arrays.iter().enumerate() {
        let id = ArrayId(at as u32);
        let map = match array.kind {
            ArrayKind::Argument => (0..array.rank).map(|axis| plus(it(axis), -1)).collect(),
            ArrayKind::Local { .. } | ArrayKind::Private | ArrayKind::Result | ArrayKind::Returned => vec![],
        };
        layout.placements.insert(id, Placement { buffer: BufferId(at as u32), map });
        layout.buffers.push(Buffer {
            name: array.name.clone(),
            element: array.element,
            extents: array.extents.clone(),
            space: MemorySpace::Host,
            lifetime: Lifetime::Argument(id),
        });
    }
    layout
}

fn array(name: &str, element: ScalarType, extents: Vec<Affine>) -> Array {
    let rank = extents.len() as u32;
    Array { name: name.to_string(), element, extents, firsts: vec![], rank, kind: ArrayKind::Argument, strided: 0..0 }
}

fn extent(name: &str, array: u32, axis: u32) -> Param {
    Param { name: name.to_string(), origin: ParamOrigin::Extent { array: ArrayId(array), axis } }
}

fn cpu(algorithm: Algorithm, checks: Vec<EntryCheck>) -> Sample {
    let layout = argument_layout(&algorithm);
    let schedule = algorithm.source_order.clone();
    Sample { algorithm, schedule, target: Target::Cpu, layout, transfers: vec![], checks }
}

/// `heat2d!(A, B, steps)` of the handbook, in `Float32`.
pub fn heat2d(ctx: &Ctx) -> Sample {
    let f32 = ScalarType::F32;
    let params = "[m, n, p, q, steps]";
    let set = |text: &str| Set::from_text(ctx, &format!("{params} -> {text}")).unwrap();
    let stencil = (0..4).map(|at| read(at, f32)).reduce(|sum, next| binary(BinaryOp::Add, sum, next)).unwrap();
    let here = |dj: i64, di: i64| vec![plus(it(2), di), plus(it(1), dj)];
    let order = ["t", "j", "i"].map(|name| (name, Tag::Sequential));
    let at = [(0, it(0)), (1, it(0))];
    let below =
        |id: u32| nest("j", Tag::Sequential, &[(id, it(1))], nest("i", Tag::Sequential, &[(id, it(2))], leaf(id)));
    let computation = |name: &str, value: Expr, write: Access, reads: Vec<Access>| Computation {
        name: name.to_string(),
        iterators: order.iter().map(|(name, _)| name.to_string()).collect(),
        domain: set(&format!("{{ {name}[t, j, i] : 1 <= t <= steps and 2 <= j < n and 2 <= i < m }}")),
        predicate: None,
        lets: vec![],
        value,
        write,
        reads,
        fastmath: false,
        simd: None,
        ranged: vec![],
        atomic: false,
        owner: None,
    };
    let algorithm = Algorithm {
        name: "heat2d!".to_string(),
        params: vec![
            extent("m", 0, 0),
            extent("n", 0, 1),
            extent("p", 1, 0),
            extent("q", 1, 1),
            Param { name: "steps".to_string(), origin: ParamOrigin::Argument(ScalarId(0)) },
        ],
        scalars: vec![Scalar { name: "steps".to_string(), ty: ScalarType::I64 }],
        arrays: vec![array("A", f32, vec![par(0), par(1)]), array("B", f32, vec![par(2), par(3)])],
        arguments: vec![Argument::Array(ArrayId(0)), Argument::Array(ArrayId(1)), Argument::Scalar(ScalarId(0))],
        computations: vec![
            computation(
                "S",
                binary(BinaryOp::Mul, constant(Constant::f32(0.25)), stencil),
                access(1, here(0, 0)),
                vec![access(0, here(0, -1)), access(0, here(0, 1)), access(0, here(-1, 0)), access(0, here(1, 0))],
            ),
            computation("R", read(0, f32), access(0, here(0, 0)), vec![access(1, here(0, 0))]),
        ],
        context: set("{ : 0 <= m, n, p, q <= 1099511627776 and -1099511627776 <= steps <= 1099511627776 }"),
        source_order: Schedule { root: nest("t", Tag::Sequential, &at, seq(vec![below(0), below(1)])) },
        scan: None,
        whole: None,
        redirected: BTreeMap::new(),
        limits: BTreeMap::new(),
        requirements: vec![],
        result: Outcome::Nothing,
        failed: None,
    };
    let check = |axis: u32, holds: &str| EntryCheck {
        access: AccessRef { computation: ComputationId(0), which: Which::Write },
        axis,
        holds: set(holds),
        needs: set(holds),
    };
    let checks = vec![
        check(0, "{ : steps <= 0 or m <= 2 or n <= 2 or m <= p + 1 }"),
        check(1, "{ : steps <= 0 or m <= 2 or n <= 2 or n <= q + 1 }"),
    ];
    cpu(algorithm, checks)
}

/// Heat-2d tiled for the GPU: 8 x 32 threads.
pub fn heat2d_gpu(ctx: &Ctx) -> Sample {
    use ProcessorAxis::{X, Y};
    let tile = |id: u32| {
        let (j, i) = (plus(it(1), -2), plus(it(2), -2));
        let point = nest("i1", thread(X), &[(id, i.modulo(32).unwrap())], leaf(id));
        let point = nest("j1", thread(Y), &[(id, j.modulo(8).unwrap())], point);
        let tile = nest("i0", block(X), &[(id, i.floor_div(32))], point);
        nest("j0", block(Y), &[(id, j.floor_div(8))], tile)
    };
    let root = nest("t", Tag::Sequential, &[(0, it(0)), (1, it(0))], seq(vec![tile(0), tile(1)]));
    heat2d(ctx).scheduled(root).on_gpu()
}

/// `for j in 1:n, i in j:n; L[i, j] = α * L[i, j]; end` in `Float64`.
pub fn triangle(ctx: &Ctx) -> Sample {
    let f64 = ScalarType::F64;
    let set = |text: &str| Set::from_text(ctx, &format!("[m, n] -> {text}")).unwrap();
    let here = vec![it(1), it(0)];
    let algorithm = Algorithm {
        name: "scale_lower".to_string(),
        params: vec![extent("m", 0, 0), extent("n", 0, 1)],
        scalars: vec![Scalar { name: "α".to_string(), ty: f64 }],
        arrays: vec![array("L", f64, vec![par(0), par(1)])],
        arguments: vec![Argument::Array(ArrayId(0)), Argument::Scalar(ScalarId(0))],
        computations: vec![Computation {
            name: "S".to_string(),
            iterators: vec!["j".to_string(), "i".to_string()],
            domain: set("{ S[j, i] : 1 <= j <= n and j <= i <= n }"),
            predicate: None,
            lets: vec![],
            value: binary(BinaryOp::Mul, scalar(0, f64), read(0, f64)),
            write: access(0, here.clone()),
            reads: vec![access(0, here)],
            fastmath: false,
            simd: None,
            ranged: vec![],
            atomic: false,
            owner: None,
        }],
        context: set("{ : 0 <= m <= 1099511627776 and 0 <= n <= 1099511627776 }"),
        source_order: Schedule { root: simple(0, &[("j", Tag::Sequential), ("i", Tag::Sequential)]) },
        scan: None,
        whole: None,
        redirected: BTreeMap::new(),
        limits: BTreeMap::new(),
        requirements: vec![],
        result: Outcome::Nothing,
        failed: None,
    };
    let write = AccessRef { computation: ComputationId(0), which: Which::Write };
    let checks = vec![EntryCheck { access: write, axis: 0, holds: set("{ : n <= m }"), needs: set("{ : n <= m }") }];
    cpu(algorithm, checks)
}

/// `s = 0.0; for i in 1:n; s += x[i]; end; return s`.
pub fn total(ctx: &Ctx) -> Sample {
    let f64 = ScalarType::F64;
    let set = |text: &str| Set::from_text(ctx, &format!("[n] -> {text}")).unwrap();
    let result = Array { kind: ArrayKind::Result, ..array("s", f64, vec![]) };
    let computation = |name: &str, iterators: Vec<String>, domain: Set, value: Expr, reads: Vec<Access>| Computation {
        name: name.to_string(),
        iterators,
        domain,
        predicate: None,
        lets: vec![],
        value,
        write: access(1, vec![]),
        reads,
        fastmath: false,
        simd: None,
        ranged: vec![],
        atomic: false,
        owner: None,
    };
    let algorithm = Algorithm {
        name: "total".to_string(),
        params: vec![extent("n", 0, 0)],
        scalars: vec![],
        arrays: vec![array("x", f64, vec![par(0)]), result],
        arguments: vec![Argument::Array(ArrayId(0))],
        computations: vec![
            computation("S0", vec![], set("{ S0[] }"), constant(Constant::f64(0.0)), vec![]),
            computation(
                "S1",
                vec!["i".to_string()],
                set("{ S1[i] : 1 <= i <= n }"),
                binary(BinaryOp::Add, read(0, f64), read(1, f64)),
                vec![access(1, vec![]), access(0, vec![it(0)])],
            ),
        ],
        context: set("{ : 0 <= n <= 1099511627776 }"),
        source_order: Schedule { root: seq(vec![leaf(0), simple(1, &[("i", Tag::Sequential)])]) },
        scan: None,
        whole: None,
        redirected: BTreeMap::new(),
        limits: BTreeMap::new(),
        requirements: vec![],
        result: Outcome::Scalar(ArrayId(1)),
        failed: None,
    };
    cpu(algorithm, vec![])
}

/// `for i in 1:m; s = 0.0; for j in 1:n; s += L[i, j]; end; y[i] = s; end`, `s` in a register.
pub fn row_sums(ctx: &Ctx) -> Sample {
    let f64 = ScalarType::F64;
    let set = |text: &str| Set::from_text(ctx, &format!("[m, n, p] -> {text}")).unwrap();
    let private = Array { kind: ArrayKind::Private, extents: vec![], ..array("s", f64, vec![par(0)]) };
    let s = || access(2, vec![it(0)]);
    let computation = |name: &str, iterators: &[&str], domain: &str, value: Expr, write: Access, reads: Vec<Access>| {
        let iterators = iterators.iter().map(|name| name.to_string()).collect();
        let (name, domain) = (name.to_string(), set(domain));
        Computation {
            name,
            iterators,
            domain,
            predicate: None,
            lets: vec![],
            value,
            write,
            reads,
            fastmath: false,
            simd: None,
            ranged: vec![],
            atomic: false,
            owner: None,
        }
    };
    let root = |tag: Tag| {
        let sum = nest("j", Tag::Sequential, &[(1, it(1))], leaf(1));
        nest("i", tag, &[(0, it(0)), (1, it(0)), (2, it(0))], seq(vec![leaf(0), sum, leaf(2)]))
    };
    let algorithm = Algorithm {
        name: "row_sums!".to_string(),
        params: vec![extent("m", 0, 0), extent("n", 0, 1), extent("p", 1, 0)],
        scalars: vec![],
        arrays: vec![array("L", f64, vec![par(0), par(1)]), array("y", f64, vec![par(2)]), private],
        arguments: vec![Argument::Array(ArrayId(1)), Argument::Array(ArrayId(0))],
        computations: vec![
            computation("S0", &["i"], "{ S0[i] : 1 <= i <= m }", constant(Constant::f64(0.0)), s(), vec![]),
            computation(
                "S1",
                &["i", "j"],
                "{ S1[i, j] : 1 <= i <= m and 1 <= j <= n }",
                binary(BinaryOp::Add, read(0, f64), read(1, f64)),
                s(),
                vec![s(), access(0, vec![it(0), it(1)])],
            ),
            computation("S2", &["i"], "{ S2[i] : 1 <= i <= m }", read(0, f64), access(1, vec![it(0)]), vec![s()]),
        ],
        context: set("{ : 0 <= m, n, p <= 1099511627776 }"),
        source_order: Schedule { root: root(Tag::Parallel) },
        scan: None,
        whole: None,
        redirected: BTreeMap::new(),
        limits: BTreeMap::new(),
        requirements: vec![],
        result: Outcome::Nothing,
        failed: None,
    };
    let write = AccessRef { computation: ComputationId(2), which: Which::Write };
    let checks = vec![EntryCheck { access: write, axis: 0, holds: set("{ : m <= p }"), needs: set("{ : m <= p }") }];
    let mut sample = cpu(algorithm, checks);
    let register = &mut sample.layout.buffers[2];
    (register.space, register.lifetime) = (MemorySpace::Register, Lifetime::Node(Path(vec![0])));
    register.extents = vec![];
    sample
}

/// Row sums with a thread for each row.
pub fn row_sums_gpu(ctx: &Ctx) -> Sample {
    let all = |affine: &Affine| [0, 1, 2].map(|id| (id, affine.clone()));
    let sum = nest("j", Tag::Sequential, &[(1, it(1))], leaf(1));
    let row = plus(it(0), -1);
    let body = nest("i1", thread(ProcessorAxis::X), &all(&row.modulo(128).unwrap()), seq(vec![leaf(0), sum, leaf(2)]));
    let root = nest("i0", block(ProcessorAxis::X), &all(&row.floor_div(128)), body);
    let mut sample = row_sums(ctx).scheduled(root).on_gpu();
    sample.layout.buffers[2].lifetime = Lifetime::Node(Path(vec![0, 0]));
    sample
}

/// `for i in 1:n; z[1, i] = a[1, i] * c - a[2, i] * d; z[2, i] = a[1, i] * d + a[2, i] * c; end`: stores of neighbours.
pub fn rotation(ctx: &Ctx) -> Sample {
    let f64 = ScalarType::F64;
    let half = |which: i64| vec![Affine::constant(which), it(0)];
    let product = |position: u32, id: u32| binary(BinaryOp::Mul, read(position, f64), scalar(id, f64));
    let computation = |name: &str, which: i64, value: Expr| Computation {
        name: name.to_string(),
        iterators: vec!["i".to_string()],
        domain: Set::from_text(ctx, &format!("[p, n, q, m] -> {{ {name}[i] : 1 <= i <= n }}")).unwrap(),
        predicate: None,
        lets: vec![],
        value,
        write: access(0, half(which)),
        reads: vec![access(1, half(1)), access(1, half(2))],
        fastmath: false,
        simd: None,
        ranged: vec![],
        atomic: false,
        owner: None,
    };
    let algorithm = Algorithm {
        name: "rotate".to_string(),
        params: vec![extent("p", 0, 0), extent("n", 0, 1), extent("q", 1, 0), extent("m", 1, 1)],
        scalars: ["c", "d"].map(|name| Scalar { name: name.to_string(), ty: f64 }).to_vec(),
        arrays: vec![array("z", f64, vec![par(0), par(1)]), array("a", f64, vec![par(2), par(3)])],
        arguments: vec![
            Argument::Array(ArrayId(0)),
            Argument::Array(ArrayId(1)),
            Argument::Scalar(ScalarId(0)),
            Argument::Scalar(ScalarId(1)),
        ],
        computations: vec![
            computation("S", 1, binary(BinaryOp::Sub, product(0, 0), product(1, 1))),
            computation("R", 2, binary(BinaryOp::Add, product(0, 1), product(1, 0))),
        ],
        context: Set::from_text(ctx, "[p, n, q, m] -> { : p = 2 and q = 2 and n = m and 0 <= n <= 1099511627776 }")
            .unwrap(),
        source_order: Schedule {
            root: nest("i", Tag::Sequential, &[(0, it(0)), (1, it(0))], seq(vec![leaf(0), leaf(1)])),
        },
        scan: None,
        whole: None,
        redirected: BTreeMap::new(),
        limits: BTreeMap::new(),
        requirements: vec![],
        result: Outcome::Nothing,
        failed: None,
    };
    cpu(algorithm, vec![])
}

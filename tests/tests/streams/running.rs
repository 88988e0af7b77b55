//! Runs programs by an interpreter of their kernels, and compares them with the source.

use tessella::file::{FileOptions, ScheduleSource, Sources};
use tessella::request::Backend;
use tessella_codegen::program::{KernelId, Node, Program as Loops};
use tessella_codegen::{Input, generate};
use tessella_frontend::typed::tree::Type as ArgumentType;
use tessella_interpreter::scheduled::{self, Completion};
use tessella_interpreter::{Array, Value, run_within};
use tessella_scalar::{Constant, ScalarType};

pub(crate) const SIZES: [(u64, u64, i64); 8] =
    [(5, 6, 0), (5, 5, 1), (6, 9, 2), (37, 23, 3), (70, 31, 4), (61, 17, 5), (131, 7, 9), (40, 29, 14)];

pub(crate) fn options() -> FileOptions {
    FileOptions { name: "f.jl".into(), function: None, types: vec![], schedule: ScheduleSource::InFile }
}

/// Runs a program for several sizes; gives what went wrong.
pub(crate) fn check(name: &str, text: &str, sizes: &[(u64, u64, i64)]) -> Vec<String> {
    let kernels = match text {
        text if text.contains("hexagonal(") => 5,
        // For the usual number of blocks, and the least.
        text if text.contains("grid_sync(") => 2,
        // What is left of many steps has launches of its own.
        text if steps(text) >= 4 => 6,
        _ => 4,
    };
    check_kernels(name, text, sizes, kernels)
}

/// Steps of the launches of a `stream`.
fn steps(text: &str) -> u32 {
    let number = text.split("stream(S, t, ").nth(1).and_then(|rest| rest.split([',', ')']).next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

pub(crate) fn check_kernels(name: &str, text: &str, sizes: &[(u64, u64, i64)], kernels: usize) -> Vec<String> {
    check_loops(name, text, sizes, |loops| {
        only_together(&mut loops.body);
        assert_eq!(loops.kernels.len(), kernels, "{name} does not stream");
    })
}

/// Runs a program for several sizes, with its loops changed in some way.
pub(crate) fn check_loops(
    name: &str,
    text: &str,
    sizes: &[(u64, u64, i64)],
    change: impl Fn(&mut Loops),
) -> Vec<String> {
    let sources = Sources::read(text, &options()).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
    let unit = sources.unit(&sources.functions()[0], &[]).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
    let built = match unit.build(Backend::Cuda) {
        Ok(built) => built,
        Err(errors) => return vec![format!("{name} was refused:\n{}\n{text}", sources.show(&errors))],
    };
    let input = Input::from(&built.analysed.verified);
    let mut loops = generate(&input).unwrap_or_else(|error| panic!("{name}: {error}"));
    change(&mut loops);
    let mut failures = vec![];
    for &(m, n, steps) in sizes {
        let types = unit.function.arguments.iter().map(|id| unit.function.locals[id.0 as usize].ty);
        // The second matrix of some programs is larger.
        let more = |at: usize| u64::from(at == 1 && text.contains("B[i+1, j] ="));
        let arguments = types.enumerate().map(|(at, ty)| argument(at, ty, m + more(at), n, steps));
        let arguments: Vec<Value> = arguments.collect();
        let (mut expected, mut actual) = (arguments.clone(), arguments);
        let outcome = run_within(50_000_000, &unit.function, &mut expected);
        let done = scheduled::run(&input, &loops, &mut actual, m * 1000 + n);
        match (outcome, done) {
            (Ok(_), Ok(Completion::Done(_))) if actual == expected => {}
            (Ok(_), Ok(Completion::Done(_))) => {
                failures.push(format!("{name}, {m} x {n}, {steps} steps: another result\n{text}"))
            }
            (outcome, done) => {
                failures.push(format!("{name}, {m} x {n}, {steps} steps: {outcome:?}, {done:?}\n{text}"))
            }
        }
    }
    failures
}

/// Takes away what would run where blocks cannot hold the domain: in these tests they can.
pub(crate) fn only_together(nodes: &mut [Node]) {
    for node in nodes {
        match node {
            Node::Together { apart, .. } => apart.clear(),
            Node::If { then, otherwise, .. } => [then, otherwise].into_iter().for_each(|it| only_together(it)),
            Node::Declare { body, .. } => only_together(body),
            Node::For(it) => only_together(&mut it.body),
            _ => {}
        }
    }
}

/// Takes away launches that have something beside them: what is left runs on devices that hold fewer blocks.
pub(crate) fn only_apart(nodes: &mut Vec<Node>) {
    for node in std::mem::take(nodes) {
        match node {
            Node::Together { apart, .. } if !apart.is_empty() => nodes.extend(apart),
            Node::If { condition, mut then, mut otherwise } => {
                [&mut then, &mut otherwise].into_iter().for_each(only_apart);
                nodes.push(Node::If { condition, then, otherwise });
            }
            Node::Declare { buffer, mut body } => {
                only_apart(&mut body);
                nodes.push(Node::Declare { buffer, body });
            }
            other => nodes.push(other),
        }
    }
}

pub(crate) fn argument(at: usize, ty: ArgumentType, m: u64, n: u64, steps: i64) -> Value {
    let ArgumentType::Array { element, rank, .. } = ty else { return Value::Scalar(Constant::i64(steps)) };
    // Coefficients are read at `C[j, 1]`, too.
    let extents = match (rank, at) {
        (1, _) => vec![m * n],
        (3, _) => vec![m, n, n / 2 + 3],
        (4, _) => vec![m, n, n / 2 + 3, 2],
        (_, 2) => vec![m.max(n), n],
        (_, _) => vec![m, n],
    };
    let value = |position: usize| {
        let number = (position * (2 * at + 3) + at) % 17;
        match element {
            ScalarType::F32 => Constant::f32(number as f32 / 8.0 - 0.75),
            ScalarType::F64 => Constant::f64(number as f64 / 8.0 - 0.75),
            _ => Constant::integer(element, (number % 3) as i128),
        }
    };
    Value::Array(Array::from_fn(element, extents, value).unwrap())
}

/// Whether hexagons of the sizes do not suit the stencil.
pub(crate) fn is_too_large(outcome: &[String]) -> bool {
    let causes = [
        "registers of a thread",
        "points of the one below",
        "wants at least",
        "have no slope",
        "a block stores",
        "a strip stores",
        "shared memory",
        "lines that warps share",
        "points a thread",
        "that a tile has",
        "give it more lines",
        "give it more points",
    ];
    matches!(outcome, [refusal] if causes.iter().any(|cause| refusal.contains(cause)))
}

/// The kernels that the host launches.
pub(crate) fn launched(nodes: &[Node]) -> Vec<KernelId> {
    let mut all = vec![];
    for node in nodes {
        node.walk(&mut |node| {
            if let Node::Launch(id) | Node::Together { kernel: id, .. } = node {
                all.push(*id);
            }
        });
    }
    all
}

//! Time loops that stream, executed as their kernels stand by an interpreter that knows which row every register holds,
//! and compared with the source bit for bit; their texts compile.

use tessella::file::{FileOptions, ScheduleSource, Sources};
use tessella::request::Backend;
use tessella_codegen::int_expr::Environment;
use tessella_codegen::plan::launch_plan;
use tessella_codegen::program::{Blocks, Kernel, KernelId, Node, Program as Loops};
use tessella_codegen::{Input, generate};
use tessella_frontend::typed::tree::Type as ArgumentType;
use tessella_interpreter::scheduled::{self, Completion};
use tessella_interpreter::{Array, Value, run_within};
use tessella_runtime::cuda::{Nvrtc, Target};
use tessella_scalar::{Constant, ScalarType};
use tessella_tests::report;

const STAR: &str = "0.2f0 * (A[i, j] + A[i-1, j] + A[i+1, j] + A[i, j-1] + A[i, j+1])";

/// A function of matrices, of numbers of the element type, and of steps, with the body of its time loop.
fn function(arguments: &str, element: &str, body: &str, command: &str) -> String {
    let typed = arguments.split(' ').map(|name| format!("{name}::Matrix{{{element}}}")).collect::<Vec<_>>().join(", ");
    format!(
        "@tessella function f!({typed}, steps::Int)\n    m, n = size(A)\n    for t in 1:steps\n{body}    end\n    return nothing\nend\n\
         @schedule f! begin\n    {command}\nend\n"
    )
}

fn nest(rows: &str, columns: &str, statement: &str) -> String {
    format!("        for j in {columns}, i in {rows}\n            {statement}\n        end\n")
}

/// A time loop over two nests over arrays with three axes.
fn space(element: &str, bounds: &str, first: &str, second: &str) -> String {
    format!(
        "@tessella function f!(A::Array{{{element},3}}, B::Array{{{element},3}}, steps::Int)\n    l, m, n = size(A)\n    for t in 1:steps\n        \
         for {bounds}\n            @comp S B[i, j, k] = {first}\n        end\n        for {bounds}\n            A[i, j, k] = {second}\n        end\n    \
         end\n    return nothing\nend\n"
    )
}

/// A program with a command.
fn with(text: &str, command: &str) -> String {
    format!("{text}@schedule f! begin\n    {command}\nend\n")
}

/// Name, arguments, element type, body of the time loop.
fn programs() -> Vec<(&'static str, &'static str, &'static str, String)> {
    let inner = |statement: &str| nest("2:m-1", "2:n-1", statement);
    let deep = |statement: &str| nest("3:m-2", "3:n-2", statement);
    vec![
        (
            "a star and a copy",
            "A B",
            "Float32",
            inner(&format!("@comp S B[i, j] = {STAR}")) + &inner("A[i, j] = B[i, j]"),
        ),
        (
            "two sweeps a step",
            "A B",
            "Float64",
            inner(&format!("@comp S B[i, j] = {}", STAR.replace("0.2f0", "0.2")))
                + &inner("A[i, j] = 0.25 * (B[i, j+1] + B[i+1, j] + B[i-1, j] - B[i, j])"),
        ),
        (
            "a box of nine points",
            "A B",
            "Float32",
            inner(
                "@comp S B[i, j] = 0.1f0 * A[i-1, j-1] + A[i, j-1] - A[i+1, j-1] + 0.3f0 * A[i-1, j+1] + A[i+1, j+1] - A[i+1, j]",
            ) + &inner("A[i, j] = B[i, j]"),
        ),
        (
            "far to one side",
            "A B",
            "Float32",
            deep("@comp S B[i, j] = 0.5f0 * A[i-2, j] + 0.25f0 * A[i, j+2] - A[i-1, j+1]")
                + &deep("A[i, j] = 0.5f0 * B[i, j]"),
        ),
        (
            "a wave",
            "A P N",
            "Float64",
            inner(
                "@comp S N[i, j] = 2.0 * A[i, j] - P[i, j] + 0.1 * (A[i+1, j] + A[i-1, j] + A[i, j+1] + A[i, j-1] - 4.0 * A[i, j])",
            ) + &inner("P[i, j] = A[i, j]")
                + &inner("A[i, j] = N[i, j]"),
        ),
        (
            "coefficients and numbers of points",
            "A B C",
            "Float64",
            inner("@comp S B[i, j] = C[i, j] * A[i-1, j] + C[j, 1] * A[i, j+1] + i - 2j + 3t")
                + &nest("3:m-1", "2:n-2", "A[i, j] = B[i-1, j] + B[i, j+1] * C[i, 1]"),
        ),
        (
            "whole numbers",
            "A B",
            "Int32",
            inner(
                "@comp S B[i, j] = ifelse(A[i-1, j] + A[i+1, j] + A[i, j-1] + A[i, j+1] == Int32(2), Int32(1), A[i, j] ⊻ Int32(1))",
            ) + &inner("A[i, j] = B[i, j]"),
        ),
        (
            "written aside",
            "A B",
            "Float32",
            nest("1:m-2", "2:n-1", "@comp S B[i+1, j] = A[i, j-1] + A[i+2, j] - A[i+1, j+1]")
                + &inner("A[i, j] = B[i, j]"),
        ),
    ]
}

/// Name, time loop, and commands for programs over vectors and over arrays with three axes.
fn other_programs() -> Vec<(&'static str, String, [&'static str; 2])> {
    let line = |first: &str, second: &str| {
        format!(
            "@tessella function f!(A::Vector{{Float32}}, B::Vector{{Float32}}, steps::Int)\n    n = length(A)\n    for t in 1:steps\n        \
             for i in 3:n-2\n            @comp S B[i] = {first}\n        end\n        for i in 3:n-2\n            A[i] = {second}\n        end\n    \
             end\n    return nothing\nend\n"
        )
    };
    let inner = "k in 2:n-1, j in 2:m-1, i in 2:l-1";
    let star = "0.4f0 * A[i, j, k] + 0.1f0 * (A[i-1, j, k] + A[i+1, j, k] + A[i, j-1, k] + A[i, j+1, k] + A[i, j, k-1] + A[i, j, k+1])";
    let offsets = (-1..=1).flat_map(|z| (-1..=1).flat_map(move |y| (-1..=1).map(move |x| [x, y, z])));
    let cube = |array: &str| {
        let place = |name: &str, by: i64| match by {
            0 => name.to_string(),
            by if by < 0 => format!("{name}{by}"),
            by => format!("{name}+{by}"),
        };
        let terms = offsets.clone().enumerate().map(|(at, [x, y, z])| {
            format!("0.0{}f0 * {array}[{}, {}, {}]", at % 7 + 1, place("i", x), place("j", y), place("k", z))
        });
        terms.collect::<Vec<_>>().join(" + ")
    };
    let backwards = star.replace('A', "B").replace("f0", "");
    vec![
        (
            "three points of a line",
            line("0.3f0 * (A[i-1] + A[i] + A[i+1])", "B[i]"),
            ["stream(S, t, 4)", "stream(S, t, 11, 2)"],
        ),
        (
            "five points, there and back",
            line("0.2f0 * A[i-2] - A[i+1]", "0.5f0 * B[i-1] + B[i] + B[i+2] - 0.1f0 * i"),
            ["stream(S, t, 2)", "stream(S, t, 5, 8)"],
        ),
        (
            "seven points",
            space("Float32", inner, star, "B[i, j, k]"),
            ["stream(S, t, 1, 2, 5, 4, 1)", "stream(S, t, 2, 2)"],
        ),
        (
            "a cube",
            space("Float32", inner, &cube("A"), "B[i, j, k]"),
            ["stream(S, t, 1, 4, 0, 4)", "stream(S, t, 2, 1, 9, 7)"],
        ),
        (
            "two sweeps in space",
            space("Float64", inner, &star.replace("f0", ""), &backwards),
            ["stream(S, t, 1, 2, 6, 6)", "stream(S, t, 1, 1, 4, 9)"],
        ),
        (
            "askew, with numbers of points",
            space(
                "Float32",
                "k in 3:n-1, j in 2:m-3, i in 3:l",
                "A[i-2, j+3, k] + 0.5f0 * A[i, j-1, k+1] - A[i-1, j, k-2] + 2j - k",
                "B[i, j, k]",
            ),
            ["stream(S, t, 1, 2, 6, 9)", "stream(S, t, 2, 2, 7, 12)"],
        ),
    ]
}

#[test]
fn lines_and_planes_stream() {
    let mut failures = vec![];
    for (name, text, commands) in other_programs() {
        for command in commands {
            let text = with(&text, command);
            failures.extend(check(name, &text, &[(5, 6, 1), (4, 5, 0), (7, 9, 5), (70, 8, 3), (9, 19, 4)]));
        }
    }
    report(failures);
}

fn options() -> FileOptions {
    FileOptions { name: "f.jl".into(), function: None, types: vec![], schedule: ScheduleSource::InFile }
}

/// Runs a program for several sizes; gives what went wrong.
fn check(name: &str, text: &str, sizes: &[(u64, u64, i64)]) -> Vec<String> {
    let kernels = match text {
        text if text.contains("hexagonal(") => 5,
        // For the usual number of blocks, and the least.
        text if text.contains("grid_sync(") => 2,
        _ => 4,
    };
    check_kernels(name, text, sizes, kernels)
}

fn check_kernels(name: &str, text: &str, sizes: &[(u64, u64, i64)], kernels: usize) -> Vec<String> {
    check_loops(name, text, sizes, |loops| {
        only_together(&mut loops.body);
        assert_eq!(loops.kernels.len(), kernels, "{name} does not stream");
    })
}

/// Runs a program for several sizes, with its loops changed in some way.
fn check_loops(name: &str, text: &str, sizes: &[(u64, u64, i64)], change: impl Fn(&mut Loops)) -> Vec<String> {
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
fn only_together(nodes: &mut [Node]) {
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
fn only_apart(nodes: &mut Vec<Node>) {
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

fn argument(at: usize, ty: ArgumentType, m: u64, n: u64, steps: i64) -> Value {
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

const SIZES: [(u64, u64, i64); 8] =
    [(5, 6, 0), (5, 5, 1), (6, 9, 2), (37, 23, 3), (70, 31, 4), (61, 17, 5), (131, 7, 9), (40, 29, 14)];

#[test]
fn streams_compute_what_the_source_does() {
    let mut failures = vec![];
    for (name, arguments, element, body) in programs() {
        for command in ["stream(S, t, 1, 2, 8)", "stream(S, t, 2, 2)", "stream(S, t, 3, 2, 40)"] {
            failures.extend(check(name, &function(arguments, element, &body, command), &SIZES));
        }
    }
    report(failures);
}

/// Whatever the time loop counts, and however far at a time.
#[test]
fn time_loops_go_down_and_in_strides() {
    let mut failures = vec![];
    let all = [programs(), edges_and_levels()].concat();
    let wanted = ["coefficients and numbers of points", "three that change places", "a source in a point"];
    let some = all.into_iter().filter(|(name, ..)| wanted.contains(name)).collect::<Vec<_>>();
    assert_eq!(some.len(), wanted.len());
    let ranges = ["steps:-1:1", "1:2:steps", "2:3:steps", "steps:-2:0", "steps+5:-3:m"];
    for (name, arguments, element, body) in some {
        for range in ranges {
            let commands =
                ["stream(S, t, 3, 2, 40)", "grid_sync(S, t, 2, 2, 12, 4)", "hexagonal(S, t, 1, 2, 4, 128, 1)"];
            // Hexagons of the others take too much.
            let some = if name == wanted[0] { 3 } else { 2 };
            for command in &commands[..some] {
                let text = function(arguments, element, &body, command).replace("1:steps", range);
                failures.extend(check(&format!("{name}, {range}"), &text, &SIZES));
            }
        }
    }
    report(failures);
}

/// Programs some of whose arrays are written by several nests, or change places after each step: name, arguments, element type, body
/// of the time loop, and kernels.
fn edges_and_levels() -> Vec<(&'static str, &'static str, &'static str, String)> {
    let inner = |statement: &str| nest("2:m-1", "2:n-1", statement);
    let along = |bounds: &str, statement: &str| format!("        for {bounds}\n            {statement}\n        end\n");
    let star = |array: &str| STAR.replace('A', array);
    let wave = "2.0 * A[i, j] - P[i, j] + 0.1 * (A[i+1, j] + A[i-1, j] + A[i, j+1] + A[i, j-1] - 4.0 * A[i, j])";
    vec![
        (
            "two that change places",
            "A B",
            "Float32",
            inner(&format!("@comp S B[i, j] = {STAR}")) + "        A, B = B, A\n",
        ),
        (
            "three that change places",
            "A P N",
            "Float64",
            inner(&format!("@comp S N[i, j] = {wave} + t")) + "        P, A, N = A, N, P\n",
        ),
        (
            "two that change places, with edges of their own",
            "A B",
            "Float32",
            inner(&format!("@comp S B[i, j] = {STAR}"))
                + &along("j in 1:n", "B[1, j] = B[2, j]")
                + &along("j in 1:n", "B[m, j] = B[m-1, j]")
                + "        A, B = B, A\n",
        ),
        (
            "edges that copy what lies beside them",
            "A B",
            "Float32",
            inner(&format!("@comp S B[i, j] = {STAR}"))
                + &along("j in 2:n-1", "B[1, j] = B[2, j]")
                + &along("j in 2:n-1", "B[m, j] = 0.5f0 * (B[m-1, j] + B[m-2, j])")
                + &along("i in 1:m", "B[i, 1] = B[i, 2]")
                + &along("i in 1:m", "B[i, n] = B[i, n-1] - 0.5f0 * B[i, n-2]")
                + &nest("1:m", "1:n", "A[i, j] = B[i, j]"),
        ),
        (
            "edges first, some of the step before",
            "A B",
            "Float64",
            along("j in 1:n", "B[1, j] = A[2, j] + t")
                + &along("i in 1:m", "B[i, n] = A[i, n-1]")
                + &along("i in 2:m-1", "B[i, 1] = 0.5 * A[i, 2]")
                + &nest("2:m", "2:n-1", "@comp S B[i, j] = 0.25 * (A[i-1, j] + A[i, j-1] + A[i, j+1]) - 0.1 * A[i, j]")
                + &nest("1:m", "1:n", "A[i, j] = B[i, j]"),
        ),
        (
            "two halves and a line between them",
            "A B",
            "Float32",
            nest("2:2", "2:n-1", "B[i, j] = A[i, j] - 1f0")
                + &nest("3:m-1", "2:n-1", &format!("@comp S B[i, j] = {STAR}"))
                + &along("i in 2:m-1", "B[i, 3] = B[i, 3] + 0.25f0 * i")
                + &inner("A[i, j] = B[i, j]"),
        ),
        (
            "a source in a point",
            "A B",
            "Float64",
            inner("@comp S B[i, j] = 0.25 * (A[i-1, j] + A[i+1, j] + A[i, j-1] + A[i, j+1])")
                + "        B[3, 4] = B[3, 4] + 0.5 * t\n"
                + &inner("A[i, j] = B[i, j]"),
        ),
        (
            "fields of a wave in place",
            "E F H",
            "Float64",
            along("j in 1:n", "E[1, j] = 0.1 * t")
                + &nest("2:m", "1:n", "@comp S E[i, j] = E[i, j] - 0.5 * (H[i, j] - H[i-1, j])")
                + &nest("1:m", "2:n", "F[i, j] = F[i, j] - 0.5 * (H[i, j] - H[i, j-1])")
                + &nest("1:m-1", "1:n-1", "H[i, j] = H[i, j] - 0.7 * (F[i, j+1] - F[i, j] + E[i+1, j] - E[i, j])"),
        ),
        (
            "read before it is revised",
            "A B C",
            "Float32",
            inner(&format!("@comp S B[i, j] = {STAR}"))
                + &inner("C[i, j] = B[i, j-1] + B[i+1, j] - B[i, j+1]")
                + &along("i in 2:m-1", "B[i, 3] = C[i, 4] + B[i, 2]")
                + &inner(&format!("A[i, j] = 0.5f0 * C[i, j] - {}", star("B"))),
        ),
    ]
}

#[test]
fn edges_and_levels_stream() {
    let mut failures = vec![];
    for (name, arguments, element, body) in edges_and_levels() {
        for command in ["stream(S, t, 1, 2, 8)", "stream(S, t, 2, 4)", "stream(S, t, 3, 4, 40)"] {
            // The number of rows is that of the first matrix.
            let text =
                function(arguments, element, &body, command).replace("size(A)", &format!("size({})", &arguments[..1]));
            failures.extend(check(name, &text, &SIZES));
        }
    }
    report(failures);
}

#[test]
fn blocks_that_keep_their_tiles_compute_what_the_source_does() {
    let mut failures = vec![];
    let matrices = edges_and_levels().into_iter().map(|(name, arguments, element, body)| {
        let size = format!("size({})", &arguments[..1]);
        (name, function(arguments, element, &body, "").replace("size(A)", &size))
    });
    let more =
        programs().into_iter().map(|(name, arguments, element, body)| (name, function(arguments, element, &body, "")));
    for (name, text) in matrices.chain(more) {
        // Tiles of which blocks own a row or two, and some more.
        for command in ["grid_sync(S, t, 1, 1, 6, 4)", "grid_sync(S, t, 3, 2, 20, 2)"] {
            let text = text.replace("@schedule f! begin\n    ", &format!("@schedule f! begin\n    {command}"));
            let outcome = check(name, &text, &[(5, 6, 0), (6, 9, 2), (37, 23, 3), (131, 7, 5), (40, 29, 4)]);
            assert!(!is_too_large(&outcome), "{name}, {command}: {outcome:?}");
            failures.extend(outcome);
        }
    }
    // What blocks cannot hold may run in hexagons.
    let (name, arguments, element, body) = programs().swap_remove(0);
    let both = "hexagonal(S, t, 1, 2, 4, 32, 1)\n    grid_sync(S, t, 2, 2, 9, 4)";
    failures.extend(check_kernels(name, &function(arguments, element, &body, both), &SIZES, 6));
    for (name, text, _) in other_programs() {
        for command in ["grid_sync(S, t, 1, 2, 20, 8, 12)", "grid_sync(S, t, 2, 1, 28, 14, 19)"] {
            let outcome =
                check(name, &with(&text, command), &[(5, 6, 1), (4, 5, 0), (7, 9, 5), (70, 8, 3), (9, 19, 4)]);
            assert!(!is_too_large(&outcome), "{name}, {command}: {outcome:?}");
            failures.extend(outcome);
        }
    }
    report(failures);
}

/// Tiles of which blocks own all the rows that they may.
#[test]
fn the_fewest_blocks_compute_what_the_source_does() {
    let mut failures = vec![];
    let fewest = |loops: &mut Loops| {
        only_apart(&mut loops.body);
        let launched: Vec<&Kernel> = launched(&loops.body).into_iter().map(|id| loops.kernel(id)).collect();
        assert!(matches!(launched[..], [Kernel { same_as: Some(_), blocks: Blocks::Resident, .. }]));
    };
    for (name, arguments, element, body) in programs() {
        let text = function(arguments, element, &body, "grid_sync(S, t, 2, 2, 5, 4)");
        failures.extend(check_loops(name, &text, &[(5, 6, 0), (37, 23, 3), (131, 37, 5)], fewest));
    }
    for (name, text, _) in other_programs() {
        let text = with(&text, "grid_sync(S, t, 1, 2, 20, 8, 12)");
        failures.extend(check_loops(name, &text, &[(5, 6, 1), (70, 8, 3), (9, 37, 4)], fewest));
    }
    report(failures);
}

/// The kernels that the host launches.
fn launched(nodes: &[Node]) -> Vec<KernelId> {
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

/// Where a command asks for tiles that stay and for no stream: a plan says what the device has to run at once, and at which sizes.
#[test]
fn tiles_without_a_stream_beside_them_are_required() {
    let of = |commands: &str| {
        let (_, arguments, element, body) = programs().swap_remove(0);
        let text = function(arguments, element, &body.replacen("A[i, j] = ", "@comp R A[i, j] = ", 1), commands);
        let sources = Sources::read(&text, &options()).unwrap();
        let unit =
            sources.unit(&sources.functions()[0], &[]).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
        let built = unit.build(Backend::Cuda).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
        let input = Input::from(&built.analysed.verified);
        let plan = launch_plan(&input, &generate(&input).unwrap()).unwrap();
        // Rows, columns and steps.
        let params: Vec<String> = built.analysed.verified.algorithm().params.iter().map(|it| it.name.clone()).collect();
        move |m: i64, n: i64, steps: i64| -> Vec<i64> {
            let value = |name: &String| match name.as_str() {
                "steps" => steps,
                "m" | "B_1" => m,
                _ => n,
            };
            let with = Environment::new(params.iter().map(value).collect());
            let required = plan.required();
            let blocks = required.iter().filter(|it| it.when.evaluate(&with).unwrap());
            blocks.map(|it| plan.kernels[it.kernel.0 as usize].grid[0].evaluate(&with).unwrap()).collect()
        }
    };
    // Of 64 columns blocks own 60, and of 20 rows 16.
    let alone = of("grid_sync(S, t, 2, 2, 5, 4)");
    assert_eq!(alone(60, 16, 9), [1]);
    assert_eq!(alone(61, 17, 9), [4]);
    assert_eq!(alone(6000, 1600, 9), [10_000]);
    assert_eq!(alone(6000, 1600, 0), [0]);
    assert_eq!(alone(6000, 0, 9), [0]);
    assert_eq!(of("stream(S, t, 2, 4)\n    grid_sync(S, t, 2, 2, 5, 4)")(6000, 1600, 9), Vec::<i64>::new());
    // One of two pieces.
    let nests = |statements: [&str; 2]| statements.map(|it| format!("for j = j\nfor i = i\n{it}\nend\nend\n")).concat();
    let pieces = of(&format!(
        "pieces(S, m + n > 60)\npieces(R, m + n > 60)\n@stream 2 4 for t = t\n{}end\n@grid_sync 2 2 5 4 16 for t = t\n{}end\n",
        nests(["S", "R"]),
        nests(["S_piece1", "R_piece1"])
    ));
    assert_eq!(pieces(6000, 1600, 9), Vec::<i64>::new());
    assert_eq!(pieces(20, 30, 9), [2]);
}

/// The last columns of an array that no step needs from the one before, and that is wider than those that do.
#[test]
fn a_thread_has_one_point_of_an_edge_and_does_not_wait_for_its_own() {
    let text = std::fs::read_to_string(tessella_tests::root().join("tests/stencils/edges2d.jl")).unwrap();
    let sources = Sources::read(&text, &options()).unwrap();
    let unit = sources.unit(&sources.functions()[0], &[]).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
    let built = unit.build(Backend::Cuda).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
    let source = built.cuda(&unit).unwrap_or_else(|errors| panic!("{}", sources.show(&errors))).kernels;
    for edge in ["__ffs(W_columns)", "__ffs(E_columns)", "__ffs(L_rows)", "__ffs(R_rows)"] {
        assert!(source.contains(edge), "{edge}");
    }
    // Values wait in registers where a stage overwrites what others of its points read.
    assert!(!source.contains("waiting["));
}

#[test]
fn what_lies_beyond_the_other_arrays_is_written() {
    let mut failures = vec![];
    let body = nest("1:m", "2:n-1", "@comp S B[i+1, j] = 0.5f0 * A[i, j] + A[i, j-1]")
        + &nest("1:m", "2:n-1", "A[i, j] = B[i+1, j]");
    for command in ["stream(S, t, 1, 2)", "grid_sync(S, t, 1, 1, 8, 4)"] {
        let sizes: Vec<(u64, u64, i64)> = (28..34).chain(58..68).map(|m| (m, 9, 2)).collect();
        failures.extend(check("beyond", &function("A B", "Float32", &body, command), &sizes));
    }
    report(failures);
}

/// What writes an array while others read it, in no order that rows can keep.
/// Time steps that write down what they compute, for nothing in the loop to read: arguments, body of the time loop, and extra arguments.
fn recorded() -> Vec<(&'static str, String)> {
    let inner = |statement: &str| nest("2:m-1", "2:n-1", statement);
    let star = || inner(&format!("@comp S B[i, j] = {STAR}"));
    let copy = || inner("A[i, j] = B[i, j]");
    let along = |range: &str, statement: &str| format!("        for {range}\n            {statement}\n        end\n");
    vec![
        ("a receiver in the middle", star() + &copy() + "        C[t, 1] = A[m ÷ 2, n ÷ 2]\n"),
        ("a row of receivers, before the step", along("i in 1:m", "C[i, t] = A[i, 4] + 0.5f0 * i") + &star() + &copy()),
        (
            "a column of receivers, where nothing is written too",
            star() + &copy() + &along("j in 1:n", "C[j, t] = A[1, j] + A[1, j] * t"),
        ),
        ("what is not handed on", star() + &along("j in 1:n", "C[j, t] = B[2, j]") + &copy()),
        (
            "two receivers of one array, and sums over time",
            star()
                + &copy()
                + "        C[1, t] = A[2, 3]\n        C[2, t] = A[m-1, n-1]\n        D[3, 3] += A[m-1, 2]\n"
                + &along("i in 3:m-2", "E[i, 1] += 0.25f0 * t * A[i, 3]"),
        ),
        (
            "every point of a step, each tenth in the rest",
            star() + &copy() + &nest("1:m", "1:n", "M[i, j, t] = A[i, j]"),
        ),
        ("that change places", star() + "        A, B = B, A\n" + &along("j in 2:n-1", "C[j, t] = A[2, j] - B[2, j]")),
        (
            "weights of a step, and one for all, added up over arrays that change places",
            star()
                + "        A, B = B, A\n        C[1, 2] += D[t, 1] * A[3, 3]\n"
                + &along("i in 2:m-1", "E[i, 2] = E[i, 2] + D[2, 2] * A[i, 4]"),
        ),
        (
            "of two fields, between their nests",
            inner("@comp S A[i, j] -= 0.5f0 * (B[i+1, j] - B[i, j])")
                + &along("i in 2:m-1", "C[i, t] = A[i, 3] * B[i, 3]")
                + &inner("B[i, j] += 0.25f0 * (A[i, j] - A[i-1, j] + A[i, j] - A[i, j-1])"),
        ),
        (
            "after edges",
            star()
                + &copy()
                + &along("j in 1:n", "A[1, j] = A[2, j]")
                + &along("i in 1:m", "A[i, n] = 0.5f0")
                + &along("j in 1:n", "C[j, t] = A[1, j]")
                + &nest("1:2", "1:n", "M[i, j, t] = A[i, j]"),
        ),
    ]
}

fn recording(body: &str, command: &str) -> String {
    function("A B C D E", "Float32", body, command).replace("steps::Int)", "M::Array{Float32,3}, steps::Int)")
}

const RECORDED: [(u64, u64, i64); 6] = [(5, 6, 0), (5, 9, 1), (37, 23, 3), (70, 31, 4), (131, 17, 9), (40, 29, 14)];

#[test]
fn what_steps_compute_is_written_down() {
    let mut failures = vec![];
    for (name, body) in recorded() {
        for command in ["stream(S, t, 1, 2, 8)", "stream(S, t, 3, 4)", "stream(S, t, 2, 2, 40)"] {
            failures.extend(check(name, &recording(&body, command), &RECORDED));
        }
        for command in ["grid_sync(S, t, 1, 1, 6, 4)", "grid_sync(S, t, 3, 2, 20, 2)"] {
            failures.extend(check(name, &recording(&body, command), &RECORDED));
        }
        let back = recording(&body, "stream(S, t, 2, 2)").replace("1:steps", "steps:-1:1");
        failures.extend(check(name, &back, &RECORDED));
    }
    report(failures);
}

#[test]
fn what_steps_compute_along_lines_and_over_planes_is_written_down() {
    let mut failures = vec![];
    for (name, text, commands) in other_programs() {
        let line = text.contains("::Vector");
        let (more, arguments) = match line {
            true => (["C[t] = A[n ÷ 2]", "D[i, t] = A[i]"], "C::Vector{T}, D::Matrix{T}, steps::Int)"),
            false => (["C[t] = A[2, 3, 2]", "D[i, j, t] = A[i, j, 2]"], "C::Vector{T}, D::Array{T,3}, steps::Int)"),
        };
        let range = if line { "i in 2:4" } else { "j in 1:m, i in 1:l" };
        let more = format!(
            "        {}\n        for {range}\n            {}\n        end\n    end\n    return",
            more[0], more[1]
        );
        let element = if text.contains("Float64") { "Float64" } else { "Float32" };
        let text = text
            .replace("    end\n    return", &more)
            .replace("steps::Int)", arguments)
            .replace("{T", &format!("{{{element}"));
        for command in commands {
            failures.extend(check(
                name,
                &with(&text, command),
                &[(5, 6, 1), (4, 5, 0), (7, 9, 5), (70, 8, 3), (9, 19, 4)],
            ));
        }
        let command = "grid_sync(S, t, 1, 2, 20, 8, 12)";
        failures.extend(check(name, &with(&text, command), &[(7, 9, 5), (70, 8, 3)]));
    }
    report(failures);
}

/// Arrays whose last axis holds levels of time: name, arguments, first step, body of the time loop, commands.
fn levels() -> Vec<(&'static str, &'static str, &'static str, String, [&'static str; 3])> {
    let inner = |statement: &str| nest("2:m-1", "2:n-1", statement);
    let star = |array: &str, level: &str| {
        let places = ["i, j", "i-1, j", "i+1, j", "i, j-1", "i, j+1"].map(|at| format!("{array}[{at}, {level}]"));
        format!("0.2f0 * ({})", places.join(" + "))
    };
    let planes = ["stream(S, t, 1, 2, 8)", "stream(S, t, 3, 4)", "grid_sync(S, t, 2, 2, 20, 2)"];
    vec![
        (
            "two levels",
            "A::Array{Float32,3}",
            "0",
            inner(&format!("@comp S A[i, j, (t+1)%2+1] = {}", star("A", "t%2+1"))),
            planes,
        ),
        (
            "three levels of a wave, of which two change before the loop ends",
            "A::Array{Float32,3}",
            "3",
            inner(&format!(
                "@comp S A[i, j, t%3+1] = 2f0 * A[i, j, (t+2)%3+1] - A[i, j, (t+1)%3+1] + {}",
                star("A", "(t+2)%3+1")
            )),
            ["stream(S, t, 1, 4, 8)", "stream(S, t, 2, 8)", "grid_sync(S, t, 1, 2, 14, 2)"],
        ),
        (
            "levels beside other arrays, edges, and a receiver",
            "A::Array{Float32,3}, B::Matrix{Float32}, C::Matrix{Float32}, D::Matrix{Float32}",
            "1",
            inner(&format!("@comp S B[i, j] = {} - 0.1f0 * t * C[i, j]", star("A", "t%2+1")))
                + &inner("A[i, j, (t+1)%2+1] = B[i, j] - B[i-1, j]")
                + "        for j in 1:n\n            A[1, j, (t+1)%2+1] = A[2, j, (t+1)%2+1]\n        end\n"
                + "        D[t+1, 2] = A[3, 3, (t+1)%2+1] + A[3, 3, (t+1)%2+1]\n",
            ["stream(S, t, 1, 4, 8)", "stream(S, t, 2, 4)", "grid_sync(S, t, 1, 2, 14, 2)"],
        ),
        (
            "four levels of which a call has all",
            "A::Array{Float32,3}",
            "1",
            "        @assert size(A, 3) >= 4\n".to_string()
                + &inner("@comp S A[i, j, t%4+1] = A[i-1, j, (t-1)%4+1] - 0.5f0 * A[i, j+1, (t-1)%4+1]"),
            ["stream(S, t, 1, 4, 8)", "stream(S, t, 1, 8)", "grid_sync(S, t, 1, 2, 20, 2)"],
        ),
        (
            "levels of a line",
            "A::Matrix{Float32}",
            "0",
            "        for i in 2:m-1\n            @comp S A[i, mod(t+1, 2)+1] = A[i-1, mod(t, 2)+1] - 0.5f0 * A[i+1, mod(t, 2)+1]\n        end\n"
                .to_string(),
            ["stream(S, t, 2)", "stream(S, t, 5, 8)", "grid_sync(S, t, 2, 2, 20, 2)"],
        ),
        (
            "levels in space",
            "A::Array{Float32,4}",
            "0",
            "        for k in 2:size(A,3)-1, j in 2:n-1, i in 2:m-1\n            @comp S A[i, j, k, 2-t%2] = A[i-1, j, k, t%2+1] + 0.5f0 * A[i, j+1, k, t%2+1] - \
             A[i, j, k-1, t%2+1] * k + A[i, j-1, k+1, t%2+1]\n        end\n"
                .to_string(),
            ["stream(S, t, 1, 2, 6, 6)", "stream(S, t, 1, 1, 4, 9)", "grid_sync(S, t, 1, 2, 20, 8, 12)"],
        ),
    ]
}

fn on_levels(arguments: &str, first: &str, body: &str, command: &str) -> String {
    let (asserted, body) = match body.strip_prefix("        @assert size(A, 3) >= 4\n") {
        Some(rest) => ("    @assert size(A, 3) >= 4\n", rest),
        None => ("", body),
    };
    format!(
        "@tessella function f!({arguments}, steps::Int)\n    m, n = size(A, 1), size(A, 2)\n{asserted}    for t in {first}:steps\n{body}    \
         end\n    return nothing\nend\n@schedule f! begin\n    {command}\nend\n"
    )
}

#[test]
fn levels_of_time_stream() {
    let mut failures = vec![];
    for (name, arguments, first, body, commands) in levels() {
        for command in commands {
            let text = on_levels(arguments, first, &body, command);
            let sizes: &[(u64, u64, i64)] = match name {
                "levels in space" => &[(5, 6, 1), (7, 9, 5), (70, 8, 3), (9, 19, 4)],
                _ => &[(5, 6, 0), (5, 9, 1), (37, 23, 3), (70, 31, 4), (131, 17, 9), (40, 29, 14)],
            };
            failures.extend(check(name, &text, sizes));
            if name != "three levels of a wave, of which two change before the loop ends" {
                let back = text.replace(&format!("{first}:steps"), &format!("steps:-1:{first}"));
                if !back.contains("[t+1, 2]") {
                    let refused = check(name, &back, &[]);
                    let why = "let it begin at a number";
                    if !refused.iter().any(|it| it.contains(why)) {
                        failures.push(format!("{name}, backwards: {refused:?}"));
                    }
                }
                failures.extend(check(name, &text.replace(&format!("{first}:steps"), "4:-1:1"), sizes));
            }
        }
    }
    report(failures);
}

#[test]
fn other_levels_are_refused() {
    let step = |write: &str, read: &str| {
        format!(
            "@tessella function f!(A::Array{{Float32,3}}, s::Int, steps::Int)\n    m, n = size(A, 1), size(A, 2)\n    for t in 1:steps\n{}    end\n    \
             return nothing\nend\n@schedule f! begin\n    stream(S, t, 2)\nend\n",
            nest("2:m-1", "2:n-1", &format!("@comp S A[i, j, {write}] = A[i-1, j, {read}] + A[i, j+1, {read}]"))
        )
    };
    let wrong = [
        ("t+1", "t", "its subscripts move with time"),
        ("(t+1)%2+1", "3", "reads a level of `A` that no step writes"),
        ("(t+1)%12+1", "t%12+1", "its subscripts move with time"),
        ("t%2+1", "t%2+1", "that it has just written"),
        // The first iteration of a call may be its last.
        ("t%4+1", "(t-1)%4+1", "say `@assert size(A, 3) >= 4`"),
        ("(t+1)%2", "t%2", "has no level 0"),
    ];
    let mut failures = vec![];
    for (write, read, why) in wrong {
        let outcome = check(write, &step(write, read), &[]);
        if !outcome.iter().any(|it| it.contains(why)) {
            failures.push(format!("{write}, {read}: {outcome:?}"));
        }
    }
    report(failures);
}

/// What a lane has of a step is one point, which exists, and the only one whose value an element gets.
#[test]
fn what_no_lane_can_write_down_is_refused() {
    let step =
        || nest("2:m-1", "2:n-1", &format!("@comp S B[i, j] = {STAR}")) + &nest("2:m-1", "2:n-1", "A[i, j] = B[i, j]");
    let wrong = [
        ("        C[t, 1] = A[2, 3] + A[2, 4]\n", "reads `A` at several points"),
        (
            "        for i in 1:m\n            C[t, 1] = A[i, 3]\n        end\n",
            "writes an element of `C` from several points",
        ),
        (
            "        C[t, 1] = A[2, 3]\n        C[2, 1] = A[4, 4]\n",
            "writes elements of `C` that another statement writes",
        ),
        ("        C[t, 1] = steps > 3 ? A[steps, 3] : 0f0\n", "its subscripts move with time"),
        ("        C[t, 1] = A[t, 3]\n", "reads elsewhere in each step"),
    ];
    let mut failures = vec![];
    for (body, why) in wrong {
        let outcome = check("a step", &recording(&(step() + body), "stream(S, t, 2)"), &[]);
        if !outcome.iter().any(|it| it.contains(why)) {
            failures.push(format!("{body}: {outcome:?}"));
        }
    }
    // Between the iterations of a step no lane has a field in place as it is then.
    let levels = "@tessella function f!(A::Array{Float32,3}, P::Matrix{Float32}, C::Vector{Float32})\n    m, n = size(P)\n    @assert size(A, 3) == 2\n    \
                  for t in 1:length(C)\n"
        .to_string()
        + &nest("2:m-1", "2:n-1", "@comp S A[i, j, (t+1)%2+1] = A[i-1, j, t%2+1] + A[i, j+1, t%2+1]")
        + &nest("2:m-1", "2:n-1", "P[i, j] = P[i, j] + A[i, j, (t+1)%2+1]")
        + "        C[t] = P[3, 3]\n    end\n    return nothing\nend\n@schedule f! begin\n    stream(S, t, 2)\nend\n";
    let outcome = check("a field in place", &levels, &[]);
    if !outcome.iter().any(|it| it.contains("amid a step of the stream: that is 2 iterations")) {
        failures.push(format!("a field in place: {outcome:?}"));
    }
    report(failures);
}

#[test]
fn nests_that_do_not_stream_are_refused() {
    let inner = |statement: &str| nest("2:m-1", "2:n-1", statement);
    let wrong = [
        ("its own neighbours", inner("@comp S A[i, j] = A[i-1, j] + A[i, j]"), "that it has just written"),
        (
            "every third step but not the others",
            inner("@comp S B[i, j] = A[i, j-1]") + "        t % 3 == 0 && continue\n" + &inner("A[i, j] = B[i, j]"),
            "does not run over the same box",
        ),
        (
            "the other edge",
            inner("@comp S B[i, j] = A[i, j-1]")
                + "        for j in 2:n-1\n            B[1, j] = B[m-1, j]\n        end\n"
                + &nest("1:m-1", "2:n-1", "A[i, j] = B[i, j]"),
            "at another place than a fixed distance away",
        ),
    ];
    for (name, body, why) in wrong {
        let text = function("A B", "Float32", &body, "stream(S, t, 2)");
        let outcome = check(name, &text, &[]);
        assert!(outcome.iter().any(|it| it.contains(why)), "{name}: {outcome:?}");
    }
    let (name, arguments, element, body) = programs().swap_remove(0);
    let text = function(arguments, element, &body, "stream(S, t, 2)").replace("1:steps", "1:min(steps, n)");
    let outcome = check(name, &text, &[]);
    assert!(outcome.iter().any(|it| it.contains("no sum of sizes")), "the smaller of two: {outcome:?}");
}

/// Two streams of other sizes over one program, of which the sum of a matrix's sides chooses one.
#[test]
fn pieces_by_size_stream() {
    let stream = |size: &str, statements: [&str; 2]| {
        let nests = statements.map(|it| {
            format!("        for j = j\n            for i = i\n                {it}\n            end\n        end\n")
        });
        format!("    @stream {size} for t = t\n{}    end\n", nests.concat())
    };
    let mut failures = vec![];
    for (name, arguments, element, body) in programs().into_iter().take(4) {
        let body = body.replacen("A[i, j] = ", "@comp R A[i, j] = ", 1);
        let commands = format!(
            "pieces(S, m + n > 60)\n    pieces(R, m + n > 60)\n{}{}",
            stream("3 4", ["S", "R"]),
            stream("2 2", ["S_piece1", "R_piece1"])
        );
        failures.extend(check_kernels(name, &function(arguments, element, &body, &commands), &SIZES, 8));
    }
    report(failures);
}

#[test]
fn hexagons_compute_what_the_source_does() {
    let mut failures = vec![];
    let sizes = [(5, 6, 0), (6, 9, 2), (9, 11, 7), (37, 23, 13), (131, 31, 14), (70, 61, 24), (259, 17, 35)];
    for (name, arguments, element, body) in programs() {
        // The sweeps of some reach three columns to one side, or two rows.
        let commands = [
            "hexagonal(S, t, 1, 2, 4, 32, 1)",
            "hexagonal(S, t, 2, 3, 4, 32, 2)",
            "hexagonal(S, t, 3, 1, 2, 64, 1)",
            "hexagonal(S, t, 4, 1, 2, 32, 2)",
        ];
        let outcomes = commands.map(|command| check(name, &function(arguments, element, &body, command), &sizes));
        let fit: Vec<_> = outcomes.into_iter().filter(|outcome| !is_too_large(outcome)).collect();
        assert!(fit.len() >= 2, "{name}: too few of the hexagons fit");
        failures.extend(fit.into_iter().flatten());
    }
    report(failures);
}

#[test]
fn hexagons_over_planes_compute_what_the_source_does() {
    let mut failures = vec![];
    let sizes = [(6, 9, 5), (9, 11, 7), (71, 14, 9)];
    for (name, text, _) in other_programs().into_iter().filter(|(_, text, _)| text.contains(",3}")) {
        let commands = [
            "hexagonal(S, t, 1, 1, 2, 256, 4)",
            "hexagonal(S, t, 1, 3, 2, 256, 4)",
            "hexagonal(S, t, 1, 1, 4, 512, 2)",
            "hexagonal(S, t, 1, 1, 1, 416, 2)",
        ];
        let outcomes = commands.map(|command| check(name, &with(&text, command), &sizes));
        let fit: Vec<_> = outcomes.into_iter().filter(|outcome| !is_too_large(outcome)).collect();
        assert!(!fit.is_empty(), "{name}: none of the hexagons fit");
        failures.extend(fit.into_iter().flatten());
    }
    report(failures);
}

#[test]
fn random_stencils_run_in_hexagons_over_planes() {
    let (mut ran, mut failures, mut state) = (0, vec![], 31u64);
    let mut random = move |below: i64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((state >> 33) as i64).rem_euclid(below)
    };
    for number in 0..28 {
        let reach = 1 + random(4) / 3;
        let mut sum = |array: &str| {
            let terms = (0..2 + random(4)).map(|_| {
                let [x, y, z] = [(); 3].map(|()| random(2 * reach + 1) - reach);
                format!("0.{}f0 * {array}[i + {x}, j + {y}, k + {z}]", 1 + random(9))
            });
            terms.collect::<Vec<_>>().join(" + ").replace("+ -", "- ")
        };
        let (first, second) = (sum("A"), if number % 4 == 3 { sum("B") } else { "B[i, j, k]".to_string() });
        let bounds = ["k in {}:n-{}", "j in {}:m-{}", "i in {}:l-{}"]
            .map(|it| it.replacen("{}", &(reach + 1).to_string(), 1).replacen("{}", &reach.to_string(), 1));
        let text = space("Float32", &bounds.join(", "), &first, &second);
        let points = [2, 4][random(2) as usize];
        let command = format!(
            "hexagonal(S, t, {}, {}, {points}, {}, {})",
            1 + random(4) / 3,
            reach + random(2),
            256,
            2 + random(3)
        );
        let outcome = check(&format!("stencil {number}"), &with(&text, &command), &[(9, 8, 7), (45, 14, 8)]);
        ran += usize::from(!is_too_large(&outcome));
        failures.extend(Some(outcome).filter(|outcome| !is_too_large(outcome)).into_iter().flatten());
    }
    report(failures);
    assert!(ran >= 6, "only {ran} of the hexagons fit");
}

/// Sums that reach up to four points along each axis of space, and as far as they like to either side.
#[test]
fn random_stencils_stream_over_planes() {
    let (mut ran, mut wide, mut failures, mut state) = (0, 0, vec![], 13u64);
    let mut random = move |below: i64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((state >> 33) as i64).rem_euclid(below)
    };
    for number in 0..20 {
        let most = 2 + number % 3;
        let reach = [(); 3].map(|()| [random(most + 1), random(most + 1)]);
        let mut sum = |array: &str| {
            let terms = (0..2 + random(4)).map(|_| {
                let at = reach.map(|[below, above]| random(below + above + 1) - below);
                let at = ["i", "j", "k"].iter().zip(at).map(|(name, by)| format!("{name} + {by}"));
                format!("0.{}f0 * {array}[{}]", 1 + random(9), at.collect::<Vec<_>>().join(", "))
            });
            terms.collect::<Vec<_>>().join(" + ").replace("+ -", "- ")
        };
        let (first, second) = (sum("A"), if number % 4 == 3 { sum("B") } else { "B[i, j, k]".to_string() });
        let bounds = [("k", "n", 2), ("j", "m", 1), ("i", "l", 0)]
            .map(|(name, last, axis)| format!("{name} in {}:{last}-{}", 1 + reach[axis][0], reach[axis][1]));
        let text = space("Float32", &bounds.join(", "), &first, &second);
        let (steps, points) = (1 + random(6) / 5, [2, 4][random(2) as usize]);
        let command = format!("stream(S, t, {steps}, {points}, {}, 4, {})", 4 + random(9), 3 + random(4));
        let outcome = check(&format!("stencil {number}"), &with(&text, &command), &[(9, 8, 1), (43, 17, 3)]);
        if !is_too_large(&outcome) {
            ran += 1;
            wide += usize::from(reach.iter().flatten().any(|it| *it > 2));
            failures.extend(outcome);
        }
    }
    report(failures);
    assert!(ran >= 12 && wide >= 6, "only {ran} of the streams fit, {wide} of them wide");
}

/// Whether hexagons of the sizes do not suit the stencil.
fn is_too_large(outcome: &[String]) -> bool {
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

#[test]
fn random_stencils_stream() {
    let ran = random_stencils(20, 24, &[(9, 8, 1), (53, 20, 3), (139, 11, 4)], |random| {
        format!("stream(S, t, {}, 4, {})", 1 + random(2), 4 + random(20))
    });
    assert_eq!(ran, 24);
}

#[test]
fn random_stencils_run_in_hexagons() {
    let ran = random_stencils(77, 40, &[(9, 8, 11), (53, 41, 16), (139, 29, 21)], |random| {
        let points = [4, 4, 8][random(3) as usize];
        format!("hexagonal(S, t, {}, {}, {points}, 32, {})", 1 + random(2), 2 + random(4), 1 + random(2))
    });
    assert!(ran >= 12, "only {ran} of the hexagons fit");
}

#[test]
fn random_stencils_stay_in_tiles() {
    let ran = random_stencils(5, 24, &[(9, 8, 1), (53, 20, 7), (139, 61, 5)], |random| {
        format!("grid_sync(S, t, {}, 2, {}, 3)", 1 + random(3), 10 + random(7))
    });
    assert!(ran >= 12, "only {ran} of the tiles fit");
}

fn random_stencils(
    seed: u64,
    count: u32,
    sizes: &[(u64, u64, i64)],
    command: impl Fn(&mut dyn FnMut(i64) -> i64) -> String,
) -> usize {
    let mut ran = 0;
    let mut state = seed;
    let mut random = move |below: i64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((state >> 33) as i64).rem_euclid(below)
    };
    let mut failures = vec![];
    for number in 0..count {
        let reach = 1 + random(4);
        let sum = |array: &str, random: &mut dyn FnMut(i64) -> i64| {
            let terms = (0..1 + random(4)).map(|_| {
                let offset = |by: i64| if by < 0 { format!(" - {}", -by) } else { format!(" + {by}") };
                let (x, y) = (random(2 * reach + 1) - reach, random(2 * reach + 1) - reach);
                format!("0.{}f0 * {array}[i{}, j{}]", 1 + random(9), offset(x), offset(y))
            });
            terms.collect::<Vec<_>>().join(" + ")
        };
        let first = sum("A", &mut random);
        let second = if random(2) == 0 { "B[i, j]".to_string() } else { sum("B", &mut random) };
        let (rows, columns) = (format!("{}:m-{}", reach + 1, reach), format!("{}:n-{}", reach + 1, reach));
        let body = nest(&rows, &columns, &format!("@comp S B[i, j] = {first}"))
            + &nest(&rows, &columns, &format!("A[i, j] = {second}"));
        let text = function("A B", "Float32", &body, &command(&mut random));
        let outcome = check(&format!("stencil {number}"), &text, sizes);
        if !is_too_large(&outcome) {
            ran += 1;
            failures.extend(outcome);
        }
    }
    report(failures);
    ran
}

#[test]
fn what_streams_compiles() {
    let nvrtc = match Nvrtc::get() {
        Ok(nvrtc) => nvrtc,
        Err(error) => {
            println!("skipped: {error}");
            return;
        }
    };
    let mut failures = vec![];
    let matrices = programs()
        .into_iter()
        .map(|(name, arguments, element, body)| (name, function(arguments, element, &body, "stream(S, t, 3, 4, 64)")));
    let others = other_programs()
        .into_iter()
        .flat_map(|(name, text, commands)| commands.map(|command| (name, with(&text, command))));
    let hexagons = programs().into_iter().map(|(name, arguments, element, body)| {
        (name, function(arguments, element, &body, "hexagonal(S, t, 1, 2, 4, 128, 1)"))
    });
    let tiles = programs().into_iter().chain(edges_and_levels()).step_by(3).map(|(name, arguments, element, body)| {
        let size = if element == "Float64" { "2, 2, 4" } else { "2, 2, 6" };
        let text = function(arguments, element, &body, &format!("grid_sync(S, t, {size})"));
        (name, text.replace("size(A)", &format!("size({})", &arguments[..1])))
    });
    let tiles_of_space =
        other_programs().into_iter().map(|(name, text, _)| (name, with(&text, "grid_sync(S, t, 1, 1, 16, 12, 12)")));
    let planes = other_programs().into_iter().filter(|(_, text, _)| text.contains(",3}")).map(|(name, text, _)| {
        // Two sweeps hand on twice as much, and of wider numbers.
        let sizes = match name {
            "two sweeps in space" => "1, 1, 1, 416, 2",
            "askew, with numbers of points" => "1, 1, 2, 256, 4",
            _ => "1, 3, 2, 512, 2",
        };
        (name, with(&text, &format!("hexagonal(S, t, {sizes})")))
    });
    // One of points, one of edges and planes, one that changes places.
    let records = recorded().into_iter().step_by(3).zip([
        "stream(S, t, 2, 2, 40)",
        "grid_sync(S, t, 1, 1, 6, 4)",
        "stream(S, t, 1, 2)",
    ]);
    let records = records.map(|((name, body), command)| (name, recording(&body, command)));
    let levels = levels().into_iter().enumerate().map(|(number, (name, arguments, first, body, commands))| {
        (name, on_levels(arguments, first, &body, commands[if number % 2 == 0 { 0 } else { 2 }]))
    });
    let records = records.chain(levels);
    let all = matrices.chain(others).chain(hexagons).chain(planes).chain(tiles).chain(tiles_of_space).chain(records);
    for (name, text) in all {
        let sources = Sources::read(&text, &options()).unwrap();
        let unit =
            sources.unit(&sources.functions()[0], &[]).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
        let built = unit.build(Backend::Cuda).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
        let source = built.cuda(&unit).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
        match nvrtc.compile(&source.kernels, "f.cu", Target::Cubin(90), &["-fmad=false"]) {
            Err(error) => failures.push(format!("{name}: {error}")),
            Ok(compiled) if compiled.log.trim().is_empty() => {}
            Ok(compiled) => failures.push(format!("{name}: {}", compiled.log)),
        }
    }
    report(failures);
}

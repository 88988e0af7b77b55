//! Programs for each command of a schedule: `storage/NAME.jl` and `commands/NAME.jl`. Each is executed as its loops stand,
//! by an interpreter that sees races, missing barriers and elements that nothing stored, and compared with the source bit
//! for bit; its text is recorded, and compiled where it is CUDA.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use tessella::file::{FileOptions, ScheduleSource, Sources};
use tessella::request::{Backend, TextKind};
use tessella_codegen::barriers::Origin;
use tessella_codegen::program::{For, Node, Program as Loops, Spread, Statement};
use tessella_codegen::{CodegenError, Input, barriers, generate};
use tessella_frontend::typed::tree::Type as ArgumentType;
use tessella_interpreter::scheduled::{self, Completion, ScheduledError};
use tessella_interpreter::{Array, Value, run_within};
use tessella_lowering::schedule::command_names;
use tessella_polyhedral::schedule::Tag;
use tessella_runtime::cuda::{Nvrtc, Target};
use tessella_scalar::{Constant, ScalarType};
use tessella_tests::{golden, julia_files, report, root};

const FOLDERS: [&str; 2] = ["tests/storage", "tests/commands"];

struct Program {
    folder: &'static str,
    name: String,
    text: String,
    backend: Backend,
    /// For each argument by name: its extents, or its value, as letters for sizes and numbers.
    sizes: Vec<(String, Vec<String>)>,
}

fn programs() -> Vec<Program> {
    let is_program = |path: &PathBuf| path.file_name().is_some_and(|name| name != "registry.jl");
    let of_folder =
        |folder| julia_files(&root().join(folder)).into_iter().filter(is_program).map(move |it| program(folder, &it));
    FOLDERS.into_iter().flat_map(of_folder).collect()
}

fn program(folder: &'static str, path: &std::path::Path) -> Program {
    let name = path.file_stem().unwrap().to_str().unwrap().to_string();
    let text = fs::read_to_string(path).unwrap();
    let (mut backend, mut sizes) = (None, vec![]);
    for line in text.lines().filter_map(|line| line.strip_prefix("#! ")) {
        match line.split_once(' ') {
            Some(("target", "cuda")) => backend = Some(Backend::Cuda),
            Some(("target", "c")) => backend = Some(Backend::C),
            Some(("sizes", all)) => {
                let one = |it: &str| it.split(',').map(str::to_string).collect();
                let pairs = all.split(' ').map(|pair| pair.split_once('=').expect("a size is ARGUMENT=SIZES"));
                sizes = pairs.map(|(argument, its)| (argument.to_string(), one(its))).collect();
            }
            _ => panic!("{name}: `#! {line}` is no option of a program"),
        }
    }
    Program { folder, name, text, backend: backend.expect("a program has a target"), sizes }
}

fn options(name: &str) -> FileOptions {
    FileOptions { name: format!("{name}.jl"), function: None, types: vec![], schedule: ScheduleSource::InFile }
}

/// Arguments for values of the letters.
fn arguments(program: &Program, order: &[(String, ArgumentType)], of: &dyn Fn(&str) -> u64) -> Vec<Value> {
    let mut made = vec![];
    for (at, (name, ty)) in order.iter().enumerate() {
        let sizes = &program.sizes.iter().find(|(known, _)| known == name).expect("every argument has sizes").1;
        let values: Vec<u64> = sizes.iter().map(|size| size.parse().unwrap_or_else(|_| of(size))).collect();
        made.push(match ty {
            ArgumentType::Scalar(_) => Value::Scalar(Constant::i64(values[0] as i64)),
            ArgumentType::Array { element, .. } => {
                let value = |position: usize| {
                    let value = ((position * (2 * at + 3) + at) % 17) as f64 / 8.0 - 0.75;
                    match element {
                        ScalarType::F32 => Constant::f32(value as f32),
                        ScalarType::I32 | ScalarType::I64 => Constant::integer(*element, (8.0 * value) as i128),
                        _ => Constant::f64(value),
                    }
                };
                Value::Array(Array::from_fn(*element, values, value).unwrap())
            }
        });
    }
    made
}

#[test]
fn programs_with_storage_compute_what_the_source_does() {
    let mut failures = vec![];
    for program in programs() {
        let sources = Sources::read(&program.text, &options(&program.name)).unwrap();
        let [item] = sources.functions() else { panic!("{}: not one function", program.name) };
        let unit = sources.unit(item, &[]).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
        let built = match unit.build(program.backend) {
            Ok(built) => built,
            Err(errors) => {
                failures.push(format!("{} was refused:\n{}", program.name, sources.show(&errors)));
                continue;
            }
        };
        let input = Input::from(&built.analysed.verified);
        let loops = generate(&input).unwrap_or_else(|error| panic!("{}: {error}", program.name));
        let order: Vec<_> = unit
            .function
            .arguments
            .iter()
            .map(|id| &unit.function.locals[id.0 as usize])
            .map(|local| (local.name.clone(), local.ty))
            .collect();
        let mut runs = 0;
        for m in [0, 1, 5, 13] {
            for (n, p, s) in [(0, 1, 2), (5, 0, 1), (9, 5, 3)] {
                let of = |letter: &str| match letter {
                    "m" => m,
                    "n" => n,
                    "p" => p,
                    "s" => s,
                    other => panic!("{}: `{other}` is no size", program.name),
                };
                let arguments = arguments(&program, &order, &of);
                let mut expected = arguments.clone();
                let outcome = run_within(50_000_000, &unit.function, &mut expected);
                let mut actual = arguments.clone();
                let sizes = format!("{} for m = {m}, n = {n}, p = {p}, s = {s}", program.name);
                match (outcome, scheduled::run(&input, &loops, &mut actual, m * 1000 + n)) {
                    (Ok(_), Ok(Completion::Done(_))) if actual == expected => runs += 1,
                    (Err(_), Ok(Completion::Refused { .. })) => {}
                    (Ok(_), Ok(Completion::Done(_))) => failures.push(format!("{sizes}: another result")),
                    (outcome, done) => failures.push(format!("{sizes}: {outcome:?} and {done:?}\n{loops}")),
                }
            }
        }
        if runs < 6 {
            failures.push(format!("{}: only {runs} runs", program.name));
        }
    }
    report(failures);
}

#[test]
fn programs_with_storage_become_what_is_recorded() {
    let mut failures = vec![];
    for program in programs() {
        let text = match program.backend {
            Backend::Cuda => (TextKind::Cuda, "cu"),
            Backend::C | Backend::Interpreter => (TextKind::C, "c"),
        };
        for (kind, extension) in [text, (TextKind::Schedule, "schedule.txt")] {
            match tessella::file::transpile(&program.text, &options(&program.name), program.backend, kind) {
                Ok(printed) => {
                    let path = root().join(format!("{}/{}.{extension}", program.folder, program.name));
                    failures.extend(golden(&path, &printed).err());
                }
                Err(diagnostics) => failures.push(format!("{} was refused:\n{diagnostics}", program.name)),
            }
        }
    }
    report(failures);
}

/// The commands of a program's schedule, as a file of nothing but commands holds them, and the program without them.
fn apart(text: &str) -> (String, String) {
    let (before, rest) = text.split_once("\n@schedule ").expect("the file has a schedule");
    let (block, after) = rest.split_once("\nend\n").expect("a schedule ends");
    let (_, commands) = block.split_once('\n').expect("a schedule has a line for its name");
    (commands.to_string(), format!("{before}\n{after}"))
}

#[test]
fn commands_in_a_file_of_their_own_do_the_same() {
    let mut failures = vec![];
    for program in programs() {
        let (commands, rest) = apart(&program.text);
        let of_file = ScheduleSource::Text { text: commands, name: format!("{}.schedule", program.name) };
        let options = options(&program.name);
        let own = tessella::file::transpile(&program.text, &options, program.backend, TextKind::Loops);
        let options = FileOptions { schedule: of_file, ..options };
        let read = tessella::file::transpile(&rest, &options, program.backend, TextKind::Loops);
        if own != read {
            failures.push(format!("{}: {own:?} in the file, {read:?} apart", program.name));
        }
    }
    report(failures);
}

#[test]
fn every_command_has_a_program() {
    let mut used = BTreeSet::new();
    for program in programs() {
        let sources = Sources::read(&program.text, &options(&program.name)).unwrap();
        let unit =
            sources.unit(&sources.functions()[0], &[]).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
        for command in unit.commands.iter().flatten() {
            let text = command.value.to_string();
            let word = text.split(['(', ' ']).next().unwrap_or_default();
            // Loops written out may begin with a tag.
            used.insert(if word.starts_with('@') { "for" } else { word }.to_string());
        }
    }
    // Loops written out are a command, too.
    let known: BTreeSet<String> = command_names().chain(["for"]).map(str::to_string).collect();
    assert_eq!(used, known);
}

#[test]
fn kernels_with_storage_compile() {
    let nvrtc = match Nvrtc::get() {
        Ok(nvrtc) => nvrtc,
        Err(error) => {
            println!("skipped: {error}");
            return;
        }
    };
    let mut failures = vec![];
    for program in programs().into_iter().filter(|it| it.backend == Backend::Cuda) {
        let sources = Sources::read(&program.text, &options(&program.name)).unwrap();
        let unit =
            sources.unit(&sources.functions()[0], &[]).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
        let built = unit.build(Backend::Cuda).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
        let source = built.cuda(&unit).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
        match nvrtc.compile(&source.kernels, &format!("{}.cu", program.name), Target::Cubin(90), &["-fmad=false"]) {
            Err(error) => failures.push(format!("{}: {error}", program.name)),
            Ok(compiled) if compiled.log.trim().is_empty() => {}
            Ok(compiled) => failures.push(format!("{}: {}", program.name, compiled.log)),
        }
    }
    report(failures);
}

fn explained(program: &Program) -> Result<String, String> {
    tessella::file::transpile(&program.text, &options(&program.name), program.backend, TextKind::Explain)
}

#[test]
fn explain_says_what_constant_does() {
    let of = |wanted: &str| {
        let program = programs().into_iter().find(|it| it.name == wanted).expect("the program exists");
        explained(&program).unwrap()
    };
    let (gpu, cpu) = (of("conv_constant"), of("taps_constant"));
    assert!(gpu.contains("weights: copied to the GPU's constant memory, 35 elements at most, once"), "{gpu}");
    assert!(cpu.contains("taps: stays where it is: the CPU has no constant memory"), "{cpu}");
}

/// The nodes without barriers.
fn without_barriers(nodes: Vec<Node>) -> Vec<Node> {
    let mut kept = vec![];
    for node in nodes {
        kept.push(match node {
            Node::Barrier => continue,
            Node::For(it) => Node::For(For { body: without_barriers(it.body), ..it }),
            Node::Spread(it) => Node::Spread(Spread { body: without_barriers(it.body), ..it }),
            Node::Declare { buffer, body } => Node::Declare { buffer, body: without_barriers(body) },
            Node::If { condition, then, otherwise } => {
                Node::If { condition, then: without_barriers(then), otherwise: without_barriers(otherwise) }
            }
            other => other,
        });
    }
    kept
}

/// Where the loops of a kernel come from that no loop of the host stands around.
fn origin(loops: &Loops) -> Origin<'_> {
    Origin { loops: &loops.loops, host: &[] }
}

/// Another body for all kernels that have this one: one of 64 bits and one of 32.
fn replace(loops: &mut Loops, old: &[Node], new: &[Node]) {
    for kernel in loops.kernels.iter_mut().filter(|kernel| kernel.body == old) {
        kernel.body = new.to_vec();
    }
}

#[test]
fn a_missing_barrier_is_seen_by_the_check_and_by_the_interpreter() {
    let mut shared = 0;
    for program in programs().into_iter().filter(|it| it.backend == Backend::Cuda) {
        let sources = Sources::read(&program.text, &options(&program.name)).unwrap();
        let unit =
            sources.unit(&sources.functions()[0], &[]).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
        let built = unit.build(Backend::Cuda).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
        let input = Input::from(&built.analysed.verified);
        let mut loops = generate(&input).unwrap_or_else(|error| panic!("{}: {error}", program.name));
        let Some(kernel) = loops.kernels.iter().find(|kernel| !kernel.shared.is_empty()).cloned() else { continue };
        shared += 1;
        assert_eq!(barriers::check(&input, origin(&loops), &kernel.name, &kernel.body), Ok(()));
        let body = without_barriers(kernel.body.clone());
        let checked = barriers::check(&input, origin(&loops), &kernel.name, &body);
        replace(&mut loops, &kernel.body, &body);
        assert!(matches!(checked, Err(CodegenError::Barrier { .. })), "{}: {checked:?}", program.name);

        let order: Vec<_> = (unit.function.arguments.iter())
            .map(|id| &unit.function.locals[id.0 as usize])
            .map(|local| (local.name.clone(), local.ty))
            .collect();
        let mut arguments = arguments(&program, &order, &|_| 9);
        let done = scheduled::run(&input, &loops, &mut arguments, 1);
        let seen = matches!(done, Err(ScheduledError::Race { .. } | ScheduledError::Undefined { .. }));
        assert!(seen, "{}: {done:?}", program.name);
    }
    assert!(shared >= 3, "{shared} programs share memory");
}

/// The nodes without the barrier of this number.
fn without_barrier(nodes: Vec<Node>, number: usize, next: &mut usize) -> Vec<Node> {
    let mut kept = vec![];
    for node in nodes {
        kept.push(match node {
            Node::Barrier => {
                *next += 1;
                if *next - 1 == number {
                    continue;
                }
                Node::Barrier
            }
            Node::For(it) => Node::For(For { body: without_barrier(it.body, number, next), ..it }),
            Node::Spread(it) => Node::Spread(Spread { body: without_barrier(it.body, number, next), ..it }),
            Node::Declare { buffer, body } => Node::Declare { buffer, body: without_barrier(body, number, next) },
            Node::If { condition, then, otherwise } => {
                let then = without_barrier(then, number, next);
                Node::If { condition, then, otherwise: without_barrier(otherwise, number, next) }
            }
            other => other,
        });
    }
    kept
}

#[test]
fn each_barrier_between_steps_of_own_elements_is_needed() {
    let program = programs().into_iter().find(|it| it.name == "own_elements").expect("the program exists");
    let sources = Sources::read(&program.text, &options(&program.name)).unwrap();
    let unit = sources.unit(&sources.functions()[0], &[]).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
    let built = unit.build(Backend::Cuda).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
    let input = Input::from(&built.analysed.verified);
    let order: Vec<_> = (unit.function.arguments.iter())
        .map(|id| &unit.function.locals[id.0 as usize])
        .map(|local| (local.name.clone(), local.ty))
        .collect();
    let whole = generate(&input).unwrap();
    let kernel = whole.kernels[0].clone();
    let mut barriers_seen = 0;
    without_barrier(kernel.body.clone(), usize::MAX, &mut barriers_seen);
    assert!(barriers_seen > 1, "{whole}");
    for number in 0..barriers_seen {
        let body = without_barrier(kernel.body.clone(), number, &mut 0);
        let checked = barriers::check(&input, origin(&whole), &kernel.name, &body);
        assert!(matches!(checked, Err(CodegenError::Barrier { .. })), "{number}: {checked:?}");
        let mut loops = whole.clone();
        replace(&mut loops, &kernel.body, &body);
        let done = scheduled::run(&input, &loops, &mut arguments(&program, &order, &|_| 9), 1);
        let seen = matches!(done, Err(ScheduledError::Race { .. } | ScheduledError::Undefined { .. }));
        assert!(seen, "{number}: {done:?}\n{loops}");
    }
}

/// The nodes with other waits for copies ahead: `None` takes one out.
fn with_waits(nodes: Vec<Node>, change: fn(u32) -> Option<u32>) -> Vec<Node> {
    let inside = |nodes: Vec<Node>| with_waits(nodes, change);
    let mut kept = vec![];
    for node in nodes {
        kept.push(match node {
            Node::Await(later) => match change(later) {
                Some(later) => Node::Await(later),
                None => continue,
            },
            Node::For(it) => Node::For(For { body: inside(it.body), ..it }),
            Node::Spread(it) => Node::Spread(Spread { body: inside(it.body), ..it }),
            Node::Declare { buffer, body } => Node::Declare { buffer, body: inside(body) },
            Node::If { condition, then, otherwise } => {
                Node::If { condition, then: inside(then), otherwise: inside(otherwise) }
            }
            other => other,
        });
    }
    kept
}

#[test]
fn a_wait_that_is_missing_or_too_short_is_seen_by_the_check_and_by_the_interpreter() {
    let program = programs().into_iter().find(|it| it.name == "sums_ahead").expect("the program exists");
    let sources = Sources::read(&program.text, &options(&program.name)).unwrap();
    let unit = sources.unit(&sources.functions()[0], &[]).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
    let built = unit.build(Backend::Cuda).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
    let input = Input::from(&built.analysed.verified);
    let order: Vec<_> = (unit.function.arguments.iter())
        .map(|id| &unit.function.locals[id.0 as usize])
        .map(|local| (local.name.clone(), local.ty))
        .collect();
    let changes: [fn(u32) -> Option<u32>; 2] = [|_| None, |later| Some(later + 1)];
    for change in changes {
        let mut loops = generate(&input).unwrap();
        let kernel = loops.kernels[0].clone();
        assert_eq!(barriers::check(&input, origin(&loops), &kernel.name, &kernel.body), Ok(()));
        let body = with_waits(kernel.body.clone(), change);
        let checked = barriers::check(&input, origin(&loops), &kernel.name, &body);
        replace(&mut loops, &kernel.body, &body);
        assert!(matches!(checked, Err(CodegenError::Barrier { .. })), "{checked:?}");
        let done = scheduled::run(&input, &loops, &mut arguments(&program, &order, &|_| 9), 1);
        assert!(matches!(done, Err(ScheduledError::Undefined { .. })), "{done:?}");
    }
}

/// The nodes with tests in unrolled loops that keep nothing from running, and how many there are.
fn with_tests_open(nodes: Vec<Node>, unrolled: bool, opened: &mut usize) -> Vec<Node> {
    let mut done = vec![];
    for node in nodes {
        done.push(match node {
            Node::If { condition, then, otherwise } if unrolled && otherwise.is_empty() => {
                *opened += 1;
                let then = with_tests_open(then, unrolled, opened);
                done.extend(then.into_iter().map(|node| match node {
                    Node::Statement(it) => Node::Statement(Statement { inside: Some(condition.clone()), ..it }),
                    other => other,
                }));
                continue;
            }
            Node::For(it) => {
                let unrolled = unrolled || matches!(it.tag, Tag::Unroll(_));
                Node::For(For { body: with_tests_open(it.body, unrolled, opened), ..it })
            }
            Node::Spread(it) => Node::Spread(Spread { body: with_tests_open(it.body, unrolled, opened), ..it }),
            Node::Declare { buffer, body } => Node::Declare { buffer, body: with_tests_open(body, unrolled, opened) },
            Node::If { condition, then, otherwise } => Node::If {
                condition,
                then: with_tests_open(then, unrolled, opened),
                otherwise: with_tests_open(otherwise, unrolled, opened),
            },
            other => other,
        });
    }
    done
}

/// The statements of kernels that run past the edge of their domain, too.
fn past_the_edge(loops: &Loops) -> usize {
    let mut found = 0;
    for node in loops.kernels.iter().flat_map(|kernel| &kernel.body) {
        node.walk(&mut |node| found += usize::from(matches!(node, Node::Statement(Statement { inside: Some(_), .. }))));
    }
    found
}

#[test]
fn register_tiles_run_past_the_edge_only_where_nobody_reads_what_they_write() {
    let find = |name: &str| programs().into_iter().find(|it| it.name == name).expect("the program exists");
    let read = |program: &Program| Sources::read(&program.text, &options(&program.name)).unwrap();
    let sources = read(&find("gemm_registers"));
    let unit = sources.unit(&sources.functions()[0], &[]).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
    let built = unit.build(Backend::Cuda).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
    assert!(past_the_edge(&generate(&Input::from(&built.analysed.verified)).unwrap()) > 0);

    let program = find("triangle_registers");
    let sources = read(&program);
    let unit = sources.unit(&sources.functions()[0], &[]).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
    let built = unit.build(Backend::Cuda).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
    let input = Input::from(&built.analysed.verified);
    let mut loops = generate(&input).unwrap();
    // The test of the last column goes, that of the diagonal stays.
    assert!(past_the_edge(&loops) > 0, "{loops}");
    let mut opened = 0;
    for kernel in &mut loops.kernels {
        kernel.body = with_tests_open(std::mem::take(&mut kernel.body), false, &mut opened);
    }
    assert!(opened > 0, "{loops}");
    let order: Vec<_> = (unit.function.arguments.iter())
        .map(|id| &unit.function.locals[id.0 as usize])
        .map(|local| (local.name.clone(), local.ty))
        .collect();
    // No tile reaches past the edge of an array, so that copies without tests touch nothing else.
    let done = scheduled::run(&input, &loops, &mut arguments(&program, &order, &|_| 8), 1);
    assert!(matches!(done, Err(ScheduledError::Undefined { .. })), "{done:?}");
}

#[test]
fn storage_commands_read_back_as_they_are_printed() {
    let ring = fs::read_to_string(root().join("tests/storage/ring.jl")).unwrap();
    let commands = [
        "store_in(S, rows, (t, i) -> (t % 2, i))",
        "store_in(S, rows, (t, i) -> (3 * mod(t + i, 4) + 1, -i))",
        "store_in(S, rows, (t, i) -> (i - 2 * fld(t, 3), (t % 5) % 2))",
        "store_in(S, rows, t -> t)",
        "cache_shared(W, S, i)",
        "cache_shared(W, S, i; ahead=2)",
        "cache_shared(W, S, i; axes=(2, 1))",
        "cache_shared(W, S, i; ahead=1, axes=(2, 1))",
        "cache_shared(W, S, i; threads=:footprint)",
        "cache_shared(W, S, i; ahead=1, axes=(2, 1), threads=:footprint)",
        "cache_register(W, S, t)",
        "pad(W, (0, 3))",
        "pad(W, 1)",
        "copy_in(W, t)",
        "copy_out(W, S, t; once=true)",
        "synchronize(S, t)",
        "prefetch(W, S, i, 4)",
        "allocate(rows, S, t)",
        "free(rows, t; once=true)",
    ];
    let read = |command: &str| {
        let text = ring.replace("store_in(S, rows, (t, i) -> (t % 2, i))", command);
        let sources = Sources::read(&text, &options("ring")).unwrap_or_else(|error| panic!("{command}: {error}"));
        let unit =
            sources.unit(&sources.functions()[0], &[]).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
        unit.commands.expect("the file has a schedule").remove(0).value
    };
    for command in commands {
        let once = read(command);
        let printed = once.to_string();
        assert_eq!(read(&printed), once, "{command} is printed as {printed}");
    }
}

#[test]
fn the_natural_order_of_axes_is_not_printed() {
    let ring = fs::read_to_string(root().join("tests/storage/ring.jl")).unwrap();
    let text = ring.replace("store_in(S, rows, (t, i) -> (t % 2, i))", "cache_shared(W, S, i; axes=(1, 2))");
    let sources = Sources::read(&text, &options("ring")).unwrap();
    let unit = sources.unit(&sources.functions()[0], &[]).unwrap();
    assert_eq!(unit.commands.expect("the file has a schedule")[0].value.to_string(), "cache_shared(W, S, i)");
}

#[test]
fn pad_speaks_of_the_arrays_axes_whatever_their_order_in_the_buffer() {
    let program = programs().into_iter().find(|it| it.name == "gemm_groups").expect("the program exists");
    // Four rows and eight columns of B, two stages; what is free before the first element is so in each of the buffer's columns.
    for (pad, wanted) in [
        ("pad(B, (0, 2))", [10, 4, 2]),
        ("pad(B, (2, 0))", [8, 6, 2]),
        ("pad(B, (1, 0); before=3, multiple=4)", [12, 5, 2]),
    ] {
        let text = program.text.replace("pad(B, (0, 2))", pad);
        let sources = Sources::read(&text, &options(&program.name)).unwrap();
        let unit =
            sources.unit(&sources.functions()[0], &[]).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
        let built = unit.build(Backend::Cuda).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
        let input = Input::from(&built.analysed.verified);
        let buffer = input.layout.buffers.iter().find(|it| it.name == "B_shared").expect("B is in shared memory");
        let extents: Vec<i64> = buffer.extents.iter().map(|it| it.as_constant().unwrap()).collect();
        assert_eq!(extents, wanted, "{pad}");
    }
}

//! Stencils of `stencils/NAME.jl` under each shape of a `#! with` line: for the sizes of each `#! run` line the compiled
//! program gives what the interpreter of the source gives, bit for bit. So does Tessella's own choice for those of each `#! own` line.
//!
//! The same shapes on a GPU, or in their place those of `#! gpu` lines: compiled, and executed block by block and thread by
//! thread by an interpreter that sees races and missing barriers. A line `#! refused CODE SHAPE` says what a GPU does not
//! get, `#! no gpu WORD` leaves out a shape that takes too long to refuse.

use std::fs;
use tessella::file::{FileOptions, ScheduleSource, Sources};
use tessella::request::{Backend, Options, TextKind};
use tessella::run::{Failed, RunOptions, inputs, run};
use tessella::session::load;
use tessella_codegen::program::{Blocks, Node};
use tessella_codegen::{Input, generate};
use tessella_interpreter::run_within;
use tessella_interpreter::scheduled::{self, Completion, ScheduledError};
use tessella_polyhedral::layers::MemorySpace;
use tessella_runtime::cuda::{Nvrtc, Target};
use tessella_tests::{julia_files, report, root};

fn lines<'a>(text: &'a str, prefix: &'a str) -> impl Iterator<Item = &'a str> {
    text.lines().filter_map(move |line| line.strip_prefix(prefix))
}

#[test]
fn tilings_of_time_compute_what_the_source_says() {
    let mut failures = vec![];
    for path in julia_files(&root().join("tests/stencils")) {
        let text = fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap().to_string();
        assert!(lines(&text, "#! with ").count() > 0, "{name} has no line `#! with hexagonal(...)`");
        assert!(lines(&text, "#! run ").count() > 0, "{name} has no line `#! run n=1`");
        for command in lines(&text, "#! with ") {
            for sizes in lines(&text, "#! run ") {
                let failed = one(&text, &name, command, sizes).err();
                failures.extend(failed.map(|said| format!("{name}, {command}, {sizes}: {said}")));
            }
        }
    }
    report(failures);
}

/// Tessella's own choice for the sizes of `#! own` lines, which are several whole hexagons long and no multiple of any.
#[test]
fn own_choices_compute_what_the_source_says() {
    let (mut failures, mut ran) = (vec![], 0);
    for path in julia_files(&root().join("tests/stencils")) {
        let text = fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap().to_string();
        for sizes in lines(&text, "#! own ") {
            let failed = under(&text, &name, ScheduleSource::InFile, sizes).err();
            failures.extend(failed.map(|said| format!("{name}, {sizes}: {said}")));
            ran += 1;
        }
    }
    report(failures);
    assert!(ran > 5, "lines `#! own n=100` are missing");
}

/// Arrays of tiles stand in for arguments; what sizes ask of the arguments is told of these, as without tiles.
#[test]
fn a_subscript_that_is_outside_is_one_of_the_argument_under_overlapping_tiles() {
    let text = fs::read_to_string(root().join("tests/stencils/swapped_sizes2d.jl")).unwrap();
    let failures = |command: &str| {
        let schedule = ScheduleSource::Text { text: command.to_string(), name: "command.jl".to_string() };
        let options = FileOptions { name: "swapped_sizes2d.jl".to_string(), function: None, types: vec![], schedule };
        let sources = Sources::read(&text, &options).unwrap();
        let unit = sources.unit(&sources.functions()[0], &[]).unwrap();
        let built = unit.build(Backend::C).map_err(|errors| sources.show(&errors)).unwrap();
        let program = load(&unit, &built, Backend::C, &Options::default()).map_err(|it| it.1).unwrap();
        let mut all: Vec<String> = (1..).map_while(|code| program.failure(code)).map(|it| it.to_string()).collect();
        all.sort();
        all
    };
    let tiled = failures("overlapped(S, t, (j, i), 3, (8, 8))");
    assert!(tiled.iter().any(|it| it.starts_with("kind=bounds\nargument=0\n")), "{tiled:?}");
    assert_eq!(tiled, failures("space(S, t, (j, i), (8, 8))"));
}

/// Runs a program under a command for the sizes of one line.
fn one(text: &str, name: &str, command: &str, sizes: &str) -> Result<(), String> {
    under(text, name, ScheduleSource::Text { text: command.to_string(), name: "command.jl".to_string() }, sizes)
}

fn under(text: &str, name: &str, schedule: ScheduleSource, sizes: &str) -> Result<(), String> {
    let options = FileOptions { name: name.to_string(), function: None, types: vec![], schedule };
    let outcomes = run(text, &options, &run_options(sizes), Backend::C).map_err(said)?;
    match outcomes.iter().flat_map(|outcome| outcome.differences.first()).next() {
        None => Ok(()),
        Some(difference) => Err(difference.clone()),
    }
}

fn run_options(sizes: &str) -> RunOptions {
    let sizes = sizes.split(' ').map(|pair| {
        let (name, value) = pair.split_once('=').expect("a size is NAME=VALUE");
        (name.to_string(), value.parse().expect("a size is a number"))
    });
    RunOptions {
        sizes: sizes.collect(),
        values: vec![],
        seed: 7,
        repeat: 1,
        compare: true,
        profile: false,
        chunked: false,
    }
}

fn said(failed: Failed) -> String {
    match failed {
        Failed::Refused(text) | Failed::ToolChain(text) | Failed::Usage(text) => text,
    }
}

#[test]
fn hexagons_run_on_a_gpu() {
    run_on_a_gpu("hexagonal");
}

/// Hexagons whose dimensions are all tiled can compute in shared memory, in both phases.
#[test]
fn hexagons_keep_values_in_shared_memory_where_commands_say_so() {
    let shared = |name: &str, command: &str| -> Vec<String> {
        let text = fs::read_to_string(root().join("tests/stencils").join(name)).unwrap();
        let schedule = ScheduleSource::Text { text: command.to_string(), name: "command.jl".to_string() };
        let options = FileOptions { name: name.to_string(), function: None, types: vec![], schedule };
        let sources = Sources::read(&text, &options).unwrap();
        let unit = sources.unit(&sources.functions()[0], &[]).unwrap();
        let built = unit.build(Backend::Cuda).map_err(|errors| sources.show(&errors)).unwrap();
        let told = built.text(&unit, Backend::Cuda, TextKind::Explain).map_err(|errors| sources.show(&errors));
        assert!(told.unwrap().contains("Statements"), "{name}, {command}");
        let buffers = &built.analysed.verified.layout().buffers;
        let in_shared = buffers.iter().filter(|it| it.space == MemorySpace::Shared);
        in_shared.map(|it| it.name.clone()).collect()
    };
    let tiles = "hexagonal((S, R), t, (j, i), 3, (4, 8))";
    assert_eq!(shared("heat2d.jl", tiles), [""; 0]);
    let phase = |of: &str| format!("cache_shared(A, {of}, i0); cache_shared(B, {of}, i0)");
    let all = format!("{tiles}; {}; {}", phase("S"), phase("S_phase1"));
    assert_eq!(shared("heat2d.jl", &all).len(), 4);
    let line = "hexagonal((S, R), t, i, 7, 5); cache_shared(A, S, i0); cache_shared(A, S_phase1, i0)";
    assert_eq!(shared("jacobi1d.jl", line).len(), 2);
}

#[test]
fn skewed_tiles_run_on_a_gpu() {
    run_on_a_gpu("time_skew");
}

#[test]
fn tiles_of_space_run_on_a_gpu() {
    run_on_a_gpu("space");
}

#[test]
fn overlapping_tiles_run_on_a_gpu() {
    run_on_a_gpu("overlapped");
}

#[test]
fn steps_in_one_kernel_run_on_a_gpu() {
    run_on_a_gpu("grid_sync");
}

#[test]
fn streams_run_on_a_gpu() {
    run_on_a_gpu("stream");
}

#[test]
fn a_missing_barrier_of_the_grid_is_seen() {
    let text = fs::read_to_string(root().join("tests/stencils/heat2d.jl")).unwrap();
    let schedule =
        ScheduleSource::Text { text: "grid_sync((S, R), t, (j, i), (4, 8))".into(), name: "command.jl".to_string() };
    let options = FileOptions { name: "heat2d.jl".to_string(), function: None, types: vec![], schedule };
    let sources = Sources::read(&text, &options).unwrap();
    let unit = sources.unit(&sources.functions()[0], &[]).unwrap();
    let built = unit.build(Backend::Cuda).map_err(|errors| sources.show(&errors)).unwrap();
    let input = Input::from(&built.analysed.verified);
    let mut loops = generate(&input).unwrap();
    let together = loops.kernels.iter_mut().filter(|it| it.blocks == Blocks::Together);
    assert_eq!(together.map(|kernel| without_barriers(&mut kernel.body)).collect::<Vec<_>>(), [2, 2]);
    let mut arguments = inputs(&unit, &built, &run_options("m=13 n=17 steps=3")).map_err(said).unwrap();
    let failed = scheduled::run(&input, &loops, &mut arguments, 1).unwrap_err();
    assert!(matches!(failed, ScheduledError::Race { .. }), "{failed}");
}

/// Takes the barriers of the grid away, and says how many there were.
fn without_barriers(nodes: &mut Vec<Node>) -> usize {
    let all = nodes.len();
    nodes.retain(|node| *node != Node::GridBarrier);
    let inside = nodes.iter_mut().map(|node| match node {
        Node::For(it) => without_barriers(&mut it.body),
        _ => 0,
    });
    let inside: usize = inside.sum();
    all - nodes.len() + inside
}

/// Each program under the commands for the shape in its `#! gpu` lines, or else under the first of its `#! with` lines.
fn run_on_a_gpu(shape: &str) {
    // NVRTC takes up to half a minute for a stream of a wide stencil: `streams.rs` compiles some narrow ones.
    let nvrtc = if shape == "stream" { None } else { Nvrtc::get().ok() };
    let (mut failures, mut ran) = (vec![], 0);
    for path in julia_files(&root().join("tests/stencils")) {
        let text = fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap().to_string();
        let refused: Vec<(&str, &str)> = lines(&text, "#! refused ").filter_map(|line| line.split_once(' ')).collect();
        let of_shape = |command: &&str| command.split("; ").any(|one| one.split('(').next() == Some(shape));
        let mut commands: Vec<&str> = lines(&text, "#! gpu ").filter(of_shape).collect();
        if commands.is_empty() && !lines(&text, "#! no gpu ").any(|line| line == shape) {
            commands.extend(lines(&text, "#! with ").find(of_shape));
        }
        for command in commands {
            let expected = refused.iter().find(|(_, shape)| *shape == command).map(|(code, _)| *code);
            match (on_gpu(&text, &name, command, nvrtc), expected) {
                (Ok(()), None) => ran += 1,
                (Err(text), Some(code)) if text.starts_with(&format!("error[{code}]")) => {}
                (Ok(()), Some(code)) => failures.push(format!("{name}, {command}: not refused with {code}")),
                (Err(said), _) => failures.push(format!("{name}, {command}: {said}")),
            }
        }
    }
    assert!(ran > 0, "no program has the shape `{shape}`");
    report(failures);
}

/// Compiles what a GPU runs, and executes it for the sizes of all `#! run` lines.
fn on_gpu(text: &str, name: &str, command: &str, nvrtc: Option<&Nvrtc>) -> Result<(), String> {
    let schedule = ScheduleSource::Text { text: command.to_string(), name: "command.jl".to_string() };
    let options = FileOptions { name: name.to_string(), function: None, types: vec![], schedule };
    let sources = Sources::read(text, &options)?;
    let unit = sources.unit(&sources.functions()[0], &[]).map_err(|errors| sources.show(&errors))?;
    let built = unit.build(Backend::Cuda).map_err(|errors| sources.show(&errors))?;
    let source = built.cuda(&unit).map_err(|errors| sources.show(&errors))?;
    if let Some(nvrtc) = nvrtc {
        let compiled =
            nvrtc.compile(&source.kernels, name, Target::Cubin(90), &["-fmad=false"]).map_err(|it| it.to_string())?;
        if !compiled.log.trim().is_empty() {
            return Err(compiled.log);
        }
    }
    let input = Input::from(&built.analysed.verified);
    let loops = built.loops(&unit).map_err(|errors| sources.show(&errors))?;
    for (seed, sizes) in (0..).zip(lines(text, "#! run ")) {
        let mut expected = inputs(&unit, &built, &run_options(sizes)).map_err(said)?;
        let mut actual = expected.clone();
        let outcome = run_within(500_000_000, &unit.function, &mut expected);
        match (outcome, scheduled::run(&input, &loops, &mut actual, seed)) {
            (Ok(_), Ok(Completion::Done(_))) if actual == expected => {}
            (Ok(_), Ok(Completion::Done(_))) => return Err(format!("{sizes}: another result")),
            (outcome, done) => return Err(format!("{sizes}: {outcome:?} and {done:?}")),
        }
    }
    Ok(())
}

//! Schedules that are printed can be read back: `--emit schedule`, then `--schedule FILE`, gives the same order.

use std::fs;
use std::path::PathBuf;
use tessella::file::{self, FileOptions, ScheduleSource, Sources};
use tessella::request::{Backend, TextKind};
use tessella_polyhedral::command::Command;
use tessella_polyhedral::order;
use tessella_tests::{examples, julia_files, report, root};

fn programs() -> Vec<(PathBuf, String)> {
    let kernels = julia_files(&root().join("tests/polybench"));
    let all = examples().into_iter().chain(kernels).map(|path| {
        let text = fs::read_to_string(&path).unwrap();
        (path, text)
    });
    all.filter(|(_, text)| text.lines().any(|line| line.starts_with("@tessella"))).collect()
}

fn options(schedule: ScheduleSource) -> FileOptions {
    FileOptions { name: "program.jl".into(), function: None, types: vec![], schedule }
}

fn from_text(text: &str) -> FileOptions {
    options(ScheduleSource::Text { text: text.to_string(), name: "schedule.jl".into() })
}

/// The trees of a printed schedule.
fn trees(printed: &str) -> Vec<&str> {
    printed.lines().filter(|line| line.starts_with("# ")).collect()
}

#[test]
fn printed_schedules_are_read_back() {
    let mut failures = vec![];
    for (path, text) in programs() {
        // As Tessella chooses, and as the file says.
        for backend in [Backend::C, Backend::Cuda] {
            let auto = ScheduleSource::Text { text: "auto()".into(), name: "auto.jl".into() };
            let has_own = text.contains("@schedule");
            for own in std::iter::once(auto).chain(has_own.then_some(ScheduleSource::InFile)) {
                let printed = file::transpile(&text, &options(own), backend, TextKind::Schedule).unwrap();
                match file::transpile(&text, &from_text(&printed), backend, TextKind::Schedule) {
                    Ok(again) if again == printed => {}
                    Ok(again) => failures.push(format!("{}:\n{printed}\nbecame\n{again}", path.display())),
                    Err(said) => failures.push(format!("{}:\n{printed}\nis refused:\n{said}", path.display())),
                }
            }
        }
    }
    report(failures);
}

#[test]
fn every_tree_can_be_written_out() {
    let mut failures = vec![];
    for (path, text) in programs() {
        for backend in [Backend::C, Backend::Cuda] {
            let sources = Sources::read(&text, &options(ScheduleSource::InFile)).unwrap();
            let mut written = String::new();
            let mut expected = String::new();
            for item in sources.functions() {
                let unit = sources.unit(item, &[]).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
                let built = unit.build(backend).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
                let verified = &built.analysed.verified;
                // Copies that belong to Tessella's own storage are added once the order stands.
                let (algorithm, schedule) = match &built.analysed.chosen {
                    Some(chosen) => (&chosen.scheduled.algorithm, &chosen.scheduled.schedule),
                    None => (verified.algorithm(), verified.schedule()),
                };
                written.push_str(&format!("@schedule {} begin\n", algorithm.name));
                // Pieces are made before their order can be written.
                for cut in built.analysed.carried.iter().filter(|it| {
                    matches!(
                        it,
                        Command::Pieces { .. }
                            | Command::PiecesBySize { .. }
                            | Command::Hexagonal { .. }
                            | Command::Privatize { .. }
                    )
                }) {
                    written.push_str(&format!("{cut}\n"));
                }
                for node in order::spell(algorithm, schedule) {
                    written.push_str(&format!("{node}\n"));
                }
                written.push_str("end\n");
                expected.push_str(&tessella_polyhedral::print::schedule(algorithm, schedule));
            }
            match file::transpile(&text, &from_text(&written), backend, TextKind::Schedule) {
                Ok(again) => {
                    let found: Vec<&str> = trees(&again).iter().map(|line| &line[2..]).collect();
                    if found != expected.lines().collect::<Vec<_>>() {
                        failures.push(format!("{}:\n{written}\nbecame\n{again}", path.display()));
                    }
                }
                Err(said) => failures.push(format!("{}:\n{written}\nis refused:\n{said}", path.display())),
            }
        }
    }
    report(failures);
}

const STENCIL: &str = "@tessella function step!(A, B, steps)
    n = length(A)
    for t in 1:steps
        for i in 2:n-1
            @comp S B[i] = A[i-1] + A[i+1]
        end
        for i in 2:n-1
            @comp R A[i] = B[i]
        end
    end
end
";

/// Which of the two it is decides what becomes of domains that blocks cannot hold.
#[test]
fn tiles_that_stay_keep_the_stream_beside_them_or_none() {
    for (commands, tags, comment) in [
        ("grid_sync(S, t, 4, 4, 20, 16, 16)", "@grid_sync 4 4 20 16 16 for t", "grid_sync(4, 4, 20, 16, 16)"),
        (
            "stream(S, t, 6, 4)\n    grid_sync(S, t, 4, 4, 20, 16, 16)",
            "@grid_sync 4 4 20 16 16 @stream 6 4 for t",
            "grid_sync(4, 4, 20, 16, 16), else stream(6, 4)",
        ),
    ] {
        let comment = format!("# for t  # {comment}\n");
        let read = |text: &str| file::transpile(STENCIL, &from_text(text), Backend::Cuda, TextKind::Schedule);
        let printed = read(commands).unwrap();
        assert!(printed.starts_with(&comment) && printed.contains(&format!("begin\n    {commands}\n")), "{printed}");
        assert_eq!(read(&printed).unwrap(), printed);
        let sources = Sources::read(STENCIL, &from_text(commands)).unwrap();
        let unit =
            sources.unit(&sources.functions()[0], &[]).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
        let built = unit.build(Backend::Cuda).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
        let verified = &built.analysed.verified;
        let tree = order::spell(verified.algorithm(), verified.schedule());
        let written = tree.iter().map(|node| format!("{node}\n")).collect::<String>();
        assert!(written.starts_with(&format!("{tags} = t\n")), "{written}");
        let again = read(&written).unwrap();
        assert!(again.starts_with(&comment) && again.contains(tags), "{again}");
    }
}

#[test]
fn loops_written_out_take_functions_of_their_own() {
    // Shifted and fused: `R` overwrites what no later `S` reads.
    let schedule = "for t = t\n    for i = (S = i, R = i + 1)\n        S\n        R\n    end\nend\n";
    let printed = file::transpile(STENCIL, &from_text(schedule), Backend::C, TextKind::Schedule).unwrap();
    assert!(printed.contains("for i = (S = i, R = i + 1)"), "{printed}");
    let again = file::transpile(STENCIL, &from_text(&printed), Backend::C, TextKind::Schedule).unwrap();
    assert_eq!(again, printed);
    let early = schedule.replace("i + 1", "i");
    let refused = file::transpile(STENCIL, &from_text(&early), Backend::C, TextKind::Schedule).unwrap_err();
    assert!(refused.contains("E0401") && refused.contains("first violated pair: S[1, 3] -> R[1, 2]"), "{refused}");
}

#[test]
fn a_schedule_for_another_function_is_refused() {
    let refused = file::transpile(STENCIL, &from_text("@schedule stop! begin\nend\n"), Backend::C, TextKind::Schedule);
    assert!(refused.unwrap_err().contains("defines no function `stop!`"));
}

/// A nest that commands have mapped stays; `auto()` finishes what is left.
#[test]
fn auto_orders_what_commands_have_left() {
    let printed = |schedule: &str, backend: Backend| {
        file::transpile(STENCIL, &from_text(schedule), backend, TextKind::Schedule).unwrap()
    };
    let on_gpu = printed("split(S, i, 64); gpu(S, (i0,), (i1,)); auto()", Backend::Cuda);
    let of_both: Vec<&str> = trees(&on_gpu).into_iter().filter(|line| line.contains("block.x")).collect();
    assert!(of_both.len() == 2 && of_both[0].contains("/64"), "{on_gpu}");
    let on_cpu = printed("unroll(S, i, 2); auto()", Backend::C);
    assert!(on_cpu.contains("for i  # unroll(2)") && on_cpu.contains("# parallel"), "{on_cpu}");
    let lanes = printed("split(S, i, 64); parallel(S, i0); auto()", Backend::C);
    assert!(lanes.contains("floor((i - 2)/64)  # parallel") && lanes.contains("# vector(4)"), "{lanes}");
}

#[test]
fn the_sizes_that_a_refusal_names_are_enough() {
    let text = fs::read_to_string(root().join("tests/ui/e0401_rows_that_meet_for_small_sizes.jl")).unwrap();
    let command = "gpu(S, i, j)";
    let emitted = |text: &str, commands: &str| {
        file::transpile(text, &from_text(commands), Backend::Cuda, TextKind::Schedule).map(|_| ())
    };
    let refused = emitted(&text, command).unwrap_err();
    assert!(refused.contains("`assume(m > 2)`") && refused.contains("`@assert m > 2`"), "{refused}");
    emitted(&text, &format!("assume(m > 2)\n{command}")).unwrap();
    let asserted = text.replace("size(A)\n", "size(A)\n    @assert m > 2\n");
    assert_ne!(asserted, text);
    emitted(&asserted, command).unwrap();
}

/// What commands leave to one thread of a GPU, though it could run in parallel, is told; what has threads, has to wait, or Tessella chose is not.
#[test]
fn loops_that_commands_leave_to_one_thread_are_told() {
    const SUMS: &str = "\
function sums!(A::Vector{Float64}, B::Vector{Float64}, C::Vector{Float64})
    for i in 2:length(A)
        @comp S A[i] = A[i-1] + 1
    end
    for i in eachindex(B)
        @comp R B[i] = 2 * B[i]
    end
    for i in eachindex(C)
        @comp T C[i] = 3 * C[i]
    end
end
";
    let told = |schedule: ScheduleSource, backend: Backend| {
        file::transpile_with_warnings(SUMS, &options(schedule), backend, TextKind::Schedule).unwrap().1
    };
    let text = |text: &str| ScheduleSource::Text { text: text.to_string(), name: "schedule.jl".into() };
    let some = told(text("split(R, i, 64); gpu(R, (i0,), (i1,))"), Backend::Cuda);
    assert!(some.starts_with("warning[E0498]: ") && some.contains("around `T`"), "{some}");
    assert_eq!(some.matches("warning[").count(), 1, "{some}");
    assert_eq!(told(text("split(R, i, 64); gpu(R, (i0,), (i1,)); auto()"), Backend::Cuda), "");
    assert_eq!(told(text("parallel(R, i)"), Backend::C), "");
    assert_eq!(told(ScheduleSource::InFile, Backend::Cuda), "");
}

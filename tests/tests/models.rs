//! What the models say, put to use: shapes that they select run right, arrays are padded where it pays, tiles fit into caches.

use tessella::file::{self, FileOptions, ScheduleSource};
use tessella::model::{self, ProgramOptions, SearchOptions};
use tessella::request::{Backend, TextKind};
use tessella::run::{Failed, RunOptions, run};
use tessella_tests::root;

fn options(schedule: Option<&str>) -> FileOptions {
    let schedule = schedule.map_or(ScheduleSource::InFile, |text| ScheduleSource::Text {
        text: text.to_string(),
        name: "schedule.jl".to_string(),
    });
    FileOptions { name: "program.jl".to_string(), function: None, types: vec![], schedule }
}

fn sizes(all: &[(&str, i64)]) -> Vec<(String, i64)> {
    all.iter().map(|(name, value)| (name.to_string(), *value)).collect()
}

/// Runs a program, and compares all that it gives with what the interpreter of the source gives.
fn runs_right(text: &str, schedule: Option<&str>, at: &[(&str, i64)]) {
    let run_options = RunOptions {
        sizes: sizes(at).into_iter().collect(),
        values: vec![],
        seed: 5,
        repeat: 1,
        compare: true,
        profile: false,
    };
    match run(text, &options(schedule), &run_options, Backend::C) {
        Ok(outcomes) => assert!(outcomes.iter().all(|it| it.differences.is_empty()), "{schedule:?} at {at:?}"),
        Err(Failed::Refused(said) | Failed::ToolChain(said) | Failed::Usage(said)) => panic!("{schedule:?}: {said}"),
    }
}

fn stencil(name: &str) -> String {
    std::fs::read_to_string(root().join(format!("tests/stencils/{name}.jl"))).unwrap()
}

fn shapes(text: &str, at: &[(&str, i64)]) -> model::Told {
    let asked = ProgramOptions { sizes: sizes(at), levels: vec![(5e-6, 400)], ..ProgramOptions::default() };
    let search = SearchOptions { seed: 1, evaluations: 1500 };
    model::parallelograms_of(text, &options(None), &asked, search, &mut |_, _| {}).unwrap()
}

#[test]
fn the_selected_shape_of_a_program_runs_bit_for_bit_right() {
    for (name, at) in [
        ("wave1d_levels", vec![("steps", 41), ("n", 53)]),
        ("slanted1d", vec![("steps", 38), ("n", 47)]),
        ("seidel2d", vec![("steps", 9), ("n", 23)]),
    ] {
        let text = stencil(name);
        let told = shapes(&text, &at).text;
        let command = told.lines().find_map(|line| line.strip_prefix("as a command: ")).expect(&told);
        assert!(command.starts_with("parallelogram(S, (t, "), "{told}");
        runs_right(&text, Some(command), &at);
    }
}

#[test]
fn a_program_is_the_problem_that_its_loops_state() {
    let told = shapes(&stencil("wave1d_levels"), &[("steps", 66), ("n", 66)]);
    let lines: Vec<&str> = told.text.lines().collect();
    assert_eq!(lines[0], "wave1d_levels!: 1 level of tiles for S over t, i, a space of 64 x 64");
    assert_eq!(lines[1], "dependences (1, -1) (1, 0) (1, 1) (2, 0)");
    // No square keeps (1, -1).
    let named = |name: &str| lines.iter().any(|line| line.trim_start().starts_with(name));
    assert!(named("selected") && named("Diamond") && named("Skewing-1"), "{}", told.text);
    assert!(!named("Square") && !named("Skewing-2"), "{}", told.text);
    assert!(told.picture.unwrap().matches("<polygon").count() >= 3);
    // Two sweeps in a time step are two steps, and no loops for the command.
    let told = shapes(&stencil("jacobi1d"), &[("n", 66), ("steps", 30)]).text;
    assert!(told.contains("a space of 60 x 64") && told.contains("counts as 2 steps"), "{told}");
    assert!(told.contains("no command has these tiles"), "{told}");
    // Each point sees what this step wrote: only shapes that lean along both axes will do, and none of the usual ones does.
    let told = shapes(&stencil("seidel2d"), &[("steps", 9), ("n", 23)]).text;
    assert!(told.contains("least skew") && !told.contains("Skewing-1") && !told.contains("Square"), "{told}");
}

/// Copies through a local array whose columns all meet in one set of the cache, row by row.
fn turned(extent: u32) -> String {
    format!(
        "\
@tessella function turned!(B::Matrix{{Float64}}, A::Matrix{{Float64}})
    tmp = zeros({extent}, {extent})
    for j in 1:min(size(A, 2), {extent}), i in 1:min(size(A, 1), {extent})
        @comp S tmp[i, j] = A[i, j] + 1.0
    end
    for j in 1:min(size(A, 1), size(B, 2), {extent}), i in 1:min(size(A, 2), size(B, 1), {extent})
        @comp R B[i, j] = 2.0 * tmp[j, i]
    end
end
"
    )
}

fn explained(text: &str, backend: Backend) -> String {
    file::transpile(text, &options(None), backend, TextKind::Explain).unwrap()
}

#[test]
fn local_arrays_are_padded_where_columns_would_share_a_set_and_only_there() {
    let text = turned(512);
    let said = explained(&text, Backend::C);
    assert!(said.contains("tmp by (8, 0): 16 columns that are used together would share one set of the cache"), "{said}");
    let code = file::transpile(&text, &options(None), Backend::C, TextKind::C).unwrap();
    assert!(code.contains("520"), "{code}");
    for at in [vec![("A_1", 3), ("A_2", 5), ("B_1", 5), ("B_2", 3)], vec![("A_1", 97), ("A_2", 90), ("B_1", 90), ("B_2", 97)]] {
        runs_right(&text, None, &at);
    }
    // Columns of 520 elements lie in different sets already.
    let plain = explained(&turned(520), Backend::C);
    assert!(!plain.contains("Padding"), "{plain}");
}

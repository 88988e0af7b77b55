//! What the models say, put to use: shapes that they select run right, arrays are padded where it pays, tiles fit into caches.

use tessella::file::{self, FileOptions, ScheduleSource};
use tessella::model::{self, Answers, LayoutOptions, Memory, ProgramOptions, SearchOptions};
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
        chunked: false,
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
    let search = SearchOptions { seed: 1, evaluations: 1500, given: vec![] };
    model::parallelograms_of(text, &options(None), &asked, search, &mut |_, _| {})
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
    assert!(told.picture(None).unwrap().matches("<polygon").count() >= 3);
    // Two sweeps in a time step are two steps, and no loops for the command.
    let told = shapes(&stencil("jacobi1d"), &[("n", 66), ("steps", 30)]).text;
    assert!(told.contains("a space of 60 x 64") && told.contains("counts as 2 steps"), "{told}");
    assert!(told.contains("no command has these tiles"), "{told}");
    // Each point sees what this step wrote: only shapes that lean along both axes will do, and none of the usual ones does.
    let told = shapes(&stencil("seidel2d"), &[("steps", 9), ("n", 23)]).text;
    assert!(told.contains("least skew") && !told.contains("Skewing-1") && !told.contains("Square"), "{told}");
}

#[test]
fn small_tiles_and_given_ones_are_where_a_search_begins() {
    let text = stencil("slanted1d");
    let told = |most: u64, given: Vec<Vec<Vec<i64>>>| {
        let asked = ProgramOptions {
            sizes: sizes(&[("steps", 40), ("n", 40)]),
            levels: vec![(5e-6, most)],
            ..Default::default()
        };
        let search = SearchOptions { seed: 1, evaluations: 1500, given };
        model::parallelograms_of(&text, &options(None), &asked, search, &mut |_, _| {}).text
    };
    let small = told(16, vec![]);
    assert!(small.contains("\n  selected ") && small.contains("\n  least skew "), "{small}");
    let none = told(8, vec![]);
    assert!(none.contains("no tiling was found") && none.contains("at least 12 points"), "{none}");
    let given = told(8, vec![vec![vec![1, -2], vec![2, 2]]]);
    assert!(given.contains("\n  selected ") && given.contains("\n  given "), "{given}");
    assert!(given.contains("as a command: parallelogram(S, (t, i), "), "{given}");
}

const TWO: &str = "\
@tessella function filled!(A::Matrix{Float64})
    x = 1.0
    A[1, 1] = x
end
@tessella function swept!(A::Matrix{Float64}, steps::Int)
    for t in 1:steps, j in 2:size(A, 2)-1, i in 2:size(A, 1)-1
        @comp S A[i, j] = 0.25 * (A[i - 1, j] + A[i + 1, j] + A[i, j - 1] + A[i, j + 1])
    end
end
";

#[test]
fn a_function_without_an_answer_leaves_those_of_others() {
    let search = SearchOptions { seed: 1, evaluations: 100, given: vec![] };
    let shapes = model::parallelograms_of(TWO, &options(None), &ProgramOptions::default(), search, &mut |_, _| {});
    assert!(shapes.picture(None).is_ok());
    let layout = model::layout(TWO, &options(None), &LayoutOptions { vector: 4, extents: vec![], period: 1 });
    let given = model::given_tile(TWO, &options(None), &[4, 4]);
    let ranked = model::tiles(TWO, &options(None), Memory::Elements(64));
    let of = |it: Answers| (it.text, it.refused);
    for (text, refused) in [(shapes.text, shapes.refused), of(layout), of(given), of(ranked)] {
        assert!(text.starts_with("swept!: ") && !text.contains("filled!"), "{text}");
        assert!(refused.contains("E0580") && refused.contains("`filled!` has no "), "{refused}");
        assert!(!refused.contains("swept!"), "{refused}");
    }
    // What cannot be read has no answers.
    let broken = model::given_tile("function f(", &options(None), &[4, 4]);
    assert!(broken.text.is_empty() && broken.refused.contains("error["), "{broken:?}");
}

#[test]
fn all_statements_of_a_nest_are_named() {
    let told = shapes(&stencil("jacobi1d"), &[("n", 66), ("steps", 30)]).text;
    assert!(told.starts_with("jacobi1d!: 1 level of tiles for S, R over t, i, a space of 60 x 64"), "{told}");
}

#[test]
fn sizes_beyond_all_numbers_are_called_that() {
    let told = shapes(&stencil("seidel2d"), &[("n", 1 << 40), ("steps", 1 << 40)]).text;
    assert!(told.contains("numbers pass 128 bits for a space of this size") && !told.contains("points, so"), "{told}");
}

#[test]
fn shapes_are_no_command_where_nothing_waits() {
    let text = std::fs::read_to_string(root().join("examples/gemm.jl")).unwrap();
    let told = shapes(&text, &[]).text;
    assert!(told.contains("nothing waits along some directions") && told.contains("\n  selected "), "{told}");
    assert!(!told.contains("command"), "{told}");
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
    assert!(
        said.contains("tmp by (8, 0): 16 columns that are used together would share one set of the cache"),
        "{said}"
    );
    let code = file::transpile(&text, &options(None), Backend::C, TextKind::C).unwrap();
    assert!(code.contains("520"), "{code}");
    for at in
        [vec![("A_1", 3), ("A_2", 5), ("B_1", 5), ("B_2", 3)], vec![("A_1", 97), ("A_2", 90), ("B_1", 90), ("B_2", 97)]]
    {
        runs_right(&text, None, &at);
    }
    // Columns of 520 elements lie in different sets already.
    let plain = explained(&turned(520), Backend::C);
    assert!(!plain.contains("Padding"), "{plain}");
}

/// A step of a stencil over local arrays of `extent` rows, in which neighbours of three columns are read.
fn smoothed(extent: u32) -> String {
    format!(
        "\
@tessella function smoothed!(B::Matrix{{Float32}}, A::Matrix{{Float32}})
    tmp = Matrix{{Float32}}(undef, {extent}, 30)
    for j in 1:30, i in 1:{extent}
        @comp S tmp[i, j] = 3f0 * A[i, j]
    end
    for j in 2:29, i in 2:{extent}-1
        @comp R B[i, j] = tmp[i, j-1] + tmp[i, j] + tmp[i, j+1]
    end
end
"
    )
}

/// Bringing reads to one place in their vectors gains here and loses there, so only the tuner tries it.
#[test]
fn local_arrays_are_not_padded_for_vectors_unless_the_tuner_asks() {
    let text = smoothed(1001);
    assert!(!explained(&text, Backend::C).contains("Padding"));
    runs_right(&text, None, &[("A_1", 1001), ("A_2", 30), ("B_1", 1001), ("B_2", 30)]);
    runs_right(&text, Some("pad(tmp, (7, 0))"), &[("A_1", 1001), ("A_2", 30), ("B_1", 1001), ("B_2", 30)]);
}

#[test]
fn arrays_of_a_gpu_get_columns_of_whole_sectors_where_that_is_worth_it() {
    // No point of R needs what its neighbours need, so that threads do not take several.
    let mirrored = |extent: u32| {
        let neighbours = "tmp[i, j-1] + tmp[i, j] + tmp[i, j+1]";
        smoothed(extent).replace(neighbours, "tmp[i, j] * tmp[i, 31-j]")
    };
    // R begins at the second element of its columns, S at the first.
    assert!(!explained(&mirrored(1001), Backend::Cuda).contains("Padding"));
    let whole = |extent: u32| mirrored(extent).replace(&format!("i in 2:{extent}-1"), &format!("i in 1:{extent}"));
    let said = explained(&whole(1001), Backend::Cuda);
    let tmp = "tmp by (0, 0), columns in multiples of 8: warps of 0 instead of 3 of 3 accesses begin";
    assert!(said.contains(tmp), "{said}");
    // Seven more elements for each nine are too many.
    assert!(!explained(&whole(9), Backend::Cuda).contains("Padding"));
    // Copies of arguments pay only if kernels go through them often enough, which sizes would have to say.
    let heat = |steps: &str| {
        format!(
            "\
@tessella function heat!(A::Matrix{{Float32}}, B::Matrix{{Float32}}, steps::Int)
    for t in 1:{steps}
        for j in 1:size(A, 2), i in 1:size(A, 1)
            @comp S B[i, j] = 2f0 * A[i, j]
        end
        for j in 1:size(A, 2), i in 1:size(A, 1)
            @comp R A[i, j] = B[i, j] + B[1, 1]
        end
    end
end
"
        )
    };
    let often = explained(&heat("1000"), Backend::Cuda);
    assert!(often.contains("A by (0, 0), columns in multiples of 8: warps of 0 instead of 1 of 2"), "{often}");
    for few in ["steps", "3"] {
        assert!(!explained(&heat(few), Backend::Cuda).contains("Padding"));
    }
}

#[test]
fn tiles_in_shared_memory_are_padded_where_threads_would_meet_in_a_bank() {
    let text = std::fs::read_to_string(root().join("tests/polybench/covariance.jl")).unwrap();
    let said = explained(&text, Backend::Cuda);
    assert!(said.contains(" instead of ") && said.contains("pairs of threads of a warp meet in a bank"), "{said}");
    let schedule = file::transpile(&text, &options(None), Backend::Cuda, TextKind::Schedule).unwrap();
    assert!(schedule.contains("pad("), "{schedule}");
}

#[test]
fn tiles_of_a_sweep_shrink_until_a_core_holds_what_they_need() {
    let sweep = |reads: &str, arguments: &str| {
        format!(
            "\
@tessella function sweep!(u::Matrix{{Float64}}{arguments}, steps::Int)
    m, n = size(u)
    for t in 1:steps
        for j in 2:n-1, i in 2:m-1
            @comp S u[i, j] = {reads}
        end
    end
end
"
        )
    };
    let tiles = |text: &str| {
        let schedule = file::transpile(text, &options(None), Backend::C, TextKind::Schedule).unwrap();
        let line = schedule.lines().find(|it| it.contains(" i0 = ")).expect(&schedule).to_string();
        line.rsplit('/').next().expect("a quotient").to_string()
    };
    let alone = sweep("0.25 * (u[i-1, j] + u[i+1, j] + u[i, j-1] + u[i, j+1])", "");
    assert_eq!(tiles(&alone), "256)");
    let many = sweep(
        "a[i, j] * (u[i-1, j] + u[i+1, j]) + b[i, j] * (u[i, j-1] + u[i, j+1]) + c[i, j]",
        ", a::Matrix{Float64}, b::Matrix{Float64}, c::Matrix{Float64}",
    );
    assert_eq!(tiles(&many), "128)");
    let said = explained(&many, Backend::C);
    assert!(said.contains("chosen: diagonals of skewed tiles, 32 x 128 x 32 steps"), "{said}");
    let extents = ["u", "a", "b", "c"].map(|name| [(format!("{name}_1"), 70), (format!("{name}_2"), 41)]);
    let mut at: Vec<(&str, i64)> = extents[1..].iter().flatten().map(|(name, it)| (name.as_str(), *it)).collect();
    at.extend([("m", 70), ("n", 41), ("steps", 37)]);
    runs_right(&many, None, &at);
}

fn kernel(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap()
}

/// The sides of the tile that an explanation says lies in the second-level cache, and how many KiB it takes.
fn tile_in_second_level(said: &str) -> (Vec<u64>, u64) {
    let line = said.lines().find(|line| line.contains("in the second-level cache of a core, 512 KiB")).expect(said);
    let (sides, rest) = line.split_once(" of ").unwrap();
    let kib = rest.split_once(" KiB").unwrap().0.rsplit(' ').next().unwrap();
    (sides.split(" x ").map(|side| side.trim().parse().unwrap()).collect(), kib.parse().unwrap())
}

#[test]
fn tiles_of_products_are_explained_by_what_they_move() {
    let said = explained(&kernel("tests/polybench/2mm.jl"), Backend::C);
    assert!(said.contains("\nTiles: bytes that go in and out and operations for each result"), "{said}");
    // 60 x 128 results, and as much of both operands as 256 terms need.
    assert_eq!(tile_in_second_level(&said), (vec![60, 128, 256], 436));
    assert!(said.contains(": 0.26 bytes and 3.0 operations\n"), "{said}");
    assert!(said.contains("30 x 128 x 256 0.39") && said.contains("60 x 256 x 256 0.23 (752 KiB)"), "{said}");
    assert!(said.contains("none of these fits and moves less"), "{said}");
    let said = explained(&kernel("tests/polybench/2mm.jl"), Backend::Cuda);
    assert!(said.contains("64 x 128 x all of j, i, k, a block of threads: 0.20 bytes"), "{said}");
    // No element of a matrix is used twice when it is transposed.
    let said = explained(&kernel("examples/vectors/transpose.jl"), Backend::Cuda);
    assert!(said.contains("the same with a side halved or doubled: nothing is used twice"), "{said}");
    // What is told of tiles over time is not told again.
    assert!(!explained(&stencil("heat2d"), Backend::C).contains("\nTiles: "));
}

#[test]
fn blocks_that_do_not_fit_become_smaller() {
    // Two operands more than a product has: the usual block would take 812 KiB.
    let (sides, kib) = tile_in_second_level(&explained(&kernel("tests/polybench/syr2k.jl"), Backend::C));
    assert!(kib <= 512 && sides.iter().product::<u64>() > 60 * 128 * 64, "{sides:?} in {kib} KiB");
    runs_right(&kernel("tests/polybench/syr2k.jl"), None, &[("m", 300), ("n", 170)]);
}

#[test]
fn rows_may_begin_in_turns_at_other_places() {
    let text = "\
@tessella function places!(B::Matrix{Float64}, A::Matrix{Float64})
    m, n = size(A)
    tmp = zeros(m, n)
    for j in 1:n, i in 1:m
        @comp S tmp[i, j] = 2.0 * A[i, j]
    end
    for j in 2:n-1, i in 2:m-1
        @comp R B[i, j] = 0.25 * (tmp[i-1, j] + tmp[i+1, j] + tmp[i, j-1] + tmp[i, j+1])
    end
end
";
    let schedule = "store_in(S, b, (i, j) -> (i - j % 2, j))";
    let c = file::transpile(text, &options(Some(schedule)), Backend::C, TextKind::C).unwrap();
    assert!(c.contains("tessella_bytes(sizeof(double), m + 1)"), "{c}");
    for at in [[("m", 41), ("n", 37)], [("m", 4), ("n", 3)]] {
        runs_right(text, Some(schedule), &at);
    }
}

//! The work of a program that a profile puts beside its times: counted quickly, or not at all.

use std::fs;
use std::time::{Duration, Instant};
use tessella::file::{FileOptions, ScheduleSource, Sources};
use tessella::profile::{Measured, Report, report};
use tessella::request::Backend;
use tessella_polyhedral::work::Precision;
use tessella_runtime::cuda::{Ceilings, Copies, KernelProfile, Profile};
use tessella_tests::root;

/// The report on a program of `tests/polybench` whose kernels have all been launched once, with the counting's time.
fn reported(name: &str, sizes: &[(&str, i64)]) -> (Report, Duration) {
    reported_under(&format!("tests/polybench/{name}.jl"), ScheduleSource::InFile, sizes)
}

fn reported_under(path: &str, schedule: ScheduleSource, sizes: &[(&str, i64)]) -> (Report, Duration) {
    let text = fs::read_to_string(root().join(path)).unwrap();
    reported_of(&text, schedule, sizes, None)
}

/// The report on a program whose kernels have been launched so often, given by their names; all once if nothing is given. A name that
/// stands there several times is that of as many kernels, in order; else all of that name have been launched so often.
fn reported_of(
    text: &str,
    schedule: ScheduleSource,
    sizes: &[(&str, i64)],
    launches: Option<&[(&str, u64)]>,
) -> (Report, Duration) {
    let options = FileOptions { name: "program.jl".to_string(), function: None, types: vec![], schedule };
    let sources = Sources::read(text, &options).unwrap();
    let unit = sources.unit(&sources.functions()[0], &[]).unwrap();
    let built = unit.build(Backend::Cuda).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
    let program = built.loops(&unit).unwrap();
    let launches_of = |number: usize, name: &str| {
        let Some(all) = launches else { return 1 };
        let own: Vec<u64> = all.iter().filter(|(of, _)| *of == name).map(|(_, launches)| *launches).collect();
        let before = program.kernels[..number].iter().filter(|it| it.name == name).count();
        if own.len() > 1 { own[before] } else { own.first().copied().unwrap_or(0) }
    };
    if let Some((name, _)) =
        launches.into_iter().flatten().find(|(of, _)| program.kernels.iter().all(|it| it.name != *of))
    {
        panic!("no kernel `{name}` in {:?}", program.kernels.iter().map(|it| &it.name).collect::<Vec<_>>());
    }
    let kernel = |(number, kernel): (usize, &tessella_codegen::program::Kernel)| KernelProfile {
        number,
        name: kernel.name.clone(),
        launches: launches_of(number, &kernel.name),
        time: Duration::from_millis(1),
        grid: [1; 3],
        block: [1; 3],
        registers: 32,
        shared_bytes: 0,
        local_bytes: 0,
        blocks: 1,
        occupancy: 1.0,
    };
    let value = |name: &str| {
        let found = sizes.iter().find(|(param, _)| *param == name);
        found.unwrap_or_else(|| panic!("no value for {name}")).1
    };
    let profile = Profile {
        params: built.analysed.verified.algorithm().params.iter().map(|it| value(&it.name)).collect(),
        kernels_time: Duration::ZERO,
        kernels: program.kernels.iter().enumerate().map(kernel).filter(|it| it.launches > 0).collect(),
        copied_in: Copies::default(),
        copied_out: Copies::default(),
    };
    let ceilings = Ceilings { copy: 1.0, float32: 1.0, float64: 1.0 };
    let start = Instant::now();
    let counted = report(&unit, &built, Measured { device: "none".into(), ceilings, profile });
    let took = start.elapsed();
    (counted.unwrap_or_else(|errors| panic!("{}", sources.show(&errors))), took)
}

/// Three products through shared memory and registers have the most statements of all programs; PolyBench's LARGE sizes.
#[test]
fn three_tiled_products_are_counted_in_seconds() {
    let (ni, nj, nk, nl, nm) = (800, 900, 1000, 1100, 1200);
    let sizes = [
        ("ni", ni),
        ("nj", nj),
        ("nk", nk),
        ("nl", nl),
        ("nm", nm),
        ("E_1", ni),
        ("E_2", nj),
        ("G_1", ni),
        ("G_2", nl),
        ("B_1", nk),
        ("B_2", nj),
        ("C_1", nj),
        ("D_1", nm),
        ("D_2", nl),
    ];
    let (report, took) = reported("3mm", &sizes);
    println!("{took:?}");
    // A busy machine may stretch the 2 s that it takes at most.
    assert!(took < Duration::from_secs(20), "{took:?}");
    let products: Vec<_> = report.kernels.iter().filter_map(|it| it.work).filter(|it| it.float64 > 0).collect();
    let operations: Vec<u64> = products.iter().map(|it| it.float64).collect();
    assert_eq!(operations, [2 * ni * nj * nk, 2 * nj * nl * nm, 2 * ni * nl * nj].map(|it| it as u64));
    // Each reads its two factors; the sums start in its registers.
    let read: Vec<u64> = products.iter().map(|it| it.read_bytes).collect();
    let expected = [ni * nk + nk * nj, nj * nm + nm * nl, ni * nj + nj * nl];
    assert_eq!(read, expected.map(|it| 8 * it as u64));
}

/// One step of a stencil through tiles in shared memory: a tile's loads are loops inside of loops that all bounds name.
#[test]
fn tiles_with_edges_are_counted() {
    let text = fs::read_to_string(root().join("tests/gpu/sweeps.jl")).unwrap();
    let (m, n) = (10_000, 10_003);
    for (element, bytes) in [("Float32", 4u64), ("Float64", 8)] {
        let text = text.replace("(B, A)", &format!("(B::Matrix{{{element}}}, A::Matrix{{{element}}})"));
        let (report, _) =
            reported_of(&text, ScheduleSource::InFile, &[("m", m), ("n", n), ("B_1", m), ("B_2", n)], None);
        let work = report.kernels[0].work.expect("it is counted");
        let inside = ((m - 2) * (n - 2)) as u64;
        assert_eq!((work.precision, work.read_bytes), (Precision::Exact, bytes * (m * n) as u64));
        assert_eq!((work.written_bytes, work.float32 + work.float64), (bytes * inside, 10 * inside));
    }
}

/// Wavefronts over tiles, and steps of the host whose parts grow: operations by formulas, bytes at least and at most those of each launch apart.
#[test]
fn decompositions_and_wavefronts_are_counted() {
    let counted = |path: &str, sizes: &[(&str, i64)]| {
        let (report, took) = reported_under(path, ScheduleSource::InFile, sizes);
        println!("{path}: {took:?}");
        // A busy machine may stretch the seconds that it takes without optimization.
        assert!(took < Duration::from_secs(40), "{path}: {took:?}");
        let all: Vec<_> = report
            .kernels
            .iter()
            .map(|it| it.work.unwrap_or_else(|| panic!("`{}` of {path} is uncounted", it.name())))
            .collect();
        assert!(all.iter().all(|it| it.precision == Precision::Exact), "{path}");
        let sum = |of: fn(&tessella_polyhedral::work::Work) -> u64| all.iter().map(of).sum::<u64>();
        (sum(|it| it.float32 + it.float64), sum(|it| it.read_bytes), sum(|it| it.written_bytes))
    };
    let n = 2000u64;
    let size = |name| (name, n as i64);
    let squares = (n - 1) * n * (2 * n - 1) / 6;
    let rows = n * (n - 1) / 2;
    let (operations, ..) = counted("tests/polybench/lu.jl", &[size("n"), size("A_2")]);
    assert_eq!(operations, 2 * squares + rows);
    let (operations, ..) = counted("tests/polybench/cholesky.jl", &[size("n"), size("A_2")]);
    // A product below the diagonal, a quotient, a square on it, a root.
    assert_eq!(operations, 2 * (n * (n - 1) * (n - 2) / 6) + rows + 2 * rows + n);
    let (.., written) = counted("tests/polybench/floyd_warshall.jl", &[("n", 280), ("path_2", 280)]);
    assert_eq!(written, 8 * 280 * 280 * 280);
    counted("tests/polybench/durbin.jl", &[size("n"), size("y_1"), size("z_1")]);
    counted("tests/polybench/ludcmp.jl", &[size("n"), size("A_2"), size("b_1"), size("x_1"), size("y_1")]);
    counted("examples/rodinia/lud.jl", &[("n", 1024), ("A_2", 1024)]);
    let (operations, ..) = counted(
        "examples/rodinia/needle.jl",
        &[("m", 1024), ("n", 1024), ("similarity_1", 1024), ("similarity_2", 1024)],
    );
    assert_eq!(operations, 3 * 1023 * 1023);
}

/// isl gives up on the pieces of hexagons of many steps ("total dimensionality changed unexpectedly"), which is no reason to refuse a profile.
#[test]
fn what_cannot_be_counted_is_not_counted() {
    let command = "hexagonal((S, R), t, (j, i), 7, (8, 32))".to_string();
    let schedule = ScheduleSource::Text { text: command, name: "command.jl".to_string() };
    let sizes = [("m", 2048), ("n", 2048), ("steps", 96), ("B_1", 2048), ("B_2", 2048)];
    let (report, took) = reported_under("tests/stencils/heat2d.jl", schedule, &sizes);
    assert!(took < Duration::from_secs(20), "{took:?}");
    assert!(!report.kernels.is_empty() && report.kernels.iter().any(|it| it.work.is_none()));
}

/// Name, launches, instances, operations in Float32 and Float64, bytes read and written of each group.
type Row = (&'static str, u64, [u64; 5]);

/// Compares what is counted of a program of `tests/stencils`, launched so often under a command, with rows worked out by hand.
fn check(name: &str, command: &str, sizes: &[(&str, i64)], launches: &[(&str, u64)], expected: &[Row]) {
    let text = fs::read_to_string(root().join(format!("tests/stencils/{name}.jl"))).unwrap();
    check_text(&text, command, sizes, launches, expected);
}

fn check_text(text: &str, command: &str, sizes: &[(&str, i64)], launches: &[(&str, u64)], expected: &[Row]) {
    let schedule = match command {
        "" => ScheduleSource::InFile,
        command => ScheduleSource::Text { text: command.to_string(), name: "command.jl".to_string() },
    };
    let (report, _) = reported_of(text, schedule, sizes, Some(launches));
    let rows = report.kernels.iter().map(|group| {
        let work = group.work.unwrap_or_else(|| panic!("`{}` is uncounted", group.name()));
        assert_eq!(work.precision, Precision::Exact);
        let counts = [work.instances, work.float32, work.float64, work.read_bytes, work.written_bytes];
        (group.name(), group.launches(), counts)
    });
    let rows: Vec<_> = rows.collect();
    let expected: Vec<_> =
        expected.iter().map(|(name, launches, counts)| (name.to_string(), *launches, *counts)).collect();
    assert_eq!(rows, expected, "{command}");
}

/// 12 x 10 points of Float32, 10 x 8 of them inside, ten operations each. Seven steps are three launches of two and, at the end,
/// one of one. Each launch reads and writes the 120 elements of A; the last one stores the 80 of B.
#[test]
fn a_launch_of_a_stream_is_one_pass() {
    let sizes = [("m", 12), ("n", 10), ("steps", 7), ("B_1", 12), ("B_2", 10)];
    check(
        "heat2d",
        "stream(S, t, 2, 2, 16)",
        &sizes,
        &[("heat2d_S_R", 2), ("heat2d_S_R", 1), ("heat2d_S_R_rest", 0), ("heat2d_S_R_rest", 1)],
        &[
            ("heat2d_S_R", 3, [6 * 160, 6 * 800, 0, 3 * 480, 3 * 480]),
            ("heat2d_S_R_rest", 1, [160, 800, 0, 480, 480 + 320]),
        ],
    );
}

/// 9 x 8 x 11 points of Float64, 7 x 6 x 9 of them inside, 15 operations each in either nest. Five steps are four launches of
/// one, one of none and one of one. Each hands on A; each that makes a step reads the faces of B, without their edges: that
/// is 2 (7*6 + 7*9 + 6*9) = 318 elements that nothing writes.
#[test]
fn a_stream_in_space_reads_the_faces_of_what_it_does_not_hand_on() {
    let sizes = [("l", 9), ("m", 8), ("n", 11), ("steps", 5), ("B_1", 9), ("B_2", 8), ("B_3", 11)];
    let (all, inside, faces) = (8 * 792, 378, 8 * 318);
    check(
        "heat3d",
        "stream(S, t, 1, 1, 4, 9)",
        &sizes,
        &[("heat3d_S_R", 2), ("heat3d_S_R_rest", 1)],
        &[
            ("heat3d_S_R", 4, [8 * inside, 0, 8 * inside * 15, 4 * (all + faces), 4 * all]),
            ("heat3d_S_R_rest", 2, [2 * inside, 0, 2 * inside * 15, 2 * all + faces, 2 * all + 8 * inside]),
        ],
    );
}

/// 19 x 23 points, 17 x 21 of them inside, five operations each. A step of the stream is two iterations: seven are one launch of
/// two steps and one that leaves out the last iteration. A goes from step to step; the 2 (17 + 21) points around B are read,
/// and what is inside is stored once.
#[test]
fn arrays_that_change_places_are_counted_by_iterations() {
    let sizes = [("m", 19), ("n", 23), ("steps", 7), ("B_1", 19), ("B_2", 23)];
    let (all, inside) = (4 * 437, 357);
    check(
        "swapped2d",
        "stream(S, t, 2, 2, 16)",
        &sizes,
        &[("swapped2d_S_S_2", 1), ("swapped2d_S_S_2", 0), ("swapped2d_S_S_2_rest", 0), ("swapped2d_S_S_2_rest", 1)],
        &[
            ("swapped2d_S_S_2", 1, [4 * inside, 4 * inside * 5, 0, all + 4 * 76, all]),
            ("swapped2d_S_S_2_rest", 1, [3 * inside, 3 * inside * 5, 0, all + 4 * 76, all + 4 * inside]),
        ],
    );
}

/// The same domain with edges, seven operations inside: T and N both go from step to step, since an edge may copy what the step
/// before left in a corner. Each of the seven elements of `edge` is read in one iteration. 357 + 21 + 21 + 19 + 19 instances.
#[test]
fn what_one_step_reads_counts_once() {
    let sizes = [("m", 19), ("n", 23), ("steps", 7), ("N_1", 19), ("N_2", 23)];
    let both = 2 * 4 * 437;
    check(
        "edges2d",
        "stream(S, t, 2, 2, 16)",
        &sizes,
        &[("edges2d_kernel", 1), ("edges2d_kernel", 0), ("edges2d_kernel_rest", 0), ("edges2d_kernel_rest", 1)],
        &[
            ("edges2d_kernel", 1, [4 * 437, 4 * 357 * 7, 0, both + 4 * 4, both]),
            ("edges2d_kernel_rest", 1, [3 * 437, 3 * 357 * 7, 0, both + 4 * 3, both]),
        ],
    );
}

/// Hexagons of four steps, 3, 5, 5 and 3 rows high, over 20 x 16 points: eight steps in launches of two phases in turn, five in all. Those
/// of the first phase begin at rows 1, 9 and 17, those of the second one at rows 5 and 13. Away from the ends a hexagon that
/// begins at row r loads
/// r-1..r+3 before its first step; r-2, r-1, r+3, r+4 before its second; r-2, r+4 before its third: 11 rows, since versions lie apart. It stores
/// r-1, r+3 after its second; r-1, r, r+2, r+3 after its third; r..r+2 after its last: 9 rows.
///
/// Without the rows beyond 1 and 16 the first phase loads 7 + 11 + 4 rows, the second one 11 + 9; they store 7 + 9 + 2 and 9 + 9.
/// The first launch has one version of each row to load: 1..5, 7..13, 15..16. The last one stores one of each: 1..4, 8..12, 16.
#[test]
fn hexagons_load_and_store_the_rows_that_they_share() {
    let sizes = [("m", 20), ("n", 16), ("steps", 10), ("B_1", 20), ("B_2", 16)];
    let (row, inside) = (4 * 20, 18 * 14);
    let (loaded, stored) = (14 + 20 + 22 + 20 + 22, 4 * 18 + 10);
    let launches = [("heat2d_S_R_hexagons", 5), ("heat2d_S_R_rest", 1)];
    check(
        "heat2d",
        "hexagonal(S, t, 1, 2, 2, 32, 1)",
        &sizes,
        &launches,
        &[
            ("heat2d_S_R_rest", 2, [4 * inside, 20 * inside, 0, 2 * 16 * row, 2 * 16 * row + 4 * inside]),
            ("heat2d_S_R_hexagons", 5, [16 * inside, 80 * inside, 0, loaded * row, stored * row]),
        ],
    );
}

/// All seven steps in one launch: A is read but for its corners, and what is inside of A and B is written.
#[test]
fn tiles_that_are_kept_are_read_and_written_once() {
    let sizes = [("m", 12), ("n", 10), ("steps", 7), ("B_1", 12), ("B_2", 10)];
    let whole = [7 * 160, 7 * 800, 0, 4 * 116, 2 * 4 * 80];
    // With as many blocks as there are multiprocessors, or with the fewest.
    for launches in [[1, 0], [0, 1]].map(|all| all.map(|launches| ("heat2d_S_R_resident", launches))) {
        check("heat2d", "grid_sync(S, t, 3, 2, 20, 2)", &sizes, &launches, &[("heat2d_S_R_resident", 1, whole)]);
    }
    check(
        "heat2d",
        "grid_sync((S, R), t, (j, i), (4, 8))",
        &sizes,
        &[("heat2d_S_R_32", 1)],
        &[("heat2d_S_R_32", 1, whole)],
    );
}

/// Without a schedule there are two streams, for large and for small matrices, and tiles that are kept for the latter. Large ones take
/// 20 steps in two launches of seven, one of three, and one that is told to make three. Of small ones the launcher decides whether tiles are kept; else
/// they take two launches of five steps, three of three, and one for what is left.
#[test]
fn only_what_was_launched_is_counted() {
    let square = |m: i64| [("m", m), ("n", m), ("steps", 20), ("B_1", m), ("B_2", m)];
    let counts = |m: u64| (4 * m * m, (m - 2) * (m - 2));
    let (all, inside) = counts(3000);
    let launches = [
        ("heat2d_S_R", 1),
        ("heat2d_S_R", 1),
        ("heat2d_S_R_few", 1),
        ("heat2d_S_R_few", 0),
        ("heat2d_S_R_rest", 0),
        ("heat2d_S_R_rest", 1),
    ];
    check(
        "heat2d",
        "",
        &square(3000),
        &launches,
        &[
            ("heat2d_S_R", 2, [28 * inside, 140 * inside, 0, 2 * all, 2 * all]),
            ("heat2d_S_R_few", 1, [6 * inside, 30 * inside, 0, all, all]),
            ("heat2d_S_R_rest", 1, [6 * inside, 30 * inside, 0, all, all + 4 * inside]),
        ],
    );
    let (all, inside) = counts(1000);
    let small = |end: &'static str| format!("heat2d_S_piece1_R_piece1{end}");
    let resident = small("_resident").leak();
    check(
        "heat2d",
        "",
        &square(1000),
        &[(resident, 1)],
        &[(resident, 1, [40 * inside, 200 * inside, 0, all - 16, 8 * inside])],
    );
    let (passes, few, rest) = (small("").leak(), small("_few").leak(), small("_rest").leak());
    check(
        "heat2d",
        "",
        &square(1000),
        &[(passes, 1), (passes, 1), (few, 2), (few, 1), (rest, 0), (rest, 1)],
        &[
            (passes, 2, [20 * inside, 100 * inside, 0, 2 * all, 2 * all]),
            (few, 3, [18 * inside, 90 * inside, 0, 3 * all, 3 * all]),
            (rest, 1, [2 * inside, 10 * inside, 0, all, all + 4 * inside]),
        ],
    );
}

/// The launches of each of seven steps: A is read but for its corners, and B written; then the other way round.
#[test]
fn launches_in_a_loop_of_the_host_count_each_time() {
    let sizes = [("m", 12), ("n", 10), ("steps", 7), ("B_1", 12), ("B_2", 10)];
    let each = [
        ("heat2d_S_32", 7, [7 * 80, 7 * 800, 0, 7 * 4 * 116, 7 * 4 * 80]),
        ("heat2d_R_32", 7, [7 * 80, 0, 0, 7 * 4 * 80, 7 * 4 * 80]),
    ];
    let launches = [("heat2d_S_32", 7), ("heat2d_R_32", 7)];
    check("heat2d", "grid_sync((S, R), t, (j, i), (4, 8))", &sizes, &launches, &each);
    check("heat2d", "space((S, R), t, (j, i), (4, 8))", &sizes, &launches, &each);
}

/// One nest that reads coefficients, and a copy, in a time loop; around that, where it is given, another loop.
fn program(outer: &str) -> String {
    let (opens, closes) = if outer.is_empty() { ("", "") } else { (outer, "end\n") };
    format!(
        "@tessella function f!(A::Matrix{{Float32}}, B::Matrix{{Float32}}, C::Matrix{{Float32}}, steps::Int)\n    m, n = size(A)\n    \
         {opens}\n    for t in 1:steps\n        for j in 2:n-1, i in 2:m-1\n            \
         @comp S B[i, j] = C[i, j] * (A[i-1, j] + A[i+1, j] + A[i, j-1] + A[i, j+1])\n        end\n        \
         for j in 2:n-1, i in 2:m-1\n            @comp R A[i, j] = B[i, j]\n        end\n    end\n    {closes}    return nothing\nend\n"
    )
}

/// The hexagons of [`hexagons_load_and_store_the_rows_that_they_share`]: each launch reads C where it computes. The longest steps of the
/// first phase are rows 2..4 and 8..12, those of the second one 4..8 and 12..15; either way 18 points of each.
#[test]
fn hexagons_read_coefficients_where_they_compute() {
    let sizes = [("m", 20), ("n", 16), ("steps", 10), ("B_1", 20), ("B_2", 16), ("C_1", 20), ("C_2", 16)];
    let (row, inside) = (4 * 20, 18 * 14);
    let (loaded, stored, coefficients) = (98, 82, (3 * 8 + 2 * 9) * 18 * 4);
    let launches = [("f_S_R_hexagons", 5)];
    check_text(
        &program(""),
        "hexagonal(S, t, 1, 2, 2, 32, 1)",
        &sizes,
        &launches,
        &[("f_S_R_hexagons", 5, [16 * inside, 32 * inside, 0, loaded * row + coefficients, stored * row])],
    );
}

/// The same hexagons over 16 planes of 20 x 10 points instead of rows; seven operations a point.
#[test]
fn hexagons_of_planes_load_and_store_planes() {
    let text = "@tessella function f!(A::Array{Float32,3}, B::Array{Float32,3}, steps::Int)\n    l, m, n = size(A)\n    for t in 1:steps\n        \
                for k in 2:n-1, j in 2:m-1, i in 2:l-1\n            @comp S B[i, j, k] = 0.1f0 * (A[i, j, k] + A[i-1, j, k] + A[i+1, j, k] \
                + A[i, j-1, k] + A[i, j+1, k] + A[i, j, k-1] + A[i, j, k+1])\n        end\n        \
                for k in 2:n-1, j in 2:m-1, i in 2:l-1\n            @comp R A[i, j, k] = B[i, j, k]\n        end\n    end\n    return nothing\nend\n";
    let sizes = [("l", 20), ("m", 10), ("n", 16), ("steps", 10), ("B_1", 20), ("B_2", 10), ("B_3", 16)];
    let (plane, inside) = (4 * 20 * 10, 18 * 8 * 14);
    let launches = [("f_S_R_hexagons", 5)];
    check_text(
        text,
        "hexagonal(S, t, 1, 2, 2, 256, 2)",
        &sizes,
        &launches,
        &[("f_S_R_hexagons", 5, [16 * inside, 56 * inside, 0, 98 * plane, 82 * plane])],
    );
}

/// Three times all steps: each launch reads A but for its corners, and C where it computes, and writes 80 points of A and B.
#[test]
fn kernels_for_all_steps_in_a_loop_of_the_host_count_each_time() {
    let sizes = [("m", 12), ("n", 10), ("steps", 2), ("B_1", 12), ("B_2", 10), ("C_1", 12), ("C_2", 10)];
    let row: Row = ("f_S_R_32", 3, [6 * 160, 6 * 320, 0, 3 * 4 * (116 + 80), 3 * 4 * 160]);
    let command = "grid_sync((S, R), t, (j, i), (4, 8))";
    check_text(&program("for r in 1:3"), command, &sizes, &[("f_S_R_32", 3)], &[row]);
}

/// Where other launches were measured than the host's code says, a table says that nothing was counted, and programs get no numbers.
#[test]
fn launches_that_nothing_explains_are_not_counted() {
    let sizes = [("m", 12), ("n", 10), ("steps", 7), ("B_1", 12), ("B_2", 10)];
    let text = fs::read_to_string(root().join("tests/stencils/heat2d.jl")).unwrap();
    let schedule = ScheduleSource::Text { text: "stream(S, t, 2, 2, 16)".to_string(), name: "command.jl".to_string() };
    let (report, _) = reported_of(&text, schedule, &sizes, Some(&[("heat2d_S_R", 4)]));
    assert!(report.kernels.iter().all(|it| it.work.is_none()));
    assert!(report.table().contains("uncounted") && !report.lines().contains("read_bytes"));
}

/// Partial sums of threads are read and added up in one kernel: all that it has to read are the vectors.
#[test]
fn a_scalar_product_is_counted() {
    let n = 67_108_864;
    let text = fs::read_to_string(root().join("examples/vectors/dot.jl"))
        .unwrap()
        .replace("dot(x, y)", "dot(x::Vector{Float32}, y::Vector{Float32})");
    let (report, _) = reported_of(&text, ScheduleSource::InFile, &[("x_1", n), ("y_1", n)], None);
    let work: Vec<_> =
        report.kernels.iter().map(|it| it.work.unwrap_or_else(|| panic!("`{}` is uncounted", it.name()))).collect();
    assert_eq!(work[0].read_bytes, 8 * n as u64);
    assert!(work[0].float32 >= 2 * n as u64);
}

/// One sweep of 10000 x 10000 points, read through vectors of four: rows are read whole.
#[test]
fn a_sweep_through_vectors_is_counted() {
    let (m, n) = (10000i64, 10000i64);
    let text = "function f!(B::Matrix{Float32}, A::Matrix{Float32})
    m, n = size(A)
    for j in 2:n-1, i in 2:m-1
        @comp S B[i, j] = A[i, j] + A[i-1, j] + A[i+1, j] + A[i, j-1] + A[i, j+1]
    end
end
";
    let (report, _) = reported_of(text, ScheduleSource::InFile, &[("m", m), ("n", n), ("B_1", m), ("B_2", n)], None);
    let [group] = report.kernels.as_slice() else { panic!("{} kernels", report.kernels.len()) };
    let work = group.work.expect("it is counted");
    assert_eq!(work.written_bytes, 4 * ((m - 2) * (n - 2)) as u64);
    assert_eq!(work.read_bytes, 4 * (m * n) as u64);
}

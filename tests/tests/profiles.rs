//! The work of a program that a profile puts beside its times: counted quickly, or not at all.

use std::fs;
use std::time::{Duration, Instant};
use tessella::file::{FileOptions, ScheduleSource, Sources};
use tessella::profile::{Measured, Report, report};
use tessella::request::Backend;
use tessella_runtime::cuda::{Ceilings, Copies, KernelProfile, Profile};
use tessella_tests::root;

/// The report on a program of `tests/polybench` whose kernels have all been launched once, with the counting's time.
fn reported(name: &str, sizes: &[(&str, i64)]) -> (Report, Duration) {
    reported_under(&format!("tests/polybench/{name}.jl"), ScheduleSource::InFile, sizes)
}

fn reported_under(path: &str, schedule: ScheduleSource, sizes: &[(&str, i64)]) -> (Report, Duration) {
    let text = fs::read_to_string(root().join(path)).unwrap();
    let options = FileOptions { name: path.to_string(), function: None, types: vec![], schedule };
    let sources = Sources::read(&text, &options).unwrap();
    let unit = sources.unit(&sources.functions()[0], &[]).unwrap();
    let built = unit.build(Backend::Cuda).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
    let program = built.loops(&unit).unwrap();
    let kernel = |(number, kernel): (usize, &tessella_codegen::program::Kernel)| KernelProfile {
        number,
        name: kernel.name.clone(),
        launches: 1,
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
        kernels: program.kernels.iter().enumerate().map(kernel).collect(),
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

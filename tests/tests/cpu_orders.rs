//! The orders that Tessella chooses for a CPU where they are worth a look: `cpu_orders/NAME.jl`. What they compute is compared with Julia in
//! `tests/language` and `tests/programs`.

use std::fs;
use tessella::file::{self, FileOptions, ScheduleSource};
use tessella::request::{Backend, TextKind};
use tessella_tests::{golden, julia_files, report, root};

#[test]
fn chosen_orders_are_what_is_recorded() {
    let folder = root().join("tests/cpu_orders");
    let mut failures = vec![];
    for path in julia_files(&folder) {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let schedule = ScheduleSource::InFile;
        let options = FileOptions { name: format!("{name}.jl"), function: None, types: vec![], schedule };
        let text = fs::read_to_string(&path).unwrap();
        match file::transpile(&text, &options, Backend::C, TextKind::Schedule) {
            Ok(printed) => failures.extend(golden(&folder.join(format!("{name}.schedule.txt")), &printed).err()),
            Err(diagnostics) => failures.push(format!("{name} was refused:\n{diagnostics}")),
        }
    }
    report(failures);
}

/// Memory for each step of a time loop, or for each offset of each point, is none that a caller who has the arrays has, too.
#[test]
fn variables_have_no_more_axes_than_arrays() {
    let wanted = [
        ("upwind", "guard: a register"),
        ("reaction", "rate: CPU memory of m x n elements"),
        ("patches", "d: a register"),
    ];
    for (name, line) in wanted {
        let options =
            FileOptions { name: format!("{name}.jl"), function: None, types: vec![], schedule: ScheduleSource::InFile };
        let text = fs::read_to_string(root().join(format!("tests/cpu_orders/{name}.jl"))).unwrap();
        let told = file::transpile(&text, &options, Backend::C, TextKind::Explain).unwrap();
        assert!(told.contains(line), "{name}:\n{told}");
    }
}

/// Of an element that several lanes may set, a compiler that believes `omp simd` may keep what the last lane has.
#[test]
fn no_lanes_are_promised_where_several_may_set_one_element() {
    let set = |target: &str| {
        let text = format!(
            "\
function lanes!(flag::Vector{{Float64}}, mark::Vector{{Float64}}, keep::Matrix{{Float64}}, x::Matrix{{Float64}}, idx::Matrix{{Int}})
    m, n = size(x)
    for j in 1:n, i in 1:m
        if x[i, j] > 0
            {target} = 1.0
        end
    end
end
"
        );
        let options =
            FileOptions { name: "lanes.jl".into(), function: None, types: vec![], schedule: ScheduleSource::InFile };
        file::transpile(&text, &options, Backend::C, TextKind::C).unwrap()
    };
    let promised = |target: &str| set(target).contains("#pragma omp simd");
    let promises = ["flag[j]", "mark[idx[i, j]]", "keep[i, j]"].map(promised);
    assert_eq!(promises, [false, false, true]);
}

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
        ("kept_sides", "guard: a register"),
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
    let promised = |target: &str| set(target).contains("#pragma omp simd simdlen");
    let promises = ["flag[j]", "mark[idx[i, j]]", "keep[i, j]"].map(promised);
    assert_eq!(promises, [false, false, true]);
}

/// The C of one function.
fn c_of(text: &str) -> String {
    let options = FileOptions { name: "f.jl".into(), function: None, types: vec![], schedule: ScheduleSource::InFile };
    file::transpile(text, &options, Backend::C, TextKind::C).unwrap()
}

/// OpenMP's `if` clause costs a third of a microsecond where threads do not pay: short calls leave it out.
#[test]
fn short_calls_start_no_threads() {
    let text = c_of(
        "\
function axpy!(y::Vector{Float64}, a::Float64, x::Vector{Float64})
    for i in eachindex(y, x)
        y[i] += a * x[i]
    end
end
",
    );
    assert!(text.contains("if (work >= 32768) {\n        #pragma omp parallel for\n"), "{text}");
    assert!(!text.contains("parallel for if"), "{text}");
}

/// What entry looks at is one pass in vectors, whose mark stays in a register.
#[test]
fn searches_of_the_same_instances_share_a_loop_in_lanes() {
    let text = c_of(
        "\
function bins!(h::Vector{Int}, x::Vector{Float64}, lo::Float64, hi::Float64, w::Float64)
    for i in eachindex(x)
        if lo <= x[i] < hi
            h[floor(Int, (x[i] - lo) / w) + 1] += 1
        end
    end
end
",
    );
    let (entry, _) = text.split_once("*result = found;").unwrap();
    assert!(entry.contains("#pragma omp parallel for simd reduction(max: found)"), "{text}");
    let alone = entry.rsplit("} else {").next().unwrap();
    assert_eq!(alone.matches("for (int64_t i").count(), 1, "{text}");
    assert_eq!(alone.matches("found = tessella_max_i32(found").count(), 2, "{text}");
}

/// The counter of snapshots is tested on the way, and no access of the sweep: entry knows where these are. What no loop changes is asked before it.
#[test]
fn sweeps_beside_tests_on_the_way_are_not_tested() {
    let text = c_of(
        "\
function snapshots!(snaps::Array{Float64,3}, p::Matrix{Float64}, q::Matrix{Float64}, nt::Int, every::Int)
    m, n = size(p)
    ks = 0
    for k in 1:nt
        @inbounds for j in 2:n-1, i in 2:m-1
            q[i, j] = 0.25 * (p[i-1, j] + p[i+1, j] + p[i, j-1] + p[i, j+1])
        end
        @inbounds for j in 2:n-1, i in 2:m-1
            p[i, j] = q[i, j]
        end
        if k % every == 0
            ks += 1
            snaps[:, :, ks] .= p
        end
    end
end
",
    );
    assert!(text.contains("return -6;"), "{text}");
    assert!(text.contains("q(i, j) = 0.25 * (p(i - 1, j) + p(i + 1, j) + p(i, j - 1) + p(i, j + 1));"), "{text}");
    let copied = "        snaps(l, i1, at) = p(l, i1);";
    let (before, _) = text.split_once(copied).unwrap();
    let around: Vec<&str> = before.lines().rev().take(8).collect();
    let asked = around.iter().position(|line| line.contains("if (") && line.contains("at <= snaps_3"));
    let innermost = around.iter().position(|line| line.contains("for (int64_t l"));
    assert!(innermost.unwrap() < asked.unwrap(), "{text}");
}

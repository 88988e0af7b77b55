//! Explanations as users read them: what `tessella explain` says of some PolyBench kernels, `explain/NAME.txt`.

use std::fs;
use tessella::file::{self, FileOptions, ScheduleSource};
use tessella::request::{Backend, TextKind};
use tessella_tests::{golden, report, root};

const KERNELS: [&str; 5] = ["gemm", "jacobi2d", "seidel2d", "correlation", "lu"];

#[test]
fn explanations_read_as_recorded() {
    let mut failures = vec![];
    for kernel in KERNELS {
        let text = fs::read_to_string(root().join(format!("tests/polybench/{kernel}.jl"))).unwrap();
        let options = FileOptions {
            name: format!("{kernel}.jl"),
            function: None,
            types: vec![],
            schedule: ScheduleSource::InFile,
        };
        for (backend, suffix) in [(Backend::C, ""), (Backend::Cuda, ".gpu")] {
            match file::transpile(&text, &options, backend, TextKind::Explain) {
                Ok(said) => {
                    failures.extend(golden(&root().join(format!("tests/explain/{kernel}{suffix}.txt")), &said).err())
                }
                Err(diagnostics) => failures.push(format!("{kernel} was refused:\n{diagnostics}")),
            }
        }
    }
    report(failures);
}

fn explained(text: &str) -> Result<String, String> {
    let options =
        FileOptions { name: "case.jl".into(), function: None, types: vec![], schedule: ScheduleSource::InFile };
    file::transpile(text, &options, Backend::C, TextKind::Explain)
}

#[test]
fn what_stands_in_the_way_of_a_stream_is_named() {
    let text = "@tessella function f!(A::Array{Float64,3})
    steps, m, n = size(A)
    for t in 3:steps, j in 3:n-2, i in 4:m-3
        @comp S A[t, i, j] = 0.25 * (A[t-2, i-3, j-1] + A[t-1, i+1, j+2] + A[t-2, i, j] + A[t-1, i, j])
    end
end
";
    let options = FileOptions { name: "f.jl".into(), function: None, types: vec![], schedule: ScheduleSource::InFile };
    let said = file::transpile(text, &options, Backend::Cuda, TextKind::Explain).unwrap();
    let why = "no stream is possible, since `S` writes elsewhere in each step: its subscripts move with time";
    assert!(said.contains(why), "{said}");
}

#[test]
fn what_one_thread_of_a_gpu_runs_is_told_of() {
    let text = "@tessella function f!(at::Vector{Int}, x::Vector{Float64})
    best = x[1]
    for i in 2:length(x)
        if x[i] > best
            best = x[i]
            at[1] = i
        end
    end
end
";
    let options = FileOptions { name: "f.jl".into(), function: None, types: vec![], schedule: ScheduleSource::InFile };
    let said = file::transpile(text, &options, Backend::Cuda, TextKind::Explain).unwrap();
    assert!(said.contains("i (S1, S2, S3): in order, by one thread of the GPU, since"), "{said}");
}

#[test]
fn overlapping_tiles_are_told_of_only_where_they_can_be_made() {
    let program = |write: &str, read: &str| {
        format!(
            "@tessella function f!(A::Array{{Float64,3}}, B::Matrix{{Float64}})
    m, n, steps = size(A)
    for t in 2:steps
        for j in 2:n-1, i in 2:m-1
            @comp S {write} = 0.5 * ({read})
        end
        for j in 2:n-1, i in 2:m-1
            @comp R B[i, j] = A[i, j, t]
        end
    end
end
"
        )
    };
    for (write, read, listed, refused) in [
        ("A[i, j, t]", "A[i-1, j, t-1] + A[i+1, j-1, t-1]", false, true),
        ("A[i, j, t]", "B[i-1, j] + B[i+1, j-1]", true, false),
    ] {
        let said = explained(&program(write, read)).unwrap();
        assert_eq!(said.contains("    `overlapped`, "), listed, "{said}");
        let why = "    `overlapped`: refused, since what a tile needs of `A` has no constant size\n";
        assert_eq!(said.contains(why), refused, "{said}");
    }
}

/// The loops of an explanation, one a line.
fn loops_of(text: &str) -> Result<String, String> {
    let said = explained(text)?;
    let from = said.find("\nLoops").unwrap();
    let to = said[from + 1..].find("\n\n").map_or(said.len(), |at| from + 1 + at);
    Ok(said[from..to].to_string())
}

#[test]
fn tiles_that_stay_say_what_they_hold_and_what_becomes_of_the_rest() {
    let text = fs::read_to_string(root().join("tests/stencils/heat2d.jl")).unwrap();
    let said = |commands: &str| {
        let schedule = ScheduleSource::Text { text: commands.to_string(), name: "command.jl".to_string() };
        let options = FileOptions { name: "heat2d.jl".into(), function: None, types: vec![], schedule };
        file::transpile(&text, &options, Backend::Cuda, TextKind::Explain).unwrap()
    };
    let holds = "Tiles of `grid_sync(S, t, 3, 2, 12, 16, 16)` hold up to 1116 x 1116 points;";
    let alone = said("grid_sync(S, t, 3, 2, 12)");
    assert!(alone.contains("(else the call is refused)") && alone.contains(holds), "{alone}");
    let both = said("stream(S, t, 6, 4)\ngrid_sync(S, t, 3, 2, 12)");
    assert!(both.contains("; else 6 steps in one pass over the data") && both.contains(holds), "{both}");
}

#[test]
fn rounding_stands_in_the_way_only_where_it_matters() {
    let sum = |annotation: &str, ty: &str| {
        let text = format!(
            "@tessella function total!(s::Vector{{{ty}}}, a::Vector{{{ty}}})\n    for k in 1:1\n        {annotation}for i in 1:length(a)\n            s[k] += a[i]\n        end\n    end\nend\n"
        );
        loops_of(&text).unwrap()
    };
    let note = "sums keep Julia's order, so that they round alike";
    assert!(sum("", "Float64").contains(note), "{}", sum("", "Float64"));
    assert!(sum("@simd ", "Float64").contains("the source allows another order"), "{}", sum("@simd ", "Float64"));
    assert!(!sum("", "Int64").contains(note), "{}", sum("", "Int64"));
}

#[test]
fn simd_is_named_only_where_the_source_may_have_it() {
    let sum = |header: &str| {
        let text = format!(
            "@tessella function total!(s::Vector{{Float64}}, a::Matrix{{Float64}})\n    m, n = size(a)\n    {header}\n        s[i] += a[i, k]\n    end\nend\n"
        );
        loops_of(&text).unwrap()
    };
    let inner = sum("for i in 1:m, k in 1:n");
    assert!(
        inner.contains("`@fastmath` on line 4, or `@simd` at the loop over `k` if it has a `for` of its own"),
        "{inner}"
    );
    let outer = sum("for k in 1:n, i in 1:m");
    assert!(outer.contains("`@fastmath` on line 4 lets them") && !outer.contains("@simd"), "{outer}");
}

#[test]
fn types_are_assumed_only_where_nobody_gave_them() {
    let first = |arguments: &str| {
        let text =
            format!("@tessella function set!({arguments})\n    for i in 1:length(a)\n        a[i] = x\n    end\nend\n");
        explained(&text).unwrap().lines().next().unwrap().to_string()
    };
    assert_eq!(first("a::Vector{Float32}, x::Float32"), "set! on the CPU");
    let assumed = "set! on the CPU, for a::Vector{Float64}, x::Float64 (assumed; `--type` changes it)";
    assert_eq!(first("a, x"), assumed);
    assert_eq!(first("a::Vector{Float64}, x"), "set! on the CPU, for x::Float64 (assumed; `--type` changes it)");
}

#[test]
fn numbers_worked_out_at_entry_are_told_in_the_words_of_the_source() {
    let said = explained("@tessella function up_to!(x::Vector{Float64}, n::Int)\n    for i in 1:isqrt(n)\n        x[i] = 2.0\n    end\nend\n").unwrap();
    assert!(said.contains("  where isqrt(n) > 0:\n    isqrt(n) <= size(x, 1), for `x[i]`"), "{said}");
    assert!(said.contains("  `sqrt_n`, which is `isqrt(n)`, has a value"), "{said}");
}

#[test]
fn arrays_that_may_not_share_memory_are_named() {
    let said = explained("@tessella function add!(a::Vector{Float64}, b::Vector{Float64}, c::Vector{Float64})\n    for i in 1:length(a)\n        a[i] = b[i] + c[i]\n    end\nend\n").unwrap();
    assert!(said.contains("  `a` shares no memory with `b` or `c`\n"), "{said}");
    let alone = explained("@tessella function double!(a::Vector{Float64})\n    for i in 1:length(a)\n        a[i] += a[i]\n    end\nend\n").unwrap();
    assert!(alone.contains("  no subscripts: each is inside") && !alone.contains("share"), "{alone}");
}

#[test]
fn isls_scheduler_frees_loops_that_no_move_of_ours_frees() {
    // A difference of neighbours that the same nest computes: neither loop is free while both statements share it.
    let slopes = "@tessella function slopes!(G::Matrix{Float64}, D::Matrix{Float64}, A::Matrix{Float64})
    m, n = size(A)
    for j in 2:n, i in 2:m
        G[i, j] = A[i, j] - A[i-1, j]
        D[i, j] = G[i, j] * A[i, j] - G[i-1, j] - G[i, j-1]
    end
end
";
    let loops = loops_of(slopes).unwrap();
    let outermost = |line: &&str| line.starts_with("  j") && line.contains("in parallel on CPU threads");
    assert_eq!(loops.lines().filter(outermost).count(), 2, "{loops}");
    assert_eq!(loops.matches("in SIMD vectors").count(), 2, "{loops}");
    // A chain of factors beside a matrix that only reads it.
    let rows = "@tessella function rows!(A::Matrix{Float64}, s::Vector{Float64}, x::Vector{Float64})
    m, n = size(A)
    for i in 2:m
        s[i] = x[i] * s[i-1]
        for j in 1:n
            A[i, j] = A[i-1, j] * x[i] + s[i-1]
        end
    end
end
";
    let loops = loops_of(rows).unwrap();
    assert!(
        loops.lines().any(|line| line.starts_with("  j") && line.contains("in parallel on CPU threads")),
        "{loops}"
    );
}

#[test]
fn isls_scheduler_tiles_what_our_moves_only_stream() {
    let text = fs::read_to_string(root().join("tests/polybench/cholesky.jl")).unwrap();
    let loops = loops_of(&text).unwrap();
    let in_order = |name: &str| loops.lines().any(|line| line.trim_start().starts_with(&format!("{name} (")));
    assert!(in_order("wave") && in_order("j11") && in_order("i11"), "{loops}");
}

/// What `explain` says of the tiles of an order of `gpu_orders` on a GPU.
fn tiles_on_gpu(name: &str) -> String {
    let text = fs::read_to_string(root().join(format!("tests/gpu_orders/{name}.jl"))).unwrap();
    let options =
        FileOptions { name: format!("{name}.jl"), function: None, types: vec![], schedule: ScheduleSource::InFile };
    let said = file::transpile(&text, &options, Backend::Cuda, TextKind::Explain).unwrap();
    said.lines().find(|line| line.contains("chosen:")).unwrap_or_default().trim().to_string()
}

#[test]
fn parallelograms_are_told_of_by_their_edges() {
    let expected = [
        ("levels", "(17, -17) and (17, 17)"),
        ("levels_leaning", "(11, -22) and (10, 35)"),
        ("sweeps_line", "(32, -32) and (0, 32)"),
    ];
    for (name, edges) in expected {
        let said = format!("chosen: diagonals of parallelograms with the edges {edges}, a kernel for each diagonal");
        assert_eq!(tiles_on_gpu(name), said);
    }
}

#[test]
fn a_gpu_has_no_vectorized_loops() {
    let text = "@tessella function f!(A::Matrix{Float32})
    for j in axes(A, 2), i in axes(A, 1)
        @comp S A[i, j] = 2f0 * A[i, j]
    end
end

@schedule f! begin
    vectorize(S, i, 4)
end
";
    let options = FileOptions { name: "f.jl".into(), function: None, types: vec![], schedule: ScheduleSource::InFile };
    let said = file::transpile(text, &options, Backend::Cuda, TextKind::Explain).unwrap();
    assert!(said.contains("in order: `vectorize` is for CPUs, and changes nothing on a GPU"), "{said}");
    assert!(explained(text).unwrap().contains("in SIMD vectors of 4"));
}

#[test]
fn what_could_run_in_parallel_is_named() {
    let text = "@tessella function f!(A::Matrix{Float64})\n    for j in axes(A, 2), i in 2:size(A, 1)\n        @comp S A[i, j] = A[i-1, j] + 1.0\n    end\nend\n@schedule f! begin\n    reverse(S, j)\nend\n";
    let said = loops_of(text).unwrap();
    assert!(said.contains("though `j` could: `parallel(S, j)`") && !said.contains("skew"), "{said}");
    let options = FileOptions { name: "f.jl".into(), function: None, types: vec![], schedule: ScheduleSource::InFile };
    let said = file::transpile(text, &options, Backend::Cuda, TextKind::Explain).unwrap();
    assert!(
        said.contains("though `j` could: `split(S, j, 32)`, then `gpu(S, j0, j1)`.") && !said.contains("`parallel(S"),
        "{said}"
    );
}

#[test]
fn counts_in_places_that_are_data_are_updates() {
    let text = "@tessella function f!(h::Vector{Int64}, idx::Vector{Int64})\n    for i in eachindex(idx)\n        h[idx[i]] += 1\n    end\nend\n";
    let said = explained(text).unwrap();
    assert!(said.contains("adds to the same `h[idx[i]]`"), "{said}");
    assert!(!said.contains("skew"), "{said}");
}

#[test]
fn sums_of_floats_in_places_that_are_data_stay_in_order_whatever_the_source_allows() {
    for before in ["", "@simd ", "@fastmath ", "@fastmath @inbounds "] {
        let text = format!(
            "@tessella function f!(h::Vector{{Float32}}, p::Vector{{Int64}}, w::Vector{{Float32}})\n    {before}for i in \
             eachindex(p)\n        h[p[i]] += w[i]\n    end\nend\n"
        );
        let said = explained(&text).unwrap();
        assert!(said.contains("data say which elements these sums of floats go to"), "{said}");
        assert!(!said.contains("lets them be taken in another"), "{said}");
    }
}

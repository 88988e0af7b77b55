//! Reductions that the threads of a block combine: the order of the additions is what `docs/semantics.md` says, whatever order threads and
//! blocks run in; and what cannot be combined is refused.

use std::iter::repeat_n;
use tessella::file::{FileOptions, ScheduleSource, Sources, transpile};
use tessella::request::{Backend, TextKind};
use tessella_codegen::program::{Node, Program};
use tessella_codegen::{Input, generate};
use tessella_interpreter::scheduled::{self, Completion, ScheduledError};
use tessella_interpreter::{Array, Value};
use tessella_scalar::{Constant, ScalarType};

const DOT: &str = "
@tessella function dot!(out::Vector{Float32}, x::Vector{Float32}, y::Vector{Float32})
    s = 0f0
    @simd for i in 1:length(x)
        s += x[i] * y[i]
    end
    out[1] = s
    return nothing
end
";

/// Blocks and threads of the first launch.
const BLOCKS: usize = 528;
const THREADS: usize = 256;

fn options() -> FileOptions {
    FileOptions { name: "dot.jl".into(), function: None, types: vec![], schedule: ScheduleSource::InFile }
}

fn cuda(text: &str) -> Result<String, String> {
    transpile(text, &options(), Backend::Cuda, TextKind::Cuda)
}

fn x(at: usize) -> f32 {
    ((at * 37 + 11) % 1009) as f32 / 7.0 - 70.3
}

fn y(at: usize) -> f32 {
    ((at * 53 + 5) % 907) as f32 / 13.0 - 33.1
}

/// Runs loops on the two vectors, with threads in an order that a seed gives.
fn run(change: fn(Program) -> Program, n: usize, seed: u64) -> Result<f32, ScheduledError> {
    let sources = Sources::read(DOT, &options()).unwrap();
    let [item] = sources.functions() else { panic!("one function") };
    let unit = sources.unit(item, &[]).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
    let built = unit.build(Backend::Cuda).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
    let input = Input::from(&built.analysed.verified);
    let loops = change(generate(&input).unwrap());
    let vector = |length: usize, value: fn(usize) -> f32| {
        Value::Array(Array::from_fn(ScalarType::F32, vec![length as u64], |at| Constant::f32(value(at))).unwrap())
    };
    let mut arguments = vec![vector(1, |_| 0.0), vector(n, x), vector(n, y)];
    match scheduled::run(&input, &loops, &mut arguments, seed)? {
        Completion::Done(_) => {}
        other => panic!("{other:?}"),
    }
    let Value::Array(out) = &arguments[0] else { panic!("an array") };
    Ok(f32::from_bits(out.get(0).bits as u32))
}

/// Offers combined along halves.
fn halves(offers: &[f32]) -> f32 {
    let mut left = offers.to_vec();
    while left.len() > 1 {
        let half = left.len() / 2;
        left = (0..half).map(|at| left[at] + left[at + half]).collect();
    }
    left[0]
}

/// What a block makes of its threads' offers; those that are missing add nothing.
fn tree(offers: &[f32], threads: usize) -> f32 {
    let all: Vec<f32> = offers.iter().copied().chain(repeat_n(-0.0, threads - offers.len())).collect();
    halves(&all.chunks(32).map(halves).collect::<Vec<f32>>())
}

/// The sum in the order that `docs/semantics.md` states.
fn stated(n: usize) -> f32 {
    let thread = |first: usize| (first..n).step_by(BLOCKS * THREADS).fold(-0.0, |sum, at| sum + x(at) * y(at));
    let block = |number: usize| {
        let offers: Vec<f32> = (number * THREADS..((number + 1) * THREADS).min(n)).map(thread).collect();
        -0.0 + tree(&offers, THREADS)
    };
    let blocks: Vec<f32> = (0..BLOCKS.min(n.div_ceil(THREADS))).map(block).collect();
    0.0 + tree(&blocks, BLOCKS.next_power_of_two())
}

#[test]
fn sums_are_combined_in_the_order_that_is_stated() {
    for n in [1, 31, 33, 255, 257, 5000, BLOCKS * THREADS + 1000] {
        for seed in 0..2 {
            let sum = run(|loops| loops, n, seed).unwrap();
            assert_eq!(sum.to_bits(), stated(n).to_bits(), "{n} elements: {sum} and {}", stated(n));
        }
    }
}

#[test]
fn two_launches_make_the_sum() {
    let text = cuda(DOT).unwrap();
    assert_eq!(kernels(&text), 2, "{text}");
    for part in ["__shfl_down_sync(0xffffffffu, tessella_offer, tessella_half)", "__shared__ float tessella_offers[8];"]
    {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
}

#[test]
fn offers_of_threads_that_do_not_come_are_noticed() {
    fn guarded(nodes: &mut Vec<Node>) {
        for node in nodes {
            match node {
                Node::Spread(it) if !it.combined.is_empty() => {
                    let body = std::mem::take(&mut it.body);
                    // Offers twice.
                    it.body = body.iter().chain(&body).cloned().collect();
                }
                Node::Spread(it) => guarded(&mut it.body),
                _ => {}
            }
        }
    }
    let twice = |mut loops: Program| {
        loops.kernels.iter_mut().for_each(|kernel| guarded(&mut kernel.body));
        loops
    };
    assert!(matches!(run(twice, 300, 0), Err(ScheduledError::Misplaced { .. })));
}

#[test]
fn what_must_keep_its_order_is_not_combined() {
    let ordered = DOT.replace("@simd for", "for");
    let asked = "
@schedule dot! begin
    S0
    @combine for t = i
        S1
    end
    S2
end
";
    let error = cuda(&format!("{ordered}{asked}")).unwrap_err();
    assert!(error.contains("E0401") && error.contains("in parallel on the GPU"), "{error}");
    // In any order, but of as many iterations as there are elements.
    let error = cuda(&format!("{DOT}{asked}")).unwrap_err();
    assert!(error.contains("E0603") || error.contains("E0612"), "{error}");
}

#[test]
fn a_block_that_is_asked_to_combine_does_so() {
    let asked = "
@schedule dot! begin
    assume(length(x) <= 1000)
    S0
    @combine for t = i
        S1
    end
    S2
end
";
    let text = cuda(&format!("{DOT}{asked}")).unwrap();
    assert!(text.contains("__launch_bounds__(1024) dot_"), "{text}");
    assert!(text.contains("tessella_offer = x("), "{text}");
}

/// How many kernels there are, those for short indices not counted twice.
fn kernels(text: &str) -> usize {
    text.lines().filter(|line| line.contains("__global__") && !line.contains("_32(")).count()
}

const SUMS: &str = "
@tessella function sums(x::Vector{Int64})
    s = 0
    q = 0
    for i in 1:length(x)
        s += x[i]
        q += x[i] * x[i]
    end
    return s, q
end
";

#[test]
fn sums_of_one_vector_share_two_launches() {
    assert_eq!(kernels(&cuda(SUMS).unwrap()), 2);
    let in_two_loops = SUMS.replace("        q +=", "    end\n    for i in 1:length(x)\n        q +=");
    assert_eq!(kernels(&cuda(&in_two_loops).unwrap()), 2);
}

#[test]
fn a_sum_that_needs_another_has_a_pass_of_its_own() {
    let text = SUMS.replace("        q += x[i] * x[i]", "    end\n    for i in 1:length(x)\n        q += x[i] * s");
    assert_eq!(kernels(&cuda(&text).unwrap()), 4);
}

#[test]
fn a_block_is_asked_to_combine_updates_of_two_elements() {
    let asked = "
@schedule sums begin
    assume(length(x) <= 1000)
    S0
    S1
    @combine for t = i
        S2
        S3
    end
end
";
    let text = cuda(&format!("{SUMS}{asked}")).unwrap();
    assert!(text.contains("// S2, S3: combined by the block, along a tree."), "{text}");
    assert!(text.contains("tessella_offer_2 = "), "{text}");
    // Each instance reads what the ones before left in the element of the other update.
    let needs = SUMS.replace("x[i] * x[i]", "x[i] * s");
    let error = cuda(&format!("{needs}{asked}")).unwrap_err();
    assert!(error.contains("E0401"), "{error}");
}

#[test]
fn loads_run_ahead_past_the_ends_of_short_lines() {
    let matrix = SUMS
        .replace("Vector", "Matrix")
        .replace("for i in 1:length(x)", "for j in axes(x, 2), i in axes(x, 1)")
        .replace("x[i]", "x[i, j]");
    let text = cuda(&matrix).unwrap();
    for part in [
        "if (__any_sync(__activemask(), tessella_rounds % 8 == 0 || tessella_rounds >= 32)) {",
        "#pragma unroll 8\n                    for (int64_t tessella_left = ",
        "i0 = tessella_ends_i0 ? 0 : i0 + 1;",
        "j0 += tessella_ends_i0;",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    // A vector has one line.
    assert!(!cuda(SUMS).unwrap().contains("tessella_left"));
}

/// A tree of halves goes through all warps of a block: where a wider loop over threads stands beside the one that combines, or copies
/// take more threads, they are a power of two still.
#[test]
fn blocks_with_wider_loops_have_whole_trees() {
    let beside = "function f!(s::Vector{Int64}, r::Matrix{Int64}, A::Matrix{Int64}, w::Vector{Int64})
    n = size(A, 2)
    for j in 1:n
        for k in 1:224
            @comp R r[k, j] = w[k]
        end
        for i in 1:224
            @comp S s[j] += A[i, j] * w[i]
        end
    end
end
@schedule f! begin
    split(S, i, 96); interchange(S, i0, i1); rfactor(S, i0, 1)
    @block x for b = j
        @thread x for k = k
            R
        end
        @combine for t = i1
            S_start
            for i0 = fld(i - 1, 96)
                S
            end
            S_total
        end
    end
end
";
    let copied = "function f!(s::Vector{Int64}, A::Matrix{Int64}, w::Vector{Int64})
    n = size(A, 2)
    for j in 1:n, i in 1:224
        @comp S s[j] += A[i, j] * w[i]
    end
end
@schedule f! begin
    split(S, i, 96); interchange(S, i0, i1); rfactor(S, i0, 1)
    @block x for b = j
        @combine for t = i1
            S_start
            for i0 = fld(i - 1, 96)
                S
            end
            S_total
        end
    end
    cache_shared(w, S, b; threads=:footprint)
end
";
    for text in [beside, copied] {
        let code = cuda(text).unwrap_or_else(|error| panic!("{error}"));
        let launch = code.lines().find(|it| it.contains("<<<")).expect("a kernel is launched");
        assert!(launch.contains("dim3(256, 1, 1)"), "{launch}");
        assert!(code.contains("tessella_offers[8]"), "{code}");
    }
}

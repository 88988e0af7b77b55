//! What `@fastmath` allows on a GPU: approximate instructions, in the statements that say so and in no other.

use tessella::file::{FileOptions, ScheduleSource, Sources};
use tessella::request::{Backend, TextKind};
use tessella_runtime::cuda::{Nvrtc, Target};

const QUOTIENTS: &str = "A[i] / 9f0 + A[i] / B[i] + sqrt(A[i]) + A[i] / sqrt(B[i]) + 1f0 / sqrt(A[i] + B[i])";

/// The kernels of a loop over vectors, and the flags that they are compiled with.
fn kernels(element: &str, body: &str) -> (String, Vec<&'static str>) {
    let text = format!(
        "@tessella function f!(A::Vector{{{element}}}, B::Vector{{{element}}})\n    for i in 1:length(A)\n        {body}\n    end\n    \
         return nothing\nend\n"
    );
    let options = FileOptions { name: "f.jl".into(), function: None, types: vec![], schedule: ScheduleSource::InFile };
    let sources = Sources::read(&text, &options).unwrap();
    let unit = sources.unit(&sources.functions()[0], &[]).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
    let built = unit.build(Backend::Cuda).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
    let source = built.cuda(&unit).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
    (source.kernels, source.flags)
}

#[test]
fn fastmath_divides_and_takes_roots_by_one_instruction() {
    let (text, flags) = kernels("Float32", &format!("@fastmath A[i] = {QUOTIENTS}"));
    for wanted in [
        "(1.0f / 9.0f)",
        "tessella_fast_div_f32(",
        "tessella_fast_sqrt_f32(",
        "* tessella_fast_inverse_sqrt_f32(",
        "+ tessella_fast_inverse_sqrt_f32(",
        "div.approx.ftz.f32",
        "rsqrt.approx.ftz.f32",
    ] {
        assert!(text.contains(wanted), "no {wanted}:\n{text}");
    }
    assert_eq!(flags, ["-fmad=true"]);
    match Nvrtc::get() {
        Ok(nvrtc) => drop(nvrtc.compile(&text, "f.cu", Target::Cubin(90), &flags).unwrap()),
        Err(error) => println!("skipped: {error}"),
    }
}

#[test]
fn without_fastmath_division_is_exact() {
    let (text, flags) = kernels("Float32", &format!("A[i] = {QUOTIENTS}"));
    assert!(text.contains("tessella_by_inverse_f32(A_reg(i_A), 9.0f,"), "{text}");
    assert!(text.contains("A_reg(i_A) / B_reg(i_B)"), "{text}");
    assert!(text.contains("sqrtf("), "{text}");
    assert!(!text.contains("fast_") && !text.contains("approx"), "{text}");
    assert_eq!(flags, ["-fmad=false"]);
}

#[test]
fn double_precision_keeps_the_division_by_what_varies() {
    let (text, _) = kernels("Float64", "@fastmath A[i] = A[i] / 3.0 + A[i] / B[i] + sqrt(A[i]) - A[i] / 0.0");
    assert!(text.contains("(1.0 / 3.0)") && text.contains(" / 0.0"), "{text}");
    assert!(!text.contains("approx"), "{text}");
}

#[test]
fn a_statement_that_copies_lets_others_be_fused() {
    assert_eq!(kernels("Float32", "@fastmath A[i] = 2f0 * A[i] + B[i]\n        B[i] = A[i]").1, ["-fmad=true"]);
    assert_eq!(kernels("Float32", "@fastmath A[i] = 2f0 * A[i] + B[i]\n        B[i] = 2f0 * A[i]").1, ["-fmad=false"]);
}

/// A dot product, as a file has it.
fn dot(before_function: &str, before_loop: &str) -> String {
    format!(
        "{before_function} function dotted(x::Vector{{Float32}}, y::Vector{{Float32}})\n    s = 0f0\n    {before_loop}for i in eachindex(x)\n        s += x[i] * y[i]\n    end\n    \
         return s\nend\n"
    )
}

#[test]
fn fastmath_before_a_function_lets_threads_share_a_sum() {
    let options = FileOptions { name: "f.jl".into(), function: None, types: vec![], schedule: ScheduleSource::InFile };
    let code = |text: &str| tessella::file::transpile(text, &options, Backend::Cuda, TextKind::Cuda).unwrap();
    let parallel = |text: &str| tessella::file::check(text, &options, Backend::Cuda).passed;
    assert!(parallel(&dot("@tessella", "@fastmath "))[0].contains("parallel: "));
    // In Julia's order one thread adds, and the others bring it what it adds.
    assert_ne!(parallel(&dot("@tessella", "")), parallel(&dot("@tessella", "@fastmath ")));
    for before in ["@tessella @fastmath", "@fastmath @tessella", "@tessella target=:cuda @inline @fastmath"] {
        assert_eq!(parallel(&dot(before, "")), parallel(&dot("@tessella", "@fastmath ")), "{before}");
        assert!(code(&dot(before, "")).contains("nvcc -fmad=true"), "{before}");
    }
    assert_eq!(parallel(&dot("@fastmath", "")), parallel(&dot("@tessella", "@fastmath ")));
}

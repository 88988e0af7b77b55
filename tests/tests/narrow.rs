//! Kernels that count in 32 bits still compute in 64 bits what the source computes with its integers.

use tessella::file::{FileOptions, ScheduleSource, Sources};
use tessella::request::Backend;
use tessella_runtime::cuda::{Nvrtc, Target};

/// The text of the kernel of this name, from its head to its end.
fn kernel<'a>(text: &'a str, name: &str) -> &'a str {
    let start = text.find(&format!(" {name}(")).unwrap_or_else(|| panic!("no kernel {name} in\n{text}"));
    let rest = &text[start..];
    &rest[..rest.find("\n}\n").unwrap()]
}

/// The kernels of a program whose loop over `i` is shared by blocks of 64 threads.
fn cuda(source: &str) -> String {
    let schedule =
        ScheduleSource::Text { text: "split(S, i, 64); gpu(S, i0, i1)".to_string(), name: "command.jl".to_string() };
    let options = FileOptions { name: "narrow.jl".to_string(), function: None, types: vec![], schedule };
    let sources = Sources::read(source, &options).unwrap();
    let unit = sources.unit(&sources.functions()[0], &[]).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
    let built = unit.build(Backend::Cuda).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
    let text = built.cuda(&unit).unwrap_or_else(|errors| panic!("{}", sources.show(&errors))).kernels;
    if let Ok(nvrtc) = Nvrtc::get() {
        nvrtc.compile(&text, "narrow.cu", Target::Cubin(90), &["-fmad=false"]).unwrap();
    }
    text
}

#[test]
fn iterators_in_values_have_64_bits() {
    let text = cuda(
        "@tessella function squares!(A::Vector{Int})
    for i in 1:length(A)
        @comp S A[i] = i * i + (2i - 7) * A[i]
    end
end
",
    );
    let narrow = kernel(&text, "squares_S_32");
    assert!(narrow.contains("const int32_t i = "), "{narrow}");
    assert!(
        narrow.contains("tessella_mul_i64((int64_t)i, (int64_t)i), tessella_mul_i64((int64_t)(2 * i - 7), A(i))"),
        "{narrow}"
    );
    assert!(kernel(&text, "squares_S").contains("tessella_mul_i64(i, i), tessella_mul_i64(2 * i - 7, A(i))"), "{text}");
}

#[test]
fn an_integer_argument_that_bounds_a_loop_has_64_bits_in_values() {
    let text = cuda(
        "@tessella function scaled!(A::Vector{Int}, n::Int)
    for i in 1:n
        @comp S A[i] = n * A[i] * n
    end
end
",
    );
    let narrow = kernel(&text, "scaled_S_32");
    assert!(narrow.contains("int32_t n"), "{narrow}");
    assert!(narrow.contains("A(i) = tessella_mul_i64(tessella_mul_i64((int64_t)n, A(i)), (int64_t)n);"), "{narrow}");
}

#[test]
fn a_number_that_passes_32_bits_leaves_one_version() {
    let far = |factor: &str| {
        cuda(&format!(
            "@tessella function far!(A::Vector{{Int}})
    for i in 1:length(A)
        @comp S A[i] = (i + {factor}) * A[i]
    end
end
"
        ))
    };
    let text = far("5000000000");
    assert!(text.contains(" far_S(") && !text.contains("int32_t i"), "{text}");
    assert!(far("5000").contains(" far_S_32("));
}

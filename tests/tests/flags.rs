//! What the C compiler is told, so that every operation rounds for itself and loops are vectors where that is safe.

use tessella::file::{FileOptions, ScheduleSource, Sources};
use tessella::request::Backend;

/// Whether loops are kept from the vectorizer, which has been seen to fuse neighbouring sums of products.
fn stays_scalar(body: &str) -> bool {
    let text = format!(
        "function f!(A::Vector{{Float64}}, B::Vector{{Float64}}, Z::Matrix{{Float64}}, c::Float64, d::Float64, steps::Int)\n{body}\nend\n"
    );
    let options = FileOptions { name: "f.jl".into(), function: None, types: vec![], schedule: ScheduleSource::InFile };
    let sources = Sources::read(&text, &options).unwrap_or_else(|refused| panic!("{refused}"));
    let unit = sources.unit(&sources.functions()[0], &[]).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
    let built = unit.build(Backend::C).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
    let source = built.c(&unit, None).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
    source.flags.contains(&"-fno-tree-loop-vectorize")
}

#[test]
fn copies_to_edges_leave_vectors_to_other_loops() {
    let edges = "
        n = length(A)
        for t in 1:steps
            for i in 3:n-2
                B[i] = c * (A[i-1] + A[i+1]) + d * A[i]
            end
            B[1] = B[3]; B[2] = B[3]; B[n] = B[n-2]; B[n-1] = B[n-2]
            A, B = B, A
        end";
    assert!(!stays_scalar(edges));
}

#[test]
fn neighbouring_sums_of_products_stay_scalar() {
    let direct = "
        for i in axes(Z, 2)
            Z[1, i] = A[i] * c - B[i] * d
            Z[2, i] = A[i] * d + B[i] * c
        end";
    assert!(stays_scalar(direct));
    // Compilers see through variables, and through what the same iteration stored elsewhere.
    let through_variables = "
        for i in axes(Z, 2)
            re = A[i] * c - B[i] * d
            im = A[i] * d + B[i] * c
            if re > im
                Z[1, i] = re
                Z[2, i] = im
            end
        end";
    assert!(stays_scalar(through_variables));
    let through_arrays = "
        for i in axes(Z, 2)
            A[i] = A[i] * c - B[i] * d
            B[i] = B[i] * d + c
            Z[1, i] = A[i]
            Z[2, i] = B[i]
        end";
    assert!(stays_scalar(through_arrays));
    // A loop of two iterations may be written out.
    let written_out = "
        for i in axes(Z, 2)
            for q in 1:2
                B[2i-2+q] = A[i] * c - d
            end
            Z[1, i] = B[2i-1]
            Z[2, i] = B[2i]
        end";
    assert!(stays_scalar(written_out));
}

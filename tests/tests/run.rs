//! `tessella run` makes inputs that fit, also where nothing checks them.

use tessella::file::{FileOptions, ScheduleSource, transpile};
use tessella::request::{Backend, TextKind};
use tessella::run::{Failed, Outcome, RunOptions, run};

const SOURCE: &str = "\
function p!(A::Vector{Float32}, n::Int)
    @inbounds for i = 1:n
        A[i] = 2A[i] + 1f0
    end
end
";

fn ran(source: &str, sizes: Vec<(String, i64)>) -> Vec<Outcome> {
    with_values(source, &[], sizes, &[]).unwrap_or_else(|text| panic!("{text}"))
}

type Named<'a, T> = &'a [(&'a str, T)];

fn with_values(
    source: &str,
    types: Named<'_, &str>,
    sizes: Vec<(String, i64)>,
    values: Named<'_, f64>,
) -> Result<Vec<Outcome>, String> {
    let types = types.iter().map(|(name, ty)| (name.to_string(), ty.to_string())).collect();
    let options = FileOptions { name: "p.jl".into(), function: None, types, schedule: ScheduleSource::InFile };
    let values = values.iter().map(|(name, value)| (name.to_string(), *value)).collect();
    let run_options = RunOptions { sizes, values, seed: 1, repeat: 1, compare: true, profile: false, chunked: false };
    run(source, &options, &run_options, Backend::C)
        .map_err(|(Failed::Refused(text) | Failed::ToolChain(text) | Failed::Usage(text))| text)
}

#[test]
fn names_that_no_function_has_are_refused() {
    let said = with_values(SOURCE, &[("B", "Vector{Float64}")], vec![], &[]).unwrap_err();
    assert_eq!(said, "error[E0116]: `p!` has no argument `B`\n = help: name one of `A`, `n`\n\n");
    let two = format!("{SOURCE}\nfunction q!(A::Vector{{Float32}}, tol)\n    A[1] = tol\nend\n");
    let said = with_values(&two, &[], vec![], &[("tolerance", 0.5), ("tol", 0.5)]).unwrap_err();
    assert!(said.starts_with("error[E0116]: no function that is looked at has an argument `tolerance`\n"), "{said}");
    assert!(with_values(&two, &[("tol", "Float32")], vec![], &[("tol", 0.5)]).is_ok());
}

#[test]
fn values_that_are_made_up_may_keep_a_loop_from_ending() {
    let source = "\
function halved!(y::Vector{Float32}, tol::Float32)
    e = 1f0
    k = 0
    while e > (tol < 2f0 ? -1f0 : 0.5f0)
        e *= 0.5f0
        k += 1
    end
    y[1] = k
end
";
    let said = with_values(source, &[], vec![], &[]).unwrap_err();
    assert!(said.ends_with("may not: give them with `--value` and `--size`"), "{said}");
    assert!(with_values(source, &[], vec![], &[("tol", 3.0)]).is_ok());
}

#[test]
fn new_arrays_and_tuples_are_shown_and_compared() {
    let source = "function q(n::Int)\n    A = [10i + j for i in 1:n, j in 2:n]\n    return A, n, (2.5f0,)\nend\n";
    let outcome = &ran(source, vec![("n".to_string(), 2)])[0];
    assert_eq!(outcome.results, ["2x1 Array{Int64}: 12, 22", "2 (Int64)", "2.5f0 (Float32)"]);
    assert!(outcome.differences.is_empty());
}

#[test]
fn arrays_under_inbounds_are_as_large_as_their_subscripts() {
    let outcomes = ran(SOURCE, vec![("n".to_string(), 1000)]);
    assert_eq!(outcomes[0].params, [("A_1".to_string(), 1000), ("n".to_string(), 1000)]);
    assert!(outcomes[0].differences.is_empty());
}

#[test]
fn sizes_of_deep_nests_are_small_unless_they_are_given() {
    let source = "\
function deep!(C::Array{Float64,3}, A::Array{Float64,3})
    for k in axes(C, 3), j in axes(C, 2), i in axes(C, 1)
        for r in axes(A, 3), q in axes(A, 2), p in axes(A, 1)
            C[i, j, k] += A[p, q, r]
        end
    end
end

function flat!(C::Matrix{Float64}, A::Matrix{Float64}, steps::Int)
    for t in 1:steps, j in axes(C, 2), i in axes(C, 1)
        C[i, j] += A[i, j]
    end
end
";
    let [deep, flat] = &ran(source, vec![])[..] else { panic!("two functions") };
    assert!(deep.params.iter().all(|(_, value)| *value == 8), "{:?}", deep.params);
    let side = |(name, value): &(String, i64)| *value == if name == "steps" { 10 } else { 64 };
    assert!(flat.params.iter().all(side), "{:?}", flat.params);
}

#[test]
fn sizes_are_such_that_tests_on_the_way_may_pass() {
    let source = "\
function q!(x::Matrix{Float64}, y::Matrix{Float64}, place::Vector{Int32})
    changed = true
    while changed
        changed = false
        for i in eachindex(place)
            place[i] = i
        end
        y .= x
    end
end
";
    let outcome = &ran(source, vec![("x_1".to_string(), 30)])[0];
    let size = |name: &str| outcome.params.iter().find(|(known, _)| known == name).map(|(_, value)| *value);
    assert_eq!((size("y_1"), size("y_2")), (Some(30), size("x_2")));
    assert!(size("place_1").is_some_and(|size| size < 1 << 20));
    assert!(outcome.differences.is_empty());
}

#[test]
fn arrays_of_subscripts_stay_inside() {
    let source = "\
function f!(y::Vector{Float64}, x::Vector{Float64}, idx::Vector{Int32}, H::Vector{Int}, b::Vector{UInt8})
    for i in eachindex(y)
        y[i] = x[idx[i] - 2]
        H[b[i] + 1] += 1
    end
end
";
    let options = FileOptions { name: "f.jl".into(), function: None, types: vec![], schedule: ScheduleSource::InFile };
    let sizes = vec![("x_1".to_string(), 3), ("y_1".to_string(), 200), ("H_1".to_string(), 5)];
    let run_options =
        RunOptions { sizes, values: vec![], seed: 1, repeat: 1, compare: true, profile: false, chunked: false };
    let outcomes = match run(source, &options, &run_options, Backend::C) {
        Ok(outcomes) => outcomes,
        Err(Failed::Refused(text) | Failed::ToolChain(text) | Failed::Usage(text)) => panic!("{text}"),
    };
    assert!(outcomes[0].differences.is_empty());
}

#[test]
fn sums_in_another_order_may_round_in_another_way_where_the_source_lets_them() {
    let source = "\
function total!(s::Vector{Float64}, x::Vector{Float64})
    s[1] = 0.0
    @fastmath for i in 1:length(x)
        s[1] += x[i]
    end
end
";
    let outcome = &ran(source, vec![("x_1".to_string(), 1000)])[0];
    assert!(outcome.differences.is_empty(), "{:?}", outcome.differences);
    let rounding = outcome.rounding.as_deref().expect("a thousand terms in eight sums round in another way");
    assert!(rounding.starts_with("one number differs by") && rounding.contains("`@fastmath`"), "{rounding}");
    let exact = &ran(&source.replace("@fastmath ", ""), vec![("x_1".to_string(), 1000)])[0];
    assert!(exact.differences.is_empty() && exact.rounding.is_none());
}

#[test]
fn sizes_that_no_function_takes_are_called_so() {
    let options = FileOptions { name: "p.jl".into(), function: None, types: vec![], schedule: ScheduleSource::InFile };
    let sizes = vec![("n".to_string(), 1 << 50)];
    let run_options =
        RunOptions { sizes, values: vec![], seed: 1, repeat: 1, compare: true, profile: false, chunked: false };
    match run(SOURCE, &options, &run_options, Backend::C) {
        Err(Failed::Usage(text)) => assert!(text.contains("`n` cannot be 1125899906842624"), "{text}"),
        Ok(_) | Err(Failed::Refused(_) | Failed::ToolChain(_)) => panic!("2^50 is no size"),
    }
}

/// The condition is not known at entry, so entry looks at the loop's range whatever it says, and the range need not be there.
#[test]
fn ranges_under_conditions_that_entry_leaves_out_are_read_where_they_are() {
    let source = "\
function f!(A::Vector{Float32}, B::Vector{Float32}, P::Vector{Int})
    if B[1] >= 0f0
        for q in P[1]:P[2]-1
            B[1] = A[q]
        end
    end
end
";
    let options = FileOptions { name: "f.jl".into(), function: None, types: vec![], schedule: ScheduleSource::InFile };
    let text = transpile(source, &options, Backend::C, TextKind::C).unwrap();
    let (_, search) = text.split_once("// fails\n").expect("the range is looked at");
    let search = search.split_once("    }\n").unwrap().0;
    assert!(search.contains("1 <= P_1 ? P(1)") && search.contains("2 <= P_1 ? P(2)"), "{search}");
}

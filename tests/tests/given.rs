//! Numbers that entry works out from floats: the texts that do it, and runs on made-up arguments.

use tessella::file::{FileOptions, ScheduleSource, transpile};
use tessella::request::{Backend, TextKind};
use tessella::run::{Failed, Outcome, RunOptions, run};
use tessella_tests::{golden, report, root};

const STEPS: &str = "\
function steps!(u::Vector{Float64}, time::Float64, dt::Float32, sigma::Float32, rounds::UInt8, twice::Bool)
    nt = round(Int, time / dt)
    width = ceil(Int, 3sigma)
    for t in 1:nt
        for i in 1:length(u)-width
            @fastmath u[i] = u[i] * 0.5 + u[i] * dt + width
        end
    end
    for k in 1:floor(Int, sqrt(rounds * (twice ? 2.0 : 1.0) / 3))
        u[k] = k
    end
end
";

const SIEVE: &str = "\
function sieve!(sieve::Vector{Int8}, n::Int)
    for k in 2:isqrt(n)
        for j in 2k:k:n
            sieve[j] = 0
        end
    end
end
";

fn options() -> FileOptions {
    FileOptions { name: "p.jl".into(), function: None, types: vec![], schedule: ScheduleSource::InFile }
}

fn text(source: &str, backend: Backend, kind: TextKind) -> String {
    transpile(source, &options(), backend, kind).unwrap_or_else(|told| panic!("{told}"))
}

#[test]
fn texts_read_as_recorded() {
    let of = |backend, kind, name: &str| {
        golden(&root().join("tests/snapshots/given").join(name), &text(STEPS, backend, kind))
    };
    report(
        [
            of(Backend::C, TextKind::C, "steps.c"),
            of(Backend::C, TextKind::Header, "steps.h"),
            of(Backend::Cuda, TextKind::Cuda, "steps.cu"),
        ]
        .into_iter()
        .filter_map(Result::err)
        .collect(),
    );
}

fn ran(source: &str, sizes: &[(&str, i64)], values: &[(&str, f64)]) -> Result<Outcome, String> {
    let run_options = RunOptions {
        sizes: sizes.iter().map(|(name, value)| (name.to_string(), *value)).collect(),
        values: values.iter().map(|(name, value)| (name.to_string(), *value)).collect(),
        seed: 1,
        repeat: 1,
        compare: true,
        profile: false,
        chunked: false,
    };
    match run(source, &options(), &run_options, Backend::C) {
        Ok(outcomes) => Ok(outcomes.into_iter().next().expect("there is one function")),
        Err(Failed::Refused(text) | Failed::ToolChain(text) | Failed::Usage(text)) => Err(text),
    }
}

fn param(outcome: &Outcome, name: &str) -> i64 {
    outcome.params.iter().find(|(known, _)| known == name).expect("there is such a parameter").1
}

#[test]
fn made_up_floats_give_numbers_that_fit() {
    for source in [STEPS, SIEVE] {
        let outcome = ran(source, &[], &[]).unwrap();
        assert!(outcome.differences.is_empty());
        let given: Vec<&(String, i64)> = outcome.params.iter().filter(|(name, _)| name.as_str() != "u_1").collect();
        assert!(given.iter().all(|(_, value)| (1..=200).contains(value)), "{given:?}");
    }
}

#[test]
fn floats_that_users_give_are_taken() {
    let outcome = ran(STEPS, &[("rounds", 12)], &[("time", 1.0), ("dt", 0.1), ("sigma", 0.4), ("twice", 0.0)]).unwrap();
    assert!(outcome.differences.is_empty());
    assert_eq!([param(&outcome, "nt"), param(&outcome, "width")], [10, 2]);
    assert_eq!(param(&ran(SIEVE, &[("n", 120), ("sieve_1", 120)], &[]).unwrap(), "sqrt_n"), 10);
}

#[test]
fn what_has_no_value_is_refused() {
    let told = ran(STEPS, &[], &[("time", 1.0), ("dt", 0.0)]).err();
    assert!(told.as_ref().is_some_and(|told| told.contains("round(Int64, time / Float64(dt))")), "{told:?}");
}

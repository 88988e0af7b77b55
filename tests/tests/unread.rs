//! Fillings of arrays that no read sees are left out, all others stay; and the results are the source's.

use tessella::file::{FileOptions, ScheduleSource, Sources};
use tessella::request::{Backend, TextKind};
use tessella::run::{Failed, RunOptions, run};
use tessella_tests::report;

fn options() -> FileOptions {
    FileOptions { name: "case.jl".into(), function: None, types: vec![], schedule: ScheduleSource::InFile }
}

/// The names of the statements that a program does without.
fn left_out(text: &str, backend: Backend) -> Vec<String> {
    let sources = Sources::read(text, &options()).unwrap_or_else(|said| panic!("{said}"));
    let unit = sources.unit(&sources.functions()[0], &[]).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
    let built = unit.build(backend).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
    built.analysed.unread.into_iter().map(|it| it.name).collect()
}

/// Runs a program on a CPU for small sizes and compares it with the interpreter, where the call is not refused.
fn compare(text: &str) -> Result<(), String> {
    for n in [0, 1, 2, 7] {
        for k in [0, 1, 3] {
            let run_options = RunOptions {
                sizes: vec![("n".to_string(), n), ("k".to_string(), k)],
                values: vec![],
                seed: 7,
                repeat: 1,
                compare: true,
                profile: false,
                chunked: false,
            };
            let outcomes = run(text, &options(), &run_options, Backend::C).map_err(|failed| match failed {
                Failed::Refused(text) | Failed::ToolChain(text) | Failed::Usage(text) => text,
            })?;
            if let Some(difference) = outcomes.iter().flat_map(|outcome| outcome.differences.first()).next() {
                return Err(format!("n={n} k={k}: {difference}"));
            }
        }
    }
    Ok(())
}

/// `f!(B, A, idx, k)` with this body.
fn program(body: &str) -> String {
    format!(
        "@tessella function f!(B::Vector{{Float64}}, A::Vector{{Float64}}, idx::Vector{{Int64}}, k::Int64)
    n = length(A)
    {body}
    return nothing
end
"
    )
}

#[track_caller]
fn check(cases: &[&str], expected: &[&str]) {
    let mut failures = vec![];
    for body in cases {
        let text = program(body);
        for backend in [Backend::C, Backend::Cuda] {
            let found = left_out(&text, backend);
            if found != expected {
                failures.push(format!("{text}leaves out {found:?}, not {expected:?}"));
            }
        }
        failures.extend(compare(&text).err().map(|said| format!("{text}{said}")));
    }
    report(failures);
}

const READ_ALL: &str = "for i in 1:n; @comp R B[i] = t[i]; end";

#[test]
fn fillings_of_arrays_that_are_written_before_they_are_read_are_left_out() {
    let rewritten = format!("for i in 1:n; @comp W t[i] = 2A[i]; end; {READ_ALL}");
    check(
        &[
            &format!("t = zeros(n); {rewritten}"),
            &format!("t = zeros(Float64, n); {rewritten}"),
            &format!("t = fill(3.0, n); {rewritten}"),
            // Read in part.
            "t = ones(n); for i in 2:n-1; @comp W t[i] = A[i]; end; for i in 3:n-2; @comp R B[i] = t[i-1] + t[i+1]; end",
            // Written in pieces, which meet for all sizes.
            "t = zeros(n + 2); for i in 1:n; @comp W t[i+1] = A[i]; end
             @comp L t[1] = 1.0; @comp H t[n+2] = 2.0; for i in 1:n; @comp R B[i] = t[i] + t[i+2]; end",
            // Of each step.
            "for s in 1:k; t = zeros(n); for i in 1:n; @comp W t[i] = A[i] + s; end; for i in 1:n; @comp R B[i] += t[n-i+1]; end; end",
            // Written in the first step, and added to from then on.
            "t = zeros(n); for s in 1:k; for i in 1:n; @comp W t[i] = A[i]; end; for i in 1:n; @comp U t[i] += 1.0; end
             for i in 1:n; @comp R B[i] = t[i]; end; end",
            // Read at places that are data.
            "t = zeros(n); for i in 1:n; @comp W t[i] = A[i]; end; for i in 1:n; @comp R B[i] = t[idx[i]]; end",
            // Nobody reads it.
            "t = zeros(n); for i in 1:n; @comp W t[i] = A[i]; B[i] = A[i]; end",
        ],
        &["S0"],
    );
    check(&[&format!("t = zeros(n); for i in 1:n; @comp Z t[i] = 1.0; end; {rewritten}")], &["S0", "Z"]);
}

#[test]
fn fillings_that_may_be_read_stay() {
    check(
        &[
            // Sums.
            "t = zeros(n); for s in 1:k, i in 1:n; @comp W t[i] += A[i]; end; for i in 1:n; @comp R B[i] = t[i]; end",
            // Written in part.
            &format!("t = zeros(n); for i in 2:n; @comp W t[i] = A[i]; end; {READ_ALL}"),
            &format!("t = zeros(n); for i in 1:2:n; @comp W t[i] = A[i]; end; {READ_ALL}"),
            // Written only where data say so.
            &format!("t = zeros(n); for i in 1:n; if A[i] > 0.5; @comp W t[i] = A[i]; end; end; {READ_ALL}"),
            &format!("t = zeros(n); for i in 1:n; A[i] > 0.9 && break; @comp W t[i] = A[i]; end; {READ_ALL}"),
            &format!("t = zeros(n); for i in 1:n; @comp W t[idx[i]] = A[i]; end; {READ_ALL}"),
            // Not for k = 0.
            &format!("t = zeros(n); for s in 1:k, i in 1:n; @comp W t[i] = A[i] + s; end; {READ_ALL}"),
            // Not for n > 5.
            &format!("t = zeros(n); for i in 1:min(n, 5); @comp W t[i] = A[i]; end; {READ_ALL}"),
            // Read in the first step, before the write.
            "t = zeros(n); for s in 1:k; for i in 1:n; @comp R B[i] = t[i]; end; for i in 1:n; @comp W t[i] = A[i]; end; end",
            // Read where data say so.
            "t = zeros(n); for i in 1:n; if A[i] > 0.5; @comp R B[i] = t[i]; end; end; for i in 1:n; @comp W t[i] = A[i]; end",
            // The caller's.
            "for i in 1:n; @comp Z B[i] = 0.0; end; for i in 1:n; @comp W B[i] = A[i]; end",
        ],
        &[],
    );
    // The caller sees what the function gives back; elements outside are outside for who never reads them, too.
    let returned = "@tessella function f!(A::Vector{Float64}, k::Int64)
    n = length(A)
    t = zeros(n)
    for i in 2:n
        t[i] = A[i]
    end
    return t
end
";
    let outside = program(&format!(
        "t = zeros(n); for i in 1:k; @comp Z t[i] = 1.0; end; for i in 1:n; @comp W t[i] = A[i]; end; {READ_ALL}"
    ));
    assert_eq!(left_out(returned, Backend::C), [""; 0]);
    compare(returned).unwrap();
    assert_eq!(left_out(&outside, Backend::C), ["S0"]);
}

#[test]
fn a_filling_that_a_command_names_stays() {
    let text = program(&format!("t = zeros(n); for i in 1:n; @comp W t[i] = A[i]; end; {READ_ALL}"));
    let scheduled = |command: &str| left_out(&format!("{text}\n@schedule f! begin\n{command}\nend\n"), Backend::C);
    assert_eq!(scheduled("vectorize(W, i, 4)"), ["S0"]);
    assert_eq!(scheduled("fuse(S0, W, i)"), [""; 0]);
}

#[test]
fn explanations_name_what_is_left_out() {
    let text = program(&format!("t = zeros(n); for i in 1:n; @comp W t[i] = A[i]; end; {READ_ALL}"));
    let said = tessella::file::transpile(&text, &options(), Backend::C, TextKind::Explain).unwrap();
    let line = "  S0 (line 3) is left out: each element of `t` that is read is written again before\n";
    assert!(said.contains(line), "{said}");
}

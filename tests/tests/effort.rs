//! What isl may do is bounded: counted in its operations, each with the weight of the program it is done for.

use tessella::file::{FileOptions, ScheduleSource, Sources};
use tessella::pipeline::{self, ISL_OPERATIONS, Order};
use tessella::request::{Backend, TextKind};
use tessella::unit::{Built, Unit, target};
use tessella_codegen::{CodegenError, Input, generate, generate_framed};
use tessella_polyhedral::effort;

/// Works on the one function of a text.
fn with_unit<T>(text: &str, work: impl FnOnce(&Unit<'_>) -> T) -> T {
    let options =
        FileOptions { name: "case.jl".into(), function: None, types: vec![], schedule: ScheduleSource::InFile };
    let sources = Sources::read(text, &options).unwrap();
    let [item] = sources.functions() else { panic!("one function is expected") };
    work(&sources.unit(item, &[]).unwrap_or_else(|errors| panic!("{}", sources.show(&errors))))
}

/// What became of a function: its C text, or the code of the refusal; and the work that this took.
fn transpile(text: &str) -> (Result<String, &'static str>, u64) {
    with_unit(text, |unit| {
        let ctx = pipeline::context();
        let built = pipeline::lower(&ctx, &unit.function).and_then(|lowered| {
            let commands = unit.commands.as_deref();
            let analysed =
                pipeline::verify(&ctx, unit.sources, lowered, Order::of(commands), target(Backend::C), unit.machine)?;
            Built { ctx: ctx.clone(), analysed, program: None }.text(unit, Backend::C, TextKind::C)
        });
        let left = ctx.operations_left().expect("the context of the pipeline has a limit");
        (built.map_err(|errors| errors[0].code.0), ISL_OPERATIONS - left)
    })
}

fn nest(loops: usize, lower: impl Fn(usize) -> String) -> String {
    let heads: Vec<String> = (0..loops).map(|at| format!("for i{at} in {}:n", lower(at))).collect();
    let tails = "end\n".repeat(loops);
    let last = loops - 1;
    format!(
        "@tessella function f!(A::Vector{{Float64}}, n::Int64)\n{}\nA[i0 + i{last}] += A[i0] + 1.0\n{tails}end\n",
        heads.join("\n")
    )
}

#[test]
fn many_subscripts_are_cheap() {
    let terms: Vec<String> = (0..300).map(|by| format!("A[i + {by}]")).collect();
    let text = format!(
        "@tessella function f!(A::Vector{{Float64}}, n::Int64)\nfor i in 1:n\n@comp S A[i] = {}\nend\nend\n",
        terms.join(" + ")
    );
    let (done, work) = transpile(&text);
    assert!(done.is_ok(), "{done:?}");
    assert!(work < ISL_OPERATIONS / 2, "{work}");
}

#[test]
fn sizes_that_nothing_runs_along_weigh_nothing() {
    let weight = |arrays: usize| {
        let names: Vec<String> = (0..arrays).map(|at| format!("A{at}")).collect();
        let text = format!(
            "@tessella function f!({})\nn = size(A0, 1)\nfor i in 1:n\nA0[i, 1, 1] = {}\nend\nend\n",
            names.iter().map(|name| format!("{name}::Array{{Float64,3}}")).collect::<Vec<_>>().join(", "),
            names.iter().map(|name| format!("{name}[i, 1, 1]")).collect::<Vec<_>>().join(" + "),
        );
        with_unit(&text, |unit| {
            let lowered = pipeline::lower(&pipeline::context(), &unit.function).unwrap().algorithm;
            effort::weight(&lowered, &lowered.source_order)
        })
    };
    // Of few sizes all count.
    assert_eq!(weight(10), weight(20));
}

#[test]
fn deep_nests_are_refused_early() {
    let text = nest(30, |_| "1".into());
    let (done, _) = transpile(&text);
    assert_eq!(done, Err("E0430"));
    with_unit(&text, |unit| {
        let algorithm = pipeline::lower(&pipeline::context(), &unit.function).unwrap().algorithm;
        // Half a million pivots of tableaus of this size take some seconds.
        let weight = effort::weight(&algorithm, &algorithm.source_order);
        assert!(ISL_OPERATIONS / weight < 500_000, "{weight}");
    });
}

#[test]
fn nests_of_six_loops_stay_far_below_the_limit() {
    let (done, work) = transpile(&nest(6, |_| "1".into()));
    assert!(done.is_ok(), "{done:?}");
    assert!(work < ISL_OPERATIONS / 4, "{work}");
}

#[test]
fn many_statements_on_one_array_are_refused() {
    let body: Vec<String> = (0..150).map(|at| format!("A[i + {at}] = A[i + {}] + 1.0", at * 7 % 150)).collect();
    let text =
        format!("@tessella function f!(A::Vector{{Float64}}, n::Int64)\nfor i in 1:n\n{}\nend\nend\n", body.join("\n"));
    assert_eq!(transpile(&text).0, Err("E0430"));
}

const TIME_LOOP: &str = "@tessella function f!(A::Vector{Float64}, B::Vector{Float64}, n::Int64)
    for t in 1:n
        for i in 2:n-1
            @comp S B[i] = A[i-1] + A[i+1]
        end
        for i in 2:n-1
            @comp R A[i] = B[i]
        end
    end
end
";

fn scheduled(commands: &[&str]) -> String {
    format!("{TIME_LOOP}\n@schedule f! begin\n{}\nend\n", commands.join("\n"))
}

#[test]
fn tiles_in_skewed_tiles_are_refused_early() {
    let commands = [
        "shift(R, i, 1)",
        "fuse(S, R, i)",
        "skew(S, t, i, 2)",
        "tile(S, (t, i), (5, 7))",
        "tile(S, (t0, i0), (3, 4))",
        "skew(S, t00, i00, 3)",
        "skew(S, t1, i1, 2)",
        "tile(S, (t1, i1), (3, 4))",
        "split(S, i11, 3)",
        "tile(S, (t11, i110), (2, 3))",
        "split(S, t110, 2)",
        "skew(S, t01, i01, 1)",
        "tile(S, (t01, i01), (2, 2))",
    ];
    let (done, _) = transpile(&scheduled(&commands));
    assert!(matches!(done, Err("E0430" | "E0601")), "{done:?}");
}

#[test]
fn code_generation_that_reaches_the_limit_is_refused() {
    with_unit(
        &scheduled(&["shift(R, i, 1)", "fuse(S, R, i)", "skew(S, t, i, 2)", "tile(S, (t, i), (5, 7))"]),
        |unit| {
            let ctx = pipeline::context();
            let lowered = pipeline::lower(&ctx, &unit.function).unwrap();
            let commands = unit.commands.as_deref();
            let Ok(analysed) =
                pipeline::verify(&ctx, unit.sources, lowered, Order::of(commands), target(Backend::C), unit.machine)
            else {
                panic!("the schedule is legal")
            };
            // Code has a limit of its own.
            let code = |limit: u64| {
                ctx.with_budget(limit, || {
                    let done = generate(&Input::from(&analysed.verified));
                    (done.err(), limit - ctx.operations_left().unwrap())
                })
            };
            // What the first time finds out of the context is remembered.
            assert!(code(ISL_OPERATIONS).0.is_none());
            let (done, needed) = code(ISL_OPERATIONS);
            assert!(done.is_none());
            let (refused, taken) = code(needed / 2);
            assert!(matches!(refused, Some(CodegenError::Isl(error)) if error.is_quota()));
            assert!(taken <= needed / 2);
        },
    );
}

/// A refusal of code generation is shown at the command that made the loops, not at one after it nor at the function.
#[test]
fn a_tiling_of_time_whose_code_is_refused_is_pointed_at() {
    let text = scheduled(&["time_skew((S, R), t, i, 2, 8)", "assume(n > 4)"]);
    with_unit(&text, |unit| {
        let built = unit.build(Backend::C).unwrap();
        let refused = built.word(unit, CodegenError::SizeOfRegister { buffer: "A".into() });
        let label = &refused[0].labels[0];
        assert_eq!(unit.sources.text(label.span), "time_skew((S, R), t, i, 2, 8)");
    });
}

/// Error diffusion: eight statements on one diagonal of tiles, each with conditions of its own.
const DITHER: &str = "@tessella function dither!(out::Matrix{Float32}, img::Matrix{Float32})
    m, n = size(img)
    for j in 1:n, i in 1:m
        old = img[i, j]
        new = old > 0.5f0 ? 1.0f0 : 0.0f0
        out[i, j] = new
        err = old - new
        if i < m
            img[i+1, j] += err * 7 / 16
        end
        if j < n
            if i > 1
                img[i-1, j+1] += err * 3 / 16
            end
            img[i, j+1] += err * 5 / 16
            if i < m
                img[i+1, j+1] += err / 16
            end
        end
    end
end
";

const CURL: &str = "@tessella function curl!(cx::Array{Float64,3}, cy::Array{Float64,3}, cz::Array{Float64,3}, fx::Array{Float64,3}, fy::Array{Float64,3}, fz::Array{Float64,3}, h::Float64)
    nx, ny, nz = size(fx)
    inv2h = inv(2h)
    for k in 2:nz-1, j in 2:ny-1, i in 2:nx-1
        cx[i, j, k] = (fz[i, j+1, k] - fz[i, j-1, k] - fy[i, j, k+1] + fy[i, j, k-1]) * inv2h
        cy[i, j, k] = (fx[i, j, k+1] - fx[i, j, k-1] - fz[i+1, j, k] + fz[i-1, j, k]) * inv2h
        cz[i, j, k] = (fy[i+1, j, k] - fy[i-1, j, k] - fx[i, j+1, k] + fx[i, j-1, k]) * inv2h
    end
end
";

#[test]
fn an_order_too_complicated_for_code_gives_way_to_the_source_s() {
    with_unit(DITHER, |unit| {
        let built = unit.build(Backend::C).unwrap_or_else(|errors| panic!("{errors:?}"));
        assert!(built.analysed.gave_up);
        assert_eq!(*built.analysed.verified.schedule(), built.analysed.verified.source().source_order);
        for (kind, part) in [(TextKind::C, "for ("), (TextKind::Explain, "so the loops run as the source has them")] {
            let text = built.text(unit, Backend::C, kind).unwrap_or_else(|errors| panic!("{errors:?}"));
            assert!(text.contains(part), "{text}");
        }
    });
}

/// Only the nest whose wavefront costs too much runs as the source has it.
#[test]
fn an_order_without_wavefronts_comes_before_the_source_s() {
    let more = "    for j in 1:n, i in 1:m
        twice[i, j] = 2 * img[i, j]
    end
end
";
    let head = "dither!(out::Matrix{Float32}, img::Matrix{Float32})";
    let two = DITHER.replace(head, "dither!(out::Matrix{Float32}, img::Matrix{Float32}, twice::Matrix{Float32})");
    let two = two.trim_end().strip_suffix("end").expect("a function ends so").to_string() + more;
    with_unit(&two, |unit| {
        let built = unit.build(Backend::C).unwrap_or_else(|errors| panic!("{errors:?}"));
        assert!(!built.analysed.gave_up);
        let text = built.text(unit, Backend::C, TextKind::C).unwrap_or_else(|errors| panic!("{errors:?}"));
        assert_eq!(text.matches("#pragma omp parallel for").count(), 1, "{text}");
        let explained = built.text(unit, Backend::C, TextKind::Explain).unwrap_or_else(|errors| panic!("{errors:?}"));
        assert!(
            explained.contains("takes more work than one function may cost, so this order has none"),
            "{explained}"
        );
    });
}

#[test]
fn one_statement_on_diagonals_of_tiles_keeps_its_order() {
    let text = "@tessella function f!(A::Matrix{Float64}, steps::Int64)
        m, n = size(A)
        for t in 1:steps, j in 2:n-1, i in 2:m-1
            A[i, j] = (A[i-1, j-1] + A[i, j-1] + A[i+1, j-1] + A[i-1, j] + A[i, j] + A[i+1, j] + A[i-1, j+1] + A[i, j+1] + A[i+1, j+1]) / 9.0
        end
    end";
    with_unit(text, |unit| {
        let built = unit.build(Backend::C).unwrap_or_else(|errors| panic!("{errors:?}"));
        assert!(!built.analysed.gave_up);
    });
}

#[test]
fn code_may_take_as_much_work_as_the_choice_of_its_order() {
    with_unit(CURL, |unit| {
        let built = unit.build(Backend::Cuda).unwrap_or_else(|errors| panic!("{errors:?}"));
        assert!(!built.analysed.gave_up);
        let text = built.text(unit, Backend::Cuda, TextKind::Cuda).unwrap_or_else(|errors| panic!("{errors:?}"));
        assert!(text.contains("__global__"), "{text}");
    });
}

#[test]
fn without_the_work_to_choose_an_order_the_source_s_order_stands() {
    let (mut refused, mut gave_up, mut chose) = (0, 0, 0);
    with_unit(TIME_LOOP, |unit| {
        for limit in (48..192).map(|eighth| 2f64.powf(f64::from(eighth) / 8.0) as u64) {
            let ctx = pipeline::context();
            let lowered = pipeline::lower(&ctx, &unit.function).unwrap();
            let source = lowered.algorithm.source_order.clone();
            ctx.set_max_operations(limit);
            ctx.reset_operations();
            match pipeline::verify(&ctx, unit.sources, lowered, Order::of(None), target(Backend::C), unit.machine) {
                Err(errors) => {
                    assert_eq!(errors[0].code.0, "E0430");
                    refused += 1;
                }
                Ok(analysed) if analysed.gave_up => {
                    assert_eq!(*analysed.verified.schedule(), source);
                    gave_up += 1;
                }
                Ok(analysed) => {
                    assert_ne!(*analysed.verified.schedule(), source);
                    chose += 1;
                }
            }
        }
    });
    assert!(refused > 0 && gave_up > 0 && chose > 0, "{refused} {gave_up} {chose}");
}

/// Exact loops over tiles take five times as much.
#[test]
fn hexagons_with_fractions_take_little_work() {
    let text = "@tessella function f!(A::Matrix{Float64})
    steps, n = size(A)
    for t in 12:steps, i in 12:n-12
        @comp S A[t, i] = 0.5 * (A[t-4, i-7] + A[t-3, i+6])
    end
end
@schedule f! begin
    hexagonal(S, t, i, 15, 40)
end
";
    with_unit(text, |unit| {
        let built = unit.build(Backend::C).unwrap();
        built.text(unit, Backend::C, TextKind::C).unwrap();
        let spent = built.ctx.spent();
        assert!(spent < 700_000, "{spent}");
    });
}

/// Numbers of waves add up divisions, which isl took half a minute to look for in a convex set around four nests, and gave up.
#[test]
fn a_convex_set_around_waves_takes_little_work() {
    let text = "@tessella function f!(u::Matrix{Float64}, v::Matrix{Float64}, steps::Int)
    m, n = size(u)
    for t in 1:steps
        for j in 2:n-1, i in 2:m-1
            @comp S v[i, j] = u[i, j] + 0.1 * (u[i-1, j] + u[i+1, j] + u[i, j-1] + u[i, j+1] - 4 * u[i, j])
        end
        for j in 1:n
            v[1, j] = v[2, j]
            v[m, j] = v[m-1, j]
        end
        for i in 1:m
            v[i, 1] = v[i, 2]
            v[i, n] = v[i, n-1]
        end
        u .= v
    end
end
@schedule f! begin
    time_skew(S, t, (j, i), 3, (4, 7))
end
";
    with_unit(text, |unit| {
        let built = unit.build(Backend::Cuda).unwrap_or_else(|errors| panic!("{errors:?}"));
        let before = built.ctx.spent();
        let made = built.ctx.with_budget(ISL_OPERATIONS, || generate_framed(&Input::from(&built.analysed.verified)));
        assert!(made.is_ok(), "{:?}", made.err());
        let spent = built.ctx.spent() - before;
        assert!(spent < ISL_OPERATIONS / 4, "{spent}");
    });
}

#[test]
fn loops_that_data_end_are_not_asked_about() {
    let text = "@tessella function f(t::Vector{Float64}, v::Float64)\nlo, hi = 1, length(t)\nwhile lo <= hi\n\
        mid = (lo + hi) >>> 1\nif t[mid] < v\nlo = mid + 1\nelse\nhi = mid - 1\nend\nend\nreturn lo\nend\n";
    // There is no other order for such a loop. isl's scheduler took some twenty seconds to find none, over numbers of many words.
    with_unit(text, |unit| {
        let ctx = pipeline::context();
        let lowered = pipeline::lower_with_tests(&ctx, &unit.function, target(Backend::C)).unwrap();
        let order = Order::of(unit.commands.as_deref());
        let analysed = pipeline::verify(&ctx, unit.sources, lowered, order, target(Backend::C), unit.machine).unwrap();
        assert_eq!(analysed.asked, []);
    });
}

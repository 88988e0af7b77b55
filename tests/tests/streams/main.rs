//! Time loops that stream, executed as their kernels stand by an interpreter that knows which row every register holds,
//! and compared with the source bit for bit; their texts compile.

mod programs;
mod random;
mod running;

use programs::{
    STAR, edges_and_levels, function, levels, nest, on_levels, other_programs, programs, recorded, recording, with,
};
use running::{SIZES, check, check_kernels, check_loops, is_too_large, launched, only_apart, options};
use tessella::file::Sources;
use tessella::request::Backend;
use tessella_codegen::int_expr::Environment;
use tessella_codegen::plan::launch_plan;
use tessella_codegen::program::{Blocks, Kernel, Program as Loops};
use tessella_codegen::{Input, generate};
use tessella_runtime::cuda::{Nvrtc, Target};
use tessella_tests::report;

#[test]
fn lines_and_planes_stream() {
    let mut failures = vec![];
    for (name, text, commands) in other_programs() {
        for command in commands {
            let text = with(&text, command);
            failures.extend(check(name, &text, &[(5, 6, 1), (4, 5, 0), (7, 9, 5), (70, 8, 3), (9, 19, 4)]));
        }
    }
    report(failures);
}

#[test]
fn streams_compute_what_the_source_does() {
    let mut failures = vec![];
    for (name, arguments, element, body) in programs() {
        for command in ["stream(S, t, 1, 2, 8)", "stream(S, t, 2, 2)", "stream(S, t, 3, 2, 40)"] {
            failures.extend(check(name, &function(arguments, element, &body, command), &SIZES));
        }
    }
    report(failures);
}

/// However many steps full launches leave, those of fewer steps and the last two make them all, once each.
#[test]
fn any_number_of_steps_is_made() {
    let mut failures = vec![];
    let all = [programs(), edges_and_levels()].concat();
    // One has an array that the last launch alone stores, one has none, one makes three iterations a step.
    let wanted = ["a star and a copy", "fields of a wave in place", "three that change places"];
    let some = all.into_iter().filter(|(name, ..)| wanted.contains(name)).collect::<Vec<_>>();
    assert_eq!(some.len(), wanted.len());
    for (name, arguments, element, body) in some {
        for (command, most) in [("stream(S, t, 4, 2, 8)", 20), ("stream(S, t, 7, 2)", 32)] {
            let sizes: Vec<_> = (0..=most).map(|steps| (5, 6, steps)).collect();
            let text =
                function(arguments, element, &body, command).replace("size(A)", &format!("size({})", &arguments[..1]));
            failures.extend(check(name, &text, &sizes));
        }
    }
    report(failures);
}

/// Whatever the time loop counts, and however far at a time.
#[test]
fn time_loops_go_down_and_in_strides() {
    let mut failures = vec![];
    let all = [programs(), edges_and_levels()].concat();
    let wanted = ["coefficients and numbers of points", "three that change places", "a source in a point"];
    let some = all.into_iter().filter(|(name, ..)| wanted.contains(name)).collect::<Vec<_>>();
    assert_eq!(some.len(), wanted.len());
    let ranges = ["steps:-1:1", "1:2:steps", "2:3:steps", "steps:-2:0", "steps+5:-3:m"];
    for (name, arguments, element, body) in some {
        for range in ranges {
            let commands =
                ["stream(S, t, 3, 2, 40)", "grid_sync(S, t, 2, 2, 12, 4)", "hexagonal(S, t, 1, 2, 4, 128, 1)"];
            // Hexagons of the others take too much.
            let some = if name == wanted[0] { 3 } else { 2 };
            for command in &commands[..some] {
                let text = function(arguments, element, &body, command).replace("1:steps", range);
                failures.extend(check(&format!("{name}, {range}"), &text, &SIZES));
            }
        }
    }
    report(failures);
}

#[test]
fn edges_and_levels_stream() {
    let mut failures = vec![];
    for (name, arguments, element, body) in edges_and_levels() {
        for command in ["stream(S, t, 1, 2, 8)", "stream(S, t, 2, 4)", "stream(S, t, 3, 4, 40)"] {
            // The number of rows is that of the first matrix.
            let text =
                function(arguments, element, &body, command).replace("size(A)", &format!("size({})", &arguments[..1]));
            failures.extend(check(name, &text, &SIZES));
        }
    }
    report(failures);
}

#[test]
fn blocks_that_keep_their_tiles_compute_what_the_source_does() {
    let mut failures = vec![];
    let matrices = edges_and_levels().into_iter().map(|(name, arguments, element, body)| {
        let size = format!("size({})", &arguments[..1]);
        (name, function(arguments, element, &body, "").replace("size(A)", &size))
    });
    let more =
        programs().into_iter().map(|(name, arguments, element, body)| (name, function(arguments, element, &body, "")));
    for (name, text) in matrices.chain(more) {
        // Tiles of which blocks own a row or two, and some more.
        for command in ["grid_sync(S, t, 1, 1, 6, 4)", "grid_sync(S, t, 3, 2, 20, 2)"] {
            let text = text.replace("@schedule f! begin\n    ", &format!("@schedule f! begin\n    {command}"));
            let outcome = check(name, &text, &[(5, 6, 0), (6, 9, 2), (37, 23, 3), (131, 7, 5), (40, 29, 4)]);
            assert!(!is_too_large(&outcome), "{name}, {command}: {outcome:?}");
            failures.extend(outcome);
        }
    }
    // What blocks cannot hold may run in hexagons.
    let (name, arguments, element, body) = programs().swap_remove(0);
    let both = "hexagonal(S, t, 1, 2, 4, 32, 1)\n    grid_sync(S, t, 2, 2, 9, 4)";
    failures.extend(check_kernels(name, &function(arguments, element, &body, both), &SIZES, 6));
    for (name, text, _) in other_programs() {
        for command in ["grid_sync(S, t, 1, 2, 20, 8, 12)", "grid_sync(S, t, 2, 1, 28, 14, 19)"] {
            let outcome =
                check(name, &with(&text, command), &[(5, 6, 1), (4, 5, 0), (7, 9, 5), (70, 8, 3), (9, 19, 4)]);
            assert!(!is_too_large(&outcome), "{name}, {command}: {outcome:?}");
            failures.extend(outcome);
        }
    }
    report(failures);
}

/// Tiles of which blocks own all the rows that they may.
#[test]
fn the_fewest_blocks_compute_what_the_source_does() {
    let mut failures = vec![];
    let fewest = |loops: &mut Loops| {
        only_apart(&mut loops.body);
        let launched: Vec<&Kernel> = launched(&loops.body).into_iter().map(|id| loops.kernel(id)).collect();
        assert!(matches!(launched[..], [Kernel { same_as: Some(_), blocks: Blocks::Resident, .. }]));
    };
    for (name, arguments, element, body) in programs() {
        let text = function(arguments, element, &body, "grid_sync(S, t, 2, 2, 5, 4)");
        failures.extend(check_loops(name, &text, &[(5, 6, 0), (37, 23, 3), (131, 37, 5)], fewest));
    }
    for (name, text, _) in other_programs() {
        let text = with(&text, "grid_sync(S, t, 1, 2, 20, 8, 12)");
        failures.extend(check_loops(name, &text, &[(5, 6, 1), (70, 8, 3), (9, 37, 4)], fewest));
    }
    report(failures);
}

/// Where a command asks for tiles that stay and for no stream: a plan says what the device has to run at once, and at which sizes.
#[test]
fn tiles_without_a_stream_beside_them_are_required() {
    let of = |commands: &str| {
        let (_, arguments, element, body) = programs().swap_remove(0);
        let text = function(arguments, element, &body.replacen("A[i, j] = ", "@comp R A[i, j] = ", 1), commands);
        let sources = Sources::read(&text, &options()).unwrap();
        let unit =
            sources.unit(&sources.functions()[0], &[]).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
        let built = unit.build(Backend::Cuda).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
        let input = Input::from(&built.analysed.verified);
        let plan = launch_plan(&input, &generate(&input).unwrap()).unwrap();
        // Rows, columns and steps.
        let params: Vec<String> = built.analysed.verified.algorithm().params.iter().map(|it| it.name.clone()).collect();
        move |m: i64, n: i64, steps: i64| -> Vec<i64> {
            let value = |name: &String| match name.as_str() {
                "steps" => steps,
                "m" | "B_1" => m,
                _ => n,
            };
            let with = Environment::new(params.iter().map(value).collect());
            let required = plan.required();
            let blocks = required.iter().filter(|it| it.when.evaluate(&with).unwrap());
            blocks.map(|it| plan.kernels[it.kernel.0 as usize].grid[0].evaluate(&with).unwrap()).collect()
        }
    };
    // Of 64 columns blocks own 60, and of 20 rows 16.
    let alone = of("grid_sync(S, t, 2, 2, 5, 4)");
    assert_eq!(alone(60, 16, 9), [1]);
    assert_eq!(alone(61, 17, 9), [4]);
    assert_eq!(alone(6000, 1600, 9), [10_000]);
    assert_eq!(alone(6000, 1600, 0), [0]);
    assert_eq!(alone(6000, 0, 9), [0]);
    assert_eq!(of("stream(S, t, 2, 4)\n    grid_sync(S, t, 2, 2, 5, 4)")(6000, 1600, 9), Vec::<i64>::new());
    // One of two pieces.
    let nests = |statements: [&str; 2]| statements.map(|it| format!("for j = j\nfor i = i\n{it}\nend\nend\n")).concat();
    let pieces = of(&format!(
        "pieces(S, m + n > 60)\npieces(R, m + n > 60)\n@stream 2 4 for t = t\n{}end\n@grid_sync 2 2 5 4 16 for t = t\n{}end\n",
        nests(["S", "R"]),
        nests(["S_piece1", "R_piece1"])
    ));
    assert_eq!(pieces(6000, 1600, 9), Vec::<i64>::new());
    assert_eq!(pieces(20, 30, 9), [2]);
}

/// The last columns of an array that no step needs from the one before, and that is wider than those that do.
#[test]
fn a_thread_has_one_point_of_an_edge_and_does_not_wait_for_its_own() {
    let text = std::fs::read_to_string(tessella_tests::root().join("tests/stencils/edges2d.jl")).unwrap();
    let sources = Sources::read(&text, &options()).unwrap();
    let unit = sources.unit(&sources.functions()[0], &[]).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
    let built = unit.build(Backend::Cuda).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
    let source = built.cuda(&unit).unwrap_or_else(|errors| panic!("{}", sources.show(&errors))).kernels;
    for edge in ["__ffs(W_columns)", "__ffs(E_columns)", "__ffs(L_rows)", "__ffs(R_rows)"] {
        assert!(source.contains(edge), "{edge}");
    }
    // Values wait in registers where a stage overwrites what others of its points read.
    assert!(!source.contains("waiting["));
}

#[test]
fn what_lies_beyond_the_other_arrays_is_written() {
    let mut failures = vec![];
    let body = nest("1:m", "2:n-1", "@comp S B[i+1, j] = 0.5f0 * A[i, j] + A[i, j-1]")
        + &nest("1:m", "2:n-1", "A[i, j] = B[i+1, j]");
    for command in ["stream(S, t, 1, 2)", "grid_sync(S, t, 1, 1, 8, 4)"] {
        let sizes: Vec<(u64, u64, i64)> = (28..34).chain(58..68).map(|m| (m, 9, 2)).collect();
        failures.extend(check("beyond", &function("A B", "Float32", &body, command), &sizes));
    }
    report(failures);
}

const RECORDED: [(u64, u64, i64); 6] = [(5, 6, 0), (5, 9, 1), (37, 23, 3), (70, 31, 4), (131, 17, 9), (40, 29, 14)];

#[test]
fn what_steps_compute_is_written_down() {
    let mut failures = vec![];
    for (name, body) in recorded() {
        for command in ["stream(S, t, 1, 2, 8)", "stream(S, t, 3, 4)", "stream(S, t, 2, 2, 40)"] {
            failures.extend(check(name, &recording(&body, command), &RECORDED));
        }
        for command in ["grid_sync(S, t, 1, 1, 6, 4)", "grid_sync(S, t, 3, 2, 20, 2)"] {
            failures.extend(check(name, &recording(&body, command), &RECORDED));
        }
        let back = recording(&body, "stream(S, t, 2, 2)").replace("1:steps", "steps:-1:1");
        failures.extend(check(name, &back, &RECORDED));
    }
    report(failures);
}

#[test]
fn what_steps_compute_along_lines_and_over_planes_is_written_down() {
    let mut failures = vec![];
    for (name, text, commands) in other_programs() {
        let line = text.contains("::Vector");
        let (more, arguments) = match line {
            true => (["C[t] = A[n ÷ 2]", "D[i, t] = A[i]"], "C::Vector{T}, D::Matrix{T}, steps::Int)"),
            false => (["C[t] = A[2, 3, 2]", "D[i, j, t] = A[i, j, 2]"], "C::Vector{T}, D::Array{T,3}, steps::Int)"),
        };
        let range = if line { "i in 2:4" } else { "j in 1:m, i in 1:l" };
        let more = format!(
            "        {}\n        for {range}\n            {}\n        end\n    end\n    return",
            more[0], more[1]
        );
        let element = if text.contains("Float64") { "Float64" } else { "Float32" };
        let text = text
            .replace("    end\n    return", &more)
            .replace("steps::Int)", arguments)
            .replace("{T", &format!("{{{element}"));
        for command in commands {
            failures.extend(check(
                name,
                &with(&text, command),
                &[(5, 6, 1), (4, 5, 0), (7, 9, 5), (70, 8, 3), (9, 19, 4)],
            ));
        }
        let command = "grid_sync(S, t, 1, 2, 20, 8, 12)";
        failures.extend(check(name, &with(&text, command), &[(7, 9, 5), (70, 8, 3)]));
    }
    report(failures);
}

#[test]
fn levels_of_time_stream() {
    let mut failures = vec![];
    for (name, arguments, first, body, commands) in levels() {
        for command in commands {
            let text = on_levels(arguments, first, &body, command);
            let sizes: &[(u64, u64, i64)] = match name {
                "levels in space" => &[(5, 6, 1), (7, 9, 5), (70, 8, 3), (9, 19, 4)],
                _ => &[(5, 6, 0), (5, 9, 1), (37, 23, 3), (70, 31, 4), (131, 17, 9), (40, 29, 14)],
            };
            failures.extend(check(name, &text, sizes));
            if name != "three levels of a wave, of which two change before the loop ends" {
                let back = text.replace(&format!("{first}:steps"), &format!("steps:-1:{first}"));
                if !back.contains("[t+1, 2]") {
                    let refused = check(name, &back, &[]);
                    let why = "let it begin at a number";
                    if !refused.iter().any(|it| it.contains(why)) {
                        failures.push(format!("{name}, backwards: {refused:?}"));
                    }
                }
                failures.extend(check(name, &text.replace(&format!("{first}:steps"), "4:-1:1"), sizes));
            }
        }
    }
    report(failures);
}

#[test]
fn other_levels_are_refused() {
    let step = |write: &str, read: &str| {
        format!(
            "@tessella function f!(A::Array{{Float32,3}}, s::Int, steps::Int)\n    m, n = size(A, 1), size(A, 2)\n    for t in 1:steps\n{}    end\n    \
             return nothing\nend\n@schedule f! begin\n    stream(S, t, 2)\nend\n",
            nest("2:m-1", "2:n-1", &format!("@comp S A[i, j, {write}] = A[i-1, j, {read}] + A[i, j+1, {read}]"))
        )
    };
    let wrong = [
        ("t+1", "t", "its subscripts move with time"),
        ("(t+1)%2+1", "3", "reads a level or component of `A` that no step writes"),
        ("(t+1)%12+1", "t%12+1", "its subscripts move with time"),
        ("t%2+1", "t%2+1", "that it has just written"),
        // The first iteration of a call may be its last.
        ("t%4+1", "(t-1)%4+1", "say `@assert size(A, 3) >= 4`"),
        ("(t+1)%2", "t%2", "has no level 0"),
    ];
    let mut failures = vec![];
    for (write, read, why) in wrong {
        let outcome = check(write, &step(write, read), &[]);
        if !outcome.iter().any(|it| it.contains(why)) {
            failures.push(format!("{write}, {read}: {outcome:?}"));
        }
    }
    report(failures);
}

/// What a lane has of a step is one point, which exists, and the only one whose value an element gets.
#[test]
fn what_no_lane_can_write_down_is_refused() {
    let step =
        || nest("2:m-1", "2:n-1", &format!("@comp S B[i, j] = {STAR}")) + &nest("2:m-1", "2:n-1", "A[i, j] = B[i, j]");
    let wrong = [
        ("        C[t, 1] = A[2, 3] + A[2, 4]\n", "reads `A` at several points"),
        (
            "        for i in 1:m\n            C[t, 1] = A[i, 3]\n        end\n",
            "writes an element of `C` from several points",
        ),
        (
            "        C[t, 1] = A[2, 3]\n        C[2, 1] = A[4, 4]\n",
            "writes elements of `C` that another statement writes",
        ),
        ("        C[t, 1] = steps > 3 ? A[steps, 3] : 0f0\n", "its subscripts move with time"),
        ("        C[t, 1] = A[t, 3]\n", "reads elsewhere in each step"),
    ];
    let mut failures = vec![];
    for (body, why) in wrong {
        let outcome = check("a step", &recording(&(step() + body), "stream(S, t, 2)"), &[]);
        if !outcome.iter().any(|it| it.contains(why)) {
            failures.push(format!("{body}: {outcome:?}"));
        }
    }
    // Between the iterations of a step no lane has a field in place as it is then.
    let levels = "@tessella function f!(A::Array{Float32,3}, P::Matrix{Float32}, C::Vector{Float32})\n    m, n = size(P)\n    @assert size(A, 3) == 2\n    \
                  for t in 1:length(C)\n"
        .to_string()
        + &nest("2:m-1", "2:n-1", "@comp S A[i, j, (t+1)%2+1] = A[i-1, j, t%2+1] + A[i, j+1, t%2+1]")
        + &nest("2:m-1", "2:n-1", "P[i, j] = P[i, j] + A[i, j, (t+1)%2+1]")
        + "        C[t] = P[3, 3]\n    end\n    return nothing\nend\n@schedule f! begin\n    stream(S, t, 2)\nend\n";
    let outcome = check("a field in place", &levels, &[]);
    if !outcome.iter().any(|it| it.contains("amid a step of the stream: that is 2 iterations")) {
        failures.push(format!("a field in place: {outcome:?}"));
    }
    report(failures);
}

#[test]
fn nests_that_do_not_stream_are_refused() {
    let inner = |statement: &str| nest("2:m-1", "2:n-1", statement);
    let wrong = [
        ("its own neighbours", inner("@comp S A[i, j] = A[i-1, j] + A[i, j]"), "that it has just written"),
        (
            "every third step but not the others",
            inner("@comp S B[i, j] = A[i, j-1]") + "        t % 3 == 0 && continue\n" + &inner("A[i, j] = B[i, j]"),
            "does not run over the same box",
        ),
        (
            "the other edge",
            inner("@comp S B[i, j] = A[i, j-1]")
                + "        for j in 2:n-1\n            B[1, j] = B[m-1, j]\n        end\n"
                + &nest("1:m-1", "2:n-1", "A[i, j] = B[i, j]"),
            "at another place than a fixed distance away",
        ),
    ];
    for (name, body, why) in wrong {
        let text = function("A B", "Float32", &body, "stream(S, t, 2)");
        let outcome = check(name, &text, &[]);
        assert!(outcome.iter().any(|it| it.contains(why)), "{name}: {outcome:?}");
    }
    // What lies beyond an axis that goes round, in an array that is longer, is no point of it.
    let whole = |statement: &str| nest("1:m", "1:n", statement);
    let beyond = [
        ("S B[i, j] = A[i + 1, j] + A[mod1(i - 1, m), j]", "A[i, j] = B[i, j]"),
        ("S B[i, j] = A[mod1(i - 1, m), j]", "A[i, j] = B[i, j] + A[i, j + 1] * A[i, mod1(j - 1, n)]"),
        ("S B[i, j] = A[i == 1 ? m + 1 : i - 1, j]", "A[i, j] = B[i, j]"),
        ("S B[i, j] = A[i, j] + A[i + m, j]", "A[i, j] = B[i, j]"),
        ("S B[i, j] = A[max(i - 1, 1), j]", "A[i, j] = B[i, j] + A[i + 1, j]"),
    ];
    for (first, second) in beyond {
        let body = whole(&format!("@comp {first}")) + &whole(second);
        let text = function("A B", "Float32", &body, "stream(S, t, 2)").replace("size(A)", "size(B)");
        let outcome = check(first, &text, &[]);
        let is_refused = outcome.iter().any(|it| it.contains("does not stream"));
        assert!(is_refused, "{first}, {second}: {outcome:?}");
    }
    let (name, arguments, element, body) = programs().swap_remove(0);
    let text = function(arguments, element, &body, "stream(S, t, 2)").replace("1:steps", "1:min(steps, n)");
    let outcome = check(name, &text, &[]);
    assert!(outcome.iter().any(|it| it.contains("no sum of sizes")), "the smaller of two: {outcome:?}");
}

/// Two streams of other sizes over one program, of which the sum of a matrix's sides chooses one.
#[test]
fn pieces_by_size_stream() {
    let stream = |size: &str, statements: [&str; 2]| {
        let nests = statements.map(|it| {
            format!("        for j = j\n            for i = i\n                {it}\n            end\n        end\n")
        });
        format!("    @stream {size} for t = t\n{}    end\n", nests.concat())
    };
    let mut failures = vec![];
    for (name, arguments, element, body) in programs().into_iter().take(4) {
        let body = body.replacen("A[i, j] = ", "@comp R A[i, j] = ", 1);
        let commands = format!(
            "pieces(S, m + n > 60)\n    pieces(R, m + n > 60)\n{}{}",
            stream("3 4", ["S", "R"]),
            stream("2 2", ["S_piece1", "R_piece1"])
        );
        failures.extend(check_kernels(name, &function(arguments, element, &body, &commands), &SIZES, 8));
    }
    report(failures);
}

#[test]
fn hexagons_compute_what_the_source_does() {
    let mut failures = vec![];
    let sizes = [(5, 6, 0), (6, 9, 2), (9, 11, 7), (37, 23, 13), (131, 31, 14), (70, 61, 24), (259, 17, 35)];
    for (name, arguments, element, body) in programs() {
        // The sweeps of some reach three columns to one side, or two rows.
        let commands = [
            "hexagonal(S, t, 1, 2, 4, 32, 1)",
            "hexagonal(S, t, 2, 3, 4, 32, 2)",
            "hexagonal(S, t, 3, 1, 2, 64, 1)",
            "hexagonal(S, t, 4, 1, 2, 32, 2)",
        ];
        let outcomes = commands.map(|command| check(name, &function(arguments, element, &body, command), &sizes));
        let fit: Vec<_> = outcomes.into_iter().filter(|outcome| !is_too_large(outcome)).collect();
        assert!(fit.len() >= 2, "{name}: too few of the hexagons fit");
        failures.extend(fit.into_iter().flatten());
    }
    report(failures);
}

#[test]
fn hexagons_over_planes_compute_what_the_source_does() {
    let mut failures = vec![];
    let sizes = [(6, 9, 5), (9, 11, 7), (71, 14, 9)];
    for (name, text, _) in other_programs().into_iter().filter(|(_, text, _)| text.contains(",3}")) {
        let commands = [
            "hexagonal(S, t, 1, 1, 2, 256, 4)",
            "hexagonal(S, t, 1, 3, 2, 256, 4)",
            "hexagonal(S, t, 1, 1, 4, 512, 2)",
            "hexagonal(S, t, 1, 1, 1, 416, 2)",
        ];
        let outcomes = commands.map(|command| check(name, &with(&text, command), &sizes));
        let fit: Vec<_> = outcomes.into_iter().filter(|outcome| !is_too_large(outcome)).collect();
        assert!(!fit.is_empty(), "{name}: none of the hexagons fit");
        failures.extend(fit.into_iter().flatten());
    }
    report(failures);
}

#[test]
fn what_streams_compiles() {
    let nvrtc = match Nvrtc::get() {
        Ok(nvrtc) => nvrtc,
        Err(error) => {
            println!("skipped: {error}");
            return;
        }
    };
    let mut failures = vec![];
    let matrices = programs()
        .into_iter()
        .map(|(name, arguments, element, body)| (name, function(arguments, element, &body, "stream(S, t, 3, 4, 64)")));
    let others = other_programs()
        .into_iter()
        .flat_map(|(name, text, commands)| commands.map(|command| (name, with(&text, command))));
    let hexagons = programs().into_iter().map(|(name, arguments, element, body)| {
        (name, function(arguments, element, &body, "hexagonal(S, t, 1, 2, 4, 128, 1)"))
    });
    let tiles = programs().into_iter().chain(edges_and_levels()).step_by(3).map(|(name, arguments, element, body)| {
        let size = if element == "Float64" { "2, 2, 4" } else { "2, 2, 6" };
        let text = function(arguments, element, &body, &format!("grid_sync(S, t, {size})"));
        (name, text.replace("size(A)", &format!("size({})", &arguments[..1])))
    });
    let tiles_of_space =
        other_programs().into_iter().map(|(name, text, _)| (name, with(&text, "grid_sync(S, t, 1, 1, 16, 12, 12)")));
    let planes = other_programs().into_iter().filter(|(_, text, _)| text.contains(",3}")).map(|(name, text, _)| {
        // Two sweeps hand on twice as much, and of wider numbers.
        let sizes = match name {
            "two sweeps in space" => "1, 1, 1, 416, 2",
            "askew, with numbers of points" => "1, 1, 2, 256, 4",
            _ => "1, 3, 2, 512, 2",
        };
        (name, with(&text, &format!("hexagonal(S, t, {sizes})")))
    });
    // One of points, one of edges and planes, one that changes places.
    let records = recorded().into_iter().step_by(3).zip([
        "stream(S, t, 2, 2, 40)",
        "grid_sync(S, t, 1, 1, 6, 4)",
        "stream(S, t, 1, 2)",
    ]);
    let records = records.map(|((name, body), command)| (name, recording(&body, command)));
    let levels = levels().into_iter().enumerate().map(|(number, (name, arguments, first, body, commands))| {
        (name, on_levels(arguments, first, &body, commands[if number % 2 == 0 { 0 } else { 2 }]))
    });
    let records = records.chain(levels);
    let all = matrices.chain(others).chain(hexagons).chain(planes).chain(tiles).chain(tiles_of_space).chain(records);
    for (name, text) in all {
        let sources = Sources::read(&text, &options()).unwrap();
        let unit =
            sources.unit(&sources.functions()[0], &[]).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
        let built = unit.build(Backend::Cuda).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
        let source = built.cuda(&unit).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
        match nvrtc.compile(&source.kernels, "f.cu", Target::Cubin(90), &["-fmad=false"]) {
            Err(error) => failures.push(format!("{name}: {error}")),
            Ok(compiled) if compiled.log.trim().is_empty() => {}
            Ok(compiled) => failures.push(format!("{name}: {}", compiled.log)),
        }
    }
    report(failures);
}

//! The tuner: candidates are right, budgets are kept, results are kept for later compilations.

use std::path::PathBuf;
use std::time::Duration;
use tessella::file::{FileOptions, ScheduleSource};
use tessella::request::Backend;
use tessella::run::{Failed, RunOptions};
use tessella::tune::{self, Begin, Best, Outcome, Step, TuneOptions, Tuner};
use tessella::tuned::{Store, key_of};
use tessella_diagnostics::{Style, render};
use tessella_interpreter::{Array, Value};
use tessella_polyhedral::candidates::{Candidate, Family, Model};
use tessella_polyhedral::command::Command;
use tessella_scalar::ScalarType;
use tessella_tests::{golden, root};

fn text_of(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap()
}

fn options(name: &str) -> FileOptions {
    FileOptions { name: name.to_string(), function: None, types: vec![], schedule: ScheduleSource::InFile }
}

fn run_options(sizes: &[(&str, i64)]) -> RunOptions {
    let sizes = sizes.iter().map(|(name, value)| (name.to_string(), *value)).collect();
    RunOptions { sizes, values: vec![], seed: 3, repeat: 1, compare: false, profile: false, chunked: false }
}

const FEW: TuneOptions =
    TuneOptions { budget: Duration::from_secs(3600), seed: 1, repeat: 1, most: 12, begin: Begin::InTurns };

fn tuner(text: &str, sizes: &[(&str, i64)], options_of: TuneOptions) -> (Tuner, Vec<u32>) {
    match tune::of_file(text, &options("k.jl"), &run_options(sizes), Backend::C, options_of) {
        Ok(found) => found,
        Err(Failed::Refused(text) | Failed::ToolChain(text) | Failed::Usage(text)) => panic!("{text}"),
    }
}

fn refusal(text: &str, sizes: &[(&str, i64)]) -> String {
    match tune::of_file(text, &options("k.jl"), &run_options(sizes), Backend::C, FEW) {
        Ok(_) => panic!("not refused"),
        Err(Failed::Refused(text) | Failed::ToolChain(text) | Failed::Usage(text)) => text,
    }
}

#[test]
fn values_of_no_argument_are_refused() {
    let text =
        "function scaled!(A::Vector{Float64}, alpha)\n    for i in eachindex(A)\n        A[i] *= alpha\n    end\nend\n";
    let asked = RunOptions { values: vec![("alhpa".to_string(), 0.5)], ..run_options(&[("A_1", 8)]) };
    match tune::of_file(text, &options("k.jl"), &asked, Backend::C, FEW) {
        Err(Failed::Refused(said)) => assert!(said.starts_with("error[E0116]"), "{said}"),
        Ok(_) | Err(Failed::ToolChain(_) | Failed::Usage(_)) => panic!("not refused"),
    }
}

/// Steps to the end; why it ended.
fn to_the_end(tuner: &mut Tuner) -> Step {
    loop {
        match tuner.step() {
            Step::Tried => {}
            end => return end,
        }
    }
}

#[test]
fn candidates_for_stencils_give_the_results_of_the_untuned_function() {
    type Sizes<'a> = &'a [(&'a str, i64)];
    let sizes: [(&str, Sizes<'_>, usize); 3] = [
        ("tests/stencils/heat2d.jl", &[("m", 41), ("n", 37), ("steps", 9)], 3),
        ("tests/stencils/jacobi1d.jl", &[("n", 301), ("steps", 12)], 5),
        ("tests/stencils/seidel2d.jl", &[("n", 33), ("steps", 7)], 2),
    ];
    for (path, sizes, most) in sizes {
        let (mut tuner, _) = tuner(&text_of(path), sizes, TuneOptions { most, ..FEW });
        assert!(tuner.proposed > 0 && tuner.considered >= tuner.proposed, "{path}");
        assert_eq!(to_the_end(&mut tuner), Step::Exhausted);
        let timed = tuner.tried.iter().filter(|it| matches!(it.outcome, Outcome::Timed(_))).count();
        assert!(timed > 0, "{path}: {:?}", tuner.tried);
        let wrong: Vec<_> = tuner.tried.iter().filter(|it| matches!(it.outcome, Outcome::Differs(_))).collect();
        assert!(wrong.is_empty(), "{path}: {wrong:?}");
        let of_time = |family| matches!(family, Family::Hexagonal | Family::TimeSkew | Family::Overlapped);
        assert!(tuner.tried.iter().any(|it| of_time(it.family)), "{path}: no tiling of time was tried");
    }
}

#[test]
fn candidates_for_other_nests_are_orders_and_other_numbers() {
    let source = "\
@tessella function turned!(B::Matrix{Float64}, A::Matrix{Float64})
    n, m = size(A)
    for i in 1:n, j in 1:m
        B[j, i] = 2.0 * A[i, j]
    end
end
";
    let (mut tuner, _) = tuner(source, &[("n", 70), ("m", 45)], TuneOptions { most: 6, ..FEW });
    assert_eq!(to_the_end(&mut tuner), Step::Exhausted);
    assert!(tuner.tried.len() <= 6);
    assert!(tuner.tried.iter().any(|it| it.family == Family::Tiles && matches!(it.outcome, Outcome::Timed(_))));
    assert!(tuner.tried.iter().all(|it| !matches!(it.outcome, Outcome::Differs(_))), "{:?}", tuner.tried);
}

#[test]
fn a_product_of_matrices_has_other_register_tiles() {
    let (mut tuner, _) = tuner(&text_of("tests/polybench/gemm.jl"), &[], TuneOptions { most: 2, ..FEW });
    to_the_end(&mut tuner);
    let variations = tuner.tried.iter().filter(|it| it.family == Family::Variation);
    assert!(variations.clone().count() > 0);
    assert!(variations.into_iter().any(|it| matches!(it.outcome, Outcome::Timed(_))), "{:?}", tuner.tried);
}

/// How many candidates of a family are to be tried, and the counts that the report has of its model.
fn proposed(tuner: &Tuner, family: Family) -> (usize, usize, usize) {
    let waiting = tuner.waiting().filter(|it| it.family == family).count();
    let share = tuner.shares.iter().find(|it| it.model == family.model());
    (waiting, share.map_or(0, |it| it.considered), share.map_or(0, |it| it.proposed))
}

/// A sweep that no model predicts beside one that they do: both have candidates, and what is left is Tessella's own choice.
#[test]
fn nests_of_one_function_do_not_stand_in_each_others_way() {
    let source = "\
@tessella function mixed!(p::Matrix{Float32}, A::Matrix{Float32}, B::Matrix{Float32}, steps::Int)
    n = size(p, 1)
    for k in 1:n
        for i in 1:n, j in 1:n
            @comp F p[j, i] = min(p[j, i], p[k, i] + p[j, k])
        end
    end
    for t in 1:steps
        for j in 2:size(A, 2)-1, i in 2:size(A, 1)-1
            @comp S B[i, j] = A[i-1, j] + A[i+1, j] + A[i, j-1] + A[i, j+1]
        end
        for j in 2:size(A, 2)-1, i in 2:size(A, 1)-1
            @comp R A[i, j] = B[i, j]
        end
    end
end
";
    let sizes = [("n", 20), ("A_1", 40), ("A_2", 40), ("B_1", 40), ("B_2", 40), ("steps", 8)];
    let (mixed, _) = tuner(source, &sizes, TuneOptions { most: 10_000, ..FEW });
    let waiting: Vec<&Candidate> = mixed.waiting().collect();
    let about = |name: &str| {
        let mut all = waiting.iter().filter(|it| it.commands[0].to_string().contains(name));
        all.any(|it| it.predicted.is_some())
    };
    assert!(about("S"), "{waiting:?}");
    let alone = |it: &&&Candidate| matches!(it.family, Family::Hexagonal | Family::Overlapped | Family::Space);
    for candidate in waiting.iter().filter(alone) {
        assert_eq!(candidate.commands.last(), Some(&Command::Auto), "{candidate:?}");
    }
    // One that was drawn is legal, and computes the same.
    let (mut few, _) = tuner(source, &sizes, TuneOptions { most: 4, ..FEW });
    to_the_end(&mut few);
    assert!(few.tried.iter().any(|it| matches!(it.outcome, Outcome::Timed(_))), "{:?}", few.tried);
    assert!(few.tried.iter().all(|it| !matches!(it.outcome, Outcome::Differs(_))), "{:?}", few.tried);
}

#[test]
fn parallelograms_are_proposed_for_a_sweep_and_counted() {
    let all = TuneOptions { most: 10_000, ..FEW };
    let (sweep, _) = tuner(&text_of("tests/stencils/seidel2d.jl"), &[("n", 65), ("steps", 17)], all);
    let (waiting, considered, counted) = proposed(&sweep, Family::Parallelogram);
    assert!(waiting > 0 && waiting == counted && considered > counted, "{waiting} {considered} {counted}");
    let tiled = |it: &Candidate| it.commands.iter().any(|it| matches!(it, Command::Parallelogram { .. }));
    assert!(sweep.waiting().all(|it| tiled(it) == (it.family == Family::Parallelogram)));
    // Two sweeps in a step of time are no loops that a parallelogram could tile.
    let (two, _) = tuner(&text_of("tests/stencils/heat2d.jl"), &[("m", 65), ("n", 65), ("steps", 17)], all);
    assert_eq!(proposed(&two, Family::Parallelogram), (0, 0, 0));
    // Nothing waits along the rows and columns of a product.
    let (product, _) = tuner(&text_of("examples/gemm.jl"), &[("n", 64)], all);
    assert_eq!(proposed(&product, Family::Parallelogram), (0, 0, 0));
}

#[test]
fn parallelograms_over_three_axes_have_code() {
    let begin = TuneOptions { budget: Duration::ZERO, most: 10_000, begin: Begin::Guesses, ..FEW };
    let (mut sweep, _) = tuner(&text_of("tests/stencils/seidel2d.jl"), &[("n", 65), ("steps", 17)], begin);
    to_the_end(&mut sweep);
    let tried: Vec<_> = sweep.tried.iter().filter(|it| it.family == Family::Parallelogram).collect();
    assert!(matches!(tried.as_slice(), [it] if matches!(it.outcome, Outcome::Timed(_))), "{tried:?}");
}

#[test]
fn what_a_gpu_would_try_is_told_where_there_is_none() {
    let of = |backend| {
        let text = text_of("tests/stencils/heat2d.jl");
        let sizes = run_options(&[("m", 4096), ("n", 4096), ("steps", 64)]);
        match tune::proposals(
            &text,
            &options("k.jl"),
            &sizes,
            backend,
            TuneOptions { begin: Begin::Guesses, most: 10_000, ..FEW },
        ) {
            Ok(found) => found,
            Err(Failed::Refused(text) | Failed::ToolChain(text) | Failed::Usage(text)) => panic!("{text}"),
        }
    };
    let (gpu, cpu) = (of(Backend::Cuda), of(Backend::C));
    for list in [&gpu, &cpu] {
        let mut texts: Vec<String> = list.candidates.iter().map(|it| tune::commands_text(&it.commands)).collect();
        texts.sort();
        let all = texts.len();
        texts.dedup();
        assert_eq!(texts.len(), all, "a schedule is proposed twice");
    }
    let of_time = |it: &&Candidate| it.family.model() == Model::Tiles && it.predicted.is_some();
    let best = gpu.candidates.iter().find(of_time).and_then(|it| it.predicted).expect("tilings of time are proposed");
    // Its tiles lie in shared memory, and memory is much faster than a CPU's.
    assert!(best.fits, "{best:?}");
    let slower = cpu.candidates.iter().find(of_time).and_then(|it| it.predicted).expect("tilings of time are proposed");
    assert!(best.time < slower.time / 10.0, "{best:?} {slower:?}");
    // The guesses stand first: what each model likes best.
    let first: Vec<Model> = gpu.candidates.iter().take(gpu.shares.len()).map(|it| it.family.model()).collect();
    assert_eq!(first, gpu.shares.iter().map(|it| it.model).collect::<Vec<_>>());
    let streams: Vec<f64> = gpu
        .candidates
        .iter()
        .filter(|it| it.family == Family::Stream)
        .filter_map(|it| it.predicted)
        .map(|it| it.time)
        .collect();
    assert!(streams.iter().all(|&it| it >= streams[0]), "{streams:?}");
}

#[test]
fn tiles_that_stay_are_proposed_where_blocks_hold_them() {
    let of = |side: i64| {
        let text = text_of("tests/stencils/heat2d.jl");
        let sizes = run_options(&[("m", side), ("n", side), ("steps", 64)]);
        let options_of = TuneOptions { begin: Begin::Guesses, most: 10_000, ..FEW };
        match tune::proposals(&text, &options("k.jl"), &sizes, Backend::Cuda, options_of) {
            Ok(found) => found.candidates.into_iter().filter(|it| it.family == Family::GridSync).collect::<Vec<_>>(),
            Err(Failed::Refused(text) | Failed::ToolChain(text) | Failed::Usage(text)) => panic!("{text}"),
        }
    };
    let texts: Vec<String> = of(1000).iter().map(|it| tune::commands_text(&it.commands)).collect();
    assert!(texts.first().is_some_and(|first| first.contains("grid_sync(S, t, 4, 4, 20, 16, 16)")), "{texts:?}");
    // Later calls may have larger matrices, which a `grid_sync` alone refuses.
    assert!(texts.iter().all(|text| text.starts_with("stream(S, t, ")), "{texts:?}");
    assert_eq!(of(4096), []);
}

#[test]
fn tilings_that_compute_nothing_twice_are_predicted_so() {
    // A boundary line stands beside three fields over two dimensions.
    let all = TuneOptions { most: 10_000, ..FEW };
    let (fields, _) = tuner(&text_of("tests/stencils/fdtd2d.jl"), &[("nx", 300), ("ny", 300), ("steps", 20)], all);
    let predicted = |family: Family| {
        let found = fields.waiting().filter(move |it| it.family == family).filter_map(|it| it.predicted);
        found.collect::<Vec<_>>()
    };
    let hexagons = predicted(Family::Hexagonal);
    assert!(!hexagons.is_empty());
    assert!(hexagons.iter().all(|it| it.runs == 1.0 && it.time < 10.0), "{hexagons:?}");
}

#[test]
fn paddings_are_proposed_for_local_arrays_and_counted() {
    let source = "\
@tessella function turned!(B::Matrix{Float64}, A::Matrix{Float64})
    n, m = size(A)
    tmp = zeros(n, m)
    for j in 1:m, i in 1:n
        @comp S tmp[i, j] = A[i, j] + 1.0
    end
    for j in 1:n, i in 1:m
        @comp R B[i, j] = 2.0 * tmp[j, i]
    end
end
";
    let all = TuneOptions { most: 10_000, ..FEW };
    let (columns, _) = tuner(source, &[("n", 512), ("m", 64)], all);
    let (waiting, considered, counted) = proposed(&columns, Family::Padding);
    assert!(waiting > 0 && waiting == counted && considered >= counted, "{waiting} {considered} {counted}");
    let padded = |it: &Candidate| it.commands.iter().any(|it| matches!(it, Command::Pad { .. }));
    assert!(columns.waiting().filter(|it| it.family == Family::Padding).all(padded));
    // Arrays of the caller stay as they are.
    let (none, _) = tuner(&text_of("tests/stencils/seidel2d.jl"), &[("n", 65), ("steps", 17)], all);
    assert_eq!(proposed(&none, Family::Padding), (0, 0, 0));
}

#[test]
fn one_seed_gives_one_order_and_another_another() {
    let order = |seed| {
        let most = 10_000;
        let (tuner, _) =
            tuner(&text_of("tests/stencils/heat2d.jl"), &[("m", 64), ("n", 64)], TuneOptions { seed, most, ..FEW });
        tuner.waiting().map(|it| tune::commands_text(&it.commands)).collect::<Vec<String>>()
    };
    let (first, again, other) = (order(1), order(1), order(2));
    assert_eq!(first, again);
    assert_ne!(first, other);
    let sorted = |mut all: Vec<String>| {
        all.sort();
        all
    };
    assert_eq!(sorted(first), sorted(other));
}

#[test]
fn what_was_fast_by_chance_is_timed_again() {
    let text = text_of("tests/stencils/heat2d.jl");
    let sizes = [("m", 41), ("n", 37), ("steps", 9)];
    let (mut first, _) = tuner(&text, &sizes, TuneOptions { most: 3, ..FEW });
    to_the_end(&mut first);
    let timed = first.tried.iter().find(|it| matches!(it.outcome, Outcome::Timed(_)));
    let commands = timed.map(|it| it.commands.clone()).unwrap_or_else(|| panic!("{:?}", first.tried));
    let (mut lucky, _) = tuner(&text, &sizes, TuneOptions { most: 0, ..FEW });
    lucky.best = Best { commands: Some(commands), seconds: 0.0 };
    assert_eq!(to_the_end(&mut lucky), Step::Exhausted);
    assert!(lucky.best.seconds > 0.0 && lucky.best.seconds <= lucky.untuned, "{:?}", lucky.best);
}

#[test]
fn no_candidate_is_begun_after_the_budget() {
    let (mut tuner, _) = tuner(&text_of("tests/stencils/heat2d.jl"), &[("m", 16), ("n", 16)], FEW);
    // A clock that jumps beyond the budget at the third look.
    let mut looks = 0;
    tuner.set_clock(Box::new(move || {
        looks += 1;
        if looks < 3 { Duration::ZERO } else { Duration::from_secs(7200) }
    }));
    assert_eq!(to_the_end(&mut tuner), Step::OutOfTime);
    assert_eq!(tuner.tried.len(), 2);
    let (mut none, _) = super_short();
    assert_eq!(none.step(), Step::OutOfTime);
    assert_eq!((none.tried.len(), none.best.commands.clone()), (0, None));
    assert_eq!(none.schedule(), "");
}

fn super_short() -> (Tuner, Vec<u32>) {
    let budget = Duration::ZERO;
    tuner(&text_of("tests/stencils/heat2d.jl"), &[("m", 16), ("n", 16)], TuneOptions { budget, ..FEW })
}

struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn what_was_found_is_there_for_sizes_of_the_class_and_programs_like_it() {
    let scratch = Scratch(std::env::temp_dir().join(format!("tessella-tuning-{}", std::process::id())));
    let store = Store::at(&scratch.0);
    let text = text_of("tests/stencils/heat2d.jl");
    let (mut tuner, class) = tuner(&text, &[("m", 40), ("n", 40), ("steps", 8)], TuneOptions { most: 3, ..FEW });
    to_the_end(&mut tuner);
    assert!(tuner.keep(&store, class.clone()).is_ok());
    let subject = &tuner.subject;
    let key = |machine| key_of(&subject.function, subject.target, &machine, None).unwrap().unwrap();
    let found = store.find(&key(subject.machine), &class).expect("it was kept");
    assert_eq!(found.schedule, tuner.schedule());
    assert_eq!(found.untuned, tuner.untuned);
    assert!(store.find(&key(subject.machine), &[1, 2, 3]).is_none());
    let other = tessella_polyhedral::machine::Machine { threads: 77, ..subject.machine };
    assert!(store.find(&key(other), &class).is_none());
}

#[test]
fn a_function_with_a_schedule_is_not_tuned() {
    let source = "\
@tessella function f!(x::Vector{Float64})
    for i in eachindex(x)
        @comp S x[i] = 2x[i]
    end
end

@schedule f! begin
    vectorize(S, i, 4)
end
";
    let said = refusal(source, &[]);
    golden(&root().join("tests/ui/values/E0776.txt"), &said).unwrap();
}

#[test]
fn arguments_that_a_call_refuses_are_told() {
    let source = "@tessella function shifted!(A::Vector{Float64}, B::Vector{Float64})
    for i in eachindex(A)
        A[i] = B[i+1]
    end
end
";
    let (tuner, _) = tuner(source, &[("A_1", 5)], FEW);
    let array = || Value::Array(Array::zeros(ScalarType::F64, vec![5]).unwrap());
    let sources = tuner.subject.sources.clone();
    match Tuner::new(tuner.subject, vec![array(), array()], FEW, Box::new(|| Duration::ZERO)) {
        Err(tune::Failed::Refused(errors)) => {
            let said = render(&sources, &errors, Style::Plain);
            golden(&root().join("tests/ui/values/E0777.txt"), &said).unwrap();
        }
        Err(tune::Failed::ToolChain(_)) | Ok(_) => panic!("not refused"),
    }
}

#[test]
fn one_function_is_tuned_at_a_time() {
    let source = "f!(x::Vector{Float64}) = (for i in eachindex(x); x[i] = 1; end)\ng!(x::Vector{Float64}) = (for i in eachindex(x); x[i] = 2; end)\n";
    let said = refusal(source, &[]);
    assert!(said.contains("--function") && said.contains("f!, g!"), "{said}");
    let said = refusal("f!(x::Vector{Float64}) = (for i in eachindex(x); x[i] = 1; end)\n", &[("q", 3)]);
    assert!(said.contains("has no size `q`"), "{said}");
}

#[test]
fn arrays_beyond_the_memory_are_refused_before_they_are_made() {
    let source = "f!(x::Matrix{Float64}) = (for i in eachindex(x); x[i] = 1; end)\n";
    let said = refusal(source, &[("x_1", 10_000_000), ("x_2", 10_000_000)]);
    assert!(said.contains("MB are free") && said.contains("--size"), "{said}");
}

#[test]
fn the_first_guess_of_each_model_is_timed_whatever_the_budget() {
    let source = text_of("tests/stencils/heat2d.jl");
    let options = TuneOptions { budget: Duration::ZERO, most: 10_000, begin: Begin::Guesses, ..FEW };
    let (mut tuner, _) = tuner(&source, &[("m", 40), ("n", 40), ("steps", 4)], options);
    let best = tuner.waiting().filter(|it| it.family.model() == Model::Tiles);
    let best = best.filter_map(|it| it.predicted).map(|it| it.time).fold(f64::INFINITY, f64::min);
    let models: Vec<Model> = tuner.shares.iter().filter(|it| it.proposed > 0).map(|it| it.model).collect();
    while tuner.step() == Step::Tried {}
    for model in models {
        let timed = tuner.tried.iter().filter(|it| it.family.model() == model);
        assert_eq!(timed.filter(|it| matches!(it.outcome, Outcome::Timed(_))).count(), 1, "{model:?}");
    }
    let first = tuner.tried.iter().find(|it| it.family.model() == Model::Tiles).unwrap();
    assert_eq!(first.predicted.map(|it| it.time), Some(best));
}

/// What would be tried on a GPU.
fn on_gpu(path: &str, sizes: &[(&str, i64)]) -> tune::Proposals {
    let most = TuneOptions { most: 10_000, ..FEW };
    match tune::proposals(&text_of(path), &options("k.jl"), &run_options(sizes), Backend::Cuda, most) {
        Ok(found) => found,
        Err(Failed::Refused(text) | Failed::ToolChain(text) | Failed::Usage(text)) => panic!("{path}: {text}"),
    }
}

#[test]
fn tiles_of_products_on_a_gpu_are_proposed_by_what_they_move() {
    let sizes = [("ni", 2048), ("nj", 2048), ("nk", 2048)];
    let found = on_gpu("tests/polybench/gemm.jl", &sizes);
    let share = found.shares.iter().find(|it| it.model == Model::Nests).expect("tiles are looked at");
    assert!(share.proposed > 0 && share.proposed < share.considered, "{share:?}");
    let tiles: Vec<&Candidate> = found.candidates.iter().filter(|it| it.family == Family::Tiles).collect();
    let text = |it: &Candidate| tune::commands_text(&it.commands);
    let has = |all: &[&Candidate], divisor: &str| all.iter().any(|it| text(it).contains(divisor));
    // Half as many results of a block move more, and are left where they are not far from the best.
    assert!(has(&tiles, "fld(i - 1, 64)") || has(&tiles, "fld(j - 1, 32)"), "{}", tiles.len());
    // 512 x 64 results by 16 x 8 threads of 32 x 8 are more than a thread's registers.
    assert!(!has(&tiles, "fld(i - 1, 512)"));
    let times: Vec<f64> = tiles.iter().filter_map(|it| it.predicted).map(|it| it.time).collect();
    assert_eq!(times.len(), tiles.len(), "all tiles are predicted");
    // A copy of rows and columns has orders of its own.
    let turned = on_gpu("examples/vectors/transpose.jl", &[("m", 2048), ("n", 2048)]);
    let orders = turned.candidates.iter().filter(|it| text(it).contains("gpu(S0, ("));
    assert!(orders.count() > 3);
}

#[test]
fn parallelograms_are_proposed_on_a_gpu() {
    let found = on_gpu("tests/stencils/wave1d_levels.jl", &[("steps", 2000), ("n", 2000)]);
    let shapes: Vec<String> = found
        .candidates
        .iter()
        .filter(|it| it.family == Family::Parallelogram)
        .map(|it| tune::commands_text(&it.commands))
        .collect();
    assert!(!shapes.is_empty());
    assert!(
        shapes.iter().all(|it| it.contains("parallelogram(S, (t, i), (") && it.contains("gpu(S, t0, i)")),
        "{shapes:?}"
    );
    // Points of a tile wait for one another along all axes: threads have nothing to share out.
    let sweep = on_gpu("tests/stencils/seidel2d.jl", &[("n", 65), ("steps", 17)]);
    assert!(sweep.candidates.iter().all(|it| it.family != Family::Parallelogram));
}

/// Tilings whose values lie in memory between steps are far behind streams, whose lie in registers: one of each is tried.
#[test]
fn streams_leave_little_time_for_slower_tilings_on_a_gpu() {
    let found = on_gpu("tests/stencils/heat2d.jl", &[("m", 8192), ("n", 8192), ("steps", 96)]);
    let count = |wanted: Family| found.candidates.iter().filter(|it| it.family == wanted).count();
    assert!(count(Family::Stream) > 10);
    let others = [Family::Space, Family::Hexagonal, Family::Overlapped].map(count);
    assert_eq!(others, [1, 1, 1]);
}

/// On a GPU each step of a loop of the host starts a kernel: 200 of three microseconds for eight million points.
#[test]
fn tiles_inside_loops_of_the_host_pay_for_each_start() {
    let found = on_gpu("tests/polybench/floyd_warshall.jl", &[("n", 200)]);
    let tiles: Vec<&Candidate> = found.candidates.iter().filter(|it| it.family == Family::Tiles).collect();
    assert!(!tiles.is_empty());
    for it in tiles {
        let time = it.predicted.map_or(f64::INFINITY, |it| it.time);
        assert!(time > 0.07, "{it:?}");
    }
}

/// Other orders of a sum under `@fastmath` have other last digits.
#[test]
fn rounding_that_the_source_allows_is_no_difference() {
    let source = "\
@tessella function product!(C::Matrix{Float32}, A::Matrix{Float32}, B::Matrix{Float32})
    m, n = size(C)
    @fastmath for j in 1:n, k in 1:size(A, 2), i in 1:m
        C[i, j] += A[i, k] * B[k, j]
    end
end
";
    let sizes = [("m", 70), ("n", 65), ("A_2", 300), ("B_1", 300), ("B_2", 65)];
    let (mut tuner, _) = tuner(source, &sizes, TuneOptions { most: 8, ..FEW });
    to_the_end(&mut tuner);
    let timed = tuner.tried.iter().filter(|it| matches!(it.outcome, Outcome::Timed(_))).count();
    assert!(timed > 1, "{:?}", tuner.tried);
    assert!(tuner.tried.iter().all(|it| !matches!(it.outcome, Outcome::Differs(_))), "{:?}", tuner.tried);
}

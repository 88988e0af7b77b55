//! A launch runs every iteration that its threads and blocks share, also where the bounds that isl prints for a loop hold for
//! several parts of a domain together and are not reached in each.

use tessella::file::{FileOptions, ScheduleSource, Sources};
use tessella::request::Backend;
use tessella::run::{RunOptions, inputs};
use tessella_codegen::program::{Guard, Node, Over};
use tessella_codegen::{Input, generate};
use tessella_interpreter::run_within;
use tessella_interpreter::scheduled::{self, Completion};
use tessella_runtime::cuda::{Nvrtc, Target};
use tessella_tests::report;

/// The first and the last element only: in one tile bounds are set by the other one.
const ENDS: &str = "
@tessella function ends!(A::Vector{Float64})
    n = length(A)
    for i in 1:n
        if i == 1 || i == n
            @comp S A[i] = 2A[i] + 1
        end
    end
end
";

/// The same in a window that moves with the column.
const BANDS: &str = "
@tessella function bands!(A::Matrix{Float64})
    m, n = size(A)
    for j in 1:n, i in j:min(j + 7, m)
        if (i == j && j <= 2) || i == m
            @comp S A[i, j] = 2A[i, j] + 1
        end
    end
end
";

/// A part of the diagonal, and a part of a row.
const HOOK: &str = "
@tessella function hook!(A::Matrix{Float64})
    m, n = size(A)
    for j in 1:n, i in 1:m
        if (i == j && j <= 2) || (i == n && j >= 5)
            @comp S A[i, j] = 2A[i, j] + 1
        end
    end
end
";

struct Loops {
    /// Loops whose threads take turns.
    turns: usize,
    /// Conditions right inside of block loops.
    narrowed: usize,
}

#[test]
fn every_iteration_has_a_thread() {
    let mut failures = vec![];
    let mut all = Loops { turns: 0, narrowed: 0 };
    for (source, schedule) in [
        (ENDS, "split(S, i, 8); gpu(S, i0, i1)"),
        (ENDS, "split(S, i, 8); reverse(S, i1); gpu(S, i0, i1)"),
        (BANDS, "gpu(S, j, i)"),
        (BANDS, "reverse(S, i); gpu(S, j, i)"),
        (HOOK, "tile(S, (j, i), (4, 4)); gpu(S, (j0, i0), (j1, i1))"),
        (HOOK, "reverse(S, i); tile(S, (j, i), (4, 4)); gpu(S, (j0, i0), (j1, i1))"),
        (HOOK, "tile(S, (j, i), (4, 4)); reverse(S, i0); gpu(S, (j0, i0), (j1, i1))"),
    ] {
        match examine(source, schedule) {
            Ok(loops) => {
                all.turns += loops.turns;
                all.narrowed += loops.narrowed;
            }
            Err(said) => failures.push(format!("{schedule} of {source}: {said}")),
        }
    }
    report(failures);
    assert!(all.turns > 0, "no loop needs turns: the programs test too little");
    assert!(all.narrowed > 0, "no block loop has wider bounds than its values: the programs test too little");
}

fn examine(source: &str, schedule: &str) -> Result<Loops, String> {
    let schedule = ScheduleSource::Text { text: schedule.to_string(), name: "command.jl".to_string() };
    let options = FileOptions { name: "covers.jl".to_string(), function: None, types: vec![], schedule };
    let sources = Sources::read(source, &options)?;
    let unit = sources.unit(&sources.functions()[0], &[]).map_err(|errors| sources.show(&errors))?;
    let built = unit.build(Backend::Cuda).map_err(|errors| sources.show(&errors))?;
    let text = built.cuda(&unit).map_err(|errors| sources.show(&errors))?;
    if let Ok(nvrtc) = Nvrtc::get() {
        let compiled = nvrtc.compile(&text.kernels, "covers.jl", Target::Cubin(90), &["-fmad=false"]);
        compiled.map_err(|error| error.to_string())?;
    }
    let input = Input::from(&built.analysed.verified);
    let loops = generate(&input).map_err(|error| error.to_string())?;
    for m in if source == ENDS { 0..1 } else { 0..14 } {
        for n in 0..20 {
            let sizes = [("m".to_string(), m), ("n".to_string(), n)];
            let sizes = sizes.into_iter().skip(usize::from(source == ENDS)).collect();
            let run =
                RunOptions { sizes, values: vec![], seed: 7, repeat: 1, compare: true, profile: false, chunked: false };
            let mut expected = inputs(&unit, &built, &run).map_err(|_| "no arguments".to_string())?;
            let mut actual = expected.clone();
            run_within(1_000_000, &unit.function, &mut expected).map_err(|error| format!("{error:?}"))?;
            match scheduled::run(&input, &loops, &mut actual, (m + 20 * n) as u64) {
                Ok(Completion::Done(_)) if actual == expected => {}
                Ok(Completion::Done(_)) => return Err(format!("m = {m}, n = {n}: another result")),
                other => return Err(format!("m = {m}, n = {n}: {other:?}")),
            }
        }
    }
    let mut found = Loops { turns: 0, narrowed: 0 };
    for node in loops.kernels.iter().flat_map(|kernel| &kernel.body) {
        node.walk(&mut |node| {
            if let Node::Spread(it) = node {
                found.turns += usize::from(it.guard == Guard::Turns);
                let inner = matches!(it.body.as_slice(), [Node::If { .. }]);
                found.narrowed += usize::from(it.over == Over::Blocks && inner);
            }
        });
    }
    Ok(found)
}

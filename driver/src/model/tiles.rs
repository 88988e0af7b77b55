//! `tessella model tiles` and `tessella model stencil`.

use super::table::table;
use super::{Answers, at_function, core, each, nothing};
use crate::file::FileOptions;
use crate::request::Backend;
use crate::sizes::{self, Defaults};
use crate::unit::target;
use std::fmt::Write;
use tessella_polyhedral::algorithm::Algorithm;
use tessella_polyhedral::layers::Target;
use tessella_polyhedral::machine::{Gpu, Machine};
use tessella_polyhedral::models::tiles::closed::{self, Cell, Held};
use tessella_polyhedral::models::tiles::rank::{Ranked, Ranking, Trust, given, rank};
use tessella_polyhedral::models::tiles::scheduled::{Iteration, iterations};
use tessella_polyhedral::models::tiles::{Approach, Candidate};

const HEAD: [&str; 7] = ["tiles", "size", "useful/transfer", "memory", "loads", "stores", "useful"];

/// The memory that a tile works in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    Elements(u64),
    /// The one that is fast on such a machine.
    Of(Backend),
}

/// The memory that tiles work in: on a CPU a first-level cache, on a GPU what a block may have of shared memory.
pub(crate) struct FastMemory {
    pub(crate) bytes: u64,
    pub(crate) place: &'static str,
    /// Bytes of a program's largest elements.
    pub(crate) element: u32,
}

impl FastMemory {
    pub(crate) fn of(algorithm: &Algorithm, target: Target, machine: &Machine) -> FastMemory {
        let (bytes, place) = match target {
            Target::Cpu => (machine.l1_bytes, "a first-level cache"),
            Target::Gpu => (Gpu::HOPPER.shared_bytes_of_block.into(), "the shared memory of a block"),
        };
        let element = algorithm.arrays.iter().map(|it| it.element.bytes()).max().unwrap_or(8);
        FastMemory { bytes, place, element }
    }
}

/// Ranks tilings of all chosen functions of a file in fast memory.
pub fn tiles(text: &str, options: &FileOptions, memory: Memory) -> Answers {
    each(text, options, &|ctx, lowered, unit| {
        let (memory, place) = match memory {
            Memory::Elements(memory) => (memory, "memory".to_string()),
            Memory::Of(backend) => {
                let it = FastMemory::of(&lowered.algorithm, target(backend), &unit.machine);
                (it.bytes / u64::from(it.element), format!("{}, {} KiB", it.place, it.bytes >> 10))
            }
        };
        let rankings = rank(ctx, &lowered.algorithm, memory).map_err(|error| core(unit, lowered, error))?;
        if rankings.is_empty() {
            return Err(nothing(
                lowered,
                "no loops that could be tiled",
                "name a function that has loops with `--function`",
            ));
        }
        let mut text = format!("{}: tiles in {memory} elements of {place}\n", lowered.algorithm.name);
        for ranking in &rankings {
            text.push('\n');
            text.push_str(&nest(ranking));
        }
        Ok(text)
    })
}

/// What a tile of these sizes costs in all chosen functions of a file, of each kind: sizes in space, then, if there is one more, time
/// steps.
pub fn given_tile(text: &str, options: &FileOptions, sizes: &[u64]) -> Answers {
    each(text, options, &|ctx, lowered, unit| {
        let rankings = given(ctx, &lowered.algorithm, sizes).map_err(|error| core(unit, lowered, error))?;
        if rankings.is_empty() {
            let what = format!("no loops that a tile of {} sizes fits", sizes.len());
            return Err(nothing(lowered, &what, "give a size for each loop of space, then the number of time steps"));
        }
        let mut text = format!("{}: tiles as given\n", lowered.algorithm.name);
        for ranking in &rankings {
            text.push('\n');
            text.push_str(&heading(ranking));
            if !ranking.ranked.is_empty() {
                let more = |it: &Ranked| vec![it.footprint.to_string(), it.run.to_string()];
                let rows: Vec<Vec<String>> =
                    ranking.ranked.iter().map(|it| [row(&it.candidate), more(it)].concat()).collect();
                text.push_str(&table(&[HEAD.as_slice(), &["footprint", "run"]].concat(), &rows));
            }
            text.push_str(&notes(ranking));
        }
        Ok(text)
    })
}

/// An iteration of which loop is counted.
pub struct IterationOptions {
    pub loop_name: String,
    /// Sizes by their names; those that are missing are 240, or fit to the others.
    pub sizes: Vec<(String, i64)>,
    /// Whose program it is.
    pub backend: Backend,
}

/// What the middle iteration of a loop costs in all chosen functions of a file, as scheduled: a tile, if the loop goes from tile to
/// tile.
pub fn tiles_of_loop(text: &str, options: &FileOptions, asked: &IterationOptions) -> Answers {
    each(text, options, &|_, lowered, unit| {
        let built = unit.build(asked.backend)?;
        let verified = &built.analysed.verified;
        let (algorithm, schedule) = (verified.algorithm(), verified.schedule());
        let name = &lowered.algorithm.name;
        let params = sizes::choose(&built, &asked.sizes, Defaults { side: SIDE, count: SIDE })
            .map_err(|error| at_function(lowered, error.text, error.help))?;
        let names = schedule.loop_names();
        if !names.contains(&asked.loop_name) {
            let what = format!("no loop `{}`", asked.loop_name);
            return Err(nothing(lowered, &what, &format!("its loops are {}", names.join(", "))));
        }
        let sizes: Vec<String> =
            algorithm.params.iter().zip(&params).map(|(param, value)| format!("{}={value}", param.name)).collect();
        let counted = iterations(&built.ctx, algorithm, schedule, &asked.loop_name, &params).map_err(|error| {
            match error.is_quota() {
                true => {
                    let text = format!(
                        "counting an iteration of `{}` takes too long at {}",
                        asked.loop_name,
                        sizes.join(", ")
                    );
                    at_function(
                        lowered,
                        text,
                        "give smaller sizes with `--size`, or ask for a loop further inside".into(),
                    )
                }
                false => core(unit, lowered, error),
            }
        })?;
        let mut text = format!("{name}: an iteration of {} at {}\n\n", asked.loop_name, sizes.join(", "));
        if counted.is_empty() {
            text.push_str("  it has none at these sizes\n");
            return Ok(text);
        }
        let head = ["iteration", "useful/transfer", "memory", "loads", "stores", "useful", "footprint", "run"];
        text.push_str(&table(&head, &counted.iter().map(iteration_row).collect::<Vec<_>>()));
        for it in &counted {
            let _ = writeln!(text, "  {}: {}", place(it), it.computations.join(", "));
        }
        if counted.iter().any(|it| !it.is_certain) {
            text.push_str("  an estimate: what is accessed depends on data\n");
        }
        let copies = |name: &String| {
            let of = algorithm.computations.iter().find(|it| it.name == *name);
            let array = of.map(|it| &algorithm.array(it.write.array).name);
            array.is_some_and(|array| lowered.algorithm.arrays.iter().all(|known| known.name != *array))
        };
        if counted.iter().flat_map(|it| &it.computations).any(copies) {
            text.push_str("  useful are also copies, and what other iterations compute again\n");
        }
        Ok(text)
    })
}

/// What sizes are that nobody gave.
const SIDE: i64 = 240;

/// `t = 3, i = 40`.
fn place(it: &Iteration) -> String {
    it.at.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
}

fn iteration_row(it: &Iteration) -> Vec<String> {
    let cost = &it.counts.cost;
    let ratio = if cost.transfers() == 0 { "-".to_string() } else { format!("{:.2}", cost.ratio()) };
    let numbers = [cost.memory, cost.loads, cost.stores, cost.useful, it.counts.footprint, it.counts.run];
    [vec![place(it), ratio], numbers.iter().map(u64::to_string).collect()].concat()
}

/// The best tile of each approach for a stencil over two space dimensions that reads the four neighbours.
pub fn stencil(cell: Cell, memory: u64) -> String {
    let mut found: Vec<Candidate> =
        Approach::ALL.iter().filter_map(|&approach| closed::best(approach, cell, memory, Held::Loaded)).collect();
    found.sort_by(|a, b| b.cost.is_better_than(&a.cost).cmp(&a.cost.is_better_than(&b.cost)));
    let Cell { computed, read, coefficients } = cell;
    let mut text = format!(
        "5-point stencil, {computed} variables a cell, {read} of a neighbour, {coefficients} coefficients: \
         tiles in {memory} elements of memory\n\n"
    );
    match found.is_empty() {
        true => text.push_str("  no tile fits\n"),
        false => text.push_str(&table(&HEAD, &found.iter().map(row).collect::<Vec<_>>())),
    }
    text
}

/// `S, R over j, i, in steps of t`.
fn heading(ranking: &Ranking) -> String {
    let mut text = format!("{} over {}", ranking.computations.join(", "), ranking.space.join(", "));
    if let Some(time) = &ranking.time {
        let _ = write!(text, ", in steps of {time}");
    }
    text + "\n"
}

fn nest(ranking: &Ranking) -> String {
    let mut text = heading(ranking);
    if !ranking.ranked.is_empty() {
        let rows: Vec<Vec<String>> = ranking.ranked.iter().map(|it| row(&it.candidate)).collect();
        text.push_str(&table(&HEAD, &rows));
    }
    text + &notes(ranking)
}

/// What there is to say of each approach.
fn notes(ranking: &Ranking) -> String {
    let mut text = String::new();
    for ranked in &ranking.ranked {
        if let Some(line) = note(ranking, ranked) {
            let _ = writeln!(text, "  {line}");
        }
    }
    for (approach, refused) in &ranking.refused {
        let _ = writeln!(text, "  {}: {refused}", approach.name());
    }
    if !ranking.whole.is_empty() {
        let (each, are) = if ranking.whole.len() == 1 { ("loop", "stays whole") } else { ("loops", "stay whole") };
        let _ = writeln!(
            text,
            "  {each} {} {are} in a tile, in a program whose sizes are {SIDE}",
            ranking.whole.join(", ")
        );
    }
    text
}

/// `34 x 42 x 13 steps`; plain tiles, which have one step always, go without it.
pub(crate) fn sizes_text(candidate: &Candidate) -> String {
    let sizes: Vec<String> = candidate.sizes.iter().map(u64::to_string).collect();
    let steps = match (candidate.approach, candidate.steps) {
        (Approach::Plain, _) => String::new(),
        (Approach::Skewed | Approach::Redundant, 1) => " x 1 step".to_string(),
        (Approach::Skewed | Approach::Redundant, steps) => format!(" x {steps} steps"),
    };
    sizes.join(" x ") + &steps
}

fn row(candidate: &Candidate) -> Vec<String> {
    let cost = &candidate.cost;
    vec![
        candidate.approach.name().to_string(),
        sizes_text(candidate),
        format!("{:.2}", cost.ratio()),
        cost.memory.to_string(),
        cost.loads.to_string(),
        cost.stores.to_string(),
        cost.useful.to_string(),
    ]
}

/// `j + 2t`; `-j + t` where the loop of `j` goes down.
fn sum(terms: &[(i64, &String)]) -> String {
    let mut text = String::new();
    for (factor, name) in terms {
        text.push_str(match (text.is_empty(), *factor < 0) {
            (true, false) => "",
            (true, true) => "-",
            (false, false) => " + ",
            (false, true) => " - ",
        });
        match factor.unsigned_abs() {
            1 => text.push_str(name),
            times => {
                let _ = write!(text, "{times}{name}");
            }
        }
    }
    text
}

/// How the tiles of an approach lie, and how far its numbers can be trusted.
fn note(ranking: &Ranking, ranked: &Ranked) -> Option<String> {
    let mut parts = vec![];
    if let Some(time) = &ranking.time {
        let sign = |at: usize| ranking.signs.get(at).copied().unwrap_or(1);
        let along = |at: usize| {
            let before = ranked.lean[at].iter().enumerate();
            let before = before.map(|(other, factor)| (factor * sign(other + 1), &ranking.space[other]));
            let moved = before.chain([(ranked.skew[at] * sign(0), time)]).filter(|(factor, _)| *factor != 0);
            let moved: Vec<(i64, &String)> = moved.collect();
            (!moved.is_empty()).then(|| sum(&[&[(sign(at + 1), &ranking.space[at])], moved.as_slice()].concat()))
        };
        let terms: Vec<String> = (0..ranking.space.len()).filter_map(along).collect();
        if !terms.is_empty() {
            parts.push(format!("boxes of {}", terms.join(", ")));
        }
    }
    match ranked.trust {
        Trust::Exact => {}
        Trust::Counted => parts.push(
            "this tile was counted, but the choice is an estimate: counts at other sizes do not follow one formula"
                .to_string(),
        ),
        Trust::Estimate => {
            parts.push("an estimate: the tile itself could not be counted, or accesses depend on data".to_string())
        }
    }
    if ranked.least > 1 {
        parts.push(format!("sizes below {} take too long to count", ranked.least));
    }
    (!parts.is_empty()).then(|| format!("{}: {}", ranked.candidate.approach.name(), parts.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::ScheduleSource;

    const SOURCE: &str = "\
function mm!(C::Matrix{Float64}, A::Matrix{Float64}, B::Matrix{Float64})
    for j in axes(C, 2), i in axes(C, 1), k in axes(A, 2)
        C[i, j] += A[i, k] * B[k, j]
    end
end
function lower!(A::Matrix{Float64})
    for j in axes(A, 1), i in j:size(A, 1)
        A[i, j] = 2A[i, j]
    end
end
function five!(A::Vector{Float64})
    for i in 1:5
        A[i] = 2A[i]
    end
end
";

    fn told(function: &str) -> String {
        let (name, function) = ("m.jl".into(), Some(function.into()));
        tiles(
            SOURCE,
            &FileOptions { name, function, types: vec![], schedule: ScheduleSource::InFile },
            Memory::Elements(4076),
        )
        .text
    }

    #[test]
    fn a_tile_of_a_triangle_lies_where_it_is_full() {
        let options = FileOptions {
            name: "m.jl".into(),
            function: Some("lower!".into()),
            types: vec![],
            schedule: ScheduleSource::InFile,
        };
        let told = given_tile(SOURCE, &options, &[8, 8]).text;
        let plain = told.lines().find(|line| line.trim_start().starts_with("plain")).expect(&told);
        // What 8 x 8 points load, store and compute, and how many elements they touch.
        let numbers: Vec<&str> = plain.split_whitespace().skip(4).collect();
        assert_eq!(numbers, ["0.50", "64", "64", "64", "64", "64", "64"], "{told}");
    }

    #[test]
    fn a_machine_says_how_much_fast_memory_there_is() {
        let options = FileOptions {
            name: "m.jl".into(),
            function: Some("mm!".into()),
            types: vec![],
            schedule: ScheduleSource::InFile,
        };
        let gpu = tiles(SOURCE, &options, Memory::Of(Backend::Cuda)).text;
        assert!(gpu.contains("tiles in 6144 elements of the shared memory of a block, 48 KiB"), "{gpu}");
        let cpu = tiles(SOURCE, &options, Memory::Of(Backend::C)).text;
        assert!(cpu.contains("tiles in 4096 elements of a first-level cache, 32 KiB"), "{cpu}");
    }

    #[test]
    fn a_product_of_matrices_has_blocks_of_all_three_loops() {
        let told = told("mm!");
        assert_eq!(
            told,
            "\
mm!: tiles in 4076 elements of memory

S0 over j, i, k
  tiles          size  useful/transfer  memory  loads  stores  useful
  plain  31 x 31 x 50             9.57    4061   4061     961   48050
  skewed: no outer loop carries values
  redundant: no outer loop carries values
"
        );
        // 31 * 31 elements of C, and a strip of A and one of B.
        assert_eq!(31 * 31 + 2 * 31 * 50, 4061);
    }

    #[test]
    fn a_choice_among_tiles_of_a_triangle_is_an_estimate() {
        assert!(told("lower!").contains("but the choice is an estimate"), "{}", told("lower!"));
    }

    #[test]
    fn a_tile_lies_within_short_loops_or_is_refused() {
        let (name, function) = ("m.jl".into(), Some("five!".into()));
        let options = FileOptions { name, function, types: vec![], schedule: ScheduleSource::InFile };
        let four = given_tile(SOURCE, &options, &[4]).text;
        assert!(four.contains("plain     4             0.50       4      4       4       4"), "{four}");
        let six = given_tile(SOURCE, &options, &[6]).text;
        assert!(
            six.contains("plain: too large for the loops, whose sizes are 240 unless their bounds are constants"),
            "{six}"
        );
        let best = told("five!");
        assert!(best.contains("plain     5             0.50       5      5       5       5"), "{best}");
    }

    #[test]
    fn one_step_of_several_is_named() {
        let of = |approach| Candidate { approach, sizes: vec![5, 6], steps: 1, cost: Default::default() };
        assert_eq!(sizes_text(&of(Approach::Redundant)), "5 x 6 x 1 step");
        assert_eq!(sizes_text(&of(Approach::Plain)), "5 x 6");
    }

    #[test]
    fn a_stencil_is_ranked_by_its_ratio() {
        let told = stencil(Cell { computed: 18, read: 2, coefficients: 44 }, 16304);
        let lines: Vec<&str> = told.lines().skip(3).map(str::trim).collect();
        assert!(lines[0].starts_with("skewed     10 x 10 x 9 steps             0.70"), "{told}");
        assert!(lines[2].starts_with("plain                16 x 16             0.22"), "{told}");
        assert!(stencil(Cell { computed: 18, read: 2, coefficients: 44 }, 69).ends_with("no tile fits\n"));
    }
}

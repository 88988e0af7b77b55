//! Random programs under random schedules, held against brute force.
//!
//! Each program is made as Julia text and goes the whole road. What the core says of a schedule is compared with an
//! enumeration of all instances for small parameters: an accepted order loses no conflict, a refused one comes with a
//! pair of instances that it really breaks, or with a cause that `docs/model.md` lists. Accepted programs are executed
//! by the interpreter of loop programs, loops without an order shuffled, and a sample by compiled C; the results are
//! the source's, bit for bit.
//!
//! `TESSELLA_ORACLE_PAIRS` sets how many pairs (default 2500), `TESSELLA_ORACLE_SEED` which ones,
//! `TESSELLA_ORACLE_TILES` how many of a hundred programs are such as register tiles are made for,
//! `TESSELLA_ORACLE_STENCILS` how many are stencils under tilings of time, `TESSELLA_ORACLE_CHAINS` how many are stencils one
//! after the other,
//! `TESSELLA_ORACLE_SECONDS` after how long no further program is begun. A failure is shrunk,
//! printed, and saved under `tests/oracle/regressions/`, which are replayed on every run.

mod campaign;
mod commands;
mod examine;
mod generate;
mod inputs;
mod instances;
mod native;
mod program;
mod random;
mod refusals;
mod renewed;
mod shrink;
mod stencils;
mod subject;
mod tiles;
mod witness;

use campaign::{Kinds, Plan, campaign};
use examine::{Case, examine, hush_panics};
use std::fs;
use std::time::Duration;
use tessella_polyhedral::layers::Target;
use tessella_tests::{julia_files, root};

/// Without optimisation isl takes ten times as long.
const PAIRS: u64 = if cfg!(debug_assertions) { 200 } else { 2500 };
const SEED: u64 = 2024;
/// The share of programs made for register tiles, in percent.
const TILES: u64 = 20;
/// The share of stencils, whose proofs take longest.
const STENCILS: u64 = 4;
/// The share of chains of stencils.
const CHAINS: u64 = 6;

fn setting(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name} is `{text}`, not a number")),
        Err(_) => default,
    }
}

#[test]
fn random_schedules_keep_what_programs_mean() {
    let (pairs, seed) = (setting("TESSELLA_ORACLE_PAIRS", PAIRS), setting("TESSELLA_ORACLE_SEED", SEED));
    hush_panics();
    let kinds = Kinds {
        tiles: setting("TESSELLA_ORACLE_TILES", TILES) as u32,
        stencils: setting("TESSELLA_ORACLE_STENCILS", STENCILS) as u32,
        chains: setting("TESSELLA_ORACLE_CHAINS", CHAINS) as u32,
    };
    let longest = Duration::from_secs(setting("TESSELLA_ORACLE_SECONDS", u64::MAX / 2));
    let found = campaign(&Plan { pairs, seed, kinds, longest });
    println!("{}", found.counts);
    assert!(found.failures.is_empty(), "{} programs with a fault\n\n{}", found.total, found.failures.join("\n----\n"));
    let counts = found.counts;
    // Neither verdict may be so rare that a campaign says nothing of it.
    assert!(counts.accepted * 5 >= counts.pairs, "{} of {} pairs accepted", counts.accepted, counts.pairs);
    assert!(counts.illegal * 10 >= counts.pairs, "{} of {} pairs illegal", counts.illegal, counts.pairs);
}

/// A command may only be refused for what its page explains, so the page has to list it.
#[test]
fn every_cause_of_a_refusal_is_in_the_model() {
    let text = fs::read_to_string(root().join("docs/model.md")).unwrap();
    let from = text.split_once("## What is refused although legal").expect("the section is there").1;
    let section = from.split_once("\n## ").map_or(from, |(section, _)| section);
    let missing = refusals::missing_in(section);
    assert!(missing.is_empty(), "docs/model.md does not name the codes of {missing:?}");
}

/// Orders that the core is not asked about: the oracle must see what is wrong with them.
#[test]
fn the_oracle_sees_what_is_wrong() {
    hush_panics();
    let carried = "@tessella function f!(A::Array{Float64,1}, n::Int64)
        for i in 2:n
            @comp S A[i] = A[i-1] + 1.0
        end
        return nothing
    end";
    for command in ["parallel(S, i)", "reverse(S, i)", "vectorize(S, i, 4)"] {
        let source = format!("{carried}\n\n@schedule f! begin\n    {command}\nend\n");
        let seen = examine::without_proof(&source, Target::Cpu);
        assert!(matches!(&seen, (true, true)), "{command}: brute force and execution see {seen:?}");
    }
    let alive = "@tessella function f!(A::Array{Float64,1}, B::Array{Float64,1}, n::Int64)
        for i in 1:n
            @comp S s = A[i]
            @comp R B[i] = s
        end
        return nothing
    end";
    let source = format!("{alive}\n\n@schedule f! begin\n    before(R, S, i)\nend\n");
    assert_eq!(examine::without_proof(&source, Target::Cpu), (true, true));
    let scattered = "@tessella function f!(A::Array{Float64,1}, B::Array{Float64,1}, Q::Array{Int64,1}, n::Int64)
        for i in 1:n
            @comp S A[mod1(Q[i], 3)] = B[i]
        end
        return nothing
    end";
    let source = format!("{scattered}\n\n@schedule f! begin\n    reverse(S, i)\nend\n");
    assert_eq!(examine::without_proof(&source, Target::Cpu), (true, true));
}

/// Tiles of shared memory and of registers, in a chain of products and with sums that go both ways.
#[test]
fn promotions_leave_the_other_dependences_alone() {
    for name in ["2mm", "bicg", "doitgen", "gemver"] {
        let text = fs::read_to_string(root().join(format!("tests/polybench/{name}.jl"))).unwrap();
        let promoted =
            renewed::own_choice(&text).unwrap_or_else(|fault| panic!("{name}: {}: {}", fault.kind, fault.text));
        assert!(promoted, "{name}: nothing was promoted");
    }
}

/// Enough of them that no change takes this order away unseen.
#[test]
fn chains_of_stencils_keep_few_rows() {
    hush_panics();
    let examined = (0..40)
        .map(|seed| stencils::keeps_few_rows(seed).unwrap_or_else(|it| panic!("{seed}: {}: {}", it.kind, it.text)));
    let few = examined.filter(|few| *few).count();
    assert!(few >= 10, "{few} of 40");
}

/// The same for tiles of time that nobody asked for.
#[test]
fn stencils_become_hexagons() {
    hush_panics();
    let examined = (0..24)
        .map(|seed| stencils::becomes_hexagons(seed).unwrap_or_else(|it| panic!("{seed}: {}: {}", it.kind, it.text)));
    let hexagons = examined.filter(|hexagons| *hexagons).count();
    assert!(hexagons >= 4, "{hexagons} of 24");
}

#[test]
fn what_once_failed_works() {
    hush_panics();
    let folder = root().join("tests/oracle/regressions");
    let mut failed = vec![];
    for path in if folder.exists() { julia_files(&folder) } else { vec![] } {
        let text = fs::read_to_string(&path).unwrap();
        let option = |name: &str| text.lines().find_map(|line| line.strip_prefix(&format!("#! {name} ")));
        let setting = campaign::setting_of(&option);
        let seed: u64 = option("seed").and_then(|seed| seed.parse().ok()).unwrap_or(1);
        for offset in 0..6 {
            let case = Case { source: text.clone(), setting, seed: seed.wrapping_add(offset), compile: offset == 0 };
            if let Err(fault) = examine(&case) {
                failed.push(format!("{}: {}: {}", path.display(), fault.kind, fault.text));
                break;
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

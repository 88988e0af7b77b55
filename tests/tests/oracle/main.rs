//! Random programs under random schedules, held against brute force.
//!
//! Each program is made as Julia text and goes the whole road. What the core says of a schedule is compared with an
//! enumeration of all instances for small parameters: an accepted order loses no conflict, a refused one comes with a
//! pair of instances that it really breaks. Accepted programs are executed by the interpreter of loop programs, loops
//! without an order shuffled, and a sample by compiled C; the results are the source's, bit for bit.
//!
//! `TESSELLA_ORACLE_PAIRS` sets how many pairs (default 360: some 30 seconds), `TESSELLA_ORACLE_SEED` which ones. A failure is shrunk,
//! printed, and saved under `tests/oracle/regressions/`, which are replayed on every run.

mod commands;
mod examine;
mod generate;
mod inputs;
mod instances;
mod program;
mod random;
mod shrink;

use examine::{Case, Fault, Verdict, check_witness, examine, guarded, hush_panics, prepare, unproved, with_unit};
use random::Random;
use shrink::{Pair, shrink};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use tessella::pipeline;
use tessella_polyhedral::command::Command;
use tessella_polyhedral::dependence::Dependence;
use tessella_polyhedral::error::{Error, ScheduleError};
use tessella_polyhedral::isl::Ctx;
use tessella_polyhedral::layers::{Scheduled, Target};
use tessella_polyhedral::storage::StorageError;
use tessella_polyhedral::{storage, transform};
use tessella_tests::{julia_files, root};

/// Without optimisation isl takes ten times as long.
const PAIRS: u64 = if cfg!(debug_assertions) { 30 } else { 360 };
const SEED: u64 = 2024;
/// Schedules of one program.
const SCHEDULES: u64 = 3;
/// One pair in so many is compiled as C, too.
const COMPILED: usize = 40;
/// Failures that are shrunk and printed.
const SHOWN: usize = 5;

fn setting(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name} is `{text}`, not a number")),
        Err(_) => default,
    }
}

#[derive(Default)]
struct Counts {
    verdicts: BTreeMap<String, u64>,
    commands: BTreeMap<String, u64>,
    runs: u64,
    refused_runs: u64,
    compiled: u64,
    pairs: u64,
}

struct Failure {
    pair: Pair,
    fault: Fault,
    seed: u64,
    compile: bool,
}

#[test]
fn random_schedules_keep_what_programs_mean() {
    let (pairs, seed) = (setting("TESSELLA_ORACLE_PAIRS", PAIRS), setting("TESSELLA_ORACLE_SEED", SEED));
    prepare_process();
    let next = AtomicU64::new(0);
    let counts = Mutex::new(Counts::default());
    let failures: Mutex<BTreeMap<u64, Failure>> = Mutex::default();
    let workers = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number * SCHEDULES >= pairs {
                        return;
                    }
                    for failure in one_program(seed, number, &counts) {
                        let Failure { pair, fault, .. } = &failure;
                        eprintln!("{}: {}\n{}", fault.kind, fault.text, pair.source());
                        failures.lock().expect("no worker panics").insert(number, failure);
                    }
                    let done = (number + 1) * SCHEDULES;
                    if done % 3000 == 0 {
                        let failed = failures.lock().expect("no worker panics").len();
                        eprintln!("{done} of {pairs} pairs, {failed} programs with a fault");
                    }
                }
            });
        }
    });
    let counts = counts.into_inner().expect("no worker panics");
    println!(
        "{} pairs; {} runs, {} of them refused at entry; {} compiled",
        counts.pairs, counts.runs, counts.refused_runs, counts.compiled
    );
    counts.verdicts.iter().for_each(|(verdict, count)| println!("{count:8} {verdict}"));
    println!("commands tried:");
    counts.commands.iter().for_each(|(verdict, count)| println!("{count:8} {verdict}"));

    let failures = failures.into_inner().expect("no worker panics");
    let total = failures.len();
    let mut told = BTreeSet::new();
    let mut texts = vec![];
    let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
    for failure in failures.into_values() {
        *kinds.entry(failure.fault.kind).or_default() += 1;
        if texts.len() >= SHOWN {
            continue;
        }
        let (pair, fault) = shrink(failure.pair, failure.fault, failure.seed, failure.compile);
        if told.insert(pair.source()) {
            let saved = save(&pair, &fault, failure.seed);
            texts.push(format!("{}: {}\n\n{}\nsaved as {saved}\n", fault.kind, fault.text, pair.source()));
        }
    }
    assert!(total == 0, "{total} programs with a fault: {kinds:?}\n\n{}", texts.join("\n----\n"));
}

/// Orders that the core is not asked about: the oracle must see what is wrong with them.
#[test]
fn the_oracle_sees_what_is_wrong() {
    prepare_process();
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
}

#[test]
fn what_once_failed_works() {
    prepare_process();
    let folder = root().join("tests/oracle/regressions");
    let mut failed = vec![];
    for path in if folder.exists() { julia_files(&folder) } else { vec![] } {
        let text = fs::read_to_string(&path).unwrap();
        let option = |name: &str| text.lines().find_map(|line| line.strip_prefix(&format!("#! {name} ")));
        let target = if option("target") == Some("cuda") { Target::Gpu } else { Target::Cpu };
        let seed: u64 = option("seed").and_then(|seed| seed.parse().ok()).unwrap_or(1);
        for offset in 0..6 {
            let case = Case { source: text.clone(), target, seed: seed.wrapping_add(offset), compile: offset == 0 };
            if let Err(fault) = examine(&case) {
                failed.push(format!("{}: {}: {}", path.display(), fault.kind, fault.text));
                break;
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

/// Compiled code goes to a folder of the build's own.
fn prepare_process() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        hush_panics();
        if std::env::var_os("TESSELLA_CACHE").is_none() {
            let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("oracle-cache");
            // SAFETY: the tests of this file start no thread that reads the environment before this.
            unsafe { std::env::set_var("TESSELLA_CACHE", folder) };
        }
    });
}

/// A program under several schedules.
fn one_program(seed: u64, number: u64, counts: &Mutex<Counts>) -> Vec<Failure> {
    let mut random = Random::numbered(seed, number);
    let program = generate::program(&mut random);
    let mut failures = vec![];
    let target = if random.percent(25) { Target::Gpu } else { Target::Cpu };
    let own_order = random.percent(30);
    let case_seed = random.next();
    let schedules = match guarded(|| choose_commands(&program, target, &mut random, counts)) {
        Ok(schedules) => schedules,
        Err(fault) => {
            let pair = Pair { program, commands: None, target };
            return vec![Failure { pair, fault, seed: case_seed, compile: false }];
        }
    };
    for (number, commands) in schedules.into_iter().enumerate() {
        let compile = random.below(COMPILED) == 0;
        let commands = (number > 0 || !own_order).then_some(commands);
        let pair = Pair { program: program.clone(), commands, target };
        let fails = |pair: Pair, fault: Fault| Failure { pair, fault, seed: case_seed, compile };
        let case = Case { source: pair.source(), target, seed: case_seed, compile };
        let verdict = examine(&case);
        let mut counts = counts.lock().expect("no worker panics");
        counts.pairs += 1;
        let name = match &verdict {
            Ok(Verdict::Accepted { runs, refused_runs, compiled }) => {
                counts.runs += *runs as u64;
                counts.refused_runs += *refused_runs as u64;
                counts.compiled += u64::from(*compiled);
                format!("accepted, {}", if target == Target::Cpu { "CPU" } else { "GPU" })
            }
            Ok(Verdict::Illegal) => "illegal".to_string(),
            Ok(Verdict::Refused(why)) => format!("refused: {}", why.lines().next().unwrap_or_default()),
            Err(fault) => format!("fault: {}", fault.kind),
        };
        *counts.verdicts.entry(name).or_default() += 1;
        if let Err(fault) = verdict {
            failures.push(fails(pair, fault));
        }
    }
    failures
}

/// The programs' schedules: commands that the core accepts one after the other, and sometimes one that it refuses at the
/// end. What is refused on the way is checked and left out.
fn choose_commands(
    program: &program::Program,
    target: Target,
    random: &mut Random,
    counts: &Mutex<Counts>,
) -> Result<Vec<Vec<Command>>, Fault> {
    let pair = Pair { program: program.clone(), commands: None, target };
    let chosen = with_unit(&pair.source(), |unit| {
        let ctx = pipeline::context();
        let Ok((source, all)) = prepare(&ctx, unit, target)? else { return Ok(vec![]) };
        ctx.set_max_operations(examine::OPERATIONS);
        let mut schedules = vec![];
        for _ in 0..SCHEDULES {
            schedules.push(choose_some(&ctx, &source, &all, random, counts));
        }
        Ok(schedules)
    })?;
    Ok(chosen.unwrap_or_default())
}

fn choose_some(
    ctx: &Ctx,
    source: &Scheduled,
    all: &[Dependence],
    random: &mut Random,
    counts: &Mutex<Counts>,
) -> Vec<Command> {
    let mut scheduled = source.clone();
    let mut accepted: Vec<Command> = vec![];
    let wanted = 1 + random.below(8).min(random.below(8));
    for _ in 0..2 * wanted + 1 {
        if accepted.len() >= wanted {
            break;
        }
        let Some(command) = commands::propose(random, &scheduled) else { continue };
        // Each split multiplies what isl has to do.
        let splits = |command: &Command| matches!(command, Command::Split { .. } | Command::Tile { .. });
        if splits(&command) && accepted.iter().filter(|it| splits(it)).count() >= 2 {
            continue;
        }
        ctx.reset_operations();
        let text = command.to_string();
        let name = text.split('(').next().unwrap_or_default();
        let outcome = match transform::apply(ctx, &scheduled, all, &command) {
            Ok(next) => {
                scheduled = next;
                accepted.push(command.clone());
                "accepted"
            }
            Err(Error::Schedule(ScheduleError::Illegal(violation))) => {
                let checked = ctx.with_budget(0, || {
                    let order = unproved(ctx, &scheduled, all, &[&command]);
                    check_witness(ctx, &scheduled.algorithm, order.as_ref(), &violation)
                });
                if checked.is_err() || random.percent(3) {
                    // The whole case is looked at again, and shrunk if it is a fault.
                    accepted.push(command);
                    return accepted;
                }
                "illegal"
            }
            Err(Error::Schedule(_)) => "does not apply",
            Err(_) => "other error",
        };
        let key = format!("{name}: {outcome}");
        *counts.lock().expect("no worker panics").commands.entry(key).or_default() += 1;
    }
    if random.percent(40) {
        choose_storage(ctx, &scheduled, all, &mut accepted, random, counts);
    }
    accepted
}

/// Adds storage commands that are accepted.
fn choose_storage(
    ctx: &Ctx,
    scheduled: &Scheduled,
    all: &[Dependence],
    accepted: &mut Vec<Command>,
    random: &mut Random,
    counts: &Mutex<Counts>,
) {
    let mut storage: Vec<Command> = vec![];
    for _ in 0..1 + random.below(4) {
        let Some(command) = commands::propose_storage(random, scheduled) else { continue };
        ctx.reset_operations();
        let text = command.to_string();
        let name = text.split('(').next().unwrap_or_default().to_string();
        storage.push(command);
        let outcome = match storage::carry_out(ctx, scheduled.clone(), all, &storage) {
            Ok(_) => "accepted",
            Err(failure) => {
                storage.pop();
                match failure.error {
                    Error::Schedule(ScheduleError::Illegal(_)) => "illegal",
                    Error::Storage(StorageError::Overwritten(_)) => "overwrites",
                    _ => "does not apply",
                }
            }
        };
        *counts.lock().expect("no worker panics").commands.entry(format!("{name}: {outcome}")).or_default() += 1;
    }
    accepted.extend(storage);
}

fn save(pair: &Pair, fault: &Fault, seed: u64) -> String {
    let folder = root().join("tests/oracle/regressions");
    let text = pair.source();
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    let name = format!("{}_{:08x}.jl", fault.kind.replace(' ', "_"), hash as u32);
    let target = if pair.target == Target::Gpu { "cuda" } else { "c" };
    let head = format!("#! target {target}\n#! seed {seed}\n# Found: {}\n", fault.kind);
    let path = folder.join(&name);
    match fs::create_dir_all(&folder).and_then(|()| fs::write(&path, head + &text)) {
        Ok(()) => format!("tests/oracle/regressions/{name}"),
        Err(error) => format!("nothing: {error}"),
    }
}

//! Many pairs on all processors: choosing, counting, telling, saving.

use crate::commands;
use crate::examine::{Fault, Step, Verdict, asks_for_a_legal_order, check_order, guarded, judge, own_order, step};
use crate::generate;
use crate::native::{self, Job};
use crate::random::Random;
use crate::refusals::Refusals;
use crate::shrink::{Pair, shrink};
use crate::stencils;
use crate::subject::{Setting, Subject, with_unit};
use crate::tiles;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::{self, Display, Formatter};
use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tessella::pipeline;
use tessella_diagnostics::SourceMap;
use tessella_polyhedral::command::Command;
use tessella_polyhedral::layers::Target;
use tessella_polyhedral::machine::Machine;
use tessella_tests::root;

/// Schedules of one program.
const SCHEDULES: u64 = 8;
/// One accepted pair in so many is compiled as C, too.
const COMPILED: usize = 4;
/// Programs in one call of the C compiler.
const BATCH: usize = 50;
/// Failures that are shrunk and printed.
const SHOWN: usize = 5;
/// Between two lines of progress.
const PROGRESS: Duration = Duration::from_secs(15);
/// A schedule that takes longer is printed.
const SLOW: Duration = Duration::from_secs(20);

/// Which pairs.
pub struct Plan {
    pub pairs: u64,
    pub seed: u64,
    pub kinds: Kinds,
    /// No program is begun after this.
    pub longest: Duration,
}

/// The shares of programs of a kind, in percent; the others are any.
#[derive(Clone, Copy)]
pub struct Kinds {
    /// Made for register tiles.
    pub tiles: u32,
    /// Made for tilings of time.
    pub stencils: u32,
    /// Stencils one after the other, for orders of Tessella's own.
    pub chains: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Any,
    Tiles,
    Stencil,
    Chain,
}

/// What a campaign found.
pub struct Found {
    pub counts: Counts,
    /// Programs with a fault.
    pub total: usize,
    /// Some of the faults, in words, shrunk and saved.
    pub failures: Vec<String>,
}

#[derive(Default)]
pub struct Counts {
    /// Orders of a program that the core accepted or called illegal, held against brute force: one for each command of a
    /// sequence, and those that Tessella chose.
    pub pairs: u64,
    pub accepted: u64,
    pub illegal: u64,
    /// Schedules that were carried out to the end.
    schedules: u64,
    programs: u64,
    verdicts: BTreeMap<String, u64>,
    commands: BTreeMap<String, u64>,
    refusals: Refusals,
    runs: u64,
    refused_runs: u64,
    tiled: u64,
    /// Orders of Tessella's own with time loops tiled by hexagons, that were carried out.
    hexagons: u64,
    compiled: u64,
    elapsed: Duration,
}

struct Failure {
    number: u64,
    pair: Pair,
    fault: Fault,
    seed: u64,
    compile: bool,
}

/// A pair that compiled code has still to prove.
struct Waiting {
    number: u64,
    pair: Pair,
    seed: u64,
}

struct Campaign {
    seed: u64,
    kinds: Kinds,
    counts: Mutex<Counts>,
    failures: Mutex<Vec<Failure>>,
}

/// Examines all pairs of a plan.
pub fn campaign(plan: &Plan) -> Found {
    let start = Instant::now();
    let state = Campaign { seed: plan.seed, kinds: plan.kinds, counts: Mutex::default(), failures: Mutex::default() };
    let next = AtomicU64::new(0);
    let told = Mutex::new(start);
    let workers = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                let (mut jobs, mut waiting) = (vec![], vec![]);
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let is_last = state.pairs() >= plan.pairs || start.elapsed() >= plan.longest;
                    if is_last || jobs.len() >= BATCH {
                        state.compiled(&mut jobs, &mut waiting);
                    }
                    if is_last {
                        return;
                    }
                    state.program(number, &mut jobs, &mut waiting);
                    state.tell(plan, start, &told);
                }
            });
        }
    });
    let mut counts = state.counts.into_inner().expect("no worker panics");
    counts.elapsed = start.elapsed();
    let mut all = state.failures.into_inner().expect("no worker panics");
    all.sort_by_key(|failure| failure.number);
    all.dedup_by_key(|failure| failure.number);
    let (total, mut known, mut failures) = (all.len(), BTreeSet::new(), vec![]);
    for failure in all {
        if failures.len() >= SHOWN {
            break;
        }
        let (pair, fault) = shrink(failure.pair, failure.fault, failure.seed, failure.compile);
        if known.insert(pair.source()) {
            let saved = save(&pair, &fault, failure.seed);
            failures.push(format!("{}: {}\n\n{}\nsaved as {saved}\n", fault.kind, fault.text, pair.source()));
        }
    }
    Found { counts, total, failures }
}

impl Campaign {
    fn pairs(&self) -> u64 {
        self.counts.lock().expect("no worker panics").pairs
    }

    /// A line of progress, now and then.
    fn tell(&self, plan: &Plan, start: Instant, told: &Mutex<Instant>) {
        let mut last = told.lock().expect("no worker panics");
        if last.elapsed() < PROGRESS {
            return;
        }
        *last = Instant::now();
        let done = self.counts.lock().expect("no worker panics").pairs.max(1);
        let failed = self.failures.lock().expect("no worker panics").len();
        let each = start.elapsed().as_secs_f64() / done as f64;
        let left = each * plan.pairs.saturating_sub(done) as f64;
        eprintln!(
            "{done} of {} pairs, {failed} with a fault, {:.1} ms a pair, {:.0} min left",
            plan.pairs,
            1e3 * each,
            left / 60.0
        );
    }

    fn fail(&self, failure: Failure) {
        let Failure { pair, fault, .. } = &failure;
        eprintln!("{}: {}\n{}", fault.kind, fault.text, pair.source());
        self.failures.lock().expect("no worker panics").push(failure);
    }

    /// Compiles and runs what waits for it.
    fn compiled(&self, jobs: &mut Vec<Job>, waiting: &mut Vec<Waiting>) {
        self.counts.lock().expect("no worker panics").compiled += jobs.len() as u64;
        for (fault, waiting) in native::run(jobs).into_iter().zip(waiting.drain(..)) {
            if let Some(fault) = fault {
                let Waiting { number, pair, seed } = waiting;
                self.fail(Failure { number, pair, fault, seed, compile: true });
            }
        }
        jobs.clear();
    }

    /// A program under several schedules.
    fn program(&self, number: u64, jobs: &mut Vec<Job>, waiting: &mut Vec<Waiting>) {
        let mut random = Random::numbered(self.seed, number);
        let Kinds { tiles, stencils, chains } = self.kinds;
        let kind = [Kind::Tiles, Kind::Stencil, Kind::Chain, Kind::Any]
            [random.weighted(&[tiles, stencils, chains, 100_u32.saturating_sub(tiles + stencils + chains)])];
        let target = |random: &mut Random| if random.percent(25) { Target::Gpu } else { Target::Cpu };
        let (program, setting) = match kind {
            Kind::Tiles => (tiles::program(&mut random), tiles::setting(&mut random)),
            Kind::Stencil => {
                let (program, target) = (stencils::program(&mut random), target(&mut random));
                (program, stencils::setting(&mut random, target))
            }
            Kind::Chain => (stencils::chain(&mut random), stencils::strips(&mut random)),
            Kind::Any => (generate::program(&mut random), Setting::small(target(&mut random))),
        };
        let target = setting.target;
        let seed = random.next();
        let mut pair = Pair { program, commands: None, setting };
        let looked = guarded(|| {
            with_unit(&pair.source(), |unit| {
                let subject = match Subject::new(unit, setting, seed)? {
                    Ok(subject) => subject,
                    Err(why) => return Ok(Some(why)),
                };
                for schedule in 0..SCHEDULES {
                    let own_order = schedule == 0
                        && (matches!(kind, Kind::Tiles | Kind::Chain | Kind::Stencil) || random.percent(50));
                    let compile = target == Target::Cpu && (kind != Kind::Any || random.below(COMPILED) == 0);
                    let mut tried = (!own_order).then(Vec::new);
                    let start = Instant::now();
                    let verdict = guarded(|| self.schedule(&subject, &mut random, &mut tried, compile, kind));
                    pair.commands = tried;
                    if start.elapsed() > SLOW {
                        eprintln!("program {number} took {:?}:\n{}", start.elapsed(), pair.source());
                    }
                    match verdict {
                        Ok((verdict, job)) => {
                            self.count(&verdict, target);
                            if let Some(job) = job {
                                jobs.push(job);
                                waiting.push(Waiting { number, pair: pair.clone(), seed });
                            }
                        }
                        Err(fault) => self.fail(Failure { number, pair: pair.clone(), fault, seed, compile }),
                    }
                }
                Ok(None)
            })
        });
        self.counts.lock().expect("no worker panics").programs += 1;
        match looked {
            Ok(Ok(None)) => {}
            Ok(Ok(Some(why)) | Err(why)) => self.count(&Verdict::Refused(format!("program: {why}")), target),
            Err(fault) => {
                pair.commands = None;
                self.fail(Failure { number, pair, fault, seed, compile: false });
            }
        }
    }

    /// Chooses commands one after the other, into `tried`, and looks at what they lead to. What is refused on the way is
    /// left out, or ends the sequence.
    fn schedule(
        &self,
        subject: &Subject<'_>,
        random: &mut Random,
        tried: &mut Option<Vec<Command>>,
        compile: bool,
        kind: Kind,
    ) -> Result<(Verdict, Option<Job>), Fault> {
        let mut progress = subject.start();
        let Some(accepted) = tried else {
            return match own_order(subject)? {
                Ok(chosen) => {
                    self.count_pair(true);
                    let in_hexagons = chosen.hexagons;
                    let judged = judge(subject, chosen, compile)?;
                    if in_hexagons && matches!(judged.0, Verdict::Accepted { .. }) {
                        self.counts.lock().expect("no worker panics").hexagons += 1;
                    }
                    Ok(judged)
                }
                Err(why) => Ok((Verdict::Refused(why), None)),
            };
        };
        // What the program is made for first, then perhaps what comes.
        let begins_so = random.percent(85);
        let mut planned: VecDeque<Command> = match kind {
            Kind::Tiles if begins_so => tiles::commands(random, &progress.scheduled).into(),
            Kind::Stencil if begins_so => stencils::commands(random, &progress.scheduled).into(),
            Kind::Any | Kind::Tiles | Kind::Stencil | Kind::Chain => VecDeque::new(),
        };
        let tile = planned.len();
        let free = 1 + random.below(8).min(random.below(8));
        let wanted = if tile == 0 { free } else { tile + free.saturating_sub(4) };
        let mut splits = 0;
        for _ in 0..2 * wanted + 1 {
            if accepted.len() >= wanted {
                break;
            }
            let is_planned = !planned.is_empty();
            let next = planned.pop_front().or_else(|| commands::propose(random, &progress.scheduled));
            let Some(command) = next else { continue };
            // Each split multiplies what isl has to do.
            let is_split = matches!(command, Command::Split { .. } | Command::Tile { .. });
            if is_split && !is_planned && splits >= 2 {
                continue;
            }
            // Trees that follow one another are read as one.
            if matches!((accepted.last(), &command), (Some(Command::Order(_)), Command::Order(_))) {
                continue;
            }
            accepted.push(command.clone());
            let done = step(subject, &progress, &command)?;
            let outcome = match done {
                Step::Next(next) => {
                    splits += usize::from(is_split);
                    progress = *next;
                    check_order(subject, &progress)?;
                    self.count_pair(true);
                    "accepted"
                }
                Step::Illegal if random.percent(if is_planned { 8 } else { 25 }) => {
                    self.count_pair(false);
                    self.count_command(&command, "illegal");
                    return Ok((Verdict::Illegal, None));
                }
                Step::Illegal => {
                    self.count_pair(false);
                    accepted.pop();
                    "illegal"
                }
                Step::Refused(why) => {
                    accepted.pop();
                    let is_legal = asks_for_a_legal_order(subject, &progress, &command)?;
                    self.count_refusal(&why, is_legal);
                    "does not apply"
                }
            };
            self.count_command(&command, outcome);
        }
        if random.percent(25) {
            for _ in 0..1 + random.below(3) {
                let next = match random.percent(50) {
                    true => commands::propose_storage(random, &progress.scheduled),
                    false => commands::propose_communication(random, &progress.scheduled),
                };
                let Some(command) = next else { continue };
                accepted.push(command.clone());
                let outcome = match step(subject, &progress, &command)? {
                    Step::Next(next) => {
                        progress = *next;
                        "accepted"
                    }
                    Step::Illegal => {
                        accepted.pop();
                        "illegal"
                    }
                    Step::Refused(why) => {
                        accepted.pop();
                        self.count_refusal(&why, false);
                        "does not apply"
                    }
                };
                self.count_command(&command, outcome);
            }
        }
        check_text(accepted)?;
        judge(subject, progress, compile)
    }

    fn count_command(&self, command: &Command, outcome: &str) {
        let text = command.to_string();
        let is_tree = matches!(command, Command::Order(_));
        let name = if is_tree { "loops written out" } else { text.split('(').next().unwrap_or_default() };
        let key = format!("{name}: {outcome}");
        *self.counts.lock().expect("no worker panics").commands.entry(key).or_default() += 1;
    }

    fn count_refusal(&self, why: &str, is_legal: bool) {
        self.counts.lock().expect("no worker panics").refusals.count(why, is_legal);
    }

    /// Counts an order that brute force agrees on.
    fn count_pair(&self, accepted: bool) {
        let mut counts = self.counts.lock().expect("no worker panics");
        counts.pairs += 1;
        counts.accepted += u64::from(accepted);
        counts.illegal += u64::from(!accepted);
    }

    fn count(&self, verdict: &Verdict, target: Target) {
        let mut counts = self.counts.lock().expect("no worker panics");
        counts.schedules += 1;
        let name = match verdict {
            Verdict::Accepted { runs, refused_runs, tiled } => {
                counts.tiled += u64::from(*tiled);
                counts.runs += *runs as u64;
                counts.refused_runs += *refused_runs as u64;
                format!("accepted, {}", if target == Target::Cpu { "CPU" } else { "GPU" })
            }
            Verdict::Illegal => "illegal".to_string(),
            Verdict::Refused(why) => {
                // Its order was accepted, and held against brute force, command by command.
                counts.refusals.count(why, !why.starts_with("program: "));
                format!("refused: {}", why.lines().next().unwrap_or_default())
            }
        };
        *counts.verdicts.entry(name).or_default() += 1;
    }
}

/// Commands read back from their text are the same commands.
fn check_text(commands: &[Command]) -> Result<(), Fault> {
    let text: String = commands.iter().map(|command| format!("{command}\n")).collect();
    let mut sources = SourceMap::default();
    let file = sources.add("commands.jl", text.as_str(), 1);
    let read = pipeline::commands_of(&sources, file).map(|all| all.into_iter().map(|it| it.value).collect::<Vec<_>>());
    match read {
        Ok(read) if read == commands => Ok(()),
        read => Err(Fault { kind: "commands read differently", text: format!("{text}{read:?}") }),
    }
}

impl Display for Counts {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let share = |count: u64| 100.0 * count as f64 / self.pairs.max(1) as f64;
        writeln!(
            f,
            "{} pairs of {} programs, {:.1} % accepted, {:.1} % illegal; {} schedules carried out, {} with register tiles, {} by \
             themselves with hexagons; {} runs, {} of them refused at entry; {} compiled; {:.0} s, {:.1} ms a pair",
            self.pairs,
            self.programs,
            share(self.accepted),
            share(self.illegal),
            self.schedules,
            self.tiled,
            self.hexagons,
            self.runs,
            self.refused_runs,
            self.compiled,
            self.elapsed.as_secs_f64(),
            1e3 * self.elapsed.as_secs_f64() / self.pairs.max(1) as f64
        )?;
        self.verdicts.iter().try_for_each(|(verdict, count)| writeln!(f, "{count:8} {verdict}"))?;
        write!(f, "{}", self.refusals)?;
        writeln!(f, "commands tried:")?;
        self.commands.iter().try_for_each(|(command, count)| writeln!(f, "{count:8} {command}"))
    }
}

/// The setting that a saved failure names.
pub fn setting_of<'a>(option: &dyn Fn(&str) -> Option<&'a str>) -> Setting {
    let mut setting = Setting::small(if option("target") == Some("cuda") { Target::Gpu } else { Target::Cpu });
    if let Some(most) = option("sizes") {
        setting.most = most.parse().expect("the largest size is a number");
    }
    if let Some(effort) = option("effort") {
        setting.effort = effort.parse().expect("the effort is a number");
    }
    if let Some(machine) = option("machine") {
        let numbers: Vec<u64> = machine.split(' ').map(|it| it.parse().expect("a machine is of numbers")).collect();
        let [vector_bytes, vector_registers, l2_bytes, worth_threads, ref others @ ..] = numbers[..] else {
            panic!("a machine is four numbers or six")
        };
        let (vector_bytes, vector_registers) = (vector_bytes as u32, vector_registers as u32);
        let worth_threads = worth_threads as i64;
        setting.machine = Machine { vector_bytes, vector_registers, l2_bytes, worth_threads, ..Machine::GENERIC };
        if let [l1_bytes, restart_bytes] = *others {
            setting.machine = Machine { l1_bytes, restart_bytes, ..setting.machine };
        }
    }
    setting
}

fn save(pair: &Pair, fault: &Fault, seed: u64) -> String {
    let folder = root().join("tests/oracle/regressions");
    let text = pair.source();
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    let name = format!("{}_{:08x}.jl", fault.kind.replace(' ', "_"), hash as u32);
    let Setting { target, machine, most, effort } = pair.setting;
    let target = if target == Target::Gpu { "cuda" } else { "c" };
    let Machine {
        vector_bytes,
        vector_registers,
        l1_bytes,
        l2_bytes,
        worth_threads,
        restart_bytes,
        threads: _,
        multiprocessors: _,
    } = machine;
    let machine = format!("{vector_bytes} {vector_registers} {l2_bytes} {worth_threads} {l1_bytes} {restart_bytes}");
    let options = [
        ("target", target),
        ("seed", &seed.to_string()),
        ("sizes", &most.to_string()),
        ("effort", &effort.to_string()),
    ];
    let options: String = options.map(|(name, value)| format!("#! {name} {value}\n")).concat();
    let head = format!("{options}#! machine {machine}\n# Found: {}\n", fault.kind);
    let path = folder.join(&name);
    match fs::create_dir_all(&folder).and_then(|()| fs::write(&path, head + &text)) {
        Ok(()) => format!("tests/oracle/regressions/{name}"),
        Err(error) => format!("nothing: {error}"),
    }
}

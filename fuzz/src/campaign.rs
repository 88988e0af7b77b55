//! Many inputs, in worker processes: a worker may overflow its stack or hang, and the campaign goes on after that input.

use crate::{Corpus, Part, Verdict, reduce::reduce, run};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::FileExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// What a campaign does.
#[derive(Debug, Clone)]
pub struct Plan {
    pub part: Part,
    pub inputs: u64,
    pub seed: u64,
    pub workers: u64,
    /// No input begins after this time.
    pub time: Duration,
    /// Sources beside those of the repository.
    pub corpus: Vec<PathBuf>,
    /// Where failing inputs are kept.
    pub regressions: PathBuf,
}

/// What a campaign found.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    pub inputs: u64,
    pub accepted: u64,
    /// How many inputs were refused, by the code of the first error.
    pub refused: BTreeMap<String, u64>,
    /// The first failing input of each cause: its number and what happened.
    pub failures: BTreeMap<String, (u64, String)>,
    pub failing_inputs: u64,
    /// Whether someone ended a worker: not all inputs were run.
    pub stopped: bool,
}

const SIGINT: i32 = 2;
const SIGKILL: i32 = 9;
const SIGTERM: i32 = 15;

/// A worker that takes this long for one input hangs.
const HANGS: Duration = Duration::from_secs(120);

/// All sources that a plan mutates.
pub fn corpus(part: Part, more: &[PathBuf]) -> std::io::Result<Corpus> {
    if more.is_empty() { Corpus::of_repository(part) } else { Corpus::read(part, more) }
}

/// Runs a plan, and keeps a small input of each cause of failure.
pub fn campaign(plan: &Plan) -> std::io::Result<Findings> {
    let found = Arc::new(Mutex::new(Findings::default()));
    let corpus = Arc::new(corpus(plan.part, &plan.corpus)?);
    let deadline = Instant::now() + plan.time;
    let share = plan.inputs.div_ceil(plan.workers);
    std::thread::scope(|scope| {
        for worker in 0..plan.workers {
            let (found, corpus) = (Arc::clone(&found), Arc::clone(&corpus));
            let range = worker * share..((worker + 1) * share).min(plan.inputs);
            scope.spawn(move || supervise(plan, &corpus, range, deadline, &found));
        }
    });
    let found = found.lock().expect("no supervisor panics").clone();
    for (cause, (number, what)) in &found.failures {
        keep(plan, &corpus, cause, *number, what)?;
    }
    Ok(found)
}

/// Starts workers for a range of inputs until all are done.
fn supervise(plan: &Plan, corpus: &Corpus, range: std::ops::Range<u64>, deadline: Instant, found: &Mutex<Findings>) {
    let progress = std::env::temp_dir().join(format!("tessella-fuzz-{}-{}", std::process::id(), range.start));
    let mut from = range.start;
    while from < range.end && Instant::now() < deadline {
        if std::fs::write(&progress, from.to_le_bytes()).is_err() {
            break;
        }
        let Ok(mut child) = start_worker(plan, from, range.end, deadline, &progress) else { break };
        let lines = child.stdout.take();
        let reader = std::thread::scope(|scope| {
            let reading = scope.spawn(|| lines.map(|lines| read(BufReader::new(lines), found)).unwrap_or(false));
            let end = watch(&mut child, &progress);
            (reading.join().unwrap_or(false), end)
        });
        let at = position(&progress);
        let what = match reader {
            (true, _) => break,
            (false, End::Stopped) => {
                eprintln!("a worker was stopped from outside, before input {at}");
                let mut found = found.lock().expect("no supervisor panics");
                (found.inputs, found.stopped) = (found.inputs + at - from, true);
                break;
            }
            (false, End::Hanged) => "hangs",
            (false, End::Crashed) => "ends the process",
        };
        let mut found = found.lock().expect("no supervisor panics");
        found.inputs += at + 1 - from;
        found.failing_inputs += 1;
        found.failures.entry(what.to_owned()).or_insert((at, what.to_owned()));
        eprintln!("{} input {at}: {what}\n{}", plan.part.name(), corpus.input(plan.seed, at));
        from = at + 1;
    }
    // Nothing depends on it.
    let _ = std::fs::remove_file(progress);
}

fn start_worker(plan: &Plan, from: u64, to: u64, deadline: Instant, progress: &Path) -> std::io::Result<Child> {
    let seconds = deadline.saturating_duration_since(Instant::now()).as_secs().to_string();
    Command::new(std::env::current_exe()?)
        .args(["work", plan.part.name(), &plan.seed.to_string(), &from.to_string(), &to.to_string(), &seconds])
        .arg(progress)
        .args(&plan.corpus)
        .stdout(Stdio::piped())
        .spawn()
}

/// How a worker ended that did not come to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// By itself.
    Crashed,
    /// It took too long.
    Hanged,
    /// By a signal that no input causes.
    Stopped,
}

/// Waits for a worker.
fn watch(child: &mut Child, progress: &Path) -> End {
    let (mut at, mut since) = (0, Instant::now());
    loop {
        match child.try_wait() {
            Ok(None) => {}
            Ok(Some(status)) => {
                let outside = matches!(status.signal(), Some(SIGINT | SIGKILL | SIGTERM));
                return if outside { End::Stopped } else { End::Crashed };
            }
            Err(_) => return End::Crashed,
        }
        let now = position(progress);
        if now != at {
            (at, since) = (now, Instant::now());
        } else if since.elapsed() > HANGS {
            // It may just have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
            return End::Hanged;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn position(progress: &Path) -> u64 {
    let bytes = std::fs::read(progress).unwrap_or_default();
    bytes.try_into().map_or(0, u64::from_le_bytes)
}

/// Takes a worker's report; whether it came to its end.
fn read(lines: impl BufRead, found: &Mutex<Findings>) -> bool {
    for line in lines.lines().map_while(Result::ok) {
        let mut found = found.lock().expect("no supervisor panics");
        let fields: Vec<&str> = line.splitn(4, '\t').collect();
        match fields[..] {
            ["failure", number, cause, what] => {
                found.failing_inputs += 1;
                let number = number.parse().unwrap_or(0);
                if !found.failures.contains_key(cause) {
                    eprintln!("input {number}: {what}");
                }
                found.failures.entry(cause.to_owned()).or_insert((number, what.to_owned()));
            }
            ["refused", code, count] => {
                *found.refused.entry(code.to_owned()).or_default() += count.parse::<u64>().unwrap_or(0);
            }
            ["done", inputs, accepted] => {
                found.inputs += inputs.parse::<u64>().unwrap_or(0);
                found.accepted += accepted.parse::<u64>().unwrap_or(0);
                return true;
            }
            _ => {}
        }
    }
    false
}

/// What a worker process does.
pub fn work(
    part: Part,
    seed: u64,
    range: std::ops::Range<u64>,
    time: Duration,
    progress: &Path,
    more: &[PathBuf],
) -> std::io::Result<()> {
    let corpus = corpus(part, more)?;
    let progress = File::options().write(true).open(progress)?;
    let start = Instant::now();
    let (mut inputs, mut accepted) = (0u64, 0u64);
    let mut refused: BTreeMap<String, u64> = BTreeMap::new();
    for number in range {
        if start.elapsed() > time {
            break;
        }
        progress.write_at(&number.to_le_bytes(), 0)?;
        let verdict = run(part, &corpus.input(seed, number));
        inputs += 1;
        accepted += u64::from(verdict == Verdict::Accepted);
        if let Verdict::Refused(code) = &verdict {
            *refused.entry(code.clone()).or_default() += 1;
        }
        if verdict.is_failure() {
            let what = verdict.to_string().replace(['\n', '\t'], " ");
            println!("failure\t{number}\t{}\t{what}", verdict.cause());
            std::io::stdout().flush()?;
        }
    }
    for (code, count) in refused {
        println!("refused\t{code}\t{count}");
    }
    println!("done\t{inputs}\t{accepted}");
    Ok(())
}

/// Writes a failing input, as small as can be, into the folder of regressions.
fn keep(plan: &Plan, corpus: &Corpus, cause: &str, number: u64, what: &str) -> std::io::Result<()> {
    let text = corpus.input(plan.seed, number);
    // Only a panic leaves this process alive.
    let text = if what.starts_with("panic") { reduce(plan.part, &text) } else { text };
    let words: Vec<&str> = cause.rsplit('/').next().unwrap_or(cause).split(|c: char| !c.is_alphanumeric()).collect();
    let name = format!("{}_{}_{number}.jl", plan.part.name(), words.join("_").to_lowercase());
    std::fs::create_dir_all(&plan.regressions)?;
    std::fs::write(plan.regressions.join(&name), &text)?;
    eprintln!("{} input {number} of seed {}: {what}\n  kept as {name}:\n{text}\n", plan.part.name(), plan.seed);
    Ok(())
}

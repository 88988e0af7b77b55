//! Compiled C: what it computes.

use crate::examine::{Fault, difference};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::OnceLock;
use tessella::abi::values::call;
use tessella_frontend::typed::tree::Type as ArgumentType;
use tessella_interpreter::Value;
use tessella_interpreter::scheduled::Completion;
use tessella_runtime::call::ParamType;
use tessella_runtime::{CSource, Cache, Compiler, LoadedFunction, RuntimeError};

/// Little, so that thousands of programs are compiled in the time that the program at hand takes at its full level.
const OPTIMISATION: &[&str] = &["-O1"];

/// A C program, and what it must compute.
pub struct Job {
    pub text: String,
    pub entry: String,
    pub flags: Vec<&'static str>,
    pub parameters: Vec<ParamType>,
    pub types: Vec<ArgumentType>,
    /// The types of the scalars and new arrays that the function gives back.
    pub results: Vec<ArgumentType>,
    pub checks: Vec<Check>,
}

/// One call.
pub struct Check {
    /// The sizes, in words.
    pub sizes: String,
    pub arguments: Vec<Value>,
    /// How the interpreter of loop programs ended.
    pub done: Completion,
    /// The arguments and the result as the source leaves them, where it ends well.
    pub expected: Option<(Vec<Value>, Vec<Value>)>,
}

/// Compiles all programs together and calls them; for each, by position, what is wrong with it.
pub fn run(jobs: &[Job]) -> Vec<Option<Fault>> {
    let mut faults = vec![None; jobs.len()];
    // One file has one set of flags.
    let mut by_flags: BTreeMap<&[&str], Vec<usize>> = BTreeMap::new();
    for (at, job) in jobs.iter().enumerate() {
        by_flags.entry(&job.flags).or_default().push(at);
    }
    by_flags.values().for_each(|group| run_together(jobs, group, &mut faults));
    faults
}

fn run_together(jobs: &[Job], group: &[usize], faults: &mut [Option<Fault>]) {
    let sources: Vec<CSource<'_>> = group.iter().map(|&at| jobs[at].source()).collect();
    match Compiler::get().and_then(|compiler| compiler.load_all(cache()?, &sources, OPTIMISATION)) {
        Ok(entries) => {
            for (&at, entry) in group.iter().zip(&entries) {
                faults[at] = examine(&jobs[at], entry).err();
            }
        }
        // One of them is to blame: the smaller halves tell which.
        Err(_) if group.len() > 1 => {
            let (left, right) = group.split_at(group.len() / 2);
            run_together(jobs, left, faults);
            run_together(jobs, right, faults);
        }
        Err(error) => {
            let fault = Fault { kind: "tool chain", text: error.to_string() };
            group.iter().for_each(|&at| faults[at] = Some(fault.clone()));
        }
    }
}

/// A folder of the build's own for compiled code.
fn cache() -> Result<&'static Cache, RuntimeError> {
    static CACHE: OnceLock<Cache> = OnceLock::new();
    if let Some(cache) = CACHE.get() {
        return Ok(cache);
    }
    let cache = Cache::at(PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("oracle-cache"))?;
    Ok(CACHE.get_or_init(|| cache))
}

impl Job {
    fn source(&self) -> CSource<'_> {
        let (text, entry) = (self.text.as_str(), self.entry.as_str());
        CSource { entry, text, parameters: &self.parameters, flags: &self.flags, libraries: &["-lm"], key: &[] }
    }
}

fn examine(job: &Job, program: &LoadedFunction) -> Result<(), Fault> {
    let fault = |kind, text: String| Err(Fault { kind, text: format!("{text}\n{}", job.text) });
    for check in &job.checks {
        let mut actual = check.arguments.clone();
        let (code, results) = call(program, &job.types, &mut actual, &job.results);
        match (&check.done, code) {
            (Completion::Done(_), 0) => {
                if let Some((after, returned)) = &check.expected
                    && let Some(text) = difference(&actual, &results, after, returned)
                {
                    return fault("different result in C", format!("for {}: {text}", check.sizes));
                }
            }
            (Completion::Refused { status, .. }, code) if *status == code => {}
            (done, code) => {
                return fault("different status in C", format!("for {}: {done:?}, C gives {code}", check.sizes));
            }
        }
    }
    Ok(())
}

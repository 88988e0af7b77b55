//! Compiled C: many programs in one file, since a compiler takes longer to start than to compile one of them.

use crate::examine::{Fault, difference};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_void;
use std::fmt::Write;
use tessella::abi::values::call;
use tessella::request::{Failure, Program};
use tessella_frontend::typed::tree::Type as ArgumentType;
use tessella_interpreter::Value;
use tessella_interpreter::scheduled::Completion;
use tessella_runtime::call::{ParamType, packed_name, with_packed_entry};
use tessella_runtime::{CSource, Cache, Compiler, LoadedFunction};

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

struct Compiled(LoadedFunction);

impl Program for Compiled {
    fn entry(&self) -> Option<*const c_void> {
        Some(self.0.address())
    }

    fn parameter_count(&self) -> usize {
        self.0.parameters().len()
    }

    unsafe fn launch(&self, arguments: &[*mut c_void]) -> i32 {
        // SAFETY: promised by the caller.
        unsafe { self.0.call_packed(arguments) }
    }

    fn failure(&self, _code: i32) -> Option<Failure> {
        None
    }
}

/// Compiles all programs together and calls them; for each, by position, what is wrong with it.
pub fn run(jobs: &[Job]) -> Vec<Option<Fault>> {
    let Some(first) = jobs.first() else { return vec![] };
    let text: String = jobs.iter().enumerate().map(|(at, job)| renamed(job, at)).collect();
    let mut flags: Vec<&str> = first.flags.iter().copied().filter(|flag| !flag.starts_with("-O")).collect();
    flags.push("-O1");
    let source = CSource {
        entry: "batch",
        text: &(text + "int batch(void);\nint batch(void) { return 0; }\n"),
        parameters: &[],
        flags: &flags,
        libraries: &["-lm"],
        key: &[],
    };
    let compiled = Cache::open().and_then(|cache| Compiler::get()?.compile(&cache, &source));
    let library = match compiled {
        Ok(library) => library,
        // One of them is to blame: the smaller halves tell which.
        Err(_) if jobs.len() > 1 => {
            let (left, right) = jobs.split_at(jobs.len() / 2);
            return run(left).into_iter().chain(run(right)).collect();
        }
        Err(error) => return vec![Some(Fault { kind: "tool chain", text: error.to_string() })],
    };
    let check = |(at, job): (usize, &Job)| {
        // SAFETY: the text above has these entries, with these parameters.
        let opened = unsafe { LoadedFunction::open(&library.path, &numbered(&job.entry, at), &job.parameters) };
        match opened {
            Ok(function) => examine(job, &Compiled(function)).err(),
            Err(error) => Some(Fault { kind: "tool chain", text: error.to_string() }),
        }
    };
    let faults = jobs.iter().enumerate().map(check).collect();
    // It will not be asked for again.
    let _ = std::fs::remove_file(&library.path);
    faults
}

fn examine(job: &Job, program: &Compiled) -> Result<(), Fault> {
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

fn numbered(name: &str, at: usize) -> String {
    format!("{name}_{at}")
}

/// A program's text with its own names for all that a C file has only once.
fn renamed(job: &Job, at: usize) -> String {
    let text = with_packed_entry(&job.text, &job.entry, &job.parameters);
    let mut functions = BTreeMap::from([
        (job.entry.clone(), numbered(&job.entry, at)),
        (packed_name(&job.entry), packed_name(&numbered(&job.entry, at))),
    ]);
    let mut macros = BTreeSet::new();
    for line in text.lines() {
        let name_before = |text: &str| {
            let head = text.split('(').next().unwrap_or_default();
            head.rsplit([' ', '*']).next().unwrap_or_default().to_string()
        };
        if line.starts_with("static ") && line.contains('(') {
            let name = name_before(line);
            functions.insert(name.clone(), numbered(&name, at));
        } else if let Some(rest) = line.strip_prefix("#define ") {
            macros.insert(rest.split(['(', ' ']).next().unwrap_or_default().to_string());
        }
    }
    let mut all = String::new();
    let write = "writing to a string does not fail";
    functions.iter().for_each(|(name, new)| writeln!(all, "#define {name} {new}").expect(write));
    all += &text;
    functions.keys().chain(&macros).for_each(|name| writeln!(all, "#undef {name}").expect(write));
    all
}

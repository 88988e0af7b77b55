//! Whole files for the command line and tests: which functions, with which argument types.

use crate::draw::Drawing;
use crate::one_thread;
use crate::pipeline::{self, Refusal, ScheduleFile};
use crate::request::{Backend, DrawOptions, TextKind};
use crate::unit::Unit;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use tessella_c_backend as c_backend;
use tessella_codegen::names::function_name;
use tessella_cuda_backend as cuda_backend;
use tessella_diagnostics::{Code, Diagnostic, FileId, SourceMap, Style, nearest, render};
use tessella_frontend::ast;
use tessella_frontend::scan::{FunctionItem, Scan};
use tessella_frontend::typed::{ArgumentType, Basis, Inferred, Surroundings, infer_arguments_in, parse_type};
use tessella_polyhedral::machine::Machine;
use tessella_polyhedral::schedule::Tag;

/// A file's name and what to do with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileOptions {
    /// What diagnostics call the file.
    pub name: String,
    /// `None`: all functions marked `@tessella`, or all functions if none is marked.
    pub function: Option<String>,
    /// Argument names and types that override annotations.
    pub types: Vec<(String, String)>,
    pub schedule: ScheduleSource,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScheduleSource {
    /// The `@schedule` blocks of the file.
    InFile,
    /// Commands that stand alone.
    Text { text: String, name: String },
}

/// Which functions of a file are meant where none is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Those marked `@tessella`, or all if none is marked.
    Marked,
    All,
}

/// What [`check`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// One line for each function that goes through.
    pub passed: Vec<String>,
    /// Names of functions that are not marked, and were not looked at.
    pub skipped: Vec<String>,
    /// Everything else, rendered; empty if there is nothing.
    pub diagnostics: String,
}

/// A file that was read, and the functions chosen.
pub struct Sources {
    pub map: SourceMap,
    pub file: FileId,
    scan: Scan,
    chosen: Vec<FunctionItem>,
    /// A schedule that stands alone.
    schedule: Option<ScheduleFile>,
}

impl Sources {
    /// Reads a file's functions and chooses among them.
    ///
    /// # Errors
    /// Rendered diagnostics.
    pub fn read(text: &str, options: &FileOptions) -> Result<Sources, String> {
        Sources::read_scope(text, options, Scope::Marked)
    }

    fn read_scope(text: &str, options: &FileOptions, scope: Scope) -> Result<Sources, String> {
        let mut map = SourceMap::default();
        let file = map.add(&options.name, text, 1);
        let scan = pipeline::scan(&map, file).map_err(|errors| show(&map, &errors))?;
        let chosen = choose(&scan, &map, file, options, scope).map_err(|errors| show(&map, &errors))?;
        let schedule = match &options.schedule {
            ScheduleSource::InFile => {
                schedules_belong(&scan).map_err(|errors| show(&map, &errors))?;
                None
            }
            ScheduleSource::Text { text, name } => {
                let commands = map.add(name, text.as_str(), 1);
                let read = pipeline::schedule_file(&map, commands).and_then(|schedule| {
                    check_blocks(&schedule, &scan, &map, file)?;
                    Ok(schedule)
                });
                Some(read.map_err(|errors| show(&map, &errors))?)
            }
        };
        let sources = Sources { map, file, scan, chosen, schedule };
        sources.has_arguments(options.types.iter().map(|(name, _)| name.as_str()))?;
        Ok(sources)
    }

    pub fn functions(&self) -> &[FunctionItem] {
        &self.chosen
    }

    /// Types a function; argument types are given, annotated or inferred from use, in this order.
    pub fn unit(&self, item: &FunctionItem, types: &[(String, String)]) -> Result<Unit<'_>, Refusal> {
        let function = pipeline::parse(&self.map, item)?;
        let commands = match &self.schedule {
            Some(schedule) => schedule.commands_for(&item.name.value),
            None => pipeline::schedule_of(&self.scan, &item.name.value)?,
        };
        let constants = pipeline::constants(&self.scan);
        let functions = pipeline::functions(&self.scan, &self.map, &item.modules);
        let surroundings = Surroundings { constants: &constants, functions: &functions };
        let (types, assumed) = argument_types(&function, surroundings, types)?;
        let typed = pipeline::check(&function, &types, &constants, &functions)?;
        Ok(Unit { sources: &self.map, function: typed, commands, assumed, machine: Machine::GENERIC })
    }

    pub fn show(&self, errors: &[Diagnostic]) -> String {
        show(&self.map, errors)
    }

    /// Refuses names of arguments that no chosen function has.
    pub fn has_arguments<'a>(&self, names: impl Iterator<Item = &'a str>) -> Result<(), String> {
        let mut known: BTreeSet<String> = BTreeSet::new();
        for item in &self.chosen {
            // What cannot be parsed is refused for that.
            let Ok(function) = pipeline::parse(&self.map, item) else { return Ok(()) };
            known.extend(function.parameters.iter().filter_map(|it| it.name.as_ref().map(|name| name.value.clone())));
        }
        let nobody_has = match self.chosen.as_slice() {
            [only] => format!("`{}` has no", only.name.value),
            _ => "no function that is looked at has an".to_string(),
        };
        let all: Vec<String> = known.iter().map(|it| format!("`{it}`")).collect();
        let errors: Refusal = names
            .filter(|&name| !known.contains(name))
            .map(|name| {
                let diagnostic = Diagnostic::error(Code("E0116"), format!("{nobody_has} argument `{name}`"));
                match nearest(name, known.iter().map(String::as_str)) {
                    Some(meant) => diagnostic.with_help(format!("did you mean `{meant}`?")),
                    None if all.is_empty() => diagnostic.with_help("leave it out"),
                    None => diagnostic.with_help(format!("name one of {}", all.join(", "))),
                }
            })
            .collect();
        if errors.is_empty() { Ok(()) } else { Err(self.show(&errors)) }
    }

    /// Refuses functions that would have one name where they are called from C.
    fn named_apart(&self) -> Result<(), String> {
        let mut seen: BTreeMap<String, &FunctionItem> = BTreeMap::new();
        let mut errors = vec![];
        for item in &self.chosen {
            let name = function_name(&item.name.value);
            let Some(other) = seen.get(&name) else {
                seen.insert(name, item);
                continue;
            };
            let (it, other) = (&item.name, &other.name);
            let text = format!("`{}` and `{}` would both be called `{name}` in one file", other.value, it.value);
            let help = match it.value == other.value {
                true => "rename one of them, or keep each in a file of its own".to_string(),
                false => {
                    format!("print each by itself: `--function '{}'`, and `--function '{}'`", other.value, it.value)
                }
            };
            let here = Diagnostic::error(Code("E0115"), text).primary(it.span, "the second of this name");
            errors.push(here.secondary(other.span, "the first").with_help(help));
        }
        if errors.is_empty() { Ok(()) } else { Err(self.show(&errors)) }
    }

    /// What becomes of each chosen function.
    fn each<T>(&self, options: &FileOptions, make: impl Fn(&Unit<'_>) -> Result<T, Refusal>) -> Result<Vec<T>, String> {
        let (mut made, mut refused) = (vec![], String::new());
        for item in &self.chosen {
            match self.unit(item, &options.types).and_then(|unit| make(&unit)) {
                Ok(it) => made.push(it),
                Err(errors) => refused.push_str(&self.show(&errors)),
            }
        }
        if refused.is_empty() { Ok(made) } else { Err(refused) }
    }
}

fn show(map: &SourceMap, errors: &[Diagnostic]) -> String {
    render(map, errors, Style::Plain)
}

/// Refuses a schedule for a function that the source does not define.
fn check_blocks(schedule: &ScheduleFile, scan: &Scan, map: &SourceMap, file: FileId) -> Result<(), Refusal> {
    match schedule {
        ScheduleFile::Commands(_) => Ok(()),
        ScheduleFile::Blocks(blocks) => blocks.iter().try_for_each(|(name, _)| {
            let found = pipeline::find(scan, map, file, &name.value);
            let place = |it: Diagnostic| it.primary(name.span, "this schedule is for it");
            found.map(|_| ()).map_err(|errors| errors.into_iter().map(place).collect())
        }),
    }
}

fn choose(
    scan: &Scan,
    map: &SourceMap,
    file: FileId,
    options: &FileOptions,
    scope: Scope,
) -> Result<Vec<FunctionItem>, Refusal> {
    if let Some(name) = &options.function {
        return Ok(vec![pipeline::find(scan, map, file, name)?.clone()]);
    }
    let marked: Vec<FunctionItem> = scan.functions.iter().filter(|item| item.annotation.is_some()).cloned().collect();
    let chosen = if marked.is_empty() || scope == Scope::All { scan.functions.clone() } else { marked };
    if chosen.is_empty() {
        let text = format!("`{}` defines no function", options.name);
        let help = "mark a function with `@tessella`, or give another file";
        return Err(vec![Diagnostic::error(Code("E0111"), text).with_help(help)]);
    }
    Ok(chosen)
}

/// Every `@schedule` block names a function of the file.
fn schedules_belong(scan: &Scan) -> Result<(), Refusal> {
    let known = || scan.functions.iter().map(|item| item.name.value.as_str());
    let strays = scan.schedules.iter().map(|item| &item.function).filter(|name| known().all(|it| it != name.value));
    let errors: Refusal = strays
        .map(|name| {
            let text = format!("`@schedule` names `{}`, which this file does not define", name.value);
            let diagnostic = Diagnostic::error(Code("E0113"), text).primary(name.span, "no function of this name");
            match nearest(&name.value, known()) {
                Some(meant) => diagnostic.with_help(format!("did you mean `{meant}`?")),
                None => diagnostic.with_help("name a function of the file, or move the schedule to its file"),
            }
        })
        .collect();
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// The types of a function's arguments: overridden, annotated, or guessed from their use; and those that were guessed.
fn argument_types(
    function: &ast::Function,
    surroundings: Surroundings<'_>,
    given: &[(String, String)],
) -> Result<(Vec<ArgumentType>, Vec<Inferred>), Refusal> {
    let mut errors = vec![];
    let mut inferred = infer_arguments_in(function, surroundings);
    let mut types: Vec<ArgumentType> = inferred.iter().map(|inferred| inferred.ty).collect();
    inferred.retain(|it| it.basis != Basis::Annotation && given.iter().all(|(name, _)| *name != it.name));
    for (name, text) in given {
        let named = |parameter: &ast::Parameter| parameter.name.as_ref().is_some_and(|it| it.value == *name);
        let Some(position) = function.parameters.iter().position(named) else { continue };
        match parse_type(text) {
            Ok(ty) => types[position] = ty,
            Err(error) => {
                let span = function.parameters[position].span;
                let diagnostic = Diagnostic::error(Code("E0290"), format!("`{text}` is no type that can be compiled"));
                errors.push(diagnostic.primary(span, "asked for this argument").with_note(error.to_string()).with_help(
                    "give `Float64`, `Float32`, an integer type, `Bool`, or `Array{T, N}`, `Vector{T}`, `Matrix{T}` of one",
                ));
            }
        }
    }
    if errors.is_empty() { Ok((types, inferred)) } else { Err(errors) }
}

/// Checks all chosen functions of a file.
pub fn check(text: &str, options: &FileOptions, backend: Backend) -> Report {
    check_scope(text, options, backend, Scope::Marked)
}

/// [`check`], of marked functions or of all.
pub fn check_scope(text: &str, options: &FileOptions, backend: Backend, scope: Scope) -> Report {
    let sources = match Sources::read_scope(text, options, scope) {
        Ok(sources) => sources,
        Err(diagnostics) => return Report { passed: vec![], skipped: vec![], diagnostics },
    };
    let is_chosen = |item: &FunctionItem| sources.chosen.iter().any(|chosen| chosen.span == item.span);
    let skipped = sources.scan.functions.iter().filter(|item| options.function.is_none() && !is_chosen(item));
    let skipped = skipped.map(|item| item.name.value.clone()).collect();
    let mut report = Report { passed: vec![], skipped, diagnostics: String::new() };
    for item in sources.functions() {
        let checked = sources.unit(item, &options.types).and_then(|unit| summary(&unit, backend));
        match checked {
            Ok(line) => report.passed.push(line),
            Err(errors) => report.diagnostics.push_str(&sources.show(&errors)),
        }
    }
    report
}

/// One line that says what became of a function.
fn summary(unit: &Unit<'_>, backend: Backend) -> Result<String, Refusal> {
    let built = unit.build(backend)?;
    // Code generation has refusals of its own, such as thread blocks that no GPU has.
    built.text(unit, backend, TextKind::Loops)?;
    let mut loops = BTreeSet::new();
    parallel_loops(&built.analysed.verified.schedule().root, &mut loops);
    let parallel = match loops.is_empty() {
        true => "nothing runs in parallel".to_string(),
        false => format!("parallel: {}", loops.into_iter().collect::<Vec<_>>().join(", ")),
    };
    let computations = built.analysed.verified.algorithm().computations.len();
    let plural = if computations == 1 { "" } else { "s" };
    let dependences = built.analysed.dependences.len();
    let name = &unit.function.name;
    let several = if dependences == 1 { "" } else { "s" };
    Ok(format!("ok  {name}: {computations} computation{plural}, {dependences} dependence{several}, {parallel}"))
}

fn parallel_loops(node: &tessella_polyhedral::schedule::Node, found: &mut BTreeSet<String>) {
    use tessella_polyhedral::schedule::Node;
    match node {
        Node::Computation(_) => {}
        Node::Sequence(children) => children.iter().for_each(|child| parallel_loops(child, found)),
        Node::Loop(it) => {
            if matches!(it.tag, Tag::Parallel | Tag::GpuBlock(_) | Tag::GpuThread(_) | Tag::Combine) {
                found.insert(it.name.clone());
            }
            parallel_loops(&it.body, found);
        }
    }
}

/// Prints one stage of all chosen functions of a file: of code, as one file that a compiler takes.
///
/// # Errors
/// Rendered diagnostics of the functions that are refused.
pub fn transpile(text: &str, options: &FileOptions, backend: Backend, kind: TextKind) -> Result<String, String> {
    transpile_with_warnings(text, options, backend, kind).map(|(printed, _)| printed)
}

/// The same with what is to be said of it, rendered; empty where that is nothing.
///
/// # Errors
/// As [`transpile`].
pub fn transpile_with_warnings(
    text: &str,
    options: &FileOptions,
    backend: Backend,
    kind: TextKind,
) -> Result<(String, String), String> {
    let sources = Sources::read(text, options)?;
    let warnings = RefCell::new(String::new());
    let build = |unit: &Unit<'_>| {
        let built = unit.build(backend)?;
        let own = one_thread::warnings(unit, &built);
        if !own.is_empty() {
            warnings.borrow_mut().push_str(&sources.show(&own));
        }
        Ok::<_, Refusal>(built)
    };
    let are_several = sources.functions().len() > 1;
    if are_several && matches!(kind, TextKind::C | TextKind::Cuda | TextKind::Header) {
        sources.named_apart()?;
    }
    let printed = match kind {
        TextKind::C if are_several => c_backend::together(&sources.each(options, |unit| build(unit)?.c(unit, None))?),
        TextKind::Cuda if are_several => {
            cuda_backend::together(&sources.each(options, |unit| build(unit)?.cuda(unit))?)
        }
        _ => sources.each(options, |unit| build(unit)?.text(unit, backend, kind))?.join("\n"),
    };
    Ok((printed, warnings.into_inner()))
}

/// Draws the one chosen function of a file.
///
/// # Errors
/// Rendered diagnostics; also where several functions are chosen.
pub fn draw(text: &str, options: &FileOptions, draw: &DrawOptions, backend: Backend) -> Result<Drawing, String> {
    let sources = Sources::read(text, options)?;
    let [item] = sources.functions() else {
        let known: Vec<String> = sources.functions().iter().map(|item| format!("`{}`", item.name.value)).collect();
        let text = format!("`{}` has {} functions, and a drawing shows one", options.name, known.len());
        let help = format!("choose one with `--function`: {}", known.join(", "));
        return Err(sources.show(&[Diagnostic::error(Code("E0476"), text).with_help(help)]));
    };
    let unit = sources.unit(item, &options.types);
    let drawn = unit.and_then(|unit| crate::draw::draw(&unit, &unit.build(backend)?, draw));
    drawn.map_err(|errors| sources.show(&errors))
}

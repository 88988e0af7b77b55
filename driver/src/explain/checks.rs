//! What is checked when a function is called, and what comes of a check that fails.

use super::{Lines, condition, list, scan_condition, section, sizes, words};
use std::fmt::Write;
use tessella_codegen::entry::{apart, unfolded};
use tessella_codegen::input::Input;
use tessella_polyhedral::algorithm::{Algorithm, ArrayId, ScanCheck, SizeError};
use tessella_polyhedral::error::Error;
use tessella_polyhedral::isl::Ctx;
use tessella_polyhedral::print;
use tessella_polyhedral::verify::{EntryCheck, Verified};

/// What isl may do to find checks that follow from others; with more, all are told.
const OPERATIONS: u64 = 200_000;

/// A condition on sizes that takes more letters is not told.
const LONGEST: usize = 80;

/// All checks at entry, under a heading.
pub(super) fn checks(ctx: &Ctx, text: &mut String, verified: &Verified, lines: &Lines) -> Result<(), Error> {
    section(text, "Checked at entry", "before anything is written");
    let inside = subscripts(ctx, verified, lines)?;
    if inside.is_empty() {
        let _ = writeln!(text, "  no subscripts: each is inside of its array for all sizes");
    }
    let mut conditions: Vec<&Option<String>> = vec![];
    // What holds for all sizes comes first.
    for (under, _) in inside.iter().filter(|it| it.0.is_none()).chain(&inside) {
        if !conditions.contains(&under) {
            conditions.push(under);
        }
    }
    for under in conditions {
        let indent = if under.is_some() { "    " } else { "  " };
        if let Some(under) = under {
            let _ = writeln!(text, "  where {under}:");
        }
        for (_, check) in inside.iter().filter(|it| it.0 == *under) {
            let _ = writeln!(text, "{indent}{check}");
        }
    }
    let algorithm = verified.source();
    for param in algorithm.params.iter().filter(|param| param.is_of_scalars()) {
        let spelled = algorithm.spelling(param).unwrap_or_default();
        let _ = writeln!(
            text,
            "  `{}`, which is `{spelled}`, has a value; where it has none, the original function runs",
            param.name
        );
    }
    let memory = memory(verified);
    memory.iter().for_each(|line| text.push_str(&format!("  {line}\n")));
    if !inside.is_empty() {
        let _ = writeln!(text, "  {}", failing(verified));
    }
    if !memory.is_empty() {
        let _ = writeln!(
            text,
            "  Arrays that share memory are refused (E0771); with `@tessella overlap=:original` the original function runs."
        );
    }
    Ok(())
}

/// The conditions on sizes, with those under which each is needed.
fn subscripts(ctx: &Ctx, verified: &Verified, lines: &Lines) -> Result<Vec<(Option<String>, String)>, Error> {
    let (algorithm, source) = (verified.algorithm(), verified.source());
    let mut told = vec![];
    for requirement in &algorithm.requirements {
        let holds = sizes(algorithm, &condition(&requirement.holds.to_string()));
        told.push((None, format!("{}: {holds}", requirement.text)));
    }
    let strongest = match ctx.with_budget(OPERATIONS, || strongest(source, verified.checks())) {
        Err(error) if error.is_quota() => verified.checks().iter().collect(),
        strongest => strongest?,
    };
    for check in strongest {
        let holds = sizes(algorithm, &condition(&check.needs.to_string()));
        let at = print::access(source, source.computation(check.access.computation), source.access(check.access));
        let named = words::named(source, check.access.computation, lines);
        told.push((under(ctx, source, check)?, format!("{holds}, for `{at}` in {named}")));
    }
    for check in algorithm.scan.iter().flat_map(|scan| &scan.checks) {
        let line = match check {
            ScanCheck::Inside { access: at, axis } => {
                let (access, computation) = (algorithm.access_of_source(*at), algorithm.computation(at.computation));
                format!(
                    "{} in every iteration that gets there, for `{}` in {}",
                    sizes(algorithm, &scan_condition(algorithm, *at, *axis)),
                    print::access(algorithm, computation, access),
                    words::named(algorithm, at.computation, lines)
                )
            }
            ScanCheck::Holds { text: failure, .. } => format!("in every iteration that gets there, not: {failure}"),
        };
        told.push((None, line));
    }
    Ok(told)
}

/// Those that do not follow from another one on the same axis.
fn strongest<'a>(source: &Algorithm, checks: &'a [EntryCheck]) -> Result<Vec<&'a EntryCheck>, Error> {
    let axis = |it: &EntryCheck| (source.access(it.access).array, it.axis, source.access(it.access).conditional);
    let mut kept = vec![];
    for (at, check) in checks.iter().enumerate() {
        let mut follows = false;
        for (other_at, other) in checks.iter().enumerate().filter(|(other, it)| *other != at && axis(it) == axis(check))
        {
            let implies = other.holds.intersect(&source.context)?.is_subset(&check.holds)?;
            // Of equals the first is kept.
            follows |=
                implies && (other_at < at || !check.holds.intersect(&source.context)?.is_subset(&other.holds)?);
        }
        if !follows {
            kept.push(check);
        }
    }
    Ok(kept)
}

/// The sizes for which the access of a check happens at all; `None` for all sizes.
fn under(ctx: &Ctx, source: &Algorithm, check: &EntryCheck) -> Result<Option<String>, Error> {
    let computation = source.computation(check.access.computation);
    let within = source.access(check.access).within.as_ref().unwrap_or(&computation.domain);
    let runs = ctx.with_budget(OPERATIONS, || -> Result<_, Error> {
        let runs = within.params()?.gist(&source.context)?.coalesce()?;
        Ok((!source.context.is_subset(&runs)?).then_some(runs))
    });
    match runs {
        Err(error) if error.is_quota() => Ok(Some("it is needed".to_string())),
        runs => Ok(runs?.map(|runs| short(sizes(source, &condition(&runs.to_string()))))),
    }
}

/// A condition that can be read at a glance.
fn short(condition: String) -> String {
    let is_plain = condition.len() <= LONGEST && !["exists", "floor", " or "].iter().any(|it| condition.contains(it));
    if is_plain { condition } else { "it is needed".to_string() }
}

/// Which arrays may not share memory.
fn memory(verified: &Verified) -> Vec<String> {
    let input = Input::from(verified);
    let name = |id: ArrayId| format!("`{}`", verified.algorithm().array(id).name);
    let pairs = apart(&input);
    let mut arrays: Vec<ArrayId> = pairs.iter().flat_map(|&(one, other)| [one, other]).collect();
    arrays.sort();
    arrays.dedup();
    let names = |ids: &[ArrayId], last: &str| list(&ids.iter().map(|&id| name(id)).collect::<Vec<_>>(), last);
    let mut told = vec![];
    if pairs.len() == arrays.len() * arrays.len().saturating_sub(1) / 2 && arrays.len() > 2 {
        told.push(format!("no two of {} share memory", names(&arrays, "and")));
    } else {
        for &array in &arrays {
            let is_written = |id| verified.algorithm().is_written(id);
            // Two that are written are told of once.
            let with = pairs.iter().filter_map(|&(one, other)| match (one == array, other == array) {
                (true, _) if is_written(array) => Some(other),
                (_, true) if is_written(array) && !is_written(one) => Some(one),
                _ => None,
            });
            let with: Vec<ArrayId> = with.collect();
            if !with.is_empty() {
                told.push(format!("{} shares no memory with {}", name(array), names(&with, "or")));
            }
        }
    }
    told.extend(unfolded(&input).into_iter().map(|array| format!("no two elements of {} share memory", name(array))));
    told
}

/// What a call does if a condition on sizes does not hold.
fn failing(verified: &Verified) -> String {
    let source = verified.source();
    let scanned = source.scan.iter().flat_map(|scan| &scan.checks);
    let is_thrown = |error: SizeError| error == SizeError::Thrown;
    let is_left = source.failed.is_some()
        || verified.checks().iter().any(|it| source.access(it.access).conditional)
        || source.requirements.iter().any(|it| is_thrown(it.error))
        || scanned.clone().any(|it| match it {
            ScanCheck::Inside { access, .. } => source.access(*access).conditional,
            ScanCheck::Holds { error, .. } => is_thrown(*error),
        });
    let is_mixed = !source.requirements.is_empty() || scanned.clone().any(|it| matches!(it, ScanCheck::Holds { .. }));
    let thrown = if is_mixed { "an exception, for subscripts a `BoundsError`" } else { "a `BoundsError`" };
    let left = if is_left { ", or runs the original function where only that tells what comes of it" } else { "" };
    format!("Where a size or a subscript does not fit, nothing is written: Julia throws {thrown}{left}.")
}

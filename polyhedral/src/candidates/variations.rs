//! Tessella's own commands with other numbers.

use super::{Candidate, Family};
use crate::command::Command;
use crate::order::{Formula, OrderNode, OrderTree, Runs};
use crate::schedule::Tag;

/// What a number is multiplied by: doubled, halved, and further.
const FACTORS: [(u32, u32); 4] = [(2, 1), (1, 2), (4, 1), (1, 4)];
const LEAST: u32 = 2;
const LARGEST: u32 = 8192;

/// All that differ from the given commands in one number, then those that differ in two, by one factor of two each.
pub(super) fn variations(own: &[Command]) -> Vec<Candidate> {
    let knobs = knobs(own);
    let mut found: Vec<Vec<Command>> = vec![];
    let mut add = |commands: Option<Vec<Command>>| {
        if let Some(commands) = commands.filter(|it| it.as_slice() != own && !found.contains(it)) {
            found.push(commands);
        }
    };
    for factor in FACTORS {
        knobs.iter().for_each(|knob| add(turned(own, knob, factor)));
    }
    for (at, first) in knobs.iter().enumerate() {
        for second in &knobs[at + 1..] {
            for (one, other) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                add(turned(own, first, FACTORS[one]).and_then(|it| turned(&it, second, FACTORS[other])));
            }
        }
    }
    found.into_iter().map(|commands| Candidate { family: Family::Variation, commands, predicted: None }).collect()
}

/// A number that may be another.
#[derive(Debug, Clone, PartialEq)]
enum Knob {
    /// The number of this place in the command of that place.
    Number { command: usize, at: usize },
    /// In an order that is written out: what divides this formula, as text, wherever it does.
    Divisor { command: usize, of: String, divisor: i64 },
}

fn knobs(own: &[Command]) -> Vec<Knob> {
    let mut all = vec![];
    for (command, it) in own.iter().enumerate() {
        match it {
            Command::Order(tree) => {
                let mut found = vec![];
                each_formula(tree, &mut |formula| divisors(formula, &mut found));
                all.extend(found.into_iter().map(|(of, divisor)| Knob::Divisor { command, of, divisor }));
            }
            other => {
                let count = numbers_mut(&mut other.clone()).len();
                all.extend((0..count).map(|at| Knob::Number { command, at }));
            }
        }
    }
    all
}

/// The commands with one of their numbers multiplied; `None` where it would leave the range.
fn turned(own: &[Command], knob: &Knob, (times, over): (u32, u32)) -> Option<Vec<Command>> {
    let wanted = |number: u32| {
        let wanted = number.checked_mul(times)? / over;
        (wanted * over == number * times && (LEAST..=LARGEST).contains(&wanted)).then_some(wanted)
    };
    let mut commands = own.to_vec();
    match knob {
        Knob::Number { command, at } => {
            let mut all = numbers_mut(commands.get_mut(*command)?);
            let number = all.get_mut(*at)?;
            **number = wanted(**number)?;
        }
        Knob::Divisor { command, of, divisor } => {
            let (from, to) = (u32::try_from(*divisor).ok()?, wanted(u32::try_from(*divisor).ok()?)?);
            let Command::Order(tree) = commands.get_mut(*command)? else { return None };
            divide_by(tree, of, from, to);
        }
    }
    Some(commands)
}

/// Visits what loops run through.
fn each_formula(tree: &OrderTree, visit: &mut dyn FnMut(&Formula)) {
    for node in tree {
        let OrderNode::Loop(it) = node else { continue };
        match &it.runs {
            Runs::Together(formula) => visit(formula),
            Runs::Each(all) => all.iter().for_each(|(_, formula)| visit(formula)),
        }
        each_formula(&it.body, visit);
    }
}

/// What is divided, as text, and by what; each once.
fn divisors(formula: &Formula, found: &mut Vec<(String, i64)>) {
    match formula {
        Formula::Integer(_) | Formula::Name(_) => {}
        Formula::Add(left, right) | Formula::Sub(left, right) => {
            divisors(left, found);
            divisors(right, found);
        }
        Formula::Scale(_, inner) => divisors(inner, found),
        Formula::FloorDiv(inner, divisor) | Formula::Modulo(inner, divisor) => {
            divisors(inner, found);
            let this = (inner.to_string(), *divisor);
            if !found.contains(&this) {
                found.push(this);
            }
        }
    }
}

/// Divides a formula by another number, in all loops; loops that are unrolled by just that number are unrolled by the other.
fn divide_by(tree: &mut OrderTree, of: &str, from: u32, to: u32) {
    for node in tree {
        let OrderNode::Loop(it) = node else { continue };
        let changes = |formula: &mut Formula| {
            let before = formula.clone();
            *formula = divided(formula, of, from.into(), to.into());
            *formula != before
        };
        let changed = match &mut it.runs {
            Runs::Together(formula) => changes(formula),
            Runs::Each(all) => all.iter_mut().fold(false, |any, (_, formula)| changes(formula) || any),
        };
        if changed && it.tag == Tag::Unroll(from) {
            it.tag = Tag::Unroll(to);
        }
        divide_by(&mut it.body, of, from, to);
    }
}

fn divided(formula: &Formula, of: &str, from: i64, to: i64) -> Formula {
    let inside = |inner: &Formula| Box::new(divided(inner, of, from, to));
    let by = |inner: &Formula, divisor: i64| if divisor == from && inner.to_string() == of { to } else { divisor };
    match formula {
        Formula::Integer(_) | Formula::Name(_) => formula.clone(),
        Formula::Add(left, right) => Formula::Add(inside(left), inside(right)),
        Formula::Sub(left, right) => Formula::Sub(inside(left), inside(right)),
        // `d * fld(e, d)` is where a tile begins.
        Formula::Scale(factor, inner) => match &**inner {
            Formula::FloorDiv(e, divisor) if factor.abs() == *divisor => {
                Formula::Scale(factor.signum() * by(e, *divisor), inside(inner))
            }
            Formula::Integer(_)
            | Formula::Name(_)
            | Formula::Add(..)
            | Formula::Sub(..)
            | Formula::Scale(..)
            | Formula::FloorDiv(..)
            | Formula::Modulo(..) => Formula::Scale(*factor, inside(inner)),
        },
        Formula::FloorDiv(inner, divisor) => Formula::FloorDiv(inside(inner), by(inner, *divisor)),
        Formula::Modulo(inner, divisor) => Formula::Modulo(inside(inner), by(inner, *divisor)),
    }
}

/// The numbers of a command that may be others.
fn numbers_mut(command: &mut Command) -> Vec<&mut u32> {
    match command {
        Command::Split { size, .. } => vec![size],
        Command::Tile { sizes, .. } => sizes.iter_mut().collect(),
        Command::Vectorize { width, .. } => vec![width],
        Command::Unroll { factor, .. } | Command::UnrollAndJam { factor, .. } => vec![factor],
        Command::Interchange { .. }
        | Command::Parallelogram { .. }
        | Command::Skew { .. }
        | Command::SkewAuto { .. }
        | Command::Shift { .. }
        | Command::Reverse { .. }
        | Command::Parallel { .. }
        | Command::Collapse { .. }
        | Command::Pieces { .. }
        | Command::PiecesBySize { .. }
        | Command::Separate { .. }
        | Command::Fuse { .. }
        | Command::FuseShifted { .. }
        | Command::Distribute { .. }
        | Command::After { .. }
        | Command::Before { .. }
        | Command::Between { .. }
        | Command::Gpu { .. }
        | Command::Stream { .. }
        | Command::Resident { .. }
        | Command::Inline { .. }
        | Command::ComputeAt { .. }
        | Command::Privatize { .. }
        | Command::Overlapped { .. }
        | Command::Rfactor { .. }
        | Command::Atomic { .. }
        | Command::Owners { .. }
        | Command::ShareRows { .. }
        | Command::Hexagonal { .. }
        | Command::TimeSkew { .. }
        | Command::Space { .. }
        | Command::GridSync { .. }
        | Command::Assume(_)
        | Command::Specialize(_)
        | Command::Auto
        | Command::Order(_)
        | Command::StoreIn { .. }
        | Command::CacheShared { .. }
        | Command::CacheRegister { .. }
        | Command::Pad { .. }
        | Command::Constant { .. }
        | Command::CopyIn { .. }
        | Command::CopyOut { .. }
        | Command::Synchronize { .. }
        | Command::Prefetch { .. }
        | Command::Allocate { .. }
        | Command::Free { .. } => vec![],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_is_doubled_and_halved() {
        let own =
            [Command::Tile { computation: "S".into(), loops: vec!["i".into(), "j".into()], sizes: vec![4, 6000] }];
        let texts: Vec<String> = variations(&own).iter().map(|it| it.commands[0].to_string()).collect();
        assert_eq!(
            texts[..3],
            ["tile(S, (i, j), (8, 6000))", "tile(S, (i, j), (2, 6000))", "tile(S, (i, j), (4, 3000))"]
        );
        assert!(texts.iter().all(|text| !text.contains("12000")), "{texts:?}");
        assert!(texts.contains(&"tile(S, (i, j), (2, 3000))".to_string()));
    }

    #[test]
    fn a_tile_of_an_order_that_is_written_out_changes_everywhere() {
        let i = || Box::new(Formula::Name("i".into()));
        let tile = || Formula::FloorDiv(i(), 6);
        let rest = Formula::Sub(i(), Box::new(Formula::Scale(6, Box::new(tile()))));
        let part = |name: &str, tag, runs, body| {
            OrderNode::Loop(crate::order::OrderLoop { name: name.into(), tag, runs: Runs::Together(runs), body })
        };
        let leaf = vec![OrderNode::Computation("S".into())];
        let inner = part("i1", Tag::Unroll(6), rest, leaf);
        let own = [Command::Order(vec![part("i0", Tag::Parallel, tile(), vec![inner])])];
        let first = variations(&own)[0].commands[0].to_string();
        assert_eq!(
            first,
            "@parallel for i0 = fld(i, 12)\n    @unroll 12 for i1 = i - 12*fld(i, 12)\n        S\n    end\nend"
        );
    }
}

//! Which written elements a tile keeps in registers while it moves.

use super::form::lane_strides;
use super::{Kept, Tile};
use crate::input::Input;
use crate::int_expr::{Cond, IntExpr, VariableId};
use crate::names::Names;
use std::collections::BTreeMap;
use tessella_polyhedral::algorithm::{Access, ArrayId};
use tessella_scalar::CompareOp;

/// Finds the written elements that the moving loop does not leave.
pub(super) fn keep_in_registers(input: &Input<'_>, names: &mut Names, tile: &mut Tile) {
    let moving: Vec<VariableId> = tile.moving_bases.iter().map(|(variable, _)| *variable).collect();
    let along = tile.along.as_ref().map(|it| it.variable);
    let stays = |expr: &IntExpr| !expr.involves(&|variable| Some(variable) == along || moving.contains(&variable));
    let mut arrays: Vec<ArrayId> = vec![];
    for instance in &tile.instances {
        let written = input.algorithm.computation(instance.computation).write.array;
        if !arrays.contains(&written) {
            arrays.push(written);
        }
    }
    for array in arrays {
        if input.layout.buffer(input.buffer_of(array)).extents.is_empty() {
            continue;
        }
        // Arrays in one buffer could share elements.
        let shares = input.layout.placements.iter().filter(|(_, it)| it.buffer == input.buffer_of(array)).count() > 1;
        let Some(elements) = elements_of(input, tile, array) else { continue };
        let mut kept: Vec<Element> = vec![];
        for (_, element) in elements.iter().filter(|(writer, _)| writer.is_some()) {
            if !kept.iter().any(|known| known.subscripts == element.subscripts) {
                kept.push(element.clone());
            }
        }
        let (inside, outside): (Elements, Elements) =
            elements.into_iter().partition(|(_, it)| kept.iter().any(|known| known.subscripts == it.subscripts));
        let consistent =
            inside.iter().all(|(_, element)| element.subscripts.iter().all(&stays) && kept.contains(element));
        let distinct = (0..kept.len()).all(|a| (0..a).all(|b| are_apart(&kept[a], &kept[b], tile.lanes)));
        if shares || !consistent || !distinct {
            continue;
        }
        let mut apart = vec![tile.apart.clone()];
        for (_, element) in &outside {
            match outside_of(tile, &kept, element) {
                Some(Cond::Const(true)) => {}
                Some(condition) if apart.contains(&condition) => {}
                Some(condition) => apart.push(condition),
                None => apart.push(Cond::Const(false)),
            }
        }
        match Cond::all_of(apart) {
            Cond::Const(false) => continue,
            condition => tile.apart = condition,
        }
        let name = names.arrays[array.0 as usize].clone();
        let first = tile.registers.len();
        for (number, Element { subscripts, strides }) in kept.iter().cloned().enumerate() {
            let mut free = names.namer();
            tile.registers.iter().for_each(|it| free.reserve(&it.name));
            let name = free.fresh(&format!("{name}_{number}"));
            tile.registers.push(Kept { array, name, subscripts, strides });
        }
        for (writer, element) in inside {
            let at = kept.iter().position(|known| *known == element).map(|at| (first + at) as u32);
            if let Some(writer) = writer {
                tile.instances[writer].target = at;
            }
        }
    }
}

/// When an element that moves with the tile is none of those that stay: along some axis it is below or above all of
/// them, at the first and at the last iteration of the moving loop. `None` if that cannot be said.
fn outside_of(tile: &Tile, kept: &[Element], moving: &Element) -> Option<Cond> {
    let along = tile.along.as_ref()?;
    let first = &kept.first()?.subscripts;
    let mut ways = vec![];
    for (axis, subscript) in moving.subscripts.iter().enumerate() {
        let (mut low, mut high) = (i64::MAX, i64::MIN);
        let mut known = true;
        for element in kept {
            match constant_difference(&element.subscripts[axis], &first[axis]) {
                Some(distance) => {
                    let (below, above) = element.reach(axis, tile.lanes);
                    low = low.min(distance + below);
                    high = high.max(distance + above);
                }
                None => known = false,
            }
        }
        let (below, above) = moving.reach(axis, tile.lanes);
        if !known {
            continue;
        }
        let bases = |variable: VariableId| {
            tile.moving_bases.iter().find(|(base, _)| *base == variable).map(|(_, value)| value.clone())
        };
        let distance = subscript.substitute(&bases).minus(first[axis].clone());
        let Some((factors, rest)) = distance.linear(&|variable| variable == along.variable) else { continue };
        let factor = factors.get(&along.variable).copied().unwrap_or(0);
        if let Some(distance) = constant_difference(&subscript.substitute(&bases), &first[axis]) {
            if distance + below > high || distance + above < low {
                return Some(Cond::Const(true));
            }
            continue;
        }
        let end = |limit: VariableId| rest.clone().plus(IntExpr::Const(factor).times(IntExpr::Variable(limit)));
        let (least, most) = match factor >= 0 {
            true => (end(along.from.0), end(along.until.0)),
            false => (end(along.until.0), end(along.from.0)),
        };
        ways.push(Cond::Compare(CompareOp::Gt, least, IntExpr::Const(high - below)));
        ways.push(Cond::Compare(CompareOp::Lt, most, IntExpr::Const(low - above)));
    }
    Some(Cond::any_of(ways))
}

/// An element that an instance accesses, or one for each lane.
#[derive(Debug, Clone, PartialEq)]
struct Element {
    /// In the first lane.
    subscripts: Vec<IntExpr>,
    /// What each gains from lane to lane; none if all lanes access one element.
    strides: Vec<i64>,
}

impl Element {
    /// How far below and above the first lane's subscript those of the others lie.
    fn reach(&self, axis: usize, lanes: u32) -> (i64, i64) {
        let last = self.strides.get(axis).map_or(0, |stride| stride.saturating_mul(i64::from(lanes) - 1));
        (last.min(0), last.max(0))
    }
}

/// The elements of an array that the instances access, each with the instance that writes it (reads have none). `None`
/// if lanes do not lie evenly.
type Elements = Vec<(Option<usize>, Element)>;

fn elements_of(input: &Input<'_>, tile: &Tile, array: ArrayId) -> Option<Elements> {
    let mut found = vec![];
    for (at, instance) in tile.instances.iter().enumerate() {
        let computation = input.algorithm.computation(instance.computation);
        let used = input.used_accesses(instance.computation);
        for (position, access) in used.into_iter().enumerate().filter(|(_, access)| access.array == array) {
            let mut strides = lane_strides(access, &instance.strides)?;
            if strides.iter().all(|&stride| stride == 0) {
                strides.clear();
            }
            let writer = (position == 0 && std::ptr::eq(access, &computation.write)).then_some(at);
            found.push((writer, Element { subscripts: subscripts_of(access, &instance.iterators)?, strides }));
        }
    }
    Some(found)
}

/// The subscripts of an access at given iterators; `None` if one is computed.
pub fn subscripts_of(access: &Access, iterators: &[IntExpr]) -> Option<Vec<IntExpr>> {
    access.subscripts.iter().map(|it| Some(IntExpr::from_affine(it.as_affine()?, iterators))).collect()
}

/// Whether two registers surely hold different elements: along some axis, no lanes of theirs meet.
fn are_apart(a: &Element, b: &Element, lanes: u32) -> bool {
    (0..a.subscripts.len()).any(|axis| {
        let Some(distance) = constant_difference(&a.subscripts[axis], &b.subscripts[axis]) else { return false };
        let ((a_low, a_high), (b_low, b_high)) = (a.reach(axis, lanes), b.reach(axis, lanes));
        distance + a_low > b_high || distance + a_high < b_low
    })
}

/// What the first adds to the second, where that is a number.
pub fn constant_difference(a: &IntExpr, b: &IntExpr) -> Option<i64> {
    let (mut terms, mut constant) = (BTreeMap::new(), 0);
    add_terms(a, 1, &mut terms, &mut constant)?;
    add_terms(b, -1, &mut terms, &mut constant)?;
    terms.values().all(|&factor| factor == 0).then_some(constant)
}

fn add_terms(expr: &IntExpr, times: i64, terms: &mut BTreeMap<IntExpr, i64>, constant: &mut i64) -> Option<()> {
    match expr {
        IntExpr::Const(value) => *constant = constant.checked_add(value.checked_mul(times)?)?,
        IntExpr::Add(a, b) => {
            add_terms(a, times, terms, constant)?;
            add_terms(b, times, terms, constant)?;
        }
        IntExpr::Sub(a, b) => {
            add_terms(a, times, terms, constant)?;
            add_terms(b, times.checked_neg()?, terms, constant)?;
        }
        IntExpr::Neg(a) => add_terms(a, times.checked_neg()?, terms, constant)?,
        IntExpr::Mul(a, b) => match (&**a, &**b) {
            (IntExpr::Const(by), it) | (it, IntExpr::Const(by)) => {
                add_terms(it, times.checked_mul(*by)?, terms, constant)?;
            }
            _ => add_term(expr, times, terms)?,
        },
        other => add_term(other, times, terms)?,
    }
    Some(())
}

fn add_term(term: &IntExpr, times: i64, terms: &mut BTreeMap<IntExpr, i64>) -> Option<()> {
    let factor = terms.entry(term.clone()).or_insert(0);
    *factor = factor.checked_add(times)?;
    Some(())
}

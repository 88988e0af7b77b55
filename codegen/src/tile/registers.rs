//! Which written elements a tile keeps in registers while it moves.

use super::form::lane_strides;
use super::{Kept, Tile};
use crate::input::Input;
use crate::int_expr::{Cond, IntExpr, VariableId};
use crate::names::Names;
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
        let mut kept: Vec<(Vec<IntExpr>, bool)> = vec![];
        for (_, subscripts, varying) in elements.iter().filter(|(writer, _, _)| writer.is_some()) {
            if !kept.iter().any(|(known, _)| known == subscripts) {
                kept.push((subscripts.clone(), *varying));
            }
        }
        let (inside, outside): (Elements, Elements) =
            elements.into_iter().partition(|(_, subscripts, _)| kept.iter().any(|(known, _)| known == subscripts));
        let consistent = inside.iter().all(|(_, subscripts, varying)| {
            subscripts.iter().all(&stays)
                && kept.iter().any(|(known, known_varying)| known == subscripts && known_varying == varying)
        });
        let distinct = (0..kept.len()).all(|a| (0..a).all(|b| are_apart(&kept[a], &kept[b], tile.lanes)));
        if shares || !consistent || !distinct {
            continue;
        }
        let mut apart = vec![tile.apart.clone()];
        for (_, subscripts, varying) in &outside {
            match outside_of(tile, &kept, subscripts, *varying) {
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
        for (number, (subscripts, varying)) in kept.iter().enumerate() {
            let name = names.namer().fresh(&format!("{name}_{number}"));
            tile.registers.push(Kept { array, name, subscripts: subscripts.clone(), varying: *varying });
        }
        for (writer, subscripts, _) in inside {
            let at = kept.iter().position(|(known, _)| *known == subscripts).map(|at| (first + at) as u32);
            if let Some(writer) = writer {
                tile.instances[writer].target = at;
            }
        }
    }
}

/// When an element that moves with the tile is none of those that stay: along some axis it is below or above all of
/// them, at the first and at the last iteration of the moving loop. `None` if that cannot be said.
fn outside_of(tile: &Tile, kept: &[(Vec<IntExpr>, bool)], moving: &[IntExpr], varying: bool) -> Option<Cond> {
    let along = tile.along.as_ref()?;
    let (first, _) = kept.first()?;
    let mut ways = vec![];
    for (axis, subscript) in moving.iter().enumerate() {
        let lanes = |varies: bool| if varies && axis == 0 { i64::from(tile.lanes) - 1 } else { 0 };
        let (mut low, mut high) = (i64::MAX, i64::MIN);
        let mut known = true;
        for (subscripts, varies) in kept {
            match constant_difference(&subscripts[axis], &first[axis]) {
                Some(distance) => {
                    low = low.min(distance);
                    high = high.max(distance + lanes(*varies));
                }
                None => known = false,
            }
        }
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
            if distance > high || distance + lanes(varying) < low {
                return Some(Cond::Const(true));
            }
            continue;
        }
        let end = |limit: VariableId| rest.clone().plus(IntExpr::Const(factor).times(IntExpr::Variable(limit)));
        let (least, most) = match factor >= 0 {
            true => (end(along.from.0), end(along.until.0)),
            false => (end(along.until.0), end(along.from.0)),
        };
        ways.push(Cond::Compare(CompareOp::Gt, least, IntExpr::Const(high)));
        ways.push(Cond::Compare(CompareOp::Lt, most, IntExpr::Const(low - lanes(varying))));
    }
    Some(Cond::any_of(ways))
}

/// The elements of an array that the instances access: the instance that writes it (reads have none), subscripts in
/// the first lane, whether the lanes' elements are neighbours. `None` if lanes do not fall together or side by side.
type Elements = Vec<(Option<usize>, Vec<IntExpr>, bool)>;

fn elements_of(input: &Input<'_>, tile: &Tile, array: ArrayId) -> Option<Elements> {
    let mut found = vec![];
    for (at, instance) in tile.instances.iter().enumerate() {
        let computation = input.algorithm.computation(instance.computation);
        let used = input.used_accesses(instance.computation);
        for (position, access) in used.into_iter().enumerate().filter(|(_, access)| access.array == array) {
            let strides = lane_strides(access, &instance.strides)?;
            let varying = strides.iter().any(|&stride| stride != 0);
            let neighbours = strides.iter().enumerate().all(|(axis, &stride)| stride == i64::from(axis == 0));
            if tile.lanes > 1 && varying && !neighbours {
                return None;
            }
            let writer = (position == 0 && std::ptr::eq(access, &computation.write)).then_some(at);
            found.push((writer, subscripts_of(access, &instance.iterators), tile.lanes > 1 && varying));
        }
    }
    Some(found)
}

/// The subscripts of an access at given iterators.
pub fn subscripts_of(access: &Access, iterators: &[IntExpr]) -> Vec<IntExpr> {
    access.subscripts.iter().map(|subscript| IntExpr::from_affine(subscript, iterators)).collect()
}

/// Whether two registers surely hold different elements.
fn are_apart((a, a_varying): &(Vec<IntExpr>, bool), (b, b_varying): &(Vec<IntExpr>, bool), lanes: u32) -> bool {
    a.iter().zip(b).enumerate().any(|(axis, (a, b))| {
        let Some(distance) = constant_difference(a, b) else { return false };
        let least = if axis == 0 && (*a_varying || *b_varying) { i64::from(lanes) } else { 1 };
        distance.unsigned_abs() >= least as u64
    })
}

fn constant_difference(a: &IntExpr, b: &IntExpr) -> Option<i64> {
    let all = |_: VariableId| true;
    let (a_factors, a_rest) = a.linear(&all)?;
    let (b_factors, b_rest) = b.linear(&all)?;
    if a_factors != b_factors {
        return None;
    }
    match (a_rest, b_rest) {
        (IntExpr::Const(a), IntExpr::Const(b)) => a.checked_sub(b),
        (a, b) if a == b => Some(0),
        (a, b) => a.minus(b).as_const(),
    }
}

//! Names that may still mean the array of the caller, or of another name, in whose place they have a copy.

use super::{Around, Hindrance, Needs, Place, Rebinding, refers};
use crate::typed::check::{Checked, Checker};
use crate::typed::meanings::array_of;
use crate::typed::scope::{State, VariableId};
use crate::typed::tree::LocalId;
use crate::typed::value::Value;
use std::collections::{BTreeMap, BTreeSet};
use tessella_diagnostics::Span;

/// Names of copies that may stand for arrays of the caller or of other names, and those arrays: what is stored into either
/// would have to be seen in both.
pub(in crate::typed) type Standing = BTreeMap<VariableId, BTreeSet<LocalId>>;

impl Checker<'_> {
    pub(in crate::typed) fn standing(&self) -> Standing {
        self.flow.rebinding.standing.clone()
    }

    pub(in crate::typed) fn set_standing(&mut self, standing: Standing) -> Standing {
        std::mem::replace(&mut self.flow.rebinding.standing, standing)
    }

    /// Where another path joins.
    pub(in crate::typed) fn join_standing(&mut self, other: Standing) {
        unite(&mut self.flow.rebinding.standing, other);
    }

    /// Where a `break` leaves the innermost loop.
    pub(in crate::typed) fn leave_standing(&mut self) {
        let standing = self.standing();
        if let Some(around) = self.flow.rebinding.around.last_mut() {
            unite(&mut around.left, standing);
        }
    }

    /// After the innermost loop, whose iterations begin with what stands for others `before` and end with what does now.
    pub(in crate::typed) fn standing_after_loop(&mut self, before: &Standing, count: usize) {
        let Some(around) = self.flow.rebinding.around.last_mut() else { return };
        let (place, runs, left) = (around.place, around.runs, std::mem::take(&mut around.left));
        let known: BTreeSet<LocalId> = before.values().flatten().copied().collect();
        let grown: Vec<(VariableId, bool)> = self
            .flow
            .rebinding
            .standing
            .iter()
            .filter(|(it, originals)| it.0 < count && !before.get(it).is_some_and(|begun| originals.is_subset(begun)))
            .map(|(it, originals)| (*it, originals.is_subset(&known)))
            .collect();
        for (variable, is_known) in grown {
            let name = self.variables[variable.0].name.clone();
            if !is_known || !self.flow.rebinding.found.standing.insert((place, name)) {
                self.bar_copies(|_| true);
            }
        }
        self.join_standing(left);
        if !runs {
            self.join_standing(before.clone());
        }
    }

    /// Before a name is given the array.
    pub(in crate::typed) fn passes_standing(&mut self, variable: VariableId, state: &State) {
        let originals = self.stands_for(state);
        match originals.is_empty() {
            true => self.flow.rebinding.standing.remove(&variable),
            false => self.flow.rebinding.standing.insert(variable, originals),
        };
    }

    /// The arrays that a name stands for which means this.
    pub(super) fn stands_for(&self, state: &State) -> BTreeSet<LocalId> {
        let Rebinding { standing, flying, around, past, .. } = &self.flow.rebinding;
        let shares = |other: &State| match (array_of(state), array_of(other)) {
            (Some(array), _) => refers(other, array),
            (None, Some(array)) => refers(state, array),
            (None, None) => {
                let mut copies = around.iter().chain(past).flat_map(|it| &it.copies);
                copies.any(|&copy| refers(state, copy) && refers(other, copy))
            }
        };
        let elsewhere =
            |it: VariableId| self.alternatives().any(|&(other, array)| other == it && shares(&State::Array(array)));
        let here = |it: VariableId| self.variables.get(it.0).is_some_and(|it| shares(&it.state));
        let named = standing.iter().filter(|(it, _)| here(**it) || elsewhere(**it));
        let named = named.map(|(_, originals)| originals);
        let flying = flying.iter().filter(|(state, _)| shares(state)).map(|(_, originals)| originals);
        named.chain(flying).flatten().copied().collect()
    }

    /// Whether the array stands for another, or another for it that a name still means.
    fn may_stand(&self, array: LocalId) -> bool {
        let live = self.live_variables();
        let mut standing = self.flow.rebinding.standing.iter();
        !self.stands_for(&State::Array(array)).is_empty()
            || standing.any(|(it, originals)| live.contains(it) && originals.contains(&array))
    }

    /// Before the function gives back a value: its arrays must be those that Julia gives back.
    pub(in crate::typed) fn gives_back(&mut self, value: &Value, span: Span) -> Checked<()> {
        match value {
            // What an inlined call gives back gets a name.
            _ if !self.calls.is_empty() => Ok(()),
            Value::Array(array) | Value::ComplexArray(array) => self.asks_for_own(*array, span),
            Value::Tuple(values) | Value::Named(_, values) => {
                values.iter().try_for_each(|value| self.gives_back(value, span))
            }
            _ => Ok(()),
        }
    }

    /// Before something is stored into the array.
    pub(in crate::typed) fn asks_for_own(&mut self, array: LocalId, span: Span) -> Checked<()> {
        if self.flow.rebinding.storing || !self.may_stand(array) {
            return Ok(());
        }
        // In the next pass the names of the loop keep their arrays, and take turns with others.
        let means_it =
            |name: &String| self.lookup(name).is_some_and(|it| array_of(&self.variables[it.0].state) == Some(array));
        let Rebinding { around, past, .. } = &self.flow.rebinding;
        let is_of = |it: &Around| it.copies.contains(&array) || it.names.iter().any(means_it);
        let loops: BTreeSet<Place> = around.iter().chain(past).filter(|it| is_of(it)).map(|it| it.place).collect();
        if !self.bar_copies(|place| loops.contains(&place)) {
            // It stands for another by a way that names do not tell any more.
            self.bar_copies(|_| true);
        }
        let local = self.local(array);
        let (name, first) = (local.name.clone(), local.span);
        Err(self.hindered(name, first, Hindrance::Standing, span))
    }

    /// The next pass makes no copies for these loops; whether this one has.
    fn bar_copies(&mut self, is_of: impl Fn(Place) -> bool) -> bool {
        let Needs { copies, barred, .. } = &mut self.flow.rebinding.found;
        let (seen, kept): (BTreeSet<_>, BTreeSet<_>) =
            std::mem::take(copies).into_iter().partition(|(place, _)| is_of(*place));
        *copies = kept;
        let any = !seen.is_empty();
        barred.extend(seen);
        any
    }
}

pub(in crate::typed) fn unite(standing: &mut Standing, other: Standing) {
    for (variable, originals) in other {
        standing.entry(variable).or_default().extend(originals);
    }
}

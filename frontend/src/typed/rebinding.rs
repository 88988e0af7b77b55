//! Names that loops and branches give new arrays: `u = u .+ dt .* laplacian(u)` in a time loop.
//!
//! ```text
//! u = copy(u0)                          u = copy(u0)
//! for t in 1:steps                      for t in 1:steps
//!     u = u .+ dt .* laplacian(u)  ->       u .= u .+ dt .* laplacian(u)
//! end                                   end
//! ```
//!
//! Behind a path that not every iteration takes alike, a name has to mean one of a few arrays that exist before. So the
//! elements are stored into one that nothing else means any more: the name's own, or one that a name of the loop meant
//! before (`u_old = u; u = u_new` takes turns with two). Where there is none, the function is checked once more with an
//! array of its own for the name before the loop: a copy, where the caller or another name has the first one, or memory to
//! take turns with.

mod standing;

pub(super) use standing::{Standing, unite};

use super::arrays::{ArrayError, Elements, Keeps, Numbers, Operation, Recipe, value_of};
use super::check::{Checked, Checker, Reported};
use super::compare::compare;
use super::meanings::{Meaning, Variants, array_of};
use super::scope::{LIBRARY, Scope, State, Variable, VariableId};
use super::tree::{LocalId, LoopId, Role, SizeError};
use super::tuple_parts::{self, Shape};
use super::value::{RangeValue, Value};
use crate::ast;
use std::collections::{BTreeMap, BTreeSet};
use tessella_diagnostics::Span;
use tessella_scalar::{CompareOp, ScalarType};

/// Memory that a name may need to take turns with.
const MOST_SPARES: usize = 2;
/// Arrays of one size that one `return` inside of a loop gives back.
const MOST_RESULTS: usize = 4;

/// What loops need before they begin.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Needs {
    /// By the loop and the name: the name begins with a copy of its array.
    copies: BTreeSet<(Place, String)>,
    /// Those for which a copy would be seen to be one.
    barred: BTreeSet<(Place, String)>,
    /// By the loop and the name: so many more arrays like the name's.
    spares: BTreeMap<(Place, String), usize>,
    /// By the loop: names that an iteration leaves with a copy, so that the next one may begin with it.
    standing: BTreeSet<(Place, String)>,
    /// By the loop and the name: so many arrays as large as the name's, of such elements, for what a `return` inside gives back.
    results: BTreeMap<(Place, String, Numbers, ScalarType), usize>,
    /// By the function and the name: tuples whose elements get names of their own.
    tuples: BTreeMap<(Place, String), Shape>,
    /// Whether tuples and calls stay as they are written, for the messages about them.
    as_written: bool,
}

impl Needs {
    /// Has the next pass leave tuples and calls as they are written; `false` if the last one did.
    pub(super) fn leave_as_written(&mut self) -> bool {
        !std::mem::replace(&mut self.as_written, true)
    }
}

/// A loop of the source.
type Place = (u32, u32);

fn place(span: Span) -> Place {
    (span.start, span.end)
}

/// Why a name cannot be given another array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hindrance {
    /// It holds a number, or something else that is no array.
    NoArray,
    /// The elements are of another type.
    Type,
    /// It has another number of dimensions.
    Dimensions,
    /// Julia makes another kind of array of it.
    Container,
    /// The caller or another name has the array that the name means before.
    Shared,
    /// It may still be the caller's array, or another name's, that something is stored into or that is given back.
    Standing,
    /// A part of the new array has a name of its own.
    Parts,
}

/// The state of names that are given new arrays.
#[derive(Debug, Default)]
pub(super) struct Rebinding {
    /// What an earlier pass over the function has found.
    needs: Needs,
    /// With what this pass has found.
    found: Needs,
    /// The loops around that [`Checker::announce_renaming`] has seen, outermost first.
    around: Vec<Around>,
    /// Those that it has left.
    past: Vec<Around>,
    standing: Standing,
    /// Values that names are given next, by the same assignment.
    in_flight: Vec<Value>,
    /// What all values of that assignment stood for before it.
    flying: Vec<(State, BTreeSet<LocalId>)>,
    /// Arrays whose elements were stored into others, by the same assignment.
    moved: BTreeMap<LocalId, LocalId>,
    /// What names may mean on other paths to the statement being checked, which need not tell them apart.
    aside: Vec<Meaning>,
    /// The scopes of the functions that call the one being checked.
    suspended: Vec<Vec<Scope>>,
    /// Whether elements are being stored on behalf of an assignment to a name.
    storing: bool,
    /// The whole function.
    function: Place,
    /// The arrays whose elements the `return` being checked gives back, each with that of [`Around::results`] that has them then.
    filled: Vec<(LocalId, LocalId)>,
}

#[derive(Debug)]
struct Around {
    place: Place,
    /// The loops around the whole statement.
    depth: usize,
    /// The block of the statement, as a number of open blocks.
    block: usize,
    /// What the body assigns.
    names: BTreeSet<String>,
    /// Arrays that names got for it, and those to take turns with.
    copies: Vec<LocalId>,
    spares: Vec<LocalId>,
    /// Arrays for what is given back from inside.
    results: Vec<(LocalId, Numbers)>,
    /// What names of arrays mean before it.
    meanings: Meaning,
    /// Whether it is over one range that is known before.
    is_range: bool,
    /// Where a name got a copy: the loop must run, since the name keeps the caller's array otherwise.
    must_run: bool,
    /// Whether it is known to run.
    runs: bool,
    /// What stands for others where the loop is left before its end.
    left: Standing,
}

/// What [`Rebinding`] knows of variables and arrays by their numbers.
pub(super) struct BeforeTrial {
    standing: Standing,
    past: usize,
    moved: BTreeMap<LocalId, LocalId>,
    filled: Vec<(LocalId, LocalId)>,
}

impl Rebinding {
    /// Before something is evaluated whose variables and arrays are forgotten.
    pub(super) fn before_trial(&self) -> BeforeTrial {
        let Rebinding { standing, past, moved, filled, .. } = self;
        BeforeTrial { standing: standing.clone(), past: past.len(), moved: moved.clone(), filled: filled.clone() }
    }

    /// After it.
    pub(super) fn after_trial(&mut self, before: BeforeTrial) {
        self.past.truncate(before.past);
        (self.standing, self.moved, self.filled) = (before.standing, before.moved, before.filled);
    }

    /// Before a pass over the function.
    pub(super) fn expect(&mut self, needs: &Needs) {
        (self.needs, self.found) = (needs.clone(), needs.clone());
    }

    /// After it: what loops need that it has not made.
    pub(super) fn more_needs(&mut self) -> Option<Needs> {
        let found = std::mem::take(&mut self.found);
        (found != self.needs).then_some(found)
    }
}

impl Checker<'_> {
    /// Before a loop whose body assigns the names: makes the arrays that an earlier pass has found it to need.
    pub(super) fn prepare_rebinding(&mut self, names: &[String], span: Span) {
        let place = place(span);
        let (mut copies, mut spares, mut results, mut must_run) = (vec![], vec![], vec![], false);
        for name in names.iter().collect::<BTreeSet<_>>() {
            let key = (place, name.clone());
            let Some(variable) = self.lookup(name) else { continue };
            if self.flow.rebinding.needs.copies.contains(&key)
                && self.is_straight(variable)
                && let Some(own) = self.array_elements(variable, span)
            {
                let mut originals: BTreeSet<LocalId> =
                    array_of(&self.variables[variable.0].state).into_iter().collect();
                originals.extend(self.stands_for(&self.variables[variable.0].state));
                let copy = self.copied(own, span);
                let first = self.variables[variable.0].span;
                if self.bind_elements(variable, copy, first, span).is_ok() {
                    self.flow.rebinding.standing.insert(variable, originals);
                    copies.extend(array_of(&self.variables[variable.0].state));
                    must_run = true;
                }
            }
            for _ in 0..self.flow.rebinding.needs.spares.get(&key).copied().unwrap_or(0) {
                let Some(own) = self.array_elements(variable, span) else { continue };
                let like = Elements { recipe: Recipe::Undefined, ..own };
                spares.extend(self.materialize(name, &like, span).ok());
            }
        }
        for ((of, name, numbers, element), count) in self.flow.rebinding.needs.results.clone() {
            if of == place
                && let Some(variable) = self.lookup(&name)
                && let Some(own) = self.array_elements(variable, span)
            {
                let like = Elements { recipe: Recipe::Undefined, numbers, element, ..own };
                let made = (0..count).filter_map(|_| self.materialize("result", &like, span).ok());
                results.extend(made.map(|it| (it, numbers)));
            }
        }
        let known: BTreeSet<LocalId> = self.flow.rebinding.standing.values().flatten().copied().collect();
        for name in names {
            if self.flow.rebinding.needs.standing.contains(&(place, name.clone()))
                && let Some(variable) = self.lookup(name)
            {
                self.flow.rebinding.standing.entry(variable).or_default().extend(&known);
            }
        }
        let around = Around {
            place,
            depth: self.loops.len(),
            block: self.blocks.len(),
            names: names.iter().cloned().collect(),
            copies,
            spares,
            results,
            meanings: self.array_names(self.variables.len()),
            is_range: false,
            must_run,
            runs: false,
            left: Standing::new(),
        };
        self.flow.rebinding.around.push(around);
    }

    /// Before the function is checked.
    pub(super) fn begin_rebinding(&mut self, function: &ast::Function) {
        self.flow.rebinding.function = place(function.span);
    }

    /// The function, with names for the elements of tuples that an earlier pass has found to need them.
    pub(super) fn with_parts(&self, function: ast::Function) -> ast::Function {
        let of = place(function.span);
        if self.is_as_written() {
            return function;
        }
        let tuples = self.flow.rebinding.needs.tuples.iter().filter(|((function, _), _)| *function == of);
        tuples.fold(function, |function, ((_, name), shape)| {
            tuple_parts::split(&function, name, shape).unwrap_or(function)
        })
    }

    /// Whether tuples and calls stay as they are written.
    pub(super) fn is_as_written(&self) -> bool {
        self.flow.rebinding.needs.as_written
    }

    /// A tuple is assigned to a name that means another one by now, and not on every path.
    pub(super) fn ask_for_parts(&mut self, name: &str, value: &Value) {
        let (count, fields) = match value {
            Value::Tuple(values) => (values.len(), None),
            Value::Named(names, values) => (values.len(), Some(names.clone())),
            _ => return,
        };
        let function = self.calls.last().map_or(self.flow.rebinding.function, |call| place(call.definition));
        if count > 0 && !self.is_as_written() {
            self.flow.rebinding.found.tuples.insert((function, name.to_string()), Shape { count, fields });
        }
    }

    /// Before a `return` gives back a value from inside of a loop.
    pub(super) fn begin_result(&mut self) {
        self.flow.rebinding.filled.clear();
    }

    /// What an iteration made, `from` where it is an array, for a `return` to give back: stored into an array that was there before the loops that it leaves, down
    /// to those around `variable`. `None` where no array from before them tells its size.
    pub(super) fn outliving(
        &mut self,
        variable: VariableId,
        (elements, from): (Elements, Option<LocalId>),
        span: Span,
    ) -> Checked<Option<Value>> {
        let Some(around) = self.outermost(variable) else { return Ok(None) };
        let (place, results, meanings) = (around.place, around.results.clone(), around.meanings.clone());
        let is_as_large = |whole: &Elements| {
            whole.rank() == elements.rank()
                && whole.extents.iter().zip(&elements.extents).all(|(a, b)| super::arrays::same(a, b))
        };
        let fits = |whole: &Elements| {
            (whole.numbers, whole.element) == (elements.numbers, elements.element) && is_as_large(whole)
        };
        let filled = &self.flow.rebinding.filled;
        if let Some((_, target)) = filled.iter().find(|(it, _)| Some(*it) == from) {
            return Ok(Some(value_of(elements.numbers, *target)));
        }
        let is_free = |it: &LocalId| !filled.iter().any(|(_, target)| target == it);
        let whole = |(array, numbers)| (array, self.whole_of(numbers, array, Keeps::View, span));
        let mut made = results.into_iter().filter(|(it, _)| is_free(it)).map(whole);
        let Some((target, whole)) = made.find(|(_, whole)| fits(whole)) else {
            let of_name = |(variable, array): &(VariableId, LocalId)| {
                let Variable { name, state, .. } = &self.variables[variable.0];
                let numbers = numbers_of(state);
                let is_meant = self.lookup(name) == Some(*variable);
                (is_meant && is_as_large(&self.whole_of(numbers, *array, Keeps::View, span))).then(|| name.clone())
            };
            let Some(model) = meanings.iter().find_map(of_name) else { return Ok(None) };
            let key = (place, model.clone(), elements.numbers, elements.element);
            let count = self.flow.rebinding.needs.results.get(&key).copied().unwrap_or(0);
            if count >= MOST_RESULTS {
                return Ok(None);
            }
            self.flow.rebinding.found.results.insert(key, count + 1);
            // Another pass follows, in which the array is there.
            return Err(self.hindered(model, span, Hindrance::Shared, span));
        };
        self.flow.rebinding.filled.push((from.unwrap_or(target), target));
        let numbers = elements.numbers;
        let storing = std::mem::replace(&mut self.flow.rebinding.storing, true);
        let stored = self.store_all(&whole, elements, span, span);
        self.flow.rebinding.storing = storing;
        stored.map(|_| Some(value_of(numbers, target)))
    }

    /// After the loop.
    pub(super) fn finish_rebinding(&mut self) {
        let past = self.flow.rebinding.around.pop();
        self.flow.rebinding.past.extend(past);
    }

    /// Where the range of the innermost loop statement is known, if it has no other: that it is not empty, where it must run.
    pub(super) fn require_run(&mut self, range: &RangeValue, span: Span) -> Checked<()> {
        let Some(around) = self.flow.rebinding.around.last_mut() else { return Ok(()) };
        if around.depth != self.loops.len() {
            return Ok(());
        }
        around.is_range = true;
        if !std::mem::take(&mut around.must_run) {
            return Ok(());
        }
        around.runs = true;
        let (low, high) = match range.step > 0 {
            true => (range.start.clone(), range.stop.clone()),
            false => (range.stop.clone(), range.start.clone()),
        };
        let runs = compare(CompareOp::Le, low.placed(span), high.placed(span), span);
        let text = "the loop does not run, and an array that it gives another name stays the caller's";
        self.require(runs, SizeError::Thrown, text, span)
    }

    /// Keeps the scopes of a caller in sight while `check` looks at the function that it calls.
    pub(super) fn suspending<T>(&mut self, scopes: Vec<Scope>, check: impl FnOnce(&mut Self) -> T) -> T {
        self.flow.rebinding.suspended.push(scopes);
        let result = check(self);
        self.flow.rebinding.suspended.pop();
        result
    }

    /// Keeps in mind what these values stand for while names are given them.
    pub(super) fn while_flying<T>(&mut self, values: &[Value], bind: impl FnOnce(&mut Self) -> T) -> T {
        let states = values.iter().map(|value| match value {
            Value::Array(array) => State::Array(*array),
            other => State::Alias(other.clone()),
        });
        let flying: Vec<_> = states.map(|state| (self.stands_for(&state), state)).collect();
        let flying = flying.into_iter().filter(|(originals, _)| !originals.is_empty()).map(|(of, state)| (state, of));
        let before = self.flow.rebinding.flying.len();
        self.flow.rebinding.flying.extend(flying);
        let result = bind(self);
        self.flow.rebinding.flying.truncate(before);
        result
    }

    /// What names may mean on other paths that lead here.
    fn alternatives(&self) -> impl Iterator<Item = &(VariableId, LocalId)> {
        let pending = self.flow.pending.iter().flat_map(|pending| &pending.meanings);
        pending.chain(&self.flow.rebinding.aside).flatten()
    }

    /// Keeps in sight what names may mean on other paths while `check` looks at a statement that they all lead to.
    pub(super) fn beside<T>(&mut self, others: Option<&Variants>, check: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.flow.rebinding.aside.len();
        self.flow.rebinding.aside.extend(others.iter().flat_map(|others| &others.meanings).cloned());
        let result = check(self);
        self.flow.rebinding.aside.truncate(before);
        result
    }

    /// Tells an assignment to several names which values come after the one at hand.
    pub(super) fn values_in_flight(&mut self, values: Vec<Value>) {
        self.flow.rebinding.in_flight = values;
    }

    /// Before a statement that assigns names.
    pub(super) fn forget_moved(&mut self) {
        self.flow.rebinding.moved.clear();
        self.flow.rebinding.in_flight.clear();
    }

    /// The array that has the elements of this one now.
    pub(super) fn moved_to(&self, array: LocalId) -> LocalId {
        self.flow.rebinding.moved.get(&array).copied().unwrap_or(array)
    }

    /// Whether the array was made by an iteration of a loop that the variable's scope is around of.
    pub(super) fn is_made_inside(&self, array: LocalId, variable: VariableId) -> bool {
        let (Role::Variable(owner) | Role::Value(owner)) = self.local(array).role else { return false };
        self.made.contains_key(&array) && self.depth_of(owner) > self.depth_of(self.variables[variable.0].owner)
    }

    /// How many loops are around what belongs to this one.
    fn depth_of(&self, owner: Option<LoopId>) -> usize {
        owner.and_then(|owner| self.loops.iter().position(|it| *it == owner)).map_or(0, |at| at + 1)
    }

    fn array_elements(&self, variable: VariableId, span: Span) -> Option<Elements> {
        match &self.variables[variable.0].state {
            State::Array(array) => self.as_elements(&Value::Array(*array), span),
            State::Alias(value @ Value::ComplexArray(_)) => self.as_elements(value, span),
            State::Alias(_) | State::Unassigned | State::Scalar(_) | State::Complex(..) | State::Poisoned => None,
        }
    }

    fn hindered(&mut self, name: String, first: Span, why: Hindrance, span: Span) -> Reported {
        self.array_error(ArrayError::Rebound { name, first, why, span })
    }

    /// `name = elements` where the name means an array that other paths or iterations know: stores the elements into an
    /// array that nothing else means.
    pub(super) fn take_over(&mut self, variable: VariableId, elements: Elements, span: Span) -> Checked<Value> {
        let (name, first) = (self.variables[variable.0].name.clone(), self.variables[variable.0].span);
        let Some((own, array)) = self.array_elements(variable, span).zip(array_of(&self.variables[variable.0].state))
        else {
            return Err(self.hindered(name, first, Hindrance::NoArray, span));
        };
        let why = if (own.numbers, own.element) != (elements.numbers, elements.element) {
            Some(Hindrance::Type)
        } else if own.rank() != elements.rank() {
            Some(Hindrance::Dimensions)
        } else if self.container(&elements) != self.other_containers.get(&array).copied() {
            Some(Hindrance::Container)
        } else {
            None
        };
        if let Some(why) = why {
            return Err(self.hindered(name, first, why, span));
        }
        let target = match self.free_array(variable, array, &own) {
            Some(target) => target,
            None if self.depth_of(self.variables[variable.0].owner) == self.loops.len() => {
                let like = Elements { recipe: Recipe::Undefined, ..elements.clone() };
                self.materialize(&name, &like, span)?
            }
            None => {
                self.ask_for_array(variable, array);
                return Err(self.hindered(name, first, Hindrance::Shared, span));
            }
        };
        let whole = self.whole_of(own.numbers, target, Keeps::View, span);
        for (place, new) in whole.extents.iter().zip(&elements.extents) {
            self.same_extent_or(
                place,
                new,
                ("an array of another size takes the place of one", SizeError::Thrown),
                span,
            )?;
        }
        let from = match &elements.recipe {
            Recipe::Part(part) if part.keeps == Keeps::Fresh => Some(part.array),
            _ => None,
        };
        if let Some(from) = from
            && self.has_named_parts(from)
        {
            return Err(self.hindered(name, first, Hindrance::Parts, span));
        }
        if !matches!(elements.recipe, Recipe::Undefined) {
            let storing = std::mem::replace(&mut self.flow.rebinding.storing, true);
            let stored = self.store_all(&whole, elements, span, span);
            self.flow.rebinding.storing = storing;
            stored?;
        }
        // Nothing that means it by now can be reached any more.
        let variables = &self.variables;
        self.flow.rebinding.standing.retain(|it, _| {
            *it != variable && variables.get(it.0).is_some_and(|it| array_of(&it.state) != Some(target))
        });
        for (state, originals) in &mut self.flow.rebinding.flying {
            if array_of(state) == Some(target) {
                originals.clear();
            }
        }
        if let Some(from) = from {
            self.flow.rebinding.moved.insert(from, target);
            // Other names for the new array mean it where it is now.
            let names = self.array_names(self.variables.len()).into_iter();
            let names: Meaning = names.filter(|(_, array)| *array == from).map(|(it, _)| (it, target)).collect();
            self.set_names(&names);
        }
        self.set_names(&[(variable, target)]);
        Ok(value_of(own.numbers, target))
    }

    /// An array like the variable's that nothing but the variable means.
    fn free_array(&self, variable: VariableId, own: LocalId, like: &Elements) -> Option<LocalId> {
        let owner = self.variables[variable.0].owner;
        let is_of_scope = |array: LocalId| {
            let (Role::Variable(made) | Role::Value(made)) = self.local(array).role else { return false };
            self.made.contains_key(&array) && made == owner
        };
        let is_alike = |array: LocalId| {
            self.local(array).ty == self.local(own).ty
                && self.other_containers.get(&array) == self.other_containers.get(&own)
        };
        let is_as_large = |array: LocalId| {
            let other = self.whole_of(like.numbers, array, Keeps::View, like.span);
            other.extents.iter().zip(&like.extents).all(|(a, b)| super::arrays::same(a, b))
        };
        let live = self.live_variables();
        let is_free = |array: LocalId| {
            let is_meant = |it: &VariableId| *it != variable && refers(&self.variables[it.0].state, array);
            let mut alternatives = self.alternatives().filter(|(it, _)| *it != variable);
            is_of_scope(array)
                && !live.iter().any(is_meant)
                && !alternatives.any(|(_, other)| *other == array)
                && !self.flow.rebinding.in_flight.iter().any(|value| value_refers(value, array))
        };
        if is_free(own) {
            return Some(own);
        }
        let around = self.outermost(variable)?;
        let named = |meaning: &Meaning| -> Vec<LocalId> {
            let of_loop = |it: &VariableId| {
                let variable = &self.variables[it.0];
                around.names.contains(&variable.name) && self.lookup(&variable.name) == Some(*it)
            };
            meaning.iter().filter(|(it, _)| of_loop(it)).map(|(_, array)| *array).collect()
        };
        let renamings = self.flow.renamings.iter().flatten().flat_map(|renaming| &renaming.meanings);
        let before = std::iter::once(&around.meanings).chain(renamings).flat_map(named);
        let candidates: Vec<LocalId> = before.chain(around.spares.iter().copied()).collect();
        let mut fitting = candidates.into_iter().filter(|&array| is_alike(array) && is_free(array));
        let large = fitting.clone().find(|&array| is_as_large(array));
        // A copy of an argument of which only the call tells how large it is.
        large.or_else(|| fitting.find(|array| around.copies.contains(array)))
    }

    /// The outermost loop inside the variable's scope.
    fn outermost(&self, variable: VariableId) -> Option<&Around> {
        let depth = self.depth_of(self.variables[variable.0].owner);
        self.flow.rebinding.around.iter().find(|around| around.depth >= depth)
    }

    /// Notes what the loop needs before it, so that the variable gets a free array in the next pass.
    fn ask_for_array(&mut self, variable: VariableId, own: LocalId) {
        let Some(around) = self.outermost(variable) else { return };
        let name = &self.variables[variable.0].name;
        let is_own = |array: LocalId| self.made.contains_key(&array);
        let live = self.live_variables();
        // A name that the loop gives other arrays shares this one at the beginning only.
        let is_of_loop = |it: VariableId| {
            let name = &self.variables[it.0].name;
            around.names.contains(name) && self.lookup(name) == Some(it)
        };
        let stays = |it: &VariableId| live.contains(it) && !is_of_loop(*it);
        let is_shared = |it: VariableId, array: LocalId| {
            around.meanings.iter().any(|(other, meant)| *other != it && *meant == array && stays(other))
                || live.iter().any(|other| match &self.variables[other.0].state {
                    State::Alias(Value::Elements(elements)) => elements_refer(elements, array),
                    _ => false,
                })
        };
        let Needs { barred, spares, .. } = &self.flow.rebinding.needs;
        let key = (around.place, name.clone());
        let mut copies = vec![];
        // Only what every iteration does, the first one, too, is done to a copy as well.
        let is_always = self.blocks.len() == around.block + 1 && around.is_range;
        if is_always && (!is_own(own) || is_shared(variable, own)) && !barred.contains(&key) {
            copies.push(key);
            for &(other, array) in &around.meanings {
                let key = (around.place, self.variables[other.0].name.clone());
                if is_of_loop(other) && !is_own(array) && !barred.contains(&key) {
                    copies.push(key);
                }
            }
            self.flow.rebinding.found.copies.extend(copies);
        } else {
            let count = spares.get(&key).copied().unwrap_or(0);
            if count < MOST_SPARES {
                self.flow.rebinding.found.spares.insert(key, count + 1);
            }
        }
    }

    fn has_named_parts(&self, array: LocalId) -> bool {
        self.live_variables().iter().any(|it| match &self.variables[it.0].state {
            // A name for the whole of it.
            state if array_of(state).is_some() => false,
            state => refers(state, array),
        }) || self.flow.rebinding.in_flight.iter().any(|value| match value {
            Value::Array(_) | Value::ComplexArray(_) => false,
            other => value_refers(other, array),
        })
    }

    /// The variables that statements may still name.
    fn live_variables(&self) -> BTreeSet<VariableId> {
        let mut live = BTreeSet::new();
        let mut functions = BTreeSet::new();
        let all = self.flow.rebinding.suspended.iter().flatten().chain(&self.scopes);
        let mut pending: Vec<VariableId> = all.flat_map(|scope| scope.values().copied()).collect();
        while let Some(variable) = pending.pop() {
            if variable == LIBRARY || !live.insert(variable) {
                continue;
            }
            // A function of the function keeps the names around it.
            if let Some(at) = closure_of(&self.variables[variable.0].state)
                && functions.insert(at)
                && let Some(closure) = self.closures.get(at)
            {
                pending.extend(closure.scopes.iter().flat_map(|scope| scope.values().copied()));
            }
        }
        live
    }
}

/// Of a name of an array.
fn numbers_of(state: &State) -> Numbers {
    match state {
        State::Alias(Value::ComplexArray(_)) => Numbers::Complex,
        _ => Numbers::Real,
    }
}

fn closure_of(state: &State) -> Option<usize> {
    match state {
        State::Alias(Value::Function(super::inline::Callee::Closure(at))) => Some(*at),
        _ => None,
    }
}

fn refers(state: &State, array: LocalId) -> bool {
    match state {
        State::Array(other) => *other == array,
        State::Alias(value) => value_refers(value, array),
        State::Unassigned | State::Scalar(_) | State::Complex(..) | State::Poisoned => false,
    }
}

fn value_refers(value: &Value, array: LocalId) -> bool {
    match value {
        Value::Array(other) | Value::ComplexArray(other) => *other == array,
        Value::Elements(elements) => elements_refer(elements, array),
        Value::Tuple(values) | Value::Named(_, values) => values.iter().any(|value| value_refers(value, array)),
        Value::Scalar(_)
        | Value::Irrational(..)
        | Value::Complex(_)
        | Value::ComplexType(_)
        | Value::Range(_)
        | Value::Type(_)
        | Value::Position(_)
        | Value::Places(_)
        | Value::Function(_)
        | Value::Nothing
        | Value::Never => false,
    }
}

fn elements_refer(elements: &Elements, array: LocalId) -> bool {
    let refer = |elements: &Elements| elements_refer(elements, array);
    match &elements.recipe {
        Recipe::Part(part) => part.array == array,
        Recipe::Fill(value) | Recipe::Scalar(value) => value_refers(value, array),
        Recipe::Apply { operands, operation } => matches!(operation, Operation::User(_)) || operands.iter().any(refer),
        Recipe::Transposed(inner) | Recipe::Row(inner) | Recipe::Slices { of: inner, .. } => refer(inner),
        Recipe::Rows(parts) => parts.iter().any(refer),
        Recipe::Numbering(_) | Recipe::Range(_) | Recipe::Undefined => false,
        // What the body names may be anything.
        Recipe::Comprehension { .. } => true,
    }
}

//! Whether readers see the values that are wanted, from what is written in between.
//!
//! A value of the original is that of an element at a moment: a reader wants one, and a write of the new program stands for one. Two
//! moments have the same value of an element where the original does not write the element between them. So it is enough that for
//! each reader, and each write of what it reads before it,
//!
//! * the write stands for the element that is wanted, and the original writes that element nowhere between the two moments, or
//! * the new program writes over it before the reader looks;
//!
//! and that readers before which nobody writes find in the array what the original has there at the moment. Neither the last write nor the
//! value that is wanted is looked for: these are thousands of pieces where a statement leaves out a point that another one
//! writes, and here all questions are whether conjunctions are empty, or are parts of others. Where this does not
//! settle the matter, [`super::flow`] finds who wrote what.

use super::flow::{Flows, Sink, When, element, reader};
use super::moment::{Sides, before, of_snapshot, without_empty};
use super::prove::repeats;
use super::{Role, Snapshot};
use crate::algorithm::{Access, ArrayId, ComputationId};
use crate::error::Error;
use crate::isl::{Ctx, Map, Set};
use crate::relation;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// Both programs, and what is known of them.
pub(super) struct Between<'a> {
    ctx: &'a Ctx,
    old: &'a Flows<'a>,
    new: &'a Flows<'a>,
    roles: &'a [Role],
    sides: RefCell<BTreeMap<(ComputationId, Edge, ComputationId), Rc<Sides>>>,
    meanings: RefCell<BTreeMap<ComputationId, Option<(ArrayId, Map)>>>,
    repeated: RefCell<BTreeMap<(ComputationId, ComputationId), Map>>,
    /// What was found out of readers of repeated computations.
    asked: RefCell<Vec<Asked>>,
    /// What was found out of writes, by [`Between::question`].
    judged: RefCell<HashMap<Vec<usize>, bool>>,
    /// Whether a computation of the original may write what one of the new program writes.
    touching: RefCell<HashMap<(ComputationId, ComputationId), bool>>,
}

/// A question that was asked, and what came of it.
struct Asked {
    reading: ComputationId,
    array: ArrayId,
    of: ArrayId,
    access: Map,
    element: Map,
    sees: bool,
}

/// The value that a reader wants.
pub(super) struct Wanted {
    pub(super) array: ArrayId,
    /// `{ the reader[x] -> A value[e] }`
    pub(super) element: Map,
    pub(super) moment: Moment,
}

/// When the original has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moment {
    /// Where this computation of the new program stands in it.
    Of(ComputationId),
    /// After all.
    End,
}

/// A moment of an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Edge {
    /// When it has read and not yet written.
    Reads,
    /// When it has written.
    Wrote,
}

/// A writer of what is read, and which of its instances write it before the reader looks: `{ the reader[x] -> W[y] }`, as conjunctions.
struct Earlier {
    writer: ComputationId,
    pairs: Vec<Map>,
}

/// A write, and what may happen to its element until a reader looks.
struct Write<'b> {
    one: &'b Earlier,
    /// What stands for the element that a reader wants, `{ the reader[x] -> W[y] }`, where it writes the array that is wanted.
    same: Option<Map>,
    over: Vec<Over<'b>>,
    /// What changes the element in the original, and when, seen from the write's moment.
    changes: Vec<(&'b Change, Rc<Sides>)>,
}

/// A writer that writes over what a write wrote.
struct Over<'b> {
    writer: ComputationId,
    /// Those of its instances that do so before the reader looks: `{ the reader[x] -> L[y] }`.
    pairs: &'b [Map],
    /// Those that do so after the write: `{ W[y] -> L[z] }`.
    later: Rc<Vec<Map>>,
}

/// A writer in the original of what is wanted: `{ the reader[x] -> V[z] }`, as conjunctions.
struct Change {
    writer: ComputationId,
    sides: Sides,
}

impl<'a> Between<'a> {
    pub(super) fn new(ctx: &'a Ctx, old: &'a Flows<'a>, new: &'a Flows<'a>, roles: &'a [Role]) -> Between<'a> {
        Between {
            ctx,
            old,
            new,
            roles,
            sides: RefCell::default(),
            meanings: RefCell::default(),
            repeated: RefCell::default(),
            asked: RefCell::default(),
            judged: RefCell::default(),
            touching: RefCell::default(),
        }
    }

    /// The elements that a computation of the new program stands for copies of: `{ the reader[x] -> A value[e] }`.
    pub(super) fn copied(&self, id: ComputationId, snapshot: &Snapshot) -> Result<Map, Error> {
        reader(self.ctx, self.snapshot(id, snapshot)?)
    }

    /// The elements that repeated instances read in the original: `{ the reader[x] -> A value[e] }`.
    pub(super) fn read_again(&self, id: ComputationId, of: ComputationId, theirs: &Access) -> Result<Map, Error> {
        let (ctx, original) = (self.ctx, self.old.algorithm);
        let read = element(ctx, original, theirs.array, relation::access(ctx, original, of, theirs)?)?;
        reader(ctx, self.repeats(id, of)?.apply_range(&self.old.narrow(read)?)?)
    }

    /// Whether each reader of an array certainly sees the value that is wanted. Dozens of statements of one nest ask for the same.
    pub(super) fn sees(&self, array: ArrayId, sink: &Sink, wanted: &Wanted) -> Result<bool, Error> {
        let (When::Instance(reading), Moment::Of(_)) = (sink.when, wanted.moment) else {
            return self.surely_sees(array, sink, wanted);
        };
        for it in self.asked.borrow().iter() {
            if it.array == array
                && it.of == wanted.array
                && self.stand_alike(it.reading, reading, array, wanted.array)
                && it.access.is_plainly_equal(&sink.access)?
                && it.element.is_plainly_equal(&wanted.element)?
            {
                return Ok(it.sees);
            }
        }
        let sees = self.surely_sees(array, sink, wanted)?;
        let (access, element) = (sink.access.clone(), wanted.element.clone());
        self.asked.borrow_mut().push(Asked { reading, array, of: wanted.array, access, element, sees });
        Ok(sees)
    }

    /// Whether two computations repeat some that stand alike among the writers of an array, and stand alike themselves among those of what they read.
    fn stand_alike(&self, one: ComputationId, other: ComputationId, array: ArrayId, of: ArrayId) -> bool {
        match (&self.roles[one.0 as usize], &self.roles[other.0 as usize]) {
            (Role::Repeats(first), Role::Repeats(second)) => {
                self.new.stand_alike(one, other, array) && self.old.stand_alike(*first, *second, of)
            }
            _ => false,
        }
    }

    fn surely_sees(&self, array: ArrayId, sink: &Sink, wanted: &Wanted) -> Result<bool, Error> {
        let reading = match sink.when {
            When::Instance(id) => Some(id),
            When::End => None,
            When::Else => return Ok(false),
        };
        let who = wanted.element.domain()?;
        if !who.is_subset(&sink.access.domain()?)? {
            return Ok(false);
        }
        let earlier = self.earlier(array, sink, reading, &who)?;
        let mut changes = vec![];
        for (writer, stored) in self.old.writers(wanted.array) {
            let writes = wanted.element.apply_range(&stored.reverse()?)?;
            if writes.is_empty()? {
                continue;
            }
            let sides = match wanted.moment {
                Moment::End => Sides { before: vec![writes], after: vec![] },
                Moment::Of(id) => {
                    let all = self.sides(id, Edge::Reads, *writer)?;
                    let narrow = |maps: &[Map]| -> Result<Vec<Map>, Error> {
                        maps.iter().map(|it| Ok(writes.intersect(&reader(self.ctx, it.clone())?)?)).collect()
                    };
                    Sides { before: without_empty(narrow(&all.before)?)?, after: without_empty(narrow(&all.after)?)? }
                }
            };
            if !sides.before.is_empty() || !sides.after.is_empty() {
                changes.push(Change { writer: *writer, sides });
            }
        }
        if !self.starts_right(array, sink, wanted, &who, &earlier, &changes)? {
            return Ok(false);
        }
        for one in &earlier {
            if !self.is_right(wanted, one, &earlier, &changes)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether readers that see what an array holds at the beginning want that.
    fn starts_right(
        &self,
        array: ArrayId,
        sink: &Sink,
        wanted: &Wanted,
        who: &Set,
        earlier: &[Earlier],
        changes: &[Change],
    ) -> Result<bool, Error> {
        let mut late = vec![];
        for pairs in earlier.iter().flat_map(|it| &it.pairs) {
            late.push(pairs.domain()?);
        }
        // Elements of an array that only the new program has are none of the original's.
        if array != wanted.array || !wanted.element.is_subset(&sink.access)? {
            return within_sets(who, &late);
        }
        for before in changes.iter().flat_map(|it| &it.sides.before) {
            if !within_sets(&before.domain()?, &late)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a write stands for what a reader wants, wherever nobody writes over it before that. Statements that stand alike, one for each of several
    /// fields, ask the same of arrays of other names.
    fn is_right(&self, wanted: &Wanted, one: &Earlier, earlier: &[Earlier], changes: &[Change]) -> Result<bool, Error> {
        let Some((array, meaning)) = self.meaning(one.writer)? else { return Ok(false) };
        let is_of_array = array == wanted.array;
        let mut over = vec![];
        for it in earlier {
            let later = self.new.rewrites(one.writer, it.writer)?;
            if !later.is_empty() {
                over.push(Over { writer: it.writer, pairs: &it.pairs, later });
            }
        }
        let mut near = vec![];
        for it in changes {
            if is_of_array && self.may_change(one.writer, &meaning, it.writer)? {
                near.push((it, self.sides(one.writer, Edge::Wrote, it.writer)?));
            }
        }
        let same = is_of_array.then(|| wanted.element.apply_range(&meaning.reverse()?)).transpose()?;
        let write = Write { one, same, over, changes: near };
        let question = self.question(&write)?;
        if let Some(&known) = self.judged.borrow().get(&question) {
            return Ok(known);
        }
        let is_right = self.judge(&write)?;
        self.judged.borrow_mut().insert(question, is_right);
        Ok(is_right)
    }

    /// All that [`Between::judge`] looks at, but for names.
    fn question(&self, write: &Write<'_>) -> Result<Vec<usize>, Error> {
        let mut all = vec![];
        let add = |maps: &[Map], all: &mut Vec<usize>| -> Result<(), Error> {
            all.push(maps.len());
            for map in maps {
                all.push(self.ctx.shape_of(map)?);
            }
            Ok(())
        };
        add(&write.one.pairs, &mut all)?;
        add(write.same.as_slice(), &mut all)?;
        all.push(write.over.len());
        for it in &write.over {
            add(it.pairs, &mut all)?;
            add(&it.later, &mut all)?;
        }
        for (change, sides) in &write.changes {
            for side in [&change.sides, sides] {
                add(&side.before, &mut all)?;
                add(&side.after, &mut all)?;
            }
            for it in &write.over {
                let again = self.is_again(it, change).then(|| self.repeats(it.writer, change.writer)).transpose()?;
                add(again.as_slice(), &mut all)?;
            }
        }
        Ok(all)
    }

    fn judge(&self, write: &Write<'_>) -> Result<bool, Error> {
        let mut over: Option<Vec<Map>> = None;
        let mut wrong = vec![];
        match &write.same {
            None => wrong.extend(write.one.pairs.iter().cloned()),
            Some(same) => {
                for pairs in &write.one.pairs {
                    if !pairs.is_subset(same)? {
                        wrong.push(pairs.subtract(same)?);
                    }
                }
            }
        }
        for pairs in &wrong {
            let over = known_or(&mut over, || write.written_over())?;
            if !within(pairs, over)? {
                return Ok(false);
            }
        }
        for (change, sides) in &write.changes {
            let mut again: Option<Vec<Map>> = None;
            for between in changed_between(write.one, change, sides)? {
                let again = known_or(&mut again, || self.written_again(write, change))?;
                if within_one(&between, again)? {
                    continue;
                }
                let over = known_or(&mut over, || write.written_over())?;
                if !within(&between.range_factor_domain()?, over)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Whether a computation of the original may write an element that a write stands for.
    fn may_change(&self, one: ComputationId, meaning: &Map, change: ComputationId) -> Result<bool, Error> {
        if let Some(&known) = self.touching.borrow().get(&(one, change)) {
            return Ok(known);
        }
        let array = self.old.algorithm.computation(change).write.array;
        let stored = self.old.writers(array).iter().find(|(writer, _)| *writer == change);
        let (_, stored) = stored.expect("what changes an array is one of its writers");
        let may = !meaning.range()?.is_disjoint(&stored.range()?)?;
        self.touching.borrow_mut().insert((one, change), may);
        Ok(may)
    }

    /// Whether a writer repeats what changes an element.
    fn is_again(&self, it: &Over<'_>, change: &Change) -> bool {
        self.roles[it.writer.0 as usize] == Role::Repeats(change.writer)
    }

    /// `{ the reader[x] -> [W[y] -> V[z]] }`: a repetition of `V[z]` writes over what `W[y]` wrote.
    fn written_again(&self, write: &Write<'_>, change: &Change) -> Result<Vec<Map>, Error> {
        let mut found = vec![];
        for it in write.over.iter().filter(|it| self.is_again(it, change)) {
            let of = self.repeats(it.writer, change.writer)?;
            for later in it.later.iter() {
                let both = later.reverse()?.range_product(&of)?;
                for pairs in it.pairs {
                    found.push(pairs.apply_range(&both)?);
                }
            }
        }
        Ok(found)
    }

    /// The element that a write stands for, and its array: `{ W[y] -> A value[e] }`; `None` where the subscripts do not tell.
    fn meaning(&self, id: ComputationId) -> Result<Option<(ArrayId, Map)>, Error> {
        if let Some(known) = self.meanings.borrow().get(&id) {
            return Ok(known.clone());
        }
        let found = self.find_meaning(id)?;
        self.meanings.borrow_mut().insert(id, found.clone());
        Ok(found)
    }

    fn find_meaning(&self, id: ComputationId) -> Result<Option<(ArrayId, Map)>, Error> {
        let (ctx, original) = (self.ctx, self.old.algorithm);
        Ok(match &self.roles[id.0 as usize] {
            Role::Repeats(of) => {
                let write = &original.computation(*of).write;
                if !write.is_affine() {
                    return Ok(None);
                }
                let stored = element(ctx, original, write.array, relation::access(ctx, original, *of, write)?)?;
                Some((write.array, self.repeats(id, *of)?.apply_range(&self.old.narrow(stored)?)?))
            }
            Role::Copies(snapshot) => Some((snapshot.array, self.snapshot(id, snapshot)?)),
        })
    }

    /// The elements that copies stand for: `{ W[y] -> A value[e] }`.
    fn snapshot(&self, id: ComputationId, snapshot: &Snapshot) -> Result<Map, Error> {
        let new = self.new.algorithm;
        let elements = relation::functions(self.ctx, new, id, &snapshot.subscripts)?;
        let elements = elements.intersect_domain(&relation::domain(new, id)?)?;
        self.old.narrow(element(self.ctx, self.old.algorithm, snapshot.array, elements)?)
    }

    /// `{ S'[x, k] -> S[x] }` for all instances of a computation that repeats another one's.
    fn repeats(&self, id: ComputationId, of: ComputationId) -> Result<Map, Error> {
        if let Some(known) = self.repeated.borrow().get(&(id, of)) {
            return Ok(known.clone());
        }
        let found = self.old.narrow(repeats(self.ctx, self.old.algorithm, self.new.algorithm, id, of)?)?;
        self.repeated.borrow_mut().insert((id, of), found.clone());
        Ok(found)
    }

    /// When a computation of the original runs, seen from the moments of one of the new program.
    fn sides(&self, id: ComputationId, edge: Edge, other: ComputationId) -> Result<Rc<Sides>, Error> {
        let key = (id, edge, other);
        if let Some(known) = self.sides.borrow().get(&key) {
            return Ok(Rc::clone(known));
        }
        let ctx = self.ctx;
        let found = match &self.roles[id.0 as usize] {
            Role::Copies(snapshot) => of_snapshot(self.old, self.new.algorithm, id, snapshot, other)?,
            Role::Repeats(of) => {
                let instance = self.repeats(id, *of)?;
                let seen = |maps: Vec<Map>| -> Result<Vec<Map>, Error> {
                    maps.into_iter().map(|it| Ok(instance.apply_range(&it)?)).collect()
                };
                let earlier = before(ctx, self.old, other, *of)?.iter().map(Map::reverse).collect::<Result<_, _>>()?;
                let mut sides = Sides { before: seen(earlier)?, after: seen(before(ctx, self.old, *of, other)?)? };
                if other == *of {
                    let side = match edge {
                        Edge::Reads => &mut sides.after,
                        Edge::Wrote => &mut sides.before,
                    };
                    side.push(instance);
                }
                sides
            }
        };
        let found = Rc::new(found);
        self.sides.borrow_mut().insert(key, Rc::clone(&found));
        Ok(found)
    }

    /// All writers of an array, seen from where a computation reads it, or from the end.
    fn earlier(
        &self,
        array: ArrayId,
        sink: &Sink,
        reading: Option<ComputationId>,
        who: &Set,
    ) -> Result<Vec<Earlier>, Error> {
        let (ctx, new) = (self.ctx, self.new);
        let is_narrower = !sink.access.domain()?.is_subset(who)?;
        let access = if is_narrower { sink.access.intersect_domain(who)? } else { sink.access.clone() };
        let mut all = vec![];
        for (writer, stored) in new.writers(array) {
            let same = access.apply_range(&stored.reverse()?)?;
            if same.is_empty()? {
                continue;
            }
            let mut pairs = vec![];
            match reading {
                None => pairs.push(same),
                Some(reading) => {
                    for order in before(ctx, new, *writer, reading)? {
                        pairs.push(same.intersect(&reader(ctx, order.reverse()?)?)?);
                    }
                }
            }
            let pairs = without_empty(pairs)?;
            if !pairs.is_empty() {
                all.push(Earlier { writer: *writer, pairs });
            }
        }
        Ok(all)
    }
}

impl Write<'_> {
    /// `{ the reader[x] -> W[y] }`: some writer writes over what `W[y]` wrote before the reader looks.
    fn written_over(&self) -> Result<Vec<Map>, Error> {
        let mut found = vec![];
        for it in &self.over {
            for later in it.later.iter() {
                for pairs in it.pairs {
                    found.push(pairs.apply_range(&later.reverse()?)?);
                }
            }
        }
        Ok(found)
    }
}

/// `{ the reader[x] -> [W[y] -> V[z]] }`: `V` changes the element between the moments of the two, as conjunctions.
fn changed_between(one: &Earlier, change: &Change, sides: &Sides) -> Result<Vec<Map>, Error> {
    let mut found = vec![];
    for pairs in &one.pairs {
        for (of_reader, of_writer) in [(&change.sides.before, &sides.after), (&change.sides.after, &sides.before)] {
            if of_writer.is_empty() {
                continue;
            }
            for theirs in of_reader {
                let near = pairs.range_product(theirs)?;
                if near.is_empty()? {
                    continue;
                }
                for side in of_writer {
                    for between in near.intersect_range(&side.wrap()?)?.basic_maps()? {
                        found.push(Map::from_basic_map(&between)?);
                    }
                }
            }
        }
    }
    without_empty(found)
}

/// What is known, or becomes so.
fn known_or(known: &mut Option<Vec<Map>>, find: impl FnOnce() -> Result<Vec<Map>, Error>) -> Result<&[Map], Error> {
    if known.is_none() {
        *known = Some(find()?);
    }
    Ok(known.as_deref().expect("it was just found"))
}

/// Whether a map is part of one of these.
fn within_one(map: &Map, all: &[Map]) -> Result<bool, Error> {
    for it in all {
        if map.is_subset(it)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a map is part of what these make together.
fn within(map: &Map, all: &[Map]) -> Result<bool, Error> {
    if map.is_empty()? || within_one(map, all)? {
        return Ok(true);
    }
    let mut together: Option<Map> = None;
    for it in all {
        together = Some(match together {
            None => it.clone(),
            Some(others) => others.union(it)?,
        });
    }
    match together {
        Some(together) => Ok(map.is_subset(&together)?),
        None => Ok(false),
    }
}

/// The same of sets.
fn within_sets(set: &Set, all: &[Set]) -> Result<bool, Error> {
    if set.is_empty()? {
        return Ok(true);
    }
    let mut together: Option<Set> = None;
    for it in all {
        if set.is_subset(it)? {
            return Ok(true);
        }
        together = Some(match together {
            None => it.clone(),
            Some(others) => others.union(it)?,
        });
    }
    match together {
        Some(together) => Ok(set.is_subset(&together)?),
        None => Ok(false),
    }
}

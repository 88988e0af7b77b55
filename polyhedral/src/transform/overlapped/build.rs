//! The program with overlapping tiles.

use super::gpu;
use super::region::{Regions, at_least_zero, instances};
use super::stencil::Stencil;
use super::{loop_mut, names_around};
use crate::affine::{Affine, Atom};
use crate::algorithm::{Access, AccessRef, Array, ArrayId, ArrayKind, Computation, ComputationId, Which};
use crate::error::Error;
use crate::expr::{Expr, ExprKind};
use crate::isl::{Ctx, DimType, Map, Set};
use crate::layers::{Scheduled, Target};
use crate::recompute::Snapshot;
use crate::relation;
use crate::schedule::{Loop, Node, ProcessorAxis, Schedule, Tag};
use crate::storage::footprint::{Hull, hull};
use crate::storage::private::{LoopHead, Short, fresh, nest, walk_box};
use crate::storage::{Limit, check_limit};
use std::collections::BTreeMap;

/// A program, and what its added statements copy.
pub(super) struct Built {
    pub(super) next: Scheduled,
    /// The same order without threads and vectors, simpler to reason about.
    pub(super) plain: Schedule,
    pub(super) copies: Vec<Snapshot>,
}

/// What subscripts become in an instance, given that instance's keys.
type Rewrite<'a> = dyn Fn(&[Affine], Vec<Affine>) -> Result<Vec<Affine>, Error> + 'a;

struct Build<'a> {
    ctx: &'a Ctx,
    stencil: &'a Stencil<'a>,
    regions: &'a Regions,
    next: Scheduled,
    copies: Vec<Snapshot>,
    /// The names of the loops over blocks and tiles.
    names: Vec<String>,
    before: Vec<Whole>,
    loads: Vec<Boxed>,
    stores: Vec<Boxed>,
    after: Vec<Whole>,
}

/// A copy through the places of a tile's box.
struct Boxed {
    id: ComputationId,
    axes: Vec<(String, Affine, i64)>,
}

/// A copy through an array.
struct Whole {
    id: ComputationId,
    /// Name, place from 0.
    axes: Vec<(String, Affine)>,
}

/// Which blocks copy.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Blocks {
    All,
    Even,
    Odd,
    Last,
}

/// The array that a tile has for itself.
struct Local {
    of: ArrayId,
    array: ArrayId,
    hull: Hull,
}

/// Builds the program; nothing about it is believed later.
pub(super) fn build(
    ctx: &Ctx,
    scheduled: &Scheduled,
    stencil: &Stencil<'_>,
    regions: &Regions,
    time: &str,
    loops: &[String],
) -> Result<Built, Error> {
    let mut taken = names_around(&scheduled.schedule, &stencil.path);
    let mut names = vec![];
    for name in std::iter::once(time).chain(loops.iter().map(String::as_str)) {
        let name = fresh(&format!("{name}0"), |name| taken.iter().any(|known| known == name));
        taken.push(name.clone());
        names.push(name);
    }
    let mut build = Build {
        ctx,
        stencil,
        regions,
        next: scheduled.clone(),
        copies: vec![],
        names,
        before: vec![],
        loads: vec![],
        stores: vec![],
        after: vec![],
    };
    build.repeat()?;
    for &array in stencil.arrays.iter().filter(|&&it| !regions.stays(stencil, it)) {
        match scheduled.algorithm.array(array).kind {
            ArrayKind::Private => build.multiply(array)?,
            ArrayKind::Argument | ArrayKind::Local { .. } | ArrayKind::Result | ArrayKind::Returned => {
                build.localise(array)?;
            }
        }
    }
    let team = match scheduled.target {
        Target::Cpu => BTreeMap::new(),
        Target::Gpu => gpu::team(stencil, regions),
    };
    let plain = build.tree(scheduled, &BTreeMap::new(), false)?;
    build.next.schedule = build.tree(scheduled, &team, true)?;
    Ok(Built { next: build.next, plain, copies: build.copies })
}

impl Build<'_> {
    fn keys(&self) -> usize {
        self.regions.keys()
    }

    /// Gives the statements instances in each tile.
    fn repeat(&mut self) -> Result<(), Error> {
        for &id in &self.stencil.statements {
            for name in &self.names {
                let it = &mut self.next.algorithm.computations[id.0 as usize];
                let name = fresh(name, |name| it.iterators.iter().any(|known| known == name));
                it.iterators.push(name);
            }
            let (domain, shorter) = instances(self.ctx, self.stencil, self.regions, &self.next.algorithm, id)?;
            let it = &mut self.next.algorithm.computations[id.0 as usize];
            it.domain = domain;
            it.simd = None;
            for access in it.reads.iter_mut().chain([&mut it.write]) {
                access.checked = false;
                if let Some(within) = &access.within {
                    access.within = Some(shorter.intersect_range(within)?.domain()?);
                }
            }
        }
        Ok(())
    }

    /// The keys as iterators of a statement of the loop.
    fn keys_of(&self, id: ComputationId) -> Vec<Affine> {
        let count = self.stencil.algorithm.computation(id).iterators.len();
        (count..count + self.keys()).map(|at| Affine::iterator(at as u32)).collect()
    }

    /// Rewrites the accesses of the loop's statements to an array.
    fn redirect(&mut self, array: ArrayId, rewrite: &Rewrite<'_>, new: ArrayId) -> Result<(), Error> {
        for &id in &self.stencil.statements {
            let keys = self.keys_of(id);
            let reads = (0..self.next.algorithm.computation(id).reads.len() as u32).map(Which::Read);
            for which in reads.chain([Which::Write]) {
                let at = AccessRef { computation: id, which };
                let access = self.next.algorithm.access(at);
                if access.array == array {
                    let old = access.subscripts.iter().filter_map(|it| it.as_affine().cloned()).collect();
                    let subscripts = rewrite(&keys, old)?.into_iter().map(Into::into).collect();
                    self.next.algorithm.redirect(at, new, subscripts);
                }
            }
        }
        Ok(())
    }

    /// Gives each tile variables of its own.
    fn multiply(&mut self, array: ArrayId) -> Result<(), Error> {
        let source = self.next.algorithm.array(array).clone();
        let rank = source.rank + self.keys() as u32;
        let new = self.add_array(Array { name: format!("{}_tile", source.name), rank, ..source });
        self.redirect(array, &|keys, old| Ok(old.into_iter().chain(keys.iter().cloned()).collect()), new)
    }

    /// Gives each tile a part of an array for itself, and adds the copies to and from it.
    fn localise(&mut self, array: ArrayId) -> Result<(), Error> {
        let ctx = self.ctx;
        let carried = self.regions.halos.carried.contains(&array);
        let written = self.regions.handed[&array].clone();
        // { [block, tile...] -> A[e] }
        let (mut touched, mut read): (Option<Map>, Option<Map>) = (None, None);
        for &id in &self.stencil.statements {
            let it = self.next.algorithm.computation(id);
            let of_keys = relation::functions(ctx, &self.next.algorithm, id, &self.keys_of(id))?.reverse()?;
            let reads = self.stencil.values_read(id).len();
            let reads = it.reads.iter().chain((reads > it.reads.len()).then_some(&it.write));
            for (access, is_read) in reads.map(|access| (access, true)).chain([(&it.write, false)]) {
                if access.array != array {
                    continue;
                }
                let elements = of_keys.apply_range(&relation::access(ctx, &self.next.algorithm, id, access)?)?;
                touched = join(touched, &elements)?;
                if is_read {
                    read = join(read, &elements)?;
                }
            }
        }
        let mut touched = touched.expect("the loop writes the array");
        let own = self.own(array, &written)?;
        if carried {
            let parts = own.project_onto_map(DimType::Set, 0, self.keys() as u32)?.reverse()?;
            let elements = own.project_onto_map(DimType::Set, self.keys() as u32, self.rank(array))?;
            let name = written.tuple_id()?;
            touched = touched.union(&parts.apply_range(&elements)?.set_tuple_id(DimType::Out, &name)?)?;
        }
        // A box has no holes where one of three arrays is written in every third step.
        let touched = Map::from_basic_map(&touched.coalesce()?.remove_divs()?.simple_hull()?)?;
        let hull = hull(&self.next.algorithm, array, &self.names[self.names.len() - 1], &touched)?;
        let limit = match self.next.target {
            Target::Cpu => Limit::Stack,
            Target::Gpu => Limit::Shared,
        };
        check_limit(&self.next.algorithm, array, &hull.size, limit)?;
        let source = self.next.algorithm.array(array).clone();
        let keys = self.keys();
        let local = self.add_array(Array {
            name: format!("{}_tile", source.name),
            element: source.element,
            extents: hull.size.iter().map(|&size| Affine::constant(size)).collect(),
            rank: (keys + hull.size.len()) as u32,
            firsts: vec![],
            strided: 0..0,
            kind: ArrayKind::Local { outer: keys as u32 },
        });
        self.next.scratch.insert(local);
        let low = hull.low.clone();
        let rewrite = move |keys: &[Affine], old: Vec<Affine>| -> Result<Vec<Affine>, Error> {
            let mut all = keys.to_vec();
            for (subscript, low) in old.iter().zip(&low) {
                all.push(subscript.sub(&low.substitute(keys)?)?.add_constant(1)?);
            }
            Ok(all)
        };
        self.redirect(array, &rewrite, local)?;
        let local = Local { of: array, array: local, hull };
        match carried {
            true => self.in_turns(&local, &written, &own),
            false => self.once(&local, &written, &own, read),
        }
    }

    fn rank(&self, array: ArrayId) -> u32 {
        self.stencil.algorithm.array(array).rank
    }

    /// Copies of an array that a block hands to the next one: even blocks read it and write another, odd ones the reverse.
    fn in_turns(&mut self, local: &Local, written: &Set, own: &Set) -> Result<(), Error> {
        let source = self.stencil.algorithm.array(local.of).clone();
        let other = self.add_array(Array {
            name: format!("{}_next", source.name),
            firsts: vec![],
            strided: 0..0,
            kind: ArrayKind::Local { outer: 0 },
            ..source.clone()
        });
        let all = Set::universe(&written.space()?)?.intersect_params(&self.stencil.algorithm.context)?;
        let untouched = all.subtract(written)?.coalesce()?;
        if !untouched.is_empty()? {
            let moment = self.moment(self.stencil.first.clone());
            let copy = self.whole("keep", local.of, &untouched, (local.of, other), moment)?;
            self.before.push(copy);
        }
        let everywhere = Map::from_domain_and_range(&self.regions.tiles, &all)?.wrap()?.flatten()?.reset_tuple_id()?;
        let inside = everywhere.intersect(&self.in_box(local)?)?;
        for (blocks, outside) in [(Blocks::Even, local.of), (Blocks::Odd, other)] {
            let copy = self.boxed("load", local, &inside, blocks, outside)?;
            self.loads.push(copy);
        }
        for (blocks, outside) in [(Blocks::Even, other), (Blocks::Odd, local.of)] {
            let copy = self.boxed("store", local, own, blocks, outside)?;
            self.stores.push(copy);
        }
        if self.stencil.is_live_after(local.of) {
            // Blocks: floor((last - first)/steps) + 1, if there are any.
            let span = self.stencil.last.sub(&self.stencil.first)?;
            let blocks = span.floor_div(self.regions.steps).add_constant(1)?;
            let odd = blocks.modulo(2)?.add_constant(-1)?;
            let params = relation::param_space(self.ctx, self.stencil.algorithm)?.add_unnamed_tuple(0)?;
            let names = self.stencil.algorithm.param_names();
            let some =
                at_least_zero(&params, &names, &odd)?.intersect(&at_least_zero(&params, &names, &span)?)?.params()?;
            let end = self.stencil.first.add(&blocks.scale(self.regions.steps)?)?;
            let moment = self.moment(end);
            let copy = self.whole("finish", local.of, &written.intersect_params(&some)?, (other, local.of), moment)?;
            self.after.push(copy);
        }
        Ok(())
    }

    /// Copies of an array of which a block needs nothing that the loop writes before it.
    fn once(&mut self, local: &Local, written: &Set, own: &Set, read: Option<Map>) -> Result<(), Error> {
        if let Some(read) = read {
            let outside = read.subtract_range(written)?.coalesce()?;
            if !outside.is_empty()? {
                let elements = outside.wrap()?.flatten()?.reset_tuple_id()?;
                let copy = self.boxed("load", local, &elements, Blocks::All, local.of)?;
                self.loads.push(copy);
            }
        }
        if self.stencil.is_live_after(local.of) {
            let copy = self.boxed("store", local, own, Blocks::Last, local.of)?;
            self.stores.push(copy);
        }
        Ok(())
    }

    /// The elements that a tile stores: `{ [block, tile..., e] }`.
    fn own(&self, array: ArrayId, written: &Set) -> Result<Set, Error> {
        let mut own = Map::from_domain_and_range(&self.regions.tiles, written)?.wrap()?.flatten()?.reset_tuple_id()?;
        let (space, names) = (own.space()?, self.stencil.algorithm.param_names());
        let keys = self.keys() as u32;
        for (dimension, place) in self.stencil.places[&array].iter().enumerate() {
            let offset = place.of_element(keys).sub(&self.regions.low(dimension, 1 + dimension as u32)?)?;
            let rest = offset.scale(-1)?.add_constant(self.regions.sizes[dimension] - 1)?;
            own = own.intersect(&at_least_zero(&space, &names, &offset)?)?;
            own = own.intersect(&at_least_zero(&space, &names, &rest)?)?;
        }
        Ok(own.coalesce()?)
    }

    /// The places of the box: `{ [block, tile..., e] }`.
    fn in_box(&self, local: &Local) -> Result<Set, Error> {
        let (keys, axes) = (self.keys() as u32, local.hull.size.len() as u32);
        let space = relation::param_space(self.ctx, self.stencil.algorithm)?.add_unnamed_tuple(keys + axes)?;
        let names = self.stencil.algorithm.param_names();
        let mut inside = Set::universe(&space)?;
        for (axis, (low, &size)) in (keys..).zip(local.hull.low.iter().zip(&local.hull.size)) {
            let offset = Affine::iterator(axis).sub(low)?;
            inside = inside.intersect(&at_least_zero(&space, &names, &offset)?)?;
            inside = inside.intersect(&at_least_zero(&space, &names, &offset.scale(-1)?.add_constant(size - 1)?)?)?;
        }
        Ok(inside)
    }

    /// The moment before the time step of this value.
    fn moment(&self, time: Affine) -> Vec<Affine> {
        let prefix = self.stencil.prefix.iter().map(|&child| Affine::constant(child as i64));
        prefix.chain([time]).collect()
    }

    fn add_array(&mut self, mut array: Array) -> ArrayId {
        let arrays = &mut self.next.algorithm.arrays;
        array.name = fresh(&array.name, |name| arrays.iter().any(|it| it.name == name));
        arrays.push(array);
        ArrayId(arrays.len() as u32 - 1)
    }

    /// Adds a statement that copies one element; its domain is set later.
    fn copy(
        &mut self,
        name: &str,
        iterators: Vec<String>,
        read: (ArrayId, Vec<Affine>),
        write: (ArrayId, Vec<Affine>),
    ) -> ComputationId {
        let algorithm = &mut self.next.algorithm;
        let ty = algorithm.array(read.0).element;
        let access = |(array, subscripts): (ArrayId, Vec<Affine>)| {
            let subscripts = subscripts.into_iter().map(Into::into).collect();
            Access { array, subscripts, within: None, checked: false, conditional: false }
        };
        let name = fresh(name, |name| algorithm.find(name).is_some());
        algorithm.computations.push(Computation {
            name,
            iterators,
            domain: algorithm.context.clone(),
            predicate: None,
            lets: vec![],
            value: Expr { kind: ExprKind::Read(0), ty },
            write: access(write),
            reads: vec![access(read)],
            fastmath: false,
            simd: None,
            ranged: vec![],
            atomic: false,
            owner: None,
        });
        ComputationId(algorithm.computations.len() as u32 - 1)
    }

    /// Names for the axes of an array.
    fn axis_names(&self, count: usize, taken: &[String]) -> Vec<String> {
        let mut names: Vec<String> = vec![];
        for axis in 0..count {
            let wanted = ["x", "y", "z"].get(axis).map_or_else(|| format!("x{}", axis + 1), |it| it.to_string());
            names.push(fresh(&wanted, |name| taken.iter().chain(&names).any(|it| it == name)));
        }
        names
    }

    /// Adds a copy of a whole array's elements.
    fn whole(
        &mut self,
        verb: &str,
        of: ArrayId,
        elements: &Set,
        (from, to): (ArrayId, ArrayId),
        moment: Vec<Affine>,
    ) -> Result<Whole, Error> {
        let rank = self.rank(of) as usize;
        let iterators = self.axis_names(rank, &[]);
        let subscripts = |array: ArrayId| -> Result<Vec<Affine>, Error> {
            let all = (0..rank as u32).map(|axis| {
                let first = self.stencil.algorithm.array(of).first(axis);
                let own = self.next.algorithm.array(array).first(axis);
                Ok(Affine::iterator(axis).sub(&first)?.add(&own)?)
            });
            all.collect()
        };
        let (read, write) = (subscripts(from)?, subscripts(to)?);
        let name = format!("{verb}_{}", self.stencil.algorithm.array(of).name);
        let id = self.copy(&name, iterators.clone(), (from, read), (to, write));
        let tuple = crate::isl::Id::new(self.ctx, &self.next.algorithm.computation(id).name)?;
        let mut domain = elements.set_tuple_id(&tuple)?;
        for (at, name) in (0..).zip(&iterators) {
            domain = domain.set_dim_name(DimType::Set, at, name)?;
        }
        self.next.algorithm.computations[id.0 as usize].domain = domain.coalesce()?;
        self.copies.push(Snapshot { array: of, subscripts: (0..rank as u32).map(Affine::iterator).collect(), moment });
        let mut axes = vec![];
        for (axis, name) in (0..).zip(iterators) {
            let first = self.stencil.algorithm.array(of).first(axis);
            axes.push((name, Affine::iterator(axis).sub(&first)?));
        }
        Ok(Whole { id, axes })
    }

    /// Adds a copy between a tile's array and another.
    fn boxed(
        &mut self,
        verb: &str,
        local: &Local,
        elements: &Set,
        blocks: Blocks,
        outside: ArrayId,
    ) -> Result<Boxed, Error> {
        let keys = self.keys();
        let rank = local.hull.size.len();
        let mut iterators = self.names.clone();
        iterators.extend(self.axis_names(rank, &iterators));
        let place = |axis: usize| Affine::iterator((keys + axis) as u32);
        let element: Vec<Affine> =
            (0..rank).map(|axis| Ok(local.hull.low[axis].add(&place(axis))?)).collect::<Result<_, Error>>()?;
        let mut inside: Vec<Affine> = (0..keys).map(|at| Affine::iterator(at as u32)).collect();
        for axis in 0..rank {
            inside.push(place(axis).add_constant(1)?);
        }
        let mut beyond = vec![];
        for (axis, subscript) in (0..).zip(&element) {
            let first = self.stencil.algorithm.array(local.of).first(axis);
            beyond.push(subscript.sub(&first)?.add(&self.next.algorithm.array(outside).first(axis))?);
        }
        let (read, write, block) = match verb {
            "load" => ((outside, beyond), (local.array, inside), 0),
            _ => ((local.array, inside), (outside, beyond), 1),
        };
        let name = format!("{verb}_{}", self.stencil.algorithm.array(local.of).name);
        let id = self.copy(&name, iterators.clone(), read, write);
        // { load[block, tile..., place] -> [block, tile..., element] }
        let algorithm = &self.next.algorithm;
        let flat: Vec<Affine> =
            (0..keys).map(|at| Affine::iterator(at as u32)).chain(element.iter().cloned()).collect();
        let flat = relation::functions(self.ctx, algorithm, id, &flat)?;
        let mut domain = flat.intersect_range(elements)?.domain()?;
        let (space, names) = (relation::domain_space(self.ctx, algorithm, id)?, algorithm.param_names());
        let number = Affine::iterator(0);
        let rest = number.modulo(2)?;
        let end = self.stencil.first.add(&number.scale(self.regions.steps)?)?;
        let limit = match blocks {
            Blocks::All => None,
            Blocks::Even => Some(rest.scale(-1)?),
            Blocks::Odd => Some(rest.add_constant(-1)?),
            Blocks::Last => Some(end.add_constant(self.regions.steps - 1)?.sub(&self.stencil.last)?),
        };
        if let Some(limit) = limit {
            domain = domain.intersect(&at_least_zero(&space, &names, &limit)?)?;
        }
        for (at, name) in (0..).zip(&iterators) {
            domain = domain.set_dim_name(DimType::Set, at, name)?;
        }
        self.next.algorithm.computations[id.0 as usize].domain = domain.coalesce()?;
        let moment = self.moment(end.add_constant(block * self.regions.steps)?);
        self.copies.push(Snapshot { array: local.of, subscripts: element, moment });
        let axes = (0..rank).map(|axis| (iterators[keys + axis].clone(), place(axis), local.hull.size[axis])).collect();
        Ok(Boxed { id, axes })
    }

    /// The tree; `mapped` to threads, of the CPU or of the GPU.
    fn tree(
        &self,
        scheduled: &Scheduled,
        team: &BTreeMap<ProcessorAxis, i64>,
        mapped: bool,
    ) -> Result<Schedule, Error> {
        let mut schedule = scheduled.schedule.clone();
        let on_gpu = !team.is_empty();
        let time = loop_mut(&mut schedule, &self.stencil.path).clone();
        let time = if on_gpu { gpu::spread(self.stencil, self.regions, team, time)? } else { time };
        let boxes = |all: &[Boxed]| -> Result<Vec<Node>, Error> {
            all.iter().map(|it| Ok(nest(it.id, walk_box(it.axes.clone(), team, Short::Looped)?))).collect()
        };
        let mut body = boxes(&self.loads)?;
        body.push(Node::Loop(time));
        body.extend(boxes(&self.stores)?);
        let mut node = Node::Sequence(body);
        for (level, name) in self.names.iter().enumerate().rev() {
            let tag = match (mapped, on_gpu, level) {
                (false, _, _) | (true, _, 0) | (true, false, 2..) => Tag::Sequential,
                (true, false, 1) => Tag::Parallel,
                (true, true, _) => gpu::block(self.names.len() - 1 - level),
            };
            let at = node.computations().into_iter().map(|id| {
                let own = self.stencil.statements.contains(&id);
                let count = if own { self.stencil.algorithm.computation(id).iterators.len() } else { 0 };
                (id, Affine::atom(Atom::Iterator((count + level) as u32)))
            });
            node = Node::Loop(Loop { name: name.clone(), tag, at: at.collect(), body: Box::new(node) });
        }
        let wholes = |all: &[Whole]| -> Result<Vec<Node>, Error> {
            all.iter().map(|it| Ok(nest(it.id, self.walk(it, team, mapped)?))).collect()
        };
        let mut all = wholes(&self.before)?;
        all.push(node);
        all.extend(wholes(&self.after)?);
        *schedule.node_mut(&self.stencil.path).expect("the time loop stands there") = Node::Sequence(all);
        super::simplify(&mut schedule.root);
        Ok(schedule)
    }

    /// The loops through an array.
    fn walk(&self, it: &Whole, team: &BTreeMap<ProcessorAxis, i64>, mapped: bool) -> Result<Vec<LoopHead>, Error> {
        if !team.is_empty() {
            return gpu::walk(&it.axes, team);
        }
        let mut loops: Vec<LoopHead> =
            it.axes.iter().rev().map(|(name, place)| (name.clone(), Tag::Sequential, place.clone())).collect();
        if let (true, Some(outermost)) = (mapped, loops.first_mut()) {
            outermost.1 = Tag::Parallel;
        }
        Ok(loops)
    }
}

fn join(so_far: Option<Map>, next: &Map) -> Result<Option<Map>, Error> {
    Ok(Some(match so_far {
        None => next.clone(),
        Some(others) => others.union(next)?,
    }))
}

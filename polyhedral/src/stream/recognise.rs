//! Finding out how a time loop streams.

use super::levels::{Levels, common};
use super::obstacles::{far, no};
use super::rounds::Rounds;
use super::{Field, Hexagon, Obstacle, Reach, Resident, Source, Stage, Stream, THIN, Way, pipeline, records, sums};
use crate::affine::Affine;
use crate::algorithm::{Access, Algorithm, ArrayId, ArrayKind, Computation, ComputationId, Subscript};
use crate::error::Error;
use crate::isl::{BasicSet, Ctx, DimType, Set};
use crate::place::{Side, bound};
use crate::relation;
use crate::schedule::{Loop, Node, StreamSize, Tag};
use std::collections::{BTreeMap, BTreeSet};

/// The longest period that is tried where a time loop advances by more than one.
const MOST_PERIOD: i64 = 16;
/// The rim of a cube has six sides.
const MOST_BOXES: usize = 8;

/// Finds out how a time loop streams. Loops around it have to be the host's.
///
/// # Errors
/// Where isl fails; that the loop does not stream is an answer.
pub fn find(
    ctx: &Ctx,
    algorithm: &Algorithm,
    time: &Loop,
    size: StreamSize,
) -> Result<Result<Stream, Obstacle>, Error> {
    match Nests::of(ctx, algorithm, time)? {
        Ok(nests) => Ok(nests.stream(algorithm, size)),
        Err(obstacle) => Ok(Err(obstacle)),
    }
}

/// Those of some sizes in which a time loop streams, without what makes the steps that their launches leave.
///
/// # Errors
/// Where isl fails.
pub fn find_all(
    ctx: &Ctx,
    algorithm: &Algorithm,
    time: &Loop,
    sizes: &[StreamSize],
) -> Result<Vec<(StreamSize, Stream)>, Error> {
    let Ok(nests) = Nests::of(ctx, algorithm, time)? else { return Ok(vec![]) };
    let found = sizes.iter().filter_map(|&size| Some((size, nests.clone().in_steps(algorithm, size).ok()?)));
    Ok(found.collect())
}

/// The number of the first of some sizes in which a time loop streams.
///
/// # Errors
/// Where isl fails.
pub fn find_first(ctx: &Ctx, algorithm: &Algorithm, time: &Loop, sizes: &[StreamSize]) -> Result<Option<usize>, Error> {
    let Ok(nests) = Nests::of(ctx, algorithm, time)? else { return Ok(None) };
    Ok(sizes.iter().position(|&size| nests.clone().stream(algorithm, size).is_ok()))
}

/// The nests below a time loop, each with its box.
#[derive(Clone)]
pub(super) struct Nests {
    time: (Affine, Affine),
    way: Way,
    period: i64,
    axes: [Option<u32>; 3],
    levels: Levels,
    all: Vec<Nest>,
    rounds: Rounds,
    /// None of them is negative where any nest has points.
    needs: Vec<Affine>,
}

#[derive(Clone)]
pub(super) struct Nest {
    pub(super) computation: ComputationId,
    time: u32,
    turn: i64,
    pub(super) iterators: [Option<u32>; 3],
    pub(super) shift: [i64; 3],
    pub(super) limits: [(Affine, Affine); 3],
    /// Of what records, the read that its points are.
    pub(super) place: Option<usize>,
    /// The reads that nothing performs.
    pub(super) unused: BTreeSet<usize>,
    /// Whether the computation has other nests besides.
    is_part: bool,
}

/// A statement below a time loop.
struct Statement {
    id: ComputationId,
    /// Its iterator along time.
    time: u32,
    /// Of what records, the read that its points are.
    place: Option<usize>,
    /// The iterators of the loops around the time loop. It mentions none of them: all their iterations make the same steps.
    outer: Vec<u32>,
    /// Their iterations in which any of the statements runs.
    iterations: Option<Set>,
}

/// The nests of one computation.
struct NestsOf {
    all: Vec<Nest>,
    period: i64,
    /// None of them is negative where there are any.
    needs: Vec<Affine>,
}

/// Which axes of arrays with one, two or three of them are columns, lines and rows.
fn axes_of(rank: usize) -> Option<[Option<u32>; 3]> {
    match rank {
        1 => Some([Some(0), None, None]),
        2 => Some([Some(0), None, Some(1)]),
        3 => Some([Some(0), Some(1), Some(2)]),
        _ => None,
    }
}

impl Nests {
    pub(super) fn of(ctx: &Ctx, algorithm: &Algorithm, time: &Loop) -> Result<Result<Nests, Obstacle>, Error> {
        let children = match &*time.body {
            Node::Sequence(children) => children.as_slice(),
            other => std::slice::from_ref(other),
        };
        let mut axes = None;
        let mut sizes = None;
        let mut way = None;
        let mut orders: Vec<Statement> = vec![];
        let mut found = vec![];
        for child in children {
            let mut around = vec![time];
            let mut here = child;
            while let Node::Loop(it) = here {
                around.push(it);
                here = &it.body;
            }
            let Node::Computation(id) = here else {
                return no("several statements share a nest below it");
            };
            found.push((around, id));
        }
        let ids: Vec<ComputationId> = found.iter().map(|(_, id)| **id).collect();
        let along_time = |id: ComputationId| Way::of(&time.at[&id]).map(|(iterator, _)| iterator);
        let nests: Vec<_> = ids.iter().map(|&id| (id, along_time(id))).collect();
        let loops = found.iter().map(|(around, _)| around.len() - 1).max().unwrap_or(0);
        let levels = Levels::of(algorithm, &nests, loops);
        for (around, id) in found {
            let computation = algorithm.computation(*id);
            let name = &computation.name;
            // What was substituted where it is read.
            if relation::domain(algorithm, *id)?.is_empty()? {
                continue;
            }
            let written = algorithm.array(computation.write.array);
            let is_number = match written.kind {
                ArrayKind::Private => true,
                ArrayKind::Local { outer } => outer > 0 && outer == written.rank,
                ArrayKind::Argument | ArrayKind::Result | ArrayKind::Returned => false,
            };
            if is_number {
                return no(format!(
                    "`{name}` computes a number that others use: `inline({name})` has them compute it themselves"
                ));
            }
            let along = Way::of(&time.at[id]);
            let place = records::place_of(algorithm, &levels, &ids, (*id, along_time(*id)));
            let points = place.map_or(&computation.write, |read| &computation.reads[read]);
            let rank = levels.rank(points);
            let loops = around.len() - 1;
            let Some(own) = axes_of(rank).filter(|_| computation.iterators.len() > loops) else {
                return no(format!("`{name}` does not stand in just a time loop and at most three loops over points"));
            };
            if *axes.get_or_insert(own) != own {
                let verb = if place.is_some() { "reads" } else { "writes" };
                return no(format!("`{name}` {verb} an array with another number of axes than the nest before"));
            }
            if around[1..].iter().any(|it| it.tag != Tag::Sequential) {
                return no(format!("a loop around `{name}` has a tag of its own"));
            }
            let along = along.filter(|(_, own)| *way.get_or_insert(*own) == *own);
            let is_other = |it: &&&Loop| it.at[id].as_iterator().is_none();
            if let Some(it) = around[1..].iter().find(is_other).or(along.is_none().then_some(&time)) {
                return no(format!("loop `{}` does not run as the source has it", it.name));
            }
            let (along, _) = along.expect("the others have been refused");
            let below = around[1..].iter().filter_map(|it| it.at[id].as_iterator());
            let below: BTreeSet<u32> = below.chain([along]).collect();
            let all = 0..computation.iterators.len() as u32;
            let outer: Vec<u32> = all.filter(|iterator| !below.contains(iterator)).collect();
            if !outer.iter().copied().eq(0..outer.len() as u32) {
                return no(format!("the loops around `{name}` do not stand as the source has them"));
            }
            if let Some(&iterator) = outer.iter().find(|iterator| mentions(computation, **iterator)) {
                let iterator = &computation.iterators[iterator as usize];
                return no(format!(
                    "`{name}` mentions `{iterator}`, so that its steps differ from one iteration around them to the next"
                ));
            }
            if computation.predicate.is_some() {
                return no(format!("`{name}` writes on a condition on data"));
            }
            // Pieces for the same sizes: code asks for these around the time loop.
            let piece = algorithm.whole.as_ref().and_then(|whole| whole.sizes.get(id));
            let text = piece.map(|(_, text)| text);
            if *sizes.get_or_insert(text) != text {
                return no(format!("the nest of `{name}` runs for other sizes than the one before"));
            }
            orders.push(Statement { id: *id, time: along, place, outer, iterations: None });
        }
        let Some((axes, way)) = axes.zip(way) else { return no("it holds no nest") };
        let Some(steps) = steps_of(ctx, algorithm, &orders, way)? else { return no(NO_SUM) };
        if let Some(iterations) = around(algorithm, &orders)? {
            orders.iter_mut().for_each(|it| it.iterations = Some(iterations.clone()));
        }
        let mut all: Vec<Nest> = vec![];
        let mut needs: Vec<Affine> = vec![];
        let mut period = None;
        for statement in &orders {
            let known = (orders.len() as i64, period);
            let nests = match Nest::of(ctx, algorithm, statement, (&steps, way), &axes, known)? {
                Ok(nests) => nests,
                Err(obstacle) => return Ok(Err(obstacle)),
            };
            period = Some(nests.period);
            let more = nests.needs.into_iter().filter(|it| !needs.contains(it)).collect::<Vec<_>>();
            needs.extend(more);
            all.extend(nests.all);
        }
        let there = where_there_are(ctx, algorithm, &needs)?;
        for it in orders.iter().filter(|_| !needs.is_empty()) {
            if !relation::domain(algorithm, it.id)?.params()?.is_subset(&there)? {
                let name = &algorithm.computation(it.id).name;
                return no(format!("`{name}` runs where arrays beside its own have no points"));
            }
        }
        let nests: Vec<_> = all.iter().map(|nest| (nest.computation, nest.place)).collect();
        let turns: Vec<_> = orders.iter().map(|it| (it.id, it.time)).collect();
        if let Err(obstacle) = levels.check(ctx, algorithm, &turns, (&steps.0, way))? {
            return Ok(Err(obstacle));
        }
        if let Err(obstacle) = records::check(ctx, algorithm, &levels, &nests)? {
            return Ok(Err(obstacle));
        }
        let rounds = match Rounds::of(ctx, algorithm, &all, &axes)? {
            Ok(rounds) => rounds,
            Err(obstacle) => return Ok(Err(obstacle)),
        };
        let own = period.expect("there is a nest");
        // The same nest touches other levels in other iterations.
        let period = common(own, levels.period);
        let turns = (0..period / own)
            .flat_map(|round| all.iter().map(move |nest| Nest { turn: round * own + nest.turn, ..nest.clone() }));
        let mut all: Vec<Nest> = turns.collect();
        all.sort_by_key(|nest| nest.turn);
        Ok(Ok(Nests { time: steps, way, period, axes, levels, all, rounds, needs }))
    }

    /// The array that an access of a nest is to, and the level of it, if it has some.
    fn field_of(
        &self,
        algorithm: &Algorithm,
        nest: &Nest,
        access: &Access,
    ) -> Result<(ArrayId, Option<i64>), Obstacle> {
        match self.levels.level(access, nest.time, (&self.time.0, self.way), nest.turn) {
            None => Ok((access.array, None)),
            Some(Some(level)) => Ok((access.array, Some(level))),
            Some(None) => {
                let name = &algorithm.array(access.array).name;
                Err(Obstacle(format!(
                    "which level of `{name}` is first depends on where its time loop begins: let it begin at a number"
                )))
            }
        }
    }

    /// The versions that the nests read, and when each is there.
    pub(super) fn stream(self, algorithm: &Algorithm, size: StreamSize) -> Result<Stream, Obstacle> {
        let fewer = size.fewer().and_then(|fewer| self.clone().in_steps(algorithm, fewer).ok());
        let stream = self.in_steps(algorithm, size)?;
        Ok(Stream { fewer: fewer.map(Box::new), ..stream })
    }

    /// The same without what makes the steps that launches leave.
    fn in_steps(self, algorithm: &Algorithm, size: StreamSize) -> Result<Stream, Obstacle> {
        size.check()?;
        let mut fields: Vec<Field> = vec![];
        let all: Vec<&Nest> = self.all.iter().filter(|nest| nest.place.is_none()).collect();
        for (at, nest) in all.iter().enumerate() {
            let write = &algorithm.computation(nest.computation).write;
            let (array, level) = self.field_of(algorithm, nest, write)?;
            let it = algorithm.array(array);
            if let Some(field) = fields.iter_mut().find(|field| (field.array, field.level) == (array, level)) {
                // What the nests leave out is what it was.
                (field.finisher, field.rim) = (at, true);
                continue;
            }
            if !matches!(it.kind, ArrayKind::Argument | ArrayKind::Returned | ArrayKind::Local { outer: 0 })
                || !it.firsts.is_empty()
                || !it.strided.is_empty()
            {
                return Err(Obstacle(format!("`{}` is no contiguous array that counts from 1", it.name)));
            }
            let turns = self.levels.take_turns(array);
            fields.push(Field { array, level, turns, writer: at, finisher: at, carried: false, rim: false, lead: 0 });
        }
        for field in &mut fields {
            // The last launch may leave out what is written in later iterations of its last step.
            field.carried = all[field.finisher].turn > 0;
        }
        let (mut stages, mut records): (Vec<Stage>, Vec<Stage>) = (vec![], vec![]);
        for nest in &self.all {
            let at = stages.len();
            let computation = algorithm.computation(nest.computation);
            let points = nest.place.map_or(&computation.write, |read| &computation.reads[read]);
            let own = self.field_of(algorithm, nest, points)?;
            let own = fields.iter().position(|field| (field.array, field.level) == own);
            let Some(own) = own else {
                let name = &algorithm.array(points.array).name;
                return Err(Obstacle(format!("`{}` reads `{name}`, which no step hands on", computation.name)));
            };
            let mut reads = vec![];
            for read in &computation.reads {
                if nest.unused.contains(&reads.len()) {
                    reads.push(Source::Unused);
                    continue;
                }
                let from = self.field_of(algorithm, nest, read)?;
                reads.push(match fields.iter().position(|field| (field.array, field.level) == from) {
                    None if self.levels.has(read.array)
                        && (nest.place.is_none() || read.array != computation.write.array) =>
                    {
                        let name = &algorithm.array(read.array).name;
                        let own = &computation.name;
                        return Err(Obstacle(format!(
                            "`{own}` reads a level or component of `{name}` that no step writes"
                        )));
                    }
                    None if read.is_affine() => Source::Memory,
                    None => return Err(Obstacle(format!("`{}` reads at computed subscripts", computation.name))),
                    Some(field) => {
                        let source = source(
                            algorithm,
                            (nest, at),
                            (&self.axes, own),
                            (&self.rounds, reads.len()),
                            (field, &fields[field]),
                        )?;
                        if nest.place.is_some() {
                            records::check_read(algorithm, (computation, self.period), (&source, at), &fields[field])?;
                        }
                        // For some sizes the first row is the last one, and is computed twice.
                        if nest.is_part && matches!(source, Source::Field { fresh: true, .. } if field == own) {
                            let name = &computation.name;
                            let text = format!("`{name}` runs over several boxes of points, and reads what it writes");
                            return Err(Obstacle(text));
                        }
                        if let Source::Field { fresh, offset, .. } = source {
                            fields[field].carried |= !fresh;
                            fields[field].rim |= self.rounds.straight(offset) != [0; 3];
                        }
                        if let Source::Field { fresh: true, offset, .. } = source {
                            let stage: &Stage = &stages[fields[field].writer];
                            fields[field].rim |= !is_inside(&nest.limits, &stage.limits);
                            // Before the last nest has written, what none has may be that of the step before.
                            let place = moved(&nest.limits, self.rounds.straight(offset))
                                .ok_or_else(|| far(&computation.name))?;
                            let mut writers = stages.iter().filter(|stage| stage.field == field);
                            let is_new = writers.any(|stage| is_inside(&place, &stage.limits));
                            fields[field].carried |= at <= fields[field].finisher && !is_new && nest.place.is_none();
                        }
                        source
                    }
                });
            }
            let thin = [0, 1, 2].map(|axis| {
                let narrow = |nest: &Nest| span(&nest.limits[axis]).is_some_and(|span| span <= THIN);
                self.axes[axis].is_some() && narrow(nest) && !all.iter().all(|nest| narrow(nest))
            });
            let Nest { computation, time, turn, iterators, shift, limits, .. } = nest.clone();
            let (field, lag, sums) = (own, 0, None);
            let stage = Stage { computation, field, lag, time, turn, iterators, shift, limits, reads, sums, thin };
            if nest.place.is_some() { records.push(stage) } else { stages.push(stage) }
        }
        // Levels of an array change places with those of its copy together.
        let carried: BTreeSet<ArrayId> = fields.iter().filter(|it| it.carried).map(|it| it.array).collect();
        for field in &mut fields {
            field.carried = carried.contains(&field.array);
            // All of it goes to the copy that the next launch reads.
            field.rim |= field.carried;
        }
        if !fields.iter().any(|field| field.carried) {
            return Err(Obstacle("no time step needs what the one before computed".to_string()));
        }
        // Where there are no lines each warp is a block, so that none waits for another one to end.
        let (lines, warps) = if self.axes[1].is_some() { (size.lines, size.warps) } else { (1, 1) };
        let rows = if self.axes[2].is_some() { size.rows } else { Some(1) };
        // What hexagons over planes leave streams in small blocks, a step at a time.
        let small = size.hexagon.is_some() && self.axes[1].is_some();
        let (steps, warps) = if small { (1, warps.min(4)) } else { (size.steps, warps) };
        let mut stream = Stream {
            size: StreamSize { steps, lines, warps, rows, ..size },
            axes: self.axes,
            time: self.time,
            way: self.way,
            period: self.period,
            fields,
            stages,
            records,
            lag: 0,
            depth: 0,
            beside: [Reach::default(); 2],
            back: 0,
            rounds: self.rounds.periods,
            needs: self.needs,
            hexagon: None,
            fewer: None,
            resident: None,
        };
        pipeline::fill(&mut stream)?;
        records::check_order(algorithm, &stream)?;
        for at in 0..stream.stages.len() {
            stream.stages[at].sums = sums::of_stage(algorithm, &stream, at);
        }
        if size.only_in_tiles().is_none() {
            stream.check_size(algorithm)?;
        }
        if let (Some(field), Some(_)) = (stream.fields.iter().find(|field| field.level.is_some()), size.hexagon) {
            let name = &algorithm.array(field.array).name;
            return Err(Obstacle(format!(
                "`{name}` holds levels of time, or components, along its last axis, which `stream` and `grid_sync` take"
            )));
        }
        if let (Some(record), Some(_)) = (stream.records.first(), size.hexagon) {
            return Err(records::in_hexagons(algorithm, record));
        }
        if let Some(hexagon) = size.hexagon {
            stream.hexagon = Some(Hexagon::of(algorithm, &stream, hexagon)?);
        }
        if let Some(resident) = size.resident {
            stream.resident = Some(Resident::of(algorithm, &stream, resident)?);
        }
        Ok(stream)
    }
}

impl Nest {
    /// The nest of a computation whose iterator along time is given, with the steps of all nests; and the period that it keeps, which is that of
    /// the nests before if there are any, else at most as long as there are nests in as many iterations as the loop advances by. It is several
    /// nests where its points are those of several boxes, as the rim of an array is.
    fn of(
        ctx: &Ctx,
        algorithm: &Algorithm,
        statement: &Statement,
        along: (&(Affine, Affine), Way),
        axes: &[Option<u32>; 3],
        known: (i64, Option<i64>),
    ) -> Result<Result<NestsOf, Obstacle>, Error> {
        let domain = relation::domain(algorithm, statement.id)?;
        let found = Nest::of_boxes(ctx, algorithm, statement, std::slice::from_ref(&domain), along, axes, known)?;
        if found.is_ok() || statement.place.is_some() {
            return Ok(found);
        }
        let mut parts = vec![];
        for part in domain.coalesce()?.basic_sets()? {
            parts.push(Set::from_basic_set(&part)?);
        }
        if !(2..=MOST_BOXES).contains(&parts.len()) {
            return Ok(found);
        }
        // Why it is not one box tells more than why it is not several.
        Ok(Nest::of_boxes(ctx, algorithm, statement, &parts, along, axes, known)?.or(found))
    }

    /// The same of boxes that each hold one of these parts of the domain.
    fn of_boxes(
        ctx: &Ctx,
        algorithm: &Algorithm,
        statement: &Statement,
        parts: &[Set],
        (steps, way): (&(Affine, Affine), Way),
        axes: &[Option<u32>; 3],
        (nests, period): (i64, Option<i64>),
    ) -> Result<Result<NestsOf, Obstacle>, Error> {
        let &Statement { id, time, .. } = statement;
        let name = &algorithm.computation(id).name;
        let domain = relation::domain(algorithm, id)?;
        let (mut found, mut boxes) = (vec![], vec![]);
        for part in parts {
            match Nest::of_box(ctx, algorithm, statement, part, (steps, way), axes)? {
                Ok((nest, whole)) => {
                    found.push(nest);
                    boxes.push(whole);
                }
                Err(obstacle) => return Ok(Err(obstacle)),
            }
        }
        let (first, others) = boxes.split_first().expect("a domain has a part");
        let whole = others.iter().try_fold(first.clone(), |all, it| all.union(it))?;
        let number = way.number(time);
        let space = relation::domain_space(ctx, algorithm, id)?;
        let names = algorithm.param_names();
        let since = number.sub(&steps.0)?;
        let advances = domain.stride(time as i32)?.to_i64().unwrap_or(1).clamp(1, MOST_PERIOD);
        let longest = (nests * advances).min(MOST_PERIOD.max(nests));
        let is_part = parts.len() > 1;
        let sizes = if is_part { sizes_of(ctx, algorithm, &domain)? } else { vec![] };
        let periods = period.map_or(1..=longest, |period| period..=period);
        for (period, turn) in periods.flat_map(|period| (0..period).map(move |turn| (period, turn))) {
            let in_turn = since.add_constant(-turn)?.modulo(period)?.to_isl(&space, &names)?;
            let some = whole.intersect(&in_turn.eq_set(&Affine::constant(0).to_isl(&space, &names)?)?)?;
            let mut needs = vec![];
            if is_part {
                // The first row of a matrix without columns is none.
                let beyond = some.subtract(&domain)?.params()?;
                for it in &sizes {
                    if !beyond.is_subset(&where_there_are(ctx, algorithm, std::slice::from_ref(it))?)? {
                        needs.push(it.clone());
                    }
                }
            }
            if some.intersect_params(&where_there_are(ctx, algorithm, &needs)?)?.is_equal(&domain)? {
                let all = found.into_iter().map(|nest| Nest { turn, is_part, ..nest }).collect();
                return Ok(Ok(NestsOf { all, period, needs }));
            }
        }
        // The smaller one of two sizes, say, has one bound and another one.
        let low = number.to_isl(&space, &names)?.ge_set(&steps.0.to_isl(&space, &names)?)?;
        let high = number.to_isl(&space, &names)?.le_set(&steps.1.to_isl(&space, &names)?)?;
        let between = along_time(&low.intersect(&high)?, time)?.to_set()?;
        let own = along_time(&domain, time)?.to_set()?.drop_constraints_not_involving_dims(DimType::Set, 0, 1)?;
        if !own.is_equal(&between)? {
            return no(NO_SUM);
        }
        no(format!("`{name}` does not run over the same box of points in all time steps, or in every second, or third"))
    }

    /// The nest of the smallest box of points around a part of the domain, in the first turn, and its instances in all turns.
    fn of_box(
        ctx: &Ctx,
        algorithm: &Algorithm,
        statement: &Statement,
        part: &Set,
        (steps, way): (&(Affine, Affine), Way),
        axes: &[Option<u32>; 3],
    ) -> Result<Result<(Nest, Set), Obstacle>, Error> {
        let &Statement { id, time, place: recorded, .. } = statement;
        let computation = algorithm.computation(id);
        let name = &computation.name;
        let points = recorded.map_or(&computation.write, |read| &computation.reads[read]);
        let verb = if recorded.is_some() { "reads" } else { "writes" };
        let (mut iterators, mut shift) = ([None; 3], [0; 3]);
        let single = || (Affine::constant(1), Affine::constant(1));
        let mut limits = [single(), single(), single()];
        let mut ranges = BTreeMap::new();
        for (at, axis) in axes.iter().enumerate() {
            let Some(axis) = axis else { continue };
            let subscript = &points.subscripts[*axis as usize];
            let place = subscript.as_affine().filter(|place| !place.involves_any_iterator());
            limits[at] = match (shifted(subscript), place) {
                (Some((iterator, by)), _) if iterator != time && !ranges.contains_key(&iterator) => {
                    let low = bound(ctx, algorithm, part, iterator, Side::Low)?;
                    let high = bound(ctx, algorithm, part, iterator, Side::High)?;
                    let Some((low, high)) = low.zip(high) else {
                        return no(format!("`{name}` does not run over a box of points"));
                    };
                    (iterators[at], shift[at]) = (Some(iterator), by);
                    ranges.insert(iterator, (low.clone(), high.clone()));
                    (low.add_constant(by)?, high.add_constant(by)?)
                }
                (_, Some(place)) => (place.clone(), place.clone()),
                _ if computation.involves_iterator(subscript, time) => {
                    return no(format!("`{name}` {verb} elsewhere in each step: its subscripts move with time"));
                }
                _ => return no(format!("what `{name}` {verb} is not one point of an array for each iteration")),
            };
        }
        if ranges.len() + 1 + statement.outer.len() != computation.iterators.len() {
            return no(format!("what `{name}` {verb} is not one point of an array for each iteration"));
        }
        let space = relation::domain_space(ctx, algorithm, id)?;
        let names = algorithm.param_names();
        let mut whole = Set::universe(&space)?.intersect_params(&algorithm.context)?;
        // In each of these all statements make all steps.
        if let Some(iterations) = &statement.iterations {
            let first = statement.outer.len() as u32;
            let all = whole.dim(DimType::Set)?;
            let iterations = iterations.insert_dims(DimType::Set, first, all - first)?;
            whole = whole.intersect(&iterations.set_tuple_id(&relation::domain(algorithm, id)?.tuple_id()?)?)?;
        }
        if let Some((sizes, _)) = algorithm.whole.as_ref().and_then(|whole| whole.sizes.get(&id)) {
            whole = whole.intersect_params(sizes)?;
        }
        let ranges = ranges.into_iter().map(|(iterator, ends)| (Affine::iterator(iterator), ends));
        for (place, (low, high)) in ranges.chain([(way.number(time), steps.clone())]) {
            let iterator = place.to_isl(&space, &names)?;
            whole = whole.intersect(&iterator.ge_set(&low.to_isl(&space, &names)?)?)?;
            whole = whole.intersect(&iterator.le_set(&high.to_isl(&space, &names)?)?)?;
        }
        let mut unused = BTreeSet::new();
        for (at, read) in computation.reads.iter().enumerate() {
            if let Some(within) = &read.within
                && within.is_empty()?
            {
                unused.insert(at);
            }
        }
        Ok(Ok((
            Nest { computation: id, time, turn: 0, iterators, shift, limits, place: recorded, unused, is_part: false },
            whole,
        )))
    }
}

/// The iterations of the loops around a time loop in which any of its statements runs, if there are such loops. They come first among iterators.
fn around(algorithm: &Algorithm, statements: &[Statement]) -> Result<Option<Set>, Error> {
    let mut all: Option<Set> = None;
    for statement in statements.iter().filter(|it| !it.outer.is_empty()) {
        let domain = relation::domain(algorithm, statement.id)?.reset_tuple_id()?;
        let (first, iterators) = (statement.outer.len() as u32, domain.dim(DimType::Set)?);
        let own = domain.project_out(DimType::Set, first, iterators - first)?;
        all = Some(match all {
            Some(others) => others.union(&own)?,
            None => own,
        });
    }
    Ok(all.map(|all| all.coalesce()).transpose()?)
}

/// Whether a statement's values, or the elements that it touches, may change with an iterator.
fn mentions(computation: &Computation, iterator: u32) -> bool {
    let mut accesses = computation.reads.iter().chain([&computation.write]);
    accesses.any(|it| it.subscripts.iter().any(|subscript| computation.involves_iterator(subscript, iterator)))
        || computation.expression_involves(&computation.value, iterator)
}

/// What is not negative where there are any of these instances, as far as that is no matter of divisions.
fn sizes_of(ctx: &Ctx, algorithm: &Algorithm, instances: &Set) -> Result<Vec<Affine>, Error> {
    let names = algorithm.param_names();
    let mut found = vec![];
    for constraint in instances.params()?.simple_hull()?.remove_divs()?.constraints()? {
        let Some(at_least) = Affine::from_isl(&constraint.aff()?, &names)? else { continue };
        let both = [at_least.scale(-1)?, at_least];
        for needed in &both[usize::from(!constraint.is_equality()?)..] {
            if !algorithm.context.is_subset(&where_there_are(ctx, algorithm, std::slice::from_ref(needed))?)? {
                found.push(needed.clone());
            }
        }
    }
    Ok(found)
}

/// The sizes for which none of these is negative.
pub(super) fn where_there_are(ctx: &Ctx, algorithm: &Algorithm, all: &[Affine]) -> Result<Set, Error> {
    let space = relation::param_space(ctx, algorithm)?;
    let names = algorithm.param_names();
    let mut sizes = Set::universe(&space)?;
    for it in all {
        let (it, zero) = (it.to_isl(&space, &names)?, Affine::constant(0).to_isl(&space, &names)?);
        sizes = sizes.intersect(&it.ge_set(&zero)?)?;
    }
    Ok(sizes)
}

const NO_SUM: &str =
    "its first or last step is no sum of sizes and constants: let it run from a constant to an argument";

/// The iterations along time of some instances, without what says that they run in every second one, or third.
fn along_time(instances: &Set, time: u32) -> Result<BasicSet, Error> {
    let loops = instances.dim(DimType::Set)?;
    let along = instances.project_out(DimType::Set, time + 1, loops - time - 1)?.project_out(DimType::Set, 0, time)?;
    Ok(along.simple_hull()?.remove_divs()?)
}

/// Whether a box is known to lie inside of another one.
fn is_inside(inner: &[(Affine, Affine); 3], outer: &[(Affine, Affine); 3]) -> bool {
    let at_least = |more: &Affine, less: &Affine| more.sub(less).ok().and_then(|it| it.as_constant()) >= Some(0);
    inner.iter().zip(outer).all(|(inner, outer)| at_least(&inner.0, &outer.0) && at_least(&outer.1, &inner.1))
}

/// The iterator that a subscript is, and what is added to it.
pub(super) fn shifted(subscript: &Subscript) -> Option<(u32, i64)> {
    let affine = subscript.as_affine()?;
    let by = affine.constant_term();
    Some((affine.add_constant(-by).ok()?.as_iterator()?, by))
}

/// A box so far away.
fn moved(limits: &[(Affine, Affine); 3], by: [i64; 3]) -> Option<[(Affine, Affine); 3]> {
    let mut place = limits.clone();
    for ((low, high), by) in place.iter_mut().zip(by) {
        (*low, *high) = (low.add_constant(by).ok()?, high.add_constant(by).ok()?);
    }
    Some(place)
}

/// Subscripts of an axis beside the first that a box with a number of them has.
fn span((low, high): &(Affine, Affine)) -> Option<i64> {
    high.sub(low).ok()?.as_constant()
}

/// Where a nest, at its place among all, gets a read of a field.
fn source(
    algorithm: &Algorithm,
    (nest, stage): (&Nest, usize),
    (axes, own): (&[Option<u32>; 3], usize),
    (rounds, at): (&Rounds, usize),
    (field, written): (usize, &Field),
) -> Result<Source, Obstacle> {
    let computation = algorithm.computation(nest.computation);
    let read = &computation.reads[at];
    let name = &algorithm.array(read.array).name;
    let mut offset = [0; 3];
    for (axis, along) in axes.iter().enumerate() {
        let Some(along) = along.map(|along| along as usize) else { continue };
        let place = read.subscripts.get(along);
        let straight = || match nest.iterators[axis] {
            Some(iterator) => place.and_then(shifted).filter(|it| it.0 == iterator).map(|it| it.1 - nest.shift[axis]),
            None => {
                let place = place.and_then(Subscript::as_affine);
                place.and_then(|place| place.sub(&nest.limits[axis].0).ok()?.as_constant())
            }
        };
        let by = rounds.distance(nest.computation, at, axis).or_else(straight);
        let Some(by) = by else {
            return Err(Obstacle(format!(
                "`{}` reads `{name}` at another place than a fixed distance away",
                computation.name
            )));
        };
        offset[axis] = by;
    }
    let fresh = written.writer < stage;
    let is_own = own == field && nest.place.is_none();
    let mut straight = (0..3).filter(|axis| rounds.periods[*axis].is_none());
    let outside = straight.any(|axis| span(&nest.limits[axis]).is_some_and(|span| offset[axis].abs() > span));
    if is_own && offset != [0; 3] && !outside {
        return Err(Obstacle(format!("`{}` reads neighbours in `{name}` that it has just written", computation.name)));
    }
    // Lines pass from warp to warp once, when all has been written.
    if fresh && stage <= written.finisher && offset[1] != 0 {
        return Err(Obstacle(format!(
            "`{}` reads another line of `{name}` before all nests of a step have written it",
            computation.name
        )));
    }
    Ok(Source::Field { field, fresh, offset, age: 0 })
}

/// The first and the last iteration of the time loop in which any of its nests runs, given with its iterator along time.
fn steps_of(
    ctx: &Ctx,
    algorithm: &Algorithm,
    nests: &[Statement],
    way: Way,
) -> Result<Option<(Affine, Affine)>, Error> {
    let mut all: Option<Set> = None;
    for statement in nests {
        let domain = relation::domain(algorithm, statement.id)?;
        let along = along_time(&domain, statement.time)?.to_set()?;
        all = Some(match all {
            Some(others) => others.union(&along)?,
            None => along,
        });
    }
    let Some(all) = all else { return Ok(None) };
    let all = all.coalesce()?;
    let low = bound(ctx, algorithm, &all, 0, Side::Low)?;
    let high = bound(ctx, algorithm, &all, 0, Side::High)?;
    Ok(match (low.zip(high), way) {
        (ends, Way::Up) => ends,
        (None, Way::Down) => None,
        (Some((low, high)), Way::Down) => Some((high.scale(-1)?, low.scale(-1)?)),
    })
}

//! Full tiles apart from partial ones: isl's option `isolate` on loops that are tagged so.
//!
//! The option only says how isl cuts a loop into several. The order of instances stays what the tree says, whatever set
//! is isolated.

use crate::error::CodegenError;
use crate::input::Input;
use crate::isl_schedule::{Mark, Marked, mark_number};
use tessella_polyhedral::affine::Affine;
use tessella_polyhedral::algorithm::ComputationId;
use tessella_polyhedral::error::Error;
use tessella_polyhedral::isl::{self, Ctx, DimType, Id, IslError, IslErrorKind, Map, ScheduleNodeKind, Set, UnionSet};
use tessella_polyhedral::relation;
use tessella_polyhedral::schedule::{Loop, Node, Path, Tag};
use tessella_polyhedral::transform::constant_range;

/// Sets the option on every loop that is tagged [`Tag::Separate`].
pub fn isolate_full_tiles(input: &Input<'_>, marked: &mut Marked) -> Result<(), CodegenError> {
    for number in 0..marked.marks.len() {
        let Mark::Loop(path) = &marked.marks[number] else { continue };
        let Some(Node::Loop(it)) = input.schedule.node(path) else { continue };
        if it.tag != Tag::Separate {
            continue;
        }
        let Some(full) = full_tiles(input, path, it).map_err(of_core)? else { continue };
        let root = marked.schedule.root()?;
        let Some(band) = find(&root, number)? else { continue };
        let options = band.band_ast_build_options()?.union(&UnionSet::from_set(&full)?)?;
        marked.schedule = band.band_set_ast_build_options(&options)?.schedule()?;
    }
    Ok(())
}

/// The band below the mark of this number.
fn find(node: &isl::ScheduleNode, number: usize) -> Result<Option<isl::ScheduleNode>, IslError> {
    if node.kind()? == ScheduleNodeKind::Mark
        && node.mark_id()?.name()?.as_deref().and_then(mark_number) == Some(number)
    {
        return node.first_child().map(Some);
    }
    for child in node.children()? {
        if let Some(found) = find(&child, number)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// `{ isolate[[outer loops] -> [it]] }`: the iterations in which each computation below runs for all values of the point
/// loops around it, those whose range is the same for all sizes; `None` if there are no such loops.
fn full_tiles(input: &Input<'_>, path: &Path, it: &Loop) -> Result<Option<Set>, Error> {
    let ctx = input.algorithm.context.ctx();
    let mut full: Option<Set> = None;
    for &id in it.at.keys() {
        let Some(next) = full_tiles_of(ctx, input, path, id)? else { continue };
        full = Some(match full {
            None => next,
            Some(full) => full.intersect(&next)?,
        });
    }
    let Some(full) = full else { return Ok(None) };
    let outer = full.dim(DimType::Set)? - 1;
    // { [] -> [outer, it] } becomes { [outer] -> [it] }.
    let nested = Map::from_range(&full.coalesce()?)?.move_dims(DimType::In, 0, DimType::Out, 0, outer)?;
    Ok(Some(nested.wrap()?.set_tuple_id(&Id::new(ctx, "isolate")?)?))
}

/// The same for one computation: `{ [outer loops, it] }`.
fn full_tiles_of(ctx: &Ctx, input: &Input<'_>, path: &Path, id: ComputationId) -> Result<Option<Set>, Error> {
    let algorithm = input.algorithm;
    let (mut tile, mut point, mut ranges): (Vec<Affine>, Vec<Affine>, Vec<(i64, i64)>) = (vec![], vec![], vec![]);
    for (here, it) in input.schedule.loops_around(id) {
        let at = it.at[&id].clone();
        if here.0.len() <= path.0.len() {
            tile.push(at);
        } else if let Some(range) = constant_range(ctx, algorithm, it)? {
            point.push(at);
            ranges.push(range);
        }
    }
    if point.is_empty() {
        return Ok(None);
    }
    let instances = relation::domain(algorithm, id)?;
    // { [outer loops, it] -> [point loops] }: what runs.
    let tiles = relation::functions(ctx, algorithm, id, &tile)?.intersect_domain(&instances)?;
    let runs = tiles.reverse()?.apply_range(&relation::functions(ctx, algorithm, id, &point)?)?;
    let mut all = Set::universe(&runs.range()?.space()?)?;
    for (at, (low, high)) in ranges.iter().enumerate() {
        let space = all.space()?;
        let value = Affine::iterator(at as u32).to_isl(&space, &[])?;
        let low = Affine::constant(*low).to_isl(&space, &[])?;
        let high = Affine::constant(*high).to_isl(&space, &[])?;
        all = all.intersect(&value.ge_set(&low)?)?.intersect(&value.le_set(&high)?)?;
    }
    let some = runs.domain()?;
    let missing = Map::from_domain_and_range(&some, &all)?.subtract(&runs)?.domain()?;
    Ok(Some(some.subtract(&missing)?))
}

pub fn of_core(error: Error) -> CodegenError {
    match error {
        Error::Isl(error) => CodegenError::Isl(error),
        Error::Affine(_) | Error::Schedule(_) | Error::Layout(_) | Error::Storage(_) | Error::Connect(_) => {
            CodegenError::Isl(IslError { kind: IslErrorKind::Internal, message: error.to_string() })
        }
    }
}

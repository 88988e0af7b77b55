//! Tests of sizes around loops of which all statements have instances for the same sizes only: in front of a kernel on a GPU, instead
//! of in its threads.

use crate::error::CodegenError;
use crate::input::Input;
use crate::isl_schedule::{Mark, Marked, mark_number};
use tessella_polyhedral::algorithm::ComputationId;
use tessella_polyhedral::isl::{self, IslError, ScheduleNodeKind, Set};
use tessella_polyhedral::schedule::{Node, Path};

/// Guards the outermost loops whose statements were all cut by the same condition on sizes.
pub fn guard_sizes(input: &Input<'_>, marked: &mut Marked) -> Result<(), CodegenError> {
    let mut guarded: Vec<Path> = vec![];
    // Of loops that stand in one another, the outer ones are marked later.
    for number in (0..marked.marks.len()).rev() {
        let Mark::Loop(path) = &marked.marks[number] else { continue };
        let Some(sizes) = input.schedule.node(path).and_then(|node| sizes_of(input, node)) else { continue };
        if guarded.iter().any(|outer| path.0.starts_with(&outer.0)) {
            continue;
        }
        guarded.push(path.clone());
        let Some(loops) = find(&marked.schedule.root()?, number)? else { continue };
        let above =
            |depth: &usize| matches!(input.schedule.node(&Path(path.0[..*depth].to_vec())), Some(Node::Loop(_)));
        let outer = (0..path.0.len()).filter(above).count() as u32;
        let space = sizes.space()?.add_unnamed_tuple(outer)?;
        marked.schedule = loops.insert_guard(&Set::universe(&space)?.intersect_params(sizes)?)?.schedule()?;
    }
    Ok(())
}

/// The sizes for which statements here have instances, if that is the same for all that the program had before storage was chosen.
fn sizes_of<'a>(input: &Input<'a>, node: &Node) -> Option<&'a Set> {
    let whole = input.algorithm.whole.as_ref()?;
    let is_copy = |id: &ComputationId| id.0 as usize >= whole.piece_of.len();
    let own: Vec<ComputationId> = node.computations().into_iter().filter(|id| !is_copy(id)).collect();
    let (first, text) = whole.sizes.get(own.first()?)?;
    own.iter().all(|id| whole.sizes.get(id).is_some_and(|(_, other)| other == text)).then_some(first)
}

/// The mark of this number.
fn find(node: &isl::ScheduleNode, number: usize) -> Result<Option<isl::ScheduleNode>, IslError> {
    if node.kind()? == ScheduleNodeKind::Mark
        && node.mark_id()?.name()?.as_deref().and_then(mark_number) == Some(number)
    {
        return Ok(Some(node.clone()));
    }
    for child in node.children()? {
        if let Some(found) = find(&child, number)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

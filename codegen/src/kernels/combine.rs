//! Loops over threads whose updates the block combines (see [`tessella_polyhedral::combine`]).

use super::{Extract, Shape};
use crate::error::CodegenError;
use crate::int_expr::VariableId;
use crate::program::{For, Node, Statement, Update};
use std::collections::BTreeSet;
use tessella_polyhedral::algorithm::ComputationId;
use tessella_polyhedral::combine;
use tessella_polyhedral::error::Error;
use tessella_polyhedral::schedule::ProcessorAxis;

/// Threads that exchange registers.
const WARP: i64 = 32;

/// The threads of a block for so many iterations: whole warps, and a power of two, so that halves combine with halves.
pub(super) fn threads(iterations: i64) -> i64 {
    let wanted = u64::try_from(iterations.max(WARP)).expect("at least a warp");
    wanted.checked_next_power_of_two().and_then(|count| i64::try_from(count).ok()).unwrap_or(i64::MAX)
}

pub(super) fn refused(it: &For, reason: &'static str) -> CodegenError {
    CodegenError::Combine { at: it.name.clone(), reason }
}

/// Has the statements whose updates a loop combines offer what they would add. Gives the statements that the loop then has; none where
/// the loop is one over threads like any other.
pub(super) fn offer(
    extract: &Extract<'_>,
    it: &For,
    body: &mut [Node],
    shape: &Shape,
) -> Result<Vec<Statement>, CodegenError> {
    let (input, path) = (extract.input, &extract.loops[&it.variable]);
    let combined = match combine::combined(extract.context.ctx(), input.algorithm, input.schedule, path) {
        Ok(combined) => combined,
        Err(Error::Isl(error)) => return Err(error.into()),
        Err(_) => return Err(refused(it, "it is not known which element it updates")),
    };
    if combined.is_empty() {
        return Ok(vec![]);
    }
    if shape.threads != BTreeSet::from([ProcessorAxis::X]) {
        return Err(refused(it, "its kernel has other threads than those along x"));
    }
    if shape.origin.contains_key(&ProcessorAxis::X) {
        return Err(refused(it, "its threads keep registers from one loop to the next"));
    }
    combined.into_iter().map(|id| offered(extract, it, body, id)).collect()
}

/// Has one of these statements offer what it would add. Gives its update.
fn offered(extract: &Extract<'_>, it: &For, body: &mut [Node], id: ComputationId) -> Result<Statement, CodegenError> {
    let input = extract.input;
    let mut found = vec![];
    offers(body, id, &mut found);
    let [statement] = found.as_mut_slice() else {
        return Err(refused(it, "conditions or loops stand between it and the statement that it combines"));
    };
    let whole = Statement::clone(statement);
    statement.update = Update::Offered;
    if let Some(update) = combine::update(input.algorithm, id) {
        let offers = |at: u32| input.expression_uses_iterator(id, update.operand, at);
        keep_iterators(statement, &offers);
    }
    let told = |variable: VariableId| variable != it.variable;
    let written = input.algorithm.computation(id).write.subscripts.iter().filter_map(|it| it.as_affine());
    let count = whole.iterators.len() as u32;
    let mut tells = (0..count).filter(|&at| written.clone().any(|subscript| subscript.involves_iterator(at)));
    // The first thread's instance names the element, whichever thread offers.
    let by_others = |at: u32| match whole.iterators[at as usize] {
        None => true,
        Some(variable) => match whole.bindings.iter().find(|(bound, _)| *bound == variable) {
            None => told(variable),
            Some((_, value)) => !value.involves(&|variable| !told(variable)),
        },
    };
    if !tells.all(by_others) {
        return Err(refused(it, "its own iterations tell which element they update"));
    }
    let mut update = whole;
    let write = &input.algorithm.computation(id).write;
    keep_iterators(&mut update, &|at| input.access_uses_iterator(write, at));
    Ok(update)
}

/// Drops those iterators of a statement that its text does not mention.
fn keep_iterators(statement: &mut Statement, used: &dyn Fn(u32) -> bool) {
    for (at, iterator) in (0..).zip(&mut statement.iterators) {
        if let Some(variable) = *iterator
            && !used(at)
        {
            statement.bindings.retain(|(bound, _)| *bound != variable);
            *iterator = None;
        }
    }
}

/// The statements of a computation that run once in each iteration.
fn offers<'a>(nodes: &'a mut [Node], id: ComputationId, found: &mut Vec<&'a mut Statement>) {
    for node in nodes {
        match node {
            Node::Statement(it) if it.computation == id => found.push(it),
            Node::Declare { body, .. } => offers(body, id, found),
            _ => {}
        }
    }
}

//! Loops whose iterations the lanes of a warp compute values of for one another: see [`tessella_polyhedral::rows`].

use crate::input::Input;
use crate::lanes::LANES;
use crate::program::{For, Kernel, Node, Statement, Update};
use std::collections::BTreeSet;
use tessella_polyhedral::expr::conjuncts;
use tessella_polyhedral::layers::BufferId;
use tessella_polyhedral::rows::{MOST_BYTES, Shared, shared};
use tessella_polyhedral::schedule::Tag;

/// What lanes compute for one another in a loop.
pub struct Rows<'a> {
    pub statements: Vec<(&'a Statement, Option<Shared<'a>>)>,
    /// The most iterations of each row that have their values in shared memory at one time.
    pub columns: u32,
    /// Whether sizes tell how long all rows are.
    pub is_even: bool,
}

impl Rows<'_> {
    /// The elements of an array of a value for each row and column: rows begin at different banks.
    pub fn elements(&self) -> u32 {
        LANES * (self.columns + 1)
    }

    /// The bytes of all values of a warp.
    pub fn bytes(&self) -> u32 {
        self.statements.iter().filter_map(|(_, it)| it.as_ref()).map(Shared::bytes).sum::<u32>() * self.elements()
    }
}

/// What lanes compute for one another in a loop of a kernel that stores into these buffers, where a warp may have so many bytes; `None` if each
/// runs its own row by itself.
pub fn rows<'a>(input: &Input<'a>, changed: &BTreeSet<BufferId>, it: &'a For, most_of_warp: u32) -> Option<Rows<'a>> {
    if it.tag != Tag::Rows || it.step != 1 || it.wide.is_some() || it.going.is_some() {
        return None;
    }
    let is_changed = |array| changed.contains(&input.buffer_of(array));
    let mut statements = vec![];
    for node in &it.body {
        let Node::Statement(statement) = node else { return None };
        if statement.update != Update::Stored || statement.inside.is_some() {
            return None;
        }
        let computation = input.algorithm.computation(statement.computation);
        let parts = computation.predicate.as_ref().map(conjuncts).unwrap_or_default();
        let asked = parts.get(statement.known as usize..).unwrap_or_default();
        statements.push((statement, shared(computation, asked, &is_changed)));
    }
    let bytes = statements.iter().filter_map(|(_, it)| it.as_ref()).map(Shared::bytes).sum::<u32>();
    let is_even = it.clip.is_none();
    let most = match (is_even, bytes) {
        (_, 0) => return None,
        // Two sectors of memory of each row: more would leave less of the L1 cache to rows that are short.
        (false, 1..=4) => 16,
        (false, 5..=MOST_BYTES) => 8,
        // None is shorter than the others.
        (true, 1..=8) => 32,
        (true, 9..=16) => 16,
        (true, 17..=MOST_BYTES) => 8,
        (_, _) => return None,
    };
    let fits = |columns: &u32| *columns <= most && bytes * LANES * (columns + 1) <= most_of_warp;
    let columns = [32, 16, 8].into_iter().find(fits)?;
    Some(Rows { statements, columns, is_even })
}

/// The buffers that a kernel stores into.
pub fn changed(input: &Input<'_>, kernel: &Kernel) -> BTreeSet<BufferId> {
    let mut found = BTreeSet::new();
    for node in &kernel.body {
        node.walk(&mut |node| {
            if let Node::Statement(it) = node {
                found.insert(input.buffer_of(input.algorithm.computation(it.computation).write.array));
            }
        });
    }
    found
}

/// The bytes of shared memory that each warp of a kernel may have for values that its lanes compute for one another; 0 if its
/// threads are no whole warps along x, or it has other arrays in shared memory.
pub fn most_of_warp(kernel: &Kernel) -> u32 {
    let in_warps = kernel.block[0].is_multiple_of(LANES) && !kernel.warps;
    let warps = kernel.block.iter().product::<u32>() / LANES;
    match in_warps && warps > 0 && kernel.shared.is_empty() && kernel.dynamic == 0 {
        true => MOST_OF_BLOCK / warps,
        false => 0,
    }
}

/// Bytes that a kernel may declare for a block.
const MOST_OF_BLOCK: u32 = 48 << 10;

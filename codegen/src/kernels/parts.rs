//! Block loops with more iterations than a grid may have blocks: several launches share them.
//!
//! Rewrite: `launch over n blocks -> for first = 0, 65535, ... { launch over min(65535, n - first) blocks, from first on }`

use super::{Extract, Shape};
use crate::display::axis_text;
use crate::entry::MAX_GRID;
use crate::error::CodegenError;
use crate::extent::most_iterations;
use crate::int_expr::{IntExpr, VariableId};
use crate::program::{For, KernelId, Node};
use tessella_polyhedral::schedule::{ProcessorAxis, Tag};

/// A block loop with more iterations than a grid may have blocks.
pub(super) struct Part {
    /// Holds how many blocks earlier launches ran.
    pub(super) first: VariableId,
    name: String,
    pub(super) axis: ProcessorAxis,
    /// All iterations.
    extent: IntExpr,
}

impl Part {
    /// The last block.
    pub(super) fn last(&self) -> IntExpr {
        self.extent.clone().minus(IntExpr::Const(1))
    }

    /// The blocks of one launch.
    pub(super) fn blocks(&self) -> IntExpr {
        let rest = self.extent.clone().minus(IntExpr::Variable(self.first));
        IntExpr::min_of([IntExpr::Const(MAX_GRID[self.axis as usize]), rest])
    }
}

/// The launches that share the blocks. Where an outer loop has no iterations, the number of those inside means nothing: outer
/// ones stay outside.
pub(super) fn launches(parts: &[Part], kernel: KernelId) -> Node {
    parts.iter().rev().fold(Node::Launch(kernel), |launch, it| {
        Node::For(For {
            variable: it.first,
            name: it.name.clone(),
            tag: Tag::Sequential,
            lower: IntExpr::Const(0),
            upper: it.last(),
            step: MAX_GRID[it.axis as usize],
            clip: None,
            going: None,
            asked: None,
            wide: None,
            stores_last: false,
            body: vec![launch],
        })
    })
}

impl Extract<'_> {
    /// Whether the loop may have more iterations than a grid has blocks along the axis. Along x it may: nothing that fits in
    /// memory reaches that limit.
    pub(super) fn passes_grid(&self, it: &For, axis: ProcessorAxis, extent: &IntExpr) -> Result<bool, CodegenError> {
        let most = MAX_GRID[axis as usize];
        if axis == ProcessorAxis::X || extent.as_const().is_some_and(|extent| extent <= most) {
            return Ok(false);
        }
        Ok(most_iterations(self.input, self.context, &self.loops[&it.variable], it.step)?
            .is_none_or(|count| count > most))
    }

    /// The part of a block loop that one launch runs, after the blocks that earlier ones ran.
    pub(super) fn in_parts(&mut self, it: For, axis: ProcessorAxis, extent: &IntExpr, shape: &mut Shape) -> For {
        let names = &mut *self.names;
        let first = *self.first_blocks.entry(axis).or_insert_with(|| {
            let name = names.namer().fresh(&format!("first_block_{}", axis_text(axis)));
            names.variables.push(name);
            VariableId((names.variables.len() - 1) as u32)
        });
        let name = names.variables[first.0 as usize].clone();
        shape.parts.push(Part { first, name, axis, extent: extent.clone() });
        let scaled = |blocks: IntExpr| IntExpr::Const(it.step).times(blocks);
        let lower = it.lower.clone().plus(scaled(IntExpr::Variable(first)));
        let last = lower.clone().plus(scaled(IntExpr::Const(MAX_GRID[axis as usize] - 1)));
        For { lower, upper: IntExpr::min_of([it.upper.clone(), last]), ..it }
    }
}

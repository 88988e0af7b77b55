//! Kernels whose blocks wait for each other, in CUDA.

use super::block::uses_index;
use super::{LoopHooks, Printer, Writer};
use crate::display::axis_text;
use crate::program::{Node, Over, Spread, Turns};
use std::collections::BTreeSet;
use tessella_polyhedral::schedule::ProcessorAxis;

/// What such kernels use to wait. The blocks that have come are counted in the lower bits, so that the highest bit changes when all
/// have, and nothing has to be set back: block 0 adds what the others leave to the highest bit.
///
/// # Source
/// The scheme of `grid_group::sync` in CUDA's cooperative groups.
pub const GRID_HELPERS: &str = "\
static __device__ unsigned int tessella_arrived;

// All threads of all blocks wait for each other, and see what the others have written.
static __device__ __forceinline__ void tessella_grid_barrier()
{
    __syncthreads();
    if (threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0) {
        __threadfence();
        const unsigned int own = blockIdx.x == 0 ? 0x80000001u - gridDim.x : 1u;
        const unsigned int before = atomicAdd(&tessella_arrived, own);
        while (((before ^ *(volatile unsigned int *)&tessella_arrived) & 0x80000000u) == 0) {
        }
        __threadfence();
    }
    __syncthreads();
}
";

/// What they use to take turns.
pub const TURNS_HELPERS: &str = "\
// The blocks along an axis, which may be fewer than none.
static __device__ __forceinline__ unsigned int tessella_blocks(long long count)
{
    return count > 0 ? (unsigned int)count : 0;
}
";

impl Printer<'_> {
    /// `for (turn = blockIdx.x; turn < blocks; turn += gridDim.x) { ... }`
    pub(super) fn turns(&mut self, it: &Turns, hooks: &mut dyn LoopHooks, out: &mut Writer) {
        let (mut axes, mut used) = (BTreeSet::new(), BTreeSet::new());
        for node in &it.body {
            node.walk(&mut |node| {
                if let Node::Spread(it @ Spread { over: Over::Blocks, axis, .. }) = node {
                    axes.insert(*axis);
                    used.extend(uses_index(it).then_some(*axis));
                }
            });
        }
        let axes: Vec<ProcessorAxis> = axes.into_iter().collect();
        if axes.is_empty() {
            out.open("if (blockIdx.x == 0)");
        } else {
            out.open("");
            for &axis in &axes {
                let count = self.int(&it.grid[axis as usize]);
                out.line(format!("const unsigned int tessella_blocks_{} = tessella_blocks({count});", axis_text(axis)));
            }
            let all: Vec<String> = axes.iter().map(|&axis| format!("tessella_blocks_{}", axis_text(axis))).collect();
            let all = all.join(" * ");
            let turn = "tessella_turn";
            out.open(format!("for (unsigned int {turn} = blockIdx.x; {turn} < {all}; {turn} += gridDim.x)"));
            let mut rest = turn.to_string();
            for (at, &axis) in axes.iter().enumerate() {
                let name = axis_text(axis);
                let own = if at + 1 == axes.len() { rest.clone() } else { format!("{rest} % tessella_blocks_{name}") };
                if used.contains(&axis) {
                    out.line(format!("const unsigned int tessella_block_{name} = {own};"));
                }
                rest = format!("{rest} / tessella_blocks_{name}");
            }
        }
        let before = std::mem::replace(&mut self.in_turns, true);
        self.block(&it.body, hooks, out);
        self.in_turns = before;
        if !axes.is_empty() {
            out.close();
        }
        out.close();
    }
}

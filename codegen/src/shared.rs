//! Where the buffers of a kernel's shared memory lie.
//!
//! A kernel declares them while there is room. Where they need more, the launch gives each block all of it, and they lie there one
//! behind the other.

use crate::error::CodegenError;
use crate::input::Input;
use crate::program::{Node, Over, Spread, Statement};
use tessella_polyhedral::layers::BufferId;
use tessella_polyhedral::machine::Gpu;
use tessella_polyhedral::storage::SharedBuffer;

/// A buffer in the memory that the launch gives, and its first byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub buffer: BufferId,
    pub first: i64,
}

/// The places of buffers one behind the other, and what they take together.
pub fn places(input: &Input<'_>, shared: &[BufferId]) -> (Vec<Place>, i64) {
    let mut all = 0;
    let mut next = |&buffer: &BufferId| {
        let first = all;
        all = SharedBuffer::of(input.layout.buffer(buffer)).bytes().saturating_add(all);
        Place { buffer, first }
    };
    let places = shared.iter().map(&mut next).collect();
    (places, all)
}

/// The bytes of shared memory that a launch has to give each block for these buffers; 0 if the kernel can declare them.
///
/// # Errors
/// [`CodegenError::SharedTooLarge`].
pub(crate) fn asked_of_launch(
    input: &Input<'_>,
    kernel: &str,
    shared: &[BufferId],
    block: [u32; 3],
    body: &[Node],
) -> Result<u32, CodegenError> {
    let (_, bytes) = places(input, shared);
    let combined = declared(input, block, body);
    let together = bytes.saturating_add(SharedBuffer::total(&combined));
    if shared.is_empty() || together <= i64::from(Gpu::HOPPER.shared_bytes_of_block) {
        return Ok(0);
    }
    let most = i64::from(Gpu::HOPPER.most_shared_bytes_of_block);
    match u32::try_from(bytes) {
        Ok(bytes) if together <= most => Ok(bytes),
        Ok(_) | Err(_) => {
            let buffers = shared.iter().map(|&it| SharedBuffer::of(input.layout.buffer(it))).collect();
            Err(CodegenError::SharedTooLarge { kernel: kernel.to_string(), buffers, combined, bytes: together, most })
        }
    }
}

/// Where the warps of a block show each other what they combine, by the arrays that it goes to. These stay declared.
fn declared(input: &Input<'_>, block: [u32; 3], body: &[Node]) -> Vec<SharedBuffer> {
    let warps = i64::from(block[0] / 32);
    let mut all = vec![];
    let mut add = |node: &Node| {
        if let Node::Spread(Spread { over: Over::Threads, combined, .. }) = node {
            let offers = |it: &Statement| {
                let array = input.algorithm.array(input.algorithm.computation(it.computation).write.array);
                SharedBuffer {
                    name: array.name.clone(),
                    element_bytes: array.element.bytes() as i64,
                    extents: vec![warps],
                }
            };
            all.extend(combined.iter().map(offers));
        }
    };
    body.iter().for_each(|node| node.walk(&mut add));
    all
}

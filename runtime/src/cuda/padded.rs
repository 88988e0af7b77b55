//! Copies between an array and a buffer with room between its columns.

use super::error::CudaError;
use super::gpu::{Apart, BoxShape, Gpu};
use tessella_codegen::int_expr::Environment;
use tessella_codegen::plan::{Padded, Queue};

/// The boxes that an array is copied by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Boxes {
    all: Vec<Piece>,
    /// Of the whole array.
    pub bytes: usize,
}

/// A box, and where it begins in the array and in the buffer, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece {
    size: [usize; 3],
    array: (usize, Apart),
    buffer: (usize, Apart),
}

/// Rows further apart than this are copied one by one, in pieces: the driver takes no longer distance.
const FURTHEST: usize = i32::MAX as usize;
const LONGEST: usize = 1 << 30;

/// The boxes of an array of elements of so many bytes; `None` if an extent has no value or a size does not fit in an address.
pub(super) fn boxes(padded: &Padded, element: u32, environment: &Environment) -> Option<Boxes> {
    let element = element as usize;
    let count = |extent: i64| usize::try_from(extent.max(0)).ok();
    let mut axes = vec![];
    for axis in &padded.axes {
        axes.push((count(axis.elements.evaluate(environment)?)?, count(axis.room.evaluate(environment)?)?));
    }
    let bytes = axes.iter().try_fold(element, |bytes, (elements, _)| bytes.checked_mul(*elements))?;
    if bytes == 0 {
        return Some(Boxes { all: vec![], bytes });
    }
    let &(elements, room) = axes.first()?;
    let (array, buffer) = (elements.checked_mul(element)?, room.checked_mul(element)?);
    let is_far = array.max(buffer) > FURTHEST;
    let inner = if is_far { 1 } else { axes.len().min(3) };
    let mut starts = vec![(0, (padded.before as usize).checked_mul(element)?)];
    // What lies from one place to the next along an axis.
    let (mut array_step, mut buffer_step) = (array, buffer);
    for (number, &(elements, room)) in axes.iter().enumerate().skip(1) {
        if number >= inner {
            let next = |&(array, buffer): &(usize, usize)| {
                (0..elements).map(move |at| (array + at * array_step, buffer + at * buffer_step))
            };
            starts = starts.iter().flat_map(next).collect();
        }
        (array_step, buffer_step) = (array_step.checked_mul(elements)?, buffer_step.checked_mul(room)?);
    }
    let at = |axis: usize| if axis < inner { axes.get(axis).copied().unwrap_or((1, 1)) } else { (1, 1) };
    let mut all = vec![];
    for (from, to) in starts {
        if is_far {
            for done in (0..array).step_by(LONGEST) {
                let length = LONGEST.min(array - done);
                let apart = Apart { row: length, plane: 1 };
                all.push(Piece { size: [length, 1, 1], array: (from + done, apart), buffer: (to + done, apart) });
            }
            continue;
        }
        let (of_array, of_buffer) = (Apart { row: array, plane: at(1).0 }, Apart { row: buffer, plane: at(1).1 });
        all.push(Piece { size: [array, at(1).0, at(2).0], array: (from, of_array), buffer: (to, of_buffer) });
    }
    Some(Boxes { all, bytes })
}

impl Piece {
    /// As it is copied into the buffer.
    fn inward(&self) -> BoxShape {
        BoxShape { size: self.size, from: self.array.1, to: self.buffer.1 }
    }

    /// As it is copied out of the buffer.
    fn outward(&self) -> BoxShape {
        BoxShape { size: self.size, from: self.buffer.1, to: self.array.1 }
    }
}

impl Boxes {
    /// Copies the array from the host to the buffer.
    pub fn copy_in<G: Gpu>(&self, gpu: &G, queue: Queue, to: &G::Buffer, from: &[u8]) -> Result<(), CudaError> {
        self.all.iter().try_for_each(|it| gpu.copy_box_in(queue, to, it.buffer.0, &from[it.array.0..], it.inward()))
    }

    /// Copies the array from the buffer to the host.
    pub fn copy_out<G: Gpu>(&self, gpu: &G, queue: Queue, to: &mut [u8], from: &G::Buffer) -> Result<(), CudaError> {
        self.all
            .iter()
            .try_for_each(|it| gpu.copy_box_out(queue, &mut to[it.array.0..], from, it.buffer.0, it.outward()))
    }

    /// Copies an array on the GPU to the buffer.
    pub fn copy_from_array<G: Gpu>(
        &self,
        gpu: &G,
        queue: Queue,
        to: &G::Buffer,
        from: &G::Buffer,
    ) -> Result<(), CudaError> {
        let mut all = self.all.iter();
        all.try_for_each(|it| gpu.copy_box_on_device(queue, (to, it.buffer.0), (from, it.array.0), it.inward()))
    }

    /// Copies the buffer to an array on the GPU.
    pub fn copy_to_array<G: Gpu>(
        &self,
        gpu: &G,
        queue: Queue,
        to: &G::Buffer,
        from: &G::Buffer,
    ) -> Result<(), CudaError> {
        let mut all = self.all.iter();
        all.try_for_each(|it| gpu.copy_box_on_device(queue, (to, it.array.0), (from, it.buffer.0), it.outward()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tessella_codegen::int_expr::IntExpr;
    use tessella_codegen::plan::PaddedAxis;

    fn padded(before: u32, axes: &[(i64, i64)]) -> Padded {
        let axis = |&(elements, room): &(i64, i64)| PaddedAxis {
            elements: IntExpr::Const(elements),
            room: IntExpr::Const(room),
        };
        Padded { before, axes: axes.iter().map(axis).collect() }
    }

    fn of(before: u32, axes: &[(i64, i64)]) -> Boxes {
        boxes(&padded(before, axes), 8, &Environment::default()).unwrap()
    }

    #[test]
    fn three_axes_are_one_box() {
        let boxes = of(1, &[(5, 8), (3, 4), (2, 2)]);
        let (array, buffer) = ((0, Apart { row: 40, plane: 3 }), (8, Apart { row: 64, plane: 4 }));
        assert_eq!(boxes, Boxes { all: vec![Piece { size: [40, 3, 2], array, buffer }], bytes: 240 });
    }

    fn starts(boxes: &Boxes) -> Vec<(usize, usize)> {
        boxes.all.iter().map(|it| (it.array.0, it.buffer.0)).collect()
    }

    #[test]
    fn a_fourth_axis_takes_a_box_for_each_place() {
        assert_eq!(starts(&of(0, &[(5, 8), (3, 4), (2, 3), (2, 2)])), [(0, 0), (240, 768)]);
    }

    #[test]
    fn an_empty_array_takes_no_box() {
        assert_eq!(of(0, &[(0, 8), (3, 3)]).all, []);
        assert_eq!(of(0, &[(5, 8), (-1, 3)]).all, []);
    }

    #[test]
    fn rows_too_far_apart_are_copied_one_by_one_in_pieces() {
        let elements = (1 << 28) + 1;
        let boxes = of(0, &[(elements as i64, elements as i64 + 1), (2, 2)]);
        let next = (8 * elements, 8 * (elements + 1));
        let pieces = [0, 1 << 30, 1 << 31];
        let second = pieces.map(|it| (next.0 + it, next.1 + it));
        assert_eq!(starts(&boxes), [pieces.map(|it| (it, it)), second].concat());
        assert_eq!(boxes.all[2].size, [8, 1, 1]);
    }
}

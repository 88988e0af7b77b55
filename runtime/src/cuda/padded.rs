//! Copies of parts of arrays, and between an array and a buffer with room between its columns.

use super::error::CudaError;
use super::gpu::{Apart, BoxShape, Gpu};
use tessella_codegen::int_expr::{Environment, IntExpr};
use tessella_codegen::plan::{Padded, Queue};
use tessella_codegen::program::Part;

/// The boxes that an array, or a part of it, is copied by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Boxes {
    all: Vec<Piece>,
    /// What is copied.
    pub bytes: usize,
    /// Of the whole array.
    pub array_bytes: usize,
}

/// A box, and where it begins in the array and in the buffer, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece {
    size: [usize; 3],
    array: (usize, Apart),
    buffer: (usize, Apart),
}

/// An axis of an array: from which place on so many are copied, how many there are, and how many the buffer has room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Axis {
    first: usize,
    count: usize,
    elements: usize,
    room: usize,
}

/// Rows further apart than this are copied one by one, in pieces: the driver takes no longer distance.
const FURTHEST: usize = i32::MAX as usize;
const LONGEST: usize = 1 << 30;

/// The boxes of an array of elements of so many bytes; `None` if an extent has no value or a size does not fit in an address.
pub(super) fn boxes(padded: &Padded, element: u32, environment: &Environment) -> Option<Boxes> {
    let count = |extent: &IntExpr| usize::try_from(extent.evaluate(environment)?.max(0)).ok();
    let mut axes = vec![];
    for axis in &padded.axes {
        let (elements, room) = (count(&axis.elements)?, count(&axis.room)?);
        axes.push(Axis { first: 0, count: elements, elements, room });
    }
    of_axes(axes, padded.before, element)
}

/// The boxes of a part of an array; `None` also if it is not inside of the array.
pub(super) fn part_boxes(part: &Part, element: u32, environment: &Environment) -> Option<Boxes> {
    let mut axes = vec![];
    let mut is_empty = false;
    for axis in &part.axes {
        let of = |expr: &IntExpr| expr.evaluate(environment);
        let (first, count, elements) = (of(&axis.first)?, of(&axis.count)?, of(&axis.elements)?.max(0));
        is_empty |= count <= 0;
        let elements = usize::try_from(elements).ok()?;
        // Where nothing is copied, it does not matter where it would begin.
        let (first, count) = (usize::try_from(first).unwrap_or(usize::MAX), usize::try_from(count.max(0)).ok()?);
        axes.push(Axis { first, count, elements, room: usize::try_from(of(&axis.room)?.max(0)).ok()? });
    }
    if is_empty {
        return Some(Boxes { all: vec![], bytes: 0, array_bytes: 0 });
    }
    let is_inside = |it: &Axis| it.first.checked_add(it.count).is_some_and(|end| end <= it.elements.min(it.room));
    if axes.iter().all(is_inside) { of_axes(axes, part.before, element) } else { None }
}

fn of_axes(axes: Vec<Axis>, before: u32, element: u32) -> Option<Boxes> {
    let element = element as usize;
    let product = |of: fn(&Axis) -> usize| axes.iter().try_fold(element, |bytes, axis| bytes.checked_mul(of(axis)));
    let (bytes, array_bytes) = (product(|axis| axis.count)?, product(|axis| axis.elements)?);
    if bytes == 0 {
        return Some(Boxes { all: vec![], bytes, array_bytes });
    }
    let axes = joined(axes)?;
    let &Axis { first, count, elements, room } = axes.first()?;
    let (array, buffer) = (elements.checked_mul(element)?, room.checked_mul(element)?);
    let row = count * element;
    // A row alone is as long as it is.
    let is_far = axes.len() > 1 && array.max(buffer) > FURTHEST;
    let inner = if is_far { 1 } else { axes.len().min(3) };
    let mut starts = vec![(first * element, (before as usize + first).checked_mul(element)?)];
    // What lies from one place to the next along an axis.
    let (mut array_step, mut buffer_step) = (array, buffer);
    for (number, axis) in axes.iter().enumerate().skip(1) {
        let places = axis.first..axis.first + if number < inner { 1 } else { axis.count };
        let next = |&(array, buffer): &(usize, usize)| {
            places.clone().map(move |at| (array + at * array_step, buffer + at * buffer_step))
        };
        starts = starts.iter().flat_map(next).collect();
        (array_step, buffer_step) = (array_step.checked_mul(axis.elements)?, buffer_step.checked_mul(axis.room)?);
    }
    let at = |axis: usize| axes.get(axis).filter(|_| axis < inner);
    let count = |axis: usize| at(axis).map_or(1, |it| it.count);
    let mut all = vec![];
    for (from, to) in starts {
        if is_far {
            for done in (0..row).step_by(LONGEST) {
                let length = LONGEST.min(row - done);
                let apart = Apart { row: length, plane: 1 };
                all.push(Piece { size: [length, 1, 1], array: (from + done, apart), buffer: (to + done, apart) });
            }
            continue;
        }
        let of_array = Apart { row: array, plane: at(1).map_or(1, |it| it.elements) };
        let of_buffer = Apart { row: buffer, plane: at(1).map_or(1, |it| it.room) };
        all.push(Piece { size: [row, count(1), count(2)], array: (from, of_array), buffer: (to, of_buffer) });
    }
    Some(Boxes { all, bytes, array_bytes })
}

/// The same with as few axes as lie apart for these sizes.
fn joined(axes: Vec<Axis>) -> Option<Vec<Axis>> {
    let mut all: Vec<Axis> = vec![];
    for axis in axes {
        match all.last_mut() {
            Some(last) if last.count == last.elements && last.elements == last.room => {
                let by = last.elements;
                *last = Axis {
                    first: by.checked_mul(axis.first)?,
                    count: by.checked_mul(axis.count)?,
                    elements: by.checked_mul(axis.elements)?,
                    room: by.checked_mul(axis.room)?,
                };
            }
            Some(_) | None => all.push(axis),
        }
    }
    Some(all)
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
        self.all.iter().try_for_each(|it| match it.size {
            [bytes, 1, 1] => gpu.copy_in(queue, to, it.buffer.0, &from[it.array.0..][..bytes]),
            _ => gpu.copy_box_in(queue, to, it.buffer.0, &from[it.array.0..], it.inward()),
        })
    }

    /// Copies the array from the buffer to the host.
    pub fn copy_out<G: Gpu>(&self, gpu: &G, queue: Queue, to: &mut [u8], from: &G::Buffer) -> Result<(), CudaError> {
        self.all.iter().try_for_each(|it| match it.size {
            [bytes, 1, 1] => gpu.copy_out(queue, &mut to[it.array.0..][..bytes], from, it.buffer.0),
            _ => gpu.copy_box_out(queue, &mut to[it.array.0..], from, it.buffer.0, it.outward()),
        })
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
    use tessella_codegen::plan::PaddedAxis;
    use tessella_codegen::program::PartAxis;

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
        assert_eq!(boxes, Boxes { all: vec![Piece { size: [40, 3, 2], array, buffer }], bytes: 240, array_bytes: 240 });
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

    /// By first place, count, elements and room of each axis.
    fn part(axes: &[[i64; 4]]) -> Option<Boxes> {
        let number = IntExpr::Const;
        let axis = |&[first, count, elements, room]: &[i64; 4]| PartAxis {
            first: number(first),
            count: number(count),
            elements: number(elements),
            room: number(room),
        };
        let axes = axes.iter().map(axis).collect();
        part_boxes(&Part { before: 0, axes }, 8, &Environment::default())
    }

    fn sizes(boxes: &Boxes) -> Vec<[usize; 3]> {
        boxes.all.iter().map(|it| it.size).collect()
    }

    #[test]
    fn neighbouring_columns_are_one_row() {
        let boxes = part(&[[0, 5, 5, 5], [2, 3, 9, 9]]).unwrap();
        assert_eq!((starts(&boxes), sizes(&boxes)), (vec![(80, 80)], vec![[120, 1, 1]]));
        assert_eq!((boxes.bytes, boxes.array_bytes), (120, 360));
    }

    #[test]
    fn places_of_a_column_are_rows_apart() {
        let boxes = part(&[[1, 3, 5, 8], [2, 4, 9, 9], [1, 1, 2, 2]]).unwrap();
        assert_eq!((starts(&boxes), sizes(&boxes)), (vec![(8 * (1 + 10 + 45), 8 * (1 + 16 + 72))], vec![[24, 4, 1]]));
        let [piece] = boxes.all[..] else { panic!("{boxes:?}") };
        assert_eq!((piece.array.1, piece.buffer.1), (Apart { row: 40, plane: 9 }, Apart { row: 64, plane: 9 }));
    }

    #[test]
    fn places_along_a_fourth_axis_are_those_of_the_part() {
        let boxes = part(&[[1, 3, 5, 5], [0, 3, 4, 4], [0, 2, 3, 3], [4, 2, 7, 7]]).unwrap();
        let plane = |at: usize| 8 * (1 + 60 * at);
        assert_eq!(starts(&boxes), [4, 5].map(|at| (plane(at), plane(at))));
    }

    #[test]
    fn a_part_without_elements_may_begin_anywhere_and_another_one_is_inside() {
        assert_eq!(part(&[[0, 5, 5, 5], [-3, 0, 9, 9]]).unwrap().all, []);
        assert_eq!(part(&[[7, -1, 5, 5], [0, 9, 9, 9]]).unwrap().all, []);
        assert_eq!(part(&[[3, 3, 5, 5]]), None);
        assert_eq!(part(&[[-1, 3, 5, 5]]), None);
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

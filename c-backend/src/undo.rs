//! What a function has written is put back where a test in its run fails: see [`Algorithm::failed`].
//!
//! ```text
//! memcpy(x_before, x, bytes);
//! ...
//! if (failed[0]) memcpy(x, x_before, bytes);
//! ```
//!
//! [`Algorithm::failed`]: tessella_polyhedral::algorithm::Algorithm::failed

use tessella_codegen::c_family::{Printer, UNDO, Writer, c_type};
use tessella_polyhedral::algorithm::{ArrayId, ArrayKind};

/// An argument that is written, and the name of what it held before.
pub struct Kept {
    array: ArrayId,
    name: String,
}

impl Kept {
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// Declares the variable that notes failed tests, and memory for what the written arguments hold; nothing for a function
/// without such tests.
pub fn declare(printer: &mut Printer<'_>, out: &mut Writer) -> Vec<Kept> {
    let algorithm = printer.input.algorithm;
    let Some(failed) = algorithm.failed else { return vec![] };
    let mut namer = printer.program.names.namer();
    out.line(format!("{} {}[1] = {{0}};", c_type(algorithm.array(failed).element), name(printer, failed)));
    let written = (0..algorithm.arrays.len() as u32).map(ArrayId);
    let written: Vec<ArrayId> = written
        .filter(|&array| algorithm.array(array).kind == ArrayKind::Argument && algorithm.is_written(array))
        .collect();
    let mut kept = vec![];
    for array in written {
        let before = namer.fresh(&format!("{}_before", name(printer, array)));
        let (element, bytes) = (c_type(algorithm.array(array).element), printer.argument_bytes(array));
        // One byte more: nothing may be allocated for nothing.
        out.line(format!("{element} *restrict {before} = malloc((size_t){bytes} + 1);"));
        kept.push(Kept { array, name: before });
    }
    kept
}

/// Copies the elements of the arguments.
pub fn save(printer: &mut Printer<'_>, kept: &[Kept], out: &mut Writer) {
    for it in kept {
        copy(printer, it, Direction::Save, out);
    }
}

/// Puts the elements back if a test has failed, frees what is named, and returns the status.
pub fn restore(printer: &mut Printer<'_>, kept: &[Kept], freed: &[String], status: i32, out: &mut Writer) {
    let Some(failed) = printer.input.algorithm.failed else { return };
    if printer.leaves {
        out.flush_left(format!("{UNDO}:"));
    }
    out.open(format!("if ({}[0])", name(printer, failed)));
    for it in kept {
        copy(printer, it, Direction::Restore, out);
    }
    freed.iter().rev().for_each(|name| out.line(format!("free({name});")));
    out.line(format!("return {status};"));
    out.close();
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Save,
    Restore,
}

fn copy(printer: &mut Printer<'_>, kept: &Kept, direction: Direction, out: &mut Writer) {
    let array = printer.input.algorithm.array(kept.array);
    let (held, before) = (name(printer, kept.array), &kept.name);
    if array.strided.is_empty() {
        let bytes = printer.argument_bytes(kept.array);
        let (to, from) = match direction {
            Direction::Save => (before, &held),
            Direction::Restore => (&held, before),
        };
        out.line(format!("memcpy({to}, {from}, (size_t){bytes});"));
        return;
    }
    let (mut element, mut position, mut dense) = (vec![], vec![], vec![]);
    for axis in 0..array.rank {
        let stride = match printer.program.names.strides[kept.array.0 as usize].get(&axis) {
            Some(stride) => vec![stride.clone()],
            None => dense.clone(),
        };
        let at = format!("at{}", axis + 1);
        element.push(times(&stride, &at));
        position.push(times(&dense, &at));
        dense.push(printer.extent_name(kept.array, axis).to_owned());
    }
    let loops = (0..array.rank).rev();
    for axis in loops.clone() {
        let (at, extent) = (format!("at{}", axis + 1), printer.extent_name(kept.array, axis));
        out.open(format!("for (int64_t {at} = 0; {at} < {extent}; {at}++)"));
    }
    let (there, here) = (format!("{held}[{}]", element.join(" + ")), format!("{before}[{}]", position.join(" + ")));
    out.line(match direction {
        Direction::Save => format!("{here} = {there};"),
        Direction::Restore => format!("{there} = {here};"),
    });
    loops.for_each(|_| out.close());
}

fn times(factors: &[String], at: &str) -> String {
    factors.iter().map(|factor| format!("{factor} * ")).collect::<String>() + at
}

fn name(printer: &Printer<'_>, array: ArrayId) -> String {
    printer.program.names.arrays[array.0 as usize].clone()
}

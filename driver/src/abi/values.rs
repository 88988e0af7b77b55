//! Between the pointers of a C call and the interpreter's values.

use crate::request::Program;
use std::ffi::c_void;
use tessella_frontend::typed::ArgumentType;
use tessella_frontend::typed::tree::{Form, Strides};
use tessella_interpreter::{Array, Value};
use tessella_scalar::{Constant, ScalarType};

/// How many pointers an argument of this type takes: one, and for an array one more for each extent, each stride and each
/// first index.
pub fn pointers_of(ty: &ArgumentType) -> usize {
    match ty {
        ArgumentType::Scalar(_) => 1,
        ArgumentType::Array { rank, form, .. } => {
            1 + *rank as usize + form.stride_axes(*rank).len() + form.first_axes(*rank).len()
        }
    }
}

/// Where an array argument's elements lie.
struct Place {
    data: *mut u8,
    extents: Vec<u64>,
    /// In elements.
    strides: Vec<i64>,
    firsts: Vec<i64>,
}

impl Place {
    /// # Safety
    /// `mine` points to the values of the parameters that an array of this type takes.
    unsafe fn read(rank: u32, form: Form, mine: &[*mut c_void]) -> Place {
        // SAFETY: promised by the caller: an address, and `int64_t`s after it.
        let (data, numbers) = unsafe {
            let numbers = mine[1..].iter().map(|&number| number.cast::<i64>().read_unaligned());
            (mine[0].cast::<*mut u8>().read_unaligned(), numbers.collect::<Vec<i64>>())
        };
        let (extents, rest) = numbers.split_at(rank as usize);
        let (given, firsts) = rest.split_at(form.stride_axes(rank).len());
        let mut strides = vec![];
        let mut dense = 1_i64;
        for &extent in extents {
            strides.push(dense);
            dense = dense.saturating_mul(extent);
        }
        for (axis, &stride) in form.stride_axes(rank).zip(given) {
            strides[axis as usize] = stride;
        }
        if form.strides == Strides::UnitFirst {
            strides[0] = 1;
        }
        Place { data, extents: extents.iter().map(|&extent| extent as u64).collect(), strides, firsts: firsts.to_vec() }
    }

    /// How far each element, in column-major order, lies from the first, in elements.
    fn distances(&self) -> impl Iterator<Item = isize> + '_ {
        let count: u64 = self.extents.iter().product();
        (0..count).map(|mut position| {
            let mut distance = 0;
            for (&extent, &stride) in self.extents.iter().zip(&self.strides) {
                distance += (position % extent) as isize * stride as isize;
                position /= extent;
            }
            distance
        })
    }
}

/// Copies the arguments of a call.
///
/// # Safety
/// `arguments[k]` points to the value of parameter `k` of an entry for these types, as
/// [`Program::launch`](crate::request::Program::launch) asks.
pub unsafe fn read(types: &[ArgumentType], arguments: &[*mut c_void]) -> Result<Vec<Value>, String> {
    let mut values = vec![];
    let mut rest = arguments;
    for ty in types {
        let (mine, others) = rest.split_at(pointers_of(ty));
        rest = others;
        values.push(match *ty {
            // SAFETY: the pointer is to a value of this type, promised by the caller.
            ArgumentType::Scalar(scalar) => Value::Scalar(unsafe { read_scalar(scalar, mine[0]) }),
            ArgumentType::Array { element, rank, form } => {
                // SAFETY: promised by the caller.
                let place = unsafe { Place::read(rank, form, mine) };
                let mut array = Array::zeros(element, place.extents.clone()).map_err(|error| error.to_string())?;
                if !array.is_empty() {
                    let size = element.bytes() as usize;
                    let mut bytes = Vec::with_capacity(array.bytes().len());
                    for distance in place.distances() {
                        // SAFETY: the array has an element there, promised by the caller.
                        let one =
                            unsafe { std::slice::from_raw_parts(place.data.offset(distance * size as isize), size) };
                        bytes.extend_from_slice(one);
                    }
                    array = Array::new(element, place.extents, bytes).map_err(|error| error.to_string())?;
                }
                Value::Array(array.counting_from(place.firsts))
            }
        });
    }
    Ok(values)
}

/// Copies arrays back to where [`read`] found them, and the scalar result to its place.
///
/// # Safety
/// As for [`read`]; the values are those of `read`, with the same types and extents.
pub unsafe fn write(types: &[ArgumentType], values: &[Value], result: Option<Constant>, arguments: &[*mut c_void]) {
    let mut rest = arguments;
    for (ty, value) in types.iter().zip(values) {
        let (mine, others) = rest.split_at(pointers_of(ty));
        rest = others;
        if let (Value::Array(array), ArgumentType::Array { element, rank, form }) = (value, *ty)
            && !array.is_empty()
        {
            // SAFETY: promised by the caller.
            let place = unsafe { Place::read(rank, form, mine) };
            let size = element.bytes() as usize;
            for (distance, bytes) in place.distances().zip(array.bytes().chunks(size)) {
                // SAFETY: as in `read`; the bytes lie in memory of the interpreter's own.
                unsafe {
                    std::ptr::copy_nonoverlapping(bytes.as_ptr(), place.data.offset(distance * size as isize), size)
                };
            }
        }
    }
    if let (Some(constant), Some(&place)) = (result, rest.first()) {
        let bytes = constant.bits.to_ne_bytes();
        let size = constant.ty.bytes() as usize;
        let low = if cfg!(target_endian = "big") { &bytes[8 - size..] } else { &bytes[..size] };
        // SAFETY: the last argument points to a pointer to memory for the result, promised by the caller.
        unsafe {
            let data = place.cast::<*mut u8>().read_unaligned();
            std::ptr::copy_nonoverlapping(low.as_ptr(), data, size);
        }
    }
}

/// Calls a program with values, which it may change, and gives its return value and scalar result.
///
/// `types` are those of the values and of the program's arguments; `result` is the type of the scalar that the
/// program gives back, if any.
///
/// # Panics
/// If the values are not of these types, or the program takes another number of parameters.
pub fn call(
    program: &dyn Program,
    types: &[ArgumentType],
    values: &mut [Value],
    result: Option<ScalarType>,
) -> (i32, Option<Constant>) {
    let fits = values.len() == types.len() && values.iter().zip(types).all(|(value, &ty)| value.is_of(ty));
    assert!(fits, "values of other types than the program's");
    // Memory aligned for every element type: 8 bytes.
    let mut memory: Vec<Vec<u64>> = vec![];
    let mut data: Vec<*mut c_void> = vec![];
    let mut extents: Vec<Vec<i64>> = vec![];
    let mut scalars: Vec<u64> = vec![];
    for value in values.iter() {
        let (mut words, mut sides, mut bits) = (vec![], vec![], 0);
        match value {
            Value::Scalar(constant) => bits = constant.bits,
            Value::Array(array) => {
                words = vec![0; array.bytes().len().div_ceil(8) + 1];
                for (word, bytes) in words.iter_mut().zip(array.bytes().chunks(8)) {
                    let mut eight = [0; 8];
                    eight[..bytes.len()].copy_from_slice(bytes);
                    *word = u64::from_ne_bytes(eight);
                }
                sides = array.extents().iter().map(|&extent| extent as i64).collect();
                if let ArgumentType::Array { rank, form, .. } = types[scalars.len()] {
                    let dense = |axis: u32| sides[..axis as usize].iter().product::<i64>();
                    let strides: Vec<i64> = form.stride_axes(rank).map(dense).collect();
                    sides.extend(strides);
                    sides.extend(form.first_axes(rank).map(|axis| array.first(axis as usize)));
                }
            }
        }
        scalars.push(low_first(bits, types[scalars.len()]));
        memory.push(words);
        extents.push(sides);
    }
    for words in &mut memory {
        data.push(words.as_mut_ptr().cast());
    }
    let mut place: u64 = 0;
    let mut place_address: *mut c_void = (&raw mut place).cast();
    let mut arguments: Vec<*mut c_void> = vec![];
    for at in 0..values.len() {
        match types[at] {
            ArgumentType::Scalar(_) => arguments.push((&raw mut scalars[at]).cast()),
            ArgumentType::Array { .. } => {
                arguments.push((&raw mut data[at]).cast());
                arguments.extend(extents[at].iter_mut().map(|extent| (&raw mut *extent).cast::<c_void>()));
            }
        }
    }
    if result.is_some() {
        arguments.push((&raw mut place_address).cast());
    }
    assert_eq!(arguments.len(), program.parameter_count(), "a program of other parameters");
    // SAFETY: one pointer for each parameter, of its type: arrays and extents are those of the values, which were
    // checked to be of the program's types, and this thread alone knows the memory.
    let code = unsafe { program.launch(&arguments) };
    for (value, words) in values.iter_mut().zip(&memory) {
        if let Value::Array(array) = value {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).take(array.bytes().len()).collect();
            let same = Array::new(array.element(), array.extents().to_vec(), bytes);
            let firsts = array.firsts().to_vec();
            *array = same.expect("the array had these extents before").counting_from(firsts);
        }
    }
    // SAFETY: `place` is 8 bytes, as many as any scalar needs.
    let constant = result.map(|ty| unsafe { read_scalar(ty, (&raw const place).cast()) });
    (code, constant)
}

/// The word whose first bytes in memory are a scalar's.
fn low_first(bits: u64, ty: ArgumentType) -> u64 {
    match ty {
        ArgumentType::Scalar(scalar) if cfg!(target_endian = "big") => bits << (64 - 8 * scalar.bytes()),
        ArgumentType::Scalar(_) | ArgumentType::Array { .. } => bits,
    }
}

/// # Safety
/// `at` points to a value of type `ty`.
unsafe fn read_scalar(ty: ScalarType, at: *const c_void) -> Constant {
    // SAFETY: promised by the caller, for each width.
    unsafe {
        match ty {
            ScalarType::Bool => Constant::bool(at.cast::<u8>().read_unaligned() != 0),
            ScalarType::I8 => Constant::integer(ty, at.cast::<i8>().read_unaligned().into()),
            ScalarType::I16 => Constant::integer(ty, at.cast::<i16>().read_unaligned().into()),
            ScalarType::I32 => Constant::integer(ty, at.cast::<i32>().read_unaligned().into()),
            ScalarType::I64 => Constant::integer(ty, at.cast::<i64>().read_unaligned().into()),
            ScalarType::U8 => Constant::integer(ty, at.cast::<u8>().read_unaligned().into()),
            ScalarType::U16 => Constant::integer(ty, at.cast::<u16>().read_unaligned().into()),
            ScalarType::U32 => Constant::integer(ty, at.cast::<u32>().read_unaligned().into()),
            ScalarType::U64 => Constant::integer(ty, at.cast::<u64>().read_unaligned().into()),
            ScalarType::F32 => Constant::f32(at.cast::<f32>().read_unaligned()),
            ScalarType::F64 => Constant::f64(at.cast::<f64>().read_unaligned()),
        }
    }
}

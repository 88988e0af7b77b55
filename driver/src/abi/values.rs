//! Between the pointers of a C call and the interpreter's values.

use crate::request::Program;
use std::ffi::c_void;
use tessella_frontend::typed::ArgumentType;
use tessella_interpreter::{Array, Value};
use tessella_scalar::{Constant, ScalarType};

/// How many pointers an argument of this type takes: one, and one more for each axis of an array.
pub fn pointers_of(ty: &ArgumentType) -> usize {
    match ty {
        ArgumentType::Scalar(_) => 1,
        ArgumentType::Array { rank, .. } => 1 + *rank as usize,
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
            ArgumentType::Array { element, .. } => {
                // SAFETY: extents are `int64_t`, promised by the caller.
                let extents = mine[1..].iter().map(|&extent| unsafe { extent.cast::<i64>().read_unaligned() } as u64);
                let extents: Vec<u64> = extents.collect();
                let mut array = Array::zeros(element, extents.clone()).map_err(|error| error.to_string())?;
                if !array.is_empty() {
                    // SAFETY: the array has as many elements as its extents say, promised by the caller.
                    let bytes = unsafe {
                        let data = mine[0].cast::<*const u8>().read_unaligned();
                        std::slice::from_raw_parts(data, array.bytes().len())
                    };
                    array = Array::new(element, extents, bytes.to_vec()).map_err(|error| error.to_string())?;
                }
                Value::Array(array)
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
        if let Value::Array(array) = value
            && !array.is_empty()
        {
            // SAFETY: as in `read`; the bytes lie in memory of the interpreter's own.
            unsafe {
                let data = mine[0].cast::<*mut u8>().read_unaligned();
                std::ptr::copy_nonoverlapping(array.bytes().as_ptr(), data, array.bytes().len());
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
    assert!(values.iter().map(Value::ty).eq(types.iter().copied()), "values of other types than the program's");
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
            *array = same.expect("the array had these extents before");
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

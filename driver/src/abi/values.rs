//! Between the pointers of a C call and the interpreter's values.

use crate::profile::Measured;
use crate::request::Program;
use std::ffi::c_void;
use std::time::{Duration, Instant};
use tessella_frontend::typed::tree::{Form, Strides, Type as ArgumentType};
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

/// Copies arrays back to where [`read`] found them, and results to their places. Where the call asks for the extents of
/// new arrays, these are all that is written.
///
/// # Safety
/// As for [`read`]; the values are those of `read`, with the same types and extents, and the results are of the types
/// that the program gives back.
pub unsafe fn write(types: &[ArgumentType], values: &[Value], results: &[Value], arguments: &[*mut c_void]) {
    let (mine, places) = arguments.split_at(types.iter().map(pointers_of).sum());
    if let Some(sizes) = places.get(results.len()) {
        // SAFETY: after the results comes a pointer to a pointer, which is null or to memory for all extents.
        let done = unsafe { write_sizes(results, sizes.cast::<*mut i64>().read_unaligned()) };
        if done {
            return;
        }
    }
    let mut rest = mine;
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
    for (result, &place) in results.iter().zip(places) {
        // SAFETY: each result's argument points to a pointer to memory for it, promised by the caller.
        match result {
            Value::Array(array) => unsafe { write_bytes(array.bytes(), place) },
            // SAFETY: as above.
            Value::Scalar(constant) => {
                let bytes = constant.bits.to_ne_bytes();
                let size = constant.ty.bytes() as usize;
                let low = if cfg!(target_endian = "big") { &bytes[8 - size..] } else { &bytes[..size] };
                unsafe { write_bytes(low, place) }
            }
        }
    }
}

/// Whether the call asks for extents; then it is answered.
///
/// # Safety
/// `sizes` is null or points to memory for all extents of the arrays among the results.
unsafe fn write_sizes(results: &[Value], sizes: *mut i64) -> bool {
    if sizes.is_null() {
        return false;
    }
    let extents = results.iter().flat_map(|result| match result {
        Value::Array(array) => array.extents().to_vec(),
        Value::Scalar(_) => vec![],
    });
    for (at, extent) in extents.enumerate() {
        // SAFETY: promised by the caller.
        unsafe { sizes.add(at).write_unaligned(extent as i64) };
    }
    true
}

/// # Safety
/// `place` points to a pointer to memory for that many bytes, which nobody else uses.
unsafe fn write_bytes(bytes: &[u8], place: *mut c_void) {
    if !bytes.is_empty() {
        // SAFETY: promised by the caller.
        unsafe {
            let data = place.cast::<*mut u8>().read_unaligned();
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), data, bytes.len());
        }
    }
}

/// Calls a program with values, which it may change; gives its return value and, where that is 0, its results.
///
/// `types` are those of the values and of the program's arguments; `results` are the types of the scalars and new
/// arrays that the program gives back.
///
/// # Panics
/// If the values are not of these types, or the program takes another number of parameters.
pub fn call(
    program: &dyn Program,
    types: &[ArgumentType],
    values: &mut [Value],
    results: &[ArgumentType],
) -> (i32, Vec<Value>) {
    let (code, given, _) = timed_call(program, types, values, results);
    (code, given)
}

/// As [`call`], and how long the program ran: without the time that values take to become arguments and back.
///
/// # Panics
/// As [`call`].
pub fn timed_call(
    program: &dyn Program,
    types: &[ArgumentType],
    values: &mut [Value],
    results: &[ArgumentType],
) -> (i32, Vec<Value>, Duration) {
    let mut time = Duration::ZERO;
    let (code, given) = call_by(program, types, values, results, |arguments| {
        let start = Instant::now();
        // SAFETY: `call_by` gives arguments as `launch` asks for.
        let code = unsafe { program.launch(arguments) };
        time = start.elapsed();
        code
    });
    (code, given, time)
}

/// Measures a program on a GPU, in several calls of which the values see one.
///
/// # Errors
/// What [`call`] would return, and -4 for a program that does not run on a GPU.
///
/// # Panics
/// As [`call`].
pub fn profiled(
    program: &dyn Program,
    types: &[ArgumentType],
    values: &mut [Value],
    results: &[ArgumentType],
    repeat: u32,
) -> Result<Measured, i32> {
    let mut measured = Err(-4);
    let (code, _) = call_by(program, types, values, results, |arguments| {
        // SAFETY: `call_by` gives arguments as a launch asks for.
        measured = unsafe { program.profile(arguments, &[], repeat) };
        measured.as_ref().err().copied().unwrap_or(0)
    });
    if code == 0 { measured } else { Err(code) }
}

/// Like [`call`], but computes by `run`, whose arguments are those of a launch.
fn call_by(
    program: &dyn Program,
    types: &[ArgumentType],
    values: &mut [Value],
    results: &[ArgumentType],
    run: impl FnOnce(&[*mut c_void]) -> i32,
) -> (i32, Vec<Value>) {
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
    let ranks = results.iter().map(|ty| match ty {
        ArgumentType::Scalar(_) => 0,
        ArgumentType::Array { rank, .. } => *rank as usize,
    });
    let ranks: Vec<usize> = ranks.collect();
    let makes_arrays = results.iter().any(|ty| matches!(ty, ArgumentType::Array { .. }));
    let mut sizes: Vec<i64> = vec![0; ranks.iter().sum()];
    let mut sizes_address: *mut i64 = sizes.as_mut_ptr();
    let mut result_memory: Vec<Vec<u64>> = results.iter().map(|_| vec![0]).collect();
    let mut places: Vec<*mut c_void> = result_memory.iter_mut().map(|words| words.as_mut_ptr().cast()).collect();
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
    let first_place = arguments.len();
    arguments.extend(places.iter_mut().map(|place| (&raw mut *place).cast::<c_void>()));
    if makes_arrays {
        arguments.push((&raw mut sizes_address).cast());
    }
    assert_eq!(arguments.len(), program.parameter_count(), "a program of other parameters");
    if makes_arrays {
        // SAFETY: one pointer for each parameter, of its type; there is memory for all extents, and nothing else is
        // written.
        let code = unsafe { program.launch(&arguments) };
        if code != 0 {
            return (code, vec![]);
        }
        let mut rest = sizes.as_slice();
        for (at, &rank) in ranks.iter().enumerate() {
            let (mine, others) = rest.split_at(rank);
            rest = others;
            let bytes = mine.iter().fold(8, |bytes: i64, &extent| bytes.saturating_mul(extent));
            result_memory[at] = vec![0; usize::try_from(bytes / 8 + 1).expect("an extent is not negative")];
            let address: *mut c_void = result_memory[at].as_mut_ptr().cast();
            // SAFETY: the argument points to one of `places`.
            unsafe { arguments[first_place + at].cast::<*mut c_void>().write(address) };
        }
        // SAFETY: the last argument points to `sizes_address`.
        unsafe { arguments[first_place + results.len()].cast::<*mut i64>().write(std::ptr::null_mut()) };
    }
    // One pointer for each parameter, of its type: arrays and extents are those of the values, which were checked to be of
    // the program's types, results have the memory that the program asked for, and this thread alone knows the memory.
    let code = run(&arguments);
    for (value, words) in values.iter_mut().zip(&memory) {
        if let Value::Array(array) = value {
            let firsts = array.firsts().to_vec();
            *array = array_of(array.element(), array.extents().to_vec(), words).counting_from(firsts);
        }
    }
    if code != 0 {
        return (code, vec![]);
    }
    let mut rest = sizes.as_slice();
    let mut given = vec![];
    for ((&ty, words), &rank) in results.iter().zip(&result_memory).zip(&ranks) {
        let (mine, others) = rest.split_at(rank);
        rest = others;
        given.push(result_of(ty, mine, words));
    }
    (code, given)
}

/// A result that a program has written to these words, at least one.
pub(super) fn result_of(ty: ArgumentType, extents: &[i64], words: &[u64]) -> Value {
    match ty {
        // SAFETY: a word is 8 bytes, as many as any scalar needs.
        ArgumentType::Scalar(scalar) => Value::Scalar(unsafe { read_scalar(scalar, words[..1].as_ptr().cast()) }),
        ArgumentType::Array { element, .. } => {
            Value::Array(array_of(element, extents.iter().map(|&extent| extent as u64).collect(), words))
        }
    }
}

/// The array whose elements lie in these words.
fn array_of(element: ScalarType, extents: Vec<u64>, words: &[u64]) -> Array {
    let length = extents.iter().product::<u64>() as usize * element.bytes() as usize;
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).take(length).collect();
    Array::new(element, extents, bytes).expect("as many bytes as the extents say")
}

/// The word whose first bytes in memory are a scalar's.
pub(super) fn low_first(bits: u64, ty: ArgumentType) -> u64 {
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

//! Calls from Rust on slices: what the C interface offers, with types, lengths and borrows checked, so that its callers
//! need no `unsafe`.
//!
//! A [`Function`] is Julia source; each call compiles it for the types of its arguments, once. An [`Argument`] borrows what
//! it passes: a shared slice for an array that is only read, an exclusive one for an array that may be written.

use super::device_array::DeviceArray;
use crate::request::{Backend, CompileRequest, Failure, Options, Program, Signature, Status, TextKind};
use std::collections::HashMap;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError};
use tessella_frontend::typed::tree::Type;
use tessella_interpreter::{Array, Value};
use tessella_scalar::{Constant, ScalarType};

/// A type of Rust's whose values lie in memory as an element type's do.
pub trait Element: Copy + sealed::Sealed + 'static {
    const TYPE: ScalarType;

    fn constant(self) -> Constant;

    /// The value of a constant of this type.
    fn of(constant: Constant) -> Self;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! elements {
    ($($rust:ty, $ty:ident, $value:ident => $constant:expr, $bits:ident => $of:expr;)*) => {$(
        impl sealed::Sealed for $rust {}
        impl Element for $rust {
            const TYPE: ScalarType = ScalarType::$ty;

            fn constant(self) -> Constant {
                let $value = self;
                $constant
            }

            fn of(constant: Constant) -> Self {
                let $bits = constant.bits;
                $of
            }
        }
    )*};
}

elements! {
    bool, Bool, value => Constant::bool(value), bits => bits != 0;
    i8, I8, value => Constant::integer(ScalarType::I8, value.into()), bits => bits as i8;
    i16, I16, value => Constant::integer(ScalarType::I16, value.into()), bits => bits as i16;
    i32, I32, value => Constant::integer(ScalarType::I32, value.into()), bits => bits as i32;
    i64, I64, value => Constant::integer(ScalarType::I64, value.into()), bits => bits as i64;
    u8, U8, value => Constant::integer(ScalarType::U8, value.into()), bits => bits as u8;
    u16, U16, value => Constant::integer(ScalarType::U16, value.into()), bits => bits as u16;
    u32, U32, value => Constant::integer(ScalarType::U32, value.into()), bits => bits as u32;
    u64, U64, value => Constant::integer(ScalarType::U64, value.into()), bits => bits as u64;
    f32, F32, value => Constant::f32(value), bits => f32::from_bits(bits as u32);
    f64, F64, value => Constant::f64(value), bits => f64::from_bits(bits);
}

/// Why a call did not happen, or failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    #[error("an array of extents {extents:?} does not have {given} elements")]
    Shape { extents: Vec<usize>, given: usize },
    #[error("the array has elements of type {expected}, not {given}")]
    Element { expected: ScalarType, given: ScalarType },
    #[error("`{function}` writes its argument {position}, which was passed for reading")]
    ReadOnly { function: String, position: usize },
    #[error("argument {position} is on the GPU, and `{function}` is compiled for the CPU")]
    OnDevice { function: String, position: usize },
    /// Rendered diagnostics.
    #[error("{text}")]
    Refused { status: Status, text: String },
    /// Nothing was written, unless it is a [`Failure::Cuda`].
    #[error("{}", failure.text())]
    Failed { failure: Failure },
    #[error("{text}")]
    Device { text: String },
}

/// An argument of a call, which borrows the memory of an array for that long.
pub struct Argument<'a> {
    kind: Kind,
    borrowed: PhantomData<&'a mut [u8]>,
}

enum Kind {
    Scalar(Constant),
    Array { element: ScalarType, extents: Vec<i64>, address: *mut c_void, place: Place, access: Access },
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Host,
    Device,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    Write,
}

impl<'a> Argument<'a> {
    pub fn scalar<T: Element>(value: T) -> Argument<'static> {
        Argument::constant(value.constant())
    }

    pub fn constant(value: Constant) -> Argument<'static> {
        Argument { kind: Kind::Scalar(value), borrowed: PhantomData }
    }

    /// An array that is only read: column-major, the first subscript is 1.
    ///
    /// # Errors
    /// [`CallError::Shape`] unless `data` has as many elements as the extents say.
    pub fn read<T: Element>(data: &'a [T], extents: &[usize]) -> Result<Argument<'a>, CallError> {
        let extents = shape(extents, data.len())?;
        // Nobody writes there: a call refuses functions that write what was passed for reading.
        let address = data.as_ptr().cast_mut().cast();
        Ok(Argument::array(T::TYPE, extents, address, Place::Host, Access::Read))
    }

    /// An array that the call may write.
    ///
    /// # Errors
    /// As for [`Argument::read`].
    pub fn write<T: Element>(data: &'a mut [T], extents: &[usize]) -> Result<Argument<'a>, CallError> {
        let extents = shape(extents, data.len())?;
        Ok(Argument::array(T::TYPE, extents, data.as_mut_ptr().cast(), Place::Host, Access::Write))
    }

    /// An array in the GPU's memory that is only read.
    pub fn read_device(array: &'a DeviceArray) -> Argument<'a> {
        Argument::on_device(array, Access::Read)
    }

    /// An array in the GPU's memory that the call may write.
    pub fn write_device(array: &'a mut DeviceArray) -> Argument<'a> {
        Argument::on_device(array, Access::Write)
    }

    fn on_device(array: &DeviceArray, access: Access) -> Argument<'a> {
        let extents = array.extents().iter().map(|&extent| extent as i64).collect();
        let address = array.address() as *mut c_void;
        Argument::array(array.element(), extents, address, Place::Device, access)
    }

    fn array(
        element: ScalarType,
        extents: Vec<i64>,
        address: *mut c_void,
        place: Place,
        access: Access,
    ) -> Argument<'a> {
        Argument { kind: Kind::Array { element, extents, address, place, access }, borrowed: PhantomData }
    }

    /// The type as Julia writes it.
    fn ty(&self) -> String {
        match &self.kind {
            Kind::Scalar(constant) => constant.ty.to_string(),
            Kind::Array { element, extents, .. } => format!("Array{{{element},{}}}", extents.len()),
        }
    }
}

/// The elements of an array that a call has made, in column-major order.
///
/// # Errors
/// [`CallError::Element`] where they are of another type.
pub fn elements<T: Element>(array: &Array) -> Result<Vec<T>, CallError> {
    if T::TYPE != array.element() {
        return Err(CallError::Element { expected: array.element(), given: T::TYPE });
    }
    Ok((0..array.len()).map(|position| T::of(array.get(position))).collect())
}

/// The extents of an array that has that many elements.
pub(super) fn shape(extents: &[usize], given: usize) -> Result<Vec<i64>, CallError> {
    let count = extents.iter().try_fold(1_usize, |count, &extent| count.checked_mul(extent));
    let numbers: Option<Vec<i64>> = extents.iter().map(|&extent| i64::try_from(extent).ok()).collect();
    match numbers {
        Some(numbers) if count == Some(given) => Ok(numbers),
        Some(_) | None => Err(CallError::Shape { extents: extents.to_vec(), given }),
    }
}

/// A function of Julia's that is compiled for the types it is called with. It may be called from several threads at once.
pub struct Function {
    source: String,
    name: String,
    target: Backend,
    compiled: Mutex<HashMap<Vec<String>, Arc<Compiled>>>,
}

struct Compiled {
    program: Box<dyn Program>,
    signature: Signature,
}

impl Function {
    /// `source` has the definition of `name`, and of the functions and constants that it uses.
    pub fn new(source: &str, name: &str, target: Backend) -> Function {
        Function { source: source.to_owned(), name: name.to_owned(), target, compiled: Mutex::default() }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Calls the function; gives the numbers and new arrays that it returns, in their order. An argument that it returns is
    /// not among them.
    ///
    /// # Errors
    /// [`CallError::Refused`] where the function cannot be compiled for these types, with Tessella's diagnostics;
    /// [`CallError::Failed`] for sizes or values that the source would fail for, too. Nothing was written then.
    pub fn call(&self, arguments: &mut [Argument<'_>]) -> Result<Vec<Value>, CallError> {
        let types: Vec<String> = arguments.iter().map(Argument::ty).collect();
        let compiled = self.compiled_for(&types)?;
        for (position, argument) in arguments.iter().enumerate() {
            let Kind::Array { place, access, .. } = &argument.kind else { continue };
            if *access == Access::Read && compiled.signature.written.get(position).copied().unwrap_or(true) {
                return Err(CallError::ReadOnly { function: self.name.clone(), position });
            }
            if *place == Place::Device && self.target != Backend::Cuda {
                return Err(CallError::OnDevice { function: self.name.clone(), position });
            }
        }
        launch(&compiled, arguments)
    }

    /// For each argument of these types, as Julia writes them, whether it is an array that a call may write.
    ///
    /// # Errors
    /// [`CallError::Refused`] as for [`Function::call`].
    pub fn written(&self, types: &[String]) -> Result<Vec<bool>, CallError> {
        Ok(self.compiled_for(types)?.signature.written.clone())
    }

    fn compiled_for(&self, types: &[String]) -> Result<Arc<Compiled>, CallError> {
        let mut known = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(compiled) = known.get(types) {
            return Ok(compiled.clone());
        }
        let mut result = super::compile_apart(self.request(types));
        let text = result.texts.remove(&TextKind::Diagnostics).unwrap_or_default();
        match (result.program, result.signature) {
            (Some(program), Some(signature)) => {
                let compiled = Arc::new(Compiled { program, signature });
                known.insert(types.to_vec(), compiled.clone());
                Ok(compiled)
            }
            (Some(_) | None, _) => Err(CallError::Refused { status: result.status, text }),
        }
    }

    fn request(&self, types: &[String]) -> CompileRequest {
        CompileRequest {
            source: self.source.clone(),
            file: format!("{}.jl", self.name),
            first_line: 1,
            function: self.name.clone(),
            types: types.to_vec(),
            schedule: None,
            helpers: vec![],
            constants: vec![],
            target: self.target,
            emit: Default::default(),
            load: true,
            options: Options::default(),
            draw: Default::default(),
            class: None,
        }
    }
}

/// Runs a program that was compiled for the types of these arguments, all contiguous arrays or scalars.
fn launch(compiled: &Compiled, arguments: &mut [Argument<'_>]) -> Result<Vec<Value>, CallError> {
    let Compiled { program, signature } = compiled;
    // One word for each parameter: an address, an extent or a number. They do not move any more once `pointers` is made.
    let mut words: Vec<u64> = vec![];
    let mut on_device = vec![];
    for argument in arguments.iter() {
        match &argument.kind {
            Kind::Scalar(constant) => {
                words.push(super::values::low_first(constant.bits, Type::Scalar(constant.ty)));
                on_device.push(false);
            }
            Kind::Array { extents, address, place, .. } => {
                words.push(*address as usize as u64);
                on_device.push(*place == Place::Device);
                words.extend(extents.iter().map(|&extent| extent as u64));
                on_device.extend(extents.iter().map(|_| false));
            }
        }
    }
    let first_place = words.len();
    let ranks: Vec<usize> = signature.results.iter().map(rank).collect();
    let makes_arrays = ranks.iter().any(|&rank| rank > 0);
    let mut sizes: Vec<i64> = vec![0; ranks.iter().sum()];
    let mut memory: Vec<Vec<u64>> = signature.results.iter().map(|_| vec![0]).collect();
    words.extend(memory.iter_mut().map(|place| place.as_mut_ptr() as usize as u64));
    if makes_arrays {
        words.push(sizes.as_mut_ptr() as usize as u64);
    }
    on_device.resize(words.len(), false);
    assert_eq!(words.len(), program.parameter_count(), "a program for other types than its arguments'");

    if makes_arrays {
        run(&**program, &mut words, &on_device)?;
        let mut rest = sizes.as_slice();
        for (at, ty) in signature.results.iter().enumerate() {
            let (mine, others) = rest.split_at(ranks[at]);
            rest = others;
            let count =
                mine.iter().try_fold(1_usize, |count, &extent| count.checked_mul(usize::try_from(extent).ok()?));
            let bytes = count.and_then(|count| count.checked_mul(element(ty).bytes() as usize)).and_then(|bytes| {
                let words = bytes / 8 + 1;
                memory[at].try_reserve_exact(words).ok()?;
                memory[at].resize(words, 0);
                Some(bytes)
            });
            if bytes.is_none() {
                let text = format!("no memory for a new array of extents {mine:?}");
                return Err(CallError::Failed { failure: Failure::OutOfMemory { text } });
            }
            words[first_place + at] = memory[at].as_mut_ptr() as usize as u64;
        }
        words[first_place + ranks.len()] = 0;
    }
    run(&**program, &mut words, &on_device)?;
    let mut rest = sizes.as_slice();
    let results = signature.results.iter().zip(&memory).zip(&ranks).map(|((&ty, words), &rank)| {
        let (mine, others) = rest.split_at(rank);
        rest = others;
        super::values::result_of(ty, mine, words)
    });
    Ok(results.collect())
}

/// One launch; `words` are the values of the parameters.
fn run(program: &dyn Program, words: &mut [u64], on_device: &[bool]) -> Result<(), CallError> {
    let pointers: Vec<*mut c_void> = words.iter_mut().map(|word| (&raw mut *word).cast()).collect();
    // SAFETY: one pointer for each parameter, to a value of its type: the program was compiled for the arguments' types,
    // and a word's first bytes are its number's. Arrays are as large as their extents say (`shape`), and borrowed
    // exclusively where the program writes them, which `call` has checked; results have the memory that the program asked for.
    match unsafe { program.launch_mixed(&pointers, on_device) } {
        0 => Ok(()),
        code => {
            let unknown = || Failure::Cuda { text: format!("the call failed with code {code}") };
            Err(CallError::Failed { failure: program.failure(code).unwrap_or_else(unknown) })
        }
    }
}

fn rank(ty: &Type) -> usize {
    match ty {
        Type::Scalar(_) => 0,
        Type::Array { rank, .. } => *rank as usize,
    }
}

fn element(ty: &Type) -> ScalarType {
    match ty {
        Type::Scalar(ty) => *ty,
        Type::Array { element, .. } => *element,
    }
}

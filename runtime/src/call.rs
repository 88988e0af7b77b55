//! Calling a compiled entry whose signature is known only at run time.
//!
//! C cannot be called with a signature that is a value. So each compiled text gets a second function of one fixed
//! signature, which takes a pointer to each argument and calls the entry.

use std::ffi::c_void;
use std::fmt::Write;
use tessella_codegen::entry::{Entry, EntryParameter};
use tessella_polyhedral::algorithm::Algorithm;
use tessella_scalar::{Constant, ScalarType};

/// The type of one parameter of a C entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ParamType {
    /// A pointer to anything.
    Pointer,
    /// A value; `Bool` is C's `uint8_t`.
    Scalar(ScalarType),
}

/// One argument of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentValue {
    Pointer(*mut c_void),
    Scalar(Constant),
}

/// What an [`ArgumentValue`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentKind {
    Pointer,
    Scalar(ScalarType),
}

/// The types of the parameters of a generated entry, in order.
pub fn entry_parameters(entry: &Entry, algorithm: &Algorithm) -> Vec<ParamType> {
    let types = entry.parameters.iter().map(|parameter| match *parameter {
        EntryParameter::Pointer(_) | EntryParameter::Result(_) | EntryParameter::Made(_) | EntryParameter::Sizes => {
            ParamType::Pointer
        }
        EntryParameter::Extent { .. } | EntryParameter::Stride { .. } | EntryParameter::First { .. } => {
            ParamType::Scalar(ScalarType::I64)
        }
        EntryParameter::Scalar(scalar) => ParamType::Scalar(algorithm.scalar(scalar).ty),
    });
    types.collect()
}

/// The name of the function that [`with_packed_entry`] adds.
pub fn packed_name(entry: &str) -> String {
    format!("{entry}_packed")
}

/// The C text with a function `int32_t ENTRY_packed(void **arguments)` added, which reads each argument of `entry`
/// from where its pointer points.
pub fn with_packed_entry(text: &str, entry: &str, parameters: &[ParamType]) -> String {
    let mut all = text.to_owned();
    if !all.is_empty() && !all.ends_with('\n') {
        all.push('\n');
    }
    let name = packed_name(entry);
    let values: Vec<String> = parameters
        .iter()
        .enumerate()
        .map(|(position, parameter)| format!("*({} *)arguments[{position}]", parameter.c_name()))
        .collect();
    let unused = if values.is_empty() { "    (void)arguments;\n" } else { "" };
    let values = values.join(", ");
    write!(
        all,
        "\n#include <stdint.h>\n\nint32_t {name}(void **arguments);\n\nint32_t {name}(void **arguments) {{\n{unused}    \
         return {entry}({values});\n}}\n"
    )
    .expect("writing to a string does not fail");
    all
}

impl ParamType {
    /// The type in C.
    pub fn c_name(self) -> &'static str {
        match self {
            ParamType::Pointer => "void *",
            ParamType::Scalar(ScalarType::Bool | ScalarType::U8) => "uint8_t",
            ParamType::Scalar(ScalarType::I8) => "int8_t",
            ParamType::Scalar(ScalarType::I16) => "int16_t",
            ParamType::Scalar(ScalarType::I32) => "int32_t",
            ParamType::Scalar(ScalarType::I64) => "int64_t",
            ParamType::Scalar(ScalarType::U16) => "uint16_t",
            ParamType::Scalar(ScalarType::U32) => "uint32_t",
            ParamType::Scalar(ScalarType::U64) => "uint64_t",
            ParamType::Scalar(ScalarType::F32) => "float",
            ParamType::Scalar(ScalarType::F64) => "double",
        }
    }
}

impl ArgumentValue {
    pub fn kind(self) -> ArgumentKind {
        match self {
            ArgumentValue::Pointer(_) => ArgumentKind::Pointer,
            ArgumentValue::Scalar(constant) => ArgumentKind::Scalar(constant.ty),
        }
    }

    pub fn fits(self, parameter: ParamType) -> bool {
        match (self, parameter) {
            (ArgumentValue::Pointer(_), ParamType::Pointer) => true,
            (ArgumentValue::Scalar(constant), ParamType::Scalar(ty)) => constant.ty == ty,
            (ArgumentValue::Pointer(_), ParamType::Scalar(_)) | (ArgumentValue::Scalar(_), ParamType::Pointer) => false,
        }
    }

    /// The value's bytes as the machine stores them, then zeros.
    pub fn bytes(self) -> [u8; 8] {
        match self {
            ArgumentValue::Pointer(pointer) => (pointer as u64).to_ne_bytes(),
            ArgumentValue::Scalar(constant) => scalar_bytes(constant),
        }
    }
}

/// Stores arguments and calls `call` with a pointer to each.
pub fn with_pointers<R>(arguments: &[ArgumentValue], call: impl FnOnce(&[*mut c_void]) -> R) -> R {
    // Eight bytes, suitably aligned, hold a value of any type.
    let mut values: Vec<u64> = arguments.iter().map(|argument| u64::from_ne_bytes(argument.bytes())).collect();
    let pointers: Vec<*mut c_void> = values.iter_mut().map(|value| std::ptr::from_mut(value).cast()).collect();
    call(&pointers)
}

fn scalar_bytes(constant: Constant) -> [u8; 8] {
    let mut bytes = [0; 8];
    let mut put = |value: &[u8]| bytes[..value.len()].copy_from_slice(value);
    match constant.ty.bytes() {
        1 => put(&(constant.bits as u8).to_ne_bytes()),
        2 => put(&(constant.bits as u16).to_ne_bytes()),
        4 => put(&(constant.bits as u32).to_ne_bytes()),
        _ => put(&constant.bits.to_ne_bytes()),
    }
    bytes
}

impl std::fmt::Display for ParamType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ParamType::Pointer => f.write_str("a pointer"),
            ParamType::Scalar(ty) => write!(f, "`{ty}`"),
        }
    }
}

impl std::fmt::Display for ArgumentKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ArgumentKind::Pointer => f.write_str("a pointer"),
            ArgumentKind::Scalar(ty) => write!(f, "`{ty}`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_packed_entry_reads_each_argument_with_its_type() {
        let text = with_packed_entry(
            "int32_t f(float *A, int64_t n, uint8_t b);",
            "f",
            &[ParamType::Pointer, ParamType::Scalar(ScalarType::I64), ParamType::Scalar(ScalarType::Bool)],
        );
        assert!(text.starts_with("int32_t f(float *A, int64_t n, uint8_t b);\n\n"), "{text}");
        let call = "return f(*(void * *)arguments[0], *(int64_t *)arguments[1], *(uint8_t *)arguments[2]);";
        assert!(text.contains(call), "{text}");
    }

    #[test]
    fn stored_scalars_are_as_wide_as_their_types() {
        let minus_one = ArgumentValue::Scalar(Constant::integer(ScalarType::I16, -1));
        assert_eq!(minus_one.bytes(), [0xff, 0xff, 0, 0, 0, 0, 0, 0]);
        let half = ArgumentValue::Scalar(Constant::f32(0.5));
        assert_eq!(half.bytes()[..4], 0.5f32.to_ne_bytes());
    }
}

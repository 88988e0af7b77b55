//! The scalar values that Tessella's programs compute with: element types, constants and operators.
//!
//! Only names and facts live here. What an operator *does* is written three times on purpose: in the interpreter (the
//! oracle), in the C writer and in the CUDA writer.

mod constant;
mod inverse;
mod operator;

pub use constant::Constant;
pub use inverse::{Inverse, inverse};
pub use operator::{BinaryOp, CompareOp, Intrinsic, UnaryOp};

/// An element type of arrays and scalars, with Julia's meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ScalarType {
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F32,
    F64,
}

impl ScalarType {
    pub const ALL: [ScalarType; 11] = [
        ScalarType::Bool,
        ScalarType::I8,
        ScalarType::I16,
        ScalarType::I32,
        ScalarType::I64,
        ScalarType::U8,
        ScalarType::U16,
        ScalarType::U32,
        ScalarType::U64,
        ScalarType::F32,
        ScalarType::F64,
    ];

    /// Size of a value in bytes.
    pub fn bytes(self) -> u32 {
        match self {
            ScalarType::Bool | ScalarType::I8 | ScalarType::U8 => 1,
            ScalarType::I16 | ScalarType::U16 => 2,
            ScalarType::I32 | ScalarType::U32 | ScalarType::F32 => 4,
            ScalarType::I64 | ScalarType::U64 | ScalarType::F64 => 8,
        }
    }

    pub fn is_float(self) -> bool {
        matches!(self, ScalarType::F32 | ScalarType::F64)
    }

    /// Integers other than `Bool`.
    pub fn is_integer(self) -> bool {
        !self.is_float() && self != ScalarType::Bool
    }

    pub fn is_signed_integer(self) -> bool {
        matches!(self, ScalarType::I8 | ScalarType::I16 | ScalarType::I32 | ScalarType::I64)
    }

    /// The least and the greatest value of an integer type or `Bool`; zeros for other types.
    pub fn integer_limits(self) -> (i128, i128) {
        let bits = 8 * self.bytes();
        match self {
            ScalarType::Bool => (0, 1),
            ScalarType::F32 | ScalarType::F64 => (0, 0),
            _ if self.is_signed_integer() => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
            _ => (0, (1 << bits) - 1),
        }
    }

    /// The type's name in Julia, such as `Float64`.
    pub fn julia_name(self) -> &'static str {
        match self {
            ScalarType::Bool => "Bool",
            ScalarType::I8 => "Int8",
            ScalarType::I16 => "Int16",
            ScalarType::I32 => "Int32",
            ScalarType::I64 => "Int64",
            ScalarType::U8 => "UInt8",
            ScalarType::U16 => "UInt16",
            ScalarType::U32 => "UInt32",
            ScalarType::U64 => "UInt64",
            ScalarType::F32 => "Float32",
            ScalarType::F64 => "Float64",
        }
    }

    /// The type that Julia calls `name` (`Int` and `UInt` are 64 bits wide).
    pub fn from_julia_name(name: &str) -> Option<ScalarType> {
        match name {
            "Int" => Some(ScalarType::I64),
            "UInt" => Some(ScalarType::U64),
            _ => ScalarType::ALL.into_iter().find(|ty| ty.julia_name() == name),
        }
    }
}

impl std::fmt::Display for ScalarType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.julia_name())
    }
}

//! Constants: a type and its bits.

use crate::ScalarType;

/// A constant of a [`ScalarType`]. Two constants are equal when type and bits are, so `NaN` equals itself and `-0.0`
/// differs from `0.0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Constant {
    pub ty: ScalarType,
    /// The value's bits, sign- or zero-extended to 64 from the type's own width.
    pub bits: u64,
}

impl Constant {
    pub fn f64(value: f64) -> Self {
        Self { ty: ScalarType::F64, bits: value.to_bits() }
    }

    pub fn f32(value: f32) -> Self {
        Self { ty: ScalarType::F32, bits: u64::from(value.to_bits()) }
    }

    pub fn i64(value: i64) -> Self {
        Self { ty: ScalarType::I64, bits: value as u64 }
    }

    pub fn bool(value: bool) -> Self {
        Self { ty: ScalarType::Bool, bits: u64::from(value) }
    }

    /// An integer constant of any integer type or `Bool`; `value` is wrapped to the type's width.
    pub fn integer(ty: ScalarType, value: i128) -> Self {
        let bits = match ty {
            ScalarType::Bool => u64::from(value != 0),
            ScalarType::I8 => value as i8 as u64,
            ScalarType::I16 => value as i16 as u64,
            ScalarType::I32 => value as i32 as u64,
            ScalarType::I64 => value as i64 as u64,
            ScalarType::U8 => u64::from(value as u8),
            ScalarType::U16 => u64::from(value as u16),
            ScalarType::U32 => u64::from(value as u32),
            ScalarType::U64 => value as u64,
            ScalarType::F32 => u64::from((value as f32).to_bits()),
            ScalarType::F64 => (value as f64).to_bits(),
        };
        Self { ty, bits }
    }

    /// The value of an integer or `Bool` constant; `None` for floats.
    pub fn as_integer(self) -> Option<i128> {
        match self.ty {
            ScalarType::I8 | ScalarType::I16 | ScalarType::I32 | ScalarType::I64 => Some(i128::from(self.bits as i64)),
            ScalarType::Bool | ScalarType::U8 | ScalarType::U16 | ScalarType::U32 | ScalarType::U64 => {
                Some(i128::from(self.bits))
            }
            ScalarType::F32 | ScalarType::F64 => None,
        }
    }

    /// The value of a float constant, widened to 64 bits; `None` for integers.
    pub fn as_float(self) -> Option<f64> {
        match self.ty {
            ScalarType::F32 => Some(f64::from(f32::from_bits(self.bits as u32))),
            ScalarType::F64 => Some(f64::from_bits(self.bits)),
            _ => None,
        }
    }
}

impl std::fmt::Display for Constant {
    /// As Julia writes it: `0.25`, `0.25f0`, `3`, `true`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.ty, self.as_integer(), self.as_float()) {
            (ScalarType::Bool, _, _) => write!(f, "{}", self.bits != 0),
            (_, Some(value), _) => write!(f, "{value}"),
            (ScalarType::F32, _, _) if f32::from_bits(self.bits as u32).is_infinite() => {
                f.write_str(if f32::from_bits(self.bits as u32) > 0.0 { "Inf32" } else { "-Inf32" })
            }
            (ScalarType::F32, _, _) if f32::from_bits(self.bits as u32).is_nan() => f.write_str("NaN32"),
            (ScalarType::F32, _, _) => write!(f, "{}f0", f32::from_bits(self.bits as u32)),
            (_, _, _) => write!(f, "{:?}", f64::from_bits(self.bits)),
        }
    }
}

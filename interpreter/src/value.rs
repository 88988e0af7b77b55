//! Values that functions take and give: scalars, and contiguous column-major arrays.

use tessella_frontend::typed::tree::{Type, dense};
use tessella_scalar::{Constant, ScalarType};

/// An argument or a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    Scalar(Constant),
    Array(Array),
}

/// What a function gives back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Returned {
    Nothing,
    Value(Value),
    Tuple(Vec<Returned>),
    /// One of several results: its number, from 0.
    OneOf {
        position: usize,
        value: Box<Returned>,
    },
}

/// A contiguous array in column-major order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Array {
    element: ScalarType,
    extents: Vec<u64>,
    /// The first index along each axis; empty where subscripts count from 1.
    firsts: Vec<i64>,
    bytes: Vec<u8>,
}

/// Extents that do not describe the bytes given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    #[error("an array of extents {extents:?} is too large")]
    TooLarge { extents: Vec<u64> },
    #[error("no memory for an array of extents {extents:?}: {bytes} bytes")]
    NoMemory { extents: Vec<u64>, bytes: usize },
    #[error("an array of extents {extents:?} takes {expected} bytes, not {given}")]
    Length { extents: Vec<u64>, expected: usize, given: usize },
}

impl Array {
    /// An array over `bytes`, in the machine's own byte order.
    pub fn new(element: ScalarType, extents: Vec<u64>, bytes: Vec<u8>) -> Result<Self, ShapeError> {
        let expected = byte_length(element, &extents)?;
        if bytes.len() != expected {
            return Err(ShapeError::Length { extents, expected, given: bytes.len() });
        }
        Ok(Self { element, extents, firsts: vec![], bytes })
    }

    pub fn zeros(element: ScalarType, extents: Vec<u64>) -> Result<Self, ShapeError> {
        let length = byte_length(element, &extents)?;
        let mut bytes = vec![];
        if bytes.try_reserve_exact(length).is_err() {
            return Err(ShapeError::NoMemory { extents, bytes: length });
        }
        bytes.resize(length, 0);
        Ok(Self { element, extents, firsts: vec![], bytes })
    }

    /// An array whose elements, in memory order, are `element_at(0)`, `element_at(1)`, ...
    pub fn from_fn(
        element: ScalarType,
        extents: Vec<u64>,
        mut element_at: impl FnMut(usize) -> Constant,
    ) -> Result<Self, ShapeError> {
        let mut array = Self::zeros(element, extents)?;
        for position in 0..array.len() {
            array.set(position, element_at(position));
        }
        Ok(array)
    }

    pub fn element(&self) -> ScalarType {
        self.element
    }

    pub fn extents(&self) -> &[u64] {
        &self.extents
    }

    /// The same elements with these first indices, one for each axis or none.
    pub fn counting_from(self, firsts: Vec<i64>) -> Self {
        Self { firsts, ..self }
    }

    /// One for each axis, or none where all are 1.
    pub fn firsts(&self) -> &[i64] {
        &self.firsts
    }

    /// The first index along an axis.
    pub fn first(&self, axis: usize) -> i64 {
        self.firsts.get(axis).copied().unwrap_or(1)
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.bytes.len() / self.element.bytes() as usize
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The element at a position in memory, from 0; panics beyond the end.
    pub fn get(&self, position: usize) -> Constant {
        let size = self.element.bytes() as usize;
        let bytes = &self.bytes[position * size..(position + 1) * size];
        let mut wide = [0; 8];
        wide[..size].copy_from_slice(bytes);
        let bits = u64::from_le_bytes(if cfg!(target_endian = "big") { reversed(wide, size) } else { wide });
        from_own_width(self.element, bits)
    }

    /// Replaces the element at a position in memory; panics beyond the end. `value` has the array's element type.
    pub fn set(&mut self, position: usize, value: Constant) {
        debug_assert_eq!(value.ty, self.element, "an array holds elements of one type");
        let size = self.element.bytes() as usize;
        let little = value.bits.to_le_bytes();
        let bytes = if cfg!(target_endian = "big") { reversed(little, size) } else { little };
        self.bytes[position * size..(position + 1) * size].copy_from_slice(&bytes[..size]);
    }
}

impl Value {
    pub fn ty(&self) -> Type {
        match self {
            Value::Scalar(constant) => Type::Scalar(constant.ty),
            Value::Array(array) => dense(array.element, array.extents.len() as u32),
        }
    }
}

impl Value {
    /// Whether a parameter of this type takes the value; how an array lies in memory does not matter here.
    pub fn is_of(&self, ty: Type) -> bool {
        match (self, ty) {
            (Value::Scalar(constant), Type::Scalar(ty)) => constant.ty == ty,
            (Value::Array(array), Type::Array { element, rank, form: _ }) => {
                array.element == element && array.extents.len() == rank as usize
            }
            (Value::Scalar(_), Type::Array { .. }) | (Value::Array(_), Type::Scalar(_)) => false,
        }
    }
}

/// The constant whose own bits (1, 2, 4 or 8 bytes) are the low ones of `bits`.
fn from_own_width(ty: ScalarType, bits: u64) -> Constant {
    match ty {
        ScalarType::I8 => Constant::integer(ty, i128::from(bits as i8)),
        ScalarType::I16 => Constant::integer(ty, i128::from(bits as i16)),
        ScalarType::I32 => Constant::integer(ty, i128::from(bits as i32)),
        ScalarType::Bool => Constant::bool(bits & 0xff != 0),
        ScalarType::I64
        | ScalarType::U8
        | ScalarType::U16
        | ScalarType::U32
        | ScalarType::U64
        | ScalarType::F32
        | ScalarType::F64 => Constant { ty, bits },
    }
}

fn reversed(mut bytes: [u8; 8], size: usize) -> [u8; 8] {
    bytes[..size].reverse();
    bytes
}

fn byte_length(element: ScalarType, extents: &[u64]) -> Result<usize, ShapeError> {
    let product = extents.iter().try_fold(u64::from(element.bytes()), |product, &extent| product.checked_mul(extent));
    product
        .filter(|&length| length <= isize::MAX as u64)
        .and_then(|length| usize::try_from(length).ok())
        .ok_or_else(|| ShapeError::TooLarge { extents: extents.to_vec() })
}

#[cfg(test)]
mod tests {
    use super::{Array, ShapeError};
    use tessella_scalar::{Constant, ScalarType};

    #[test]
    fn elements_keep_their_bits() {
        for ty in ScalarType::ALL {
            let number = |at: usize| Constant::integer(ty, at as i128 - 1);
            let array = Array::from_fn(ty, vec![3, 2], number).unwrap();
            assert!((0..6).all(|at| array.get(at) == number(at)), "{ty}");
        }
    }

    #[test]
    fn shapes_must_fit_the_bytes() {
        assert!(matches!(Array::new(ScalarType::F64, vec![2], vec![0; 15]), Err(ShapeError::Length { .. })));
        assert!(matches!(Array::zeros(ScalarType::F64, vec![1 << 40, 1 << 40]), Err(ShapeError::TooLarge { .. })));
        assert_eq!(Array::zeros(ScalarType::F64, vec![0, 5]).unwrap().len(), 0);
    }
}

//! Argument types as text: `Matrix{Float32}`, `Array{Float64, 3}`, `Int`.

use super::complex::half_of_name;
use super::tree::{ArgumentType, Type};
use tessella_scalar::ScalarType;

/// Why a text is not the type of an argument.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TypeTextError {
    #[error(
        "unknown element type `{name}`; the known ones are Bool, Int8 to Int64, UInt8 to UInt64, Float32, Float64, \
         ComplexF32 and ComplexF64"
    )]
    Element { name: String },
    #[error("`{text}` is not a type: write for example `Float64`, `Vector{{Int32}}` or `Array{{Float64,3}}`")]
    Form { text: String },
    #[error("`{text}` needs a dimension from 1 to 32")]
    Rank { text: String },
}

/// Reads the type of an argument as Julia writes it.
pub fn parse_type(text: &str) -> Result<ArgumentType, TypeTextError> {
    // `Complex{Float64}` and `ComplexF64` are one type.
    let spaceless: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let text = spaceless.replace("Complex{Float64}", "ComplexF64").replace("Complex{Float32}", "ComplexF32");
    let text = text.as_str();
    let Some((name, rest)) = text.split_once('{') else {
        return element(text).map(scalar_type);
    };
    let form = || TypeTextError::Form { text: text.to_string() };
    let inner = rest.strip_suffix('}').ok_or_else(form)?;
    let parameters: Vec<&str> = inner.split(',').map(str::trim).collect();
    let rank_of = |text: &str| match text.parse::<u32>() {
        Ok(rank) if (1..=32).contains(&rank) => Ok(rank),
        Ok(_) | Err(_) => Err(TypeTextError::Rank { text: text.to_string() }),
    };
    match (name.trim(), parameters.as_slice()) {
        ("Vector" | "AbstractVector", [of]) => Ok(array_type(element(of)?, 1)),
        ("Matrix" | "AbstractMatrix", [of]) => Ok(array_type(element(of)?, 2)),
        ("Array" | "AbstractArray", [of, rank]) => Ok(array_type(element(of)?, rank_of(rank)?)),
        (_, _) => Err(form()),
    }
}

/// A number's type, and whether it is that of a complex number's halves.
fn element(name: &str) -> Result<(ScalarType, bool), TypeTextError> {
    if let Some(half) = half_of_name(name) {
        return Ok((half, true));
    }
    let real = ScalarType::from_julia_name(name).ok_or_else(|| TypeTextError::Element { name: name.to_string() });
    real.map(|ty| (ty, false))
}

fn scalar_type((ty, is_complex): (ScalarType, bool)) -> ArgumentType {
    of(Type::Scalar(ty), is_complex)
}

fn array_type((element, is_complex): (ScalarType, bool), rank: u32) -> ArgumentType {
    of(Type::Array { element, rank }, is_complex)
}

fn of(ty: Type, is_complex: bool) -> ArgumentType {
    if is_complex { ArgumentType::Complex(ty) } else { ArgumentType::Real(ty) }
}

#[cfg(test)]
mod tests {
    use super::{TypeTextError, parse_type};
    use crate::typed::tree::{ArgumentType, Type};
    use tessella_scalar::ScalarType;

    #[test]
    fn types_are_read_as_julia_writes_them() {
        let array = |element, rank| Ok(ArgumentType::Real(Type::Array { element, rank }));
        assert_eq!(parse_type("Matrix{Float32}"), array(ScalarType::F32, 2));
        assert_eq!(parse_type(" Array{Float64, 3} "), array(ScalarType::F64, 3));
        assert_eq!(parse_type("Vector{Int}"), array(ScalarType::I64, 1));
        assert_eq!(parse_type("UInt8"), Ok(ArgumentType::Real(Type::Scalar(ScalarType::U8))));
        let complex = ArgumentType::Complex(Type::Array { element: ScalarType::F32, rank: 2 });
        assert_eq!(parse_type("Matrix{Complex{ Float32 }}"), Ok(complex));
        assert_eq!(parse_type("ComplexF64"), Ok(ArgumentType::Complex(Type::Scalar(ScalarType::F64))));
        assert_eq!(parse_type("Matrix"), Err(TypeTextError::Element { name: "Matrix".into() }));
        assert_eq!(parse_type("Array{Float64,0}"), Err(TypeTextError::Rank { text: "0".into() }));
        assert_eq!(parse_type("Matrix{Float64"), Err(TypeTextError::Form { text: "Matrix{Float64".into() }));
    }
}

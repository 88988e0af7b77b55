//! Argument types as text: `Matrix{Float32}`, `Array{Float64, 3}`, `Int`.

use super::tree::Type;
use tessella_scalar::ScalarType;

/// Why a text is not the type of an argument.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TypeTextError {
    #[error(
        "unknown element type `{name}`; the known ones are Bool, Int8 to Int64, UInt8 to UInt64, Float32 and Float64"
    )]
    Element { name: String },
    #[error("`{text}` is not a type: write for example `Float64`, `Vector{{Int32}}` or `Array{{Float64,3}}`")]
    Form { text: String },
    #[error("`{text}` needs a dimension from 1 to 32")]
    Rank { text: String },
}

/// Reads the type of an argument as Julia writes it.
pub fn parse_type(text: &str) -> Result<Type, TypeTextError> {
    let text = text.trim();
    let Some((name, rest)) = text.split_once('{') else {
        return element(text).map(Type::Scalar);
    };
    let form = || TypeTextError::Form { text: text.to_string() };
    let inner = rest.strip_suffix('}').ok_or_else(form)?;
    let parameters: Vec<&str> = inner.split(',').map(str::trim).collect();
    let rank_of = |text: &str| match text.parse::<u32>() {
        Ok(rank) if (1..=32).contains(&rank) => Ok(rank),
        Ok(_) | Err(_) => Err(TypeTextError::Rank { text: text.to_string() }),
    };
    match (name.trim(), parameters.as_slice()) {
        ("Vector" | "AbstractVector", [of]) => Ok(Type::Array { element: element(of)?, rank: 1 }),
        ("Matrix" | "AbstractMatrix", [of]) => Ok(Type::Array { element: element(of)?, rank: 2 }),
        ("Array" | "AbstractArray", [of, rank]) => Ok(Type::Array { element: element(of)?, rank: rank_of(rank)? }),
        (_, _) => Err(form()),
    }
}

fn element(name: &str) -> Result<ScalarType, TypeTextError> {
    ScalarType::from_julia_name(name).ok_or_else(|| TypeTextError::Element { name: name.to_string() })
}

#[cfg(test)]
mod tests {
    use super::{TypeTextError, parse_type};
    use crate::typed::tree::Type;
    use tessella_scalar::ScalarType;

    #[test]
    fn types_are_read_as_julia_writes_them() {
        let array = |element, rank| Ok(Type::Array { element, rank });
        assert_eq!(parse_type("Matrix{Float32}"), array(ScalarType::F32, 2));
        assert_eq!(parse_type(" Array{Float64, 3} "), array(ScalarType::F64, 3));
        assert_eq!(parse_type("Vector{Int}"), array(ScalarType::I64, 1));
        assert_eq!(parse_type("UInt8"), Ok(Type::Scalar(ScalarType::U8)));
        assert_eq!(parse_type("Matrix"), Err(TypeTextError::Element { name: "Matrix".into() }));
        assert_eq!(parse_type("Array{Float64,0}"), Err(TypeTextError::Rank { text: "0".into() }));
        assert_eq!(parse_type("Matrix{Float64"), Err(TypeTextError::Form { text: "Matrix{Float64".into() }));
    }
}

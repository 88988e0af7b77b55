//! Argument types as text: `Matrix{Float32}`, `Array{Float64, 3}`, `Int`.

use super::tree::{Firsts, Form, Strides, Type};
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
///
/// `StridedArray{T,N}` is an array whose strides are given at run time, `StridedArray{T,N,1}` one whose stride along the
/// first axis is 1. `OffsetArray{T,N}` has first indices of its own, over an `Array`; `OffsetArray{T,N,A}` over an `A`.
pub fn parse_type(text: &str) -> Result<Type, TypeTextError> {
    let text = text.trim();
    let Some((name, rest)) = text.split_once('{') else {
        return element(text).map(Type::Scalar);
    };
    let form = || TypeTextError::Form { text: text.to_string() };
    let inner = rest.strip_suffix('}').ok_or_else(form)?;
    let mut parameters = parameters(inner).into_iter();
    let of = element(parameters.next().ok_or_else(form)?)?;
    let name = name.trim();
    let (kind, rank) = match name.strip_suffix("Vector").map(|kind| (kind, 1)) {
        Some(known) => known,
        None => match (name.strip_suffix("Matrix"), name.strip_suffix("Array")) {
            (Some(kind), _) => (kind, 2),
            (None, Some(kind)) => (kind, rank(parameters.next().ok_or_else(form)?)?),
            (None, None) => return Err(form()),
        },
    };
    let last = parameters.next();
    if parameters.next().is_some() {
        return Err(form());
    }
    let form = match (kind, last) {
        ("" | "Abstract", None) => Form::DENSE,
        // All vectors with a stride of 1 are dense.
        ("Strided", Some("1")) if rank == 1 => Form::DENSE,
        ("Strided", Some("1")) => Form { strides: Strides::UnitFirst, ..Form::DENSE },
        ("Strided", None) => Form { strides: Strides::Free, ..Form::DENSE },
        ("Offset", None) => Form { firsts: Firsts::Free, ..Form::DENSE },
        ("Offset", Some(under)) => match parse_type(under)? {
            Type::Array { element, rank: other, form: Form { strides, firsts: Firsts::One } }
                if element == of && other == rank =>
            {
                Form { strides, firsts: Firsts::Free }
            }
            Type::Array { .. } | Type::Scalar(_) => return Err(form()),
        },
        (_, _) => return Err(form()),
    };
    Ok(Type::Array { element: of, rank, form })
}

/// What stands between the braces, split at the commas that are in no inner ones.
fn parameters(inner: &str) -> Vec<&str> {
    let mut depth = 0;
    let parts = inner.split(|c| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        c == ',' && depth == 0
    });
    parts.map(str::trim).collect()
}

fn rank(text: &str) -> Result<u32, TypeTextError> {
    match text.parse::<u32>() {
        Ok(rank) if (1..=32).contains(&rank) => Ok(rank),
        Ok(_) | Err(_) => Err(TypeTextError::Rank { text: text.to_string() }),
    }
}

fn element(name: &str) -> Result<ScalarType, TypeTextError> {
    ScalarType::from_julia_name(name).ok_or_else(|| TypeTextError::Element { name: name.to_string() })
}

#[cfg(test)]
mod tests {
    use super::{TypeTextError, parse_type};
    use crate::typed::tree::{Firsts, Form, Strides, Type, dense};
    use tessella_scalar::ScalarType;

    #[test]
    fn types_are_read_as_julia_writes_them() {
        let array = |element, rank| Ok(dense(element, rank));
        assert_eq!(parse_type("Matrix{Float32}"), array(ScalarType::F32, 2));
        assert_eq!(parse_type(" Array{Float64, 3} "), array(ScalarType::F64, 3));
        assert_eq!(parse_type("Vector{Int}"), array(ScalarType::I64, 1));
        assert_eq!(parse_type("UInt8"), Ok(Type::Scalar(ScalarType::U8)));
        assert_eq!(parse_type("Matrix"), Err(TypeTextError::Element { name: "Matrix".into() }));
        assert_eq!(parse_type("Array{Float64,0}"), Err(TypeTextError::Rank { text: "0".into() }));
        assert_eq!(parse_type("Matrix{Float64"), Err(TypeTextError::Form { text: "Matrix{Float64".into() }));
    }

    #[test]
    fn strided_and_offset_arrays_say_what_is_given_at_run_time() {
        let array =
            |rank, strides, firsts| Ok(Type::Array { element: ScalarType::F64, rank, form: Form { strides, firsts } });
        assert_eq!(parse_type("StridedVector{Float64}"), array(1, Strides::Free, Firsts::One));
        assert_eq!(parse_type("StridedVector{Float64,1}"), array(1, Strides::Dense, Firsts::One));
        assert_eq!(parse_type("StridedMatrix{Float64}"), array(2, Strides::Free, Firsts::One));
        assert_eq!(parse_type("StridedArray{Float64,3,1}"), array(3, Strides::UnitFirst, Firsts::One));
        assert_eq!(parse_type("OffsetVector{Float64}"), array(1, Strides::Dense, Firsts::Free));
        assert_eq!(parse_type("OffsetArray{Float64, 2, Matrix{Float64}}"), array(2, Strides::Dense, Firsts::Free));
        let inner = "OffsetMatrix{Float64,StridedArray{Float64,2,1}}";
        assert_eq!(parse_type(inner), array(2, Strides::UnitFirst, Firsts::Free));
        for wrong in [
            "OffsetVector{Float64,Vector{Float32}}",
            "OffsetMatrix{Float64,Vector{Float64}}",
            "OffsetVector{Float64,OffsetVector{Float64}}",
            "StridedMatrix{Float64,2}",
            "Matrix{Float64,1}",
            "Array{Float64}",
        ] {
            assert_eq!(parse_type(wrong), Err(TypeTextError::Form { text: wrong.into() }));
        }
    }
}

//! Argument types as text: `Matrix{Float32}`, `Array{Float64, 3}`, `Int`.

use super::complex::half_of_name;
use super::tree::{ArgumentType, Firsts, Form, Strides, Type, dense};
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
    #[error("`{text}` is an array of complex numbers with strides or first indices of its own; write `Array{{...}}`")]
    ComplexForm { text: String },
}

/// Reads the type of an argument as Julia writes it.
///
/// `StridedArray{T,N}` is an array whose strides are given at run time, `StridedArray{T,N,1}` one whose stride along the
/// first axis is 1. `OffsetArray{T,N}` has first indices of its own, over an `Array`; `OffsetArray{T,N,A}` over an `A`.
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
    let mut parameters = parameters(inner).into_iter();
    let (of, is_complex) = element(parameters.next().ok_or_else(form)?)?;
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
            ArgumentType::Real(Type::Array { element, rank: other, form: Form { strides, firsts: Firsts::One } })
                if !is_complex && element == of && other == rank =>
            {
                Form { strides, firsts: Firsts::Free }
            }
            ArgumentType::Complex(_) => return Err(TypeTextError::ComplexForm { text: text.to_string() }),
            ArgumentType::Real(Type::Array { .. } | Type::Scalar(_)) => return Err(form()),
        },
        (_, _) => return Err(form()),
    };
    match (is_complex, form) {
        (false, form) => Ok(ArgumentType::Real(Type::Array { element: of, rank, form })),
        (true, Form::DENSE) => Ok(ArgumentType::Complex(dense(of, rank))),
        (true, _) => Err(TypeTextError::ComplexForm { text: text.to_string() }),
    }
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

fn of(ty: Type, is_complex: bool) -> ArgumentType {
    if is_complex { ArgumentType::Complex(ty) } else { ArgumentType::Real(ty) }
}

#[cfg(test)]
mod tests {
    use super::{TypeTextError, parse_type};
    use crate::typed::tree::{ArgumentType, Firsts, Form, Strides, Type, dense};
    use tessella_scalar::ScalarType;

    #[test]
    fn types_are_read_as_julia_writes_them() {
        let array = |element, rank| Ok(ArgumentType::Real(dense(element, rank)));
        assert_eq!(parse_type("Matrix{Float32}"), array(ScalarType::F32, 2));
        assert_eq!(parse_type(" Array{Float64, 3} "), array(ScalarType::F64, 3));
        assert_eq!(parse_type("Vector{Int}"), array(ScalarType::I64, 1));
        assert_eq!(parse_type("UInt8"), Ok(ArgumentType::Real(Type::Scalar(ScalarType::U8))));
        let complex = ArgumentType::Complex(dense(ScalarType::F32, 2));
        assert_eq!(parse_type("Matrix{Complex{ Float32 }}"), Ok(complex));
        assert_eq!(parse_type("ComplexF64"), Ok(ArgumentType::Complex(Type::Scalar(ScalarType::F64))));
        assert_eq!(parse_type("Matrix"), Err(TypeTextError::Element { name: "Matrix".into() }));
        assert_eq!(parse_type("Array{Float64,0}"), Err(TypeTextError::Rank { text: "0".into() }));
        assert_eq!(parse_type("Matrix{Float64"), Err(TypeTextError::Form { text: "Matrix{Float64".into() }));
    }

    #[test]
    fn strided_and_offset_arrays_say_what_is_given_at_run_time() {
        let array = |rank, strides, firsts| {
            let form = Form { strides, firsts };
            Ok(ArgumentType::Real(Type::Array { element: ScalarType::F64, rank, form }))
        };
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

    #[test]
    fn complex_arrays_are_dense() {
        for wrong in [
            "StridedVector{ComplexF64}",
            "StridedArray{ComplexF32,2,1}",
            "OffsetVector{ComplexF64}",
            "OffsetMatrix{ComplexF64,Matrix{ComplexF64}}",
        ] {
            assert_eq!(parse_type(wrong), Err(TypeTextError::ComplexForm { text: wrong.into() }));
        }
    }
}

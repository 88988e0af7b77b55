//! Constants of a Julia session as definitions that the type checker reads.

use crate::request::ConstantValue;
use tessella_diagnostics::{FileId, Span};
use tessella_frontend::ast::{Argument, Broadcast, Expr, ExprKind, Operator, Section};
use tessella_frontend::typed::ModuleConstant;
use tessella_scalar::ScalarType;

/// A value made in the session has no place in the source; it is shown where it is used.
const NOWHERE: Span = Span { file: FileId(0), start: 0, end: 0 };

impl ConstantValue {
    /// `const name = value`; `None` for a type that no program has.
    pub fn definition(&self) -> Option<ModuleConstant> {
        let value = match self.ty.as_str() {
            "Type" => name(ScalarType::from_julia_name(&self.value)?.julia_name()),
            "Tuple" => expr(ExprKind::Tuple(all_parts(&self.value)?)),
            "Place" => place(all_parts(&self.value)?),
            "Array" => array(&self.value)?,
            ty => number(ScalarType::from_julia_name(ty)?, self.value.parse().ok()?),
        };
        Some(ModuleConstant { name: self.name.clone(), value })
    }
}

/// All that a text lists.
fn all_parts(text: &str) -> Option<Vec<Argument>> {
    parts(&mut text.split_whitespace(), None)
}

/// `Float64:bits b=Float64:bits ( Int64:bits ) [ Int64:bits Int64:bits ]`: the parts of a tuple or place up to the bracket that
/// ends it, or to the end of all; names before those that have one.
fn parts<'t>(words: &mut impl Iterator<Item = &'t str>, end: Option<&str>) -> Option<Vec<Argument>> {
    let mut all = vec![];
    loop {
        let word = words.next();
        if word == end {
            return Some(all);
        }
        let word = word?;
        let (keyword, text) = match word.split_once('=') {
            Some((name, text)) => {
                (Some(tessella_diagnostics::Spanned { value: name.to_string(), span: NOWHERE }), text)
            }
            None => (None, word),
        };
        let value = match text {
            "(" => expr(ExprKind::Tuple(parts(words, Some(")"))?)),
            "[" => place(parts(words, Some("]"))?),
            text => {
                let (ty, bits) = text.split_once(':')?;
                number(ScalarType::from_julia_name(ty)?, bits.parse().ok()?)
            }
        };
        all.push(Argument { keyword, value, section: Section::Main });
    }
}

/// `CartesianIndex(i, j)`.
fn place(subscripts: Vec<Argument>) -> Expr {
    let callee = Box::new(name("CartesianIndex"));
    expr(ExprKind::Call { callee, arguments: subscripts, broadcast: Broadcast::No })
}

/// `Float64 2x3 bits bits ...`: the element type, the extents, and the bits of the elements in order.
fn array(text: &str) -> Option<Expr> {
    let mut words = text.split_whitespace();
    let ty = ScalarType::from_julia_name(words.next()?)?;
    let extents: Vec<i128> = words.next()?.split('x').map(|extent| extent.parse().ok()).collect::<Option<_>>()?;
    let positional = |value| Argument { keyword: None, value, section: Section::Main };
    let elements = words.map(|bits| Some(positional(number(ty, bits.parse().ok()?)))).collect::<Option<Vec<_>>>()?;
    let vector = expr(ExprKind::Index { base: Box::new(name(ty.julia_name())), subscripts: elements });
    if extents.len() == 1 {
        return Some(vector);
    }
    let arguments = std::iter::once(vector).chain(extents.into_iter().map(integer)).map(positional).collect();
    Some(expr(ExprKind::Call { callee: Box::new(name("reshape")), arguments, broadcast: Broadcast::No }))
}

/// An expression whose value has exactly these bits.
fn number(ty: ScalarType, bits: u64) -> Expr {
    match ty {
        ScalarType::Bool => expr(ExprKind::Bool(bits != 0)),
        ScalarType::F64 => float(f64::from_bits(bits)),
        ScalarType::F32 => call("Float32", float(f64::from(f32::from_bits(bits as u32)))),
        ScalarType::I64 => integer(i128::from(bits as i64)),
        ScalarType::I32 => call("Int32", integer(i128::from(bits as u32 as i32))),
        ScalarType::I16 => call("Int16", integer(i128::from(bits as u16 as i16))),
        ScalarType::I8 => call("Int8", integer(i128::from(bits as u8 as i8))),
        ScalarType::U8 | ScalarType::U16 | ScalarType::U32 => call(ty.julia_name(), integer(i128::from(bits))),
        // A literal beyond `Int64` is an `Int128` in decimal, and a `UInt64` in hexadecimal.
        ScalarType::U64 => expr(ExprKind::Integer(format!("0x{bits:016x}"))),
    }
}

fn float(value: f64) -> Expr {
    let magnitude = match value.abs() {
        value if value.is_nan() => return name("NaN"),
        value if value.is_infinite() => name("Inf"),
        value => expr(ExprKind::Float(format!("{value:?}"))),
    };
    if value.is_sign_negative() { negated(magnitude) } else { magnitude }
}

fn integer(value: i128) -> Expr {
    let magnitude = expr(ExprKind::Integer(value.unsigned_abs().to_string()));
    if value < 0 { negated(magnitude) } else { magnitude }
}

fn negated(operand: Expr) -> Expr {
    let operator = Operator { symbol: "-".into(), dotted: false };
    let operator = tessella_diagnostics::Spanned { value: operator, span: NOWHERE };
    expr(ExprKind::Prefix { operator, operand: Box::new(operand) })
}

fn call(function: &str, value: Expr) -> Expr {
    let arguments = vec![Argument { keyword: None, value, section: Section::Main }];
    expr(ExprKind::Call { callee: Box::new(name(function)), arguments, broadcast: Broadcast::No })
}

fn name(name: &str) -> Expr {
    expr(ExprKind::Name(name.into()))
}

fn expr(kind: ExprKind) -> Expr {
    Expr { kind, span: NOWHERE }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn defined(ty: &str, value: &str) -> Option<ExprKind> {
        let constant = ConstantValue { name: "C".into(), ty: ty.into(), value: value.into() };
        constant.definition().map(|constant| constant.value.kind)
    }

    #[test]
    fn tuples_hold_numbers_places_and_tuples() {
        let Some(ExprKind::Tuple(parts)) = defined("Tuple", "Int64:1 [ Int64:2 Int64:3 ] at=( Bool:1 )") else {
            panic!("a tuple");
        };
        assert_eq!(parts.len(), 3);
        assert!(matches!(&parts[1].value.kind, ExprKind::Call { arguments, .. } if arguments.len() == 2));
        assert!(matches!(&parts[2].value.kind, ExprKind::Tuple(inner) if inner.len() == 1));
        assert_eq!(parts[2].keyword.as_ref().map(|name| name.value.as_str()), Some("at"));
    }

    #[test]
    fn brackets_that_do_not_match_are_no_constant() {
        for text in ["( Int64:1", "Int64:1 )", "[ Int64:1 )", "[ Int64:1 ] ]"] {
            assert!(defined("Tuple", text).is_none(), "{text}");
        }
    }
}

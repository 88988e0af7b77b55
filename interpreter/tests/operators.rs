//! Every operator on every pair of types against Julia's own answers, in `operators.txt` (written by `operators.jl`):
//! the checker must find Julia's result type, and the interpreter Julia's bits. What is refused must be on the list.

use std::collections::{BTreeMap, BTreeSet};
use tessella_diagnostics::{FileId, Span, Spanned};
use tessella_frontend::ast::{Argument, Broadcast, Expr, ExprKind, Function, Operator, Parameter, Section};
use tessella_frontend::typed::tree::Type;
use tessella_frontend::typed::{TypeError, check};
use tessella_interpreter::{Returned, Value, run};
use tessella_scalar::{Constant, ScalarType};

const TABLE: &str = include_str!("operators.txt");

const INFIX: [&str; 14] = ["+", "-", "*", "/", "÷", "%", "&", "|", "⊻", "<<", ">>", ">>>", "~", "!"];
const COMPARISONS: [&str; 6] = ["==", "!=", "<", "<=", ">", ">="];
const DIVISIONS: [&str; 5] = ["÷", "%", "mod", "fld", "cld"];

#[test]
fn operators_have_julias_types_and_bits() {
    let mut values: BTreeMap<(&str, &str), Vec<Constant>> = BTreeMap::new();
    let mut refused: BTreeMap<&str, BTreeSet<&'static str>> = BTreeMap::new();
    let mut wrong: Vec<String> = vec![];
    let (mut compared, mut lines) = (0, 0);
    for line in TABLE.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        if let ["values", set, ty, bits @ ..] = words.as_slice() {
            let scalar = ScalarType::from_julia_name(ty).unwrap();
            values.insert((*set, *ty), bits.iter().map(|bits| constant(scalar, bits)).collect());
            continue;
        }
        let equals = words.iter().position(|word| *word == "=").unwrap();
        let (operator, types) = (words[0], &words[1..equals]);
        let (result, expected) = (words[equals + 1], &words[equals + 2..]);
        let may_throw = expected.contains(&"x");
        let set = match types {
            [a, b] if a != b || operator == "clamp" || operator == "muladd" => "few",
            _ => "many",
        };
        let operands: Vec<&Vec<Constant>> = types.iter().map(|ty| &values[&(set, *ty)]).collect();
        let combinations: Vec<Vec<Constant>> = match operands.as_slice() {
            [only] => only.iter().map(|&value| vec![value]).collect(),
            [first, second] => first.iter().flat_map(|&a| second.iter().map(move |&b| vec![a, b])).collect(),
            _ => panic!("unexpected operands in {line}"),
        };
        assert_eq!(combinations.len(), expected.len(), "{line}");
        lines += 1;
        for (combination, expected) in combinations.iter().zip(expected) {
            let context = || format!("{operator} {combination:?}, Julia: {result} {expected}");
            match evaluate(operator, combination) {
                Err(codes) => {
                    // An operator that Julia may refuse at run time is refused before; all else must be listed.
                    let codes: Vec<_> = codes.into_iter().filter(|&code| code != "E0210" || !may_throw).collect();
                    if *expected != "x" && !codes.is_empty() {
                        refused.entry(operator).or_default().extend(codes);
                    }
                }
                Ok(None) if *expected == "x" => {}
                Ok(None) => wrong.push(format!("{}: throws", context())),
                Ok(Some(value)) if *expected == "x" => {
                    let is_nan = value.as_float().is_some_and(f64::is_nan);
                    if operator != "sqrt" || !is_nan {
                        wrong.push(format!("{}: {value}", context()));
                    }
                }
                Ok(Some(value)) => {
                    compared += 1;
                    let same_type = value.ty.julia_name() == result;
                    let same_bits = match value.as_float() {
                        Some(float) if float.is_nan() => *expected == "N",
                        _ => *expected != "N" && value == constant(value.ty, expected),
                    };
                    let tolerated = operator.starts_with('^') && value.ty.is_float() && is_near(value, expected);
                    if !same_type || !(same_bits || tolerated) {
                        wrong.push(format!("{}: {value}::{}", context(), value.ty));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong results:\n{}", wrong.len(), wrong[..wrong.len().min(40)].join("\n"));
    assert!(lines > 3000 && compared > 40_000, "{lines} lines, {compared} results compared");
    let refused: Vec<String> = refused
        .iter()
        .map(|(operator, codes)| format!("{operator} {}", codes.iter().copied().collect::<Vec<_>>().join(" ")))
        .collect();
    assert_eq!(refused, REFUSED);
}

/// What the checker refuses although Julia computes it.
///
/// E0211: the divisor -1; E0212: operators of `Bool` (and integers' `copysign`) that
/// nobody misses, and `cld` of two float types; E0224: signed divided by
/// unsigned.
const REFUSED: [&str; 25] = [
    "% E0211 E0212 E0224",
    "^-1 E0212",
    "^-2 E0212",
    "^-3 E0212",
    "^0 E0212",
    "^1 E0212",
    "^10 E0212",
    "^2 E0212",
    "^3 E0212",
    "^4 E0212",
    "^5 E0212",
    "abs2 E0212",
    "ceil E0212",
    "cld E0211 E0212 E0224",
    "copysign E0212",
    "fld E0211 E0212 E0224",
    "floor E0212",
    "iseven E0212",
    "isodd E0212",
    "mod E0211 E0212 E0224",
    "round E0212",
    "signed E0212",
    "trunc E0212",
    "unsigned E0212",
    "÷ E0211 E0212 E0224",
];

/// Runs `a operator b`; `Err` holds the codes of the checker's refusal, `Ok(None)` is an error at run time.
fn evaluate(operator: &str, operands: &[Constant]) -> Result<Option<Constant>, Vec<&'static str>> {
    let names = ["a", "b"];
    let mut arguments: Vec<Expr> = names[..operands.len()].iter().map(|name| self::name(name)).collect();
    let types: Vec<Type> = operands.iter().map(|operand| Type::Scalar(operand.ty)).collect();
    if DIVISIONS.contains(&operator) && !operands[1].ty.is_float() {
        // Integer divisors are constants.
        arguments[1] = literal(operands[1]);
    }
    let operation = operation(operator, arguments);
    let function = Function {
        macros: vec![],
        name: Some(Spanned { value: "f".into(), span: SPAN }),
        object: None,
        parameters: names[..operands.len()].iter().map(|name| parameter(name)).collect(),
        first_keyword: operands.len(),
        type_parameters: vec![],
        return_type: None,
        body: vec![operation],
        signature: SPAN,
        span: SPAN,
    };
    let typed = check(&function, &types, &[])
        .map_err(|errors| errors.iter().map(|error: &TypeError| error.code().0).collect::<Vec<_>>())?;
    let mut values: Vec<Value> = operands.iter().map(|&operand| Value::Scalar(operand)).collect();
    match run(&typed, &mut values) {
        Ok(Returned::Value(Value::Scalar(constant))) => Ok(Some(constant)),
        Ok(other) => panic!("{operator} gives {other:?}"),
        Err(_) => Ok(None),
    }
}

fn operation(operator: &str, mut arguments: Vec<Expr>) -> Expr {
    let symbol = |symbol: &str| Spanned { value: Operator { symbol: symbol.into(), dotted: false }, span: SPAN };
    let kind = if let Some(ty) = operator.strip_prefix("convert:") {
        return call(ty, arguments);
    } else if let Some(ty) = operator.strip_prefix("%:") {
        let left = arguments.remove(0);
        ExprKind::Infix { operator: symbol("%"), left: Box::new(left), right: Box::new(name(ty)) }
    } else if let Some(power) = operator.strip_prefix('^') {
        let right = integer(power.parse().unwrap());
        ExprKind::Infix { operator: symbol("^"), left: Box::new(arguments.remove(0)), right: Box::new(right) }
    } else if operator == "clamp" {
        let bound = arguments[1].clone();
        return call("clamp", vec![arguments[0].clone(), call("zero", vec![bound.clone()]), bound]);
    } else if operator == "muladd" {
        return call("fma", vec![arguments[0].clone(), arguments[1].clone(), arguments[1].clone()]);
    } else if COMPARISONS.contains(&operator) {
        ExprKind::Comparison { operands: arguments, operators: vec![symbol(operator)] }
    } else if INFIX.contains(&operator) && arguments.len() == 2 {
        let right = Box::new(arguments.pop().unwrap());
        ExprKind::Infix { operator: symbol(operator), left: Box::new(arguments.pop().unwrap()), right }
    } else if INFIX.contains(&operator) {
        ExprKind::Prefix { operator: symbol(operator), operand: Box::new(arguments.remove(0)) }
    } else {
        return call(operator, arguments);
    };
    Expr { kind, span: SPAN }
}

const SPAN: Span = Span { file: FileId(0), start: 0, end: 1 };

fn name(name: &str) -> Expr {
    Expr { kind: ExprKind::Name(name.into()), span: SPAN }
}

fn parameter(name: &str) -> Parameter {
    let name = Some(Spanned { value: name.to_string(), span: SPAN });
    Parameter { name, pattern: None, ty: None, default: None, splat: false, span: SPAN }
}

fn call(function: &str, arguments: Vec<Expr>) -> Expr {
    let arguments =
        arguments.into_iter().map(|value| Argument { keyword: None, value, section: Section::Main }).collect();
    let kind = ExprKind::Call { callee: Box::new(name(function)), arguments, broadcast: Broadcast::No };
    Expr { kind, span: SPAN }
}

fn integer(value: i64) -> Expr {
    let digits = Expr { kind: ExprKind::Integer(value.unsigned_abs().to_string()), span: SPAN };
    if value >= 0 {
        return digits;
    }
    let operator = Spanned { value: Operator { symbol: "-".into(), dotted: false }, span: SPAN };
    Expr { kind: ExprKind::Prefix { operator, operand: Box::new(digits) }, span: SPAN }
}

/// `T(value)`, or `true` and `false`.
fn literal(constant: Constant) -> Expr {
    match constant.ty {
        ScalarType::Bool => Expr { kind: ExprKind::Bool(constant.bits != 0), span: SPAN },
        ScalarType::U64 => Expr { kind: ExprKind::Integer(format!("0x{:016x}", constant.bits)), span: SPAN },
        ty => call(ty.julia_name(), vec![integer(constant.as_integer().unwrap() as i64)]),
    }
}

/// The constant whose bits, as wide as the type, are these.
fn constant(ty: ScalarType, bits: &str) -> Constant {
    match (ty, bits) {
        (ScalarType::F64, "N") => Constant::f64(f64::NAN),
        (ScalarType::F32, "N") => Constant::f32(f32::NAN),
        (ty, bits) if ty.is_float() => Constant { ty, bits: u64::from_str_radix(bits, 16).unwrap() },
        (ty, bits) => {
            let bits = u64::from_str_radix(bits, 16).unwrap();
            let unused = 64 - 8 * ty.bytes();
            let value = match ty.is_signed_integer() {
                true => i128::from((bits << unused) as i64 >> unused),
                false => i128::from(bits),
            };
            Constant::integer(ty, value)
        }
    }
}

/// `^` is an elementary function: one unit in the last place.
fn is_near(value: Constant, expected: &str) -> bool {
    expected != "N" && value.bits.abs_diff(constant(value.ty, expected).bits) <= 1
}

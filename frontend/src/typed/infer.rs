//! A guess at argument types for a file that fixes none: from annotations, else from how the body uses the names.

use super::check::{Checker, Surroundings};
use super::tree::{self, ArgumentType, Type, dense};
use crate::ast::{Expr, ExprKind, Function, Parameter};
use std::collections::BTreeMap;
use tessella_scalar::{CompareOp, Intrinsic, ScalarType};

/// The type that an argument probably has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inferred {
    pub name: String,
    pub ty: ArgumentType,
    pub basis: Basis,
}

/// What an inferred type rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// The annotation leaves no choice.
    Annotation,
    /// The body subscripts it, or counts with it, or it is a literal by default; the element type may be a guess.
    Use,
    /// Nothing but custom.
    Default,
}

/// How the body uses a name.
#[derive(Debug, Clone, Copy, Default)]
struct Uses {
    rank: Option<u32>,
    is_count: bool,
    /// Its elements are used as integers: `idx` of `A[idx[i]]`.
    holds_counts: bool,
    /// It, or its elements, are conditions: `wet` of `if wet[i]`, of `!wet[i]`.
    is_asked: bool,
}

/// One type for each parameter, in order.
pub fn infer_arguments(function: &Function) -> Vec<Inferred> {
    infer_arguments_in(function, Surroundings::default())
}

/// [`infer_arguments`] for a function that uses others of its file.
pub fn infer_arguments_in(function: &Function, surroundings: Surroundings<'_>) -> Vec<Inferred> {
    let mut uses = BTreeMap::new();
    let mut aliases = vec![];
    for statement in &function.body {
        note_uses(statement, Counting::No, &mut uses, &mut aliases);
    }
    // `n` in `m = n ÷ 2` counts where `m` does, and `wet[i]` in `w = wet[i]` is a condition where `w` is one.
    for _ in 0..aliases.len() {
        for (name, value) in &aliases {
            let used: Uses = uses.get(name).copied().unwrap_or_default();
            if used.is_count || used.is_asked {
                let counting = if used.is_count { Counting::Yes } else { Counting::Asking };
                note_uses(value, counting, &mut uses, &mut vec![]);
            }
        }
    }
    let guesses: Vec<Vec<Inferred>> = GUESSES
        .iter()
        .map(|&guess| function.parameters.iter().map(|parameter| infer(function, parameter, &uses, guess)).collect())
        .collect();
    // The element type that the body has least to object to; the first of equals.
    let best = guesses.into_iter().min_by_key(|inferred| {
        let types: Vec<ArgumentType> = inferred.iter().map(|inferred| inferred.ty).collect();
        super::check_in(function, &types, surroundings)
            .map_or_else(|errors| errors.len(), |typed| improbable(&typed.body))
    });
    best.unwrap_or_default()
}

/// Element types that arrays may be guessed to have, the likeliest first.
const GUESSES: [ScalarType; 4] = [ScalarType::F64, ScalarType::F32, ScalarType::U8, ScalarType::I64];

fn infer(function: &Function, parameter: &Parameter, uses: &BTreeMap<String, Uses>, guess: ScalarType) -> Inferred {
    let name = parameter.name.as_ref().map_or_else(String::new, |name| name.value.clone());
    let found = uses.get(&name).copied().unwrap_or_default();
    let annotation = parameter.ty.as_ref();
    let accepts = |ty: ArgumentType| match annotation {
        Some(annotation) => Checker::new(&[]).accepts(function, annotation, ty),
        None => true,
    };
    let ranks = found.rank.into_iter().chain(1..=6);
    let guess = match (found.holds_counts, found.is_asked) {
        (true, _) => ScalarType::I64,
        (false, true) => ScalarType::Bool,
        (false, false) => guess,
    };
    let elements = [guess, ScalarType::F64, ScalarType::F32, ScalarType::I64].into_iter().chain(ScalarType::ALL);
    let by_default = parameter.default.as_ref().and_then(literal);
    let scalar = match (found.is_count, found.is_asked) {
        (true, _) => ScalarType::I64,
        (false, true) => ScalarType::Bool,
        (false, false) => by_default.unwrap_or(ScalarType::F64),
    };
    let scalars = [scalar, ScalarType::F64, ScalarType::I64].into_iter().chain(ScalarType::ALL).map(Type::Scalar);
    let arrays = ranks.flat_map(|rank| elements.clone().map(move |element| dense(element, rank)));
    let real: Vec<Type> = match (found.rank, annotation) {
        (Some(_), _) => arrays.chain(scalars).collect(),
        (None, _) => scalars.chain(arrays).collect(),
    };
    // Nothing but an annotation tells that a number is complex.
    let has_halves = |ty: &Type| match ty {
        Type::Scalar(ty) | Type::Array { element: ty, .. } => ty.is_float(),
    };
    let complex: Vec<Type> = real.iter().copied().filter(has_halves).collect();
    let candidates: Vec<ArgumentType> =
        real.into_iter().map(ArgumentType::Real).chain(complex.into_iter().map(ArgumentType::Complex)).collect();
    let ty = candidates.iter().copied().find(|&ty| accepts(ty)).unwrap_or(candidates[0]);
    let mut distinct: Vec<ArgumentType> = candidates.into_iter().filter(|&ty| accepts(ty)).collect();
    distinct.dedup();
    let is_only = annotation.is_some() && distinct.iter().all(|&other| other == ty);
    let basis = match (is_only, found.rank.is_some() || found.is_count || found.is_asked || by_default.is_some()) {
        (true, _) => Basis::Annotation,
        (false, true) => Basis::Use,
        (false, false) => Basis::Default,
    };
    Inferred { name, ty, basis }
}

/// The type of a literal.
fn literal(expr: &Expr) -> Option<ScalarType> {
    match &expr.kind {
        ExprKind::Integer(text) if text.chars().all(|it| it.is_ascii_digit() || it == '_') => Some(ScalarType::I64),
        ExprKind::Float(text) if text.contains('f') => Some(ScalarType::F32),
        ExprKind::Float(_) => Some(ScalarType::F64),
        ExprKind::Bool(_) => Some(ScalarType::Bool),
        ExprKind::Prefix { operator, operand } if operator.value.symbol == "-" => literal(operand),
        _ => None,
    }
}

/// How many floats must be whole numbers in the block: their arrays hold integers more likely.
fn improbable(block: &tree::Block) -> usize {
    let is_whole = |part: &tree::Expr| match &part.kind {
        tree::ExprKind::Compare(CompareOp::Eq, left, _) => {
            matches!(&left.kind, tree::ExprKind::Call(Intrinsic::Trunc, _)) && left.ty.is_float()
        }
        _ => false,
    };
    let counts = block.iter().map(|statement| match &statement.kind {
        tree::StatementKind::Require { condition, .. } => usize::from(condition.any(&is_whole)),
        tree::StatementKind::For { body, .. } => improbable(body),
        tree::StatementKind::If { then, otherwise, .. } => improbable(then) + improbable(otherwise),
        tree::StatementKind::Set { .. } | tree::StatementKind::Store { .. } | tree::StatementKind::Allocate { .. } => 0,
    });
    counts.sum()
}

/// Whether a name here is used as an integer, or as a condition.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Counting {
    Yes,
    No,
    Asking,
}

fn note_uses(expr: &Expr, counting: Counting, uses: &mut BTreeMap<String, Uses>, aliases: &mut Vec<(String, Expr)>) {
    let mut visit = |expr: &Expr, counting| note_uses(expr, counting, uses, aliases);
    // What a number of a condition is made of is none.
    let number = if counting == Counting::Asking { Counting::No } else { counting };
    match &expr.kind {
        ExprKind::Name(name) if counting == Counting::Yes => {
            uses.entry(name.clone()).or_default().is_count = true;
        }
        ExprKind::Name(name) if counting == Counting::Asking => {
            uses.entry(name.clone()).or_default().is_asked = true;
        }
        ExprKind::Index { base, subscripts } => {
            for subscript in subscripts {
                visit(&subscript.value, Counting::Yes);
            }
            match &base.kind {
                ExprKind::Name(name) => {
                    let found = uses.entry(name.clone()).or_default();
                    found.rank.get_or_insert(subscripts.len() as u32);
                    found.holds_counts |= counting == Counting::Yes;
                    found.is_asked |= counting == Counting::Asking;
                }
                _ => visit(base, Counting::No),
            }
        }
        ExprKind::Range { start, step, stop } => {
            visit(start, Counting::Yes);
            visit(stop, Counting::Yes);
            if let Some(step) = step {
                visit(step, Counting::Yes);
            }
        }
        ExprKind::Call { callee, arguments, .. } => {
            let name = super::full_name::called(callee).unwrap_or_default();
            let inner = match name {
                "OneTo" | "div" | "mod" | "rem" | "fld" | "cld" | "min" | "max" | "clamp" | "mod1" | "+" | "-"
                | "*" => number,
                _ => Counting::No,
            };
            for argument in arguments {
                visit(&argument.value, inner);
            }
        }
        ExprKind::Assign { target, value, operator, .. } => {
            if let (ExprKind::Tuple(targets), ExprKind::Call { callee, arguments, .. }) = (&target.kind, &value.kind)
                && matches!(&callee.kind, ExprKind::Name(name) if name == "size")
                && let [array] = arguments.as_slice()
                && let ExprKind::Name(array) = &array.value.kind
            {
                uses.entry(array.clone()).or_default().rank.get_or_insert(targets.len() as u32);
                return;
            }
            visit(target, Counting::No);
            visit(value, Counting::No);
            if let (ExprKind::Name(name), None) = (&target.kind, operator) {
                aliases.push((name.clone(), (**value).clone()));
            }
        }
        ExprKind::Infix { left, right, .. } => {
            visit(left, number);
            visit(right, number);
        }
        ExprKind::Prefix { operator, operand } if operator.value.symbol == "!" => visit(operand, Counting::Asking),
        ExprKind::Prefix { operand, .. } => visit(operand, number),
        ExprKind::Juxtapose { coefficient, operand } => {
            visit(coefficient, number);
            visit(operand, number);
        }
        ExprKind::For { iterations, body } => {
            for iteration in iterations {
                visit(&iteration.range, Counting::No);
            }
            body.iter().for_each(|statement| visit(statement, Counting::No));
        }
        ExprKind::If { branches, otherwise } => {
            for (condition, body) in branches {
                visit(condition, Counting::Asking);
                body.iter().for_each(|statement| visit(statement, Counting::No));
            }
            for statement in otherwise.iter().flatten() {
                visit(statement, Counting::No);
            }
        }
        ExprKind::Ternary { condition, yes, no } => {
            visit(condition, Counting::Asking);
            visit(yes, counting);
            visit(no, counting);
        }
        ExprKind::Block(body) => body.iter().for_each(|statement| visit(statement, counting)),
        ExprKind::Let { bindings, body } => {
            bindings.iter().chain(body).for_each(|statement| visit(statement, Counting::No));
        }
        ExprKind::While { condition, body } => {
            visit(condition, Counting::Asking);
            body.iter().for_each(|statement| visit(statement, Counting::No));
        }
        ExprKind::MacroCall { arguments, .. } => arguments.iter().for_each(|argument| visit(argument, Counting::No)),
        ExprKind::And(left, right) | ExprKind::Or(left, right) => {
            visit(left, Counting::Asking);
            // `solid[i] && continue`: the right side may be a statement.
            visit(right, if counting == Counting::Asking { counting } else { Counting::No });
        }
        ExprKind::Comparison { operands, .. } => operands.iter().for_each(|operand| visit(operand, Counting::No)),
        ExprKind::Tuple(elements) => elements.iter().for_each(|element| visit(&element.value, counting)),
        ExprKind::Typed { value: Some(value), .. } => visit(value, counting),
        ExprKind::Return(Some(value)) => visit(value, Counting::No),
        // The rest holds no use that tells a type.
        _ => {}
    }
}

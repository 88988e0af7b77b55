//! Integers that scalar arguments give through floats.

use super::build::{E, Tree, binary};
use super::{has_domain, lowered, refused};
use tessella_frontend::typed::tree::{Expr, ExprKind, SizeError};
use tessella_polyhedral::algorithm::{Algorithm, ParamOrigin};
use tessella_polyhedral::isl::Ctx;
use tessella_scalar::{BinaryOp, CompareOp, Constant, Intrinsic, ScalarType};

fn call(function: Intrinsic, operand: E) -> E {
    let (ty, span) = (operand.0.ty, operand.0.span);
    E(Expr { kind: ExprKind::Call(function, vec![operand.0]), ty, span })
}

fn wrapped(operand: E) -> E {
    let span = operand.0.span;
    E(Expr { kind: ExprKind::Wrap(Box::new(operand.0)), ty: ScalarType::I64, span })
}

/// `nt = round(Int, T / dt)`, with its test, as the frontend writes it; gives `nt`.
fn steps(tree: &mut Tree, of: Intrinsic) -> E {
    let (time, dt) = (tree.scalar("T", ScalarType::F64), tree.scalar("dt", ScalarType::F64));
    let whole = tree.value("shared", None, call(of, binary(BinaryOp::Div, time, dt)));
    let limit = 9_223_372_036_854_775_808.0;
    let low = super::compare(CompareOp::Ge, whole.clone(), -limit);
    let high = super::compare(CompareOp::Lt, whole.clone(), limit);
    tree.require(binary(BinaryOp::AndAlso, low, high), SizeError::Inexact, "`round(Int64, x)` is not exact");
    tree.value("nt", None, wrapped(whole))
}

fn of_scalars(algorithm: &Algorithm) -> Vec<(&str, i64)> {
    let value = |at: f64, dt: f64| {
        move |id: tessella_polyhedral::algorithm::ScalarId| Some(Constant::f64(if id.0 == 0 { at } else { dt }))
    };
    let of = |origin: &ParamOrigin| match origin {
        ParamOrigin::Derived(derived) => Some(derived.evaluate(&[7], &value(1.0, 0.4))),
        _ => None,
    };
    algorithm.params.iter().filter_map(|it| of(&it.origin).map(|value| (it.name.as_str(), value))).collect()
}

#[test]
fn a_rounded_quotient_bounds_a_loop_and_needs_no_test() {
    let mut tree = Tree::new();
    let x = tree.array("x", 1);
    let nt = steps(&mut tree, Intrinsic::Round);
    tree.repeat("t", (1, 1, nt), |tree, t, _| tree.comp("S").store(x, [t], 1.0));
    let ctx = Ctx::new();
    let lowered = lowered(&ctx, tree);
    has_domain(&ctx, &lowered, "S", "[nt] -> { S[t] : 1 <= t <= nt }");
    assert_eq!(of_scalars(&lowered.algorithm), [("nt", 2)]);
    assert!(lowered.algorithm.scan.is_none() && lowered.algorithm.requirements.is_empty());
}

#[test]
fn sums_and_products_of_it_are_those_of_a_parameter() {
    let mut tree = Tree::new();
    let x = tree.array("x", 1);
    let nt = steps(&mut tree, Intrinsic::Floor);
    let n = tree.size(x, 0);
    tree.repeat("t", (1, 1, E::from(2) * nt.clone() + 1), |tree, t, _| tree.comp("S").store(x, [t], 1.0));
    tree.repeat("t", (1, 1, n * nt), |tree, t, _| tree.comp("R").store(x, [t], 2.0));
    let ctx = Ctx::new();
    let lowered = lowered(&ctx, tree);
    has_domain(&ctx, &lowered, "S", "[nt] -> { S[t] : 1 <= t <= 2nt + 1 }");
    // The product follows the number that it is made of.
    assert_eq!(of_scalars(&lowered.algorithm)[0], ("nt", 2));
    assert_eq!(of_scalars(&lowered.algorithm).len(), 2);
}

#[test]
fn elementary_functions_give_no_bounds() {
    let mut tree = Tree::new();
    let x = tree.array("x", 1);
    let time = tree.scalar("T", ScalarType::F64);
    let nt = tree.value("nt", None, wrapped(call(Intrinsic::Log2, time)));
    tree.repeat("t", (1, 1, nt), |tree, t, _| tree.comp("S").store(x, [t], 1.0));
    assert!(!refused(tree).is_empty());
}

//! Results that differ by rounding, where the source lets them.

use std::collections::BTreeSet;
use tessella_interpreter::Value;
use tessella_polyhedral::algorithm::Algorithm;
use tessella_polyhedral::reduction::{UpdateOrder, reductions};
use tessella_scalar::{Constant, ScalarType};

/// What in the source lets floating-point results differ from Julia's in their last digits; `None` where all bits are settled.
pub(crate) fn freedom(algorithm: &Algorithm) -> Option<String> {
    let mut found: BTreeSet<&str> = BTreeSet::new();
    for it in &algorithm.computations {
        if it.fastmath {
            found.insert("`@fastmath`");
        }
        if !it.is_exact() {
            found.insert("elementary functions");
        }
    }
    let is_float = |it: &tessella_polyhedral::reduction::Reduction| algorithm.array(it.array).element.is_float();
    if reductions(algorithm).iter().any(|it| is_float(it) && matches!(it.order, UpdateOrder::Within(_))) {
        found.insert("`@simd`");
    }
    (!found.is_empty()).then(|| found.into_iter().collect::<Vec<_>>().join(" and "))
}

/// How far values are from those expected, in words, if every one of them is as close as Julia's `isapprox` asks: to the square
/// root of the precision, of the largest value in its array. Other types than floats have to be equal.
pub(super) fn close(pairs: &[(&Value, &Value)]) -> Option<String> {
    let (mut differing, mut furthest): (usize, f64) = (0, 0.0);
    for (value, expected) in pairs {
        let (value, expected) = (constants(value), constants(expected));
        if value.len() != expected.len() {
            return None;
        }
        let sizes = expected.iter().filter_map(|it| it.as_float()).map(f64::abs);
        let largest = sizes.filter(|it| it.is_finite()).fold(0.0, f64::max);
        for (value, expected) in
            value.into_iter().zip(expected).filter(|(value, expected)| !super::same(*value, *expected))
        {
            let (is, should) = (value.as_float()?, expected.as_float()?);
            let apart = (is - should).abs() / largest;
            let is_close = apart <= precision(expected.ty).sqrt();
            if is != should && !is_close {
                return None;
            }
            differing += 1;
            furthest = furthest.max(if is == should { 0.0 } else { apart });
        }
    }
    let what = if differing == 1 { "one number differs".to_string() } else { format!("{differing} numbers differ") };
    Some(format!("{what} by at most {furthest:.1e} of the largest"))
}

fn constants(value: &Value) -> Vec<Constant> {
    match value {
        Value::Scalar(constant) => vec![*constant],
        Value::Array(array) => (0..array.len()).map(|at| array.get(at)).collect(),
    }
}

fn precision(ty: ScalarType) -> f64 {
    if ty == ScalarType::F32 { f32::EPSILON.into() } else { f64::EPSILON }
}

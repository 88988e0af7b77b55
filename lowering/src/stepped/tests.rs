use super::polynomial::{Atom, Polynomial};
use crate::lower;
use crate::tests::build::{Tree, compare};
use tessella_frontend::typed::tree::{LocalId, Result as Returned};
use tessella_polyhedral::isl::Ctx;
use tessella_polyhedral::print;
use tessella_scalar::CompareOp;

/// The statements of the function that the tree becomes.
fn texts(tree: Tree, result: Returned) -> Vec<String> {
    let lowered = lower(&Ctx::new(), &tree.finish(result), crate::Checks::AtEntry, crate::Searches::InOrder)
        .expect("nothing is wrong with the function");
    let algorithm = &lowered.algorithm;
    let all = algorithm.computations.iter().map(|computation| print::statement(algorithm, computation));
    all.collect()
}

#[test]
fn a_stepped_subscript_becomes_affine_and_the_variable_its_last_value() {
    let mut t = Tree::new();
    let y = t.integers("y", 1);
    let n = t.value("n", None, t.size(y, 0));
    let k = t.counter("k", None);
    t.set(k, 3);
    t.repeat("i", (2, 2, n), |t, i, _| {
        let next = t.get(k) + 1;
        t.set(k, next);
        let at = t.get(k);
        t.store(y, [at], i);
    });
    assert_eq!(texts(t, Returned::Scalar(k)), ["y[floor((i - 2)/2) + 4] = i", "k = floor((n - 2)/2) + 4"]);
}

#[test]
fn a_variable_that_is_stepped_under_a_condition_on_data_stays_one() {
    let mut t = Tree::new();
    let (y, x) = (t.integers("y", 1), t.integers("x", 1));
    let n = t.value("n", None, t.size(y, 0));
    let k = t.counter("k", None);
    t.set(k, 0);
    t.repeat("i", (1, 1, n), |t, i, _| {
        let condition = compare(CompareOp::Gt, t.load(x, [i.clone()]), 0);
        t.branch(
            condition,
            |t| {
                let next = t.get(k) + 1;
                t.set(k, next);
            },
            |_| {},
        );
        let value = t.get(k);
        t.store(y, [i], value);
    });
    assert!(texts(t, Returned::Nothing).iter().any(|text| text.starts_with("k =")));
}

#[test]
fn polynomials_are_equal_where_their_values_are() {
    let atom = |number| Polynomial::atom(Atom::Local(LocalId(number)));
    let (a, b) = (atom(0), atom(1));
    let square = a.add(&b).unwrap().mul(&a.sub(&b).unwrap()).unwrap();
    assert_eq!(square, a.mul(&a).unwrap().sub(&b.mul(&b).unwrap()).unwrap());
    assert_eq!(a.sub(&a).unwrap().as_constant(), Some(0));
    let of_a = Atom::Local(LocalId(0));
    assert!(square.linear_in(&of_a).is_none());
    let (rest, factor) = a.mul(&b).unwrap().sub(&b).unwrap().linear_in(&of_a).unwrap();
    assert_eq!((rest, factor), (b.scale(-1).unwrap(), b.clone()));
    assert!(b.sub(&a).unwrap().clamped().linear_in(&of_a).is_none());
    assert_eq!(Polynomial::constant(-5).quotient(2).as_constant(), Some(-3));
    assert!(Polynomial::constant(i64::MAX).scale(2).is_none());
}

//! Typed trees written by hand, against the algorithms that they become.

pub(crate) mod build;
mod given;

use crate::{Checks, LowerError, Lowered, Reason, Searches, lower};
use build::{E, Tree, binary, compare, select};
use tessella_diagnostics::IntoDiagnostic;
use tessella_frontend::typed::tree::Result as Returned;
use tessella_polyhedral::algorithm::{ArrayKind, Outcome};
use tessella_polyhedral::isl::{Ctx, Set};
use tessella_polyhedral::print;
use tessella_scalar::{BinaryOp, CompareOp, ScalarType};

fn lowered(ctx: &Ctx, tree: Tree) -> Lowered {
    match lower(ctx, &tree.finish(Returned::Nothing), Checks::AtEntry, Searches::InOrder) {
        Ok(lowered) => lowered,
        Err(errors) => panic!("{errors:#?}"),
    }
}

fn refused(tree: Tree) -> Vec<LowerError> {
    lower(&Ctx::new(), &tree.finish(Returned::Nothing), Checks::AtEntry, Searches::InOrder)
        .expect_err("the function is refused")
}

/// Checks a domain against isl's text, for the parameters of the context.
#[track_caller]
fn has_domain(ctx: &Ctx, lowered: &Lowered, name: &str, text: &str) {
    let algorithm = &lowered.algorithm;
    let id = algorithm.find(name).expect("the computation exists");
    let found = algorithm.computation(id).domain.intersect_params(&algorithm.context).unwrap();
    let expected = Set::from_text(ctx, text).unwrap().intersect_params(&algorithm.context).unwrap();
    assert!(found.is_equal(&expected).unwrap(), "{found}\nis not\n{expected}");
}

/// The statement of a computation, with its lets.
fn text(lowered: &Lowered, name: &str) -> String {
    let algorithm = &lowered.algorithm;
    let computation = algorithm.computation(algorithm.find(name).expect("the computation exists"));
    let mut lines = String::new();
    for item in &computation.lets {
        lines += &format!("{} = {}; ", item.name, print::expression(algorithm, computation, &item.value));
    }
    lines + &print::statement(algorithm, computation)
}

fn names(lowered: &Lowered) -> Vec<&str> {
    lowered.algorithm.computations.iter().map(|computation| computation.name.as_str()).collect()
}

fn order(lowered: &Lowered) -> String {
    print::schedule(&lowered.algorithm, &lowered.algorithm.source_order)
}

#[test]
fn a_stencil_has_the_users_names() {
    let ctx = Ctx::new();
    let mut t = Tree::new();
    let (a, b) = (t.array("A", 2), t.array("B", 2));
    let m = t.value("m", None, t.size(a, 0));
    let n = t.value("n", None, t.size(a, 1));
    t.repeat("j", (2, 1, n - 1), |t, j, _| {
        t.repeat("i", (2, 1, m - 1), |t, i, _| {
            let value = t.load(a, [i.clone() - 1, j.clone()]) * 0.5 + t.load(a, [i.clone(), j.clone() + 1]);
            t.comp("S").store(b, [i, j], value);
        });
    });
    let lowered = lowered(&ctx, t);
    assert_eq!(lowered.algorithm.param_names(), ["m", "n", "B_1", "B_2"]);
    assert_eq!(lowered.algorithm.computations[0].iterators, ["j", "i"]);
    has_domain(&ctx, &lowered, "S", "[m, n, B_1, B_2] -> { S[j, i] : 2 <= j < n and 2 <= i < m }");
    assert_eq!(text(&lowered, "S"), "B[i, j] = A[i - 1, j] * 0.5 + A[i, j + 1]");
    assert_eq!(lowered.spans.accesses.len(), 3);
    assert_eq!(lowered.spans.loops.len(), 2);
}

#[test]
fn strided_and_descending_loops_keep_their_instances_and_order() {
    let ctx = Ctx::new();
    let mut t = Tree::new();
    let a = t.array("A", 1);
    let n = t.value("n", None, t.size(a, 0));
    t.repeat("i", (2, 3, n.clone()), |t, i, _| t.comp("S").store(a, [i], 1.0));
    t.repeat("i", (n, -2, 1), |t, i, _| t.comp("R").store(a, [i], 2.0));
    let lowered = lowered(&ctx, t);
    has_domain(&ctx, &lowered, "S", "[n] -> { S[i] : 2 <= i <= n and (i - 2) mod 3 = 0 }");
    has_domain(&ctx, &lowered, "R", "[n] -> { R[i] : 1 <= i <= n and (n - i) mod 2 = 0 }");
    expect_order(&lowered, &["i", "S", "-i", "R"]);
}

#[test]
fn a_descending_loop_whose_iterator_nothing_reads_goes_up() {
    let ctx = Ctx::new();
    let mut t = Tree::new();
    let a = t.array("A", 1);
    let n = t.value("n", None, t.size(a, 0));
    t.repeat("t", (n.clone(), -2, 1), |t, _, _| {
        t.repeat("i", (2, 1, n), |t, i, _| t.comp("S").store(a, [i], 1.0));
    });
    let lowered = lowered(&ctx, t);
    has_domain(&ctx, &lowered, "S", "[n] -> { S[t, i] : 1 <= t <= n and (n - t) mod 2 = 0 and 2 <= i <= n }");
    expect_order(&lowered, &["t", "i", "S"]);
}

/// Loop functions and computations in tree order.
#[track_caller]
fn expect_order(lowered: &Lowered, expected: &[&str]) {
    use tessella_polyhedral::schedule::Node;
    fn visit(lowered: &Lowered, node: &Node, found: &mut Vec<String>) {
        let algorithm = &lowered.algorithm;
        match node {
            Node::Sequence(children) => {
                assert!(children.len() > 1, "a sequence has several children");
                children.iter().for_each(|child| visit(lowered, child, found));
            }
            Node::Loop(it) => {
                let (&first, at) = it.at.first_key_value().unwrap();
                let iterators = &algorithm.computation(first).iterators;
                found.push(at.display(iterators, &algorithm.param_names()));
                visit(lowered, &it.body, found);
            }
            Node::Computation(id) => found.push(algorithm.computation(*id).name.clone()),
        }
    }
    let mut found = vec![];
    visit(lowered, &lowered.algorithm.source_order.root, &mut found);
    assert_eq!(found, expected, "{}", order(lowered));
}

#[test]
fn min_and_max_in_bounds_are_several_constraints() {
    let ctx = Ctx::new();
    let mut t = Tree::new();
    let a = t.array("A", 1);
    let n = t.value("n", None, t.size(a, 0));
    let w = t.scalar("w", ScalarType::I64);
    t.repeat("i", (1, 1, n.clone()), |t, i, id| {
        let stop = t.value("stop", Some(id), binary(BinaryOp::Min, n.clone(), i.clone() + w.clone()));
        t.repeat("j", (binary(BinaryOp::Max, 1, i - w.clone()), 1, stop), |t, j, _| {
            t.comp("S").store(a, [j], 0.0);
        });
    });
    let lowered = lowered(&ctx, t);
    has_domain(&ctx, &lowered, "S", "[n, w] -> { S[i, j] : 1 <= i <= n and 1 <= j <= n and i - w <= j <= i + w }");
}

#[test]
fn affine_conditions_restrict_domains() {
    let ctx = Ctx::new();
    let mut t = Tree::new();
    let a = t.array("A", 1);
    let n = t.value("n", None, t.size(a, 0));
    t.repeat("i", (1, 1, n.clone()), |t, i, _| {
        let edge = binary(
            BinaryOp::OrElse,
            compare(CompareOp::Eq, i.clone(), 1),
            compare(CompareOp::Eq, i.clone(), n.clone()),
        );
        let inner = i.clone();
        t.branch(edge, |t| t.comp("S").store(a, [i], 0.0), |t| t.comp("R").store(a, [inner], 1.0));
    });
    let lowered = lowered(&ctx, t);
    has_domain(&ctx, &lowered, "S", "[n] -> { S[i] : 1 <= i <= n and (i = 1 or i = n) }");
    has_domain(&ctx, &lowered, "R", "[n] -> { R[i] : 1 < i < n }");
    assert!(lowered.algorithm.computations.iter().all(|computation| computation.predicate.is_none()));
}

#[test]
fn a_data_dependent_condition_of_one_statement_is_its_predicate() {
    let ctx = Ctx::new();
    let mut t = Tree::new();
    let a = t.array("A", 1);
    let n = t.value("n", None, t.size(a, 0));
    t.repeat("i", (1, 1, n), |t, i, _| {
        let positive = compare(CompareOp::Gt, t.load(a, [i.clone() - 1]), 0.0);
        let both = binary(BinaryOp::AndAlso, compare(CompareOp::Gt, i.clone(), 1), positive);
        t.branch(both, |t| t.store(a, [i], 0.0), |_| {});
    });
    let lowered = lowered(&ctx, t);
    has_domain(&ctx, &lowered, "S0", "[n] -> { S0[i] : 2 <= i <= n }");
    assert_eq!(names(&lowered), ["S0"]);
    assert_eq!(text(&lowered, "S0"), "if A[i - 1] > 0.0: A[i] = 0.0");
}

#[test]
fn a_condition_of_several_statements_is_saved() {
    let ctx = Ctx::new();
    let mut t = Tree::new();
    let a = t.array("A", 1);
    let n = t.value("n", None, t.size(a, 0));
    t.repeat("i", (1, 1, n), |t, i, _| {
        let positive = compare(CompareOp::Gt, t.load(a, [i.clone()]), 0.0);
        let other = i.clone();
        t.branch(positive, |t| t.store(a, [i], 0.0), |t| t.store(a, [other], 1.0));
    });
    let lowered = lowered(&ctx, t);
    assert_eq!(text(&lowered, "S0"), "guard[i] = A[i] > 0.0");
    assert_eq!(text(&lowered, "S1"), "if guard[i]: A[i] = 0.0");
    assert_eq!(text(&lowered, "S2"), "if !guard[i]: A[i] = 1.0");
    assert_eq!(lowered.algorithm.arrays[1].kind, ArrayKind::Private);
    expect_order(&lowered, &["i", "S0", "S1", "S2"]);
}

#[test]
fn a_value_used_once_in_its_block_is_a_let() {
    let ctx = Ctx::new();
    let mut t = Tree::new();
    let (a, b) = (t.array("A", 1), t.array("B", 1));
    let n = t.value("n", None, t.size(a, 0));
    t.repeat("i", (1, 1, n), |t, i, id| {
        let x = t.value("x", Some(id), t.load(a, [i.clone()]) * 2.0);
        let y = t.value("y", Some(id), x.clone() + 1.0);
        t.store(b, [i], y.clone() * y + x);
    });
    let lowered = lowered(&ctx, t);
    assert_eq!(text(&lowered, "S0"), "x = A[i] * 2.0; y = x + 1.0; B[i] = y * y + x");
    assert_eq!(lowered.algorithm.computations[0].reads.len(), 1);
}

#[test]
fn a_value_whose_source_changes_before_its_use_is_stored() {
    let ctx = Ctx::new();
    let mut t = Tree::new();
    let (a, b) = (t.array("A", 1), t.array("B", 1));
    let n = t.value("n", None, t.size(a, 0));
    t.repeat("i", (1, 1, n), |t, i, id| {
        let x = t.value("x", Some(id), t.load(a, [i.clone()]));
        t.store(a, [i.clone()], 0.0);
        t.store(b, [i], x);
    });
    let lowered = lowered(&ctx, t);
    assert_eq!(text(&lowered, "S0"), "x[i] = A[i]");
    assert_eq!(text(&lowered, "S2"), "B[i] = x[i]");
}

#[test]
fn accumulators_are_private_arrays_and_results_are_scalars() {
    let ctx = Ctx::new();
    let mut t = Tree::new();
    let a = t.array("A", 2);
    let total = t.variable("total", None);
    t.set(total, 0.0);
    t.repeat("j", (1, 1, t.size(a, 1)), |t, j, id| {
        let s = t.variable("s", Some(id));
        t.set(s, 0.0);
        t.repeat("i", (1, 1, t.size(a, 0)), |t, i, _| {
            let sum = t.get(s) + t.load(a, [i, j]);
            t.set(s, sum);
        });
        let sum = t.get(total) + t.get(s);
        t.set(total, sum);
    });
    let lowered = lower(&ctx, &t.finish(Returned::Scalar(total)), Checks::AtEntry, Searches::InOrder).unwrap();
    assert_eq!(lowered.algorithm.param_names(), ["A_1", "A_2"]);
    assert_eq!(text(&lowered, "S2"), "s[j] = s[j] + A[i, j]");
    assert_eq!(text(&lowered, "S3"), "total = total + s[j]");
    let Outcome::Scalar(result) = lowered.algorithm.result else { panic!("a scalar is returned") };
    assert_eq!(lowered.algorithm.array(result).kind, ArrayKind::Result);
    expect_order(&lowered, &["S0", "j", "S1", "i", "S2", "S3"]);
}

#[test]
fn division_rounds_towards_zero() {
    let ctx = Ctx::new();
    let mut t = Tree::new();
    let (a, b) = (t.array("A", 1), t.array("B", 1));
    let n = t.value("n", None, t.size(a, 0));
    let w = t.scalar("w", ScalarType::I64);
    t.repeat("i", (1, 1, n), |t, i, _| {
        let half = |value: E| binary(BinaryOp::DivTrunc, value, 2);
        let load = t.load(a, [half(w.clone())]);
        t.store(b, [half(i.clone()) + 1], load);
    });
    let lowered = lowered(&ctx, t);
    let write = &lowered.algorithm.computations[0].write.subscripts[0];
    let write = write.as_affine().expect("an affine subscript");
    let display = write.display(&["i".into()], &lowered.algorithm.param_names());
    assert_eq!(display, "floor((i)/2) + 1");
    assert_eq!(lowered.algorithm.computations[0].reads.len(), 2);
    assert!(lowered.algorithm.computations[0].reads.iter().all(|read| read.within.is_some()));
}

#[test]
fn clamped_subscripts_choose_between_reads() {
    let ctx = Ctx::new();
    let mut t = Tree::new();
    let (a, b) = (t.array("A", 1), t.array("B", 1));
    let n = t.value("n", None, t.size(a, 0));
    t.repeat("i", (1, 1, n), |t, i, _| {
        let left = t.load(a, [binary(BinaryOp::Max, i.clone() - 1, 1)]);
        let guarded = select(compare(CompareOp::Gt, i.clone(), 1), t.load(a, [i.clone() - 1]), 0.0);
        t.store(b, [i], left + guarded);
    });
    let lowered = lowered(&ctx, t);
    let reads = &lowered.algorithm.computations[0].reads;
    assert_eq!(reads.len(), 3);
    let inside = |text: &str| Set::from_text(&ctx, text).unwrap();
    let within = |at: usize| reads[at].within.clone().unwrap();
    let params = "[n, B_1] -> ";
    assert!(within(0).is_equal(&inside(&format!("{params}{{ S0[i] : i = 1 <= n }}"))).unwrap());
    assert!(within(1).is_equal(&inside(&format!("{params}{{ S0[i] : 2 <= i <= n }}"))).unwrap());
    assert!(within(2).is_equal(&inside(&format!("{params}{{ S0[i] : 2 <= i <= n }}"))).unwrap());
}

#[test]
fn shadowed_iterators_get_names_of_their_own() {
    let ctx = Ctx::new();
    let mut t = Tree::new();
    let a = t.array("A", 2);
    t.repeat("i", (1, 1, 3), |t, outer, _| {
        t.repeat("i", (1, 1, 4), |t, i, _| t.store(a, [outer, i], 0.0));
    });
    let lowered = lowered(&ctx, t);
    assert_eq!(lowered.algorithm.computations[0].iterators, ["i", "i_1"]);
}

#[test]
fn what_is_not_affine_is_named() {
    let mut t = Tree::new();
    let a = t.array("A", 1);
    let k = t.scalar("k", ScalarType::I64);
    t.repeat("i", (1, 1, 9), |t, i, id| {
        let bits = t.value("p", Some(id), build::binary(BinaryOp::BitOr, i, k.clone()));
        t.repeat("j", (1, 1, bits), |t, j, _| t.store(a, [j], 0.0));
    });
    let errors = refused(t);
    let [LowerError::BoundNotAffine { why, .. }] = errors.as_slice() else { panic!("{errors:#?}") };
    let Reason::DataDependent { variable, cause } = &why.reason else { panic!("{why:?}") };
    assert_eq!((variable.as_deref(), &cause.reason), (Some("p"), &Reason::Operation));
    let diagnostic = errors[0].clone().into_diagnostic();
    assert_eq!(diagnostic.code.0, "E0302");
    assert_eq!(diagnostic.labels.len(), 2);
}

#[test]
fn a_bound_that_is_a_product_is_a_condition_on_an_outer_range() {
    let mut t = Tree::new();
    let a = t.array("A", 1);
    let k = t.scalar("k", ScalarType::I64);
    t.repeat("i", (1, 1, 9), |t, i, _| {
        t.repeat("j", (1, 1, i * k.clone()), |t, j, _| t.store(a, [j], 0.0));
    });
    let ctx = Ctx::new();
    let lowered = lowered(&ctx, t);
    let [computation] = lowered.algorithm.computations.as_slice() else { panic!("one store") };
    assert_eq!(computation.ranged, [1]);
    assert!(computation.predicate.is_some() && lowered.algorithm.scan.is_some());
}

/// `B[i] = A[<subscript>]` for `i in 1:n`, where `B` has `n` elements and `A` has `A_1`; the integers are in `x`.
fn gathered(ctx: &Ctx, subscript: impl FnOnce(&mut Tree, E, E) -> E) -> Lowered {
    let mut t = Tree::new();
    let (a, b, x) = (t.array("A", 1), t.array("B", 1), t.integers("x", 1));
    let n = t.value("n", None, t.size(b, 0));
    t.repeat("i", (1, 1, n.clone()), |t, i, _| {
        let value = t.load(x, [i.clone()]);
        let subscript = subscript(t, value, n);
        let load = t.load(a, [subscript]);
        t.store(b, [i], load);
    });
    lowered(ctx, t)
}

fn scan_domain(lowered: &Lowered) -> Option<String> {
    let scan = lowered.algorithm.scan.as_ref()?;
    let search = &scan.algorithm.computations[1];
    let text = search.domain.gist_params(&lowered.algorithm.context).unwrap().to_string();
    text.split_once('{').map(|(_, points)| points.to_string())
}

#[test]
fn a_computed_subscript_is_scanned_where_it_may_be_outside() {
    let ctx = Ctx::new();
    let plain = gathered(&ctx, |_, value, _| value);
    assert_eq!(text(&plain, "S0"), "B[i] = A[x[i]]");
    assert!(scan_domain(&plain).unwrap().contains("0 < i <= n"), "{:?}", scan_domain(&plain));
    let scan = plain.algorithm.scan.as_ref().unwrap();
    assert_eq!(scan.checks.len(), 1);
    assert_eq!(scan.algorithm.computations[1].iterators, ["i"]);
}

#[test]
fn limits_that_are_known_spare_the_scan() {
    let ctx = Ctx::new();
    // Whatever `x` holds, only an array with no elements, or with fewer than the limit, is left to look at.
    let clamped = gathered(&ctx, |_, value, _| binary(BinaryOp::Max, binary(BinaryOp::Min, value, 5), 1));
    assert!(scan_domain(&clamped).unwrap().contains("A_1 <= 4"), "{:?}", scan_domain(&clamped));
    let masked = gathered(&ctx, |_, value, _| binary(BinaryOp::BitAnd, value, 7) + 1);
    assert!(scan_domain(&masked).unwrap().contains("A_1 <= 7"), "{:?}", scan_domain(&masked));
    // A sum of what may be anything wraps around, so that its parts say nothing.
    let wrapped = gathered(&ctx, |_, value, _| binary(BinaryOp::Max, value, 1) - 1 + 1);
    assert!(!scan_domain(&wrapped).unwrap().contains("A_1"), "{:?}", scan_domain(&wrapped));
    // `min` alone says nothing of the lower end.
    let above = gathered(&ctx, |_, value, _| binary(BinaryOp::Min, value, 1));
    assert!(!scan_domain(&above).unwrap().contains("A_1"), "{:?}", scan_domain(&above));
}

#[test]
fn iterators_that_a_search_does_not_need_are_left_out() {
    let ctx = Ctx::new();
    let mut t = Tree::new();
    let (a, b, x) = (t.array("A", 2), t.array("B", 2), t.integers("x", 1));
    t.repeat("j", (1, 1, t.size(b, 1)), |t, j, _| {
        t.repeat("i", (1, 1, t.size(b, 0)), |t, i, _| {
            let row = t.load(x, [i.clone()]);
            let load = t.load(a, [row, j.clone()]);
            t.store(b, [i, j.clone()], load);
        });
    });
    let lowered = lowered(&ctx, t);
    let scan = lowered.algorithm.scan.as_ref().unwrap();
    let search = &scan.algorithm.computations[1];
    assert_eq!(search.iterators, ["i"]);
    let domain = search.domain.gist_params(&lowered.algorithm.context).unwrap().to_string();
    assert!(domain.contains("B_2 > 0") && domain.contains("outside_A[i]"), "{domain}");
    let expected = "found = max(found, ifelse(!(x[i] >= 1 && x[i] <= A_1), 1, 0))";
    assert_eq!(print::statement(&scan.algorithm, search), expected);
}

#[test]
fn a_function_without_computations_is_refused() {
    let mut t = Tree::new();
    t.array("A", 1);
    assert!(matches!(refused(t).as_slice(), [LowerError::NoComputations { .. }]));
}

#[test]
fn a_label_names_one_statement() {
    let mut t = Tree::new();
    let a = t.array("A", 1);
    t.comp("S").store(a, [E::from(1)], 0.0);
    t.comp("S").store(a, [E::from(2)], 0.0);
    assert!(matches!(refused(t).as_slice(), [LowerError::DuplicateLabel { .. }]));
}

#[test]
fn arithmetic_that_may_wrap_is_not_affine() {
    let mut t = Tree::new();
    let a = t.array("A", 1);
    let k = t.scalar("k", ScalarType::I64);
    t.repeat("i", (1, 1, k * (1 << 40)), |t, i, _| t.store(a, [i], 0.0));
    let errors = refused(t);
    let [LowerError::BoundNotAffine { why, .. }] = errors.as_slice() else { panic!("{errors:#?}") };
    assert_eq!(why.reason, Reason::MayWrap);
}

#[test]
fn integers_that_are_only_data_are_no_parameters() {
    let ctx = Ctx::new();
    let mut t = Tree::new();
    let a = t.integers("A", 1);
    let seed = t.scalar("seed", ScalarType::I64);
    let k = t.scalar("k", ScalarType::I64);
    t.repeat("i", (1, 1, 3), |t, i, _| {
        let value = i.clone() * i.clone() + seed.clone() * k.clone();
        t.store(a, [i + k], value);
    });
    let lowered = lowered(&ctx, t);
    assert_eq!(lowered.algorithm.param_names(), ["A_1", "k"]);
    assert_eq!(text(&lowered, "S0"), "A[i + k] = i * i + seed * k");
}

#[test]
fn loops_inside_a_data_dependent_condition_read_the_saved_one() {
    let ctx = Ctx::new();
    let mut t = Tree::new();
    let a = t.array("A", 2);
    t.repeat("i", (1, 1, t.size(a, 0)), |t, i, _| {
        let large = compare(CompareOp::Gt, t.load(a, [i.clone(), E::from(1)]), 9.0);
        t.branch(large, |t| t.repeat("j", (1, 1, t.size(a, 1)), |t, j, _| t.comp("S").store(a, [i, j], 0.0)), |_| {});
    });
    let lowered = lowered(&ctx, t);
    assert_eq!(text(&lowered, "S"), "if guard[i]: A[i, j] = 0.0");
    expect_order(&lowered, &["i", "S0", "j", "S"]);
}

#[test]
fn a_value_used_in_an_inner_loop_is_stored_once() {
    let ctx = Ctx::new();
    let mut t = Tree::new();
    let (a, b) = (t.array("A", 2), t.array("B", 1));
    t.repeat("i", (1, 1, t.size(b, 0)), |t, i, id| {
        let x = t.value("x", Some(id), t.load(b, [i.clone()]));
        let half = t.value("half", Some(id), E::from(1.0) * 0.5);
        t.repeat("j", (1, 1, t.size(a, 1)), |t, j, _| t.comp("S").store(a, [i, j], x * half));
    });
    let lowered = lowered(&ctx, t);
    assert_eq!(text(&lowered, "S0"), "x[i] = B[i]");
    assert_eq!(text(&lowered, "S"), "half = 1.0 * 0.5; A[i, j] = x[i] * half");
}

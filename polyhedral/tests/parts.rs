//! Which part of an argument moves.

mod common;

use common::*;
use tessella_polyhedral::affine::{Affine, ParamId};
use tessella_polyhedral::algorithm::{Algorithm, Argument, Param, ParamOrigin, Scalar, ScalarId, Subscript};
use tessella_polyhedral::connect;
use tessella_polyhedral::dependence::dependences;
use tessella_polyhedral::isl::{Ctx, Id, Set};
use tessella_polyhedral::layers::{Direction, Target, Transfer};
use tessella_polyhedral::place;
use tessella_scalar::ScalarType;

/// What moves, a line each: `in A[1:n, k] if [n, k] -> { : ... }`.
fn moved(ctx: &Ctx, algorithm: Algorithm) -> Vec<String> {
    let start = scheduled(algorithm, Target::Gpu);
    let all = dependences(ctx, &start.algorithm).unwrap();
    let connected = connect::connect(ctx, place::place(ctx, start).unwrap(), &all).unwrap();
    let (layout, algorithm) = (&connected.placed.layout, &connected.placed.scheduled.algorithm);
    let params = algorithm.param_names();
    let ends = |ends: &[Affine]| ends.iter().map(|it| it.display(&[], &params)).collect::<Vec<_>>().join(" or ");
    let line = |it: &Transfer| {
        let buffer = layout.buffer(it.buffer);
        let along = |axis: u32| match it.part.iter().find(|it| it.axis == axis) {
            None => ":".to_string(),
            Some(it) => format!("{}:{}", ends(&it.first), ends(&it.last)),
        };
        let way = match it.direction {
            Direction::HostToDevice => "in",
            Direction::DeviceToHost => "back",
        };
        let axes: Vec<String> = (0..buffer.extents.len() as u32).map(along).collect();
        let needed = it.needed.as_ref().map_or(String::new(), |needed| format!(" if {needed}"));
        format!("{way} {}[{}]{needed}", buffer.name, axes.join(", "))
    };
    connected.transfers.iter().map(line).collect()
}

/// The algorithm with an argument `k` in the place of an iterator that has one value.
fn with_argument(ctx: &Ctx, mut algorithm: Algorithm, position: u32) -> Algorithm {
    algorithm.scalars.push(Scalar { name: "k".into(), ty: ScalarType::I64 });
    algorithm.arguments.push(Argument::Scalar(ScalarId(0)));
    algorithm.params.push(Param { name: "k".into(), origin: ParamOrigin::Argument(ScalarId(0)) });
    let add = |set: &Set| {
        let space = set.space().unwrap().add_param(&Id::new(ctx, "k").unwrap()).unwrap();
        set.align_params(&space).unwrap()
    };
    algorithm.context = add(&algorithm.context);
    for computation in &mut algorithm.computations {
        computation.domain = add(&computation.domain);
        for access in computation.reads.iter_mut().chain([&mut computation.write]) {
            for subscript in &mut access.subscripts {
                if subscript.as_affine().is_some_and(|it| it.involves_iterator(position)) {
                    *subscript = Subscript::Affine(Affine::param(ParamId(1)));
                }
            }
        }
    }
    algorithm
}

const I: (&[i64], i64) = (&[1, 0, 0], 0);
const J: (&[i64], i64) = (&[0, 1, 0], 0);
const K: (&[i64], i64) = (&[0, 0, 1], 0);

/// `B[subscripts] = A[subscripts]`, or `B[..] += A[..]`, over a domain of `i`, `j`, and `k`, which is an argument.
fn at_k(ctx: &Ctx, rank: u32, subscripts: Rows, domain: &str, reads: &[(usize, Rows)]) -> Algorithm {
    let statement = Statement { name: "S", iterators: &["i", "j", "k"], domain, write: (1, subscripts), reads };
    let nest = for_loop("i", 0, &[0], for_loop("j", 1, &[0], for_loop("k", 2, &[0], leaf(0))));
    with_argument(ctx, algorithm(ctx, &[("A", rank), ("B", rank)], &[statement], nest), 2)
}

const COLUMN: &str = "{ S[i, j, k] : 1 <= i <= n and j = 1 and k = 1 }";

#[test]
fn one_column_moves_of_a_matrix_that_is_used_in_it_only() {
    let ctx = Ctx::new();
    let column: Rows = &[I, K];
    let some = "[n, k] -> {  : n > 0 }";
    assert_eq!(
        moved(&ctx, at_k(&ctx, 2, column, COLUMN, &[(0, column)])),
        [format!("in A[:, k:k] if {some}"), format!("back B[:, k:k] if {some}")]
    );
    // What is added to comes in.
    assert_eq!(
        moved(&ctx, at_k(&ctx, 2, column, COLUMN, &[(1, column), (0, column)])),
        [format!("in A[:, k:k] if {some}"), format!("in B[:, k:k] if {some}"), format!("back B[:, k:k] if {some}")]
    );
}

#[test]
fn elements_of_the_part_that_goes_back_come_in_where_they_may_be_left() {
    let ctx = Ctx::new();
    let column: Rows = &[I, K];
    let mut sparse =
        at_k(&ctx, 2, column, "{ S[i, j, k] : 1 <= i <= n and i mod 2 = 1 and j = 1 and k = 1 }", &[(0, column)]);
    let lines = moved(&ctx, sparse.clone());
    assert!(lines.iter().any(|it| it.starts_with("in B[:, k:k]")), "{lines:?}");
    assert!(lines.iter().any(|it| it.starts_with("back B[:, k:k]")), "{lines:?}");
    // The same where data decide.
    sparse = at_k(&ctx, 2, column, COLUMN, &[(0, column)]);
    let predicate = sparse.computations[0].value.clone();
    sparse.computations[0].predicate = Some(predicate);
    let lines = moved(&ctx, sparse);
    assert!(lines.iter().any(|it| it.starts_with("in B[:, k:k]")), "{lines:?}");
}

#[test]
fn one_plane_moves_of_three_dimensions() {
    let ctx = Ctx::new();
    let plane: Rows = &[I, J, K];
    let domain = "{ S[i, j, k] : 1 <= i, j <= n and k = 1 }";
    let lines = moved(&ctx, at_k(&ctx, 3, plane, domain, &[(0, plane)]));
    let some = "[n, k] -> {  : n > 0 }";
    assert_eq!(lines, [format!("in A[:, :, k:k] if {some}"), format!("back B[:, :, k:k] if {some}")]);
}

/// `for j, i: B[i, j] = A[i, j]` over the inner square.
fn inner(ctx: &Ctx, reads: &[(usize, Rows)]) -> Algorithm {
    let place: Rows = &[(&[0, 1], 0), (&[1, 0], 0)];
    let domain = "{ S[j, i] : 2 <= i, j < n }";
    let statement = Statement { name: "S", iterators: &["j", "i"], domain, write: (1, place), reads };
    let nest = for_loop("j", 0, &[0], for_loop("i", 1, &[0], leaf(0)));
    algorithm(ctx, &[("A", 2), ("B", 2)], &[statement], nest)
}

#[test]
fn a_border_that_is_left_stays_with_the_caller_where_nothing_else_has_to_come_in() {
    let ctx = Ctx::new();
    let place: Rows = &[(&[0, 1], 0), (&[1, 0], 0)];
    let lines = moved(&ctx, inner(&ctx, &[(0, place)]));
    assert_eq!(lines, ["in A[:, :]", "back B[2:n - 1, 2:n - 1] if [n] -> {  : n >= 3 }"]);
    // One copy of all in each direction is faster than gaps.
    let lines = moved(&ctx, inner(&ctx, &[(0, place), (1, place)]));
    assert_eq!(lines, ["in A[:, :]", "in B[:, :]", "back B[:, :]"]);
}

#[test]
fn a_part_that_comes_in_for_little_more_than_what_is_written_goes_back() {
    let ctx = Ctx::new();
    let place: Rows = &[(&[0, 1], 0), (&[1, 0], 0)];
    let mut border =
        inner(&ctx, &[(1, &[(&[0, 1], -1), (&[1, 0], 0)]), (1, &[(&[0, 1], 1), (&[1, 0], 0)]), (1, place)]);
    // Not the last columns.
    let first = Set::from_text(&ctx, "[n] -> { S[j, i] : j <= n - 20 }").unwrap();
    border.computations[0].domain = border.computations[0].domain.intersect(&first).unwrap();
    let lines = moved(&ctx, border);
    let some = "[n] -> {  : n >= 22 }";
    let ends = "2:n - 20";
    assert_eq!(lines, [format!("in B[:, {ends}] if {some}"), format!("back B[:, {ends}] if {some}")]);
}

#[test]
fn an_array_whose_border_is_read_moves_whole() {
    let ctx = Ctx::new();
    // Nothing reads the border of the other array.
    let lines = moved(&ctx, jacobi(&ctx));
    assert_eq!(lines, ["in A[:]", "back A[:]", "back B[2:n - 1] if [n] -> {  : n >= 3 }"]);
    assert_eq!(moved(&ctx, pointwise(&ctx)), ["in A[:, :]", "in B[:, :]", "back C[:, :]"]);
}

#[test]
fn data_that_name_elements_may_name_all_of_an_axis() {
    let ctx = Ctx::new();
    let column: Rows = &[I, K];
    let mut scatter = at_k(&ctx, 2, column, COLUMN, &[(0, column)]);
    let computed = scatter.computations[0].value.clone();
    scatter.computations[0].write.subscripts[1] = Subscript::Computed(computed);
    let lines = moved(&ctx, scatter);
    assert_eq!(lines, ["in A[:, k:k] if [n, k] -> {  : n > 0 }", "in B[:, :]", "back B[:, :]"]);
}

//! What the rest of the crate relies on.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use super::*;

/// A set that takes isl many operations to subtract from another.
fn hard_question(ctx: &Ctx) -> Result<bool, IslError> {
    let text = |step: i64| {
        format!(
            "[n] -> {{ [i, j, k] : exists (a, b : i = {step} a + 2 b and j = 3 a - b and 0 <= i, j, k <= n and k >= a) }}"
        )
    };
    let left = Set::from_text(ctx, &text(5))?;
    let right = Set::from_text(ctx, &text(7))?;
    left.subtract(&right)?.complement()?.is_empty()
}

/// `{ S[i, j] : 0 <= i, j < 100 }` under 32 by 32 tiles.
fn tiled(ctx: &Ctx) -> Schedule {
    let domain = UnionSet::from_text(ctx, "{ S[i, j] : 0 <= i, j < 100 }").unwrap();
    let band = MultiUnionPwAff::from_text(ctx, "[{ S[i, j] -> [(i)] }, { S[i, j] -> [(j)] }]").unwrap();
    let schedule = Schedule::from_domain(&domain).unwrap().insert_partial_schedule(&band).unwrap();
    let node = schedule.root().unwrap().child(0).unwrap().band_set_permutable(true).unwrap();
    let size = Val::from_i64(ctx, 32).unwrap();
    let sizes = MultiVal::from_vals(&node.band_space().unwrap(), &[size.clone(), size]).unwrap();
    node.band_tile(&sizes).unwrap().schedule().unwrap()
}

#[test]
fn contexts_outlive_their_objects_in_any_drop_order() {
    let ctx = Ctx::new();
    let set = Set::from_text(&ctx, "{ S[i] : 0 <= i < 4 }").unwrap();
    let space = set.space().unwrap();
    let copy = set.clone();
    drop(ctx);
    drop(set);
    assert_eq!(copy.to_string(), "{ S[i] : 0 <= i <= 3 }");
    let schedule = Schedule::from_domain(&copy.to_union_set().unwrap()).unwrap();
    drop(copy);
    drop(space);
    assert_eq!(schedule.domain().unwrap().to_string(), "{ S[i] : 0 <= i <= 3 }");
}

/// isl prints to stderr when a context ends before its objects, and on errors; a child process shows that it does not.
#[test]
fn nothing_is_ever_printed() {
    const CHILD: &str = "TESSELLA_ISL_SILENT_CHILD";
    if std::env::var_os(CHILD).is_some() {
        contexts_outlive_their_objects_in_any_drop_order();
        reaching_the_quota_is_an_error_and_leaves_the_context_usable();
        spaces_that_differ_are_an_invalid_argument();
        return;
    }
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "isl::tests::nothing_is_ever_printed", "--nocapture", "--test-threads=1"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn reaching_the_quota_is_an_error_and_leaves_the_context_usable() {
    let ctx = Ctx::new();
    let error = ctx.with_budget(50, || hard_question(&ctx)).unwrap_err();
    assert!(error.is_quota(), "{error}");
    assert!(hard_question(&ctx).is_ok());
    ctx.set_max_operations(50);
    assert!(hard_question(&ctx).unwrap_err().is_quota());
    assert!(hard_question(&ctx).unwrap_err().is_quota());
    ctx.set_max_operations(0);
    ctx.reset_operations();
    assert!(hard_question(&ctx).is_ok());
}

#[test]
fn passing_the_deadline_is_an_error_and_leaves_the_context_usable() {
    let ctx = Ctx::new();
    let (error, over) = ctx.with_deadline(Duration::ZERO, || {
        loop {
            if let Err(error) = hard_question(&ctx) {
                // Neither counts operations nor asks for more in vain.
                assert!(ctx.with_budget(1000, || hard_question(&ctx)).is_err());
                return error;
            }
        }
    });
    assert!(over && error.is_quota(), "{error}");
    assert!(hard_question(&ctx).is_ok());
    let (done, over) = ctx.with_deadline(Duration::from_secs(3600), || hard_question(&ctx));
    assert!(done.is_ok() && !over);
}

#[test]
fn spaces_that_differ_are_an_invalid_argument() {
    let ctx = Ctx::new();
    let a = Set::from_text(&ctx, "{ A[i] }").unwrap();
    let b = Set::from_text(&ctx, "{ B[i] }").unwrap();
    assert_eq!(a.union(&b).unwrap_err().kind, IslErrorKind::Invalid);
    assert!(!a.is_empty().unwrap());
}

#[test]
fn objects_of_two_contexts_never_meet() {
    let (one, two) = (Ctx::new(), Ctx::new());
    let a = Set::from_text(&one, "{ A[i] }").unwrap();
    let b = Set::from_text(&two, "{ A[i] }").unwrap();
    assert_eq!(a.is_equal(&b).unwrap_err().kind, IslErrorKind::Invalid);
    assert_eq!(
        UnionSet::empty_in(&one).unwrap().union(&UnionSet::empty_in(&two).unwrap()).unwrap_err().kind,
        IslErrorKind::Invalid
    );
}

#[test]
fn maps_have_one_shape_where_only_their_tuples_have_other_names() {
    let ctx = Ctx::new();
    let shape = |text: &str| ctx.shape_of(&Map::from_text(&ctx, text).unwrap()).unwrap();
    let first = shape("[n] -> { S[i, j] -> A[i, j + 1] : 0 <= i < n }");
    assert_eq!(shape("[n] -> { R[a, b] -> B[a, b + 1] : a < n and a >= 0 }"), first);
    for other in [
        "[n] -> { S[i, j] -> A[i, j + 2] : 0 <= i < n }",
        "[m] -> { S[i, j] -> A[i, j + 1] : 0 <= i < m }",
        "[n] -> { S[i] -> A[i, i + 1] : 0 <= i < n }",
        "[n] -> { S[i, j] -> A[i, j + 1] : 0 <= i <= n }",
    ] {
        assert_ne!(shape(other), first, "{other}");
    }
}

#[test]
fn united_maps_may_have_pairs_in_common() {
    let ctx = Ctx::new();
    let map = |text: &str| Map::from_text(&ctx, text).unwrap();
    let (low, high) = ("{ S[i] -> T[i] : 0 <= i <= 6 }", "{ S[i] -> T[i] : 4 <= i <= 9 }");
    let apart = "{ S[i] -> T[i] : 0 <= i <= 1 or 20 <= i <= 21 }";
    for (texts, pairs) in [
        (vec![low, high, low, high], 10),
        (vec![low, low, low, high, high], 10),
        (vec![apart, low, high, apart], 12),
        (vec![apart, apart], 4),
        (vec![apart, apart, low, low], 9),
        (vec![low], 7),
    ] {
        let all = Map::union_all(texts.iter().map(|text| map(text))).unwrap();
        // What isl takes to be disjoint it does not make so.
        let parts = all.make_disjoint().unwrap().wrap().unwrap().basic_sets().unwrap();
        let counted: i64 =
            parts.iter().map(|part| Set::from_basic_set(part).unwrap().count().unwrap().to_i64().unwrap()).sum();
        assert_eq!(counted, pairs, "{texts:?}");
    }
}

#[test]
fn foreach_point_enumerates_all_points() {
    let ctx = Ctx::new();
    let set = Set::from_text(&ctx, "{ S[i, j] : 0 <= i <= j < 3 }").unwrap();
    let mut found: Vec<_> = set.points().unwrap().iter().map(|point| point.coordinates().unwrap()).collect();
    found.sort();
    assert_eq!(found, [[0, 0], [0, 1], [0, 2], [1, 1], [1, 2], [2, 2]]);
    assert_eq!(set.count().unwrap().to_i64(), Some(6));
}

#[test]
fn foreach_point_stops_at_a_break() {
    let ctx = Ctx::new();
    let set = Set::from_text(&ctx, "{ S[i] : 0 <= i < 10 }").unwrap();
    let seen = Cell::new(0);
    let flow = set.foreach_point(|_| {
        seen.set(seen.get() + 1);
        if seen.get() == 3 { ControlFlow::Break("enough") } else { ControlFlow::Continue(()) }
    });
    assert_eq!(flow, Ok(ControlFlow::Break("enough")));
    assert_eq!(seen.get(), 3);
}

#[test]
fn panics_in_callbacks_reach_the_caller() {
    let ctx = Ctx::new();
    let set = Set::from_text(&ctx, "{ S[i] : 0 <= i < 10 }").unwrap();
    let caught = catch_unwind(AssertUnwindSafe(|| set.foreach_point::<()>(|_| panic!("in the closure"))));
    assert_eq!(caught.unwrap_err().downcast_ref::<&str>(), Some(&"in the closure"));
    let schedule = tiled(&ctx);
    let build = AstBuild::new(&ctx).unwrap();
    let mut hook = |_: AstNode, _: &AstBuild| -> Result<AstNode, IslError> { panic!("in the hook") };
    let hooks = Hooks { at_each_domain: Some(&mut hook), ..Hooks::default() };
    let caught = catch_unwind(AssertUnwindSafe(|| build.node_from_schedule_with(&schedule, hooks)));
    assert_eq!(caught.unwrap_err().downcast_ref::<&str>(), Some(&"in the hook"));
    assert!(build.node_from_schedule(&schedule).is_ok());
}

#[test]
fn a_tiled_schedule_becomes_a_tiled_loop_nest() {
    let ctx = Ctx::new();
    let node = AstBuild::new(&ctx).unwrap().node_from_schedule(&tiled(&ctx)).unwrap();
    let expected = "\
for (int c0 = 0; c0 <= 99; c0 += 32)
  for (int c1 = 0; c1 <= 99; c1 += 32)
    for (int c2 = 0; c2 <= min(31, -c0 + 99); c2 += 1)
      for (int c3 = 0; c3 <= min(31, -c1 + 99); c3 += 1)
        S(c0 + c2, c1 + c3);
";
    assert_eq!(node.to_c_text().unwrap(), expected);
    let AstNodeView::For { iterator, inc, degenerate, .. } = node.view().unwrap() else { panic!("no loop") };
    assert_eq!((iterator.as_str(), inc, degenerate), ("c0", AstExprView::Int(32), false));
}

#[test]
fn iterators_take_the_names_given() {
    let ctx = Ctx::new();
    let schedule = tiled(&ctx);
    let names = ["ti", "tj", "i", "j"].map(|name| Id::new(&ctx, name).unwrap());
    let build = AstBuild::new(&ctx).unwrap().set_iterators(&names).unwrap();
    let text = build.node_from_schedule(&schedule).unwrap().to_c_text().unwrap();
    assert!(text.starts_with("for (int ti = 0; ti <= 99; ti += 32)"), "{text}");
    assert!(text.contains("S(ti + i, tj + j);"), "{text}");
}

#[test]
fn hooks_see_the_schedule_of_their_place_and_may_keep_the_build() {
    let ctx = Ctx::new();
    let schedule = tiled(&ctx);
    let mut kept = None;
    let mut hook = |node: AstNode, build: &AstBuild| {
        kept = Some(build.clone());
        // { S[i, j] -> [c0, c1, c2, c3] }
        let order = build.schedule()?.as_map()?;
        let instance = PwMultiAff::from_map(&order.reverse()?)?;
        let expr = build.access_from_pw_multi_aff(&instance)?;
        AstNode::user(&expr)?.set_annotation(&Id::new(node.ctx(), "seen")?)
    };
    let hooks = Hooks { at_each_domain: Some(&mut hook), ..Hooks::default() };
    let build = AstBuild::new(&ctx).unwrap();
    let node = build.node_from_schedule_with(&schedule, hooks).unwrap();
    assert!(node.to_c_text().unwrap().contains("S[c0 + c2][c1 + c3];"));
    assert_eq!(kept.unwrap().schedule_space().unwrap().dim(DimType::Set), Ok(4));
}

#[test]
fn a_hook_that_fails_ends_the_building_with_its_error() {
    let ctx = Ctx::new();
    let schedule = tiled(&ctx);
    let mut hook = |node: AstNode, _: &AstBuild| node.for_body();
    let hooks = Hooks { at_each_domain: Some(&mut hook), ..Hooks::default() };
    let error = AstBuild::new(&ctx).unwrap().node_from_schedule_with(&schedule, hooks).unwrap_err();
    assert_eq!(error.kind, IslErrorKind::Invalid);
}

#[test]
fn after_each_for_runs_once_a_loop() {
    let ctx = Ctx::new();
    let mut loops = 0;
    let mut hook = |node: AstNode, _: &AstBuild| {
        loops += 1;
        Ok(node)
    };
    let hooks = Hooks { after_each_for: Some(&mut hook), ..Hooks::default() };
    AstBuild::new(&ctx).unwrap().node_from_schedule_with(&tiled(&ctx), hooks).unwrap();
    assert_eq!(loops, 4);
}

#[test]
fn affine_parts_read_back_as_written() {
    let ctx = Ctx::new();
    let space = Space::set(&ctx, 1, 2).unwrap().set_dim_name(DimType::Param, 0, "n").unwrap();
    let i = Aff::set_dim_on(&space, 0).unwrap();
    let n = Aff::param_on(&space, "n").unwrap();
    let e = i.scale(3).unwrap().sub(&n).unwrap().floor_div(4).unwrap().add_constant_i32(7).unwrap();
    assert_eq!(e.dim(DimType::Div), Ok(1));
    // isl normalises divisions, moving whole multiples out; so read back and compare.
    let part = |aff: &Aff, dim, position| aff.coefficient(dim, position).unwrap();
    let div = e.get_div(0).unwrap();
    let rebuilt = i
        .scale_val(&part(&div, DimType::In, 0))
        .and_then(|sum| sum.add(&n.scale_val(&part(&div, DimType::Param, 0))?))
        .and_then(|sum| sum.add_constant(&div.constant()?)?.floor()?.scale_val(&part(&e, DimType::Div, 0)))
        .and_then(|sum| sum.add(&i.scale_val(&part(&e, DimType::In, 0))?))
        .and_then(|sum| sum.add(&n.scale_val(&part(&e, DimType::Param, 0))?))
        .and_then(|sum| sum.add_constant(&e.constant()?))
        .unwrap();
    assert_eq!(div.denominator().unwrap().to_i64(), Some(4));
    assert_eq!(part(&div, DimType::In, 1).to_i64(), Some(0));
    assert!(e.ne_set(&rebuilt).unwrap().is_empty().unwrap(), "{e} and {rebuilt}");
}

#[test]
fn piecewise_expressions_come_apart_into_pieces() {
    let ctx = Ctx::new();
    let space = Space::set(&ctx, 0, 2).unwrap();
    let axis = |position| PwAff::from_aff(&Aff::set_dim_on(&space, position).unwrap()).unwrap();
    let least = axis(0).min(&axis(1)).unwrap();
    assert_eq!(least.pieces().unwrap().len(), 2);
    assert_eq!(least.piece_count(), Ok(2));
}

#[test]
fn absent_names_are_none() {
    let ctx = Ctx::new();
    let set = Set::universe(&Space::set(&ctx, 0, 1).unwrap()).unwrap();
    assert_eq!(set.dim_name(DimType::Set, 0), Ok(None));
    assert_eq!(set.has_tuple_id(), Ok(false));
    assert_eq!(set.space().unwrap().find_dim_by_name(DimType::Param, "n"), Ok(None));
    assert!(set.tuple_id().is_err());
    assert_eq!(Id::new(&ctx, "a\0b").unwrap_err().kind, IslErrorKind::Invalid);
}

#[test]
fn unions_list_their_parts_in_one_order() {
    let ctx = Ctx::new();
    let spaces = |text: &str| -> Vec<String> {
        let union = UnionSet::from_text(&ctx, text).unwrap();
        union.sets().unwrap().iter().map(|set| set.tuple_name().unwrap().unwrap()).collect()
    };
    assert_eq!(spaces("{ C[i]; A[i]; B[i, j] }"), spaces("{ B[i, j]; C[i]; A[i] }"));
}

#[test]
fn flow_names_the_last_write() {
    let ctx = Ctx::new();
    let map = |text: &str| UnionMap::from_text(&ctx, text).unwrap();
    let flow = FlowQuery {
        sink: map("{ S[i] -> A[i - 1] : 1 <= i < 10 }"),
        must_source: Some(map("{ S[i] -> A[i] : 0 <= i < 10 }")),
        may_source: None,
        kill: None,
        order: ExecutionOrder::Map(map("{ S[i] -> [i] : 0 <= i < 10 }")),
    }
    .compute()
    .unwrap();
    let expected = map("{ S[i] -> S[i + 1] : 0 <= i < 9 }");
    assert!(flow.must_dependence.is_equal(&expected).unwrap(), "{flow:?}");
    assert!(flow.must_no_source.is_empty().unwrap());
}

#[test]
fn computed_schedules_respect_validity() {
    let ctx = Ctx::new();
    let domain = UnionSet::from_text(&ctx, "{ S[i] : 0 <= i < 10; T[i] : 0 <= i < 10 }").unwrap();
    let pairs = UnionMap::from_text(&ctx, "{ S[i] -> T[i] : 0 <= i < 10 }").unwrap();
    let constraints = ScheduleConstraints {
        validity: Some(pairs.clone()),
        proximity: Some(pairs.clone()),
        ..ScheduleConstraints::on_domain(domain)
    };
    let order = constraints.compute_schedule().unwrap().map().unwrap();
    // { time(S) -> time(T) }
    let times = pairs.apply_domain(&order).unwrap().apply_range(&order).unwrap().as_map().unwrap();
    let space = times.space().unwrap().domain().unwrap();
    assert!(times.is_subset(&Map::lex_lt(&space).unwrap()).unwrap());
}

#[test]
fn loop_types_and_options_are_kept() {
    let ctx = Ctx::new();
    let node = tiled(&ctx).root().unwrap().child(0).unwrap();
    assert_eq!(node.kind(), Ok(ScheduleNodeKind::Band));
    let unrolled = node.band_member_set_loop_type(1, LoopType::Unroll).unwrap();
    assert_eq!(unrolled.band_member_loop_type(1), Ok(LoopType::Unroll));
    ctx.set_option(IslOption::AstBuildDetectMinMax, 1).unwrap();
    assert_eq!(ctx.option(IslOption::AstBuildDetectMinMax), 1);
}

#[test]
fn values_beyond_64_bits_are_not_integers_of_ours() {
    let ctx = Ctx::new();
    let big = Val::from_i64(&ctx, i64::MAX).unwrap();
    assert_eq!(big.to_i64(), Some(i64::MAX));
    assert_eq!(big.add(&big).unwrap().to_i64(), None);
    assert_eq!(Val::from_text(&ctx, "1/2").unwrap().to_i64(), None);
    assert_eq!(Val::from_text(&ctx, "infty").unwrap().to_i64(), None);
    assert!(big.is_pos().unwrap());
}

/// isl keeps numbers of up to 63 bits in a machine word (`scripts/isl-integers.patch`), larger ones elsewhere.
#[test]
fn arithmetic_is_exact_on_both_sides_of_a_machine_word() {
    let ctx = Ctx::new();
    let around = [31, 32, 61, 62].map(|bits| 1_i64 << bits);
    let near = around.iter().flat_map(|&at| (-2..=2).map(move |by| at + by));
    let numbers: Vec<i64> = near.chain([1, 3, 7, i64::MAX - 1, i64::MAX]).flat_map(|it| [it, -it]).collect();
    let val = |number: i64| Val::from_i64(&ctx, number).unwrap();
    // Taken apart again by the inverse operation: products and sums may have 126 bits.
    for &a in &numbers {
        for &b in &numbers {
            let product = val(a).mul(&val(b)).unwrap();
            assert_eq!(product.div(&val(b)).unwrap().to_i64(), Some(a), "{a} * {b} / {b}");
            assert_eq!(product.modulo(&val(b).abs().unwrap()).unwrap().to_i64(), Some(0), "{a} * {b} mod {b}");
            let sum = val(a).add(&val(b)).unwrap();
            assert_eq!(sum.sub(&val(b)).unwrap().to_i64(), Some(a), "{a} + {b} - {b}");
            let exact = i128::from(a) + i128::from(b);
            assert_eq!(sum.to_i64(), i64::try_from(exact).ok(), "{a} + {b}");
            assert_eq!(product.to_i64(), i64::try_from(i128::from(a) * i128::from(b)).ok(), "{a} * {b}");
            let quotient = val(a).div(&val(b)).unwrap().floor().unwrap();
            let (over, under) = if b > 0 { (a, b) } else { (-a, -b) };
            let floored = over.div_euclid(under);
            assert_eq!(quotient.to_i64(), Some(floored), "{a} / {b}");
            assert_eq!(val(a).lt(&val(b)).unwrap(), a < b, "{a} < {b}");
        }
    }
}

#[test]
fn a_context_remembers_answers_by_the_objects_they_are_about() {
    let ctx = Ctx::new();
    let map = |text: &str| Map::from_text(&ctx, text).unwrap();
    let (first, second) = (map("{ [i] -> [i + 1] }"), map("{ [i] -> [i + 1] }"));
    assert_eq!(ctx.number_of(&first), ctx.number_of(&first.clone()));
    assert_ne!(ctx.number_of(&first), ctx.number_of(&second));
    let number = ctx.number_of(&first);
    drop(first);
    // Its address is not given to another map.
    assert!((0..100).all(|step| ctx.number_of(&map(&format!("{{ [i] -> [i + {step}] }}"))) != number));

    let asked = Cell::new(0);
    let ask = |question: &str, fails: bool| {
        ctx.remembered(question, || {
            asked.set(asked.get() + 1);
            if fails { Err(()) } else { Ok(true) }
        })
    };
    assert_eq!(
        (ask("a", true), ask("a", false), ask("a", true), ask("b", true)),
        (Err(()), Ok(true), Ok(true), Err(()))
    );
    assert_eq!(asked.get(), 3);
    let kept = ctx.remembered_map("a", || Ok::<_, IslError>(second.clone())).unwrap();
    assert_eq!(ctx.number_of(&kept), ctx.number_of(&second));
    let again = ctx.remembered_map("a", || second.reverse()).unwrap();
    assert!(again.is_equal(&second).unwrap());
}

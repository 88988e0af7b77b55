//! Loop programs as text.

mod samples;

use expect_test::{Expect, expect};
use samples::*;
use tessella_codegen::int_expr::Environment;
use tessella_codegen::plan::Step;
use tessella_codegen::program::KernelId;
use tessella_codegen::{CodegenError, generate, generate_framed, launch_plan};
use tessella_polyhedral::isl::Ctx;
use tessella_polyhedral::schedule::{
    ProcessorAxis::{X, Y},
    Tag,
};

fn check(sample: &Sample, expect: Expect) {
    expect.assert_eq(&generate(&sample.input()).unwrap().to_string());
}

#[test]
fn source_order_becomes_plain_loops() {
    check(
        &heat2d(&Ctx::new()),
        expect![[r#"
        heat2d:
          for t = 1:steps
            for j = 2:n - 1
              for i = 2:m - 1
                S(_, j, i)
            for j = 2:n - 1
              for i = 2:m - 1
                R(_, j, i)
    "#]],
    );
}

/// In a frame, the loops around both nests are bounded by what both touch as well, and each nest keeps its own bounds.
#[test]
fn frames_leave_nests_their_own_bounds() {
    let ctx = Ctx::new();
    let inner = |id: u32| nest("i", Tag::Sequential, &[(id, it(2))], leaf(id));
    let rows = nest("j", Tag::Sequential, &[(0, it(1)), (1, plus(it(1), 1))], seq(vec![inner(0), inner(1)]));
    let sample = heat2d(&ctx).scheduled(nest("t", Tag::Sequential, &[(0, it(0)), (1, it(0))], rows));
    check(
        &sample,
        expect![[r#"
        heat2d:
          if n >= 3
            for t = 1:steps
              for j = 2:n
                if n > j
                  for i = 2:m - 1
                    S(_, j, i)
                if j >= 3
                  for i = 2:m - 1
                    R(_, j - 1, i)
    "#]],
    );
    expect![[r#"
        heat2d:
          if m >= 3 && n >= 3
            for t = 1:steps
              for j = 2:n
                if n > j
                  for i = 2:m - 1
                    S(_, j, i)
                if j >= 3
                  for i = 2:m - 1
                    R(_, j - 1, i)
    "#]]
    .assert_eq(&generate_framed(&sample.input()).unwrap().to_string());
}

#[test]
fn tiles_of_the_gpu_become_kernels() {
    check(
        &heat2d_gpu(&Ctx::new()),
        expect![[r#"
            heat2d:
              copy A to device
              copy B to device
              for t = 1:steps
                for first_block_y = 0:65535:fld(n - 3, 8)
                  if m <= 1073741824 && n <= 1073741824 && p <= 1073741824 && q <= 1073741824 && m * n <= 2147483647 && p * q <= 2147483647
                    launch heat2d_S_32
                  else
                    launch heat2d_S
                for first_block_y = 0:65535:fld(n - 3, 8)
                  if m <= 1073741824 && n <= 1073741824 && p <= 1073741824 && q <= 1073741824 && m * n <= 2147483647 && p * q <= 2147483647
                    launch heat2d_R_32
                  else
                    launch heat2d_R
              copy A to host
              copy B to host
            kernel heat2d_S(A, B, m, n, p, first_block_y):
              # grid (fld(m - 3, 32) + 1, min(65535, fld(n - 3, 8) + 1 - first_block_y), 1), block (32, 8, 1)
              j0 = first_block_y + block.y
                i0 = block.x
                  j1 = thread.y while j1 <= min(7, n - 8 * j0 - 3)
                    i1 = thread.x while i1 <= min(31, m - 32 * i0 - 3)
                      S(_, 8 * j0 + j1 + 2, 32 * i0 + i1 + 2)
            kernel heat2d_S_32(A, B, m, n, p, first_block_y):
              # grid (fld(m - 3, 32) + 1, min(65535, fld(n - 3, 8) + 1 - first_block_y), 1), block (32, 8, 1)
              the same in 32 bits
            kernel heat2d_R(A, B, m, n, p, first_block_y):
              # grid (fld(m - 3, 32) + 1, min(65535, fld(n - 3, 8) + 1 - first_block_y), 1), block (32, 8, 1)
              j0 = first_block_y + block.y
                i0 = block.x
                  j1 = thread.y while j1 <= min(7, n - 8 * j0 - 3)
                    i1 = thread.x while i1 <= min(31, m - 32 * i0 - 3)
                      R(_, 8 * j0 + j1 + 2, 32 * i0 + i1 + 2)
            kernel heat2d_R_32(A, B, m, n, p, first_block_y):
              # grid (fld(m - 3, 32) + 1, min(65535, fld(n - 3, 8) + 1 - first_block_y), 1), block (32, 8, 1)
              the same in 32 bits
        "#]],
    );
}

#[test]
fn work_outside_of_gpu_loops_becomes_a_kernel_of_one_thread() {
    check(
        &total(&Ctx::new()).on_gpu(),
        expect![[r#"
            total:
              copy x to device
              copy result to device
              if n <= 1073741824
                launch total_S0_S1_32
              else
                launch total_S0_S1
              copy result to host
            kernel total_S0_S1(x, result, n):
              # grid (1, 1, 1), block (1, 1, 1)
              S0()
              for i = 1:n
                S1(i)
            kernel total_S0_S1_32(x, result, n):
              # grid (1, 1, 1), block (1, 1, 1)
              the same in 32 bits
        "#]],
    );
}

#[test]
fn grids_cover_triangles() {
    let ctx = Ctx::new();
    let (j, i) = (plus(it(0), -1), plus(it(1), -1));
    let point = nest("i1", thread(X), &[(0, i.modulo(32).unwrap())], leaf(0));
    let point = nest("j1", thread(Y), &[(0, j.modulo(8).unwrap())], point);
    let tile = nest("i0", block(X), &[(0, i.floor_div(32))], point);
    let root = nest("j0", block(Y), &[(0, j.floor_div(8))], tile);
    let sample = triangle(&ctx).scheduled(root).on_gpu();
    check(
        &sample,
        expect![[r#"
            scale_lower:
              copy L to device
              for first_block_y = 0:65535:fld(n - 1, 8)
                if m <= 1073741824 && n <= 1073741824 && m * n <= 2147483647
                  launch scale_lower_S_32
                else
                  launch scale_lower_S
              copy L to host
            kernel scale_lower_S(L, m, n, alpha, first_block_y):
              # grid (n >= 1 ? (n + 31) ÷ 32 : 0, min(65535, fld(n - 1, 8) + 1 - first_block_y), 1), block (32, 8, 1)
              j0 = first_block_y + block.y
                i0 = j0 ÷ 4 + block.x while i0 <= (n - 1) ÷ 32
                  j1 = thread.y while j1 <= min(7, n - 8 * j0 - 1)
                    i1 = max(0, 8 * j0 - 32 * i0 + j1) + thread.x while i1 <= min(31, n - 32 * i0 - 1)
                      S(8 * j0 + j1 + 1, 32 * i0 + i1 + 1)
            kernel scale_lower_S_32(L, m, n, alpha, first_block_y):
              # grid (n >= 1 ? (n + 31) ÷ 32 : 0, min(65535, fld(n - 1, 8) + 1 - first_block_y), 1), block (32, 8, 1)
              the same in 32 bits
        "#]],
    );
    let plan = launch_plan(&sample.input(), &generate(&sample.input()).unwrap()).unwrap();
    let parts = plan.steps.iter().find_map(|step| match step {
        Step::For { variable, step, .. } => Some((*variable, *step)),
        _ => None,
    });
    let (first, most) = parts.expect("launches that share the blocks along y");
    for n in [1, 7, 8, 9, 32, 33, 100, 8 * most + 1] {
        for done in (0..(n + 7) / 8).step_by(most as usize) {
            let mut environment = Environment::new(vec![n, n]);
            environment.set(first, done);
            let grid = plan.kernels[0].grid.each_ref().map(|it| it.evaluate(&environment).unwrap());
            assert_eq!(grid, [(n + 31) / 32, ((n + 7) / 8 - done).min(most), 1]);
        }
    }
}

#[test]
fn work_between_block_and_thread_loops_runs_in_step() {
    let ctx = Ctx::new();
    // A block for each column; the first thread does the diagonal's tile alone, then all do the rest.
    let rows = nest("i1", thread(X), &[(0, plus(it(1), -1).modulo(32).unwrap())], leaf(0));
    let tiles = nest("i0", Tag::Sequential, &[(0, plus(it(1), -1).floor_div(32))], rows);
    let root = nest("j", block(X), &[(0, it(0))], tiles);
    check(
        &triangle(&ctx).scheduled(root).on_gpu(),
        expect![[r#"
            scale_lower:
              copy L to device
              if m <= 536870912 && n <= 536870912 && m * n <= 2147483647
                launch scale_lower_S_32
              else
                launch scale_lower_S
              copy L to host
            kernel scale_lower_S(L, m, n, alpha):
              # grid (n, 1, 1), block (32, 1, 1)
              j = 1 + block.x
                for i0 = (j - 1) ÷ 32:(n - 1) ÷ 32
                  barrier
                  i1 = max(0, j - 32 * i0 - 1) + thread.x while i1 <= min(31, n - 32 * i0 - 1)
                    S(j, 32 * i0 + i1 + 1)
            kernel scale_lower_S_32(L, m, n, alpha):
              # grid (n, 1, 1), block (32, 1, 1)
              the same in 32 bits
        "#]],
    );
}

#[test]
fn thread_blocks_without_bound_are_refused() {
    let ctx = Ctx::new();
    let root = simple(0, &[("j", block(X)), ("i", thread(X))]);
    let sample = triangle(&ctx).scheduled(root).on_gpu();
    let error = generate(&sample.input()).unwrap_err();
    assert!(matches!(error, CodegenError::BlockTooLarge { .. }), "{error:?}");
}

/// The kernel that would be launched first for these sizes.
fn launched(sample: &Sample, params: Vec<i64>) -> String {
    fn first(steps: &[Step], with: &Environment) -> Option<KernelId> {
        steps.iter().find_map(|step| match step {
            Step::Launch(kernel) => Some(*kernel),
            Step::For { body, .. } => first(body, with),
            Step::If { condition, then, otherwise } => {
                first(if condition.evaluate(with).expect("it has a value") { then } else { otherwise }, with)
            }
            _ => None,
        })
    }
    let plan = launch_plan(&sample.input(), &generate(&sample.input()).unwrap()).unwrap();
    let kernel = first(&plan.steps, &Environment::new(params)).unwrap();
    plan.kernels[kernel.0 as usize].name.clone()
}

#[test]
fn kernels_count_in_32_bits_where_sizes_allow_it() {
    let ctx = Ctx::new();
    // m, n, p, q, steps
    for (params, name) in [
        ([100, 100, 100, 100, 7], "heat2d_S_32"),
        ([0, 0, 0, 0, -7], "heat2d_S_32"),
        ([1 << 30, 1, 1, 1, 7], "heat2d_S_32"),
        ([46340, 46340, 46340, 46340, 1 << 40], "heat2d_S_32"),
        ([46341, 46341, 46341, 46341, 7], "heat2d_S"),
        ([100, 100, 46341, 46341, 7], "heat2d_S"),
        ([1 + (1 << 30), 1, 1, 1, 7], "heat2d_S"),
        ([1 << 40, 1 << 40, 1 << 40, 1 << 40, 1 << 40], "heat2d_S"),
    ] {
        assert_eq!(launched(&heat2d_gpu(&ctx), params.to_vec()), name, "{params:?}");
    }
}

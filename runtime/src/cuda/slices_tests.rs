//! Cutting calls into slices, and running them on a GPU made of host memory.

use super::super::execute::tests::{FakeGpu, array, buffer, extent, kernel_buffer};
use super::*;
use crate::cuda::DeviceProperties;
use std::ffi::c_void;
use std::sync::Arc;
use tessella_codegen::Entry;
use tessella_codegen::int_expr::{Cond, IntExpr, VariableId};
use tessella_codegen::plan::{PlanArgument, PlannedKernel, Queues};
use tessella_codegen::program::{Blocks, BufferAccess, KernelId, KernelParam, Width};
use tessella_polyhedral::affine::ParamId;
use tessella_polyhedral::algorithm::{ArrayId, ParamOrigin, ScalarId};
use tessella_polyhedral::layers::Direction;
use tessella_scalar::{CompareOp, ScalarType};

const A: ArrayId = ArrayId(0);
const B: ArrayId = ArrayId(1);

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Whole,
    Slice,
}

/// `for i in 2:n-1; B[i] += A[i - 1] + A[i + 1]; end`
fn plan(kind: Kind) -> LaunchPlan {
    let at_most = |param: u32| Cond::Compare(CompareOp::Le, IntExpr::Param(ParamId(param)), IntExpr::Const(1 << 30));
    let n = || IntExpr::Param(ParamId(0));
    let mut parameters = vec![EntryParameter::Pointer(A), extent(A), EntryParameter::Pointer(B), extent(B)];
    let mut arguments = vec![array(A, "A"), array(B, "B")];
    let mut params = vec![ParamOrigin::Extent { array: A, axis: 0 }, ParamOrigin::Extent { array: B, axis: 0 }];
    let mut bounds = [KernelParam::Variable(VariableId(0)), KernelParam::Param(ParamId(0))];
    if kind == Kind::Slice {
        for id in [ScalarId(0), ScalarId(1)] {
            parameters.push(EntryParameter::Scalar(id));
            arguments.push(PlanArgument::Scalar { name: format!("bound{}", id.0), ty: ScalarType::I64 });
            params.push(ParamOrigin::Argument(id));
            bounds[id.0 as usize] = KernelParam::Param(ParamId(2 + id.0));
        }
    }
    LaunchPlan {
        entry: Entry {
            parameters,
            aliases: vec![],
            widened: vec![],
            derived: vec![],
            context: Cond::And(vec![at_most(0), at_most(1)]),
            apart: vec![(A, B)],
            unfolded: vec![],
            checks: vec![],
            sizes: vec![],
        },
        arguments,
        params,
        results: vec![],
        buffers: vec![
            buffer(0, "A", vec![n()], HostSide::Argument(A)),
            buffer(1, "B", vec![IntExpr::Param(ParamId(1))], HostSide::Argument(B)),
        ],
        kernels: vec![PlannedKernel {
            name: "beside".into(),
            grid: [n(), IntExpr::Const(1), IntExpr::Const(1)],
            block: [32, 1, 1],
            arguments: [
                vec![kernel_buffer(1, BufferAccess::Write), kernel_buffer(0, BufferAccess::Read)],
                vec![KernelParam::Param(ParamId(0))],
                bounds.to_vec(),
            ]
            .concat(),
            width: Width::Wide,
            blocks: Blocks::Apart,
            dynamic: 0,
        }],
        queues: Queues::One,
        failed: None,
        steps: vec![
            Step::Let { variable: VariableId(0), value: IntExpr::Const(1) },
            Step::Allocate(BufferId(0)),
            Step::Allocate(BufferId(1)),
            Step::CopyIn(BufferId(0)),
            Step::CopyIn(BufferId(1)),
            Step::Launch(KernelId(0)),
            Step::CopyOut(BufferId(1)),
            Step::Free(BufferId(1)),
            Step::Free(BufferId(0)),
        ],
    }
}

fn parts() -> Vec<Part> {
    vec![
        Part { array: A, before: -1, after: 1, accessed: (-1, 1), written: None },
        Part { array: B, before: 0, after: 0, accessed: (0, 0), written: Some(0) },
    ]
}

fn load(gpu: &Arc<FakeGpu>) -> SlicedProgram<FakeGpu> {
    let program = |kind| CudaProgram::load(gpu.clone(), b"", plan(kind)).unwrap();
    let program = SlicedProgram::new(program(Kind::Whole), program(Kind::Slice), parts());
    gpu.log();
    program
}

fn call(
    program: &SlicedProgram<FakeGpu>,
    a: &[f64],
    b: &mut [f64],
    on_device: &[bool],
    limit: Option<u64>,
) -> Result<i32, RuntimeError> {
    let (mut from, mut to) = (a.as_ptr(), b.as_mut_ptr());
    let (mut m, mut n) = (a.len() as i64, b.len() as i64);
    let arguments: [*mut c_void; 4] =
        [(&raw mut from).cast(), (&raw mut m).cast(), (&raw mut to).cast(), (&raw mut n).cast()];
    // SAFETY: the arrays are as long as said, and `a` is only read.
    unsafe { program.run_within(Packed { arguments: &arguments, on_device }, limit) }
}

fn expected(a: &[f64], b: &[f64]) -> Vec<f64> {
    let inner = |i: usize| i > 0 && i + 1 < a.len();
    (0..a.len()).map(|i| if inner(i) { b[i] + a[i - 1] + a[i + 1] } else { b[i] }).collect()
}

#[test]
fn slices_compute_what_the_whole_does_within_the_memory_that_they_get() {
    for n in [0, 1, 2, 3, 100, 997] {
        let a: Vec<f64> = (0..n).map(|i| f64::from(i) * 0.5).collect();
        let b: Vec<f64> = (0..n).map(f64::from).collect();
        for limit in [600, 1000, 4096, 1 << 20] {
            // Twice what is counted on could not be allocated.
            let gpu = FakeGpu::with(DeviceProperties::default(), limit + limit / 15 + 16);
            let program = load(&gpu);
            let mut result = b.clone();
            for round in 0..2 {
                result.copy_from_slice(&b);
                assert_eq!(call(&program, &a, &mut result, &[], Some(limit)).unwrap(), 0);
                assert_eq!(result, expected(&a, &b), "{n} elements in {limit} bytes, round {round}");
            }
            let (_, used) = gpu.held();
            assert!(used <= limit, "{used} bytes are kept of {limit}");
            drop(program);
            assert_eq!(gpu.held(), (0, 0), "memory is leaked");
        }
    }
}

#[test]
fn what_fits_runs_as_a_whole_and_what_does_not_is_copied_in_parts() {
    let gpu = FakeGpu::new();
    let program = load(&gpu);
    let (a, mut b) = (vec![1.0; 300], vec![2.0; 300]);
    call(&program, &a, &mut b, &[], Some(4800)).unwrap();
    assert_eq!(gpu.log().iter().filter(|it| it.starts_with("launch")).count(), 1);

    // A slice of 100 iterations takes 102 elements of `A` and 100 of `B`, and room to align both; there are 302
    // iterations for which `A` may have an element.
    let memory = 102 * 8 + 256 + 100 * 8 + 256;
    call(&program, &a, &mut b, &[], Some(memory)).unwrap();
    let log = gpu.log();
    let copies: Vec<&str> =
        log.iter().map(String::as_str).filter(|it| it.starts_with("in") || it.starts_with("out")).collect();
    let (first, next, last) = ("in 608", "in 624", "in 592");
    assert_eq!(
        copies,
        [first, "in 600", "out 600", next, "in 608", "out 608", next, "in 608", "out 608", last, "in 584", "out 584"]
    );
    assert_eq!(log.iter().filter(|it| it.starts_with("alloc")).count(), 2, "slices share their memory");
}

#[test]
fn an_array_that_the_whole_overwrites_is_not_copied_in() {
    let gpu = FakeGpu::new();
    let overwriting = |kind| {
        let mut plan = plan(kind);
        if kind == Kind::Whole {
            plan.steps.retain(|step| *step != Step::CopyIn(BufferId(1)));
        }
        CudaProgram::load(gpu.clone(), b"", plan).unwrap()
    };
    let program = SlicedProgram::new(overwriting(Kind::Whole), overwriting(Kind::Slice), parts());
    gpu.log();
    call(&program, &[1.0; 300], &mut [2.0; 300], &[], Some(3000)).unwrap();
    let copies = gpu.log().into_iter().filter(|it| it.starts_with("in")).count();
    assert_eq!(copies, 2, "two slices of `A`, none of `B`");
}

#[test]
fn an_array_of_which_the_whole_gives_back_a_part_is_copied_in() {
    let gpu = FakeGpu::new();
    let mut whole = plan(Kind::Whole);
    whole.steps.retain(|step| *step != Step::CopyIn(BufferId(1)));
    for step in &mut whole.steps {
        if *step == Step::CopyOut(BufferId(1)) {
            let part = tessella_codegen::program::Part { before: 0, axes: vec![] };
            *step = Step::CopyPart { buffer: BufferId(1), direction: Direction::DeviceToHost, part };
        }
    }
    let program = |plan| CudaProgram::load(gpu.clone(), b"", plan).unwrap();
    let program = SlicedProgram::new(program(whole), program(plan(Kind::Slice)), parts());
    gpu.log();
    call(&program, &[1.0; 300], &mut [2.0; 300], &[], Some(3000)).unwrap();
    let copies = gpu.log().into_iter().filter(|it| it.starts_with("in")).count();
    assert_eq!(copies, 4, "two slices of `A` and `B`");
}

#[test]
fn arrays_on_the_device_are_used_where_they_are() {
    let gpu = FakeGpu::new();
    let program = load(&gpu);
    let values: Vec<f64> = (0..300).map(f64::from).collect();
    let address = gpu.lend(&values);
    let mut b = vec![1.0; 300];
    let (mut from, mut m, mut to, mut n) = (address as *mut f64, 300_i64, b.as_mut_ptr(), 300_i64);
    let arguments: [*mut c_void; 4] =
        [(&raw mut from).cast(), (&raw mut m).cast(), (&raw mut to).cast(), (&raw mut n).cast()];
    // SAFETY: the arrays are as long as said, wherever they are.
    let done = unsafe { program.run_within(Packed { arguments: &arguments, on_device: &[true] }, Some(1500)) };
    assert_eq!(done.unwrap(), 0);
    assert_eq!(b, expected(&values, &[1.0; 300]));
    let log = gpu.log();
    assert!(log.iter().filter(|it| it.starts_with("launch")).count() > 1, "{log:?}");
}

/// A statement may write columns of an array on the device that no array of the host has.
#[test]
fn iterations_of_arrays_on_the_device_run_too() {
    let gpu = FakeGpu::new();
    let program = load(&gpu);
    let address = gpu.lend(&[0.0; 300]);
    let a = vec![1.0; 50];
    let (mut from, mut m, mut to, mut n) = (a.as_ptr(), 50_i64, address as *mut f64, 300_i64);
    let arguments: [*mut c_void; 4] =
        [(&raw mut from).cast(), (&raw mut m).cast(), (&raw mut to).cast(), (&raw mut n).cast()];
    let packed = Packed { arguments: &arguments, on_device: &[false, false, true] };
    let (plan, parameters) = (program.whole.plan(), program.whole.parameters());
    // SAFETY: sizes and places are those of arrays, which are not read.
    let read = unsafe { Arguments::read(plan, parameters, packed) }.unwrap();
    let (columns, iterations) = program.columns(&read).unwrap();
    assert_eq!((columns.len(), columns[0].count, iterations), (1, 50, (0, 300)));
}

#[test]
fn too_little_memory_for_one_iteration_is_told_and_nothing_is_written() {
    let gpu = FakeGpu::new();
    let program = load(&gpu);
    let mut b = vec![2.0; 300];
    let error = call(&program, &[1.0; 300], &mut b, &[], Some(100)).unwrap_err();
    let RuntimeError::SliceMemory { needed: 4800, least, free: 100, .. } = error else { panic!("{error}") };
    assert_eq!((least, error.status()), (3 * 8 + 8 + 2 * 256, -2));
    assert_eq!((b, gpu.held()), (vec![2.0; 300], (0, 0)));
}

#[test]
fn the_checks_are_those_of_the_whole() {
    let gpu = FakeGpu::new();
    let program = load(&gpu);
    let mut all = vec![1.0; 300];
    // SAFETY: refused before anything is read.
    let shared = unsafe { std::slice::from_raw_parts(all.as_ptr(), 300) };
    assert_eq!(call(&program, shared, &mut all, &[], Some(1000)).unwrap(), -1);
    assert_eq!(gpu.log(), [""; 0]);
}

#[test]
fn cuts_are_few_and_of_one_length() {
    let column = |bytes, before, after, written| Columns {
        at: 0,
        part: Part { array: A, before, after, accessed: (before, after), written },
        count: 1000,
        bytes,
        is_overwritten: false,
    };
    let cut = |columns: &[Columns], memory| {
        let (before, after) = columns[0].part.accessed;
        cuts(columns, (1 - after, columns[0].count - before), |_, _| Ok(0), memory).unwrap()
    };
    let Cuts::Fit(one) = cut(&[column(8, 0, 0, Some(0))], 1 << 20) else { panic!("it fits") };
    assert_eq!(one, [(1, 1000)]);
    let Cuts::Fit(three) = cut(&[column(8, 0, 0, Some(0))], 400 * 8 + 256) else { panic!("it fits") };
    assert_eq!(three, [(1, 334), (335, 668), (669, 1000)]);
    assert_eq!(cut(&[column(8, 0, 0, Some(0))], 263), Cuts::TooLarge { least: 264 });
    // Temporary arrays of a slice count, too.
    let others = |first, last| Ok(8 * (last - first + 1) as u64);
    let temporary = cuts(&[column(8, 0, 0, Some(0))], (1, 1000), others, 16 * 250 + 256);
    let Cuts::Fit(four) = temporary.unwrap() else { panic!("it fits") };
    assert_eq!((four.len(), four[3]), (4, (751, 1000)));
    // `A[x - 2]` to `A[x + 1]`: iterations from 0 to 1002 have an element.
    let Cuts::Fit(wide) = cut(&[column(8, -2, 1, None)], 1 << 20) else { panic!("it fits") };
    assert_eq!(wide, [(0, 1002)]);
    // Tiles of copies take more columns, and no more iterations.
    let mut tiles = column(8, -2, 1, None);
    (tiles.part.before, tiles.part.after) = (-33, 32);
    let Cuts::Fit(tiled) = cut(&[tiles], 8 * (500 + 65) + 256) else { panic!("it fits") };
    assert_eq!(tiled, [(0, 334), (335, 669), (670, 1002)]);
}

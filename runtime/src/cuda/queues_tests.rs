//! Plans with several queues: what uses the same memory is in order, whatever the host waits for, and nothing else has to be.

use super::*;
use proptest::prelude::*;
use tessella_codegen::plan::overlapping;

/// Arrays of the caller's, of one element; after them come buffers that live for a part of the call.
const ARRAYS: u32 = 4;
const SHORT: [u32; 2] = [4, 5];

/// A part of a random plan.
#[derive(Debug, Clone)]
enum Part {
    In(u32),
    Out(u32),
    /// Which buffers it reads, and which it writes: a bit for each.
    Launch(u32, u32),
    /// A buffer of [`SHORT`] lives as long as these.
    Life(u32, Vec<Part>),
    Loop(i64, Vec<Part>),
    If(bool, Vec<Part>, Vec<Part>),
    Synchronize,
}

fn straight() -> impl Strategy<Value = Part> {
    let masks = (0u32..64, 0u32..64, 0u32..64, 0u32..64);
    prop_oneof![
        3 => (0..ARRAYS).prop_map(Part::In),
        3 => (0..ARRAYS).prop_map(Part::Out),
        // Two of the masks together: most kernels use few buffers.
        6 => masks.prop_map(|(a, b, c, d)| Part::Launch(a & b, c & d)),
    ]
}

fn part() -> impl Strategy<Value = Part> {
    let one = prop_oneof![12 => straight(), 1 => Just(Part::Synchronize)];
    one.prop_recursive(3, 24, 5, |inner| {
        let some = || prop::collection::vec(inner.clone(), 0..5);
        prop_oneof![
            (0u32..2, some()).prop_map(|(which, parts)| Part::Life(SHORT[which as usize], parts)),
            (0i64..4, some()).prop_map(|(count, parts)| Part::Loop(count, parts)),
            (any::<bool>(), some(), some()).prop_map(|(holds, then, otherwise)| Part::If(holds, then, otherwise)),
        ]
    })
}

/// A plan with queues of its own where something overlaps, and the same in one queue.
fn plan(parts: &[Part]) -> LaunchPlan {
    let mut plan = update_plan();
    plan.entry.parameters = (0..ARRAYS).map(|array| EntryParameter::Pointer(ArrayId(array))).collect();
    plan.entry.context = Cond::Const(true);
    (plan.entry.apart, plan.entry.checks) = (vec![], vec![]);
    plan.arguments = (0..ARRAYS)
        .map(|id| PlanArgument::Array { array: ArrayId(id), name: format!("A{id}"), element: ScalarType::F64, rank: 0 })
        .collect();
    plan.params = vec![];
    let arrays = (0..ARRAYS).map(|id| buffer(id, &format!("A{id}"), vec![], HostSide::Argument(ArrayId(id))));
    plan.buffers = arrays.chain(SHORT.map(|id| buffer(id, &format!("S{id}"), vec![], HostSide::None))).collect();
    plan.kernels = vec![];
    let mut all: Vec<Step> = (0..ARRAYS).map(|id| Step::Allocate(BufferId(id))).collect();
    let mut alive: Vec<u32> = (0..ARRAYS).collect();
    all.extend(steps(parts, &mut alive, &mut plan.kernels));
    all.extend((0..ARRAYS).rev().map(|id| Step::Free(BufferId(id))));
    plan.steps = all;
    plan
}

fn steps(parts: &[Part], alive: &mut Vec<u32>, kernels: &mut Vec<PlannedKernel>) -> Vec<Step> {
    let mut all = vec![];
    for part in parts {
        match part {
            Part::In(id) => all.push(Step::CopyIn(BufferId(*id))),
            Part::Out(id) => all.push(Step::CopyOut(BufferId(*id))),
            Part::Launch(reads, writes) => {
                let used = alive.iter().filter(|&&id| (reads | writes) >> id & 1 == 1);
                let access = |id: u32| if writes >> id & 1 == 1 { BufferAccess::Write } else { BufferAccess::Read };
                let arguments: Vec<KernelParam> = used.map(|&id| kernel_buffer(id, access(id))).collect();
                let letters = arguments.iter().map(|argument| match argument {
                    KernelParam::Buffer { access: BufferAccess::Write, .. } => 'w',
                    _ => 'r',
                });
                let name = format!("touch_{}", letters.collect::<String>());
                let one = || IntExpr::Const(1);
                let (grid, block) = ([one(), one(), one()], [1, 1, 1]);
                let (width, blocks) = (Width::Wide, Blocks::Apart);
                kernels.push(PlannedKernel { name, grid, block, width, blocks, arguments, dynamic: 0 });
                all.push(Step::Launch(KernelId(kernels.len() as u32 - 1)));
            }
            // It lives already.
            Part::Life(id, parts) if alive.contains(id) => all.extend(steps(parts, alive, kernels)),
            Part::Life(id, parts) => {
                alive.push(*id);
                all.push(Step::Allocate(BufferId(*id)));
                all.extend(steps(parts, alive, kernels));
                all.push(Step::Free(BufferId(*id)));
                alive.pop();
            }
            Part::Loop(count, parts) => all.push(Step::For {
                variable: T,
                lower: IntExpr::Const(1),
                upper: IntExpr::Const(*count),
                step: 1,
                going: vec![],
                body: steps(parts, alive, kernels),
            }),
            Part::If(holds, then, otherwise) => all.push(Step::If {
                condition: Cond::Const(*holds),
                then: steps(then, alive, kernels),
                otherwise: steps(otherwise, alive, kernels),
            }),
            Part::Synchronize => all.push(Step::Synchronize),
        }
    }
    all
}

/// Runs a plan, even of few bytes in its queues: what the arrays hold then, and the GPU that it ran on.
fn run(plan: LaunchPlan) -> (Vec<u64>, Arc<FakeGpu>) {
    let gpu = FakeGpu::new();
    let mut program = CudaProgram::load(gpu.clone(), b"", plan).unwrap();
    program.overlaps_from = 0;
    (call(&program).unwrap(), gpu)
}

fn call(program: &CudaProgram<FakeGpu>) -> Result<Vec<u64>, RuntimeError> {
    let mut arrays: Vec<u64> = (1..=u64::from(ARRAYS)).map(|it| it * 0x0102_0408_1020_4081).collect();
    let arguments: Vec<ArgumentValue> =
        arrays.iter_mut().map(|array| ArgumentValue::Pointer((&raw mut *array).cast())).collect();
    // SAFETY: each of the arrays has one element.
    unsafe { program.call(&arguments) }.map(|status| {
        assert_eq!(status, 0);
        arrays
    })
}

/// The places of all steps that wait for an event.
fn waits(steps: &[Step]) -> Vec<usize> {
    steps.iter().enumerate().filter(|(_, step)| matches!(step, Step::Wait { .. })).map(|(at, _)| at).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1500) })]

    #[test]
    fn whatever_uses_the_same_memory_is_in_order(parts in prop::collection::vec(part(), 0..8)) {
        let in_order = plan(&parts);
        let apart = overlapping(in_order.clone());
        let (expected, _) = run(in_order);
        let (found, gpu) = run(apart.clone());
        let state = gpu.state();
        prop_assert_eq!(state.races(), vec![], "{:#?}", apart.steps);
        // The GPU here does at once what it is asked: another order of the steps would show.
        prop_assert_eq!(found, expected, "{:#?}", apart.steps);
    }

    #[test]
    fn no_event_can_be_left_out(parts in prop::collection::vec(straight(), 0..16)) {
        let apart = overlapping(plan(&parts));
        for at in waits(&apart.steps) {
            let mut less = apart.clone();
            less.steps.remove(at);
            let (_, gpu) = run(less);
            prop_assert!(!gpu.state().races().is_empty(), "without {}: {:#?}", at, apart.steps);
        }
    }
}

/// A kernel that adds the first to the second.
fn adds(from: u32, to: u32) -> Part {
    Part::Launch(1 << from, 1 << to)
}

/// What may run at once, by what it is and what it uses: numbers of arrays.
fn at_once(parts: &[Part]) -> (LaunchPlan, Vec<(String, String)>) {
    let plan = overlapping(plan(parts));
    let (_, gpu) = run(plan.clone());
    let state = gpu.state();
    assert_eq!(state.races(), vec![]);
    let pairs = state.at_once().into_iter().map(|(a, b)| (a.what.clone(), b.what.clone()));
    let mut pairs: Vec<(String, String)> = pairs.collect();
    pairs.sort();
    pairs.dedup();
    (plan, pairs)
}

/// The copies and launches of a plan, with the events between them.
fn spelled(steps: &[Step]) -> String {
    let word = |step: &Step| match step {
        Step::CopyIn(buffer) => format!("in {}", buffer.0),
        Step::CopyOut(buffer) => format!("out {}", buffer.0),
        Step::Launch(kernel) => format!("launch {}", kernel.0),
        Step::Record { event, .. } => format!("({})", event.0),
        Step::Wait { queue, event } => format!("{queue:?} after {}:", event.0),
        Step::For { body, .. } => format!("for [{}]", spelled(body)),
        Step::If { then, otherwise, .. } => format!("if [{}] else [{}]", spelled(then), spelled(otherwise)),
        Step::Allocate(_) | Step::Free(_) => String::new(),
        other => format!("{other:?}"),
    };
    steps.iter().map(word).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_kernel_starts_when_what_it_needs_is_there_and_results_leave_while_others_run() {
    // All copies in, three kernels, all copies back: as a plan comes.
    let parts: Vec<Part> =
        (0..4).map(Part::In).chain([adds(0, 1), adds(2, 1), adds(0, 3)]).chain([Part::Out(3), Part::Out(1)]).collect();
    let (plan, pairs) = at_once(&parts);
    let expected = "in 0 in 1 (0) Kernels after 0: launch 0 in 2 (1) Kernels after 1: launch 1 (2) \
                    in 3 (3) Kernels after 3: launch 2 (4) \
                    Out after 2: out 1 Out after 4: out 3";
    assert_eq!(spelled(&plan.steps), expected);
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    // The second and third copies in run beside the kernels before them, and the first copy back beside the last kernel.
    assert!(pairs.contains(&pair("touch_rw", "in")), "{pairs:?}");
    assert!(pairs.contains(&pair("touch_rw", "out")), "{pairs:?}");
    assert!(!pairs.contains(&pair("touch_rw", "touch_rw")), "{pairs:?}");
}

#[test]
fn where_nothing_overlaps_there_is_one_queue_and_the_plan_is_as_it_was() {
    for parts in [
        vec![Part::In(0), Part::In(1), adds(0, 1), Part::Out(1)],
        vec![Part::In(0), adds(0, 1), adds(1, 2), adds(2, 0), Part::Out(0)],
        vec![Part::In(1), Part::In(0), Part::Loop(3, vec![adds(0, 1), adds(1, 0)]), Part::Out(1), Part::Out(0)],
        vec![],
    ] {
        let plan = plan(&parts);
        assert_eq!(overlapping(plan.clone()), plan);
    }
}

#[test]
fn a_loop_of_launches_stays_one_so_that_it_can_become_a_graph() {
    let parts = [
        Part::In(0),
        Part::In(1),
        Part::In(2),
        Part::Loop(16, vec![adds(0, 1)]),
        adds(1, 2),
        Part::Out(1),
        Part::Out(2),
    ];
    let (plan, _) = at_once(&parts);
    let expected = "in 0 in 1 (0) Kernels after 0: for [launch 0] (1) in 2 (2) Kernels after 2: launch 1 (3) \
                    Out after 1: out 1 Out after 3: out 2";
    assert_eq!(spelled(&plan.steps), expected);
}

#[test]
fn kernels_of_several_nests_under_one_condition_wait_each_for_what_it_needs() {
    // Those for large sizes, or those for small ones, of which the second nest has one more.
    let large = vec![adds(0, 1), Part::Loop(2, vec![adds(2, 3)])];
    let small = vec![adds(0, 1), adds(2, 3), adds(2, 3)];
    for holds in [true, false] {
        let branch = Part::If(holds, large.clone(), small.clone());
        let parts = (0..4).map(Part::In).chain([branch, Part::Out(1), Part::Out(3)]).collect::<Vec<_>>();
        let (plan, pairs) = at_once(&parts);
        let expected = "in 0 in 1 (0) Kernels after 0: if [launch 0] else [launch 2] (1) in 2 in 3 (2) \
                        Kernels after 2: if [for [launch 1]] else [launch 3] if [] else [launch 4] (3) \
                        Out after 1: out 1 Out after 3: out 3";
        assert_eq!(spelled(&plan.steps), expected);
        assert!(pairs.contains(&("touch_rw".to_owned(), "in".to_owned())), "{pairs:?}");
    }
}

#[test]
fn copies_in_each_iteration_wait_for_the_kernel_of_the_one_before() {
    let body = vec![Part::In(0), adds(0, 1), adds(1, 2), Part::Out(1)];
    let (plan, _) = at_once(&[Part::In(1), Part::In(2), Part::Loop(3, body), Part::Out(2)]);
    let Queues::Apart { .. } = plan.queues else { panic!("{:?}", plan.steps) };
    assert!(spelled(&plan.steps).contains("for [In after"), "{}", spelled(&plan.steps));
}

#[test]
fn few_bytes_go_through_one_queue() {
    let parts = [Part::In(0), Part::In(1), adds(0, 2), adds(1, 3), Part::Out(2), Part::Out(3)];
    let plan = overlapping(plan(&parts));
    assert!(!waits(&plan.steps).is_empty());
    let gpu = FakeGpu::new();
    let program = CudaProgram::load(gpu.clone(), b"", plan).unwrap();
    call(&program).unwrap();
    assert!(gpu.state().at_once().is_empty());
    assert!(!gpu.log().iter().any(|call| call == "record" || call == "wait"));
}

/// Memory that a call frees on the way is its own until it ends, as other calls know nothing of its queues.
fn with_short_lives() -> LaunchPlan {
    let life = vec![adds(0, SHORT[0]), adds(SHORT[0], 2)];
    let other = vec![adds(1, SHORT[1]), adds(SHORT[1], 3)];
    let mut parts = vec![Part::In(0), Part::In(1), Part::Life(SHORT[0], life), Part::Out(2)];
    // Copied in when the first life has ended, and before the second begins.
    parts.extend([Part::In(2), adds(1, 2), Part::Life(SHORT[1], other), Part::Out(3)]);
    overlapping(plan(&parts))
}

#[test]
fn calls_of_several_threads_share_queues_and_memory_without_a_race() {
    let gpu = FakeGpu::new();
    let mut program = CudaProgram::load(gpu.clone(), b"", with_short_lives()).unwrap();
    program.overlaps_from = 0;
    std::thread::scope(|scope| {
        for _ in 0..4 {
            // Kernels read what new memory holds, so the results are of no interest.
            scope.spawn(|| (0..10).for_each(|_| drop(call(&program).unwrap())));
        }
    });
    assert_eq!(gpu.state().races(), vec![]);
    drop(program);
    assert_eq!(gpu.held(), (0, 0));
}

#[test]
fn a_call_between_the_steps_of_another_gets_none_of_its_memory() {
    for records in 0.. {
        let gpu = FakeGpu::new();
        let mut program = CudaProgram::load(gpu.clone(), b"", with_short_lives()).unwrap();
        program.overlaps_from = 0;
        let program = Arc::new(program);
        let other = program.clone();
        gpu.state().between = Some((records, Box::new(move || drop(call(&other).unwrap()))));
        call(&program).unwrap();
        assert_eq!(gpu.state().races(), vec![], "after {records} events");
        if gpu.state().between.take().is_some() {
            break;
        }
    }
}

#[test]
fn whatever_fails_all_queues_are_waited_for_and_nothing_is_leaked() {
    let gpu = FakeGpu::new();
    let mut program = CudaProgram::load(gpu.clone(), b"", with_short_lives()).unwrap();
    program.overlaps_from = 0;
    let before = gpu.state().calls;
    call(&program).unwrap();
    let calls = gpu.state().calls - before;
    program.pool().drain();
    for k in 1..=calls {
        let fail_at = gpu.state().calls + k;
        gpu.state().fail_at = Some(fail_at);
        assert_eq!(call(&program).unwrap_err().status(), -4);
        let state = gpu.state();
        assert_eq!((state.live, state.used, state.busy), (0, 0, false), "call {k} of {calls}");
    }
    gpu.state().fail_at = None;
    call(&program).unwrap();
    assert_eq!(gpu.state().races(), vec![]);
}

#[test]
fn a_profile_measures_kernels_that_nothing_runs_beside() {
    let gpu = FakeGpu::new();
    let parts = [Part::In(0), Part::In(1), adds(0, 2), adds(1, 3), Part::Out(2), Part::Out(3)];
    let mut program = CudaProgram::load(gpu.clone(), b"", overlapping(plan(&parts))).unwrap();
    program.overlaps_from = 0;
    let mut arrays = [1u64; ARRAYS as usize];
    let arguments = arrays.each_mut().map(|array| ArgumentValue::Pointer((&raw mut *array).cast()));
    // SAFETY: as in `call`.
    let profile = with_pointers(&arguments, |pointers| unsafe { program.profile(Packed::on_host(pointers), 3) });
    let profile = profile.unwrap().unwrap();
    assert_eq!(profile.kernels.iter().map(|it| it.launches).sum::<u64>(), 2);
    assert_eq!((profile.copied_in.count, profile.copied_out.count), (2, 2));
    assert_eq!(gpu.state().races(), vec![]);
}

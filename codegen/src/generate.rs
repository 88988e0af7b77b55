//! From a verified program to a loop program.

use crate::ahead_of_stores::compute_ahead_of_stores;
use crate::asked::ask_before;
use crate::entry::{entry, name_globals};
use crate::error::CodegenError;
use crate::from_ast::{Lift, Scope, condition, with_storage};
use crate::guards::guard_sizes;
use crate::input::Input;
use crate::int_expr::VariableId;
use crate::isl_schedule::{Around, Mark, iterator_name, to_isl};
use crate::kernels::Extract;
use crate::leave::leave;
use crate::names::{Namer, Names};
use crate::narrow::add_narrow_kernels;
use crate::plan::launch_plan;
use crate::program::{Blocks, BufferAccess, For, Kernel, KernelParam, Node, Program, Scan};
use crate::ranges::clip;
use crate::separate::isolate_full_tiles;
use crate::tile::tile_registers;
use crate::wide::widen;
use std::collections::{BTreeMap, BTreeSet};
use tessella_polyhedral::algorithm::{Computation, Subscript};
use tessella_polyhedral::effort;
use tessella_polyhedral::expr::{Expr, ExprKind};
use tessella_polyhedral::isl::{AstBuild, Id, IslOption, Set};
use tessella_polyhedral::layers::{MemorySpace, Target};
use tessella_polyhedral::relation::{has_many_params, of_these};
use tessella_polyhedral::schedule::{Path, Tag};

/// Generates the loop program; on the GPU target with its kernels.
///
/// # Errors
/// `E06xx`: see [`CodegenError`].
pub fn generate(input: &Input<'_>) -> Result<Program, CodegenError> {
    let weight = effort::weight_of_generation(input.algorithm, input.schedule);
    generate_around(input, Around::Exact, weight)
}

/// The same with loops around several nests that run through a convex set, in which there are iterations without work: for
/// orders of many nests in tiles, for which [`generate`] takes too much.
///
/// # Errors
/// As of [`generate`].
pub fn generate_framed(input: &Input<'_>) -> Result<Program, CodegenError> {
    generate_around(input, Around::Framed, effort::weight_of_frames(input.algorithm, input.schedule))
}

/// The same where each loop of the nests is one loop, too: for tiles in which statements that were made to run in some of a loop's iterations, on
/// the faces of a box, run step after step, for which [`generate_framed`] takes too much.
///
/// # Errors
/// As of [`generate`].
pub fn generate_whole(input: &Input<'_>) -> Result<Program, CodegenError> {
    generate_around(input, Around::Whole, effort::weight_of_frames(input.algorithm, input.schedule))
}

fn generate_around(input: &Input<'_>, around: Around, weight: u64) -> Result<Program, CodegenError> {
    if input.target == Target::Gpu
        && let Some(array) = input.algorithm.arrays.iter().find(|array| !array.strided.is_empty())
    {
        return Err(CodegenError::StridedOnDevice { array: array.name.clone() });
    }
    input.algorithm.context.ctx().weighed(weight, || generate_weighed(input, around))
}

fn generate_weighed(input: &Input<'_>, around: Around) -> Result<Program, CodegenError> {
    let (mut names, mut namer) = name_globals(input);
    let entry = entry(input)?;
    let mut context = input.context()?;
    // isl carries the context from loop to loop: of many sizes, those that no loop depends on are left out.
    if has_many_params(input.algorithm) {
        context = of_these(&context, &effort::involved(input.algorithm, input.schedule))?;
        context = input.unused.without_in_set(context)?;
    }
    let mut loops: BTreeMap<VariableId, Path> = BTreeMap::new();
    let mut body = match to_isl(input, around)? {
        None => vec![],
        Some(mut marked) => {
            isolate_full_tiles(input, &mut marked)?;
            guard_sizes(input, &mut marked)?;
            let ctx = context.ctx().clone();
            let iterators =
                (0..marked.depth).map(|depth| Id::new(&ctx, &iterator_name(depth))).collect::<Result<Vec<_>, _>>()?;
            // Where a buffer lives for one execution of a node, isl must not generate the node in parts.
            let whole = marked.marks.iter().any(|mark| matches!(mark, Mark::Node(_) | Mark::Children(..)));
            ctx.set_option(IslOption::AstBuildGroupCoscheduled, i32::from(whole))?;
            // What launches and barriers are derived from takes iterators for the values of the schedule.
            ctx.set_option(IslOption::AstBuildScaleStrides, 0)?;
            let mut code = |context: &Set| -> Result<Vec<Node>, CodegenError> {
                let build = AstBuild::from_context(context)?.set_iterators(&iterators)?;
                let tree = build.node_from_schedule(&marked.schedule)?.view()?;
                let scope = Scope::new(&input.algorithm.param_names());
                let (names, namer) = (&mut names, namer.clone());
                let (marks, followers) = (&marked.marks, &marked.followers);
                Lift { input, marks, followers, scope, names, namer, loops: &mut loops, in_parts: BTreeSet::new() }
                    .block(&tree)
            };
            let mut body = code(&context)?;
            for version in input.versions.iter().rev() {
                let special = code(&context.intersect(&version.holds)?)?;
                let test = AstBuild::from_context(&context)?.expr_from_set(&version.holds.gist(&context)?)?;
                let condition = condition(&test.view()?, &Scope::new(&input.algorithm.param_names()))?;
                body = vec![Node::If { condition, then: special, otherwise: body }];
            }
            body
        }
    };
    body = with_storage(input, &Path::default(), body)?;
    name_lets(input, &mut names, &namer);
    check_registers(input)?;
    let mut kernels = vec![];
    if input.target == Target::Gpu {
        let mut extract = Extract {
            input,
            context: &context,
            names: &mut names,
            namer: &mut namer,
            loops: &loops,
            kernels: vec![],
            first_blocks: BTreeMap::new(),
            host: vec![],
            blocks: Blocks::Apart,
        };
        body = extract.host_block(body)?;
        kernels = extract.kernels;
    } else {
        // Statements that are spelled out for a whole tile ask for nothing ahead.
        if input.prefetches.is_empty() {
            body = tile_registers(input, &mut names, body);
        }
        check_allocations(input, &body)?;
    }
    for kernel in &mut kernels {
        kernel.body = leave(input, &[], clip(input, &mut names, std::mem::take(&mut kernel.body))?)?;
        ask_for_failures(input, kernel);
    }
    body = leave(input, &kernels, clip(input, &mut names, body)?)?;
    if input.target == Target::Cpu {
        body = ask_before(input, body);
    }
    for kernel in &mut kernels {
        kernel.body = compute_ahead_of_stores(input, widen(input, std::mem::take(&mut kernel.body)))?;
    }
    let computations = &input.algorithm.computations;
    // How often loops run is no matter of rounding.
    let fastmath = computations.iter().any(|it| it.fastmath)
        && computations.iter().all(|it| it.fastmath || only_moves(it))
        && !entry.derived.iter().any(|(_, value)| value.has_floats());
    let scan = input.scan.map(|scan| scan_program(input, &Input::from(scan))).transpose()?.map(Box::new);
    let mut program = Program { target: input.target, names, entry, body, kernels, loops, fastmath, scan };
    add_narrow_kernels(input, &mut program, &mut namer);
    if input.target == Target::Gpu && input.algorithm.failed.is_some() {
        launch_plan(input, &program)?;
    }
    Ok(program)
}

/// Hands the variable that notes failed tests to a kernel whose loops data end: what a failed test leaves behind may never end them.
fn ask_for_failures(input: &Input<'_>, kernel: &mut Kernel) {
    let Some(failed) = input.algorithm.failed else { return };
    let mut ends = false;
    let mut visit = |node: &Node| ends |= matches!(node, Node::For(it) if it.going.is_some());
    kernel.body.iter().for_each(|node| node.walk(&mut visit));
    let buffer = input.buffer_of(failed);
    let is_given = |param: &KernelParam| matches!(param, KernelParam::Buffer { buffer: given, .. } if *given == buffer);
    if ends && !kernel.params.iter().any(is_given) {
        let buffers = kernel.params.iter().take_while(|param| matches!(param, KernelParam::Buffer { .. })).count();
        kernel.params.insert(buffers, KernelParam::Buffer { buffer, access: BufferAccess::Read });
    }
}

/// Whether a statement does no arithmetic of floats, so that what compilers may do to it does not matter.
fn only_moves(computation: &Computation) -> bool {
    let moves = |expr: &Expr| matches!(expr.kind, ExprKind::Read(_) | ExprKind::Scalar(_) | ExprKind::Constant(_));
    let accesses = computation.reads.iter().chain([&computation.write]);
    let mut computed = accesses.flat_map(|access| &access.subscripts).filter_map(Subscript::as_computed);
    let is_exact = |subscript: &Expr| {
        let mut exact = true;
        subscript.walk(&mut |expr| exact &= !expr.ty.is_float() || moves(expr));
        exact
    };
    moves(&computation.value)
        && computation.predicate.is_none()
        && computation.lets.is_empty()
        && computed.all(is_exact)
}

/// The scan's numbers follow those of the other checks.
fn scan_program(input: &Input<'_>, scan: &Input<'_>) -> Result<Scan, CodegenError> {
    let base = input.checks.len() + input.algorithm.requirements.len();
    Ok(Scan { program: generate(scan)?, base: i32::try_from(base).unwrap_or(i32::MAX / 2) })
}

/// Names the `lets` of each computation differently from all else.
fn name_lets(input: &Input<'_>, names: &mut Names, globals: &Namer) {
    let variables: BTreeSet<String> = names.variables.iter().cloned().collect();
    for computation in &input.algorithm.computations {
        let mut namer = globals.clone();
        variables.iter().for_each(|name| namer.reserve(name));
        names.lets.push(computation.lets.iter().map(|it| namer.fresh(&it.name)).collect());
    }
}

/// Memory in registers needs a size that the compiler knows.
fn check_registers(input: &Input<'_>) -> Result<(), CodegenError> {
    for buffer in &input.layout.buffers {
        let sized = buffer.extents.iter().all(|extent| extent.as_constant().is_some());
        if buffer.space == MemorySpace::Register && !sized {
            return Err(CodegenError::SizeOfRegister { buffer: buffer.name.clone() });
        }
    }
    Ok(())
}

/// On the CPU, what lives within an iteration that others run beside lies on the stack or belongs to a thread: a call that
/// runs out of memory leaves the function, and no thread can leave a parallel loop.
fn check_allocations(input: &Input<'_>, body: &[Node]) -> Result<(), CodegenError> {
    let mut problem = None;
    let mut look = |node: &Node| {
        if let Node::Declare { buffer, .. } = node
            && input.is_on_heap(*buffer)
            && !input.is_of_threads(*buffer)
        {
            let buffer = input.layout.buffer(*buffer).name.clone();
            problem.get_or_insert(CodegenError::AllocationInside { buffer });
        }
    };
    for node in body {
        node.walk(&mut |node| {
            if let Node::For(For { tag: Tag::Parallel | Tag::Vector(_), body, .. }) = node {
                body.iter().for_each(|inner| inner.walk(&mut look));
            }
        });
    }
    problem.map_or(Ok(()), Err)
}

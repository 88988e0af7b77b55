//! Loops written out in a `@schedule` block: the whole order as a tree.

use super::FORMS;
use super::error::{CommandError, TreeProblem};
use super::reader::{integer, leaves_rows, name};
use tessella_diagnostics::Span;
use tessella_frontend::ast::{Broadcast, Expr, ExprKind, Iteration};
use tessella_polyhedral::order::{Formula, OrderLoop, OrderNode, Runs};
use tessella_polyhedral::schedule::{HexagonSize, ProcessorAxis, ResidentSize, StreamSize, Tag};

/// Whether an expression of a block is part of a tree rather than a command: a loop, with a macro or without, or the
/// name of a computation.
pub(super) fn is_tree(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::For { .. } => true,
        ExprKind::MacroCall { arguments, .. } => {
            let is_loop = |last: &Expr| match &last.kind {
                ExprKind::For { .. } => true,
                ExprKind::MacroCall { .. } => is_tree(last),
                _ => false,
            };
            arguments.last().is_some_and(is_loop)
        }
        ExprKind::Name(name) => !FORMS.iter().any(|form| form.name == *name),
        _ => false,
    }
}

/// What a message about the tree points at: a loop's first line.
pub(super) fn head(expr: &Expr) -> Span {
    match &expr.kind {
        ExprKind::For { iterations, .. } => {
            iterations.last().map_or(expr.span, |last| Span { end: last.span.end, ..expr.span })
        }
        ExprKind::MacroCall { arguments, .. } => {
            arguments.last().map_or(expr.span, |last| Span { end: head(last).end, ..expr.span })
        }
        _ => expr.span,
    }
}

/// A loop or a computation of a tree.
pub(super) fn node(expr: &Expr) -> Result<OrderNode, CommandError> {
    match &expr.kind {
        ExprKind::Name(name) => Ok(OrderNode::Computation(name.clone())),
        ExprKind::For { iterations, body } => looped(Tag::Sequential, expr, iterations, body),
        ExprKind::MacroCall { name, arguments } => {
            let Some((last, options)) = arguments.split_last() else { return wrong(TreeProblem::Tag, name.span) };
            if let ("grid_sync", [steps, points, rows, warps, lines], ExprKind::MacroCall { .. }) =
                (name.value.as_str(), options, &last.kind)
            {
                let resident = tiles([steps, points, rows, warps, lines])?;
                return match node(last)? {
                    OrderNode::Loop(OrderLoop { tag: Tag::Stream(streams), name, runs, body })
                        if streams.resident.is_none() =>
                    {
                        let tag = Tag::Stream(StreamSize { resident: Some(resident), ..streams });
                        Ok(OrderNode::Loop(OrderLoop { tag, name, runs, body }))
                    }
                    _ => wrong(TreeProblem::Tag, name.span),
                };
            }
            let ExprKind::For { iterations, body } = &last.kind else { return wrong(TreeProblem::Element, expr.span) };
            let tag = match (name.value.as_str(), options) {
                ("parallel", []) => Tag::Parallel,
                ("rows", []) => Tag::Rows,
                ("separate", []) => Tag::Separate,
                ("grid_sync", []) => Tag::GridSync,
                ("grid_sync", [steps, points, rows, warps, lines]) => {
                    Tag::Stream(StreamSize::in_tiles(tiles([steps, points, rows, warps, lines])?))
                }
                ("combine", []) => Tag::Combine,
                ("vectorize", [width]) => Tag::Vector(size(width)?),
                ("unroll", [factor]) => Tag::Unroll(size(factor)?),
                ("stream", [steps, points, more @ ..]) if more.len() <= 3 => Tag::Stream(StreamSize {
                    steps: size(steps)?,
                    points: size(points)?,
                    rows: more.first().filter(|rows| !leaves_rows(rows)).map(size).transpose()?,
                    lines: more.get(1).map_or(Ok(StreamSize::LINES), size)?,
                    warps: more.get(2).map_or(Ok(StreamSize::WARPS), size)?,
                    ..StreamSize::USUAL
                }),
                ("hexagonal", [height, width, points, threads, tiles]) => {
                    let (height, width, threads, tiles) = (size(height)?, size(width)?, size(threads)?, size(tiles)?);
                    Tag::Stream(StreamSize::hexagons(size(points)?, HexagonSize { height, width, threads, tiles }))
                }
                ("block", [along]) => Tag::GpuBlock(axis(along)?),
                ("thread", [along]) => Tag::GpuThread(axis(along)?),
                _ => return wrong(TreeProblem::Tag, name.span),
            };
            looped(tag, last, iterations, body)
        }
        _ => wrong(TreeProblem::Element, expr.span),
    }
}

fn wrong<T>(problem: TreeProblem, span: Span) -> Result<T, CommandError> {
    Err(CommandError::Tree { problem, span })
}

fn looped(tag: Tag, expr: &Expr, iterations: &[Iteration], body: &[Expr]) -> Result<OrderNode, CommandError> {
    let [iteration] = iterations else { return wrong(TreeProblem::SeveralLoops, head(expr)) };
    let Some(name) = name(&iteration.target) else { return wrong(TreeProblem::LoopName, iteration.target.span) };
    if body.is_empty() {
        return wrong(TreeProblem::Empty, head(expr));
    }
    let runs = match &iteration.range.kind {
        ExprKind::Tuple(functions) => {
            let each = functions.iter().map(|function| match &function.keyword {
                Some(computation) => Ok((computation.value.clone(), formula(&function.value)?)),
                None => wrong(TreeProblem::Formula, function.value.span),
            });
            Runs::Each(each.collect::<Result<_, _>>()?)
        }
        _ => Runs::Together(formula(&iteration.range)?),
    };
    let body = body.iter().map(node).collect::<Result<_, _>>()?;
    Ok(OrderNode::Loop(OrderLoop { name, tag, runs, body }))
}

/// A quasi-affine expression: names, integers, `+ - *`, `fld` and `mod` by a positive integer.
fn formula(expr: &Expr) -> Result<Formula, CommandError> {
    let not_affine = || wrong(TreeProblem::Formula, expr.span);
    if let Some(value) = integer(expr) {
        return i64::try_from(value).map(Formula::Integer).or_else(|_| not_affine());
    }
    match &expr.kind {
        ExprKind::Name(name) => Ok(Formula::Name(name.clone())),
        ExprKind::Prefix { operator, operand } if operator.value.symbol == "-" && !operator.value.dotted => {
            Ok(Formula::Scale(-1, Box::new(formula(operand)?)))
        }
        ExprKind::Infix { operator, left, right } if !operator.value.dotted => {
            let (first, second) = (formula(left)?, formula(right)?);
            match (operator.value.symbol.as_str(), first, second) {
                ("+", first, second) => Ok(Formula::Add(Box::new(first), Box::new(second))),
                ("-", first, second) => Ok(Formula::Sub(Box::new(first), Box::new(second))),
                ("*", Formula::Integer(factor), inner) | ("*", inner, Formula::Integer(factor)) => {
                    Ok(Formula::Scale(factor, Box::new(inner)))
                }
                _ => not_affine(),
            }
        }
        ExprKind::Juxtapose { coefficient, operand } => match formula(coefficient)? {
            Formula::Integer(factor) => Ok(Formula::Scale(factor, Box::new(formula(operand)?))),
            Formula::Name(_)
            | Formula::Add(..)
            | Formula::Sub(..)
            | Formula::Scale(..)
            | Formula::FloorDiv(..)
            | Formula::Modulo(..) => not_affine(),
        },
        ExprKind::Call { callee, arguments, broadcast: Broadcast::No } => {
            let [inner, divisor] = arguments.as_slice() else { return not_affine() };
            if inner.keyword.is_some() || divisor.keyword.is_some() {
                return not_affine();
            }
            let divisor = match integer(&divisor.value).map(i64::try_from) {
                Some(Ok(divisor @ 1..)) => divisor,
                Some(Ok(_) | Err(_)) | None => return wrong(TreeProblem::Divisor, divisor.value.span),
            };
            let inner = Box::new(formula(&inner.value)?);
            match name(callee).as_deref() {
                Some("fld") => Ok(Formula::FloorDiv(inner, divisor)),
                Some("mod") => Ok(Formula::Modulo(inner, divisor)),
                Some(_) | None => not_affine(),
            }
        }
        _ => not_affine(),
    }
}

fn size(expr: &Expr) -> Result<u32, CommandError> {
    match integer(expr).map(u32::try_from) {
        Some(Ok(size @ 1..)) => Ok(size),
        Some(Ok(0) | Err(_)) | None => wrong(TreeProblem::Size, expr.span),
    }
}

/// The tiles that blocks keep.
fn tiles([steps, points, rows, warps, lines]: [&Expr; 5]) -> Result<ResidentSize, CommandError> {
    Ok(ResidentSize {
        steps: size(steps)?,
        points: size(points)?,
        rows: size(rows)?,
        warps: size(warps)?,
        lines: size(lines)?,
    })
}

fn axis(expr: &Expr) -> Result<ProcessorAxis, CommandError> {
    match name(expr).as_deref() {
        Some("x") => Ok(ProcessorAxis::X),
        Some("y") => Ok(ProcessorAxis::Y),
        Some("z") => Ok(ProcessorAxis::Z),
        Some(_) | None => wrong(TreeProblem::Axis, expr.span),
    }
}

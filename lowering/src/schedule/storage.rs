//! Storage commands: `store_in(S, b, (t, i) -> (t % 2, i))` and the like.

use super::error::{CommandError, Expected};
use super::reader::{Call, integer, name, positional};
use tessella_frontend::ast::{Broadcast, Expr, ExprKind};
use tessella_polyhedral::affine::Affine;
use tessella_polyhedral::command::{AxisOrder, Columns, Command, Filling};

pub(super) fn store_in(call: &Call<'_>) -> Result<Command, CommandError> {
    let [computation, buffer, map] = call.exactly()?;
    let computation = call.computation(computation)?;
    let buffer = name(buffer).ok_or_else(|| call.wrong(Expected::Buffer, buffer))?;
    let ExprKind::Lambda { arguments, body } = &map.kind else { return Err(call.wrong(Expected::Map, map)) };
    let mut iterators = vec![];
    for argument in arguments {
        let elements = match &argument.kind {
            ExprKind::Tuple(elements) => positional(call.form, elements)?,
            _ => vec![argument],
        };
        for element in elements {
            iterators.push(name(element).ok_or_else(|| call.wrong(Expected::Map, element))?);
        }
    }
    if (1..iterators.len()).any(|at| iterators[..at].contains(&iterators[at])) {
        return Err(call.wrong(Expected::Map, map));
    }
    let body = match &body.kind {
        // `x -> (y; )` and `x -> begin y end`.
        ExprKind::Block(block) => match block.as_slice() {
            [only] => only,
            _ => return Err(call.wrong(Expected::Map, body)),
        },
        _ => body,
    };
    let map = call.one_or_more(body, Expected::Map, |expr| place(call, &iterators, expr))?;
    Ok(Command::StoreIn { computation, buffer, iterators, map })
}

pub(super) fn cache_shared(call: &Call<'_>) -> Result<Command, CommandError> {
    let (array, computation, at) = cached(call)?;
    let ahead = call.keyword("ahead").map_or(Ok(0), |ahead| {
        // Zero iterations ahead is the command without the keyword.
        call.size(ahead).map_err(|_| call.wrong(Expected::Ahead, ahead))
    })?;
    let axes = call.keyword("axes").map_or(Ok(AxisOrder::default()), |axes| axis_order(call, axes))?;
    let filling = call.keyword("threads").map_or(Ok(Filling::Shared), |threads| match &threads.kind {
        ExprKind::Symbol(name) if name == "footprint" => Ok(Filling::OneEach),
        _ => Err(call.wrong(Expected::Footprint, threads)),
    })?;
    Ok(Command::CacheShared { array, computation, at, ahead, axes, filling })
}

/// Each axis of an array once, from 1.
fn axis_order(call: &Call<'_>, expr: &Expr) -> Result<AxisOrder, CommandError> {
    let axes = call.one_or_more(expr, Expected::Axes, |axis| {
        let number = integer(axis).and_then(|axis| u32::try_from(axis).ok());
        number.and_then(|axis| axis.checked_sub(1)).ok_or_else(|| call.wrong(Expected::Axes, expr))
    })?;
    AxisOrder::new(axes).ok_or_else(|| call.wrong(Expected::Axes, expr))
}

pub(super) fn cache_register(call: &Call<'_>) -> Result<Command, CommandError> {
    let (array, computation, at) = cached(call)?;
    Ok(Command::CacheRegister { array, computation, at })
}

fn cached(call: &Call<'_>) -> Result<(String, String, String), CommandError> {
    let [array, computation, at] = call.exactly()?;
    Ok((array_name(call, array)?, call.computation(computation)?, call.loop_name(at)?))
}

pub(super) fn pad(call: &Call<'_>) -> Result<Command, CommandError> {
    let [array, by] = call.exactly()?;
    let by = call.one_or_more(by, Expected::Padding, |expr| {
        integer(expr).and_then(|more| u32::try_from(more).ok()).ok_or_else(|| call.wrong(Expected::Padding, expr))
    })?;
    let before = call.keyword("before").map_or(Ok(0), |before| call.size(before))?;
    let multiple = call.keyword("multiple").map_or(Ok(1), |multiple| call.size(multiple))?;
    Ok(Command::Pad { array: array_name(call, array)?, by, columns: Columns { before, multiple } })
}

pub(super) fn constant(call: &Call<'_>) -> Result<Command, CommandError> {
    let [array] = call.exactly()?;
    Ok(Command::Constant { array: array_name(call, array)? })
}

fn array_name(call: &Call<'_>, expr: &Expr) -> Result<String, CommandError> {
    name(expr).ok_or_else(|| call.wrong(Expected::Array, expr))
}

/// An affine expression of a map's subscripts; `%` and `mod` by a positive constant are never negative.
fn place(call: &Call<'_>, iterators: &[String], expr: &Expr) -> Result<Affine, CommandError> {
    let wrong = || call.wrong(Expected::Place, expr);
    let of = |expr: &Expr| place(call, iterators, expr);
    let number = |expr: &Expr| integer(expr).and_then(|value| i64::try_from(value).ok());
    let divisor = |expr: &Expr| number(expr).filter(|divisor| *divisor > 0);
    if let Some(value) = number(expr) {
        return Ok(Affine::constant(value));
    }
    match &expr.kind {
        ExprKind::Name(name) => {
            let position = iterators.iter().position(|it| it == name).ok_or_else(wrong)?;
            Ok(Affine::iterator(position as u32))
        }
        ExprKind::Prefix { operator, operand } if operator.value.symbol == "-" && !operator.value.dotted => {
            of(operand)?.scale(-1).map_err(|_| wrong())
        }
        ExprKind::Infix { operator, left, right } if !operator.value.dotted => match operator.value.symbol.as_str() {
            "+" => of(left)?.add(&of(right)?).map_err(|_| wrong()),
            "-" => of(left)?.sub(&of(right)?).map_err(|_| wrong()),
            "*" => match (number(left), number(right)) {
                (Some(factor), _) => of(right)?.scale(factor).map_err(|_| wrong()),
                (None, Some(factor)) => of(left)?.scale(factor).map_err(|_| wrong()),
                (None, None) => Err(wrong()),
            },
            "%" => of(left)?.modulo(divisor(right).ok_or_else(wrong)?).map_err(|_| wrong()),
            _ => Err(wrong()),
        },
        ExprKind::Call { callee, arguments, broadcast: Broadcast::No } => {
            let [left, right] = positional(call.form, arguments)?[..] else { return Err(wrong()) };
            let divisor = divisor(right).ok_or_else(wrong)?;
            match name(callee).as_deref() {
                Some("mod") => of(left)?.modulo(divisor).map_err(|_| wrong()),
                Some("fld") => Ok(of(left)?.floor_div(divisor)),
                Some(_) | None => Err(wrong()),
            }
        }
        _ => Err(wrong()),
    }
}

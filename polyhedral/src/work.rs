//! What a program has to do for concrete sizes: how many elements it must read and write in memory, and how many
//! operations its expressions take. Whatever the machine, it cannot do less in this division into launches. [`passes`] counts for
//! launches that make several time steps.

mod passes;

use crate::algorithm::{AccessRef, Computation, ComputationId, Which};
use crate::count;
use crate::dependence::{flow, is_repeated};
use crate::error::Error;
use crate::expr::{Expr, ExprKind};
use crate::isl::{Ctx, DimType, Id, Map, Set, Val};
use crate::layers::{BufferId, MemorySpace};
use crate::relation;
use crate::schedule::Loop;
use crate::verify::Verified;
use std::collections::{BTreeMap, BTreeSet};
use tessella_scalar::{BinaryOp, Intrinsic, ScalarType, UnaryOp};

pub use passes::{How, Passes, passes};

/// The work of some computations, in all executions of the loops around their launches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Work {
    pub instances: u64,
    /// Operations on `Float32`; see [`operations`].
    pub float32: u64,
    /// Operations on `Float64`.
    pub float64: u64,
    /// Bytes of elements that a launch reads and has not written itself, each once.
    pub read_bytes: u64,
    /// Bytes of elements that a launch writes, each once.
    pub written_bytes: u64,
    pub precision: Precision,
}

/// What the counts are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Precision {
    #[default]
    Exact,
    /// Conditions on data count as true, and a computed subscript as every element of its axis.
    AtMost,
}

/// Counts the work of the computations of one kernel. Each execution of the loops that `is_around` a launch is a launch
/// of its own. `steps` is how many iterations counting may run; what is left stays in it. `None`: counting takes more.
///
/// # Errors
/// isl's own failure.
pub fn work(
    ctx: &Ctx,
    verified: &Verified,
    computations: &BTreeSet<ComputationId>,
    is_around: &dyn Fn(&Loop) -> bool,
    params: &[i64],
    steps: &mut u64,
) -> Result<Option<Work>, Error> {
    let algorithm = verified.algorithm();
    let sizes = sizes(ctx, verified, params)?;
    let mut launches = BTreeMap::new();
    let mut total = Work::default();
    for &id in computations {
        let computation = algorithm.computation(id);
        let around = verified.schedule().loops_around(id).into_iter().filter(|(_, it)| is_around(it));
        let outer: Vec<_> = around.map(|(_, it)| it.at[&id].clone()).collect();
        launches.insert(id, relation::functions(ctx, algorithm, id, &outer)?);
        let mut domain = relation::domain(algorithm, id)?.intersect_params(&sizes)?.project_out_all_params()?;
        if let Some(owner) = computation.owner {
            // One of them runs what there is of the others.
            domain = domain.fix_i32(DimType::Set, owner.iterator, 0)?;
        }
        let Some(instances) = count::points(&domain, steps)? else { return Ok(None) };
        add_instances(&mut total, computation, instances);
        if computation.predicate.is_some() {
            total.precision = Precision::AtMost;
        }
    }
    // { [launch] -> buffer[place] }
    let mut touched: BTreeMap<(BufferId, bool), Map> = BTreeMap::new();
    for at in algorithm.accesses() {
        let writes = at.which == Which::Write;
        let buffer = verified.layout().placement(algorithm.access(at).array).buffer;
        if !computations.contains(&at.computation) || !is_in_memory(verified, buffer) || is_repeated(algorithm, at) {
            continue;
        }
        if !algorithm.access(at).is_affine() {
            total.precision = Precision::AtMost;
        }
        let mut places = places(ctx, verified, at, &sizes)?;
        if !writes {
            places = places.intersect_domain(&from_outside(ctx, verified, &launches, at, &sizes)?)?;
        }
        let places = launches[&at.computation].reverse()?.apply_range(&places)?;
        let all = match touched.remove(&(buffer, writes)) {
            Some(others) => others.union(&places)?,
            None => places,
        };
        touched.insert((buffer, writes), all);
    }
    for ((buffer, writes), places) in touched {
        let places = places.project_out_all_params()?.wrap()?;
        let Some(elements) = count::points(&places, steps)? else { return Ok(None) };
        let bytes = elements.saturating_mul(verified.layout().buffer(buffer).element.bytes().into());
        let sum = if writes { &mut total.written_bytes } else { &mut total.read_bytes };
        *sum = sum.saturating_add(bytes);
    }
    Ok(Some(total))
}

fn add_instances(total: &mut Work, computation: &Computation, instances: u64) {
    let (float32, float64) = operations(computation);
    total.instances = total.instances.saturating_add(instances);
    total.float32 = total.float32.saturating_add(instances.saturating_mul(float32));
    total.float64 = total.float64.saturating_add(instances.saturating_mul(float64));
}

/// `[params] -> { : all have their values }`.
fn sizes(ctx: &Ctx, verified: &Verified, params: &[i64]) -> Result<Set, Error> {
    let mut set = Set::universe(&relation::param_space(ctx, verified.algorithm())?)?;
    for (at, value) in params.iter().enumerate() {
        set = set.fix(DimType::Param, at as u32, &Val::from_i64(ctx, *value)?)?;
    }
    Ok(set)
}

fn is_in_memory(verified: &Verified, buffer: BufferId) -> bool {
    match verified.layout().buffer(buffer).space {
        MemorySpace::Host | MemorySpace::Global | MemorySpace::Constant { .. } => true,
        MemorySpace::Shared | MemorySpace::Register => false,
    }
}

/// `{ S[x] -> buffer[place] }` for the given sizes.
fn places(ctx: &Ctx, verified: &Verified, at: AccessRef, sizes: &Set) -> Result<Map, Error> {
    let algorithm = verified.algorithm();
    let access = algorithm.access(at);
    let elements = relation::access(ctx, algorithm, at.computation, access)?.intersect_params(sizes)?;
    let placement = verified.layout().placement(access.array);
    // { A[y] -> [] }
    let array = elements.space()?.range()?;
    let names = algorithm.param_names();
    let nowhere = Set::universe(&relation::param_space(ctx, algorithm)?.add_unnamed_tuple(0)?)?;
    let mut layout = Map::from_domain_and_range(&Set::universe(&array)?, &nowhere)?;
    for place in &placement.map {
        layout = layout.flat_range_product(&Map::from_aff(&place.to_isl(&array, &names)?)?)?;
    }
    let name = Id::new(ctx, &format!("buffer{}", placement.buffer.0))?;
    Ok(elements.apply_range(&layout.set_tuple_id(DimType::Out, &name)?)?)
}

/// The instances of a read that may see a value that their own launch has not written before: `{ S[x] }`.
fn from_outside(
    ctx: &Ctx,
    verified: &Verified,
    launches: &BTreeMap<ComputationId, Map>,
    read: AccessRef,
    sizes: &Set,
) -> Result<Set, Error> {
    let algorithm = verified.algorithm();
    let mut outside = Set::universe(&relation::domain_space(ctx, algorithm, read.computation)?)?;
    if !algorithm.access(read).is_affine() {
        return Ok(outside);
    }
    for (id, launch) in launches {
        let write = AccessRef { computation: *id, which: Which::Write };
        let same_array = algorithm.access(write).array == algorithm.access(read).array;
        if same_array && algorithm.computation(*id).writes_for_certain() {
            let same = launch.apply_range(&launches[&read.computation].reverse()?)?;
            outside = outside.subtract(&flow(ctx, algorithm, write, read, sizes)?.intersect(&same)?.range()?)?;
        }
    }
    Ok(outside)
}

/// The floating-point operations of one instance, in `Float32` and in `Float64`: `+ - * /`, negations aside, square roots
/// and other functions count as one, `fma` and `muladd` as two; of two branches the longer one counts. Comparisons,
/// conversions and integers count nothing.
pub fn operations(computation: &Computation) -> (u64, u64) {
    let lets = computation.lets.iter().map(|it| &it.value);
    let all = computation.predicate.iter().chain(lets).chain([&computation.value]);
    all.fold((0, 0), |sum, expr| add(sum, of_expression(expr)))
}

fn add(a: (u64, u64), b: (u64, u64)) -> (u64, u64) {
    (a.0 + b.0, a.1 + b.1)
}

fn of_expression(expr: &Expr) -> (u64, u64) {
    let own = match &expr.kind {
        ExprKind::Unary(UnaryOp::Neg | UnaryOp::Not | UnaryOp::BitNot, _) => 0,
        ExprKind::Binary(op, ..) => match op {
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div => 1,
            BinaryOp::DivTrunc | BinaryOp::DivFloor | BinaryOp::DivCeil | BinaryOp::Rem | BinaryOp::Mod => 1,
            BinaryOp::Min
            | BinaryOp::Max
            | BinaryOp::BitAnd
            | BinaryOp::BitOr
            | BinaryOp::BitXor
            | BinaryOp::ShiftLeft
            | BinaryOp::ShiftRight
            | BinaryOp::ShiftRightLogical
            | BinaryOp::AndAlso
            | BinaryOp::OrElse => 0,
        },
        ExprKind::Call(function, _) => match function {
            Intrinsic::Fma | Intrinsic::MulAdd => 2,
            // One half: the ratio of the divisor's halves, the inverse of the scaled divisor, the numerator.
            Intrinsic::QuotientRe | Intrinsic::QuotientIm => 7,
            Intrinsic::InverseRe | Intrinsic::InverseIm => 5,
            Intrinsic::Abs | Intrinsic::Sign | Intrinsic::CopySign | Intrinsic::IsNan => 0,
            Intrinsic::Sqrt
            | Intrinsic::Cbrt
            | Intrinsic::Exp
            | Intrinsic::Exp2
            | Intrinsic::Expm1
            | Intrinsic::Log
            | Intrinsic::Log2
            | Intrinsic::Log10
            | Intrinsic::Log1p
            | Intrinsic::Sin
            | Intrinsic::Cos
            | Intrinsic::Tan
            | Intrinsic::Asin
            | Intrinsic::Acos
            | Intrinsic::Atan
            | Intrinsic::Atan2
            | Intrinsic::Sinh
            | Intrinsic::Cosh
            | Intrinsic::Tanh
            | Intrinsic::Hypot
            | Intrinsic::Pow
            | Intrinsic::Floor
            | Intrinsic::Ceil
            | Intrinsic::Trunc
            | Intrinsic::Round => 1,
        },
        ExprKind::Select { condition, yes, no } => {
            let (yes, no) = (of_expression(yes), of_expression(no));
            return add(of_expression(condition), (yes.0.max(no.0), yes.1.max(no.1)));
        }
        ExprKind::Constant(_)
        | ExprKind::Index(_)
        | ExprKind::Scalar(_)
        | ExprKind::Let(_)
        | ExprKind::Read(_)
        | ExprKind::Compare(..)
        | ExprKind::IfElse { .. }
        | ExprKind::Convert(_)
        | ExprKind::Wrap(_) => 0,
    };
    let own = match expr.ty {
        ScalarType::F32 => (own, 0),
        ScalarType::F64 => (0, own),
        ScalarType::Bool
        | ScalarType::I8
        | ScalarType::I16
        | ScalarType::I32
        | ScalarType::I64
        | ScalarType::U8
        | ScalarType::U16
        | ScalarType::U32
        | ScalarType::U64 => (0, 0),
    };
    expr.operands().into_iter().fold(own, |sum, operand| add(sum, of_expression(operand)))
}

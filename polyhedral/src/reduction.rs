//! Reductions: computations that only update what they write, `a = a op e`.
//!
//! The order of such updates is part of the result where arithmetic rounds, so it is kept, unless the source says that
//! any order will do (`@fastmath`, or `@simd` within its loop) or the type makes no difference (integers wrap around, which is associative
//! and commutative). Updates in another order still may not run at one time: each reads what another wrote.

use crate::algorithm::{Access, AccessRef, Algorithm, ArrayId, Computation, ComputationId, Subscript, Which};
use crate::expr::{Expr, ExprKind};
use tessella_scalar::{BinaryOp, Constant, ScalarType};

/// A computation that updates elements of one array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reduction {
    pub computation: ComputationId,
    pub array: ArrayId,
    pub operator: Operator,
    pub order: UpdateOrder,
}

/// How an update combines the old value with a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operator {
    /// Additions and subtractions.
    Sum,
    Product,
    Min,
    Max,
}

/// Which order of the updates of one element gives the source's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum UpdateOrder {
    /// Any.
    Any,
    /// Any within one execution of the loop of this iterator: among instances that agree in all iterators before it. That of
    /// the source otherwise.
    Within(u32),
    /// That of the source: operations round, or treat zeros and NaN by position.
    Source,
}

/// The computations that update elements, [reductions](reduction) or not: `T[i] = max(T[i], T[k] + 1)` is an update, too. Its order is
/// free among updates of one element by one operator, whichever computations they are of; what else it reads keeps its place
/// among them.
pub fn updates(algorithm: &Algorithm) -> Vec<Reduction> {
    algorithm.ids().filter_map(|id| Some(update(algorithm, id)?.0)).collect()
}

/// The reductions of an algorithm.
pub fn reductions(algorithm: &Algorithm) -> Vec<Reduction> {
    algorithm.ids().filter_map(|id| reduction(algorithm, id)).collect()
}

/// The reduction that a computation is: its value is the old element combined with others by one operator, and nothing
/// else in it reads the array.
pub fn reduction(algorithm: &Algorithm, id: ComputationId) -> Option<Reduction> {
    update(algorithm, id).filter(|(_, alone)| *alone).map(|(it, _)| it)
}

/// The update that a computation is, and whether nothing else in it reads the array: its value is the old element, read just once,
/// combined with others by one operator.
fn update(algorithm: &Algorithm, id: ComputationId) -> Option<(Reduction, bool)> {
    let it = algorithm.computation(id);
    let element = algorithm.array(it.write.array).element;
    let operator = updates_by(it).filter(|_| it.value.ty == element)?;
    let (mut old, mut others) = (0, 0);
    let accesses = it.reads.iter().chain([&it.write]);
    let computed = accesses.flat_map(|access| &access.subscripts).filter_map(Subscript::as_computed);
    let all = it.predicate.iter().chain(it.lets.iter().map(|it| &it.value)).chain([&it.value]);
    all.chain(computed).for_each(|expr| {
        expr.walk(&mut |expr| {
            if let ExprKind::Read(at) = expr.kind {
                let read = &it.reads[at as usize];
                let is_old = is_old(it, read);
                old += usize::from(is_old);
                others += usize::from(!is_old && read.array == it.write.array);
            }
        });
    });
    if old != 1 {
        return None;
    }
    // Reads that no expression names count as dependences, too.
    let alone = others == 0 && it.reads.iter().all(|read| read.array != it.write.array || is_old(it, read));
    let order = match it.simd {
        // Julia's `min` and `max` of floats know no position, either: a NaN wins, and -0.0 is less than 0.0.
        _ if it.fastmath || !element.is_float() || matches!(operator, Operator::Min | Operator::Max) => {
            UpdateOrder::Any
        }
        Some(iterator) if alone => UpdateOrder::Within(iterator),
        Some(_) | None => UpdateOrder::Source,
    };
    Some((Reduction { computation: id, array: it.write.array, operator, order }, alone))
}

/// Which order of two accesses to one element gives the source's result, where `updates` are all that the algorithm has.
pub fn order_of(algorithm: &Algorithm, updates: &[Reduction], source: AccessRef, sink: AccessRef) -> UpdateOrder {
    let update = |at: AccessRef| {
        let it = updates.iter().find(|it| it.computation == at.computation);
        it.filter(|_| is_of_update(algorithm, at))
    };
    match (update(source), update(sink)) {
        (Some(it), Some(other)) if it.computation == other.computation => it.order,
        (Some(it), Some(other)) if it.operator == other.operator && it.order.max(other.order) == UpdateOrder::Any => {
            UpdateOrder::Any
        }
        _ => UpdateOrder::Source,
    }
}

/// Whether an access of an update is one of the element that it updates.
pub fn is_of_update(algorithm: &Algorithm, at: AccessRef) -> bool {
    let it = algorithm.computation(at.computation);
    match at.which {
        Which::Write => true,
        Which::Read(position) => is_old(it, &it.reads[position as usize]),
    }
}

/// The operator by which a computation adds to (multiplies into, ...) what it wrote before, whatever else it reads:
/// `+` in `C[i, j] = C[i, j] + x + y`.
pub fn accumulates(computation: &Computation) -> Option<BinaryOp> {
    let ExprKind::Binary(op, _, _) = computation.value.kind else { return None };
    operator(op).is_some_and(|operator| holds_old(computation, &computation.value, operator)).then_some(op)
}

/// The operator by which a computation updates what it wrote before; that of a difference is the one of a sum.
pub fn updates_by(computation: &Computation) -> Option<Operator> {
    accumulates(computation).and_then(operator)
}

fn operator(op: BinaryOp) -> Option<Operator> {
    match op {
        BinaryOp::Add | BinaryOp::Sub => Some(Operator::Sum),
        BinaryOp::Mul => Some(Operator::Product),
        BinaryOp::Min => Some(Operator::Min),
        BinaryOp::Max => Some(Operator::Max),
        BinaryOp::Div
        | BinaryOp::DivTrunc
        | BinaryOp::DivFloor
        | BinaryOp::DivCeil
        | BinaryOp::Rem
        | BinaryOp::Mod
        | BinaryOp::BitAnd
        | BinaryOp::BitOr
        | BinaryOp::BitXor
        | BinaryOp::ShiftLeft
        | BinaryOp::ShiftRight
        | BinaryOp::ShiftRightLogical
        | BinaryOp::AndAlso
        | BinaryOp::OrElse => None,
    }
}

/// Whether the old element stands in a chain of the operator, never to be subtracted: `(a + x) - y`, not `x - a`.
fn holds_old(it: &Computation, expr: &Expr, chain: Operator) -> bool {
    match &expr.kind {
        ExprKind::Read(at) => is_old(it, &it.reads[*at as usize]),
        ExprKind::Binary(BinaryOp::Sub, left, _) if chain == Operator::Sum => holds_old(it, left, chain),
        ExprKind::Binary(op, left, right) if operator(*op) == Some(chain) => {
            holds_old(it, left, chain) || holds_old(it, right, chain)
        }
        _ => false,
    }
}

/// Whether a read is of the element that is written. Which instances may read it makes no difference: those that write it do.
pub fn is_old(it: &Computation, read: &Access) -> bool {
    let (place, written) = (&read.subscripts, &it.write.subscripts);
    read.array == it.write.array
        && (place == written || (!it.write.is_affine() && Alike::new(it).subscripts(place, written)))
}

/// Expressions of one instance that are spelt alike, whichever accesses and names they read by: both subscripts of `h[idx[i]] += 1`
/// read `idx[i]`, each by an access of its own. All reads of an instance come before it writes, so they have one value.
struct Alike<'a> {
    it: &'a Computation,
    /// For each `Let`, the first one that is spelt like it.
    lets: Vec<u32>,
}

impl<'a> Alike<'a> {
    fn new(it: &'a Computation) -> Self {
        let mut alike = Alike { it, lets: vec![] };
        for (at, new) in it.lets.iter().enumerate() {
            let known = it.lets[..at].iter().position(|known| alike.expressions(&known.value, &new.value));
            alike.lets.push(known.unwrap_or(at) as u32);
        }
        alike
    }

    fn subscripts(&self, one: &[Subscript], other: &[Subscript]) -> bool {
        one.len() == other.len()
            && one.iter().zip(other).all(|pair| match pair {
                (Subscript::Affine(one), Subscript::Affine(other)) => one == other,
                (Subscript::Computed(one), Subscript::Computed(other)) => self.expressions(one, other),
                (Subscript::Affine(_), Subscript::Computed(_)) | (Subscript::Computed(_), Subscript::Affine(_)) => {
                    false
                }
            })
    }

    fn expressions(&self, one: &Expr, other: &Expr) -> bool {
        match (&one.kind, &other.kind) {
            (ExprKind::Read(one), ExprKind::Read(other)) => {
                let (one, other) = (&self.it.reads[*one as usize], &self.it.reads[*other as usize]);
                one.array == other.array && self.subscripts(&one.subscripts, &other.subscripts)
            }
            (ExprKind::Let(one), ExprKind::Let(other)) => self.lets[*one as usize] == self.lets[*other as usize],
            _ => {
                let parts = one.operands().into_iter().zip(other.operands());
                one.is_same_operation(other) && parts.into_iter().all(|(part, other)| self.expressions(part, other))
            }
        }
    }
}

impl Operator {
    /// What combines partial results.
    pub fn combines(self) -> BinaryOp {
        match self {
            Operator::Sum => BinaryOp::Add,
            Operator::Product => BinaryOp::Mul,
            Operator::Min => BinaryOp::Min,
            Operator::Max => BinaryOp::Max,
        }
    }

    /// What changes nothing when it is combined with any value. A sum starts at minus zero: `-0.0 + 0.0` is another zero. `None`
    /// for conditions.
    pub fn neutral(self, ty: ScalarType) -> Option<Constant> {
        let float = match self {
            Operator::Sum => -0.0,
            Operator::Product => 1.0,
            Operator::Min => f64::INFINITY,
            Operator::Max => f64::NEG_INFINITY,
        };
        let integer = |least: i64, most: u64| {
            let bits = match self {
                Operator::Sum => 0,
                Operator::Product => 1,
                Operator::Min => most,
                Operator::Max => least as u64,
            };
            Constant { ty, bits }
        };
        Some(match ty {
            ScalarType::Bool => return None,
            ScalarType::F32 => Constant::f32(float as f32),
            ScalarType::F64 => Constant::f64(float),
            ScalarType::I8 => integer(i8::MIN.into(), i8::MAX as u64),
            ScalarType::I16 => integer(i16::MIN.into(), i16::MAX as u64),
            ScalarType::I32 => integer(i32::MIN.into(), i32::MAX as u64),
            ScalarType::I64 => integer(i64::MIN, i64::MAX as u64),
            ScalarType::U8 => integer(0, u8::MAX.into()),
            ScalarType::U16 => integer(0, u16::MAX.into()),
            ScalarType::U32 => integer(0, u32::MAX.into()),
            ScalarType::U64 => integer(0, u64::MAX),
        })
    }

    /// What an update does, in words.
    pub fn verb(self) -> &'static str {
        match self {
            Operator::Sum => "adds to",
            Operator::Product => "multiplies",
            Operator::Min => "takes the minimum in",
            Operator::Max => "takes the maximum in",
        }
    }
}

//! Which computed subscripts have been looked at: what one access asks for, a later one of the same iteration need not.
//!
//! ```text
//! if d < dist[to[e]]          looked at here: `to[e]` is inside
//!     dist[to[e]] = d         so that it need not be known at entry whether this happens
//! end
//! ```

use crate::formula::Formula;
use crate::nest::{Predicate, Scope};
use crate::symbolic::{Site, Symbols};
use tessella_frontend::typed::tree::{Expr, ExprKind, LoopId};
use tessella_polyhedral::algorithm::ArrayId;

/// A condition on data, and what it must be.
type Condition<'a> = (Vec<&'a Expr>, bool);

/// A subscript at a place of the source.
pub(crate) struct Looked<'a> {
    array: ArrayId,
    axis: u32,
    /// It depends on nothing that changes within an iteration, or it could not have been looked at.
    subscript: Expr,
    loops: Vec<LoopId>,
    /// The affine conditions under which it is evaluated.
    domain: Formula,
    /// The conditions on data under which it is evaluated, outermost first.
    conditions: Vec<Condition<'a>>,
    /// Whether the search computes with floats.
    pub(crate) of_floats: bool,
}

impl<'a> Looked<'a> {
    /// The place behind the first `decided` conditions on data of a scope.
    pub(crate) fn new(
        scope: &Scope<'a>,
        decided: usize,
        array: ArrayId,
        axis: u32,
        subscript: &Expr,
        under: &Formula,
    ) -> Self {
        let conditions = scope.predicates.iter().take(decided).map(|predicate| match predicate {
            Predicate::Saved { parts, expected, .. } | Predicate::Direct { parts, expected, .. } => {
                (parts.clone(), *expected)
            }
        });
        Looked {
            array,
            axis,
            subscript: subscript.clone(),
            loops: scope.site.iterators.iter().map(|iterator| iterator.id).collect(),
            domain: scope.site.domain.and(under),
            conditions: conditions.collect(),
            of_floats: false,
        }
    }

    /// Whether this subscript is evaluated wherever the other one is, in the same iteration, with the same value.
    pub(crate) fn covers(&self, other: &Looked<'a>, symbols: &Symbols<'a>, site: &Site) -> bool {
        let same_condition = |((a, expected), (b, other)): (&Condition<'_>, &Condition<'_>)| {
            expected == other && a.len() == b.len() && a.iter().zip(b).all(|(a, b)| std::ptr::eq(*a, *b))
        };
        (self.array, self.axis) == (other.array, other.axis)
            && self.loops == other.loops
            && self.conditions.len() <= other.conditions.len()
            && self.conditions.iter().zip(&other.conditions).all(same_condition)
            && alike(&self.subscript, &other.subscript)
            && !symbols.is_possible(site, &other.domain.and(&self.domain.not()))
    }
}

/// Whether two expressions are the same, wherever they stand.
pub(crate) fn alike(a: &Expr, b: &Expr) -> bool {
    let same = match (&a.kind, &b.kind) {
        (ExprKind::Constant(a), ExprKind::Constant(b)) => a == b,
        (ExprKind::Local(a), ExprKind::Local(b)) => a == b,
        (ExprKind::Load { array: a, .. }, ExprKind::Load { array: b, .. }) => a == b,
        (ExprKind::Size { array: a, axis: k }, ExprKind::Size { array: b, axis: l })
        | (ExprKind::First { array: a, axis: k }, ExprKind::First { array: b, axis: l }) => (a, k) == (b, l),
        (ExprKind::Unary(a, _), ExprKind::Unary(b, _)) => a == b,
        (ExprKind::Binary(a, ..), ExprKind::Binary(b, ..)) => a == b,
        (ExprKind::Compare(a, ..), ExprKind::Compare(b, ..)) => a == b,
        (ExprKind::Call(a, _), ExprKind::Call(b, _)) => a == b,
        (ExprKind::Select { .. }, ExprKind::Select { .. })
        | (ExprKind::IfElse { .. }, ExprKind::IfElse { .. })
        | (ExprKind::Convert(_), ExprKind::Convert(_))
        | (ExprKind::Wrap(_), ExprKind::Wrap(_)) => true,
        (_, _) => false,
    };
    let (left, right) = (a.operands(), b.operands());
    same && a.ty == b.ty && left.len() == right.len() && left.into_iter().zip(right).all(|(a, b)| alike(a, b))
}

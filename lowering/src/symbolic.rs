//! Recognises quasi-affine integers and conditions in typed expressions.
//!
//! An integer is a list of [`Pieces`]: one for most expressions, several where `min`, `max`, `abs`, `?:` or a division
//! that rounds towards zero distinguishes cases that isl cannot rule out. All arithmetic is checked to stay far inside
//! 64 bits for every parameter in the context, so that Julia's wrap-around never shows.

mod cases;
mod evaluate;
mod instances;

use crate::error::NotAffine;
use crate::formula::{Formula, Pieces};
use crate::params::Signature;
use instances::Answers;
use std::cell::RefCell;
use std::collections::BTreeMap;
use tessella_diagnostics::Span;
use tessella_frontend::typed::tree::{Expr, ExprKind, Function, LocalId, LoopId};
use tessella_polyhedral::affine::{Affine, AffineOverflow, Atom};
use tessella_polyhedral::algorithm::PARAM_LIMIT;
use tessella_polyhedral::isl::{Ctx, IslError, Set, Space};
use tessella_scalar::{BinaryOp, ScalarType, UnaryOp};

/// No expression is followed into more cases.
const CASE_LIMIT: usize = 16;
/// Comparisons of what is asserted that are kept in mind: each question has them all.
const ASSERTED: usize = 8;

/// No accepted expression has a larger magnitude, nor a larger coefficient.
const MAGNITUDE_LIMIT: i128 = 1 << 60;

/// A loop around a statement.
#[derive(Debug, Clone)]
pub(crate) struct Iterator {
    pub(crate) id: LoopId,
    pub(crate) local: LocalId,
    /// Unique among the loops around.
    pub(crate) name: String,
    pub(crate) span: Span,
    /// The largest absolute value it takes.
    pub(crate) magnitude: i128,
    /// Whether data say where its loop starts or stops.
    pub(crate) ranged: bool,
}

/// A place in the loop nest: the loops around it, and the exact condition on their iterators.
#[derive(Debug, Clone)]
pub(crate) struct Site {
    pub(crate) iterators: Vec<Iterator>,
    pub(crate) domain: Formula,
}

impl Site {
    /// Whether data say where the loop of this iterator starts or stops.
    pub(crate) fn is_ranged(&self, iterator: u32) -> bool {
        self.iterators.get(iterator as usize).is_some_and(|it| it.ranged)
    }

    /// Whether a condition would divide a loop whose bounds are data: such a loop stays one, and asks.
    pub(crate) fn divides_ranges(&self, condition: &Formula) -> bool {
        self.iterators.iter().any(|it| it.ranged) && condition.divides(&|iterator| self.is_ranged(iterator))
    }
}

/// The symbolic value of a `Value` local.
#[derive(Debug, Clone)]
pub(crate) enum Symbol {
    /// Of a `Float64` that is sure to be whole, too.
    Integer(Pieces),
    Condition(Formula),
}

/// Everything that is known of integers.
pub(crate) struct Symbols<'a> {
    pub(crate) ctx: &'a Ctx,
    pub(crate) function: &'a Function,
    pub(crate) signature: Signature,
    pub(crate) param_names: Vec<String>,
    context: Formula,
    /// What has been tested at entry before the place that is lowered, of the parameters; see [`Symbols::assert`].
    asserted: Formula,
    known: BTreeMap<LocalId, Result<Symbol, NotAffine>>,
    /// The values of locals that are not affine: products of iterators and sizes may be, where they are divided.
    pub(crate) definitions: BTreeMap<LocalId, Expr>,
    answers: RefCell<Answers>,
}

impl<'a> Symbols<'a> {
    pub(crate) fn new(ctx: &'a Ctx, function: &'a Function, signature: Signature) -> Self {
        let (param_names, context) = (signature.param_names(), signature.context());
        let (known, definitions, answers) = (BTreeMap::new(), BTreeMap::new(), RefCell::default());
        let asserted = Formula::True;
        Self { ctx, function, signature, param_names, context, asserted, known, definitions, answers }
    }

    /// The space `[params] -> { name[iterators] }`.
    pub(crate) fn space(&self, name: Option<&str>, iterators: &[Iterator]) -> Result<Space, IslError> {
        let params = Space::params(self.ctx, &self.param_names)?;
        match name {
            Some(name) => params.named_tuple(name, iterators.len() as u32),
            None => params.unnamed_tuple(iterators.len() as u32),
        }
    }

    /// The context: `[params] -> { : ... }`.
    pub(crate) fn context_set(&self) -> Result<Set, IslError> {
        self.context.to_set(&self.space(None, &[])?, &self.param_names)?.params()
    }

    /// `[params] -> { name[] }`: one instance without iterators.
    pub(crate) fn one_instance(&self, name: &str) -> Result<Set, IslError> {
        Set::universe(&self.space(Some(name), &[])?)
    }

    /// From here on nothing runs unless this holds of the parameters: entry makes sure, in the order of the source. Values further on need no cases for
    /// other sizes. What entry tests is not simplified by it.
    pub(crate) fn assert(&mut self, holds: &Formula) {
        if self.asserted.size() + holds.size() <= ASSERTED {
            self.asserted = self.asserted.and(holds);
        }
    }

    /// Records what is known of a local once its only assignment has been seen.
    pub(crate) fn define(&mut self, local: LocalId, value: Result<Symbol, NotAffine>) {
        self.known.insert(local, value);
    }

    pub(crate) fn symbol(&self, local: LocalId) -> Option<&Symbol> {
        self.known.get(&local).and_then(|known| known.as_ref().ok())
    }

    /// The symbolic value of an `Int64` or `Bool` expression evaluated at `site` where `under` holds.
    pub(crate) fn symbolic(&self, expr: &Expr, site: &Site, under: &Formula) -> Result<Symbol, NotAffine> {
        match expr.ty {
            ScalarType::Bool => self.condition(expr, site, under).map(Symbol::Condition),
            ScalarType::F64 => Evaluation { symbols: self, site, under }.whole(expr).map(Symbol::Integer),
            _ => self.integer(expr, site, under).map(Symbol::Integer),
        }
    }

    /// An `Int64` expression as affine cases.
    pub(crate) fn integer(&self, expr: &Expr, site: &Site, under: &Formula) -> Result<Pieces, NotAffine> {
        let at = Evaluation { symbols: self, site, under };
        at.integer(expr)
    }

    /// A `Bool` expression as an affine condition.
    pub(crate) fn condition(&self, expr: &Expr, site: &Site, under: &Formula) -> Result<Formula, NotAffine> {
        let at = Evaluation { symbols: self, site, under };
        at.condition(expr)
    }

    /// The same where it may become part of the domain: it does not divide a loop whose bounds are data.
    pub(crate) fn restriction(&self, expr: &Expr, site: &Site, under: &Formula) -> Option<Formula> {
        self.condition(expr, site, under).ok().filter(|exact| !site.divides_ranges(exact))
    }

    /// Affine conditions that hold whenever the expression is true, and whenever it is false.
    pub(crate) fn implied(&self, expr: &Expr, site: &Site, under: &Formula) -> (Formula, Formula) {
        if let Ok(exact) = self.condition(expr, site, under) {
            let negation = exact.not();
            return (exact, negation);
        }
        match &expr.kind {
            ExprKind::Unary(UnaryOp::Not, operand) => {
                let (yes, no) = self.implied(operand, site, under);
                (no, yes)
            }
            ExprKind::Binary(BinaryOp::AndAlso, left, right) => {
                let (left_yes, left_no) = self.implied(left, site, under);
                let (right_yes, right_no) = self.implied(right, site, &under.and(&left_yes));
                (left_yes.and(&right_yes), left_no.or(&right_no))
            }
            ExprKind::Binary(BinaryOp::OrElse, left, right) => {
                let (left_yes, left_no) = self.implied(left, site, under);
                let (right_yes, right_no) = self.implied(right, site, &under.and(&left_no));
                (left_yes.or(&right_yes), left_no.and(&right_no))
            }
            _ => (Formula::True, Formula::True),
        }
    }

    /// The largest absolute value that the cases' expressions can take.
    pub(crate) fn magnitude(&self, pieces: &Pieces, site: &Site) -> i128 {
        pieces.0.iter().map(|(_, value)| magnitude(value, site)).max().unwrap_or(0)
    }
}

/// Saturates above [`MAGNITUDE_LIMIT`]; at least every coefficient.
fn magnitude(value: &Affine, site: &Site) -> i128 {
    value.terms().iter().fold(i128::from(value.constant_term()).abs(), |sum, (atom, factor)| {
        let size = match atom {
            Atom::Iterator(position) => site.iterators[*position as usize].magnitude,
            Atom::Param(_) => i128::from(PARAM_LIMIT),
            Atom::FloorDiv(inner, divisor) => magnitude(inner, site) / i128::from(*divisor) + 1,
        };
        sum.saturating_add(i128::from(*factor).abs().saturating_mul(size.max(1)))
    })
}

/// One expression at one place.
#[derive(Clone, Copy)]
pub(crate) struct Evaluation<'s, 'a> {
    pub(crate) symbols: &'s Symbols<'a>,
    site: &'s Site,
    under: &'s Formula,
}

type Combine<'f> = &'f dyn Fn(&Affine, &Affine) -> Result<Affine, AffineOverflow>;

//! Arithmetic over cases, as few of them as can be.

use super::{CASE_LIMIT, Combine, Evaluation, MAGNITUDE_LIMIT};
use crate::error::{NotAffine, Reason};
use crate::formula::{Formula, Pieces};
use tessella_frontend::typed::tree::Expr;
use tessella_polyhedral::affine::{Affine, AffineOverflow, Atom};
use tessella_scalar::CompareOp;

/// More cases than this are not compared with each other.
const MERGE_LIMIT: usize = 12;

/// Of remainders by so few as levels of time take turns, those from 1 are one expression; others are better as two, each a fixed distance away:
/// [`Evaluation::chosen`] has `i - 1` and `n` for `mod1(i - 1, n)`.
const MOST_TURNS: i64 = 8;

/// `mod1(x, k)`, of `mod(x, k) == 0 ? k : mod(x, k)`: `mod(x - 1, k) + 1`.
fn from_one(condition: &Formula, yes: &Pieces, no: &Pieces) -> Option<Affine> {
    let count = yes.as_constant().filter(|count| (2..=MOST_TURNS).contains(count))?;
    let rest = no.as_single().filter(|rest| *condition == Formula::zero((*rest).clone()))?;
    let before = rest.terms().iter().find_map(|(atom, _)| match atom {
        Atom::FloorDiv(before, by) if *by == count && before.modulo(count).as_ref() == Ok(rest) => Some(before),
        _ => None,
    });
    before?.add_constant(-1).ok()?.modulo(count).ok()?.add_constant(1).ok()
}

impl Evaluation<'_, '_> {
    pub(crate) fn scaled(&self, expr: &Expr, value: &Pieces, factor: i64) -> Result<Pieces, NotAffine> {
        self.mapped(expr, value, &|value| value.scale(factor))
    }

    pub(super) fn mapped(
        &self,
        expr: &Expr,
        value: &Pieces,
        change: &dyn Fn(&Affine) -> Result<Affine, AffineOverflow>,
    ) -> Result<Pieces, NotAffine> {
        let cases = value.0.iter().map(|(case, value)| Ok((case.clone(), change(value)?)));
        match cases.collect::<Result<_, AffineOverflow>>() {
            Ok(cases) => self.checked(expr, Pieces(cases)),
            Err(AffineOverflow) => Err(NotAffine { span: expr.span, reason: Reason::MayWrap }),
        }
    }

    pub(crate) fn combined(
        &self,
        expr: &Expr,
        left: &Pieces,
        right: &Pieces,
        combine: Combine<'_>,
    ) -> Result<Pieces, NotAffine> {
        let mut cases = vec![];
        for (left_case, left) in &left.0 {
            for (right_case, right) in &right.0 {
                match combine(left, right) {
                    Ok(value) => cases.push((left_case.and(right_case), value)),
                    Err(AffineOverflow) => return Err(NotAffine { span: expr.span, reason: Reason::MayWrap }),
                }
            }
        }
        self.pruned(expr, Pieces(cases)).and_then(|pieces| self.checked(expr, pieces))
    }

    pub(super) fn chosen(
        &self,
        expr: &Expr,
        condition: &Formula,
        yes: &Pieces,
        no: &Pieces,
    ) -> Result<Pieces, NotAffine> {
        if let Some(turn) = from_one(condition, yes, no) {
            return self.checked(expr, Pieces::single(turn));
        }
        self.pruned(expr, Pieces::choose(condition, yes, no))
    }

    /// Drops the cases that no instance here is in.
    pub(super) fn pruned(&self, expr: &Expr, pieces: Pieces) -> Result<Pieces, NotAffine> {
        if pieces.0.len() < 2 {
            return Ok(pieces);
        }
        let mut cases: Vec<(Formula, Affine)> = vec![];
        for (case, value) in pieces.0 {
            if !self.symbols.is_possible(self.site, &self.under.and(&case)) {
                continue;
            }
            cases.push((case, value));
        }
        self.merge(&mut cases);
        match cases.len() {
            // Nothing runs here: any value will do.
            0 => Ok(Pieces::single(Affine::constant(0))),
            1 => Ok(Pieces::single(cases.swap_remove(0).1)),
            2..=CASE_LIMIT => {
                let simple = cases.into_iter().map(|(case, value)| {
                    let simple = self.simplified(&case, &Formula::True);
                    (self.joined(&simple).filter(|it| it.size() < simple.size()).unwrap_or(simple), value)
                });
                Ok(Pieces(simple.collect()))
            }
            _ => Err(NotAffine { span: expr.span, reason: Reason::TooManyCases { limit: CASE_LIMIT } }),
        }
    }

    /// Of two cases one of which has the other's value, too, makes one. First those that differ otherwise: what is left
    /// of `mod1(i + 1, n)` are `i + 1` and `i + 1 - n`.
    fn merge(&self, cases: &mut Vec<(Formula, Affine)>) {
        // One of two equations may say what another case does: for `mod1(i + 1, n)`, `i + 1 == n`, but not `i + 1 == 2 * n`.
        let parts = |(case, value): &(Formula, Affine)| match case {
            Formula::Any(parts) => parts.iter().map(|part| (part.clone(), value.clone())).collect(),
            other => vec![(other.clone(), value.clone())],
        };
        let apart: Vec<_> = cases.iter().flat_map(parts).collect();
        if apart.len() <= MERGE_LIMIT {
            *cases = apart;
        }
        let few = cases.len() <= MERGE_LIMIT;
        let mut at = 0;
        while few && at < cases.len() {
            let (case, value) = &cases[at];
            let alike = |other: &Affine| {
                let differ = Formula::compare(CompareOp::Ne, value, other);
                *value != *other && !self.possible(&case.and(&differ))
            };
            match cases.iter().position(|(_, other)| alike(other)) {
                Some(into) => {
                    cases[into].0 = cases[into].0.or(&cases[at].0);
                    cases.remove(at);
                }
                None => at += 1,
            }
        }
        let mut distinct: Vec<(Formula, Affine)> = vec![];
        for (case, value) in cases.drain(..) {
            match distinct.iter_mut().find(|(_, other)| *other == value) {
                Some((known, _)) => *known = known.or(&case),
                None => distinct.push((case, value)),
            }
        }
        *cases = distinct;
    }

    /// A condition with alternatives that say together what holds without any.
    fn joined(&self, condition: &Formula) -> Option<Formula> {
        let (Formula::Any(parts) | Formula::All(parts)) = condition else { return None };
        let has_any = matches!(condition, Formula::Any(_)) || parts.iter().any(|it| matches!(it, Formula::Any(_)));
        has_any.then(|| self.symbols.conjunction(self.site, self.under, condition))?
    }

    pub(super) fn possible(&self, condition: &Formula) -> bool {
        self.symbols.is_possible(self.site, &self.under.and(condition))
    }

    /// The condition without what cannot be otherwise here, where `given` holds.
    fn simplified(&self, condition: &Formula, given: &Formula) -> Formula {
        let always = |part: &Formula, given: &Formula| !self.possible(&given.and(&part.not()));
        match condition {
            Formula::True | Formula::False => condition.clone(),
            Formula::NonNegative(_) | Formula::Zero(_) if always(condition, given) => Formula::True,
            Formula::NonNegative(_) | Formula::Zero(_) => condition.clone(),
            Formula::All(parts) => {
                let mut kept: Vec<Formula> = parts.iter().map(|part| self.simplified(part, given)).collect();
                let mut at = 0;
                while at < kept.len() {
                    let others =
                        kept.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, part)| part.clone());
                    if always(&kept[at], &given.and(&Formula::all(others))) {
                        kept.remove(at);
                    } else {
                        at += 1;
                    }
                }
                Formula::all(kept)
            }
            Formula::Any(parts) => {
                if always(condition, given) {
                    return Formula::True;
                }
                let mut kept: Vec<Formula> =
                    parts.iter().filter(|part| self.possible(&given.and(part))).cloned().collect();
                let mut at = 0;
                while kept.len() > 1 && at < kept.len() {
                    let others: Vec<Formula> = kept
                        .iter()
                        .enumerate()
                        .filter(|(other, _)| *other != at)
                        .map(|(_, part)| part.clone())
                        .collect();
                    // What one of the others says, too.
                    if !self.possible(&Formula::all([given.clone(), kept[at].clone(), Formula::any(others).not()])) {
                        kept.remove(at);
                    } else {
                        at += 1;
                    }
                }
                Formula::any(kept.iter().map(|part| self.simplified(part, given)))
            }
        }
    }

    pub(super) fn checked(&self, expr: &Expr, pieces: Pieces) -> Result<Pieces, NotAffine> {
        match self.symbols.magnitude(&pieces, self.site) <= MAGNITUDE_LIMIT {
            true => Ok(pieces),
            false => Err(NotAffine { span: expr.span, reason: Reason::MayWrap }),
        }
    }
}

//! Conditions inside of tiles: where they fail, and where they may hold.

use super::{Found, Inside, Tiles, affine};
use crate::error::CodegenError;
use crate::int_expr::{Cond, IntExpr};
use crate::program::Node;
use tessella_polyhedral::affine::Affine;
use tessella_polyhedral::isl::Set;
use tessella_scalar::CompareOp;

impl Tiles<'_> {
    /// Bounds of what runs under a condition that is the same for the whole block, and where it may hold.
    pub(super) fn collect_where(
        &self,
        condition: &Cond,
        then: &[Node],
        here: &Inside,
        found: &mut Found,
    ) -> Result<(), CodegenError> {
        let Some(may_hold) = self.may_hold(condition, here)? else { return self.collect(then, here, found) };
        let mut under = Found::default();
        self.collect(then, here, &mut under)?;
        for (cut, inner) in under.cuts {
            let may_be = match inner {
                Some(inner) => inner.intersect(&may_hold)?,
                None => may_hold.clone(),
            };
            found.cuts.push((cut, Some(may_be)));
        }
        found.pays |= under.pays;
        Ok(())
    }

    /// The parameters and steps for which a condition may hold, or more; `None` if nothing is known.
    pub(super) fn may_hold(&self, condition: &Cond, inside: &Inside) -> Result<Option<Set>, CodegenError> {
        let parts = match condition {
            Cond::And(all) => all.as_slice(),
            Cond::Compare(..) => std::slice::from_ref(condition),
            Cond::Const(_) | Cond::Or(_) => return Ok(None),
        };
        let mut may_hold: Option<Set> = None;
        for part in parts {
            if !matches!(part, Cond::Compare(..)) || self.speaks_of_inside(part, inside) {
                continue;
            }
            let Some(fails) = self.fails(part, inside)? else { continue };
            let holds = self.outside(&fails, inside)?.complement()?;
            may_hold = Some(match may_hold {
                None => holds,
                Some(others) => others.intersect(&holds)?,
            });
        }
        Ok(may_hold)
    }

    /// Where a conjunction of comparisons fails; `None` if that is not known.
    pub(super) fn fails(&self, condition: &Cond, inside: &Inside) -> Result<Option<Set>, CodegenError> {
        match condition {
            Cond::Compare(op, a, b) => {
                let (Some(a), Some(b)) = (affine(a, &inside.values), affine(b, &inside.values)) else {
                    return Ok(None);
                };
                let (Ok(a_less_b), Ok(b_less_a)) = (a.sub(&b), b.sub(&a)) else { return Ok(None) };
                // a >= b holds unless a - b < 0.
                let slack = match op {
                    CompareOp::Ge => Ok(a_less_b),
                    CompareOp::Gt => a_less_b.add_constant(-1),
                    CompareOp::Le => Ok(b_less_a),
                    CompareOp::Lt => b_less_a.add_constant(-1),
                    CompareOp::Eq | CompareOp::Ne => return Ok(None),
                };
                match slack {
                    Ok(slack) => Ok(Some(self.where_negative(&slack, inside)?)),
                    Err(_) => Ok(None),
                }
            }
            Cond::And(all) => {
                let mut fails: Option<Set> = None;
                for part in all {
                    let Some(next) = self.fails(part, inside)? else { return Ok(None) };
                    fails = Some(match fails {
                        Some(fails) => fails.union(&next)?,
                        None => next,
                    });
                }
                Ok(fails)
            }
            Cond::Const(_) | Cond::Or(_) => Ok(None),
        }
    }

    /// Whether a condition depends on a loop inside.
    pub(super) fn speaks_of_inside(&self, condition: &Cond, inside: &Inside) -> bool {
        let mut speaks = false;
        condition.walk(&mut |expr| {
            if let IntExpr::Variable(variable) = expr {
                speaks |= self.of_thread.contains(variable);
                speaks |= inside.values.get(variable).is_some_and(Affine::involves_any_iterator);
            }
        });
        speaks
    }
}

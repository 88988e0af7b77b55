//! What is known of the parameters, where conditions have alternatives.

use crate::isl::{IslError, Set};
use crate::relation::{concerning, involved};

/// Conditions that hold, each looked at alone.
///
/// A condition on a subscript reads "nothing runs, or it is inside". Intersecting such sets multiplies their
/// alternatives, so only conditions without alternatives are joined. What follows from others mostly follows from one
/// of them that is about the same parameters.
#[derive(Debug, Clone)]
pub struct Known {
    context: Set,
    conditions: Vec<Condition>,
}

/// A condition with alternatives.
#[derive(Debug, Clone)]
struct Condition {
    /// Joined with what the context said of its parameters.
    holds: Set,
    /// Of each parameter, whether it is about that.
    about: Vec<bool>,
}

impl Condition {
    /// Whether it implies another one, which is about these parameters.
    fn implies(&self, other: &Set, about: &[bool]) -> Result<bool, IslError> {
        Ok(about.iter().zip(&self.about).all(|(other, own)| *own || !other) && self.holds.is_subset(other)?)
    }
}

impl Known {
    pub fn new(context: &Set) -> Known {
        Known { context: context.clone(), conditions: vec![] }
    }

    /// All that is known without alternatives: a superset of the parameters for which everything known holds.
    pub fn context(&self) -> &Set {
        &self.context
    }

    /// Adds a condition.
    pub fn learn(&mut self, condition: &Set) -> Result<(), IslError> {
        let holds = concerning(&self.context, &involved(condition)?)?.intersect(condition)?.coalesce()?;
        match holds.basic_set_count()? {
            0 | 1 => self.context = self.context.intersect(&holds)?.coalesce()?,
            _ => {
                let learnt = Condition { about: involved(&holds)?, holds };
                // Of `n <= k` for many `k`, only the strictest is worth keeping.
                let mut kept = vec![];
                for known in self.conditions.drain(..) {
                    if !learnt.implies(&known.holds, &known.about)? {
                        kept.push(known);
                    }
                }
                self.conditions = kept;
                self.conditions.push(learnt);
            }
        }
        Ok(())
    }

    /// Whether a condition follows; `false` may mean that it was not found out.
    pub fn implies(&self, condition: &Set) -> Result<bool, IslError> {
        let about = involved(condition)?;
        if concerning(&self.context, &about)?.is_subset(condition)? {
            return Ok(true);
        }
        let mut conditions = self.conditions.iter();
        conditions.try_fold(false, |found, known| Ok(found || known.implies(condition, &about)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isl::Ctx;

    fn set(ctx: &Ctx, text: &str) -> Set {
        Set::from_text(ctx, &format!("[n, t, a, b, c, d, e, f, g, h] -> {{ : {text} }}")).unwrap()
    }

    #[test]
    fn conditions_with_alternatives_do_not_multiply() {
        let ctx = Ctx::new();
        let mut known = Known::new(&set(&ctx, "a >= 0"));
        for name in ["a", "b", "c", "d", "e", "f", "g", "h"] {
            known.learn(&set(&ctx, &format!("n <= 2 or t <= 0 or {name} >= n - 1"))).unwrap();
        }
        assert_eq!(known.context().basic_set_count().unwrap(), 1);
        assert!(known.implies(&set(&ctx, "n <= 2 or t <= 0 or g >= n - 2")).unwrap());
        assert!(!known.implies(&set(&ctx, "n <= 2 or t <= 0 or g >= n")).unwrap());
    }

    #[test]
    fn a_stricter_condition_takes_the_place_of_others() {
        let ctx = Ctx::new();
        let mut known = Known::new(&set(&ctx, "a >= 0"));
        for by in 0..20 {
            known.learn(&set(&ctx, &format!("n <= 0 or a >= n + {by}"))).unwrap();
        }
        assert_eq!(known.conditions.len(), 1);
        assert!(known.implies(&set(&ctx, "n <= 0 or a >= n + 19")).unwrap());
        assert!(!known.implies(&set(&ctx, "n <= 0 or a >= n + 20")).unwrap());
    }

    #[test]
    fn conditions_without_alternatives_are_joined() {
        let ctx = Ctx::new();
        let mut known = Known::new(&set(&ctx, "a >= 0"));
        known.learn(&set(&ctx, "n <= a")).unwrap();
        known.learn(&set(&ctx, "b >= a")).unwrap();
        assert!(known.implies(&set(&ctx, "n <= b")).unwrap());
        assert!(known.context().is_equal(&set(&ctx, "0 <= a and n <= a <= b")).unwrap());
    }
}

//! Whether something can be so at a place: isl is asked only what earlier answers leave open.

use super::{Site, Symbols};
use crate::formula::Formula;
use std::collections::HashSet;
use tessella_polyhedral::affine::Affine;
use tessella_polyhedral::isl::{DimType, IslError, Val};

/// Of a condition with more comparisons isl is not asked whether it can hold: it takes disjunctions apart in all ways.
const COMPARISONS: usize = 40;

/// What isl has said so far. It is slow beside the evaluation of a formula, most questions are answered by the same few
/// instances, and of the others most are asked again and again.
#[derive(Debug, Default)]
pub(super) struct Answers {
    /// Found so far, all within the context.
    instances: Vec<Instance>,
    /// What no instance satisfies, whatever the place: a formula has the place's domain in it.
    impossible: HashSet<Formula>,
}

/// An instance of some place of the loop nest, for some values of the parameters.
#[derive(Debug)]
struct Instance {
    iterators: Vec<i64>,
    params: Vec<i64>,
}

/// What the search for an instance came to.
enum Found {
    Nothing,
    Instance(Instance),
    /// There is one, whose coordinates pass 64 bits.
    Large,
}

impl Answers {
    /// Whether an instance with so many iterators satisfies the formula, if that is known.
    fn about(&self, formula: &Formula, depth: usize) -> Option<bool> {
        let satisfies = |it: &Instance| it.iterators.len() == depth && formula.holds(&it.iterators, &it.params);
        if self.instances.iter().any(satisfies) {
            return Some(true);
        }
        self.impossible.contains(formula).then_some(false)
    }
}

impl Symbols<'_> {
    /// Whether some instance at `site` may satisfy `condition`.
    pub(crate) fn is_possible(&self, site: &Site, condition: &Formula) -> bool {
        let formula =
            Formula::all([self.context.clone(), self.asserted.clone(), site.domain.clone(), condition.clone()]);
        match formula {
            Formula::False => return false,
            Formula::True => return true,
            _ => {}
        }
        let depth = site.iterators.len();
        if let Some(known) = self.answers.borrow().about(&formula, depth) {
            return known;
        }
        if condition.size() > COMPARISONS {
            return true;
        }
        match self.instance_of(&formula, site) {
            Ok(Found::Nothing) => {
                self.answers.borrow_mut().impossible.insert(formula);
                false
            }
            Ok(Found::Instance(it)) => {
                self.answers.borrow_mut().instances.push(it);
                true
            }
            // Where isl gives up, nothing is ruled out.
            Ok(Found::Large) | Err(_) => true,
        }
    }

    /// A condition as comparisons that hold together, given another one: `i == m` for `(i <= m - 2 || i >= m) && i >= m - 1 || i == 2m - 1` where `i` is no more
    /// than `m`. `None` where that takes divisions or alternatives, or isl gives up.
    pub(crate) fn conjunction(&self, site: &Site, given: &Formula, condition: &Formula) -> Option<Formula> {
        if condition.size() > COMPARISONS {
            return None;
        }
        let space = self.space(None, &site.iterators).ok()?;
        let set_of = |formula: &Formula| formula.to_set(&space, &self.param_names);
        let all = [&self.context, &self.asserted, &site.domain, given].map(Formula::clone);
        let context = set_of(&Formula::all(all)).ok()?;
        let there = set_of(condition).and_then(|set| set.intersect(&context)?.coalesce()).ok()?;
        let [_] = there.basic_sets().ok()?.as_slice() else { return None };
        let simple = there.gist(&context).and_then(|set| set.coalesce()).ok()?;
        let [part] = simple.basic_sets().ok()?.try_into().ok()?;
        let mut all = vec![];
        for constraint in part.constraints().ok()? {
            let value = Affine::from_isl(&constraint.aff().ok()?, &self.param_names).ok()??;
            all.push(if constraint.is_equality().ok()? { Formula::zero(value) } else { Formula::non_negative(value) });
        }
        Some(Formula::all(all))
    }

    /// Some instance at `site` that satisfies the formula.
    fn instance_of(&self, formula: &Formula, site: &Site) -> Result<Found, IslError> {
        let set = formula.to_set(&self.space(None, &site.iterators)?, &self.param_names)?;
        if set.is_empty()? {
            return Ok(Found::Nothing);
        }
        let point = set.sample_point()?;
        let along = |kind, count: usize| -> Result<Option<Vec<i64>>, IslError> {
            let values: Vec<_> = (0..count as i32).map(|at| point.coordinate(kind, at)).collect::<Result<_, _>>()?;
            Ok(values.iter().map(Val::to_i64).collect())
        };
        let params = along(DimType::Param, self.param_names.len())?;
        let iterators = along(DimType::Set, site.iterators.len())?;
        Ok(match (iterators, params) {
            (Some(iterators), Some(params)) => Found::Instance(Instance { iterators, params }),
            (_, _) => Found::Large,
        })
    }
}

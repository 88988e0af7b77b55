//! Whether something can be so at a place: asked of instances that are known before isl is asked.

use super::{Site, Symbols};
use crate::formula::Formula;
use tessella_polyhedral::isl::{DimType, IslError, Val};

/// An instance of some place of the loop nest, for some values of the parameters.
#[derive(Debug)]
pub(super) struct Instance {
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

impl Symbols<'_> {
    /// Whether some instance at `site` may satisfy `condition`.
    pub(crate) fn is_possible(&self, site: &Site, condition: &Formula) -> bool {
        let formula = Formula::all([self.context.clone(), site.domain.clone(), condition.clone()]);
        match formula {
            Formula::False => return false,
            Formula::True => return true,
            _ => {}
        }
        let depth = site.iterators.len();
        // isl is slow beside the evaluation of a formula, and most questions are answered by the same few instances.
        if self
            .instances
            .borrow()
            .iter()
            .any(|it| it.iterators.len() == depth && formula.holds(&it.iterators, &it.params))
        {
            return true;
        }
        match self.instance_of(&formula, site) {
            Ok(Found::Nothing) => false,
            Ok(Found::Instance(it)) => {
                self.instances.borrow_mut().push(it);
                true
            }
            // Where isl gives up, nothing is ruled out.
            Ok(Found::Large) | Err(_) => true,
        }
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

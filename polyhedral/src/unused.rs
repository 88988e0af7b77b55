//! Parameters that nothing depends on.
//!
//! A program of dozens of arrays has a parameter for each of their extents, and most of them bound nothing that runs: what they say is tested at entry. But
//! each step of isl's goes through their columns, zeros all of them. Relations of such programs are made without them; isl lines up
//! parameters by name where a relation with others meets one without.

use crate::algorithm::Algorithm;
use crate::effort;
use crate::isl::{DimType, IslError, Map, Set};
use crate::relation;
use crate::schedule::Schedule;
use std::ops::Range;

/// The runs of parameters, the last one first, that an algorithm of many has for the extents of arrays alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unused(Vec<Range<u32>>);

/// No parameters.
pub static NONE: Unused = Unused(vec![]);

impl Unused {
    pub fn of(algorithm: &Algorithm, schedule: &Schedule) -> Unused {
        let mut found: Vec<Range<u32>> = vec![];
        if !relation::has_many_params(algorithm) {
            return Unused(found);
        }
        let involved = effort::involved(algorithm, schedule);
        let unused = (0..involved.len() as u32).zip(involved).filter(|(_, is_involved)| !is_involved);
        for (at, _) in unused.rev() {
            match found.last_mut() {
                Some(last) if last.start == at + 1 => last.start = at,
                Some(_) | None => found.push(at..at + 1),
            }
        }
        Unused(found)
    }

    /// The same relation without them.
    pub fn without(&self, map: Map) -> Result<Map, IslError> {
        let runs =
            self.idle(map.dim(DimType::Param)?, |first, count| map.involves_dims(DimType::Param, first, count))?;
        runs.into_iter().try_fold(map, |map, it| map.project_out(DimType::Param, it.start, it.end - it.start))
    }

    /// The same set without them.
    pub fn without_in_set(&self, set: Set) -> Result<Set, IslError> {
        let runs =
            self.idle(set.dim(DimType::Param)?, |first, count| set.involves_dims(DimType::Param, first, count))?;
        runs.into_iter().try_fold(set, |set, it| set.project_out(DimType::Param, it.start, it.end - it.start))
    }

    /// The runs that an object of so many parameters has and does not involve, the last one first.
    fn idle(
        &self,
        params: u32,
        involves: impl Fn(u32, u32) -> Result<bool, IslError>,
    ) -> Result<Vec<Range<u32>>, IslError> {
        let mut idle = vec![];
        for run in self.0.iter().filter(|run| run.end <= params) {
            if !involves(run.start, run.end - run.start)? {
                idle.push(run.clone());
            }
        }
        Ok(idle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isl::Ctx;

    #[test]
    #[allow(clippy::single_range_in_vec_init, reason = "runs of parameters")]
    fn parameters_go_where_nothing_involves_them() {
        let ctx = Ctx::new();
        let (first, last) = (Unused(vec![3..5, 0..1]), Unused(vec![3..5]));
        let map = |text: &str| Map::from_text(&ctx, text).unwrap();
        let all = map("[a, n, m, b, c] -> { S[i] -> [i + m] : 0 <= i < n }");
        let fewer = map("[n, m] -> { S[i] -> [i + m] : 0 <= i < n }");
        assert!(first.without(all.clone()).unwrap().is_plainly_equal(&fewer).unwrap());
        assert_eq!(first.without(all.clone()).unwrap().dim(DimType::Param).unwrap(), 2);
        assert_eq!(last.without_in_set(all.domain().unwrap()).unwrap().dim(DimType::Param).unwrap(), 3);
        // One that is involved after all stays, and what has no such parameters is as it was.
        let bound = map("[a, n, m, b, c] -> { S[i] -> [i] : i < c }");
        assert_eq!(last.without(bound).unwrap().dim(DimType::Param).unwrap(), 5);
        assert_eq!(first.without(fewer).unwrap().dim(DimType::Param).unwrap(), 2);
    }
}

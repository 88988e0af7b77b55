//! Which elements around one another a program reads.

use crate::affine::Affine;
use crate::algorithm::{Algorithm, ArrayId, ComputationId, Subscript};
use crate::error::Error;

/// Reads of one array in one computation that are the same distance apart in all instances.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    pub computation: ComputationId,
    pub array: ArrayId,
    /// One number for each axis; none twice.
    pub reads: Vec<Vec<i64>>,
}

/// All patterns of at least two reads of an array with at least two axes.
pub fn patterns(algorithm: &Algorithm) -> Result<Vec<Pattern>, Error> {
    let mut found: Vec<(Pattern, Vec<Affine>)> = vec![];
    for id in algorithm.ids() {
        for read in &algorithm.computation(id).reads {
            let affine: Option<Vec<&Affine>> = read.subscripts.iter().map(Subscript::as_affine).collect();
            let Some(affine) = affine.filter(|it| it.len() >= 2) else { continue };
            let linear = affine.iter().map(|it| it.add_constant(it.constant_term().checked_neg().unwrap_or(0)));
            let linear: Vec<Affine> = linear.collect::<Result<_, _>>()?;
            let place: Vec<i64> = affine.iter().map(|it| it.constant_term()).collect();
            let same = |(pattern, others): &&mut (Pattern, Vec<Affine>)| {
                pattern.computation == id && pattern.array == read.array && *others == linear
            };
            match found.iter_mut().find(same) {
                Some((pattern, _)) if pattern.reads.contains(&place) => {}
                Some((pattern, _)) => pattern.reads.push(place),
                None => found.push((Pattern { computation: id, array: read.array, reads: vec![place] }, linear)),
            }
        }
    }
    Ok(found.into_iter().map(|(pattern, _)| pattern).filter(|pattern| pattern.reads.len() >= 2).collect())
}

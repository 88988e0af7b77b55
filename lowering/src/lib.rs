//! From typed trees to algorithms: loops become iteration domains, subscripts become access relations, scalar variables
//! become lets or private arrays. And from `@schedule` blocks to scheduling commands.
//!
//! The crate decides no order: [`Lowered::algorithm`] runs as the source does.
//!
//! ```text
//! for j in 2:n-1, i in 2:m-1          { S[j, i] : 2 <= j <= n - 1 and 2 <= i <= m - 1 }
//!     @comp S B[i,j] = A[i-1,j]       S[j, i] -> B[i, j], reads A[i - 1, j]
//! end
//! ```

mod apart;
mod computation;
mod counters;
mod emit;
mod error;
mod formula;
mod inside;
mod local_array;
mod looked;
mod names;
mod nest;
mod params;
mod ranges;
mod scan;
pub mod schedule;
mod spans;
mod stepped;
mod symbolic;
mod values;

#[cfg(test)]
mod tests;

pub use error::{Changes, LowerError, NotAffine, RangeEnd, Reason};
pub use spans::SpanTable;

use tessella_frontend::typed::tree::Function;
use tessella_polyhedral::algorithm::Algorithm;
use tessella_polyhedral::isl::Ctx;

/// A function as an algorithm, and where the source has its parts.
#[derive(Debug, Clone)]
pub struct Lowered {
    pub algorithm: Algorithm,
    pub spans: SpanTable,
}

/// Recovers the computations of a function.
///
/// The algorithm's context says what entry checks must ensure: extents between 0 and 2^40, integer arguments between
/// -2^40 and 2^40. Within it no affine expression wraps around.
///
/// # Errors
/// Every subscript and loop bound that is not quasi-affine, every label that is used twice, and a function without any
/// computation.
pub fn lower(ctx: &Ctx, function: &Function) -> Result<Lowered, Vec<LowerError>> {
    nest::lower(ctx, &ranges::rewrite(&counters::rewrite(&stepped::rewrite(function))))
}

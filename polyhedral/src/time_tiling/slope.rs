//! How far dependences reach in space for each step of time: rational slopes, found exactly.

use crate::affine::{Affine, gcd};
use crate::error::Error;
use crate::isl::Set;

/// Slopes beyond this are no stencil's: the distance grows with the sizes.
pub const STEEPEST: i64 = 1 << 10;

/// A rational number that is not negative, in lowest terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slope {
    pub over: i64,
    pub under: i64,
}

impl Slope {
    pub const ZERO: Slope = Slope { over: 0, under: 1 };

    /// `over / under` with `over >= 0` and `under > 0`.
    pub fn new(over: i64, under: i64) -> Slope {
        assert!(over >= 0 && under > 0, "slopes are not negative");
        let divisor = gcd(over, under);
        Slope { over: over / divisor, under: under / divisor }
    }

    /// The least integer that is not less.
    pub fn ceil(self) -> i64 {
        -(-self.over).div_euclid(self.under)
    }

    /// `floor(self * steps)`.
    pub fn floor_times(self, steps: i64) -> i64 {
        (self.over * steps).div_euclid(self.under)
    }
}

impl std::fmt::Display for Slope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.under {
            1 => write!(f, "{}", self.over),
            under => write!(f, "{}/{under}", self.over),
        }
    }
}

/// The least `slope >= 0` with `rise <= slope * run` for all points of a set, on which `run > 0`; `None` where there is none
/// up to [`STEEPEST`].
///
/// Where the ratio of a bounded part is greatest the slope is that ratio; along a direction in which the set has no end
/// it is the next power of two.
///
/// # Source
/// Dinkelbach, *On nonlinear fractional programming*, Management Science 13(7), 1967: each step maximizes
/// `rise - slope * run`, and takes the ratio of where that is greatest as the next slope.
pub fn steepest(points: &Set, rise: &Affine, run: &Affine) -> Result<Option<Slope>, Error> {
    if points.is_empty()? {
        return Ok(Some(Slope::ZERO));
    }
    let space = points.space()?;
    let mut slope = Slope::ZERO;
    loop {
        let above = rise.scale(slope.under)?.sub(&run.scale(slope.over)?)?.to_isl(&space, &[])?;
        let most = points.max_val(&above)?;
        let Some(height) = most.to_i64() else {
            // Without bound: a steeper slope is needed, if any does.
            slope = Slope::new((2 * slope.ceil()).max(1), 1);
            if slope.over > STEEPEST {
                return Ok(None);
            }
            continue;
        };
        if height <= 0 {
            return Ok(Some(slope));
        }
        let at = points.intersect(&above.ge_set(&Affine::constant(height).to_isl(&space, &[])?)?)?;
        // Of these the one after the fewest steps: its ratio is greatest.
        let along = run.to_isl(&space, &[])?;
        let Some(fewest) = at.min_val(&along)?.to_i64() else { return Ok(None) };
        let at = at.intersect(&along.le_set(&Affine::constant(fewest).to_isl(&space, &[])?)?)?;
        let at = at.sample_point()?.coordinates()?;
        let (Some(over), Some(under)) = (rise.evaluate(&at, &[]), run.evaluate(&at, &[])) else { return Ok(None) };
        if over > STEEPEST.saturating_mul(under) || under > STEEPEST {
            return Ok(None);
        }
        slope = Slope::new(over, under);
    }
}

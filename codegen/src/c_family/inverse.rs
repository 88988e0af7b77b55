//! Exact quotients by constants on a GPU, without its division.
//!
//! A division there takes ten and more instructions, with a branch for far numbers, and a call in it whose registers a loop has to leave free.
//! By the parts of the divisor's inverse ([`tessella_scalar::inverse`]) a quotient is a product, a fused sum and a comparison. A rim of tiny
//! dividends is left: in Float32 they are divided in Float64, as follows; in Float64 by a division.
//!
//! With y = 1/c rounded to 53 bits, q = x y and the negated rest r = c q - x, which is a number of 53 bits, q - r y rounds to within
//! 2^-53 of x/c, and to x/c itself if that is a number of 53 bits. A quotient of numbers of 24 bits is 2^-49 from each midpoint that it is not,
//! so that the conversion rounds as a division would. A zero gets its sign back, which some compilers lose with `-r`.

use super::expr::Instance;
use super::helpers::Operation;
use super::{Dialect, Printer};
use crate::int_text::Bound;
use tessella_polyhedral::expr::{Expr, ExprKind};
use tessella_scalar::{Inverse, ScalarType, inverse};

impl Printer<'_> {
    /// A quotient by a constant as products; `None` where it stays a division.
    pub(super) fn by_inverse(&mut self, left: &Expr, right: &Expr, ty: ScalarType, at: &Instance<'_>) -> Option<Bound> {
        let ExprKind::Constant(divisor) = right.kind else { return None };
        if self.dialect != Dialect::Cuda
            || self.at_entry
            || divisor.ty != ty
            || matches!(left.kind, ExprKind::Constant(_))
        {
            return None;
        }
        let Inverse { high, low, least } = inverse(divisor)?;
        let dividend = self.value(left, at).0;
        let numbers = [divisor, high, low, least].map(|it| self.constant(it).0);
        Some(self.helper(Operation::ByInverse, ty, &format!("{dividend}, {}", numbers.join(", "))))
    }
}

/// The text of the function.
pub(super) fn text(ty: ScalarType, name: &str, inline: &str) -> String {
    let (t, f, small) = match ty {
        ScalarType::F32 => (
            "float",
            "f",
            "const double inverse = 1.0 / (double)divisor, near = (double)x * inverse, rest = fma((double)divisor, near, -(double)x);
        return copysignf((float)fma(-rest, inverse, near), x);",
        ),
        _ => ("double", "", "return x / divisor;"),
    };
    format!(
        "// x / divisor, by its inverse high + low.
{inline} {t} {name}({t} x, {t} divisor, {t} high, {t} low, {t} least) {{
    if (__builtin_expect(fabs{f}(x) < least, 0)) {{
        {small}
    }}
    return fma{f}(x, high, x * low);
}}"
    )
}

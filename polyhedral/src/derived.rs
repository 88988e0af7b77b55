//! Numbers that sizes and scalar arguments give and that are affine in none.

mod scalars;

use crate::affine::ParamId;
use crate::algorithm::ScalarId;
use crate::expr::Expr;

pub use scalars::{NO_VALUE, ScalarValues, evaluate, evaluates_binary, evaluates_call, evaluates_wrap};

/// A number made of parameters, in `Int64` arithmetic that wraps around as Julia's does: `nx * ny`, `n * (n + 1) ÷ 2`, `cld(n, width)`.
///
/// It has a value for all parameters. Where a divisor is zero that value means nothing: the source throws before it uses it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Derived {
    Constant(i64),
    Param(ParamId),
    /// Of one or more.
    Sum(Vec<Derived>),
    /// Of one or more.
    Product(Vec<Derived>),
    /// `max(0, value)`.
    Clamped(Box<Derived>),
    Quotient(Rounding, Box<Derived>, Box<Derived>),
    /// An `Int64` of scalar arguments, floats too: `round(Int, T / dt)`. It names no iterators, reads and lets, and has only what
    /// [`evaluate`] knows.
    Scalars(Box<Expr>),
}

/// Which integer a quotient becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rounding {
    /// Towards zero: `div`.
    Zero,
    /// Towards minus infinity: `fld`.
    Down,
    /// Towards infinity: `cld`.
    Up,
}

impl Derived {
    pub fn sum(parts: Vec<Derived>) -> Derived {
        match <[Derived; 1]>::try_from(parts) {
            Ok([part]) => part,
            Err(parts) if parts.is_empty() => Derived::Constant(0),
            Err(parts) => Derived::Sum(parts),
        }
    }

    pub fn product(parts: Vec<Derived>) -> Derived {
        match <[Derived; 1]>::try_from(parts) {
            Ok([part]) => part,
            Err(parts) if parts.is_empty() => Derived::Constant(1),
            Err(parts) => Derived::Product(parts),
        }
    }

    /// The value for these parameters, by [`ParamId`], and scalar arguments. A parameter that is missing counts as 0.
    pub fn evaluate(&self, params: &[i64], scalars: ScalarValues<'_>) -> i64 {
        let of = |value: &Derived| value.evaluate(params, scalars);
        match self {
            Derived::Constant(value) => *value,
            Derived::Param(param) => params.get(param.0 as usize).copied().unwrap_or(0),
            Derived::Sum(parts) => parts.iter().fold(0, |sum, part| sum.wrapping_add(of(part))),
            Derived::Product(parts) => parts.iter().fold(1, |all, part| all.wrapping_mul(of(part))),
            // Without the hint rustc 1.95 takes what the whole function gives for never negative, since it calls itself here.
            Derived::Clamped(value) => std::hint::black_box(of(value)).max(0),
            Derived::Quotient(rounding, dividend, divisor) => quotient(*rounding, of(dividend), of(divisor)),
            Derived::Scalars(value) => evaluate(value, params, scalars),
        }
    }

    /// The value as Julia writes it, given how it writes parameters and what scalars give.
    pub fn spelled(&self, name: &dyn Fn(ParamId) -> String, scalars: &dyn Fn(&Expr) -> String) -> String {
        let of = |value: &Derived| value.spelled(name, scalars);
        match self {
            Derived::Constant(value) => value.to_string(),
            Derived::Param(param) => name(*param),
            Derived::Sum(parts) => parts.iter().map(of).collect::<Vec<_>>().join(" + "),
            Derived::Product(parts) => {
                let factor = |part: &Derived| match part {
                    Derived::Sum(_) => format!("({})", of(part)),
                    Derived::Constant(value) if *value < 0 => format!("({value})"),
                    _ => of(part),
                };
                parts.iter().map(factor).collect::<Vec<_>>().join(" * ")
            }
            Derived::Clamped(value) => format!("max(0, {})", of(value)),
            Derived::Quotient(rounding, dividend, divisor) => {
                let function = match rounding {
                    Rounding::Zero => "div",
                    Rounding::Down => "fld",
                    Rounding::Up => "cld",
                };
                format!("{function}({}, {})", of(dividend), of(divisor))
            }
            Derived::Scalars(value) => scalars(value),
        }
    }

    /// The parameters that it depends on.
    pub fn params(&self) -> Vec<ParamId> {
        match self {
            Derived::Constant(_) => vec![],
            Derived::Param(param) => vec![*param],
            Derived::Sum(parts) | Derived::Product(parts) => parts.iter().flat_map(Derived::params).collect(),
            Derived::Clamped(value) => value.params(),
            Derived::Quotient(_, dividend, divisor) => [dividend.params(), divisor.params()].concat(),
            Derived::Scalars(value) => scalars::params(value),
        }
    }

    /// The scalar arguments that it depends on.
    pub fn scalars(&self) -> Vec<ScalarId> {
        match self {
            Derived::Constant(_) | Derived::Param(_) => vec![],
            Derived::Sum(parts) | Derived::Product(parts) => parts.iter().flat_map(Derived::scalars).collect(),
            Derived::Clamped(value) => value.scalars(),
            Derived::Quotient(_, dividend, divisor) => [dividend.scalars(), divisor.scalars()].concat(),
            Derived::Scalars(value) => scalars::scalars(value),
        }
    }

    /// Whether floats decide on it.
    pub fn has_floats(&self) -> bool {
        match self {
            Derived::Constant(_) | Derived::Param(_) => false,
            Derived::Sum(parts) | Derived::Product(parts) => parts.iter().any(Derived::has_floats),
            Derived::Clamped(value) => value.has_floats(),
            Derived::Quotient(_, dividend, divisor) => dividend.has_floats() || divisor.has_floats(),
            Derived::Scalars(value) => {
                let mut found = false;
                value.walk(&mut |part| found |= part.ty.is_float());
                found
            }
        }
    }
}

/// The quotient; 0 of a divisor that is zero.
fn quotient(rounding: Rounding, dividend: i64, divisor: i64) -> i64 {
    if divisor == 0 {
        return 0;
    }
    let (whole, rest) = (dividend.wrapping_div(divisor), dividend.wrapping_rem(divisor));
    let is_below = (rest < 0) != (divisor < 0);
    match rounding {
        Rounding::Zero => whole,
        Rounding::Down => whole - i64::from(rest != 0 && is_below),
        Rounding::Up => whole + i64::from(rest != 0 && !is_below),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rounding: Rounding, dividend: i64, divisor: i64) -> i64 {
        let all = [dividend, divisor].map(|value| Box::new(Derived::Constant(value)));
        let [dividend, divisor] = all;
        Derived::Quotient(rounding, dividend, divisor).evaluate(&[], &|_| None)
    }

    #[test]
    fn quotients_are_rounded_as_julia_does() {
        for (dividend, divisor, zero, down, up) in [
            (7, 2, 3, 3, 4),
            (-7, 2, -3, -4, -3),
            (7, -2, -3, -4, -3),
            (-7, -2, 3, 3, 4),
            (6, 3, 2, 2, 2),
            (-6, 3, -2, -2, -2),
        ] {
            assert_eq!(of(Rounding::Zero, dividend, divisor), zero, "{dividend} by {divisor}");
            assert_eq!(of(Rounding::Down, dividend, divisor), down, "{dividend} by {divisor}");
            assert_eq!(of(Rounding::Up, dividend, divisor), up, "{dividend} by {divisor}");
        }
        assert_eq!(of(Rounding::Zero, i64::MIN, -1), i64::MIN);
        assert_eq!(of(Rounding::Down, 5, 0), 0);
    }

    #[test]
    fn values_read_as_julia() {
        let param = |at| Derived::Param(ParamId(at));
        let name = |id: ParamId| ["nx", "ny"][id.0 as usize].to_owned();
        let none = |_: &Expr| String::new();
        let sum = Derived::Sum(vec![param(0), Derived::Constant(-1)]);
        let product = Derived::Product(vec![param(1), sum]);
        assert_eq!(product.spelled(&name, &none), "ny * (nx + -1)");
        let quotient = Derived::Quotient(Rounding::Up, Box::new(product), Box::new(param(1)));
        assert_eq!(quotient.spelled(&name, &none), "cld(ny * (nx + -1), ny)");
    }

    #[test]
    fn products_wrap_around() {
        let product = Derived::Product(vec![Derived::Param(ParamId(0)), Derived::Param(ParamId(1))]);
        assert_eq!(product.evaluate(&[3, -5], &|_| None), -15);
        assert_eq!(product.evaluate(&[1 << 32, (1 << 32) + 1], &|_| None), 1 << 32);
    }
}

//! `round(x, RoundUp)`, `round(x; digits = 2)`: rounding that is asked for by a mode, or by a number of digits.
//!
//! A mode is a constant of Base, so that it says at once which function is meant; what has no function of its own is one of the prelude.
//!
//! ```text
//! round(Int, x, RoundUp)              ->   ceil(Int, x)
//! round.(x, RoundNearestTiesAway)     ->   rounded_away.(x)
//! floor(x; digits = 2)                ->   floored_at(x, 100)
//! ```

use super::arrays::{named, positional};
use super::check::{Checked, Checker, Reported};
use super::error::TypeError;
use super::full_name::library_function;
use crate::ast::{self, Argument, Broadcast, Expr, ExprKind};
use tessella_diagnostics::Span;

/// The modes of Base, and the functions that round so.
const MODES: [(&str, &str); 7] = [
    ("RoundNearest", "round"),
    ("RoundUp", "ceil"),
    ("RoundDown", "floor"),
    ("RoundToZero", "trunc"),
    ("RoundFromZero", "#rounded_from_zero"),
    ("RoundNearestTiesAway", "#rounded_away"),
    ("RoundNearestTiesUp", "#rounded_up"),
];

/// Functions that round to a number of digits, and what does it.
const AT_DIGITS: [(&str, &str); 4] =
    [("round", "#rounded_at"), ("ceil", "#ceiled_at"), ("floor", "#floored_at"), ("trunc", "#truncated_at")];

/// Powers of ten beyond that are no `Int64`s, and beyond ten digits no `Float32`s.
const MOST_DIGITS: u32 = 10;

const OTHER_MODES: &str =
    "write `cld(x, y)` for `RoundUp`, `fld(x, y)` or `mod(x, y)` for `RoundDown`, and no mode for `RoundToZero`";
const OTHER_BASE: &str = "write the steps of the other base: `round(x * 8) / 8` for three digits in base 2";
const OTHER_DIGITS: &str = "write `digits = ` with a number from 0 to 10, or the steps: `round(x / 0.05) * 0.05`";

impl Checker<'_> {
    /// The call that is meant by one with a mode or digits; `None` for any other call.
    pub(super) fn rounding(
        &mut self,
        name: &str,
        arguments: &[Argument],
        broadcast: Broadcast,
        span: Span,
    ) -> Option<Checked<Expr>> {
        let is_base = self.library_name(&named(name, span)).is_some();
        if !is_base || !(AT_DIGITS.iter().any(|(known, _)| *known == name) || matches!(name, "div" | "rem" | "divrem"))
        {
            return None;
        }
        let (mut given, mut keywords, mut mode) = (vec![], vec![], None);
        for argument in arguments {
            match (&argument.keyword, self.mode_named(&argument.value)) {
                (Some(keyword), _) => keywords.push((keyword.value.as_str(), &argument.value)),
                (None, Some(named)) => mode = Some((named, argument.value.span)),
                (None, None) => given.push(argument.clone()),
            }
        }
        let to = |name: &str, given: Vec<Argument>| {
            let callee = Box::new(if name.starts_with('#') { named(name, span) } else { library_function(name, span) });
            Expr { kind: ExprKind::Call { callee, arguments: given, broadcast }, span }
        };
        let function = match (mode, name) {
            (None, _) => name,
            (Some((mode, _)), "round") => MODES.iter().find(|(known, _)| *known == mode)?.1,
            (Some((mode, at)), _) => {
                return Some(Err(self.no_rounding(format!("{name}(..., {mode})"), OTHER_MODES, at)));
            }
        };
        // What else is asked for beside the digits is refused.
        let is_other = |(keyword, _): &&(&str, &Expr)| *keyword != "digits";
        let asked = keywords.iter().find(is_other).or(keywords.first());
        match (mode, asked) {
            (None, None) => None,
            (_, Some(&(keyword, value))) => {
                let scale = (keyword == "digits").then(|| power_of_ten(value)).flatten();
                let at_digits = AT_DIGITS.iter().find(|(known, _)| *known == function);
                Some(match (scale, at_digits, given.as_slice()) {
                    (Some(scale), Some((_, at_digits)), [only]) => {
                        let scale = Expr { kind: ExprKind::Integer(scale), span: value.span };
                        Ok(to(at_digits, vec![only.clone(), positional(&scale)]))
                    }
                    _ => {
                        let way_out = if keyword == "base" { OTHER_BASE } else { OTHER_DIGITS };
                        Err(self.no_rounding(format!("{name}(...; {keyword})"), way_out, value.span))
                    }
                })
            }
            // `round(Int, x, mode)` converts what is rounded.
            (Some(_), None) => Some(Ok(match (function.starts_with('#'), given.as_slice()) {
                (true, [ty, value]) => {
                    let value = to(function, vec![value.clone()]);
                    to("round", vec![ty.clone(), positional(&value)])
                }
                (_, _) => to(function, given),
            })),
        }
    }

    /// A mode of Base that an expression names.
    fn mode_named(&self, expr: &Expr) -> Option<&'static str> {
        let name = self.library_name(expr)?;
        MODES.iter().map(|(mode, _)| *mode).find(|mode| *mode == name)
    }

    fn no_rounding(&mut self, name: String, way_out: &'static str, span: Span) -> Reported {
        self.fail(TypeError::UnsupportedFunction { name, way_out, span })
    }
}

/// `10^digits` of a literal number of digits.
fn power_of_ten(digits: &ast::Expr) -> Option<String> {
    let ExprKind::Integer(text) = &digits.kind else { return None };
    let digits = text.parse::<u32>().ok().filter(|digits| *digits <= MOST_DIGITS)?;
    Some(10_i64.pow(digits).to_string())
}

//! Parameters that the entry works out.

use super::expr::Instance;
use super::{Helper, Printer, Writer};
use crate::entry::STATUS_NO_INTEGER;
use crate::program::Width;
use tessella_polyhedral::algorithm::ComputationId;
use tessella_polyhedral::derived::Derived;
use tessella_polyhedral::expr::Expr;

impl Printer<'_> {
    /// What the entry gives back where a number has no value, as a line of a comment; none if it has no such numbers.
    pub fn missing_comment(&self, out: &mut Writer) {
        let algorithm = self.input.algorithm;
        let of_scalars = algorithm.params.iter().filter(|param| param.is_of_scalars());
        let spelled: Vec<String> = of_scalars.filter_map(|param| algorithm.spelling(param)).collect();
        if !spelled.is_empty() {
            out.line(format!("// {STATUS_NO_INTEGER} if one of these is no int64_t: {}.", spelled.join(", ")));
        }
    }

    /// A number made of parameters, in arithmetic that wraps around.
    pub(super) fn derived(&mut self, value: &Derived) -> String {
        match value {
            Derived::Constant(value) if *value >= 0 => format!("INT64_C({value})"),
            Derived::Constant(value) => format!("(int64_t)UINT64_C({})", value.cast_unsigned()),
            Derived::Param(param) => self.program.names.params[param.0 as usize].clone(),
            Derived::Sum(parts) => self.wrapping(parts, " + "),
            Derived::Product(parts) => self.wrapping(parts, " * "),
            Derived::Clamped(value) => {
                let helper = Helper::IndexMax(Width::Wide);
                self.helpers.insert(helper);
                format!("{}(0, {})", helper.name(), self.derived(value))
            }
            Derived::Quotient(rounding, dividend, divisor) => {
                let helper = Helper::SizeQuotient(*rounding);
                self.helpers.insert(helper);
                format!("{}({}, {})", helper.name(), self.derived(dividend), self.derived(divisor))
            }
            Derived::Scalars(value) => self.of_scalars(value),
        }
    }

    fn wrapping(&mut self, parts: &[Derived], operator: &str) -> String {
        let parts: Vec<String> = parts.iter().map(|part| format!("(uint64_t){}", self.derived(part))).collect();
        format!("(int64_t)({})", parts.join(operator))
    }

    /// What scalar arguments give.
    fn of_scalars(&mut self, value: &Expr) -> String {
        // No computation's: nothing here is approximate, and all counts in 64 bits.
        let at = Instance { computation: ComputationId(u32::MAX), iterators: &[] };
        let width = std::mem::replace(&mut self.width, Width::Wide);
        self.at_entry = true;
        let text = self.value(value, &at).0;
        self.at_entry = false;
        self.width = width;
        text
    }
}

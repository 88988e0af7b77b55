//! What the return values of a program mean, and what a failed launch said.

use crate::explain::{condition, scan_condition, sizes};
use crate::request::Failure;
use crate::unit::{Built, Unit};
use std::cell::RefCell;
use tessella_polyhedral::algorithm::{AccessRef, Algorithm, Inside, ScanCheck, SizeError};
use tessella_polyhedral::print;

thread_local! {
    /// What the last failed launch of this thread said.
    static LAST: RefCell<String> = const { RefCell::new(String::new()) };
}

pub(super) fn remember(text: String) {
    LAST.with(|last| *last.borrow_mut() = text);
}

pub(super) fn remembered() -> String {
    LAST.with(|last| last.borrow().clone())
}

/// What the return values of a program mean.
pub(super) struct Failures {
    /// By number: subscripts first, then requirements on sizes, then computed subscripts.
    checks: Vec<Failure>,
    /// What must not overlap.
    arrays: String,
    /// What scalar arguments give.
    numbers: String,
}

impl Failures {
    pub(super) fn of(unit: &Unit<'_>, built: &Built) -> Failures {
        let verified = &built.analysed.verified;
        let algorithm = verified.source();
        let spans = &built.analysed.spans;
        let bounds_failure = |at: AccessRef, axis: u32, check: usize, condition: &dyn Fn(&Algorithm) -> String| {
            // Tiles may stand in for the array.
            let access = algorithm.access_of_source(at);
            let computation = algorithm.computation(at.computation);
            let outer = algorithm.array(access.array).kind.outer();
            let subscripts = access.subscripts.iter().skip(outer as usize);
            let span = spans.access(at).or_else(|| spans.computation(at.computation));
            Failure::Bounds {
                check: check as u32,
                argument: built.argument_of(access.array),
                name: algorithm.array(access.array).name.clone(),
                axis: axis - outer,
                subscripts: subscripts.map(|it| print::subscript(algorithm, computation, it)).collect(),
                condition: sizes(algorithm, &condition(algorithm)),
                certain: !access.conditional && algorithm.failed.is_none(),
                place: span.map_or_else(String::new, |span| unit.place(span)),
            }
        };
        // Where some tests are made on the way, one of them may have failed before what a check at entry is about.
        let error_of = |error: SizeError| match error {
            SizeError::Assumption => error,
            _ if algorithm.failed.is_some() => SizeError::Thrown,
            _ => error,
        };
        let bounds = verified.checks().iter().enumerate().map(|(at, check)| {
            bounds_failure(check.access, check.axis, at + 1, &|_| condition(&check.needs.to_string()))
        });
        let count = verified.checks().len();
        let sizes = algorithm.requirements.iter().enumerate().map(|(at, requirement)| {
            let number = count + at + 1;
            if let Some(Inside { access, axis, needs }) = &requirement.inside {
                return bounds_failure(*access, *axis, number, &|_| condition(&needs.to_string()));
            }
            let place = built.analysed.spans.requirements.get(at).map(|&span| format!(" at {}", unit.place(span)));
            let text = format!("{}{}", requirement.text, place.unwrap_or_default());
            Failure::Size { check: number as u32, error: error_of(requirement.error), text }
        });
        let first = count + algorithm.requirements.len() + 1;
        let scanned = algorithm.scan.iter().flat_map(|scan| &scan.checks).enumerate();
        let computed = scanned.map(|(at, check)| match check {
            ScanCheck::Inside { access, axis } => {
                bounds_failure(*access, *axis, first + at, &|algorithm| scan_condition(algorithm, *access, *axis))
            }
            ScanCheck::Holds { error, text, place } => {
                let place = spans.values.get(*place as usize).map(|&span| format!(" at {}", unit.place(span)));
                let text = format!("{text}{}", place.unwrap_or_default());
                Failure::Size { check: (first + at) as u32, error: error_of(*error), text }
            }
        });
        let checks = bounds.chain(sizes).chain(computed).collect();
        let arrays: Vec<String> = algorithm
            .arguments
            .iter()
            .filter_map(|argument| match argument {
                tessella_polyhedral::algorithm::Argument::Array(id) => Some(format!("`{}`", algorithm.array(*id).name)),
                tessella_polyhedral::algorithm::Argument::Scalar(_) => None,
            })
            .collect();
        let strided = algorithm.arrays.iter().any(|array| !array.strided.is_empty());
        let what = if strided { "arrays, or of the elements of one of them," } else { "arrays" };
        let of_scalars = algorithm.params.iter().filter(|param| param.is_of_scalars());
        let numbers: Vec<String> = of_scalars.filter_map(|param| algorithm.spelling(param)).collect();
        Failures { checks, arrays: format!("{what} {}", arrays.join(", ")), numbers: numbers.join("`, `") }
    }

    pub(super) fn failure(&self, code: i32) -> Option<Failure> {
        match code {
            1.. => self.checks.get(code as usize - 1).cloned(),
            -1 => {
                Some(Failure::Overlap { text: format!("two of the {} share memory, and one is written", self.arrays) })
            }
            -2 => Some(Failure::OutOfMemory { text: "no memory for intermediate arrays".to_string() }),
            -3 => Some(Failure::Range {
                text: "a size or an integer argument is beyond 2^40, or too large for a product in a subscript"
                    .to_string(),
            }),
            -6 => Some(Failure::Later {
                text: "a subscript or a value failed while the function ran; what it had written was put back"
                    .to_string(),
            }),
            -7 => Some(Failure::NoInteger { text: format!("`{}` has no value", self.numbers) }),
            _ => None,
        }
    }
}

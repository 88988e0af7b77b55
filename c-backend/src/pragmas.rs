//! What stands before loops: threads, SIMD lanes, unrolling.

use crate::lanes::keep_order;
use crate::work::work_of;
use std::collections::BTreeSet;
use tessella_codegen::Input;
use tessella_codegen::c_family::{LoopHooks, Printer, Writer};
use tessella_codegen::int_expr::{IntExpr, VariableId};
use tessella_codegen::program::{For, Node};
use tessella_polyhedral::schedule::Tag;

/// Pragmas of loops; remembers whether the current place is already run by threads.
#[derive(Debug)]
pub struct Pragmas {
    parallel: u32,
    simd: u32,
    /// The instances from which on threads pay.
    worth: i64,
    /// Loops that are reached only where threads pay.
    decided: BTreeSet<VariableId>,
}

impl Pragmas {
    pub fn new(worth: i64, decided: BTreeSet<VariableId>) -> Self {
        Self { parallel: 0, simd: 0, worth, decided }
    }

    /// The condition under which threads pay, unless that has been decided.
    fn condition(&self, it: &For, printer: &mut Printer<'_>) -> String {
        match self.decided.contains(&it.variable) {
            true => String::new(),
            false => condition(&work_of(it, self.worth), self.worth, printer),
        }
    }
}

impl LoopHooks for Pragmas {
    fn enter(&mut self, it: &For, printer: &mut Printer<'_>, out: &mut Writer) {
        match it.tag {
            Tag::Parallel => {
                self.parallel += 1;
                if self.parallel == 1 && self.simd == 0 {
                    out.line(format!(
                        "#pragma omp parallel for{}{}{}",
                        threads(printer),
                        schedule(it),
                        self.condition(it, printer)
                    ));
                }
            }
            Tag::Vector(lanes) => {
                self.simd += 1;
                if self.simd == 1 && keep_order(&printer.input, it) {
                    out.line(format!("#pragma omp simd simdlen({lanes})"));
                }
            }
            Tag::Unroll(times) => out.line(format!("#pragma GCC unroll {times}")),
            Tag::Sequential
            | Tag::Separate
            | Tag::Rows
            | Tag::GpuBlock(_)
            | Tag::GpuThread(_)
            | Tag::Combine
            | Tag::Stream(_)
            | Tag::GridSync => {}
        }
    }

    fn leave(&mut self, it: &For) {
        match it.tag {
            Tag::Parallel => self.parallel -= 1,
            Tag::Vector(_) => self.simd -= 1,
            Tag::Sequential
            | Tag::Unroll(_)
            | Tag::Separate
            | Tag::Rows
            | Tag::GpuBlock(_)
            | Tag::GpuThread(_)
            | Tag::Combine
            | Tag::Stream(_)
            | Tag::GridSync => {}
        }
    }
}

/// Pragmas of the loops of searches ([`Scan`](tessella_polyhedral::algorithm::Scan)): threads share those that are tagged so, and what remains is the
/// largest of their marks.
#[derive(Debug)]
pub struct Searches {
    worth: i64,
    /// Loops that are reached only where threads pay.
    decided: BTreeSet<VariableId>,
}

impl Searches {
    pub fn new(worth: i64, decided: BTreeSet<VariableId>) -> Self {
        Self { worth, decided }
    }
}

impl LoopHooks for Searches {
    fn enter(&mut self, it: &For, printer: &mut Printer<'_>, out: &mut Writer) {
        let Some(mark) = printer.mark().map(str::to_owned) else { return };
        let lanes = if is_innermost(it) { " simd" } else { "" };
        match it.tag {
            Tag::Parallel => {
                let condition = match self.decided.contains(&it.variable) {
                    true => String::new(),
                    false => condition(&work_of(it, self.worth), self.worth, printer),
                };
                let threads = threads(printer);
                out.line(format!("#pragma omp parallel for{lanes}{threads} reduction(max: {mark}){condition}"));
            }
            _ if lanes.is_empty() => {}
            _ => out.line(format!("#pragma omp simd reduction(max: {mark})")),
        }
    }

    fn begin(&mut self, it: &For, printer: &mut Printer<'_>, out: &mut Writer) {
        if let Some(mark) = of_iteration(it, printer) {
            out.line(format!("const int32_t tessella_before = {mark};"));
            out.line(format!("{mark} = 0;"));
        }
    }

    fn end(&mut self, it: &For, printer: &mut Printer<'_>, out: &mut Writer) {
        if let Some(mark) = of_iteration(it, printer) {
            out.line(format!("{mark} = {mark} < tessella_before ? tessella_before : {mark};"));
        }
    }

    fn leave(&mut self, _: &For) {}
}

/// The mark of a search whose iterations leave several under conditions: GCC 12.2 makes another one of these with vectors of AVX-512, but not
/// where each iteration begins with none.
fn of_iteration(it: &For, printer: &Printer<'_>) -> Option<String> {
    let mark = printer.mark()?;
    (is_innermost(it) && conditions(it, &printer.input) > 1).then(|| mark.to_owned())
}

/// Whether a loop has no other one inside, nor bounds that are data, which would be a second variable in its head.
fn is_innermost(it: &For) -> bool {
    let mut inner = false;
    it.body.iter().for_each(|node| node.walk(&mut |node| inner |= matches!(node, Node::For(_) | Node::Tile(_))));
    !inner && it.clip.is_none() && it.going.is_none()
}

/// The conditions in the body of a loop under which it marks something.
fn conditions(it: &For, input: &Input<'_>) -> usize {
    let mut count = 0;
    it.body.iter().for_each(|node| {
        node.walk(&mut |node| {
            count += match node {
                Node::If { .. } => 1,
                Node::Statement(it) => usize::from(input.algorithm.computation(it.computation).predicate.is_some()),
                _ => 0,
            }
        });
    });
    count
}

/// As many threads as were asked for, if any were.
fn threads(printer: &Printer<'_>) -> String {
    printer.options.threads.map_or(String::new(), |count| format!(" num_threads({count})"))
}

/// The condition under which so many instances are worth threads.
fn condition(work: &IntExpr, worth: i64, printer: &mut Printer<'_>) -> String {
    match work {
        IntExpr::Const(count) if *count >= worth => String::new(),
        work => format!(" if ({} >= {worth})", printer.int(work)),
    }
}

/// Iterations of unequal work are handed out piece by piece.
fn schedule(it: &For) -> &'static str {
    let mut unequal = false;
    for node in &it.body {
        node.walk(&mut |node| {
            if let Node::For(inner) = node {
                unequal |= grows_with(&inner.lower, it.variable) || grows_with(&inner.upper, it.variable);
                // Data end it, sooner here than there.
                unequal |= inner.going.is_some();
            }
        });
    }
    if unequal { " schedule(guided)" } else { "" }
}

/// Whether a bound follows the variable; a tile's bound, `min(31, ...)`, does not.
fn grows_with(bound: &IntExpr, variable: VariableId) -> bool {
    match bound {
        IntExpr::Min(all) | IntExpr::Max(all) if all.iter().any(|part| part.as_const().is_some()) => false,
        other => other.involves(&|inner| inner == variable),
    }
}

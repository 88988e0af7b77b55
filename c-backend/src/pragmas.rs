//! What stands before loops: threads, SIMD lanes, unrolling.

use tessella_codegen::c_family::{LoopHooks, Printer, Writer};
use tessella_codegen::int_expr::{IntExpr, VariableId};
use std::collections::BTreeMap;
use tessella_codegen::program::{For, Node};
use tessella_polyhedral::schedule::Tag;

/// Starting threads pays from about this many instances on: they take longer than the 5 to 10 us of a start.
const WORTH_THREADS: i64 = 32_768;

/// Pragmas of loops; remembers whether the current place is already run by threads.
#[derive(Debug, Default)]
pub struct Pragmas {
    parallel: u32,
    simd: u32,
}

impl LoopHooks for Pragmas {
    fn enter(&mut self, it: &For, printer: &mut Printer<'_>, out: &mut Writer) {
        match it.tag {
            Tag::Parallel => {
                self.parallel += 1;
                if self.parallel == 1 && self.simd == 0 {
                    let threads = printer.options.threads.map_or(String::new(), |count| format!(" num_threads({count})"));
                    out.line(format!("#pragma omp parallel for{threads}{}{}", schedule(it), worth(it, printer)));
                }
            }
            Tag::Vector(lanes) => {
                self.simd += 1;
                if self.simd == 1 {
                    out.line(format!("#pragma omp simd simdlen({lanes})"));
                }
            }
            Tag::Unroll(times) => out.line(format!("#pragma GCC unroll {times}")),
            Tag::Sequential | Tag::Separate | Tag::GpuBlock(_) | Tag::GpuThread(_) | Tag::Stream(_) => {}
        }
    }

    fn leave(&mut self, it: &For) {
        match it.tag {
            Tag::Parallel => self.parallel -= 1,
            Tag::Vector(_) => self.simd -= 1,
            Tag::Sequential | Tag::Unroll(_) | Tag::Separate | Tag::GpuBlock(_) | Tag::GpuThread(_) | Tag::Stream(_) => {}
        }
    }
}

/// Iterations of unequal work are handed out piece by piece.
fn schedule(it: &For) -> &'static str {
    let mut unequal = false;
    for node in &it.body {
        node.walk(&mut |node| {
            if let Node::For(inner) = node {
                unequal |= grows_with(&inner.lower, it.variable) || grows_with(&inner.upper, it.variable);
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

/// The condition under which threads pay: enough instances run below the loop.
fn worth(it: &For, printer: &mut Printer<'_>) -> String {
    let mut bounds = BTreeMap::new();
    let work = instances(&[Node::For(it.clone())], &mut bounds);
    match work {
        IntExpr::Const(count) if count >= WORTH_THREADS => String::new(),
        work => format!(" if ({} >= {WORTH_THREADS})", printer.int(&work)),
    }
}

/// The smallest and the largest value of a variable.
type Range = (IntExpr, IntExpr);

/// How many instances nodes run at most, each loop taken where it is longest.
fn instances(nodes: &[Node], ranges: &mut BTreeMap<VariableId, Range>) -> IntExpr {
    let each = nodes.iter().map(|node| match node {
        Node::For(it) => trips(it, ranges),
        Node::Tile(it) => trips(&it.generic, ranges),
        Node::If { then, otherwise, .. } => instances(then, ranges).plus(instances(otherwise, ranges)),
        Node::Declare { body, .. } => instances(body, ranges),
        Node::Let { variable, value } => {
            let value = (end(value, End::Low, ranges), end(value, End::High, ranges));
            ranges.insert(*variable, value);
            IntExpr::Const(0)
        }
        Node::Statement(_) => IntExpr::Const(1),
        Node::Launch(_) | Node::Copy { .. } | Node::Spread(_) | Node::OneThread { .. } | Node::Barrier | Node::Streaming(_) => {
            IntExpr::Const(0)
        }
    });
    each.fold(IntExpr::Const(0), IntExpr::plus)
}

fn trips(it: &For, ranges: &mut BTreeMap<VariableId, Range>) -> IntExpr {
    let (lower, upper) = (end(&it.lower, End::Low, ranges), end(&it.upper, End::High, ranges));
    let count = one_more(quotient(upper.clone().minus(lower.clone()), it.step));
    ranges.insert(it.variable, (lower, upper));
    count.times(instances(&it.body, ranges))
}

/// A quotient of what is hardly ever negative; the way that C rounds will do.
fn quotient(expr: IntExpr, by: i64) -> IntExpr {
    match (expr, by) {
        (expr, 1) => expr,
        (IntExpr::Const(value), by) => IntExpr::Const(value / by),
        (expr, by) => IntExpr::Div(Box::new(expr), by),
    }
}

/// `expr + 1`, inside of a minimum.
fn one_more(expr: IntExpr) -> IntExpr {
    match expr {
        IntExpr::Min(parts) => IntExpr::min_of(parts.into_iter().map(one_more)),
        other => other.plus(IntExpr::Const(1)),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Low,
    High,
}

/// The smallest or largest value of an expression, variables taken for independent.
fn end(expr: &IntExpr, which: End, ranges: &BTreeMap<VariableId, Range>) -> IntExpr {
    let same = |expr: &IntExpr| end(expr, which, ranges);
    let other = |expr: &IntExpr| end(expr, if which == End::Low { End::High } else { End::Low }, ranges);
    match expr {
        IntExpr::Const(_) | IntExpr::Param(_) => expr.clone(),
        IntExpr::Variable(variable) => match ranges.get(variable) {
            Some((low, _)) if which == End::Low => low.clone(),
            Some((_, high)) => high.clone(),
            None => expr.clone(),
        },
        IntExpr::Add(a, b) => same(a).plus(same(b)),
        IntExpr::Sub(a, b) => same(a).minus(other(b)),
        IntExpr::Mul(a, b) => match (&**a, &**b) {
            (IntExpr::Const(by), it) | (it, IntExpr::Const(by)) if *by < 0 => IntExpr::Const(*by).times(other(it)),
            (a, b) => same(a).times(same(b)),
        },
        IntExpr::Neg(a) => other(a).negated(),
        IntExpr::FloorDiv(a, by) | IntExpr::Div(a, by) => quotient(same(a), *by),
        IntExpr::Mod(_, by) => IntExpr::Const(if which == End::Low { 0 } else { by - 1 }),
        // The number among them, where there is one: the others differ from it in tiles at the edge only.
        IntExpr::Max(parts) if which == End::Low => {
            parts.iter().find_map(IntExpr::as_const).map_or_else(|| same(&parts[0]), IntExpr::Const)
        }
        IntExpr::Min(parts) if which == End::High => IntExpr::min_of(parts.iter().map(same)),
        IntExpr::Min(parts) => same(&parts[0]),
        IntExpr::Max(parts) => IntExpr::max_of(parts.iter().map(same)),
        IntExpr::Select(_, yes, _) => same(yes),
    }
}

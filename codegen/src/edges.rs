//! Register tiles at the edge of a domain: they run whole, past the edge too, where nothing reads what they compute.
//!
//! Rewrite: `for x in 0:7 { if x <= e { r[x] = r[x] + s[x] } } -> for x in 0:7 { r[x] = r[x] + s[x] }`
//!
//! A test in front of each statement of an unrolled tile costs more than the statement, and keeps the compiler from loading an operand
//! once for several of them. So the tests go where isl proves that it makes no difference: the statement writes a register of
//! the thread, and where the tests fail it is one that no instance of the program in this thread reads; it reads registers and
//! shared memory only, inside of their boxes; and it computes with floats, so that nothing can fail or branch on what it
//! reads, which may be anything. What is asked inside of a test may divide what is not negative where the test holds; once that is gone, it rounds
//! down, as in the proofs. [`Statement::inside`] keeps the tests, so that whoever executes the program knows which
//! values are none.

mod place;

use crate::error::CodegenError;
use crate::input::Input;
use crate::int_expr::{Cond, IntExpr, VariableId};
use crate::program::{For, Node, Over, Statement};
use crate::ranges;
use crate::tile::subscripts_of;
use place::{Frame, Place};
use std::collections::BTreeSet;
use std::convert::Infallible;
use tessella_polyhedral::affine::Affine;
use tessella_polyhedral::algorithm::{Access, ComputationId};
use tessella_polyhedral::expr::{Expr, ExprKind};
use tessella_polyhedral::isl::Set;
use tessella_polyhedral::layers::{BufferId, MemorySpace};
use tessella_polyhedral::schedule::Tag;
use tessella_scalar::BinaryOp;

/// A kernel's body without the tests that may go. `context` is what holds of the parameters.
///
/// # Errors
/// isl's, where its work is limited.
pub fn run_whole(input: &Input<'_>, context: &Set, nodes: Vec<Node>) -> Result<Vec<Node>, CodegenError> {
    let one = |node: Node| {
        let node = match node {
            Node::Declare { buffer, body } if input.layout.buffer(buffer).space == MemorySpace::Register => {
                Node::Declare { buffer, body: tile(input, context, buffer, body)? }
            }
            other => other,
        };
        node.map_blocks(|nodes| run_whole(input, context, nodes))
    };
    nodes.into_iter().map(one).collect()
}

/// The nodes below the declaration of a buffer in registers.
fn tile(input: &Input<'_>, context: &Set, buffer: BufferId, body: Vec<Node>) -> Result<Vec<Node>, CodegenError> {
    let gone = tests_that_go(input, context, buffer, &body)?;
    Ok(if gone.is_empty() { body } else { without_tests(body, &mut 0, &gone, &[]) })
}

/// The tests that may go, parts of conditions, by their number in order.
fn tests_that_go(
    input: &Input<'_>,
    context: &Set,
    buffer: BufferId,
    body: &[Node],
) -> Result<BTreeSet<usize>, CodegenError> {
    let axes = input.layout.buffer(buffer).extents.len() as u32;
    let mut tile = Tile { input, buffer, frame: Frame::new(input, context, body, axes), tests: 0, uses: vec![] };
    let start = Place::new(&tile.frame);
    if tile.visit(body, &start, &Below::default()).is_none() || tile.uses.iter().all(|it| it.tests.is_empty()) {
        return Ok(BTreeSet::new());
    }
    let found = tile.uses.iter().flat_map(|it| &it.tests).map(|(number, _)| *number);
    let kept = tile.kept()?;
    Ok(found.filter(|number| !kept.contains(number)).collect())
}

/// One buffer in registers while it lives.
struct Tile<'a> {
    input: &'a Input<'a>,
    buffer: BufferId,
    frame: Frame<'a>,
    /// The parts of conditions that were seen.
    tests: usize,
    uses: Vec<Use<'a>>,
}

/// A statement that uses the buffer.
struct Use<'a> {
    statement: &'a Statement,
    /// Without the tests.
    place: Place,
    /// The tests that might go, outermost first: the number of each, and what it demands not to be negative.
    tests: Vec<(usize, Vec<Affine>)>,
}

/// What lies around a node.
#[derive(Clone, Default)]
struct Below {
    in_thread: bool,
    /// Variables of loops that are spelled out.
    unrolled: BTreeSet<VariableId>,
    tests: Vec<(usize, Vec<Affine>)>,
}

impl<'a> Tile<'a> {
    /// Finds all uses; `None` if the nodes are not understood.
    fn visit(&mut self, nodes: &'a [Node], outer: &Place, below: &Below) -> Option<()> {
        let mut here = outer.clone();
        for node in nodes {
            match node {
                Node::For(it) => {
                    let mut below = below.clone();
                    below.unrolled.extend(is_spelled_out(it).then_some(it.variable));
                    let inner = here.through(it.variable, &it.lower, &it.upper);
                    self.visit(&it.body, &inner, &below)?;
                }
                Node::Spread(it) => {
                    let mut inner = here.through(it.variable, &it.lower, &it.upper);
                    if it.over == Over::Threads {
                        inner.on_thread(it);
                    }
                    self.visit(&it.body, &inner, &Below { in_thread: true, ..below.clone() })?;
                }
                Node::If { condition, then, otherwise } => {
                    let (mut inner, mut inside) = (here.clone(), below.clone());
                    let divides = divides_what_is_not_negative(node);
                    for part in conjuncts(condition) {
                        match here.demands(part) {
                            Some(demands) if !divides && self.is_test(part, then, otherwise, below) => {
                                inside.tests.push((self.tests, demands));
                            }
                            demands => inner.holds.extend(demands.into_iter().flatten()),
                        }
                        self.tests += 1;
                    }
                    self.visit(then, &inner, &inside)?;
                    self.visit(otherwise, &here, below)?;
                }
                Node::Let { variable, value } => here.bind(*variable, value),
                Node::Statement(statement) => {
                    let accesses = self.input.used_accesses(statement.computation);
                    if accesses.iter().any(|it| self.input.buffer_of(it.array) == self.buffer) {
                        self.uses.push(Use { statement, place: here.clone(), tests: below.tests.clone() });
                    }
                }
                Node::Declare { body, .. } | Node::OneThread { body, .. } => self.visit(body, &here, below)?,
                Node::Barrier | Node::GridBarrier | Node::Await(_) => {}
                Node::Launch(_)
                | Node::Copy { .. }
                | Node::Together { .. }
                | Node::Turns(_)
                | Node::Tile(_)
                | Node::Streaming(_) => return None,
            }
        }
        Some(())
    }

    /// Whether a condition stands in an unrolled tile in front of statements that may run where it fails, for all that can be
    /// said without their places.
    fn is_test(&self, condition: &Cond, then: &[Node], otherwise: &[Node], below: &Below) -> bool {
        let mut of_tile = false;
        condition.walk(&mut |expr| {
            let IntExpr::Variable(variable) = expr else { return };
            of_tile |= below.unrolled.contains(variable) && self.moves(*variable, then);
        });
        let binds = then.iter().any(|node| matches!(node, Node::Let { .. }));
        let mut fits = below.in_thread && of_tile && otherwise.is_empty() && !binds;
        for node in then {
            node.walk(&mut |node| {
                fits &= !divides_what_is_not_negative(node);
                fits &= match node {
                    Node::Statement(it) => self.is_harmless(it.computation),
                    Node::For(it) => it.clip.is_none() && it.going.is_none(),
                    Node::If { .. } | Node::Let { .. } => true,
                    Node::Spread(_)
                    | Node::Declare { .. }
                    | Node::OneThread { .. }
                    | Node::Launch(_)
                    | Node::Copy { .. }
                    | Node::Together { .. }
                    | Node::Turns(_)
                    | Node::Barrier
                    | Node::GridBarrier
                    | Node::Await(_)
                    | Node::Tile(_)
                    | Node::Streaming(_) => false,
                }
            });
        }
        fits
    }

    /// Whether statements write other elements of the buffer with another value of a variable: not where it counts the terms of a sum.
    fn moves(&self, variable: VariableId, nodes: &[Node]) -> bool {
        let mut found = false;
        for node in nodes {
            node.walk(&mut |node| {
                let Node::Statement(it) = node else { return };
                let write = &self.input.algorithm.computation(it.computation).write;
                let subscripts = subscripts_of(write, &values(it));
                found |= subscripts.is_none_or(|all| all.iter().any(|it| it.involves(&|other| other == variable)));
            });
        }
        found
    }

    /// Whether a computation does nothing but write the buffer, whatever it reads.
    fn is_harmless(&self, id: ComputationId) -> bool {
        let computation = self.input.algorithm.computation(id);
        let plain = computation.predicate.is_none() && !self.input.layout.is_ahead(id);
        let space = |access: &Access| self.input.layout.buffer(self.input.buffer_of(access.array)).space;
        let kept_close = |access: &&Access| {
            access.is_affine() && matches!(space(access), MemorySpace::Register | MemorySpace::Shared)
        };
        plain
            && self.input.buffer_of(computation.write.array) == self.buffer
            && self.input.used_accesses(id).iter().all(kept_close)
            && computation.lets.iter().all(|it| computes_anyway(&it.value))
            && computes_anyway(&computation.value)
    }

    /// The tests that have to stay.
    fn kept(&self) -> Result<BTreeSet<usize>, CodegenError> {
        let mut read: Vec<Set> = vec![];
        for it in &self.uses {
            let accesses = self.input.used_accesses(it.statement.computation);
            for access in accesses.into_iter().skip(1).filter(|it| self.input.buffer_of(it.array) == self.buffer) {
                let mut place = it.place.clone();
                place.holds.extend(it.tests.iter().flat_map(|(_, demands)| demands).cloned());
                read.push(self.frame.cells(&place, &self.cell(access, it))?);
            }
        }
        let mut kept = BTreeSet::new();
        for it in self.uses.iter().filter(|it| !it.tests.is_empty()) {
            let goes = self.go_at(it, &read)?;
            kept.extend(it.tests.iter().map(|(number, _)| *number).filter(|number| !goes.contains(number)));
        }
        Ok(kept)
    }

    /// Those of the tests of a statement that may go together: all, else those of which each may go by itself.
    fn go_at(&self, it: &Use<'_>, read: &[Set]) -> Result<Vec<usize>, CodegenError> {
        let all: Vec<usize> = it.tests.iter().map(|(number, _)| *number).collect();
        if self.may_go(it, &all, read)? {
            return Ok(all);
        }
        let mut alone = vec![];
        for number in all.iter().filter(|_| all.len() > 1) {
            if self.may_go(it, &[*number], read)? {
                alone.push(*number);
            }
        }
        Ok(if alone.len() < 2 || self.may_go(it, &alone, read)? { alone } else { vec![] })
    }

    /// Whether a statement may run where these of its tests fail, and all others hold.
    fn may_go(&self, it: &Use<'_>, going: &[usize], read: &[Set]) -> Result<bool, CodegenError> {
        let (going, others): (Vec<_>, Vec<_>) = it.tests.iter().partition(|(number, _)| going.contains(number));
        let mut place = it.place.clone();
        place.holds.extend(others.into_iter().flat_map(|(_, demands)| demands).cloned());
        let demands: Vec<&Affine> = going.into_iter().flat_map(|(_, demands)| demands).collect();
        Ok(self.stays_in_boxes(it, &place)? && self.writes_apart(it, place, &demands, read)?)
    }

    /// Whether all accesses of a statement at a place stay inside of their buffers.
    fn stays_in_boxes(&self, it: &Use<'_>, place: &Place) -> Result<bool, CodegenError> {
        for access in self.input.used_accesses(it.statement.computation) {
            let extents = &self.input.layout.buffer(self.input.buffer_of(access.array)).extents;
            // Rows that are shifted begin somewhere in their padding.
            let shift = self.input.layout.lead_of(access.array).map_or(0, |lead| lead.lanes - 1);
            for (axis, (cell, extent)) in self.cell(access, it).into_iter().zip(extents).enumerate() {
                let (Some(cell), Some(extent)) = (cell, extent.as_constant()) else { return Ok(false) };
                let last = if axis == 0 { extent - 1 - shift } else { extent - 1 };
                let Ok(above) = Affine::constant(last).sub(&cell) else { return Ok(false) };
                if !self.frame.never_negative(place, &[cell, above])? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Whether the elements that a statement writes at a place where one of the demands fails are none of those in `read`.
    fn writes_apart(
        &self,
        it: &Use<'_>,
        mut place: Place,
        demands: &[&Affine],
        read: &[Set],
    ) -> Result<bool, CodegenError> {
        let write = &self.input.algorithm.computation(it.statement.computation).write;
        let cell = self.cell(write, it);
        for demand in demands {
            let Some(fails) = demand.scale(-1).and_then(|it| it.add_constant(-1)).ok() else { return Ok(false) };
            let mut beyond = place.clone();
            beyond.holds.push(fails);
            let written = self.frame.cells(&beyond, &cell)?;
            for read in read {
                if !written.is_disjoint(read)? {
                    return Ok(false);
                }
            }
            place.holds.push((*demand).clone());
        }
        Ok(true)
    }

    /// Where in its buffer an access lies, as far as that is known.
    fn cell(&self, access: &Access, it: &Use<'_>) -> Vec<Option<Affine>> {
        let iterators = values(it.statement);
        let map = &self.input.layout.placement(access.array).map;
        let subscripts = subscripts_of(access, &iterators);
        let place = |place: &Affine| {
            let subscripts = subscripts.as_ref()?;
            it.place.affine(&IntExpr::from_affine(place, subscripts))
        };
        map.iter().map(place).collect()
    }
}

/// A node below a test that is gone, with divisions that round down: the test may have been what made sure that nothing negative is divided.
fn rounded_down(node: Node) -> Node {
    match node {
        Node::If { condition, then, otherwise } => Node::If { condition: condition.rounded_down(), then, otherwise },
        Node::Let { variable, value } => Node::Let { variable, value: value.rounded_down() },
        Node::For(it) => Node::For(For { lower: it.lower.rounded_down(), upper: it.upper.rounded_down(), ..it }),
        Node::Statement(it) => {
            let bindings = it.bindings.iter().map(|(variable, value)| (*variable, value.rounded_down())).collect();
            Node::Statement(Statement { bindings, ..it })
        }
        other => other,
    }
}

/// Whether a node computes remainders or quotients of what must not be negative, which do not round down.
fn divides_what_is_not_negative(node: &Node) -> bool {
    let mut found = false;
    node.expressions(&mut |expr| found |= matches!(expr, IntExpr::Mod(..) | IntExpr::Quotient(..)));
    found
}

/// What a condition asks, part by part.
fn conjuncts(condition: &Cond) -> &[Cond] {
    match condition {
        Cond::And(all) => all,
        Cond::Const(_) | Cond::Compare(..) | Cond::Or(_) => std::slice::from_ref(condition),
    }
}

/// The values of a statement's iterators.
fn values(statement: &Statement) -> Vec<IntExpr> {
    ranges::values(statement).into_iter().map(|value| value.unwrap_or(IntExpr::Const(0))).collect()
}

/// Whether a loop becomes as many copies of its body as it has iterations.
fn is_spelled_out(it: &For) -> bool {
    match (it.tag, it.lower.as_const(), it.upper.as_const()) {
        (Tag::Unroll(times), Some(low), Some(high)) => (high - low).div_euclid(it.step) < i64::from(times),
        _ => false,
    }
}

/// Whether an expression has a value whatever its operands in memory are, and takes no way that depends on them: floats may
/// be anything, integers and conditions may not come from memory.
fn computes_anyway(expr: &Expr) -> bool {
    let own = match &expr.kind {
        ExprKind::Constant(_) | ExprKind::Index(_) | ExprKind::Scalar(_) => true,
        ExprKind::Read(_) | ExprKind::Let(_) => expr.ty.is_float(),
        ExprKind::Unary(..) | ExprKind::Call(..) | ExprKind::IfElse { .. } => expr.ty.is_float(),
        ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, ..) => true,
        ExprKind::Binary(..) => expr.ty.is_float(),
        ExprKind::Convert(_) => expr.ty.is_float(),
        ExprKind::Compare(..) | ExprKind::Select { .. } | ExprKind::Wrap(_) => false,
    };
    own && expr.operands().into_iter().all(computes_anyway)
}

/// The nodes without the tests of these numbers; `around` are those that went further out.
fn without_tests(nodes: Vec<Node>, next: &mut usize, gone: &BTreeSet<usize>, around: &[Cond]) -> Vec<Node> {
    let mut done = vec![];
    for node in nodes {
        done.push(match if around.is_empty() { node } else { rounded_down(node) } {
            Node::If { condition, then, otherwise } => {
                let (mut going, mut staying) = (around.to_vec(), vec![]);
                for part in conjuncts(&condition) {
                    if gone.contains(next) { &mut going } else { &mut staying }.push(part.clone());
                    *next += 1;
                }
                if !going.is_empty() {
                    staying.iter_mut().for_each(|part| *part = part.rounded_down());
                }
                let then = without_tests(then, next, gone, &going);
                if staying.is_empty() {
                    done.extend(then);
                    continue;
                }
                let otherwise = without_tests(otherwise, next, gone, around);
                Node::If { condition: Cond::all_of(staying), then, otherwise }
            }
            Node::Statement(it) => {
                let inside = (!around.is_empty()).then(|| Cond::all_of(around.to_vec()));
                Node::Statement(Statement { inside: inside.or(it.inside.clone()), ..it })
            }
            other => {
                let Ok(node) = other.map_blocks(|nodes| Ok::<_, Infallible>(without_tests(nodes, next, gone, around)));
                node
            }
        });
    }
    done
}

//! isl's loop tree as nodes of the loop program.

use crate::error::CodegenError;
use crate::frame::is_idle;
use crate::input::Input;
use crate::int_expr::{Cond, IntExpr, VariableId};
use crate::isl_schedule::{Mark, mark_number};
use crate::names::{Namer, Names};
use crate::part;
use crate::program::{For, Node, Statement, Update};
use std::collections::{BTreeMap, BTreeSet};
use tessella_polyhedral::affine::ParamId;
use tessella_polyhedral::algorithm::ComputationId;
use tessella_polyhedral::error::Error;
use tessella_polyhedral::isl::{AstBuild, AstExprView, AstNodeView, AstOp, IslError, IslErrorKind, Set};
use tessella_polyhedral::layers::{BufferId, Lifetime, Moment, Transfer};
use tessella_polyhedral::relation;
use tessella_polyhedral::schedule::{self, Path, Schedule, Tag};
use tessella_scalar::CompareOp;

/// Turns isl's names into expressions.
pub struct Scope {
    params: BTreeMap<String, ParamId>,
    variables: BTreeMap<String, IntExpr>,
}

impl Scope {
    pub fn new(param_names: &[String]) -> Self {
        let params = param_names.iter().enumerate().map(|(at, name)| (name.clone(), ParamId(at as u32))).collect();
        Self { params, variables: BTreeMap::new() }
    }

    /// Binds one of isl's names; gives back what it meant before.
    pub fn bind(&mut self, name: &str, value: IntExpr) -> Option<IntExpr> {
        self.variables.insert(name.to_string(), value)
    }

    fn restore(&mut self, name: &str, former: Option<IntExpr>) {
        match former {
            Some(value) => self.variables.insert(name.to_string(), value),
            None => self.variables.remove(name),
        };
    }
}

/// Makes nodes; names of variables go to `names`.
pub struct Lift<'a> {
    pub input: &'a Input<'a>,
    pub marks: &'a [Mark],
    /// The computations that run right after another one, for the same instances.
    pub followers: &'a BTreeMap<ComputationId, Vec<ComputationId>>,
    pub scope: Scope,
    pub names: &'a mut Names,
    /// Names in scope.
    pub namer: Namer,
    /// The loop of the schedule behind each iterator.
    pub loops: &'a mut BTreeMap<VariableId, Path>,
    /// Loops over threads below others that isl has just cut in parts, some of one iteration and some of more.
    pub in_parts: BTreeSet<Path>,
}

impl Lift<'_> {
    pub fn block(&mut self, node: &AstNodeView) -> Result<Vec<Node>, CodegenError> {
        self.node(node, None)
    }

    /// `pending` is the loop whose mark was seen but whose `for` was not.
    fn node(&mut self, node: &AstNodeView, pending: Option<&Path>) -> Result<Vec<Node>, CodegenError> {
        match node {
            AstNodeView::Block(children) => {
                let mut block = vec![];
                for child in children {
                    block.extend(self.node(child, pending)?);
                }
                Ok(block)
            }
            AstNodeView::If { cond, then, otherwise } => {
                let then = self.node(then, pending)?;
                let otherwise = match otherwise {
                    Some(otherwise) => self.node(otherwise, pending)?,
                    None => vec![],
                };
                // A frame leaves nothing but the condition.
                if then.is_empty() && otherwise.is_empty() {
                    return Ok(vec![]);
                }
                Ok(vec![Node::If { condition: condition(cond, &self.scope)?, then, otherwise }])
            }
            AstNodeView::Mark { name, body } => {
                let marks = self.marks;
                if let Some(Mark::Loop(path)) = mark_number(name).and_then(|number| marks.get(number)) {
                    self.note_parts(path, body);
                }
                match mark_number(name).and_then(|number| marks.get(number)) {
                    Some(Mark::Loop(path)) if begins_with_loop(body) => self.node(body, Some(path)),
                    Some(Mark::Loop(path)) => match known_turn(self.input, path)? {
                        Some((source, value)) => self.one_turn(path, source, value, body),
                        None => self.node(body, Some(path)),
                    },
                    Some(Mark::Node(path)) => {
                        let body = self.node(body, pending)?;
                        with_storage(self.input, path, body)
                    }
                    Some(Mark::Children(of, first, last)) => {
                        let body = self.node(body, pending)?;
                        let lives = Lifetime::Children { of: of.clone(), first: *first, last: *last };
                        Ok(with_buffers(self.input, &lives, body))
                    }
                    None => Err(unexpected("a mark that nobody made")),
                }
            }
            AstNodeView::For { iterator, init, cond, inc, degenerate, body, .. } => {
                let path = pending.ok_or_else(|| unexpected("a loop without a mark"))?;
                let input = self.input;
                let Some(schedule::Node::Loop(source)) = input.schedule.node(path) else {
                    return Err(unexpected("a mark that names no loop"));
                };
                let lower = expression(init, &self.scope)?;
                let (upper, step) = match (degenerate, inc) {
                    (true, _) if !is_of_block(input.schedule, path, source) && !self.in_parts.contains(path) => {
                        return self.degenerate(iterator, &source.name, lower, body);
                    }
                    // What blocks keep, and where their threads meet, is told by the loop.
                    (true, _) => (lower.clone(), 1),
                    (false, AstExprView::Int(step)) if *step > 0 => (upper_bound(iterator, cond, &self.scope)?, *step),
                    (false, _) => return Err(unexpected("a loop whose step is no positive number")),
                };
                let outer = self.namer.clone();
                let variable = self.fresh(&source.name);
                self.loops.insert(variable, path.clone());
                let former = self.scope.bind(iterator, IntExpr::Variable(variable));
                let body = self.node(body, None)?;
                self.scope.restore(iterator, former);
                self.namer = outer;
                let (name, tag) = (source.name.clone(), source.tag);
                Ok(vec![Node::For(For {
                    variable,
                    name,
                    tag,
                    lower,
                    upper,
                    step,
                    clip: None,
                    going: None,
                    asked: None,
                    wide: None,
                    stores_last: false,
                    body,
                })])
            }
            AstNodeView::User { expr, .. } => match pending {
                Some(path) if self.in_parts.contains(path) => self.one_instance(path, expr),
                _ => self.statements(expr),
            },
        }
    }

    /// Notes whether the loop at `path`, of which these are all parts, stays a loop in each: beside others below a loop over threads, what has one
    /// iteration belongs to one thread, too.
    fn note_parts(&mut self, path: &Path, parts: &AstNodeView) {
        let schedule = self.input.schedule;
        let is_thread =
            |at: &Path| matches!(schedule.node(at), Some(schedule::Node::Loop(it)) if it.tag.thread().is_some());
        let is_below = || (0..path.0.len()).any(|depth| is_thread(&Path(path.0[..depth].to_vec())));
        let mut turns = vec![];
        if is_thread(path) && is_below() {
            collect_parts(parts, &mut turns);
        }
        match turns.contains(&true) && turns.contains(&false) {
            true => self.in_parts.insert(path.clone()),
            false => self.in_parts.remove(path),
        };
    }

    /// An instance in the loop at `path`, of which isl leaves nothing there.
    fn one_instance(&mut self, path: &Path, call: &AstExprView) -> Result<Vec<Node>, CodegenError> {
        let instance = match call {
            AstExprView::Op(AstOp::Call, operands) => match operands.as_slice() {
                [AstExprView::Id(name), arguments @ ..] => self.input.algorithm.find(name).zip(Some(arguments)),
                _ => None,
            },
            _ => None,
        };
        let source = match self.input.schedule.node(path) {
            Some(schedule::Node::Loop(source)) => source,
            _ => return Err(unexpected("a mark that names no loop")),
        };
        // What is no instance of a computation does nothing.
        let Some((id, arguments)) = instance else { return self.statements(call) };
        let iterators = arguments.iter().map(|it| expression(it, &self.scope)).collect::<Result<Vec<_>, _>>()?;
        let value = IntExpr::from_affine(&source.at[&id], &iterators);
        let outer = self.namer.clone();
        let variable = self.fresh(&source.name);
        self.loops.insert(variable, path.clone());
        let body = self.statements(call)?;
        self.namer = outer;
        let (name, tag, lower, upper) = (source.name.clone(), source.tag, value.clone(), value);
        let (clip, going, asked, wide) = (None, None, None, None);
        Ok(vec![Node::For(For {
            variable,
            name,
            tag,
            lower,
            upper,
            step: 1,
            clip,
            going,
            asked,
            wide,
            stores_last: false,
            body,
        })])
    }

    /// A loop over the one block of a kernel, or the one tile of a block, of which isl leaves nothing: its value is known.
    fn one_turn(
        &mut self,
        path: &Path,
        source: &schedule::Loop,
        value: i64,
        body: &AstNodeView,
    ) -> Result<Vec<Node>, CodegenError> {
        let outer = self.namer.clone();
        let variable = self.fresh(&source.name);
        self.loops.insert(variable, path.clone());
        let body = self.node(body, None)?;
        self.namer = outer;
        let (name, tag, step) = (source.name.clone(), source.tag, 1);
        let [lower, upper] = [IntExpr::Const(value), IntExpr::Const(value)];
        Ok(vec![Node::For(For {
            variable,
            name,
            tag,
            lower,
            upper,
            step,
            clip: None,
            going: None,
            asked: None,
            wide: None,
            stores_last: false,
            body,
        })])
    }

    /// A loop of one iteration: its value is substituted if it is short, bound otherwise.
    fn degenerate(
        &mut self,
        iterator: &str,
        name: &str,
        value: IntExpr,
        body: &AstNodeView,
    ) -> Result<Vec<Node>, CodegenError> {
        if matches!(value, IntExpr::Const(_) | IntExpr::Param(_) | IntExpr::Variable(_)) {
            let former = self.scope.bind(iterator, value);
            let block = self.node(body, None)?;
            self.scope.restore(iterator, former);
            return Ok(block);
        }
        // The name stays taken for the rest of the enclosing block, where the binding is visible.
        let variable = self.fresh(name);
        let former = self.scope.bind(iterator, IntExpr::Variable(variable));
        let mut block = vec![Node::Let { variable, value }];
        block.extend(self.node(body, None)?);
        self.scope.restore(iterator, former);
        Ok(block)
    }

    /// A statement, and those that run right after it for the same instance.
    fn statements(&mut self, call: &AstExprView) -> Result<Vec<Node>, CodegenError> {
        let AstExprView::Op(AstOp::Call, operands) = call else {
            return Err(unexpected("a statement that is no call"));
        };
        let [AstExprView::Id(name), arguments @ ..] = operands.as_slice() else {
            return Err(unexpected("a statement without a name"));
        };
        if is_idle(name) {
            return Ok(vec![]);
        }
        let id = self.input.algorithm.find(name).ok_or_else(|| unexpected("a statement of another program"))?;
        let followers = self.followers.get(&id).into_iter().flatten();
        let all = [&id].into_iter().chain(followers);
        all.map(|&id| Ok(Node::Statement(self.statement(id, arguments)?))).collect()
    }

    fn statement(&mut self, id: ComputationId, arguments: &[AstExprView]) -> Result<Statement, CodegenError> {
        let source = self.input.algorithm.computation(id);
        let outer = self.namer.clone();
        let mut statement = Statement {
            computation: id,
            bindings: vec![],
            iterators: vec![],
            known: 0,
            inside: None,
            decided: vec![],
            update: Update::Stored,
        };
        for (position, (argument, iterator)) in arguments.iter().zip(&source.iterators).enumerate() {
            if !self.input.uses_iterator(id, position as u32) {
                statement.iterators.push(None);
                continue;
            }
            let variable = match expression(argument, &self.scope)? {
                IntExpr::Variable(variable)
                    if self.names.variables[variable.0 as usize] == Namer::default().pick(iterator) =>
                {
                    variable
                }
                value => {
                    let variable = self.fresh(iterator);
                    statement.bindings.push((variable, value));
                    variable
                }
            };
            statement.iterators.push(Some(variable));
        }
        self.namer = outer;
        Ok(statement)
    }

    fn fresh(&mut self, wanted: &str) -> VariableId {
        let variable = VariableId(self.names.variables.len() as u32);
        let name = self.namer.fresh(wanted);
        self.names.variables.push(name);
        variable
    }
}

/// Whether each of the parts of a loop has one iteration.
fn collect_parts(parts: &AstNodeView, found: &mut Vec<bool>) {
    match parts {
        AstNodeView::For { degenerate, .. } => found.push(*degenerate),
        AstNodeView::If { then, otherwise, .. } => {
            collect_parts(then, found);
            otherwise.iter().for_each(|otherwise| collect_parts(otherwise, found));
        }
        AstNodeView::Block(all) => all.iter().for_each(|part| collect_parts(part, found)),
        // isl leaves the loop out where its value follows from those around it.
        AstNodeView::User { .. } => found.push(true),
        AstNodeView::Mark { .. } => {}
    }
}

/// Whether blocks, or all threads of each, run through a loop: it is one over blocks, or has loops over threads inside.
fn is_of_block(schedule: &Schedule, path: &Path, it: &schedule::Loop) -> bool {
    let is_block = |tag: Tag| matches!(tag, Tag::GpuBlock(_));
    let mut above = (0..path.0.len()).map(|depth| Path(path.0[..depth].to_vec()));
    let in_kernel = above.any(|at| matches!(schedule.node(&at), Some(schedule::Node::Loop(it)) if is_block(it.tag)));
    is_block(it.tag) || in_kernel && it.tag == Tag::Sequential && it.body.has_loop(&|tag| tag.thread().is_some())
}

/// Nodes with the buffers that live as long.
fn with_buffers(input: &Input<'_>, lifetime: &Lifetime, mut body: Vec<Node>) -> Vec<Node> {
    for (at, buffer) in input.layout.buffers.iter().enumerate().rev() {
        let id = BufferId(at as u32);
        if buffer.lifetime == *lifetime && is_touched(input, id, &body) {
            body = vec![Node::Declare { buffer: id, body }];
        }
    }
    body
}

/// Whether anything that is left of the nodes uses a buffer.
fn is_touched(input: &Input<'_>, buffer: BufferId, nodes: &[Node]) -> bool {
    let uses = |id: ComputationId| input.used_accesses(id).iter().any(|it| input.buffer_of(it.array) == buffer);
    let mut found = false;
    let mut visit = |node: &Node| {
        found |= match node {
            Node::Statement(it) => uses(it.computation),
            Node::For(it) => {
                let data = it.clip.iter().map(|it| it.computation).chain(it.going.iter().map(|it| it.computation));
                data.into_iter().any(uses)
            }
            Node::Copy { buffer: copied, .. } => *copied == buffer,
            _ => false,
        }
    };
    nodes.iter().for_each(|node| node.walk(&mut visit));
    found
}

/// A node's body with the buffers that live as long, the copies around it, and the barrier after it.
pub fn with_storage(input: &Input<'_>, path: &Path, body: Vec<Node>) -> Result<Vec<Node>, CodegenError> {
    let body = with_buffers(input, &Lifetime::Node(path.clone()), body);
    let copies = |moment: Moment| {
        let here = input.transfers.iter().filter(move |it| it.at == *path && it.moment == moment);
        here.map(|it| copy(input, it)).collect::<Result<Vec<_>, _>>()
    };
    let mut block = copies(Moment::Before)?;
    block.extend(body);
    if input.barriers.contains(path) {
        block.push(Node::Barrier);
    }
    block.extend(copies(Moment::After)?);
    Ok(block)
}

/// A copy, where it is needed.
fn copy(input: &Input<'_>, transfer: &Transfer) -> Result<Node, CodegenError> {
    let is_box = input.layout.buffer(transfer.buffer).is_box(input.algorithm);
    let (part, needed) = match transfer.part.as_slice() {
        [] if !is_box => (None, transfer.needed.clone()),
        _ => (part::part(input, transfer), part::needed(input, transfer)?),
    };
    let copy = Node::Copy { buffer: transfer.buffer, direction: transfer.direction, part };
    let Some(needed) = &needed else { return Ok(copy) };
    let test = AstBuild::from_context(&input.algorithm.context)?.expr_from_set(needed)?;
    let condition = condition(&test.view()?, &Scope::new(&input.algorithm.param_names()))?;
    Ok(Node::If { condition, then: vec![copy], otherwise: vec![] })
}

/// An integer expression of isl's.
pub fn expression(expr: &AstExprView, scope: &Scope) -> Result<IntExpr, CodegenError> {
    let of = |expr: &AstExprView| expression(expr, scope);
    match expr {
        AstExprView::Int(value) => Ok(IntExpr::Const(*value)),
        AstExprView::Id(name) => match (scope.variables.get(name), scope.params.get(name)) {
            (Some(value), _) => Ok(value.clone()),
            (None, Some(param)) => Ok(IntExpr::Param(*param)),
            (None, None) => Err(unexpected("a name that is not in scope")),
        },
        AstExprView::Op(op, operands) => match (op, operands.as_slice()) {
            (AstOp::Add, [a, b]) => Ok(of(a)?.plus(of(b)?)),
            (AstOp::Sub, [a, b]) => Ok(of(a)?.minus(of(b)?)),
            (AstOp::Mul, [a, b]) => Ok(of(a)?.times(of(b)?)),
            (AstOp::Minus, [a]) => Ok(of(a)?.negated()),
            (AstOp::Min, [_, ..]) => Ok(IntExpr::min_of(operands.iter().map(of).collect::<Result<Vec<_>, _>>()?)),
            (AstOp::Max, [_, ..]) => Ok(IntExpr::max_of(operands.iter().map(of).collect::<Result<Vec<_>, _>>()?)),
            (AstOp::FdivQ, [a, AstExprView::Int(divisor)]) if *divisor > 0 => Ok(of(a)?.floor_div(*divisor)),
            (AstOp::Div | AstOp::PdivQ, [a, AstExprView::Int(divisor)]) if *divisor > 0 => {
                Ok(IntExpr::Div(Box::new(of(a)?), *divisor))
            }
            (AstOp::PdivR | AstOp::ZdivR, [a, AstExprView::Int(divisor)]) if *divisor > 0 => {
                Ok(IntExpr::Mod(Box::new(of(a)?), *divisor))
            }
            (AstOp::Cond | AstOp::Select, [test, yes, no]) => {
                Ok(IntExpr::Select(Box::new(condition(test, scope)?), Box::new(of(yes)?), Box::new(of(no)?)))
            }
            _ => Err(unexpected("an integer expression of a kind that no schedule has")),
        },
    }
}

/// A condition of isl's.
pub fn condition(expr: &AstExprView, scope: &Scope) -> Result<Cond, CodegenError> {
    let compare = |op: CompareOp, a: &AstExprView, b: &AstExprView| {
        Ok(Cond::compare(op, expression(a, scope)?, expression(b, scope)?))
    };
    let each = |all: &[AstExprView]| all.iter().map(|part| condition(part, scope)).collect::<Result<Vec<_>, _>>();
    match expr {
        AstExprView::Int(value) => Ok(Cond::Const(*value != 0)),
        AstExprView::Op(AstOp::And | AstOp::AndThen, all) => Ok(Cond::all_of(each(all)?)),
        AstExprView::Op(AstOp::Or | AstOp::OrElse, all) => Ok(Cond::any_of(each(all)?)),
        AstExprView::Op(AstOp::Eq, operands) if operands.len() == 2 => {
            compare(CompareOp::Eq, &operands[0], &operands[1])
        }
        AstExprView::Op(AstOp::Le, operands) if operands.len() == 2 => {
            compare(CompareOp::Le, &operands[0], &operands[1])
        }
        AstExprView::Op(AstOp::Lt, operands) if operands.len() == 2 => {
            compare(CompareOp::Lt, &operands[0], &operands[1])
        }
        AstExprView::Op(AstOp::Ge, operands) if operands.len() == 2 => {
            compare(CompareOp::Ge, &operands[0], &operands[1])
        }
        AstExprView::Op(AstOp::Gt, operands) if operands.len() == 2 => {
            compare(CompareOp::Gt, &operands[0], &operands[1])
        }
        AstExprView::Op(AstOp::Cond | AstOp::Select, operands) if operands.len() == 3 => {
            let (test, yes, no) =
                (condition(&operands[0], scope)?, condition(&operands[1], scope)?, condition(&operands[2], scope)?);
            let negated = negate(&test);
            Ok(Cond::any_of([Cond::all_of([test, yes]), Cond::all_of([negated, no])]))
        }
        _ => Err(unexpected("a condition of a kind that no schedule has")),
    }
}

/// The condition's opposite.
pub fn negate(cond: &Cond) -> Cond {
    match cond {
        Cond::Const(value) => Cond::Const(!value),
        Cond::Compare(op, a, b) => {
            let op = match op {
                CompareOp::Eq => CompareOp::Ne,
                CompareOp::Ne => CompareOp::Eq,
                CompareOp::Lt => CompareOp::Ge,
                CompareOp::Le => CompareOp::Gt,
                CompareOp::Gt => CompareOp::Le,
                CompareOp::Ge => CompareOp::Lt,
            };
            Cond::Compare(op, a.clone(), b.clone())
        }
        Cond::And(all) => Cond::any_of(all.iter().map(negate)),
        Cond::Or(all) => Cond::all_of(all.iter().map(negate)),
    }
}

/// The inclusive upper bound that a loop's condition states.
fn upper_bound(iterator: &str, cond: &AstExprView, scope: &Scope) -> Result<IntExpr, CodegenError> {
    match cond {
        AstExprView::Op(op, operands) => match (op, operands.as_slice()) {
            (AstOp::Le, [AstExprView::Id(name), bound]) if name == iterator => expression(bound, scope),
            (AstOp::Lt, [AstExprView::Id(name), bound]) if name == iterator => {
                Ok(expression(bound, scope)?.minus(IntExpr::Const(1)))
            }
            (AstOp::And | AstOp::AndThen, all) => {
                let all = all.iter().map(|part| upper_bound(iterator, part, scope));
                Ok(IntExpr::min_of(all.collect::<Result<Vec<_>, _>>()?))
            }
            _ => Err(unexpected("a loop whose condition is no upper bound")),
        },
        AstExprView::Id(_) | AstExprView::Int(_) => Err(unexpected("a loop whose condition is no upper bound")),
    }
}

/// The loop over blocks at a node, and the value that it has for some computation whatever the instance, if no other loop of its kernel runs
/// over blocks.
fn one_block<'a>(schedule: &'a schedule::Schedule, path: &Path) -> Option<(&'a schedule::Loop, i64)> {
    let loop_at = |path: &Path| match schedule.node(path) {
        Some(schedule::Node::Loop(it)) => Some(it),
        Some(schedule::Node::Sequence(_) | schedule::Node::Computation(_)) | None => None,
    };
    let of_blocks = |it: &schedule::Loop| matches!(it.tag, Tag::GpuBlock(_));
    let it = loop_at(path).filter(|it| of_blocks(it))?;
    let value = it.at.values().find_map(|at| at.as_constant())?;
    let mut above = (0..path.0.len()).filter_map(|depth| loop_at(&Path(path.0[..depth].to_vec())));
    let is_only = !above.any(of_blocks) && !it.body.has_loop(&|tag| matches!(tag, Tag::GpuBlock(_)));
    is_only.then_some((it, value))
}

/// A loop that blocks, or all threads of each, run through, and the one value that it has for any sizes.
fn known_turn<'a>(input: &Input<'a>, path: &Path) -> Result<Option<(&'a schedule::Loop, i64)>, CodegenError> {
    if let Some(known) = one_block(input.schedule, path) {
        return Ok(Some(known));
    }
    let Some(schedule::Node::Loop(it)) = input.schedule.node(path) else { return Ok(None) };
    if !is_of_block(input.schedule, path, it) {
        return Ok(None);
    }
    let values = match values(input, it) {
        Ok(values) => values,
        Err(Error::Isl(error)) => return Err(error.into()),
        Err(_) => return Ok(None),
    };
    if !values.is_singleton()? {
        return Ok(None);
    }
    let value = values.dim_min(0)?.pieces()?.pop().map(|(_, aff)| aff.constant()).transpose()?;
    Ok(value.and_then(|value| value.to_i64()).map(|value| (it, value)))
}

/// The values that a loop has for any sizes that calls may have: `{ [value] }`.
fn values(input: &Input<'_>, it: &schedule::Loop) -> Result<Set, Error> {
    let (ctx, context) = (input.algorithm.context.ctx(), input.context()?);
    let mut values: Option<Set> = None;
    for (&id, at) in &it.at {
        let domain = relation::domain(input.algorithm, id)?.intersect_params(&context)?;
        let own = relation::function(ctx, input.algorithm, id, at)?.intersect_domain(&domain)?.range()?;
        values = Some(match values {
            None => own,
            Some(values) => values.union(&own)?,
        });
    }
    let values = match values {
        Some(values) => values,
        None => Set::empty(&context.space()?.add_unnamed_tuple(1)?)?,
    };
    Ok(values.project_out_all_params()?.coalesce()?)
}

/// Whether isl made a loop of the one whose mark stands above.
fn begins_with_loop(node: &AstNodeView) -> bool {
    match node {
        AstNodeView::For { .. } => true,
        AstNodeView::Block(children) => children.iter().any(begins_with_loop),
        AstNodeView::If { then, otherwise, .. } => {
            begins_with_loop(then) || otherwise.as_ref().is_some_and(|it| begins_with_loop(it))
        }
        AstNodeView::Mark { .. } | AstNodeView::User { .. } => false,
    }
}

fn unexpected(what: &str) -> CodegenError {
    CodegenError::Isl(IslError { kind: IslErrorKind::Internal, message: format!("the loop tree has {what}") })
}

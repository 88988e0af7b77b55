//! Text of the layers, for people: `--emit algorithm`, `--emit dependences`, `--emit schedule`, comments in generated
//! code.

use crate::affine::Affine;
use crate::algorithm::{Access, Algorithm, Argument, Computation, ComputationId, Subscript};
use crate::expr::{Expr, ExprKind};
use crate::report::{Distance, ReportedDependence};
use crate::schedule::{Node, ProcessorAxis, Schedule, Tag};
use std::fmt::Write;
use tessella_scalar::{BinaryOp, CompareOp, Intrinsic, ScalarType, UnaryOp};

/// The algorithm: its arguments, parameters and computations with their domains.
pub fn algorithm(algorithm: &Algorithm) -> String {
    let params = algorithm.param_names();
    let arguments: Vec<String> = algorithm
        .arguments
        .iter()
        .map(|argument| match argument {
            Argument::Array(id) => {
                let array = algorithm.array(*id);
                let extents: Vec<String> = array.extents.iter().map(|extent| extent.display(&[], &params)).collect();
                format!("{}: {}[{}]", array.name, array.element, extents.join(", "))
            }
            Argument::Scalar(id) => {
                let scalar = algorithm.scalar(*id);
                format!("{}: {}", scalar.name, scalar.ty)
            }
        })
        .collect();
    let mut text = format!("algorithm {}({})\n", algorithm.name, arguments.join(", "));
    for computation in &algorithm.computations {
        let _ = writeln!(text, "\n{}", instances(algorithm, computation));
        for at in 0..computation.lets.len() as u32 {
            let item = &computation.lets[at as usize];
            let value = expression(algorithm, computation, &item.value);
            let _ = writeln!(text, "    {} = {value}", item.name);
        }
        let _ = writeln!(text, "    {}", statement(algorithm, computation));
    }
    text
}

/// `S[i, j] : 1 <= i <= n and ...`.
fn instances(algorithm: &Algorithm, computation: &Computation) -> String {
    let simple = computation.domain.gist_params(&algorithm.context).and_then(|set| set.coalesce());
    let domain = simple.unwrap_or_else(|_| computation.domain.clone()).to_string();
    let inner = domain.find('{').zip(domain.rfind('}')).map(|(open, close)| domain[open + 1..close].trim().to_string());
    inner.unwrap_or(domain)
}

/// `B[i, j] = ...`, with `if condition` before it where there is a predicate.
pub fn statement(algorithm: &Algorithm, computation: &Computation) -> String {
    let target = access(algorithm, computation, &computation.write);
    let value = expression(algorithm, computation, &computation.value);
    match &computation.predicate {
        None => format!("{target} = {value}"),
        Some(predicate) => format!("if {}: {target} = {value}", expression(algorithm, computation, predicate)),
    }
}

/// `A[i - 1, j]`; a bare name for a single element.
pub fn access(algorithm: &Algorithm, computation: &Computation, access: &Access) -> String {
    let name = &algorithm.array(access.array).name;
    let subscripts: Vec<String> = access.subscripts.iter().map(|it| subscript(algorithm, computation, it)).collect();
    if subscripts.is_empty() { name.clone() } else { format!("{name}[{}]", subscripts.join(", ")) }
}

/// `i - 1`, `idx[i]`.
pub fn subscript(algorithm: &Algorithm, computation: &Computation, subscript: &Subscript) -> String {
    match subscript {
        Subscript::Affine(affine) => affine.display(&computation.iterators, &algorithm.param_names()),
        Subscript::Computed(value) => expression(algorithm, computation, value),
    }
}

/// The expression in Julia's notation, with the parentheses that keep its evaluation order visible.
pub fn expression(algorithm: &Algorithm, computation: &Computation, expr: &Expr) -> String {
    Printer { algorithm, computation: Some(computation) }.at(expr, 0)
}

/// The same of what scalar arguments give at entry.
pub fn at_entry(algorithm: &Algorithm, expr: &Expr) -> String {
    Printer { algorithm, computation: None }.at(expr, 0)
}

struct Printer<'a> {
    algorithm: &'a Algorithm,
    /// `None` at entry, where there are no iterators, lets and reads.
    computation: Option<&'a Computation>,
}

impl Printer<'_> {
    fn at(&self, expr: &Expr, outer: u8) -> String {
        let (text, own) = match &expr.kind {
            ExprKind::Constant(value) => (value.to_string(), 10),
            ExprKind::Index(affine) => {
                let compound = affine.terms().len() + usize::from(affine.constant_term() != 0) > 1;
                let iterators = self.computation.map_or(&[][..], |it| &it.iterators);
                let text = affine.display(iterators, &self.algorithm.param_names());
                (text, if compound { 4 } else { 10 })
            }
            ExprKind::Scalar(id) => (self.algorithm.scalar(*id).name.clone(), 10),
            ExprKind::Let(at) => {
                (self.computation.map_or_else(String::new, |it| it.lets[*at as usize].name.clone()), 10)
            }
            ExprKind::Read(at) => {
                let read = |it: &Computation| access(self.algorithm, it, &it.reads[*at as usize]);
                (self.computation.map_or_else(String::new, read), 10)
            }
            ExprKind::Unary(op, operand) => (format!("{}{}", unary_text(*op), self.at(operand, 6)), 6),
            ExprKind::Binary(op, left, right) => match infix(*op) {
                Some((text, own)) => (format!("{} {text} {}", self.at(left, own), self.at(right, own + 1)), own),
                None => (self.call(call_name(*op), &[left, right]), 10),
            },
            ExprKind::Compare(op, left, right) => {
                (format!("{} {} {}", self.at(left, 4), compare_text(*op), self.at(right, 4)), 3)
            }
            ExprKind::Call(intrinsic, operands) => {
                (self.call(&intrinsic_name(*intrinsic), &operands.iter().collect::<Vec<_>>()), 10)
            }
            ExprKind::Select { no: root, .. } | ExprKind::IfElse { no: root, .. }
                if let Some(square) = rooted(expr, root) =>
            {
                (self.call("isqrt", &[square]), 10)
            }
            ExprKind::Select { condition, yes, no } => {
                (format!("{} ? {} : {}", self.at(condition, 1), self.at(yes, 1), self.at(no, 0)), 0)
            }
            ExprKind::IfElse { condition, yes, no } => (self.call("ifelse", &[condition, yes, no]), 10),
            ExprKind::Convert(operand) => (self.call(expr.ty.julia_name(), &[operand]), 10),
            ExprKind::Wrap(operand) if self.computation.is_none() => (self.to_integer(operand, expr.ty), 10),
            ExprKind::Wrap(operand) => (format!("{} % {}", self.at(operand, 5), expr.ty), 5),
        };
        if own < outer { format!("({text})") } else { text }
    }

    /// A conversion as the source has it: `round(Int64, x)`.
    fn to_integer(&self, operand: &Expr, to: ScalarType) -> String {
        let (name, of) = match &operand.kind {
            ExprKind::Call(
                rounding @ (Intrinsic::Round | Intrinsic::Floor | Intrinsic::Ceil | Intrinsic::Trunc),
                operands,
            ) => (intrinsic_name(*rounding), &operands[0]),
            _ => ("trunc".to_string(), operand),
        };
        format!("{name}({}, {})", to.julia_name(), self.at(of, 0))
    }

    fn call(&self, name: &str, operands: &[&Expr]) -> String {
        let operands: Vec<String> = operands.iter().map(|operand| self.at(operand, 0)).collect();
        format!("{name}({})", operands.join(", "))
    }
}

/// `x` where an expression is what `isqrt(x)` becomes, `root * root > x ? root - 1 : root` of `root = trunc(Int64, sqrt(Float64(max(x, 0))))`.
fn rooted<'e>(expr: &'e Expr, root: &Expr) -> Option<&'e Expr> {
    let (ExprKind::Select { condition, yes, .. } | ExprKind::IfElse { condition, yes, .. }) = &expr.kind else {
        return None;
    };
    let ExprKind::Compare(CompareOp::Gt, squared, number) = &condition.kind else { return None };
    let is = |expr: &Expr, value: i128| matches!(&expr.kind, ExprKind::Constant(it) if it.as_integer() == Some(value));
    let is_squared = matches!(&squared.kind, ExprKind::Binary(BinaryOp::Mul, a, b) if **a == *root && **b == *root);
    let is_less = matches!(&yes.kind, ExprKind::Binary(BinaryOp::Sub, a, b) if **a == *root && is(b, 1));
    let ExprKind::Wrap(float) = &root.kind else { return None };
    let ExprKind::Call(Intrinsic::Sqrt, operands) = &float.kind else { return None };
    let ExprKind::Convert(least) = &operands[0].kind else { return None };
    let is_of_it = matches!(&least.kind, ExprKind::Binary(BinaryOp::Max, a, b) if *a == *number && is(b, 0));
    (is_squared && is_less && is_of_it).then_some(number)
}

fn unary_text(op: UnaryOp) -> &'static str {
    match op {
        UnaryOp::Neg => "-",
        UnaryOp::Not => "!",
        UnaryOp::BitNot => "~",
    }
}

/// Symbol and precedence of the operators that Julia writes between operands.
fn infix(op: BinaryOp) -> Option<(&'static str, u8)> {
    match op {
        BinaryOp::OrElse => Some(("||", 1)),
        BinaryOp::AndAlso => Some(("&&", 2)),
        BinaryOp::Add => Some(("+", 4)),
        BinaryOp::Sub => Some(("-", 4)),
        BinaryOp::BitOr => Some(("|", 4)),
        BinaryOp::BitXor => Some(("⊻", 4)),
        BinaryOp::Mul => Some(("*", 5)),
        BinaryOp::Div => Some(("/", 5)),
        BinaryOp::DivTrunc => Some(("÷", 5)),
        BinaryOp::Rem => Some(("%", 5)),
        BinaryOp::BitAnd => Some(("&", 5)),
        BinaryOp::ShiftLeft => Some(("<<", 6)),
        BinaryOp::ShiftRight => Some((">>", 6)),
        BinaryOp::ShiftRightLogical => Some((">>>", 6)),
        BinaryOp::DivFloor | BinaryOp::DivCeil | BinaryOp::Mod | BinaryOp::Min | BinaryOp::Max => None,
    }
}

fn call_name(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::DivFloor => "fld",
        BinaryOp::DivCeil => "cld",
        BinaryOp::Mod => "mod",
        BinaryOp::Min => "min",
        BinaryOp::Max => "max",
        BinaryOp::Add
        | BinaryOp::Sub
        | BinaryOp::Mul
        | BinaryOp::Div
        | BinaryOp::DivTrunc
        | BinaryOp::Rem
        | BinaryOp::BitAnd
        | BinaryOp::BitOr
        | BinaryOp::BitXor
        | BinaryOp::ShiftLeft
        | BinaryOp::ShiftRight
        | BinaryOp::ShiftRightLogical
        | BinaryOp::AndAlso
        | BinaryOp::OrElse => infix(op).expect("these are infix").0,
    }
}

fn compare_text(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Eq => "==",
        CompareOp::Ne => "!=",
        CompareOp::Lt => "<",
        CompareOp::Le => "<=",
        CompareOp::Gt => ">",
        CompareOp::Ge => ">=",
    }
}

fn intrinsic_name(intrinsic: Intrinsic) -> String {
    match intrinsic {
        Intrinsic::Atan2 => "atan".to_string(),
        Intrinsic::Pow => "^".to_string(),
        other => format!("{other:?}").to_lowercase(),
    }
}

/// The schedule tree, one loop or computation a line. What was inlined, or for another reason never runs, is left out.
pub fn schedule(algorithm: &Algorithm, schedule: &Schedule) -> String {
    let runs = |id: &ComputationId| !algorithm.computation(*id).never_runs();
    let mut text = String::new();
    if let Some(root) = schedule.root.restricted(&algorithm.ids().filter(runs).collect()) {
        schedule_node(algorithm, &root, 0, &mut text);
    }
    text
}

fn schedule_node(algorithm: &Algorithm, node: &Node, depth: usize, text: &mut String) {
    let indent = "  ".repeat(depth);
    match node {
        Node::Computation(id) => {
            let computation = algorithm.computation(*id);
            let _ = writeln!(text, "{indent}{}: {}", computation.name, statement(algorithm, computation));
        }
        Node::Sequence(children) => children.iter().for_each(|child| schedule_node(algorithm, child, depth, text)),
        Node::Loop(it) => {
            let mut functions: Vec<String> = vec![];
            for (id, at) in &it.at {
                let value = function_text(algorithm, *id, at);
                if value != it.name && !functions.contains(&value) {
                    functions.push(value);
                }
            }
            let functions = if functions.is_empty() { String::new() } else { format!(" = {}", functions.join(" | ")) };
            let _ = writeln!(text, "{indent}for {}{functions}{}", it.name, tag_text(it.tag));
            schedule_node(algorithm, &it.body, depth + 1, text);
        }
    }
}

fn function_text(algorithm: &Algorithm, id: ComputationId, at: &Affine) -> String {
    at.display(&algorithm.computation(id).iterators, &algorithm.param_names())
}

fn tag_text(tag: Tag) -> String {
    match tag {
        Tag::Sequential => String::new(),
        Tag::Parallel => "  # parallel".to_string(),
        Tag::Vector(width) => format!("  # vector({width})"),
        Tag::Unroll(factor) => format!("  # unroll({factor})"),
        Tag::Separate => "  # separate".to_string(),
        Tag::Stream(size) => size.comment(),
        Tag::Rows => "  # share_rows".to_string(),
        Tag::GridSync => "  # grid_sync".to_string(),
        Tag::Combine => "  # thread.x, combined".to_string(),
        Tag::GpuBlock(axis) => format!("  # block.{}", axis_text(axis)),
        Tag::GpuThread(axis) => format!("  # thread.{}", axis_text(axis)),
    }
}

fn axis_text(axis: ProcessorAxis) -> &'static str {
    match axis {
        ProcessorAxis::X => "x",
        ProcessorAxis::Y => "y",
        ProcessorAxis::Z => "z",
    }
}

/// One line for each dependence: kind, computations, array, distance and the loop that carries it.
pub fn dependences(algorithm: &Algorithm, reported: &[ReportedDependence]) -> String {
    let mut text = String::new();
    for item in reported {
        let dependence = &item.dependence;
        let source = &algorithm.computation(dependence.source.computation).name;
        let sink = &algorithm.computation(dependence.sink.computation).name;
        let array = &algorithm.array(dependence.array).name;
        let distances: Vec<String> = item.distances.iter().map(Distance::to_string).collect();
        let carried = match item.carried.as_slice() {
            [] => "in one iteration".to_string(),
            loops => format!("carried by {}", loops.join(", ")),
        };
        let kind = dependence.kind.to_string();
        let how = match distances.is_empty() {
            true => "they share no loop".to_string(),
            false => format!("distance ({}), {carried}", distances.join(", ")),
        };
        let _ = writeln!(text, "{kind:<6} {source} -> {sink} on {array}: {how}");
        let _ = writeln!(text, "       {}", relation_text(algorithm, dependence));
    }
    if text.is_empty() {
        text.push_str("no dependences: every instance may run at any time\n");
    }
    text
}

fn relation_text(algorithm: &Algorithm, dependence: &crate::dependence::Dependence) -> String {
    let simple = dependence.relation.gist_params(&algorithm.context).and_then(|map| map.coalesce());
    let text = simple.unwrap_or_else(|_| dependence.relation.clone()).to_string();
    text.find('{').map_or(text.clone(), |open| text[open..].to_string())
}

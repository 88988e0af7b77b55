//! Typed trees by hand: enough to write loop nests shortly.

use std::cell::Cell;
use std::ops::{Add, Mul, Sub};
use tessella_diagnostics::{FileId, Span};
use tessella_frontend::typed::tree::{
    Block, Expr, ExprKind, Function, Label, Local, LocalId, LoopId, LoopMode, Mode, NamedBy, Range, Requirement,
    Result as Returned, Role, SizeError, Statement, StatementKind, Type, dense,
};
use tessella_scalar::{BinaryOp, CompareOp, Constant, ScalarType};

/// An expression under construction.
#[derive(Clone)]
pub struct E(pub Expr);

thread_local! {
    static NEXT: Cell<usize> = const { Cell::new(1) };
}

/// Every part gets a span of its own, in order of construction.
pub fn span() -> Span {
    let at = NEXT.replace(NEXT.get() + 1);
    Span::new(FileId(0), at..at + 1)
}

fn expr(kind: ExprKind, ty: ScalarType) -> E {
    E(Expr { kind, ty, span: span() })
}

pub fn binary(op: BinaryOp, left: impl Into<E>, right: impl Into<E>) -> E {
    let (left, right) = (left.into().0, right.into().0);
    let ty = left.ty;
    expr(ExprKind::Binary(op, Box::new(left), Box::new(right)), ty)
}

pub fn compare(op: CompareOp, left: impl Into<E>, right: impl Into<E>) -> E {
    let (left, right) = (left.into().0, right.into().0);
    expr(ExprKind::Compare(op, Box::new(left), Box::new(right)), ScalarType::Bool)
}

pub fn select(condition: E, yes: impl Into<E>, no: impl Into<E>) -> E {
    let (yes, no) = (yes.into().0, no.into().0);
    let ty = yes.ty;
    expr(ExprKind::Select { condition: Box::new(condition.0), yes: Box::new(yes), no: Box::new(no) }, ty)
}

impl From<i64> for E {
    fn from(value: i64) -> E {
        expr(ExprKind::Constant(Constant::i64(value)), ScalarType::I64)
    }
}

impl From<f64> for E {
    fn from(value: f64) -> E {
        expr(ExprKind::Constant(Constant::f64(value)), ScalarType::F64)
    }
}

impl<T: Into<E>> Add<T> for E {
    type Output = E;
    fn add(self, other: T) -> E {
        binary(BinaryOp::Add, self, other)
    }
}

impl<T: Into<E>> Sub<T> for E {
    type Output = E;
    fn sub(self, other: T) -> E {
        binary(BinaryOp::Sub, self, other)
    }
}

impl<T: Into<E>> Mul<T> for E {
    type Output = E;
    fn mul(self, other: T) -> E {
        binary(BinaryOp::Mul, self, other)
    }
}

/// A function under construction.
#[derive(Default)]
pub struct Tree {
    locals: Vec<Local>,
    arguments: Vec<LocalId>,
    loops: u32,
    blocks: Vec<Block>,
    label: Option<Label>,
    pub mode: Mode,
}

impl Tree {
    pub fn new() -> Tree {
        Tree { blocks: vec![vec![]], ..Tree::default() }
    }

    fn local(&mut self, name: &str, ty: Type, role: Role) -> LocalId {
        self.locals.push(Local { name: name.into(), named: NamedBy::Source, ty, role, span: span() });
        LocalId(self.locals.len() as u32 - 1)
    }

    fn argument(&mut self, name: &str, ty: Type) -> LocalId {
        let id = self.local(name, ty, Role::Argument);
        self.arguments.push(id);
        id
    }

    /// A `Float64` array argument.
    pub fn array(&mut self, name: &str, rank: u32) -> LocalId {
        self.argument(name, dense(ScalarType::F64, rank))
    }

    /// An `Int64` array argument.
    pub fn integers(&mut self, name: &str, rank: u32) -> LocalId {
        self.argument(name, dense(ScalarType::I64, rank))
    }

    pub fn scalar(&mut self, name: &str, ty: ScalarType) -> E {
        let id = self.argument(name, Type::Scalar(ty));
        self.get(id)
    }

    /// Reads a local.
    pub fn get(&self, id: LocalId) -> E {
        let Type::Scalar(ty) = self.locals[id.0 as usize].ty else { panic!("an array has no scalar value") };
        expr(ExprKind::Local(id), ty)
    }

    pub fn size(&self, array: LocalId, axis: u32) -> E {
        expr(ExprKind::Size { array, axis }, ScalarType::I64)
    }

    pub fn load<const N: usize>(&self, array: LocalId, subscripts: [E; N]) -> E {
        let Type::Array { element, .. } = self.locals[array.0 as usize].ty else { panic!("not an array") };
        let subscripts = subscripts.into_iter().map(|subscript| subscript.0).collect();
        expr(ExprKind::Load { array, subscripts, inbounds: false }, element)
    }

    fn push(&mut self, kind: StatementKind) {
        self.blocks.last_mut().unwrap().push(Statement { kind, span: span() });
    }

    /// `name = value`, the only assignment.
    pub fn value(&mut self, name: &str, owner: Option<LoopId>, value: impl Into<E>) -> E {
        let value = value.into().0;
        let target = self.local(name, Type::Scalar(value.ty), Role::Value(owner));
        let (label, mode) = (self.label.take(), self.mode);
        self.push(StatementKind::Set { target, value, label, mode });
        self.get(target)
    }

    pub fn variable(&mut self, name: &str, owner: Option<LoopId>) -> LocalId {
        self.local(name, Type::Scalar(ScalarType::F64), Role::Variable(owner))
    }

    /// An `Int64` variable.
    pub fn counter(&mut self, name: &str, owner: Option<LoopId>) -> LocalId {
        self.local(name, Type::Scalar(ScalarType::I64), Role::Variable(owner))
    }

    pub fn set(&mut self, target: LocalId, value: impl Into<E>) {
        let (label, mode) = (self.label.take(), self.mode);
        self.push(StatementKind::Set { target, value: value.into().0, label, mode });
    }

    pub fn store<const N: usize>(&mut self, array: LocalId, subscripts: [E; N], value: impl Into<E>) {
        let subscripts = subscripts.into_iter().map(|subscript| subscript.0).collect();
        let (label, mode) = (self.label.take(), self.mode);
        self.push(StatementKind::Store { array, subscripts, value: value.into().0, label, mode });
    }

    /// Fails unless the condition holds.
    pub fn require(&mut self, condition: E, error: SizeError, text: &str) {
        let failure = Requirement { error, text: text.into() };
        self.push(StatementKind::Require { condition: condition.0, failure });
    }

    /// Labels the next assignment.
    pub fn comp(&mut self, name: &str) -> &mut Self {
        self.label = Some(Label { name: name.into(), span: span() });
        self
    }

    pub fn repeat(
        &mut self,
        name: &str,
        (start, step, stop): (impl Into<E>, i64, impl Into<E>),
        body: impl FnOnce(&mut Tree, E, LoopId),
    ) {
        let id = LoopId(self.loops);
        self.loops += 1;
        let range = Range { start: start.into().0, step, stop: stop.into().0 };
        let iterator = self.local(name, Type::Scalar(ScalarType::I64), Role::Iterator(id));
        let value = self.get(iterator);
        let block = self.inside(|tree| body(tree, value, id));
        self.push(StatementKind::For { id, iterator, range, mode: LoopMode::default(), body: block });
    }

    pub fn branch(&mut self, condition: E, then: impl FnOnce(&mut Tree), otherwise: impl FnOnce(&mut Tree)) {
        let then = self.inside(then);
        let otherwise = self.inside(otherwise);
        self.push(StatementKind::If { condition: condition.0, then, otherwise });
    }

    fn inside(&mut self, body: impl FnOnce(&mut Tree)) -> Block {
        self.blocks.push(vec![]);
        body(self);
        self.blocks.pop().unwrap()
    }

    pub fn finish(mut self, result: Returned) -> Function {
        let body = self.blocks.pop().unwrap();
        let span = span();
        Function {
            name: "f!".into(),
            locals: self.locals,
            arguments: self.arguments,
            body,
            result,
            calls: vec![],
            span,
        }
    }
}

//! Building loop trees with hooks, and reading them as plain Rust values.

use std::ffi::c_void;
use std::ops::ControlFlow;
use std::panic::resume_unwind;

use super::ast::{AstBuild, AstExpr, AstExprKind, AstNode, AstNodeKind, AstOp};
use super::callback::{Stop, guarded};
use super::ctx::Ctx;
use super::error::{IslError, IslErrorKind};
use super::macros::{Object, Returned};
use super::schedule::Schedule;
use super::value::Id;

/// An expression as plain data.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum AstExprView {
    /// An operator and its arguments.
    Op(AstOp, Vec<AstExprView>),
    /// A name: an iterator, a parameter, an array or a statement.
    Id(String),
    /// An integer.
    Int(i64),
}

/// A loop tree as plain data; annotations are the names of the ids attached.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum AstNodeView {
    /// `for (iterator = init; cond; iterator += inc) body`.
    For {
        /// The iterator's name.
        iterator: String,
        /// Its first value.
        init: AstExprView,
        /// The condition to go on.
        cond: AstExprView,
        /// Its step.
        inc: AstExprView,
        /// Whether the loop runs exactly once, and is printed as an assignment.
        degenerate: bool,
        /// What is repeated.
        body: Box<AstNodeView>,
        /// The name attached.
        annotation: Option<String>,
    },
    /// `if (cond) then else otherwise`.
    If {
        /// The condition.
        cond: AstExprView,
        /// Where it holds.
        then: Box<AstNodeView>,
        /// Where it fails.
        otherwise: Option<Box<AstNodeView>>,
    },
    /// Several in order.
    Block(Vec<AstNodeView>),
    /// A mark of the schedule tree.
    Mark {
        /// Its name.
        name: String,
        /// What is marked.
        body: Box<AstNodeView>,
    },
    /// A statement.
    User {
        /// Usually a [`AstOp::Call`] of the statement with its iterators.
        expr: AstExprView,
        /// The name attached.
        annotation: Option<String>,
    },
}

/// Replaces a node, just built, by another; the build is that of its place and may be kept.
pub type NodeHook<'a> = &'a mut dyn FnMut(AstNode, &AstBuild) -> Result<AstNode, IslError>;

/// What to do while loops are built.
#[derive(Default)]
pub struct Hooks<'a> {
    /// For each statement.
    pub at_each_domain: Option<NodeHook<'a>>,
    /// For each loop, from inner to outer.
    pub after_each_for: Option<NodeHook<'a>>,
    /// For each mark, from inner to outer.
    pub after_each_mark: Option<NodeHook<'a>>,
}

impl AstExpr {
    /// As plain data.
    pub fn view(&self) -> Result<AstExprView, IslError> {
        match self.kind()? {
            AstExprKind::Op => {
                let args = (0..self.arg_count()?.cast_signed()).map(|position| self.arg(position)?.view());
                Ok(AstExprView::Op(self.op_kind()?, args.collect::<Result<_, _>>()?))
            }
            AstExprKind::Id => Ok(AstExprView::Id(name_of(&self.id()?)?)),
            AstExprKind::Int => self.int_val()?.to_i64().map(AstExprView::Int).ok_or_else(|| IslError {
                kind: IslErrorKind::Unsupported,
                message: "an integer of a loop tree exceeds 64 bits".into(),
            }),
        }
    }
}

impl AstNode {
    /// As plain data, the whole subtree.
    pub fn view(&self) -> Result<AstNodeView, IslError> {
        match self.kind()? {
            AstNodeKind::For => Ok(AstNodeView::For {
                iterator: name_of(&self.for_iterator()?.id()?)?,
                init: self.for_init()?.view()?,
                cond: self.for_cond()?.view()?,
                inc: self.for_inc()?.view()?,
                degenerate: self.is_for_degenerate()?,
                body: Box::new(self.for_body()?.view()?),
                annotation: self.annotation()?.as_ref().map(name_of).transpose()?,
            }),
            AstNodeKind::If => Ok(AstNodeView::If {
                cond: self.if_cond()?.view()?,
                then: Box::new(self.if_then()?.view()?),
                otherwise: if self.if_has_else()? { Some(Box::new(self.if_else()?.view()?)) } else { None },
            }),
            AstNodeKind::Block => {
                Ok(AstNodeView::Block(self.block_children()?.iter().map(AstNode::view).collect::<Result<_, _>>()?))
            }
            AstNodeKind::Mark => {
                Ok(AstNodeView::Mark { name: name_of(&self.mark_id()?)?, body: Box::new(self.mark_body()?.view()?) })
            }
            AstNodeKind::User => Ok(AstNodeView::User {
                expr: self.user_expr()?.view()?,
                annotation: self.annotation()?.as_ref().map(name_of).transpose()?,
            }),
        }
    }
}

type NodeFn = unsafe extern "C" fn(node: usize, build: usize, user: *mut c_void) -> usize;

unsafe extern "C" {
    fn isl_ast_build_copy(build: usize) -> usize;
    fn isl_ast_build_set_at_each_domain(build: usize, hook: Option<NodeFn>, user: *mut c_void) -> usize;
    fn isl_ast_build_set_after_each_for(build: usize, hook: Option<NodeFn>, user: *mut c_void) -> usize;
    fn isl_ast_build_set_after_each_mark(build: usize, hook: Option<NodeFn>, user: *mut c_void) -> usize;
}

struct Building<'a, 'h> {
    ctx: &'a Ctx,
    hooks: Hooks<'h>,
    stop: Option<Stop<IslError>>,
}

const AT_EACH_DOMAIN: u8 = 0;
const AFTER_EACH_FOR: u8 = 1;
const AFTER_EACH_MARK: u8 = 2;

impl AstBuild {
    /// The loops of a schedule, with hooks; a hook's error ends the building and is returned, a panic goes on.
    pub fn node_from_schedule_with(&self, schedule: &Schedule, hooks: Hooks<'_>) -> Result<AstNode, IslError> {
        let ctx = self.ctx();
        ctx.check_same(schedule.ctx())?;
        let mut state = Building { ctx, hooks, stop: None };
        let user: *mut c_void = (&raw mut state).cast();
        // SAFETY: each setter takes a build of our own and gives it back or null. Only this build, dropped below, and
        // those isl makes of it while building know `state`, which outlives them; `step` gives hooks none of these.
        let node = unsafe {
            let mut build = isl_ast_build_copy(self.ptr());
            if state.hooks.at_each_domain.is_some() {
                build = isl_ast_build_set_at_each_domain(build, Some(step::<AT_EACH_DOMAIN>), user);
            }
            if state.hooks.after_each_for.is_some() {
                build = isl_ast_build_set_after_each_for(build, Some(step::<AFTER_EACH_FOR>), user);
            }
            if state.hooks.after_each_mark.is_some() {
                build = isl_ast_build_set_after_each_mark(build, Some(step::<AFTER_EACH_MARK>), user);
            }
            AstBuild::from_c(ctx, build).and_then(|build| build.node_from_schedule(schedule))
        };
        match state.stop {
            Some(Stop::Panic(panic)) => resume_unwind(panic),
            Some(Stop::Break(error)) => Err(error),
            None => node,
        }
    }
}

unsafe extern "C" fn step<const HOOK: u8>(node: usize, build: usize, user: *mut c_void) -> usize {
    // SAFETY: `user` is the `Building` above, borrowed by nobody else, since hooks never see a build that knows it; the
    // node is given to us; the build is lent, and copied without hooks.
    let (state, node, build) = unsafe {
        let state = &mut *user.cast::<Building<'_, '_>>();
        let node = AstNode::adopt(state.ctx, node);
        let mut own = isl_ast_build_copy(build);
        own = isl_ast_build_set_at_each_domain(own, None, std::ptr::null_mut());
        own = isl_ast_build_set_after_each_for(own, None, std::ptr::null_mut());
        own = isl_ast_build_set_after_each_mark(own, None, std::ptr::null_mut());
        let build = AstBuild::from_c(state.ctx, own);
        (state, node, build)
    };
    let ctx = state.ctx;
    let hook = match HOOK {
        AT_EACH_DOMAIN => &mut state.hooks.at_each_domain,
        AFTER_EACH_FOR => &mut state.hooks.after_each_for,
        _ => &mut state.hooks.after_each_mark,
    };
    let replaced = guarded(|| {
        let result = build.and_then(|build| match hook {
            Some(hook) => hook(node, &build),
            None => Ok(node),
        });
        match result.and_then(|node| ctx.check_same(node.ctx()).map(|()| node)) {
            Ok(node) => ControlFlow::Continue(node),
            Err(error) => ControlFlow::Break(error),
        }
    });
    match replaced {
        Ok(node) => node.copy_ptr(),
        Err(stop) => {
            state.stop = Some(stop);
            0
        }
    }
}

fn name_of(id: &Id) -> Result<String, IslError> {
    id.name()?.ok_or_else(|| IslError::invalid("an id of a loop tree has no name"))
}

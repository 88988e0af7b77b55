//! Loop trees built from schedules.

use std::ffi::c_int;

use super::aff::PwAff;
use super::ctx::Ctx;
use super::error::IslError;
use super::macros::{Returned, constructors, listed, methods, object};
use super::multi::{MultiPwAff, PwMultiAff};
use super::schedule::Schedule;
use super::set::Set;
use super::union::UnionMap;
use super::value::{Id, Space, Val};

/// An operator of an [`AstExpr`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AstOp {
    /// Both, both evaluated.
    And,
    /// Both, the second only where the first holds.
    AndThen,
    /// Either, both evaluated.
    Or,
    /// Either, the second only where the first fails.
    OrElse,
    /// The greatest of two or more.
    Max,
    /// The least of two or more.
    Min,
    /// The negated argument.
    Minus,
    /// The sum.
    Add,
    /// The difference.
    Sub,
    /// The product.
    Mul,
    /// The exact quotient.
    Div,
    /// The quotient rounded down.
    FdivQ,
    /// The quotient of a non-negative dividend.
    PdivQ,
    /// The remainder of a non-negative dividend.
    PdivR,
    /// A remainder that is only compared with zero, of either sign.
    ZdivR,
    /// `a ? b : c`, one of them evaluated.
    Cond,
    /// `a ? b : c`, both may be evaluated.
    Select,
    /// Whether both are equal.
    Eq,
    /// Whether the first is not larger.
    Le,
    /// Whether the first is smaller.
    Lt,
    /// Whether the first is not smaller.
    Ge,
    /// Whether the first is larger.
    Gt,
    /// A function and its arguments.
    Call,
    /// An array and its indices.
    Access,
    /// A structure and a member.
    Member,
    /// The address of an access.
    AddressOf,
}

impl Returned for AstOp {
    type C = c_int;
    unsafe fn from_c(ctx: &Ctx, value: c_int) -> Result<Self, IslError> {
        match value {
            0 => Ok(AstOp::And),
            1 => Ok(AstOp::AndThen),
            2 => Ok(AstOp::Or),
            3 => Ok(AstOp::OrElse),
            4 => Ok(AstOp::Max),
            5 => Ok(AstOp::Min),
            6 => Ok(AstOp::Minus),
            7 => Ok(AstOp::Add),
            8 => Ok(AstOp::Sub),
            9 => Ok(AstOp::Mul),
            10 => Ok(AstOp::Div),
            11 => Ok(AstOp::FdivQ),
            12 => Ok(AstOp::PdivQ),
            13 => Ok(AstOp::PdivR),
            14 => Ok(AstOp::ZdivR),
            15 => Ok(AstOp::Cond),
            16 => Ok(AstOp::Select),
            17 => Ok(AstOp::Eq),
            18 => Ok(AstOp::Le),
            19 => Ok(AstOp::Lt),
            20 => Ok(AstOp::Ge),
            21 => Ok(AstOp::Gt),
            22 => Ok(AstOp::Call),
            23 => Ok(AstOp::Access),
            24 => Ok(AstOp::Member),
            25 => Ok(AstOp::AddressOf),
            _ => Err(ctx.take_error()),
        }
    }
}

/// What an [`AstExpr`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AstExprKind {
    /// An operator with arguments.
    Op,
    /// A name.
    Id,
    /// An integer.
    Int,
}

impl Returned for AstExprKind {
    type C = c_int;
    unsafe fn from_c(ctx: &Ctx, value: c_int) -> Result<Self, IslError> {
        match value {
            0 => Ok(AstExprKind::Op),
            1 => Ok(AstExprKind::Id),
            2 => Ok(AstExprKind::Int),
            _ => Err(ctx.take_error()),
        }
    }
}

/// What an [`AstNode`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AstNodeKind {
    /// A loop.
    For,
    /// A condition.
    If,
    /// Several in order.
    Block,
    /// A name around a node.
    Mark,
    /// A statement.
    User,
}

impl Returned for AstNodeKind {
    type C = c_int;
    unsafe fn from_c(ctx: &Ctx, value: c_int) -> Result<Self, IslError> {
        match value {
            1 => Ok(AstNodeKind::For),
            2 => Ok(AstNodeKind::If),
            3 => Ok(AstNodeKind::Block),
            4 => Ok(AstNodeKind::Mark),
            5 => Ok(AstNodeKind::User),
            _ => Err(ctx.take_error()),
        }
    }
}

object! {
    /// An expression of a loop tree.
    AstExpr: isl_rs::ASTExpr, isl_ast_expr_copy, text isl_ast_expr_to_str;
}

constructors! { AstExpr {
    /// An integer.
    fn from_val(value: take Val) -> AstExpr = isl_ast_expr_from_val;
    /// A name.
    fn from_id(id: take Id) -> AstExpr = isl_ast_expr_from_id;
} }

methods! { AstExpr {
    /// What it is.
    fn kind(keep self) -> AstExprKind = isl_ast_expr_get_type;
    /// Its operator.
    fn op_kind(keep self) -> AstOp = isl_ast_expr_op_get_type;
    /// Number of its arguments.
    fn arg_count(keep self) -> u32 = isl_ast_expr_op_get_n_arg;
    /// Its argument at `pos`.
    fn arg(keep self, pos: val i32) -> AstExpr = isl_ast_expr_op_get_arg;
    /// Its name.
    fn id(keep self) -> Id = isl_ast_expr_id_get_id;
    /// Its integer.
    fn int_val(keep self) -> Val = isl_ast_expr_int_get_val;
    /// Whether both are the same expression.
    fn is_equal(keep self, other: keep AstExpr) -> bool = isl_ast_expr_is_equal;
    /// As C.
    fn to_c_text(keep self) -> String = isl_ast_expr_to_C_str;
    /// The sum.
    fn add(take self, other: take AstExpr) -> AstExpr = isl_ast_expr_add;
    /// The difference.
    fn sub(take self, other: take AstExpr) -> AstExpr = isl_ast_expr_sub;
    /// The product.
    fn mul(take self, other: take AstExpr) -> AstExpr = isl_ast_expr_mul;
    /// The exact quotient.
    fn div(take self, other: take AstExpr) -> AstExpr = isl_ast_expr_div;
    /// The negated expression.
    fn neg(take self) -> AstExpr = isl_ast_expr_neg;
    /// Both.
    fn and(take self, other: take AstExpr) -> AstExpr = isl_ast_expr_and;
    /// Either.
    fn or(take self, other: take AstExpr) -> AstExpr = isl_ast_expr_or;
    /// Whether `self <= other`.
    fn le(take self, other: take AstExpr) -> AstExpr = isl_ast_expr_le;
    /// Whether `self < other`.
    fn lt(take self, other: take AstExpr) -> AstExpr = isl_ast_expr_lt;
    /// Whether `self >= other`.
    fn ge(take self, other: take AstExpr) -> AstExpr = isl_ast_expr_ge;
    /// Whether `self > other`.
    fn gt(take self, other: take AstExpr) -> AstExpr = isl_ast_expr_gt;
    /// Whether both are equal.
    fn eq_expr(take self, other: take AstExpr) -> AstExpr = isl_ast_expr_eq;
    /// An element of an array.
    fn access(take self, other: list AstExpr) -> AstExpr = isl_ast_expr_access;
    /// A function applied.
    fn call(take self, other: list AstExpr) -> AstExpr = isl_ast_expr_call;
} }

object! {
    /// A loop, condition, block, mark or statement.
    AstNode: isl_rs::ASTNode, isl_ast_node_copy, text isl_ast_node_to_str;
}

constructors! { AstNode {
    /// A statement.
    fn user(expr: take AstExpr) -> AstNode = isl_ast_node_user_from_expr;
    /// Several in order.
    fn block(list: list AstNode) -> AstNode = isl_ast_node_block_from_children;
} }

methods! { AstNode {
    /// What it is.
    fn kind(keep self) -> AstNodeKind = isl_ast_node_get_type;
    /// The id attached.
    fn annotation(keep self) -> Option<Id> = isl_ast_node_get_annotation;
    /// Attaches an id.
    fn set_annotation(take self, annotation: take Id) -> AstNode = isl_ast_node_set_annotation;
    /// The iterator of a loop.
    fn for_iterator(keep self) -> AstExpr = isl_ast_node_for_get_iterator;
    /// Its first value.
    fn for_init(keep self) -> AstExpr = isl_ast_node_for_get_init;
    /// The condition to go on.
    fn for_cond(keep self) -> AstExpr = isl_ast_node_for_get_cond;
    /// Its step.
    fn for_inc(keep self) -> AstExpr = isl_ast_node_for_get_inc;
    /// The body of a loop.
    fn for_body(keep self) -> AstNode = isl_ast_node_for_get_body;
    /// Whether the loop runs exactly once.
    fn is_for_degenerate(keep self) -> bool = isl_ast_node_for_is_degenerate;
    /// The condition.
    fn if_cond(keep self) -> AstExpr = isl_ast_node_if_get_cond;
    /// The part where it holds.
    fn if_then(keep self) -> AstNode = isl_ast_node_if_get_then_node;
    /// Whether there is another part.
    fn if_has_else(keep self) -> bool = isl_ast_node_if_has_else_node;
    /// The other part.
    fn if_else(keep self) -> AstNode = isl_ast_node_if_get_else_node;
    /// The children of a block.
    fn block_children(keep self) -> Vec<AstNode> = isl_ast_node_block_get_children;
    /// The name of a mark.
    fn mark_id(keep self) -> Id = isl_ast_node_mark_get_id;
    /// What is marked.
    fn mark_body(keep self) -> AstNode = isl_ast_node_mark_get_node;
    /// The expression of a statement.
    fn user_expr(keep self) -> AstExpr = isl_ast_node_user_get_expr;
    /// As C.
    fn to_c_text(keep self) -> String = isl_ast_node_to_C_str;
} }

object! {
    /// The context in which loops and expressions are built.
    AstBuild: super::raw::AstBuildHandle, isl_ast_build_copy;
}

constructors! { AstBuild {
    /// Without context.
    fn new(ctx: within Ctx) -> AstBuild = isl_ast_build_alloc;
    /// Where the parameters are in `set`.
    fn from_context(set: take Set) -> AstBuild = isl_ast_build_from_context;
} }

methods! { AstBuild {
    /// The map from instances to the loops built so far.
    fn schedule(keep self) -> UnionMap = isl_ast_build_get_schedule;
    /// The space of the loops built so far.
    fn schedule_space(keep self) -> Space = isl_ast_build_get_schedule_space;
    /// Where the loops are in `set`.
    fn restrict(take self, set: take Set) -> AstBuild = isl_ast_build_restrict;
    /// Options for `node_from_schedule_map`.
    fn set_options(take self, options: take UnionMap) -> AstBuild = isl_ast_build_set_options;
    /// Names of the iterators, outermost first.
    fn set_iterators(take self, iterators: list Id) -> AstBuild = isl_ast_build_set_iterators;
    /// The condition of being in a set.
    fn expr_from_set(keep self, set: take Set) -> AstExpr = isl_ast_build_expr_from_set;
    /// An expression.
    fn expr_from_pw_aff(keep self, pa: take PwAff) -> AstExpr = isl_ast_build_expr_from_pw_aff;
    /// An array element.
    fn access_from_pw_multi_aff(keep self, pma: take PwMultiAff) -> AstExpr = isl_ast_build_access_from_pw_multi_aff;
    /// An array element.
    fn access_from_multi_pw_aff(keep self, mpa: take MultiPwAff) -> AstExpr = isl_ast_build_access_from_multi_pw_aff;
    /// A function call.
    fn call_from_pw_multi_aff(keep self, pma: take PwMultiAff) -> AstExpr = isl_ast_build_call_from_pw_multi_aff;
    /// A function call.
    fn call_from_multi_pw_aff(keep self, mpa: take MultiPwAff) -> AstExpr = isl_ast_build_call_from_multi_pw_aff;
    /// The loops of a schedule.
    fn node_from_schedule(keep self, schedule: take Schedule) -> AstNode = isl_ast_build_node_from_schedule;
    /// The loops of a map to time.
    fn node_from_schedule_map(keep self, schedule: take UnionMap) -> AstNode = isl_ast_build_node_from_schedule_map;
} }

listed! {
    AstExpr: isl_ast_expr_list_alloc, isl_ast_expr_list_add, isl_ast_expr_list_size, isl_ast_expr_list_get_at, isl_ast_expr_list_free;
    AstNode: isl_ast_node_list_alloc, isl_ast_node_list_add, isl_ast_node_list_size, isl_ast_node_list_get_at, isl_ast_node_list_free;
}

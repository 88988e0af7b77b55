//! Schedule trees.

use std::ffi::c_int;

use super::ctx::Ctx;
use super::error::IslError;
use super::macros::{Plain, Returned, constructors, methods, object};
use super::set::Set;
use super::union::{UnionMap, UnionSet};
use super::union_aff::{MultiUnionPwAff, UnionPwMultiAff};
use super::value::{Id, MultiVal, Space};

/// How the loop of a band member is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LoopType {
    /// As isl sees fit.
    Default,
    /// A single loop, conditions inside.
    Atomic,
    /// Unrolled completely.
    Unroll,
    /// Split into parts without conditions.
    Separate,
}

impl Plain for LoopType {
    type C = c_int;
    fn into_c(self) -> c_int {
        match self {
            LoopType::Default => 0,
            LoopType::Atomic => 1,
            LoopType::Unroll => 2,
            LoopType::Separate => 3,
        }
    }
}

impl Returned for LoopType {
    type C = c_int;
    unsafe fn from_c(ctx: &Ctx, value: c_int) -> Result<Self, IslError> {
        match value {
            0 => Ok(LoopType::Default),
            1 => Ok(LoopType::Atomic),
            2 => Ok(LoopType::Unroll),
            3 => Ok(LoopType::Separate),
            _ => Err(ctx.take_error()),
        }
    }
}

/// What a node of a schedule tree is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScheduleNodeKind {
    /// Orders instances by expressions.
    Band,
    /// States what is known of parameters.
    Context,
    /// The root: all instances.
    Domain,
    /// Replaces instances by several each.
    Expansion,
    /// Adds instances.
    Extension,
    /// Keeps some instances.
    Filter,
    /// The end of a branch.
    Leaf,
    /// A condition to be tested.
    Guard,
    /// A name.
    Mark,
    /// Children in order.
    Sequence,
    /// Children in any order.
    Set,
}

impl Returned for ScheduleNodeKind {
    type C = c_int;
    unsafe fn from_c(ctx: &Ctx, value: c_int) -> Result<Self, IslError> {
        match value {
            0 => Ok(ScheduleNodeKind::Band),
            1 => Ok(ScheduleNodeKind::Context),
            2 => Ok(ScheduleNodeKind::Domain),
            3 => Ok(ScheduleNodeKind::Expansion),
            4 => Ok(ScheduleNodeKind::Extension),
            5 => Ok(ScheduleNodeKind::Filter),
            6 => Ok(ScheduleNodeKind::Leaf),
            7 => Ok(ScheduleNodeKind::Guard),
            8 => Ok(ScheduleNodeKind::Mark),
            9 => Ok(ScheduleNodeKind::Sequence),
            10 => Ok(ScheduleNodeKind::Set),
            _ => Err(ctx.take_error()),
        }
    }
}

object! {
    /// A schedule tree.
    Schedule: isl_rs::Schedule, isl_schedule_copy, text isl_schedule_to_str, parse isl_schedule_read_from_str;
}

constructors! { Schedule {
    /// No instance in a space.
    fn empty(space: take Space) -> Schedule = isl_schedule_empty;
    /// All instances of a domain, without order.
    fn from_domain(domain: take UnionSet) -> Schedule = isl_schedule_from_domain;
} }

methods! { Schedule {
    /// Its instances.
    fn domain(keep self) -> UnionSet = isl_schedule_get_domain;
    /// Its root, a domain node.
    fn root(keep self) -> ScheduleNode = isl_schedule_get_root;
    /// The whole order as a map to time, padded with zeros.
    fn map(keep self) -> UnionMap = isl_schedule_get_map;
    /// Inserts a band below the root.
    fn insert_partial_schedule(
        take self,
        partial: take MultiUnionPwAff
    ) -> Schedule = isl_schedule_insert_partial_schedule;
    /// Inserts a context below the root.
    fn insert_context(take self, context: take Set) -> Schedule = isl_schedule_insert_context;
    /// Inserts a guard below the root.
    fn insert_guard(take self, guard: take Set) -> Schedule = isl_schedule_insert_guard;
    /// The instances of the first before those of the second.
    fn sequence(take self, other: take Schedule) -> Schedule = isl_schedule_sequence;
    /// Both, in any order.
    fn in_any_order(take self, other: take Schedule) -> Schedule = isl_schedule_set;
    /// Restricted to a domain.
    fn intersect_domain(take self, domain: take UnionSet) -> Schedule = isl_schedule_intersect_domain;
    /// Simplified where the parameters are in `context`.
    fn gist_domain_params(take self, context: take Set) -> Schedule = isl_schedule_gist_domain_params;
    /// The schedule of other instances, sent to these by `upma`.
    fn pullback_union_pw_multi_aff(
        take self,
        upma: take UnionPwMultiAff
    ) -> Schedule = isl_schedule_pullback_union_pw_multi_aff;
    /// Replaces instances by several, and refines their order by `expansion`.
    fn expand(take self, contraction: take UnionPwMultiAff, other: take Schedule) -> Schedule = isl_schedule_expand;
    /// Whether both are obviously equal.
    fn is_plainly_equal(keep self, other: keep Schedule) -> bool = isl_schedule_plain_is_equal;
    /// Adds and reorders parameters as in `space`.
    fn align_params(take self, space: take Space) -> Schedule = isl_schedule_align_params;
} }

object! {
    /// A place in a schedule tree, with the tree.
    ScheduleNode: isl_rs::ScheduleNode, isl_schedule_node_copy, text isl_schedule_node_to_str;
}

constructors! { ScheduleNode {
    /// The root of a new tree.
    fn from_domain(domain: take UnionSet) -> ScheduleNode = isl_schedule_node_from_domain;
    /// The root of a tree to graft.
    fn from_extension(extension: take UnionMap) -> ScheduleNode = isl_schedule_node_from_extension;
} }

methods! { ScheduleNode {
    /// What it is.
    fn kind(keep self) -> ScheduleNodeKind = isl_schedule_node_get_type;
    /// What its parent is.
    fn parent_kind(keep self) -> ScheduleNodeKind = isl_schedule_node_get_parent_type;
    /// Whether both are the same place in equal trees.
    fn is_equal(keep self, other: keep ScheduleNode) -> bool = isl_schedule_node_is_equal;
    /// The whole tree.
    fn schedule(keep self) -> Schedule = isl_schedule_node_get_schedule;
    /// Number of ancestors.
    fn tree_depth(keep self) -> u32 = isl_schedule_node_get_tree_depth;
    /// Number of band members of its ancestors.
    fn schedule_depth(keep self) -> u32 = isl_schedule_node_get_schedule_depth;
    /// Whether it is not the root.
    fn has_parent(keep self) -> bool = isl_schedule_node_has_parent;
    /// Whether it is not a leaf.
    fn has_children(keep self) -> bool = isl_schedule_node_has_children;
    /// Whether a sibling precedes.
    fn has_previous_sibling(keep self) -> bool = isl_schedule_node_has_previous_sibling;
    /// Whether a sibling follows.
    fn has_next_sibling(keep self) -> bool = isl_schedule_node_has_next_sibling;
    /// Number of its children.
    fn child_count(keep self) -> u32 = isl_schedule_node_n_children;
    /// Its place among its siblings.
    fn child_position(keep self) -> u32 = isl_schedule_node_get_child_position;
    /// The child of `ancestor` that it descends from.
    fn ancestor_child_position(
        keep self,
        other: keep ScheduleNode
    ) -> u32 = isl_schedule_node_get_ancestor_child_position;
    /// The deepest common ancestor.
    fn shared_ancestor(keep self, other: keep ScheduleNode) -> ScheduleNode = isl_schedule_node_get_shared_ancestor;
    /// The root.
    fn root(take self) -> ScheduleNode = isl_schedule_node_root;
    /// Its parent.
    fn parent(take self) -> ScheduleNode = isl_schedule_node_parent;
    /// Its `generation`-th ancestor.
    fn ancestor(take self, generation: val i32) -> ScheduleNode = isl_schedule_node_ancestor;
    /// Its child at `pos`.
    fn child(take self, pos: val i32) -> ScheduleNode = isl_schedule_node_child;
    /// The child at `pos2` of its child at `pos1`.
    fn grandchild(take self, pos1: val i32, pos2: val i32) -> ScheduleNode = isl_schedule_node_grandchild;
    /// Its first child.
    fn first_child(take self) -> ScheduleNode = isl_schedule_node_first_child;
    /// The sibling that follows.
    fn next_sibling(take self) -> ScheduleNode = isl_schedule_node_next_sibling;
    /// The sibling that precedes.
    fn previous_sibling(take self) -> ScheduleNode = isl_schedule_node_previous_sibling;
    /// Removes its subtree.
    fn cut(take self) -> ScheduleNode = isl_schedule_node_cut;
    /// Removes the node, keeps its child.
    fn delete(take self) -> ScheduleNode = isl_schedule_node_delete;
    /// Groups the instances of the subtree under a name.
    fn group(take self, group_id: take Id) -> ScheduleNode = isl_schedule_node_group;
    /// The instances that reach it.
    fn domain(keep self) -> UnionSet = isl_schedule_node_get_domain;
    /// The spaces of the instances that reach it.
    fn universe_domain(keep self) -> UnionSet = isl_schedule_node_get_universe_domain;
    /// The order by its ancestors, as expressions.
    fn prefix_schedule_multi_union_pw_aff(
        keep self
    ) -> MultiUnionPwAff = isl_schedule_node_get_prefix_schedule_multi_union_pw_aff;
    /// The order by its ancestors, without extensions.
    fn prefix_schedule_union_map(keep self) -> UnionMap = isl_schedule_node_get_prefix_schedule_union_map;
    /// The order by its ancestors, as expressions.
    fn prefix_schedule_union_pw_multi_aff(
        keep self
    ) -> UnionPwMultiAff = isl_schedule_node_get_prefix_schedule_union_pw_multi_aff;
    /// The order by its ancestors, with the filter applied.
    fn prefix_schedule_relation(keep self) -> UnionMap = isl_schedule_node_get_prefix_schedule_relation;
    /// The order by its subtree.
    fn subtree_schedule_union_map(keep self) -> UnionMap = isl_schedule_node_get_subtree_schedule_union_map;
    /// The expansion by its subtree.
    fn subtree_expansion(keep self) -> UnionMap = isl_schedule_node_get_subtree_expansion;
    /// The contraction by its subtree.
    fn subtree_contraction(keep self) -> UnionPwMultiAff = isl_schedule_node_get_subtree_contraction;
    /// Whether its subtree depends on outer bands.
    fn is_subtree_anchored(keep self) -> bool = isl_schedule_node_is_subtree_anchored;
    /// Inserts a band above it.
    fn insert_partial_schedule(
        take self,
        schedule: take MultiUnionPwAff
    ) -> ScheduleNode = isl_schedule_node_insert_partial_schedule;
    /// Inserts a sequence of filters above it.
    fn insert_sequence(take self, filters: list UnionSet) -> ScheduleNode = isl_schedule_node_insert_sequence;
    /// Inserts a set of filters above it.
    fn insert_set(take self, filters: list UnionSet) -> ScheduleNode = isl_schedule_node_insert_set;
    /// Inserts a filter above it.
    fn insert_filter(take self, filter: take UnionSet) -> ScheduleNode = isl_schedule_node_insert_filter;
    /// Inserts a mark above it.
    fn insert_mark(take self, mark: take Id) -> ScheduleNode = isl_schedule_node_insert_mark;
    /// Inserts a context above it.
    fn insert_context(take self, context: take Set) -> ScheduleNode = isl_schedule_node_insert_context;
    /// Inserts a guard above it.
    fn insert_guard(take self, context: take Set) -> ScheduleNode = isl_schedule_node_insert_guard;
    /// Splits, so that the instances of `filter` come first.
    fn order_before(take self, filter: take UnionSet) -> ScheduleNode = isl_schedule_node_order_before;
    /// Splits, so that the instances of `filter` come last.
    fn order_after(take self, filter: take UnionSet) -> ScheduleNode = isl_schedule_node_order_after;
    /// Executes `graft` before it.
    fn graft_before(take self, other: take ScheduleNode) -> ScheduleNode = isl_schedule_node_graft_before;
    /// Executes `graft` after it.
    fn graft_after(take self, other: take ScheduleNode) -> ScheduleNode = isl_schedule_node_graft_after;
    /// Adds and reorders parameters as in `space`.
    fn align_params(take self, space: take Space) -> ScheduleNode = isl_schedule_node_align_params;
    /// The space of a band.
    fn band_space(keep self) -> Space = isl_schedule_node_band_get_space;
    /// Number of members of a band.
    fn band_member_count(keep self) -> u32 = isl_schedule_node_band_n_member;
    /// The expressions of a band.
    fn band_partial_schedule(keep self) -> MultiUnionPwAff = isl_schedule_node_band_get_partial_schedule;
    /// The expressions of a band as a map.
    fn band_partial_schedule_union_map(keep self) -> UnionMap = isl_schedule_node_band_get_partial_schedule_union_map;
    /// Whether the members of a band may be interchanged.
    fn band_permutable(keep self) -> bool = isl_schedule_node_band_get_permutable;
    /// Sets whether the members of a band may be interchanged.
    fn band_set_permutable(take self, permutable: val bool) -> ScheduleNode = isl_schedule_node_band_set_permutable;
    /// Whether a member carries no dependence.
    fn band_member_coincident(keep self, pos: val i32) -> bool = isl_schedule_node_band_member_get_coincident;
    /// Sets whether a member carries no dependence.
    fn band_member_set_coincident(
        take self,
        pos: val i32,
        coincident: val bool
    ) -> ScheduleNode = isl_schedule_node_band_member_set_coincident;
    /// How the loop of a member is built.
    fn band_member_loop_type(keep self, pos: val i32) -> LoopType = isl_schedule_node_band_member_get_ast_loop_type;
    /// Sets how the loop of a member is built.
    fn band_member_set_loop_type(
        take self,
        pos: val i32,
        dim: val LoopType
    ) -> ScheduleNode = isl_schedule_node_band_member_set_ast_loop_type;
    /// How the loop of a member is built in the isolated part.
    fn band_member_isolate_loop_type(
        keep self,
        pos: val i32
    ) -> LoopType = isl_schedule_node_band_member_get_isolate_ast_loop_type;
    /// Sets how the loop of a member is built in the isolated part.
    fn band_member_set_isolate_loop_type(
        take self,
        pos: val i32,
        dim: val LoopType
    ) -> ScheduleNode = isl_schedule_node_band_member_set_isolate_ast_loop_type;
    /// The options of a band.
    fn band_ast_build_options(keep self) -> UnionSet = isl_schedule_node_band_get_ast_build_options;
    /// Sets the options of a band, loop types included.
    fn band_set_ast_build_options(
        take self,
        options: take UnionSet
    ) -> ScheduleNode = isl_schedule_node_band_set_ast_build_options;
    /// The isolated part of a band.
    fn band_ast_isolate_option(keep self) -> Set = isl_schedule_node_band_get_ast_isolate_option;
    /// Multiplies members by values.
    fn band_scale(take self, mv: take MultiVal) -> ScheduleNode = isl_schedule_node_band_scale;
    /// Divides members by values, rounding down.
    fn band_scale_down(take self, mv: take MultiVal) -> ScheduleNode = isl_schedule_node_band_scale_down;
    /// Members modulo values.
    fn band_modulo(take self, mv: take MultiVal) -> ScheduleNode = isl_schedule_node_band_mod;
    /// Adds to members.
    fn band_shift(take self, shift: take MultiUnionPwAff) -> ScheduleNode = isl_schedule_node_band_shift;
    /// Splits a band into tile and point bands.
    fn band_tile(take self, sizes: take MultiVal) -> ScheduleNode = isl_schedule_node_band_tile;
    /// Splits a band after `pos` members.
    fn band_split(take self, pos: val i32) -> ScheduleNode = isl_schedule_node_band_split;
    /// Moves a band to the leaves.
    fn band_sink(take self) -> ScheduleNode = isl_schedule_node_band_sink;
    /// The context of a context node.
    fn context(keep self) -> Set = isl_schedule_node_context_get_context;
    /// The domain of a domain node.
    fn domain_domain(keep self) -> UnionSet = isl_schedule_node_domain_get_domain;
    /// The map of an extension node.
    fn extension(keep self) -> UnionMap = isl_schedule_node_extension_get_extension;
    /// The contraction of an expansion node.
    fn expansion_contraction(keep self) -> UnionPwMultiAff = isl_schedule_node_expansion_get_contraction;
    /// The map of an expansion node.
    fn expansion_expansion(keep self) -> UnionMap = isl_schedule_node_expansion_get_expansion;
    /// The filter of a filter node.
    fn filter(keep self) -> UnionSet = isl_schedule_node_filter_get_filter;
    /// The guard of a guard node.
    fn guard(keep self) -> Set = isl_schedule_node_guard_get_guard;
    /// The name of a mark node.
    fn mark_id(keep self) -> Id = isl_schedule_node_mark_get_id;
    /// Splices a sequence that is a child's child into this sequence.
    fn sequence_splice_child(take self, pos: val i32) -> ScheduleNode = isl_schedule_node_sequence_splice_child;
    /// Splices all sequences that are children's children into this sequence.
    fn sequence_splice_children(take self) -> ScheduleNode = isl_schedule_node_sequence_splice_children;
} }

impl ScheduleNode {
    /// Its children in order.
    pub fn children(&self) -> Result<Vec<ScheduleNode>, IslError> {
        (0..self.child_count()?.cast_signed()).map(|position| self.child(position)).collect()
    }
}

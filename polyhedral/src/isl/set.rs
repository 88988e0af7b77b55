//! Integer sets of one space.

use std::ffi::c_void;
use std::ops::ControlFlow;

use super::aff::{Aff, PwAff};
use super::callback::{ObjectFn, foreach_object};
use super::error::IslError;
use super::macros::{coalescing, constructors, listed, methods, object, simple_hulls};
use super::map::{BasicMap, Map};
use super::multi::{MultiAff, MultiPwAff, PwMultiAff};
use super::union::UnionSet;
use super::value::{DimType, Id, LocalSpace, MultiVal, Point, Space, Val};

object! {
    /// A conjunction of affine constraints on one tuple.
    BasicSet: isl_rs::BasicSet, isl_basic_set_copy, text isl_basic_set_to_str, parse isl_basic_set_read_from_str;
}

constructors! { BasicSet {
    /// All elements of a space.
    fn universe(space: take Space) -> BasicSet = isl_basic_set_universe;
    /// No element of a space.
    fn empty(space: take Space) -> BasicSet = isl_basic_set_empty;
    /// One point.
    fn from_point(pnt: take Point) -> BasicSet = isl_basic_set_from_point;
} }

methods! { BasicSet {
    /// Its space.
    fn space(keep self) -> Space = isl_basic_set_get_space;
    /// Number of dimensions of one kind.
    fn dim(keep self, dim: val DimType) -> u32 = isl_basic_set_dim;
    /// The elements in both.
    fn intersect(take self, other: take BasicSet) -> BasicSet = isl_basic_set_intersect;
    /// Restricted to parameter values.
    fn intersect_params(take self, other: take BasicSet) -> BasicSet = isl_basic_set_intersect_params;
    /// The image under a map.
    fn apply(take self, bmap: take BasicMap) -> BasicSet = isl_basic_set_apply;
    /// The smallest affine set around it.
    fn affine_hull(take self) -> BasicSet = isl_basic_set_affine_hull;
    /// Makes implied equalities explicit.
    fn detect_equalities(take self) -> BasicSet = isl_basic_set_detect_equalities;
    /// Drops constraints implied by others.
    fn remove_redundancies(take self) -> BasicSet = isl_basic_set_remove_redundancies;
    /// Drops integer divisions, which may enlarge it.
    fn remove_divs(take self) -> BasicSet = isl_basic_set_remove_divs;
    /// Whether it has no element.
    fn is_empty(keep self) -> bool = isl_basic_set_is_empty;
    /// Whether both have the same elements.
    fn is_equal(keep self, other: keep BasicSet) -> bool = isl_basic_set_is_equal;
    /// Whether each element is in the other.
    fn is_subset(keep self, other: keep BasicSet) -> bool = isl_basic_set_is_subset;
    /// Whether it has no constraint.
    fn is_universe(keep self) -> bool = isl_basic_set_is_universe;
    /// Whether it is bounded for all parameter values.
    fn is_bounded(keep self) -> bool = isl_basic_set_is_bounded;
    /// Whether it wraps a map.
    fn is_wrapping(keep self) -> bool = isl_basic_set_is_wrapping;
    /// Whether constraints involve any of these dimensions.
    fn involves_dims(keep self, dim: val DimType, first: val u32, n: val u32) -> bool = isl_basic_set_involves_dims;
    /// Its constraints.
    fn constraints(keep self) -> Vec<Constraint> = isl_basic_set_get_constraint_list;
    /// Number of its constraints.
    fn constraint_count(keep self) -> u32 = isl_basic_set_n_constraint;
    /// With one more constraint.
    fn add_constraint(take self, constraint: take Constraint) -> BasicSet = isl_basic_set_add_constraint;
    /// The lexicographically least elements.
    fn lexmin(take self) -> Set = isl_basic_set_lexmin;
    /// The lexicographically greatest elements.
    fn lexmax(take self) -> Set = isl_basic_set_lexmax;
    /// A subset of at most one element.
    fn sample(take self) -> BasicSet = isl_basic_set_sample;
    /// One element, or void.
    fn sample_point(take self) -> Point = isl_basic_set_sample_point;
    /// Forgets dimensions.
    fn project_out(take self, dim: val DimType, first: val u32, n: val u32) -> BasicSet = isl_basic_set_project_out;
    /// Its parameter values.
    fn params(take self) -> BasicSet = isl_basic_set_params;
    /// One dimension set to a value.
    fn fix_i32(take self, dim: val DimType, pos: val u32, value: val i32) -> BasicSet = isl_basic_set_fix_si;
    /// One dimension set to a value.
    fn fix(take self, dim: val DimType, pos: val u32, value: take Val) -> BasicSet = isl_basic_set_fix_val;
    /// Simplified where `context` holds.
    fn gist(take self, other: take BasicSet) -> BasicSet = isl_basic_set_gist;
    /// Its tuple as one flat tuple.
    fn flatten(take self) -> BasicSet = isl_basic_set_flatten;
    /// A wrapped map as a map.
    fn unwrap(take self) -> BasicMap = isl_basic_set_unwrap;
    /// As a set.
    fn to_set(take self) -> Set = isl_basic_set_to_set;
    /// The greatest value of a dimension.
    fn dim_max_val(take self, pos: val i32) -> Val = isl_basic_set_dim_max_val;
    /// The greatest value of `obj`.
    fn max_val(keep self, obj: keep Aff) -> Val = isl_basic_set_max_val;
} }

object! {
    /// Integer points of one tuple, parametric.
    Set: isl_rs::Set, isl_set_copy, text isl_set_to_str, parse isl_set_read_from_str;
}

constructors! { Set {
    /// All elements of a space.
    fn universe(space: take Space) -> Set = isl_set_universe;
    /// No element of a space.
    fn empty(space: take Space) -> Set = isl_set_empty;
    /// One conjunction.
    fn from_basic_set(bset: take BasicSet) -> Set = isl_set_from_basic_set;
    /// One point.
    fn from_point(pnt: take Point) -> Set = isl_set_from_point;
    /// The graph of expressions without domain.
    fn from_multi_aff(ma: take MultiAff) -> Set = isl_set_from_multi_aff;
    /// The graph of expressions without domain.
    fn from_multi_pw_aff(mpa: take MultiPwAff) -> Set = isl_set_from_multi_pw_aff;
    /// The graph of expressions without domain.
    fn from_pw_multi_aff(pma: take PwMultiAff) -> Set = isl_set_from_pw_multi_aff;
    /// The graph of an expression without domain.
    fn from_pw_aff(pwaff: take PwAff) -> Set = isl_set_from_pw_aff;
    /// The only set of a union.
    fn from_union_set(uset: take UnionSet) -> Set = isl_set_from_union_set;
    /// All points between two.
    fn box_from_points(pnt1: take Point, pnt2: take Point) -> Set = isl_set_box_from_points;
} }

methods! { Set {
    /// Its space.
    fn space(keep self) -> Space = isl_set_get_space;
    /// Number of dimensions of one kind.
    fn dim(keep self, dim: val DimType) -> u32 = isl_set_dim;
    /// Number of dimensions of the tuple.
    fn tuple_dim(keep self) -> u32 = isl_set_tuple_dim;
    /// The elements in both.
    fn intersect(take self, other: take Set) -> Set = isl_set_intersect;
    /// Restricted to parameter values.
    fn intersect_params(take self, other: take Set) -> Set = isl_set_intersect_params;
    /// The elements in either.
    fn union(take self, other: take Set) -> Set = isl_set_union;
    /// The elements of `self` that are not in the other.
    fn subtract(take self, other: take Set) -> Set = isl_set_subtract;
    /// The elements of the space that are not in it.
    fn complement(take self) -> Set = isl_set_complement;
    /// Pairs of elements.
    fn product(take self, other: take Set) -> Set = isl_set_product;
    /// Concatenated elements.
    fn flat_product(take self, other: take Set) -> Set = isl_set_flat_product;
    /// The image under a map.
    fn apply(take self, map: take Map) -> Set = isl_set_apply;
    /// The elements that `ma` sends into it.
    fn preimage_multi_aff(take self, ma: take MultiAff) -> Set = isl_set_preimage_multi_aff;
    /// The elements that `pma` sends into it.
    fn preimage_pw_multi_aff(take self, pma: take PwMultiAff) -> Set = isl_set_preimage_pw_multi_aff;
    /// The elements that `mpa` sends into it.
    fn preimage_multi_pw_aff(take self, mpa: take MultiPwAff) -> Set = isl_set_preimage_multi_pw_aff;
    /// Its parameter values.
    fn params(take self) -> Set = isl_set_params;
    /// A parameter set as a set of the empty tuple.
    fn from_params(take self) -> Set = isl_set_from_params;
    /// Forgets dimensions.
    fn project_out(take self, dim: val DimType, first: val u32, n: val u32) -> Set = isl_set_project_out;
    /// Forgets all parameters.
    fn project_out_all_params(take self) -> Set = isl_set_project_out_all_params;
    /// Forgets one parameter.
    fn project_out_param(take self, id: take Id) -> Set = isl_set_project_out_param_id;
    /// The map from its elements to these dimensions of theirs.
    fn project_onto_map(take self, dim: val DimType, first: val u32, n: val u32) -> Map = isl_set_project_onto_map;
    /// Forgets constraints on dimensions, which stay.
    fn eliminate(take self, dim: val DimType, first: val u32, n: val u32) -> Set = isl_set_eliminate;
    /// Whether it has no element for any parameter values.
    fn is_empty(keep self) -> bool = isl_set_is_empty;
    /// Whether both have the same elements.
    fn is_equal(keep self, other: keep Set) -> bool = isl_set_is_equal;
    /// Whether each element is in the other.
    fn is_subset(keep self, other: keep Set) -> bool = isl_set_is_subset;
    /// Whether it is a subset and not equal.
    fn is_strict_subset(keep self, other: keep Set) -> bool = isl_set_is_strict_subset;
    /// Whether no element is in both.
    fn is_disjoint(keep self, other: keep Set) -> bool = isl_set_is_disjoint;
    /// Whether it is exactly one element.
    fn is_singleton(keep self) -> bool = isl_set_is_singleton;
    /// Whether it is bounded for all parameter values.
    fn is_bounded(keep self) -> bool = isl_set_is_bounded;
    /// Whether constraints bound a dimension from below wherever it has elements.
    fn dim_has_lower_bound(keep self, dim: val DimType, pos: val u32) -> bool = isl_set_dim_has_lower_bound;
    /// Whether constraints bound a dimension from above wherever it has elements.
    fn dim_has_upper_bound(keep self, dim: val DimType, pos: val u32) -> bool = isl_set_dim_has_upper_bound;
    /// Whether it is a parameter set.
    fn is_params(keep self) -> bool = isl_set_is_params;
    /// Whether it wraps a map.
    fn is_wrapping(keep self) -> bool = isl_set_is_wrapping;
    /// Whether it is a box.
    fn is_box(keep self) -> bool = isl_set_is_box;
    /// Whether it is obviously empty.
    fn is_plainly_empty(keep self) -> bool = isl_set_plain_is_empty;
    /// Whether both are obviously equal.
    fn is_plainly_equal(keep self, other: keep Set) -> bool = isl_set_plain_is_equal;
    /// Whether it is obviously everything.
    fn is_plainly_universe(keep self) -> bool = isl_set_plain_is_universe;
    /// Whether both are obviously disjoint.
    fn is_plainly_disjoint(keep self, other: keep Set) -> bool = isl_set_plain_is_disjoint;
    /// The value of an obviously fixed dimension, else NaN.
    fn fixed_val(keep self, dim: val DimType, pos: val u32) -> Val = isl_set_plain_get_val_if_fixed;
    /// Whether constraints involve any of these dimensions.
    fn involves_dims(keep self, dim: val DimType, first: val u32, n: val u32) -> bool = isl_set_involves_dims;
    /// Whether it has integer divisions.
    fn involves_locals(keep self) -> bool = isl_set_involves_locals;
    /// The lexicographically least element for each parameter value.
    fn lexmin(take self) -> Set = isl_set_lexmin;
    /// The lexicographically greatest element for each parameter value.
    fn lexmax(take self) -> Set = isl_set_lexmax;
    /// The lexicographically least element as expressions.
    fn lexmin_pw_multi_aff(take self) -> PwMultiAff = isl_set_lexmin_pw_multi_aff;
    /// The lexicographically greatest element as expressions.
    fn lexmax_pw_multi_aff(take self) -> PwMultiAff = isl_set_lexmax_pw_multi_aff;
    /// The least value of a dimension.
    fn dim_min(take self, pos: val i32) -> PwAff = isl_set_dim_min;
    /// The greatest value of a dimension.
    fn dim_max(take self, pos: val i32) -> PwAff = isl_set_dim_max;
    /// The least value of a dimension over all parameter values.
    fn dim_min_val(take self, pos: val i32) -> Val = isl_set_dim_min_val;
    /// The greatest value of a dimension over all parameter values.
    fn dim_max_val(take self, pos: val i32) -> Val = isl_set_dim_max_val;
    /// The least value of `obj`, infinite where unbounded, NaN where empty.
    fn min_val(keep self, obj: keep Aff) -> Val = isl_set_min_val;
    /// The greatest value of `obj`, infinite where unbounded, NaN where empty.
    fn max_val(keep self, obj: keep Aff) -> Val = isl_set_max_val;
    /// The least value of each dimension.
    fn min_multi_pw_aff(take self) -> MultiPwAff = isl_set_min_multi_pw_aff;
    /// The greatest value of each dimension.
    fn max_multi_pw_aff(take self) -> MultiPwAff = isl_set_max_multi_pw_aff;
    /// Whether a dimension is bounded below.
    fn has_lower_bound(keep self, dim: val DimType, pos: val u32) -> bool = isl_set_dim_has_lower_bound;
    /// Whether a dimension is bounded above.
    fn has_upper_bound(keep self, dim: val DimType, pos: val u32) -> bool = isl_set_dim_has_upper_bound;
    /// Whether a dimension is bounded.
    fn is_dim_bounded(keep self, dim: val DimType, pos: val u32) -> bool = isl_set_dim_is_bounded;
    /// The stride of a dimension.
    fn stride(keep self, pos: val i32) -> Val = isl_set_get_stride;
    /// The stride and offset of a dimension.
    fn stride_info(keep self, pos: val i32) -> StrideInfo = isl_set_get_stride_info;
    /// A box of fixed size around it, where found.
    fn simple_fixed_box_hull(keep self) -> FixedBox = isl_set_get_simple_fixed_box_hull;
    /// Number of elements, parameters counted as dimensions; infinite where unbounded.
    fn count(keep self) -> Val = isl_set_count_val;
    /// A subset of at most one element.
    fn sample(take self) -> BasicSet = isl_set_sample;
    /// One element, or void.
    fn sample_point(take self) -> Point = isl_set_sample_point;
    /// Simplified where `context` holds.
    fn gist(take self, other: take Set) -> Set = isl_set_gist;
    /// Simplified where the parameters are in `context`.
    fn gist_params(take self, other: take Set) -> Set = isl_set_gist_params;
    /// Makes implied equalities explicit.
    fn detect_equalities(take self) -> Set = isl_set_detect_equalities;
    /// Drops constraints implied by others.
    fn remove_redundancies(take self) -> Set = isl_set_remove_redundancies;
    /// Drops integer divisions, which may enlarge it.
    fn remove_divs(take self) -> Set = isl_set_remove_divs;
    /// Makes integer divisions explicit.
    fn compute_divs(take self) -> Set = isl_set_compute_divs;
    /// Disjoint disjuncts.
    fn make_disjoint(take self) -> Set = isl_set_make_disjoint;
    /// A conjunction around it, of unshifted constraints it has.
    fn unshifted_simple_hull(take self) -> BasicSet = isl_set_unshifted_simple_hull;
    /// The smallest affine set around it.
    fn affine_hull(take self) -> BasicSet = isl_set_affine_hull;
    /// The smallest rational polyhedron around it, with its divisions.
    fn polyhedral_hull(take self) -> BasicSet = isl_set_polyhedral_hull;
    /// The convex hull.
    fn convex_hull(take self) -> BasicSet = isl_set_convex_hull;
    /// A conjunction around it with bounds on all dimensions.
    fn bounded_simple_hull(take self) -> BasicSet = isl_set_bounded_simple_hull;
    /// Its disjuncts.
    fn basic_sets(keep self) -> Vec<BasicSet> = isl_set_get_basic_set_list;
    /// Number of its disjuncts.
    fn basic_set_count(keep self) -> u32 = isl_set_n_basic_set;
    /// Adds dimensions at the end.
    fn add_dims(take self, dim: val DimType, n: val u32) -> Set = isl_set_add_dims;
    /// Inserts dimensions.
    fn insert_dims(take self, dim: val DimType, pos: val u32, n: val u32) -> Set = isl_set_insert_dims;
    /// Moves dimensions to another kind or place.
    fn move_dims(
        take self,
        dst_dim: val DimType,
        dst_pos: val u32,
        src_dim: val DimType,
        src_pos: val u32,
        n: val u32
    ) -> Set = isl_set_move_dims;
    /// Splits the range of each dimension at zero.
    fn split_dims(take self, dim: val DimType, first: val u32, n: val u32) -> Set = isl_set_split_dims;
    /// One dimension set to a value.
    fn fix_i32(take self, dim: val DimType, pos: val u32, value: val i32) -> Set = isl_set_fix_si;
    /// One dimension set to a value.
    fn fix(take self, dim: val DimType, pos: val u32, value: take Val) -> Set = isl_set_fix_val;
    /// Two dimensions made equal.
    fn equate(take self, dim1: val DimType, pos1: val i32, dim2: val DimType, pos2: val i32) -> Set = isl_set_equate;
    /// One dimension bounded below.
    fn lower_bound_i32(take self, dim: val DimType, pos: val u32, value: val i32) -> Set = isl_set_lower_bound_si;
    /// One dimension bounded below.
    fn lower_bound(take self, dim: val DimType, pos: val u32, value: take Val) -> Set = isl_set_lower_bound_val;
    /// One dimension bounded above.
    fn upper_bound_i32(take self, dim: val DimType, pos: val u32, value: val i32) -> Set = isl_set_upper_bound_si;
    /// One dimension bounded above.
    fn upper_bound(take self, dim: val DimType, pos: val u32, value: take Val) -> Set = isl_set_upper_bound_val;
    /// With one more constraint.
    fn add_constraint(take self, constraint: take Constraint) -> Set = isl_set_add_constraint;
    /// Drops constraints that involve these dimensions.
    fn drop_constraints_involving_dims(
        take self,
        dim: val DimType,
        first: val u32,
        n: val u32
    ) -> Set = isl_set_drop_constraints_involving_dims;
    /// Keeps constraints that involve these dimensions.
    fn drop_constraints_not_involving_dims(
        take self,
        dim: val DimType,
        first: val u32,
        n: val u32
    ) -> Set = isl_set_drop_constraints_not_involving_dims;
    /// Its tuple as one flat tuple.
    fn flatten(take self) -> Set = isl_set_flatten;
    /// The map to its flat elements.
    fn flatten_map(take self) -> Map = isl_set_flatten_map;
    /// A wrapped map as a map.
    fn unwrap(take self) -> Map = isl_set_unwrap;
    /// The identity on it.
    fn identity(take self) -> Map = isl_set_identity;
    /// The map from each element of a set space by a vector of this set.
    fn translation(take self) -> Map = isl_set_translation;
    /// Pairs of elements, the first lexicographically smaller.
    fn lex_lt(take self, other: take Set) -> Map = isl_set_lex_lt_set;
    /// Pairs of elements, the first lexicographically not larger.
    fn lex_le(take self, other: take Set) -> Map = isl_set_lex_le_set;
    /// Pairs of elements, the first lexicographically larger.
    fn lex_gt(take self, other: take Set) -> Map = isl_set_lex_gt_set;
    /// Pairs of elements, the first lexicographically not smaller.
    fn lex_ge(take self, other: take Set) -> Map = isl_set_lex_ge_set;
    /// A singleton set as expressions of the parameters.
    fn as_pw_multi_aff(take self) -> PwMultiAff = isl_set_as_pw_multi_aff;
    /// One on its elements, zero elsewhere.
    fn indicator_function(take self) -> PwAff = isl_set_indicator_function;
    /// Adds and reorders parameters as in `model`.
    fn align_params(take self, model: take Space) -> Set = isl_set_align_params;
    /// Removes parameters that are not involved.
    fn drop_unused_params(take self) -> Set = isl_set_drop_unused_params;
    /// Takes the tuple's name away.
    fn reset_tuple_id(take self) -> Set = isl_set_reset_tuple_id;
    /// Names the tuple.
    fn set_tuple_id(take self, id: take Id) -> Set = isl_set_set_tuple_id;
    /// The id of the tuple, which must have one.
    fn tuple_id(keep self) -> Id = isl_set_get_tuple_id;
    /// Whether the tuple has an id.
    fn has_tuple_id(keep self) -> bool = isl_set_has_tuple_id;
    /// Whether the tuple has a name.
    fn has_tuple_name(keep self) -> bool = isl_set_has_tuple_name;
    /// The name of the tuple.
    fn tuple_name(keep self) -> Option<String> = isl_set_get_tuple_name;
    /// Names the tuple.
    fn set_tuple_name(take self, s: text str) -> Set = isl_set_set_tuple_name;
    /// Names a dimension.
    fn set_dim_id(take self, dim: val DimType, pos: val u32, id: take Id) -> Set = isl_set_set_dim_id;
    /// Whether a dimension has an id.
    fn has_dim_id(keep self, dim: val DimType, pos: val u32) -> bool = isl_set_has_dim_id;
    /// Whether a dimension has a name.
    fn has_dim_name(keep self, dim: val DimType, pos: val u32) -> bool = isl_set_has_dim_name;
    /// The id of a dimension, which must have one.
    fn dim_id(keep self, dim: val DimType, pos: val u32) -> Id = isl_set_get_dim_id;
    /// The name of a dimension.
    fn dim_name(keep self, dim: val DimType, pos: val u32) -> Option<String> = isl_set_get_dim_name;
    /// Names a dimension.
    fn set_dim_name(take self, dim: val DimType, pos: val u32, s: text str) -> Set = isl_set_set_dim_name;
    /// As a union.
    fn to_union_set(take self) -> UnionSet = isl_set_to_union_set;
} }

simple_hulls! { Set: BasicSet, isl_set_simple_hull; }

coalescing! { Set: isl_set_coalesce; }

object! {
    /// An affine equality or inequality.
    Constraint: isl_rs::Constraint, isl_constraint_copy;
}

constructors! { Constraint {
    /// `0 = 0` on a local space.
    fn equality(ls: take LocalSpace) -> Constraint = isl_constraint_alloc_equality;
    /// `0 >= 0` on a local space.
    fn inequality(ls: take LocalSpace) -> Constraint = isl_constraint_alloc_inequality;
} }

methods! { Constraint {
    /// Whether it is an equality.
    fn is_equality(keep self) -> bool = isl_constraint_is_equality;
    /// Number of dimensions of one kind.
    fn dim(keep self, dim: val DimType) -> u32 = isl_constraint_dim;
    /// Its space.
    fn space(keep self) -> Space = isl_constraint_get_space;
    /// The expression that is zero or non-negative.
    fn aff(keep self) -> Aff = isl_constraint_get_aff;
    /// The bound it puts on a dimension.
    fn bound(keep self, dim: val DimType, pos: val i32) -> Aff = isl_constraint_get_bound;
    /// The constant term.
    fn constant(keep self) -> Val = isl_constraint_get_constant_val;
    /// The coefficient of a dimension.
    fn coefficient(keep self, dim: val DimType, pos: val i32) -> Val = isl_constraint_get_coefficient_val;
    /// Replaces the constant term.
    fn set_constant(take self, value: take Val) -> Constraint = isl_constraint_set_constant_val;
    /// Replaces a coefficient.
    fn set_coefficient(
        take self,
        dim: val DimType,
        pos: val i32,
        value: take Val
    ) -> Constraint = isl_constraint_set_coefficient_val;
    /// The integer division at `pos`.
    fn div(keep self, pos: val i32) -> Aff = isl_constraint_get_div;
    /// Whether it bounds a dimension below.
    fn is_lower_bound(keep self, dim: val DimType, pos: val u32) -> bool = isl_constraint_is_lower_bound;
    /// Whether it bounds a dimension above.
    fn is_upper_bound(keep self, dim: val DimType, pos: val u32) -> bool = isl_constraint_is_upper_bound;
    /// Whether it involves any of these dimensions.
    fn involves_dims(keep self, dim: val DimType, first: val u32, n: val u32) -> bool = isl_constraint_involves_dims;
} }

object! {
    /// The stride of a dimension and the expression it is counted from.
    StrideInfo: isl_rs::StrideInfo, isl_stride_info_copy;
}

methods! { StrideInfo {
    /// The stride.
    fn stride(keep self) -> Val = isl_stride_info_get_stride;
    /// The offset.
    fn offset(keep self) -> Aff = isl_stride_info_get_offset;
} }

object! {
    /// A box of constant size at an affine offset.
    FixedBox: isl_rs::FixedBox, isl_fixed_box_copy, text isl_fixed_box_to_str;
}

methods! { FixedBox {
    /// Whether a box was found.
    fn is_valid(keep self) -> bool = isl_fixed_box_is_valid;
    /// Its space.
    fn space(keep self) -> Space = isl_fixed_box_get_space;
    /// The least corner.
    fn offset(keep self) -> MultiAff = isl_fixed_box_get_offset;
    /// The extent of each dimension.
    fn size(keep self) -> MultiVal = isl_fixed_box_get_size;
} }

listed! {
    BasicSet: isl_basic_set_list_alloc, isl_basic_set_list_add, isl_basic_set_list_size, isl_basic_set_list_get_at, isl_basic_set_list_free;
    Set: isl_set_list_alloc, isl_set_list_add, isl_set_list_size, isl_set_list_get_at, isl_set_list_free;
    Constraint: isl_constraint_list_alloc, isl_constraint_list_add, isl_constraint_list_size, isl_constraint_list_get_at, isl_constraint_list_free;
}

impl Set {
    /// Visits all its points, parameters included as coordinates, until `visit` breaks; the set must be bounded.
    pub fn foreach_point<B>(&self, visit: impl FnMut(Point) -> ControlFlow<B>) -> Result<ControlFlow<B>, IslError> {
        unsafe extern "C" {
            fn isl_set_foreach_point(set: usize, f: ObjectFn, user: *mut c_void) -> std::ffi::c_int;
        }
        // SAFETY: the function keeps the set and gives each point to the callback.
        unsafe { foreach_object(self, isl_set_foreach_point, visit) }
    }

    /// All its points; the set must be bounded.
    pub fn points(&self) -> Result<Vec<Point>, IslError> {
        let mut points = Vec::new();
        let flow = self.foreach_point::<std::convert::Infallible>(|point| {
            points.push(point);
            ControlFlow::Continue(())
        })?;
        match flow {
            ControlFlow::Continue(()) => Ok(points),
            ControlFlow::Break(never) => match never {},
        }
    }
}

//! Integer relations between two tuples.

use super::aff::{Aff, PwAff};
use super::error::IslError;
use super::macros::{coalescing, constructors, listed, methods, object, simple_hulls};
use super::multi::{MultiAff, MultiPwAff, PwMultiAff};
use super::set::{BasicSet, Constraint, FixedBox, Set, StrideInfo};
use super::union::UnionMap;
use super::value::{DimType, Id, Space, Val};

object! {
    /// A conjunction of affine constraints on two tuples.
    BasicMap: isl_rs::BasicMap, isl_basic_map_copy, text isl_basic_map_to_str, parse isl_basic_map_read_from_str;
}

constructors! { BasicMap {
    /// All pairs of a space.
    fn universe(space: take Space) -> BasicMap = isl_basic_map_universe;
    /// No pair of a space.
    fn empty(space: take Space) -> BasicMap = isl_basic_map_empty;
    /// The identity of a space.
    fn identity(space: take Space) -> BasicMap = isl_basic_map_identity;
    /// The graph of an expression.
    fn from_aff(aff: take Aff) -> BasicMap = isl_basic_map_from_aff;
    /// The graph of expressions.
    fn from_multi_aff(maff: take MultiAff) -> BasicMap = isl_basic_map_from_multi_aff;
    /// All pairs of two sets.
    fn from_domain_and_range(
        domain: take BasicSet,
        range: take BasicSet
    ) -> BasicMap = isl_basic_map_from_domain_and_range;
} }

methods! { BasicMap {
    /// Its space.
    fn space(keep self) -> Space = isl_basic_map_get_space;
    /// Number of dimensions of one kind.
    fn dim(keep self, dim: val DimType) -> u32 = isl_basic_map_dim;
    /// The pairs in both.
    fn intersect(take self, other: take BasicMap) -> BasicMap = isl_basic_map_intersect;
    /// Restricted to a domain.
    fn intersect_domain(take self, bset: take BasicSet) -> BasicMap = isl_basic_map_intersect_domain;
    /// Restricted to a range.
    fn intersect_range(take self, bset: take BasicSet) -> BasicMap = isl_basic_map_intersect_range;
    /// Its domain sent through a map.
    fn apply_domain(take self, other: take BasicMap) -> BasicMap = isl_basic_map_apply_domain;
    /// Its range sent through a map.
    fn apply_range(take self, other: take BasicMap) -> BasicMap = isl_basic_map_apply_range;
    /// The inverse.
    fn reverse(take self) -> BasicMap = isl_basic_map_reverse;
    /// The elements with an image.
    fn domain(take self) -> BasicSet = isl_basic_map_domain;
    /// The images.
    fn range(take self) -> BasicSet = isl_basic_map_range;
    /// The differences of image and element.
    fn deltas(take self) -> BasicSet = isl_basic_map_deltas;
    /// The smallest affine relation around it.
    fn affine_hull(take self) -> BasicMap = isl_basic_map_affine_hull;
    /// Makes implied equalities explicit.
    fn detect_equalities(take self) -> BasicMap = isl_basic_map_detect_equalities;
    /// Drops constraints implied by others.
    fn remove_redundancies(take self) -> BasicMap = isl_basic_map_remove_redundancies;
    /// Whether it has no pair.
    fn is_empty(keep self) -> bool = isl_basic_map_is_empty;
    /// Whether both have the same pairs.
    fn is_equal(keep self, other: keep BasicMap) -> bool = isl_basic_map_is_equal;
    /// Whether each pair is in the other.
    fn is_subset(keep self, other: keep BasicMap) -> bool = isl_basic_map_is_subset;
    /// Whether each element has at most one image.
    fn is_single_valued(keep self) -> bool = isl_basic_map_is_single_valued;
    /// Whether constraints involve any of these dimensions.
    fn involves_dims(keep self, dim: val DimType, first: val u32, n: val u32) -> bool = isl_basic_map_involves_dims;
    /// Its constraints.
    fn constraints(keep self) -> Vec<Constraint> = isl_basic_map_get_constraint_list;
    /// Number of its constraints.
    fn constraint_count(keep self) -> u32 = isl_basic_map_n_constraint;
    /// With one more constraint.
    fn add_constraint(take self, constraint: take Constraint) -> BasicMap = isl_basic_map_add_constraint;
    /// Forgets dimensions.
    fn project_out(take self, dim: val DimType, first: val u32, n: val u32) -> BasicMap = isl_basic_map_project_out;
    /// One dimension set to a value.
    fn fix(take self, dim: val DimType, pos: val u32, value: take Val) -> BasicMap = isl_basic_map_fix_val;
    /// Simplified where `context` holds.
    fn gist(take self, other: take BasicMap) -> BasicMap = isl_basic_map_gist;
    /// As a set of pairs.
    fn wrap(take self) -> BasicSet = isl_basic_map_wrap;
} }

object! {
    /// An integer relation between two tuples, parametric.
    Map: isl_rs::Map, isl_map_copy, text isl_map_to_str, parse isl_map_read_from_str;
}

constructors! { Map {
    /// All pairs of a space.
    fn universe(space: take Space) -> Map = isl_map_universe;
    /// No pair of a space.
    fn empty(space: take Space) -> Map = isl_map_empty;
    /// The identity of a space.
    fn identity(space: take Space) -> Map = isl_map_identity;
    /// Pairs of a set space, the first lexicographically smaller.
    fn lex_lt(set_space: take Space) -> Map = isl_map_lex_lt;
    /// Pairs of a set space, the first lexicographically not larger.
    fn lex_le(set_space: take Space) -> Map = isl_map_lex_le;
    /// Pairs of a set space, the first lexicographically larger.
    fn lex_gt(set_space: take Space) -> Map = isl_map_lex_gt;
    /// Pairs of a set space, the first lexicographically not smaller.
    fn lex_ge(set_space: take Space) -> Map = isl_map_lex_ge;
    /// One conjunction.
    fn from_basic_map(bmap: take BasicMap) -> Map = isl_map_from_basic_map;
    /// The graph of an expression.
    fn from_aff(aff: take Aff) -> Map = isl_map_from_aff;
    /// The graph of expressions.
    fn from_multi_aff(maff: take MultiAff) -> Map = isl_map_from_multi_aff;
    /// The graph of an expression.
    fn from_pw_aff(pwaff: take PwAff) -> Map = isl_map_from_pw_aff;
    /// The graph of expressions.
    fn from_pw_multi_aff(pma: take PwMultiAff) -> Map = isl_map_from_pw_multi_aff;
    /// The graph of expressions.
    fn from_multi_pw_aff(mpa: take MultiPwAff) -> Map = isl_map_from_multi_pw_aff;
    /// Each element of a set to the empty tuple.
    fn from_domain(set: take Set) -> Map = isl_map_from_domain;
    /// The empty tuple to each element of a set.
    fn from_range(set: take Set) -> Map = isl_map_from_range;
    /// All pairs of two sets.
    fn from_domain_and_range(domain: take Set, range: take Set) -> Map = isl_map_from_domain_and_range;
    /// The only map of a union.
    fn from_union_map(umap: take UnionMap) -> Map = isl_map_from_union_map;
} }

methods! { Map {
    /// Its space.
    fn space(keep self) -> Space = isl_map_get_space;
    /// Number of dimensions of one kind.
    fn dim(keep self, dim: val DimType) -> u32 = isl_map_dim;
    /// Number of dimensions of the domain tuple.
    fn domain_tuple_dim(keep self) -> u32 = isl_map_domain_tuple_dim;
    /// Number of dimensions of the range tuple.
    fn range_tuple_dim(keep self) -> u32 = isl_map_range_tuple_dim;
    /// The pairs in both.
    fn intersect(take self, other: take Map) -> Map = isl_map_intersect;
    /// Restricted to a domain.
    fn intersect_domain(take self, set: take Set) -> Map = isl_map_intersect_domain;
    /// Restricted to a range.
    fn intersect_range(take self, set: take Set) -> Map = isl_map_intersect_range;
    /// Restricted to parameter values.
    fn intersect_params(take self, params: take Set) -> Map = isl_map_intersect_params;
    /// Restricted by the domain of a wrapped domain.
    fn intersect_domain_wrapped_domain(take self, domain: take Set) -> Map = isl_map_intersect_domain_wrapped_domain;
    /// Restricted by the domain of a wrapped range.
    fn intersect_range_wrapped_domain(take self, domain: take Set) -> Map = isl_map_intersect_range_wrapped_domain;
    /// The pairs in either.
    fn union(take self, other: take Map) -> Map = isl_map_union;
    /// The pairs of either, which have none in common.
    fn union_disjoint(take self, other: take Map) -> Map = isl_map_union_disjoint;
    /// The pairs of `self` that are not in the other.
    fn subtract(take self, other: take Map) -> Map = isl_map_subtract;
    /// Without the pairs of a domain.
    fn subtract_domain(take self, dom: take Set) -> Map = isl_map_subtract_domain;
    /// Without the pairs of a range.
    fn subtract_range(take self, dom: take Set) -> Map = isl_map_subtract_range;
    /// The pairs of the space that are not in it.
    fn complement(take self) -> Map = isl_map_complement;
    /// The inverse.
    fn reverse(take self) -> Map = isl_map_reverse;
    /// The elements with an image.
    fn domain(take self) -> Set = isl_map_domain;
    /// The images.
    fn range(take self) -> Set = isl_map_range;
    /// Its parameter values.
    fn params(take self) -> Set = isl_map_params;
    /// Its domain sent through a map.
    fn apply_domain(take self, other: take Map) -> Map = isl_map_apply_domain;
    /// Its range sent through a map.
    fn apply_range(take self, other: take Map) -> Map = isl_map_apply_range;
    /// The domain replaced by what `ma` sends into it.
    fn preimage_domain_multi_aff(take self, ma: take MultiAff) -> Map = isl_map_preimage_domain_multi_aff;
    /// The range replaced by what `ma` sends into it.
    fn preimage_range_multi_aff(take self, ma: take MultiAff) -> Map = isl_map_preimage_range_multi_aff;
    /// The domain replaced by what `pma` sends into it.
    fn preimage_domain_pw_multi_aff(take self, pma: take PwMultiAff) -> Map = isl_map_preimage_domain_pw_multi_aff;
    /// The range replaced by what `pma` sends into it.
    fn preimage_range_pw_multi_aff(take self, pma: take PwMultiAff) -> Map = isl_map_preimage_range_pw_multi_aff;
    /// The domain replaced by what `mpa` sends into it.
    fn preimage_domain_multi_pw_aff(take self, mpa: take MultiPwAff) -> Map = isl_map_preimage_domain_multi_pw_aff;
    /// From pairs of domains to pairs of ranges.
    fn product(take self, other: take Map) -> Map = isl_map_product;
    /// From concatenated domains to concatenated ranges.
    fn flat_product(take self, other: take Map) -> Map = isl_map_flat_product;
    /// Paired domains, common range.
    fn domain_product(take self, other: take Map) -> Map = isl_map_domain_product;
    /// Concatenated domains, common range.
    fn flat_domain_product(take self, other: take Map) -> Map = isl_map_flat_domain_product;
    /// Paired ranges, common domain.
    fn range_product(take self, other: take Map) -> Map = isl_map_range_product;
    /// Concatenated ranges, common domain.
    fn flat_range_product(take self, other: take Map) -> Map = isl_map_flat_range_product;
    /// The map between the domains of its pairs.
    fn factor_domain(take self) -> Map = isl_map_factor_domain;
    /// The map between the ranges of its pairs.
    fn factor_range(take self) -> Map = isl_map_factor_range;
    /// The first part of the range.
    fn range_factor_domain(take self) -> Map = isl_map_range_factor_domain;
    /// The second part of the range.
    fn range_factor_range(take self) -> Map = isl_map_range_factor_range;
    /// The first part of the domain.
    fn domain_factor_domain(take self) -> Map = isl_map_domain_factor_domain;
    /// The second part of the domain.
    fn domain_factor_range(take self) -> Map = isl_map_domain_factor_range;
    /// From each pair to its element.
    fn domain_map(take self) -> Map = isl_map_domain_map;
    /// From each pair to its image.
    fn range_map(take self) -> Map = isl_map_range_map;
    /// `(A -> B) -> C` as `A -> (B -> C)`.
    fn curry(take self) -> Map = isl_map_curry;
    /// `A -> (B -> C)` as `(A -> B) -> C`.
    fn uncurry(take self) -> Map = isl_map_uncurry;
    /// Curries the range.
    fn range_curry(take self) -> Map = isl_map_range_curry;
    /// `(A -> B) -> (C -> D)` as `(A -> C) -> (B -> D)`.
    fn zip(take self) -> Map = isl_map_zip;
    /// As a set of pairs.
    fn wrap(take self) -> Set = isl_map_wrap;
    /// The differences of image and element.
    fn deltas(take self) -> Set = isl_map_deltas;
    /// From each pair to its difference.
    fn deltas_map(take self) -> Map = isl_map_deltas_map;
    /// Both tuples flat.
    fn flatten(take self) -> Map = isl_map_flatten;
    /// The domain tuple flat.
    fn flatten_domain(take self) -> Map = isl_map_flatten_domain;
    /// The range tuple flat.
    fn flatten_range(take self) -> Map = isl_map_flatten_range;
    /// The lexicographically least image of each element.
    fn lexmin(take self) -> Map = isl_map_lexmin;
    /// The lexicographically greatest image of each element.
    fn lexmax(take self) -> Map = isl_map_lexmax;
    /// The lexicographically least image as expressions.
    fn lexmin_pw_multi_aff(take self) -> PwMultiAff = isl_map_lexmin_pw_multi_aff;
    /// The lexicographically greatest image as expressions.
    fn lexmax_pw_multi_aff(take self) -> PwMultiAff = isl_map_lexmax_pw_multi_aff;
    /// Pairs of domain elements, the image of the first lexicographically smaller.
    fn lex_lt_at(take self, other: take Map) -> Map = isl_map_lex_lt_map;
    /// Pairs of domain elements, the image of the first lexicographically not larger.
    fn lex_le_at(take self, other: take Map) -> Map = isl_map_lex_le_map;
    /// Pairs of domain elements, the image of the first lexicographically larger.
    fn lex_gt_at(take self, other: take Map) -> Map = isl_map_lex_gt_map;
    /// Pairs of domain elements, the image of the first lexicographically not smaller.
    fn lex_ge_at(take self, other: take Map) -> Map = isl_map_lex_ge_map;
    /// The least value of a range dimension.
    fn dim_min(take self, pos: val i32) -> PwAff = isl_map_dim_min;
    /// The greatest value of a range dimension.
    fn dim_max(take self, pos: val i32) -> PwAff = isl_map_dim_max;
    /// The least value of each range dimension.
    fn min_multi_pw_aff(take self) -> MultiPwAff = isl_map_min_multi_pw_aff;
    /// The greatest value of each range dimension.
    fn max_multi_pw_aff(take self) -> MultiPwAff = isl_map_max_multi_pw_aff;
    /// Whether it has no pair for any parameter values.
    fn is_empty(keep self) -> bool = isl_map_is_empty;
    /// Whether both have the same pairs.
    fn is_equal(keep self, other: keep Map) -> bool = isl_map_is_equal;
    /// Whether each pair is in the other.
    fn is_subset(keep self, other: keep Map) -> bool = isl_map_is_subset;
    /// Whether it is a subset and not equal.
    fn is_strict_subset(keep self, other: keep Map) -> bool = isl_map_is_strict_subset;
    /// Whether no pair is in both.
    fn is_disjoint(keep self, other: keep Map) -> bool = isl_map_is_disjoint;
    /// Whether each element has at most one image.
    fn is_single_valued(keep self) -> bool = isl_map_is_single_valued;
    /// Whether no two elements share an image.
    fn is_injective(keep self) -> bool = isl_map_is_injective;
    /// Whether it is single-valued and injective.
    fn is_bijective(keep self) -> bool = isl_map_is_bijective;
    /// Whether each element is its only image.
    fn is_identity(keep self) -> bool = isl_map_is_identity;
    /// Whether both tuples are pairs.
    fn is_product(keep self) -> bool = isl_map_is_product;
    /// Whether it is obviously empty.
    fn is_plainly_empty(keep self) -> bool = isl_map_plain_is_empty;
    /// Whether both are obviously equal.
    fn is_plainly_equal(keep self, other: keep Map) -> bool = isl_map_plain_is_equal;
    /// Whether it is obviously everything.
    fn is_plainly_universe(keep self) -> bool = isl_map_plain_is_universe;
    /// Whether it is obviously single-valued.
    fn is_plainly_single_valued(keep self) -> bool = isl_map_plain_is_single_valued;
    /// Whether it is obviously injective.
    fn is_plainly_injective(keep self) -> bool = isl_map_plain_is_injective;
    /// The value of an obviously fixed dimension, else NaN.
    fn fixed_val(keep self, dim: val DimType, pos: val u32) -> Val = isl_map_plain_get_val_if_fixed;
    /// Whether the domain wraps a map.
    fn is_domain_wrapping(keep self) -> bool = isl_map_domain_is_wrapping;
    /// Whether the range wraps a map.
    fn is_range_wrapping(keep self) -> bool = isl_map_range_is_wrapping;
    /// Whether constraints involve any of these dimensions.
    fn involves_dims(keep self, dim: val DimType, first: val u32, n: val u32) -> bool = isl_map_involves_dims;
    /// One pair at most.
    fn sample(take self) -> BasicMap = isl_map_sample;
    /// Forgets dimensions.
    fn project_out(take self, dim: val DimType, first: val u32, n: val u32) -> Map = isl_map_project_out;
    /// Forgets all parameters.
    fn project_out_all_params(take self) -> Map = isl_map_project_out_all_params;
    /// Forgets one parameter.
    fn project_out_param(take self, id: take Id) -> Map = isl_map_project_out_param_id;
    /// Forgets constraints on dimensions, which stay.
    fn eliminate(take self, dim: val DimType, first: val u32, n: val u32) -> Map = isl_map_eliminate;
    /// Adds dimensions at the end.
    fn add_dims(take self, dim: val DimType, n: val u32) -> Map = isl_map_add_dims;
    /// Inserts dimensions.
    fn insert_dims(take self, dim: val DimType, pos: val u32, n: val u32) -> Map = isl_map_insert_dims;
    /// Moves dimensions to another kind or place.
    fn move_dims(
        take self,
        dst_dim: val DimType,
        dst_pos: val u32,
        src_dim: val DimType,
        src_pos: val u32,
        n: val u32
    ) -> Map = isl_map_move_dims;
    /// One dimension set to a value.
    fn fix_i32(take self, dim: val DimType, pos: val u32, value: val i32) -> Map = isl_map_fix_si;
    /// One dimension set to a value.
    fn fix(take self, dim: val DimType, pos: val u32, value: take Val) -> Map = isl_map_fix_val;
    /// Two dimensions made equal.
    fn equate(take self, dim1: val DimType, pos1: val i32, dim2: val DimType, pos2: val i32) -> Map = isl_map_equate;
    /// Two dimensions made opposite.
    fn oppose(take self, dim1: val DimType, pos1: val i32, dim2: val DimType, pos2: val i32) -> Map = isl_map_oppose;
    /// The first dimension smaller than the second.
    fn order_lt(
        take self,
        dim1: val DimType,
        pos1: val i32,
        dim2: val DimType,
        pos2: val i32
    ) -> Map = isl_map_order_lt;
    /// The first dimension not larger than the second.
    fn order_le(
        take self,
        dim1: val DimType,
        pos1: val i32,
        dim2: val DimType,
        pos2: val i32
    ) -> Map = isl_map_order_le;
    /// The first dimension larger than the second.
    fn order_gt(
        take self,
        dim1: val DimType,
        pos1: val i32,
        dim2: val DimType,
        pos2: val i32
    ) -> Map = isl_map_order_gt;
    /// The first dimension not smaller than the second.
    fn order_ge(
        take self,
        dim1: val DimType,
        pos1: val i32,
        dim2: val DimType,
        pos2: val i32
    ) -> Map = isl_map_order_ge;
    /// One dimension bounded below.
    fn lower_bound_i32(take self, dim: val DimType, pos: val u32, value: val i32) -> Map = isl_map_lower_bound_si;
    /// One dimension bounded below.
    fn lower_bound(take self, dim: val DimType, pos: val u32, value: take Val) -> Map = isl_map_lower_bound_val;
    /// One dimension bounded above.
    fn upper_bound_i32(take self, dim: val DimType, pos: val u32, value: val i32) -> Map = isl_map_upper_bound_si;
    /// One dimension bounded above.
    fn upper_bound(take self, dim: val DimType, pos: val u32, value: take Val) -> Map = isl_map_upper_bound_val;
    /// With one more constraint.
    fn add_constraint(take self, constraint: take Constraint) -> Map = isl_map_add_constraint;
    /// Drops constraints that involve these dimensions.
    fn drop_constraints_involving_dims(
        take self,
        dim: val DimType,
        first: val u32,
        n: val u32
    ) -> Map = isl_map_drop_constraints_involving_dims;
    /// Keeps constraints that involve these dimensions.
    fn drop_constraints_not_involving_dims(
        take self,
        dim: val DimType,
        first: val u32,
        n: val u32
    ) -> Map = isl_map_drop_constraints_not_involving_dims;
    /// Simplified where `context` holds.
    fn gist(take self, other: take Map) -> Map = isl_map_gist;
    /// Simplified where the domain is in `context`.
    fn gist_domain(take self, context: take Set) -> Map = isl_map_gist_domain;
    /// Simplified where the range is in `context`.
    fn gist_range(take self, context: take Set) -> Map = isl_map_gist_range;
    /// Simplified where the parameters are in `context`.
    fn gist_params(take self, context: take Set) -> Map = isl_map_gist_params;
    /// Makes implied equalities explicit.
    fn detect_equalities(take self) -> Map = isl_map_detect_equalities;
    /// Drops constraints implied by others.
    fn remove_redundancies(take self) -> Map = isl_map_remove_redundancies;
    /// Drops integer divisions, which may enlarge it.
    fn remove_divs(take self) -> Map = isl_map_remove_divs;
    /// Makes integer divisions explicit.
    fn compute_divs(take self) -> Map = isl_map_compute_divs;
    /// Disjoint disjuncts.
    fn make_disjoint(take self) -> Map = isl_map_make_disjoint;
    /// A conjunction around it, of unshifted constraints it has.
    fn unshifted_simple_hull(take self) -> BasicMap = isl_map_unshifted_simple_hull;
    /// The smallest affine relation around it.
    fn affine_hull(take self) -> BasicMap = isl_map_affine_hull;
    /// The smallest rational polyhedron around it, with its divisions.
    fn polyhedral_hull(take self) -> BasicMap = isl_map_polyhedral_hull;
    /// The convex hull.
    fn convex_hull(take self) -> BasicMap = isl_map_convex_hull;
    /// Its disjuncts.
    fn basic_maps(keep self) -> Vec<BasicMap> = isl_map_get_basic_map_list;
    /// Number of its disjuncts.
    fn basic_map_count(keep self) -> u32 = isl_map_n_basic_map;
    /// The stride and offset of a range dimension.
    fn range_stride_info(keep self, pos: val i32) -> StrideInfo = isl_map_get_range_stride_info;
    /// A box of fixed size around the images of each element, where found.
    fn range_simple_fixed_box_hull(keep self) -> FixedBox = isl_map_get_range_simple_fixed_box_hull;
    /// A single-valued map as expressions.
    fn as_pw_multi_aff(take self) -> PwMultiAff = isl_map_as_pw_multi_aff;
    /// Adds and reorders parameters as in `model`.
    fn align_params(take self, model: take Space) -> Map = isl_map_align_params;
    /// Removes parameters that are not involved.
    fn drop_unused_params(take self) -> Map = isl_map_drop_unused_params;
    /// Names a tuple.
    fn set_tuple_id(take self, dim: val DimType, id: take Id) -> Map = isl_map_set_tuple_id;
    /// Takes a tuple's name away.
    fn reset_tuple_id(take self, dim: val DimType) -> Map = isl_map_reset_tuple_id;
    /// The id of a tuple, which must have one.
    fn tuple_id(keep self, dim: val DimType) -> Id = isl_map_get_tuple_id;
    /// The same number for plainly equal maps.
    fn hash(keep self) -> i32 = isl_map_get_hash;
    /// Whether a tuple has an id.
    fn has_tuple_id(keep self, dim: val DimType) -> bool = isl_map_has_tuple_id;
    /// Whether a tuple has a name.
    fn has_tuple_name(keep self, dim: val DimType) -> bool = isl_map_has_tuple_name;
    /// The name of a tuple.
    fn tuple_name(keep self, dim: val DimType) -> Option<String> = isl_map_get_tuple_name;
    /// Names a tuple.
    fn set_tuple_name(take self, dim: val DimType, s: text str) -> Map = isl_map_set_tuple_name;
    /// Names a dimension.
    fn set_dim_id(take self, dim: val DimType, pos: val u32, id: take Id) -> Map = isl_map_set_dim_id;
    /// Whether a dimension has an id.
    fn has_dim_id(keep self, dim: val DimType, pos: val u32) -> bool = isl_map_has_dim_id;
    /// Whether a dimension has a name.
    fn has_dim_name(keep self, dim: val DimType, pos: val u32) -> bool = isl_map_has_dim_name;
    /// The id of a dimension, which must have one.
    fn dim_id(keep self, dim: val DimType, pos: val u32) -> Id = isl_map_get_dim_id;
    /// The name of a dimension.
    fn dim_name(keep self, dim: val DimType, pos: val u32) -> Option<String> = isl_map_get_dim_name;
    /// Names a dimension.
    fn set_dim_name(take self, dim: val DimType, pos: val u32, s: text str) -> Map = isl_map_set_dim_name;
    /// As a union.
    fn to_union_map(take self) -> UnionMap = isl_map_to_union_map;
} }

simple_hulls! { Map: BasicMap, isl_map_simple_hull; }

coalescing! { Map: isl_map_coalesce; }

listed! {
    BasicMap: isl_basic_map_list_alloc, isl_basic_map_list_add, isl_basic_map_list_size, isl_basic_map_list_get_at, isl_basic_map_list_free;
    Map: isl_map_list_alloc, isl_map_list_add, isl_map_list_size, isl_map_list_get_at, isl_map_list_free;
}

impl Map {
    /// The pairs in any of some maps of one space, which are at least one.
    ///
    /// isl normalizes two maps and compares their constraints before it unites them, which takes longer than all else where there are
    /// hundreds. So only neighbours are compared, many of which are equal; nothing looks at whether the others are disjoint, as isl then
    /// takes them to be, before the union with nothing at the end, after which it no longer does.
    pub fn union_all(maps: impl IntoIterator<Item = Map>) -> Result<Map, IslError> {
        type Unite = fn(&Map, &Map) -> Result<Map, IslError>;
        let halved = |maps: Vec<Map>, unite: Unite| -> Result<Vec<Map>, IslError> {
            let united = |pair: &[Map]| match pair {
                [one, other] => unite(one, other),
                _ => Ok(pair[0].clone()),
            };
            maps.chunks(2).map(united).collect()
        };
        let mut maps = halved(maps.into_iter().collect(), Map::union)?;
        let is_one = maps.len() == 1;
        while maps.len() > 1 {
            maps = halved(maps, Map::union_disjoint)?;
        }
        let all = maps.pop().expect("at least one map is united");
        if is_one { Ok(all) } else { all.union(&Map::empty(&all.space()?)?) }
    }

    /// The identity on a set space.
    pub fn identity_on(space: &Space) -> Result<Map, IslError> {
        Map::identity(&space.map_from_set()?)
    }

    /// Names the domain tuple.
    pub fn set_domain_name(&self, name: &str) -> Result<Map, IslError> {
        self.set_tuple_name(DimType::In, name)
    }

    /// Names the range tuple.
    pub fn set_range_name(&self, name: &str) -> Result<Map, IslError> {
        self.set_tuple_name(DimType::Out, name)
    }
}

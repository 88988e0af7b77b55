//! Unions over several spaces.

use super::ctx::Ctx;
use super::error::IslError;
use super::macros::{coalescing, constructors, listed, methods, object};
use super::map::{BasicMap, Map};
use super::multi::{MultiAff, PwMultiAff};
use super::set::{BasicSet, Set};
use super::union_aff::{MultiUnionPwAff, UnionPwAff, UnionPwMultiAff};
use super::value::{Point, Space, Val};

object! {
    /// Integer points of several tuples.
    UnionSet: isl_rs::UnionSet, isl_union_set_copy, text isl_union_set_to_str, parse isl_union_set_read_from_str;
}

constructors! { UnionSet {
    /// The empty union with the parameters of a space.
    fn empty(space: take Space) -> UnionSet = isl_union_set_empty;
    /// The empty union without parameters.
    fn empty_in(ctx: within Ctx) -> UnionSet = isl_union_set_empty_ctx;
    /// One conjunction.
    fn from_basic_set(bset: take BasicSet) -> UnionSet = isl_union_set_from_basic_set;
    /// One set.
    fn from_set(set: take Set) -> UnionSet = isl_union_set_from_set;
    /// One point.
    fn from_point(pnt: take Point) -> UnionSet = isl_union_set_from_point;
} }

methods! { UnionSet {
    /// All elements of the spaces of a union.
    fn universe(take self) -> UnionSet = isl_union_set_universe;
    /// Its parameters.
    fn space(keep self) -> Space = isl_union_set_get_space;
    /// Number of its sets.
    fn set_count(keep self) -> u32 = isl_union_set_n_set;
    /// Its sets in isl's order, which is not fixed.
    fn sets_unsorted(keep self) -> Vec<Set> = isl_union_set_get_set_list;
    /// The set of one space.
    fn extract_set(keep self, space: take Space) -> Set = isl_union_set_extract_set;
    /// Whether there are elements in a space.
    fn contains(keep self, space: keep Space) -> bool = isl_union_set_contains;
    /// Whether it is of one space.
    fn is_set(keep self) -> bool = isl_union_set_isa_set;
    /// As one set, when it is.
    fn as_set(take self) -> Set = isl_union_set_as_set;
    /// The elements in either.
    fn union(take self, other: take UnionSet) -> UnionSet = isl_union_set_union;
    /// The elements in both.
    fn intersect(take self, other: take UnionSet) -> UnionSet = isl_union_set_intersect;
    /// Restricted to parameter values.
    fn intersect_params(take self, set: take Set) -> UnionSet = isl_union_set_intersect_params;
    /// The elements of `self` that are not in the other.
    fn subtract(take self, other: take UnionSet) -> UnionSet = isl_union_set_subtract;
    /// Pairs of elements.
    fn product(take self, other: take UnionSet) -> UnionSet = isl_union_set_product;
    /// The image under a map.
    fn apply(take self, umap: take UnionMap) -> UnionSet = isl_union_set_apply;
    /// Its parameter values.
    fn params(take self) -> Set = isl_union_set_params;
    /// Whether it has no element.
    fn is_empty(keep self) -> bool = isl_union_set_is_empty;
    /// Whether both have the same elements.
    fn is_equal(keep self, other: keep UnionSet) -> bool = isl_union_set_is_equal;
    /// Whether each element is in the other.
    fn is_subset(keep self, other: keep UnionSet) -> bool = isl_union_set_is_subset;
    /// Whether it is a subset and not equal.
    fn is_strict_subset(keep self, other: keep UnionSet) -> bool = isl_union_set_is_strict_subset;
    /// Whether no element is in both.
    fn is_disjoint(keep self, other: keep UnionSet) -> bool = isl_union_set_is_disjoint;
    /// Whether it is a parameter set.
    fn is_params(keep self) -> bool = isl_union_set_is_params;
    /// Simplified where `context` holds.
    fn gist(take self, other: take UnionSet) -> UnionSet = isl_union_set_gist;
    /// Simplified where the parameters are in `set`.
    fn gist_params(take self, set: take Set) -> UnionSet = isl_union_set_gist_params;
    /// Makes implied equalities explicit.
    fn detect_equalities(take self) -> UnionSet = isl_union_set_detect_equalities;
    /// Drops constraints implied by others.
    fn remove_redundancies(take self) -> UnionSet = isl_union_set_remove_redundancies;
    /// Makes integer divisions explicit.
    fn compute_divs(take self) -> UnionSet = isl_union_set_compute_divs;
    /// A conjunction around each set.
    fn simple_hull(take self) -> UnionSet = isl_union_set_simple_hull;
    /// The affine hull of each set.
    fn affine_hull(take self) -> UnionSet = isl_union_set_affine_hull;
    /// The least elements of each set.
    fn lexmin(take self) -> UnionSet = isl_union_set_lexmin;
    /// The greatest elements of each set.
    fn lexmax(take self) -> UnionSet = isl_union_set_lexmax;
    /// One element, or void.
    fn sample_point(take self) -> Point = isl_union_set_sample_point;
    /// The identity on it.
    fn identity(take self) -> UnionMap = isl_union_set_identity;
    /// Wrapped maps as maps.
    fn unwrap(take self) -> UnionMap = isl_union_set_unwrap;
    /// From each wrapped pair to its element.
    fn wrapped_domain_map(take self) -> UnionMap = isl_union_set_wrapped_domain_map;
    /// Forgets all parameters.
    fn project_out_all_params(take self) -> UnionSet = isl_union_set_project_out_all_params;
    /// The elements that `ma` sends into it.
    fn preimage_multi_aff(take self, ma: take MultiAff) -> UnionSet = isl_union_set_preimage_multi_aff;
    /// The elements that `pma` sends into it.
    fn preimage_pw_multi_aff(take self, pma: take PwMultiAff) -> UnionSet = isl_union_set_preimage_pw_multi_aff;
    /// Adds and reorders parameters as in `model`.
    fn align_params(take self, model: take Space) -> UnionSet = isl_union_set_align_params;
    /// Removes parameters that are not involved.
    fn drop_unused_params(take self) -> UnionSet = isl_union_set_drop_unused_params;
    /// Pairs of elements of one space, the first lexicographically smaller.
    fn lex_lt(take self, other: take UnionSet) -> UnionMap = isl_union_set_lex_lt_union_set;
    /// Pairs of elements of one space, the first lexicographically not larger.
    fn lex_le(take self, other: take UnionSet) -> UnionMap = isl_union_set_lex_le_union_set;
} }

coalescing! { UnionSet: isl_union_set_coalesce; }

object! {
    /// Integer relations of several pairs of tuples.
    UnionMap: isl_rs::UnionMap, isl_union_map_copy, text isl_union_map_to_str, parse isl_union_map_read_from_str;
}

constructors! { UnionMap {
    /// The empty union with the parameters of a space.
    fn empty(space: take Space) -> UnionMap = isl_union_map_empty;
    /// The empty union without parameters.
    fn empty_in(ctx: within Ctx) -> UnionMap = isl_union_map_empty_ctx;
    /// One conjunction.
    fn from_basic_map(bmap: take BasicMap) -> UnionMap = isl_union_map_from_basic_map;
    /// One map.
    fn from_map(map: take Map) -> UnionMap = isl_union_map_from_map;
    /// Each element to the empty tuple.
    fn from_domain(uset: take UnionSet) -> UnionMap = isl_union_map_from_domain;
    /// The empty tuple to each element.
    fn from_range(uset: take UnionSet) -> UnionMap = isl_union_map_from_range;
    /// All pairs of two unions.
    fn from_domain_and_range(
        domain: take UnionSet,
        range: take UnionSet
    ) -> UnionMap = isl_union_map_from_domain_and_range;
    /// The graphs of expressions.
    fn from_union_pw_aff(upa: take UnionPwAff) -> UnionMap = isl_union_map_from_union_pw_aff;
    /// The graphs of expressions.
    fn from_union_pw_multi_aff(upma: take UnionPwMultiAff) -> UnionMap = isl_union_map_from_union_pw_multi_aff;
    /// The graphs of a tuple of expressions.
    fn from_multi_union_pw_aff(mupa: take MultiUnionPwAff) -> UnionMap = isl_union_map_from_multi_union_pw_aff;
} }

methods! { UnionMap {
    /// All pairs of the spaces of a union.
    fn universe(take self) -> UnionMap = isl_union_map_universe;
    /// Its parameters.
    fn space(keep self) -> Space = isl_union_map_get_space;
    /// Number of its maps.
    fn map_count(keep self) -> u32 = isl_union_map_n_map;
    /// Its maps in isl's order, which is not fixed.
    fn maps_unsorted(keep self) -> Vec<Map> = isl_union_map_get_map_list;
    /// The map of one space.
    fn extract_map(keep self, space: take Space) -> Map = isl_union_map_extract_map;
    /// Whether there are pairs in a space.
    fn contains(keep self, space: keep Space) -> bool = isl_union_map_contains;
    /// Whether it is of one space.
    fn is_map(keep self) -> bool = isl_union_map_isa_map;
    /// As one map, when it is.
    fn as_map(take self) -> Map = isl_union_map_as_map;
    /// The pairs in either.
    fn union(take self, other: take UnionMap) -> UnionMap = isl_union_map_union;
    /// The pairs in both.
    fn intersect(take self, other: take UnionMap) -> UnionMap = isl_union_map_intersect;
    /// Restricted to a domain.
    fn intersect_domain(take self, uset: take UnionSet) -> UnionMap = isl_union_map_intersect_domain;
    /// Restricted to a domain space.
    fn intersect_domain_space(take self, space: take Space) -> UnionMap = isl_union_map_intersect_domain_space;
    /// Restricted to a range.
    fn intersect_range(take self, uset: take UnionSet) -> UnionMap = isl_union_map_intersect_range;
    /// Restricted to a range space.
    fn intersect_range_space(take self, space: take Space) -> UnionMap = isl_union_map_intersect_range_space;
    /// Restricted to parameter values.
    fn intersect_params(take self, set: take Set) -> UnionMap = isl_union_map_intersect_params;
    /// Restricted by a map on the domains of wrapped domains.
    fn intersect_domain_factor_domain(
        take self,
        other: take UnionMap
    ) -> UnionMap = isl_union_map_intersect_domain_factor_domain;
    /// Restricted by a map on the domains of wrapped ranges.
    fn intersect_range_factor_domain(
        take self,
        other: take UnionMap
    ) -> UnionMap = isl_union_map_intersect_range_factor_domain;
    /// Restricted by a map on the ranges of wrapped ranges.
    fn intersect_range_factor_range(
        take self,
        other: take UnionMap
    ) -> UnionMap = isl_union_map_intersect_range_factor_range;
    /// The pairs of `self` that are not in the other.
    fn subtract(take self, other: take UnionMap) -> UnionMap = isl_union_map_subtract;
    /// Without the pairs of a domain.
    fn subtract_domain(take self, dom: take UnionSet) -> UnionMap = isl_union_map_subtract_domain;
    /// Without the pairs of a range.
    fn subtract_range(take self, dom: take UnionSet) -> UnionMap = isl_union_map_subtract_range;
    /// The inverse.
    fn reverse(take self) -> UnionMap = isl_union_map_reverse;
    /// The elements with an image.
    fn domain(take self) -> UnionSet = isl_union_map_domain;
    /// The images.
    fn range(take self) -> UnionSet = isl_union_map_range;
    /// Its parameter values.
    fn params(take self) -> Set = isl_union_map_params;
    /// Its domain sent through a map.
    fn apply_domain(take self, other: take UnionMap) -> UnionMap = isl_union_map_apply_domain;
    /// Its range sent through a map.
    fn apply_range(take self, other: take UnionMap) -> UnionMap = isl_union_map_apply_range;
    /// The domain replaced by what `ma` sends into it.
    fn preimage_domain_multi_aff(take self, ma: take MultiAff) -> UnionMap = isl_union_map_preimage_domain_multi_aff;
    /// The range replaced by what `ma` sends into it.
    fn preimage_range_multi_aff(take self, ma: take MultiAff) -> UnionMap = isl_union_map_preimage_range_multi_aff;
    /// The domain replaced by what `upma` sends into it.
    fn preimage_domain_union_pw_multi_aff(
        take self,
        upma: take UnionPwMultiAff
    ) -> UnionMap = isl_union_map_preimage_domain_union_pw_multi_aff;
    /// From pairs of domains to pairs of ranges.
    fn product(take self, other: take UnionMap) -> UnionMap = isl_union_map_product;
    /// Paired domains, common range.
    fn domain_product(take self, other: take UnionMap) -> UnionMap = isl_union_map_domain_product;
    /// Paired ranges, common domain.
    fn range_product(take self, other: take UnionMap) -> UnionMap = isl_union_map_range_product;
    /// Concatenated domains, common range.
    fn flat_domain_product(take self, other: take UnionMap) -> UnionMap = isl_union_map_flat_domain_product;
    /// Concatenated ranges, common domain.
    fn flat_range_product(take self, other: take UnionMap) -> UnionMap = isl_union_map_flat_range_product;
    /// The maps between the domains of its pairs.
    fn factor_domain(take self) -> UnionMap = isl_union_map_factor_domain;
    /// The maps between the ranges of its pairs.
    fn factor_range(take self) -> UnionMap = isl_union_map_factor_range;
    /// The first part of the domains.
    fn domain_factor_domain(take self) -> UnionMap = isl_union_map_domain_factor_domain;
    /// The second part of the domains.
    fn domain_factor_range(take self) -> UnionMap = isl_union_map_domain_factor_range;
    /// The first part of the ranges.
    fn range_factor_domain(take self) -> UnionMap = isl_union_map_range_factor_domain;
    /// The second part of the ranges.
    fn range_factor_range(take self) -> UnionMap = isl_union_map_range_factor_range;
    /// From each pair to its element.
    fn domain_map(take self) -> UnionMap = isl_union_map_domain_map;
    /// From each pair to its element, as expressions.
    fn domain_map_union_pw_multi_aff(take self) -> UnionPwMultiAff = isl_union_map_domain_map_union_pw_multi_aff;
    /// From each pair to its image.
    fn range_map(take self) -> UnionMap = isl_union_map_range_map;
    /// `(A -> B) -> C` as `A -> (B -> C)`.
    fn curry(take self) -> UnionMap = isl_union_map_curry;
    /// `A -> (B -> C)` as `(A -> B) -> C`.
    fn uncurry(take self) -> UnionMap = isl_union_map_uncurry;
    /// Curries the ranges.
    fn range_curry(take self) -> UnionMap = isl_union_map_range_curry;
    /// `(A -> B) -> (C -> D)` as `(A -> C) -> (B -> D)`.
    fn zip(take self) -> UnionMap = isl_union_map_zip;
    /// As a set of pairs.
    fn wrap(take self) -> UnionSet = isl_union_map_wrap;
    /// The differences of image and element.
    fn deltas(take self) -> UnionSet = isl_union_map_deltas;
    /// From each pair to its difference.
    fn deltas_map(take self) -> UnionMap = isl_union_map_deltas_map;
    /// The least images of each element.
    fn lexmin(take self) -> UnionMap = isl_union_map_lexmin;
    /// The greatest images of each element.
    fn lexmax(take self) -> UnionMap = isl_union_map_lexmax;
    /// Pairs of domain elements, the image of the first lexicographically smaller.
    fn lex_lt_at(take self, other: take UnionMap) -> UnionMap = isl_union_map_lex_lt_union_map;
    /// Pairs of domain elements, the image of the first lexicographically not larger.
    fn lex_le_at(take self, other: take UnionMap) -> UnionMap = isl_union_map_lex_le_union_map;
    /// Pairs of domain elements, the image of the first lexicographically larger.
    fn lex_gt_at(take self, other: take UnionMap) -> UnionMap = isl_union_map_lex_gt_union_map;
    /// Pairs of domain elements, the image of the first lexicographically not smaller.
    fn lex_ge_at(take self, other: take UnionMap) -> UnionMap = isl_union_map_lex_ge_union_map;
    /// Its pairs whose first has the lexicographically smaller value.
    fn lex_lt_by(take self, mupa: take MultiUnionPwAff) -> UnionMap = isl_union_map_lex_lt_at_multi_union_pw_aff;
    /// Its pairs whose first has the lexicographically not larger value.
    fn lex_le_by(take self, mupa: take MultiUnionPwAff) -> UnionMap = isl_union_map_lex_le_at_multi_union_pw_aff;
    /// Its pairs whose first has the lexicographically larger value.
    fn lex_gt_by(take self, mupa: take MultiUnionPwAff) -> UnionMap = isl_union_map_lex_gt_at_multi_union_pw_aff;
    /// Its pairs whose first has the lexicographically not smaller value.
    fn lex_ge_by(take self, mupa: take MultiUnionPwAff) -> UnionMap = isl_union_map_lex_ge_at_multi_union_pw_aff;
    /// Its pairs that have equal values.
    fn eq_by(take self, mupa: take MultiUnionPwAff) -> UnionMap = isl_union_map_eq_at_multi_union_pw_aff;
    /// Whether it has no pair.
    fn is_empty(keep self) -> bool = isl_union_map_is_empty;
    /// Whether both have the same pairs.
    fn is_equal(keep self, other: keep UnionMap) -> bool = isl_union_map_is_equal;
    /// Whether each pair is in the other.
    fn is_subset(keep self, other: keep UnionMap) -> bool = isl_union_map_is_subset;
    /// Whether it is a subset and not equal.
    fn is_strict_subset(keep self, other: keep UnionMap) -> bool = isl_union_map_is_strict_subset;
    /// Whether no pair is in both.
    fn is_disjoint(keep self, other: keep UnionMap) -> bool = isl_union_map_is_disjoint;
    /// Whether each element has at most one image.
    fn is_single_valued(keep self) -> bool = isl_union_map_is_single_valued;
    /// Whether no two elements share an image.
    fn is_injective(keep self) -> bool = isl_union_map_is_injective;
    /// Whether it is single-valued and injective.
    fn is_bijective(keep self) -> bool = isl_union_map_is_bijective;
    /// Whether each element is its only image.
    fn is_identity(keep self) -> bool = isl_union_map_is_identity;
    /// Simplified where `context` holds.
    fn gist(take self, other: take UnionMap) -> UnionMap = isl_union_map_gist;
    /// Simplified where the domain is in `uset`.
    fn gist_domain(take self, uset: take UnionSet) -> UnionMap = isl_union_map_gist_domain;
    /// Simplified where the range is in `uset`.
    fn gist_range(take self, uset: take UnionSet) -> UnionMap = isl_union_map_gist_range;
    /// Simplified where the parameters are in `set`.
    fn gist_params(take self, set: take Set) -> UnionMap = isl_union_map_gist_params;
    /// Makes implied equalities explicit.
    fn detect_equalities(take self) -> UnionMap = isl_union_map_detect_equalities;
    /// Drops constraints implied by others.
    fn remove_redundancies(take self) -> UnionMap = isl_union_map_remove_redundancies;
    /// Makes integer divisions explicit.
    fn compute_divs(take self) -> UnionMap = isl_union_map_compute_divs;
    /// A conjunction around each map.
    fn simple_hull(take self) -> UnionMap = isl_union_map_simple_hull;
    /// The affine hull of each map.
    fn affine_hull(take self) -> UnionMap = isl_union_map_affine_hull;
    /// Forgets all parameters.
    fn project_out_all_params(take self) -> UnionMap = isl_union_map_project_out_all_params;
    /// Adds and reorders parameters as in `model`.
    fn align_params(take self, model: take Space) -> UnionMap = isl_union_map_align_params;
    /// Removes parameters that are not involved.
    fn drop_unused_params(take self) -> UnionMap = isl_union_map_drop_unused_params;
    /// A single-valued union into one space as expressions.
    fn as_multi_union_pw_aff(take self) -> MultiUnionPwAff = isl_union_map_as_multi_union_pw_aff;
    /// A single-valued union as expressions.
    fn as_union_pw_multi_aff(take self) -> UnionPwMultiAff = isl_union_map_as_union_pw_multi_aff;
    /// The `exp`-fold composition with itself.
    fn fixed_power(take self, exp: take Val) -> UnionMap = isl_union_map_fixed_power_val;
} }

coalescing! { UnionMap: isl_union_map_coalesce; }

listed! {
    UnionSet: isl_union_set_list_alloc, isl_union_set_list_add, isl_union_set_list_size, isl_union_set_list_get_at, isl_union_set_list_free;
    UnionMap: isl_union_map_list_alloc, isl_union_map_list_add, isl_union_map_list_size, isl_union_map_list_get_at, isl_union_map_list_free;
}

impl UnionSet {
    /// Its sets, sorted by the text of their spaces.
    pub fn sets(&self) -> Result<Vec<Set>, IslError> {
        let mut keyed = Vec::new();
        for set in self.sets_unsorted()? {
            keyed.push((set.space()?.to_string(), set));
        }
        keyed.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(keyed.into_iter().map(|(_, set)| set).collect())
    }
}

impl UnionMap {
    /// Its maps, sorted by the text of their spaces.
    pub fn maps(&self) -> Result<Vec<Map>, IslError> {
        let mut keyed = Vec::new();
        for map in self.maps_unsorted()? {
            keyed.push((map.space()?.to_string(), map));
        }
        keyed.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(keyed.into_iter().map(|(_, map)| map).collect())
    }
}

//! Quasi-affine expressions over several spaces, such as partial schedules.

use super::aff::{Aff, PwAff};
use super::ctx::Ctx;
use super::macros::{coalescing, constructors, listed, methods, object};
use super::multi::{MultiAff, MultiPwAff, PwMultiAff};
use super::set::Set;
use super::union::{UnionMap, UnionSet};
use super::value::{DimType, Id, MultiVal, Space, Val};

object! {
    /// Piecewise expressions of several domains.
    UnionPwAff: isl_rs::UnionPwAff, isl_union_pw_aff_copy, text isl_union_pw_aff_to_str, parse isl_union_pw_aff_read_from_str;
}

constructors! { UnionPwAff {
    /// The nowhere defined expression with the parameters of a space.
    fn empty(space: take Space) -> UnionPwAff = isl_union_pw_aff_empty;
    /// The nowhere defined expression without parameters.
    fn empty_in(ctx: within Ctx) -> UnionPwAff = isl_union_pw_aff_empty_ctx;
    /// One expression.
    fn from_aff(aff: take Aff) -> UnionPwAff = isl_union_pw_aff_from_aff;
    /// One piecewise expression.
    fn from_pw_aff(pa: take PwAff) -> UnionPwAff = isl_union_pw_aff_from_pw_aff;
    /// A constant on a domain.
    fn constant_on_domain(domain: take UnionSet, value: take Val) -> UnionPwAff = isl_union_pw_aff_val_on_domain;
    /// A parameter on a domain.
    fn param_on_domain(domain: take UnionSet, id: take Id) -> UnionPwAff = isl_union_pw_aff_param_on_domain_id;
    /// A parametric expression on a domain.
    fn aff_on_domain(domain: take UnionSet, aff: take Aff) -> UnionPwAff = isl_union_pw_aff_aff_on_domain;
    /// A parametric piecewise expression on a domain.
    fn pw_aff_on_domain(domain: take UnionSet, pa: take PwAff) -> UnionPwAff = isl_union_pw_aff_pw_aff_on_domain;
} }

methods! { UnionPwAff {
    /// Its parameters.
    fn space(keep self) -> Space = isl_union_pw_aff_get_space;
    /// Its expressions in isl's order, which is not fixed.
    fn pw_affs(keep self) -> Vec<PwAff> = isl_union_pw_aff_get_pw_aff_list;
    /// The expression of one space.
    fn extract_pw_aff(keep self, space: take Space) -> PwAff = isl_union_pw_aff_extract_pw_aff;
    /// Where it is defined.
    fn domain(take self) -> UnionSet = isl_union_pw_aff_domain;
    /// The sum, on the common domain.
    fn add(take self, other: take UnionPwAff) -> UnionPwAff = isl_union_pw_aff_add;
    /// The difference, on the common domain.
    fn sub(take self, other: take UnionPwAff) -> UnionPwAff = isl_union_pw_aff_sub;
    /// The negated expression.
    fn neg(take self) -> UnionPwAff = isl_union_pw_aff_neg;
    /// The sum where both are defined, else either; joins disjoint domains.
    fn union_add(take self, other: take UnionPwAff) -> UnionPwAff = isl_union_pw_aff_union_add;
    /// The product by a value.
    fn scale(take self, value: take Val) -> UnionPwAff = isl_union_pw_aff_scale_val;
    /// The exact quotient by a value.
    fn scale_down(take self, value: take Val) -> UnionPwAff = isl_union_pw_aff_scale_down_val;
    /// The remainder by a positive integer.
    fn modulo(take self, f: take Val) -> UnionPwAff = isl_union_pw_aff_mod_val;
    /// Rounded down.
    fn floor(take self) -> UnionPwAff = isl_union_pw_aff_floor;
    /// Restricted to a domain.
    fn intersect_domain(take self, uset: take UnionSet) -> UnionPwAff = isl_union_pw_aff_intersect_domain_union_set;
    /// Undefined on a domain.
    fn subtract_domain(take self, uset: take UnionSet) -> UnionPwAff = isl_union_pw_aff_subtract_domain_union_set;
    /// The composition with `upma`.
    fn pullback_union_pw_multi_aff(
        take self,
        upma: take UnionPwMultiAff
    ) -> UnionPwAff = isl_union_pw_aff_pullback_union_pw_multi_aff;
    /// Where it is zero.
    fn zero_set(take self) -> UnionSet = isl_union_pw_aff_zero_union_set;
    /// Simplified where `context` holds.
    fn gist(take self, context: take UnionSet) -> UnionPwAff = isl_union_pw_aff_gist;
    /// Whether both are obviously equal.
    fn is_plainly_equal(keep self, other: keep UnionPwAff) -> bool = isl_union_pw_aff_plain_is_equal;
    /// Adds and reorders parameters as in `model`.
    fn align_params(take self, model: take Space) -> UnionPwAff = isl_union_pw_aff_align_params;
    /// Removes parameters that are not involved.
    fn drop_unused_params(take self) -> UnionPwAff = isl_union_pw_aff_drop_unused_params;
} }

coalescing! { UnionPwAff: isl_union_pw_aff_coalesce; }

object! {
    /// Piecewise tuples of expressions of several domains.
    UnionPwMultiAff: isl_rs::UnionPwMultiAff, isl_union_pw_multi_aff_copy, text isl_union_pw_multi_aff_to_str, parse isl_union_pw_multi_aff_read_from_str;
}

constructors! { UnionPwMultiAff {
    /// The nowhere defined tuple.
    fn empty_in(ctx: within Ctx) -> UnionPwMultiAff = isl_union_pw_multi_aff_empty_ctx;
    /// One tuple.
    fn from_multi_aff(ma: take MultiAff) -> UnionPwMultiAff = isl_union_pw_multi_aff_from_multi_aff;
    /// One piecewise tuple.
    fn from_pw_multi_aff(pma: take PwMultiAff) -> UnionPwMultiAff = isl_union_pw_multi_aff_from_pw_multi_aff;
    /// A single-valued union as expressions.
    fn from_union_map(umap: take UnionMap) -> UnionPwMultiAff = isl_union_pw_multi_aff_from_union_map;
    /// The same tuples in another form.
    fn from_multi_union_pw_aff(
        mupa: take MultiUnionPwAff
    ) -> UnionPwMultiAff = isl_union_pw_multi_aff_from_multi_union_pw_aff;
    /// Each element to the empty tuple.
    fn from_domain(uset: take UnionSet) -> UnionPwMultiAff = isl_union_pw_multi_aff_from_domain;
    /// A constant tuple on a domain.
    fn constant_on_domain(
        domain: take UnionSet,
        mv: take MultiVal
    ) -> UnionPwMultiAff = isl_union_pw_multi_aff_multi_val_on_domain;
} }

methods! { UnionPwMultiAff {
    /// Its parameters.
    fn space(keep self) -> Space = isl_union_pw_multi_aff_get_space;
    /// The tuple of one space.
    fn extract_pw_multi_aff(keep self, space: take Space) -> PwMultiAff = isl_union_pw_multi_aff_extract_pw_multi_aff;
    /// Where it is defined.
    fn domain(take self) -> UnionSet = isl_union_pw_multi_aff_domain;
    /// The sum where both are defined, else either; joins disjoint domains.
    fn union_add(take self, other: take UnionPwMultiAff) -> UnionPwMultiAff = isl_union_pw_multi_aff_union_add;
    /// Concatenated ranges, common domain.
    fn flat_range_product(
        take self,
        other: take UnionPwMultiAff
    ) -> UnionPwMultiAff = isl_union_pw_multi_aff_flat_range_product;
    /// The first part of the ranges.
    fn range_factor_domain(take self) -> UnionPwMultiAff = isl_union_pw_multi_aff_range_factor_domain;
    /// Restricted to a domain.
    fn intersect_domain(
        take self,
        uset: take UnionSet
    ) -> UnionPwMultiAff = isl_union_pw_multi_aff_intersect_domain_union_set;
    /// The composition with `upma2`.
    fn pullback_union_pw_multi_aff(
        take self,
        other: take UnionPwMultiAff
    ) -> UnionPwMultiAff = isl_union_pw_multi_aff_pullback_union_pw_multi_aff;
    /// The element at `pos`.
    fn union_pw_aff(keep self, pos: val i32) -> UnionPwAff = isl_union_pw_multi_aff_get_union_pw_aff;
    /// Simplified where `context` holds.
    fn gist(take self, context: take UnionSet) -> UnionPwMultiAff = isl_union_pw_multi_aff_gist;
    /// Whether both are obviously equal.
    fn is_plainly_equal(keep self, other: keep UnionPwMultiAff) -> bool = isl_union_pw_multi_aff_plain_is_equal;
} }

coalescing! { UnionPwMultiAff: isl_union_pw_multi_aff_coalesce; }

object! {
    /// A tuple of expressions of several domains, such as a partial schedule.
    MultiUnionPwAff: isl_rs::MultiUnionPwAff, isl_multi_union_pw_aff_copy, text isl_multi_union_pw_aff_to_str, parse isl_multi_union_pw_aff_read_from_str;
}

constructors! { MultiUnionPwAff {
    /// All zero in a set space.
    fn zero(space: take Space) -> MultiUnionPwAff = isl_multi_union_pw_aff_zero;
    /// A tuple of one.
    fn from_union_pw_aff(upa: take UnionPwAff) -> MultiUnionPwAff = isl_multi_union_pw_aff_from_union_pw_aff;
    /// The tuple of `upas` in a set space.
    fn from_union_pw_affs(
        space: take Space,
        list: list UnionPwAff
    ) -> MultiUnionPwAff = isl_multi_union_pw_aff_from_union_pw_aff_list;
    /// One tuple.
    fn from_multi_aff(ma: take MultiAff) -> MultiUnionPwAff = isl_multi_union_pw_aff_from_multi_aff;
    /// One piecewise tuple.
    fn from_multi_pw_aff(mpa: take MultiPwAff) -> MultiUnionPwAff = isl_multi_union_pw_aff_from_multi_pw_aff;
    /// A single-valued union into one space.
    fn from_union_map(umap: take UnionMap) -> MultiUnionPwAff = isl_multi_union_pw_aff_from_union_map;
    /// The same tuple in another form.
    fn from_union_pw_multi_aff(
        upma: take UnionPwMultiAff
    ) -> MultiUnionPwAff = isl_multi_union_pw_aff_from_union_pw_multi_aff;
    /// A constant tuple on a domain.
    fn constant_on_domain(
        domain: take UnionSet,
        mv: take MultiVal
    ) -> MultiUnionPwAff = isl_multi_union_pw_aff_multi_val_on_domain;
    /// A parametric tuple on a domain.
    fn multi_aff_on_domain(
        domain: take UnionSet,
        ma: take MultiAff
    ) -> MultiUnionPwAff = isl_multi_union_pw_aff_multi_aff_on_domain;
} }

methods! { MultiUnionPwAff {
    /// The space of its values.
    fn space(keep self) -> Space = isl_multi_union_pw_aff_get_space;
    /// Number of dimensions of one kind.
    fn dim(keep self, dim: val DimType) -> u32 = isl_multi_union_pw_aff_dim;
    /// Number of elements.
    fn size(keep self) -> u32 = isl_multi_union_pw_aff_size;
    /// The element at `pos`.
    fn at(keep self, pos: val i32) -> UnionPwAff = isl_multi_union_pw_aff_get_at;
    /// Replaces the element at `pos`.
    fn set_at(take self, pos: val i32, el: take UnionPwAff) -> MultiUnionPwAff = isl_multi_union_pw_aff_set_at;
    /// All elements.
    fn union_pw_affs(keep self) -> Vec<UnionPwAff> = isl_multi_union_pw_aff_get_list;
    /// Where it is defined.
    fn domain(take self) -> UnionSet = isl_multi_union_pw_aff_domain;
    /// The element-wise sum.
    fn add(take self, other: take MultiUnionPwAff) -> MultiUnionPwAff = isl_multi_union_pw_aff_add;
    /// The element-wise difference.
    fn sub(take self, other: take MultiUnionPwAff) -> MultiUnionPwAff = isl_multi_union_pw_aff_sub;
    /// The negated tuple.
    fn neg(take self) -> MultiUnionPwAff = isl_multi_union_pw_aff_neg;
    /// The sum where both are defined, else either; joins disjoint domains.
    fn union_add(take self, other: take MultiUnionPwAff) -> MultiUnionPwAff = isl_multi_union_pw_aff_union_add;
    /// Elements times values.
    fn scale(take self, mv: take MultiVal) -> MultiUnionPwAff = isl_multi_union_pw_aff_scale_multi_val;
    /// Elements by values.
    fn scale_down(take self, mv: take MultiVal) -> MultiUnionPwAff = isl_multi_union_pw_aff_scale_down_multi_val;
    /// Element-wise remainders.
    fn modulo(take self, mv: take MultiVal) -> MultiUnionPwAff = isl_multi_union_pw_aff_mod_multi_val;
    /// All elements rounded down.
    fn floor(take self) -> MultiUnionPwAff = isl_multi_union_pw_aff_floor;
    /// Paired ranges, common domain.
    fn range_product(take self, other: take MultiUnionPwAff) -> MultiUnionPwAff = isl_multi_union_pw_aff_range_product;
    /// Concatenated ranges, common domain.
    fn flat_range_product(
        take self,
        other: take MultiUnionPwAff
    ) -> MultiUnionPwAff = isl_multi_union_pw_aff_flat_range_product;
    /// Inserts `multi2` at `pos`.
    fn range_splice(
        take self,
        pos: val u32,
        other: take MultiUnionPwAff
    ) -> MultiUnionPwAff = isl_multi_union_pw_aff_range_splice;
    /// Removes elements.
    fn drop_dims(
        take self,
        dim: val DimType,
        first: val u32,
        n: val u32
    ) -> MultiUnionPwAff = isl_multi_union_pw_aff_drop_dims;
    /// Restricted to a domain.
    fn intersect_domain(take self, uset: take UnionSet) -> MultiUnionPwAff = isl_multi_union_pw_aff_intersect_domain;
    /// Restricted to parameter values.
    fn intersect_params(take self, params: take Set) -> MultiUnionPwAff = isl_multi_union_pw_aff_intersect_params;
    /// The composition with `upma`.
    fn pullback_union_pw_multi_aff(
        take self,
        upma: take UnionPwMultiAff
    ) -> MultiUnionPwAff = isl_multi_union_pw_aff_pullback_union_pw_multi_aff;
    /// Where all are zero.
    fn zero_set(take self) -> UnionSet = isl_multi_union_pw_aff_zero_union_set;
    /// Its values sent through `ma`.
    fn apply_multi_aff(take self, ma: take MultiAff) -> MultiUnionPwAff = isl_multi_union_pw_aff_apply_multi_aff;
    /// Its values sent through `pma`.
    fn apply_pw_multi_aff(
        take self,
        pma: take PwMultiAff
    ) -> MultiUnionPwAff = isl_multi_union_pw_aff_apply_pw_multi_aff;
    /// Simplified where `context` holds.
    fn gist(take self, context: take UnionSet) -> MultiUnionPwAff = isl_multi_union_pw_aff_gist;
    /// Whether both are obviously equal.
    fn is_plainly_equal(keep self, other: keep MultiUnionPwAff) -> bool = isl_multi_union_pw_aff_plain_is_equal;
    /// Names the tuple.
    fn set_tuple_id(take self, dim: val DimType, id: take Id) -> MultiUnionPwAff = isl_multi_union_pw_aff_set_tuple_id;
    /// Takes the tuple's name away.
    fn reset_tuple_id(take self, dim: val DimType) -> MultiUnionPwAff = isl_multi_union_pw_aff_reset_tuple_id;
    /// Names a dimension.
    fn set_dim_id(
        take self,
        dim: val DimType,
        pos: val u32,
        id: take Id
    ) -> MultiUnionPwAff = isl_multi_union_pw_aff_set_dim_id;
    /// Adds and reorders parameters as in `model`.
    fn align_params(take self, model: take Space) -> MultiUnionPwAff = isl_multi_union_pw_aff_align_params;
} }

coalescing! { MultiUnionPwAff: isl_multi_union_pw_aff_coalesce; }

listed! {
    UnionPwAff: isl_union_pw_aff_list_alloc, isl_union_pw_aff_list_add, isl_union_pw_aff_list_size, isl_union_pw_aff_list_get_at, isl_union_pw_aff_list_free;
}

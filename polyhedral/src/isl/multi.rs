//! Tuples of quasi-affine expressions.

use std::ffi::c_void;

use super::aff::{Aff, PwAff};
use super::callback::{PieceFn, collect_pieces};
use super::error::IslError;
use super::macros::{coalescing, constructors, listed, methods, object};
use super::map::Map;
use super::set::Set;
use super::value::{DimType, Id, MultiVal, Space, Val};

object! {
    /// A tuple of quasi-affine expressions on one domain.
    MultiAff: isl_rs::MultiAff, isl_multi_aff_copy, text isl_multi_aff_to_str, parse isl_multi_aff_read_from_str;
}

constructors! { MultiAff {
    /// A tuple of one.
    fn from_aff(aff: take Aff) -> MultiAff = isl_multi_aff_from_aff;
    /// The tuple of `affs` in a map space.
    fn from_affs(space: take Space, list: list Aff) -> MultiAff = isl_multi_aff_from_aff_list;
    /// All zero in a map space.
    fn zero(space: take Space) -> MultiAff = isl_multi_aff_zero;
    /// The identity on a set space.
    fn identity_on_domain(space: take Space) -> MultiAff = isl_multi_aff_identity_on_domain_space;
    /// A constant tuple on a set space.
    fn constant_on_domain(space: take Space, mv: take MultiVal) -> MultiAff = isl_multi_aff_multi_val_on_domain_space;
    /// From a wrapped map space to its domain.
    fn domain_map(space: take Space) -> MultiAff = isl_multi_aff_domain_map;
    /// From a wrapped map space to its range.
    fn range_map(space: take Space) -> MultiAff = isl_multi_aff_range_map;
    /// The projection that forgets dimensions of a set space.
    fn project_out_map(
        space: take Space,
        dim: val DimType,
        first: val u32,
        n: val u32
    ) -> MultiAff = isl_multi_aff_project_out_map;
} }

methods! { MultiAff {
    /// Its space.
    fn space(keep self) -> Space = isl_multi_aff_get_space;
    /// The space it is defined on.
    fn domain_space(keep self) -> Space = isl_multi_aff_get_domain_space;
    /// Number of dimensions of one kind.
    fn dim(keep self, dim: val DimType) -> u32 = isl_multi_aff_dim;
    /// Number of elements.
    fn size(keep self) -> u32 = isl_multi_aff_size;
    /// The element at `pos`.
    fn at(keep self, pos: val i32) -> Aff = isl_multi_aff_get_at;
    /// Replaces the element at `pos`.
    fn set_at(take self, pos: val i32, el: take Aff) -> MultiAff = isl_multi_aff_set_at;
    /// All elements.
    fn affs(keep self) -> Vec<Aff> = isl_multi_aff_get_list;
    /// The element-wise sum.
    fn add(take self, other: take MultiAff) -> MultiAff = isl_multi_aff_add;
    /// The element-wise difference.
    fn sub(take self, other: take MultiAff) -> MultiAff = isl_multi_aff_sub;
    /// The negated tuple.
    fn neg(take self) -> MultiAff = isl_multi_aff_neg;
    /// All elements times a value.
    fn scale(take self, value: take Val) -> MultiAff = isl_multi_aff_scale_val;
    /// Element-wise remainders.
    fn modulo(take self, mv: take MultiVal) -> MultiAff = isl_multi_aff_mod_multi_val;
    /// From pairs of domains to pairs of ranges.
    fn product(take self, other: take MultiAff) -> MultiAff = isl_multi_aff_product;
    /// Concatenated range, common domain.
    fn flat_range_product(take self, other: take MultiAff) -> MultiAff = isl_multi_aff_flat_range_product;
    /// Paired ranges, common domain.
    fn range_product(take self, other: take MultiAff) -> MultiAff = isl_multi_aff_range_product;
    /// The range as one flat tuple.
    fn flatten_range(take self) -> MultiAff = isl_multi_aff_flatten_range;
    /// All elements rounded down.
    fn floor(take self) -> MultiAff = isl_multi_aff_floor;
    /// The composition `self(ma2)`.
    fn pullback_multi_aff(take self, other: take MultiAff) -> MultiAff = isl_multi_aff_pullback_multi_aff;
    /// Simplified where `context` holds.
    fn gist(take self, context: take Set) -> MultiAff = isl_multi_aff_gist;
    /// Simplified where the parameters are in `context`.
    fn gist_params(take self, context: take Set) -> MultiAff = isl_multi_aff_gist_params;
    /// Where `self` is lexicographically smaller.
    fn lex_lt_set(take self, other: take MultiAff) -> Set = isl_multi_aff_lex_lt_set;
    /// Where `self` is lexicographically not larger.
    fn lex_le_set(take self, other: take MultiAff) -> Set = isl_multi_aff_lex_le_set;
    /// Where `self` is lexicographically larger.
    fn lex_gt_set(take self, other: take MultiAff) -> Set = isl_multi_aff_lex_gt_set;
    /// Where `self` is lexicographically not smaller.
    fn lex_ge_set(take self, other: take MultiAff) -> Set = isl_multi_aff_lex_ge_set;
    /// Whether both are obviously equal.
    fn is_plainly_equal(keep self, other: keep MultiAff) -> bool = isl_multi_aff_plain_is_equal;
    /// Whether it involves any of these dimensions.
    fn involves_dims(keep self, dim: val DimType, first: val u32, n: val u32) -> bool = isl_multi_aff_involves_dims;
    /// Names a tuple.
    fn set_tuple_id(take self, dim: val DimType, id: take Id) -> MultiAff = isl_multi_aff_set_tuple_id;
    /// Takes a tuple's name away.
    fn reset_tuple_id(take self, dim: val DimType) -> MultiAff = isl_multi_aff_reset_tuple_id;
    /// The id of a tuple, which must have one.
    fn tuple_id(keep self, dim: val DimType) -> Id = isl_multi_aff_get_tuple_id;
    /// Whether a tuple has an id.
    fn has_tuple_id(keep self, dim: val DimType) -> bool = isl_multi_aff_has_tuple_id;
    /// Names a dimension.
    fn set_dim_id(take self, dim: val DimType, pos: val u32, id: take Id) -> MultiAff = isl_multi_aff_set_dim_id;
    /// Adds and reorders parameters as in `model`.
    fn align_params(take self, model: take Space) -> MultiAff = isl_multi_aff_align_params;
    /// Adds dimensions.
    fn add_dims(take self, dim: val DimType, n: val u32) -> MultiAff = isl_multi_aff_add_dims;
    /// Inserts dimensions.
    fn insert_dims(take self, dim: val DimType, first: val u32, n: val u32) -> MultiAff = isl_multi_aff_insert_dims;
    /// Removes dimensions.
    fn drop_dims(take self, dim: val DimType, first: val u32, n: val u32) -> MultiAff = isl_multi_aff_drop_dims;
} }

object! {
    /// A piecewise tuple of quasi-affine expressions.
    PwMultiAff: isl_rs::PwMultiAff, isl_pw_multi_aff_copy, text isl_pw_multi_aff_to_str, parse isl_pw_multi_aff_read_from_str;
}

constructors! { PwMultiAff {
    /// A tuple defined everywhere.
    fn from_multi_aff(ma: take MultiAff) -> PwMultiAff = isl_pw_multi_aff_from_multi_aff;
    /// A tuple of one.
    fn from_pw_aff(pa: take PwAff) -> PwMultiAff = isl_pw_multi_aff_from_pw_aff;
    /// A single-valued map as expressions.
    fn from_map(map: take Map) -> PwMultiAff = isl_pw_multi_aff_from_map;
    /// A singleton set as expressions of the parameters.
    fn from_set(set: take Set) -> PwMultiAff = isl_pw_multi_aff_from_set;
    /// Piecewise elements as a piecewise tuple.
    fn from_multi_pw_aff(mpa: take MultiPwAff) -> PwMultiAff = isl_pw_multi_aff_from_multi_pw_aff;
    /// The tuple `maff` on `set`.
    fn from_piece(set: take Set, maff: take MultiAff) -> PwMultiAff = isl_pw_multi_aff_alloc;
    /// The nowhere defined tuple of a space.
    fn empty(space: take Space) -> PwMultiAff = isl_pw_multi_aff_empty;
    /// The identity on a set space.
    fn identity_on_domain(space: take Space) -> PwMultiAff = isl_pw_multi_aff_identity_on_domain_space;
    /// A constant tuple on a set.
    fn constant_on_set(domain: take Set, mv: take MultiVal) -> PwMultiAff = isl_pw_multi_aff_multi_val_on_domain;
} }

methods! { PwMultiAff {
    /// Its space.
    fn space(keep self) -> Space = isl_pw_multi_aff_get_space;
    /// The space it is defined on.
    fn domain_space(keep self) -> Space = isl_pw_multi_aff_get_domain_space;
    /// Number of dimensions of one kind.
    fn dim(keep self, dim: val DimType) -> u32 = isl_pw_multi_aff_dim;
    /// Number of pieces.
    fn piece_count(keep self) -> u32 = isl_pw_multi_aff_n_piece;
    /// Whether it is a single tuple defined everywhere.
    fn is_multi_aff(keep self) -> bool = isl_pw_multi_aff_isa_multi_aff;
    /// As a single tuple, when it is one.
    fn as_multi_aff(take self) -> MultiAff = isl_pw_multi_aff_as_multi_aff;
    /// The element at `pos`.
    fn at(keep self, pos: val i32) -> PwAff = isl_pw_multi_aff_get_at;
    /// The element at `pos`.
    fn pw_aff(keep self, pos: val i32) -> PwAff = isl_pw_multi_aff_get_pw_aff;
    /// Replaces the element at `pos`.
    fn set_pw_aff(take self, pos: val u32, pa: take PwAff) -> PwMultiAff = isl_pw_multi_aff_set_pw_aff;
    /// Where it is defined.
    fn domain(take self) -> Set = isl_pw_multi_aff_domain;
    /// The element-wise sum.
    fn add(take self, other: take PwMultiAff) -> PwMultiAff = isl_pw_multi_aff_add;
    /// The element-wise difference.
    fn sub(take self, other: take PwMultiAff) -> PwMultiAff = isl_pw_multi_aff_sub;
    /// The sum where both are defined, else either.
    fn union_add(take self, other: take PwMultiAff) -> PwMultiAff = isl_pw_multi_aff_union_add;
    /// The lexicographically smaller where both are defined, else either.
    fn union_lexmin(take self, other: take PwMultiAff) -> PwMultiAff = isl_pw_multi_aff_union_lexmin;
    /// The lexicographically larger where both are defined, else either.
    fn union_lexmax(take self, other: take PwMultiAff) -> PwMultiAff = isl_pw_multi_aff_union_lexmax;
    /// Paired ranges, common domain.
    fn range_product(take self, other: take PwMultiAff) -> PwMultiAff = isl_pw_multi_aff_range_product;
    /// Concatenated range, common domain.
    fn flat_range_product(take self, other: take PwMultiAff) -> PwMultiAff = isl_pw_multi_aff_flat_range_product;
    /// From pairs of domains to pairs of ranges.
    fn product(take self, other: take PwMultiAff) -> PwMultiAff = isl_pw_multi_aff_product;
    /// Restricted to a domain.
    fn intersect_domain(take self, set: take Set) -> PwMultiAff = isl_pw_multi_aff_intersect_domain;
    /// Restricted to parameter values.
    fn intersect_params(take self, set: take Set) -> PwMultiAff = isl_pw_multi_aff_intersect_params;
    /// Undefined on `set`.
    fn subtract_domain(take self, set: take Set) -> PwMultiAff = isl_pw_multi_aff_subtract_domain;
    /// The composition `self(ma)`.
    fn pullback_multi_aff(take self, ma: take MultiAff) -> PwMultiAff = isl_pw_multi_aff_pullback_multi_aff;
    /// The composition `self(pma2)`.
    fn pullback_pw_multi_aff(take self, other: take PwMultiAff) -> PwMultiAff = isl_pw_multi_aff_pullback_pw_multi_aff;
    /// Simplified where `set` holds.
    fn gist(take self, set: take Set) -> PwMultiAff = isl_pw_multi_aff_gist;
    /// Simplified where the parameters are in `set`.
    fn gist_params(take self, set: take Set) -> PwMultiAff = isl_pw_multi_aff_gist_params;
    /// Whether both are equal.
    fn is_equal(keep self, other: keep PwMultiAff) -> bool = isl_pw_multi_aff_is_equal;
    /// Names a tuple.
    fn set_tuple_id(take self, dim: val DimType, id: take Id) -> PwMultiAff = isl_pw_multi_aff_set_tuple_id;
    /// Takes a tuple's name away.
    fn reset_tuple_id(take self, dim: val DimType) -> PwMultiAff = isl_pw_multi_aff_reset_tuple_id;
    /// Names a dimension.
    fn set_dim_id(take self, dim: val DimType, pos: val u32, id: take Id) -> PwMultiAff = isl_pw_multi_aff_set_dim_id;
    /// Adds and reorders parameters as in `model`.
    fn align_params(take self, model: take Space) -> PwMultiAff = isl_pw_multi_aff_align_params;
    /// Removes dimensions.
    fn drop_dims(take self, dim: val DimType, first: val u32, n: val u32) -> PwMultiAff = isl_pw_multi_aff_drop_dims;
} }

coalescing! { PwMultiAff: isl_pw_multi_aff_coalesce; }

object! {
    /// A tuple of piecewise quasi-affine expressions.
    MultiPwAff: isl_rs::MultiPwAff, isl_multi_pw_aff_copy, text isl_multi_pw_aff_to_str, parse isl_multi_pw_aff_read_from_str;
}

constructors! { MultiPwAff {
    /// A tuple of one.
    fn from_pw_aff(pa: take PwAff) -> MultiPwAff = isl_multi_pw_aff_from_pw_aff;
    /// The tuple of `pwaffs` in a map space.
    fn from_pw_affs(space: take Space, list: list PwAff) -> MultiPwAff = isl_multi_pw_aff_from_pw_aff_list;
    /// Elements defined everywhere.
    fn from_multi_aff(ma: take MultiAff) -> MultiPwAff = isl_multi_pw_aff_from_multi_aff;
    /// A piecewise tuple as piecewise elements.
    fn from_pw_multi_aff(pma: take PwMultiAff) -> MultiPwAff = isl_multi_pw_aff_from_pw_multi_aff;
    /// All zero in a map space.
    fn zero(space: take Space) -> MultiPwAff = isl_multi_pw_aff_zero;
    /// The identity on a set space.
    fn identity_on_domain(space: take Space) -> MultiPwAff = isl_multi_pw_aff_identity_on_domain_space;
} }

methods! { MultiPwAff {
    /// Its space.
    fn space(keep self) -> Space = isl_multi_pw_aff_get_space;
    /// The space it is defined on.
    fn domain_space(keep self) -> Space = isl_multi_pw_aff_get_domain_space;
    /// Number of dimensions of one kind.
    fn dim(keep self, dim: val DimType) -> u32 = isl_multi_pw_aff_dim;
    /// Number of elements.
    fn size(keep self) -> u32 = isl_multi_pw_aff_size;
    /// The element at `pos`.
    fn at(keep self, pos: val i32) -> PwAff = isl_multi_pw_aff_get_at;
    /// Replaces the element at `pos`.
    fn set_at(take self, pos: val i32, el: take PwAff) -> MultiPwAff = isl_multi_pw_aff_set_at;
    /// All elements.
    fn pw_affs(keep self) -> Vec<PwAff> = isl_multi_pw_aff_get_list;
    /// Where all elements are defined.
    fn domain(take self) -> Set = isl_multi_pw_aff_domain;
    /// The element-wise sum.
    fn add(take self, other: take MultiPwAff) -> MultiPwAff = isl_multi_pw_aff_add;
    /// The element-wise difference.
    fn sub(take self, other: take MultiPwAff) -> MultiPwAff = isl_multi_pw_aff_sub;
    /// The element-wise minimum.
    fn min(take self, other: take MultiPwAff) -> MultiPwAff = isl_multi_pw_aff_min;
    /// The element-wise maximum.
    fn max(take self, other: take MultiPwAff) -> MultiPwAff = isl_multi_pw_aff_max;
    /// Adds a value to all elements.
    fn add_constant(take self, value: take Val) -> MultiPwAff = isl_multi_pw_aff_add_constant_val;
    /// Concatenated range, common domain.
    fn flat_range_product(take self, other: take MultiPwAff) -> MultiPwAff = isl_multi_pw_aff_flat_range_product;
    /// Paired ranges, common domain.
    fn range_product(take self, other: take MultiPwAff) -> MultiPwAff = isl_multi_pw_aff_range_product;
    /// From pairs of domains to pairs of ranges.
    fn product(take self, other: take MultiPwAff) -> MultiPwAff = isl_multi_pw_aff_product;
    /// Restricted to a domain.
    fn intersect_domain(take self, domain: take Set) -> MultiPwAff = isl_multi_pw_aff_intersect_domain;
    /// Restricted to parameter values.
    fn intersect_params(take self, set: take Set) -> MultiPwAff = isl_multi_pw_aff_intersect_params;
    /// The composition `self(ma)`.
    fn pullback_multi_aff(take self, ma: take MultiAff) -> MultiPwAff = isl_multi_pw_aff_pullback_multi_aff;
    /// The composition `self(pma)`.
    fn pullback_pw_multi_aff(take self, pma: take PwMultiAff) -> MultiPwAff = isl_multi_pw_aff_pullback_pw_multi_aff;
    /// The composition `self(mpa2)`.
    fn pullback_multi_pw_aff(take self, other: take MultiPwAff) -> MultiPwAff = isl_multi_pw_aff_pullback_multi_pw_aff;
    /// The least value of each element.
    fn min_multi_val(take self) -> MultiVal = isl_multi_pw_aff_min_multi_val;
    /// The greatest value of each element.
    fn max_multi_val(take self) -> MultiVal = isl_multi_pw_aff_max_multi_val;
    /// Simplified where `set` holds.
    fn gist(take self, set: take Set) -> MultiPwAff = isl_multi_pw_aff_gist;
    /// Simplified where the parameters are in `set`.
    fn gist_params(take self, set: take Set) -> MultiPwAff = isl_multi_pw_aff_gist_params;
    /// Whether all elements are constant.
    fn is_constant(keep self) -> bool = isl_multi_pw_aff_is_cst;
    /// Whether both are equal.
    fn is_equal(keep self, other: keep MultiPwAff) -> bool = isl_multi_pw_aff_is_equal;
    /// Names a tuple.
    fn set_tuple_id(take self, dim: val DimType, id: take Id) -> MultiPwAff = isl_multi_pw_aff_set_tuple_id;
    /// Takes a tuple's name away.
    fn reset_tuple_id(take self, dim: val DimType) -> MultiPwAff = isl_multi_pw_aff_reset_tuple_id;
    /// Names a dimension.
    fn set_dim_id(take self, dim: val DimType, pos: val u32, id: take Id) -> MultiPwAff = isl_multi_pw_aff_set_dim_id;
    /// Adds and reorders parameters as in `model`.
    fn align_params(take self, model: take Space) -> MultiPwAff = isl_multi_pw_aff_align_params;
} }

coalescing! { MultiPwAff: isl_multi_pw_aff_coalesce; }

listed! {
    PwMultiAff: isl_pw_multi_aff_list_alloc, isl_pw_multi_aff_list_add, isl_pw_multi_aff_list_size, isl_pw_multi_aff_list_get_at, isl_pw_multi_aff_list_free;
}

impl PwMultiAff {
    /// Its pieces: disjoint domains, a tuple on each.
    pub fn pieces(&self) -> Result<Vec<(Set, MultiAff)>, IslError> {
        unsafe extern "C" {
            fn isl_pw_multi_aff_foreach_piece(object: usize, f: PieceFn, user: *mut c_void) -> std::ffi::c_int;
        }
        // SAFETY: the function keeps the object and gives each piece, a set and a multi_aff, to the callback.
        unsafe { collect_pieces(self, isl_pw_multi_aff_foreach_piece) }
    }
}

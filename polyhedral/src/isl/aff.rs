//! Quasi-affine expressions, alone and piecewise.

use std::ffi::c_void;

use super::callback::{PieceFn, collect_pieces};
use super::error::IslError;
use super::macros::{coalescing, constructors, listed, methods, object};
use super::map::Map;
use super::multi::{MultiAff, MultiPwAff, PwMultiAff};
use super::set::{BasicSet, Set};
use super::value::{DimType, Id, LocalSpace, Point, Space, Val};

object! {
    /// A quasi-affine expression of a domain.
    Aff: isl_rs::Aff, isl_aff_copy, text isl_aff_to_str, parse isl_aff_read_from_str;
}

constructors! { Aff {
    /// Zero on a set space.
    fn zero_on_domain(space: take Space) -> Aff = isl_aff_zero_on_domain_space;
    /// Zero on a local space.
    fn zero_on_local_space(ls: take LocalSpace) -> Aff = isl_aff_zero_on_domain;
    /// A constant on a set space.
    fn constant_on_domain(space: take Space, value: take Val) -> Aff = isl_aff_val_on_domain_space;
    /// One dimension of a local space.
    fn var_on_local_space(ls: take LocalSpace, dim: val DimType, pos: val u32) -> Aff = isl_aff_var_on_domain;
    /// The parameter `id` on a set space.
    fn param_on_domain(space: take Space, id: take Id) -> Aff = isl_aff_param_on_domain_space_id;
} }

methods! { Aff {
    /// Its space, domain to one unnamed dimension.
    fn space(keep self) -> Space = isl_aff_get_space;
    /// The space it is defined on.
    fn domain_space(keep self) -> Space = isl_aff_get_domain_space;
    /// The local space, with divisions, it is defined on.
    fn domain_local_space(keep self) -> LocalSpace = isl_aff_get_domain_local_space;
    /// Number of dimensions of one kind.
    fn dim(keep self, dim: val DimType) -> u32 = isl_aff_dim;
    /// The constant term, with its denominator.
    fn constant(keep self) -> Val = isl_aff_get_constant_val;
    /// The coefficient of a dimension, with its denominator.
    fn coefficient(keep self, dim: val DimType, pos: val i32) -> Val = isl_aff_get_coefficient_val;
    /// The common denominator.
    fn denominator(keep self) -> Val = isl_aff_get_denominator_val;
    /// The integer division at `pos`, as an expression to be rounded down.
    fn get_div(keep self, pos: val i32) -> Aff = isl_aff_get_div;
    /// Replaces the constant term.
    fn set_constant(take self, value: take Val) -> Aff = isl_aff_set_constant_val;
    /// Replaces the constant term.
    fn set_constant_i32(take self, v: val i32) -> Aff = isl_aff_set_constant_si;
    /// Replaces a coefficient.
    fn set_coefficient(take self, dim: val DimType, pos: val i32, value: take Val) -> Aff = isl_aff_set_coefficient_val;
    /// Replaces a coefficient.
    fn set_coefficient_i32(take self, dim: val DimType, pos: val i32, v: val i32) -> Aff = isl_aff_set_coefficient_si;
    /// Adds a constant.
    fn add_constant(take self, value: take Val) -> Aff = isl_aff_add_constant_val;
    /// Adds a constant.
    fn add_constant_i32(take self, v: val i32) -> Aff = isl_aff_add_constant_si;
    /// Adds to a coefficient.
    fn add_coefficient(take self, dim: val DimType, pos: val i32, value: take Val) -> Aff = isl_aff_add_coefficient_val;
    /// Adds to a coefficient.
    fn add_coefficient_i32(take self, dim: val DimType, pos: val i32, v: val i32) -> Aff = isl_aff_add_coefficient_si;
    /// The sum.
    fn add(take self, other: take Aff) -> Aff = isl_aff_add;
    /// The difference.
    fn sub(take self, other: take Aff) -> Aff = isl_aff_sub;
    /// The negated expression.
    fn neg(take self) -> Aff = isl_aff_neg;
    /// The product; one factor must be constant.
    fn mul(take self, other: take Aff) -> Aff = isl_aff_mul;
    /// The exact quotient by a constant.
    fn div(take self, other: take Aff) -> Aff = isl_aff_div;
    /// The product by a value.
    fn scale_val(take self, value: take Val) -> Aff = isl_aff_scale_val;
    /// The exact quotient by a value.
    fn scale_down_val(take self, value: take Val) -> Aff = isl_aff_scale_down_val;
    /// The exact quotient by an integer.
    fn scale_down_u32(take self, f: val u32) -> Aff = isl_aff_scale_down_ui;
    /// Rounded down.
    fn floor(take self) -> Aff = isl_aff_floor;
    /// Rounded up.
    fn ceil(take self) -> Aff = isl_aff_ceil;
    /// The remainder by a positive integer, between 0 and it.
    fn modulo_val(take self, mod_: take Val) -> Aff = isl_aff_mod_val;
    /// Whether it involves any of these dimensions.
    fn involves_dims(keep self, dim: val DimType, first: val u32, n: val u32) -> bool = isl_aff_involves_dims;
    /// Whether it is a constant.
    fn is_constant(keep self) -> bool = isl_aff_is_cst;
    /// Whether it is NaN.
    fn is_nan(keep self) -> bool = isl_aff_is_nan;
    /// Whether both are obviously equal.
    fn is_plainly_equal(keep self, other: keep Aff) -> bool = isl_aff_plain_is_equal;
    /// Whether it is obviously zero.
    fn is_plainly_zero(keep self) -> bool = isl_aff_plain_is_zero;
    /// Names a dimension.
    fn set_dim_id(take self, dim: val DimType, pos: val u32, id: take Id) -> Aff = isl_aff_set_dim_id;
    /// Names a dimension.
    fn set_dim_name(take self, dim: val DimType, pos: val u32, s: text str) -> Aff = isl_aff_set_dim_name;
    /// Expressed on the parameters only.
    fn project_domain_on_params(take self) -> Aff = isl_aff_project_domain_on_params;
    /// The composition `self(aff2)`.
    fn pullback_aff(take self, other: take Aff) -> Aff = isl_aff_pullback_aff;
    /// The composition `self(ma)`.
    fn pullback_multi_aff(take self, ma: take MultiAff) -> Aff = isl_aff_pullback_multi_aff;
    /// Simplified where `context` holds.
    fn gist(take self, context: take Set) -> Aff = isl_aff_gist;
    /// Simplified where the parameters are in `context`.
    fn gist_params(take self, context: take Set) -> Aff = isl_aff_gist_params;
    /// Adds and reorders parameters as in `model`.
    fn align_params(take self, model: take Space) -> Aff = isl_aff_align_params;
    /// Adds domain dimensions at the end.
    fn add_dims(take self, dim: val DimType, n: val u32) -> Aff = isl_aff_add_dims;
    /// Inserts domain dimensions.
    fn insert_dims(take self, dim: val DimType, first: val u32, n: val u32) -> Aff = isl_aff_insert_dims;
    /// Removes dimensions that are not involved.
    fn drop_dims(take self, dim: val DimType, first: val u32, n: val u32) -> Aff = isl_aff_drop_dims;
    /// Moves dimensions to another kind or place.
    fn move_dims(
        take self,
        dst_dim: val DimType,
        dst_pos: val u32,
        src_dim: val DimType,
        src_pos: val u32,
        n: val u32
    ) -> Aff = isl_aff_move_dims;
    /// Where `self <= other`.
    fn le_basic_set(take self, other: take Aff) -> BasicSet = isl_aff_le_basic_set;
    /// Where `self < other`.
    fn lt_basic_set(take self, other: take Aff) -> BasicSet = isl_aff_lt_basic_set;
    /// Where `self >= other`.
    fn ge_basic_set(take self, other: take Aff) -> BasicSet = isl_aff_ge_basic_set;
    /// Where `self > other`.
    fn gt_basic_set(take self, other: take Aff) -> BasicSet = isl_aff_gt_basic_set;
    /// Where both are equal.
    fn eq_basic_set(take self, other: take Aff) -> BasicSet = isl_aff_eq_basic_set;
    /// Where it is zero.
    fn zero_basic_set(take self) -> BasicSet = isl_aff_zero_basic_set;
    /// Where it is negative.
    fn neg_basic_set(take self) -> BasicSet = isl_aff_neg_basic_set;
    /// Where `self <= other`.
    fn le_set(take self, other: take Aff) -> Set = isl_aff_le_set;
    /// Where `self < other`.
    fn lt_set(take self, other: take Aff) -> Set = isl_aff_lt_set;
    /// Where `self >= other`.
    fn ge_set(take self, other: take Aff) -> Set = isl_aff_ge_set;
    /// Where `self > other`.
    fn gt_set(take self, other: take Aff) -> Set = isl_aff_gt_set;
    /// Where both are equal.
    fn eq_set(take self, other: take Aff) -> Set = isl_aff_eq_set;
    /// Where they differ.
    fn ne_set(take self, other: take Aff) -> Set = isl_aff_ne_set;
} }

object! {
    /// A piecewise quasi-affine expression.
    PwAff: isl_rs::PwAff, isl_pw_aff_copy, text isl_pw_aff_to_str, parse isl_pw_aff_read_from_str;
}

constructors! { PwAff {
    /// An expression defined everywhere.
    fn from_aff(aff: take Aff) -> PwAff = isl_pw_aff_from_aff;
    /// The nowhere defined expression of a space.
    fn empty(space: take Space) -> PwAff = isl_pw_aff_empty;
    /// The expression `aff` on `set`.
    fn from_piece(set: take Set, aff: take Aff) -> PwAff = isl_pw_aff_alloc;
    /// Zero on a local space.
    fn zero_on_local_space(ls: take LocalSpace) -> PwAff = isl_pw_aff_zero_on_domain;
    /// One dimension of a local space.
    fn var_on_local_space(ls: take LocalSpace, dim: val DimType, pos: val u32) -> PwAff = isl_pw_aff_var_on_domain;
    /// A constant on a set.
    fn constant_on_set(domain: take Set, value: take Val) -> PwAff = isl_pw_aff_val_on_domain;
    /// The least of several.
    fn min_of(list: list PwAff) -> PwAff = isl_pw_aff_list_min;
    /// The greatest of several.
    fn max_of(list: list PwAff) -> PwAff = isl_pw_aff_list_max;
} }

methods! { PwAff {
    /// Its space.
    fn space(keep self) -> Space = isl_pw_aff_get_space;
    /// The space it is defined on.
    fn domain_space(keep self) -> Space = isl_pw_aff_get_domain_space;
    /// Number of dimensions of one kind.
    fn dim(keep self, dim: val DimType) -> u32 = isl_pw_aff_dim;
    /// Number of pieces.
    fn piece_count(keep self) -> u32 = isl_pw_aff_n_piece;
    /// Whether it is a single expression defined everywhere.
    fn is_aff(keep self) -> bool = isl_pw_aff_isa_aff;
    /// As a single expression, when it is one.
    fn as_aff(take self) -> Aff = isl_pw_aff_as_aff;
    /// Where it is defined.
    fn domain(take self) -> Set = isl_pw_aff_domain;
    /// Parameter values where it is defined somewhere.
    fn params(take self) -> Set = isl_pw_aff_params;
    /// The sum, on the common domain.
    fn add(take self, other: take PwAff) -> PwAff = isl_pw_aff_add;
    /// The difference, on the common domain.
    fn sub(take self, other: take PwAff) -> PwAff = isl_pw_aff_sub;
    /// The negated expression.
    fn neg(take self) -> PwAff = isl_pw_aff_neg;
    /// The product; one factor must be constant.
    fn mul(take self, other: take PwAff) -> PwAff = isl_pw_aff_mul;
    /// The exact quotient by a constant.
    fn div(take self, other: take PwAff) -> PwAff = isl_pw_aff_div;
    /// The product by a value.
    fn scale_val(take self, value: take Val) -> PwAff = isl_pw_aff_scale_val;
    /// The exact quotient by a value.
    fn scale_down_val(take self, f: take Val) -> PwAff = isl_pw_aff_scale_down_val;
    /// Adds a constant.
    fn add_constant(take self, value: take Val) -> PwAff = isl_pw_aff_add_constant_val;
    /// Rounded down.
    fn floor(take self) -> PwAff = isl_pw_aff_floor;
    /// Rounded up.
    fn ceil(take self) -> PwAff = isl_pw_aff_ceil;
    /// The remainder by a positive integer, between 0 and it.
    fn modulo_val(take self, mod_: take Val) -> PwAff = isl_pw_aff_mod_val;
    /// The integer quotient by a constant, rounded to zero.
    fn truncated_quotient(take self, other: take PwAff) -> PwAff = isl_pw_aff_tdiv_q;
    /// The remainder of the quotient rounded to zero.
    fn truncated_remainder(take self, other: take PwAff) -> PwAff = isl_pw_aff_tdiv_r;
    /// The smaller of both, on the common domain.
    fn min(take self, other: take PwAff) -> PwAff = isl_pw_aff_min;
    /// The larger of both, on the common domain.
    fn max(take self, other: take PwAff) -> PwAff = isl_pw_aff_max;
    /// `pwaff_true` where `self` is not zero, else `pwaff_false`.
    fn cond(take self, pwaff_true: take PwAff, pwaff_false: take PwAff) -> PwAff = isl_pw_aff_cond;
    /// The sum where both are defined, else either.
    fn union_add(take self, other: take PwAff) -> PwAff = isl_pw_aff_union_add;
    /// The smaller where both are defined, else either.
    fn union_min(take self, other: take PwAff) -> PwAff = isl_pw_aff_union_min;
    /// The larger where both are defined, else either.
    fn union_max(take self, other: take PwAff) -> PwAff = isl_pw_aff_union_max;
    /// Restricted to a domain.
    fn intersect_domain(take self, set: take Set) -> PwAff = isl_pw_aff_intersect_domain;
    /// Restricted to parameter values.
    fn intersect_params(take self, set: take Set) -> PwAff = isl_pw_aff_intersect_params;
    /// Undefined on `set`.
    fn subtract_domain(take self, set: take Set) -> PwAff = isl_pw_aff_subtract_domain;
    /// Where `self <= other`.
    fn le_set(take self, other: take PwAff) -> Set = isl_pw_aff_le_set;
    /// Where `self < other`.
    fn lt_set(take self, other: take PwAff) -> Set = isl_pw_aff_lt_set;
    /// Where `self >= other`.
    fn ge_set(take self, other: take PwAff) -> Set = isl_pw_aff_ge_set;
    /// Where `self > other`.
    fn gt_set(take self, other: take PwAff) -> Set = isl_pw_aff_gt_set;
    /// Where both are equal.
    fn eq_set(take self, other: take PwAff) -> Set = isl_pw_aff_eq_set;
    /// Where they differ.
    fn ne_set(take self, other: take PwAff) -> Set = isl_pw_aff_ne_set;
    /// Where it is not negative.
    fn nonneg_set(take self) -> Set = isl_pw_aff_nonneg_set;
    /// Where it is positive.
    fn pos_set(take self) -> Set = isl_pw_aff_pos_set;
    /// Where it is zero.
    fn zero_set(take self) -> Set = isl_pw_aff_zero_set;
    /// Where it is not zero.
    fn non_zero_set(take self) -> Set = isl_pw_aff_non_zero_set;
    /// Pairs with `self(first) <= other(second)`.
    fn le_map(take self, other: take PwAff) -> Map = isl_pw_aff_le_map;
    /// Pairs with `self(first) < other(second)`.
    fn lt_map(take self, other: take PwAff) -> Map = isl_pw_aff_lt_map;
    /// Pairs with `self(first) >= other(second)`.
    fn ge_map(take self, other: take PwAff) -> Map = isl_pw_aff_ge_map;
    /// Pairs with `self(first) > other(second)`.
    fn gt_map(take self, other: take PwAff) -> Map = isl_pw_aff_gt_map;
    /// Pairs on which both agree.
    fn eq_map(take self, other: take PwAff) -> Map = isl_pw_aff_eq_map;
    /// Simplified where `context` holds.
    fn gist(take self, context: take Set) -> PwAff = isl_pw_aff_gist;
    /// Simplified where the parameters are in `context`.
    fn gist_params(take self, context: take Set) -> PwAff = isl_pw_aff_gist_params;
    /// Whether it is constant on each piece.
    fn is_constant(keep self) -> bool = isl_pw_aff_is_cst;
    /// Whether it is nowhere defined.
    fn is_empty(keep self) -> bool = isl_pw_aff_is_empty;
    /// Whether both are equal.
    fn is_equal(keep self, other: keep PwAff) -> bool = isl_pw_aff_is_equal;
    /// Whether both are obviously equal.
    fn is_plainly_equal(keep self, other: keep PwAff) -> bool = isl_pw_aff_plain_is_equal;
    /// Whether it involves any of these dimensions.
    fn involves_dims(keep self, dim: val DimType, first: val u32, n: val u32) -> bool = isl_pw_aff_involves_dims;
    /// Whether it involves a parameter.
    fn involves_param_id(keep self, id: keep Id) -> bool = isl_pw_aff_involves_param_id;
    /// The least value, infinite or NaN where there is none.
    fn min_val(take self) -> Val = isl_pw_aff_min_val;
    /// The greatest value, infinite or NaN where there is none.
    fn max_val(take self) -> Val = isl_pw_aff_max_val;
    /// The value at a point.
    fn eval(take self, pnt: take Point) -> Val = isl_pw_aff_eval;
    /// The composition with `ma`.
    fn pullback_multi_aff(take self, ma: take MultiAff) -> PwAff = isl_pw_aff_pullback_multi_aff;
    /// The composition with `pma`.
    fn pullback_pw_multi_aff(take self, pma: take PwMultiAff) -> PwAff = isl_pw_aff_pullback_pw_multi_aff;
    /// The composition with `mpa`.
    fn pullback_multi_pw_aff(take self, mpa: take MultiPwAff) -> PwAff = isl_pw_aff_pullback_multi_pw_aff;
    /// Expressed on the parameters only.
    fn project_domain_on_params(take self) -> PwAff = isl_pw_aff_project_domain_on_params;
    /// Gives a parametric expression a zero-dimensional domain.
    fn from_range(take self) -> PwAff = isl_pw_aff_from_range;
    /// Gives a parametric expression a domain.
    fn insert_domain(take self, domain: take Space) -> PwAff = isl_pw_aff_insert_domain;
    /// Adds and reorders parameters as in `model`.
    fn align_params(take self, model: take Space) -> PwAff = isl_pw_aff_align_params;
    /// Removes parameters that are not involved.
    fn drop_unused_params(take self) -> PwAff = isl_pw_aff_drop_unused_params;
    /// Adds domain dimensions at the end.
    fn add_dims(take self, dim: val DimType, n: val u32) -> PwAff = isl_pw_aff_add_dims;
    /// Inserts domain dimensions.
    fn insert_dims(take self, dim: val DimType, first: val u32, n: val u32) -> PwAff = isl_pw_aff_insert_dims;
    /// Removes dimensions that are not involved.
    fn drop_dims(take self, dim: val DimType, first: val u32, n: val u32) -> PwAff = isl_pw_aff_drop_dims;
    /// Moves dimensions to another kind or place.
    fn move_dims(
        take self,
        dst_dim: val DimType,
        dst_pos: val u32,
        src_dim: val DimType,
        src_pos: val u32,
        n: val u32
    ) -> PwAff = isl_pw_aff_move_dims;
    /// Names a dimension.
    fn set_dim_id(take self, dim: val DimType, pos: val u32, id: take Id) -> PwAff = isl_pw_aff_set_dim_id;
    /// Names a tuple.
    fn set_tuple_id(take self, dim: val DimType, id: take Id) -> PwAff = isl_pw_aff_set_tuple_id;
    /// Takes a tuple's name away.
    fn reset_tuple_id(take self, dim: val DimType) -> PwAff = isl_pw_aff_reset_tuple_id;
} }

coalescing! { PwAff: isl_pw_aff_coalesce; }

listed! {
    Aff: isl_aff_list_alloc, isl_aff_list_add, isl_aff_list_size, isl_aff_list_get_at, isl_aff_list_free;
    PwAff: isl_pw_aff_list_alloc, isl_pw_aff_list_add, isl_pw_aff_list_size, isl_pw_aff_list_get_at, isl_pw_aff_list_free;
}

impl Aff {
    /// The integer `value` on a set space.
    pub fn constant_on(domain: &Space, value: i64) -> Result<Aff, IslError> {
        Aff::constant_on_domain(domain, &Val::from_i64(domain.ctx(), value)?)
    }

    /// The tuple dimension at `position` of a set space.
    pub fn set_dim_on(domain: &Space, position: u32) -> Result<Aff, IslError> {
        Aff::var_on(domain, DimType::Set, position)
    }

    /// The parameter called `name` on a set space, which it joins if need be.
    pub fn param_on(domain: &Space, name: &str) -> Result<Aff, IslError> {
        Aff::param_on_domain(domain, &Id::new(domain.ctx(), name)?)
    }

    /// One dimension (a parameter, or `Set` for the tuple) of a set space.
    pub fn var_on(domain: &Space, dim: DimType, position: u32) -> Result<Aff, IslError> {
        Aff::var_on_local_space(&LocalSpace::from_space(domain)?, dim, position)
    }
}

/// Arithmetic with integers.
macro_rules! integer_arithmetic {
    ($($Ty:ident),*) => { $(
        impl $Ty {
            /// The product by an integer.
            pub fn scale(&self, factor: i64) -> Result<$Ty, IslError> {
                self.scale_val(&Val::from_i64(self.ctx(), factor)?)
            }

            /// The exact quotient by a non-zero integer; `floor` rounds it down.
            pub fn scale_down(&self, divisor: i64) -> Result<$Ty, IslError> {
                self.scale_down_val(&Val::from_i64(self.ctx(), divisor)?)
            }

            /// The quotient by a non-zero integer, rounded down.
            pub fn floor_div(&self, divisor: i64) -> Result<$Ty, IslError> {
                self.scale_down(divisor)?.floor()
            }

            /// The remainder by a positive integer, between 0 and it.
            pub fn modulo(&self, divisor: i64) -> Result<$Ty, IslError> {
                self.modulo_val(&Val::from_i64(self.ctx(), divisor)?)
            }
        }
    )* };
}
integer_arithmetic!(Aff, PwAff);

impl PwAff {
    /// Its pieces: disjoint domains, an expression on each.
    pub fn pieces(&self) -> Result<Vec<(Set, Aff)>, IslError> {
        unsafe extern "C" {
            fn isl_pw_aff_foreach_piece(object: usize, f: PieceFn, user: *mut c_void) -> std::ffi::c_int;
        }
        // SAFETY: the function keeps the object and gives each piece, a set and an aff, to the callback.
        unsafe { collect_pieces(self, isl_pw_aff_foreach_piece) }
    }
}

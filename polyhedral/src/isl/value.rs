//! Numbers and names.

use std::ffi::c_int;

use super::aff::Aff;
use super::ctx::Ctx;
use super::error::IslError;
use super::macros::{Plain, Returned, c_text, constructors, listed, methods, object};

/// A kind of dimensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DimType {
    /// Parameters.
    Param,
    /// The domain tuple of a map or of expressions.
    In,
    /// The range tuple of a map or of expressions; the tuple of a set.
    Out,
    /// Integer divisions.
    Div,
    /// All kinds.
    All,
}

impl DimType {
    /// The tuple of a set.
    #[expect(non_upper_case_globals, reason = "a second name for a variant, as in isl")]
    pub const Set: DimType = DimType::Out;
}

impl Plain for DimType {
    type C = c_int;
    fn into_c(self) -> c_int {
        match self {
            DimType::Param => 1,
            DimType::In => 2,
            DimType::Out => 3,
            DimType::Div => 4,
            DimType::All => 5,
        }
    }
}

object! {
    /// An exact rational number, infinity or NaN.
    Val: isl_rs::Val, isl_val_copy, text isl_val_to_str, parse isl_val_read_from_str;
}

constructors! { Val {
    /// An integer.
    fn from_i64(ctx: within Ctx, i: val i64) -> Val = isl_val_int_from_si;
} }

methods! { Val {
    /// The sum.
    fn add(take self, other: take Val) -> Val = isl_val_add;
    /// The difference.
    fn sub(take self, other: take Val) -> Val = isl_val_sub;
    /// The product.
    fn mul(take self, other: take Val) -> Val = isl_val_mul;
    /// The exact quotient.
    fn div(take self, other: take Val) -> Val = isl_val_div;
    /// The negated value.
    fn neg(take self) -> Val = isl_val_neg;
    /// The absolute value.
    fn abs(take self) -> Val = isl_val_abs;
    /// The greatest integer not above it.
    fn floor(take self) -> Val = isl_val_floor;
    /// The least integer not below it.
    fn ceil(take self) -> Val = isl_val_ceil;
    /// The remainder of `self` by an integer, never negative for a positive divisor.
    fn modulo(take self, other: take Val) -> Val = isl_val_mod;
    /// The greatest common divisor of two integers.
    fn gcd(take self, other: take Val) -> Val = isl_val_gcd;
    /// The smaller value.
    fn min(take self, other: take Val) -> Val = isl_val_min;
    /// The larger value.
    fn max(take self, other: take Val) -> Val = isl_val_max;
    /// -1, 0 or 1.
    fn sign(keep self) -> i32 = isl_val_sgn;
    /// Whether both are equal.
    fn is_equal(keep self, other: keep Val) -> bool = isl_val_eq;
    /// Whether `self < other`.
    fn lt(keep self, other: keep Val) -> bool = isl_val_lt;
    /// Whether `self <= other`.
    fn le(keep self, other: keep Val) -> bool = isl_val_le;
    /// Whether `self > other`.
    fn gt(keep self, other: keep Val) -> bool = isl_val_gt;
    /// Whether `self >= other`.
    fn ge(keep self, other: keep Val) -> bool = isl_val_ge;
    /// Whether it is zero.
    fn is_zero(keep self) -> bool = isl_val_is_zero;
    /// Whether it is one.
    fn is_one(keep self) -> bool = isl_val_is_one;
    /// Whether it is negative.
    fn is_neg(keep self) -> bool = isl_val_is_neg;
    /// Whether it is positive.
    fn is_pos(keep self) -> bool = isl_val_is_pos;
    /// Whether it is an integer.
    fn is_int(keep self) -> bool = isl_val_is_int;
    /// Whether it is a finite rational.
    fn is_rat(keep self) -> bool = isl_val_is_rat;
    /// Whether it is NaN.
    fn is_nan(keep self) -> bool = isl_val_is_nan;
    /// Whether it is positive infinity.
    fn is_infty(keep self) -> bool = isl_val_is_infty;
    /// Whether it is negative infinity.
    fn is_neginfty(keep self) -> bool = isl_val_is_neginfty;
    /// Whether `self` is an integer multiple of `other`.
    fn is_divisible_by(keep self, other: keep Val) -> bool = isl_val_is_divisible_by;
} }

object! {
    /// A tuple of values in a space, such as tile sizes.
    MultiVal: isl_rs::MultiVal, isl_multi_val_copy, text isl_multi_val_to_str, parse isl_multi_val_read_from_str;
}

constructors! { MultiVal {
    /// The tuple of `vals` in the set space `space`.
    fn from_vals(space: take Space, list: list Val) -> MultiVal = isl_multi_val_from_val_list;
    /// The zero tuple of a space.
    fn zero(space: take Space) -> MultiVal = isl_multi_val_zero;
} }

methods! { MultiVal {
    /// Its space.
    fn space(keep self) -> Space = isl_multi_val_get_space;
    /// Number of elements.
    fn size(keep self) -> u32 = isl_multi_val_size;
    /// The element at `index`.
    fn at(keep self, pos: val i32) -> Val = isl_multi_val_get_at;
} }

object! {
    /// A name that isl compares by identity.
    Id: isl_rs::Id, isl_id_copy, text isl_id_to_str;
}

methods! { Id {
    /// Its text, where it has one.
    fn name(keep self) -> Option<String> = isl_id_get_name;
} }

object! {
    /// The dimensions of a set or map: parameters, tuples and their names.
    Space: isl_rs::Space, isl_space_copy, text isl_space_to_str;
}

constructors! { Space {
    /// A space without parameters and without a tuple.
    fn unit(ctx: within Ctx) -> Space = isl_space_unit;
    /// A parameter space of `nparam` unnamed parameters.
    fn unnamed_params(ctx: within Ctx, nparam: val u32) -> Space = isl_space_params_alloc;
    /// A set space with unnamed parameters and dimensions.
    fn set(ctx: within Ctx, nparam: val u32, dim: val u32) -> Space = isl_space_set_alloc;
    /// A map space with unnamed parameters and dimensions.
    fn map(ctx: within Ctx, nparam: val u32, n_in: val u32, n_out: val u32) -> Space = isl_space_alloc;
} }

methods! { Space {
    /// The map space between two set spaces.
    fn map_from_domain_and_range(take self, other: take Space) -> Space = isl_space_map_from_domain_and_range;
    /// The map space from a set space to itself.
    fn map_from_set(take self) -> Space = isl_space_map_from_set;
    /// Adds one named parameter, at the end.
    fn add_param(take self, id: take Id) -> Space = isl_space_add_param_id;
    /// Turns a parameter space into a set space of `dim` dimensions.
    fn add_unnamed_tuple(take self, dim: val u32) -> Space = isl_space_add_unnamed_tuple_ui;
    /// Turns a parameter space into a named set space of `dim` dimensions.
    fn add_named_tuple(take self, tuple_id: take Id, dim: val u32) -> Space = isl_space_add_named_tuple_id_ui;
    /// Number of dimensions of one kind.
    fn dim(keep self, dim: val DimType) -> u32 = isl_space_dim;
    /// The set space of the domain.
    fn domain(take self) -> Space = isl_space_domain;
    /// The set space of the range.
    fn range(take self) -> Space = isl_space_range;
    /// The inverse map space.
    fn reverse(take self) -> Space = isl_space_reverse;
    /// Only its parameters.
    fn to_params(take self) -> Space = isl_space_params;
    /// The product of two spaces.
    fn product(take self, other: take Space) -> Space = isl_space_product;
    /// The map space from the domain of `self` to the range of `right`.
    fn join(take self, other: take Space) -> Space = isl_space_join;
    /// A map space as a set space.
    fn wrap(take self) -> Space = isl_space_wrap;
    /// A wrapped set space as its map space.
    fn unwrap(take self) -> Space = isl_space_unwrap;
    /// Whether it is a parameter space.
    fn is_params(keep self) -> bool = isl_space_is_params;
    /// Whether it is a set space.
    fn is_set(keep self) -> bool = isl_space_is_set;
    /// Whether it is a map space.
    fn is_map(keep self) -> bool = isl_space_is_map;
    /// Whether it is a set space that wraps a map space.
    fn is_wrapping(keep self) -> bool = isl_space_is_wrapping;
    /// Whether both are the same.
    fn is_equal(keep self, other: keep Space) -> bool = isl_space_is_equal;
    /// Whether both are the same but for parameters.
    fn has_equal_tuples(keep self, other: keep Space) -> bool = isl_space_has_equal_tuples;
    /// Whether both have the same parameters.
    fn has_equal_params(keep self, other: keep Space) -> bool = isl_space_has_equal_params;
    /// Whether one tuple of each are the same.
    fn is_tuple_equal(
        keep self,
        dim1: val DimType,
        other: keep Space,
        dim2: val DimType
    ) -> bool = isl_space_tuple_is_equal;
    /// Adds and reorders parameters as in `space2`.
    fn align_params(take self, other: take Space) -> Space = isl_space_align_params;
    /// Removes all parameters.
    fn drop_all_params(take self) -> Space = isl_space_drop_all_params;
    /// Adds unnamed dimensions at the end.
    fn add_dims(take self, dim: val DimType, n: val u32) -> Space = isl_space_add_dims;
    /// Inserts unnamed dimensions.
    fn insert_dims(take self, dim: val DimType, pos: val u32, n: val u32) -> Space = isl_space_insert_dims;
    /// Removes dimensions.
    fn drop_dims(take self, dim: val DimType, first: val u32, num: val u32) -> Space = isl_space_drop_dims;
    /// Moves dimensions to another kind or place.
    fn move_dims(
        take self,
        dst_dim: val DimType,
        dst_pos: val u32,
        src_dim: val DimType,
        src_pos: val u32,
        n: val u32
    ) -> Space = isl_space_move_dims;
    /// Names a tuple.
    fn set_tuple_id(take self, dim: val DimType, id: take Id) -> Space = isl_space_set_tuple_id;
    /// Takes a tuple's name away.
    fn reset_tuple_id(take self, dim: val DimType) -> Space = isl_space_reset_tuple_id;
    /// Whether a tuple has an id.
    fn has_tuple_id(keep self, dim: val DimType) -> bool = isl_space_has_tuple_id;
    /// Whether a tuple has a name.
    fn has_tuple_name(keep self, dim: val DimType) -> bool = isl_space_has_tuple_name;
    /// The id of a tuple, which must have one.
    fn tuple_id(keep self, dim: val DimType) -> Id = isl_space_get_tuple_id;
    /// The name of a tuple.
    fn tuple_name(keep self, dim: val DimType) -> Option<String> = isl_space_get_tuple_name;
    /// Names a tuple.
    fn set_tuple_name(take self, dim: val DimType, s: text str) -> Space = isl_space_set_tuple_name;
    /// Names a dimension.
    fn set_dim_id(take self, dim: val DimType, pos: val u32, id: take Id) -> Space = isl_space_set_dim_id;
    /// Whether a dimension has an id.
    fn has_dim_id(keep self, dim: val DimType, pos: val u32) -> bool = isl_space_has_dim_id;
    /// Whether a dimension has a name.
    fn has_dim_name(keep self, dim: val DimType, pos: val u32) -> bool = isl_space_has_dim_name;
    /// The id of a dimension, which must have one.
    fn dim_id(keep self, dim: val DimType, pos: val u32) -> Id = isl_space_get_dim_id;
    /// The name of a dimension.
    fn dim_name(keep self, dim: val DimType, pos: val u32) -> Option<String> = isl_space_get_dim_name;
    /// Names a dimension.
    fn set_dim_name(take self, dim: val DimType, pos: val u32, name: text str) -> Space = isl_space_set_dim_name;
    /// The position of a named dimension.
    fn find_dim_by_name(keep self, dim: val DimType, name: text str) -> Option<u32> = isl_space_find_dim_by_name;
} }

object! {
    /// A space with integer divisions.
    LocalSpace: isl_rs::LocalSpace, isl_local_space_copy;
}

constructors! { LocalSpace {
    /// Without divisions.
    fn from_space(space: take Space) -> LocalSpace = isl_local_space_from_space;
} }

methods! { LocalSpace {
    /// Number of dimensions of one kind.
    fn dim(keep self, dim: val DimType) -> u32 = isl_local_space_dim;
    /// Its space.
    fn space(keep self) -> Space = isl_local_space_get_space;
    /// The integer division at `pos`, as an expression to be rounded down.
    fn div(keep self, pos: val i32) -> Aff = isl_local_space_get_div;
} }

object! {
    /// An integer point of a set, or void.
    Point: isl_rs::Point, isl_point_copy, text isl_point_to_str;
}

constructors! { Point {
    /// The origin of a set space.
    fn zero(space: take Space) -> Point = isl_point_zero;
} }

methods! { Point {
    /// Its space.
    fn space(keep self) -> Space = isl_point_get_space;
    /// Whether it is no point at all.
    fn is_void(keep self) -> bool = isl_point_is_void;
    /// One coordinate.
    fn coordinate(keep self, dim: val DimType, pos: val i32) -> Val = isl_point_get_coordinate_val;
    /// Replaces one coordinate.
    fn set_coordinate(
        take self,
        dim: val DimType,
        pos: val i32,
        value: take Val
    ) -> Point = isl_point_set_coordinate_val;
    /// Moves the point up along one dimension.
    fn add_u32(take self, dim: val DimType, pos: val i32, val: val u32) -> Point = isl_point_add_ui;
    /// Moves the point down along one dimension.
    fn sub_u32(take self, dim: val DimType, pos: val i32, val: val u32) -> Point = isl_point_sub_ui;
    /// All coordinates of the tuple.
    fn to_multi_val(keep self) -> MultiVal = isl_point_get_multi_val;
} }

listed! {
    Val: isl_val_list_alloc, isl_val_list_add, isl_val_list_size, isl_val_list_get_at, isl_val_list_free;
    Id: isl_id_list_alloc, isl_id_list_add, isl_id_list_size, isl_id_list_get_at, isl_id_list_free;
    Point: isl_point_list_alloc, isl_point_list_add, isl_point_list_size, isl_point_list_get_at, isl_point_list_free;
}

impl Val {
    /// Its value, where it is an integer of 64 bits.
    pub fn to_i64(&self) -> Option<i64> {
        if self.is_int().ok()? { self.numerator().ok() } else { None }
    }
}

methods! { Val {
    /// The numerator of a finite value, where it has 64 bits.
    fn numerator(keep self) -> i64 = isl_val_get_num_si;
    /// The denominator of a finite value, where it has 64 bits.
    fn denominator(keep self) -> i64 = isl_val_get_den_si;
} }

impl Id {
    /// The id named `name`.
    pub fn new(ctx: &Ctx, name: &str) -> Result<Self, IslError> {
        unsafe extern "C" {
            fn isl_id_alloc(ctx: usize, name: *const std::ffi::c_char, user: *mut std::ffi::c_void) -> usize;
        }
        let name = c_text(name)?;
        // SAFETY: the context is alive, isl copies the name, no user pointer; the result is given to us.
        unsafe { Self::from_c(ctx, isl_id_alloc(ctx.ptr(), name.as_ptr(), std::ptr::null_mut())) }
    }
}

/// Identity, as isl sees it: one context and one name.
impl PartialEq for Id {
    fn eq(&self, other: &Id) -> bool {
        self.raw.ptr == other.raw.ptr
    }
}

impl Eq for Id {}

impl Space {
    /// The parameter space `[names] -> { : }`.
    pub fn params<S: AsRef<str>>(ctx: &Ctx, names: &[S]) -> Result<Space, IslError> {
        names.iter().try_fold(Space::unit(ctx)?, |space, name| space.add_param(&Id::new(ctx, name.as_ref())?))
    }

    /// Turns a parameter space into the set space `{ name[dim dimensions] }`.
    pub fn named_tuple(&self, name: &str, dim: u32) -> Result<Space, IslError> {
        self.add_named_tuple(&Id::new(self.ctx(), name)?, dim)
    }

    /// Turns a parameter space into the set space `{ [dim dimensions] }`.
    pub fn unnamed_tuple(&self, dim: u32) -> Result<Space, IslError> {
        self.add_unnamed_tuple(dim)
    }
}

impl Point {
    /// All coordinates of the tuple, where each is an integer of 64 bits.
    pub fn coordinates(&self) -> Result<Vec<i64>, IslError> {
        let values = self.to_multi_val()?;
        let coordinate = |position: u32| {
            let value = values.at(position.cast_signed())?.to_i64();
            value.ok_or_else(|| IslError::invalid("a coordinate exceeds 64 bits"))
        };
        (0..values.size()?).map(coordinate).collect()
    }
}

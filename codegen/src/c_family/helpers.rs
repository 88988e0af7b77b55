//! Small functions that generated text calls where C lacks Julia's meaning; each is printed only if it is used.

use super::strides::{FOLDS, MEETS, SHAPE};
use super::{Dialect, c_type};
use crate::program::Width;
use std::collections::BTreeSet;
use tessella_polyhedral::derived::Rounding;
use tessella_polyhedral::stream::Parts;
use tessella_scalar::ScalarType;

/// A function of generated text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Helper {
    /// `imin(a, b)` of indices.
    IndexMin(Width),
    /// `imax(a, b)` of indices.
    IndexMax(Width),
    /// `floordiv(a, b)` of indices, `b > 0`.
    IndexFloorDiv(Width),
    /// A quotient of sizes.
    SizeQuotient(Rounding),
    /// The `Int64` that a float is without its fraction, at entry.
    ToInteger,
    /// What is less than zero by a float, which GCC 12 takes for the float negated.
    FromZero(ScalarType),
    /// Into how many parts a launch that streams cuts its rows.
    Parts,
    /// A product of sizes that saturates; extents below zero count as zero.
    Bytes,
    /// How many threads there are at most, which one runs, and how far apart parts of theirs lie.
    Threads,
    /// Whether two ranges of bytes have one in common.
    Overlap,
    /// An array's place in memory: address, extents, strides.
    Shape,
    /// Whether two elements of an array with strides may share memory.
    Folds,
    /// Whether two arrays, one of them with strides, have a byte in common.
    Meets,
    /// An addition to an integer of 64 bits in shared memory that threads make at one time.
    AddInHalves,
    Of(Operation, ScalarType),
}

/// What a helper computes; later ones may call earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    FromBits,
    Add,
    Sub,
    Mul,
    Abs,
    Sign,
    Min,
    Max,
    Mod,
    DivTrunc,
    DivFloor,
    DivCeil,
    ShiftLeft,
    ShiftRight,
    ShiftRightLogical,
    /// A half of the quotient of two complex numbers.
    Quotient,
    /// A half of the inverse of a complex number.
    Inverse,
    /// A quotient by a number whose inverse in two parts is known.
    ByInverse,
    /// The GPU's approximate quotient.
    FastDiv,
    /// The GPU's approximate square root.
    FastSqrt,
    /// One by the square root, approximately.
    FastInverseSqrt,
}

impl Helper {
    /// The function's name.
    pub fn name(self) -> String {
        match self {
            Helper::IndexMin(Width::Wide) => "imin".to_string(),
            Helper::IndexMax(Width::Wide) => "imax".to_string(),
            Helper::IndexFloorDiv(Width::Wide) => "floordiv".to_string(),
            Helper::IndexMin(Width::Narrow) => "imin32".to_string(),
            Helper::IndexMax(Width::Narrow) => "imax32".to_string(),
            Helper::IndexFloorDiv(Width::Narrow) => "floordiv32".to_string(),
            Helper::SizeQuotient(Rounding::Zero) => "tessella_size_div".to_string(),
            Helper::SizeQuotient(Rounding::Down) => "tessella_size_fld".to_string(),
            Helper::SizeQuotient(Rounding::Up) => "tessella_size_cld".to_string(),
            Helper::ToInteger => "tessella_to_integer".to_string(),
            Helper::FromZero(ty) => format!("tessella_from_zero_{}", short(ty)),
            Helper::Parts => "tessella_parts".to_string(),
            Helper::Bytes => "tessella_bytes".to_string(),
            Helper::Threads => "tessella_thread".to_string(),
            Helper::Overlap => "tessella_overlap".to_string(),
            Helper::Shape => "tessella_shape".to_string(),
            Helper::Folds => "tessella_folds".to_string(),
            Helper::Meets => "tessella_meets".to_string(),
            Helper::AddInHalves => "tessella_add_in_halves".to_string(),
            Helper::Of(operation, ty) => format!("tessella_{}_{}", operation.name(), short(ty)),
        }
    }

    /// The helpers that this one calls.
    fn calls(self) -> Vec<Helper> {
        match self {
            Helper::Of(Operation::DivFloor, ty) if ty.is_float() => vec![Helper::Of(Operation::Mod, ty)],
            Helper::Of(Operation::DivCeil, ty) if ty.is_float() => {
                vec![Helper::Of(Operation::Mod, ty), Helper::Of(Operation::DivFloor, ty)]
            }
            _ => vec![],
        }
    }

    fn text(self, dialect: Dialect) -> String {
        let inline = match dialect {
            Dialect::C => "static inline",
            Dialect::Cuda => "static __host__ __device__ inline",
        };
        let host = "static inline";
        let name = self.name();
        match self {
            Helper::IndexMin(width) => {
                let t = width.c_type();
                format!("{inline} {t} {name}({t} a, {t} b) {{ return a < b ? a : b; }}")
            }
            Helper::IndexMax(width) => {
                let t = width.c_type();
                format!("{inline} {t} {name}({t} a, {t} b) {{ return a > b ? a : b; }}")
            }
            Helper::IndexFloorDiv(width) => {
                let t = width.c_type();
                format!(
                    "// Rounds towards minus infinity; b > 0.\n\
                     {inline} {t} {name}({t} a, {t} b) {{ return a / b - (a % b < 0); }}"
                )
            }
            Helper::SizeQuotient(rounding) => {
                let rounded = match rounding {
                    Rounding::Zero => "a / b",
                    Rounding::Down => "a / b - (a % b != 0 && (a < 0) != (b < 0))",
                    Rounding::Up => "a / b + (a % b != 0 && (a < 0) == (b < 0))",
                };
                format!(
                    "// A quotient of sizes. By zero it is never used: the source throws.\n\
                     {inline} int64_t {name}(int64_t a, int64_t b) {{\n    \
                         return b == 0 ? 0 : b == -1 ? (int64_t)(0 - (uint64_t)a) : {rounded};\n}}"
                )
            }
            Helper::ToInteger => format!(
                "// A float without its fraction; where no int64_t is that, INT64_MIN.\n\
                 {host} int64_t {name}(double x) {{\n    \
                     return x >= -9223372036854775808.0 && x < 9223372036854775808.0 ? (int64_t)x : INT64_MIN;\n}}"
            ),
            Helper::FromZero(ty) => {
                let (ty, zero) = (c_type(ty), if ty == ScalarType::F32 { "0.0f" } else { "0.0" });
                format!(
                    "// 0.0 - x, which GCC 12 makes -x where it knows that x is no negative zero: of 0.0 that would be -0.0.\n\
                     {host} {ty} {name}({ty} x) {{\n    \
                         return x == {zero} ? {zero} : {zero} - x;\n}}"
                )
            }
            Helper::Parts => format!(
                "// Into how many parts rows fall, so that blocks fill all waves, and what is computed twice around parts stays little. Not more\n\
                 // than {close} are all tried. A block takes longer the more there are beside it on its multiprocessor.\n\
                 {host} int64_t {name}(int64_t columns, int64_t rows, int64_t around, int64_t blocks, int64_t multiprocessors, int64_t rims) {{\n    \
                     int64_t best = 1, least = INT64_MAX;\n    \
                     for (int64_t parts = 1; parts <= rows; parts += parts / {close} + 1) {{\n        \
                         const int64_t on_each = (columns * parts + multiprocessors - 1) / multiprocessors;\n        \
                         const int64_t waves = (on_each + blocks - 1) / blocks;\n        \
                         const int64_t cost = ((rows + parts - 1) / parts + around)\n            \
                             * (blocks * ({waits} * waves + rims) + {works} * on_each);\n        \
                         if (cost < least) {{\n            \
                             best = parts;\n            \
                             least = cost;\n        \
                         }}\n    \
                     }}\n    \
                     return best;\n}}",
                close = Parts::CLOSE,
                waits = Parts::WAITS,
                works = Parts::WORKS,
            ),
            Helper::Bytes => format!(
                "// A size in bytes times an extent, at most INT64_MAX.\n\
                 {host} int64_t {name}(int64_t bytes, int64_t extent) {{\n    \
                     return extent <= 0 ? 0 : bytes > INT64_MAX / extent ? INT64_MAX : bytes * extent;\n}}"
            ),
            Helper::Threads => format!(
                "// Threads at most, and the one that runs.\n\
                 #ifdef _OPENMP\n\
                 extern int omp_get_max_threads(void);\n\
                 extern int omp_get_thread_num(void);\n\
                 {host} int64_t {name}s(void) {{ return omp_get_max_threads(); }}\n\
                 {host} int64_t {name}(void) {{ return omp_get_thread_num(); }}\n\
                 #else\n\
                 {host} int64_t {name}s(void) {{ return 1; }}\n\
                 {host} int64_t {name}(void) {{ return 0; }}\n\
                 #endif\n\n\
                 // The bytes from one thread's part to the next one's: no two share a line of a cache.\n\
                 {host} int64_t {name}_bytes(int64_t bytes) {{\n    \
                     return bytes > INT64_MAX - 128 ? INT64_MAX : (bytes + 128) / 64 * 64;\n}}"
            ),
            Helper::Overlap => format!(
                "{host} int {name}(const void *a, int64_t a_bytes, const void *b, int64_t b_bytes) {{\n    \
                     const uintptr_t a_at = (uintptr_t)a, b_at = (uintptr_t)b;\n    \
                     return a_bytes > 0 && b_bytes > 0 && a_at < b_at + (uintptr_t)b_bytes\n        \
                         && b_at < a_at + (uintptr_t)a_bytes;\n}}"
            ),
            Helper::Shape => SHAPE.trim().to_string(),
            Helper::Folds => FOLDS.trim().to_string(),
            Helper::Meets => MEETS.trim().to_string(),
            Helper::AddInHalves => format!(
                "// Threads add to one element at one time. Shared memory adds 32 bits in one piece; of 64 it compares and tries again.\n\
                 static __device__ inline void {name}(void *at, unsigned long long by) {{\n    \
                     unsigned int *const halves = (unsigned int *)at;\n    \
                     const unsigned int low = (unsigned int)by;\n    \
                     const unsigned int sum = atomicAdd(halves, low) + low;\n    \
                     const unsigned int high = (unsigned int)(by >> 32) + (sum < low);\n    \
                     if (high) atomicAdd(halves + 1, high);\n}}"
            ),
            Helper::Of(operation, ty) => operation.text(ty, &name, inline, dialect),
        }
    }
}

impl Operation {
    fn name(self) -> &'static str {
        match self {
            Operation::FromBits => "bits",
            Operation::Add => "add",
            Operation::Sub => "sub",
            Operation::Mul => "mul",
            Operation::Abs => "abs",
            Operation::Sign => "sign",
            Operation::Min => "min",
            Operation::Max => "max",
            Operation::Mod => "mod",
            Operation::DivTrunc => "div",
            Operation::DivFloor => "fld",
            Operation::DivCeil => "cld",
            Operation::ShiftLeft => "shl",
            Operation::ShiftRight => "shr",
            Operation::ShiftRightLogical => "lshr",
            Operation::Quotient => "quotient",
            Operation::Inverse => "inverse",
            Operation::ByInverse => "by_inverse",
            Operation::FastDiv => "fast_div",
            Operation::FastSqrt => "fast_sqrt",
            Operation::FastInverseSqrt => "fast_inverse_sqrt",
        }
    }

    fn text(self, ty: ScalarType, name: &str, inline: &str, dialect: Dialect) -> String {
        let t = c_type(ty);
        let u = c_type(unsigned(ty));
        let f = if ty == ScalarType::F32 { "f" } else { "" };
        let one = |body: &str| format!("{inline} {t} {name}({t} x) {{ {body} }}");
        let two = |body: &str| format!("{inline} {t} {name}({t} x, {t} y) {{ {body} }}");
        match self {
            Operation::FromBits => match (dialect, ty) {
                (Dialect::Cuda, ScalarType::F32) => {
                    format!(
                        "static __device__ inline {t} {name}(unsigned int bits) {{ return __uint_as_float(bits); }}"
                    )
                }
                (Dialect::Cuda, _) => format!(
                    "static __device__ inline {t} {name}(unsigned long long bits) {{ \
                     return __longlong_as_double((long long)bits); }}"
                ),
                (Dialect::C, _) => {
                    let bits = if ty == ScalarType::F32 { "uint32_t" } else { "uint64_t" };
                    format!(
                        "{inline} {t} {name}({bits} bits) {{\n    \
                             union {{ {bits} bits; {t} value; }} it = {{bits}};\n    return it.value;\n}}"
                    )
                }
            },
            Operation::Add => two(&format!("return ({t})(({u})x + ({u})y);")),
            Operation::Sub => two(&format!("return ({t})(({u})x - ({u})y);")),
            Operation::Mul => {
                // Products of 16 bits would overflow `int`.
                let wide = if ty.bytes() < 4 { "uint32_t" } else { u };
                two(&format!("return ({t})(({wide})x * ({wide})y);"))
            }
            Operation::Abs => one(&format!("return x < 0 ? ({t})(0 - ({u})x) : x;")),
            Operation::Sign if ty.is_float() || ty.is_signed_integer() => one("return x < 0 ? -1 : x > 0 ? 1 : x;"),
            Operation::Sign => one("return x > 0;"),
            Operation::Min if ty.is_float() => extremum_of_floats(dialect, name, (t, f), inline, "x < y", "<"),
            Operation::Max if ty.is_float() => extremum_of_floats(dialect, name, (t, f), inline, "x > y", ">"),
            Operation::Min => two("return y < x ? y : x;"),
            Operation::Max => two("return x < y ? y : x;"),
            Operation::Mod if ty.is_float() => format!(
                "// The remainder with the sign of the divisor.\n\
                 {inline} {t} {name}({t} x, {t} y) {{\n    \
                     const {t} r = fmod{f}(x, y);\n    \
                     return r == 0 ? copysign{f}(r, y) : (r > 0) != (y > 0) ? r + y : r;\n}}"
            ),
            Operation::Mod => format!(
                "// The remainder with the sign of the divisor.\n\
                 {inline} {t} {name}({t} x, {t} y) {{\n    \
                     const {t} r = x % y;\n    return r != 0 && (r < 0) != (y < 0) ? r + y : r;\n}}"
            ),
            Operation::DivTrunc => two(&format!("return rint{f}((x - fmod{f}(x, y)) / y);")),
            Operation::DivFloor if ty.is_float() => {
                two(&format!("return rint{f}((x - tessella_mod_{}(x, y)) / y);", short(ty)))
            }
            Operation::DivFloor => two("return x / y - (x % y != 0 && (x < 0) != (y < 0));"),
            Operation::DivCeil if ty.is_float() => two(&format!("return -tessella_fld_{}(-x, y);", short(ty))),
            Operation::DivCeil if ty.is_signed_integer() => two("return x / y + (x % y != 0 && (x < 0) == (y < 0));"),
            Operation::DivCeil => two("return x / y + (x % y != 0);"),
            Operation::ShiftLeft => shift(name, ty, inline, Way::Left, right_way(ty)),
            Operation::ShiftRight => shift(name, ty, inline, right_way(ty), Way::Left),
            Operation::ShiftRightLogical => shift(name, ty, inline, Way::Logical, Way::Left),
            Operation::Quotient => super::complex::quotient(name, inline),
            Operation::Inverse => super::complex::inverse(name, inline),
            Operation::ByInverse => super::inverse::text(ty, name, inline),
            Operation::FastDiv | Operation::FastSqrt | Operation::FastInverseSqrt => {
                super::fast::instruction(self, name)
            }
        }
    }
}

/// The texts of these helpers and those they call, in an order in which they compile.
pub fn helper_texts(used: &BTreeSet<Helper>, dialect: Dialect) -> Vec<String> {
    let mut all = used.clone();
    for helper in used {
        all.extend(helper.calls());
    }
    all.into_iter().map(|helper| helper.text(dialect)).collect()
}

/// Julia's `min` and `max`: a NaN wins, and -0.0 is less than 0.0. One choice, so that C compilers make vectors of it;
/// `first` and `sign` say when `x` is it among numbers, and among zeros by its sign. On a GPU threads ask all at once: a branch for each
/// part would take as long as everything else that a reduction does with an element.
fn extremum_of_floats(
    dialect: Dialect,
    name: &str,
    (t, f): (&str, &str),
    inline: &str,
    first: &str,
    sign: &str,
) -> String {
    let sign = format!("copysign{f}(1.0{f}, x) {sign} 0");
    let choice = match dialect {
        Dialect::C => format!("{first} || x != x || (x == y && {sign})"),
        Dialect::Cuda => format!("({first}) | (x != x) | ((x == y) & ({sign}))"),
    };
    format!(
        "// A NaN wins, and -0.0 is less than 0.0.\n\
         {inline} {t} {name}({t} x, {t} y) {{\n    return {choice} ? x : y;\n}}",
    )
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Left,
    Arithmetic,
    Logical,
}

fn right_way(ty: ScalarType) -> Way {
    if ty.is_signed_integer() { Way::Arithmetic } else { Way::Logical }
}

/// A shift by any count; a negative one shifts the other way.
fn shift(name: &str, ty: ScalarType, inline: &str, way: Way, back: Way) -> String {
    let t = c_type(ty);
    let u = c_type(unsigned(ty));
    let bits = ty.bytes() * 8;
    let by = |way: Way, count: &str| match way {
        Way::Left => format!("{count} < {bits} ? ({t})(({u})x << {count}) : 0"),
        Way::Logical => format!("{count} < {bits} ? ({t})(({u})x >> {count}) : 0"),
        Way::Arithmetic => format!("x >> ({count} < {bits} ? {count} : {})", bits - 1),
    };
    format!(
        "{inline} {t} {name}({t} x, int64_t n) {{\n    \
             const uint64_t back = 0 - (uint64_t)n, count = (uint64_t)n;\n    \
             return n < 0 ? ({}) : ({});\n}}",
        by(back, "back"),
        by(way, "count")
    )
}

/// The unsigned type of the same width.
pub fn unsigned(ty: ScalarType) -> ScalarType {
    match ty {
        ScalarType::I8 => ScalarType::U8,
        ScalarType::I16 => ScalarType::U16,
        ScalarType::I32 => ScalarType::U32,
        ScalarType::I64 => ScalarType::U64,
        ScalarType::Bool
        | ScalarType::U8
        | ScalarType::U16
        | ScalarType::U32
        | ScalarType::U64
        | ScalarType::F32
        | ScalarType::F64 => ty,
    }
}

fn short(ty: ScalarType) -> &'static str {
    match ty {
        ScalarType::Bool => "bool",
        ScalarType::I8 => "i8",
        ScalarType::I16 => "i16",
        ScalarType::I32 => "i32",
        ScalarType::I64 => "i64",
        ScalarType::U8 => "u8",
        ScalarType::U16 => "u16",
        ScalarType::U32 => "u32",
        ScalarType::U64 => "u64",
        ScalarType::F32 => "f32",
        ScalarType::F64 => "f64",
    }
}

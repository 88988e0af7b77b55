//! One deterministic namer for generated text: ASCII, no keyword, no collision.

use crate::words::{GREEK, LIBRARY, MATH, MATH_SUFFIXES, RESERVED, VECTORS};
use std::collections::{BTreeMap, BTreeSet};
use tessella_polyhedral::algorithm::ArrayId;
use tessella_polyhedral::layers::BufferId;

/// The names of generated text.
///
/// Tables are indexed by the ids of the algorithm, the layout and the program.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Names {
    /// The entry function.
    pub function: String,
    pub params: Vec<String>,
    pub scalars: Vec<String>,
    /// Also the macros that subscript them.
    pub arrays: Vec<String>,
    pub buffers: Vec<String>,
    /// What holds the parts of all threads, of the buffers that each of them has for itself.
    pub memories: BTreeMap<BufferId, String>,
    /// Nested ones differ, those of separate loops may be equal.
    pub variables: Vec<String>,
    /// The `lets` of each computation.
    pub lets: Vec<Vec<String>>,
    /// Computations as the user calls them; only for comments.
    pub computations: Vec<String>,
    /// The pointers that receive scalar results.
    pub results: BTreeMap<ArrayId, String>,
    /// The pointer that receives the extents of arrays that are given back.
    pub sizes: String,
    /// For each array, the names of those extents that are no parameter of their own.
    pub extents: Vec<Vec<String>>,
    /// For each array, the names of those strides that are given at run time, by axis.
    pub strides: Vec<BTreeMap<u32, String>>,
}

impl Names {
    /// A namer with all of these names in use.
    pub fn namer(&self) -> Namer {
        let lists = [&self.params, &self.scalars, &self.arrays, &self.buffers, &self.variables];
        let nested = self.lets.iter().chain(&self.extents);
        let strides = self.strides.iter().flat_map(BTreeMap::values);
        let all = lists.into_iter().chain(nested).flatten().chain(strides).chain(self.results.values());
        let all = all.chain(self.memories.values());
        let all = all.chain([&self.function, &self.sizes]);
        Namer { used: all.cloned().collect() }
    }
}

/// A set of names in use.
#[derive(Debug, Clone, Default)]
pub struct Namer {
    used: BTreeSet<String>,
}

impl Namer {
    /// The wanted name in ASCII, made different from all keywords and all names in use; it is in use from then on.
    pub fn fresh(&mut self, wanted: &str) -> String {
        let name = self.pick(wanted);
        self.used.insert(name.clone());
        name
    }

    /// As [`Namer::fresh`], but the name stays free.
    pub fn pick(&self, wanted: &str) -> String {
        let mut base = ascii(wanted);
        if is_reserved(&base) {
            base.push('_');
        }
        if !self.used.contains(&base) {
            return base;
        }
        (2..)
            .map(|number| format!("{base}_{number}"))
            .find(|name| !self.used.contains(name))
            .expect("the numbers do not run out")
    }

    pub fn reserve(&mut self, name: &str) {
        self.used.insert(name.to_string());
    }

    pub fn is_used(&self, name: &str) -> bool {
        self.used.contains(name)
    }
}

/// The name of a function that other code links to: it also avoids what headers declare and what C libraries export.
pub fn function_name(wanted: &str) -> String {
    let mut name = ascii(wanted);
    if is_reserved(&name) || is_declared(&name) {
        name.push('_');
    }
    name
}

/// An ASCII identifier that reads like `name`: `α` is `alpha`, `x₁` is `x1`, `f!` is `f`, `€` is `u20ac`.
pub fn ascii(name: &str) -> String {
    let mut text = String::new();
    for (at, c) in name.chars().enumerate() {
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => text.push(c),
            '!' => {}
            '′' => text.push_str("_prime"),
            '₀'..='₉' => text.push(digit(c as u32 - '₀' as u32)),
            '⁰' | '⁴'..='⁹' => text.push(digit(c as u32 - '⁰' as u32)),
            '¹' => text.push('1'),
            '²' => text.push('2'),
            '³' => text.push('3'),
            '(' | ',' | ' ' | '.' | '-' => {
                if at > 0 && !text.ends_with('_') {
                    text.push('_');
                }
            }
            ')' => {}
            other => match GREEK.iter().find(|(letter, _)| *letter == other) {
                Some((_, word)) => text.push_str(word),
                None => text.push_str(&format!("u{:04x}", other as u32)),
            },
        }
    }
    if text.is_empty() {
        text.push('v');
    }
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        text.insert(0, '_');
    }
    // Identifiers that start so belong to compilers and to Tessella's own helpers.
    let lower = text.to_ascii_lowercase();
    if text.starts_with("__")
        || lower.starts_with("tessella")
        || lower.starts_with("cuda")
        || is_underscore_upper(&text)
    {
        text.insert_str(0, "v_");
    }
    text
}

fn is_underscore_upper(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next() == Some('_') && chars.next().is_some_and(|c| c.is_ascii_uppercase())
}

fn digit(value: u32) -> char {
    char::from_digit(value, 10).expect("a digit of one place")
}

fn is_reserved(name: &str) -> bool {
    RESERVED.binary_search(&name).is_ok() || ends_in_reserved_suffix(name)
}

/// Whether a header of C or CUDA declares the name.
fn is_declared(name: &str) -> bool {
    let is_math = |suffix: &str| name.strip_suffix(suffix).is_some_and(|base| MATH.binary_search(&base).is_ok());
    LIBRARY.binary_search(&name).is_ok() || MATH_SUFFIXES.iter().copied().any(is_math) || is_vector(name)
}

/// `float2`, `make_float2` and their like.
fn is_vector(name: &str) -> bool {
    let of_type = name.strip_prefix("make_").unwrap_or(name);
    ["1", "2", "3", "4"].iter().any(|size| of_type.strip_suffix(size).is_some_and(|base| VECTORS.contains(&base)))
}

/// `int8_t` and its like.
fn ends_in_reserved_suffix(name: &str) -> bool {
    name.ends_with("_t") || name.ends_with("_MAX") || name.ends_with("_MIN")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted() {
        assert!(RESERVED.is_sorted());
        assert!(MATH.is_sorted());
        assert!(LIBRARY.is_sorted());
    }

    #[test]
    fn names_are_ascii_and_readable() {
        for (wanted, name) in [
            ("heat2d!", "heat2d"),
            ("α", "alpha"),
            ("Δt", "Deltat"),
            ("x₁", "x1"),
            ("v²", "v2"),
            ("€", "u20ac"),
            ("size(A,1)", "size_A_1"),
            ("x′", "x_prime"),
            ("_Bool", "v__Bool"),
            ("!", "v"),
        ] {
            assert_eq!(ascii(wanted), name);
        }
    }

    #[test]
    fn keywords_and_collisions_are_avoided() {
        let mut namer = Namer::default();
        assert_eq!(namer.fresh("int"), "int_");
        assert_eq!(namer.fresh("α"), "alpha");
        assert_eq!(namer.fresh("alpha"), "alpha_2");
        assert_eq!(namer.fresh("exp"), "exp_");
        assert_eq!(namer.fresh("j0"), "j0");
        assert_eq!(function_name("j0"), "j0_");
    }

    #[test]
    fn symbols_avoid_what_headers_declare() {
        let declared = [
            "expl!",
            "logl!",
            "powl!",
            "sinl!",
            "tanl!",
            "hypotl!",
            "fmal!",
            "logbl!",
            "gammaf!",
            "y0f!",
            "strtod",
            "qsort_r",
            "sinpi",
            "normcdff",
            "rsqrt",
            "float2",
            "make_double4",
            "umin",
        ];
        for name in declared {
            assert_eq!(function_name(name), format!("{}_", ascii(name)));
        }
        for name in ["heat", "float5", "sinks", "normal", "clamp", "j0s"] {
            assert_eq!(function_name(name), name);
        }
    }
}

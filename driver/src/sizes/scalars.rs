//! Scalar arguments that parameters are worked out from, for made-up runs: `T` and `dt` of `round(Int, T / dt)`.
//!
//! Numbers by chance are tried, and those are kept that come closest to as many steps as a run is meant to have.

use super::Defaults;
use std::collections::{BTreeMap, BTreeSet};
use tessella_polyhedral::algorithm::{Algorithm, Param, ParamOrigin, ScalarId};
use tessella_polyhedral::derived::NO_VALUE;
use tessella_scalar::{Constant, ScalarType};

/// How many are tried.
const TRIALS: u32 = 2000;

/// What a number that nothing can run with is off.
const OFF: u128 = 1 << 80;

/// Values of scalar arguments that are no parameters themselves.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scalars(BTreeMap<ScalarId, Constant>);

impl Scalars {
    /// Those that parameters of the algorithm are worked out from: what `given` has of them, and others that fit.
    pub fn choose(algorithm: &Algorithm, given: &dyn Fn(ScalarId) -> Option<Constant>, defaults: Defaults) -> Scalars {
        let mut fixed = BTreeMap::new();
        let mut open = vec![];
        for id in read_by_parameters(algorithm).into_iter().filter(|&id| param_of(algorithm, id).is_none()) {
            match given(id) {
                Some(value) => drop(fixed.insert(id, value)),
                None => open.push(id),
            }
        }
        let mut random = Random(0x2545_f491_4f6c_dd1d);
        let mut best: Option<(u128, Scalars)> = None;
        for _ in 0..if open.is_empty() { 1 } else { TRIALS } {
            let mut tried = Scalars(fixed.clone());
            for &id in &open {
                tried.0.insert(id, random.number(algorithm.scalar(id).ty));
            }
            let off = tried.off(algorithm, defaults);
            if best.as_ref().is_none_or(|(least, _)| off < *least) {
                best = Some((off, tried));
            }
            if off == 0 {
                break;
            }
        }
        best.map(|(_, scalars)| scalars).unwrap_or_default()
    }

    /// The value that a scalar argument has, where parameters have these.
    pub fn value(&self, algorithm: &Algorithm, params: &[i64], id: ScalarId) -> Option<Constant> {
        match param_of(algorithm, id) {
            Some(at) => params.get(at).map(|&value| Constant::integer(algorithm.scalar(id).ty, value.into())),
            None => self.0.get(&id).copied(),
        }
    }

    /// The value that was chosen for a scalar argument, if it is one of these.
    pub fn chosen(&self, id: ScalarId) -> Option<Constant> {
        self.0.get(&id).copied()
    }

    /// A parameter that these give no value, as the source has it.
    pub fn missing(&self, algorithm: &Algorithm, defaults: Defaults) -> Option<String> {
        let values = self.params(algorithm, defaults);
        let found = algorithm.params.iter().zip(values).find(|(it, value)| it.is_of_scalars() && *value == NO_VALUE);
        found.and_then(|(param, _)| algorithm.spelling(param))
    }

    /// How far the parameters are from the numbers that a run is meant to have.
    fn off(&self, algorithm: &Algorithm, defaults: Defaults) -> u128 {
        let values = self.params(algorithm, defaults);
        let derived =
            algorithm.params.iter().zip(values).filter(|(it, _)| matches!(it.origin, ParamOrigin::Derived(_)));
        let off = |value: i64| if value < 1 { OFF } else { value.abs_diff(defaults.count).into() };
        derived.map(|(_, value)| off(value)).sum()
    }

    /// The values of parameters with these scalars, where the others have their defaults.
    fn params(&self, algorithm: &Algorithm, defaults: Defaults) -> Vec<i64> {
        let mut params = vec![];
        for param in &algorithm.params {
            let value = match &param.origin {
                ParamOrigin::Derived(derived) => derived.evaluate(&params, &|id| self.value(algorithm, &params, id)),
                origin => defaults.of(origin),
            };
            params.push(value);
        }
        params
    }
}

/// The parameter that is a scalar argument.
pub fn param_of(algorithm: &Algorithm, id: ScalarId) -> Option<usize> {
    algorithm.params.iter().position(|param| param.origin == ParamOrigin::Argument(id))
}

fn read_by_parameters(algorithm: &Algorithm) -> BTreeSet<ScalarId> {
    let of = |param: &Param| match &param.origin {
        ParamOrigin::Derived(derived) => derived.scalars(),
        ParamOrigin::Extent { .. } | ParamOrigin::First { .. } | ParamOrigin::Argument(_) => vec![],
    };
    algorithm.params.iter().flat_map(of).collect()
}

/// Numbers as people write them for such arguments.
struct Random(u64);

impl Random {
    fn below(&mut self, count: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20) % count
    }

    /// Floats of two digits between a thousandth and a thousand, small integers.
    fn number(&mut self, ty: ScalarType) -> Constant {
        let digits = (self.below(90) + 10) as f64;
        let small = i128::from(self.below(7) * self.below(20) + 1);
        match ty {
            ScalarType::F64 => Constant::f64(digits / 10_f64.powi(self.below(6) as i32 - 1)),
            ScalarType::F32 => Constant::f32(digits as f32 / 10_f32.powi(self.below(6) as i32 - 1)),
            ScalarType::Bool => Constant::bool(small % 2 == 0),
            ScalarType::I8
            | ScalarType::I16
            | ScalarType::I32
            | ScalarType::I64
            | ScalarType::U8
            | ScalarType::U16
            | ScalarType::U32
            | ScalarType::U64 => Constant::integer(ty, small),
        }
    }
}

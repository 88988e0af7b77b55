//! The arguments of a call, read as the plan's entry names them, and the checks on them before anything runs.

use crate::call::ParamType;
use crate::error::RuntimeError;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_void;
use tessella_codegen::LaunchPlan;
use tessella_codegen::entry::{EntryParameter, STATUS_NO_INTEGER, STATUS_OK, STATUS_OUT_OF_CONTEXT, STATUS_OVERLAP};
use tessella_codegen::int_expr::Environment;
use tessella_codegen::plan::PlanArgument;
use tessella_polyhedral::algorithm::{ArrayId, ParamOrigin, ScalarId};
use tessella_polyhedral::derived::NO_VALUE;
use tessella_scalar::{Constant, ScalarType};

/// The arguments of a call as its caller passes them.
#[derive(Debug, Clone, Copy)]
pub struct Packed<'a> {
    /// A pointer to the value of each parameter of the entry.
    pub arguments: &'a [*mut c_void],
    /// For each parameter, whether it is the address of an array in the GPU's memory. What is missing is not.
    pub on_device: &'a [bool],
}

impl<'a> Packed<'a> {
    /// All arrays in the host's memory.
    pub fn on_host(arguments: &'a [*mut c_void]) -> Packed<'a> {
        Packed { arguments, on_device: &[] }
    }

    /// Whether any array is in the GPU's memory.
    pub fn has_device_arrays(&self) -> bool {
        self.on_device.contains(&true)
    }
}

/// The arguments of one call.
#[derive(Debug)]
pub struct Arguments {
    /// The arrays whose pointer is an address in the GPU's memory.
    resident: BTreeSet<ArrayId>,
    /// Of arguments and of places for results.
    pointers: BTreeMap<ArrayId, *mut u8>,
    extents: BTreeMap<(ArrayId, u32), i64>,
    firsts: BTreeMap<(ArrayId, u32), i64>,
    /// The values' bytes, then zeros.
    scalars: BTreeMap<ScalarId, [u8; 8]>,
    /// The values of those that are integers.
    integers: BTreeMap<ScalarId, i64>,
    /// Where the extents of the arrays that are given back go; null in a call that computes.
    sizes: *mut i64,
    /// The values of the plan's parameters.
    pub environment: Environment,
}

/// The types of the entry's parameters, in order.
pub fn parameter_types(plan: &LaunchPlan) -> Result<Vec<ParamType>, RuntimeError> {
    let mut scalars = plan.arguments.iter().filter_map(|argument| match argument {
        PlanArgument::Scalar { ty, .. } => Some(*ty),
        PlanArgument::Array { .. } => None,
    });
    let types = plan.entry.parameters.iter().map(|parameter| match parameter {
        EntryParameter::Pointer(_) | EntryParameter::Result(_) | EntryParameter::Made(_) | EntryParameter::Sizes => {
            Ok(ParamType::Pointer)
        }
        EntryParameter::Extent { .. } | EntryParameter::Stride { .. } | EntryParameter::First { .. } => {
            Ok(ParamType::Scalar(ScalarType::I64))
        }
        EntryParameter::Scalar(scalar) => scalars
            .next()
            .map(ParamType::Scalar)
            .ok_or_else(|| RuntimeError::MalformedPlan(format!("scalar {} has no type", scalar.0))),
    });
    types.collect()
}

impl Arguments {
    /// Reads the arguments of a call.
    ///
    /// # Safety
    /// Each argument points to a value of its parameter's type.
    pub unsafe fn read(plan: &LaunchPlan, types: &[ParamType], call: Packed<'_>) -> Result<Arguments, RuntimeError> {
        let arguments = call.arguments;
        if arguments.len() != types.len() {
            return Err(RuntimeError::ArgumentCount { expected: types.len(), found: arguments.len() });
        }
        let mut read = Arguments {
            resident: BTreeSet::new(),
            pointers: BTreeMap::new(),
            extents: BTreeMap::new(),
            firsts: BTreeMap::new(),
            scalars: BTreeMap::new(),
            integers: BTreeMap::new(),
            sizes: std::ptr::null_mut(),
            environment: Environment::default(),
        };
        for (at, ((parameter, ty), &argument)) in plan.entry.parameters.iter().zip(types).zip(arguments).enumerate() {
            if let (EntryParameter::Pointer(array), Some(true)) = (parameter, call.on_device.get(at)) {
                read.resident.insert(*array);
            }
            match *parameter {
                // SAFETY: the caller promises a pointer there.
                EntryParameter::Pointer(array) | EntryParameter::Made(array) | EntryParameter::Result(array) => {
                    read.pointers.insert(array, unsafe { argument.cast::<*mut u8>().read_unaligned() });
                }
                // SAFETY: the caller promises a pointer there.
                EntryParameter::Sizes => read.sizes = unsafe { argument.cast::<*mut i64>().read_unaligned() },
                // SAFETY: the caller promises an `int64_t` there.
                EntryParameter::Extent { array, axis, .. } => {
                    read.extents.insert((array, axis), unsafe { argument.cast::<i64>().read_unaligned() });
                }
                // SAFETY: the caller promises an `int64_t` there.
                EntryParameter::First { array, axis, .. } => {
                    read.firsts.insert((array, axis), unsafe { argument.cast::<i64>().read_unaligned() });
                }
                EntryParameter::Stride { array, .. } => {
                    return Err(malformed(format!("array {} has strides, which a GPU program cannot take", array.0)));
                }
                EntryParameter::Scalar(scalar) => {
                    let bytes = match ty {
                        ParamType::Scalar(ty) => ty.bytes() as usize,
                        ParamType::Pointer => return Err(malformed(format!("scalar {} is a pointer", scalar.0))),
                    };
                    let mut value = [0; 8];
                    // SAFETY: the caller promises a value of that many bytes there.
                    unsafe { argument.cast::<u8>().copy_to_nonoverlapping(value.as_mut_ptr(), bytes) };
                    read.scalars.insert(scalar, value);
                    if let ParamType::Scalar(ty) = ty {
                        read.integers.insert(scalar, wide(*ty, value));
                    }
                }
            }
        }
        let types: BTreeMap<ScalarId, ScalarType> = plan.entry.parameters.iter().zip(types).filter_map(typed).collect();
        let scalar = |id: ScalarId| Some(constant(*types.get(&id)?, *read.scalars.get(&id)?));
        let mut params = vec![];
        for origin in &plan.params {
            let value = match origin {
                ParamOrigin::Extent { array, axis } => read.extents.get(&(*array, *axis)).copied(),
                ParamOrigin::First { array, axis } => read.firsts.get(&(*array, *axis)).copied(),
                ParamOrigin::Argument(scalar) => read.integers.get(scalar).copied(),
                ParamOrigin::Derived(value) => Some(value.evaluate(&params, &scalar)),
            };
            params.push(value.ok_or_else(|| malformed("a parameter stands for no argument".to_owned()))?);
        }
        read.environment = Environment::new(params);
        Ok(read)
    }

    pub fn pointer(&self, array: ArrayId) -> Option<*mut u8> {
        self.pointers.get(&array).copied()
    }

    /// The address of an array that is in the GPU's memory already.
    pub fn resident(&self, array: ArrayId) -> Option<u64> {
        self.resident.contains(&array).then(|| self.pointer(array)).flatten().map(|address| address as u64)
    }

    /// The arrays that are in the GPU's memory already: address and bytes, by the position of their parameter.
    pub fn all_resident(&self, plan: &LaunchPlan) -> Result<Vec<(usize, u64, u64)>, RuntimeError> {
        let mut all = vec![];
        for (position, parameter) in plan.entry.parameters.iter().enumerate() {
            if let EntryParameter::Pointer(array) = parameter
                && self.resident.contains(array)
            {
                let (address, bytes) = self.range(plan, *array)?;
                all.push((position, address, bytes));
            }
        }
        Ok(all)
    }

    /// Answers a call that asks for the extents of the arrays that are given back; whether it is one.
    ///
    /// # Safety
    /// The pointer for the extents is null, or to memory for all of them.
    pub unsafe fn answer_sizes(&self, plan: &LaunchPlan) -> Result<bool, RuntimeError> {
        if self.sizes.is_null() {
            return Ok(false);
        }
        for (at, size) in plan.entry.sizes.iter().enumerate() {
            let size = size.evaluate(&self.environment);
            let size = size.ok_or_else(|| malformed("an extent cannot be evaluated".to_owned()))?;
            // SAFETY: promised by the caller.
            unsafe { self.sizes.add(at).write_unaligned(size) };
        }
        Ok(true)
    }

    pub fn scalar(&self, scalar: ScalarId) -> Option<[u8; 8]> {
        self.scalars.get(&scalar).copied()
    }

    /// The checks at entry, in the order and with the status codes of the generated C.
    pub fn check(&self, plan: &LaunchPlan) -> Result<i32, RuntimeError> {
        let unknown = || malformed("a check at entry cannot be evaluated".to_owned());
        if plan.entry.of_scalars().any(|param| self.environment.params.get(param.0 as usize) == Some(&NO_VALUE)) {
            return Ok(STATUS_NO_INTEGER);
        }
        // A part that 64 bits do not hold is out of context too.
        if !plan.entry.context.evaluate(&self.environment).unwrap_or(false) {
            return Ok(STATUS_OUT_OF_CONTEXT);
        }
        for &(first, second) in &plan.entry.apart {
            if overlap(self.range(plan, first)?, self.range(plan, second)?) {
                return Ok(STATUS_OVERLAP);
            }
        }
        for check in &plan.entry.checks {
            if !check.holds.evaluate(&self.environment).ok_or_else(unknown)? {
                return Ok(check.number);
            }
        }
        Ok(STATUS_OK)
    }

    /// The bytes of an array argument: its address and their number.
    pub fn range(&self, plan: &LaunchPlan, of: ArrayId) -> Result<(u64, u64), RuntimeError> {
        let argument = plan.arguments.iter().find_map(|argument| match argument {
            PlanArgument::Array { array, element, rank, .. } if *array == of => Some((*element, *rank)),
            PlanArgument::Array { .. } | PlanArgument::Scalar { .. } => None,
        });
        let unknown = || malformed(format!("array {} is no argument", of.0));
        let (element, rank) = argument.ok_or_else(unknown)?;
        let address = self.pointer(of).ok_or_else(unknown)?;
        let extents: Option<Vec<i64>> = (0..rank).map(|axis| self.extents.get(&(of, axis)).copied()).collect();
        Ok((address as u64, byte_size(element, &extents.ok_or_else(unknown)?)))
    }
}

/// The bytes of an array, at most as many as an address can count; an extent below zero counts as zero.
pub fn byte_size(element: ScalarType, extents: &[i64]) -> u64 {
    let extents = extents.iter().map(|&extent| u64::try_from(extent).unwrap_or(0));
    if extents.clone().any(|extent| extent == 0) {
        return 0;
    }
    extents.fold(u64::from(element.bytes()), u64::saturating_mul).min(i64::MAX as u64)
}

fn overlap(first: (u64, u64), second: (u64, u64)) -> bool {
    let end = |(address, bytes): (u64, u64)| address.saturating_add(bytes);
    first.1 > 0 && second.1 > 0 && first.0 < end(second) && second.0 < end(first)
}

/// The scalar that a parameter of the entry is, with its type.
fn typed((parameter, ty): (&EntryParameter, &ParamType)) -> Option<(ScalarId, ScalarType)> {
    match (parameter, ty) {
        (EntryParameter::Scalar(scalar), ParamType::Scalar(ty)) => Some((*scalar, *ty)),
        (_, ParamType::Scalar(_) | ParamType::Pointer) => None,
    }
}

/// The value that the first bytes are in memory.
fn constant(ty: ScalarType, bytes: [u8; 8]) -> Constant {
    Constant { ty, bits: wide(ty, bytes).cast_unsigned() }
}

/// The integer that the first bytes are in memory; of a float, its bits.
fn wide(ty: ScalarType, bytes: [u8; 8]) -> i64 {
    let [a, b, c, d, ..] = bytes;
    match ty {
        ScalarType::Bool | ScalarType::U8 => i64::from(a),
        ScalarType::I8 => i64::from(a.cast_signed()),
        ScalarType::I16 => i64::from(i16::from_ne_bytes([a, b])),
        ScalarType::U16 => i64::from(u16::from_ne_bytes([a, b])),
        ScalarType::I32 => i64::from(i32::from_ne_bytes([a, b, c, d])),
        ScalarType::U32 | ScalarType::F32 => i64::from(u32::from_ne_bytes([a, b, c, d])),
        ScalarType::I64 | ScalarType::U64 | ScalarType::F64 => i64::from_ne_bytes(bytes),
    }
}

fn malformed(what: String) -> RuntimeError {
    RuntimeError::MalformedPlan(what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tessella_codegen::entry::Entry;
    use tessella_codegen::int_expr::{Cond, IntExpr};
    use tessella_codegen::plan::Queues;
    use tessella_polyhedral::affine::ParamId;
    use tessella_polyhedral::derived::Derived;
    use tessella_polyhedral::expr::{Expr, ExprKind};
    use tessella_scalar::CompareOp;

    #[test]
    fn sizes_saturate_and_empty_arrays_have_no_bytes() {
        assert_eq!(byte_size(ScalarType::F32, &[3, 5]), 60);
        assert_eq!(byte_size(ScalarType::F32, &[]), 4);
        assert_eq!(byte_size(ScalarType::F64, &[i64::MAX, 2]), i64::MAX as u64);
        assert_eq!(byte_size(ScalarType::F64, &[i64::MAX, i64::MAX, 0]), 0);
        assert_eq!(byte_size(ScalarType::F64, &[-1, -1]), 0);
    }

    #[test]
    fn narrow_integers_keep_their_sign() {
        assert_eq!(wide(ScalarType::I8, [0xff, 0, 0, 0, 0, 0, 0, 0]), -1);
        assert_eq!(wide(ScalarType::U8, [0xff, 0, 0, 0, 0, 0, 0, 0]), 255);
        let minus_two = (-2i32).to_ne_bytes();
        let bytes = [minus_two[0], minus_two[1], minus_two[2], minus_two[3], 0, 0, 0, 0];
        assert_eq!((wide(ScalarType::I32, bytes), wide(ScalarType::U32, bytes)), (-2, (1 << 32) - 2));
    }

    #[test]
    fn scalars_are_the_constants_that_their_bytes_hold() {
        let mut bytes = [0; 8];
        bytes[..4].copy_from_slice(&2.5_f32.to_ne_bytes());
        assert_eq!(constant(ScalarType::F32, bytes), Constant::f32(2.5));
        assert_eq!(constant(ScalarType::F64, (-0.1_f64).to_ne_bytes()), Constant::f64(-0.1));
        assert_eq!(constant(ScalarType::I8, [0xfe, 0, 0, 0, 0, 0, 0, 0]), Constant::integer(ScalarType::I8, -2));
        assert_eq!(constant(ScalarType::Bool, [1, 0, 0, 0, 0, 0, 0, 0]), Constant::bool(true));
    }

    /// A plan whose only parameter is `trunc(Int, T)`.
    fn plan() -> LaunchPlan {
        let scalar = Expr { kind: ExprKind::Scalar(ScalarId(0)), ty: ScalarType::F64 };
        let whole = Expr { kind: ExprKind::Wrap(Box::new(scalar)), ty: ScalarType::I64 };
        let derived = Derived::Scalars(Box::new(whole));
        let at_most = Cond::Compare(CompareOp::Le, IntExpr::Param(ParamId(0)), IntExpr::Const(1 << 40));
        LaunchPlan {
            entry: Entry {
                parameters: vec![EntryParameter::Scalar(ScalarId(0))],
                aliases: vec![],
                widened: vec![],
                derived: vec![(ParamId(0), derived.clone())],
                context: at_most,
                apart: vec![],
                unfolded: vec![],
                checks: vec![],
                sizes: vec![],
            },
            arguments: vec![PlanArgument::Scalar { name: "T".into(), ty: ScalarType::F64 }],
            params: vec![ParamOrigin::Derived(derived)],
            results: vec![],
            buffers: vec![],
            kernels: vec![],
            queues: Queues::One,
            failed: None,
            steps: vec![],
        }
    }

    #[test]
    fn floats_give_parameters_or_end_the_call() {
        let (plan, types) = (plan(), [ParamType::Scalar(ScalarType::F64)]);
        let read = |mut value: f64| {
            let pointers = [(&raw mut value).cast::<c_void>()];
            // SAFETY: the only argument is a `Float64`.
            unsafe { Arguments::read(&plan, &types, Packed::on_host(&pointers)) }.unwrap()
        };
        assert_eq!(read(7.9).environment.params, [7]);
        assert_eq!(read(7.9).check(&plan).unwrap(), STATUS_OK);
        for missing in [f64::NAN, f64::INFINITY, -1e19] {
            assert_eq!(read(missing).check(&plan).unwrap(), STATUS_NO_INTEGER);
        }
        assert_eq!(read(1e13).check(&plan).unwrap(), STATUS_OUT_OF_CONTEXT);
    }

    #[test]
    fn ranges_overlap_when_they_share_a_byte() {
        assert!(overlap((100, 8), (107, 1)));
        assert!(!overlap((100, 8), (108, 8)));
        assert!(!overlap((100, 8), (104, 0)));
    }
}

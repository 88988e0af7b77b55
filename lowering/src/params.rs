//! Parameters: the extents of array arguments and the integer arguments that index, with the user's names for them.

use crate::derived::Meaning;
use crate::formula::Formula;
use crate::names::Names;
use crate::stepped::polynomial::{Atom, Polynomial};
use crate::values::Values;
use std::collections::BTreeMap;
use tessella_diagnostics::Span;
use tessella_frontend::typed::tree::{Expr as Typed, ExprKind as Made, Function, LocalId, Role, Type};
use tessella_polyhedral::affine::{Affine, ParamId};
use tessella_polyhedral::algorithm::{
    Argument, Array, ArrayId, ArrayKind, PARAM_LIMIT, Param, ParamOrigin, Scalar, ScalarId,
};
use tessella_polyhedral::derived::{Derived, Rounding};
use tessella_polyhedral::expr::{Expr, ExprKind};
use tessella_scalar::ScalarType;

/// The signature in the algorithm's words.
pub(crate) struct Signature {
    pub(crate) params: Vec<Param>,
    pub(crate) param_spans: Vec<Span>,
    pub(crate) scalars: Vec<Scalar>,
    /// The array arguments.
    pub(crate) arrays: Vec<Array>,
    pub(crate) arguments: Vec<Argument>,
    /// Of each argument's local.
    pub(crate) places: BTreeMap<LocalId, Argument>,
    extents: BTreeMap<(LocalId, u32), ParamId>,
    firsts: BTreeMap<(LocalId, u32), ParamId>,
    integers: BTreeMap<LocalId, ParamId>,
}

impl Signature {
    /// `names` comes back holding all names of arguments and parameters.
    pub(crate) fn new(
        function: &Function,
        values: &Values<'_>,
        derived: &[(LocalId, Meaning)],
        names: &mut Names,
    ) -> Self {
        let mut signature = Signature {
            params: vec![],
            param_spans: vec![],
            scalars: vec![],
            arrays: vec![],
            arguments: vec![],
            places: BTreeMap::new(),
            extents: BTreeMap::new(),
            firsts: BTreeMap::new(),
            integers: BTreeMap::new(),
        };
        // Iterators keep their names; arguments come next, in the order of the signature.
        for local in &function.locals {
            if matches!(local.role, Role::Iterator(_)) {
                names.reserve(&local.name);
            }
        }
        for &id in &function.arguments {
            let local = &function.locals[id.0 as usize];
            let argument = match local.ty {
                Type::Array { element, rank, form } => {
                    signature.arrays.push(Array {
                        name: names.fresh(&local.name),
                        element,
                        extents: vec![],
                        firsts: vec![],
                        rank,
                        kind: ArrayKind::Argument,
                        strided: form.stride_axes(rank),
                    });
                    Argument::Array(ArrayId(signature.arrays.len() as u32 - 1))
                }
                Type::Scalar(ty) => {
                    signature.scalars.push(Scalar { name: names.fresh(&local.name), ty });
                    Argument::Scalar(ScalarId(signature.scalars.len() as u32 - 1))
                }
            };
            signature.arguments.push(argument);
            signature.places.insert(id, argument);
        }
        signature.add_params(function, values, derived, names);
        signature
    }

    fn add_params(
        &mut self,
        function: &Function,
        values: &Values<'_>,
        derived: &[(LocalId, Meaning)],
        names: &mut Names,
    ) {
        let user_names = extent_names(function, values);
        for &id in &function.arguments {
            let local = &function.locals[id.0 as usize];
            match self.places[&id] {
                Argument::Array(array) => {
                    for axis in 0..self.arrays[array.0 as usize].rank {
                        let chosen = user_names.get(&(id, axis)).filter(|(name, _)| !names.contains(name));
                        let (name, span) = match chosen {
                            Some((name, span)) => (names.fresh(name), *span),
                            None => (names.fresh(&format!("{}_{}", local.name, axis + 1)), local.span),
                        };
                        let param = self.add_param(Param { name, origin: ParamOrigin::Extent { array, axis } }, span);
                        self.extents.insert((id, axis), param);
                        self.arrays[array.0 as usize].extents.push(Affine::param(param));
                    }
                    let Type::Array { rank, form, .. } = local.ty else { continue };
                    for axis in form.first_axes(rank) {
                        let name = names.fresh(&format!("{}_first{}", local.name, axis + 1));
                        let origin = ParamOrigin::First { array, axis };
                        let param = self.add_param(Param { name, origin }, local.span);
                        self.firsts.insert((id, axis), param);
                        self.arrays[array.0 as usize].firsts.push(Affine::param(param));
                    }
                }
                // An integer that is nothing but data may have any value.
                Argument::Scalar(scalar)
                    if limits(self.scalars[scalar.0 as usize].ty).is_some()
                        && (values.is_index(id) || derived.iter().any(|(_, held)| mentions(held, id))) =>
                {
                    let name = self.scalars[scalar.0 as usize].name.clone();
                    let param = self.add_param(Param { name, origin: ParamOrigin::Argument(scalar) }, local.span);
                    self.integers.insert(id, param);
                }
                Argument::Scalar(_) => {}
            }
        }
        for (id, held) in derived {
            let local = &function.locals[id.0 as usize];
            let name = names.fresh(&local.name);
            let origin = ParamOrigin::Derived(match held {
                Meaning::Product(product) => self.product(product),
                Meaning::Scalars(value) => Derived::Scalars(Box::new(self.of_scalars(value))),
            });
            let param = self.add_param(Param { name, origin }, local.span);
            self.integers.insert(*id, param);
        }
    }

    fn product(&self, product: &[Atom]) -> Derived {
        Derived::product(product.iter().map(|atom| self.derived(atom)).collect())
    }

    fn sum(&self, value: &Polynomial) -> Derived {
        let term = |(product, factor): (&[Atom], i64)| {
            let factor = (factor != 1).then_some(Derived::Constant(factor));
            Derived::product(factor.into_iter().chain(product.iter().map(|atom| self.derived(atom))).collect())
        };
        Derived::sum(value.terms().map(term).collect())
    }

    fn derived(&self, atom: &Atom) -> Derived {
        let param = match atom {
            Atom::Local(local) => self.integer(*local),
            Atom::Size(array, axis) => self.extent(*array, *axis),
            // Subscripts of other arrays count from 1.
            Atom::First(array, axis) => match self.first(*array, *axis) {
                Some(first) => Some(first),
                None => return Derived::Constant(1),
            },
            Atom::Entry(..) => None,
            Atom::Clamped(value) => return Derived::Clamped(Box::new(self.sum(value))),
            Atom::Quotient(value, divisor) => {
                let divisor = Box::new(Derived::Constant(*divisor));
                return Derived::Quotient(Rounding::Down, Box::new(self.sum(value)), divisor);
            }
            Atom::Divided(rounding, dividend, divisor) => {
                let [dividend, divisor] = [dividend, divisor].map(|it| Box::new(self.sum(it)));
                return Derived::Quotient(*rounding, dividend, divisor);
            }
        };
        Derived::Param(param.expect("products are made of what callers give"))
    }

    /// What arguments and sizes give, in the algorithm's words.
    fn of_scalars(&self, value: &Typed) -> Expr {
        let of = |operand: &Typed| self.of_scalars(operand);
        let boxed = |operand: &Typed| Box::new(self.of_scalars(operand));
        let param = |param: Option<ParamId>| param.map_or(Affine::constant(1), Affine::param);
        let kind = match &value.kind {
            Made::Constant(constant) => ExprKind::Constant(*constant),
            Made::Local(local) => match self.places[local] {
                Argument::Scalar(scalar) => ExprKind::Scalar(scalar),
                Argument::Array(_) => unreachable!("the type checker gives arrays no scalar type"),
            },
            Made::Size { array, axis } => ExprKind::Index(param(self.extent(*array, *axis))),
            // Subscripts of other arrays count from 1.
            Made::First { array, axis } => ExprKind::Index(param(self.first(*array, *axis))),
            Made::Load { .. } => unreachable!("entry reads no arrays"),
            Made::Unary(op, operand) => ExprKind::Unary(*op, boxed(operand)),
            Made::Binary(op, left, right) => ExprKind::Binary(*op, boxed(left), boxed(right)),
            Made::Compare(op, left, right) => ExprKind::Compare(*op, boxed(left), boxed(right)),
            Made::Call(function, operands) => ExprKind::Call(*function, operands.iter().map(of).collect()),
            Made::Select { condition, yes, no } => {
                ExprKind::Select { condition: boxed(condition), yes: boxed(yes), no: boxed(no) }
            }
            Made::IfElse { condition, yes, no } => {
                ExprKind::IfElse { condition: boxed(condition), yes: boxed(yes), no: boxed(no) }
            }
            Made::Convert(operand) => ExprKind::Convert(boxed(operand)),
            Made::Wrap(operand) => ExprKind::Wrap(boxed(operand)),
        };
        Expr { kind, ty: value.ty }
    }

    fn add_param(&mut self, param: Param, span: Span) -> ParamId {
        self.params.push(param);
        self.param_spans.push(span);
        ParamId(self.params.len() as u32 - 1)
    }

    /// The parameter that is `size(array, axis)`.
    pub(crate) fn extent(&self, array: LocalId, axis: u32) -> Option<ParamId> {
        self.extents.get(&(array, axis)).copied()
    }

    /// The parameter that is `firstindex(array, axis)`, where that is given at run time.
    pub(crate) fn first(&self, array: LocalId, axis: u32) -> Option<ParamId> {
        self.firsts.get(&(array, axis)).copied()
    }

    /// The parameter that is the integer argument; `None` if the argument is only data.
    pub(crate) fn integer(&self, argument: LocalId) -> Option<ParamId> {
        self.integers.get(&argument).copied()
    }

    pub(crate) fn param_names(&self) -> Vec<String> {
        self.params.iter().map(|param| param.name.clone()).collect()
    }

    /// Whether it is a product of extents: never negative, unless it wraps around, and then the function is left to its original.
    fn is_of_extents(&self, derived: &Derived) -> bool {
        match derived {
            Derived::Param(param) => matches!(self.params[param.0 as usize].origin, ParamOrigin::Extent { .. }),
            Derived::Product(parts) => parts.iter().all(|part| self.is_of_extents(part)),
            Derived::Clamped(_) => true,
            Derived::Constant(_) | Derived::Sum(_) | Derived::Quotient(..) | Derived::Scalars(_) => false,
        }
    }

    /// What the entry checks guarantee beside [`PARAM_LIMIT`]: no extent is negative, and arguments are what their types hold.
    pub(crate) fn context(&self) -> Formula {
        Formula::all(self.params.iter().enumerate().flat_map(|(at, param)| {
            let (least, most) = match param.origin {
                ParamOrigin::Extent { .. } => (0, PARAM_LIMIT),
                ParamOrigin::Derived(ref derived) if self.is_of_extents(derived) => (0, PARAM_LIMIT),
                ParamOrigin::Derived(_) => (-PARAM_LIMIT, PARAM_LIMIT),
                ParamOrigin::First { .. } => (-PARAM_LIMIT, PARAM_LIMIT),
                ParamOrigin::Argument(scalar) => {
                    limits(self.scalars[scalar.0 as usize].ty).unwrap_or((-PARAM_LIMIT, PARAM_LIMIT))
                }
            };
            let value = Affine::param(ParamId(at as u32));
            let small = "the limits are far below 2^63";
            let above =
                (least != -PARAM_LIMIT).then(|| Formula::non_negative(value.add_constant(-least).expect(small)));
            let below = (most != PARAM_LIMIT)
                .then(|| Formula::non_negative(value.scale(-1).expect(small).add_constant(most).expect(small)));
            above.into_iter().chain(below)
        }))
    }
}

/// Whether an argument is an integer of a product. What scalars give may be of any value.
fn mentions(held: &Meaning, id: LocalId) -> bool {
    let Meaning::Product(product) = held else { return false };
    product.iter().any(|atom| Polynomial::atom(atom.clone()).mentions(&Atom::Local(id)))
}

/// The values of an integer argument that may be a parameter; `None` for types that are no integers, or have larger
/// values than `Int64`.
pub(crate) fn limits(ty: ScalarType) -> Option<(i64, i64)> {
    match ty {
        ScalarType::I64 => Some((-PARAM_LIMIT, PARAM_LIMIT)),
        ScalarType::I8 => Some((i8::MIN.into(), i8::MAX.into())),
        ScalarType::I16 => Some((i16::MIN.into(), i16::MAX.into())),
        ScalarType::I32 => Some((i32::MIN.into(), i32::MAX.into())),
        ScalarType::U8 => Some((0, u8::MAX.into())),
        ScalarType::U16 => Some((0, u16::MAX.into())),
        ScalarType::U32 => Some((0, u32::MAX.into())),
        ScalarType::Bool | ScalarType::U64 | ScalarType::F32 | ScalarType::F64 => None,
    }
}

/// The first `Value` local that is exactly `size(array, axis)`, for each extent that has one.
fn extent_names(function: &Function, values: &Values<'_>) -> BTreeMap<(LocalId, u32), (String, Span)> {
    let mut found = BTreeMap::new();
    for (at, local) in function.locals.iter().enumerate() {
        let Some(definition) = values.definition(LocalId(at as u32)) else { continue };
        if let Made::Size { array, axis } = definition.kind {
            found.entry((array, axis)).or_insert_with(|| (local.name.clone(), local.span));
        }
    }
    found
}

//! The parameters of a function: their declared types against the arguments' types, and type parameters.

use super::check::{Checked, Checker};
use super::error::{Misfit, TypeError};
use super::scope::State;
use super::tree::{ArgumentType, Firsts, Form, LocalId, Role, Type, dense};
use super::unsupported::Construct;
use super::value::{Kind, Value};
use crate::ast;
use tessella_diagnostics::Span;
use tessella_scalar::ScalarType;

/// `T` of `where {T <: Real}`.
#[derive(Debug, Clone)]
pub(super) struct TypeParameter {
    pub upper: Option<ast::Expr>,
    pub bound: Option<Bound>,
}

/// What a type parameter stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bound {
    Type(ArgumentType),
    Number(i64),
}

/// How an argument fails to match a declared type.
enum Mismatch {
    Differs,
    /// `Array{Real}` given an `Array{Float64}`.
    Invariant,
    /// `Matrix` given an array of three dimensions.
    Rank {
        expected: u32,
        given: u32,
    },
    Reported,
}

type Match = Result<(), Mismatch>;

type AcceptsRank = fn(u32) -> bool;

/// Aliases and abstract types of arrays: name, and the rank they fix.
const ARRAYS: [(&str, Option<u32>); 15] = [
    ("Array", None),
    ("Vector", Some(1)),
    ("Matrix", Some(2)),
    ("AbstractArray", None),
    ("AbstractVector", Some(1)),
    ("AbstractMatrix", Some(2)),
    ("DenseArray", None),
    ("DenseVector", Some(1)),
    ("DenseMatrix", Some(2)),
    ("StridedArray", None),
    ("StridedVector", Some(1)),
    ("StridedMatrix", Some(2)),
    ("VecOrMat", None),
    ("AbstractVecOrMat", None),
    ("DenseVecOrMat", None),
];

impl Checker<'_> {
    /// Declares the parameters as locals and matches their types.
    pub(super) fn parameters(&mut self, function: &ast::Function, arguments: &[ArgumentType]) -> Vec<LocalId> {
        for parameter in &function.type_parameters {
            if self.type_parameter(parameter).is_err() {
                self.fail(TypeError::UnknownType { name: "this".into(), span: parameter.span, suggestion: None });
            }
        }
        let mut ids = vec![];
        for (parameter, &ty) in function.parameters.iter().zip(arguments) {
            let (name, span) = match &parameter.name {
                Some(name) => (name.value.as_str(), name.span),
                None => ("_", parameter.span),
            };
            if parameter.splat {
                let _: Checked<()> = self.not_yet(Construct::Parameter, parameter.span);
            }
            let state = match ty {
                ArgumentType::Complex(Type::Scalar(half)) => {
                    let (re, im) = self.new_complex(name, half, Role::Argument, span);
                    ids.extend([re, im]);
                    State::Complex(re, im)
                }
                ArgumentType::Complex(Type::Array { element, rank, form: _ }) => {
                    let id = self.named_local(name, dense(element, rank + 1), Role::Argument, span);
                    ids.push(id);
                    State::Alias(Value::ComplexArray(id))
                }
                ArgumentType::Real(ty) => {
                    let id = self.named_local(name, ty, Role::Argument, span);
                    ids.push(id);
                    match ty {
                        Type::Scalar(_) => State::Scalar(id),
                        Type::Array { .. } => State::Array(id),
                    }
                }
            };
            let variable = self.declare(name, span, state);
            self.assigned.insert(variable);
        }
        for (parameter, &ty) in function.parameters.iter().zip(arguments) {
            if let Some(declared) = &parameter.ty {
                self.parameter_type(parameter, declared, ty);
            }
        }
        ids
    }

    /// Whether a parameter declared so accepts an argument of type `ty`; reports nothing.
    pub(super) fn accepts(&mut self, function: &ast::Function, declared: &ast::Expr, ty: ArgumentType) -> bool {
        for parameter in &function.type_parameters {
            let _ = self.type_parameter(parameter);
        }
        let accepted = self.matches(declared, ty);
        self.errors.clear();
        self.type_parameters.clear();
        accepted.is_ok()
    }

    /// Whether `declared` accepts the type; may bind type parameters.
    pub(super) fn accepts_type(&mut self, declared: &ast::Expr, ty: ArgumentType) -> bool {
        self.matches(declared, ty).is_ok()
    }

    fn parameter_type(&mut self, parameter: &ast::Parameter, declared: &ast::Expr, ty: ArgumentType) {
        let misfit = match self.matches(declared, ty) {
            Ok(()) | Err(Mismatch::Reported) => return,
            Err(Mismatch::Invariant) => Misfit::Invariant,
            Err(Mismatch::Rank { expected, given }) => Misfit::Rank { expected, given },
            Err(Mismatch::Differs) => Misfit::Other,
        };
        let name = parameter.name.as_ref().map_or("_", |name| name.value.as_str()).to_string();
        if let Some(other) = other_type(declared) {
            self.fail(TypeError::OtherArgument { name: type_text(other), span: other.span });
            return;
        }
        self.fail(TypeError::ArgumentMismatch {
            name,
            declared: format!("`{}`", type_text(declared)),
            found: ty.into(),
            span: declared.span,
            misfit,
        });
    }

    /// Notes `T`, `T <: Upper` or `Lower <: T <: Upper`.
    pub(super) fn type_parameter(&mut self, parameter: &ast::Expr) -> Result<(), ()> {
        let (name, upper) = match &parameter.kind {
            ast::ExprKind::Name(name) => (name.clone(), None),
            ast::ExprKind::Comparison { operands, operators } => match (operands.as_slice(), operators.as_slice()) {
                ([name, upper], [operator]) if operator.value.symbol == "<:" => {
                    (plain_name(name)?, Some(upper.clone()))
                }
                ([name, _], [operator]) if operator.value.symbol == ">:" => (plain_name(name)?, None),
                ([_, name, upper], [_, _]) => (plain_name(name)?, Some(upper.clone())),
                (_, _) => return Err(()),
            },
            ast::ExprKind::Infix { operator, left, right } if operator.value.symbol == "<:" => {
                (plain_name(left)?, Some((**right).clone()))
            }
            _ => return Err(()),
        };
        self.type_parameters.insert(name, TypeParameter { upper, bound: None });
        Ok(())
    }

    /// Whether an argument of type `ty` is accepted by `declared`, which may bind type parameters.
    fn matches(&mut self, declared: &ast::Expr, ty: ArgumentType) -> Match {
        match &declared.kind {
            ast::ExprKind::Name(name) => self.matches_name(name, declared.span, ty),
            ast::ExprKind::Field { field, .. } => self.matches_name(&field.value, declared.span, ty),
            ast::ExprKind::Curly { base, parameters } => {
                let name = match &base.kind {
                    ast::ExprKind::Name(name) => name.as_str(),
                    ast::ExprKind::Field { field, .. } => field.value.as_str(),
                    _ => return Err(self.unknown_type(base)),
                };
                if name == "Union" {
                    return match parameters.iter().any(|one| self.matches(one, ty).is_ok()) {
                        true => Ok(()),
                        false => Err(Mismatch::Differs),
                    };
                }
                if name == "Complex" {
                    let ArgumentType::Complex(half @ Type::Scalar(_)) = ty else { return Err(Mismatch::Differs) };
                    return match parameters.as_slice() {
                        [parameter] => self.matches_element(parameter, ArgumentType::Real(half)),
                        _ => Err(self.unknown_type(declared)),
                    };
                }
                if is_other_type(name) {
                    return Err(Mismatch::Differs);
                }
                let Some((rank, accepted)) = array_type(name) else { return Err(self.unknown_type(base)) };
                let (element, actual, form) = match ty {
                    ArgumentType::Real(Type::Array { element, rank, form }) => {
                        (ArgumentType::Real(Type::Scalar(element)), rank, form)
                    }
                    ArgumentType::Complex(Type::Array { element, rank, form }) => {
                        (ArgumentType::Complex(Type::Scalar(element)), rank, form)
                    }
                    ArgumentType::Real(Type::Scalar(_)) | ArgumentType::Complex(Type::Scalar(_)) => {
                        return Err(Mismatch::Differs);
                    }
                };
                if let Some(expected) = rank.filter(|&rank| rank != actual) {
                    return Err(Mismatch::Rank { expected, given: actual });
                }
                if !accepted(actual) || !includes(name, form) {
                    return Err(Mismatch::Differs);
                }
                if let Some(parameter) = parameters.first() {
                    self.matches_element(parameter, element)?;
                }
                if let Some(parameter) = parameters.get(1) {
                    self.matches_rank(parameter, actual)?;
                }
                Ok(())
            }
            ast::ExprKind::Where { base, parameters } => {
                for parameter in parameters {
                    if self.type_parameter(parameter).is_err() {
                        return Err(self.unknown_type(parameter));
                    }
                }
                self.matches(base, ty)
            }
            _ => Err(self.unknown_type(declared)),
        }
    }

    fn matches_name(&mut self, name: &str, span: Span, ty: ArgumentType) -> Match {
        let fits = |fits: bool| if fits { Ok(()) } else { Err(Mismatch::Differs) };
        if let Some(parameter) = self.type_parameters.get(name).cloned() {
            if let Some(upper) = &parameter.upper {
                self.matches(upper, ty)?;
            }
            return self.bind_parameter(name, Bound::Type(ty));
        }
        if let Some(scalar) = ScalarType::from_julia_name(name) {
            return fits(ty == ArgumentType::Real(Type::Scalar(scalar)));
        }
        if let Some(half) = super::complex::half_of_name(name) {
            return fits(ty == ArgumentType::Complex(Type::Scalar(half)));
        }
        if name == "Complex" {
            return fits(matches!(ty, ArgumentType::Complex(Type::Scalar(_))));
        }
        if let Some((rank, accepted)) = array_type(name) {
            if let (Some(expected), Some(given)) = (rank, rank_of(ty))
                && expected != given
            {
                return Err(Mismatch::Rank { expected, given });
            }
            return fits(matches!(ty, ArgumentType::Real(Type::Array { rank: actual, form, .. })
                | ArgumentType::Complex(Type::Array { rank: actual, form, .. })
                if rank.is_none_or(|rank| rank == actual) && accepted(actual) && includes(name, form)));
        }
        match (abstract_number(name), ty) {
            (Some(includes), ArgumentType::Real(Type::Scalar(scalar))) => fits(includes(scalar)),
            (Some(_), ArgumentType::Complex(Type::Scalar(_))) => fits(name == "Number"),
            (Some(_), ArgumentType::Real(Type::Array { .. }) | ArgumentType::Complex(Type::Array { .. })) => {
                Err(Mismatch::Differs)
            }
            (None, _) if name == "Any" => Ok(()),
            (None, _) if is_other_type(name) => Err(Mismatch::Differs),
            (None, _) => {
                let known = self.known_types();
                let suggestion = tessella_diagnostics::nearest(name, known.iter().map(String::as_str));
                self.fail(TypeError::UnknownType { name: name.into(), span, suggestion });
                Err(Mismatch::Reported)
            }
        }
    }

    /// Element types are invariant: only the type itself, a parameter, or `<:T` accepts it.
    fn matches_element(&mut self, declared: &ast::Expr, element: ArgumentType) -> Match {
        let upper = match &declared.kind {
            ast::ExprKind::Prefix { operator, operand } if operator.value.symbol == "<:" => Some(&**operand),
            _ => None,
        };
        if let Some(upper) = upper {
            return self.matches(upper, element);
        }
        if let ast::ExprKind::Name(name) = &declared.kind
            && !self.type_parameters.contains_key(name)
            && (abstract_number(name).is_some() || matches!(name.as_str(), "Any" | "Complex"))
        {
            return Err(Mismatch::Invariant);
        }
        self.matches(declared, element)
    }

    fn matches_rank(&mut self, declared: &ast::Expr, rank: u32) -> Match {
        match &declared.kind {
            ast::ExprKind::Name(name) if self.type_parameters.contains_key(name) => {
                self.bind_parameter(name, Bound::Number(i64::from(rank)))
            }
            ast::ExprKind::Integer(text) if text.parse() == Ok(rank) => Ok(()),
            ast::ExprKind::Integer(text) => match text.parse() {
                Ok(expected) => Err(Mismatch::Rank { expected, given: rank }),
                Err(_) => Err(Mismatch::Differs),
            },
            _ => Err(self.unknown_type(declared)),
        }
    }

    fn bind_parameter(&mut self, name: &str, to: Bound) -> Match {
        let parameter = self.type_parameters.get_mut(name).expect("called for known type parameters");
        match parameter.bound {
            None => {
                parameter.bound = Some(to);
                Ok(())
            }
            Some(bound) if bound == to => Ok(()),
            Some(_) => Err(Mismatch::Differs),
        }
    }

    fn unknown_type(&mut self, at: &ast::Expr) -> Mismatch {
        let name = type_text(at);
        let known = self.known_types();
        let suggestion = tessella_diagnostics::nearest(&name, known.iter().map(String::as_str));
        self.fail(TypeError::UnknownType { name, span: at.span, suggestion });
        Mismatch::Reported
    }

    fn known_types(&self) -> Vec<String> {
        let scalars = ScalarType::ALL.iter().map(|ty| ty.julia_name());
        let abstracts = [
            "ComplexF64",
            "ComplexF32",
            "Complex",
            "Int",
            "Real",
            "Number",
            "Integer",
            "AbstractFloat",
            "Signed",
            "Unsigned",
        ];
        let arrays = ARRAYS.iter().map(|(name, _)| *name);
        let parameters = self.type_parameters.keys().cloned();
        scalars.chain(abstracts).chain(arrays).map(str::to_string).chain(parameters).collect()
    }

    /// The scalar type that an expression names.
    pub(super) fn type_expression(&mut self, expr: &ast::Expr) -> Checked<ScalarType> {
        match self.value(expr)? {
            Value::Type(ty) => Ok(ty),
            Value::ComplexType(half) => {
                let ty = super::complex::type_name(half);
                Err(self.complex_error(super::complex::ComplexError::TypeHere { ty, span: expr.span }))
            }
            other => {
                let found = self.kind(&other);
                Err(self.fail(TypeError::NotAType { found, span: expr.span }))
            }
        }
    }

    /// The value of a type parameter used as a name in the body.
    pub(super) fn type_parameter_value(&mut self, name: &str, span: Span) -> Option<Checked<Value>> {
        if self.is_librarys(name) {
            return None;
        }
        let bound = self.type_parameters.get(super::full_name::own(name))?.bound;
        Some(match bound {
            Some(Bound::Type(ArgumentType::Real(Type::Scalar(ty)))) => Ok(Value::Type(ty)),
            Some(Bound::Type(ArgumentType::Complex(Type::Scalar(half)))) => Ok(Value::ComplexType(half)),
            Some(Bound::Number(number)) => Ok(Value::Scalar(super::tree::Expr::int64(number, span))),
            Some(Bound::Type(ty)) => Err(self.fail(TypeError::NotANumber { found: Kind::from(ty), span })),
            None => Err(self.fail(TypeError::UnboundParameter { name: name.into(), span })),
        })
    }
}

fn rank_of(ty: ArgumentType) -> Option<u32> {
    match ty {
        ArgumentType::Real(Type::Array { rank, .. }) | ArgumentType::Complex(Type::Array { rank, .. }) => Some(rank),
        ArgumentType::Real(Type::Scalar(_)) | ArgumentType::Complex(Type::Scalar(_)) => None,
    }
}

/// The rank that the name of an array type fixes, and the ranks it accepts.
fn array_type(name: &str) -> Option<(Option<u32>, AcceptsRank)> {
    let &(_, rank) = ARRAYS.iter().find(|(known, _)| *known == name)?;
    let accepted: AcceptsRank = if name.ends_with("VecOrMat") { |rank| rank <= 2 } else { |_| true };
    Some((rank, accepted))
}

/// Whether an array type, by its name, includes arrays of this form.
fn includes(name: &str, form: Form) -> bool {
    match (name.starts_with("Abstract"), name.starts_with("Strided")) {
        (true, _) => true,
        (false, true) => form.firsts == Firsts::One,
        (false, false) => form == Form::DENSE,
    }
}

/// The scalar types below an abstract one.
pub(super) fn abstract_number(name: &str) -> Option<fn(ScalarType) -> bool> {
    Some(match name {
        "Number" | "Real" => |_| true,
        "AbstractFloat" => |ty| ty.is_float(),
        "Integer" => |ty| !ty.is_float(),
        "Signed" => |ty| ty.is_signed_integer(),
        "Unsigned" => |ty| ty.is_integer() && !ty.is_signed_integer(),
        _ => return None,
    })
}

/// Types of Julia that no argument here has.
fn is_other_type(name: &str) -> bool {
    let other = ["String", "AbstractString", "Symbol", "Char", "Function", "Tuple", "NTuple"];
    let more = [
        "NamedTuple",
        "Set",
        "AbstractDict",
        "Rational",
        "BigFloat",
        "BigInt",
        "Int128",
        "UInt128",
        "Float16",
        "Nothing",
        "Dict",
        "Type",
    ];
    other.contains(&name) || more.contains(&name)
}

/// What of a type is none that arguments can have: all of `Tuple{Int, Int}`, the elements of `Matrix{Float16}`.
fn other_type(declared: &ast::Expr) -> Option<&ast::Expr> {
    if head(declared).is_some_and(is_other_type) {
        return Some(declared);
    }
    match &declared.kind {
        ast::ExprKind::Curly { parameters, .. } => parameters.iter().find_map(other_type),
        _ => None,
    }
}

/// `Tuple` of `Tuple{Int, Int}`.
fn head(declared: &ast::Expr) -> Option<&str> {
    match &declared.kind {
        ast::ExprKind::Name(name) => Some(name),
        ast::ExprKind::Curly { base, .. } => head(base),
        _ => None,
    }
}

fn plain_name(expr: &ast::Expr) -> Result<String, ()> {
    match &expr.kind {
        ast::ExprKind::Name(name) => Ok(name.clone()),
        _ => Err(()),
    }
}

/// A type expression as the user would write it, for messages.
pub(super) fn type_text(expr: &ast::Expr) -> String {
    let list = |parameters: &[ast::Expr]| parameters.iter().map(type_text).collect::<Vec<_>>().join(", ");
    match &expr.kind {
        ast::ExprKind::Name(name) => name.clone(),
        ast::ExprKind::Integer(text) => text.clone(),
        ast::ExprKind::Curly { base, parameters } => format!("{}{{{}}}", type_text(base), list(parameters)),
        ast::ExprKind::Where { base, parameters } => format!("{} where {{{}}}", type_text(base), list(parameters)),
        ast::ExprKind::Field { base, field } => format!("{}.{}", type_text(base), field.value),
        ast::ExprKind::Prefix { operator, operand } => format!("{}{}", operator.value.symbol, type_text(operand)),
        ast::ExprKind::Comparison { operands, .. } => operands.iter().map(type_text).collect::<Vec<_>>().join(" <: "),
        _ => "this type".to_string(),
    }
}

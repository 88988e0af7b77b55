//! Builds what one computation evaluates: predicate, lets, value and reads.

use crate::emit::{Storage, Target, TargetSubscript, ranged};
use crate::error::{Changes, LowerError};
use crate::formula::Formula;
use crate::inside::{inside, suffices};
use crate::looked::Looked;
use crate::names::Names;
use crate::nest::{Nest, Predicate, Scope};
use crate::scan::{Search, search_for};
use crate::values::Fate;
use std::collections::BTreeMap;
use tessella_diagnostics::Span;
use tessella_frontend::typed::tree::{Expr as Typed, ExprKind as TypedKind, LocalId, Requirement, Role};
use tessella_polyhedral::affine::Affine;
use tessella_polyhedral::algorithm::{Access, Argument, ArrayId, Computation, Let, Subscript, Which};
use tessella_polyhedral::expr::{Expr, ExprKind};
use tessella_polyhedral::isl::IslError;
use tessella_scalar::{BinaryOp, CompareOp, Constant, ScalarType, UnaryOp};

/// Of a load with more combined cases it is not even asked which of them are possible.
const LOAD_CASES_LOOKED_AT: usize = 32;

/// A load whose subscripts have more combined cases is refused.
const LOAD_CASE_LIMIT: usize = 16;

/// The conditions around an access are evaluated at entry if they have no more operators, those of values included.
const PREDICATE_LIMIT: usize = 256;

/// What a computation writes.
#[derive(Debug, Clone)]
pub(crate) enum Value<'a> {
    Expr(&'a Typed),
    /// Whether all of these hold.
    All(Vec<&'a Typed>),
}

/// What a computation evaluates.
pub(crate) struct Parts {
    pub(crate) predicate: Option<Expr>,
    pub(crate) lets: Vec<Let>,
    pub(crate) value: Expr,
    pub(crate) reads: Vec<Access>,
    pub(crate) read_spans: Vec<Span>,
    /// Affine conditions that hold wherever the element is written.
    pub(crate) written: Formula,
    /// What must be scanned at entry: the access and its axis, and the computation that finds what is outside.
    pub(crate) scans: Vec<(Which, u32, Computation)>,
}

impl Parts {
    /// Whether the value updates the element that is written: `s = s + x` and its like.
    pub(crate) fn reduces(&self, write: &Access) -> bool {
        let is_old = |expr: &Expr| match expr.kind {
            ExprKind::Read(at) => {
                let read = &self.reads[at as usize];
                read.array == write.array && read.subscripts == write.subscripts
            }
            _ => false,
        };
        match &self.value.kind {
            ExprKind::Binary(BinaryOp::Add | BinaryOp::Mul | BinaryOp::Min | BinaryOp::Max, left, right) => {
                is_old(left) || is_old(right)
            }
            ExprKind::Binary(BinaryOp::Sub, left, _) => is_old(left),
            _ => false,
        }
    }
}

/// Whether values of the source become lets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lets {
    Make,
    /// A predicate is evaluated before all lets: values are spelled out.
    SpellOut,
}

pub(crate) struct Builder<'n, 'a> {
    nest: &'n mut Nest<'a>,
    scope: &'n Scope<'a>,
    /// The computation's name.
    name: &'n str,
    reads: Vec<Access>,
    read_spans: Vec<Span>,
    lets: Vec<Let>,
    let_of: BTreeMap<LocalId, (u32, ScalarType)>,
    let_names: Names,
    mode: Lets,
    purpose: Purpose,
    /// Affine conditions that hold wherever the predicate, or else the statement, is evaluated.
    present: Formula,
    /// Whether affine subscripts under conditions on data may be scanned.
    scans_affine: bool,
    /// In a search: whether the access happens under conditions on data.
    conditional: bool,
    /// How many of the scope's predicates have been evaluated.
    decided: usize,
    /// Conditions within the statement under which the present expression is evaluated, or not.
    path: Vec<(Typed, bool)>,
    scans: Vec<(Which, u32, Computation)>,
}

/// What is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A statement of the source.
    Statement,
    /// A search at entry: it reads arguments that are never written and nothing else, and values are spelled out.
    Scan(Wanted),
}

/// What of a scan is being built, for the words of its refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// The subscript's value.
    Subscript(Span),
    /// Whether the access happens.
    Condition(Span),
    /// Whether an operation has a result.
    Value(Span),
}

/// A condition on values without which the source fails.
pub(crate) struct Needed<'e> {
    pub(crate) condition: &'e Typed,
    pub(crate) failure: &'e Requirement,
    pub(crate) span: Span,
}

impl<'n, 'a> Builder<'n, 'a> {
    pub(crate) fn new(nest: &'n mut Nest<'a>, scope: &'n Scope<'a>, name: &'n str) -> Self {
        Builder {
            nest,
            scope,
            name,
            reads: vec![],
            read_spans: vec![],
            lets: vec![],
            let_of: BTreeMap::new(),
            let_names: Names::default(),
            mode: Lets::SpellOut,
            purpose: Purpose::Statement,
            present: scope.may.clone(),
            scans_affine: false,
            conditional: false,
            decided: 0,
            path: vec![],
            scans: vec![],
        }
    }

    pub(crate) fn build(
        mut self: Builder<'n, 'a>,
        value: &Value<'_>,
        target: &Target<'_>,
        fastmath: bool,
    ) -> Result<(Parts, Vec<Subscript>), LowerError> {
        let scope = self.scope;
        // Searches would keep the statement from being computed with fast mathematics.
        self.scans_affine = !fastmath && !scope.simd;
        let mut predicate = None;
        for part in &scope.predicates {
            let part = self.predicate(part)?;
            self.decided += 1;
            predicate = Some(match predicate {
                None => part,
                Some(before) => both(before, part),
            });
        }
        self.mode = Lets::Make;
        let value = match value {
            Value::Expr(value) => self.expr(value, &scope.may)?,
            Value::All(parts) => self.conjunction(parts, &scope.may)?,
        };
        let (subscripts, written) = self.target(target)?;
        let Builder { reads, read_spans, lets, scans, .. } = self;
        Ok((Parts { predicate, lets, value, reads, read_spans, written, scans }, subscripts))
    }

    /// The subscripts of what is written, and affine conditions that hold wherever it is.
    fn target(&mut self, target: &Target<'_>) -> Result<(Vec<Subscript>, Formula), LowerError> {
        let scope = self.scope;
        let outer = self.nest.outer_subscripts(target.array).len();
        let mut subscripts = vec![];
        let affine = (0..).zip(target.subscripts.iter().skip(outer)).filter_map(|(axis, subscript)| match subscript {
            TargetSubscript::Affine(_, source) => Some((axis, *source)),
            TargetSubscript::Given(_) | TargetSubscript::Computed(_) => None,
        });
        let affine: Vec<(u32, &Typed)> = affine.collect();
        let written = match target.checked {
            true => self.scan_affine(Which::Write, target.array, &affine, &scope.may),
            false => scope.may.clone(),
        };
        for (at, subscript) in target.subscripts.iter().enumerate() {
            subscripts.push(match subscript {
                TargetSubscript::Given(affine) | TargetSubscript::Affine(affine, _) => {
                    Subscript::Affine(affine.clone())
                }
                TargetSubscript::Computed(value) => {
                    let built = self.expr(value, &scope.may)?;
                    if target.checked {
                        self.look_at(Which::Write, target.array, (at - outer) as u32, value, &scope.may)?;
                    }
                    Subscript::Computed(built)
                }
            });
        }
        Ok((subscripts, written))
    }

    fn predicate(&mut self, predicate: &Predicate<'a>) -> Result<Expr, LowerError> {
        match predicate {
            Predicate::Saved { parts, expected, .. } if self.purpose != Purpose::Statement => {
                let scope = self.scope;
                let value = self.conjunction(parts, &scope.may)?;
                Ok(if *expected { value } else { not(value) })
            }
            Predicate::Saved { guard, expected, span, .. } => {
                let value = self.read_scalar(*guard, ScalarType::Bool, *span, &Formula::True)?;
                Ok(if *expected { value } else { not(value) })
            }
            Predicate::Direct { parts, expected, under } => {
                let statement = std::mem::replace(&mut self.present, under.clone());
                let value = self.conjunction(parts, under);
                self.present = statement;
                let value = value?;
                Ok(if *expected { value } else { not(value) })
            }
        }
    }

    /// `parts[0] && parts[1] && ...`.
    fn conjunction(&mut self, parts: &[&Typed], under: &Formula) -> Result<Expr, LowerError> {
        let mut under = under.clone();
        let mut all = None;
        let before = self.path.len();
        for part in parts {
            let value = self.expr(part, &under)?;
            self.path.push(((*part).clone(), true));
            under = under.and(&self.implied(part, &under).0);
            all = Some(match all {
                None => value,
                Some(before) => both(before, value),
            });
        }
        self.path.truncate(before);
        Ok(all.unwrap_or(constant(Constant::bool(true))))
    }

    fn implied(&self, condition: &Typed, under: &Formula) -> (Formula, Formula) {
        self.nest.symbols.implied(condition, &self.scope.site, under)
    }

    /// An expression that is evaluated where `under` holds.
    fn expr(&mut self, expr: &Typed, under: &Formula) -> Result<Expr, LowerError> {
        let ty = expr.ty;
        if ty == ScalarType::I64
            && let Ok(pieces) = self.nest.symbols.integer(expr, &self.scope.site, under)
            && let Some(value) = pieces.as_single()
        {
            return Ok(index(value.clone()));
        }
        let kind = match &expr.kind {
            TypedKind::Constant(value) => ExprKind::Constant(*value),
            TypedKind::Local(local) => return self.local(*local, expr, under),
            TypedKind::Load { array, subscripts, inbounds } => {
                return self.load(*array, subscripts, !inbounds, expr, under);
            }
            TypedKind::Size { .. } | TypedKind::First { .. } => {
                unreachable!("every extent and first index of an array argument is a parameter")
            }
            TypedKind::Unary(op, operand) => ExprKind::Unary(*op, self.boxed(operand, under)?),
            TypedKind::Binary(op @ (BinaryOp::AndAlso | BinaryOp::OrElse), left, right) => {
                let (yes, no) = self.implied(left, under);
                let right_under = under.and(if *op == BinaryOp::AndAlso { &yes } else { &no });
                let expected = *op == BinaryOp::AndAlso;
                ExprKind::Binary(*op, self.boxed(left, under)?, self.after(left, expected, right, &right_under)?)
            }
            TypedKind::Binary(op, left, right) => {
                ExprKind::Binary(*op, self.boxed(left, under)?, self.boxed(right, under)?)
            }
            TypedKind::Compare(op, left, right) => {
                ExprKind::Compare(*op, self.boxed(left, under)?, self.boxed(right, under)?)
            }
            TypedKind::Call(function, operands) => {
                let operands = operands.iter().map(|operand| self.expr(operand, under)).collect::<Result<_, _>>()?;
                ExprKind::Call(*function, operands)
            }
            TypedKind::Select { condition, yes, no } => {
                let (if_yes, if_no) = self.implied(condition, under);
                ExprKind::Select {
                    condition: self.boxed(condition, under)?,
                    yes: self.after(condition, true, yes, &under.and(&if_yes))?,
                    no: self.after(condition, false, no, &under.and(&if_no))?,
                }
            }
            TypedKind::IfElse { condition, yes, no } => ExprKind::IfElse {
                condition: self.boxed(condition, under)?,
                yes: self.boxed(yes, under)?,
                no: self.boxed(no, under)?,
            },
            TypedKind::Convert(operand) => ExprKind::Convert(self.boxed(operand, under)?),
            TypedKind::Wrap(operand) if operand.ty.is_float() && self.purpose != Purpose::Statement => {
                return Ok(truncated(self.expr(operand, under)?, ty));
            }
            TypedKind::Wrap(operand) => ExprKind::Wrap(self.boxed(operand, under)?),
        };
        Ok(Expr { kind, ty })
    }

    fn boxed(&mut self, expr: &Typed, under: &Formula) -> Result<Box<Expr>, LowerError> {
        self.expr(expr, under).map(Box::new)
    }

    /// An expression that is evaluated only where a condition is as expected.
    fn after(
        &mut self,
        condition: &Typed,
        expected: bool,
        expr: &Typed,
        under: &Formula,
    ) -> Result<Box<Expr>, LowerError> {
        self.path.push((condition.clone(), expected));
        let built = self.boxed(expr, under);
        self.path.pop();
        built
    }

    fn local(&mut self, local: LocalId, expr: &Typed, under: &Formula) -> Result<Expr, LowerError> {
        let role = self.nest.symbols.function.locals[local.0 as usize].role;
        match role {
            Role::Argument => match self.nest.symbols.signature.places.get(&local) {
                Some(Argument::Scalar(scalar)) => Ok(Expr { kind: ExprKind::Scalar(*scalar), ty: expr.ty }),
                Some(Argument::Array(_)) | None => unreachable!("the type checker gives arrays no scalar type"),
            },
            Role::Iterator(_) => unreachable!("an iterator is affine inside its loop, where alone it has a name"),
            Role::Variable(_) => self.read_local(local, expr, under),
            Role::Value(_) => {
                let inlined = self.purpose != Purpose::Statement
                    || self.nest.symbols.symbol(local).is_some()
                    || self.nest.values.fate(local) != Fate::Stored;
                match self.nest.values.definition(local) {
                    Some(value) if inlined => self.inline(local, value, expr),
                    Some(_) | None => self.read_local(local, expr, under),
                }
            }
        }
    }

    /// The value of a local that has no storage: the expression that it is set to, as a let.
    fn inline(&mut self, local: LocalId, value: &'a Typed, expr: &Typed) -> Result<Expr, LowerError> {
        if let Some(&(at, ty)) = self.let_of.get(&local) {
            return Ok(Expr { kind: ExprKind::Let(at), ty });
        }
        // The source evaluates it before the statement, whatever the statement then chooses.
        let present = self.present.clone();
        let path = std::mem::take(&mut self.path);
        let value = self.expr(value, &present);
        self.path = path;
        let value = value?;
        let trivial = value.operands().is_empty() && !matches!(value.kind, ExprKind::Read(_));
        if self.mode == Lets::SpellOut || trivial {
            return Ok(value);
        }
        let at = self.lets.len() as u32;
        let name = self.let_names.fresh(&self.nest.symbols.function.locals[local.0 as usize].name);
        self.let_of.insert(local, (at, expr.ty));
        self.lets.push(Let { name, value });
        Ok(Expr { kind: ExprKind::Let(at), ty: expr.ty })
    }

    fn read_local(&mut self, local: LocalId, expr: &Typed, under: &Formula) -> Result<Expr, LowerError> {
        let scope = self.scope;
        if let Purpose::Scan(wanted) = self.purpose {
            let declared = &self.nest.symbols.function.locals[local.0 as usize];
            let changes = Changes::Variable { variable: declared.in_source(), bound: declared.span };
            return Err(unknown_at_entry(wanted, changes, expr.span));
        }
        let storage = self.nest.storage_of(local, &scope.site.iterators);
        self.read_scalar(storage, expr.ty, expr.span, under)
    }

    fn read_scalar(&mut self, at: Storage, ty: ScalarType, span: Span, under: &Formula) -> Result<Expr, LowerError> {
        self.read(at.array, at.subscripts(), false, ty, span, under)
    }

    fn read(
        &mut self,
        array: ArrayId,
        subscripts: Vec<Subscript>,
        checked: bool,
        ty: ScalarType,
        span: Span,
        under: &Formula,
    ) -> Result<Expr, LowerError> {
        let conditional = checked && self.is_conditional(under);
        let access = self
            .nest
            .access(self.name, array, subscripts, checked, under, self.scope)
            .map_err(|error: IslError| LowerError::TooComplicated { span, message: error.to_string() })?;
        self.reads.push(Access { conditional, ..access });
        self.read_spans.push(span);
        Ok(Expr { kind: ExprKind::Read(self.reads.len() as u32 - 1), ty })
    }

    /// A load; one read for each case of its subscripts, chosen by conditions.
    fn load(
        &mut self,
        array: LocalId,
        subscripts: &[Typed],
        checked: bool,
        expr: &Typed,
        under: &Formula,
    ) -> Result<Expr, LowerError> {
        let site = &self.scope.site;
        let name = self.nest.symbols.function.locals[array.0 as usize].name.clone();
        if let Purpose::Scan(wanted) = self.purpose
            && self.nest.stored.contains(&array)
        {
            return Err(unknown_at_entry(wanted, Changes::Array { array: name }, expr.span));
        }
        let place = self.nest.array_of(array);
        let outer = self.nest.outer_subscripts(place).into_iter().map(Subscript::Affine).collect();
        let mut cases: Vec<(Formula, Vec<Subscript>)> = vec![(Formula::True, outer)];
        let mut computed: Vec<(u32, Expr)> = vec![];
        let mut affine: Vec<(u32, &Typed)> = vec![];
        for (axis, subscript) in (0..).zip(subscripts) {
            let pieces = match self.nest.symbols.integer(subscript, site, under) {
                Ok(pieces) => pieces,
                Err(_) => {
                    let value = self.expr(subscript, under)?;
                    cases.iter_mut().for_each(|(_, values)| values.push(Subscript::Computed(value.clone())));
                    computed.push((axis, value));
                    continue;
                }
            };
            let mut longer = vec![];
            for (case, before) in &cases {
                for (piece, value) in &pieces.0 {
                    let mut values = before.clone();
                    values.push(Subscript::Affine(value.clone()));
                    longer.push((case.and(piece), values));
                }
            }
            // Asking which of many cases are possible takes longer than the answer is worth.
            if (2..=LOAD_CASES_LOOKED_AT).contains(&longer.len()) {
                longer.retain(|(case, _)| self.nest.symbols.is_possible(site, &under.and(case)));
            }
            if longer.len() > LOAD_CASE_LIMIT {
                // So many cases are no better than any element.
                let value = self.expr(subscript, under)?;
                cases.iter_mut().for_each(|(_, values)| values.push(Subscript::Computed(value.clone())));
                computed.push((axis, value));
                continue;
            }
            cases = longer;
            affine.push((axis, subscript));
        }
        let mut happens = under.clone();
        if self.purpose == Purpose::Statement && checked && !cases.is_empty() {
            let next = Which::Read(self.reads.len() as u32);
            happens = self.scan_affine(next, place, &affine, under);
            for (axis, _) in &computed {
                self.look_at(next, place, *axis, &subscripts[*axis as usize], under)?;
            }
        }
        let array = place;
        let checked = checked && self.purpose == Purpose::Statement;
        if self.purpose != Purpose::Statement && (self.conditional || !self.path.is_empty()) {
            for (axis, subscript) in affine {
                let open = under.and(&self.inside(place, axis, subscript, under).not());
                if self.nest.symbols.is_possible(&self.scope.site, &open) {
                    let value = self.expr(subscript, under)?;
                    computed.push((axis, value));
                }
            }
        }
        let is_one = cases.len() == 1;
        let mut result: Option<Expr> = None;
        for (case, values) in cases.into_iter().rev() {
            let within = if is_one { happens.clone() } else { happens.and(&case) };
            let value = self.read(array, values, checked, expr.ty, expr.span, &within)?;
            result = Some(match result {
                None => value,
                Some(no) => {
                    let (condition, yes, no) = (Box::new(condition(&case)), Box::new(value), Box::new(no));
                    Expr { kind: ExprKind::Select { condition, yes, no }, ty: expr.ty }
                }
            });
        }
        // Without any case nothing is ever loaded here.
        let result = result.unwrap_or_else(|| constant(zero(expr.ty)));
        if self.purpose == Purpose::Statement || computed.is_empty() {
            return Ok(result);
        }
        // Another scan tells that this one is outside; here it only must do no harm.
        let inside = computed.into_iter().map(|(axis, value)| self.nest.is_inside(array, axis, value)).reduce(both);
        let condition = Box::new(inside.expect("there is a computed subscript"));
        let (yes, no) = (Box::new(result), Box::new(constant(zero(expr.ty))));
        Ok(Expr { kind: ExprKind::Select { condition, yes, no }, ty: expr.ty })
    }

    /// Has the affine subscripts of an access searched at entry, if that is more exact than a condition on parameters:
    /// if the access happens under conditions on data, and these are known at entry.
    ///
    /// Gives where the access happens as far as affine conditions tell: after the search it is only inside.
    fn scan_affine(&mut self, which: Which, array: ArrayId, subscripts: &[(u32, &Typed)], under: &Formula) -> Formula {
        if !self.scans_affine || !self.is_conditional(under) {
            return under.clone();
        }
        let before = self.scans.len();
        let mut happens = under.clone();
        for (axis, subscript) in subscripts {
            let found = self.scan(which, array, *axis, subscript, under);
            // On a GPU, the kernel may decide otherwise than a search on the CPU.
            if found.is_err() || self.scans[before..].iter().any(|(_, _, search)| !search.is_exact()) {
                self.scans.truncate(before);
                return under.clone();
            }
            happens = happens.and(&self.inside(array, *axis, subscript, under));
        }
        happens
    }

    /// Whether the present expression is evaluated under conditions on data.
    fn is_conditional(&self, under: &Formula) -> bool {
        let symbols = &self.nest.symbols;
        self.decided > 0 || self.path.iter().any(|(it, _)| symbols.condition(it, &self.scope.site, under).is_err())
    }

    /// Where the subscript is sure to be inside; exact, if it is affine.
    fn inside(&self, array: ArrayId, axis: u32, subscript: &Typed, under: &Formula) -> Formula {
        let limits = self.nest.arrays[array.0 as usize].limits(axis);
        inside(&self.nest.symbols, &self.nest.values, &self.scope.site, under, subscript, &limits)
    }

    /// Has a computed subscript looked at: by a search of its own, unless one for the same element does.
    fn look_at(
        &mut self,
        which: Which,
        array: ArrayId,
        axis: u32,
        subscript: &Typed,
        under: &Formula,
    ) -> Result<(), LowerError> {
        let place = Looked::new(self.scope, self.decided, array, axis, subscript, under);
        if self.nest.looked.iter().any(|known| known.covers(&place, &self.nest.symbols, &self.scope.site)) {
            return Ok(());
        }
        let open = under.and(&self.inside(array, axis, subscript, under).not());
        let conditional = self.is_conditional(under);
        match self.scan(which, array, axis, subscript, under) {
            // Without elements along the axis every subscript is outside.
            Err(_) if !conditional && self.is_empty_axis(array, axis, &open) => {
                let name = self.nest.arrays[array.0 as usize].name.clone();
                self.nest.require_none(
                    subscript.span,
                    &open,
                    format!("an element of `{name}`, which has none, is asked for"),
                    self.scope,
                );
            }
            searched => searched?,
        }
        if self.path.is_empty() {
            self.nest.looked.push(place);
        }
        Ok(())
    }

    /// Whether the array has no elements along the axis wherever the condition holds.
    fn is_empty_axis(&self, array: ArrayId, axis: u32, open: &Formula) -> bool {
        let (first, last) = self.nest.arrays[array.0 as usize].limits(axis);
        let some = open.and(&Formula::compare(CompareOp::Ge, &last, &first));
        !self.nest.symbols.is_possible(&self.scope.site, &some)
    }

    /// Has a subscript searched at entry for values that are outside, unless it is sure to be inside.
    fn scan(
        &mut self,
        which: Which,
        array: ArrayId,
        axis: u32,
        subscript: &Typed,
        under: &Formula,
    ) -> Result<(), LowerError> {
        let open = under.and(&self.inside(array, axis, subscript, under).not());
        if !self.nest.symbols.is_possible(&self.scope.site, &open) {
            return Ok(());
        }
        let path = self.path.clone();
        let conditional = self.is_conditional(under);
        let name = self.nest.scan_name(array);
        let scope = self.scope;
        let mut search = Builder::new(&mut *self.nest, scope, &name);
        search.purpose = Purpose::Scan(Wanted::Condition(subscript.span));
        search.conditional = conditional;
        let predicate = search.decisions(&scope.predicates[..self.decided], subscript.span)?;
        search.mode = Lets::Make;
        let mut outside: Option<Expr> = None;
        let mut add = |part: Expr| {
            outside = Some(match outside.take() {
                None => part,
                Some(before) => both(before, part),
            });
        };
        for (condition, expected) in &path {
            // What is affine is part of the domain.
            if search.nest.symbols.condition(condition, &scope.site, under).is_ok() {
                continue;
            }
            let value = search.expr(condition, under)?;
            add(if *expected { value } else { not(value) });
        }
        search.purpose = Purpose::Scan(Wanted::Subscript(subscript.span));
        let value = search.expr(subscript, under)?;
        let Builder { reads, lets, .. } = search;
        add(not(self.nest.is_inside(array, axis, value)));
        let outside = outside.expect("one part was added");
        let found = Found { predicate, lets, outside, reads };
        let computation = self.nest.search(name, found, &open, scope);
        let computation = computation.map_err(|error| too_complicated(subscript.span, &error))?;
        self.scans.push((which, axis + self.nest.arrays[array.0 as usize].kind.outer(), computation));
        Ok(())
    }
}

impl<'a> Builder<'_, 'a> {
    /// A search for instances in which the condition does not hold; `None` if there are none whatever the data are.
    pub(crate) fn search_values(mut self, needed: &Needed<'_>) -> Result<Option<Computation>, LowerError> {
        let scope = self.scope;
        let symbols = &self.nest.symbols;
        let enough = suffices(symbols, &self.nest.values, &scope.site, &scope.may, needed.condition);
        let open = scope.may.and(&self.implied(needed.condition, &scope.may).1).and(&enough.not());
        if !self.nest.symbols.is_possible(&scope.site, &open) {
            return Ok(None);
        }
        self.purpose = Purpose::Scan(Wanted::Value(needed.span));
        self.conditional = !scope.predicates.is_empty();
        let unknown = |error: LowerError| match error {
            LowerError::SubscriptUnknownAtEntry { changes, span, .. }
            | LowerError::ConditionUnknownAtEntry { changes, span, .. } => {
                LowerError::ValueUnknownAtEntry { needed: needed.span, failure: needed.failure.clone(), changes, span }
            }
            other => other,
        };
        let predicate = self.decisions(&scope.predicates, needed.span).map_err(unknown)?;
        self.mode = Lets::Make;
        let outside = not(self.expr(needed.condition, &scope.may).map_err(unknown)?);
        let Builder { nest, name, reads, lets, .. } = self;
        let found = Found { predicate, lets, outside, reads };
        let computation = nest.search(name.to_owned(), found, &open, scope);
        computation.map(Some).map_err(|error| too_complicated(needed.span, &error))
    }

    /// In a search: the conditions on data under which the statement runs.
    fn decisions(&mut self, predicates: &[Predicate<'a>], span: Span) -> Result<Option<Expr>, LowerError> {
        let mut predicate = None;
        for part in predicates {
            let (Predicate::Saved { parts, .. } | Predicate::Direct { parts, .. }) = part;
            let cost = parts.iter().fold(0_usize, |sum, part| sum.saturating_add(self.nest.values.cost(part)));
            if cost > PREDICATE_LIMIT {
                let message =
                    format!("a condition has more than {PREDICATE_LIMIT} operators once its values are spelled out");
                return Err(LowerError::TooComplicated { span, message });
            }
            let part = self.predicate(part)?;
            predicate = Some(match predicate {
                None => part,
                Some(before) => both(before, part),
            });
        }
        Ok(predicate)
    }
}

/// What a search evaluates.
struct Found {
    predicate: Option<Expr>,
    lets: Vec<Let>,
    outside: Expr,
    reads: Vec<Access>,
}

impl<'a> Nest<'a> {
    /// The search among the instances of a place that satisfy `open`.
    fn search(&self, name: String, found: Found, open: &Formula, scope: &Scope<'a>) -> Result<Computation, IslError> {
        let Found { predicate, lets, outside, reads } = found;
        let domain = self.domain(&name, &scope.site.domain.and(open), &scope.site)?;
        let iterators = scope.site.iterators.iter().map(|it| it.name.clone()).collect();
        let ranged = ranged(&scope.site);
        search_for(Search { name, iterators, ranged, domain, predicate, lets, outside, reads })
    }
}

/// `value` truncated to an integer type where it fits, else zero: in C the conversion of another float means nothing.
fn truncated(value: Expr, ty: ScalarType) -> Expr {
    let (least, most) = ty.integer_limits();
    let bound = |op, limit: i128| {
        let limit = Box::new(constant(Constant::integer(value.ty, limit)));
        Expr { kind: ExprKind::Compare(op, Box::new(value.clone()), limit), ty: ScalarType::Bool }
    };
    let fits = both(bound(CompareOp::Ge, least), bound(CompareOp::Lt, most + 1));
    let (condition, no) = (Box::new(fits), Box::new(constant(zero(ty))));
    let yes = Box::new(Expr { kind: ExprKind::Wrap(Box::new(value)), ty });
    Expr { kind: ExprKind::Select { condition, yes, no }, ty }
}

fn unknown_at_entry(wanted: Wanted, changes: Changes, span: Span) -> LowerError {
    match wanted {
        Wanted::Subscript(subscript) => LowerError::SubscriptUnknownAtEntry { subscript, changes, span },
        // `search_values` says what is needed.
        Wanted::Value(subscript) | Wanted::Condition(subscript) => {
            LowerError::ConditionUnknownAtEntry { subscript, changes, span }
        }
    }
}

fn too_complicated(span: Span, error: &IslError) -> LowerError {
    LowerError::TooComplicated { span, message: error.to_string() }
}

pub(crate) fn zero(ty: ScalarType) -> Constant {
    Constant { ty, bits: 0 }
}

pub(crate) fn constant(value: Constant) -> Expr {
    Expr { kind: ExprKind::Constant(value), ty: value.ty }
}

pub(crate) fn index(value: Affine) -> Expr {
    match value.as_constant() {
        Some(value) => constant(Constant::i64(value)),
        None => Expr { kind: ExprKind::Index(value), ty: ScalarType::I64 },
    }
}

pub(crate) fn both(left: Expr, right: Expr) -> Expr {
    let kind = ExprKind::Binary(BinaryOp::AndAlso, Box::new(left), Box::new(right));
    Expr { kind, ty: ScalarType::Bool }
}

fn either(left: Expr, right: Expr) -> Expr {
    let kind = ExprKind::Binary(BinaryOp::OrElse, Box::new(left), Box::new(right));
    Expr { kind, ty: ScalarType::Bool }
}

pub(crate) fn not(value: Expr) -> Expr {
    Expr { kind: ExprKind::Unary(UnaryOp::Not, Box::new(value)), ty: ScalarType::Bool }
}

/// An affine condition as an expression.
fn condition(formula: &Formula) -> Expr {
    let compare = |op, value: &Affine| {
        let kind = ExprKind::Compare(op, Box::new(index(value.clone())), Box::new(constant(Constant::i64(0))));
        Expr { kind, ty: ScalarType::Bool }
    };
    match formula {
        Formula::True => constant(Constant::bool(true)),
        Formula::False => constant(Constant::bool(false)),
        Formula::NonNegative(value) => compare(CompareOp::Ge, value),
        Formula::Zero(value) => compare(CompareOp::Eq, value),
        Formula::All(parts) => parts.iter().map(condition).reduce(both).unwrap_or(constant(Constant::bool(true))),
        Formula::Any(parts) => parts.iter().map(condition).reduce(either).unwrap_or(constant(Constant::bool(false))),
    }
}

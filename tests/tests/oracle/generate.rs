//! Random programs: loop nests as people write them, and as nobody does.

use crate::program::{
    ArrayArgument, BOUNDS, Condition, Element, Expr, Linear, PLACES, Program, Size, Statement, Subscript, Target,
};
use crate::random::Random;

/// A random program of one to four statements, plus those that set up scalar variables.
pub fn program(random: &mut Random) -> Program {
    let of_places = random.percent(16);
    let main = [Element::F64, Element::F32, Element::I64]
        [random.weighted(if of_places { &[10, 10, 80] } else { &[60, 20, 20] })];
    let count = random.between(2, 3);
    let arrays: Vec<ArrayArgument> = ["A", "B", "C"][..count as usize]
        .iter()
        .map(|name| ArrayArgument {
            name: name.to_string(),
            element: match random.percent(85) {
                true => main,
                false => *random.pick(&[Element::F64, Element::F32, Element::I64]),
            },
            rank: 1 + random.weighted(&[50, 42, 8]),
        })
        .collect();
    let names: &[&str] = if random.percent(40) { &["n", "m"] } else { &["n"] };
    let sizes = names.iter().map(|name| {
        let array = random.pick(&arrays);
        let extent_of = random.percent(25).then(|| (array.name.clone(), random.below(array.rank)));
        Size { name: name.to_string(), extent_of }
    });
    let sizes: Vec<Size> = sizes.collect();
    let mut generator = Generator {
        sizes: sizes.iter().map(|size| size.name.clone()).collect(),
        arrays,
        random,
        around: vec![],
        scalars: vec![],
        labels: 0,
        made: 0,
        has_bounds: false,
        has_places: false,
        of_places,
        written: None,
    };
    let statements = [1, 2, 3, 4][generator.random.weighted(&[38, 34, 18, 10])];
    let mut left = statements;
    let mut body = vec![];
    let mut returns = None;
    if generator.random.percent(12) {
        let (name, element) = generator.declare(&mut body);
        let mut inside = generator.scalar_use(&name, element);
        body.append(&mut inside);
        returns = Some(name);
        left -= 1;
    }
    body.extend(generator.block(&mut left));
    let Generator { mut arrays, has_bounds, has_places, .. } = generator;
    for (name, _) in [(BOUNDS, has_bounds), (PLACES, has_places)].iter().filter(|(_, used)| *used) {
        arrays.push(ArrayArgument { name: name.to_string(), element: Element::I64, rank: 1 });
    }
    Program { arrays, sizes, body, returns }
}

struct Iterator {
    name: String,
    /// A loop that only repeats what is inside: subscripts do not use it.
    is_time: bool,
    /// At least this.
    least: i64,
    /// The size that it never passes, if there is one.
    at_most: Option<String>,
}

struct Generator<'a> {
    random: &'a mut Random,
    arrays: Vec<ArrayArgument>,
    sizes: Vec<String>,
    around: Vec<Iterator>,
    scalars: Vec<(String, Element)>,
    labels: usize,
    made: usize,
    /// Whether a loop has bounds that are read from an array.
    has_bounds: bool,
    /// Whether a subscript is read from an array.
    has_places: bool,
    /// Whether many are.
    of_places: bool,
    /// What the last statement wrote.
    written: Option<Written>,
}

/// An element that a statement wrote, and the iterators there, each with its least value.
#[derive(Clone)]
struct Written {
    array: ArrayArgument,
    at: Vec<Subscript>,
    around: Vec<(String, i64)>,
}

impl Generator<'_> {
    fn label(&mut self) -> String {
        self.labels += 1;
        format!("S{}", self.labels)
    }

    fn block(&mut self, left: &mut u32) -> Vec<Statement> {
        let depth = self.around.len();
        let (scope, arrays) = (self.scalars.len(), self.arrays.len());
        let wanted = if depth == 0 { *left } else { self.random.between(1, 3) as u32 };
        let mut statements = vec![];
        if depth < 3 && self.random.percent(6) {
            statements.push(self.zeros());
        }
        for _ in 0..wanted {
            if *left == 0 && !statements.is_empty() {
                break;
            }
            let loops = [95, 60, 45, 20, 0][depth];
            if (1..3).contains(&depth)
                && self.random.percent(5)
                && let Some(ranged) = self.ranged()
            {
                statements.push(ranged);
                *left = left.saturating_sub(1);
                continue;
            }
            match self.random.weighted(&[loops, if depth == 0 { 2 } else { 10 }, if depth > 0 { 12 } else { 2 }, 40]) {
                0 if depth == 0 && self.random.percent(12) => statements.push(self.time_loop(left)),
                0 => statements.push(self.nest(left)),
                1 => {
                    let condition = self.condition();
                    let then = self.block(left);
                    let otherwise = if self.random.percent(25) && *left > 0 { self.block(left) } else { vec![] };
                    statements.push(Statement::If { condition, then, otherwise });
                }
                2 => {
                    let (name, element) = self.declare(&mut statements);
                    let mut inside = self.scalar_use(&name, element);
                    statements.append(&mut inside);
                    let statement = self.store(Some(name));
                    statements.push(statement);
                    *left = left.saturating_sub(1);
                }
                _ => {
                    let statement = self.store(None);
                    statements.push(statement);
                    *left = left.saturating_sub(1);
                }
            }
        }
        if statements.is_empty() {
            statements.push(self.store(None));
        }
        self.scalars.truncate(scope);
        self.arrays.truncate(arrays);
        statements
    }

    /// `x1 = zeros(Float64, n + 1)`.
    fn zeros(&mut self) -> Statement {
        self.made += 1;
        let (name, rank) = (format!("x{}", self.made), 1 + self.random.weighted(&[70, 30]));
        let element = self.random.pick(&self.arrays.clone()).element;
        let mut extents = vec![];
        for _ in 0..rank {
            extents.push(match self.random.percent(80) {
                true => Linear::of(&self.random.pick(&self.sizes.clone()).clone(), self.random.between(1, 3)),
                false => Linear::constant(self.random.between(6, 9)),
            });
        }
        self.arrays.push(ArrayArgument { name: name.clone(), element, rank });
        Statement::Zeros { name, element, extents }
    }

    /// `for q in P[i]:P[i+1] - 1` around a sum of elements that the iterator names, as in a product with a sparse matrix.
    fn ranged(&mut self) -> Option<Statement> {
        let rows = self.visible().first().map(|&at| (self.around[at].name.clone(), self.around[at].least))?;
        let lines: Vec<ArrayArgument> = self.arrays.iter().filter(|it| it.rank == 1).cloned().collect();
        let from = (!lines.is_empty()).then(|| self.random.pick(&lines).clone())?;
        let same: Vec<ArrayArgument> = self.arrays.iter().filter(|it| it.element == from.element).cloned().collect();
        let to = self.random.pick(&same).clone();
        self.has_bounds = true;
        let subscripts = self.subscripts(to.rank);
        let read = Expr::Read(from.name, vec![Subscript::Linear(Linear::of("q", 0))]);
        let value = match self.random.percent(50) {
            true => read,
            false => Expr::Binary("*", Box::new(read), Box::new(self.leaf(from.element))),
        };
        let op = *self.random.pick(&["+=", "+=", "-=", "="]);
        let label = self.label();
        let body = vec![Statement::Assign { label, target: Target::Element(to.name, subscripts), op, value }];
        Some(Statement::Ranged { iterator: "q".into(), at: Linear::of(&rows.0, (1 - rows.1).max(0)), body })
    }

    /// Nests that are repeated: `for t in 1:n`.
    fn time_loop(&mut self, left: &mut u32) -> Statement {
        let upper = match self.random.percent(60) {
            true => Linear::of(&self.random.pick(&self.sizes.clone()).clone(), 0),
            false => Linear::constant(self.random.between(2, 4)),
        };
        self.around.push(Iterator { name: "t".into(), is_time: true, least: 1, at_most: None });
        let mut body = vec![];
        for _ in 0..self.random.between(2, 3) {
            body.push(self.nest(left));
        }
        self.around.pop();
        Statement::For { before: "", iterator: "t".into(), lower: Linear::constant(1), upper, step: 1, body }
    }

    /// The positions of the iterators that subscripts use.
    fn visible(&self) -> Vec<usize> {
        (0..self.around.len()).filter(|&at| !self.around[at].is_time).collect()
    }

    /// `s = 0.0`.
    fn declare(&mut self, into: &mut Vec<Statement>) -> (String, Element) {
        let element = self.random.pick(&self.arrays.clone()).element;
        self.made += 1;
        let name = format!("s{}", self.made);
        let value = if self.random.percent(60) { self.number(element) } else { self.expression(element, 1) };
        let label = self.label();
        into.push(Statement::Assign { label, target: Target::Scalar(name.clone()), op: "=", value });
        self.scalars.push((name.clone(), element));
        (name, element)
    }

    /// Something that changes a scalar: mostly a loop that accumulates.
    fn scalar_use(&mut self, name: &str, element: Element) -> Vec<Statement> {
        let op = *self.random.pick(&["+=", "+=", "+=", "*=", "max", "=", "-="]);
        let enter = self.around.len() < 4 && self.random.percent(80);
        let twice = self.around.len() < 3 && self.random.percent(20);
        let update = |this: &mut Self| {
            let value = this.expression(element, 2);
            let label = this.label();
            let target = Target::Scalar(name.to_string());
            let update = Statement::Assign { label, target, op, value };
            match this.random.percent(12) {
                true => Statement::If { condition: this.condition(), then: vec![update], otherwise: vec![] },
                false => update,
            }
        };
        match (enter, twice) {
            (false, _) => vec![update(self)],
            (true, false) => vec![self.loop_around(|this| vec![update(this)])],
            (true, true) => vec![self.loop_around(|this| vec![this.loop_around(|this| vec![update(this)])])],
        }
    }

    fn nest(&mut self, left: &mut u32) -> Statement {
        self.loop_around(|this| {
            let mut body = this.block(left);
            if this.random.percent(7) {
                let (condition, at) = (this.condition(), this.random.below(body.len()));
                let word = if this.random.percent(50) { "continue" } else { "break" };
                body.insert(at, Statement::Jump { condition, word });
            }
            body
        })
    }

    fn loop_around(&mut self, inside: impl FnOnce(&mut Self) -> Vec<Statement>) -> Statement {
        let depth = self.around.len();
        let names = ["i", "j", "k", "l"];
        let wanted = if self.random.percent(80) { names[depth % 4] } else { *self.random.pick(&names) };
        let taken = |name: &str| self.around.iter().any(|it| it.name == name);
        let iterator = match taken(wanted) {
            false => wanted,
            true => *names.iter().find(|name| !taken(name)).expect("nests have at most four loops"),
        };
        let size = self.random.pick(&self.sizes.clone()).clone();
        let visible = self.visible();
        let outer = (!visible.is_empty()).then(|| *self.random.pick(&visible));
        let outer_name = outer.map(|at| self.around[at].name.clone());
        let (lower, least) = match (self.random.weighted(&[45, 20, 15, if depth > 0 { 25 } else { 0 }]), outer) {
            (3, Some(at)) => {
                let by = self.random.between(0, 2);
                (Linear::of(&self.around[at].name, by), self.around[at].least + by)
            }
            (number, _) => (Linear::constant(number as i64 + 1), number as i64 + 1),
        };
        let weights = [50, 15, 10, 8, if depth > 0 { 18 } else { 0 }, if depth > 0 { 6 } else { 0 }, 3];
        let (upper, at_most) = match (self.random.weighted(&weights), &outer_name) {
            (0, _) => (Linear::of(&size, 0), Some(size)),
            (1, _) => (Linear::of(&size, -1), Some(size)),
            (2, _) => (Linear::of(&size, -2), Some(size)),
            (4, Some(outer)) => (Linear::of(outer, -self.random.between(0, 1)), None),
            (5, Some(outer)) => (Linear::of(outer, self.random.between(1, 3)), None),
            (6, Some(outer)) => (Linear::of(&size, 0).plus(outer, -1), Some(size)),
            (_, _) => (Linear::constant(self.random.between(2, 6)), None),
        };
        let step = [1, 2, 3, -1, -2][self.random.weighted(&[74, 8, 3, 10, 5])];
        self.around.push(Iterator { name: iterator.to_string(), is_time: false, least, at_most });
        let body = inside(self);
        self.around.pop();
        let before = match self.random.weighted(&[80, 10, 10]) {
            1 => "@inbounds ",
            2 if body.iter().all(is_independent) => "@simd ",
            _ => "",
        };
        Statement::For { before, iterator: iterator.to_string(), lower, upper, step, body }
    }

    /// A store to an element, of a scalar where one is given.
    fn store(&mut self, scalar: Option<String>) -> Statement {
        let same = scalar.as_ref().and_then(|name| self.scalars.iter().find(|(known, _)| known == name)).cloned();
        let fitting: Vec<ArrayArgument> = match &same {
            Some((_, element)) => self.arrays.iter().filter(|it| fits(*element, it.element)).cloned().collect(),
            None => vec![],
        };
        let array = if fitting.is_empty() {
            self.random.pick(&self.arrays.clone()).clone()
        } else {
            self.random.pick(&fitting).clone()
        };
        let again = self.random.percent(15).then(|| self.written.clone()).flatten();
        let (array, subscripts, ops) = match again.filter(|written| self.is_visible(written)) {
            // Another update of the same element.
            Some(Written { array, at, .. }) => (array, at, ["+=", "max"].as_slice()),
            None => {
                let subscripts = self.subscripts(array.rank);
                (array, subscripts, ["=", "=", "=", "=", "+=", "+=", "*=", "max"].as_slice())
            }
        };
        let around = self.around.iter().map(|it| (it.name.clone(), it.least)).collect();
        self.written = Some(Written { array: array.clone(), at: subscripts.clone(), around });
        let element = match array.element {
            Element::I64 => Element::I64,
            element if self.random.percent(90) => element,
            _ => *self.random.pick(&[Element::F32, Element::F64]),
        };
        let is_data = subscripts.iter().any(|it| matches!(it, Subscript::Data { .. }));
        let is_moved = self.random.percent(if is_data { 40 } else { 12 }) && array.element == element;
        let mut value = match is_moved {
            // A statement that reads what it writes, somewhere else.
            true => {
                let near = subscripts.iter().map(|subscript| self.moved(subscript)).collect();
                let read = Expr::Read(array.name.clone(), near);
                Expr::Binary("+", Box::new(read), Box::new(self.expression(element, 1)))
            }
            false => self.expression(element, 2),
        };
        if let Some((name, known)) = same
            && fits(known, array.element)
        {
            value = match known == element && self.random.percent(50) {
                true => Expr::Binary("+", Box::new(Expr::Scalar(name)), Box::new(value)),
                false => Expr::Scalar(name),
            };
        }
        let op = *self.random.pick(ops);
        let op = match op {
            "max" if element != array.element => "=",
            // Nearly an update.
            _ if is_moved && is_data && self.random.percent(70) => "=",
            op => op,
        };
        let label = self.label();
        Statement::Assign { label, target: Target::Element(array.name, subscripts), op, value }
    }

    /// Whether an element can be named here, and lies inside of its array as it did there.
    fn is_visible(&self, written: &Written) -> bool {
        let least = |name: &String| written.around.iter().find(|(known, _)| known == name).map(|(_, least)| *least);
        let is_known = |name: &String| self.around.iter().any(|it| it.name == *name && Some(it.least) >= least(name));
        let here = |subscript: &Subscript| match subscript {
            Subscript::Linear(linear) => linear.terms.iter().all(|(name, factor)| *factor > 0 && is_known(name)),
            Subscript::Data { of, plus } => of.terms.iter().chain(&plus.terms).all(|(name, _)| is_known(name)),
            Subscript::Rows { row, place, .. } => row.terms.iter().chain(&place.terms).all(|(name, _)| is_known(name)),
            _ => false,
        };
        self.arrays.iter().any(|it| it.name == written.array.name) && written.at.iter().all(here)
    }

    fn moved(&mut self, subscript: &Subscript) -> Subscript {
        match subscript {
            Subscript::Linear(linear) if !linear.terms.is_empty() => {
                let by = [0, -1, 1][self.random.weighted(&[40, 40, 20])];
                Subscript::Linear(Linear { constant: linear.constant + by, terms: linear.terms.clone() })
            }
            Subscript::Rows { row, stride, place } => {
                let by = |linear: &Linear, by: i64| Linear { constant: linear.constant + by, ..linear.clone() };
                let (rows, places) = *self.random.pick(&[(0, 0), (0, -1), (0, 1), (-1, 0), (1, 0), (1, -1)]);
                Subscript::Rows { row: by(row, rows), stride: stride.clone(), place: by(place, places) }
            }
            Subscript::Data { of, plus } if self.random.percent(70) => {
                let others: Vec<&Iterator> =
                    self.around.iter().filter(|it| of.terms.iter().all(|(name, _)| *name != it.name)).collect();
                let of = match others.is_empty() {
                    true => Linear { constant: of.constant + 1, ..of.clone() },
                    false => {
                        let other = self.random.pick(&others);
                        Linear::of(&other.name, (1 - other.least).max(0))
                    }
                };
                Subscript::Data { of, plus: plus.clone() }
            }
            other => other.clone(),
        }
    }

    fn subscripts(&mut self, rank: usize) -> Vec<Subscript> {
        let first = self.random.below(self.visible().len().max(1));
        (0..rank).map(|axis| self.subscript(first + axis)).collect()
    }

    fn subscript(&mut self, wanted: usize) -> Subscript {
        let visible = self.visible();
        if visible.is_empty() {
            return Subscript::Linear(Linear::constant(self.random.between(1, 3)));
        }
        let count = visible.len();
        let at = visible[if self.random.percent(80) { wanted % count } else { self.random.below(count) }];
        let (name, least) = (self.around[at].name.clone(), self.around[at].least);
        match self.random.weighted(&[74, 7, 6, 5, 2, 2, 1, 3, if self.of_places { 60 } else { 2 }, 8]) {
            1 => {
                let constant = (1 - 2 * least).max(-2) + self.random.between(0, 1);
                Subscript::Linear(Linear::constant(constant).plus(&name, 2))
            }
            2 => match self.around[at].at_most.clone() {
                Some(size) => Subscript::Linear(Linear::of(&size, self.random.between(1, 2)).plus(&name, -1)),
                None => Subscript::Linear(Linear::of(&name, 0)),
            },
            3 => {
                let other = visible[self.random.below(count)];
                let (second, also) = (self.around[other].name.clone(), self.around[other].least);
                let constant = (1 - least - also).max(-1) + self.random.between(0, 1);
                Subscript::Linear(Linear::of(&name, constant).plus(&second, 1))
            }
            4 => Subscript::Floor { of: Linear::of(&name, 0), divisor: self.random.between(2, 3), plus: 1 },
            5 => Subscript::Mod { of: Linear::of(&name, 0), divisor: self.random.between(2, 3), plus: 1 },
            6 => Subscript::Trunc { of: Linear::of(&name, 0), divisor: 2, plus: 1 },
            7 => Subscript::Linear(Linear::constant(self.random.between(1, 3))),
            8 => {
                self.has_places = true;
                let plus = match self.random.percent(70) {
                    true => Linear::default(),
                    false => Linear::of(&self.around[visible[self.random.below(count)]].name, 0),
                };
                Subscript::Data { of: Linear::of(&name, (1 - least).max(0)), plus }
            }
            9 => {
                let sizes: Vec<String> = visible.iter().filter_map(|&at| self.around[at].at_most.clone()).collect();
                let other = visible[self.random.below(count)];
                let (second, also) = (self.around[other].name.clone(), self.around[other].least);
                let place = Linear::of(&second, (1 - also).max(0) + self.random.between(0, 1));
                let more = *self.random.pick(&[0, 0, 0, 1, -1]);
                match sizes.is_empty() {
                    true => Subscript::Linear(place),
                    false => Subscript::Rows {
                        row: Linear::of(&name, -least + self.random.between(0, 1)),
                        stride: Linear::of(self.random.pick::<String>(&sizes), more),
                        place,
                    },
                }
            }
            _ => {
                let from = (1 - least).max(-2);
                let by = match self.random.percent(55) {
                    true => 0,
                    false => self.random.between(from, 2),
                };
                Subscript::Linear(Linear::of(&name, by.max(from)))
            }
        }
    }

    fn number(&mut self, element: Element) -> Expr {
        match element {
            Element::F64 | Element::F32 => Expr::Number(element, self.random.between(0, 9)),
            Element::I64 => Expr::Number(element, self.random.between(0, 4)),
        }
    }

    fn expression(&mut self, element: Element, depth: u32) -> Expr {
        if depth == 0 || self.random.percent(45) {
            return self.leaf(element);
        }
        match self.random.weighted(&[60, 14, 9, 6, 5]) {
            0 => {
                let op = *self.random.pick(&["+", "+", "-", "*"]);
                let (a, b) = (self.expression(element, depth - 1), self.expression(element, depth - 1));
                Expr::Binary(op, Box::new(a), Box::new(b))
            }
            1 => {
                let function = *self.random.pick(&["max", "min"]);
                let operands = vec![self.expression(element, depth - 1), self.leaf(element)];
                Expr::Call(function, operands)
            }
            2 => {
                let condition = Box::new(self.condition());
                let (yes, no) = (self.leaf(element), self.leaf(element));
                Expr::Ternary(condition, Box::new(yes), Box::new(no))
            }
            3 => match element {
                Element::I64 => {
                    let op = *self.random.pick(&["÷", "%"]);
                    let divisor = Expr::Number(element, self.random.between(2, 5));
                    Expr::Binary(op, Box::new(self.expression(element, depth - 1)), Box::new(divisor))
                }
                Element::F64 | Element::F32 => Expr::Call("abs", vec![self.expression(element, depth - 1)]),
            },
            _ => {
                let twice = self.leaf(element);
                Expr::Binary("*", Box::new(twice.clone()), Box::new(twice))
            }
        }
    }

    fn leaf(&mut self, element: Element) -> Expr {
        let arrays: Vec<ArrayArgument> = self.arrays.iter().filter(|it| it.element == element).cloned().collect();
        let scalars: Vec<String> =
            self.scalars.iter().filter(|(_, ty)| *ty == element).map(|(name, _)| name.clone()).collect();
        let weights = [
            if arrays.is_empty() { 0 } else { 65 },
            if scalars.is_empty() { 0 } else { 25 },
            if self.around.is_empty() { 0 } else { 7 },
            15,
        ];
        match self.random.weighted(&weights) {
            0 => {
                let array = self.random.pick(&arrays).clone();
                Expr::Read(array.name, self.subscripts(array.rank))
            }
            1 => Expr::Scalar(self.random.pick(&scalars).clone()),
            2 => {
                let at = self.random.below(self.around.len());
                Expr::Index(element, Linear::of(&self.around[at].name, self.random.between(-1, 1)))
            }
            _ => self.number(element),
        }
    }

    fn condition(&mut self) -> Condition {
        let kind = if self.around.is_empty() { 1 } else { self.random.weighted(&[45, 40, 7, 5, 3]) };
        match kind {
            0 => {
                let at = self.random.below(self.around.len());
                let left = Linear::of(&self.around[at].name, 0);
                let right = match self.random.weighted(&[40, 30, 30]) {
                    0 => Linear::constant(self.random.between(1, 4)),
                    1 => Linear::of(&self.random.pick(&self.sizes.clone()).clone(), -self.random.between(0, 2)),
                    _ => {
                        let other = self.random.below(self.around.len());
                        Linear::of(&self.around[other].name, self.random.between(-1, 1))
                    }
                };
                Condition::Affine(left, self.random.pick::<&str>(&["<", "<=", ">", ">=", "==", "!="]), right)
            }
            2 => {
                let at = self.random.below(self.around.len());
                let divisor = self.random.between(2, 3);
                Condition::Residue(Linear::of(&self.around[at].name, 0), divisor, self.random.between(0, divisor - 1))
            }
            3 => {
                let (a, b) = (self.simple(), self.simple());
                Condition::And(Box::new(a), Box::new(b))
            }
            4 => {
                let (a, b) = (self.simple(), self.simple());
                Condition::Or(Box::new(a), Box::new(b))
            }
            _ => self.simple(),
        }
    }

    /// A condition on data, or on the first iterator.
    fn simple(&mut self) -> Condition {
        if self.random.percent(30) && !self.around.is_empty() {
            let name = self.around[0].name.clone();
            return Condition::Affine(Linear::of(&name, 0), ">", Linear::constant(self.random.between(1, 3)));
        }
        let element = self.random.pick(&self.arrays.clone()).element;
        let left = self.leaf(element);
        let right = if self.random.percent(60) { self.number(element) } else { self.leaf(element) };
        Condition::Data(left, self.random.pick::<&str>(&["<", ">", "<=", ">="]), right)
    }
}

/// Whether a value of one type may be stored as another.
fn fits(value: Element, place: Element) -> bool {
    value == place || place != Element::I64
}

/// Whether iterations of a loop around the statement may run in any order with the same bits: what `@simd` allows.
fn is_independent(statement: &Statement) -> bool {
    match statement {
        Statement::Assign { target: Target::Element(array, _), op: "=", value, .. } => {
            !value.to_string().contains(&format!("{array}["))
        }
        Statement::Assign { .. }
        | Statement::For { .. }
        | Statement::Ranged { .. }
        | Statement::If { .. }
        | Statement::Zeros { .. }
        | Statement::Jump { .. } => false,
    }
}

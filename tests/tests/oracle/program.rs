//! Small programs as data, printed as Julia.

use std::fmt::{self, Display, Formatter, Write};

/// The array of integers that bounds of loops are read from. No statement writes it.
pub const BOUNDS: &str = "P";

/// The array of integers that subscripts are read from. No statement writes it.
pub const PLACES: &str = "Q";

/// Subscripts that are data are `1..=MOST_PLACES`.
pub const MOST_PLACES: i64 = 3;

#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    pub arrays: Vec<ArrayArgument>,
    pub sizes: Vec<Size>,
    pub body: Vec<Statement>,
    /// A scalar variable of the outermost block.
    pub returns: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ArrayArgument {
    pub name: String,
    pub element: Element,
    pub rank: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Size {
    pub name: String,
    /// The array and axis that it is the extent of; `None`: an argument of its own.
    pub extent_of: Option<(String, usize)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Element {
    F64,
    F32,
    I64,
}

/// `constant + sum of factor * name`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Linear {
    pub constant: i64,
    pub terms: Vec<(String, i64)>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Subscript {
    Linear(Linear),
    /// `fld(of, divisor) + plus`.
    Floor {
        of: Linear,
        divisor: i64,
        plus: i64,
    },
    /// `mod(of, divisor) + plus`.
    Mod {
        of: Linear,
        divisor: i64,
        plus: i64,
    },
    /// `of ÷ divisor + plus`.
    Trunc {
        of: Linear,
        divisor: i64,
        plus: i64,
    },
    /// `mod1(Q[of] + plus, MOST_PLACES)`.
    Data {
        of: Linear,
        plus: Linear,
    },
    /// `row * stride + place`.
    Rows {
        row: Linear,
        stride: Linear,
        place: Linear,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    Affine(Linear, &'static str, Linear),
    Data(Expr, &'static str, Expr),
    /// `mod(of, divisor) == rest`.
    Residue(Linear, i64, i64),
    And(Box<Condition>, Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Expr {
    Number(Element, i64),
    Read(String, Vec<Subscript>),
    Scalar(String),
    /// An affine value, converted to the type.
    Index(Element, Linear),
    Binary(&'static str, Box<Expr>, Box<Expr>),
    Call(&'static str, Vec<Expr>),
    Ternary(Box<Condition>, Box<Expr>, Box<Expr>),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    Element(String, Vec<Subscript>),
    Scalar(String),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Statement {
    For {
        /// `@inbounds ` or `@simd `, or nothing.
        before: &'static str,
        iterator: String,
        lower: Linear,
        upper: Linear,
        step: i64,
        body: Vec<Statement>,
    },
    /// `for iterator in P[at]:P[at + 1] - 1`, with bounds that are data.
    Ranged {
        iterator: String,
        at: Linear,
        body: Vec<Statement>,
    },
    If {
        condition: Condition,
        then: Vec<Statement>,
        otherwise: Vec<Statement>,
    },
    /// `name = zeros(element, extents...)`.
    Zeros {
        name: String,
        element: Element,
        extents: Vec<Linear>,
    },
    /// `condition && continue`, or `break`.
    Jump {
        condition: Condition,
        word: &'static str,
    },
    /// `op` is an assignment operator, or a function of the old and the new value.
    Assign {
        label: String,
        target: Target,
        op: &'static str,
        value: Expr,
    },
}

impl Element {
    pub fn julia(self) -> &'static str {
        match self {
            Element::F64 => "Float64",
            Element::F32 => "Float32",
            Element::I64 => "Int64",
        }
    }
}

impl Linear {
    pub fn constant(value: i64) -> Linear {
        Linear { constant: value, terms: vec![] }
    }

    pub fn of(name: &str, constant: i64) -> Linear {
        Linear { constant, terms: vec![(name.to_string(), 1)] }
    }

    pub fn plus(mut self, name: &str, factor: i64) -> Linear {
        match self.terms.iter_mut().find(|(known, _)| known == name) {
            Some((_, sofar)) => *sofar += factor,
            None => self.terms.push((name.to_string(), factor)),
        }
        self.terms.retain(|(_, factor)| *factor != 0);
        self
    }

    /// With `name` replaced by a number.
    pub fn with(&self, name: &str, value: i64) -> Linear {
        let factor = self.terms.iter().find(|(known, _)| known == name).map_or(0, |(_, factor)| *factor);
        let terms = self.terms.iter().filter(|(known, _)| known != name).cloned().collect();
        Linear { constant: self.constant + factor * value, terms }
    }
}

impl Display for Linear {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        for (name, factor) in &self.terms {
            let sign = match (text.is_empty(), *factor < 0) {
                (true, true) => "-",
                (true, false) => "",
                (false, true) => " - ",
                (false, false) => " + ",
            };
            let size = if factor.abs() == 1 { String::new() } else { format!("{}*", factor.abs()) };
            write!(text, "{sign}{size}{name}")?;
        }
        match (text.is_empty(), self.constant) {
            (true, value) => write!(text, "{value}")?,
            (false, 0) => {}
            (false, value) if value < 0 => write!(text, " - {}", -value)?,
            (false, value) => write!(text, " + {value}")?,
        }
        f.write_str(&text)
    }
}

impl Display for Subscript {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Subscript::Linear(linear) => write!(f, "{linear}"),
            Subscript::Floor { of, divisor, plus } => write!(f, "fld({of}, {divisor}) + {plus}"),
            Subscript::Mod { of, divisor, plus } => write!(f, "mod({of}, {divisor}) + {plus}"),
            Subscript::Trunc { of, divisor, plus } => write!(f, "({of}) ÷ {divisor} + {plus}"),
            Subscript::Data { of, plus } if *plus == Linear::default() => {
                write!(f, "mod1({PLACES}[{of}], {MOST_PLACES})")
            }
            Subscript::Data { of, plus } => write!(f, "mod1({PLACES}[{of}] + {plus}, {MOST_PLACES})"),
            Subscript::Rows { row, stride, place } => write!(f, "({row}) * ({stride}) + {place}"),
        }
    }
}

impl Display for Condition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Condition::Affine(a, op, b) => write!(f, "{a} {op} {b}"),
            Condition::Data(a, op, b) => write!(f, "{a} {op} {b}"),
            Condition::Residue(of, divisor, rest) => write!(f, "mod({of}, {divisor}) == {rest}"),
            Condition::And(a, b) => write!(f, "({a}) && ({b})"),
            Condition::Or(a, b) => write!(f, "({a}) || ({b})"),
        }
    }
}

fn list<T: Display>(all: &[T]) -> String {
    all.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Expr::Number(Element::F64, quarters) => write!(f, "{:?}", *quarters as f64 / 4.0),
            Expr::Number(Element::F32, quarters) => write!(f, "{:?}f0", *quarters as f64 / 4.0),
            Expr::Number(Element::I64, value) => write!(f, "{value}"),
            Expr::Read(array, subscripts) => write!(f, "{array}[{}]", list(subscripts)),
            Expr::Scalar(name) => f.write_str(name),
            Expr::Index(element, linear) => write!(f, "{}({linear})", element.julia()),
            Expr::Binary(op, a, b) => write!(f, "({a} {op} {b})"),
            Expr::Call(function, operands) => write!(f, "{function}({})", list(operands)),
            Expr::Ternary(condition, yes, no) => write!(f, "(({condition}) ? {yes} : {no})"),
        }
    }
}

impl Display for Target {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Target::Element(array, subscripts) => write!(f, "{array}[{}]", list(subscripts)),
            Target::Scalar(name) => f.write_str(name),
        }
    }
}

fn block(f: &mut Formatter<'_>, statements: &[Statement], depth: usize) -> fmt::Result {
    let margin = "    ".repeat(depth);
    for statement in statements {
        match statement {
            Statement::For { before, iterator, lower, upper, step, body } => {
                write!(f, "{margin}{before}for {iterator} in ")?;
                match step {
                    1 => writeln!(f, "{lower}:{upper}")?,
                    step if *step < 0 => writeln!(f, "{upper}:{step}:{lower}")?,
                    step => writeln!(f, "{lower}:{step}:{upper}")?,
                }
                block(f, body, depth + 1)?;
                writeln!(f, "{margin}end")?;
            }
            Statement::Ranged { iterator, at, body } => {
                let next = Linear { constant: at.constant + 1, ..at.clone() };
                writeln!(f, "{margin}for {iterator} in {BOUNDS}[{at}]:{BOUNDS}[{next}] - 1")?;
                block(f, body, depth + 1)?;
                writeln!(f, "{margin}end")?;
            }
            Statement::If { condition, then, otherwise } => {
                writeln!(f, "{margin}if {condition}")?;
                block(f, then, depth + 1)?;
                if !otherwise.is_empty() {
                    writeln!(f, "{margin}else")?;
                    block(f, otherwise, depth + 1)?;
                }
                writeln!(f, "{margin}end")?;
            }
            Statement::Zeros { name, element, extents } => {
                writeln!(f, "{margin}{name} = zeros({}, {})", element.julia(), list(extents))?;
            }
            Statement::Jump { condition, word } => writeln!(f, "{margin}({condition}) && {word}")?,
            Statement::Assign { label, target, op, value } if op.ends_with('=') => {
                writeln!(f, "{margin}@comp {label} {target} {op} {value}")?;
            }
            Statement::Assign { label, target, op, value } => {
                writeln!(f, "{margin}@comp {label} {target} = {op}({target}, {value})")?;
            }
        }
    }
    Ok(())
}

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let arrays = self.arrays.iter().map(|it| format!("{}::Array{{{},{}}}", it.name, it.element.julia(), it.rank));
        let sizes = self.sizes.iter().filter(|size| size.extent_of.is_none());
        let all: Vec<String> = arrays.chain(sizes.map(|size| format!("{}::Int64", size.name))).collect();
        writeln!(f, "@tessella function f!({})", all.join(", "))?;
        for size in &self.sizes {
            if let Some((array, axis)) = &size.extent_of {
                writeln!(f, "    {} = size({array}, {})", size.name, axis + 1)?;
            }
        }
        block(f, &self.body, 1)?;
        writeln!(f, "    return {}", self.returns.as_deref().unwrap_or("nothing"))?;
        writeln!(f, "end")
    }
}

//! Integer expressions and conditions as text, in C or in Julia's spelling.

use crate::int_expr::{Cond, IntExpr};
use crate::names::Names;
use tessella_polyhedral::stream::Parts;
use tessella_scalar::CompareOp;

/// How expressions are spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spelling {
    /// Calls `imin`, `imax` and `floordiv`, see [`crate::helpers`].
    C,
    /// The same for integers of 32 bits: `imin32`, `imax32` and `floordiv32`.
    Narrow,
    Julia,
}

/// How tightly an expression binds; a higher one needs no parentheses in a lower one's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Precedence {
    Select,
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Equality,
    Relation,
    Shift,
    Sum,
    Product,
    Unary,
    Primary,
}

/// Text and how tightly it binds.
pub type Bound = (String, Precedence);

/// The text in a place that needs at least `least`.
pub fn within((text, precedence): Bound, least: Precedence) -> String {
    if precedence >= least { text } else { format!("({text})") }
}

/// The expression's text.
pub fn int_text(expr: &IntExpr, names: &Names, spelling: Spelling) -> Bound {
    use Precedence::{Primary, Product, Select, Sum, Unary};
    let at = |expr: &IntExpr, least: Precedence| within(int_text(expr, names, spelling), least);
    match expr {
        IntExpr::Const(i64::MIN) if spelling != Spelling::Julia => ("(-9223372036854775807 - 1)".to_string(), Primary),
        IntExpr::Const(value) => (value.to_string(), if *value < 0 { Unary } else { Primary }),
        IntExpr::Param(param) => (names.params[param.0 as usize].clone(), Primary),
        IntExpr::Variable(variable) => (names.variables[variable.0 as usize].clone(), Primary),
        IntExpr::Add(a, b) => (format!("{} + {}", at(a, Sum), at(b, Product)), Sum),
        IntExpr::Sub(a, b) => (format!("{} - {}", at(a, Sum), at(b, Product)), Sum),
        IntExpr::Mul(a, b) => (format!("{} * {}", at(a, Product), at(b, Unary)), Product),
        IntExpr::Neg(a) => (format!("-{}", at(a, Primary)), Unary),
        IntExpr::FloorDiv(a, divisor) => match spelling {
            Spelling::C => (format!("floordiv({}, {divisor})", at(a, Select)), Primary),
            Spelling::Narrow => (format!("floordiv32({}, {divisor})", at(a, Select)), Primary),
            Spelling::Julia => (format!("fld({}, {divisor})", at(a, Select)), Primary),
        },
        IntExpr::Div(a, divisor) => match spelling {
            Spelling::C | Spelling::Narrow => (format!("{} / {divisor}", at(a, Product)), Product),
            Spelling::Julia => (format!("{} ÷ {divisor}", at(a, Product)), Product),
        },
        IntExpr::Mod(a, divisor) => (format!("{} % {divisor}", at(a, Product)), Product),
        IntExpr::Min(all) => (extremum(all, ["imin", "imin32", "min"], names, spelling), Primary),
        IntExpr::Max(all) => (extremum(all, ["imax", "imax32", "max"], names, spelling), Primary),
        IntExpr::Select(condition, yes, no) => {
            let condition = within(cond_text(condition, names, spelling), Precedence::Or);
            (format!("{condition} ? {} : {}", at(yes, Precedence::Or), at(no, Precedence::Or)), Select)
        }
        IntExpr::Quotient(a, b) => {
            let sign = match spelling {
                Spelling::C | Spelling::Narrow => "/",
                Spelling::Julia => "÷",
            };
            (format!("{} {sign} {}", at(a, Product), at(b, Precedence::Unary)), Product)
        }
        IntExpr::Parts(Parts { around, blocks, multiprocessors, rims }, columns, rows) => {
            let extents = format!("{}, {}", at(columns, Select), at(rows, Select));
            let name = match spelling {
                Spelling::C | Spelling::Narrow => "tessella_parts",
                Spelling::Julia => "parts",
            };
            (format!("{name}({extents}, {around}, {blocks}, {multiprocessors}, {rims})"), Primary)
        }
    }
}

/// The condition's text.
pub fn cond_text(cond: &Cond, names: &Names, spelling: Spelling) -> Bound {
    let each = |all: &[Cond], least: Precedence, between: &str| {
        all.iter().map(|cond| within(cond_text(cond, names, spelling), least)).collect::<Vec<_>>().join(between)
    };
    match cond {
        Cond::Const(value) => match spelling {
            Spelling::C | Spelling::Narrow => (i32::from(*value).to_string(), Precedence::Primary),
            Spelling::Julia => (value.to_string(), Precedence::Primary),
        },
        Cond::Compare(op, a, b) => {
            let (sign, precedence) = comparison(*op);
            let side = |expr: &IntExpr| within(int_text(expr, names, spelling), Precedence::Shift);
            (format!("{} {sign} {}", side(a), side(b)), precedence)
        }
        Cond::And(all) => (each(all, Precedence::BitOr, " && "), Precedence::And),
        // Compilers warn about `a || b && c` without parentheses, and so would a reader.
        Cond::Or(all) => (each(all, Precedence::BitOr, " || "), Precedence::Or),
    }
}

/// The sign of a comparison and how tightly it binds.
pub fn comparison(op: CompareOp) -> (&'static str, Precedence) {
    match op {
        CompareOp::Eq => ("==", Precedence::Equality),
        CompareOp::Ne => ("!=", Precedence::Equality),
        CompareOp::Lt => ("<", Precedence::Relation),
        CompareOp::Le => ("<=", Precedence::Relation),
        CompareOp::Gt => (">", Precedence::Relation),
        CompareOp::Ge => (">=", Precedence::Relation),
    }
}

/// `called` are its names in C, in C for integers of 32 bits, and in Julia.
fn extremum(all: &[IntExpr], called: [&str; 3], names: &Names, spelling: Spelling) -> String {
    let text = |expr: &IntExpr| int_text(expr, names, spelling).0;
    let name = called[spelling as usize];
    match (spelling, all) {
        (_, [single]) => within(int_text(single, names, spelling), Precedence::Primary),
        (Spelling::Julia, _) => {
            format!("{name}({})", all.iter().map(text).collect::<Vec<_>>().join(", "))
        }
        (Spelling::C | Spelling::Narrow, [first, rest @ ..]) => {
            let rest = match rest {
                [single] => text(single),
                _ => extremum(rest, called, names, spelling),
            };
            format!("{name}({}, {rest})", text(first))
        }
        (Spelling::C | Spelling::Narrow, []) => String::new(),
    }
}

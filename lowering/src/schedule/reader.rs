//! Reads the arguments of a command call: names, tuples of names, integers.

use super::error::{CommandError, Expected};
use super::{FORMS, Form};
use tessella_diagnostics::{Span, Spanned};
use tessella_frontend::ast::{Argument, Broadcast, Expr, ExprKind, Section};
use tessella_polyhedral::schedule::StreamSize;

/// A call of a known command.
pub(crate) struct Call<'e> {
    pub(crate) form: &'static Form,
    pub(crate) arguments: Vec<&'e Expr>,
    keywords: Vec<(&'e str, &'e Expr)>,
    span: Span,
}

/// The keyword arguments that commands take; the others take none.
const KEYWORDS: [(&str, &str); 10] = [
    ("allocate", "once"),
    ("cache_shared", "ahead"),
    ("cache_shared", "axes"),
    ("cache_shared", "threads"),
    ("copy_in", "once"),
    ("copy_out", "once"),
    ("free", "once"),
    ("fuse", "shift"),
    ("pad", "before"),
    ("pad", "multiple"),
];

/// The command call that an expression is.
pub(crate) fn call_of(expr: &Expr) -> Result<Call<'_>, CommandError> {
    let not_a_command = || CommandError::NotACommand { span: expr.span };
    let ExprKind::Call { callee, arguments, broadcast: Broadcast::No } = &expr.kind else {
        return Err(not_a_command());
    };
    let ExprKind::Name(name) = &callee.kind else { return Err(not_a_command()) };
    let Some(form) = FORMS.iter().find(|form| form.name == *name) else {
        let name = Spanned { value: name.clone(), span: callee.span };
        let suggestion = nearest_command(&name.value);
        return Err(CommandError::Unknown { name, suggestion });
    };
    let is_keyword = |argument: &&Argument| {
        argument.keyword.as_ref().is_some_and(|keyword| KEYWORDS.contains(&(form.name, keyword.value.as_str())))
    };
    let keywords = arguments.iter().filter(is_keyword);
    let keywords = keywords.filter_map(|it| Some((it.keyword.as_ref()?.value.as_str(), &it.value))).collect();
    let plain = arguments.iter().filter(|argument| !is_keyword(argument));
    Ok(Call { form, arguments: positional(form, plain)?, keywords, span: expr.span })
}

pub(super) fn positional<'e>(
    form: &'static Form,
    arguments: impl IntoIterator<Item = &'e Argument>,
) -> Result<Vec<&'e Expr>, CommandError> {
    let value = |argument: &'e Argument| match (&argument.keyword, argument.section) {
        (None, Section::Main) => Ok(&argument.value),
        (Some(keyword), _) => Err(CommandError::Keyword { usage: form.usage, keyword: keyword.clone() }),
        // `f(S; i)` means `f(S; i = i)`.
        (None, Section::Keywords) => {
            let value = name(&argument.value).unwrap_or_default();
            Err(CommandError::Keyword { usage: form.usage, keyword: Spanned { value, span: argument.value.span } })
        }
    };
    arguments.into_iter().map(value).collect()
}

impl<'e> Call<'e> {
    /// The arguments, if there are `N`.
    pub(crate) fn exactly<const N: usize>(&self) -> Result<[&'e Expr; N], CommandError> {
        self.arguments.clone().try_into().map_err(|arguments: Vec<_>| CommandError::ArgumentCount {
            command: self.form.name,
            usage: self.form.usage,
            found: arguments.len(),
            span: self.span,
        })
    }

    /// The value of a keyword argument.
    pub(crate) fn keyword(&self, name: &str) -> Option<&'e Expr> {
        self.keywords.iter().find(|(keyword, _)| *keyword == name).map(|(_, value)| *value)
    }

    pub(crate) fn wrong(&self, expected: Expected, found: &Expr) -> CommandError {
        CommandError::ArgumentKind { usage: self.form.usage, expected, span: found.span }
    }

    /// A computation's name.
    pub(crate) fn computation(&self, expr: &Expr) -> Result<String, CommandError> {
        name(expr).ok_or_else(|| match expr.kind {
            ExprKind::Tuple(_) => self.wrong(Expected::OneComputation, expr),
            _ => self.wrong(Expected::Computation, expr),
        })
    }

    /// `S`, `(S,)` or `(S, R)`.
    pub(crate) fn computations(&self, expr: &Expr) -> Result<Vec<String>, CommandError> {
        self.one_or_more(expr, Expected::Computation, |element| self.computation(element))
    }

    /// An array's name.
    pub(crate) fn array(&self, expr: &Expr) -> Result<String, CommandError> {
        name(expr).ok_or_else(|| self.wrong(Expected::Array, expr))
    }

    /// A loop's name.
    pub(crate) fn loop_name(&self, expr: &Expr) -> Result<String, CommandError> {
        name(expr).ok_or_else(|| self.wrong(Expected::Loop, expr))
    }

    /// `i`, `(i,)` or `(i, j)`.
    pub(crate) fn loop_names(&self, expr: &Expr) -> Result<Vec<String>, CommandError> {
        self.one_or_more(expr, Expected::Loops, |element| self.loop_name(element))
    }

    /// A positive integer literal.
    pub(crate) fn size(&self, expr: &Expr) -> Result<u32, CommandError> {
        match integer(expr).map(u32::try_from) {
            None => Err(self.wrong(Expected::Size, expr)),
            Some(Ok(size @ 1..)) => Ok(size),
            Some(Ok(0) | Err(_)) => Err(CommandError::SizeRange { usage: self.form.usage, span: expr.span }),
        }
    }

    /// `32`, `(32,)` or `(32, 8)`.
    pub(crate) fn sizes(&self, expr: &Expr) -> Result<Vec<u32>, CommandError> {
        self.one_or_more(expr, Expected::Sizes, |element| self.size(element))
    }

    /// An integer literal, perhaps negative.
    pub(crate) fn integer(&self, expr: &Expr) -> Result<i64, CommandError> {
        integer(expr).and_then(|value| i64::try_from(value).ok()).ok_or_else(|| self.wrong(Expected::Integer, expr))
    }

    /// An integer literal, or `None` for `:auto`.
    pub(crate) fn integer_or_auto(&self, expr: &Expr) -> Result<Option<i64>, CommandError> {
        match &expr.kind {
            ExprKind::Symbol(name) if name == "auto" => Ok(None),
            _ => match integer(expr).and_then(|value| i64::try_from(value).ok()) {
                Some(value) => Ok(Some(value)),
                None => Err(self.wrong(Expected::IntegerOrAuto, expr)),
            },
        }
    }

    pub(super) fn one_or_more<T>(
        &self,
        expr: &Expr,
        expected: Expected,
        read: impl Fn(&Expr) -> Result<T, CommandError>,
    ) -> Result<Vec<T>, CommandError> {
        match &expr.kind {
            ExprKind::Tuple(elements) if elements.is_empty() => Err(self.wrong(expected, expr)),
            ExprKind::Tuple(elements) => positional(self.form, elements)?.into_iter().map(read).collect(),
            _ => Ok(vec![read(expr)?]),
        }
    }
}

pub(super) fn name(expr: &Expr) -> Option<String> {
    match &expr.kind {
        ExprKind::Name(name) => Some(name.clone()),
        _ => None,
    }
}

/// Whether the rows of a stream are left to the launch.
pub(super) fn leaves_rows(expr: &Expr) -> bool {
    integer(expr) == Some(StreamSize::AT_LAUNCH.into())
}

/// The value of an integer literal in Julia's spelling, `-` allowed in front.
pub(super) fn integer(expr: &Expr) -> Option<i128> {
    match &expr.kind {
        ExprKind::Integer(text) => {
            let digits = text.replace('_', "").to_lowercase();
            let (digits, radix) = match digits.get(..2) {
                Some("0x") => (&digits[2..], 16),
                Some("0o") => (&digits[2..], 8),
                Some("0b") => (&digits[2..], 2),
                Some(_) | None => (digits.as_str(), 10),
            };
            i128::from_str_radix(digits, radix).ok()
        }
        ExprKind::Prefix { operator, operand } if operator.value.symbol == "-" && !operator.value.dotted => {
            integer(operand)?.checked_neg()
        }
        _ => None,
    }
}

/// The command that was probably meant.
fn nearest_command(name: &str) -> Option<String> {
    tessella_diagnostics::nearest(&name.to_lowercase(), FORMS.iter().map(|form| form.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_in_names_of_commands_are_found() {
        assert_eq!(nearest_command("tiel").as_deref(), Some("tile"));
        assert_eq!(nearest_command("vectorise").as_deref(), Some("vectorize"));
        assert_eq!(nearest_command("banana"), None);
    }
}

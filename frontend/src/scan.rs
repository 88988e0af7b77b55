//! Finds the functions, schedules and constants of a Julia file by its structure: nothing else in the file is parsed.

use crate::ast::{Block, Expr, Name};
use crate::error::SyntaxError;
use crate::layout::{Nesting, Placed, Token, lay_out};
use crate::lexer::lex;
use crate::parse::{MAX_ERRORS, one_expression, parse_schedule, parse_text};
use tessella_diagnostics::{FileId, SourceMap, Span, Spanned};

/// What [`scan()`] found in a file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Scan {
    pub functions: Vec<FunctionItem>,
    pub schedules: Vec<ScheduleItem>,
    pub constants: Vec<ConstantItem>,
    /// Brackets, blocks and literals that do not match, and malformed annotations.
    pub errors: Vec<SyntaxError>,
}

/// A function definition; [`crate::parse_function`] gives its tree.
#[derive(Debug, Clone, PartialEq)]
pub struct FunctionItem {
    pub name: Name,
    /// The whole definition, without its macros and docstring.
    pub span: Span,
    pub form: Form,
    /// The names of the enclosing modules, outermost first.
    pub modules: Vec<String>,
    pub docstring: Option<Span>,
    /// `@tessella` before the definition.
    pub annotation: Option<Annotation>,
    /// Other macros before the definition, outermost first, without `@`.
    pub macros: Vec<Name>,
}

/// How a function is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `function f(x) ... end`.
    Long,
    /// `f(x) = ...`.
    Short,
}

/// `@tessella target=:cuda function ...`.
#[derive(Debug, Clone, PartialEq)]
pub struct Annotation {
    /// The macro's name with its `@`.
    pub span: Span,
    /// `target = :cuda` and its kin, in order.
    pub options: Vec<(Name, Expr)>,
}

/// `@schedule f begin ... end`.
#[derive(Debug, Clone, PartialEq)]
pub struct ScheduleItem {
    pub function: Name,
    pub commands: Result<Block, Vec<SyntaxError>>,
    /// From the macro to the `end`.
    pub span: Span,
    /// The names of the enclosing modules, outermost first.
    pub modules: Vec<String>,
}

/// `const name = value` at the level of a module.
#[derive(Debug, Clone, PartialEq)]
pub struct ConstantItem {
    pub name: Name,
    pub value: Expr,
    pub span: Span,
    /// The names of the enclosing modules, outermost first.
    pub modules: Vec<String>,
}

/// Finds the items of a file.
pub fn scan(sources: &SourceMap, file: FileId) -> Scan {
    let text = &sources.file(file).text;
    let (lexemes, lexical) = lex(file, text, 0);
    let layout = lay_out(sources, &lexemes);
    let unterminated: Vec<SyntaxError> = lexical.into_iter().filter(SyntaxError::is_structural).collect();
    // An unterminated literal swallows what would close the blocks around it.
    let errors = match unterminated.is_empty() {
        true => layout.errors.into_iter().filter(SyntaxError::is_structural).collect(),
        false => unterminated,
    };
    let mut walk = Walk {
        sources,
        tokens: &layout.tokens,
        at: 0,
        modules: vec![],
        blocks: vec![],
        docstring: None,
        found: Scan { errors, ..Scan::default() },
    };
    while walk.at < walk.tokens.len() {
        walk.statement();
    }
    // What an unbalanced file seems to annotate means nothing.
    if walk.found.errors.iter().any(SyntaxError::is_structural) {
        walk.found.errors.retain(SyntaxError::is_structural);
    }
    walk.found.errors.truncate(MAX_ERRORS);
    walk.found
}

/// Macros that change what code inside of a block behind them means, its definitions included.
const OF_ALL_CODE: [&str; 2] = ["fastmath", "views"];

struct Walk<'s> {
    sources: &'s SourceMap,
    tokens: &'s [Placed],
    /// Index of a statement's first token, or of a token between statements.
    at: usize,
    /// The open modules: name and index of the `end`.
    modules: Vec<(String, usize)>,
    /// The open blocks behind macros that concern all code inside: these, and the index of the `end`.
    blocks: Vec<(Vec<Name>, usize)>,
    /// The string that is the last statement.
    docstring: Option<Span>,
    found: Scan,
}

impl Walk<'_> {
    fn token(&self, at: usize) -> Option<Token> {
        self.tokens.get(at).map(|placed| placed.token)
    }

    fn span(&self, at: usize) -> Span {
        self.tokens[at].span
    }

    fn text(&self, at: usize) -> &str {
        self.sources.text(self.span(at))
    }

    fn name(&self, at: usize) -> Name {
        Spanned { value: self.text(at).to_owned(), span: self.span(at) }
    }

    /// Whether whitespace before an argument of a macro stands at `at`.
    fn is_gap(&self, at: usize) -> bool {
        matches!(self.token(at), Some(Token::MacroBegin | Token::ArgumentGap))
    }

    fn module_names(&self) -> Vec<String> {
        self.modules.iter().map(|(name, _)| name.clone()).collect()
    }

    /// Takes a statement, or steps over what stands between two or into a block that holds definitions.
    fn statement(&mut self) {
        while self.modules.last().is_some_and(|&(_, end)| self.at > end) {
            self.modules.pop();
        }
        while self.blocks.last().is_some_and(|&(_, end)| self.at > end) {
            self.blocks.pop();
        }
        let start = self.at;
        match self.tokens[start].token {
            Token::Separator => self.at += 1,
            Token::End | Token::Else | Token::UnsupportedMiddle | Token::MacroEnd => {
                self.docstring = None;
                self.at += 1;
            }
            Token::UnsupportedBlock if matches!(self.text(start), "module" | "baremodule") => {
                let name = if self.token(start + 1) == Some(Token::Name) {
                    self.text(start + 1).to_owned()
                } else {
                    String::new()
                };
                self.modules.push((name, self.tokens[start].partner.max(start)));
                self.docstring = None;
                self.at = start + 1;
                self.skip_statement();
            }
            Token::Begin => self.at += 1,
            Token::If | Token::ElseIf => {
                self.at += 1;
                self.skip_statement();
            }
            Token::Str => {
                self.docstring = Some(self.span(start));
                self.at += 1;
                if !matches!(self.token(self.at), None | Some(Token::Separator)) {
                    self.docstring = None;
                    self.skip_statement();
                }
            }
            Token::MacroName => self.macro_statement(),
            Token::Const => {
                self.constant();
                self.docstring = None;
                self.skip_statement();
            }
            _ => self.definition(None, vec![]),
        }
    }

    /// The name of a macro without modules: `tessella` of `@Tessella.tessella`.
    fn macro_name(&self, at: usize) -> &str {
        self.text(at).rsplit(['.', '@']).next().unwrap_or("")
    }

    /// `@inline @tessella target=:cuda function ...`, `@schedule f begin ... end`, or any other macro call.
    fn macro_statement(&mut self) {
        let (mut annotation, mut macros) = (None, vec![]);
        loop {
            let at = self.at;
            match self.macro_name(at) {
                "tessella" => match self.options(at) {
                    Some(found) => annotation = Some(found),
                    None => return self.skip_statement(),
                },
                "schedule" => {
                    self.schedule(at);
                    return self.skip_statement();
                }
                _ => {
                    macros.push(Spanned { value: self.text(at).replace('@', ""), span: self.span(at) });
                    self.at += 1;
                }
            }
            // Other macros may have options of their own before the definition, such as a docstring.
            while self.is_gap(self.at) {
                self.at += 1;
                if self.token(self.at) == Some(Token::Str) && self.is_gap(self.at + 1) {
                    self.docstring = Some(self.span(self.at));
                    self.at += 1;
                }
            }
            if self.token(self.at) != Some(Token::MacroName) {
                break;
            }
        }
        match self.token(self.at) {
            Some(Token::Begin | Token::If) if annotation.is_none() => {
                macros.retain(|name| OF_ALL_CODE.contains(&name.value.rsplit('.').next().unwrap_or_default()));
                self.blocks.push((macros, self.tokens[self.at].partner));
            }
            _ => self.definition(annotation, macros),
        }
    }

    /// The options between `@tessella` and the definition; `at` moves to the gap before the definition.
    fn options(&mut self, macro_at: usize) -> Option<Annotation> {
        let span = self.span(macro_at);
        let mut options = vec![];
        let mut at = macro_at + 1;
        while self.is_gap(at) {
            let is_option = self.token(at + 1) == Some(Token::Name)
                && self.token(at + 2) == Some(Token::Infix)
                && self.text(at + 2) == "=";
            if !is_option {
                break;
            }
            let from = at + 3;
            let mut to = from;
            while let Some(token) = self.token(to) {
                match token {
                    Token::ArgumentGap | Token::MacroEnd | Token::Separator => break,
                    _ => to = self.past(to),
                }
            }
            if from < to {
                let value = self.span(from).to(self.span(to - 1));
                match parse_text(self.sources, value).and_then(|block| one_expression(block, value)) {
                    Ok(value) => options.push((self.name(at + 1), value)),
                    Err(errors) => self.found.errors.extend(errors),
                }
            }
            at = to;
        }
        if !self.is_gap(at) {
            self.malformed(
                "`@tessella` has no function to apply to",
                span,
                "write `@tessella` before a function definition, with options such as `target=:cuda` between",
            );
            return None;
        }
        self.at = at;
        Some(Annotation { span, options })
    }

    fn malformed(&mut self, problem: &str, span: Span, help: &str) {
        let (problem, help) = (problem.to_owned(), help.to_owned());
        self.found.errors.push(SyntaxError::MalformedAnnotation { problem, span, help });
    }

    /// `@schedule f begin ... end`, whose macro stands at `at`.
    fn schedule(&mut self, at: usize) {
        let line = self.tokens[at..].iter().take_while(|placed| placed.token != Token::Separator);
        let begin = line.map(|placed| placed.token).position(|token| token == Token::Begin).map(|found| at + found);
        let name_end = begin.and_then(|begin| begin.checked_sub(1)).filter(|&gap| self.is_gap(gap));
        let (Some(begin), Some(gap), Some(Token::Name)) = (begin, name_end, self.token(at + 2)) else {
            let help = "write `@schedule f begin ... end`, with the scheduling commands of `f` inside";
            return self.malformed("this `@schedule` has no function name and `begin` block", self.span(at), help);
        };
        let named = self.span(at + 2).to(self.span(gap - 1));
        let function = Spanned { value: self.sources.text(named).to_owned(), span: named };
        let end = self.tokens[begin].partner;
        if end == begin {
            return;
        }
        let (open, close) = (self.span(begin), self.span(end));
        let commands = parse_schedule(self.sources, Span { start: open.end, end: close.start, ..open });
        let (span, modules) = (self.span(at).to(close), self.module_names());
        self.found.schedules.push(ScheduleItem { function, commands, span, modules });
    }

    /// `const name = value`; values that are not understood are left out.
    fn constant(&mut self) {
        let at = self.at;
        let is_constant = self.token(at + 1) == Some(Token::Name)
            && self.token(at + 2) == Some(Token::Infix)
            && self.text(at + 2) == "=";
        if !is_constant {
            return;
        }
        let end = self.statement_end(at);
        if end <= at + 3 {
            return;
        }
        let span = self.span(at).to(self.span(end - 1));
        let value = self.span(at + 3).to(self.span(end - 1));
        if let Ok(value) = parse_text(self.sources, value).and_then(|block| one_expression(block, value)) {
            let (name, modules) = (self.name(at + 1), self.module_names());
            self.found.constants.push(ConstantItem { name, value, span, modules });
        }
    }

    /// A function definition at `at`, or any other statement.
    fn definition(&mut self, annotation: Option<Annotation>, macros: Vec<Name>) {
        let start = self.at;
        let docstring = self.docstring.take();
        let found = match self.token(start) {
            Some(Token::Function) => self.long_form(start),
            Some(_) => self.short_form(start),
            None => None,
        };
        match found {
            Some((name, span, form)) => {
                let modules = self.module_names();
                let around = self.blocks.iter().flat_map(|(around, _)| around.iter().cloned());
                let macros = around.chain(macros).collect();
                self.found.functions.push(FunctionItem { name, span, form, modules, docstring, annotation, macros });
            }
            None => {
                if let Some(annotation) = annotation {
                    let help = "write `@tessella` directly before a function definition";
                    self.malformed("`@tessella` is not followed by a function definition", annotation.span, help);
                }
            }
        }
        self.skip_statement();
    }

    fn long_form(&self, start: usize) -> Option<(Name, Span, Form)> {
        let end = self.tokens[start].partner;
        let (name, after) = self.function_name(start + 1)?;
        // `function f end` declares a name only; without the `end` the block is reported as unclosed.
        let complete = end > start && self.opens_parameters(after);
        complete.then(|| (name, self.span(start).to(self.span(end)), Form::Long))
    }

    fn opens_parameters(&self, at: usize) -> bool {
        let after_operator = at.checked_sub(1).and_then(|before| self.token(before)) == Some(Token::Prefix);
        match self.token(at) {
            Some(Token::CallOpen) => true,
            Some(Token::GroupOpen) => after_operator,
            _ => false,
        }
    }

    /// `f(x) = ...`, `f(x::T)::T where T = ...`, `Base.:+(a, b) = ...`.
    fn short_form(&self, start: usize) -> Option<(Name, Span, Form)> {
        let (name, open) = self.function_name(start)?;
        if !self.opens_parameters(open) || self.tokens[open].partner == open {
            return None;
        }
        let end = self.statement_end(start);
        let mut at = self.tokens[open].partner + 1;
        // Between the parameters and `=` there is at most a type and `where` clauses.
        if self.token(at) == Some(Token::Infix) && !matches!(self.text(at), "::" | "where" | "=") {
            return None;
        }
        while at < end {
            if self.token(at) == Some(Token::Infix) && self.text(at) == "=" {
                return Some((name, self.span(start).to(self.span(end - 1)), Form::Short));
            }
            let fits = match self.token(at) {
                Some(Token::Infix) => matches!(self.text(at), "::" | "where" | "<:" | ">:"),
                Some(
                    Token::Name | Token::Dot | Token::CurlyOpen | Token::BraceOpen | Token::CallOpen | Token::GroupOpen,
                ) => true,
                _ => false,
            };
            if !fits {
                return None;
            }
            at = self.past(at);
        }
        None
    }

    /// A name, perhaps with modules before it and type parameters after it, and the index after it; also `(-)`, and the
    /// `-` of `-(x) = ...`, which reads like the operator before an operand.
    fn function_name(&self, start: usize) -> Option<(Name, usize)> {
        match (self.token(start), self.token(start + 1), self.token(start + 2)) {
            (Some(Token::Prefix), Some(Token::GroupOpen), _) => return Some((self.name(start), start + 1)),
            (Some(Token::GroupOpen), Some(Token::Name | Token::Colon), Some(Token::RoundClose)) => {
                return Some((self.name(start + 1), start + 3));
            }
            (Some(Token::Name), ..) => {}
            _ => return None,
        }
        let mut at = start;
        while self.token(at + 1) == Some(Token::Dot) && self.token(at + 2) == Some(Token::Name) {
            at += 2;
        }
        let mut value = String::new();
        for part in (start..=at).filter(|part| self.token(*part) == Some(Token::Name)) {
            if !value.is_empty() {
                value.push('.');
            }
            value.push_str(self.text(part));
        }
        let span = self.span(start).to(self.span(at));
        let after = if self.token(at + 1) == Some(Token::CurlyOpen) { self.past(at + 1) } else { at + 1 };
        Some((Spanned { value, span }, after))
    }

    /// The index after a token, or after the bracket or block that it opens.
    fn past(&self, at: usize) -> usize {
        match self.tokens[at].token.nesting() {
            Nesting::OpensBracket | Nesting::OpensBlock => self.tokens[at].partner.max(at) + 1,
            Nesting::ClosesBracket | Nesting::ClosesBlock | Nesting::Middle | Nesting::Flat => at + 1,
        }
    }

    /// The index after the last token of the statement at `start`.
    fn statement_end(&self, start: usize) -> usize {
        let mut at = start;
        while let Some(token) = self.token(at) {
            let ends = matches!(token, Token::Separator | Token::MacroEnd)
                || matches!(token.nesting(), Nesting::ClosesBlock | Nesting::Middle | Nesting::ClosesBracket);
            if ends && at > start {
                break;
            }
            at = self.past(at);
        }
        at.min(self.tokens.len())
    }

    fn skip_statement(&mut self) {
        while let Some(token) = self.token(self.at) {
            if token == Token::Separator || matches!(token.nesting(), Nesting::ClosesBlock | Nesting::Middle) {
                return;
            }
            self.at = self.past(self.at);
        }
    }
}

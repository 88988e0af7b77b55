//! Mutations of tokens and lines: most results still parse, many still compile.

use crate::random::Random;
use tessella_diagnostics::FileId;
use tessella_frontend::lexer::{Lexeme, is_reserved, lex};

const OPERATORS: [&str; 44] = [
    "+", "-", "*", "/", "\\", "÷", "%", "^", "//", "<", "<=", ">", ">=", "==", "!=", "===", "≤", "&&", "||", "&", "|",
    "⊻", "<<", ">>", ">>>", ":", "=", "+=", "-=", "*=", "/=", "÷=", "^=", ".=", ".+", ".*", ".^", ".+=", "∈", "=>",
    "|>", "->", "?", "<:",
];

const NUMBERS: [&str; 40] = [
    "0",
    "1",
    "2",
    "3",
    "5",
    "7",
    "8",
    "16",
    "31",
    "64",
    "100",
    "1000",
    "255",
    "256",
    "65536",
    "2147483647",
    "2147483648",
    "9223372036854775807",
    "9223372036854775808",
    "1099511627776",
    "170141183460469231731687303715884105728",
    "0x10",
    "0xff",
    "0xffffffffffffffff",
    "0b11",
    "0.0",
    "1.0",
    "0.5",
    "2.5",
    "1e10",
    "1e308",
    "1e-320",
    "1f0",
    "0.1f0",
    "1.0e400",
    "NaN",
    "Inf",
    "-1",
    "-0.0",
    "pi",
];

const NAMES: [&str; 62] = [
    "n",
    "m",
    "i",
    "j",
    "k",
    "A",
    "B",
    "C",
    "x",
    "y",
    "end",
    "begin",
    "true",
    "false",
    "nothing",
    "size",
    "length",
    "eachindex",
    "axes",
    "zero",
    "one",
    "eltype",
    "typeof",
    "convert",
    "float",
    "min",
    "max",
    "abs",
    "sign",
    "clamp",
    "ifelse",
    "mod",
    "rem",
    "div",
    "fld",
    "cld",
    "mod1",
    "muladd",
    "fma",
    "sqrt",
    "exp",
    "sin",
    "sum",
    "prod",
    "maximum",
    "minimum",
    "dot",
    "zeros",
    "ones",
    "fill",
    "similar",
    "copyto!",
    "view",
    "enumerate",
    "zip",
    "reverse",
    "CartesianIndices",
    "step",
    "first",
    "last",
    "im",
    "√",
];

const TYPES: [&str; 40] = [
    "Float64",
    "Float32",
    "Float16",
    "Int",
    "Int64",
    "Int32",
    "Int16",
    "Int8",
    "UInt8",
    "UInt16",
    "UInt32",
    "UInt64",
    "Int128",
    "Bool",
    "Char",
    "String",
    "Real",
    "Number",
    "Integer",
    "AbstractFloat",
    "Any",
    "Nothing",
    "ComplexF64",
    "Matrix{Float64}",
    "Matrix{Float32}",
    "Matrix{Int}",
    "Matrix{Bool}",
    "Matrix{UInt8}",
    "Vector{Float64}",
    "Vector{Int}",
    "Vector{Int32}",
    "Vector{UInt64}",
    "Array{Float64,3}",
    "Array{Float32,4}",
    "Array{Float64,0}",
    "Array{Int,6}",
    "AbstractMatrix",
    "AbstractVector",
    "AbstractArray{Float64}",
    "Tuple{Int,Int}",
];

const LINES: [&str; 28] = [
    "break",
    "continue",
    "return",
    "return nothing",
    "return A",
    "x = 0",
    "x += 1",
    "x = 1.0",
    "A .= 0",
    "A[i, j] = 0",
    "A[i] = i",
    "A[end] = A[1]",
    "A, B = B, A",
    "t = A; A = B; B = t",
    "m, n = size(A)",
    "n = length(A)",
    "s = sum(A)",
    "for q in 1:n",
    "for q = n:-1:1",
    "while n > 0",
    "if n > 1",
    "elseif n == 2",
    "else",
    "end",
    "begin",
    "let t = 1",
    "@inbounds for i in 1:10",
    "@views A[:, 1] .= x",
];

/// A piece of text with what it spells.
#[derive(Debug, Clone)]
struct Word {
    lexeme: Lexeme,
    text: String,
    /// The whitespace and comments before it.
    before: String,
}

/// One to a few mutations of one piece.
pub fn mutate(corpus: &[String], random: &mut Random) -> String {
    let mut text = random.pick(corpus).clone();
    // Most inputs are a single change away from a function that compiles.
    for _ in 0..1 + random.below(6) / 4 + random.below(6) / 5 {
        text = match random.below(3) {
            0 => lines(&text, corpus, random),
            _ => words(&text, random),
        };
    }
    text
}

fn words(text: &str, random: &mut Random) -> String {
    let mut words = split(text);
    if words.is_empty() {
        return text.to_owned();
    }
    let at = random.below(words.len());
    // Looks for a word worth changing.
    let at = (at..words.len()).find(|&at| !matches!(words[at].lexeme, Lexeme::Newline)).unwrap_or(at);
    let names: Vec<String> = words.iter().filter(|word| is_name(word)).map(|word| word.text.clone()).collect();
    match random.below(12) {
        0 => {
            words.remove(at);
        }
        1 => {
            let copy = words[at].clone();
            words.insert(at, copy);
        }
        2 => {
            let other = random.below(words.len());
            let (a, b) = (words[at].text.clone(), words[other].text.clone());
            (words[at].text, words[other].text) = (b, a);
        }
        3 => {
            let type_at = words.iter().position(|word| word.text == "::").map(|at| at + 1);
            if let Some(word) = type_at.and_then(|at| words.get_mut(at)) {
                word.text = random.pick(&TYPES).to_string();
            }
        }
        _ => {
            let word = &mut words[at];
            word.text = match word.lexeme {
                Lexeme::Operator | Lexeme::Adjoint => random.pick(&OPERATORS).to_string(),
                Lexeme::Integer if random.one_in(2) => {
                    let value: i128 = word.text.parse().unwrap_or(1);
                    (value + random.below(5) as i128 - 2).to_string()
                }
                Lexeme::Integer | Lexeme::Float => random.pick(&NUMBERS).to_string(),
                Lexeme::Word if is_reserved(&word.text) && !random.one_in(8) => word.text.clone(),
                Lexeme::Word if word.text.starts_with(char::is_uppercase) && word.text.len() > 2 => {
                    random.pick(&TYPES).to_string()
                }
                Lexeme::Word if random.one_in(3) => random.pick(&NAMES).to_string(),
                Lexeme::Word if random.one_in(6) => random.pick(&NUMBERS).to_string(),
                Lexeme::Word => names.get(random.below(names.len())).cloned().unwrap_or_default(),
                Lexeme::Comma => random.pick(&[";", ":", "+", ", 1,", ", :,", " "]).to_string(),
                _ => word.text.clone(),
            };
        }
    }
    join(&words)
}

fn lines(text: &str, corpus: &[String], random: &mut Random) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    if lines.is_empty() {
        return text.to_owned();
    }
    let mut at = random.below(lines.len());
    let what = random.below(8);
    // Blocks that do not match are the parser's business; here they hide everything else.
    if matches!(what, 0..=2 | 7) && !random.one_in(8) {
        let plain: Vec<usize> = (0..lines.len()).filter(|&at| !has_keyword(&lines[at])).collect();
        match plain.get(random.below(plain.len())) {
            Some(&found) => at = found,
            None => return text.to_owned(),
        }
    }
    match what {
        0 => {
            lines.remove(at);
        }
        1 => {
            let copy = lines[at].clone();
            lines.insert(at, copy);
        }
        2 => {
            let other = random.below(lines.len());
            lines.swap(at, other);
        }
        3 => lines.insert(at, random.pick(&LINES).to_string()),
        4 => {
            // A loop or condition around a line.
            let head = random.pick(&[
                "for q in 1:n",
                "for q in 2:2:9",
                "for i in 1:3",
                "if n > 2",
                "while false",
                "@inbounds begin",
            ]);
            lines.insert(at, head.to_string());
            lines.insert(at + 2, "end".to_owned());
        }
        5 => {
            let other: Vec<&str> = random.pick(corpus).lines().collect();
            if !other.is_empty() {
                lines.insert(at, random.pick(&other).to_string());
            }
        }
        6 => {
            // Deeper and deeper.
            let depth = 1 + random.below(9);
            for _ in 0..depth {
                lines.insert(at, format!("for q{depth} in 1:n"));
            }
            for _ in 0..depth {
                lines.insert(at + depth + 1, "end".to_owned());
            }
        }
        _ => {
            let ends = (at..lines.len()).find(|&at| has_keyword(&lines[at])).unwrap_or(lines.len());
            let to = (at + 1 + random.below(3)).min(ends.max(at + 1));
            lines.drain(at..to);
        }
    }
    lines.join("\n") + "\n"
}

/// Whether a line opens, divides or closes a block.
fn has_keyword(line: &str) -> bool {
    const KEYWORDS: [&str; 9] = ["for", "if", "while", "let", "function", "begin", "do", "end", "else"];
    line.split(|c: char| !c.is_alphanumeric()).any(|word| KEYWORDS.contains(&word) || word == "elseif")
}

fn is_name(word: &Word) -> bool {
    word.lexeme == Lexeme::Word && !is_reserved(&word.text)
}

fn split(text: &str) -> Vec<Word> {
    let (lexemes, _) = lex(FileId(0), text, 0);
    let mut end = 0;
    let mut words = vec![];
    for lexed in lexemes {
        let range = lexed.span.range();
        let (before, text) = (text[end..range.start].to_owned(), text[range.clone()].to_owned());
        words.push(Word { lexeme: lexed.lexeme, text, before });
        end = range.end;
    }
    words
}

fn join(words: &[Word]) -> String {
    let mut text = String::new();
    for word in words {
        text.push_str(&word.before);
        text.push_str(&word.text);
    }
    text
}

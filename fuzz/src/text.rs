//! Mutations of characters, blind to what they spell.

use crate::random::Random;

/// What Julia code is made of, and what it is not.
const PIECES: [&str; 64] = [
    "end",
    "begin",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "\"",
    "\"\"\"",
    "'",
    "`",
    "$(",
    "$",
    "#=",
    "=#",
    "#",
    ":",
    "?",
    "...",
    "@",
    "@m ",
    "@.",
    " for ",
    " if ",
    " in ",
    "function ",
    " do ",
    "\n",
    "\r\n",
    ";",
    ",",
    " -",
    "- ",
    ".",
    ".(",
    ".+",
    "->",
    "=",
    "+=",
    "==",
    "&&",
    "return ",
    "where ",
    "::",
    "<:",
    "2x",
    "0x",
    "1.",
    "1e",
    "0b",
    "\\",
    "é",
    "∈",
    "√",
    "²",
    "\u{0}",
    "\u{301}",
    "“",
    "macro ",
    "quote ",
    "try ",
    "let ",
    "struct ",
];

/// One to a few mutations of one to a few pieces.
pub fn mutate(corpus: &[String], random: &mut Random) -> String {
    let mut chars: Vec<char> = vec![];
    for _ in 0..1 + random.below(8) / 6 {
        chars.extend(random.pick(corpus).chars());
        chars.push('\n');
    }
    if random.one_in(4) {
        let from = random.below(chars.len());
        chars.drain(..from);
    }
    if random.one_in(4) {
        chars.truncate(random.below(chars.len() + 1));
    }
    for _ in 0..1 + random.below(6) {
        let at = random.below(chars.len() + 1);
        match random.below(6) {
            0 => {
                let to = (at + 1 + random.below(8)).min(chars.len());
                chars.drain(at..to);
            }
            1 => insert(&mut chars, at, random.pick::<&str>(&PIECES)),
            2 => {
                let from = random.below(chars.len() + 1);
                let to = (from + random.below(30)).min(chars.len());
                let copied = chars[from..to].to_vec();
                chars.splice(at..at, copied);
            }
            3 => {
                let times = if random.one_in(20) { 600 } else { 1 + random.below(40) };
                insert(&mut chars, at, &random.pick::<&str>(&PIECES).repeat(times));
            }
            4 => {
                let other: Vec<char> = random.pick(corpus).chars().collect();
                let from = random.below(other.len());
                let to = (from + random.below(60)).min(other.len());
                chars.splice(at..at, other[from..to].iter().copied());
            }
            _ => {
                let other = random.below(chars.len() + 1);
                if at < chars.len() && other < chars.len() {
                    chars.swap(at, other);
                }
            }
        }
    }
    chars.into_iter().collect()
}

fn insert(chars: &mut Vec<char>, at: usize, text: &str) {
    chars.splice(at..at, text.chars());
}

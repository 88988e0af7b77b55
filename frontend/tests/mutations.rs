//! Mutated sources neither crash nor hang the front end.

use tessella_diagnostics::{IntoDiagnostic, SourceMap, Style, render};
use tessella_frontend::{parse_block, parse_function, scan, sexpr::sexpr};

/// xorshift64*: the same mutations on every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % limit.max(1)
    }
}

const PIECES: [&str; 48] = [
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
    "#=",
    "=#",
    "#",
    ":",
    "?",
    "...",
    "'",
    "@",
    "@m ",
    " for ",
    " if ",
    "function ",
    " do ",
    "\n",
    ";",
    ",",
    " -",
    "- ",
    ".",
    ".(",
    "->",
    "=",
    "return ",
    "where ",
    "::",
    "2x",
    "0x",
    "1.",
    "é",
    "∈",
    "√",
    "\u{0}",
    "\u{301}",
    "“",
    "macro ",
];

fn exercise(text: String) {
    let mut sources = SourceMap::default();
    let file = sources.add("mutated.jl", text, 1);
    let found = scan(&sources, file);
    let mut errors = found.errors;
    for item in &found.functions {
        errors.extend(parse_function(&sources, item).err().into_iter().flatten());
    }
    match parse_block(&sources, file) {
        Ok(block) => assert!(block.iter().map(sexpr).all(|tree| !tree.is_empty())),
        Err(more) => errors.extend(more),
    }
    let diagnostics: Vec<_> = errors.into_iter().map(IntoDiagnostic::into_diagnostic).collect();
    render(&sources, &diagnostics, Style::Plain);
}

#[test]
fn mutated_sources_neither_crash_nor_hang() {
    let seeds: Vec<String> =
        include_str!("meta_parse_sources.txt").lines().map(|line| line.replace('⏎', "\n")).collect();
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for _ in 0..6000 {
        let mut chars: Vec<char> = (0..1 + random.below(4))
            .flat_map(|_| format!("{}\n", seeds[random.below(seeds.len())]).chars().collect::<Vec<_>>())
            .collect();
        for _ in 0..1 + random.below(6) {
            let at = random.below(chars.len() + 1);
            match random.below(4) {
                0 => {
                    let to = (at + random.below(8)).min(chars.len());
                    chars.drain(at..to);
                }
                1 => {
                    let piece = PIECES[random.below(PIECES.len())];
                    chars.splice(at..at, piece.chars());
                }
                2 => {
                    let from = random.below(chars.len() + 1);
                    let to = (from + random.below(20)).min(chars.len());
                    let copied = chars[from..to].to_vec();
                    chars.splice(at..at, copied);
                }
                _ => {
                    let piece = PIECES[random.below(PIECES.len())].repeat(1 + random.below(40));
                    chars.splice(at..at, piece.chars());
                }
            }
        }
        exercise(chars.into_iter().collect());
    }
}

#[test]
fn every_prefix_of_a_source_is_survived() {
    let text: String = include_str!("meta_parse_sources.txt").replace('⏎', "\n").chars().take(3000).collect();
    for (at, _) in text.char_indices() {
        exercise(text[..at].to_owned());
    }
}

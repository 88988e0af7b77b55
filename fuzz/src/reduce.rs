//! Failing inputs, made smaller.

use crate::{Part, run};
use std::time::{Duration, Instant};

/// How long one reduction may take.
const TIME: Duration = Duration::from_secs(20);

/// The smallest text found that fails for the same cause: lines go first, then characters.
pub fn reduce(part: Part, text: &str) -> String {
    let cause = run(part, text).cause();
    let start = Instant::now();
    let fails = |text: &str| start.elapsed() < TIME && run(part, text).cause() == cause;
    let lines = shrink(text.split_inclusive('\n').map(str::to_owned).collect(), &fails);
    let chars = shrink(lines.concat().chars().map(String::from).collect(), &fails);
    chars.concat()
}

/// Takes ever shorter runs of pieces away, as long as the rest still fails.
fn shrink(pieces: Vec<String>, fails: &dyn Fn(&str) -> bool) -> Vec<String> {
    let mut pieces = pieces;
    let mut length = pieces.len().div_ceil(2).max(1);
    loop {
        let mut at = 0;
        let mut smaller = false;
        while at < pieces.len() {
            let to = (at + length).min(pieces.len());
            let rest: String = pieces[..at].iter().chain(&pieces[to..]).map(String::as_str).collect();
            if fails(&rest) {
                pieces.drain(at..to);
                smaller = true;
            } else {
                at = to;
            }
        }
        match (length, smaller) {
            (1, false) => return pieces,
            (1, true) => {}
            _ => length = length.div_ceil(2),
        }
    }
}

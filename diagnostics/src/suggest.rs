//! "Did you mean": the nearest of the names that could have been meant.

/// The candidate nearest to `name`, if it is near enough to be a slip; the first of several in the order given.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let limit = (name.chars().count() / 3).max(1);
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let length = candidate.chars().count();
        let distance = edit_distance(name, candidate);
        // A name of one or two letters that shares none with the candidate was not meant to be it.
        if distance == 0 || distance > limit || distance >= length.max(name.chars().count()) {
            continue;
        }
        if best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate.to_string())
}

/// Insertions, deletions, replacements and swaps of neighbours that turn `from` into `to`.
fn edit_distance(from: &str, to: &str) -> usize {
    let from: Vec<char> = from.chars().collect();
    let to: Vec<char> = to.chars().collect();
    let width = to.len() + 1;
    let mut rows: Vec<usize> = (0..width).collect();
    for i in 1..=from.len() {
        rows.push(i);
        for j in 1..width {
            let at = |row: usize, column: usize| rows[row * width + column];
            let replace = at(i - 1, j - 1) + usize::from(from[i - 1] != to[j - 1]);
            let mut least = replace.min(at(i - 1, j) + 1).min(at(i, j - 1) + 1);
            if i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1] {
                least = least.min(at(i - 2, j - 2) + 1);
            }
            rows.push(least);
        }
    }
    rows[from.len() * width + to.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn slips_are_found_and_strangers_are_not() {
        let names = ["step", "steps", "A", "alpha"];
        assert_eq!(nearest("stpes", names).as_deref(), Some("steps"));
        assert_eq!(nearest("alhpa", names).as_deref(), Some("alpha"));
        assert_eq!(nearest("a", names), None);
        assert_eq!(nearest("width", names), None);
    }
}

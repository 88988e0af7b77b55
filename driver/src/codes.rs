//! The catalogue of diagnostic codes, `docs/codes.md`, one page a code.

const CATALOGUE: &str = include_str!("../../docs/codes.md");

/// Whether a word has the form of a code, `E0401`.
pub fn looks_like_code(word: &str) -> bool {
    word.len() == 5 && word.starts_with('E') && word[1..].bytes().all(|byte| byte.is_ascii_digit())
}

/// The page of a code: what it means, an example, the way out.
pub fn page(code: &str) -> Option<String> {
    let heading = format!("## {code}");
    let start = CATALOGUE.find(&format!("\n{heading}"))? + 1;
    let length = CATALOGUE[start + heading.len()..].find("\n## ").map(|end| end + heading.len() + 1);
    let page = length.map_or(&CATALOGUE[start..], |length| &CATALOGUE[start..start + length]);
    Some(format!("{}\n", page.trim_start_matches("## ").trim_end()))
}

/// All codes that have a page, in their order.
pub fn all() -> Vec<&'static str> {
    let headings = CATALOGUE.lines().filter_map(|line| line.strip_prefix("## "));
    headings.filter_map(|heading| heading.split([' ', ':']).next()).filter(|word| looks_like_code(word)).collect()
}

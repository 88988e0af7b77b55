//! What the documents show of the command line is what it says: every block of docs/models.md that begins with `$ tessella`, but for
//! those with measured times. A line `...` in a block stands for any lines; how lines are broken does not count.

use std::path::Path;
use std::process::Command;

/// The lines of all blocks that show a command.
fn shown(document: &str) -> Vec<Vec<&str>> {
    let mut blocks: Vec<Vec<&str>> = vec![];
    let mut open: Option<Vec<&str>> = None;
    for line in document.lines() {
        match (&mut open, line.starts_with("```")) {
            (None, true) => open = Some(vec![]),
            (None, false) => {}
            (Some(_), true) => blocks.extend(open.take()),
            (Some(block), false) => block.push(line),
        }
    }
    blocks.retain(|block| block.first().is_some_and(|line| line.starts_with("$ tessella ")));
    blocks
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether the parts stand in a text one after the other: the first at its beginning and the last at its end, unless they are empty.
fn holds(text: &str, parts: &[String]) -> bool {
    let mut rest = text;
    for (at, part) in parts.iter().enumerate() {
        let (is_first, is_last) = (at == 0, at + 1 == parts.len());
        let found = match (is_first && !part.is_empty(), is_last && !part.is_empty()) {
            (true, true) => (rest == part).then_some(0),
            (true, false) => rest.starts_with(part.as_str()).then_some(0),
            (false, true) => rest.ends_with(part.as_str()).then(|| rest.len() - part.len()),
            (false, false) => rest.find(part.as_str()),
        };
        let Some(found) = found else { return false };
        rest = &rest[found + part.len()..];
    }
    true
}

#[test]
fn models_are_shown_as_they_answer() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let document = std::fs::read_to_string(root.join("docs/models.md")).unwrap();
    let blocks = shown(&document);
    let mut failures = vec![];
    let mut asked = 0;
    for block in &blocks {
        let command = block[0].trim_start_matches("$ tessella ");
        if command.starts_with("tune ") {
            continue;
        }
        asked += 1;
        let arguments = command.split(' ').map(|word| word.trim_matches('\''));
        let output = Command::new(env!("CARGO_BIN_EXE_tessella")).args(arguments).current_dir(&root).output().unwrap();
        let said = words(&String::from_utf8_lossy(&output.stdout));
        let parts: Vec<String> = block[1..].split(|line| *line == "...").map(|lines| words(&lines.join(" "))).collect();
        if !output.status.success() || !holds(&said, &parts) {
            let errors = String::from_utf8_lossy(&output.stderr);
            failures.push(format!("{}\n{}{errors}", block[0], String::from_utf8_lossy(&output.stdout)));
        }
    }
    assert!(failures.is_empty(), "docs/models.md shows something else than what is said:\n\n{}", failures.join("\n"));
    assert!(asked >= 7, "docs/models.md has {asked} blocks with commands");
}

#[test]
fn dots_stand_for_anything_and_nothing_else_does() {
    let parts = |all: &[&str]| all.iter().map(|it| it.to_string()).collect::<Vec<_>>();
    assert!(holds("a b c d", &parts(&["a", "c d"])) && holds("a b c d", &parts(&["", "c d"])));
    assert!(holds("a b c d", &parts(&["a b", "c", ""])));
    assert!(!holds("a b c d", &parts(&["b", "d"])) && !holds("a b c d", &parts(&["a b c"])));
    assert!(!holds("a b c d", &parts(&["a", "d", "c", ""])));
}

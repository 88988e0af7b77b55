//! The sources that mutations start from.

use crate::random::Random;
use crate::{Part, text, tokens};
use std::path::{Path, PathBuf};
use tessella_diagnostics::SourceMap;
use tessella_frontend::scan;

/// Real sources in pieces of a size that makes many inputs a second.
#[derive(Debug, Clone)]
pub struct Corpus {
    part: Part,
    pieces: Vec<String>,
}

/// Longer pieces are cut: a mutation of a small text meets more of the parser a second.
const MAX_PIECE: usize = 2_000;

impl Corpus {
    /// All Julia sources below these files and folders, in order.
    ///
    /// # Errors
    /// A folder or file that cannot be read.
    pub fn read(part: Part, paths: &[PathBuf]) -> std::io::Result<Self> {
        let mut files = vec![];
        for path in paths {
            find(path, &mut files)?;
        }
        files.sort();
        let mut pieces = vec![];
        for file in files {
            let Ok(text) = std::fs::read_to_string(file) else { continue };
            match part {
                Part::Parser => pieces.extend(parts(&text)),
                Part::Lowering | Part::Passes => pieces.extend(functions(&text)),
            }
        }
        pieces.sort();
        pieces.dedup();
        Ok(Self { part, pieces })
    }

    /// The folders of this repository that hold Julia sources.
    pub fn of_repository(part: Part) -> std::io::Result<Self> {
        let root = repository();
        let folders: &[&str] = match part {
            Part::Parser => &["examples", "benches", "tests", "julia-pkg/src", "julia-pkg/test", "frontend/tests"],
            Part::Lowering => {
                &["examples", "tests/polybench", "tests/language", "tests/programs", "tests/ui", "tests/snapshots"]
            }
            Part::Passes => &["examples", "tests/polybench", "tests/language", "tests/ui", "tests/snapshots"],
        };
        Self::read(
            part,
            &folders.iter().map(|folder| root.join(folder)).filter(|path| path.exists()).collect::<Vec<_>>(),
        )
    }

    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// The text of input `number`.
    pub fn input(&self, seed: u64, number: u64) -> String {
        let mut random = Random::new(seed, number);
        match self.part {
            Part::Parser => text::mutate(&self.pieces, &mut random),
            Part::Lowering | Part::Passes => tokens::mutate(&self.pieces, &mut random),
        }
    }
}

/// The checkout's folder.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn find(path: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if path.is_dir() {
        for entry in std::fs::read_dir(path)? {
            find(&entry?.path(), files)?;
        }
    } else if path.extension().is_some_and(|extension| extension == "jl") {
        files.push(path.to_path_buf());
    }
    Ok(())
}

/// A text in pieces that begin with a line at the left margin.
fn parts(text: &str) -> Vec<String> {
    let mut parts: Vec<String> = vec![];
    for line in text.split_inclusive('\n') {
        let margin = !line.starts_with([' ', '\t', '\n', ')']) && !line.starts_with("end") && !line.starts_with("else");
        match parts.last_mut() {
            Some(part) if !margin || part.len() + line.len() < MAX_PIECE / 4 => part.push_str(line),
            _ => parts.push(line.to_owned()),
        }
    }
    parts.iter().flat_map(|part| cut(part)).collect()
}

fn cut(part: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for line in part.split_inclusive('\n') {
        if pieces.last().is_some_and(|last| last.len() + line.len() > MAX_PIECE && !last.is_empty()) {
            pieces.push(String::new());
        }
        if let (Some(last), true) = (pieces.last_mut(), line.len() <= MAX_PIECE) {
            last.push_str(line);
        }
    }
    pieces
}

/// Each function of a file that parses, with the schedules and constants that the file has for it.
fn functions(text: &str) -> Vec<String> {
    let mut sources = SourceMap::default();
    let file = sources.add("corpus.jl", text, 1);
    let found = scan(&sources, file);
    if !found.errors.is_empty() {
        return vec![];
    }
    let mut pieces = vec![];
    for item in &found.functions {
        let mut piece = String::new();
        for constant in found.constants.iter().filter(|constant| sources.text(item.span).contains(&constant.name.value))
        {
            piece.push_str(sources.text(constant.span));
            piece.push('\n');
        }
        piece.push_str(sources.text(item.span));
        piece.push('\n');
        for schedule in found.schedules.iter().filter(|schedule| schedule.function.value == item.name.value) {
            piece.push_str(sources.text(schedule.span));
            piece.push('\n');
        }
        // Functions that are called are inlined.
        for other in &found.functions {
            let called = format!("{}(", other.name.value);
            if other.name.value != item.name.value && sources.text(item.span).contains(&called) {
                piece.push_str(sources.text(other.span));
                piece.push('\n');
            }
        }
        if piece.len() <= 2 * MAX_PIECE {
            pieces.push(piece);
        }
    }
    pieces
}

//! Source files, and half-open byte ranges in them.

use std::ops::Range;

/// Names a file of a [`SourceMap`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// The bytes `start..end` of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    pub file: FileId,
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub fn new(file: FileId, range: Range<usize>) -> Self {
        let offset = |at: usize| u32::try_from(at).expect("source files over 4 GiB are refused by `SourceMap::add`");
        Self { file, start: offset(range.start), end: offset(range.end) }
    }

    /// The smallest span that covers both; `self` and `other` lie in one file.
    pub fn to(self, other: Span) -> Span {
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A value with the place it was written at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Spanned<T> {
    pub value: T,
    pub span: Span,
}

/// A file's name as the user knows it, and its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    pub name: String,
    pub text: String,
    /// The number of the text's first line: above 1 when the text is a piece of a larger file.
    pub first_line: u32,
    line_starts: Vec<usize>,
}

/// All the sources of one session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceMap {
    files: Vec<SourceFile>,
}

impl SourceMap {
    /// Adds a file; `first_line` is 1 for a whole file.
    ///
    /// Text beyond 4 GiB is cut off, since spans are 32 bits wide.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>, first_line: u32) -> FileId {
        let mut text: String = text.into();
        if text.len() > u32::MAX as usize {
            let mut end = u32::MAX as usize;
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            text.truncate(end);
        }
        let line_starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let id = FileId(u32::try_from(self.files.len()).expect("fewer than 2^32 files are ever added"));
        self.files.push(SourceFile { name: name.into(), text, first_line, line_starts });
        id
    }

    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    pub fn text(&self, span: Span) -> &str {
        &self.file(span.file).text[span.range()]
    }

    /// 1-based line and column (in characters) of a span's start.
    pub fn position(&self, span: Span) -> (u32, u32) {
        let file = self.file(span.file);
        let line = file.line_index(span.start as usize);
        let column = file.text[file.line_starts[line]..span.start as usize].chars().count();
        (file.first_line + line as u32, column as u32 + 1)
    }
}

impl SourceFile {
    /// Index, from 0, of the line that holds the byte `at`.
    pub(crate) fn line_index(&self, at: usize) -> usize {
        self.line_starts.partition_point(|&start| start <= at) - 1
    }

    pub(crate) fn line_range(&self, index: usize) -> Option<Range<usize>> {
        let start = *self.line_starts.get(index)?;
        let end = self.line_starts.get(index + 1).copied().unwrap_or(self.text.len());
        Some(start..end)
    }
}

//! Text with indentation.

/// Collects lines, each indented as deep as the blocks that are open.
#[derive(Debug, Clone, Default)]
pub struct Writer {
    text: String,
    depth: usize,
}

impl Writer {
    /// One line.
    pub fn line(&mut self, line: impl AsRef<str>) {
        let line = line.as_ref();
        if !line.is_empty() {
            self.text.extend(std::iter::repeat_n("    ", self.depth));
            self.text.push_str(line);
        }
        self.text.push('\n');
    }

    /// A line that is not indented, as preprocessors like it.
    pub fn flush_left(&mut self, line: impl AsRef<str>) {
        self.text.push_str(line.as_ref());
        self.text.push('\n');
    }

    pub fn blank(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// Opens a block: `head {`.
    pub fn open(&mut self, head: impl AsRef<str>) {
        let head = head.as_ref();
        self.line(if head.is_empty() { "{".to_string() } else { format!("{head} {{") });
        self.depth += 1;
    }

    /// Closes one block and opens the next: `} middle {`.
    pub fn reopen(&mut self, middle: impl AsRef<str>) {
        self.depth = self.depth.saturating_sub(1);
        self.line(format!("}} {} {{", middle.as_ref()));
        self.depth += 1;
    }

    pub fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        self.line("}");
    }

    /// Text of several lines, as it is.
    pub fn text(&mut self, text: &str) {
        text.lines().for_each(|line| self.line(line));
    }

    /// Appends what another writer collected.
    pub fn append(&mut self, other: &Writer) {
        self.text.push_str(&other.text);
    }

    /// Whether a name stands in the text.
    pub fn mentions(&self, name: &str) -> bool {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        self.text.split(|c| !is_part(c)).any(|word| word == name)
    }

    pub fn finish(self) -> String {
        self.text
    }
}

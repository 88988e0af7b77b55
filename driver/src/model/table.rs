//! Columns of text.

/// Rows below a head, each column as wide as it must be; the first to the left, the others to the right.
pub(super) fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let width = |at: usize| {
        let cells = rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.chars().count());
        cells.chain([head[at].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let line = |cells: &[String]| {
        let padded = cells.iter().zip(&widths).enumerate().map(|(at, (cell, &width))| match at {
            0 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        format!("  {}\n", padded.collect::<Vec<_>>().join("  ").trim_end())
    };
    let head: Vec<String> = head.iter().map(|it| it.to_string()).collect();
    std::iter::once(line(&head)).chain(rows.iter().map(|row| line(row))).collect()
}

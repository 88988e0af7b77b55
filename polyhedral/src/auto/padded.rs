//! An array that is padded, and why.

use crate::command::{Columns, Command};

/// An array with elements added at the end of its axes.
#[derive(Debug, Clone, PartialEq)]
pub struct Padded {
    pub array: String,
    pub by: Vec<u32>,
    pub columns: Columns,
    pub why: Why,
}

/// What a padding gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// Reads around a point that are out of place in vectors of so many elements.
    Vectors { elements: u32, reads: usize, before: usize, after: usize },
    /// Columns that are used together lie in different sets of the cache, of which each holds few lines.
    Sets { columns: usize },
    /// Accesses whose warps begin inside of a sector, so many bytes of the GPU's memory; on average over columns.
    Sectors { accesses: usize, before: usize, after: usize, bytes: u32 },
    /// Pairs of threads of a warp that meet in a bank of shared memory.
    Banks { before: usize, after: usize },
    /// Columns of a tile begin as far inside of so many bytes as those of the matrix, which are copied at once.
    Shifted { bytes: u32 },
}

impl Padded {
    /// Whether it is there for columns that are shifted.
    pub fn is_shifted(&self) -> bool {
        matches!(self.why, Why::Shifted { .. })
    }

    pub fn command(&self) -> Command {
        Command::Pad { array: self.array.clone(), by: self.by.clone(), columns: self.columns }
    }
}

impl std::fmt::Display for Padded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let by: Vec<String> = self.by.iter().map(u32::to_string).collect();
        write!(f, "{} by ({})", self.array, by.join(", "))?;
        let Columns { before, multiple } = self.columns;
        match (before, multiple) {
            (0, 1) => {}
            (0, _) => write!(f, ", columns in multiples of {multiple}")?,
            (_, _) => write!(f, ", {before} before each column, columns in multiples of {multiple}")?,
        }
        f.write_str(": ")?;
        match self.why {
            Why::Vectors { elements, reads, before, after } => {
                write!(f, "{after} instead of {before} of {reads} reads are out of place in vectors of {elements}")
            }
            Why::Sets { columns } => {
                write!(f, "{columns} columns that are used together would share one set of the cache")
            }
            Why::Sectors { accesses, before, after, bytes } => {
                write!(
                    f,
                    "warps of {after} instead of {before} of {accesses} accesses begin inside of a sector of {bytes} bytes"
                )
            }
            Why::Shifted { bytes } => {
                write!(f, "copies ahead take {bytes} bytes at once, wherever columns begin")
            }
            Why::Banks { before, after } => {
                write!(f, "{after} instead of {before} pairs of threads of a warp meet in a bank of shared memory")
            }
        }
    }
}

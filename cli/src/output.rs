//! Where results go.

use crate::Failure;
use std::path::Path;

/// Writes to a file, or to standard output where none is named or its name is `-`.
///
/// # Errors
/// [`Failure::Usage`] where the file cannot be written.
pub fn write(path: Option<&Path>, text: &str) -> Result<(), Failure> {
    match path {
        Some(path) if path != Path::new("-") => std::fs::write(path, text)
            .map_err(|error| Failure::Usage(format!("`{}` cannot be written: {error}", path.display()))),
        _ => {
            print!("{text}");
            Ok(())
        }
    }
}

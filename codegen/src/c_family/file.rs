//! Files of generated text: of one function, or of several.

use super::{Dialect, Writer};

/// What a function's file consists of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileParts {
    /// What stands on top.
    pub comment: String,
    /// Headers, as `<math.h>`.
    pub includes: Vec<&'static str>,
    /// Functions and types that texts of other functions may have, too, each behind those that it uses.
    pub helpers: Vec<String>,
    /// The function, and what it has for itself.
    pub own: String,
}

impl FileParts {
    /// The file of this function alone.
    pub fn text(&self) -> String {
        let mut out = Writer::default();
        out.text(&self.comment);
        out.blank();
        before_functions(&self.includes, &self.helpers, &mut out);
        out.blank();
        out.text(&self.own);
        out.finish()
    }

    /// Several functions in one file: `comment`, headers, helpers that functions have in common once, and a function after the other.
    /// In CUDA each is in a namespace of its own, `tessella_NAME`, as helpers of one name may differ there.
    pub fn together<'a>(
        comment: &str,
        functions: impl Iterator<Item = (&'a str, &'a FileParts)> + Clone,
        dialect: Dialect,
    ) -> String {
        let (mut includes, mut helpers) = (vec![], vec![]);
        for (_, it) in functions.clone() {
            includes.extend(it.includes.iter().copied());
            helpers.extend(it.helpers.iter().filter(|helper| !helpers.contains(*helper)).cloned().collect::<Vec<_>>());
        }
        includes.sort_unstable();
        includes.dedup();
        let mut out = Writer::default();
        out.text(comment);
        out.blank();
        before_functions(&includes, &helpers, &mut out);
        for (name, it) in functions {
            out.blank();
            out.text(&it.comment);
            out.blank();
            if dialect == Dialect::Cuda {
                out.line(format!("namespace tessella_{name} {{"));
                out.blank();
            }
            out.text(&it.own);
            let left = left_defined(&it.own);
            if !left.is_empty() {
                out.blank();
                left.iter().for_each(|name| out.line(format!("#undef {name}")));
            }
            if dialect == Dialect::Cuda {
                out.blank();
                out.line(format!("}} // namespace tessella_{name}"));
            }
        }
        out.finish()
    }
}

fn before_functions(includes: &[&str], helpers: &[String], out: &mut Writer) {
    includes.iter().for_each(|name| out.line(format!("#include {name}")));
    for helper in helpers {
        out.blank();
        out.text(helper);
    }
}

/// The macros that a text defines and leaves so.
fn left_defined(text: &str) -> Vec<&str> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut left: Vec<&str> = vec![];
    for line in text.lines() {
        let name_after = |directive: &str| {
            let rest = line.strip_prefix(directive)?;
            Some(&rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())])
        };
        if let Some(name) = name_after("#define ").filter(|name| !left.contains(name)) {
            left.push(name);
        } else if let Some(name) = name_after("#undef ") {
            left.retain(|it| *it != name);
        }
    }
    left
}

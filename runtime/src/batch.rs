//! Many C programs compiled as one file: a compiler takes longer to start than to compile one of them.

use crate::cache::Cache;
use crate::call::{packed_name, with_packed_entry};
use crate::error::RuntimeError;
use crate::library::LoadedFunction;
use crate::toolchain::{CSource, Compiler};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;

impl Compiler {
    /// Compiles programs together, with the flags and libraries of the first and `flags` after them, and loads the entry
    /// of each, in order. Nothing of it stays in the cache.
    ///
    /// The texts are those that the C backend prints: each is renamed so that all can stand in one file.
    ///
    /// # Errors
    /// As [`Compiler::load`]; where one text is refused, all are.
    pub fn load_all(
        &self,
        cache: &Cache,
        sources: &[CSource<'_>],
        flags: &[&str],
    ) -> Result<Vec<LoadedFunction>, RuntimeError> {
        let Some(first) = sources.first() else { return Ok(vec![]) };
        let mut text: String = sources.iter().enumerate().map(|(at, source)| renamed(source, at)).collect();
        text += "int batch(void);\nint batch(void) { return 0; }\n";
        let flags = [first.flags, flags].concat();
        let whole = CSource {
            entry: "batch",
            text: &text,
            parameters: &[],
            flags: &flags,
            libraries: first.libraries,
            key: &[],
        };
        let library = self.compile(cache, &whole)?;
        let open = |(at, source): (usize, &CSource<'_>)| {
            // SAFETY: `compile` made the library from the text above, which has this entry with these parameters.
            unsafe { LoadedFunction::open(&library.path, &numbered(source.entry, at), source.parameters) }
        };
        let loaded = sources.iter().enumerate().map(open).collect();
        if let Some(folder) = library.path.parent() {
            // What is loaded stays in memory; what cannot be removed goes when the cache is full.
            let _ = fs::remove_dir_all(folder);
        }
        loaded
    }
}

fn numbered(name: &str, at: usize) -> String {
    format!("{name}_{at}")
}

/// A program's text with its own names for all that a C file has only once.
fn renamed(source: &CSource<'_>, at: usize) -> String {
    let text = with_packed_entry(source.text, source.entry, source.parameters);
    let mut functions = BTreeMap::from([
        (source.entry.to_string(), numbered(source.entry, at)),
        (packed_name(source.entry), packed_name(&numbered(source.entry, at))),
    ]);
    let mut macros = BTreeSet::new();
    for line in text.lines() {
        let name_before = |text: &str| {
            let head = text.split('(').next().unwrap_or_default();
            head.rsplit([' ', '*']).next().unwrap_or_default().to_string()
        };
        if line.starts_with("static ") && line.contains('(') {
            let name = name_before(line);
            functions.insert(name.clone(), numbered(&name, at));
        } else if let Some(rest) = line.strip_prefix("#define ") {
            macros.insert(rest.split(['(', ' ']).next().unwrap_or_default().to_string());
        }
    }
    let mut all = String::new();
    let write = "writing to a string does not fail";
    functions.iter().for_each(|(name, new)| writeln!(all, "#define {name} {new}").expect(write));
    all += &text;
    functions.keys().chain(&macros).for_each(|name| writeln!(all, "#undef {name}").expect(write));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::{ArgumentValue, ParamType};
    use tessella_scalar::{Constant, ScalarType};

    #[test]
    fn programs_with_equal_names_stand_in_one_file() {
        let folder = std::env::temp_dir().join(format!("tessella-test-batch-{}", std::process::id()));
        let cache = Cache::at(&folder).unwrap();
        let text = |number: i32| {
            format!(
                "#include <stdint.h>\n#define PLUS {number}\nstatic int64_t add(int64_t a) {{ return a + PLUS; }}\n\
                 int32_t f(int64_t a) {{ return (int32_t)add(a); }}\n"
            )
        };
        let texts = [text(1), text(20)];
        let parameters = [ParamType::Scalar(ScalarType::I64)];
        let source =
            |text| CSource { entry: "f", text, parameters: &parameters, flags: &[], libraries: &["-lm"], key: &[] };
        let sources: Vec<CSource<'_>> = texts.iter().map(|text| source(text)).collect();
        let compiler = Compiler::get().unwrap();
        let loaded = compiler.load_all(&cache, &sources, &["-O0"]).unwrap();
        let argument = [ArgumentValue::Scalar(Constant::i64(3))];
        // SAFETY: the entries take no pointers.
        let given: Vec<i32> = loaded.iter().map(|entry| unsafe { entry.call(&argument) }.unwrap()).collect();
        assert_eq!(given, [4, 23]);
        let wrong = source("int32_t f(int64_t a) { return undeclared; }\n");
        assert!(matches!(compiler.load_all(&cache, &[sources[0], wrong], &[]), Err(RuntimeError::Refused(_))));
        assert!(compiler.load_all(&cache, &[], &[]).unwrap().is_empty());
        fs::remove_dir_all(&folder).unwrap();
    }
}

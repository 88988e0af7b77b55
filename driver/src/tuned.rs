//! Schedules that a tuner found, kept on disk for later compilations.
//!
//! One file a program: a program is its algorithm with types and the order of its source, for one target, machine and
//! version of the compilers. In the file stands the best schedule for each class of sizes. Schedules are commands, which are
//! proved anew whenever they are used, so that a file can make a program slow but never wrong; a file that cannot be read
//! counts as none.

use crate::pipeline::{self, Refusal};
use crate::request::Backend;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};
use tessella_diagnostics::{SourceMap, Span, Spanned};
use tessella_frontend::typed::tree;
use tessella_interpreter::Value;
use tessella_polyhedral::command::Command;
use tessella_polyhedral::machine::Machine;
use tessella_polyhedral::print;
use tessella_runtime::cache::Key;
use tessella_runtime::cuda::default_device;
use tessella_runtime::toolchain::cpu_identity;
use tessella_runtime::{Cache, Compiler, RuntimeError};

/// Files of another form are not read.
const FORM: u32 = 1;
const FOLDER: &str = "tuned";

/// The folder of tuned schedules, within the cache of compiled code.
#[derive(Debug, Clone)]
pub struct Store {
    folder: PathBuf,
}

/// The best schedule for one class of sizes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Of each extent and integer argument: see [`class_of`].
    pub class: Vec<u32>,
    /// Commands, one a line; empty where nothing was faster than Tessella's own choice.
    pub schedule: String,
    /// Of a call, with this schedule and without.
    pub seconds: f64,
    pub untuned: f64,
}

#[derive(Serialize, Deserialize)]
struct File {
    form: u32,
    function: String,
    entries: Vec<Entry>,
}

impl Store {
    pub fn open() -> Result<Store, RuntimeError> {
        Ok(Store::at(Cache::open()?.root().join(FOLDER)))
    }

    pub fn at(folder: impl Into<PathBuf>) -> Store {
        Store { folder: folder.into() }
    }

    fn file(&self, key: &Key) -> PathBuf {
        self.folder.join(format!("{}.json", key.hex()))
    }

    /// All that is known of a program.
    pub fn entries(&self, key: &Key) -> Vec<Entry> {
        let read = fs::read_to_string(self.file(key)).ok().and_then(|text| serde_json::from_str::<File>(&text).ok());
        read.filter(|file| file.form == FORM).map(|file| file.entries).unwrap_or_default()
    }

    pub fn find(&self, key: &Key, class: &[u32]) -> Option<Entry> {
        self.entries(key).into_iter().find(|entry| entry.class == class)
    }

    /// Keeps an entry, in the place of what was known for its class.
    pub fn put(&self, key: &Key, function: &str, entry: Entry) -> Result<(), RuntimeError> {
        let mut entries = self.entries(key);
        entries.retain(|known| known.class != entry.class);
        entries.push(entry);
        entries.sort_by(|a, b| a.class.cmp(&b.class));
        let file = File { form: FORM, function: function.to_string(), entries };
        let text = serde_json::to_string_pretty(&file).expect("numbers and texts can be written");
        let path = self.file(key);
        // Under another name first: a reader sees all of a file or the one before.
        let making = self.folder.join(format!("{}.{}.making", key.hex(), std::process::id()));
        fs::create_dir_all(&self.folder)
            .and_then(|()| fs::write(&making, text))
            .and_then(|()| fs::rename(&making, &path))
            .map_err(|error| failed("write", &path, &error))
    }

    /// Forgets all programs; how many there were.
    pub fn clear(&self) -> Result<usize, RuntimeError> {
        let Ok(entries) = fs::read_dir(&self.folder) else { return Ok(0) };
        let mut count = 0;
        for path in entries.flatten().map(|entry| entry.path()) {
            fs::remove_file(&path).map_err(|error| failed("remove", &path, &error))?;
            count += usize::from(path.extension().is_some_and(|it| it == "json"));
        }
        Ok(count)
    }

    fn is_empty(&self) -> bool {
        fs::read_dir(&self.folder).map_or(true, |mut entries| entries.next().is_none())
    }
}

fn failed(action: &'static str, path: &Path, error: &std::io::Error) -> RuntimeError {
    RuntimeError::File { action, path: path.to_owned(), reason: error.to_string() }
}

/// The class of sizes: of each extent of an array and each integer argument, in their order, the number of doublings from 1
/// that reach it. Sizes from 513 to 1024 are of one class.
pub fn class_of(values: &[Value]) -> Vec<u32> {
    let doublings = |value: u64| value.saturating_sub(1).checked_ilog2().map_or(0, |it| it + 1) + u32::from(value > 0);
    let mut class = vec![];
    for value in values {
        match value {
            Value::Array(array) => class.extend(array.extents().iter().map(|&extent| doublings(extent))),
            Value::Scalar(constant) => {
                let number = constant.as_integer().filter(|_| constant.ty.is_integer());
                class.extend(number.map(|it| doublings(u64::try_from(it.max(0)).unwrap_or(u64::MAX))));
            }
        }
    }
    class
}

/// What identifies a program on this machine; `None` where it has no compiled form.
///
/// # Errors
/// Diagnostics of lowering.
pub fn key_of(
    function: &tree::Function,
    target: Backend,
    machine: &Machine,
    threads: Option<u32>,
) -> Result<Option<Key>, Refusal> {
    let processor = match target {
        Backend::C => match Compiler::get() {
            Ok(compiler) => format!("{} {}", compiler.version(), cpu_identity()),
            Err(_) => return Ok(None),
        },
        Backend::Cuda => match default_device() {
            Ok(device) => device.name().to_string(),
            Err(_) => return Ok(None),
        },
        Backend::Interpreter => return Ok(None),
    };
    let ctx = pipeline::context();
    let algorithm = pipeline::lower_with_tests(&ctx, function, crate::unit::target(target))?.algorithm;
    let order = print::schedule(&algorithm, &algorithm.source_order);
    let arrays: Vec<String> = algorithm.arrays.iter().map(|it| format!("{} {}", it.name, it.element)).collect();
    Ok(Some(Key::of(&[
        ("form", &FORM.to_le_bytes()),
        ("version", env!("CARGO_PKG_VERSION").as_bytes()),
        ("algorithm", print::algorithm(&algorithm).as_bytes()),
        ("arrays", arrays.join(" ").as_bytes()),
        ("order", order.as_bytes()),
        ("target", format!("{target:?}").as_bytes()),
        ("machine", format!("{machine:?} {threads:?}").as_bytes()),
        ("processor", processor.as_bytes()),
    ])))
}

/// All that is known of a program; nothing where that cannot be found out.
pub fn known(function: &tree::Function, target: Backend, machine: &Machine, threads: Option<u32>) -> Vec<Entry> {
    let Ok(store) = Store::open() else { return vec![] };
    if store.is_empty() {
        return vec![];
    }
    match key_of(function, target, machine, threads) {
        Ok(Some(key)) => store.entries(&key),
        Ok(None) | Err(_) => vec![],
    }
}

/// The commands of an entry, all of them at the function they are for; `None` where they cannot be read.
pub fn commands(entry: &Entry, span: Span) -> Option<Vec<Spanned<Command>>> {
    let mut sources = SourceMap::default();
    let file = sources.add("tuned schedule", entry.schedule.as_str(), 1);
    let read = pipeline::commands_of(&sources, file).ok()?;
    Some(read.into_iter().map(|command| Spanned { value: command.value, span }).collect())
}

/// Entries as text: a line with the class, numbers with blanks between, and below it the commands, each behind four blanks.
pub fn text(entries: &[Entry]) -> String {
    let mut text = String::new();
    for entry in entries {
        let class: Vec<String> = entry.class.iter().map(u32::to_string).collect();
        text.push_str(&class.join(" "));
        text.push('\n');
        entry.schedule.lines().for_each(|line| text.push_str(&format!("    {line}\n")));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use tessella_interpreter::Array;
    use tessella_scalar::{Constant, ScalarType};

    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Scratch {
            let path = std::env::temp_dir().join(format!("tessella-tuned-{}-{name}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            Scratch(path)
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn entry(class: &[u32], schedule: &str) -> Entry {
        Entry { class: class.to_vec(), schedule: schedule.to_string(), seconds: 0.25, untuned: 0.5 }
    }

    #[test]
    fn what_is_put_is_found_by_its_class() {
        let scratch = Scratch::new("put");
        let (store, key) = (Store::at(&scratch.0), Key::of(&[("name", b"f")]));
        assert_eq!(store.find(&key, &[1]), None);
        store.put(&key, "f", entry(&[10, 3], "split(S, i, 8)")).unwrap();
        store.put(&key, "f", entry(&[4, 3], "split(S, i, 4)")).unwrap();
        store.put(&key, "f", entry(&[10, 3], "split(S, i, 16)")).unwrap();
        assert_eq!(store.find(&key, &[10, 3]).unwrap().schedule, "split(S, i, 16)");
        assert_eq!(store.entries(&key).len(), 2);
        assert_eq!(store.entries(&Key::of(&[("name", b"g")])), []);
        assert_eq!(text(&store.entries(&key)), "4 3\n    split(S, i, 4)\n10 3\n    split(S, i, 16)\n");
        assert_eq!(store.clear().unwrap(), 1);
        assert_eq!(store.entries(&key), []);
        assert_eq!(store.clear().unwrap(), 0);
    }

    #[test]
    fn a_broken_file_is_none_and_is_replaced() {
        let scratch = Scratch::new("broken");
        let (store, key) = (Store::at(&scratch.0), Key::of(&[("name", b"f")]));
        for broken in ["", "{", "{\"form\": 9, \"function\": \"f\", \"entries\": []}", "[1, 2]", "\u{0}\u{1}"] {
            fs::create_dir_all(&scratch.0).unwrap();
            fs::write(store.file(&key), broken).unwrap();
            assert_eq!(store.entries(&key), [], "{broken}");
            store.put(&key, "f", entry(&[1], "split(S, i, 8)")).unwrap();
            assert_eq!(store.entries(&key).len(), 1, "{broken}");
        }
    }

    #[test]
    fn classes_are_doublings() {
        let class = |value: i128| class_of(&[Value::Scalar(Constant::integer(ScalarType::I64, value))]);
        let found: Vec<u32> = [-3, 0, 1, 2, 3, 4, 5, 8, 9, 512, 513, 1024, 1025].map(|it| class(it)[0]).to_vec();
        assert_eq!(found, [0, 0, 1, 2, 3, 3, 4, 4, 5, 10, 11, 11, 12]);
        let array = Array::zeros(ScalarType::F32, vec![513, 4]).unwrap();
        let values = [Value::Array(array), Value::Scalar(Constant::f64(2.0)), Value::Scalar(Constant::bool(true))];
        assert_eq!(class_of(&values), [11, 3]);
    }
}

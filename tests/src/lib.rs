//! What the whole-pipeline tests share: cases in folders, golden files.

use std::fs;
use std::path::{Path, PathBuf};
use tessella::file::{FileOptions, ScheduleSource};
use tessella::request::{Backend, DrawOptions, DrawOrder};

/// The top of the checkout.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("this crate lies one folder below the top").to_path_buf()
}

/// The Julia files of a folder, sorted.
pub fn julia_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.expect("the folder can be read").path());
    let mut files: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|it| it == "jl")).collect();
    files.sort();
    files
}

/// The examples that define functions to transpile.
pub fn examples() -> Vec<PathBuf> {
    let files = julia_files(&root().join("examples"));
    let is_example = |path: &PathBuf| {
        fs::read_to_string(path).is_ok_and(|text| text.lines().any(|line| line.starts_with("@tessella")))
    };
    files.into_iter().filter(is_example).collect()
}

/// Compares a text with a golden file.
///
/// With `TESSELLA_BLESS=1`, and never under CI, the golden file is written instead.
pub fn golden(path: &Path, actual: &str) -> Result<(), String> {
    let bless = std::env::var_os("TESSELLA_BLESS").is_some() && std::env::var_os("CI").is_none();
    let expected = fs::read_to_string(path).unwrap_or_default();
    if expected == actual {
        return Ok(());
    }
    if bless {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|error| error.to_string())?;
        }
        return fs::write(path, actual).map_err(|error| format!("{}: {error}", path.display()));
    }
    let line = expected.lines().zip(actual.lines()).take_while(|(a, b)| a == b).count() + 1;
    Err(format!(
        "{} differs from line {line} on (TESSELLA_BLESS=1 accepts what follows):\n{actual}\n",
        path.strip_prefix(root()).unwrap_or(path).display()
    ))
}

/// A case's options, from its comment lines `#! type A=Matrix{Float32}`, `#! target cuda`, `#! function f`.
pub fn case_options(path: &Path, text: &str) -> (FileOptions, Backend) {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("case.jl").to_string();
    let mut options = FileOptions { name, function: None, types: vec![], schedule: ScheduleSource::InFile };
    let mut backend = Backend::C;
    for line in text.lines().filter_map(|line| line.strip_prefix("#! ")) {
        match line.split_once(' ') {
            Some(("type", pair)) => {
                let (argument, ty) = pair.split_once('=').expect("a type case is ARGUMENT=TYPE");
                options.types.push((argument.to_string(), ty.to_string()));
            }
            Some(("target", "cuda")) => backend = Backend::Cuda,
            Some(("target", "c")) => backend = Backend::C,
            Some(("function", name)) => options.function = Some(name.to_string()),
            // For `draw_options`, and for programs in slices and whole files.
            None if ["draw", "tiling", "chunked", "transpile"].contains(&line) => {}
            // For `model_options`.
            Some(("model", _)) => {}
            Some(("size" | "fix" | "dims" | "space" | "order" | "computation", _)) => {}
            _ => panic!("{}: `#! {line}` is no option of a case", path.display()),
        }
    }
    (options, backend)
}

/// What a case that says `#! draw` draws: `#! size n=8 m=4`, `#! dims i,j`, `#! fix k=2`, `#! space schedule`,
/// `#! order line`, `#! computation S`, `#! tiling`.
pub fn draw_options(text: &str) -> Option<DrawOptions> {
    let lines: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("#! ")).collect();
    if !lines.contains(&"draw") {
        return None;
    }
    let pairs = |text: &str| -> Vec<(String, i64)> {
        let pair =
            |item: &str| item.split_once('=').map(|(name, value)| (name.to_string(), value.parse().expect("a number")));
        text.split(' ').map(|item| pair(item).expect("NAME=NUMBER")).collect()
    };
    let mut options = DrawOptions { tiling: lines.contains(&"tiling"), ..DrawOptions::default() };
    for line in lines {
        match line.split_once(' ') {
            Some(("size", text)) => options.sizes.extend(pairs(text)),
            Some(("fix", text)) => options.fix.extend(pairs(text)),
            Some(("dims", text)) => options.dims = text.split(',').map(str::to_string).collect(),
            Some(("space", "schedule")) => options.scheduled = true,
            Some(("order", "line")) => options.order = Some(DrawOrder::Line),
            Some(("computation", name)) => options.computation = Some(name.to_string()),
            _ => {}
        }
    }
    Some(options)
}

/// What a case that says `#! model tiles 4096` asks: the model, and what comes after its name.
pub fn model_options(text: &str) -> Option<(&str, &str)> {
    let asked = text.lines().find_map(|line| line.strip_prefix("#! model "))?;
    Some(asked.split_once(' ').unwrap_or((asked, "")))
}

/// Fails a test with all messages, if there are any.
pub fn report(failures: Vec<String>) {
    assert!(failures.is_empty(), "{} cases failed\n\n{}", failures.len(), failures.join("\n"));
}

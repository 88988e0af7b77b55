//! Options that several commands share, and reading files.

use crate::Failure;
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};
use tessella::file::{FileOptions, ScheduleSource};
use tessella::request::Backend;

#[derive(Args)]
pub struct Source {
    /// The Julia file
    pub file: PathBuf,
    /// The function; by default all marked `@tessella`, or all if none is
    #[arg(short, long, value_name = "NAME")]
    pub function: Option<String>,
    /// The type of an argument, such as A=Matrix{Float32}; else its annotation, else what its use suggests
    ///
    /// StridedMatrix{Float32} has strides that the caller gives, StridedArray{Float32,2,1} a stride of 1 along axis 1,
    /// OffsetMatrix{Float32} first indices that the caller gives, OffsetArray{Float32,2,StridedMatrix{Float32}} both
    #[arg(short = 't', long = "type", value_name = "ARGUMENT=TYPE")]
    pub types: Vec<String>,
    /// A file of scheduling commands, instead of the source's `@schedule` blocks
    #[arg(short, long, value_name = "FILE")]
    pub schedule: Option<PathBuf>,
}

/// What a function is called with.
#[derive(Args)]
pub struct Arguments {
    /// A size or integer argument, such as n=1000; what is not given is chosen to fit
    #[arg(long = "size", value_name = "NAME=VALUE", num_args = 1..)]
    sizes: Vec<String>,
    /// The value of another scalar argument, such as alpha=0.5
    #[arg(long = "value", value_name = "NAME=VALUE", num_args = 1..)]
    values: Vec<String>,
    #[arg(long, value_enum, default_value = "c")]
    pub target: TargetName,
    /// What made-up inputs, and what else is random, grow from
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

impl Arguments {
    pub fn sizes(&self) -> Result<Vec<(String, i64)>, Failure> {
        self.sizes.iter().map(|item| number(item, "--size n=1000")).collect()
    }

    pub fn values(&self) -> Result<Vec<(String, f64)>, Failure> {
        self.values.iter().map(|item| number(item, "--value alpha=0.5")).collect()
    }
}

/// What the code runs on.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TargetName {
    /// The CPU: C with OpenMP
    C,
    /// An NVIDIA GPU: CUDA
    Cuda,
}

impl TargetName {
    pub fn backend(self) -> Backend {
        match self {
            TargetName::C => Backend::C,
            TargetName::Cuda => Backend::Cuda,
        }
    }
}

impl Source {
    /// The file's text and what the options say about it.
    pub fn read(&self) -> Result<(String, FileOptions), Failure> {
        let text = read(&self.file)?;
        let schedule = match &self.schedule {
            None => ScheduleSource::InFile,
            Some(path) => ScheduleSource::Text { text: read(path)?, name: path.display().to_string() },
        };
        let types = self.types.iter().map(|item| pair(item, "--type A=Matrix{Float64}"));
        let options = FileOptions {
            name: self.file.display().to_string(),
            function: self.function.clone(),
            types: types.collect::<Result<_, _>>()?,
            schedule,
        };
        Ok((text, options))
    }
}

/// Splits `name=value`.
pub fn pair(item: &str, example: &str) -> Result<(String, String), Failure> {
    match item.split_once('=') {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => Ok((name.to_string(), value.to_string())),
        _ => Err(Failure::Usage(format!("`{item}` is not of the form NAME=VALUE, as in `{example}`"))),
    }
}

/// Splits `name=number`.
pub fn number<T: std::str::FromStr>(item: &str, example: &str) -> Result<(String, T), Failure> {
    let (name, value) = pair(item, example)?;
    let value =
        value.parse().map_err(|_| Failure::Usage(format!("`{value}` in `{item}` is no number, as in `{example}`")))?;
    Ok((name, value))
}

pub fn read(path: &Path) -> Result<String, Failure> {
    let bytes = std::fs::read(path).map_err(|error| Failure::Usage(format!("`{}`: {error}", path.display())))?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Failure::Usage(format!("`{}` is not UTF-8 at byte {at}: save it as UTF-8", path.display()))
    })
}

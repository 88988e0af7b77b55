//! What a caller asks of a [session](crate::session), and what it gets: plain data, the same for the C interface, the
//! command line and tests.

use crate::profile::Measured;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_void;
use tessella_frontend::typed::tree::Type;
use tessella_polyhedral::algorithm::SizeError;

/// One function to compile for one list of argument types. As JSON it is what `tessella_compile` takes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompileRequest {
    /// The text of the function's definition, macros such as `@tessella` around it or not.
    pub source: String,
    /// What diagnostics call the text: a path, or a name such as `REPL[1]`.
    pub file: String,
    /// The line of `file` that `source` begins at, from 1.
    #[serde(default = "first")]
    pub first_line: u32,
    pub function: String,
    /// The types of the arguments as Julia writes them, keyword arguments last: `Array{Float32,2}`, `Int64`; for arrays of
    /// other forms see [`parse_type`](tessella_frontend::typed::parse_type). A type that
    /// no compiled function can take is refused with a diagnostic, not as a malformed request.
    pub types: Vec<String>,
    /// `None`: the auto-scheduler decides.
    #[serde(default)]
    pub schedule: Option<ScheduleText>,
    /// Other functions of the user that the function may call, each with its definition.
    #[serde(default)]
    pub helpers: Vec<HelperText>,
    /// Constants of the module that the functions use.
    #[serde(default)]
    pub constants: Vec<ConstantValue>,
    pub target: Backend,
    /// The texts that are wanted beside [`TextKind::Diagnostics`], [`TextKind::Codes`] and [`TextKind::Result`].
    #[serde(default)]
    pub emit: BTreeSet<TextKind>,
    /// `false`: texts only; nothing is compiled by a tool chain or loaded.
    pub load: bool,
    #[serde(default)]
    pub options: Options,
    /// What [`TextKind::Draw`] shows.
    #[serde(default)]
    pub draw: DrawOptions,
    /// The class of the sizes that the program is for, as [`tuned::class_of`](crate::tuned::class_of) tells it: without a
    /// schedule of the user's, what a tuner found for it is taken.
    #[serde(default)]
    pub class: Option<Vec<u32>>,
}

/// What a drawing shows; everything that is missing is chosen.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DrawOptions {
    /// This computation alone.
    pub computation: Option<String>,
    /// Horizontal and vertical dimension; one alone is drawn as a row.
    pub dims: Vec<String>,
    /// Sizes and integer arguments, by name.
    pub sizes: BTreeMap<String, i64>,
    /// Values of other dimensions, by name.
    pub fix: BTreeMap<String, i64>,
    /// Dimensions are the loops of the schedule, not the iterators of the source.
    pub scheduled: bool,
    pub order: Option<DrawOrder>,
    /// The tiles of each tiling of time instead, whatever the function's schedule is.
    pub tiling: bool,
}

/// How a drawing shows the order of execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DrawOrder {
    /// Numbers where they can be read, else lines.
    Auto,
    Numbers,
    Line,
    None,
}

/// The definition of a function that another calls.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HelperText {
    pub source: String,
    pub file: String,
    /// The line of `file` that `source` begins at, from 1.
    #[serde(default = "first")]
    pub first_line: u32,
}

/// A constant of a module: a number, a number type, an array of numbers, a `CartesianIndex`, or a tuple.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConstantValue {
    pub name: String,
    /// As Julia writes it: `Float64`, `Int32`; `Type` for a type, which `value` then names; `Tuple` for a tuple; `Array` for an
    /// array; `Place` for a `CartesianIndex`.
    #[serde(rename = "type")]
    pub ty: String,
    /// The bits as an unsigned decimal number, so that no digit is lost; or the name of a type; or type and bits of each
    /// element, `Int64:1 Float64:4607182418800017408`, of a tuple in `( ... )` and of a place in `[ ... ]`; or, of an array, the
    /// type, the extents and all bits, `Float64 2x3 0 ...`.
    pub value: String,
}

/// The commands of a schedule that stands apart from its function.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScheduleText {
    pub source: String,
    pub file: String,
    /// The line of `file` that `source` begins at, from 1.
    #[serde(default = "first")]
    pub first_line: u32,
}

/// What the code is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Backend {
    C,
    Cuda,
    /// No code: the slow, obvious execution that the others are tested against.
    Interpreter,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// CPU threads of a parallel loop; `None`: as many as OpenMP gives.
    pub threads: Option<u32>,
    pub overlap: Overlap,
    /// Whether the program runs in slices where the memory of the GPU does not hold its arrays.
    pub chunked: bool,
}

/// What the caller does when arrays share memory. The compiled code only reports it ([`Failure::Overlap`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Overlap {
    #[default]
    Error,
    /// The caller runs the original function instead.
    Original,
}

/// A text that a compilation makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TextKind {
    /// All diagnostics, rendered; absent when there are none.
    Diagnostics,
    /// The codes of the diagnostics in their order, separated by blanks: `E0302 E0303`.
    Codes,
    /// What the function gives back: `nothing`, `argument 0` (positions from 0), `scalar Float64`, or `argument of 0 1`
    /// for one of several arguments, whose position is written like a scalar of type `Int64`.
    Result,
    Algorithm,
    Dependences,
    Schedule,
    Loops,
    C,
    /// A C header for the entry.
    Header,
    Cuda,
    Explain,
    /// A picture as SVG.
    Draw,
    /// What a tuner has found for this function, by class of sizes; absent where nothing was.
    Tuned,
}

impl TextKind {
    pub const ALL: [TextKind; 13] = [
        TextKind::Diagnostics,
        TextKind::Codes,
        TextKind::Result,
        TextKind::Algorithm,
        TextKind::Dependences,
        TextKind::Schedule,
        TextKind::Loops,
        TextKind::C,
        TextKind::Header,
        TextKind::Cuda,
        TextKind::Explain,
        TextKind::Draw,
        TextKind::Tuned,
    ];

    pub fn name(self) -> &'static str {
        match self {
            TextKind::Diagnostics => "diagnostics",
            TextKind::Codes => "codes",
            TextKind::Result => "result",
            TextKind::Algorithm => "algorithm",
            TextKind::Dependences => "dependences",
            TextKind::Schedule => "schedule",
            TextKind::Loops => "loops",
            TextKind::C => "c",
            TextKind::Header => "header",
            TextKind::Cuda => "cuda",
            TextKind::Explain => "explain",
            TextKind::Draw => "draw",
            TextKind::Tuned => "tuned",
        }
    }

    pub fn from_name(name: &str) -> Option<TextKind> {
        TextKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// How a compilation ended. The numbers are those of `tessella_status`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    Done = 0,
    /// The program or its schedule was refused; the diagnostics say why.
    Refused = 1,
    /// The C compiler, NVRTC or the GPU failed or is missing.
    ToolChain = 2,
    /// A mistake of Tessella's own.
    Internal = 3,
}

/// What came of a [`CompileRequest`].
pub struct CompileResult {
    pub status: Status,
    pub texts: BTreeMap<TextKind, String>,
    /// Present when the status is [`Status::Done`] and the request asked to load.
    pub program: Option<Box<dyn Program>>,
    /// Present when the program is.
    pub signature: Option<Signature>,
}

/// What a caller has to know of a program to call it safely.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// The types of the scalars and new arrays that it gives back, in the order of their places.
    pub results: Vec<Type>,
    /// For each argument of the function, whether it is an array that a call may write.
    pub written: Vec<bool>,
}

/// A compiled program in memory. It may be called from several threads at once.
///
/// The parameters of the C entry are, for each argument of the Julia function in order, a pointer and the extents of an
/// array, then those strides and first indices that its type leaves open (`int64_t`), or the value of a scalar (`Bool` as
/// `uint8_t`); and last, if the function gives back a
/// scalar, the pointer to write it to. The return value is 0, the number of a violated entry check, or one of the
/// negative codes of [`Failure::code`].
pub trait Program: Send + Sync {
    /// The address of the C entry; `None` for a program that is only launched.
    fn entry(&self) -> Option<*const c_void>;

    /// The number of parameters of the C entry.
    fn parameter_count(&self) -> usize;

    /// Runs the program; `arguments[k]` points to the value of parameter `k`. Returns what the C entry returns.
    ///
    /// # Safety
    /// There are `parameter_count` arguments; each points to a value of its parameter's type; arrays are as large as
    /// their extents say, and nobody else writes them meanwhile.
    unsafe fn launch(&self, arguments: &[*mut c_void]) -> i32;

    /// Like [`launch`](Program::launch); `on_device[k]` says that parameter `k` is the address of an array in the memory of
    /// the first GPU. Returns -4 for a program that does not run on a GPU, if there is such an array.
    ///
    /// # Safety
    /// As for [`launch`](Program::launch).
    unsafe fn launch_mixed(&self, arguments: &[*mut c_void], on_device: &[bool]) -> i32 {
        // SAFETY: promised by the caller.
        if on_device.contains(&true) { -4 } else { unsafe { self.launch(arguments) } }
    }

    /// Calls the program several times on the GPU and measures it; arrays are afterwards as after one call. The error is
    /// what [`launch`](Program::launch) would return, and -4 for a program that does not run on a GPU.
    ///
    /// # Safety
    /// As for [`launch_mixed`](Program::launch_mixed).
    unsafe fn profile(&self, _arguments: &[*mut c_void], _on_device: &[bool], _repeat: u32) -> Result<Measured, i32> {
        Err(-4)
    }

    /// What a non-zero return value means. A [`Failure::Cuda`] is the last one of the calling thread. `None`: the code
    /// is none of this program's.
    fn failure(&self, code: i32) -> Option<Failure>;
}

/// Why a call did not succeed. Only a [`Failure::Cuda`] can leave a result half written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// An entry check is violated: with these sizes some instance would leave an array.
    Bounds {
        /// The number of the check, from 1.
        check: u32,
        /// The position of the array among the function's arguments, from 0; `None` for an array made inside.
        argument: Option<u32>,
        /// The array's name in the source.
        name: String,
        /// The axis of the offending subscript, from 0.
        axis: u32,
        /// The access's subscripts as the source has them: `i - 1`, `j`.
        subscripts: Vec<String>,
        /// What does not hold: `n <= size(A, 2)`.
        condition: String,
        /// Whether the source fails, too. If not, data decide whether it gets to the access, which was not known at entry.
        certain: bool,
        /// Where the access stands: `heat.jl:7`.
        place: String,
    },
    /// A requirement on sizes is violated.
    Size {
        /// The number of the check, from 1.
        check: u32,
        error: SizeError,
        text: String,
    },
    /// Two arrays share memory.
    Overlap {
        text: String,
    },
    /// A float that an integer is worked out from has none.
    NoInteger {
        text: String,
    },
    OutOfMemory {
        text: String,
    },
    /// A size or an integer argument is too large for the code's arithmetic.
    Range {
        text: String,
    },
    /// A subscript or a value failed that could only be tested while the function ran; what was written has been put back.
    Later {
        text: String,
    },
    Cuda {
        text: String,
    },
}

impl Failure {
    /// The return value that means this.
    pub fn code(&self) -> i32 {
        match self {
            Failure::Bounds { check, .. } | Failure::Size { check, .. } => *check as i32,
            Failure::Overlap { .. } => -1,
            Failure::OutOfMemory { .. } => -2,
            Failure::Range { .. } => -3,
            Failure::Cuda { .. } => -4,
            Failure::Later { .. } => -6,
            Failure::NoInteger { .. } => -7,
        }
    }
}

impl Failure {
    /// The words for people.
    pub fn text(&self) -> String {
        let lines = self.to_string();
        lines.split_once("\ntext=").map_or(String::new(), |(_, text)| text.to_owned())
    }
}

impl std::fmt::Display for Failure {
    /// Lines `key=value`; `text`, always last, may go on over several lines.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Bounds { check: _, argument, name, axis, subscripts, condition, certain, place } => {
                let argument = argument.map_or_else(|| "none".to_string(), |argument| argument.to_string());
                writeln!(f, "kind=bounds\nargument={argument}\nname={name}\naxis={axis}")?;
                for subscript in subscripts {
                    writeln!(f, "subscript={subscript}")?;
                }
                let known = if *certain { "yes" } else { "no" };
                write!(f, "condition={condition}\ncertain={known}\nplace={place}\n")?;
                write!(f, "text=`{name}[{}]` at {place} ", subscripts.join(", "))?;
                match condition.as_str() {
                    "false" => write!(f, "is outside for all sizes"),
                    condition => write!(f, "needs {condition}"),
                }?;
                if *certain { Ok(()) } else { write!(f, ", if the data let it happen, which is not known at entry") }
            }
            Failure::Size { check: _, error, text } => {
                let kind = match error {
                    SizeError::Mismatch => "mismatch",
                    SizeError::Argument | SizeError::Assumption => "argument",
                    SizeError::Bounds => "outside",
                    SizeError::Inexact => "inexact",
                    SizeError::Divide => "divide",
                    SizeError::Thrown => "thrown",
                };
                write!(f, "kind={kind}\ntext={text}")
            }
            Failure::Overlap { text } => write!(f, "kind=overlap\ntext={text}"),
            Failure::OutOfMemory { text } => write!(f, "kind=memory\ntext={text}"),
            Failure::Range { text } => write!(f, "kind=range\ntext={text}"),
            Failure::Later { text } => write!(f, "kind=later\ntext={text}"),
            // Julia throws an error of its own.
            Failure::NoInteger { text } => write!(f, "kind=thrown\ntext={text}"),
            Failure::Cuda { text } => write!(f, "kind=cuda\ntext={text}"),
        }
    }
}

fn first() -> u32 {
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_needs_only_what_has_no_default() {
        let request: CompileRequest = serde_json::from_str(
            r#"{"source": "f(x) = x", "file": "REPL[1]", "function": "f", "types": ["Int64"], "target": "cuda", "load": true}"#,
        )
        .unwrap();
        assert_eq!((request.first_line, request.schedule, request.target), (1, None, Backend::Cuda));
        assert_eq!(request.options, Options { threads: None, overlap: Overlap::Error, chunked: false });
    }

    #[test]
    fn unknown_fields_are_refused() {
        let text =
            r#"{"source": "", "file": "", "function": "f", "types": [], "target": "c", "load": true, "laod": true}"#;
        assert!(serde_json::from_str::<CompileRequest>(text).unwrap_err().to_string().contains("laod"));
    }

    #[test]
    fn the_name_of_a_text_is_its_json() {
        for kind in TextKind::ALL {
            assert_eq!(TextKind::from_name(kind.name()), Some(kind));
            assert_eq!(serde_json::from_str::<TextKind>(&format!("\"{}\"", kind.name())).unwrap(), kind);
        }
    }

    #[test]
    fn a_bounds_failure_names_the_access_and_the_condition() {
        let failure = Failure::Bounds {
            check: 2,
            argument: Some(0),
            name: "A".into(),
            axis: 1,
            subscripts: vec!["i".into(), "j + 1".into()],
            condition: "n < size(A, 2)".into(),
            certain: true,
            place: "k.jl:3".into(),
        };
        assert_eq!(failure.code(), 2);
        assert_eq!(
            failure.to_string(),
            "kind=bounds\nargument=0\nname=A\naxis=1\nsubscript=i\nsubscript=j + 1\ncondition=n < size(A, 2)\ncertain=yes\n\
             place=k.jl:3\ntext=`A[i, j + 1]` at k.jl:3 needs n < size(A, 2)"
        );
        let told = |condition: &str, certain| {
            let Failure::Bounds { check, argument, name, axis, subscripts, place, .. } = failure.clone() else {
                unreachable!("made above")
            };
            let condition = condition.into();
            Failure::Bounds { check, argument, name, axis, subscripts, condition, certain, place }.to_string()
        };
        let uncertain = told("n < 3", false);
        assert!(uncertain.contains("\ncertain=no\n"), "{uncertain}");
        assert!(
            uncertain.ends_with("needs n < 3, if the data let it happen, which is not known at entry"),
            "{uncertain}"
        );
        assert!(told("false", true).ends_with("\ntext=`A[i, j + 1]` at k.jl:3 is outside for all sizes"));
    }
}

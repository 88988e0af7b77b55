//! The system's C compiler: found, asked for its version, run; what it makes goes into the cache.

use crate::cache::{Cache, Cached, Key};
use crate::call::{ParamType, with_packed_entry};
use crate::error::{Attempt, Refused, RuntimeError};
use crate::library::LoadedFunction;
use std::env;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

/// Grows when compiled code of an older Tessella may no longer be called.
const ABI_VERSION: u32 = 1;

const LIBRARY_FILE: &str = "code.so";

/// A C function to compile.
#[derive(Debug, Clone, Copy)]
pub struct CSource<'a> {
    /// The entry's name in the C text; also the name of the file in the compiler's messages.
    pub entry: &'a str,
    pub text: &'a str,
    pub parameters: &'a [ParamType],
    /// What the compiler needs so that the text means what it should: the language, floating point, OpenMP.
    pub flags: &'a [&'a str],
    /// What the linker needs, after the file.
    pub libraries: &'a [&'a str],
    /// Whatever else the code depends on, by name.
    pub key: &'a [(&'a str, &'a [u8])],
}

/// A C compiler that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compiler {
    command: Vec<String>,
    version: String,
}

impl Compiler {
    /// The C compiler of this process, found once; a failure is tried again at the next call.
    ///
    /// It is the command that `TESSELLA_CC` or `CC` holds; if neither is set, `gcc`, `clang` or `cc` on the `PATH`.
    pub fn get() -> Result<&'static Compiler, RuntimeError> {
        static FOUND: OnceLock<Compiler> = OnceLock::new();
        if let Some(compiler) = FOUND.get() {
            return Ok(compiler);
        }
        let compiler = Compiler::find(|variable| env::var(variable).ok())?;
        Ok(FOUND.get_or_init(|| compiler))
    }

    /// Looks for a compiler, with these environment variables.
    pub fn find(variable: impl Fn(&str) -> Option<String>) -> Result<Compiler, RuntimeError> {
        for name in ["TESSELLA_CC", "CC"] {
            let Some(named) = variable(name).filter(|named| !named.trim().is_empty()) else { continue };
            return Compiler::new(&named).map_err(|attempt| RuntimeError::NamedCompiler { variable: name, attempt });
        }
        let mut tried = vec![];
        for command in ["gcc", "clang", "cc"] {
            match Compiler::new(command) {
                Ok(compiler) => return Ok(compiler),
                Err(attempt) => tried.push(attempt),
            }
        }
        Err(RuntimeError::NoCompiler { tried })
    }

    /// The compiler that this command runs; the command may hold arguments that always come first.
    pub fn new(command: &str) -> Result<Compiler, Attempt> {
        let mut words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
        // The compiler runs in another folder, where a relative path would mean another program.
        if let Some(program) = words.first_mut().filter(|program| program.contains('/'))
            && let Ok(absolute) = std::path::absolute(&*program)
        {
            *program = absolute.to_string_lossy().into_owned();
        }
        let failed = |reason: String| Attempt { command: command.to_owned(), reason };
        let output = run(&words, &["--version"], None).map_err(failed)?;
        if !output.status.success() {
            return Err(failed(format!("`--version` ends with {}", output.status)));
        }
        let version = String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().trim().to_owned();
        if version.is_empty() {
            return Err(failed("`--version` prints nothing".to_owned()));
        }
        Ok(Compiler { command: words, version })
    }

    /// The command as it is run.
    pub fn command(&self) -> String {
        self.command.join(" ")
    }

    /// The first line of what `--version` prints.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Compiles a C function to a shared library, or finds it in the cache. The library has the entry, and the packed
    /// entry of [`with_packed_entry`].
    pub fn compile(&self, cache: &Cache, source: &CSource<'_>) -> Result<Cached, RuntimeError> {
        let text = with_packed_entry(source.text, source.entry, source.parameters);
        let flags = [source.flags, &MACHINE_FLAGS].concat();
        let (command, all_flags) = (self.command(), [&flags, source.libraries].concat().join(" "));
        let abi = ABI_VERSION.to_le_bytes();
        let mut parts: Vec<(&str, &[u8])> = vec![
            ("c text", text.as_bytes()),
            ("command", command.as_bytes()),
            ("version", self.version.as_bytes()),
            ("flags", all_flags.as_bytes()),
            ("cpu", cpu_identity().as_bytes()),
            ("abi", &abi),
        ];
        parts.extend(source.key);
        let key = Key::of(&parts);
        cache.find_or_make(&key, LIBRARY_FILE, |folder| self.make(cache, source, &text, &flags, folder, &key))
    }

    /// Compiles a C function, or finds it in the cache, and loads it.
    pub fn load(&self, cache: &Cache, source: &CSource<'_>) -> Result<LoadedFunction, RuntimeError> {
        let open = || {
            let library = self.compile(cache, source)?;
            // SAFETY: `compile` made the library from this very text and these parameters, or an earlier process did:
            // the key of the cache holds them, and only this user can write into it.
            unsafe { LoadedFunction::open(&library.path, source.entry, source.parameters) }
        };
        match open() {
            // Another process may have removed the file just now to make room.
            Err(RuntimeError::Load { path, .. }) if !path.exists() => open(),
            result => result,
        }
    }

    fn make(
        &self,
        cache: &Cache,
        source: &CSource<'_>,
        text: &str,
        flags: &[&str],
        folder: &Path,
        key: &Key,
    ) -> Result<(), RuntimeError> {
        let name = source.entry;
        let file = format!("{name}.c");
        let path = folder.join(&file);
        fs::write(&path, text).map_err(|error| RuntimeError::File {
            action: "write",
            path,
            reason: error.to_string(),
        })?;
        let arguments = [flags, &[&file, "-o", LIBRARY_FILE], source.libraries].concat();
        let refused = |status: String, output: String| {
            let kept = cache.keep_refused(&format!("{name}-{}.c", &key.hex()[..12]), text)?;
            Err(RuntimeError::Refused(Box::new(Refused {
                name: name.to_owned(),
                command: format!("{} {}", self.command(), arguments.join(" ")),
                version: self.version.clone(),
                status,
                output,
                text: kept,
            })))
        };
        match run(&self.command, &arguments, Some(folder)) {
            Ok(output) if output.status.success() && folder.join(LIBRARY_FILE).exists() => Ok(()),
            Ok(output) => {
                let printed = [output.stderr, output.stdout].concat();
                refused(output.status.to_string(), String::from_utf8_lossy(&printed).trim_end().to_owned())
            }
            Err(reason) => refused("no start".to_owned(), reason),
        }
    }
}

/// What makes code for this very machine that can be loaded; the text's own flags come before.
///
/// `-Bsymbolic`: calls inside the library reach its own functions, also where a function is called as one of the C
/// library's (`step`), which the dynamic linker would else prefer.
const MACHINE_FLAGS: [&str; 4] = ["-march=native", "-fPIC", "-shared", "-Wl,-Bsymbolic"];

/// Identifies what `-march=native` means on this machine.
pub fn cpu_identity() -> &'static str {
    static IDENTITY: OnceLock<String> = OnceLock::new();
    IDENTITY.get_or_init(|| identity_of(&fs::read_to_string("/proc/cpuinfo").unwrap_or_default()))
}

/// The hash of the first processor's model and features, in the words of any architecture.
fn identity_of(cpuinfo: &str) -> String {
    const FACTS: [&str; 16] = [
        "vendor_id",
        "cpu family",
        "model",
        "model name",
        "stepping",
        "flags",
        "CPU implementer",
        "CPU architecture",
        "CPU variant",
        "CPU part",
        "CPU revision",
        "Features",
        "isa",
        "uarch",
        "cpu",
        "revision",
    ];
    let mut facts: Vec<(&str, &str)> = vec![("architecture", env::consts::ARCH)];
    for line in cpuinfo.lines().skip_while(|line| line.trim().is_empty()) {
        if line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && FACTS.contains(&name.trim())
        {
            facts.push((name.trim(), value.trim()));
        }
    }
    let facts: Vec<(&str, &[u8])> = facts.iter().map(|(name, value)| (*name, value.as_bytes())).collect();
    Key::of(&facts).hex()
}

/// Runs a command to its end, in the language that its messages are written in.
fn run(command: &[String], arguments: &[&str], folder: Option<&Path>) -> Result<Output, String> {
    let Some((program, first)) = command.split_first() else { return Err("the command is empty".to_owned()) };
    let mut process = Command::new(program);
    process.args(first).args(arguments).stdin(Stdio::null()).env("LC_ALL", "C");
    if let Some(folder) = folder {
        process.current_dir(folder);
    }
    process.output().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound if !program.contains('/') => "not on the PATH".to_owned(),
        _ => error.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLAGS: [&str; 3] = ["-O3", "-fopenmp", "-ffp-contract=off"];
    use crate::cache::Origin;
    use crate::call::ArgumentValue;
    use std::path::PathBuf;
    use tessella_scalar::{Constant, ScalarType};

    struct Scratch {
        cache: Cache,
    }

    impl Scratch {
        fn new(name: &str) -> Scratch {
            let folder = env::temp_dir().join(format!("tessella-test-toolchain-{name}-{}", std::process::id()));
            Scratch { cache: Cache::at(folder).unwrap() }
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(self.cache.root());
        }
    }

    const AXPY: &str = "#include <stdint.h>

int32_t axpy(double a, const double *restrict x, double *restrict y, int64_t n) {
    if (n < 0) return 1;
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) y[i] = a * x[i] + y[i];
    return 0;
}
";
    const AXPY_PARAMETERS: [ParamType; 4] = [
        ParamType::Scalar(ScalarType::F64),
        ParamType::Pointer,
        ParamType::Pointer,
        ParamType::Scalar(ScalarType::I64),
    ];

    fn axpy() -> CSource<'static> {
        CSource {
            entry: "axpy",
            text: AXPY,
            parameters: &AXPY_PARAMETERS,
            flags: &FLAGS,
            libraries: &["-lm"],
            key: &[],
        }
    }

    #[test]
    fn a_function_called_as_one_of_the_c_library_calls_itself() {
        let scratch = Scratch::new("names");
        let text = "#include <stdint.h>\n\nint32_t step(int64_t n) {\n    return (int32_t)n + 1;\n}\n";
        let parameters = [ParamType::Scalar(ScalarType::I64)];
        let source =
            CSource { entry: "step", text, parameters: &parameters, flags: &FLAGS, libraries: &["-lm"], key: &[] };
        let compiled = Compiler::get().unwrap().load(&scratch.cache, &source).unwrap();
        // SAFETY: the function takes one integer.
        assert_eq!(unsafe { compiled.call(&[ArgumentValue::Scalar(Constant::i64(41))]) }.unwrap(), 42);
    }

    fn pointer<T>(slice: &mut [T]) -> ArgumentValue {
        ArgumentValue::Pointer(slice.as_mut_ptr().cast())
    }

    #[test]
    fn a_function_is_compiled_loaded_and_called() {
        let scratch = Scratch::new("call");
        let compiled = Compiler::get().unwrap().load(&scratch.cache, &axpy()).unwrap();
        let mut x: Vec<f64> = (0..1000).map(|i| f64::from(i) * 0.1).collect();
        let mut y = vec![0.3; x.len()];
        let expected: Vec<f64> = x.iter().map(|x| 0.7 * x + 0.3).collect();
        let call = |a: f64, x: &mut [f64], y: &mut [f64], n: i64| {
            let arguments = [
                ArgumentValue::Scalar(Constant::f64(a)),
                pointer(x),
                pointer(y),
                ArgumentValue::Scalar(Constant::i64(n)),
            ];
            // SAFETY: the arrays have `n` elements, or `n` is refused.
            unsafe { compiled.call(&arguments) }.unwrap()
        };
        assert_eq!(call(0.7, &mut x, &mut y, 1000), 0);
        assert!(y == expected, "contracted or reassociated");
        assert_eq!(call(0.7, &mut x, &mut y, -1), 1);
        // SAFETY: this is the entry's type.
        let direct: unsafe extern "C" fn(f64, *const f64, *mut f64, i64) -> i32 =
            unsafe { std::mem::transmute(compiled.address()) };
        // SAFETY: the arrays have 1000 elements.
        assert_eq!(unsafe { direct(0.0, x.as_ptr(), y.as_mut_ptr(), 1000) }, 0);
        assert!(y == expected);
    }

    #[test]
    fn the_same_text_is_compiled_once() {
        let scratch = Scratch::new("once");
        let compiler = Compiler::get().unwrap();
        let first = compiler.compile(&scratch.cache, &axpy()).unwrap();
        assert_eq!(first.origin, Origin::Made);
        assert!(first.path.parent().unwrap().join("axpy.c").exists(), "the text is there to look at");
        let second = compiler.compile(&scratch.cache, &axpy()).unwrap();
        assert_eq!((second.origin, &second.path), (Origin::Found, &first.path));
        let fast =
            compiler.compile(&scratch.cache, &CSource { flags: &["-O3", "-ffp-contract=fast"], ..axpy() }).unwrap();
        assert_ne!(fast.path, first.path);
        let other = compiler.compile(&scratch.cache, &CSource { key: &[("schedule", b"tile")], ..axpy() }).unwrap();
        assert_ne!(other.path, first.path);
    }

    #[test]
    fn arguments_of_another_number_or_type_are_refused() {
        let scratch = Scratch::new("refused");
        let text = "#include <stdint.h>\nint32_t f(int16_t a, uint8_t b) { return b ? a : 7; }\n";
        let parameters = [ParamType::Scalar(ScalarType::I16), ParamType::Scalar(ScalarType::Bool)];
        let source =
            CSource { entry: "f", text, parameters: &parameters, flags: &FLAGS, libraries: &["-lm"], key: &[] };
        let compiled = Compiler::get().unwrap().load(&scratch.cache, &source).unwrap();
        let short = ArgumentValue::Scalar(Constant::integer(ScalarType::I16, -3));
        let truth = |value| ArgumentValue::Scalar(Constant::bool(value));
        // SAFETY: the entry takes no pointers.
        let call = |arguments: &[ArgumentValue]| unsafe { compiled.call(arguments) };
        assert_eq!(call(&[short, truth(true)]).unwrap(), -3);
        assert_eq!(call(&[short, truth(false)]).unwrap(), 7);
        assert!(matches!(call(&[short]), Err(RuntimeError::ArgumentCount { expected: 2, found: 1 })));
        let error = call(&[short, short]).unwrap_err();
        assert_eq!(error.to_string(), "argument 2 of the entry is `Bool`, `Int16` is given");
    }

    #[test]
    fn a_refused_text_is_kept_and_the_compilers_words_are_given() {
        let scratch = Scratch::new("kept");
        let source =
            CSource { text: "int32_t f(void) { return undeclared; }\n", entry: "f", parameters: &[], ..axpy() };
        let error = Compiler::get().unwrap().compile(&scratch.cache, &source).unwrap_err();
        let RuntimeError::Refused(refused) = &error else { panic!("{error}") };
        let Refused { output, text, .. } = &**refused;
        assert!(output.contains("f.c:1") && output.contains("undeclared"), "{output}");
        assert!(fs::read_to_string(text).unwrap().contains("undeclared"));
    }

    #[test]
    fn a_truncated_library_is_compiled_again() {
        let scratch = Scratch::new("truncated");
        let compiler = Compiler::get().unwrap();
        let made = compiler.compile(&scratch.cache, &axpy()).unwrap();
        fs::write(&made.path, &made.content[..100]).unwrap();
        assert_eq!(compiler.load(&scratch.cache, &axpy()).unwrap().parameters().len(), 4);
        assert_eq!(compiler.compile(&scratch.cache, &axpy()).unwrap().origin, Origin::Found);
    }

    #[test]
    fn a_compiler_that_a_variable_names_must_run() {
        let with = |name: &'static str, value: &'static str| {
            Compiler::find(move |variable| (variable == name).then(|| value.to_owned()))
        };
        for name in ["TESSELLA_CC", "CC"] {
            let error = with(name, "no-such-compiler -O1").unwrap_err();
            let RuntimeError::NamedCompiler { variable, attempt } = &error else { panic!("{error}") };
            assert_eq!((*variable, attempt.reason.as_str()), (name, "not on the PATH"));
        }
        assert!(matches!(with("CC", "false"), Err(RuntimeError::NamedCompiler { .. })));
        assert_eq!(with("CC", "gcc -m64").unwrap().command(), "gcc -m64");
        assert_eq!(with("CC", " ").unwrap().command(), "gcc");
    }

    #[test]
    fn the_identity_of_a_cpu_is_its_first_processors_model_and_features() {
        let one = "processor\t: 0\nmodel name\t: X\ncpu MHz\t: 1000\nflags\t: avx avx2\n\n";
        let two = "processor\t: 0\nmodel name\t: X\ncpu MHz\t: 2000\nflags\t: avx avx2\n\nmodel name\t: Y\n";
        assert_eq!(identity_of(one), identity_of(two));
        assert_ne!(identity_of(one), identity_of(&one.replace("avx2", "sse")));
    }

    #[test]
    fn a_file_that_is_no_library_does_not_load() {
        let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"));
        // SAFETY: it is no library, so nothing of it runs.
        let error = unsafe { LoadedFunction::open(&path, "f", &[]) }.unwrap_err();
        assert!(matches!(error, RuntimeError::Load { .. }), "{error}");
    }
}

//! Programs in slices, on the CPU: each slice gets arrays in which everything but its own part is poisoned, and gives back the
//! columns that it writes, as the runtime does with the memory of a GPU. Together they compute what the whole does.

use std::fs;
use tessella::abi::values::call;
use tessella::file::{FileOptions, ScheduleSource, Sources};
use tessella::request::{Backend, Options};
use tessella::run::{RunOptions, inputs};
use tessella::unit::Unit;
use tessella::{results, session, slices};
use tessella_frontend::typed::tree::Type;
use tessella_interpreter::{Array, Value};
use tessella_polyhedral::algorithm::{Argument, ArrayKind};
use tessella_polyhedral::slices::Part;
use tessella_runtime::cuda::{Nvrtc, Target};
use tessella_scalar::{Constant, ScalarType};
use tessella_tests::{examples, julia_files, report, root};

fn sources() -> Sources {
    let text = fs::read_to_string(root().join("tests/gpu/slices.jl")).unwrap();
    // Without the module around them, and the functions that make inputs.
    let from = text.find("@tessella").unwrap();
    let text = &text[from..text.find("\nvalue(").unwrap()];
    let options =
        FileOptions { name: "slices.jl".into(), function: None, types: vec![], schedule: ScheduleSource::InFile };
    Sources::read(text, &options).unwrap()
}

/// The columns of an array from `first` to `last`, from 1, as positions of elements in memory.
fn columns(array: &Array, first: i64, last: i64) -> std::ops::Range<usize> {
    let count = *array.extents().last().expect("an axis") as i64;
    let size = array.len() / (count.max(1) as usize);
    let from = first.clamp(1, count + 1) - 1;
    from as usize * size..last.clamp(from, count) as usize * size
}

/// What no program makes of these inputs.
fn poison(ty: ScalarType) -> Constant {
    match ty {
        ScalarType::F32 => Constant::f32(f32::NAN),
        ScalarType::F64 => Constant::f64(f64::NAN),
        other => Constant::integer(other, 99),
    }
}

struct Program<'a> {
    unit: &'a Unit<'a>,
    types: Vec<Type>,
    results: Vec<Type>,
    whole: Box<dyn tessella::request::Program>,
    slice: Box<dyn tessella::request::Program>,
    parts: Vec<Part>,
    /// By argument, and then by array that is given back: the part, if a slice needs no more.
    places: Vec<Option<Part>>,
}

impl Program<'_> {
    fn new<'a>(unit: &'a Unit<'a>) -> (Program<'a>, tessella::unit::Built) {
        let built = unit.build(Backend::C).map_err(|errors| format!("{errors:?}")).unwrap();
        let slice = slices::build(unit, Backend::C).map_err(|errors| format!("{errors:?}")).unwrap();
        let load = |built: &tessella::unit::Built| {
            session::load(unit, built, Backend::C, &Options::default()).map_err(|_| "no C compiler").unwrap()
        };
        let algorithm = built.analysed.verified.source();
        let part = |id| slice.parts.iter().find(|part| part.array == id).copied();
        let mut places: Vec<Option<Part>> = vec![];
        for argument in &algorithm.arguments {
            places.push(match argument {
                Argument::Array(id) => part(*id),
                Argument::Scalar(_) => None,
            });
        }
        let given = algorithm.result.places().into_iter().filter(|id| algorithm.array(*id).kind == ArrayKind::Returned);
        places.extend(given.map(part));
        let types = unit.function.arguments.iter().map(|id| unit.function.locals[id.0 as usize].ty).collect();
        let program = Program {
            unit,
            types,
            results: results::types(&unit.function),
            whole: load(&built),
            slice: load(&slice.built),
            parts: slice.parts,
            places,
        };
        (program, built)
    }

    /// All results of the whole: arguments, and arrays that are given back.
    fn whole(&self, inputs: &[Value]) -> Vec<Value> {
        let mut values = inputs.to_vec();
        let (code, given) = call(&*self.whole, &self.types, &mut values, &self.results);
        assert_eq!(code, 0, "{}", self.unit.function.name);
        values.extend(given);
        values
    }

    /// The same in slices of so many iterations.
    fn in_slices(&self, inputs: &[Value], expected: &[Value], length: i64) -> Vec<Value> {
        let mut all = inputs.to_vec();
        // Memory for arrays that are given back has anything in it.
        for value in &expected[inputs.len()..] {
            all.push(poisoned(value, &[]));
        }
        let count = |part: &Part| {
            let at = self.places.iter().position(|it| *it == Some(*part)).expect("an argument or a result");
            match &all[at] {
                Value::Array(array) => *array.extents().last().expect("an axis") as i64,
                Value::Scalar(_) => unreachable!("a part is of an array"),
            }
        };
        let first = self.parts.iter().map(|part| 1 - part.accessed.1).min().unwrap();
        let last = self.parts.iter().map(|part| count(part) - part.accessed.0).max().unwrap();
        let mut types = self.types.clone();
        types.extend([Type::Scalar(ScalarType::I64); 2]);
        let mut from = first;
        while from <= last {
            let to = (from + length - 1).min(last);
            let mut values = vec![];
            for (value, part) in all.iter().take(inputs.len()).zip(&self.places) {
                values.push(match (value, part) {
                    (Value::Array(array), Some(part)) => {
                        poisoned(value, &[columns(array, from + part.before, to + part.after)])
                    }
                    (Value::Array(_) | Value::Scalar(_), _) => value.clone(),
                });
            }
            values.extend([from, to].map(|bound| Value::Scalar(Constant::i64(bound))));
            let (code, given) = call(&*self.slice, &types, &mut values, &self.results);
            assert_eq!(code, 0, "{}, iterations {from} to {to}", self.unit.function.name);
            values.truncate(inputs.len());
            values.extend(given);
            for ((value, new), part) in all.iter_mut().zip(&values).zip(&self.places) {
                if let (Value::Array(array), Value::Array(new), Some(Part { written: Some(distance), .. })) =
                    (value, new, part)
                {
                    for at in columns(array, from + distance, to + distance) {
                        array.set(at, new.get(at));
                    }
                }
            }
            from = to + 1;
        }
        all
    }
}

/// The array with poison everywhere but at these positions.
fn poisoned(value: &Value, kept: &[std::ops::Range<usize>]) -> Value {
    let Value::Array(array) = value else { return value.clone() };
    let mut result = array.clone();
    for at in (0..array.len()).filter(|at| !kept.iter().any(|kept| kept.contains(at))) {
        result.set(at, poison(array.element()));
    }
    Value::Array(result)
}

#[test]
fn slices_together_compute_what_the_whole_does_and_use_only_their_parts() {
    let sources = sources();
    let mut failures = vec![];
    assert_eq!(sources.functions().len(), 12);
    for item in sources.functions() {
        let unit = sources.unit(item, &[]).map_err(|errors| sources.show(&errors)).unwrap();
        let (program, built) = Program::new(&unit);
        let names: Vec<String> =
            built.analysed.verified.source().params.iter().map(|param| param.name.clone()).collect();
        for side in [0, 1, 2, 13] {
            let mut sizes: Vec<(String, i64)> = names.iter().map(|name| (name.clone(), side)).collect();
            if unit.function.name == "shifted!" {
                sizes = vec![("n".into(), side)];
            }
            let options = RunOptions {
                sizes,
                values: vec![],
                seed: 5,
                repeat: 1,
                compare: false,
                profile: false,
                chunked: false,
            };
            let Ok(inputs) = inputs(&unit, &built, &options) else { panic!("no inputs for `{}`", unit.function.name) };
            let expected = program.whole(&inputs);
            for length in [1, 2, 5, 100] {
                if program.in_slices(&inputs, &expected, length) != expected {
                    failures.push(format!("{} of {side} in slices of {length}", unit.function.name));
                }
            }
        }
    }
    report(failures);
}

/// Whatever of the examples may run in slices computes the same in slices; some must.
#[test]
fn examples_in_slices_compute_what_they_do_as_a_whole() {
    let mut failures = vec![];
    let mut sliced = vec![];
    let folders = ["tests/polybench", "examples/images", "examples/rodinia", "examples/vectors"];
    let more = folders.iter().flat_map(|folder| julia_files(&root().join(folder)));
    for path in examples().into_iter().chain(more) {
        let text = fs::read_to_string(&path).unwrap();
        let options =
            FileOptions { name: "example.jl".into(), function: None, types: vec![], schedule: ScheduleSource::InFile };
        if !text.lines().any(|line| line.starts_with("@tessella")) {
            continue;
        }
        let sources = Sources::read(&text, &options).unwrap();
        for item in sources.functions() {
            let unit = sources.unit(item, &[]).map_err(|errors| sources.show(&errors)).unwrap();
            if slices::build(&unit, Backend::C).is_err() {
                continue;
            }
            let (program, built) = Program::new(&unit);
            let params = &built.analysed.verified.source().params;
            let sizes = params.iter().map(|param| (param.name.clone(), 7)).collect();
            let options = RunOptions {
                sizes,
                values: vec![],
                seed: 5,
                repeat: 1,
                compare: false,
                profile: false,
                chunked: false,
            };
            let Ok(inputs) = inputs(&unit, &built, &options) else { continue };
            let expected = program.whole(&inputs);
            sliced.push(unit.function.name.clone());
            for length in [1, 3] {
                if program.in_slices(&inputs, &expected, length) != expected {
                    failures.push(format!("{} in slices of {length}", unit.function.name));
                }
            }
        }
    }
    println!("in slices: {}", sliced.join(", "));
    report(failures);
    assert!(sliced.iter().any(|name| name == "gemm!"), "{sliced:?}");
}

#[test]
fn nvrtc_compiles_the_kernels_of_slices() {
    let nvrtc = match Nvrtc::get() {
        Ok(nvrtc) => nvrtc,
        Err(error) => return println!("skipped: {error}"),
    };
    let sources = sources();
    let mut failures = vec![];
    for item in sources.functions() {
        let unit = sources.unit(item, &[]).map_err(|errors| sources.show(&errors)).unwrap();
        let slice = slices::build(&unit, Backend::Cuda).map_err(|errors| sources.show(&errors)).unwrap();
        let source = slice.built.cuda(&unit).map_err(|errors| sources.show(&errors)).unwrap();
        assert!(!source.plan.kernels.is_empty(), "`{}` has no kernel", unit.function.name);
        if let Err(error) = nvrtc.compile(&source.kernels, "slice.cu", Target::Cubin(90), &["-fmad=false"]) {
            failures.push(format!("{}: {error}", unit.function.name));
        }
    }
    report(failures);
}

//! Searches for computed subscripts that are outside, which run where the arrays are: on the host or on the threads of a GPU. Both tell the same first check that fails; on a GPU an interpreter looks for races, too.

use std::fs;
use tessella::file::{FileOptions, ScheduleSource, Sources};
use tessella::request::Backend;
use tessella::searches;
use tessella_codegen::{Input, generate};
use tessella_frontend::typed::tree::Type as ArgumentType;
use tessella_interpreter::scheduled::{self, Completion};
use tessella_interpreter::{Array, Value};
use tessella_polyhedral::algorithm::Scan;
use tessella_runtime::cuda::{Nvrtc, Target};
use tessella_scalar::{Constant, ScalarType};
use tessella_tests::{report, root};

/// Numbers that look random, the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

/// Arguments with `size` elements along each axis. Integers lie between 1 and `most`, but for about one in `spoiled` of them.
fn arguments(types: &[ArgumentType], size: u64, most: u64, spoiled: u64, numbers: &mut Numbers) -> Vec<Value> {
    let mut integer = |ty: ScalarType| {
        let right = 1 + numbers.below(most) as i128;
        let value = if numbers.below(spoiled) == 0 { most as i128 + 3 } else { right };
        if ty.is_float() { Constant::f64(value as f64 / 4.0) } else { Constant::integer(ty, value) }
    };
    let mut value = |ty: ScalarType| match ty {
        ScalarType::F32 => Constant::f32(1.5),
        other => integer(other),
    };
    types
        .iter()
        .map(|ty| match ty {
            ArgumentType::Scalar(ty) => Value::Scalar(value(*ty)),
            ArgumentType::Array { element, rank, .. } => {
                let sizes = vec![size; *rank as usize];
                Value::Array(Array::from_fn(*element, sizes, |_| value(*element)).unwrap())
            }
        })
        .collect()
}

#[test]
fn searches_on_a_gpu_find_what_the_host_finds() {
    let nvrtc = Nvrtc::get().ok();
    let folder = root().join("tests/searches");
    let (mut failures, mut seen) = (vec![], [0, 0]);
    for path in tessella_tests::julia_files(&folder) {
        let name = path.file_stem().unwrap().to_str().unwrap().to_string();
        let text = fs::read_to_string(&path).unwrap();
        let options =
            FileOptions { name: name.clone(), function: None, types: vec![], schedule: ScheduleSource::InFile };
        let sources = Sources::read(&text, &options).unwrap_or_else(|errors| panic!("{errors}"));
        for item in sources.functions() {
            let name = format!("{name}: {}", item.name.value);
            let unit = sources.unit(item, &[]).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
            let built = unit.build(Backend::Cuda).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
            let Some(host) = built.analysed.verified.scan() else { panic!("{name} has nothing to look at") };
            let checks = built.analysed.verified.algorithm().scan.as_ref().unwrap().checks.len();
            let Some(device) = searches::build(&unit, &built) else {
                failures.push(format!("{name}: no threads share its searches"));
                continue;
            };
            let source = device.cuda(&unit).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
            if let Some(nvrtc) = nvrtc
                && let Err(error) = nvrtc.compile(&source.kernels, "searches.cu", Target::Cubin(90), &["-fmad=false"])
            {
                failures.push(format!("{name}: {error}"));
            }
            let types: Vec<ArgumentType> =
                unit.function.arguments.iter().map(|id| unit.function.locals[id.0 as usize].ty).collect();
            let (of_host, of_device) = (Input::from(host), Input::from(&device.analysed.verified));
            let loops = [generate(&of_host).unwrap(), generate(&of_device).unwrap()];
            let mut numbers = Numbers(7);
            for (at, (size, most, spoiled)) in
                [(0, 1, 5), (1, 1, 3), (7, 6, 1000), (33, 30, 400), (33, 40, 9), (70, 69, 2000), (70, 69, 30)]
                    .into_iter()
                    .cycle()
                    .take(42)
                    .enumerate()
            {
                let given = arguments(&types, size, most, spoiled, &mut numbers);
                let expected = match scheduled::run(&of_host, &loops[0], &mut given.clone(), at as u64) {
                    Ok(Completion::Done(results)) => match results.as_slice() {
                        [Value::Scalar(status)] => status.bits as i32,
                        _ => panic!("{name}: a scan has one result"),
                    },
                    other => panic!("{name}: {other:?}"),
                };
                let mark = Array::from_fn(ScalarType::I32, vec![1], |_| Constant::integer(ScalarType::I32, 0)).unwrap();
                let mut marked: Vec<Value> = given.into_iter().chain([Value::Array(mark)]).collect();
                match scheduled::run(&of_device, &loops[1], &mut marked, at as u64) {
                    Ok(Completion::Done(_)) => {}
                    other => {
                        failures.push(format!("{name}, size {size}: {other:?}"));
                        continue;
                    }
                }
                let Some(Value::Array(mark)) = marked.last() else { panic!("{name}: the mark is the last argument") };
                let found = Scan::found(checks, mark.get(0).bits as i32);
                seen[usize::from(expected != 0)] += 1;
                if found != expected {
                    failures.push(format!("{name}, size {size}: {found} and not {expected}"));
                }
            }
        }
    }
    // Both kinds were there.
    assert!(seen.iter().all(|&count| count > 40), "{seen:?}");
    report(failures);
}

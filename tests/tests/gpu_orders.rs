//! The orders that Tessella chooses for a GPU: `gpu_orders/NAME.jl`. Each is recorded, executed as its loops stand by an
//! interpreter that sees races, missing barriers and elements that nothing stored, for sizes with whole tiles and partial
//! ones, compared with the source bit for bit, and compiled.

use std::collections::BTreeMap;
use std::fs;
use tessella::file::{FileOptions, ScheduleSource, Sources};
use tessella::request::{Backend, TextKind};
use tessella_codegen::{Input, generate};
use tessella_frontend::typed::tree::Type as ArgumentType;
use tessella_interpreter::scheduled::{self, Completion};
use tessella_interpreter::{Array, Value, run_within};
use tessella_runtime::cuda::{Nvrtc, Target};
use tessella_scalar::{Constant, ScalarType};
use tessella_tests::{golden, julia_files, report, root};

/// Sizes by their letters.
type Sizes = BTreeMap<String, u64>;

fn options(name: &str) -> FileOptions {
    FileOptions { name: format!("{name}.jl"), function: None, types: vec![], schedule: ScheduleSource::InFile }
}

/// The lines `#! word ...` of a program, after the word.
fn lines<'a>(text: &'a str, word: &str) -> Vec<&'a str> {
    let start = format!("#! {word} ");
    text.lines().filter_map(|line| line.strip_prefix(start.as_str())).collect()
}

fn pairs(line: &str) -> Vec<(&str, &str)> {
    line.split(' ').map(|pair| pair.split_once('=').expect("pairs are NAME=VALUE")).collect()
}

/// Arguments whose extents are named after `sizes`, with values that no two orders of addition sum up alike. Those of a line
/// `climb` are offsets of rows with one or two elements, those of a line `within` lie between 1 and a size.
fn arguments(text: &str, order: &[(String, ArgumentType)], of: &Sizes) -> Vec<Value> {
    let named: BTreeMap<&str, &str> = lines(text, "sizes").into_iter().flat_map(pairs).collect();
    let climbing: Vec<&str> = lines(text, "climb").into_iter().flat_map(|line| line.split(' ')).collect();
    let limited: BTreeMap<&str, &str> = lines(text, "within").into_iter().flat_map(pairs).collect();
    let mut made = vec![];
    for (at, (name, ty)) in order.iter().enumerate() {
        let values = named[name.as_str()].split(',').map(|size| size.parse().unwrap_or_else(|_| of[size]));
        let values: Vec<u64> = values.collect();
        made.push(match ty {
            ArgumentType::Scalar(ScalarType::F32) => Value::Scalar(Constant::f32(values[0] as f32 / 8.0)),
            ArgumentType::Scalar(ScalarType::F64) => Value::Scalar(Constant::f64(values[0] as f64 / 8.0)),
            ArgumentType::Scalar(_) => Value::Scalar(Constant::i64(values[0] as i64)),
            ArgumentType::Array { element, .. } => {
                let most = limited.get(name.as_str()).map(|size| of[*size]);
                let value = |position: usize| {
                    let integer = |value: usize| Constant::integer(*element, value as i128);
                    if climbing.contains(&name.as_str()) {
                        return integer(1 + position * 3 / 2);
                    }
                    if let Some(most) = most {
                        return integer(1 + (7 * position + 3) % most as usize);
                    }
                    let value = ((position * (2 * at + 3) + at) % 101) as f64 / 7.0 - 5.3;
                    match element {
                        ScalarType::F32 => Constant::f32(value as f32),
                        ScalarType::U8 => integer((7 * position + position / 11) % 256),
                        ScalarType::I16 | ScalarType::U32 => integer(1 + (7 * position + position / 11) % 250),
                        ScalarType::I32 | ScalarType::I64 => Constant::integer(*element, (value * 7.0) as i128),
                        _ => Constant::f64(value),
                    }
                };
                Value::Array(Array::from_fn(*element, values, value).unwrap())
            }
        });
    }
    made
}

#[test]
fn chosen_orders_compute_what_the_source_does() {
    let nvrtc = Nvrtc::get().ok();
    let folder = root().join("tests/gpu_orders");
    let mut failures = vec![];
    for path in julia_files(&folder) {
        let name = path.file_stem().unwrap().to_str().unwrap().to_string();
        let text = fs::read_to_string(&path).unwrap();
        let sources = Sources::read(&text, &options(&name)).unwrap();
        let [item] = sources.functions() else { panic!("{name}: not one function") };
        let mut unit = sources.unit(item, &[]).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
        // A GPU with so few that small matrices get the tiles of large ones.
        if let [count] = lines(&text, "multiprocessors")[..] {
            unit.machine.multiprocessors = count.parse().unwrap();
        }
        let built = match unit.build(Backend::Cuda) {
            Ok(built) => built,
            Err(errors) => {
                failures.push(format!("{name} was refused:\n{}", sources.show(&errors)));
                continue;
            }
        };
        match built.text(&unit, Backend::Cuda, TextKind::Schedule) {
            Ok(printed) => failures.extend(golden(&folder.join(format!("{name}.schedule.txt")), &printed).err()),
            Err(errors) => failures.push(sources.show(&errors)),
        }
        let source = built.cuda(&unit).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
        if let Some(nvrtc) = nvrtc
            && let Err(error) =
                nvrtc.compile(&source.kernels, &format!("{name}.cu"), Target::Cubin(90), &["-fmad=false"])
        {
            failures.push(format!("{name}: {error}"));
        }
        let input = Input::from(&built.analysed.verified);
        let loops = generate(&input).unwrap_or_else(|error| panic!("{name}: {error}"));
        let locals = unit.function.arguments.iter().map(|id| &unit.function.locals[id.0 as usize]);
        let order: Vec<_> = locals.map(|local| (local.name.clone(), local.ty)).collect();
        let runs = lines(&text, "run");
        assert!(!runs.is_empty(), "{name} has no line `#! run n=1`");
        for (seed, line) in runs.into_iter().enumerate() {
            let of: Sizes =
                pairs(line).into_iter().map(|(name, size)| (name.to_string(), size.parse().unwrap())).collect();
            let mut expected = arguments(&text, &order, &of);
            let mut actual = expected.clone();
            let outcome = run_within(500_000_000, &unit.function, &mut expected);
            match (outcome, scheduled::run(&input, &loops, &mut actual, seed as u64)) {
                (Ok(_), Ok(Completion::Done(_))) if actual == expected => {}
                (Ok(_), Ok(Completion::Done(_))) => failures.push(format!("{name}, {line}: another result")),
                (outcome, done) => failures.push(format!("{name}, {line}: {outcome:?} and {done:?}")),
            }
        }
    }
    report(failures);
}

#[test]
fn a_chosen_order_can_be_asked_for_by_its_commands() {
    let mut failures = vec![];
    for path in julia_files(&root().join("tests/gpu_orders")) {
        let name = path.file_stem().unwrap().to_str().unwrap().to_string();
        let text = fs::read_to_string(&path).unwrap();
        let text_of =
            |text: &str, kind: TextKind| tessella::file::transpile(text, &options(&name), Backend::Cuda, kind);
        let printed = text_of(&text, TextKind::Schedule);
        let chosen = text_of(&text, TextKind::Cuda);
        let asked =
            printed.map(|schedule| format!("{text}\n{schedule}")).and_then(|text| text_of(&text, TextKind::Cuda));
        if chosen != asked {
            failures.push(format!("{name}: the commands give another program, or {:?}", asked.err()));
        }
    }
    report(failures);
}

#[test]
fn what_kernels_leave_of_an_array_that_they_overwrite_neither_comes_in_nor_goes_back() {
    let text = fs::read_to_string(root().join("tests/gpu_orders/written_columns.jl")).unwrap();
    let cuda = |text: &str| {
        let options = options("written_columns");
        tessella::file::transpile(text, &options, Backend::Cuda, TextKind::Cuda).unwrap()
    };
    let printed = cuda(&text);
    for (array, columns) in [("A", "n - 9"), ("B", "n")] {
        assert!(!printed.contains(&format!("copy_in({array}")), "{printed}");
        let both = format!("{array}, {array}_1, {array}_2, {array}_device.at, {array}_1, {array}_2");
        let call = format!("tessella_copy_box({both}, m, {columns}, 1, cudaMemcpyDeviceToHost, tessella_out)");
        assert!(printed.contains(&format!("\n    TESSELLA_TRY({call});\n")), "{call} is not in\n{printed}");
    }
    assert!(printed.contains("\n    TESSELLA_TRY(C_device.copy_in(C, tessella_in));\n"), "{printed}");
    // A copy back that is asked for may come before all is written.
    let asked = "
@tessella function each_step!(B::Matrix{Float64}, C::Matrix{Float64}, steps::Int64)
    m, n = size(C)
    for t in 1:steps, j in 1:n, i in 1:m
        B[i, j] = C[i, j] + t
    end
end

@schedule each_step! begin
    tile(S0, (j, i), (8, 32))
    gpu(S0, (j0, i0), (j1, i1))
    copy_out(B, t)
end
";
    let printed = cuda(asked);
    assert!(printed.contains("\n    TESSELLA_TRY(B_device.copy_in(B));\n"), "{printed}");
    let printed = cuda(&asked.replace("    copy_out(B, t)\n", ""));
    assert!(!printed.contains("copy_in(B"), "{printed}");
    let call = "tessella_copy_box(B, B_1, B_2, B_device.at, B_1, B_2, m, n, 1, cudaMemcpyDeviceToHost)";
    let copy = format!("    if (steps >= 1) {{\n        TESSELLA_TRY({call});\n    }}\n");
    assert!(printed.contains(&copy), "{copy}is not in\n{printed}");
}

#[test]
fn weights_of_a_known_size_lie_in_constant_memory() {
    let text = fs::read_to_string(root().join("tests/gpu_orders/small_weights.jl")).unwrap();
    let made = |text: &str, kind: TextKind| {
        tessella::file::transpile(text, &options("small_weights"), Backend::Cuda, kind).unwrap()
    };
    let printed = made(&text, TextKind::Cuda);
    let place = "#define weights(i, j) weights_constant[(i) - 1 + 3 * ((j) - 1)]\n";
    for part in ["__constant__ float weights_constant[9];", place] {
        assert!(printed.contains(part), "{part} is not in\n{printed}");
    }
    let told = "\nConstant memory: small arrays that are only read, one element at a time by all threads of a block\n  \
                weights: never has more than 9 elements\n";
    let explained = made(&text, TextKind::Explain);
    assert!(explained.contains(told), "{told}is not in\n{explained}");
    // Threads read the taps by their own index.
    assert!(!printed.contains("taps_constant"), "{printed}");
    // Nothing says how many weights there may be: those that are read lie there as densely as before.
    let unknown = text.replace("    @assert size(weights) == (3, 3)\n", "");
    let printed = made(&unknown, TextKind::Cuda);
    let copy =
        "tessella_copy_box(tessella_symbol, 3, 3, weights, weights_1, weights_2, 3, 3, 1, cudaMemcpyHostToDevice)";
    for part in ["__constant__ float weights_constant[9];", place, "(void **)&tessella_symbol, weights_constant", copy]
    {
        assert!(printed.contains(part), "{part} is not in\n{printed}");
    }
    assert!(made(&unknown, TextKind::Explain).contains("\n  weights: no more than 9 elements are read\n"));
    // Of these the sizes of an argument tell how many are read.
    let more = unknown.replace("for q in 1:3, p in 1:3", "for q in 1:size(weights, 2), p in 1:3");
    assert!(!made(&more, TextKind::Cuda).contains("__constant__"));
}

/// A copy to registers takes whole tiles, also what no statement reads.
#[test]
fn constant_memory_has_room_for_what_copies_of_promotions_take() {
    let text = "
@tessella function copied!(y::Vector{Float32}, x::Vector{Float32}, w::Vector{Float32})
    n = length(x)
    for i in 1:n
        for q in 1:5
            @comp S y[i] += w[q] * x[i]
        end
    end
end
@schedule copied! begin
    split(S, q, 4)
    auto()
    cache_register(w, S, q0)
end
";
    let cuda = |text: &str| {
        tessella::file::transpile(text, &options("copied_weights"), Backend::Cuda, TextKind::Cuda).unwrap()
    };
    assert!(!cuda(text).contains("__constant__"));
    let printed = cuda(&text.replace("    cache_register", "    constant(w)\n    cache_register"));
    assert!(printed.contains("__constant__ float w_constant[8];"), "{printed}");
}

#[test]
fn what_only_some_sizes_use_is_allocated_for_these() {
    let text = fs::read_to_string(root().join("tests/gpu_orders/nearest_center.jl")).unwrap();
    let cuda = TextKind::Cuda;
    let printed = tessella::file::transpile(&text, &options("nearest_center"), Backend::Cuda, cuda).unwrap();
    let bytes = "tessella_bytes(tessella_bytes(sizeof(double), 8 * d >= k + 113 ? n : 0), k)";
    let call = format!("    TESSELLA_TRY(s_device.allocate({bytes}));\n");
    assert!(printed.contains(&call), "{call}is not in\n{printed}");
    // The pieces for other sizes have a variable of their own.
    assert!(!printed.contains("s_piece_device"), "{printed}");
}

#[test]
fn explain_tells_of_a_nest_that_commands_leave_to_one_thread() {
    let text = "
@tessella function two!(B::Matrix{Float32}, c::Vector{Float32})
    m, n = size(B)
    for j in 1:n, i in 1:m
        B[i, j] = 2f0 * B[i, j]
    end
    for j in 1:length(c)
        c[j] = 3f0 * c[j]
    end
end

@schedule two! begin
    tile(S0, (j, i), (8, 32))
    gpu(S0, (j0, i0), (j1, i1))
end
";
    let explained =
        |text: &str| tessella::file::transpile(text, &options("two"), Backend::Cuda, TextKind::Explain).unwrap();
    let told = "in order, by one thread of the GPU; could run in parallel: `split(S1, j, 256); gpu(S1, j0, j1)`, or `auto()` for";
    let alone = explained(text);
    assert!(alone.contains(told), "{told} is not in\n{alone}");
    // What it names is legal, and enough.
    for commands in ["split(S1, j, 256)\n    gpu(S1, j0, j1)", "auto()"] {
        let more = explained(&text.replace("(j1, i1))\n", &format!("(j1, i1))\n    {commands}\n")));
        assert!(!more.contains("by one thread of the GPU"), "{more}");
    }
}

#[test]
fn lanes_look_up_a_place_for_each_statement_that_has_an_iterator_of_its_own() {
    let text = "
@tessella function apart!(f::Vector{Float64}, g::Vector{Float64}, from::Vector{Int}, k::Vector{Float64}, m::Int)
    for e in 1:m
        @comp S f[from[e]] += k[e]
    end
    for e in 3:m+2
        @comp R g[from[e]] -= 2k[e]
    end
end

@schedule apart! begin
    owners(S, 64)
    owners(R, 64)
    @block x for o0 = (S = fld(owner, 4), R = fld(owner, 4))
        @thread y for o1 = (S = mod(owner, 4), R = mod(owner, 4))
            for t = (S = e + 1, R = e - 1)
                S
                R
            end
        end
    end
end
";
    let printed = tessella::file::transpile(text, &options("apart"), Backend::Cuda, TextKind::Cuda).unwrap();
    // Both call it `e`, and it is another one.
    for (iterator, place) in [("t - 1", "tessella_held_0"), ("t + 1", "tessella_held_1")] {
        let start = printed.find(&format!(" e = {iterator};")).unwrap_or_else(|| panic!("no {iterator} in\n{printed}"));
        let looked_up = printed[start..].find(" = from(e);").map(|at| &printed[start..start + at]);
        assert!(looked_up.is_some_and(|before| before.contains(place)), "{place} is not looked up in\n{printed}");
    }
    assert!(printed.contains("g(tessella_held_1[tessella_part]) = g(tessella_held_1[tessella_part])"), "{printed}");
}

#[test]
fn a_loop_that_data_end_stays_one_loop_around_what_owners_do() {
    let text = "
@tessella function until!(y::Vector{Float64}, place::Vector{Int}, x::Vector{Float64}, tol::Float64)
    err = 1.0
    while err > tol
        for p in eachindex(place)
            y[place[p]] += x[p]
        end
        err = err * 0.5
    end
end
";
    let printed = tessella::file::transpile(text, &options("until"), Backend::Cuda, TextKind::Schedule).unwrap();
    let turn = printed.find("for turn").unwrap_or_else(|| panic!("{printed}"));
    let owner = printed.find("  for owner0").unwrap_or_else(|| panic!("{printed}"));
    assert!(turn < owner, "{printed}");
}

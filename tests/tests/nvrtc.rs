//! NVRTC compiles every kernel that is generated, without a warning, on a machine with or without a GPU.

use std::fs;
use tessella::file::{FileOptions, ScheduleSource, Sources};
use tessella::request::Backend;
use tessella_runtime::cuda::{Nvrtc, Target};
use tessella_tests::{examples, julia_files, report, root};

/// Compute capability 9.0: Hopper.
const TARGET: Target = Target::Cubin(90);

#[test]
fn nvrtc_compiles_all_generated_kernels() {
    let nvrtc = match Nvrtc::get() {
        Ok(nvrtc) => nvrtc,
        Err(error) => {
            println!("skipped: {error}");
            return;
        }
    };
    let mut failures = vec![];
    let irregular = ["arrays_gathers", "control_sparse"].map(|name| root().join(format!("tests/language/{name}.jl")));
    let folders = ["tests/polybench", "examples/images", "examples/rodinia", "examples/vectors"];
    let more = folders.iter().flat_map(|folder| julia_files(&root().join(folder)));
    for path in examples().into_iter().chain(more).chain(irregular) {
        let text = fs::read_to_string(&path).unwrap();
        if !text.lines().any(|line| line.starts_with("@tessella")) {
            continue;
        }
        let name = path.file_name().unwrap().to_str().unwrap();
        failures.extend(refusals(nvrtc, name, &text));
    }
    report(failures);
}

/// Blocks whose number has no bound by the rational numbers that its computations leave it.
#[test]
fn nvrtc_compiles_overlapped_tiles() {
    let name = |name: &str| (name.to_string(), root().join(format!("tests/oracle/regressions/{name}")));
    let all = ["unbounded_steps_in_overlapped_tiles.jl", "unbounded_tiles_in_overlapped_tiles.jl"].map(name);
    match Nvrtc::get() {
        Ok(nvrtc) => {
            let text = |path| fs::read_to_string(path).unwrap();
            report(all.into_iter().flat_map(|(name, path)| refusals(nvrtc, &name, &text(path))).collect());
        }
        Err(error) => println!("skipped: {error}"),
    }
}

const COMPLEX: &str = "
@tessella function quotients!(C::Vector{ComplexF64}, A::Vector{ComplexF64}, B::Vector{ComplexF64})
    for i in eachindex(C, A, B)
        C[i] = A[i] / B[i] + inv(B[i])
    end
end

@tessella function narrow_quotients!(C::Matrix{ComplexF32}, A::Matrix{ComplexF32}, x::Float32)
    C .= A ./ (A .+ im) .- x ./ A
end

@tessella function through_an_array!(C::Vector{ComplexF64}, A::Vector{ComplexF64}, z::ComplexF64)
    B = similar(A)
    B .= conj.(A) .* z
    C .= B .* sum(A)
    return B
end
";

#[test]
fn nvrtc_compiles_kernels_of_complex_numbers() {
    match Nvrtc::get() {
        Ok(nvrtc) => report(refusals(nvrtc, "complex.jl", COMPLEX)),
        Err(error) => println!("skipped: {error}"),
    }
}

/// Tiles in shared memory of arrays whose axes change places.
#[test]
fn nvrtc_compiles_transposes() {
    let text = fs::read_to_string(root().join("tests/gpu/transposes.jl")).unwrap();
    let typed = |[space, complex]: [&str; 2]| {
        let with = |line: &str| {
            let array = if line.contains("complex_") { complex } else { space };
            line.replace("(B, A)", &format!("(B::{array}, A::{array})")) + "\n"
        };
        text.lines().map(with).collect::<String>()
    };
    let all = [["Array{Float32,3}", "Matrix{ComplexF32}"], ["Array{Float64,3}", "Matrix{ComplexF64}"]].map(typed);
    match Nvrtc::get() {
        Ok(nvrtc) => report(all.iter().flat_map(|text| refusals(nvrtc, "transposes.jl", text)).collect()),
        Err(error) => println!("skipped: {error}"),
    }
}

/// What there is to say against the kernels of a file's functions.
fn refusals(nvrtc: &Nvrtc, name: &str, text: &str) -> Vec<String> {
    let all = match kernels(name, text) {
        Ok(all) => all,
        Err(diagnostics) => return vec![format!("{name} was refused:\n{diagnostics}")],
    };
    let refusal = |(function, kernels): (String, String)| match nvrtc.compile(
        &kernels,
        &format!("{function}.cu"),
        TARGET,
        &["-fmad=false"],
    ) {
        Err(error) => Some(format!("{name}, {function}: {error}")),
        Ok(compiled) if compiled.log.trim().is_empty() => None,
        Ok(compiled) => Some(format!("{name}, {function}: {}", compiled.log)),
    };
    all.into_iter().filter_map(refusal).collect()
}

/// The functions of a file and their kernels' text.
fn kernels(name: &str, text: &str) -> Result<Vec<(String, String)>, String> {
    let options =
        FileOptions { name: name.to_string(), function: None, types: vec![], schedule: ScheduleSource::InFile };
    let sources = Sources::read(text, &options)?;
    let one = |item| {
        let unit = sources.unit(item, &[])?;
        let source = unit.build(Backend::Cuda)?.cuda(&unit)?;
        Ok((source.entry, source.kernels))
    };
    sources.functions().iter().map(|item| one(item).map_err(|errors: Vec<_>| sources.show(&errors))).collect()
}

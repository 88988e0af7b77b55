//! What an explanation is about: the function, the types of its arguments, and the machine.

use crate::unit::Unit;
use std::fmt::Write;
use tessella_frontend::typed::ArgumentType;
use tessella_frontend::typed::print::type_name;
use tessella_frontend::typed::tree::{Form, Type};
use tessella_polyhedral::layers::Target;
use tessella_polyhedral::machine::Machine;
use tessella_scalar::ScalarType;

/// The first lines of an explanation.
pub(crate) fn header(unit: &Unit<'_>, target: Target) -> String {
    let on = match target {
        Target::Cpu => "the CPU",
        Target::Gpu => "the GPU",
    };
    let mut text = format!("{} on {on}", unit.function.name);
    let mut types: Vec<(String, Vec<&str>)> = vec![];
    for argument in &unit.assumed {
        let ty = julia(argument.ty);
        match types.last_mut().filter(|last| last.0 == ty) {
            Some((_, names)) => names.push(&argument.name),
            None => types.push((ty, vec![&argument.name])),
        }
    }
    if !types.is_empty() {
        let types: Vec<String> = types.iter().map(|(ty, names)| format!("{}::{ty}", names.join(", "))).collect();
        let _ = write!(text, ", for {} (assumed; `--type` changes it)", types.join(", "));
    }
    format!("{text}\n{}\n", machine(target, &unit.machine))
}

/// A type as Julia prints it.
fn julia(ty: ArgumentType) -> String {
    let (ty, element): (Type, &dyn Fn(ScalarType) -> String) = match ty {
        ArgumentType::Real(ty) => (ty, &|element| element.to_string()),
        ArgumentType::Complex(ty) => (ty, &|half| match half {
            ScalarType::F64 => "ComplexF64".to_string(),
            ScalarType::F32 => "ComplexF32".to_string(),
            other => format!("Complex{{{other}}}"),
        }),
    };
    match ty {
        Type::Scalar(ty) => element(ty),
        Type::Array { element: of, rank: 1, form } if form == Form::default() => format!("Vector{{{}}}", element(of)),
        Type::Array { element: of, rank: 2, form } if form == Form::default() => format!("Matrix{{{}}}", element(of)),
        Type::Array { element: of, .. } => type_name(ty).replace(&of.to_string(), &element(of)),
    }
}

/// Whose caches and threads sizes are made for.
fn machine(target: Target, machine: &Machine) -> String {
    if target == Target::Gpu {
        return "Machine: an NVIDIA Hopper GPU (H100, H200) is assumed, whatever GPU is at hand".to_string();
    }
    let has = format!(
        "{} threads, caches of {} KiB and {} KiB for each core, SIMD registers of {} bytes",
        machine.threads,
        machine.l1_bytes >> 10,
        machine.l2_bytes >> 10,
        machine.vector_bytes
    );
    match *machine == Machine::GENERIC {
        true => format!(
            "Machine: {has}: a common one;\n  calls from Julia, `tessella run` and `tessella tune` take the one that they run on"
        ),
        false => format!("Machine: this one, with {has}"),
    }
}

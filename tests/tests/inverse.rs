//! Quotients by constants in CUDA's text, compiled for the host: the bits of divisions, for numbers of every kind.

use std::fs;
use std::process::Command;
use tessella::file::{FileOptions, ScheduleSource, Sources};
use tessella::request::Backend;

/// All exponents and signs with many mantissas, and all of the smallest numbers; `T`, `U`, `STEP` and `LAST` are the type, its bits,
/// and how they are gone through.
const MAIN: &str = r#"
int main() {
    unsigned long long different = 0;
    const auto look = [&](U bits) {
        T x, actual, expected = 0;
        memcpy(&x, &bits, sizeof x);
        actual = QUOTIENT(x);
        volatile T divisor = DIVISOR;
        expected = x / divisor;
        if (memcmp(&actual, &expected, sizeof x) != 0 && !(actual != actual && expected != expected) && different++ < 3)
            printf("%a / %a: %a, not %a\n", (double)x, (double)divisor, (double)actual, (double)expected);
    };
    U bits = 0;
    for (long k = 0; k < 4000000; k++, bits += STEP) look(bits);
    for (U bits = 0; bits < 500000; bits++) look(bits), look(bits | (U)1 << (8 * sizeof(U) - 1));
    return different != 0;
}
"#;

#[test]
fn quotients_by_constants_are_those_of_divisions() {
    if Command::new("c++").arg("--version").output().is_err() {
        println!("skipped: no C++ compiler");
        return;
    }
    let folder = std::env::temp_dir().join(format!("tessella-inverse-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    for (ty, divisor, declarations) in [
        ("Float32", "9f0", "typedef float T; typedef uint32_t U; const U STEP = 2654435769u;"),
        ("Float32", "10", "typedef float T; typedef uint32_t U; const U STEP = 2654435769u;"),
        ("Float32", "0.3f0", "typedef float T; typedef uint32_t U; const U STEP = 2654435769u;"),
        ("Float64", "9", "typedef double T; typedef uint64_t U; const U STEP = 11400714819323198485ull;"),
        ("Float64", "0.1", "typedef double T; typedef uint64_t U; const U STEP = 11400714819323198485ull;"),
    ] {
        let text = format!(
            "function f!(y::Vector{{{ty}}}, x::Vector{{{ty}}})\n    for i in 1:length(x)\n        y[i] = x[i] / {divisor}\n    end\nend\n"
        );
        let options =
            FileOptions { name: "f.jl".to_string(), function: None, types: vec![], schedule: ScheduleSource::InFile };
        let sources = Sources::read(&text, &options).unwrap();
        let unit = sources.unit(&sources.functions()[0], &[]).unwrap();
        let built = unit.build(Backend::Cuda).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
        let code = built.cuda(&unit).unwrap_or_else(|errors| panic!("{}", sources.show(&errors))).kernels;
        let start = code.find("static __host__ __device__ inline").filter(|_| code.contains("tessella_by_inverse"));
        let start = start.unwrap_or_else(|| panic!("x / {divisor} is a division:\n{code}"));
        let start = start + code[start..].find("tessella_by_inverse").unwrap();
        let start = code[..start].rfind("\nstatic").unwrap();
        let helper = &code[start..start + code[start..].find("\n}").unwrap() + 3];
        let call =
            code.lines().find(|it| it.contains("] = tessella_by_inverse") || it.contains(") = tessella_by_inverse"));
        let call = call.expect("it is called");
        let numbers = call.split_once("tessella_by_inverse").unwrap().1;
        let (name, operands) = numbers.split_once('(').unwrap();
        let numbers: Vec<&str> = operands.trim_end_matches(");").rsplitn(5, ", ").collect();
        let [least, low, high, constant, _] = numbers[..] else { panic!("{call}") };
        let file = folder.join("quotient.cpp");
        fs::write(
            &file,
            format!(
                "#include <math.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <string.h>\n#define __host__\n#define __device__\n\
                 {declarations}\n{helper}\n#define DIVISOR {constant}\n\
                 #define QUOTIENT(x) tessella_by_inverse{name}(x, {constant}, {high}, {low}, {least})\n{MAIN}"
            ),
        )
        .unwrap();
        let program = folder.join("quotient");
        let built =
            Command::new("c++").args(["-O2", "-ffp-contract=off", "-o"]).arg(&program).arg(&file).output().unwrap();
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        let run = Command::new(&program).output().unwrap();
        assert!(run.status.success(), "x / {divisor} in {ty}:\n{}", String::from_utf8_lossy(&run.stdout));
    }
    fs::remove_dir_all(&folder).unwrap();
}

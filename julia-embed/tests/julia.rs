//! Runs the example and the generated module with a real Julia, where there is one that jlrs can link with: the folder in
//! `JLRS_JULIA_DIR`, or the `julia` on the PATH, 1.10 or newer and with the package JlrsCore. Says *skipped* elsewhere.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of a Julia that can be used, or why there is none.
fn julia() -> Result<PathBuf, String> {
    let program = match std::env::var_os("JLRS_JULIA_DIR") {
        Some(folder) => Path::new(&folder).join("bin/julia"),
        None => PathBuf::from("julia"),
    };
    let told = |code: &str| {
        let output = Command::new(&program).args(["--startup-file=no", "-e", code]).output();
        let output = output.map_err(|error| format!("{} cannot be run: {error}", program.display()))?;
        Ok::<_, String>((output.status.success(), String::from_utf8_lossy(&output.stdout).trim().to_owned()))
    };
    let (_, version) = told("print(VERSION.major, ' ', VERSION.minor)")?;
    let numbers: Vec<u32> = version.split(' ').filter_map(|number| number.parse().ok()).collect();
    match numbers[..] {
        [major, minor] if (major, minor) >= (1, 10) => {}
        [major, minor] => {
            return Err(format!("jlrs needs Julia 1.10 or newer, and {} is {major}.{minor}", program.display()));
        }
        _ => return Err(format!("{} does not tell its version", program.display())),
    }
    if !told("using JlrsCore")?.0 {
        return Err("Julia's package JlrsCore is not installed".to_owned());
    }
    let folder = PathBuf::from(told("print(dirname(Sys.BINDIR))")?.1);
    if !folder.join("include/julia/julia.h").exists() {
        return Err(format!("{} has no include/julia/julia.h", folder.display()));
    }
    Ok(folder)
}

/// Runs a command to its end; panics with what it printed unless it succeeds.
fn succeed(command: &mut Command) {
    let output = command.output().expect("the command starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{command:?}\n{}{}", text(&output.stdout), text(&output.stderr));
}

#[test]
fn julia_agrees_with_what_is_called_through_jlrs() {
    let folder = match julia() {
        Ok(folder) => folder,
        Err(reason) => return println!("skipped: {reason}"),
    };
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let target = here.join("../target/julia-embed");
    let cargo = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO"));
        command.args(arguments).args(["--release", "-p", "tessella-julia-embed"]).current_dir(here.join(".."));
        command.env("CARGO_TARGET_DIR", &target).env("JLRS_JULIA_DIR", &folder).env("JLRS_CORE_NO_INSTALL", "1");
        command.env("LD_LIBRARY_PATH", folder.join("lib"));
        command
    };
    succeed(&mut cargo(&["run", "--features", "embed", "--example", "embed"]));
    succeed(&mut cargo(&["build", "--features", "module"]));
    let mut script = Command::new(folder.join("bin/julia"));
    script.arg("--startup-file=no").arg(here.join("tests/module.jl"));
    succeed(script.env("TESSELLA_EMBED_LIBRARY", target.join("release/libtessella_julia_embed.so")));
}

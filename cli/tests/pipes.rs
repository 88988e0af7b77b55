//! Whoever reads what the command prints may stop reading.

use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};

#[test]
fn a_reader_that_stops_ends_the_command_without_a_word() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut child = Command::new(env!("CARGO_BIN_EXE_tessella"))
        .args(["explain", "examples/gemm.jl"])
        .current_dir(root)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!((child.wait().unwrap().signal(), said.as_str()), (Some(13), ""));
}

/// As other tools have it, `-` is standard output, not a file of that name.
#[test]
fn a_dash_for_a_file_is_standard_output() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folder = std::env::temp_dir().join(format!("tessella-dash-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = root.join("examples/gemm.jl").canonicalize().unwrap();
    let printed = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tessella"));
        let done = command.arg("transpile").arg(&file).args(more).current_dir(&folder).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    };
    let plain = printed(&[]);
    assert!(plain.contains("gemm"), "{plain}");
    assert_eq!(printed(&["--output", "-"]), plain);
    assert!(std::fs::read_dir(&folder).unwrap().next().is_none());
    std::fs::remove_dir_all(&folder).unwrap();
}

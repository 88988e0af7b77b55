//! Does nothing; a package has build dependencies only where it has a build script.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}

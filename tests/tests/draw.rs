//! Drawings: `draw/NAME.jl` and the picture it becomes, `draw/NAME.svg`.
//!
//! A case says what to draw in comments: `#! size n=8 steps=3`, `#! dims i,j`, `#! fix k=2`, `#! space schedule`,
//! `#! order line`, `#! computation S`, `#! tiling`.

use std::fs;
use tessella::draw::Drawing;
use tessella::file::{self, FileOptions, ScheduleSource};
use tessella::request::{Backend, DrawOptions};
use tessella_tests::{draw_options, golden, julia_files, report, root};

fn options(name: &str) -> FileOptions {
    FileOptions { name: name.to_string(), function: None, types: vec![], schedule: ScheduleSource::InFile }
}

#[test]
fn drawings_look_as_recorded() {
    let mut failures = vec![];
    for path in julia_files(&root().join("tests/draw")) {
        let text = fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        let draw = draw_options(&text).unwrap_or_default();
        let drawn = file::draw(&text, &options(name), &draw, Backend::C);
        match drawn {
            Ok(drawing) => failures.extend(golden(&path.with_extension("svg"), &drawing.svg).err()),
            Err(diagnostics) => failures.push(format!("{name} was refused:\n{diagnostics}")),
        }
    }
    report(failures);
}

#[test]
fn every_kernel_can_be_drawn() {
    let mut failures = vec![];
    for path in julia_files(&root().join("tests/polybench")) {
        let text = fs::read_to_string(&path).unwrap();
        if !text.lines().any(|line| line.starts_with("@tessella")) {
            continue;
        }
        let name = path.file_name().unwrap().to_str().unwrap();
        // The loops of the schedule for every other one.
        let draw = DrawOptions { scheduled: name.len() % 2 == 0, ..DrawOptions::default() };
        match file::draw(&text, &options(name), &draw, Backend::C) {
            Ok(Drawing { svg, .. }) => {
                assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"), "{name}: {svg}");
            }
            Err(diagnostics) => failures.push(format!("{name} was refused:\n{diagnostics}")),
        }
    }
    report(failures);
}

const SWEEPS: &str = "function sweeps!(A::Vector{Float64}, B::Vector{Float64}, steps::Int)
    n = length(A)
    for t in 1:steps
        for i in 2:n-1
            @comp S B[i] = (A[i-1] + A[i] + A[i+1]) / 3
        end
        for i in 2:n-1
            @comp R A[i] = (B[i-1] + B[i] + B[i+1]) / 3
        end
    end
end
";

fn tilings_for(n: i64) -> Result<Drawing, String> {
    let sizes = [("n".to_string(), n), ("steps".to_string(), 8)].into_iter().collect();
    let draw = DrawOptions { tiling: true, sizes, ..DrawOptions::default() };
    file::draw(SWEEPS, &options("sweeps.jl"), &draw, Backend::C)
}

#[test]
fn a_shape_that_cannot_be_drawn_leaves_the_others() {
    // 16 sweeps of 148 points; overlapped tiles compute some of them again, and are more than a drawing shows.
    let drawing = tilings_for(150).unwrap();
    let said = drawing.missing.iter().find(|it| it.starts_with("`overlapped(")).expect("overlapped tiles are missing");
    assert!(said.ends_with("is not drawn: there are more than 2500 points"), "{said}");
    assert!(drawing.svg.contains("not here: there are more than 2500 points"));
    assert!(!drawing.missing.iter().any(|it| it.starts_with("`space(") || it.starts_with("`hexagonal(")));
}

#[test]
fn programs_with_many_sweeps_are_drawn_at_sizes_that_fit() {
    for (name, dim) in [("fdtd2d", "j"), ("edges2d", "j"), ("waves3d", "k"), ("acoustic2d", "j"), ("heat2d", "j")] {
        let text = fs::read_to_string(root().join(format!("tests/stencils/{name}.jl"))).unwrap();
        let draw = DrawOptions { tiling: true, ..DrawOptions::default() };
        let drawing = file::draw(&text, &options(name), &draw, Backend::C).unwrap_or_else(|it| panic!("{name}: {it}"));
        let skewed = format!(", t, {dim}, 4, 8)` is not drawn");
        assert!(!drawing.missing.iter().any(|it| it.contains(&skewed)), "{name}: {:?}", drawing.missing);
        let is_missing = drawing.missing.iter().any(|it| it.starts_with("`overlapped("));
        assert_eq!(is_missing, name == "waves3d", "{name}: {:?}", drawing.missing);
    }
}

/// Statements at an edge stand at one value of loops over points and over tiles, and several at one point.
#[test]
fn edges_belong_to_the_tiles_around_them() {
    let text = fs::read_to_string(root().join("tests/stencils/insulated2d.jl")).unwrap();
    let draw = DrawOptions { tiling: true, ..DrawOptions::default() };
    let svg = file::draw(&text, &options("insulated2d"), &draw, Backend::C).unwrap().svg;
    let panels: Vec<&str> = svg.lines().filter(|line| line.contains(" rounds")).collect();
    // 12 steps of three sweeps: hexagons of six sweeps, two phases in a row; skewed tiles of four steps.
    for (panel, said) in [(0, "216 tiles in 48 rounds<"), (1, "21 tiles in 13 rounds<"), (2, "51 tiles in 13 rounds<")]
    {
        assert!(panels[panel].contains(said), "{}", panels[panel]);
    }
    assert!(
        panels[3].contains("15 tiles in 3 rounds, ") && panels[3].contains(" points computed again"),
        "{}",
        panels[3]
    );
}

#[test]
fn a_drawing_of_no_shape_is_refused() {
    let refused = tilings_for(1000).unwrap_err();
    assert!(refused.contains("E0477"), "{refused}");
}

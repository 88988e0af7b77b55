//! Which sizes stencils get on a GPU where nobody gives an order, rows left to the launch: by the model of streams, which stands on measured
//! kernels (docs/performance.md).

use tessella::file::{FileOptions, ScheduleSource, Sources};
use tessella::request::Backend;
use tessella_polyhedral::schedule::{Node, StreamSize, Tag};
use tessella_tests::{report, root};

/// Program, and the sizes of its stream; behind it those of the one for small matrices, where there is one.
const CHOICES: [(&str, &str); 25] = [
    ("heat2d", "7, 4; 5, 2"),
    ("gradient2d", "2, 2"),
    ("jacobi2d9", "4, 4; 3, 2"),
    ("life", "4, 2"),
    ("star2d2r", "5, 4; 4, 2"),
    ("laplacian2d", "6, 4; 4, 2"),
    ("box2d2r", "2, 2"),
    ("wave2d", "10, 2"),
    ("laplacian3d", "4, 2, 0, 4, 12"),
    ("jacobi3d27", "2, 2, 0, 4, 12"),
    ("gradient3d", "2, 2, 0, 4"),
    ("heat3d", "1, 2, 0, 4"),
    ("star3d2r", "2, 2, 0, 4, 12"),
    ("jacobi1d", "4, 4"),
    ("levels2d", "2, 2"),
    ("metal_components2d", "4, 2"),
    ("reaction_levels2d", "4, 2"),
    ("fast_star2d1r", "11, 4; 8, 2"),
    ("fast_box2d1r", "8, 4; 6, 2"),
    ("fast_gradient2d", "6, 2"),
    ("fast_star2d2r", "6, 4; 5, 2"),
    ("fast_box2d2r", "3, 2"),
    ("fast_star3d1r", "4, 2, 0, 4, 12"),
    ("fast_star3d2r", "2, 2, 0, 4, 12"),
    ("fast_box3d1r", "2, 2, 0, 4, 12"),
];

/// Program, and the tiles in which blocks keep matrices that they can hold.
const TILES: [(&str, &str); 9] = [
    ("heat2d", "4, 4, 20, 16, 16"),
    ("swapped2d", "2, 4, 14, 16, 16"),
    ("acoustic2d", "4, 4, 9, 16, 16"),
    ("edges2d", "2, 4, 14, 16, 16"),
    ("star2d2r", "2, 4, 20, 16, 16"),
    ("wave2d", "4, 2, 8, 16, 16"),
    ("star2d3r", "2, 4, 20, 16, 16"),
    ("star2d4r", "2, 4, 20, 16, 16"),
    ("box2d3r", "1, 4, 20, 16, 16"),
];

fn chosen(name: &str) -> Vec<StreamSize> {
    let path = if name.starts_with("fast_") { "gpu/fast_stencils".to_string() } else { format!("stencils/{name}") };
    let text = std::fs::read_to_string(root().join(format!("tests/{path}.jl"))).unwrap();
    let options =
        FileOptions { name: format!("{name}.jl"), function: None, types: vec![], schedule: ScheduleSource::InFile };
    let sources = Sources::read(&text, &options).unwrap();
    let function = sources.functions().iter().find(|it| it.name.value == format!("{name}!")).unwrap();
    let unit = sources.unit(function, &[]).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
    let built = unit.build(Backend::Cuda).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
    let schedule = built.analysed.verified.schedule();
    let tags = schedule.parts().into_iter().filter_map(|path| match schedule.node(&path) {
        Some(Node::Loop(it)) => Some(it.tag),
        _ => None,
    });
    tags.filter_map(|tag| if let Tag::Stream(size) = tag { Some(size) } else { None }).collect()
}

fn joined(all: impl Iterator<Item = String>) -> String {
    all.collect::<Vec<_>>().join("; ")
}

#[test]
fn stencils_get_sizes_that_were_measured_to_be_fast() {
    let differing = CHOICES.iter().filter_map(|(name, expected)| {
        let chosen = joined(chosen(name).iter().map(StreamSize::to_string));
        (chosen != *expected).then(|| format!("{name}: {chosen} instead of {expected}"))
    });
    report(differing.collect());
}

#[test]
fn matrices_stay_in_tiles_that_were_measured_to_be_fast() {
    let differing = TILES.iter().filter_map(|(name, expected)| {
        let chosen = joined(chosen(name).iter().filter_map(|size| size.resident).map(|size| size.to_string()));
        (chosen != *expected).then(|| format!("{name}: {chosen} instead of {expected}"))
    });
    report(differing.collect());
}

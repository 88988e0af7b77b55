//! Tiles are counted over their points as isl counts them as sets, for every stencil of `stencils`.

use std::fs;
use tessella::file::{FileOptions, ScheduleSource, Sources};
use tessella::pipeline;
use tessella_polyhedral::isl::Ctx;
use tessella_polyhedral::models::tiles::Approach;
use tessella_polyhedral::models::tiles::rank::{Way, count_tile_by};
use tessella_tests::{julia_files, root};

#[test]
fn points_and_sets_give_the_same_counts() {
    let mut quick = vec![];
    for path in julia_files(&root().join("tests/stencils")) {
        let text = fs::read_to_string(&path).unwrap();
        let name = path.file_stem().unwrap().to_str().unwrap().to_string();
        let options =
            FileOptions { name: name.clone(), function: None, types: vec![], schedule: ScheduleSource::InFile };
        let sources = Sources::read(&text, &options).unwrap();
        let unit =
            sources.unit(&sources.functions()[0], &[]).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
        let ctx = Ctx::new();
        let algorithm = pipeline::lower(&ctx, &unit.function)
            .unwrap_or_else(|errors| panic!("{}", sources.show(&errors)))
            .algorithm;
        let dimensions = algorithm.computations[0].iterators.len() - 1;
        for approach in Approach::ALL {
            let mut sizes = vec![5, 4, 3][3 - dimensions..].to_vec();
            sizes.extend((approach != Approach::Plain).then_some(2));
            let count = |way| count_tile_by(&ctx, &algorithm, approach, &sizes, way).unwrap();
            match (count(Way::Points), count(Way::Sets)) {
                (Ok((points, way)), Ok((sets, _))) => {
                    assert_eq!(points, sets, "{name} {approach:?} {sizes:?}");
                    quick.extend((way == Way::Points).then(|| name.clone()));
                }
                (points, sets) => assert_eq!(points.err(), sets.err(), "{name} {approach:?}"),
            }
        }
    }
    quick.dedup();
    for name in ["heat2d", "heat3d", "jacobi3d27", "seidel2d", "star2d2r", "wave1d_levels"] {
        assert!(quick.iter().any(|it| it == name), "{name} is not counted over its points, but {quick:?} are");
    }
}

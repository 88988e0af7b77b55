//! What drawings show, and which commands lead to a schedule, on programs small enough to count by hand.

mod common;

use common::*;
use std::collections::BTreeSet;
use tessella_polyhedral::command::Command;
use tessella_polyhedral::dependence::{DependenceKind, dependences, direct};
use tessella_polyhedral::draw::tilings::tilings;
use tessella_polyhedral::draw::{Arrows, Choice, DrawError, DrawnSpace, Picture, choose, picture};
use tessella_polyhedral::isl::Ctx;
use tessella_polyhedral::layers::{Scheduled, Target};
use tessella_polyhedral::{order, spell};

fn run(ctx: &Ctx, start: &Scheduled, commands: &[Command]) -> Scheduled {
    let all = dependences(ctx, &start.algorithm).unwrap();
    commands.iter().fold(start.clone(), |scheduled, command| apply(ctx, &scheduled, &all, command).unwrap())
}

fn tiled_pointwise() -> Vec<Command> {
    let computation = "S".to_string();
    let loops = vec!["i".to_string(), "j".to_string()];
    vec![
        Command::Tile { computation: computation.clone(), loops, sizes: vec![2, 3] },
        Command::Parallel { computation, at: "i0".to_string() },
    ]
}

fn drawn(ctx: &Ctx, scheduled: &Scheduled, dims: &[&str], n: i64) -> Result<Picture, DrawError> {
    let algorithm = &scheduled.algorithm;
    let direct = direct(ctx, algorithm, &dependences(ctx, algorithm).unwrap()).unwrap();
    let dims = dims.iter().map(|dim| dim.to_string()).collect();
    let choice = Choice { space: DrawnSpace::Iterations, computation: None, dims, fixed: vec![] };
    let view = choose(algorithm, &scheduled.schedule, &choice, vec![n])?;
    picture(ctx, algorithm, &scheduled.schedule, &direct, &view)
}

#[test]
fn tiles_and_steps_are_those_of_the_schedule() {
    let ctx = Ctx::new();
    let scheduled = run(&ctx, &scheduled(pointwise(&ctx), Target::Cpu), &tiled_pointwise());
    let picture = drawn(&ctx, &scheduled, &["i", "j"], 5).unwrap();
    assert_eq!(picture.points.len(), 25);
    assert_eq!(picture.tiles.len(), 3 * 2);
    assert_eq!(picture.open, ["i0"]);
    for point in &picture.points {
        let [i, j] = point.at;
        assert_eq!(point.instance, [i, j]);
        let tile = &picture.tiles[point.tile.unwrap()];
        let expected = [("i0".to_string(), (i - 1) / 2), ("j0".to_string(), (j - 1) / 3)];
        assert_eq!(tile.at, expected);
        // Rows of tiles run at one time; inside, tile after tile, row after row.
        let rows = if (i - 1) / 2 == 2 { 1 } else { 2 };
        let tiles_before = (j - 1) / 3 * 3 * rows;
        let width = if (j - 1) / 3 == 0 { 3 } else { 2 };
        let inside = (i - 1) % 2 * width + (j - 1) % 3;
        assert_eq!(point.step, (tiles_before + inside + 1) as u64, "{i}, {j}");
        assert_eq!(point.before.is_none(), point.step == 1);
    }
    assert_eq!(picture.arrows, Arrows::All(vec![]));
}

#[test]
fn arrows_are_the_dependences_inside_the_picture() {
    let ctx = Ctx::new();
    let scheduled = scheduled(antidiagonal(&ctx), Target::Cpu);
    let picture = drawn(&ctx, &scheduled, &["j", "i"], 5).unwrap();
    let Arrows::All(arrows) = &picture.arrows else { panic!("too many") };
    let ends: BTreeSet<_> = arrows
        .iter()
        .map(|arrow| {
            (arrow.kind, picture.points[arrow.from].instance.clone(), picture.points[arrow.to].instance.clone())
        })
        .collect();
    let mut expected = BTreeSet::new();
    for i in 2..5 {
        for j in 2..5 {
            expected.insert((DependenceKind::Flow, vec![i, j], vec![i + 1, j - 1]));
        }
    }
    assert_eq!(ends, expected);
}

#[test]
fn what_cannot_be_drawn_is_refused() {
    let ctx = Ctx::new();
    let scheduled = scheduled(jacobi(&ctx), Target::Cpu);
    assert!(matches!(drawn(&ctx, &scheduled, &["i", "j"], 5), Err(DrawError::NoDimensions { .. })));
    assert!(matches!(drawn(&ctx, &scheduled, &["i", "t"], 2), Err(DrawError::Empty)));
    assert!(matches!(drawn(&ctx, &scheduled, &["i", "t"], 1 << 30), Err(DrawError::TooManyPoints)));
}

#[test]
fn commands_lead_from_the_source_to_a_schedule() {
    let ctx = Ctx::new();
    let start = scheduled(pointwise(&ctx), Target::Cpu);
    let all = dependences(&ctx, &start.algorithm).unwrap();
    let aim = run(&ctx, &start, &tiled_pointwise());
    assert_eq!(spell::commands(&ctx, &start, &all, &aim.schedule), tiled_pointwise());
}

#[test]
fn what_no_simple_command_says_is_written_out() {
    let ctx = Ctx::new();
    let start = scheduled(jacobi(&ctx), Target::Cpu);
    let all = dependences(&ctx, &start.algorithm).unwrap();
    let shift = Command::Shift { computation: "R".to_string(), at: "i".to_string(), by: 1 };
    let fuse = Command::Fuse { first: "S".to_string(), second: "R".to_string(), at: "i".to_string() };
    let aim = run(&ctx, &start, &[shift, fuse]);
    let commands = spell::commands(&ctx, &start, &all, &aim.schedule);
    assert_eq!(commands, [Command::Order(order::spell(&start.algorithm, &aim.schedule))]);
    let text = commands[0].to_string();
    let expected = "for t = t\n    for i = (S = i, R = i + 1)\n        S\n        R\n    end\nend";
    assert_eq!(text, expected);
    assert_eq!(run(&ctx, &start, &commands).schedule, aim.schedule);
}

#[test]
fn tiles_of_time_cover_each_point_once_but_where_they_overlap() {
    let ctx = Ctx::new();
    let start = scheduled(jacobi(&ctx), Target::Cpu);
    let all = dependences(&ctx, &start.algorithm).unwrap();
    let found = tilings(&ctx, &start, &all, None, &[60]).unwrap();
    assert_eq!((found.time.as_str(), found.sweeps), ("t", 2));
    // Ten steps of two sweeps over 58 points.
    let whole: BTreeSet<[i64; 2]> = (2..60).flat_map(|i| (0..20).map(move |u| [i, u])).collect();
    let mut drawn = vec![];
    for shape in &found.shapes {
        let name = shape.command.to_string();
        let name = name.split('(').next().unwrap().to_string();
        let Ok(tiles) = &shape.tiles else { continue };
        let points: BTreeSet<[i64; 2]> = tiles.iter().flat_map(|it| it.points.iter().copied()).collect();
        let computed: usize = tiles.iter().map(|it| it.points.len()).sum();
        assert_eq!(points, whole, "{name}");
        match name.as_str() {
            "overlapped" | "stream" => assert!(computed > points.len(), "{name}"),
            _ => assert_eq!(computed, points.len(), "{name}"),
        }
        drawn.push(name);
    }
    // Two sweeps are no perfect nest, so that `parallelogram` is refused.
    assert_eq!(drawn, ["space", "time_skew", "hexagonal", "overlapped", "grid_sync", "stream"]);
}

#[test]
fn tiles_of_one_round_do_not_wait_for_one_another() {
    let ctx = Ctx::new();
    let start = scheduled(jacobi(&ctx), Target::Cpu);
    let all = dependences(&ctx, &start.algorithm).unwrap();
    let found = tilings(&ctx, &start, &all, None, &[26]).unwrap();
    for shape in &found.shapes {
        let Ok(tiles) = &shape.tiles else { continue };
        for (at, tile) in tiles.iter().enumerate() {
            for [i, u] in &tile.points {
                // The first sweep of a step reads neighbours, the second the point itself.
                let reach = if u % 2 == 0 { 1 } else { 0 };
                for source in (-reach..=reach).map(|by| [i + by, u - 1]) {
                    let others =
                        tiles.iter().enumerate().filter(|(other, it)| *other != at && it.points.contains(&source));
                    for (_, other) in others {
                        let again = tile.points.contains(&source);
                        assert!(again || other.round < tile.round, "{}: {source:?} for {i}, {u}", shape.command);
                    }
                }
            }
        }
    }
}

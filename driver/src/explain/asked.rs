//! What became of a second search for an order, by isl's scheduler, in words.

use super::Lines;
use super::words::named;
use std::fmt::Write;
use tessella_polyhedral::algorithm::Algorithm;
use tessella_polyhedral::auto::asked::{Asked, Outcome, Tiles};
use tessella_polyhedral::auto::solver::Fusion;

/// One sentence for each nest that isl's scheduler was asked about, under a heading; nothing where it was not asked.
pub(crate) fn asked(algorithm: &Algorithm, all: &[Asked], lines: &Lines) -> String {
    if all.is_empty() {
        return String::new();
    }
    let mut text =
        "\nSecond search: by isl's scheduler, where the first leaves statements without threads or SIMD vectors\n"
            .to_string();
    for it in all {
        let names: Vec<String> = it.computations.iter().map(|&id| named(algorithm, id, lines)).collect();
        let _ = writeln!(text, "  {}: {}", names.join(", "), sentence(it.outcome));
    }
    text
}

fn sentence(outcome: Outcome) -> String {
    match outcome {
        Outcome::Taken { fusion, tiles, own, solved } => format!(
            "its order is taken, with {}; it promises to take {} of the time of the order that the first search found",
            match (tiles, fusion) {
                (Tiles::Diagonal, _) => "all statements in the same tiles, of which those on a diagonal run at once",
                (Tiles::None, Fusion::Apart) =>
                    "statements that wait for one another in a circle in one nest, all others in nests of their own",
                (Tiles::None, Fusion::Clusters) =>
                    "statements in one loop where that costs no loop that runs in parallel",
                (Tiles::None, Fusion::Together) => "as many statements in one loop as dependences allow",
            },
            percent(solved / own)
        ),
        Outcome::Slower { own, solved } => {
            format!(
                "its best order is not taken: it would take about {} of the time of this one",
                percent(solved / own)
            )
        }
        Outcome::NoFreer => {
            "it found nothing better: its orders have no more loops that could run in parallel".to_string()
        }
        Outcome::TooMuch => "it was given up, since it took too much work".to_string(),
    }
}

fn percent(ratio: f64) -> String {
    match ratio * 100.0 {
        small if small < 1.0 => "less than 1 %".to_string(),
        other => format!("{other:.0} %"),
    }
}

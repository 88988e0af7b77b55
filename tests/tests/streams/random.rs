//! Stencils by chance: what is too large for the sizes of a command is refused, all else computes what the source does.

use crate::programs::{function, nest, space, with};
use crate::running::{check, is_too_large};
use tessella_tests::report;

/// Numbers from 0 on, below what is asked for; the same in every run.
fn numbers(seed: u64) -> impl FnMut(i64) -> i64 {
    let mut state = seed;
    move |below: i64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((state >> 33) as i64).rem_euclid(below)
    }
}

#[test]
fn random_stencils_stream() {
    let ran = random_stencils(20, 24, &[(9, 8, 1), (53, 20, 3), (139, 11, 4)], |random| {
        format!("stream(S, t, {}, 4, {})", 1 + random(2), 4 + random(20))
    });
    assert_eq!(ran, 24);
}

#[test]
fn random_stencils_run_in_hexagons() {
    let ran = random_stencils(77, 40, &[(9, 8, 11), (53, 41, 16), (139, 29, 21)], |random| {
        let points = [4, 4, 8][random(3) as usize];
        format!("hexagonal(S, t, {}, {}, {points}, 32, {})", 1 + random(2), 2 + random(4), 1 + random(2))
    });
    assert!(ran >= 12, "only {ran} of the hexagons fit");
}

#[test]
fn random_stencils_stay_in_tiles() {
    let ran = random_stencils(5, 24, &[(9, 8, 1), (53, 20, 7), (139, 61, 5)], |random| {
        format!("grid_sync(S, t, {}, 2, {}, 3)", 1 + random(3), 10 + random(7))
    });
    assert!(ran >= 12, "only {ran} of the tiles fit");
}

fn random_stencils(
    seed: u64,
    count: u32,
    sizes: &[(u64, u64, i64)],
    command: impl Fn(&mut dyn FnMut(i64) -> i64) -> String,
) -> usize {
    let mut ran = 0;
    let mut random = numbers(seed);
    let mut failures = vec![];
    for number in 0..count {
        let reach = 1 + random(4);
        let sum = |array: &str, random: &mut dyn FnMut(i64) -> i64| {
            let terms = (0..1 + random(4)).map(|_| {
                let offset = |by: i64| if by < 0 { format!(" - {}", -by) } else { format!(" + {by}") };
                let (x, y) = (random(2 * reach + 1) - reach, random(2 * reach + 1) - reach);
                format!("0.{}f0 * {array}[i{}, j{}]", 1 + random(9), offset(x), offset(y))
            });
            terms.collect::<Vec<_>>().join(" + ")
        };
        let first = sum("A", &mut random);
        let second = if random(2) == 0 { "B[i, j]".to_string() } else { sum("B", &mut random) };
        let (rows, columns) = (format!("{}:m-{}", reach + 1, reach), format!("{}:n-{}", reach + 1, reach));
        let body = nest(&rows, &columns, &format!("@comp S B[i, j] = {first}"))
            + &nest(&rows, &columns, &format!("A[i, j] = {second}"));
        let text = function("A B", "Float32", &body, &command(&mut random));
        let outcome = check(&format!("stencil {number}"), &text, sizes);
        if !is_too_large(&outcome) {
            ran += 1;
            failures.extend(outcome);
        }
    }
    report(failures);
    ran
}

/// Sums whose subscripts go round along one axis or both, over matrices that are smaller than what they reach, too.
#[test]
fn random_stencils_go_round() {
    let mut failures = vec![];
    let mut random = numbers(41);
    for number in 0..30 {
        let reach = 1 + random(3);
        let round = [[true, true], [true, false], [false, true]][number % 3];
        let mut sum = |array: &str| {
            let terms = (0..1 + random(4)).map(|_| {
                let mut place = |iterator: &str, last: &str, round: bool| {
                    let place = format!("{iterator} + {}", random(2 * reach + 1) - reach).replace("+ -", "- ");
                    if round { format!("mod1({place}, {last})") } else { place }
                };
                let place = [place("i", "m", round[0]), place("j", "n", round[1])].join(", ");
                format!("0.{}f0 * {array}[{place}]", 1 + random(9))
            });
            terms.collect::<Vec<_>>().join(" + ")
        };
        let (first, second) = (sum("A"), if number % 2 == 0 { "B[i, j]".to_string() } else { sum("B") });
        let inner = |last: &str| format!("{}:{last}-{reach}", reach + 1);
        let [rows, columns] = [("m", round[0]), ("n", round[1])]
            .map(|(last, round)| if round { format!("1:{last}") } else { inner(last) });
        let body = nest(&rows, &columns, &format!("@comp S B[i, j] = {first}"))
            + &nest(&rows, &columns, &format!("A[i, j] = {second}"));
        let command = format!("stream(S, t, {}, 4, {})", 1 + random(2), 4 + random(20));
        let text = function("A B", "Float32", &body, &command);
        let sizes = [(1, 1, 3), (2, 3, 4), (3, 2, 5), (9, 8, 1), (53, 20, 3), (139, 11, 4)];
        failures.extend(check(&format!("stencil {number}"), &text, &sizes));
    }
    report(failures);
}

/// The same along the axes of space.
#[test]
fn random_stencils_go_round_in_space() {
    let mut failures = vec![];
    let mut random = numbers(43);
    for number in 0..14 {
        let round = [0, 1, 2].map(|axis| (number + 1) >> axis & 1 == 1);
        let mut sum = |array: &str| {
            let terms = (0..2 + random(3)).map(|_| {
                let at = [("i", "l"), ("j", "m"), ("k", "n")].iter().zip(round).map(|((name, last), round)| {
                    let place = format!("{name} + {}", random(3) - 1).replace("+ -", "- ");
                    if round { format!("mod1({place}, {last})") } else { place }
                });
                let at = at.collect::<Vec<_>>().join(", ");
                format!("0.{}f0 * {array}[{at}]", 1 + random(9))
            });
            terms.collect::<Vec<_>>().join(" + ")
        };
        let (first, second) = (sum("A"), if number % 4 == 3 { sum("B") } else { "B[i, j, k]".to_string() });
        let bounds = [("k", "n", 2), ("j", "m", 1), ("i", "l", 0)].map(|(name, last, axis)| {
            if round[axis] { format!("{name} in 1:{last}") } else { format!("{name} in 2:{last}-1") }
        });
        let text = space("Float32", &bounds.join(", "), &first, &second);
        let command = format!("stream(S, t, 1, 2, {}, 4, {})", 4 + random(9), 3 + random(4));
        let sizes = [(1, 2, 2), (3, 1, 3), (9, 8, 1), (43, 17, 3)];
        failures.extend(check(&format!("stencil {number}"), &with(&text, &command), &sizes));
    }
    report(failures);
}

/// Sums that reach up to four points along each axis of space, and as far as they like to either side.
#[test]
fn random_stencils_stream_over_planes() {
    let (mut ran, mut wide, mut failures) = (0, 0, vec![]);
    let mut random = numbers(13);
    for number in 0..20 {
        let most = 2 + number % 3;
        let reach = [(); 3].map(|()| [random(most + 1), random(most + 1)]);
        let mut sum = |array: &str| {
            let terms = (0..2 + random(4)).map(|_| {
                let at = reach.map(|[below, above]| random(below + above + 1) - below);
                let at = ["i", "j", "k"].iter().zip(at).map(|(name, by)| format!("{name} + {by}"));
                format!("0.{}f0 * {array}[{}]", 1 + random(9), at.collect::<Vec<_>>().join(", "))
            });
            terms.collect::<Vec<_>>().join(" + ").replace("+ -", "- ")
        };
        let (first, second) = (sum("A"), if number % 4 == 3 { sum("B") } else { "B[i, j, k]".to_string() });
        let bounds = [("k", "n", 2), ("j", "m", 1), ("i", "l", 0)]
            .map(|(name, last, axis)| format!("{name} in {}:{last}-{}", 1 + reach[axis][0], reach[axis][1]));
        let text = space("Float32", &bounds.join(", "), &first, &second);
        let (steps, points) = (1 + random(6) / 5, [2, 4][random(2) as usize]);
        let command = format!("stream(S, t, {steps}, {points}, {}, 4, {})", 4 + random(9), 3 + random(4));
        let outcome = check(&format!("stencil {number}"), &with(&text, &command), &[(9, 8, 1), (43, 17, 3)]);
        if !is_too_large(&outcome) {
            ran += 1;
            wide += usize::from(reach.iter().flatten().any(|it| *it > 2));
            failures.extend(outcome);
        }
    }
    report(failures);
    assert!(ran >= 12 && wide >= 6, "only {ran} of the streams fit, {wide} of them wide");
}

#[test]
fn random_stencils_run_in_hexagons_over_planes() {
    let (mut ran, mut failures) = (0, vec![]);
    let mut random = numbers(31);
    for number in 0..28 {
        let reach = 1 + random(4) / 3;
        let mut sum = |array: &str| {
            let terms = (0..2 + random(4)).map(|_| {
                let [x, y, z] = [(); 3].map(|()| random(2 * reach + 1) - reach);
                format!("0.{}f0 * {array}[i + {x}, j + {y}, k + {z}]", 1 + random(9))
            });
            terms.collect::<Vec<_>>().join(" + ").replace("+ -", "- ")
        };
        let (first, second) = (sum("A"), if number % 4 == 3 { sum("B") } else { "B[i, j, k]".to_string() });
        let bounds = ["k in {}:n-{}", "j in {}:m-{}", "i in {}:l-{}"]
            .map(|it| it.replacen("{}", &(reach + 1).to_string(), 1).replacen("{}", &reach.to_string(), 1));
        let text = space("Float32", &bounds.join(", "), &first, &second);
        let points = [2, 4][random(2) as usize];
        let command = format!(
            "hexagonal(S, t, {}, {}, {points}, {}, {})",
            1 + random(4) / 3,
            reach + random(2),
            256,
            2 + random(3)
        );
        let outcome = check(&format!("stencil {number}"), &with(&text, &command), &[(9, 8, 7), (45, 14, 8)]);
        ran += usize::from(!is_too_large(&outcome));
        failures.extend(Some(outcome).filter(|outcome| !is_too_large(outcome)).into_iter().flatten());
    }
    report(failures);
    assert!(ran >= 6, "only {ran} of the hexagons fit");
}

//! What Tessella chooses by itself.

mod common;

use common::*;
use tessella_polyhedral::algorithm::{Algorithm, ArrayKind};
use tessella_polyhedral::default_order::{Means, Memory, Tilings};
use tessella_polyhedral::dependence::dependences;
use tessella_polyhedral::isl::Ctx;
use tessella_polyhedral::layers::{Lifetime, MemorySpace, Scheduled, Target};
use tessella_polyhedral::schedule::{Node, Path, Tag};
use tessella_polyhedral::{bounds, connect, default_order, legality, place, print, transform, verify};

#[test]
fn the_contiguous_axis_goes_innermost_and_the_outer_loop_runs_in_parallel() {
    let ctx = Ctx::new();
    let start = scheduled(pointwise(&ctx), Target::Cpu);
    let all = dependences(&ctx, &start.algorithm).unwrap();
    let done = default_order::schedule(&ctx, &start, &all).unwrap();
    let expected = "\
for j  # parallel
  for i  # vector(4)
    S: C[i, j] = A[i, j] + B[i, j]
";
    assert_eq!(print::schedule(&done.algorithm, &done.schedule), expected);
}

#[test]
fn a_time_loop_stays_sequential_around_parallel_sweeps() {
    let ctx = Ctx::new();
    for (target, expected) in [
        (
            Target::Cpu,
            "for t\n  for i0 = floor((i - 2)/4096)  # parallel\n    for i1 = i - 4096*floor((i - 2)/4096) - 2  # vector(4)\n",
        ),
        (Target::Gpu, "for t\n  for i0 = floor((i - 2)/1024)  # block.x\n"),
    ] {
        let start = scheduled(jacobi(&ctx), target);
        let all = dependences(&ctx, &start.algorithm).unwrap();
        let done = default_order::schedule(&ctx, &start, &all).unwrap();
        let text = print::schedule(&done.algorithm, &done.schedule);
        assert!(text.starts_with(expected), "{text}");
    }
}

#[test]
fn an_anti_diagonal_keeps_its_legal_order() {
    let ctx = Ctx::new();
    let start = scheduled(antidiagonal(&ctx), Target::Cpu);
    let all = dependences(&ctx, &start.algorithm).unwrap();
    let done = default_order::schedule(&ctx, &start, &all).unwrap();
    let text = print::schedule(&done.algorithm, &done.schedule);
    // Along the diagonals nothing waits.
    assert!(text.starts_with("for j = i + j  # parallel\n  for i\n"), "{text}");
}

#[test]
fn device_copies_stand_outside_of_the_time_loop() {
    let ctx = Ctx::new();
    let start = scheduled(jacobi(&ctx), Target::Gpu);
    let all = dependences(&ctx, &start.algorithm).unwrap();
    let done = default_order::schedule(&ctx, &start, &all).unwrap();
    let placed = place::place(&ctx, done).unwrap();
    assert!(placed.layout.buffers.iter().all(|buffer| buffer.space == MemorySpace::Global));
    assert!(placed.layout.buffers.iter().all(|buffer| matches!(buffer.lifetime, Lifetime::Argument(_))));
    let connected = connect::connect(&ctx, placed, &all).unwrap();
    assert_eq!(connected.transfers.len(), 3, "one in, since nothing reads the other's border, both out");
    assert!(connected.transfers.iter().all(|transfer| transfer.at.0.is_empty()));
    verify::verify(&ctx, connected, &all).unwrap();
}

#[test]
fn only_what_is_read_is_copied_in_when_all_is_overwritten() {
    let ctx = Ctx::new();
    let start = scheduled(pointwise(&ctx), Target::Gpu);
    let all = dependences(&ctx, &start.algorithm).unwrap();
    let done = default_order::schedule(&ctx, &start, &all).unwrap();
    let connected = connect::connect(&ctx, place::place(&ctx, done).unwrap(), &all).unwrap();
    assert_eq!(connected.transfers.len(), 3, "A and B in, C out: {:?}", connected.transfers);
}

#[test]
fn accesses_inside_need_no_check_and_others_give_the_smallest_sizes() {
    let ctx = Ctx::new();
    assert!(bounds::entry_checks(&ctx, &pointwise(&ctx)).unwrap().is_empty());
    let mut outside = jacobi(&ctx);
    outside.arrays[1].extents[0] = tessella_polyhedral::affine::Affine::constant(100);
    let checks = bounds::entry_checks(&ctx, &outside).unwrap();
    assert_eq!(checks.len(), 1);
    assert_eq!(checks[0].holds.to_string(), "[n] -> {  : n <= 101 }");
}

/// `for j, i: (C[i, j] = A[i, j]; for k: C[i, j] += A[i, k])`, twice in a row.
fn two_products(ctx: &Ctx) -> tessella_polyhedral::algorithm::Algorithm {
    let triple = "{ NAME[j, i, k] : 1 <= j <= n and 1 <= i <= n and 1 <= k <= n }";
    let pair = "{ NAME[j, i] : 1 <= j <= n and 1 <= i <= n }";
    let (row, column) = ((&[0i64, 1][..], 0i64), (&[1i64, 0][..], 0i64));
    let (row3, column3, deep) = ((&[0i64, 1, 0][..], 0i64), (&[1i64, 0, 0][..], 0i64), (&[0i64, 0, 1][..], 0i64));
    let names = ["S0", "S1", "S2", "S3"];
    let domains: Vec<String> = names
        .iter()
        .enumerate()
        .map(|(at, name)| if at % 2 == 0 { pair } else { triple }.replace("NAME", name))
        .collect();
    let shallow: [&[(&[i64], i64)]; 1] = [&[row, column]];
    let products: [&[(&[i64], i64)]; 2] = [&[row3, column3], &[row3, deep]];
    let statements: Vec<Statement> = (0..4)
        .map(|at| {
            let target = 1 + at / 2;
            let (write, reads): (_, &[(usize, Rows)]) = match at % 2 {
                0 => ((target, shallow[0]), Box::leak(Box::new([(0, shallow[0])]))),
                _ => ((target, products[0]), Box::leak(Box::new([(target, products[0]), (0, products[1])]))),
            };
            let iterators: &[&str] = if at % 2 == 0 { &["j", "i"] } else { &["j", "i", "k"] };
            Statement { name: names[at], iterators, domain: &domains[at], write, reads }
        })
        .collect();
    let nest = |a: u32, b: u32| {
        let body = tessella_polyhedral::schedule::Node::Sequence(vec![leaf(a), for_loop("k", 2, &[b], leaf(b))]);
        for_loop("j", 0, &[a, b], for_loop("i", 1, &[a, b], body))
    };
    let order = tessella_polyhedral::schedule::Node::Sequence(vec![nest(0, 1), nest(2, 3)]);
    algorithm(ctx, &[("A", 2), ("C", 2), ("D", 2)], &statements, order)
}

#[test]
fn every_part_of_a_distributed_nest_is_ordered() {
    let ctx = Ctx::new();
    let start = scheduled(two_products(&ctx), Target::Cpu);
    let all = dependences(&ctx, &start.algorithm).unwrap();
    let done = default_order::schedule(&ctx, &start, &all).unwrap();
    let text = print::schedule(&done.algorithm, &done.schedule);
    // Each in blocks for threads, with a tile of results in registers that `k` runs over.
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let tiles = lines
        .windows(3)
        .filter(|it| it[0].starts_with("for k1") && it[1].ends_with("# unroll(8)") && it[2].ends_with("# vector(4)"));
    assert_eq!(tiles.count(), 2, "{text}");
    assert_eq!(lines.iter().filter(|it| it.starts_with("for j0") && it.ends_with("# parallel")).count(), 2, "{text}");
}

/// `for j, i: A[i, j] = A[i - 1, j] + A[i, j - 1]` where `domain` says.
fn from_two_sides(ctx: &Ctx, domain: &str) -> Algorithm {
    let at = |row: i64, column: i64| -> [(&'static [i64], i64); 2] { [(&[0, 1], row), (&[1, 0], column)] };
    let (here, reads) = (at(0, 0), [(0, &at(-1, 0)[..]), (0, &at(0, -1)[..])]);
    let statement = Statement { name: "S", iterators: &["j", "i"], domain, write: (0, &here), reads: &reads };
    algorithm(ctx, &[("A", 2)], &[statement], for_loop("j", 0, &[0], for_loop("i", 1, &[0], leaf(0))))
}

#[test]
fn tiles_of_a_diagonal_run_in_parallel_where_every_loop_carries_a_dependence() {
    let ctx = Ctx::new();
    let start = scheduled(from_two_sides(&ctx, "{ S[j, i] : 2 <= j <= n and 2 <= i <= n }"), Target::Cpu);
    let all = dependences(&ctx, &start.algorithm).unwrap();
    let done = default_order::schedule(&ctx, &start, &all).unwrap();
    let expected = "\
for wave = floor((j - 2)/32) + floor((i - 2)/256)
  for j0 = floor((j - 2)/32)  # parallel
    for j1 = j - 32*floor((j - 2)/32) - 2
      for i1 = i - 256*floor((i - 2)/256) - 2
        S: A[i, j] = A[i - 1, j] + A[i, j - 1]
";
    assert_eq!(print::schedule(&done.algorithm, &done.schedule), expected);
}

#[test]
fn few_tiles_are_no_wavefront() {
    let ctx = Ctx::new();
    let start =
        scheduled(from_two_sides(&ctx, "{ S[j, i] : 2 <= j <= 40 and 2 <= i <= 300 and n >= 300 }"), Target::Cpu);
    let all = dependences(&ctx, &start.algorithm).unwrap();
    let done = default_order::schedule(&ctx, &start, &all).unwrap();
    assert_eq!(done.schedule, start.schedule);
}

#[test]
fn long_instances_follow_diagonals_inside_tiles_so_that_neighbours_wait_for_nothing() {
    let ctx = Ctx::new();
    // `for t, j, i: A[i, j]` from its eight neighbours and itself.
    let rows: Vec<[(&[i64], i64); 2]> =
        (0..9).map(|at| [(&[0i64, 0, 1][..], at % 3 - 1), (&[0, 1, 0][..], at / 3 - 1)]).collect();
    let reads: Vec<(usize, Rows)> = rows.iter().map(|row| (0, &row[..])).collect();
    let statement = Statement {
        name: "S",
        iterators: &["t", "j", "i"],
        domain: "{ S[t, j, i] : 1 <= t <= n and 2 <= j < n and 2 <= i < n }",
        write: (0, &rows[4]),
        reads: &reads,
    };
    let order = for_loop("t", 0, &[0], for_loop("j", 1, &[0], for_loop("i", 2, &[0], leaf(0))));
    let start = scheduled(algorithm(&ctx, &[("A", 2)], &[statement], order), Target::Cpu);
    let all = dependences(&ctx, &start.algorithm).unwrap();
    let mut done = default_order::schedule(&ctx, &start, &all).unwrap();
    let text = print::schedule(&done.algorithm, &done.schedule);
    let names: Vec<&str> =
        text.lines().filter_map(|line| line.trim().strip_prefix("for ")?.split(' ').next()).collect();
    assert_eq!(names, ["wave", "t0", "i0", "t1", "i1", "j1"], "{text}");
    // The innermost loop is free.
    let innermost = done.schedule.node_mut(&Path(vec![0; 5]));
    let Some(Node::Loop(it)) = innermost else { panic!("{text}") };
    it.tag = Tag::Parallel;
    assert!(legality::is_legal(&ctx, &done.algorithm, &done.schedule, &all).unwrap());
}

#[test]
fn instances_that_wait_for_little_of_what_they_compute_follow_rows_inside_tiles() {
    let ctx = Ctx::new();
    // Of five operations the last one waits for the instance before.
    let at = |row: i64, column: i64| -> [(&'static [i64], i64); 2] { [(&[0, 1], row), (&[1, 0], column)] };
    let (here, up, left, across) = (at(0, 0), at(-1, 0), at(0, -1), at(-1, -1));
    let statement = |reads: &[(usize, Rows)]| {
        let statement = Statement {
            name: "S",
            iterators: &["j", "i"],
            domain: "{ S[j, i] : 2 <= j <= n and 2 <= i <= n }",
            write: (0, &here),
            reads,
        };
        let order = for_loop("j", 0, &[0], for_loop("i", 1, &[0], leaf(0)));
        let start = scheduled(algorithm(&ctx, &[("A", 2), ("B", 2)], &[statement], order), Target::Cpu);
        let all = dependences(&ctx, &start.algorithm).unwrap();
        let done = default_order::schedule(&ctx, &start, &all).unwrap();
        print::schedule(&done.algorithm, &done.schedule)
    };
    let last = statement(&[(0, &across), (1, &here), (0, &left), (1, &up), (1, &left), (0, &up)]);
    assert!(last.contains("      for i1 = i - 256*floor((i - 2)/256) - 2\n        S"), "{last}");
    let first = statement(&[(0, &up), (0, &across), (1, &here), (0, &left), (1, &up), (1, &left)]);
    assert!(first.contains("      for j1 = j - 32*floor((j - 2)/32) - 2\n        S"), "{first}");
}

#[test]
fn a_loop_that_counts_down_is_tiled_from_zero() {
    let ctx = Ctx::new();
    // The smallest value of `-j` is what the parameter context allows: no number to count tiles from.
    let mut start = scheduled(from_two_sides(&ctx, "{ S[j, i] : 2 <= j <= n and 2 <= i <= n }"), Target::Cpu);
    let Node::Loop(outer) = &mut start.schedule.root else { panic!("a loop is outermost") };
    for at in outer.at.values_mut() {
        *at = at.scale(-1).unwrap();
    }
    let split = transform::split(&ctx, &start, "S", "j", 32).unwrap();
    assert!(print::schedule(&start.algorithm, &split).starts_with("for j0 = floor((-j)/32)\n"));
}

/// `for j, i: A[i, j] = B[i, j]; for j, i: C[i, j] = A[i + di, j + dj]` over the inner square.
fn two_passes(ctx: &Ctx, di: i64, dj: i64) -> Algorithm {
    let domain = |name: &str| format!("{{ {name}[j, i] : 2 <= j < n and 2 <= i < n }}");
    let (first, second) = (domain("R"), domain("S"));
    let here: Rows = &[(&[0, 1], 0), (&[1, 0], 0)];
    let there: [(&[i64], i64); 2] = [(&[0, 1], di), (&[1, 0], dj)];
    let iterators: &[&str] = &["j", "i"];
    let statements = [
        Statement { name: "R", iterators, domain: &first, write: (0, here), reads: &[(1, here)] },
        Statement { name: "S", iterators, domain: &second, write: (2, here), reads: &[(0, &there)] },
    ];
    let nest = |id: u32| for_loop("j", 0, &[id], for_loop("i", 1, &[id], leaf(id)));
    let order = Node::Sequence(vec![nest(0), nest(1)]);
    algorithm(ctx, &[("A", 2), ("B", 2), ("C", 2)], &statements, order)
}

#[test]
fn neighbours_share_a_loop_on_threads_where_values_are_still_in_the_cache() {
    let ctx = Ctx::new();
    let start = scheduled(two_passes(&ctx, 1, 0), Target::Cpu);
    let all = dependences(&ctx, &start.algorithm).unwrap();
    let done = default_order::schedule(&ctx, &start, &all).unwrap();
    let expected = "\
for j  # parallel
  for i  # vector(4)
    R: A[i, j] = B[i, j]
  for i  # vector(4)
    S: C[i, j] = A[i + 1, j]
";
    assert_eq!(print::schedule(&done.algorithm, &done.schedule), expected);
}

#[test]
fn neighbours_whose_rows_wait_for_one_another_go_through_strips_together() {
    let ctx = Ctx::new();
    let mut passes = two_passes(&ctx, 0, -1);
    passes.arrays[0].kind = ArrayKind::Local { outer: 0 };
    let start = scheduled(passes, Target::Cpu);
    let all = dependences(&ctx, &start.algorithm).unwrap();
    let done = default_order::schedule(&ctx, &start, &all).unwrap();
    let expected = "\
for i0 = floor((i - 1)/1024)  # parallel
  for j
    for i1 = i - 1024*floor((i - 1)/1024) - 1  # vector(4)
      R: A[i, j] = B[i, j]
    for i1 = i - 1024*floor((i - 1)/1024) - 1  # vector(4)
      S: C[i, j] = A[i, j - 1]
";
    assert_eq!(print::schedule(&done.algorithm, &done.schedule), expected);
}

#[test]
fn strips_do_not_pay_where_what_is_between_goes_to_memory_anyway() {
    let ctx = Ctx::new();
    let start = scheduled(two_passes(&ctx, 0, -1), Target::Cpu);
    let all = dependences(&ctx, &start.algorithm).unwrap();
    let done = default_order::schedule(&ctx, &start, &all).unwrap();
    let text = print::schedule(&done.algorithm, &done.schedule);
    assert_eq!(text.matches("for j  # parallel").count(), 2, "{text}");
}

/// `for i, j: B[j, i] = A[i, j]`.
fn transpose(ctx: &Ctx, extent: &str) -> Algorithm {
    let (i, j): (&[i64], &[i64]) = (&[1, 0], &[0, 1]);
    let statement = Statement {
        name: "S",
        iterators: &["i", "j"],
        domain: &format!("{{ S[i, j] : 1 <= i <= n and 1 <= j <= {extent} }}"),
        write: (0, &[(j, 0), (i, 0)]),
        reads: &[(1, &[(i, 0), (j, 0)])],
    };
    let order = for_loop("i", 0, &[0], for_loop("j", 1, &[0], leaf(0)));
    algorithm(ctx, &[("B", 2), ("A", 2)], &[statement], order)
}

#[test]
fn rows_that_become_columns_go_in_tiles_that_use_up_their_lines() {
    let ctx = Ctx::new();
    let start = scheduled(transpose(&ctx, "n"), Target::Cpu);
    let all = dependences(&ctx, &start.algorithm).unwrap();
    let done = default_order::schedule(&ctx, &start, &all).unwrap();
    let expected = "\
for i0 = floor((i - 1)/16)  # parallel
  for j0 = floor((j - 1)/16)
    for i1 = i - 16*floor((i - 1)/16) - 1
      for j1 = j - 16*floor((j - 1)/16) - 1  # vector(4)
        S: B[j, i] = A[i, j]
";
    assert_eq!(print::schedule(&done.algorithm, &done.schedule), expected);
    // Few columns stay in the cache anyway.
    let start = scheduled(transpose(&ctx, "3"), Target::Cpu);
    let all = dependences(&ctx, &start.algorithm).unwrap();
    let done = default_order::schedule(&ctx, &start, &all).unwrap();
    let text = print::schedule(&done.algorithm, &done.schedule);
    assert!(!text.contains("floor"), "{text}");
}

#[test]
fn neighbours_whose_common_loop_would_carry_values_stay_apart() {
    let ctx = Ctx::new();
    // Within strips, too, or too many rows apart.
    for (di, dj) in [(1, -1), (-1, 1), (1, 1), (0, 5)] {
        let mut passes = two_passes(&ctx, di, dj);
        passes.arrays[0].kind = ArrayKind::Local { outer: 0 };
        let start = scheduled(passes, Target::Cpu);
        let all = dependences(&ctx, &start.algorithm).unwrap();
        let done = default_order::schedule(&ctx, &start, &all).unwrap();
        let text = print::schedule(&done.algorithm, &done.schedule);
        assert_eq!(text.matches("for j  # parallel").count(), 2, "{text}");
    }
}

#[test]
fn a_column_that_does_not_fit_into_the_cache_is_no_reason_for_a_common_loop() {
    let ctx = Ctx::new();
    let mut start = scheduled(two_passes(&ctx, 1, 0), Target::Cpu);
    start.machine.l2_bytes = 8 << 10;
    let all = dependences(&ctx, &start.algorithm).unwrap();
    let done = default_order::schedule(&ctx, &start, &all).unwrap();
    let text = print::schedule(&done.algorithm, &done.schedule);
    assert_eq!(text.matches("for j  # parallel").count(), 2, "{text}");
}

/// `for k, j, i: A[i, j] = A[i, j] + A[i, k] + A[k, j]`.
fn shortest_paths(ctx: &Ctx) -> Algorithm {
    let (i, j, k): (&[i64], &[i64], &[i64]) = (&[0, 0, 1], &[0, 1, 0], &[1, 0, 0]);
    let statement = Statement {
        name: "S",
        iterators: &["k", "j", "i"],
        domain: "{ S[k, j, i] : 1 <= k <= n and 1 <= j <= n and 1 <= i <= n }",
        write: (0, &[(i, 0), (j, 0)]),
        reads: &[(0, &[(i, 0), (j, 0)]), (0, &[(i, 0), (k, 0)]), (0, &[(k, 0), (j, 0)])],
    };
    let order = for_loop("k", 0, &[0], for_loop("j", 1, &[0], for_loop("i", 2, &[0], leaf(0))));
    algorithm(ctx, &[("A", 2)], &[statement], order)
}

#[test]
fn pieces_beside_the_row_and_column_that_change_run_on_threads() {
    let ctx = Ctx::new();
    let start = scheduled(shortest_paths(&ctx), Target::Cpu);
    let all = dependences(&ctx, &start.algorithm).unwrap();
    let uncut = default_order::schedule(&ctx, &start, &all).unwrap();
    assert_eq!(uncut.schedule, start.schedule, "every loop carries a dependence");
    let chosen = default_order::choose(&ctx, &start, &all, means(Tilings::Wanted)).unwrap();
    let (done, cuts) = (chosen.scheduled, chosen.rewritten.expect("it is cut"));
    let text = print::schedule(&done.algorithm, &done.schedule);
    let commands: Vec<String> = cuts.commands.iter().map(ToString::to_string).collect();
    assert_eq!(commands, ["pieces(S, j, k)", "pieces(S, i, k)", "pieces(S_piece1, i, k)", "pieces(S_piece2, i, k)"]);
    assert_eq!(done.algorithm.computations.len(), 9, "{text}");
    assert!(text.starts_with("for k\n  for j  # parallel\n    for i  # vector(4)\n      S: A[i, j] ="), "{text}");
    // Judged by the dependences of the pieces as they are, not by what the cut made of the old ones.
    let anew = dependences(&ctx, &done.algorithm).unwrap();
    legality::check(&ctx, &done.algorithm, &done.schedule, &anew).unwrap();
}

fn means(tilings: Tilings) -> Means {
    Means { memory: Memory::Plain, tilings }
}

/// `for t: for j, i: B[i, j] = A[i - 1, j] + A[i + 1, j] + A[i, j - 1] + A[i, j + 1]; for j, i: A[i, j] = B[i, j]`.
fn two_sweeps(ctx: &Ctx) -> Algorithm {
    let domain = |name: &str| format!("{{ {name}[t, j, i] : 1 <= t <= n and 2 <= j < n and 2 <= i < n }}");
    let (first, second) = (domain("S"), domain("R"));
    let (i, j): (&[i64], &[i64]) = (&[0, 0, 1], &[0, 1, 0]);
    let here: Rows = &[(i, 0), (j, 0)];
    let beside = [[(i, -1), (j, 0)], [(i, 1), (j, 0)], [(i, 0), (j, -1)], [(i, 0), (j, 1)]];
    let reads = beside.each_ref().map(|it| (0, it.as_slice()));
    let iterators: &[&str] = &["t", "j", "i"];
    let statements = [
        Statement { name: "S", iterators, domain: &first, write: (1, here), reads: &reads },
        Statement { name: "R", iterators, domain: &second, write: (0, here), reads: &[(1, here)] },
    ];
    let nest = |id: u32| for_loop("j", 1, &[id], for_loop("i", 2, &[id], leaf(id)));
    let order = for_loop("t", 0, &[0, 1], Node::Sequence(vec![nest(0), nest(1)]));
    algorithm(ctx, &[("A", 2), ("B", 2)], &statements, order)
}

#[test]
fn time_loops_over_stencils_become_hexagons_that_fit_into_a_cache() {
    let ctx = Ctx::new();
    let mut start = scheduled(two_sweeps(&ctx), Target::Cpu);
    let all = dependences(&ctx, &start.algorithm).unwrap();
    let commands = |start: &Scheduled, tilings| {
        let chosen = default_order::choose(&ctx, start, &all, means(tilings)).unwrap();
        let of = chosen.rewritten.iter().flat_map(|it| &it.commands).map(ToString::to_string);
        of.collect::<Vec<_>>()
    };
    // 46 rows of 2048 elements of two arrays of 8 bytes take 1.5 MiB, which caches close to a core hold even if the second level does not.
    // With more threads, hexagons are narrower, so that each thread gets two of a phase.
    for (threads, expected) in [(2, "hexagonal(S, t, (j, i), 15, 15)"), (64, "hexagonal(S, t, (j, i), 3, 3)")] {
        start.machine.threads = threads;
        assert_eq!(commands(&start, Tilings::Wanted), [expected]);
    }
    assert_eq!(commands(&start, Tilings::Avoided), [""; 0]);
    start.machine.threads = 4096;
    assert_eq!(commands(&start, Tilings::Wanted), [""; 0]);
}

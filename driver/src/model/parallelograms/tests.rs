use super::*;
use tessella_polyhedral::models::parallelograms::predict;

const CASES: [(&str, &str); 7] = [
    ("gauss1d", include_str!("../../../../examples/models/gauss1d.txt")),
    ("jacobi1d", include_str!("../../../../examples/models/jacobi1d.txt")),
    ("pathfinder", include_str!("../../../../examples/models/pathfinder.txt")),
    ("gauss2d", include_str!("../../../../examples/models/gauss2d.txt")),
    ("jacobi2d", include_str!("../../../../examples/models/jacobi2d.txt")),
    ("poisson", include_str!("../../../../examples/models/poisson.txt")),
    ("hotspot", include_str!("../../../../examples/models/hotspot.txt")),
];

fn stated(text: &str) -> problem::Stated {
    let file = SourceMap::default().add("p.txt", text, 1);
    problem::parse(text, file).unwrap_or_else(|errors| panic!("{errors:?}"))
}

/// What a problem's first scheme takes, its second, and the shapes that the search selects, which starts from the best of both.
fn times(text: &str, seed: u64) -> [f64; 3] {
    let stated = stated(text);
    let usual: Vec<_> = stated.schemes.iter().map(|it| schemes::best(&stated.problem, it).unwrap()).collect();
    let starts: Vec<Shapes> = usual.iter().map(|(shapes, _)| shapes.clone()).collect();
    let found = search(&stated.problem, &starts, seed, 50_000, &mut |_, _| {}).unwrap();
    [usual[0].1.time, usual[1].1.time, found.prediction.time]
}

/// As many hundredths as the schemes take longer: what the search finds beyond its starts.
#[test]
fn selected_shapes_are_faster_than_the_usual_ones_by_what_is_known() {
    let gains = CASES.map(|(_, text)| {
        let [first, second, selected] = times(text, 1);
        [first, second].map(|it| (100.0 * (it / selected - 1.0)).round())
    });
    let expected =
        [[45.0, 18.0], [39.0, 54.0], [39.0, 54.0], [0.0, 45.0], [145.0, 198.0], [145.0, 198.0], [144.0, 197.0]];
    assert_eq!(gains, expected);
    let over_the_second: f64 = gains.iter().map(|it| it[1]).sum();
    assert!(over_the_second / CASES.len() as f64 >= 20.0, "{gains:?}");
}

/// Random directions and restarts find other shapes with another seed, of about the same time.
#[test]
fn seeds_agree_about_what_can_be_gained() {
    for (name, text) in CASES {
        let [_, second, one] = times(text, 1);
        let [_, _, other] = times(text, 2);
        assert!(one.max(other) < 1.05 * one.min(other), "{name}: {one} and {other}");
        assert!(one.max(other) < second / 1.1, "{name}: {one} and {other}");
    }
}

#[test]
fn selected_shapes_are_predicted_no_worse_than_the_published_ones() {
    let published = [
        (CASES[0].1, [Matrix::new(&[&[8, 0], &[0, 4]]), Matrix::new(&[&[8192, -8192], &[0, 411]])]),
        (CASES[1].1, [Matrix::new(&[&[4, -4], &[4, 4]]), Matrix::new(&[&[8330, -8330], &[0, 632]])]),
    ];
    let seconds = published.map(|(text, shapes)| {
        let published = predict(&stated(text).problem, &shapes).unwrap().time;
        let [_, scheme, selected] = times(text, 1);
        [selected, scheme, published].map(f64::round)
    });
    // By the formula the published shapes are slower than the scheme that they are compared with, at its published sizes (685 and
    // 681) and at its best ones.
    assert_eq!(seconds, [[495.0, 585.0, 1362.0], [375.0, 578.0, 719.0]]);
}

#[test]
fn what_a_problem_says_is_told_and_drawn() {
    let text = "space 16 0; 0 16\ndependence 1 0\ndependence 0 1\nlevel 0 1\nlevel 0 16\n";
    let square = |side| vec![vec![side, 0], vec![0, side]];
    let given = vec![square(1), square(4)];
    let told =
        parallelograms(text, "p.txt", SearchOptions { seed: 1, evaluations: 500, given }, &mut |_, _| {}).unwrap();
    assert!(told.text.contains("selected") && told.text.contains("exact: time"), "{}", told.text);
    // Tiles of 4 x 4 points: 8 in the limit where 7 is right, and as many of those through the space.
    let line = told.text.lines().find(|line| line.trim_start().starts_with("given")).expect(&told.text);
    let words: Vec<&str> = line.split_whitespace().collect();
    assert_eq!([&words[1..2], &words[3..]].concat(), ["64.00", "8", "and", "8", "49.00", "7", "and", "7"], "{line}");
    assert!(told.picture(None).unwrap().contains("<polygon"));
}

#[test]
fn a_line_that_is_not_understood_is_shown() {
    let refused = parallelograms(
        "space 16 0; 0 16\ndependense 1 0\n",
        "p.txt",
        SearchOptions { seed: 1, evaluations: 1, given: vec![] },
        &mut |_, _| {},
    );
    let text = refused.unwrap_err();
    assert!(text.contains("E0581") && text.contains("2 │ dependense 1 0"), "{text}");
}

#[test]
fn what_a_problem_must_not_say_is_told_at_its_line() {
    let plain = "space 16 0; 0 16\ndependence 1 0\nlevel 0 16\n";
    let levels = "level 0 32\n".repeat(5);
    for (more, line, text) in [
        ("dependence 0 0\n", "4 │ dependence 0 0", "run before itself"),
        ("dependence 1 0 0\n", "4 │ dependence 1 0 0", "one number for each axis of the space, 2 here"),
        ("dependence 0 1\ndependence 7\n", "5 │ dependence 7", "one number for each axis of the space, 2 here"),
        ("iteration 1\niteration 1\n", "5 │ iteration 1", "an iteration takes one time"),
        ("dependence 99999999999 0\n", "4 │ dependence 99999999999 0", "a number of this line is too large"),
        ("iteration 1e400\n", "4 │ iteration 1e400", "a number of this line is too large"),
        ("iteration 1e308\n", "4 │ iteration 1e308", "a number of this line is too large"),
        ("level 1e31 4\n", "4 │ level 1e31 4", "a number of this line is too large"),
        ("iteration -1\n", "4 │ iteration -1", "not understood"),
        ("space 8 0; 0 8\n", "4 │ space 8 0; 0 8", "a problem has one space"),
        (levels.as_str(), "7 │ level 0 32", "at most 4 levels of tiles"),
    ] {
        let text_of = format!("{plain}{more}");
        let options = SearchOptions { seed: 1, evaluations: 1, given: vec![] };
        let said = parallelograms(&text_of, "p.txt", options, &mut |_, _| {}).unwrap_err();
        assert!(said.contains("E0581") && said.contains(text) && said.contains(line), "{more}: {said}");
    }
    let three = "space 16 0; 0 16\ndependence 1 0\nlevel 0 16\nlevel 0 4\nlevel 0 4\nlevel 0 4\niteration\t2\n";
    assert_eq!((stated(three).problem.overhead.len(), stated(three).problem.iteration), (4, 2.0));
}

#[test]
fn a_space_without_independent_edges_is_shown() {
    let text = "# a comment\nspace 16 0; 32 0\ndependence 1 0\nlevel 0 16\n";
    let said = parallelograms(text, "p.txt", SearchOptions { seed: 1, evaluations: 1, given: vec![] }, &mut |_, _| {})
        .unwrap_err();
    assert!(said.contains("independent edges") && said.contains("2 │ space 16 0; 32 0"), "{said}");
}

#[test]
fn a_given_shape_stands_beside_the_selected_one_if_it_is_a_tiling() {
    let text = "space 64 0; 0 64\ndependence 1 0\ndependence 0 1\nlevel 0.5 16\n";
    let of = |given: Vec<Vec<i64>>| {
        let options = SearchOptions { seed: 1, evaluations: 300, given: vec![given] };
        parallelograms(text, "p.txt", options, &mut |_, _| {})
    };
    let told = of(vec![vec![8, 0], vec![0, 2]]).unwrap();
    assert!(told.text.contains("given") && told.text.contains("level 0: (8, 0; 0, 2)"), "{}", told.text);
    assert!(told.picture(Some(("2", "1"))).unwrap().contains("axis 2 right, axis 1 up"));
    let error = told.picture(Some(("t", "1"))).unwrap_err().to_string();
    assert_eq!(error, "nothing has the axes `t` and `1`: there are axis 1, axis 2");
    let said = of(vec![vec![-8, 0], vec![0, 2]]).unwrap_err();
    assert!(said.contains("E0581") && said.contains("the given shapes are no tiling: the dependence [1, 0]"), "{said}");
}

/// Dependences along one diagonal leave the others free, and so does one along an axis.
#[test]
fn dependences_that_do_not_span_the_space_are_told() {
    let told = |dependences: &str| {
        let text = format!("space 64 0; 0 64\n{dependences}\niteration 1e-9\nlevel 1e-6 64\n");
        let options = SearchOptions { seed: 1, evaluations: 100, given: vec![] };
        parallelograms(&text, "p.txt", options, &mut |_, _| {}).unwrap().text
    };
    for free in ["dependence 1 0", "dependence 1 1", "dependence 1 1\ndependence 2 2"] {
        assert!(told(free).contains("nothing waits along some directions"), "{free}");
    }
    for spanning in
        ["dependence 1 0\ndependence 0 1", "dependence 1 1\ndependence 1 -1", "dependence 2 1\ndependence 1 2"]
    {
        assert!(!told(spanning).contains("nothing waits"), "{spanning}");
    }
}

#[test]
fn a_scheme_that_is_no_tiling_is_named() {
    let told = |more: &str| {
        let text = format!("space 64 0; 0 64\ndependence 1 -1\ndependence 0 1\niteration 1e-9\nlevel 1e-6 64\n{more}");
        let options = SearchOptions { seed: 1, evaluations: 100, given: vec![] };
        parallelograms(&text, "p.txt", options, &mut |_, _| {}).unwrap().text
    };
    let left_out = |name: &str, why: &str| format!("left out is the scheme {name}: {why}\n");
    let both = told("scheme Skewing-1\nscheme Diamond\n");
    assert!(both.contains(&left_out("Diamond", "it is no tiling for these dependences")), "{both}");
    assert!(both.contains("\n  Skewing-1 ") && !both.contains("scheme Skewing-1"), "{both}");
    // Nothing that the file names is a tiling, but others are.
    let other = told("scheme Diamond\n");
    assert!(other.contains("\n  selected ") && other.contains("left out is the scheme Diamond"), "{other}");
    assert!(!told("").contains("left out"));
}

#[test]
fn why_a_scheme_is_left_out_depends_on_axes_and_sizes() {
    let told = |text: &str| {
        let options = SearchOptions { seed: 1, evaluations: 100, given: vec![] };
        parallelograms(text, "p.txt", options, &mut |_, _| {}).unwrap().text
    };
    let cube = "space 8 0 0; 0 8 0; 0 0 8\ndependence 1 0 0\ndependence 0 1 0\ndependence 0 0 1\nlevel 1 8\n";
    let flat = told(&format!("{cube}scheme Diamond\n"));
    assert!(flat.contains("the scheme Diamond: Diamond is a shape over two axes"), "{flat}");
    let small = told("space 64 0; 0 64\ndependence 1 0\ndependence 0 2\nlevel 1 3\nscheme Square\n");
    assert!(small.contains("the scheme Square: it has no tiling of so few points"), "{small}");
}

#[test]
fn a_file_without_lines_of_a_problem_is_refused_once() {
    let text = include_str!("../../../../examples/heat2d.jl");
    let options = SearchOptions { seed: 1, evaluations: 1, given: vec![] };
    let said = parallelograms(text, "heat2d.txt", options, &mut |_, _| {}).unwrap_err();
    assert_eq!(said.matches("error[").count(), 1, "{said}");
    assert!(said.contains("a name that ends in `.jl`"), "{said}");
}

#[test]
fn a_space_beyond_all_numbers_is_called_that() {
    let said = |side: u64| {
        let row =
            |at: usize| (0..4).map(|it| if it == at { side } else { 0 }.to_string()).collect::<Vec<_>>().join(" ");
        let unit = |at: usize| (0..4).map(|it| u8::from(it == at).to_string()).collect::<Vec<_>>().join(" ");
        let rows: Vec<String> = (0..4).map(row).collect();
        let units: String = (0..4).map(|at| format!("dependence {}\n", unit(at))).collect();
        let text = format!("space {}\n{units}level 1e-6 65536\n", rows.join("; "));
        let options = SearchOptions { seed: 1, evaluations: 100, given: vec![] };
        parallelograms(&text, "p.txt", options, &mut |_, _| {}).err()
    };
    assert_eq!(said(1 << 10), None);
    let said = said(1 << 32).unwrap();
    assert!(said.contains("numbers pass 128 bits for a space of this size"), "{said}");
}

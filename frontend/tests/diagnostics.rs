//! How each syntax error reads.

use expect_test::{Expect, expect};
use tessella_diagnostics::{IntoDiagnostic, SourceMap, Style, render};
use tessella_frontend::{parse_block, parse_function, scan};

fn check(text: &str, expected: Expect) {
    let mut sources = SourceMap::default();
    let file = sources.add("kernel.jl", text, 1);
    let errors = parse_block(&sources, file).expect_err("the source is wrong");
    let diagnostics: Vec<_> = errors.into_iter().map(IntoDiagnostic::into_diagnostic).collect();
    expected.assert_eq(&render(&sources, &diagnostics, Style::Plain));
}

#[test]
fn an_unexpected_token_names_what_could_stand_there() {
    check(
        "x = a + * b",
        expect![[r#"
        error[E0101]: unexpected `*`
          ┌─ kernel.jl:1:9
          │
        1 │ x = a + * b
          │         ^ expected an expression

    "#]],
    );
    check(
        "A[i] = B[i j",
        expect![[r#"
        error[E0103]: `[` is never closed
          ┌─ kernel.jl:1:9
          │
        1 │ A[i] = B[i j
          │         ^ opened here
          │
          = help: close it with `]`

    "#]],
    );
    check(
        "A[i,,j]",
        expect![[r#"
        error[E0101]: unexpected `,`
          ┌─ kernel.jl:1:5
          │
        1 │ A[i,,j]
          │     ^ expected an expression

    "#]],
    );
    check(
        "f (x)",
        expect![[r#"
        error[E0101]: unexpected `(`
          ┌─ kernel.jl:1:3
          │
        1 │ f (x)
          │   ^ expected an operator or a new line
          │
          = help: a call takes no space between the function and `(`

    "#]],
    );
    check(
        "for i\n    x\nend",
        expect![[r#"
        error[E0101]: unexpected end of the line
          ┌─ kernel.jl:1:6
          │
        1 │ for i
          │      ^ expected `in`

    "#]],
    );
    check(
        "x = a ? b",
        expect![[r#"
        error[E0101]: unexpected end of the expression
          ┌─ kernel.jl:1:7
          │
        1 │ x = a ? b
          │       ^ expected `:`
          │
          = help: write `condition ? yes : no`

    "#]],
    );
    check(
        "if\n    x\nend",
        expect![[r#"
        error[E0101]: unexpected end of the line
          ┌─ kernel.jl:1:3
          │
        1 │ if
          │   ^ expected an expression

    "#]],
    );
}

#[test]
fn an_unterminated_literal_points_at_its_opener() {
    check(
        "x = \"abc",
        expect![[r#"
        error[E0102]: unterminated string
          ┌─ kernel.jl:1:5
          │
        1 │ x = "abc
          │     ^ begins here
          │
          = help: close it with `"`

    "#]],
    );
    check(
        "x #= never\nclosed",
        expect![[r#"
        error[E0102]: unterminated comment
          ┌─ kernel.jl:1:3
          │
        1 │ x #= never
          │   ^^ begins here
          │
          = help: close it with `=#`

    "#]],
    );
}

#[test]
fn an_unclosed_bracket_points_at_the_bracket() {
    check(
        "function f(x)\n    y = (x + 1\nend",
        expect![[r#"
        error[E0103]: `(` is never closed
          ┌─ kernel.jl:2:9
          │
        2 │     y = (x + 1
          │         ^ opened here
        3 │ end
          │ --- reached while looking for the closing bracket
          │
          = help: close it with `)`

    "#]],
    );
    check(
        "function f(x)\n    y = x[1\nend",
        expect![[r#"
        error[E0103]: `[` is never closed
          ┌─ kernel.jl:2:10
          │
        2 │     y = x[1
          │          ^ opened here
        3 │ end
          │ --- reached while looking for the closing bracket
          │
          = help: close it with `]`

    "#]],
    );
}

#[test]
fn an_unclosed_block_points_at_its_keyword() {
    check(
        "function f(x)\n    for i in 1:2\n        x\nend",
        expect![[r#"
        error[E0104]: `for` has no matching `end`
          ┌─ kernel.jl:2:5
          │
        2 │     for i in 1:2
          │     ^^^ opened here
        3 │         x
        4 │ end
          │ --- closed by this `end`, which is indented like an outer one
          │
          = help: add an `end` for this `for`

    "#]],
    );
    check(
        "while true",
        expect![[r#"
        error[E0104]: `while` has no matching `end`
          ┌─ kernel.jl:1:1
          │
        1 │ while true
          │ ^^^^^ opened here
          │
          = help: add an `end` for this `while`

    "#]],
    );
}

#[test]
fn a_stray_closer_is_reported() {
    check(
        "x = 1)\ny = 2",
        expect![[r#"
        error[E0105]: `)` closes nothing
          ┌─ kernel.jl:1:6
          │
        1 │ x = 1)
          │      ^ no open block or bracket to close
          │
          = help: remove this `)`, or add what it should close

    "#]],
    );
    check(
        "x = 1\nend",
        expect![[r#"
        error[E0105]: `end` closes nothing
          ┌─ kernel.jl:2:1
          │
        2 │ end
          │ ^^^ no open block or bracket to close
          │
          = help: remove this `end`, or add what it should close

    "#]],
    );
}

#[test]
fn an_invalid_literal_says_why() {
    check(
        "x = 0b12 + 1.2.3",
        expect![[r#"
        error[E0106]: invalid number `0b12`
          ┌─ kernel.jl:1:5
          │
        1 │ x = 0b12 + 1.2.3
          │     ^^^^ has a digit beyond its base

        error[E0106]: invalid number `1.2.3`
          ┌─ kernel.jl:1:12
          │
        1 │ x = 0b12 + 1.2.3
          │            ^^^^^ a number has one decimal point

    "#]],
    );
    check(
        "x = “quoted”",
        expect![[r#"
        error[E0106]: invalid character `“`
          ┌─ kernel.jl:1:5
          │
        1 │ x = “quoted”
          │     ^ U+201C has no meaning in Julia code

        error[E0106]: invalid character `”`
          ┌─ kernel.jl:1:12
          │
        1 │ x = “quoted”
          │            ^ U+201D has no meaning in Julia code

    "#]],
    );
}

#[test]
fn unsupported_syntax_is_named() {
    check(
        "function f(x)\n    try\n        x\n    catch e\n    end\n    y = A[i -1]\nend",
        expect![[r#"
            error[E0107]: `try` is not supported here
              ┌─ kernel.jl:2:5
              │
            2 │     try
              │     ^^^ not supported
              │
              = help: move error handling outside the function

            error[E0107]: an index with parts that no comma separates is not supported here
              ┌─ kernel.jl:6:9
              │
            6 │     y = A[i -1]
              │         ^^^^^^^ not supported
              │
              = help: separate subscripts by `,`; whitespace in `A[i -1]` separates, too: write `A[i - 1]` for a difference

        "#]],
    );
    check(
        "function f((a, b))\n    a\nend",
        expect![[r#"
        error[E0107]: a parameter that is not a name is not supported here
          ┌─ kernel.jl:1:12
          │
        1 │ function f((a, b))
          │            ^^^^^^ not supported
          │
          = help: give the parameter a name, and take it apart in the function's body

    "#]],
    );
}

#[test]
fn too_deep_nesting_is_refused() {
    let mut sources = SourceMap::default();
    for text in [
        "(".repeat(5000) + "x" + &")".repeat(5000),
        "-".repeat(5000) + "x",
        vec!["x"; 5000].join(" + "),
        "x -> ".repeat(5000) + "x",
        "f(".repeat(800) + &")".repeat(800),
        "x = ".repeat(400) + "1",
        "a ? b : ".repeat(400) + "1",
    ] {
        let file = sources.add("kernel.jl", text, 1);
        let errors = parse_block(&sources, file).expect_err("the source nests too deep");
        let diagnostic = errors[0].clone().into_diagnostic();
        assert_eq!(diagnostic.code.0, "E0108", "{diagnostic:?}");
    }
}

#[test]
fn a_definition_without_parameters_is_incomplete() {
    check(
        "function f\n    1\nend",
        expect![[r#"
        error[E0109]: this function has no parameter list
          ┌─ kernel.jl:1:10
          │
        1 │ function f
          │          ^ not a complete definition
          │
          = help: write the parameters in parentheses directly after the name, as in `f(x)`

    "#]],
    );
}

#[test]
fn a_malformed_annotation_says_what_is_missing() {
    let mut sources = SourceMap::default();
    let file =
        sources.add("kernel.jl", "@tessella target=:cuda\n@schedule f\n@schedule begin end\n@tessella x = 1\n", 1);
    let diagnostics: Vec<_> = scan(&sources, file).errors.into_iter().map(IntoDiagnostic::into_diagnostic).collect();
    expect![[r#"
        error[E0110]: `@tessella` has no function to apply to
          ┌─ kernel.jl:1:1
          │
        1 │ @tessella target=:cuda
          │ ^^^^^^^^^ in this annotation
          │
          = help: write `@tessella` before a function definition, with options such as `target=:cuda` between

        error[E0110]: this `@schedule` has no function name and `begin` block
          ┌─ kernel.jl:2:1
          │
        2 │ @schedule f
          │ ^^^^^^^^^ in this annotation
          │
          = help: write `@schedule f begin ... end`, with the scheduling commands of `f` inside

        error[E0110]: this `@schedule` has no function name and `begin` block
          ┌─ kernel.jl:3:1
          │
        3 │ @schedule begin end
          │ ^^^^^^^^^ in this annotation
          │
          = help: write `@schedule f begin ... end`, with the scheduling commands of `f` inside

        error[E0110]: `@tessella` has no function to apply to
          ┌─ kernel.jl:4:1
          │
        4 │ @tessella x = 1
          │ ^^^^^^^^^ in this annotation
          │
          = help: write `@tessella` before a function definition, with options such as `target=:cuda` between

    "#]]
    .assert_eq(&render(&sources, &diagnostics, Style::Plain));
}

#[test]
fn several_errors_of_one_function_are_reported_together() {
    let text = "function f(A)\n    x = a + * b\n    for i n 1:3\n        A[i] = = 2\n        y = 1\n    end\n    return x y\nend";
    let mut sources = SourceMap::default();
    let file = sources.add("kernel.jl", text, 1);
    let found = scan(&sources, file);
    assert_eq!(found.errors, []);
    let errors = parse_function(&sources, &found.functions[0]).expect_err("four lines are wrong");
    let lines: Vec<_> = errors.iter().map(|error| sources.position(error.span()).0).collect();
    assert_eq!(lines, [2, 3, 4, 7]);
}

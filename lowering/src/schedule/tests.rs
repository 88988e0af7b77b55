//! Command calls written as syntax trees.

use super::{CommandError, commands};
use tessella_diagnostics::{FileId, IntoDiagnostic, Span, Spanned};
use tessella_frontend::ast::{Argument, Broadcast, Expr, ExprKind, Iteration, Operator, Section};

fn span(at: usize) -> Span {
    Span::new(FileId(0), at..at + 1)
}

fn expr(kind: ExprKind) -> Expr {
    Expr { kind, span: span(0) }
}

fn name(text: &str) -> Expr {
    expr(ExprKind::Name(text.into()))
}

fn number(text: &str) -> Expr {
    match text.strip_prefix('-') {
        Some(digits) => {
            let operator = Spanned { value: Operator { symbol: "-".into(), dotted: false }, span: span(0) };
            expr(ExprKind::Prefix { operator, operand: Box::new(number(digits)) })
        }
        None => expr(ExprKind::Integer(text.into())),
    }
}

fn arguments(elements: Vec<Expr>) -> Vec<Argument> {
    elements.into_iter().map(|value| Argument { keyword: None, value, section: Section::Main }).collect()
}

fn tuple(elements: Vec<Expr>) -> Expr {
    expr(ExprKind::Tuple(arguments(elements)))
}

fn call(callee: &str, elements: Vec<Expr>) -> Expr {
    let callee = Box::new(name(callee));
    expr(ExprKind::Call { callee, arguments: arguments(elements), broadcast: Broadcast::No })
}

fn compared(left: Expr, symbol: &str, right: Expr) -> Expr {
    let operator = Spanned { value: Operator { symbol: symbol.into(), dotted: false }, span: span(0) };
    expr(ExprKind::Comparison { operands: vec![left, right], operators: vec![operator] })
}

/// The commands as a user writes them.
#[track_caller]
fn accepted(calls: Vec<Expr>) -> Vec<String> {
    let commands = commands(&calls).expect("the commands are well formed");
    commands.iter().map(|command| command.value.to_string()).collect()
}

#[track_caller]
fn refused(callee: &str, elements: Vec<Expr>) -> CommandError {
    let mut errors = commands(&vec![call(callee, elements)]).expect_err("the command is refused");
    assert_eq!(errors.len(), 1);
    errors.remove(0)
}

#[test]
fn commands_print_as_they_are_written() {
    let [s, r, i, j] = ["S", "R", "i", "j"].map(name);
    let pair = || tuple(vec![i.clone(), j.clone()]);
    let calls = vec![
        call("tile", vec![s.clone(), pair(), tuple(vec![number("32"), number("0x10")])]),
        call("interchange", vec![s.clone(), i.clone(), j.clone()]),
        call("split", vec![s.clone(), i.clone(), number("1_000")]),
        call("after", vec![r.clone(), s.clone()]),
        call("before", vec![r.clone(), s.clone(), i.clone()]),
        call("gpu", vec![s.clone(), i.clone(), j.clone()]),
        call("shift", vec![s.clone(), i.clone(), number("-2")]),
        call("fuse", vec![r.clone(), s.clone(), i.clone()]),
        call("skew", vec![s.clone(), i.clone(), j.clone(), expr(ExprKind::Symbol("auto".into()))]),
        call("unroll_and_jam", vec![s.clone(), i.clone(), number("4")]),
        call("collapse", vec![s.clone(), i.clone(), j.clone()]),
        call("rfactor", vec![s.clone(), i.clone(), number("8")]),
        call("compute_at", vec![r.clone(), s.clone(), i.clone()]),
        call("privatize", vec![name("A"), s.clone(), i.clone()]),
        call("overlapped", vec![s.clone(), name("t"), i.clone(), number("4"), number("32")]),
        call("separate", vec![s.clone(), pair()]),
        call("between", vec![name("Q"), s.clone(), i.clone(), r, i.clone()]),
        call("assume", vec![compared(name("n"), ">=", number("32"))]),
        call("specialize", vec![compared(call("mod", vec![name("n"), number("8")]), "==", number("0"))]),
        call("inline", vec![s]),
        call("auto", vec![]),
    ];
    let expected = [
        "tile(S, (i, j), (32, 16))",
        "interchange(S, i, j)",
        "split(S, i, 1000)",
        "after(R, S)",
        "before(R, S, i)",
        "gpu(S, i, j)",
        "shift(S, i, -2)",
        "fuse(R, S, i)",
        "skew(S, i, j, :auto)",
        "unroll_and_jam(S, i, 4)",
        "collapse(S, i, j)",
        "rfactor(S, i, 8)",
        "compute_at(R, S, i)",
        "privatize(A, S, i)",
        "overlapped(S, t, i, 4, 32)",
        "separate(S, (i, j))",
        "between(Q, S, i, R, i)",
        "assume(n >= 32)",
        "specialize(mod(n, 8) == 0)",
        "inline(S)",
        "auto()",
    ];
    assert_eq!(accepted(calls), expected);
}

#[test]
fn a_misspelt_command_is_recognised() {
    let error = refused("paralel", vec![name("S"), name("i")]);
    assert_eq!(error.code().0, "E0480");
    assert_eq!(error.into_diagnostic().help, ["write `parallel`, which has a similar name"]);
}

#[test]
fn arguments_of_the_wrong_kind_name_the_form() {
    let error = refused("split", vec![name("S"), name("i"), name("n")]);
    assert_eq!(error.to_string(), "expected a size as an integer literal");
    assert_eq!(error.into_diagnostic().help, ["write `split(S, i, 32)`"]);
    assert_eq!(refused("split", vec![name("S"), name("i")]).to_string(), "`split` does not take 2 arguments");
    assert_eq!(refused("parallel", vec![number("1"), name("i")]).code().0, "E0483");
}

#[test]
fn sizes_are_positive_and_match_the_loops() {
    assert_eq!(refused("unroll", vec![name("S"), name("i"), number("0")]).code().0, "E0484");
    assert_eq!(refused("unroll", vec![name("S"), name("i"), number("-4")]).code().0, "E0484");
    assert_eq!(refused("unroll", vec![name("S"), name("i"), number("4294967296")]).code().0, "E0484");
    let error = refused("tile", vec![name("S"), tuple(vec![name("i"), name("j")]), number("32")]);
    assert_eq!(error.to_string(), "`tile` has 2 loops and 1 size");
}

#[test]
fn everything_else_is_no_command() {
    let errors = commands(&vec![name("tile"), number("1")]).expect_err("neither is a call");
    assert_eq!(errors.iter().map(|error| error.code().0).collect::<Vec<_>>(), ["E0481", "E0481"]);
}

fn looped(target: &str, range: Expr, body: Vec<Expr>) -> Expr {
    let iteration = Iteration { target: name(target), range, span: span(0) };
    expr(ExprKind::For { iterations: vec![iteration], body })
}

fn tagged(tag: &str, mut arguments: Vec<Expr>, looped: Expr) -> Expr {
    arguments.push(looped);
    let name = Spanned { value: tag.to_string(), span: span(0) };
    expr(ExprKind::MacroCall { name, arguments })
}

#[test]
fn loops_that_follow_one_another_are_one_command() {
    let tiles = tagged("parallel", vec![], looped("i0", call("fld", vec![name("i"), number("32")]), vec![name("S")]));
    let points = tagged("vectorize", vec![number("8")], looped("i", name("i"), vec![name("R")]));
    let block = vec![tiles, points, name("T"), call("parallel", vec![name("T"), name("i")])];
    let found = commands(&block).unwrap();
    let texts: Vec<String> = found.iter().map(|command| command.value.to_string()).collect();
    let tree = "@parallel for i0 = fld(i, 32)\n    S\nend\n@vectorize 8 for i = i\n    R\nend\nT";
    assert_eq!(texts, [tree, "parallel(T, i)"]);
}

#[test]
fn loops_run_through_affine_expressions_of_positive_divisors() {
    let code = |range: Expr| commands(&vec![looped("i", range, vec![name("S")])]).unwrap_err()[0].to_string();
    assert_eq!(code(call("fld", vec![name("i"), number("0")])), "the divisor is not a positive integer literal");
    assert_eq!(code(call("fld", vec![name("i"), name("n")])), "the divisor is not a positive integer literal");
    let affine = "a loop of a schedule runs through something that is not affine";
    assert_eq!(code(call("div", vec![name("i"), number("2")])), affine);
    assert_eq!(code(tuple(vec![name("i")])), affine);
    let empty = commands(&vec![looped("i", name("i"), vec![])]).unwrap_err();
    assert_eq!(empty[0].to_string(), "a loop of a schedule holds nothing");
}

#[test]
fn every_command_is_documented() {
    let pages = [
        include_str!("../../../docs/schedule.md"),
        include_str!("../../../docs/schedule-storage.md"),
        include_str!("../../../docs/schedule-communication.md"),
    ];
    for form in &super::FORMS {
        let heading = format!("`{}(", form.name);
        let is_heading = |line: &str| line.starts_with('#') && line.contains(&heading);
        let documented = pages.iter().any(|page| page.lines().any(is_heading));
        assert!(documented, "no heading of the documentation names `{}`", form.name);
    }
}

//! What `scan` finds in whole files, and what it leaves alone.

use tessella_diagnostics::{IntoDiagnostic, SourceMap, Style, render};
use tessella_frontend::sexpr::sexpr;
use tessella_frontend::{Scan, parse_commands, parse_function, scan};

fn scanned(text: &str) -> (SourceMap, Scan) {
    let mut sources = SourceMap::default();
    let file = sources.add("file.jl", text, 1);
    let found = scan(&sources, file);
    (sources, found)
}

fn names(text: &str) -> Vec<String> {
    let (_, found) = scanned(text);
    assert_eq!(found.errors, []);
    found.functions.into_iter().map(|item| [item.modules, vec![item.name.value]].concat().join(".")).collect()
}

#[test]
fn functions_are_found_in_modules_and_conditions_but_not_in_functions() {
    let text = r#"
module Outer
using LinearAlgebra: dot, norm
import Base: +, show
export f, @m
"a docstring with `end` and function g() end"
function f(x)
    inner(y) = y
    function deeper(z) z end
    x[end]
end
module Inner
g(x::T) where {T <: Real} = x + 1
h(x)::Int = 2
const limit = 10
end
if VERSION > v"1.5"
    k(x) = [y for y in x if y > begin 1 end]
else
    k(x) = x
end
struct S{T} <: Any
    a::T
    S(a) = new{typeof(a)}(a)
end
mutable struct M; a; end
abstract type A <: Any end
primitive type P <: Unsigned 8 end
macro m(x) quote function generated() end end end
x = f(2) == 3
y[1] = f(x -> begin x end)
Base.:+(a::S, b::S) = a
f(a) do b; b end
end
last_one() = :end
"#;
    let expected = ["Outer.f", "Outer.Inner.g", "Outer.Inner.h", "Outer.k", "Outer.k", "Outer.Base.+", "last_one"];
    assert_eq!(names(text), expected);
}

#[test]
fn constants_of_modules_have_their_values() {
    let (_, found) =
        scanned("const N = 2^3\nmodule A\nconst eps = 1e-3 # small\nend\nf() = (const local x = 1)\nconst x, y = 1, 2");
    let constants: Vec<_> = found.constants.iter().map(|item| (item.name.value.as_str(), sexpr(&item.value))).collect();
    assert_eq!(constants, [("N", "(call ^ 2 3)".to_owned()), ("eps", "f64:3f50624dd2f1a9fc".to_owned())]);
}

#[test]
fn annotations_carry_their_options() {
    let text = "\"doc\"\n@tessella target=:cuda fast = true function f!(A, B)\n    A[1] = B[1]\nend\n@inline @Tessella.tessella g(x) = x\nh() = 1";
    let (sources, found) = scanned(text);
    assert_eq!(found.errors, []);
    let [f, g, h] = &found.functions[..] else { panic!("{found:?}") };
    let annotation = f.annotation.as_ref().expect("`f!` is annotated");
    let options: Vec<_> = annotation.options.iter().map(|(name, value)| (name.value.as_str(), sexpr(value))).collect();
    assert_eq!(options, [("target", "(quote cuda)".to_owned()), ("fast", "true".to_owned())]);
    assert_eq!(sources.text(annotation.span), "@tessella");
    assert_eq!(sources.text(f.docstring.expect("`f!` has a docstring")), "\"doc\"");
    assert!(sources.text(f.span).starts_with("function f!") && sources.text(f.span).ends_with("end"));
    assert!(g.annotation.is_some() && h.annotation.is_none());
    assert_eq!(sources.text(g.span), "g(x) = x");
    let function = parse_function(&sources, f).expect("`f!` is well formed");
    assert_eq!(function.parameters.len(), 2);
    assert_eq!(sources.text(function.signature), "f!(A, B)");
}

#[test]
fn macros_before_a_definition_are_kept() {
    let text = "@inline @fastmath f(x) = x\n@fastmath @tessella target=:cuda function g(x) x end\n@tessella Base.@propagate_inbounds h(x) = x\nk(x) = x";
    let (sources, found) = scanned(text);
    let macros = |at: usize| {
        let function = parse_function(&sources, &found.functions[at]).expect("it is well formed");
        function.macros.into_iter().map(|name| name.value).collect::<Vec<_>>()
    };
    assert_eq!(macros(0), ["inline", "fastmath"]);
    assert_eq!(macros(1), ["fastmath"]);
    assert_eq!(macros(2), ["Base.propagate_inbounds"]);
    assert_eq!(macros(3), [""; 0]);
    assert!(found.functions[1].annotation.is_some() && found.functions[2].annotation.is_some());
}

#[test]
fn macros_before_a_block_concern_its_definitions() {
    let text = "@views begin\nf(x) = x\n@inline function g(x) x end\nend\n@static if a\n@fastmath if b\nh(x) = x\nelse\nk(x) = x\nend\nend\nl(x) = x";
    let (_, found) = scanned(text);
    let macros =
        |at: usize| -> Vec<&str> { found.functions[at].macros.iter().map(|name| name.value.as_str()).collect() };
    assert_eq!(macros(0), ["views"]);
    assert_eq!(macros(1), ["views", "inline"]);
    assert_eq!(macros(2), ["fastmath"]);
    assert_eq!(macros(3), ["fastmath"]);
    assert_eq!(macros(4), [""; 0]);
}

#[test]
fn a_schedule_block_is_parsed_with_its_function() {
    let (sources, found) = scanned("@schedule heat2d! begin\n    tile(S, (j, i), (32, 32)); parallel(S, j0)\nend\n");
    let [schedule] = &found.schedules[..] else { panic!("{found:?}") };
    assert_eq!(schedule.function.value, "heat2d!");
    let commands: Vec<_> = schedule.commands.as_ref().expect("well formed").iter().map(sexpr).collect();
    assert_eq!(commands, ["(call tile S (tuple j i) (tuple 32 32))", "(call parallel S j0)"]);
    assert_eq!(sources.text(schedule.function.span), "heat2d!");
}

#[test]
fn a_schedule_file_holds_commands_alone_or_one_whole_block() {
    for text in
        ["interchange(S, i, j)\nunroll(S, i, 4)", "@schedule f begin\ninterchange(S, i, j); unroll(S, i, 4)\nend"]
    {
        let mut sources = SourceMap::default();
        let file = sources.add("file.jl", text, 1);
        let commands: Vec<_> = parse_commands(&sources, file).expect("well formed").iter().map(sexpr).collect();
        assert_eq!(commands, ["(call interchange S i j)", "(call unroll S i 4)"]);
    }
}

#[test]
fn strange_code_elsewhere_does_not_matter() {
    let text = "x = 1 + * 2\n[1, 2; 3]\nf(,)\n@weird{}(;;) 3..4 0b12 'abc\ng(x) = 2x\ntry catch finally end\n? : !\nfunction h() end";
    let (sources, found) = scanned(text);
    let names: Vec<_> = found.functions.iter().map(|item| item.name.value.as_str()).collect();
    assert!(names.contains(&"h"), "{}", rendered(&sources, found.errors));
}

fn rendered(sources: &SourceMap, errors: Vec<tessella_frontend::SyntaxError>) -> String {
    let diagnostics: Vec<_> = errors.into_iter().map(IntoDiagnostic::into_diagnostic).collect();
    render(sources, &diagnostics, Style::Plain)
}

#[test]
fn a_missing_end_is_blamed_on_the_block_whose_end_was_taken() {
    let (sources, found) = scanned("function f(x)\n    for i in 1:2\n        x\nend\nfunction g(x)\n    x\nend\n");
    let text = rendered(&sources, found.errors);
    assert!(text.contains("`for` has no matching `end`") && text.contains("file.jl:2:5"), "{text}");
}

//! The checker on source text: what comes out, and what is said of mistakes.

use super::tree::{ArgumentType, dense};
use super::{Basis, ModuleConstant, check, infer_arguments, parse_type, print};
use crate::{parse_function, scan};
use expect_test::{Expect, expect};
use tessella_diagnostics::{IntoDiagnostic, Role, SourceMap};

fn checked(source: &str, types: &[&str]) -> String {
    let mut sources = SourceMap::default();
    let file = sources.add("kernel.jl", source, 1);
    let items = scan(&sources, file);
    let constants: Vec<ModuleConstant> = items
        .constants
        .iter()
        .map(|item| ModuleConstant { name: item.name.value.clone(), value: item.value.clone() })
        .collect();
    let function = parse_function(&sources, &items.functions[0]).expect("the source is well formed");
    let types: Vec<_> = types.iter().map(|ty| parse_type(ty).unwrap()).collect();
    match check(&function, &types, &constants) {
        Ok(function) => print::function(&function),
        Err(errors) => {
            let mut text = String::new();
            for error in errors {
                let diagnostic = error.into_diagnostic();
                text.push_str(&format!("{}: {}\n", diagnostic.code, diagnostic.message));
                for label in &diagnostic.labels {
                    let (line, column) = sources.position(label.span);
                    let mark = if label.role == Role::Primary { "at" } else { "see" };
                    let code = sources.text(label.span).lines().next().unwrap_or_default();
                    text.push_str(&format!("  {mark} {line}:{column} `{code}` {}\n", label.message));
                }
                for help in &diagnostic.help {
                    text.push_str(&format!("  help: {help}\n"));
                }
            }
            text
        }
    }
}

fn shows(source: &str, types: &[&str], expected: Expect) {
    expected.assert_eq(&checked(source, types));
}

/// The codes of the errors in a body over `A::Matrix{Float64}`, `v::Vector{Float32}`, `n::Int64`, `x::Float64`.
fn codes(body: &str) -> Vec<String> {
    let source = format!("function f(A, v, n, x)\n{body}\nreturn nothing\nend");
    let text = checked(&source, &["Matrix{Float64}", "Vector{Float32}", "Int", "Float64"]);
    text.lines().filter(|line| line.starts_with('E')).map(|line| line[..5].to_string()).collect()
}

#[test]
fn a_stencil_is_typed_statement_by_statement() {
    shows(
        "function heat!(A, B, steps)
    m, n = size(A)
    for t in 1:steps
        @inbounds for j in 2:n-1, i in 2:m-1
            @comp S B[i,j] = 0.25 * (A[i-1,j] + A[i+1,j]) + 2A[i,j]^2
        end
        for j in first(axes(A, 2)):n
            B[1, j], A[end, j] = 0, 1
        end
    end
end",
        &["Matrix{Float32}", "Matrix{Float32}", "Int"],
        expect![[r#"
            function heat!(A::Array{Float32, 2}, B::Array{Float32, 2}, steps::Int64)
                let m::Int64 = size(A, 1)
                let n::Int64 = size(A, 2)
                for t in 1:steps  # L0
                    for j in 2:n - 1  # L1
                        for i in 2:m - 1  # L2
                            let shared::Float32 = A[i, j]
                            @comp S @inbounds B[i, j] = Float32((0.25 * Float64(A[i - 1, j] + A[i + 1, j])) + Float64(2f0 * (shared * shared)))
                        end
                    end
                    for j.2 in 1:n  # L3
                        B[1, j.2] = 0f0
                        A[size(A, 1), j.2] = 1f0
                    end
                end
                return nothing
            end
        "#]],
    );
}

#[test]
fn values_and_variables_are_told_apart() {
    shows(
        "function f(A, flag::Bool)
    s = zero(eltype(A))
    for i in eachindex(A)
        x = A[i]
        y = x > 0 && 1 < x + 1 < 3 ? x : -x
        if flag
            y += 1
        end
        s += flag * y
    end
    s
end",
        &["Vector{Float64}", "Bool"],
        expect![[r#"
            function f(A::Array{Float64, 1}, flag::Bool)
                var s::Float64 = 0.0
                for i in 1:size(A, 1)  # L0
                    let x::Float64 = A[i]
                    let shared::Float64 = x + 1.0
                    var y::Float64 = ((x > 0.0) && ((1.0 < shared) && (shared < 3.0))) ? x : (-x)
                    if flag
                        y = y + 1.0
                    end
                    s = s + ifelse(flag, y, copysign(0.0, y))
                end
                return s
            end
        "#]],
    );
}

#[test]
fn the_start_of_an_accumulator_must_have_its_type() {
    shows(
        "function f(A)
    s = 0
    for i in 1:length(A)
        s += A[i]
    end
    return s
end",
        &["Vector{Float64}"],
        expect![[r#"
            E0203: `s` changes its type from `Int64` to `Float64`
              at 2:5 `s = 0` starts as an `Int64`
              see 4:9 `s += A[i]` becomes a `Float64` here
              help: start with `zero(eltype(A))` or `0.0`
        "#]],
    );
}

#[test]
fn all_errors_are_reported_and_none_twice() {
    shows(
        "function f(A, steps)
    for t in 1:stpes
        A[t] = sqroot(A[t]) + lambda
        u = undefined_thing
        w = u + 1
        A[t, 1] = w
    end
    A[1.0] = A + 1
    n = size(A, 1) ÷ 0
    return nothing
end",
        &["Vector{Float64}", "Int"],
        expect![[r#"
            E0201: `stpes` is not defined
              at 2:16 `stpes` not found in this scope
              help: did you mean `steps`?
            E0207: unknown function `sqroot`
              at 3:16 `sqroot` neither arithmetic nor a supported function of Base
              help: did you mean `sqrt`?
            E0201: `lambda` is not defined
              at 3:31 `lambda` not found in this scope
              help: give `lambda` a value first, or pass it as an argument; a global must be declared `const`
            E0201: `undefined_thing` is not defined
              at 4:13 `undefined_thing` not found in this scope
              help: give `undefined_thing` a value first, or pass it as an argument; a global must be declared `const`
            E0204: `A` has 1 dimension, but 2 subscripts are given
              at 6:9 `A[t, 1]` 2 given
              see 1:12 `A` 1 dimension
              help: give one subscript for each dimension
            E0253: `+` of a `Vector{Float64}` and an `Int64` needs a dot
              at 8:14 `A + 1` not defined in Julia
              help: write `.+` to combine each element
            E0206: a subscript must be an integer that fits `Int64`, not a `Float64`
              at 8:7 `1.0` this is a `Float64`
              help: compute the subscript with integers, for example with `÷` in place of `/`
            E0211: the integer division `÷` may divide by zero
              at 9:22 `0` this is zero
              see 9:9 `size(A, 1) ÷ 0` Julia would raise a DivideError where the divisor is zero
              help: divide by a non-zero integer constant, or use `/` with floating point
        "#]],
    );
}

#[test]
fn signatures_are_checked() {
    let source = "function f(A::Matrix{T}, B::Array{Real,2}, x::T, n::Integer) where {T<:AbstractFloat}\nend";
    shows(
        source,
        &["Matrix{Float64}", "Matrix{Float64}", "Float32", "Float64"],
        expect![[r#"
        E0208: argument `B` is declared as `Array{Real, 2}`, but a `Matrix{Float64}` is passed
          at 1:29 `Array{Real,2}` does not accept a `Matrix{Float64}`
          help: write `<:` in front of the element type, as in `Matrix{<:Real}`
        E0208: argument `x` is declared as `T`, but a `Float32` is passed
          at 1:47 `T` does not accept a `Float32`
          help: change the annotation, or pass an argument of this type
        E0208: argument `n` is declared as `Integer`, but a `Float64` is passed
          at 1:53 `Integer` does not accept a `Float64`
          help: change the annotation, or pass an argument of this type
    "#]],
    );
    shows(
        "function f(A::Matrx{Float64})\nend",
        &["Matrix{Float64}"],
        expect![[r#"
            E0225: unknown type `Matrx`
              at 1:15 `Matrx` not a number type, an array type or a type parameter
              help: did you mean `Matrix`?
        "#]],
    );
    shows(
        "function f(A, B)\nend",
        &["Matrix{Float64}"],
        expect![[r#"
            E0209: function `f` has 2 parameters, but the types of 1 are given
              at 1:10 `f(A, B)` 2 parameters
              help: give one type for each parameter, keyword parameters included
        "#]],
    );
    let fine = "function f(A::AbstractMatrix{<:Real}, v::Union{Vector{Int8},Vector{UInt8}}, x::Real)\nend";
    shows(
        fine,
        &["Matrix{Float32}", "Vector{UInt8}", "Int8"],
        expect![[r#"
        function f(A::Array{Float32, 2}, v::Array{UInt8, 1}, x::Int8)
            return nothing
        end
    "#]],
    );
}

#[test]
fn constructs_without_support_are_named() {
    for body in [
        "println(n)",
        "y = view(A, [1, 2], 1)",
        "z = (y = 2) + 1",
        "s = \"text\"",
        "x.field = 1",
        "global g = 1",
        "y = max(v...)",
        "y = sin(x; digits = 2)",
    ] {
        assert_eq!(codes(body), ["E0218"], "{body}");
    }
}

#[test]
fn each_mistake_has_its_code() {
    for (body, code) in [
        ("y = z", "E0201"),
        ("if n > 1\ny = 1\nend\nA[1, 1] = y", "E0202"),
        ("y = y + 1", "E0202"),
        ("for i in 1:n\nif i > 1\nA[1, 1] = late\nend\nend\nlate = 1.0", "E0202"),
        ("y = 1\nfor i in 1:n\ny = 1.0\nend", "E0203"),
        ("if x > 0\nn = 1.0\nend", "E0203"),
        ("while true\nend", "E0240"),
        ("A[1, 1, 1] = 0", "E0204"),
        ("v[1, 2] = 0", "E0204"),
        ("v[2, [1, 2]] .= 0", "E0204"),
        ("A[[1, 2], 1, 1] .+= 1", "E0204"),
        ("x[1] = 0", "E0205"),
        ("v[x] = 0", "E0206"),
        ("v[n/2] = 0", "E0206"),
        ("y = foo(x)", "E0207"),
        ("y::Int = 1\ny = x", "E0210"),
        ("y = Int(2.5)", "E0210"),
        ("y = n % 0", "E0211"),
        ("y = div(n, -1)", "E0211"),
        ("y = !n", "E0212"),
        ("y = x & 1", "E0212"),
        ("if n\nend", "E0213"),
        ("y = n > 1 ? 1 : 1.0", "E0214"),
        ("y = ifelse(n > 1, 1, 1.0)", "E0214"),
        ("for i in 1:0:9\nend", "E0215"),
        ("for i in 1:x\nend", "E0216"),
        ("for i in 1:0x0000000000000005\nend", "E0216"),
        ("for i in n\nend", "E0217"),
        ("@inbound v[1] = 0", "E0219"),
        ("@simd v[1] = 0", "E0220"),
        ("@comp S for i in 1:n\nend", "E0221"),
        ("@comp S v[1] = 0\n@comp S v[2] = 0", "E0222"),
        ("y = n % 0x02", "E0224"),
        ("y::Flot64 = 1", "E0201"),
        ("y = 1 + Float64", "E0226"),
        ("y = 99999999999999999999", "E0228"),
        ("y = size(A, n)", "E0229"),
        ("y = (0, 1.0)[n]", "E0229"),
        ("a, b, c = size(A)", "E0232"),
        ("r = 1:n\nr = 2:n", "E0234"),
        ("y = clamp(x)", "E0212"),
        ("y = Float64(1, 2)", "E0236"),
    ] {
        assert_eq!(codes(body), [code], "{body}");
    }
}

#[test]
fn mistakes_with_whole_arrays_have_their_codes() {
    for (body, code) in [
        ("B = zeros(Int, n)\nfor i in 1:n\nB = B ./ 2\nend", "E0250"),
        ("B = zeros(n)\nfor i in 1:n\nB = B .* B'\nend", "E0250"),
        ("B = zeros(Bool, n)\nfor i in 1:n\nB = B .& B\nend", "E0250"),
        ("y = [1, 2] .+ [1, 2, 3]", "E0251"),
        ("y = A + v", "E0251"),
        ("C = A^2", "E0252"),
        ("y = v * v", "E0252"),
        ("y = n + A", "E0253"),
        ("y = A > 0", "E0253"),
        ("A[:, 1] = 0", "E0254"),
        ("y = similar(A) .+ 1", "E0257"),
        ("y = sum(A, init = 1)", "E0265"),
        ("y = sum(x)", "E0259"),
    ] {
        assert_eq!(codes(body), [code], "{body}");
    }
}

#[test]
fn products_become_arrays_of_their_own_before_anything_is_written() {
    shows(
        "function f(A, v)
    v .-= A' * v
end",
        &["Matrix{Float64}", "Vector{Float64}"],
        expect![[r#"
            function f(A::Array{Float64, 2}, v::Array{Float64, 1})
                require size(A, 1) == size(v, 1) else arrays of different sizes are combined
                let product = Array{Float64, 1}(undef, size(A, 2))
                for i in 1:size(A, 2)  # L0
                    @inbounds product[i] = 0.0
                end
                for i.2 in 1:size(A, 2)  # L1
                    @simd for j in 1:size(A, 1)  # L2
                        @inbounds product[i.2] = product[i.2] + (A[j, i.2] * v[j])
                    end
                end
                require (size(v, 1) == size(A, 2)) || ((size(v, 1) != 1) && (size(A, 2) != 1)) else an axis that happens to have one element is stretched
                require size(v, 1) == size(A, 2) else arrays of different sizes are combined
                for i.3 in 1:size(v, 1)  # L3
                    v[i.3] = v[i.3] - product[i.3]
                end
                return v
            end
        "#]],
    );
}

#[test]
fn broadcasts_become_one_nest_and_local_arrays_memory() {
    shows(
        "function f(A, v)
    w = 2 .* v
    A .= A .+ w
    A[2:end, 1] .= A[1:end-1, 1]
    return sum(w)
end",
        &["Matrix{Float64}", "Vector{Float64}"],
        expect![[r#"
            function f(A::Array{Float64, 2}, v::Array{Float64, 1})
                let w = Array{Float64, 1}(undef, size(v, 1))
                for i in 1:size(v, 1)  # L0
                    w[i] = 2.0 * v[i]
                end
                require (size(A, 1) == size(v, 1)) || ((size(A, 1) != 1) && (size(v, 1) != 1)) else an axis that happens to have one element is stretched
                require size(A, 1) == size(v, 1) else arrays of different sizes are combined
                for j in 1:size(A, 2)  # L1
                    for i.2 in 1:size(A, 1)  # L2
                        A[i.2, j] = A[i.2, j] + w[i.2]
                    end
                end
                require ((size(A, 1) - 1) <= 0) || ((2 >= 1) && (((size(A, 1) - 1) + 1) <= size(A, 1))) else a part of an array is left
                require ((size(A, 1) - 1) >= 1) || ((1 >= 1) && (1 <= size(A, 2))) else a subscript is outside its array
                require (1 >= 1) && (1 <= size(A, 2)) else a subscript is outside its array
                require ((size(A, 1) - 1) <= 0) || ((1 >= 1) && ((size(A, 1) - 1) <= size(A, 1))) else a part of an array is left
                require ((size(A, 1) - 1) >= 1) || ((1 >= 1) && (1 <= size(A, 2))) else a subscript is outside its array
                require (1 >= 1) && (1 <= size(A, 2)) else a subscript is outside its array
                let temporary = Array{Float64, 1}(undef, size(A, 1) - 1)
                for i.3 in 1:size(A, 1) - 1  # L3
                    temporary[i.3] = A[i.3, 1]
                end
                for i.4 in 1:size(A, 1) - 1  # L4
                    A[i.4 + 1, 1] = temporary[i.4]
                end
                var sum::Float64 = (size(v, 1) >= 1) ? -0.0 : 0.0
                @simd for i.5 in 1:size(v, 1)  # L5
                    sum = sum + w[i.5]
                end
                return sum
            end
        "#]],
    );
}

#[test]
fn tables_that_are_only_read_are_constants() {
    shows(
        "function f(y, x, k)
    steps = [-1, 1]
    w = [1/4, 0.5]
    v = [1, 2]
    v[1] = k
    for i in 2:length(x)
        y[i] = x[steps[1]] * w[2] + w[k] + v[1]
    end
end",
        &["Vector{Float64}", "Vector{Float64}", "Int64"],
        expect![[r#"
            function f(y::Array{Float64, 1}, x::Array{Float64, 1}, k::Int64)
                let w = Array{Float64, 1}(undef, 2)
                for i.2 in 1:2  # L1
                    @inbounds w[i.2] = (i.2 < 2) ? 0.25 : 0.5
                end
                let v = Array{Int64, 1}(undef, 2)
                v[1] = 1
                v[2] = 2
                v[1] = k
                for i.3 in 2:size(x, 1)  # L2
                    y[i.3] = ((x[-1] * 0.5) + w[k]) + Float64(v[1])
                end
                return nothing
            end
        "#]],
    );
}

#[test]
fn tuples_are_reduced_left_to_right() {
    shows(
        "function f(a, b, x)
    return sum(v -> v * a, (a, b, 2)), any(i -> x[i] > a, (1, 2)), maximum((a, b))
end",
        &["Float64", "Float64", "Vector{Float64}"],
        expect![[r#"
            function f(a::Float64, b::Float64, x::Array{Float64, 1})
                let result::Float64 = ((a * a) + (b * a)) + (2.0 * a)
                let result.2::Bool = (x[1] > a) || (x[2] > a)
                let result.3::Float64 = max(a, b)
                return (result, result.2, result.3)
            end
        "#]],
    );
}

#[test]
fn what_julia_accepts_is_accepted() {
    for body in [
        "B = zeros(n)",
        "y = A[:, 1]",
        "A .= 0",
        "s = sum(A)",
        "y = A'",
        "y = [i for i in 1:n]",
        "for (i, y) in enumerate(v)\nend",
        "y = sin.(v)",
        "@views v[1] = 1",
        "y = n < 2.0",
        "y = 1\ny = 1.0",
        "n = 1.0",
        "for i in 1:n\nbreak\nend",
        "for i in 1:n\ni > 1 && continue\nend",
        "n < 1 && return nothing",
        "g = y -> y\ny = g(2)",
        "B, w = A, v\nw[1] = 1",
        "s, c = sincos(x)\nq, r = divrem(n, 3)",
        "y = x < 3 <= n",
        "v[0x01] = 1",
        "r = 2:n\nfor i in r\nend",
        "T = eltype(v)\nv[1] = T(2) + one(T)",
        "sz = size(A)\nv[1] = sz[end]",
        "local y\nif n > 1\ny = 1\nelse\ny = 2\nend\nv[1] = y",
        "let y = n\ny += 1\nv[1] = y\nend",
        "@inbounds @simd for i in 1:n\nv[i] *= 2\nend",
        "Base.@inbounds begin\nv[1] = 1\nv[2] = 2\nend",
        "@fastmath v[1] = x + n",
        "y = -2^2\nw = 2.0^-2\nz = n^10",
        "y = v[1]^2.5",
        "y = 2π * v[1]\nv[1] = y",
        "n > 1 && (v[1] = 0)",
        "n > 1 || (v[1] = 0)",
        "y = n > 1 ? v[1] : zero(v[1])",
        "y = min(1, 2, n)",
        "y = +(1, 2, n)",
        "y = @inbounds v[1]",
        "y = length(2:n) + last(axes(A, 2)) + ndims(A)",
        "y = typemax(Int32) + eps(Float32) + Inf",
        "n::Int\ny = n",
        "local a::Float64 = 1\na = 2",
        "if n > 1 v[1] = 1 elseif n > 0 v[1] = 2 else v[1] = 3 end",
    ] {
        assert_eq!(codes(body), Vec::<String>::new(), "{body}");
    }
}

/// `body` in a function with macros before it; of its printed form, the statements.
fn behind(macros: &str, body: &str) -> String {
    checked(&format!("{macros} function f(A, v)\n{body}\nreturn nothing\nend"), &["Matrix{Float64}", "Vector{Float64}"])
}

#[test]
fn fastmath_before_a_function_means_every_statement() {
    let body = "s = 0.0\nfor i in eachindex(v)\ns += v[i] * v[i]\nend\nv[1] = s";
    let each =
        behind("", "@fastmath s = 0.0\n@fastmath for i in eachindex(v)\ns += v[i] * v[i]\nend\n@fastmath v[1] = s");
    assert!(each.contains("@fastmath v[1]"), "{each}");
    for macros in ["@fastmath", "@tessella @fastmath", "@fastmath @tessella", "@inline Base.@fastmath"] {
        assert_eq!(behind(macros, body), each);
    }
    assert!(!behind("@inline", body).contains("@fastmath"));
}

#[test]
fn fastmath_belongs_to_definitions_and_not_to_calls() {
    // A function inside of a fast one is fast wherever it is called.
    let inside = behind("@fastmath", "g(x) = (y = 2x + 1; y * y + x)\nv[1] = g(v[2])");
    assert!(inside.lines().filter(|line| line.contains(" = ")).all(|line| line.contains("@fastmath")), "{inside}");
    let mut sources = SourceMap::default();
    let text = "function f(v)\nv[1] = g(v[2])\n@fastmath v[2] = h(v[1])\nend\n@fastmath function g(x)\ny = 2x + 1\nreturn y * y\nend\nfunction h(x)\nz = 2x + 1\nreturn z * z\nend";
    let file = sources.add("kernel.jl", text, 1);
    let functions: Vec<_> =
        scan(&sources, file).functions.iter().map(|item| parse_function(&sources, item).unwrap()).collect();
    let surroundings = super::Surroundings { constants: &[], functions: &functions };
    let typed = super::check_in(&functions[0], &[parse_type("Vector{Float64}").unwrap()], surroundings).unwrap();
    let typed = print::function(&typed);
    assert!(typed.contains("@fastmath let y:") && !typed.contains("@fastmath let z:"), "{typed}");
}

#[test]
fn views_before_a_function_means_every_slice() {
    let body = "c = A[:, 1]\nA[1, 1] = 2.0\nv[1] = c[1]";
    assert_eq!(behind("@views", body), behind("", &body.replace("c =", "@views c =")));
    assert_ne!(behind("@views", body), behind("", body));
}

#[test]
fn hints_inside_a_function_change_nothing() {
    assert_eq!(behind("", "@inline g(x) = 2x\nv[1] = g(v[2])"), behind("", "g(x) = 2x\nv[1] = g(v[2])"));
    assert_eq!(codes("@inline v[1] = 2"), ["E0219"]);
}

fn argument_name(ty: ArgumentType) -> String {
    match ty {
        ArgumentType::Real(ty) => print::type_name(ty),
        ArgumentType::Complex(ty) => format!("complex {}", print::type_name(ty)),
    }
}

#[test]
fn argument_types_are_inferred_from_annotations_and_use() {
    let mut sources = SourceMap::default();
    let source = "function f(A, v, w::Vector{Float32}, alpha, steps, B::AbstractArray, k::Integer, h)
        m, n = size(B)
        half = h ÷ 2
        for t in 1:steps, i in half:size(A, 1)
            A[i, 1, t] = alpha * v[i] + w[i]
        end
    end";
    let file = sources.add("kernel.jl", source, 1);
    let function = parse_function(&sources, &scan(&sources, file).functions[0]).unwrap();
    let lines: Vec<String> = infer_arguments(&function)
        .iter()
        .map(|inferred| format!("{}::{} {:?}", inferred.name, argument_name(inferred.ty), inferred.basis))
        .collect();
    let expected = [
        "A::Array{Float64, 3} Use",
        "v::Array{Float64, 1} Use",
        "w::Array{Float32, 1} Annotation",
        "alpha::Float64 Default",
        "steps::Int64 Use",
        "B::Array{Float64, 2} Use",
        "k::Int64 Default",
        "h::Int64 Use",
    ];
    assert_eq!(lines, expected);
    let source = "function gray!(G, I)\nfor i in eachindex(G)\nG[i] = (77Int(I[i]) >> 8) % UInt8\nend\nend";
    let file = sources.add("gray.jl", source, 1);
    let function = parse_function(&sources, &scan(&sources, file).functions[0]).unwrap();
    let bytes = dense(tessella_scalar::ScalarType::U8, 1);
    assert!(
        infer_arguments(&function).iter().all(|inferred| inferred.ty == bytes.into() && inferred.basis == Basis::Use)
    );
    let source = "function g!(y, x, p, q)\nfor i in eachindex(y)\nk = q[p[i] + 1]\ny[i] = x[k] + 0.5\nend\nend";
    let file = sources.add("gather.jl", source, 1);
    let function = parse_function(&sources, &scan(&sources, file).functions[0]).unwrap();
    let types: Vec<String> = infer_arguments(&function).iter().map(|inferred| argument_name(inferred.ty)).collect();
    assert_eq!(types, ["Array{Float64, 1}", "Array{Float64, 1}", "Array{Int64, 1}", "Array{Int64, 1}"]);
    // Conditions are `Bool`, also those that a variable holds; what is compared in a condition is not.
    let source = "function flow!(y, solid, wet, x, periodic)\nfor i in eachindex(y)\nw = wet[i]\nsolid[i] && continue\nif !w || x[i] > 0\ny[i] = periodic ? x[i] : 2x[i]\nend\nend\nend";
    let file = sources.add("flow.jl", source, 1);
    let function = parse_function(&sources, &scan(&sources, file).functions[0]).unwrap();
    let types: Vec<String> = infer_arguments(&function).iter().map(|inferred| argument_name(inferred.ty)).collect();
    assert_eq!(types, ["Array{Float64, 1}", "Array{Bool, 1}", "Array{Bool, 1}", "Array{Float64, 1}", "Bool"]);
    // What stands behind `=` says more than custom does.
    let source = "function h!(y, most = 10; a = -0.5f0, b = 1e-3, c = -2, is_odd = false)\ny .= a\nend";
    let file = sources.add("defaults.jl", source, 1);
    let function = parse_function(&sources, &scan(&sources, file).functions[0]).unwrap();
    let types: Vec<String> = infer_arguments(&function).iter().map(|inferred| argument_name(inferred.ty)).collect();
    assert_eq!(types[1..], ["Int64", "Float32", "Float64", "Int64", "Bool"]);
}

fn inlined(source: &str, types: &[&str]) -> String {
    let mut sources = SourceMap::default();
    let file = sources.add("kernel.jl", source, 1);
    let items = scan(&sources, file);
    let functions: Vec<_> = items.functions.iter().map(|item| parse_function(&sources, item).unwrap()).collect();
    let types: Vec<_> = types.iter().map(|ty| parse_type(ty).unwrap()).collect();
    let surroundings = super::Surroundings { constants: &[], functions: &functions };
    let last = functions.last().expect("the source defines functions");
    match super::check_in(last, &types, surroundings) {
        Ok(function) => print::function(&function),
        Err(errors) => errors
            .into_iter()
            .map(|error| {
                let diagnostic = error.into_diagnostic();
                let places = diagnostic.labels.iter().map(|label| sources.position(label.span).0.to_string());
                format!("{}: {} at {}\n", diagnostic.code, diagnostic.message, places.collect::<Vec<_>>().join(" "))
            })
            .collect(),
    }
}

#[test]
fn calls_are_inlined_with_names_of_their_own() {
    let text = inlined(
        "ordered(a, b) = a < b ? (a, b) : (b, a)
function total(v; from = 1)
    s = zero(eltype(v))
    for i in from:length(v)
        s += v[i]
    end
    return s
end
function f(v, s)
    lo, hi = ordered(s, total(v, from = 2))
    v[1] = lo + hi
    return nothing
end",
        &["Vector{Float64}", "Float64"],
    );
    expect![[r#"
        function f(v::Array{Float64, 1}, s::Float64)
            var s.2::Float64 = 0.0
            for i in 2:size(v, 1)  # L0
                s.2 = s.2 + v[i]
            end
            let b::Float64 = s.2
            let shared::Bool = s < b
            let old::Float64 = shared ? s : b
            let old.2::Float64 = shared ? b : s
            let lo::Float64 = old
            let hi::Float64 = old.2
            v[1] = lo + hi
            return nothing
        end
    "#]]
    .assert_eq(&text);
}

#[test]
fn the_most_specific_method_is_called() {
    let source = "g(x::Integer) = 1
g(x::Float64) = 2
g(x::Real) = 3
g(x::T, y::T) where {T} = 4
g(x, y) = 5
function f(v, x, n, y)
    v[1] = g(x)
    v[2] = g(n)
    v[3] = g(y)
    v[4] = g(x, x)
    v[5] = g(x, n)
    return nothing
end";
    let text = inlined(source, &["Vector{Int}", "Float64", "Int", "Float32"]);
    let values: Vec<&str> = text.lines().filter_map(|line| line.split_once("] = ").map(|(_, value)| value)).collect();
    assert_eq!(values, ["2", "1", "3", "4", "5"]);
}

#[test]
fn calls_that_cannot_be_inlined_say_why() {
    for (helpers, call, expected) in [
        ("g(x) = x > 0 ? g(x - 1) : x", "g(x)", "E0243: `g` calls itself at 1 1 2\n"),
        ("g(x::Int) = x", "g(x)", "E0241: no method of `g` accepts a `Float64` at 2 1\n"),
        ("g(x; k) = x * k", "g(x)", "E0244: the keyword argument `k` of `g` is missing at 2 1\n"),
        ("g(x) = x + z", "g(x)", "E0201: `z` is not defined at 1 2\n"),
    ] {
        let source = format!("{helpers}\nf(x) = {call}");
        assert_eq!(inlined(&source, &["Float64"]), expected, "{helpers}");
    }
    let ambiguous = "g(x::Float64, y) = 1\ng(x, y::Float64) = 2\nf(x) = g(x, x)";
    assert!(inlined(ambiguous, &["Float64"]).starts_with("E0242"));
    let effect = "g!(v) = v[1] = 2.0\nf(v) = 1 + g!(v)";
    assert!(inlined(effect, &["Vector{Float64}"]).starts_with("E0245"));
}

#[test]
fn exchanged_arrays_are_told_apart_by_the_turn() {
    shows(
        "function f(A, B, steps)
    for t in 2:steps
        B[1] = A[2]
        A, B = B, A
    end
    return A
end",
        &["Vector{Float64}", "Vector{Float64}", "Int"],
        expect![[r#"
            function f(A::Array{Float64, 1}, B::Array{Float64, 1}, steps::Int64)
                for t in 2:steps  # L0
                    if mod(t - 2, 2) == 0
                        B[1] = A[2]
                    else
                        A[1] = B[2]
                    end
                end
                if mod(max((steps - 2) + 1, 0), 2) == 0
                    var position::Int64 = 0
                else
                    position = 1
                end
                return one of A, B at position
            end
        "#]],
    );
}

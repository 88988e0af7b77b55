//! Julia text in, printed algorithms, rendered diagnostics and commands out.

use expect_test::{Expect, expect};
use tessella_diagnostics::{Diagnostic, IntoDiagnostic, SourceMap};
use tessella_frontend::ast::ExprKind;
use tessella_frontend::typed::tree::{Function, Type, dense};
use tessella_frontend::{parse_block, typed};
use tessella_lowering::{Checks, Searches, lower, schedule};
use tessella_polyhedral::isl::Ctx;
use tessella_polyhedral::print;
use tessella_scalar::ScalarType;

const F64: Type = Type::Scalar(ScalarType::F64);
const INT: Type = Type::Scalar(ScalarType::I64);
const VECTOR: Type = dense(ScalarType::F64, 1);
const MATRIX: Type = dense(ScalarType::F64, 2);

fn parsed(sources: &mut SourceMap, text: &str, arguments: &[Type]) -> Function {
    let file = sources.add("kernel.jl", text, 1);
    let block = parse_block(sources, file).expect("the text parses");
    let ExprKind::Function(function) = &block[0].kind else { panic!("not a function: {:?}", block[0].kind) };
    typed::check(function, arguments, &[]).expect("the function has types")
}

fn check(text: &str, arguments: &[Type], expected: Expect) {
    let mut sources = SourceMap::default();
    let tree = parsed(&mut sources, text, arguments);
    let ctx = Ctx::new();
    let found = match lower(&ctx, &tree, Checks::AtEntry, Searches::InOrder) {
        Ok(lowered) => {
            let order = print::schedule(&lowered.algorithm, &lowered.algorithm.source_order);
            format!("{}\n{order}", print::algorithm(&lowered.algorithm))
        }
        Err(errors) => errors.into_iter().map(|error| outline(&sources, error.into_diagnostic())).collect(),
    };
    expected.assert_eq(&found);
}

/// The diagnostic's text, with the source that each label marks.
fn outline(sources: &SourceMap, diagnostic: Diagnostic) -> String {
    let mut text = format!("{}: {}\n", diagnostic.code, diagnostic.message);
    for label in &diagnostic.labels {
        text += &format!("  {:?} `{}`: {}\n", label.role, sources.text(label.span), label.message);
    }
    for help in &diagnostic.help {
        text += &format!("  help: {help}\n");
    }
    text
}

#[test]
fn heat() {
    check(
        "function heat2d!(A, B, steps)
    m, n = size(A)
    for t in 1:steps
        for j in 2:n-1, i in 2:m-1
            @comp S B[i,j] = 0.25 * (A[i-1,j] + A[i+1,j] + A[i,j-1] + A[i,j+1])
        end
        for j in 2:n-1, i in 2:m-1
            @comp R A[i,j] = B[i,j]
        end
    end
end",
        &[MATRIX, MATRIX, INT],
        expect![[r#"
            algorithm heat2d!(A: Float64[m, n], B: Float64[B_1, B_2], steps: Int64)

            S[t, j, i] : 0 < t <= steps and 2 <= j < n and 2 <= i < m
                B[i, j] = 0.25 * (A[i - 1, j] + A[i + 1, j] + A[i, j - 1] + A[i, j + 1])

            R[t, j, i] : 0 < t <= steps and 2 <= j < n and 2 <= i < m
                A[i, j] = B[i, j]

            for t
              for j
                for i
                  S: B[i, j] = 0.25 * (A[i - 1, j] + A[i + 1, j] + A[i, j - 1] + A[i, j + 1])
              for j
                for i
                  R: A[i, j] = B[i, j]
        "#]],
    );
}

#[test]
fn matrix_product_with_an_accumulator() {
    check(
        "function gemm!(C, A, B, alpha)
    m, p = size(A)
    n = size(B, 2)
    for j in 1:n, i in 1:m
        acc = 0.0
        for k in 1:p
            acc += A[i,k] * B[k,j]
        end
        C[i,j] = alpha * acc
    end
    return C
end",
        &[MATRIX, MATRIX, MATRIX, F64],
        expect![[r#"
            algorithm gemm!(C: Float64[C_1, C_2], A: Float64[m, p], B: Float64[B_1, n], alpha: Float64)

            S0[j, i] : 0 < j <= n and 0 < i <= m
                acc[j, i] = 0.0

            S1[j, i, k] : 0 < j <= n and 0 < i <= m and 0 < k <= p
                acc[j, i] = acc[j, i] + A[i, k] * B[k, j]

            S2[j, i] : 0 < j <= n and 0 < i <= m
                C[i, j] = alpha * acc[j, i]

            for j
              for i
                S0: acc[j, i] = 0.0
                for k
                  S1: acc[j, i] = acc[j, i] + A[i, k] * B[k, j]
                S2: C[i, j] = alpha * acc[j, i]
        "#]],
    );
}

#[test]
fn triangles_strides_and_branches() {
    check(
        "function f!(A, x)
    n = length(x)
    for j in n:-1:1
        d = x[j]
        for i in j:2:n
            if i == j
                A[i,j] = 1.0
            elseif d > 0.0 && i > 2
                A[i,j] = d
            else
                A[i,j] = i * 0.5
            end
        end
    end
end",
        &[MATRIX, VECTOR],
        expect![[r#"
            algorithm f!(A: Float64[A_1, A_2], x: Float64[n])

            S0[j] : 0 < j <= n
                d[j] = x[j]

            S1[j, i = j] : 0 < j <= n
                A[i, j] = 1.0

            S2[j, i] : (j + i) mod 2 = 0 and j > 0 and 2 + j <= i <= n
                guard[j, i] = d[j] > 0.0 && i > 2

            S3[j, i] : (j + i) mod 2 = 0 and j > 0 and 2 + j <= i <= n
                if guard[j, i]: A[i, j] = d[j]

            S4[j, i] : (j + i) mod 2 = 0 and j > 0 and 2 + j <= i <= n
                if !guard[j, i]: A[i, j] = Float64(i) * 0.5

            for j = -j
              S0: d[j] = x[j]
              for i
                S1: A[i, j] = 1.0
                S2: guard[j, i] = d[j] > 0.0 && i > 2
                S3: if guard[j, i]: A[i, j] = d[j]
                S4: if !guard[j, i]: A[i, j] = Float64(i) * 0.5
        "#]],
    );
}

#[test]
fn a_scalar_result_and_a_clamped_subscript() {
    check(
        "function f(x)
    s = 0.0
    for i in eachindex(x)
        left = x[max(i - 1, 1)]
        s += left * x[i]
    end
    return s
end",
        &[VECTOR],
        expect![[r#"
            algorithm f(x: Float64[x_1])

            S0[]
                s = 0.0

            S1[i] : 0 < i <= x_1
                left = i - 2 >= 0 ? x[i - 1] : x[1]
                s = s + left * x[i]

            S0: s = 0.0
            for i
              S1: s = s + left * x[i]
        "#]],
    );
}

#[test]
fn what_is_not_affine() {
    check(
        "function f!(A, x, k)
    m = size(A, 1)
    for i in 1:m
        p = i * k
        x[p + 1] = A[i, 3i * i]
        q = i * i
        @comp S x[min(i, k)] = q
    end
    for i in 1:(m | k)
        x[i] = 0.0
    end
end",
        &[MATRIX, VECTOR, INT],
        expect![[r#"
            E0303: the subscript of a store to `x` takes several affine forms
              Primary `min(i, k)`: differs from iteration to iteration in more than the iterators
              help: drop `@comp`, or write one store for each case, inside `if`
            E0302: the end of the loop over `i` is not affine
              Primary `(m | k)`: no affine operation
              help: use sums, products with constants, `div`, `fld`, `cld`, `rem`, `mod`, `min` and `max`
        "#]],
    );
}

#[test]
fn subscripts_that_are_computed() {
    check(
        "function f!(y, x, k)
    s = 1
    for i in 1:length(y)
        x[i * k] += 1
        y[i] > 1 && (s += 1)
        y[i] = y[s]
        @inbounds y[i] += y[s]
        x[i] > 0 && (y[i * i] = 1)
    end
end",
        &[VECTOR, VECTOR, INT],
        expect![[r#"
            E0310: a subscript can only be checked after the function has begun to write
              Primary `s`: `s` is assigned more than once
              Secondary `s`: `s` is first set here
              help: compute the subscript from iterators, arguments and arrays that are only read, in place of `s`, or write `@inbounds` before the statement if it is sure to be inside
            E0311: whether a subscript needs to be inside is known only after the function has begun to write
              Primary `x[i]`: reads `x`, which the function writes
              Secondary `i * i`: this subscript has to be checked
              help: compute `x` in a function of its own and pass it on, or write `@inbounds` before the statement if the subscript is sure to be inside
        "#]],
    );
}

#[test]
fn commands_of_a_schedule() {
    let mut sources = SourceMap::default();
    let text = "tile(S, (j, i), (32, 32)); parallel(S, j0)\ngpu(S, (i0, j0), (i1, j1))\nafter(R, S)";
    let file = sources.add("kernel.jl", text, 1);
    let block = parse_block(&sources, file).expect("the text parses");
    let commands = schedule::commands(&block).expect("the commands are well formed");
    let found: Vec<String> =
        commands.iter().map(|command| format!("{} | {}\n", command.value, sources.text(command.span))).collect();
    expect![[r#"
        tile(S, (j, i), (32, 32)) | tile(S, (j, i), (32, 32))
        parallel(S, j0) | parallel(S, j0)
        gpu(S, (i0, j0), (i1, j1)) | gpu(S, (i0, j0), (i1, j1))
        after(R, S) | after(R, S)
    "#]]
    .assert_eq(&found.concat());
}

/// The computations that may be computed with fast mathematics.
fn fast(text: &str) -> Vec<String> {
    fast_with(text, ScalarType::I64)
}

/// The same where the last argument has such elements.
fn fast_with(text: &str, element: ScalarType) -> Vec<String> {
    let tree = parsed(&mut SourceMap::default(), text, &[VECTOR, VECTOR, VECTOR, VECTOR, dense(element, 1)]);
    let ctx = Ctx::new();
    let lowered =
        lower(&ctx, &tree, Checks::AtEntryOrLater, Searches::InOrder).expect("the function has a polyhedral form");
    let fast = lowered.algorithm.computations.into_iter().filter(|it| it.fastmath);
    fast.map(|it| it.name).collect()
}

#[test]
fn what_a_search_computes_is_computed_alike() {
    let bins = |rest: &str| {
        fast(&format!(
            "function bins!(y, z, a, b, k)
    @fastmath for p in eachindex(a)
        @comp B bin = ifelse(a[p] / b[p] > 0.5, 2, 1)
        {rest}
    end
end"
        ))
    };
    assert_eq!(bins("@comp Y y[bin] = a[p] / b[p]; @comp Z z[bin] = a[p] / b[p]"), [""; 0]);
    // The test of the first subscript is one of the second.
    assert_eq!(bins("@comp Y y[bin] = a[p] / b[p]; @comp Z y[bin] += a[p] / b[p]"), [""; 0]);
    assert_eq!(bins("@comp Y y[p] = bin * a[p]; @comp Z z[bin] = a[p] / b[p]"), ["Y"]);
    assert_eq!(bins("@inbounds @comp Y y[bin] = a[p] / b[p]"), ["B", "Y"]);
}

#[test]
fn subscripts_without_floats_leave_values_fast() {
    let text = "function gathered!(y, z, a, b, k)
    @fastmath for p in eachindex(k)
        @comp Y y[k[p]] += a[p] / b[p]
        @comp Z z[p] = a[k[p]] / b[p]
    end
end";
    assert_eq!(fast(text), ["Y", "Z"]);
}

#[test]
fn what_is_tested_in_the_run_is_computed_alike() {
    let text = "function later!(y, z, a, b, k)
    v = 0.0
    @fastmath for p in eachindex(a)
        @comp V v = v / b[p] + a[p]
        @comp Y y[ifelse(v / b[p] > 0.5, 2, 1)] = a[p] / b[p]
        @comp Z z[p] = v / b[p]
    end
end";
    assert_eq!(fast(text), ["V", "Z"]);
}

#[test]
fn an_update_of_small_integers_that_the_run_tests_stays_one() {
    let text = "function counted!(y, z, a, b, k)
    v = 0.0
    @fastmath for p in eachindex(a)
        @comp V v = v / b[p] + a[p]
        k[ifelse(v / b[p] > 0.5, 2, 1)] += 1
    end
end";
    assert_eq!(fast_with(text, ScalarType::I32), ["V"]);
}

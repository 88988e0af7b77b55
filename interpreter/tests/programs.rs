//! Whole functions from source text: scopes, loops, conditions, results, and run-time errors.

use tessella_diagnostics::SourceMap;
use tessella_frontend::typed::tree::Function;
use tessella_frontend::typed::{ModuleConstant, check, parse_type};
use tessella_frontend::{parse_function, scan};
use tessella_interpreter::{Array, Returned, RunError, Value, run, run_within};
use tessella_scalar::{Constant, ScalarType};

fn typed(source: &str, types: &[&str]) -> Function {
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
    check(&function, &types, &constants).expect("the source is well typed")
}

fn floats(extents: &[u64], values: &[f64]) -> Value {
    Value::Array(Array::from_fn(ScalarType::F64, extents.to_vec(), |at| Constant::f64(values[at])).unwrap())
}

fn numbers(value: &Value) -> Vec<f64> {
    let Value::Array(array) = value else { panic!("not an array: {value:?}") };
    (0..array.len())
        .map(|at| array.get(at).as_float().or_else(|| array.get(at).as_integer().map(|i| i as f64)).unwrap())
        .collect()
}

fn int(value: i64) -> Value {
    Value::Scalar(Constant::i64(value))
}

fn float(value: f64) -> Value {
    Value::Scalar(Constant::f64(value))
}

#[test]
fn gemm_multiplies() {
    let gemm = typed(
        "function gemm!(C, A, B)
            n, m = size(C)
            for j in 1:m, i in 1:n
                s = zero(eltype(C))
                for k in axes(A, 2)
                    s += A[i, k] * B[k, j]
                end
                C[i, j] = s
            end
        end",
        &["Matrix{Float64}"; 3],
    );
    let mut arguments = [
        floats(&[2, 2], &[0.0; 4]),
        floats(&[2, 3], &[1.0, 4.0, 2.0, 5.0, 3.0, 6.0]),
        floats(&[3, 2], &[1.0, 0.0, 1.0, 2.0, 1.0, 0.0]),
    ];
    assert_eq!(run(&gemm, &mut arguments), Ok(Returned::Nothing));
    assert_eq!(numbers(&arguments[0]), [4.0, 10.0, 4.0, 13.0]);
}

#[test]
fn loop_variables_are_new_in_each_iteration_and_outer_ones_are_updated() {
    let count = typed(
        "function count(x, n)
            total = 0
            for i in 1:n
                fresh = i
                fresh += 1
                i = 2i
                total += fresh + i
            end
            total
        end",
        &["Vector{Float64}", "Int"],
    );
    assert_eq!(run(&count, &mut [floats(&[1], &[0.0]), int(3)]), Ok(Returned::Value(int((2 + 2) + (3 + 4) + (4 + 6)))));
}

#[test]
fn ranges_run_as_in_julia() {
    let body =
        |range: &str| format!("function f(A)\n p = 0\n for i in {range}\n p += 1\n A[p] = i\n end\n return p\n end");
    let visited = |range: &str| {
        let function = typed(&body(range), &["Vector{Float64}"]);
        let mut arguments = [floats(&[10], &[0.0; 10])];
        let Ok(Returned::Value(Value::Scalar(count))) = run(&function, &mut arguments) else { panic!("{range} fails") };
        numbers(&arguments[0])[..count.as_integer().unwrap() as usize].iter().map(|&x| x as i64).collect::<Vec<_>>()
    };
    assert_eq!(visited("2:5"), [2, 3, 4, 5]);
    assert_eq!(visited("5:2"), [0; 0]);
    assert_eq!(visited("1:3:9"), [1, 4, 7]);
    assert_eq!(visited("9:-4:0"), [9, 5, 1]);
    assert_eq!(visited("reverse(2:4)"), [4, 3, 2]);
    assert_eq!(visited("Base.OneTo(2)"), [1, 2]);
    assert_eq!(visited("9223372036854775806:9223372036854775807"), [i64::MAX - 1, i64::MAX].map(|x| x as f64 as i64));
}

#[test]
fn swaps_and_chains_evaluate_the_right_side_first() {
    let function = typed(
        "function f(A, a, b)
            x, y = a, b
            x, y = y, x - y
            p = q = x
            A[1], A[2] = y, p
            A[1], A[2] = A[2], A[1]
            if 0 < x <= y || q > 100
                A[1] = -A[1]
            elseif !(x == y) && y < 0
                A[2] *= 10
            else
                A[2] = 7
            end
            A[2] = A[2] + 1
        end",
        &["Vector{Float64}", "Float64", "Float64"],
    );
    let mut arguments = [floats(&[2], &[0.0; 2]), float(1.0), float(5.0)];
    // `x = 5`, `y = -4`; the value of the last assignment is the result.
    assert_eq!(run(&function, &mut arguments), Ok(Returned::Value(float(-39.0))));
    assert_eq!(numbers(&arguments[0]), [5.0, -39.0]);
}

#[test]
fn results_are_the_last_expression() {
    let result = |body: &str| {
        let function = typed(&format!("function f(A, n)\n{body}\nend"), &["Vector{Float64}", "Int"]);
        run(&function, &mut [floats(&[2], &[1.5, 2.0]), int(3)]).unwrap()
    };
    assert_eq!(result("return nothing"), Returned::Nothing);
    assert_eq!(result("A[1] = 2"), Returned::Value(int(2)));
    assert_eq!(result("A"), Returned::Value(floats(&[2], &[1.5, 2.0])));
    assert_eq!(result("n"), Returned::Value(int(3)));
    assert_eq!(result("n += 1"), Returned::Value(int(4)));
    assert_eq!(result("return A[1] + n"), Returned::Value(float(4.5)));
    assert_eq!(result("if n > 2\n 1.0\nelse\n A[end]\nend"), Returned::Value(float(1.0)));
    assert_eq!(result("x = if n < 2 1.0 elseif n < 4 2.0 else 3.0 end"), Returned::Value(float(2.0)));
    assert_eq!(result("for i in 1:n\nend"), Returned::Nothing);
    assert_eq!(result("x::Float64 = n; x /= 2"), Returned::Value(float(1.5)));
}

#[test]
fn constants_parameters_and_types_have_values() {
    let function = typed(
        "const SCALE = 2^3
        const WEIGHT = 0.25f0
        function f(A::AbstractArray{T,N}, b::S) where {T<:Real, N, S<:Integer}
            w = T(WEIGHT)
            A[1, end] = w * SCALE + N + zero(T) + convert(T, b % Int8)
            A[begin, 1] = 7 ÷ SCALE + cld(b, SCALE) + pi
            return eltype(A) == Float32 ? one(S) : 0
        end",
        &["Matrix{Float32}", "Int"],
    );
    let zeros = Array::zeros(ScalarType::F32, vec![2, 2]).unwrap();
    let mut arguments = [Value::Array(zeros), int(257)];
    assert_eq!(run(&function, &mut arguments), Ok(Returned::Value(int(1))));
    let expected = [f64::from(33f32 + std::f32::consts::PI), 0.0, 5.0, 0.0];
    let expected = [(33.0 + std::f64::consts::PI) as f32, expected[1] as f32, expected[2] as f32, expected[3] as f32];
    assert_eq!(numbers(&arguments[0]), expected.map(f64::from));
}

#[test]
fn subscripts_are_checked() {
    let function =
        typed("function f(A)\n for i in 1:3\n @inbounds A[i, 1] = A[i, 2]\n end\n end", &["Matrix{Float64}"]);
    let error = run(&function, &mut [floats(&[2, 2], &[0.0; 4])]).unwrap_err();
    assert!(
        matches!(&error, RunError::Bounds { array, axis: 1, subscript: 3, extent: 2, .. } if array == "A"),
        "{error}"
    );
}

#[test]
fn runaway_functions_stop() {
    let function = typed("function f(A)\n for i in 1:1000000\n A[1] += 1\n end\n end", &["Vector{Float64}"]);
    assert!(matches!(run_within(1000, &function, &mut [floats(&[1], &[0.0])]), Err(RunError::OutOfSteps { .. })));
    let wrong = run(&function, &mut [float(1.0)]).unwrap_err();
    assert!(matches!(wrong, RunError::ArgumentType { .. }));
    assert!(matches!(run(&function, &mut []), Err(RunError::ArgumentCount { .. })));
}

#[test]
fn float_to_integer_truncation_is_defined_within_the_range() {
    let function =
        typed("function f(A, x)\n A[1] = unsafe_trunc(UInt8, round(x))\n end", &["Vector{UInt8}", "Float64"]);
    let bytes = || Value::Array(Array::zeros(ScalarType::U8, vec![1]).unwrap());
    let mut arguments = [bytes(), float(254.5)];
    run(&function, &mut arguments).unwrap();
    assert_eq!(numbers(&arguments[0]), [254.0]);
    assert!(matches!(run(&function, &mut [bytes(), float(256.0)]), Err(RunError::Unspecified { .. })));
}

//! Calls on slices: what both roads through jlrs are made of.

use tessella_julia_embed::{
    Argument, Backend, CallError, Constant, DeviceArray, Failure, Function, ScalarType, Value, elements,
};

const SOURCE: &str = "
const LIMIT = 3

function axpy!(y, a, x)
    for i in eachindex(x)
        y[i] += a * x[i]
    end
end

function twice(A)
    B = similar(A)
    for j in axes(A, 2), i in axes(A, 1)
        B[i, j] = A[i, j] * 2
    end
    return B, size(A, 1) + LIMIT
end

function both(a, flag, n)
    return flag ? a + n : a - n
end
";

fn function(name: &str, target: Backend) -> Function {
    Function::new(SOURCE, name, target)
}

#[test]
fn slices_are_read_and_written_in_place() {
    for target in [Backend::C, Backend::Interpreter] {
        let axpy = function("axpy!", target);
        for n in [0, 1, 7, 101] {
            let mut x: Vec<f64> = (0..n).map(|at| f64::from(at) * 0.1).collect();
            let mut y: Vec<f64> = (0..n).map(f64::from).collect();
            let expected: Vec<f64> = x.iter().zip(&y).map(|(x, y)| y + 1.5 * x).collect();
            let extents = [n as usize];
            // The interpreter copies all arrays back, so it wants all of them for writing.
            let read = match target {
                Backend::C => Argument::read(&x, &extents),
                Backend::Interpreter | Backend::Cuda => Argument::write(&mut x, &extents),
            };
            let mut arguments = [Argument::write(&mut y, &extents).unwrap(), Argument::scalar(1.5), read.unwrap()];
            assert_eq!(axpy.call(&mut arguments), Ok(vec![]));
            assert_eq!(y, expected);
        }
    }
}

#[test]
fn one_function_serves_several_types() {
    let axpy = function("axpy!", Backend::C);
    let mut wide = [1_i64, 2];
    axpy.call(&mut [
        Argument::write(&mut wide, &[2]).unwrap(),
        Argument::scalar(3_i64),
        Argument::read(&[1_i64, 1], &[2]).unwrap(),
    ])
    .unwrap();
    let mut narrow = [1.0_f32, 2.0];
    let x = [0.5_f32, 0.25];
    axpy.call(&mut [
        Argument::write(&mut narrow, &[2]).unwrap(),
        Argument::scalar(2.0_f32),
        Argument::read(&x, &[2]).unwrap(),
    ])
    .unwrap();
    assert_eq!((wide, narrow), ([4, 5], [2.0, 2.5]));
}

#[test]
fn new_arrays_and_numbers_come_back() {
    for (rows, columns) in [(0, 0), (0, 3), (1, 1), (2, 3), (7, 5)] {
        let a: Vec<i32> = (0..rows * columns).collect();
        let shape = [rows as usize, columns as usize];
        let results = function("twice", Backend::C).call(&mut [Argument::read(&a, &shape).unwrap()]).unwrap();
        let [Value::Array(made), Value::Scalar(number)] = &results[..] else { panic!("{results:?}") };
        assert_eq!(made.extents(), [rows as u64, columns as u64]);
        // `2` is an `Int64`, and the result is converted to the array's elements.
        assert_eq!(elements::<i32>(made), Ok(a.iter().map(|it| it * 2).collect()));
        assert!(matches!(
            elements::<f32>(made),
            Err(CallError::Element { expected: ScalarType::I32, given: ScalarType::F32 })
        ));
        assert_eq!(*number, Constant::i64(i64::from(rows) + 3));
    }
}

#[test]
fn numbers_of_every_width_are_passed() {
    let both = function("both", Backend::C);
    let call = |a: Constant, flag, n| {
        let results = both.call(&mut [Argument::constant(a), Argument::scalar::<bool>(flag), Argument::constant(n)]);
        results.unwrap().pop()
    };
    for ty in [ScalarType::I8, ScalarType::I16, ScalarType::I32, ScalarType::I64, ScalarType::U8, ScalarType::U64] {
        let number = |value| Constant::integer(ty, value);
        assert_eq!(call(number(100), true, number(27)), Some(Value::Scalar(number(127))), "{ty}");
        assert_eq!(call(number(100), false, number(27)), Some(Value::Scalar(number(73))), "{ty}");
    }
    assert_eq!(call(Constant::f32(0.5), false, Constant::f32(1.0)), Some(Value::Scalar(Constant::f32(-0.5))));
}

#[test]
fn what_cannot_be_called_is_told_and_nothing_is_written() {
    let axpy = function("axpy!", Backend::C);
    let (mut y, x) = ([1.0, 2.0], [1.0, 2.0, 3.0]);
    let error = axpy.call(&mut [
        Argument::read(&y, &[2]).unwrap(),
        Argument::scalar(1.0),
        Argument::read(&x[..2], &[2]).unwrap(),
    ]);
    assert_eq!(error, Err(CallError::ReadOnly { function: "axpy!".into(), position: 0 }));

    let error = axpy.call(&mut [
        Argument::write(&mut y, &[2]).unwrap(),
        Argument::scalar(1.0),
        Argument::read(&x, &[3]).unwrap(),
    ]);
    let Err(CallError::Failed { failure: Failure::Bounds { name, .. } }) = error else { panic!("{error:?}") };
    assert_eq!((name.as_str(), y), ("y", [1.0, 2.0]));

    let shape = Argument::read(&x, &[2, 2]).err();
    assert_eq!(shape, Some(CallError::Shape { extents: vec![2, 2], given: 3 }));
    let too_large = Argument::read(&x, &[usize::MAX, 2]).err();
    assert_eq!(too_large, Some(CallError::Shape { extents: vec![usize::MAX, 2], given: 3 }));

    let unknown = function("nothing_like_it", Backend::C).call(&mut []);
    let Err(CallError::Refused { text, .. }) = unknown else { panic!("{unknown:?}") };
    assert!(text.contains("nothing_like_it"), "{text}");
}

#[test]
fn functions_say_what_they_write() {
    let types = ["Array{Float64,1}", "Float64", "Array{Float64,1}"].map(str::to_owned);
    assert_eq!(function("axpy!", Backend::C).written(&types), Ok(vec![true, false, false]));
    assert_eq!(function("axpy!", Backend::Interpreter).written(&types), Ok(vec![true, false, true]));
}

#[test]
fn device_arrays_stay_on_the_device() {
    let mut device = match DeviceArray::from_slice(&[1.0, 2.0, 3.0], &[3]) {
        Ok(device) => device,
        Err(CallError::Device { text }) => {
            assert!(text.starts_with("error[E07"), "{text}");
            return println!("skipped: {text}");
        }
        Err(other) => panic!("{other}"),
    };
    let x = [1.0, 1.0, 1.0];
    fn arguments<'a>(device: &'a mut DeviceArray, x: &'a [f64; 3]) -> [Argument<'a>; 3] {
        [Argument::write_device(device), Argument::scalar(0.5), Argument::read(x, &[3]).expect("three elements")]
    }
    let on_host = function("axpy!", Backend::C).call(&mut arguments(&mut device, &x));
    assert_eq!(on_host, Err(CallError::OnDevice { function: "axpy!".into(), position: 0 }));
    function("axpy!", Backend::Cuda).call(&mut arguments(&mut device, &x)).unwrap();
    let mut back = [0.0; 3];
    device.read_into(&mut back).unwrap();
    assert_eq!(back, [1.5, 2.5, 3.5]);
    assert!(matches!(device.read_into(&mut [0.0_f32; 3]), Err(CallError::Element { .. })));
}

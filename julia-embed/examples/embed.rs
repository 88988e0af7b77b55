//! A program that starts Julia, makes arrays there, calls a compiled function on them, and lets Julia judge the results.
//!
//!     cargo run --release -p tessella-julia-embed --features embed --example embed

use jlrs::error::JlrsError;
use jlrs::prelude::*;
use tessella_julia_embed::{Argument, Backend, CallError, Function, Value as Outcome, arrays};

const SOURCE: &str = "
function axpy!(y, a, x)
    for i in eachindex(x)
        y[i] += a * x[i]
    end
end

function largest(x)
    m = x[1]
    for i in 2:length(x)
        m = max(m, x[i])
    end
    return m
end
";

/// What the arrays of the test are, and what Julia itself computes from them.
const SETUP: &str =
    "x = [sin(i + 0.5j) for i in 1:97, j in 1:13]; y = [i / j for i in 1:97, j in 1:13]; z = y .+ 0.75 .* x";

fn main() -> JlrsResult<()> {
    // The program runs on one thread, which is Julia's from now on.
    let julia = Builder::new().start_local()?;
    let axpy = Function::new(SOURCE, "axpy!", Backend::C);
    let largest = Function::new(SOURCE, "largest", Backend::C);
    julia.local_scope::<_, 4>(|mut frame| -> JlrsResult<()> {
        // SAFETY: the text computes three arrays from nothing.
        unsafe { Value::eval_string(&mut frame, SETUP) }?;
        // SAFETY: as above.
        let x = unsafe { Value::eval_string(&mut frame, "x") }?.cast::<TypedMatrix<f64>>()?;
        // SAFETY: as above.
        let y = unsafe { Value::eval_string(&mut frame, "y") }?.cast::<TypedMatrix<f64>>()?;

        let tracked = x.track_shared()?;
        {
            let mut result = y.track_exclusive()?;
            // SAFETY: Julia runs nothing but what this thread asks it to.
            let y = unsafe { arrays::write(&mut result) }.map_err(failed)?;
            axpy.call(&mut [y, Argument::scalar(0.75), arrays::read(&tracked).map_err(failed)?]).map_err(failed)?;
        }
        // SAFETY: the text compares two arrays, which nobody borrows any more.
        let equal = unsafe { Value::eval_string(&mut frame, "y == z") }?.unbox::<bool>()?.as_bool();
        assert!(equal, "Julia's own sum differs");

        let found = largest.call(&mut [arrays::read(&tracked).map_err(failed)?]).map_err(failed)?;
        let expected = tracked.bits_data().as_slice().iter().copied().fold(f64::NEG_INFINITY, f64::max);
        assert_eq!(found, [Outcome::Scalar(tessella_julia_embed::Constant::f64(expected))]);

        // An array that is tracked for reading is not passed for writing.
        assert!(x.track_exclusive().is_err());
        Ok(())
    })?;
    println!("equal to Julia");
    Ok(())
}

fn failed(error: CallError) -> Box<JlrsError> {
    Box::new(JlrsError::exception(error.to_string()))
}

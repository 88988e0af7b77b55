//! The tuner behind the C interface.

use super::values::{pointers_of, read};
use super::{apart, borrowed, c_string, parse};
use crate::request::{CompileRequest, CompileResult, Status, TextKind};
use crate::session;
use crate::tune::{Begin, Failed, Outcome, Step, TuneOptions, Tuner};
use crate::tuned::Store;
use std::ffi::{CString, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};
use tessella_interpreter::Value;

/// What `tessella_tuning` points to.
pub struct Tuning {
    inner: Mutex<Inner>,
}

struct Inner {
    /// `None` where it could not begin, or ended in a panic.
    tuner: Option<Box<Tuner>>,
    class: Vec<u32>,
    /// What went wrong, as lines.
    failure: Option<String>,
    /// The last text that was asked for.
    text: CString,
}

/// How often a candidate is called at most.
const REPEAT: u32 = 5;

/// # Safety
/// `request` is null or points to a text that ends with a nul; `arguments` is null or points to pointers to the values of the
/// entry's parameters, places for results left out, which are in the host's memory and stay as they are meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessella_tune(
    request: *const c_char,
    arguments: *const *mut c_void,
    budget: f64,
    seed: u64,
) -> *mut Tuning {
    let begun = Instant::now();
    // SAFETY: promised by the caller.
    let begin = AssertUnwindSafe(|| unsafe { begin(request, arguments, budget, seed, begun) });
    let inner = match catch_unwind(begin) {
        Ok(Ok((tuner, class))) => Inner { tuner: Some(tuner), class, failure: None, text: CString::default() },
        Ok(Err(failure)) => Inner { tuner: None, class: vec![], failure: Some(failure), text: CString::default() },
        Err(_) => {
            let failure = Some(internal("a panic"));
            Inner { tuner: None, class: vec![], failure, text: CString::default() }
        }
    };
    Box::into_raw(Box::new(Tuning { inner: Mutex::new(inner) }))
}

/// # Safety
/// As for [`tessella_tune`].
unsafe fn begin(
    request: *const c_char,
    arguments: *const *mut c_void,
    budget: f64,
    seed: u64,
    begun: Instant,
) -> Result<(Box<Tuner>, Vec<u32>), String> {
    // SAFETY: promised by the caller.
    let request: CompileRequest = parse(unsafe { borrowed(request) }).map_err(|reason| internal(&reason))?;
    let class = request.class.clone().unwrap_or_default();
    let budget = Duration::try_from_secs_f64(budget).unwrap_or(Duration::ZERO);
    let subject = apart(move || session::subject(&request)).map_err(|reason| internal(&reason))?;
    let subject = subject.map_err(|failed| words(&failed))?;
    let types = subject.types();
    let count = types.iter().map(pointers_of).sum();
    let values: Vec<Value> = if count == 0 {
        vec![]
    } else if arguments.is_null() {
        return Err(internal("there are no arguments"));
    } else {
        // SAFETY: promised by the caller.
        unsafe { read(&types, std::slice::from_raw_parts(arguments, count)) }.map_err(|reason| internal(&reason))?
    };
    let options = TuneOptions { budget, seed, repeat: REPEAT, most: usize::MAX, begin: Begin::InTurns };
    let sources = subject.sources.clone();
    let clock = Box::new(move || begun.elapsed());
    let made = apart(move || Tuner::new(subject, values, options, clock)).map_err(|reason| internal(&reason))?;
    let told = |status, errors: &[_]| words(&session::failed_with(&sources, status, errors));
    match made {
        Ok(tuner) => Ok((Box::new(tuner), class)),
        Err(Failed::Refused(errors)) => Err(told(Status::Refused, &errors)),
        Err(Failed::ToolChain(errors)) => Err(told(Status::ToolChain, &errors)),
    }
}

/// # Safety
/// `tuning` is null or came from [`tessella_tune`] and was not released.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessella_tune_step(tuning: *const Tuning) -> i32 {
    // SAFETY: promised by the caller.
    let Some(mut inner) = unsafe { tuning.as_ref() }.map(locked) else { return -1 };
    let Some(mut tuner) = inner.tuner.take() else { return -1 };
    let stepped = apart(move || {
        let step = tuner.step();
        (tuner, step)
    });
    match stepped {
        Ok((tuner, step)) => {
            inner.tuner = Some(tuner);
            i32::from(step == Step::Tried)
        }
        Err(reason) => {
            inner.failure = Some(internal(&reason));
            -1
        }
    }
}

/// # Safety
/// As for [`tessella_tune_step`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessella_tune_keep(tuning: *const Tuning) -> i32 {
    // SAFETY: promised by the caller.
    let Some(inner) = unsafe { tuning.as_ref() }.map(locked) else { return -1 };
    let keep = || {
        let tuner = inner.tuner.as_ref()?;
        let store = Store::open().ok()?;
        tuner.keep(&store, inner.class.clone()).ok()
    };
    match catch_unwind(AssertUnwindSafe(keep)) {
        Ok(Some(())) => 0,
        Ok(None) | Err(_) => -1,
    }
}

/// # Safety
/// As for [`tessella_tune_step`]; nobody uses what the last call returned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessella_tune_text(tuning: *const Tuning) -> *const c_char {
    // SAFETY: promised by the caller.
    let Some(mut inner) = unsafe { tuning.as_ref() }.map(locked) else { return ptr::null() };
    let text = match (&inner.failure, &inner.tuner) {
        (Some(failure), _) => failure.clone(),
        (None, Some(tuner)) => state(tuner),
        (None, None) => internal("nothing is tuned"),
    };
    inner.text = c_string(&text);
    inner.text.as_ptr()
}

/// # Safety
/// As for [`tessella_tune_step`]; nobody uses it any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessella_tune_release(tuning: *mut Tuning) {
    if !tuning.is_null() {
        // SAFETY: promised by the caller; it was made by `Box::into_raw`.
        let tuning = unsafe { Box::from_raw(tuning) };
        let _ = catch_unwind(AssertUnwindSafe(|| drop(tuning)));
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn tessella_tuned_clear() -> i64 {
    let cleared = catch_unwind(|| Store::open().and_then(|store| store.clear()));
    match cleared {
        Ok(Ok(count)) => count as i64,
        Ok(Err(_)) | Err(_) => -1,
    }
}

fn locked(tuning: &Tuning) -> MutexGuard<'_, Inner> {
    tuning.inner.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// How far a tuner is.
fn state(tuner: &Tuner) -> String {
    let count = |wanted: &dyn Fn(&Outcome) -> bool| tuner.tried.iter().filter(|it| wanted(&it.outcome)).count();
    let timed = count(&|it| matches!(it, Outcome::Timed(_)));
    let refused = count(&|it| matches!(it, Outcome::Refused(_)));
    let differing = count(&|it| matches!(it, Outcome::Differs(_)));
    format!(
        "kind=tuned\nfunction={}\nuntuned={:e}\nseconds={:e}\nconsidered={}\nproposed={}\nleft={}\ntimed={timed}\n\
         refused={refused}\ndiffering={differing}\ntext={}",
        tuner.subject.function.name,
        tuner.untuned,
        tuner.best.seconds,
        tuner.considered,
        tuner.proposed,
        tuner.left(),
        tuner.schedule()
    )
}

fn words(failed: &CompileResult) -> String {
    let kind = match failed.status {
        Status::Refused => "refused",
        Status::ToolChain => "tool_chain",
        Status::Internal | Status::Done => "internal",
    };
    let text = |kind| failed.texts.get(&kind).map(String::as_str).unwrap_or_default();
    format!("kind={kind}\ncodes={}\ntext={}", text(TextKind::Codes), text(TextKind::Diagnostics))
}

fn internal(reason: &str) -> String {
    format!("kind=internal\ncodes=\ntext=error: internal error of Tessella: {reason}")
}

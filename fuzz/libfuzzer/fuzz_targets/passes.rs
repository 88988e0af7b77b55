#![no_main]

use tessella_fuzz::{Part, run};

libfuzzer_sys::fuzz_target!(|text: &str| {
    let verdict = run(Part::Passes, text);
    assert!(!verdict.is_failure(), "{verdict}");
});

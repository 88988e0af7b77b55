#![no_main]

use tessella_fuzz::{Part, run};

libfuzzer_sys::fuzz_target!(|text: &str| {
    let verdict = run(Part::Parser, text);
    assert!(!verdict.is_failure(), "{verdict}");
});

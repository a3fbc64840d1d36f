//! Any text as CUDA C++ to prove: an answer within the time limit, or a refusal. No solver is asked, and no compiler.

use warpproof::{Call, call};

const WORDS: [&str; 7] =
    ["prove", "--no-solver", "--no-compare", "--no-cache", "--timeout=2", "--jobs=1", "k.cu"];

/// Runs the target.
pub fn fuzz(bytes: &[u8]) {
    let files = vec![("k.cu".to_owned(), bytes.to_vec())];
    let called = call(&mut Call::new(WORDS.map(str::to_owned).to_vec(), files, None));
    assert_ne!(called.exit, driver::Exit::Bug);
}

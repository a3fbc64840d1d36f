//! Any text as PTX to describe: names are demangled, parameters and barriers listed, and the description is JSON.

use warpproof::{Call, call};

/// Runs the target.
pub fn fuzz(bytes: &[u8]) {
    let file = ("k.ptx".to_owned(), bytes.to_vec());
    let words = ["inspect", "--format", "json", "k.ptx"].map(str::to_owned);
    let called = call(&mut Call::new(words.to_vec(), vec![file], None));
    if called.exit == driver::Exit::Success {
        serde_json::from_str::<serde_json::Value>(&called.output).expect("the output is JSON");
    }
}

//! Any bytes as the results of an earlier batch (`--resume`): complete lines are read, an incomplete last one is cut
//! off, and the rest is read the same way again.

use crate::scratch;
use warpproof::readers;

/// Runs the target.
pub fn fuzz(bytes: &[u8]) {
    let file = scratch::write("results.jsonl", bytes);
    if let Ok(lines) = readers::results(&file) {
        let left = std::fs::read(&file).expect("the file is still there");
        assert!(bytes.starts_with(&left) && (left.is_empty() || left.ends_with(b"\n")));
        assert_eq!(readers::results(&file), Ok(lines));
    }
}

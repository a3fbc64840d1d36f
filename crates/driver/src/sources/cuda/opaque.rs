//! Keeps calls of math functions in files that Warpproof compiles itself, so that no inlined code needs to be
//! recognised.
//!
//! This is done by the header `tools/warpproof_math.h`, embedded in this program. It makes macros of names such as
//! `exp`, so a source may not compile with it; the caller then compiles it without.

use super::includes::included;
use std::path::{Path, PathBuf};

/// The text of the header.
pub(super) const HEADER: &str = include_str!("../../../../../tools/warpproof_math.h");

/// The name of the header that declares the functions.
pub(super) const NAME: &str = "warpproof_math.h";

/// Returns `true` if a source calls a function of the header, itself or in an included file.
pub(super) fn calls_functions(path: &Path, text: &str, folders: &[PathBuf]) -> bool {
    let included = included(path, text, folders).unwrap_or_default();
    std::iter::once(text).chain(included.iter().map(|(_, text)| text.as_str())).any(calls)
}

/// The names that the header defines as macros.
fn names() -> impl Iterator<Item = &'static str> {
    let macros = HEADER.lines().filter_map(|line| line.strip_prefix("#define "));
    let names = macros.filter_map(|line| line.split_once('(').map(|(name, _)| name));
    names.filter(|name| !name.starts_with("WARPPROOF"))
}

fn calls(text: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let names: std::collections::BTreeSet<&str> = names().collect();
    let mut words = text.split_inclusive(|c: char| !is_word(c));
    words.any(|word| match word.strip_suffix(|c: char| !is_word(c)) {
        // Blanks before the bracket are rare; the function is then inlined.
        Some(name) => word.ends_with('(') && names.contains(name),
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_seen() {
        assert!(names().count() > 50);
        assert!(calls("y = expf(x);") && calls("y=1+__logf(x)") && calls("std::tanh(x)"));
        assert!(
            !calls("y = my_expf(x);") && !calls("float exp; y = exp + 1;") && !calls("sqrtf(x)")
        );
    }
}

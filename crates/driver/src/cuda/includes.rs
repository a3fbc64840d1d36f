//! The files that a source includes, as far as they are not the compiler's own.
//!
//! They are found by their `#include` lines, whatever conditions stand around them: that may be too
//! many files, and never too few, so that a cached result is never older than what it was made of.
//! A name that a macro stands for is not seen; the caller then does not use the cache.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// More files than these are not followed.
const MOST: usize = 2000;

/// Included files with their texts, in a fixed order; `None` if they cannot all be known.
pub(super) fn included(
    path: &Path,
    text: &str,
    folders: &[PathBuf],
) -> Option<Vec<(PathBuf, String)>> {
    let mut found: Vec<(PathBuf, String)> = Vec::new();
    let mut seen: BTreeSet<PathBuf> = BTreeSet::new();
    let mut open = vec![(path.to_path_buf(), text.to_owned())];
    while let Some((from, text)) = open.pop() {
        let own = from.parent().map(Path::to_path_buf).unwrap_or_default();
        for line in text.lines() {
            let Some(name) = include_name(line) else { continue };
            let (quoted, name) = name?;
            let own = quoted.then_some(&own);
            let candidates = own.into_iter().chain(folders).map(|folder| folder.join(name));
            // What is in none of them is the compiler's own, or missing, which it will say.
            let Some(file) = candidates.into_iter().find(|file| file.is_file()) else { continue };
            if !seen.insert(file.clone()) {
                continue;
            }
            let text = std::fs::read_to_string(&file).ok()?;
            found.push((file.clone(), text.clone()));
            open.push((file, text));
            if found.len() > MOST {
                return None;
            }
        }
    }
    found.sort();
    Some(found)
}

/// Of an `#include` line: whether the name is in quotes, and the name; `Some(None)` if it is neither
/// in quotes nor in angle brackets.
#[expect(clippy::option_option, reason = "no include, and one that cannot be read, are different")]
fn include_name(line: &str) -> Option<Option<(bool, &str)>> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start();
    let rest = rest.strip_prefix("include_next").or_else(|| rest.strip_prefix("include"))?;
    let rest = rest.trim_start();
    let name = |close: char| rest[1..].split(close).next();
    Some(match rest.chars().next() {
        Some('"') => name('"').map(|name| (true, name)),
        Some('<') => name('>').map(|name| (false, name)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn include_lines_are_read() {
        assert_eq!(include_name("  #  include \"a/b.h\" // c"), Some(Some((true, "a/b.h"))));
        assert_eq!(include_name("#include <cuda_fp16.h>"), Some(Some((false, "cuda_fp16.h"))));
        assert_eq!(include_name("#include HEADER"), Some(None));
        assert_eq!(include_name("int include = 1;"), None);
    }
}

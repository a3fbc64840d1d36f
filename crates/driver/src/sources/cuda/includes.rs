//! Finds the files that a source includes, apart from the compiler's own.
//!
//! Searches for `#include` directives and ignores conditions and comments around them. So it may find too many files
//! but never too few: a cached result is never older than its inputs, and no file outside of the permitted folders is
//! quoted. The name in an include may come from a macro. It is then unknown, and the caller uses no cache and quotes
//! nothing.

use crate::bounded;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// More files than these are not followed.
const MAX_FILES: usize = 2000;

/// Directives that include a file.
const DIRECTIVES: [&str; 4] = ["include_next", "include", "import", "embed"];

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
        let including_folder = from.parent().map(Path::to_path_buf).unwrap_or_default();
        for name in names(&text) {
            let (quoted, name) = name?;
            let including_folder = quoted.then_some(&including_folder);
            let candidates =
                including_folder.into_iter().chain(folders).map(|folder| folder.join(&name));
            // A file in none of the folders is the compiler's own, or missing; the compiler reports the latter.
            let Some(file) = candidates.into_iter().find(|file| file.is_file()) else { continue };
            if !seen.insert(file.clone()) {
                continue;
            }
            let text = bounded::read_text(&file).ok()?;
            found.push((file.clone(), text.clone()));
            open.push((file, text));
            if found.len() > MAX_FILES {
                return None;
            }
        }
    }
    found.sort();
    Some(found)
}

/// Headers included in quotes and found beside the including file, by their names in the directives. Leaves out a
/// name of two files.
pub(super) fn own_headers(path: &Path, text: &str) -> Vec<(String, String)> {
    let mut found: BTreeMap<String, (PathBuf, String)> = BTreeMap::new();
    let mut open = vec![(path.to_path_buf(), text.to_owned())];
    while let Some((from, text)) = open.pop() {
        let folder = from.parent().map(Path::to_path_buf).unwrap_or_default();
        for (_, name) in names(&text).into_iter().flatten().filter(|(quoted, _)| *quoted) {
            let file = folder.join(&name);
            match found.get(&name) {
                Some((known, _)) if *known == file => continue,
                Some(_) => return Vec::new(),
                None => {}
            }
            let Ok(text) = bounded::read_text(&file) else { continue };
            open.push((file.clone(), text.clone()));
            found.insert(name, (file, text));
            if found.len() > MAX_FILES {
                return Vec::new();
            }
        }
    }
    found.into_iter().map(|(name, (_, text))| (name, text)).collect()
}

/// The names after all directives that include a file, each with a flag for quotes; `None` for one in neither quotes
/// nor angle brackets.
fn names(text: &str) -> Vec<Option<(bool, String)>> {
    // A backslash joins two lines, even in the middle of a word.
    let text = text.replace("\\\r\n", "").replace("\\\n", "");
    let mut found = Vec::new();
    for line in text.lines() {
        let mut from = 0;
        while let Some((start, word)) = next_directive(&line[from..]) {
            let (before, rest) = (&line[..from + start], &line[from + start + word.len()..]);
            from += start + word.len();
            if follows_hash(before) && !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_')
            {
                found.push(name(rest.trim_start()));
            }
        }
    }
    found
}

fn next_directive(line: &str) -> Option<(usize, &'static str)> {
    let all = DIRECTIVES.iter().filter_map(|word| Some((line.find(word)?, *word)));
    // If two begin at one place, the longer one.
    all.min_by_key(|(start, word)| (*start, std::cmp::Reverse(word.len())))
}

/// Returns `true` if the text ends with a directive's `#` or a substitute for it, or with a comment, before which a `#`
/// may be.
fn follows_hash(before: &str) -> bool {
    let before = before.trim_end();
    ["#", "%:", "??=", "*/"].iter().any(|end| before.ends_with(end))
}

fn name(rest: &str) -> Option<(bool, String)> {
    let until = |close: char| rest[1..].split(close).next().map(str::to_owned);
    match rest.chars().next() {
        Some('"') => until('"').map(|name| (true, name)),
        Some('<') => until('>').map(|name| (false, name)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::names;

    fn quoted(name: &str) -> Vec<Option<(bool, String)>> {
        vec![Some((true, name.to_owned()))]
    }

    #[test]
    fn names_are_found_however_they_are_written() {
        for text in [
            "#include \"a.h\"",
            "  #  include\t\"a.h\" // x",
            "#include_next \"a.h\"",
            "%:include \"a.h\"",
            "#inc\\\nlude \"a.h\"",
            "# /* x */ include \"a.h\"",
            "/* x\n */ #include \"a.h\"",
            "#embed \"a.h\"",
            "#import \"a.h\"",
        ] {
            assert_eq!(names(text), quoted("a.h"), "{text}");
        }
        assert_eq!(names("#include <a.h>"), [Some((false, "a.h".to_owned()))]);
        assert_eq!(names("#include NAME"), [None]);
        assert_eq!(names("# include /**/ \"a.h\""), [None]);
        assert!(names("// we include this\nint included = 1;\n#included \"x\"").is_empty());
    }
}

//! Finds the imports between the files of a crate, by the names in their text, and circles among them.
//!
//! Reads `use` declarations and paths written in place, and follows re-exports to the defining file. Code for tests
//! alone does not count, nor does a `pub use` by itself. No macro is expanded and no method is looked up, so an import
//! may be missed. Only a shadowed name can produce a wrong one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

type Names = Vec<String>;

/// A file of a crate.
#[derive(Debug, Default)]
struct Module {
    file: PathBuf,
    children: BTreeSet<String>,
    /// Names that `use` brings into scope, with their paths.
    imported: BTreeMap<String, Names>,
    globs: Vec<Names>,
    defined: BTreeSet<String>,
    /// Paths it depends on, as written.
    used: Vec<Names>,
}

/// The groups of files that import each other, directly or not; the largest first, by module path.
pub(crate) fn circles(source: &Path) -> Vec<Vec<String>> {
    let mut modules = BTreeMap::new();
    let root = ["lib.rs", "main.rs"].map(|name| source.join(name));
    let Some(root) = root.into_iter().find(|file| file.is_file()) else { return Vec::new() };
    read(&root, vec!["crate".to_owned()], &mut modules);
    let arrows: BTreeMap<&Names, BTreeSet<&Names>> = modules
        .iter()
        .map(|(own, module)| {
            let paths = module.used.iter().filter_map(|path| absolute(&modules, own, path, 0));
            let targets = paths.filter_map(|path| home(&modules, &path, 0));
            (own, targets.filter(|target| *target != own).collect())
        })
        .collect();
    let reached: BTreeMap<&Names, BTreeSet<&Names>> =
        arrows.keys().map(|own| (*own, reachable(&arrows, own))).collect();
    let mut found: Vec<Vec<String>> = Vec::new();
    let mut seen = BTreeSet::new();
    for (own, targets) in &reached {
        if !targets.contains(own) || seen.contains(own) {
            continue;
        }
        let circle: Vec<&&Names> =
            targets.iter().filter(|target| reached[**target].contains(own)).collect();
        seen.extend(circle.iter().map(|module| **module));
        found.push(circle.iter().map(|module| module[1..].join("::")).collect());
    }
    found.sort_by_key(|circle| std::cmp::Reverse(circle.len()));
    found
}

fn reachable<'m>(
    arrows: &BTreeMap<&'m Names, BTreeSet<&'m Names>>,
    from: &'m Names,
) -> BTreeSet<&'m Names> {
    let mut found = BTreeSet::new();
    let mut waiting = vec![from];
    while let Some(module) = waiting.pop() {
        waiting.extend(arrows[module].iter().copied().filter(|target| found.insert(*target)));
    }
    found
}

/// A path as written in a module, from the root of the crate; `None` if it leads out of it.
fn absolute(
    modules: &BTreeMap<Names, Module>,
    own: &Names,
    path: &[String],
    depth: usize,
) -> Option<Names> {
    let first = path.first()?;
    let joined = |start: &[String], rest: &[String]| Some([start, rest].concat());
    match first.as_str() {
        "crate" => Some(path.to_vec()),
        "self" => joined(own, &path[1..]),
        "super" => {
            let up = path.iter().take_while(|name| *name == "super").count();
            joined(own.get(..own.len().checked_sub(up)?)?, &path[up..])
        }
        name if modules[own].children.contains(name) => joined(own, path),
        name => {
            let import = modules[own].imported.get(name)?;
            if depth > 8 || import.first() == Some(first) {
                return None;
            }
            joined(&absolute(modules, own, import, depth + 1)?, &path[1..])
        }
    }
}

/// The module that defines the name of a path from the root.
fn home<'m>(
    modules: &'m BTreeMap<Names, Module>,
    path: &[String],
    depth: usize,
) -> Option<&'m Names> {
    let known = |length: &usize| modules.contains_key(&path[..*length]);
    let length = (1..=path.len()).rev().find(known)?;
    let (own, module) = modules.get_key_value(&path[..length])?;
    let Some(name) = path.get(length) else { return Some(own) };
    if depth > 8 {
        return Some(own);
    }
    // First, because `*const Name` looks like a definition.
    if let Some(import) = module.imported.get(name)
        && let Some(path) = absolute(modules, own, import, 0)
    {
        return home(modules, &path, depth + 1);
    }
    if module.defined.contains(name) {
        return Some(own);
    }
    for glob in &module.globs {
        let Some(mut inner) = absolute(modules, own, glob, 0) else { continue };
        inner.push(name.clone());
        match home(modules, &inner, depth + 1) {
            Some(target) if modules[target].defined.contains(name) => return Some(target),
            _ => {}
        }
    }
    Some(own)
}

fn read(file: &Path, path: Names, modules: &mut BTreeMap<Names, Module>) {
    let text = std::fs::read_to_string(file).unwrap();
    let tokens = without_tests(tokens(&text));
    let mut module = scanned(&tokens);
    module.file = file.to_owned();
    let stem = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let folder = match stem {
        "mod" | "lib" | "main" => file.parent().unwrap().to_owned(),
        _ => file.with_extension(""),
    };
    let children = std::mem::take(&mut module.children);
    for name in children {
        let places = [folder.join(format!("{name}.rs")), folder.join(&name).join("mod.rs")];
        let Some(place) = places.into_iter().find(|place| place.is_file()) else { continue };
        let inner = [path.clone(), vec![name.clone()]].concat();
        module.children.insert(name);
        read(&place, inner, modules);
    }
    modules.insert(path, module);
}

const ITEMS: [&str; 8] = ["fn", "struct", "enum", "trait", "type", "const", "static", "union"];

/// Declared and used names of a file.
fn scanned(tokens: &[&str]) -> Module {
    let mut module = Module::default();
    let mut at = 0;
    while at < tokens.len() {
        let before = if at == 0 { "" } else { tokens[at - 1] };
        let (token, next) = (tokens[at], tokens.get(at + 1).copied().unwrap_or_default());
        match token {
            "use" => {
                let end = at + tokens[at..].iter().position(|token| *token == ";").unwrap_or(0);
                let is_public = before == "pub" || before == ")";
                for (path, alias) in tree(&tokens[at + 1..end], &[]) {
                    match path.split_last() {
                        Some((last, glob)) if last == "*" => module.globs.push(glob.to_vec()),
                        _ => {
                            module.imported.insert(alias, path.clone());
                        }
                    }
                    if !is_public {
                        let glob = path.last().is_some_and(|last| last == "*");
                        module.used.push(path[..path.len() - usize::from(glob)].to_vec());
                    }
                }
                at = end + 1;
                continue;
            }
            "mod" if tokens.get(at + 2) == Some(&";") => {
                module.children.insert(next.to_owned());
                at += 2;
                continue;
            }
            // `pub(in crate::a)` sets visibility, and uses nothing.
            "in" if before == "(" => {
                at += tokens[at..].iter().position(|token| *token == ")").unwrap_or(1);
                continue;
            }
            _ if ITEMS.contains(&before) => {
                module.defined.insert(token.to_owned());
            }
            _ if is_name(token) && before != "." && before != "::" => {
                let mut path = vec![token.to_owned()];
                let mut end = at + 1;
                while tokens.get(end) == Some(&"::")
                    && tokens.get(end + 1).is_some_and(|t| is_name(t))
                {
                    path.push(tokens[end + 1].to_owned());
                    end += 2;
                }
                let is_type = token.starts_with(char::is_uppercase);
                if path.len() > 1 || is_type || tokens.get(end) == Some(&"(") {
                    module.used.push(path);
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    module
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// The paths of a `use`, each with its name in scope.
fn tree(tokens: &[&str], before: &[String]) -> Vec<(Names, String)> {
    let mut path = before.to_vec();
    let mut at = 0;
    while at < tokens.len() {
        match tokens[at] {
            "::" => {}
            "{" => return branches(&tokens[at + 1..tokens.len() - 1], &path),
            "as" => return vec![(path, tokens[at + 1].to_owned())],
            "self" if !path.is_empty() => {}
            name => path.push(name.to_owned()),
        }
        at += 1;
    }
    let name = path.last().cloned().unwrap_or_default();
    vec![(path, name)]
}

/// The paths between the braces of a `use`.
fn branches(tokens: &[&str], path: &[String]) -> Vec<(Names, String)> {
    let (mut found, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, token) in tokens.iter().chain([&","]).enumerate() {
        match *token {
            "{" => depth += 1,
            "}" => depth -= 1,
            "," if depth == 0 => {
                if at > start {
                    found.extend(tree(&tokens[start..at], path));
                }
                start = at + 1;
            }
            _ => {}
        }
    }
    found
}

/// Removes items for tests.
fn without_tests(tokens: Vec<&str>) -> Vec<&str> {
    let mut kept = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        let rest = &tokens[at..];
        let is_test = rest.starts_with(&["#", "[", "cfg", "(", "test"])
            || rest.starts_with(&["#", "[", "cfg", "(", "all", "(", "test"]);
        if !is_test {
            kept.push(tokens[at]);
            at += 1;
            continue;
        }
        // To the end of the item: a semicolon, or the brace that closes it.
        let mut depth = 0;
        let mut keywords = rest
            .iter()
            .filter(|token| **token == "use" || **token == "mod" || ITEMS.contains(token));
        let is_import = keywords.next() == Some(&"use");
        while at < tokens.len() {
            match tokens[at] {
                "{" => depth += 1,
                "}" => depth -= 1,
                _ => {}
            }
            let ends = tokens[at] == ";" || tokens[at] == "}" && !is_import;
            at += 1;
            if depth == 0 && ends {
                break;
            }
        }
    }
    kept
}

/// Names and punctuation; neither comments nor literals.
fn tokens(text: &str) -> Vec<&str> {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let name = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if let Some(length) = literal(rest) {
            length
        } else if c == '\'' {
            // A lifetime; `'static` is no item.
            1 + rest[1..].find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len() - 1)
        } else if name > 0 {
            found.push(&rest[..name]);
            name
        } else if rest.starts_with("::") {
            found.push("::");
            2
        } else {
            let length = c.len_utf8();
            if !c.is_whitespace() {
                found.push(&rest[..length]);
            }
            length
        };
        at += length;
    }
    found
}

/// The length of the string or character at the start of a text.
fn literal(text: &str) -> Option<usize> {
    let plain = text.strip_prefix('b').unwrap_or(text);
    let raw = plain.strip_prefix('r').map(|rest| rest.trim_start_matches('#'));
    if let Some(rest) = raw.filter(|rest| rest.starts_with('"')) {
        let start = text.len() - rest.len() + 1;
        let hashes = plain.len() - 1 - rest.len();
        let end = format!("\"{}", "#".repeat(hashes));
        return Some(
            text[start..].find(&end).map_or(text.len(), |found| start + found + end.len()),
        );
    }
    let quote = plain.chars().next().filter(|c| *c == '"' || *c == '\'')?;
    let start = text.len() - plain.len() + 1;
    let mut characters = text[start..].char_indices();
    let mut count = 0;
    while let Some((at, c)) = characters.next() {
        match c {
            '\\' => drop(characters.next()),
            c if c == quote => return Some(start + at + 1),
            // A lifetime.
            _ if quote == '\'' && count > 0 && !text[start..].starts_with('\\') => return None,
            _ => {}
        }
        count += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_literals_and_tests_are_no_imports() {
        let text = r##"
            //! use crate::a;
            use crate::b::{self, c::{D as E, F}};
            fn f<'a>(x: &'a str) -> char { g("use crate::h;", r#"crate::i::j"#); '"' }
            #[cfg(test)]
            mod tests { use crate::k; }
            fn g() { super::l::m(crate::n::o) }
        "##;
        let module = scanned(&without_tests(tokens(text)));
        let used: BTreeSet<String> = module.used.iter().map(|path| path.join("::")).collect();
        for path in ["crate::b", "crate::b::c::D", "crate::b::c::F", "super::l::m", "crate::n::o"] {
            assert!(used.contains(path), "{path} is missing in {used:?}");
        }
        for name in ["a", "h", "i", "k"] {
            assert!(!used.iter().any(|path| path.starts_with(&format!("crate::{name}"))), "{name}");
        }
        assert_eq!(module.imported["E"].join("::"), "crate::b::c::D");
    }
}

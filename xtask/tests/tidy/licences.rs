//! Checks the licences of dependencies: each must be one that `deny.toml` allows. `cargo deny check` looks at
//! the same list, and at advisories.

use cargo_metadata::MetadataCommand;
use testing::corpus::root;

/// Returns the names in the list `allow` of `deny.toml`.
fn allowed(text: &str) -> Vec<&str> {
    let list = text.split("\nallow = [\n").nth(1).and_then(|rest| rest.split("\n]").next());
    let lines = list.expect("a list of licences").lines();
    lines.map(|line| line.trim().trim_end_matches(',').trim_matches('"')).collect()
}

/// Returns `true` if an SPDX expression is satisfied by these licences; older packages write `/` for `OR`.
fn is_allowed(expression: &str, allowed: &[&str]) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let spaced = spaced.replace(" WITH ", "+WITH+");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut at = 0;
    let holds = any(&words, &mut at, allowed);
    holds && at == words.len()
}

fn any(words: &[&str], at: &mut usize, allowed: &[&str]) -> bool {
    let mut holds = all(words, at, allowed);
    while words.get(*at) == Some(&"OR") {
        *at += 1;
        holds |= all(words, at, allowed);
    }
    holds
}

fn all(words: &[&str], at: &mut usize, allowed: &[&str]) -> bool {
    let mut holds = one(words, at, allowed);
    while words.get(*at) == Some(&"AND") {
        *at += 1;
        holds &= one(words, at, allowed);
    }
    holds
}

fn one(words: &[&str], at: &mut usize, allowed: &[&str]) -> bool {
    let word = words.get(*at).copied().unwrap_or_default();
    *at += 1;
    if word != "(" {
        return allowed.contains(&word.replace("+WITH+", " WITH ").as_str());
    }
    let holds = any(words, at, allowed);
    let is_closed = words.get(*at) == Some(&")");
    *at += 1;
    holds && is_closed
}

#[test]
fn every_dependency_has_a_licence_that_is_allowed() {
    let text = std::fs::read_to_string(root().join("deny.toml")).unwrap();
    let allowed = allowed(&text);
    assert!(allowed.contains(&"MIT") && allowed.len() > 5, "{allowed:?}");
    let metadata = MetadataCommand::new().manifest_path(root().join("Cargo.toml")).exec();
    let packages = metadata.expect("cargo metadata").packages;
    assert!(packages.len() > 50);
    for package in packages.iter().filter(|package| package.source.is_some()) {
        let licence = package.license.as_deref().unwrap_or_default();
        assert!(is_allowed(licence, &allowed), "{}: {licence}", package.name);
    }
}

#[test]
fn expressions_are_read() {
    let allowed = ["MIT", "Apache-2.0 WITH LLVM-exception", "Unicode-3.0"];
    for (expression, holds) in [
        ("MIT", true),
        ("GPL-3.0", false),
        ("GPL-3.0 OR MIT", true),
        ("GPL-3.0/MIT", true),
        ("GPL-3.0 AND MIT", false),
        ("(MIT OR GPL-3.0) AND Unicode-3.0", true),
        ("(MIT OR GPL-3.0) AND GPL-2.0", false),
        ("Apache-2.0 WITH LLVM-exception", true),
        ("Apache-2.0", false),
        ("", false),
        ("(MIT", false),
        ("MIT MIT", false),
    ] {
        assert_eq!(is_allowed(expression, &allowed), holds, "{expression}");
    }
}

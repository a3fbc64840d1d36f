//! All CUDA files of the corpus are read, and no text makes the reader panic.

use super::{Options, parse, preprocess, read};
use std::path::{Path, PathBuf};
use testing::Random;

fn corpus() -> Vec<(PathBuf, String)> {
    let paths = testing::corpus::files_below("corpus", "cu").into_iter();
    paths.map(|path| (path.clone(), std::fs::read_to_string(path).unwrap())).collect()
}

#[test]
fn the_corpus_is_read() {
    let all = corpus();
    assert!(all.len() > 400, "the corpus is there");
    for (path, text) in all {
        // TileLang's headers are not part of the corpus.
        if path.components().any(|part| part.as_os_str() == "tilelang") {
            continue;
        }
        let reader = |file: &Path| file.is_file().then(|| std::fs::read_to_string(file));
        let options = Options { path: path.clone(), reader: &reader, ..Options::default() };
        match preprocess(&options, &text).and_then(|tokens| parse(&tokens)) {
            Ok(unit) => assert!(!super::dump::has_unread(&unit), "{}", path.display()),
            Err(found) => panic!("{}: {}", path.display(), found.message),
        }
    }
}

#[test]
fn malformed_texts_do_not_panic() {
    let all = corpus();
    let pieces = [
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        "<",
        ">",
        ">>",
        "::",
        ";",
        ",",
        "*",
        "&",
        "//@ ",
        "/*@",
        "*/",
        "template",
        "struct",
        "operator",
        "~",
        "typename",
        "#if 1\n",
        "#define a b\n",
        "\\",
        "\n",
        "\"",
        "'",
        "0x",
        "1e",
        "...",
        "S::",
        "using ",
        "namespace ",
        "__device__ ",
        "\\forall ",
    ];
    let mut random = Random::new(0x9e37_79b9_7f4a_7c15);
    for round in 0..1500 {
        let (_, text) = &all[random.below(all.len())];
        let mut bytes = text.clone().into_bytes();
        for _ in 0..=random.below(4) {
            let at = random.below(bytes.len());
            let piece = pieces[random.below(pieces.len())].bytes();
            match random.below(3) {
                0 => drop(bytes.drain(at..(at + 1 + random.below(12)).min(bytes.len()))),
                1 => drop(bytes.splice(at..at, piece)),
                _ => bytes.truncate(at.max(1)),
            }
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let _ = (round, read(&text));
    }
}

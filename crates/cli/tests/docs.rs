//! Runs the commands in README and manual: every `sh` block whose lines begin with `cargo run --release -- ` or
//! `warpproof ` is executed in the root of the repository, and a `text` block right after it must be part of its
//! output.
//!
//! A block that starts with ```` ```sh ignore ```` is not run; the word also tells readers of the source.

use snapbox::cmd::{Command, cargo_bin};
use std::path::Path;
use testing::corpus::root;

/// A fenced block: language and text.
struct Block {
    line: usize,
    language: String,
    text: String,
    /// Only a line or two of prose separate it from the block before.
    follows: bool,
}

fn blocks(markdown: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let (mut open, mut between) = (false, usize::MAX);
    for (number, line) in markdown.lines().enumerate() {
        match (line.strip_prefix("```"), open) {
            (Some(language), false) => {
                let language = language.to_owned();
                let follows = between <= 4;
                blocks.push(Block { line: number + 1, language, text: String::new(), follows });
                open = true;
            }
            (Some(_), true) => (open, between) = (false, 0),
            (None, true) => {
                let text = &mut blocks.last_mut().unwrap().text;
                text.push_str(line);
                text.push('\n');
            }
            (None, false) => between = between.saturating_add(1),
        }
    }
    blocks
}

/// Splits words as a shell does; quotes are removed.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quote, mut any) = (Vec::new(), String::new(), None, false);
    for letter in command.chars() {
        match (letter, quote) {
            ('\'' | '"', None) => (quote, any) = (Some(letter), true),
            (letter, Some(open)) if letter == open => quote = None,
            (letter, None) if letter.is_whitespace() => {
                if any || !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                any = false;
            }
            (letter, _) => word.push(letter),
        }
    }
    if any || !word.is_empty() {
        words.push(word);
    }
    words
}

/// The `warpproof` commands of a block, as words.
fn commands(text: &str) -> Vec<Vec<String>> {
    let text = text.replace("\\\n", " ");
    let ours = text.lines().filter_map(|line| {
        let line = line.split(" #").next().unwrap_or_default();
        line.strip_prefix("cargo run --release -- ").or_else(|| line.strip_prefix("warpproof "))
    });
    ours.map(words).collect()
}

fn output(words: &[String], folder: &Path) -> String {
    let command = Command::new(cargo_bin!("warpproof")).current_dir(root()).env_remove("NO_COLOR");
    // Files written by a command must not stay in the repository.
    let words = words.iter().map(|word| match word.as_str() {
        "." => folder.display().to_string(),
        word if word.starts_with("kernel.") => {
            format!("examples/{}", word.replace("kernel", "softmax"))
        }
        word if [".html", ".sarif", ".dot"].iter().any(|end| word.ends_with(end)) => {
            folder.join(word).display().to_string()
        }
        word => word.to_owned(),
    });
    let words: Vec<String> = words.collect();
    let output = command.args(&words).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let status = output.status.code();
    let told = format!("{}{}", text(output.stdout), text(output.stderr));
    assert!(matches!(status, Some(0 | 1 | 3)), "{words:?} ends with {status:?}:\n{told}");
    told
}

fn check(path: &Path, folder: &Path) -> usize {
    let markdown = std::fs::read_to_string(path).unwrap();
    let (mut ran, mut last) = (0, None);
    for block in blocks(&markdown) {
        match block.language.as_str() {
            "sh" => {
                let told: Vec<String> =
                    commands(&block.text).iter().map(|words| output(words, folder)).collect();
                ran += told.len();
                last = (!told.is_empty()).then(|| told.concat());
            }
            "text" if block.follows => {
                let Some(told) = last.take() else { continue };
                let name = path.display();
                assert!(
                    told.contains(&block.text),
                    "{name}:{}: what is shown is not what is printed:\n{told}",
                    block.line
                );
            }
            _ => last = None,
        }
    }
    ran
}

#[test]
fn commands_in_the_documentation_do_what_is_written_there() {
    let folder = std::env::temp_dir().join(format!("warpproof-docs-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut ran = check(&root().join("README.md"), &folder);
    let pages = testing::corpus::files_in("docs", "md");
    ran += pages.iter().map(|page| check(page, &folder)).sum::<usize>();
    assert!(ran >= 7, "only {ran} commands");
    std::fs::remove_dir_all(&folder).unwrap();
}

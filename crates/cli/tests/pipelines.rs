//! Pictures of pipelines: the table in the page is the expected one, it stays small for long pipelines, and the JSON
//! has the same data.
//!
//! `SNAPSHOTS=overwrite cargo test -p warpproof --test pipelines` rewrites the expected tables.

use snapbox::Data;
use snapbox::cmd::{Command, cargo_bin};
use std::path::{Path, PathBuf};
use testing::corpus::root;

/// A folder that is removed after the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let name = format!("warpproof-pipelines-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The page, the graph and the JSON of an example with this many tiles.
fn check(example: &str, tiles: u32, folder: &Path) -> [String; 3] {
    let (page, graph) = (folder.join("page.html"), folder.join("graph.dot"));
    let (x, y) = (format!("x=f32[{}]", tiles * 64), format!("y=f32[{}]:out", tiles * 64));
    let output = Command::new(cargo_bin!("warpproof"))
        .current_dir(root())
        .args([
            "check",
            &format!("examples/pipeline/{example}.ptx"),
            "--grid",
            "1",
            "--block",
            "64",
        ])
        .args(["--arg", &y, "--arg", &x, "--arg", &format!("tiles={tiles}"), "--format", "json"])
        .arg("--report")
        .arg(&page)
        .arg("--graph")
        .arg(&graph)
        .output()
        .unwrap();
    let read = |path: &Path| std::fs::read_to_string(path).unwrap();
    [read(&page), read(&graph), String::from_utf8(output.stdout).unwrap()]
}

/// The picture of the pipelines in a page.
fn picture(page: &str) -> &str {
    let start = page.find("<figure class=\"pipelines\"").unwrap();
    let length = page[start..].find("</figure>").unwrap();
    &page[start..start + length]
}

#[test]
fn the_page_shows_each_mbarrier_and_what_its_phases_count() {
    let scratch = Scratch::new("page");
    for example in ["pipeline", "early_release", "wrong_bytes"] {
        let [page, ..] = check(example, 6, &scratch.0);
        let expected = root().join(format!("crates/cli/tests/pipelines/{example}.html"));
        let expected = Data::read_from(&expected, None).raw();
        snapbox::assert_data_eq!(picture(&page).replace("</td>", "</td>\n"), expected);
    }
}

#[test]
fn a_long_pipeline_is_a_small_picture() {
    let scratch = Scratch::new("long");
    let [page, graph, _] = check("pipeline", 40, &scratch.0);
    let [long_page, long_graph, json] = check("pipeline", 4000, &scratch.0);
    assert!(picture(&long_page).len() < picture(&page).len() * 11 / 10);
    assert!(long_graph.len() < graph.len() * 11 / 10);
    assert!(
        picture(&long_page).contains("1990 more") && long_graph.contains("1990 phases left out")
    );
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let full = &json["pipelines"][0];
    assert_eq!(full["mbarrier"], "full[0]");
    assert_eq!(full["left_out"], 1990);
    assert_eq!(full["phases"].as_array().map(Vec::len), Some(10));
}

#[test]
fn the_same_launch_gives_the_same_bytes() {
    let scratch = Scratch::new("same");
    let [first, second] = [(), ()].map(|()| check("early_release", 9, &scratch.0));
    assert_eq!(first, second);
}

#[test]
fn a_loop_that_waits_does_not_count_as_code_that_never_ran() {
    let scratch = Scratch::new("coverage");
    let [.., json] = check("pipeline", 6, &scratch.0);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let coverage = &json["coverage"];
    assert_eq!(coverage["executed"], coverage["instructions"], "{coverage}");
    assert_eq!(coverage["unexecuted_lines"].as_array().map(Vec::len), Some(0), "{coverage}");
}

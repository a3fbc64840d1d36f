//! The manual is complete: every page is a chapter or listed by one, and every link has a target.

#[path = "../src/book.rs"]
mod book;

use std::path::PathBuf;
use testing::corpus::{files_in, root};

fn docs() -> PathBuf {
    root().join("docs")
}

#[test]
fn the_manual_is_built_and_every_page_is_in_it() {
    let out = std::env::temp_dir().join(format!("warpproof-book-{}", std::process::id()));
    let chapters = book::build(&docs(), &out).unwrap_or_else(|problems| panic!("{problems:?}"));
    for page in files_in("docs", "md") {
        let name = page.file_name().unwrap();
        let listed = chapters.iter().any(|chapter| chapter.file.as_os_str() == name);
        assert!(listed || name == "SUMMARY.md", "{} is no chapter", page.display());
    }
    assert!(chapters.iter().all(|chapter| !chapter.title.is_empty()));
    let codes = std::fs::read_to_string(out.join("errors/README.html")).unwrap();
    for page in files_in("docs/errors", "md") {
        let name = page.file_stem().unwrap().to_str().unwrap();
        if let Some(code) = name.strip_prefix("WP") {
            let text = std::fs::read_to_string(&page).unwrap();
            let title = text.lines().next().unwrap().split_once(": ").unwrap().1.to_owned();
            let listed =
                codes.contains(&format!("href=\"WP{code}.html\"")) && codes.contains(&title);
            assert!(listed, "WP{code} is not in the list of codes");
            assert!(out.join(format!("errors/WP{code}.html")).exists());
        }
    }
    std::fs::remove_dir_all(&out).unwrap();
}

#[test]
fn a_link_that_leads_nowhere_is_an_error() {
    let folder = std::env::temp_dir().join(format!("warpproof-links-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("SUMMARY.md"), "- [One](one.md)\n").unwrap();
    std::fs::write(folder.join("one.md"), "# One\n\n[two](two.md)\n").unwrap();
    let problems = book::build(&folder, &folder.join("out")).err().unwrap();
    assert_eq!(problems, ["one.md: `two.md` leads nowhere"]);
    std::fs::remove_dir_all(&folder).unwrap();
}

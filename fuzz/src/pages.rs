//! Any PTX that is checked: the report is written as a page and in every format for programs.

use driver::Format;
use driver::render::{PageHead, html, render_all};
use warpproof::{Call, call};

const WORDS: [&str; 7] = [
    "check",
    "--grid=1",
    "--block=32",
    "--max-instructions=50000",
    "--jobs=1",
    "--timeout=5",
    "k.ptx",
];

/// Runs the target.
pub fn fuzz(bytes: &[u8]) {
    // The arguments, one on each of the first lines that begin with `//arg `.
    let text = crate::text(bytes);
    let arguments = text.lines().map_while(|line| line.strip_prefix("//arg ")).take(8);
    let arguments = arguments.map(|argument| format!("--arg={argument}"));
    let words = WORDS.map(str::to_owned).into_iter().chain(arguments).collect();
    let files = vec![("k.ptx".to_owned(), text.as_bytes().to_vec())];
    let called = call(&mut Call::new(words, files, None));
    for format in [Format::Json, Format::Sarif, Format::Github, Format::Junit] {
        let text = render_all("check", &called.reports, format).unwrap_or_default();
        if matches!(format, Format::Json | Format::Sarif) {
            serde_json::from_str::<serde_json::Value>(&text).expect("the report is JSON");
        }
    }
    let head = PageHead { words: Vec::new(), date: driver::project::Date::today() };
    let page = html(&called.reports, &head);
    assert!(page.ends_with("</html>\n"), "a page is complete");
}

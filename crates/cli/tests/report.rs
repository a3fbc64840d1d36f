//! The page that `--report` writes.
//!
//! If `WARPPROOF_CHROMIUM` names a browser, it checks the visible text; `.ci/run` sets it.

use snapbox::cmd::{Command, cargo_bin};
use std::path::{Path, PathBuf};
use testing::corpus::root;

/// A folder that is removed after the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("warpproof-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The page written by a command.
fn page(folder: &Path, command: &str, status: i32, scratch: &Scratch) -> String {
    let path = scratch.0.join("report.html");
    let program = Command::new(cargo_bin!("warpproof")).current_dir(folder);
    let output =
        program.args(command.split_whitespace()).arg("--report").arg(&path).output().unwrap();
    let told = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert_eq!(output.status.code(), Some(status), "{told}");
    std::fs::read_to_string(&path).unwrap()
}

const RACE: &str = "check docs/errors/examples/WP0109.ptx --grid 1 --block 64 --arg x=f32[64] \
                    --arg y=f32[64]:out";
const DIFFERENT: &str = "equiv corpus/equiv/gemm/gemm.ptx::naive \
                         corpus/equiv/gemm/broken.ptx::clamped_tail --grid 1,1 --block 16,16 \
                         --arg A=f32[16,20] --arg B=f32[20,16] --arg C=f32[16,16]:out --arg M=16 \
                         --arg N=16 --arg K=20";

#[test]
fn a_page_stands_alone() {
    let scratch = Scratch::new("page");
    for (command, status) in [(RACE, 1), (DIFFERENT, 1), ("run crates/cli/tests/project", 1)] {
        let page = page(&root(), command, status, &scratch);
        for outside in
            ["<script", "<link", "<img", "<iframe", "src=", "url(", "@import", "http:", "https:"]
        {
            assert!(!page.contains(outside), "{command}: {outside}");
        }
        assert!(page.contains("default-src 'none'"), "{command}");
        // Links have targets.
        for target in page.split("href=\"#").skip(1).map(|rest| rest.split('"').next().unwrap()) {
            assert!(page.contains(&format!("id=\"{target}\"")), "{command}: #{target}");
        }
    }
}

#[test]
fn what_a_kernel_says_never_becomes_markup() {
    let scratch = Scratch::new("hostile");
    let examples = root().join("docs/errors/examples");
    let read = |name: &str| std::fs::read_to_string(examples.join(name)).unwrap();
    let source =
        read("WP0109.cu").replace("// another", "// <script>alert(1)</script> & \"another");
    std::fs::write(scratch.0.join("<b>.cu"), source).unwrap();
    let ptx = read("WP0109.ptx").replace("\"WP0109.cu\"", "\"<b>.cu\"");
    std::fs::write(scratch.0.join("a&b.ptx"), ptx).unwrap();
    let command = "check a&b.ptx --grid 1 --block 64 --arg x=f32[64] --arg y=f32[64]:out";
    let page = page(&scratch.0, command, 1, &scratch);
    assert!(
        !page.contains("<script") && !page.contains("<b>") && !page.contains("a&b.ptx"),
        "{page}"
    );
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;another"), "{page}");
    assert!(page.contains("&lt;b&gt;.cu") && page.contains("a&amp;b.ptx"), "{page}");
}

/// Recognised functions have no numeric values, so the picture uses the unlifted kernels.
#[test]
fn a_picture_of_a_difference_shows_it() {
    let scratch = Scratch::new("heat");
    let command = "equiv softmax.ptx broken.ptx --grid 4 --block 16 --ref-block 1 --arg x=f32[4,16] \
                   --arg y=f32[4,16]:out --arg columns=16";
    let page = page(&root().join("examples/online_softmax"), command, 1, &scratch);
    assert!(page.contains("64 of 64 elements of y differ on these numbers"), "{page}");
}

#[test]
fn a_page_that_cannot_be_written_is_an_error() {
    let program = Command::new(cargo_bin!("warpproof")).current_dir(root());
    let program = program.args(RACE.split_whitespace()).args(["--report", "no/such/folder/r.html"]);
    let output = program.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        String::from_utf8(output.stderr).unwrap().contains("cannot write no/such/folder/r.html")
    );
}

/// The rendering of a page in a browser: its visible text, and the sizes of its pictures as `class WIDTHxHEIGHT`, one
/// a line.
fn visible(page: &str, browser: &str, scratch: &Scratch) -> (String, Vec<String>) {
    // The page forbids scripts; the copy for this test has one that records the visible parts.
    let probe = "<script>const seen = [...document.querySelectorAll('figure svg, .source')].map(e => {\
                 const r = e.getBoundingClientRect(); const f = e.closest('figure');\
                 return (f ? f.className : 'source') + ' ' + Math.round(r.width) + 'x' + Math.round(r.height)});\
                 const text = document.body.innerText; const wide = document.documentElement.scrollWidth;\
                 document.body.replaceChildren(); const out = document.createElement('pre'); out.id = 'seen';\
                 out.textContent = 'WIDE ' + wide + '\\n' + seen.join('\\n') + '\\nTEXT\\n' + text;\
                 document.body.append(out);</script></body>";
    let start = page.find("<meta http-equiv").unwrap();
    let end = start + page[start..].find('>').unwrap() + 1;
    let copy = format!("{}{}", &page[..start], &page[end..]).replace("</body>", probe);
    let path = scratch.0.join("probe.html");
    std::fs::write(&path, copy).unwrap();
    let output = std::process::Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--window-size=1200,900",
            "--dump-dom",
        ])
        .arg(format!("--user-data-dir={}", scratch.0.join("profile").display()))
        .arg(format!("file://{}", path.display()))
        .output()
        .unwrap();
    let dom = String::from_utf8(output.stdout).unwrap();
    let seen = dom.split("<pre id=\"seen\">").nth(1).unwrap_or_else(|| panic!("{dom}"));
    let seen = seen.split("</pre>").next().unwrap();
    let seen = seen.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    let (pictures, text) = seen.split_once("\nTEXT\n").unwrap();
    (text.to_owned(), pictures.lines().map(str::to_owned).collect())
}

#[test]
fn a_browser_shows_what_was_found() {
    let Some(browser) = std::env::var("WARPPROOF_CHROMIUM").ok().filter(|name| !name.is_empty())
    else {
        return;
    };
    let scratch = Scratch::new("browser");
    let (text, pictures) = visible(&page(&root(), RACE, 1, &scratch), &browser, &scratch);
    for shown in [
        "check docs/errors/examples/WP0109.ptx::shift(float const*, float*)",
        "refuted",
        "WP0109 race on `shift(float const*, float*)::tile[1]`",
        "help: a `__syncthreads()` between lines 4 and 5 would order them",
        "y[i] = tile[(i + 1) % 64];  // another thread wrote that element",
        "thread (1,0,0) of block (0,0,0) writes",
        "nothing orders them",
    ] {
        assert!(text.contains(shown), "{shown}:\n{text}");
    }
    let has = |pictures: &[String], name: &str| {
        let of = pictures.iter().filter_map(|line| line.strip_prefix(&format!("{name} ")));
        let mut sizes = of.filter_map(|size| size.split_once('x'));
        sizes.any(|(width, height)| {
            width.parse::<u32>().unwrap() >= 16 && height.parse::<u32>().unwrap() >= 16
        })
    };
    assert!(has(&pictures, "timeline") && has(&pictures, "source"), "{pictures:?}");

    let (text, pictures) = visible(&page(&root(), DIFFERENT, 1, &scratch), &browser, &scratch);
    for shown in
        ["`C[0,0]` differs", "256 of 256 elements of C differ", "reference: ", "optimised: "]
    {
        assert!(text.contains(shown), "{shown}:\n{text}");
    }
    assert!(has(&pictures, "heat"), "{pictures:?}");
    // Two sources side by side: each has about half of the page.
    let sources: Vec<&String> =
        pictures.iter().filter(|line| line.starts_with("source ")).collect();
    assert_eq!(sources.len(), 2, "{pictures:?}");
    let wide: u32 = pictures[0].strip_prefix("WIDE ").unwrap().parse().unwrap();
    assert!(wide <= 1200, "the page is wider than the window: {pictures:?}");

    let graph = "check corpus/sync/weft_figure2_fixed.ptx --grid 1 --block 128 --arg x=f32[128] \
                 --arg y=f32[128]:out";
    let (text, pictures) = visible(&page(&root(), graph, 0, &scratch), &browser, &scratch);
    assert!(
        text.contains("barrier 2, use 2 of 64 threads") && has(&pictures, "barriers"),
        "{text}"
    );
}

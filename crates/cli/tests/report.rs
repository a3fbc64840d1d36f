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

/// 18 November 2025.
const DAY: &str = "1763424000";

/// The page written by a command.
fn page(folder: &Path, command: &str, status: i32, scratch: &Scratch) -> String {
    let path = scratch.0.join("report.html");
    let program = Command::new(cargo_bin!("warpproof")).current_dir(folder);
    let program = program.env("SOURCE_DATE_EPOCH", DAY);
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

const PIPELINE: &str = "check examples/pipeline/early_release.ptx --grid 1 --block 64 --arg y=f32[384]:out \
                        --arg x=f32[384] --arg tiles=6";
const PROVED: &str = "equiv examples/online_softmax/softmax.ptx examples/online_softmax/online.ptx --grid 1 --ref-block 1 \
                      --opt-block 32 --arg x=f32[1,64] --arg y=f32[1,64]:out --arg columns=64";
const UNWRITTEN: &str = "check docs/errors/examples/WP0130.ptx --grid 1 --block 128 --arg x=f32[200] \
                         --arg y=f32[200]:out";
const TRITON: &str = "check corpus/ptx/triton/softmax.sm_80.ptx --grid 3 --smem 16 --arg x=f32[3,700] \
                      --arg o=f32[3,700]:out --arg stride=700 --arg n=700 --arg scratch=0 --arg profile=0";
const BARRIERS: &str = "check corpus/sync/weft_figure2_fixed.ptx --grid 1 --block 128 --arg x=f32[128] \
                        --arg y=f32[128]:out";
const EVERY_SIZE: &str = "equiv --for-all-sizes corpus/param/equal/vector_add_a.cu \
                          corpus/param/equal/vector_add_b.cu --no-solver --no-compare";

/// Commands with pages of all kinds, and their exit status.
const PAGES: &[(&str, i32)] = &[
    (RACE, 1),
    (DIFFERENT, 1),
    (PIPELINE, 1),
    (PROVED, 0),
    (UNWRITTEN, 1),
    (TRITON, 0),
    (BARRIERS, 0),
    (EVERY_SIZE, 0),
    (
        "check docs/errors/examples/WP0020.ptx --grid 1 --block 32 --arg next=s32[32] --arg y=f32[32]:out",
        3,
    ),
    ("run crates/cli/tests/project", 1),
];

#[test]
fn a_page_stands_alone() {
    let scratch = Scratch::new("page");
    for (command, status) in PAGES {
        let page = page(&root(), command, *status, &scratch);
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
fn text_of_kernels_never_becomes_markup() {
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

/// The attribute of a tag.
fn attribute<'t>(tag: &'t str, name: &str) -> Option<&'t str> {
    tag.split_once(&format!(" {name}=\"")).and_then(|(_, rest)| rest.split('"').next())
}

/// The opening and closing tags of a page, with their attributes; style and comments have none.
fn tags(page: &str) -> Vec<&str> {
    let body = &page[page.find("<body>").unwrap()..page.find("</html>").unwrap()];
    body.split('<').skip(1).map(|part| part.split('>').next().unwrap()).collect()
}

/// A page can be read without its pictures and colours, by keyboard and by ear.
#[test]
fn pages_are_accessible() {
    let scratch = Scratch::new("accessible");
    for (command, status) in PAGES {
        let page = page(&root(), command, *status, &scratch);
        let tags = tags(&page);
        let opened =
            |name: &str| tags.iter().filter(|tag| tag.split(' ').next() == Some(name)).count();
        for (landmark, count) in [("header", 1), ("main", 1), ("footer", 1), ("h1", 1)] {
            assert_eq!(opened(landmark), count, "{command}: {landmark}");
        }
        assert!(
            page.contains("<html lang=\"en\">") && page.contains("class=\"skip\" href=\"#main\"")
        );
        let ids: Vec<&str> = tags.iter().filter_map(|tag| attribute(tag, "id")).collect();
        let mut unique = ids.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), ids.len(), "{command}: an id occurs twice");
        let (mut level, mut open) = (0, Vec::new());
        for tag in &tags {
            let name = tag.split(' ').next().unwrap();
            let of_name =
                |tag: &str| tag.strip_prefix('h').and_then(|rest| rest.parse::<u32>().ok());
            if let Some(next) = of_name(name) {
                assert!(next <= level + 1, "{command}: <{tag}> after a heading of level {level}");
                level = next;
            }
            // Labels are those of elements on the page.
            for label in ["aria-labelledby", "aria-describedby"] {
                if let Some(label) = attribute(tag, label) {
                    assert!(ids.contains(&label), "{command}: {tag}");
                }
            }
            let is_named = attribute(tag, "aria-label").or(attribute(tag, "aria-labelledby"));
            if name == "svg" || tag.contains("role=\"region\"") {
                assert!(is_named.is_some_and(|name| !name.is_empty()), "{command}: {tag}");
            }
            // Elements are closed in the order in which they were opened.
            match name.strip_prefix('/') {
                Some(name) => assert_eq!(open.pop(), Some(name), "{command}: </{name}>"),
                None if !tag.ends_with('/') => open.push(name),
                None => {}
            }
        }
        assert!(open.is_empty(), "{command}: {open:?}");
        for table in page.split("<table").skip(1) {
            let table = table.split("</table>").next().unwrap();
            assert!(table.contains("<th scope="), "{command}: {table}");
        }
        let cells = page.matches("<svg").count();
        assert_eq!(cells, page.matches("role=\"img\"").count(), "{command}");
    }
}

/// The head says what was asked, and the same command gives the same bytes on the same day.
#[test]
fn the_head_of_a_page_has_the_command() {
    let scratch = Scratch::new("head");
    let first = page(&root(), RACE, 1, &scratch);
    for part in [
        "<code>warpproof check docs/errors/examples/WP0109.ptx --grid 1 --block 64 --arg ",
        "<time datetime=\"2025-11-18\">2025-11-18</time>",
        concat!("warpproof ", env!("CARGO_PKG_VERSION")),
        "<dt>Launch</dt><dd>grid 1 block, block 64 threads</dd>",
        "<dt>Arguments</dt><dd><code>x=f32[64]</code> <code>y=f32[64]:out</code></dd>",
    ] {
        assert!(first.contains(part), "{part}: {first}");
    }
    for (command, status) in PAGES {
        assert_eq!(
            page(&root(), command, *status, &scratch),
            page(&root(), command, *status, &scratch)
        );
    }
    for wrong in ["tomorrow", "-1", "99999999999999999999"] {
        let program = Command::new(cargo_bin!("warpproof")).current_dir(root());
        let program = program.env("SOURCE_DATE_EPOCH", wrong).args(RACE.split_whitespace());
        let output = program.arg("--report").arg(scratch.0.join("wrong.html")).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(told.contains(&format!("SOURCE_DATE_EPOCH is `{wrong}`")), "{told}");
        assert!(!scratch.0.join("wrong.html").exists());
    }
}

#[test]
fn a_proof_has_a_box() {
    let scratch = Scratch::new("box");
    let boxed = |page: &str| {
        let rest = page.split("class=\"proof\"").nth(1).unwrap_or_else(|| panic!("{page}"));
        rest.split("</section>").next().unwrap().to_owned()
    };
    let equal = boxed(&page(&root(), PROVED, 0, &scratch));
    for part in [
        "<dt>Compared</dt><dd>64 output elements are equal</dd>",
        "64 elements by equal normal forms: both values have the same normal form",
        "<dt>Assumed</dt>",
        "floats are real numbers",
    ] {
        assert!(equal.contains(part), "{part}: {equal}");
    }
    let every = boxed(&page(&root(), EVERY_SIZE, 0, &scratch));
    assert!(
        every.contains("every element of <code>") && every.contains("every 1-D launch and size"),
        "{every}"
    );
    // Without a proof of order, nothing is said of other schedules.
    let racy = page(&root(), RACE, 1, &scratch);
    assert!(!racy.contains("class=\"proof\"") && !racy.contains("every other schedule"), "{racy}");
}

#[test]
fn a_finding_is_explained_by_pictures() {
    let scratch = Scratch::new("pictures");
    let race = page(&root(), RACE, 1, &scratch);
    for part in [
        // The lines of the source, and the code's explanation.
        "4: tile[i] = x[i];</text>",
        "5: y[i] = tile[(i + 1) % 64];</text>",
        "nothing orders them",
        "<a class=\"code\" href=\"#code-WP0109\">WP0109</a>",
        "<article id=\"code-WP0109\"><h3>WP0109: a data race</h3>",
        // Who wrote the elements of the array.
        "Framed: shift::tile[1], last written by thread (1,0,0) of block (0,0,0)",
        "tile[32] to shift::tile[63]</code></td><td>warp 1</td>",
        // The PTX beside the source.
        "<details class=\"ptx\"><summary>PTX of shift(float const*, float*)</summary>",
        "<span class=\"k\">__global__</span>",
    ] {
        assert!(race.contains(part), "{part}: {race}");
    }
    let unwritten = page(&root(), UNWRITTEN, 1, &scratch);
    assert!(
        unwritten.contains("72 of them were never written. Framed: y[128], never written"),
        "{unwritten}"
    );
    let pipeline = page(&root(), PIPELINE, 1, &scratch);
    assert!(
        pipeline.contains("Phases of 4 mbarriers over time") && pipeline.contains("bar faulty"),
        "{pipeline}"
    );
}

/// Both stores of a differing element are marked, each in the file of its side.
#[test]
fn both_sources_have_the_differing_store_marked() {
    let scratch = Scratch::new("stores");
    let page = page(&root(), DIFFERENT, 1, &scratch);
    let panes: Vec<&str> = page.split("<div class=\"pane\">").skip(1).collect();
    let [reference, optimised] = panes[..] else { panic!("{page}") };
    assert!(reference.starts_with("<h4>reference: ") && optimised.starts_with("<h4>optimised: "));
    assert!(
        reference.contains("class=\"hit other\"") && reference.contains("the reference stores it")
    );
    assert!(
        optimised.contains("class=\"hit\"") && optimised.contains("the optimised kernel stores it")
    );
}

/// Triton's functions are in files of its own; a page shows the user's.
#[test]
fn a_page_of_a_triton_kernel_shows_the_users_file() {
    let scratch = Scratch::new("triton");
    let page = page(&root(), TRITON, 0, &scratch);
    let sources = page.split("<h3>Sources</h3>").nth(1).unwrap();
    assert!(
        sources.contains("<h4><span class=\"code\">corpus/ptx/triton/gen.py</span></h4>"),
        "{sources}"
    );
    assert!(
        sources.contains("<span class=\"k\">import</span>")
            && !sources.contains("standard.py</span></h4>"),
        "{sources}"
    );
    // Its notes are against nothing: they do not look like errors.
    assert!(
        sources.contains("class=\"hit note\"") && !sources.contains("class=\"hit\""),
        "{sources}"
    );
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
    let probe = "<script>const seen = [...document.querySelectorAll('figure svg, .beside > .source')].map(e => {\
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
        "WP0109 race on shift::tile[1]",
        "help: a __syncthreads() between lines 4 and 5 would order them",
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
    assert!(
        has(&pictures, "race") && has(&pictures, "tiles") && has(&pictures, "source"),
        "{pictures:?}"
    );

    let (text, pictures) = visible(&page(&root(), DIFFERENT, 1, &scratch), &browser, &scratch);
    for shown in ["C[0,0] differs", "256 of 256 elements of C differ", "reference: ", "optimised: "]
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

    let (text, pictures) = visible(&page(&root(), BARRIERS, 0, &scratch), &browser, &scratch);
    assert!(
        text.contains("barrier 2, use 2 of 64 threads") && has(&pictures, "barriers"),
        "{text}"
    );
}

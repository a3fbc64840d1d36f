//! Names and sources with characters that would control a terminal, a log or a page: no output contains them.

use snapbox::cmd::{Command, cargo_bin};
use std::path::PathBuf;

/// Escape sequences, a bell, a return, deletions, C1 controls, directions, and commands of a log.
const HOSTILE: &str =
    "a\u{1b}[31mb\u{7}c\u{8}d\u{7f}e\u{9b}2Jf\u{202e}g\u{2066}h\u{2028}i%0A::error::j<k>&\"l";

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("warpproof-hostile-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.join(name), text).unwrap();
    }

    /// The output of a command on both streams, in colour.
    fn run(&self, words: &[&str]) -> (i32, String) {
        let command = Command::new(cargo_bin!("warpproof")).current_dir(&self.0);
        let output = command.args(["--color", "always"]).args(words).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.code().unwrap(), String::from_utf8(text).unwrap())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn is_obeyed(c: char) -> bool {
    let direction = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}');
    direction || c.is_control() && c != '\n' && c != '\t'
}

fn assert_shown(text: &str, what: &str) {
    let found: Vec<char> = text.chars().filter(|&c| is_obeyed(c)).collect();
    assert!(found.is_empty(), "{what}: {found:?} in {text:?}");
}

/// Removes our own colours; the rest must be harmless.
fn without_colours(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_digit() && c != ';');
        match end.map(|end| (&part[end..end + 1], &part[end + 1..])) {
            Some(("m", rest)) => shown.push_str(rest),
            _ => shown.push_str(&format!("\u{1b}[{part}")),
        }
    }
    shown
}

/// A race, with a hostile source name, comments and lines.
fn racy() -> String {
    let file = HOSTILE.replace('"', "");
    format!(
        ".version 7.8\n.target sm_80\n.address_size 64\n.file 1 \"{file}.cu\"\n// {HOSTILE}\n\
         .visible .entry race(.param .u64 y)\n{{\n.reg .b64 %rd<3>;\n.reg .b32 %r<2>;\n\
         .loc 1 1 1\nld.param.u64 %rd1, [y];\nmov.u32 %r1, %tid.x;\n\
         st.global.u32 [%rd1], %r1; // {HOSTILE}\nbar.sync 0;\nret;\n}}\n"
    )
}

#[test]
fn no_format_has_characters_that_are_obeyed() {
    let folder = Folder::new("formats");
    let name = format!("k{}.ptx", HOSTILE.replace("::", ":"));
    folder.write(&name, &racy());
    let launch = ["--grid", "1", "--block", "64", "--arg", "y=s32[1]:out"];
    for format in ["text", "json", "sarif", "github", "junit"] {
        let words = [&["check", &name][..], &launch, &["--format", format]].concat();
        let words = [&words[..], &["--report", "page.html", "--graph", "graph.dot"]].concat();
        let (status, text) = folder.run(&words);
        assert_eq!(status, 1, "{text}");
        assert_shown(&text, format);
        assert!(text.contains("31mb"), "{format}: {text}");
        if format == "json" {
            let report: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert_eq!(report["file"], name);
        }
        if format == "github" {
            let is_command =
                |line: &str| line.starts_with("::error file=") || line.contains("title=");
            assert!(text.lines().all(is_command), "{text}");
        }
        for file in ["page.html", "graph.dot"] {
            assert_shown(&std::fs::read_to_string(folder.0.join(file)).unwrap(), file);
        }
    }
    for words in [&["inspect", &name][..], &["inspect", &name, "--format", "json"]] {
        assert_shown(&folder.run(words).1, "inspect");
    }
}

/// Everything that enters a page: names of files, kernels, arrays and arguments, sources in each language, their PTX,
/// the command line.
#[test]
fn no_text_on_a_page_is_obeyed() {
    let folder = Folder::new("page");
    let name = HOSTILE.replace(['"', '/'], "").replace("::", ":");
    let read = || std::fs::read_to_string(folder.0.join("page.html")).unwrap();
    for (extension, comment) in [("cu", "//"), ("py", "#"), ("cuh", "/*"), ("cpp", "'''")] {
        let source = format!("x {comment} {HOSTILE}\n\"{HOSTILE}\n{comment} `</code><script>`\n");
        // A name with control characters would find no file.
        let file = format!("s<k>&é.{extension}");
        folder.write(&file, &source);
        let ptx = format!(
            ".version 7.8\n.target sm_80\n.address_size 64\n.file 1 \"{file}\"\n// {HOSTILE}\n\
             .visible .entry race(.param .u64 y)\n{{\n.reg .b64 %rd<3>;\n.reg .b32 %r<2>;\n.loc 1 1 1\n\
             ld.param.u64 %rd1, [y]; // {HOSTILE}\n.loc 1 2 1\nmov.u32 %r1, %tid.x;\n\
             st.global.u32 [%rd1], %r1;\nbar.sync 0;\nret;\n}}\n"
        );
        let ptx_name = format!("k{name}{extension}.ptx");
        folder.write(&ptx_name, &ptx);
        let launch = ["--grid", "1", "--block", "64", "--arg", "y=s32[1]:out"];
        let words = [&["check", &ptx_name][..], &launch, &["--report", "page.html"]].concat();
        let (status, text) = folder.run(&words);
        assert_eq!(status, 1, "{text}");
        let page = read();
        assert_shown(&page, extension);
        for markup in ["<k>", "<script", "</code><script", "j<k"] {
            assert!(!page.contains(markup), "{extension}: {markup}: {page}");
        }
        // The source, its PTX, the picture and the command are there.
        let parts =
            ["<h3>Sources</h3>", "<details class=\"ptx\">", "class=\"race\"", "<dt>Command"];
        for part in parts {
            assert!(page.contains(part), "{extension}: {part}: {page}");
        }
    }
    let source =
        format!("// {HOSTILE}\n__global__ void k(int *y) {{ y[0] = threadIdx.x; }} // {HOSTILE}\n");
    folder.write("k.cu", &source);
    let flags = ["--no-solver", "--no-compare", "--report", "page.html"];
    let (status, text) = folder.run(&[&["prove", "k.cu"][..], &flags].concat());
    assert_eq!(status, 1, "{text}");
    let page = read();
    assert_shown(&page, "prove");
    assert!(!page.contains("<k>") && page.contains("class=\"race\""), "{page}");
}

#[test]
fn arguments_of_the_command_line_are_escaped() {
    let folder = Folder::new("given");
    folder.write("k.ptx", &racy().replace(HOSTILE, "plain"));
    folder.write("k.cu", &format!("__global__ void k(int *y) {{ y[0] = {HOSTILE}; }}\n"));
    let kernel = format!("k.ptx::{HOSTILE}");
    let argument = format!("{HOSTILE}=s32[1]:out");
    let missing = format!("{HOSTILE}.ptx");
    for words in [
        &["check", &kernel, "--grid", "1", "--block", "32"][..],
        &["check", "k.ptx", "--grid", "1", "--block", "32", "--arg", &argument],
        &["check", "k.ptx", "--grid", HOSTILE],
        &["check", &missing],
        &["check", "k.ptx", "--format", HOSTILE],
        &["run", HOSTILE],
        &["explain", HOSTILE],
        &["prove", "k.cu"],
        &["prove", &missing],
        &["init", &kernel],
    ] {
        let (_, text) = folder.run(words);
        assert_shown(&text, &format!("{words:?}"));
    }
}

#[test]
fn projects_have_no_such_names() {
    let folder = Folder::new("projects");
    folder.write("k.ptx", &racy());
    for entry in [
        "[[check]]\nkernel = \"k.ptx\"\nname = \"a\\u001b[2Jb\"\ngrid = 1\n",
        "[[check]]\nkernel = \"k.ptx\"\n\"x\\u001b[2J\" = 1\n",
        "[[check]]\nkernel = \"k\\u202e.ptx\"\ngrid = 1\n",
        "[[allow]]\ncode = \"WP0109\"\nreason = \"\\u009b2J\"\nexpires = 2099-01-01\n",
        "# \u{1b}[2J\n[[check]]\n",
        "[[check]]\nname = \"\u{202e}\"\n",
    ] {
        folder.write("warpproof.toml", entry);
        for format in ["text", "json", "github"] {
            let (status, text) = folder.run(&["run", "--format", format]);
            assert_eq!(status, 2, "{text}");
            assert_shown(&without_colours(&text), entry);
        }
    }
    // A line end in a name must not begin a line of ours.
    let entry = "[[check]]\nkernel = \"k.ptx\"\nname = \"a\\n::error::b\"\ngrid = 1\nblock = 32\n\
                 args = [\"y=s32[1]:out\"]\n";
    folder.write("warpproof.toml", entry);
    for format in ["text", "json", "github", "junit"] {
        let (_, text) = folder.run(&["run", "--format", format]);
        assert!(!text.lines().any(|line| line.trim_start().starts_with("::error::")), "{text}");
        assert_shown(&without_colours(&text), format);
    }
}

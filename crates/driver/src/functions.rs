//! Functions of CUDA that `prove` reads, by kind; those whose result a proof does not know are listed apart.
//!
//! `docs/functions.md` is this text; a test keeps the two equal.

use ::cuda::intrinsics::{Class, all};
use std::fmt::Write;

/// Kinds in the order of the page: title, and what a proof makes of their functions.
const KINDS: &[(Class, &str, &str)] = &[
    (Class::Barrier, "Barriers of a block", "All threads must meet them; they order accesses."),
    (
        Class::Warp,
        "Functions of a warp",
        "All threads of the warp must meet them; what they exchange is any value.",
    ),
    (
        Class::Atomic,
        "Atomics",
        "They do not race with each other. Their result is any value in a proof, the value in memory in a run.",
    ),
    (Class::Fence, "Fences", "They order nothing."),
    (Class::Integer, "Integers and bits", "Exact, unless they are listed below as any value."),
    (Class::Conversion, "Conversions", "Exact between integers; floats are real numbers."),
    (
        Class::Math,
        "Functions of real numbers",
        "Known by their names: the same function of equal numbers is equal.",
    ),
    (Class::Memory, "Memory", "Loads and stores as they are written."),
    (Class::Construct, "Vectors", "Made of their fields."),
    (Class::Control, "Control", "`assert` is proved; `__builtin_assume` is assumed, and listed."),
    (
        Class::Texture,
        "Textures",
        "Functions of the texture, the type and the coordinates: the same of the same is equal. Templates of these names, layers, levels, \
         cubes and texture references are known besides.",
    ),
];

/// The page as Markdown.
#[must_use]
pub fn page() -> String {
    let mut page = "# Functions that `prove` knows\n\n\
        Generated from the table of the reader (`crates/cuda/src/intrinsics`); do not edit. Rewrite it with\n\
        `SNAPSHOTS=overwrite cargo test -p driver --test support`.\n\n\
        A function that is missing here is `unsupported` where it is called.\n"
        .to_owned();
    for (class, title, meaning) in KINDS {
        let mut known: Vec<&str> = Vec::new();
        let mut open: Vec<&str> = Vec::new();
        for one in all().filter(|one| one.class == *class) {
            let list = if param::follows(one.canonical) { &mut known } else { &mut open };
            if !list.contains(&one.name) {
                list.push(one.name);
            }
        }
        if known.is_empty() && open.is_empty() {
            continue;
        }
        let _ = write!(page, "\n## {title}\n\n{meaning}\n\n");
        for (names, what) in [(known, ""), (open, "Any value of their type: ")] {
            if !names.is_empty() {
                let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
                let _ = writeln!(page, "{what}{}.\n", names.join(", "));
            }
        }
    }
    while page.ends_with("\n\n") {
        page.pop();
    }
    page
}

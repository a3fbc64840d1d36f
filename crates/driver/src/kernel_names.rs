//! Names of the kernels in a file, for completion in a shell: fast, from the text alone, and empty instead of an error.

use crate::arguments::source_name;
use crate::bounded;
use crate::sources::container;
use std::path::Path;

/// Returns names by which the kernels of a file can be chosen.
#[must_use]
pub fn kernel_names(path: &Path) -> Vec<String> {
    let Ok(bytes) = bounded::read(path, bounded::MAX_INPUT) else { return Vec::new() };
    if container::is_container(&bytes) {
        let modules = container::contents(&bytes).modules;
        return short(modules.iter().flat_map(|module| entries(&module.text)).collect());
    }
    let text = String::from_utf8_lossy(&bytes);
    let is_cuda = path.extension().is_some_and(|extension| extension == "cu");
    if is_cuda { short(globals(&text)) } else { short(entries(&text)) }
}

/// Returns the kernels' source names where these are unique, else the full names, in the order of the file.
fn short(names: Vec<&str>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let shown = |name: &str| source_name(name);
    for name in &names {
        let same = names.iter().filter(|other| **other != *name && shown(other) == shown(name));
        let name = if same.count() == 0 { shown(name) } else { (*name).to_owned() };
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all
}

/// Names after `.entry`.
fn entries(text: &str) -> Vec<&str> {
    text.split(".entry").skip(1).filter_map(|rest| word(rest.trim_start())).collect()
}

/// Names after `__global__`, before the parameters.
fn globals(text: &str) -> Vec<&str> {
    text.split("__global__").skip(1).filter_map(declared).collect()
}

fn declared(mut rest: &str) -> Option<&str> {
    loop {
        let at = rest.find('(')?;
        let before = &rest[..at];
        if before.contains([';', '{', '}']) {
            return None;
        }
        let name = before.trim_end();
        let start = name.rfind(|c| !is_part(c)).map_or(0, |at| at + 1);
        let name = word(&name[start..])?;
        if !name.starts_with("__") {
            return (name != "void").then_some(name);
        }
        // `__launch_bounds__(256)` and the like.
        rest = &rest[at + rest[at..].find(')')? + 1..];
    }
}

fn word(text: &str) -> Option<&str> {
    let end = text.find(|c| !is_part(c)).unwrap_or(text.len());
    (end > 0).then(|| &text[..end])
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || "_$%".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_from_the_text() {
        let ptx =
            ".visible .entry add(\n.param .u64 x)\n{ }\n.entry _Z3mulPf (.param .u64 x) { ret; }";
        assert_eq!(short(entries(ptx)), ["add", "mul"]);
        let twice = ".entry _Z3mulIfEvPT_()\n.entry _Z3mulIdEvPT_()\n.entry";
        assert_eq!(short(entries(twice)), ["_Z3mulIfEvPT_", "_Z3mulIdEvPT_"]);
        let cuda = "template <int N> __global__ void __launch_bounds__(256, 2)\n k1 (float* x) {}\n\
                    extern \"C\" __global__ void k2(int n);\n__global__ void k2(int n) { k1<<<1, 2>>>(0); }\n__global__";
        assert_eq!(short(globals(cuda)), ["k1", "k2"]);
        assert_eq!(globals("__global__ void ("), Vec::<&str>::new());
    }
}

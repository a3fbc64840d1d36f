//! Finds kernel templates in the text of a file without parsing it, for messages about kernels without a compiled
//! instance.
//!
//! A false match leads to a wrong message and to nothing else.

use crate::cpp_text::{self, Piece};

/// A kernel template.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct KernelTemplate {
    /// Its name without namespaces.
    pub(crate) name: String,
    /// An instance, for an example: `k<float, 128>`.
    pub(crate) example: String,
}

/// Words with brackets that may stand between `__global__` and the name.
const ATTRIBUTES: [&str; 5] =
    ["__launch_bounds__", "__cluster_dims__", "__block_size__", "__maxnreg__", "__attribute__"];

/// Returns the kernel templates of a text, in order.
pub(crate) fn kernel_templates(text: &str) -> Vec<KernelTemplate> {
    let text = plain(text);
    let mut found: Vec<KernelTemplate> = Vec::new();
    for (at, word) in text.match_indices("__global__") {
        let start = text[..at].rfind([';', '{', '}']).map_or(0, |end| end + 1);
        let Some(parameters) = parameters(&text[start..at]) else { continue };
        let Some(name) = kernel_name(&text[at + word.len()..]) else { continue };
        let arguments: Vec<&str> =
            parameters.iter().filter_map(|parameter| argument(parameter)).collect();
        let example = format!("{name}<{}>", arguments.join(","));
        if !found.iter().any(|one| one.name == name) {
            found.push(KernelTemplate { name: name.to_owned(), example });
        }
    }
    found
}

/// Strips comments, strings and preprocessor lines.
fn plain(text: &str) -> String {
    let (mut at, mut plain) = (0, String::new());
    while let Some((piece, length)) = cpp_text::piece(text, at) {
        match piece {
            Piece::Byte(_) => plain.push_str(text.get(at..at + length).unwrap_or(" ")),
            Piece::Directive | Piece::Comment | Piece::Quoted => plain.push(' '),
        }
        at += length;
    }
    plain
}

/// The parameters of the template that an item begins with.
fn parameters(head: &str) -> Option<Vec<String>> {
    let (_, rest) = head.split_once("template")?;
    let rest = rest.trim_start().strip_prefix('<')?;
    let (mut depth, mut all, mut one) = (0_usize, Vec::new(), String::new());
    for letter in rest.chars() {
        match letter {
            '>' if depth == 0 => break,
            ',' if depth == 0 => all.push(std::mem::take(&mut one)),
            _ => one.push(letter),
        }
        match letter {
            '<' | '(' => depth += 1,
            '>' | ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    all.push(one);
    // An explicit specialisation has none.
    (!all.iter().all(|one| one.trim().is_empty())).then_some(all)
}

/// An argument for a parameter, if it has no default.
fn argument(parameter: &str) -> Option<&'static str> {
    let first = parameter.trim_start();
    match () {
        () if parameter.contains('=') => None,
        () if first.starts_with("typename") || first.starts_with("class") => Some("float"),
        () if first.starts_with("bool") => Some("true"),
        () => Some("128"),
    }
}

/// The name in a declaration, from the text after `__global__`.
fn kernel_name(rest: &str) -> Option<&str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut from = 0;
    loop {
        let open = from + rest[from..].find('(')?;
        let before = rest[from..open].trim_end();
        let word = &before[before.trim_end_matches(is_word).len()..];
        if !ATTRIBUTES.contains(&word) {
            return (!word.is_empty()).then_some(word);
        }
        let mut depth = 0_usize;
        let close = rest[open..].find(|letter| {
            depth = match letter {
                '(' => depth + 1,
                ')' => depth.saturating_sub(1),
                _ => depth,
            };
            depth == 0
        })?;
        from = open + close + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::kernel_templates;

    #[test]
    fn templates_are_found_with_an_example() {
        let table = [
            ("template <typename T> __global__ void k(T* x) {}", "k<float>"),
            (
                "int f();\ntemplate<class A, int N, bool B, int M = 4>\n__global__ void\n__launch_bounds__((256), 2) k(A* x);",
                "k<float,128,true>",
            ),
            (
                "template <typename T, template <typename> class C> __global__ void k() {}",
                "k<float,128>",
            ),
            ("namespace a { template <unsigned N>static __global__ void k(int* x) {} }", "k<128>"),
        ];
        for (text, example) in table {
            let found = kernel_templates(text);
            assert_eq!(found.len(), 1, "{text}");
            assert_eq!((found[0].name.as_str(), found[0].example.as_str()), ("k", example));
        }
    }

    #[test]
    fn other_kernels_are_not() {
        for text in [
            "",
            "__global__",
            "__global__ void k(int* x) {}",
            "template __global__ void k<float>(float*);",
            "template <> __global__ void k<float>(float* x) {}",
            "// template <int N> __global__ void k(int* x);",
            "template <int N> struct S {};\n__global__ void k(S<3> s) {}",
            "template <int N> __global__",
        ] {
            assert!(kernel_templates(text).is_empty(), "{text}");
        }
    }
}

//! Reads the parameter lists of kernels from CUDA C++. PTX of NVRTC and nvcc lacks the parameters' names.
//!
//! The reading is lexical: it skips comments, strings and preprocessor lines, and splits the list that follows a
//! kernel's name after `__global__` at its commas. It gives nothing for a list that it does not understand, or for a
//! name with several different lists; parameters are then called by their position. The names decide which argument
//! belongs to which parameter, so callers must compare the number of parameters and their sizes with the PTX.

use crate::cpp_text::{self, Piece};

/// A parameter as a source declares it; the name is empty if it has none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeclaredParameter {
    /// Its name.
    pub name: String,
    /// Its type, words separated by blanks.
    pub ty: String,
    /// Set if no other definition can be the compiled kernel. Only then an argument with this name is matched to this
    /// parameter even if it is given at another position.
    pub is_certain: bool,
}

/// The parameters of the kernel with this name, if the text has exactly one parameter list of length `count` for it.
pub(super) fn signature(text: &str, kernel: &str, count: usize) -> Option<Vec<DeclaredParameter>> {
    let tokens = tokens(text);
    let starts = tokens.iter().enumerate().filter(|(_, token)| **token == "__global__");
    let mut found: Vec<Vec<DeclaredParameter>> = starts
        .filter_map(|(at, _)| definition(&tokens[at + 1..], kernel))
        .filter_map(parameters)
        .filter(|list| list.len() == count)
        .collect();
    found.dedup();
    let (1, Some(mut list)) = (found.len(), found.pop()) else { return None };
    if is_certain(text, &tokens, kernel) {
        list.iter_mut().for_each(|one| one.is_certain = true);
    }
    Some(list)
}

/// Returns `true` if the definition found must be the compiled one. Another one is possible if the preprocessor leaves
/// text out, if text comes from another file or a macro, if there are namespaces, or if the heading of some kernel is
/// not understood.
fn is_certain(text: &str, tokens: &[&str], kernel: &str) -> bool {
    let directives = cpp_text::directives(text);
    let plain = directives.iter().all(|directive| is_plain(directive, kernel));
    plain && !has_namespace(tokens) && is_only_definition(tokens, kernel)
}

/// Returns `true` for a preprocessor line that neither leaves text out nor brings in a kernel.
fn is_plain(directive: &str, kernel: &str) -> bool {
    let directive = directive.trim_start_matches('#').trim_start();
    let other_file = directive.starts_with("include") && directive.contains('"');
    let conditional = ["if", "el", "end"].iter().any(|word| directive.starts_with(word));
    let makes_kernels = directive.contains("__global__") || directive.contains(kernel);
    let doubtful = directive.starts_with("define") && makes_kernels;
    !(other_file || conditional || doubtful)
}

fn has_namespace(tokens: &[&str]) -> bool {
    let opens = |at: usize| tokens[at] == "namespace" && (at == 0 || tokens[at - 1] != "using");
    (0..tokens.len()).any(opens)
}

/// Returns `true` if the headings of all kernels are understood, and exactly one has this name.
fn is_only_definition(tokens: &[&str], kernel: &str) -> bool {
    let globals = || tokens.iter().enumerate().filter(|(_, token)| **token == "__global__");
    let is_instance = |at: usize| at > 0 && tokens[at - 1] == "template";
    let heading = |at: usize| heading(&tokens[at + 1..]);
    let understood = globals().all(|(at, _)| is_instance(at) || heading(at).is_some());
    let definitions =
        globals().filter(|(at, _)| heading(*at).is_some_and(|one| one.0 == kernel)).count();
    // A name in front of a list, or in the list of a macro, may be another definition.
    let before_list = |at: usize| matches!(tokens.get(at + 1), Some(&"(" | &")"));
    let lists = (0..tokens.len()).filter(|at| tokens[*at] == kernel && before_list(*at)).count();
    understood && definitions == 1 && lists == 1
}

/// Splits a text into words and single characters, without blanks.
fn tokens(text: &str) -> Vec<&str> {
    let (mut tokens, mut at) = (Vec::new(), 0);
    while let Some((piece, mut length)) = cpp_text::piece(text, at) {
        if let Piece::Byte(first) = piece {
            if is_word(first) {
                length = text[at..].bytes().take_while(|byte| is_word(*byte)).count();
            }
            if is_word(first) || first.is_ascii_punctuation() {
                tokens.push(&text[at..at + length]);
            }
        }
        at += length;
    }
    tokens
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// The tokens between the parentheses, if the tokens begin with the definition of the kernel with this name.
fn definition<'t, 's>(tokens: &'t [&'s str], kernel: &str) -> Option<&'t [&'s str]> {
    let (name, list, next) = heading(tokens)?;
    (next == "{" && name == kernel).then_some(list)
}

/// The name of a kernel, the tokens between its parentheses, and the token that follows: a body or the end of a
/// declaration.
fn heading<'t, 's>(tokens: &'t [&'s str]) -> Option<(&'s str, &'t [&'s str], &'s str)> {
    let mut at = 0;
    let mut name = "";
    loop {
        match *tokens.get(at)? {
            // Attributes with arguments: `__launch_bounds__(256, 2)`.
            "(" if name.starts_with("__") => at = closing(tokens, at)? + 1,
            "(" => break,
            ";" | "{" | "}" => return None,
            word => {
                name = word;
                at += 1;
            }
        }
    }
    let end = closing(tokens, at)?;
    let next = *tokens.get(end + 1)?;
    let is_name = name.bytes().next().is_some_and(is_word);
    (is_name && ["{", ";"].contains(&next)).then(|| (name, &tokens[at + 1..end], next))
}

/// The position of the closing parenthesis.
fn closing(tokens: &[&str], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match *token {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// The parameters of a list; `None` if one is not understood.
fn parameters(list: &[&str]) -> Option<Vec<DeclaredParameter>> {
    if list.is_empty() || list == ["void"] {
        return Some(Vec::new());
    }
    let (mut depth, mut all, mut start) = (0_usize, Vec::new(), 0);
    for (at, token) in list.iter().enumerate() {
        match *token {
            "(" | "<" | "[" | "{" => depth += 1,
            ")" | ">" | "]" | "}" => depth = depth.checked_sub(1)?,
            "," if depth == 0 => {
                all.push(parameter(&list[start..at])?);
                start = at + 1;
            }
            _ => {}
        }
    }
    all.push(parameter(&list[start..])?);
    Some(all)
}

/// Words that end a declaration without a name, as in `const float* __restrict__`.
const TYPES: [&str; 18] = [
    "int",
    "float",
    "double",
    "char",
    "short",
    "long",
    "unsigned",
    "signed",
    "bool",
    "void",
    "const",
    "volatile",
    "half",
    "__restrict__",
    "__restrict",
    "restrict",
    "size_t",
    "auto",
];

fn parameter(tokens: &[&str]) -> Option<DeclaredParameter> {
    let end = tokens.iter().position(|token| *token == "=").unwrap_or(tokens.len());
    let declaration = &tokens[..end];
    // Pointers to functions and arrays have their names inside.
    if declaration.is_empty() || declaration.contains(&"(") {
        return None;
    }
    let array = declaration.iter().position(|token| *token == "[");
    let (whole, suffix) = declaration.split_at(array.unwrap_or(declaration.len()));
    let (last, before) = whole.split_last()?;
    let named = is_word(last.as_bytes()[0]) && !TYPES.contains(last) && !before.is_empty();
    let (name, ty) = if named { (*last, before) } else { ("", whole) };
    let mut ty = ty.join(" ");
    if !suffix.is_empty() {
        ty.push_str(" *");
    }
    Some(DeclaredParameter { name: name.to_owned(), ty, is_certain: false })
}

#[cfg(test)]
mod tests {
    use super::signature;

    fn names(text: &str, kernel: &str, count: usize) -> Option<String> {
        let found = signature(text, kernel, count)?;
        Some(
            found
                .iter()
                .map(|one| format!("{}:{}", one.name, one.ty))
                .collect::<Vec<_>>()
                .join("; "),
        )
    }

    #[test]
    fn lists_are_read_as_they_are_written() {
        let text = "#define K __global__ void k(int wrong)\n// __global__ void k(int n) {}\n\
                    template <typename T, int N>\n\
                    __global__ void __launch_bounds__(256, 2) k(const T* __restrict__ x, /* two */ unsigned *c,\n\
                    float s = f(1, 2), std::array<int, 4> a, int n[3]) { }\n\
                    extern \"C\" __global__ void none() {}\n\
                    __global__ void unnamed(float*, const float* __restrict__, int) { }";
        let expected =
            "x:const T * __restrict__; c:unsigned *; s:float; a:std : : array < int , 4 >; n:int *";
        assert_eq!(names(text, "k", 5).as_deref(), Some(expected));
        assert_eq!(names(text, "none", 0).as_deref(), Some(""));
        let unnamed = ":float *; :const float * __restrict__; :int";
        assert_eq!(names(text, "unnamed", 3).as_deref(), Some(unnamed));
    }

    #[test]
    fn ambiguous_declarations_give_no_names() {
        let two = "__global__ void k(int a, int b) {} __global__ void k(int b, int a) {}";
        assert_eq!(names(two, "k", 2), None);
        assert_eq!(names("__global__ void k(int a);", "k", 1), None, "a declaration");
        assert_eq!(names("__global__ void k(int a) {}", "k", 2), None, "another number");
        assert_eq!(names("__global__ void k(int (*f)(int)) {}", "k", 1), None);
        let same = "__global__ void k(int a); __global__ void k(int b) {}";
        assert_eq!(names(same, "k", 1).as_deref(), Some("b:int"), "the definition counts");
    }

    #[test]
    fn names_are_certain_only_if_no_other_definition_is_possible() {
        let certain =
            |text: &str| signature(text, "k", 2).map(|list| list.iter().all(|one| one.is_certain));
        let plain = "__global__ void k(int a, int b) {}";
        let other =
            "template <class T> __global__ void l(T a) {} template __global__ void l<int>(int);";
        assert_eq!(certain(plain), Some(true));
        assert_eq!(
            certain(&format!(
                "#include <cuda_fp16.h>\n#define N 4\n{other}\n{plain}\nint main() {{ k<<<1, 1>>>(2, 3); }}"
            )),
            Some(true)
        );
        for doubt in [
            format!("#if 0\n{plain}\n#endif"),
            format!("#include \"other.h\"\n{plain}"),
            format!("namespace v1 {{ {plain} }}"),
            format!("#define KERNEL __global__ void\n{plain}"),
            format!("{plain}\nKERNEL k(int b, int a) {{}}"),
            format!("{plain}\nKERNEL(k)(int b, int a) {{}}"),
            format!("{plain}\n__global__ void l(int a) BODY"),
            format!(
                "template <int N> {plain}\ntemplate <> __global__ void k<2>(int b, int a) {{}}"
            ),
        ] {
            assert_ne!(certain(&doubt), Some(true), "{doubt}");
        }
    }

    #[test]
    fn anything_is_survived() {
        for text in [
            "__global__",
            "__global__ (",
            "__global__ k(a,",
            "\"",
            "/*",
            "#",
            "__global__ k())",
            "é",
        ] {
            assert_eq!(signature(text, "k", 1), None, "{text}");
        }
    }
}

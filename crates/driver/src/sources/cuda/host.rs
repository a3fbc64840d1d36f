//! Removes host functions from a text, for NVRTC, which compiles none.
//!
//! A function outside of others that is neither `__device__` nor `__global__` runs on the host. Its text becomes
//! blanks, so that lines and columns stay. If device code is mistaken for a host function, the compiler reports it as
//! missing.

use crate::cpp_text::{self, Piece};

/// Returns the text with blanks for host functions.
pub(crate) fn without_host(text: &str) -> String {
    let mut scanner = Scanner { text, at: 0, start: 0, blanks: Vec::new() };
    scanner.items();
    let mut result: Vec<u8> = text.bytes().collect();
    for (start, end) in scanner.blanks {
        for byte in result.iter_mut().take(end).skip(start) {
            if *byte != b'\n' && *byte != b'\r' {
                *byte = b' ';
            }
        }
    }
    String::from_utf8(result).unwrap_or_else(|_| text.to_owned())
}

struct Scanner<'t> {
    text: &'t str,
    at: usize,
    /// Start of the current item.
    start: usize,
    blanks: Vec<(usize, usize)>,
}

impl Scanner<'_> {
    /// Advances by one piece.
    fn piece(&mut self) -> Option<Piece> {
        let (piece, length) = cpp_text::piece(self.text, self.at)?;
        self.at += length;
        Some(piece)
    }

    fn items(&mut self) {
        while let Some(piece) = self.piece() {
            match piece {
                Piece::Directive => self.start = self.at,
                Piece::Byte(b';') => self.end_of_declaration(),
                Piece::Byte(b'}') => self.start = self.at,
                Piece::Byte(b'{') => self.braces(),
                Piece::Comment | Piece::Quoted | Piece::Byte(_) => {}
            }
        }
    }

    fn head(&self) -> String {
        let head = self.text.get(self.start..self.at).unwrap_or_default();
        let lines = head.lines().map(|line| line.split("//").next().unwrap_or_default());
        // Lines stay apart: `__global__` may stand on one of its own.
        lines.collect::<Vec<_>>().join("\n")
    }

    fn end_of_declaration(&mut self) {
        if is_hosts(&self.head()) {
            self.blanks.push((self.start, self.at));
        }
        self.start = self.at;
    }

    /// Handles braces outside of functions.
    fn braces(&mut self) {
        let head = self.head();
        let words: Vec<&str> = head
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .filter(|w| !w.is_empty())
            .collect();
        let first = words.first().copied().unwrap_or_default();
        let opens = first == "namespace" || first == "extern" && !head.contains('(');
        if opens {
            // Items inside are handled like items outside.
            self.start = self.at;
            return;
        }
        let is_device = words.iter().any(|word| matches!(*word, "__device__" | "__global__"));
        let is_type = matches!(first, "struct" | "class" | "union" | "enum" | "typedef");
        let mut depth = 1;
        while depth > 0 {
            match self.piece() {
                Some(Piece::Byte(b'{')) => depth += 1,
                Some(Piece::Byte(b'}')) => depth -= 1,
                Some(_) => {}
                None => return,
            }
        }
        let is_function = head.contains('(') && !head.contains('=');
        if is_function && !is_device && !is_type && !words.contains(&"constexpr") {
            self.blanks.push((self.start, self.at));
        }
        // A type of the host: its members have types that no device code has. The declarators up to the semicolon go
        // with it.
        let body = self.text.get(self.start..self.at).unwrap_or_default();
        if is_type && !is_function && first != "typedef" && is_hosts(&format!("struct {body}")) {
            while !matches!(self.piece(), None | Some(Piece::Byte(b';'))) {}
            self.blanks.push((self.start, self.at));
            self.start = self.at;
        }
        if !is_type {
            self.start = self.at;
        }
    }
}

/// Namespaces of libraries for the host.
const HOST: [&str; 6] = ["std::", "torch::", "at::", "c10::", "thrust::", "py::"];

/// Returns `true` for a declaration of the host: it names something of a host library and nothing of the device.
fn is_hosts(declaration: &str) -> bool {
    let text = declaration.trim_start();
    if let Some(rest) = text.strip_prefix("using namespace") {
        let name = rest.trim_start();
        return HOST.iter().any(|own| name.starts_with(own.trim_end_matches(':')));
    }
    let device =
        ["__device__", "__global__", "__constant__", "__shared__", "template", "constexpr"];
    let begins = |text: &str, own: &str| {
        text.match_indices(own).any(|(at, _)| {
            !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':')
        })
    };
    !device.iter().any(|word| text.contains(word)) && HOST.iter().any(|own| begins(text, own))
}

#[cfg(test)]
mod tests {
    use super::without_host;

    #[test]
    fn host_functions_become_blanks() {
        let text = "#include <x>\nusing namespace std;\nstruct S { int a; };\nconst int N = 3;\n\
                    // int main() {\n__device__ int f(int x) { return x; }\n\
                    extern \"C\" __global__ void k(int* a) { a[0] = f('}'); }\n\
                    static void host(int* a) { if (a) { k<<<1, 1>>>(a); } }\n\
                    int main(int n, char** v) {\n  \"}\"; return 0;\n}\n__constant__ float c[3];\n";
        let left = without_host(text);
        assert_eq!((left.len(), left.lines().count()), (text.len(), text.lines().count()));
        for kept in ["struct S", "N = 3", "int f(int x)", "void k(int* a)", "// int main", "c[3]"] {
            assert!(left.contains(kept), "{kept}: {left}");
        }
        for gone in ["<<<", "return 0", "int main(int n", "using namespace", "static void host"] {
            assert!(!left.contains(gone), "{gone}: {left}");
        }
    }

    #[test]
    fn declarations_of_the_host_become_blanks() {
        let text = "using namespace std;\nusing namespace cooperative_groups;\nstd::vector<int> v;\n\
                    struct Options { std::string name; int n; } options;\nstruct Plain { int format::x; };\n\
                    torch::Tensor run(torch::Tensor x);\n__constant__ std::array<int, 3> c;\n\
                    template <> struct T<float> { std::string s; };\nPYBIND11_MODULE(a, m) { m.def(\"}\"); }\n";
        let left = without_host(text);
        assert_eq!(left.len(), text.len());
        for kept in ["cooperative_groups", "struct Plain", "__constant__", "struct T<float>"] {
            assert!(left.contains(kept), "{kept}: {left}");
        }
        for gone in ["namespace std", "vector", "Options", "options", "torch", "PYBIND"] {
            assert!(!left.contains(gone), "{gone}: {left}");
        }
    }

    #[test]
    fn words_of_two_lines_are_two() {
        let text =
            "__global__\nvoid k(int* a) { a[0] = 1; }\nvoid host(int* a)\n{ k<<<1, 1>>>(a); }\n";
        let left = without_host(text);
        assert!(left.contains("void k(int* a) { a[0] = 1; }") && !left.contains("host"), "{left}");
    }

    #[test]
    fn anything_is_survived() {
        for text in
            ["", "{", "}", "/*", "\"", "'", "#", "int f() {", "é { \\", "namespace a {{", "//\\\n"]
        {
            assert_eq!(without_host(text).len(), text.len(), "{text}");
        }
    }
}

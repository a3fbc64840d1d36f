//! Colours of CUDA C++, PTX and Python: comments, strings, numbers, keywords, types, directives, built-in names.
//!
//! This reads characters, not a grammar: a token that it does not recognise has no colour, and nothing is left out. It
//! works line by line and remembers a comment or string that a line leaves open, so that part of a file may be shown.

use crate::render::escape::quoted;

/// The language of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Cuda,
    Ptx,
    Python,
}

impl Language {
    /// The language of a file, by its name. Everything that is neither PTX nor Python is CUDA or a formula.
    pub(super) fn of_path(path: &str) -> Self {
        match path.rsplit_once('.').map(|(_, extension)| extension) {
            Some("ptx") => Self::Ptx,
            Some("py") => Self::Python,
            _ => Self::Cuda,
        }
    }
}

/// The token that continues on the next line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OpenToken {
    Nothing,
    Comment,
    /// A Python string between three quotes of this kind.
    Text(char),
}

/// Colours the lines of a text, from its first line on.
pub(super) struct Highlighter {
    language: Language,
    open: OpenToken,
}

/// The class of a token, as the style sheet names it.
type Class = &'static str;

impl Highlighter {
    pub(super) fn new(language: Language) -> Self {
        Self { language, open: OpenToken::Nothing }
    }

    /// The next line as markup.
    pub(super) fn line(&mut self, line: &str) -> String {
        let mut html = String::with_capacity(line.len() + 32);
        for (class, text) in self.tokens(line) {
            match class {
                "" => html.push_str(&quoted(text)),
                class => html.push_str(&format!("<span class=\"{class}\">{}</span>", quoted(text))),
            }
        }
        html
    }

    /// The tokens of the next line; together they are the line.
    pub(super) fn tokens<'l>(&mut self, line: &'l str) -> Vec<(Class, &'l str)> {
        let mut tokens: Vec<(Class, &str)> = Vec::new();
        let mut rest = line;
        let directive = self.open == OpenToken::Nothing && self.is_directive(line);
        while let Some(first) = rest.chars().next() {
            let (class, length) = match self.open {
                OpenToken::Nothing => self.token(rest, first, directive),
                OpenToken::Comment => self.until(rest, "*/", "c"),
                OpenToken::Text(quote) => {
                    self.until(rest, if quote == '"' { "\"\"\"" } else { "'''" }, "s")
                }
            };
            let (token, after) = rest.split_at(length.max(first.len_utf8()));
            match tokens.last_mut() {
                // Joined, so that plain text is one piece.
                Some((last, text)) if *last == class => {
                    let start = text.as_ptr() as usize - line.as_ptr() as usize;
                    *text = &line[start..start + text.len() + token.len()];
                }
                _ => tokens.push((class, token)),
            }
            rest = after;
        }
        tokens
    }

    fn is_directive(&self, line: &str) -> bool {
        self.language == Language::Cuda && line.trim_start().starts_with('#')
    }

    /// The class and length of the open token's rest, which ends with `end` or continues on the next line.
    fn until(&mut self, rest: &str, end: &str, class: Class) -> (Class, usize) {
        match rest.find(end) {
            Some(at) => {
                self.open = OpenToken::Nothing;
                (class, at + end.len())
            }
            None => (class, rest.len()),
        }
    }

    /// The class and length of the token at the start.
    fn token(&mut self, rest: &str, first: char, directive: bool) -> (Class, usize) {
        let is_python = self.language == Language::Python;
        if is_python && first == '#' || !is_python && rest.starts_with("//") {
            return ("c", rest.len());
        }
        if !is_python && rest.starts_with("/*") {
            self.open = OpenToken::Comment;
            let (class, length) = self.until(&rest[2..], "*/", "c");
            return (class, length + 2);
        }
        if is_python && (rest.starts_with("\"\"\"") || rest.starts_with("'''")) {
            self.open = OpenToken::Text(first);
            let (class, length) = self.until(&rest[3..], &rest[..3], "s");
            return (class, length + 3);
        }
        if first == '"' || first == '\'' {
            return ("s", string_length(rest, first));
        }
        let next = rest[first.len_utf8()..].chars().next().unwrap_or(' ');
        if first.is_ascii_digit() || first == '.' && next.is_ascii_digit() {
            return ("n", number_length(rest));
        }
        let sign = match self.language {
            Language::Ptx => "%.@$",
            Language::Python => "@",
            Language::Cuda => "#",
        };
        if first.is_alphabetic() || first == '_' || sign.contains(first) && is_word(next) {
            let length = first.len_utf8() + word_length(&rest[first.len_utf8()..]);
            return (self.word(&rest[..length], directive), length);
        }
        ("", first.len_utf8())
    }

    /// The class of a word, with the sign before it.
    fn word(&self, word: &str, directive: bool) -> Class {
        let among = |list: &[&str]| list.contains(&word);
        match self.language {
            Language::Ptx => match word.chars().next() {
                Some('%') => "v",
                Some('.') => {
                    if PTX_TYPES.contains(&&word[1..]) {
                        "t"
                    } else {
                        "d"
                    }
                }
                Some('@' | '$') => "d",
                _ => "",
            },
            Language::Python => match word {
                _ if word.starts_with('@') => "d",
                _ if among(PYTHON) => "k",
                _ => "",
            },
            Language::Cuda if directive && word.starts_with('#') => "d",
            Language::Cuda => match word {
                _ if among(BUILT_IN) || word.starts_with("__sync") => "v",
                _ if among(CUDA_TYPES) => "t",
                _ if among(CUDA) || word.starts_with("__") && word.ends_with("__") => "k",
                _ => "",
            },
        }
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

fn word_length(text: &str) -> usize {
    text.find(|c: char| !is_word(c)).unwrap_or(text.len())
}

/// The length of a string, with both quotes; to the end of the line without a second one.
fn string_length(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The length of a number: `0x1f`, `1e-5f`, `1'000`, `0f3F800000`.
fn number_length(text: &str) -> usize {
    let mut last = ' ';
    let hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    let end = text.find(|c: char| {
        let signed = matches!(last, 'e' | 'E') && !hexadecimal && matches!(c, '+' | '-');
        let inside = c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '\'') || signed;
        last = c;
        !inside
    });
    end.unwrap_or(text.len())
}

const CUDA: &[&str] = &[
    "alignas",
    "asm",
    "auto",
    "break",
    "case",
    "class",
    "const",
    "constexpr",
    "continue",
    "default",
    "do",
    "else",
    "enum",
    "explicit",
    "extern",
    "false",
    "for",
    "friend",
    "goto",
    "if",
    "inline",
    "namespace",
    "nullptr",
    "operator",
    "private",
    "public",
    "restrict",
    "return",
    "sizeof",
    "static",
    "static_assert",
    "struct",
    "switch",
    "template",
    "this",
    "true",
    "typedef",
    "typename",
    "union",
    "using",
    "volatile",
    "while",
];

const CUDA_TYPES: &[&str] = &[
    "bool",
    "char",
    "double",
    "double2",
    "float",
    "float2",
    "float3",
    "float4",
    "half",
    "half2",
    "int",
    "int2",
    "int3",
    "int4",
    "int8_t",
    "int16_t",
    "int32_t",
    "int64_t",
    "long",
    "nv_bfloat16",
    "short",
    "signed",
    "size_t",
    "uint",
    "uint2",
    "uint4",
    "uint8_t",
    "uint16_t",
    "uint32_t",
    "uint64_t",
    "unsigned",
    "void",
    "__half",
    "__half2",
    "__nv_bfloat16",
    "__nv_bfloat162",
];

const BUILT_IN: &[&str] = &["threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize"];

const PTX_TYPES: &[&str] = &[
    "b8", "b16", "b32", "b64", "b128", "bf16", "bf16x2", "f16", "f16x2", "f32", "f64", "pred",
    "s8", "s16", "s32", "s64", "tf32", "u8", "u16", "u32", "u64", "e4m3", "e5m2", "v2", "v4",
];

const PYTHON: &[&str] = &[
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
    "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import",
    "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while",
    "with", "yield",
];

#[cfg(test)]
mod tests {
    use super::*;

    /// The tokens with a class, as `class:text`.
    fn tokens(language: Language, lines: &[&str]) -> String {
        let mut highlighter = Highlighter::new(language);
        let mut all = Vec::new();
        for line in lines {
            let tokens = highlighter.tokens(line);
            assert_eq!(tokens.iter().map(|(_, text)| *text).collect::<String>(), *line);
            all.extend(tokens.into_iter().filter(|(class, _)| !class.is_empty()));
        }
        all.iter().map(|(class, text)| format!("{class}:{text}")).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn cuda_has_colours() {
        let lines = [
            "__global__ void k(float* y) { y[threadIdx.x] = 1e-5f; } // end",
            "#define N 0x1f",
            "a /* b",
            "c */ \"d\\\"\" 'e",
        ];
        assert_eq!(
            tokens(Language::Cuda, &lines),
            "k:__global__ t:void t:float v:threadIdx n:1e-5f c:// end d:#define n:0x1f c:/* b c:c */ s:\"d\\\"\" s:'e"
        );
    }

    #[test]
    fn ptx_has_colours() {
        let lines = [
            "$L__BB0_1:",
            "@%p1 ld.global.f32 %f1, [%rd4+-8]; // x",
            ".reg .b32 %r<3>; mov.f32 %f2, 0f3F800000;",
        ];
        assert_eq!(
            tokens(Language::Ptx, &lines),
            "d:$L__BB0_1 v:%p1 d:.global t:.f32 v:%f1 v:%rd4 n:8 c:// x d:.reg t:.b32 v:%r n:3 t:.f32 v:%f2 n:0f3F800000"
        );
    }

    #[test]
    fn python_has_colours() {
        let lines = [
            "@triton.jit",
            "def k(x):  # text",
            "    '''one",
            "two''' + f(\"a#b\", 1_000)",
            "    return None",
        ];
        assert_eq!(
            tokens(Language::Python, &lines),
            "d:@triton k:def c:# text s:'''one s:two''' s:\"a#b\" n:1_000 k:return k:None"
        );
    }

    /// No part of any input is lost or becomes markup.
    #[test]
    fn any_text_is_kept_and_escaped() {
        for language in [Language::Cuda, Language::Ptx, Language::Python] {
            let lines = [
                "<b>&\"é日'\\",
                "/* \u{202e} é",
                "\"\"\"",
                "'",
                "%",
                "@",
                ".",
                "é0x日",
                "\\",
                "0x",
                "1e",
                "// <script>",
            ];
            tokens(language, &lines);
            let mut highlighter = Highlighter::new(language);
            let html: String = lines.iter().map(|line| highlighter.line(line)).collect();
            assert!(
                !html.contains("<b>") && !html.contains("<script") && !html.contains('\u{202e}'),
                "{html}"
            );
        }
    }
}

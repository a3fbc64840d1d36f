//! Escapes characters that would control a terminal, a log or a page: control characters, and those that change the
//! direction of text. Every output shows them as `\u{1b}`, JSON as its own `\u001b`.
//!
//! Names, sources and messages of compilers are untrusted input. Text for people is escaped as a whole at its end, so
//! no place can be forgotten. Our own colours are escape sequences, so text about input with such characters has no
//! colours (`Colour::for_input`).

use std::borrow::Cow;

/// Returns `true` if a character would act as a control. Line ends and tabs are left to the formats.
pub(crate) fn is_control(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' => true,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        // Not allowed in XML.
        '\u{fffe}' | '\u{ffff}' => true,
        c => c.is_control(),
    }
}

/// Returns `true` if a text is free of control characters. Line ends of Windows are fine.
pub(crate) fn is_clean(text: &str) -> bool {
    // Fast path: most texts are long and plain.
    let plain = |byte: u8| (b' '..0x7f).contains(&byte) || byte == b'\n' || byte == b'\t';
    text.bytes().all(plain) || !without_returns(text).chars().any(is_control)
}

/// Escapes every control character of a text.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    if is_clean(text) && !text.contains('\r') {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in without_returns(text).chars() {
        match is_control(c) {
            true => shown.extend(c.escape_default()),
            false => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// A name on one line, with control characters escaped.
pub fn line(text: &str) -> Cow<'_, str> {
    match text.contains(['\n', '\t', '\r']) {
        false => visible(text),
        true => Cow::Owned(visible(&on_one_line(text)).into_owned()),
    }
}

/// A name with its line ends and tabs escaped, and nothing else, for formats with escapes of their own.
pub(crate) fn on_one_line(text: &str) -> Cow<'_, str> {
    match text.contains(['\n', '\t', '\r']) {
        false => Cow::Borrowed(text),
        true => Cow::Owned(text.replace('\r', "\\r").replace('\n', "\\n").replace('\t', "\\t")),
    }
}

/// JSON with control characters as its own escapes; they can only be inside of strings.
pub(crate) fn json(text: String) -> String {
    if !text.chars().any(is_control) {
        return text;
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match is_control(c) {
            // All of them have 16 bits.
            true => shown.push_str(&format!("\\u{:04x}", u32::from(c))),
            false => shown.push(c),
        }
    }
    shown
}

/// Text as content of HTML or XML. XML 1.0 has no control characters at all, not even escaped.
pub(crate) fn markup(text: &str) -> String {
    visible(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Like [`markup`], also right inside an attribute in double quotes.
pub(crate) fn quoted(text: &str) -> String {
    markup(text).replace('"', "&quot;")
}

/// Text for a terminal, without colours.
#[must_use]
pub fn plain(text: &str) -> String {
    visible(text).into_owned()
}

/// Returns `true` if texts from outside may be shown in colour.
#[must_use]
pub fn may_be_coloured<'t>(texts: impl IntoIterator<Item = &'t str>) -> bool {
    texts.into_iter().all(is_clean)
}

fn without_returns(text: &str) -> Cow<'_, str> {
    match text.contains("\r\n") {
        true => Cow::Owned(text.replace("\r\n", "\n")),
        false => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_written_out() {
        let wrong = "a\u{1b}[31mb\u{7}\u{8}\rc\u{9b}d\u{202e}e\u{2066}\u{7f}";
        let right = "a\\u{1b}[31mb\\u{7}\\u{8}\\rc\\u{9b}d\\u{202e}e\\u{2066}\\u{7f}";
        assert_eq!(visible(wrong), right);
        assert_eq!(visible("two\r\nlines\tand é 日本"), "two\nlines\tand é 日本");
        assert_eq!(line("x\n::error::y"), "x\\n::error::y");
        assert!(is_clean("plain\r\n\ttext é") && !is_clean("a\rb") && !is_clean("\u{2069}"));
    }

    #[test]
    fn json_keeps_the_text() {
        let text = "a\u{1b}b\u{7f}c\u{85}d\u{202e}e";
        let written = json(serde_json::to_string(text).unwrap());
        assert!(written.is_ascii(), "{written}");
        assert_eq!(serde_json::from_str::<String>(&written).unwrap(), text);
    }

    #[test]
    fn nothing_becomes_markup() {
        let wrong = "<script>alert(\"1\")</script>&amp;";
        let right = "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;amp;";
        assert_eq!(quoted(wrong), right);
    }
}

//! The Markdown of our own pages as HTML: headings, paragraphs, lists, tables, fenced code, and `code`, **bold** and
//! links in a line. Links become their text: a page has nothing outside itself.

use super::highlight::{Highlighter, Language};
use crate::render::escape::quoted;

/// Formats a text; its headings are of this level.
pub(super) fn render(text: &str, level: usize) -> String {
    let mut html = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(name) = line.strip_prefix("```") {
            let code: Vec<&str> =
                lines.by_ref().take_while(|line| !line.starts_with("```")).collect();
            html.push_str(&fenced(name, &code));
        } else if let Some(title) = line.strip_prefix("## ") {
            html.push_str(&format!("<h{level}>{}</h{level}>\n", inline(title)));
        } else if is_item(line) || line.starts_with('|') {
            let is_table = line.starts_with('|');
            let mut block = vec![line];
            // Indented lines continue a list.
            while let Some(next) = lines.next_if(|line| match is_table {
                true => line.starts_with('|'),
                false => is_item(line) || line.starts_with(' '),
            }) {
                block.push(next);
            }
            html.push_str(&if is_table { table(&block) } else { list(&block) });
        } else if !line.trim().is_empty() {
            let mut paragraph = line.trim().to_owned();
            while let Some(next) = lines.next_if(|line| continues_paragraph(line)) {
                paragraph.push(' ');
                paragraph.push_str(next.trim());
            }
            html.push_str(&format!("<p>{}</p>\n", inline(&paragraph)));
        }
    }
    html
}

/// Returns `true` if a line continues a paragraph.
fn continues_paragraph(line: &str) -> bool {
    let begins = line.starts_with("```") || line.starts_with('#') || line.starts_with('|');
    !line.trim().is_empty() && !begins && !is_item(line)
}

fn is_item(line: &str) -> bool {
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    line.starts_with("- ")
        || line.starts_with("* ")
        || digits.len() < line.len() && digits.starts_with(". ")
}

fn list(lines: &[&str]) -> String {
    let mut items: Vec<String> = Vec::new();
    for line in lines {
        match (is_item(line), items.last_mut()) {
            (false, Some(last)) => {
                last.push(' ');
                last.push_str(line.trim());
            }
            _ => items.push(line.split_once(' ').map_or(*line, |(_, text)| text).to_owned()),
        }
    }
    let name =
        if lines.first().is_some_and(|line| line.starts_with(['-', '*'])) { "ul" } else { "ol" };
    let items: String = items.iter().map(|item| format!("<li>{}</li>\n", inline(item))).collect();
    format!("<{name}>\n{items}</{name}>\n")
}

fn table(lines: &[&str]) -> String {
    let row = |line: &str, cell: &str| {
        let cells = line.trim_matches('|').split('|').map(str::trim);
        let cells: String =
            cells.map(|text| format!("<{cell}>{}</{}>", inline(text), &cell[..2])).collect();
        format!("<tr>{cells}</tr>\n")
    };
    let head = lines.first().map_or_else(String::new, |line| row(line, "th scope=\"col\""));
    let body: String = lines.iter().skip(2).map(|line| row(line, "td")).collect();
    format!(
        "<div class=\"scrolls\" tabindex=\"0\"><table>\n<thead>{head}</thead>\n<tbody>\n{body}</tbody>\n</table></div>\n"
    )
}

fn fenced(name: &str, code: &[&str]) -> String {
    let language = match name.split([' ', ',']).next() {
        Some("cuda" | "cpp" | "c") => Some(Language::Cuda),
        Some("ptx") => Some(Language::Ptx),
        Some("python") => Some(Language::Python),
        _ => None,
    };
    let mut highlighter = language.map(Highlighter::new);
    let line = |line: &&str| match &mut highlighter {
        Some(highlighter) => highlighter.line(line) + "\n",
        None => quoted(line) + "\n",
    };
    let lines: String = code.iter().map(line).collect();
    format!("<pre tabindex=\"0\"><code>{lines}</code></pre>\n")
}

/// A message of ours, whose backticks enclose code. Names in it are untrusted, so no other mark counts.
pub(super) fn marked(text: &str) -> String {
    if !text.matches('`').count().is_multiple_of(2) {
        return quoted(text);
    }
    let part = |(number, part): (usize, &str)| match number % 2 {
        1 => format!("<code>{}</code>", quoted(part)),
        _ => quoted(part),
    };
    text.split('`').enumerate().map(part).collect()
}

/// Formats a line with its marks: `code`, **bold** and links.
pub(super) fn inline(text: &str) -> String {
    let mut html = String::new();
    for (number, part) in without_links(text).split('`').enumerate() {
        match number % 2 {
            1 => html.push_str(&format!("<code>{}</code>", quoted(part))),
            _ => html.push_str(&bold(part)),
        }
    }
    html
}

fn bold(text: &str) -> String {
    let mut html = String::new();
    for (number, part) in text.split("**").enumerate() {
        match number % 2 {
            1 => html.push_str(&format!("<strong>{}</strong>", quoted(part))),
            _ => html.push_str(&quoted(part)),
        }
    }
    html
}

/// `see [the manual](prove.md)` becomes `see the manual`.
fn without_links(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, inside)) = rest.split_once('[') {
        plain.push_str(before);
        match inside
            .split_once("](")
            .and_then(|(name, after)| Some((name, after.split_once(')')?.1)))
        {
            Some((name, after)) if !name.contains('[') => {
                plain.push_str(name);
                rest = after;
            }
            _ => {
                plain.push('[');
                rest = inside;
            }
        }
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_and_marks_become_elements() {
        let text = "One `a<b` **bold**\ngoes on, see [the page](x.md).\n\n## Head\n\n- first\n  more\n- second\n\n\
                    | a | b |\n|---|---|\n| `1` | 2 |\n\n```cuda\nint x; // <i>\n```\n";
        let html = render(text, 4);
        for part in [
            "<p>One <code>a&lt;b</code> <strong>bold</strong> goes on, see the page.</p>",
            "<h4>Head</h4>",
            "<ul>\n<li>first more</li>\n<li>second</li>\n</ul>",
            "<th scope=\"col\">a</th>",
            "<td><code>1</code></td><td>2</td>",
            "&lt;i&gt;",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert!(!html.contains("x.md") && !html.contains("<i>"), "{html}");
    }

    #[test]
    fn names_in_messages_are_only_text() {
        assert_eq!(marked("`a<b>` **x**"), "<code>a&lt;b&gt;</code> **x**");
        assert_eq!(marked("a`<b>"), "a`&lt;b&gt;");
    }

    /// Every page of `explain` is understood: no mark stays as it is written.
    #[test]
    fn no_marks_are_left_in_our_pages() {
        for code in base::Code::ALL {
            let html = render(crate::explain::page(code), 4);
            let outside: String = html
                .split("<pre")
                .map(|part| part.split("</pre>").last().unwrap_or_default())
                .collect();
            let outside: String = outside
                .split("<code>")
                .map(|part| part.split("</code>").last().unwrap_or_default())
                .collect();
            for mark in ["```", "**", "](", "`"] {
                assert!(!outside.contains(mark), "{code}: {mark} in {outside}");
            }
        }
    }
}

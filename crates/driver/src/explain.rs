//! `warpproof explain`: the page of a code. The pages are `docs/errors/*.md`; the manual includes the same files.

use crate::arguments::closest;
use crate::{Colour, Outcome};
use anstyle::{AnsiColor, Style};
use base::Code;

/// The page of a code, in Markdown. A code without one does not compile.
#[must_use]
pub fn page(code: Code) -> &'static str {
    macro_rules! page {
        ($name:literal) => {
            include_str!(concat!("../../../docs/errors/", $name, ".md"))
        };
    }
    match code {
        Code::Syntax => page!("WP0001"),
        Code::Name => page!("WP0002"),
        Code::Constant => page!("WP0003"),
        Code::Limit => page!("WP0004"),
        Code::Formula => page!("WP0005"),
        Code::UnsupportedInstruction => page!("WP0010"),
        Code::UnsupportedModifier => page!("WP0011"),
        Code::UnsupportedDirective => page!("WP0012"),
        Code::Operand => page!("WP0013"),
        Code::UnknownInstruction => page!("WP0014"),
        Code::UnsupportedControlFlow => page!("WP0015"),
        Code::UnsupportedConstruct => page!("WP0016"),
        Code::NotFollowed => page!("WP0020"),
        Code::OutOfBounds => page!("WP0101"),
        Code::WildAddress => page!("WP0102"),
        Code::Misaligned => page!("WP0103"),
        Code::InputModified => page!("WP0104"),
        Code::UndefinedValue => page!("WP0105"),
        Code::DivisionByZero => page!("WP0106"),
        Code::Trap => page!("WP0107"),
        Code::Deadlock => page!("WP0108"),
        Code::Race => page!("WP0109"),
        Code::BarrierDivergence => page!("WP0110"),
        Code::BarrierMisuse => page!("WP0111"),
        Code::BarrierReuse => page!("WP0112"),
        Code::WarpCollective => page!("WP0113"),
        Code::AsyncCopy => page!("WP0114"),
        Code::Overflow => page!("WP0115"),
        Code::Assertion => page!("WP0116"),
        Code::Postcondition => page!("WP0117"),
        Code::UnwrittenOutput => page!("WP0130"),
        Code::Launch => page!("WP0131"),
        Code::Arguments => page!("WP0132"),
        Code::Different => page!("WP0140"),
        Code::NotFinite => page!("WP0141"),
    }
}

/// The subject of a code in a few words: the title of its page.
#[must_use]
pub fn title(code: Code) -> &'static str {
    let first = page(code).lines().next().unwrap_or_default();
    first.split_once(": ").map_or(first, |(_, title)| title)
}

/// The first paragraph of a page, on one line.
#[must_use]
pub fn summary(code: Code) -> String {
    let paragraph = page(code).split("\n\n").nth(1).unwrap_or_default();
    paragraph.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the page of a code as Markdown, if there is such a code.
#[must_use]
pub fn markdown(code: &str) -> Option<String> {
    Code::parse(code).map(|code| page(code).to_owned())
}

/// Explains a code, or lists all of them without one.
#[must_use]
pub fn run(code: Option<&str>, colour: Colour) -> Outcome {
    let Some(name) = code else {
        return Outcome::done(Code::ALL.map(|code| format!("{code}  {}\n", title(code))).concat());
    };
    if let Some(code) = Code::parse(name) {
        return Outcome::done(styled(page(code), colour));
    }
    let names = Code::ALL.map(|code| code.to_string());
    let meant = closest(&name.to_uppercase(), names.iter().map(String::as_str));
    let meant = match meant {
        Some(code) => format!("; did you mean {code}?"),
        None => "; `warpproof explain` lists all".to_owned(),
    };
    Outcome::bad_input(&format!("there is no code `{name}`{meant}"))
}

/// Formats Markdown for a terminal: headings stand out, code is indented, fences are removed.
fn styled(page: &str, colour: Colour) -> String {
    let (heading, code) = match colour {
        Colour::Styled { .. } => (Style::new().bold(), AnsiColor::Cyan.on_default()),
        Colour::Plain => (Style::new(), Style::new()),
    };
    let mut text = String::new();
    let mut fenced = false;
    for line in page.lines() {
        if line.starts_with("```") {
            fenced = !fenced;
        } else if fenced {
            text.push_str(&format!("    {code}{line}{code:#}\n"));
        } else if let Some(title) = line.strip_prefix('#') {
            let title = title.trim_start_matches('#').trim_start();
            text.push_str(&format!("{heading}{title}{heading:#}\n"));
        } else {
            text.push_str(&format!("{line}\n"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Exit;

    #[test]
    fn every_page_has_its_parts() {
        for code in Code::ALL {
            let page = page(code);
            assert!(page.starts_with(&format!("# {code}: ")), "{code}: title");
            for part in ["\n## Example\n\n```", "\n## Why it matters\n\n", "\n## How to fix it\n\n"]
            {
                assert!(page.contains(part), "{code}: {part}");
            }
            assert!(
                page.lines().all(|line| line.starts_with("$ ") || line.chars().count() <= 120),
                "{code}: long line"
            );
        }
    }

    #[test]
    fn codes_are_found_by_their_names() {
        for code in Code::ALL {
            assert_eq!(Code::parse(&code.to_string()), Some(code));
        }
        assert_eq!(Code::parse("wp109"), Some(Code::Race));
        assert_eq!(Code::parse("WP9999"), None);
        let error = run(Some("WP0190"), Colour::Plain);
        assert_eq!(error.exit, Exit::BadInput);
        assert!(error.messages.contains("did you mean"), "{}", error.messages);
    }

    #[test]
    fn a_terminal_shows_no_fences() {
        let text = run(Some("WP0109"), Colour::Plain).output;
        assert!(text.starts_with("WP0109: ") && !text.contains("```"), "{text}");
        assert!(text.contains("\n    __global__ void shift"), "{text}");
    }
}

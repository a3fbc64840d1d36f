//! How results are written: the format, and whether text is coloured.

use super::escape::may_be_coloured;
use anstyle::Style;

/// How results are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// Commands for GitHub's workflow runner, which shows them beside the lines.
    Github,
    /// JUnit's XML, for CI systems that list tests.
    Junit,
}

/// Whether text is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// With terminal escapes, which whoever prints it strips if the terminal has none; source lines
    /// are cut to this many columns.
    Styled {
        /// Columns of the terminal.
        width: usize,
    },
    /// Without.
    Plain,
}

impl Colour {
    /// A style, where text is coloured.
    pub(crate) fn style(self, style: Style) -> Style {
        match self {
            Self::Styled { .. } => style,
            Self::Plain => Style::new(),
        }
    }

    /// No colours if something that will be shown has escape sequences of its own.
    pub(crate) fn for_input<'t>(self, texts: impl IntoIterator<Item = &'t str>) -> Self {
        if may_be_coloured(texts) { self } else { Self::Plain }
    }
}

//! The format of results, and the colour of text.

use super::escape::may_be_coloured;
use anstyle::Style;

/// The format of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// Commands for GitHub's workflow runner, which shows results beside the lines.
    Github,
    /// JUnit's XML, for CI systems that list tests.
    Junit,
}

/// The colour of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// With terminal escapes. The code that prints the text strips them if the terminal has none. Source lines are
    /// cut to this many columns.
    Styled {
        /// Columns of the terminal.
        width: usize,
    },
    /// Without colours.
    Plain,
}

impl Colour {
    /// A style, if text is coloured.
    pub(crate) fn style(self, style: Style) -> Style {
        match self {
            Self::Styled { .. } => style,
            Self::Plain => Style::new(),
        }
    }

    /// Turns colours off if the text to be shown has escape sequences of its own.
    pub(crate) fn for_input<'t>(self, texts: impl IntoIterator<Item = &'t str>) -> Self {
        if may_be_coloured(texts) { self } else { Self::Plain }
    }
}

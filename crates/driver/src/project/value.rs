//! Values of a project file with their places, and errors in them.

use crate::Colour;
use crate::arguments::closest;
use crate::render::escape::is_clean;
use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use base::SourceFile;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// An error and its place.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) span: Range<usize>,
    pub(super) message: String,
    pub(super) help: Option<String>,
}

impl Problem {
    pub(super) fn new(span: Range<usize>, message: impl Into<String>) -> Self {
        Self { span, message: message.into(), help: None }
    }
}

/// A text and its place.
#[derive(Clone, Debug)]
pub(super) struct Raw {
    pub(super) text: String,
    pub(super) span: Range<usize>,
}

/// A table of the file; its keys must be known.
pub(super) struct Table<'t, 'i> {
    pub(super) table: &'t DeTable<'i>,
    pub(super) span: Range<usize>,
}

impl<'t, 'i> Table<'t, 'i> {
    /// Wraps a table, and reports unknown keys.
    pub(super) fn new(
        table: &'t DeTable<'i>,
        span: Range<usize>,
        known: &[&str],
        problems: &mut Vec<Problem>,
    ) -> Self {
        for key in table.keys() {
            let name: &str = key.get_ref();
            if known.contains(&name) {
                continue;
            }
            let mut problem = Problem::new(key.span(), format!("there is no key `{name}` here"));
            problem.help = Some(match closest(name, known.iter().copied()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("the keys are {}", known.join(", ")),
            });
            problems.push(problem);
        }
        Self { table, span }
    }

    pub(super) fn get(&self, key: &str) -> Option<&'t Spanned<DeValue<'i>>> {
        self.table.get(key)
    }

    /// Keys and values in the order of the text.
    pub(super) fn in_order(table: &'t DeTable<'i>) -> Vec<(&'t str, &'t Spanned<DeValue<'i>>)> {
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        entries.into_iter().map(|(key, value)| (&**key.get_ref(), value)).collect()
    }

    /// A number, a text, or a list of those joined with commas.
    pub(super) fn raw(&self, key: &str, problems: &mut Vec<Problem>) -> Option<Raw> {
        let value = self.get(key)?;
        let text = match value.get_ref() {
            DeValue::Array(items) => {
                let items: Option<Vec<String>> =
                    items.iter().map(|item| scalar(item.get_ref())).collect();
                items.map(|items| items.join(","))
            }
            value => scalar(value),
        };
        if text.is_none() {
            let what = value.get_ref().type_str();
            let message =
                format!("`{key}` must be a number, a string or a list of these, not this {what}");
            problems.push(Problem::new(value.span(), message));
        }
        Some(Raw { text: text?, span: value.span() })
    }

    pub(super) fn text(&self, key: &str, problems: &mut Vec<Problem>) -> Option<Raw> {
        let value = self.get(key)?;
        match value.get_ref() {
            DeValue::String(text) => Some(Raw { text: text.to_string(), span: value.span() }),
            other => {
                let message = format!("`{key}` must be a string, not this {}", other.type_str());
                problems.push(Problem::new(value.span(), message));
                None
            }
        }
    }

    pub(super) fn flag(&self, key: &str, problems: &mut Vec<Problem>) -> Option<bool> {
        let value = self.get(key)?;
        let flag = value.get_ref().as_bool();
        if flag.is_none() {
            problems.push(Problem::new(value.span(), format!("`{key}` must be true or false")));
        }
        flag
    }

    /// Tables of a list `[[key]]`.
    pub(super) fn tables(
        &self,
        key: &str,
        problems: &mut Vec<Problem>,
    ) -> Vec<(&'t DeTable<'i>, Range<usize>)> {
        let Some(value) = self.get(key) else { return Vec::new() };
        let tables: Option<Vec<_>> = value.get_ref().as_array().and_then(|items| {
            items.iter().map(|item| Some((item.get_ref().as_table()?, item.span()))).collect()
        });
        if tables.is_none() {
            let message = format!("`{key}` must be a list of tables: write [[{key}]]");
            problems.push(Problem::new(value.span(), message));
        }
        tables.unwrap_or_default()
    }
}

/// A number or text as it would be on a command line.
pub(super) fn scalar(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => Some(number.to_string()),
        DeValue::Float(number) => Some(number.to_string()),
        DeValue::Boolean(_) | DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => None,
    }
}

/// Reports control characters in keys and texts: a terminal would act on them.
pub(super) fn refuse_controls(table: &DeTable<'_>, problems: &mut Vec<Problem>) {
    for (key, value) in table {
        if !is_clean(key.get_ref()) {
            problems.push(Problem::new(key.span(), "a key cannot contain control characters"));
        }
        refuse_controls_in(value, problems);
    }
}

fn refuse_controls_in(value: &Spanned<DeValue<'_>>, problems: &mut Vec<Problem>) {
    match value.get_ref() {
        DeValue::String(text) if !is_clean(text) => {
            problems.push(Problem::new(value.span(), "a string cannot contain control characters"));
        }
        DeValue::Array(items) => {
            items.iter().for_each(|item| refuse_controls_in(item, problems));
        }
        DeValue::Table(table) => refuse_controls(table, problems),
        _ => {}
    }
}

/// Formats all errors with their lines.
pub(super) fn render(problems: &[Problem], source: &SourceFile, colour: Colour) -> String {
    let renderer = match colour {
        Colour::Styled { width } => Renderer::styled().term_width(width),
        Colour::Plain => Renderer::plain(),
    };
    let renderer = renderer.decor_style(DecorStyle::Ascii);
    let mut text = String::new();
    for problem in problems {
        let end = source.text().len();
        let span = problem.span.start.min(end)..problem.span.end.min(end);
        let snippet = Snippet::source(source.text())
            .path(source.name())
            .annotation(AnnotationKind::Primary.span(span));
        let mut group =
            Group::with_title(Level::ERROR.primary_title(&problem.message)).element(snippet);
        if let Some(help) = &problem.help {
            group = group.element(Level::HELP.message(help));
        }
        text.push_str(&renderer.render(&[group]));
        text.push_str("\n\n");
    }
    text
}

/// `name=value` for each entry of a table in the order it is written, or the texts of a list.
pub(super) fn assignments(
    key: &str,
    value: &Spanned<DeValue<'_>>,
    problems: &mut Vec<Problem>,
) -> Vec<Raw> {
    let DeValue::Table(table) = value.get_ref() else { return texts(value, problems) };
    let mut found = Vec::new();
    for (name, value) in Table::in_order(table) {
        match scalar(value.get_ref()).or_else(|| map(value.get_ref())) {
            Some(text) => found.push(Raw { text: format!("{name}={text}"), span: value.span() }),
            None => problems.push(Problem::new(
                value.span(),
                format!("a value of `{key}` must be a string such as \"f32[4,512]\" or a number"),
            )),
        }
    }
    found
}

/// A tensor map as it would be on a command line: `{ tensormap = "A", box = [128, 64] }`.
fn map(value: &DeValue<'_>) -> Option<String> {
    let table = value.as_table()?;
    let mut items = vec![scalar(table.get("tensormap")?.get_ref())?];
    for (key, value) in Table::in_order(table).into_iter().filter(|(key, _)| *key != "tensormap") {
        items.push(match (key, value.get_ref()) {
            ("im2col", DeValue::Table(inner)) => {
                let inner: Option<Vec<String>> = Table::in_order(inner)
                    .into_iter()
                    .map(|(key, value)| Some(format!("{key}={}", number_or_list(value.get_ref())?)))
                    .collect();
                format!("im2col({})", inner?.join(", "))
            }
            (key, value) => format!("{key}={}", number_or_list(value)?),
        });
    }
    Some(format!("tensormap({})", items.join(", ")))
}

/// A number or text, or a list of them in brackets.
fn number_or_list(value: &DeValue<'_>) -> Option<String> {
    let DeValue::Array(items) = value else { return scalar(value) };
    let items: Option<Vec<String>> = items.iter().map(|item| scalar(item.get_ref())).collect();
    items.map(|items| format!("[{}]", items.join(",")))
}

/// A text, or a list of them.
pub(super) fn texts(value: &Spanned<DeValue<'_>>, problems: &mut Vec<Problem>) -> Vec<Raw> {
    let items: Vec<&Spanned<DeValue<'_>>> = match value.get_ref() {
        DeValue::Array(items) => items.iter().collect(),
        _ => vec![value],
    };
    let mut found = Vec::new();
    for item in items {
        match item.get_ref().as_str() {
            Some(text) => found.push(Raw { text: text.to_owned(), span: item.span() }),
            None => problems.push(Problem::new(item.span(), "expected a string")),
        }
    }
    found
}

//! The sides of a comparison in a project: a kernel, a formula, or a sequence of both.

use super::matrix::Values;
use super::read::{LAUNCH, RawLaunch, Reader, SIDE, short};
use super::value::{Raw, Table};
use super::{FormulaText, Step};
use crate::arguments::Arguments;
use toml::Spanned;
use toml::de::DeValue;

/// A step as written.
pub(super) enum RawStep {
    Launch(Raw, RawLaunch),
    Formula(Raw, RawLaunch),
}

impl Step {
    /// The default name of an entry, from its step.
    pub(super) fn short(&self) -> String {
        match self {
            Self::Launch(target) => short(&target.kernel),
            Self::Formula(_) => "formula".to_owned(),
        }
    }
}

impl Reader<'_> {
    /// The steps of a side.
    pub(super) fn side(
        &mut self,
        table: &Table<'_, '_>,
        (kernel, own): (&str, &str),
        common: &RawLaunch,
    ) -> Vec<RawStep> {
        let own = table.get(own).and_then(|value| {
            let found = value.get_ref().as_table();
            if found.is_none() {
                self.problem(
                    value.span(),
                    format!("`{own}` must be a table such as {{ grid = 4 }}"),
                );
            }
            Some(Table::new(found?, value.span(), LAUNCH, &mut self.problems))
        });
        let own = own.map_or_else(RawLaunch::default, |table| self.launch(&table));
        let inherited = own.clone().or(common);
        let Some(value) = table.get(kernel) else {
            self.required(table, kernel);
            return Vec::new();
        };
        match value.get_ref() {
            DeValue::Array(list) => {
                if list.is_empty() {
                    let message = format!("`{kernel}` has no launch: a side needs at least one");
                    self.problem(value.span(), message);
                }
                let steps = list.iter().filter_map(|item| self.raw_step(item, &inherited, None));
                steps.collect()
            }
            DeValue::Table(_) => self.raw_step(value, &inherited, Some(&own)).into_iter().collect(),
            _ => {
                let kernel = self.required(table, kernel);
                kernel.map(|kernel| RawStep::Launch(kernel, inherited)).into_iter().collect()
            }
        }
    }

    /// A step that is a table. Arguments of a formula are given in the step or in its side.
    fn raw_step(
        &mut self,
        item: &Spanned<DeValue<'_>>,
        inherited: &RawLaunch,
        of_side: Option<&RawLaunch>,
    ) -> Option<RawStep> {
        let Some(one) = item.get_ref().as_table() else {
            let message = "a launch must be a table such as { kernel = \"FILE\", grid = 4 }";
            self.problem(item.span(), message);
            return None;
        };
        let known = [SIDE, LAUNCH].concat();
        let one = Table::new(one, item.span(), &known, &mut self.problems);
        let launch = self.launch(&one);
        match (one.get("formula"), one.get("kernel")) {
            (Some(value), Some(_)) => {
                let message = "a step needs a `kernel` or a `formula`, not both";
                self.problem(value.span(), message);
                None
            }
            (Some(_), None) => {
                let formula = self.required(&one, "formula")?;
                let launch = of_side.map_or(launch.clone(), |side| launch.clone().or(side));
                Some(RawStep::Formula(formula, launch))
            }
            (None, _) => {
                let kernel = self.required(&one, "kernel")?;
                Some(RawStep::Launch(kernel, launch.or(inherited)))
            }
        }
    }

    /// A formula with the values of a combination, or `@` and its file relative to the working folder.
    pub(super) fn formula(&mut self, formula: &Raw, values: &Values) -> Option<String> {
        let text = self.filled(formula, values)?;
        Some(match text.strip_prefix('@') {
            Some(file) => format!("@{}", self.folder.join(file).display()),
            None => text,
        })
    }

    /// A step with the values of a combination.
    pub(super) fn step(&mut self, step: &RawStep, values: &Values) -> Option<Step> {
        match step {
            RawStep::Launch(kernel, launch) => {
                self.target(kernel, launch, values).map(|target| Step::Launch(Box::new(target)))
            }
            RawStep::Formula(formula, launch) => {
                let before = self.problems.len();
                let text = self.formula(formula, values)?;
                let specs = self.parse_all(launch.arguments.iter().flatten(), values);
                let mut arguments = Arguments { specs, ..Arguments::default() };
                arguments.specs.iter_mut().for_each(|spec| self.locate_data(spec));
                let formula = FormulaText { text, arguments };
                (self.problems.len() == before).then_some(Step::Formula(formula))
            }
        }
    }
}

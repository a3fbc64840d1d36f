//! A contract given separately from the file: `--ensures`, `--arg` and `--requires` of `prove`.
//!
//! A formula and the shapes of tensors become clauses of the kernel ([`formula::contract`]). They are then treated
//! like clauses of the file: each must have a value, some launch must fulfil them, and a refutation comes with a run.
//!
//! The formula, and a text with the clauses made from flags, are added to the sources. Messages point into them.

mod arguments;

use super::findings;
use super::reading::Text;
use super::select::{Refusal, choose, select};
use crate::Input;
use allsizes::Answer;
use base::{Code, Diagnostic, Span};
use cuda_front::{ExternalClauses, Place};
use formula::contract::{Clause, Contract as Translated, Sizes, contract as translate, shapes};
use interp::Event;
use kir::Kernel;

/// The name of the text with the clauses made from flags.
pub(super) const COMMAND_LINE: &str = "command line";

/// Claims and preconditions in addition to the clauses of a file.
#[derive(Debug, Default)]
pub struct Contract {
    /// A formula of the outputs.
    pub ensures: Option<Input>,
    /// Tensors and their sizes: `C=f32[m,n]`; numbers of scalars: `n=1024`.
    pub arguments: Vec<String>,
    /// Conditions on launches: `n <= blockDim.x*gridDim.x`.
    pub requires: Vec<String>,
}

impl Contract {
    /// Returns `true` if no clause is given.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ensures.is_none() && self.arguments.is_empty() && self.requires.is_empty()
    }
}

/// A kernel under a contract, with the assumptions made in reading the contract.
pub(super) struct Contracted {
    pub(super) kernel: Kernel,
    pub(super) assumed: Vec<String>,
    /// Places of the claims that the formula has a value.
    pub(super) values: Vec<Span>,
}

impl Contracted {
    /// The error in a formula that a run shows to have no value for some sizes.
    pub(super) fn mistake(&self, answer: &Answer) -> Option<Diagnostic> {
        let findings = answer.properties.iter().flat_map(|property| &property.findings);
        let found = findings.into_iter().find(|finding| match &finding.event {
            Event::Postcondition { span, .. } => self.values.contains(span),
            _ => false,
        })?;
        let message = "the formula has no value here for some sizes";
        let found = findings::diagnostic(&self.kernel, found);
        let help = "an element outside its tensor needs a value, `x[… else 0]`; a maximum or mean of no \
            elements needs a condition on sizes, --requires 'n > 0'";
        Some(Diagnostic {
            code: Code::Formula,
            message: message.into(),
            help: Some(help.into()),
            ..found
        })
    }
}

/// Returns the selected kernel with the clauses of a contract. Their texts are added to the sources.
pub(super) fn kernel_with_contract(
    text: &mut Text,
    name: Option<&str>,
    contract: Option<&Contract>,
) -> Result<Contracted, Refusal> {
    let plain = select(text, name)?;
    let Some(contract) = contract else {
        return Ok(Contracted { kernel: plain, assumed: Vec::new(), values: Vec::new() });
    };
    let (sizes, numbers) = arguments::read(&plain, &contract.arguments).map_err(Refusal::Usage)?;
    if let Some(name) = arguments::sized_twice(&plain, &sizes) {
        let message = format!(
            "--arg: the file also gives `{name}` a size (`//@ extent`): keep only one of the two"
        );
        return Err(Refusal::Usage(message));
    }
    let known = arguments::with_length(&plain);
    let stated =
        shapes(&sizes, &known).map_err(|error| Refusal::Usage(format!("--arg: {error}")))?;
    let preconditions = contract.requires.iter().map(|one| format!("requires {one}"));
    let stated = stated.into_iter().chain(numbers).chain(preconditions);
    let stated: String = stated.map(|one| format!("//@ {one};\n")).collect();
    let place = Place::From(text.add(COMMAND_LINE, &stated)?);
    let mut clauses = vec![ExternalClauses { text: stated, place }];
    let (mut assumed, mut values) = (Vec::new(), Vec::new());
    if let Some(input) = &contract.ensures {
        let start = text.add(input.source.name(), input.source.text())?;
        let contract = translate_formula(input, &sizes, start)?;
        for Clause { text, span, is_about_formula } in contract.clauses {
            let span = shift_span(span, start);
            values.extend(is_about_formula.then_some(span));
            let text = format!("//@ {text};\n");
            clauses.push(ExternalClauses { text, place: Place::Of(span) });
        }
        assumed.extend(
            contract
                .rounded
                .into_iter()
                .map(|(written, float)| format!("`{written}` of the formula is {float}")),
        );
    }
    let kernels = cuda_front::kernels_with_clauses(&text.read, own_name(&plain), &clauses);
    let kernel = choose(&text.input.source, name, kernels.map_err(Refusal::Read)?)?;
    Ok(Contracted { kernel, assumed, values })
}

/// The contract of a formula; `start` is its offset among all texts.
fn translate_formula(input: &Input, sizes: &Sizes, start: u32) -> Result<Translated, Refusal> {
    let wrong = |error: formula::Error| {
        let span = shift_span(error.span, start);
        Refusal::Read(Box::new(Diagnostic::error(Code::Formula, span, error.message)))
    };
    let formula = formula::parse(input.source.text()).map_err(wrong)?;
    translate(&formula, sizes).map_err(wrong)
}

fn shift_span(span: Span, start: u32) -> Span {
    Span::new(start + span.start, start + span.end)
}

/// The kernel's name in its declaration.
fn own_name(kernel: &Kernel) -> &str {
    let name = kernel.name.split('<').next().unwrap_or_default();
    name.rsplit("::").next().unwrap_or_default()
}

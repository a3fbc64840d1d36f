//! Compares the readings of all kernels of a file, for tables.

use super::data::{Comparison, Compiling, Discrepancy};
use super::{compare, show};
use crate::Input;
use crate::prove::reading::Refused;
use std::time::Duration;

/// The result for one kernel.
#[derive(Clone, Debug)]
pub struct Reading {
    /// Its name.
    pub kernel: String,
    /// `same`, `different`, `not compared` or `not read`.
    pub result: &'static str,
    /// The extent of the comparison, the difference, or the reason why it was impossible.
    pub detail: String,
    /// The time it took.
    pub took: Duration,
}

/// Compares our reading of each kernel of a file with the compiler's.
#[must_use]
pub fn readings(input: &Input, compiling: &Compiling) -> Vec<Reading> {
    let unread = |kernel: String, detail: String| Reading {
        kernel,
        result: "not read",
        detail,
        took: Duration::ZERO,
    };
    let reading = compiling.reading();
    let kernels = match reading.text(input) {
        Ok(text) => cuda_front::kernels_in(&text.read),
        Err(Refused::Text(error, _)) => Err(error),
        Err(Refused::Option(error)) => return vec![unread(String::new(), error.to_string())],
    };
    let kernels = match kernels {
        Ok(kernels) => kernels,
        Err(error) => return vec![unread(String::new(), error.message.to_string())],
    };
    let each = kernels.into_iter().map(|(name, kernel)| match kernel {
        Err(error) => unread(name, error.message.to_string()),
        Ok(kernel) => {
            let timed = compare(&input.source, &kernel, compiling);
            let (result, detail) = match &timed.comparison {
                Comparison::TurnedOff => ("not compared", String::new()),
                Comparison::Impossible(reason) => ("not compared", reason.clone()),
                Comparison::Same(_) => ("same", show::note(&timed).unwrap_or_default()),
                Comparison::Different(found) => ("different", difference(&found.what)),
            };
            Reading { kernel: name, result, detail, took: timed.took }
        }
    });
    each.collect()
}

fn difference(what: &Discrepancy) -> String {
    match what {
        Discrepancy::Element { array, index, compiled, read } => {
            format!("{array}{index} is {compiled} as compiled, {read} as read")
        }
        Discrepancy::Fault(fault) => format!("compiled code has {fault}"),
        Discrepancy::Parameter { name, compiled, read } => {
            format!("{name} has {compiled} bytes as compiled, {read} as read")
        }
    }
}

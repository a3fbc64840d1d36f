//! Finds elements of outputs that a run never writes. This is unknown if the run stopped or left out blocks.

use crate::arguments::{BuiltLaunch, OutputSpec};
use std::collections::BTreeMap;

/// The elements to check, by output. All others are ignored.
pub(crate) type Parts = BTreeMap<String, Vec<u64>>;

/// An output with unwritten elements.
#[derive(Clone, Debug)]
pub(crate) struct Unwritten {
    /// The name of the output.
    pub(crate) output: String,
    /// The first such element, counted in its buffer.
    pub(crate) first: u64,
    /// One sentence for reports.
    pub(crate) sentence: String,
}

/// Outputs with unwritten elements. Computed once, because there may be many elements. Without
/// parts all elements are checked.
pub(crate) fn unwritten(
    built: &BuiltLaunch,
    result: &exec::Outcome,
    parts: Option<&Parts>,
) -> Vec<Unwritten> {
    if result.gap.is_some() || built.launch.is_partial() {
        return Vec::new();
    }
    let missing = |output: &OutputSpec| {
        let written = &result.written[output.buffer];
        let bytes = output.element.bytes() as usize;
        let is_missing = |&offset: &u64| {
            let start = usize::try_from(offset).unwrap_or(usize::MAX).saturating_mul(bytes);
            !written.contains(start..start.saturating_add(bytes))
        };
        let name = &output.name;
        let part = parts.map(|parts| parts.get(name).map_or(&[][..], Vec::as_slice));
        let matters = |number: u64| part.is_none_or(|part| part.binary_search(&number).is_ok());
        let asked = || (0u64..).zip(output.offsets()).filter(|(number, _)| matters(*number));
        let mut absent = asked().map(|(_, offset)| offset).filter(is_missing);
        let first = absent.next()?;
        let (count, all) = (absent.count() + 1, asked().count());
        let sentence = format!(
            "output `{name}`: {count} of {all} elements are never written, `{name}[{first}]` first"
        );
        Some(Unwritten { output: name.clone(), first, sentence })
    };
    built.outputs.iter().filter_map(missing).collect()
}

//! Elements of outputs that a run never writes. A run that stopped, or ran a part of its blocks, says nothing about them.

use crate::arguments::{BuiltLaunch, OutputSpec};

/// Outputs of which elements were never written, one sentence each; there may be many elements, so it is found once.
pub(crate) fn unwritten(built: &BuiltLaunch, result: &exec::Outcome) -> Vec<String> {
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
        let mut absent = output.offsets().filter(is_missing);
        let first = absent.next()?;
        let (count, all) = (absent.count() + 1, output.offsets().count());
        let name = &output.name;
        Some(format!(
            "output `{name}`: {count} of {all} elements are never written, `{name}[{first}]` first"
        ))
    };
    built.outputs.iter().filter_map(missing).collect()
}

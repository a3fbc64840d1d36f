//! Notes for `equiv`: tensors whose float format differs between the two kernels. The comparison is over the reals,
//! so such tensors are compared as if both held the same numbers, although their bytes differ.

use crate::arguments::ElementType;
use crate::execute::FinishedRun;
use std::collections::BTreeMap;

/// Returns a note for each float tensor with another element type on the other side, by name.
pub(super) fn notes(sides: &[Vec<FinishedRun<'_>>; 2]) -> Vec<String> {
    let [reference, optimised] = sides.each_ref().map(|side| element_types(side));
    let differ = reference.iter().filter_map(|(name, one)| {
        let other = optimised.get(name).filter(|other| *other != one)?;
        (one.is_float() && other.is_float()).then(|| {
            format!(
                "`{name}` is {one} in the reference and {other} in the optimised kernel: compared as if \
                 both held the same numbers"
            )
        })
    });
    differ.collect()
}

/// The element types of the tensors of a side; of several launches, the first that has a tensor counts.
fn element_types<'f>(side: &'f [FinishedRun<'_>]) -> BTreeMap<&'f str, ElementType> {
    let mut elements = BTreeMap::new();
    for launch in side {
        let inputs = launch.built.inputs.iter().map(|input| (input.name.as_str(), input.element));
        let outputs =
            launch.built.outputs.iter().map(|output| (output.name.as_str(), output.element));
        for (name, element) in inputs.chain(outputs) {
            elements.entry(name).or_insert(element);
        }
    }
    elements
}

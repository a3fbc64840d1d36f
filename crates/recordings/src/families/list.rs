//! Expands patterns to cases.
//!
//! A pattern is an instruction in which `<.rn|.rz|>` stands for each of the alternatives in turn. A signature
//! lists the inputs and outputs: `f32 f32 > 32` reads two floats into `%a` and `%b` and records the 32-bit
//! register `%out`. `s8:32` is an 8-bit integer in a 32-bit register. Input predicates are `%p`, recorded
//! predicates `%q`, `%q1`. A pattern without operands gets the outputs and then the inputs.

use crate::case::{Case, Cell, Input, Output, Register, Space};
use crate::kind::InputKind;

/// The number of vectors for a case of a family. Arithmetic has the most corner cases, and a collective needs
/// 32 threads for each try. Comparisons are many and have few outcomes.
fn vectors(family: &str) -> usize {
    match family {
        "integer" | "float" | "functions" | "half" | "convert_pair" | "warp" => 1024,
        "convert" => 512,
        "matrix" | "fragments" => 128,
        _ => 256,
    }
}

/// Collects the cases of a family.
pub(super) struct CaseList {
    pub(super) family: &'static str,
    pub(super) cases: Vec<Case>,
}

impl CaseList {
    /// Adds the cases of a pattern with this signature.
    pub(super) fn add(&mut self, pattern: &str, signature: &str) {
        self.extend(pattern, signature, None);
    }

    /// Like [`add`](Self::add), for an instruction on memory.
    pub(super) fn add_with_cell(&mut self, pattern: &str, signature: &str, space: Space) {
        self.extend(pattern, signature, Some(Cell { space }));
    }

    fn extend(&mut self, pattern: &str, signature: &str, cell: Option<Cell>) {
        let (inputs, outputs) = operands(signature);
        let vectors = vectors(self.family);
        for mut text in expand(pattern) {
            if !text.contains(' ') {
                let outputs = outputs.iter().map(|output| output.name.as_str());
                let names = outputs.chain(inputs.iter().map(|input| input.name.as_str()));
                text = format!("{text} {};", names.collect::<Vec<_>>().join(", "));
            }
            let (inputs, outputs) = (inputs.clone(), outputs.clone());
            self.cases.push(Case { family: self.family, text, inputs, outputs, cell, vectors });
        }
    }
}

/// Parses the inputs and outputs of a signature. Signatures are constants of this crate, so an unknown kind of input
/// panics: the first test that uses the cases shows it.
fn operands(signature: &str) -> (Vec<Input>, Vec<Output>) {
    let (reads, writes) = signature.split_once('>').unwrap_or((signature, ""));
    let mut letters = "abcdefgh".chars();
    let mut inputs: Vec<Input> = Vec::new();
    for word in reads.split_whitespace() {
        let (name, word) = match word.split_once('=') {
            Some((name, word)) => (Some(name), word),
            None => (None, word),
        };
        let (word, bits) = match word.split_once(':') {
            Some((word, bits)) => (word, bits.parse().ok()),
            None => (word, None),
        };
        let kind =
            InputKind::parse(word).unwrap_or_else(|| panic!("no kind `{word}` in `{signature}`"));
        let register = Register::of(bits.unwrap_or(kind.bits()));
        let name = match (name, register) {
            (Some(name), _) => format!("%{name}"),
            (None, Register::Predicate) => "%p".to_owned(),
            (None, _) => format!("%{}", letters.next().unwrap_or('z')),
        };
        inputs.push(Input { name, register, kind });
    }
    let mut outputs: Vec<Output> = Vec::new();
    for word in writes.split_whitespace() {
        let (name, word) = match word.split_once('=') {
            Some((name, word)) => (Some(name), word),
            None => (None, word),
        };
        let register = match word {
            "pred" => Register::Predicate,
            bits => Register::of(bits.parse().unwrap_or(64)),
        };
        let stem = if register == Register::Predicate { "q" } else { "out" };
        let earlier = outputs.iter().filter(|output| output.name[1..].starts_with(stem)).count();
        let name = match (name, earlier) {
            (Some(name), _) => format!("%{name}"),
            (None, 0) => format!("%{stem}"),
            (None, _) => format!("%{stem}{earlier}"),
        };
        outputs.push(Output { name, register });
    }
    (inputs, outputs)
}

/// Expands a pattern, with alternatives in the written order.
fn expand(pattern: &str) -> Vec<String> {
    let Some((before, rest)) = pattern.split_once('<') else { return vec![pattern.to_owned()] };
    let Some((choices, after)) = rest.split_once('>') else { return vec![pattern.to_owned()] };
    let tails = expand(after);
    let heads = choices.split('|').map(|choice| format!("{before}{choice}"));
    heads.flat_map(|head| tails.iter().map(move |tail| format!("{head}{tail}"))).collect()
}

/// Returns the width of the narrowest register for a value of this type: at least 16 bits, and 32 for other names.
pub(super) fn bits(ty: &str) -> u32 {
    InputKind::parse(ty).map_or(32, InputKind::bits).max(16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alternatives_are_read_in_order() {
        assert_eq!(expand("a<.x|.y|>b<1|2>"), ["a.xb1", "a.xb2", "a.yb1", "a.yb2", "ab1", "ab2"]);
    }

    #[test]
    fn operands_get_names_by_position() {
        let (inputs, outputs) = operands("s8:32 f64 pred > 32 32 pred");
        let names: Vec<_> = inputs.iter().map(|input| input.name.as_str()).collect();
        assert_eq!(names, ["%a", "%b", "%p"]);
        assert_eq!(inputs[0].register, Register::B32);
        let names: Vec<_> = outputs.iter().map(|output| output.name.as_str()).collect();
        assert_eq!(names, ["%out", "%out1", "%q"]);
    }
}

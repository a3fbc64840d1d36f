//! Tables of expansions: the code that a compiler emits for a function, as steps of a graph.
//!
//! ```text
//! Log f32
//!   %1 = less x 0x800000
//!   %2 = mul x 0x4b000000
//!   %3 = select %1 %2 x
//!   …
//! ```
//!
//! A block begins with the function and the format of its arguments and result; the last step is the result. Operands
//! are `x` and `y`, earlier steps, or bits of constants; `-` negates. The steps are those of [`super::graph`],
//! printed by [`super::steps`]. `fast c v` is `v` for arguments for which `c` holds. It stands for a select with an
//! ignored side, which makes `c` an assumption.

use ir::{ArgumentRange, Format, RealFunction};
use std::sync::LazyLock;

/// A value: a step, negated or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) step: usize,
    pub(crate) negated: bool,
}

/// A step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// An argument of the function, by number, to be found.
    Hole(usize),
    /// A constant.
    Bits(u64),
    /// The value (second) if the condition (first) holds; elsewhere anything.
    Fast(Part, Part),
    /// An operation by name.
    Op(&'static str, Vec<Part>),
}

/// An expansion of a function.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    pub(crate) function: RealFunction,
    pub(crate) format: Format,
    pub(crate) steps: Vec<Step>,
    pub(crate) root: Part,
    /// Index and bits of a constant argument.
    pub(crate) constant: Option<(usize, u64)>,
    /// Condition under which the value is infinite and the root is ignored. The program must contain a select between
    /// infinity and something computed from the root.
    pub(crate) infinite: Option<Part>,
    /// The arguments for which it is the function, if cases are left out.
    pub(crate) range: Option<ArgumentRange>,
}

impl Template {
    /// Constants that every program with this expansion contains.
    pub(crate) fn constants(&self) -> impl Iterator<Item = u64> {
        self.steps.iter().filter_map(|step| match step {
            Step::Bits(bits) => Some(*bits),
            _ => None,
        })
    }

    /// Returns the format in which each step is used; `None` where it is used as an integer. The arms of a select have
    /// the format of the select.
    pub(crate) fn formats(&self) -> Vec<Option<Format>> {
        let mut formats = vec![None; self.steps.len()];
        formats[self.root.step] = Some(self.format);
        // Operands come before the operations that use them.
        for (at, step) in self.steps.iter().enumerate().rev() {
            let (parts, format) = match step {
                Step::Fast(_, value) => (std::slice::from_ref(value), formats[at]),
                Step::Op("select", parts) => (parts.get(1..).unwrap_or_default(), formats[at]),
                Step::Op(name, parts) => (parts.as_slice(), operand_format(name)),
                Step::Hole(_) | Step::Bits(_) => continue,
            };
            for part in parts {
                formats[part.step] = formats[part.step].or(format);
            }
        }
        formats
    }

    /// Number of arguments to find.
    pub(crate) fn holes(&self) -> usize {
        self.function.arguments() - usize::from(self.constant.is_some())
    }

    /// Returns `true` if it leaves out cases for some arguments.
    pub(crate) fn is_partial(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::Fast(..)))
    }
}

/// The tables, as text.
const TABLES: [&str; 3] = [
    include_str!("tables/single.txt"),
    include_str!("tables/double.txt"),
    include_str!("tables/half.txt"),
];

/// All expansions. Parsed once, because a thousand small kernels use them a thousand times.
pub(crate) static TEMPLATES: LazyLock<Vec<Template>> =
    LazyLock::new(|| TABLES.iter().flat_map(|table| parse(table)).collect());

impl Template {
    /// Returns the expansion without its last select of infinity. Compilers merge constant operations on the result
    /// into that select: `x = 0 ? −∞ : 10·log x`.
    pub(crate) fn before_infinity(&self) -> Option<Self> {
        let Step::Op("select", parts) = &self.steps[self.root.step] else { return None };
        let &[condition, a, b] = parts.as_slice() else { return None };
        let negated = |part: Part| Part { negated: !part.negated, ..part };
        let (condition, rest) = match (self.is_infinity(a), self.is_infinity(b)) {
            (true, false) => (condition, b),
            (false, true) => (negated(condition), a),
            _ => return None,
        };
        let root = if self.root.negated { negated(rest) } else { rest };
        Some(Self { root, infinite: Some(condition), ..self.clone() })
    }

    fn is_infinity(&self, part: Part) -> bool {
        matches!(self.steps[part.step], Step::Bits(bits) if is_infinity(bits, self.format))
    }
}

/// Returns `true` if the bits are an infinity.
pub(crate) fn is_infinity(bits: u64, format: Format) -> bool {
    match format {
        Format::F32 => bits & 0x7fff_ffff == 0x7f80_0000,
        Format::F64 => bits & (u64::MAX >> 1) == f64::INFINITY.to_bits(),
        _ => false,
    }
}

/// Returns the format of an operation's float operands by its name in the tables.
fn operand_format(name: &str) -> Option<Format> {
    let mut words = name.split('.').filter(|word| *word != "sat");
    let format = |word: &str| match word {
        "f32" => Some(Format::F32),
        "f64" => Some(Format::F64),
        "f16" => Some(Format::F16),
        _ => None,
    };
    match words.next()? {
        "convert" => format(words.next()?),
        "int" | "resize" | "concat" | "part" => None,
        // The name of an operation on singles may end with a rounding, and with nothing else.
        _ => match words.next_back() {
            None | Some("rna" | "rz" | "rm" | "rp") => Some(Format::F32),
            Some(word) => format(word),
        },
    }
}

/// Parses the blocks of a table. A block that does not parse is left out; a test checks that there is none.
pub(crate) fn parse(table: &'static str) -> Vec<Template> {
    let mut blocks: Vec<Vec<&str>> = Vec::new();
    for line in table.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        match (line.starts_with(' '), blocks.last_mut()) {
            (true, Some(block)) => block.push(line),
            _ => blocks.push(vec![line]),
        }
    }
    blocks.iter().filter_map(|block| parse_block(block)).collect()
}

/// Parses a block: its head, and one step a line.
fn parse_block(lines: &[&'static str]) -> Option<Template> {
    let (head, body) = lines.split_first()?;
    let mut words = head.split_whitespace();
    let function = function(words.next()?)?;
    let format = match words.next()? {
        "f32" => Format::F32,
        "f64" => Format::F64,
        "f16" => Format::F16,
        _ => return None,
    };
    let mut steps = vec![Step::Hole(0), Step::Hole(1)];
    let mut names: Vec<(&str, usize)> = vec![("x", 0), ("y", 1)];
    let mut root = Part { step: 0, negated: false };
    for line in body {
        let (name, step) = line.split_once('=')?;
        let mut words = step.split_whitespace();
        let op = words.next()?;
        let mut parts = Vec::new();
        for word in words {
            let (negated, word) = match word.strip_prefix('-') {
                Some(word) => (true, word),
                None => (false, word),
            };
            let step = match word.strip_prefix("0x") {
                Some(digits) => {
                    steps.push(Step::Bits(u64::from_str_radix(digits, 16).ok()?));
                    steps.len() - 1
                }
                None => names.iter().find(|(name, _)| *name == word)?.1,
            };
            parts.push(Part { step, negated });
        }
        steps.push(match (op, parts.as_slice()) {
            ("fast", [condition, value]) => Step::Fast(*condition, *value),
            _ => Step::Op(op, parts),
        });
        let negated = name.trim().starts_with('-');
        let name = name.trim().trim_start_matches('-');
        names.push((name, steps.len() - 1));
        root = Part { step: steps.len() - 1, negated };
    }
    Some(Template { function, format, steps, root, constant: None, infinite: None, range: None })
}

/// Returns a function by its name in the tables.
fn function(name: &str) -> Option<RealFunction> {
    use RealFunction as F;
    let all = [
        F::Exp,
        F::Exp2,
        F::Exp10,
        F::Expm1,
        F::Log,
        F::Log2,
        F::Log10,
        F::Log1p,
        F::Tanh,
        F::Sinh,
        F::Cosh,
        F::Erf,
        F::Erfc,
        F::Sin,
        F::Cos,
        F::Tan,
        F::Cbrt,
        F::Pow,
        F::Hypot,
        F::Fmod,
        F::RoundAway,
        F::Asin,
        F::Acos,
        F::Atan,
        F::Atan2,
        F::Asinh,
        F::Acosh,
        F::Atanh,
        F::NormCdf,
        F::ErfInv,
        F::Lgamma,
    ];
    all.into_iter().find(|function| format!("{function:?}") == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_of_the_tables_is_read() {
        let heads = TABLES.iter().flat_map(|table| table.lines());
        let heads = heads.filter(|line| line.starts_with(|c: char| c.is_ascii_alphabetic()));
        assert_eq!(TEMPLATES.len(), heads.count());
        assert!(TEMPLATES.len() > 50);
    }
}

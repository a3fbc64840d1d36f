//! Prints expressions, conditions and values, in kernels and in contracts.

use crate::expr::{Access, CmpOp, Cond, Fold, Int, IntOp, Val, ValOp};
use crate::nest::{Kernel, Space};

/// The language of an expression.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    Cuda,
    Contract,
}

/// The binding strength of an operation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Choice,
    Or,
    And,
    Compare,
    Shift,
    Sum,
    Product,
    Atom,
}

pub(super) struct Printer<'a> {
    pub(super) kernel: &'a Kernel,
    language: Language,
}

/// A printed expression and the binding strength of its outermost operation.
type Text = (String, Level);

/// Returns the text, in parentheses if it binds less than `least`.
fn parenthesised(text: Text, least: Level) -> String {
    if text.1 >= least { text.0 } else { format!("({})", text.0) }
}

fn power_of_two(int: &Int) -> Option<u32> {
    match int {
        Int::Const(number) if *number > 1 && number.count_ones() == 1 => {
            Some(number.trailing_zeros())
        }
        _ => None,
    }
}

/// Returns `true` for a sum that contains a difference, except for a difference of a variable and something.
fn has_difference(int: &Int) -> bool {
    match int {
        Int::Bin(IntOp::Sub, left, _) => !matches!(**left, Int::Var(_)),
        Int::Bin(IntOp::Add, left, right) => {
            let any = |int: &Int| matches!(int, Int::Bin(IntOp::Sub, ..)) || has_difference(int);
            any(left) || any(right)
        }
        _ => false,
    }
}

impl<'a> Printer<'a> {
    pub(super) fn new(kernel: &'a Kernel, language: Language) -> Self {
        Self { kernel, language }
    }

    pub(super) fn int(&self, int: &Int) -> String {
        self.int_text(int).0
    }

    fn int_text(&self, int: &Int) -> Text {
        match int {
            Int::Const(number) if *number < 0 => (number.to_string(), Level::Sum),
            Int::Const(number) => (number.to_string(), Level::Atom),
            Int::Var(var) => (self.kernel.vars.name(*var).to_string(), Level::Atom),
            Int::Bin(op, a, b) => self.operation(*op, a, b),
            Int::Select(cond, a, b) => {
                let cond = parenthesised(self.cond_text(cond), Level::Or);
                (format!("{cond} ? {} : {}", self.int(a), self.int(b)), Level::Choice)
            }
        }
    }

    fn operation(&self, op: IntOp, a: &Int, b: &Int) -> Text {
        let spelling = &self.kernel.spelling;
        let cuda = self.language == Language::Cuda;
        let (left, right) = (self.int_text(a), self.int_text(b));
        match op {
            IntOp::Add => {
                // C adds from the left: without parentheses, the sum before the subtraction is larger and might
                // overflow.
                let least = if has_difference(b) { Level::Product } else { Level::Sum };
                (
                    format!(
                        "{} + {}",
                        parenthesised(left, Level::Sum),
                        parenthesised(right, least)
                    ),
                    Level::Sum,
                )
            }
            IntOp::Sub => (
                format!(
                    "{} - {}",
                    parenthesised(left, Level::Sum),
                    parenthesised(right, Level::Product)
                ),
                Level::Sum,
            ),
            IntOp::Mul => {
                if let Some(power) = power_of_two(b)
                    && spelling.shifts
                    && cuda
                {
                    return (
                        format!("{} << {power}", parenthesised(left, Level::Product)),
                        Level::Shift,
                    );
                }
                let (left, right) =
                    if spelling.swapped_products && cuda { (right, left) } else { (left, right) };
                // A product of a quotient is not the quotient of a product.
                let right = parenthesised(right, Level::Atom);
                (format!("{}*{right}", parenthesised(left, Level::Product)), Level::Product)
            }
            IntOp::Div | IntOp::Rem => {
                let sign = if op == IntOp::Div { "/" } else { " % " };
                let (left, right) =
                    (parenthesised(left, Level::Product), parenthesised(right, Level::Atom));
                (format!("{left}{sign}{right}"), Level::Product)
            }
            IntOp::Shl => (
                format!(
                    "{} << {}",
                    parenthesised(left, Level::Sum),
                    parenthesised(right, Level::Sum)
                ),
                Level::Shift,
            ),
            IntOp::Xor => (
                format!(
                    "{} ^ {}",
                    parenthesised(left, Level::Sum),
                    parenthesised(right, Level::Sum)
                ),
                Level::Choice,
            ),
            IntOp::Min | IntOp::Max => self.extreme(op == IntOp::Min, left, right),
        }
    }

    fn extreme(&self, is_min: bool, left: Text, right: Text) -> Text {
        let name = if is_min { "min" } else { "max" };
        if self.language == Language::Contract {
            return (format!("\\{name}({}, {})", left.0, right.0), Level::Atom);
        }
        if self.kernel.spelling.choices {
            let sign = if is_min { "<" } else { ">" };
            let (left, right) =
                (parenthesised(left, Level::Shift), parenthesised(right, Level::Shift));
            return (format!("{left} {sign} {right} ? {left} : {right}"), Level::Choice);
        }
        (format!("{name}({}, {})", left.0, right.0), Level::Atom)
    }

    pub(super) fn cond(&self, cond: &Cond) -> String {
        self.cond_text(cond).0
    }

    /// Prints a condition as part of a conjunction.
    pub(super) fn conjunct(&self, cond: &Cond) -> String {
        parenthesised(self.cond_text(cond), Level::And)
    }

    fn cond_text(&self, cond: &Cond) -> Text {
        match cond {
            Cond::Cmp(op, a, b) => {
                let (a, b) = (
                    parenthesised(self.int_text(a), Level::Shift),
                    parenthesised(self.int_text(b), Level::Shift),
                );
                (format!("{a} {} {b}", sign(*op)), Level::Compare)
            }
            Cond::And(conds) if conds.is_empty() => ("true".to_string(), Level::Atom),
            Cond::And(conds) => (self.join_conditions(conds, " && ", Level::And), Level::And),
            Cond::Or(conds) => (self.join_conditions(conds, " || ", Level::Compare), Level::Or),
            Cond::PowerOfTwo(int) => (format!("\\is_pow2({})", self.int(int)), Level::Atom),
        }
    }

    fn join_conditions(&self, conds: &[Cond], by: &str, least: Level) -> String {
        let parts: Vec<String> =
            conds.iter().map(|cond| parenthesised(self.cond_text(cond), least)).collect();
        parts.join(by)
    }

    pub(super) fn access(&self, access: &Access) -> String {
        let array = &self.kernel.arrays[access.array.0];
        if array.space == Space::Static {
            let dims: String =
                access.coords.iter().map(|coord| format!("[{}]", self.int(coord))).collect();
            return format!("{}{dims}", array.name);
        }
        let uses_helper = self.kernel.spelling.index_helper && self.language == Language::Cuda;
        if uses_helper && access.coords.len() == array.shape.len() && array.shape.len() > 1 {
            return format!(
                "{}[{}]",
                array.name,
                self.index_by_helper(&access.coords, &array.shape)
            );
        }
        format!("{}[{}]", array.name, self.int(&array.linear(&access.coords)))
    }

    fn index_by_helper(&self, coords: &[Int], shape: &[Int]) -> String {
        let mut index = self.int(&coords[0]);
        for (coord, extent) in coords.iter().zip(shape).skip(1) {
            index = format!("index_of({index}, {}, {})", self.int(coord), self.int(extent));
        }
        index
    }

    pub(super) fn val(&self, val: &Val) -> String {
        self.val_text(val).0
    }

    fn val_text(&self, val: &Val) -> Text {
        match val {
            Val::Const(number) => {
                let suffix = if self.language == Language::Cuda { ".0f" } else { "" };
                let level = if *number < 0 { Level::Sum } else { Level::Atom };
                (format!("{number}{suffix}"), level)
            }
            Val::Lowest => ("-INFINITY".to_string(), Level::Sum),
            Val::Highest => ("INFINITY".to_string(), Level::Atom),
            Val::Load(access) => (self.access(access), Level::Atom),
            Val::Local(local) => (self.kernel.locals[local.0].clone(), Level::Atom),
            Val::Bin(op, a, b) => self.val_operation(*op, a, b),
            Val::Select(cond, a, b) => {
                let cond = parenthesised(self.cond_text(cond), Level::Or);
                let (a, b) = (
                    parenthesised(self.val_text(a), Level::Or),
                    parenthesised(self.val_text(b), Level::Or),
                );
                (format!("{cond} ? {a} : {b}"), Level::Choice)
            }
            Val::Fold(fold) => (self.fold(fold), Level::Atom),
        }
    }

    fn val_operation(&self, op: ValOp, a: &Val, b: &Val) -> Text {
        let (a, b) = (self.val_text(a), self.val_text(b));
        match op {
            ValOp::Add => (
                format!("{} + {}", parenthesised(a, Level::Sum), parenthesised(b, Level::Sum)),
                Level::Sum,
            ),
            ValOp::Sub => (
                format!("{} - {}", parenthesised(a, Level::Sum), parenthesised(b, Level::Product)),
                Level::Sum,
            ),
            ValOp::Mul => {
                let (a, b) = (parenthesised(a, Level::Product), parenthesised(b, Level::Atom));
                (format!("{a}*{b}"), Level::Product)
            }
            ValOp::Max | ValOp::Min => {
                let name = match (op == ValOp::Max, self.language) {
                    (true, Language::Cuda) => self.max_name(),
                    (false, Language::Cuda) => "fminf",
                    (true, Language::Contract) => "\\max",
                    (false, Language::Contract) => "\\min",
                };
                (format!("{name}({}, {})", a.0, b.0), Level::Atom)
            }
        }
    }

    /// Returns the function that finds the greater of two values.
    pub(super) fn max_name(&self) -> &'static str {
        if self.kernel.spelling.max_helper { "greater" } else { "fmaxf" }
    }

    fn fold(&self, fold: &Fold) -> String {
        let name = self.kernel.vars.name(fold.var);
        let (from, to) = (self.int(&fold.from), self.int(&fold.to));
        let body = self.val(&fold.body);
        match fold.op {
            ValOp::Max => format!("\\fold(max, {name}, {from}, {to}, {body})"),
            ValOp::Min => format!("\\fold(min, {name}, {from}, {to}, {body})"),
            ValOp::Mul => format!("\\fold(*, {name}, {from}, {to}, {body})"),
            ValOp::Add | ValOp::Sub => format!("\\sum({name}, {from}, {to}, {body})"),
        }
    }
}

fn sign(op: CmpOp) -> &'static str {
    match op {
        CmpOp::Lt => "<",
        CmpOp::Le => "<=",
        CmpOp::Gt => ">",
        CmpOp::Ge => ">=",
        CmpOp::Eq => "==",
        CmpOp::Ne => "!=",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bases::Base;
    use crate::nest::Dim;
    use testing::Random;

    fn text(int: &Int) -> String {
        let kernel = Base::draw(&mut Random::new(0)).kernel("k");
        Printer::new(&kernel, Language::Cuda).int(int)
    }

    #[test]
    fn parentheses_keep_the_tree() {
        let (t, b) = (Dim::X.thread(), Dim::X.block());
        assert_eq!(text(&((b + 1) * (t - 2))), "(blockIdx.x + 1)*(threadIdx.x - 2)");
        assert_eq!(text(&(b * (t / 2))), "blockIdx.x*(threadIdx.x/2)");
        assert_eq!(text(&(b / 2 * t)), "blockIdx.x/2*threadIdx.x");
        assert_eq!(text(&(b - (t + 1))), "blockIdx.x - (threadIdx.x + 1)");
        assert_eq!(text(&(b % (t * 2))), "blockIdx.x % (threadIdx.x*2)");
    }

    /// A sum must not be larger in between than the coordinates are, because it might overflow.
    #[test]
    fn differences_are_computed_first() {
        let (t, b) = (Dim::X.thread(), Dim::X.block());
        assert_eq!(text(&(b * 4 + (t + b - 2))), "blockIdx.x*4 + (threadIdx.x + blockIdx.x - 2)");
        assert_eq!(text(&(b * 4 + (t - 2))), "blockIdx.x*4 + threadIdx.x - 2");
    }

    #[test]
    fn extremes_and_choices() {
        let t = Int::Var(Dim::X.thread());
        assert_eq!(text(&(t.clone().min(3) + 1)), "min(threadIdx.x, 3) + 1");
        let chosen =
            Int::Select(Box::new(t.clone().lt(2)), Box::new(t.clone()), Box::new(0.into()));
        assert_eq!(text(&(chosen * 2)), "(threadIdx.x < 2 ? threadIdx.x : 0)*2");
    }
}

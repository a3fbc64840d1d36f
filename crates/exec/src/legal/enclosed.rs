//! The domain for runs about the bits of floats: it encloses their legal values and decides if two are equal.
//!
//! Floats with bits fixed by the manual stay bits, and the engine encloses the others ([`super::alias`]). On
//! request, inputs are tracked, too, by *value numbering*: the same operation with the same modifiers on the
//! same values gives the same value, bit for bit. Operands of sums and products may be exchanged. Nothing is
//! reordered, so equal numbers are equal on every machine.
//!
//! Two values with different numbers may still be equal. If the manual leaves a choice that may differ at
//! another place or time, the value is fresh: sums of atomic additions, and sums inside matrix instructions.
//!
//! On request, conditions are tracked: booleans are formulas over unconstrained conditions
//! ([`crate::formulas`]), one for each comparison. So nothing is assumed about floats, including NaN.
//!
//! A sum that may be fused with a product is the same only at the same instruction with its operands in the
//! same order: of two products, the first may be fused and the other rounded. This assumes that the assembler
//! treats all copies of an instruction alike, for example those of an unrolled loop. A run that used the
//! assumption reports it ([`Enclosed::relies_on_alike_fusion`]).

use super::repeated::Repeated;
use crate::concrete::{self, Conversion};
use crate::domain::{
    Binary, Connective, Domain, Inputs, Instruction, LIMIT, Numbers, Truths, Unary, Value, Values,
};
use crate::finding::Place;
use crate::formulas::{Formula, Formulas};
use crate::lanes::{Mask, WARP};
use ir::{ArgumentRange, FloatMode, Format, RealFunction, Relation, Rounding};
use rustc_hash::{FxHashMap, FxHashSet};

/// The largest number of values kept for reuse. Further values are always fresh, which is sound.
const MAX_KNOWN: usize = 1 << 25;

/// The operation that makes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Operation {
    Constant(Format, u64),
    Integer(i128),
    Unary(Unary),
    Binary(Binary),
    Fma,
    Function(RealFunction),
    Convert(Conversion),
    Compare(Relation),
    Connect(Connective),
    Not,
    Select,
}

/// The modifiers of an operation on a machine.
type Modifiers = Option<(Format, FloatMode, Option<Place>)>;

/// An operation with its modifiers.
type ModifiedOperation = (Operation, Modifiers);

/// Booleans as formulas.
#[derive(Debug, Default)]
struct Conditions {
    formulas: Formulas,
    by_value: FxHashMap<Value, Formula>,
    values: FxHashMap<Formula, Value>,
}

impl Conditions {
    /// Returns the formula of a boolean, creating an atom for a new one.
    fn of(&mut self, value: Value) -> Formula {
        if let Some(&formula) = self.by_value.get(&value) {
            return formula;
        }
        let atom = self.formulas.atom();
        self.by_value.insert(value, atom);
        self.values.insert(atom, value);
        atom
    }
}

/// The domain of legal results.
#[derive(Debug, Default)]
pub struct Enclosed {
    last_value: Value,
    /// Set if inputs are tracked.
    tracks_inputs: bool,
    instruction: Option<Instruction>,
    /// Numbers of operations with their modifiers.
    operation_numbers: FxHashMap<ModifiedOperation, u32>,
    /// The operation looked up last: the lanes of a warp share it.
    last_operation: Option<(ModifiedOperation, u32)>,
    /// Values by the number of their operation, and their operands.
    known: FxHashMap<(u32, [Value; 3]), Value>,
    /// Products that may be fused, also behind operations that leave them unchanged.
    fusible: FxHashSet<Value>,
    /// Constants of magnitude 0 (`true`) and of magnitude 1 (`false`).
    neutral: FxHashMap<Value, bool>,
    relies_on_alike_fusion: bool,
    /// Conditions, if they are tracked.
    conditions: Option<Conditions>,
    /// What several runs share, if their values are compared.
    repeated: Option<Repeated>,
}

impl Enclosed {
    /// A domain that tracks conditions, but no inputs.
    #[must_use]
    pub fn conditional() -> Self {
        Self { conditions: Some(Conditions::default()), ..Self::default() }
    }

    /// A domain that tracks inputs, so that it can compare two values.
    #[must_use]
    pub fn numbering() -> Self {
        Self { tracks_inputs: true, ..Self::default() }
    }

    /// A domain that tracks inputs and conditions, for several runs of a launch whose values are compared.
    #[must_use]
    pub fn for_several_runs() -> Self {
        Self {
            conditions: Some(Conditions::default()),
            repeated: Some(Repeated::default()),
            ..Self::numbering()
        }
    }

    /// Returns `true` if two values counted as equal because the matrix instruction at a place gives the same result
    /// whenever it is executed on the same operands.
    #[must_use]
    pub fn relies_on_repeatable_products(&self) -> bool {
        self.repeated.as_ref().is_some_and(|repeated| repeated.relies_on_products)
    }

    /// Returns `true` if two values counted as equal because the assembler fuses all copies of an instruction
    /// alike.
    #[must_use]
    pub fn relies_on_alike_fusion(&self) -> bool {
        self.relies_on_alike_fusion
    }

    /// Creates a fresh value.
    fn fresh(&mut self) -> Value {
        let next = self.last_value + 1;
        // If no handles are left, the value is not tracked.
        if next >= LIMIT {
            return 0;
        }
        self.last_value = next;
        next
    }

    /// The modifiers of the current instruction, with its place if the result depends on more than those.
    fn modifiers(&self, operation: Operation, is_fusible: bool) -> Modifiers {
        let Instruction { format, mode, place } = self.instruction?;
        let is_local = is_fusible
            || matches!(
                operation,
                // The treatment of NaN is not a part of these operations, so instructions may differ in it.
                Operation::Compare(_) | Operation::Binary(Binary::Min | Binary::Max)
                // The precision of a library's function is unspecified.
                | Operation::Function(_)
            );
        Some((format, mode, is_local.then_some(place)))
    }

    /// Returns the number of an operation with its modifiers.
    #[inline]
    fn number_of(&mut self, operation: ModifiedOperation) -> u32 {
        if let Some((last, number)) = &self.last_operation
            && *last == operation
        {
            return *number;
        }
        let next = self.operation_numbers.len() as u32;
        let number = *self.operation_numbers.entry(operation).or_insert(next);
        self.last_operation = Some((operation, number));
        number
    }

    /// Returns `true` if a sum may be fused with a product among its operands.
    fn is_fusible_sum(&self, operation: Operation, operands: [Value; 3]) -> bool {
        let contracts = self.instruction.is_some_and(|instruction| instruction.mode.contract);
        let sums = matches!(operation, Operation::Binary(Binary::Add | Binary::Sub));
        sums && contracts && operands.iter().any(|operand| self.fusible.contains(operand))
    }

    /// Returns the value of an operation.
    fn make(&mut self, operation: Operation, mut operands: [Value; 3]) -> Value {
        if !self.tracks_inputs {
            return self.fresh();
        }
        let is_fusible_sum = self.is_fusible_sum(operation, operands);
        let commutes = matches!(
            operation,
            Operation::Fma
                | Operation::Binary(Binary::Add | Binary::Mul | Binary::Min | Binary::Max)
                | Operation::Connect(_)
        );
        if commutes && !is_fusible_sum && operands[1] < operands[0] {
            operands.swap(0, 1);
        }
        let key =
            (self.number_of((operation, self.modifiers(operation, is_fusible_sum))), operands);
        if let Some(&value) = self.known.get(&key) {
            self.relies_on_alike_fusion |= is_fusible_sum;
            return value;
        }
        let value = self.fresh();
        if value != 0 {
            self.mark_fusible(operation, operands, value);
        }
        if value != 0 && self.known.len() < MAX_KNOWN {
            self.known.insert(key, value);
        }
        value
    }

    /// Marks a value as a product that may be fused. That includes the result of an operation that may leave such a
    /// product unchanged: times one, plus zero, a minimum, a conversion. The assembler drops such operations.
    fn mark_fusible(&mut self, operation: Operation, operands: [Value; 3], value: Value) {
        if let Operation::Constant(format, bits) = operation {
            let number = concrete::to_double(format, bits).abs();
            if number == 0.0 || number == 1.0 {
                self.neutral.insert(value, number == 0.0);
            }
            return;
        }
        let contracts = self.instruction.is_some_and(|instruction| instruction.mode.contract);
        let fusible = operands.map(|operand| self.fusible.contains(&operand));
        let [a, b, c] = operands.map(|operand| self.neutral.get(&operand).copied());
        let (zero, one) = (Some(true), Some(false));
        let is_fusible = match operation {
            Operation::Binary(Binary::Mul) => {
                contracts || fusible[0] && b == one || fusible[1] && a == one
            }
            Operation::Binary(Binary::Div) => fusible[0] && b == one,
            Operation::Binary(Binary::Add | Binary::Sub) => {
                fusible[0] && b == zero || fusible[1] && a == zero
            }
            Operation::Fma => {
                c == zero && (fusible[0] && b == one || fusible[1] && a == one)
                    || fusible[2] && (a == zero || b == zero)
            }
            Operation::Binary(_)
            | Operation::Unary(Unary::Negate | Unary::Abs | Unary::Saturate | Unary::Rectify)
            | Operation::Unary(Unary::Finite(_) | Unary::Round(_))
            | Operation::Convert(_)
            | Operation::Select => fusible.contains(&true),
            // These results are no products, so they cannot be fused.
            Operation::Unary(_)
            | Operation::Function(_)
            | Operation::Constant(..)
            | Operation::Integer(_)
            | Operation::Compare(_)
            | Operation::Connect(_)
            | Operation::Not => false,
        };
        if is_fusible {
            self.fusible.insert(value);
        }
    }

    /// Returns the truth of a formula, or else its handle.
    fn formula(&mut self, make: impl FnOnce(&mut Conditions) -> Formula) -> Result<bool, Value> {
        let Some(conditions) = &mut self.conditions else { return Err(0) };
        let formula = make(conditions);
        if let Some(truth) = formula.known() {
            return Ok(truth);
        }
        if let Some(&value) = conditions.values.get(&formula) {
            return Err(value);
        }
        let value = self.fresh();
        if let Some(conditions) = self.conditions.as_mut().filter(|_| value != 0) {
            conditions.by_value.insert(value, formula);
            conditions.values.insert(formula, value);
        }
        Err(value)
    }

    fn apply_per_lane<const N: usize>(
        &mut self,
        operation: Operation,
        operands: [&Values; N],
        lanes: Mask,
        out: &mut Values,
    ) {
        for lane in lanes.iter() {
            let mut values = [0; 3];
            values.iter_mut().zip(operands).for_each(|(value, operand)| *value = operand[lane]);
            out[lane] = self.make(operation, values);
        }
    }

    fn defer_per_lane<const N: usize>(
        &mut self,
        operation: Operation,
        operands: [&Values; N],
        lanes: Mask,
        out: &mut Truths,
    ) {
        let mut values = [0; WARP];
        self.apply_per_lane(operation, operands, lanes, &mut values);
        lanes.iter().for_each(|lane| out.defer(lane, values[lane]));
    }
}

impl Domain for Enclosed {
    fn inputs(&mut self, inputs: &Inputs) -> Option<Value> {
        let earlier = self.repeated.as_ref().and_then(|repeated| repeated.inputs(inputs));
        if earlier.is_some() {
            return earlier;
        }
        let count = Value::try_from(inputs.count).ok().filter(|_| self.tracks_inputs)?;
        let first = self.last_value + 1;
        let last = self.last_value.checked_add(count).filter(|last| *last < LIMIT)?;
        self.last_value = last;
        if let Some(repeated) = &mut self.repeated {
            repeated.keep_inputs(inputs, first);
        }
        Some(first)
    }

    fn constant(&mut self, format: Format, bits: u64) -> Value {
        self.make(Operation::Constant(format, bits), [0; 3])
    }

    fn integer(&mut self, number: i128) -> Value {
        self.make(Operation::Integer(number), [0; 3])
    }

    fn instruction(&mut self, instruction: Instruction) {
        self.instruction = Some(instruction);
    }

    fn no_instruction(&mut self) {
        self.instruction = None;
    }

    fn fma(&mut self, operands: [&Values; 3], _: Rounding, lanes: Mask, out: &mut Values) {
        self.apply_per_lane(Operation::Fma, operands, lanes, out);
    }

    fn matrix_instruction(&mut self, place: Place) {
        if let Some(repeated) = &mut self.repeated {
            repeated.matrix_instruction = Some(place);
        }
    }

    fn dot(&mut self, a: &[Value], b: &[Value], c: Value) -> Value {
        let next = self.last_value + 1;
        let Some(repeated) = self.repeated.as_mut().filter(|_| next < LIMIT) else {
            return self.fresh();
        };
        match repeated.dot((a, b, c), next) {
            Some(earlier) => earlier,
            None => self.fresh(),
        }
    }

    fn unordered_sum(&mut self, _: Value, _: Value) -> Value {
        self.fresh()
    }

    fn binary(&mut self, op: Binary, operands: [&Values; 2], lanes: Mask, out: &mut Values) {
        self.apply_per_lane(Operation::Binary(op), operands, lanes, out);
    }

    fn unary(&mut self, op: Unary, a: &Values, lanes: Mask, out: &mut Values) {
        self.apply_per_lane(Operation::Unary(op), [a], lanes, out);
    }

    fn function(
        &mut self,
        function: (RealFunction, Option<ArgumentRange>),
        operands: [&Values; 2],
        lanes: Mask,
        out: &mut Values,
    ) {
        self.apply_per_lane(Operation::Function(function.0), operands, lanes, out);
    }

    fn convert(&mut self, conversion: &Conversion, a: &Values, lanes: Mask, out: &mut Values) {
        self.apply_per_lane(Operation::Convert(*conversion), [a], lanes, out);
    }

    fn compare(
        &mut self,
        relation: Relation,
        operands: [&Values; 2],
        lanes: Mask,
        out: &mut Truths,
    ) {
        self.defer_per_lane(Operation::Compare(relation), operands, lanes, out);
    }

    fn connect(&mut self, op: Connective, operands: [&Values; 2], lanes: Mask, out: &mut Truths) {
        if self.conditions.is_none() {
            return self.defer_per_lane(Operation::Connect(op), operands, lanes, out);
        }
        for lane in lanes.iter() {
            let formula = self.formula(|conditions| {
                let [a, b] = operands.map(|operand| conditions.of(operand[lane]));
                match op {
                    Connective::And => conditions.formulas.and(a, b),
                    Connective::Or => conditions.formulas.or(a, b),
                    Connective::Xor => conditions.formulas.xor(a, b),
                }
            });
            match formula {
                Ok(truth) => out.decide(lane, truth),
                Err(value) => out.defer(lane, value),
            }
        }
    }

    fn not(&mut self, a: &Values, lanes: Mask, out: &mut Values) {
        if self.conditions.is_none() {
            return self.apply_per_lane(Operation::Not, [a], lanes, out);
        }
        for lane in lanes.iter() {
            let opposite = self.formula(|conditions| {
                let formula = conditions.of(a[lane]);
                conditions.formulas.not(formula)
            });
            // The negation of an untracked boolean is untracked.
            out[lane] = opposite.err().unwrap_or(0);
        }
    }

    fn follows_conditions(&self) -> bool {
        self.conditions.is_some()
    }

    fn unknown_condition(&mut self) -> Option<Value> {
        self.conditions.as_ref()?;
        Some(self.fresh()).filter(|value| *value != 0)
    }

    fn chooses_undefined(&self) -> bool {
        self.conditions.is_none()
    }

    fn select(&mut self, condition: &Values, [a, b]: [&Values; 2], lanes: Mask, out: &mut Values) {
        self.apply_per_lane(Operation::Select, [condition, a, b], lanes, out);
    }

    fn same(&mut self, a: Value, b: Value) -> Option<bool> {
        (a == b && a != 0).then_some(true)
    }

    fn numbers(&self) -> Numbers {
        Numbers::Legal
    }

    fn round(&mut self, _: Value, _: Rounding) -> Option<i128> {
        None
    }

    fn explain(&self, _: Value) -> String {
        match self.tracks_inputs || self.conditions.is_some() {
            true => "tensor data that is not given".to_owned(),
            false => "a float whose last bits are not fixed".to_owned(),
        }
    }
}

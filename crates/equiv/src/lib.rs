//! Equivalence of two kernels: both run symbolically, and each output element of one is compared with that of
//! the other over the reals.
//!
//! Both runs also look for races, barrier misuse and memory errors ([`exec::check_in`]): only without them is
//! an output a function of the inputs. [`decide`] defines the meaning of terms and decides their equality. A
//! difference comes with a point, and both kernels run again on intervals there.

mod answer;
mod approximation;
mod assumed;
mod assumed_properties;
mod assumed_ranges;
mod choices;
mod clock;
mod closed;
mod compare;
mod conditions;
mod constants;
mod decisions;
mod difference;
mod exact;
mod expf;
mod formula;
mod functions;
mod handles;
mod hidden;
mod magnitude;
mod marks;
mod mismatch;
mod nearest;
mod number_sets;
mod numeric;
mod operations;
mod options;
mod ordinary;
mod overflow;
mod place_integers;
mod position;
mod ranges;
mod readable;
mod recheck;
mod replay;
mod rounding;
mod sample;
mod scalar;
mod sequence;
mod settle;
mod side;
mod side_run;
mod symbolic;
mod table;
mod term_hashes;
mod term_memory;
mod tickets;
mod trial;
mod undefined;
mod witness;

pub use answer::{Answer, Compared};
pub use assumed::impossible;
pub use assumed_properties::Instruction;
pub use compare::compare;
pub use difference::Difference;
pub use exact::ScalarDecision;
pub use formula::{Formula, FormulaError};
pub use hidden::HiddenDifference;
pub use interval::Enclosed;
pub use marks::UnprovedRange;
pub use mismatch::{DifferingProperty, Mismatch};
pub use nearest::Nearest;
pub use options::Options;
pub use ordinary::InputContents;
pub use overflow::Overflow;
pub use position::{OpenElement, OpenReason, Position, Reliance};
pub use recheck::Rechecked;
pub use replay::Floats;
pub use rounding::{Constant, ConstantMeaning};
pub use settle::{check_indexed, check_tickets, doubtful_copies, open_stores, settle};
pub use side::{Assumption, Input, InputKind, Literal, Output, Side, StructuredElement};
pub use symbolic::Symbolic;
pub use term::{Number, indices};
pub use tickets::{BitForBit, check_bit_for_bit};
pub use trial::{show_out_of_bounds, show_race};
pub use witness::Witness;

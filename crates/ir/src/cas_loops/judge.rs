//! Decides whether the paths through a loop of compare-and-swap perform an update, and which.
//!
//! The conditions are those of [`super::several_blocks`]. Errs towards "no update".

use super::operation::function_of;
use super::paths::{Compared, Comparison, End, Fact, GUESS, Node, Path, Swap, Value, Walk};
use crate::{AtomicOp, BlockId, Op, Operand, Ordering, Relation, Scalar, Skips, Width};

/// Decides which update the paths of a loop perform.
pub(super) struct Judge<'w, 'f> {
    pub walk: &'w Walk<'f>,
    /// Set if the guess at the loop's first block was read from memory.
    pub is_read: bool,
    /// The blocks of the loop.
    pub blocks: &'w [BlockId],
}

impl Judge<'_, '_> {
    /// The update that all paths agree on.
    pub(super) fn update(&self, paths: &[&Path]) -> Option<Performed> {
        let mut performed: Option<Performed> = None;
        for path in paths {
            let Some(swap) = path.swap else { continue };
            let one = self.performed(path, swap)?;
            match &performed {
                Some(before) if *before != one => return None,
                _ => performed = Some(one),
            }
        }
        let performed = performed?;
        let mut swaps_always = true;
        for path in paths {
            match path.end {
                End::Exit if self.has_swapped(path) => {}
                End::Exit => {
                    swaps_always = false;
                    self.would_change_nothing(path, &performed).then_some(())?;
                }
                End::Loop => self.may_go_on(path, &performed).then_some(())?,
            }
        }
        let relaxed = matches!(self.walk.region.swap.ordering, Ordering::Relaxed(_));
        let skips = match swaps_always {
            true => Skips::Never,
            false if paths.iter().all(|path| self.swaps_better(path, &performed)) => {
                Skips::UnlessBetter
            }
            // A path may swap a better number for itself.
            false => Skips::Perhaps,
        };
        (swaps_always || relaxed).then_some(Performed { skips, ..performed })
    }

    /// Returns `true` if the path swaps at most a number that is better than the guess.
    fn swaps_better(&self, path: &Path, performed: &Performed) -> bool {
        let Some(swap) = path.swap else { return true };
        let mut known = path.facts[..swap.facts].iter();
        performed.better.is_some_and(|better| {
            known.any(|fact| {
                let found = fact.between(performed.value, swap.compared);
                found.is_some_and(|found| found.implies(better))
            })
        })
    }

    /// The update of one swap, if it succeeds.
    fn performed(&self, path: &Path, swap: Swap) -> Option<Performed> {
        let width = self.walk.region.swap.scalar.width();
        if !self.walk.depends(swap.new) {
            let known = &path.facts[..swap.facts];
            let compared = known.iter().filter_map(|fact| fact.between(swap.new, swap.compared));
            let (better, op, scalar, keeps) =
                { compared }.find_map(|comparison| improvement(comparison, width))?;
            return Some(Performed {
                better: Some(better),
                value: swap.new,
                negated: false,
                op,
                scalar,
                packed: 1,
                keeps_subnormals: keeps,
                skips: Skips::Never,
            });
        }
        let Node::Result(place, _, operands) = self.walk.node(swap.new) else { return None };
        let function = self.walk.region.function;
        let op = &function.blocks[place.0].instructions[place.1].op;
        if let Op::Select { condition, if_true, if_false, .. } = op {
            let value_of = |operand| self.walk.operand_of(operands, operand);
            return self.selected(
                value_of(*condition)?,
                [value_of(*if_true)?, value_of(*if_false)?],
                swap,
            );
        }
        let is_guess =
            |operand: Operand| self.walk.operand_of(operands, operand) == Some(swap.compared);
        let constant =
            |operand: Operand| match self.walk.node(self.walk.operand_of(operands, operand)?) {
                Node::Constant(bits) => Some(*bits),
                _ => None,
            };
        let update = function_of(function, self.walk.region.swap, op, &is_guess, &constant)?;
        let value = self.walk.operand_of(operands, update.operand)?;
        let better = match (update.op, update.scalar) {
            (AtomicOp::Max | AtomicOp::Min, Scalar::Integer { width, signed }) => {
                let relation = if update.op == AtomicOp::Max { Relation::Gt } else { Relation::Lt };
                Some(Comparison { relation, of: Compared::Integers { signed, width } })
            }
            _ => None,
        };
        (!self.walk.depends(value)).then_some(Performed {
            better,
            value,
            negated: update.negated,
            op: update.op,
            scalar: update.scalar,
            packed: update.packed,
            keeps_subnormals: update.keeps_subnormals,
            skips: Skips::Never,
        })
    }

    /// `v > guess ? v : guess` and its like.
    fn selected(&self, condition: Value, [yes, no]: [Value; 2], swap: Swap) -> Option<Performed> {
        let Node::Result(place, _, operands) = self.walk.node(condition) else { return None };
        let op = &self.walk.region.function.blocks[place.0].instructions[place.1].op;
        let (comparison, sides) = Comparison::of(op)?;
        let [a, b] = sides.map(|side| self.walk.operand_of(operands, side));
        let fact = Fact { comparison, sides: [a?, b?] };
        let guess = swap.compared;
        let (value, compared) = match (yes == guess, no == guess) {
            (false, true) => (yes, fact.between(yes, guess)?),
            (true, false) => (no, fact.between(no, guess)?.negated()),
            _ => return None,
        };
        let width = self.walk.region.swap.scalar.width();
        let (better, op, scalar, keeps) = improvement(compared, width)?;
        (!self.walk.depends(value)).then_some(Performed {
            better: Some(better),
            value,
            negated: false,
            op,
            scalar,
            packed: 1,
            keeps_subnormals: keeps,
            skips: Skips::Never,
        })
    }

    /// The comparison of the swap's result with the guess: `Some(true)` if they are equal.
    fn outcome(&self, path: &Path) -> Option<bool> {
        let swap = path.swap?;
        let width = self.walk.region.swap.scalar.width();
        path.facts.iter().find_map(|fact| {
            let comparison = fact.between(swap.compared, swap.old)?;
            match (comparison.relation, comparison.of) {
                (Relation::Eq, Compared::Integers { width: of, .. }) if of == width => Some(true),
                (Relation::Ne, Compared::Integers { width: of, .. }) if of == width => Some(false),
                _ => None,
            }
        })
    }

    fn has_swapped(&self, path: &Path) -> bool {
        self.outcome(path) == Some(true)
    }

    /// Returns `true` if the path has read a number that the update would not change.
    fn would_change_nothing(&self, path: &Path, performed: &Performed) -> bool {
        let Some(better) = performed.better else { return false };
        path.facts.iter().any(|fact| {
            let [a, b] = fact.sides;
            let number = if a == performed.value { b } else { a };
            let is_read = match self.walk.node(number) {
                Node::Read(GUESS) => self.is_read,
                Node::Read(_) => true,
                _ => false,
            };
            is_read
                && fact
                    .between(performed.value, number)
                    .is_some_and(|comparison| comparison.implies(better.negated()))
        })
    }

    /// Returns `true` if a path that goes on has not swapped, or finds its value better than the number swapped out.
    fn may_go_on(&self, path: &Path, performed: &Performed) -> bool {
        let (Some(swap), outcome) = (path.swap, self.outcome(path)) else { return false };
        let ordered = |better: Comparison| match better.of {
            Compared::Integers { .. } => true,
            // An unordered comparison holds for a NaN on every iteration: the loop would never end.
            Compared::Floats { or_unordered, .. } => !or_unordered,
        };
        let still = |better: Comparison| {
            path.facts.iter().any(|fact| {
                fact.between(performed.value, swap.old).is_some_and(|found| found.implies(better))
            })
        };
        outcome == Some(false)
            || !self.loads_others()
                && performed.better.is_some_and(|better| ordered(better) && still(better))
    }

    /// Returns `true` if the loop loads something besides guesses.
    fn loads_others(&self) -> bool {
        let function = self.walk.region.function;
        self.walk.visited.iter().any(|(&(block, position), visit)| {
            let op = &function.blocks[block].instructions[position].op;
            // Loads of guesses depend on the swapped number.
            self.blocks.contains(&block) && matches!(op, Op::Load(_)) && !visit.depends
        })
    }
}

/// The update that a swap performs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Performed {
    /// The comparison of the operand with the old number for which memory changes.
    pub better: Option<Comparison>,
    pub value: Value,
    /// The operand is the negative of the value.
    pub negated: bool,
    pub op: AtomicOp,
    pub scalar: Scalar,
    pub packed: u8,
    pub keeps_subnormals: bool,
    /// When a path leaves without a swap.
    pub skips: Skips,
}

/// The update that stores a number if this comparison of it with the old one holds.
fn improvement(
    comparison: Comparison,
    width: Width,
) -> Option<(Comparison, AtomicOp, Scalar, bool)> {
    match comparison.of {
        Compared::Integers { signed, width: of } => {
            // Equal integers are the same bits.
            let (op, relation) = match comparison.relation {
                Relation::Gt | Relation::Ge => (AtomicOp::Max, Relation::Gt),
                Relation::Lt | Relation::Le => (AtomicOp::Min, Relation::Lt),
                Relation::Eq | Relation::Ne => return None,
            };
            let better = Comparison { relation, ..comparison };
            (of == width).then_some((better, op, Scalar::Integer { width, signed }, false))
        }
        Compared::Floats { format, or_unordered, flush } => {
            let op = match (comparison.relation, or_unordered) {
                (Relation::Gt, false) => AtomicOp::Raise,
                (Relation::Gt, true) => AtomicOp::RaiseOrNan,
                (Relation::Lt, false) => AtomicOp::Lower,
                (Relation::Lt, true) => AtomicOp::LowerOrNan,
                _ => return None,
            };
            (format.width() == width).then_some((comparison, op, Scalar::Float(format), !flush))
        }
    }
}

//! Loops of compare-and-swap of other forms: with tests before or behind the swap, `break`, and loads in the loop.
//!
//! ```text
//! old = *p;
//! while (v > old) old = atomicCAS(p, old, v);
//! ```
//!
//! Such a loop is an update if, on every path through it ([`super::paths`]):
//!
//! 1. a swap stores `f(guess)`, where `f` is the same on all paths. It may store `v` itself if a comparison has shown
//!    that `v` is better than the guess; then `f` is a maximum or a minimum;
//! 2. a path that leaves has swapped with success, or has compared a number that it read with `v` and found it at
//!    least as good, so that an update at the time of that read would have changed nothing;
//! 3. a path that goes on has failed to swap, or found `v` better than the number that the swap returned. In the
//!    second case the update may happen twice; a maximum or minimum is the same then, if the loop loads nothing but
//!    the swapped number: another load might find what the first update wrote.
//!
//! No register that the loop writes may be used behind it. If a path leaves without a swap, the swap must be relaxed.
//! The loads of guesses are removed. They may be weak: an aligned load of one word sees a value that the word had.

use super::early_exit::skip_empty_blocks;
use super::is_weak_load;
use super::judge::{Judge, Performed};
use super::operation::Update;
use super::paths::{End, Fact, GUESS, Node, Path, Place, Region, Swap, Value, Walk, canonical};
use crate::cfg::loops_around;
use crate::liveness::{live, registers};
use crate::{
    AddressBase, Atomic, BlockId, Function, Instr, Op, Operand, Ordering, Reg, Terminator,
};
use base::Index;
use std::collections::{BTreeMap, BTreeSet};

/// Blocks in front of a loop, tried as the beginning of the update.
const MAX_CHAIN: usize = 6;

/// A loop with a compare-and-swap.
pub(super) struct Loop {
    header: BlockId,
    blocks: Vec<BlockId>,
    /// The only target of the edges out of the loop, apart from empty blocks.
    exit: BlockId,
    swap_at: Place,
}

/// The update that a loop performs, and the code to keep.
struct Found {
    start: Place,
    region: Vec<BlockId>,
    /// Instructions that do not depend on the swapped number.
    kept: Vec<Instr>,
    update: Update,
}

impl Loop {
    /// The innermost loop around a swap, if it has one entry and one exit.
    pub(super) fn around(function: &Function, swap_at: Place) -> Option<Self> {
        let inside = loops_around(function, swap_at.0).pop()?;
        let blocks: Vec<BlockId> =
            function.blocks.indices().filter(|block| inside[block.position()]).collect();
        let leads = |from: BlockId, to: BlockId| {
            function.blocks[from].terminator.successors().any(|next| next == to)
        };
        let outside = || function.blocks.indices().filter(|block| !blocks.contains(block));
        let entered = |block: &BlockId| {
            *block == BlockId::from_position(0) || outside().any(|from| leads(from, *block))
        };
        let mut entries = blocks.iter().copied().filter(entered);
        let (header, None) = (entries.next()?, entries.next()) else { return None };
        let mut exits =
            blocks.iter().flat_map(|block| function.blocks[*block].terminator.successors());
        let exit = exits.find(|next| !blocks.contains(next))?;
        let same = |next: BlockId| {
            blocks.contains(&next)
                || skip_empty_blocks(function, next) == skip_empty_blocks(function, exit)
        };
        exits.all(same).then_some(Self { header, blocks, exit, swap_at })
    }

    /// Replaces the loop by the update that it performs, if it performs one.
    pub(super) fn replace(&self, function: &mut Function) -> bool {
        let starts = self.starts(function);
        let found = starts.iter().rev().find_map(|chain| self.recognise(function, chain));
        let Some(found) = found else { return false };
        found.write(function, self.exit, self.swap_at);
        true
    }

    /// Chains of blocks that lead to the loop, each from a load of the swapped bytes on. The first one is empty.
    fn starts(&self, function: &Function) -> Vec<(Vec<BlockId>, usize)> {
        let mut starts = vec![(Vec::new(), 0)];
        let (mut chain, mut next) = (Vec::new(), self.header);
        while let Some(block) = self.only_predecessor(function, next)
            && chain.len() < MAX_CHAIN
        {
            chain.insert(0, block);
            let instructions = &function.blocks[block].instructions;
            for (position, instruction) in instructions.iter().enumerate().rev() {
                if self.reads_swapped_bytes(function, &instruction.op) {
                    starts.push((chain.clone(), position));
                } else if !(instruction.op.is_of_registers() || is_weak_load(&instruction.op)) {
                    return starts;
                }
            }
            next = block;
        }
        starts
    }

    /// The only block in front of this one, if control can go from there only to this one or behind the loop.
    fn only_predecessor(&self, function: &Function, block: BlockId) -> Option<BlockId> {
        let leads = |from: &BlockId| {
            !(self.blocks.contains(from) && block == self.header)
                && function.blocks[*from].terminator.successors().any(|next| next == block)
        };
        let mut leading = function.blocks.indices().filter(leads);
        let (from, None) = (leading.next()?, leading.next()) else { return None };
        let exit = skip_empty_blocks(function, self.exit);
        let here = |next: BlockId| next == block || skip_empty_blocks(function, next) == exit;
        let first = block == BlockId::from_position(0);
        (!first && function.blocks[from].terminator.successors().all(here)).then_some(from)
    }

    fn reads_swapped_bytes(&self, function: &Function, op: &Op) -> bool {
        let swap = &function.blocks[self.swap_at.0].instructions[self.swap_at.1].op;
        let (Op::Load(load), Op::Atomic(swap)) = (op, swap) else { return false };
        let [read, swapped] =
            [load.address, swap.address].map(|address| canonical(function, address));
        (read, load.space, load.width) == (swapped, swap.space, swap.scalar.width())
            && !load.non_coherent
    }

    /// Makes weak loads of guesses relaxed: an outdated guess is harmless, because the swap checks it.
    pub(super) fn relax_guesses(&self, function: &mut Function) {
        let swap = &function.blocks[self.swap_at.0].instructions[self.swap_at.1].op;
        let Op::Atomic(swap) = swap else { return };
        let (ordering, base) = (swap.ordering, canonical(function, swap.address).base);
        let Some(scope) = ordering.scope() else { return };
        let moves = |block: &BlockId| {
            let written = function.blocks[*block]
                .instructions
                .iter()
                .map(|instruction| registers(instruction).0);
            written.flatten().any(|one| base == AddressBase::Register(one))
        };
        if self.blocks.iter().any(moves) {
            return;
        }
        let chains = self.starts(function).into_iter();
        let places = chains.filter_map(|(chain, at)| Some((*chain.first()?, at)));
        let mut places: Vec<Place> = places.collect();
        for block in &self.blocks {
            places.extend((0..function.blocks[*block].instructions.len()).map(|at| (*block, at)));
        }
        places.retain(|(block, at)| {
            self.reads_swapped_bytes(function, &function.blocks[*block].instructions[*at].op)
        });
        for (block, at) in places {
            if let Op::Load(load) = &mut function.blocks[block].instructions[at].op
                && load.ordering == Ordering::Weak
            {
                load.ordering = Ordering::Relaxed(scope);
            }
        }
    }

    /// Follows all paths from a place on, and judges them.
    fn recognise(&self, function: &Function, (chain, at): &(Vec<BlockId>, usize)) -> Option<Found> {
        let Op::Atomic(swap) = &function.blocks[self.swap_at.0].instructions[self.swap_at.1].op
        else {
            return None;
        };
        let start = (chain.first().copied().unwrap_or(self.header), *at);
        let inside: Vec<BlockId> = chain.iter().chain(&self.blocks).copied().collect();
        let address = canonical(function, swap.address);
        let (header, swap_at) = (self.header, self.swap_at);
        let region = Region { function, inside, header, swap_at, swap, address };
        let mut walk = Walk::new(region);
        walk.find_copies(start);
        let initial = walk.initial.clone();
        let empty =
            || Path { registers: initial.clone(), facts: Vec::new(), swap: None, end: End::Exit };
        if !chain.is_empty() {
            walk.walk(start, empty())?;
        }
        let entering = std::mem::take(&mut walk.paths);
        let mut state = HeaderState::new(self, &mut walk, &entering)?;
        loop {
            walk.paths.clear();
            let begin =
                Path { registers: state.registers.clone(), facts: state.facts.clone(), ..empty() };
            walk.walk((self.header, 0), begin)?;
            let back = std::mem::take(&mut walk.paths);
            let changed = state.meet(&walk, &back)?;
            if !changed {
                let leaving = entering.iter().filter(|path| path.end == End::Exit);
                let paths: Vec<&Path> = leaving.chain(&back).collect();
                let swaps = paths.iter().filter_map(|path| path.swap);
                let fresh = |swap: Swap| state.is_fresh(&walk, swap.compared);
                { swaps }.all(fresh).then_some(())?;
                let judge = Judge { walk: &walk, is_read: state.is_read, blocks: &self.blocks };
                let update = judge.update(&paths)?;
                let is_jump = |block: &BlockId| {
                    matches!(function.blocks[*block].terminator, Terminator::Jump(_))
                };
                let enters = chain.iter().all(is_jump);
                let kept = Kept { walk: &walk, start, exit: self.exit, enters };
                return kept.code(function, update);
            }
        }
    }
}

/// The state at the first block of a loop.
struct HeaderState {
    /// The registers that carry the guess.
    carried: Vec<Reg>,
    registers: BTreeMap<Reg, Value>,
    guess: Value,
    /// Comparisons of the guess that hold whenever control comes here.
    facts: Vec<Fact>,
    /// Set if the guess was read from memory, in every case.
    is_read: bool,
    /// The number of reads in front of the loop.
    reads: u32,
}

impl HeaderState {
    fn new(found: &Loop, walk: &mut Walk<'_>, entering: &[Path]) -> Option<Self> {
        let function = walk.region.function;
        let alive = &live(function)[found.header];
        let blocks = found.blocks.iter().map(|block| &function.blocks[*block]);
        let written: BTreeSet<Reg> = blocks
            .flat_map(|block| {
                block.instructions.iter().flat_map(|instruction| registers(instruction).0)
            })
            .collect();
        let carried: Vec<Reg> = written.into_iter().filter(|one| alive.has(*one)).collect();
        // Control enters from outside the recognised blocks: several carried registers may hold different numbers.
        if entering.is_empty() && carried.len() > 1 {
            return None;
        }
        let guess = walk.add(Node::Read(GUESS));
        let registers = carried.iter().map(|register| (*register, guess)).collect();
        let is_read = !entering.is_empty();
        let mut state =
            Self { carried, registers, guess, facts: Vec::new(), is_read, reads: walk.reads() };
        let mut entering = entering.iter().filter(|path| path.end == End::Loop);
        if let Some(first) = entering.next() {
            // Registers from in front of the loop keep their values in it.
            for (register, value) in &first.registers {
                state.registers.entry(*register).or_insert(*value);
            }
            state.facts = state.facts_at(walk, first)?;
            let _ = state.meet_all(walk, entering)?;
        }
        Some(state)
    }

    /// Returns `true` for the guess, and for a number that the loop itself has read.
    fn is_fresh(&self, walk: &Walk<'_>, value: Value) -> bool {
        matches!(walk.node(value), Node::Read(number) if *number > self.reads)
    }

    /// The number that a path brings to the loop in the carried registers.
    fn brought(&self, path: &Path) -> Option<Option<Value>> {
        let mut values = self.carried.iter().map(|register| path.registers.get(register));
        let Some(first) = values.next() else { return Some(None) };
        values.all(|value| value == first).then_some(first.copied())
    }

    /// What is known about the guess at the end of a path.
    fn facts_at(&mut self, walk: &Walk<'_>, path: &Path) -> Option<Vec<Fact>> {
        let brought = self.brought(path)?;
        let is_number = |value: Value| matches!(walk.node(value), Node::Read(_));
        self.is_read &= self.carried.is_empty() || brought.is_some_and(is_number);
        let mut facts = Vec::new();
        for fact in &path.facts {
            let sides =
                fact.sides.map(|side| if Some(side) == brought { self.guess } else { side });
            let stays = |side: Value| side == self.guess || !walk.depends(side);
            if sides.into_iter().all(stays) && sides.contains(&self.guess) {
                let about_old_guess =
                    fact.sides.contains(&self.guess) && brought != Some(self.guess);
                if !about_old_guess {
                    facts.push(Fact { sides, ..*fact });
                }
            }
        }
        Some(facts)
    }

    /// Keeps what these paths agree on; `true` if something is lost.
    fn meet_all<'p>(
        &mut self,
        walk: &Walk<'_>,
        paths: impl Iterator<Item = &'p Path>,
    ) -> Option<bool> {
        let (before, was_read) = (self.facts.len(), self.is_read);
        for path in paths {
            let facts = self.facts_at(walk, path)?;
            self.facts.retain(|fact| facts.contains(fact));
        }
        Some((before, was_read) != (self.facts.len(), self.is_read))
    }

    /// Merges the state of the paths that go back to the loop's first block.
    fn meet(&mut self, walk: &Walk<'_>, paths: &[Path]) -> Option<bool> {
        let back = || paths.iter().filter(|path| path.end == End::Loop);
        // The next guess must be a number that this iteration has read: with an old one the loop may never end.
        let carries = |path: &Path| match self.brought(path) {
            Some(Some(value)) => self.is_fresh(walk, value) && value != self.guess,
            Some(None) => self.carried.is_empty(),
            None => false,
        };
        back().all(carries).then_some(())?;
        self.meet_all(walk, back())
    }
}

/// Chooses the instructions that stay.
struct Kept<'w, 'f> {
    walk: &'w Walk<'f>,
    start: Place,
    exit: BlockId,
    /// Set if control always comes from the start to the loop.
    enters: bool,
}

impl Kept<'_, '_> {
    fn code(&self, function: &Function, performed: Performed) -> Option<Found> {
        let mut writers: BTreeMap<Reg, Vec<Place>> = BTreeMap::new();
        for &(block, at) in self.walk.visited.keys() {
            for register in registers(&function.blocks[block].instructions[at]).0 {
                writers.entry(register).or_default().push((block, at));
            }
        }
        let operand = match self.walk.node(performed.value) {
            Node::Constant(bits) => Operand::Constant(*bits),
            Node::Before(register) => {
                (!writers.contains_key(register)).then_some(Operand::Register(*register))?
            }
            Node::Result(_, register, _) => Operand::Register(*register),
            Node::Read(_) => return None,
        };
        let after = &live(function)[self.exit];
        let mut needed: Vec<Reg> =
            writers.keys().copied().filter(|writer| after.has(*writer)).collect();
        // A register that is used after the loop must be written on every path: before the first branch.
        let in_front =
            |register: &Reg| writers[register].iter().all(|place| place.0 == self.start.0);
        needed.iter().all(in_front).then_some(())?;
        // Loads may be out of bounds, so all of them stay, and each must be one that the loop always executes.
        let executed =
            |block| block == self.start.0 || self.enters && block == self.walk.region.header;
        for (&(block, at), visit) in &self.walk.visited {
            let instruction = &function.blocks[block].instructions[at];
            if !visit.depends && is_weak_load(&instruction.op) {
                executed(block).then_some(())?;
                needed.extend(registers(instruction).0);
            }
        }
        needed.extend(match operand {
            Operand::Register(register) => Some(register),
            Operand::Constant(_) => None,
        });
        let mut kept = BTreeSet::new();
        while let Some(register) = needed.pop() {
            let Some(places) = writers.get(&register) else { continue };
            let [place] = places[..] else { return None };
            let is_free = !self.walk.visited[&place].depends;
            let instruction = &function.blocks[place.0].instructions[place.1];
            is_free.then_some(())?;
            if kept.insert((self.walk.visited[&place].order, place)) {
                needed.extend(registers(instruction).1);
            }
        }
        let all = |place: &Place| function.blocks[place.0].instructions[place.1].clone();
        Some(Found {
            start: self.start,
            region: self.walk.region.inside.clone(),
            kept: kept.iter().map(|(_, place)| all(place)).collect(),
            update: Update {
                op: performed.op,
                scalar: performed.scalar,
                packed: performed.packed,
                operand,
                negated: performed.negated,
                keeps_subnormals: performed.keeps_subnormals,
                skips: performed.skips,
            },
        })
    }
}

impl Found {
    /// Replaces the region by the update.
    fn write(self, function: &mut Function, exit: BlockId, swap_at: Place) {
        let swap = function.blocks[swap_at.0].instructions[swap_at.1].clone();
        let Op::Atomic(compared) = &swap.op else { return };
        let address = canonical(function, compared.address);
        let compared = Atomic { address, ..compared.clone() };
        let mut instructions = function.blocks[self.start.0].instructions[..self.start.1].to_vec();
        instructions.extend(self.kept);
        instructions.extend(self.update.instructions(function, &compared, &swap, Vec::new()));
        for block in self.region.into_iter().filter(|block| *block != self.start.0) {
            let unreachable = &mut function.blocks[block];
            (unreachable.instructions, unreachable.terminator) =
                (Vec::new(), Terminator::Jump(exit));
            unreachable.span = swap.span;
        }
        let block = &mut function.blocks[self.start.0];
        (block.instructions, block.terminator) = (instructions, Terminator::Jump(exit));
        // The branch back is part of the update.
        block.span = swap.span;
    }
}

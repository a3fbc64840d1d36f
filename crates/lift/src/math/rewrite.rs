//! Plans and applies the changes to a function once expansions are recognised.

mod completeness;

use super::graph::{Code, Edge, Node};
use super::matching::{Match, find, find_product, names};
use super::slow::{self, Region};
use super::template::{Step, Template, is_infinity};
use super::values::{Site, Values, for_each_write};
use base::Span;
use ir::{
    ArgumentRange, BlockId, FloatBinary, FloatMode, FloatUnary, Format, Function, Instr, LocId, Op,
    Operand, Program, RealFunction, Reg, Register,
};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// Changes to a function.
#[derive(Debug, Default)]
pub(crate) struct Edits {
    registers: Vec<Register>,
    /// Inserted at the start of blocks, in the order of planning: a copy comes before the function that reads it.
    starts: BTreeMap<BlockId, Vec<Instr>>,
    /// Replacements of instructions.
    instead: BTreeMap<(BlockId, usize), Vec<Instr>>,
    /// Inserted after an instruction.
    behind: BTreeMap<(BlockId, usize), Vec<Instr>>,
    /// Branches that a replaced function may have made useless: their sides computed only that function. `true` for a
    /// function with an unknown path, whose range says that code was dropped ([`ArgumentRange::drops_code`]).
    branches: BTreeMap<BlockId, bool>,
}

impl Edits {
    pub(crate) fn is_empty(&self) -> bool {
        self.starts.is_empty() && self.instead.is_empty()
    }
}

/// The recognised templates, by position, and the changes.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) found: BTreeSet<usize>,
    pub(crate) edits: Edits,
    /// Recognised slow paths for large arguments.
    pub(crate) regions: Vec<Region>,
}

/// A value in a register, to be compared with the templates.
#[derive(Clone, Copy)]
struct Candidate {
    block: BlockId,
    /// The instruction that computes it; `None` at a join.
    position: Option<usize>,
    register: Reg,
    value: Edge,
}

/// The state of the planning.
struct Planner<'p, 'v> {
    function: &'p Function,
    values: &'p Values<'v>,
    plan: Plan,
    /// Registers that are written at one place only.
    single: Vec<bool>,
    /// Copies of registers that are overwritten later.
    copies: FxHashMap<Site, Reg>,
    choices: Vec<InfinityChoice>,
}

/// A select between infinity and another value.
#[derive(Clone, Copy)]
struct InfinityChoice {
    block: BlockId,
    position: usize,
    register: Reg,
    other: Operand,
    /// Condition of the infinite case.
    infinite: Edge,
    /// The value elsewhere.
    rest: Edge,
}

/// Finds all selects between infinity and another value.
fn infinity_choices(function: &Function, values: &Values<'_>) -> Vec<InfinityChoice> {
    let choice = |&(block, position, register, value): &(BlockId, usize, Reg, Edge)| {
        let instruction = &function.blocks[block].instructions[position];
        let Op::Select { if_true, if_false, .. } = instruction.op else { return None };
        let Node::Op(Code::Select, operands) = values.graph.node(value.node()) else { return None };
        let &[condition, a, b] = operands.as_slice() else { return None };
        let format = match function.registers[register].width {
            ir::Width::B32 => Format::F32,
            ir::Width::B64 => Format::F64,
            _ => return None,
        };
        let is_infinite = |edge: Edge| match values.graph.node(edge.node()) {
            Node::Bits(bits) => is_infinity(bits, format),
            _ => false,
        };
        let (infinite, rest) = match (is_infinite(a), is_infinite(b)) {
            (true, false) => (condition, b),
            (false, true) => (condition.flipped(true), a),
            _ => return None,
        };
        let other = match (if_true, if_false) {
            (Operand::Constant(bits), other) | (other, Operand::Constant(bits))
                if is_infinity(bits, format) =>
            {
                other
            }
            _ => return None,
        };
        let is_unguarded = instruction.guard.is_none();
        is_unguarded.then_some(InfinityChoice { block, position, register, other, infinite, rest })
    };
    values.results.iter().filter_map(choice).collect()
}

/// Searches for expansions and plans their replacement.
pub(crate) fn plan(
    program: &Program,
    function: &Function,
    values: &Values<'_>,
    templates: &[Template],
) -> Plan {
    let regions = match templates.iter().any(Template::is_partial) {
        true => slow::find(program, function, values),
        false => Vec::new(),
    };
    let mut planner = Planner {
        function,
        values,
        plan: Plan { regions, ..Plan::default() },
        single: written_once(function),
        copies: FxHashMap::default(),
        choices: infinity_choices(function, values),
    };
    let infinite: Vec<Edge> = planner.choices.iter().map(|choice| choice.infinite).collect();
    let names = names(&values.graph);
    // At joins: in the order of nodes, so that an argument comes before functions of it.
    let mut merges = values.merges.clone();
    merges.sort_unstable_by_key(|&(block, register, value)| (value, block, register));
    let merges = merges.into_iter().map(|(block, register, value)| Candidate {
        block,
        position: None,
        register,
        value,
    });
    let results = values.results.iter().map(|&(block, position, register, value)| Candidate {
        block,
        position: Some(position),
        register,
        value,
    });
    for candidate in merges.chain(results) {
        let Some(name) = names[candidate.value.node().0 as usize].as_deref() else { continue };
        for (at, template) in templates.iter().enumerate() {
            let replaced = match root_name(template) {
                Some(root) if root == name => {
                    find(&values.graph, &names, template, candidate.value, &infinite)
                        .and_then(|found| planner.with_own_choices(template, found, candidate))
                        .is_some_and(|found| planner.replace(candidate, template, &found))
                }
                // A product fused into a sum.
                Some("mul" | "mul.f64") => {
                    planner.fused_product(candidate).is_some_and(|(factors, added)| {
                        find_product(&values.graph, &names, template, factors, &infinite)
                            .and_then(|found| planner.with_own_choices(template, found, candidate))
                            .is_some_and(|found| {
                                planner.replace_in_sum(candidate, template, &found, added)
                            })
                    })
                }
                _ => false,
            };
            if replaced {
                planner.plan.found.insert(at);
                break;
            }
        }
    }
    planner.plan
}

/// Returns the name of the last operation of a template.
fn root_name(template: &Template) -> Option<&'static str> {
    match &template.steps[template.root.step] {
        Step::Op(name, _) => Some(name),
        Step::Fast(..) => Some("select"),
        _ => None,
    }
}

/// Returns for each register if it is written at one place only.
fn written_once(function: &Function) -> Vec<bool> {
    let mut count = vec![0u32; function.registers.len()];
    for instruction in function.instructions() {
        for_each_write(&instruction.op, &mut |register| {
            count[base::Index::position(register)] += 1
        });
    }
    count.into_iter().map(|count| count == 1).collect()
}

impl Planner<'_, '_> {
    /// Returns the factors of a fused product and its addend.
    fn fused_product(&self, candidate: Candidate) -> Option<([Edge; 2], Operand)> {
        let block = &self.function.blocks[candidate.block];
        let Op::Fma { lanes: 1, c, mode, .. } = &block.instructions[candidate.position?].op else {
            return None;
        };
        let Node::Op(Code::Fma(..), operands) = self.values.graph.node(candidate.value.node())
        else {
            return None;
        };
        let plain = *mode == FloatMode { flush: mode.flush, ..FloatMode::NEAREST };
        let &[a, b, _] = operands.as_slice() else { return None };
        plain.then(|| ([a.flipped(candidate.value.is_negated()), b], *c))
    }

    /// Plans to compute a sum with a function's value.
    fn replace_in_sum(
        &mut self,
        candidate: Candidate,
        template: &Template,
        found: &Match,
        added: Operand,
    ) -> bool {
        let format = template.format;
        let value = self.fresh(format.width());
        let Some(mut new) = self.function_ops(candidate, template, found, value) else {
            return false;
        };
        let op = if found.negated { FloatBinary::Sub } else { FloatBinary::Add };
        let (dst, mode) = (candidate.register, FloatMode::NEAREST);
        let (a, b) = (added, value.into());
        new.push(Op::FloatBinary { op, format, lanes: 1, mode, dst, a, b });
        self.insert_at(candidate, new, found);
        true
    }

    /// Plans to compute a value by a function; returns `false` if that is impossible.
    fn replace(&mut self, candidate: Candidate, template: &Template, found: &Match) -> bool {
        let dst = candidate.register;
        let Some(mut new) = self.function_ops(candidate, template, found, dst) else {
            return false;
        };
        if found.negated {
            new.push(negation(template.format, dst, dst.into()));
        }
        self.insert_at(candidate, new, found);
        true
    }

    /// Builds the operations that compute the function's value in a register.
    fn function_ops(
        &mut self,
        candidate: Candidate,
        template: &Template,
        found: &Match,
        dst: Reg,
    ) -> Option<Vec<Op>> {
        let format = template.format;
        if self.function.registers[candidate.register].width != format.width() {
            return None;
        }
        let mut new = Vec::new();
        let mut operands = Vec::new();
        for &argument in &found.arguments {
            operands.push(self.argument(candidate, argument, format, &mut new)?);
        }
        if let Some((position, bits)) = template.constant {
            operands.insert(position.min(operands.len()), Operand::Constant(bits));
        }
        let (a, b) = (*operands.first()?, operands.get(1).copied());
        let range = self.range(template, found);
        new.push(Op::Real { function: template.function, format, range, dst, a, b });
        Some(new)
    }

    /// Returns the arguments for which the code is known to be the function; `None` for all.
    fn range(&self, template: &Template, found: &Match) -> Option<ArgumentRange> {
        let is_recognised = || self.is_complete(found);
        match template.function {
            _ if !template.is_partial() => template.range,
            _ if is_recognised() => None,
            RealFunction::Fmod => Some(ArgumentRange::SmallQuotient),
            _ => Some(ArgumentRange::Small),
        }
    }

    /// Plans new operations at a candidate's place.
    fn insert_at(&mut self, candidate: Candidate, new: Vec<Op>, found: &Match) {
        let origin = self.origin(candidate);
        let guard = candidate
            .position
            .and_then(|at| self.function.blocks[candidate.block].instructions[at].guard);
        let instructions = new.into_iter().map(|op| Instr {
            // One guard for all is right: all operations but the last write fresh registers.
            guard,
            op,
            span: origin.0,
            location: origin.1,
        });
        let instructions: Vec<Instr> = instructions.collect();
        let edits = &mut self.plan.edits;
        match candidate.position {
            Some(position) => {
                edits.instead.insert((candidate.block, position), instructions);
            }
            None => edits.starts.entry(candidate.block).or_default().extend(instructions),
        }
        let drops_code = !self.is_complete(found);
        for &condition in &found.conditions {
            self.note_branches(condition, drops_code);
        }
        for &at in &found.finite {
            self.take_finite_side(at);
        }
    }

    /// Replaces a select by its finite value, unless it was replaced by a function itself.
    fn take_finite_side(&mut self, at: usize) {
        let InfinityChoice { block, position, register, other, .. } = self.choices[at];
        let old = &self.function.blocks[block].instructions[position];
        let op = Op::Copy { dst: register, src: other };
        let new = Instr { guard: None, op, span: old.span, location: old.location };
        self.plan.edits.instead.entry((block, position)).or_insert_with(|| vec![new]);
    }

    /// Notes the branches by a condition. They stay if their sides do anything that is still of use.
    fn note_branches(&mut self, condition: Edge, drops_code: bool) {
        for (block, known) in self.values.conditions.enumerate() {
            if known.is_some_and(|known| known.node() == condition.node()) {
                *self.plan.edits.branches.entry(block).or_insert(drops_code) &= drops_code;
            }
        }
    }

    /// Returns the source position for operations at a candidate's place.
    fn origin(&self, candidate: Candidate) -> (Span, Option<LocId>) {
        let block = &self.function.blocks[candidate.block];
        match candidate.position.or(Some(0)).and_then(|at| block.instructions.get(at)) {
            Some(instruction) => (instruction.span, instruction.location),
            None => (block.span, block.location),
        }
    }

    /// Returns an operand that holds an argument at the candidate's place.
    fn argument(
        &mut self,
        candidate: Candidate,
        argument: Edge,
        format: Format,
        new: &mut Vec<Op>,
    ) -> Option<Operand> {
        if let Node::Bits(bits) = self.values.graph.node(argument.node()) {
            let sign = 1 << (format.width().bits() - 1);
            return Some(Operand::Constant(if argument.is_negated() { bits ^ sign } else { bits }));
        }
        let sites = self.values.sites(argument.node());
        let mut available = sites.iter().filter(|site| self.is_available_at(site, candidate));
        let site = *available.next()?;
        if self.function.registers[site.register].width < format.width() {
            return None;
        }
        let register = self.register_holding(site);
        if site.negated == argument.is_negated() {
            return Some(register.into());
        }
        let opposite = self.fresh(format.width());
        new.push(negation(format, opposite, register.into()));
        Some(opposite.into())
    }

    /// Returns `true` if every path to the candidate goes through the place first.
    fn is_available_at(&self, site: &Site, candidate: Candidate) -> bool {
        if site.block != candidate.block {
            return self.values.flow.dominates(site.block, candidate.block);
        }
        match (site.after, candidate.position) {
            (None, Some(_)) => true,
            (Some(site), Some(position)) => site < position,
            // Registers at this join that are functions of others come later.
            (None, None) => site.register != candidate.register,
            (Some(_), None) => false,
        }
    }

    /// Returns a register that keeps another one's value from a place on.
    fn register_holding(&mut self, site: Site) -> Reg {
        if self.single[base::Index::position(site.register)] {
            return site.register;
        }
        if let Some(&copy) = self.copies.get(&site) {
            return copy;
        }
        let copy = self.fresh(self.function.registers[site.register].width);
        let block = &self.function.blocks[site.block];
        let neighbour = block.instructions.get(site.after.unwrap_or(0));
        let instruction = Instr {
            guard: None,
            op: Op::Copy { dst: copy, src: site.register.into() },
            span: neighbour.map_or(block.span, |neighbour| neighbour.span),
            location: neighbour.and_then(|neighbour| neighbour.location),
        };
        match site.after {
            Some(after) => {
                self.plan.edits.behind.entry((site.block, after)).or_default().push(instruction);
            }
            // After the functions that compute it, if it is one of them.
            None => self.plan.edits.starts.entry(site.block).or_default().push(instruction),
        }
        self.copies.insert(site, copy);
        copy
    }

    fn fresh(&mut self, width: ir::Width) -> Reg {
        let position = self.function.registers.len() + self.plan.edits.registers.len();
        let name = format!("%lifted{}", self.plan.edits.registers.len());
        self.plan.edits.registers.push(Register { name, width });
        base::Index::from_position(position)
    }
}

fn negation(format: Format, dst: Reg, a: Operand) -> Op {
    Op::FloatUnary { op: FloatUnary::Negate, format, lanes: 1, mode: FloatMode::NEAREST, dst, a }
}

/// Applies the changes. Returns the branches that may be of no use now.
pub(crate) fn apply(function: &mut Function, mut edits: Edits) -> BTreeMap<BlockId, bool> {
    edits.registers.into_iter().for_each(|register| {
        function.registers.push(register);
    });
    let blocks: Vec<BlockId> = function.blocks.indices().collect();
    for block in blocks {
        let data = &mut function.blocks[block];
        let mut all = edits.starts.remove(&block).unwrap_or_default();
        for (position, instruction) in data.instructions.drain(..).enumerate() {
            match edits.instead.remove(&(block, position)) {
                Some(new) => all.extend(new),
                None => all.push(instruction),
            }
            all.extend(edits.behind.remove(&(block, position)).unwrap_or_default());
        }
        data.instructions = all;
    }
    edits.branches
}

//! Sets up a proof: symbols for the launch and for one thread, with the contract's requirements as facts.
//!
//! Requirements that determine a size (`n == gridDim.x*blockDim.x`, `K % T == 0`) are solved: the size is replaced
//! everywhere, so that indices show their digits. All others are assumed as they are. Launch limits of hardware (1024
//! threads of a block, CUDA Programming Guide, "Technical Specifications per Compute Capability") are assumed.

use super::Engine;
use super::input_contents::array_of;
use super::state::{Mode, PassedBarriers, State, SymbolicValue};
use arith::formula::Formula;
use arith::poly::{Poly, Sym};
use arith::symbols::Level;
use base::Index;
use kir::spec::is_partial_integer;
use kir::{ArrayId, Builtin, Expr, MAX_THREADS_OF_AXIS, Type};

const MAX_BLOCK: [i128; 3] = [1024, 1024, 64];
const MAX_GRID: [i128; 3] = [2_147_483_647, 65_535, 65_535];
const MAX_THREADS: i128 = 1024;
/// Limit on the indices for which requirements with two variables are instantiated.
const MAX_PLACES: usize = 4;

impl Engine<'_> {
    pub(super) fn builtin(&self, builtin: Builtin, axis: usize) -> Poly {
        self.builtins[builtin as usize][axis].clone()
    }

    /// Creates the symbols of the launch and of a thread. Returns the state before the first statement.
    pub(super) fn set_up(&mut self) -> State {
        for axis in 0..3 {
            self.set_dimension(true, axis, MAX_BLOCK[axis]);
            self.set_dimension(false, axis, MAX_GRID[axis]);
        }
        let [x, y, z] = [0, 1, 2].map(|axis| self.builtin(Builtin::BlockDim, axis));
        let threads = x.times(&y).and_then(|xy| xy.times(&z));
        let limit = threads.and_then(|threads| Poly::constant(MAX_THREADS).minus(&threads));
        self.prover.requires.extend(limit.map(Formula::ge));
        let mut state = State {
            vars: vec![self.untracked(Level::Thread); self.kernel.vars.len()],
            path: Vec::new(),
            passed_barriers: PassedBarriers::default(),
        };
        for (number, var) in self.kernel.scalars.iter().enumerate() {
            let name = self.kernel.vars[*var].name.clone();
            let ty = self.kernel.vars[*var].ty;
            let given = self
                .given
                .get(&name)
                // A macro is never a parameter, even if it has the name of one.
                .filter(|_| number >= self.kernel.macros)
                .filter(|one| matches!((one, ty), (SymbolicValue::Int(_), Type::Int { .. })));
            if let Some(value) = given.cloned() {
                self.require_range(&value, ty);
                state.vars[var.position()] = value;
                continue;
            }
            state.vars[var.position()] = match ty {
                Type::Float => self.untracked(Level::Launch),
                Type::Bool => {
                    let value = self.unknown(&name, Level::Launch, ty);
                    SymbolicValue::Bool(value.as_symbol().map_or(Formula::False, Formula::holds))
                }
                _ => SymbolicValue::Int(self.unknown(&name, Level::Launch, ty)),
            };
        }
        self.assume_contract(&mut state);
        self.limit_threads();
        for (size, place) in
            [(Builtin::BlockDim, Builtin::Thread), (Builtin::GridDim, Builtin::Block)]
        {
            for axis in 0..3 {
                if self.builtin(size, axis).as_constant() == Some(1) {
                    self.builtins[place as usize][axis] = Poly::constant(0);
                }
            }
        }
        self.entry = state.clone();
        let sizes = self.kernel.arrays.iter().map(|array| array.dimensions.clone());
        for dimensions in sizes.collect::<Vec<_>>() {
            let mut extents = Vec::new();
            for dimension in dimensions {
                extents.push(match dimension.map(|size| self.eval(&size, &state, false)) {
                    Some(SymbolicValue::Int(poly)) => Some(poly),
                    _ => None,
                });
            }
            self.sizes.push(extents);
        }
        state
    }

    /// Assumes fewer than 2^31 threads along an axis, unless the contract says so.
    fn limit_threads(&mut self) {
        for axis in (0..3).filter(|axis| self.kernel.limits_threads(*axis)) {
            let [block, grid] =
                [Builtin::BlockDim, Builtin::GridDim].map(|one| self.builtin(one, axis));
            let rest = block
                .times(&grid)
                .and_then(|threads| Poly::constant(MAX_THREADS_OF_AXIS).minus(&threads));
            let Some(limit) = rest.map(Formula::ge) else { continue };
            if !self.prover.proves_quickly(&[], &limit) {
                self.prover.requires.push(limit);
                self.limited[axis] = true;
            }
        }
    }

    /// Requires that a value supplied from outside is one of the type.
    fn require_range(&mut self, value: &SymbolicValue, ty: Type) {
        if let (SymbolicValue::Int(poly), Some((low, high))) = (value, ty.range()) {
            let above = poly.offset(-low).map(Formula::ge);
            let below = poly.scaled(-1).and_then(|one| one.offset(high)).map(Formula::ge);
            self.prover.requires.extend([above, below].into_iter().flatten());
        }
    }

    /// Creates the symbols of one axis: a dimension of the block (else of the grid), and an index in it.
    fn set_dimension(&mut self, of_block: bool, axis: usize, most: i128) {
        let (size, place, level) = match of_block {
            true => (Builtin::BlockDim, Builtin::Thread, Level::Thread),
            false => (Builtin::GridDim, Builtin::Block, Level::Block),
        };
        let (extent, index) = if let Some(launch) = &self.launch {
            let extent = launch[size as usize][axis].clone();
            let (low, high) = (Some(Poly::constant(0)), extent.offset(-1));
            let symbols = &mut self.prover.symbols;
            let index = match extent.as_constant() {
                Some(1) => Poly::constant(0),
                _ => Poly::symbol(symbols.bounded(place.name(axis), level, low, high)),
            };
            (extent, index)
        } else if self.kernel.has_axis(axis) {
            let (low, high) = (Some(Poly::constant(1)), Some(Poly::constant(most)));
            let symbols = &mut self.prover.symbols;
            let extent = Poly::symbol(symbols.bounded(size.name(axis), Level::Launch, low, high));
            let (low, high) = (Some(Poly::constant(0)), extent.offset(-1));
            (extent, Poly::symbol(symbols.bounded(place.name(axis), level, low, high)))
        } else {
            (Poly::constant(1), Poly::constant(0))
        };
        self.builtins[size as usize][axis] = extent;
        self.builtins[place as usize][axis] = index;
    }

    /// Assumes the requirements of the contract.
    fn assume_contract(&mut self, state: &mut State) {
        self.mode = Mode::Probe;
        let plain = self.kernel.requires.iter().filter(|one| one.forall.is_empty());
        let (divides, simple): (Vec<&Expr>, Vec<&Expr>) =
            plain.map(|one| &one.condition).partition(|condition| is_partial_integer(condition));
        // Those without division first: they give the signs that quotients need, and show that divisors are not 0.
        for condition in simple.into_iter().chain(divides) {
            for one in self.partial_operations((&[], condition), state, false) {
                if !self.prover.proves(&one.path, &one.goal) {
                    self.undefined.push((one.span, one.kind));
                }
            }
            let formula = self.condition(condition, state);
            self.has_powers |= has_powers(&formula);
            for part in formula.conjuncts().to_vec() {
                match &part {
                    Formula::Eq(poly) => match self.solve_for_launch_symbol(poly) {
                        Some((sym, value)) => self.replace(sym, &value, state),
                        None => self.prover.requires.push(part),
                    },
                    _ => self.prover.requires.push(part),
                }
            }
        }
    }

    /// A symbol of the launch that an equation determines: parameters before dimensions.
    fn solve_for_launch_symbol(&self, poly: &Poly) -> Option<(Sym, Poly)> {
        let candidates = poly.symbols().into_iter().rev().filter_map(|sym| {
            let powers = poly.by_powers(sym);
            let [rest, coefficient] = &powers[..] else { return None };
            let sign = coefficient.as_constant().filter(|one| one.abs() == 1)?;
            let symbol = self.prover.symbols.get(sym);
            let given = symbol.level == Level::Launch && symbol.name != "quotient";
            given.then(|| rest.scaled(-sign).map(|value| (sym, value))).flatten()
        });
        let mut all: Vec<(Sym, Poly)> = candidates.collect();
        all.sort_by_key(|(sym, _)| is_dimension(&self.prover.symbols.get(*sym).name));
        all.into_iter().next()
    }

    /// Replaces a symbol by a value everywhere.
    pub(super) fn replace(&mut self, sym: Sym, value: &Poly, state: &mut State) {
        self.replaced.push((sym, value.clone()));
        let mut map = |poly: &Poly| poly.substituted(sym, value);
        let symbol_facts = self.prover.symbols.get(sym).facts.clone();
        self.prover.requires.extend(symbol_facts);
        for formula in &mut self.prover.requires {
            if let Some(mapped) = formula.mapped(&mut map) {
                *formula = mapped;
            }
        }
        for one in self.builtins.iter_mut().flatten() {
            if let Some(mapped) = map(one) {
                *one = mapped;
            }
        }
        for one in &mut state.vars {
            if let SymbolicValue::Int(poly) = one
                && let Some(mapped) = map(poly)
            {
                *poly = mapped;
            }
        }
        self.prover.symbols.substitute(sym, value);
        self.operations.clear();
        self.prover.requires.retain(|formula| *formula != Formula::True);
    }

    /// The contract's facts about an element of an array that is not written.
    pub(super) fn required_of_element(
        &mut self,
        array: ArrayId,
        index: &[Poly],
        value: &Poly,
    ) -> Vec<Formula> {
        let [at] = index else { return Vec::new() };
        let mut facts = Vec::new();
        let mode = std::mem::replace(&mut self.mode, Mode::Probe);
        for requirement in self.kernel.requires.iter().filter(|one| one.forall.len() == 1) {
            let mut state = self.entry.clone();
            state.vars[requirement.forall[0].position()] = SymbolicValue::Int(at.clone());
            self.named = vec![(array, at.clone(), value.clone())];
            let fact = self.condition(&requirement.condition, &state);
            facts.push(self.without_false_disjuncts(fact));
            self.named.clear();
        }
        self.mode = mode;
        facts
    }

    /// Drops the disjuncts of a condition that are proved to be false for every thread.
    pub(super) fn without_false_disjuncts(&mut self, fact: Formula) -> Formula {
        let Formula::Or(parts) = fact else { return fact };
        let mut fails = |part: &Formula| self.prover.proves_quickly(&[], &part.clone().not());

        Formula::or(parts.into_iter().filter(|part| !fails(part)).collect::<Vec<_>>())
    }
}

/// Returns `true` if a name is that of a dimension of the launch.
fn is_dimension(name: &str) -> bool {
    name.starts_with("blockDim.") || name.starts_with("gridDim.")
}

impl Engine<'_> {
    /// Instantiates requirements with two variables at the indices of elements in formulas.
    pub(super) fn instantiate_for_pairs(&mut self, formulas: &[Formula]) -> Vec<Formula> {
        let kernel = self.kernel;
        let preconditions: Vec<_> =
            kernel.requires.iter().filter(|one| one.forall.len() == 2).collect();
        if preconditions.is_empty() {
            return Vec::new();
        }
        let elements = self.prover.symbols.elements(formulas);
        let mut places: Vec<Poly> = Vec::new();
        for (sym, array, index) in elements {
            let [at] = &index[..] else { continue };
            if !places.contains(at) && places.len() < MAX_PLACES {
                places.push(at.clone());
            }
            self.named.push((array_of(array), at.clone(), Poly::symbol(sym)));
        }
        let mode = std::mem::replace(&mut self.mode, Mode::Probe);
        let mut facts = Vec::new();
        for precondition in preconditions {
            for one in &places {
                for other in places.iter().filter(|other| *other != one) {
                    let mut state = self.entry.clone();
                    state.vars[precondition.forall[0].position()] = SymbolicValue::Int(one.clone());
                    state.vars[precondition.forall[1].position()] =
                        SymbolicValue::Int(other.clone());
                    facts.push(self.condition(&precondition.condition, &state));
                }
            }
        }
        self.mode = mode;
        self.named.clear();
        facts
    }
}

fn has_powers(formula: &Formula) -> bool {
    match formula {
        Formula::Pow2(_) => true,
        Formula::Not(inner) => has_powers(inner),
        Formula::And(parts) | Formula::Or(parts) => parts.iter().any(has_powers),
        _ => false,
    }
}

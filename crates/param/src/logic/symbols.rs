//! Symbols, what is always true of each, and copies of them for a second thread.

use super::formula::Formula;
use super::poly::{Poly, Sym};
use crate::kir::ArrayId;
use base::IndexVec;
use std::collections::{BTreeMap, BTreeSet};

/// For whom a symbol has one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// For the whole launch.
    Launch,
    /// For the threads of a block.
    Block,
    /// For the threads of a warp.
    Warp,
    /// For one thread.
    Thread,
}

/// A symbol.
#[derive(Clone, Debug)]
pub(crate) struct Symbol {
    pub(crate) name: String,
    pub(crate) level: Level,
    /// True for every value it can have.
    pub(crate) facts: Vec<Formula>,
    /// Least value, if known; older symbols alone.
    pub(crate) low: Option<Poly>,
    /// Greatest value, if known; older symbols alone.
    pub(crate) high: Option<Poly>,
    /// The element it is, of an array that nobody writes.
    pub(crate) element: Option<(ArrayId, Vec<Poly>)>,
}

/// All symbols.
#[derive(Clone, Debug, Default)]
pub(crate) struct Symbols {
    table: IndexVec<Sym, Symbol>,
}

impl Symbols {
    pub(crate) fn fresh(&mut self, name: impl Into<String>, level: Level) -> Sym {
        let facts = Vec::new();
        let (low, high, element) = (None, None, None);
        self.table.push(Symbol { name: name.into(), level, facts, low, high, element })
    }

    /// A symbol between two bounds, both included.
    pub(crate) fn bounded(
        &mut self,
        name: impl Into<String>,
        level: Level,
        low: Option<Poly>,
        high: Option<Poly>,
    ) -> Sym {
        let sym = self.fresh(name, level);
        let own = Poly::symbol(sym);
        let above = low.as_ref().and_then(|low| own.minus(low));
        let below = high.as_ref().and_then(|high| high.minus(&own));
        let symbol = &mut self.table[sym];
        symbol.facts.extend(above.map(Formula::ge));
        symbol.facts.extend(below.map(Formula::ge));
        (symbol.low, symbol.high) = (low, high);
        sym
    }

    pub(crate) fn get(&self, sym: Sym) -> &Symbol {
        &self.table[sym]
    }

    pub(crate) fn get_mut(&mut self, sym: Sym) -> &mut Symbol {
        &mut self.table[sym]
    }

    pub(crate) fn next(&self) -> Sym {
        self.table.next_index()
    }

    /// Puts a value in the place of a symbol in all that is known.
    pub(crate) fn substitute(&mut self, sym: Sym, value: &Poly) {
        let mut map = |poly: &Poly| poly.substituted(sym, value);
        for symbol in self.table.iter_mut() {
            for fact in &mut symbol.facts {
                if let Some(mapped) = fact.mapped(&mut map) {
                    *fact = mapped;
                }
            }
            symbol.low = symbol.low.as_ref().and_then(&mut map);
            symbol.high = symbol.high.as_ref().and_then(&mut map);
        }
    }

    /// For whom a polynomial has one value.
    pub(crate) fn level(&self, poly: &Poly) -> Level {
        poly.symbols().iter().map(|sym| self.table[*sym].level).max().unwrap_or(Level::Launch)
    }

    pub(crate) fn formula_level(&self, formula: &Formula) -> Level {
        let symbols = formula.symbols();
        symbols.iter().map(|sym| self.table[*sym].level).max().unwrap_or(Level::Launch)
    }

    /// What is always true of the symbols in `formulas` and of those that these facts speak of.
    pub(crate) fn facts(&self, formulas: &[Formula]) -> Vec<Formula> {
        let mut waiting: Vec<Sym> = formulas.iter().flat_map(Formula::symbols).collect();
        let mut seen: BTreeSet<Sym> = BTreeSet::new();
        let mut facts = Vec::new();
        while let Some(sym) = waiting.pop() {
            if !seen.insert(sym) {
                continue;
            }
            for fact in &self.table[sym].facts {
                waiting.extend(fact.symbols());
                if !facts.contains(fact) && *fact != Formula::True {
                    facts.push(fact.clone());
                }
            }
            let element = self.table[sym].element.iter();
            waiting.extend(element.flat_map(|(_, index)| index.iter().flat_map(Poly::symbols)));
        }
        facts.extend(self.same_elements(&seen));
        facts
    }

    /// Elements of arrays that nobody writes, among the symbols of formulas.
    pub(crate) fn elements(&self, formulas: &[Formula]) -> Vec<(Sym, ArrayId, Vec<Poly>)> {
        let symbols: BTreeSet<Sym> = formulas.iter().flat_map(Formula::symbols).collect();
        let element = |sym: Sym| {
            let (array, index) = self.table[sym].element.as_ref()?;
            Some((sym, *array, index.clone()))
        };
        symbols.into_iter().filter_map(element).collect()
    }

    /// Elements of one array at one index are equal.
    fn same_elements(&self, symbols: &BTreeSet<Sym>) -> Vec<Formula> {
        let elements: Vec<(Sym, &(ArrayId, Vec<Poly>))> = symbols
            .iter()
            .filter_map(|sym| self.table[*sym].element.as_ref().map(|element| (*sym, element)))
            .collect();
        let mut facts = Vec::new();
        for (position, (one, (array, index))) in elements.iter().enumerate() {
            for (two, (other, at)) in &elements[position + 1..] {
                if array != other || index.len() != at.len() {
                    continue;
                }
                let differences: Option<Vec<Poly>> =
                    index.iter().zip(at).map(|(a, b)| a.minus(b)).collect();
                let values = Poly::symbol(*one).minus(&Poly::symbol(*two));
                if let (Some(differences), Some(values)) = (differences, values) {
                    let same = Formula::and(differences.into_iter().map(Formula::eq));
                    facts.push(same.implies(Formula::eq(values)));
                }
            }
        }
        facts
    }
}

/// A second thread's symbols: a copy of each that it does not share with the first.
pub(crate) struct Copies {
    /// From which level on symbols are its own.
    pub(crate) own: Level,
    map: BTreeMap<Sym, Sym>,
}

impl Copies {
    pub(crate) fn new(own: Level) -> Self {
        Self { own, map: BTreeMap::new() }
    }

    pub(crate) fn symbol(&mut self, symbols: &mut Symbols, sym: Sym) -> Sym {
        let symbol = symbols.get(sym);
        if symbol.level < self.own {
            return sym;
        }
        if let Some(copy) = self.map.get(&sym) {
            return *copy;
        }
        let symbol = symbol.clone();
        let copy = symbols.fresh(format!("{}'", symbol.name), symbol.level);
        self.map.insert(sym, copy);
        let facts = symbol.facts.iter().map(|fact| self.formula(symbols, fact)).collect();
        let low = symbol.low.as_ref().map(|low| self.poly(symbols, low));
        let high = symbol.high.as_ref().map(|high| self.poly(symbols, high));
        let element = symbol.element.as_ref().map(|(array, index)| {
            (*array, index.iter().map(|one| self.poly(symbols, one)).collect())
        });
        let target = symbols.get_mut(copy);
        (target.facts, target.low, target.high, target.element) = (facts, low, high, element);
        copy
    }

    pub(crate) fn poly(&mut self, symbols: &mut Symbols, poly: &Poly) -> Poly {
        poly.renamed(&mut |sym| self.symbol(symbols, sym))
    }

    pub(crate) fn formula(&mut self, symbols: &mut Symbols, formula: &Formula) -> Formula {
        let mut map = |poly: &Poly| Some(self.poly(symbols, poly));
        formula.mapped(&mut map).unwrap_or(Formula::True)
    }
}

//! The symbol table: unknown integers of a launch, block, warp or thread ([`Level`]), the facts that hold for each, and
//! copies of the thread's symbols for a second thread.

use crate::formula::Formula;
use crate::poly::{Poly, Sym};
use base::{IndexVec, define_index};
use std::collections::{BTreeMap, BTreeSet};

/// Limit on the prefix sums that are compared with each other.
const MAX_SUMS: usize = 6;

define_index! {
    /// An uninterpreted function of integers, such as the contents of an array.
    pub struct Function;
}

/// The level at which a symbol has one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The whole launch.
    Launch,
    /// The threads of a block.
    Block,
    /// The threads of a warp.
    Warp,
    /// One thread.
    Thread,
}

/// A symbol.
#[derive(Clone, Debug)]
pub struct Symbol {
    /// For messages.
    pub name: String,
    /// The level at which it has one value.
    pub level: Level,
    /// Facts that hold for every value it can have.
    pub facts: Vec<Formula>,
    /// Minimum, if known; a polynomial of older symbols.
    pub low: Option<Poly>,
    /// Maximum, if known; a polynomial of older symbols.
    pub high: Option<Poly>,
    /// The value of a function that it stands for: an element of an unwritten array, or of one at a barrier.
    pub element: Option<(Function, Vec<Poly>)>,
    /// The symbol of that barrier in the current iteration; `None` for an unwritten array.
    pub version: Option<Sym>,
    /// The prefix sum that it stands for.
    pub prefix: Option<Prefix>,
    /// Set if it is the quotient of a division that its facts describe.
    pub is_quotient: bool,
}

/// The sum of the first `high` elements of an unwritten array.
#[derive(Clone, Debug)]
pub struct Prefix {
    /// The array's contents.
    pub array: Function,
    /// The number of elements summed.
    pub high: Poly,
    /// Minimum and maximum of the first `size` elements.
    pub bounds: (i128, i128),
    /// The number of elements that exist.
    pub size: Poly,
    /// Set if `0 ≤ high ≤ size` is known.
    pub inside: bool,
}

impl Prefix {
    /// Conditions under which all summed elements exist and are within the bounds; none if they are known to hold.
    pub fn guard(&self) -> Vec<Formula> {
        let below = self.size.minus(&self.high).map_or(Formula::False, Formula::ge);
        match self.inside {
            true => Vec::new(),
            false => vec![Formula::ge(self.high.clone()), below],
        }
    }
}

/// All symbols.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    table: IndexVec<Sym, Symbol>,
}

impl Symbols {
    /// A new symbol without facts.
    pub fn fresh(&mut self, name: impl Into<String>, level: Level) -> Sym {
        let facts = Vec::new();
        let (low, high, element, version, prefix) = (None, None, None, None, None);
        let (name, is_quotient) = (name.into(), false);
        self.table.push(Symbol {
            name,
            level,
            facts,
            low,
            high,
            element,
            version,
            prefix,
            is_quotient,
        })
    }

    /// A symbol between two bounds, both included.
    pub fn bounded(
        &mut self,
        name: impl Into<String>,
        level: Level,
        low: Option<Poly>,
        high: Option<Poly>,
    ) -> Sym {
        let sym = self.fresh(name, level);
        let of_symbol = Poly::symbol(sym);
        let above = low.as_ref().and_then(|low| of_symbol.minus(low));
        let below = high.as_ref().and_then(|high| high.minus(&of_symbol));
        let symbol = &mut self.table[sym];
        symbol.facts.extend(above.map(Formula::ge));
        symbol.facts.extend(below.map(Formula::ge));
        (symbol.low, symbol.high) = (low, high);
        sym
    }

    /// A symbol's entry.
    pub fn get(&self, sym: Sym) -> &Symbol {
        &self.table[sym]
    }

    /// A symbol's entry, to add facts.
    pub fn get_mut(&mut self, sym: Sym) -> &mut Symbol {
        &mut self.table[sym]
    }

    /// The symbol that [`fresh`](Self::fresh) returns next.
    pub fn next(&self) -> Sym {
        self.table.next_index()
    }

    /// Replaces a symbol by a value in all facts.
    pub fn substitute(&mut self, sym: Sym, value: &Poly) {
        let mut map = |poly: &Poly| poly.substituted(sym, value);
        for symbol in self.table.iter_mut() {
            for fact in &mut symbol.facts {
                if let Some(mapped) = fact.mapped(&mut map) {
                    *fact = mapped;
                }
            }
            if let Some(prefix) = &mut symbol.prefix
                && let (Some(high), Some(size)) = (map(&prefix.high), map(&prefix.size))
            {
                (prefix.high, prefix.size) = (high, size);
            }
            symbol.low = symbol.low.as_ref().and_then(&mut map);
            symbol.high = symbol.high.as_ref().and_then(&mut map);
        }
    }

    /// Prints a polynomial.
    pub fn text(&self, poly: &Poly) -> String {
        let mut text = String::new();
        for (monomial, coefficient) in poly.terms() {
            let mut factors = Vec::new();
            if monomial.is_empty() || coefficient.abs() != 1 {
                factors.push(coefficient.unsigned_abs().to_string());
            }
            for (sym, power) in monomial {
                let name = &self.table[*sym].name;
                factors.extend((0..*power).map(|_| name.clone()));
            }
            let sign = match (text.is_empty(), coefficient < 0) {
                (true, false) => "",
                (true, true) => "-",
                (false, false) => " + ",
                (false, true) => " - ",
            };
            text.push_str(sign);
            text.push_str(&factors.join("*"));
        }
        if text.is_empty() { "0".to_owned() } else { text }
    }

    /// The level at which a polynomial has one value.
    pub fn level(&self, poly: &Poly) -> Level {
        poly.mentioned().map(|sym| self.table[sym].level).max().unwrap_or(Level::Launch)
    }

    /// The level at which a condition has one value.
    pub fn formula_level(&self, formula: &Formula) -> Level {
        let symbols = formula.symbols();
        symbols.iter().map(|sym| self.table[*sym].level).max().unwrap_or(Level::Launch)
    }

    /// The facts about the symbols in `formulas`, and about the symbols in these facts.
    pub fn facts(&self, formulas: &[Formula]) -> Vec<Formula> {
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
            let prefix = self.table[sym].prefix.iter();
            waiting.extend(prefix.flat_map(|one| [&one.high, &one.size]).flat_map(Poly::symbols));
        }
        facts.extend(self.facts_about_equal_elements(&seen));
        facts.extend(self.facts_about_sums(&seen));
        facts
    }

    /// Facts about prefix sums: one has each of its elements as a part, and the difference of two is a sum of elements
    /// with known bounds.
    fn facts_about_sums(&self, symbols: &BTreeSet<Sym>) -> Vec<Formula> {
        let sums = symbols.iter().filter_map(|sym| Some((*sym, self.table[*sym].prefix.as_ref()?)));
        let sums: Vec<(Sym, &Prefix)> = sums.take(MAX_SUMS).collect();
        let mut facts = Vec::new();
        for (less, one) in &sums {
            facts.extend(self.facts_about_one_sum((*less, one), symbols).unwrap_or_default());
            for (more, other) in sums.iter().filter(|(more, other)| {
                more != less && (other.array, &other.size) == (one.array, &one.size)
            }) {
                facts.extend(
                    self.facts_about_two_sums((*less, one), (*more, other), symbols)
                        .unwrap_or_default(),
                );
            }
        }
        facts
    }

    /// A prefix sum is at least one of its elements plus the minimum of the others.
    fn facts_about_one_sum(
        &self,
        (sum, one): (Sym, &Prefix),
        symbols: &BTreeSet<Sym>,
    ) -> Option<Vec<Formula>> {
        let mut facts = Vec::new();
        for sym in symbols {
            let Some((array, index)) = &self.table[*sym].element else { continue };
            let ([at], true) = (&index[..], *array == one.array) else { continue };
            let mut guard = one.guard();
            guard.push(Formula::ge(at.clone()));
            guard.push(Formula::ge(one.high.minus(at)?.offset(-1)?));
            let others = one.high.offset(-1)?.scaled(one.bounds.0)?;
            let rest = Poly::symbol(sum).minus(&Poly::symbol(*sym))?.minus(&others)?;
            facts.push(Formula::and(guard).implies(Formula::ge(rest)));
        }
        Some(facts)
    }

    /// The difference of two prefix sums is between the bounds of so many elements, and at least one of these plus the
    /// minimum of the others.
    fn facts_about_two_sums(
        &self,
        (less, one): (Sym, &Prefix),
        (more, other): (Sym, &Prefix),
        symbols: &BTreeSet<Sym>,
    ) -> Option<Vec<Formula>> {
        let (count, (least, most)) = (other.high.minus(&one.high)?, one.bounds);
        let sum = Poly::symbol(more).minus(&Poly::symbol(less))?;
        let mut guard = one.guard();
        guard.extend(other.guard());
        guard.push(Formula::ge(count.clone()));
        let guard = Formula::and(guard);
        let above = Formula::ge(sum.minus(&count.scaled(least)?)?);
        let below = Formula::ge(count.scaled(most)?.minus(&sum)?);
        let mut facts = vec![guard.clone().implies(Formula::and([above, below]))];
        for sym in symbols {
            let Some((array, index)) = &self.table[*sym].element else { continue };
            let ([at], true) = (&index[..], *array == one.array) else { continue };
            let among =
                [Formula::ge(at.minus(&one.high)?), Formula::ge(other.high.minus(at)?.offset(-1)?)];
            let others = count.offset(-1)?.scaled(least)?;
            let rest = sum.minus(&Poly::symbol(*sym))?.minus(&others)?;
            let guard = Formula::and([guard.clone()].into_iter().chain(among));
            facts.push(guard.implies(Formula::ge(rest)));
        }
        Some(facts)
    }

    /// Elements of unwritten arrays, among the symbols of formulas.
    pub fn elements(&self, formulas: &[Formula]) -> Vec<(Sym, Function, Vec<Poly>)> {
        let symbols: BTreeSet<Sym> = formulas.iter().flat_map(Formula::symbols).collect();
        let element = |sym: Sym| {
            let symbol = &self.table[sym];
            let (array, index) = symbol.element.as_ref().filter(|_| symbol.version.is_none())?;
            Some((sym, *array, index.clone()))
        };
        symbols.into_iter().filter_map(element).collect()
    }

    /// Elements at barriers, among the symbols of formulas: the barrier's symbol, the array, the index.
    pub fn cells(&self, formulas: &[Formula]) -> Vec<(Sym, Function, Vec<Poly>)> {
        let symbols: BTreeSet<Sym> = formulas.iter().flat_map(Formula::symbols).collect();
        let cell = |sym: Sym| {
            let symbol = &self.table[sym];
            let (array, index) = symbol.element.as_ref()?;
            Some((symbol.version?, *array, index.clone()))
        };
        symbols.into_iter().filter_map(cell).collect()
    }

    /// Elements of one array at one index are equal.
    fn facts_about_equal_elements(&self, symbols: &BTreeSet<Sym>) -> Vec<Formula> {
        let elements: Vec<(Sym, &(Function, Vec<Poly>))> = symbols
            .iter()
            .filter_map(|sym| self.table[*sym].element.as_ref().map(|element| (*sym, element)))
            .collect();
        let mut facts = Vec::new();
        for (position, (one, (array, index))) in elements.iter().enumerate() {
            for (two, (other, at)) in &elements[position + 1..] {
                let same = self.table[*one].version == self.table[*two].version;
                if array != other || index.len() != at.len() || !same {
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
pub struct Copies {
    /// The level from which on symbols are its own.
    pub own: Level,
    map: BTreeMap<Sym, Sym>,
}

impl Copies {
    /// No copies yet; symbols below this level are shared.
    pub fn new(own: Level) -> Self {
        Self { own, map: BTreeMap::new() }
    }

    /// Symbols that were copied, each with its copy.
    pub fn pairs(&self) -> Vec<(Sym, Sym)> {
        self.map.iter().map(|(one, copy)| (*one, *copy)).collect()
    }

    /// The copy of a symbol, made on first use.
    pub fn symbol(&mut self, symbols: &mut Symbols, sym: Sym) -> Sym {
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
        let version = symbol.version.map(|one| self.symbol(symbols, one));
        let prefix = symbol.prefix.map(|one| Prefix {
            high: self.poly(symbols, &one.high),
            size: self.poly(symbols, &one.size),
            ..one
        });
        let target = symbols.get_mut(copy);
        (target.facts, target.low, target.high, target.element) = (facts, low, high, element);
        (target.version, target.prefix) = (version, prefix);
        target.is_quotient = symbol.is_quotient;
        copy
    }

    /// A polynomial of copies.
    pub fn poly(&mut self, symbols: &mut Symbols, poly: &Poly) -> Poly {
        poly.renamed(&mut |sym| self.symbol(symbols, sym))
    }

    /// A condition on copies.
    pub fn formula(&mut self, symbols: &mut Symbols, formula: &Formula) -> Formula {
        let mut map = |poly: &Poly| Some(self.poly(symbols, poly));
        formula.mapped(&mut map).unwrap_or(Formula::True)
    }
}

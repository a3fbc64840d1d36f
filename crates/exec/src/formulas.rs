//! Propositional formulas over unconstrained conditions, as binary decision diagrams.
//!
//! A formula is a reduced ordered binary decision diagram (Bryant, "Graph-Based Algorithms for Boolean
//! Function Manipulation"). Two formulas are equivalent if and only if they are the same node, so valid and
//! unsatisfiable ones are recognised at once. Atoms are ordered by age. Beyond `MAX_NODES` nodes, or `MAX_DEPTH`
//! atoms on a path, a result is a fresh atom. Truths found before stay valid, but equivalent formulas are no longer
//! recognised.

use rustc_hash::FxHashMap;

/// The largest number of nodes.
const MAX_NODES: usize = 1 << 20;

/// The largest number of atoms on a path. It bounds the recursion of operations.
const MAX_DEPTH: u32 = 1 << 11;

/// A formula: a position in the table of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Formula(u32);

impl Formula {
    /// Never holds.
    pub const FALSE: Self = Self(0);
    /// Always holds.
    pub const TRUE: Self = Self(1);

    /// Returns the truth of a constant formula.
    #[must_use]
    pub fn known(self) -> Option<bool> {
        match self {
            Self::FALSE => Some(false),
            Self::TRUE => Some(true),
            _ => None,
        }
    }
}

/// A decision node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Decision {
    atom: u32,
    if_false: Formula,
    if_true: Formula,
}

/// All formulas of a run.
#[derive(Debug)]
pub struct Formulas {
    nodes: Vec<Decision>,
    /// For each node, the number of atoms on its longest path.
    depths: Vec<u32>,
    /// The formula of each decision node.
    known: FxHashMap<Decision, Formula>,
    /// Cached results of `choose`.
    chosen: FxHashMap<[Formula; 3], Formula>,
    /// The number of atoms.
    atoms: u32,
}

impl Default for Formulas {
    fn default() -> Self {
        // The two constants come after all atoms.
        let constant = |formula| Decision { atom: u32::MAX, if_false: formula, if_true: formula };
        let nodes = vec![constant(Formula::FALSE), constant(Formula::TRUE)];
        Self {
            nodes,
            depths: vec![0; 2],
            known: FxHashMap::default(),
            chosen: FxHashMap::default(),
            atoms: 0,
        }
    }
}

impl Formulas {
    /// Creates an unconstrained condition.
    pub fn atom(&mut self) -> Formula {
        let atom = self.atoms;
        self.atoms += 1;
        // Created even beyond the limit: the run stores each condition anyway.
        let node = Decision { atom, if_false: Formula::FALSE, if_true: Formula::TRUE };
        self.push(node)
    }

    /// Returns `true` if the limit of nodes is reached and nothing more becomes known.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.nodes.len() >= MAX_NODES
    }

    /// Negation.
    pub fn not(&mut self, a: Formula) -> Formula {
        self.choose([a, Formula::FALSE, Formula::TRUE])
    }

    /// Conjunction.
    pub fn and(&mut self, a: Formula, b: Formula) -> Formula {
        self.choose([a, b, Formula::FALSE])
    }

    /// Disjunction.
    pub fn or(&mut self, a: Formula, b: Formula) -> Formula {
        self.choose([a, Formula::TRUE, b])
    }

    /// Exclusive or.
    pub fn xor(&mut self, a: Formula, b: Formula) -> Formula {
        let opposite = self.not(b);
        self.choose([a, opposite, b])
    }

    fn push(&mut self, node: Decision) -> Formula {
        let formula = Formula(self.nodes.len() as u32);
        let depth = |formula: Formula| self.depths[formula.0 as usize];
        let depth = 1 + depth(node.if_true).max(depth(node.if_false));
        self.nodes.push(node);
        self.depths.push(depth);
        self.known.insert(node, formula);
        formula
    }

    /// `if a then b else c`.
    fn choose(&mut self, [a, b, c]: [Formula; 3]) -> Formula {
        match (a.known(), b.known(), c.known()) {
            (Some(true), ..) => return b,
            (Some(false), ..) => return c,
            (None, Some(true), Some(false)) => return a,
            _ if b == c => return b,
            _ => {}
        }
        if let Some(&found) = self.chosen.get(&[a, b, c]) {
            return found;
        }
        let deep = [a, b, c].iter().any(|formula| self.depths[formula.0 as usize] >= MAX_DEPTH);
        if deep || self.is_full() {
            return self.atom();
        }
        let at = |formula: Formula| self.nodes[formula.0 as usize];
        let atom = [a, b, c].map(|formula| at(formula).atom).into_iter().min().unwrap_or(u32::MAX);
        let side = |holds: bool| {
            [a, b, c].map(|formula| match at(formula) {
                node if node.atom != atom => formula,
                node if holds => node.if_true,
                node => node.if_false,
            })
        };
        let (with, without) = (side(true), side(false));
        let (if_true, if_false) = (self.choose(with), self.choose(without));
        let found = self.decision(Decision { atom, if_false, if_true });
        self.chosen.insert([a, b, c], found);
        found
    }

    fn decision(&mut self, node: Decision) -> Formula {
        match self.known.get(&node) {
            _ if node.if_true == node.if_false => node.if_true,
            Some(&known) => known,
            None => self.push(node),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equivalent_formulas_are_the_same() {
        let mut all = Formulas::default();
        let [p, q, r] = std::array::from_fn(|_| all.atom());
        let not_q = all.not(q);
        let (pq, p_not_q) = (all.and(p, q), all.and(p, not_q));
        assert_eq!(all.or(pq, p_not_q), p);
        assert_eq!(all.and(pq, p_not_q), Formula::FALSE);
        let not_p = all.not(p);
        assert_eq!(all.or(p, not_p), Formula::TRUE);
        let x = all.xor(p, q);
        let y = all.xor(x, r);
        let z = all.xor(r, q);
        let w = all.xor(z, p);
        assert_eq!(y, w);
        assert_eq!(y.known(), None);
    }

    #[test]
    fn truth_tables_agree_with_diagrams() {
        // Every formula of depth two over three atoms, as a truth table of eight rows.
        let mut all = Formulas::default();
        let atoms: Vec<(Formula, u8)> =
            [0xaa, 0xcc, 0xf0].into_iter().map(|table| (all.atom(), table)).collect();
        let mut formulas = atoms;
        for _ in 0..2 {
            let before = formulas.clone();
            for &(a, s) in before.iter().take(24) {
                formulas.push((all.not(a), !s));
                for &(b, t) in before.iter().take(24) {
                    formulas.push((all.and(a, b), s & t));
                    formulas.push((all.or(a, b), s | t));
                    formulas.push((all.xor(a, b), s ^ t));
                }
            }
        }
        for &(a, s) in &formulas {
            for &(b, t) in formulas.iter().step_by(7) {
                assert_eq!(a == b, s == t, "{s:x} {t:x}");
            }
        }
    }
}

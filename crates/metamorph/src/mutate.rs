//! Mutations: one small change that may break a kernel. Running the kernel shows if it does.

use crate::expr::{Access, CmpOp, Cond, Int, IntOp, Val, ValOp};
use crate::nest::{Array, Dim, For, INT_MAX, Kernel, Stmt};
use crate::walk::{self, Rewrite};
use testing::Random;

/// Applies a mutation drawn at random, and returns its name; `None` if there is nothing to change.
#[must_use]
pub fn draw(kernel: &Kernel, random: &mut Random) -> Option<(Kernel, &'static str)> {
    let mut finder = Mutator::new(kernel, None);
    let _ = finder.apply(kernel);
    let mut names: Vec<&'static str> = finder.found.clone();
    names.sort_unstable();
    names.dedup();
    if names.is_empty() {
        return None;
    }
    let name = random.pick(&names);
    let sites: Vec<usize> =
        (0..finder.found.len()).filter(|site| finder.found[*site] == name).collect();
    let site = random.pick(&sites);
    Some((Mutator::new(kernel, Some(site)).apply(kernel), name))
}

/// Walks over a kernel, lists the places to mutate by the names of mutations, and changes the target.
struct Mutator {
    arrays: Vec<Array>,
    target: Option<usize>,
    found: Vec<&'static str>,
}

impl Mutator {
    fn new(kernel: &Kernel, target: Option<usize>) -> Self {
        Self { arrays: kernel.arrays.clone(), target, found: Vec::new() }
    }

    /// Notes a place; returns `true` if it is the one to change.
    fn site(&mut self, name: &'static str) -> bool {
        self.found.push(name);
        self.target == Some(self.found.len() - 1)
    }

    fn apply(&mut self, kernel: &Kernel) -> Kernel {
        let mut changed = kernel.clone();
        changed.requires.retain(|cond| !may_be_dropped(cond) || !self.site("requires-weakened"));
        changed.body = self.stmts(&changed.body);
        changed.body = walk::rewrite(&changed.body, self);
        changed
    }

    fn stmts(&mut self, stmts: &[Stmt]) -> Vec<Stmt> {
        stmts.iter().flat_map(|stmt| self.stmt(stmt)).collect()
    }

    fn stmt(&mut self, stmt: &Stmt) -> Vec<Stmt> {
        match stmt {
            Stmt::Barrier => self.barrier(),
            Stmt::If(cond, yes, no) => self.branch(cond, yes, no),
            Stmt::For(inner) => self.mutate_loop(inner),
            Stmt::Assign(..) if self.site("update-dropped") => Vec::new(),
            Stmt::Combine(_, _, Val::Local(_)) if self.site("accumulator-not-added") => Vec::new(),
            Stmt::Float(local, Val::Const(0)) if self.site("wrong-identity") => {
                vec![Stmt::Float(*local, Val::Const(1))]
            }
            Stmt::Float(local, Val::Lowest | Val::Highest) if self.site("wrong-identity") => {
                vec![Stmt::Float(*local, Val::Const(0))]
            }
            Stmt::Store(access, _)
                if self.arrays[access.array.0].is_shared() && self.site("shared-store-dropped") =>
            {
                Vec::new()
            }
            other => vec![other.clone()],
        }
    }

    fn barrier(&mut self) -> Vec<Stmt> {
        if self.site("barrier-dropped") {
            return Vec::new();
        }
        if self.site("barrier-under-condition") {
            let cond = Int::Var(Dim::X.thread()).cmp(CmpOp::Ne, 0);
            return vec![Stmt::If(cond, vec![Stmt::Barrier], Vec::new())];
        }
        vec![Stmt::Barrier]
    }

    fn branch(&mut self, cond: &Cond, yes: &[Stmt], no: &[Stmt]) -> Vec<Stmt> {
        let is_early_return = yes == [Stmt::Return];
        let dropped = no.is_empty() && self.site("guard-dropped");
        let (yes, no) = (self.stmts(yes), self.stmts(no));
        if dropped {
            return if is_early_return { Vec::new() } else { yes };
        }
        vec![Stmt::If(cond.clone(), yes, no)]
    }

    fn mutate_loop(&mut self, inner: &For) -> Vec<Stmt> {
        let mut changed = inner.clone();
        if inner.is_remainder && self.site("rest-dropped") {
            return Vec::new();
        }
        let is_repeated = inner.is_remainder && self.site("rest-twice");
        if let Cond::Cmp(op, left, right) = &inner.test {
            for (name, by) in [("bound+1", 1), ("bound-1", -1)] {
                if self.site(name) {
                    changed.test = Cond::Cmp(*op, left.clone(), right.clone() + by);
                }
            }
        }
        if let Some(from) = &inner.from
            && self.site("start+1")
        {
            changed.from = Some(from.clone() + 1);
        }
        changed.body = self.stmts(&inner.body);
        let stmt = Stmt::from(changed);
        if is_repeated { vec![stmt.clone(), stmt] } else { vec![stmt] }
    }

    /// Changes the element that is accessed.
    fn access(&mut self, access: &Access) -> Access {
        let mut changed = access.clone();
        for coord in &mut changed.coords {
            if self.site("offset+1") {
                *coord = coord.clone() + 1;
            }
            if self.site("offset-1") {
                *coord = coord.clone() - 1;
            }
        }
        let array = &self.arrays[access.array.0];
        if access.coords.len() > 1 && access.coords.len() == array.shape.len() && !array.is_shared()
        {
            let mut other = array.clone();
            other.shape.rotate_left(1);
            let index = other.linear(&access.coords);
            if self.site("stride-of-other-axis") {
                changed.coords = vec![index];
            }
        }
        if access.coords.len() == 2 && self.site("operand-swapped") {
            changed.coords.reverse();
        }
        changed
    }
}

/// Returns `true` for conditions that matter in small launches: all but those against overflow.
fn may_be_dropped(cond: &Cond) -> bool {
    !matches!(cond, Cond::Cmp(_, _, Int::Const(INT_MAX)))
}

/// Turns `<` into `<=` and back; `None` for equalities.
fn toggle_strictness(op: CmpOp) -> Option<CmpOp> {
    match op {
        CmpOp::Lt => Some(CmpOp::Le),
        CmpOp::Le => Some(CmpOp::Lt),
        CmpOp::Gt => Some(CmpOp::Ge),
        CmpOp::Ge => Some(CmpOp::Gt),
        CmpOp::Eq | CmpOp::Ne => None,
    }
}

impl Rewrite for Mutator {
    fn int(&mut self, int: &Int) -> Int {
        int.map(&mut |part| match part {
            Int::Bin(IntOp::Div, a, b) if self.site("divisor-modulus") => {
                Some((**a).clone() % &**b)
            }
            Int::Bin(IntOp::Rem, a, b) if self.site("divisor-modulus") => {
                Some((**a).clone() / &**b)
            }
            _ => None,
        })
    }

    fn cond(&mut self, cond: &Cond) -> Cond {
        match cond {
            Cond::Cmp(op, a, b) => match toggle_strictness(*op) {
                Some(other) if self.site("guard-off-by-one") => {
                    Cond::Cmp(other, a.clone(), b.clone())
                }
                _ => cond.clone(),
            },
            Cond::And(conds) => {
                let mut parts: Vec<Cond> = conds.iter().map(|cond| self.cond(cond)).collect();
                if parts.len() > 1 {
                    parts.retain(|_| !self.site("guard-part-dropped"));
                }
                Cond::And(parts)
            }
            Cond::Or(conds) => {
                let mut parts: Vec<Cond> = conds.iter().map(|cond| self.cond(cond)).collect();
                if parts.len() > 1 {
                    parts.retain(|_| !self.site("guard-part-dropped"));
                }
                Cond::Or(parts)
            }
            Cond::PowerOfTwo(_) => cond.clone(),
        }
    }

    fn val(&mut self, val: &Val) -> Val {
        match val {
            Val::Load(access) => Val::Load(self.access(access)),
            Val::Bin(op, a, b) => {
                let swap = *op == ValOp::Sub && self.site("operand-swapped");
                let (a, b) = (self.val(a), self.val(b));
                if swap { Val::bin(*op, b, a) } else { Val::bin(*op, a, b) }
            }
            Val::Select(cond, a, b) => {
                let cond = self.cond(cond);
                let (a, b) = (self.val(a), self.val(b));
                Val::select(cond, a, b)
            }
            other => other.clone(),
        }
    }

    fn target(&mut self, access: &Access) -> Access {
        self.access(access)
    }
}

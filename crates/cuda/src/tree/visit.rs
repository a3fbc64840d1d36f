//! Walks over expressions and statements.

use super::{Expr, ExprKind, Init, SpecExpr, Stmt, StmtKind};

impl Expr {
    /// The direct operands of an expression, in source order.
    #[must_use]
    pub fn operands(&self) -> Vec<&Self> {
        match &self.kind {
            ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Null
            | ExprKind::Text(_)
            | ExprKind::Local(_)
            | ExprKind::Global(_)
            | ExprKind::Symbol(_)
            | ExprKind::Function(_)
            | ExprKind::Special(..) => Vec::new(),
            ExprKind::CallPointer(callee, all) => {
                std::iter::once(callee.as_ref()).chain(all).collect()
            }
            ExprKind::Read(one)
            | ExprKind::Deref(one)
            | ExprKind::AddressOf(one)
            | ExprKind::Decay(one)
            | ExprKind::Field(one, _)
            | ExprKind::Convert(one)
            | ExprKind::Unary(_, one)
            | ExprKind::Step { place: one, .. }
            | ExprKind::Temporary(one) => vec![one],
            ExprKind::PointerAdd(one, other)
            | ExprKind::PointerSub(one, other)
            | ExprKind::PointerDiff(one, other)
            | ExprKind::Binary(_, one, other)
            | ExprKind::Compare(_, one, other)
            | ExprKind::And(one, other)
            | ExprKind::Or(one, other)
            | ExprKind::Comma(one, other)
            | ExprKind::Assign(one, other)
            | ExprKind::AssignOp { place: one, value: other, .. } => vec![one, other],
            ExprKind::Select(condition, one, other) => vec![condition, one, other],
            ExprKind::Call(_, all) | ExprKind::Intrinsic(_, all) | ExprKind::Construct(all) => {
                all.iter().collect()
            }
            ExprKind::Spec(spec) => match spec.as_ref() {
                SpecExpr::Quantified(_, _, body) => vec![body],
                SpecExpr::Fold(fold) => vec![&fold.low, &fold.high, &fold.body],
                SpecExpr::Result => Vec::new(),
                SpecExpr::At(one, _) | SpecExpr::Other(one) | SpecExpr::Access(_, one) => vec![one],
                SpecExpr::Implies(one, other) | SpecExpr::Iff(one, other) => vec![one, other],
                SpecExpr::Function(_, all) | SpecExpr::Predicate(_, all) => all.iter().collect(),
            },
        }
    }

    /// Calls `visit` for this expression and all inside of it.
    pub fn walk(&self, visit: &mut impl FnMut(&Self)) {
        visit(self);
        for operand in self.operands() {
            operand.walk(visit);
        }
    }
}

impl Init {
    /// Calls `visit` for each expression in it, but not for subexpressions.
    pub fn each(&self, visit: &mut impl FnMut(&Expr)) {
        match self {
            Self::Expr(expr) => visit(expr),
            Self::List(parts) => parts.iter().for_each(|part| part.each(visit)),
            Self::Zero => {}
        }
    }
}

impl Stmt {
    /// Calls `visit` for each expression executed in this statement and in those inside of it, without clauses.
    pub fn each_expr(&self, visit: &mut impl FnMut(&Expr)) {
        match &self.kind {
            StmtKind::Declare(_, Some(init)) => init.each(visit),
            StmtKind::Expr(expr) | StmtKind::Return(Some(expr)) => visit(expr),
            StmtKind::If(condition, then, otherwise) => {
                visit(condition);
                then.iter().chain(otherwise).for_each(|one| one.each_expr(visit));
            }
            StmtKind::Loop(inner) => {
                inner.init.iter().for_each(|one| one.each_expr(visit));
                inner.condition.iter().for_each(&mut *visit);
                inner.body.iter().for_each(|one| one.each_expr(visit));
                inner.step.iter().for_each(&mut *visit);
            }
            StmtKind::Switch(inner) => {
                visit(&inner.value);
                for arm in &inner.arms {
                    arm.body.iter().for_each(|one| one.each_expr(visit));
                }
            }
            StmtKind::Block(inner) => inner.iter().for_each(|one| one.each_expr(visit)),
            StmtKind::Declare(_, None)
            | StmtKind::Return(None)
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Clauses(_) => {}
        }
    }
}

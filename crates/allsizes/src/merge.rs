//! Renumbers two kernels so that global arrays of the same name are one array.

use crate::equal::Relation;
use base::{Index, IndexVec};
use kir::{Array, ArrayId, Element, Expr, ExprKind, Kernel, Requirement, Space, Stmt, VarId};
use thiserror::Error;

/// The reason why two kernels cannot be compared; displays as a whole message.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PairError {
    /// A name in the relation that its kernel does not have.
    #[error("the {which} kernel has no parameter `{name}`")]
    NoParameter {
        /// `first` or `second`.
        which: &'static str,
        /// The name.
        name: String,
    },
    /// A name of the first kernel that the second uses for something else.
    #[error("the second kernel has a parameter `{0}` of its own")]
    OwnParameter(String),
    /// Parameters or variables of one name.
    #[error("`{name}` is `{}` in the first kernel and `{}` in the second", .types[0], .types[1])]
    Types {
        /// The name.
        name: String,
        /// The first kernel's type and the second's.
        types: [String; 2],
    },
    /// Parameters of one name.
    #[error("`{0}` is a pointer in one kernel and a number in the other")]
    PointerAndNumber(String),
    /// Arrays of one name whose elements or dimensions differ.
    #[error("`{0}` is an array of another kind in the second kernel")]
    Arrays(String),
}

/// Applies a relation to two kernels: the second gets the first one's names. If the launch is the same, both get the
/// same axes and requirements on it.
///
/// # Errors
/// If a name is missing, or two things would have one name.
pub(crate) fn apply_relation(
    kernels: [&Kernel; 2],
    relation: &Relation,
) -> Result<[Kernel; 2], PairError> {
    let [mut one, mut two] = kernels.map(Kernel::clone);
    for (first, second) in &relation.names {
        let has = |kernel: &Kernel, name: &str| {
            let scalars = kernel.scalars.iter().skip(kernel.macros);
            let mut arrays = kernel.arrays.iter().filter(|one| one.space == Space::Global);
            scalars.into_iter().any(|var| kernel.vars[*var].name == name)
                || arrays.any(|one| one.name == name)
        };
        for (kernel, name, which) in [(&one, first, "first"), (kernels[1], second, "second")] {
            if !has(kernel, name) {
                return Err(PairError::NoParameter { which, name: name.clone() });
            }
        }
        if has(kernels[1], first) && !relation.names.iter().any(|(_, other)| other == first) {
            return Err(PairError::OwnParameter(first.clone()));
        }
    }
    let renamed = |name: &str| {
        let known = relation.names.iter().find(|(_, second)| second == name);
        known.map(|(first, _)| first.clone())
    };
    for var in two.scalars.clone().into_iter().skip(two.macros) {
        if let Some(name) = renamed(&two.vars[var].name) {
            two.vars[var].name = name;
        }
    }
    for position in 0..two.arrays.len() {
        let array = &mut two.arrays[ArrayId::from_position(position)];
        if let Some(name) = renamed(&array.name).filter(|_| array.space == Space::Global) {
            array.name = name;
        }
    }
    two.layouts = std::mem::take(&mut two.layouts)
        .into_iter()
        .map(|(name, layout)| (renamed(&name).unwrap_or(name), layout))
        .collect();
    same_types([&one, &two])?;
    if relation.same_launch {
        for axis in one.mentioned.clone() {
            if !two.mentioned.contains(&axis) {
                two.mentioned.push(axis);
            }
        }
        one.mentioned.clone_from(&two.mentioned);
        let (of_one, of_two) = (one.requires.clone(), two.requires.clone());
        adopt(&mut one, &of_two, &two);
        let first = one.clone();
        adopt(&mut two, &of_one, &first);
    }
    Ok([one, two])
}

/// Checks that parameters of one name have one type: they are to have one value.
fn same_types([one, two]: [&Kernel; 2]) -> Result<(), PairError> {
    for var in one.scalars.iter().skip(one.macros) {
        let parameter = &one.vars[*var];
        let mut others = two.scalars.iter().skip(two.macros).map(|other| &two.vars[*other]);
        if let Some(other) =
            others.find(|other| other.name == parameter.name && other.ty != parameter.ty)
        {
            let (name, types) = (parameter.name.clone(), [parameter.ty.name(), other.ty.name()]);
            return Err(PairError::Types { name, types });
        }
    }
    let arrays = |kernel: &Kernel| -> Vec<String> {
        let global = kernel.arrays.iter().filter(|array| array.space == Space::Global);
        global.map(|array| array.name.clone()).collect()
    };
    let scalars = |kernel: &Kernel| -> Vec<String> {
        let parameters = kernel.scalars.iter().skip(kernel.macros);
        parameters.map(|var| kernel.vars[*var].name.clone()).collect()
    };
    for (pointers, numbers) in [(one, two), (two, one)] {
        let known = scalars(numbers);
        if let Some(name) = arrays(pointers).into_iter().find(|name| known.contains(name)) {
            return Err(PairError::PointerAndNumber(name));
        }
    }
    let known = |name: &String| one.layouts.get(name).zip(two.layouts.get(name));
    let differing = one.layouts.keys().find_map(|name| {
        known(name).filter(|(own, other)| own != other).map(|layouts| (name, layouts))
    });
    if let Some((name, (own, other))) = differing {
        let (name, types) = (name.clone(), [own.clone(), other.clone()]);
        return Err(PairError::Types { name, types });
    }
    Ok(())
}

/// Two kernels with arrays numbered alike, each with the other contract's requirements on contents, so that runs of
/// both begin with contents that both contracts allow.
pub(crate) fn with_contents_of_both(pair: [&Kernel; 2]) -> [Kernel; 2] {
    let [mut one, mut two] = pair.map(Kernel::clone);
    adopt_contents(&mut one, pair[1]);
    adopt_contents(&mut two, pair[0]);
    [one, two]
}

/// Adopts another kernel's requirements on contents, as far as they mention shared parameters.
fn adopt_contents(kernel: &mut Kernel, other: &Kernel) {
    for precondition in other.requires.iter().filter(|one| speaks_of_elements(&one.condition)) {
        let before = kernel.vars.len();
        let mut names: Vec<(VarId, VarId)> = Vec::new();
        let parameters = other.scalars.iter().skip(other.macros).copied();
        for var in parameters {
            let mut mine = kernel.scalars.iter().skip(kernel.macros);
            let mine = mine.find(|one| kernel.vars[**one].name == other.vars[var].name);
            names.extend(mine.map(|mine| (var, *mine)));
        }
        let mut bound = precondition.forall.clone();
        kir::visit(&precondition.condition, &mut |inner| match &inner.kind {
            ExprKind::Fold(fold) => bound.push(fold.var),
            ExprKind::Quantified(_, vars, _) => bound.extend(vars),
            _ => {}
        });
        for var in bound {
            let copy = kernel.vars.push(other.vars[var].clone());
            names.push((var, copy));
        }
        let known = |var: VarId| names.iter().find(|(one, _)| *one == var).map(|(_, mine)| *mine);
        let forall: Option<Vec<VarId>> =
            precondition.forall.iter().map(|var| known(*var)).collect();
        let mut condition = precondition.condition.clone();
        match (forall, translate(&mut condition, &known)) {
            (Some(forall), true) => kernel.requires.push(Requirement { forall, condition }),
            _ => kernel.vars.truncate(before),
        }
    }
}

fn speaks_of_elements(condition: &Expr) -> bool {
    kir::spec::find(condition, |inner| matches!(inner.kind, ExprKind::Element(..))).is_some()
}

/// Adopts another kernel's requirements on the launch and on shared parameters.
fn adopt(kernel: &mut Kernel, preconditions: &[Requirement], other: &Kernel) {
    let plain = |one: &&Requirement| one.forall.is_empty() && !speaks_of_elements(&one.condition);
    for precondition in preconditions.iter().filter(plain) {
        let mut condition = precondition.condition.clone();
        let renamed = |var: VarId| {
            let at = |of: &Kernel| of.scalars.iter().skip(of.macros).copied().collect::<Vec<_>>();
            let known = at(other).contains(&var);
            let (name, ty) = (&other.vars[var].name, other.vars[var].ty);
            let mut mine = at(kernel).into_iter().filter(|_| known);
            mine.find(|one| kernel.vars[*one].name == *name && kernel.vars[*one].ty == ty)
        };
        if translate(&mut condition, &renamed) {
            kernel.requires.push(Requirement { forall: Vec::new(), condition });
        }
    }
}

/// Replaces the variables of an expression; `false` if one is unknown or a part of the expression is unsupported.
fn translate(expr: &mut Expr, renamed: &dyn Fn(VarId) -> Option<VarId>) -> bool {
    match &mut expr.kind {
        ExprKind::Int(_) | ExprKind::Builtin(..) => true,
        ExprKind::Var(var) => match renamed(*var) {
            Some(known) => {
                *var = known;
                true
            }
            None => false,
        },
        ExprKind::Unary(_, inner) | ExprKind::Convert(inner) => translate(inner, renamed),
        ExprKind::Binary(_, left, right)
        | ExprKind::Compare(_, left, right)
        | ExprKind::And(left, right)
        | ExprKind::Or(left, right) => translate(left, renamed) && translate(right, renamed),
        ExprKind::Select(condition, then, otherwise) => {
            translate(condition, renamed)
                && translate(then, renamed)
                && translate(otherwise, renamed)
        }
        ExprKind::Element(_, _, index) => index.iter_mut().all(|one| translate(one, renamed)),
        ExprKind::Quantified(_, vars, body) => {
            vars.iter_mut().all(|var| translate_var(var, renamed)) && translate(body, renamed)
        }
        ExprKind::Fold(fold) => {
            fold.monoid.is_none()
                && translate_var(&mut fold.var, renamed)
                && translate(&mut fold.low, renamed)
                && translate(&mut fold.high, renamed)
                && translate(&mut fold.body, renamed)
        }
        _ => false,
    }
}

fn translate_var(var: &mut VarId, renamed: &dyn Fn(VarId) -> Option<VarId>) -> bool {
    let known = renamed(*var);
    if let Some(known) = known {
        *var = known;
    }
    known.is_some()
}

/// Renumbers the second kernel's arrays, and gives both a place for each array of the other.
///
/// # Errors
/// If arrays of one name cannot be one: their elements or dimensions differ.
pub(crate) fn merge_arrays(kernels: [&Kernel; 2]) -> Result<[Kernel; 2], PairError> {
    let [mut one, mut two] = kernels.map(Kernel::clone);
    let mut places: Vec<ArrayId> = Vec::new();
    let mut all: IndexVec<ArrayId, Array> = IndexVec::new();
    // Arrays of the first keep their numbers.
    for array in one.arrays.iter() {
        all.push(array.clone());
    }
    let firsts = all.len();
    for array in two.arrays.iter() {
        let known = (0..firsts).map(ArrayId::from_position).find(|id| {
            let other = &all[*id];
            other.space == Space::Global && array.space == Space::Global && other.name == array.name
        });
        if let Some(id) = known {
            let other = &all[id];
            if other.element != array.element || other.dimensions.len() != array.dimensions.len() {
                return Err(PairError::Arrays(array.name.clone()));
            }
            places.push(id);
        } else {
            places.push(all.push(array.clone()));
        }
    }
    let mut arrays: IndexVec<ArrayId, Array> = IndexVec::new();
    for position in 0..all.len() {
        let id = ArrayId::from_position(position);
        let mine = places.iter().position(|place| *place == id);
        let array = match mine {
            Some(mine) => two.arrays[ArrayId::from_position(mine)].clone(),
            None => foreign(&all[id]),
        };
        arrays.push(array);
    }
    for position in firsts..all.len() {
        one.arrays.push(foreign(&all[ArrayId::from_position(position)]));
    }
    two.arrays = arrays;
    // Each kernel's accesses are proved on their own.
    one.footprints.clear();
    two.footprints.clear();
    for requirement in &mut two.requires {
        renumber_expr(&mut requirement.condition, &places);
    }
    for claim in &mut two.ensures {
        renumber_expr(&mut claim.condition, &places);
    }
    renumber(&mut two.body, &places);
    Ok([one, two])
}

/// An array of the other kernel, without its sizes: they are expressions of the other's variables.
fn foreign(array: &Array) -> Array {
    let dimensions = array.dimensions.iter().map(|_| None).collect();
    Array { dimensions, ..array.clone() }
}

/// Replaces the numbers of arrays in statements by those in `places`.
fn renumber(statements: &mut [Stmt], places: &[ArrayId]) {
    for statement in statements {
        match statement {
            Stmt::Assign(_, value)
            | Stmt::Assert(value)
            | Stmt::Assume(value)
            | Stmt::Used(value, _) => {
                renumber_expr(value, places);
            }
            Stmt::Given(given) => {
                let claims = given.claims.iter_mut();
                claims.for_each(|one| renumber_expr(&mut one.condition, places));
            }
            Stmt::Claims(claims) => {
                claims.iter_mut().for_each(|one| renumber_expr(&mut one.condition, places));
            }
            Stmt::Load(_, element) => renumber_element(element, places),
            Stmt::Store(element, value) => {
                renumber_element(element, places);
                renumber_expr(value, places);
            }
            Stmt::Atomic { element, operands, .. } => {
                renumber_element(element, places);
                operands.iter_mut().for_each(|one| renumber_expr(one, places));
            }
            Stmt::If(condition, then, otherwise) => {
                renumber_expr(condition, places);
                renumber(then, places);
                renumber(otherwise, places);
            }
            Stmt::Loop(inner) => {
                for part in [&mut inner.head, &mut inner.body, &mut inner.step] {
                    renumber(part, places);
                }
                renumber_expr(&mut inner.condition, places);
                inner.invariants.iter_mut().for_each(|one| renumber_expr(one, places));
                for claim in &mut inner.claims {
                    renumber_expr(&mut claim.condition, places);
                }
            }
            Stmt::Bits(_, _, arguments) => {
                arguments.iter_mut().for_each(|one| renumber_expr(one, places));
            }
            Stmt::Unknown(_)
            | Stmt::Barrier(_)
            | Stmt::Warp(_)
            | Stmt::Return
            | Stmt::Break
            | Stmt::Continue => {}
        }
    }
}

fn renumber_element(element: &mut Element, places: &[ArrayId]) {
    if let Some(place) = places.get(element.array.position()) {
        element.array = *place;
    }
    element.index.iter_mut().for_each(|one| renumber_expr(one, places));
}

fn renumber_expr(expr: &mut Expr, places: &[ArrayId]) {
    match &mut expr.kind {
        ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Var(_) | ExprKind::Builtin(..) => {}
        ExprKind::Unary(_, inner)
        | ExprKind::Convert(inner)
        | ExprKind::Other(inner)
        | ExprKind::Quantified(_, _, inner) => renumber_expr(inner, places),
        ExprKind::Element(array, _, index) => {
            if let Some(place) = places.get(array.position()) {
                *array = *place;
            }
            index.iter_mut().for_each(|one| renumber_expr(one, places));
        }
        ExprKind::Fold(fold) => {
            for one in [&mut fold.low, &mut fold.high, &mut fold.body] {
                renumber_expr(one, places);
            }
        }
        ExprKind::Binary(_, left, right)
        | ExprKind::Compare(_, left, right)
        | ExprKind::And(left, right)
        | ExprKind::Or(left, right) => {
            renumber_expr(left, places);
            renumber_expr(right, places);
        }
        ExprKind::Select(condition, then, otherwise) => {
            renumber_expr(condition, places);
            renumber_expr(then, places);
            renumber_expr(otherwise, places);
        }
        ExprKind::Call(_, arguments) | ExprKind::Combine(_, arguments) => {
            arguments.iter_mut().for_each(|one| renumber_expr(one, places));
        }
    }
}

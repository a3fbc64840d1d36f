//! Syntax tree to kernel IR: names, types, conversions made explicit (ISO C++17 [conv], [expr.arith.conv]),
//! side effects taken out of expressions, `__device__` functions inlined.
//!
//! A pointer is an array and an offset; which array must be known where the pointer is used. What is
//! outside the subset is refused with its place.

mod access;
mod call;
mod claims;
mod contracts;
mod convert;
mod expr;
mod inline;
mod loops;
mod pointers;
mod records;
mod signature;
mod stmt;

use crate::cfront::ast::{
    Clause, ClauseKind, Declaration, Declarator, Expr as Ast, ExprKind as AstKind, Function,
    Quantifier, Scalar, Unit,
};
use crate::cfront::token::Result;
use crate::kir::{
    Array, ArrayId, Builtin, Claim, Contract, Expr, ExprKind, Footprint, Kernel, Lemma, Monoid,
    Requirement, Space, Stmt, Type, Unfollowed, Var, VarId, When,
};
use base::{Code, Diagnostic, IndexVec, Span};
use convert::{fold, kir_type, whole};
use std::collections::BTreeMap;

/// What a name stands for.
#[derive(Clone, Debug)]
enum Binding {
    Var(VarId),
    /// An array with a variable that holds the offset into it.
    Pointer(ArrayId, VarId),
    Array(ArrayId),
    Constant(i128, Type),
    /// A struct, or another name for something: its scalars.
    Places(records::Places),
    /// A pointer to structs: their scalars, the offset in structs, and in scalars for a view of such.
    Records(Vec<records::Leaf>, VarId, Option<VarId>),
    /// An array of structs.
    RecordArray(Vec<records::Leaf>),
    /// A variable that only annotations see.
    Ghost(VarId),
    /// A value of an annotation.
    Value(Expr),
    /// Something that is not supported, and why.
    Refused(&'static str),
}

struct Lowerer<'u> {
    unit: &'u Unit,
    vars: IndexVec<VarId, Var>,
    arrays: IndexVec<ArrayId, Array>,
    scopes: Vec<BTreeMap<String, Binding>>,
    mentioned: Vec<(Builtin, usize)>,
    /// Functions being inlined.
    calls: Vec<String>,
    /// Inside an annotation: integers have no bounds, elements may be named.
    annotation: bool,
    requires: Vec<Requirement>,
    extents: BTreeMap<String, Expr>,
    ensures: Vec<Claim>,
    /// What is claimed at the next barrier, by calls that stand before it.
    pending: Vec<Claim>,
    footprints: Vec<Footprint>,
    contracts: Vec<Contract>,
    lemmas: Vec<Lemma>,
    monoids: Vec<Monoid>,
    unfollowed: Vec<Unfollowed>,
    /// Inside a claim: equations with elements are of their type.
    claiming: bool,
    /// Inside a clause of a barrier, where there is another thread, or inside of what that has.
    in_pair: bool,
    /// When elements of annotations are looked at.
    when: When,
    /// In an annotation of a loop.
    of_loop: bool,
    /// In a contract, where pointers have not moved yet.
    in_contract: bool,
    /// What functions whose contracts are looked at return.
    results: Vec<VarId>,
    /// Invariants with a name.
    named: BTreeMap<String, Ast>,
    /// Whether there is a shared array whose size the launch gives.
    has_dynamic: bool,
    /// That array, with what it is bound to.
    dynamic: Option<(Declarator, Binding)>,
    /// Loops around, in the function at hand.
    loops: usize,
    /// Whether there is a fence.
    fences: bool,
    /// Shared arrays by where they are declared: a function that is inlined twice has them once.
    shared: BTreeMap<Span, Binding>,
}

fn error(span: Span, message: impl Into<Box<str>>) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(Code::Name, span, message))
}

fn unsupported(span: Span, message: impl Into<Box<str>>) -> Box<Diagnostic> {
    Box::new(Diagnostic::unsupported(Code::UnsupportedConstruct, span, message))
}

/// Every kernel of the file; a kernel that is outside the subset has its reason instead.
pub(crate) fn kernels(unit: &Unit) -> Vec<(&Function, Result<Kernel>)> {
    let kernels = unit.functions.iter().filter(|function| function.is_kernel);
    kernels.map(|function| (function, kernel(unit, function))).collect()
}

/// The same, with one more clause for every kernel that has the names it speaks of; beside each, whether it has.
pub(crate) fn kernels_with<'u>(
    unit: &'u Unit,
    clause: &dyn Fn(Span) -> Result<Vec<Clause>>,
) -> Result<Vec<(&'u Function, Result<Kernel>, bool)>> {
    let mut all = Vec::new();
    for function in unit.functions.iter().filter(|function| function.is_kernel) {
        let mut with = function.clone();
        with.clauses.extend(clause(function.span)?);
        all.push(match kernel(unit, &with) {
            Ok(kernel) => (function, Ok(kernel), true),
            Err(_) => (function, kernel(unit, function), false),
        });
    }
    Ok(all)
}

fn kernel(unit: &Unit, function: &Function) -> Result<Kernel> {
    let mut lowerer = Lowerer {
        unit,
        vars: IndexVec::new(),
        arrays: IndexVec::new(),
        scopes: vec![BTreeMap::new()],
        mentioned: Vec::new(),
        calls: Vec::new(),
        annotation: false,
        requires: Vec::new(),
        extents: BTreeMap::new(),
        ensures: Vec::new(),
        pending: Vec::new(),
        footprints: Vec::new(),
        contracts: Vec::new(),
        lemmas: Vec::new(),
        monoids: Vec::new(),
        unfollowed: Vec::new(),
        claiming: false,
        in_pair: false,
        when: When::Here,
        of_loop: false,
        in_contract: false,
        results: Vec::new(),
        named: BTreeMap::new(),
        has_dynamic: false,
        dynamic: None,
        loops: 0,
        fences: false,
        shared: BTreeMap::new(),
    };
    lowerer.globals()?;
    let mut scalars = lowerer.sizes(function);
    let macros = scalars.len();
    lowerer.definitions()?;
    // Functions see what is declared so far, and not the kernel's parameters.
    lowerer.scopes.push(BTreeMap::new());
    let mut body = Vec::new();
    lowerer.parameters(function, &mut scalars, &mut body)?;
    lowerer.in_contract = true;
    lowerer.contract(function)?;
    lowerer.in_contract = false;
    lowerer.scopes.push(BTreeMap::new());
    lowerer.statements(&function.body, &mut body)?;
    let signature = lowerer.signature(function, &scalars[..macros]);
    if let Some((name, extent)) = lowerer.extents.pop_first() {
        return Err(error(extent.span, format!("there is no array `{name}` without a size")));
    }
    Ok(Kernel {
        name: function.name.clone(),
        span: function.span,
        scalars,
        macros,
        vars: lowerer.vars,
        arrays: lowerer.arrays,
        requires: lowerer.requires,
        ensures: lowerer.ensures,
        footprints: lowerer.footprints,
        contracts: lowerer.contracts,
        lemmas: lowerer.lemmas,
        monoids: lowerer.monoids,
        unfollowed: lowerer.unfollowed,
        body,
        mentioned: lowerer.mentioned,
        types: function.types.clone(),
        fences: lowerer.fences,
        signature,
    })
}

impl Lowerer<'_> {
    fn bind(&mut self, name: &str, binding: Binding) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_owned(), binding);
        }
    }

    fn lookup(&self, name: &str) -> Option<&Binding> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    fn new_var(&mut self, name: &str, ty: Type) -> VarId {
        self.vars.push(Var { name: name.to_owned(), ty })
    }

    fn var(&self, var: VarId, span: Span) -> Expr {
        Expr { kind: ExprKind::Var(var), ty: self.vars[var].ty, span }
    }

    /// Constants and arrays outside functions. What is no constant is refused where it is used.
    fn globals(&mut self) -> Result<()> {
        for declaration in &self.unit.globals {
            for declarator in &declaration.declarators {
                self.global(declaration, declarator)?;
            }
        }
        Ok(())
    }

    fn global(&mut self, declaration: &Declaration, declarator: &Declarator) -> Result<()> {
        if declaration.shared || declarator.ty.pointers > 0 {
            return Ok(());
        }
        if declarator.init.is_some() && !declarator.dimensions.is_empty() {
            let message = "an initialised array outside of functions is not supported";
            self.bind(&declarator.name, Binding::Refused(message));
            return Ok(());
        }
        if declarator.dimensions.is_empty() {
            let value = declarator.init.as_ref().and_then(|init| self.constant(init));
            if let Some((value, ty)) = value.filter(|_| declarator.ty.constant)
                && let Some(own) = kir_type(declarator.ty.scalar).filter(|own| *own != Type::Float)
                && ty != Type::Float
            {
                self.bind(&declarator.name, Binding::Constant(value, own));
                return Ok(());
            }
            if declarator.init.is_some() || kir_type(declarator.ty.scalar).is_none() {
                let message = "an initialised variable outside of functions is not supported";
                self.bind(&declarator.name, Binding::Refused(message));
                return Ok(());
            }
        }
        self.array(declarator, Space::Global)
    }

    /// The value of a constant expression.
    fn constant(&mut self, expr: &Ast) -> Option<(i128, Type)> {
        let mut effects = Vec::new();
        let value = self.value(expr, &mut effects).ok()?;
        let folded = fold(&value)?;
        effects.is_empty().then_some((folded, value.ty))
    }

    /// Symbolic macros and template parameters are scalars of the launch, and at least 1.
    fn sizes(&mut self, function: &Function) -> Vec<VarId> {
        let mut sizes = Vec::new();
        let symbolic = self.unit.symbolic.iter().map(|name| (name.clone(), Type::INT));
        let template = function
            .template
            .iter()
            .filter_map(|one| kir_type(one.ty.scalar).map(|ty| (one.name.clone(), ty)));
        let named: Vec<(String, Type)> = symbolic.chain(template).collect();
        for (name, ty) in named {
            let var = self.new_var(&name, ty);
            self.bind(&name, Binding::Var(var));
            sizes.push(var);
            let one = Expr { kind: ExprKind::Int(1), ty: Type::Whole, span: function.span };
            let var = whole(self.var(var, function.span));
            let kind = ExprKind::Compare(crate::kir::Compare::Ge, Box::new(var), Box::new(one));
            let condition = Expr { kind, ty: Type::Bool, span: function.span };
            self.requires.push(Requirement { forall: Vec::new(), condition });
        }
        sizes
    }

    fn parameters(
        &mut self,
        function: &Function,
        scalars: &mut Vec<VarId>,
        body: &mut Vec<Stmt>,
    ) -> Result<()> {
        for parameter in &function.parameters {
            let span = parameter.span;
            if parameter.ty.reference {
                return Err(unsupported(span, "a kernel's parameter cannot be a reference"));
            }
            if let Scalar::Struct(number) = parameter.ty.scalar {
                let binding = match parameter.ty.pointers {
                    0 => self.record_parameter(parameter, number, scalars, body)?,
                    1 => {
                        let leaves = self.record_arrays(parameter, Space::Global, &[None])?;
                        let offset = self.new_var(&parameter.name, Type::LONG);
                        let zero = Expr { kind: ExprKind::Int(0), ty: Type::LONG, span };
                        body.push(Stmt::Assign(offset, zero));
                        Binding::Records(leaves, offset, None)
                    }
                    _ => return Err(unsupported(span, "pointers to pointers are not supported")),
                };
                self.bind(&parameter.name, binding);
                continue;
            }
            let Some(ty) = kir_type(parameter.ty.scalar) else {
                return Err(unsupported(span, "a parameter of this type is not supported"));
            };
            match parameter.ty.pointers {
                0 => {
                    let var = self.new_var(&parameter.name, ty);
                    self.bind(&parameter.name, Binding::Var(var));
                    scalars.push(var);
                }
                1 => {
                    let (name, constant) = (&parameter.name, parameter.ty.constant);
                    let (array, offset) = self.parameter_array(name, ty, constant, span, body);
                    self.bind(name, Binding::Pointer(array, offset));
                }
                _ => return Err(unsupported(span, "pointers to pointers are not supported")),
            }
        }
        Ok(())
    }

    /// An array that a pointer of the launch points to, and the variable that holds the pointer's offset.
    fn parameter_array(
        &mut self,
        name: &str,
        element: Type,
        constant: bool,
        span: Span,
        body: &mut Vec<Stmt>,
    ) -> (ArrayId, VarId) {
        let (space, dimensions) = (Space::Global, vec![None]);
        let name = name.to_owned();
        let array = Array { name: name.clone(), space, element, dimensions, constant, span };
        let array = self.arrays.push(array);
        let offset = self.new_var(&name, Type::LONG);
        let zero = Expr { kind: ExprKind::Int(0), ty: Type::LONG, span };
        body.push(Stmt::Assign(offset, zero));
        (array, offset)
    }

    /// The arrays that a name in an `extent` clause stands for.
    fn extent_of(&self, name: &str) -> Vec<ArrayId> {
        let mut parts = name.split('.');
        let base = parts.next().unwrap_or_default();
        let path: Vec<&str> = parts.collect();
        match self.lookup(base) {
            Some(Binding::Pointer(array, _)) if path.is_empty() => vec![*array],
            Some(Binding::Records(leaves, ..)) if path.is_empty() => {
                leaves.iter().map(records::Leaf::array).collect()
            }
            Some(Binding::Places(places)) => {
                let own = places.iter().filter(|(one, _)| *one == path);
                own.filter_map(|(_, place)| match place {
                    access::Place::Pointer(array, _) => Some(*array),
                    _ => None,
                })
                .collect()
            }
            _ => Vec::new(),
        }
    }

    fn contract(&mut self, function: &Function) -> Result<()> {
        for clause in &function.clauses {
            match &clause.kind {
                ClauseKind::Requires(condition) => self.require(condition)?,
                ClauseKind::Ensures(condition) => self.ensure(condition, clause.span)?,
                ClauseKind::Footprint(footprint) => {
                    let (array, _) = self.pointer(&footprint.array, &mut Vec::new())?;
                    let (low, high) = (self.spec(&footprint.low)?, self.spec(&footprint.high)?);
                    let (writes, span) = (footprint.writes, clause.span);
                    self.footprints.push(Footprint { writes, array, low, high, span });
                }
                ClauseKind::Extent(name, size) => {
                    let size = self.spec(size)?;
                    let arrays = self.extent_of(name);
                    for array in &arrays {
                        self.arrays[*array].dimensions = vec![Some(size.clone())];
                    }
                    if arrays.is_empty() {
                        // Of a shared array, which is declared further down.
                        self.extents.insert(name.clone(), size);
                    }
                }
                ClauseKind::Symbolic => {}
                ClauseKind::Alias => {
                    let message = "arrays that may overlap are not supported";
                    return Err(unsupported(clause.span, message));
                }
                _ => return Err(error(clause.span, "this clause belongs to no contract")),
            }
        }
        Ok(())
    }

    /// A demand on launches, one for each conjunct.
    fn require(&mut self, condition: &Ast) -> Result<()> {
        match &condition.kind {
            AstKind::Binary("&&", left, right) => {
                self.require(left)?;
                self.require(right)
            }
            AstKind::Quantified(Quantifier::Forall, names, inner) => {
                self.scopes.push(BTreeMap::new());
                let mut forall = Vec::new();
                for name in names {
                    let var = self.new_var(name, Type::Whole);
                    self.bind(name, Binding::Var(var));
                    forall.push(var);
                }
                let condition = self.spec_condition(inner)?;
                self.scopes.pop();
                self.requires.push(Requirement { forall, condition });
                Ok(())
            }
            _ => {
                let condition = self.spec_condition(condition)?;
                self.requires.push(Requirement { forall: Vec::new(), condition });
                Ok(())
            }
        }
    }

    /// An integer expression of an annotation.
    fn spec(&mut self, expr: &Ast) -> Result<Expr> {
        let value = self.annotated(|lowerer, out| lowerer.value(expr, out))?;
        Ok(whole(value))
    }

    /// A condition of an annotation.
    fn spec_condition(&mut self, expr: &Ast) -> Result<Expr> {
        self.annotated(|lowerer, out| lowerer.condition(expr, out))
    }

    fn annotated(
        &mut self,
        inner: impl FnOnce(&mut Self, &mut Vec<Stmt>) -> Result<Expr>,
    ) -> Result<Expr> {
        let before = std::mem::replace(&mut self.annotation, true);
        let mut effects = Vec::new();
        let value = inner(self, &mut effects);
        self.annotation = before;
        let value = value?;
        if !effects.is_empty() {
            return Err(error(value.span, "an annotation may not do anything"));
        }
        Ok(value)
    }

    /// Declares an array.
    fn array(&mut self, declarator: &Declarator, space: Space) -> Result<()> {
        let (name, span) = (&declarator.name, declarator.span);
        if declarator.ty.pointers > 0 {
            return Err(unsupported(span, "an array of pointers is not supported"));
        }
        if declarator.dimensions.len() > 3 {
            return Err(unsupported(span, "more than three dimensions are not supported"));
        }
        let mut dimensions = Vec::new();
        for dimension in &declarator.dimensions {
            dimensions.push(match dimension {
                Some(size) => Some(self.spec(size)?),
                None => self.extents.remove(name),
            });
        }
        let constant = declarator.ty.constant;
        if matches!(declarator.ty.scalar, Scalar::Struct(_)) {
            let leaves = self.record_arrays(declarator, space, &dimensions)?;
            self.bind(name, Binding::RecordArray(leaves));
            return Ok(());
        }
        let Some(element) = kir_type(declarator.ty.scalar) else {
            return Err(unsupported(span, "an array of this type is not supported"));
        };
        let array = Array { name: name.clone(), space, element, dimensions, constant, span };
        let array = self.arrays.push(array);
        self.bind(name, Binding::Array(array));
        Ok(())
    }

    fn mention(&mut self, builtin: Builtin, axis: usize) {
        if !self.mentioned.contains(&(builtin, axis)) {
            self.mentioned.push((builtin, axis));
        }
    }
}

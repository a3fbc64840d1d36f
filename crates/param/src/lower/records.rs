//! Structs and vector types: each of their scalars is a variable or an array of its own.
//!
//! An array of structs becomes one array for each scalar of the struct, so that accesses of different members never
//! meet. A pointer to vectors that is made from a pointer to scalars (`(float4*)a`) is a view: its scalars are
//! elements of that array, side by side. That such a pointer is aligned is not checked.

use super::access::Place;
use super::convert::{convert, kir_type};
use super::pointers::pointed;
use super::{Binding, Lowerer, error, unsupported};
use crate::cfront::ast::{Declarator, Expr as Ast, ExprKind as AstKind, Scalar, TypeName};
use crate::cfront::token::Result;
use crate::kir::{Array, ArrayId, Element, Expr, ExprKind, Space, Stmt, Type, VarId};
use base::Span;

/// How a scalar of a struct is reached.
pub(super) type Path = Vec<String>;

/// One scalar of each struct in an array: record `i` has it at `stride·i + at`.
#[derive(Clone, Debug)]
pub(super) struct Leaf {
    pub(super) path: Path,
    pub(super) array: ArrayId,
    pub(super) stride: i128,
    pub(super) at: i128,
}

/// Scalars of a struct and where they are.
pub(super) type Places = Vec<(Path, Place)>;

impl Lowerer<'_> {
    /// The scalars of a struct.
    pub(super) fn scalars_of(&self, number: u16, span: Span) -> Result<Vec<(Path, TypeName)>> {
        let Some(found) = self.unit.structs.get(usize::from(number)) else {
            return Err(unsupported(span, "this type is not supported"));
        };
        let mut all = Vec::new();
        for field in &found.fields {
            if !field.dimensions.is_empty() {
                let message =
                    format!("arrays in structs (`{}`) are not supported here", field.name);
                return Err(unsupported(span, message));
            }
            match (field.ty.scalar, field.ty.pointers) {
                (Scalar::Struct(inner), 0) => {
                    for (path, ty) in self.scalars_of(inner, span)? {
                        let path = std::iter::once(field.name.clone()).chain(path).collect();
                        all.push((path, ty));
                    }
                }
                _ => all.push((vec![field.name.clone()], field.ty)),
            }
        }
        Ok(all)
    }

    /// The arrays that an array of structs is made of.
    pub(super) fn record_arrays(
        &mut self,
        declarator: &Declarator,
        space: Space,
        dimensions: &[Option<Expr>],
    ) -> Result<Vec<Leaf>> {
        let (name, span) = (&declarator.name, declarator.span);
        let Scalar::Struct(number) = declarator.ty.scalar else { return Ok(Vec::new()) };
        let mut leaves = Vec::new();
        for (path, ty) in self.scalars_of(number, span)? {
            let element = kir_type(ty.scalar).filter(|_| ty.pointers == 0);
            let Some(element) = element else {
                return Err(unsupported(span, "pointers in arrays of structs are not supported"));
            };
            let array = self.arrays.push(Array {
                name: format!("{name}.{}", path.join(".")),
                space,
                element,
                dimensions: dimensions.to_vec(),
                constant: declarator.ty.constant,
                span,
            });
            leaves.push(Leaf { path, array, stride: 1, at: 0 });
        }
        Ok(leaves)
    }

    /// A variable of struct type, its scalars given a value by `init` if there is one.
    pub(super) fn declare_record(
        &mut self,
        declarator: &Declarator,
        number: u16,
        out: &mut Vec<Stmt>,
    ) -> Result<Binding> {
        let values = match &declarator.init {
            Some(init) => Some(self.record_value(init, number, out)?),
            None => None,
        };
        let vars = self.record_vars(&declarator.name, number, declarator.span)?;
        for (path, value) in values.into_iter().flatten() {
            if let Some((_, var)) = vars.iter().find(|(own, _)| *own == path) {
                out.push(Stmt::Assign(*var, convert(value, self.vars[*var].ty)));
            }
        }
        Ok(Binding::Places(vars.into_iter().map(|(path, var)| (path, Place::Var(var))).collect()))
    }

    /// A variable for each scalar of a struct.
    pub(super) fn record_vars(
        &mut self,
        name: &str,
        number: u16,
        span: Span,
    ) -> Result<Vec<(Path, VarId)>> {
        let mut vars = Vec::new();
        for (path, ty) in self.scalars_of(number, span)? {
            let Some(ty) = kir_type(ty.scalar).filter(|_| ty.pointers == 0) else {
                return Err(unsupported(span, "a struct with pointers is not supported here"));
            };
            let var = self.new_var(&format!("{name}.{}", path.join(".")), ty);
            vars.push((path, var));
        }
        Ok(vars)
    }

    /// A parameter of a kernel that is a struct: its scalars are scalars of the launch, its pointers arrays.
    pub(super) fn record_parameter(
        &mut self,
        parameter: &Declarator,
        number: u16,
        scalars: &mut Vec<VarId>,
        body: &mut Vec<Stmt>,
    ) -> Result<Binding> {
        let mut places = Places::new();
        for (path, ty) in self.scalars_of(number, parameter.span)? {
            let name = format!("{}.{}", parameter.name, path.join("."));
            let Some(own) = kir_type(ty.scalar).filter(|_| ty.pointers < 2) else {
                return Err(unsupported(parameter.span, "this parameter is not supported"));
            };
            let place = if ty.pointers == 1 {
                let (array, offset) =
                    self.parameter_array(&name, own, ty.constant, parameter.span, body);
                Place::Pointer(array, offset)
            } else {
                let var = self.new_var(&name, own);
                scalars.push(var);
                Place::Var(var)
            };
            places.push((path, place));
        }
        Ok(Binding::Places(places))
    }

    /// The scalars of a struct that can be assigned to; `None` if this is no struct.
    pub(super) fn places(&mut self, expr: &Ast, out: &mut Vec<Stmt>) -> Result<Option<Places>> {
        match &expr.kind {
            AstKind::Name(name) => match self.lookup(name) {
                Some(Binding::Places(places)) => Ok(Some(places.clone())),
                _ => Ok(None),
            },
            AstKind::Member(inner, field) => {
                let Some(places) = self.places(inner, out)? else { return Ok(None) };
                let own = places.into_iter().filter_map(|(path, place)| {
                    let (first, rest) = path.split_first()?;
                    (first == field).then(|| (rest.to_vec(), place))
                });
                let own: Places = own.collect();
                if own.is_empty() {
                    return Err(error(expr.span, format!("there is no member `{field}`")));
                }
                Ok(Some(own))
            }
            AstKind::Index(base, index) => {
                if let Some(leaves) = self.record_array(expr) {
                    return self.fixed_element(expr, &leaves, out).map(Some);
                }
                let Some(pointer) = self.record_pointer(base, out)? else { return Ok(None) };
                let index = self.index(index, out)?;
                Ok(Some(pointed(&pointer, index, expr.span)))
            }
            AstKind::Unary("*", inner) => {
                let Some(pointer) = self.record_pointer(inner, out)? else { return Ok(None) };
                let zero = Expr { kind: ExprKind::Int(0), ty: Type::LONG, span: expr.span };
                Ok(Some(pointed(&pointer, zero, expr.span)))
            }
            _ => Ok(None),
        }
    }

    /// The arrays of `a[i][j]`, if `a` is a declared array of structs.
    fn record_array(&self, expr: &Ast) -> Option<Vec<Leaf>> {
        let mut base = expr;
        while let AstKind::Index(inner, _) = &base.kind {
            base = inner;
        }
        let AstKind::Name(name) = &base.kind else { return None };
        match self.lookup(name) {
            Some(Binding::RecordArray(leaves)) => Some(leaves.clone()),
            _ => None,
        }
    }

    fn fixed_element(
        &mut self,
        expr: &Ast,
        leaves: &[Leaf],
        out: &mut Vec<Stmt>,
    ) -> Result<Places> {
        let mut indices = Vec::new();
        let mut base = expr;
        while let AstKind::Index(inner, index) = &base.kind {
            indices.push(self.index(index, out)?);
            base = inner;
        }
        indices.reverse();
        let span = expr.span;
        let element = |leaf: &Leaf| Element { array: leaf.array, index: indices.clone(), span };
        let places: Places =
            leaves.iter().map(|leaf| (leaf.path.clone(), Place::Element(element(leaf)))).collect();
        let wrong =
            leaves.iter().any(|leaf| self.arrays[leaf.array].dimensions.len() != indices.len());
        if wrong {
            return Err(unsupported(span, "fewer or more indices are not supported"));
        }
        Ok(places)
    }

    /// Whether an expression is of struct type, by its shape.
    pub(super) fn record_type(&mut self, expr: &Ast) -> Option<u16> {
        match &expr.kind {
            AstKind::Call(name, _) | AstKind::Instance(name, ..) => {
                let vector = name.strip_prefix("make_");
                let named = |one: &str| self.unit.structs.iter().position(|s| s.name == one);
                if let Some(number) = vector.and_then(named) {
                    return u16::try_from(number).ok();
                }
                let function = self.unit.functions.iter().find(|one| one.name == *name)?;
                match (function.returns.scalar, function.returns.pointers) {
                    (Scalar::Struct(number), 0) => Some(number),
                    _ => None,
                }
            }
            AstKind::Cast(TypeName { scalar: Scalar::Struct(number), pointers: 0, .. }, _) => {
                Some(*number)
            }
            AstKind::Ternary(_, then, _) => self.record_type(then),
            _ => {
                let places = self.places(expr, &mut Vec::new()).ok()??;
                let paths: Vec<&Path> = places.iter().map(|(path, _)| path).collect();
                if paths.iter().any(|path| path.is_empty()) {
                    return None;
                }
                let all = 0..u16::try_from(self.unit.structs.len()).unwrap_or(0);
                all.into_iter().find(|number| {
                    self.scalars_of(*number, expr.span).is_ok_and(|own| {
                        own.len() == paths.len()
                            && own.iter().zip(&paths).all(|((path, _), other)| path == *other)
                    })
                })
            }
        }
    }

    /// The value of each scalar of a struct.
    pub(super) fn record_value(
        &mut self,
        expr: &Ast,
        number: u16,
        out: &mut Vec<Stmt>,
    ) -> Result<Vec<(Path, Expr)>> {
        let span = expr.span;
        match &expr.kind {
            AstKind::Braces(parts) => self.listed(parts, number, span, out),
            AstKind::Call(name, parts) if name.starts_with("make_") => {
                self.listed(parts, number, span, out)
            }
            AstKind::Cast(_, inner) => self.record_value(inner, number, out),
            AstKind::Call(name, arguments) => self.inline_record(name, (&[], arguments), span, out),
            AstKind::Instance(name, given, arguments) => {
                self.inline_record(name, (given, arguments), span, out)
            }
            AstKind::Ternary(condition, then, otherwise) => {
                let condition = self.condition(condition, out)?;
                let vars = self.record_vars("chosen", number, span)?;
                let (mut first, mut second) = (Vec::new(), Vec::new());
                for (part, list) in [(then, &mut first), (otherwise, &mut second)] {
                    let values = self.record_value(part, number, list)?;
                    for ((_, var), (_, value)) in vars.iter().zip(values) {
                        list.push(Stmt::Assign(*var, convert(value, self.vars[*var].ty)));
                    }
                }
                out.push(Stmt::If(condition, first, second));
                Ok(vars.into_iter().map(|(path, var)| (path, self.var(var, span))).collect())
            }
            _ => match self.places(expr, out)? {
                Some(places) => {
                    let mut values = Vec::new();
                    for (path, place) in places {
                        values.push((path, self.read_place(&place, span, out)?));
                    }
                    Ok(values)
                }
                None => Err(unsupported(span, "this value of a struct type is not supported")),
            },
        }
    }

    /// Values in the order of a struct's scalars; those that are not given are 0.
    fn listed(
        &mut self,
        parts: &[Ast],
        number: u16,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<Vec<(Path, Expr)>> {
        let wanted = self.scalars_of(number, span)?;
        if parts.len() > wanted.len() {
            return Err(error(span, "too many values"));
        }
        let mut values = Vec::new();
        for (position, (path, ty)) in wanted.into_iter().enumerate() {
            let Some(ty) = kir_type(ty.scalar).filter(|_| ty.pointers == 0) else {
                return Err(unsupported(span, "a struct with pointers is not supported here"));
            };
            let value = match parts.get(position) {
                Some(part) => self.value(part, out)?,
                None => Expr { kind: ExprKind::Int(0), ty: Type::INT, span },
            };
            // Each is computed before the next, and before anything is assigned.
            let var = self.new_var("part", ty);
            out.push(Stmt::Assign(var, convert(value, ty)));
            values.push((path, self.var(var, span)));
        }
        Ok(values)
    }

    /// The value in a place.
    pub(super) fn read_place(
        &mut self,
        place: &Place,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<Expr> {
        match place {
            Place::Var(var) => Ok(self.var(*var, span)),
            Place::Element(element) => self.load_element(element.clone(), out),
            Place::Pointer(..) => Err(unsupported(span, "a pointer as a value is not supported")),
        }
    }

    /// `a = b` for structs.
    pub(super) fn assign_record(
        &mut self,
        places: &Places,
        value: &Ast,
        number: u16,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let span = value.span;
        let values = self.record_value(value, number, out)?;
        let mut kept = Vec::new();
        for (path, value) in values {
            let var = self.new_var("part", value.ty);
            out.push(Stmt::Assign(var, value));
            kept.push((path, var));
        }
        for (path, place) in places {
            let Some((_, var)) = kept.iter().find(|(own, _)| own == path) else {
                return Err(error(span, "the two are not of one type"));
            };
            self.write_place(place, self.var(*var, span), span, out)?;
        }
        Ok(())
    }

    fn write_place(
        &mut self,
        place: &Place,
        value: Expr,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        match place {
            Place::Var(var) => out.push(Stmt::Assign(*var, convert(value, self.vars[*var].ty))),
            Place::Element(element) => {
                let Array { element: ty, constant, name, .. } = &self.arrays[element.array];
                if *constant {
                    return Err(error(span, format!("`{name}` is constant")));
                }
                out.push(Stmt::Store(element.clone(), convert(value, *ty)));
            }
            Place::Pointer(..) => {
                return Err(unsupported(span, "a pointer in a struct is not assigned here"));
            }
        }
        Ok(())
    }
}

impl Leaf {
    pub(super) fn array(&self) -> ArrayId {
        self.array
    }
}

//! Operands of the instruction being lowered: registers, constants, addresses and vectors.

use super::insn::{Fit, Insn};
use super::types::Type;
use super::{Lower, Refusal, special};
use crate::lower::{Entity, constant};
use crate::syntax::ast::{BinaryOp, Expr, Name, Operand, UnaryOp};
use base::{Code, Diagnostic, Index, Span};
use ir::{Op, Reg, Space, Symbol, Width};

/// The entity that a name in an operand denotes.
pub(super) enum Meaning {
    Register(Reg),
    Symbol(Symbol),
}

impl<'i, 'a> Insn<'i, '_, 'a> {
    // Destinations.

    /// Takes the next operand as a register of exactly `width`.
    pub(crate) fn dst(&mut self, width: Width) -> Lower<Reg> {
        let operand = self.next_operand()?;
        self.register(operand, width, Fit::Exact)
    }

    /// Takes the next operand as a register of at least `width`.
    pub(crate) fn wide_dst(&mut self, width: Width) -> Lower<Reg> {
        let operand = self.next_operand()?;
        self.register(operand, width, Fit::AtLeast)
    }

    /// Takes the next operand as `d` or `d|p`, either of which may be `_`.
    pub(crate) fn dst_pair(
        &mut self,
        first: Width,
        second: Width,
    ) -> Lower<(Option<Reg>, Option<Reg>)> {
        let operand = self.next_operand()?;
        let (left, right) = match operand {
            Operand::Pair(sides) => (&sides.0, Some(&sides.1)),
            single => (single, None),
        };
        let first = self.register_or_sink(left, first, Fit::Exact)?;
        let second = match right {
            Some(right) => self.register_or_sink(right, second, Fit::Exact)?,
            None => None,
        };
        Ok((first, second))
    }

    /// Takes the next operand as `count` destinations: `{a, b}`, a vector register, or for a count of one
    /// a register.
    pub(crate) fn dst_vector(
        &mut self,
        count: usize,
        width: Width,
        fit: Fit,
    ) -> Lower<Vec<Option<Reg>>> {
        let operand = self.next_operand()?;
        let parts = self.parts(operand, count)?;
        parts.into_iter().map(|part| part.register(self, width, fit)).collect()
    }

    /// Like [`dst_vector`](Self::dst_vector) for operations that write every part: unused parts go to a temporary.
    pub(crate) fn dst_list(&mut self, count: usize, width: Width) -> Lower<Vec<Reg>> {
        let parts = self.dst_vector(count, width, Fit::Exact)?;
        Ok(parts.into_iter().map(|part| part.unwrap_or_else(|| self.temporary(width))).collect())
    }

    // Sources.

    /// Takes the next operand as a value of type `ty`, in a register of exactly its size.
    pub(crate) fn src(&mut self, ty: Type) -> Lower<ir::Operand> {
        let operand = self.next_operand()?;
        self.source(operand, ty, Fit::Exact)
    }

    /// Takes the next operand as a value of type `ty`, in the low bits of a register.
    pub(crate) fn wide_src(&mut self, ty: Type) -> Lower<ir::Operand> {
        let operand = self.next_operand()?;
        self.source(operand, ty, Fit::AtLeast)
    }

    /// Takes the next operand as a predicate, possibly negated.
    pub(crate) fn predicate(&mut self) -> Lower<ir::Operand> {
        self.src(Type::Pred)
    }

    /// Takes the next operand as `count` values.
    pub(crate) fn src_vector(
        &mut self,
        count: usize,
        ty: Type,
        fit: Fit,
    ) -> Lower<Vec<ir::Operand>> {
        let operand = self.next_operand()?;
        let parts = self.parts(operand, count)?;
        parts.into_iter().map(|part| part.source(self, ty, fit)).collect()
    }

    /// Takes the next operand as an integer known now.
    pub(crate) fn immediate(&mut self) -> Lower<u64> {
        let operand = self.next_operand()?;
        let expr = match operand {
            Operand::Expr(expr) => Some(expr),
            Operand::List(parts) => match parts.as_slice() {
                [Operand::Expr(expr)] => Some(expr),
                _ => None,
            },
            _ => None,
        };
        let value = expr.and_then(|expr| constant::evaluate(expr).ok()).and_then(constant::integer);
        value.ok_or_else(|| self.bad_operand(operand, "this operand must be a constant integer"))
    }

    /// Takes the next operand as a number of groups that a wait leaves pending.
    pub(crate) fn pending_groups(&mut self) -> Lower<u64> {
        let pending = self.immediate()?;
        match i32::try_from(pending) {
            Ok(_) => Ok(pending),
            Err(_) => {
                Err(self.unsupported("the number of groups must be between 0 and 2147483647"))
            }
        }
    }

    /// `operand` as a value of type `ty`.
    pub(crate) fn source(
        &mut self,
        operand: &Operand<'a>,
        ty: Type,
        fit: Fit,
    ) -> Lower<ir::Operand> {
        match operand {
            Operand::Expr(expr) => self.source_expr(operand, expr, ty, fit),
            Operand::Component(name, component) => self.component(*name, *component, ty, fit),
            Operand::Element(array, index) => {
                let (symbol, offset) = self.element(operand, *array, index)?;
                self.address_of(operand.span(), symbol, offset, ty.width())
            }
            // `(1 << 4)`: a list of one element is an expression in parentheses.
            Operand::List(parts) if parts.len() == 1 => self.source(&parts[0], ty, fit),
            _ => Err(self.bad_operand(operand, "a single value is needed here")),
        }
    }

    fn source_expr(
        &mut self,
        operand: &Operand<'a>,
        expr: &Expr<'a>,
        ty: Type,
        fit: Fit,
    ) -> Lower<ir::Operand> {
        if let Expr::Unary(UnaryOp::Not, inner) = expr
            && ty == Type::Pred
            && let Some(name) = inner.as_name()
        {
            let register = self.register_named(name, Width::B1, fit)?;
            return Ok(self.not(register.into()));
        }
        if let Expr::Name(name) = expr
            && name.text != "WARP_SZ"
        {
            return self.source_name(*name, ty, fit);
        }
        if let Some((symbol, offset)) = self.symbol_expr(expr)? {
            return self.address_of(operand.span(), symbol, offset, ty.width());
        }
        let value = constant::evaluate(expr)?;
        let bits = constant::bits(value, ty);
        let why = "this constant does not fit the type of the instruction";
        bits.map(ir::Operand::Constant).ok_or_else(|| self.bad_operand(operand, why))
    }

    fn source_name(&mut self, name: Name<'a>, ty: Type, fit: Fit) -> Lower<ir::Operand> {
        match self.meaning(name) {
            Ok(Meaning::Register(register)) => {
                self.check_width(name, register, ty.width(), fit)?;
                Ok(register.into())
            }
            Ok(Meaning::Symbol(symbol)) => self.address_of(name.span(), symbol, 0, ty.width()),
            Err(refusal) => match special::parse(name.text, None) {
                Some(special) => self.read_special(name.span(), special, ty),
                None => Err(refusal),
            },
        }
    }

    /// Emits the address of a symbol, into a temporary.
    fn address_of(
        &mut self,
        span: Span,
        symbol: Symbol,
        offset: i64,
        width: Width,
    ) -> Lower<ir::Operand> {
        // By the manual (§9.7.9.3) this copies the parameter to local memory.
        if let Symbol::Variable(variable) = symbol
            && self.builder.context.program.variables[variable].space == Space::ParamFunc
        {
            let message = "the address of a function parameter is not supported".to_owned();
            return Err(Box::new(Diagnostic::unsupported(Code::Operand, span, message)));
        }
        Ok(self.compute(width, |dst| Op::AddressOf { dst, symbol, offset }))
    }

    fn component(
        &mut self,
        name: Name<'a>,
        component: Name<'a>,
        ty: Type,
        fit: Fit,
    ) -> Lower<ir::Operand> {
        if let Some(special) = special::parse(name.text, Some(component.text)) {
            return self.read_special(name.span(), special, ty);
        }
        if component.text == "w" && special::parse(name.text, Some("x")).is_some() {
            // The fourth component of a vector of three is always zero (manual §10.1).
            return Ok(ir::Operand::Constant(0));
        }
        let register = self.vector_component(name, component)?;
        self.check_width(name, register, ty.width(), fit)?;
        Ok(register.into())
    }

    fn read_special(
        &mut self,
        span: Span,
        special: ir::SpecialRegister,
        ty: Type,
    ) -> Lower<ir::Operand> {
        let width = if special.is_wide() { Width::B64 } else { Width::B32 };
        if ty.width() > width {
            let message = format!("`{}`: the special register is narrower", self.mnemonic());
            return Err(Box::new(Diagnostic::unsupported(Code::Operand, span, message)));
        }
        Ok(self.compute(width, |dst| Op::ReadSpecial { dst, special }))
    }

    // Registers.

    fn register_or_sink(
        &mut self,
        operand: &Operand<'a>,
        width: Width,
        fit: Fit,
    ) -> Lower<Option<Reg>> {
        match operand {
            Operand::Sink(_) => Ok(None),
            operand => self.register(operand, width, fit).map(Some),
        }
    }

    fn register(&mut self, operand: &Operand<'a>, width: Width, fit: Fit) -> Lower<Reg> {
        match operand {
            Operand::Expr(Expr::Name(name)) => self.register_named(*name, width, fit),
            Operand::Component(name, component) => {
                let register = self.vector_component(*name, *component)?;
                self.check_width(*name, register, width, fit)?;
                Ok(register)
            }
            // `{%r1}` is how Triton writes a single destination.
            Operand::Vector(parts) if parts.len() == 1 => self.register(&parts[0], width, fit),
            _ => Err(self.bad_operand(operand, "a register is needed here")),
        }
    }

    pub(crate) fn register_named(&mut self, name: Name<'a>, width: Width, fit: Fit) -> Lower<Reg> {
        match self.meaning(name)? {
            Meaning::Register(register) => {
                self.check_width(name, register, width, fit)?;
                Ok(register)
            }
            Meaning::Symbol(_) => {
                let message = format!("`{}` is not a register", name.text);
                Err(Box::new(Diagnostic::error(Code::Name, name.span(), message)))
            }
        }
    }

    fn check_width(&self, name: Name<'a>, register: Reg, width: Width, fit: Fit) -> Lower {
        let found = self.builder.width(register);
        let fits = match fit {
            Fit::Exact => found == width,
            Fit::AtLeast => found >= width && (found == Width::B1) == (width == Width::B1),
        };
        if fits {
            return Ok(());
        }
        let message = format!(
            "`{}`: register `{}` has {} bits where {} are needed",
            self.mnemonic(),
            name.text,
            found.bits(),
            width.bits()
        );
        Err(Box::new(Diagnostic::unsupported(Code::Operand, name.span(), message)))
    }

    /// Resolves a name, innermost scope first.
    pub(super) fn meaning(&mut self, name: Name<'a>) -> Lower<Meaning> {
        match self.builder.resolve(name.text) {
            Some(Entity::Registers(registers)) if registers.decl.components == 1 => {
                return Ok(Meaning::Register(registers.first));
            }
            Some(Entity::Registers(_)) => {
                let message = format!("`{}` is a vector register", name.text);
                return Err(Box::new(Diagnostic::unsupported(Code::Operand, name.span(), message)));
            }
            Some(Entity::Variable(variable)) => {
                return Ok(Meaning::Symbol(Symbol::Variable(*variable)));
            }
            Some(Entity::Declared(_) | Entity::Label(_) | Entity::Table(_)) => {
                let message = format!("`{}` is a label", name.text);
                return Err(Box::new(Diagnostic::error(Code::Name, name.span(), message)));
            }
            None => {}
        }
        let globals = &self.builder.context.globals;
        let variable = globals.variables.get(name.text).copied().map(Symbol::Variable);
        let function = || globals.functions.get(name.text).copied().map(Symbol::Function);
        variable.or_else(function).map(Meaning::Symbol).ok_or_else(|| undeclared(name))
    }

    /// Returns the variable or function a name denotes; `None` if it denotes something else.
    pub(crate) fn symbol(&mut self, name: Name<'a>) -> Option<Symbol> {
        match self.meaning(name) {
            Ok(Meaning::Symbol(symbol)) => Some(symbol),
            _ => None,
        }
    }

    fn vector_component(&mut self, name: Name<'a>, component: Name<'a>) -> Lower<Reg> {
        let registers = self.builder.register(name.text).ok_or_else(|| undeclared(name))?;
        let index = match component.text {
            "x" | "r" => 0,
            "y" | "g" => 1,
            "z" | "b" => 2,
            "w" | "a" => 3,
            _ => u8::MAX,
        };
        if index >= registers.decl.components || registers.decl.components == 1 {
            let message = format!("`{}` has no component `.{}`", name.text, component.text);
            return Err(Box::new(Diagnostic::error(Code::Name, component.span(), message)));
        }
        Ok(Reg::from_position(registers.first.position() + usize::from(index)))
    }

    // Vectors.

    /// Splits an operand into `count` parts: those in braces, or the components of a vector register.
    fn parts(&mut self, operand: &'i Operand<'a>, count: usize) -> Lower<Vec<Part<'i, 'a>>> {
        let parts: Vec<Part<'i, 'a>> = match operand {
            Operand::Vector(parts) => parts.iter().map(Part::Written).collect(),
            Operand::Expr(Expr::Name(name)) => match self.builder.register(name.text) {
                Some(registers) if registers.decl.components > 1 => {
                    let first = registers.first.position();
                    let count = usize::from(registers.decl.components);
                    let component =
                        |index| Part::Component(*name, Reg::from_position(first + index));
                    (0..count).map(component).collect()
                }
                _ => vec![Part::Written(operand)],
            },
            single => vec![Part::Written(single)],
        };
        if parts.len() != count {
            let found = parts.len();
            let why = format!("a vector of {count} is needed here, this has {found}");
            return Err(self.bad_operand(operand, &why));
        }
        Ok(parts)
    }
}

/// One part of a vector operand.
enum Part<'i, 'a> {
    /// An operand in braces.
    Written(&'i Operand<'a>),
    /// A component of a vector register with this name.
    Component(Name<'a>, Reg),
}

impl<'a> Part<'_, 'a> {
    fn register(self, insn: &mut Insn<'_, '_, 'a>, width: Width, fit: Fit) -> Lower<Option<Reg>> {
        match self {
            Self::Written(operand) => insn.register_or_sink(operand, width, fit),
            Self::Component(name, register) => {
                insn.check_width(name, register, width, fit)?;
                Ok(Some(register))
            }
        }
    }

    fn source(self, insn: &mut Insn<'_, '_, 'a>, ty: Type, fit: Fit) -> Lower<ir::Operand> {
        match self {
            Self::Written(operand) => insn.source(operand, ty, fit),
            Self::Component(name, register) => {
                insn.check_width(name, register, ty.width(), fit)?;
                Ok(register.into())
            }
        }
    }
}

/// Splits `name`, `name+4`, `name-4+8`; `None` if there is no name.
pub(super) fn split_offset<'a>(expr: &Expr<'a>) -> Lower<Option<(Name<'a>, i64)>> {
    Ok(match expr {
        Expr::Name(name) if name.text != "WARP_SZ" => Some((*name, 0)),
        Expr::Parenthesized(inner) => split_offset(inner)?,
        Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), sides) => {
            let Some((name, offset)) = split_offset(&sides.0)? else { return Ok(None) };
            let Some(delta) = constant::integer(constant::evaluate(&sides.1)?) else {
                return Ok(None);
            };
            let delta = delta.cast_signed();
            Some(match op {
                BinaryOp::Add => (name, offset.wrapping_add(delta)),
                _ => (name, offset.wrapping_sub(delta)),
            })
        }
        _ => None,
    })
}

pub(super) fn undeclared(name: Name<'_>) -> Refusal {
    let message = format!("`{}` is not declared", name.text);
    Box::new(Diagnostic::error(Code::Name, name.span(), message))
}

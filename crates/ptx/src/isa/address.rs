//! Addresses as operands (manual §6.4.1): `[register+4]`, `[symbol]`, `[16]`, `array[3]`.

use super::insn::Insn;
use super::operand::{Meaning, split_offset, undeclared};
use super::{Lower, Type};
use crate::lower::constant;
use crate::syntax::ast::{Expr, Name, Operand};
use ir::{Address, AddressBase, Symbol, Width};

impl<'a> Insn<'_, '_, 'a> {
    /// Takes the next operand as `[base+offset]`.
    pub(crate) fn address(&mut self) -> Lower<Address> {
        let mut operand = self.next_operand()?;
        // The placement of a unified variable is up to the host; its accesses are like any other.
        if let Operand::Qualified(address, qualifier) = operand
            && qualifier.text == "unified"
        {
            operand = address;
        }
        let inner = match operand {
            Operand::Address(parts) if parts.len() == 1 => &parts[0],
            Operand::Element(..) => operand,
            _ => return Err(self.bad_operand(operand, "an address in brackets is needed here")),
        };
        self.address_inside(inner)
    }

    /// Lowers the contents of an address's brackets.
    pub(super) fn address_inside(&mut self, operand: &Operand<'a>) -> Lower<Address> {
        match operand {
            Operand::Element(array, index) => {
                let (symbol, offset) = self.element(operand, *array, index)?;
                self.symbol_address(operand, symbol, offset)
            }
            Operand::Expr(expr) => self.address_expr(operand, expr),
            _ => Err(self.bad_operand(operand, "this is not an address")),
        }
    }

    fn address_expr(&mut self, operand: &Operand<'a>, expr: &Expr<'a>) -> Lower<Address> {
        if let Some((name, offset)) = split_offset(expr)? {
            return match self.meaning(name)? {
                Meaning::Symbol(symbol) => self.symbol_address(operand, symbol, offset),
                Meaning::Register(register) => {
                    if !matches!(self.builder.width(register), Width::B32 | Width::B64) {
                        return Err(self.bad_operand(operand, "an address has 32 or 64 bits"));
                    }
                    Ok(Address { base: AddressBase::Register(register), offset })
                }
            };
        }
        let value = constant::integer(constant::evaluate(expr)?);
        match value {
            Some(bits) => Ok(Address { base: AddressBase::Absolute, offset: bits.cast_signed() }),
            None => Err(self.bad_operand(operand, "this is not an address")),
        }
    }

    fn symbol_address(&self, operand: &Operand<'a>, symbol: Symbol, offset: i64) -> Lower<Address> {
        match symbol {
            Symbol::Variable(variable) => {
                Ok(Address { base: AddressBase::Variable(variable), offset })
            }
            Symbol::Function(_) => Err(self.bad_operand(operand, "a function is not memory")),
        }
    }

    /// `symbol+offset`; `None` if the expression has no symbol.
    pub(super) fn symbol_expr(&mut self, expr: &Expr<'a>) -> Lower<Option<(Symbol, i64)>> {
        let Some((name, offset)) = split_offset(expr)? else { return Ok(None) };
        match self.symbol(name) {
            Some(symbol) => Ok(Some((symbol, offset))),
            None => Err(undeclared(name)),
        }
    }

    /// `array[3]`
    pub(super) fn element(
        &mut self,
        operand: &Operand<'a>,
        array: Name<'a>,
        index: &Operand<'a>,
    ) -> Lower<(Symbol, i64)> {
        let symbol = self.symbol(array).ok_or_else(|| undeclared(array))?;
        let index = match index {
            Operand::Expr(expr) => constant::evaluate(expr).ok().and_then(constant::integer),
            _ => None,
        };
        let size = match symbol {
            Symbol::Variable(variable) => {
                let element = &self.builder.context.program.variables[variable].element;
                Type::parse(element).map(|ty| u64::from(ty.width().bytes()))
            }
            Symbol::Function(_) => None,
        };
        match (index, size) {
            (Some(index), Some(size)) => Ok((symbol, index.wrapping_mul(size).cast_signed())),
            _ => Err(self.bad_operand(operand, "only constant indices are supported here")),
        }
    }
}

//! Lowers CUDA's functions on pairs of 16-bit floats (`__hadd2` and others), scalar by scalar.

use super::diagnostics::Result;
use super::lowerer::Lowerer;
use super::memory_model::{Item, Value};
use super::types::{binary, convert};
use base::Span;
use cuda::tree;
use kir::{Binary, Expr, ExprKind, Stmt, Type, Unary};

impl Lowerer<'_> {
    /// A function of pairs; `None` if it is not one of these.
    pub(super) fn pair_function(
        &mut self,
        name: &str,
        arguments: &[tree::Expr],
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<Option<Value>> {
        if !is_of_pairs(name) {
            return Ok(None);
        }
        let mut values: Vec<Vec<Expr>> = Vec::new();
        for value in self.values(arguments, out)? {
            let scalars = value.into_iter().filter_map(|item| match item {
                Item::Scalar(value) => Some(convert(value, Type::Float)),
                _ => None,
            });
            values.push(scalars.collect());
        }
        let result = match (name, &values[..]) {
            (_, [one, other]) if operation(name).is_some() => {
                let operator = operation(name).unwrap_or(Binary::Add);
                let pairs = one.iter().zip(other);
                pairs.map(|(a, b)| binary(operator, a.clone(), b.clone(), span)).collect()
            }
            ("__hfma2", [a, b, c]) => {
                let all = a.iter().zip(b).zip(c);
                all.map(|((a, b), c)| {
                    let kind = ExprKind::Call("fma", vec![a.clone(), b.clone(), c.clone()]);
                    Expr { kind, ty: Type::Float, span }
                })
                .collect()
            }
            ("__hneg2", [one]) => one.iter().map(|a| negative(a, span)).collect(),
            ("__float2half2_rn" | "__half2half2" | "__float2bfloat162_rn", [one]) => {
                one.iter().chain(one).cloned().collect()
            }
            ("__low2half2", [one]) => {
                one.iter().take(1).chain(one.iter().take(1)).cloned().collect()
            }
            ("__high2half2", [one]) => {
                one.iter().skip(1).chain(one.iter().skip(1)).cloned().collect()
            }
            ("__lowhigh2highlow", [one]) => one.iter().rev().cloned().collect(),
            ("__low2float" | "__low2half", [one]) => one.iter().take(1).cloned().collect(),
            ("__high2float" | "__high2half", [one]) => one.iter().skip(1).cloned().collect(),
            _ => values.concat(),
        };
        Ok(Some(result.into_iter().map(Item::Scalar).collect()))
    }
}

fn negative(value: &Expr, span: Span) -> Expr {
    let kind = ExprKind::Unary(Unary::Neg, Box::new(value.clone()));
    Expr { kind, ty: Type::Float, span }
}

fn operation(name: &str) -> Option<Binary> {
    Some(match name {
        "__hadd2" => Binary::Add,
        "__hsub2" => Binary::Sub,
        "__hmul2" => Binary::Mul,
        "__h2div" => Binary::Div,
        "__hmax2" => Binary::Max,
        "__hmin2" => Binary::Min,
        _ => return None,
    })
}

fn is_of_pairs(name: &str) -> bool {
    operation(name).is_some()
        || matches!(
            name,
            "__hfma2"
                | "__hneg2"
                | "__float2half2_rn"
                | "__half2half2"
                | "__float2bfloat162_rn"
                | "__low2half2"
                | "__high2half2"
                | "__lowhigh2highlow"
                | "__low2float"
                | "__low2half"
                | "__high2float"
                | "__high2half"
                // The same scalars in another order of types.
                | "__floats2half2_rn"
                | "__halves2half2"
                | "__float22half2_rn"
                | "__half22float2"
                | "__floats2bfloat162_rn"
                | "__bfloat1622float2"
        )
}

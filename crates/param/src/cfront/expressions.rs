//! Expressions (ISO C++17 [expr]), and those of annotations: chained comparisons, `==>`, `\forall`.

use super::ast::{Expr, ExprKind, Fold, Quantifier, Scalar, TypeName};
use super::parser::Parser;
use super::token::{Kind, Result};
use base::Span;

const ASSIGNMENTS: &[&str] = &["=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "|=", "^="];

/// Words of annotations that bind a variable.
const QUANTIFIERS: &[&str] = &["\\forall", "\\exists", "\\sum", "\\fold", "\\num_of"];
/// Functions of annotations.
const FUNCTIONS: &[&str] = &[
    "\\old",
    "\\at",
    "\\result",
    "\\other",
    "\\max",
    "\\min",
    "\\abs",
    "\\is_pow2",
    "\\pow2",
    "\\lowbit",
];

/// Binary operators and how tightly they bind.
fn precedence(operator: &str, annotated: bool) -> Option<u8> {
    Some(match operator {
        "<==>" if annotated => 1,
        "==>" if annotated => 2,
        "||" => 3,
        "&&" => 4,
        "|" => 5,
        "^" => 6,
        "&" => 7,
        "==" | "!=" => 8,
        "<" | ">" | "<=" | ">=" => 9,
        "<<" | ">>" => 10,
        "+" | "-" => 11,
        "*" | "/" | "%" => 12,
        _ => return None,
    })
}

impl Parser {
    /// An expression with commas.
    pub(super) fn expression(&mut self) -> Result<Expr> {
        let start = self.span();
        let mut left = self.assignment()?;
        while self.take(",") {
            let right = self.assignment()?;
            let kind = ExprKind::Comma(Box::new(left), Box::new(right));
            left = Expr { kind, span: self.since(start) };
        }
        Ok(left)
    }

    /// An expression without commas.
    pub(super) fn assignment(&mut self) -> Result<Expr> {
        self.nested(|parser| {
            let start = parser.span();
            let left = parser.ternary()?;
            let Kind::Punct(punct) = *parser.kind() else { return Ok(left) };
            if !ASSIGNMENTS.contains(&punct) || parser.annotated {
                return Ok(left);
            }
            parser.at += 1;
            let right = parser.assignment()?;
            let kind = ExprKind::Assign(punct, Box::new(left), Box::new(right));
            Ok(Expr { kind, span: parser.since(start) })
        })
    }

    fn ternary(&mut self) -> Result<Expr> {
        let start = self.span();
        let condition = self.binary(0)?;
        if !self.take("?") {
            return Ok(condition);
        }
        let then = self.nested(Self::expression)?;
        self.expect(":")?;
        let otherwise = self.nested(Self::assignment)?;
        let kind = ExprKind::Ternary(Box::new(condition), Box::new(then), Box::new(otherwise));
        Ok(Expr { kind, span: self.since(start) })
    }

    fn binary(&mut self, least: u8) -> Result<Expr> {
        let start = self.span();
        let mut left = self.unary()?;
        // The right side of the comparison before, for `0 <= i < n`.
        let mut chained: Option<Expr> = None;
        while let Kind::Punct(operator) = *self.kind() {
            let Some(level) = precedence(operator, self.annotated).filter(|one| *one > least)
            else {
                break;
            };
            self.at += 1;
            // `==>` groups to the right.
            let inner = if operator == "==>" { level - 1 } else { level };
            let right = self.nested(|parser| parser.binary(inner))?;
            let span = self.since(start);
            let comparison = self.annotated && level == 9;
            let make = |one: Expr, other: Expr| Expr {
                kind: ExprKind::Binary(operator, Box::new(one), Box::new(other)),
                span,
            };
            left = match chained.take() {
                Some(middle) if comparison => {
                    let second = make(middle, right.clone());
                    let kind = ExprKind::Binary("&&", Box::new(left), Box::new(second));
                    Expr { kind, span }
                }
                _ => make(left, right.clone()),
            };
            chained = comparison.then_some(right);
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Expr> {
        self.nested(|parser| {
            let start = parser.span();
            for operator in ["++", "--"] {
                if parser.take(operator) {
                    let target = Box::new(parser.unary()?);
                    let kind = ExprKind::Step { add: operator == "++", prefix: true, target };
                    return Ok(Expr { kind, span: parser.since(start) });
                }
            }
            for operator in ["-", "+", "!", "~", "*", "&"] {
                if parser.take(operator) {
                    let kind = ExprKind::Unary(operator, Box::new(parser.unary()?));
                    return Ok(Expr { kind, span: parser.since(start) });
                }
            }
            if parser.is("(") {
                parser.at += 1;
                if parser.is_type() {
                    let ty = parser.type_name()?;
                    parser.expect(")")?;
                    let kind = ExprKind::Cast(ty, Box::new(parser.unary()?));
                    return Ok(Expr { kind, span: parser.since(start) });
                }
                parser.at -= 1;
            }
            parser.postfix()
        })
    }

    fn postfix(&mut self) -> Result<Expr> {
        let start = self.span();
        let mut expr = self.primary()?;
        loop {
            let kind = if self.take("[") {
                let index = self.expression()?;
                self.expect("]")?;
                ExprKind::Index(Box::new(expr), Box::new(index))
            } else if self.take(".") {
                ExprKind::Member(Box::new(expr), self.name()?)
            } else if self.is("++") || self.is("--") {
                let add = self.is("++");
                self.at += 1;
                ExprKind::Step { add, prefix: false, target: Box::new(expr) }
            } else if self.take("->") {
                let pointee = Expr { span: expr.span, kind: ExprKind::Unary("*", Box::new(expr)) };
                ExprKind::Member(Box::new(pointee), self.name()?)
            } else {
                return Ok(expr);
            };
            expr = Expr { kind, span: self.since(start) };
        }
    }

    fn primary(&mut self) -> Result<Expr> {
        let start = self.span();
        let kind = match self.kind().clone() {
            Kind::Int { value, unsigned, long } => {
                self.at += 1;
                integer(value, unsigned, long)
            }
            Kind::Float(value) => {
                self.at += 1;
                ExprKind::Float(value)
            }
            Kind::Punct("(") => {
                self.at += 1;
                let inner = self.nested(Self::expression)?;
                self.expect(")")?;
                // The parentheses end a chain of comparisons.
                return Ok(Expr { span: self.since(start), ..inner });
            }
            Kind::Word(word) => return self.word(&word, start),
            Kind::Text(_) => {
                return Err(self.unsupported(start, "text is not supported here"));
            }
            _ => return Err(self.error("expected an expression")),
        };
        Ok(Expr { kind, span: start })
    }

    fn word(&mut self, word: &str, start: Span) -> Result<Expr> {
        if self.is_type() {
            // `float(x)`.
            let ty = self.type_name()?;
            self.expect("(")?;
            let kind = ExprKind::Cast(ty, Box::new(self.expression()?));
            self.expect(")")?;
            return Ok(Expr { kind, span: self.since(start) });
        }
        self.at += 1;
        let kind = match word {
            "true" | "false" => ExprKind::Bool(word == "true"),
            "static_cast" | "reinterpret_cast" => {
                self.expect("<")?;
                let ty: TypeName = self.type_name()?;
                self.expect(">")?;
                self.expect("(")?;
                let inner = self.expression()?;
                self.expect(")")?;
                ExprKind::Cast(ty, Box::new(inner))
            }
            "\\forall" | "\\exists" => self.quantified(word)?,
            "\\sum" | "\\fold" | "\\num_of" => self.folded(word)?,
            _ if word.starts_with('\\') && !FUNCTIONS.contains(&word) => {
                return Err(self.unknown_word(word, start, QUANTIFIERS.iter().chain(FUNCTIONS)));
            }
            "const_cast" | "dynamic_cast" | "sizeof" | "new" | "delete" | "throw" => {
                let message = format!("`{word}` is not supported");
                return Err(self.unsupported(start, &message));
            }
            _ if self.is("(") => ExprKind::Call(word.to_owned(), self.arguments()?),
            _ if self.is("<") && self.templates.contains(word) => {
                let given = self.template_arguments()?;
                ExprKind::Instance(word.to_owned(), given, self.arguments()?)
            }
            _ if self.is("::") => {
                return Err(self.unsupported(start, "names with `::` are not supported"));
            }
            _ => ExprKind::Name(word.to_owned()),
        };
        Ok(Expr { kind, span: self.since(start) })
    }
}

impl Parser {
    /// The rest of `\forall int i, j; body`. The body ends where the clause does.
    fn quantified(&mut self, word: &str) -> Result<ExprKind> {
        let start = self.span();
        let (mut names, mut natural) = (Vec::new(), Vec::new());
        loop {
            let ty = self.type_name()?;
            let Scalar::Int { signed, .. } = ty.scalar else {
                return Err(self.error("variables of a quantifier are integers"));
            };
            let first = names.len();
            names.push(self.name()?);
            while self.take(",") && !self.is_type() {
                names.push(self.name()?);
            }
            if !signed {
                natural.extend(names[first..].iter().cloned());
            }
            if self.take(";") {
                break;
            }
            if !self.is_type() {
                return Err(self.error("expected `;` after the variables of a quantifier"));
            }
        }
        let quantifier = if word == "\\forall" { Quantifier::Forall } else { Quantifier::Exists };
        let mut body = self.nested(Self::assignment)?;
        let operator = if quantifier == Quantifier::Forall { "==>" } else { "&&" };
        let make = |kind| Box::new(Expr { kind, span: start });
        for name in natural {
            // An unsigned variable is an integer that is not negative.
            let (zero, own) = (make(integer(0, false, false)), make(ExprKind::Name(name)));
            let above = make(ExprKind::Binary("<=", zero, own));
            body =
                Expr { span: body.span, kind: ExprKind::Binary(operator, above, Box::new(body)) };
        }
        Ok(ExprKind::Quantified(quantifier, names, Box::new(body)))
    }

    /// The rest of `\sum(k, lo, hi, e)`, `\fold(op, k, lo, hi, e)` or `\num_of(k, lo, hi, P)`.
    fn folded(&mut self, word: &str) -> Result<ExprKind> {
        self.expect("(")?;
        let mut op = "+".to_owned();
        if word == "\\fold" {
            op = match self.kind().clone() {
                Kind::Punct(sign @ ("+" | "*" | "|" | "&" | "^")) => sign.to_owned(),
                Kind::Word(name) => name.trim_start_matches('\\').to_owned(),
                _ => {
                    let message = "expected `+`, `*`, `max`, `min`, `|`, `&`, `^` or a monoid";
                    return Err(self.error(message));
                }
            };
            self.at += 1;
            self.expect(",")?;
        }
        let var = self.name()?;
        self.expect(",")?;
        let low = self.assignment()?;
        self.expect(",")?;
        let high = self.assignment()?;
        self.expect(",")?;
        let mut body = self.assignment()?;
        self.expect(")")?;
        if word == "\\num_of" {
            // How often something holds is the sum of ones where it does.
            let span = body.span;
            let number = |value: u128| Box::new(Expr { kind: integer(value, false, false), span });
            body = Expr { kind: ExprKind::Ternary(Box::new(body), number(1), number(0)), span };
        }
        Ok(ExprKind::Fold(Box::new(Fold { op, var, low, high, body })))
    }

    fn arguments(&mut self) -> Result<Vec<Expr>> {
        self.expect("(")?;
        let mut arguments = Vec::new();
        while !self.take(")") {
            arguments.push(self.assignment()?);
            if !self.take(",") && !self.is(")") {
                return Err(self.error("expected `,` or `)`"));
            }
        }
        Ok(arguments)
    }

    /// The integers in `<4, float>`; types are read as what their parameters are read as.
    fn template_arguments(&mut self) -> Result<Vec<Expr>> {
        self.expect("<")?;
        let mut given = Vec::new();
        while !self.take(">") {
            if self.is_type() {
                self.type_name()?;
            } else {
                // A `>` outside of parentheses ends the list.
                given.push(self.unary()?);
            }
            if !self.take(",") && !self.is(">") {
                return Err(self.error("expected `,` or `>`"));
            }
        }
        Ok(given)
    }

    /// `{1, 2}`.
    pub(super) fn braces(&mut self) -> Result<Expr> {
        let start = self.span();
        self.expect("{")?;
        let mut parts = Vec::new();
        while !self.take("}") {
            let inner = |parser: &mut Self| match parser.is("{") {
                true => parser.braces(),
                false => parser.assignment(),
            };
            parts.push(self.nested(inner)?);
            if !self.take(",") && !self.is("}") {
                return Err(self.error("expected `,` or `}`"));
            }
        }
        Ok(Expr { kind: ExprKind::Braces(parts), span: self.since(start) })
    }
}

/// The type of a literal ([lex.icon]).
fn integer(value: u128, unsigned: bool, long: bool) -> ExprKind {
    let fits = |bits: u32| value < 1u128 << bits;
    let (bits, signed) = match (unsigned, long) {
        (false, false) if fits(31) => (32, true),
        (true, false) if fits(32) => (32, false),
        (false, _) if fits(63) => (64, true),
        _ => (64, false),
    };
    let value = i128::try_from(value).unwrap_or(i128::MAX);
    ExprKind::Int { value, scalar: Scalar::Int { bits, signed } }
}

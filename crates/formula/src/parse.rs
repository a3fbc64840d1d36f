//! Parses tokens to a syntax tree by recursive descent; operators bind as in Python.
//!
//! ```text
//! formula    = definition { [";"] definition }
//! definition = ["let"] name [ "[" index { "," index } "]" ] "=" expr
//! index      = name [ "in" sum ".." sum ]
//! expr       = or [ "if" or [ "else" expr ] ]
//! or         = and { "or" and }        and = not { "and" not }       not = "not" not | comparison
//! comparison = sum { ("<"|"<="|">"|">="|"=="|"!=") sum }
//! sum        = product { ("+"|"-") product }
//! product    = unary { ("*"|"/"|"//"|"%") unary }
//! unary      = "-" unary | primary [ "^" unary ]
//! primary    = number | "(" expr ")" | name | name "[" sum { "," sum } [ "else" sum ] "]"
//!            | name "(" (index | expr) { "," (index | expr) } ")"
//! ```

use crate::ast::{
    Argument, Binary, Definition, Expression, ExpressionKind, Formula, Index, Name, Relation, Unary,
};
use crate::error::Error;
use crate::lexer::{Token, tokens};
use base::Span;

/// Expressions nested deeper than this are rejected, before the stack is exhausted.
const MAX_DEPTH: u32 = 100;

/// Most operators of one chain such as `a + b + c`, whose tree is as deep as the chain is long.
const MAX_CHAIN: usize = 300;

/// Most levels of a tree, through which passes recurse.
const MAX_TREE_DEPTH: usize = 400;

/// Most comparisons of one chain such as `a < b <= c`.
const MAX_COMPARISONS: usize = 50;

/// Reserved words.
const RESERVED: [&str; 7] = ["let", "in", "if", "else", "and", "or", "not"];

/// Reads a formula.
///
/// # Errors
/// The first mistake.
pub fn parse(text: &str) -> Result<Formula, Error> {
    let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
    let mut parser =
        Parser { text, tokens: tokens(text)?, at: 0, depth: 0, end: Span::new(end, end) };
    let mut definitions = Vec::new();
    while parser.take_symbol(";") {}
    while parser.peek().is_some() {
        definitions.push(parser.definition()?);
        while parser.take_symbol(";") {}
    }
    match definitions.is_empty() {
        true => Err(Error::new(parser.end, "a formula is needed, such as `y[i] = x[i] + 1`")),
        false => Ok(Formula { definitions }),
    }
}

/// Reads one expression, such as the size of a tensor.
///
/// # Errors
/// The first mistake.
pub fn parse_expression(text: &str) -> Result<Expression, Error> {
    let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
    let mut parser =
        Parser { text, tokens: tokens(text)?, at: 0, depth: 0, end: Span::new(end, end) };
    let expression = parser.sum()?;
    match parser.peek() {
        None => Ok(expression),
        Some(_) => parser.fail("an expression is needed, such as `2*n`"),
    }
}

/// The state of a parser.
struct Parser<'t> {
    text: &'t str,
    tokens: Vec<(Token, Span)>,
    /// The position of the next token.
    at: usize,
    /// The current nesting.
    depth: u32,
    /// The empty span at the end of the text.
    end: Span,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(token, _)| token)
    }

    fn span(&self) -> Span {
        self.tokens.get(self.at).map_or(self.end, |(_, span)| *span)
    }

    /// Returns the span of the previous token.
    fn previous_span(&self) -> Span {
        self.at.checked_sub(1).map_or(self.end, |at| self.tokens[at].1)
    }

    /// Returns `true` if the next token is on a new line.
    fn is_on_new_line(&self) -> bool {
        let between = self.previous_span().end as usize..self.span().start as usize;
        self.text.get(between).is_some_and(|text| text.contains('\n'))
    }

    fn fail<T>(&self, message: impl Into<String>) -> Result<T, Error> {
        Err(Error::new(self.span(), message))
    }

    fn is_symbol(&self, symbol: &str) -> bool {
        matches!(self.peek(), Some(Token::Symbol(one)) if *one == symbol)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Some(Token::Word(one)) if one == word)
    }

    fn take_symbol(&mut self, symbol: &str) -> bool {
        let found = self.is_symbol(symbol);
        self.at += usize::from(found);
        found
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, symbol: &'static str, after: &str) -> Result<(), Error> {
        match self.take_symbol(symbol) {
            true => Ok(()),
            false => self.fail(format!("expected `{symbol}` {after}{}", self.describe_next())),
        }
    }

    /// Describes the next token, for messages.
    fn describe_next(&self) -> String {
        match self.peek() {
            None => ", the formula ends here".to_owned(),
            Some(Token::Number(number, _)) => format!(", not `{number}`"),
            Some(Token::Word(word)) => format!(", not `{word}`"),
            Some(Token::Symbol(symbol)) => format!(", not `{symbol}`"),
        }
    }

    fn name(&mut self, what: &str) -> Result<Name, Error> {
        let span = self.span();
        match self.peek() {
            Some(Token::Word(word)) if !RESERVED.contains(&word.as_str()) => {
                let text = word.clone();
                self.at += 1;
                Ok(Name { text, span })
            }
            _ => self.fail(format!("expected {what}{}", self.describe_next())),
        }
    }

    fn definition(&mut self) -> Result<Definition, Error> {
        let is_let = self.take_word("let");
        let name = self.name("the name of an output, or `let` and a name")?;
        let mut indices = Vec::new();
        if self.take_symbol("[") {
            loop {
                indices.push(self.index()?);
                if !self.take_symbol(",") {
                    break;
                }
            }
            self.expect("]", "after the indices")?;
        }
        if self.is_symbol("==") {
            return self.fail("a definition has one `=`");
        }
        self.expect("=", "after what is defined")?;
        let value = self.expression()?;
        if depth(&value) > MAX_TREE_DEPTH {
            return Err(Error::new(
                value.span,
                format!("nested deeper than {MAX_TREE_DEPTH}; split it with `let`"),
            ));
        }
        if self.is_symbol("=") {
            return self.fail(
                "a second `=`; definitions are separated by `;`, and numbers are compared with `==`",
            );
        }
        let ends = match self.peek() {
            None | Some(Token::Symbol(";")) => true,
            // A definition begins with a name, on a line of its own.
            Some(Token::Word(word)) => {
                let is_name = word == "let" || !RESERVED.contains(&word.as_str());
                is_name && self.is_on_new_line()
            }
            Some(_) => false,
        };
        match ends {
            true => Ok(Definition { is_let, name, indices, value }),
            false => self.fail(format!("expected an operator or `;`{}", self.describe_next())),
        }
    }

    fn index(&mut self) -> Result<Index, Error> {
        let what = "an index: a name, or a name and a range such as `k in 0..4`";
        let name = self.name(what)?;
        let range = self.range()?;
        if range.is_none() && !self.is_symbol(",") && !self.is_symbol("]") {
            return self
                .fail(format!("expected names of indices left of `=`{}", self.describe_next()));
        }
        Ok(Index { name, range })
    }

    fn range(&mut self) -> Result<Option<Box<(Expression, Expression)>>, Error> {
        if !self.take_word("in") {
            return Ok(None);
        }
        let low = self.sum()?;
        self.expect("..", "between the ends of a range")?;
        let high = self.sum()?;
        Ok(Some(Box::new((low, high))))
    }

    /// Runs `read` one level deeper.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.fail(format!("nested deeper than {MAX_DEPTH}"));
        }
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn expression(&mut self) -> Result<Expression, Error> {
        self.deeper(|parser| {
            let value = parser.or()?;
            if !parser.take_word("if") {
                return Ok(value);
            }
            let condition = parser.or()?;
            let otherwise = match parser.take_word("else") {
                true => Some(Box::new(parser.expression()?)),
                false => None,
            };
            let span = value.span.to(parser.previous_span());
            let (value, condition) = (Box::new(value), Box::new(condition));
            Ok(Expression { kind: ExpressionKind::If { value, condition, otherwise }, span })
        })
    }

    /// Reads a chain of operators of one strength, from the left.
    fn chain(
        &mut self,
        operators: &[(&str, Binary)],
        next: fn(&mut Self) -> Result<Expression, Error>,
    ) -> Result<Expression, Error> {
        let mut left = next(self)?;
        for _ in 0..MAX_CHAIN {
            let found =
                operators.iter().find(|(text, _)| self.is_symbol(text) || self.is_word(text));
            let Some((_, operator)) = found else { return Ok(left) };
            self.at += 1;
            let right = next(self)?;
            let span = left.span.to(right.span);
            let kind = ExpressionKind::Binary(*operator, Box::new(left), Box::new(right));
            left = Expression { kind, span };
        }
        self.fail(format!("more than {MAX_CHAIN} operators in a row"))
    }

    fn or(&mut self) -> Result<Expression, Error> {
        self.chain(&[("or", Binary::Or)], Self::and)
    }

    fn and(&mut self) -> Result<Expression, Error> {
        self.chain(&[("and", Binary::And)], Self::not)
    }

    fn not(&mut self) -> Result<Expression, Error> {
        let start = self.span();
        if !self.take_word("not") {
            return self.comparison();
        }
        self.deeper(|parser| {
            let a = parser.not()?;
            let span = start.to(a.span);
            Ok(Expression { kind: ExpressionKind::Unary(Unary::Not, Box::new(a)), span })
        })
    }

    fn comparison(&mut self) -> Result<Expression, Error> {
        let first = self.sum()?;
        let mut others = Vec::new();
        while let Some(relation) = self.relation() {
            self.at += 1;
            others.push((relation, self.sum()?));
            if others.len() > MAX_COMPARISONS {
                return self.fail(format!("more than {MAX_COMPARISONS} comparisons in a row"));
            }
        }
        let Some((_, last)) = others.last() else { return Ok(first) };
        let span = first.span.to(last.span);
        Ok(Expression { kind: ExpressionKind::Comparison(Box::new(first), others), span })
    }

    fn relation(&self) -> Option<Relation> {
        let Some(Token::Symbol(symbol)) = self.peek() else { return None };
        let all = [
            Relation::Less,
            Relation::LessEqual,
            Relation::Greater,
            Relation::GreaterEqual,
            Relation::Equal,
            Relation::NotEqual,
        ];
        all.into_iter().find(|relation| relation.spelling() == *symbol)
    }

    fn sum(&mut self) -> Result<Expression, Error> {
        self.chain(&[("+", Binary::Add), ("-", Binary::Subtract)], Self::product)
    }

    fn product(&mut self) -> Result<Expression, Error> {
        let operators = [
            ("*", Binary::Multiply),
            ("/", Binary::Divide),
            ("//", Binary::FloorDivide),
            ("%", Binary::Remainder),
        ];
        self.chain(&operators, Self::unary)
    }

    fn unary(&mut self) -> Result<Expression, Error> {
        let start = self.span();
        self.deeper(|parser| {
            if parser.take_symbol("-") {
                let a = parser.unary()?;
                let span = start.to(a.span);
                return Ok(Expression {
                    kind: ExpressionKind::Unary(Unary::Negate, Box::new(a)),
                    span,
                });
            }
            let base = parser.primary()?;
            if !parser.take_symbol("^") {
                return Ok(base);
            }
            let exponent = parser.unary()?;
            let span = base.span.to(exponent.span);
            let kind = ExpressionKind::Binary(Binary::Power, Box::new(base), Box::new(exponent));
            Ok(Expression { kind, span })
        })
    }

    fn primary(&mut self) -> Result<Expression, Error> {
        let span = self.span();
        if let Some(Token::Number(number, is_real)) = self.peek() {
            let kind = ExpressionKind::Number(number.clone(), *is_real);
            self.at += 1;
            return Ok(Expression { kind, span });
        }
        if self.take_symbol("(") {
            let inner = self.expression()?;
            self.expect(")", "after an expression")?;
            return Ok(Expression { span: span.to(self.previous_span()), ..inner });
        }
        let name = self.name("a number, a name or `(`")?;
        let kind = if self.take_symbol("[") {
            self.element(name)?
        } else if self.take_symbol("(") {
            let arguments = self.arguments()?;
            ExpressionKind::Call { name, arguments }
        } else {
            ExpressionKind::Name(name.text)
        };
        Ok(Expression { kind, span: span.to(self.previous_span()) })
    }

    fn element(&mut self, name: Name) -> Result<ExpressionKind, Error> {
        let mut indices = Vec::new();
        let mut outside = None;
        loop {
            indices.push(self.sum()?);
            if self.take_word("else") {
                outside = Some(Box::new(self.sum()?));
                break;
            }
            if !self.take_symbol(",") {
                break;
            }
        }
        self.expect("]", "after the indices")?;
        Ok(ExpressionKind::Element { name, indices, outside })
    }

    fn arguments(&mut self) -> Result<Vec<Argument>, Error> {
        let mut all = Vec::new();
        loop {
            let expression = self.expression()?;
            let argument = match (&expression.kind, self.range()?) {
                (ExpressionKind::Name(text), Some(range)) => {
                    let name = Name { text: text.clone(), span: expression.span };
                    Argument::Index(Index { name, range: Some(range) })
                }
                (_, Some(_)) => {
                    let message = "a range belongs to a name: `k in 0..4`";
                    return Err(Error::new(expression.span, message));
                }
                (_, None) => Argument::Expression(expression),
            };
            all.push(argument);
            if !self.take_symbol(",") {
                break;
            }
        }
        self.expect(")", "after the arguments")?;
        Ok(all)
    }
}

/// Counts the levels of a tree, without recursion.
fn depth(expression: &Expression) -> usize {
    let (mut deepest, mut work) = (0, vec![(expression, 1)]);
    while let Some((one, level)) = work.pop() {
        deepest = deepest.max(level);
        one.each_child(&mut |inner| work.push((inner, level + 1)));
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a formula and prints it.
    fn printed(text: &str) -> String {
        parse(text).unwrap().to_string()
    }

    #[test]
    fn operators_bind_as_in_python() {
        assert_eq!(printed("y = -a^2*b"), printed("y = (-(a^2))*b"));
        assert_eq!(printed("y = a - b - c"), printed("y = (a - b) - c"));
        assert_eq!(printed("y = a/b*c"), printed("y = (a/b)*c"));
        assert_eq!(printed("y = a^-b^2"), printed("y = a^(-(b^2))"));
        assert_eq!(
            printed("y = a if b < c and not d or e else f if g else h"),
            printed("y = a if (((b < c) and (not d)) or e) else (f if g else h)")
        );
        assert_ne!(printed("y = a - (b - c)"), printed("y = a - b - c"));
    }

    #[test]
    fn definitions_end_at_the_next_one() {
        let formula = parse("let m = 1\nlet v[i] = x[i]\n  + m\ny[i] = v[i]").unwrap();
        assert_eq!(formula.definitions.len(), 3);
        assert_eq!(parse("a = 1; b = 2;").unwrap().definitions.len(), 2);
    }

    #[test]
    fn mistakes_have_words() {
        for (text, words) in [
            ("", "a formula is needed"),
            ("y[i] == x[i]", "one `=`"),
            ("y[i] = x[i] = z", "second `=`"),
            ("y[i+1] = x[i]", "names of indices"),
            ("y[i] = (x[i]", "expected `)`"),
            ("y[i] = x[i", "expected `]`"),
            ("y[i] = sum(k+1 in 0..3, x[k])", "a range belongs to a name"),
            ("y[i] =", "a number, a name"),
            ("y[i] = x[i] 3", "expected an operator"),
            ("y[i] = 3 in", "expected an operator"),
            ("y[i] = 2 x[i]", "expected an operator or `;`, not `x`"),
            ("y[i] = exp x[i]", "expected an operator or `;`, not `x`"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.message.contains(words), "{text}: {error}");
        }
        let deep = format!("y = {}1{}", "(".repeat(5000), ")".repeat(5000));
        assert!(parse(&deep).unwrap_err().message.contains("nested deeper"));
        let long = format!("y = 1{}", "+1".repeat(5000));
        assert!(parse(&long).unwrap_err().message.contains("in a row"));
        let chain = |inner: &str| format!("({inner}{})", "+1".repeat(290));
        let nested = (0..5).fold("1".to_owned(), |inner, _| chain(&inner));
        assert!(
            parse(&format!("y = {nested}")).unwrap_err().message.contains("split it with `let`")
        );
        let compared = format!("y = 1{}", "<1".repeat(500));
        assert!(parse(&compared).unwrap_err().message.contains("comparisons in a row"));
    }
}

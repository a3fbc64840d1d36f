//! Annotations: clauses of contracts, loops and barriers, definitions of predicates, lemmas and monoids. The words
//! are those of ACSL where it has one. A word that is none of ours is an error.

use super::ast::{Clause, ClauseKind, Footprint, Lemma, Monoid, Predicate};
use super::parser::Parser;
use super::token::{Kind, Result};
use base::{Code, Diagnostic, Span};

const WORDS: &[&str] = &[
    "requires",
    "ensures",
    "extent",
    "assert",
    "assume",
    "loop",
    "barrier",
    "instantiate",
    "ghost",
    "lemma",
    "use",
    "predicate",
    "monoid",
    "reads",
    "writes",
    "symbolic",
    "alias",
];

impl Parser {
    /// The clauses of an annotation, if one begins here.
    pub(super) fn clauses_if_any(&mut self) -> Result<Vec<Clause>> {
        let mut clauses = Vec::new();
        if *self.kind() != Kind::AnnotationStart {
            return Ok(clauses);
        }
        self.at += 1;
        self.annotated = true;
        while *self.kind() != Kind::AnnotationEnd {
            if *self.kind() == Kind::End {
                return Err(self.error("this annotation is not closed"));
            }
            self.clause(&mut clauses)?;
        }
        self.at += 1;
        self.annotated = false;
        Ok(clauses)
    }

    fn clause(&mut self, out: &mut Vec<Clause>) -> Result<()> {
        let start = self.span();
        if self.take(";") {
            return Ok(());
        }
        let word = self.name()?;
        let kind = match word.as_str() {
            "requires" => ClauseKind::Requires(self.expression()?),
            "ensures" => ClauseKind::Ensures(self.expression()?),
            "assert" => ClauseKind::Assert(self.expression()?),
            "assume" => ClauseKind::Assume(self.expression()?),
            "loop" | "barrier" => self.worded_clause(&word)?,
            "instantiate" => {
                self.skip_clause();
                ClauseKind::Instantiate
            }
            "use" => self.used_lemma()?,
            "ghost" => return self.ghost(start, out),
            "predicate" => self.predicate()?,
            "lemma" => self.lemma(start)?,
            "monoid" => self.monoid(start)?,
            "reads" | "writes" => return self.footprints(word == "writes", out),
            "extent" => return self.extents(out),
            "symbolic" => {
                self.skip_clause();
                ClauseKind::Symbolic
            }
            "alias" => {
                self.skip_clause();
                ClauseKind::Alias
            }
            _ => return Err(self.unknown_word(&word, start, WORDS.iter())),
        };
        out.push(Clause { kind, span: self.since(start) });
        self.finish()
    }

    /// `loop invariant`, `loop variant` and `barrier invariant`.
    fn worded_clause(&mut self, word: &str) -> Result<ClauseKind> {
        let start = self.span();
        let second = self.name()?;
        match (word, second.as_str()) {
            ("loop", "variant") => Ok(ClauseKind::LoopVariant(self.expression()?)),
            (_, "invariant") => {
                let named =
                    matches!(self.kind(), Kind::Word(_)) && *self.kind_at(1) == Kind::Punct(":");
                let name = if named { Some(self.name()?) } else { None };
                self.at += usize::from(named);
                let condition = self.expression()?;
                Ok(match word {
                    "loop" => ClauseKind::LoopInvariant(name, condition),
                    _ => ClauseKind::BarrierInvariant(name, condition),
                })
            }
            ("loop", _) => Err(self.unknown_word(&second, start, ["invariant", "variant"].iter())),
            _ => Err(self.unknown_word(&second, start, ["invariant"].iter())),
        }
    }

    /// `ghost int x = e;` or `ghost x = e;`.
    fn ghost(&mut self, start: Span, out: &mut Vec<Clause>) -> Result<()> {
        let kind = match self.local_declaration()? {
            Some(declaration) => {
                // It took its `;` with it.
                self.at -= 1;
                ClauseKind::GhostVar(Box::new(declaration))
            }
            None => {
                let target = self.assignment()?;
                self.expect("=")?;
                ClauseKind::GhostAssign(target, self.assignment()?)
            }
        };
        out.push(Clause { kind, span: self.since(start) });
        self.finish()
    }

    fn predicate(&mut self) -> Result<ClauseKind> {
        let name = self.name()?;
        let parameters = self.parameters()?;
        self.expect("=")?;
        let body = self.expression()?;
        Ok(ClauseKind::Predicate(Box::new(Predicate { name, parameters, body })))
    }

    fn lemma(&mut self, start: Span) -> Result<ClauseKind> {
        let name = self.name()?;
        let parameters = self.parameters()?;
        let mut induction = None;
        if self.take_word("by") {
            if !self.take_word("induction") {
                return Err(self.error("expected `induction`"));
            }
            self.expect("(")?;
            induction = Some(self.name()?);
            self.expect(")")?;
        }
        self.expect(":")?;
        let body = self.expression()?;
        let span = self.since(start);
        Ok(ClauseKind::Lemma(Box::new(Lemma { name, parameters, induction, body, span })))
    }

    /// `use name(e, …);`
    fn used_lemma(&mut self) -> Result<ClauseKind> {
        let name = self.name()?;
        let mut arguments = Vec::new();
        self.expect("(")?;
        while !self.take(")") {
            arguments.push(self.assignment()?);
            if !self.take(",") {
                self.expect(")")?;
                break;
            }
        }
        Ok(ClauseKind::Use(name, arguments))
    }

    fn monoid(&mut self, start: Span) -> Result<ClauseKind> {
        let function = self.name()?;
        self.expect(",")?;
        if !self.take_word("unit") {
            return Err(self.error("expected `unit` and the unit of the monoid"));
        }
        let unit = self.assignment()?;
        let commutative = self.take(",");
        if commutative && !self.take_word("commutative") {
            return Err(self.error("expected `commutative`"));
        }
        let span = self.since(start);
        Ok(ClauseKind::Monoid(Box::new(Monoid { function, unit, commutative, span })))
    }

    /// `a[lo .. hi], b[0 .. n];`
    fn footprints(&mut self, writes: bool, out: &mut Vec<Clause>) -> Result<()> {
        loop {
            let start = self.span();
            let name = self.name()?;
            let array = super::ast::Expr {
                kind: super::ast::ExprKind::Name(name),
                span: self.since(start),
            };
            self.expect("[")?;
            let low = self.assignment()?;
            self.expect("..")?;
            let high = self.assignment()?;
            self.expect("]")?;
            let kind = ClauseKind::Footprint(Footprint { writes, array, low, high });
            out.push(Clause { kind, span: self.since(start) });
            if !self.take(",") {
                return self.finish();
            }
        }
    }

    fn extents(&mut self, out: &mut Vec<Clause>) -> Result<()> {
        loop {
            let start = self.span();
            let mut name = self.name()?;
            while self.take(".") {
                name = format!("{name}.{}", self.name()?);
            }
            self.expect("[")?;
            let size = self.assignment()?;
            self.expect("]")?;
            out.push(Clause { kind: ClauseKind::Extent(name, size), span: self.since(start) });
            if !self.take(",") {
                return self.finish();
            }
        }
    }

    fn finish(&mut self) -> Result<()> {
        if self.take(";") || *self.kind() == Kind::AnnotationEnd {
            return Ok(());
        }
        Err(self.error("expected `;` after this clause"))
    }

    fn skip_clause(&mut self) {
        while !matches!(self.kind(), Kind::AnnotationEnd | Kind::End | Kind::Punct(";")) {
            self.at += 1;
        }
    }

    /// A word that is none of `words`, with the one that is most like it.
    pub(super) fn unknown_word<'w>(
        &self,
        word: &str,
        span: Span,
        words: impl Iterator<Item = &'w &'w str>,
    ) -> Box<Diagnostic> {
        let words: Vec<&str> = words.copied().collect();
        let message = format!("`{word}` is no word of annotations");
        let close = words.iter().map(|one| (distance(one, word), *one)).min();
        let help = match close {
            Some((changes, close)) if changes <= 1 + word.len() / 4 => {
                format!("did you mean `{close}`?")
            }
            _ => format!("here these are: {}", words.join(", ")),
        };
        Box::new(Diagnostic::error(Code::Syntax, span, message).help(help))
    }
}

/// How many letters must be changed, inserted or left out to make one word of another.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (number, letter) in one.chars().enumerate() {
        let mut before = row[0];
        row[0] = number + 1;
        for (at, second) in other.iter().enumerate() {
            let replaced = before + usize::from(letter != *second);
            before = row[at + 1];
            row[at + 1] = replaced.min(before + 1).min(row[at] + 1);
        }
    }
    row[other.len()]
}

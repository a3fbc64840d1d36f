//! Annotations: clauses of contracts, loops and barriers, definitions of predicates, lemmas and monoids. The words
//! are those of ACSL, as far as it has them. An unknown word is an error.

use super::ast::{
    Clause, ClauseKind, Declaration, DeclarationKind, Expr, ExprKind, Function, Name, NamePart,
};
use super::declarators::{Position, single};
use super::parser::Parser;
use super::pending::Pending;
use crate::token::TokenKind;
use crate::{Result, error};
use base::{Diagnostic, Span};

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

/// Returns `true` for a definition, which may stand before any declaration without belonging to it.
fn is_definition(clause: &Clause) -> bool {
    matches!(
        clause.kind,
        ClauseKind::Predicate(..)
            | ClauseKind::Lemma { .. }
            | ClauseKind::Monoid { .. }
            | ClauseKind::Symbolic(_)
    )
}

impl Parser<'_> {
    /// The annotation before a declaration, if there is one; definitions are emitted separately.
    pub(super) fn pending_clauses(&mut self, out: &mut Vec<Declaration>) -> Result<Pending> {
        if *self.kind() != TokenKind::AnnotationStart {
            return Ok(Pending::default());
        }
        let start = self.at;
        let span = self.span();
        match self.clauses_if_any() {
            Ok(clauses) => {
                let (own, first) = clauses.into_iter().partition::<Vec<_>, _>(is_definition);
                if !own.is_empty() {
                    let kind = DeclarationKind::Clauses(own);
                    out.push(Declaration { kind, span: self.since(span) });
                }
                Ok(Pending { start: Some(start), first, failed: None })
            }
            Err(failed) => {
                self.at = start;
                self.is_annotation = false;
                while !self.is_end() && *self.kind() != TokenKind::AnnotationEnd {
                    self.advance();
                }
                self.advance();
                Ok(Pending { start: Some(start), first: Vec::new(), failed: Some(failed) })
            }
        }
    }

    /// Reads the contract of a function, with its parameters in scope.
    pub(super) fn contract(&mut self, function: &mut Function, pending: &Pending) -> Result<()> {
        let mark = self.mark();
        self.scopes.open();
        let parameters = std::mem::take(&mut function.parameters);
        self.declare_parameters(&parameters);
        function.parameters = parameters;
        let result = self.contract_in_scope(function, pending);
        self.scopes.undo(&mark.scopes);
        result
    }

    /// Like [`Self::contract`], for parameters that are declared already.
    pub(super) fn contract_in_scope(
        &mut self,
        function: &mut Function,
        pending: &Pending,
    ) -> Result<()> {
        let Some(start) = pending.start else { return Ok(()) };
        let before = std::mem::replace(&mut self.at, start);
        let is_half = std::mem::replace(&mut self.is_half, false);
        let clauses = self.clauses_if_any();
        self.at = before;
        self.is_half = is_half;
        self.is_annotation = false;
        // A wrong clause is an error, even if the function is not read.
        let clauses = clauses?;
        function.clauses = clauses.into_iter().filter(|clause| !is_definition(clause)).collect();
        Ok(())
    }

    /// The clauses of an annotation, if one begins here.
    pub(super) fn clauses_if_any(&mut self) -> Result<Vec<Clause>> {
        let mut clauses = Vec::new();
        if *self.kind() != TokenKind::AnnotationStart {
            return Ok(clauses);
        }
        self.advance();
        self.is_annotation = true;
        let angles = std::mem::replace(&mut self.is_in_angles, false);
        while *self.kind() != TokenKind::AnnotationEnd {
            if self.is_end() {
                return Err(self.error("this annotation is not closed"));
            }
            self.clause(&mut clauses)?;
        }
        self.advance();
        self.is_annotation = false;
        self.is_in_angles = angles;
        Ok(clauses)
    }

    fn clause(&mut self, out: &mut Vec<Clause>) -> Result<()> {
        let start = self.span();
        if self.take(";") {
            return Ok(());
        }
        let Some(word) = self.word() else { return Err(self.error("expected a clause")) };
        self.advance();
        let kind = match word {
            "requires" => ClauseKind::Requires(self.expression()?),
            "ensures" => ClauseKind::Ensures(self.expression()?),
            "assert" => ClauseKind::Assert(self.expression()?),
            "assume" => ClauseKind::Assume(self.expression()?),
            "loop" | "barrier" => self.two_word_clause(word)?,
            "instantiate" => {
                self.skip_clause();
                ClauseKind::Instantiate
            }
            "use" => ClauseKind::Use(self.name()?, self.call_arguments()?),
            "ghost" => return self.ghost(start, out),
            "predicate" => self.predicate()?,
            "lemma" => self.lemma()?,
            "monoid" => self.monoid()?,
            "reads" | "writes" => return self.footprints(word == "writes", out),
            "extent" => return self.extents(out),
            "symbolic" => ClauseKind::Symbolic(self.symbolic_names()?),
            "alias" => ClauseKind::Alias(self.aliases()?),
            _ => return Err(self.unknown_word(word, start, WORDS.iter())),
        };
        out.push(Clause { kind, span: self.since(start) });
        self.finish_clause()
    }

    /// `loop invariant`, `loop variant` and `barrier invariant`.
    fn two_word_clause(&mut self, word: &str) -> Result<ClauseKind> {
        let start = self.span();
        let Some(second) = self.word() else { return Err(self.error("expected `invariant`")) };
        self.advance();
        match (word, second) {
            ("loop", "variant") => Ok(ClauseKind::LoopVariant(self.expression()?)),
            (_, "invariant") => {
                let is_named = self.word().is_some() && self.is_at(1, ":");
                let name = if is_named { Some(self.name()?) } else { None };
                if is_named {
                    self.advance();
                }
                let condition = self.expression()?;
                Ok(match word {
                    "loop" => ClauseKind::LoopInvariant(name, condition),
                    _ => ClauseKind::BarrierInvariant(name, condition),
                })
            }
            ("loop", _) => Err(self.unknown_word(second, start, ["invariant", "variant"].iter())),
            _ => Err(self.unknown_word(second, start, ["invariant"].iter())),
        }
    }

    /// `ghost int x = e;` or `ghost x = e;`.
    fn ghost(&mut self, start: Span, out: &mut Vec<Clause>) -> Result<()> {
        if !self.is_declaration_start() {
            let name = self.name()?;
            if !self.is("=") {
                return Err(self.unsupported(name.span, "ghosts are variables: `ghost x = e`"));
            }
            self.advance();
            let kind = ClauseKind::GhostAssign(name, self.assignment()?);
            out.push(Clause { kind, span: self.since(start) });
            return self.finish_clause();
        }
        let leading = self.leading()?;
        let Some(base) = leading.ty else { return Err(self.no_type()) };
        loop {
            let declared = self.declarator(base.clone(), Position::Local)?;
            let declarator = self.finish_declarator(declared, false)?;
            let kind = ClauseKind::GhostDeclare(Box::new(declarator));
            out.push(Clause { kind, span: self.since(start) });
            if !self.take(",") {
                return self.finish_clause();
            }
        }
    }

    fn predicate(&mut self) -> Result<ClauseKind> {
        let name = self.name()?;
        let parameters = self.parameters()?.parameters;
        self.expect("=")?;
        let body = self.with_parameters(&parameters)?;
        Ok(ClauseKind::Predicate(name, parameters, body))
    }

    fn lemma(&mut self) -> Result<ClauseKind> {
        let name = self.name()?;
        let parameters = self.parameters()?.parameters;
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
        let body = self.with_parameters(&parameters)?;
        Ok(ClauseKind::Lemma { name, parameters, induction, body })
    }

    fn with_parameters(&mut self, parameters: &[super::ast::Parameter]) -> Result<Expr> {
        self.scoped(|parser| {
            parser.declare_parameters(parameters);
            parser.expression()
        })
    }

    fn monoid(&mut self) -> Result<ClauseKind> {
        let function = self.name()?;
        self.expect(",")?;
        if !self.take_word("unit") {
            return Err(self.error("expected `unit` and the unit of the monoid"));
        }
        let unit = self.assignment()?;
        let is_commutative = self.take(",");
        if is_commutative && !self.take_word("commutative") {
            return Err(self.error("expected `commutative`"));
        }
        Ok(ClauseKind::Monoid { function, unit, is_commutative })
    }

    fn symbolic_names(&mut self) -> Result<Vec<Name>> {
        let mut names = vec![self.name()?];
        while self.take(",") {
            names.push(self.name()?);
        }
        Ok(names)
    }

    fn aliases(&mut self) -> Result<Vec<Expr>> {
        let mut all = vec![self.assignment()?];
        while self.take(",") {
            all.push(self.assignment()?);
        }
        Ok(all)
    }

    /// An array by its name, `a` or `s.a`.
    fn array(&mut self) -> Result<Expr> {
        let start = self.span();
        let name = self.name()?;
        let mut array = Expr { kind: ExprKind::Name(single(name)), span: start };
        while self.is(".") || self.is("->") {
            let arrow = self.is("->");
            self.advance();
            let member = NamePart { name: self.name()?, arguments: None };
            let kind = ExprKind::Member { object: Box::new(array), member, arrow };
            array = Expr { kind, span: self.since(start) };
        }
        Ok(array)
    }

    /// `a[lo .. hi], b\[i\];`
    fn footprints(&mut self, writes: bool, out: &mut Vec<Clause>) -> Result<()> {
        loop {
            let start = self.span();
            let array = self.array()?;
            self.expect("[")?;
            let from = self.span();
            let mut index = self.assignment()?;
            if self.take("..") {
                let kind = ExprKind::Range(Box::new(index), Box::new(self.assignment()?));
                index = Expr { kind, span: self.since(from) };
            }
            self.expect("]")?;
            let span = self.since(start);
            let kind = ExprKind::Index(Box::new(array), Box::new(index));
            out.push(Clause { kind: ClauseKind::Footprint(writes, Expr { kind, span }), span });
            if !self.take(",") {
                return self.finish_clause();
            }
        }
    }

    fn extents(&mut self, out: &mut Vec<Clause>) -> Result<()> {
        loop {
            let start = self.span();
            let array = self.array()?;
            self.expect("[")?;
            let size = self.assignment()?;
            self.expect("]")?;
            out.push(Clause { kind: ClauseKind::Extent(array, size), span: self.since(start) });
            if !self.take(",") {
                return self.finish_clause();
            }
        }
    }

    fn finish_clause(&mut self) -> Result<()> {
        if self.take(";") || *self.kind() == TokenKind::AnnotationEnd {
            return Ok(());
        }
        Err(self.error("expected `;` after this clause"))
    }

    fn skip_clause(&mut self) {
        while !matches!(
            self.kind(),
            TokenKind::AnnotationEnd | TokenKind::End | TokenKind::Punct(";")
        ) {
            self.advance();
        }
    }

    /// The error for a word that is not one of `words`, with the most similar one.
    pub(super) fn unknown_word<'w>(
        &self,
        word: &str,
        span: Span,
        words: impl Iterator<Item = &'w &'w str>,
    ) -> Box<Diagnostic> {
        let words: Vec<&str> = words.copied().collect();
        let message = format!("`{word}` is not a word of annotations");
        let close = words.iter().map(|one| (distance(one, word), *one)).min();
        let help = match close {
            Some((changes, close)) if changes <= 1 + word.len() / 4 => {
                format!("did you mean `{close}`?")
            }
            _ => format!("the words that are possible here: {}", words.join(", ")),
        };
        Box::new(error(span, message).help(help))
    }
}

/// The number of letters to change, insert or delete to turn one word into another.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (number, letter) in one.chars().enumerate() {
        let mut diagonal = number;
        let mut left = number + 1;
        for (cell, second) in row.iter_mut().skip(1).zip(&other) {
            let replaced = diagonal + usize::from(letter != *second);
            diagonal = *cell;
            left = replaced.min(*cell + 1).min(left + 1);
            *cell = left;
        }
        if let Some(first) = row.first_mut() {
            *first = number + 1;
        }
    }
    row.last().copied().unwrap_or(0)
}

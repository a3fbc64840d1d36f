//! Annotations: clauses of contracts and loops. A word that is none of ours is an error.

use super::ast::{Clause, ClauseKind};
use super::parser::Parser;
use super::token::{Kind, Result};
use base::{Code, Diagnostic};

const WORDS: &[&str] =
    &["requires", "ensures", "extent", "assert", "assume", "loop", "symbolic", "alias"];

/// Words of the contract language that are read elsewhere and not here yet.
const LATER: &[&str] =
    &["barrier", "ghost", "lemma", "predicate", "monoid", "reads", "writes", "instantiate"];

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
            "ensures" => {
                // Not looked at here; the report says so.
                self.skip_clause();
                ClauseKind::Ensures
            }
            "assert" => ClauseKind::Assert(self.expression()?),
            "assume" => ClauseKind::Assume(self.expression()?),
            "loop" if self.take_word("invariant") => self.invariant()?,
            "loop" if self.take_word("variant") => {
                self.skip_clause();
                return self.finish();
            }
            "extent" => return self.extents(out),
            "symbolic" => {
                self.skip_clause();
                ClauseKind::Symbolic
            }
            "alias" => {
                self.skip_clause();
                ClauseKind::Alias
            }
            _ => return Err(self.unknown(&word, start)),
        };
        out.push(Clause { kind, span: self.since(start) });
        self.finish()
    }

    fn invariant(&mut self) -> Result<ClauseKind> {
        let named = matches!(self.kind(), Kind::Word(_)) && *self.kind_at(1) == Kind::Punct(":");
        self.at += 2 * usize::from(named);
        Ok(ClauseKind::LoopInvariant(self.expression()?))
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
        // A `;` also follows the variables of a quantifier.
        let mut quantified = false;
        loop {
            match self.kind() {
                Kind::AnnotationEnd | Kind::End => return,
                Kind::Punct(";") if !quantified => return,
                Kind::Punct(";") => quantified = false,
                Kind::Word(word) if matches!(word.as_str(), "\\forall" | "\\exists") => {
                    quantified = true;
                }
                _ => {}
            }
            self.at += 1;
        }
    }

    fn unknown(&self, word: &str, span: base::Span) -> Box<Diagnostic> {
        if LATER.contains(&word) {
            return self.unsupported(span, &format!("the clause `{word}` is not supported yet"));
        }
        let message = format!("`{word}` is no clause");
        let close = WORDS.iter().find(|one| one.get(..3) == word.get(..3));
        let help = match close {
            Some(close) => format!("did you mean `{close}`?"),
            None => format!("clauses are: {}", WORDS.join(", ")),
        };
        Box::new(Diagnostic::error(Code::Syntax, span, message).help(help))
    }
}

//! Replaces macros and rescans (\[cpp.rescan\]), with hide sets as in Prosser's algorithm: a macro is not replaced
//! again in its own expansion.
//!
//! The standard leaves one case open: a call that begins in an expansion and ends after it. With `#define f(a) a*g`
//! and `#define g(a) f(a)`, `f(2)(9)` may become `2*f(9)` or `2*9*g`. Here it becomes `2*9*g`, as with gcc and NVRTC.
//! Preprocessor lines among the arguments of a macro are undefined in C++ and refused.

use super::macros::{Argument, Macro, intersection, substitute, union};
use super::pp_token::{Kind, PpToken};
use super::state::State;
use crate::{Result, error, limit, unsupported};
use base::Span;
use std::rc::Rc;

/// The most tokens that expansion may produce.
const MAX_TOKENS: usize = 2_000_000;
/// Arguments within arguments deeper than this are refused.
const MAX_DEPTH: usize = 100;

/// The kind of a text to expand. It decides what the end of the text means for a macro call that is not closed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TextKind {
    /// Text up to the end of the main file.
    LastText,
    /// Text followed by a preprocessor line or by the end of an included file.
    TextBeforeBreak,
    /// The line of `#if`.
    Condition,
    /// Another preprocessor line, or an argument of a macro.
    DirectiveOrArgument,
}

impl State<'_> {
    /// Replaces all macros in `tokens`.
    pub(super) fn expand(&mut self, tokens: Vec<PpToken>, kind: TextKind) -> Result<Vec<PpToken>> {
        let span = tokens.first().map_or(Span::default(), |token| token.span);
        if self.depth > MAX_DEPTH {
            return Err(limit(span, "arguments of macros are nested too deeply"));
        }
        self.depth += 1;
        let many_lines = self.is_on_many_lines;
        let expanded = self.expand_list(tokens, kind);
        self.is_on_many_lines = many_lines;
        self.depth -= 1;
        expanded
    }

    /// Expands the macros in a list of tokens.
    fn expand_list(&mut self, tokens: Vec<PpToken>, kind: TextKind) -> Result<Vec<PpToken>> {
        let mut out = Vec::new();
        let mut input = tokens;
        input.reverse();
        // Set while the replacement of a call that spans lines is rescanned: the length of the input after it.
        let mut length_behind = None;
        let outer = self.is_on_many_lines;
        while let Some(token) = input.pop() {
            if length_behind.is_some_and(|length| input.len() < length) {
                (length_behind, self.is_on_many_lines) = (None, outer);
            }
            if token.kind != Kind::Word {
                self.is_in_annotation = match token.kind {
                    Kind::AnnotationStart => true,
                    Kind::AnnotationEnd => false,
                    _ => self.is_in_annotation,
                };
                out.push(token);
                continue;
            }
            if kind == TextKind::Condition && self.condition_operator(&token, &mut input)? {
                continue;
            }
            if let Some(made) = self.dynamic_macro(&token)? {
                out.push(made);
                continue;
            }
            if kind != TextKind::Condition {
                self.check_symbolic(&token)?;
            }
            let Some(found) = self.applicable_macro(&token) else {
                out.push(token);
                continue;
            };
            let Some((body, spans_lines)) = self.replace(&token, &found, &mut input, kind)? else {
                out.push(token);
                continue;
            };
            if spans_lines && length_behind.is_none() {
                (length_behind, self.is_on_many_lines) = (Some(input.len()), true);
            }
            self.produced += body.len() + 1;
            if self.produced > MAX_TOKENS {
                return Err(limit(token.span, "macros expand to too much text"));
            }
            input.extend(body.into_iter().rev());
        }
        Ok(out)
    }

    /// Returns the macro that replaces a token: it is defined, not symbolic ([`super::symbolic`]), and not in the
    /// token's hide set.
    fn applicable_macro(&mut self, token: &PpToken) -> Option<Rc<Macro>> {
        if self.symbolic.contains(&token.text) {
            return None;
        }
        let found = Rc::clone(self.macros.get(&token.text)?);
        let hidden =
            token.hide.as_ref().is_some_and(|set| set.binary_search(&found.number).is_ok());
        if hidden {
            return None;
        }
        self.note_environment_use(&token.text);
        self.replaced.insert(Rc::clone(&token.text));
        Some(found)
    }

    /// Returns the replacement of a token by a macro, and `true` if the call spans lines. Returns `None` if the macro
    /// takes arguments and is not called here.
    fn replace(
        &mut self,
        token: &PpToken,
        found: &Macro,
        input: &mut Vec<PpToken>,
        kind: TextKind,
    ) -> Result<Option<(Vec<PpToken>, bool)>> {
        let mut hide = token.hide.clone();
        let mut arguments = Vec::new();
        let mut spans_lines = false;
        if let Some(parameters) = &found.parameters {
            match input.last() {
                Some(next) if next.is("(") => {}
                None if kind == TextKind::TextBeforeBreak => return Err(interrupted_call(token)),
                Some(next) if next.kind == Kind::AnnotationStart => {
                    let message = "an annotation directly after the name of a macro that takes arguments is \
                        not supported";
                    return Err(unsupported(token.span, message));
                }
                _ => return Ok(None),
            }
            let (raw, close) = collect_arguments(token, found, input, kind)?;
            check_count(token, found, parameters.len(), raw.len())?;
            spans_lines = self.has_newline(token.span, close.span);
            self.is_on_many_lines |= spans_lines;
            hide = intersection(&hide, &close.hide);
            arguments = self.expand_arguments(found, raw)?;
            self.check_pasted(found, &arguments)?;
        }
        hide = union(&hide, &Some(Rc::from([found.number])));
        let mut body = substitute(&with_spans_of_use(found, token), &arguments)?;
        for (at, made) in body.iter_mut().enumerate() {
            made.hide = union(&made.hide, &hide);
            made.is_first = false;
            if at == 0 {
                made.is_spaced = token.is_spaced;
            }
        }
        Ok(Some((body, spans_lines)))
    }

    /// Expands the arguments, and adds empty ones for those omitted.
    fn expand_arguments(&mut self, found: &Macro, raw: Vec<Vec<PpToken>>) -> Result<Vec<Argument>> {
        let wanted = found.parameters.as_ref().map_or(0, Vec::len);
        let mut arguments = Vec::new();
        for raw in raw {
            self.produced += raw.len();
            let expanded = self.expand(raw.clone(), TextKind::DirectiveOrArgument)?;
            arguments.push(Argument { raw, expanded });
        }
        while arguments.len() < wanted {
            arguments.push(Argument { raw: Vec::new(), expanded: Vec::new() });
        }
        Ok(arguments)
    }

    /// Returns `true` if the text from one span to another has a newline, or is unknown.
    fn has_newline(&self, from: Span, to: Span) -> bool {
        let Some((file, start)) = self.sources.locate(from) else { return false };
        let length = to.end.saturating_sub(from.start) as usize;
        let bytes = file.text.as_bytes();
        let start = start.start as usize;
        bytes.get(start..start.saturating_add(length)).is_none_or(|text| text.contains(&b'\n'))
    }

    /// Replaces `defined X` and `__has_include(…)` in a condition by their value.
    fn condition_operator(&mut self, token: &PpToken, input: &mut Vec<PpToken>) -> Result<bool> {
        let value = match &*token.text {
            "defined" => {
                let parenthesis = input.last().is_some_and(|next| next.is("("));
                if parenthesis {
                    input.pop();
                }
                let name = input.pop().filter(|name| name.kind == Kind::Word);
                let Some(name) = name else {
                    return Err(error(token.span, "`defined` needs a name"));
                };
                if parenthesis && !input.pop().is_some_and(|close| close.is(")")) {
                    return Err(error(token.span, "expected `)` after the name"));
                }
                self.is_defined(&name.text)
            }
            "__has_include" => self.has_include(token, input)?,
            _ => return Ok(false),
        };
        let made = PpToken::new(Kind::Number, if value { "1" } else { "0" }, token.span);
        input.push(made);
        Ok(true)
    }

    /// Replaces macros whose text depends on the place: `__LINE__`, `__FILE__`, `__COUNTER__`.
    fn dynamic_macro(&mut self, token: &PpToken) -> Result<Option<PpToken>> {
        let (kind, text) = match &*token.text {
            "__LINE__" => {
                // gcc takes the line of the name, NVRTC that of the closing parenthesis of the call. So the word
                // stays as it is, and is refused as an undeclared name where it is used.
                if self.is_on_many_lines {
                    return Ok(Some(token.clone()));
                }
                (Kind::Number, self.line_of(token.span).to_string())
            }
            "__FILE__" => {
                self.note_environment_use("__FILE__");
                let name = self.file_name(token.span);
                (Kind::Text, format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\"")))
            }
            "__COUNTER__" => {
                self.note_environment_use("__COUNTER__");
                self.counter += 1;
                (Kind::Number, (self.counter - 1).to_string())
            }
            "__DATE__" | "__TIME__" | "__TIMESTAMP__" | "__INCLUDE_LEVEL__" | "__BASE_FILE__" => {
                return Err(unsupported(token.span, format!("`{}` is not supported", token.text)));
            }
            _ => return Ok(None),
        };
        let made = PpToken::new(kind, &text, token.span);
        Ok(Some(PpToken { is_spaced: token.is_spaced, ..made }))
    }
}

/// Copies a macro, with the token it replaces as the span of its body.
fn with_spans_of_use(found: &Macro, token: &PpToken) -> Macro {
    let mut made = found.clone();
    for inner in &mut made.body {
        inner.span = token.span;
    }
    made
}

/// The error for a macro call that a preprocessor line or the end of a file interrupts.
fn interrupted_call(token: &PpToken) -> Box<base::Diagnostic> {
    let message = format!(
        "a preprocessor line or the end of a file between `{}` and its arguments is not supported",
        token.text
    );
    unsupported(token.span, message)
}

/// Takes the arguments of a call off the input, from its opening parenthesis on; returns them and the closing
/// parenthesis.
fn collect_arguments(
    token: &PpToken,
    found: &Macro,
    input: &mut Vec<PpToken>,
    kind: TextKind,
) -> Result<(Vec<Vec<PpToken>>, PpToken)> {
    let wanted = found.parameters.as_ref().map_or(0, Vec::len);
    let mut arguments = vec![Vec::new()];
    let mut depth = 0usize;
    while let Some(next) = input.pop() {
        if matches!(next.kind, Kind::AnnotationStart) {
            let message = "an annotation among the arguments of a macro is not supported";
            return Err(unsupported(next.span, message));
        }
        if next.kind == Kind::AnnotationEnd {
            break;
        }
        if next.is("(") {
            depth += 1;
            if depth == 1 {
                continue;
            }
        } else if next.is(")") {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return Ok((arguments, next));
            }
        }
        let is_rest = found.is_variadic && arguments.len() == wanted;
        if depth == 1 && next.is(",") && !is_rest {
            arguments.push(Vec::new());
        } else if let Some(last) = arguments.last_mut() {
            last.push(next);
        }
    }
    if kind == TextKind::TextBeforeBreak {
        return Err(interrupted_call(token));
    }
    Err(error(token.span, format!("the arguments of the macro `{}` are not closed", token.text)))
}

/// Checks the number of arguments of a call.
fn check_count(token: &PpToken, found: &Macro, wanted: usize, given: usize) -> Result<()> {
    // `F()` counts as one empty argument, and the variable arguments may be missing.
    let fits =
        given == wanted || given == 1 && wanted == 0 || found.is_variadic && given + 1 >= wanted;
    if fits {
        return Ok(());
    }
    let message = format!("the macro `{}` takes {wanted} arguments, not {given}", token.text);
    Err(error(token.span, message).also_at(found.span))
}

/// Adds the place of a macro's definition to an error, if it has one.
trait AlsoAt {
    fn also_at(self, span: Span) -> Self;
}

impl AlsoAt for Box<base::Diagnostic> {
    fn also_at(self, span: Span) -> Self {
        if span == Span::default() {
            return self;
        }
        Self::new((*self).also(span, "defined here"))
    }
}

//! `#pragma` (\[cpp.pragma\]). Pragmas that only advise the compiler are dropped. One that might change the meaning
//! of the text is passed on to the parser, which refuses unknown ones.

use super::pp_token::{Kind, PpToken};
use super::state::State;
use crate::token::{Token, TokenKind};
use crate::{Result, unsupported};
use base::Span;

/// First words of pragmas that do not change the program's results.
const ADVICE: &[&str] = &[
    "unroll",
    "nounroll",
    "nv_diag_suppress",
    "nv_diag_default",
    "nv_diag_error",
    "nv_diag_warning",
    "nv_diag_once",
    "nv_diagnostic",
    "nv_exec_check_disable",
    "hd_warning_disable",
    "diag_suppress",
    "diag_default",
    "diag_error",
    "diag_warning",
    "diag_once",
    "warning",
    "message",
    "region",
    "endregion",
    "mark",
    "comment",
    "ident",
    // These have no effect without a compiler flag, and never in device code.
    "omp",
    "acc",
];

/// Second words of `#pragma GCC` and `#pragma clang` that do not change the program's results.
const COMPILER_ADVICE: &[&str] =
    &["diagnostic", "system_header", "unroll", "ivdep", "warning", "loop"];

/// Executes a pragma.
pub(super) fn pragma(state: &mut State<'_>, line: &[PpToken], span: Span) -> Result<()> {
    let word =
        |at: usize| line.get(at).filter(|token| token.kind == Kind::Word).map(|one| &*one.text);
    match (word(0), word(1)) {
        (None, _) if line.is_empty() => Ok(()),
        (Some("once"), _) => {
            state.mark_once();
            Ok(())
        }
        (Some(first), _) if ADVICE.contains(&first) => Ok(()),
        (Some("GCC" | "clang"), Some(second)) if COMPILER_ADVICE.contains(&second) => Ok(()),
        (Some("push_macro" | "pop_macro"), _) => {
            Err(unsupported(span, "`push_macro` and `pop_macro` are not supported"))
        }
        (Some("GCC"), Some("poison" | "dependency")) => Ok(()),
        _ => {
            let outer = std::mem::take(&mut state.out);
            let result = state.emit(line.to_vec());
            let words = std::mem::replace(&mut state.out, outer);
            result?;
            state.out.push(Token { kind: TokenKind::Pragma(words), span });
            Ok(())
        }
    }
}

//! Any text that parses: lowering terminates, its diagnostics point inside the text, and the program is well formed
//! even if instructions were refused.

/// Runs the target.
pub fn fuzz(bytes: &[u8]) {
    let text = crate::text(bytes);
    let parsed = ptx::syntax::parse(text);
    if !parsed.errors.is_empty() {
        return;
    }
    let lowered = ptx::lower(&parsed.module);
    for diagnostic in &lowered.diagnostics {
        let span = diagnostic.primary.span;
        assert!(span.start <= span.end && span.end as usize <= text.len(), "{diagnostic:?}");
    }
    let problems = ir::validate(&lowered.program);
    assert!(problems.is_empty(), "{problems:?}");
    for function in &lowered.program.functions {
        let points = ir::cfg::reconvergence(function);
        assert_eq!(points.len(), function.blocks.len());
    }
}

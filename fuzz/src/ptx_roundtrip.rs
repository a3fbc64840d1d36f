//! Any text: the parser terminates and points inside the text. A tree without errors prints to a text that parses to
//! an equal tree.

/// Runs the target.
pub fn fuzz(bytes: &[u8]) {
    let text = crate::text(bytes);
    let first = ptx::syntax::parse(text);
    for error in &first.errors {
        let span = error.primary.span;
        assert!(span.start <= span.end && span.end as usize <= text.len(), "{error:?}");
    }
    if !first.errors.is_empty() {
        return;
    }
    let printed = ptx::syntax::print(&first.module);
    let second = ptx::syntax::parse(&printed);
    assert!(second.errors.is_empty(), "printed text has errors: {:?}\n{printed}", second.errors);
    assert!(first.module == second.module, "the tree changed\n{printed}");
}

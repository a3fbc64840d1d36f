//! Any text as CUDA C++: the reader accepts it or refuses it at a place inside the text, and its kernels are lowered
//! or refused.

/// Runs the target.
pub fn fuzz(bytes: &[u8]) {
    let text = crate::text(bytes);
    let refusals = match cuda_front::kernels(text) {
        Err(refusal) => vec![refusal],
        Ok(kernels) => kernels.into_iter().filter_map(|(_, kernel)| kernel.err()).collect(),
    };
    for refusal in refusals {
        let span = refusal.primary.span;
        assert!(span.start <= span.end && span.end as usize <= text.len(), "{refusal:?}");
    }
}

//! The limit on the memory of terms, which ends a run.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use term::Terms;

/// The largest number of bytes of the terms of one side. With those of both sides and everything else, a comparison
/// fits into 16 GB. A product of two inputs takes eight. The limit is fixed, so that an answer does not depend on
/// the machine.
const MAX_TERM_BYTES: usize = 4 << 30;

/// Tells the engine when the terms take too much memory.
#[derive(Clone, Debug)]
pub(crate) struct TermMemory {
    limit: usize,
    is_exceeded: Arc<AtomicBool>,
}

impl Default for TermMemory {
    fn default() -> Self {
        Self::limited_to(MAX_TERM_BYTES)
    }
}

impl TermMemory {
    fn limited_to(limit: usize) -> Self {
        Self { limit, is_exceeded: Arc::default() }
    }

    /// Ends the run soon if the terms take too much memory.
    #[inline]
    pub(crate) fn watch(&self, terms: &Terms) {
        if terms.bytes() > self.limit {
            self.is_exceeded.store(true, Ordering::Relaxed);
        }
    }

    /// Returns the flag that ends the run.
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.is_exceeded)
    }
}

#[cfg(test)]
mod tests {
    use super::TermMemory;
    use crate::symbolic::Symbolic;
    use exec::domain::InputSource;
    use exec::{Access, Argument, Buffer, Contents, Gap, Launch, Limits, StopReason};
    use ir::{Format, Scalar};
    use std::sync::Arc;
    use term::Inputs;

    /// Every step makes a polynomial with one term more: x, x + 1, (x + 1) * x + 1, ...
    const LOOP: &str = ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 p) {
        .reg .b64 %rd<2>; .reg .f32 %f<3>;
        ld.param.u64 %rd1, [p]; ld.global.f32 %f1, [%rd1]; mov.f32 %f2, %f1;
        loop: fma.rn.f32 %f2, %f2, %f1, 0f3F800000; bra loop; }";

    /// Runs the loop, in terms that may take so many bytes.
    fn stop(limit: usize) -> Gap {
        let program = ptx::lower(&ptx::syntax::parse(LOOP).module).program;
        let (kernel, _) = program.functions.enumerate().next().unwrap();
        let launch = Launch {
            kernel,
            grid: [1; 3],
            block: [1; 3],
            cluster: None,
            dynamic_shared: 0,
            buffers: vec![Buffer {
                name: "x".to_owned(),
                element_bytes: 4,
                element: Some(Scalar::Float(Format::F32)),
                contents: Contents::Opaque(4),
                access: Access::In,
            }],
            arguments: vec![Argument::Pointer(0)],
            symbols: Vec::new(),
            selected: Vec::new(),
        };
        let mut inputs = Inputs::new();
        inputs.tensor("x", 1).unwrap();
        let sources = [(InputSource::Buffer(0), 0)].into_iter().collect();
        let mut domain = Symbolic::new(Arc::new(inputs), sources, false);
        domain.memory = TermMemory::limited_to(limit);
        let limits = Limits { lane_instructions: 1_000_000, ..Limits::default() };
        exec::check_in(&program, &launch, limits, &mut domain).0.gap.unwrap()
    }

    #[test]
    fn a_run_whose_terms_take_too_much_memory_ends() {
        let gap = stop(1 << 20);
        assert_eq!(gap.stop, StopReason::Memory, "{}", gap.reason);
        assert!(gap.reason.contains("too much memory"), "{}", gap.reason);
        assert!(matches!(stop(1 << 30).stop, StopReason::Budget { .. }));
    }
}

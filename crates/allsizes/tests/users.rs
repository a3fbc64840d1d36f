//! Kernels as users write them (`corpus/param/users`): all are correct, so nothing is refuted, and a solver proves
//! everything.

mod support;

use allsizes::{Options, Verdict};
use support::solver;

#[test]
fn correct_kernels_have_no_false_alarm() {
    let mut count = 0;
    for path in testing::corpus::files_in("corpus/param/users", "cu") {
        let text = std::fs::read_to_string(&path).expect("a kernel");
        let (_, kernel) = cuda_front::kernels(&text).expect("a file").remove(0);
        let kernel = kernel.unwrap_or_else(|error| panic!("{}: {}", path.display(), error.message));
        let solver = solver();
        let has_solver = solver.is_some();
        let options = Options { infers: true, suggests: false };
        let (answer, _) = allsizes::prove(&kernel, solver, options);
        let name = path.display();
        assert!(answer.contradiction.is_none(), "{name}: {:?}", answer.contradiction);
        assert!(answer.tested > 0, "{name} was not run");
        for one in &answer.properties {
            let wanted =
                one.verdict == Verdict::Proved || !has_solver && one.verdict == Verdict::Unknown;
            assert!(wanted, "{name}: {:?} {:?} {:?}", one.property, one.open, one.findings);
        }
        count += 1;
    }
    assert!(count >= 14);
}

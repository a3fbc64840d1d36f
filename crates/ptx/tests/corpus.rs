//! Every PTX file of the corpus is read without an error and survives printing.

use testing::corpus::files_below;

#[test]
fn every_file_parses_and_round_trips() {
    let mut files = files_below("corpus/ptx", "ptx");
    assert!(files.len() >= 430, "only {} files found", files.len());
    // Inputs of fixed bugs.
    files.extend(files_below("crates/ptx/tests/regressions", "ptx"));
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        let first = ptx::syntax::parse(&text);
        assert!(first.errors.is_empty(), "{}: {:?}", path.display(), first.errors);
        let printed = ptx::syntax::print(&first.module);
        let second = ptx::syntax::parse(&printed);
        assert!(second.errors.is_empty(), "{} printed: {:?}", path.display(), second.errors);
        assert!(first.module == second.module, "{}: the tree changed", path.display());
    }
}

#[test]
fn every_file_lowers_to_a_well_formed_program() {
    for path in files_below("corpus/ptx", "ptx") {
        let text = std::fs::read_to_string(&path).unwrap();
        let parsed = ptx::syntax::parse(&text);
        let lowered = ptx::lower(&parsed.module);
        let errors: Vec<_> =
            lowered.diagnostics.iter().filter(|d| d.severity == base::Severity::Error).collect();
        assert!(errors.is_empty(), "{}: {errors:?}", path.display());
        assert_eq!(ir::validate(&lowered.program), [""; 0], "{}", path.display());
    }
}

/// sm_80 code is fully supported, except for transaction barriers; newer code is known by name.
#[test]
fn nothing_but_newer_instructions_is_refused() {
    for path in files_below("corpus/ptx", "ptx") {
        let text = std::fs::read_to_string(&path).unwrap();
        let parsed = ptx::syntax::parse(&text);
        for diagnostic in ptx::lower(&parsed.module).diagnostics {
            let message = &diagnostic.message;
            assert!(message.contains("not supported yet"), "{}: {message}", path.display());
            let ampere = text.contains(".target sm_80");
            assert!(!ampere || message.contains("mbarrier"), "{}: {message}", path.display());
        }
    }
}

#[test]
fn regressions_lower_to_well_formed_programs() {
    for path in files_below("crates/ptx/tests/regressions", "ptx") {
        let text = std::fs::read_to_string(&path).unwrap();
        let lowered = ptx::lower(&ptx::syntax::parse(&text).module);
        assert_eq!(ir::validate(&lowered.program), [""; 0], "{}", path.display());
    }
}

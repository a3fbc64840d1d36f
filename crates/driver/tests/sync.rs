//! `check` on kernels with known races, barriers and deadlocks (`corpus/sync`): the findings are exactly those in
//! `NAME.expect`, and the report equals `NAME.report`.
//!
//! `SNAPSHOTS=overwrite cargo test -p driver --test sync` rewrites the reports after a deliberate
//! change; the expectations are changed by hand.

mod corpus;
mod reports;

use corpus::Flags;
use driver::check::{self, Options};
use driver::{Colour, Execution, Input};
use reports::{Expectation, told};
use snapbox::Data;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

fn folder() -> PathBuf {
    testing::corpus::root().join("corpus/sync")
}

fn read(name: &str, extension: &str) -> String {
    std::fs::read_to_string(folder().join(format!("{name}.{extension}"))).unwrap()
}

/// All kernels, by name.
fn names() -> Vec<String> {
    testing::corpus::names_in("corpus/sync", "args")
}

/// A report and the exit status.
fn report(name: &str, options: Options<'_>) -> (String, u8) {
    let ptx = read(name, "ptx");
    let input = Input::from_bytes(&format!("corpus/sync/{name}.ptx"), ptx.into()).unwrap();
    let flags = Flags::parse(&read(name, "args"));
    let outcome = flags.run_only(&input, |execution| check::run(execution, options, Colour::Plain));
    let exit = outcome.exit as u8;
    (format!("{}{}exit status {exit}\n", outcome.messages, outcome.output), exit)
}

/// Reports of many kernels, on all processors.
fn all_reports(names: &[String], options: Options<'_>) -> Vec<(String, u8)> {
    let next = AtomicUsize::new(0);
    let found = Mutex::new(vec![(String::new(), 0); names.len()]);
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..processors {
            scope.spawn(|| {
                loop {
                    let position = next.fetch_add(1, Ordering::Relaxed);
                    let Some(name) = names.get(position) else { break };
                    let report = report(name, options);
                    found.lock().unwrap()[position] = report;
                }
            });
        }
    });
    found.into_inner().unwrap()
}

/// The properties that a report calls unknown.
fn unknown_properties(report: &str) -> BTreeSet<String> {
    let lines = report.lines().filter_map(|line| line.strip_prefix("unknown: "));
    let names =
        lines.filter_map(|line| line.split(": ").next()).flat_map(|names| names.split(", "));
    names.map(str::to_owned).collect()
}

#[test]
fn every_kernel_gets_the_answer_that_is_right_for_it_and_no_other() {
    let names = names();
    assert!(names.len() >= 703, "only {} kernels", names.len());
    // Sums of float atomics have tests of their own.
    let options = Options { allow: driver::Allow { float_order: true }, ..Options::default() };
    let reports = all_reports(&names, options);
    let mut wrong = Vec::new();
    for (name, (report, exit)) in names.iter().zip(&reports) {
        let expected = Expectation::parse(&read(name, "expect"));
        if let Err(why) = expected.compare(&told(report), *exit) {
            wrong.push(format!("{name}: {why}"));
        }
        if !expected.open.is_empty() && unknown_properties(report) != expected.open {
            wrong.push(format!("{name}: other properties are unknown than {:?}", expected.open));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for (name, (report, _)) in names.iter().zip(reports) {
        let path = folder().join(format!("{name}.report"));
        snapbox::assert_data_eq!(report, Data::read_from(&path, None).raw());
    }
}

/// The interpreter's code for common cases must give the answer of its code for all cases.
#[test]
fn both_paths_of_the_interpreter_report_the_same() {
    let names = names().into_iter().enumerate().filter(|(at, _)| corpus::is_sampled(*at));
    for (_, name) in names {
        let input = Input::from_bytes(&name, read(&name, "ptx").into()).unwrap();
        Flags::parse(&read(&name, "args")).run_only(&input, |execution| {
            let check = |one: &Execution<'_>| check::run(one, Options::default(), Colour::Plain);
            corpus::by_both_paths(execution, check, |fast, general| {
                panic!("{name}:\n{fast}\n{general}")
            })
        });
    }
}

/// Kernels with one barrier removed: the hint names its place.
#[test]
fn a_dropped_barrier_is_suggested_where_it_was() {
    let names: Vec<String> = names();
    let dropped = |name: &&String| name.contains("_drop") && name.ends_with("_broken");
    let names: Vec<String> = names.iter().filter(dropped).cloned().collect();
    assert!(names.len() >= 20, "only {} kernels", names.len());
    let mut silent = Vec::new();
    for (name, (report, _)) in names.iter().zip(all_reports(&names, Options::default())) {
        let hinted = told(&report).iter().any(|told| told.help.is_some());
        if !hinted {
            silent.push(name.clone());
        }
    }
    assert!(silent.is_empty(), "no hint: {silent:?}");
}

/// Harris's last warp without barriers is right if lanes run in lock-step, and only then.
#[test]
fn lanes_in_lock_step_need_no_barrier_in_their_warp() {
    let lock_step = Options { warp_synchronous: true, ..Options::default() };
    for number in 5..=7 {
        for variant in ["", "_volatile"] {
            let name = format!("reduce{number}{variant}_broken");
            let (report, exit) = report(&name, lock_step);
            assert_eq!(exit, 0, "{name}: {report}");
            assert!(report.contains("assumed: lanes of a warp"), "{name}: {report}");
        }
    }
    // One lane continues after its whole warp waited for an mbarrier.
    assert_eq!(report("mbar_warp_waits_broken", lock_step).1, 0);
    // A barrier between warps is needed all the same.
    for name in ["gemm_drop1_broken", "reduce3_broken", "shared_rmw_broken"] {
        assert_eq!(report(name, lock_step).1, 1, "{name}");
    }
}

#[test]
fn violations_of_the_manual_are_errors_with_strict() {
    let strict = Options { strict: true, ..Options::default() };
    for (name, kind) in [
        ("same_value_write_constant_note", "race"),
        ("blocks_same_flag_note", "race"),
        ("role_branches_note", "barrier-divergence"),
        ("barrier_divergent_warps", "barrier-divergence"),
        ("hw_m12", "barrier-divergence"),
        ("shfl_after_exit_note", "warp-collective"),
        ("vote_after_exit_note", "warp-collective"),
        ("hw_m08", "warp-collective"),
        ("arrive_nobody_waits_note", "barrier-misuse"),
        ("arrive_last_round_note", "barrier-misuse"),
        ("prefetch_unused_note", "race"),
        ("halo_masked_note", "race"),
        ("blocks_halo_note", "race"),
        ("vector_part_unused_note", "race"),
        ("same_size_unused_note", "race"),
        ("table6_compute_range_broken", "race"),
        ("bulk_refill_fixed", "race"),
        ("pdl_early_read_note", "race"),
    ] {
        assert_eq!(report(name, Options::default()).1, 0, "{name}");
        let (report, exit) = report(name, strict);
        let errors = told(&report).into_iter().filter(|told| !told.is_note);
        let kinds: Vec<String> = errors.map(|told| told.kind).collect();
        assert!(exit == 1 && kinds == [kind], "{name}: {report}");
    }
    assert_eq!(report("async_in_flight_at_exit", strict).1, 0);
}

/// Blocks that wait for others are not followed; the report says so at the polling read.
#[test]
fn waits_between_blocks_are_unknown_in_so_many_words() {
    let words = "this block waits for another block (grid.sync() or a flag in global memory); waits \
                 between blocks are not modelled";
    for (name, line) in [
        ("grid_sync", ", inlined at grid_sync.cu:6"),
        ("grid_counter_wait", "grid_counter_wait.cu:11"),
        ("flag_wait_volatile", "flag_wait_volatile.cu:8"),
        ("flag_wait_sleeping", "flag_wait_sleeping.cu:8"),
        ("lock_wait", "lock_wait.cu:4"),
        ("atomic_spin", "atomic_spin.cu:8"),
    ] {
        let (report, exit) = report(name, Options::default());
        assert!(exit == 3 && report.contains(words) && report.contains(line), "{name}: {report}");
    }
}

/// Asserts the findings of kernels: a kind, or none.
fn assert_found(cases: &[(&str, &str)]) {
    for &(name, kind) in cases {
        let (report, exit) = report(name, Options::default());
        let errors = told(&report).into_iter().filter(|told| !told.is_note);
        let kinds: BTreeSet<String> = errors.map(|told| told.kind).collect();
        match kind {
            "clean" => assert!(exit == 0 && kinds.is_empty(), "{name}: {report}"),
            kind => assert!(exit == 1 && kinds.contains(kind), "{name}: {report}"),
        }
    }
}

// Cases that earlier tools miss or report wrongly, and behaviour of the hardware.

#[test]
fn transitive_chains_order_memory() {
    assert_found(&[
        ("transitive_chain_fixed", "clean"),
        ("transitive_chain_broken", "race"),
        ("transitive_arrive_chain_fixed", "clean"),
        ("transitive_arrive_chain_broken", "race"),
    ]);
}

#[test]
fn arrive_only_generations_count() {
    assert_found(&[
        ("arrive_only_generation_broken", "barrier-reuse"),
        ("arrive_only_generation_fixed", "clean"),
    ]);
}

#[test]
fn first_command_registrations_count() {
    assert_found(&[
        ("first_command_registration_broken", "barrier-reuse"),
        ("first_command_registration_fixed", "clean"),
    ]);
}

#[test]
fn a_shuffle_is_no_fence() {
    assert_found(&[
        ("shuffle_is_no_fence_shfl_broken", "race"),
        ("shuffle_is_no_fence_vote_broken", "race"),
        ("shuffle_is_no_fence_fixed", "clean"),
    ]);
}

#[test]
fn an_index_that_went_through_memory_is_followed() {
    assert_found(&[("faialaa_indirect_clean", "clean"), ("faialaa_indirect_broken", "race")]);
}

#[test]
fn a_race_after_the_last_barrier_is_found() {
    assert_found(&[
        ("race_after_last_barrier_broken", "race"),
        ("race_after_last_barrier_fixed", "clean"),
    ]);
}

#[test]
fn every_spelling_of_a_barrier_is_one() {
    assert_found(&[
        ("barrier_sync_spelling_clean", "clean"),
        ("barrier_sync_spelling_broken", "deadlock"),
    ]);
}

#[test]
fn overlapping_widths_conflict_and_neighbours_do_not() {
    assert_found(&[
        ("overlapping_widths_broken", "race"),
        ("overlapping_widths_fixed", "clean"),
        ("overlapping_widths_adjacent", "clean"),
    ]);
}

#[test]
fn arrays_cut_out_of_one_block_of_memory_are_one() {
    assert_found(&[
        ("aliased_shared_arrays_broken", "race"),
        ("aliased_shared_arrays_fixed", "clean"),
    ]);
}

#[test]
fn the_hardware_does_what_is_said() {
    assert_found(&[
        ("hw_m00", "clean"),
        ("hw_m01", "deadlock"),
        ("hw_m02", "deadlock"),
        ("hw_m03", "clean"),
        ("hw_m04", "clean"),
        ("hw_m05a", "clean"),
        ("hw_m05b", "barrier-misuse"),
        ("hw_m05c", "barrier-misuse"),
        ("hw_m06", "clean"),
        ("hw_m07", "deadlock"),
        ("hw_m08", "clean"),
        ("hw_m09", "deadlock"),
        ("hw_m10", "clean"),
        ("hw_m11", "clean"),
        ("hw_m12", "clean"),
        ("hw_m13", "undefined-value"),
        ("hw_m14", "undefined-value"),
        ("hw_m15", "barrier-misuse"),
        ("hw_m16", "clean"),
        ("hw_m17", "clean"),
        ("hw_m18", "barrier-divergence"),
        ("hw_m19", "barrier-misuse"),
    ]);
}

/// A folder that is removed after the test.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn the_graph_of_barriers_is_written_whole_or_not_at_all() {
    let folder = std::env::temp_dir().join(format!("warpproof-graph-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let scratch = Scratch(folder);
    let path = scratch.0.join("graph.dot");
    let pipelines = ["mbar_ring_fixed", "bulk_refill_broken", "mbar_leave_broken"];
    let names = ["weft_figure2_fixed", "weft_listing1_broken", "dma2_fixed"];
    for name in names.into_iter().chain(pipelines) {
        let options = Options { graph: Some(&path), ..Options::default() };
        let (_, exit) = report(name, options);
        assert_ne!(exit, 2, "{name}");
        let graph = std::fs::read_to_string(&path).unwrap();
        let expected = Data::read_from(&self::folder().join(format!("{name}.dot")), None).raw();
        snapbox::assert_data_eq!(graph, expected);
    }
    let nowhere = scratch.0.join("missing/graph.dot");
    let options = Options { graph: Some(&nowhere), ..Options::default() };
    let (report, exit) = report("weft_figure2_fixed", options);
    assert!(exit == 2 && report.contains("cannot write"), "{report}");
    let left: Vec<_> = std::fs::read_dir(&scratch.0).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

//! Tests of reading rows, making concrete runs, and writing tables and plots.

use super::measure::{Figures, Side, lines_of_kernel};
use super::plot::{Line, Plot};
use super::rows::{self, Before, Row, Subject, Table, Target};
use super::twins::{self, Pair, Times};
use super::{MeasuredRow, concrete, page, peers};
use testing::corpus::root;

#[test]
fn every_table_of_the_papers_is_there_and_its_files_too() {
    let tables = rows::read(&root()).unwrap();
    for title in [
        "Table 1",
        "Table 2",
        "Table 3",
        "section 6.2",
        "Table 4",
        "Table 5",
        "Table 6",
        "section 6.4",
        "Figure 9",
        "Figure 10",
        "Triton, checked",
        "CUDA, checked",
        "Production style: equivalence",
    ] {
        assert!(tables.iter().any(|table| table.title.contains(title)), "{title}");
    }
    for row in tables.iter().flat_map(|table| &table.rows) {
        for kernel in row.files() {
            let (file, name) = kernel
                .split_once("::")
                .map_or((kernel.as_str(), None), |(file, name)| (file, Some(name)));
            let text = std::fs::read_to_string(root().join(file)).unwrap();
            if row.is_for_all_sizes() {
                assert!(text.contains("__global__"), "{}: {kernel}", row.name);
                continue;
            }
            assert!(lines_of_kernel(&text, name) > 5, "{}: {kernel}", row.name);
        }
    }
}

/// The sizes of generated kernels match those of WEFT's figures within a few percent.
#[test]
fn generated_kernels_have_the_sizes_of_the_paper() {
    let tables = rows::read(&root()).unwrap();
    let mut seen = 0;
    for row in tables.iter().flat_map(|table| &table.rows) {
        let (Subject::Generated { kernel, .. }, Some([generations, commands])) =
            (&row.subject, row.size)
        else {
            continue;
        };
        let close = |ours: u64, theirs: u64| ours.abs_diff(theirs) <= 5 + theirs * 6 / 100;
        let counts = kernel.counts;
        assert!(close(counts.generations, generations), "{}: {counts:?} {generations}", row.name);
        assert!(close(counts.commands / 1000, commands), "{}: {counts:?} {commands}", row.name);
        seen += 1;
    }
    assert_eq!(seen, 26);
}

#[test]
fn wrong_lines_are_named() {
    for (text, line, what) in [
        ("\na | - | proved | check x", 2, "before any table"),
        ("table: t\na | - | proved", 2, "a row has"),
        ("table: t\na | quick | proved | check x", 2, "seconds"),
        ("table: t\na | - | fine | check x", 2, "no verdict"),
        ("table: t\na | - | proved | check x | colour red", 2, "not known"),
        ("table: t\na | - | refuted | check x", 2, "has a kind"),
        ("table: t\na | - | proved | check x | because race", 2, "only a refutation"),
        ("table: t\na | - | proved | weft nothing", 2, "no kernel"),
        ("table: t\na | - | proved | check x @nowhere.args", 2, "nowhere.args"),
        ("table: t\na | - | proved | check x | before long", 2, "no number"),
        ("table: t\na | - | proved | check x\nb | - | proved | check x | twin c", 3, "`c` is no"),
        (
            "table: t\na | - | proved | check x\ntable: u\nb | - | proved | check x | twin a",
            4,
            "`a`",
        ),
        ("table: t\na | - | proved | check x | target two s 3 MB", 2, "no number"),
    ] {
        let (found, message) = rows::parse(&root(), text).unwrap_err();
        assert_eq!(found, line, "{text}");
        assert!(message.contains(what), "{message}");
    }
}

#[test]
fn lines_are_those_of_one_kernel() {
    let text = ".visible .entry a(\n)\n{\n\tret;\n}\n.visible .entry ab(\n\t.param .u64 p\n)\n{\n\t.reg .b32 %r<2>;\n\n\t// nothing\n\t.loc 1 2 3\n\
                \t{ .reg .pred p;\n\tmov.v2.u32 {%r0,%r1}, x;\n\t}\n\tret;\n\n}\n.visible .entry c()\n{\n\tret;\n}\n";
    assert_eq!(lines_of_kernel(text, Some("a")), 1);
    assert_eq!(lines_of_kernel(text, Some("ab")), 4);
    assert_eq!(lines_of_kernel(text, None), 1);
    assert_eq!(lines_of_kernel(text, Some("b")), 0);
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn concrete_runs_have_the_launch_of_their_side_and_values() {
    let command = words(
        "equiv r.ptx o.ptx::k --grid 2 --ref-block 1 --opt-block 64 --opt-smem 4KiB --blocks 0..1 --arg x=f16[4] --arg y=f32[2]:out --ref-arg n=7 --opt-arg s=f32 --opt-arg i=s32[2] --assume x>0",
    );
    let found = concrete::commands(&command);
    let expected = [
        "simulate r.ptx --grid 2 --block 1 --blocks 0..1 --arg x=f16[4]=0.5 --arg y=f32[2]:out --arg n=7",
        "simulate o.ptx::k --grid 2 --block 64 --smem 4KiB --blocks 0..1 --arg x=f16[4]=0.5 --arg y=f32[2]:out --arg s=0.5 --arg i=s32[2]=1",
    ];
    assert_eq!(found, expected.map(words));
    assert_eq!(
        concrete::commands(&words("check k.ptx --grid 1")),
        [words("simulate k.ptx --grid 1")]
    );
}

fn example() -> Row {
    Row {
        name: "one, two".to_owned(),
        published: Some(50.0),
        expected: "proved".to_owned(),
        because: Default::default(),
        before: None,
        twin: None,
        subject: Subject::Flags(words("equiv a b")),
        target: Some(Target { seconds: 2.0, megabytes: 100.0 }),
        concrete_runs: None,
        peer: None,
        size: None,
        waits_in_parts: false,
    }
}

fn figures(seconds: f64) -> Figures {
    let side = Side { block_syncs: 524_288, warp_syncs: 12, threads: 512, lines: 90 };
    let sides = vec![Side { block_syncs: 0, ..side.clone() }, side];
    Figures {
        verdict: "proved".to_owned(),
        kinds: Default::default(),
        seconds: 2.0 * seconds,
        processor: seconds,
        kilobytes: 51_200,
        instructions: 2_500_000,
        sides,
    }
}

#[test]
fn a_row_is_written_as_it_was_measured() {
    let row = example();
    let peer = Some(peers::Answer { seconds: 20.0, share: 0.25 });
    let done = MeasuredRow { row: &row, figures: figures(0.5), concrete: Some(0.25), peer };
    let table = Table { title: "Products".to_owned(), rows: Vec::new() };
    let text = page::section(&table, &[done], true);
    let expected = "
## Products

| kernels | verdict | s | processor, s | MB | million instructions | block syncs | warp syncs | PTX lines | threads | published, s | ratio | concrete run, s | ratio | SymEngine, s | target |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
| one, two | proved | 1.000 | 0.500 | 50 | 2.50 | 0, 524k | 12, 12 | 90, 90 | 512, 512 | 50 | 100 | 0.250 | 2.0 | ≈ 80, 25.0 % done | met |
";
    assert_eq!(text, expected);
}

/// Seconds of an earlier version replace missing published ones, or stand beside them.
#[test]
fn an_earlier_version_has_columns_where_it_was_measured() {
    let before = |seconds, stopped| Some(Before { seconds, stopped });
    let ended = Row { published: None, before: before(2.0, false), ..example() };
    let stopped = Row { before: before(45.0, true), name: "stopped".to_owned(), ..example() };
    let done = |row| MeasuredRow { row, figures: figures(0.5), concrete: None, peer: None };
    let table = Table { title: "Slow".to_owned(), rows: Vec::new() };
    let text = page::section(&table, &[done(&ended)], false);
    assert!(text.contains("| threads | before, s | ratio | concrete run, s | ratio | target |"));
    assert!(text.contains("| 512, 512 | 2 | 4.0 | – | – | met |"), "{text}");
    let text = page::section(&table, &[done(&ended), done(&stopped)], false);
    assert!(text.contains("| before, s | ratio | published, s | ratio | concrete run, s |"));
    assert!(text.contains("| 2 | 4.0 | – | – | – | – | met |"), "{text}");
    assert!(text.contains("| > 45 | > 90 | 50 | 100 | – | – | met |"), "{text}");
    let plain = example();
    assert!(!page::section(&table, &[done(&plain)], false).contains("before"));
}

#[test]
fn rows_say_what_was_before_and_what_their_twin_is() {
    let text = "table: t\na, b | - | proved | check x | before > 3.5\n\
                bad | - | refuted | check y --grid 1 | because race uninitialised | before 2 | twin a, b";
    let tables = rows::parse(&root(), text).unwrap();
    let [clean, bad] = tables[0].rows.as_slice() else { panic!("two rows") };
    assert_eq!(clean.before, Some(Before { seconds: 3.5, stopped: true }));
    assert_eq!(bad.before, Some(Before { seconds: 2.0, stopped: false }));
    assert_eq!(bad.because, ["race", "uninitialised"].map(str::to_owned).into());
    let pair =
        Pair { name: "bad".to_owned(), clean: words("check x"), bad: words("check y --grid 1") };
    assert_eq!(twins::of_table(&tables[0]), [pair]);
}

#[test]
fn kernels_of_the_corpus_have_their_repaired_twins() {
    assert_eq!(twins::repaired("a_broken"), ["a_fixed"]);
    assert_eq!(twins::repaired("a_drop2_broken"), ["a_drop2_fixed", "a_fixed"]);
    assert_eq!(twins::repaired("a_drop_broken"), ["a_drop_fixed"]);
    assert!(twins::repaired("a_fixed").is_empty());
    let pairs = twins::pairs(&root(), &[]).unwrap();
    let find = |name: &str| pairs.iter().find(|pair| pair.name == name).unwrap();
    let one = find("table6_layer_norm_broken");
    assert_eq!(one.bad[..3], words("check corpus/sync/table6_layer_norm_broken.ptx --grid"));
    assert_eq!(one.clean[..2], words("check corpus/sync/table6_layer_norm_fixed.ptx"));
    assert!(pairs.len() > 90, "{}", pairs.len());
}

#[test]
fn the_worst_ratios_come_first_and_the_bound_holds_for_all() {
    let times = |name: &str, clean, bad| Times { name: name.to_owned(), clean, bad };
    let mut all: Vec<Times> = (0..12).map(|n| times(&format!("short {n}"), 0.001, 0.1)).collect();
    all.push(times("long", 1.0, 2.2));
    all.push(times("near the bound", 0.1, 0.49));
    assert_eq!(all[0].ratio(), 0.0);
    assert!((all[12].ratio() - 2.0).abs() < 1e-9);
    assert!(twins::summary(&all).ends_with("All 14 pairs are within the bound of 3.\n"));
    all.push(times("beyond", 0.1, 0.51));
    let worst: Vec<&str> = twins::worst(&all).iter().map(|one| one.name.as_str()).collect();
    assert_eq!(worst.len(), twins::SHOWN);
    assert_eq!(worst[..3], ["beyond", "near the bound", "long"]);
    assert!(twins::summary(&all).starts_with("  3.10: beyond, 0.510 s, clean 0.100 s\n"));
    let page = page::of_twins(&all);
    assert!(page.contains("1 of 15 pairs are beyond the bound of 3.\n"), "{page}");
    assert!(page.contains("| beyond | 0.510 | 0.100 | 3.10 |\n| near the bound |"), "{page}");
}

#[test]
fn missed_targets_say_by_how_much() {
    let row = example();
    let slow = MeasuredRow {
        row: &row,
        figures: Figures { kilobytes: 204_800, ..figures(3.0) },
        concrete: Some(0.1),
        peer: None,
    };
    assert_eq!(slow.missed(), ["3.00 s of 2 s", "200 MB of 100 MB", "30.0 concrete runs of 25"]);
    assert!(slow.is_expected());
    let wrong =
        MeasuredRow { figures: Figures { verdict: "unknown".to_owned(), ..figures(0.1) }, ..slow };
    assert!(!wrong.is_expected());
    let refuted =
        Row { expected: "refuted".to_owned(), because: ["race".to_owned()].into(), ..example() };
    let found = |kinds: &[&str]| {
        let kinds = kinds.iter().map(|kind| (*kind).to_owned()).collect();
        let figures = Figures { verdict: "refuted".to_owned(), kinds, ..figures(0.1) };
        MeasuredRow { row: &refuted, figures, concrete: None, peer: None }.is_expected()
    };
    assert!(found(&["race"]));
    assert!(!found(&["out-of-bounds"]) && !found(&["out-of-bounds", "race"]) && !found(&[]));
    let check = Row { subject: Subject::Flags(words("check a")), target: None, ..example() };
    let of_check = |parts, seconds| {
        let row =
            Row { waits_in_parts: parts, subject: Subject::Flags(words("check a")), ..example() };
        MeasuredRow { row: &row, figures: figures(seconds), concrete: Some(0.1), peer: None }
            .missed()
    };
    assert!(!check.is_comparison());
    assert_eq!(of_check(false, 0.5), ["5.0 concrete runs of 4"]);
    assert!(of_check(true, 0.5).is_empty());
    let few = Row { concrete_runs: Some(3.0), target: None, ..refuted };
    let few = MeasuredRow { row: &few, figures: figures(0.5), concrete: Some(0.1), peer: None };
    assert_eq!(few.missed(), ["5.0 concrete runs of 3"]);
}

#[test]
fn notes_belong_to_tables() {
    let notes = "# Notes\n\n## One\n\nfirst\nlines\n\n## Two\nsecond\n";
    assert_eq!(page::note(notes, "One"), Some("first\nlines"));
    assert_eq!(page::note(notes, "Two"), Some("second"));
    assert_eq!(page::note(notes, "Three"), None);
}

/// A note without a table would never be shown.
#[test]
fn every_note_has_a_table() {
    let notes = std::fs::read_to_string(root().join("bench/notes.md")).unwrap();
    let tables = rows::read(&root()).unwrap();
    for title in notes.lines().filter_map(|line| line.strip_prefix("## ")) {
        let known = title == "Growth" || tables.iter().any(|table| table.title == title);
        assert!(known, "{title}");
    }
}

#[test]
fn a_power_law_is_recognised_and_drawn() {
    let points = [1.0, 2.0, 4.0, 8.0].map(|size: f64| [size, 0.01 * size.powf(1.5)]);
    let line = Line { name: "a < b", points: points.into() };
    assert!((line.exponent() - 1.5).abs() < 1e-9);
    let plot = Plot { file: "p", title: "T & U", size: "n", lines: vec![line] };
    let svg = plot.svg();
    assert!(svg.contains("a &lt; b, exponent 1.50") && svg.contains("T &amp; U"));
    // All points, and one in the legend; the fitted line goes from the first to the last.
    assert_eq!(svg.matches("<circle").count(), 5);
    assert_eq!(svg.matches("stroke-dasharray").count(), 1);
    assert!(!svg.contains("NaN") && !svg.contains("inf"));
}

//! Reading rows, asking for concrete runs, writing tables and plots.

use super::measure::{Figures, Side, lines_of_kernel};
use super::plot::{Line, Plot};
use super::rows::{self, Row, Subject, Table, Target};
use super::{Done, concrete, page, peers};
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

/// What the figures of WEFT say of a kernel's size is what ours have, within a few parts of a hundred.
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
        let does = kernel.does;
        assert!(close(does.generations, generations), "{}: {does:?} {generations}", row.name);
        assert!(close(does.commands / 1000, commands), "{}: {does:?} {commands}", row.name);
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
        "equiv r.ptx o.ptx::k --grid 2 --ref-block 1 --opt-block 64 --opt-smem 4KiB --arg x=f16[4] --arg y=f32[2]:out --ref-arg n=7 --opt-arg s=f32 --opt-arg i=s32[2] --assume x>0",
    );
    let found = concrete::commands(&command);
    let expected = [
        "simulate r.ptx --grid 2 --block 1 --arg x=f16[4]=0.5 --arg y=f32[2]:out --arg n=7",
        "simulate o.ptx::k --grid 2 --block 64 --smem 4KiB --arg x=f16[4]=0.5 --arg y=f32[2]:out --arg s=0.5 --arg i=s32[2]=1",
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
        because: None,
        subject: Subject::Flags(words("equiv a b")),
        target: Some(Target { seconds: 2.0, megabytes: 100.0 }),
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
    let done = Done { row: &row, figures: figures(0.5), concrete: Some(0.25), peer };
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

#[test]
fn what_misses_its_target_says_by_how_much() {
    let row = example();
    let slow = Done {
        row: &row,
        figures: Figures { kilobytes: 204_800, ..figures(3.0) },
        concrete: Some(0.1),
        peer: None,
    };
    assert_eq!(slow.missed(), ["3.00 s of 2 s", "200 MB of 100 MB", "30.0 concrete runs of 25"]);
    assert!(slow.is_expected());
    let wrong = Done { figures: Figures { verdict: "unknown".to_owned(), ..figures(0.1) }, ..slow };
    assert!(!wrong.is_expected());
    let refuted =
        Row { expected: "refuted".to_owned(), because: Some("race".to_owned()), ..example() };
    let found = |kinds: &[&str]| {
        let kinds = kinds.iter().map(|kind| (*kind).to_owned()).collect();
        let figures = Figures { verdict: "refuted".to_owned(), kinds, ..figures(0.1) };
        Done { row: &refuted, figures, concrete: None, peer: None }.is_expected()
    };
    assert!(found(&["race"]));
    assert!(!found(&["out-of-bounds"]) && !found(&["out-of-bounds", "race"]) && !found(&[]));
    let check = Row { subject: Subject::Flags(words("check a")), target: None, ..example() };
    let of_check = |parts, seconds| {
        let row =
            Row { waits_in_parts: parts, subject: Subject::Flags(words("check a")), ..example() };
        Done { row: &row, figures: figures(seconds), concrete: Some(0.1), peer: None }.missed()
    };
    assert!(!check.is_comparison());
    assert_eq!(of_check(false, 0.5), ["5.0 concrete runs of 4"]);
    assert!(of_check(true, 0.5).is_empty());
}

#[test]
fn notes_belong_to_tables() {
    let notes = "# Notes\n\n## One\n\nfirst\nlines\n\n## Two\nsecond\n";
    assert_eq!(page::note(notes, "One"), Some("first\nlines"));
    assert_eq!(page::note(notes, "Two"), Some("second"));
    assert_eq!(page::note(notes, "Three"), None);
}

/// A note nobody would see belongs to no table.
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
    // All points, and one in the legend; the line through them goes from the first to the last.
    assert_eq!(svg.matches("<circle").count(), 5);
    assert_eq!(svg.matches("stroke-dasharray").count(), 1);
    assert!(!svg.contains("NaN") && !svg.contains("inf"));
}

//! Flags for reports change no answer: verdict, properties, findings and exit status are the same with and without
//! them.

use serde_json::Value;
use snapbox::cmd::{Command, cargo_bin};
use std::path::Path;
use testing::corpus::root;

/// Kernels with answers from different methods: settled with values, lifted, refuted, open, proved.
const CHECKS: &[&str] = &[
    "corpus/ptx/triton/softmax.sm_80.ptx --grid 3 --smem 16 --arg x=f32[3,700]@[768,1] \
     --arg o=f32[3,700]@[768,1]:out --arg stride=768 --arg n=700 --arg scratch=0 --arg profile=0",
    "examples/online_softmax/racy.ptx --grid 4 --block 64 --arg x=f32[4,256] --arg y=f32[4,256]:out \
     --arg columns=256",
    "examples/online_softmax/online.ptx --grid 4 --block 64 --arg x=f32[4,256] \
     --arg y=f32[4,256]:out --arg columns=256",
    "docs/errors/examples/WP0020.ptx --grid 1 --block 32 --arg next=s32[32] --arg y=f32[32]:out",
    "docs/errors/examples/WP0130.ptx --grid 1 --block 128 --arg x=f32[200] --arg y=f32[200]:out",
    "docs/errors/examples/WP0109.ptx --grid 1 --block 64 --arg x=7.5",
];

const EQUIVS: &[&str] = &[
    "examples/online_softmax/softmax.ptx examples/online_softmax/online.ptx --grid 1 --ref-block 1 \
     --opt-block 32 --arg x=f32[1,64] --arg y=f32[1,64]:out --arg columns=64",
    "docs/errors/examples/WP0140.ptx::mean docs/errors/examples/WP0140.ptx::mean_of_four --grid 1 \
     --block 1 --arg x=f32[8] --arg y=f32[1]:out --arg n=8",
];

fn run(command: &str, flags: &str, more: &[&str]) -> (i32, String) {
    let process = Command::new(cargo_bin!("warpproof")).current_dir(root()).arg(command);
    let output = process.args(flags.split_whitespace()).args(more).output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
}

/// All parts of a report that are answers, as text.
fn answer(json: &str) -> String {
    let report: Value =
        serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {json}"));
    let keys = [
        "verdict",
        "properties",
        "findings",
        "open",
        "stopped",
        "assumptions",
        "notes",
        "coverage",
    ];
    keys.iter().map(|key| format!("{key}: {}\n", report[*key])).collect()
}

/// Each combination of the reporting flags of a command.
fn combinations(command: &str, folder: &Path) -> Vec<Vec<String>> {
    let file = |name: &str| folder.join(name).display().to_string();
    let report = vec!["--report".to_owned(), file("page.html")];
    let graph = vec!["--graph".to_owned(), file("barriers.dot")];
    let verbose = vec!["--verbose".to_owned()];
    let (one, many) =
        (vec!["-j".to_owned(), "1".to_owned()], vec!["-j".to_owned(), "3".to_owned()]);
    let mut groups = vec![vec![Vec::new(), report], vec![one, [many, verbose].concat()]];
    if command == "check" {
        groups.push(vec![Vec::new(), graph]);
    }
    groups.into_iter().fold(vec![Vec::new()], |all, group| {
        let extended = all.iter().flat_map(|before: &Vec<String>| {
            group.iter().map(move |more| [before.as_slice(), more].concat())
        });
        extended.collect()
    })
}

#[test]
fn reporting_does_not_change_the_answer() {
    let folder = std::env::temp_dir().join(format!("warpproof-reporting-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let checks = CHECKS.iter().map(|flags| ("check", *flags));
    for (command, flags) in checks.chain(EQUIVS.iter().map(|flags| ("equiv", *flags))) {
        let (plain, _) = run(command, flags, &[]);
        let (status, json) = run(command, flags, &["--format", "json"]);
        assert_eq!(status, plain, "{command} {flags}");
        let expected = answer(&json);
        for more in combinations(command, &folder) {
            let mut more: Vec<&str> = more.iter().map(String::as_str).collect();
            more.extend(["--format", "json"]);
            let (other, json) = run(command, flags, &more);
            assert_eq!(other, status, "{command} {flags} {more:?}");
            assert_eq!(answer(&json), expected, "{command} {flags} {more:?}");
        }
        for format in ["sarif", "github", "junit"] {
            let more = ["--format", format];
            assert_eq!(run(command, flags, &more).0, status, "{command} {flags} {format}");
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Triton's reductions write the same value from several threads; only a run with values shows it.
#[test]
fn a_page_and_a_graph_keep_a_proof() {
    let folder = std::env::temp_dir().join(format!("warpproof-page-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let [page, graph] = ["page.html", "graph.dot"].map(|name| folder.join(name));
    let (page_flag, graph_flag) = (page.display().to_string(), graph.display().to_string());
    let more = ["--report", &page_flag, "--graph", &graph_flag];
    assert_eq!(run("check", CHECKS[0], &more).0, 0);
    assert!(std::fs::read_to_string(&graph).unwrap().contains("barrier 0, use 1"));
    assert!(std::fs::read_to_string(&page).unwrap().contains("barrier 0, use 1"));
    std::fs::remove_dir_all(&folder).unwrap();
}

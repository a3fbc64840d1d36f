//! `warpproof prove` from a user's side: kernels in `prove/`, without a solver; checks reports and exit statuses.
//!
//! Long: one test for each situation of a user, and the attacks of `prove/attacks` and `prove/pairs`.

use snapbox::cmd::{Command, cargo_bin};
use std::path::Path;

fn prove(arguments: &str) -> (i32, String, String) {
    warpproof(&format!("prove {arguments}"))
}

fn warpproof(arguments: &str) -> (i32, String, String) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/prove");
    let program = Command::new(cargo_bin!("warpproof")).current_dir(folder).env_remove("NO_COLOR");
    // Hides the z3 and NVRTC of this machine.
    let program = ["WARPPROOF_Z3", "WARPPROOF_NVRTC", "VIRTUAL_ENV"]
        .into_iter()
        .fold(program, |program, name| program.env_remove(name));
    // Hides answers of earlier runs.
    let program = ["WARPPROOF_CACHE", "XDG_CACHE_HOME", "HOME"]
        .into_iter()
        .fold(program, |program, name| program.env_remove(name));
    let output = program.args(arguments.split_whitespace()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_kernel_is_proved_for_every_launch() {
    let (code, output, messages) = prove("proved.cu --no-solver");
    assert_eq!((code, messages.as_str()), (0, ""), "{output}");
    let first = "proved (every 1-D launch and size): races, barriers, bounds, overflow, division, initialised\n";
    assert!(output.starts_with(first), "{output}");
    assert!(
        output.contains("note: tested by running ") && output.contains("assumed: "),
        "{output}"
    );
}

#[test]
fn a_page_shows_the_source_with_what_was_found() {
    let name = format!("warpproof-prove-{}.html", std::process::id());
    let page = std::env::temp_dir().join(name);
    let (code, output, _) = prove(&format!("racy.cu --no-solver --report {}", page.display()));
    let text = std::fs::read_to_string(&page).unwrap();
    std::fs::remove_file(&page).unwrap();
    assert_eq!(code, 1, "{output}");
    let source = include_str!("prove/racy.cu");
    let line = source.lines().find(|line| line.contains("__global__")).unwrap();
    let escaped = line.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let plain = without_tags(&text);
    for shown in ["refuted", "WP0109", escaped.trim()] {
        assert!(plain.contains(shown), "{shown}: {text}");
    }
}

/// The text of a page: its tags colour the source.
fn without_tags(page: &str) -> String {
    let parts = page.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text));
    parts.collect()
}

#[test]
fn a_refutation_names_a_launch_and_both_threads() {
    let (code, output, _) = prove("racy.cu --no-solver");
    assert_eq!(code, 1, "{output}");
    for shown in [
        "error[WP0109]: two threads access `s[1]`, and nothing orders them",
        "--> racy.cu:10:27",
        "thread 0 of block 0 reads it",
        "thread 1 of block 0 writes it",
        "with gridDim.x = 1, blockDim.x = 4",
        "refuted: races",
    ] {
        assert!(output.contains(shown), "{shown}: {output}");
    }
    let (code, output, _) = prove("bounds.cu --no-solver --format json");
    assert_eq!(code, 1, "{output}");
    let report: serde_json::Value = serde_json::from_str(&output).unwrap();
    assert_eq!(report["command"], "prove");
    assert_eq!(report["verdict"], "refuted");
    let finding = &report["findings"][0];
    assert_eq!((&finding["kind"], &finding["code"]), (&"out-of-bounds".into(), &"WP0101".into()));
    assert_eq!(finding["locations"][0]["line"], 6);
}

/// Without a name, all kernels are proved in the order of the text, and the worst answer counts.
#[test]
fn all_kernels_of_a_file_are_proved() {
    let (code, output, messages) = prove("several.cu --no-solver");
    assert_eq!((code, messages.as_str()), (1, ""), "{output}");
    let headings: Vec<&str> = output.lines().filter(|line| line.starts_with("== ")).collect();
    assert_eq!(
        headings,
        ["== fill", "== jump", "== stray", "== twice<float>", "== twice<double>", "== any"]
    );
    assert!(output.ends_with("6 kernels: 4 proved, 1 refuted, 1 unknown\n"), "{output}");
    for shown in ["`goto` is not supported", "error[WP0101]", "`T` is `float`"] {
        assert!(output.contains(shown), "{shown}: {output}");
    }
    let (code, output, _) = prove("several.cu --no-solver --format json");
    assert_eq!(code, 1, "{output}");
    let all: serde_json::Value = serde_json::from_str(&output).unwrap();
    assert_eq!((&all["schema"], &all["command"]), (&2.into(), &"prove".into()));
    let reports = all["reports"].as_array().unwrap();
    let told: Vec<[&str; 2]> = reports
        .iter()
        .map(|report| [&report["name"], &report["verdict"]].map(|field| field.as_str().unwrap()))
        .collect();
    let wanted = [
        ["fill", "proved"],
        ["jump", "unknown"],
        ["stray", "refuted"],
        ["twice<float>", "proved"],
        ["twice<double>", "proved"],
        ["any", "proved"],
    ];
    assert_eq!(told, wanted);
    assert!(reports[1]["stopped"]["message"].as_str().unwrap().contains("goto"), "{output}");
    for format in ["sarif", "junit", "github"] {
        let (code, output, _) = prove(&format!("several.cu --no-solver --format {format}"));
        assert_eq!(code, 1, "{output}");
        assert!(
            (output.contains("stray") || output.contains("WP0101")) && !output.contains("== "),
            "{output}"
        );
    }
    let (code, output, _) = prove("several.cu::fill --no-solver");
    assert_eq!(code, 0, "{output}");
    assert!(!output.contains("=="), "{output}");
}

/// Kernels with one name cannot be told apart and stay open; the others are proved all the same.
#[test]
fn kernels_of_one_name_are_open() {
    let (code, output, _) = prove("overloads.cu --no-solver");
    assert_eq!(code, 3, "{output}");
    assert!(output.contains("several kernels have the name `fill`"), "{output}");
    assert!(output.ends_with("2 kernels: 1 proved, 1 unknown\n"), "{output}");
}

#[test]
fn unsupported_or_wrong_code_is_reported_with_its_line() {
    let (code, _, messages) = prove("unsupported.cu");
    assert_eq!(code, 3, "{messages}");
    assert!(messages.contains("`goto` is not supported"), "{messages}");
    assert!(messages.contains("--> unsupported.cu:3:3"), "{messages}");
    // Without a compiler it is open if the text or the reader is wrong.
    let (code, _, messages) = prove("syntax.cu");
    assert_eq!(code, 3, "{messages}");
    assert!(
        messages.contains("not supported here: expected `;`\n --> syntax.cu:3:1"),
        "{messages}"
    );
}

/// A missing solver is reported, never taken for an answer.
#[test]
fn without_a_solver_it_says_so() {
    let (code, output, _) = prove("needs_solver.cu --no-solver");
    assert!(code == 3 && output.contains("note: the solver is turned off"), "{output}");
    assert!(output.contains("proved (every 2-D launch and size): races, barriers"), "{output}");
    let (code, output, messages) = prove("proved.cu --solver absent");
    assert_eq!((code, output.as_str()), (2, ""), "{messages}");
    assert!(messages.starts_with("error: `absent`"), "{messages}");
    let (code, _, messages) = prove(".");
    assert_eq!(code, 2);
    assert!(messages.starts_with("error: `.` is a folder"), "{messages}");
}

const PAIRS: &str = "../../../../corpus/param/equal";

/// Two kernels for every size: equal, different on a named launch, not comparable.
#[test]
fn two_kernels_are_compared_for_every_size() {
    let equiv = |one: &str, two: &str, more: &str| {
        let files = format!("{PAIRS}/{one}.cu {two}");
        warpproof(&format!("equiv --for-all-sizes {files} --no-solver {more}"))
    };
    let (code, output, messages) = equiv("reverse_a", &format!("{PAIRS}/reverse_b.cu"), "");
    assert_eq!((code, messages.as_str()), (0, ""), "{output}");
    assert!(output.starts_with("proved (every 1-D launch and size): same `out`\n"), "{output}");
    for shown in ["overflow, division of the reference kernel", "pairs of small launches"] {
        assert!(output.contains(shown), "{shown}: {output}");
    }
    let (code, output, _) = equiv("reverse_a", "reverse_wrong.cu", "");
    assert_eq!(code, 1, "{output}");
    for shown in ["error[WP0140]: `out[0]` differs", "leaves", "refuted: equivalence"] {
        assert!(output.contains(shown), "{shown}: {output}");
    }
    let (code, output, _) = equiv("reverse_a", "reverse_wrong.cu", "--format json");
    let report: serde_json::Value = serde_json::from_str(&output).unwrap();
    assert_eq!(
        (code, &report["command"], &report["verdict"]),
        (1, &"equiv".into(), &"refuted".into())
    );
    assert_eq!(report["properties"][0]["name"], "equivalence");
    assert_eq!(report["findings"][0]["kind"], "different");
    assert_eq!(report["reference"]["kernel"], "reverse1");
    let (code, output, _) = equiv("vector_add_a", "reverse_wrong.cu", "");
    assert_eq!(code, 3, "{output}");
}

/// A kernel that needs a solver, and solvers that are shell scripts, in a folder of their own.
#[cfg(unix)]
struct Solvers(std::path::PathBuf);

#[cfg(unix)]
impl Solvers {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("warpproof-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    /// A shell writes it, because a file that a child of another test holds open for writing cannot be executed.
    fn program(&self, name: &str, body: &str) -> String {
        let (path, draft) = (self.0.join(name), self.0.join("draft"));
        std::fs::write(&draft, format!("#!/bin/sh\n{body}\n")).unwrap();
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", "cat \"$0\" > \"$1\" && chmod 755 \"$1\""]).args([&draft, &path]);
        assert!(shell.status().unwrap().success());
        path.display().to_string()
    }

    /// A fake z3 that always gives the same answer.
    fn z3(&self, answer: &str) -> String {
        let body = format!(
            "while read -r line; do case \"$line\" in\n\
             '(get-info :version)') echo '(:version \"5.4.0\")';;\n\
             '(check-sat)') echo {answer};;\n\
             '(echo '*) line=\"${{line#*\\\"}}\"; echo \"${{line%%\\\"*}}\";;\n\
             esac; done"
        );
        self.program(&format!("z3-{answer}"), &body)
    }

    fn prove(&self, arguments: &[&str]) -> (i32, String) {
        let root = testing::corpus::root().join("corpus/param");
        let program = Command::new(cargo_bin!("warpproof")).current_dir(root);
        let program = program.env("WARPPROOF_CACHE", self.0.join("cache"));
        let output =
            program.args(["prove", "transpose_tiled.cu"]).args(arguments).output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
    }
}

#[cfg(unix)]
impl Drop for Solvers {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(unix)]
#[test]
fn answers_of_the_solver_are_kept_between_runs() {
    let solvers = Solvers::new("prove-cache");
    let (unsat, unknown) = (solvers.z3("unsat"), solvers.z3("unknown"));
    let (code, output) = solvers.prove(&["--solver", &unknown, "--no-cache"]);
    assert_eq!(code, 3, "{output}");
    let (code, output) = solvers.prove(&["--solver", &unsat]);
    assert_eq!(code, 0, "{output}");
    let (code, output) = solvers.prove(&["--solver", &unknown]);
    assert_eq!(code, 0, "{output}");
    // An entry with another key is ignored, even under the right name.
    for entry in std::fs::read_dir(solvers.0.join("cache/z3")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "key") {
            std::fs::write(path, "another question").unwrap();
        }
    }
    let (code, output) = solvers.prove(&["--solver", &unknown]);
    assert_eq!(code, 3, "{output}");
    // `unknown` is cached as well: asked again, the solver would know no more.
    let (code, output) = solvers.prove(&["--solver", &unsat]);
    assert_eq!(code, 3, "{output}");
}

#[cfg(unix)]
#[test]
fn a_second_solver_is_asked_for_its_opinion() {
    let solvers = Solvers::new("prove-second");
    let z3 = solvers.z3("unsat");
    let said = |answer: &str| {
        let second = solvers.program("cvc5", &format!("cat > /dev/null; echo {answer}"));
        solvers.prove(&["--solver", &z3, "--second-solver", &second])
    };
    let (code, output) = said("unsat");
    assert_eq!(code, 0, "{output}");
    let (_, counts) = output.split_once("confirmed by cvc5: ").expect("a note");
    let (confirmed, rest) = counts.split_once(" of ").unwrap();
    assert_eq!(rest.lines().next(), Some(confirmed), "{output}");
    assert_ne!(confirmed, "0");
    let (code, output) = said("unknown");
    assert_eq!(code, 0, "{output}");
    assert!(output.contains(&format!("confirmed by cvc5: 0 of {confirmed}\n")), "{output}");
    let (code, output) = said("sat");
    assert_eq!(code, 3, "{output}");
    assert!(output.contains("fits into `int`: the solvers disagree\n"), "{output}");
    assert!(output.contains(", which were not used\n"), "{output}");
    assert_eq!(said("hello").0, 2);
}

/// The command line gives the correspondence between two kernels.
#[test]
fn two_kernels_belong_together_as_is_said() {
    let equiv = |more: &str| {
        warpproof(&format!("equiv --for-all-sizes copy_a.cu copy_b.cu --no-solver {more}"))
    };
    let names = "--map in=source --map out=target --map n=size";
    let (code, output, messages) = equiv(&format!("{names} --same-launch"));
    assert_eq!((code, messages.as_str()), (0, ""), "{output}");
    for shown in [
        "same `out`",
        "assumed: `n` is `size` of the optimised kernel",
        "assumed: both kernels have the same launch",
    ] {
        assert!(output.contains(shown), "{shown}: {output}");
    }
    // With its own launch the second kernel may have too few threads.
    let (code, output, _) = equiv(names);
    assert_eq!(code, 1, "{output}");
    let (code, output, _) = equiv(&format!("{names} --requires gridDim.x*blockDim.x>=n"));
    assert_eq!(code, 0, "{output}");
    assert!(output.contains("assumed: requires gridDim.x*blockDim.x>=n (as given)"), "{output}");
    for (more, said) in [
        ("--map in=nothing", "the second kernel has no parameter `nothing`"),
        ("--map nothing=source", "the first kernel has no parameter `nothing`"),
        ("--map in", "expected two names"),
        ("--requires nothing>0", "neither kernel has all names of `nothing>0`"),
        ("--requires n>", "--requires `n>`: expected an expression"),
    ] {
        let (code, _, messages) = equiv(more);
        assert_eq!(code, 2, "{more}: {messages}");
        assert!(messages.contains(said), "{more}: {messages}");
    }
}

/// Postconditions: proved, refuted on a named launch, or not followed.
#[test]
fn postconditions_are_told() {
    let (code, output, _) = prove("ensures.cu::twice --no-solver");
    assert_eq!(code, 0, "{output}");
    assert!(output.contains("division, postcondition\n"), "{output}");
    let (code, output, _) = prove("ensures.cu::almost --no-solver");
    assert_eq!(code, 1, "{output}");
    for shown in [
        "error[WP0117]: `y[0]` is ",
        " at the end and should be ",
        "false for j = 0",
        "refuted: post",
    ] {
        assert!(output.contains(shown), "{shown}: {output}");
    }
    let (code, output, _) = prove("ensures.cu::almost --no-solver --format json");
    let report: serde_json::Value = serde_json::from_str(&output).unwrap();
    assert_eq!((code, &report["findings"][0]["kind"]), (1, &"postcondition".into()));
    let (code, output, _) = prove("ensures.cu::greatest --no-solver");
    assert_eq!(code, 3, "{output}");
    let reason = "unknown: postcondition: line 19: could not show this claim: got 2*x[0], want ";
    assert!(output.contains(reason), "{output}");
}

/// The first line names the launches of the claim; `--strict` means all of them.
#[test]
fn the_first_line_says_which_launches() {
    let (code, output, _) = prove("everybody.cu --no-solver");
    assert_eq!(code, 1, "{output}");
    assert!(output.contains("refuted: races"), "{output}");
    let hint = "//@ requires gridDim.x == 1 && blockDim.x == 1;";
    assert!(output.contains(hint), "{output}");
    let (_, output, _) = prove("proved.cu --no-solver");
    let listed = "assumed: blockDim.y, gridDim.y, blockDim.z, gridDim.z are 1";
    assert!(output.contains(listed), "{output}");
    let (_, output, _) = prove("proved.cu --no-solver --strict");
    assert!(output.contains("refuted: races") && !output.contains("are 1:"), "{output}");
}

/// A clause that divides by zero on some launch is named, and nothing is proved with it.
#[test]
fn a_clause_without_a_value() {
    let (code, output, _) = prove("no_value.cu --no-solver");
    assert_eq!(code, 1, "{output}");
    assert!(output.contains("this clause has no value: a division by zero"), "{output}");
    assert!(!output.contains("proved ("), "{output}");
}

/// A proof ends at its time limit, with its results so far.
#[test]
fn a_proof_ends_in_time() {
    let (code, output, _) = prove("proved.cu --no-solver --timeout 0.000001");
    assert_eq!(code, 3, "{output}");
    assert!(output.contains("(--timeout)"), "{output}");
}

/// A sum of thousands of terms is read and proved.
#[test]
fn deep_expressions() {
    let name = format!("warpproof-deep-{}.cu", std::process::id());
    let path = std::env::temp_dir().join(name);
    let run = |terms: usize| {
        let sum = vec!["x"; terms].join(" + ");
        let text = format!(
            "//@ extent o[1];\n//@ requires gridDim.x == 1 && blockDim.x == 1;\n\
             __global__ void k(int* o, int x) {{ o[0] = {sum}; }}\n"
        );
        std::fs::write(&path, text).unwrap();
        prove(&format!("{} --no-solver", path.display()))
    };
    let (code, output, messages) = run(8_000);
    assert_eq!(code, 0, "{output}{messages}");
    let (code, _, messages) = run(12_000);
    assert_eq!(code, 3, "{messages}");
    assert!(messages.contains("this expression is too long"), "{messages}");
    std::fs::remove_file(&path).unwrap();
}

/// The bytes are the same for any number of parallel launches.
#[test]
fn the_answer_does_not_depend_on_jobs() {
    for file in ["bounds.cu", "proved.cu", "racy.cu"] {
        let one = prove(&format!("{file} --no-solver -j 1"));
        for jobs in ["3", "16"] {
            assert_eq!(prove(&format!("{file} --no-solver -j {jobs}")), one, "{file} -j {jobs}");
        }
    }
}

/// Macros, folders of headers and the architecture take effect, and messages point into the right file.
#[test]
fn macros_headers_and_the_architecture_are_obeyed() {
    let folder = std::env::temp_dir().join(format!("warpproof-headers-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("lib")).unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    write(
        "lib/at.cuh",
        "#pragma once\n__device__ void set(int* p, int i) {\n  p[i + SHIFT] = threadIdx.x;\n}\n",
    );
    write(
        "k.cu",
        "#include <at.cuh>\n//@ extent p[gridDim.x*blockDim.x];\n__global__ void k(int* p) {\n\
         #if __CUDA_ARCH__ >= 900\n  set(p, 0);\n#else\n  set(p, blockIdx.x*blockDim.x + threadIdx.x);\n#endif\n}\n",
    );
    let (file, lib) = (folder.join("k.cu"), folder.join("lib"));
    let run =
        |more: &str| prove(&format!("{} -I {} --no-solver {more}", file.display(), lib.display()));
    let (code, output, messages) = run("-D SHIFT=0");
    assert_eq!(code, 0, "{output}{messages}");
    assert!(output.contains("assumed: it is compiled for sm_80"), "{output}");
    let (code, output, _) = run("-D SHIFT=0 --arch sm_90");
    assert_eq!(code, 1, "{output}");
    assert!(output.contains("refuted: races"), "{output}");
    let (code, output, _) = run("-D SHIFT=1");
    assert_eq!(code, 1, "{output}");
    assert!(output.contains("at.cuh:3:") && output.contains("refuted: bounds"), "{output}");
    let (code, _, messages) = run("");
    assert_eq!(code, 3, "{messages}");
    assert!(messages.contains("at.cuh:3:") && messages.contains("`SHIFT`"), "{messages}");
    let (code, _, messages) = prove(&format!("{} -D SHIFT=0", file.display()));
    assert!(code == 3 && messages.contains("at.cuh"), "{code}: {messages}");
    std::fs::remove_dir_all(folder).unwrap();
}

/// Texts on which the reader once erred: the first line gives the forbidden answer.
#[test]
fn attacks_on_the_reader() {
    let files = testing::corpus::files_in("crates/cli/tests/prove/attacks", "cu");
    assert!(files.len() >= 50, "{} files", files.len());
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let (code, output, messages) = prove(&format!("{} --no-solver", file.display()));
        let is_right = is_as_said(&text, code, &output);
        assert!(is_right, "{}: {code}\n{output}{messages}", file.display());
    }
}

#[test]
fn work_that_does_not_look_at_the_clock_is_given_up() {
    let name = format!("warpproof-elseif-{}.cu", std::process::id());
    let file = std::env::temp_dir().join(name);
    let cases: String = (0..300).map(|at| format!("if (i == {at}) b[i] = {at}; else ")).collect();
    let head = "//@ extent b[n];\n//@ requires n == gridDim.x*blockDim.x && n <= 100000;\n";
    let body = format!("int i = blockIdx.x*blockDim.x + threadIdx.x; {cases} b[i] = 0;");
    let text = format!("{head}__global__ void k(int* b, int n) {{ {body} }}\n");
    std::fs::write(&file, text).unwrap();
    let (code, output, _) = prove(&format!("{} --no-solver --timeout 1", file.display()));
    std::fs::remove_file(&file).unwrap();
    assert_eq!(code, 3, "{output}");
    assert!(output.contains("could not show anything before the time limit"), "{output}");
    assert!(output.contains("note: stopped after 1 s (--timeout)"), "{output}");
}

/// Returns `true` if an answer is the one in the first line of a file.
fn is_as_said(text: &str, code: i32, output: &str) -> bool {
    match text.split(':').next().unwrap() {
        "// not proved" => matches!(code, 1 | 3),
        "// refused" => code == 2,
        "// not an error" => matches!(code, 0 | 3),
        "// proved" => code == 0,
        "// assumed" => {
            let wanted = text.split(':').nth(1).unwrap();
            code == 0 && output.contains(&format!("assumed:{wanted}"))
        }
        "// not refuted" => matches!(code, 0 | 3),
        other => panic!("{other}"),
    }
}

#[test]
fn attacks_on_equality() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/prove/pairs");
    let names = testing::corpus::names_in(&folder, "cu");
    let names: Vec<&str> = names.iter().filter_map(|name| name.strip_suffix("_b")).collect();
    assert!(names.len() >= 8, "{names:?}");
    for name in names {
        let [one, two] = ["a", "b"].map(|side| folder.join(format!("{name}_{side}.cu")));
        let text = std::fs::read_to_string(&two).unwrap();
        let files = format!("{} {}", one.display(), two.display());
        let (code, output, messages) =
            warpproof(&format!("equiv --for-all-sizes {files} --no-solver"));
        assert!(is_as_said(&text, code, &output), "{name}: {code}\n{output}{messages}");
        if text.starts_with("// assumed: defined") {
            let (code, output, _) = warpproof(&format!(
                "equiv --for-all-sizes {files} --no-solver --no-compare --strict"
            ));
            assert!(code == 3 && output.contains("could not show: defined at"), "{name}: {output}");
        }
    }
}

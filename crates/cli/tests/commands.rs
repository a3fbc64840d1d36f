//! The command line as a newcomer meets it: help, completion, `doctor`, `watch`.

use snapbox::cmd::{Command, cargo_bin};
use std::path::{Path, PathBuf};
use testing::corpus::root;

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("warpproof-commands-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    #[cfg(unix)]
    fn program(&self, name: &str, body: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt;
        let path = self.write(name, &format!("#!/bin/sh\n{body}\n"));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn run_in(folder: &Path, words: &[&str], variables: &[(&str, &str)]) -> (i32, String) {
    let command = Command::new(cargo_bin!("warpproof")).current_dir(folder).args(words);
    let command = variables.iter().fold(command, |command, (name, value)| command.env(name, value));
    let output = command.output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8(text).unwrap())
}

fn run(words: &[&str]) -> (i32, String) {
    run_in(&root(), words, &[])
}

/// Commands that are shown.
fn commands() -> Vec<String> {
    let (_, help) = run(&["--help"]);
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let lines = lines.take_while(|line| !line.is_empty()).filter(|line| !line.starts_with("   "));
    lines.map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
}

#[test]
fn every_command_has_help_in_both_forms() {
    let commands = commands();
    assert!(commands.len() > 12, "{commands:?}");
    for command in commands.iter().filter(|command| *command != "help") {
        let (status, long) = run(&["help", command]);
        assert_eq!(status, 0, "{command}: {long}");
        assert!(long.contains(&format!("Usage: warpproof {command}")), "{command}: {long}");
        assert_eq!(run(&[command, "--help"]).1, long, "{command}");
    }
    assert_eq!(run(&["help", "chekc"]).0, 2);
}

/// Each flag under the heading of what it is about; only --help and --version have none.
#[test]
fn flags_stand_under_headings() {
    for command in commands().iter().filter(|command| *command != "help") {
        let (_, help) = run(&[command, "--help"]);
        let options = help.split("\nOptions:\n").nth(1).unwrap_or_default();
        let options = options.split("\n\n").next().unwrap_or_default();
        let names: Vec<&str> =
            options.split_whitespace().filter(|word| word.starts_with("--")).collect();
        let allowed = ["--help", "--resume", "--timings", "--ray", "--output"];
        assert!(names.iter().all(|name| allowed.contains(name)), "{command}: {names:?}");
    }
    let (_, help) = run(&["equiv", "--help"]);
    let heading = |flag: &str| {
        let at = help.find(&format!(" {flag}")).unwrap_or_else(|| panic!("{flag}: {help}"));
        let above = help[..at].lines().rfind(|line| line.ends_with(':') && !line.starts_with(' '));
        above.unwrap().to_owned()
    };
    assert_eq!(heading("--format <"), "Output:");
    assert_eq!(heading("--recheck"), "What is compared:");
    assert_eq!(heading("--same-launch"), "Comparing CUDA C for every size:");
    assert_eq!(heading("--timeout"), "Limits:");
}

#[test]
fn kernel_names_are_completed() {
    let (_, one) = run(&["complete-kernel", "docs/errors/examples/WP0140.ptx::mean_"]);
    assert_eq!(one, "docs/errors/examples/WP0140.ptx::mean_of_four\n");
    let (_, all) = run(&["complete-kernel", "docs/errors/examples/WP0140.ptx::"]);
    assert_eq!(all.lines().count(), 2, "{all}");
    let (_, cuda) = run(&["complete-kernel", "docs/errors/examples/WP0109.cu::"]);
    assert_eq!(cuda, "docs/errors/examples/WP0109.cu::shift\n");
    for nothing in ["no/such.ptx::", "docs::", "plain", "", "/dev/zero::"] {
        assert_eq!(run(&["complete-kernel", nothing]), (0, String::new()), "{nothing}");
    }
}

/// A shell that completes the word up to the cursor.
#[cfg(unix)]
#[test]
fn bash_completes_commands_and_kernels() {
    let program = cargo_bin!("warpproof");
    let folder = Folder::new("bash");
    std::os::unix::fs::symlink(program, folder.0.join("warpproof")).unwrap();
    let script = r#"
        source <(warpproof completions bash) || exit 9
        complete_line() {
            COMP_LINE=$1; COMP_POINT=${#1}; COMPREPLY=()
            read -ra COMP_WORDS <<< "${1//::/ :: }"
            COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
            local f=$(complete -p warpproof | sed 's/.*-F \([^ ]*\).*/\1/')
            $f warpproof "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
            printf '%s\n' "${COMPREPLY[@]}"
        }
        complete_line 'warpproof check docs/errors/examples/WP0140.ptx::mean_'
        complete_line 'warpproof insp'
        COMP_WORDBREAKS=' '
        complete_line 'warpproof check docs/errors/examples/WP0140.ptx::mean_'
    "#;
    let path = format!("{}:{}", folder.0.display(), std::env::var("PATH").unwrap());
    let output = std::process::Command::new("bash")
        .args(["--norc", "-c", script])
        .current_dir(root())
        .env("PATH", path)
        .output()
        .unwrap();
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    let whole = "docs/errors/examples/WP0140.ptx::mean_of_four";
    assert_eq!(text, format!("mean_of_four\ninspect\n{whole}\n"));
}

#[test]
fn no_file_is_suggested_in_its_own_place() {
    let folder = Folder::new("similar");
    folder.write("kernel.ptx", "");
    let of = |name: &str| run_in(&folder.0, &["inspect", name], &[]).1;
    assert!(of("kernl.ptx").contains("did you mean `kernel.ptx`?"), "{}", of("kernl.ptx"));
    let prove = run_in(&folder.0, &["prove", "kernel.ptxx"], &[]).1;
    assert!(prove.contains("did you mean `kernel.ptx`?"), "{prove}");
    // It is there and cannot be read: a link to itself.
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("loop.ptx", folder.0.join("loop.ptx")).unwrap();
        let told = of("loop.ptx");
        assert!(told.contains("cannot be read") && !told.contains("did you mean"), "{told}");
    }
    let (status, told) = run_in(&folder.0, &["inspect", "kernel.ptx::scale"], &[]);
    assert_eq!((status, told.contains("give `kernel.ptx`")), (2, true), "{told}");
}

/// A name that is not text is refused, and never read under another name.
#[cfg(unix)]
#[test]
fn names_are_utf_8() {
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::new("names");
    let name = std::ffi::OsStr::from_bytes(b"\xff.ptx");
    std::fs::write(folder.0.join(name), "").unwrap();
    for command in ["inspect", "check", "prove"] {
        let output = std::process::Command::new(cargo_bin!("warpproof"))
            .current_dir(&folder.0)
            .arg(command)
            .arg(name)
            .output()
            .unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains("invalid UTF-8"), "{told}");
    }
}

/// Help is a result as well: on a full disk, the exit status says so.
#[cfg(target_os = "linux")]
#[test]
fn lost_help_is_an_error() {
    for words in [&["--help"][..], &["help", "check"], &["--version"]] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let mut program = std::process::Command::new(cargo_bin!("warpproof"));
        let status = program.args(words).stdout(full).status().unwrap();
        assert_eq!(status.code(), Some(2), "{words:?}");
    }
}

#[cfg(unix)]
#[test]
fn doctor_tells_the_truth() {
    let folder = Folder::new("doctor");
    let line = |variables: &[(&str, &str)], what: &str| {
        let (status, text) = run_in(&folder.0, &["doctor"], variables);
        assert_eq!(status, 0, "{text}");
        let found = text.lines().find(|line| line.split_whitespace().nth(1) == Some(what));
        found.unwrap_or_else(|| panic!("{what}: {text}")).to_owned()
    };
    let path = |name: &str| folder.0.join(name).display().to_string();
    folder.write("libnvrtc.so.12", "not a library");
    let told = line(&[("WARPPROOF_NVRTC", &path("libnvrtc.so.12"))], "NVRTC");
    assert!(told.starts_with("!  ") && told.contains("does not work: "), "{told}");
    assert!(told.len() > "!    NVRTC      ".len() + path("libnvrtc.so.12").len() + 40, "{told}");
    // A library that was not downloaded to its end: the loader would let the process be killed.
    let program = std::fs::read(cargo_bin!("warpproof")).unwrap();
    std::fs::write(path("cut.so"), &program[..100_000]).unwrap();
    let told = line(&[("WARPPROOF_NVRTC", &path("cut.so"))], "NVRTC");
    assert!(told.starts_with("!  ") && told.contains("is incomplete"), "{told}");
    // A cache that is there, one that is made, and those that cannot be.
    assert!(line(&[("WARPPROOF_CACHE", &path("cache"))], "cache").starts_with("ok "));
    let told = line(&[("WARPPROOF_CACHE", "/proc/no")], "cache");
    assert!(told.starts_with("!  ") && told.contains("cannot be created"), "{told}");
    std::fs::create_dir(path("shared")).unwrap();
    let everybody: std::fs::Permissions = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    std::fs::set_permissions(path("shared"), everybody).unwrap();
    let told = line(&[("WARPPROOF_CACHE", &path("shared"))], "cache");
    assert!(told.ends_with("/shared is writable by others, so it is not used"), "{told}");
    folder.write("file", "");
    assert!(line(&[("WARPPROOF_CACHE", &path("file/in"))], "cache").starts_with("!  "));
    // Compilers and solvers that are something else.
    folder.program("nvcc", "exit 0");
    assert!(line(&[("WARPPROOF_NVCC", &path("nvcc"))], "nvcc").contains("does not work"));
    folder.program("nvcc", "echo 'Cuda compilation tools, release 12.9, V12.9.1'");
    assert!(line(&[("WARPPROOF_NVCC", &path("nvcc"))], "nvcc").contains("12.9, "));
    let version = "read -r l; read -r l; echo '(:version \"5.4.0\")'; echo 'end 1'";
    for (body, expected) in [
        ("exit 0", "is not a working z3"),
        ("exec yes", "is not a working z3"),
        (version, "does not answer"),
    ] {
        folder.program("z3", body);
        let told = line(&[("WARPPROOF_Z3", &path("z3"))], "z3");
        assert!(told.starts_with("!  ") && told.contains(expected), "{body}: {told}");
    }
}

#[cfg(unix)]
#[test]
fn watch_runs_again_after_a_change() {
    use std::io::Read;
    use std::process::{Command, Stdio};
    let folder = Folder::new("watch");
    let ptx = |name: &str| {
        format!(
            ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry {name}()\n{{\nret;\n}}\n"
        )
    };
    folder.write("k.ptx", &ptx("first"));
    let mut child = Command::new(cargo_bin!("warpproof"))
        .args(["watch", "inspect", "k.ptx"])
        .current_dir(&folder.0)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (sender, texts) = std::sync::mpsc::channel();
    for mut source in [
        Box::new(child.stdout.take().unwrap()) as Box<dyn Read + Send>,
        Box::new(child.stderr.take().unwrap()),
    ] {
        let sender = sender.clone();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = source.read(&mut bytes) {
                let _ = sender.send(String::from_utf8_lossy(&bytes[..count]).into_owned());
            }
        });
    }
    let mut seen = String::new();
    let mut wait_for = |what: &str| {
        while !seen.contains(what) {
            let more = texts.recv_timeout(std::time::Duration::from_secs(60));
            seen.push_str(&more.unwrap_or_else(|_| panic!("no {what} in {seen}")));
        }
    };
    wait_for("first");
    wait_for("watching 1 files");
    folder.write("k.ptx", &ptx("second_one"));
    wait_for("second_one");
    folder.write("beside.h", "");
    wait_for("watching 2 files");
    child.kill().unwrap();
    child.wait().unwrap();
    for wrong in [&["watch", "doctor"][..], &["watch", "inspect", "nothing"]] {
        assert_eq!(run_in(&folder.0, wrong, &[]).0, 2, "{wrong:?}");
    }
}

#[test]
fn fills_are_taken_by_every_type() {
    let types = [
        "f64", "f32", "tf32", "f16", "bf16", "f8e4m3", "f8e5m2", "s64", "s32", "s16", "s8", "u64",
        "u32", "u16", "u8", "b1",
    ];
    for element in types {
        for fill in ["iota", "random", "random(7)", "1"] {
            let argument = format!("x={element}[300]={fill}");
            let words = ["check", "WP0109.ptx", "--grid", "1", "--block", "64", "--arg", &argument];
            let words = [&words[..], &["--arg", "y=f32[64]:out"]].concat();
            let (status, text) = run_in(&root().join("docs/errors/examples"), &words, &[]);
            assert!(status == 1 && text.contains("race"), "{argument}: {text}");
        }
    }
}

//! Tests commands on a folder by an untrusted author: no command runs programs from it, writes outside it because of
//! its contents, or shows files outside it.
#![cfg(unix)]

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const KERNEL: &str = "extern \"C\" __global__ void k(float* y, int n) {\n    \
                      if (threadIdx.x < n) y[threadIdx.x] = 1.0f;\n}\n";

/// A folder with traps, beside one with secrets.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let name = format!("warpproof-untrusted-{name}-{}", std::process::id());
        let root = std::env::temp_dir().canonicalize().unwrap().join(name);
        let _ = std::fs::remove_dir_all(&root);
        let place = Self(root);
        place.write("project/k.cu", KERNEL);
        place.write("project/kernels/k.cu", KERNEL);
        place.write("secret.h", "token_of_the_user = hunter2;\n");
        std::fs::create_dir_all(place.0.join("home")).unwrap();
        place
    }

    fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.0.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    fn program(&self, path: &str, body: &str) -> PathBuf {
        let path = self.write(path, &format!("#!/bin/sh\n{body}\n"));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn marker(&self) -> PathBuf {
        self.0.join("executed")
    }

    /// Plants programs and libraries that leave a mark when run, at every place that might be searched.
    fn plant(&self) {
        let marker = self.marker().display().to_string();
        let body = format!("echo \"$0\" >> '{marker}'; exit 1");
        let source = format!(
            "#include <stdio.h>\n__attribute__((constructor)) static void trap(void) {{\n\
             FILE* f = fopen(\"{marker}\", \"a\"); if (f) {{ fputs(\"library\\n\", f); fclose(f); }} }}\n"
        );
        let source = self.write("trap.c", &source);
        let library = self.0.join("trap.so");
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(source);
        assert!(compiler.status().unwrap().success());
        let library = std::fs::read(library).unwrap();
        for folder in ["project", "project/kernels"] {
            for wheels in [".venv", "venv"] {
                let packages = format!("{folder}/{wheels}/lib/python3.12/site-packages/nvidia");
                self.program(&format!("{packages}/cu13/bin/nvcc"), &body);
                for part in ["cuda_nvrtc/lib/libnvrtc.so.12", "cu13/lib/libnvrtc.so.13"] {
                    let path = self.write(&format!("{packages}/{part}"), "");
                    std::fs::write(path, &library).unwrap();
                }
                self.program(&format!("{folder}/{wheels}/bin/z3"), &body);
            }
            for name in ["nvcc", "z3", "cvc5", "ptxas", "cicc", "bin/nvcc", "bin/z3", "python3"] {
                self.program(&format!("{folder}/{name}"), &body);
            }
            for name in ["libnvrtc.so", "libnvrtc.so.12", "lib/libnvrtc.so", "lib64/libnvrtc.so.12"]
            {
                let path = self.write(&format!("{folder}/{name}"), "");
                std::fs::write(path, &library).unwrap();
            }
        }
    }

    /// Runs a command in the project, without any of the user's environment.
    fn run(&self, words: &[&str], variables: &[(&str, &str)]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_warpproof"));
        command.current_dir(self.0.join("project")).args(words).env_clear();
        command.env("PATH", "/usr/bin:/bin").env("HOME", self.0.join("home"));
        command.envs(variables.iter().copied()).output().unwrap()
    }

    fn text(&self, words: &[&str], variables: &[(&str, &str)]) -> String {
        let output = self.run(words, variables);
        let text = [output.stdout, output.stderr].concat();
        String::from_utf8(text).unwrap()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const COMMANDS: &[&str] = &[
    "doctor",
    "inspect k.cu",
    "inspect kernels/k.cu",
    "check k.cu --grid 1 --block 32 --arg y=f32[32]:out --arg n=32",
    "check kernels/k.cu --grid 1 --block 32 --arg y=f32[32]:out --arg n=32",
    "simulate k.cu --grid 1 --block 32 --arg y=f32[32]:out --arg n=32 --out out",
    "equiv k.cu kernels/k.cu --grid 1 --block 32 --arg y=f32[32]:out --arg n=32",
    "equiv --for-all-sizes k.cu kernels/k.cu",
    "prove k.cu",
    "run",
    "run kernels",
    "init k.cu --force",
    "init k.cu kernels/k.cu --force",
    "demo",
];

#[test]
fn nothing_in_the_folder_is_run() {
    let place = Place::new("run");
    place.plant();
    let project = "[[check]]\nkernel = \"k.cu\"\ngrid = 1\nblock = 32\n\
                   args = [\"y=f32[32]:out\", \"n=32\"]\n";
    place.write("project/warpproof.toml", project);
    place.write("project/kernels/warpproof.toml", project);
    // An empty part of a list means the working folder to a shell; we ignore it.
    let empty = [("PATH", ":/usr/bin:/bin:"), ("LD_LIBRARY_PATH", ":"), ("VIRTUAL_ENV", "")];
    for command in COMMANDS {
        for variables in [&[][..], &empty[..]] {
            let words: Vec<&str> = command.split_whitespace().collect();
            place.run(&words, variables);
            let marks = std::fs::read_to_string(place.marker()).unwrap_or_default();
            assert_eq!(marks, "", "{command}");
        }
    }
}

/// The traps work, and the user's settings are used, even if they lead into the folder.
#[test]
fn settings_of_the_user_are_used() {
    let place = Place::new("set");
    place.plant();
    let library = "kernels/.venv/lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12";
    for (variables, words) in [
        (&[("VIRTUAL_ENV", ".venv")][..], &["doctor"][..]),
        (&[("VIRTUAL_ENV", "kernels/venv")], &["inspect", "k.cu"]),
        (&[("WARPPROOF_NVRTC", library)], &["inspect", "k.cu"]),
        (&[("WARPPROOF_NVCC", "./nvcc")], &["inspect", "k.cu"]),
        (&[("LD_LIBRARY_PATH", ".")], &["doctor"]),
        (&[("PATH", ".:/usr/bin:/bin")], &["inspect", "k.cu"]),
        (&[("PATH", ".:/usr/bin:/bin")], &["doctor"]),
        (&[("WARPPROOF_Z3", "./z3")], &["prove", "k.cu"]),
    ] {
        place.run(words, variables);
        assert!(std::fs::remove_file(place.marker()).is_ok(), "{variables:?}");
    }
    place.run(&["prove", "k.cu", "--solver", "./z3"], &[]);
    assert!(place.marker().exists());
}

#[test]
fn a_project_names_no_program_and_no_folder_elsewhere() {
    let place = Place::new("keys");
    place.plant();
    for key in
        ["compiler", "nvcc", "nvrtc", "solver", "second-solver", "z3", "report", "out", "graph"]
    {
        let entry = format!("[[check]]\nkernel = \"k.cu\"\ngrid = 1\n{key} = \"./nvcc\"\n");
        place.write("project/warpproof.toml", &entry);
        let output = place.run(&["run"], &[]);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{key}: {text}");
        assert!(text.contains(&format!("there is no key `{key}` here")), "{text}");
    }
    symlink("..", place.0.join("project/up")).unwrap();
    for folder in ["..", "/etc", "kernels/../..", "up", "missing/../../x"] {
        let entry = format!("[[check]]\nkernel = \"k.cu\"\ngrid = 1\ninclude = [\"{folder}\"]\n");
        place.write("project/warpproof.toml", &entry);
        let text = place.text(&["run"], &[]);
        assert!(text.contains("leads out of the project's folder"), "{folder}: {text}");
    }
    let entry = "[[check]]\nkernel = \"k.cu\"\ngrid = 1\ninclude = [\"kernels\", \"later\"]\n";
    place.write("project/warpproof.toml", entry);
    assert!(!place.text(&["run"], &[]).contains("leads out"));
    assert!(!place.marker().exists());
}

/// Names are never taken for options, or for commands of nvcc's shell.
#[test]
fn a_name_is_neither_an_option_nor_a_command() {
    let place = Place::new("names");
    let log = place.0.join("arguments");
    let body = format!("for a in \"$@\"; do echo \"$a\" >> '{}'; done; exit 1", log.display());
    let nvcc = place.program("tools/nvcc", &body).display().to_string();
    let variables = [("WARPPROOF_NVCC", nvcc.as_str())];
    let name = "--compiler-bindir=.";
    place.write(&format!("project/{name}/evil.cu"), KERNEL);
    place.write("project/$(touch x).cu", KERNEL);
    for kernel in ["--compiler-bindir=./evil.cu", "$(touch x).cu"] {
        let entry = format!("[[check]]\nkernel = \"{kernel}\"\ngrid = 1\nblock = 32\n");
        place.write("project/warpproof.toml", &entry);
        let text = place.text(&["run", "--no-cache"], &variables);
        assert!(text.contains("does not compile"), "{text}");
    }
    let given = std::fs::read_to_string(&log).unwrap();
    assert!(given.lines().all(|word| !word.starts_with(name)), "{given}");
    assert!(!given.contains("touch"), "{given}");
}

/// A compiler that quotes the text it reads, as compilers do.
#[test]
fn files_elsewhere_are_not_quoted() {
    let place = Place::new("quotes");
    let secret = place.0.join("secret.h").display().to_string();
    let body = format!(
        "for a in \"$@\"; do case \"$a\" in *.cu) k=\"$a\";; esac; done\n\
         echo \"$k(1): error: identifier \\\"own_name\\\" is undefined\"; echo '  own line'; echo '  ^'\n\
         echo \"{secret}(1): error: `head -c 20 '{secret}'` is wrong\"; cat '{secret}'; sed 's/^/  /' '{secret}'\n\
         exit 1"
    );
    let nvcc = place.program("tools/nvcc", &body).display().to_string();
    let variables = [("WARPPROOF_NVCC", nvcc.as_str())];
    place.write("project/inner.h", "int x;\n");
    for (line, own) in [
        ("#include \"inner.h\"", true),
        ("#include \"../secret.h\"", false),
        ("#inc\\\nlude \"../secret.h\"", false),
        ("%:include \"../secret.h\"", false),
        ("#define S \"../secret.h\"\n#include S", false),
    ] {
        place.write("project/k.cu", &format!("{line}\n{KERNEL}"));
        place.write(
            "project/warpproof.toml",
            "[[check]]\nkernel = \"k.cu\"\ngrid = 1\nblock = 32\n",
        );
        for words in [
            &["inspect", "k.cu"][..],
            &["check", "k.cu", "--grid", "1", "--format", "json"],
            &["equiv", "k.cu", "k.cu", "--grid", "1"],
            &["run"],
            &["run", "--format", "sarif"],
            &["init", "k.cu", "--force"],
        ] {
            let text = place.text(words, &variables);
            assert!(text.contains("secret.h(1)") && !text.contains("hunter2"), "{words:?}: {text}");
            assert!(!text.contains("token_of"), "{words:?}: {text}");
            assert_eq!(text.contains("own_name"), own, "{line}: {text}");
        }
    }
    // The user may permit it.
    let text = place.text(&["inspect", "k.cu", "-I", ".."], &variables);
    assert!(!text.contains("hunter2"), "the name of the file is a macro: {text}");
    place.write("project/k.cu", &format!("#include \"../secret.h\"\n{KERNEL}"));
    let text = place.text(&["inspect", "k.cu", "-I", ".."], &variables);
    assert!(text.contains("hunter2"), "{text}");
}

/// Links, files outside of a project, and `.file` may lead to files whose contents must not be shown.
#[test]
fn links_and_debug_information_show_nothing_elsewhere() {
    let place = Place::new("links");
    let secret = "machine example.org password hunter2\n".repeat(3);
    for name in ["secret.h", "secret", ".netrc", "project/.git/config.h"] {
        place.write(name, &secret);
    }
    for name in ["link.ptx", "link.cu", "linked/warpproof.toml"] {
        let link = place.0.join("project").join(name);
        std::fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(place.0.join("secret"), link).unwrap();
    }
    let nvcc = place.program("tools/nvcc", "cat \"$PWD\"/link.cu; exit 1").display().to_string();
    let variables = [("WARPPROOF_NVCC", nvcc.as_str())];
    for words in [
        "inspect link.ptx",
        "inspect link.cu",
        "check link.ptx --grid 1",
        "check link.cu --grid 1 --format json",
        "equiv link.ptx link.ptx --grid 1",
        "prove link.cu",
        "run linked",
    ] {
        let words: Vec<&str> = words.split_whitespace().collect();
        let text = place.text(&words, &variables);
        assert!(!text.contains("hunter2") && !text.contains("machine"), "{words:?}: {text}");
    }
    for kernel in ["../secret", "link.ptx", "../.netrc"] {
        let entry = format!("[[check]]\nkernel = \"{kernel}\"\ngrid = 1\nblock = 32\n");
        place.write("project/warpproof.toml", &entry);
        for format in ["text", "json", "sarif", "github", "junit"] {
            let text = place.text(&["run", "--format", format], &[]);
            assert!(!text.contains("hunter2") && !text.contains("machine"), "{kernel}: {text}");
        }
    }
    let outside = place.0.join("secret.h").display().to_string();
    for file in
        [outside.as_str(), "../secret.h", "../secret", ".git/config.h", "link.cu", "/etc/passwd"]
    {
        place.write("project/race.ptx", &racy(file));
        let page = place.0.join("page.html").display().to_string();
        for format in ["text", "json", "sarif", "github", "junit"] {
            let words =
                ["check", "race.ptx", "--grid", "1", "--block", "64", "--arg", "y=s32[1]:out"];
            let words = [&words[..], &["--format", format, "--report", &page]].concat();
            let text = place.text(&words, &[]);
            let shown = text + &std::fs::read_to_string(&page).unwrap();
            assert!(!shown.contains("hunter2") && !shown.contains("root:"), "{file}: {shown}");
        }
    }
    // A source in the folder is shown.
    place.write("project/own.cu", "line of the source\n");
    place.write("project/race.ptx", &racy("own.cu"));
    let words = ["check", "race.ptx", "--grid", "1", "--block", "64", "--arg", "y=s32[1]:out"];
    assert!(place.text(&words, &[]).contains("line of the source"));
}

/// Threads that write different numbers to one place.
fn racy(file: &str) -> String {
    format!(
        ".version 7.8\n.target sm_80\n.address_size 64\n.file 1 \"{file}\"\n\
         .visible .entry race(.param .u64 y)\n{{\n.reg .b64 %rd<3>;\n.reg .b32 %r<2>;\n\
         .loc 1 1 1\nld.param.u64 %rd1, [y];\nmov.u32 %r1, %tid.x;\n\
         st.global.u32 [%rd1], %r1;\nret;\n}}\n"
    )
}

/// `init` and `simulate` write to the given place, and no link leads them elsewhere.
#[test]
fn nothing_is_written_through_links_that_lead_out() {
    let place = Place::new("writes");
    let victim = place.write("victim", "keep\n");
    place.write("project/race.ptx", &racy("x.cu"));
    symlink(&victim, place.0.join("project/warpproof.toml")).unwrap();
    for words in [&["init", "race.ptx"][..], &["init", "race.ptx", "--force"]] {
        assert_eq!(place.run(words, &[]).status.code(), Some(2));
    }
    std::fs::create_dir(place.0.join("project/out")).unwrap();
    symlink(&victim, place.0.join("project/out/y.npy")).unwrap();
    let words = "simulate race.ptx --grid 1 --block 1 --arg y=s32[1]:out --out out";
    let words: Vec<&str> = words.split_whitespace().collect();
    let text = place.text(&words, &[]);
    assert!(text.contains("is a link to a place outside the folder"), "{text}");
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "keep\n");
    for file in ["victim.123.partial", "warpproof.toml.1.partial"] {
        assert!(!Path::new(file).exists());
    }
}

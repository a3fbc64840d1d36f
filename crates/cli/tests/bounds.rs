//! Nothing that is given to the program makes it panic, abort, hang or take all memory.
#![cfg(unix)]

use snapbox::cmd::cargo_bin;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use testing::corpus::root;

/// A folder with an inner one, a kernel `k.ptx` that takes x and y, and a kernel `k.cu`.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("warpproof-bounds-{name}-{}", std::process::id());
        let folder = Self(std::env::temp_dir().join(name));
        let _ = std::fs::remove_dir_all(&folder.0);
        std::fs::create_dir_all(folder.0.join("folder")).unwrap();
        let kernel = root().join("docs/errors/examples/WP0109.ptx");
        std::fs::copy(kernel, folder.0.join("k.ptx")).unwrap();
        folder.write(
            "k.cu",
            "__global__ void k(int* x, int n) { if (threadIdx.x < n) x[threadIdx.x] = 1; }\n",
        );
        folder
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.join(name), text).unwrap();
    }

    fn program(&self, name: &str, body: &str) {
        self.write(name, &format!("#!/bin/sh\n{body}\n"));
        let path = self.0.join(name);
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Runs a command with so many KiB of address space and returns its exit status, which is never that of a crash.
    fn run(&self, words: &[&str], kibibytes: u64) -> (i32, String) {
        let program = cargo_bin!("warpproof").display().to_string();
        let mut command = Command::new("bash");
        let script = format!("ulimit -v {kibibytes}; exec \"$0\" \"$@\"");
        command.args(["-c", &script, &program]).args(words).current_dir(&self.0);
        command.env("WARPPROOF_CACHE", self.0.join("cache"));
        let error = self.0.join("stderr");
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(std::fs::File::create(&error).unwrap());
        let mut child = command.spawn().unwrap();
        let end = Instant::now() + Duration::from_secs(300);
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if Instant::now() > end {
                child.kill().unwrap();
                panic!("{words:?} goes on");
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let text = String::from_utf8_lossy(&std::fs::read(error).unwrap()).into_owned();
        let status = status.code().unwrap_or_else(|| panic!("{words:?} crashes: {text}"));
        assert!((0..4).contains(&status), "{words:?} ends with {status}: {text}");
        (status, text)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const PLENTY: u64 = 8 << 20;
const LAUNCH: &[&str] =
    &["--grid", "1", "--block", "64", "--arg", "x=f32[64]", "--arg", "y=f32[64]:out"];

fn check<'a>(words: &[&'a str]) -> Vec<&'a str> {
    [&["check", "k.ptx"], words].concat()
}

#[test]
fn only_files_are_read() {
    let folder = Folder::new("files");
    assert!(Command::new("mkfifo").arg(folder.0.join("pipe")).status().unwrap().success());
    let sparse = std::fs::File::create(folder.0.join("sparse")).unwrap();
    sparse.set_len(10 << 30).unwrap();
    std::os::unix::fs::symlink("/dev/zero", folder.0.join("link")).unwrap();
    for file in ["/dev/zero", "link", "pipe", "folder", "sparse"] {
        let at = format!("@{file}");
        let (npy, recorded) = (format!("x=f32[64]=@{file}"), format!("x=@{file}"));
        let (mask, map) =
            (format!("x=f32[64]:mask=@{file}"), format!("x=tensormap(x, file={file})"));
        for words in [
            vec!["inspect", file],
            vec!["check", file],
            vec!["prove", file],
            vec!["simulate", file],
            vec!["init", file],
            vec!["run", file],
            vec!["batch", file, "-o", "out.jsonl"],
            [&["equiv", "--ref", &at, "k.ptx"], LAUNCH].concat(),
            vec!["prove", "k.cu", "--ensures", &at],
            check(&["--grid", "1", "--block", "64", "--arg", &npy, "--arg", "y=f32[64]:out"]),
            check(&["--grid", "1", "--block", "64", "--arg", &recorded, "--arg", "y=f32[64]:out"]),
            check(&["--grid", "1", "--block", "64", "--arg", &mask, "--arg", "y=f32[64]:out"]),
            check(&["--grid", "1", "--block", "64", "--arg", &map, "--arg", "y=f32[64]:out"]),
        ] {
            let (status, text) = folder.run(&words, PLENTY);
            assert!(status == 2 && text.contains("error"), "{words:?}: {status} {text}");
        }
    }
    // Nor are headers and solvers.
    folder.write("include.cu", "#include \"pipe\"\n__global__ void k(int* x) { x[0] = 1; }\n");
    folder.run(&["prove", "include.cu"], PLENTY);
    folder.run(&["prove", "k.cu", "--solver", "pipe"], PLENTY);
}

/// Standard output has the result, and a second one would be lost among it.
#[test]
fn files_beside_the_output_have_names() {
    let folder = Folder::new("outputs");
    for flag in ["--report=-", "--also=json=-", "--graph=-", "--report=", "--graph="] {
        let (status, text) = folder.run(&check(&["--grid", "1", "--block", "64", flag]), PLENTY);
        assert!(status == 2 && text.contains("file"), "{flag}: {status} {text}");
        assert!(!folder.0.join("-").exists(), "{flag}");
    }
}

/// Numbers beyond every limit lead to one line of explanation, not to a crash.
#[test]
fn numbers_may_be_huge() {
    let folder = Folder::new("huge");
    for jobs in ["1000000", "18446744073709551615"] {
        folder.run(&check(&[LAUNCH, &["-j", jobs]].concat()), PLENTY);
        folder.run(&["prove", "k.cu", "-j", jobs], PLENTY);
        folder.write("warpproof.toml", "[[check]]\nkernel = \"k.ptx\"\ngrid = 1\nblock = 64\n");
        folder.run(&["run", "-j", jobs], PLENTY);
        folder.write("jobs.jsonl", "{}\n");
        folder.run(&["batch", "jobs.jsonl", "-o", "out.jsonl", "-j", jobs], PLENTY);
    }
    for jobs in ["0", "-1", "x"] {
        let jobs = format!("--jobs={jobs}");
        let (status, text) = folder.run(&check(&[LAUNCH, &[jobs.as_str()]].concat()), PLENTY);
        assert!(status == 2 && text.contains("expected a number from 1 up"), "{status} {text}");
    }
    for grid in ["2147483647", "2147483647,65535,65535"] {
        let words =
            ["--grid", grid, "--block", "64", "--arg", "x=f32[64]", "--arg", "y=f32[64]:out"];
        folder.run(&check(&words), PLENTY);
    }
    for size in ["600000000", "100000000000", "281474976710656", "99999999999999999999"] {
        for fill in ["", "=0", "=iota", "=random", ":out", ":out=1"] {
            let tensor = format!("x=f32[{size}]{fill}");
            let words =
                ["--grid", "1", "--block", "64", "--arg", &tensor, "--arg", "y=f32[64]:out"];
            let (status, text) = folder.run(&check(&words), 1 << 20);
            let says = status < 2 || text.contains("error:") || text.is_empty();
            assert!(says, "{tensor}: {status} {text}");
        }
    }
}

#[test]
fn memory_that_is_not_to_be_had_ends_in_a_line() {
    let folder = Folder::new("memory");
    let words =
        ["--grid", "1", "--block", "64", "--arg", "x=f32[400000000]=1", "--arg", "y=f32[64]:out"];
    let (status, text) = folder.run(&check(&words), 1 << 20);
    assert_eq!(status, 3, "{text}");
    assert!(text.starts_with("error: out of memory: ") && text.lines().count() == 1, "{text}");
    // `prove` reserves a stack.
    let (status, text) = folder.run(&["prove", "k.cu", "--no-solver"], 1 << 20);
    assert_eq!(status, 3, "{text}");
    assert!(text.starts_with("error: out of memory: ") && text.lines().count() == 1, "{text}");
}

/// Solvers that hang are in the tests of `param`: each costs its time-out.
#[test]
fn solvers_may_print_for_ever_or_die() {
    let folder = Folder::new("solvers");
    folder.write(
        "q.cu",
        "//@ extent x[n*m];\n//@ requires n > 0 && m > 0 && gridDim.x*blockDim.x == n*m;\n\
         __global__ void k(int* x, int n, int m) { int i = blockIdx.x*blockDim.x + threadIdx.x; x[i/m*m + i%m] = 1; }\n",
    );
    let version = "read -r l; read -r l; echo '(:version \"5.4.0\")'; echo 'end 1'";
    for (number, body) in
        ["exec yes", "exec cat /dev/zero", "exit 1", "kill -9 $$"].into_iter().enumerate()
    {
        for body in [body.to_owned(), format!("{version}; {body}")] {
            let name = format!("./solver{number}");
            folder.program(&name, &body);
            folder.run(&["prove", "q.cu", "--no-cache", "--solver", &name], PLENTY);
            folder.run(&["prove", "q.cu", "--no-cache", "--second-solver", &name], PLENTY);
        }
    }
}

/// Launches are searched parameter by parameter, so a kernel of many must not outlast its time limit.
#[test]
fn kernels_may_have_many_parameters() {
    let folder = Folder::new("parameters");
    let parameters: Vec<String> = (0..10_000).map(|n| format!("int a{n}")).collect();
    folder.write("many.cu", &format!("__global__ void k({}) {{}}\n", parameters.join(", ")));
    let start = Instant::now();
    folder.run(&["prove", "many.cu", "--no-compare", "--no-solver", "--timeout", "2"], PLENTY);
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
}

/// Every recursive reader and engine on input that nests, or is a long chain.
#[test]
fn deep_input_is_read_or_refused() {
    let folder = Folder::new("deep");
    let nested = |open: &str, middle: &str, close: &str| {
        format!("{}{middle}{}", open.repeat(50_000), close.repeat(50_000))
    };
    let chain = |part: &str, last: &str, count: usize| format!("{}{last}", part.repeat(count));
    let head = ".version 7.8\n.target sm_80\n.address_size 64\n";
    for (number, text) in [
        format!(".entry k(){{{}}}", nested("{", "", "}")),
        format!(".global .u32 x = {};", nested("(", "1", ")")),
        format!(".global .u32 x = {};", chain("-", "1", 50_000)),
        format!(".global .u32 x = {};", chain("1+", "1", 50_000)),
        format!(".global .u32 x = {}{};", chain("1?", "1", 50_000), ":1".repeat(50_000)),
        format!(".global .u32 x[1] = {};", nested("{", "1", "}")),
        format!(".section .debug {{ {} }}", nested("{", "", "}")),
        ".func f();\n.func f(){ call f; ret; }\n.entry k(){ call f; ret; }".to_owned(),
        ".entry k(){ .reg .b64 %r<100000000>; mov.u64 %r1, %r99999999; ret; }".to_owned(),
        ".entry k(){ .shared .b8 s[9223372036854775807]; ret; }".to_owned(),
    ]
    .iter()
    .enumerate()
    {
        let name = format!("deep{number}.ptx");
        folder.write(&name, &format!("{head}{text}\n"));
        folder.run(&["inspect", &name], PLENTY);
        folder.run(&["check", &name, "--grid", "1", "--block", "32"], PLENTY);
    }
    let kernel = |body: &str| format!("__global__ void k(float* x, int n) {{ {body} }}\n");
    let store = |value: &str| kernel(&format!("x[0] = {value};"));
    let macros: String = (0..60).map(|n| format!("#define A{} A{n} + A{n}\n", n + 1)).collect();
    for (number, text) in [
        store(&nested("(", "1", ")")),
        store(&chain("- ", "1", 50_000)),
        store(&chain("(int)", "1", 50_000)),
        store(&chain("1+", "1", 10_000)),
        store(&chain("x[1]+", "1", 10_000)),
        store(&chain("n ? 1 : ", "1", 20_000)),
        kernel(&nested("{", "", "}")),
        kernel(&chain("if (n) ", ";", 50_000)),
        kernel(&chain("if (n) ; else ", ";", 20_000)),
        kernel(&format!("x{} = 1;", nested("[x", "[0]", "]"))),
        format!("#if {}\n#endif\n{}", nested("(", "1", ")"), kernel("")),
        format!("{}{}{}", "#if 1\n".repeat(50_000), "#endif\n".repeat(50_000), kernel("")),
        format!("#define A0 1\n{macros}{}", store("A60")),
        format!("//@ requires {};\n{}", nested("(", "n > 0", ")"), kernel("")),
        format!("//@ requires {};\n{}", chain("!", "(n > 0)", 50_000), kernel("")),
        format!("//@ requires {};\n{}", chain("n > 0 && ", "n > 0", 5_000), kernel("")),
        "__device__ int f(int n) { return f(n - 1); }\n".to_owned() + &store("f(n)"),
        format!("#include \"deep{}.cu\"\n{}", 17, kernel("")),
    ]
    .iter()
    .enumerate()
    {
        let name = format!("deep{number}.cu");
        folder.write(&name, text);
        folder.run(&["prove", &name, "--no-solver", "--no-compare", "--timeout", "60"], PLENTY);
    }
    for (number, text) in [
        format!("y[i] = {}", nested("(", "x[i]", ")")),
        format!("y[i] = {}", chain("-", "x[i]", 50_000)),
        format!("y[i] = {}", chain("x[i]+", "x[i]", 10_000)),
        format!("y[i] = {}", nested("exp(", "x[i]", ")")),
        format!("y[i] = {}", chain("x[i]^", "2", 10_000)),
        format!("y[i] = x[i] + {}", "9".repeat(100_000)),
        "y[i] = x[i]^1000000000".to_owned(),
    ]
    .iter()
    .enumerate()
    {
        let name = format!("deep{number}.txt");
        folder.write(&name, text);
        let at = format!("@{name}");
        folder.run(&[&["equiv", "--ref", &at, "k.ptx"], LAUNCH].concat(), PLENTY);
    }
    for (number, text) in [
        format!("a = {}", nested("[", "", "]")),
        chain("a = { ", "", 50_000),
        format!("[{}a]", "a.".repeat(50_000)),
        format!(
            "[[check]]\nkernel = \"k.ptx\"\nmatrix = {{ N = [1] }}\ngrid = \"{{{}}}\"\nblock = 1\n",
            nested("(", "N", ")")
        ),
    ]
    .iter()
    .enumerate()
    {
        let name = format!("deep{number}.toml");
        folder.write(&name, text);
        assert_eq!(folder.run(&["run", &name], PLENTY).0, 2);
    }
    let deep = nested("[", "", "]");
    folder.write("deep.jsonl", &format!("{deep}\n"));
    folder.run(&["batch", "deep.jsonl", "-o", "out.jsonl"], PLENTY);
    for argument in ["(", "-", "!"].map(|sign| format!("n={}1", sign.repeat(50_000))) {
        folder.run(&check(&["--grid", "1", "--block", "64", "--arg", &argument]), PLENTY);
    }
}

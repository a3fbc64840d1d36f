//! Facts about the build, for `--version`. There is no time of day: the same source gives the same program.

use std::process::Command;

fn main() {
    let first_line = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned()).filter(|text| !text.is_empty())
    };
    let revision = first_line("git", &["rev-parse", "--short=12", "HEAD"]);
    let compiler = std::env::var("RUSTC").ok().and_then(|rustc| first_line(&rustc, &["--version"]));
    let told = |name: &str| std::env::var(name).unwrap_or_else(|_| "unknown".to_owned());
    let or_unknown = |text: Option<String>| text.unwrap_or_else(|| "unknown".to_owned());
    set("WARPPROOF_REVISION", &or_unknown(revision));
    set("WARPPROOF_RUSTC", &or_unknown(compiler));
    set("WARPPROOF_TARGET", &told("TARGET"));
    set("WARPPROOF_PROFILE", &told("PROFILE"));
    emit("cargo::rerun-if-changed=build.rs");
    // Git writes it at every commit and checkout; a source archive has none.
    if let Some(log) = first_line("git", &["rev-parse", "--git-path", "logs/HEAD"]) {
        emit(&format!("cargo::rerun-if-changed={log}"));
    }
}

fn set(name: &str, value: &str) {
    emit(&format!("cargo::rustc-env={name}={value}"));
}

fn emit(instruction: &str) {
    println!("{instruction}");
}

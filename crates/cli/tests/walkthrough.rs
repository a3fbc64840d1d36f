//! A newcomer's first ten minutes, in an own folder and without CUDA: a demonstration, a racy kernel, its repair, a
//! comparison, a project, results for others. `docs.rs` compares the output of each command with the documentation.

use snapbox::cmd::{Command, cargo_bin};
use std::path::PathBuf;

struct Folder(PathBuf);

impl Folder {
    fn run(&self, command: &str) -> (i32, String) {
        let program = Command::new(cargo_bin!("warpproof")).current_dir(&self.0);
        let bare = ["CUDA_HOME", "CUDA_PATH", "VIRTUAL_ENV", "CONDA_PREFIX", "NO_COLOR"];
        let program = bare.iter().fold(program, |program, name| program.env_remove(name));
        let output = program.args(command.split_whitespace()).output().unwrap();
        let told = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        (output.status.code().unwrap(), told)
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn the_first_ten_minutes() {
    let path = std::env::temp_dir().join(format!("warpproof-walk-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    let tutorial = testing::corpus::root().join("examples/tutorial");
    for name in ["row_sum", "row_sum_racy", "row_sum_fast"] {
        for end in ["cu", "ptx"] {
            let name = format!("{name}.{end}");
            std::fs::copy(tutorial.join(&name), path.join(&name)).unwrap();
        }
    }
    let folder = Folder(path);

    let (code, told) = folder.run("demo");
    assert!(code == 0 && told.contains("equivalence: refuted"), "{told}");

    // Without flags: the missing ones come back as a command.
    let (code, told) = folder.run("check row_sum_racy.ptx");
    assert_eq!(code, 2);
    let command = told.lines().find_map(|line| line.trim().strip_prefix("warpproof ")).unwrap();
    let filled = command.replace("--grid ?", "--grid 3").replace("--block ?", "--block 64");
    let filled = filled.replace('\'', "").replacen("f32[?]", "f32[3,100]", 1);
    let filled = filled.replace("f32[?]:out", "f32[3]:out").replace("=?", "=100");

    let (code, told) = folder.run(&filled);
    assert_eq!(code, 1, "{told}");
    assert!(told.contains("error[WP0109]: race on `row_sum_fast::partial["), "{told}");
    assert!(told.contains("--> row_sum_racy.cu:10:9"), "{told}");
    let (code, told) = folder.run("explain WP0109");
    assert!(code == 0 && told.contains("How to fix it"), "{told}");

    let (code, told) = folder.run(&filled.replace("row_sum_racy.ptx", "row_sum_fast.ptx"));
    assert!(code == 0 && told.contains("proved (3 blocks): launch, bounds"), "{told}");

    let launch = "--grid 3 --block 64 --arg x=f32[3,100] --arg y=f32[3]:out --arg n=100";
    let (code, told) =
        folder.run(&format!("equiv row_sum.ptx row_sum_fast.ptx --ref-block 1 {launch}"));
    assert!(code == 0 && told.contains("equivalence: proved: 3 output elements"), "{told}");

    let (code, told) = folder.run("init row_sum_fast.ptx");
    assert_eq!(code, 0, "{told}");
    let text = folder.read("warpproof.toml").replace("grid = \"?\"", "grid = 3");
    let text = text.replace("block = \"?\"", "block = 64\nmatrix = { n = [64, 100] }");
    let text = text.replacen("f32[?]", "f32[3,{n}]", 1).replace("f32[?]:out", "f32[3]:out");
    std::fs::write(folder.0.join("warpproof.toml"), text.replace("=?", "={n}")).unwrap();
    let (code, told) = folder.run("run");
    assert!(code == 0 && told.ends_with("2 checks: 2 proved\n"), "{told}");

    let (code, sarif) = folder.run(&format!("{filled} --format sarif --report report.html"));
    assert_eq!(code, 1);
    let sarif: serde_json::Value = serde_json::from_str(&sarif).unwrap();
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "WP0109");
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "row_sum_racy.cu");
    assert_eq!(place["region"]["startLine"], 10);
    let page = folder.read("report.html");
    assert!(page.contains("nothing orders them") && page.contains("row_sum_racy.cu"), "{page}");
}

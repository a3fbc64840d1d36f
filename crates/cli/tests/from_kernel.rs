//! Tests `from_kernel` in JSON: the conditions of a proof that the kernel's author chose, such as a precondition that
//! no launch fulfils. Conditions stated by the command are never among them.

use serde_json::Value;
use snapbox::cmd::{Command, cargo_bin};
use std::path::Path;

/// Runs a command with `--format json` in a folder of its own, and returns the verdict and `from_kernel`.
fn answer(name: &str, files: &[(&str, &str)], words: &[&str]) -> (String, Vec<String>) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("from_kernel").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    for (file, text) in files {
        std::fs::write(folder.join(file), text).unwrap();
    }
    let command = Command::new(cargo_bin!("warpproof")).current_dir(&folder);
    let output = command.args(words).args(["--format", "json"]).assert().get_output().clone();
    let json: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    let own = json["from_kernel"].as_array().into_iter().flatten();
    let own = own.map(|one| one.as_str().unwrap().to_owned()).collect();
    (json["verdict"].as_str().unwrap().to_owned(), own)
}

/// Proves that a kernel doubles `x`.
fn doubles(name: &str, text: &str, requires: &[&str]) -> (String, Vec<String>) {
    let mut words = vec!["prove", "k.cu", "--no-solver", "--no-compare", "--no-cache"];
    words.extend(["--ensures", "y[i] = 2*x[i]", "--arg", "x=f32[n]", "--arg", "y=f32[n]:out"]);
    words.extend(requires.iter().flat_map(|require| ["--requires", require]));
    answer(name, &[("k.cu", text)], &words)
}

const COVERED: &str = "n <= blockDim.x*gridDim.x";

fn kernel(before: &str, attributes: &str, inside: &str) -> String {
    format!(
        "{before}\n__global__ void {attributes} k(const float* x, float* y, int n) {{\n\
         int i = blockIdx.x*blockDim.x + threadIdx.x;\n{inside}\nif (i < n) y[i] = 2*x[i];\n}}\n"
    )
}

#[test]
fn conditions_of_the_command_are_not_the_kernels() {
    let (verdict, own) = doubles("plain", &kernel("", "", ""), &[COVERED]);
    assert_eq!((&*verdict, &own[..]), ("proved", &[][..]));
}

#[test]
fn conditions_of_the_file_are_the_kernels() {
    let text = kernel("//@ requires n == 4;", "", "");
    let (verdict, own) = doubles("requires", &text, &[COVERED]);
    assert_eq!((&*verdict, &own[..]), ("proved", &["requires n == 4".to_owned()][..]));
    let (_, own) = doubles("assume", &kernel("", "", "//@ assume n > 7;"), &[COVERED]);
    assert_eq!(own, ["assume n > 7"]);
}

/// Sizes in clauses are claims about memory that the caller allocates; those in declarations are facts.
#[test]
fn sizes_that_clauses_give_are_the_kernels() {
    let text = "__device__ float table[64];\n//@ extent y[1000000];\n__global__ void k(float* y) {\n\
                __shared__ float s[64];\ns[threadIdx.x & 63] = 0;\ny[threadIdx.x] = 1;\n\
                table[threadIdx.x & 63] = 1;\n}\n";
    let words = [
        "prove",
        "k.cu",
        "--no-solver",
        "--no-compare",
        "--no-cache",
        "--requires",
        "gridDim.x == 1",
    ];
    assert_eq!(answer("extent", &[("k.cu", text)], &words).1, ["extent y[1000000]"]);
    let block = text.replace("//@ extent y[1000000];", "/*@ extent\n y[1000000]; */");
    assert_eq!(answer("block", &[("k.cu", &*block)], &words).1, ["extent y[1000000]"]);
}

/// A launch with larger blocks fails, so the bound narrows the claim, unless the command has narrowed it before.
#[test]
fn launch_bounds_are_the_kernels_unless_the_command_keeps_to_them() {
    let text = kernel("", "__launch_bounds__(128)", "");
    let bound = ["`__launch_bounds__`: blocks have at most 128 threads".to_owned()];
    assert_eq!(doubles("bounds", &text, &[COVERED]).1, bound);
    assert_eq!(doubles("loose", &text, &[COVERED, "blockDim.x <= 256"]).1, bound);
    let (verdict, own) = doubles("kept", &text, &[COVERED, "blockDim.x == 128"]);
    assert_eq!((&*verdict, &own[..]), ("proved", &[][..]));
    let (verdict, own) = doubles("below", &text, &[COVERED, "n > 0 && blockDim.x < 129"]);
    assert_eq!((&*verdict, &own[..]), ("proved", &[][..]));
    assert_eq!(
        doubles("largest", &kernel("", "__launch_bounds__(1024)", ""), &[COVERED]).1,
        [""; 0]
    );
}

/// Of two kernels for every size, the reference is the asker's.
#[test]
fn the_references_conditions_are_not_the_kernels() {
    let stated = kernel("//@ extent x[n], y[n];\n//@ requires n == 4;", "", "");
    let plain = kernel("//@ extent x[n], y[n];", "", "");
    let equal = |name: &str, reference: &str, optimised: &str, more: &[&str]| {
        let files = [("reference.cu", reference), ("optimised.cu", optimised)];
        let mut words = vec!["equiv", "--for-all-sizes", "reference.cu", "optimised.cu"];
        words.extend(["--same-launch", "--no-solver", "--no-compare", "--no-cache"]);
        words.extend(more);
        answer(name, &files, &words)
    };
    assert_eq!(equal("both", &stated, &stated, &[]), ("proved".to_owned(), vec![]));
    assert_eq!(equal("reference", &stated, &plain, &[]).1, [""; 0]);
    assert_eq!(equal("optimised", &plain, &stated, &[]).1, ["requires n == 4"]);
    assert_eq!(equal("given", &plain, &plain, &["--requires", "n == 4"]).1, [""; 0]);
}

/// State in a module variable: the next launch finds it.
#[test]
fn state_for_the_next_launch_is_the_kernels() {
    let text = |store: &str| {
        format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.visible .global .align 4 .u32 calls = 0;\n\
             .visible .entry k(.param .u64 y)\n{{\n.reg .b32 %r<4>;\n.reg .b64 %rd<4>;\n\
             ld.param.u64 %rd1, [y];\nmov.u64 %rd2, calls;\nmov.u32 %r1, 1;\n{store}\n\
             st.global.u32 [%rd1], %r1;\nret;\n}}\n"
        )
    };
    let words = ["check", "k.ptx", "--grid", "1", "--block", "1", "--arg", "y=u32[1]:out"];
    let left = answer("state", &[("k.ptx", &text("st.global.u32 [%rd2], %r1;"))], &words);
    let note =
        "the kernel changes module variable `calls`: the answer does not cover the next launch";
    assert_eq!(left, ("proved".to_owned(), vec![note.to_owned()]));
    assert_eq!(answer("none", &[("k.ptx", &text(""))], &words), ("proved".to_owned(), vec![]));
}

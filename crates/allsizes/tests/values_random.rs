//! Random pairs of kernels, most of them a kernel and a mutant. Pairs proved equal must be equal on every launch that
//! is run. `compare` itself runs pairs of launches and reports a contradiction to its proof.

use allsizes::{Options, Verdict};
use kir::Kernel;
use testing::Random;

fn shared(random: &mut Random) -> &'static str {
    random.pick(&["t", "blockDim.x-1-t", "0", "blockDim.x-1", "(t+1 < blockDim.x ? t+1 : 0)"])
}

fn global(random: &mut Random) -> &'static str {
    random.pick(&["i", "n-1-i", "(i+1 < n ? i+1 : 0)", "t", "blockIdx.x*blockDim.x", "n-1"])
}

fn condition(random: &mut Random) -> &'static str {
    random.pick(&["t == 0", "t > 0", "i < n-1", "t == blockDim.x-1", "blockIdx.x == 0", "i > 2"])
}

fn value(random: &mut Random, depth: usize) -> String {
    match random.below(8) {
        0..=2 => format!("in[{}]", global(random)),
        3 => "v".to_owned(),
        4 => "w".to_owned(),
        5 => random.pick(&["1.0f", "2.0f", "0.5f"]).to_owned(),
        _ if depth > 1 => "v".to_owned(),
        _ => {
            let (one, two) = (value(random, depth + 1), value(random, depth + 1));
            format!("({one} {} {two})", random.pick(&["+", "-", "*"]))
        }
    }
}

fn statement(random: &mut Random) -> String {
    let value = value(random, 0);
    let target = random.pick(&["v", "w"]);
    match random.below(8) {
        0 => format!("{target} = {value};"),
        1 => format!("s[t] = {value};"),
        2 => format!("if ({}) s[{}] = {value};", condition(random), random.pick(&["t", "0"])),
        3 => format!("__syncthreads(); {target} = s[{}]; __syncthreads();", shared(random)),
        4 => format!("if ({}) {target} = {value};", condition(random)),
        5 => {
            let (from, to) =
                (random.pick(&["0", "1"]), random.pick(&["gridDim.x", "n", "3", "blockDim.x"]));
            let added = random.pick(&["in[k < n ? k : 0]", "w", "in[i]*w", "(float)k"]);
            format!("for (int k = {from}; k < {to}; k++) v += {added};")
        }
        6 => {
            let to = random.pick(&["gridDim.x", "2", "3"]);
            let stored =
                random.pick(&["in[k*blockDim.x+t < n ? k*blockDim.x+t : 0]", "v", "in[i]"]);
            let read = format!("s[{}]", shared(random));
            let body = match random.below(3) {
                0 => format!("v += {read};"),
                1 => format!("w = {read};"),
                _ => format!("v = v + w*{read};"),
            };
            format!(
                "for (int k = 0; k < {to}; k++) {{ __syncthreads(); s[t] = {stored}; __syncthreads(); {body} }}"
            )
        }
        _ => format!("out[i] = {value};"),
    }
}

fn body(random: &mut Random) -> Vec<String> {
    let mut body = vec!["float v = in[i], w = 1.0f; s[t] = in[i];".to_owned()];
    for _ in 0..1 + random.below(4) {
        body.push(statement(random));
    }
    body.push(match random.below(4) {
        0 => "out[i] = v;".to_owned(),
        1 => "out[i] = v + w;".to_owned(),
        2 => format!("if ({}) out[i] = w;", condition(random)),
        _ => format!("__syncthreads(); out[i] = s[{}];", shared(random)),
    });
    body
}

fn kernel(body: &[String]) -> Kernel {
    let text = format!(
        "//@ extent in[n], out[n], s[blockDim.x];\n//@ requires n == gridDim.x*blockDim.x;\n\
         __global__ void k(const float* in, float* out, int n) {{\n  extern __shared__ float s[];\n  \
         int t = threadIdx.x, i = blockIdx.x*blockDim.x + threadIdx.x;\n  {}\n}}\n",
        body.join("\n  ")
    );
    let mut kernels =
        cuda_front::kernels(&text).unwrap_or_else(|error| panic!("{}", error.message));
    kernels.remove(0).1.unwrap_or_else(|error| panic!("{}: {text}", error.message))
}

#[test]
fn no_run_contradicts_a_proof() {
    let mut random = Random::new(5);
    let (mut proved, mut refuted) = (0, 0);
    for _ in 0..40 {
        let body = body(&mut random);
        let mut other = body.clone();
        let place = 1 + random.below(other.len() - 1);
        match random.below(5) {
            0 => other[place] = statement(&mut random),
            1 => other.insert(place, statement(&mut random)),
            2 => other[place] = other[place].replacen("in[i]", "in[t]", 1),
            3 => other[place] = other[place].replacen('0', "1", 1),
            _ => {}
        }
        let options = Options { infers: true, suggests: false };
        let (one, two) = (kernel(&body), kernel(&other));
        let compared = allsizes::compare([&one, &two], None, options).expect("a pair").0;
        assert!(!compared.contradiction, "{body:#?}\n{other:#?}\n{:?}", compared.difference);
        for answer in &compared.answers {
            assert!(answer.contradiction.is_none(), "{body:#?}\n{other:#?}");
        }
        proved += u32::from(compared.verdict == Verdict::Proved);
        refuted += u32::from(compared.verdict == Verdict::Refuted);
    }
    assert!(proved >= 4 && refuted >= 10, "{proved} proved, {refuted} refuted");
}

//! Random kernels with random postconditions: no run contradicts a proof. Runs are part of every answer.

mod support;

use allsizes::{Options, Verdict, engine::Property};
use support::kernel;
use testing::Random;

/// A condition on a variable.
fn condition(random: &mut Random, var: &str) -> String {
    let text = random.pick(&["V < n", "V < n - 1", "V > 0", "V >= 2", "V < m", "V != 1", "V <= n"]);
    text.replace('V', var)
}

/// An index computed from a variable.
fn index(random: &mut Random, var: &str) -> String {
    random.pick(&["V", "V", "V", "n - 1 - V", "V + 1", "V - 1"]).replace('V', var)
}

/// The bounds of a sum of elements.
fn bounds(random: &mut Random, var: &str) -> (String, String) {
    let low = random.pick(&["0", "0", "1", "V"]).replace('V', var);
    let high = random.pick(&["n", "n", "m", "V", "V + 1", "n - 1"]).replace('V', var);
    (low, high)
}

/// A stored value, as the thread's code and as a clause write it.
fn value(random: &mut Random) -> [String; 2] {
    let at = index(random, "V");
    let factor = random.pick(&["1", "2", "c"]);
    let both = |text: String| [text.replace('V', "i"), text.replace('V', "j")];
    match random.below(5) {
        0 => both(format!("{factor}*x[{at}] + c")),
        1 => both(format!("({} ? x[{at}] : {factor})", condition(random, "V"))),
        2 => both(format!("{factor}*V + x[V]")),
        3 => {
            let (low, high) = bounds(random, "V");
            let [_, clause] = both(format!("{factor}*\\sum(k, {low}, {high}, x[k])"));
            let [low, high] = [low, high].map(|one| one.replace('V', "i"));
            [format!("sum = 0; for (int k = {low}; k < {high}; k++) sum += {factor}*x[k];"), clause]
        }
        _ => both(format!("x[V]*{factor}")),
    }
}

fn text(random: &mut Random) -> String {
    let [stored, claimed] = value(random);
    // Often the claim differs from the store.
    let claimed = if random.below(3) == 0 { value(random)[1].clone() } else { claimed };
    let guard = condition(random, "i");
    let hypothesis = if random.below(2) == 0 { guard.clone() } else { condition(random, "i") };
    let hypothesis = hypothesis.replace('i', "j");
    let place = random.pick(&["V", "V", "n - 1 - V"]);
    let claimed_place = if random.below(4) == 0 { index(random, "V") } else { place.to_owned() };
    let old = random.pick(&["", "", " + \\old(y[V])"]).replace('V', "j");
    let before = if random.below(3) == 0 { "y[i] = 1;" } else { "" };
    let (setup, stored) = match stored.strip_prefix("sum = 0;") {
        Some(code) => (format!("float sum = 0;{code}"), "sum".to_owned()),
        None => (String::new(), stored),
    };
    let through = random.below(3) == 0;
    let (shared, stored) = match through {
        true => (
            format!("s[threadIdx.x] = {stored}; __syncthreads();\n"),
            random.pick(&["s[threadIdx.x]", "s[blockDim.x - 1 - threadIdx.x]"]).to_owned(),
        ),
        false => (String::new(), stored),
    };
    let launch = match through {
        true => "n == gridDim.x*blockDim.x",
        false => random.pick(&["gridDim.x*blockDim.x >= n", "n == gridDim.x*blockDim.x"]),
    };
    format!(
        "//@ extent x[n + 2], y[n + 2], s[blockDim.x];\n\
         //@ requires n >= 1 && 0 <= m <= n && {launch} && gridDim.x*blockDim.x <= 2147483000;\n\
         //@ ensures \\forall int j; 0 <= j < n && {hypothesis} ==> y[{}] == {claimed}{old};\n\
         __global__ void k(const float* x, float* y, int n, int m, float c) {{\n\
         extern __shared__ float s[];\nint i = blockIdx.x*blockDim.x + threadIdx.x;\n{setup}\n{shared}\
         if (i < n) {{ {before} if ({guard}) y[{}] = {stored}; }}\n}}\n",
        claimed_place.replace('V', "j"),
        place.replace('V', "i"),
    )
}

#[test]
fn no_run_contradicts_a_postcondition() {
    let mut random = Random::new(0x9e37_79b9_7f4a_7c15);
    let (mut proved, mut refuted) = (0, 0);
    for _ in 0..400 {
        let text = text(&mut random);
        let options = Options { infers: true, suggests: false };
        let (answer, _) = allsizes::prove(&kernel(&text), None, options);
        assert!(answer.contradiction.is_none(), "{:?}\n{text}", answer.contradiction);
        let found = answer.properties.iter().find(|one| one.property == Property::Postcondition);
        match found.expect("the property").verdict {
            Verdict::Proved => proved += 1,
            Verdict::Refuted => refuted += 1,
            Verdict::Unknown => {}
        }
    }
    assert!(proved >= 40 && refuted >= 40, "{proved} proved, {refuted} refuted");
}

//! Measures fused multiply-adds per second of processor time in a matrix product, in a domain that does nothing and
//! on intervals of doubles: `cargo run --release -p interval --example domains`. Linux only.

#![expect(clippy::print_stdout, reason = "for people")]

#[path = "../tests/launching/mod.rs"]
mod launching;

use exec::Limits;
use exec::domain::{Binary, Connective, Domain, Inputs, Truths, Unary, Value, Values};
use interval::{Double, Intervals};
use ir::{ArgumentRange, Format, RealFunction, Relation, Rounding};
use launching::*;
use testing::noise;

/// A domain that makes each result a new value and stores nothing: it shows the cost of the engine itself.
struct Nothing(Value);

impl Nothing {
    fn each(&mut self, lanes: exec::Mask, out: &mut Values) {
        lanes.iter().for_each(|lane| {
            self.0 = (self.0 + 1) & 0x3fff_ffff | 1;
            out[lane] = self.0;
        });
    }
}

impl Domain for Nothing {
    fn inputs(&mut self, _: &Inputs) -> Option<Value> {
        Some(1)
    }
    fn constant(&mut self, _: Format, _: u64) -> Value {
        1
    }
    fn integer(&mut self, _: i128) -> Value {
        1
    }
    fn fma(&mut self, _: [&Values; 3], _: Rounding, lanes: exec::Mask, out: &mut Values) {
        self.each(lanes, out);
    }
    fn binary(&mut self, _: Binary, _: [&Values; 2], lanes: exec::Mask, out: &mut Values) {
        self.each(lanes, out);
    }
    fn unary(&mut self, _: Unary, _: &Values, lanes: exec::Mask, out: &mut Values) {
        self.each(lanes, out);
    }
    fn function(
        &mut self,
        _: (RealFunction, Option<ArgumentRange>),
        _: [&Values; 2],
        lanes: exec::Mask,
        out: &mut Values,
    ) {
        self.each(lanes, out);
    }
    fn compare(&mut self, _: Relation, _: [&Values; 2], lanes: exec::Mask, out: &mut Truths) {
        self.each(lanes, &mut out.values);
    }
    fn connect(&mut self, _: Connective, _: [&Values; 2], lanes: exec::Mask, out: &mut Truths) {
        self.each(lanes, &mut out.values);
    }
    fn not(&mut self, _: &Values, lanes: exec::Mask, out: &mut Values) {
        self.each(lanes, out);
    }
    fn select(&mut self, _: &Values, _: [&Values; 2], lanes: exec::Mask, out: &mut Values) {
        self.each(lanes, out);
    }
    fn round(&mut self, _: Value, _: Rounding) -> Option<i128> {
        None
    }
    fn explain(&self, _: Value) -> String {
        String::new()
    }
}

/// Processor time of this process, in nanoseconds.
fn processor_time() -> u64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|first| first.parse().ok()).unwrap_or(0)
}

fn main() {
    let (m, n, k) = (64, 64, 1024);
    let text = corpus("cuda/c_sgemm.sm_80.ptx");
    let args = [
        In(Format::F32, noise(m * k, 1)),
        In(Format::F32, noise(k * n, 2)),
        Out(Format::F32, m * n),
        Int(m as i32),
        Int(n as i32),
        Int(k as i32),
    ];
    let case = Case::new(&text, "sgemm_tiled", ([1, 1, 1], [256, 1, 1], 0), &args);
    let measure = |name: &str, domain: &mut dyn Domain| {
        let start = processor_time();
        let (outcome, _) = exec::run_in(&case.program, &case.launch, Limits::default(), domain);
        assert_eq!(outcome.gap, None);
        let seconds = (processor_time() - start) as f64 / 1e9;
        println!("{name:10} {:6.1} M fma/s", (m * n * k) as f64 / 1e6 / seconds);
    };
    measure("nothing", &mut Nothing(0));
    measure("doubles", &mut Intervals::<Double>::new(case.given.clone()));
}

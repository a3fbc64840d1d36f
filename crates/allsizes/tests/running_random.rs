//! Loops with several integers that advance in random ways: steps that depend on each other, on the last tile or on a
//! condition, and tests of any of them. Every kernel is simulated for all small sizes. If an access is proved inside,
//! it must stay inside; kernels proved equal must store the same.

mod support;

use allsizes::{Options, Verdict, engine::Property};
use std::collections::BTreeMap;
use support::kernel;
use testing::Random;

/// Simulation covers all values of `n` and `m` below this, and below six more.
const SIZES: i128 = 14;
/// Elements of the array.
const EXTENT: i128 = 24;

/// An integer: `t`, `p` or `q`.
type Place = usize;
const NAMES: [&str; 3] = ["t", "p", "q"];

/// An amount added to an integer, or a value assigned to it.
#[derive(Clone, Copy, Debug)]
enum Amount {
    Constant(i128),
    /// `min(c, n - x)`.
    Rest(i128, Place),
    /// `x >= m ? c : d`.
    Late(Place, i128, i128),
    /// `x % 2`.
    Parity(Place),
    /// The value of another integer.
    Copy(Place),
}

impl Amount {
    fn draw(random: &mut Random) -> Self {
        let (c, place) = (1 + random.below(3), random.below(3) as usize);
        match random.below(8) {
            0..=2 => Self::Constant(c),
            3 | 4 => Self::Rest(c, place),
            5 => Self::Late(place, c, random.below(9)),
            6 => Self::Parity(place),
            _ => Self::Copy(place),
        }
    }

    fn text(self) -> String {
        match self {
            Self::Constant(c) => c.to_string(),
            Self::Rest(c, x) => format!("min({c}, n - {})", NAMES[x]),
            Self::Late(x, c, d) => format!("({} >= m ? {c} : {d})", NAMES[x]),
            Self::Parity(x) => format!("{} % 2", NAMES[x]),
            Self::Copy(x) => NAMES[x].to_owned(),
        }
    }

    fn value(self, vars: &[i128; 3], n: i128, m: i128) -> i128 {
        match self {
            Self::Constant(c) => c,
            Self::Rest(c, x) => c.min(n - vars[x]),
            Self::Late(x, c, d) => {
                if vars[x] >= m {
                    c
                } else {
                    d
                }
            }
            Self::Parity(x) => vars[x] % 2,
            Self::Copy(x) => vars[x],
        }
    }
}

/// A statement of the body.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// `out[x] = in[y]`.
    Store(Place, Place),
    Add(Place, Amount),
    Set(Place, Amount),
    /// `if (x >= n) break`, or `continue`.
    Leave(Place),
}

/// `while (x < n && t < 12) { steps; t += c }`, followed by a store.
#[derive(Clone, Debug)]
struct Program {
    tested: Place,
    start: i128,
    steps: Vec<Step>,
    behind: Option<Place>,
}

impl Program {
    fn draw(random: &mut Random) -> Self {
        let mut steps = Vec::new();
        for _ in 0..2 + random.below(3) {
            let place = 1 + random.below(2) as usize;
            steps.push(match random.below(10) {
                0..=3 => Step::Store(random.below(3) as usize, random.below(3) as usize),
                4..=7 => Step::Add(place, Amount::draw(random)),
                8 => Step::Set(place, Amount::draw(random)),
                _ => Step::Leave(random.below(3) as usize),
            });
        }
        steps.push(Step::Add(0, Amount::Constant(1 + random.below(3))));
        let behind = (random.below(3) == 0).then(|| random.below(3) as usize);
        Self { tested: random.below(3) as usize, start: random.below(3), steps, behind }
    }

    /// The same program with one statement drawn anew.
    fn changed(&self, random: &mut Random) -> Self {
        let mut changed = self.clone();
        let other = Self::draw(random);
        let at = random.below(self.steps.len() as i128 - 1) as usize;
        changed.steps[at] = other.steps[0];
        changed
    }

    fn text(&self) -> String {
        let step = |step: &Step| match *step {
            Step::Store(x, y) => format!("out[{}] = in[{}];", NAMES[x], NAMES[y]),
            Step::Add(x, amount) => format!("{0} = {0} + {1};", NAMES[x], amount.text()),
            Step::Set(x, amount) => format!("{} = {};", NAMES[x], amount.text()),
            Step::Leave(x) => format!("if ({} >= n) break;", NAMES[x]),
        };
        let steps: Vec<String> = self.steps.iter().map(step).collect();
        let behind = self.behind.map(|x| format!("out[{}] = in[0];", NAMES[x])).unwrap_or_default();
        format!(
            "//@ extent in[{EXTENT}], out[{EXTENT}];
             //@ requires n >= 0 && n <= 13 && m >= 0 && m <= 19 && gridDim.x == 1 && blockDim.x == 1;
             __global__ void k(const float* in, float* out, int n, int m) {{
               int t = 0, p = {}, q = 0;
               while ({} < n && t < 12) {{ {} }}
               {behind}
             }}",
            self.start,
            NAMES[self.tested],
            steps.join(" ")
        )
    }

    /// Returns the stored value of each element, or `None` if an access is outside.
    fn run(&self, n: i128, m: i128) -> Option<BTreeMap<i128, i128>> {
        let mut vars = [0, self.start, 0];
        let mut out = BTreeMap::new();
        let inside = |at: i128| (0..EXTENT).contains(&at).then_some(at);
        'rounds: while vars[self.tested] < n && vars[0] < 12 {
            for step in &self.steps {
                match *step {
                    Step::Store(x, y) => {
                        out.insert(inside(vars[x])?, inside(vars[y])?);
                    }
                    Step::Add(x, amount) => vars[x] += amount.value(&vars, n, m),
                    Step::Set(x, amount) => vars[x] = amount.value(&vars, n, m),
                    Step::Leave(x) if vars[x] >= n => break 'rounds,
                    Step::Leave(_) => {}
                }
            }
        }
        if let Some(x) = self.behind {
            out.insert(inside(vars[x])?, 0);
        }
        Some(out)
    }
}

fn sizes() -> impl Iterator<Item = (i128, i128)> {
    (0..SIZES).flat_map(|n| (0..SIZES + 6).map(move |m| (n, m)))
}

#[test]
fn proofs_about_running_indices_hold() {
    let mut random = Random::new(83);
    let options = Options { infers: true, suggests: false };
    let count = if std::env::var_os("WARPPROOF_FULL").is_some() { 2000 } else { 240 };
    let [mut inside, mut equal, mut wrong] = [0; 3];
    for _ in 0..count {
        let one = Program::draw(&mut random);
        let two = one.changed(&mut random);
        let kernels = [kernel(&one.text()), kernel(&two.text())];
        let (answer, _) = allsizes::prove(&kernels[0], None, options);
        assert!(answer.contradiction.is_none(), "{:?}\n{}", answer.contradiction, one.text());
        let of = |one: &&allsizes::PropertyVerdict| one.property == Property::Bounds;
        let bounds = answer.properties.iter().find(of).expect("bounds are looked at");
        let stays = sizes().all(|(n, m)| one.run(n, m).is_some());
        if bounds.verdict == Verdict::Proved {
            assert!(stays, "wrongly inside\n{}", one.text());
            inside += 1;
        }
        assert!(!stays || bounds.verdict != Verdict::Refuted, "wrongly outside\n{}", one.text());
        let compared = allsizes::compare(kernels.each_ref(), None, options).expect("a pair").0;
        assert!(!compared.contradiction, "{}\n{}", one.text(), two.text());
        let is_same = sizes().all(|(n, m)| one.run(n, m) == two.run(n, m));
        if compared.verdict == Verdict::Proved {
            assert!(is_same, "wrongly equal\n{}\n{}", one.text(), two.text());
            equal += 1;
        }
        wrong += usize::from(!is_same);
    }
    assert!(
        inside * 2 > count && equal * 100 > count && wrong * 2 > count,
        "{inside} {equal} {wrong}"
    );
}

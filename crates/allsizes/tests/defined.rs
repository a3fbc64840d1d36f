//! Clauses that have no value for some numbers prove nothing.

mod support;

use allsizes::{Answer, Options, Verdict, engine::Property};
use support::{kernel, solver};
use testing::Random;

fn answer(text: &str) -> Answer {
    let options = Options { infers: true, suggests: false };
    let (answer, _) = allsizes::prove(&kernel(text), solver(), options);
    assert!(answer.contradiction.is_none(), "{:?}\n{text}", answer.contradiction);
    answer
}

fn verdict(answer: &Answer, property: Property) -> Option<Verdict> {
    answer.properties.iter().find(|one| one.property == property).map(|one| one.verdict)
}

/// Asserts that nothing is proved and that the clause is named.
fn assert_spoiled(text: &str) {
    let answer = answer(text);
    let proved = answer.properties.iter().filter(|one| one.verdict == Verdict::Proved);
    assert_eq!(proved.count(), 0, "{text}\n{:?}", answer.properties);
    assert!(verdict(&answer, Property::Clauses).is_some(), "{text}");
}

fn assert_clean(text: &str) {
    let answer = answer(text);
    assert_eq!(verdict(&answer, Property::Clauses), None, "{text}\n{:?}", answer.properties);
    let open = answer.properties.iter().find(|one| one.verdict != Verdict::Proved);
    assert!(open.is_none(), "{text}\n{open:?}");
}

#[test]
fn a_lemma_that_divides_by_zero_is_not_shown() {
    let text = |lemma: &str| {
        format!(
            "//@ lemma undo(int u, int v): {lemma};
             //@ extent cell[1];
             //@ requires gridDim.x == 1;
             __global__ void k(int* cell) {{
               int t = threadIdx.x;
               if (t > 500) {{
                 //@ use undo(t, 0);
                 cell[0] = t;
               }}
             }}"
        )
    };
    let race = answer(&text("(u*v)/v == u"));
    assert_ne!(verdict(&race, Property::Races), Some(Verdict::Proved));
    assert_ne!(verdict(&race, Property::Invariant), Some(Verdict::Proved));
    let guarded = answer(&text("v != 0 ==> (u*v)/v == u"));
    assert_ne!(verdict(&guarded, Property::Races), Some(Verdict::Proved));
    assert_clean(
        &text("v != 0 ==> (u*v)/v == u").replace("cell[0] = t", "if (t == 501) cell[0] = t"),
    );
}

#[test]
fn uses_of_lemmas_have_a_value() {
    assert_spoiled(
        "//@ lemma ends(int u): u - u == 0;
         //@ extent cell[blockDim.x];
         //@ requires gridDim.x == 1;
         __global__ void k(int* cell, int z) {
           //@ use ends(5/z);
           cell[threadIdx.x] = z;
         }",
    );
}

fn one_thread(clauses: &str) -> String {
    format!(
        "//@ extent a[4];
         //@ requires gridDim.x == 1 && blockDim.x == 1;
         {clauses}
         __global__ void k(int* a, int x, int z) {{ a[0] = x; }}"
    )
}

#[test]
fn a_postcondition_that_divides_by_zero_is_seen_to() {
    let answer = answer(&one_thread("//@ ensures a[0] == (x*z)/z;"));
    assert_eq!(verdict(&answer, Property::Clauses), Some(Verdict::Refuted));
    assert_ne!(verdict(&answer, Property::Postcondition), Some(Verdict::Proved));
    assert_clean(&one_thread("//@ ensures z != 0 ==> a[0] == (x*z)/z;"));
    assert_clean(&one_thread("//@ requires z > 0;\n//@ ensures a[0] == (x*z)/z;"));
}

#[test]
fn demands_have_a_value_under_those_before_them() {
    assert_spoiled(&one_thread("//@ requires (x*z)/z == 3;"));
    assert_spoiled(&one_thread("//@ requires x % z == 0;"));
    assert_spoiled(&one_thread("//@ requires (1 << z) >= 1;"));
    assert_spoiled(&one_thread("//@ requires \\pow2(z) >= 1;"));
    assert_spoiled(&one_thread("//@ requires \\forall int i; 0 <= i < 3 ==> x/i >= 0;"));
    assert_spoiled(&one_thread("//@ requires \\forall int i; 0 <= i < 5 ==> a[i] >= 0;"));
    // A requirement does not show its own definedness.
    assert_spoiled(&one_thread("//@ requires x/z == x/z;"));
    assert_clean(&one_thread("//@ requires z != 0 && x/z == 3;"));
    assert_clean(&one_thread("//@ requires x % z == 0;\n//@ requires z >= 1;"));
    let inside = answer(&one_thread("//@ requires \\forall int i; 0 <= i < 4 ==> a[i] >= 0;"));
    assert_eq!(verdict(&inside, Property::Clauses), None);
}

#[test]
fn invariants_have_a_value_at_every_head() {
    let text = |first: &str, claim: &str| {
        format!(
            "//@ extent a[4];
             //@ requires gridDim.x == 1 && blockDim.x == 1 && 0 <= n <= 100 && x != y && 0 <= x <= 9 && 0 <= y <= 9;
             __global__ void k(int* a, int n, int x, int y) {{
               int z = {first};
               //@ loop invariant {claim};
               //@ loop invariant 0 <= i <= n && z <= i + 1;
               for (int i = 0; i < n; i++) z = z + 1;
               if (z == 0) a[0] = 1;
             }}"
        )
    };
    assert_spoiled(&text("0", "(x*z)/z == (y*z)/z"));
    assert_spoiled(&text("0", "z/z >= 0"));
    let good = answer(&text("1", "z >= 1 && (x*z)/z == x"));
    assert_eq!(verdict(&good, Property::Clauses), None, "{:?}", good.properties);
}

#[test]
fn assumptions_have_a_value() {
    let text = |clause: &str| {
        format!(
            "//@ extent a[1];
             //@ requires gridDim.x == 1;
             __global__ void k(int* a, int z) {{
               int t = threadIdx.x;
               //@ {clause};
               a[0] = t;
             }}"
        )
    };
    for clause in ["assume (t*z)/z == 0", "assert (t*z)/z == t", "assume t % (z - z) == 7"] {
        let answer = answer(&text(clause));
        assert_ne!(verdict(&answer, Property::Races), Some(Verdict::Proved), "{clause}");
    }
}

/// The expression of a clause, over two integers `u` and `v`.
enum Tree {
    Leaf(i64),
    U,
    V,
    Op(&'static str, Box<Tree>, Box<Tree>),
}

impl Tree {
    fn number(random: &mut Random, depth: u64) -> Self {
        if depth == 0 || random.below(4) == 0 {
            return match random.below(5) {
                0 => Self::Leaf(random.below(4) - 1),
                1 | 2 => Self::U,
                _ => Self::V,
            };
        }
        let operators = ["+", "-", "*", "/", "/", "%", "%", "<<", ">>"];
        let operator = random.pick(&operators);
        let sides = [0, 1].map(|_| Box::new(Self::number(random, depth - 1)));
        let [left, right] = sides;
        Self::Op(operator, left, right)
    }

    fn truth(random: &mut Random, depth: u64) -> Self {
        let compares = ["==", "==", "!=", "<", "<=", ">="];
        let joins = ["&&", "||", "==>", "==>"];
        if depth == 0 || random.below(3) == 0 {
            let operator = random.pick(&compares);
            let left = Self::number(random, 2);
            // Often both sides are the same, so that many clauses hold.
            let right = if random.below(3) == 0 { left.again() } else { Self::number(random, 2) };
            return Self::Op(operator, Box::new(left), Box::new(right));
        }
        let operator = random.pick(&joins);
        let sides = [0, 1].map(|_| Box::new(Self::truth(random, depth - 1)));
        let [left, right] = sides;
        Self::Op(operator, left, right)
    }

    fn again(&self) -> Self {
        match self {
            Self::Leaf(value) => Self::Leaf(*value),
            Self::U => Self::U,
            Self::V => Self::V,
            Self::Op(operator, left, right) => {
                Self::Op(operator, Box::new(left.again()), Box::new(right.again()))
            }
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Leaf(value) => format!("({value})"),
            Self::U => "u".to_owned(),
            Self::V => "v".to_owned(),
            Self::Op(operator, left, right) => {
                format!("({} {operator} {})", left.text(), right.text())
            }
        }
    }

    /// The value of the expression, if it has one.
    fn value(&self, u: i64, v: i64) -> Option<i64> {
        let Self::Op(operator, left, right) = self else {
            return Some(match self {
                Self::Leaf(value) => *value,
                Self::U => u,
                _ => v,
            });
        };
        let a = left.value(u, v)?;
        match (*operator, a) {
            ("&&", 0) => return Some(0),
            ("||", 1) | ("==>", 0) => return Some(1),
            _ => {}
        }
        let b = right.value(u, v)?;
        Some(match *operator {
            "+" => a + b,
            "-" => a - b,
            "*" => a * b,
            "/" => a.checked_div(b)?,
            "%" => a.checked_rem(b)?,
            "<<" => (0..30).contains(&b).then(|| a << b)?,
            ">>" => (0..30).contains(&b).then(|| a >> b)?,
            "==" => i64::from(a == b),
            "!=" => i64::from(a != b),
            "<" => i64::from(a < b),
            "<=" => i64::from(a <= b),
            ">=" => i64::from(a >= b),
            // The right side decides.
            _ => b,
        })
    }

    fn holds(&self) -> bool {
        (-3..=3).all(|u| (-3..=3).all(|v| self.value(u, v) == Some(1)))
    }
}

/// Random clauses, checked against all small numbers. A clause that is false or has no value for some of them is
/// never proved.
#[test]
fn random_clauses_with_partial_operations() {
    let mut random = Random::new(0x51f1_5eed_0bad_cafe);
    let (mut proved, mut open) = (0, 0);
    for round in 0..150 {
        let clause = Tree::truth(&mut random, 2);
        let said = clause.text();
        let (text, property) = match round % 2 {
            0 => (
                format!(
                    "//@ lemma some(int u, int v): {said};\n//@ extent a[1];\n\
                     //@ requires gridDim.x == 1 && blockDim.x == 1;\n\
                     __global__ void k(int* a, int u, int v) {{ a[0] = u; }}"
                ),
                Property::Invariant,
            ),
            _ => (
                format!(
                    "//@ extent a[1];\n//@ requires gridDim.x == 1 && blockDim.x == 1;\n\
                     //@ ensures {said};\n\
                     __global__ void k(int* a, int u, int v) {{ a[0] = u; }}"
                ),
                Property::Postcondition,
            ),
        };
        let answer = answer(&text);
        if verdict(&answer, property) == Some(Verdict::Proved) {
            assert!(clause.holds(), "{text}");
            proved += 1;
        } else {
            open += usize::from(!clause.holds());
        }
    }
    assert!(proved >= 5 && open >= 25, "{proved} proved, {open} open and wrong");
}

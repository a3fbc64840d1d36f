//! Formulas as contracts, against the same formulas compiled and run.
//!
//! Every formula that another test evaluates is translated, too. The claims must hold of the results of the compiled
//! formula, and fail if one of these is changed. The two paths share only the parser.

use crate::Numbers;
use formula::contract::{SizedScalar, SizedTensor, Sizes, contract, shapes};
use formula::{parse, parse_expression};
use interp::{Contents, Launch, Value, failed_postcondition};
use ir::Scalar;
use kir::Kernel;
use std::collections::{BTreeMap, BTreeSet};

/// The notation of sizes: scalars, or numbers.
#[derive(Clone, Copy, PartialEq)]
enum SizeNotation {
    Scalars,
    Numbers,
}

impl Numbers {
    /// Asserts that a formula's contract agrees with its computed results.
    pub(crate) fn assert_contract(&self, text: &str, outputs: &BTreeMap<String, Vec<f64>>) {
        for notation in [SizeNotation::Scalars, SizeNotation::Numbers] {
            if let Some(kernel) = self.kernel_with_contract(text, notation) {
                self.assert_claims(text, &kernel, outputs);
            }
        }
    }

    /// An empty kernel with the contract of a formula; `None` if it has no counterpart.
    fn kernel_with_contract(&self, text: &str, notation: SizeNotation) -> Option<Kernel> {
        let sizes = self.sizes(notation);
        let stated = shapes(&sizes, &[]).unwrap();
        let claims = contract(&parse(text).unwrap(), &sizes).ok()?;
        let claims = claims.clauses.into_iter().map(|clause| clause.text);
        let clauses: String =
            stated.into_iter().chain(claims).map(|one| format!("//@ {one};\n")).collect();
        let tensor = |one: &SizedTensor| match one.scalar {
            Scalar::Float(_) => format!("double* {}", one.name),
            Scalar::Integer { .. } => format!("int* {}", one.name),
        };
        let scalar = |one: &SizedScalar| format!("int {}", one.name);
        let parameters = sizes.tensors.iter().map(tensor).chain(sizes.scalars.iter().map(scalar));
        let parameters = parameters.collect::<Vec<_>>().join(", ");
        let source = format!("{clauses}__global__ void k({parameters}) {{}}\n");
        let (_, kernel) = cuda_front::kernels(&source)
            .unwrap_or_else(|error| panic!("{source}{}", error.message))
            .remove(0);
        let kernel = kernel.unwrap_or_else(|error| panic!("{source}{}", error.message));
        let open: Vec<&String> = kernel.unfollowed.iter().map(|one| &one.why).collect();
        assert!(open.is_empty(), "{source}{open:?}");
        Some(kernel)
    }

    fn sizes(&self, notation: SizeNotation) -> Sizes {
        let inputs = self.tensors.iter().map(|(name, (shape, scalar, _))| (name, shape, *scalar));
        let outputs = self.outputs.iter().map(|(name, (shape, scalar))| (name, shape, *scalar));
        let outputs = outputs.filter(|(name, ..)| !self.tensors.contains_key(*name));
        let all: Vec<(&String, &Vec<u64>, Scalar)> = inputs.chain(outputs).collect();
        let size = |size: &u64| {
            let text = match notation {
                SizeNotation::Scalars if *size > 1 => format!("size{size}"),
                _ => size.to_string(),
            };
            parse_expression(&text).unwrap()
        };
        let tensor = |(name, shape, scalar): &(&String, &Vec<u64>, Scalar)| SizedTensor {
            name: (*name).clone(),
            scalar: *scalar,
            sizes: shape.iter().map(size).collect(),
            range: None,
            is_output: !self.tensors.contains_key(*name),
            may_change: false,
        };
        let tensors = all.iter().map(tensor).collect();
        let scalar = |name: String| SizedScalar { name, is_integer: true, is_unsigned: false };
        let numbers: BTreeSet<u64> = all.iter().flat_map(|one| one.1.iter().copied()).collect();
        let numbers =
            numbers.into_iter().filter(|size| notation == SizeNotation::Scalars && *size > 1);
        let numbers = numbers.map(|size| format!("size{size}"));
        let scalars = self.scalars.keys().cloned().chain(numbers).map(scalar).collect();
        Sizes { tensors, scalars }
    }

    fn assert_claims(&self, text: &str, kernel: &Kernel, outputs: &BTreeMap<String, Vec<f64>>) {
        let launch = self.launch(kernel);
        let value = |scalar: Scalar, number: f64| match scalar {
            Scalar::Float(_) => Value::float(number),
            Scalar::Integer { .. } => integer(number as i128),
        };
        let (mut before, mut after) = (Contents::new(), Contents::new());
        for (id, array) in kernel.arrays.enumerate() {
            let input = self.tensors.get(&array.name);
            if let Some((_, scalar, numbers)) = input {
                let values: Vec<Value> = numbers.iter().map(|one| value(*scalar, *one)).collect();
                before.insert(id, values.clone());
                after.insert(id, values);
            }
            if let Some(numbers) = outputs.get(&array.name) {
                let scalar = self.outputs[&array.name].1;
                after.insert(id, numbers.iter().map(|one| value(scalar, *one)).collect());
            }
        }
        let event = failed_postcondition(kernel, &launch, [&before, &after]);
        assert!(event.is_none(), "{text}: {event:?}");
        // Runs leave open which of two equal reals is the greater.
        if text.contains("all(") {
            return;
        }
        for (id, array) in kernel.arrays.enumerate() {
            for at in 0..outputs.get(&array.name).map_or(0, Vec::len) {
                let mut changed = after.clone();
                let element = &mut changed.get_mut(&id).unwrap()[at];
                *element = match *element {
                    Value::Float(real) if real.is_finite() => {
                        Value::float(real.value() + real.value().abs().max(1.0))
                    }
                    Value::Float(_) => continue,
                    Value::Int { value, .. } => integer(value + 1),
                    Value::Undefined => continue,
                };
                let event = failed_postcondition(kernel, &launch, [&before, &changed]);
                assert!(event.is_some(), "{text}: `{}[{at}]` is not claimed", array.name);
            }
        }
    }

    fn launch(&self, kernel: &Kernel) -> Launch {
        let number = |name: &str| match self.scalars.get(name) {
            Some(formula::KnownScalar::Integer(value)) => *value,
            _ => name.trim_start_matches("size").parse().unwrap(),
        };
        let scalars = kernel.scalars.iter().map(|var| (*var, number(&kernel.vars[*var].name)));
        Launch { block: [1; 3], grid: [1; 3], scalars: scalars.collect(), seed: 0 }
    }

    /// The text of the clauses of a formula, or the mistake.
    fn clauses(&self, text: &str) -> String {
        match contract(&parse(text).unwrap(), &self.sizes(SizeNotation::Scalars)) {
            Ok(contract) => {
                let texts = contract.clauses.iter().map(|clause| clause.text.as_str());
                texts.collect::<Vec<_>>().join("\n")
            }
            Err(error) => error.to_string(),
        }
    }
}

fn integer(value: i128) -> Value {
    Value::Int { value, exact: Some(value) }
}

fn matrices() -> Numbers {
    Numbers::default().real("A", &[2, 3]).real("B", &[3, 4]).output("C", &[2, 4])
}

#[test]
fn a_product_is_a_fold() {
    let text = "C[i,j] = sum(k, A[i,k]*B[k,j])";
    matrices().outputs_of(text);
    assert_eq!(
        matrices().clauses(text),
        "ensures \\forall int i, j; ((0 <= i && i < size2) && (0 <= j && j < size4)) ==> C[(i)*size4 + j] == \
         \\fold(+, k, 0, size3, (\\old(A[(i)*size3 + k]) * \\old(B[(k)*size4 + j])))\n\
         ensures \\forall int i; 0 <= i && i < size2*size3 ==> A[i] == \\old(A[i])\n\
         ensures \\forall int i; 0 <= i && i < size3*size4 ==> B[i] == \\old(B[i])"
    );
}

#[test]
fn a_let_is_inlined_with_new_names() {
    let text = "let r[i] = sum(j, A[i,j]); C[i,j] = r[i] + sum(k, B[k,j]*r[i])";
    matrices().outputs_of(text);
    let clauses = matrices().clauses(text);
    assert!(clauses.contains("\\fold(+, j_2, 0, size3, \\old(A[(i)*size3 + j_2]))"), "{clauses}");
}

/// An element beyond its row is another element of the array, so the contract must claim that it is inside.
#[test]
fn elements_are_claimed_to_be_inside() {
    let x = Numbers::default().real("x", &[2, 3]).output("y", &[2, 3]);
    let shifted = x.clauses("y[i,j] = x[i,j+1]");
    assert!(shifted.starts_with(
        "ensures \\forall int i, j; ((0 <= i && i < size2) && (0 <= j && j < size3)) ==> \
         (0 <= (j + 1) && (j + 1) < size3)\n"
    ));
    let guarded = x.clauses("y[i,j] = x[i,j+1] if j < 2 else x[i,j]");
    assert!(guarded.contains("(0 <= j && j < size3) && ((j < 2))) ==> (0 <= (j + 1)"), "{guarded}");
    let mixed = x.clauses("y[i,j] = 7 if j == 2 or x[i,j] > 0 else x[i,j+1]");
    assert!(mixed.contains("((!(j == 2)))) ==> (0 <= (j + 1)"), "{mixed}");
    // A condition on data does not restrict the elements.
    let data = x.clauses("y[i,j] = x[i,j+1] if x[i,j] > 0 else 0");
    assert!(!data.lines().next().unwrap().contains("> 0"), "{data}");
}

/// A maximum needs a range that is not empty, but only where it is evaluated.
#[test]
fn greatest_of_nothing_is_a_mistake_of_the_formula() {
    let x = Numbers::default().real("x", &[2, 3]).output("y", &[2]);
    let clauses = x.clauses("y[i] = max(k, x[i,k]) if i > 0 else 7");
    let (first, second) = clauses.split_once('\n').unwrap();
    assert_eq!(first, "ensures \\forall int i; ((0 <= i && i < size2) && ((i > 0))) ==> 0 < size3");
    assert!(!second.contains("0 < size3"), "{second}");
    let y = Numbers::default().real("x", &[4]).output("y", &[4]);
    let let_beyond = y.clauses("let r[i in 0..2] = x[i]; y[i] = r[i]");
    assert!(let_beyond.contains("==> (0 <= i && i < 2)\n"), "{let_beyond}");
}

#[test]
fn expressions_without_counterpart_are_refused() {
    let x = Numbers::default().real("x", &[2, 3]).output("y", &[2]).integer("n", 3);
    for (text, words) in [
        ("y[i] = argmax(k, x[i,k])", "`argmax` has no counterpart"),
        ("y[i] = max(k, x[i,k] if k > 1)", "cannot leave elements out"),
        ("y[i] = max(k in 0..3, x[i,k else -inf])", "infinity is not a real number"),
        ("y[i] = lgamma(x[i,0])", "`lgamma` is not a function for every size"),
        ("y[i] = sum(k in 0..n, x[i,k // (n - 4)])", "the divisor of `//` and `%`"),
        ("y[i] = x[i]", "has 2 dimensions and here 1 indices"),
        ("y[i] = x", "`x` is a tensor: give its 2 indices"),
        ("y[i] = sum(i, x[i,0])", "`i` is an index already"),
        ("y[i] = sum(n, x[i,n])", "`n` is an argument"),
        ("y[i] = sum(k, x[i,k+1])", "the range of `k` is not known"),
        ("y[i] = sum(k, x[i,k] + x[k,0])", "runs over size3 (axis 1 of `x`) and over size2"),
        ("z[i] = x[i,0]", "no argument is called `z`"),
        ("y[i] = z[i]", "`z` is not an argument and not defined above"),
        ("y[i] = y[i]", "`y` is an output that is not defined above"),
        ("let x[i] = 1; y[i] = x[i]", "a `let` needs a name of its own"),
        ("y[i] = 1; y[i] = 2", "`y` is defined twice"),
        ("y[i,j] = 1", "`y` has 1 dimension"),
        ("y[i] = sum(k in 0..x[0,0], 1)", "an integer is needed"),
        ("y[i] = sum(x[i,0])", "`sum` needs an index and an expression"),
        ("y[i] = foo(1)", "`foo` is not a function"),
        ("let z[i] = x[i,0]", "nothing defines the output `y`"),
    ] {
        let found = x.clauses(text);
        assert!(found.contains(words), "{text}: {found}");
    }
}

/// A literal with more digits than a float has is rounded and listed.
#[test]
fn rounded_literals_are_listed() {
    let sizes = Numbers::default().real("x", &[2]).output("y", &[2]).sizes(SizeNotation::Scalars);
    let rounded = |text: &str, format| {
        let mut sizes = sizes.clone();
        sizes.tensors.iter_mut().for_each(|one| one.scalar = Scalar::Float(format));
        let rounded = contract(&parse(text).unwrap(), &sizes).unwrap().rounded;
        rounded.into_iter().map(|(one, other)| format!("{one} {other}")).collect::<Vec<_>>()
    };
    let (single, double) = (ir::Format::F32, ir::Format::F64);
    let text = "y[i] = 0.1*x[i] + 0.5 + 1e-5 + 1/3";
    assert!(rounded(text, single).is_empty() && rounded(text, double).is_empty());
    let text = "y[i] = 0.12345678901*x[i]";
    assert_eq!(rounded(text, single), ["0.12345678901 0.12345679"]);
    assert!(rounded(text, double).is_empty());
    assert_eq!(rounded("y[i] = pi*x[i]", single), ["pi 3.1415927"]);
    assert_eq!(rounded("y[i] = pi*x[i]", double), ["pi 3.141592653589793"]);
    assert!(rounded("y[i] = f32(0.1)*x[i]", double).is_empty());
    assert_eq!(rounded("y[i] = f32(0.123456789)*x[i]", double), ["0.123456789 0.12345679"]);
}

/// Chains of `let` double with each level, and are rejected with a message.
#[test]
fn long_chains_are_refused() {
    let lets: String =
        (1..40).map(|at| format!("let a{at}[i] = a{0}[i]*a{0}[i];", at - 1)).collect();
    let text = format!("let a0[i] = x[i]; {lets} y[i] = a39[i]");
    let x = Numbers::default().real("x", &[2]).output("y", &[2]);
    assert!(x.clauses(&text).contains("too long for a contract"));
    let lets: String = (1..3000).map(|at| format!("let a{at}[i] = a{}[i] + 1;", at - 1)).collect();
    let text = format!("let a0[i] = x[i]; {lets} y[i] = a2999[i]");
    assert!(x.clauses(&text).contains("too long for a contract"));
}

#[test]
fn means_of_several_indices() {
    let x = Numbers::default().real("x", &[3, 4]).output("y", &[3]);
    x.outputs_of("y[i] = mean(a, b, x[a,b]) + mean(a in 0..3, b in 0..a+1, x[a,b]*i)");
    x.outputs_of("y[i] = mean(while in 0..2, return in 1..3, x[while,return])");
    x.outputs_of("y[i] = mean(a, b, x[a,b] if b > a) + x[i % size(x, 0), 0]");
}

#[test]
fn integers_round_down() {
    let all = Numbers::default().integers("t", &[5, -7, 3, -1]).integer_output("y", &[4]);
    all.outputs_of("y[i] = (t[i] // 4)*10 + t[i] % 4 + (i - 2) // 3");
    let mixed = Numbers::default().integers("t", &[2, 0, 1]).real("x", &[3]).output("y", &[3]);
    mixed.outputs_of("y[i] = x[t[i]] + i/2 + count(k, t[k] > i) + 3^2");
    let wide = mixed.clauses("y[i] = 9007199254740993*x[i]");
    assert!(wide.contains("(2097152.0*4294967296.0 + 1.0)"), "{wide}");
}

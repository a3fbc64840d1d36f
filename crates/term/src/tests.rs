//! The store and its constructors.

use crate::{Function, Inputs, LANES, Node, NodeId, Number, Relation, Term, Terms};
use std::sync::Arc;

fn store() -> (Terms, Vec<Term>) {
    let mut inputs = Inputs::new();
    inputs.tensor("x", 4).unwrap();
    let terms = Terms::new(Arc::new(inputs));
    let all = (0..4).map(|at| terms.input(terms.inputs().at(at).unwrap())).collect();
    (terms, all)
}

#[test]
fn older_sums_survive_appending() {
    let (mut terms, x) = store();
    let two = terms.add(x[0], x[1]);
    let three = terms.add(two, x[2]);
    let other = terms.add(two, x[3]);
    assert_eq!(terms.print(three), "x[0] + x[1] + x[2]");
    assert_eq!(terms.print(other), "x[0] + x[1] + x[3]");
    assert_eq!(terms.print(two), "x[0] + x[1]");
}

/// Short sums that grow in two ways are copied; long ones are referred to.
#[test]
fn long_sums_that_grow_twice_are_shared() {
    let (mut terms, x) = store();
    let mut sum = terms.zero();
    for step in 0..100 {
        sum = terms.fused_multiply_add(x[step % 4], x[0], sum);
    }
    let [one, other] = [x[1], x[2]].map(|more| terms.add(sum, more));
    let products = |term: Term| match terms.node(term) {
        Node::Sum(list) => terms.products(list).flatten().count(),
        _ => 0,
    };
    assert_eq!([products(sum), products(one), products(other)], [100, 101, 2]);
}

/// Lanes that add the same product to the same sum share one sum, as long as nothing else was added.
#[test]
fn the_same_product_is_appended_once() {
    let (mut terms, x) = store();
    let two = terms.add(x[0], x[1]);
    let three = terms.fused_multiply_add(x[2], x[3], two);
    assert_eq!(terms.fused_multiply_add(x[2], x[3], two), three);
    assert_ne!(terms.fused_multiply_add(x[3], x[3], two), three);
    let four = terms.fused_multiply_add(x[2], x[3], three);
    assert_eq!(terms.print(four), "x[0] + x[1] + x[2]*x[3] + x[2]*x[3]");
    let again = terms.fused_multiply_add(x[2], x[3], two);
    assert_eq!(terms.print(again), "x[0] + x[1] + x[2]*x[3]");
}

#[test]
fn long_sums_keep_every_product() {
    let (mut terms, x) = store();
    let mut sum = terms.integer(0);
    for step in 0..2000 {
        sum = terms.fused_multiply_add(x[step % 4], x[(step / 4) % 4], sum);
    }
    let Node::Sum(list) = terms.node(sum) else { panic!("not a sum") };
    let products: Vec<_> = terms.products(list).flatten().collect();
    assert_eq!(products.len(), 2000);
    for (step, factors) in products.iter().enumerate() {
        assert_eq!(factors.left().position(), step % 4);
        assert_eq!(factors.right().position(), (step / 4) % 4);
    }
}

#[test]
fn only_total_operands_are_dropped() {
    let (mut terms, x) = store();
    let zero = terms.integer(0);
    let one = terms.integer(1);
    let quotient = terms.divide(one, x[0]);
    let kept = terms.multiply(zero, quotient);
    assert!(terms.as_number(kept).is_none());
    let dropped = terms.multiply(zero, x[0]);
    assert_eq!(dropped, zero);
    let below = terms.infinity(true);
    assert_eq!(terms.maximum(below, x[1]), x[1]);
    let gap = terms.subtract(below, x[1]);
    assert_eq!(terms.exp(gap), zero);
    let nothing = terms.subtract(below, below);
    assert_eq!(terms.node(nothing), Node::Undefined);
}

#[test]
fn stores_move_between_threads() {
    fn moves<T: Send + Sync + 'static>() {}
    moves::<Terms>();
    moves::<Term>();
}

#[test]
fn lanes_that_are_off_keep_their_sums() {
    let (mut terms, x) = store();
    let mut sums = [terms.zero(); 2];
    let operands = [x[0], x[1]];
    terms.fused_multiply_add_lanes(&operands, &operands, &mut sums, 0b11);
    terms.fused_multiply_add_lanes(&operands, &operands, &mut sums, 0b10);
    assert_eq!(terms.print(sums[0]), "x[0]*x[0]");
    assert_eq!(terms.print(sums[1]), "x[1]*x[1] + x[1]*x[1]");
}

#[test]
fn floats_are_exact() {
    let (mut terms, _) = store();
    let tenth = terms.float(f64::from(0.1_f32));
    assert_eq!(terms.as_number(tenth), Some(&Number::dyadic(13_421_773, -27)));
    let zero = terms.float(-0.0);
    assert_eq!(zero, terms.zero());
    let below = terms.float(f64::NEG_INFINITY);
    assert_eq!(terms.node(below), Node::Infinity { negative: true });
    let nothing = terms.float(f64::NAN);
    assert_eq!(terms.node(nothing), Node::Undefined);
}

#[test]
fn infinities_are_eliminated_on_creation() {
    let (mut terms, x) = store();
    let (below, zero) = (terms.infinity(true), terms.zero());
    let sum = terms.fused_multiply_add(x[0], x[1], below);
    assert_eq!(sum, below);
    // 1/(8 ln 2): the scale of attention in base two.
    let ln_2 = {
        let two = terms.integer(2);
        terms.log(two)
    };
    let eight = terms.integer(8);
    let scale = terms.multiply(eight, ln_2);
    let one = terms.one();
    let scale = terms.divide(one, scale);
    assert!(!terms.is_partial(scale));
    let scaled = terms.multiply(below, scale);
    assert_eq!(scaled, below);
    assert_eq!(terms.exp(scaled), zero);
    let above = terms.compare(Relation::Less, below, x[2]);
    assert_eq!(terms.node(above), Node::Truth(true));
    // The sign of x decides: the product stays, without a panic.
    let open = terms.multiply(x[0], below);
    assert!(terms.is_partial(open));
}

/// A term is dropped if it is total, so nothing in it may be infinite or undefined.
#[test]
fn total_terms_contain_no_infinity() {
    let (mut terms, x) = store();
    let mut random = testing::Random::new(5);
    let sine = Function::Sin;
    let ends = [terms.infinity(true), terms.infinity(false), terms.zero(), terms.integer(-3)];
    let mut all: Vec<Term> = ends.into_iter().chain(x[..3].iter().copied()).collect();
    for _ in 0..4000 {
        let mut any = || all[random.below(all.len())];
        let (a, b, c) = (any(), any(), any());
        let made = match random.below(16_u32) {
            0 => terms.exp(a),
            1 => terms.log(a),
            2 => terms.divide(a, b),
            3 => terms.multiply(a, b),
            4 => terms.apply(sine, a),
            5 => terms.maximum(a, b),
            6 => terms.minimum(a, b),
            7 => terms.absolute(a),
            8 => terms.negate(a),
            9 => terms.power(a, &Number::from(2)),
            10 => terms.square_root(a),
            11 => terms.reciprocal_square_root(a),
            12 => terms.fused_multiply_add(a, b, c),
            13 => terms.subtract(a, b),
            14 => terms.apply(Function::Rounded, a),
            _ => {
                let below = terms.compare(Relation::Less, a, b);
                terms.select(below, c, a)
            }
        };
        all.push(made);
        if all.len() > 40 {
            all.drain(7..30);
        }
    }
    let is_real = |terms: &Terms, node: NodeId| {
        !terms.partial_at(node) && !matches!(terms.at(node), Node::Infinity { .. })
    };
    let mut total = 0;
    for (at, &node) in terms.nodes().iter().enumerate() {
        let mut below: Vec<NodeId> = node.children().collect();
        if let Node::Sum(sum) = node {
            let products = terms.products(sum).flatten();
            below.extend(products.flat_map(|product| [product.left(), product.right()]));
        }
        // Inputs come first.
        let node_id = NodeId((terms.node_count() - terms.nodes().len() + at) as u32);
        if is_real(&terms, node_id) && !below.is_empty() {
            assert!(below.into_iter().all(|one| is_real(&terms, one)), "{node:?}");
            total += 1;
        }
    }
    assert!(total > 100, "{total}");
}

/// The products of a sum as pairs of inputs, with those of nested sums.
fn pairs(terms: &Terms, sum: Term) -> Vec<(usize, usize)> {
    let Node::Sum(sum) = terms.node(sum) else { panic!("a sum") };
    let mut all = Vec::new();
    for factors in terms.products(sum).flatten() {
        match terms.at(factors.left()) {
            Node::Sum(_) => all.extend(pairs(terms, factors.left().into())),
            _ => all.push((factors.left().position(), factors.right().position())),
        }
    }
    all
}

/// Appends to the sums of all lanes together, to single ones, and to older prefixes: each sum has the products added
/// to it, in order.
#[test]
fn sums_that_grow_together_have_the_same_products_as_alone() {
    let mut inputs = Inputs::new();
    inputs.tensor("x", 64).unwrap();
    let mut terms = Terms::new(Arc::new(inputs));
    let mut random = testing::Random::new(1);
    let mut random = |limit: u32| random.below(limit);
    let mut known: Vec<(Term, Vec<(usize, usize)>)> = Vec::new();
    let mut together = 0;
    for round in 0..6 {
        let mut sums = [terms.zero(); LANES];
        let mut wanted: [Vec<(usize, usize)>; LANES] = std::array::from_fn(|_| Vec::new());
        for _ in 0..700 {
            let [a, b] = [0, 1].map(|_| std::array::from_fn::<u32, LANES, _>(|_| random(64)));
            // In some rounds a lane diverges now and then.
            let alone = round > 1 && random(150) == 0;
            let is_row = (0..).zip(sums).all(|(lane, sum)| sum.is_sum_after(sums[0], lane));
            let base = random(3);
            let [left, right] = [a, b].map(|positions| positions.map(|at| at + base));
            let grown =
                !alone && is_row && terms.multiply_add_inputs([&left, &right], base, sums[0]);
            together += usize::from(grown);
            let only = random(LANES as u32) as usize;
            for lane in (0..LANES).filter(|&lane| !alone || lane == only) {
                let [x, y] = [a[lane], b[lane]]
                    .map(|at| terms.input(terms.inputs().at(at as usize).unwrap()));
                sums[lane] = match grown {
                    true => sums[lane].grown(1),
                    false => terms.fused_multiply_add(x, y, sums[lane]),
                };
                wanted[lane].push((x.id as usize, y.id as usize));
                if random(40) == 0 {
                    known.push((sums[lane], wanted[lane].clone()));
                }
            }
            // In the last round older sums grow in another way, among them current sums of lanes.
            if round == 5 && random(30) == 0 {
                let at = known.len() - 1 - random(known.len().min(40) as u32) as usize;
                let (older, products) = known[at].clone();
                let x = terms.input(terms.inputs().at(7).unwrap());
                let other = terms.fused_multiply_add(x, x, older);
                known.push((other, [products, vec![(7, 7)]].concat()));
            }
        }
        known.extend(sums.into_iter().zip(wanted));
    }
    assert!(together > 1300, "{together}");
    for (sum, products) in known {
        assert_eq!(pairs(&terms, sum), products);
    }
}

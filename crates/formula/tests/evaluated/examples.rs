//! The usual operations of neural networks, each a formula of one to three lines.

use super::{Numbers, assert_is};

fn sum(range: std::ops::Range<i64>, of: impl Fn(i64) -> f64) -> f64 {
    range.map(of).sum()
}

#[test]
fn softmax() {
    let x = Numbers::default().real("x", &[3, 5]).output("y", &[3, 5]);
    let y = x.output_of("y[i,j] = exp(x[i,j]) / sum(k, exp(x[i,k]))", "y");
    assert_is(&y, &[3, 5], |at| x.at("x", at).exp() / sum(0..5, |k| x.at("x", &[at[0], k]).exp()));
}

#[test]
fn products_of_matrices() {
    let x = Numbers::default().real("A", &[4, 6]).real("B", &[6, 3]).real("b", &[3]);
    let product = |at: &[i64]| sum(0..6, |k| x.at("A", &[at[0], k]) * x.at("B", &[k, at[1]]));
    let all = x.clone().output("C", &[4, 3]);
    let plain = all.output_of("C[i,j] = sum(k, A[i,k]*B[k,j])", "C");
    assert_is(&plain, &[4, 3], product);
    let fused = all.output_of("C[i,j] = relu(sum(k, A[i,k]*B[k,j]) + b[j])", "C");
    assert_is(&fused, &[4, 3], |at| (product(at) + x.at("b", &[at[1]])).max(0.0));
}

#[test]
fn attention() {
    let x = Numbers::default().real("Q", &[2, 4, 3]).real("K", &[2, 4, 3]).real("V", &[2, 4, 3]);
    let x = x.output("O", &[2, 4, 3]);
    let score =
        |h: i64, i: i64, j: i64| sum(0..3, |d| x.at("Q", &[h, i, d]) * x.at("K", &[h, j, d])) / 8.0;
    let scores = "let s[h,i,j] = sum(d, Q[h,i,d]*K[h,j,d]) / sqrt(64); ";
    let full = format!(
        "{scores}let p[h,i,j] = exp(s[h,i,j]) / sum(l, exp(s[h,i,l]))\nO[h,i,d] = sum(j, p[h,i,j]*V[h,j,d])"
    );
    assert_is(&x.output_of(&full, "O"), &[2, 4, 3], |at| {
        let [h, i, d] = [at[0], at[1], at[2]];
        let all = sum(0..4, |j| score(h, i, j).exp());
        sum(0..4, |j| score(h, i, j).exp() * x.at("V", &[h, j, d])) / all
    });
    let causal = format!(
        "{scores}O[h,i,d] = sum(j in 0..i+1, exp(s[h,i,j])*V[h,j,d]) / sum(j in 0..i+1, exp(s[h,i,j]))"
    );
    assert_is(&x.output_of(&causal, "O"), &[2, 4, 3], |at| {
        let [h, i, d] = [at[0], at[1], at[2]];
        let all = sum(0..i + 1, |j| score(h, i, j).exp());
        sum(0..i + 1, |j| score(h, i, j).exp() * x.at("V", &[h, j, d])) / all
    });
}

#[test]
fn norms() {
    let x = Numbers::default().real("x", &[3, 6]).real("g", &[6]).real("b", &[6]);
    let x = x.output("y", &[3, 6]);
    let layer = "let m[i] = mean(k, x[i,k]); let v[i] = mean(k, (x[i,k] - m[i])^2)
        y[i,j] = (x[i,j] - m[i]) * rsqrt(v[i] + 1e-5) * g[j] + b[j]";
    assert_is(&x.output_of(layer, "y"), &[3, 6], |at| {
        let mean = sum(0..6, |k| x.at("x", &[at[0], k])) / 6.0;
        let variance = sum(0..6, |k| (x.at("x", &[at[0], k]) - mean).powi(2)) / 6.0;
        (x.at("x", at) - mean) / (variance + 1e-5).sqrt() * x.at("g", &at[1..])
            + x.at("b", &at[1..])
    });
    let root = "y[i,j] = x[i,j] * rsqrt(mean(k, x[i,k]^2) + 1e-6) * g[j]";
    assert_is(&x.output_of(root, "y"), &[3, 6], |at| {
        let square = sum(0..6, |k| x.at("x", &[at[0], k]).powi(2)) / 6.0;
        x.at("x", at) / (square + 1e-6).sqrt() * x.at("g", &at[1..])
    });
    let x = Numbers::default().real("x", &[2, 6, 4]).output("y", &[2, 6, 4]);
    let group = "let m[n, g in 0..3] = mean(c in 0..2, i, x[n,2*g+c,i])
        let v[n, g in 0..3] = mean(c in 0..2, i, (x[n,2*g+c,i] - m[n,g])^2)
        y[n,c,i] = (x[n,c,i] - m[n,c//2]) * rsqrt(v[n,c//2] + 1e-5)";
    assert_is(&x.output_of(group, "y"), &[2, 6, 4], |at| {
        let (n, g) = (at[0], at[1] / 2);
        let all = |of: &dyn Fn(f64) -> f64| {
            sum(0..2, |c| sum(0..4, |i| of(x.at("x", &[n, 2 * g + c, i])))) / 8.0
        };
        let mean = all(&|x| x);
        (x.at("x", at) - mean) / (all(&|x| (x - mean).powi(2)) + 1e-5).sqrt()
    });
}

#[test]
fn convolutions_and_pools() {
    let x = Numbers::default().real("x", &[1, 2, 5, 4]).real("k", &[3, 2, 3, 3]);
    let inside = |x: &Numbers, c: i64, h: i64, w: i64| {
        (0..5).contains(&h) && (0..4).contains(&w) && x.at("x", &[0, c, h, w]) > f64::MIN
    };
    let all = x.clone().output("y", &[1, 3, 5, 4]);
    let padded = "y[n,f,h,w] = sum(c, r, s, x[n,c,h+r-1,w+s-1 else 0] * k[f,c,r,s])";
    assert_is(&all.output_of(padded, "y"), &[1, 3, 5, 4], |at| {
        sum(0..2, |c| {
            sum(0..3, |r| {
                sum(0..3, |s| {
                    let (h, w) = (at[2] + r - 1, at[3] + s - 1);
                    match inside(&x, c, h, w) {
                        true => x.at("x", &[0, c, h, w]) * x.at("k", &[at[1], c, r, s]),
                        false => 0.0,
                    }
                })
            })
        })
    });
    let all = x.clone().output("y", &[1, 2, 3, 2]);
    let largest = "y[n,c,h,w] = max(r in 0..3, s in 0..3, x[n,c,2*h+r-1,2*w+s-1 else -inf])";
    assert_is(&all.output_of(largest, "y"), &[1, 2, 3, 2], |at| {
        let places =
            (0..3).flat_map(|r| (0..3).map(move |s| (2 * at[2] + r - 1, 2 * at[3] + s - 1)));
        let inside = places.filter(|(h, w)| inside(&x, at[1], *h, *w));
        inside.map(|(h, w)| x.at("x", &[0, at[1], h, w])).fold(f64::NEG_INFINITY, f64::max)
    });
    let all = x.clone().output("y", &[1, 2, 2, 2]);
    let average = "y[n,c,h,w] = mean(r in 0..2, s in 0..2, x[n,c,2*h+r,2*w+s])";
    assert_is(&all.output_of(average, "y"), &[1, 2, 2, 2], |at| {
        sum(0..2, |r| sum(0..2, |s| x.at("x", &[0, at[1], 2 * at[2] + r, 2 * at[3] + s]))) / 4.0
    });
}

#[test]
fn scans_losses_and_rotations() {
    let x = Numbers::default().real("x", &[3, 5]).real("a", &[3, 4]).integers("t", &[1, 4, 0]);
    let all = x.clone().output("y", &[3, 5]);
    let scan = all.output_of("y[i,j] = sum(k in 0..j+1, x[i,k])", "y");
    assert_is(&scan, &[3, 5], |at| sum(0..at[1] + 1, |k| x.at("x", &[at[0], k])));
    let all = x.clone().output("loss", &[1]);
    let text = "loss = mean(i, log(sum(k, exp(x[i,k]))) - x[i,t[i]])";
    assert_is(&all.output_of(text, "loss"), &[1], |_| {
        sum(0..3, |i| {
            sum(0..5, |k| x.at("x", &[i, k]).exp()).ln() - x.at("x", &[i, x.at("t", &[i]) as i64])
        }) / 3.0
    });
    let all = x.clone().output("y", &[3, 4]);
    let rotated = "y[p,d] = x[p,d]*cos(a[p,d]) - x[p,d+2 else 0]*sin(a[p,d]) if d < 2 else
        x[p,d]*cos(a[p,d]) + x[p,d-2]*sin(a[p,d])";
    assert_is(&all.output_of(rotated, "y"), &[3, 4], |at| {
        let (sin, cos) = x.at("a", at).sin_cos();
        let other = if at[1] < 2 { at[1] + 2 } else { at[1] - 2 };
        let other = x.at("x", &[at[0], other]) * sin;
        x.at("x", at) * cos + if at[1] < 2 { -other } else { other }
    });
}

#[test]
fn activations() {
    let x = Numbers::default().real("x", &[2, 4]).real("U", &[4, 3]).real("W", &[4, 3]);
    let all = x.clone().output("y", &[2, 4]);
    let gelu = "y[i,j] = x[i,j]/2 * (1 + erf(x[i,j]/sqrt(2)))";
    assert_is(&all.output_of(gelu, "y"), &[2, 4], |at| {
        let x = x.at("x", at);
        x / 2.0 * libm_erfc(-x / 2f64.sqrt())
    });
    let tanh = "let u[i,j] = sqrt(2/pi)*(x[i,j] + 0.044715*x[i,j]^3)
        y[i,j] = x[i,j]/2*(1 + tanh(u[i,j]))";
    assert_is(&all.output_of(tanh, "y"), &[2, 4], |at| {
        let x = x.at("x", at);
        let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x.powi(3));
        x / 2.0 * (1.0 + inner.tanh())
    });
    let all = x.clone().output("y", &[2, 3]);
    let gated = "let g[i,j] = sum(k, x[i,k]*U[k,j])
        y[i,j] = g[i,j]*sigmoid(g[i,j]) * sum(k, x[i,k]*W[k,j])";
    assert_is(&all.output_of(gated, "y"), &[2, 3], |at| {
        let product = |name| sum(0..4, |k| x.at("x", &[at[0], k]) * x.at(name, &[k, at[1]]));
        product("U") / (1.0 + (-product("U")).exp()) * product("W")
    });
}

/// 1 + erf(−x) by its series, good for small numbers.
fn libm_erfc(x: f64) -> f64 {
    let mut term = x;
    let mut sum = x;
    for n in 1..200 {
        let n = f64::from(n);
        term *= -x * x / n;
        sum += term / (2.0 * n + 1.0);
    }
    1.0 - 2.0 / std::f64::consts::PI.sqrt() * sum
}

#[test]
fn rearrangements_and_conditions() {
    let x = Numbers::default().real("x", &[3, 5]).real("m", &[3, 5]);
    let turned = x.clone().output("y", &[5, 3]).output_of("y[j,i] = x[i,j]", "y");
    assert_is(&turned, &[5, 3], |at| x.at("x", &[at[1], at[0]]));
    let line = Numbers::default().real("x", &[6]).output("m", &[1]).output("v", &[1]);
    let both = line.outputs_of("m = sum(i, x[i])/6; v = sum(i, (x[i] - m)^2)/6");
    let mean = sum(0..6, |i| line.at("x", &[i])) / 6.0;
    assert_is(&both["m"], &[1], |_| mean);
    assert_is(&both["v"], &[1], |_| sum(0..6, |i| (line.at("x", &[i]) - mean).powi(2)) / 6.0);
    let row = |i: i64| (0..5).map(move |k| (k, i));
    let largest = |i: i64| row(i).map(|(k, i)| x.at("x", &[i, k])).fold(f64::MIN, f64::max);
    let place = x.clone().integer_output("y", &[3]).output_of("y[i] = argmax(k, x[i,k])", "y");
    assert_is(&place, &[3], |at| {
        (0..5).find(|k| x.at("x", &[at[0], *k]) == largest(at[0])).unwrap() as f64
    });
    let all = x.clone().output("y", &[3, 5]);
    let kept = all.output_of("y[i,j] = x[i,j] if all(k, x[i,k] <= x[i,j]) else 0", "y");
    assert_is(
        &kept,
        &[3, 5],
        |at| {
            if x.at("x", at) == largest(at[0]) { largest(at[0]) } else { 0.0 }
        },
    );
    let masked = x.clone().output("y", &[3]);
    let masked = masked.output_of("y[i] = sum(k, x[i,k] if m[i,k] > 0)", "y");
    assert_is(&masked, &[3], |at| {
        sum(0..5, |k| if x.at("m", &[at[0], k]) > 0.0 { x.at("x", &[at[0], k]) } else { 0.0 })
    });
}

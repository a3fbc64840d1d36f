//! The contract language: each clause and expression is read, with its names and types, and unsupported ones are open
//! in the report.

mod support;

use allsizes::{Answer, Options, Verdict, engine::Property};
use base::Severity;
use kir::{ExprKind, FoldOp, Kernel, Loop, Quantifier, Stmt};
use support::kernel;

/// A kernel with clauses before it and in it.
fn with(contract: &str, body: &str) -> String {
    format!(
        "//@ extent a[n], b[n];\n//@ requires n >= 1 && gridDim.x == 1 && blockDim.x == n;\n{contract}\n\
         __global__ void k(const float* a, float* b, int n, float f) {{\n{body}\n}}\n"
    )
}

fn answer(text: &str) -> Answer {
    let (answer, _) =
        allsizes::prove(&kernel(text), None, Options { infers: true, suggests: false });
    assert!(answer.contradiction.is_none(), "{:?}", answer.contradiction);
    answer
}

fn verdict(answer: &Answer, property: Property) -> Option<Verdict> {
    answer.properties.iter().find(|one| one.property == property).map(|one| one.verdict)
}

/// The message of an error, with its help.
fn mistake(text: &str) -> String {
    let refusal = match cuda_front::kernels(text) {
        Err(refusal) => refusal,
        Ok(mut kernels) => kernels.remove(0).1.expect_err(text),
    };
    assert_eq!(refusal.severity, Severity::Error, "{text}");
    format!("{} {}", refusal.message, refusal.help.as_deref().unwrap_or_default())
}

/// The loops of a kernel that have claims, outermost first.
fn loops(statements: &[Stmt]) -> Vec<&Loop> {
    let mut all = Vec::new();
    for statement in statements {
        if let Stmt::Loop(inner) = statement {
            all.push(&**inner);
            all.extend(loops(&inner.body));
        }
    }
    all
}

const BLELLOCH: &str = r"
//@ extent x[n], in[n], out[n];
//@ requires gridDim.x == 1 && \is_pow2(n) && n >= 2 && n <= 2147483648 && 2*blockDim.x == n;
//@ ensures \forall int i; 0 <= i < n ==> out[i] == \fold(+, j, 0, i, in[j]);
__global__ void blelloch(const unsigned* in, unsigned* out, unsigned n) {
  extern __shared__ unsigned x[];
  unsigned t = threadIdx.x, off = 1;
  x[2*t] = in[2*t]; x[2*t+1] = in[2*t+1];
  //@ loop invariant \forall int q; 1 <= q && off*q <= n ==> x[off*q-1] == \fold(+, j, off*(q-1), off*q, in[j]);
  //@ loop invariant U2: \forall int p, r; \is_pow2(p) && p < off && 0 <= r && p*(2*r+1) <= n
  //@                ==> x[p*(2*r+1)-1] == \fold(+, j, 2*p*r, p*(2*r+1), in[j]);
  for (unsigned d = n/2; d > 0; d /= 2) {
    __syncthreads();
    if (t < d) { unsigned l = off*(2*t+1)-1, r = off*(2*t+2)-1; x[r] = x[l] + x[r]; }
    off *= 2;
  }
  if (t == 0) x[n-1] = 0;
  //@ loop invariant \forall int q; 1 <= q && off*q <= n ==> x[off*q-1] == \fold(+, j, 0, off*(q-1), in[j]);
  //@ loop invariant U2;
  for (unsigned d = 1; d < n; d *= 2) {
    off /= 2;
    __syncthreads();
    if (t < d) { unsigned l = off*(2*t+1)-1, r = off*(2*t+2)-1, s = x[l]; x[l] = x[r]; x[r] = x[r] + s; }
  }
  __syncthreads();
  out[2*t] = x[2*t]; out[2*t+1] = x[2*t+1];
}";

#[test]
fn scans_are_read() {
    let kernel = kernel(BLELLOCH);
    assert_eq!(kernel.ensures.len(), 1);
    let claim = &kernel.ensures[0];
    assert_eq!(claim.forall.len(), 1);
    let loops = loops(&kernel.body);
    let claims: Vec<usize> = loops.iter().map(|one| one.claims.len()).collect();
    assert_eq!(claims, [2, 2]);
    let again = &loops[1].claims[1];
    assert_eq!((again.name.as_deref(), again.forall.len()), (Some("U2"), 2));
    // An equation with a 32-bit element is one of 32 bits.
    let ExprKind::Or(_, equation) = &claim.condition.kind else { panic!("{claim:?}") };
    let ExprKind::Compare(_, left, right) = &equation.kind else { panic!("{equation:?}") };
    assert_eq!((left.ty, right.ty), (kir::Type::UNSIGNED, kir::Type::UNSIGNED));
    let ExprKind::Convert(fold) = &right.kind else { panic!("{right:?}") };
    assert!(matches!(&fold.kind, ExprKind::Fold(fold) if fold.op == FoldOp::Add));
}

#[test]
fn contracts_of_others_are_read() {
    let text = r"
        //@ predicate kept(int v) = v != 0;
        //@ requires \forall int i; 0 <= i < n ==> idx[i] == \fold(+, j, 0, i, flag[j]) && 0 <= flag[i] <= 1;
        //@ requires gridDim.x == 1 && n == blockDim.x;
        //@ extent data[n], out[n], flag[n], idx[n];
        //@ ensures \forall int i; 0 <= i < n && kept(flag[i]) ==> out[\fold(+, j, 0, i, flag[j])] == data[i];
        __global__ void compact(const int* data, int* out, const unsigned* flag, const unsigned* idx, unsigned n) {
          if (flag[threadIdx.x]) out[idx[threadIdx.x]] = data[threadIdx.x];
        }";
    assert_eq!(kernel(text).ensures.len(), 1);
}

#[test]
fn every_expression_is_read() {
    let contract = r"
        //@ predicate near(float x, float y) = x - y < 0.5f && y - x < 0.5f;
        //@ predicate all_near(float* u, float* v, int m) = \forall int i; 0 <= i < m ==> near(u[i], v[i]);
        //@ lemma halves(int x) by induction(x): 0 <= x ==> 0 <= x/2 <= x;
        //@ ensures b[0] == \fold(max, i, 0, n, a[i]) && b[0] == \fold(\min, i, 0, n, a[i]);
        //@ ensures b[0] == \fold(*, i, 0, n, a[i]) && b[0] == \sum(i, 0, n, \sum(j, 0, i, a[j]));
        //@ ensures (\exists int i; 0 <= i < n && b[i] > 0.0f) <==> n > 3;
        //@ ensures \forall unsigned i; i < n ==> b[i] == \old(b[i]) + \at(a[i], Pre) + f*\at(b[i], Here);
        //@ ensures \forall int i, j, int k; 0 <= i < j < k < n ==> \max(i, \min(j, k)) >= \abs(i - j);
        //@ ensures \num_of(i, 0, n, a[i] > 0.0f) <= n && \is_pow2(\lowbit(n)) && \pow2(n) > n;
        //@ ensures all_near(a, b, n);
        //@ reads a[0 .. n-1];
        //@ writes b[0 .. n-1];";
    let body = r"
        //@ ghost int seen = 0;
        //@ assert 0 <= threadIdx.x < n;
        //@ loop invariant sums: f == f && seen == k;
        //@ loop invariant 0 <= k <= n;
        //@ loop variant n - k;
        for (int k = 0; k < n; k++) {
          //@ ghost seen = seen + 1;
          //@ barrier invariant \other(k) == k && k >= 0;
          //@ instantiate t: 0, 1;
          __syncthreads();
        }
        b[threadIdx.x] = a[threadIdx.x];";
    let kernel = kernel(&with(contract, body));
    assert_eq!(kernel.ensures.len(), 11);
    assert_eq!(kernel.lemmas.len(), 1);
    assert_eq!(kernel.unfollowed.len(), 0, "{:?}", kernel.unfollowed);
    assert_eq!(kernel.footprints.len(), 2);
    assert_eq!(kir::barrier_claims(&kernel.body).len(), 1);
    let inner = loops(&kernel.body)[0];
    assert_eq!((inner.invariants.len(), inner.claims.len()), (3, 1));
    let exists = |kernel: &Kernel| {
        let conditions = kernel.ensures.iter().map(|one| format!("{:?}", one.condition));
        conditions.filter(|one| one.contains(&format!("{:?}", Quantifier::Exists))).count()
    };
    assert_eq!(exists(&kernel), 1);
}

/// The report mentions everything that was read but not proved.
#[test]
fn unsupported_claims_are_open() {
    let store = "b[threadIdx.x] = a[threadIdx.x];";
    let open = |contract: &str, body: &str, property: Property| {
        let answer = answer(&with(contract, body));
        assert_eq!(verdict(&answer, property), Some(Verdict::Unknown), "{contract}{body}");
        let found = answer.properties.iter().find(|one| one.property == property);
        assert!(!found.expect("the property").open.is_empty());
    };
    open("//@ ensures b[0] == \\at(a[0], Loop);", store, Property::Postcondition);
    let at_barrier = format!("//@ barrier invariant \\other(f) == f;\n__syncthreads(); {store}");
    open("", &at_barrier, Property::Invariant);
    open("", &format!("//@ assert a[0] > 0.0f;\n{store}"), Property::Invariant);
    let wrong = "//@ lemma wrong(int x): x*x > x;";
    open(wrong, store, Property::Invariant);
}

#[test]
fn variants_and_ghosts_are_checked() {
    let body = |clauses: &str| {
        format!(
            "{clauses}\nfor (int k = 0; k < n; k++) {{\n//@ ghost seen = seen + 1;\n}}\nb[threadIdx.x] = f;"
        )
    };
    let check = |clauses: &str, wanted| {
        let answer = answer(&with("", &body(clauses)));
        assert_eq!(verdict(&answer, Property::Invariant), Some(wanted), "{clauses}");
    };
    let ghost = "//@ ghost int seen = 0;\n";
    check(
        &format!("{ghost}//@ loop invariant seen == k;\n//@ loop variant n - k;"),
        Verdict::Proved,
    );
    check(&format!("{ghost}//@ loop invariant seen <= n - k;"), Verdict::Unknown);
    check(&format!("{ghost}//@ loop variant k;"), Verdict::Refuted);
}

/// A function's requirements and claims are checked at its calls.
#[test]
fn contracts_of_functions_are_checked() {
    let call = |requires: &str, ensures: &str| {
        let function = format!(
            "//@ requires {requires};\n//@ ensures {ensures};\n\
             __device__ int halved(int x) {{ x = x/2; return x; }}\n"
        );
        let answer = answer(&(function + &with("", "b[halved(threadIdx.x)] = f;")));
        verdict(&answer, Property::Invariant).expect("claims")
    };
    assert_eq!(call("x >= 0", "0 <= \\result <= x"), Verdict::Proved);
    assert_eq!(call("x >= 1", "\\result <= x"), Verdict::Refuted);
    assert_eq!(call("x >= 0", "\\result < x"), Verdict::Refuted);
}

#[test]
fn mistakes_have_suggestions() {
    let of_clause = |clause: &str| mistake(&with(clause, "b[0] = f;"));
    assert!(of_clause("//@ ensure b[0] == f;").contains("did you mean `ensures`?"));
    assert!(of_clause("//@ requiers n > 0;").contains("did you mean `requires`?"));
    assert!(
        of_clause("//@ banana n > 0;")
            .contains("the words that are possible here: requires, ensures")
    );
    assert!(of_clause("//@ ensures \\foral int i; i == i;").contains("did you mean `\\forall`?"));
    assert!(of_clause("//@ ensures \\summ(i, 0, n, i) == 0;").contains("did you mean `\\sum`?"));
    assert!(of_clause("//@ ensures b[0] == \\result;").contains("has a result"));
    assert!(of_clause("//@ ensures b[0] == x;").contains("`x` is not declared"));
    assert!(of_clause("//@ ensures b[threadIdx.x] == f;").contains("the whole launch"));
    assert!(of_clause("//@ ensures \\forall float x; x == f;").contains("are integers"));
    assert!(of_clause("//@ ensures \\fold(f, i, 0, n, a[i]) == 0.0f;").contains("is not a monoid"));
    assert!(of_clause("//@ lemma l(int x) by induction(y): x == x;").contains("no parameter `y`"));
    let of_body = |body: &str| mistake(&with("", body));
    assert!(of_body("//@ loop invarient n > 0;\nfor (;;) {}").contains("`invariant`?"));
    assert!(
        of_body("//@ barrier invariant n > 0;\nb[0] = f;").contains("not followed by a barrier")
    );
    assert!(of_body("//@ loop invariant U;\nfor (;;) {}").contains("`U` is not declared"));
    assert!(of_body("//@ ghost int g = 1;\nb[g] = f;").contains("belongs to annotations"));
    assert!(of_body("//@ ghost n = 1;\nb[0] = f;").contains("can assign only to ghost variables"));
}

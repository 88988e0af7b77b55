//! Which dependences have no other write between them.

mod common;

use common::{Statement, algorithm, for_loop, leaf};
use tessella_polyhedral::algorithm::Algorithm;
use tessella_polyhedral::dependence::{Dependence, DependenceKind, dependences, direct};
use tessella_polyhedral::isl::{Ctx, Map};
use tessella_polyhedral::schedule::Node;

/// `for t: (for i: A[i] = A[i] + A[i - 1]; for i: B[i] = A[i])`
fn in_place(ctx: &Ctx) -> Algorithm {
    let s = Statement {
        name: "S",
        iterators: &["t", "i"],
        domain: "{ S[t, i] : 1 <= t <= n and 1 <= i <= n }",
        write: (0, &[(&[0, 1], 0)]),
        reads: &[(0, &[(&[0, 1], 0)]), (0, &[(&[0, 1], -1)])],
    };
    let r = Statement {
        name: "R",
        iterators: &["t", "i"],
        domain: "{ R[t, i] : 1 <= t <= n and 1 <= i <= n }",
        write: (1, &[(&[0, 1], 0)]),
        reads: &[(0, &[(&[0, 1], 0)])],
    };
    let nests = vec![for_loop("i", 1, &[0], leaf(0)), for_loop("i", 1, &[1], leaf(1))];
    algorithm(ctx, &[("A", 1), ("B", 1)], &[s, r], for_loop("t", 0, &[0, 1], Node::Sequence(nests)))
}

/// All pairs of instances, `{ S[x] -> R[y] }` by the names of the computations.
fn pairs(algorithm: &Algorithm, all: &[Dependence], kind: DependenceKind, names: [&str; 2]) -> Option<Map> {
    let name = |it: &Dependence| {
        [it.source, it.sink].map(|at| algorithm.computation(at.computation).name.clone()) == names.map(String::from)
    };
    let relations = all.iter().filter(|it| it.kind == kind && name(it)).map(|it| it.relation.clone());
    relations.reduce(|one, other| one.union(&other).unwrap())
}

#[test]
fn what_has_another_write_between_is_left_out() {
    let ctx = Ctx::new();
    let algorithm = in_place(&ctx);
    let kept = direct(&ctx, &algorithm, &dependences(&ctx, &algorithm).unwrap()).unwrap();
    let bounds = "1 <= t <= n and 1 <= i <= n and 1 <= u <= n and 1 <= k <= n and n <= 1099511627776";
    let expect = |kind: DependenceKind, names: [&str; 2], pairs_are: &str| {
        let found = pairs(&algorithm, &kept, kind, names).unwrap();
        let text = format!("[n] -> {{ {}[t, i] -> {}[u, k] : {bounds} and ({pairs_are}) }}", names[0], names[1]);
        let expected = Map::from_text(&ctx, &text).unwrap();
        assert!(found.is_equal(&expected).unwrap(), "{kind} {names:?}: {found:?}");
    };
    expect(DependenceKind::Flow, ["S", "S"], "(u = t + 1 and k = i) or (u = t and k = i + 1)");
    expect(DependenceKind::Flow, ["S", "R"], "u = t and k = i");
    // The instance that reads `A[i]` writes it itself, before all that do later; the next step's writes what `A[i - 1]` was.
    expect(DependenceKind::Anti, ["S", "S"], "u = t + 1 and k = i - 1");
    expect(DependenceKind::Anti, ["R", "S"], "u = t + 1 and k = i");
    expect(DependenceKind::Output, ["S", "S"], "u = t + 1 and k = i");
}

//! Small algorithms built by hand, as a compiler for another language would.
#![allow(dead_code, reason = "each test file uses some of it")]

use std::collections::BTreeMap;
use tessella_polyhedral::affine::{Affine, ParamId};
use tessella_polyhedral::algorithm::*;
use tessella_polyhedral::command::Command;
use tessella_polyhedral::dependence::Dependence;
use tessella_polyhedral::error::Error;
use tessella_polyhedral::expr::{Expr, ExprKind};
use tessella_polyhedral::isl::{Ctx, Set};
use tessella_polyhedral::layers::{Scheduled, Target};
use tessella_polyhedral::schedule::{Loop, Node, Schedule, Tag};
use tessella_polyhedral::transform::apply_and_renew;
use tessella_scalar::{BinaryOp, ScalarType};

/// What a command makes, without the dependences.
pub fn apply(ctx: &Ctx, start: &Scheduled, all: &[Dependence], command: &Command) -> Result<Scheduled, Error> {
    apply_and_renew(ctx, start, all, command).map(|(made, _)| made)
}

/// `coefficients . iterators + constant`.
pub fn affine(coefficients: &[i64], constant: i64) -> Affine {
    let terms = coefficients.iter().enumerate();
    terms.fold(Affine::constant(constant), |sum, (at, &factor)| {
        sum.add(&Affine::iterator(at as u32).scale(factor).unwrap()).unwrap()
    })
}

/// Subscripts as rows of `(coefficients, constant)`.
pub type Rows<'a> = &'a [(&'a [i64], i64)];

pub struct Statement<'a> {
    pub name: &'a str,
    pub iterators: &'a [&'a str],
    /// isl text without parameters: `{ S[i, j] : ... }`.
    pub domain: &'a str,
    pub write: (usize, Rows<'a>),
    pub reads: &'a [(usize, Rows<'a>)],
}

/// An algorithm over square `Float64` arrays of `n` elements a side; `order` is the source's tree.
pub fn algorithm(ctx: &Ctx, arrays: &[(&str, u32)], statements: &[Statement], order: Node) -> Algorithm {
    let access = |(array, rows): &(usize, Rows)| Access {
        array: ArrayId(*array as u32),
        subscripts: rows.iter().map(|(coefficients, constant)| affine(coefficients, *constant).into()).collect(),
        within: None,
        checked: true,
        conditional: false,
    };
    let read = |at: usize| Expr { kind: ExprKind::Read(at as u32), ty: ScalarType::F64 };
    let computations = statements.iter().map(|it| {
        let sum = (1..it.reads.len()).fold(read(0), |sum, at| Expr {
            kind: ExprKind::Binary(BinaryOp::Add, Box::new(sum), Box::new(read(at))),
            ty: ScalarType::F64,
        });
        Computation {
            name: it.name.to_string(),
            iterators: it.iterators.iter().map(|name| name.to_string()).collect(),
            domain: Set::from_text(ctx, &format!("[n] -> {}", it.domain)).unwrap(),
            predicate: None,
            lets: vec![],
            value: sum,
            write: access(&it.write),
            reads: it.reads.iter().map(access).collect(),
            fastmath: false,
            simd: None,
            ranged: vec![],
            atomic: false,
            owner: None,
        }
    });
    Algorithm {
        name: "test".to_string(),
        params: vec![Param { name: "n".to_string(), origin: ParamOrigin::Extent { array: ArrayId(0), axis: 0 } }],
        scalars: vec![],
        arrays: arrays
            .iter()
            .map(|(name, rank)| Array {
                name: name.to_string(),
                element: ScalarType::F64,
                extents: vec![Affine::param(ParamId(0)); *rank as usize],
                rank: *rank,
                kind: ArrayKind::Argument,
                firsts: vec![],
                strided: 0..0,
            })
            .collect(),
        arguments: (0..arrays.len() as u32).map(|at| Argument::Array(ArrayId(at))).collect(),
        computations: computations.collect(),
        context: Set::from_text(ctx, "[n] -> { : 0 <= n <= 1099511627776 }").unwrap(),
        source_order: Schedule { root: order },
        scan: None,
        whole: None,
        redirected: BTreeMap::new(),
        limits: BTreeMap::new(),
        requirements: vec![],
        result: Outcome::Nothing,
        failed: None,
    }
}

/// A loop over iterator `position` of the given computations.
pub fn for_loop(name: &str, position: u32, computations: &[u32], body: Node) -> Node {
    let at = computations.iter().map(|&id| (ComputationId(id), Affine::iterator(position)));
    Node::Loop(Loop {
        name: name.to_string(),
        tag: Tag::Sequential,
        at: at.collect::<BTreeMap<_, _>>(),
        body: Box::new(body),
    })
}

pub fn leaf(id: u32) -> Node {
    Node::Computation(ComputationId(id))
}

pub fn scheduled(algorithm: Algorithm, target: Target) -> Scheduled {
    Scheduled {
        schedule: algorithm.source_order.clone(),
        algorithm,
        target,
        machine: tessella_polyhedral::machine::Machine::GENERIC,
        versions: vec![],
        scratch: Default::default(),
    }
}

/// `for j, i: A[i, j] = A[i - 1, j + 1]` over the inner square.
pub fn antidiagonal(ctx: &Ctx) -> Algorithm {
    let statement = Statement {
        name: "S",
        iterators: &["i", "j"],
        domain: "{ S[i, j] : 2 <= i <= n and 1 <= j < n }",
        write: (0, &[(&[1, 0], 0), (&[0, 1], 0)]),
        reads: &[(0, &[(&[1, 0], -1), (&[0, 1], 1)])],
    };
    algorithm(ctx, &[("A", 2)], &[statement], for_loop("i", 0, &[0], for_loop("j", 1, &[0], leaf(0))))
}

/// A time loop over two sweeps: `B[i] = A[i-1] + A[i] + A[i+1]`, then `A[i] = B[i]`.
pub fn jacobi(ctx: &Ctx) -> Algorithm {
    let s = Statement {
        name: "S",
        iterators: &["t", "i"],
        domain: "{ S[t, i] : 1 <= t <= 10 and 2 <= i < n }",
        write: (1, &[(&[0, 1], 0)]),
        reads: &[(0, &[(&[0, 1], -1)]), (0, &[(&[0, 1], 0)]), (0, &[(&[0, 1], 1)])],
    };
    let r = Statement {
        name: "R",
        iterators: &["t", "i"],
        domain: "{ R[t, i] : 1 <= t <= 10 and 2 <= i < n }",
        write: (0, &[(&[0, 1], 0)]),
        reads: &[(1, &[(&[0, 1], 0)])],
    };
    let sweeps = Node::Sequence(vec![for_loop("i", 1, &[0], leaf(0)), for_loop("i", 1, &[1], leaf(1))]);
    algorithm(ctx, &[("A", 1), ("B", 1)], &[s, r], for_loop("t", 0, &[0, 1], sweeps))
}

/// `for i, j: C[i, j] = A[i, j] + B[j, i]`.
pub fn pointwise(ctx: &Ctx) -> Algorithm {
    let statement = Statement {
        name: "S",
        iterators: &["i", "j"],
        domain: "{ S[i, j] : 1 <= i <= n and 1 <= j <= n }",
        write: (2, &[(&[1, 0], 0), (&[0, 1], 0)]),
        reads: &[(0, &[(&[1, 0], 0), (&[0, 1], 0)]), (1, &[(&[1, 0], 0), (&[0, 1], 0)])],
    };
    let order = for_loop("i", 0, &[0], for_loop("j", 1, &[0], leaf(0)));
    algorithm(ctx, &[("A", 2), ("B", 2), ("C", 2)], &[statement], order)
}

/// How many random cases a test makes: what `PROPTEST_CASES` says, or else so many.
pub fn cases(usual: u32) -> u32 {
    std::env::var("PROPTEST_CASES").map_or(usual, |text| text.parse().expect("PROPTEST_CASES is a number"))
}

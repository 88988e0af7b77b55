//! Index-set splitting: one computation becomes several, each with a part of its instances.

use crate::affine::Affine;
use crate::algorithm::{Access, AccessRef, Algorithm, Computation, ComputationId, Whole};
use crate::dependence::Dependence;
use crate::error::Error;
use crate::isl::{Ctx, DimType, Id, IslError, IslErrorKind, Set};
use crate::relation;
use crate::schedule::{Node, Schedule};
use std::collections::BTreeMap;

/// Splits a computation into pieces. The first keeps its name and number; the others are added, with `suffix` and a number
/// at the end of their names.
///
/// Rewrite: `S[x] : x in D -> S[x] : x in P0; S_1[x] : x in P1; ...`, in the source's order and in `schedule` one right
/// after the other. A piece holds the instances for which none of its values is negative. That each instance is in just one
/// piece is proved here, so the pieces do together what the computation did; the algorithm keeps what it was before in
/// [`Algorithm::whole`].
///
/// # Source
/// Griebl, Feautrier, Lengauer, *Index set splitting*, IJPP 28(6), 2000.
///
/// # Errors
/// An [`IslErrorKind::Internal`] error where some instance is in no piece, or in two.
pub fn split_domain(
    ctx: &Ctx,
    algorithm: &mut Algorithm,
    schedule: &mut Schedule,
    id: ComputationId,
    pieces: &[Vec<Affine>],
    suffix: &str,
) -> Result<Vec<ComputationId>, Error> {
    let parts = pieces.iter().map(|piece| part(ctx, algorithm, id, piece)).collect::<Result<Vec<_>, _>>()?;
    split_into(ctx, algorithm, schedule, id, &parts, suffix)
}

/// The same with pieces that lie in these sets.
pub(super) fn split_into(
    ctx: &Ctx,
    algorithm: &mut Algorithm,
    schedule: &mut Schedule,
    id: ComputationId,
    parts: &[Set],
    suffix: &str,
) -> Result<Vec<ComputationId>, Error> {
    let domain = algorithm.computation(id).domain.clone();
    check_exact(&relation::domain(algorithm, id)?, parts)?;
    keep_whole(algorithm);
    let mut ids = vec![id];
    let source = algorithm.computation(id).clone();
    for (number, part) in parts.iter().enumerate() {
        let within = domain.intersect(part)?;
        if number == 0 {
            algorithm.computations[id.0 as usize].domain = within;
            continue;
        }
        let taken: Vec<String> = algorithm.computations.iter().map(|it| it.name.clone()).collect();
        let free =
            (number..).map(|number| format!("{}{suffix}{number}", source.name)).find(|name| !taken.contains(name));
        let name = free.expect("some number is free");
        ids.push(ComputationId(algorithm.computations.len() as u32));
        algorithm.computations.push(renamed(ctx, &source, within, name)?);
        let whole = algorithm.whole.as_mut().expect("it was just kept");
        let origin = whole.piece_of[id.0 as usize];
        whole.piece_of.push(origin);
    }
    stand_together(&mut schedule.root, &ids);
    stand_together(&mut algorithm.source_order.root, &ids);
    Ok(ids)
}

/// The dependences of an algorithm some of whose computations were split, of those that it had before: a pair of instances
/// that depended on one another still does, and belongs to the pieces that the two lie in. The result is in the old order,
/// pieces of one dependence together.
pub fn split_dependences(
    ctx: &Ctx,
    algorithm: &Algorithm,
    pieces: &BTreeMap<ComputationId, Vec<ComputationId>>,
    all: &[Dependence],
) -> Result<Vec<Dependence>, Error> {
    let pieces_of = |id: ComputationId| pieces.get(&id).cloned().unwrap_or_else(|| vec![id]);
    let mut found = vec![];
    for dependence in all {
        if [dependence.source, dependence.sink].iter().all(|end| !pieces.contains_key(&end.computation)) {
            found.push(dependence.clone());
            continue;
        }
        for source in pieces_of(dependence.source.computation) {
            let domain = &algorithm.computation(source).domain;
            let name = Id::new(ctx, &algorithm.computation(source).name)?;
            let from = dependence.relation.set_tuple_id(DimType::In, &name)?.intersect_domain(domain)?;
            for sink in pieces_of(dependence.sink.computation) {
                let range = &algorithm.computation(sink).domain;
                let name = Id::new(ctx, &algorithm.computation(sink).name)?;
                let relation = from.set_tuple_id(DimType::Out, &name)?.intersect_range(range)?;
                if !relation.is_empty()? {
                    let source = AccessRef { computation: source, ..dependence.source };
                    let sink = AccessRef { computation: sink, ..dependence.sink };
                    found.push(Dependence { source, sink, relation, ..dependence.clone() });
                }
            }
        }
    }
    Ok(found)
}

/// `{ S[x] : all values >= 0 }`.
pub(super) fn part(ctx: &Ctx, algorithm: &Algorithm, id: ComputationId, values: &[Affine]) -> Result<Set, Error> {
    let space = relation::domain_space(ctx, algorithm, id)?;
    let names = algorithm.param_names();
    let zero = Affine::constant(0).to_isl(&space, &names)?;
    let mut part = Set::universe(&space)?;
    for value in values {
        part = part.intersect(&value.to_isl(&space, &names)?.ge_set(&zero)?)?;
    }
    Ok(part)
}

/// Whether the parts cover the domain, none overlapping another in it.
fn check_exact(domain: &Set, parts: &[Set]) -> Result<(), Error> {
    let refuse = |message: &str| IslError { kind: IslErrorKind::Internal, message: message.to_string() };
    let mut left = domain.clone();
    for (at, part) in parts.iter().enumerate() {
        let here = domain.intersect(part)?;
        for other in &parts[at + 1..] {
            if !here.intersect(other)?.is_empty()? {
                return Err(refuse("two pieces of a statement share an instance").into());
            }
        }
        left = left.subtract(part)?;
    }
    match left.is_empty()? {
        true => Ok(()),
        false => Err(refuse("the pieces of a statement leave out an instance").into()),
    }
}

/// Remembers the algorithm as it stands, unless an earlier split did.
pub(super) fn keep_whole(algorithm: &mut Algorithm) {
    if algorithm.whole.is_none() {
        let piece_of = algorithm.ids().collect();
        let (sizes, has_fractions) = (BTreeMap::new(), false);
        algorithm.whole = Some(Box::new(Whole { algorithm: algorithm.clone(), piece_of, sizes, has_fractions }));
    }
    // What other commands added since is a piece of nothing but itself.
    let count = algorithm.computations.len();
    let whole = algorithm.whole.as_mut().expect("it was just kept");
    for added in whole.piece_of.len()..count {
        whole.piece_of.push(ComputationId(added as u32));
    }
}

fn renamed(ctx: &Ctx, source: &Computation, domain: Set, name: String) -> Result<Computation, Error> {
    let tuple = Id::new(ctx, &name)?;
    let of_piece = |set: &Set| -> Result<Set, Error> {
        let set = set.set_tuple_id(&tuple)?;
        let set =
            (0..).zip(&source.iterators).try_fold(set, |set, (at, name)| set.set_dim_name(DimType::Set, at, name))?;
        Ok(set)
    };
    let access = |access: &Access| -> Result<Access, Error> {
        Ok(Access { within: access.within.as_ref().map(&of_piece).transpose()?, ..access.clone() })
    };
    Ok(Computation {
        domain: of_piece(&domain)?,
        write: access(&source.write)?,
        reads: source.reads.iter().map(access).collect::<Result<_, _>>()?,
        name,
        ..source.clone()
    })
}

/// Puts the leaves of all pieces where the first one's stands.
fn stand_together(node: &mut Node, ids: &[ComputationId]) {
    match node {
        Node::Computation(id) if *id == ids[0] => {
            *node = Node::Sequence(ids.iter().copied().map(Node::Computation).collect());
        }
        Node::Computation(_) => {}
        Node::Sequence(children) => {
            children.iter_mut().for_each(|child| stand_together(child, ids));
            let flat = std::mem::take(children).into_iter().flat_map(|child| match child {
                Node::Sequence(inner) => inner,
                Node::Loop(_) | Node::Computation(_) => vec![child],
            });
            *children = flat.collect();
        }
        Node::Loop(it) => {
            if let Some(at) = it.at.get(&ids[0]).cloned() {
                it.at.extend(ids.iter().map(|id| (*id, at.clone())));
            }
            stand_together(&mut it.body, ids);
        }
    }
}

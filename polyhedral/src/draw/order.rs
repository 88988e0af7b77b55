//! When points run: steps that leave open what parallel loops leave open.

use super::Point;
use crate::schedule::{Node, Schedule, Tag};
use std::collections::BTreeMap;

/// Sets the points' steps and predecessors; gives the names of the loops with several iterations that leave the order
/// open.
pub(super) fn set_steps(schedule: &Schedule, params: &[i64], points: &mut [Point]) -> Vec<String> {
    let mut run = Run { params, points, open: vec![] };
    let all: Vec<usize> = (0..run.points.len()).collect();
    run.node(&schedule.root, &all, 0, None);
    run.open
}

struct Run<'a> {
    params: &'a [i64],
    points: &'a mut [Point],
    open: Vec<String>,
}

impl Run<'_> {
    /// Runs the points in `here` from `start` on; gives the last step and the point that runs last, if one does.
    fn node(&mut self, node: &Node, here: &[usize], start: u64, last: Option<usize>) -> (u64, Option<usize>) {
        if here.is_empty() {
            return (start, last);
        }
        match node {
            Node::Computation(_) => here.iter().fold((start, last), |(step, last), &at| {
                self.points[at].step = step + 1;
                self.points[at].before = last;
                (step + 1, Some(at))
            }),
            Node::Sequence(children) => children.iter().fold((start, last), |(step, last), child| {
                let below = child.computations();
                let inside = here.iter().copied().filter(|&at| below.contains(&self.points[at].computation));
                let inside: Vec<usize> = inside.collect();
                self.node(child, &inside, step, last)
            }),
            Node::Loop(it) => {
                let mut groups: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
                for &at in here {
                    let point = &self.points[at];
                    let value = it.at[&point.computation].evaluate(&point.instance, self.params);
                    groups.entry(value.unwrap_or(i64::MAX)).or_default().push(at);
                }
                let open = match it.tag {
                    Tag::Parallel | Tag::GpuBlock(_) | Tag::GpuThread(_) | Tag::Combine => groups.len() > 1,
                    Tag::Sequential
                    | Tag::Vector(_)
                    | Tag::Unroll(_)
                    | Tag::Rows
                    | Tag::Separate
                    | Tag::Stream(_)
                    | Tag::GridSync => false,
                };
                if !open {
                    let groups = groups.values();
                    return groups.fold((start, last), |(step, last), group| self.node(&it.body, group, step, last));
                }
                if !self.open.contains(&it.name) {
                    self.open.push(it.name.clone());
                }
                let ends = groups.values().map(|group| self.node(&it.body, group, start, None).0);
                (ends.max().unwrap_or(start), None)
            }
        }
    }
}

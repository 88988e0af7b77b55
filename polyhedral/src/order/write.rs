//! Writes a schedule tree in the form that [`super::build`] reads.

use super::{Formula, OrderLoop, OrderNode, OrderTree, Runs};
use crate::algorithm::Algorithm;
use crate::schedule::{Larger, Loop, Node, ProcessorAxis, Schedule, StreamSize, Tag};

/// The tree with names.
pub fn spell(algorithm: &Algorithm, schedule: &Schedule) -> OrderTree {
    list(algorithm, &schedule.root)
}

fn list(algorithm: &Algorithm, node: &Node) -> OrderTree {
    match node {
        Node::Sequence(children) => children.iter().flat_map(|child| list(algorithm, child)).collect(),
        Node::Computation(id) => vec![OrderNode::Computation(algorithm.computation(*id).name.clone())],
        Node::Loop(it) => {
            let body = list(algorithm, &it.body);
            vec![OrderNode::Loop(OrderLoop { name: it.name.clone(), tag: it.tag, runs: runs(algorithm, it), body })]
        }
    }
}

fn runs(algorithm: &Algorithm, it: &Loop) -> Runs {
    let each = it
        .body
        .computations()
        .into_iter()
        .map(|id| (algorithm.computation(id).name.clone(), Formula::of(algorithm, id, &it.at[&id])));
    let each: Vec<(String, Formula)> = each.collect();
    match each.split_first() {
        Some(((_, first), others)) if others.iter().all(|(_, other)| other == first) => Runs::Together(first.clone()),
        Some(_) | None => Runs::Each(each),
    }
}

impl std::fmt::Display for OrderNode {
    /// As a user writes it, over several lines.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write_node(self, 0, f)
    }
}

fn write_node(node: &OrderNode, depth: usize, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
    let indent = "    ".repeat(depth);
    match node {
        OrderNode::Computation(name) => write!(f, "{indent}{name}"),
        OrderNode::Loop(it) => {
            writeln!(f, "{indent}{}for {} = {}", prefix(it.tag), it.name, it.runs)?;
            for child in &it.body {
                write_node(child, depth + 1, f)?;
                writeln!(f)?;
            }
            write!(f, "{indent}end")
        }
    }
}

fn prefix(tag: Tag) -> String {
    let axis = |axis| match axis {
        ProcessorAxis::X => "x",
        ProcessorAxis::Y => "y",
        ProcessorAxis::Z => "z",
    };
    match tag {
        Tag::Sequential => String::new(),
        Tag::Parallel => "@parallel ".to_string(),
        Tag::Vector(width) => format!("@vectorize {width} "),
        Tag::Unroll(factor) => format!("@unroll {factor} "),
        Tag::Rows => "@rows ".to_string(),
        Tag::Separate => "@separate ".to_string(),
        Tag::Stream(size @ StreamSize { resident: Some(it), larger, .. }) => {
            let streams = match larger {
                Larger::Stream => prefix(Tag::Stream(StreamSize { resident: None, ..size })),
                Larger::Refuse => String::new(),
            };
            format!("@grid_sync {} {} {} {} {} {streams}", it.steps, it.points, it.rows, it.warps, it.lines)
        }
        Tag::Stream(StreamSize { points, hexagon: Some(it), .. }) => {
            format!("@hexagonal {} {} {points} {} {} ", it.height, it.width, it.threads, it.tiles)
        }
        Tag::Stream(size) => {
            let more = match (size.lines, size.warps) {
                (StreamSize::LINES, StreamSize::WARPS) => String::new(),
                (lines, StreamSize::WARPS) => format!("{lines} "),
                (lines, warps) => format!("{lines} {warps} "),
            };
            let rows = match size.rows {
                None if more.is_empty() => String::new(),
                rows => format!("{} ", rows.unwrap_or(StreamSize::AT_LAUNCH)),
            };
            format!("@stream {} {} {rows}{more}", size.steps, size.points)
        }
        Tag::GridSync => "@grid_sync ".to_string(),
        Tag::Combine => "@combine ".to_string(),
        Tag::GpuBlock(along) => format!("@block {} ", axis(along)),
        Tag::GpuThread(along) => format!("@thread {} ", axis(along)),
    }
}

impl std::fmt::Display for Runs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Runs::Together(formula) => write!(f, "{formula}"),
            Runs::Each(functions) => {
                let each: Vec<String> = functions.iter().map(|(name, formula)| format!("{name} = {formula}")).collect();
                let comma = if each.len() == 1 { "," } else { "" };
                write!(f, "({}{comma})", each.join(", "))
            }
        }
    }
}

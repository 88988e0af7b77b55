//! Which launched kernels do parts of the same work, and which part that is.

use std::collections::{BTreeMap, BTreeSet};
use tessella_codegen::int_expr::{Environment, VariableId};
use tessella_codegen::program::{For, KernelId, Node, Program};
use tessella_codegen::stream::Streaming;
use tessella_polyhedral::algorithm::ComputationId;
use tessella_polyhedral::work::{How, Passes};
use tessella_runtime::cuda::KernelProfile;

/// Kernels and their work.
pub(super) struct Launched<'a> {
    pub kernels: Vec<KernelProfile>,
    pub part: Part<'a>,
}

pub(super) enum Part<'a> {
    /// All instances of computations; the host runs these loops around the launches.
    Statements { computations: BTreeSet<ComputationId>, around: BTreeSet<String> },
    /// Time steps of a stream, in the text of this kernel.
    Steps { text: KernelId, streaming: &'a Streaming },
}

/// What the launches of one text of a stream have made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Made {
    launches: u64,
    /// Launches without a step.
    idle: u64,
    iterations: Option<(i64, i64)>,
    how: How,
}

/// Launched kernels by what they do.
pub(super) fn groups_of<'a>(program: &'a Program, launched: &[KernelProfile]) -> Vec<Launched<'a>> {
    let mut around = BTreeMap::new();
    host_loops(&program.body, &mut vec![], &mut around);
    let mut groups: Vec<Launched<'a>> = vec![];
    for profile in launched {
        let id = KernelId(profile.number as u32);
        let own = Launched { kernels: vec![profile.clone()], part: part_of(program, id, &around) };
        let (same, others): (Vec<_>, Vec<_>) = groups.into_iter().partition(|it| it.part.overlaps(&own.part));
        groups = others;
        groups.push(same.into_iter().rev().fold(own, Launched::after));
    }
    groups
}

fn part_of<'a>(program: &'a Program, id: KernelId, around: &BTreeMap<KernelId, BTreeSet<String>>) -> Part<'a> {
    if let Some(streaming) = streaming(program, id) {
        return Part::Steps { text: text_of(program, id), streaming };
    }
    let mut computations = BTreeSet::new();
    for node in &program.kernel(id).body {
        node.walk(&mut |node| {
            if let Node::Statement(statement) = node {
                computations.insert(statement.computation);
            }
        });
    }
    Part::Statements { computations, around: around.get(&id).cloned().unwrap_or_default() }
}

fn streaming(program: &Program, id: KernelId) -> Option<&Streaming> {
    match program.kernel(id).body.as_slice() {
        [Node::Streaming(it)] => Some(it),
        _ => None,
    }
}

fn text_of(program: &Program, id: KernelId) -> KernelId {
    program.kernel(id).same_as.unwrap_or(id)
}

impl Part<'_> {
    fn overlaps(&self, other: &Part<'_>) -> bool {
        match (self, other) {
            (Part::Statements { computations, .. }, Part::Statements { computations: others, .. }) => {
                !computations.is_disjoint(others)
            }
            (Part::Steps { text, .. }, Part::Steps { text: other, .. }) => text == other,
            (Part::Statements { .. }, Part::Steps { .. }) | (Part::Steps { .. }, Part::Statements { .. }) => false,
        }
    }
}

impl<'a> Launched<'a> {
    /// Both, given kernels that were launched before.
    fn after(mut self, earlier: Launched<'a>) -> Launched<'a> {
        self.kernels.splice(0..0, earlier.kernels);
        if let (
            Part::Statements { computations, around },
            Part::Statements { computations: others, around: other_loops },
        ) = (&mut self.part, earlier.part)
        {
            computations.extend(others);
            around.extend(other_loops);
        }
        self
    }
}

/// The names of the loops around each launch.
fn host_loops(nodes: &[Node], names: &mut Vec<String>, found: &mut BTreeMap<KernelId, BTreeSet<String>>) {
    for node in nodes {
        if let Node::Launch(kernel) | Node::Together { kernel, .. } = node {
            found.entry(*kernel).or_default().extend(names.iter().cloned());
        }
        let depth = names.len();
        if let Node::For(it) = node {
            names.push(it.name.clone());
        }
        for block in node.blocks() {
            host_loops(block, names, found);
        }
        names.truncate(depth);
    }
}

/// The passes of each text of a stream among launched kernels. None where what the host's code says is not what was launched, or takes
/// more than so many launches and iterations to tell.
pub(super) fn passes_of<'a>(
    program: &'a Program,
    launched: &[Launched<'a>],
    params: &[i64],
    most: u64,
) -> BTreeMap<KernelId, Passes<'a>> {
    let mut passes = BTreeMap::new();
    if !launched.iter().any(|it| matches!(it.part, Part::Steps { .. })) {
        return passes;
    }
    let numbers = launched.iter().flat_map(|it| &it.kernels).map(|it| KernelId(it.number as u32)).collect();
    let mut host =
        Host { program, launched: numbers, with: Environment::new(params.to_vec()), made: BTreeMap::new(), left: most };
    if host.run(&program.body).is_none() {
        return passes;
    }
    for group in launched {
        let Part::Steps { text, streaming } = group.part else { continue };
        let measured = group.kernels.iter().map(|it| it.launches).sum::<u64>();
        if let Some(&Made { launches, idle, iterations, how }) = host.made.get(&text)
            && launches == measured
        {
            let iterations = iterations.unwrap_or((0, -1));
            passes.insert(text, Passes { stream: &streaming.stream, iterations, launches, idle, how });
        }
    }
    passes
}

/// Goes through the host's code as the launcher does.
struct Host<'a> {
    program: &'a Program,
    launched: BTreeSet<KernelId>,
    with: Environment,
    made: BTreeMap<KernelId, Made>,
    left: u64,
}

impl Host<'_> {
    fn run(&mut self, nodes: &[Node]) -> Option<()> {
        for node in nodes {
            match node {
                Node::For(it) => self.iterate(it)?,
                Node::Let { variable, value } => self.with.set(*variable, value.evaluate(&self.with)?),
                Node::If { condition, then, otherwise } => {
                    self.run(if condition.evaluate(&self.with)? { then } else { otherwise })?;
                }
                Node::Declare { body, .. } => self.run(body)?,
                Node::Launch(kernel) => self.launch(*kernel)?,
                // Whether all blocks ran at once was the launcher's to decide.
                Node::Together { kernel, .. } if self.launched.contains(kernel) => self.launch(*kernel)?,
                Node::Together { apart, .. } => self.run(apart)?,
                Node::Copy { .. } | Node::Barrier => {}
                Node::Statement(_)
                | Node::Spread(_)
                | Node::OneThread { .. }
                | Node::Turns(_)
                | Node::GridBarrier
                | Node::Await(_)
                | Node::Tile(_)
                | Node::Streaming(_) => return None,
            }
        }
        Some(())
    }

    fn iterate(&mut self, it: &For) -> Option<()> {
        if it.clip.is_some() || it.going.is_some() || it.step < 1 {
            return None;
        }
        let (mut value, upper) = (it.lower.evaluate(&self.with)?, it.upper.evaluate(&self.with)?);
        while value <= upper {
            self.left = self.left.checked_sub(1)?;
            self.with.set(it.variable, value);
            self.run(&it.body)?;
            value = value.checked_add(it.step)?;
        }
        Some(())
    }

    fn launch(&mut self, id: KernelId) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        let Some(it) = streaming(self.program, id) else { return Some(()) };
        for extent in &self.program.kernel(id).grid {
            if extent.evaluate(&self.with)? < 1 {
                return Some(());
            }
        }
        let value = |variable: VariableId| self.with.variables.get(variable.0 as usize).copied().flatten();
        let iterations = |steps: i64, turns: Option<VariableId>| match turns {
            Some(turns) => value(turns),
            None => steps.checked_mul(it.stream.period),
        };
        let (iterations, how) = match (&it.halves, it.residing, it.rest) {
            (Some(halves), _, _) => {
                (iterations(value(halves.steps)?, None)?, How::Hexagons { last: value(halves.last)? })
            }
            (None, Some(residing), _) => (iterations(value(residing.count)?, residing.turns)?, How::Keeps),
            (None, None, Some(rest)) => {
                let how = if value(rest.last)? == 0 { How::Copies } else { How::CopiesAndStores };
                (iterations(value(rest.steps)?, rest.turns)?, how)
            }
            (None, None, None) => (iterations(it.stream.size.steps.into(), None)?, How::Copies),
        };
        let first = value(it.first)?;
        let made =
            self.made.entry(text_of(self.program, id)).or_insert(Made { launches: 0, idle: 0, iterations: None, how });
        made.launches += 1;
        if how == How::CopiesAndStores {
            made.how = how;
        }
        if iterations < 1 {
            made.idle += 1;
            return Some(());
        }
        let last = first + iterations - 1;
        made.iterations = Some(match made.iterations {
            Some((earliest, latest)) => (earliest.min(first), latest.max(last)),
            None => (first, last),
        });
        Some(())
    }
}

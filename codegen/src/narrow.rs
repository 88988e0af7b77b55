//! Kernels that count in 32 bits, where sizes allow it.
//!
//! Rewrite: `launch K -> if n <= 2^28 && n * m < 2^31 { launch K_32 } else { launch K }`
//!
//! Both have the same body. The ranges of all integers that the text of a kernel computes follow from a limit on the
//! parameters, by interval arithmetic; the largest limit under which all of them fit becomes the condition. Places in a buffer
//! need no such proof: subscripts are inside, so the products stay below the number of elements, and that is tested.

mod range;

use crate::input::Input;
use crate::int_expr::{Cond, IntExpr};
use crate::names::Namer;
use crate::params::params_of;
use crate::program::{Kernel, KernelId, KernelParam, Node, Over, Program, Statement, Width};
use range::{Range, Ranges, Width32};
use std::collections::{BTreeMap, BTreeSet};
use tessella_polyhedral::affine::ParamId;
use tessella_polyhedral::algorithm::{ParamOrigin, Subscript};
use tessella_polyhedral::expr::ExprKind;
use tessella_polyhedral::layers::BufferId;
use tessella_scalar::CompareOp;

/// Limits of the parameters that are tried, as powers of two.
const LIMITS: std::ops::RangeInclusive<u32> = 14..=30;

/// Adds a version of 32 bits to each kernel that allows it, and the choice to each launch.
pub fn add_narrow_kernels(input: &Input<'_>, program: &mut Program, namer: &mut Namer) {
    let mut limits: Vec<Option<Limit>> = vec![None; program.kernels.len()];
    for bits in LIMITS.rev() {
        let limit = 1i64 << bits;
        let mut fitting = BTreeMap::new();
        let mut visit = Launches { input, program, fitting: &mut fitting };
        visit.nodes(&program.body, &mut Ranges::new(input, limit));
        for (id, params) in fitting {
            limits[id.0 as usize].get_or_insert(Limit { most: limit, params });
        }
        if limits.iter().all(Option::is_some) {
            break;
        }
    }
    let mut kernels = vec![];
    let mut choices: Vec<Choice> = vec![];
    for (kernel, limit) in std::mem::take(&mut program.kernels).into_iter().zip(limits) {
        let here = KernelId(kernels.len() as u32);
        let condition = limit.map(|limit| condition(input, &kernel, &limit));
        match condition {
            None => {
                kernels.push(kernel);
                choices.push(Choice { wide: here, narrow: None });
            }
            Some(Cond::Const(true)) => {
                kernels.push(Kernel { width: Width::Narrow, ..kernel });
                choices.push(Choice { wide: here, narrow: None });
            }
            Some(condition) => {
                let name = namer.fresh(&format!("{}_32", kernel.name));
                let narrow = Kernel { name, width: Width::Narrow, ..kernel.clone() };
                kernels.extend([kernel, narrow]);
                choices.push(Choice { wide: here, narrow: Some((condition, KernelId(here.0 + 1))) });
            }
        }
    }
    for kernel in &mut kernels {
        kernel.same_as = kernel.same_as.map(|same| choices[same.0 as usize].wide);
    }
    program.kernels = kernels;
    program.body = chosen(std::mem::take(&mut program.body), &choices);
}

/// What lets a kernel count in 32 bits.
#[derive(Clone)]
struct Limit {
    /// Of each parameter's distance from zero.
    most: i64,
    /// The parameters on which the kernel's integers depend.
    params: BTreeSet<ParamId>,
}

/// The kernels that one became.
struct Choice {
    wide: KernelId,
    narrow: Option<(Cond, KernelId)>,
}

fn chosen(nodes: Vec<Node>, choices: &[Choice]) -> Vec<Node> {
    let one = |node: Node| match node {
        Node::Launch(id) => match &choices[id.0 as usize] {
            Choice { wide, narrow: None } => Node::Launch(*wide),
            Choice { wide, narrow: Some((condition, narrow)) } => Node::If {
                condition: condition.clone(),
                then: vec![Node::Launch(*narrow)],
                otherwise: vec![Node::Launch(*wide)],
            },
        },
        Node::For(mut it) => {
            it.body = chosen(it.body, choices);
            Node::For(it)
        }
        Node::If { condition, then, otherwise } => {
            Node::If { condition, then: chosen(then, choices), otherwise: chosen(otherwise, choices) }
        }
        Node::Declare { buffer, body } => Node::Declare { buffer, body: chosen(body, choices) },
        Node::Together { kernel, apart } => {
            let apart = chosen(apart, choices);
            match &choices[kernel.0 as usize] {
                Choice { wide, narrow: None } => Node::Together { kernel: *wide, apart },
                Choice { wide, narrow: Some((condition, narrow)) } => Node::If {
                    condition: condition.clone(),
                    then: vec![Node::Together { kernel: *narrow, apart: apart.clone() }],
                    otherwise: vec![Node::Together { kernel: *wide, apart }],
                },
            }
        }
        // These hold no launches.
        other @ (Node::Let { .. }
        | Node::Statement(_)
        | Node::Copy { .. }
        | Node::Spread(_)
        | Node::OneThread { .. }
        | Node::Turns(_)
        | Node::Barrier
        | Node::GridBarrier
        | Node::Await(_)
        | Node::Tile(_)
        | Node::Streaming(_)) => other,
    };
    nodes.into_iter().map(one).collect()
}

/// When 32 bits are enough: every parameter is within the limit, and no buffer has more elements.
fn condition(input: &Input<'_>, kernel: &Kernel, limit: &Limit) -> Cond {
    let mut all = vec![];
    let mut params = limit.params.clone();
    let buffers = buffers_of(input, kernel);
    let extents = buffers.iter().flat_map(|buffer| &input.layout.buffer(*buffer).extents);
    extents.for_each(|extent| params_of(extent, &mut params));
    for param in params {
        match input.algorithm.params[param.0 as usize].origin {
            ParamOrigin::Extent { .. } => {}
            ParamOrigin::First { .. } | ParamOrigin::Argument(_) | ParamOrigin::Derived(_) => {
                all.push(Cond::compare(CompareOp::Ge, IntExpr::Param(param), IntExpr::Const(-limit.most)));
            }
        }
        all.push(Cond::compare(CompareOp::Le, IntExpr::Param(param), IntExpr::Const(limit.most)));
    }
    let ranges = Ranges::new(input, limit.most);
    for buffer in buffers {
        let extents = &input.layout.buffer(buffer).extents;
        let mut product: Option<IntExpr> = None;
        for extent in extents {
            let extent = input.extent(extent);
            let next = match product.take() {
                // Each test protects the next product: 2^31 * 2^31 fits in 64 bits.
                Some(before) => before.times(extent),
                None => extent,
            };
            let bounded = ranges.of(&next, Width32::Passes).is_some_and(|range| range.fits());
            let test = Cond::compare(CompareOp::Le, next.clone(), IntExpr::Const(i64::from(i32::MAX)));
            if !bounded && !all.contains(&test) {
                all.push(test);
            }
            product = Some(next);
        }
    }
    Cond::all_of(all)
}

/// The buffers whose elements a kernel's text names.
fn buffers_of(input: &Input<'_>, kernel: &Kernel) -> BTreeSet<BufferId> {
    let mut buffers = BTreeSet::new();
    for node in &kernel.body {
        node.walk(&mut |node| {
            if let Node::Statement(it) = node {
                buffers.extend(input.used_accesses(it.computation).iter().map(|access| input.buffer_of(access.array)));
            }
        });
    }
    buffers
}

/// Finds the kernels that fit in 32 bits wherever they are launched.
struct Launches<'a> {
    input: &'a Input<'a>,
    program: &'a Program,
    /// With the parameters that matter.
    fitting: &'a mut BTreeMap<KernelId, BTreeSet<ParamId>>,
}

impl Launches<'_> {
    fn nodes(&mut self, nodes: &[Node], ranges: &mut Ranges) {
        for node in nodes {
            match node {
                Node::Launch(id) => self.launch(*id, ranges),
                Node::Together { kernel, apart } => {
                    self.launch(*kernel, ranges);
                    self.nodes(apart, &mut ranges.clone());
                }
                Node::For(it) => {
                    let bounds = (ranges.of(&it.lower, Width32::Passes), ranges.of(&it.upper, Width32::Passes));
                    ranges.set(it.variable, Range::between(bounds.0, bounds.1), &[&it.lower, &it.upper]);
                    self.nodes(&it.body, ranges);
                }
                Node::Let { variable, value } => {
                    let range = ranges.of(value, Width32::Passes);
                    ranges.set(*variable, range, &[value]);
                }
                Node::If { then, otherwise, .. } => {
                    self.nodes(then, &mut ranges.clone());
                    self.nodes(otherwise, &mut ranges.clone());
                }
                Node::Declare { body, .. } => self.nodes(body, ranges),
                Node::Statement(_)
                | Node::Copy { .. }
                | Node::Spread(_)
                | Node::OneThread { .. }
                | Node::Turns(_)
                | Node::Barrier
                | Node::GridBarrier
                | Node::Await(_)
                | Node::Tile(_)
                | Node::Streaming(_) => {}
            }
        }
    }

    fn launch(&mut self, id: KernelId, ranges: &Ranges) {
        let kernel = self.program.kernel(id);
        if kernel_fits(self.input, kernel, &mut ranges.clone()).is_none() {
            return;
        }
        let params: &mut BTreeSet<ParamId> = self.fitting.entry(id).or_default();
        for param in &kernel.params {
            match *param {
                KernelParam::Param(param) => ranges.params_of(&IntExpr::Param(param), params),
                KernelParam::Variable(it) => ranges.params_of(&IntExpr::Variable(it), params),
                KernelParam::Buffer { .. } | KernelParam::Scalar(_) => {}
            }
        }
        kernel.grid.iter().for_each(|extent| ranges.params_of(extent, params));
    }
}

/// `Some` if all that a kernel computes fits.
fn kernel_fits(input: &Input<'_>, kernel: &Kernel, ranges: &mut Ranges) -> Option<()> {
    for param in &kernel.params {
        match *param {
            KernelParam::Param(param) => drop(ranges.of(&IntExpr::Param(param), Width32::Holds)?),
            KernelParam::Variable(variable) => drop(ranges.of(&IntExpr::Variable(variable), Width32::Holds)?),
            // A scalar has the type that it has in the source.
            KernelParam::Buffer { .. } | KernelParam::Scalar(_) => {}
        }
    }
    nodes_fit(input, (&kernel.grid, kernel.block), &kernel.body, ranges)
}

/// The shape is the numbers of blocks and of threads along each axis.
fn nodes_fit(input: &Input<'_>, shape: (&[IntExpr; 3], [u32; 3]), nodes: &[Node], ranges: &mut Ranges) -> Option<()> {
    for node in nodes {
        match node {
            // Bounds that are data are compared in 64 bits.
            Node::For(it) if it.clip.is_some() => return None,
            Node::For(it) => {
                let (lower, upper) = (ranges.of(&it.lower, Width32::Holds)?, ranges.of(&it.upper, Width32::Holds)?);
                // The variable ends one step behind the last value.
                upper.plus(Range::one(it.step)).filter(Range::fits)?;
                ranges.set(it.variable, Range::between(Some(lower), Some(upper)), &[&it.lower, &it.upper]);
                nodes_fit(input, shape, &it.body, ranges)?;
            }
            Node::Spread(it) => {
                let (lower, upper) = (ranges.of(&it.lower, Width32::Holds)?, ranges.of(&it.upper, Width32::Holds)?);
                let count = match it.over {
                    // Evaluated on the host, in 64 bits.
                    Over::Blocks => ranges.of(&shape.0[it.axis as usize], Width32::Passes)?,
                    Over::Threads => Range::one(i64::from(shape.1[it.axis as usize])),
                };
                let reach = Range::one(it.step).times(count)?.or(Range::one(0));
                lower.plus(reach).filter(Range::fits)?;
                upper.plus(reach).filter(Range::fits)?;
                ranges.set(it.variable, Range::between(Some(lower), Some(upper)), &[&it.lower, &it.upper]);
                nodes_fit(input, shape, &it.body, ranges)?;
            }
            Node::If { condition, then, otherwise } => {
                ranges.condition(condition, Width32::Holds)?;
                nodes_fit(input, shape, then, &mut ranges.clone())?;
                nodes_fit(input, shape, otherwise, &mut ranges.clone())?;
            }
            Node::Let { variable, value } => {
                let range = ranges.of(value, Width32::Holds)?;
                ranges.set(*variable, Some(range), &[value]);
            }
            Node::Statement(it) => statement_fits(input, it, ranges)?,
            Node::Declare { body, .. } | Node::OneThread { body, .. } => nodes_fit(input, shape, body, ranges)?,
            Node::Turns(it) => {
                for extent in &it.grid {
                    ranges.of(extent, Width32::Holds)?;
                }
                nodes_fit(input, (&it.grid, shape.1), &it.body, ranges)?;
            }
            Node::Barrier | Node::GridBarrier | Node::Await(_) => {}
            Node::Launch(_) | Node::Together { .. } | Node::Copy { .. } | Node::Tile(_) | Node::Streaming(_) => {
                return None;
            }
        }
    }
    Some(())
}

fn statement_fits(input: &Input<'_>, it: &Statement, ranges: &mut Ranges) -> Option<()> {
    for (variable, value) in &it.bindings {
        let range = ranges.of(value, Width32::Holds)?;
        ranges.set(*variable, Some(range), &[value]);
    }
    let iterators: Vec<IntExpr> =
        it.iterators.iter().map(|at| at.map_or(IntExpr::Const(0), IntExpr::Variable)).collect();
    let mut fits = true;
    for expr in input.expressions(it.computation) {
        expr.walk(&mut |expr| {
            if let ExprKind::Index(affine) = &expr.kind {
                fits &= ranges.of(&IntExpr::from_affine(affine, &iterators), Width32::Holds).is_some();
            }
        });
    }
    for access in input.used_accesses(it.computation) {
        let mut subscripts: Vec<Option<IntExpr>> = vec![];
        for subscript in &access.subscripts {
            subscripts.push(match subscript {
                Subscript::Affine(affine) => Some(IntExpr::from_affine(affine, &iterators)),
                // Computed in the type that the source gives it, and inside of the array.
                Subscript::Computed(_) => None,
            });
        }
        let placement = input.layout.placement(access.array);
        let extents = &input.layout.buffer(placement.buffer).extents;
        for extent in extents {
            fits &= ranges.of(&input.extent(extent), Width32::Holds).is_some();
        }
        fits &= subscripts.iter().flatten().all(|it| ranges.of(it, Width32::Holds).is_some());
        // 1 is inside of every array that is accessed.
        let known: Vec<IntExpr> = subscripts.into_iter().map(|it| it.unwrap_or(IntExpr::Const(1))).collect();
        fits &= placement.map.iter().all(|it| ranges.of(&IntExpr::from_affine(it, &known), Width32::Holds).is_some());
    }
    fits.then_some(())
}

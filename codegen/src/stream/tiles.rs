//! One launch for all steps of a time loop, whose blocks keep their tiles of the domain.
//!
//! ```text
//! if as many blocks as a Hopper GPU runs hold the domain { kernel } else { launches that stream }
//! if as many blocks as a Hopper GPU runs hold the domain { kernel } else { kernel, with tiles as high as they can be }
//! ```
//!
//! The second form is that of loops that must not stream. Its last launch takes the fewest blocks, for devices that run fewer of them; a call
//! for which these are too many is refused ([`crate::plan::LaunchPlan::required`]).

use super::{Residing, Streaming, parts};
use crate::input::Input;
use crate::int_expr::{Cond, IntExpr, VariableId};
use crate::names::Names;
use crate::params::params_of_stream;
use crate::program::{Blocks, BufferAccess, Kernel, KernelId, KernelParam, Node, Width};
use tessella_polyhedral::machine::Gpu;
use tessella_polyhedral::stream::{LANES, Resident};
use tessella_scalar::CompareOp;

/// Blocks of a Hopper GPU: one on each multiprocessor.
const BLOCKS: i64 = Gpu::HOPPER.multiprocessors as i64;

/// How all steps of a time loop become one launch.
pub(super) struct Tiles<'a> {
    pub it: Streaming,
    pub residing: Residing,
    pub resident: &'a Resident,
    /// Becomes the number of tiles along the last axis.
    pub share: VariableId,
    /// The first value of the time loop's variable, and how many there are.
    pub from: IntExpr,
    pub iterations: IntExpr,
    pub name: String,
}

impl Tiles<'_> {
    /// The kernel, with a grid for a Hopper GPU: no blocks where these cannot hold the domain.
    pub fn usual(&self, input: &Input<'_>, names: &Names, kernels: &mut Vec<Kernel>) -> KernelId {
        let rows = IntExpr::variable(self.residing.rows);
        let [_, _, along] = self.it.resident_grid(self.resident, rows.clone());
        let fits = [
            Cond::compare(CompareOp::Le, self.across(), IntExpr::Const(BLOCKS)),
            Cond::compare(CompareOp::Le, rows, IntExpr::Const(self.most_rows())),
        ];
        let grid = if_all(self.points_exist().into_iter().chain(fits), self.across().times(along));
        self.kernel(input, names, self.it.clone(), grid, None, kernels)
    }

    /// The launch of the same kernel with the fewest blocks that hold the domain, whose rows this variable becomes.
    pub fn fewest(
        &self,
        input: &Input<'_>,
        names: &Names,
        usual: KernelId,
        rows: VariableId,
        kernels: &mut Vec<Kernel>,
    ) -> Vec<Node> {
        let it = Streaming { residing: Some(Residing { rows, ..self.residing }), ..self.it.clone() };
        let [_, _, along] = it.resident_grid(self.resident, IntExpr::Const(self.most_rows()));
        let steps_exist = Cond::compare(CompareOp::Gt, self.iterations.clone(), IntExpr::Const(0));
        let exist = std::iter::once(steps_exist).chain(self.points_exist());
        let grid = if_all(exist, self.across().times(along));
        let kernel = self.kernel(input, names, it, grid, Some(usual), kernels);
        let value = IntExpr::Const(self.most_rows());
        vec![Node::Let { variable: rows, value }, Node::Together { kernel, apart: vec![] }]
    }

    /// All steps: in the usual launch, or the other way.
    pub fn launches(&self, usual: KernelId, elsewhere: Vec<Node>) -> Vec<Node> {
        let Residing { count, turns, rows } = self.residing;
        let get = IntExpr::variable;
        let set = |variable: VariableId, value: IntExpr| Node::Let { variable, value };
        let one = |number: IntExpr| IntExpr::max_of([IntExpr::Const(1), number]);
        let all_rows = self.it.rows().plus(get(self.share)).minus(IntExpr::Const(1));
        let mut then = Vec::from_iter(turns.map(|turns| set(turns, self.iterations.clone())));
        then.extend([
            set(self.share, one(IntExpr::Const(BLOCKS).over(one(self.across())))),
            set(rows, one(all_rows.over(get(self.share)))),
            set(self.it.first, self.from.clone()),
            Node::Together { kernel: usual, apart: elsewhere },
        ]);
        let condition = Cond::compare(CompareOp::Gt, get(count), IntExpr::Const(0));
        let steps = parts(self.iterations.clone(), self.it.stream.period);
        vec![set(count, steps), Node::If { condition, then, otherwise: vec![] }]
    }

    /// Tiles beside each other across the last axis.
    fn across(&self) -> IntExpr {
        let [strips, bands, _] = self.it.resident_grid(self.resident, IntExpr::Const(1));
        if self.it.stream.axes[1].is_some() { strips.times(bands) } else { strips }
    }

    /// Rows, or planes, that a block may own at most.
    fn most_rows(&self) -> i64 {
        let (stream, resident) = (&self.it.stream, self.resident);
        resident.rows_of_block(stream, resident.rows(stream)) / resident.lines(stream) - resident.rows_beside()
    }

    /// The domain has points.
    fn points_exist(&self) -> Vec<Cond> {
        let extents = [0, 1, 2].map(|axis| self.it.widest(axis));
        let unknown = extents.into_iter().filter(|extent| extent.as_const().is_none());
        unknown.map(|extent| Cond::compare(CompareOp::Gt, extent, IntExpr::Const(0))).collect()
    }

    fn kernel(
        &self,
        input: &Input<'_>,
        names: &Names,
        it: Streaming,
        grid: IntExpr,
        same_as: Option<KernelId>,
        kernels: &mut Vec<Kernel>,
    ) -> KernelId {
        let mut params = vec![];
        for (field, &(own, other)) in it.buffers.iter().enumerate() {
            let exchanged = self.resident.exchanged[field].then_some(other);
            let all = std::iter::once(own).chain(exchanged);
            params.extend(all.map(|buffer| KernelParam::Buffer { buffer, access: BufferAccess::Write }));
        }
        let mut params = super::once_each(params);
        params.extend(params_of_stream(input, names, &it));
        let dynamic = self.resident.shared_bytes(input.algorithm, &it.stream);
        kernels.push(Kernel {
            name: self.name.clone(),
            grid: [grid, IntExpr::Const(1), IntExpr::Const(1)],
            block: [LANES * self.resident.size.warps, 1, 1],
            params,
            shared: vec![],
            dynamic: u32::try_from(dynamic).expect("checked against what a block may have"),
            same_as,
            warps: false,
            width: Width::Wide,
            blocks: Blocks::Resident,
            body: vec![Node::Streaming(Box::new(it))],
        });
        KernelId(kernels.len() as u32 - 1)
    }
}

/// A number of blocks where all of these hold, else none.
fn if_all(conditions: impl Iterator<Item = Cond>, blocks: IntExpr) -> IntExpr {
    match Cond::all_of(conditions) {
        Cond::Const(true) => blocks,
        condition => IntExpr::Select(Box::new(condition), Box::new(blocks), Box::new(IntExpr::Const(0))),
    }
}

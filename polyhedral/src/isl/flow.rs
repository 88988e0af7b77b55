//! Questions to isl about dependences and automatic schedules, stated as plain structs.

use super::ctx::Ctx;
use super::error::IslError;
use super::macros::{Object, Returned};
use super::schedule::Schedule;
use super::set::Set;
use super::union::{UnionMap, UnionSet};

/// When instances execute.
#[derive(Debug, Clone)]
pub enum ExecutionOrder {
    /// By a schedule tree.
    Tree(Schedule),
    /// By a map to time, compared lexicographically.
    Map(UnionMap),
}

/// Which instances last wrote, or may have written, what each sink instance accesses.
#[derive(Debug, Clone)]
pub struct FlowQuery {
    /// The accesses asked about: instances to elements.
    pub sink: UnionMap,
    /// Accesses that certainly happen.
    pub must_source: Option<UnionMap>,
    /// Accesses that may happen.
    pub may_source: Option<UnionMap>,
    /// Accesses that end all flow through them, without being sources.
    pub kill: Option<UnionMap>,
    /// The order of execution.
    pub order: ExecutionOrder,
}

/// The answer to a [`FlowQuery`].
#[derive(Debug, Clone)]
pub struct Flow {
    /// From certain source instances to sink instances.
    pub must_dependence: UnionMap,
    /// From possible, including certain, source instances to sink instances.
    pub may_dependence: UnionMap,
    /// As `must_dependence`, with the element: `source -> [sink -> element]`.
    pub full_must_dependence: UnionMap,
    /// As `may_dependence`, with the element: `source -> [sink -> element]`.
    pub full_may_dependence: UnionMap,
    /// Sink accesses without any certain source.
    pub must_no_source: UnionMap,
    /// Sink accesses that may lack a source.
    pub may_no_source: UnionMap,
}

/// What an automatic schedule must and should respect.
#[derive(Debug, Clone)]
pub struct ScheduleConstraints {
    /// The instances to be ordered.
    pub domain: UnionSet,
    /// What is known of the parameters.
    pub context: Option<Set>,
    /// Pairs in which the first must execute before the second.
    pub validity: Option<UnionMap>,
    /// Pairs that make a member coincident when it sends both to one value.
    pub coincidence: Option<UnionMap>,
    /// Pairs that should be close.
    pub proximity: Option<UnionMap>,
    /// Condition and validity: the second holds unless the adjacent pairs of the first coincide.
    pub conditional_validity: Option<(UnionMap, UnionMap)>,
}

unsafe extern "C" {
    fn isl_union_access_info_from_sink(sink: usize) -> usize;
    fn isl_union_access_info_set_must_source(info: usize, source: usize) -> usize;
    fn isl_union_access_info_set_may_source(info: usize, source: usize) -> usize;
    fn isl_union_access_info_set_kill(info: usize, kill: usize) -> usize;
    fn isl_union_access_info_set_schedule(info: usize, schedule: usize) -> usize;
    fn isl_union_access_info_set_schedule_map(info: usize, schedule: usize) -> usize;
    fn isl_union_access_info_compute_flow(info: usize) -> usize;
    fn isl_union_flow_get_must_dependence(flow: usize) -> usize;
    fn isl_union_flow_get_may_dependence(flow: usize) -> usize;
    fn isl_union_flow_get_full_must_dependence(flow: usize) -> usize;
    fn isl_union_flow_get_full_may_dependence(flow: usize) -> usize;
    fn isl_union_flow_get_must_no_source(flow: usize) -> usize;
    fn isl_union_flow_get_may_no_source(flow: usize) -> usize;
    fn isl_schedule_constraints_on_domain(domain: usize) -> usize;
    fn isl_schedule_constraints_set_context(constraints: usize, context: usize) -> usize;
    fn isl_schedule_constraints_set_validity(constraints: usize, pairs: usize) -> usize;
    fn isl_schedule_constraints_set_coincidence(constraints: usize, pairs: usize) -> usize;
    fn isl_schedule_constraints_set_proximity(constraints: usize, pairs: usize) -> usize;
    fn isl_schedule_constraints_set_conditional_validity(
        constraints: usize,
        condition: usize,
        validity: usize,
    ) -> usize;
    fn isl_schedule_constraints_compute_schedule(constraints: usize) -> usize;
}

impl FlowQuery {
    /// Computes the flow.
    pub fn compute(&self) -> Result<Flow, IslError> {
        let ctx = self.sink.ctx();
        let sources = [&self.must_source, &self.may_source, &self.kill];
        let (tree, map) = match &self.order {
            ExecutionOrder::Tree(tree) => (Some(tree), None),
            ExecutionOrder::Map(map) => (None, Some(map)),
        };
        check_all(ctx, sources.into_iter().flatten())?;
        check_all(ctx, tree)?;
        check_all(ctx, map)?;
        // SAFETY: each step takes the query and a copied reference of this context, and gives the query or null,
        // which every later step passes on; the flow is owned by the handle.
        let flow = unsafe {
            let mut query = isl_union_access_info_from_sink(self.sink.copy_ptr());
            query = with(query, self.must_source.as_ref(), isl_union_access_info_set_must_source);
            query = with(query, self.may_source.as_ref(), isl_union_access_info_set_may_source);
            query = with(query, self.kill.as_ref(), isl_union_access_info_set_kill);
            query = with(query, tree, isl_union_access_info_set_schedule);
            query = with(query, map, isl_union_access_info_set_schedule_map);
            isl_rs::UnionFlow { ptr: isl_union_access_info_compute_flow(query), should_free_on_drop: true }
        };
        if flow.ptr == 0 {
            return Err(ctx.take_error());
        }
        let part = |get: unsafe extern "C" fn(usize) -> usize| {
            // SAFETY: the getter keeps the flow and gives a union map.
            ctx.settle(unsafe { UnionMap::from_c(ctx, get(flow.ptr)) })
        };
        Ok(Flow {
            must_dependence: part(isl_union_flow_get_must_dependence)?,
            may_dependence: part(isl_union_flow_get_may_dependence)?,
            full_must_dependence: part(isl_union_flow_get_full_must_dependence)?,
            full_may_dependence: part(isl_union_flow_get_full_may_dependence)?,
            must_no_source: part(isl_union_flow_get_must_no_source)?,
            may_no_source: part(isl_union_flow_get_may_no_source)?,
        })
    }
}

impl ScheduleConstraints {
    /// Constraints that ask for nothing but the domain.
    pub fn on_domain(domain: UnionSet) -> Self {
        Self { domain, context: None, validity: None, coincidence: None, proximity: None, conditional_validity: None }
    }

    /// Computes a schedule that respects them.
    pub fn compute_schedule(&self) -> Result<Schedule, IslError> {
        let ctx = self.domain.ctx();
        check_all(ctx, &self.context)?;
        check_all(ctx, [&self.validity, &self.coincidence, &self.proximity].into_iter().flatten())?;
        check_all(ctx, self.conditional_validity.iter().flat_map(|(condition, validity)| [condition, validity]))?;
        // SAFETY: each step takes the constraints and copied references of this context, and gives the constraints or
        // null, which every later step passes on; the schedule is given to us.
        let schedule = unsafe {
            let mut all = isl_schedule_constraints_on_domain(self.domain.copy_ptr());
            all = with(all, self.context.as_ref(), isl_schedule_constraints_set_context);
            all = with(all, self.validity.as_ref(), isl_schedule_constraints_set_validity);
            all = with(all, self.coincidence.as_ref(), isl_schedule_constraints_set_coincidence);
            all = with(all, self.proximity.as_ref(), isl_schedule_constraints_set_proximity);
            if let Some((condition, validity)) = &self.conditional_validity {
                all = isl_schedule_constraints_set_conditional_validity(all, condition.copy_ptr(), validity.copy_ptr());
            }
            Schedule::from_c(ctx, isl_schedule_constraints_compute_schedule(all))
        };
        ctx.settle(schedule)
    }
}

fn check_all<'a, T: Object + 'a>(ctx: &Ctx, objects: impl IntoIterator<Item = &'a T>) -> Result<(), IslError> {
    objects.into_iter().try_for_each(|object| ctx.check_same(object.ctx()))
}

/// # Safety
/// `set` takes both references, gives one, and `value` lives in the context of `to`.
unsafe fn with<T: Object>(to: usize, value: Option<&T>, set: unsafe extern "C" fn(usize, usize) -> usize) -> usize {
    match value {
        // SAFETY: by the caller's word.
        Some(value) => unsafe { set(to, value.copy_ptr()) },
        None => to,
    }
}

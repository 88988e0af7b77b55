//! Which steps of a plan the device may do at once.
//!
//! Copies to the device, kernels, and copies back go to a queue each. What one queue does is done in order; of two queues, a
//! step waits for an event of another where both touch the same memory and one of them writes, unless that order is there
//! already: through the queue's own order, or through events that were waited for before.
//!
//! What is known at a place of the plan is what holds whichever way conditions go and however often loops run. An event
//! that was recorded again and again stands for the last time, one that was never recorded for nothing.

use super::{Event, LaunchPlan, Queue, Queues, Step};
use crate::plan::{DeviceMemory, HostSide};
use crate::program::{BufferAccess, KernelId, KernelParam};
use std::collections::{BTreeMap, BTreeSet};
use tessella_polyhedral::algorithm::ArrayId;
use tessella_polyhedral::layers::{BufferId, Direction};

/// The same plan with a queue for each direction, where something overlaps then; else the plan as it is.
///
/// Copies to the device move to where they are needed first, as the host waits for them, and kernels that do not need them run
/// meanwhile. Copies back move behind kernels that do not touch what they read, for the same reason, and begin with
/// what is finished first.
pub fn overlapping(plan: LaunchPlan) -> LaunchPlan {
    let mut places = Places::new(&plan);
    let Some(mut items) = places.items(&plan.steps) else { return plan };
    places.reorder(&mut items);
    let mut found = Found::default();
    let mut known = Known::new(places.sites.len());
    run(&places.sites, &items, &mut known, &mut found);
    if !found.overlaps.values().any(|&overlaps| overlaps) {
        return plan;
    }
    let mut events = BTreeMap::new();
    let awaited: BTreeSet<usize> = found.waits.values().flatten().copied().collect();
    number(&items, &awaited, &mut events);
    let steps = steps(&places.sites, &items, &found.waits, &events);
    LaunchPlan { steps, queues: Queues::Apart { events: events.len() as u32 }, ..plan }
}

/// Memory that steps touch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Device(BufferId),
    Host(ArrayId),
    /// Memory that is freed, and may be given to another buffer, while the call goes on.
    Spare,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Touched {
    place: Place,
    access: BufferAccess,
}

fn conflict(one: &[Touched], other: &[Touched]) -> bool {
    one.iter().any(|a| other.iter().any(|b| a.place == b.place && [a.access, b.access].contains(&BufferAccess::Write)))
}

/// A condition on several launches as one on each of them, so that they need not all wait for what one of them needs: the kernels for large
/// sizes of several nests stand in one branch, those for small ones in the other.
fn on_each_launch(step: &Step) -> Vec<Step> {
    let Step::If { condition, then, otherwise } = step else { return vec![step.clone()] };
    let most = then.len().max(otherwise.len());
    // What a variable holds is for the steps behind it.
    let stands_alone = |it: &Step| it.only_launches() && !matches!(it, Step::Let { .. });
    if most < 2 || !then.iter().chain(otherwise).all(stands_alone) {
        return vec![step.clone()];
    }
    let of = |branch: &[Step], at: usize| branch.get(at).cloned().into_iter().collect();
    let one = |at| Step::If { condition: condition.clone(), then: of(then, at), otherwise: of(otherwise, at) };
    (0..most).map(one).collect()
}

/// A step of one queue: a single one, or a loop or a condition all of whose steps are of that queue.
struct Site {
    queue: Queue,
    touched: Vec<Touched>,
}

enum Item {
    /// By the number of its site.
    Queued(usize, Step),
    /// What the host does by itself.
    Host(Step, Vec<Touched>),
    /// The host waits for all queues.
    Synchronize,
    /// The loop without its body.
    Loop(Step, Vec<Item>),
    /// The condition without its branches.
    Branch(Step, Vec<Item>, Vec<Item>),
}

struct Places<'a> {
    plan: &'a LaunchPlan,
    sites: Vec<Site>,
    /// The buffers that do not live as long as the call.
    short: BTreeSet<BufferId>,
}

impl<'a> Places<'a> {
    fn new(plan: &'a LaunchPlan) -> Places<'a> {
        let is_end = |step: &&Step| matches!(step, Step::Allocate(_) | Step::Free(_));
        let allocated = plan.steps.iter().take_while(is_end).filter_map(|step| match step {
            Step::Allocate(buffer) => Some(*buffer),
            _ => None,
        });
        let freed = plan.steps.iter().rev().take_while(is_end).filter_map(|step| match step {
            Step::Free(buffer) => Some(*buffer),
            _ => None,
        });
        let freed: BTreeSet<BufferId> = freed.collect();
        let whole: BTreeSet<BufferId> = allocated.filter(|buffer| freed.contains(buffer)).collect();
        let is_short = |id: &BufferId| !whole.contains(id);
        let allocated = plan.buffers.iter().filter(|it| it.memory == DeviceMemory::Allocated);
        let short = allocated.map(|it| it.id).filter(is_short).collect();
        Places { plan, sites: vec![], short }
    }

    /// `None` where a step is of no one queue and of no known kind.
    fn items(&mut self, steps: &[Step]) -> Option<Vec<Item>> {
        steps.iter().flat_map(on_each_launch).map(|step| self.item(&step)).collect()
    }

    fn item(&mut self, step: &Step) -> Option<Item> {
        let (mut queues, mut touched, mut is_queued) = (BTreeSet::new(), BTreeSet::new(), true);
        self.of(step, &mut queues, &mut touched, &mut is_queued);
        if let (true, &[queue]) = (is_queued, queues.iter().copied().collect::<Vec<_>>().as_slice()) {
            self.sites.push(Site { queue, touched: touched.into_iter().collect() });
            return Some(Item::Queued(self.sites.len() - 1, step.clone()));
        }
        match step {
            Step::Synchronize => Some(Item::Synchronize),
            Step::Allocate(_) | Step::Free(_) | Step::Let { .. } => {
                Some(Item::Host(step.clone(), touched.into_iter().collect()))
            }
            Step::For { variable, lower, upper, step, going, body } if going.is_empty() => {
                let (lower, upper, going) = (lower.clone(), upper.clone(), vec![]);
                let head = Step::For { variable: *variable, lower, upper, step: *step, going, body: vec![] };
                Some(Item::Loop(head, self.items(body)?))
            }
            Step::If { condition, then, otherwise } => {
                let head = Step::If { condition: condition.clone(), then: vec![], otherwise: vec![] };
                Some(Item::Branch(head, self.items(then)?, self.items(otherwise)?))
            }
            Step::CopyIn(_)
            | Step::CopyOut(_)
            | Step::CopyPart { .. }
            | Step::Clear(_)
            | Step::LeaveIf(_)
            | Step::Launch(_)
            | Step::Together { .. }
            | Step::For { .. }
            | Step::Record { .. }
            | Step::Wait { .. } => None,
        }
    }

    /// The queues of all that is in a step, and what it touches; and whether all that it does is queued.
    fn of(&self, step: &Step, queues: &mut BTreeSet<Queue>, touched: &mut BTreeSet<Touched>, is_queued: &mut bool) {
        let mut all = |steps: &[Step]| steps.iter().for_each(|step| self.of(step, queues, touched, is_queued));
        match step {
            Step::For { body, going, .. } => {
                all(body);
                *is_queued &= going.is_empty();
            }
            Step::If { then, otherwise, .. } => {
                all(then);
                all(otherwise);
            }
            Step::Let { .. } => {}
            Step::Together { kernel, apart } => {
                all(apart);
                queues.insert(Queue::Kernels);
                touched.extend(self.launch(*kernel));
            }
            Step::Launch(kernel) => {
                queues.insert(Queue::Kernels);
                touched.extend(self.launch(*kernel));
            }
            Step::CopyIn(buffer) | Step::CopyPart { buffer, direction: Direction::HostToDevice, .. } => {
                queues.insert(Queue::In);
                touched.extend(self.copy(*buffer, BufferAccess::Write));
            }
            Step::CopyOut(buffer) | Step::CopyPart { buffer, direction: Direction::DeviceToHost, .. } => {
                queues.insert(Queue::Out);
                touched.extend(self.copy(*buffer, BufferAccess::Read));
            }
            Step::Allocate(buffer) | Step::Free(buffer) => {
                *is_queued = false;
                touched.insert(Touched { place: Place::Device(*buffer), access: BufferAccess::Write });
            }
            Step::Clear(_) | Step::LeaveIf(_) | Step::Synchronize | Step::Record { .. } | Step::Wait { .. } => {
                *is_queued = false;
            }
        }
    }

    fn launch(&self, kernel: KernelId) -> Vec<Touched> {
        let params = self.plan.kernels.get(kernel.0 as usize).map_or(&[][..], |it| &it.arguments);
        let buffers = params.iter().filter_map(|param| match *param {
            KernelParam::Buffer { buffer, access } => Some((buffer, access)),
            KernelParam::Param(_) | KernelParam::Scalar(_) | KernelParam::Variable(_) => None,
        });
        // Kernels name constants without being given them.
        let constants = self.plan.buffers.iter().filter(|it| it.memory == DeviceMemory::Constant);
        let all = buffers.chain(constants.map(|it| (it.id, BufferAccess::Read)));
        all.flat_map(|(buffer, access)| self.device(buffer, access)).collect()
    }

    fn copy(&self, buffer: BufferId, on_device: BufferAccess) -> Vec<Touched> {
        let on_host = match on_device {
            BufferAccess::Read => BufferAccess::Write,
            BufferAccess::Write => BufferAccess::Read,
        };
        let host = match self.plan.buffer(buffer).map_or(HostSide::None, |it| it.host) {
            HostSide::None => None,
            HostSide::Argument(array) | HostSide::Result(array) => Some(array),
        };
        let host = host.map(|array| Touched { place: Place::Host(array), access: on_host });
        self.device(buffer, on_device).chain(host).collect()
    }

    fn device(&self, buffer: BufferId, access: BufferAccess) -> impl Iterator<Item = Touched> {
        let spare = Touched { place: Place::Spare, access: BufferAccess::Write };
        let spare = self.short.contains(&buffer).then_some(spare);
        [Touched { place: Place::Device(buffer), access }].into_iter().chain(spare)
    }

    fn touched(&self, item: &Item) -> Vec<Touched> {
        match item {
            Item::Queued(site, _) => self.sites[*site].touched.clone(),
            Item::Host(_, touched) => touched.clone(),
            Item::Synchronize => vec![],
            Item::Loop(_, body) => body.iter().flat_map(|item| self.touched(item)).collect(),
            Item::Branch(_, then, otherwise) => {
                then.iter().chain(otherwise).flat_map(|item| self.touched(item)).collect()
            }
        }
    }

    fn queue(&self, item: &Item) -> Option<Queue> {
        match item {
            Item::Queued(site, _) => Some(self.sites[*site].queue),
            Item::Host(..) | Item::Synchronize | Item::Loop(..) | Item::Branch(..) => None,
        }
    }

    /// Moves copies, in the block where they stand, past what they have nothing to do with.
    fn reorder(&self, items: &mut Vec<Item>) {
        for item in items.iter_mut() {
            match item {
                Item::Loop(_, body) => self.reorder(body),
                Item::Branch(_, then, otherwise) => {
                    self.reorder(then);
                    self.reorder(otherwise);
                }
                Item::Queued(..) | Item::Host(..) | Item::Synchronize => {}
            }
        }
        self.move_down(items, Queue::In);
        self.move_down(items, Queue::Out);
        self.finished_first(items);
    }

    /// Moves the copies of a queue down to the items before which they are to stand.
    fn move_down(&self, items: &mut Vec<Item>, queue: Queue) {
        let touched: Vec<Vec<Touched>> = items.iter().map(|item| self.touched(item)).collect();
        let mut before: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (at, item) in items.iter().enumerate().filter(|(_, item)| self.queue(item) == Some(queue)) {
            let Item::Queued(..) = item else { continue };
            let to = match queue {
                Queue::In => self.first_need(items, &touched, at),
                Queue::Out | Queue::Kernels => self.behind_kernels(items, &touched, at),
            };
            if let Some(to) = to {
                before.entry(to).or_default().push(at);
            }
        }
        let moved: BTreeSet<usize> = before.values().flatten().copied().collect();
        let mut old: Vec<Option<Item>> = std::mem::take(items).into_iter().map(Some).collect();
        for at in 0..=old.len() {
            for from in before.get(&at).into_iter().flatten() {
                items.extend(old[*from].take());
            }
            if at < old.len() && !moved.contains(&at) {
                items.extend(old[at].take());
            }
        }
    }

    /// The first item after a copy that it must come before, if any.
    fn first_need(&self, items: &[Item], touched: &[Vec<Touched>], at: usize) -> Option<usize> {
        let is_need =
            |&other: &usize| matches!(items[other], Item::Synchronize) || conflict(&touched[at], &touched[other]);
        (at + 1..items.len()).find(is_need)
    }

    /// The place behind the last kernel that a copy back may come after.
    fn behind_kernels(&self, items: &[Item], touched: &[Vec<Touched>], at: usize) -> Option<usize> {
        let may_pass = |&other: &usize| {
            let passes = match (&items[other], self.queue(&items[other])) {
                (_, Some(queue)) => queue != Queue::In,
                (Item::Host(step, _), None) => matches!(step, Step::Let { .. }),
                (Item::Queued(..) | Item::Synchronize | Item::Loop(..) | Item::Branch(..), None) => false,
            };
            passes && !conflict(&touched[at], &touched[other])
        };
        let passed = (at + 1..items.len()).take_while(may_pass);
        passed.filter(|&other| self.queue(&items[other]) == Some(Queue::Kernels)).last().map(|last| last + 1)
    }

    /// Puts copies back that follow each other into the order in which what they read is finished.
    fn finished_first(&self, items: &mut [Item]) {
        let touched: Vec<Vec<Touched>> = items.iter().map(|item| self.touched(item)).collect();
        let finished =
            |at: usize, first: usize| (0..first).rev().find(|&before| conflict(&touched[at], &touched[before]));
        let mut first = 0;
        while first < items.len() {
            let is_out = |at: usize| self.queue(&items[at]) == Some(Queue::Out);
            let end = (first..items.len()).find(|&at| !is_out(at)).unwrap_or(items.len());
            let mut order: Vec<usize> = (first..end).collect();
            let are_apart = order.iter().all(|&a| (first..a).all(|b| !conflict(&touched[a], &touched[b])));
            if are_apart {
                order.sort_by_key(|&at| finished(at, first));
                // The items as they are to stand, one exchange after the other.
                let mut stands: Vec<usize> = (first..end).collect();
                for (place, at) in order.into_iter().enumerate() {
                    let from = stands.iter().position(|&other| other == at).unwrap_or(place);
                    items[first + place..=first + from].rotate_right(1);
                    stands[place..=from].rotate_right(1);
                }
            }
            first = end + 1;
        }
    }
}

/// A set of sites.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Sites(Vec<u64>);

impl Sites {
    fn all(count: usize) -> Sites {
        Sites(vec![u64::MAX; count.div_ceil(64)])
    }

    fn has(&self, site: usize) -> bool {
        self.0[site / 64] >> (site % 64) & 1 == 1
    }

    fn insert(&mut self, site: usize) {
        self.0[site / 64] |= 1 << (site % 64);
    }

    fn remove(&mut self, site: usize) {
        self.0[site / 64] &= !(1 << (site % 64));
    }

    fn unite(&mut self, other: &Sites) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a |= b);
    }

    fn meet(&mut self, other: &Sites) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a &= b);
    }
}

/// What is ordered already at a place of the plan. A site that was not reached yet is, in every respect.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Known {
    /// The sites whose last time is done before whatever comes next to this queue.
    before: BTreeMap<Queue, Sites>,
    /// By site: those whose last time is done before the event of its own last time.
    event: Vec<Sites>,
}

impl Known {
    fn new(count: usize) -> Known {
        let before = Queue::ALL.map(|queue| (queue, Sites::all(count)));
        Known { before: before.into(), event: vec![Sites::all(count); count] }
    }

    fn meet(&mut self, other: &Known) {
        self.before.iter_mut().zip(other.before.values()).for_each(|((_, a), b)| a.meet(b));
        self.event.iter_mut().zip(&other.event).for_each(|(a, b)| a.meet(b));
    }

    /// The sites of other queues that are not done before what comes next to this one.
    fn unordered<'s>(&'s self, sites: &'s [Site], queue: Queue) -> impl Iterator<Item = usize> + 's {
        let before = &self.before[&queue];
        (0..sites.len()).filter(move |&other| sites[other].queue != queue && !before.has(other))
    }

    /// The sites whose events this one waits for, as few as there can be.
    fn waits(&self, sites: &[Site], site: usize) -> Vec<usize> {
        let queue = sites[site].queue;
        let mut open: Vec<usize> = self
            .unordered(sites, queue)
            .filter(|&other| conflict(&sites[site].touched, &sites[other].touched))
            .collect();
        let mut waits = vec![];
        // That which comes last has the most of the others before it.
        let ordered = |open: &[usize], by: usize| open.iter().filter(|&&it| self.event[by].has(it)).count();
        while let Some(&next) = open.iter().max_by_key(|&&it| ordered(&open, it)) {
            waits.push(next);
            open.retain(|&it| it != next && !self.event[next].has(it));
        }
        waits
    }

    fn reach(&mut self, sites: &[Site], site: usize, waits: &[usize]) {
        let queue = sites[site].queue;
        let mut before = self.before[&queue].clone();
        waits.iter().for_each(|&other| before.unite(&self.event[other]));
        before.insert(site);
        self.before.values_mut().chain(&mut self.event).for_each(|it| it.remove(site));
        self.event[site] = before.clone();
        self.before.insert(queue, before);
    }
}

/// What is found about the sites, by their numbers.
#[derive(Default)]
struct Found {
    waits: BTreeMap<usize, Vec<usize>>,
    /// Whether something of another queue may run beside it.
    overlaps: BTreeMap<usize, bool>,
}

fn run(sites: &[Site], items: &[Item], known: &mut Known, found: &mut Found) {
    for item in items {
        match item {
            Item::Queued(site, _) => {
                let waits = known.waits(sites, *site);
                known.reach(sites, *site, &waits);
                found.waits.insert(*site, waits);
                let beside = known.unordered(sites, sites[*site].queue).next().is_some();
                found.overlaps.insert(*site, beside);
            }
            Item::Host(..) => {}
            Item::Synchronize => *known = Known::new(sites.len()),
            Item::Loop(_, body) => {
                // What holds before the first iteration and after every other one.
                loop {
                    let before = known.clone();
                    let mut after = known.clone();
                    run(sites, body, &mut after, found);
                    known.meet(&after);
                    if *known == before {
                        break;
                    }
                }
            }
            Item::Branch(_, then, otherwise) => {
                let mut other = known.clone();
                run(sites, then, known, found);
                run(sites, otherwise, &mut other, found);
                known.meet(&other);
            }
        }
    }
}

/// Numbers the events that are waited for, in the order of the steps that record them.
fn number(items: &[Item], awaited: &BTreeSet<usize>, events: &mut BTreeMap<usize, Event>) {
    for item in items {
        match item {
            Item::Queued(site, _) if awaited.contains(site) => {
                events.insert(*site, Event(events.len() as u32));
            }
            Item::Queued(..) | Item::Host(..) | Item::Synchronize => {}
            Item::Loop(_, body) => number(body, awaited, events),
            Item::Branch(_, then, otherwise) => {
                number(then, awaited, events);
                number(otherwise, awaited, events);
            }
        }
    }
}

fn steps(
    sites: &[Site],
    items: &[Item],
    waits: &BTreeMap<usize, Vec<usize>>,
    events: &BTreeMap<usize, Event>,
) -> Vec<Step> {
    let inside = |items: &[Item]| steps(sites, items, waits, events);
    let mut all = vec![];
    for item in items {
        match item {
            Item::Queued(site, step) => {
                let queue = sites[*site].queue;
                let awaited: BTreeSet<Event> = waits[site].iter().map(|other| events[other]).collect();
                all.extend(awaited.into_iter().map(|event| Step::Wait { queue, event }));
                all.push(step.clone());
                all.extend(events.get(site).map(|&event| Step::Record { event, queue }));
            }
            Item::Host(step, _) => all.push(step.clone()),
            Item::Synchronize => all.push(Step::Synchronize),
            Item::Loop(head, items) => {
                let Step::For { variable, lower, upper, step, .. } = head else { continue };
                let (lower, upper) = (lower.clone(), upper.clone());
                all.push(Step::For {
                    variable: *variable,
                    lower,
                    upper,
                    step: *step,
                    going: vec![],
                    body: inside(items),
                });
            }
            Item::Branch(head, then, otherwise) => {
                let Step::If { condition, .. } = head else { continue };
                let (then, otherwise) = (inside(then), inside(otherwise));
                all.push(Step::If { condition: condition.clone(), then, otherwise });
            }
        }
    }
    all
}

//! The way of a function from its algorithm to a verified program: by the user's commands, or by Tessella's own choice
//! where there are none.

use crate::diagnose::{Place, diagnose};
use crate::pipeline::{ISL_OPERATIONS, Refusal};
use tessella_diagnostics::{SourceMap, Span, Spanned};
use tessella_lowering::{Lowered, SpanTable};
use tessella_polyhedral::algorithm::{AccessRef, Algorithm, ComputationId};
use tessella_polyhedral::auto::asked::Asked;
use tessella_polyhedral::auto::padded::Padded;
use tessella_polyhedral::auto::partial_sums::partial_sums;
use tessella_polyhedral::command::Command;
use tessella_polyhedral::condition::Condition;
use tessella_polyhedral::default_order::{self, Chosen, Means, Memory, Tilings};
use tessella_polyhedral::dependence::{Dependence, dependences};
use tessella_polyhedral::error::{Error, ScheduleError};
use tessella_polyhedral::isl::Ctx;
use tessella_polyhedral::layers::{Scheduled, Target};
use tessella_polyhedral::machine::{Gpu, Machine};
use tessella_polyhedral::unread::unread_fillings;
use tessella_polyhedral::verify::{self, Verified};
use tessella_polyhedral::{connect, effort, magnitude, place, storage, transform};

/// How much work may go into a program with copies, and into generating code for it: copies are statements, so it is a
/// larger one than the function was.
const STORAGE_OPERATIONS: u64 = 3 * ISL_OPERATIONS;

/// What isl may do to find fillings of arrays that no read sees, about a tenth of a second.
const UNREAD_OPERATIONS: u64 = 200_000;

/// The part of the work for a function that may go into saying for which sizes a refused command is legal.
const ABOVE_PART: u64 = 5;

/// A function that went through all passes.
pub struct Analysed {
    pub spans: SpanTable,
    /// In the source's order.
    pub dependences: Vec<Dependence>,
    pub verified: Verified,
    /// The commands on the order of loops, as far as there are any: those that make partial results by themselves spelled out.
    pub carried: Vec<Command>,
    /// Choosing an order, or generating code for it, took too much work: the source's order stands.
    pub gave_up: bool,
    /// Avoided where generating code for them took too much work.
    pub tilings: Tilings,
    /// The order before storage, and the storage commands, where Tessella chose some.
    pub chosen: Option<Chosen>,
    /// What isl's scheduler was asked for on the way to Tessella's choice.
    pub asked: Vec<Asked>,
    /// The fillings of arrays that the program does without.
    pub unread: Vec<Unread>,
}

/// A statement that gives an array values that no read sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    pub name: String,
    pub array: String,
    pub span: Option<Span>,
}

/// Who orders the loops, and by which means where that is Tessella.
#[derive(Debug, Clone, Copy)]
pub struct Order<'a> {
    /// The user's commands; Tessella where there are none.
    commands: Option<&'a [Spanned<Command>]>,
    /// What Tessella's choice makes use of, also where one of the commands asks for it.
    means: Means,
}

impl<'a> Order<'a> {
    /// The user's commands, or Tessella's choice where there are none.
    pub fn of(commands: Option<&'a [Spanned<Command>]>) -> Order<'a> {
        Order { commands, means: Means::ALL }
    }

    /// The same, where Tessella's choice makes use of no more than this.
    pub fn with(self, means: Means) -> Order<'a> {
        Order { means, ..self }
    }
}

/// From an algorithm to a verified program.
pub fn verify(
    ctx: &Ctx,
    sources: &SourceMap,
    lowered: Lowered,
    order: Order<'_>,
    target: Target,
    machine: Machine,
) -> Result<Analysed, Refusal> {
    let Lowered { algorithm, spans } = lowered;
    let schedule = algorithm.source_order.clone();
    let scheduled = Scheduled { algorithm, schedule, target, machine, versions: vec![], scratch: Default::default() };
    let mut course = Course {
        ctx,
        spans,
        scheduled,
        dependences: vec![],
        carried: vec![],
        gave_up: false,
        means: order.means,
        own: None,
        asked: vec![],
        unread: vec![],
        at: None,
        legal_above: None,
        about: None,
    };
    match course.run(order) {
        Ok((verified, chosen)) => {
            let Course { spans, dependences, carried, gave_up, asked, unread, .. } = course;
            let tilings = order.means.tilings;
            Ok(Analysed { spans, dependences, verified, carried, gave_up, tilings, chosen, asked, unread })
        }
        Err(error) => {
            let algorithm = course.about.as_deref().unwrap_or(&course.scheduled.algorithm);
            let (command, legal_above) = (course.at, course.legal_above.as_ref());
            Err(vec![diagnose(&Place { sources, algorithm, spans: &course.spans, command, legal_above }, error)])
        }
    }
}

/// What a step of Tessella's own may take of the work that is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Share {
    /// All of it: the user asked for the step, and is told if it is too much.
    All,
    /// Half of it: the function can do without.
    Half,
}

/// Where a function stands on its way.
struct Course<'a> {
    ctx: &'a Ctx,
    spans: SpanTable,
    scheduled: Scheduled,
    /// Of the algorithm as it now is.
    dependences: Vec<Dependence>,
    carried: Vec<Command>,
    gave_up: bool,
    means: Means,
    /// What Tessella's choice started from, and the choice, if it stands last.
    own: Option<(Start, Chosen)>,
    /// What isl's scheduler was asked for, if that choice stands last.
    asked: Vec<Asked>,
    unread: Vec<Unread>,
    /// The command that is being carried out.
    at: Option<Span>,
    /// The sizes for which it is legal, where it is refused for small ones alone.
    legal_above: Option<Condition>,
    /// What an error speaks of, where that is not the algorithm as it now is.
    about: Option<Box<Algorithm>>,
}

/// What a choice started from.
struct Start {
    scheduled: Scheduled,
    dependences: Vec<Dependence>,
    carried: Vec<Command>,
    spans: SpanTable,
}

impl Course<'_> {
    fn run(&mut self, order: Order<'_>) -> Result<(Verified, Option<Chosen>), Error> {
        self.dependences = self.weighed(|it| dependences(it.ctx, &it.scheduled.algorithm))?;
        self.leave_out_unread(order.commands)?;
        let is_placed = |it: &&Spanned<Command>| it.value.is_storage() || it.value.is_communication();
        let placed = match order.commands {
            None => {
                self.own_choice(Share::Half)?;
                vec![]
            }
            Some(commands) => {
                for command in commands.iter().filter(|it| !is_placed(it)) {
                    self.at = Some(command.span);
                    if let Err(error) = self.carry_out(&command.value) {
                        self.legal_above = self.legal_above(&command.value, &error);
                        return Err(error);
                    }
                }
                commands.iter().filter(is_placed).collect()
            }
        };
        self.at = None;
        self.finish(&placed)
    }

    /// Leaves out fillings of arrays that no read sees, but for those that a command names.
    fn leave_out_unread(&mut self, commands: Option<&[Spanned<Command>]>) -> Result<(), Error> {
        let algorithm = &self.scheduled.algorithm;
        let find = || self.weighed(|it| unread_fillings(it.ctx, algorithm, &it.dependences));
        let mut gone = match self.ctx.with_budget(UNREAD_OPERATIONS, find) {
            // They may as well run.
            Err(error) if error.is_quota() => return Ok(()),
            found => found?,
        };
        if let Some(commands) = commands {
            gone.retain(|&id| !commands.iter().any(|it| it.value.mentions(&algorithm.computation(id).name)));
        }
        if gone.is_empty() {
            return Ok(());
        }
        self.unread = gone.iter().map(|&id| self.unread(id)).collect();
        let (algorithm, names) = algorithm.without(&gone);
        let renamed = |at: AccessRef| Some(AccessRef { computation: *names.get(&at.computation)?, ..at });
        let left = self
            .dependences
            .iter()
            .filter_map(|it| Some(Dependence { source: renamed(it.source)?, sink: renamed(it.sink)?, ..it.clone() }));
        self.dependences = left.collect();
        self.scheduled.schedule = algorithm.source_order.clone();
        self.scheduled.algorithm = algorithm;
        self.spans = std::mem::take(&mut self.spans).renamed(&names);
        Ok(())
    }

    fn unread(&self, id: ComputationId) -> Unread {
        let algorithm = &self.scheduled.algorithm;
        let it = algorithm.computation(id);
        let array = algorithm.array(it.write.array).name.clone();
        Unread { name: it.name.clone(), array, span: self.spans.computation(id) }
    }

    /// Runs a step on the program as it stands, each operation of isl's counting with the program's weight.
    fn weighed<T>(&self, step: impl FnOnce(&Self) -> T) -> T {
        self.ctx.weighed(weight(&self.scheduled), || step(self))
    }

    /// One command on the order.
    fn carry_out(&mut self, command: &Command) -> Result<(), Error> {
        self.own = None;
        self.asked.clear();
        if *command == Command::Auto {
            self.own_choice(Share::All)?;
            magnitude::check(self.ctx, &self.scheduled)?;
            self.carried.push(command.clone());
            return Ok(());
        }
        let (next, renewed) =
            self.weighed(|it| transform::apply_and_renew(it.ctx, &it.scheduled, &it.dependences, command))?;
        magnitude::check(self.ctx, &next)?;
        let changed = transform::changed_accesses(command, &self.scheduled, &next);
        self.carried.extend(match changed {
            true => transform::spelled_out(self.ctx, &self.scheduled, &self.dependences, command),
            false => vec![command.clone()],
        });
        self.scheduled = next;
        if changed {
            self.dependences = match renewed {
                Some(renewed) => renewed,
                None => self.weighed(|it| dependences(it.ctx, &it.scheduled.algorithm))?,
            };
            self.add_pieces();
        }
        Ok(())
    }

    /// The sizes for which a refused command is legal, if that takes little work to find out.
    fn legal_above(&self, command: &Command, error: &Error) -> Option<Condition> {
        let Error::Schedule(ScheduleError::Illegal(_)) = error else { return None };
        let find = || self.weighed(|it| transform::legal_above(it.ctx, &it.scheduled, &it.dependences, command));
        self.ctx.with_budget(ISL_OPERATIONS / ABOVE_PART, find).ok().flatten()
    }

    /// Tessella's own choice: partial results for sums that one thread of a GPU would add up, then an order.
    fn own_choice(&mut self, share: Share) -> Result<(), Error> {
        if self.means.tilings != Tilings::AndOrders {
            self.attempt(share, Self::part_sums)?;
        }
        self.gave_up |= !self.attempt(share, Self::choose_order)?;
        Ok(())
    }

    /// Takes a step of the choice; `false` if the function goes on without it, because it took too much work.
    fn attempt(&mut self, share: Share, step: fn(&mut Self) -> Result<(), Error>) -> Result<bool, Error> {
        let ctx = self.ctx;
        let done = match share {
            Share::All => step(self),
            Share::Half => {
                let half = ctx.operations_left().map_or(0, |left| (left / 2).max(1));
                ctx.with_budget(half, || step(self))
            }
        };
        match done {
            Ok(()) => Ok(true),
            Err(error) if share == Share::Half && error.is_quota() => Ok(false),
            Err(other) => Err(other),
        }
    }

    fn part_sums(&mut self) -> Result<(), Error> {
        let parted = self.weighed(|it| partial_sums(it.ctx, &it.scheduled, &it.dependences, it.means.tilings))?;
        self.carried.extend(parted.commands);
        (self.scheduled, self.dependences) = (parted.scheduled, parted.dependences);
        self.add_pieces();
        Ok(())
    }

    fn choose_order(&mut self) -> Result<(), Error> {
        let chosen = self.weighed(|it| it.choose(it.means.memory))?;
        let start = Start {
            scheduled: self.scheduled.clone(),
            dependences: self.dependences.clone(),
            carried: self.carried.clone(),
            spans: self.spans.clone(),
        };
        self.take(&chosen);
        self.own = Some((start, chosen));
        Ok(())
    }

    /// Goes on with what was chosen.
    fn take(&mut self, chosen: &Chosen) {
        self.scheduled = chosen.scheduled.clone();
        if let Some(rewritten) = &chosen.rewritten {
            self.carried.extend(rewritten.commands.iter().cloned());
            self.dependences = rewritten.dependences.clone();
            self.add_pieces();
        }
        self.asked = chosen.asked.clone();
    }

    /// Chooses once more, from where the last choice started.
    fn choose_again(&mut self, start: &Start, memory: Memory) -> Result<Chosen, Error> {
        self.scheduled = start.scheduled.clone();
        self.dependences = start.dependences.clone();
        self.carried = start.carried.clone();
        self.spans = start.spans.clone();
        let chosen = self.weighed(|it| it.choose(memory))?;
        self.take(&chosen);
        Ok(chosen)
    }

    fn choose(&self, memory: Memory) -> Result<Chosen, Error> {
        default_order::choose(self.ctx, &self.scheduled, &self.dependences, Means { memory, ..self.means })
    }

    /// Has pieces of computations stand where the whole ones do.
    fn add_pieces(&mut self) {
        let algorithm = &self.scheduled.algorithm;
        let pieces = algorithm.whole.iter().flat_map(|whole| algorithm.ids().zip(&whole.piece_of));
        pieces.filter(|(id, of)| id != *of).for_each(|(id, of)| self.spans.add_piece(id, *of));
    }

    /// Proves the finished order: with the storage that Tessella's choice counts on, else without.
    fn finish(&mut self, placed: &[&Spanned<Command>]) -> Result<(Verified, Option<Chosen>), Error> {
        let asked: Vec<Command> = placed.iter().map(|it| it.value.clone()).collect();
        // What commands already copy to faster memory stays where it is.
        let is_copied = |name: &String| {
            asked.iter().any(|command| {
                matches!(command, Command::CacheShared { array, .. } | Command::CacheRegister { array, .. } if array == name)
            })
        };
        if let Some((_, chosen)) = &mut self.own {
            chosen.storage.retain(|it| !matches!(it, Command::Constant { array } if is_copied(array)));
        }
        if let Some((start, mut chosen)) = self.own.take().filter(|(_, chosen)| !chosen.storage.is_empty()) {
            let commands = |storage: &[Command]| -> Vec<Command> { asked.iter().chain(storage).cloned().collect() };
            let proved = match self.prove(&commands(&chosen.storage)) {
                Err(_) if start.scheduled.target == Target::Cpu && !chosen.padded.is_empty() => {
                    // A longer array may not fit where the plain one does.
                    chosen.storage.retain(|command| !matches!(command, Command::Pad { .. }));
                    chosen.padded.clear();
                    self.prove(&commands(&chosen.storage))
                }
                done => done,
            };
            // More shared memory than kernels declare is for those who ask for it, and for copies of whole rows, which only GPUs make that have it.
            let asks = asked.iter().any(|command| matches!(command, Command::CacheShared { .. }));
            let fits = |verified: &Verified, chosen: &Chosen| {
                let of_rows = chosen.padded.iter().any(Padded::is_shifted);
                let gpu = Gpu::HOPPER;
                let most = if of_rows { gpu.usual_shared_bytes_of_block } else { gpu.shared_bytes_of_block };
                asks || place::most_shared(verified.schedule(), verified.layout()) <= i64::from(most)
            };
            match proved {
                Ok(verified) if fits(&verified, &chosen) => return Ok((verified, Some(chosen))),
                // The order on a CPU stands without.
                Ok(_) | Err(_) if start.scheduled.target == Target::Cpu => {}
                // Not every nest that looks like a product, or like one for vectors, has parts that fit.
                Ok(_) | Err(_) => {
                    let mut memory = self.means.memory;
                    while let Some(weaker) = memory.weaker() {
                        memory = weaker;
                        let chosen = self.choose_again(&start, memory)?;
                        if memory != Memory::Plain
                            && let Ok(verified) = self.prove(&commands(&chosen.storage))
                            && fits(&verified, &chosen)
                        {
                            return Ok((verified, Some(chosen)));
                        }
                    }
                }
            }
        }
        let verified = self.prove(&asked).map_err(|failure| {
            self.at = failure.command.map(|position| placed[position].span);
            self.about = failure.about;
            *failure.error
        })?;
        Ok((verified, None))
    }

    /// Proves the finished order with these storage commands, whoever asked for them.
    fn prove(&self, storage: &[Command]) -> Result<Verified, Unfinished> {
        let proved = || proved(self.ctx, self.scheduled.clone(), &self.dependences, storage);
        let copies = |command: &Command| matches!(command, Command::CacheShared { .. } | Command::CacheRegister { .. });
        if !storage.iter().any(copies) {
            return proved();
        }
        let verified = self.ctx.with_budget(STORAGE_OPERATIONS, proved)?;
        // What follows is code for the larger program.
        if self.ctx.max_operations() != 0 {
            self.ctx.set_max_operations(STORAGE_OPERATIONS);
            self.ctx.reset_operations();
        }
        Ok(verified)
    }
}

/// What an operation of isl's on a program counts.
fn weight(scheduled: &Scheduled) -> u64 {
    effort::weight(&scheduled.algorithm, &scheduled.schedule)
}

/// Why a finished order is refused.
struct Unfinished {
    /// The position of a storage command.
    command: Option<usize>,
    /// What the error's statements belong to, if promotions added some.
    about: Option<Box<Algorithm>>,
    error: Box<Error>,
}

/// From a finished order to a verified program, by way of storage commands.
fn proved(
    ctx: &Ctx,
    scheduled: Scheduled,
    dependences: &[Dependence],
    storage: &[Command],
) -> Result<Verified, Unfinished> {
    let heavy = weight(&scheduled);
    let stored =
        ctx.weighed(heavy, || storage::carry_out(ctx, scheduled, dependences, storage)).map_err(|failure| {
            Unfinished { command: failure.command, about: Some(failure.algorithm), error: failure.error }
        })?;
    let heavy = weight(&stored.placed.scheduled);
    let connect = || connect::carry_out(ctx, stored.placed, &stored.dependences, storage);
    let connected = ctx.weighed(heavy, connect).map_err(|failure| Unfinished {
        command: failure.command,
        about: Some(failure.algorithm),
        error: failure.error,
    })?;
    let finish = || verify::verify(ctx, connected, &stored.dependences);
    ctx.weighed(heavy, finish).map_err(|error| Unfinished { command: None, about: None, error: Box::new(error) })
}

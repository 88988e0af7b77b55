//! Stencils, in one or two dimensions, with any distances up to two: in a time loop, as tilings of time are made for, in
//! place or between two arrays; or one after the other, as values are computed where they are needed. And schedules that
//! begin so.

use crate::examine::{Fault, Verdict, fault, judge, own_order};
use crate::program::{ArrayArgument, Element, Expr, Linear, Program, Size, Statement, Subscript, Target};
use crate::random::Random;
use crate::shrink::Pair;
use crate::subject::{Setting, Subject, with_unit};
use tessella_polyhedral::command::Command;
use tessella_polyhedral::layers::{self, Scheduled};
use tessella_polyhedral::machine::Machine;
use tessella_polyhedral::schedule::StreamSize;

/// The loops over space, outermost first.
const SPACE: [&str; 2] = ["j", "i"];

/// Proofs about tiles of time take isl longer than those about other loops. Where little fits into the second-level cache, tiles
/// of Tessella's own are so low and narrow that small arrays have several.
pub fn setting(random: &mut Random, target: layers::Target) -> Setting {
    let l2_bytes = *random.pick(&[1 << 18, 1 << 19, Machine::GENERIC.l2_bytes]);
    let machine = Machine { l2_bytes, ..Machine::GENERIC };
    Setting { machine, effort: 16, most: 14, ..Setting::small(target) }
}

/// A time loop over one to three nests, or two or three nests of which each reads what the one before wrote.
pub fn program(random: &mut Random) -> Program {
    let in_time = random.percent(70);
    let rank = 1 + random.weighted(&[60, 40]);
    program_over(random, in_time, rank)
}

/// Such a program with or without a time loop, over arrays of this rank.
fn program_over(random: &mut Random, in_time: bool, rank: usize) -> Program {
    let element = [Element::F64, Element::F32, Element::I64][random.weighted(&[55, 25, 20])];
    let names = ["A", "B", "C"];
    let nests = if in_time { 1 + random.weighted(&[12, 73, 15]) } else { 2 };
    let arrays = names[..if in_time { nests.max(2) } else { nests + 1 }]
        .iter()
        .map(|name| ArrayArgument { name: name.to_string(), element, rank })
        .collect::<Vec<_>>();
    let steps = match random.percent(60) {
        true => Linear::of("m", 0),
        false => Linear::constant(random.between(2, 5)),
    };
    let sizes = ["n", "m"].map(|name| Size { name: name.to_string(), extent_of: None }).to_vec();
    let mut maker = Maker { random, element, rank, reach: 0 };
    maker.reach = 1 + maker.random.weighted(&[75, 25]) as i64;
    if !in_time {
        let body = (1..=nests).map(|nest| {
            let value = maker.sum(names[nest - 1], names[nest - 1]);
            maker.nest(nest, nest as i64, names[nest], value)
        });
        return Program { arrays, sizes, body: body.collect(), returns: None };
    }
    let copies_back = nests == 2 && maker.random.percent(55);
    let mut body = vec![];
    for nest in 0..nests {
        let (to, from) = (names[nest], names[(nest + 1) % nests.max(2)]);
        let value = match (copies_back && nest == 1, maker.random.percent(35) || nests == 1) {
            (true, _) => maker.read(from, &[0, 0]),
            (false, true) => maker.sum(to, from),
            (false, false) => maker.sum(from, from),
        };
        body.push(maker.nest(nest + 1, 1, to, value));
    }
    let body = vec![Statement::For {
        before: "",
        iterator: "t".into(),
        lower: Linear::constant(1),
        upper: steps,
        step: 1,
        body,
    }];
    Program { arrays, sizes, body, returns: None }
}

/// A CPU with caches so small that short rows have several strips.
pub fn strips(random: &mut Random) -> Setting {
    let l1_bytes = 256 * random.between(1, 5) as u64;
    // A row of such a strip is as cheap to begin, beside the strip, as one of 8 KiB.
    let restart_bytes = l1_bytes / 16;
    let worth_threads = *random.pick(&[1, 20, 32_768]);
    let machine = Machine { l1_bytes, worth_threads, restart_bytes, ..Machine::GENERIC };
    Setting { machine, effort: 16, ..Setting::small(layers::Target::Cpu) }
}

/// Two to four nests over rows, each of which reads some rows of what the one before wrote; mostly into arrays that nothing
/// else sees.
pub fn chain(random: &mut Random) -> Program {
    let element = [Element::F64, Element::F32][random.weighted(&[70, 30])];
    let nests = 2 + random.weighted(&[50, 35, 15]);
    let names = ["A", "B", "C", "D", "E"];
    let sizes = vec![Size { name: "n".to_string(), extent_of: None }];
    let (mut arrays, mut body) = (vec![], vec![]);
    for (at, name) in names[..=nests].iter().enumerate() {
        let inner = at > 0 && at < nests;
        if inner && random.percent(75) {
            let extents = vec![Linear::of("n", 0); 2];
            body.push(Statement::Zeros { name: name.to_string(), element, extents });
        } else {
            arrays.push(ArrayArgument { name: name.to_string(), element, rank: 2 });
        }
    }
    let mut maker = Maker { random, element, rank: 2, reach: 1 };
    for nest in 1..=nests {
        let far = maker.random.between(1, 2);
        let mut value = maker.read(names[nest - 1], &[0, 0]);
        for _ in 0..maker.random.between(1, 3) {
            let along = if maker.random.percent(12) { maker.random.between(-1, 1) } else { 0 };
            let from = if maker.random.percent(85) { nest - 1 } else { 0 };
            let rows = maker.random.between(-far, far);
            let other = maker.read(names[from], &[along, rows]);
            value = Expr::Binary(maker.random.pick::<&str>(&["+", "-", "*"]), Box::new(value), Box::new(other));
        }
        maker.reach = 2;
        body.push(maker.nest(nest, 1, names[nest], value));
    }
    Program { arrays, sizes, body, returns: None }
}

/// Examines Tessella's own order for a chain; whether it keeps only some rows of an array.
pub fn keeps_few_rows(seed: u64) -> Result<bool, Fault> {
    let mut random = Random::numbered(seed, 0);
    let pair = Pair { program: chain(&mut random), commands: None, setting: strips(&mut random) };
    let examined = with_unit(&pair.source(), |unit| {
        let subject = match Subject::new(unit, pair.setting, seed)? {
            Ok(subject) => subject,
            Err(why) => return fault("refused", why),
        };
        let Ok(chosen) = own_order(&subject)? else { return Ok(false) };
        let few = !chosen.storage.is_empty();
        let (verdict, _) = judge(&subject, chosen, false)?;
        Ok(few && matches!(verdict, Verdict::Accepted { .. }))
    })?;
    examined.or_else(|why| fault("refused", why))
}

/// Examines Tessella's own order for a stencil in two dimensions; whether it tiles time by hexagons.
pub fn becomes_hexagons(seed: u64) -> Result<bool, Fault> {
    let mut random = Random::numbered(seed, 0);
    let program = program_over(&mut random, true, 2);
    let pair = Pair { program, commands: None, setting: setting(&mut random, layers::Target::Cpu) };
    let examined = with_unit(&pair.source(), |unit| {
        let subject = match Subject::new(unit, pair.setting, seed)? {
            Ok(subject) => subject,
            Err(why) => return fault("refused", why),
        };
        let Ok(chosen) = own_order(&subject)? else { return Ok(false) };
        let hexagons = chosen.hexagons;
        let (verdict, _) = judge(&subject, chosen, false)?;
        Ok(hexagons && matches!(verdict, Verdict::Accepted { .. }))
    })?;
    examined.or_else(|why| fault("refused", why))
}

struct Maker<'a> {
    random: &'a mut Random,
    element: Element,
    rank: usize,
    /// The longest distance along an axis.
    reach: i64,
}

impl Maker<'_> {
    /// A nest over all points but those that are nearer to the edge than so many reaches.
    fn nest(&mut self, number: usize, reaches: i64, to: &str, value: Expr) -> Statement {
        let margin = reaches * self.reach;
        let target = Target::Element(to.into(), self.at(&[0, 0]));
        let mut statement = Statement::Assign { label: format!("S{number}"), target, op: "=", value };
        let is_narrow = self.random.percent(20);
        for name in SPACE[SPACE.len() - self.rank..].iter().rev() {
            let around = if is_narrow { self.random.between(0, 1) } else { 0 };
            statement = Statement::For {
                before: "",
                iterator: name.to_string(),
                lower: Linear::constant(1 + margin + around),
                upper: Linear::of("n", -margin),
                step: 1,
                body: vec![statement],
            };
        }
        statement
    }

    /// The subscripts of a point that is so far away; the first axis is the innermost loop.
    fn at(&self, distance: &[i64; 2]) -> Vec<Subscript> {
        let innermost_first = SPACE.iter().rev().take(self.rank).zip(distance);
        innermost_first.map(|(name, by)| Subscript::Linear(Linear::of(name, *by))).collect()
    }

    fn read(&self, array: &str, distance: &[i64; 2]) -> Expr {
        Expr::Read(array.into(), self.at(distance))
    }

    /// Two to four points, of the one array or the other.
    fn sum(&mut self, one: &str, other: &str) -> Expr {
        let mut sum: Option<Expr> = None;
        for _ in 0..self.random.between(2, 4) {
            let distance = [0, 1].map(|_| self.random.between(-self.reach, self.reach));
            let array = if self.random.percent(50) { one } else { other };
            let mut term = self.read(array, &distance);
            if self.random.percent(40) {
                let weight = Expr::Number(self.element, self.random.between(1, 5));
                term = Expr::Binary("*", Box::new(weight), Box::new(term));
            }
            sum = Some(match sum {
                None => term,
                Some(sofar) => {
                    Expr::Binary(self.random.pick::<&str>(&["+", "+", "-"]), Box::new(sofar), Box::new(term))
                }
            });
        }
        sum.expect("there are two terms at least")
    }
}

/// A tiling of time, or values that are computed in the tiles that need them; most can be carried out.
pub fn commands(random: &mut Random, scheduled: &Scheduled) -> Vec<Command> {
    let algorithm = &scheduled.algorithm;
    let mut names: Vec<String> = algorithm.ids().map(|id| algorithm.computation(id).name.clone()).collect();
    let Some(first) = algorithm.ids().next() else { return vec![] };
    let around = scheduled.schedule.loops_around(first);
    if around.first().is_some_and(|(_, it)| it.name != "t") {
        return recomputation(random, scheduled, &names);
    }
    let loops: Vec<String> = around.iter().skip(1).map(|(_, it)| it.name.clone()).collect();
    let time = "t".to_string();
    let sizes = |random: &mut Random| loops.iter().map(|_| random.between(2, 6) as u32).collect::<Vec<_>>();
    if random.percent(8) {
        names.truncate(1);
    }
    let computation = names[0].clone();
    let on_gpu = scheduled.target == layers::Target::Gpu;
    vec![match random.weighted(&[30, 30, 22, 6, if on_gpu { 90 } else { 0 }]) {
        0 => {
            let (steps, sizes) = (random.between(1, 4) as u32, sizes(random));
            Command::Overlapped { computation, time, loops, steps, sizes }
        }
        1 => {
            // Hexagons of so many steps start with the same nest each.
            let nests = names.len() as u32;
            let (height, widths) = ((random.between(1, 3) as u32 * nests).max(2) - 1, sizes(random));
            Command::Hexagonal { computations: names, time, loops, height, widths }
        }
        2 => {
            let (steps, widths) = (random.between(1, 4) as u32, sizes(random));
            Command::TimeSkew { computations: names, time, loops, steps, widths }
        }
        3 => {
            let widths = sizes(random);
            Command::Space { computations: names, time, loops, widths }
        }
        _ => {
            let steps = random.between(1, 4) as u32;
            // Rows of one to eight, or as the launch likes.
            let (points, rows) = (*random.pick(&[1, 2, 4]), random.between(1, 9) as u32);
            let rows = Some(rows).filter(|rows| *rows < 9);
            let size = StreamSize { steps, points, rows, ..StreamSize::USUAL };
            Command::Stream { computation, at: time, size }
        }
    }]
}

/// The tiles of a later nest compute what they need of an earlier one.
fn recomputation(random: &mut Random, scheduled: &Scheduled, names: &[String]) -> Vec<Command> {
    let [writer, reader, ..] = names else { return vec![] };
    let last = scheduled.algorithm.ids().nth(1).expect("there are two names");
    let loops: Vec<String> = scheduled.schedule.loops_around(last).iter().map(|(_, it)| it.name.clone()).collect();
    let sizes: Vec<u32> = loops.iter().map(|_| random.between(2, 5) as u32).collect();
    let at = format!("{}0", random.pick(&loops));
    let computation = reader.clone();
    let mut all = vec![Command::Tile { computation: computation.clone(), loops: loops.clone(), sizes }];
    if scheduled.target == layers::Target::Gpu {
        let blocks = loops.iter().map(|name| format!("{name}0")).collect();
        let threads = loops.iter().map(|name| format!("{name}1")).collect();
        all.push(Command::Gpu { computation: computation.clone(), blocks, threads });
    }
    all.push(Command::ComputeAt { computation: writer.clone(), reader: computation, at });
    all
}

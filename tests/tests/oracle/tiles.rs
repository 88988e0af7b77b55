//! Programs that accumulate, as register tiles are made for: products of matrices in any order of loops, convolutions,
//! triangular updates and solves; and schedules that lead to such tiles.

use crate::program::{ArrayArgument, Condition, Element, Expr, Linear, Program, Size, Statement, Subscript, Target};
use crate::random::Random;
use crate::subject::Setting;
use tessella_polyhedral::command::Command;
use tessella_polyhedral::layers::{self, Scheduled};
use tessella_polyhedral::machine::Machine;

/// Sizes up to this, so that small machines have full tiles, partial ones, and several of each.
const MOST: i64 = 20;

/// A CPU: often one of so few registers and such small caches that small sizes fill tiles and blocks.
pub fn setting(random: &mut Random) -> Setting {
    let machine = match random.percent(75) {
        true => Machine {
            vector_bytes: *random.pick(&[16, 16, 16, 32]),
            vector_registers: *random.pick(&[16, 16, 8, 12, 32]),
            l2_bytes: *random.pick(&[16 << 10, 32 << 10, 512 << 10]),
            worth_threads: *random.pick(&[1, 1, 20, 400, 32_768]),
            ..Machine::GENERIC
        },
        false => Machine::GENERIC,
    };
    Setting { target: layers::Target::Cpu, machine, most: MOST, effort: 4 }
}

/// A nest of two or three loops (seldom four) around statements that add to what they read.
pub fn program(random: &mut Random) -> Program {
    let element = [Element::F64, Element::F32, Element::I64][random.weighted(&[60, 32, 8])];
    let arrays = [("C", random.between(1, 2)), ("A", 2), ("B", random.between(1, 2)), ("D", random.between(1, 2))];
    let arrays: Vec<ArrayArgument> = arrays
        .into_iter()
        .map(|(name, rank)| ArrayArgument { name: name.into(), element, rank: rank as usize })
        .collect();
    let names: &[&str] = if random.percent(35) { &["n", "m"] } else { &["n"] };
    let sizes = names.iter().map(|name| Size { name: name.to_string(), extent_of: None }).collect();
    let depth = 2 + random.weighted(&[22, 70, 8]);
    let mut loops: Vec<&str> = ["i", "j", "k", "l"][..depth].to_vec();
    for at in (1..loops.len()).rev() {
        loops.swap(at, random.below(at + 1));
    }
    let mut maker = Maker { random, arrays: arrays.clone(), names, element, labels: 0, scalar: None };
    let mut body = vec![];
    if maker.random.percent(15) {
        let mut first = vec!["i", "j"];
        first.truncate(maker.arrays[0].rank);
        let update = maker.set("C", &first);
        body.push(maker.nest(&first, &[], vec![update]));
    }
    body.push(maker.main(&loops));
    if maker.random.percent(12) {
        let update = maker.update(&["i", "j"]);
        body.push(maker.nest(&["j", "i"], &[], vec![update]));
    }
    Program { arrays, sizes, body, returns: None }
}

struct Maker<'a> {
    random: &'a mut Random,
    arrays: Vec<ArrayArgument>,
    names: &'static [&'static str],
    element: Element,
    labels: usize,
    /// The variable that is read besides arrays.
    scalar: Option<String>,
}

impl Maker<'_> {
    fn label(&mut self) -> String {
        self.labels += 1;
        format!("S{}", self.labels)
    }

    /// Nested loops with statements at the innermost level, and perhaps before or after the innermost loop.
    fn main(&mut self, loops: &[&str]) -> Statement {
        let (last, outer) = loops.split_last().expect("there are two loops at least");
        match self.random.weighted(&[58, 14, 14, 14]) {
            // A variable that accumulates.
            1 => {
                let zero = Expr::Number(self.element, 0);
                let start = self.assign(Target::Scalar("s".into()), "=", zero);
                let value = self.product(loops);
                let op = *self.random.pick(&["+=", "+=", "-="]);
                let sum = self.assign(Target::Scalar("s".into()), op, value);
                let inner = self.around(last, outer, vec![sum]);
                self.scalar = Some("s".into());
                let store = self.update(outer);
                self.scalar = None;
                self.nest(outer, &[], vec![start, inner, store])
            }
            2 => {
                let first = self.set("C", outer);
                let updates = self.updates(loops);
                let inner = self.around(last, outer, updates);
                self.nest(outer, &[], vec![first, inner])
            }
            3 => {
                let updates = self.updates(loops);
                let inner = self.around(last, outer, updates);
                let after = self.update(outer);
                self.nest(outer, &[], vec![inner, after])
            }
            _ => {
                let updates = self.updates(loops);
                self.nest(loops, &[], updates)
            }
        }
    }

    fn updates(&mut self, loops: &[&str]) -> Vec<Statement> {
        let count = 1 + self.random.weighted(&[80, 20]);
        let all: Vec<Statement> = (0..count).map(|_| self.update(loops)).collect();
        match self.random.percent(6) {
            false => all,
            true => {
                let (a, b) = (self.random.pick::<&str>(loops).to_string(), self.random.pick::<&str>(loops).to_string());
                let condition = Condition::Affine(
                    Linear::of(&a, 0),
                    self.random.pick::<&str>(&["<=", "!=", ">"]),
                    Linear::of(&b, 1),
                );
                vec![Statement::If { condition, then: all, otherwise: vec![] }]
            }
        }
    }

    fn nest(&mut self, loops: &[&str], outer: &[&str], body: Vec<Statement>) -> Statement {
        let Some((last, before)) = loops.split_last() else { unreachable!("nests have loops") };
        let around: Vec<&str> = outer.iter().chain(before).copied().collect();
        let inner = self.around(last, &around, body);
        match before {
            [] => inner,
            before => self.nest(before, outer, vec![inner]),
        }
    }

    /// A loop inside of others; triangular now and then.
    fn around(&mut self, iterator: &str, outer: &[&str], body: Vec<Statement>) -> Statement {
        let size = self.random.pick::<&str>(self.names).to_string();
        let inside = !outer.is_empty();
        let lower = match self.random.weighted(&[72, 8, if inside { 14 } else { 0 }]) {
            0 => Linear::constant(1),
            1 => Linear::constant(self.random.between(2, 3)),
            _ => Linear::of(self.random.pick::<&str>(outer), self.random.between(0, 1)),
        };
        let of_outer = if inside { 14 } else { 0 };
        let upper = match self.random.weighted(&[56, 10, 14, of_outer, of_outer / 4, of_outer / 4]) {
            0 => Linear::of(&size, 0),
            1 => Linear::of(&size, -1),
            2 => Linear::constant(*self.random.pick(&[3, 4, 8, 12, 16, 17])),
            3 => Linear::of(self.random.pick::<&str>(outer), -self.random.between(0, 1)),
            4 => Linear::of(self.random.pick::<&str>(outer), self.random.between(2, 8)),
            _ => Linear::of(&size, 1).plus(self.random.pick::<&str>(outer), -1),
        };
        let step = [1, -1, 2, -2][self.random.weighted(&[90, 5, 3, 2])];
        let before = if self.random.percent(12) { "@inbounds " } else { "" };
        Statement::For { before, iterator: iterator.to_string(), lower, upper, step, body }
    }

    fn assign(&mut self, target: Target, op: &'static str, value: Expr) -> Statement {
        Statement::Assign { label: self.label(), target, op, value }
    }

    fn set(&mut self, array: &str, loops: &[&str]) -> Statement {
        let subscripts = self.element_of(array, loops);
        let value = match self.random.percent(60) {
            true => Expr::Number(self.element, self.random.between(0, 5)),
            false => self.read("D", loops),
        };
        self.assign(Target::Element(array.into(), subscripts), "=", value)
    }

    /// `C[i, j] += A[i, k] * B[k, j]`, or another array, or reads of the same one.
    fn update(&mut self, loops: &[&str]) -> Statement {
        let array = *self.random.pick(&["C", "C", "C", "C", "C", "D", "A"]);
        let subscripts = self.element_of(array, loops);
        let mut value = self.product(loops);
        if let Some(scalar) = self.scalar.clone() {
            let op = *self.random.pick(&["+", "*"]);
            value = match self.random.percent(40) {
                true => Expr::Scalar(scalar),
                false => Expr::Binary(op, Box::new(Expr::Scalar(scalar)), Box::new(value)),
            };
        }
        let target = Target::Element(array.into(), subscripts.clone());
        match self.random.weighted(&[58, 12, 6, 12, 12]) {
            0 => self.assign(target, "+=", value),
            1 => self.assign(target, "-=", value),
            2 => self.assign(target, "*=", value),
            3 => {
                let own = Expr::Read(array.into(), subscripts);
                let (a, b) = (self.read("A", loops), self.read("B", loops));
                match self.element {
                    Element::I64 => self.assign(target, "=", Expr::Binary("+", Box::new(own), Box::new(a))),
                    Element::F64 | Element::F32 => self.assign(target, "=", Expr::Call("muladd", vec![a, b, own])),
                }
            }
            _ => {
                let own = Expr::Read(array.into(), subscripts);
                let op = *self.random.pick(&["+", "-"]);
                self.assign(target, "=", Expr::Binary(op, Box::new(value), Box::new(own)))
            }
        }
    }

    fn product(&mut self, loops: &[&str]) -> Expr {
        let names = ["A", "B", "C", "D"];
        let first = names[self.random.weighted(&[70, 10, 14, 6])];
        let second = names[self.random.weighted(&[20, 60, 12, 8])];
        let a = self.read(first, loops);
        match self.random.weighted(&[68, 12, 8, 6, 6]) {
            0 => Expr::Binary("*", Box::new(a), Box::new(self.read(second, loops))),
            1 => a,
            2 => {
                let product = Expr::Binary("*", Box::new(a), Box::new(self.read(second, loops)));
                Expr::Binary("*", Box::new(Expr::Number(self.element, self.random.between(1, 7))), Box::new(product))
            }
            3 => {
                let index = Expr::Index(self.element, Linear::of(self.random.pick::<&str>(loops), 0));
                Expr::Binary("*", Box::new(a), Box::new(index))
            }
            _ => Expr::Binary("-", Box::new(a), Box::new(self.read(second, loops))),
        }
    }

    fn read(&mut self, array: &str, loops: &[&str]) -> Expr {
        Expr::Read(array.into(), self.element_of(array, loops))
    }

    /// Mostly an element that two different iterators name.
    fn element_of(&mut self, array: &str, loops: &[&str]) -> Vec<Subscript> {
        let rank = self.arrays.iter().find(|it| it.name == array).map_or(1, |it| it.rank);
        // What is written most keeps its iterators, so that some loop accumulates.
        let first = if array == "C" && self.random.percent(80) { 0 } else { self.random.below(loops.len()) };
        let by = 1 + self.random.below(loops.len().max(2) - 1);
        let mut sorted = loops.to_vec();
        if array == "C" && self.random.percent(75) {
            sorted.sort_unstable();
        }
        (0..rank).map(|axis| self.subscript(&sorted, (first + axis * by) % sorted.len())).collect()
    }

    fn subscript(&mut self, loops: &[&str], at: usize) -> Subscript {
        let name = loops[at];
        Subscript::Linear(match self.random.weighted(&[82, 6, 5, 2, 3, 2]) {
            0 => Linear::of(name, 0),
            1 => Linear::of(name, self.random.between(1, 3)),
            2 => Linear::of(name, 0).plus(self.random.pick::<&str>(loops), 1),
            3 => Linear::constant(-1).plus(name, 2),
            4 => Linear::constant(self.random.between(1, 4)),
            _ => Linear::of(self.names[0], MOST + 1).plus(name, -1),
        })
    }
}

/// Commands that split loops, move their points inside and spell them out; those that cannot be carried out are left
/// out.
pub fn commands(random: &mut Random, scheduled: &Scheduled) -> Vec<Command> {
    let algorithm = &scheduled.algorithm;
    let deep = algorithm.ids().filter(|&id| scheduled.schedule.loops_around(id).len() >= 2).collect::<Vec<_>>();
    if deep.is_empty() {
        return vec![];
    }
    let id = *random.pick(&deep);
    let computation = algorithm.computation(id).name.clone();
    let mut chain: Vec<String> = scheduled.schedule.loops_around(id).iter().map(|(_, it)| it.name.clone()).collect();
    let mut all = vec![];
    if random.percent(20) && chain.len() >= 2 {
        let first = random.below(chain.len() - 1);
        let (outer, inner) = (chain[first].clone(), chain[first + 1].clone());
        chain.swap(first, first + 1);
        all.push(Command::Interchange { computation: computation.clone(), outer, inner });
    }
    let count = 1 + random.weighted(&[45, 45, 10]).min(chain.len() - 1);
    let mut wanted: Vec<String> = chain.clone();
    let mut vector_taken = false;
    for _ in 0..count {
        let at = wanted.remove(random.below(wanted.len()));
        if random.percent(20) {
            all.push(Command::UnrollAndJam { computation: computation.clone(), at, factor: *random.pick(&[2, 3, 4]) });
            continue;
        }
        let vector = !vector_taken && random.percent(60);
        let width = *random.pick(&[2, 4, 4, 8]);
        let size = if vector { width * *random.pick(&[1, 1, 2, 3]) } else { *random.pick(&[2, 3, 4, 4, 5, 6]) };
        let (tiles, points) = (format!("{at}0"), format!("{at}1"));
        all.push(Command::Split { computation: computation.clone(), at: at.clone(), size });
        let Some(position) = chain.iter().position(|name| *name == at) else { continue };
        chain[position] = tiles;
        chain.insert(position + 1, points.clone());
        // Mostly down to the innermost place.
        let depth = if random.percent(80) { chain.len() - 1 } else { random.below(chain.len()).max(position + 1) };
        for place in position + 1..depth {
            let inner = chain[place + 1].clone();
            all.push(Command::Interchange { computation: computation.clone(), outer: points.clone(), inner });
            chain.swap(place, place + 1);
        }
        let computation = computation.clone();
        all.push(match vector {
            true => Command::Vectorize { computation, at: points, width },
            false => Command::Unroll { computation, at: points, factor: size },
        });
        vector_taken |= vector;
    }
    if random.percent(15) {
        all.push(Command::Parallel { computation, at: chain[0].clone() });
    }
    all
}

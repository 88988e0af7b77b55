//! Loops over the points of a thread that compute all values before they store the first one.

use super::block::{LoopHooks, iterators_of};
use super::expr::Instance;
use super::{Printer, Writer, c_type};
use crate::ahead_of_stores::{count, points};
use crate::int_expr::{IntExpr, VariableId};
use crate::program::{For, Statement};

impl Printer<'_> {
    pub(super) fn stores_last(&mut self, nest: &For, alone: bool, hooks: &mut dyn LoopHooks, out: &mut Writer) {
        let Some((loops, statement)) = points(nest) else { return self.plain_loop(nest, hooks, out) };
        let computation = self.input.algorithm.computation(statement.computation);
        let iterators = iterators_of(statement);
        let at = Instance { computation: statement.computation, iterators: &iterators };
        let counts: Vec<i64> = loops.iter().map(|it| count(it).unwrap_or(1)).collect();
        let name = self.program.names.namer().pick("values");
        // The place of a point among them.
        let mut place = String::new();
        for (level, it) in loops.iter().enumerate() {
            let variable = &self.program.names.variables[it.variable.0 as usize];
            let from_first = match it.lower.as_const().unwrap_or(0) {
                0 => variable.clone(),
                lower if level == 0 && loops.len() == 1 => format!("{variable} - {lower}"),
                lower => format!("({variable} - {lower})"),
            };
            place = match place.as_str() {
                "" => from_first,
                outer if outer.contains(' ') && !outer.starts_with('(') => {
                    format!("{} * ({outer}) + {from_first}", counts[level])
                }
                outer => format!("{} * {outer} + {from_first}", counts[level]),
            };
        }
        if !alone {
            out.open("");
        }
        out.line(format!("{} {name}[{}];", c_type(computation.value.ty), counts.iter().product::<i64>()));
        for is_stored in [false, true] {
            for it in &loops {
                hooks.enter(it, self, out);
                let variable = self.program.names.variables[it.variable.0 as usize].clone();
                let head = self.for_head(&variable, &it.lower, &it.upper, it.step, None);
                out.open(head);
                hooks.begin(it, self, out);
            }
            if !is_stored {
                self.origin(statement.computation, out);
            }
            self.bindings(&self.naming(statement, is_stored), out);
            if is_stored {
                let target = self.element(&computation.write, &at).0;
                out.line(format!("{target} = {name}[{place}];"));
            } else {
                self.decided.clone_from(&statement.decided);
                self.lets(&at, out);
                let value = self.value(&computation.value, &at).0;
                out.line(format!("{name}[{place}] = {value};"));
                self.decided.clear();
            }
            for it in loops.iter().rev() {
                hooks.end(it, self, out);
                out.close();
                hooks.leave(it);
            }
        }
        if !alone {
            out.close();
        }
    }

    /// The statement with the bindings alone that its store mentions, or its value.
    fn naming(&self, statement: &Statement, is_stored: bool) -> Statement {
        let id = statement.computation;
        let computation = self.input.algorithm.computation(id);
        let is_used = |iterator: u32| match is_stored {
            true => self.input.access_uses_iterator(&computation.write, iterator),
            false => {
                let mut values = computation.lets.iter().map(|it| &it.value).chain([&computation.value]);
                values.any(|value| self.input.expression_uses_iterator(id, value, iterator))
            }
        };
        let used: Vec<VariableId> = (0..)
            .zip(&statement.iterators)
            .filter(|(iterator, _)| is_used(*iterator))
            .filter_map(|(_, variable)| *variable)
            .collect();
        let mut bindings: Vec<(VariableId, IntExpr)> = vec![];
        // One binding may name an earlier one.
        for (variable, value) in statement.bindings.iter().rev() {
            let named_later = bindings.iter().any(|(_, value)| value.involves(&|it| it == *variable));
            if named_later || used.contains(variable) {
                bindings.push((*variable, value.clone()));
            }
        }
        bindings.reverse();
        Statement { bindings, ..statement.clone() }
    }
}

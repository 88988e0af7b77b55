//! Register tiles: the full version, and the loops as they are for the rest.

use super::block::LoopHooks;
use super::{Printer, Writer, c_type};
use crate::int_expr::{Cond, IntExpr};
use crate::program::{For, Node};
use crate::tile::{Along, Kept, Tile, is_dense};
use tessella_polyhedral::algorithm::ComputationId;

impl Printer<'_> {
    pub(super) fn tile(&mut self, it: &Tile, alone: bool, hooks: &mut dyn LoopHooks, out: &mut Writer) {
        let mut condition = self.cond(&it.full);
        let nested = !alone && (it.along.is_some() || !it.bases.is_empty());
        if nested {
            out.open("");
        }
        self.bases(&it.bases, out);
        if let Some(along) = &it.along {
            for (variable, value) in [&along.from, &along.until] {
                let value = self.int(value);
                out.line(format!("const int64_t {} = {value};", self.variable(*variable)));
            }
            let some = format!("{} <= {}", self.variable(along.from.0), self.variable(along.until.0));
            let apart = match &it.apart {
                Cond::Const(true) => String::new(),
                Cond::Or(_) => format!(" && ({})", self.cond(&it.apart)),
                other => format!(" && {}", self.cond(other)),
            };
            let some = some + &apart;
            condition = match condition.as_str() {
                "1" => some,
                condition => format!("{condition} && {some}"),
            };
        }
        out.open(format!("if ({condition})"));
        self.full(it, hooks, out);
        out.reopen("else");
        self.block(&[Node::For((*it.generic).clone())], hooks, out);
        out.close();
        if nested {
            out.close();
        }
    }

    fn full(&mut self, it: &Tile, hooks: &mut dyn LoopHooks, out: &mut Writer) {
        let generic = |lower: IntExpr, upper: IntExpr| {
            Node::For(For { lower, upper, body: it.generic.body.clone(), ..(*it.generic).clone() })
        };
        let Some(along) = &it.along else {
            self.instances(it, out);
            return;
        };
        let (from, until) = (IntExpr::Variable(along.from.0), IntExpr::Variable(along.until.0));
        if along.clipped {
            let before = generic(it.generic.lower.clone(), from.clone().minus(IntExpr::Const(1)));
            self.block(&[before], hooks, out);
        }
        for kept in &it.registers {
            let element = self.input.algorithm.array(kept.array).element;
            let ty = match kept.strides.is_empty() {
                true => c_type(element).to_string(),
                false => self.vector_type(element, it.lanes),
            };
            let value = match self.side(it, kept) {
                Some(place) => place,
                None => format!("({ty}){{{}}}", self.each_lane(it, kept).join(", ")),
            };
            out.line(format!("{ty} {} = {value};", kept.name));
        }
        self.kept = it.registers.clone();
        self.along(it, along, hooks, out);
        self.kept = vec![];
        for kept in &it.registers {
            match self.side(it, kept) {
                Some(place) => out.line(format!("{place} = {};", kept.name)),
                None => {
                    for (lane, place) in self.each_lane(it, kept).into_iter().enumerate() {
                        out.line(format!("{place} = {}[{lane}];", kept.name));
                    }
                }
            }
        }
        if along.clipped {
            let after = generic(until.plus(IntExpr::Const(1)), it.generic.upper.clone());
            self.block(&[after], hooks, out);
        }
    }

    /// The loop over which the tile moves.
    fn along(&mut self, it: &Tile, along: &Along, hooks: &mut dyn LoopHooks, out: &mut Writer) {
        let nest = For {
            lower: IntExpr::Variable(along.from.0),
            upper: IntExpr::Variable(along.until.0),
            ..(*it.generic).clone()
        };
        hooks.enter(&nest, self, out);
        let variable = self.variable(along.variable).to_string();
        let head = self.for_head(&variable, &nest.lower, &nest.upper, along.step, None);
        out.open(head);
        self.bases(&it.moving_bases, out);
        self.instances(it, out);
        out.close();
        hooks.leave(&nest);
    }

    fn bases(&mut self, bases: &[(crate::int_expr::VariableId, IntExpr)], out: &mut Writer) {
        for (variable, value) in bases {
            let value = self.int(value);
            out.line(format!("const int64_t {} = {value};", self.variable(*variable)));
        }
    }

    fn instances(&mut self, it: &Tile, out: &mut Writer) {
        let mut last: Option<ComputationId> = None;
        for instance in &it.instances {
            if last != Some(instance.computation) {
                self.origin(instance.computation, out);
                last = Some(instance.computation);
            }
            let source = self.input.algorithm.computation(instance.computation);
            let braces = !source.lets.is_empty() && source.predicate.is_none();
            if braces {
                out.open("");
            }
            match it.lanes {
                1 => self.update(instance.computation, &instance.iterators, out),
                lanes => self.vector_update(instance, lanes, out),
            }
            if braces {
                out.close();
            }
        }
    }

    /// The place in memory of a register's elements, if they are one or side by side.
    fn side(&mut self, it: &Tile, kept: &Kept) -> Option<String> {
        let first = self.element_at(kept.array, &kept.subscripts);
        if kept.strides.is_empty() {
            return Some(first);
        }
        let neighbours = kept.strides.iter().enumerate().all(|(axis, &stride)| stride == i64::from(axis == 0));
        let element = self.input.algorithm.array(kept.array).element;
        (neighbours && is_dense(&self.input, kept.array)).then(|| self.side_by_side(element, it.lanes, &first))
    }

    /// The places of a register's lanes.
    fn each_lane(&mut self, it: &Tile, kept: &Kept) -> Vec<String> {
        let place = |lane: i64| {
            let subscripts = kept.subscripts.iter().zip(&kept.strides);
            subscripts.map(|(at, stride)| at.clone().plus(IntExpr::Const(lane * stride))).collect::<Vec<_>>()
        };
        (0..i64::from(it.lanes)).map(|lane| self.element_at(kept.array, &place(lane))).collect()
    }

    pub(super) fn variable(&self, variable: crate::int_expr::VariableId) -> &str {
        &self.program.names.variables[variable.0 as usize]
    }
}

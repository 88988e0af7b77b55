//! Names of the variables of kernels that stream.

use super::super::Printer;
use super::fixed::FixedNames;
use crate::stream::Streaming;

/// Names of the text's own variables.
pub(super) struct Locals {
    pub(super) lane: String,
    pub(super) stores: String,
    pub(super) packed: String,
    pub(super) base: String,
    pub(super) column: String,
    /// The number of the first line that a warp holds.
    pub(super) top: String,
    /// Which of the warps of a plane it is.
    pub(super) warp: String,
    /// The first and the last iteration whose rows nothing has to be looked at for, and whether one is such.
    pub(super) calm: [String; 2],
    pub(super) safe: String,
    /// The first and the last line that a warp stores, counted from its first one.
    pub(super) band: [String; 2],
    /// A line, counted from there.
    pub(super) line: String,
    pub(super) row: String,
    /// How many rows the part has, where that is no number.
    pub(super) rows: String,
    pub(super) now: String,
    pub(super) turn: String,
    pub(super) step: String,
    pub(super) point: String,
    pub(super) here: String,
    pub(super) inside: String,
    /// Points outside of what a stage computes.
    pub(super) kept: String,
    /// What a stage that adds up has when all rows gave their part.
    pub(super) done: String,
    pub(super) value: String,
    /// How far away columns and lines lie whose axes go round.
    pub(super) around: [String; 2],
    pub(super) fields: Vec<FieldNames>,
    pub(super) stages: Vec<StageNames>,
}

pub(super) struct FieldNames {
    pub(super) rows: String,
    pub(super) ahead: String,
    pub(super) has: String,
    pub(super) first: String,
    pub(super) last: String,
    /// Which of its points a lane stores.
    pub(super) stored: String,
    /// The lines that warps give to each other, and where among them those of this plane are.
    pub(super) edges: String,
    pub(super) slot: String,
    /// Where its points of the row to be loaded and of the one to be stored lie, and how far the next row is.
    pub(super) from: String,
    pub(super) to: String,
    pub(super) plane: String,
    /// From line to line.
    pub(super) stride: String,
}

pub(super) struct StageNames {
    /// The parts of values that are not done.
    pub(super) sums: String,
    pub(super) within: String,
    pub(super) first: String,
    pub(super) last: String,
    /// Around the iterations that meet its rows, where those lie amidst the others.
    pub(super) before: String,
    pub(super) behind: String,
    pub(super) fixed: FixedNames,
}

impl Printer<'_> {
    pub(super) fn locals(&self, it: &Streaming) -> Locals {
        let mut namer = self.program.names.namer();
        let arrays: Vec<&String> =
            it.stream.fields.iter().map(|field| &self.program.names.arrays[field.array.0 as usize]).collect();
        let fields = arrays.iter().map(|array| {
            let mut name = |what: &str| namer.fresh(&format!("{array}_{what}"));
            FieldNames {
                rows: name("rows"),
                ahead: name("ahead"),
                has: name("has"),
                first: name("first"),
                last: name("last"),
                stored: name("stored"),
                edges: name("edges"),
                slot: name("slot"),
                from: name("from"),
                to: name("to"),
                plane: name("plane"),
                stride: name("stride"),
            }
        });
        let fields = fields.collect();
        let stages = it.stream.nests().map(|stage| {
            let computation = &self.program.names.computations[stage.computation.0 as usize];
            let mut name = |what: &str| namer.fresh(&format!("{computation}_{what}"));
            let [sums, within, first, last, before, behind] =
                ["sums", "within", "first", "last", "before", "behind"].map(&mut name);
            StageNames { sums, within, first, last, before, behind, fixed: self.fixed_names(stage, &mut namer) }
        });
        let stages = stages.collect();
        let mut name = |what: &str| namer.fresh(what);
        Locals {
            lane: name("lane"),
            stores: name("stores"),
            packed: name("packed"),
            base: name("base"),
            column: name("column"),
            top: name("top"),
            warp: name("warp"),
            calm: [name("calm_first"), name("calm_last")],
            safe: name("safe"),
            band: [name("first_stored"), name("last_stored")],
            line: name("line"),
            row: name("row"),
            rows: name("rows"),
            now: name("now"),
            turn: name("turn"),
            step: name("step"),
            point: name("k"),
            here: name("here"),
            inside: name("inside"),
            kept: name("kept"),
            done: name("done"),
            value: name("value"),
            around: [name("column_around"), name("line_around")],
            fields,
            stages,
        }
    }
}

//! When each row of each version is computed.
//!
//! Version `l` of a field is what it holds after `l` time steps of a launch. With `lag` rows from one time step to the next
//! and `lag[s]` rows for stage `s` within it, iteration `r` of a warp computes row `r - (l * lag + lag[s])` of the version
//! `l + 1` that stage `s` writes, and loads row `r + lead` of version 0, where `lead = lag - lag[s]` makes the formula
//! hold for `l = -1`, too. A stage that reads row `y + o` of a version finds it computed `age = (its own row lag) - o -
//! (that version's row lag)` iterations ago, and all is well if no age is negative, stages of one iteration being run in
//! order; where it reads another line, which another warp may have, the age has to be positive. The largest age says how many
//! rows have to be kept.
//!
//! Where several stages write a field, the first one, whose lag is that of the version, begins each row, and later ones change it where
//! it lies: none before those before it, and each before the rows are read by who wants its values, and after they were read by who does not.

use super::{Obstacle, Source, Stream};
use std::collections::BTreeMap;

/// A number of points towards lower and higher subscripts; none is negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reach {
    pub below: i64,
    pub above: i64,
}

impl Reach {
    /// This, and as far as `by` goes.
    pub fn or(self, by: i64) -> Reach {
        Reach { below: self.below.max(-by), above: self.above.max(by) }
    }
}

/// More rows between two time steps would leave no room for the data.
const MOST_LAG: i64 = 64;

/// Finds the lags, ages and reaches of a stream whose fields and reads are known.
pub(super) fn fill(stream: &mut Stream) -> Result<(), Obstacle> {
    // Where there are no rows, nothing has to wait for the next one.
    let least = i64::from(stream.axes[2].is_some());
    let found = (least..=MOST_LAG).find_map(|lag| Some((lag, lags(stream, lag)?)));
    let Some((lag, lags)) = found else {
        return Err(Obstacle(format!("a time step reaches more than {MOST_LAG} rows ahead")));
    };
    stream.lag = lag;
    // A point outside of the box is that of the version before: its row is `lag` iterations old.
    stream.depth = lag + 1;
    for (stage, own) in stream.stages.iter_mut().zip(lags) {
        stage.lag = own;
    }
    for field in &mut stream.fields {
        field.lead = lag - stream.stages[field.writer].lag;
    }
    for stage in 0..stream.stages.len() {
        stream.depth = stream.depth.max(stream.revises_after(stage) + 1);
    }
    let versions: Vec<i64> = stream.fields.iter().map(|field| field.lead).collect();
    for at in 0..stream.records.len() {
        stream.records[at].lag = lag_of_record(stream, at);
    }
    for stage in stream.stages.iter_mut().chain(&mut stream.records) {
        for read in &mut stage.reads {
            if let Source::Field { field, fresh, offset, age } = read {
                let version = if *fresh { lag - versions[*field] } else { -versions[*field] };
                *age = stage.lag - offset[2] - version;
                debug_assert!(*age >= 0, "the lags were chosen so");
                stream.depth = stream.depth.max(*age + 1);
            }
        }
    }
    stream.beside = [0, 1]
        .map(|axis| needed(stream, axis).values().fold(Reach::default(), |all, (low, high)| all.or(*low).or(*high)));
    // Row `low` of a version is computed `lag` iterations after the one that has its number.
    let starts = needed(stream, 2).into_iter().map(|((field, version), (low, _))| {
        -(low + (version - 1) * stream.lag + stream.stages[stream.fields[field].writer].lag)
    });
    stream.back = starts.max().unwrap_or(0);
    Ok(())
}

/// The smallest lags of the stages, for this lag between time steps; `None` if there are none.
fn lags(stream: &Stream, lag: i64) -> Option<Vec<i64>> {
    let mut lags = vec![0i64; stream.stages.len()];
    // Each pass makes at least one lag final: the constraints are differences.
    for _ in 0..=stream.stages.len() {
        let before = lags.clone();
        for (at, stage) in stream.stages.iter().enumerate() {
            for read in &stage.reads {
                let Source::Field { field, fresh, offset, .. } = read else { continue };
                let ahead = offset[2] + i64::from(offset[1] != 0);
                for writer in stream.writers(*field) {
                    match fresh {
                        true if writer < at => lags[at] = lags[at].max(lags[writer] + ahead),
                        // It reads what this one has not revised.
                        true if writer > at => lags[writer] = lags[writer].max(lags[at] - offset[2]),
                        true => {}
                        false => lags[at] = lags[at].max(lags[writer] - lag + ahead),
                    }
                }
            }
            let field = &stream.fields[stage.field];
            match at == field.writer {
                // What it does not compute is the version before.
                true => lags[at] = lags[at].max(lags[field.finisher] - lag),
                false => {
                    let before = stream.writers(stage.field).take_while(|writer| *writer < at);
                    lags[at] = before.map(|writer| lags[writer]).fold(lags[at], i64::max);
                }
            }
        }
        if lags == before {
            // Loads run ahead of the first stage, never behind it.
            return lags.iter().all(|own| *own <= lag).then_some(lags);
        }
    }
    None
}

/// How many rows what records lags behind the first stage of its step: it waits for all that is written to the rows that it reads.
fn lag_of_record(stream: &Stream, record: usize) -> i64 {
    let reads = stream.records[record].reads.iter().filter_map(|read| match read {
        Source::Field { field, fresh, .. } => Some((*field, *fresh)),
        Source::Memory | Source::Unused => None,
    });
    let there = reads.flat_map(|(field, fresh)| {
        let before = if fresh { 0 } else { stream.lag };
        stream.writers(field).map(move |writer| stream.stages[writer].lag - before)
    });
    there.fold(0, i64::max)
}

/// Which points of each version of a field a launch needs, along an axis, relative to one that it stores.
fn needed(stream: &Stream, axis: usize) -> BTreeMap<(usize, i64), (i64, i64)> {
    let mut needed: BTreeMap<(usize, i64), (i64, i64)> = BTreeMap::new();
    let last = i64::from(stream.size.steps);
    for (at, field) in stream.fields.iter().enumerate() {
        // A launch of fewer steps stores an earlier version.
        for version in i64::from(!field.rim)..=last {
            needed.insert((at, version), (0, 0));
        }
    }
    for step in (0..last).rev() {
        for stage in stream.stages.iter().rev() {
            let (low, high) = needed[&(stage.field, step + 1)];
            if let Some(before) = needed.get_mut(&(stage.field, step)) {
                *before = (before.0.min(low), before.1.max(high));
            }
            for read in &stage.reads {
                if let Source::Field { field, fresh, offset, .. } = read {
                    let version = if *fresh { step + 1 } else { step };
                    let widest = needed.get_mut(&(*field, version)).expect("what is not carried is read fresh");
                    *widest = (widest.0.min(low + offset[axis]), widest.1.max(high + offset[axis]));
                }
            }
        }
    }
    needed
}

#[cfg(test)]
pub(super) mod tests;

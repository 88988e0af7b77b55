//! What a GPU program takes, and what it has to do: measured times beside counted bytes and operations.

mod groups;

use crate::pipeline::Refusal;
use crate::unit::{Built, Unit};
use groups::{Launched, Part, groups_of, passes_of};
use std::fmt::Write;
use std::time::Duration;
use tessella_polyhedral::effort;
use tessella_polyhedral::schedule::Loop;
use tessella_polyhedral::work::{Precision, Work, passes, work};
use tessella_runtime::cuda::{Ceilings, Copies, KernelProfile, Profile};

/// What was measured of a call, and on what.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    pub device: String,
    pub ceilings: Ceilings,
    pub profile: Profile,
}

/// Measurements with the work that they stand for.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    pub function: String,
    /// Parameters and their values.
    pub params: Vec<(String, i64)>,
    pub measured: Measured,
    pub kernels: Vec<Group>,
}

/// Kernels that run the same computations, or the text of one kernel of a stream launched with other arrays; nearly always one.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    pub kernels: Vec<KernelProfile>,
    /// `None`: it takes too long to count, or nothing is known to be moved.
    pub work: Option<Work>,
}

/// The operations of isl, weighed for pairs of instances, and the iterations of loops that counting may take for all kernels
/// together: about a second each, since it mostly looks at single instances. A kernel gets an equal part of what the ones
/// before it have left.
const OPERATIONS: u64 = 12_000_000;
const STEPS: u64 = 10_000_000;

/// Counts the work of what was measured.
///
/// # Errors
/// What code generation and the core refuse; the program has been through both before.
pub fn report(unit: &Unit<'_>, built: &Built, measured: Measured) -> Result<Report, Refusal> {
    let verified = &built.analysed.verified;
    let algorithm = verified.algorithm();
    let program = built.loops(unit)?;
    let core = |error| vec![built.diagnose(unit, error)];
    let params = &measured.profile.params;
    let weight = effort::weight(algorithm, verified.schedule());
    let groups = groups_of(&program, &measured.profile.kernels);
    let known = passes_of(&program, &groups, params, STEPS);
    let (mut kernels, mut operations, mut steps) = (vec![], OPERATIONS / weight, STEPS);
    for (at, Launched { kernels: launched, part }) in groups.iter().enumerate() {
        let shares = (groups.len() - at) as u64;
        let (share, mut own_steps) = ((operations / shares).max(1), steps / shares);
        steps -= own_steps;
        let (counted, left) = built.ctx.with_budget(share, || {
            let counted = match part {
                Part::Statements { computations, around } => {
                    let is_around = |it: &Loop| around.contains(&it.name);
                    work(&built.ctx, verified, computations, &is_around, params, &mut own_steps)
                }
                Part::Steps { text, .. } => match known.get(text) {
                    Some(known) => passes(&built.ctx, verified, known, params, &mut own_steps),
                    None => Ok(None),
                },
            };
            (counted, built.ctx.operations_left().unwrap_or(0))
        });
        operations = operations.saturating_sub(share - left);
        steps += own_steps;
        // Every kernel that is launched moves something.
        let work = or_uncounted(counted).map_err(core)?.filter(|it| it.read_bytes.max(it.written_bytes) > 0);
        kernels.push(Group { kernels: launched.clone(), work });
    }
    let params = algorithm.params.iter().zip(params).map(|(param, value)| (param.name.clone(), *value)).collect();
    Ok(Report { function: algorithm.name.clone(), params, measured, kernels })
}

/// Counting that reaches its limit, or that isl cannot do, counts nothing; it says nothing against the program, which has run.
fn or_uncounted(
    counted: Result<Option<Work>, tessella_polyhedral::error::Error>,
) -> Result<Option<Work>, tessella_polyhedral::error::Error> {
    match counted {
        Err(tessella_polyhedral::error::Error::Isl(_)) => Ok(None),
        other => other,
    }
}

impl Group {
    pub fn name(&self) -> String {
        let mut names: Vec<&str> = self.kernels.iter().map(|it| it.name.as_str()).collect();
        names.dedup();
        names.join(" + ")
    }

    pub fn time(&self) -> Duration {
        self.kernels.iter().map(|it| it.time).sum()
    }

    pub fn launches(&self) -> u64 {
        self.kernels.iter().map(|it| it.launches).sum()
    }

    /// The kernel that takes longest.
    fn longest(&self) -> Option<&KernelProfile> {
        self.kernels.iter().max_by_key(|it| it.time)
    }
}

impl Report {
    /// Lines `key=value` for programs: what holds for the call, then, from each `kernel=` on, what holds for it.
    pub fn lines(&self) -> String {
        let mut text = String::new();
        let mut put = |key: &str, value: String| {
            writeln!(text, "{key}={value}").expect("writing to a string does not fail");
        };
        let Measured { device, ceilings, profile } = &self.measured;
        put("device", device.clone());
        put("function", self.function.clone());
        put("copy_ceiling", format!("{:e}", ceilings.copy));
        put("float32_ceiling", format!("{:e}", ceilings.float32));
        put("float64_ceiling", format!("{:e}", ceilings.float64));
        put("kernels_time", seconds(profile.kernels_time));
        for (name, copies) in [("in", profile.copied_in), ("out", profile.copied_out)] {
            put(&format!("copied_{name}_bytes"), copies.bytes.to_string());
            put(&format!("copied_{name}_count"), copies.count.to_string());
            put(&format!("copied_{name}_time"), seconds(copies.time));
        }
        for group in &self.kernels {
            put("kernel", group.name());
            put("launches", group.launches().to_string());
            put("time", seconds(group.time()));
            if let Some(work) = &group.work {
                put("instances", work.instances.to_string());
                put("read_bytes", work.read_bytes.to_string());
                put("written_bytes", work.written_bytes.to_string());
                put("float32", work.float32.to_string());
                put("float64", work.float64.to_string());
                put("exact", u8::from(work.precision == Precision::Exact).to_string());
            }
            if let Some(kernel) = group.longest() {
                let triple = |of: [u32; 3]| format!("{} {} {}", of[0], of[1], of[2]);
                put("grid", triple(kernel.grid));
                put("block", triple(kernel.block));
                put("registers", kernel.registers.to_string());
                put("shared_bytes", kernel.shared_bytes.to_string());
                put("local_bytes", kernel.local_bytes.to_string());
                put("blocks", kernel.blocks.to_string());
                put("occupancy", format!("{:e}", kernel.occupancy));
            }
        }
        text
    }

    /// A table for people.
    pub fn table(&self) -> String {
        let Measured { device, ceilings, profile } = &self.measured;
        let mut text = String::new();
        let sizes: Vec<String> = self.params.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        let mut line = |words: String| {
            text.push_str(words.trim_end());
            text.push('\n');
        };
        line(format!("{}: {}", self.function, sizes.join(", ")));
        line(format!(
            "on {device}, which copies {} and computes {} in Float32, {} in Float64",
            rate(ceilings.copy, "B/s"),
            rate(ceilings.float32, "FLOP/s"),
            rate(ceilings.float64, "FLOP/s")
        ));
        let width = self.kernels.iter().map(|group| group.name().chars().count()).max().unwrap_or(0).max(6);
        line(format!(
            "  {:width$} {:>8} {:>11} {:>10} {:>11} {:>8} {:>13} {:>8} {:>9} {:>8} {:>9}",
            "kernel",
            "launches",
            "time",
            "bytes",
            "rate",
            "of copy",
            "operations",
            "of peak",
            "registers",
            "shared",
            "occupancy"
        ));
        for group in &self.kernels {
            let time = group.time().as_secs_f64();
            let (mut bytes, mut bandwidth, mut of_copy) = ("uncounted".to_owned(), "-".to_owned(), "-".to_owned());
            let (mut operations, mut of_peak) = ("-".to_owned(), "-".to_owned());
            if let Some(work) = &group.work {
                let moved = work.read_bytes.saturating_add(work.written_bytes) as f64;
                let most = if work.precision == Precision::AtMost { "≤ " } else { "" };
                bytes = format!("{most}{}", rate(moved, "B"));
                if time > 0.0 {
                    bandwidth = rate(moved / time, "B/s");
                    of_copy = share(moved / time, ceilings.copy);
                    if work.float32 + work.float64 > 0 {
                        operations = format!("{most}{}", rate((work.float32 + work.float64) as f64 / time, "FLOP/s"));
                        // What either kind takes at its peak, added up.
                        let least = work.float32 as f64 / ceilings.float32 + work.float64 as f64 / ceilings.float64;
                        of_peak = share(least, time);
                    }
                }
            }
            let (mut registers, mut shared, mut occupancy) = (String::new(), String::new(), String::new());
            if let Some(kernel) = group.longest() {
                let spilled =
                    if kernel.local_bytes > 0 { format!(" +{} B", kernel.local_bytes) } else { String::new() };
                registers = format!("{}{spilled}", kernel.registers);
                shared = format!("{} B", kernel.shared_bytes);
                occupancy = share(kernel.occupancy, 1.0);
            }
            line(format!(
                "  {:width$} {:>8} {:>11} {:>10} {:>11} {:>8} {:>13} {:>8} {:>9} {:>8} {:>9}",
                group.name(),
                group.launches(),
                span(group.time()),
                bytes,
                bandwidth,
                of_copy,
                operations,
                of_peak,
                registers,
                shared,
                occupancy
            ));
        }
        line(format!("  kernels together {}, gaps included", span(profile.kernels_time)));
        for (words, copies) in [("in", profile.copied_in), ("out", profile.copied_out)] {
            line(format!("  copied {words}: {}", copied(copies)));
        }
        text
    }
}

fn copied(copies: Copies) -> String {
    if copies.count == 0 {
        return "nothing".to_owned();
    }
    let bytes = copies.bytes as f64;
    let speed = rate(bytes / copies.time.as_secs_f64().max(1e-9), "B/s");
    let plural = if copies.count == 1 { "copy" } else { "copies" };
    format!("{} in {} ({} {plural}, {speed})", rate(bytes, "B"), span(copies.time), copies.count)
}

fn seconds(time: Duration) -> String {
    format!("{:e}", time.as_secs_f64())
}

/// A time in three or four digits.
fn span(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        _ if seconds >= 1.0 => format!("{seconds:.3} s"),
        _ if seconds >= 1e-3 => format!("{:.3} ms", seconds * 1e3),
        _ => format!("{:.1} µs", seconds * 1e6),
    }
}

/// An amount with a prefix, in three digits.
fn rate(amount: f64, unit: &str) -> String {
    let (scale, prefix) = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")]
        .into_iter()
        .find(|(scale, _)| amount >= *scale)
        .unwrap_or((1.0, ""));
    let value = amount / scale;
    let digits = if value >= 99.95 || prefix.is_empty() {
        0
    } else if value >= 9.995 {
        1
    } else {
        2
    };
    format!("{value:.digits$} {prefix}{unit}")
}

fn share(part: f64, whole: f64) -> String {
    if whole > 0.0 { format!("{:.0} %", 100.0 * part / whole) } else { "-".to_owned() }
}

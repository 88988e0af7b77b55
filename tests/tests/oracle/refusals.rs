//! Refusals that are no violated dependence: by which causes there may be any, and how many a campaign met.

use crate::examine::{Fault, fault};
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

/// Each cause, by its name in the core's errors, with the code that users see. "What is refused although legal" in
/// `docs/model.md` lists them all; another cause is a fault.
const DOCUMENTED: &[(&str, &str)] = &[
    ("UnknownLoop", "E0412"),
    ("NotNested", "E0413"),
    ("NotPerfectlyNested", "E0414"),
    ("NotAdjacent", "E0415"),
    ("AlreadyShared", "E0415"),
    ("TooFewLoops", "E0416"),
    ("NothingToDistribute", "E0417"),
    ("SameComputation", "E0421"),
    ("SameLoop", "E0421"),
    ("AlreadyTagged", "E0422"),
    ("TagsDiffer", "E0422"),
    ("NothingToJam", "E0433"),
    ("NotBetween", "E0436"),
    ("VaryingExtent", "E0437"),
    ("FlatTile", "E0446"),
    ("TooManyCopies", "E0447"),
    ("OrderTogether", "E0474"),
    ("OrderLoopTwice", "E0471"),
    ("NotTiles", "E0438"),
    ("OnePiece", "E0460"),
    ("OneSize", "E0460"),
    ("NeverHolds", "E0441"),
    ("NoFactor", "E0434"),
    ("NoShift", "E0435"),
    ("CannotInline", "E0442"),
    ("CannotFactor", "E0443"),
    ("CannotBeAtomic", "E0454"),
    ("NoOwners", "E0455"),
    ("NoRows", "E0456"),
    ("CannotComputeAt", "E0444"),
    ("OtherValues", "E0445"),
    ("CannotPrivatize", "E0449"),
    ("CannotOverlap", "E0550"),
    ("NotStencil", "E0560"),
    ("TileHeight", "E0561"),
    ("TileWidth", "E0562"),
    ("CannotStream", "E0490"),
    ("NeedsCpu", "E0424"),
    ("GpuMapping", "E0420"),
    ("BlockTooLarge", "E0603"),
    ("BlockTooDeep", "E0609"),
    ("LoopsApart", "E0605"),
    ("SharedRegister", "E0606"),
    ("RangeApart", "E0315"),
    ("NoBox", "E0501"),
    ("Untold", "E0523"),
    ("AllocationInside", "E0610"),
    ("AxisCount", "E0522"),
    ("CallersMemory", "E0521"),
    ("NotPadded", "E0546"),
    ("BufferTaken", "E0524"),
    ("NotAccessed", "E0526"),
    ("NoConstantSize", "E0527"),
    ("TooLarge", "E0528"),
    ("TooLargeTogether", "E0528"),
    ("SharedTooLarge", "E0528"),
    ("ManyThreads", "E0603"),
    ("ManyThreadsTogether", "E0603"),
    ("WrongLevel", "E0529"),
    ("ComputedSubscript", "E0529"),
    ("NoThreadCount", "E0530"),
    ("NotConstant", "E0531"),
    ("Unbounded", "E0532"),
    ("ConstantTooLarge", "E0533"),
    ("Overwritten", "E0520"),
    ("a promotion that runs into parallel loops", "E0401"),
    ("NoStep", "E0453"),
    ("NotCopied", "E0534"),
    ("FixedLifetime", "E0535"),
    ("ManyLoops", "E0537"),
    ("InKernel", "E0538"),
    ("Overwrites", "E0539"),
    ("NotMoved", "E0540"),
    ("Outside", "E0541"),
    ("FreedBeforeUse", "E0542"),
    ("Lifetimes", "E0543"),
    ("Divergent", "E0544"),
    ("InParallel", "E0545"),
    ("NeverInside", "E0502"),
    ("overflow", "E0432"),
    ("isl's limit", "E0430"),
    ("isl's limit in code generation", "E0601"),
];

/// Whether a refusal is one that the documentation explains.
pub fn check_documented(why: &str) -> Result<(), Fault> {
    let is_code = |why: &str| DOCUMENTED.iter().any(|(_, code)| why.split(' ').next() == Some(code));
    match is_code(why) || code(why).is_some() {
        true => Ok(()),
        false => fault("refused for no documented cause", why),
    }
}

fn code(why: &str) -> Option<&'static str> {
    DOCUMENTED.iter().find(|(cause, _)| *cause == why).map(|(_, code)| *code)
}

/// The causes whose codes a text does not name, alone or within a range such as "`E0411` to `E0422`".
pub fn missing_in(text: &str) -> Vec<&'static str> {
    let mut named: Vec<(u32, u32)> = vec![];
    for (at, _) in text.match_indices("`E0") {
        let Some(number) = text.get(at + 2..at + 6).and_then(|digits| digits.parse().ok()) else { continue };
        match named.last_mut() {
            Some(range) if text[..at].ends_with("` to ") => range.1 = number,
            _ => named.push((number, number)),
        }
    }
    let is_named = |code: &str| {
        let number: u32 = code[1..].parse().expect("a code is a letter and a number");
        named.iter().any(|(first, last)| (*first..=*last).contains(&number))
    };
    DOCUMENTED.iter().filter(|(_, code)| !is_named(code)).map(|(cause, _)| *cause).collect()
}

/// How often commands and orders were refused by each cause.
#[derive(Default)]
pub struct Refusals {
    by_cause: BTreeMap<String, Refused>,
}

#[derive(Default)]
struct Refused {
    all: u64,
    /// Where the command asks for an order that brute force finds legal.
    legal: u64,
}

impl Refusals {
    pub fn count(&mut self, why: &str, is_legal: bool) {
        let cause = why.lines().next().unwrap_or_default();
        let known = self.by_cause.entry(cause.to_string()).or_default();
        known.all += 1;
        known.legal += u64::from(is_legal);
    }
}

impl Display for Refusals {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "refused by cause, and how many of these ask for an order that brute force finds legal:")?;
        self.by_cause.iter().try_for_each(|(cause, Refused { all, legal })| {
            writeln!(f, "{all:8} {legal:8} {cause} {}", code(cause).unwrap_or_default())
        })
    }
}

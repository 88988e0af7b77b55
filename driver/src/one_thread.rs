//! What a schedule leaves to one thread of a GPU: loops that its commands give no threads, though their iterations need nothing of one another.
//!
//! Without a schedule Tessella gives out threads itself, and `explain` says why a loop has none.

use crate::explain::loops::{has_threads, parallel_on_gpu};
use crate::unit::{Built, Unit};
use tessella_diagnostics::{Code, Diagnostic};
use tessella_polyhedral::error::Error;
use tessella_polyhedral::layers::Target;
use tessella_polyhedral::legality::is_legal;
use tessella_polyhedral::schedule::{Node, Path, Tag};

const CODE: Code = Code("E0498");

/// What isl may do to find out.
const OPERATIONS: u64 = 1_000_000;

/// A warning for each outermost loop of a kind; none where it takes too much work to say.
pub fn warnings(unit: &Unit<'_>, built: &Built) -> Vec<Diagnostic> {
    let verified = &built.analysed.verified;
    let has_commands = unit.commands.as_ref().is_some_and(|commands| !commands.is_empty());
    if !has_commands || verified.target() != Target::Gpu || verified.source().whole.is_some() {
        return vec![];
    }
    let found = built.ctx.with_budget(OPERATIONS, || {
        let mut found = vec![];
        look(built, &verified.schedule().root, &Path::default(), &mut found)?;
        Ok::<_, Error>(found)
    });
    found.unwrap_or_default().into_iter().filter_map(|path| warning(unit, built, &path)).collect()
}

/// Goes down to loops that could run in parallel, and of which neither one around nor one inside has threads.
fn look(built: &Built, node: &Node, path: &Path, found: &mut Vec<Path>) -> Result<(), Error> {
    match node {
        Node::Computation(_) => Ok(()),
        Node::Sequence(children) => {
            children.iter().enumerate().try_for_each(|(at, child)| look(built, child, &path.child(at), found))
        }
        Node::Loop(it) => match it.tag {
            Tag::Sequential | Tag::Unroll(_) | Tag::Separate if is_free(built, node, path)? => {
                found.push(path.clone());
                Ok(())
            }
            Tag::Sequential | Tag::Unroll(_) | Tag::Separate => look(built, &it.body, &path.child(0), found),
            _ => Ok(()),
        },
    }
}

/// Whether a loop without threads below could have some.
fn is_free(built: &Built, node: &Node, path: &Path) -> Result<bool, Error> {
    let verified = &built.analysed.verified;
    let (source, below) = (verified.source(), node.computations());
    // Copies that storage commands added are made by threads of their own.
    let is_of_source = below.iter().all(|id| (id.0 as usize) < source.computations.len());
    let runs = below.iter().any(|&id| !verified.algorithm().computation(id).never_runs());
    if node.has_loop(&has_threads) || !is_of_source || !runs {
        return Ok(false);
    }
    let mut trial = verified.schedule().clone();
    match trial.node_mut(path) {
        Some(Node::Loop(it)) => it.tag = Tag::Parallel,
        _ => return Ok(false),
    }
    is_legal(&built.ctx, verified.algorithm(), &trial, &built.analysed.dependences)
}

fn warning(unit: &Unit<'_>, built: &Built, path: &Path) -> Option<Diagnostic> {
    let node = built.analysed.verified.schedule().node(path)?;
    let Node::Loop(it) = node else { return None };
    let id = node.computations().into_iter().next()?;
    let name = &built.analysed.verified.algorithm().computation(id).name;
    let span = built.analysed.spans.computations.get(&id).copied().unwrap_or(unit.function.span);
    let text = format!(
        "one thread of the GPU runs the loop `{}` around `{name}`, whose iterations need nothing of one another",
        it.name
    );
    let help = format!("give it threads: {}", parallel_on_gpu(&built.analysed.verified, path));
    Some(Diagnostic::warning(CODE, text).primary(span, "runs in one thread").with_help(help))
}

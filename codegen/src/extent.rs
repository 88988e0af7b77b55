//! How many iterations a loop inside a kernel can have, seen from the host.

use crate::error::CodegenError;
use crate::from_ast::{Scope, condition, expression};
use crate::input::Input;
use crate::int_expr::{IntExpr, VariableId};
use tessella_polyhedral::isl::{Aff, AstBuild, Id, Map, MultiAff, PwAff, Set};
use tessella_polyhedral::schedule::{Node, Path};

/// A loop around a kernel and the variable that holds its value.
pub type HostLoop = (Path, VariableId);

/// The differences between any two values that the loop at `path` takes in one execution of it, the values of `host`
/// being parameters: `[params, host] -> { [difference] }`.
fn differences(input: &Input<'_>, context: &Set, path: &Path, host: &[HostLoop]) -> Result<Set, CodegenError> {
    let params = input.algorithm.param_names();
    // [enclosing loops inside the kernel] -> [value of the loop]
    let mut values: Option<Map> = None;
    let Some(Node::Loop(target)) = input.schedule.node(path) else {
        return Ok(Set::empty(&context.space()?.add_unnamed_tuple(1)?)?);
    };
    for (&id, at) in &target.at {
        let mut domain = input.algorithm.computation(id).domain.intersect_params(context)?;
        let mut space = domain.space()?;
        for number in 0..host.len() {
            space = space.add_param(&Id::new(context.ctx(), &host_name(number))?)?;
        }
        domain = domain.align_params(&space)?;
        let mut inner: Vec<Aff> = vec![];
        for (outer, it) in input.schedule.loops_around(id) {
            if outer.0.len() >= path.0.len() {
                break;
            }
            let value = it.at[&id].to_isl(&space, &params)?;
            match host.iter().position(|(known, _)| *known == outer) {
                Some(number) => {
                    let known = Aff::param_on(&space, &host_name(number))?;
                    domain = domain.intersect(&value.eq_set(&known)?)?;
                }
                None => inner.push(value),
            }
        }
        let tuple = space.add_unnamed_tuple(inner.len() as u32)?;
        let around = Map::from_multi_aff(&MultiAff::from_affs(&tuple, &inner)?)?.intersect_domain(&domain)?;
        let tuple = space.add_unnamed_tuple(1)?;
        let value = Map::from_multi_aff(&MultiAff::from_affs(&tuple, &[at.to_isl(&space, &params)?])?)?;
        let next = around.reverse()?.apply_range(&value)?;
        values = Some(match values {
            Some(values) => values.union(&next)?,
            None => next,
        });
    }
    match values {
        Some(values) => Ok(values.reverse()?.apply_range(&values)?.deltas()?.coalesce()?),
        None => Ok(Set::empty(&context.space()?.add_unnamed_tuple(1)?)?),
    }
}

/// The most iterations that the loop has in one execution, as an expression of parameters and host loops.
pub fn iterations(
    input: &Input<'_>,
    context: &Set,
    path: &Path,
    step: i64,
    host: &[HostLoop],
) -> Result<IntExpr, CodegenError> {
    let differences = differences(input, context, path, host)?;
    let known = differences.params()?;
    let build = AstBuild::from_context(&known.intersect_params(context)?)?;
    let mut scope = Scope::new(&input.algorithm.param_names());
    for (number, (_, variable)) in host.iter().enumerate() {
        scope.bind(&host_name(number), IntExpr::Variable(*variable));
    }
    let most: PwAff = differences.dim_max(0)?.coalesce()?;
    let most = expression(&build.expr_from_pw_aff(&most)?.view()?, &scope)?;
    let count = most.floor_div(step).plus(IntExpr::Const(1));
    // Where no iteration exists, the expression may have any value.
    let known = known.gist(context)?;
    if known.is_plainly_universe()? {
        return Ok(count);
    }
    let exists = AstBuild::from_context(context)?.expr_from_set(&known)?;
    Ok(IntExpr::Select(Box::new(condition(&exists.view()?, &scope)?), Box::new(count), Box::new(IntExpr::Const(0))))
}

/// The most iterations that the loop ever has; `None` if nothing bounds them.
pub fn most_iterations(input: &Input<'_>, context: &Set, path: &Path, step: i64) -> Result<Option<i64>, CodegenError> {
    let differences = differences(input, context, path, &[])?;
    if differences.is_empty()? {
        return Ok(Some(1));
    }
    let most = differences.dim_max_val(0)?;
    if !most.is_int()? {
        return Ok(None);
    }
    Ok(most.to_i64().and_then(|most| most.div_euclid(step).checked_add(1)))
}

/// The least and the greatest value that the loop ever takes, for all parameters; `None` if nothing bounds them.
pub fn value_range(input: &Input<'_>, context: &Set, path: &Path) -> Result<Option<(i64, i64)>, CodegenError> {
    let Some(Node::Loop(it)) = input.schedule.node(path) else { return Ok(None) };
    let mut range: Option<(i64, i64)> = None;
    for (&id, at) in &it.at {
        let domain = input.algorithm.computation(id).domain.intersect_params(context)?;
        let value = Map::from_aff(&at.to_isl(&domain.space()?, &input.algorithm.param_names())?)?;
        let values = domain.apply(&value)?.project_out_all_params()?;
        if values.is_empty()? {
            continue;
        }
        let bounds = (values.dim_min_val(0)?.to_i64(), values.dim_max_val(0)?.to_i64());
        let (Some(low), Some(high)) = bounds else { return Ok(None) };
        range = Some(range.map_or((low, high), |(least, most)| (least.min(low), most.max(high))));
    }
    Ok(range)
}

/// The parameter that stands for a host loop; users' names have no spaces.
fn host_name(number: usize) -> String {
    format!("host {number}")
}

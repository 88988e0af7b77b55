//! The loop program as text for people, in Julia's spelling.

use crate::int_text::{Precedence, Spelling, cond_text, int_text, within};
use crate::names::Names;
use crate::program::{Guard, KernelParam, Node, Over, Program, Update, Width};
use std::fmt::{Display, Formatter, Result, Write};
use tessella_polyhedral::layers::Direction;
use tessella_polyhedral::schedule::{ProcessorAxis, Tag};

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let names = &self.names;
        writeln!(f, "{}:", names.function)?;
        block(f, &self.body, self, 1)?;
        for (at, kernel) in self.kernels.iter().enumerate() {
            let params: Vec<_> = kernel.params.iter().map(|param| param_name(*param, names)).collect();
            let grid: Vec<_> = kernel.grid.iter().map(|extent| int_text(extent, names, Spelling::Julia).0).collect();
            let threads: Vec<_> = kernel.block.iter().map(u32::to_string).collect();
            writeln!(f, "kernel {}({}):", kernel.name, params.join(", "))?;
            writeln!(f, "  # grid ({}), block ({})", grid.join(", "), threads.join(", "))?;
            if !kernel.shared.is_empty() {
                let shared: Vec<_> = kernel.shared.iter().map(|it| names.buffers[it.0 as usize].as_str()).collect();
                writeln!(f, "  # shared {}", shared.join(", "))?;
            }
            match kernel.width {
                Width::Narrow if at > 0 && self.kernels[at - 1].body == kernel.body => {
                    writeln!(f, "  the same in 32 bits")?;
                }
                Width::Narrow | Width::Wide => block(f, &kernel.body, self, 1)?,
            }
        }
        Ok(())
    }
}

/// The name under which a kernel knows what it gets.
pub fn param_name(param: KernelParam, names: &Names) -> &str {
    match param {
        KernelParam::Buffer { buffer, .. } => &names.buffers[buffer.0 as usize],
        KernelParam::Param(param) => &names.params[param.0 as usize],
        KernelParam::Scalar(scalar) => &names.scalars[scalar.0 as usize],
        KernelParam::Variable(variable) => &names.variables[variable.0 as usize],
    }
}

fn block(f: &mut Formatter<'_>, nodes: &[Node], program: &Program, depth: usize) -> Result {
    let names = &program.names;
    let int = |expr| int_text(expr, names, Spelling::Julia).0;
    let operand = |expr| within(int_text(expr, names, Spelling::Julia), Precedence::Sum);
    let indent = "  ".repeat(depth);
    if nodes.is_empty() {
        writeln!(f, "{indent}nothing")?;
    }
    for node in nodes {
        f.write_str(&indent)?;
        match node {
            Node::For(it) => {
                let step = if it.step == 1 { String::new() } else { format!("{}:", it.step) };
                let variable = &names.variables[it.variable.0 as usize];
                let tag = match (&it.clip, &it.going) {
                    (Some(_), _) => format!("{}  # bounds are data", tag_text(it.tag)),
                    (None, Some(_)) => format!("{}  # data end it", tag_text(it.tag)),
                    (None, None) => tag_text(it.tag),
                };
                writeln!(f, "for {variable} = {}:{step}{}{tag}", int(&it.lower), int(&it.upper))?;
                block(f, &it.body, program, depth + 1)?;
            }
            Node::If { condition, then, otherwise } => {
                writeln!(f, "if {}", cond_text(condition, names, Spelling::Julia).0)?;
                block(f, then, program, depth + 1)?;
                if !otherwise.is_empty() {
                    writeln!(f, "{indent}else")?;
                    block(f, otherwise, program, depth + 1)?;
                }
            }
            Node::Let { variable, value } => {
                writeln!(f, "{} = {}", names.variables[variable.0 as usize], int(value))?;
            }
            Node::Statement(it) => {
                f.write_str(&names.computations[it.computation.0 as usize])?;
                f.write_char('(')?;
                for (at, iterator) in it.iterators.iter().enumerate() {
                    let before = if at == 0 { "" } else { ", " };
                    let value = match iterator {
                        None => "_".to_string(),
                        Some(variable) => match it.bindings.iter().find(|(bound, _)| bound == variable) {
                            Some((_, value)) => int(value),
                            None => names.variables[variable.0 as usize].clone(),
                        },
                    };
                    write!(f, "{before}{value}")?;
                }
                let note = match (&it.inside, it.update) {
                    (Some(_), _) => "  # past the edge, too",
                    (None, Update::Offered) => "  # offered",
                    (None, Update::Stored) => "",
                };
                writeln!(f, "){}", note)?;
            }
            Node::Declare { buffer, body } => {
                writeln!(f, "with {}", names.buffers[buffer.0 as usize])?;
                block(f, body, program, depth + 1)?;
            }
            Node::Launch(kernel) => writeln!(f, "launch {}", program.kernel(*kernel).name)?,
            Node::Copy { buffer, direction, part } => {
                let way = match direction {
                    Direction::HostToDevice => "to device",
                    Direction::DeviceToHost => "to host",
                };
                let what = if part.is_some() { "a part of " } else { "" };
                writeln!(f, "copy {what}{} {way}", names.buffers[buffer.0 as usize])?;
            }
            Node::Spread(it) => {
                let over = match it.over {
                    Over::Blocks => "block",
                    Over::Threads => "thread",
                };
                let step = if it.step == 1 { String::new() } else { format!("{} * ", it.step) };
                let variable = &names.variables[it.variable.0 as usize];
                let lower = match &it.lower {
                    crate::int_expr::IntExpr::Const(0) => String::new(),
                    lower => format!("{} + ", operand(lower)),
                };
                let guard = match it.guard {
                    Guard::Needed => format!(" while {variable} <= {}", operand(&it.upper)),
                    Guard::Unneeded => String::new(),
                    Guard::Turns => format!(" in turns while {variable} <= {}", operand(&it.upper)),
                };
                writeln!(f, "{variable} = {lower}{step}{over}.{}{guard}", axis_text(it.axis))?;
                block(f, &it.body, program, depth + 1)?;
                for combined in &it.combined {
                    writeln!(f, "{indent}combine {}", names.computations[combined.computation.0 as usize])?;
                }
            }
            Node::OneThread { axes, body } => {
                let axes: Vec<_> = axes.iter().map(|axis| format!("thread.{} == 0", axis_text(*axis))).collect();
                writeln!(f, "if {}", axes.join(" && "))?;
                block(f, body, program, depth + 1)?;
            }
            Node::Together { kernel, apart } => {
                writeln!(f, "launch {} with all blocks at once, or", program.kernel(*kernel).name)?;
                block(f, apart, program, depth + 1)?;
            }
            Node::Turns(it) => {
                let grid: Vec<_> = it.grid.iter().map(int).collect();
                writeln!(f, "blocks of ({}) in turns", grid.join(", "))?;
                block(f, &it.body, program, depth + 1)?;
            }
            Node::GridBarrier => writeln!(f, "barrier of the grid")?,
            Node::Barrier => writeln!(f, "barrier")?,
            Node::Await(0) => writeln!(f, "await copies")?,
            Node::Await(later) => writeln!(f, "await copies but the last {later}")?,
            Node::Streaming(it) => writeln!(f, "stream {} steps", it.stream.size.steps)?,
            Node::Tile(it) => {
                let lanes = if it.lanes > 1 { format!(" of {} lanes", it.lanes) } else { String::new() };
                let kept = match it.registers.len() {
                    0 => String::new(),
                    count => format!(", {count} registers"),
                };
                writeln!(f, "# full tiles spelled out: {} statements{lanes}{kept}", it.instances.len())?;
                block(f, &[Node::For((*it.generic).clone())], program, depth)?;
            }
        }
    }
    Ok(())
}

fn tag_text(tag: Tag) -> String {
    match tag {
        Tag::Sequential => String::new(),
        Tag::Parallel => "  # parallel".to_string(),
        Tag::Vector(lanes) => format!("  # vector({lanes})"),
        Tag::Unroll(times) => format!("  # unroll({times})"),
        Tag::Stream(size) => size.comment(),
        Tag::Rows => "  # share_rows".to_string(),
        Tag::GridSync => "  # grid_sync".to_string(),
        Tag::Combine => "  # thread.x, combined".to_string(),
        Tag::Separate => "  # separate".to_string(),
        Tag::GpuBlock(axis) => format!("  # block.{}", axis_text(axis)),
        Tag::GpuThread(axis) => format!("  # thread.{}", axis_text(axis)),
    }
}

/// `x`, `y` or `z`.
pub fn axis_text(axis: ProcessorAxis) -> &'static str {
    match axis {
        ProcessorAxis::X => "x",
        ProcessorAxis::Y => "y",
        ProcessorAxis::Z => "z",
    }
}

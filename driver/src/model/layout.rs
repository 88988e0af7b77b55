//! `tessella model layout`.

use super::table::table;
use super::{Answers, core, each, nothing};
use crate::file::FileOptions;
use tessella_polyhedral::models::layout::patterns::{Pattern, patterns};
use tessella_polyhedral::models::layout::{Layout, LayoutError, Padding, Weights, measure, solve};

/// What paddings are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayoutOptions {
    /// The elements of a vector.
    pub vector: u32,
    /// The extents of the arrays along their first axes; what is missing is a multiple of the vector.
    pub extents: Vec<u64>,
    /// Paddings may repeat after up to so many rows.
    pub period: u32,
}

/// Tells for the reads of all chosen functions of a file which paddings bring most of them to one place in their vectors.
pub fn layout(text: &str, options: &FileOptions, asked: &LayoutOptions) -> Answers {
    each(text, options, &|_, lowered, unit| {
        let algorithm = &lowered.algorithm;
        let patterns = patterns(algorithm).map_err(|error| core(unit, lowered, error))?;
        if patterns.is_empty() {
            let what = "no array of two axes that is read at several places around one another";
            return Err(nothing(lowered, what, "padding helps stencils: name one with `--function`"));
        }
        let axes = |pattern: &Pattern| pattern.reads[0].len() - 1;
        let most = patterns.iter().map(axes).max().unwrap_or(0);
        if asked.extents.len() > most {
            let sizes = if most == 1 { "one".to_string() } else { format!("up to {most}") };
            let what = format!(
                "arrays of up to {} axes that are read around a point, and `--extents` has {} sizes",
                most + 1,
                asked.extents.len()
            );
            let help = format!(
                "give {sizes}, along the first axes: the extent of the last moves no element; `--function` names one function of several"
            );
            return Err(nothing(lowered, &what, &help));
        }
        let mut text = format!("{}: padding for vectors of {} elements\n", algorithm.name, asked.vector);
        for pattern in &patterns {
            let name = &algorithm.array(pattern.array).name;
            let place = &algorithm.computation(pattern.computation).name;
            text.push_str(&format!("\n{name} in {place}, {} reads\n", pattern.reads.len()));
            text.push_str(&rows(pattern, asked));
        }
        Ok(text)
    })
}

fn rows(pattern: &Pattern, asked: &LayoutOptions) -> String {
    let axes = pattern.reads[0].len() - 1;
    let extent = |axis: usize| asked.extents.get(axis).copied().unwrap_or(u64::from(asked.vector));
    let extents: Vec<u64> = (0..axes).map(extent).collect();
    let plain = Layout::aligned(&extents, asked.vector, &pattern.reads, 1);
    let mut rows = vec![row("none", &plain, &Ok(Padding::none(&plain)))];
    for period in 1..=asked.period {
        let layout = Layout { period, ..plain.clone() };
        let name = if period == 1 { "the same everywhere".to_string() } else { format!("repeated every {period}") };
        let solved = solve(&layout, Weights::gains_first(&layout));
        rows.push(row(&name, &layout, &solved));
        // Longer periods are larger programs.
        if solved.is_err() && period < asked.period {
            rows.push(vec!["longer periods".to_string(), "not tried".to_string(), String::new()]);
            break;
        }
    }
    table(&["padding", "pads", "out of place"], &rows)
}

fn row(name: &str, layout: &Layout, padding: &Result<Padding, LayoutError>) -> Vec<String> {
    let padding = match padding {
        Ok(padding) => padding,
        Err(error) => return vec![name.to_string(), error.to_string(), String::new()],
    };
    let axis = |pads: &Vec<u64>| {
        let repeats = pads.windows(2).all(|pair| pair[0] == pair[1]);
        let shown: Vec<String> = pads.iter().map(u64::to_string).take(if repeats { 1 } else { pads.len() }).collect();
        shown.join(" ")
    };
    let found = measure(layout, padding);
    let average = found.unaligned.iter().sum::<usize>() as f64 / found.unaligned.len() as f64;
    let pads: Vec<String> = padding.pads.iter().map(axis).collect();
    vec![name.to_string(), pads.join(", "), format!("{} of {}", (average * 100.0).round() / 100.0, layout.reads.len())]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::ScheduleSource;

    #[test]
    fn rows_say_what_each_kind_of_padding_gives() {
        let source = "\
function f!(B::Matrix{Float32}, A::Matrix{Float32})
    for j in 2:size(A, 2)-1, i in 2:size(A, 1)-1
        @comp S B[i, j] = A[i - 1, j] + A[i + 1, j] + A[i, j - 1] + A[i, j + 1]
    end
end
";
        let options =
            FileOptions { name: "f.jl".into(), function: None, types: vec![], schedule: ScheduleSource::InFile };
        let told = layout(source, &options, &LayoutOptions { vector: 4, extents: vec![], period: 2 }).text;
        let lines: Vec<&str> = told.lines().collect();
        assert_eq!(lines[0], "f!: padding for vectors of 4 elements");
        assert_eq!(lines[2], "A in S, 4 reads");
        assert!(lines[4].starts_with("  none") && lines[4].ends_with("2 of 4"), "{told}");
        assert!(lines[5].ends_with("2 of 4") && lines[6].ends_with("1 of 4"), "{told}");
        let told = layout(source, &options, &LayoutOptions { vector: 4, extents: vec![5], period: 1 }).text;
        assert!(told.contains("none                    0        2 of 4"), "{told}");
    }

    #[test]
    fn boxes_of_27_points_have_an_answer_for_each_period() {
        let source = include_str!("../../../tests/stencils/jacobi3d27.jl");
        let options =
            FileOptions { name: "f.jl".into(), function: None, types: vec![], schedule: ScheduleSource::InFile };
        let told = layout(source, &options, &LayoutOptions { vector: 4, extents: vec![], period: 2 }).text;
        let last = told.lines().find(|it| it.starts_with("  repeated every 2")).unwrap();
        assert!(last.ends_with(" of 27") && !told.contains("gave up"), "{told}");
    }
}

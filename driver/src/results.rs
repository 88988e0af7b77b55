//! What a function gives back, in the order in which its entry takes memory for it.

use tessella_frontend::typed::tree::{Function, LocalId, Result as Outcome, Type};
use tessella_interpreter::{Array, Returned, Value};
use tessella_scalar::Constant;

/// The types of the scalars and new arrays that the caller passes memory for.
pub fn types(function: &Function) -> Vec<Type> {
    places(&function.result).iter().map(|id| function.locals[id.0 as usize].ty).collect()
}

/// Their values, of what the interpreter says the function gives back; none of what it does not give back this time.
pub fn values(function: &Function, returned: &Returned) -> Vec<Option<Value>> {
    let mut found = vec![];
    collect(&function.result, returned, &mut found);
    let value = |place| found.iter().find(|(id, _)| *id == place).map(|(_, value)| value.clone());
    places(&function.result).into_iter().map(value).collect()
}

/// The values, with zeros and empty arrays for what the function does not give back this time.
pub fn filled(function: &Function, returned: &Returned) -> Vec<Value> {
    let nothing = |ty: Type| match ty {
        Type::Scalar(ty) => Value::Scalar(Constant { ty, bits: 0 }),
        Type::Array { element, rank, form: _ } => {
            Value::Array(Array::zeros(element, vec![0; rank as usize]).expect("an empty array fits"))
        }
    };
    let values = values(function, returned).into_iter().zip(types(function));
    values.map(|(value, ty)| value.unwrap_or_else(|| nothing(ty))).collect()
}

/// As `tessella_text(program, "result")` has it.
pub fn text(function: &Function) -> String {
    part(function, &function.result, &mut vec![])
}

/// The variables behind the results, each once.
fn places(result: &Outcome) -> Vec<LocalId> {
    match result {
        Outcome::Nothing | Outcome::Argument(_) => vec![],
        Outcome::Scalar(id) | Outcome::Array(id) | Outcome::ComplexArray(id) | Outcome::Choice { position: id, .. } => {
            vec![*id]
        }
        Outcome::Complex { re, im } if re == im => vec![*re],
        Outcome::Complex { re, im } => vec![*re, *im],
        Outcome::Tuple(parts) | Outcome::Named { parts, .. } => distinct(parts.iter().flat_map(places)),
        Outcome::OneOf { position, options } => {
            distinct(std::iter::once(*position).chain(options.iter().flat_map(places)))
        }
    }
}

fn distinct(ids: impl Iterator<Item = LocalId>) -> Vec<LocalId> {
    let mut all: Vec<LocalId> = vec![];
    for id in ids {
        if !all.contains(&id) {
            all.push(id);
        }
    }
    all
}

fn collect(result: &Outcome, returned: &Returned, into: &mut Vec<(LocalId, Value)>) {
    match (result, returned) {
        (
            Outcome::Scalar(id) | Outcome::Array(id) | Outcome::ComplexArray(id) | Outcome::Choice { position: id, .. },
            Returned::Value(value),
        ) => {
            into.push((*id, value.clone()));
        }
        (Outcome::Tuple(parts) | Outcome::Named { parts, .. }, Returned::Tuple(values)) => {
            parts.iter().zip(values).for_each(|(part, value)| collect(part, value, into));
        }
        (Outcome::Complex { re, im }, Returned::Tuple(values)) => {
            for (half, value) in [re, im].into_iter().zip(values) {
                collect(&Outcome::Scalar(*half), value, into);
            }
        }
        (Outcome::OneOf { position, options }, Returned::OneOf { position: at, value }) => {
            into.push((*position, Value::Scalar(Constant::i64(*at as i64))));
            if let Some(option) = options.get(*at) {
                collect(option, value, into);
            }
        }
        (
            Outcome::Nothing
            | Outcome::Argument(_)
            | Outcome::Scalar(_)
            | Outcome::Array(_)
            | Outcome::ComplexArray(_)
            | Outcome::Choice { .. }
            | Outcome::Complex { .. }
            | Outcome::Tuple(_)
            | Outcome::Named { .. }
            | Outcome::OneOf { .. },
            Returned::Nothing | Returned::Value(_) | Returned::Tuple(_) | Returned::OneOf { .. },
        ) => {}
    }
}

/// `seen` are the variables of the results before this one.
fn part(function: &Function, result: &Outcome, seen: &mut Vec<LocalId>) -> String {
    let position = |id: &LocalId| function.arguments.iter().position(|argument| argument == id);
    match result {
        Outcome::Nothing => "nothing".to_string(),
        Outcome::Argument(id) => format!("argument {}", position(id).unwrap_or_default()),
        Outcome::Choice { arguments, .. } => {
            let positions: Vec<String> =
                arguments.iter().filter_map(position).map(|position| position.to_string()).collect();
            format!("argument of {}", positions.join(" "))
        }
        Outcome::Scalar(id) | Outcome::Array(id) | Outcome::ComplexArray(id) => {
            if let Some(at) = seen.iter().position(|it| it == id) {
                return format!("again {at}");
            }
            seen.push(*id);
            match function.locals[id.0 as usize].ty {
                Type::Scalar(ty) => format!("scalar {ty}"),
                Type::Array { element, rank, form: _ } if matches!(result, Outcome::ComplexArray(_)) => {
                    format!("complexarray {element} {}", rank - 1)
                }
                Type::Array { element, rank, form: _ } => format!("array {element} {rank}"),
            }
        }
        Outcome::Complex { re, im } => {
            let halves = [re, im].map(|half| part(function, &Outcome::Scalar(*half), seen));
            format!("complex({})", halves.join(", "))
        }
        Outcome::Tuple(parts) => {
            let parts: Vec<String> = parts.iter().map(|it| part(function, it, seen)).collect();
            format!("({})", parts.join(", "))
        }
        Outcome::OneOf { position, options } => {
            let position = part(function, &Outcome::Scalar(*position), seen);
            let options: Vec<String> = options.iter().map(|it| part(function, it, seen)).collect();
            format!("oneof({position}, {})", options.join(", "))
        }
        Outcome::Named { names, parts } => {
            let parts: Vec<String> = parts.iter().map(|it| part(function, it, seen)).collect();
            format!("named {}({})", names.join(" "), parts.join(", "))
        }
    }
}

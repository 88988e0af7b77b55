//! Names that nothing has yet.

/// The name as wanted, with as many underscores as make it new.
pub(crate) fn fresh(wanted: &str, taken: impl Fn(&str) -> bool) -> String {
    let mut name = wanted.to_string();
    while taken(&name) {
        name.push('_');
    }
    name
}

/// The same for a list of names that are taken.
pub(crate) fn fresh_among(wanted: &str, taken: &[String]) -> String {
    fresh(wanted, |name| taken.iter().any(|it| it == name))
}

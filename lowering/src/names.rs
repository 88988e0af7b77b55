//! Names that are taken, and fresh ones.

use std::collections::BTreeSet;

#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    taken: BTreeSet<String>,
}

impl Names {
    pub(crate) fn reserve(&mut self, name: &str) {
        self.taken.insert(name.to_owned());
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        self.taken.contains(name)
    }

    /// `wanted`, or `wanted_1`, `wanted_2`, ...; taken from now on.
    pub(crate) fn fresh(&mut self, wanted: &str) -> String {
        let name = if self.contains(wanted) {
            (1..)
                .map(|at: u64| format!("{wanted}_{at}"))
                .find(|name| !self.contains(name))
                .expect("names never run out")
        } else {
            wanted.to_owned()
        };
        self.taken.insert(name.clone());
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fresh_names_skip_taken_ones() {
        let mut names = Names::default();
        names.reserve("i");
        names.reserve("i_1");
        assert_eq!(names.fresh("i"), "i_2");
        assert_eq!(names.fresh("j"), "j");
        assert_eq!(names.fresh("j"), "j_1");
    }
}

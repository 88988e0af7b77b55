//! Answers that a context remembers, so that isl works each out once.

use std::cell::RefCell;
use std::collections::HashMap;

use super::DimType;
use super::ctx::Ctx;
use super::error::IslError;
use super::macros::Object;
use super::map::Map;
use super::set::Set;

/// What a context remembers. It owns references to isl's objects, not Rust's, which would keep their context alive.
#[derive(Default)]
pub(super) struct Memo {
    verdicts: RefCell<HashMap<String, bool>>,
    maps: RefCell<HashMap<String, Kept>>,
    sets: RefCell<HashMap<String, Kept>>,
    /// Maps and sets that have a number, by their address.
    numbered: RefCell<HashMap<usize, Kept>>,
    /// The shapes of maps that have a number.
    shaped: RefCell<HashMap<usize, usize>>,
    /// Maps without names of tuples and the numbers of their shapes, by isl's hash.
    shapes: RefCell<HashMap<i32, Vec<(Kept, usize)>>>,
}

/// A reference to a map or a set.
enum Kept {
    Map(usize),
    Set(usize),
}

impl Drop for Kept {
    fn drop(&mut self) {
        // SAFETY: the reference was made by `copy_ptr` of this kind of object and is given up once; the context outlives its memo.
        unsafe {
            match *self {
                Kept::Map(map) => isl_map_free(map),
                Kept::Set(set) => isl_set_free(set),
            }
        };
    }
}

impl Ctx {
    /// A number for a map, the same for all clones of it, and for nothing else as long as the context lives.
    pub fn number_of(&self, map: &Map) -> usize {
        // What is kept is neither freed nor changed, so nothing else gets its address.
        self.memo().numbered.borrow_mut().entry(map.ptr()).or_insert_with(|| Kept::Map(map.copy_ptr()));
        map.ptr()
    }

    /// A number for what a map says, the same for maps that plainly say the same of tuples of other names.
    pub fn shape_of(&self, map: &Map) -> Result<usize, IslError> {
        let number = self.number_of(map);
        if let Some(&known) = self.memo().shaped.borrow().get(&number) {
            return Ok(known);
        }
        let unnamed = map.reset_tuple_id(DimType::In)?.reset_tuple_id(DimType::Out)?;
        let mut all = self.memo().shapes.borrow_mut();
        let count = all.values().map(Vec::len).sum();
        let alike = all.entry(unnamed.hash()?).or_default();
        let mut found = None;
        for (other, shape) in alike.iter() {
            let Kept::Map(other) = *other else { continue };
            // SAFETY: a reference of its own to a map of this context, which the memo keeps alive.
            if unsafe { Map::adopt(self, isl_map_copy(other)) }.is_plainly_equal(&unnamed)? {
                found = Some(*shape);
                break;
            }
        }
        let shape = found.unwrap_or_else(|| {
            alike.push((Kept::Map(unnamed.copy_ptr()), count));
            count
        });
        self.memo().shaped.borrow_mut().insert(number, shape);
        Ok(shape)
    }

    /// As [`Ctx::number_of`], for a set.
    pub fn number_of_set(&self, set: &Set) -> usize {
        self.memo().numbered.borrow_mut().entry(set.ptr()).or_insert_with(|| Kept::Set(set.copy_ptr()));
        set.ptr()
    }

    /// The answer to a question that was asked before, else what `work` finds; failures are not remembered. The question
    /// says all that the answer depends on; maps are part of it [by their number](Ctx::number_of).
    pub fn remembered<E>(&self, question: &str, work: impl FnOnce() -> Result<bool, E>) -> Result<bool, E> {
        let known = self.memo().verdicts.borrow().get(question).copied();
        if let Some(known) = known {
            return Ok(known);
        }
        let found = work()?;
        self.memo().verdicts.borrow_mut().insert(question.to_string(), found);
        Ok(found)
    }

    /// As [`Ctx::remembered`], for a map.
    pub fn remembered_map<E>(&self, question: &str, work: impl FnOnce() -> Result<Map, E>) -> Result<Map, E> {
        if let Some(&Kept::Map(known)) = self.memo().maps.borrow().get(question) {
            // SAFETY: a reference of its own to a map of this context, which the memo keeps alive.
            return Ok(unsafe { Map::adopt(self, isl_map_copy(known)) });
        }
        let found = work()?;
        self.memo().maps.borrow_mut().insert(question.to_string(), Kept::Map(found.copy_ptr()));
        Ok(found)
    }

    /// As [`Ctx::remembered`], for a set.
    pub fn remembered_set<E>(&self, question: &str, work: impl FnOnce() -> Result<Set, E>) -> Result<Set, E> {
        if let Some(&Kept::Set(known)) = self.memo().sets.borrow().get(question) {
            // SAFETY: a reference of its own to a set of this context, which the memo keeps alive.
            return Ok(unsafe { Set::adopt(self, isl_set_copy(known)) });
        }
        let found = work()?;
        self.memo().sets.borrow_mut().insert(question.to_string(), Kept::Set(found.copy_ptr()));
        Ok(found)
    }
}

unsafe extern "C" {
    fn isl_map_copy(map: usize) -> usize;
    fn isl_set_copy(set: usize) -> usize;
    fn isl_map_free(map: usize) -> usize;
    fn isl_set_free(set: usize) -> usize;
}

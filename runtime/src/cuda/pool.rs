//! Device memory that is kept between calls: allocating takes longer than a small kernel.

use std::sync::{Arc, Mutex, MutexGuard, Weak};

/// Buffers that no call uses now.
#[derive(Debug)]
pub struct Pool<Buffer> {
    spare: Vec<(usize, Buffer)>,
}

impl<Buffer> Pool<Buffer> {
    pub fn new() -> Pool<Buffer> {
        Pool { spare: vec![] }
    }

    /// A buffer of exactly so many bytes, if there is one.
    pub fn take(&mut self, bytes: usize) -> Option<Buffer> {
        let at = self.spare.iter().rposition(|(size, _)| *size == bytes)?;
        Some(self.spare.remove(at).1)
    }

    pub fn put(&mut self, bytes: usize, buffer: Buffer) {
        if bytes > 0 {
            self.spare.push((bytes, buffer));
        }
    }

    /// Gives all buffers away, for their memory to be freed.
    pub fn drain(&mut self) -> Vec<(usize, Buffer)> {
        std::mem::take(&mut self.spare)
    }

    /// Frees the buffers whose size is not among these: arrays of other sizes are passed now.
    pub fn keep_sizes(&mut self, sizes: &[usize]) {
        self.spare.retain(|(size, _)| sizes.contains(size));
    }

    /// The bytes of all buffers.
    pub fn bytes(&self) -> usize {
        self.spare.iter().map(|(size, _)| size).sum()
    }
}

/// The pools of a GPU's programs. What one of them keeps makes room where another finds none.
#[derive(Debug)]
pub struct Pools<Buffer>(Mutex<Vec<Weak<Mutex<Pool<Buffer>>>>>);

impl<Buffer> Default for Pools<Buffer> {
    fn default() -> Self {
        Pools(Mutex::default())
    }
}

impl<Buffer> Pools<Buffer> {
    /// A pool for one more program.
    pub(super) fn make(&self) -> Arc<Mutex<Pool<Buffer>>> {
        let pool = Arc::new(Mutex::new(Pool::new()));
        let mut all = locked(&self.0);
        all.retain(|it| it.strong_count() > 0);
        all.push(Arc::downgrade(&pool));
        pool
    }

    /// Gives away all buffers that no call uses, for their memory to be freed.
    pub fn drain(&self) -> Vec<(usize, Buffer)> {
        self.all().iter().flat_map(|pool| locked(pool).drain()).collect()
    }

    /// The bytes of all buffers that no call uses.
    pub fn bytes(&self) -> usize {
        self.all().iter().map(|pool| locked(pool).bytes()).sum()
    }

    fn all(&self) -> Vec<Arc<Mutex<Pool<Buffer>>>> {
        locked(&self.0).iter().filter_map(Weak::upgrade).collect()
    }
}

/// What a panic leaves as whole as it was: pools, and graphs.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

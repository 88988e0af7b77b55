//! Device memory that is kept between calls: allocating takes longer than a small kernel.

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

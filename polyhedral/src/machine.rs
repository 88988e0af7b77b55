//! What the auto-scheduler knows of the machine that will run the program.

/// Sizes that tiles are made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Machine {
    /// Bytes of a SIMD register.
    pub vector_bytes: u32,
    /// SIMD registers that a program names.
    pub vector_registers: u32,
    /// Bytes of the first-level data cache of a core.
    pub l1_bytes: u64,
    /// Bytes of the second-level cache of a core.
    pub l2_bytes: u64,
    /// Threads that run at the same time.
    pub threads: u32,
    /// Instances that take about as long as starting threads, 5 to 10 microseconds: a loop with fewer below it runs on
    /// one.
    pub worth_threads: i64,
    /// Bytes that memory would have brought in while a nest goes on to the next row of a strip: that row lies on another page,
    /// and prefetchers start anew.
    pub restart_bytes: u64,
    /// Multiprocessors of the GPU: fewer blocks than these leave some of them without work.
    pub multiprocessors: u32,
}

impl Machine {
    /// A common 64-bit machine with 32-byte vectors: what text is printed for when nobody names another.
    pub const GENERIC: Machine = Machine {
        vector_bytes: 32,
        vector_registers: 16,
        l1_bytes: 32 << 10,
        l2_bytes: 512 << 10,
        threads: 4,
        worth_threads: 32_768,
        // Measured with strips of 1 to 16 KiB, of which each row took about 170 ns longer for each array.
        restart_bytes: 2048,
        multiprocessors: Gpu::HOPPER.multiprocessors,
    };
}

/// The most threads that a thread block of any CUDA device has, and along its third axis.
pub const MAX_THREADS: i64 = 1024;
pub const MAX_THREADS_Z: i64 = 64;

/// The most bytes that a thread of a GPU loads, stores or copies at once.
pub const VECTOR_BYTES: i64 = 16;

/// Elements narrower than these bytes share registers.
pub const WORD_BYTES: u32 = 4;

/// The values from `lower` to `upper` in parts, as large as may be, each with its first value and their number: the element of value `x` lies at `rest + x` along
/// a column, and a part of so many elements begins at a multiple of as many. At most `lanes`, a power of two, are moved at once.
pub fn vector_parts(lower: i64, upper: i64, rest: i64, lanes: i64) -> Vec<(i64, i64)> {
    let mut parts = vec![];
    let mut at = lower;
    while at <= upper {
        let mut count = lanes;
        while count > 1 && ((rest + at).rem_euclid(count) != 0 || at + count - 1 > upper) {
            count /= 2;
        }
        parts.push((at, count.max(1)));
        at += count.max(1);
    }
    parts
}

/// What is known of the GPU that will run the program.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gpu {
    /// Registers of four bytes of a multiprocessor.
    pub registers: u32,
    /// Those that the data of one thread may take, the rest being needed for addresses and values in flight.
    pub registers_of_thread: u32,
    /// Those for addresses, limits and values in flight; measured kernels take about as many.
    pub other_registers: u32,
    /// Bytes of shared memory that a block may declare.
    pub shared_bytes_of_block: u32,
    /// Those that it may have where the launch asks for them, and all of a multiprocessor.
    pub most_shared_bytes_of_block: u32,
    /// The same for GPUs that copy to it ahead, those of other generations as well: since compute capability 8.0, all give so much.
    pub usual_shared_bytes_of_block: u32,
    pub shared_bytes: u32,
    /// Registers for addresses, limits and values in flight of a thread that holds the rows of a hexagon.
    pub other_registers_of_hexagons: u32,
    pub multiprocessors: u32,
    /// More warps than this on a multiprocessor make a stream no faster.
    pub most_warps: u32,
    /// Bytes that a kernel with other work moves.
    pub bytes_a_picosecond: f64,
    /// Arithmetic instructions of lanes that a kernel with other work issues.
    pub instructions_a_picosecond: f64,
    /// Bytes that a multiprocessor alone moves, at most.
    pub bytes_a_picosecond_of_multiprocessor: f64,
    /// Nanoseconds from the end of a kernel to the work of the next one.
    pub launch_nanoseconds: f64,
}

impl Gpu {
    /// NVIDIA's Hopper: what code is made for when nobody names another.
    pub const HOPPER: Gpu = Gpu {
        registers: 65536,
        registers_of_thread: 224,
        other_registers: 48,
        shared_bytes_of_block: 48 << 10,
        most_shared_bytes_of_block: 227 << 10,
        usual_shared_bytes_of_block: 99 << 10,
        shared_bytes: 228 << 10,
        other_registers_of_hexagons: 32,
        multiprocessors: 132,
        most_warps: 20,
        bytes_a_picosecond: 3.0,
        instructions_a_picosecond: 24.0,
        bytes_a_picosecond_of_multiprocessor: 0.05,
        launch_nanoseconds: 3000.0,
    };
}

#[cfg(test)]
mod tests {
    use super::vector_parts as parts;

    #[test]
    fn parts_begin_where_vectors_are_aligned() {
        assert_eq!(parts(0, 7, 0, 4), [(0, 4), (4, 4)]);
        assert_eq!(parts(0, 3, 2, 4), [(0, 2), (2, 2)]);
        assert_eq!(parts(0, 5, 1, 4), [(0, 1), (1, 2), (3, 2), (5, 1)]);
        assert_eq!(parts(-1, 6, -1, 4), [(-1, 2), (1, 4), (5, 2)]);
        assert_eq!(parts(0, 15, -16, 16), [(0, 16)]);
        assert_eq!(parts(0, 2, 0, 1), [(0, 1), (1, 1), (2, 1)]);
        assert_eq!(parts(3, 2, 0, 4), []);
    }

    #[test]
    fn parts_cover_every_value_once() {
        for (lower, upper, rest, lanes) in [(0, 9, 3, 4), (1, 20, -7, 16), (-5, 5, 2, 8), (0, 0, 0, 4)] {
            let covered: Vec<i64> =
                parts(lower, upper, rest, lanes).into_iter().flat_map(|(at, count)| at..at + count).collect();
            assert_eq!(covered, (lower..=upper).collect::<Vec<_>>());
        }
    }
}

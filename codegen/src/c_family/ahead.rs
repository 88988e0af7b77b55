//! Copies to shared memory that go on while the threads compute, in CUDA.

/// What kernels with such copies use. GPUs before compute capability 8.0 copy at once, and have nothing to wait for; so do
/// elements of one or two bytes everywhere.
pub const AHEAD_HELPERS: &str = "\
// Begins to copy an element to shared memory. What it misses comes to the L2 cache with the 256 bytes around it, for copies of
// rows that begin inside of them.
template <typename T>
static __device__ __forceinline__ void tessella_copy_ahead(T *to, const T *from)
{
#if __CUDA_ARCH__ >= 800
    if (sizeof(T) == 4 || sizeof(T) == 8) {
        asm volatile(\"cp.async.ca.shared.global.L2::256B [%0], [%1], %2;\" ::
            \"r\"((unsigned)__cvta_generic_to_shared(to)), \"l\"(from), \"n\"(sizeof(T) == 8 ? 8 : 4) : \"memory\");
        return;
    }
#endif
    *to = *from;
}

// Waits for what the thread began to copy, but not for what it began since the last `later` waits.
template <int later>
static __device__ __forceinline__ void tessella_await()
{
#if __CUDA_ARCH__ >= 800
    asm volatile(\"cp.async.commit_group;\\n\\tcp.async.wait_group %0;\" :: \"n\"(later) : \"memory\");
#endif
}
";

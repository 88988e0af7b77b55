//! What kernels that stream call, in CUDA.

/// What all kernels that stream use.
pub const STREAM_HELPERS: &str = "\
// Neighbouring points that move together.
template <typename T, int points> struct alignas(sizeof(T) * points) tessella_pack { T point[points]; };

// Which of a lane's points lie within first..last, as bits.
template <int points>
static __device__ __forceinline__ unsigned tessella_within(int64_t column, int64_t first, int64_t last)
{
    unsigned which = 0;
#pragma unroll
    for (int k = 0; k < points; k++) which |= (unsigned)(column + k >= first && column + k <= last) << k;
    return which;
}

// The same bits for each of its lines that lies within first..last.
template <typename bits, int lines, int points>
static __device__ __forceinline__ bits tessella_on_lines(unsigned which, int64_t line, int64_t first, int64_t last)
{
    bits all = 0;
#pragma unroll
    for (int l = 0; l < lines; l++) all |= (line + l >= first && line + l <= last ? (bits)which : 0) << l * points;
    return all;
}

// A distance in rows; all that are far away are alike.
static __device__ __forceinline__ int tessella_near(int64_t rows)
{
    return (int)(rows < -1000000000 ? -1000000000 : rows > 1000000000 ? 1000000000 : rows);
}

// Whether every row of an array can be read in packs.
template <typename T, int points>
static __device__ __forceinline__ bool tessella_packed(const T *array, int64_t columns)
{
    const int many = points * sizeof(T) <= 16 ? points : 16 / sizeof(T);
    return (uint64_t)array % (many * sizeof(T)) == 0 && columns % many == 0;
}

// The points of `which`; the others stay as they are. If packed, all points of a pack are among them or none.
template <bool packed, typename T, int points>
static __device__ __forceinline__ void tessella_load(const T *from, unsigned which, T (&row)[points])
{
    const int many = !packed ? 1 : points * sizeof(T) <= 16 ? points : 16 / sizeof(T);
#pragma unroll
    for (int k = 0; k < points; k += many) {
        if (which >> k & 1) {
            const tessella_pack<T, many> pack = *(const tessella_pack<T, many> *)(from + k);
#pragma unroll
            for (int m = 0; m < many; m++) row[k + m] = pack.point[m];
        }
    }
}

template <bool packed, typename T, int points>
static __device__ __forceinline__ void tessella_store(T *to, unsigned which, const T (&row)[points])
{
    const int many = !packed ? 1 : points * sizeof(T) <= 16 ? points : 16 / sizeof(T);
#pragma unroll
    for (int k = 0; k < points; k += many) {
        if (which >> k & 1) {
            tessella_pack<T, many> pack;
#pragma unroll
            for (int m = 0; m < many; m++) pack.point[m] = row[k + m];
            *(tessella_pack<T, many> *)(to + k) = pack;
        }
    }
}

// `which ? yes : no` without a branch: both are there.
template <typename T> static __device__ __forceinline__ T tessella_choose(unsigned which, T yes, T no)
{
    T value;
    if constexpr (sizeof(T) == 4)
        asm(\"{.reg .pred p; setp.ne.u32 p, %1, 0; selp.f32 %0, %2, %3, p;}\" : \"=f\"(value) : \"r\"(which), \"f\"(yes), \"f\"(no));
    else
        asm(\"{.reg .pred p; setp.ne.u32 p, %1, 0; selp.f64 %0, %2, %3, p;}\" : \"=d\"(value) : \"r\"(which), \"d\"(yes), \"d\"(no));
    return value;
}

// A lane's points with those beside them, which the neighbouring lanes hold.
template <int below, int above, typename T, int points>
static __device__ __forceinline__ void tessella_beside(const T (&row)[points], T (&wider)[below + points + above])
{
#pragma unroll
    for (int k = 0; k < points; k++) wider[below + k] = row[k];
#pragma unroll
    for (int k = 0; k < below; k++) wider[k] = __shfl_up_sync(0xffffffffu, row[points - below + k], 1);
#pragma unroll
    for (int k = 0; k < above; k++) wider[below + points + k] = __shfl_down_sync(0xffffffffu, row[k], 1);
}
";

/// What kernels use some of whose axes go round.
pub const STREAM_ROUNDS: &str = "\
// From a subscript of an axis that goes round to the one within 1..period that it means.
static __device__ __forceinline__ int64_t tessella_gone_round(int64_t subscript, int64_t period)
{
    const int64_t rest = (subscript - 1) % period;
    return (rest < 0 ? rest + period : rest) - (subscript - 1);
}

// The points of `which`, each of which lies so far away; the others stay as they are.
template <typename T, int points>
static __device__ __forceinline__ void tessella_load_around(const int64_t (&around)[points], const T *from, unsigned which, T (&row)[points])
{
#pragma unroll
    for (int k = 0; k < points; k++) {
        if (which >> k & 1) row[k] = from[k + around[k]];
    }
}
";

/// What kernels use whose warps share planes.
pub const STREAM_LINES: &str = "\
// Gives a warp's first and last lines to the warps beside it.
template <int first, int last, typename T, int lines, int points>
static __device__ __forceinline__ void tessella_give(const T (&plane)[lines][points], tessella_pack<T, points> *edges)
{
#pragma unroll
    for (int l = 0; l < first + last; l++) {
        tessella_pack<T, points> pack;
#pragma unroll
        for (int k = 0; k < points; k++) pack.point[k] = plane[l < first ? l : lines - last + l - first][k];
        edges[32 * l + threadIdx.x % 32] = pack;
    }
}

// A warp's lines with those beside them, which the neighbouring warps gave.
template <int below, int above, typename T, int lines, int points>
static __device__ __forceinline__ void tessella_take(const T (&plane)[lines][points], const tessella_pack<T, points> *before,
    const tessella_pack<T, points> *after, T (&wider)[below + lines + above][points])
{
#pragma unroll
    for (int l = 0; l < below + lines + above; l++) {
        if (l >= below && l < below + lines) {
#pragma unroll
            for (int k = 0; k < points; k++) wider[l][k] = plane[l - below][k];
        } else {
            const tessella_pack<T, points> pack =
                l < below ? before[32 * l + threadIdx.x % 32] : after[32 * (l - below - lines) + threadIdx.x % 32];
#pragma unroll
            for (int k = 0; k < points; k++) wider[l][k] = pack.point[k];
        }
    }
}
";

//! What kernels use whose blocks keep their tiles, in CUDA: masks of points, and boxes of points that go to memory or come from there.

/// What kernels of blocks that keep their tiles use besides what streams do.
pub const RESIDENT_HELPERS: &str = "\
// Which of a lane's columns, 32 apart, lie within first..last, as bits.
template <int points>
static __device__ __forceinline__ unsigned tessella_columns(int column, int first, int last)
{
    unsigned which = 0;
#pragma unroll
    for (int k = 0; k < points; k++) which |= (unsigned)(column + 32 * k >= first && column + 32 * k <= last) << k;
    return which;
}

// Which of a warp's rows, which are lines of planes, lie within the lines and planes first..last, as bits.
template <int rows, int lines>
static __device__ __forceinline__ unsigned tessella_rows(int row, int first_line, int last_line, int first_plane, int last_plane)
{
    unsigned which = 0;
#pragma unroll
    for (int r = 0; r < rows; r++) {
        const int line = (row + r) % lines, plane = (row + r) / lines;
        which |= (unsigned)(line >= first_line && line <= last_line && plane >= first_plane && plane <= last_plane) << r;
    }
    return which;
}

// Points of a tile, counted from its first one: those within an array, or within what a statement writes.
struct tessella_box {
    int first_column, last_column, first_line, last_line, first_plane, last_plane;
    __device__ __forceinline__ bool has(int column, int line, int plane) const
    {
        return column >= first_column && column <= last_column && line >= first_line && line <= last_line && plane >= first_plane
            && plane <= last_plane;
    }
};

// A tile of columns, lines and planes, of which a block owns all but so many at the lower and the upper end of each axis.
template <int columns, int lines, int c0, int c1, int l0, int l1, int p0, int p1> struct tessella_tile {
    static const int own_columns = columns - c0 - c1, own_lines = lines - l0 - l1;
    static const int some_columns = c0 + c1 > 0 ? c0 + c1 : 1, some_lines = l0 + l1 > 0 ? l0 + l1 : 1;

    static __device__ __forceinline__ bool owns(int planes, int column, int line, int plane)
    {
        return column >= c0 && column < columns - c1 && line >= l0 && line < lines - l1 && plane >= p0 && plane < p0 + planes;
    }

    // Loads all points of the tile that the array has.
    template <typename T>
    static __device__ __forceinline__ void fill(T *tile, const T *array, int64_t of_line, int64_t of_plane, tessella_box in, int planes)
    {
        const int all = columns * lines * (planes + p0 + p1);
#pragma unroll 4
        for (int at = threadIdx.x; at < all; at += blockDim.x) {
            const int column = at % columns, line = at / columns % lines, plane = at / columns / lines;
            if (in.has(column, line, plane)) tile[at] = array[column + line * of_line + plane * of_plane];
        }
    }

    // Loads the points beside those that the block owns.
    template <typename T>
    static __device__ __forceinline__ void take(T *tile, const T *array, int64_t of_line, int64_t of_plane, tessella_box in, int planes)
    {
        const int above = (p0 + p1) * lines * columns, beside = planes * (l0 + l1) * columns;
        const int all = above + beside + planes * own_lines * (c0 + c1);
#pragma unroll 4
        for (int at = threadIdx.x; at < all; at += blockDim.x) {
            int column, line, plane;
            if (at < above) {
                column = at % columns;
                line = at / columns % lines;
                plane = at / columns / lines;
                plane += plane < p0 ? 0 : planes;
            } else if (at < above + beside) {
                const int rest = (at - above) / columns;
                column = (at - above) % columns;
                line = rest % some_lines;
                line += line < l0 ? 0 : own_lines;
                plane = p0 + rest / some_lines;
            } else {
                const int rest = (at - above - beside) / some_columns;
                column = (at - above - beside) % some_columns;
                column += column < c0 ? 0 : own_columns;
                line = l0 + rest % own_lines;
                plane = p0 + rest / own_lines;
            }
            if (in.has(column, line, plane))
                tile[column + columns * (line + lines * plane)] = array[column + line * of_line + plane * of_plane];
        }
    }

    // Stores the points that the block owns and others have beside theirs.
    template <typename T>
    static __device__ __forceinline__ void give(const T *tile, T *array, int64_t of_line, int64_t of_plane, tessella_box in, int planes)
    {
        const int above = (p0 + p1) * own_lines * own_columns, beside = planes * (l0 + l1) * own_columns;
        const int all = above + beside + planes * own_lines * (c0 + c1);
#pragma unroll 4
        for (int at = threadIdx.x; at < all; at += blockDim.x) {
            int column, line, plane;
            if (at < above) {
                column = c0 + at % own_columns;
                line = l0 + at / own_columns % own_lines;
                plane = at / own_columns / own_lines;
                plane += plane < p1 ? p0 : planes - p1;
            } else if (at < above + beside) {
                const int rest = (at - above) / own_columns;
                column = c0 + (at - above) % own_columns;
                line = rest % some_lines;
                line += line < l1 ? l0 : own_lines - l1;
                plane = p0 + rest / some_lines;
            } else {
                const int rest = (at - above - beside) / some_columns;
                column = (at - above - beside) % some_columns;
                column += column < c1 ? c0 : own_columns - c1;
                line = l0 + rest % own_lines;
                plane = p0 + rest / own_lines;
            }
            if (in.has(column, line, plane) && owns(planes, column, line, plane))
                array[column + line * of_line + plane * of_plane] = tile[column + columns * (line + lines * plane)];
        }
    }

    // Stores the points of a box that the block owns.
    template <typename T>
    static __device__ __forceinline__ void drain(const T *tile, T *array, int64_t of_line, int64_t of_plane, tessella_box in, int planes)
    {
        const int all = own_columns * own_lines * planes;
#pragma unroll 4
        for (int at = threadIdx.x; at < all; at += blockDim.x) {
            const int column = c0 + at % own_columns, line = l0 + at / own_columns % own_lines, plane = p0 + at / own_columns / own_lines;
            if (in.has(column, line, plane))
                array[column + line * of_line + plane * of_plane] = tile[column + columns * (line + lines * plane)];
        }
    }
};
";

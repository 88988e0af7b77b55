//! The text of kernels that stream, compiled for the host and run lane by lane: at the rims of arrays and inside, with rows in packs
//! and without, with lines that warps hand on, with values that add up row by row, and in hexagons, they give what the source says.

use std::fs;
use std::process::Command;
use tessella::file::{FileOptions, ScheduleSource, Sources};
use tessella::request::Backend;
use tessella_polyhedral::stream::Parts;
use tessella_tests::report;

/// What stands for CUDA around kernels: the threads of a block take turns, and all of them give the turn on at shuffles and
/// barriers, which they reach in the same order.
const HOST: &str = r"
#include <initializer_list>
#include <functional>
#include <vector>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __restrict__
#define __shared__ static
#define __launch_bounds__(...)
struct Index { unsigned x, y, z; };
static Index blockIdx, threadIdx;
static ucontext_t outside, threads[1024];
static bool ended[1024];
static int parity[1024];
static uint64_t shuffled[2][1024];
static std::function<void()> body;
static void give_turn() { const unsigned me = threadIdx.x; swapcontext(&threads[me], &outside); }
static void __syncthreads() { give_turn(); }
template <typename T> static T from_lane(T value, int by) {
    const int me = threadIdx.x, now = parity[me];
    parity[me] ^= 1;
    memcpy(&shuffled[now][me], &value, sizeof(T));
    give_turn();
    const int lane = me % 32 + by;
    if (lane >= 0 && lane < 32) memcpy(&value, &shuffled[now][me + by], sizeof(T));
    return value;
}
template <typename T> static T __shfl_up_sync(unsigned, T value, int by) { return from_lane(value, -by); }
template <typename T> static T __shfl_down_sync(unsigned, T value, int by) { return from_lane(value, by); }
static bool __any_sync(unsigned, unsigned value) {
    const int me = threadIdx.x, now = parity[me];
    parity[me] ^= 1;
    shuffled[now][me] = value;
    give_turn();
    uint64_t any = 0;
    for (int lane = 0; lane < 32; lane++) any |= shuffled[now][me / 32 * 32 + lane];
    return any != 0;
}
static void thread() { body(); ended[threadIdx.x] = true; give_turn(); }
static void launch(int blocks, int block, std::function<void()> kernel) {
    static std::vector<char> stacks(1024 << 17);
    body = kernel;
    for (int b = 0; b < blocks; b++) {
        blockIdx = {(unsigned)b, 0, 0};
        for (int t = 0; t < block; t++) {
            getcontext(&threads[t]);
            threads[t].uc_stack.ss_sp = &stacks[(size_t)t << 17];
            threads[t].uc_stack.ss_size = 1 << 17;
            makecontext(&threads[t], thread, 0);
            ended[t] = false;
            parity[t] = 0;
        }
        for (bool any = true; any;) {
            any = false;
            for (int t = 0; t < block; t++) {
                if (ended[t]) continue;
                any = true;
                threadIdx = {(unsigned)t, 0, 0};
                swapcontext(&outside, &threads[t]);
            }
        }
    }
}
";

/// Weights that only kernels which have points may read: elsewhere there are none, and nothing follows the last one in memory.
const WEIGHTS: &str = r"
        const bool runs = steps > 0 && l > 2 * REACH && n > 2 * REACH && (m == 1 || m > 2 * REACH);
        const size_t page = 65536;
        auto at_end = [&](size_t count) {
            char *at = (char *)mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            mprotect(at + page, page, PROT_NONE);
            float *all = (float *)(at + page) - count;
            for (size_t i = 0; i < count; i++) all[i] = (float)(i * 5 % 7) / 8 - 0.25f;
            return all;
        };
        const float *W = runs ? at_end(3) : nullptr, *C = runs ? at_end(steps) : nullptr;
        const float *w = W - 1, *c = C;
";

/// Compares all launches of some steps with the source's loop; `VALUE` is a point's next value, `a(x, y, z)` its neighbours.
const COMPARE: &str = r"
int main() {
    int wrong = 0;
    CHOICE
    for (int cut : CUTS) for (auto size : std::initializer_list<std::vector<int64_t>>SIZES) for (int steps : {0, 1, 5, 9}) {
        const int64_t l = size[0], m = size[1], n = size[2], points = l * m * n;
        float *A = (float *)aligned_alloc(64, (points * 4 + 63) / 64 * 64), *A_next = (float *)aligned_alloc(64, (points * 4 + 63) / 64 * 64);
        WEIGHTS
        std::vector<float> B(points, -1), expected(points), next(points, -1);
        for (int64_t i = 0; i < points; i++) expected[i] = A[i] = (float)(i * 37 % 101) / 16 - 3;
        RECORDED
        for (int t = 0; t < steps; t++) {
            RECORD_BEFORE
            const int64_t depth = m == 1 ? 0 : REACH;
            for (int64_t k = REACH; k < n - REACH; k++) for (int64_t j = depth; j < m - depth; j++) for (int64_t i = REACH; i < l - REACH; i++) {
                auto a = [&](int x, int y, int z) { return expected[i + x + l * (j + y + m * (k + z))]; };
                next[i + l * (j + m * k)] = VALUE;
            }
            for (int64_t k = REACH; k < n - REACH; k++) for (int64_t j = depth; j < m - depth; j++) for (int64_t i = REACH; i < l - REACH; i++)
                expected[i + l * (j + m * k)] = next[i + l * (j + m * k)];
            RECORD
        }
        float *from = A, *to = A_next;
        int64_t t = 1, todo = steps;
        ROUNDS
        const int64_t pairs = todo > 0 ? (todo - 1) / (2 * STEPS) : 0;
        auto run = [&](std::function<void()> kernel) { launch(BLOCKS, BLOCK, kernel); std::swap(from, to); };
        for (int64_t pair = 0; pair < 2 * pairs; pair++, t += STEPS) run([&] { KERNEL(B.data(), from, to, ALSO EXTENTS, t PARTS); });
        const int64_t left = todo - 2 * STEPS * pairs, half = left / 2;
        run([&] { REST(B.data(), from, to, ALSO EXTENTS, t PARTS, half, 0); });
        t += half;
        run([&] { REST(B.data(), from, to, ALSO EXTENTS, t PARTS, left - half, 1); });
        const bool same = !memcmp(A, expected.data(), points * 4) && !memcmp(B.data(), next.data(), points * 4) SAME;
        if (!same) printf(`%dx%dx%d, %d steps, %d parts: another result\n`, (int)l, (int)m, (int)n, steps, cut), wrong++;
        free(A);
        free(A_next);
    }
    return wrong != 0;
}
";

/// What is written down: one point before each step, and a row in the middle, or a plane, after it.
const RECORDED: &str = r"
        const int64_t written = m > 1 ? 2 : n / 2 - 1;
        std::vector<float> row(l * m * steps + 1, -1), point(steps + 1, -1), D = row, H = point;
";
const RECORD: &str = r"
            for (int64_t i = 0; i < l * m; i++) row[i + l * m * t] = expected[i + l * m * written];
";

/// The launches of hexagons, of so many steps each: all steps but two, unless there are few.
const ROUNDS: &str = r"
        const int64_t made = steps - 2, last = (made - 1 + HIGH) / HIGH;
        if (last > 1) {
            std::vector<float> kept(4 * points, 1e30f);
            for (int64_t half = 0; half <= 2 * last; half++)
                launch(HEXAGONS_BLOCKS, WIDE, [&] {
                    HEXAGONS(A, &kept[0], &kept[points], &kept[2 * points], &kept[3 * points], ALSO EXTENTS, 1, half, last, made);
                });
            t += made;
            todo -= made;
        }
";

struct Case {
    name: &'static str,
    rank: usize,
    reach: i64,
    /// The statement's value, of `A[x, y, z]`, with `#i` for an iterator that counts from 0; and the sizes of the command.
    value: &'static str,
    size: &'static str,
    steps: i64,
    warps: i64,
    adds_up: bool,
    /// Of hexagons: steps, and threads of a block.
    hexagons: Option<(i64, i64)>,
    /// Whether launches choose the rows of a part.
    chooses: bool,
    /// Whether each step is written down: a row, or a plane, and one point as it was before.
    records: bool,
}

const CASES: [Case; 20] = [
    Case {
        name: "edges that each point asks for",
        rank: 2,
        reach: 1,
        value: "0.5f0 * A[0,0,0] + (#i > 1 ? A[-1,0,0] : A[1,0,0]) - 0.25f0 * (l - 2 <= #i ? A[0,0,0] : A[1,0,0]) + \
                0.125f0 * (#k == 1 ? A[1,0,0] : A[0,0,-1]) - (#k != n - 2 ? A[0,0,1] : A[0,0,0])",
        size: "3, 4, 16",
        steps: 3,
        warps: 1,
        adds_up: false,
        hexagons: None,
        chooses: false,
        records: false,
    },
    Case {
        name: "the same in space",
        rank: 3,
        reach: 1,
        value: "0.5f0 * A[0,0,0] + (#i > 2 ? A[-1,0,0] : A[1,0,0]) - 0.25f0 * (#j < 3 ? A[0,0,0] : A[0,-1,0]) + \
                0.125f0 * (#j >= m - 2 ? A[1,0,0] : A[0,1,0]) - (#k <= n - 4 ? A[0,0,1] : A[0,0,0])",
        size: "2, 2, 8, 4, 2",
        steps: 2,
        warps: 2,
        adds_up: false,
        hexagons: None,
        chooses: false,
        records: false,
    },
    Case {
        name: "a box in space that adds up, a warp's lines from both sides",
        rank: 3,
        reach: 1,
        value: "0.5f0 * A[-1,0,-1] + 0.25f0 * A[1,1,-1] - A[0,0,-1] + A[-1,-1,0] * 0.125f0 + A[0,0,0] - 0.5f0 * A[1,0,0] + 0.75f0 * A[1,1,1] - A[-1,0,1]",
        size: "2, 2, 8, 4, 2",
        steps: 2,
        warps: 2,
        adds_up: true,
        hexagons: None,
        chooses: false,
        records: false,
    },
    Case {
        name: "a star of radius 2, one warp with few lines",
        rank: 3,
        reach: 2,
        value: "0.5f0 * A[0,0,0] + 0.25f0 * (A[-2,0,0] + A[1,0,0] - A[0,-2,0] + A[0,2,0]) - 0.125f0 * (A[0,0,-2] + A[0,0,1])",
        size: "1, 4, 16, 3, 3",
        steps: 1,
        warps: 3,
        adds_up: false,
        hexagons: None,
        chooses: false,
        records: false,
    },
    Case {
        name: "a box that adds up, whose first row has but one point",
        rank: 2,
        reach: 1,
        value: "0.5f0 * A[0,0,-1] + A[-1,0,0] - 0.25f0 * A[1,0,0] + 0.125f0 * A[-1,0,1] - A[1,0,1] * 0.5f0",
        size: "3, 4, 8",
        steps: 3,
        warps: 1,
        adds_up: true,
        hexagons: None,
        chooses: false,
        records: false,
    },
    Case {
        name: "a box whose sum comes in another order than rows",
        rank: 2,
        reach: 1,
        value: "0.5f0 * A[-1,0,1] + A[-1,0,0] - 0.25f0 * A[1,0,-1] + 0.125f0 * A[0,0,0]",
        size: "2, 8, 12",
        steps: 2,
        warps: 1,
        adds_up: false,
        hexagons: None,
        chooses: false,
        records: false,
    },
    Case {
        name: "a box of radius 2 that adds up and misses a row, in pairs of points",
        rank: 2,
        reach: 2,
        value: "0.5f0 * A[-2,0,-2] + A[1,0,-1] - 0.25f0 * A[2,0,1] + 0.125f0 * A[0,0,2]",
        size: "2, 2, 12",
        steps: 2,
        warps: 1,
        adds_up: true,
        hexagons: None,
        chooses: false,
        records: false,
    },
    Case {
        name: "hexagons over planes: a box, a warp's lines from both sides",
        rank: 3,
        reach: 1,
        value: "0.5f0 * A[-1,0,-1] + 0.25f0 * A[1,1,-1] - A[0,0,-1] + A[-1,-1,0] * 0.125f0 + A[0,0,0] - 0.5f0 * A[1,0,0] + 0.75f0 * A[1,1,1] - A[-1,0,1]",
        size: "1, 3, 2, 256, 3",
        steps: 1,
        warps: 4,
        adds_up: false,
        hexagons: Some((4, 256)),
        chooses: false,
        records: false,
    },
    Case {
        name: "hexagons over planes: a star that reaches two lines and planes",
        rank: 3,
        reach: 2,
        value: "0.5f0 * A[0,0,0] + 0.25f0 * (A[-2,0,0] + A[1,0,0] - A[0,-2,0] + A[0,2,0]) - 0.125f0 * (A[0,0,-2] + A[0,0,1])",
        size: "1, 1, 2, 256, 3",
        steps: 1,
        warps: 4,
        adds_up: false,
        hexagons: Some((4, 256)),
        chooses: false,
        records: false,
    },
    Case {
        name: "hexagons over planes: higher, a star askew without points along its lines",
        rank: 3,
        reach: 1,
        value: "0.5f0 * A[0,0,0] + 0.25f0 * A[0,1,0] - 0.125f0 * A[0,0,1] + 0.25f0 * A[0,0,-1]",
        size: "2, 2, 2, 128, 2",
        steps: 1,
        warps: 4,
        adds_up: false,
        hexagons: Some((6, 128)),
        chooses: false,
        records: false,
    },
    Case {
        name: "hexagons over rows, two tiles of columns",
        rank: 2,
        reach: 1,
        value: "0.5f0 * A[0,0,-1] + A[-1,0,0] - 0.25f0 * A[1,0,0] + 0.125f0 * A[-1,0,1] - A[1,0,1] * 0.5f0",
        size: "2, 3, 2, 64, 2",
        steps: 2,
        warps: 1,
        adds_up: false,
        hexagons: Some((6, 64)),
        chooses: false,
        records: false,
    },
    Case {
        name: "a star with as many rows as the launch likes",
        rank: 2,
        reach: 1,
        value: "0.5f0 * A[0,0,0] + A[-1,0,0] - 0.25f0 * A[1,0,0] + 0.125f0 * A[0,0,1] - 0.5f0 * A[0,0,-1]",
        size: "3, 4",
        steps: 3,
        warps: 1,
        adds_up: false,
        hexagons: None,
        chooses: true,
        records: false,
    },
    Case {
        name: "a star in space with as many planes as the launch likes",
        rank: 3,
        reach: 1,
        value: "0.5f0 * A[0,0,0] + 0.25f0 * (A[-1,0,0] + A[1,0,0] - A[0,-1,0] + A[0,1,0]) - 0.125f0 * (A[0,0,-1] + A[0,0,1])",
        size: "2, 2, 0, 4, 2",
        steps: 2,
        warps: 2,
        adds_up: false,
        hexagons: None,
        chooses: true,
        records: false,
    },
    Case {
        name: "weights, and one for each step",
        rank: 2,
        reach: 1,
        value: "w[1] * A[0,0,0] + w[2] * (A[-1,0,0] + A[1,0,0]) - c[t] * A[0,0,1] + w[3] * A[0,0,-1]",
        size: "3, 4, 16",
        steps: 3,
        warps: 1,
        adds_up: false,
        hexagons: None,
        chooses: false,
        records: false,
    },
    Case {
        name: "weights in space, one of them of an edge alone",
        rank: 3,
        reach: 1,
        value: "w[1] * A[0,0,0] + w[2] * (A[-1,0,0] + A[1,0,0] - A[0,-1,0]) - c[t] * A[0,0,1] + (#i > 2 ? w[3] : 0.5f0) * A[0,0,-1]",
        size: "2, 2, 8, 4, 2",
        steps: 2,
        warps: 2,
        adds_up: false,
        hexagons: None,
        chooses: false,
        records: false,
    },
    Case {
        name: "hexagons over rows with weights",
        rank: 2,
        reach: 1,
        value: "w[1] * A[0,0,0] + w[2] * (A[-1,0,0] + A[1,0,0]) - c[t] * A[0,0,1] + w[3] * A[0,0,-1]",
        size: "2, 3, 2, 64, 2",
        steps: 2,
        warps: 1,
        adds_up: false,
        hexagons: Some((6, 64)),
        chooses: false,
        records: false,
    },
    Case {
        name: "hexagons over planes with weights",
        rank: 3,
        reach: 1,
        value: "w[1] * A[0,0,0] + w[2] * (A[-1,0,0] + A[1,0,0] - A[0,-1,0]) - c[t] * A[0,0,1] + w[3] * A[0,1,-1]",
        size: "1, 3, 2, 256, 3",
        steps: 1,
        warps: 4,
        adds_up: false,
        hexagons: Some((4, 256)),
        chooses: false,
        records: false,
    },
    Case {
        name: "rows that are written down",
        rank: 2,
        reach: 1,
        value: "0.5f0 * A[0,0,0] + A[-1,0,0] - 0.25f0 * A[1,0,0] + 0.125f0 * A[0,0,1] - 0.5f0 * A[0,0,-1]",
        size: "3, 4, 16",
        steps: 3,
        warps: 1,
        adds_up: false,
        hexagons: None,
        chooses: false,
        records: true,
    },
    Case {
        name: "rows that are written down, of a box that adds up",
        rank: 2,
        reach: 1,
        value: "0.5f0 * A[0,0,-1] + A[-1,0,0] - 0.25f0 * A[1,0,0] + 0.125f0 * A[-1,0,1] - A[1,0,1] * 0.5f0",
        size: "2, 4",
        steps: 2,
        warps: 1,
        adds_up: true,
        hexagons: None,
        chooses: true,
        records: true,
    },
    Case {
        name: "planes that are written down",
        rank: 3,
        reach: 1,
        value: "0.5f0 * A[0,0,0] + 0.25f0 * (A[-1,0,0] + A[1,0,0] - A[0,-1,0] + A[0,1,0]) - 0.125f0 * (A[0,0,-1] + A[0,0,1])",
        size: "2, 2, 8, 4, 2",
        steps: 2,
        warps: 2,
        adds_up: false,
        hexagons: None,
        chooses: false,
        records: true,
    },
];

impl Case {
    /// The value with each `A[x, y, z]` as `wanted` has it.
    fn with(&self, wanted: &dyn Fn([&str; 3]) -> String) -> String {
        let mut parts = self.value.split("A[");
        let mut text = parts.next().unwrap().to_string();
        for part in parts {
            let (at, rest) = part.split_once(']').unwrap();
            let at: Vec<&str> = at.split(',').collect();
            text.push_str(&wanted([at[0], at[1], at[2]]));
            text.push_str(rest);
        }
        text
    }

    /// Whether it reads `w[1]` to `w[3]`, and `c[t]`.
    fn has_weights(&self) -> bool {
        self.value.contains("w[")
    }

    fn source(&self) -> String {
        let (loops, sizes, ty): (&[&str], _, _) = match self.rank {
            3 => (&["i", "j", "k"], "l, m, n", "Array{Float32,3}"),
            _ => (&["i", "k"], "l, n", "Matrix{Float32}"),
        };
        let at = |x: [&str; 3]| {
            let by = if self.rank == 3 { vec![x[0], x[1], x[2]] } else { vec![x[0], x[2]] };
            let places = loops.iter().zip(by).map(|(name, by)| match by.strip_prefix('-') {
                Some(less) => format!("{name}-{less}"),
                None => format!("{name}+{by}"),
            });
            format!("A[{}]", places.collect::<Vec<_>>().join(", "))
        };
        let extents: Vec<&str> = sizes.split(", ").collect();
        let ranges = loops.iter().zip(&extents).rev();
        let ranges: Vec<String> =
            ranges.map(|(name, extent)| format!("{name} in {}:{extent}-{}", self.reach + 1, self.reach)).collect();
        let (ranges, here) = (ranges.join(", "), loops.join(", "));
        let (planes, row, point) = match self.rank {
            3 => ("j in 1:m, i in 1:l", "D[i, j, t] = A[i, j, 3]", "A[5, 4, 3]"),
            _ => ("i in 1:l", "D[i, t] = A[i, n÷2]", "A[5, n÷2]"),
        };
        let (before, after, weights) = match (self.records, self.has_weights()) {
            (true, _) => (
                format!("        H[t] = {point}\n"),
                format!("        for {planes}\n            {row}\n        end\n"),
                format!("D::Array{{Float32,{}}}, H::Vector{{Float32}}, ", self.rank),
            ),
            (false, true) => (String::new(), String::new(), "w::Vector{Float32}, c::Vector{Float32}, ".to_string()),
            (false, false) => Default::default(),
        };
        format!(
            "@tessella function f!(A::{ty}, B::{ty}, {weights}steps::Int)\n    {sizes} = size(A)\n    for t in 1:steps\n{before}        for {ranges}\n            \
             @comp S B[{here}] = {}\n        end\n        for {ranges}\n            @comp R A[{here}] = B[{here}]\n        end\n{after}    end\nend\n\
             @schedule f! begin\n    {}(S, t, {})\nend\n",
            ["i", "j", "k"]
                .iter()
                .fold(self.with(&at), |text, it| text.replace(&format!("#{it}"), &format!("({it} - 1)"))),
            if self.hexagons.is_some() { "hexagonal" } else { "stream" },
            self.size
        )
    }

    /// The program that runs the kernels and compares.
    fn program(&self) -> Result<String, String> {
        let text = self.source();
        let options =
            FileOptions { name: "f.jl".into(), function: None, types: vec![], schedule: ScheduleSource::InFile };
        let sources = Sources::read(&text, &options).map_err(|_| "cannot be read".to_string())?;
        let unit = sources.unit(&sources.functions()[0], &[]).map_err(|errors| sources.show(&errors))?;
        let built = unit.build(Backend::Cuda).map_err(|errors| sources.show(&errors))?;
        let source = built.cuda(&unit).map_err(|errors| sources.show(&errors))?;
        if self.hexagons.is_none() && source.kernels.contains("_sums[") != self.adds_up {
            return Err(format!("adds up: {}\n{}", !self.adds_up, source.kernels));
        }
        // A choice without a branch, in the host's terms.
        let (before, choice) = source.kernels.split_once("    T value;\n    if constexpr").ok_or("no choice")?;
        let (_, after) = choice.split_once("return value;").ok_or("no choice")?;
        let kernels = format!("{before}    return which ? yes : no;{after}").replace(
            "extern __shared__ __align__(16) unsigned char shared[];",
            "alignas(16) static unsigned char shared[232448];",
        );
        let kernels: Vec<&str> = kernels.lines().filter(|line| !line.starts_with("typedef ")).collect();
        let [kernel, _, rest, _, hexagons @ ..] = &source.kernel_names[..] else {
            return Err(format!("{:?}", source.kernel_names));
        };
        if hexagons.len() != usize::from(self.hexagons.is_some()) {
            return Err(format!("{:?}", source.kernel_names));
        }
        let (high, wide) = self.hexagons.unwrap_or_default();
        let (extents, sizes) = match self.rank {
            3 if self.records => ("l, m, n, l, m, n, l, m", "{{150, 19, 20}, {149, 18, 11}, {9, 8, 7}}"),
            2 if self.records => {
                ("l, n, l, n, l", "{{700, 1, 30}, {300, 1, 123}, {601, 1, 23}, {602, 1, 20}, {9, 1, 7}}")
            }
            3 => ("l, m, n, l, m, n", "{{150, 19, 20}, {149, 18, 11}, {9, 8, 7}}"),
            _ => ("l, n, l, n", "{{700, 1, 30}, {601, 1, 23}, {602, 1, 20}, {9, 1, 7}}"),
        };
        // The host's choice of parts, and the same as the launcher has it.
        let mut choice = String::new();
        if self.chooses {
            for (columns, rows) in [(0, 0), (3, 1), (3, 300), (9, 1000), (74, 8192), (100_000, 8192), (5, 1 << 20)] {
                for rims in [Parts::RIMS, Parts::RIMS_OF_PLANES] {
                    let expected = Parts { around: 17, blocks: 16, multiprocessors: 132, rims }.number(columns, rows);
                    let found = format!("tessella_parts({columns}, {rows}, 17, 16, 132, {rims})");
                    choice.push_str(&format!("wrong += {found} != {expected};\n    "));
                }
            }
        }
        let helper = match source.text.split_once("static inline int64_t tessella_parts") {
            Some((_, rest)) if self.chooses => {
                let (body, _) = rest.split_once("\n}").ok_or("no end of the helper")?;
                format!("static int64_t tessella_parts{body}\n}}\n")
            }
            None if !self.chooses => String::new(),
            _ => return Err("a choice of parts where it should not be, or none".to_string()),
        };
        let also = if self.records { "D.data(), H.data()," } else { "" };
        let (parts, cuts) = if self.chooses { (", cut", "{2, 7}") } else { ("", "{0}") };
        let value = self.with(&|[x, y, z]| format!("a({x}, {y}, {z})")).replace("f0", "f").replace('#', "");
        let defined = [
            ("WEIGHTS", if self.has_weights() { WEIGHTS } else { "" }),
            ("ROUNDS", if self.hexagons.is_some() { ROUNDS } else { "" }),
            ("RECORDED", if self.records { RECORDED } else { "" }),
            (
                "RECORD_BEFORE",
                if self.records { "point[t] = expected[4 + l * (m > 1 ? 3 + m * written : written)];" } else { "" },
            ),
            ("RECORD", if self.records { RECORD } else { "" }),
            ("SAME", if self.records { "&& D == row && H == point" } else { "" }),
            ("ALSO", if self.has_weights() { "W, C," } else { also }),
            ("HEXAGONS_BLOCKS", "96"),
            ("HEXAGONS", hexagons.first().map_or("", |it| it.as_str())),
            ("HIGH", &high.to_string()),
            ("WIDE", &wide.to_string()),
            ("KERNEL", kernel.as_str()),
            ("REST", rest),
            ("EXTENTS", extents),
            ("SIZES", sizes),
            ("CHOICE", &choice),
            ("PARTS", parts),
            ("CUTS", cuts),
            ("VALUE", &value),
            ("REACH", &self.reach.to_string()),
            ("STEPS", &self.steps.to_string()),
            ("BLOCK", &(32 * self.warps).to_string()),
            // Blocks that are too many return at once.
            ("BLOCKS", if self.chooses { "110" } else { "64" }),
        ];
        let compare = defined.iter().fold(COMPARE.replace('`', "\""), |text, (name, value)| {
            let words = text.split_inclusive(|it: char| !it.is_ascii_alphanumeric() && it != '_');
            words
                .map(|word| match word.strip_prefix(name) {
                    Some(end) if !end.starts_with(|it: char| it.is_ascii_alphanumeric() || it == '_') => {
                        format!("{value}{end}")
                    }
                    _ => word.to_string(),
                })
                .collect()
        });
        Ok(format!("{HOST}{}\n{helper}\n{compare}", kernels.join("\n")))
    }
}

/// A warp has points beside the arrays, at which nothing may be read.
#[test]
fn named_values_read_memory_only_where_the_statement_has_points() {
    for command in ["stream(S, t, 2, 2, 16)", "hexagonal(S, t, 1, 3, 2, 64)"] {
        let text = format!(
            "@tessella function f!(A::Matrix{{Float32}}, B::Matrix{{Float32}}, w::Matrix{{Float32}}, steps::Int)\n    m, n = size(A)\n    \
             for t in 1:steps\n        for j in 2:n-1, i in 2:m-1\n            p = w[i, j]\n            q = i > 2 ? w[i-1, j] : p\n            \
             @comp S B[i, j] = A[i-1, j] + p * p + q * A[i, j+1]\n        end\n        for j in 2:n-1, i in 2:m-1\n            \
             @comp R A[i, j] = B[i, j]\n        end\n    end\nend\n@schedule f! begin\n    {command}\nend\n"
        );
        let options =
            FileOptions { name: "f.jl".into(), function: None, types: vec![], schedule: ScheduleSource::InFile };
        let sources = Sources::read(&text, &options).unwrap();
        let unit =
            sources.unit(&sources.functions()[0], &[]).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
        let built = unit.build(Backend::Cuda).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
        let source = built.cuda(&unit).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
        let reads: Vec<&str> =
            source.kernels.lines().filter(|line| line.contains("const float") && line.contains("w(")).collect();
        assert!(!reads.is_empty(), "{command}\n{}", source.kernels);
        assert!(reads.iter().all(|line| line.contains(" & 1 ? w(")), "{command}: {reads:#?}");
    }
}

/// What all points share is read once, and nothing is asked at a point; what only some points may read still is.
#[test]
fn weights_are_read_before_the_points() {
    let commands = ["stream(S, t, 2, 2, 16)", "hexagonal(S, t, 1, 3, 2, 64)", "grid_sync(S, t, 1, 2, 4)"];
    for command in commands {
        let text = format!(
            "@tessella function f!(A::Matrix{{Float32}}, B::Matrix{{Float32}}, w::Matrix{{Float32}}, c::Vector{{Float32}}, steps::Int)\n    \
             m, n = size(A)\n    for t in 1:steps\n        for j in 2:n-1, i in 2:m-1\n            p = w[2, 1] * A[i, j+1]\n            \
             q = p > 0f0 ? w[3, 1] : w[2, 1]\n            @comp S B[i, j] = c[t] * A[i-1, j] + p * p + q\n        end\n        \
             for j in 2:n-1, i in 2:m-1\n            @comp R A[i, j] = B[i, j]\n        end\n    end\nend\n\
             @schedule f! begin\n    {command}\nend\n"
        );
        let options =
            FileOptions { name: "f.jl".into(), function: None, types: vec![], schedule: ScheduleSource::InFile };
        let sources = Sources::read(&text, &options).unwrap();
        let unit =
            sources.unit(&sources.functions()[0], &[]).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
        let built = unit.build(Backend::Cuda).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
        let source = built.cuda(&unit).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
        let lines = |what: &str| -> Vec<&str> { source.kernels.lines().filter(|line| line.contains(what)).collect() };
        assert!(!lines("const float p = w_2_1_value * ").is_empty(), "{command}\n{}", source.kernels);
        assert!(lines("c_value").len() > 1, "{command}\n{}", source.kernels);
        let guarded = lines("w(3, 1)");
        assert!(!guarded.is_empty() && guarded.iter().all(|line| line.contains(" ? ")), "{command}: {guarded:#?}");
        assert!(!guarded.iter().any(|line| line.contains("_value = ")), "{command}: {guarded:#?}");
    }
}

#[test]
fn streams_give_what_the_source_says() {
    if Command::new("c++").arg("--version").output().is_err() {
        println!("skipped: no c++ on the PATH");
        return;
    }
    let folder = std::env::temp_dir().join(format!("tessella-streams-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let mut failures = vec![];
    for (number, case) in CASES.iter().enumerate() {
        let text = match case.program() {
            Ok(text) => text,
            Err(error) => {
                failures.push(format!("{}: {error}", case.name));
                continue;
            }
        };
        let (source, program) = (folder.join(format!("{number}.cpp")), folder.join(number.to_string()));
        fs::write(&source, text).unwrap();
        let mut compiler = Command::new("c++");
        compiler.args(["-std=c++17", "-O1", "-w", "-ffp-contract=off", "-o"]).arg(&program).arg(&source);
        let compiled = compiler.output().unwrap();
        if !compiled.status.success() {
            failures.push(format!("{}: {}", case.name, String::from_utf8_lossy(&compiled.stderr)));
            continue;
        }
        let run = Command::new(&program).output().unwrap();
        if !run.status.success() {
            failures.push(format!("{}: {}", case.name, String::from_utf8_lossy(&run.stdout)));
        }
    }
    fs::remove_dir_all(&folder).unwrap();
    report(failures);
}

/// The launches of a time loop over two levels of one array, the first of which an odd last step leaves as it is.
const LEVELS: &str = r"
int main() {
    int wrong = 0;
    for (auto size : std::initializer_list<std::vector<int64_t>>{{700, 30}, {601, 23}, {9, 7}}) for (int steps : {1, 2, 3, 7, 8, 13, 16}) {
        const int64_t m = size[0], n = size[1], points = m * n;
        std::vector<float> A(2 * points), A_next(2 * points, -7), expected, D(m * steps, -1), rows = D;
        for (int64_t i = 0; i < 2 * points; i++) A[i] = (float)(i * 37 % 101) / 16 - 3;
        expected = A;
        for (int t = 1; t <= steps; t++) {
            const float *a = &expected[t % 2 * points];
            float *b = &expected[(t + 1) % 2 * points];
            for (int64_t j = 1; j < n - 1; j++) for (int64_t i = 1; i < m - 1; i++)
                b[i + m * j] = 0.5f * a[i + m * j] + a[i - 1 + m * j] - 0.25f * a[i + m * (j + 1)] + 0.125f * a[i + 1 + m * (j - 1)];
            for (int64_t i = 0; i < m; i++) rows[i + m * (t - 1)] = b[i + m * 2];
        }
        float *from = &A[0], *to = &A_next[0];
        const int64_t count = (steps + 1) / 2, made = 2;
        int64_t first = 1;
        auto run = [&](std::function<void()> kernel) { launch(64, 32, kernel); std::swap(from, to); };
        const int64_t pairs = (count - 1) / (2 * made);
        for (int64_t pair = 0; pair < 2 * pairs; pair++, first += 2 * made) run([&] { KERNEL; });
        const int64_t left = count - 2 * made * pairs, half = left / 2;
        int64_t now = half, turns = 2 * half, last = 0;
        run([&] { REST; });
        first += 2 * half, now = left - half, turns = 2 * now - (2 * count - steps), last = 1;
        run([&] { REST; });
        if (A != expected || D != rows) printf(`%dx%d, %d steps: another result\n`, (int)m, (int)n, steps), wrong++;
    }
    return wrong != 0;
}
";

/// The same over three levels of a wave, with a source and a row of receivers amidst the rows: launches of two times three iterations, of
/// parts that have calm rows before and behind them.
const WAVE: &str = r"
int main() {
    int wrong = 0;
    for (auto size : std::initializer_list<std::vector<int64_t>>{{300, 160}, {130, 75}, {9, 7}}) for (int steps : {2, 3, 4, 5, 8, 14, 15, 16, 27}) {
        const int64_t m = size[0], n = size[1], points = m * n;
        std::vector<float> A(3 * points), A_next(3 * points, -7), expected, D(m * steps, -1), rows = D, P(steps);
        for (int64_t i = 0; i < 3 * points; i++) A[i] = (float)(i * 37 % 101) / 16 - 3;
        for (int64_t t = 0; t < steps; t++) P[t] = (float)(t * 5 % 7) / 4;
        expected = A;
        for (int t = 3; t <= steps; t++) {
            const float *a = &expected[(t - 1) % 3 * points], *o = &expected[(t - 2) % 3 * points];
            float *b = &expected[t % 3 * points];
            for (int64_t j = 1; j < n - 1; j++) for (int64_t i = 1; i < m - 1; i++)
                b[i + m * j] = 0.5f * a[i + m * j] - 0.25f * o[i + m * j] + 0.125f * (a[i - 1 + m * j] + a[i + m * (j + 1)] - a[i + 1 + m * (j - 1)]);
            b[m / 2 - 1 + m * (n / 2 - 1)] += P[t - 1];
            for (int64_t i = 0; i < m; i++) rows[i + m * (t - 1)] = b[i + m * (n / 2 + 1)];
        }
        float *from = &A[0], *to = &A_next[0];
        const int64_t count = (steps - 2 + 2) / 3, made = 2;
        int64_t first = 3;
        auto run = [&](std::function<void()> kernel) { launch(64, 32, kernel); std::swap(from, to); };
        const int64_t pairs = count > 0 ? (count - 1) / (2 * made) : 0;
        for (int64_t pair = 0; pair < 2 * pairs; pair++, first += 3 * made) run([&] { KERNEL; });
        const int64_t left = count - 2 * made * pairs, half = left / 2;
        int64_t now = half, turns = 3 * half, last = 0;
        if (steps > 2) {
            run([&] { REST; });
            first += 3 * half, now = left - half, turns = 3 * now - (3 * count - (steps - 2)), last = 1;
            run([&] { REST; });
        }
        if (A != expected || D != rows) printf(`%dx%d, %d steps: another result\n`, (int)m, (int)n, steps), wrong++;
    }
    return wrong != 0;
}
";

/// A launch and the next one get an array and its copy the other way round: all levels of it.
#[test]
fn levels_change_places_together() {
    let text = "@tessella function f!(A::Array{Float32,3}, D::Matrix{Float32}, steps::Int)\n    m, n = size(A, 1), size(A, 2)\n    \
                @assert size(A, 3) == 2\n    for t in 1:steps\n        for j in 2:n-1, i in 2:m-1\n            @comp S A[i, j, (t+1)%2+1] = 0.5f0 * A[i, j, t%2+1] + \
                A[i-1, j, t%2+1] - 0.25f0 * A[i, j+1, t%2+1] + 0.125f0 * A[i+1, j-1, t%2+1]\n        end\n        for i in 1:m\n            \
                D[i, t] = A[i, 3, (t+1)%2+1]\n        end\n    end\nend\n@schedule f! begin\n    stream(S, t, 2, 4, 16)\nend\n";
    compare_levels("levels", text, LEVELS);
}

/// Rows outside of what is computed keep their own level's values, wherever they come from; and those that few statements meet may lie
/// between others of which nothing has to be looked at.
#[test]
fn levels_of_a_wave_keep_their_rims() {
    let text = "@tessella function f!(A::Array{Float32,3}, D::Matrix{Float32}, P::Vector{Float32})\n    m, n = size(A, 1), size(A, 2)\n    \
                @assert size(A, 3) == 3\n    for t in 3:length(P)\n        for j in 2:n-1, i in 2:m-1\n            \
                @comp S A[i, j, t%3+1] = 0.5f0 * A[i, j, (t-1)%3+1] - 0.25f0 * A[i, j, (t-2)%3+1] + 0.125f0 * (A[i-1, j, (t-1)%3+1] + \
                A[i, j+1, (t-1)%3+1] - A[i+1, j-1, (t-1)%3+1])\n        end\n        A[m ÷ 2, n ÷ 2, t%3+1] += P[t]\n        \
                for i in 1:m\n            D[i, t] = A[i, n ÷ 2 + 2, t%3+1]\n        end\n    end\nend\n\
                @schedule f! begin\n    stream(S, t, 2, 2, 80)\nend\n";
    let kernels = compare_levels("wave", text, WAVE);
    // What a step overwrites is loaded at the ends alone, and both statements amidst the rows are passed by.
    assert!(kernels.contains("if (inner && !safe && (here < S_first || here > S_last)) tessella_load"), "{kernels}");
    assert!(kernels.contains("_before || now_0 >= "), "{kernels}");
}

/// Compiles kernels for the host and runs them; gives their text.
fn compare_levels(name: &str, text: &str, main: &str) -> String {
    let options = FileOptions { name: "f.jl".into(), function: None, types: vec![], schedule: ScheduleSource::InFile };
    let sources = Sources::read(text, &options).unwrap();
    let unit = sources.unit(&sources.functions()[0], &[]).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
    let built = unit.build(Backend::Cuda).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
    let source = built.cuda(&unit).unwrap_or_else(|errors| panic!("{}", sources.show(&errors)));
    if Command::new("c++").arg("--version").output().is_err() {
        println!("skipped: no c++ on the PATH");
        return source.kernels.clone();
    }
    let (before, choice) = source.kernels.split_once("    T value;\n    if constexpr").unwrap();
    let (_, after) = choice.split_once("return value;").unwrap();
    let kernels = format!("{before}    return which ? yes : no;{after}");
    let kernels: Vec<&str> = kernels.lines().filter(|line| !line.starts_with("typedef ")).collect();
    let call = |name: &str| {
        let (_, params) = source.kernels.split_once(&format!(" {name}(\n")).unwrap();
        let (params, _) = params.split_once("\n)").unwrap();
        let arguments = params.lines().map(|param| match param.trim_end_matches(',').rsplit(' ').next().unwrap() {
            "A" => "from",
            "A_next" => "to",
            "D" => "&D[0]",
            "P" => "&P[0]",
            "D_1" => "m",
            "A_3" => "2",
            "P_1" => "steps",
            name if name.starts_with("t_first") => "first",
            "t_now" => "now",
            "t_turns" => "turns",
            "is_last" => "last",
            name => name,
        });
        format!("{name}({})", arguments.collect::<Vec<_>>().join(", "))
    };
    let main = main.replace('`', "\"").replace("KERNEL", &call(&source.kernel_names[0]));
    let main = main.replace("REST", &call(&source.kernel_names[2]));
    let folder = std::env::temp_dir().join(format!("tessella-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let (file, program) = (folder.join("levels.cpp"), folder.join("levels"));
    let macros = "#undef A\n#undef D\n#undef P\n#undef A_next\n";
    fs::write(&file, format!("{HOST}{}\n{macros}{main}", kernels.join("\n"))).unwrap();
    let mut compiler = Command::new("c++");
    compiler.args(["-std=c++17", "-O1", "-w", "-ffp-contract=off", "-o"]).arg(&program).arg(&file);
    let compiled = compiler.output().unwrap();
    assert!(compiled.status.success(), "{}\n{}", String::from_utf8_lossy(&compiled.stderr), source.kernels);
    let run = Command::new(&program).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stdout));
    fs::remove_dir_all(&folder).unwrap();
    source.kernels.clone()
}

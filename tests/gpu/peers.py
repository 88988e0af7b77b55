"""Times what PyTorch, CuPy and Numba make of the programs that `./x gpu --bench` times, on the same GPU at the same extents.

    ./x gpu --peers [OPTION ...] [NAME ...]

    NAME ...        these programs; all if none is named
    --list          the names
    --bench=FILE    the figures of `./x gpu --bench` (its bench.tsv): the table then compares
    --repeat=7      how often each is measured, fewer times where that takes more than a second; the fastest counts
    --no-compile    leaves out torch.compile, which takes some seconds a program

Each program is written as users of these libraries would write it: whole-array operations in PyTorch, the same as
torch.compile fuses them, whole-array operations in CuPy, and library calls (cuBLAS, cuDNN, cuSOLVER) where there are any.
Of programs of many steps torch.compile compiles a step, and a CUDA graph of all steps is timed. Numba's column is of kernels
with a thread for each element, for some programs where whole arrays are no fair comparison; it needs `numba-cuda`. Arrays lie
in the order that the library likes: Julia's `A[i, j]` is `A[j, i]` here, the contiguous axis last. No tensor cores: TF32 is off.
Times are between events of the GPU, the caches cleared before each call; the libraries keep the memory of earlier results for
new ones. Results are compared with NumPy's in Float64 first, at small extents; torch.compile's for the first type alone.

Left out: recurrences along an axis (adi, deriche, durbin, nussinov, seidel-2d), gramschmidt, whose LARGE matrix has more columns
than rows, and tests of single features (converge, histogram, deep, wide, storage, command). CuPy has no running maximum for needle.

Writes peers.tsv to $OUT, if OUT is set.
"""

import math
import os
import sys
import time

import numpy

TYPES = {
    "Float32": numpy.float32, "Float64": numpy.float64, "UInt8": numpy.uint8, "Int32": numpy.int32, "Int64": numpy.int64,
}


class Program:
    """One row: `make(rng, type, *extents)` gives arrays and numbers, `run(xp, *inputs)` the results as a tuple.

    `run` works on NumPy, CuPy and PyTorch alike, through `xp`, one of the classes below. `small` are extents to compare at;
    `steps` says that it calls `xp.once` in a loop.
    """

    def __init__(self, name, types, extents, small, make, run, steps=False):
        self.name, self.types, self.extents, self.small = name, types, extents, small
        self.make, self.run, self.steps = make, run, steps


class WithNumpy:
    """What the programs need beyond operators, for NumPy; CuPy spells most of it the same."""

    def __init__(self, module):
        self.m = module

    def once(self, function, *arguments):
        """One step of many."""
        return function(self, *arguments)

    def matmul(self, a, b):
        return self.m.matmul(a, b)

    def addmm(self, c, a, b, alpha, beta):
        return beta * c + alpha * self.m.matmul(a, b)

    def addr(self, a, x, y):
        return a + x[:, None] * y[None, :]

    def einsum(self, spec, *operands):
        return self.m.einsum(spec, *operands)

    def sum(self, a, axis=None, dtype=None):
        return self.m.sum(a, axis=axis, dtype=dtype)

    def max(self, a):
        return self.m.max(a)

    def extremes(self, a):
        return self.m.min(a), self.m.max(a)

    def maximum(self, a, b):
        return self.m.maximum(a, b)

    def minimum(self, a, b):
        return self.m.minimum(a, b)

    def abs(self, a):
        return self.m.abs(a)

    def floor(self, a):
        return self.m.floor(a)

    def clamp(self, a, low, high):
        return self.m.clip(a, low, high)

    def integers(self, a):
        return a.astype(self.m.int64)

    def int32(self, a):
        return a.astype(self.m.int32)

    def bytes(self, a):
        return a.astype(self.m.uint8)

    def words(self, a):
        return a.astype(self.m.uint16)

    def copy(self, a):
        return self.m.array(a)

    def transposed(self, a):
        return self.m.ascontiguousarray(a.T)

    def arange(self, like, first, last):
        return self.m.arange(first, last + 1, dtype=like.dtype)

    def empty(self, shape, like):
        return self.m.empty(shape, dtype=like.dtype)

    def mean(self, a, axis):
        return self.m.mean(a, axis=axis)

    def box(self, image, weights):
        """The correlation of an image with a small square of weights, where all of it lies inside."""
        rows, columns = image.shape[0] - weights.shape[0] + 1, image.shape[1] - weights.shape[1] + 1
        result = 0
        for q in range(weights.shape[0]):
            for p in range(weights.shape[1]):
                result = result + weights[q, p] * image[q : q + rows, p : p + columns]
        return result

    def padded(self, a):
        """A matrix with its outermost rows and columns twice."""
        return self.m.pad(a, 1, mode="edge")

    def running_max(self, a):
        return self.m.maximum.accumulate(a)

    def lu(self, a):
        """Both factors in one matrix, without pivoting."""
        a = self.copy(a)
        for k in range(len(a)):
            a[k + 1 :, k] /= a[k, k]
            a[k + 1 :, k + 1 :] -= a[k + 1 :, k, None] * a[k, k + 1 :]
        return a

    def solve_triangular(self, a, b, lower, unit=False):
        a = self.m.tril(a) if lower else self.m.triu(a)
        return self.m.linalg.solve(a + self.m.diag(1 - self.m.diag(a)) if unit else a, b)


class WithCupy(WithNumpy):
    def lu(self, a):
        from cupyx.scipy import linalg

        # It pivots, but the diagonal outweighs the rest here.
        return linalg.lu_factor(a, check_finite=False)[0]

    def solve_triangular(self, a, b, lower, unit=False):
        from cupyx.scipy import linalg

        return linalg.solve_triangular(a, b, lower=lower, unit_diagonal=unit, check_finite=False)


class WithTorch(WithNumpy):
    def addmm(self, c, a, b, alpha, beta):
        return self.m.addmm(c, a, b, alpha=alpha, beta=beta)

    def addr(self, a, x, y):
        return self.m.addr(a, x, y)

    def sum(self, a, axis=None, dtype=None):
        dtype = {None: None, numpy.int32: self.m.int32, numpy.int64: self.m.int64}[dtype]
        return self.m.sum(a, dtype=dtype) if axis is None else self.m.sum(a, dim=axis, dtype=dtype)

    def extremes(self, a):
        return tuple(self.m.aminmax(a))

    def clamp(self, a, low, high):
        return self.m.clamp(a, low, high)

    def integers(self, a):
        return a.to(self.m.int64)

    def int32(self, a):
        return a.to(self.m.int32)

    def bytes(self, a):
        return a.to(self.m.uint8)

    def words(self, a):
        return a.to(self.m.int32)

    def copy(self, a):
        return a.clone()

    def transposed(self, a):
        return a.t().contiguous()

    def arange(self, like, first, last):
        return self.m.arange(first, last + 1, dtype=like.dtype, device=like.device)

    def empty(self, shape, like):
        return self.m.empty(shape, dtype=like.dtype, device=like.device)

    def mean(self, a, axis):
        return self.m.mean(a, dim=axis)

    def box(self, image, weights):
        return self.m.nn.functional.conv2d(image[None, None], weights[None, None])[0, 0]

    def padded(self, a):
        return self.m.nn.functional.pad(a[None, None], (1, 1, 1, 1), mode="replicate")[0, 0]

    def running_max(self, a):
        return self.m.cummax(a, 0).values

    def lu(self, a):
        return self.m.linalg.lu_factor_ex(a, pivot=False).LU

    def solve_triangular(self, a, b, lower, unit=False):
        return self.m.linalg.solve_triangular(a, b[:, None], upper=not lower, unitriangular=unit)[:, 0]


class WithCompiled(WithTorch):
    """torch.compile of single steps."""

    def __init__(self, module):
        super().__init__(module)
        self.compiled = {}

    def once(self, function, *arguments):
        if function not in self.compiled:
            plain = WithTorch(self.m)
            self.compiled[function] = self.m.compile(lambda *inputs: function(plain, *inputs), dynamic=False)
        return self.compiled[function](*arguments)


# --- the programs ----------------------------------------------------------------------------------------------------


def floats(rng, dtype, *shape):
    """Random numbers, over and over: a large array of new ones would take seconds."""
    count = min(math.prod(shape), 1000003)
    block = rng.integers(0, 100, count) if numpy.issubdtype(dtype, numpy.integer) else rng.random(count) - 0.5
    return numpy.resize(block.astype(dtype), shape)


def arrays(*shapes):
    """Makes arrays whose shapes are functions of the extents."""
    return lambda rng, dtype, *extents: tuple(floats(rng, dtype, *shape(*extents)) for shape in shapes)


def grids(shape, steps):
    """Makes an array, a copy of it, and how many steps there are."""

    def make(rng, dtype, *extents):
        a = floats(rng, dtype, *shape(*extents))
        return a, a.copy(), steps(*extents)

    return make


def dominant(rng, dtype, n):
    """A symmetric matrix whose diagonal outweighs the rest."""
    a = floats(rng, dtype, n, n)
    return (a + a.T + numpy.eye(n, dtype=dtype) * n,)


def both(*makers):
    return lambda rng, dtype, *extents: tuple(a for make in makers for a in make(rng, dtype, *extents))


def square(n, m=None):
    return (n, m or n)


def first(n, _):
    return n


def wide(n):
    return (n + 3, n)


def vector(n):
    return (n,)


def axpy(xp, y, x):
    return (1.5 * x + y,)


def dot(xp, x, y):
    return (xp.m.dot(x, y),)


def dot_integers(xp, x, y):
    return (xp.sum(x * y, dtype=a_type(xp, x)),)


def total(xp, a):
    return (xp.sum(a, dtype=a_type(xp, a)),)


def a_type(xp, a):
    return numpy.int32 if "32" in str(a.dtype) else numpy.int64


def largest(xp, x, y):
    return (xp.max(x * y),)


def extremes(xp, x):
    return xp.extremes(x)


def norms_step(xp, u):
    total = xp.sum(u, dtype=a_type(xp, u))
    return u + total, total, xp.sum(u * u, dtype=a_type(xp, u))


def norms(xp, u):
    sums = []
    for _ in range(12):
        u, *both = xp.once(norms_step, u)
        sums += both
    return u, xp.m.stack(sums)


def masked(xp, u, v):
    return (xp.m.where(v > 0, v / 2, u),)


def rows_and_columns(xp, a, x, y, rows, columns):
    return rows + xp.matmul(x, a), columns + xp.matmul(a, y)


def gemm(xp, c, a, b):
    return (xp.addmm(c, a, b, 1.5, 1.2),)


def gemm_fast(xp, c, a, b):
    return (xp.addmm(c, a, b, 1, 1),)


def bicg(xp, a, p, r):
    return xp.matmul(a, r), xp.matmul(p, a)


def gesummv(xp, a, b, x):
    return (1.5 * xp.matmul(x, a) + 1.2 * xp.matmul(x, b),)


def atax(xp, a, x):
    return (xp.matmul(xp.matmul(a, x), a),)


def mvt(xp, a, x1, x2, y1, y2):
    return x1 + xp.matmul(y1, a), x2 + xp.matmul(a, y2)


def gemver(xp, a, u1, v1, u2, v2, y, z):
    a = xp.addr(xp.addr(a, v1, u1), v2, u2)
    x = z + 1.2 * xp.matmul(a, y)
    return a, x, 1.5 * xp.matmul(x, a)


def doitgen(xp, a, c):
    return (xp.matmul(a, c),)


def mttkrp(xp, b, c, d):
    return (xp.einsum("lki,rk,rl->ri", b, c, d),)


def covariance(xp, data):
    data = data - xp.mean(data, 1)[:, None]
    return (xp.matmul(data, data.T) / (data.shape[1] - 1),)


def correlation(xp, data):
    data = data - xp.mean(data, 1)[:, None]
    deviation = xp.mean(data * data, 1) ** 0.5
    deviation[deviation <= 0.1] = 1
    data = data / (data.shape[1] ** 0.5 * deviation)[:, None]
    result = xp.matmul(data, data.T)
    result.reshape(-1)[:: len(result) + 1] = 1
    return (result,)


def two_products(xp, d, a, b, c):
    return (xp.addmm(d, c, xp.matmul(b, a), 1.5, 1.2),)


def three_products(xp, a, b, c, d):
    return (xp.matmul(xp.matmul(d, c), xp.matmul(b, a)),)


# Julia's lower triangles are upper ones here.
def syrk(xp, c, a):
    return (xp.m.triu(xp.addmm(c, a.T, a, 1.5, 1.2)) + xp.m.tril(c, -1),)


def syr2k(xp, c, a, b):
    return (xp.m.triu(xp.addmm(xp.addmm(c, a.T, b, 1.5, 1.2), b.T, a, 1.5, 1)) + xp.m.tril(c, -1),)


def trmm(xp, b, a):
    return (xp.addmm(b, b, xp.m.triu(a, 1).T, 1.5, 1.5),)


def symm(xp, c, a, b):
    return (xp.addmm(c, b, xp.m.triu(a) + xp.m.triu(a, 1).T, 1.5, 1.2),)


def lu(xp, a):
    return (xp.lu(a.T),)


def cholesky(xp, a):
    return (xp.m.linalg.cholesky(a),)


def trisolv(xp, a, b):
    return (xp.solve_triangular(a, b, lower=True),)


def ludcmp(xp, a, b):
    factors = xp.lu(a.T)
    return factors, xp.solve_triangular(factors, xp.solve_triangular(factors, b, lower=True, unit=True), lower=False)


def shortest_through(xp, path, to, on):
    return xp.minimum(path, to + on)


def floyd_warshall(xp, path):
    for k in range(len(path)):
        # A copy of the column, since torch.compile would copy all that a view reaches over.
        path = xp.once(shortest_through, path, xp.copy(path[:, k : k + 1]), path[k])
    return (path,)


def lengths(rng, dtype, n):
    return (abs(floats(rng, dtype, n, n)),)


def inner(a):
    return a[(slice(1, -1),) * a.ndim]


def in_turn(stencil):
    """Steps from one array to the inner part of another, and back."""

    def step(xp, a, b):
        inner(b)[...] = stencil(a)
        inner(a)[...] = stencil(b)

    def run(xp, a, b, steps):
        for _ in range(steps):
            xp.once(step, a, b)
        return a, b

    return run


def sweep(stencil):
    def run(xp, b, a):
        inner(b)[...] = stencil(a)
        return (b,)

    return run


def cross(a):
    return a[1:-1, :-2] + a[1:-1, 2:] + a[:-2, 1:-1] + a[2:, 1:-1]


def mean_of_3(a):
    return 0.33333 * (a[:-2] + a[1:-1] + a[2:])


def mean_of_4(a):
    return 0.25 * cross(a)


def mean_of_5(a):
    return 0.2 * (inner(a) + cross(a))


def heat_of_5(a):
    return 0.5 * inner(a) + 0.125 * cross(a)


def heat_of_7(a):
    return 0.25 * inner(a) + 0.125 * (a[1:-1, 1:-1, :-2] + a[1:-1, 1:-1, 2:] + a[1:-1, :-2, 1:-1] + a[1:-1, 2:, 1:-1]
                                      + a[:-2, 1:-1, 1:-1] + a[2:, 1:-1, 1:-1])


def fdtd_step(xp, ex, ey, hz, source):
    ey[:, 0] = source
    ey[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
    ex[1:] -= 0.5 * (hz[1:] - hz[:-1])
    hz[:-1, :-1] -= 0.7 * (ex[1:, :-1] - ex[:-1, :-1] + ey[:-1, 1:] - ey[:-1, :-1])


def fdtd(xp, ex, ey, hz, source):
    for t in range(len(source)):
        xp.once(fdtd_step, ex, ey, hz, source[t])
    return ex, ey, hz


def hotspot_step(xp, here, power):
    around = xp.padded(here)
    return here + 0.5 * (power + (around[1:-1, 2:] + around[1:-1, :-2] - 2 * here) * 0.1
                         + (around[2:, 1:-1] + around[:-2, 1:-1] - 2 * here) * 0.1 + (80 - here) * 0.000003)


def hotspot(xp, here, power, steps):
    for _ in range(steps):
        here = xp.once(hotspot_step, here, power)
    return (here,)


def hotspot_inputs(rng, dtype, n, m, steps):
    return 320 + 13 * floats(rng, dtype, n, m), floats(rng, dtype, n, m), steps


def srad_step(xp, image):
    mean = xp.m.mean(image)
    q0 = (xp.m.mean(image * image) - mean * mean) / (mean * mean)
    around = xp.padded(image)
    north, south = around[1:-1, :-2] - image, around[1:-1, 2:] - image
    west, east = around[:-2, 1:-1] - image, around[2:, 1:-1] - image
    gradient = (north * north + south * south + west * west + east * east) / (image * image)
    laplacian = (north + south + west + east) / image
    q = (gradient / 2 - laplacian * laplacian / 16) / (1 + laplacian / 4) ** 2
    c = xp.clamp(1 / (1 + (q - q0) / (q0 * (1 + q0))), 0, 1)
    around = xp.padded(c)
    return image + 0.125 * (c * north + around[1:-1, 2:] * south + c * west + around[2:, 1:-1] * east)


def srad(xp, image, steps):
    for _ in range(steps):
        image = xp.once(srad_step, image)
    return (image,)


def srad_inputs(rng, dtype, n, m, steps):
    return 1.5 + floats(rng, dtype, n, m), steps


def pathfinder_row(xp, best, wall):
    left, right = xp.m.concatenate((best[:1], best[:-1])), xp.m.concatenate((best[1:], best[-1:]))
    return xp.minimum(xp.minimum(best, left), right) + wall


def pathfinder(xp, wall):
    best = wall[0]
    for row in wall[1:]:
        best = xp.once(pathfinder_row, best, row)
    return (best,)


def needle_row(xp, above, similarity, first, ramp):
    best = xp.maximum(above[:-1] + similarity[1:], above[1:] - 10)
    return xp.running_max(xp.m.concatenate((first, best)) + ramp) - ramp


def needle(xp, score, similarity):
    rows, ramp = [score[0]], -score[0]
    for j in range(1, len(score)):
        rows.append(xp.once(needle_row, rows[-1], similarity[j], score[j, :1], ramp))
    return (xp.m.stack(rows),)


def needle_inputs(rng, dtype, n):
    score = numpy.zeros((n, n + 1), dtype)
    score[0], score[:, 0] = -10 * numpy.arange(n + 1), -10 * numpy.arange(n)
    return score, floats(rng, dtype, n, n + 1) % 9 - 3


def rgb2gray(xp, image):
    r, g, b = xp.words(image[0]), xp.words(image[1]), xp.words(image[2])
    return (xp.bytes((77 * r + 150 * g + 29 * b) >> 8),)


def rgb2gray_float(xp, image):
    return (0.299 * image[0] + 0.587 * image[1] + 0.114 * image[2],)


def conv5x5(xp, image, weights):
    return (xp.box(image, weights),)


def warpaffine(xp, image):
    rows, columns = image.shape[1], image.shape[0]
    m, n = rows - 1, columns - 2
    i, j = xp.arange(image, 1, m)[None, :], xp.arange(image, 1, n)[:, None]
    y = 0.966 * i - 0.259 * j + n / 5
    x = 0.259 * i + 0.966 * j - 1
    top = xp.clamp(xp.floor(y), 1, rows - 1)
    left = xp.clamp(xp.floor(x), 1, columns - 1)
    down, right = xp.clamp(y - top, 0, 1), xp.clamp(x - left, 0, 1)
    top, left = xp.integers(top) - 1, xp.integers(left) - 1
    above = (1 - right) * image[left, top] + right * image[left + 1, top]
    below = (1 - right) * image[left, top + 1] + right * image[left + 1, top + 1]
    return ((1 - down) * above + down * below,)


def gaussian(xp, image):
    def along(a, axis):
        size = a.shape[axis] - 4
        parts = [a[:, k : k + size] if axis else a[k : k + size] for k in range(5)]
        return (parts[0] + 4 * parts[1] + 6 * parts[2] + 4 * parts[3] + parts[4]) * (1 / 16)

    return (along(along(image, 1), 0),)


def rgbyuv420(xp, image):
    r, g, b = xp.int32(image[0]), xp.int32(image[1]), xp.int32(image[2])
    y = xp.bytes((((66 * r + 129 * g + 25 * b + 128) >> 8) + 16) & 255)
    r, g, b = r[1::2, 1::2], g[1::2, 1::2], b[1::2, 1::2]
    u = xp.bytes((((-38 * r - 74 * g + 112 * b + 128) >> 8) + 128) & 255)
    v = xp.bytes((((112 * r - 94 * g - 18 * b + 128) >> 8) + 128) & 255)
    return y, u, v


def fusion(xp, image):
    negative = 255 - image
    bright = 2 * image
    total = negative + bright
    return negative, bright, total, 255 - 2 * total


def edgedetector(xp, image):
    ring = (image[:-2, :-2] + image[:-2, 1:-1] + image[:-2, 2:] + image[1:-1, :-2] + image[1:-1, 2:]
            + image[2:, :-2] + image[2:, 1:-1] + image[2:, 2:]) * 0.125
    return (xp.abs(ring[:-1, 1:] - ring[1:, :-1]) + xp.abs(ring[:-1, :-1] - ring[1:, 1:]),)


def transpose(xp, a):
    return (xp.transposed(a),)


def image(rng, dtype, n, m):
    if dtype == numpy.uint8:
        return (rng.integers(0, 256, (3, n, m)).astype(dtype),)
    return (floats(rng, dtype, 3, n, m),)


BOTH, INTEGERS, BYTES = ["Float32", "Float64"], ["Int32", "Int64"], ["UInt8"]
PICTURE, SMALL = (3520, 2112), (24, 20)

PROGRAMS = [
    Program("axpy", BOTH, (1 << 27,), (1000,), arrays(vector, vector), axpy),
    Program("dot", BOTH, (1 << 26,), (1000,), arrays(vector, vector), dot),
    Program("dot_integers", INTEGERS, (1 << 26,), (1000,), arrays(vector, vector), dot_integers),
    Program("total", INTEGERS, (32768,), (40,), arrays(lambda n: (5 + n // 7, n)), total),
    Program("largest", BOTH, (1 << 26,), (1000,), arrays(vector, vector), largest),
    Program("space_extremes", BOTH, (1024,), (20,), arrays(lambda n: (n // 3 + 1, n // 2 + 1, n)), extremes),
    Program("norms", INTEGERS, (1 << 24,), (1000,), arrays(vector), norms, steps=True),
    Program("masked", BOTH, (8192,), (20,), arrays(wide, wide), masked),
    Program("rows_and_columns", BOTH, (16384,), (20,),
            arrays(lambda n: (n + 3, n), lambda n: (n + 3,), vector, vector, lambda n: (n + 3,)), rows_and_columns),
    Program("gemm_fast", BOTH, (4096,), (20,), arrays(square, square, square), gemm_fast),
    Program("gemm", BOTH, (4096,), (20,), arrays(square, lambda n: (n, n + 1), lambda n: (n + 1, n)), gemm),
    Program("bicg", BOTH, (16384,), (20,), arrays(lambda n: (n, n + 2), vector, lambda n: (n + 2,)), bicg),
    Program("gesummv", BOTH, (16384,), (20,), arrays(square, square, vector), gesummv),
    Program("doitgen", BOTH, (500,), (20,), arrays(lambda n: (9, 12, n), square), doitgen),
    Program("mttkrp", BOTH, (300,), (22,), arrays(lambda n: (20, n, n), lambda n: (8, n), lambda n: (8, 20)), mttkrp),
    Program("covariance", BOTH, (2000,), (20,), arrays(lambda n: (n, n + 1)), covariance),
    Program("rgb2gray", BYTES, PICTURE, SMALL, image, rgb2gray),
    Program("rgb2gray_float", BOTH, PICTURE, SMALL, image, rgb2gray_float),
    Program("conv5x5", BOTH, PICTURE, SMALL, arrays(square, lambda *_: (5, 5)), conv5x5),
    Program("warpaffine", BOTH, PICTURE, SMALL, arrays(lambda n, m: (n + 2, m + 1)), warpaffine),
    Program("gaussian", BOTH, PICTURE, SMALL, arrays(square), gaussian),
    Program("rgbyuv420", BYTES, PICTURE, SMALL, image, rgbyuv420),
    Program("fusion", BOTH, PICTURE, SMALL, image, fusion),
    Program("edgedetector", BOTH, PICTURE, SMALL, arrays(square), edgedetector),
    Program("transpose", BOTH, (8192, 8192), SMALL, arrays(square), transpose),
    Program("polybench_atax", BOTH, (16384, 16384), SMALL, arrays(square, lambda n, m: (m,)), atax),
    Program("polybench_mvt", BOTH, (16384,), (20,), arrays(square, vector, vector, vector, vector), mvt),
    Program("polybench_gemver", BOTH, (16384,), (20,),
            arrays(square, vector, vector, vector, vector, vector, vector), gemver),
    Program("polybench_gesummv", BOTH, (16384,), (20,), arrays(square, square, vector), gesummv),
    Program("polybench_bicg", BOTH, (16384, 16384), SMALL, arrays(square, lambda m, n: (m,), lambda m, n: (n,)), bicg),
    Program("polybench_gemm", BOTH, (2048, 2048, 2048), (20, 22, 24),
            arrays(lambda i, j, k: (j, i), lambda i, j, k: (j, k), lambda i, j, k: (k, i)), gemm),
    Program("polybench_2mm", BOTH, (800, 900, 1100, 1200), (20, 22, 24, 18),
            arrays(lambda i, j, k, l: (l, i), lambda i, j, k, l: (k, i), lambda i, j, k, l: (j, k),
                   lambda i, j, k, l: (l, j)), two_products),
    Program("polybench_3mm", BOTH, (800, 900, 1000, 1100, 1200), (20, 22, 24, 18, 16),
            arrays(lambda i, j, k, l, m: (k, i), lambda i, j, k, l, m: (j, k), lambda i, j, k, l, m: (m, j),
                   lambda i, j, k, l, m: (l, m)), three_products),
    Program("polybench_doitgen", BOTH, (150, 140, 160), (6, 7, 8),
            arrays(lambda r, q, p: (r, q, p), lambda r, q, p: (p, p)), doitgen),
    Program("polybench_syrk", BOTH, (1000, 1200), SMALL, arrays(lambda m, n: (n, n), square), syrk),
    Program("polybench_syr2k", BOTH, (1000, 1200), SMALL, arrays(lambda m, n: (n, n), square, square), syr2k),
    Program("polybench_trmm", BOTH, (1000, 1200), SMALL, arrays(lambda m, n: (n, m), lambda m, n: (m, m)), trmm),
    Program("polybench_symm", BOTH, (1000, 1200), SMALL,
            arrays(lambda m, n: (n, m), lambda m, n: (m, m), lambda m, n: (n, m)), symm),
    Program("polybench_covariance", BOTH, (1200, 1400), SMALL, arrays(square), covariance),
    Program("polybench_correlation", BOTH, (1200, 1400), SMALL, arrays(square), correlation),
    Program("lud", BOTH, (2048,), (20,), dominant, lu),
    Program("polybench_lu", BOTH, (2000,), (20,), dominant, lu),
    Program("polybench_ludcmp", BOTH, (2000,), (20,), both(dominant, arrays(vector)), ludcmp),
    Program("polybench_cholesky", BOTH, (2000,), (20,), dominant, cholesky),
    Program("polybench_trisolv", BOTH, (2000,), (20,), both(dominant, arrays(vector)), trisolv),
    Program("heat2d_step", BOTH, (10000,), (20,), arrays(wide, wide), sweep(heat_of_5)),
    Program("jacobi2d_step", BOTH, (10000,), (20,), arrays(wide, wide), sweep(mean_of_5)),
    # Two of its six steps at a time.
    Program("heat2d", BOTH, (10000,), (20,), grids(lambda n: (n + 1, n), lambda n: 3), in_turn(mean_of_4), steps=True),
    Program("jacobi2d", BOTH, (10000,), (20,), grids(square, lambda n: 7), in_turn(mean_of_5), steps=True),
    Program("hotspot", BOTH, (8192, 8192, 20), (24, 20, 4), hotspot_inputs, hotspot, steps=True),
    Program("srad", BOTH, (2048, 2048, 10), (24, 20, 3), srad_inputs, srad, steps=True),
    Program("pathfinder", INTEGERS, (1000, 100000), SMALL, arrays(square), pathfinder, steps=True),
    Program("needle", INTEGERS, (4096,), (20,), needle_inputs, needle, steps=True),
    Program("polybench_jacobi_1d", BOTH, (500, 2000), (5, 20), grids(lambda t, n: (n,), first), in_turn(mean_of_3),
            steps=True),
    Program("polybench_jacobi_2d", BOTH, (20, 8192), (5, 20), grids(lambda t, n: (n, n), first), in_turn(mean_of_5),
            steps=True),
    Program("polybench_heat_3d", BOTH, (500, 120), (5, 12), grids(lambda t, n: (n, n, n), first), in_turn(heat_of_7),
            steps=True),
    Program("polybench_fdtd_2d", BOTH, (500, 1000, 1200), (5, 20, 24),
            arrays(*[lambda t, nx, ny: (ny, nx)] * 3, lambda t, nx, ny: (t,)), fdtd, steps=True),
    Program("polybench_floyd_warshall", [*INTEGERS, "Float64"], (2800,), (20,), lengths, floyd_warshall, steps=True),
]


# --- some of them as kernels in Numba --------------------------------------------------------------------------------


def numba_kernels():
    """By program: a function from its inputs to what starts the kernels, and to the results that these write."""
    import numba
    from numba import cuda, int32

    def start(kernel, shape, *arguments, block=(32, 8)):
        """A thread for each element of a matrix, and for none beyond it but in the last blocks."""
        kernel[(-(-shape[1] // block[0]), -(-shape[0] // block[1])), block](*arguments)

    @cuda.jit
    def rgb2gray_kernel(gray, image):
        i, j = cuda.grid(2)
        if j < gray.shape[0] and i < gray.shape[1]:
            gray[j, i] = (77 * int32(image[0, j, i]) + 150 * int32(image[1, j, i]) + 29 * int32(image[2, j, i])) >> 8

    def rgb2gray(image):
        gray = cuda.device_array(image.shape[1:], image.dtype)
        return lambda: start(rgb2gray_kernel, gray.shape, gray, image), (gray,)

    @cuda.jit
    def conv5x5_kernel(result, image, weights, zero):
        i, j = cuda.grid(2)
        if j < result.shape[0] and i < result.shape[1]:
            total = zero
            for q in range(5):
                for p in range(5):
                    total += weights[q, p] * image[j + q, i + p]
            result[j, i] = total

    def conv5x5(image, weights):
        result = cuda.device_array((image.shape[0] - 4, image.shape[1] - 4), image.dtype)
        return lambda: start(conv5x5_kernel, result.shape, result, image, weights, image.dtype.type(0)), (result,)

    @cuda.jit
    def along_columns(result, image, w):
        i, j = cuda.grid(2)
        if j < result.shape[0] and i < result.shape[1]:
            result[j, i] = (w[0] * image[j, i] + w[1] * image[j, i + 1] + w[2] * image[j, i + 2] + w[3] * image[j, i + 3]
                            + w[4] * image[j, i + 4])

    @cuda.jit
    def along_rows(result, image, w):
        i, j = cuda.grid(2)
        if j < result.shape[0] and i < result.shape[1]:
            result[j, i] = (w[0] * image[j, i] + w[1] * image[j + 1, i] + w[2] * image[j + 2, i] + w[3] * image[j + 3, i]
                            + w[4] * image[j + 4, i])

    def gaussian(image):
        n, m = image.shape
        columns, result = cuda.device_array((n, m - 4), image.dtype), cuda.device_array((n - 4, m - 4), image.dtype)
        weights = cuda.to_device(numpy.array([1, 4, 6, 4, 1], image.dtype) / 16)

        def work():
            start(along_columns, columns.shape, columns, image, weights)
            start(along_rows, result.shape, result, columns, weights)

        return work, (result,)

    @cuda.jit
    def brightness(y, image):
        i, j = cuda.grid(2)
        if j < y.shape[0] and i < y.shape[1]:
            r, g, b = int32(image[0, j, i]), int32(image[1, j, i]), int32(image[2, j, i])
            y[j, i] = ((66 * r + 129 * g + 25 * b + 128) >> 8) + 16

    @cuda.jit
    def colours(u, v, image):
        i, j = cuda.grid(2)
        if j < u.shape[0] and i < u.shape[1]:
            x, y = 2 * i + 1, 2 * j + 1
            r, g, b = int32(image[0, y, x]), int32(image[1, y, x]), int32(image[2, y, x])
            u[j, i] = ((-38 * r - 74 * g + 112 * b + 128) >> 8) + 128
            v[j, i] = ((112 * r - 94 * g - 18 * b + 128) >> 8) + 128

    def rgbyuv420(image):
        n, m = image.shape[1:]
        y, u, v = (cuda.device_array(shape, image.dtype) for shape in [(n, m), (n // 2, m // 2), (n // 2, m // 2)])

        def work():
            start(brightness, y.shape, y, image)
            start(colours, u.shape, u, v, image)

        return work, (y, u, v)

    @cuda.jit
    def heat2d_kernel(b, a, quarter):
        i, j = cuda.grid(2)
        if 1 <= j < a.shape[0] - 1 and 1 <= i < a.shape[1] - 1:
            b[j, i] = quarter * (a[j, i - 1] + a[j, i + 1] + a[j - 1, i] + a[j + 1, i])

    def heat2d(a, b, steps):
        def work():
            for _ in range(steps):
                start(heat2d_kernel, a.shape, b, a, a.dtype.type(0.25))
                start(heat2d_kernel, a.shape, a, b, a.dtype.type(0.25))

        return work, (a, b)

    @cuda.jit
    def hotspot_kernel(after, before, power, cap, rx, ry, rz, ambient):
        i, j = cuda.grid(2)
        n, m = before.shape
        if j < n and i < m:
            here = before[j, i]
            up, down = before[j, max(i - 1, 0)], before[j, min(i + 1, m - 1)]
            left, right = before[max(j - 1, 0), i], before[min(j + 1, n - 1), i]
            after[j, i] = here + cap * (power[j, i] + (down + up - here - here) * ry + (right + left - here - here) * rx
                                        + (ambient - here) * rz)

    def hotspot(here, power, steps):
        fields = [here, cuda.device_array_like(here)]
        numbers = [here.dtype.type(it) for it in (0.5, 0.1, 0.1, 0.000003, 80)]

        def work():
            for t in range(steps):
                start(hotspot_kernel, here.shape, fields[(t + 1) % 2], fields[t % 2], power, *numbers)

        return work, (fields[steps % 2],)

    side = 16
    products = {}

    def gemm_kernel(kind):
        @cuda.jit
        def kernel(c, a, b, alpha, beta, zero):
            left = cuda.shared.array((side, side), kind)
            right = cuda.shared.array((side, side), kind)
            i, j = cuda.grid(2)
            x, y = cuda.threadIdx.x, cuda.threadIdx.y
            total = zero
            for first in range(0, a.shape[1], side):
                left[y, x] = a[j, first + x] if j < a.shape[0] and first + x < a.shape[1] else zero
                right[y, x] = b[first + y, i] if first + y < b.shape[0] and i < b.shape[1] else zero
                cuda.syncthreads()
                for k in range(side):
                    total += left[y, k] * right[k, x]
                cuda.syncthreads()
            if j < c.shape[0] and i < c.shape[1]:
                c[j, i] = beta * c[j, i] + alpha * total

        return kernel

    def gemm(c, a, b):
        number = c.dtype.type
        kernel = products.setdefault(c.dtype, gemm_kernel(numba.from_dtype(c.dtype)))
        return lambda: start(kernel, c.shape, c, a, b, number(1.5), number(1.2), number(0), block=(side, side)), (c,)

    return {it.__name__: it for it in (rgb2gray, conv5x5, gaussian, rgbyuv420, heat2d, hotspot, gemm)}


# --- comparing and timing --------------------------------------------------------------------------------------------


def each(change, inputs):
    """The inputs with their arrays changed."""
    return [change(a) if isinstance(a, numpy.ndarray) else a for a in inputs]


class Library:
    def offers(self, program):
        return True

    def bring(self, inputs):
        return each(self.array, inputs)

    def work(self, program, inputs):
        """What gives the results when called."""
        return lambda: program.run(self.xp, *inputs)

    def timed(self, program, inputs):
        """What is timed."""
        return self.work(program, inputs)

    def check(self, program, word):
        """Compares with NumPy, where floating-point numbers are Float64, at small extents."""
        inputs = program.make(numpy.random.default_rng(1), TYPES[word], *program.small)
        exact = each(lambda a: a.astype(numpy.float64 if a.dtype.kind == "f" else a.dtype), inputs)
        actual = self.work(program, self.bring(inputs))()
        expected = program.run(WithNumpy(numpy), *exact)
        assert len(actual) == len(expected)
        for a, e in zip(actual, expected):
            a, e = numpy.asarray(self.fetch(a)), numpy.asarray(e)
            assert a.shape == e.shape, (a.shape, e.shape)
            if numpy.issubdtype(e.dtype, numpy.floating):
                bound = 1e-3 if word == "Float32" else 1e-10
                assert numpy.allclose(a, e, rtol=bound, atol=bound), abs(a - e).max()
            else:
                assert (a == e).all()

    def time(self, work, repeat):
        """The fastest of some calls, in seconds; of three at least."""
        best, begin = math.inf, time.perf_counter()
        for done in range(repeat + 2):
            if done > 2 and time.perf_counter() - begin > 1:
                break
            best = min(best, self.measure(work))
        return best


class Torch(Library):
    name = "PyTorch"

    def __init__(self):
        import torch

        self.torch, self.xp = torch, WithTorch(torch)
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.allow_tf32 = False
        torch.backends.cudnn.benchmark = True
        # Twice the second-level cache of the GPUs of today.
        self.other = torch.empty(1 << 28, dtype=torch.uint8, device="cuda")

    def array(self, a):
        return self.torch.from_numpy(a).cuda()

    def fetch(self, a):
        return a.cpu().numpy()

    def measure(self, work):
        start, stop = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        self.other.zero_()
        # Lines that were written would leave the cache while the work is measured.
        self.other.view(self.torch.int32).sum()
        start.record()
        work()
        stop.record()
        stop.synchronize()
        return start.elapsed_time(stop) / 1e3

    def release(self):
        self.torch.cuda.empty_cache()


class Compiled(Torch):
    name = "torch.compile"

    def __init__(self):
        super().__init__()
        self.plain, self.xp = self.xp, WithCompiled(self.torch)

    def work(self, program, inputs):
        # Each program is compiled once for each type and size, whatever was compiled before.
        self.torch._dynamo.reset()
        self.xp.compiled.clear()
        if program.steps:
            return super().work(program, inputs)
        run = self.torch.compile(lambda *a: program.run(self.plain, *a), dynamic=False)
        return lambda: run(*inputs)

    def timed(self, program, inputs):
        work = self.work(program, inputs)
        if not program.steps:
            return work
        # Compiles, which cannot be recorded.
        work()
        graph = self.torch.cuda.CUDAGraph()
        with self.torch.cuda.graph(graph):
            work()
        return graph.replay

    def check(self, program, word):
        if word == program.types[0]:
            super().check(program, word)


class Cupy(Library):
    name = "CuPy"

    def __init__(self):
        import cupy

        self.cupy, self.xp = cupy, WithCupy(cupy)
        self.other = cupy.empty(1 << 28, dtype=cupy.uint8)

    def array(self, a):
        return self.cupy.asarray(a)

    def fetch(self, a):
        return self.cupy.asnumpy(a)

    def measure(self, work):
        start, stop = self.cupy.cuda.Event(), self.cupy.cuda.Event()
        self.other.fill(0)
        self.other.view(self.cupy.int32).sum()
        start.record()
        work()
        stop.record()
        stop.synchronize()
        return self.cupy.cuda.get_elapsed_time(start, stop) / 1e3

    def release(self):
        self.cupy.get_default_memory_pool().free_all_blocks()


class Numba(Library):
    name = "Numba"

    def __init__(self):
        import numba
        from numba import cuda

        numba.config.CUDA_LOW_OCCUPANCY_WARNINGS = 0
        self.cuda, self.kernels = cuda, numba_kernels()
        self.other = cuda.device_array(1 << 28, numpy.uint8)

        @cuda.jit
        def clear(a):
            a[cuda.grid(1)] = 0

        @cuda.jit
        def look(a):
            if a[cuda.grid(1)] == 1:
                a[0] = 2

        self.clear, self.look = (kernel[self.other.size // 256, 256] for kernel in (clear, look))

    def offers(self, program):
        return program.name in self.kernels

    def array(self, a):
        return self.cuda.to_device(a)

    def fetch(self, a):
        return a.copy_to_host()

    def work(self, program, inputs):
        start, results = self.kernels[program.name](*inputs)
        return lambda: (start(), results)[1]

    def measure(self, work):
        start, stop = self.cuda.event(), self.cuda.event()
        self.clear(self.other)
        self.look(self.other)
        start.record()
        work()
        stop.record()
        stop.synchronize()
        return start.elapsed_time(stop) / 1e3

    def release(self):
        self.cuda.current_context().memory_manager.deallocations.clear()


def libraries(with_compile):
    found = []
    for library in [Torch, Compiled, Cupy, Numba]:
        if library is Compiled and not with_compile:
            continue
        try:
            found.append(library())
        except Exception as error:  # not installed, or no GPU for it
            print(f"left out: {library.name}: {' '.join(str(error).split())[:200]}", file=sys.stderr)
    return found


def own_times(file):
    """Seconds of the kernels by program, type and extents: the fastest of its variants without commands."""
    times = {}
    with open(file) as lines:
        head = next(lines).rstrip("\n").split("\t")
        for line in lines:
            row = dict(zip(head, line.rstrip("\n").split("\t")))
            if not row["variant"]:
                times[row["name"], row["type"], row["extents"]] = float(row["kernels"])
    return times


def arguments(words):
    options = {"repeat": "7", "bench": "", "compile": True, "list": False, "names": []}
    for word in words:
        if word == "--no-compile":
            options["compile"] = False
        elif word == "--list":
            options["list"] = True
        elif word.startswith("--") and "=" in word and word[2:].split("=")[0] in ("repeat", "bench"):
            key, options[word[2:].split("=")[0]] = word[2:].split("=", 1)
        elif word.startswith("-"):
            sys.exit(f"peers: there is no option {word}; the head of tests/gpu/peers.py lists them")
        else:
            options["names"].append(word)
    unknown = set(options["names"]) - {it.name for it in PROGRAMS}
    if unknown:
        sys.exit(f"peers: no program is named {', '.join(sorted(unknown))}; --list lists them")
    return options


def main(words):
    options = arguments(words)
    chosen = [it for it in PROGRAMS if not options["names"] or it.name in options["names"]]
    if options["list"]:
        return print("\n".join(it.name for it in chosen))
    own = own_times(options["bench"]) if options["bench"] else {}
    peers = libraries(options["compile"])
    if not peers:
        sys.exit("peers: none of PyTorch, CuPy and Numba is here, or there is no GPU for them")
    heads = ["program", "type", "extents", "Tessella, ms", *(f"{it.name}, ms" for it in peers), "best / Tessella"]
    print("| " + " | ".join(heads) + " |")
    print("| --- | --- | --- |" + " ---: |" * (len(heads) - 3))
    with open(os.path.join(os.environ["OUT"], "peers.tsv") if "OUT" in os.environ else os.devnull, "w") as file:
        print("name", "type", "extents", "Tessella", *(it.name for it in peers), sep="\t", file=file)
        for program in chosen:
            for word in program.types:
                extents = "x".join(map(str, program.extents))
                mine = own.get((program.name, word, extents))
                theirs = measured(program, word, peers, int(options["repeat"]))
                best = min((it for it in theirs if it), default=None)
                ratio = f"{best / mine:.2f}" if mine and best else "-"
                print("| " + " | ".join([program.name, word, extents, *map(spelled, [mine, *theirs]), ratio]) + " |", flush=True)
                numbers = ("" if it is None else it for it in [mine, *theirs])
                print(program.name, word, extents, *numbers, sep="\t", file=file, flush=True)


def spelled(seconds):
    return "-" if seconds is None else f"{seconds * 1e3:.4g}"


def measured(program, word, peers, repeat):
    """Seconds by library, `None` where it offers nothing; what fails is said, and left out."""
    inputs = program.make(numpy.random.default_rng(1), TYPES[word], *program.extents)
    times = []
    for peer in peers:
        seconds = None
        try:
            if peer.offers(program):
                peer.check(program, word)
                seconds = peer.time(peer.timed(program, peer.bring(inputs)), repeat)
        except Exception as error:
            print(f"{program.name} {word} with {peer.name}: {type(error).__name__}: {str(error)[:200]}", file=sys.stderr)
        times.append(seconds)
        peer.release()
    return times


if __name__ == "__main__":
    main(sys.argv[1:])

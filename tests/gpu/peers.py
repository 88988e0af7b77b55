"""Times what PyTorch and CuPy make of the programs that `./x gpu --bench` times, on the same GPU at the same extents.

    ./x gpu --peers [OPTION ...] [NAME ...]

    NAME ...        these programs; all if none is named
    --list          the names
    --bench=FILE    the figures of `./x gpu --bench` (its bench.tsv): the table then compares
    --repeat=7      how often each is measured; the fastest counts
    --no-compile    leaves out torch.compile, which takes some seconds a program

Each program is written as users of these libraries would write it: whole-array operations in PyTorch, the same as
torch.compile fuses them, whole-array operations in CuPy, and library calls (cuBLAS, cuDNN) where there are any. Arrays lie in
the order that the library likes: Julia's `A[i, j]` is `A[j, i]` here, the contiguous axis last. No tensor cores: TF32 is off. Times
are between events of the GPU, the caches cleared before each call; both libraries keep the memory of earlier results for new ones.
Results are compared with NumPy's in Float64 first, at small extents. A row that a library cannot express is left out.

Writes peers.tsv to $OUT, if OUT is set.
"""

import math
import os
import sys

import numpy

TYPES = {
    "Float32": numpy.float32, "Float64": numpy.float64, "UInt8": numpy.uint8, "Int32": numpy.int32, "Int64": numpy.int64,
}


class Program:
    """One row: `make(rng, type, *extents)` gives arrays and numbers, `run(xp, *inputs)` the results as a tuple.

    `run` works on NumPy, CuPy and PyTorch alike, through `xp`, one of the classes below. `small` are extents to compare at.
    """

    def __init__(self, name, types, extents, small, make, run):
        self.name, self.types, self.extents, self.small, self.make, self.run = name, types, extents, small, make, run


class WithNumpy:
    """What the programs need beyond operators, for NumPy; CuPy spells all of it the same."""

    def __init__(self, module):
        self.m = module

    def matmul(self, a, b):
        return self.m.matmul(a, b)

    def addmm(self, c, a, b, alpha, beta):
        return beta * c + alpha * self.m.matmul(a, b)

    def einsum(self, spec, *operands):
        return self.m.einsum(spec, *operands)

    def sum(self, a, axis=None, dtype=None):
        return self.m.sum(a, axis=axis, dtype=dtype)

    def max(self, a):
        return self.m.max(a)

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


class WithTorch(WithNumpy):
    def addmm(self, c, a, b, alpha, beta):
        return self.m.addmm(c, a, b, alpha=alpha, beta=beta)

    def sum(self, a, axis=None, dtype=None):
        dtype = {None: None, numpy.int32: self.m.int32, numpy.int64: self.m.int64}[dtype]
        return self.m.sum(a, dtype=dtype) if axis is None else self.m.sum(a, dim=axis, dtype=dtype)

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


# --- the programs ----------------------------------------------------------------------------------------------------


def floats(rng, dtype, *shape):
    if numpy.issubdtype(dtype, numpy.integer):
        return rng.integers(0, 100, shape).astype(dtype)
    return (rng.random(shape) - 0.5).astype(dtype)


def arrays(*shapes):
    """Makes arrays whose shapes are functions of the extents."""
    return lambda rng, dtype, *extents: tuple(floats(rng, dtype, *shape(*extents)) for shape in shapes)


def square(n, m=None):
    return (n, m or n)


def vector(n):
    return (n,)


def axpy(xp, y, x):
    return (1.5 * x + y,)


def dot(xp, x, y):
    return (xp.m.dot(x, y),)


def dot_integers(xp, x, y):
    return (xp.sum(x * y, dtype=numpy.int32),)


def total(xp, a):
    return (xp.sum(a, dtype=a_type(xp, a)),)


def a_type(xp, a):
    return numpy.int32 if "32" in str(a.dtype) else numpy.int64


def largest(xp, x, y):
    return (xp.max(x * y),)


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
    a = a + u1[None, :] * v1[:, None] + u2[None, :] * v2[:, None]
    x = z + 1.2 * xp.matmul(a, y)
    return a, x, 1.5 * xp.matmul(x, a)


def doitgen(xp, a, c):
    return (xp.matmul(a, c),)


def mttkrp(xp, b, c, d):
    return (xp.einsum("lki,rk,rl->ri", b, c, d),)


def covariance(xp, data):
    data = data - xp.mean(data, 1)[:, None]
    return (xp.matmul(data, data.T) / (data.shape[1] - 1),)


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
    m, n = image.shape[1], image.shape[0]
    ring = (image[:-2, :-2] + image[:-2, 1:-1] + image[:-2, 2:] + image[1:-1, :-2] + image[1:-1, 2:]
            + image[2:, :-2] + image[2:, 1:-1] + image[2:, 2:]) * 0.125
    return (xp.abs(ring[:-1, 1:] - ring[1:, :-1]) + xp.abs(ring[:-1, :-1] - ring[1:, 1:]),)


def transpose(xp, a):
    return (xp.transposed(a),)


def image(rng, dtype, n, m):
    if dtype == numpy.uint8:
        return (rng.integers(0, 256, (3, n, m)).astype(dtype),)
    return (floats(rng, dtype, 3, n, m),)


BOTH, SINGLE, BYTES = ["Float32", "Float64"], ["Float32"], ["UInt8"]
PICTURE, SMALL = (3520, 2112), (24, 20)

PROGRAMS = [
    Program("axpy", SINGLE, (1 << 27,), (1000,), arrays(vector, vector), axpy),
    Program("dot", SINGLE, (1 << 26,), (1000,), arrays(vector, vector), dot),
    Program("dot_integers", ["Int32"], (1 << 26,), (1000,), arrays(vector, vector), dot_integers),
    Program("total", ["Int32", "Int64"], (32768,), (40,), arrays(lambda n: (5 + n // 7, n)), total),
    Program("largest", BOTH, (1 << 26,), (1000,), arrays(vector, vector), largest),
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
    Program("rgb2gray_float", SINGLE, PICTURE, SMALL, image, rgb2gray_float),
    Program("conv5x5", SINGLE, PICTURE, SMALL, arrays(square, lambda *_: (5, 5)), conv5x5),
    Program("warpaffine", SINGLE, PICTURE, SMALL, arrays(lambda n, m: (n + 2, m + 1)), warpaffine),
    Program("gaussian", SINGLE, PICTURE, SMALL, arrays(square), gaussian),
    Program("rgbyuv420", BYTES, PICTURE, SMALL, image, rgbyuv420),
    Program("fusion", SINGLE, PICTURE, SMALL, image, fusion),
    Program("edgedetector", SINGLE, PICTURE, SMALL, arrays(square), edgedetector),
    Program("transpose", SINGLE, (8192, 8192), SMALL, arrays(square), transpose),
    Program("polybench_atax", SINGLE, (16384, 16384), SMALL, arrays(square, lambda n, m: (m,)), atax),
    Program("polybench_mvt", SINGLE, (16384,), (20,), arrays(square, vector, vector, vector, vector), mvt),
    Program("polybench_gemver", SINGLE, (16384,), (20,),
            arrays(square, vector, vector, vector, vector, vector, vector), gemver),
]


# --- comparing and timing --------------------------------------------------------------------------------------------


def check(program, library):
    """Compares with NumPy, where floating-point numbers are Float64, at small extents."""
    for word in program.types:
        inputs = program.make(numpy.random.default_rng(1), TYPES[word], *program.small)
        exact = [a.astype(numpy.float64) if a.dtype == numpy.float32 else a for a in inputs]
        expected = program.run(WithNumpy(numpy), *exact)
        actual = library.run(program, library.bring(inputs))
        assert len(actual) == len(expected)
        for a, e in zip(actual, expected):
            a, e = numpy.asarray(library.fetch(a)), numpy.asarray(e)
            assert a.shape == e.shape, (a.shape, e.shape)
            if numpy.issubdtype(e.dtype, numpy.floating):
                bound = 1e-3 if word == "Float32" else 1e-10
                assert numpy.allclose(a, e, rtol=bound, atol=bound), abs(a - e).max()
            else:
                assert (a == e).all()


class Torch:
    name = "PyTorch"

    def __init__(self):
        import torch

        self.torch, self.xp = torch, WithTorch(torch)
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.allow_tf32 = False
        torch.backends.cudnn.benchmark = True
        # Twice the second-level cache of the GPUs of today.
        self.other = torch.empty(1 << 28, dtype=torch.uint8, device="cuda")

    def bring(self, inputs):
        return [self.torch.from_numpy(a).cuda() for a in inputs]

    def fetch(self, a):
        return a.cpu().numpy()

    def run(self, program, inputs):
        return program.run(self.xp, *inputs)

    def time(self, work, repeat):
        """The fastest of some calls, in seconds."""
        best = math.inf
        for _ in range(repeat + 2):
            start, stop = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
            self.other.zero_()
            start.record()
            work()
            stop.record()
            stop.synchronize()
            best = min(best, start.elapsed_time(stop) / 1e3)
        return best


class Compiled(Torch):
    name = "torch.compile"

    def __init__(self):
        super().__init__()
        self.made = {}

    def run(self, program, inputs):
        key = program.name
        if key not in self.made:
            # Each program is compiled once for each type and size, whatever was compiled before.
            self.torch._dynamo.reset()
            self.made[key] = self.torch.compile(lambda *a: program.run(self.xp, *a), dynamic=False)
        return self.made[key](*inputs)


class Cupy:
    name = "CuPy"

    def __init__(self):
        import cupy

        self.cupy, self.xp = cupy, WithNumpy(cupy)
        self.other = cupy.empty(1 << 28, dtype=cupy.uint8)

    def bring(self, inputs):
        return [self.cupy.asarray(a) for a in inputs]

    def fetch(self, a):
        return self.cupy.asnumpy(a)

    def run(self, program, inputs):
        return program.run(self.xp, *inputs)

    def time(self, work, repeat):
        best = math.inf
        for _ in range(repeat + 2):
            start, stop = self.cupy.cuda.Event(), self.cupy.cuda.Event()
            self.other.fill(0)
            start.record()
            work()
            stop.record()
            stop.synchronize()
            best = min(best, self.cupy.cuda.get_elapsed_time(start, stop) / 1e3)
        return best


def libraries(with_compile):
    found = []
    for library in [Torch, Compiled, Cupy]:
        if library is Compiled and not with_compile:
            continue
        try:
            found.append(library())
        except Exception as error:  # not installed, or no GPU for it
            print(f"left out: {library.name}: {error}", file=sys.stderr)
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
        sys.exit("peers: neither PyTorch nor CuPy is here, or there is no GPU for them")
    heads = ["program", "type", "extents", "Tessella, ms", *(f"{it.name}, ms" for it in peers), "best / Tessella"]
    print("| " + " | ".join(heads) + " |")
    print("| --- | --- | --- |" + " ---: |" * (len(heads) - 3))
    rows = []
    for program in chosen:
        times = measured(program, peers, int(options["repeat"]))
        extents = "x".join(map(str, program.extents))
        for word in program.types:
            mine = own.get((program.name, word, extents))
            theirs = [times[peer.name].get(word) for peer in peers]
            rows.append([program.name, word, extents, mine, *theirs])
            best = min((it for it in theirs if it), default=None)
            ratio = f"{best / mine:.2f}" if mine and best else "-"
            print("| " + " | ".join([*rows[-1][:3], *map(spelled, rows[-1][3:]), ratio]) + " |", flush=True)
    if "OUT" in os.environ:
        with open(os.path.join(os.environ["OUT"], "peers.tsv"), "w") as file:
            print("name", "type", "extents", "Tessella", *(it.name for it in peers), sep="\t", file=file)
            for row in rows:
                print(*("" if it is None else it for it in row), sep="\t", file=file)


def spelled(seconds):
    return "-" if seconds is None else f"{seconds * 1e3:.4g}"


def measured(program, peers, repeat):
    """Seconds by library and type; what fails is said, and left out."""
    times = {it.name: {} for it in peers}
    for peer in peers:
        try:
            check(program, peer)
            for word in program.types:
                inputs = peer.bring(program.make(numpy.random.default_rng(1), TYPES[word], *program.extents))
                times[peer.name][word] = peer.time(lambda: peer.run(program, inputs), repeat)
        except Exception as error:
            print(f"{program.name} with {peer.name}: {type(error).__name__}: {str(error)[:200]}", file=sys.stderr)
    return times


if __name__ == "__main__":
    main(sys.argv[1:])

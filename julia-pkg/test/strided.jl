# Arrays with strides and first indices of their own: plain Julia, compiled C and the interpreter agree bit for bit.
module StridedTests

using LinearAlgebra: transpose
using Test
using Tessella

# What `OffsetArrays.OffsetArray` is, as far as the protocol goes.
struct Shifted{T,N,A<:AbstractArray{T,N}} <: AbstractArray{T,N}
    parent::A
    offsets::NTuple{N,Int}
end

Shifted(parent, offsets::Int...) = Shifted(parent, offsets)
Base.parent(A::Shifted) = A.parent
Base.size(A::Shifted) = size(A.parent)
Base.axes(A::Shifted) = map((n, by) -> Base.IdentityUnitRange(1+by:n+by), size(A.parent), A.offsets)
Base.strides(A::Shifted) = strides(A.parent)
Base.unsafe_convert(::Type{Ptr{T}}, A::Shifted{T}) where {T} = Base.unsafe_convert(Ptr{T}, A.parent)
Base.@propagate_inbounds function Base.getindex(A::Shifted{T,N}, at::Vararg{Int,N}) where {T,N}
    @boundscheck checkbounds(A, at...)
    return A.parent[(at .- A.offsets)...]
end
Base.@propagate_inbounds function Base.setindex!(A::Shifted{T,N}, value, at::Vararg{Int,N}) where {T,N}
    @boundscheck checkbounds(A, at...)
    A.parent[(at .- A.offsets)...] = value
    return A
end

# Has strides, and elements that are not what lies in memory: it must not be taken for what it wraps.
struct Outside{T} <: AbstractVector{T}
    parent::Vector{T}
end

Base.parent(A::Outside) = A.parent
Base.size(A::Outside) = (2 * length(A.parent),)
Base.strides(A::Outside) = (1,)
Base.unsafe_convert(::Type{Ptr{T}}, A::Outside{T}) where {T} = pointer(A.parent)
Base.getindex(A::Outside, at::Int) = A.parent[mod1(at, length(A.parent))]

# --- functions -------------------------------------------------------------------------------------------------------

@tessella function smooth!(B, A)
    m, n = size(A)
    for j in 2:n-1, i in 2:m-1
        B[i, j] = (A[i-1, j] + A[i+1, j] + A[i, j-1] + A[i, j+1]) / 4
    end
    return B
end

@tessella function sweep!(B, A)
    for j in axes(A, 2), i in axes(A, 1)
        B[i, j] = 2A[i, j] + i - j
    end
    for I in CartesianIndices(A)
        B[I] += A[I] * I[1] + I[2]
    end
    for j in axes(A, 2)
        B[:, j] .= view(A, :, j) .- view(B, :, j) .+ j
    end
    B .= 2 .* A .- B ./ 2
    view(B, :, firstindex(B, 2)) .= A[begin, end]
    return nothing
end

@tessella function linear!(B, A)
    for i in eachindex(A, B)
        B[i] = 3A[i]
    end
end

@tessella function running!(x)
    for i in firstindex(x)+1:lastindex(x)
        x[i] += x[i-1]
    end
    return length(x)
end

@tessella function ends!(x)
    x[begin] = x[end] + 1
    x[end] *= 2
    return x[begin+1]
end

@tessella function weighted!(y, x)
    s = zero(eltype(x))
    for (k, value) in enumerate(x)
        s += k * value
    end
    for (i, value) in pairs(x)
        s -= i * value
    end
    for (a, b) in zip(x, y)
        s += a * b
    end
    for value in x
        s = value - s
    end
    y .+= s
    return s + maximum(x)
end

@tessella function combined!(C, A, B)
    C .= 2 .* A .+ B
end

@tessella function from_one!(x)
    for i in 1:length(x)
        x[i] = 2x[i]
    end
end

@tessella function relax!(A, B, steps)
    for t in 1:steps
        for i in firstindex(A)+1:lastindex(A)-1
            B[i] = (A[i-1] + A[i+1]) / 2
        end
        A, B = B, A
    end
    return A
end

@tessella function first_halves!(y, x)
    half = length(x) ÷ 2
    part = view(x, 1:half)
    for i in 1:half
        y[i] = part[i]
    end
    y[end] = sum(part)
end

@tessella function add!(y, x)
    for i in 1:min(length(x), length(y))
        y[i] += x[i]
    end
end

@tessella function add_all!(B, A)
    for j in 1:min(size(A, 2), size(B, 2)), i in 1:min(size(A, 1), size(B, 1))
        B[i, j] += A[i, j]
    end
end

@tessella overlap = :original function add_anyway!(y, x)
    for i in 1:length(x)
        y[i] += x[i]
    end
end

@tessella function made_like(A)
    B = A .+ 1
    return B[firstindex(A)]
end

@tessella given_like(A) = A .+ 1

@tessella function linear_of_another!(B, A)
    for i in eachindex(A)
        B[i] = A[i]
    end
end

@tessella function gather!(y, x, at)
    for i in eachindex(y)
        y[i] = x[at[i]] - i
    end
end

@tessella function scatter!(y, x, at)
    for i in eachindex(x, at)
        y[at[i]] += x[i]
    end
end

@tessella function gathered(x, at)
    y = zeros(eltype(x), length(at))
    for (k, p) in enumerate(at)
        y[k] = 2 * x[p] + k
    end
    return y
end

@tessella function gathered_rows(A, at)
    C = zeros(eltype(A), size(A, 2), length(at))
    for (k, p) in enumerate(at), j in axes(C, 1)
        C[j, k] = A[p, firstindex(A, 2)-1+j]
    end
    return C, length(at)
end

@tessella function clamped_rows(A, at)
    C = zeros(eltype(A), size(A, 2), length(at))
    for (k, p) in enumerate(at), j in axes(C, 1)
        C[j, k] = A[clamp(p, firstindex(A, 1), lastindex(A, 1)), firstindex(A, 2)-1+j]
    end
    return C
end

@tessella function product!(C, A, B)
    for i in axes(C, 1), j in axes(C, 2), k in axes(A, 2)
        C[i, j] += A[i, k] * B[k, j]
    end
end

@tessella function counted!(B, A)
    for k in 1:length(A)
        B[k] = 2 * A[k] + k
    end
end

@tessella function counted_in!(A)
    for k in 1:length(A)
        A[k] = 2 * A[k] + k
    end
end

@tessella function numbered!(A)
    for k in eachindex(A)
        A[k] = k
    end
end

kind(A::Array) = 1
kind(A::AbstractArray) = 2

@tessella function kinds!(y, x)
    y[1] = kind(x)
end

# --- what is held against what -----------------------------------------------------------------------------------------

# What a call gives back and what it leaves in all memory that its arguments stand on.
function outcome(f, make)
    memory, arguments = make()
    try
        result = f(arguments...)
        # An argument that is given back is compared with the memory.
        result isa AbstractArray && (result = something(findfirst(argument -> argument === result, collect(arguments)), result))
        return (:done, (typeof(result), result), memory)
    catch failure
        failure isa TessellaError && rethrow()
        return (:thrown, typeof(failure), memory)
    end
end

# A function is compiled anew whenever its target changes: all calls for one target come first.
function on_targets(test, functions...)
    for target in (:interpreter, :c)
        foreach(f -> Tessella.retarget!(f, target), functions)
        test()
    end
end

function agrees(f, make)
    expected = outcome(Tessella.original(f), make)
    target = first(Tessella.definitions(f)).target
    # The interpreter has no checks at entry.
    target === :interpreter && first(expected) === :thrown && return true
    actual = outcome(f, make)
    # Which of several errors is found first is left open; whichever it is, nothing has been written.
    same = first(expected) === :thrown ? first(actual) === :thrown && isequal(last(actual), first(make())) :
        isequal(actual, expected)
    same || @error "results differ" f target expected actual
    return same
end

# Numbers that are not all alike, in new memory.
numbers(T, sizes...) = reshape(T[T(mod(37k, 64) - 32) / 4 for k in 1:prod(sizes)], sizes...)
numbers(::Type{Int}, sizes...) = reshape([mod(37k, 64) - 32 for k in 1:prod(sizes)], sizes...)

# Matrices of m x n elements: what their memory is, and how they stand on it.
const MATRICES = [
    "dense" => (T, m, n) -> (A = numbers(T, m, n); (A, A)),
    "rows of a larger one" => (T, m, n) -> (A = numbers(T, m + 3, n); (A, view(A, 2:m+1, :))),
    "every second row" => (T, m, n) -> (A = numbers(T, 2m + 1, n); (A, view(A, 2:2:2m, :))),
    "every second column backwards" => (T, m, n) -> (A = numbers(T, m, 2n + 1); (A, view(A, :, 2n:-2:2))),
    "transposed" => (T, m, n) -> (A = numbers(T, n, m); (A, transpose(A))),
    "turned view" => (T, m, n) -> (A = numbers(T, n + 1, m + 2); (A, PermutedDimsArray(view(A, 2:n+1, 1:m), (2, 1)))),
    "view of a turned one" => (T, m, n) -> (A = numbers(T, n + 1, m + 2); (A, view(PermutedDimsArray(A, (2, 1)), 3:m+2, 2:n+1))),
    "reshaped" => (T, m, n) -> (A = numbers(T, m * n, 3); (A, reshape(view(A, :, 2), m, n))),
    "from a plane of three" => (T, m, n) -> (A = numbers(T, 2, m, n); (A, view(A, 2, :, :))),
]

const SHIFTED = [
    "shifted" => (T, m, n) -> (A = numbers(T, m, n); (A, Shifted(A, -1, 4))),
    "shifted rows" => (T, m, n) -> (A = numbers(T, m + 3, n); (A, Shifted(view(A, 2:m+1, :), -7, 0))),
    "shifted turned" => (T, m, n) -> (A = numbers(T, n, m); (A, Shifted(transpose(A), 2, -3))),
    "view by its own axes" => (T, m, n) -> (A = numbers(T, m + 2, n + 2);
                                            (A, view(A, Base.IdentityUnitRange(3:m+2), Base.IdentityUnitRange(2:n+1)))),
]

const VECTORS = [
    "dense" => (T, n) -> (x = numbers(T, n); (x, x)),
    "every third" => (T, n) -> (x = numbers(T, 3n + 2); (x, view(x, 3:3:3n))),
    "backwards" => (T, n) -> (x = numbers(T, n + 1); (x, view(x, n:-1:1))),
    "a row" => (T, n) -> (A = numbers(T, 3, n); (A, view(A, 2, :))),
    "a diagonal" => (T, n) -> (A = numbers(T, n, n); (A, view(A, 1:n+1:n*n))),
]

const SHIFTED_VECTORS = [
    "shifted" => (T, n) -> (x = numbers(T, n); (x, Shifted(x, -3))),
    "shifted backwards" => (T, n) -> (x = numbers(T, n + 1); (x, Shifted(view(x, n:-1:1), 5))),
    "part by its own axis" => (T, n) -> (x = numbers(T, n + 4); (x, view(x, Base.IdentityUnitRange(4:n+3)))),
]

const SIZES = (0, 1, 2, 3, 7)

both(a, b) = ((first(a), first(b)), (last(a), last(b)))
all_of(parts...) = (map(first, parts), map(last, parts))

# --- the tests -----------------------------------------------------------------------------------------------------------

function matrices()
    for (name, a) in [MATRICES; SHIFTED], (other, b) in [MATRICES; SHIFTED], n in SIZES
        # Every pair would take long: each form with itself, and some with a dense array.
        mixed = (name == "dense" || other == "dense") && any(in(("every second row", "shifted")), (name, other))
        name == other || mixed || continue
        for f in (sweep!, smooth!)
            # Julia itself takes long to compile the broadcasts of `sweep!` for each pair of types.
            f === sweep! && name != other && continue
            # Views of such views write to wrong places in Julia 1.5.
            f === sweep! && name == "view by its own axes" && continue
            @test agrees(f, () -> both(b(Float64, n, n + 1), a(Float64, n, n + 1)))
        end
    end
end

function vectors()
    T = Float32
    for (name, a) in [VECTORS; SHIFTED_VECTORS], n in SIZES
        make = () -> (part = a(T, n); (first(part), (last(part),)))
        for f in (running!, ends!, from_one!)
            n > 1 || f !== ends! || continue
            @test agrees(f, make)
        end
        for (other, b) in [VECTORS; SHIFTED_VECTORS]
            name == other || other == "dense" || continue
            for f in (linear!, weighted!, first_halves!)
                f === first_halves! && (n == 0 || occursin("shifted", name) || occursin("own axis", name)) && continue
                @test agrees(f, () -> both(b(T, n), a(T, n)))
            end
            # Arrays that change places have one type: Julia 1.5 itself does not compile the swap of two types.
            name == other && @test agrees(relax!, () -> ((memory, arguments) = both(b(T, n), a(T, n)); (memory, (arguments..., 3))))
            name == other && @test agrees(combined!, () -> all_of(a(T, n), b(T, n), a(T, n)))
        end
    end
end

function broadcast_needs_equal_axes()
    x = numbers(Float64, 4)
    @test_throws DimensionMismatch combined!(zeros(4), Shifted(x, 1), x)
    @test_throws DimensionMismatch combined!(zeros(4), x, Shifted(x, 1))
    @test_throws DimensionMismatch linear!(zeros(4), Shifted(x, 1))
    @test_throws BoundsError from_one!(Shifted(copy(x), 1))
    @test x == numbers(Float64, 4)
end

# Numbers from `first` on that are subscripts of `n` elements; with `wrong`, one of them is none.
function subscripts(first, n, count, wrong)
    at = [first + mod(7k + 3, n) for k in 1:count]
    wrong == :low && (at[end] = first - 1)
    wrong == :high && (at[end] = first + n)
    return at
end

# A vector as one of the forms, with these elements.
function filled(form, values)
    memory, vector = form(eltype(values), length(values))
    for (i, value) in zip(eachindex(vector), values)
        vector[i] = value
    end
    return memory, vector
end

const WRONG = (:none, :low, :high)

# Subscripts out of arrays of any form, into arrays of any form.
function gathers()
    T = Float64
    for (name, a) in [VECTORS; SHIFTED_VECTORS], (other, b) in [VECTORS; SHIFTED_VECTORS], n in (1, 2, 7), wrong in WRONG
        name == other || any(isequal("every third"), (name, other)) || continue
        make(order) = () -> begin
            x_memory, x = a(T, n)
            at_memory, at = filled(b, subscripts(firstindex(x), n, n + 2, wrong))
            y_memory, y = b(T, n + 2)
            (x_memory, at_memory, y_memory), order(x, at, y)
        end
        @test agrees(gather!, make((x, at, y) -> (y, x, at)))
        @test agrees(scatter!, make((x, at, y) -> (x, y, at)))
        @test agrees(gathered, make((x, at, y) -> (x, at)))
    end
end

# Strides, computed subscripts and new arrays at once.
function gathered_from_matrices()
    for (name, a) in [MATRICES; SHIFTED], (other, b) in VECTORS[1:3], n in (1, 3, 7), wrong in WRONG
        make = () -> begin
            A_memory, A = a(Float32, n, n + 1)
            at_memory, at = filled(b, subscripts(firstindex(A, 1), n, 2n, wrong))
            (A_memory, at_memory), (A, at)
        end
        @test agrees(gathered_rows, make)
        @test agrees(clamped_rows, make)
    end
end

# Register tiles take neighbours at once only where they lie side by side.
function products()
    # The forms of the result and the right side, and that of the left side.
    pairs = [(a, b) for (name, a) in MATRICES for (other, b) in MATRICES if name == other || "dense" in (name, other)]
    for (a, b) in pairs, n in (0, 1, 3, 29)
        @test agrees(product!, () -> all_of(a(Float64, n, n + 3), b(Float64, n, n + 1), a(Float64, n + 1, n + 3)))
    end
    for (name, a) in MATRICES, n in SIZES
        @test agrees(counted!, () -> all_of(a(Float64, n, n + 1), a(Float64, n, n + 1)))
    end
    for (name, a) in [MATRICES; SHIFTED], n in SIZES
        @test agrees(counted_in!, () -> all_of(a(Float64, n, n + 1)))
    end
end

# The code that a test throws.
function refusal(test)
    try
        test()
        return "none"
    catch failure
        failure isa TessellaError || rethrow()
        return join(failure.codes, ' ')
    end
end

# Calls with parts of one array are refused where they share an element, and only there.
function overlap()
    state = UInt64(42)
    random(range) = (state = state * 0x5851f42d4c957f2d + 0x14057b7ef767814f; range[Int(state >> 33) % length(range) + 1])
    part(n) = (step = random([-3, -2, -1, 1, 2, 3]); a = random(1:n); b = random(1:n);
               step > 0 ? (min(a, b):step:max(a, b)) : (max(a, b):step:min(a, b)))
    meets(a, b) = !isempty(intersect(a, b))
    seen = Set{Bool}()
    for trial in 1:300
        x = numbers(Float64, 24)
        a, b = part(24), part(24)
        said = refusal(() -> add!(view(x, a), view(x, b)))
        @test said == (meets(a, b) ? "E0771" : "none")
        push!(seen, meets(a, b))
        m, n = random(3:9), random(3:9)
        A = numbers(Float64, m, n)
        rows, columns = (part(m), part(m)), (part(n), part(n))
        expected = meets(rows...) && meets(columns...)
        said = refusal(() -> add_all!(view(A, rows[1], columns[1]), view(A, rows[2], columns[2])))
        @test said == (expected ? "E0771" : "none")
        said = refusal(() -> add_all!(view(A', columns[1], rows[1]), view(A, rows[2], columns[2])))
        @test said == (expected ? "E0771" : "none")
        push!(seen, expected)
    end
    @test seen == Set([true, false])
    # Interleaved parts are added as Julia adds them.
    x = numbers(Float64, 9)
    add!(view(x, 1:2:9), view(x, 2:2:9))
    y = numbers(Float64, 9)
    Tessella.original(add!)(view(y, 1:2:9), view(y, 2:2:9))
    @test x == y
    # Where the original may run instead, it does.
    add_anyway!(view(x, 2:2:8), view(x, 1:2:7))
    add_anyway!(view(x, 2:5), view(x, 1:4))
    Tessella.original(add_anyway!)(view(y, 2:2:8), view(y, 1:2:7))
    Tessella.original(add_anyway!)(view(y, 2:5), view(y, 1:4))
    @test x == y
end

# All elements at one place: may be read, not written.
struct Repeated{T} <: AbstractVector{T}
    parent::Vector{T}
    count::Int
end

Base.parent(A::Repeated) = A.parent
Base.size(A::Repeated) = (A.count,)
Base.strides(A::Repeated) = (0,)
Base.unsafe_convert(::Type{Ptr{T}}, A::Repeated{T}) where {T} = pointer(A.parent)
Base.getindex(A::Repeated, at::Int) = A.parent[1]
Base.setindex!(A::Repeated, value, at::Int) = (A.parent[1] = value)

function one_place()
    make = () -> (x = numbers(Float64, 5); y = [3.0]; ((x, y), (x, Repeated(y, 5))))
    @test agrees(add!, make)
    @test refusal(() -> from_one!(Repeated([3.0], 5))) == "E0771"
    one = [3.0]
    from_one!(Repeated(one, 1))
    @test one == [6.0]
end

function refused()
    x = Shifted(numbers(Float64, 4), 2)
    @test refusal(() -> made_like(x)) == "E0504"
    @test refusal(() -> given_like(x)) == "E0504"
    @test given_like(view([1.0, 2.0, 3.0], 3:-2:1)) == [4.0, 2.0]
    A = Shifted(numbers(Float64, 2, 2), 2, 0)
    @test refusal(() -> linear_of_another!(zeros(2, 2), A)) == "E0505"
    # There `eachindex` gives no numbers.
    B = numbers(Float64, 4, 4)
    @test refusal(() -> numbered!(view(B, 1:2:3, :))) == "E0218"
    @test refusal(() -> numbered!(view(B, 1:4, :))) == "E0218"
    numbered!(B)
    @test vec(B) == 1:16
    for array in (view(numbers(Float64, 6), [1, 3]), 1.0:2.0, Outside([1.0, 2.0]))
        @test refusal(() -> add!(zeros(2), array)) == "E0773"
    end
    y = zeros(1)
    kinds!(y, [1.0])
    @test y == [1.0]
    kinds!(y, view([1.0, 2.0, 3.0], 1:2:3))
    @test y == [2.0]
end

function texts()
    A = numbers(Float64, 5, 5)
    text = string(Tessella.@code_c smooth!(view(A, 1:4, :), view(A, 1:2:5, :)))
    @test occursin("int64_t A_stride1", text) && occursin("int64_t A_stride2", text)
    @test !occursin("B_stride1", text) && occursin("B_stride2", text)
    text = string(Tessella.@code_c running!(Shifted(A[:, 1], 3)))
    @test occursin("int64_t x_first1", text) && !occursin("_stride", text)
end

function run()
    @testset "matrices" begin on_targets(matrices, sweep!, smooth!) end
    @testset "vectors" begin
        on_targets(vectors, running!, ends!, from_one!, linear!, weighted!, first_halves!, relax!, combined!)
    end
    @testset "gathers" begin on_targets(gathers, gather!, scatter!, gathered) end
    @testset "gathers from matrices" begin on_targets(gathered_from_matrices, gathered_rows, clamped_rows) end
    @testset "products" begin on_targets(products, product!, counted!, counted_in!) end
    @testset "broadcast" begin broadcast_needs_equal_axes() end
    @testset "overlap" begin overlap() end
    @testset "one place" begin one_place() end
    @testset "refused" begin refused() end
    @testset "texts" begin texts() end
end

end

# What a call is refused for, and that nothing has been written then.
module SafetyTests

using Test
using Tessella

@tessella function combine!(C, A, B)
    for j in axes(C, 2), i in axes(C, 1)
        C[i, j] = A[i, j] + B[j]
    end
end

@tessella overlap = :original function combine_anyway!(C, A, B)
    for j in axes(C, 2), i in axes(C, 1)
        C[i, j] = A[i, j] + B[j]
    end
end

@tessella function combine_checked!(C, A, B)
    size(A) == size(C) || throw(DimensionMismatch("A is $(size(A)), C is $(size(C))"))
    for j in axes(C, 2), i in axes(C, 1)
        C[i, j] = A[i, j] + B[j]
    end
    @assert B[1] >= 0 "negative"
end

# Rows that lie so far apart that subscripts go around all 64 bits, and meet.
@tessella function around_all_bits!(x, n, m)
    for j in 0:m, i in 1:1
        if mod(j, 1048576) == 0
            x[j*n+i] = 2 * x[j*n+i] + 1
        end
    end
end

# Conditions whose products go around between the first and the last iteration, where they hold.
@tessella function within_hundred!(x, n, m)
    for i in 0:m
        @assert 0 <= i * n <= 100
    end
    x[1] = 1
end

@tessella function next_is_larger!(x, n, m)
    for i in 0:2
        @assert i * n * m < i * n * m + 5
        x[1] += 1
    end
end

@tessella function in_first_row!(y, x, n, m)
    for j in 0:1073741824:8589934592
        for i in 0:3
            y[i+1] += (j <= 0 ? x[i*n*m+j*n*m+1] : 0.0)
        end
    end
end

# Sums that go around, of arguments that are sizes each.
@tessella function far_behind!(x, k, a, b, c, d, e, f, g, h)
    if k <= 1000000 && a >= 1 && b >= 1 && c >= 1 && d >= 1 && e >= 1 && f >= 1 && g >= 1 && h >= 1
        for i in 2:k
            s = a + b + c + d + e + f + g + h
            x[i] = x[i-1+1048576*s+1048576*s] + 1
        end
    end
end

# A value that names doubled thirty-two times over.
@tessella function spelled_out!(x, n, m)
    for i in 1:m
        k0 = i * n
        k1 = k0 + k0 - k0
        k2 = k1 + k1 - k1
        k3 = k2 + k2 - k2
        k4 = k3 + k3 - k3
        k5 = k4 + k4 - k4
        k6 = k5 + k5 - k5
        k7 = k6 + k6 - k6
        k8 = k7 + k7 - k7
        k9 = k8 + k8 - k8
        x[k9] = x[k9] + k9
    end
end

@tessella function until_zero!(y, x)
    for i in 1:100
        x[i] == 0 && break
        y[i] = 2x[i]
    end
    return nothing
end

# The first loop gets to all of its accesses, the second one need not.
@tessella function all_then_some!(y, z, x)
    for i in 1:length(x)
        y[i] = x[i]
    end
    for i in 1:length(x)
        y[i] > 2 && break
        z[i] = x[i]
    end
    return nothing
end

@tessella function counted_steps!(x, time, dt)
    for t in 1:round(Int, time / dt), i in 1:length(x)
        x[i] += 1
    end
    return nothing
end

@tessella function scaled_where!(x, low, high)
    for i in 1:length(x)
        if low <= i <= high
            x[i] = 2x[i]
        end
    end
    return nothing
end

struct Everywhere <: AbstractVector{Float64} end
Base.size(::Everywhere) = (3,)
Base.getindex(::Everywhere, i::Int) = Float64(i)

function refusal(call)
    try
        call()
    catch failure
        return failure
    end
    return nothing
end

code(failure) = failure isa TessellaError ? failure.codes : typeof(failure)

function run()
    A, B = reshape(collect(1.0:12.0), 4, 3), [10.0, 20.0, 30.0]
    C = fill(-1.0, 4, 3)
    unwritten = copy(C)
    @testset "sizes that do not match" begin
        for (a, b) in ((A[1:3, :], B), (A[:, 1:2], B), (A, B[1:2]), (zeros(0, 0), B), (A, Float64[]))
            @test refusal(() -> combine!(C, a, b)) isa BoundsError
            @test C == unwritten
        end
        @test refusal(() -> combine!(fill(-1.0, 4, 0), zeros(0, 0), Float64[])) === nothing
        @test refusal(() -> combine!(C, A, B)) === nothing
        @test C == A .+ B'
        C .= -1
    end
    @testset "accesses that Julia need not get to" begin
        y = fill(-1.0, 3)
        until_zero!(y, [1.0, 2.0, 0.0])
        @test y == [2.0, 4.0, -1.0]
        # As in Julia, which has written by then.
        failure = refusal(() -> until_zero!(y, [3.0, 4.0, 5.0]))
        @test failure isa BoundsError && first(failure.i) == 4
        @test y == [6.0, 8.0, 10.0]
        y, z = fill(-1.0, 4), fill(-1.0, 1)
        all_then_some!(y, z, [1.0, 3.0, 1.0])
        @test y == [1.0, 3.0, 1.0, -1.0] && z == [1.0]
        # The accesses of the first loop are sure to happen: nothing is written.
        failure = refusal(() -> all_then_some!(y, z, fill(7.0, 5)))
        @test failure isa BoundsError && failure.a === y
        @test y == [1.0, 3.0, 1.0, -1.0] && z == [1.0]
    end
    @testset "integers beyond 2^40" begin
        x = ones(4)
        scaled_where!(x, 2, 3)
        @test x == [1, 2, 2, 1]
        withenv(() -> scaled_where!(x, 2, typemax(Int)), "TESSELLA_FALLBACK" => nothing)
        @test x == [1, 4, 4, 2]
        failure = withenv(() -> refusal(() -> scaled_where!(x, typemin(Int), 3)), "TESSELLA_FALLBACK" => "0")
        @test code(failure) == ["E0772"]
        @test x == [1, 4, 4, 2]
    end
    @testset "numbers that floats give" begin
        x = ones(2)
        counted_steps!(x, 1.0, 0.1)
        @test x == [11, 11]
        withenv(() -> counted_steps!(x, -1e15, 0.1), "TESSELLA_FALLBACK" => nothing)
        @test x == [11, 11]
        for fallback in ("0", nothing), (time, dt) in ((NaN, 1.0), (1.0, 0.0), (-1.0, 0.0), (1e19, 1.0))
            failure = withenv(() -> refusal(() -> counted_steps!(x, time, dt)), "TESSELLA_FALLBACK" => fallback)
            @test failure isa InexactError && x == [11, 11]
        end
        failure = withenv(() -> refusal(() -> counted_steps!(x, -1e15, 0.1)), "TESSELLA_FALLBACK" => "0")
        @test code(failure) == ["E0772"] && x == [11, 11]
    end
    @testset "sizes whose product goes around" begin
        z = zeros(3)
        @test refusal(() -> within_hundred!(z, 2^40, 2^24)) isa AssertionError && z == zeros(3)
        @test refusal(() -> next_is_larger!(z, 7 * 7 * 73 * 127 * 337, 92737 * 649657)) isa AssertionError && z[1] <= 1
        @test refusal(() -> in_first_row!(zeros(5), ones(50), 77158673929, 18 * 19 * 43 * 5419)) isa BoundsError
        z = zeros(50000)
        withenv(() -> far_behind!(z, 50000, fill(2^40, 8)...), "TESSELLA_FALLBACK" => nothing)
        @test z == 0:49999
        z = zeros(20)
        spelled_out!(z, 2, 10)
        @test z == [iseven(i) ? i : 0 for i in 1:20]
        x = [1.0]
        around_all_bits!(x, 1, 0)
        @test x == [3]
        failure = withenv(() -> refusal(() -> around_all_bits!(x, 2^44, 2^20)), "TESSELLA_FALLBACK" => "0")
        @test code(failure) == ["E0772"] && x == [3]
        withenv(() -> around_all_bits!(x, 2^44, 2^20), "TESSELLA_FALLBACK" => nothing)
        @test x == [15]
    end
    @testset "ranks and element types" begin
        @test code(refusal(() -> combine!(C, vec(A), B))) == ["E0204"]
        @test code(refusal(() -> combine!(C, A, 1.0))) == ["E0205"]
        @test code(refusal(() -> combine!(C, Rational{Int}.(A), B))) == ["E0290"]
        @test code(refusal(() -> combine!(C, Float16.(A), B))) == ["E0290"]
        @test code(refusal(() -> combine!(fill(0, 4, 3), A, B))) == ["E0210"]
        @test code(refusal(() -> combine!(C, A, Everywhere()))) == ["E0773"]
        @test code(refusal(() -> combine!(C, A, view(B, [3, 2, 1])))) == ["E0773"]
        @test C == unwritten
    end
    @testset "arrays that overlap" begin
        x = collect(1.0:24.0)
        parts() = (reshape(view(x, 5:16), 4, 3), reshape(view(x, 1:12), 4, 3))
        failure = refusal(() -> combine!(parts()..., B))
        @test failure isa TessellaError && failure.kind === :overlap && failure.codes == ["E0771"]
        @test x == 1:24
        y = copy(x)
        combine_anyway!(parts()..., B)
        Tessella.original(combine_anyway!)(reshape(view(y, 5:16), 4, 3), reshape(view(y, 1:12), 4, 3), B)
        @test x == y && x != 1:24
    end
    @testset "what the source throws" begin
        failure = refusal(() -> combine_checked!(C, A[1:3, :], B))
        @test failure isa DimensionMismatch && failure.msg == "A is (3, 3), C is (4, 3)"
        @test C == unwritten
        # As in Julia, which has written by then.
        failure = refusal(() -> combine_checked!(C, A, -B))
        @test failure isa AssertionError && failure.msg == "negative"
        @test C == A .- B'
    end
end

end

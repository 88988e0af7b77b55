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

# Padded arrays behave as any other, and compiled functions take them.
module PaddedTests

using Test
using Tessella
using Tessella: padded

@tessella function spread!(B, A)
    m, n = size(A)
    for j in 2:n-1, i in 2:m-1
        B[i, j] = (A[i-1, j] + A[i+1, j] + A[i, j-1] + A[i, j+1]) / 4
    end
    return B
end

@tessella function planes!(A)
    for k in axes(A, 3), j in axes(A, 2), i in axes(A, 1)
        A[i, j, k] += 100i + 10j + k
    end
end

function run()
    @testset "a padded array is an array" begin
        A = padded(Float64, 4, 3)
        A .= reshape(1:12, 4, 3)
        @test A == reshape(1:12, 4, 3) && sum(A) == 78 && A[end] == 12
        @test strides(A) == (1, 5) && size(A) == (4, 3) && eltype(A) == Float64
        @test A' * A == Matrix(A)' * Matrix(A)
        @test copy(A) isa Matrix && view(A, 2:3, :) == [2 6 10; 3 7 11]
        @test_throws BoundsError A[5, 1]
        @test_throws BoundsError A[1, 4] = 0
        @test strides(padded(Int, 2, 3, 4; pads = (3, 2))) == (1, 5, 17)
        @test strides(padded(Int, (2, 3, 4); pads = (3, 2))) == (1, 5, 17) && size(padded(Int, (3, 4))) == (3, 4)
        @test length(padded(Int, 7)) == 7 && size(padded(Float32, 0, 5)) == (0, 5)
    end
    @testset "a padded array is assigned from itself" begin
        A, B = padded(Float64, 4, 4), zeros(4, 4)
        for X in (A, B)
            X .= [i + 10j for i in 1:4, j in 1:4]
            X .= X'
            @views X[2:4, :] .= X[1:3, :]
            X[:, 1] = @view X[:, 2]
            copyto!(view(X, 2:4, 1), view(X, 1:3, 1))
        end
        @test A == B
        for (to, from) in ((2, 1), (1, 2), (4, 4), (3, 1))
            for X in (A, B)
                X .= reshape(1:16, 4, 4)
                copyto!(X, to, X, from, 10)
            end
            @test A == B
            foreach(X -> copyto!(X, 5, X, from + 4), (A, B))
            @test A == B
        end
        @test_throws BoundsError copyto!(A, 9, A, 1, 10)
        @test_throws ArgumentError copyto!(A, 1, A, 1, -1)
    end
    @testset "strides and inverses are those of an array" begin
        A = padded(Float64, 3, 3)
        A .= [4 1 0; 1 5 1; 0 2 6]
        M = Matrix(A)
        @test inv(A) == inv(M) && inv(A) isa Matrix
        @test [stride(A, k) for k in -1:1] == [stride(M, k) for k in -1:1]
        @test stride(A, 2) == 4
    end
    @testset "what cannot be padded" begin
        @test_throws ArgumentError padded(Float64)
        @test_throws ArgumentError padded(Float64, 3, 3; pads = (1, 1))
        @test_throws ArgumentError padded(Float64, 3, 3; pads = (-1,))
        @test_throws ArgumentError padded(Any, 3, 3)
    end
    @testset "compiled functions take padded arrays where they are" begin
        for (m, n) in ((0, 0), (1, 3), (5, 7), (64, 31)), pad in (0, 1, 4)
            plain = [sin(3i + j) for i in 1:m, j in 1:n]
            A, B = padded(Float64, m, n; pads = (pad,)), padded(Float64, m, n; pads = (pad,))
            A .= plain
            B .= 0.0
            free = copy(parent(B))
            spread!(B, A)
            @test B == Tessella.original(spread!)(zeros(m, n), plain)
            # What is left free stays as it was.
            taken = [1 + (i - 1) + (j - 1) * (m + pad) for i in 1:m for j in 1:n]
            untouched = setdiff(1:length(free), taken)
            @test isequal(parent(B)[untouched], free[untouched])
        end
        V = padded(Int, 3, 2, 4; pads = (2, 5))
        V .= 0
        planes!(V)
        @test V == [100i + 10j + k for i in 1:3, j in 1:2, k in 1:4]
    end
end

end

# Texts about functions.
module ReflectionTests

using Test
using Tessella

@tessella function scale!(A, factor = 2.0; offset = 0.0)
    for j in 1:size(A, 2), i in 1:size(A, 1)
        A[i, j] = factor * A[i, j] + offset
    end
end

shown(value) = sprint(show, MIME"text/plain"(), value)

function run()
    A = ones(3, 4)
    @testset "code of a call and of types is the same" begin
        code = @code_c scale!(A)
        @test occursin("for (", string(code)) && occursin("scale", string(code))
        @test string(Tessella.code_c(scale!, (Matrix{Float64},))) == string(code)
        @test string(Tessella.code_c(scale!, Tuple{Matrix{Float64},Float64})) == string(code)
        @test string(@code_c scale!(A, 3.0; offset = 1.0)) == string(code)
        @test string(@code_c scale!(Float32.(A))) != string(code)
        @test shown(code) == rstrip(string(code))
        @test A == ones(3, 4)
    end
    @testset "no GPU is needed for its code" begin
        @test occursin("__global__", string(@code_cuda scale!(A)))
        @test occursin("__global__", string(Tessella.code_cuda(scale!, (Matrix{Float32},))))
    end
    @testset "schedule, dependences, explanation" begin
        @test !isempty(shown(@code_schedule scale!(A)))
        @test !isempty(shown(Tessella.dependences(scale!, A)))
        @test !isempty(shown(Tessella.algorithm(scale!, A)))
        @test !isempty(shown(Tessella.explain(scale!, A)))
    end
    @testset "only for functions of @tessella, and their methods" begin
        @test_throws ArgumentError Tessella.code_c(sin, (Float64,))
        @test_throws ArgumentError Tessella.explain(sin, 1.0)
        @test_throws ArgumentError Tessella.listing(:poem, scale!, (Matrix{Float64},))
        @test_throws ArgumentError Tessella.code_c(scale!, ())
    end
end

end

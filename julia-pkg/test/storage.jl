# A program for each command of a schedule, compiled for the CPU, against plain Julia.
module StorageTests

using Test
using Tessella

include(joinpath(@__DIR__, "..", "..", "tests", "storage", "registry.jl"))
include(joinpath(@__DIR__, "..", "..", "tests", "commands", "registry.jl"))

identical(a::AbstractArray, b::AbstractArray) = size(a) == size(b) && all(map(identical, a, b))
identical(a, b) = a === b || (a != a && b != b)

function check(it, T, sizes)
    for n in sizes
        arguments = it.inputs(T, n)
        expected, actual = deepcopy(arguments), deepcopy(arguments)
        Tessella.original(it.f)(expected...)
        it.f(actual...)
        @test all(map(identical, actual, expected))
    end
end

# There is no GPU in this test: the commands must reach its code.
function check_code(it, T)
    code = string(Tessella.code_cuda(it.f, typeof.(it.inputs(T, 9))))
    @test occursin("__global__", code)
end

function run()
    for it in Storage.ALL
        it.target === :c || continue
        @testset "$(it.name), $T" for T in it.types
            check(it, T, Storage.SIZES)
        end
    end
    @testset "$(it.name)" for it in Commands.ALL
        it.target === :c ? check(it, it.type, Commands.SIZES) : check_code(it, it.type)
    end

    @testset "bounds are those of the source, not of a buffer" begin
        A = rand(12, 9)
        error = try
            Storage.blur_tiles!(zeros(4, 9), A)
            nothing
        catch error
            error
        end
        @test error isa BoundsError
        @test error.a isa AbstractArray && size(error.a) == (4, 9)
    end
end

end

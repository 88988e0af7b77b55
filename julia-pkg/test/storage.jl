# Programs with storage commands, compiled for the CPU, against plain Julia.
module StorageTests

using Test
using Tessella

include(joinpath(@__DIR__, "..", "..", "tests", "storage", "registry.jl"))

identical(a::AbstractArray, b::AbstractArray) = size(a) == size(b) && all(map(identical, a, b))
identical(a, b) = a === b || (a != a && b != b)

function run()
    for it in Storage.ALL
        it.target === :c || continue
        @testset "$(it.name), $T" for T in it.types
            for n in Storage.SIZES
                arguments = it.inputs(T, n)
                expected, actual = deepcopy(arguments), deepcopy(arguments)
                Tessella.original(it.f)(expected...)
                it.f(actual...)
                @test all(map(identical, actual, expected))
            end
        end
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

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
end

end

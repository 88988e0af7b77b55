# Plain Julia, the compiled C and the interpreter agree bit for bit on every example.
module ExampleTests

using Test
using Tessella

include(joinpath(@__DIR__, "..", "..", "examples", "registry.jl"))

function run()
    for example in Examples.ALL
        @testset "$(example.name)" begin
            for target in (:interpreter, :c)
                Tessella.retarget!(example.f, target)
                for T in example.types, n in Examples.SIZES
                    @test Examples.agrees(example, example.inputs(T, n))
                end
            end
        end
    end
end

end

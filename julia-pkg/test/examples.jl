# Every example equals plain Julia bit for bit, on the CPU.
module ExampleTests

using Test
using Tessella

include(joinpath(@__DIR__, "..", "..", "examples", "registry.jl"))

function run()
    for example in Examples.ALL
        @testset "$(example.name)" begin
            for T in example.types, n in Examples.SIZES
                @test Examples.agrees(example, example.inputs(T, n))
            end
        end
    end
end

end

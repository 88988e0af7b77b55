# Plain Julia, the compiled C and the interpreter agree bit for bit on every example.
module ExampleTests

using Test
using Tessella

include(joinpath(@__DIR__, "..", "..", "examples", "registry.jl"))

# Whether the types of all arguments are known before they are made; else each element of a large array allocates.
is_inferred(inputs, T, extents) =
    all(isconcretetype, Base.return_types(inputs, Tuple{Type{T},map(typeof, extents)...}))

function run()
    for example in Examples.ALL
        @testset "$(example.name)" begin
            for T in example.types
                @test is_inferred(example.inputs, T, example.large)
            end
            for target in (:interpreter, :c)
                Tessella.retarget!(example.f, target)
                for T in example.types, n in Examples.sizes_of(example, Examples.SIZES)
                    @test Examples.agrees(example, example.inputs(T, n))
                end
            end
        end
    end
end

end

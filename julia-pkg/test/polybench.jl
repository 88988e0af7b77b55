# The thirty kernels of PolyBench equal plain Julia bit for bit, compiled and interpreted.
module PolyBenchTests

using Test

include(joinpath(@__DIR__, "..", "..", "tests", "polybench", "run.jl"))

using ..ExampleTests: is_inferred
using .PolyBenchRun: PolyBench, TARGETS, check

function run()
    @test length(PolyBench.ALL) == 30
    for kernel in PolyBench.ALL
        @testset "$(kernel.name)" begin
            for T in kernel.types
                @test is_inferred(kernel.inputs, T, kernel.large)
            end
            for T in kernel.types, target in TARGETS, (n, fault) in check(kernel, target, T)
                fault === nothing || @error "$(kernel.name) $T, n = $n, $target" fault
                @test fault === nothing
            end
        end
    end
end

end

# Programs as people write them: plain Julia, compiled C and the interpreter agree bit for bit.
#
# With TESSELLA_PROGRAMS=all those that take long to compile run, too.
module ProgramTests

using Test
using Tessella
using ..LanguageTests: agrees, outcome

include(joinpath(@__DIR__, "..", "..", "tests", "programs", "registry.jl"))

const LIST = joinpath(@__DIR__, "..", "..", "docs", "programs.md")

function run(wanted = "")
    list = read(LIST, String)
    for case in Programs.CASES
        occursin(wanted, case.name) || continue
        @testset "$(case.name)" begin
            @test occursin("`$(last(split(case.name, '.'; limit = 2)))`", list)
            # A call that throws tells little.
            f = Tessella.original(case.f)
            @test any(first(outcome(f, case.inputs(T, n))) === :done for T in case.types, n in case.sizes)
            case.slow && get(ENV, "TESSELLA_PROGRAMS", "") != "all" && continue
            for T in case.types
                @test agrees(case, [case.inputs(T, n) for n in case.sizes])
            end
        end
    end
end

end

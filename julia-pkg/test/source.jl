# The user's own text is what the compiler gets.
module SourceTests

using Test
import Tessella

# The text that the macro `name` at `line` of a file with these contents finds for `code`.
function recovered(contents, line, code; name = "@tessella")
    mktempdir() do folder
        file = joinpath(folder, "user.jl")
        write(file, contents)
        return Tessella.source_text(name, Meta.parse(code), LineNumberNode(line, Symbol(file)))
    end
end

function run()
    two_lines = "function f(A)\n    A[1] = 0.50   # half\nend"
    @testset "the text is the file's, comments and spelling included" begin
        for (contents, line) in (
            "@tessella $two_lines\n" => 1,
            "\n\n@tessella $two_lines # end\nf(x)\n" => 3,
            "x = 1\n@tessella target=:cuda  fallback = false $two_lines" => 2,
            "@tessella($two_lines)" => 1,
            "@tessella(target=:cuda, $two_lines)" => 1,
            "\"A doc.\"\n@tessella $two_lines\n#= more =#" => 2,
            "Tessella.@tessella $two_lines; g(x) = 2" => 1,
            "@tessella $two_lines\n\nfunction unfinished(" => 1)
            found = recovered(contents, line, two_lines)
            @test found.line == line
            @test lstrip(found.text) == two_lines
            @test basename(found.file) == "user.jl"
        end
    end

    @testset "columns are the file's" begin
        found = recovered("  α = 2; @tessella f(A, β) = A[1] += β # end", 1, "f(A, β) = A[1] += β")
        @test found.text == " "^19 * "f(A, β) = A[1] += β"
    end

    @testset "of several calls on a line each finds its own" begin
        line = "@tessella f(x) = 2x; @tessella f(x) = 3x"
        @test strip(recovered(line, 1, "f(x) = 3x").text) == "f(x) = 3x"
        @test strip(recovered(line, 1, "f(x) = 2x").text) == "f(x) = 2x"
    end

    @testset "what is printed reads as it was written" begin
        for code in ("f(x) = x > 0 ? 0 : 1 / x", "f(x) = x > 0 ? 0.1f0 : x > 1 ? 0xff : 1f-10", "f(x) = (x > 0 ? \"a\" : 'b', .-0.1f0)", "f(y, x) = (y .= .-x .* (x[1] == 0 ? 2 : x[2] > 1 ? 3 : 4); nothing)",
                     "function f(y, x)\n    y[1] = x[1] < 0 ? -x[1] : x[1]\n    x[1] > 1 ? (y[2] = 1) : (y[2] = 2)\n    return .-(y) .+ (.!(x .> 1))\nend")
            text = Tessella.source_text("@tessella", Meta.parse(code), LineNumberNode(7)).text
            @test !occursin(r"\bif\b|\(\.-\)", text)
            @test Tessella.same(Tessella.without_lines(Meta.parse(text)), Tessella.without_lines(Meta.parse(code)))
        end
    end

    @testset "what the file does not say is printed" begin
        for found in (recovered("@tessella f(x) = 2x", 1, "f(x) = 3x"),
                      recovered("", 7, "f(x) = 3x"),
                      Tessella.source_text("@tessella", Meta.parse("f(x) = 3x"), LineNumberNode(7, Symbol("REPL[7]"))),
                      Tessella.source_text("@tessella", Meta.parse("f(x) = 3x"), LineNumberNode(7)))
            again = Meta.parse(found.text)
            @test Tessella.same(Tessella.without_lines(again), Tessella.without_lines(Meta.parse("f(x) = 3x")))
        end
        printed = Tessella.source_text("@tessella", :(function f!(A)
            for i in 1:2
                @comp S A[i] = 0.5f0
            end
        end), LineNumberNode(3, Symbol("REPL[3]")))
        @test printed.file == "REPL[3]"
        @test !occursin("#=", printed.text)
        @test occursin("0.5f0", printed.text)
    end

    @testset "a schedule is what stands inside its block" begin
        found = recovered("@schedule f! begin # first\n    tile(S, (j, i), (32, 32))\n    parallel(S, j0)\nend\nf()", 1,
                          "begin\n tile(S, (j, i), (32, 32))\n parallel(S, j0)\nend"; name = "@schedule")
        inside = Tessella.inside_block(found)
        @test inside.line == 1
        @test inside.text == " "^18 * " # first\n    tile(S, (j, i), (32, 32))\n    parallel(S, j0)\n"
    end

    @testset "equality is exact" begin
        @test !Tessella.same(:(x + 1), :(x + 1.0))
        @test !Tessella.same(:(x + 1), :(x - 1))
        @test Tessella.same(:(a.b), :(a.b))
    end
end

end

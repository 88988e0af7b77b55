# Texts about functions.
module ReflectionTests

using Test
using Tessella

@tessella function scale!(A, factor = 2.0; offset = 0.0)
    for j in 1:size(A, 2), i in 1:size(A, 1)
        A[i, j] = factor * A[i, j] + offset
    end
end

@tessella function first_zero!(A)
    A[1, 1] = 0.0
end

@tessella function wave!(u)
    for t in 2:size(u, 1), i in 2:size(u, 2)-1
        u[t, i] = u[t-1, i-1] + u[t-1, i+1]
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
    @testset "drawings" begin
        picture(value) = sprint(show, MIME"image/svg+xml"(), value)
        drawing = Tessella.draw(scale!, A; dims = (:i, :j))
        @test showable(MIME"image/svg+xml"(), drawing)
        @test startswith(picture(drawing), "<svg") && endswith(picture(drawing), "</svg>\n")
        @test picture(Tessella.draw(scale!, Matrix{Float64}; dims = (:i, :j))) == picture(drawing)
        @test picture(Tessella.draw(scale!, A; dims = (:j, :i))) != picture(drawing)
        @test count("<circle", picture(Tessella.draw(scale!, A; dims = :i, fix = (j = 1,), sizes = (A_1 = 5, A_2 = 2),
                                                     order = :line, space = :iterations))) == 5 + 1
        @test occursin("A_1 = 3, A_2 = 4", picture(Tessella.draw(scale!, A; sizes = (A_1 = 3, A_2 = 4))))
        @test sprint(show, drawing) == "Tessella.Drawing($(sizeof(drawing.svg)) bytes of SVG)"
        @test sprint(write, drawing) == drawing.svg
        tiles = picture(Tessella.draw(wave!, Matrix{Float64}; tiling = true, sizes = (u_1 = 12, u_2 = 20)))
        @test occursin("tiles of time", tiles) && occursin("hexagonal(S0, t, i, 2, 3)", tiles)
        @test_throws TessellaError Tessella.draw(scale!, A; tiling = true, dims = (:i, :j))
        @test_throws ArgumentError Tessella.draw(scale!, A; space = :time)
        @test_throws ArgumentError Tessella.draw(scale!, A; order = :random)
        for dims in (5, (1, 2), nothing)
            @test_throws ArgumentError Tessella.draw(scale!, A; dims = dims)
        end
        @test_throws ArgumentError Tessella.draw(scale!, A; computation = 1)
        @test_throws ArgumentError Tessella.draw(scale!, A; sizes = 8)
        @test_throws ArgumentError Tessella.draw(scale!, A; sizes = (A_1 = 2.5,))
        @test_throws TessellaError Tessella.draw(scale!, A; dims = (:i, :q))
        @test_throws TessellaError Tessella.draw(scale!, A; sizes = (A_1 = 1000, A_2 = 1000))
    end
    @testset "explanations show a drawing in notebooks" begin
        explanation = Tessella.explain(scale!, A)
        page = sprint(show, MIME"text/html"(), explanation)
        @test startswith(page, "<pre>") && occursin("<svg", page)
        @test showable(MIME"image/svg+xml"(), explanation)
        @test sprint(show, MIME"image/svg+xml"(), explanation) == explanation.drawing.svg
        # Nothing is drawn of a function without loops.
        explanation = Tessella.explain(first_zero!, A)
        @test !showable(MIME"image/svg+xml"(), explanation) && !occursin("<svg", sprint(show, MIME"text/html"(), explanation))
    end
    @testset "printed schedules are blocks that can be used" begin
        printed = string(@code_schedule scale!(A))
        @test occursin("@schedule scale! begin", printed)
        @test Meta.parse(printed).head === :macrocall
    end
    @testset "only for functions of @tessella, and their methods" begin
        @test_throws ArgumentError Tessella.code_c(sin, (Float64,))
        @test_throws ArgumentError Tessella.explain(sin, 1.0)
        @test_throws ArgumentError Tessella.listing(:poem, scale!, (Matrix{Float64},))
        @test_throws ArgumentError Tessella.code_c(scale!, ())
    end
end

end

# What Julia sees of the generated module. Run by tests/julia.rs, with TESSELLA_EMBED_LIBRARY set.
using Test
include(joinpath(@__DIR__, "..", "julia", "TessellaEmbed.jl"))
using .TessellaEmbed: Kernel

const source = """
function axpy!(y, a, x)
    for i in eachindex(x)
        y[i] += a * x[i]
    end
end
function ends(x)
    return x[1], x[length(x)]
end
function doubled(x)
    y = similar(x)
    for i in eachindex(x)
        y[i] = 2 * x[i]
    end
    return y
end
"""

@testset "calls through jlrs" begin
    for T in (Float32, Float64, Int32), n in (0, 1, 7, 101)
        x, y = T.(1:n), T.(n:-1:1)
        expected = y .+ T(3) .* x
        @test Kernel(source, "axpy!", "c")(y, T(3), x) === nothing
        @test y == expected
        n > 0 && @test Kernel(source, "ends", "c")(x) === (x[1], x[n])
        made = Kernel(source, "doubled", "c")(x)
        @test typeof(made) === Vector{T} && made == 2x
    end
    x = [1.0, 2.0]
    @test_throws Exception Kernel(source, "axpy!", "c")(x, 2.0, x) # written, and given twice
    @test x == [1.0, 2.0]
    @test_throws Exception Kernel(source, "axpy!", "c")(x, 2.0, [1.0, 2.0, 3.0])
    @test_throws Exception Kernel(source, "axpy!", "c")(x, 2.0, "text")
    @test_throws Exception Kernel(source, "axpy!", "elsewhere")
end

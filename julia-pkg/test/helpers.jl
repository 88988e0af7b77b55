# Functions and constants of the module that compiled functions use.
module HelperTests

using Test
using Tessella

module Elsewhere
const FACTOR = 3.0f0
times_factor(x) = FACTOR * x
end

using .Elsewhere: times_factor

const HUGE = typemin(Int)
const NOT_A_NUMBER = NaN32
const GOLDEN = big"1.5"
const TABLE = [0.5, 2.0]
const UNSTEADY = [1.0]

shifted(x) = x + 1
doubled(x) = 2 * shifted(x)
another_name = doubled

# Names of the module that functions below have for themselves.
T(x) = x + 100
const WIDTH = 4.0
grown(x) = 10x
halved(x::T) where {T} = x / T(2)

@tessella fallback=false function use_own_type!(y::Vector{T}, x::Vector{T}) where {T<:AbstractFloat}
    for i in eachindex(y)
        y[i] = T(0.5) * x[i] + halved(x[i])
    end
    y .+= T.(x) .* T(2)
    return nothing
end

@tessella fallback=false function use_type_of_helper!(y, x)
    for i in eachindex(y)
        y[i] = halved(x[i])
    end
    return nothing
end

@tessella fallback=false function use_what_others_bind!(y, x)
    z = [WIDTH * WIDTH for WIDTH in x]
    for grown in eachindex(x)
        y[grown] = z[grown]
    end
    for i in eachindex(x)
        let WIDTH = x[i]
            y[i] += WIDTH
        end
        y[i] += WIDTH * grown(x[i])
    end
    return nothing
end

@tessella function use_both!(y, x)
    for i in 1:length(x)
        y[i] = times_factor(doubled(x[i]))
    end
    return nothing
end

@tessella function use_constants!(y)
    for i in 1:length(y)
        y[i] = isnan(NOT_A_NUMBER) ? HUGE : 0
    end
    return nothing
end

@tessella function use_big!(y)
    for i in 1:length(y)
        y[i] = GOLDEN
    end
    return nothing
end

@tessella function use_table!(y)
    for i in 1:length(y)
        y[i] = TABLE[mod1(i, 2)]
    end
    return nothing
end

@tessella fallback=true function use_unsteady!(y)
    for i in 1:length(y)
        y[i] = UNSTEADY[1]
    end
    return nothing
end

@tessella function use_evaluated!(y)
    for i in 1:length(y)
        y[i] = evaluated(y[i])
    end
    return nothing
end

Core.eval(@__MODULE__, :(evaluated(x) = x + 1))

refusal(test) = try
    test()
    nothing
catch error
    error
end

function run()
    @testset "functions of other modules bring their constants" begin
        x, y = [1.0f0, 2.0f0], zeros(Float32, 2)
        use_both!(y, x)
        @test y == [12, 18]
    end

    @testset "type parameters and names of loops go before those of the module" begin
        x = [1.0, 2.0, -0.5]
        for f in (use_own_type!, use_type_of_helper!, use_what_others_bind!)
            found, expected = zeros(3), zeros(3)
            f(found, x)
            Tessella.original(f)(expected, x)
            @test found == expected
        end
    end

    @testset "constants arrive bit for bit" begin
        y = zeros(Int, 2)
        use_constants!(y)
        @test y == [typemin(Int), typemin(Int)]
    end

    @testset "what a constant cannot be is told" begin
        error = refusal(() -> use_big!(zeros(2)))
        @test error isa TessellaError && error.codes == ["E0201"]
    end

    @testset "a constant array is what it is when the function is called" begin
        y = zeros(3)
        use_table!(y)
        @test y == [0.5, 2, 0.5]
        TABLE[2] = -0.0
        use_table!(y)
        @test isequal(y, [0.5, -0.0, 0.5])
        push!(TABLE, 7)
        use_table!(y)
        @test isequal(y, [0.5, -0.0, 0.5])
        TABLE[1], TABLE[2] = 0.5, 2
        pop!(TABLE)
        use_table!(y)
        @test y == [0.5, 2, 0.5]
    end

    @testset "plain Julia runs where a constant array keeps changing" begin
        y = zeros(2)
        for k in 1:8
            UNSTEADY[1] = k
            k == 5 + 1 ? (@test_logs (:warn, r"E0267") use_unsteady!(y)) : use_unsteady!(y)
            @test y == [k, k]
        end
    end

    @testset "a function without a source is told" begin
        error = refusal(() -> use_evaluated!(zeros(2)))
        @test error isa TessellaError && error.codes == ["E0775"]
        @test occursin("`evaluated`", error.text)
    end

    @testset "a function defined again is seen after a refresh" begin
        folder = mktempdir()
        path = joinpath(folder, "changing.jl")
        write(path, "changing(x) = x + 1\n")
        place = Module(:Changing)
        Core.eval(place, :(using Tessella))
        Base.include(place, path)
        write(joinpath(folder, "user.jl"), """
            @tessella function user!(y)
                for i in 1:length(y)
                    y[i] = changing(y[i])
                end
                return nothing
            end
            """)
        Base.include(place, joinpath(folder, "user.jl"))
        y = [1.0]
        Base.invokelatest(place.user!, y)
        @test y == [2]
        write(path, "changing(x) = 10x\n")
        Base.include(place, path)
        Tessella.refresh!()
        Base.invokelatest(place.user!, y)
        @test y == [20]
    end
end

end

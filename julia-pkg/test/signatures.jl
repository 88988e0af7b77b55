# All the ways to write a signature: the defined function is called as the original would be.
module SignatureTests

using Test
using Tessella

@tessella short(x, y) = 2x + y
@tessella typed(x::Float64, y::Int) = x * y
@tessella parametric(x::Vector{T}, y::T) where {T<:Real} = (x[1] += y; nothing)
@tessella two_parameters(x::Vector{T}, y::Vector{S}) where {T} where {S<:Real} = (x[1] = y[1]; nothing)
@tessella annotated(x::Float64)::Float64 = 2x
@tessella unnamed(x, ::Int) = x + 1.0
@tessella defaults(x, n = length(x); offset = 0.0, scale::Float64 = 1.0) = scale * x[n] + offset
@tessella needs_keyword(x; by) = x * by
@tessella destructured((a, b), c) = a + b + c
@tessella many(x, rest...) = x + length(rest)

"Two methods, two definitions."
@tessella function methods_of(x::Int)
    return x + 1
end
@tessella function methods_of(x::Float64)
    return x + 0.5
end

"""
A documented one.
"""
@tessella function documented!(A)
    A[1] = 1
end

struct Unlike end
@tessella takes_anything(x) = x isa Unlike ? 1 : 2

@tessella redefined(x) = x + 1
const first_redefined = redefined(1.0)
@tessella redefined(x) = x + 2

quietly(test) = Base.CoreLogging.with_logger(test, Base.CoreLogging.NullLogger())

run() = quietly() do
    @test short(2.0, 1) === 5.0
    @test short(2, 1) === 5
    @test typed(2.0, 3) === 6.0
    @test_throws MethodError typed(2, 3)
    x = [1.0]
    @test parametric(x, 2.0) === nothing && x == [3.0]
    @test_throws MethodError parametric(x, 2)
    @test two_parameters(x, [5]) === nothing && x == [5.0]
    @test annotated(2.0) === 4.0
    @test unnamed(1.0, 3) === 2.0
    @test_throws MethodError unnamed(1.0, 3.0)
    @test defaults([1.0, 2.0]) === 2.0
    @test defaults([1.0, 2.0], 1) === 1.0
    @test defaults([1.0, 2.0], 1; offset = 0.25, scale = 3.0) === 3.25
    @test_throws TypeError defaults([1.0]; scale = 1)
    @test needs_keyword(2.0; by = 3.0) === 6.0
    @test_throws UndefKeywordError needs_keyword(2.0)
    @test destructured((1, 2), 3) === 6
    @test many(1) === 1 && many(1, 2, 3.0) === 3
    @test methods_of(1) === 2 && methods_of(1.0) === 1.5
    @test length(methods(methods_of)) == 2
    @test takes_anything(Unlike()) === 1
    @test first_redefined === 2.0 && redefined(1.0) === 3.0
    @test Tessella.original(redefined)(1.0) === 3.0
    @test length(Tessella.definitions(redefined)) == 1
    @test length(Tessella.definitions(methods_of)) == 2

    @testset "documentation belongs to the function" begin
        @test occursin("A documented one.", string(@doc documented!))
        @test occursin("Two methods", string(@doc methods_of))
    end

    @testset "the type of the result is known" begin
        @test Base.return_types(short, (Float64, Int)) == [Float64]
        @test Base.return_types(parametric, (Vector{Float64}, Float64)) == [Nothing]
        @test Base.return_types(defaults, (Vector{Float32},)) == [Float64]
    end

    @testset "calls are resolved as Julia resolves them" begin
        @test Tessella.resolve(defaults, [1.0, 2.0]; offset = 1.0).values == ([1.0, 2.0], 2, 1.0, 1.0)
        definition, types = Tessella.resolve_types(defaults, Tuple{Vector{Float32}})
        @test definition.name === :defaults && types == Tuple{Vector{Float32},Int,Float64,Float64}
        @test_throws ArgumentError Tessella.resolve(sin, 1.0)
        @test_throws ArgumentError Tessella.resolve(typed, 1, 2)
        @test_throws ArgumentError Tessella.original(sin)
    end

    @testset "what is no plain definition is refused at once" begin
        refused(code) = try
            macroexpand(SignatureTests, Meta.parse(code))
            nothing
        catch error
            error isa LoadError ? error.error : error
        end
        for code in ("@tessella", "@tessella f", "@tessella x = 1", "@tessella function f end", "@tessella x -> x",
                     "@tessella Base.sin(x) = x", "@tessella target=:tpu f(x) = x", "@tessella target f(x) = x",
                     "@tessella threads=0 f(x) = x", "@tessella f(x; more...) = x", "@schedule f", "@schedule", "@schedule begin end", "@schedule f x",
                     "@comp f(x) y", "@code_c f")
            @test refused(code) isa ArgumentError
        end
    end
end

end

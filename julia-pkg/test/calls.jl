# Compiled calls: what goes in, what comes back. TESSELLA_FALLBACK=0: all of these are compiled.
module CallTests

using Test
using Tessella

@tessella function scale!(A, factor)
    for j in 1:size(A, 2), i in 1:size(A, 1)
        A[i, j] = factor * A[i, j]
    end
    return A
end

@tessella function total(x)
    sum = 0.0
    for i in 1:length(x)
        sum += x[i]
    end
    return sum
end

@tessella @fastmath function fast_dot(x, y)
    sum = zero(eltype(x))
    for i in eachindex(x)
        sum += x[i] * y[i]
    end
    return sum
end

"A function with a docstring, behind several macros."
@tessella target=:c @inline @fastmath fast_scaled(x, factor::Real) = [factor * v + v for v in x]

@tessella target=:cuda @fastmath function fast_total(x)
    sum = 0.0
    for v in x
        sum += v
    end
    return sum
end

@tessella @views function first_of_views!(A)
    column = A[:, 1]
    A[1, 1] = 2
    return column[1]
end

@tessella function add!(x, y, n; offset = 1)
    for i in 1:n
        x[i] = x[i] + y[i] + offset
    end
end

@tessella function mark!(marks, flag)
    for i in 1:length(marks)
        marks[i] = flag
    end
end

@tessella function up_to_root!(x, n)
    for i in 1:isqrt(n)
        x[i] = 2
    end
end

@tessella function shift!(x, y)
    for i in 1:length(y)
        x[i] = y[i+1]
    end
end

@tessella function scatter!(y, x, idx)
    for i in 1:length(x)
        y[i] = 0
        y[idx[i]+1] = x[i]
    end
end

@tessella overlap=:original function copy_or_run!(x, y)
    for i in 1:length(y)
        x[i] = y[i] + 1
    end
end

@tessella function extrema!(low, high, x, y)
    for j in 1:length(y), i in 1:length(x)
        low[i, j] = min(x[i], y[j])
        high[i, j] = max(x[i], y[j])
    end
end

refusal(test) = try
    test()
    nothing
catch error
    error
end

function run()
    @testset "every element type" begin
        for T in Base.uniontypes(Tessella.Scalar)
            T === Bool && continue
            A = T[mod(3i + j, 50) for i in 1:5, j in 1:4]
            expected = Tessella.original(scale!)(copy(A), T(2))
            @test scale!(A, T(2)) === A
            @test A == expected
            marks = zeros(T, 3)
            @test mark!(marks, T(7)) === nothing && marks == T[7, 7, 7]
        end
        marks = [false, false]
        mark!(marks, true)
        @test marks == [true, true]
        mark!(marks, false)
        @test marks == [false, false]
    end

    @testset "results" begin
        x = [0.1, 0.2, 0.3, 1e17, -1e17]
        @test total(x) === Tessella.original(total)(x)
        @test total(Float32.(x)) === Tessella.original(total)(Float32.(x))
        @test total(Float64[]) === 0.0
        @test Base.return_types(total, (Vector{Float64},)) == [Float64]
        @test Base.return_types(scale!, (Matrix{Float64}, Float64)) == [Matrix{Float64}]
    end

    @testset "min and max of zeros, infinities and NaNs" begin
        for T in (Float32, Float64)
            x = T[0, -0.0, 1, -1, Inf, -Inf, NaN, 2, -2]
            compiled, plain = (zeros(T, 9, 9), zeros(T, 9, 9)), (zeros(T, 9, 9), zeros(T, 9, 9))
            extrema!(compiled..., x, reverse(x))
            Tessella.original(extrema!)(plain..., x, reverse(x))
            @test all(isequal.(compiled[1], plain[1])) && all(isequal.(compiled[2], plain[2]))
        end
    end

    @testset "keyword and default arguments" begin
        x = [1.0, 2.0]
        add!(x, [10.0, 20.0], 2)
        @test x == [12.0, 23.0]
        add!(x, [10.0, 20.0], 1; offset = 0.5)
        @test x == [22.5, 23.0]
    end

    @testset "views without gaps are taken as they are" begin
        A = reshape(collect(1.0:12.0), 3, 4)
        scale!(view(A, :, 2:3), 2.0)
        @test A == [1 8 14 10; 2 10 16 11; 3 12 18 12]
        scale!(view(A, 1:3, 4:4), 0.0)
        @test A[:, 4] == [0, 0, 0]
        @test total(view(A, 2:3, 1)) === 5.0
        @test total(view(view(A, :, 1), 2:2)) === 2.0
        scale!(view(A, 1:2, 1:0), 3.0)
        scale!(view(A, 2:2, 1:1), 3.0)
        @test A[2, 1] == 6.0
    end

    @testset "other arrays are named in an error" begin
        A = reshape(collect(1.0:12.0), 3, 4)
        before = copy(A)
        for array in (view(A, [1, 2], :), view(A, :, [1, 3]))
            error = refusal(() -> scale!(array, 2.0))
            @test error isa TessellaError && occursin("`A` of `scale!` does not lie in the memory", error.text)
        end
        @test refusal(() -> total(1.0:3.0)) isa TessellaError
        @test A == before
    end

    @testset "a subscript that would leave its array stops the call before anything is written" begin
        x, y = zeros(4), ones(4)
        error = refusal(() -> shift!(x, y))
        @test error isa BoundsError && error.a === y
        @test occursin("attempt to access", sprint(showerror, error))
        @test x == zeros(4)
        error = refusal(() -> add!(x, ones(3), 4))
        @test error isa BoundsError
        @test x == zeros(4)
        @test add!(x, ones(3), 3) === nothing
        @test x == [2, 2, 2, 0]
    end

    @testset "numbers worked out at entry are told in the source's words" begin
        text = sprint(showerror, refusal(() -> up_to_root!(zeros(2), 100)))
        @test occursin("needs isqrt(n) <= size(x, 1)", text)
    end

    @testset "a computed subscript that is outside stops the call before anything is written" begin
        y, x = fill(7.0, 4), ones(4)
        for wrong in (0, 5, typemin(Int), typemax(Int) - 1)
            idx = [1, 2, 3, wrong - 1]
            error = refusal(() -> scatter!(y, x, idx))
            @test error isa BoundsError && error.a === y
            text = sprint(showerror, error)
            @test occursin("attempt to access", text) && occursin("idx[i] + 1", text)
            @test y == fill(7.0, 4)
        end
        scatter!(y, x, UInt8[1, 2, 3, 0])
        @test y == [1, 0, 0, 0]
    end

    @testset "macros between @tessella and the function" begin
        x, y = sin.(1:10_000), cos.(1:10_000)
        @test fast_dot(x, y) ≈ Tessella.original(fast_dot)(x, y) rtol = 1e-12
        @test fast_dot(Float32.(x), Float32.(x)) ≈ sum(abs2, x) rtol = 1e-4
        # A sum in any order has partial sums, which the strict one has not.
        @test occursin("reduction", string(Tessella.code_c(fast_dot, (Vector{Float64}, Vector{Float64})))) ||
              fast_dot(x, y) != foldl(+, x .* y)
        @test fast_scaled([1.0, 2.0], 3) == [4, 8]
        @test occursin("behind several macros", string(@doc fast_scaled))
        @test occursin("-fmad=true", string(Tessella.code_cuda(fast_total, (Vector{Float64},))))
        @test first_of_views!(ones(2, 2)) == 2 == Tessella.original(first_of_views!)(ones(2, 2))
        error = refusal(() -> @macroexpand @fastmath @tessella target=:cuda function wrong(x) x[1] + x[2] end)
        error isa LoadError && (error = error.error)
        @test error isa ArgumentError && occursin("`@tessella` before `@fastmath`", error.msg)
        error = refusal(() -> @macroexpand @tessella @fastmath begin x + 1 end)
        error isa LoadError && (error = error.error)
        @test error isa ArgumentError && occursin("needs a function definition", error.msg)
        # Typed where there is no file to read.
        text = "@tessella @fastmath typed_in(x) = x[1] + 2x[2]"
        f = Core.eval(@__MODULE__, Meta.parse(text))
        @test Base.invokelatest(f, [1.0, 2.0]) == 5
    end

    @testset "overlap" begin
        x = collect(1.0:6.0)
        error = refusal(() -> add!(view(x, 1:4), view(x, 3:6), 4))
        @test error isa TessellaError && error.kind === :overlap
        @test x == 1:6
        add!(view(x, 1:3), view(x, 4:6), 3)
        @test x == [6, 8, 10, 4, 5, 6]
        copy_or_run!(view(x, 2:6), view(x, 1:5))
        @test x == 6:11
    end

    @testset "a call allocates nothing" begin
        x, y = zeros(8), ones(8)
        called(x, y) = (add!(x, y, 8); total(x))
        called(x, y)
        @test @allocated(called(x, y)) <= 16
    end

    @testset "several tasks compile and call at once" begin
        results = Vector{Any}(nothing, 8)
        @sync for at in 1:8
            @async results[at] = total(fill(Int16(at), 10))
        end
        @test results == [10.0at for at in 1:8]
    end
end

end

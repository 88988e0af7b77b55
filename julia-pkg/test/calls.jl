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

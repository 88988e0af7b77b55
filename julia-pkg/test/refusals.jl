# What cannot be compiled says so, and runs as plain Julia or throws, as the user chose.
module RefusalTests

using Test
using Tessella

const counts = Dict{Int,Int}()

@tessella function counted!(x)
    for i in 1:length(x)
        counts[i] = get(counts, i, 0) + 1
        x[i] = counts[i]
    end
end

@tessella fallback=false function strict!(x)
    for i in 1:length(x)
        x[i] = get(counts, i, 0)    # not for a compiler
    end
end

@tessella fallback=true function lenient!(x)
    for i in 1:length(x)
        x[i] = get(counts, i, 7)
    end
end

struct Holder{T}
    values::Vector{T}
end

@tessella fallback=false function take_one!(x, whole)
    for i in 1:length(x)
        x[i] = whole[1]
    end
end

# Gives back an `Irrational`.
@tessella fallback=false ratio!(x) = (x[1] = 1; pi)

@tessella target=:cuda function on_gpu!(x)
    for i in 1:length(x)
        x[i] = 2x[i]
    end
end

# Columns that depend on one another, and columns that do not.
@tessella target=:cuda chunked=true fallback=false function sweep!(A)
    for j in 2:size(A, 2), i in 1:size(A, 1)
        A[i, j] += A[i, j-1]
    end
end

@tessella target=:cuda chunked=true fallback=false function halve!(A)
    for j in 1:size(A, 2), i in 1:size(A, 1)
        A[i, j] /= 2
    end
end

const strict_line = findfirst(line -> endswith(line, "# not for a compiler"), readlines(@__FILE__))

refusal(test) = try
    test()
    nothing
catch error
    error
end

has_gpu() = try
    success(pipeline(`nvidia-smi -L`; stdout = devnull, stderr = devnull))
catch
    false
end

function run()
    @testset "the default warns once and runs the original" begin
        x = zeros(2)
        @test_logs (:warn, r"`counted!` was not compiled.*error\[E"s) counted!(x)
        @test x == [1, 1]
        @test_logs counted!(x)
        @test x == [2, 2]
        y = zeros(Float32, 2)
        @test_logs (:warn, r"counted!") counted!(y)
    end

    @testset "the error shows the user's line" begin
        error = refusal(() -> strict!(zeros(2)))
        @test error isa TessellaError && error.kind === :refused
        @test !isempty(error.codes)
        words = sprint(showerror, error)
        @test occursin("refusals.jl:$strict_line:", words)
        @test occursin("x[i] = get(counts, i, 0)    # not for a compiler", words)
        @test refusal(() -> strict!(zeros(2))) isa TessellaError
    end

    @testset "a result that is no number of Julia's types says so" begin
        x = zeros(2)
        error = refusal(() -> ratio!(x))
        @test error isa TessellaError && error.codes == ["E0262"]
        @test x == [0, 0]
    end

    @testset "the environment decides where the definition does not" begin
        withenv("TESSELLA_FALLBACK" => "0") do
            @test refusal(() -> counted!(zeros(Int8, 2))) isa TessellaError
            x = zeros(2)
            @test_logs (:warn,) lenient!(x)
            @test x == [counts[1], counts[2]]
        end
    end

    @testset "what consists of parts says that these can be passed" begin
        says(argument) = sprint(showerror, refusal(() -> take_one!(zeros(2), argument)))
        @test occursin("pass its elements as arguments of their own", says((1, 2)))
        @test occursin("pass its values as arguments of their own", says((width = 1, height = 2.0)))
        @test occursin("pass its fields as arguments of their own", says(Holder([1.0])))
        @test occursin("`BigFloat`", says(big"1.0"))
    end

    @testset "types that no compiled function takes" begin
        x = Complex{BigFloat}[1, 2]
        @test_logs (:warn, r"counted!") counted!(x)
        @test x == [counts[1], counts[2]]
    end

    @testset "what cannot run in slices is refused where they are asked for" begin
        error = refusal(() -> sweep!(ones(3, 3)))
        @test error isa TessellaError && error.codes == ["E0641"]
        A = ones(3, 3)
        if has_gpu()
            withenv(() -> halve!(A), "TESSELLA_GPU_MEMORY" => string(2 * 3 * 8 + 512))
            @test A == fill(0.5, 3, 3)
        else
            error = refusal(() -> halve!(A))
            @test error isa TessellaError && error.kind === :tool_chain
        end
        # On a CPU there is nothing to cut for.
        Tessella.retarget!(sweep!, :c)
        A = ones(2, 3)
        sweep!(A)
        @test A == [1 2 3; 1 2 3]
        @test_throws LoadError @eval @tessella chunked=3 function other!(A) end
    end

    @testset "without a GPU, asking for one is an error" begin
        x = [1.0, 2.0]
        if has_gpu()
            on_gpu!(x)
            @test x == [2, 4]
        else
            error = refusal(() -> on_gpu!(x))
            @test error isa TessellaError && error.kind === :tool_chain
            @test x == [1, 2]
        end
    end
end

end

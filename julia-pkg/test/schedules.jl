# Schedules given apart from their functions.
module ScheduleTests

using Test
using Tessella

@tessella fallback=false function smooth!(B, A)
    m, n = size(A)
    for j in 2:n-1, i in 2:m-1
        @comp S B[i, j] = 0.25 * (A[i-1, j] + A[i+1, j] + A[i, j-1] + A[i, j+1])
    end
end

@tessella function diagonal!(A)
    for i in 2:size(A, 1), j in 1:size(A, 2)-1
        @comp S A[i, j] = A[i-1, j+1] + 1
    end
end

@tessella fallback=false function positives!(s, A)
    for j in 1:size(A, 2), i in 1:size(A, 1)
        if A[i, j] > 0
            @comp S s[j] += A[i, j]
        end
    end
end

@tessella fallback=false function trusted_positives!(s, A)
    @inbounds for j in 1:size(A, 2), i in 1:size(A, 1)
        if A[i, j] > 0
            @comp S s[j] += A[i, j]
        end
    end
end

@tessella fallback=false function masked_means!(A, B, w, steps)
    n = length(A)
    for t in 1:steps
        for i in 2:n-1
            if w[i]
                @comp S B[i] = 0.5 * (A[i-1] + A[i+1])
            end
        end
        for i in 2:n-1
            @comp R A[i] = B[i]
        end
    end
end

not_ours(x) = x

refusal(test) = try
    test()
    nothing
catch error
    error
end

function run()
    A = Float64[mod(i * j, 7) for i in 1:37, j in 1:29]
    expected = copy(A)
    Tessella.original(smooth!)(expected, A)

    @testset "a legal schedule changes the code and not the result" begin
        plain = string(@code_schedule smooth!(A, A))
        B = copy(A)
        smooth!(B, A)
        @test B == expected
        @schedule smooth! begin
            tile(S, (j, i), (8, 8))
            parallel(S, j0)
        end
        @test string(@code_schedule smooth!(A, A)) != plain
        B = copy(A)
        smooth!(B, A)
        @test B == expected
        Tessella.unschedule!(smooth!)
        @test string(@code_schedule smooth!(A, A)) == plain
    end

    @testset "an illegal one throws, with the command and its witness" begin
        @schedule diagonal! begin
            interchange(S, i, j)
        end
        line = @__LINE__() - 2
        before = copy(A)
        error = refusal(() -> diagonal!(A))
        @test error isa TessellaError && error.kind === :refused
        @test "E0401" in error.codes
        words = sprint(showerror, error)
        @test occursin("interchange(S, i, j)", words) && occursin("schedules.jl:$line:", words)
        @test occursin("->", words)
        @test A == before
        Tessella.unschedule!(diagonal!)
        diagonal!(A)
        @test A == (Tessella.original(diagonal!)(before); before)
    end

    @testset "tiles that overlap, under a condition on data" begin
        @schedule masked_means! begin
            overlapped(S, t, i, 4, 16)
        end
        for n in (0, 3, 50, 83)
            arguments = (Float64[mod(7i, 11) for i in 1:n], zeros(n), [mod(i, 3) > 0 for i in 1:n], 9)
            expected = deepcopy(arguments)
            Tessella.original(masked_means!)(expected...)
            masked_means!(arguments...)
            @test arguments == expected
        end
        Tessella.unschedule!(masked_means!)
    end

    @testset "partial results of an element that the data keep from being there" begin
        C = Int64[mod(7i + 3j, 11) - 5 for i in 1:21, j in 1:9]
        C[:, 6:9] .= -1
        @schedule positives! begin
            rfactor(S, i, 4)
        end
        @schedule trusted_positives! begin
            rfactor(S, i, 4)
        end
        for f in (positives!, trusted_positives!)
            memory = collect(Int64, 1:9)
            s = view(memory, 1:5)
            expected = collect(Int64, 1:5)
            Tessella.original(f)(expected, C)
            f(s, C)
            @test memory == vcat(expected, 6:9)
        end
        C[3, 7] = 1
        s, expected = collect(Int64, 1:5), collect(Int64, 1:5)
        error = refusal(() -> positives!(s, C))
        @test error isa BoundsError && error.a === s
        @test refusal(() -> Tessella.original(positives!)(expected, C)) isa BoundsError && s == expected
        Tessella.unschedule!(positives!)
        Tessella.unschedule!(trusted_positives!)
    end

    @testset "a name that is not there" begin
        @schedule smooth! begin
            tile(Q, (j, i), (8, 8))
        end
        error = refusal(() -> smooth!(copy(A), A))
        @test error isa TessellaError && all(code -> startswith(code, "E04"), error.codes)
        Tessella.unschedule!(smooth!)
    end

    @testset "commands of every shape reach the compiler" begin
        expected = copy(A)
        Tessella.original(smooth!)(expected, A)
        B = copy(A)
        @schedule smooth! begin
            assume(m >= 3 && size(A, 2) % 1 == 0)
            tile(S, (j, i), (4, 8))
            separate(S, (j0, i0))
            interchange(S, i1, j1)
            unroll_and_jam(S, i1, 2)
        end
        smooth!(B, A)
        @test B == expected
        @schedule smooth! begin
            tile(S, (j, i), (4, 8))
            collapse(S, j1, i1)
            skew(S, j0, i0, :auto)
        end
        B = copy(A)
        smooth!(B, A)
        @test B == expected
        Tessella.unschedule!(smooth!)
    end

    @testset "an assumption that does not hold raises, and nothing is written" begin
        @schedule smooth! begin
            assume(n % 8 == 0)
            parallel(S, j)
        end
        B = copy(A)
        error = refusal(() -> smooth!(B, A))
        @test error isa ArgumentError && occursin("the schedule assumes mod(n, 8) == 0", error.msg)
        @test B == A
        small = A[:, 1:24]
        B = copy(small)
        smooth!(B, small)
        wanted = copy(small)
        Tessella.original(smooth!)(wanted, small)
        @test B == wanted
        Tessella.unschedule!(smooth!)
    end

    @testset "only for functions of @tessella" begin
        error = refusal(() -> @schedule not_ours begin
            parallel(S, i)
        end)
        @test error isa ArgumentError
    end
end

end

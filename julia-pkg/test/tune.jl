# Tuned functions give what they gave before; what was found is used for sizes of its class, and forgotten on request.
module TuneTests

using Test
using Tessella

@tessella function tuned_heat!(A, B, steps)
    n = length(A)
    for t in 1:steps
        for i in 2:n-1
            @comp S B[i] = (A[i-1] + 2A[i] + A[i+1]) / 4
        end
        for i in 2:n-1
            @comp R A[i] = B[i]
        end
    end
end

@tessella function tuned_row_sums(A::Matrix{Float64})
    s = zeros(size(A, 2))
    for j in axes(A, 2), i in axes(A, 1)
        s[j] += A[i, j]
    end
    return s
end

# Reads alone may overlap.
@tessella function tuned_norm(x::AbstractVector{Float64}, y::AbstractVector{Float64})
    s = 0.0
    for i in eachindex(x)
        s += x[i] * y[i]
    end
    return s
end

@tessella overlap=:original function tuned_either!(x, y)
    for i in eachindex(y)
        x[i] = y[i] + 1
    end
end

@tessella function scheduled_fill!(x)
    for i in eachindex(x)
        @comp S x[i] = 1.0
    end
end

@schedule scheduled_fill! begin
    vectorize(S, i, 4)
end

inputs(n) = ([sin(Float64(i)) for i in 1:n], zeros(n))

function heat(f, n, steps)
    A, B = inputs(n)
    f(A, B, steps)
    return A, B
end

# Puts a schedule where a tuner would: nothing here depends on what is fastest.
function with_schedules(change, folder)
    files = filter(endswith(".json"), readdir(joinpath(folder, "tuned"); join = true))
    for file in files
        write(file, change(read(file, String)))
    end
    return length(files)
end

replace_schedule(text, schedule) = replace(text, r"\"schedule\": \"[^\"]*\"" => "\"schedule\": \"$schedule\"")

function run()
    mktempdir() do folder
        withenv(() -> run_in(folder), "TESSELLA_CACHE" => folder)
    end
end

function run_in(folder)
    original = Tessella.original(tuned_heat!)
    A, B = inputs(300)
    found = Tessella.tune!(tuned_heat!, A, B, 7; budget = 0, progress = false)
    @test (A, B) == inputs(300)
    @test (found.timed, found.ended, found.schedule) == (0, :budget, "")
    @test found.proposed > 0 && found.considered >= found.proposed
    @test Tessella.tuned_schedule(tuned_heat!, A, B, 7) === nothing
    @test heat(tuned_heat!, 300, 7) == heat(original, 300, 7)

    # A schedule for sizes from 257 to 512 and 5 to 8 steps.
    schedule = "time_skew(S, t, i, 4, 64)"
    @test with_schedules(text -> replace_schedule(text, schedule), folder) == 1
    Tessella.unschedule!(tuned_heat!)
    @test Tessella.tuned_schedule(tuned_heat!, A, B, 8) == schedule
    @test Tessella.tuned_schedule(tuned_heat!, A, B, 9) === nothing
    for n in (0, 1, 2, 3, 257, 300, 509, 512, 513), steps in (0, 1, 7, 8, 9)
        @test heat(tuned_heat!, n, steps) == heat(original, n, steps)
    end
    @test tuned_heat!(A, B, 7) === nothing
    @test_throws BoundsError tuned_heat!(zeros(300), zeros(260), 7)

    # A schedule that is illegal, one that is none, and files that are broken: Tessella's own choice runs.
    for broken in ("parallel(S, t)", "no command", "hexagonal(S, t, i, 0, 1)")
        with_schedules(text -> replace_schedule(text, broken), folder)
        Tessella.unschedule!(tuned_heat!)
        @test heat(tuned_heat!, 300, 7) == heat(original, 300, 7)
    end
    with_schedules(_ -> "{ no file", folder)
    Tessella.unschedule!(tuned_heat!)
    @test heat(tuned_heat!, 300, 7) == heat(original, 300, 7)

    # A function with a result of its own, under whatever is fastest within three schedules or a second.
    M = [Float64(i - 2j) for i in 1:40, j in 1:30]
    Tessella.tune!(tuned_row_sums, M; budget = 1, progress = false)
    @test tuned_row_sums(M) == Tessella.original(tuned_row_sums)(M)
    with_schedules(text -> replace_schedule(text, ""), folder)

    @test Tessella.clear_tuned!() == 2
    @test Tessella.clear_tuned!() == 0
    @test Tessella.tuned_schedule(tuned_heat!, A, B, 7) === nothing
    @test heat(tuned_heat!, 300, 7) == heat(original, 300, 7)

    failure = try
        Tessella.tune!(scheduled_fill!, zeros(9); progress = false)
    catch error
        error
    end
    @test failure isa TessellaError && failure.codes == ["E0776"]
    failure = try
        Tessella.tune!(tuned_heat!, zeros(300), zeros(260), 7; progress = false)
    catch error
        error
    end
    @test failure isa TessellaError && failure.codes == ["E0777"]
    # What a call refuses, the tuner refuses; parts of one array that do not meet are tuned.
    code(f, arguments...) = try
        Tessella.tune!(f, arguments...; budget = 0, progress = false)
        "none"
    catch error
        error isa TessellaError ? only(error.codes) : error
    end
    x = collect(1.0:20.0)
    @test code(tuned_heat!, x, x, 3) == "E0771"
    @test code(tuned_heat!, view(x, 1:12), view(x, 9:20), 3) == "E0771"
    @test code(tuned_heat!, reshape(x, 20), view(x, 1:2:19), 3) == "E0771"
    @test code(tuned_heat!, view(x, 1:2:19), view(x, 2:2:20), 3) == "none"
    @test code(tuned_heat!, view(x, 1:10), view(x, 11:20), 3) == "none"
    @test code(tuned_norm, x, x) == "none"
    @test code(tuned_either!, x, view(x, 2:9)) isa ArgumentError
    @test x == 1:20
    Tessella.clear_tuned!()
    @test_throws ArgumentError Tessella.tune!(tuned_heat!, A, B, 7; budget = -1)
    @test [Tessella.doublings(n) for n in (-3, 0, 1, 2, 3, 4, 5, 8, 9, 512, 513, 1024, 1025)] ==
          [0, 0, 1, 2, 3, 3, 4, 4, 5, 10, 11, 11, 12]
    @test Tessella.class_of((zeros(ComplexF64, 5), true, 2.0, 0x07)) == [2, 4, 4]
end

end

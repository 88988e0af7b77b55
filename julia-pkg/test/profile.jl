# What a profile's text becomes, and what happens where there is no GPU.
module ProfileTests

using Test
using Tessella
using Tessella: KernelProfile, Profile, key_values

@tessella function scaled!(A, factor)
    for i in eachindex(A)
        A[i] = factor * A[i]
    end
end

@tessella doubled(A) = [2 * a for a in A]

const TEXT = """
device=NVIDIA H200
function=two!
copy_ceiling=3.9e12
float32_ceiling=6e13
float64_ceiling=3e13
kernels_time=1.5e-3
copied_in_bytes=800
copied_in_count=2
copied_in_time=1e-4
copied_out_bytes=400
copied_out_count=1
copied_out_time=2e-4
kernel=two_kernel0
launches=6
time=7e-4
instances=100
read_bytes=400
written_bytes=300
float32=500
float64=0
exact=1
grid=8 4 1
block=32 8 1
registers=32
shared_bytes=1024
local_bytes=8
blocks=8
occupancy=7.5e-1
kernel=two_kernel1
launches=1
time=2e-4
grid=1 1 1
block=1 1 1
registers=16
shared_bytes=0
local_bytes=0
blocks=32
occupancy=1e-2
text=two!: n = 3
  a=b
"""

# The profile of a call: that of a GPU, or the error that says what is missing.
function profiled(f, arguments...)
    try
        return Tessella.profile(f, arguments...; repeat = 1)
    catch failure
        failure isa TessellaError || rethrow()
        return failure
    end
end

function run()
    profile = Profile(key_values(TEXT))
    @test (profile.name, profile.device, profile.kernels_time) == ("two!", "NVIDIA H200", 1.5e-3)
    @test (profile.copied_in, profile.copied_out) == (Tessella.Copies(800, 2, 1e-4), Tessella.Copies(400, 1, 2e-4))
    one, other = profile.kernels
    @test one == KernelProfile("two_kernel0", 6, 7e-4, 400, 300, 500, 0, true, (8, 4, 1), (32, 8, 1), 32, 1024, 8, 0.75)
    @test (other.name, other.read_bytes, other.float64, other.exact) == ("two_kernel1", nothing, nothing, false)
    @test repr("text/plain", profile) == "two!: n = 3\n  a=b"
    @test_throws TessellaError Profile(key_values("text=error: no way"))

    # With arrays given back, too.
    for (f, arguments) in ((scaled!, ([1.0, 2.0], 3.0)), (doubled, ([1.0, 2.0],)))
        outcome = profiled(f, arguments...)
        if outcome isa TessellaError
            @test outcome.kind === :tool_chain
            @test occursin("error[E07", outcome.text)
            @test occursin("runs `$(nameof(f))` as with `target=:cuda`", outcome.text)
            @test first(arguments) == [1.0, 2.0]
        else
            @test first(arguments) == (f === doubled ? [1.0, 2.0] : [3.0, 6.0])
            @test length(outcome.kernels) == 1
            @test outcome.kernels[1].read_bytes == outcome.kernels[1].written_bytes == 16
            @test outcome.kernels[1].float64 == 2
        end
    end
    @test_throws ArgumentError Tessella.profile(sum, [1.0])
    for ask in (() -> Tessella.profile(scaled!, ["a"], 2.0), () -> Tessella.tune!(scaled!, ["a"], 2.0; progress = false))
        error = try
            ask()
        catch caught
            caught
        end
        @test error isa TessellaError && error.codes == ["E0290"] && occursin("Array{String,1}", sprint(showerror, error))
    end
end

end

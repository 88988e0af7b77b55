# The refusals that arise in Julia itself, as users read them: `tests/ui/values/E0771.txt` and its neighbours.
# TESSELLA_BLESS=1 writes them.
module MessageTests

using Test
using Tessella
using Main: DeviceTests

@tessella fallback=false function mixed!(u, v, steps)
    for t in 1:steps, i in 2:length(u)
        v[i] = u[i-1] + t
    end
end

const GOLDEN = joinpath(@__DIR__, "..", "..", "tests", "ui", "values")

helper(x) = 2x
const renamed = helper
include_string(@__MODULE__, "hidden(x) = 2x", "nowhere.jl")

@tessella fallback=false function by_another_name!(x)
    for i in eachindex(x)
        x[i] = renamed(x[i])
    end
end

@tessella fallback=false function without_source!(x)
    for i in eachindex(x)
        x[i] = hidden(x[i])
    end
end

@tessella fallback=false copied_mask(x) = copy(x .> 0)

const UNSTEADY = [1.0]

@tessella fallback=false function use_unsteady!(x)
    for i in eachindex(x)
        x[i] = UNSTEADY[1]
    end
end

function change_and_call!(x)
    for k in 1:8
        UNSTEADY[1] = k
        use_unsteady!(x)
    end
end
@tessella fallback=false root_of_less(x) = x[1] + sqrt(-1.0)

# An array of another package in the GPU's memory.
struct OnDevice{T} <: AbstractVector{T}
    host::Vector{T}
end

Base.size(it::OnDevice) = size(it.host)
Base.getindex(it::OnDevice, i::Int) = it.host[i]
Tessella.device_pointer(it::OnDevice) = Ptr{Cvoid}(pointer(it.host))

# `hide` is a part of the text that is not the same with every Julia.
function check(code, test; hide = "")
    failure = try
        test()
        nothing
    catch error
        error
    end
    known = failure isa TessellaError && failure.codes == [code]
    @test known
    known || return println(failure)
    said = rstrip(failure.text) * "\n"
    isempty(hide) || (said = replace(said, hide => "..."))
    path = joinpath(GOLDEN, code * ".txt")
    haskey(ENV, "TESSELLA_BLESS") && !haskey(ENV, "CI") && write(path, said)
    @test isfile(path) && read(path, String) == said
end

function run()
    x = collect(1.0:10.0)
    check("E0771", () -> mixed!(x, x, 1))
    check("E0772", () -> mixed!(x, copy(x), 2^50))
    check("E0262", () -> copied_mask(x); hide = string(Core.Compiler.return_type(Tessella.original(copied_mask), Tuple{Vector{Float64}})))
    check("E0276", () -> root_of_less(x); hide = string(VERSION))
    gaps = view(x, [1, 3, 5, 7, 9])
    check("E0773", () -> mixed!(gaps, zeros(5), 1); hide = string(typeof(gaps)))
    check("E0709", () -> mixed!(OnDevice(x), zeros(5), 1))
    d = DeviceTests.with_host_memory(() -> to_device(x))
    check("E0710", () -> d[1])
    DeviceTests.with_host_memory(() -> Tessella.free!(d))
    check("E0711", () -> Array(d))
    check("E0267", () -> change_and_call!(x))
    check("E0774", () -> by_another_name!(x))
    check("E0775", () -> without_source!(x))
end

end

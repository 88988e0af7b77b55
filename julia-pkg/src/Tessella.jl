"""
Numeric Julia functions, recovered as polyhedra and compiled to fast CPU and GPU code.

```julia
using Tessella

@tessella function scale!(A, factor)
    for j in 1:size(A, 2), i in 1:size(A, 1)
        A[i, j] = factor * A[i, j]
    end
end

scale!(rand(1000, 1000), 2.0)      # the first call compiles; later calls cost one `ccall`
```

Exports [`@tessella`](@ref), [`@schedule`](@ref), [`@comp`](@ref), [`@code_c`](@ref), [`@code_cuda`](@ref),
[`@code_schedule`](@ref), [`DeviceArray`](@ref), [`to_device`](@ref) and [`TessellaError`](@ref). See also [`Tessella.explain`](@ref),
[`Tessella.draw`](@ref), [`Tessella.dependences`](@ref), [`Tessella.profile`](@ref), [`Tessella.device_memory`](@ref), [`Tessella.device_pointer`](@ref), [`Tessella.original`](@ref), [`Tessella.retarget!`](@ref), [`Tessella.tune!`](@ref), [`Tessella.padded`](@ref).

Environment: `TESSELLA_LIBRARY` is the path of `libtessella` if it is not in the checkout; `TESSELLA_FALLBACK=0` makes
every function that cannot be compiled an error, `1` none.
"""
module Tessella

using Libdl

export @tessella, @schedule, @comp, @code_c, @code_cuda, @code_schedule, TessellaError, DeviceArray, to_device

include("errors.jl")
include("source.jl")
include("library.jl")
include("results.jl")
include("definition.jl")
include("device.jl")
include("arguments.jl")
include("strided.jl")
include("padded.jl")
include("helpers.jl")
include("dispatch.jl")
include("reflection.jl")
include("profile.jl")
include("tune.jl")
include("macros.jl")

function __init__()
    begin_session()
    if isdefined(Base.Experimental, :register_error_hint)
        Base.Experimental.register_error_hint(hint_at_condition, BoundsError)
    end
end

end

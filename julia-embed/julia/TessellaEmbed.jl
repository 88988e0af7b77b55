"""
Tessella through jlrs: what `libtessella_julia_embed.so` exports, under Julia's usual way of calling things.

    cargo build --release -p tessella-julia-embed --features module
    export TESSELLA_EMBED_LIBRARY=target/release/libtessella_julia_embed.so

    using TessellaEmbed
    scale! = TessellaEmbed.Kernel("function scale!(A, f)\\n A .*= f\\n return\\nend", "scale!", "c")
    scale!(A, 0.5)

The package JlrsCore has to be there. The package Tessella needs neither it nor this; arrays of `Bool`, views and keyword
arguments go through that one only.
"""
module TessellaEmbed

using JlrsCore.Wrap

@wrapmodule(ENV["TESSELLA_EMBED_LIBRARY"], :tessella_julia_embed_init)

function __init__()
    @initjlrs
end

"""
    kernel(arguments...)

Calls a kernel; returns what the function returns that is new: nothing, one number or array, or a tuple of them.
"""
function (kernel::Kernel)(arguments...)
    results = call!(kernel, Any[arguments...])
    return isempty(results) ? nothing : length(results) == 1 ? results[1] : Tuple(results)
end

"The elements of a device array, in a new array of this shape."
Base.Array{T}(device::DeviceArray, size::Integer...) where {T} = (array = Array{T}(undef, size...); to_host!(device, array); array)

end

# CUDA.jl's arrays as arguments of functions of `@tessella target=:cuda`: used where they are, nothing copied. Julia 1.9
# and newer load this by themselves when both packages are loaded; before, include this file.
module TessellaCUDAExt

using CUDA
using Tessella

function Tessella.device_pointer(array::CUDA.CuArray)
    # Tessella works on the first GPU, in its primary context, which is also CUDA.jl's.
    CUDA.deviceid(CUDA.device(array)) == 0 ||
        throw(ArgumentError("Tessella runs on the first GPU, and this array is on another: copy it there"))
    # Earlier work of all tasks, each of which has a stream of its own.
    CUDA.device_synchronize()
    return Ptr{Cvoid}(reinterpret(UInt, pointer(array)))
end

end

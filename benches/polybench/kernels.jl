# The kernels and what they are measured with: shared by the bench and its worker processes.

include(joinpath(@__DIR__, "..", "..", "tests", "polybench", "registry.jl"))

"The extents of a kernel at a share of PolyBench's LARGE ones."
dims(kernel, share) = map(extent -> max(2, round(Int, share * extent)), kernel.large)

"The element type of so many bytes: a floating-point one, or an integer where PolyBench uses integers."
element_type(kernel, width) = kernel.types[findfirst(T -> sizeof(T) == width, kernel.types)]

"The name of a kernel in C, and of its file without the ending."
c_name(kernel) = "kernel_" * c_stem(kernel)
c_stem(kernel) = first(splitext(kernel.file))

"What an element type is called in C."
c_type(T) = Dict(Float32 => "float", Float64 => "double", Int32 => "int", Int64 => "long long")[T]

@tessella function deposit!(mass::Vector{Float64}, cell::Vector{Int}, x::Vector{Float64}, width::Float64)
    for i in 1:length(x)
        cell[i] = unsafe_trunc(Int, x[i] / width) + 1
        mass[cell[i]] += 1
    end
end

#! target cuda
#: title An index array that is made on the way, on a GPU
#: why Subscripts are checked before anything is written, and what `cell` will hold is not known then. A CPU tests them on the way; on a GPU a wrong one could not be told before others have written.
#: fix Compute `cell` in a function of its own and pass it on, or name the value, `k = unsafe_trunc(Int, x[i] / width) + 1`, and subscript with `k`.

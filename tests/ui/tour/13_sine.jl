@tessella function looked_up!(y::Vector{Float64}, table::Vector{Float64}, angle::Vector{Float64})
    for i in 1:length(y)
        y[i] = table[unsafe_trunc(Int, 8 * sin(angle[i])) + 9]
    end
end

#! target cuda
#: title A subscript from a sine, on a GPU
#: why A computed subscript is checked before anything is written, on the CPU also for programs that run on the GPU. The two have sines of their own, which may differ in the last place: then another subscript would have been checked than the one that is used.
#: fix `clamp` keeps the subscript inside, which needs no check: `table[clamp(unsafe_trunc(Int, 8 * sin(angle[i])) + 9, 1, 17)]` with a table of 17.

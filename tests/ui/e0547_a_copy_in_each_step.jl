#! target cuda
# Each step moves particles, and counts them in cells
@tessella function move!(count::Vector{Float64}, cell::Vector{Int}, x::Vector{Float64}, steps::Int)
    for t in 1:steps
        for p in 1:length(x)
            @comp M x[p] = x[p] + 0.5
        end
        for p in 1:length(x)
            @comp C cell[p] = unsafe_trunc(Int, x[p]) + 1
        end
        for p in 1:length(x)
            @comp S count[cell[p]] += 1
        end
    end
end

@schedule move! begin
    copy_out(x, t)
end

#! target cuda
# A table of a wave, looked up by angle
@tessella function look_up!(y::Vector{Float64}, table::Vector{Float64}, angle::Vector{Float64})
    for i in eachindex(y)
        y[i] = table[unsafe_trunc(Int, 8 * sin(angle[i])) + 9]
    end
end

# Of several values for one place, the last one stays: places belong to warps.
#! sizes y=n place=m x=m
#! within place=n
#! run n=1 m=1
#! run n=9 m=700
@tessella function last_stored!(y::Vector{Float32}, place::Vector{Int}, x::Vector{Float32})
    for p in eachindex(x)
        y[place[p]] = x[p]
    end
end

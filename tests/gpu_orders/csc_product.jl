# Columns store into one another's elements: one thread adds in the source's order.
@tessella function csc_product!(y::Vector{Float64}, colptr::Vector{Int}, rowval::Vector{Int}, nzval::Vector{Float64}, x::Vector{Float64})
    for j in 1:length(colptr)-1
        for k in colptr[j]:colptr[j+1]-1
            y[rowval[k]] += nzval[k] * x[j]
        end
    end
end
#! sizes y=n colptr=r rowval=z nzval=z x=n
#! climb colptr
#! within rowval=n
#! run n=1 r=1 z=0
#! run n=7 r=8 z=10
#! run n=50 r=51 z=75

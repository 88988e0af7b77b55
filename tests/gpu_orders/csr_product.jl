@tessella function csr_product!(y::Vector{Float64}, rowptr::Vector{Int}, col::Vector{Int}, val::Vector{Float64}, x::Vector{Float64})
    for i in 1:length(rowptr)-1
        acc = 0.0
        for k in rowptr[i]:rowptr[i+1]-1
            acc += val[k] * x[col[k]]
        end
        y[i] = acc
    end
end
#! sizes y=n rowptr=r col=z val=z x=n
#! climb rowptr
#! within col=n
#! run n=1 r=1 z=0
#! run n=7 r=8 z=10
#! run n=300 r=301 z=450

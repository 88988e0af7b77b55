# Each row needs those after it, and runs from its end.
@tessella function csr_backwards!(x::Vector{Float64}, rowptr::Vector{Int}, col::Vector{Int}, val::Vector{Float64}, b::Vector{Float64})
    for i in length(x):-1:1
        s = b[i]
        for k in rowptr[i+1]-1:-1:rowptr[i]
            s -= val[k] * x[col[k]]
        end
        x[i] = s
    end
end
#! sizes x=n rowptr=r col=z val=z b=n
#! climb rowptr
#! within col=n
#! run n=1 r=2 z=1
#! run n=7 r=8 z=10
#! run n=60 r=61 z=90

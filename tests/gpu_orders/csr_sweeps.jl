# Two arrays in turn, rows of a matrix with 32-bit pointers.
@tessella function csr_sweeps!(x::Vector{Float32}, y::Vector{Float32}, rowptr::Vector{Int32}, col::Vector{Int32}, val::Vector{Float32}, b::Vector{Float32}, sweeps::Int)
    for sweep in 1:sweeps
        for i in eachindex(x)
            s = b[i]
            for k in rowptr[i]:rowptr[i+1]-1
                s -= val[k] * x[col[k]]
            end
            y[i] = s / 2
        end
        for i in eachindex(x)
            x[i] = y[i]
        end
    end
end
#! sizes x=n y=n rowptr=r col=z val=z b=n sweeps=t
#! climb rowptr
#! within col=n
#! run n=1 r=2 z=1 t=2
#! run n=6 r=7 z=9 t=0
#! run n=134 r=135 z=201 t=3

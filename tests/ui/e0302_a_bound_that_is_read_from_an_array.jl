# A sparse matrix by rows
@tessella function spmv!(y::Vector{Float64}, row::Vector{Int}, value::Vector{Float64}, x::Vector{Float64})
    for i in 1:length(y)
        y[i] = 0
        for k in row[i]:row[i+1]-1
            y[i] += value[k] * x[i]
        end
    end
end

@tessella function row_sums!(y::Vector{Float64}, rowptr::Vector{Int}, val::Vector{Float64})
    for i in 1:length(y)
        @comp Z y[i] = 0
        for k in rowptr[i]:rowptr[i+1]-1
            @comp S y[i] += val[k]
        end
    end
end

@schedule row_sums! begin
    split(S, k, 32)
end

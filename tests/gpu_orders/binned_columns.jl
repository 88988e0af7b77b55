# Weights of each column add up in bins: a thread for each of many columns, warps that own bins where there are few.
#! sizes num=k,n den=k,n bin=m,n w=m,n
#! within bin=k
#! run m=0 n=2 k=3
#! run m=70 n=5 k=4
#! run m=3 n=600 k=2
@tessella function binned_columns!(num::Matrix{Float32}, den::Matrix{Float32}, bin::Matrix{Int32}, w::Matrix{Float32})
    for j in axes(bin, 2), i in axes(bin, 1)
        num[bin[i, j], j] += w[i, j]
        den[bin[i, j], j] += abs(w[i, j])
    end
end

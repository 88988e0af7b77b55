#! target cuda
@tessella function substitute!(X::Matrix{Float64}, n::Int)
    for c in 1:size(X, 2)
        for i in 1:n
            for k in 1:i-1
                @comp S X[i, c] = X[i, c] - X[k, c]
            end
        end
    end
end

@schedule substitute! begin
    split(S, c, 64)
    gpu(S, c0, c1)
    share_rows(S, k)
end

# Needleman-Wunsch: the score of the best alignment of two sequences, from those of their beginnings
using Tessella

@tessella function needle!(score, similarity, penalty)
    m, n = size(score)
    for j in 2:n, i in 2:m
        score[i, j] = max(score[i-1, j-1] + similarity[i, j], score[i, j-1] - penalty, score[i-1, j] - penalty)
    end
end

function needle_inputs(::Type{T}, n, m = n + 1) where {T}
    score = T[j == 1 ? -10(i - 1) : i == 1 ? -10(j - 1) : 0 for i in 1:m, j in 1:n]
    return score, T[mod(3i + 5j + i * j, 9) - 3 for i in 1:m, j in 1:n], T(10)
end

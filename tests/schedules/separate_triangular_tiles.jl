# Tiles that the diagonal cuts are partial, too.
#! run n=0
#! run n=1
#! run n=4
#! run n=13
@tessella function lower!(L::Matrix{Int64})
    n = size(L, 1)
    for j in 1:n, i in j:n
        @comp S L[i, j] = i - 2j
    end
end

@schedule lower! begin
    tile(S, (j, i), (4, 4))
    separate(S, i0)
end

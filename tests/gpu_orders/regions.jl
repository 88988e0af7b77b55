# Regions of a picture get the least number in them, until nothing changes: the host looks now and then whether something did, and pixels
# set the variable that says so together.
#! sizes label=m,n next=m,n
#! run m=1 n=1
#! run m=0 n=3
#! run m=9 n=14
using Tessella

@tessella function regions!(label::Matrix{Int64}, next::Matrix{Int64})
    m, n = size(label)
    rounds = 0
    changed = true
    while changed
        changed = false
        for j in 1:n, i in 1:m
            least = label[i, j]
            if least > 0
                for (a, b) in ((i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1))
                    if 1 <= a <= m && 1 <= b <= n && 0 < label[a, b] < least
                        least = label[a, b]
                        changed = true
                    end
                end
            end
            next[i, j] = least
        end
        label .= next
        rounds += 1
    end
    return rounds
end

# Every second place of each column: threads own elements, as lanes cannot share loops with steps.
#! sizes f=n k=m,l
#! within k=n
#! run n=2 m=1 l=1
#! run n=7 m=9 l=20
@tessella function every_second!(f::Vector{Float64}, k::Matrix{Int})
    for e in axes(k, 2), a in 1:2:size(k, 1)
        f[k[a, e]] += 1.5
    end
end

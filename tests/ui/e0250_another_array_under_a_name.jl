@tessella function smooth!(v::Vector{Float64}, steps)
    work = ones(Int, length(v))
    for t in 1:steps
        work = work ./ 2
        for i in eachindex(v)
            v[i] += work[i]
        end
    end
end

@tessella function advect!(q, c, steps)
    n = length(q)
    for t in 1:stpes
        for i in n:-1:2
            q[i] -= c * (q[i] - q[i-1])
        end
    end
end

#: title A misspelled name
#: why Julia would look for a global `stpes` when the function runs; here it is found before.
#: fix Write `steps`.

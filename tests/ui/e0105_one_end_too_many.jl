@tessella function shift_down!(x)
    n = length(x)
    for i in 1:n-1
        x[i] = x[i+1]
        end
    end
end

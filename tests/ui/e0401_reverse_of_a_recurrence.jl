@tessella function prefix!(x)
    for i in 2:length(x)
        @comp S x[i] += x[i-1]
    end
end

@schedule prefix! begin
    reverse(S, i)
end

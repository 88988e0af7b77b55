@tessella function collatz!(steps::Vector{Int}, n::Vector{Int})
    for i in eachindex(n)
        value = n[i]
        count = 0
        while value > 1
            @comp S value = iseven(value) ? value ÷ 2 : 3value + 1
            count += 1
        end
        steps[i] = count
    end
    return nothing
end

@schedule collatz! begin
    split(S, turn, 8)
end

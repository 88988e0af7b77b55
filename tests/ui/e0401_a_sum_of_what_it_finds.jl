# The sum decides which element is added next: no order but the source's gives it.
@tessella function chase!(s::Vector{Int64}, x::Vector{Int64}, n::Int64)
    @inbounds for i in 1:n
        @comp S s[1] = s[1] + x[s[1]]
    end
end

@schedule chase! begin
    reverse(S, i)
end

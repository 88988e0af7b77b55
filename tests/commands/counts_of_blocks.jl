# How many elements fall to each of a few places: blocks count in shared memory, and add up what they have.
#! target cuda
#! sizes h=7 x=n
using Tessella

@tessella function counts_of_blocks!(h::Vector{Int32}, x::Vector{Int32})
    for i in 1:length(x)
        @comp S h[mod1(x[i], length(h))] += Int32(1)
    end
    return nothing
end

@schedule counts_of_blocks! begin
    assume(size(h, 1) <= 64)
    atomic(S)
    split(S, i, 128)
    split(S, i1, 32)
    interchange(S, i0, i10)
    privatize(h, S, i10)
    @block x for i10 = (start_h = i10, S = fld(mod(i - 1, 128), 32), total_h = i10)
        @thread x for x1 = x1
            start_h
        end
        for i0 = fld(i - 1, 128)
            @thread x for i11 = mod(mod(i - 1, 128), 32)
                S
            end
        end
        @thread x for x1 = x1
            total_h
        end
    end
end

counts_of_blocks_inputs(::Type{T}, n) where {T} = T[3, 1, 4, 1, 5, 9, 2], T[mod(3i, 11) for i in 1:n]

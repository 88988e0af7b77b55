#! draw
#! size n=9 steps=5
#! space schedule
# The same loops with their new coordinates: each step of time starts two iterations later, so the points of a row are independent.
@tessella function smooth!(B, steps)
    n = size(B, 1)
    for t in 1:steps
        for i in 2:n-1
            @comp S B[i, t+1] = 0.5 * (B[i-1, t] + B[i+1, t])
        end
    end
end

@schedule smooth! begin
    skew(S, t, i, 2)
    interchange(S, t, i)
    parallel(S, t)
end

#! draw
#! size n=14 steps=7
# The tiles are parallelograms: time reaches into the loop over space.
@tessella function smooth!(B, steps)
    n = size(B, 1)
    for t in 1:steps
        for i in 2:n-1
            @comp S B[i, t+1] = 0.5 * (B[i-1, t] + B[i+1, t])
        end
    end
end

@schedule smooth! begin
    skew(S, t, i, 1)
    tile(S, (t, i), (3, 4))
end

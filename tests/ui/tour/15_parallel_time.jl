@tessella function decay!(N, rate, steps)
    for t in 1:steps
        for i in 1:length(N)
            @comp S N[i] -= rate * N[i]
        end
    end
end

@schedule decay! begin
    parallel(S, t)
end

#: title A time loop in parallel
#: why Each time step reads what the step before wrote, so the steps cannot run at one time.
#: fix Run the loop over space in parallel: `parallel(S, i)`.

@tessella alpha = 0.5

@schedule smooth! begin
    parallel(S, i)
end

@tessella function smooth!(u, v)
    for i in 2:length(u)-1
        @comp S v[i] = (u[i-1] + u[i+1]) / 2
    end
end

#! function smoth!
@tessella function smooth!(u, v)
    for i in 2:length(u)-1
        v[i] = (u[i-1] + u[i+1]) / 2
    end
end

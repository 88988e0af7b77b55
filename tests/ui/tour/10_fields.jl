@tessella function diffuse!(T::Vector{Float64}, model)
    for i in 2:length(T)-1
        T[i] += model.dt * model.kappa * (T[i-1] - 2T[i] + T[i+1])
    end
end

#: title Parameters in a structure
#: why Compiled code takes numbers and arrays of numbers; it does not know the layout of structures.
#: fix Pass `kappa` and `dt` as arguments: `diffuse!(T, model.kappa, model.dt)`.

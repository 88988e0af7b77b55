struct Model
    kappa::Float64
    dx::Float64
end

@tessella function diffuse!(T, model)
    for i in 2:length(T)-1
        T[i] += model.kappa / model.dx^2 * (T[i-1] - 2T[i] + T[i+1])
    end
end

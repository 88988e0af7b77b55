# Explicit heat flow, with a slip of the keyboard in the update
@tessella function diffuse!(T_new, T, kappa, steps)
    nx = length(T)
    for t in 1:steps
        for i in 2:nx-1
            T_new[i] = T[i] + * kappa * (T[i-1] - 2T[i] + T[i+1])
        end
        for i n 2:nx-1
            T[i] = T_new[i]
        end
    end
end

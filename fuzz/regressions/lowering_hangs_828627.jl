function three_complex!(u0, u1, u2, steps)
    n = length(u0)
    for t in 1:steps
        for i in 2:n-1
            u2[i] = 2u1[i] - u0[i] + 0.1 * (u1[i-1] - 2u1[i] + u1[i+1])
        end
for q9 in 1:n
for q9 in 1:n
for q9 in 1:n
for q9 in 1:n
for q9 in 1:n
for q9 in 1:n
for q9 in 1:n
for q9 in 1:n
for q9 in 1:n
        u0, u1, u2 = u1, u2, u0
end
end
end
end
end
end
end
end
end
    end
    return nothing
end

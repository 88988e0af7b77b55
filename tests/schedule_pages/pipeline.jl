@tessella function pipeline!(x::Vector{Float64}, y::Vector{Float64}, steps::Int)
    n = length(x)
    a = zeros(n)
    for i in 1:n
        @comp F a[i] = 2 * x[i]
    end
    for i in 1:n
        @comp G y[i] = a[i]
    end
    for t in 1:steps
        row = zeros(n)
        for i in 1:n
            @comp P row[i] = y[i] + 1
        end
        for i in 1:n
            @comp Q y[i] = row[i]
        end
    end
end

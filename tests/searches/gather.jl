# Reads and stores through subscripts that data give.

function gather!(y::Vector{Float32}, x::Vector{Float32}, idx::Vector{Int32})
    for i in 1:length(idx)
        y[i] = x[idx[i]]
    end
end

function histogram!(counts::Vector{Int32}, idx::Vector{Int64})
    for i in 1:length(idx)
        counts[idx[i]] += 1
    end
end

function spmv!(y::Vector{Float32}, ptr::Vector{Int32}, col::Vector{Int32}, val::Vector{Float32}, x::Vector{Float32})
    for r in 1:length(y)-1
        s = 0.0f0
        for e in ptr[r]:ptr[r+1]-1
            s += val[e] * x[col[e]]
        end
        y[r] = s
    end
end

function assembly!(f::Vector{Float64}, nodes::Matrix{Int64}, load::Matrix{Float64})
    for e in axes(nodes, 2), k in axes(nodes, 1)
        f[nodes[k, e]] += load[k, e]
    end
end

function in_branches!(y::Vector{Float64}, x::Vector{Float64}, p::Vector{Int64}, q::Vector{Int64})
    for i in 1:length(y)
        if p[i] > q[i]
            y[i] = x[p[i] - q[i]]
        else
            y[i] = x[q[i] + 1 - p[i]]
        end
    end
end

function two_steps!(y::Vector{Float64}, x::Vector{Float64}, p::Vector{Int64}, q::Vector{Int64})
    for i in 1:length(y)
        y[i] = x[p[q[i]]]
    end
end

function around!(y::Vector{Float64}, x::Vector{Float64}, shift::Vector{Int64})
    for i in 1:length(y)
        y[i] = x[mod1(i + shift[i], length(y))] + x[shift[i]]
    end
end

function behind_conditions!(z::Vector{Float64}, x::Vector{Float64}, flag::Vector{Int64}, base::Vector{Int64})
    for i in 1:length(z)
        if flag[i] > 3
            z[i] = x[i+1] + x[base[i]]
        end
    end
end

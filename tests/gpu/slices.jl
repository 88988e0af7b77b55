# Programs that run in slices where the memory of a GPU does not hold their arrays.
#
# tests/tests/slices.rs cuts each of them on the CPU; on a GPU, TESSELLA_GPU_MEMORY stands for a small memory.
module Slices

using Tessella

@tessella target=:cuda chunked=true function scaled!(A::Matrix{Float64}, x::Float64)
    m, n = size(A)
    for j in 1:n, i in 1:m
        A[i, j] = A[i, j] * x + j
    end
    return nothing
end

@tessella target=:cuda chunked=true function beside!(B::Matrix{Float64}, A::Matrix{Float64})
    m, n = size(A)
    for j in 2:n-1, i in 1:m
        B[i, j] = (A[i, j-1] + A[i, j] + A[i, j+1]) / 3
    end
    return nothing
end

@tessella target=:cuda chunked=true function product!(C::Matrix{Float64}, A::Matrix{Float64}, B::Matrix{Float64})
    for i in axes(C, 1), j in axes(C, 2), k in axes(A, 2)
        C[i, j] += A[i, k] * B[k, j]
    end
    return nothing
end

@tessella target=:cuda chunked=true function two_nests!(C::Matrix{Float64}, B::Matrix{Float64}, A::Matrix{Float64}, x::Vector{Float64})
    m, n = size(A)
    for j in 1:n, i in 1:m
        B[i, j] = A[i, j] + x[i]
    end
    for i in 1:m, j in 1:n
        C[i, j] = B[i, j] * x[i] - A[i, j]
    end
    return nothing
end

@tessella target=:cuda chunked=true function sums_of_columns!(y::Vector{Float64}, A::Matrix{Float64})
    for j in axes(A, 2)
        s = 0.0
        for i in axes(A, 1)
            s += A[i, j]
        end
        y[j] = s
    end
    return nothing
end

@tessella target=:cuda chunked=true function doubled(A::Matrix{Float32})
    B = similar(A)
    for j in axes(A, 2), i in axes(A, 1)
        B[i, j] = 2 * A[i, j]
    end
    return B
end

@tessella target=:cuda chunked=true function shifted!(A::Matrix{Float64}, B::Matrix{Float64}, x::Vector{Float64}, n::Int)
    for j in 1:n, i in axes(B, 1)
        A[i, j+1] = B[i, j] * x[j]
    end
    return nothing
end

@tessella target=:cuda chunked=true function planes!(A::Array{Int32,3}, B::Array{Int32,3})
    for k in axes(A, 3), j in axes(A, 2), i in axes(A, 1)
        A[i, j, k] += B[j, i, k]
    end
    return nothing
end

@tessella target=:cuda chunked=true function masked!(B::Matrix{Float64}, A::Matrix{Float64}, mask::Vector{Int})
    for j in axes(A, 2), i in axes(A, 1)
        if mask[j] > 0
            B[i, j] = A[i, j] - mask[j]
        end
    end
    return nothing
end

@tessella target=:cuda chunked=true function backwards!(B::Matrix{Float64}, A::Matrix{Float64})
    for j in size(A, 2):-1:1, i in axes(A, 1)
        B[i, j] = A[i, j] + 1
    end
    return nothing
end

# A variable of each column, also of one without rows.
@tessella target=:cuda chunked=true function normalized!(A::Matrix{Float64})
    for j in axes(A, 2)
        s = 0.0
        for i in axes(A, 1)
            s += A[i, j] * A[i, j]
        end
        for i in axes(A, 1)
            A[i, j] = A[i, j] / s
        end
    end
    return nothing
end

@tessella target=:cuda chunked=true function running!(B::Matrix{Float64}, A::Matrix{Float64})
    m, n = size(A)
    for j in 1:n
        s = 0.0
        for i in 1:m
            s += A[i, j]
            B[i, j] = s
        end
    end
    return nothing
end

value(::Type{T}, k) where {T} = T <: Integer ? T(mod(7k, 101) - 50) : T(mod(7k, 101) / 7 - 5.3)
matrix(::Type{T}, m, n, seed = 0) where {T} = T[value(T, i + 3j + seed) for i in 1:m, j in 1:n]
vector(::Type{T}, n) where {T} = T[value(T, 5i) for i in 1:n]

# Inputs for about `n` columns.
const ALL = [
    (scaled!, n -> (matrix(Float64, 7, n), 1.5)),
    (beside!, n -> (matrix(Float64, 5, n), matrix(Float64, 5, n, 1))),
    (product!, n -> (matrix(Float64, 9, n), matrix(Float64, 9, 4, 1), matrix(Float64, 4, n, 2))),
    (two_nests!, n -> (matrix(Float64, 6, n), matrix(Float64, 6, n, 1), matrix(Float64, 6, n, 2), vector(Float64, 6))),
    (sums_of_columns!, n -> (vector(Float64, n), matrix(Float64, 33, n))),
    (doubled, n -> (matrix(Float32, 11, n),)),
    (shifted!, n -> (matrix(Float64, 3, n + 2), matrix(Float64, 3, n + 1, 1), vector(Float64, n), n)),
    (planes!, n -> (reshape(matrix(Int32, 9, n), 3, 3, n), reshape(matrix(Int32, 9, n, 1), 3, 3, n))),
    (masked!, n -> (matrix(Float64, 4, n), matrix(Float64, 4, n, 1), Int[mod(7j, 5) - 2 for j in 1:n])),
    (backwards!, n -> (matrix(Float64, 4, n), matrix(Float64, 4, n, 1))),
    (normalized!, n -> (matrix(Float64, 12, n),)),
    (running!, n -> (matrix(Float64, 8, n), matrix(Float64, 8, n, 1))),
]

const COLUMNS = [0, 1, 2, 31, 1009, 20011]
# The most columns that a block of a kernel here computes.
const BLOCK = 32

# A variable of each column that two kernels share is an array, which is needed whole.
const VARIABLE = Dict(normalized! => sizeof(Float64))

bytes_of(arguments) = sum(sizeof(it) for it in arguments if it isa AbstractArray)

copies(arguments) = map(it -> it isa AbstractArray ? copy(it) : it, arguments)

# Runs `f` while the GPU counts as having so many bytes.
within(f, bytes) = withenv(f, "TESSELLA_GPU_MEMORY" => string(bytes))

# How many calls agree with plain Julia, and what does not.
function check()
    passed, faults = 0, String[]
    for (f, inputs) in ALL, n in COLUMNS, share in (1, 3, 17)
        arguments = inputs(n)
        expected, actual = copies(arguments), copies(arguments)
        wanted = Tessella.original(f)(expected...)
        # Each array has room to be aligned, and a slice is one block's columns at least.
        limit = max(cld(bytes_of(arguments), share), bytes_of(inputs(min(n, BLOCK)))) + 4096 + n * get(VARIABLE, f, 0)
        got = try
            within(() -> f(actual...), limit)
        catch error
            push!(faults, "$f, $n columns in $limit bytes: $(sprint(showerror, error))")
            continue
        end
        isequal(got, wanted) && isequal(actual, expected) ? (passed += 1) : push!(faults, "$f, $n columns in $limit bytes differs")
    end
    small = matrix(Float64, 100, 50)
    kept = copy(small)
    try
        within(() -> scaled!(small, 2.0), 100)
        push!(faults, "a memory of 100 bytes holds a column of 800")
    catch error
        is_told = error isa TessellaError && error.codes == ["E0705"] && occursin("bytes of GPU memory", error.text)
        isequal(small, kept) && is_told ? (passed += 1) :
            push!(faults, "too small a memory: $(sprint(showerror, error))")
    end
    return passed, faults
end

end

# Quotients by constants, of numbers of every kind.
module Quotients

using Tessella

const LENGTHS = [0, 1, 17, 1000003]

@tessella function quotients!(by_nine, by_ten, by_tenth, x)
    for i in 1:length(x)
        by_nine[i] = x[i] / 9
        by_ten[i] = x[i] / 10
        by_tenth[i] = x[i] / eltype(x)(0.1)
    end
end

# Any bits: numbers of all exponents, subnormal ones, zeros, infinities and NaNs among them.
bits(::Type{Float32}, k) = reinterpret(Float32, (k % UInt32) * 0x9e3779b9)
bits(::Type{Float64}, k) = reinterpret(Float64, (k % UInt64) * 0x9e3779b97f4a7c15)
value(::Type{T}, k) where {T} = k % 16 == 1 ? T(-0.0) : k % 16 == 2 ? T(k) * nextfloat(T(0)) : k % 16 == 3 ? T(Inf) : bits(T, k)

inputs(::Type{T}, n) where {T} = (zeros(T, n), zeros(T, n), zeros(T, n), T[value(T, i) for i in 1:n])

end

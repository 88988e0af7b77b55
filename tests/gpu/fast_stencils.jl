# Stencils under `@fastmath`: what compilers for stencils are measured with. A factor for each point of a box.
module FastStencils

using Tessella

# Five points.
@tessella function fast_star2d1r!(A::Matrix{Float32}, B::Matrix{Float32}, steps::Int)
    m, n = size(A)
    @fastmath for t in 1:steps
        for j in 2:n-1, i in 2:m-1
            @comp S B[i, j] = 0.2f0 * (A[i, j] + A[i-1, j] + A[i+1, j] + A[i, j-1] + A[i, j+1])
        end
        for j in 2:n-1, i in 2:m-1
            @comp R A[i, j] = B[i, j]
        end
    end
end

# Nine points.
@tessella function fast_box2d1r!(A::Matrix{Float32}, B::Matrix{Float32}, steps::Int)
    m, n = size(A)
    @fastmath for t in 1:steps
        for j in 2:n-1, i in 2:m-1
            @comp S B[i, j] = 0.001f0 * A[i-1, j-1] + 0.002f0 * A[i, j-1] + 0.003f0 * A[i+1, j-1] +
                   0.004f0 * A[i-1, j] + 0.005f0 * A[i, j] + 0.006f0 * A[i+1, j] +
                   0.007f0 * A[i-1, j+1] + 0.008f0 * A[i, j+1] + 0.009f0 * A[i+1, j+1]
        end
        for j in 2:n-1, i in 2:m-1
            @comp R A[i, j] = B[i, j]
        end
    end
end

# A star of radius 2.
@tessella function fast_star2d2r!(A::Matrix{Float32}, B::Matrix{Float32}, steps::Int)
    m, n = size(A)
    @fastmath for t in 1:steps
        for j in 3:n-2, i in 3:m-2
            @comp S B[i, j] = 0.5f0 * A[i, j] + 0.1f0 * (A[i-1, j] + A[i+1, j] + A[i, j-1] + A[i, j+1]) +
                   0.025f0 * (A[i-2, j] + A[i+2, j] + A[i, j-2] + A[i, j+2])
        end
        for j in 3:n-2, i in 3:m-2
            @comp R A[i, j] = B[i, j]
        end
    end
end

# 25 points.
@tessella function fast_box2d2r!(A::Matrix{Float32}, B::Matrix{Float32}, steps::Int)
    m, n = size(A)
    @fastmath for t in 1:steps
        for j in 3:n-2, i in 3:m-2
            @comp S B[i, j] = 0.001f0 * A[i-2, j-2] + 0.002f0 * A[i-1, j-2] + 0.003f0 * A[i, j-2] +
                   0.004f0 * A[i+1, j-2] + 0.005f0 * A[i+2, j-2] + 0.006f0 * A[i-2, j-1] +
                   0.007f0 * A[i-1, j-1] + 0.008f0 * A[i, j-1] + 0.009f0 * A[i+1, j-1] +
                   0.01f0 * A[i+2, j-1] + 0.011f0 * A[i-2, j] + 0.012f0 * A[i-1, j] +
                   0.013f0 * A[i, j] + 0.014f0 * A[i+1, j] + 0.015f0 * A[i+2, j] +
                   0.016f0 * A[i-2, j+1] + 0.017f0 * A[i-1, j+1] + 0.018f0 * A[i, j+1] +
                   0.019f0 * A[i+1, j+1] + 0.02f0 * A[i+2, j+1] + 0.021f0 * A[i-2, j+2] +
                   0.022f0 * A[i-1, j+2] + 0.023f0 * A[i, j+2] + 0.024f0 * A[i+1, j+2] +
                   0.025f0 * A[i+2, j+2]
        end
        for j in 3:n-2, i in 3:m-2
            @comp R A[i, j] = B[i, j]
        end
    end
end

# A square root and a division for each point.
@tessella function fast_gradient2d!(A::Matrix{Float32}, B::Matrix{Float32}, steps::Int)
    m, n = size(A)
    @fastmath for t in 1:steps
        for j in 2:n-1, i in 2:m-1
            @comp S B[i, j] = A[i, j] + 1f0 / sqrt(0.0001f0 + (A[i, j] - A[i-1, j]) * (A[i, j] - A[i-1, j]) +
                   (A[i, j] - A[i+1, j]) * (A[i, j] - A[i+1, j]) +
                   (A[i, j] - A[i, j-1]) * (A[i, j] - A[i, j-1]) +
                   (A[i, j] - A[i, j+1]) * (A[i, j] - A[i, j+1]))
        end
        for j in 2:n-1, i in 2:m-1
            @comp R A[i, j] = B[i, j]
        end
    end
end

# Seven points in space.
@tessella function fast_star3d1r!(A::Array{Float32,3}, B::Array{Float32,3}, steps::Int)
    l, m, n = size(A)
    @fastmath for t in 1:steps
        for k in 2:n-1, j in 2:m-1, i in 2:l-1
            @comp S B[i, j, k] = 0.75f0 * A[i, j, k] + 0.04f0 * (A[i-1, j, k] + A[i+1, j, k] +
                   A[i, j-1, k] + A[i, j+1, k] + A[i, j, k-1] + A[i, j, k+1])
        end
        for k in 2:n-1, j in 2:m-1, i in 2:l-1
            @comp R A[i, j, k] = B[i, j, k]
        end
    end
end

# A star of radius 2 in space.
@tessella function fast_star3d2r!(A::Array{Float32,3}, B::Array{Float32,3}, steps::Int)
    l, m, n = size(A)
    @fastmath for t in 1:steps
        for k in 3:n-2, j in 3:m-2, i in 3:l-2
            @comp S B[i, j, k] = 0.5f0 * A[i, j, k] +
                   0.05f0 * (A[i-1, j, k] + A[i+1, j, k] + A[i, j-1, k] + A[i, j+1, k] + A[i, j, k-1] + A[i, j, k+1]) +
                   0.025f0 * (A[i-2, j, k] + A[i+2, j, k] + A[i, j-2, k] + A[i, j+2, k] + A[i, j, k-2] + A[i, j, k+2])
        end
        for k in 3:n-2, j in 3:m-2, i in 3:l-2
            @comp R A[i, j, k] = B[i, j, k]
        end
    end
end

# 27 points.
@tessella function fast_box3d1r!(A::Array{Float32,3}, B::Array{Float32,3}, steps::Int)
    l, m, n = size(A)
    @fastmath for t in 1:steps
        for k in 2:n-1, j in 2:m-1, i in 2:l-1
            @comp S B[i, j, k] = 0.001f0 * A[i-1, j-1, k-1] + 0.002f0 * A[i, j-1, k-1] + 0.003f0 * A[i+1, j-1, k-1] +
                   0.004f0 * A[i-1, j, k-1] + 0.005f0 * A[i, j, k-1] + 0.006f0 * A[i+1, j, k-1] +
                   0.007f0 * A[i-1, j+1, k-1] + 0.008f0 * A[i, j+1, k-1] + 0.009f0 * A[i+1, j+1, k-1] +
                   0.01f0 * A[i-1, j-1, k] + 0.011f0 * A[i, j-1, k] + 0.012f0 * A[i+1, j-1, k] +
                   0.013f0 * A[i-1, j, k] + 0.014f0 * A[i, j, k] + 0.015f0 * A[i+1, j, k] +
                   0.016f0 * A[i-1, j+1, k] + 0.017f0 * A[i, j+1, k] + 0.018f0 * A[i+1, j+1, k] +
                   0.019f0 * A[i-1, j-1, k+1] + 0.02f0 * A[i, j-1, k+1] + 0.021f0 * A[i+1, j-1, k+1] +
                   0.022f0 * A[i-1, j, k+1] + 0.023f0 * A[i, j, k+1] + 0.024f0 * A[i+1, j, k+1] +
                   0.025f0 * A[i-1, j+1, k+1] + 0.026f0 * A[i, j+1, k+1] + 0.027f0 * A[i+1, j+1, k+1]
        end
        for k in 2:n-1, j in 2:m-1, i in 2:l-1
            @comp R A[i, j, k] = B[i, j, k]
        end
    end
end

# What a step rounds differs in a few units of the last place. Five steps of these programs keep that below this part of the
# largest value; the gradient, whose inverse root makes differences grow, needs most of it.
const BOUND = 1f-3

function agree((actual, changed), (expected, wanted))
    largest(values) = mapreduce(abs, max, values; init = 0f0)
    close(x::AbstractArray, y) = largest(x .- y) <= BOUND * largest(y)
    close(x, y) = x == y
    return actual === expected && all(close(x, y) for (x, y) in zip(changed, wanted))
end

end

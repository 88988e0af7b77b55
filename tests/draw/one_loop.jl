#! draw
#! size n=9
# One dimension is a row; the order is a line.
#! order line
@tessella function chain!(x)
    n = length(x)
    for i in 3:n
        @comp S x[i] = x[i-2] + x[i-1]
    end
end

# Ranges of integers of other widths.

@tessella function range_int32!(A, n)
    for i in Int32(1):n
        A[i] = i * A[i]
    end
end
case(range_int32!, (T, n) -> (values_of(T, n + 1), Int32(n)))

# `1:n` is a range of `Int64`s.
@tessella function range_promoted!(A, n)
    for i in 1:n
        A[i] += i
    end
end
case(range_promoted!, (T, n) -> (values_of(Float64, n), T(n)); types = DataType[Int8, Int16, Int32, UInt8, UInt16, UInt32])

# The iterator's own type decides about wrap-around.
@tessella function range_wraps!(A, n)
    s = UInt8(0)
    for i in UInt8(1):n
        s += i * UInt8(200)
        A[i] = s
    end
    return s
end
case(range_wraps!, (T, n) -> (values_of(T, n), UInt8(n)))

@tessella function range_whole_type!(A)
    for i in UInt8(0):UInt8(255)
        A[i + 1] = i
    end
end
case(range_whole_type!, (T, n) -> (values_of(T, 256),))

@tessella function range_negative!(A, low, high)
    for i in low:high
        A[i + 4] = typeof(i)(2) * i
    end
end
case(range_negative!, (T, n) -> (values_of(Float64, 24), T(-3), T(n)); types = DataType[Int8, Int16, Int32])

@tessella function range_strided!(A, n)
    for i in Int32(1):Int32(2):n
        A[i] = -A[i]
    end
    for i in n:-1:1
        A[i] += i
    end
end
case(range_strided!, (T, n) -> (values_of(T, n), Int32(n)))

@tessella function range_assigned!(A, n)
    for i in Int16(1):n
        i += Int16(3)
        A[1] += i
    end
end
case(range_assigned!, (T, n) -> (values_of(T, n), Int16(n)))

@tessella function range_made(n)
    x = zeros(n)
    for i in UInt16(1):UInt16(1):n, j in Int32(1):Int32(2)
        x[i] += i / j
    end
    return x
end
case(range_made, (T, n) -> (UInt16(n),); types = DataType[Float64])

# A negative size of a narrow type.
@tessella range_sized(n) = ones(n - 2)
case(range_sized, (T, n) -> (Int8(n),); types = DataType[Float64])

# The low bits of an iterator are not the iterator.
@tessella function range_low_bits!(A)
    for i in 1:length(A)
        A[i] = Int64(i % Int8) + i
    end
end
case(range_low_bits!, (T, n) -> (values_of(T, 300),); types = DataType[Float64])

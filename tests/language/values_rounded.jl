# Rounding by a mode, or at digits behind the point.

# Halves, what is next to them, numbers without a fraction, zeros of both signs, and large numbers.
roundable(::Type{T}, n) where {T} = T[
    2.5, -2.5, 0.3, -1.7, 3.5, 0.0, -0.0, prevfloat(T(0.5)), -0.5, 0.5, 7.25, 1.005, 2.675, -7.125, 1 / eps(T) - T(0.5), 2 / eps(T) + 1, 1e10,
][1:n]

@tessella function rounded_by_modes(x)
    s = zero(eltype(x))
    for v in x
        s += round(v, RoundUp) - round(v, RoundNearestTiesAway) / 2
    end
    return s, round.(x, RoundNearest), round.(x, RoundUp), round.(x, RoundDown), round.(x, RoundToZero),
        round.(x, RoundNearestTiesAway), round.(x, RoundNearestTiesUp)
end
case(rounded_by_modes, (T, n) -> (roundable(T, n),))
case(rounded_by_modes, (T, n) -> (T[typemax(T), typemin(T), T(0) / T(0), eps(T), -eps(T)^2],))

@tessella rounded_to_integers(x) =
    (round.(Int32, x, RoundUp), [round(Int, v, RoundNearestTiesAway) for v in x], round.(Int, x, RoundNearestTiesUp), floor(Int, x[1]))
case(rounded_to_integers, (T, n) -> (roundable(T, n),))
case(rounded_to_integers, (T, n) -> (T[0.5, typemax(T)],))

@tessella rounded_at_digits(x) =
    (round.(x, digits = 2), floor.(x, digits = 1), ceil.(x; digits = 3), [trunc(v; digits = 0) for v in x], round.(x, RoundUp; digits = 2))
case(rounded_at_digits, (T, n) -> (roundable(T, n),))
case(rounded_at_digits, (T, n) -> (T[typemax(T), -typemax(T), floatmax(T), T(0) / T(0)],))
case(rounded_at_digits, (T, n) -> (values_of(T, n),); types = [Int32, Int64])

@tessella rounded_integers(x) = round.(x, RoundNearestTiesAway), round.(x, RoundNearestTiesUp), [round(v, RoundNearestTiesAway) for v in x]
case(rounded_integers, (T, n) -> (T[typemin(T), typemax(T), 0, 7],); types = [Int8, UInt8, Int64])

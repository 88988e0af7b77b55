using SpecialFunctions

@tessella function field!(E, r, k)
    for i in eachindex(E)
        E[i] = besselj0(k * r[i])
    end
end

#: title A function of another package
#: why `besselj0` is not in Base, and its definition is not in the file.
#: fix Compute its values into an array first, and pass the array.

# Every construct of the language on the GPU, against plain Julia: `run.jl language [--part=K/N]`.
#
# What a GPU does not run (strides of its own, loops that only data end around kernels) is counted by its code. Elementary functions may
# differ in the last place there, so a result that is near plain Julia's counts apart from one with its bits.
module GpuLanguage

using Tessella

include(joinpath(@__DIR__, "..", "..", "julia-pkg", "test", "language.jl"))
using .LanguageTests: Language, identical, outcome

near(a::AbstractArray, b::AbstractArray) = typeof(a) === typeof(b) && size(a) == size(b) && all(near(x, y) for (x, y) in zip(a, b))
near(a::Tuple, b::Tuple) = length(a) == length(b) && all(near(x, y) for (x, y) in zip(a, b))
near(a::NamedTuple, b::NamedTuple) = keys(a) == keys(b) && near(values(a), values(b))
near(a::T, b::T) where {T<:Union{AbstractFloat,Complex}} =
    identical(a, b) || isapprox(a, b; rtol = 64 * eps(real(T)), atol = 64 * eps(real(T)))
near(a, b) = identical(a, b)

# What plain Julia does, or what the function does on another target.
function beside_it(case, inputs, beside)
    beside === nothing && return [outcome(Tessella.original(case.f), arguments) for arguments in inputs]
    Tessella.retarget!(case.f, beside)
    return [outcome(case.f, arguments) for arguments in inputs]
end

# :identical, :near, the code of a refusal, or what is wrong.
function verdict(case, inputs, beside)
    all_wanted = beside_it(case, inputs, beside)
    Tessella.retarget!(case.f, :cuda)
    all_identical = true
    for (arguments, wanted) in zip(inputs, all_wanted)
        actual = try
            outcome(case.f, arguments)
        catch failure
            failure isa TessellaError || rethrow()
            codes = Tessella.codes_in(sprint(showerror, failure))
            return isempty(codes) ? sprint(showerror, failure) : first(codes)
        end
        same(agree) = length(actual) == length(wanted) && all(agree(x, y) for (x, y) in zip(actual, wanted))
        same(identical) && continue
        same(near) || return "differs for $(map(summary, arguments)): $(wanted), $(actual)"
        all_identical = false
    end
    return all_identical ? :identical : :near
end

# How many agree, and what is wrong, of the cases whose names begin so.
function check(part, parts, beginning, beside)
    counts, faults = Dict{Any,Int}(), String[]
    near_names = String[]
    for (number, case) in enumerate(Language.CASES), T in case.types
        mod(number, parts) == mod(part, parts) && startswith(case.name, beginning) || continue
        told = try
            verdict(case, [case.inputs(T, n) for n in Language.SIZES], beside)
        catch failure
            sprint(showerror, failure)
        end
        if told isa Symbol || occursin(r"^E\d{4}$", told)
            counts[told] = get(counts, told, 0) + 1
            told === :near && push!(near_names, "$(case.name) $T")
            told isa Symbol || println(told, " ", case.name, " ", T)
        else
            push!(faults, "$(case.name) $T: $(first(told, 600))")
        end
    end
    println("language: ", join(("$(counts[key]) $key" for key in sort!(collect(keys(counts)); by = string)), ", "))
    isempty(near_names) || println("near: ", join(unique(near_names), ", "))
    return get(counts, :identical, 0) + get(counts, :near, 0), faults
end

end

# Every construct of the language: plain Julia, compiled C and the interpreter agree bit for bit.
module LanguageTests

using Test
using Tessella

include(joinpath(@__DIR__, "..", "..", "tests", "language", "registry.jl"))

# NaNs, whose bits Julia leaves open, equal one another.
identical(a::AbstractArray, b::AbstractArray) = typeof(a) === typeof(b) && size(a) == size(b) && all(identical(x, y) for (x, y) in zip(a, b))
identical(a::Tuple, b::Tuple) = length(a) == length(b) && all(identical(x, y) for (x, y) in zip(a, b))
identical(a::NamedTuple, b::NamedTuple) = keys(a) == keys(b) && identical(values(a), values(b))
identical(a::T, b::T) where {T} = a === b || (a != a && b != b)
identical(a::T, b::T) where {T<:Complex} = identical(real(a), real(b)) && identical(imag(a), imag(b))
identical(a, b) = false

# Which argument each array of a result is; 0 for a new one.
positions(result::Tuple, arguments) = map(part -> positions(part, arguments), result)
positions(result::NamedTuple, arguments) = positions(values(result), arguments)
positions(result, arguments) =
    something(findfirst(argument -> argument === result && argument isa AbstractArray, collect(arguments)), 0)

# What a call gives back and what it leaves in its arguments; an exception counts as a result, and leaves nothing.
function outcome(f, arguments)
    copies = map(argument -> argument isa AbstractArray ? copy(argument) : argument, arguments)
    try
        result = f(copies...)
        # An array that is given back may be one of the arguments: which one matters, too.
        return (:done, result, positions(result, copies), copies)
    catch failure
        # The interpreter words what Julia throws as an error of its own.
        failure isa TessellaError && failure.kind !== :cuda && rethrow()
        return (:thrown, typeof(failure) in (BoundsError, InexactError, DivideError) ? typeof(failure) : Exception)
    end
end

# How many functions, each for some argument types, were not compiled: plain Julia runs them.
plain_functions() = count(compiled -> compiled === Tessella.ORIGINAL, values(Tessella.COMPILED))

# Where a case is compared; one that says nothing of it, on both.
targets(case::Language.Case) = case.targets
targets(case) = [:c, :interpreter]

# A function that is not compiled agrees with nothing, whatever the environment or its definition allow. Each target comes once for all
# arguments, since it is compiled for anew.
function agrees(case, inputs)
    expected = [outcome(Tessella.original(case.f), arguments) for arguments in inputs]
    for target in targets(case)
        Tessella.retarget!(case.f, target)
        for (arguments, wanted) in zip(inputs, expected)
            before = plain_functions()
            actual = withenv(() -> outcome(case.f, arguments), "TESSELLA_FALLBACK" => "0")
            plain_functions() == before || (@error "not compiled" case.name target; return false)
            # The interpreter has no checks at entry: what it says of a wrong subscript is an error of another type.
            same = target === :interpreter && first(wanted) === :thrown ? first(actual) === :thrown :
                all(identical(x, y) for (x, y) in zip(actual, wanted))
            same || (@error "results differ" case.name target arguments wanted actual; return false)
        end
    end
    return true
end

@tessella function printed!(x)
    x[1] = 1
    println(devnull, x)
    return nothing
end

@tessella fallback=true function printed_by_choice!(x)
    x[1] = 1
    print(devnull, x)
    return nothing
end

one_case(f) = Language.Case(string(f), f, (T, n) -> (values_of(T, n),), DataType[Float64], [:c, :interpreter])

function run(wanted = "")
    @testset "a function that is not compiled fails" begin
        @test_throws TessellaError agrees(one_case(printed!), [([0.0],)])
        quiet(test) = Test.collect_test_logs(test)[2]
        @test !quiet(() -> agrees(one_case(printed_by_choice!), [([0.0],)]))
    end
    @testset "the table of constructs names cases that exist" begin
        known = Set(case.name for case in Language.CASES)
        for line in eachline(joinpath(@__DIR__, "..", "..", "docs", "language.md"))
            startswith(line, "| ") && !startswith(line, "| ---") && !startswith(line, "| construct") || continue
            named = [match.captures[1] for match in eachmatch(r"`([^`]+)`", last(split(line, " | ")))]
            @test !isempty(named) && issubset(named, known)
        end
    end
    for case in Language.CASES
        occursin(wanted, case.name) || continue
        @testset "$(case.name)" begin
            for T in case.types
                @test agrees(case, [case.inputs(T, n) for n in Language.SIZES])
            end
        end
    end
end

end

# A function of a precompiled package: the image was written by another session, and so was what it knew of addresses.
module PackageTests

using Test
import Tessella

const PACKAGE = """
    module Borrower
    using Tessella
    @tessella fallback=false function twice!(x)
        for i in 1:length(x)
            x[i] = 2x[i]
        end
    end
    @tessella fallback=false function total(x)
        sum = 0.0
        for i in 1:length(x)
            sum += x[i]
        end
        return sum
    end
    @schedule twice! begin
    end
    # Methods for these types go into the image, with their slots.
    both(x) = (twice!(x); total(x))
    precompile(both, (Vector{Float64},))
    const made_earlier = both([1.0, 2.0])
    end
    """

const SCRIPT = """
    using Borrower
    x = [1.0, 2.5]
    Borrower.both(x) === 7.0 && Borrower.made_earlier === 6.0 || exit(1)
    Borrower.twice!(x)
    x == [4.0, 10.0] || exit(2)
    Borrower.total(Float32[1, 2]) === 3.0 || exit(3)
    Borrower.Tessella.original(Borrower.total)([1.0]) === 1.0 || exit(4)
    """

function run()
    mktempdir() do folder
        source = joinpath(folder, "packages", "Borrower", "src")
        mkpath(source)
        write(joinpath(source, "Borrower.jl"), PACKAGE)
        write(joinpath(source, "..", "Project.toml"), """
            name = "Borrower"
            uuid = "0b5c9f1e-33aa-4b0c-8a6e-5f0f7d5ad3b1"
            [deps]
            Tessella = "7e55e11a-0c3d-4b6f-9a52-3f1d8c2e6b90"
            """)
        project = normpath(joinpath(@__DIR__, ".."))
        # One depot to write to, before those that are there.
        environment = ("JULIA_LOAD_PATH" => join([project, joinpath(folder, "packages"), "@stdlib"], ':'),
                       "JULIA_DEPOT_PATH" => join([joinpath(folder, "depot"); DEPOT_PATH], ':'))
        withenv(environment...) do
            for _ in 1:2    # writes the image, then reads it
                @test success(pipeline(`$(Base.julia_cmd()) --startup-file=no -e $SCRIPT`; stderr = stderr))
            end
        end
    end
end

end

# julia --project=julia-pkg julia-pkg/test/runtests.jl

using Tessella
using Test

# Functions to test with stand at top level, one module a file, as they do in users' files.
include("source.jl")
include("library.jl")
include("signatures.jl")
include("calls.jl")
include("names.jl")
include("refusals.jl")
include("device.jl")
include("messages.jl")
include("schedules.jl")
include("reflection.jl")
include("packages.jl")
include("examples.jl")
include("polybench.jl")
include("helpers.jl")
include("language.jl")
include("programs.jl")
include("safety.jl")
include("storage.jl")
include("profile.jl")
include("strided.jl")
include("padded.jl")
include("tune.jl")

# Runs `test` with an environment variable set.
with_fallback(test, wish) = withenv(test, "TESSELLA_FALLBACK" => wish)

@testset "Tessella.jl" begin
    @testset "source text" begin SourceTests.run() end
    @testset "library" begin LibraryTests.run() end
    @testset "signatures" begin with_fallback(SignatureTests.run, "1") end
    @testset "calls" begin with_fallback(CallTests.run, "0") end
    @testset "names" begin with_fallback(NameTests.run, "0") end
    @testset "refusals" begin with_fallback(RefusalTests.run, nothing) end
    @testset "messages" begin with_fallback(MessageTests.run, "0") end
    @testset "schedules" begin with_fallback(ScheduleTests.run, nothing) end
    @testset "reflection" begin with_fallback(ReflectionTests.run, "0") end
    @testset "packages" begin with_fallback(PackageTests.run, "0") end
    @testset "profile" begin with_fallback(ProfileTests.run, "0") end
    @testset "device arrays" begin with_fallback(DeviceTests.run, "0") end
    @testset "examples" begin with_fallback(ExampleTests.run, "0") end
    @testset "polybench" begin with_fallback(PolyBenchTests.run, "0") end
    @testset "helpers" begin with_fallback(HelperTests.run, "0") end
    @testset "language" begin with_fallback(LanguageTests.run, "0") end
    @testset "safety" begin with_fallback(SafetyTests.run, "0") end
    @testset "programs" begin with_fallback(ProgramTests.run, "0") end
    @testset "storage" begin with_fallback(StorageTests.run, "0") end
    @testset "strided" begin with_fallback(StridedTests.run, "0") end
    @testset "padded" begin with_fallback(PaddedTests.run, "0") end
    @testset "tuning" begin with_fallback(TuneTests.run, "0") end
end

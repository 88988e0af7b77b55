# What passes between Julia and the library as text, and what is said when there is no library.
module LibraryTests

using Test
import Tessella

function message(test)
    try
        test()
    catch error
        error isa Tessella.TessellaError || rethrow()
        return error.kind, sprint(showerror, error)
    end
    return nothing
end

function run()
    @testset "JSON" begin
        json(value) = sprint(Tessella.json, value)
        @test json(("a" => 1, "b" => nothing, "c" => [true, false], :d => :e)) ==
              """{"a": 1, "b": null, "c": [true, false], "d": "e"}"""
        @test json("\"\\\n\t\0α🙂") == "\"\\\"\\\\\\u000a\\u0009\\u0000α🙂\""
        @test json(String(UInt8[0x61, 0xff, 0x62])) == "\"a\ufffdb\""
        @test json(Tessella.SourceText("f", "x.jl", 3)) == """{"source": "f", "file": "x.jl", "first_line": 3}"""
        @test json(Symbol[]) == "[]"
    end

    @testset "key=value lines" begin
        pairs = Tessella.key_values("kind=bounds\nsubscript=i\nsubscript=j == 2\ntext=a=b\nkind=more")
        @test Tessella.value_of(pairs, "kind") == "bounds"
        @test Tessella.values_of(pairs, "subscript") == ["i", "j == 2"]
        @test Tessella.value_of(pairs, "text") == "a=b\nkind=more"
        @test Tessella.value_of(pairs, "place") == ""
    end

    @testset "a missing or foreign library is named, with the way out" begin
        kind, words = message(() -> Tessella.open_library("/nowhere/libtessella.so"))
        @test kind === :library
        @test occursin("/nowhere/libtessella.so", words) && occursin("./x build", words)
        mktempdir() do folder
            file = joinpath(folder, "libtessella.so")
            write(file, "no library")
            kind, words = message(() -> Tessella.open_library(file))
            @test kind === :library && occursin("cannot be opened", words)
        end
        withenv("TESSELLA_LIBRARY" => "/elsewhere/lib.so") do
            @test Tessella.library_path() == "/elsewhere/lib.so"
        end
    end

    @testset "a malformed request is an internal error, not a crash" begin
        for request in ("", "{}", "[1", "{\"source\": 1}")
            program = Tessella.Program(request)
            @test Tessella.status(program) == 3
            @test occursin("internal error", Tessella.text(program, "diagnostics"))
            @test Tessella.text(program, "no such text") === nothing
            @test Tessella.entry(program) == C_NULL
            Tessella.release(program)
        end
    end
end

end

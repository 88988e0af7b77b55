# The C compilers that the bench compares with, what they are told, and the libraries that they make.

struct Contender
    "as --others and the results call it"
    name::String
    "as the tables call it"
    title::String
    compiler::String
    flags::Vector{String}
    "whether its code runs on several threads"
    parallel::Bool
end

# Strict floating point: no contraction, no reordering. The last two change no value: they give up `errno` and traps, as
# Tessella's own code does.
const C_FLAGS = ["-std=gnu11", "-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"]
const POLLY = ["-mllvm", "-polly"]
const POLLY_PARALLEL = [POLLY; "-mllvm"; "-polly-parallel"]
# Longer than any compiler takes for one kernel, unless it does not come to an end.
const COMPILE_SECONDS = 300

all_contenders() = [
    Contender("gcc", "gcc", find_compiler("GCC", ["gcc"]), String[], false)
    Contender("clang", "clang", find_clang(), String[], false)
    Contender("polly", "Polly", find_clang(), POLLY, false)
    Contender("polly-parallel", "Polly", find_clang(), POLLY_PARALLEL, true)
]

"The contenders that were asked for: Polly stands for Polly with and without threads."
chosen_contenders(others) = filter(contender -> first(split(contender.name, '-')) in others, all_contenders())

# CLANG, or else the newest clang that is installed.
find_clang() = find_compiler("CLANG", ["clang"; ["clang-$version" for version in 30:-1:11]])

function find_compiler(variable, names)
    haskey(ENV, variable) && return ENV[variable]
    found = filter(name -> Sys.which(name) !== nothing, names)
    isempty(found) && return ""
    return found[argmax([major_version(name) for name in found])]
end

major_version(compiler) = parse(Int, match(r"^\d+", readchomp(`$compiler -dumpversion`)).match)

"Whether the compiler is installed and takes these flags: many a clang is built without Polly."
function works(contender)
    (isempty(contender.compiler) || Sys.which(contender.compiler) === nothing) && return false
    mktempdir() do folder
        source = joinpath(folder, "empty.c")
        write(source, "void empty(void) {}\n")
        command = `$(contender.compiler) $C_FLAGS $(contender.flags) -c $source -o $source.o`
        return success(pipeline(ignorestatus(command); stdout = devnull, stderr = devnull))
    end
end

function version_line(compiler)
    line = first(split(readchomp(`$compiler --version`), '\n'))
    return replace(replace(line, r"^\S*gcc\S* \(" => "gcc ("), r"^Debian clang" => "clang")
end

"Compiles kernels into one library; those that the compiler fails on are left out of it."
function compile(contender, kernels, width, share, machine_flags, library)
    objects = mktempdir()
    compiled = asyncmap(kernels; ntasks = Sys.CPU_THREADS) do kernel
        source = joinpath(@__DIR__, "c", c_stem(kernel) * ".c")
        object = joinpath(objects, c_stem(kernel) * ".o")
        extents = ["-DEXTENT$at=$extent" for (at, extent) in enumerate(dims(kernel, share))]
        real = "-DREAL=$(c_type(element_type(kernel, width)))"
        command = `timeout $COMPILE_SECONDS $(contender.compiler) $C_FLAGS $machine_flags $(contender.flags) -w -fPIC
                   $real $extents -c $source -o $object`
        success(pipeline(ignorestatus(command); stderr = devnull)) && return object
        @warn "$(contender.name) did not compile $(kernel.name)"
        return nothing
    end
    openmp = contender.parallel ? ["-lgomp"] : String[]
    run(`$(contender.compiler) -shared -o $library $(filter(!isnothing, compiled)) -lm $openmp`)
    rm(objects; recursive = true)
    return library
end

"The chosen contenders and their libraries, by name and width: compiled here, or else brought along in the bundle."
function c_libraries!(facts, options, folder)
    contenders = chosen_contenders(options.others)
    libraries = Dict{Tuple{String,Int},String}()
    for contender in contenders
        if works(contender)
            facts[contender.name] = join([version_line(contender.compiler); "-march=native"; contender.flags], ' ')
            println("compiling with $(facts[contender.name])")
            for width in options.widths
                library = joinpath(folder, "$(contender.name)-$width.so")
                compile(contender, options.kernels, width, options.share, ["-march=native"], library)
                libraries[(contender.name, width)] = library
            end
        else
            brought = find_prebuilt(contender, options.share)
            if brought === nothing
                println("$(contender.name): not installed, left out")
                continue
            end
            facts[contender.name] = readchomp(joinpath(brought, "$(contender.name).txt"))
            println("brought along: $(facts[contender.name])")
            for width in options.widths
                libraries[(contender.name, width)] = joinpath(brought, "$(contender.name)-$width.so")
            end
        end
    end
    return contenders, libraries
end

# --- libraries for machines without these compilers -------------------------------------------------------------------

# The levels of x86-64 that libraries are made for, the best first, and what a processor of that level has.
const LEVELS = [
    "x86-64-v4" => ["avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"],
    "x86-64-v3" => ["avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"],
]

"Compiles all kernels with every contender but gcc, which is everywhere, for every level: FOLDER/LEVEL/SHARE."
function prebuild(options)
    Sys.ARCH === :x86_64 || return
    for contender in filter(works, chosen_contenders(setdiff(options.others, ["gcc"]))), (level, _) in LEVELS
        folder = mkpath(joinpath(options.prebuild, level, string(options.share)))
        for width in options.widths
            library = joinpath(folder, "$(contender.name)-$width.so")
            compile(contender, options.kernels, width, options.share, ["-march=$level"], library)
            run(`strip --strip-unneeded $library`)
        end
        write(joinpath(folder, "$(contender.name).txt"),
              join([version_line(contender.compiler); "-march=$level"; contender.flags], ' '), '\n')
        println("made $folder/$(contender.name)-*.so")
    end
end

function find_prebuilt(contender, share)
    features = processor_features()
    for (level, needed) in LEVELS
        folder = joinpath(BUNDLE, level, string(share))
        all(in(features), needed) && isfile(joinpath(folder, "$(contender.name).txt")) && return folder
    end
    return nothing
end

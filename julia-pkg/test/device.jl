# Arrays on the device. Where there is no GPU, their memory is the host's, behind the functions of the library; so all of
# the package is tested everywhere, and the GPU's own part where there is one.
module DeviceTests

using Test
using Tessella
using Tessella: allow_scalars, device_flags, device_memory, device_pointer, entry_words, free!, places_of

@tessella function scaled!(A, factor)
    for i in eachindex(A)
        A[i] = factor * A[i]
    end
    return A
end

@tessella target=:cuda function sum_into!(to, A, B)
    for j in 1:size(A, 2), i in 1:size(A, 1)
        to[i, j] = A[i, j] + B[i, j]
    end
    return to
end

@tessella target=:cuda doubled(A) = [2 * a for a in A]

@tessella target=:cuda function gathered!(to, from, at)
    for i in eachindex(to)
        to[i] = from[at[i]]
    end
end

# --- the library's memory functions, made of host memory --------------------------------------------------------------

# What is freed is not handed out again, so that a finalizer that comes late frees nothing but its own.
const ROOM = zeros(UInt8, 2^20)
const TAKEN = Ref(0)                          # the bytes of ROOM that have been handed out
const HELD = zeros(UInt64, 2^20 ÷ 16)         # by place in ROOM: the bytes in use there
const CAPACITY = UInt64(1000)

place(memory::Ptr{Cvoid}) = Int(memory - Ptr{Cvoid}(pointer(ROOM))) ÷ 16 + 1

function allocate(bytes::UInt64)::Ptr{Cvoid}
    start = TAKEN[]
    (used() + bytes > CAPACITY || start + bytes > length(ROOM)) && return C_NULL
    memory = Ptr{Cvoid}(pointer(ROOM) + start)
    HELD[place(memory)] = bytes
    TAKEN[] = start + cld(max(Int(bytes), 1), 16) * 16
    return memory
end

used() = sum(HELD)

free(memory::Ptr{Cvoid})::Cvoid = (HELD[place(memory)] = 0; nothing)
address(memory::Ptr{Cvoid})::UInt64 = UInt64(UInt(memory))

function move(to::Ptr{Cvoid}, from::Ptr{Cvoid}, bytes::UInt64, memory::Ptr{Cvoid}, offset::UInt64)::Int32
    offset + bytes <= HELD[place(memory)] || return -1
    ccall(:memcpy, Ptr{Cvoid}, (Ptr{Cvoid}, Ptr{Cvoid}, Csize_t), to, from, bytes)
    return 0
end

write_memory(memory::Ptr{Cvoid}, offset::UInt64, from::Ptr{Cvoid}, bytes::UInt64)::Int32 =
    move(memory + offset, from, bytes, memory, offset)
read_memory(memory::Ptr{Cvoid}, offset::UInt64, to::Ptr{Cvoid}, bytes::UInt64)::Int32 =
    move(to, memory + offset, bytes, memory, offset)
copy_memory(to::Ptr{Cvoid}, from::Ptr{Cvoid}, bytes::UInt64)::Int32 = move(to, from, bytes, to, UInt64(0))

function state(held::Ptr{UInt64}, free::Ptr{UInt64}, total::Ptr{UInt64})::Int32
    unsafe_store!(held, used())
    unsafe_store!(free, CAPACITY - used())
    unsafe_store!(total, CAPACITY)
    return 0
end

const REASON = Vector{UInt8}("error[E0705]: no room\n\0")
reason()::Ptr{UInt8} = pointer(REASON)

# Runs `test` with memory functions of host memory in the library.
function with_host_memory(test)
    real = Tessella.library()
    memory = Tessella.MemoryFunctions(
        @cfunction(allocate, Ptr{Cvoid}, (UInt64,)), @cfunction(free, Cvoid, (Ptr{Cvoid},)),
        @cfunction(address, UInt64, (Ptr{Cvoid},)),
        @cfunction(write_memory, Int32, (Ptr{Cvoid}, UInt64, Ptr{Cvoid}, UInt64)),
        @cfunction(read_memory, Int32, (Ptr{Cvoid}, UInt64, Ptr{Cvoid}, UInt64)),
        @cfunction(copy_memory, Int32, (Ptr{Cvoid}, Ptr{Cvoid}, UInt64)),
        @cfunction(state, Int32, (Ptr{UInt64}, Ptr{UInt64}, Ptr{UInt64})), @cfunction(reason, Ptr{UInt8}, ()))
    fields = [field === :memory ? memory : getfield(real, field) for field in fieldnames(Tessella.Library)]
    Tessella.LIBRARY[] = Tessella.Library(fields...)
    try
        return test()
    finally
        Tessella.LIBRARY[] = real
    end
end

# The codes of the error that `test` throws.
function refusal(test)
    try
        test()
        return "none"
    catch failure
        failure isa TessellaError || rethrow()
        return join(failure.codes, ' ')
    end
end

# An array of another package on the device, as far as the contract goes.
struct StandIn{T,N} <: AbstractArray{T,N}
    host::Array{T,N}
end

Base.size(it::StandIn) = size(it.host)
Base.getindex(it::StandIn, i::Int...) = it.host[i...]
Tessella.device_pointer(it::StandIn) = Ptr{Cvoid}(pointer(it.host))

function test_arrays()
    A = [1.0 2.0 3.0; 4.0 5.0 6.0]
    d = to_device(A)
    @test d isa DeviceArray{Float64,2}
    @test (size(d), eltype(d), length(d), ndims(d), sizeof(d)) == ((2, 3), Float64, 6, 2, 48)
    @test Array(d) == A && collect(d) == A && Array(d) !== A
    @test sprint(show, d) == "DeviceArray{Float64,2}(2×3)"
    @test repr("text/plain", d) == "2×3 DeviceArray{Float64} in the GPU's memory"
    copyto!(d, 10A)
    other = copy(d)
    copyto!(d, A)
    @test Array(other) == 10A && Array(d) == A
    B = similar(A)
    @test copyto!(B, d) === B == A
    @test copyto!(view(zeros(4, 4), 1:2, 1:3), d) == A
    @test Array(copyto!(d, view(10A, :, :))) == 10A
    @test Array(to_device(view(A, :, 2))) == A[:, 2]
    @test to_device(d) === d
    @test Array(to_device(Float32[])) == Float32[]
    @test Array(to_device([1.0 + 2.0im])) == [1.0 + 2.0im]
    @test_throws BoundsError copyto!(zeros(2), d)
    @test_throws BoundsError copyto!(d, zeros(7))
    @test_throws ArgumentError to_device(["a"])

    @test refusal(() -> d[1, 1]) == "E0710"
    @test refusal(() -> d[1] = 2.0) == "E0710"
    @test refusal(() -> sum(d)) == "E0710"
    @test refusal(() -> d .+ 1) == "E0710"
    @test allow_scalars(() -> d[2, 3]) == 60.0
    allow_scalars(() -> d[1, 2] = -1)
    @test Array(d)[1, 2] == -1.0
    @test_throws BoundsError allow_scalars(() -> d[7])
    @test refusal(() -> d[1]) == "E0710"
    # The result of a function that indexes has a type.
    @test Core.Compiler.return_type(getindex, Tuple{DeviceArray{Float64,2},Int,Int}) === Float64
    @test Core.Compiler.return_type(Tessella.original(scaled!), Tuple{typeof(d),Float64}) === typeof(d)
end

function test_parts_and_shapes()
    fill!(HELD, 0)
    A = [1.0 2.0 3.0; 4.0 5.0 6.0]
    d = to_device(A)
    # A copy has memory of its own.
    c = deepcopy(d)
    @test c.memory != d.memory && Array(c) == A
    pair = deepcopy([d, d])
    @test pair[1] === pair[2] && pair[1].memory != d.memory
    free!(d)
    @test Array(c) == A && refusal(() -> Array(d)) == "E0711"
    @test refusal(() -> deepcopy(d)) == "E0711"

    v = vec(c)
    @test v isa DeviceArray{Float64,1} && Array(v) == vec(A)
    r = reshape(v, 3, :)
    @test size(r) == (3, 2) && Array(r) == reshape(A, 3, 2)
    @test device_pointer(r) == device_pointer(c)
    copyto!(r, ones(3, 2))
    @test Array(c) == ones(2, 3)
    @test_throws DimensionMismatch reshape(c, 4, 2)
    @test_throws ArgumentError reshape(c, (-2, -3))
    @test_throws ArgumentError reshape(c, -2, :)
    @test Array(fill!(c, 7)) == fill(7.0, 2, 3) && Array(zero(c)) == zeros(2, 3)
    @test isempty(Array(fill!(to_device(Float64[]), 1)))

    @test copyto!(zeros(4), 2, c, 1, 2) == [0, 7, 7, 0]
    copyto!(c, 3, [1.0, 2.0, 3.0], 2, 2)
    @test Array(v) == [7, 7, 2, 3, 7, 7]
    copyto!(c, 1, c, 3, 2)
    @test Array(v) == [2, 3, 2, 3, 7, 7]
    @test copyto!(c, 7, [1.0], 1, 0) === c
    @test_throws BoundsError copyto!(c, 6, [1.0, 2.0], 1, 2)
    @test_throws BoundsError copyto!(zeros(2), 1, c, 6, 2)
    @test_throws ArgumentError copyto!(c, 1, [1.0], 1, -1)

    # A view of elements side by side is an argument where it is.
    column = view(c, :, 2)
    @test Array(column) == [2, 3] == collect(column)
    copyto!(column, [8.0, 9.0])
    @test Array(v) == [2, 3, 8, 9, 7, 7]
    place = only(places_of((column,)))
    @test place.on_device && place.data == device_pointer(c) + 16 && place.numbers == [2]
    @test refusal(() -> scaled!(column, 2.0)) == "E0709"
    @test refusal(() -> Array(view(c, 1, :))) == "none"
    free!(r)
    @test refusal(() -> Array(c)) == "E0711" && refusal(() -> Array(column)) == "E0711"
    @test endswith(repr("text/plain", r), ", freed") && endswith(repr("text/plain", c), ", freed")
end

# What copies and fills do to arrays on the device and to parts of them: what Julia does to its own.
function test_copies()
    A = [1.0 2.0 3.0; 4.0 5.0 6.0]
    whole(x) = x isa SubArray ? parent(x) : x
    parts = (identity, x -> view(x, :, 2), x -> view(x, :, 2:3), x -> view(x, 1, :), x -> view(x, 2:2, 1:2:3),
             x -> view(x, [2, 1], 1:1))
    for part in parts
        fill!(HELD, 0)
        d, h = part(to_device(A)), part(copy(A))
        @test typeof(Array(d)) === typeof(Array(h)) && Array(d) == Array(h) == collect(d)
        @test copyto!(zeros(6), d) == copyto!(zeros(6), h)
        @test copyto!(zeros(Float32, 6), d) == copyto!(zeros(Float32, 6), h)
        @test Array(to_device(d)) == Array(h)
        for from in (fill(7.5, length(h)), Float32[9], 7:7, [8.0], Float32[5], view([2.0, 3.0], 2:2))
            fill!(HELD, 0)
            host = collect(from)
            for source in (from, to_device(host), view(to_device([host; host]), 1:length(host)))
                d, h = part(to_device(A)), part(copy(A))
                @test copyto!(d, source) === d
                copyto!(h, host)
                @test Array(whole(d)) == whole(h)
            end
            @test fill!(d, 3) === d
            fill!(h, 3)
            @test Array(whole(d)) == whole(h)
        end
    end
    fill!(HELD, 0)
    to = to_device(zeros(Float32, 2, 3))
    @test Array(copyto!(to, to_device(A))) == A
    @test Array(copyto!(to_device(zeros(2, 3)), to)) == A
    @test_throws BoundsError copyto!(view(to, :, 2), zeros(3))
    @test_throws BoundsError copyto!(view(to, 1, :), zeros(4))
    @test !any(pair -> first(pair).name in (:copyto!, :fill!, :collect, :Array, :reshape), Test.detect_ambiguities(Tessella))
end

function test_memory()
    fill!(HELD, 0)
    d = to_device(zeros(10))
    @test device_memory() == (held = 80, free = 920, total = 1000)
    free!(d)
    @test device_memory().held == 0
    free!(d)
    @test refusal(() -> Array(d)) == "E0711"
    @test repr("text/plain", d) == "10 DeviceArray{Float64} in the GPU's memory, freed"
    @test refusal(() -> to_device(zeros(126))) == "E0705"
    # So do calls: the bytes are in the words.
    words = "error[E0705]: not enough GPU memory\n  = note: the arrays take 4096 bytes of GPU memory\n"
    full = Tessella.memory_exception(words)
    @test full isa TessellaError && (full.codes, full.kind) == (["E0705"], :memory)
    @test occursin("4096 bytes", sprint(showerror, full))
    @test Tessella.memory_exception("no memory for intermediate arrays") isa OutOfMemoryError
    # What nobody uses any more makes room.
    for _ in 1:30
        to_device(zeros(60))
    end
    @test device_memory().held <= 1000
    GC.gc()
    @test_throws OverflowError DeviceArray{Float64,2}(Tessella.library(), (2^40, 2^40))
end

function test_arguments()
    d = to_device([1.0 2.0; 3.0 4.0])
    @test refusal(() -> scaled!(d, 2.0)) == "E0709"
    @test refusal(() -> scaled!(StandIn([1.0]), 2.0)) == "E0709"
    arguments = (d, 1.5, [1.0, 2.0], StandIn([1.0, 2.0, 3.0]), 2.0im)
    places = places_of(arguments)
    @test Tessella.type_names(arguments, places)[[1, 3, 4]] ==
          ["Array{Float64,2}", "Array{Float64,1}", "Array{Float64,1}"]
    words = entry_words(arguments, places)
    @test words[1] == UInt(device_pointer(d)) && words[2:3] == [2, 2]
    @test words[7] == UInt(pointer(arguments[4].host))
    @test device_flags(arguments, places, length(words) + 1) == [1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0]
    @test device_pointer([1.0]) === nothing
    # What lies otherwise is refused with a way out.
    for wrong in (transpose(d), view(d, 1:1, :), view(d, 1, :))
        failure = try
            sum_into!(similar([1.0 2.0]), wrong, [1.0 2.0])
        catch caught
            caught
        end
        @test failure isa TessellaError && failure.codes == ["E0773"]
        @test occursin("in the GPU's memory in no order", failure.text) && occursin("`to_device(transpose(Array(d)))`", failure.text)
    end
    @test string(Tessella.code_cuda(sum_into!, (typeof(d), typeof(d), Matrix{Float64}))) ==
          string(Tessella.code_cuda(sum_into!, (Matrix{Float64}, Matrix{Float64}, Matrix{Float64})))
end

# CUDA.jl's arrays, behind a package of its name that has what the extension uses.
function test_extension()
    mktempdir() do folder
        mkpath(joinpath(folder, "CUDA", "src"))
        write(joinpath(folder, "CUDA", "Project.toml"),
              "name = \"CUDA\"\nuuid = \"052768ef-5323-5732-b1bb-66c8b64840ba\"\nversion = \"5.0.0\"\n")
        write(joinpath(folder, "CUDA", "src", "CUDA.jl"), """
            __precompile__(false)
            module CUDA
            struct CuArray{T,N} <: AbstractArray{T,N}
                address::UInt
                extents::NTuple{N,Int}
                device::Int
            end
            Base.size(it::CuArray) = it.extents
            Base.getindex(it::CuArray{T}, i::Int...) where {T} = error("scalar indexing")::T
            Base.pointer(it::CuArray) = Ptr{Cvoid}(it.address)
            const SYNCHRONIZED = Ref(0)
            device_synchronize() = (SYNCHRONIZED[] += 1; nothing)
            device(it::CuArray) = it.device
            deviceid(device::Int) = device
            end
            """)
        pushfirst!(LOAD_PATH, folder)
        try
            space = Module(:Extension)
            Base.include(space, joinpath(@__DIR__, "..", "ext", "TessellaCUDAExt.jl"))
            Base.invokelatest(test_stand_in, space)
        finally
            popfirst!(LOAD_PATH)
        end
    end
end

function test_stand_in(space)
    CUDA = Core.eval(space, :(TessellaCUDAExt.CUDA))
    array = CUDA.CuArray{Float32,2}(0x1000, (2, 3), 0)
    @test device_pointer(array) == Ptr{Cvoid}(UInt(0x1000))
    @test CUDA.SYNCHRONIZED[] == 1
    words = entry_words((array,), places_of((array,)))
    @test words == [0x1000, 2, 3]
    @test device_flags((array,), places_of((array,)), 3) == [1, 0, 0]
    @test refusal(() -> scaled!(array, 2.0f0)) == "E0709"
    @test_throws ArgumentError device_pointer(CUDA.CuArray{Float32,1}(0x1000, (2,), 1))
end

function test_on_gpu()
    d = try
        to_device([1.0 2.0; 3.0 4.0])
    catch failure
        failure isa TessellaError && failure.kind === :tool_chain || rethrow()
        # What is missing has a code.
        @test !isempty(failure.codes)
        return println("device arrays on a GPU: skipped, ", first(split(failure.text, '\n')))
    end
    host = [10.0 20.0; 30.0 40.0]
    to = similar(d)
    @test sum_into!(to, d, host) === to
    @test Array(to) == [11.0 22.0; 33.0 44.0]
    result = zeros(2, 2)
    @test sum_into!(result, to, d) === result == [12.0 24.0; 36.0 48.0]
    @test doubled(d) == [2.0 4.0; 6.0 8.0]
    # A column of one array, and another array in a shape of its own.
    three = to_device(reshape(collect(1.0:12.0), 2, 6))
    @test sum_into!(to, view(three, :, 3:4), reshape(to_device([1.0, 2.0, 3.0, 4.0]), 2, 2)) === to
    @test Array(to) == [6.0 10.0; 8.0 12.0]
    @test refusal(() -> sum_into!(view(three, :, 1:2), view(three, :, 2:3), host)) == "E0771"
    gathered = to_device(zeros(3))
    gathered!(gathered, to_device([5.0, 6.0]), to_device([2, 1, 2]))
    @test Array(gathered) == [6.0, 5.0, 6.0]
    @test_throws BoundsError gathered!(gathered, to_device([5.0, 6.0]), to_device([2, 3, 2]))
    @test refusal(() -> sum_into!(d, d, host)) == "E0771"
    profile = Tessella.profile(sum_into!, to, d, host)
    @test profile.copied_in.bytes == 32 && profile.copied_out.bytes == 0
    before = device_memory().held
    free!(d)
    @test device_memory().held == before - 32
end

function run()
    with_host_memory(test_arrays)
    with_host_memory(test_parts_and_shapes)
    with_host_memory(test_copies)
    with_host_memory(test_memory)
    with_host_memory(test_arguments)
    test_extension()
    test_on_gpu()
end

end

# A picture of a matrix as a PNG file, with nothing but Base: indexed colours, stored (uncompressed) blocks.

"Writes `field` to `path`, cold to hot from dark violet to pale yellow; the first axis runs downwards."
function write_png(path::AbstractString, field::AbstractMatrix)
    low, high = extrema(field)
    span = high > low ? high - low : one(high)
    height, width = size(field)
    rows = UInt8[]
    sizehint!(rows, height * (width + 1))
    for i in 1:height
        push!(rows, 0x00)                # this row is stored as it is
        for j in 1:width
            push!(rows, round(UInt8, 255 * (field[i, j] - low) / span))
        end
    end
    header = [bytes(width); bytes(height); UInt8[8, 3, 0, 0, 0]]
    open(path, "w") do io
        write(io, UInt8[0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
        write_chunk(io, "IHDR", header)
        write_chunk(io, "PLTE", palette())
        write_chunk(io, "IDAT", stored(rows))
        write_chunk(io, "IEND", UInt8[])
    end
    return path
end

# 256 colours between a few that rise evenly in lightness.
function palette()
    stops = [(0, 0, 4), (31, 12, 72), (85, 15, 109), (136, 34, 106), (186, 54, 85), (227, 89, 51), (249, 140, 10),
             (249, 201, 50), (252, 255, 164)]
    colours = UInt8[]
    for index in 0:255
        place = index / 255 * (length(stops) - 1)
        at = min(floor(Int, place), length(stops) - 2)
        part = place - at
        for channel in 1:3
            push!(colours, round(UInt8, (1 - part) * stops[at+1][channel] + part * stops[at+2][channel]))
        end
    end
    return colours
end

function stored(data::Vector{UInt8})
    out = UInt8[0x78, 0x01]
    for start in 1:65535:length(data)
        block = data[start:min(start + 65534, end)]
        count = length(block) % UInt16
        push!(out, start + 65534 >= length(data) ? 0x01 : 0x00)
        append!(out, UInt8[count & 0xff, count >> 8, ~count & 0xff, ~count >> 8])
        append!(out, block)
    end
    return append!(out, bytes(adler32(data)))
end

function write_chunk(io::IO, kind::String, data::Vector{UInt8})
    body = [Vector{UInt8}(codeunits(kind)); data]
    write(io, bytes(length(data)), body, bytes(crc32(body)))
end

bytes(value::Integer) = UInt8[(value >> shift) & 0xff for shift in (24, 16, 8, 0)]

function adler32(data)
    a, b = UInt32(1), UInt32(0)
    for byte in data
        a = (a + byte) % UInt32(65521)
        b = (b + a) % UInt32(65521)
    end
    return b << 16 | a
end

function crc32(data)
    crc = 0xffffffff
    for byte in data
        crc ⊻= byte
        for _ in 1:8
            crc = crc & 1 == 1 ? crc >> 1 ⊻ 0xedb88320 : crc >> 1
        end
    end
    return ~crc
end

#! model tiles 4096
@tessella function half(x::Float64)
    return x / 2
end

# Functions that are called as the C library's own: compiled, they neither call those nor hide them.
module NameTests

using Test
using Tessella

# `step` is a function of C libraries, and a header declares others: the calls of one compiled function must reach itself.
const NAMES = (:step!, :advance, :sin, :read, :free, :malloc, :memcpy, :write, :main, :exit, :error, :index, :gamma, :conj,
               :cabs, :y0, :daemon, :int, :restrict)

for (number, name) in enumerate(NAMES)
    file = joinpath(mktempdir(), "named.jl")
    write(file, """
        using Tessella
        @tessella function $name(y, x)
            for i in 2:length(x)
                y[i] = sqrt(abs(x[i-1])) * $number
            end
            return y
        end
        """)
    place = Core.eval(@__MODULE__, :(module $(Symbol(:In_, number)) end))
    # The module's own function, not another method of Base's.
    Core.eval(place, Expr(:function, name))
    Base.include(place, file)
end

function run()
    @testset "$name" for (number, name) in enumerate(NAMES)
        place = getfield(@__MODULE__, Symbol(:In_, number))
        f = getfield(place, name)
        x = [4.0, 9.0, 16.0, 25.0]
        @test f(zeros(4), x) == number .* [0, 2, 3, 4]
        @test f(zeros(1), x[1:1]) == [0]
    end
end

end

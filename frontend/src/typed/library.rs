//! What Julia's libraries have and a transpiled function has not: each by its name, with what to write instead.

/// Functions and macros (`@` in front) of Base and of the standard libraries, and the way out.
const FUNCTIONS: [(&[&str], &str); 54] = [
    (&["rand", "randn", "rand!", "randn!", "randperm", "shuffle", "shuffle!"], RANDOM),
    (
        &["norm"],
        "write `sqrt(sum(abs2, x))`, `sum(abs, x)` for the norm of order 1, and `maximum(abs, x)` for that of order `Inf`",
    ),
    (&["falses", "trues"], "write `zeros(Bool, n)` or `fill(true, n)`"),
    (&["mod2pi"], "write `mod(x, 2pi)`, which rounds otherwise in the last place"),
    (&["widen"], "write the wider type, as `Int64(x)`"),
    (&["bitrotate"], "write both shifts, as `(x << 3) | (x >>> 29)` for a `UInt32`"),
    (&["normalize", "normalize!"], "divide by `sqrt(sum(abs2, x))`"),
    (&["cross"], "write the three components out"),
    (&["kron"], "write the loops over both matrices"),
    (&["tr"], "write `sum(A[i, i] for i in axes(A, 1); init = zero(eltype(A)))`"),
    (&["diag"], "write `[A[i, i] for i in axes(A, 1)]`"),
    (
        &[
            "inv!",
            "det",
            "logdet",
            "opnorm",
            "cond",
            "rank",
            "pinv",
            "eigvecs",
            "lu",
            "lu!",
            "qr",
            "qr!",
            "svd",
            "eigen",
            "eigvals",
            "cholesky",
            "cholesky!",
            "ldiv!",
        ],
        SOLVE,
    ),
    (&["fft", "ifft", "fft!", "ifft!", "rfft", "plan_fft"], "call it in Julia, between two transpiled functions"),
    (&["axpy!"], "write `y .+= a .* x`"),
    (&["axpby!"], "write `y .= a .* x .+ b .* y`"),
    (&["lmul!", "rmul!"], "write `x .*= a`"),
    (&["rdiv!"], "write `x ./= a`"),
    (&["reshape"], RESHAPE),
    (&["vcat", "hcat", "cat", "append!", "prepend!"], PUT_TOGETHER),
    (&["repeat"], "write a comprehension, as `[x[mod1(i, length(x))] for i in 1:2*length(x)]`"),
    (&["push!", "pop!", "pushfirst!", "popfirst!", "insert!", "deleteat!", "resize!", "empty!", "sizehint!"], GROWS),
    (&["filter", "filter!", "unique", "findall", "skipmissing"], LENGTH),
    (&["findfirst", "findlast", "findnext", "findprev"], "write a loop that returns where the condition holds"),
    (&["argmax", "argmin", "findmax", "findmin"], "write a loop that keeps the best element and its index"),
    (&["sort", "sort!", "sortperm", "sortperm!", "searchsorted", "partialsort", "partialsort!", "invperm"], IN_JULIA),
    (&["clamp!"], "write `x .= clamp.(x, low, high)`"),
    (&["circshift!"], "write `y .= circshift(x, n)`"),
    (&["reverse!"], "write `x .= reverse(x)`"),
    (
        &["tril", "triu", "tril!", "triu!"],
        "write the loops: `for j in axes(A, 2), i in 1:min(j, size(A, 1))` goes through the upper triangle",
    ),
    (&["rotl90", "rotr90", "rot180"], "write the loops over the elements, or `reverse` and `permutedims`"),
    (&["issymmetric", "ishermitian"], "write `all(A[i, j] == A[j, i] for j in axes(A, 2) for i in 1:j)`"),
    (&["dropdims"], "write `vec(...)` where a vector is left, or the loops"),
    (&["Matrix"], "write a comprehension: `[i == j ? 1.0 : 0.0 for i in 1:n, j in 1:n]` is the identity"),
    (&["foldr", "mapfoldr"], "write the loop, from the last element to the first"),
    (&["isqrt"], "convert the argument to `Int`: no other numbers have it"),
    (&["nextpow", "prevpow", "nextprod"], "compute it in the caller, and pass it as an `Int`"),
    (&["factorial", "binomial"], "write the loop over the factors, or a table: `(1, 1, 2, 6, 24)[n+1]`"),
    (&["ldexp"], "write `x * 2.0^n`"),
    (&["modf"], "write `x - trunc(x)` and `trunc(x)`"),
    (&["nextfloat", "prevfloat", "exponent", "significand", "frexp"], "call it in the caller, and pass the result"),
    (&["sinc"], "write `x == 0 ? one(x) : sinpi(x) / (pi * x)`"),
    (
        &["gamma", "loggamma", "erf", "erfc", "besselj", "besselj0", "besselj1"],
        "call it in the caller for all values that are needed, and pass them as an array",
    ),
    (&["median", "quantile", "std", "var", "cov", "cor"], "write it with `mean` and `sum`, or call it in Julia"),
    (&["broadcast", "broadcast!"], "write the dots: `f.(x, y)`"),
    (&["foreach"], "write the `for` loop"),
    (&["selectdim"], "write the colons out: `view(A, :, i)`"),
    (
        &["range", "LinRange"],
        "write `1:n` for integers, and for floats `[a + (i - 1) * h for i in 1:n]`, which rounds otherwise in the last place",
    ),
    (&["setindex!"], "write `A[i] = x`"),
    (&["getindex"], "write `A[i]`"),
    (&["swap!", "swapcols!"], "write `A[i], A[j] = A[j], A[i]`"),
    (&["time", "time_ns", "sleep", "open", "close", "read", "write", "readline", "flush"], "do it in the caller"),
    (&["getfield", "setfield!", "getproperty", "setproperty!"], "pass the values as arguments of the function"),
    (&["parse", "tryparse", "Symbol", "String", "join", "split", "sprint", "repr", "occursin"], TEXT),
    (&["Dict", "Set", "haskey", "get", "get!", "keys", "values", "Channel", "Ref"], "keep the values in arrays"),
];

const RANDOM: &str = "draw the numbers in the caller, and pass them as an array";
const SOLVE: &str = "call it in Julia, between two transpiled functions";
const RESHAPE: &str = "call it in the caller, and pass the result: both share their memory";
const PUT_TOGETHER: &str = "make an array of the whole length, and assign its parts: `z[1:m] .= x; z[m+1:end] .= y`";
const GROWS: &str = "an array keeps its length here: make it long enough, and count its elements in a variable";
const LENGTH: &str =
    "the length of the result depends on data: fill an array that is long enough, and count its elements";
const IN_JULIA: &str = "call it in Julia, and pass the result";
const TEXT: &str = "keep text out of the function";

/// What to write in place of a function that Julia has, and transpiled functions have not.
pub(super) fn instead_of(name: &str) -> Option<&'static str> {
    FUNCTIONS.iter().find(|(names, _)| names.contains(&name)).map(|(_, way_out)| *way_out)
}

/// What to write in place of a function of a module whose functions are not taken.
pub(super) fn instead_of_module(module: &str) -> Option<&'static str> {
    match module {
        "Iterators" | "Base.Iterators" => Some(
            "write the range, as `n:-1:1` for `Iterators.reverse(1:n)` and `k+1:n` for `Iterators.drop(1:n, k)`, and nested loops for \
             `Iterators.product`",
        ),
        "Random" => Some(RANDOM),
        _ => None,
    }
}

/// What to write in place of a macro.
pub(super) fn instead_of_macro(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or(name) {
        "threads" => {
            "leave it out, which it may stay in only where the loop has one iterator, no `break` or `return`, and no `@inbounds` around \
             it: loops that can run in parallel do"
        }
        "spawn" | "async" | "sync" | "distributed" | "floop" | "batch" => {
            "leave it out: loops that can run in parallel do, and `parallel(S, i)` in a `@schedule` asks for it"
        }
        "turbo" | "tturbo" | "avx" | "avxt" | "tullio" | "einsum" => {
            "leave it out: loops are vectorized where that keeps the results, `@simd` and `@fastmath` allow more"
        }
        "cuda" | "roc" | "parallel" | "kernel" | "index" => "leave it out, and write `@tessella target=:cuda`",
        "btime" | "benchmark" | "timev" | "elapsed" | "profile" => "measure in the caller",
        _ => {
            "the macros understood are `@comp`, `@inbounds`, `@simd`, `@fastmath`, `@views`, `@view`, `@.`, `@assert` and \
             `@evalpoly`"
        }
    }
}

/// What to write in place of a type that arguments cannot have.
pub(super) fn instead_of_type(name: &str) -> &'static str {
    match name.split('{').next().unwrap_or(name) {
        "String" | "AbstractString" | "Char" | "Symbol" | "SubString" => {
            "keep text out of the function: pass a number or a `Bool` that says which case is meant"
        }
        "Dict" | "Set" | "AbstractDict" | "IdDict" => "pass keys and values as arrays",
        "Function" => "call a function that is defined in the module by its name",
        "Tuple" | "NTuple" | "NamedTuple" => "pass each of its values as an argument of its own, or an array",
        "BigFloat" | "BigInt" | "Float16" | "Int128" | "UInt128" | "Rational" => {
            "use `Float64`, `Float32` or integers of at most 64 bits"
        }
        _ => {
            "write a number type (`Float64`, `Int`, `Real`), an array of numbers (`Vector{Float64}`, `AbstractMatrix`), or \
             leave the type out; of a structure, pass the fields that are needed"
        }
    }
}

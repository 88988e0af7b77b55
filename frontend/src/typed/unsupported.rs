//! Parts of Julia that a transpiled function cannot use yet: each has a name and a way out.

use crate::ast::GeneratorClause;

/// A construct of Julia that is understood, but not supported in a transpiled function yet.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Construct {
    /// `zeros(n)`, `similar(A)`, `[1, 2, 3]`: an array made inside the function.
    LocalArray,
    /// `A[:, j]`, `A[2:end]`, `view(A, ...)`.
    Slice,
    /// `A[indices]`.
    Gather,
    /// `A[A .> 0]`.
    Mask,
    /// `A .+ B`, `f.(x)`, `A .= 0`.
    Broadcast,
    /// `A + B`, `A * x`, `A'`.
    ArrayArithmetic,
    /// `sum(A)`, `maximum(A)`, `dot(x, y)`.
    Reduction,
    /// `[x; y]`, `[x y]`, `[x, y]` of arrays.
    Concatenation,
    /// Which versions of Julia widen differently.
    SmallTuple,
    /// `A[i]` of a matrix, `eachindex` of one.
    LinearIndex,
    /// `for x in A`, `enumerate`, `zip`, `CartesianIndices`.
    Iterator,
    /// `A, B = B, A`, `C = A`.
    ArrayVariable,
    While,
    Break,
    Continue,
    EarlyReturn,
    /// `return a, b`.
    /// `x = (y = 2) + 1`.
    NestedAssignment,
    /// `if` or a block used as a value, beyond one expression a branch.
    BlockValue,
    Comprehension,
    /// `[f(i) for i in 1:n if x[i] > 0]`.
    FilteredComprehension,
    Closure,
    Text,
    Symbol,
    Field,
    Splat,
    KeywordArgument,
    Global,
    FunctionValue,
    /// `::Type{T}`, `x...` and other parameters that are neither a number nor an array.
    Parameter,
    /// `print`, `@printf`, `@show` and their kin.
    Effect,
    /// `im`, `Complex(a, b)`, `real(z)`.
    Complex,
    /// `f(x) do y ... end`, quoted code and whatever else has no numbers in it.
    Other,
}

impl Construct {
    /// What the user wrote, with an article where English wants one.
    pub fn name(&self) -> &'static str {
        match self {
            Construct::LocalArray => "an array made inside the function",
            Construct::Slice => "a slice of an array",
            Construct::Gather => "an array as a subscript",
            Construct::Mask => "a mask as a subscript, other than in `x[mask] .= number`,",
            Construct::Broadcast => "broadcasting over an array",
            Construct::ArrayArithmetic => "arithmetic on whole arrays",
            Construct::Reduction => "a reduction over an array",
            Construct::Concatenation => "an array of arrays, or one that is put together of arrays,",
            Construct::SmallTuple => {
                "a sum or product of small integers in a tuple, which only some versions of Julia widen,"
            }
            Construct::LinearIndex => "linear indexing of an array of several dimensions",
            Construct::Iterator => "iterating over anything but a range",
            Construct::ArrayVariable => "a name that means one array or another, depending on a condition,",
            Construct::While => "`while`",
            Construct::Break => "`break`",
            Construct::Continue => "`continue`",
            Construct::EarlyReturn => "`return` before the end of the function",
            Construct::NestedAssignment => "an assignment inside an expression",
            Construct::BlockValue => "a block used as a value",
            Construct::Comprehension => "a comprehension or generator",
            Construct::FilteredComprehension => "a comprehension or generator with `if`, other than in a reduction,",
            Construct::Closure => "a function inside the function",
            Construct::Text => "a string or character",
            Construct::Symbol => "a symbol or quoted expression",
            Construct::Field => "a field or a qualified name",
            Construct::Splat => "splatting",
            Construct::KeywordArgument => "a keyword argument in this call",
            Construct::Global => "a global variable",
            Construct::FunctionValue => "a function used as a value",
            Construct::Parameter => "this kind of parameter",
            Construct::Effect => "printing",
            Construct::Complex => "a complex number",
            Construct::Other => "this construct",
        }
    }

    /// A comprehension or generator with these clauses.
    pub(super) fn of_comprehension(clauses: &[GeneratorClause]) -> Construct {
        match clauses.iter().any(|clause| matches!(clause, GeneratorClause::If(_))) {
            true => Construct::FilteredComprehension,
            false => Construct::Comprehension,
        }
    }

    /// What the user can write instead, phrased as an action.
    pub fn way_out(&self) -> &'static str {
        match self {
            Construct::LocalArray => "make it with `zeros`, `similar` or a comprehension, or pass it as an argument",
            Construct::Slice => "write a loop over the slice's subscripts",
            Construct::Gather => "write a loop over the subscripts, or `x[idx]` without a view",
            Construct::Mask => {
                "how many elements are meant depends on data: write a loop with `if`, `ifelse.(mask, x, 0)`, or `x[mask] .= 0` \
                 to store one number"
            }
            Construct::Broadcast => "write the loop over the elements",
            Construct::ArrayArithmetic => "write the loops over the elements",
            Construct::Reduction => "accumulate into a scalar in a loop",
            Construct::Concatenation => {
                "make an array of the whole size, and assign its parts: `z = zeros(m + n); z[1:m] .= x; z[m+1:end] .= y` for `[x; y]`"
            }
            Construct::SmallTuple => "write `sum(Int, t)`, or `reduce(+, t)` for a sum of their own type",
            Construct::LinearIndex => "give one subscript for each dimension",
            Construct::Iterator => "iterate over `axes(A, k)` or `1:n`, and subscript in the body",
            Construct::ArrayVariable => {
                "use fewer names: up to six orders of arrays are followed; or copy the elements of one array into another"
            }
            Construct::While => "use a `for` over a range",
            Construct::Break => "let the loop run to its end, and guard the statements with `if`",
            Construct::Continue => "put the rest of the loop body into an `if`",
            Construct::EarlyReturn => "put what follows into an `if`, or return only at the end",
            Construct::NestedAssignment => "make the assignment a statement of its own",
            Construct::BlockValue => "assign the variable in every branch",
            Construct::Comprehension => "write the loop, and store into an array that is passed in",
            Construct::FilteredComprehension => {
                "how many elements it has depends on data: reduce it at once, as `sum(f(i) for i in 1:n if c)`, without brackets; or fill \
                 an array that is long enough in a loop with `if`, and count its elements"
            }
            Construct::Closure => "write its body where it is used; a `do` block ends with its value, without `return`",
            Construct::Text => {
                "keep text out of the function: pass an integer or a `Bool` that says which case is meant"
            }
            Construct::Symbol => "keep this part in Julia, outside the function",
            Construct::Field => "pass the value as an argument of the function, and keep it in a variable",
            Construct::Splat => "write the arguments out",
            Construct::KeywordArgument => "use the form without keywords",
            Construct::Global => "pass the value as an argument, or declare it `const`",
            Construct::FunctionValue => "call the function where its value is needed",
            Construct::Parameter => "take numbers and arrays of numbers only",
            Construct::Effect => "print in the caller: store what is to be printed into an array, or return it",
            Construct::Complex => "keep real and imaginary parts in two arrays",
            Construct::Other => "keep this part in Julia, outside the function",
        }
    }
}

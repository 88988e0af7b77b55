//! The programs whose time loops stream.

pub(crate) const STAR: &str = "0.2f0 * (A[i, j] + A[i-1, j] + A[i+1, j] + A[i, j-1] + A[i, j+1])";

/// A function of matrices, of numbers of the element type, and of steps, with the body of its time loop.
pub(crate) fn function(arguments: &str, element: &str, body: &str, command: &str) -> String {
    let typed = arguments.split(' ').map(|name| format!("{name}::Matrix{{{element}}}")).collect::<Vec<_>>().join(", ");
    format!(
        "@tessella function f!({typed}, steps::Int)\n    m, n = size(A)\n    for t in 1:steps\n{body}    end\n    return nothing\nend\n\
         @schedule f! begin\n    {command}\nend\n"
    )
}

pub(crate) fn nest(rows: &str, columns: &str, statement: &str) -> String {
    format!("        for j in {columns}, i in {rows}\n            {statement}\n        end\n")
}

/// A time loop over two nests over arrays with three axes.
pub(crate) fn space(element: &str, bounds: &str, first: &str, second: &str) -> String {
    format!(
        "@tessella function f!(A::Array{{{element},3}}, B::Array{{{element},3}}, steps::Int)\n    l, m, n = size(A)\n    for t in 1:steps\n        \
         for {bounds}\n            @comp S B[i, j, k] = {first}\n        end\n        for {bounds}\n            A[i, j, k] = {second}\n        end\n    \
         end\n    return nothing\nend\n"
    )
}

/// A program with a command.
pub(crate) fn with(text: &str, command: &str) -> String {
    format!("{text}@schedule f! begin\n    {command}\nend\n")
}

/// Name, arguments, element type, body of the time loop.
pub(crate) fn programs() -> Vec<(&'static str, &'static str, &'static str, String)> {
    let inner = |statement: &str| nest("2:m-1", "2:n-1", statement);
    let deep = |statement: &str| nest("3:m-2", "3:n-2", statement);
    vec![
        (
            "a star and a copy",
            "A B",
            "Float32",
            inner(&format!("@comp S B[i, j] = {STAR}")) + &inner("A[i, j] = B[i, j]"),
        ),
        (
            "two sweeps a step",
            "A B",
            "Float64",
            inner(&format!("@comp S B[i, j] = {}", STAR.replace("0.2f0", "0.2")))
                + &inner("A[i, j] = 0.25 * (B[i, j+1] + B[i+1, j] + B[i-1, j] - B[i, j])"),
        ),
        (
            "a box of nine points",
            "A B",
            "Float32",
            inner(
                "@comp S B[i, j] = 0.1f0 * A[i-1, j-1] + A[i, j-1] - A[i+1, j-1] + 0.3f0 * A[i-1, j+1] + A[i+1, j+1] - A[i+1, j]",
            ) + &inner("A[i, j] = B[i, j]"),
        ),
        (
            "far to one side",
            "A B",
            "Float32",
            deep("@comp S B[i, j] = 0.5f0 * A[i-2, j] + 0.25f0 * A[i, j+2] - A[i-1, j+1]")
                + &deep("A[i, j] = 0.5f0 * B[i, j]"),
        ),
        (
            "a wave",
            "A P N",
            "Float64",
            inner(
                "@comp S N[i, j] = 2.0 * A[i, j] - P[i, j] + 0.1 * (A[i+1, j] + A[i-1, j] + A[i, j+1] + A[i, j-1] - 4.0 * A[i, j])",
            ) + &inner("P[i, j] = A[i, j]")
                + &inner("A[i, j] = N[i, j]"),
        ),
        (
            "coefficients and numbers of points",
            "A B C",
            "Float64",
            inner("@comp S B[i, j] = C[i, j] * A[i-1, j] + C[j, 1] * A[i, j+1] + i - 2j + 3t")
                + &nest("3:m-1", "2:n-2", "A[i, j] = B[i-1, j] + B[i, j+1] * C[i, 1]"),
        ),
        (
            "whole numbers",
            "A B",
            "Int32",
            inner(
                "@comp S B[i, j] = ifelse(A[i-1, j] + A[i+1, j] + A[i, j-1] + A[i, j+1] == Int32(2), Int32(1), A[i, j] ⊻ Int32(1))",
            ) + &inner("A[i, j] = B[i, j]"),
        ),
        (
            "written aside",
            "A B",
            "Float32",
            nest("1:m-2", "2:n-1", "@comp S B[i+1, j] = A[i, j-1] + A[i+2, j] - A[i+1, j+1]")
                + &inner("A[i, j] = B[i, j]"),
        ),
    ]
}

/// Name, time loop, and commands for programs over vectors and over arrays with three axes.
pub(crate) fn other_programs() -> Vec<(&'static str, String, [&'static str; 2])> {
    let line = |first: &str, second: &str| {
        format!(
            "@tessella function f!(A::Vector{{Float32}}, B::Vector{{Float32}}, steps::Int)\n    n = length(A)\n    for t in 1:steps\n        \
             for i in 3:n-2\n            @comp S B[i] = {first}\n        end\n        for i in 3:n-2\n            A[i] = {second}\n        end\n    \
             end\n    return nothing\nend\n"
        )
    };
    let inner = "k in 2:n-1, j in 2:m-1, i in 2:l-1";
    let star = "0.4f0 * A[i, j, k] + 0.1f0 * (A[i-1, j, k] + A[i+1, j, k] + A[i, j-1, k] + A[i, j+1, k] + A[i, j, k-1] + A[i, j, k+1])";
    let offsets = (-1..=1).flat_map(|z| (-1..=1).flat_map(move |y| (-1..=1).map(move |x| [x, y, z])));
    let cube = |array: &str| {
        let place = |name: &str, by: i64| match by {
            0 => name.to_string(),
            by if by < 0 => format!("{name}{by}"),
            by => format!("{name}+{by}"),
        };
        let terms = offsets.clone().enumerate().map(|(at, [x, y, z])| {
            format!("0.0{}f0 * {array}[{}, {}, {}]", at % 7 + 1, place("i", x), place("j", y), place("k", z))
        });
        terms.collect::<Vec<_>>().join(" + ")
    };
    let backwards = star.replace('A', "B").replace("f0", "");
    vec![
        (
            "three points of a line",
            line("0.3f0 * (A[i-1] + A[i] + A[i+1])", "B[i]"),
            ["stream(S, t, 4)", "stream(S, t, 11, 2)"],
        ),
        (
            "five points, there and back",
            line("0.2f0 * A[i-2] - A[i+1]", "0.5f0 * B[i-1] + B[i] + B[i+2] - 0.1f0 * i"),
            ["stream(S, t, 2)", "stream(S, t, 5, 8)"],
        ),
        (
            "seven points",
            space("Float32", inner, star, "B[i, j, k]"),
            ["stream(S, t, 1, 2, 5, 4, 1)", "stream(S, t, 2, 2)"],
        ),
        (
            "a cube",
            space("Float32", inner, &cube("A"), "B[i, j, k]"),
            ["stream(S, t, 1, 4, 0, 4)", "stream(S, t, 2, 1, 9, 7)"],
        ),
        (
            "two sweeps in space",
            space("Float64", inner, &star.replace("f0", ""), &backwards),
            ["stream(S, t, 1, 2, 6, 6)", "stream(S, t, 1, 1, 4, 9)"],
        ),
        (
            "askew, with numbers of points",
            space(
                "Float32",
                "k in 3:n-1, j in 2:m-3, i in 3:l",
                "A[i-2, j+3, k] + 0.5f0 * A[i, j-1, k+1] - A[i-1, j, k-2] + 2j - k",
                "B[i, j, k]",
            ),
            ["stream(S, t, 1, 2, 6, 9)", "stream(S, t, 2, 2, 7, 12)"],
        ),
    ]
}

/// Programs some of whose arrays are written by several nests, or change places after each step: name, arguments, element type, body
/// of the time loop, and kernels.
pub(crate) fn edges_and_levels() -> Vec<(&'static str, &'static str, &'static str, String)> {
    let inner = |statement: &str| nest("2:m-1", "2:n-1", statement);
    let along = |bounds: &str, statement: &str| format!("        for {bounds}\n            {statement}\n        end\n");
    let star = |array: &str| STAR.replace('A', array);
    let wave = "2.0 * A[i, j] - P[i, j] + 0.1 * (A[i+1, j] + A[i-1, j] + A[i, j+1] + A[i, j-1] - 4.0 * A[i, j])";
    vec![
        (
            "two that change places",
            "A B",
            "Float32",
            inner(&format!("@comp S B[i, j] = {STAR}")) + "        A, B = B, A\n",
        ),
        (
            "three that change places",
            "A P N",
            "Float64",
            inner(&format!("@comp S N[i, j] = {wave} + t")) + "        P, A, N = A, N, P\n",
        ),
        (
            "two that change places, with edges of their own",
            "A B",
            "Float32",
            inner(&format!("@comp S B[i, j] = {STAR}"))
                + &along("j in 1:n", "B[1, j] = B[2, j]")
                + &along("j in 1:n", "B[m, j] = B[m-1, j]")
                + "        A, B = B, A\n",
        ),
        (
            "edges that copy what lies beside them",
            "A B",
            "Float32",
            inner(&format!("@comp S B[i, j] = {STAR}"))
                + &along("j in 2:n-1", "B[1, j] = B[2, j]")
                + &along("j in 2:n-1", "B[m, j] = 0.5f0 * (B[m-1, j] + B[m-2, j])")
                + &along("i in 1:m", "B[i, 1] = B[i, 2]")
                + &along("i in 1:m", "B[i, n] = B[i, n-1] - 0.5f0 * B[i, n-2]")
                + &nest("1:m", "1:n", "A[i, j] = B[i, j]"),
        ),
        (
            "edges first, some of the step before",
            "A B",
            "Float64",
            along("j in 1:n", "B[1, j] = A[2, j] + t")
                + &along("i in 1:m", "B[i, n] = A[i, n-1]")
                + &along("i in 2:m-1", "B[i, 1] = 0.5 * A[i, 2]")
                + &nest("2:m", "2:n-1", "@comp S B[i, j] = 0.25 * (A[i-1, j] + A[i, j-1] + A[i, j+1]) - 0.1 * A[i, j]")
                + &nest("1:m", "1:n", "A[i, j] = B[i, j]"),
        ),
        (
            "two halves and a line between them",
            "A B",
            "Float32",
            nest("2:2", "2:n-1", "B[i, j] = A[i, j] - 1f0")
                + &nest("3:m-1", "2:n-1", &format!("@comp S B[i, j] = {STAR}"))
                + &along("i in 2:m-1", "B[i, 3] = B[i, 3] + 0.25f0 * i")
                + &inner("A[i, j] = B[i, j]"),
        ),
        (
            "a source in a point",
            "A B",
            "Float64",
            inner("@comp S B[i, j] = 0.25 * (A[i-1, j] + A[i+1, j] + A[i, j-1] + A[i, j+1])")
                + "        B[3, 4] = B[3, 4] + 0.5 * t\n"
                + &inner("A[i, j] = B[i, j]"),
        ),
        (
            "fields of a wave in place",
            "E F H",
            "Float64",
            along("j in 1:n", "E[1, j] = 0.1 * t")
                + &nest("2:m", "1:n", "@comp S E[i, j] = E[i, j] - 0.5 * (H[i, j] - H[i-1, j])")
                + &nest("1:m", "2:n", "F[i, j] = F[i, j] - 0.5 * (H[i, j] - H[i, j-1])")
                + &nest("1:m-1", "1:n-1", "H[i, j] = H[i, j] - 0.7 * (F[i, j+1] - F[i, j] + E[i+1, j] - E[i, j])"),
        ),
        (
            "read before it is revised",
            "A B C",
            "Float32",
            inner(&format!("@comp S B[i, j] = {STAR}"))
                + &inner("C[i, j] = B[i, j-1] + B[i+1, j] - B[i, j+1]")
                + &along("i in 2:m-1", "B[i, 3] = C[i, 4] + B[i, 2]")
                + &inner(&format!("A[i, j] = 0.5f0 * C[i, j] - {}", star("B"))),
        ),
    ]
}

/// What writes an array while others read it, in no order that rows can keep.
/// Time steps that write down what they compute, for nothing in the loop to read: arguments, body of the time loop, and extra arguments.
pub(crate) fn recorded() -> Vec<(&'static str, String)> {
    let inner = |statement: &str| nest("2:m-1", "2:n-1", statement);
    let star = || inner(&format!("@comp S B[i, j] = {STAR}"));
    let copy = || inner("A[i, j] = B[i, j]");
    let along = |range: &str, statement: &str| format!("        for {range}\n            {statement}\n        end\n");
    vec![
        ("a receiver in the middle", star() + &copy() + "        C[t, 1] = A[m ÷ 2, n ÷ 2]\n"),
        ("a row of receivers, before the step", along("i in 1:m", "C[i, t] = A[i, 4] + 0.5f0 * i") + &star() + &copy()),
        (
            "a column of receivers, where nothing is written too",
            star() + &copy() + &along("j in 1:n", "C[j, t] = A[1, j] + A[1, j] * t"),
        ),
        ("what is not handed on", star() + &along("j in 1:n", "C[j, t] = B[2, j]") + &copy()),
        (
            "two receivers of one array, and sums over time",
            star()
                + &copy()
                + "        C[1, t] = A[2, 3]\n        C[2, t] = A[m-1, n-1]\n        D[3, 3] += A[m-1, 2]\n"
                + &along("i in 3:m-2", "E[i, 1] += 0.25f0 * t * A[i, 3]"),
        ),
        (
            "every point of a step, each tenth in the rest",
            star() + &copy() + &nest("1:m", "1:n", "M[i, j, t] = A[i, j]"),
        ),
        ("that change places", star() + "        A, B = B, A\n" + &along("j in 2:n-1", "C[j, t] = A[2, j] - B[2, j]")),
        (
            "weights of a step, and one for all, added up over arrays that change places",
            star()
                + "        A, B = B, A\n        C[1, 2] += D[t, 1] * A[3, 3]\n"
                + &along("i in 2:m-1", "E[i, 2] = E[i, 2] + D[2, 2] * A[i, 4]"),
        ),
        (
            "of two fields, between their nests",
            inner("@comp S A[i, j] -= 0.5f0 * (B[i+1, j] - B[i, j])")
                + &along("i in 2:m-1", "C[i, t] = A[i, 3] * B[i, 3]")
                + &inner("B[i, j] += 0.25f0 * (A[i, j] - A[i-1, j] + A[i, j] - A[i, j-1])"),
        ),
        (
            "after edges",
            star()
                + &copy()
                + &along("j in 1:n", "A[1, j] = A[2, j]")
                + &along("i in 1:m", "A[i, n] = 0.5f0")
                + &along("j in 1:n", "C[j, t] = A[1, j]")
                + &nest("1:2", "1:n", "M[i, j, t] = A[i, j]"),
        ),
    ]
}

pub(crate) fn recording(body: &str, command: &str) -> String {
    function("A B C D E", "Float32", body, command).replace("steps::Int)", "M::Array{Float32,3}, steps::Int)")
}

/// Arrays whose last axis holds levels of time: name, arguments, first step, body of the time loop, commands.
pub(crate) fn levels() -> Vec<(&'static str, &'static str, &'static str, String, [&'static str; 3])> {
    let inner = |statement: &str| nest("2:m-1", "2:n-1", statement);
    let star = |array: &str, level: &str| {
        let places = ["i, j", "i-1, j", "i+1, j", "i, j-1", "i, j+1"].map(|at| format!("{array}[{at}, {level}]"));
        format!("0.2f0 * ({})", places.join(" + "))
    };
    let planes = ["stream(S, t, 1, 2, 8)", "stream(S, t, 3, 4)", "grid_sync(S, t, 2, 2, 20, 2)"];
    vec![
        (
            "two levels",
            "A::Array{Float32,3}",
            "0",
            inner(&format!("@comp S A[i, j, (t+1)%2+1] = {}", star("A", "t%2+1"))),
            planes,
        ),
        (
            "three levels of a wave, of which two change before the loop ends",
            "A::Array{Float32,3}",
            "3",
            inner(&format!(
                "@comp S A[i, j, t%3+1] = 2f0 * A[i, j, (t+2)%3+1] - A[i, j, (t+1)%3+1] + {}",
                star("A", "(t+2)%3+1")
            )),
            ["stream(S, t, 1, 4, 8)", "stream(S, t, 2, 8)", "grid_sync(S, t, 1, 2, 14, 2)"],
        ),
        (
            "levels beside other arrays, edges, and a receiver",
            "A::Array{Float32,3}, B::Matrix{Float32}, C::Matrix{Float32}, D::Matrix{Float32}",
            "1",
            inner(&format!("@comp S B[i, j] = {} - 0.1f0 * t * C[i, j]", star("A", "t%2+1")))
                + &inner("A[i, j, (t+1)%2+1] = B[i, j] - B[i-1, j]")
                + "        for j in 1:n\n            A[1, j, (t+1)%2+1] = A[2, j, (t+1)%2+1]\n        end\n"
                + "        D[t+1, 2] = A[3, 3, (t+1)%2+1] + A[3, 3, (t+1)%2+1]\n",
            ["stream(S, t, 1, 4, 8)", "stream(S, t, 2, 4)", "grid_sync(S, t, 1, 2, 14, 2)"],
        ),
        (
            "four levels of which a call has all",
            "A::Array{Float32,3}",
            "1",
            "        @assert size(A, 3) >= 4\n".to_string()
                + &inner("@comp S A[i, j, t%4+1] = A[i-1, j, (t-1)%4+1] - 0.5f0 * A[i, j+1, (t-1)%4+1]"),
            ["stream(S, t, 1, 4, 8)", "stream(S, t, 1, 8)", "grid_sync(S, t, 1, 2, 20, 2)"],
        ),
        (
            "levels of a line",
            "A::Matrix{Float32}",
            "0",
            "        for i in 2:m-1\n            @comp S A[i, mod(t+1, 2)+1] = A[i-1, mod(t, 2)+1] - 0.5f0 * A[i+1, mod(t, 2)+1]\n        end\n"
                .to_string(),
            ["stream(S, t, 2)", "stream(S, t, 5, 8)", "grid_sync(S, t, 2, 2, 20, 2)"],
        ),
        (
            "levels in space",
            "A::Array{Float32,4}",
            "0",
            "        for k in 2:size(A,3)-1, j in 2:n-1, i in 2:m-1\n            @comp S A[i, j, k, 2-t%2] = A[i-1, j, k, t%2+1] + 0.5f0 * A[i, j+1, k, t%2+1] - \
             A[i, j, k-1, t%2+1] * k + A[i, j-1, k+1, t%2+1]\n        end\n"
                .to_string(),
            ["stream(S, t, 1, 2, 6, 6)", "stream(S, t, 1, 1, 4, 9)", "grid_sync(S, t, 1, 2, 20, 8, 12)"],
        ),
    ]
}

pub(crate) fn on_levels(arguments: &str, first: &str, body: &str, command: &str) -> String {
    let (asserted, body) = match body.strip_prefix("        @assert size(A, 3) >= 4\n") {
        Some(rest) => ("    @assert size(A, 3) >= 4\n", rest),
        None => ("", body),
    };
    format!(
        "@tessella function f!({arguments}, steps::Int)\n    m, n = size(A, 1), size(A, 2)\n{asserted}    for t in {first}:steps\n{body}    \
         end\n    return nothing\nend\n@schedule f! begin\n    {command}\nend\n"
    )
}

# The exact text that the user wrote, so that diagnostics show their own lines.

struct SourceText
    text::String
    file::String
    line::Int
end

# The text of `expression`, the last argument of a call of the macro `name` at `place`: cut out of the file if the file
# says the same, else printed. Everything before it on its line becomes blanks, so that columns stay true.
function source_text(name::String, expression, place::LineNumberNode)
    found = cut_out(name, expression, place)
    found === nothing || return found
    return SourceText(printed(without_lines(expression)), file_name(place), max(place.line, 1))
end

# The expression as text. Julia prints `c ? a : b` as an `if` and `.-x` as `(.-)(x)`: these stand as they are written.
printed(literal::Union{Number,AbstractString,AbstractChar}) = sprint(show, literal)

function printed(expression)
    parts = Pair{String,String}[]
    text = string(with_names(expression, parts))
    # Those outside stand first.
    for (name, part) in reverse(parts)
        text = replace(text, name => part)
    end
    return text
end

with_names(other, parts) = other

function with_names(expression::Expr, parts)
    arguments = expression.args
    part = nothing
    if expression.head === :if && length(arguments) == 3 && !any(is_of_statements, arguments[2:3])
        condition, yes, no = map(printed, arguments)
        part = "(($condition) ? ($yes) : ($no))"
    elseif expression.head === :call && length(arguments) == 2 && is_dotted_sign(first(arguments))
        part = "($(first(arguments))($(printed(last(arguments)))))"
    end
    part === nothing && return Expr(expression.head, Any[with_names(argument, parts) for argument in arguments]...)
    name = "tessella_part_$(length(parts) + 1)_"
    push!(parts, name => part)
    return Symbol(name)
end

# The branches of an `if` of several lines; those of `c ? a : b` are expressions.
is_of_statements(expression) = expression isa Expr && expression.head in (:block, :elseif)
is_dotted_sign(name) = name in (Symbol(".-"), Symbol(".+"), Symbol(".!"), Symbol(".~"))

function cut_out(name::String, expression, place::LineNumberNode)
    text = file_text(place)
    text === nothing && return nothing
    line_start = nth_line(text, place.line)
    line_start === nothing && return nothing
    line_end = something(findnext('\n', text, line_start), lastindex(text))
    call = findnext(name, text, line_start)
    while call !== nothing && first(call) <= line_end
        range = find_expression(text, nextind(text, last(call)), expression)
        if range !== nothing
            before = blank(text[line_start:prevind(text, first(range))])
            return SourceText(before * text[range], file_name(place), place.line)
        end
        call = findnext(name, text, nextind(text, last(call)))
    end
    return nothing
end

# Where, at or after `from`, the text reads as `expression`: tried wherever an argument of the macro can begin.
function find_expression(text::String, from::Int, expression)
    wanted = without_lines(expression)
    limit = argument_limit(text, from)
    at = from
    previous = ' '
    tries = 0
    while at <= limit && tries < 64
        here = text[at]
        if !isspace(here) && here != '(' && (isspace(previous) || previous in "(,")
            tries += 1
            stop = expression_end(text, at, limit, wanted)
            stop === nothing || return at:stop
        end
        previous = here
        at = nextind(text, at)
    end
    return nothing
end

# The last place that an argument of the macro can reach: before the closing parenthesis if there are parentheses.
function argument_limit(text::String, from::Int)
    if from <= lastindex(text) && text[from] == '('
        closing = findprev(')', text, prevind(text, last(parse_at(text, from))))
        closing !== nothing && closing > from && return prevind(text, closing)
    end
    return lastindex(text)
end

# Where the expression ends that begins at `at`, if it is the wanted one. The parser may read on over blanks and
# comments, and over `;` to what follows: of the places where it may end, the first at which the text reads the same.
function expression_end(text::String, at::Int, limit::Int, wanted)
    source = text[at:limit]
    parsed, next = parse_at(source, 1)
    parsed = without_lines(parsed)
    several = parsed isa Expr && parsed.head === :toplevel
    same(several ? first(parsed.args) : parsed, wanted) || return nothing
    stop = prevind(source, min(next, ncodeunits(source) + 1))
    if several
        separator = findfirst(';', source)
        while separator !== nothing && !reads_as(source, prevind(source, separator), wanted)
            separator = findnext(';', source, separator + 1)
        end
        separator === nothing && return nothing
        stop = prevind(source, separator)
    end
    while true
        stop = something(findprev(!isspace, source, stop), 1)
        line = something(findprev('\n', source, stop), 0)
        comment = findnext('#', source, line + 1)
        (comment === nothing || comment > stop || comment == 1) && break
        reads_as(source, prevind(source, comment), wanted) || break
        stop = prevind(source, comment)
    end
    return at + stop - 1
end

reads_as(source::String, stop::Int, wanted) = same(without_lines(first(parse_at(source[1:stop], 1))), wanted)

# What the text says from a place on, and where it goes on after that.
function parse_at(text::String, at::Int)
    try
        return Meta.parse(text, at; greedy = true, raise = false)
    catch
        return nothing, at
    end
end

function file_text(place::LineNumberNode)
    place.file === nothing && return nothing
    path = String(place.file)
    try
        isfile(path) || return nothing
        text = read(path, String)
        return isvalid(text) ? text : nothing
    catch
        return nothing
    end
end

function nth_line(text::String, line::Int)
    line >= 1 || return nothing
    at = firstindex(text)
    for _ in 2:line
        newline = findnext('\n', text, at)
        newline === nothing && return nothing
        at = newline + 1
        at <= lastindex(text) || return nothing
    end
    return at
end

# As diagnostics show it: relative where it lies below the current folder.
function file_name(place::LineNumberNode)
    place.file === nothing && return "julia"
    name = String(place.file)
    folder = joinpath(pwd(), "")
    return startswith(name, folder) ? name[nextind(name, lastindex(folder)):end] : name
end

blank(text::AbstractString) = map(c -> c == '\n' ? '\n' : ' ', text)

without_lines(other) = other
without_lines(::LineNumberNode) = nothing

function without_lines(expression::Expr)
    if expression.head === :macrocall
        arguments = Any[without_lines(argument) for argument in expression.args]
    else
        arguments = Any[without_lines(argument) for argument in expression.args if !(argument isa LineNumberNode)]
    end
    return Expr(expression.head, arguments...)
end

same(a, b) = typeof(a) === typeof(b) && isequal(a, b)
same(a::QuoteNode, b::QuoteNode) = same(a.value, b.value)

function same(a::Expr, b::Expr)
    return a.head === b.head && length(a.args) == length(b.args) && all(same(x, y) for (x, y) in zip(a.args, b.args))
end

# The commands inside `begin ... end`, as a schedule file has them.
function inside_block(source::SourceText)
    opening = findfirst("begin", source.text)
    closing = findlast("end", source.text)
    (opening === nothing || closing === nothing || last(opening) >= first(closing)) && return source
    text = source.text
    before = text[1:last(opening)]
    inner = text[nextind(text, last(opening)):prevind(text, first(closing))]
    return SourceText(rstrip(blank(before) * inner) * "\n", source.file, source.line)
end

# Trees of Julia's own parser in the form that src/sexpr describes, to compare with those of the front end.

dropped(x) = x isa LineNumberNode || x === nothing

function form(x)
    x isa Expr && return form(x.head, x.args)
    x isa QuoteNode && return "(quote $(form(x.value)))"
    x isa GlobalRef && return string(x.name)
    x isa Float64 && return "f64:" * string(reinterpret(UInt64, x), base = 16, pad = 16)
    x isa Float32 && return "f32:" * string(reinterpret(UInt32, x), base = 16, pad = 8)
    x isa String && return "\"$(bytes(x))\""
    x isa Char && return "'$(bytes(string(x)))'"
    return string(x isa Unsigned ? repr(x) : x)
end

# Text as its bytes, those beyond printable ASCII in hexadecimal.
function bytes(text)
    out = IOBuffer()
    for byte in codeunits(text)
        plain = 0x20 <= byte < 0x7f && !(byte in codeunits("\"'\\()"))
        plain ? write(out, byte) : print(out, "\\x", string(byte, base = 16, pad = 2))
    end
    return String(take!(out))
end

list(head, parts) = "(" * join([string(head); parts], " ") * ")"
forms(args) = [form(a) for a in args]
block(args) = list(:block, forms(filter(!dropped, args)))
asblock(x) = x isa Expr && x.head === :block ? form(x) : list(:block, [form(x)])
astuple(x) = x isa Expr && x.head === :tuple ? form(x) : list(:tuple, [form(x)])

# The macro's name as `@M.m`.
macroname(x) = x isa Expr && x.head === :. ?
    "@" * join([modulename(x.args[1]), lstrip(string(x.args[2].value), '@')], ".") :
    x isa GlobalRef ? string(x.name) : string(x)
modulename(x) = x isa Expr && x.head === :$ ? "\$" * string(x.args[1]) : x isa Expr ? modulename(x.args[1]) * "." * string(x.args[2].value) : string(x)

# `f(x) where T where S` as one list.
function signature(x)
    params = []
    while x isa Expr && x.head === :where
        params = [x.args[2:end]; params]
        x = x.args[1]
    end
    # The one parameter of `function (xs...)` is a list of parameters, too.
    written = x isa Expr && x.head === :... ? list(:tuple, [form(x)]) : form(x)
    isempty(params) ? written : list(:where, [written; forms(params)])
end

iscall(x) = x isa Expr && (x.head === :call || (x.head in (:where, :(::)) && iscall(x.args[1])))

function form(head::Symbol, args)
    head === :block && return block(args)
    head === :macrocall && return list(head, [macroname(args[1]); forms(filter(!dropped, args[2:end]))])
    head === :elseif && args[1] isa Expr && args[1].head === :block &&
        return list(head, [form(filter(!dropped, args[1].args)[1]); forms(args[2:end])])
    head in (:for, :let) && return list(head, [asblock(args[1]), form(args[2])])
    head === :-> && return list(head, [astuple(args[1]), asblock(args[2])])
    head === :(=) && iscall(args[1]) && return list(head, [signature(args[1]), asblock(args[2])])
    head === :function && return list(head, [signature(args[1]); forms(args[2:end])])
    head === :return && args[1] === nothing && return "(return nothing)"
    return list(head, forms(args))
end

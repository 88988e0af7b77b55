//! Words that the namer knows.

#[rustfmt::skip]
pub const GREEK: &[(char, &str)] = &[
    ('α', "alpha"), ('β', "beta"), ('γ', "gamma"), ('δ', "delta"), ('ε', "epsilon"), ('ϵ', "epsilon"),
    ('ζ', "zeta"), ('η', "eta"), ('θ', "theta"), ('ϑ', "theta"), ('ι', "iota"), ('κ', "kappa"), ('λ', "lambda"),
    ('μ', "mu"), ('µ', "mu"), ('ν', "nu"), ('ξ', "xi"), ('ο', "omicron"), ('π', "pi"), ('ρ', "rho"), ('ς', "sigma"),
    ('σ', "sigma"), ('τ', "tau"), ('υ', "upsilon"), ('φ', "phi"), ('ϕ', "phi"), ('χ', "chi"), ('ψ', "psi"),
    ('ω', "omega"), ('Α', "Alpha"), ('Β', "Beta"), ('Γ', "Gamma"), ('Δ', "Delta"), ('Ε', "Epsilon"), ('Ζ', "Zeta"),
    ('Η', "Eta"), ('Θ', "Theta"), ('Ι', "Iota"), ('Κ', "Kappa"), ('Λ', "Lambda"), ('Μ', "Mu"), ('Ν', "Nu"),
    ('Ξ', "Xi"), ('Ο', "Omicron"), ('Π', "Pi"), ('Ρ', "Rho"), ('Σ', "Sigma"), ('Τ', "Tau"), ('Υ', "Upsilon"),
    ('Φ', "Phi"), ('Χ', "Chi"), ('Ψ', "Psi"), ('Ω', "Omega"), ('∂', "d"), ('∇', "nabla"), ('ħ', "hbar"),
    ('ℓ', "ell"), ('∑', "sum"),
];

/// Keywords of C and C++, types, macros, the functions that generated code may call, and CUDA's own names; sorted.
///
/// Bessel functions (`j0`, `j1`, `y0`, ...) are left out on purpose: generated code never calls them, and they are the
/// natural names of split loops.
#[rustfmt::skip]
pub const RESERVED: &[&str] = &[
    "EOF", "I", "INFINITY", "NAN", "NULL", "acos", "acosf", "alignas", "alignof", "and", "asin", "asinf", "asm",
    "atan", "atan2", "atan2f", "atanf", "auto", "blockDim", "blockIdx", "bool", "break", "case", "catch", "cbrt",
    "cbrtf", "ceil", "ceilf", "char", "class", "complex", "const", "constexpr", "continue", "copysign", "copysignf",
    "cos", "cosf", "cosh", "coshf", "decltype", "default", "delete", "dim3", "do", "double", "else", "enum",
    "errno", "exp", "exp2", "exp2f", "expf", "explicit", "expm1", "expm1f", "export", "extern", "fabs", "fabsf",
    "false", "float", "floor", "floordiv", "floorf", "fma", "fmaf", "fmod", "fmodf", "for", "free", "friend",
    "goto", "gridDim", "hypot", "hypotf", "if", "imax", "imin", "inline", "int", "isnan", "linux", "log", "log10",
    "log10f", "log1p", "log1pf", "log2", "log2f", "logf", "long", "main", "malloc", "memcpy", "mutable",
    "namespace", "new", "noexcept", "not", "nullptr", "operator", "or", "pow", "powf", "private", "protected",
    "public", "register", "restrict", "return", "rint", "rintf", "short", "signbit", "signed", "sin", "sinf",
    "sinh", "sinhf", "sizeof", "sqrt", "sqrtf", "static", "struct", "switch", "tan", "tanf", "tanh", "tanhf",
    "template", "this", "threadIdx", "throw", "true", "trunc", "truncf", "try", "typedef", "typeid", "typename",
    "typeof", "union", "unix", "unsigned", "using", "virtual", "void", "volatile", "warpSize", "while", "xor",
];

/// Further functions of the C library that a program's symbol must not hide; sorted.
#[rustfmt::skip]
pub const LIBRARY: &[&str] = &[
    "abort", "abs", "accept", "access", "acosh", "asinh", "assert", "atanh", "atof", "atoi", "bind", "bsearch",
    "calloc", "chdir", "clock", "close", "connect", "ctime", "div", "drem", "dup", "erf", "erfc", "exit", "fclose",
    "fdim", "fflush", "ffs", "fmax", "fmin", "fopen", "fork", "fprintf", "fputs", "fread", "frexp", "fscanf",
    "fseek", "fwrite", "gamma", "getc", "getenv", "getpid", "gets", "ilogb", "index", "isalpha", "isinf", "j0",
    "j1", "jn", "kill", "labs", "ldexp", "ldiv", "lgamma", "link", "listen", "llabs", "llrint", "llround", "logb",
    "lrint", "lround", "lseek", "memchr", "memcmp", "memmove", "memset", "mmap", "modf", "nan", "nearbyint",
    "nextafter", "open", "pause", "perror", "pipe", "printf", "putc", "puts", "qsort", "raise", "rand", "random",
    "read", "realloc", "remainder", "remove", "rename", "rewind", "rindex", "round", "roundf", "scalb", "scanf",
    "select", "send", "setjmp", "shutdown", "signal", "significand", "sleep", "snprintf", "socket", "sprintf",
    "srand", "stat", "strcat", "strchr", "strcmp", "strcpy", "strlen", "sync", "system", "tgamma", "time", "times",
    "truncate", "umask", "unlink", "wait", "write", "y0", "y1", "yn",
];

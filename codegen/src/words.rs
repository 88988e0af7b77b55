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
    "abort", "abs", "accept", "accept4", "access", "acct", "acosh", "advance", "alarm", "asctime", "asinh", "assert",
    "atanh", "atof", "atoi", "atol", "basename", "bcmp", "bcopy", "bdflush", "bind", "brk", "bsearch", "bzero",
    "cabs", "calloc", "canonicalize", "carg", "catan", "ccos", "cexp", "chdir", "chmod", "chown", "chroot", "cimag",
    "clock", "clog", "clone", "close", "conj", "connect", "cpow", "cproj", "creal", "creat", "csin", "csqrt", "ctan",
    "ctime", "daemon", "difftime", "dirname", "div", "dlclose", "dlopen", "dlsym", "dprintf", "drand48", "drem",
    "dup", "environ", "erand48", "erf", "erfc", "err", "error", "errx", "execl", "execv", "exit", "exp10", "fadd",
    "fclose", "fcntl", "fdim", "fdimf", "fdiv", "feof", "ferror", "fflush", "ffs", "fgetc", "fgetpos", "fgets",
    "finite", "fmax", "fmaxf", "fmin", "fminf", "fmul", "fopen", "fork", "fprintf", "fputc", "fputs", "fread",
    "freopen", "frexp", "fromfp", "fscanf", "fseek", "fsetpos", "fsqrt", "fstat", "fsub", "ftell", "ftw", "fwrite",
    "gamma", "getc", "getenv", "getline", "getopt", "getpass", "getpid", "gets", "getuid", "glob", "gmtime",
    "gsignal", "hcreate", "herror", "hsearch", "hstrerror", "ilogb", "index", "insque", "ioctl", "isalpha", "isatty",
    "isdigit", "isinf", "isspace", "j0", "j1", "jn", "jrand48", "kill", "labs", "lcong48", "ldexp", "ldiv", "lfind",
    "lgamma", "link", "listen", "llabs", "llogb", "llrint", "llround", "loc1", "loc2", "localtime", "lockf", "locs",
    "logb", "login", "longjmp", "lrand48", "lrint", "lround", "lsearch", "lseek", "lstat", "mblen", "mbstowcs",
    "mbtowc", "mcheck", "memchr", "memcmp", "memmove", "memset", "mkdir", "mktime", "mlock", "mmap", "modf", "mount",
    "mprotect", "mrand48", "mremap", "msync", "mtrace", "munmap", "nan", "nanosleep", "nearbyint", "nextafter",
    "nextdown", "nextup", "nice", "nrand48", "open", "open64", "optarg", "pause", "perror", "pipe", "poll", "popen",
    "pow10", "pread", "printf", "profil", "pselect", "psignal", "ptrace", "putc", "putenv", "puts", "pwrite", "qsort",
    "raise", "rand", "random", "read", "readv", "realloc", "reboot", "recv", "regcomp", "regexec", "remainder",
    "remove", "remque", "remquo", "rename", "rewind", "rindex", "rmdir", "round", "roundeven", "roundf", "sbrk",
    "scalb", "scalbln", "scalbn", "scanf", "seekdir", "select", "send", "setbuf", "setenv", "setjmp", "setpayload",
    "setuid", "setvbuf", "shutdown", "signal", "signgam", "significand", "sigpause", "sincos", "sleep", "snprintf",
    "socket", "splice", "sprintf", "srand", "srand48", "stat", "statfs", "stderr", "stdin", "stdout", "step",
    "strcat", "strchr", "strcmp", "strcoll", "strcpy", "strcspn", "strdup", "strftime", "strlen", "strpbrk", "strsep",
    "strspn", "strstr", "strtod", "strtok", "strtol", "strxfrm", "swab", "symlink", "sync", "syscall", "sysinfo",
    "syslog", "system", "tdelete", "tee", "tfind", "tgamma", "time", "times", "tmpfile", "tmpnam", "tolower",
    "totalorder", "toupper", "truncate", "tsearch", "twalk", "ualarm", "umask", "uname", "ungetc", "unlink",
    "unsetenv", "usleep", "utime", "verr", "vfork", "vprintf", "vwarn", "wait", "warn", "warnx", "wcslen", "wcstombs",
    "wctomb", "write", "writev", "y0", "y1", "yn",
];

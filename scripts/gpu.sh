# Runs the examples on an NVIDIA GPU, and makes the bundle. Sourced by ./x.
#
# With Rust there, ./x gpu builds what it runs. A machine that has neither Rust nor a network gets a bundle instead,
# made elsewhere by ./x bundle and carried along with the sources: the stripped binaries, and Julia as one archive.

BUNDLE=$ROOT/.gpu-bundle
BUNDLE_LIMIT_MIB=64
PREBUILT=$TARGET/polybench-prebuilt

gpu() {
    PATH=$PATH:/usr/local/cuda/bin:/usr/local/nvidia/bin
    local devices
    if ! devices=$(nvidia-smi -L 2>/dev/null) || [ ! "$devices" ]; then
        say "no NVIDIA GPU here (nvidia-smi lists none): nothing was run"
        exit 3
    fi
    echo "$devices"
    if [ "${1:-}" = --peers ]; then
        shift
        python3 tests/gpu/peers.py "$@"
        return
    fi

    if command -v cargo >/dev/null; then
        setup
        build
        export TESSELLA_LIBRARY=$TARGET/release/libtessella.so
        export TESSELLA_CUDA_LIBRARY=$TARGET/release/libtessella_cuda.so
        PATH=$TARGET/release:$PATH
    elif [ -e "$BUNDLE/libraries.tar.xz" ]; then
        use_bundle
        export TESSELLA_NVRTC=${TESSELLA_NVRTC:-$(find_nvrtc)}
        [ "$TESSELLA_NVRTC" ] || die "missing: NVRTC (libnvrtc.so of CUDA 12 or newer)
    Looked in the CUDA toolkit (CUDA_HOME, /usr/local/cuda, /opt/cuda) and among python3's packages. Set TESSELLA_NVRTC."
    else
        die "missing: cargo, or .gpu-bundle/ in its place
    Run ./x bundle on a machine with Rust, and bring the folder .gpu-bundle/ here with the sources."
    fi
    say "NVRTC: $TESSELLA_NVRTC"
    julia --project=julia-pkg tests/gpu/run.jl "$@"
}

# Julia and Tessella from the bundle, unpacked outside the checkout, which may be read-only or sent anew for every
# command.
use_bundle() {
    BUNDLED=${TMPDIR:-/tmp}/tessella-bundle-$(id -u)
    mkdir -p "$BUNDLED"
    tar -C "$BUNDLED" -xJf "$BUNDLE/libraries.tar.xz"
    PATH=$BUNDLED:$PATH
    unpack_bundled_julia
    export TESSELLA_LIBRARY=$BUNDLED/libtessella.so
    export TESSELLA_CUDA_LIBRARY=$BUNDLED/libtessella_cuda.so
}

# Collects what a bare machine needs: for ./x gpu and, with --polybench, for ./x bench polybench.
bundle() {
    local with=${1:-}
    [ -z "$with" ] || [ "$with" = --polybench ] || die "./x bundle knows no option but --polybench, not $with"
    local archives=("$ROOT"/../shared/julia/julia-*.tar.xz) file
    rm -rf "$BUNDLE" "$BUNDLE.part"
    mkdir -p "$BUNDLE.part"
    mkdir "$BUNDLE.part/libraries"
    for file in libtessella.so libtessella_cuda.so tessella; do
        strip -o "$BUNDLE.part/libraries/$file" "$TARGET/release/$file"
    done
    XZ_OPT=-9e tar -C "$BUNDLE.part/libraries" -cJf "$BUNDLE.part/libraries.tar.xz" .
    rm -r "$BUNDLE.part/libraries"
    if [ -e "${archives[0]}" ]; then
        cp "${archives[0]}" "$BUNDLE.part/julia.tar.xz"
        chmod u+w "$BUNDLE.part/julia.tar.xz"
    elif [ -d "$TOOLS/julia" ]; then
        say "packing .tools/julia"
        tar -C "$TOOLS/julia" -cJf "$BUNDLE.part/julia.tar.xz" .
    else
        say "no Julia archive to bundle: the GPU machine needs its own 'julia'"
    fi
    if [ "$with" = --polybench ]; then
        prebuild_polybench
        [ ! -d "$PREBUILT" ] || cp -r "$PREBUILT" "$BUNDLE.part/polybench"
    fi
    mv "$BUNDLE.part" "$BUNDLE"
    local kib tree
    kib=$(du -sk "$BUNDLE" | cut -f 1)
    tree=$(git ls-files -z --cached --others --exclude-standard | du -ck --files0-from=- | tail -n 1 | cut -f 1)
    say "made .gpu-bundle: $((kib / 1024)) MiB, with the sources $(((kib + tree) / 1024)) MiB"
    [ $((kib + tree)) -le $((BUNDLE_LIMIT_MIB * 1024)) ] ||
        say "warning: that is over $BUNDLE_LIMIT_MIB MiB, too large to carry to some machines"
}

# PolyBench's kernels at LARGE sizes by clang and Polly, for ./x bench on machines that lack these. It takes minutes, so
# they are kept until something they are made from changes.
prebuild_polybench() {
    local sources=(benches/polybench/c benches/polybench/compilers.jl tests/polybench/registry.jl)
    [ ! -e "$PREBUILT" ] || [ "$(find "${sources[@]}" -newer "$PREBUILT")" ] || return 0
    rm -rf "$PREBUILT" "$PREBUILT.part"
    mkdir -p "$PREBUILT.part"
    say "compiling PolyBench's kernels with clang and Polly, if they are installed"
    julia --startup-file=no --project=julia-pkg benches/polybench.jl "--prebuild=$PREBUILT.part"
    touch "$PREBUILT.part"
    mv "$PREBUILT.part" "$PREBUILT"
}

# Unpacks the bundle's Julia once, outside the checkout, which may be read-only or sent anew for every command.
unpack_bundled_julia() {
    command -v julia >/dev/null && return
    local folder=${TMPDIR:-/tmp}/tessella-julia-$(id -u)
    if [ ! -e "$folder/usr/bin/julia" ]; then
        [ -e "$BUNDLE/julia.tar.xz" ] || die "missing: julia, and .gpu-bundle/ has no archive of it
    Install Julia 1.5 or newer so that 'julia' is on the PATH."
        local work
        work=$(mktemp -d "$folder.XXXXXX")
        tar -C "$work" -xJf "$BUNDLE/julia.tar.xz"
        [ -e "$work/usr/bin/julia.bin" ] || write_julia_wrapper "$work"
        mv -T "$work" "$folder"
    fi
    PATH=$folder/usr/bin:$PATH
}

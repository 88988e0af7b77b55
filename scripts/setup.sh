# Brings what Tessella needs: build tools for isl, Julia, NVRTC. Sourced by ./x, which sets ROOT and `say`, `die`.
#
# Everything that is not a system package goes to .tools/ beside the checkout's sources. Each piece is made in a
# folder of its own and renamed into place when it is whole, so that an interrupted run leaves nothing half done.

TOOLS=$ROOT/.tools

# Julia 1.5.3 as Debian 11 packages it, with every library that the programs and `LinearAlgebra` load.
JULIA_SUITE=bullseye
JULIA_PACKAGES=(
    julia libjulia1 julia-common libllvm9 libgit2-1.1 libmbedcrypto3 libmbedtls12 libmbedx509-0
    libdsfmt-19937-1 libopenlibm3 libutf8proc2 libssh2-1 libunwind8 libpcre2-8-0 libmpfr6 libgmp10
    libhttp-parser2.9 libffi7 libz3-4 libgfortran5 libquadmath0 libopenblas0-pthread libcholmod3
    libsuitesparseconfig5 libamd2 libcamd2 libccolamd2 libcolamd2 libumfpack5 libspqr2 libmetis5
    libedit2 libbsd0 libmd0
)

# The newest NVRTC whose output a CUDA 13.0 driver (580) still loads; it compiles for compute capability 7.5 and up.
NVRTC_REQUIREMENT=nvidia-cuda-nvrtc==13.0.88

setup() {
    setup_cargo
    mkdir -p "$TOOLS"
    # One at a time: a second ./x waits for what the first one fetches.
    exec {lock}>"$TOOLS/lock"
    ! command -v flock >/dev/null || flock "$lock"
    setup_build_tools
    setup_julia
    setup_nvrtc
    exec {lock}>&-
}

setup_cargo() {
    command -v cargo >/dev/null && return
    [ -x "$HOME/.cargo/bin/cargo" ] && PATH=$HOME/.cargo/bin:$PATH && return
    die "cargo is missing: install Rust 1.90 or newer (Debian 12's own is too old; rustup brings it), then run ./x again"
}

# --- system packages -------------------------------------------------------------------------------------------------

setup_build_tools() {
    local packages=()
    command -v autoconf >/dev/null || packages+=(autoconf)
    command -v automake >/dev/null || packages+=(automake)
    command -v libtoolize >/dev/null || packages+=(libtool)
    command -v make >/dev/null || packages+=(make)
    command -v patch >/dev/null || packages+=(patch)
    command -v gcc >/dev/null || packages+=(gcc libc6-dev)
    if command -v gcc >/dev/null && [ ! -e /usr/include/stdio.h ]; then
        echo '#include <stdio.h>' | gcc -E - >/dev/null 2>&1 || packages+=(libc6-dev)
    fi
    [ ${#packages[@]} -eq 0 ] || install_packages "${packages[@]}"
}

# Installs system packages, or says which are missing and stops.
install_packages() {
    if ! command -v apt-get >/dev/null; then
        die "missing: $*
    This machine has no apt-get: install these (or their counterparts) with its own package manager, then run ./x again."
    elif [ "$(id -u)" -ne 0 ]; then
        die "missing: $*
    Not root, so ./x cannot install them. Run: sudo apt-get install $*"
    fi
    say "installing $*"
    if [ ! "${APT_UPDATED:-}" ]; then
        apt_quietly update || die "'apt-get update' failed: see above"
        APT_UPDATED=yes
    fi
    DEBIAN_FRONTEND=noninteractive apt_quietly install -y --no-install-recommends "$@" ||
        die "'apt-get install $*' failed: see above"
}

# Runs apt-get; prints what it said only when it fails.
apt_quietly() {
    local log status=0
    log=$(apt-get -qq "$@" </dev/null 2>&1) || status=$?
    [ $status -eq 0 ] || printf '%s\n' "$log" >&2
    return $status
}

# --- Julia -----------------------------------------------------------------------------------------------------------

setup_julia() {
    if [ ! -x "$TOOLS/julia/usr/bin/julia" ]; then
        ! command -v julia >/dev/null || return 0
        fetch_julia
    fi
    PATH=$TOOLS/julia/usr/bin:$PATH
}

# Unpacks Debian's Julia beside the system: nothing of it is installed, so nothing of the system is disturbed.
fetch_julia() {
    command -v apt-get >/dev/null && command -v dpkg >/dev/null || die "julia is missing, and this machine has no apt
    to fetch it with: install Julia 1.5 or newer so that 'julia' is on the PATH, then run ./x again."
    [ "$(dpkg --print-architecture)" = amd64 ] || die "julia is missing, and ./x can fetch it for amd64 only:
    install Julia 1.5 or newer so that 'julia' is on the PATH, then run ./x again."
    local mirror work=$TOOLS/julia.part
    mirror=$(debian_mirror)
    [ "$mirror" ] || die "julia is missing, and apt's sources name no Debian archive to fetch it from:
    install Julia 1.5 or newer so that 'julia' is on the PATH, then run ./x again."

    say "fetching Julia 1.5.3 (Debian $JULIA_SUITE's packages, about 110 MB) into .tools/julia"
    rm -rf "$work"
    mkdir -p "$work"/{lists/partial,cache/archives/partial,debs,root}
    : >"$work/status"
    local trusted=
    [ -e /usr/share/keyrings/debian-archive-keyring.gpg ] &&
        trusted='[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] '
    echo "deb $trusted$mirror $JULIA_SUITE main" >"$work/sources.list"
    local private=(
        -o "Dir::Etc::SourceList=$work/sources.list" -o Dir::Etc::SourceParts=/dev/null
        -o "Dir::State::Lists=$work/lists" -o "Dir::State::status=$work/status" -o "Dir::Cache=$work/cache"
        -o APT::Sandbox::User= -o Acquire::Languages=none
        -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false -o Acquire::Retries=3
    )
    apt_quietly "${private[@]}" update ||
        die "cannot read Debian $JULIA_SUITE's package list: see above. Is the network there?"
    (cd "$work/debs" && apt_quietly "${private[@]}" download "${JULIA_PACKAGES[@]}") ||
        die "cannot fetch Julia's packages: see above"
    local package
    for package in "$work"/debs/*.deb; do dpkg -x "$package" "$work/root"; done
    rm -rf "$work/root/usr/share/doc" "$work/root/usr/share/man"
    write_julia_wrapper "$work/root"
    "$work/root/usr/bin/julia" --startup-file=no -e 'using LinearAlgebra; [2.0 1; 1 3] * [1.0, 2] == [4, 7] || exit(1)' ||
        die "the fetched Julia does not run: see above"
    rm -rf "$TOOLS/julia"
    mv "$work/root" "$TOOLS/julia"
    rm -rf "$work"
}

# The address of the Debian archive that this machine's own apt sources name.
debian_mirror() {
    local codename
    codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-stable}")
    apt-get indextargets --no-release-info --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' \
        2>/dev/null |
        awk -v codename="$codename" '
            $3 == "main" && ($2 == codename || $2 ~ /^(stable|oldstable|testing|unstable|sid)$/) { if (!found++) print $1 }'
}

# Puts a script in the place of an unpacked Julia's program. It starts Julia through the dynamic loader, which looks in
# that folder first. LD_LIBRARY_PATH would do the same, but every process that Julia starts, the C compiler above all,
# would inherit it and load the old libraries too.
write_julia_wrapper() {
    local program=$1/usr/bin/julia
    mv "$program" "$program.bin"
    cat >"$program" <<'END'
#!/bin/sh
usr=$(dirname "$(dirname "$(readlink -f "$0")")")
lib=$usr/lib/x86_64-linux-gnu
export JULIA_BINDIR="$usr/bin"
# Debian's libunwind answers some of the calls that Rust means for libgcc's unwinder, unless that comes first.
exec /lib64/ld-linux-x86-64.so.2 --preload libgcc_s.so.1 --library-path "$lib:$lib/julia${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" \
    "$usr/bin/julia.bin" "$@"
END
    chmod +x "$program"
}

# --- NVRTC -----------------------------------------------------------------------------------------------------------

setup_nvrtc() {
    export TESSELLA_NVRTC=${TESSELLA_NVRTC:-$(find_nvrtc)}
    [ "$TESSELLA_NVRTC" ] && return
    fetch_nvrtc
    TESSELLA_NVRTC=$(find_nvrtc)
}

# Prints the path of an NVRTC of CUDA 12 or newer: ours, the CUDA toolkit's, or one among python3's packages.
find_nvrtc() {
    local library
    for library in {"$TOOLS/nvrtc/lib","${CUDA_HOME:-/usr/local/cuda}/lib64","${CUDA_PATH:-/opt/cuda}/lib64"}/libnvrtc.so.1[2-9]; do
        [ -e "$library" ] && echo "$library" && return
    done
    command -v python3 >/dev/null || return 0
    python3 - <<'END'
import glob, sys
for folder in sys.path:
    found = sorted(glob.glob(folder + "/nvidia/*/lib/libnvrtc.so.1[2-9]")) if folder else []
    if found:
        print(found[-1])
        break
END
}

# Takes NVRTC out of its Python package: two libraries that need nothing else, no driver and no GPU included.
fetch_nvrtc() {
    local python work=$TOOLS/nvrtc.part
    python=$(python_with_pip)
    if [ ! "$python" ]; then
        install_packages python3-pip
        python=/usr/bin/python3
    fi
    say "fetching NVRTC ($NVRTC_REQUIREMENT, 90 MB) into .tools/nvrtc"
    rm -rf "$work"
    mkdir -p "$work/unpacked"
    "$python" -m pip download --quiet --disable-pip-version-check --no-cache-dir --no-deps --only-binary=:all: \
        --dest "$work" "$NVRTC_REQUIREMENT" </dev/null ||
        die "cannot fetch NVRTC: see above. Install the CUDA toolkit (12 or newer), or set TESSELLA_NVRTC to the path of
    its libnvrtc.so, then run ./x again."
    "$python" -m zipfile -e "$work"/*.whl "$work/unpacked"
    rm -f "$work"/unpacked/nvidia/*/lib/*.alt.so.* "$work"/*.whl
    rm -rf "$TOOLS/nvrtc"
    mv "$work"/unpacked/nvidia/* "$TOOLS/nvrtc"
    rm -rf "$work"
}

python_with_pip() {
    local python
    for python in python3 /usr/bin/python3; do
        "$python" -m pip --version >/dev/null 2>&1 && echo "$python" && return
    done
    return 0
}

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2031,SC2154
# Functions of inputs.sh: the Python packages and clients for ppc64le, made on a Debian bookworm machine of another
# architecture. Nothing of ppc64le is executed. Reads $root, $folder, $target, $lock, $interpreter, $incomplete.
#
# - wheels of the lock file where ppc64le has them;
# - $compiled: small C and Cython packages, from the source packages of the lock file with Debian's cross compiler;
# - $packaged: what would take hours, as Debian packages it: other versions than the lock file's, built for the same Python.
#   The list of them goes into the image as /opt/steelyard/site/debian-packages.txt.

compiled='hdrhistogram psutil pyyaml ruptures'
packaged='contourpy matplotlib numpy pillow scipy'
builders='packaging pbr setuptools typing-extensions'

# Without what Debian's packages depend on beside these: Pythran with its compilers, Tk, lxml, sympy. (libmd0 is named apart:
# in the bases only maintainer scripts would need it, so that `resolve` leaves it out; here libxcb1 does.)
debian_python='python3-contourpy python3-matplotlib python-matplotlib-data python3-numpy python3-pil python3-scipy fonts-dejavu-core fonts-lyx'
debian_libraries='libfreetype6 libgfortran5 libimagequant0 libjpeg62-turbo liblbfgsb0 liblcms2-2 libopenblas0-pthread libopenjp2-7'
debian_libraries="$debian_libraries libqhull-r8.0 libtiff6 libwebp7 libwebpdemux2 libwebpmux3 libxcb1"
in_every_base='base-files libc6 libgcc-s1 libstdc++6 netbase python3 zlib1g'

prepare_cross() {
    # shellcheck source=/dev/null
    suite=$(. /etc/os-release 2>/dev/null && echo "${VERSION_CODENAME:-}")
    [ "$suite" = bookworm ] ||
        fail 3 "the packages for ppc64le can be made on Debian bookworm or on a ppc64le machine only: Debian's and the base's Python must be $python"
    for tool in apt-get dpkg-deb tar; do
        command -v "$tool" >/dev/null || fail 3 "$tool is not installed"
    done
    debian=$(dpkg --print-architecture)
    here=$root/images/local
    work=$folder/debian
    mkdir -p "$work"
    # shellcheck source=images/local/base-roots.sh
    . "$here/base-roots.sh"
    prepare_apt ppc64el
}

# Requirements of the named packages (or of all but those) with their hashes.
pinned() ( # with|without NAME...
    mode=$1
    shift
    awk -v mode="$mode" -v names=" $* " '
        /^[A-Za-z0-9]/ {name = $1; sub(/==.*/, "", name); take = (index(names, " " name " ") > 0) == (mode == "with")}
        take && !/^ *#/' "$lock"
)

# Names and versions of exactly these packages, one a line.
versions_of() ( # ARCHITECTURE PACKAGE...
    architecture=$1
    shift
    private_apt "$architecture" install -s "$@" | awk -v names=" $* " \
        '$1 == "Inst" && index(names, " " $2 " ") {print $2 "=" substr($3, 2)}'
)

# ---- what Debian packages ----

debian_packages() ( # SITE SYSTEM ; Python packages and, for the image's own file system, their libraries
    site=$1 system=$2
    # shellcheck disable=SC2086
    base=$(resolve ppc64el $in_every_base)
    # shellcheck disable=SC2086
    versions=$(versions_of ppc64el $debian_python libmd0)
    # shellcheck disable=SC2086
    libraries=$(resolve ppc64el $debian_libraries | grep -vxF "$base")
    [ "$(echo "$versions" | wc -w)" = "$(echo "$debian_python libmd0" | wc -w)" ] && [ -n "$libraries" ] ||
        fail 3 "apt does not know every one of these packages for ppc64el: $debian_python $debian_libraries"
    versions="$versions $libraries"
    # shellcheck disable=SC2086
    fetch ppc64el $versions
    rm -rf "$system"
    # shellcheck disable=SC2086
    unpack "$system" ppc64el $versions
    for packages in "$system"/usr/lib/python3*/dist-packages; do
        [ -d "$packages" ] || continue
        rm -f "$packages"/*.pth
        cp -a "$packages/." "$site/"
        rm -rf "${packages%/dist-packages}"
    done
    # What a maintainer script would set: which BLAS and LAPACK are used.
    for library in libblas.so.3 liblapack.so.3 libopenblas.so.0; do
        ln -s "openblas-pthread/$library" "$system/usr/lib/powerpc64le-linux-gnu/$library"
    done
    # Top-level links and empty folders are the base's; manuals and the like are for people at a terminal.
    find "$system" -maxdepth 1 -type l -delete
    for unused in bin sbin include share/man share/lintian share/bug share/doc-base; do
        rm -rf "${system:?}/usr/$unused"
    done
    find "$system/usr/share/doc" -mindepth 2 ! -type d ! -name copyright -delete
    find "$system" -depth -type d -empty -delete
    {
        echo "# Debian packages in place of those in requirements.lock, and the libraries they need."
        printf '%s\n' "$versions" | tr ' ' '\n' | sed '/^$/d' | sort
        [ ! -s "$work/apt/ppc64el/left-out" ] || sed 's/^/# without the package list /' "$work/apt/ppc64el/left-out"
    } >"$site/debian-packages.txt"
    chmod -R u=rwX,go=rX "$system"
)

# ---- what is compiled ----

# Debian's cross compiler and the headers of the target's Python, unpacked and not installed: this machine stays as it is.
cross_compiler() ( # -> $work/cross
    prepare_apt "$debian"
    gcc=$(private_apt "$debian" install -s gcc-powerpc64le-linux-gnu libc6-dev-ppc64el-cross | awk '$1 == "Inst" {print $2 "=" substr($3, 2)}' |
        # Of this machine's own libraries those that gcc needs beyond the C library; no runtimes of sanitizers.
        grep -E '^(binutils-(common|powerpc64le.*)|libbinutils|libjansson4|lib(gmp10|isl23|mpfr6|mpc3)|(cpp|gcc)-[0-9]+-powerpc64le.*|gcc-[0-9]+-cross-base|(libc6|libc6-dev|libgcc-s1|libatomic1|libgcc-[0-9]+-dev|linux-libc-dev)-ppc64el-cross)=')
    headers=$(versions_of ppc64el "libpython$python-dev" "libpython$python-minimal")
    key=$(printf '%s\n' "$gcc" "$headers" | sha256sum | cut -c1-32)
    [ "$(cat "$work/cross.key" 2>/dev/null)" != "$key" ] || exit 0
    rm -rf "$work/cross" "$work/cross.key"
    mkdir -p "$work/cross"
    # shellcheck disable=SC2086
    fetch "$debian" $gcc
    # shellcheck disable=SC2086
    fetch ppc64el $headers
    # shellcheck disable=SC2086
    unpack "$work/cross" "$debian" $gcc
    # shellcheck disable=SC2086
    unpack "$work/cross" ppc64el $headers
    cat >"$work/cross/cc" <<'COMPILER'
#!/bin/sh
root=$(dirname "$0")
libraries=$(echo "$root"/usr/lib/*/libmpc.so.3)
for compiler in "$root"/usr/bin/powerpc64le-linux-gnu-gcc-[0-9]*; do
    LD_LIBRARY_PATH=$(dirname "$libraries") exec "$compiler" --sysroot="$root" "$@"
done
COMPILER
    chmod +x "$work/cross/cc"
    mkdir "$work/cross/settings"
    cp "$work/cross/usr/lib/python$python/_sysconfigdata__powerpc64le-linux-gnu.py" "$work/cross/settings/"
    echo "$key" >"$work/cross.key"
)

# pip takes this machine's Python, which is told that it builds for another: settings, headers and compiler of the target.
compile() ( # FOLDER ; wheels
    built=$1
    cross=$work/cross
    tools=$work/tools
    rm -rf "$tools" "$built"
    # shellcheck disable=SC2086
    pinned with $builders | cat - "$root/images/harness/build.lock" >"$work/builders.txt"
    install_packages "$tools" --require-hashes --only-binary :all: -r "$work/builders.txt"
    # shellcheck disable=SC2086
    pinned with $compiled >"$work/compiled.txt"
    python_of_target() {
        PYTHONPATH=$cross/settings:$tools _PYTHON_HOST_PLATFORM=linux-ppc64le \
            _PYTHON_SYSCONFIGDATA_NAME=_sysconfigdata__powerpc64le-linux-gnu SOURCE_DATE_EPOCH=0 \
            CC=$cross/cc LDSHARED="$cross/cc -shared" \
            CFLAGS="-O2 -ffile-prefix-map=$work=. -I$cross/usr/include/python$python -I$cross/usr/include" \
            "$interpreter" "$@"
    }
    python_of_target -m pip wheel --quiet --disable-pip-version-check --no-cache-dir --no-deps --require-hashes \
        --no-build-isolation --no-binary :all: --wheel-dir "$built" -r "$work/compiled.txt" >"$work/compile.log" 2>&1 || {
        grep -v '://' "$work/compile.log" | tail -5 >&2
        fail 3 "the packages $compiled could not be compiled for ppc64le; see $work/compile.log"
    }
)

# ---- together ----

cross_packages() { # SITE SYSTEM PIP-OPTIONS... ; the options name the platform's tags
    site=$1 system=$2
    shift 2
    prepare_cross
    cross_compiler
    compile "$work/wheels"
    # shellcheck disable=SC2086
    pinned without $compiled $packaged >"$work/wheels.txt"
    install_packages "$site" --require-hashes "$@" -r "$work/wheels.txt"
    rm -rf "${site:?}/bin"
    install_packages "$site" --no-index "$@" --platform linux_ppc64le "$work/wheels"/*.whl
    debian_packages "$site" "$system"
}

# Clients: Debian trixie's, since those of bookworm are too old; they run with the older C library.
cross_clients() ( # FOLDER
    suite=trixie
    work=$work/clients
    # shellcheck disable=SC2016
    apt-get indextargets --format '$(ORIGIN)|$(CODENAME)' 'Created-By: Packages' | grep -qx "Debian|$suite" ||
        fail 3 "the clients for ppc64le come from Debian $suite, which apt does not know here: run images/local/setup-engine.sh start, or name a folder with docker and docker-compose by -c"
    mkdir -p "$work"
    prepare_apt ppc64el
    versions=$(versions_of ppc64el docker-cli docker-compose)
    [ "$(echo "$versions" | wc -w)" = 2 ] ||
        fail 3 "Debian $suite has no docker-cli or docker-compose for ppc64el: name a folder with both by -c"
    # shellcheck disable=SC2086
    fetch ppc64el $versions
    rm -rf "$work/root"
    # shellcheck disable=SC2086
    unpack "$work/root" ppc64el $versions
    mkdir -p "$1"
    install -m 755 "$work/root/usr/bin/docker" "$1/docker"
    install -m 755 "$work/root"/usr/libexec/docker/cli-plugins/docker-compose "$1/docker-compose"
)

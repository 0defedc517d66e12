# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2030,SC2031,SC2034,SC2154
# Functions of make-bases.sh: from packages to root file systems, from those to a base. Reads $work, $here, $registry, $platforms, $jdk.

# What a change in this project's recipe is known by; package versions are added to it.
recipe() { cat "$here/base-roots.sh" "$here/postgresql-entry.sh" | sha256sum | cut -c1-16; }

# Packages are unpacked, not installed: no maintainer script runs, so none is needed of the other architecture. What those
# scripts would have done and a server needs (merged /usr, users, the linker's cache) is done in finish_root.
unpack() ( # ROOT ARCHITECTURE NAME=VERSION...
    root=$1 architecture=$2
    shift 2
    for part in bin sbin lib lib64; do
        mkdir -p "$root/usr/$part"
        [ -e "$root/$part" ] || ln -s "usr/$part" "$root/$part"
    done
    mkdir -p "$root/var/lib/dpkg/status.d"
    for package in "$@"; do
        file=$(archive "$architecture" "$package")
        dpkg-deb --fsys-tarfile "$file" | tar -C "$root" -xf - --keep-directory-symlink
        # One control file for each package: what scanners and SBOM tools read where there is no dpkg database.
        dpkg-deb -f "$file" | sed '/^\(Homepage\|Installed-Size\|Original-Maintainer\):/d' \
            >"$root/var/lib/dpkg/status.d/${package%%=*}"
    done
)

# The applets that busybox has are asked of the one for this machine, which is of the same version.
native_busybox() (
    versions=$(resolve "$native" busybox-static)
    fetch "$native" "$versions"
    dpkg-deb --fsys-tarfile "$(archive "$native" "$versions")" | tar -xOf - ./bin/busybox ./usr/bin/busybox \
        >"$work/busybox" 2>/dev/null || [ -s "$work/busybox" ]
    chmod +x "$work/busybox"
)

# A command in a root file system of this machine's architecture. Its own mount namespace ends with it, /proc with that.
inside() ( # ROOT COMMAND...
    # shellcheck disable=SC2016
    nice unshare --mount sh -ec 'mount --bind /proc "$1/proc"; exec chroot "$@"' - "$@"
)

# Everything a base has in common, and nothing that tells where or when it was made.
finish_root() ( # ROOT BUSYBOX-APPLETS(yes|no)
    root=$1
    [ ! -e "$root/usr/bin/dash" ] || ln -sf dash "$root/usr/bin/sh"
    if [ "$2" = yes ]; then
        "$work/busybox" --list | while read -r applet; do
            [ -e "$root/usr/bin/$applet" ] || [ -e "$root/usr/sbin/$applet" ] || ln -s busybox "$root/usr/bin/$applet"
        done
    fi
    mkdir -p "$root/etc" "$root/tmp" "$root/opt" "$root/root" "$root/proc" "$root/sys" "$root/dev" "$root/run"
    chmod 1777 "$root/tmp"
    chmod 700 "$root/root"
    printf 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/bin/false\n' >"$root/etc/passwd"
    printf 'root:x:0:\nnogroup:x:65534:\n' >"$root/etc/group"
    printf 'passwd: files\ngroup: files\nhosts: files dns\n' >"$root/etc/nsswitch.conf"
    # Licences stay; manuals, translations, examples and the package manager's own state go.
    find "$root/usr/share/doc" -mindepth 2 ! -type d ! -name copyright -delete 2>/dev/null || true
    rm -rf "$root/usr/share/man" "$root/usr/share/info" "$root/usr/share/locale" "$root/usr/share/lintian" \
        "$root/usr/share/bug" "$root/usr/share/menu" "$root/usr/share/doc-base" "$root/usr/share/bash-completion" \
        "$root/usr/lib/systemd" "$root/lib/systemd" "$root/etc/apt" "$root/var/lib/apt" "$root/var/cache" \
        "$root/var/log" "$root/etc/init.d" "$root/etc/default" "$root/etc/cron.daily" "$root/etc/logrotate.d" \
        "$root/etc/machine-id" "$root/etc/rsyslog.d" "$root/etc/ufw" "$root/usr/share/mime" "$root/usr/share/applications" \
        "$root/usr/share/pixmaps" "$root/usr/share/icons" "$root/usr/share/gdb" "$root/usr/share/apport" \
        "$root/usr/share/binfmts"
    find "$root/usr/share" -type d -empty -delete
    mkdir -p "$root/var/tmp" "$root/var/log" "$root/var/cache"
    chmod 1777 "$root/var/tmp"
)

# All times are those of the newest packaged file (or SOURCE_DATE_EPOCH): the same packages give the same bytes.
same_times() ( # ROOT
    [ -n "${SOURCE_DATE_EPOCH:-}" ] && epoch=$SOURCE_DATE_EPOCH || epoch=$(cat "$1.epoch")
    find "$1" -exec touch -h -d "@$epoch" {} +
)

newest() { find "$1" -path "$1/var/lib/dpkg" -prune -o -type f -printf '%T@\n' | sort -n | tail -1 | cut -d. -f1; }

pack() ( # ROOT FILE
    same_times "$1"
    tar -C "$1" --sort=name --owner=0 --group=0 --numeric-owner --format=posix --xattrs --xattrs-include=security.capability \
        --pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime,delete=mtime -cf "$2.part" .
    mv "$2.part" "$2"
)

# ---- the bases ----

# What every base with a dynamic linker has. libjpeg and liblcms serve java.desktop without fonts: image scaling works,
# drawing text does not (fonts, X11, printing and sound are left out: a server has no use for them).
libraries="base-files netbase libc6 libgcc-s1 libstdc++6 zlib1g"

packages_of() ( # BASE ARCHITECTURE
    case $1 in
        tools) echo busybox-static ;;
        hotspot) echo "$libraries busybox-static libjpeg62-turbo liblcms2-2" ;;
        # Liberty's script copies a work area for a checkpoint by options that busybox lacks, whose shell would take its own `cp`.
        openj9) echo "$libraries busybox-static coreutils dash libjpeg62-turbo liblcms2-2" ;;
        proxy) echo "$libraries busybox-static haproxy" ;;
        nginx) echo "$libraries busybox-static nginx" ;;
        maven) echo "$libraries busybox-static openjdk-$java-jdk-headless maven" ;;
        postgresql) echo "$libraries busybox-static libc-bin postgresql-17" ;;
        harness)
            echo "$libraries busybox-static $(grep -oE '^ {8}(docker|python3)[^ ]*' "$here/../harness/Containerfile" | tr -d '\n')"
            [ "$2" = ppc64el ] || echo kubernetes-client # which Debian has not for that
            ;;
    esac
)

# Modules: all of Java SE, and of the JDK's own those that Liberty, its applications and Gatling use or that diagnosis
# needs (attach, jcmd, JFR, remote management; jconsole only because it alone makes a JVM resolve jdk.management.agent, which
# Liberty opens). No compiler, no jlink, no debugger.
modules=java.se,jdk.attach,jdk.charsets,jdk.crypto.cryptoki,jdk.crypto.ec,jdk.dynalink,jdk.httpserver,jdk.random
modules=$modules,jdk.jcmd,jdk.jconsole,jdk.jdwp.agent,jdk.jfr,jdk.localedata,jdk.management,jdk.management.agent,jdk.management.jfr
modules=$modules,jdk.naming.dns,jdk.naming.rmi,jdk.net,jdk.nio.mapmode,jdk.sctp,jdk.security.auth,jdk.security.jgss
modules=$modules,jdk.unsupported,jdk.xml.dom,jdk.zipfs

jdk_packages() ( # ARCHITECTURE
    resolve "$1" "openjdk-$java-jdk-headless" | grep "^openjdk-$java-j"
)

# The JDK's module files, unpacked once for each architecture; the link itself runs the JDK of this machine's architecture.
jdk_root() ( # ARCHITECTURE
    versions=$(jdk_packages "$1")
    jdk=$work/jdk/$1
    if [ "$(cat "$jdk.versions" 2>/dev/null)" != "$versions" ]; then
        rm -rf "$jdk"
        mkdir -p "$jdk"
        # shellcheck disable=SC2086
        fetch "$1" $versions
        # shellcheck disable=SC2086
        unpack "$jdk" "$1" $versions
        if [ "$1" = "$native" ]; then
            # shellcheck disable=SC2046,SC2086
            set -- "$1" $(resolve "$1" $libraries)
            fetch "$@"
            unpack "$jdk" "$@"
        fi
        printf '%s\n' "$versions" >"$jdk.versions"
    fi
)

link_java() ( # ROOT ARCHITECTURE
    root=$1 architecture=$2
    jdk_root "$native"
    linker=$work/jdk/$native
    jdk_root "$architecture"
    target=$work/jdk/$architecture
    name=java-$java-openjdk
    rm -rf "$linker/link"
    mkdir -p "$linker/link/jmods" "$linker/proc"
    cp "$target/usr/lib/jvm/$name-$architecture/jmods/"*.jmod "$linker/link/jmods/"
    # Modules are not compressed: layers are, and a compressed module costs CPU at every start.
    inside "$linker" "/usr/lib/jvm/$name-$native/bin/jlink" --module-path /link/jmods --add-modules "$modules" \
        --output /link/java --no-header-files --no-man-pages --vm=server >&2
    mkdir -p "$root/opt/java"
    mv "$linker/link/java" "$root/opt/java/openjdk"
    rm -rf "$linker/link"
    for package in $(jdk_packages "$architecture"); do
        cp "$target/var/lib/dpkg/status.d/${package%%=*}" "$root/var/lib/dpkg/status.d/"
        mkdir -p "$root/usr/share/doc/${package%%=*}"
    done
    newest "$target" >"$root.epoch"
)

# The JDK that was given, but for what only who develops needs; as whole as the base that is published, with its JITServer.
copy_openj9() ( # ROOT
    mkdir -p "$1/opt/java/openjdk"
    tar -C "$jdk" --exclude=./jmods --exclude=./src.zip --exclude=./lib/src.zip --exclude=./include --exclude=./demo \
        --exclude=./man --exclude='*.debuginfo' -cf - . | tar -C "$1/opt/java/openjdk" --no-same-owner -xf -
    inside "$1" /opt/java/openjdk/bin/java -version >"$work/openj9.log" 2>&1 ||
        fail 3 "the OpenJ9 in $jdk does not run on the packages of Debian $suite; see $work/openj9.log"
    find "$1/tmp" -mindepth 1 -delete
)

# CRIU of this machine and its library, which an OpenJ9 takes checkpoints with, each with what it is linked with; nothing where
# it has none that works.
criu_files() {
    { command -v criu && command -v setcap && criu check; } >/dev/null 2>&1 || return 0
    library=$(ldconfig -p | sed -n 's/.*libcriu\.so\.2 .*=> //p' | head -1)
    [ -n "$library" ] || return 0
    { ldd "$(command -v criu)" "$library" | sed -n 's/.* => \(.*\) (.*/\1/p'; echo "$library"; command -v criu; } | sort -u
}

# With the capabilities that IBM's images give theirs: a server that is no root's starts from a checkpoint with them.
copy_criu() ( # ROOT
    folder=$(find "$1/usr/lib" -name libc.so.6 -printf '%h')
    criu_files | while read -r file; do
        case $file in
            */criu)
                cp -L "$file" "$1/usr/sbin/criu"
                setcap cap_checkpoint_restore,cap_setpcap,cap_sys_ptrace=eip "$1/usr/sbin/criu"
                ;;
            *) [ -e "$folder/${file##*/}" ] || cp -L "$file" "$folder/" ;;
        esac
    done
    # The name by which OpenJ9 looks for it.
    [ ! -e "$folder/libcriu.so.2" ] || ln -s libcriu.so.2 "$folder/libcriu.so"
)

# The class data archive of the JDK's own classes, which every packaged JDK has. The JVM that will use it has to write it, so
# it is made only for this machine's architecture; on another, HotSpot starts without (and says nothing).
archive_classes() ( # ROOT
    same_times "$1"
    inside "$1" /opt/java/openjdk/bin/java -XX:-UsePerfData -Xshare:dump >/dev/null 2>&1
    inside "$1" /opt/java/openjdk/bin/java -XX:-UsePerfData -Xshare:dump -XX:-UseCompressedOops >/dev/null 2>&1
    find "$1/tmp" -mindepth 1 -delete
)

# What maintainer scripts would do: the plain BLAS, which starts no threads, and Python's cache, which the image could not keep.
# Its content is the same for every architecture, so this machine's own Python writes it.
finish_python() ( # ROOT
    find "$1/usr/lib/python3" -name numpy -prune -o -name tests -prune -exec rm -rf {} +
    rm -rf "$1/usr/share/unicode"
    for library in "$1"/usr/lib/*/blas/libblas.so.3 "$1"/usr/lib/*/lapack/liblapack.so.3; do
        ln -s "$(basename "$(dirname "$library")")/$(basename "$library")" "$(dirname "$library")/../"
    done
    # shellcheck disable=SC2046,SC2086
    set -- "$1" "$native" $(resolve "$native" python3 $libraries)
    root=$1 own=$work/python
    shift
    fetch "$@"
    rm -rf "$own"
    unpack "$own" "$@"
    mkdir -p "$own/root"
    # shellcheck disable=SC2016
    nice unshare --mount sh -ec 'mount --bind "$1" "$2/root"
        exec chroot "$2" python3 -m compileall -q -s /root --invalidation-mode unchecked-hash /root/usr/lib/python3 /root/usr/lib/python3.13' \
        - "$root" "$own" >"$work/python.log" 2>&1 || fail 4 "Python could not compile its packages; see $work/python.log"
)

# What maintainer scripts would do. It trusts whom this machine trusts, a company's authority as well: for building here, not
# for publishing.
finish_maven() ( # ROOT ARCHITECTURE
    ln -s ../share/maven/bin/mvn "$1/usr/bin/mvn"
    mkdir -p "$1/opt/java" "$1/etc/ssl/certs/java"
    ln -s "/usr/lib/jvm/java-$java-openjdk-$2" "$1/opt/java/openjdk"
    cp "$trusted" "$1/etc/ssl/certs/java/cacerts"
)
trusted=/etc/ssl/certs/java/cacerts

# User, folders and first process as in the published image: a new volume gets owner and mode of the folder that it lies over.
finish_postgresql() ( # ROOT
    rm -rf "$1/usr/share/postgresql-common" "$1/usr/share/perl5" "$1/usr/share/i18n" "$1/etc/postgresql-common" "$1/var/run"
    ln -s /run "$1/var/run"
    echo 'postgres:x:999:999:PostgreSQL:/var/lib/postgresql:/bin/sh' >>"$1/etc/passwd"
    echo 'postgres:x:999:' >>"$1/etc/group"
    mkdir -p "$1/var/lib/postgresql/data" "$1/run/postgresql" "$1/usr/local/bin"
    chmod 1777 "$1/var/lib/postgresql/data"
    chmod 3777 "$1/run/postgresql"
    cp "$here/postgresql-entry.sh" "$1/usr/local/bin/postgresql-entry.sh"
    chmod 755 "$1/usr/local/bin/postgresql-entry.sh"
)

# Leaves $work/roots/BASE-OCIARCH.tar and .key; with -i perhaps neither, but a line in BASE.without: platform and reason.
make_root() ( # BASE ARCHITECTURE
    base=$1 target_architecture=$2
    root=$work/roots/$base-$target_architecture
    tar=$work/roots/$base-$(oci_name "$target_architecture").tar
    prepare_apt "$native"
    prepare_apt "$target_architecture"
    without=$(why_without "$target_architecture")
    if [ -n "$without" ]; then
        leave_out "$without"
        exit 0
    fi
    native_busybox
    # shellcheck disable=SC2046
    versions=$(resolve "$target_architecture" $(packages_of "$base" "$target_architecture"))
    [ -n "$versions" ] || fail 3 "apt cannot install the packages of $base for $target_architecture: it says why above"
    key=$( (recipe; printf '%s\n' "$versions"; [ "$base" != hotspot ] || jdk_packages "$target_architecture"
        [ "$base" != maven ] || cat "$trusted"
        [ "$base" != openj9 ] || { find "$jdk" -type f -printf '%P %s %T@\n' | sort; criu_files | xargs -r sha256sum; }) | sha256sum | cut -c1-32)
    if [ "$(cat "$tar.key" 2>/dev/null)" = "$key" ] && [ -e "$tar" ]; then
        say "$base $target_architecture: unchanged"
        exit 0
    fi
    rm -rf "$root" "$tar" "$tar.key"
    # shellcheck disable=SC2086
    if ! fetch "$target_architecture" $versions; then
        [ "$incomplete" = yes ] && [ "$target_architecture" != "$native" ] || exit 3
        leave_out "the mirror lacks packages that $suite's list for $target_architecture names"
        exit 0
    fi
    mkdir -p "$root"
    # shellcheck disable=SC2086
    unpack "$root" "$target_architecture" $versions
    newest "$root" >"$root.epoch"
    case $base in
        tools) tools_root "$root" ;;
        *) finish_root "$root" yes ;;
    esac
    [ "$base" != harness ] || finish_python "$root"
    [ "$base" != maven ] || finish_maven "$root" "$target_architecture"
    if [ "$base" = openj9 ]; then
        copy_openj9 "$root"
        copy_criu "$root"
    fi
    [ "$base" != postgresql ] || finish_postgresql "$root"
    if [ "$base" = hotspot ]; then
        link_java "$root" "$target_architecture"
        [ "$target_architecture" != "$native" ] || archive_classes "$root"
    fi
    pack "$root" "$tar"
    rm -rf "$root"
    echo "$key" >"$tar.key"
    say "$base $target_architecture: $(du -m "$tar" | cut -f1) MB"
)

# The base is made without this platform.
leave_out() { # REASON ; of make_root
    rm -f "$tar" "$tar.key"
    platform=linux/$(oci_name "$target_architecture")
    echo "$platform $1" >>"$work/roots/$base.without"
    say "$base: WITHOUT $platform - $1"
}

tools_root() ( # ROOT ; nothing but busybox and its licence
    mkdir -p "$1.tools/bin" "$1.tools/usr/share/doc/busybox-static" "$1.tools/var/lib/dpkg"
    cp "$1/usr/bin/busybox" "$1.tools/bin/busybox"
    cp "$1/usr/share/doc/busybox-static/copyright" "$1.tools/usr/share/doc/busybox-static/"
    mkdir -p "$1.tools/var/lib/dpkg/status.d"
    cp "$1/var/lib/dpkg/status.d/busybox-static" "$1.tools/var/lib/dpkg/status.d/"
    rm -rf "$1"
    mv "$1.tools" "$1"
)

make_base() ( # BASE ; for all platforms, then pushes it
    # Their packages and versions, whatever this machine runs.
    case $1 in harness | postgresql) suite=trixie ;; esac
    case $1 in
        postgresql) linked='lib(audit1|cap-ng0|pam0g)' ;;
        openj9) linked=libacl1 ;;
    esac
    # The JDK that was given is of this machine's architecture; PostgreSQL is for tests here.
    case $1 in openj9 | postgresql) platforms=linux/$(oci_name "$native") ;; esac
    mkdir -p "$work/roots"
    rm -f "$work/roots/$1.without"
    made=
    for platform in $(printf '%s' "$platforms" | tr , ' '); do
        architecture=$(debian_name "$platform")
        make_root "$1" "$architecture"
        [ ! -e "$work/roots/$1-${platform#linux/}.tar.key" ] || made=$made,$platform
    done
    [ -n "$made" ] || fail 3 "no platform is left of $1; try again later"
    [ "$push" = no ] || push_base "$1" "${made#,}"
)

push_base() ( # BASE PLATFORMS ; one index with all platforms
    case $1 in hotspot | maven) tag=$java-debian ;; harness) tag=trixie ;; postgresql) tag=17-debian ;; *) tag=debian ;; esac
    keys=$(for platform in $(printf '%s' "$2" | tr , ' '); do cat "$work/roots/$1-${platform#linux/}.tar.key"; done | tr '\n' ' ')
    # Of the platforms that were asked for, made or not; other folders are of other releases or of other runs.
    left_out=$(for platform in $(printf '%s' "$platforms" | tr , ' '); do
        cat "$work/apt/$suite-$(debian_name "$platform")/left-out" 2>/dev/null || true
    done | tr '\n' ' ' | sed 's/ $//')
    keys="$keys$(recipe) $2 $left_out"
    reference=$registry/$1:$tag
    if [ "$(cat "$work/roots/$1.pushed" 2>/dev/null)" = "$reference $keys" ] &&
        docker buildx imagetools inspect "$reference" >/dev/null 2>&1; then
        say "$reference: unchanged"
        exit 0
    fi
    environment='ENV PATH=/usr/local/bin:/usr/bin:/usr/sbin LANG=C.UTF-8'
    case $1 in hotspot | openj9 | maven) environment='ENV JAVA_HOME=/opt/java/openjdk PATH=/opt/java/openjdk/bin:/usr/bin:/usr/sbin LANG=C.UTF-8' ;; esac
    [ "$1" != tools ] || environment='ENV PATH=/bin'
    [ "$1" != postgresql ] || environment='ENV PATH=/usr/lib/postgresql/17/bin:/usr/local/bin:/usr/bin:/usr/sbin LANG=C.UTF-8 PGDATA=/var/lib/postgresql/data
RUN ["/usr/bin/busybox", "chown", "999:999", "/var/lib/postgresql", "/var/lib/postgresql/data", "/run/postgresql"]
VOLUME /var/lib/postgresql/data
EXPOSE 5432
STOPSIGNAL SIGINT
ENTRYPOINT ["postgresql-entry.sh"]
CMD ["postgres"]'
    # shellcheck disable=SC2086
    SOURCE_DATE_EPOCH=0 docker buildx build --quiet --provenance=false --platform "$2" --push --tag "$reference" \
        --output type=image,push=true \
        --file - "$work/roots" >"$work/$1.log" 2>&1 <<CONTAINERFILE || fail 4 "docker buildx could not build and push $reference; see $work/$1.log"
FROM scratch
ARG TARGETARCH
ADD $1-\${TARGETARCH}.tar /
$environment
LABEL dev.steelyard.base.left-out="$left_out" org.opencontainers.image.title="steelyard base: $1" org.opencontainers.image.description="Debian $suite packages, unpacked$([ "$1" != openj9 ] || echo ', and an Eclipse OpenJ9')"
CONTAINERFILE
    # Of one platform no index is pushed, and a builder takes that one image for every platform.
    docker buildx imagetools create --tag "$reference" "$reference" >>"$work/$1.log" 2>&1 || fail 4 "docker buildx could not push the index $reference; see $work/$1.log"
    echo "$reference $keys" >"$work/roots/$1.pushed"
    say "$reference: pushed for $2"
)

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Starts every image of a platform as the bundles do (read-only, no capabilities, a user that the image does not know) and
# waits until each has shown that it works, as its labels say: role, port, and the answers on that port (images/images.json).
# Needs docker and nothing else: it also runs where the harness does not.
#
#   start.sh PLATFORM IMAGE...     references, by tag or digest; with `loadgen` goes `ping`, which it loads
#   START_SECONDS: how long to wait for the answers of each, and for its end (default 90; 300 for an emulated platform)
set -eu

[ $# -ge 2 ] || { echo "usage: start.sh PLATFORM IMAGE..." >&2 && exit 2; }
platform=$1
shift
patience=90 memory=512m hotspot='' openj9=''
if [ "$platform" != "linux/$(docker version --format '{{.Server.Arch}}')" ]; then
    # An emulator needs memory for itself; the better compilers take longer there than they save.
    patience=300 memory=1g hotspot=-XX:TieredStopAtLevel=1 openj9=-Xquickstart
fi
patience=${START_SECONDS:-$patience}
group=steelyard-start-$$
network=$group
started=

fail() {
    printf 'start: %s\n' "$1" >&2
    for name in $started; do echo "--- $name" >&2 && docker logs --tail 40 "$name" 2>&1 | cat >&2; done
    exit 1
}

cleanup() {
    # shellcheck disable=SC2086
    [ -z "$started" ] || docker rm --force --volumes $started >/dev/null 2>&1 || true
    docker network rm "$network" >/dev/null 2>&1 || true
}
trap cleanup EXIT
trap 'exit 130' INT TERM
docker network create "$network" >/dev/null

run() { # NAME OPTIONS... IMAGE [COMMAND...] ; in the background
    name=$group-$1
    shift
    started="$started $name"
    docker run --detach --quiet --name "$name" --network "$network" --platform "$platform" --read-only --tmpfs /tmp:mode=1777 \
        --cap-drop ALL --security-opt no-new-privileges --memory "$memory" "$@" >/dev/null || fail "$name did not start"
}

await() { # COMMAND... ; until it succeeds, while the container runs
    deadline=$(($(date +%s) + patience))
    until "$@" >/dev/null 2>&1; do
        [ "$(docker inspect --format '{{.State.Running}}' "$name")" = true ] || fail "$name ended: $(docker inspect --format '{{.State.ExitCode}}' "$name")"
        [ "$(date +%s)" -lt "$deadline" ] || fail "$name did not answer within $patience s"
        sleep 0.5
    done
}

busybox() { docker exec "$name" /opt/steelyard/bin/busybox "$@"; }
answers() { busybox wget -q -O - "http://127.0.0.1:$1" | grep -q "$2"; }

ended() { # STATUS... ; the container's own end
    status=$(timeout "$patience" docker wait "$name") || fail "$name did not end within $patience s"
    for good in "$@"; do [ "$status" != "$good" ] || return 0; done
    fail "$name ended with status $status"
}

stop() { # in order: 143 is a JVM that ended on the signal; 137 would be a kill
    docker stop --time "$patience" "$name" >/dev/null
    ended 0 130 143
}

label() { docker image inspect --format "{{index .Config.Labels \"$1\"}}" "$2"; }

service() { # IMAGE ; until it has given every answer that its labels name, or, where they name none, its port is open
    server=$1
    set -- --user 12345:0
    case $(label dev.steelyard.flavour "$server") in
        hotspot) set -- "$@" --env JVM_ARGS="$hotspot" ;;
        openj9) set -- "$@" --env JVM_ARGS="$openj9" ;;
    esac
    port=$(label dev.steelyard.port "$server") expected=$(label dev.steelyard.answers "$server")
    run "$number" "$@" "$server"
    if [ -z "$expected" ]; then await busybox nc -w 3 127.0.0.1 "$port" -e /opt/steelyard/bin/busybox true; fi
    for each in $expected; do await answers "$port${each%%=*}" "${each#*=}"; done
}

for image in "$@"; do
    docker image inspect "$image" >/dev/null 2>&1 || docker pull --quiet --platform "$platform" "$image" >/dev/null
done
number=0
for image in "$@"; do
    number=$((number + 1))
    case $(label dev.steelyard.role "$image") in
        server | service | database | compiler)
            service "$image"
            stop
            ;;
        injector)
            for target in "$@"; do [ "$(label dev.steelyard.workload "$target")" != ping ] || break; done
            [ "$(label dev.steelyard.workload "$target")" = ping ] || fail "with $image goes an image of ping"
            service "$target"
            number=$((number + 1))
            target=$name
            run "$number" --user 12345:0 --env LOADGEN_SETTINGS='{"journey": {"visits": {"ping": {"steps":
                [{"operation": "ping", "path": "/ping", "check": {"contains": "pong"}}]}}}, "targets": ["http://'"$target:$port"'"],
                "model": "closed", "users": 2, "rampSeconds": 1, "measureSeconds": 3, "output": "/tmp/run"}' "$image"
            ended 0
            docker logs "$name" 2>&1 | grep -Eq '^ *ping +[1-9][0-9,]* +0 ' || fail "the load had errors, or there was none"
            ;;
        harness)
            # Imports all that it may need, the compiled packages among it.
            run "$number" --user 12345:0 --entrypoint sh "$image" -euc 'docker compose version; python3 -m steelyard list
                python3 -c "import matplotlib.figure, psutil, scipy.optimize, scipy.stats, yaml"'
            ended 0
            ;;
        filter)
            run "$number" --user 0:0 --volume /run/steelyard --volume /var/run/docker.sock:/var/run/docker.sock:ro "$image"
            await docker exec "$name" test -S /run/steelyard/docker.sock
            stop
            ;;
        *) fail "$image: its labels do not say how it shows that it works" ;;
    esac
    echo "start: $image ($platform) works"
done

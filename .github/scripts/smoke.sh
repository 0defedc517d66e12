#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Starts a server image as the bundles do (read-only, no capabilities, any user id) and waits for its first correct
# response. Needs a container engine and nothing else, so that it also runs on machines without the harness.
#
#   smoke.sh IMAGE [PLATFORM]      SMOKE_SECONDS: how long to wait (default 90; an emulated platform takes longer)
#                                  SMOKE_MEMORY: its limit (default 512m; an emulator needs memory for itself)
#                                  SMOKE_JVM_ARGS: JVM options
set -eu

image=${1:?usage: smoke.sh IMAGE [PLATFORM]}
platform=${2:-}
limit=${SMOKE_SECONDS:-90}
name=steelyard-smoke-$$

fail() {
    printf 'smoke: %s\n' "$1" >&2
    docker logs --tail 40 "$name" >&2 2>/dev/null || true
    exit 1
}

cleanup() {
    docker rm --force --volumes "$name" >/dev/null 2>&1 || true
    docker network rm "$name" >/dev/null 2>&1 || true
}
trap cleanup EXIT
trap 'exit 130' INT TERM

docker network create "$name" >/dev/null
since() { echo "$began $(date +%s.%N)" | awk '{printf "%.1f", $2 - $1}'; }
began=$(date +%s.%N)
# A user id that the image does not know: the images promise to work for any, with group 0.
docker run --detach --name "$name" --network "$name" ${platform:+--platform "$platform"} --user 12345:0 \
    --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges \
    --memory "${SMOKE_MEMORY:-512m}" --cpus 1 ${SMOKE_JVM_ARGS:+--env "JVM_ARGS=$SMOKE_JVM_ARGS"} \
    --publish 127.0.0.1::9080 "$image" >/dev/null || fail "$image did not start."
# Without its database AcmeAir lives and is not ready: this is about the image.
case $(docker inspect --format '{{index .Config.Labels "dev.steelyard.workload"}}' "$name") in
    ping) path=ping answer=pong ;;
    *) path=health/live answer=UP ;;
esac
address=$(docker port "$name" 9080/tcp | head -n 1)

until curl --silent --fail --max-time 5 "http://$address/$path" | grep -q "$answer"; do
    [ "$(docker inspect --format '{{.State.Running}}' "$name")" = true ] || fail "$image ended before its first response."
    [ "$(since | cut -d . -f 1)" -lt "$limit" ] || fail "no correct response from $image within $limit seconds."
    sleep 0.2
done
seconds=$(since)
resident=$(docker top "$name" -o pid,rss | awk 'NR > 1 {kib += $2} END {if (!kib) exit 1; printf "%d", kib / 1024}') ||
    fail "the memory of $image cannot be read."
printf 'smoke: %s%s answered after %s s, %s MiB resident\n' "$image" "${platform:+ ($platform)}" "$seconds" "$resident"
curl --fail --silent --show-error --max-time 10 "http://$address/bench/info"
echo

docker stop --time 20 "$name" >/dev/null
status=$(docker inspect --format '{{.State.ExitCode}}' "$name")
# 143: the JVM ended on the signal, in order; 137 would be a kill.
case $status in 0 | 130 | 143) ;; *) fail "$image ended with status $status when it was stopped." ;; esac

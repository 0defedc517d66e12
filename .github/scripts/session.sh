#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A short session of the compose engine with the images that are in the engine, on a host with control groups version 2.
# Nothing may be missing or have failed in its trials; that a shared runner is noisy is no fault of the engine's.
#
#   session.sh [FOLDER]      for the results (default session)
set -eu

folder=${1:-session}
[ "$(stat --file-system --format %T /sys/fs/cgroup)" = cgroup2fs ] ||
    { echo "session: this host has no control groups version 2: $(stat -fc %T /sys/fs/cgroup)" >&2 && exit 1; }
status=0
./steelyard run jvm-count --engine compose --quick --out "$folder" || status=$?
# 9: some block has no two valid trials.
case $status in 0 | 9) ;; *) exit "$status" ;; esac
trials=$(find "$folder" -name trial.json)
[ -n "$trials" ] || { echo "session: no trial in $folder" >&2 && exit 1; }
# shellcheck disable=SC2086
jq --slurp --raw-output --exit-status '
    ["steal", "other-cpu", "throttling", "clock-step", "injector-cpu", "counts-window", "users-in-flight", "sample-gaps"] as $noise
    | [.[].checks[] | select(.voids and .applies and (.passed | not)) | .name as $name
        | select($noise | index($name) | not) | "\($name): \(.detail)"]
    | if length > 0 then error(join("; ")) else "session: nothing failed but by noise" end' $trials

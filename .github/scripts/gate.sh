#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The gate in a pipeline: certifies the runner where that is asked for, weighs, and tells. What it is asked stands in the
# environment: BASELINE, CANDIDATE, and EXPERIMENT, WORKLOAD, MARGIN, METRIC, TIME, CERTIFICATES where they are not the
# command's own; CERTIFY: pairs of a certificate that is made first (0: none); OPTIONS: further ones of both commands, one
# word a line; UNSURE_FAILS=true: inconclusive fails.
#
# On GitHub the summary, annotations and outputs go where its runner looks for them; elsewhere the summary is printed.
# Exit codes are those of the command; an inconclusive one is 0, unless that fails.
set -eu

steelyard=$(dirname "$0")/../../steelyard
results="steelyard-results"
certificates=${CERTIFICATES:-$results/certificates}
output=${GITHUB_OUTPUT:-/dev/null}

set -- "${EXPERIMENT:-gate}" --out "$results" --certificates "$certificates"
[ -z "${WORKLOAD:-}" ] || set -- "$@" --workload "$WORKLOAD"
while IFS= read -r word; do [ -z "$word" ] || set -- "$@" "$word"; done <<WORDS
${OPTIONS:-}
WORDS

none() { # STATUS ; something failed: no verdict, and never a regression
    echo "verdict=none" >>"$output"
    [ -z "${GITHUB_ACTIONS:-}" ] || echo "::error title=Performance gate: no verdict::exit code $1 (docs/commands.md); the log says why"
    exit "$1"
}

status=0
[ "${CERTIFY:-0}" = 0 ] || "$steelyard" certify "$@" --blocks "$CERTIFY" || status=$?
[ "$status" = 0 ] || none "$status"

[ -z "${MARGIN:-}" ] || set -- "$@" --margin "$MARGIN"
[ -z "${METRIC:-}" ] || set -- "$@" --metric "$METRIC"
[ -z "${TIME:-}" ] || set -- "$@" --time "$TIME"
answer=$(mktemp)
trap 'rm -f "$answer"' EXIT
"$steelyard" gate "$@" --baseline "$BASELINE" --candidate "$CANDIDATE" --json >"$answer" || status=$?
case $status in 0 | 1 | 2) ;; *) none "$status" ;; esac

# JSON, line by line as the command prints it: no other program is needed.
told() { sed -n "s/^ \"$1\": \"\(.*\)\",\{0,1\}$/\1/p" "$answer" | head -n 1; }
directory=$(told directory)
{
    echo "verdict=$(told outcome)"
    echo "sentence=$(sed -n '1s/^::[^:]*:://;1s/%25/%/g;1p' "$directory/gate.annotations")"
    echo "directory=$directory"
    echo "session=${directory##*/}"
} >>"$output"
cat "$directory/gate.md" >>"${GITHUB_STEP_SUMMARY:-/dev/stdout}"
[ -z "${GITHUB_ACTIONS:-}" ] || cat "$directory/gate.annotations"
[ "$status" = 2 ] && [ "${UNSURE_FAILS:-false}" != true ] && exit 0
exit "$status"

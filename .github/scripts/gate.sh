#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The gate in a pipeline: certifies the runner where that is asked for, weighs, and tells. What it is asked stands in the
# environment: BASELINE, CANDIDATE, and EXPERIMENT, WORKLOAD, MARGIN, METRIC, TIME, CERTIFICATES where they are not the
# command's own; CERTIFY: pairs of a certificate that is made first (0: none); OPTIONS: further ones of both commands, one
# word a line; UNSURE_FAILS=true: inconclusive fails. COMMIT: what the summary calls the change, where it is not GITHUB_SHA;
# GATE_NAME, JOB_INDEX: what tells this gate from others of its job, for the comment.
#
# On GitHub the summary, annotations and outputs go where its runner looks for them; elsewhere the summary is printed.
# steelyard-results/summary.md is the comment, whether there is a verdict or not.
# Exit codes are those of the command; an inconclusive one is 0, unless that fails. 1 and 2 are the gate's alone.
set -eu

# Whose workload file it is, who wrote the pipeline has said by naming it.
export STEELYARD_TRUST=1
steelyard=$(dirname "$0")/../../steelyard
results="steelyard-results"
certificates=${CERTIFICATES:-$results/certificates}
output=${GITHUB_OUTPUT:-/dev/null}
summary=$results/summary.md
answer=
# What it ends with, whatever the shell would: until there is a verdict, all that can fail here is writing.
code=8
trap 'rm -f "$answer" || :; exit "$code"' EXIT

# One line, and nothing that would end the code or the comment of HTML that it stands in.
line() { printf '%s' "$1" | tr '\n\r' '  ' | tr -d '`<>'; }

# What the comment is found by: the same in every run, another one for each gate of a workflow.
mark=$(line "${GITHUB_WORKFLOW:-}, ${GITHUB_JOB:-}, ${JOB_INDEX:-}, ${GATE_NAME:-}, ${EXPERIMENT:-gate}, ${WORKLOAD:-}, ${METRIC:-}")
commit=$(line "${COMMIT:-${GITHUB_SHA:-}}")

tell() { # the summary, whose text is standard input
    mkdir -p "$results"
    {
        echo "<!-- steelyard-gate: $mark -->"
        cat
        [ -z "$commit" ] || printf '<sub>commit %.9s</sub>\n' "$commit"
    } >"$summary"
    echo "summary=$summary" >>"$output"
    if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then cat "$summary" >>"$GITHUB_STEP_SUMMARY"; else cat "$summary"; fi
}

none() { # STATUS SENTENCE... ; there is no verdict, and never a regression
    code=$1
    shift
    [ $# = 0 ] || echo "gate.sh: $*" >&2
    [ -z "${GITHUB_ACTIONS:-}" ] ||
        echo "::error title=Performance gate%3A no verdict::exit code $code (docs/commands.md); the log says why"
    echo "verdict=none" >>"$output"
    log="the log"
    [ -z "${GITHUB_RUN_ID:-}" ] || log="[the log]($GITHUB_SERVER_URL/$GITHUB_REPOSITORY/actions/runs/$GITHUB_RUN_ID)"
    tell <<TEXT
### &#9888; No verdict: \`$(line "${CANDIDATE:-?}")\` against \`$(line "${BASELINE:-?}")\`

The gate ended with exit code $code before it could answer: $log says why.

TEXT
    exit
}

[ -n "${BASELINE:-}" ] && [ -n "${CANDIDATE:-}" ] ||
    none 4 "a gate weighs two sides: set BASELINE and CANDIDATE in the environment, for example BASELINE=HEAD~1"
answer=$(mktemp) || none 8 "no temporary file can be made: is the disk full?"

set -- "${EXPERIMENT:-gate}" --out "$results" --certificates "$certificates"
[ -z "${WORKLOAD:-}" ] || set -- "$@" --workload "$WORKLOAD"
while IFS= read -r word; do [ -z "$word" ] || set -- "$@" "$word"; done <<WORDS
${OPTIONS:-}
WORDS

status=0
[ "${CERTIFY:-0}" = 0 ] || "$steelyard" certify "$@" --baseline "$BASELINE" --blocks "$CERTIFY" || status=$?
case $status in
0) ;;
9) echo "gate.sh: too much was void for a certificate; the gate says what it can do without" >&2 ;;
1 | 2) none 14 "certify ended with $status, which means something else" ;;
*) none "$status" ;;
esac

[ -z "${MARGIN:-}" ] || set -- "$@" --margin "$MARGIN"
[ -z "${METRIC:-}" ] || set -- "$@" --metric "$METRIC"
[ -z "${TIME:-}" ] || set -- "$@" --time "$TIME"
status=0
"$steelyard" gate "$@" --baseline "$BASELINE" --candidate "$CANDIDATE" --json >"$answer" || status=$?

# JSON, line by line as the command prints it: no other program is needed.
told() { sed -n "s/^ \"$1\": \"\(.*\)\",\{0,1\}$/\1/p" "$answer" | head -n 1; }
outcome=$(told outcome)
case "$status $outcome" in
"0 pass" | "1 regression" | "2 inconclusive") ;;
"0 "* | "1 "* | "2 "*) none 14 "the gate ended with $status and the answer '$outcome', which do not belong together" ;;
*) none "$status" ;;
esac
directory=$(told directory)
for file in gate.md gate.annotations; do
    [ -s "$directory/$file" ] || none 14 "the gate left no $file in '$directory'"
done
# No echo: some of them read backslashes, and people may have called their sides anything.
{
    printf 'verdict=%s\n' "$outcome"
    printf 'sentence=%s\n' "$(sed -n '1s/^::[^:]*:://;1s/%25/%/g;1p' "$directory/gate.annotations")"
    printf 'directory=%s\nsession=%s\n' "$directory" "${directory##*/}"
} >>"$output"
sed 1d "$directory/gate.md" | tell
[ -z "${GITHUB_ACTIONS:-}" ] || cat "$directory/gate.annotations"
[ "$status" != 2 ] || [ "${UNSURE_FAILS:-false}" = true ] || status=0
code=$status

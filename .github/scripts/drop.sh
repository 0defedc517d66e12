#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Leaves out of a record what did not work: pushes each index anew, by digest, without the platforms that failed, and says of each
# in one sentence what is missing and why, with what could not be built (build.sh). A platform of which nothing was heard has
# failed. Needs curl, jq.
#
#   drop.sh RECORD NEW-RECORD NOTES RESULT...      RESULT: what start-record.sh wrote; NOTES: the sentences, for people
#   REGISTRY_TOKEN: of the registry; none for one on this machine
set -eu

[ $# -ge 4 ] || { echo "usage: drop.sh RECORD NEW-RECORD NOTES RESULT..." >&2 && exit 2; }
record=$1 new=$2 notes=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The token goes by a file that only this user reads, so that no command line shows it.
umask 077
: >"$work/curl"
[ -z "${REGISTRY_TOKEN:-}" ] ||
    printf 'header = "Authorization: Bearer %s"\n' "$(printf %s "$REGISTRY_TOKEN" | base64 | tr -d '\n')" >"$work/curl"

# One line for each image and platform that goes: all of a platform without a result among them.
jq --slurp --slurpfile record "$record" '
    [.[].platform] as $heard | [.[].failed[]] as $failed
    | $failed + [$record[0] | to_entries[] | .key as $t | .value.platforms | keys[] | select(. as $p | $heard | index($p) | not)
        | {target: $t, platform: ., why: "it was started nowhere"}]
    | group_by([.target, .platform]) | map(.[0])' "$@" >"$work/gone.json"
if jq --exit-status 'any(.platform == "linux/amd64")' "$work/gone.json" >/dev/null; then
    jq --raw-output '.[] | select(.platform == "linux/amd64") | "drop: \(.target) (\(.platform)): \(.why)"' "$work/gone.json" >&2
    echo "drop: there is no version without linux/amd64" >&2
    exit 1
fi

cp "$record" "$work/record.json"
for target in $(jq --raw-output '[.[].target] | unique[]' "$work/gone.json"); do
    name=$(jq --raw-output --arg t "$target" '.[$t]["image.name"] | sub(",.*"; "") | sub(":[^:/]*$"; "")' "$record")
    digest=$(jq --raw-output --arg t "$target" '.[$t]["containerimage.digest"]' "$record")
    scheme=https
    case $name in 127.0.0.1:* | localhost:*) scheme=http ;; esac
    address=$scheme://${name%%/*}/v2/${name#*/}/manifests
    type=application/vnd.oci.image.index.v1+json
    curl --silent --show-error --fail --config "$work/curl" --header "Accept: $type" --output "$work/index.json" "$address/$digest"
    # The builder's statements on a platform go with it.
    jq --compact-output --arg t "$target" --slurpfile gone "$work/gone.json" '
        [$gone[0][] | select(.target == $t) | .platform] as $platforms
        | [.manifests[] | select("\(.platform.os)/\(.platform.architecture)" as $p | $platforms | index($p)) | .digest] as $digests
        | .manifests |= map(select((.digest as $d | $digests | index($d) | not)
            and (.annotations["vnd.docker.reference.digest"] as $d | $digests | index($d) | not)))' \
        "$work/index.json" | tr -d '\n' >"$work/less.json"
    less=sha256:$(sha256sum "$work/less.json" | cut -d ' ' -f 1)
    curl --silent --show-error --fail --config "$work/curl" --header "Content-Type: $type" --request PUT \
        --data-binary "@$work/less.json" --output /dev/null "$address/$less"
    jq --arg t "$target" --arg digest "$less" --slurpfile gone "$work/gone.json" '
        reduce ($gone[0][] | select(.target == $t)) as $one (.; del(.[$t].platforms[$one.platform])
            | .[$t].missing[$one.platform] = $one.why)
        | .[$t]["containerimage.digest"] = $digest' "$work/record.json" >"$work/next.json"
    mv "$work/next.json" "$work/record.json"
done
jq --raw-output 'to_entries[] | .key as $t | .value.missing // {} | to_entries[]
    | "- `\($t)` is not there for \(.key): \(.value)."' "$work/record.json" | sort >"$notes"
cp "$work/record.json" "$new"
sed 's/^- /drop: /' "$notes"

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Looks for known holes in what this project depends on: the lock files of the checkout, and with a record the SBOM of each platform
# of each image. Fails for a finding that has a mend, or that is in what this project chose itself (Java, Python, Go). What a base's
# system (Debian, Ubuntu, Alpine) has no mend for yet goes into FILE, for people. What was looked at and accepted stands in
# .github/osv-scanner.toml, each with its reason and until when. Needs osv-scanner, jq; with a record also docker.
#
#   scan.sh [RECORD [FILE]]      FILE: comma-separated values with a first line of names
set -eu

record=${1:+$(realpath "$1")}
file=${2:+$(realpath "$2")}
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/answers"

# It ends with 1 for findings, and with more where it could not tell.
look() { # NAME ARGUMENT...
    answer=$work/answers/$1.json code=0
    shift
    osv-scanner scan source --format json --config .github/osv-scanner.toml "$@" >"$answer" || code=$?
    jq --slurp --exit-status --argjson code "$code" 'length == 1 and (.[0].results | type == "array")
        and ($code == 0 or $code == 1 and any(.[0].results[].packages[].vulnerabilities[]?; true))' "$answer" >/dev/null ||
        { echo "scan: osv-scanner ended with $code and does not say what it found ($*)" >&2 && exit 1; }
}

# By their names, so that none is left out.
look checkout --recursive --lockfile requirements.txt:scripts/requirements.txt \
    --lockfile requirements.txt:scripts/requirements-test.txt --lockfile requirements.txt:scripts/requirements-site.txt .
if [ -n "$record" ]; then
    .github/scripts/sboms.sh "$record" "$work/sboms"
    for sbom in "$work"/sboms/*.spdx.json; do look "$(basename "$sbom" .spdx.json)" --lockfile "$sbom"; done
fi

# Of Ubuntu's entries those of Pro hold for who pays. Of a system whose release no entry names nothing is known, which counts.
jq --null-input --arg root "$PWD/" '
    def release: (.ecosystem // "") | gsub(":(Pro|LTS)"; "");
    [inputs.results[] | (.source.path | sub(".*/(?<image>[^/]+)\\.spdx\\.json$"; .image) | ltrimstr($root)) as $where
        | .packages[] | .package as $package | .vulnerabilities[]?
        | [.affected[]? | select(.package.name == $package.name and (.package | release) == ($package | release))] as $entries
        | {id, package: $package.name, version: $package.version, ecosystem: $package.ecosystem, $where,
            fixed: [$entries[] | select(.package.ecosystem | test(":Pro") | not) | .ranges[]?.events[]?.fixed // empty] | unique | join(", "),
            waits: (($package.ecosystem | test("^(Debian|Ubuntu|Alpine):")) and $entries != [])}]
    | group_by([.id, .package, .version, .ecosystem])
    | map(.[0] + {where: (map(.where) | unique | join(" ")), waits: all(.waits and .fixed == "")})' "$work"/answers/*.json >"$work/findings.json"
[ -z "$file" ] || jq --raw-output '["id", "package", "version", "ecosystem", "where"], (.[] | select(.waits)
    | [.id, .package, .version, .ecosystem, .where]) | @csv' "$work/findings.json" >"$file"
echo "scan: $(jq 'map(select(.waits)) | length' "$work/findings.json") findings without a mend in the systems of the bases"
jq --raw-output '.[] | select(.waits | not) | "scan: \(.id) in \(.package) \(.version) (\(.ecosystem)), "
    + (if .fixed == "" then "no version has it mended" else "fixed in \(.fixed)" end) + ": \(.where)"' "$work/findings.json" >&2
jq --exit-status 'all(.waits)' "$work/findings.json" >/dev/null

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One comment on a pull request for each gate: the first run writes it, every later one writes it anew. Its first line, which
# nobody sees, is what it is found by. Of a change from a fork the token may not write: that is said, and nothing fails.
#
#   comment.sh FILE       PULL_REQUEST: its number; GH_TOKEN, GITHUB_REPOSITORY as on a runner
set -eu

file=${1:?usage: comment.sh FILE}
[ -n "${PULL_REQUEST:-}" ] || { echo "comment: this run is of no pull request" && exit 0; }
mark=$(head -n 1 "$file")
case $mark in "<!-- steelyard-gate: "*) ;; *) echo "comment: $file is no gate's summary" >&2 && exit 1 ;; esac
comments=repos/$GITHUB_REPOSITORY/issues/$PULL_REQUEST/comments

# Only what a bot wrote: a person may have quoted it.
found=$(MARK=$mark gh api --paginate "$comments" \
    --jq '.[] | select(.user.type == "Bot" and (.body | startswith(env.MARK))) | .id' | head -n 1) || found=
if [ -n "$found" ]; then
    said=$(gh api --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$found" --field body=@"$file" --jq .html_url 2>&1) || said="not written: $said"
else
    said=$(gh api --method POST "$comments" --field body=@"$file" --jq .html_url 2>&1) || said="not written: $said"
fi
echo "comment: $said"

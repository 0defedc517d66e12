#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One comment on a pull request for each gate: the first run writes it, every later one writes it anew. Its first line, which
# nobody sees, is what it is found by. Of a change from a fork the token may not write: that is said, and nothing fails.
#
#   comment.sh FILE       PULL_REQUEST: its number; GH_TOKEN, GITHUB_REPOSITORY as on a runner
set -eu

file=${1:?usage: comment.sh FILE}
say() { printf 'comment: %s\n' "$1"; }

[ -n "${PULL_REQUEST:-}" ] || { say "this run is of no pull request" && exit 0; }
mark=$(head -n 1 "$file")
case $mark in "<!-- steelyard-gate: "*) ;; *) say "$file is no gate's summary" >&2 && exit 1 ;; esac
comments=repos/$GITHUB_REPOSITORY/issues/$PULL_REQUEST/comments

# Without the list there would be a second comment.
listed=$(gh api --paginate "$comments" --jq '.[] | "\(.id) \(.user.type) \(.user.login) "
    + (.body // "" | split("\n")[0] // "" | rtrimstr("\r"))' 2>&1) ||
    { say "not written, as those that are there cannot be listed: $listed" && exit 0; }
# A workflow's own token belongs to no user, and may not ask; its comments are a bot's.
me=$(gh api user --jq .login 2>&1) || case $me in
*"HTTP 403"*) me= ;;
*) say "not written, as the token's owner is not known: $me" && exit 0 ;;
esac

# Only its own: a person may have quoted it.
found=
while read -r id type login first; do
    [ "$first" = "$mark" ] || continue
    if [ -n "$me" ]; then [ "$login" = "$me" ]; else [ "$type" = Bot ]; fi || continue
    found=$id
    break
done <<COMMENTS
$listed
COMMENTS
if [ -n "$found" ]; then
    said=$(gh api --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$found" --field body=@"$file" --jq .html_url 2>&1) || said="not written: $said"
else
    said=$(gh api --method POST "$comments" --field body=@"$file" --jq .html_url 2>&1) || said="not written: $said"
fi
say "$said"

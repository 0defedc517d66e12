#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Adds the sessions below a folder to the branch `history`, draws its page anew and pushes both.
#
#   publish.sh FOLDER     GH_TOKEN: may write the repository; GITHUB_REPOSITORY, GITHUB_SERVER_URL, GITHUB_SHA as on a runner
#   REMOTE: another place of the branch (a rehearsal); POOL: what its machines are called together, where each has a name of its own
set -eu

# Of a night in which nothing was measured there is no folder.
[ -d "${1:?usage: publish.sh FOLDER}" ] || { echo "publish: no session below $1" && exit 0; }
sessions=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
remote=${REMOTE:-$GITHUB_SERVER_URL/$GITHUB_REPOSITORY.git}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The token goes by the environment, so that no command line and no file shows it.
if [ -n "${GH_TOKEN:-}" ]; then
    header=$(printf 'x-access-token:%s' "$GH_TOKEN" | base64 | tr -d '\n')
    export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=http.extraHeader GIT_CONFIG_VALUE_0="Authorization: Basic $header"
fi
if [ -n "$(git ls-remote "$remote" refs/heads/history)" ]; then
    git clone --quiet --depth 1 --branch history "$remote" "$work/history"
else
    git init --quiet --initial-branch history "$work/history"
    git -C "$work/history" remote add origin "$remote"
fi

added=0
# One artifact alone is unpacked without a folder of its own.
for session in "$sessions"/session.json "$sessions"/*/session.json "$sessions"/*/*/session.json; do
    [ -e "$session" ] || continue
    case $session in */confirmation/session.json) continue ;; esac
    # A night in which nothing was measured leaves nothing to keep, and must not lose the others'.
    ./steelyard history add "$(dirname "$session")" --in "$work/history" --commit "$GITHUB_SHA" ${POOL:+--pool "$POOL"} && added=$((added + 1))
done
[ "$added" -gt 0 ] || { echo "publish: no session below $sessions has figures" && exit 0; }
./steelyard history plot --in "$work/history" --title "Steelyard, night by night"
touch "$work/history/.nojekyll"
git -C "$work/history" add --all
# The same figures once more: there is nothing to commit, and still something to check.
git -C "$work/history" diff --cached --quiet ||
    git -C "$work/history" -c user.name=steelyard -c user.email=steelyard@invalid commit --quiet --message "Figures of $GITHUB_SHA"
git -C "$work/history" push --quiet origin HEAD:refs/heads/history
echo "publish: $added sessions"
./steelyard history check --in "$work/history"

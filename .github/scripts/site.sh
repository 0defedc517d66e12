#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Publishes the documents: builds the site and makes it the one commit of the branch `pages`, with the page of the branch
# `history` below history/ where there is one.
#
#   site.sh     GH_TOKEN: may write the repository; GITHUB_REPOSITORY, GITHUB_SERVER_URL, GITHUB_SHA as on a runner
#   REMOTE: another place of the branches (a rehearsal); SITE: a folder with the site, built already
set -eu

cd "$(dirname "$0")/../.."
remote=${REMOTE:-$GITHUB_SERVER_URL/$GITHUB_REPOSITORY.git}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ -n "${SITE:-}" ]; then
    cp -R "$SITE" "$work/site"
else
    SITE_REPOSITORY=$GITHUB_SERVER_URL/$GITHUB_REPOSITORY python3 scripts/pages/site.py "$work/site"
fi

# The token goes by the environment, so that no command line and no file shows it.
if [ -n "${GH_TOKEN:-}" ]; then
    header=$(printf 'x-access-token:%s' "$GH_TOKEN" | base64 | tr -d '\n')
    export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=http.extraHeader GIT_CONFIG_VALUE_0="Authorization: Basic $header"
fi
if [ -n "$(git ls-remote "$remote" refs/heads/history)" ]; then
    git clone --quiet --depth 1 --branch history "$remote" "$work/site/history"
    rm -rf "$work/site/history/.git"
fi
touch "$work/site/.nojekyll"
git init --quiet --initial-branch pages "$work/site"
git -C "$work/site" add --all
git -C "$work/site" -c user.name=steelyard -c user.email=steelyard@invalid commit --quiet --message "Documents of $GITHUB_SHA"
# One commit: the site is made of the checkout, so no older one is worth keeping.
git -C "$work/site" push --quiet --force "$remote" pages:refs/heads/pages
echo "site: published"

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Unpacks Debian's nginx into a folder: nothing is installed, and no service starts. Usage: unpack-nginx.sh FOLDER
set -eu
mkdir -p "$1"
cd "$1"
[ -x usr/sbin/nginx ] && exit 0
# A machine whose package lists were never fetched has nothing to download from; a mirror may fail once.
fetch() { apt-get -q -o Acquire::Retries=3 "$@"; }
fetch download nginx 2>/dev/null || { fetch update && fetch download nginx; }
dpkg -x nginx_*.deb .
usr/sbin/nginx -v

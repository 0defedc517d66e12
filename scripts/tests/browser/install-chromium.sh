#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs Debian's Chromium, from wherever this machine's own apt takes its packages. Usage, as root: install-chromium.sh
set -eu
# A machine whose package lists were never fetched has nothing to install from; a mirror may fail once.
install() {
    DEBIAN_FRONTEND=noninteractive apt-get -q -o Acquire::Retries=3 install -y --no-install-recommends chromium
}
install 2>/dev/null || { apt-get -q -o Acquire::Retries=3 update && install; }
chromium --version

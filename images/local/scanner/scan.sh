#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What BuildKit runs for an SBOM, by its protocol (docs/attestations/sbom-protocol.md there): the root of an image comes in
# BUILDKIT_SCAN_SOURCE, a statement with an SPDX document goes into BUILDKIT_SCAN_DESTINATION.
set -eu

source=$BUILDKIT_SCAN_SOURCE
name=$(basename "$source")
out=$BUILDKIT_SCAN_DESTINATION/$name.spdx.json

packages() { # one line each: kind, name, version, architecture or SHA-256
    for file in "$source"/var/lib/dpkg/status.d/* "$source"/var/lib/dpkg/status; do
        [ ! -f "$file" ] || awk -F ': ' '
            function put() { if (name != "") print "deb", name, version, architecture; name = "" }
            $1 == "Package" { put(); name = $2 } $1 == "Status" && $2 ~ / (not-installed|config-files)$/ { name = "" }
            $1 == "Version" { version = $2 } $1 == "Architecture" { architecture = $2 } END { put() }' "$file"
    done
    find "$source" -name '*.jar' -type f | while read -r jar; do
        file=$(basename "$jar" .jar)
        version=$(printf %s "$file" | sed -n 's/^.*[-_]\([0-9][0-9A-Za-z.-]*\)$/\1/p')
        echo "jar ${file%[-_]"$version"} ${version:-unknown} $(sha256sum "$jar" | cut -d ' ' -f 1)"
    done
}

packages | sort -u | awk -v name="$name" '
    BEGIN {
        printf "{\"_type\": \"https://in-toto.io/Statement/v0.1\", \"predicateType\": \"https://spdx.dev/Document\", \"predicate\": {"
        printf "\"spdxVersion\": \"SPDX-2.3\", \"dataLicense\": \"CC0-1.0\", \"SPDXID\": \"SPDXRef-DOCUMENT\", \"name\": \"%s\", ", name
        printf "\"documentNamespace\": \"urn:steelyard:local-scanner:%s\", ", name
        printf "\"creationInfo\": {\"creators\": [\"Tool: steelyard-local-scanner\"], \"created\": \"1970-01-01T00:00:00Z\"}, \"packages\": ["
    }
    {
        printf "%s{\"SPDXID\": \"SPDXRef-%d\", \"name\": \"%s\", \"versionInfo\": \"%s\", \"downloadLocation\": \"NOASSERTION\"", (NR > 1 ? ", " : ""), NR, $2, $3
        if ($1 == "deb")
            printf ", \"externalRefs\": [{\"referenceCategory\": \"PACKAGE-MANAGER\", \"referenceType\": \"purl\", \"referenceLocator\": \"pkg:deb/debian/%s@%s?arch=%s\"}]", $2, $3, $4
        else
            printf ", \"checksums\": [{\"algorithm\": \"SHA256\", \"checksumValue\": \"%s\"}]", $4
        printf "}"
    }
    END { print "]}}" }' >"$out"

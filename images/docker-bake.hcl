# SPDX-License-Identifier: Apache-2.0
# All images: docker buildx bake -f images/docker-bake.hcl [GROUP|TARGET]
# Every variable can be given in the environment; `steelyard images build` sets them from images/lock.json and from the
# finished Maven build. images/README.md says what each image is.

variable "REGISTRY" { default = "localhost/steelyard" }
variable "VERSION" { default = "0.1.0" }
variable "REVISION" { default = "" }
variable "SOURCE" { default = "https://github.com/steelyard/steelyard" }

# The finished build: the folder .steelyard/build/FINGERPRINT, with `ping/wlp`, `acmeair/wlp`, `embedded-mongo` and `loadgen`.
variable "FINGERPRINT" { default = "" }
variable "BUILD" { default = ".steelyard/build/${FINGERPRINT}" }
# What images/harness/inputs.sh collects: Python packages and the engine's client.
variable "HARNESS_INPUTS" { default = ".steelyard/harness" }
variable "VERSION_PING" { default = "" }
variable "VERSION_ACMEAIR" { default = "" }

# linux/arm64 can be added: every published base exists for it (images/lock.json).
variable "PLATFORMS" { default = "linux/amd64,linux/ppc64le" }

# What replaces a base that the Containerfiles name: a reference; by default the stage of their own FROM line.
variable "BASE_HOTSPOT" { default = "hotspot" }
variable "BASE_OPENJ9" { default = "openj9" }
variable "BASE_TOOLS" { default = "tools" }
variable "BASE_HARNESS" { default = "harness" }
variable "BASE_PROXY" { default = "proxy" }

# on = a shared class cache in the openj9 images; off by default, since the state of a cache is a factor of an experiment.
variable "SCC" { default = "off" }

group "default" {
  targets = [
    "ping-openj9", "ping-hotspot", "acmeair-openj9", "acmeair-hotspot", "embedded-mongo", "jitserver", "loadgen", "harness", "socket-proxy"
  ]
}

# Everything that needs no OpenJ9.
group "hotspot" {
  targets = ["ping-hotspot", "acmeair-hotspot", "embedded-mongo", "loadgen", "harness", "socket-proxy"]
}

# The rest.
group "openj9" {
  targets = ["ping-openj9", "acmeair-openj9", "jitserver"]
}

function "labels" {
  params = [title, description, licenses, base]
  result = {
    "org.opencontainers.image.title"       = title
    "org.opencontainers.image.description" = description
    "org.opencontainers.image.version"     = VERSION
    "org.opencontainers.image.revision"    = REVISION
    "org.opencontainers.image.source"      = SOURCE
    "org.opencontainers.image.licenses"    = licenses
    "org.opencontainers.image.base.name"   = regex_replace(base, "@.*$", "")
    "org.opencontainers.image.base.digest" = length(regexall("@", base)) > 0 ? regex_replace(base, "^.*@", "") : ""
    "dev.steelyard.fingerprint"            = FINGERPRINT
  }
}

target "_platforms" {
  platforms = split(",", PLATFORMS)
  network   = "none"
}

target "_ping" {
  inherits   = ["_platforms"]
  context    = "images/server"
  dockerfile = "Containerfile"
  target     = "ping"
  contexts   = { package = "${BUILD}/ping/wlp" }
}

target "ping-hotspot" {
  inherits = ["_ping"]
  args     = { BASE_HOTSPOT = BASE_HOTSPOT, BASE_TOOLS = BASE_TOOLS, FLAVOUR = "hotspot", WORKLOAD = "ping" }
  tags     = ["${REGISTRY}/ping:${VERSION}-hotspot"]
  labels = merge(
    labels("Steelyard ping (HotSpot)", "Open Liberty with the ping workload on HotSpot", "Apache-2.0 AND EPL-2.0", BASE_HOTSPOT),
    { "dev.steelyard.workload.version" = VERSION_PING }
  )
}

target "ping-openj9" {
  inherits = ["_ping"]
  args     = { BASE_OPENJ9 = BASE_OPENJ9, BASE_TOOLS = BASE_TOOLS, FLAVOUR = "openj9", WORKLOAD = "ping", SCC = SCC }
  tags     = ["${REGISTRY}/ping:${VERSION}-openj9", "${REGISTRY}/ping:${VERSION}"]
  labels = merge(
    labels("Steelyard ping (OpenJ9)", "Open Liberty with the ping workload on Eclipse OpenJ9", "Apache-2.0 AND EPL-2.0", BASE_OPENJ9),
    { "dev.steelyard.workload.version" = VERSION_PING }
  )
}

target "_acmeair" {
  inherits   = ["_platforms"]
  context    = "images/server"
  dockerfile = "Containerfile"
  target     = "acmeair"
  contexts   = { package = "${BUILD}/acmeair/wlp" }
}

target "acmeair-hotspot" {
  inherits = ["_acmeair"]
  args     = { BASE_HOTSPOT = BASE_HOTSPOT, BASE_TOOLS = BASE_TOOLS, FLAVOUR = "hotspot", WORKLOAD = "acmeair" }
  tags     = ["${REGISTRY}/acmeair:${VERSION}-hotspot"]
  labels = merge(
    labels("Steelyard AcmeAir (HotSpot)", "Open Liberty with AcmeAir, monolith and services, on HotSpot", "Apache-2.0 AND EPL-2.0", BASE_HOTSPOT),
    { "dev.steelyard.workload.version" = VERSION_ACMEAIR }
  )
}

target "acmeair-openj9" {
  inherits = ["_acmeair"]
  args     = { BASE_OPENJ9 = BASE_OPENJ9, BASE_TOOLS = BASE_TOOLS, FLAVOUR = "openj9", WORKLOAD = "acmeair", SCC = SCC }
  tags     = ["${REGISTRY}/acmeair:${VERSION}-openj9", "${REGISTRY}/acmeair:${VERSION}"]
  labels = merge(
    labels("Steelyard AcmeAir (OpenJ9)", "Open Liberty with AcmeAir, monolith and services, on Eclipse OpenJ9", "Apache-2.0 AND EPL-2.0", BASE_OPENJ9),
    { "dev.steelyard.workload.version" = VERSION_ACMEAIR }
  )
}

target "embedded-mongo" {
  inherits   = ["_platforms"]
  context    = "images/embedded-mongo"
  dockerfile = "Containerfile"
  contexts   = { jars = "${BUILD}/embedded-mongo" }
  args       = { BASE_HOTSPOT = BASE_HOTSPOT, BASE_TOOLS = BASE_TOOLS }
  tags       = ["${REGISTRY}/embedded-mongo:${VERSION}"]
  labels     = labels("Steelyard embedded database", "A database in memory that speaks MongoDB's wire protocol", "Apache-2.0 AND BSD-3-Clause", BASE_HOTSPOT)
}

target "loadgen" {
  inherits   = ["_platforms"]
  context    = "images/loadgen"
  dockerfile = "Containerfile"
  contexts   = { loadgen = "${BUILD}/loadgen" }
  args       = { BASE_HOTSPOT = BASE_HOTSPOT }
  tags       = ["${REGISTRY}/loadgen:${VERSION}"]
  labels     = labels("Steelyard loadgen", "Gatling injector that records every request", "Apache-2.0", BASE_HOTSPOT)
}

target "jitserver" {
  inherits   = ["_platforms"]
  context    = "images/jitserver"
  dockerfile = "Containerfile"
  args       = { BASE_OPENJ9 = BASE_OPENJ9, BASE_TOOLS = BASE_TOOLS }
  tags       = ["${REGISTRY}/jitserver:${VERSION}"]
  labels     = labels("Steelyard jitserver", "Compilation server of Eclipse OpenJ9", "Apache-2.0", BASE_OPENJ9)
}

target "harness" {
  inherits   = ["_platforms"]
  context    = "."
  dockerfile = "images/harness/Containerfile"
  contexts   = { inputs = HARNESS_INPUTS }
  args       = { BASE_HARNESS = BASE_HARNESS }
  tags       = ["${REGISTRY}/harness:${VERSION}"]
  labels     = labels("Steelyard harness", "Runs experiments through the container engine", "Apache-2.0", BASE_HARNESS)
}

target "socket-proxy" {
  inherits   = ["_platforms"]
  context    = "images/socket-proxy"
  dockerfile = "Containerfile"
  args       = { BASE_PROXY = BASE_PROXY }
  tags       = ["${REGISTRY}/socket-proxy:${VERSION}"]
  labels     = labels("Steelyard socket proxy", "Lets through only what experiments need of the engine's API", "Apache-2.0", BASE_PROXY)
}

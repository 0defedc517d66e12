# SPDX-License-Identifier: Apache-2.0
# All images: docker buildx bake -f images/docker-bake.hcl [GROUP|TARGET]
# Every variable can be given in the environment; `steelyard images build` sets them from the bases that the Containerfiles
# name and from the finished Maven build. images/README.md says what each image is.

# One entry is one application: its name is that of its folder in the build, of the stage in images/server/Containerfile
# and of its image.
variable "APPLICATIONS" {
  default = [
    { name = "ping", title = "ping", what = "the ping workload", root = "" },
    { name = "acmeair", title = "AcmeAir", what = "AcmeAir, monolith and services,", root = "" },
    { name = "daytrader7", title = "DayTrader7", what = "DayTrader7", root = "/daytrader" },
    { name = "olio", title = "Olio", what = "Olio", root = "/olio" },
  ]
}

variable "REGISTRY" { default = "localhost/steelyard" }
variable "VERSION" { default = "0.1.0" }
variable "REVISION" { default = "" }
variable "SOURCE" { default = "https://github.com/steelyard/steelyard" }

# The finished build: the folder .steelyard/build/FINGERPRINT, with a folder `NAME/wlp` for each application,
# `embedded-mongo`, `olio-geocoder` and `loadgen`.
variable "FINGERPRINT" { default = "" }
variable "BUILD" { default = ".steelyard/build/${FINGERPRINT}" }
# What each application's workload file states, as a JSON object.
variable "WORKLOAD_VERSIONS" { default = "{}" }

variable "PLATFORMS" { default = "linux/amd64,linux/ppc64le" }

# The build is finished: the stage that would run Maven is replaced, but its base would be looked up all the same.
variable "NO_MAVEN" { default = "scratch" }

# What replaces a base that the Containerfiles name: a reference; by default the stage of their own FROM line.
variable "BASE_HOTSPOT" { default = "hotspot" }
variable "BASE_OPENJ9" { default = "openj9" }
variable "BASE_TOOLS" { default = "tools" }
variable "BASE_HARNESS" { default = "harness" }
variable "BASE_PROXY" { default = "proxy" }

# on = a shared class cache in the openj9 images; off by default, since the state of a cache is a factor of an experiment.
variable "SCC" { default = "off" }

group "default" {
  targets = ["hotspot", "openj9"]
}

# Everything that needs no OpenJ9.
group "hotspot" {
  targets = concat([for one in APPLICATIONS : "${one.name}-hotspot"], ["embedded-mongo", "olio-geocoder", "loadgen", "harness", "socket-proxy"])
}

# The rest.
group "openj9" {
  targets = concat([for one in APPLICATIONS : "${one.name}-openj9"], ["jitserver"])
}

function "labels" {
  params = [title, description, licenses, base]
  result = {
    "org.opencontainers.image.title"       = "Steelyard ${title}"
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

target "_image" {
  platforms  = split(",", PLATFORMS)
  dockerfile = "Containerfile"
}

target "servers" {
  matrix = {
    application = APPLICATIONS
    flavour     = [{ name = "hotspot", title = "HotSpot", base = BASE_HOTSPOT }, { name = "openj9", title = "OpenJ9", base = BASE_OPENJ9 }]
  }
  name     = "${application.name}-${flavour.name}"
  inherits = ["_image"]
  context  = "images/server"
  target   = application.name
  contexts = { package = "${BUILD}/${application.name}/wlp" }
  args = {
    "BASE_${upper(flavour.name)}" = flavour.base
    BASE_TOOLS                    = BASE_TOOLS
    BASE_MAVEN                    = NO_MAVEN
    FLAVOUR                       = flavour.name
    WORKLOAD                      = application.name
    CONTEXT_ROOT                  = application.root
    SCC                           = flavour.name == "openj9" ? SCC : "off"
  }
  tags = concat(
    ["${REGISTRY}/${application.name}:${VERSION}-${flavour.name}"],
    flavour.name == "openj9" ? ["${REGISTRY}/${application.name}:${VERSION}"] : []
  )
  labels = merge(
    labels(
      "${application.title} (${flavour.title})", "Open Liberty with ${application.what} on ${flavour.title}",
      "Apache-2.0 AND EPL-2.0", flavour.base
    ),
    { "dev.steelyard.workload.version" = lookup(jsondecode(WORKLOAD_VERSIONS), application.name, "") }
  )
}

target "embedded-mongo" {
  inherits = ["_image"]
  context  = "images/companions"
  target   = "embedded-mongo"
  contexts = { embedded-mongo-jars = "${BUILD}/embedded-mongo" }
  args     = { BASE_HOTSPOT = BASE_HOTSPOT, BASE_TOOLS = BASE_TOOLS, BASE_MAVEN = NO_MAVEN }
  tags     = ["${REGISTRY}/embedded-mongo:${VERSION}"]
  # What it can stand for where that is not to be had: STEELYARD_MONGO_IMAGE of the bundles.
  labels = merge(
    labels("embedded database", "A database in memory that speaks MongoDB's wire protocol", "Apache-2.0 AND BSD-3-Clause", BASE_HOTSPOT),
    { "dev.steelyard.replaces" = "mongo" },
  )
}

target "olio-geocoder" {
  inherits = ["_image"]
  context  = "images/companions"
  target   = "olio-geocoder"
  contexts = { olio-geocoder-jars = "${BUILD}/olio-geocoder" }
  args     = { BASE_HOTSPOT = BASE_HOTSPOT, BASE_TOOLS = BASE_TOOLS, BASE_MAVEN = NO_MAVEN }
  tags     = ["${REGISTRY}/olio-geocoder:${VERSION}"]
  labels   = labels("Olio's geocoder", "The geocoder that Olio asks, emulated", "Apache-2.0", BASE_HOTSPOT)
}

target "loadgen" {
  inherits = ["_image"]
  context  = "images/loadgen"
  contexts = { loadgen = "${BUILD}/loadgen" }
  args     = { BASE_HOTSPOT = BASE_HOTSPOT, BASE_MAVEN = NO_MAVEN }
  tags     = ["${REGISTRY}/loadgen:${VERSION}"]
  labels   = labels("loadgen", "Gatling injector that records every request", "Apache-2.0", BASE_HOTSPOT)
}

target "jitserver" {
  inherits = ["_image"]
  context  = "images/jitserver"
  args     = { BASE_OPENJ9 = BASE_OPENJ9, BASE_TOOLS = BASE_TOOLS }
  tags     = ["${REGISTRY}/jitserver:${VERSION}"]
  labels   = labels("jitserver", "Compilation server of Eclipse OpenJ9", "Apache-2.0", BASE_OPENJ9)
}

target "harness" {
  inherits   = ["_image"]
  context    = "."
  dockerfile = "images/harness/Containerfile"
  args       = { BASE_HARNESS = BASE_HARNESS }
  tags       = ["${REGISTRY}/harness:${VERSION}"]
  labels     = labels("harness", "Runs experiments through a container engine or in a Kubernetes cluster", "Apache-2.0", BASE_HARNESS)
}

target "socket-proxy" {
  inherits = ["_image"]
  context  = "images/socket-proxy"
  args     = { BASE_PROXY = BASE_PROXY }
  tags     = ["${REGISTRY}/socket-proxy:${VERSION}"]
  labels   = labels("socket proxy", "Lets through only what experiments need of the engine's API", "Apache-2.0", BASE_PROXY)
}

# SPDX-License-Identifier: Apache-2.0
# All images: docker buildx bake -f images/docker-bake.hcl -f images/images.json [GROUP|TARGET]
# images.json says which there are (IMAGES) and their version (VERSION); here stands how they are built. Every variable can be
# given in the environment; `steelyard images build` sets them from the bases that the Containerfiles name and from the
# finished Maven build. images/README.md says what each image is.

variable "REGISTRY" { default = "localhost/steelyard" }
variable "REVISION" { default = "" }
variable "SOURCE" { default = "https://github.com/steelyard/steelyard" }

# The finished build: the folder .steelyard/build/FINGERPRINT, with a folder `NAME/wlp` for each application,
# `embedded-mongo`, `olio-geocoder` and `loadgen`.
variable "FINGERPRINT" { default = "" }
variable "BUILD" { default = ".steelyard/build/${FINGERPRINT}" }
# What every image holds of licences.
variable "LEGAL" { default = "images/legal" }
# What each application's workload file states, as a JSON object.
variable "WORKLOAD_VERSIONS" { default = "{}" }

# Of these an image is made for the ones that images.json names for it.
variable "PLATFORMS" { default = "linux/amd64,linux/arm64,linux/ppc64le" }

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
  targets = concat([for name, image in IMAGES : "${name}-hotspot" if contains(image.flavours, "hotspot")],
  [for name, image in IMAGES : name if length(image.flavours) == 0 && image.base != "openj9"])
}

# The rest.
group "openj9" {
  targets = concat([for name, image in IMAGES : "${name}-openj9" if contains(image.flavours, "openj9")],
  [for name, image in IMAGES : name if length(image.flavours) == 0 && image.base == "openj9"])
}

function "chosen" {
  params = [image]
  result = [for one in image.platforms : one if contains(split(",", PLATFORMS), one)]
}

# What start.sh and the harness read of an image: its part, and how it shows that it works.
function "labels" {
  params = [image, flavour, base]
  result = {
    "org.opencontainers.image.title"       = "Steelyard ${image.title}${flavour}"
    "org.opencontainers.image.description" = "${image.description}${flavour == "" ? "" : " on ${regex_replace(flavour, "[ ()]", "")}"}"
    "org.opencontainers.image.version"     = VERSION
    "org.opencontainers.image.revision"    = REVISION
    "org.opencontainers.image.source"      = SOURCE
    "org.opencontainers.image.licenses"    = image.licenses
    "org.opencontainers.image.base.name"   = regex_replace(base, "@.*$", "")
    "org.opencontainers.image.base.digest" = length(regexall("@", base)) > 0 ? regex_replace(base, "^.*@", "") : ""
    "dev.steelyard.fingerprint"            = FINGERPRINT
    "dev.steelyard.role"                   = image.role
    "dev.steelyard.port"                   = image.port
    "dev.steelyard.answers"                = join(" ", [for path, answer in image.answers : "${path}=${answer}"])
  }
}

target "servers" {
  matrix = {
    application = [for name, image in IMAGES : name if length(image.flavours) > 0]
    # What images.json says of licences holds for both; OpenJ9 has one more.
    flavour = [
      { name = "hotspot", title = "HotSpot", base = BASE_HOTSPOT, licenses = "" },
      { name = "openj9", title = "OpenJ9", base = BASE_OPENJ9, licenses = " AND (EPL-2.0 OR Apache-2.0)" }
    ]
  }
  name       = "${application}-${flavour.name}"
  context    = "images/server"
  dockerfile = "Containerfile"
  target     = application
  platforms  = chosen(IMAGES[application])
  contexts   = { package = "${BUILD}/${application}/wlp", legal = LEGAL }
  args = {
    "BASE_${upper(flavour.name)}" = flavour.base
    BASE_TOOLS                    = BASE_TOOLS
    BASE_MAVEN                    = NO_MAVEN
    FLAVOUR                       = flavour.name
    WORKLOAD                      = application
    CONTEXT_ROOT                  = IMAGES[application].context_root
    SCC                           = flavour.name == "openj9" ? SCC : "off"
  }
  tags = concat(
    ["${REGISTRY}/${application}:${VERSION}-${flavour.name}"],
    flavour.name == "openj9" ? ["${REGISTRY}/${application}:${VERSION}"] : []
  )
  labels = merge(
    labels(IMAGES[application], " (${flavour.title})", flavour.base),
    { "org.opencontainers.image.licenses" = "${IMAGES[application].licenses}${flavour.licenses}" },
    { "dev.steelyard.workload.version" = lookup(jsondecode(WORKLOAD_VERSIONS), application, "") }
  )
}

# Small servers beside the applications, on HotSpot.
target "companions" {
  matrix     = { image = ["embedded-mongo", "olio-geocoder"] }
  name       = image
  context    = "images/companions"
  dockerfile = "Containerfile"
  target     = image
  platforms  = chosen(IMAGES[image])
  contexts   = { "${image}-jars" = "${BUILD}/${image}", legal = LEGAL }
  args       = { BASE_HOTSPOT = BASE_HOTSPOT, BASE_TOOLS = BASE_TOOLS, BASE_MAVEN = NO_MAVEN }
  tags       = ["${REGISTRY}/${image}:${VERSION}"]
  # What it can stand for where that is not to be had: STEELYARD_MONGO_IMAGE of the bundles.
  labels = merge(
    labels(IMAGES[image], "", BASE_HOTSPOT),
    IMAGES[image].replaces == "" ? {} : { "dev.steelyard.replaces" = IMAGES[image].replaces }
  )
}

target "loadgen" {
  context    = "images/loadgen"
  dockerfile = "Containerfile"
  platforms  = chosen(IMAGES.loadgen)
  contexts   = { loadgen = "${BUILD}/loadgen", legal = LEGAL }
  args       = { BASE_HOTSPOT = BASE_HOTSPOT, BASE_MAVEN = NO_MAVEN }
  tags       = ["${REGISTRY}/loadgen:${VERSION}"]
  labels     = labels(IMAGES.loadgen, "", BASE_HOTSPOT)
}

target "jitserver" {
  context    = "images/jitserver"
  dockerfile = "Containerfile"
  platforms  = chosen(IMAGES.jitserver)
  contexts   = { legal = LEGAL }
  args       = { BASE_OPENJ9 = BASE_OPENJ9, BASE_TOOLS = BASE_TOOLS }
  tags       = ["${REGISTRY}/jitserver:${VERSION}"]
  labels     = labels(IMAGES.jitserver, "", BASE_OPENJ9)
}

target "harness" {
  context    = "."
  dockerfile = "images/harness/Containerfile"
  platforms  = chosen(IMAGES.harness)
  args       = { BASE_HARNESS = BASE_HARNESS }
  tags       = ["${REGISTRY}/harness:${VERSION}"]
  labels     = labels(IMAGES.harness, "", BASE_HARNESS)
}

target "socket-proxy" {
  context    = "images/socket-proxy"
  dockerfile = "Containerfile"
  platforms  = chosen(IMAGES["socket-proxy"])
  contexts   = { legal = LEGAL, settings = "images/socket-proxy" }
  args       = { BASE_PROXY = BASE_PROXY }
  tags       = ["${REGISTRY}/socket-proxy:${VERSION}"]
  labels     = labels(IMAGES["socket-proxy"], "", BASE_PROXY)
}

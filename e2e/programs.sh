#!/bin/sh
# programs.sh FOLDER [-race]: builds the programs that the tests of the whole run; with -race, ccbot finds data races. Go compiles
# and links only what has changed, so the second time this is cheap.
set -eu
mkdir -p "$1"
folder=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
build() { "${GO:-go}" build -buildvcs=false "$@"; }
build ${2:+"$2"} -tags failpoints -ldflags "-s -w -X 'main.version=<<ccbot version v0.0.1>>'" -o "$folder/" ./cmd/ccbot
build -ldflags '-s -w' -o "$folder/" ./cmd/ccbot-codex ./cmd/ccbot-hook ./cmd/ccbot-hub ./cmd/ccbot-try

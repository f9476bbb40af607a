#!/usr/bin/env bash
# Takes the README's picture, docs/report.png: the first screen of a report in headless Chromium, 1400 wide.
#
#   tools/picture.sh          measures the quick plan first; the machine should be quiet
#   tools/picture.sh RUN      of a run that is there
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

width=1400 height=1080
most=300000 # B; a picture that everybody clones stays small

browser() {
    local name
    for name in chromium google-chrome google-chrome-stable chrome chromium-browser; do
        timeout 20 "$name" --version 2>/dev/null | grep -q Chrom && echo "$name" && return
    done
    echo "picture: no Chromium or Chrome here" >&2
    return 1
}

chromium=$(browser)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
run=${1-}
if [ -z "$run" ]; then
    run=$scratch/quick
    .venv/bin/leadline run quick --output "$run"
fi
page=$(.venv/bin/leadline report "$run" --output "$scratch/report.html")
# Nothing but the page is to be loaded, and nothing but the picture to be left behind.
"$chromium" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
    --disable-component-update --disable-sync --user-data-dir="$scratch/profile" --hide-scrollbars \
    --virtual-time-budget=15000 --window-size=$width,$height --screenshot="$scratch/report.png" \
    "file://$page" 2>/dev/null
size=$(stat -c %s "$scratch/report.png")
if [ "$size" -gt $most ]; then
    echo "picture: $size B are more than $most B; make it lower" >&2
    exit 1
fi
mv "$scratch/report.png" docs/report.png
echo "docs/report.png: $width x $height, $size B"

#!/bin/sh
# Installs the packages of a lock file into .venv, and says how far it has come in a few lines: it takes minutes.
set -eu
failed=$(mktemp)
trap 'rm -f "$failed"' EXIT
# What pip itself reports as wrong is shown as it is.
{ .venv/bin/python -u -m pip install --disable-pip-version-check --progress-bar off --require-hashes -r "$1" ||
    echo failed >"$failed"; } | {
    count=0
    while IFS= read -r line; do
        case $line in
        Collecting*)
            count=$((count + 1))
            [ $((count % 20)) != 0 ] || echo "  $count packages found" >&2
            ;;
        "Installing collected packages"*) echo "  installing $count packages" >&2 ;;
        esac
    done
}
[ ! -s "$failed" ]

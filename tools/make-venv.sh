#!/bin/sh
# Makes .venv with the Python given. On Debian that needs a package that is not always there; it is installed for root.
set -eu
python=${1:-python3}
if [ -x .venv/bin/python ] && .venv/bin/python -m pip --version >/dev/null 2>&1; then
    exit 0
fi
if ! command -v "$python" >/dev/null 2>&1; then
    echo "$python: not found; install Python 3.11, 3.12 or 3.13, or name it: make run PYTHON=python3.12" >&2
    exit 2
fi
if ! "$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))'; then
    echo "$python is $("$python" -V 2>&1); wh-judge runs on Python 3.11, 3.12 and 3.13: make run PYTHON=python3.12" >&2
    exit 2
fi
if ! "$python" -c 'import ensurepip' 2>/dev/null; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        echo "installing python3-venv" >&2
        apt-get update -qq >&2
        apt-get install -y -qq "$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')" >&2
    else
        echo "$python has no venv; install it: sudo apt-get install python3-venv" >&2
        exit 2
    fi
fi
echo "making .venv" >&2
"$python" -m venv --clear .venv

#!/bin/sh
# Builds the Python package and runs the benchmark beside the package gsd:
#   bench/gsd/run.sh --sizes 128,1024,16384
# As root it drops the page cache between the cold lanes; otherwise it leaves them out.
set -e
cd "$(dirname "$0")/../.."
venv=bench/out/venv-gsd
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/pip" install --quiet numpy gsd==5.0.1 ./python
exec "$venv/bin/python" bench/gsd/bench.py --directory bench/out "$@"

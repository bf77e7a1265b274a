#!/usr/bin/env bash
# instructions.sh [DELTAS_PER_READ]: the instructions of one delta, counted by valgrind: the same on any machine however busy.
# The difference of two runs: what comes before the first delta costs both of them the same.
set -euo pipefail
cd "$(dirname "$0")/../.."
count() {
  PYTHONHASHSEED=0 valgrind --tool=callgrind --callgrind-out-file=/dev/null \
    .venv/bin/python tests/bench/per_delta.py "$@" 2>&1 | sed -n 's/.*Collected : //p'
}
few=$(count 1000 "$@")
many=$(count 6000 "$@")
echo "$(((many - few) / 5000)) instructions a delta"

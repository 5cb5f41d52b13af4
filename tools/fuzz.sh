#!/bin/sh
# Fuzzes every target for some seconds, starting from its corpus, two targets at a time.
#
#   tools/fuzz.sh BUILD SECONDS [TARGET...]
#
# New inputs are kept in BUILD/corpus, so that a later run goes on from there; tests/fuzz/corpus is
# left alone. An input that fails is kept in BUILD/findings, and the command that replays it is
# printed.
set -eu
build=$1
seconds=$2
shift 2
root=$(cd "$(dirname "$0")/.." && pwd)
[ $# -gt 0 ] || set -- $(cd "$root/tests/fuzz" && ls fuzz_*.cpp 2>/dev/null | sed 's/\.cpp$//')
[ $# -gt 0 ] || { echo "fuzz: there are no targets" >&2; exit 1; }

fuzz_one() {
  target=$1
  mkdir -p "$build/corpus/$target" "$build/findings"
  log=$build/$target.log
  if "$build/bin/$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
    -print_final_stats=1 -artifact_prefix="$build/findings/$target-" \
    "$build/corpus/$target" "$root/tests/fuzz/corpus/$target" >"$log" 2>&1; then
    inputs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    echo "$target: $inputs inputs in $seconds s, no finding"
    return 0
  fi
  tail -n 60 "$log"
  finding=$(ls -t "$build/findings/$target-"* 2>/dev/null | head -n 1)
  echo "$target: FAILED; replay with: $build/bin/$target $finding"
  return 1
}

failed=0
while [ $# -gt 0 ]; do
  fuzz_one "$1" &
  first=$!
  shift
  second=
  if [ $# -gt 0 ]; then
    fuzz_one "$1" &
    second=$!
    shift
  fi
  wait "$first" || failed=1
  [ -z "$second" ] || wait "$second" || failed=1
done
exit $failed

#!/bin/sh
# Runs the stages of a test, one after the other, and says how long each took and which failed.
#
#   tools/run_stages.sh MAKE PREFIX STAGE...      runs `MAKE PREFIX-STAGE` for every stage
#
# A failed stage does not stop the others. The last line is "N passed, M failed".
set -u
make=$1
prefix=$2
shift 2

passed=0
failed=
begin=$(date +%s)
for stage in "$@"; do
  printf '\n== %s\n' "$stage"
  stage_begin=$(date +%s)
  if $make "$prefix-$stage"; then
    passed=$((passed + 1))
    verdict=passed
  else
    failed="$failed $stage"
    verdict=FAILED
  fi
  printf '== %s: %s after %d s\n' "$stage" "$verdict" $(($(date +%s) - stage_begin))
done

printf '\n%d s in all\n' $(($(date +%s) - begin))
failures=0
for stage in $failed; do
  failures=$((failures + 1))
  echo "failed: $stage; to run only it: make $prefix-$stage"
done
echo "$passed passed, $failures failed"
[ "$failures" = 0 ]

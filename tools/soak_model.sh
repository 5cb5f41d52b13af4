#!/bin/sh
# Runs the unit and model tests again and again for some seconds, each time from another seed, with
# TESSERA_SOAK=1, which lets model tests take more steps.
#
#   tools/soak_model.sh BUILD SECONDS
set -eu
build=$1
end=$(($(date +%s) + $2))
seed=${TESSERA_SEED:-$(date +%s)}
export TESSERA_SOAK=1
rounds=0
while [ "$rounds" = 0 ] || [ "$(date +%s)" -lt "$end" ]; do
  for test in "$build"/bin/tessera_*_test; do
    if ! TESSERA_SEED=$seed "$test" --gtest_brief=1 >"$build/soak.log" 2>&1; then
      tail -n 60 "$build/soak.log"
      echo "soak: FAILED; replay with: TESSERA_SOAK=1 TESSERA_SEED=$seed $test"
      exit 1
    fi
  done
  rounds=$((rounds + 1))
  seed=$((seed + 1))
done
echo "soak: $rounds rounds without a failure"

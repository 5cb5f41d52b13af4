#!/bin/sh
# One MPI job in a world of its own: job.sh SCRATCH OUT COMMAND ARGS...
#
# Runs as the first process of new mount and process namespaces (run.py sees to that): /dev/shm is
# private, SCRATCH/full is a file system of 1 MiB, SCRATCH/readonly a read-only one. What the job
# leaves behind is listed in OUT/shm and OUT/processes. Ends with the command's exit code.
set -eu
scratch=$1
out=$2
shift 2

mount -t tmpfs -o mode=1777 tmpfs /dev/shm
mkdir "$scratch/full" "$scratch/readonly"
mount -t tmpfs -o size=1m,mode=1777 tmpfs "$scratch/full"
mount -t tmpfs tmpfs "$scratch/readonly"
echo read only >"$scratch/readonly/readonly_mount.dat"
mount -o remount,ro "$scratch/readonly"

code=0
"$@" || code=$?

# The launcher's own helpers may still be on their way out, and a lock server leaves a second after
# the last of its clients.
for wait in $(seq 30); do
  : >"$out/processes"
  for process in /proc/[0-9]*; do
    number=${process#/proc/}
    [ "$number" = 1 ] && continue
    grep -q '^State:.[ZX]' "$process/status" 2>/dev/null && continue
    name=$(cat "$process/comm" 2>/dev/null) || continue
    echo "$number $name" >>"$out/processes"
  done
  [ -s "$out/processes" ] || break
  sleep 0.1
done
ls -A /dev/shm >"$out/shm"
exit $code

#!/bin/sh
# Tests the installed package: installs a build below a temporary prefix, compiles every installed
# header alone, builds examples/ against the prefix through CMake and through pkg-config, and runs
# every example both ways; that of locks with a lock server of the installed program, that of meshes
# under each MPI.
#
#   tests/package/run.sh BUILD
set -eu
build=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$scratch"' EXIT
prefix=$scratch/prefix

cmake --install "$build" --prefix "$prefix" >"$scratch/install.log"
for file in lib/libtessera.a lib/pkgconfig/tessera.pc lib/cmake/tessera/tesseraConfig.cmake \
  lib/libtessera-lock.so lib/pkgconfig/tessera-lock.pc include/tessera_lock.h \
  lib/libtessera-mesh.so lib/pkgconfig/tessera-mesh.pc include/tessera_mesh.h \
  include/tessera_mesh_mpi.h; do
  [ -f "$prefix/$file" ] || { echo "package: $file was not installed" >&2; exit 1; }
done
[ ! -e "$build/bin/tessera" ] || "$prefix/bin/tessera" --version

# Nothing that only measures or tests; nothing that only a debugger reads.
if find "$prefix" -name '*bench*' ! -name 'bench_*.hpp' -o -name '*peer*' -o -name '*slow-fs*' |
  grep .; then
  echo "package: the files above are no part of the product" >&2
  exit 1
fi
find "$prefix/bin" "$prefix/lib" -type f \( -perm -100 -o -name '*.so*' -o -name '*.a' \) |
  while read -r file; do
    if readelf -S "$file" 2>/dev/null | grep '\.debug_' >/dev/null; then
      echo "package: $file is not stripped" >&2
      exit 1
    fi
  done
mib=$(du -sm "$prefix" | cut -f1)
echo "package: $mib MiB installed"
[ "$mib" -le 64 ] || { echo "package: that is more than 64 MiB" >&2; exit 1; }
if "$prefix/bin/tessera" bench pattern 2>"$scratch/bench.log"; then exit 1; fi
grep -q 'make bench' "$scratch/bench.log"

# The prefix alone may be seen: a header that leans on the source tree does not compile here.
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
cflags=$(pkg-config --cflags tessera)
libs=$(pkg-config --libs tessera)
strict="-std=c++20 -Wall -Wextra -Wconversion -Wshadow -Werror"

(cd "$prefix/include" && find tessera -name '*.hpp') >"$scratch/headers"
export compile="g++ $strict -fsyntax-only $cflags -x c++ -"
xargs -P "$(nproc)" -n 1 sh -c '
  printf "#include \"%s\"\n#include \"%s\"\n" "$1" "$1" | $compile ||
    { echo "package: does not compile alone: $1" >&2; exit 1; }' header <"$scratch/headers"
echo "package: $(wc -l <"$scratch/headers") headers compile alone"

cmake -S "$root/examples" -B "$scratch/cmake" -G Ninja -D CMAKE_PREFIX_PATH="$prefix" \
  -D CMAKE_BUILD_TYPE=Release >"$scratch/configure.log" ||
  { cat "$scratch/configure.log" >&2; exit 1; }
cmake --build "$scratch/cmake" -- --quiet

mkdir "$scratch/pkg-config"
for source in "$root"/examples/*.cpp; do
  name=$(basename "$source" .cpp)
  g++ $strict $cflags "$source" -o "$scratch/pkg-config/$name" $libs
  "$scratch/cmake/$name" >"$scratch/$name.cmake.out"
  "$scratch/pkg-config/$name" >"$scratch/$name.pkg-config.out"
  cmp "$scratch/$name.cmake.out" "$scratch/$name.pkg-config.out"
  echo "package: example $name runs, built through CMake and through pkg-config"
done

# The C interfaces: each header in C11 and in C++, each library without any other symbol.
c_strict="-std=c11 -pedantic -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Werror"
cpp_strict="-std=c++11 -pedantic -Wall -Wextra -Werror"
for name in lock mesh; do
  c_cflags=$(pkg-config --cflags "tessera-$name")
  printf '#include <tessera_%s.h>\n' $name $name >"$scratch/twice"
  gcc $c_strict -fsyntax-only $c_cflags -x c "$scratch/twice"
  g++ $cpp_strict -fsyntax-only $c_cflags -x c++ "$scratch/twice"
  strangers=$(nm -D --defined-only "$prefix/lib/libtessera-$name.so" |
    grep -v " T tessera_${name}_" || true)
  [ -z "$strangers" ] ||
    { echo "package: libtessera-$name.so exports more than its interface:" "$strangers" >&2
      exit 1; }
done

lock_cflags=$(pkg-config --cflags tessera-lock)
lock_libs=$(pkg-config --libs tessera-lock)
gcc $c_strict $lock_cflags "$root/examples/list_lock.c" -o "$scratch/pkg-config/list_lock" \
  $lock_libs -Wl,-rpath,"$prefix/lib"
export TESSERA_LOCKS="unix:$scratch/locks"
"$prefix/bin/tesserad" --lock --fresh --listen "$TESSERA_LOCKS" 2>"$scratch/server.log" &
server=$!
for build_kind in cmake pkg-config; do
  "$scratch/$build_kind/list_lock" >"$scratch/list_lock.$build_kind.out"
done
cmp "$scratch/list_lock.cmake.out" "$scratch/list_lock.pkg-config.out"
echo "package: example list_lock runs, built through CMake and through pkg-config"

# Mesh plans under each MPI: written by two ranks, read by one. CMake chooses an MPI by itself.
mesh_cflags=$(pkg-config --cflags tessera-mesh)
mesh_libs=$(pkg-config --libs tessera-mesh)
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
for mpi in openmpi mpich; do
  command -v "mpicc.$mpi" >/dev/null || continue
  program=$scratch/pkg-config/mesh_field-$mpi
  printf '#include <tessera_mesh_mpi.h>\n' >"$scratch/twice"
  printf '#include <tessera_mesh_mpi.h>\n' >>"$scratch/twice"
  "mpicc.$mpi" -Wall -Wextra -Wconversion -Wshadow -Werror -std=c11 -fsyntax-only $mesh_cflags \
    -x c "$scratch/twice"
  "mpicc.$mpi" -Wall -Wextra -Wconversion -Wshadow -Werror -std=c11 $mesh_cflags \
    "$root/examples/mesh_field.c" -o "$program" $mesh_libs -Wl,-rpath,"$prefix/lib"
  "mpiexec.$mpi" -n 2 "$program" "$scratch/field.$mpi" >/dev/null
  "mpiexec.$mpi" -n 1 "$program" "$scratch/field.$mpi" --read >/dev/null
  echo "package: example mesh_field runs under $mpi, built through pkg-config"
done
if [ -x "$scratch/cmake/mesh_field" ]; then
  "$scratch/cmake/mesh_field" "$scratch/field.cmake" >/dev/null
  for mpi in openmpi mpich; do
    [ ! -e "$scratch/field.$mpi" ] || cmp "$scratch/field.cmake" "$scratch/field.$mpi"
  done
  echo "package: example mesh_field runs, built through CMake"
fi

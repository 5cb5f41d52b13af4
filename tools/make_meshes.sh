#!/bin/sh
# Makes the tetrahedral meshes that owners are measured with: binary Gmsh 4.1 files of about as many
# nodes as the meshes of paper 2 (32888, 47219, 73260 and 289650).
#
#   tools/make_meshes.sh OUTDIR [NAME...]      names of the table below; all when none is named
#
# Needs gmsh. With Gmsh 4.8.4 (all of them in about a minute and a half):
#
#   name            h   nodes  tetrahedra
#   mesh33k    0.0786   32913      178635
#   mesh47k    0.0691   47195      260307
#   mesh73k    0.0592   73148      411086
#   mesh290k   0.0367  290236     1699144
set -eu
[ $# -gt 0 ] || { echo "usage: tools/make_meshes.sh OUTDIR [NAME...]" >&2; exit 2; }
out=$1
shift
geometry=$(cd "$(dirname "$0")/.." && pwd)/tests/data/mesh/device.geo
command -v gmsh >/dev/null || { echo "make_meshes: gmsh is not installed" >&2; exit 1; }
mkdir -p "$out"
[ $# -gt 0 ] || set -- mesh33k mesh47k mesh73k mesh290k

for name in "$@"; do
  case $name in
    mesh33k) h=0.0786 ;;
    mesh47k) h=0.0691 ;;
    mesh73k) h=0.0592 ;;
    mesh290k) h=0.0367 ;;
    *) echo "make_meshes: there is no mesh $name" >&2; exit 2 ;;
  esac
  # Written beside and renamed, so that no half of a mesh is taken for a whole.
  gmsh -3 -nt 1 -v 2 -setnumber h "$h" -format msh41 -bin -o "$out/$name.part.msh" "$geometry"
  mv "$out/$name.part.msh" "$out/$name.msh"
  echo "$out/$name.msh"
done

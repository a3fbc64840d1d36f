#!/bin/bash
# Makes the PTX of the .cu files here anew; NVCC may be overridden. tilelang/ has a script of its own.
set -e
cd "$(dirname "$0")"; NVCC=${NVCC:-nvcc}
for f in ${@:-*.cu}; do
  $NVCC -std=c++17 -ptx -lineinfo -arch=sm_80 "$f" -o "${f%.cu}.ptx"
  # names of files without the folders of this machine
  sed -i -E 's|^([[:space:]]*\.file[[:space:]]+[0-9]+ ")[^"]*/|\1|' "${f%.cu}.ptx"
done

#!/bin/sh
# Builds what is here from its sources: `build.sh functions.cu functions`. NVCC is nvcc 13.4; NVRTC is a
# command that hands a file, an output and options to NVRTC 12.9.
set -e
for arch in 80 100; do
    for fast in "" --use_fast_math; do
        name=sm_$arch${fast:+.fast}.ptx
        "${NVCC:-nvcc}" -std=c++17 -ptx -arch=sm_$arch $fast "$1" -o "$2.nvcc134.$name"
        "${NVRTC:-nvrtc}" "$1" "$2.nvrtc129.$name" --gpu-architecture=compute_$arch -std=c++17 $fast
    done
done

#!/bin/sh
# Builds what is here from its sources: `build.sh functions.cu functions`, and `kernels`, `known` and `loops` likewise. NVCC is nvcc
# 13.4; NVRTC is a command that hands a file, an output and options to NVRTC 12.9.
set -e
NVCC=${NVCC:-nvcc} NVRTC=${NVRTC:-nvrtc}
for arch in 80 100; do
    for fast in "" --use_fast_math; do
        name=sm_$arch${fast:+.fast}.ptx
        "$NVCC" -std=c++17 -ptx -arch=sm_$arch $fast "$1" -o "$2.nvcc134.$name"
        "$NVRTC" "$1" "$2.nvrtc129.$name" --gpu-architecture=compute_$arch -std=c++17 $fast
    done
done
# With calls that stay calls.
if [ "$2" = kernels ]; then
    "$NVCC" -std=c++17 -ptx -arch=sm_80 -rdc=true -I../../tools -include warpproof_math.h "$1" -o "$2.opaque.nvcc134.sm_80.ptx"
    { echo '#include "warpproof_math.h"'; cat "$1"; } >opaque.cu
    "$NVRTC" opaque.cu "$2.opaque.nvrtc129.sm_100.ptx" --gpu-architecture=compute_100 -std=c++17 -I../../tools \
        --relocatable-device-code=true
    rm opaque.cu
fi

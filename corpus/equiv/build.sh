#!/bin/bash
# rebuild every .ptx from its .cu;  NVCC may be overridden
#   NAME.ptx from all but NAME_fast.cu, and NAME.fast.ptx, with --use_fast_math, from NAME_fast.cu and from the files named in FAST;  hopper/ has kernels.py
set -e
cd "$(dirname "$0")"; NVCC=${NVCC:-nvcc}
FAST="softmax/softmax.cu attention/attention.cu norm/norm.cu activation/activation.cu volta/figure1.cu"
compile() {
  case $1 in cluster/multicast.cu|wgmma/*) arch=sm_90a ;; tma/*|cluster/*) arch=sm_90 ;; *) arch=sm_80 ;; esac
  $NVCC -std=c++17 -ptx -lineinfo -arch=$arch "${@:3}" "$1" -o "$2"
  # names of files without the folders of this machine
  sed -i -E 's|^([[:space:]]*\.file[[:space:]]+[0-9]+ ")[^"]*/|\1|' "$2"
}
for f in ${@:-*/*.cu}; do
  case $f in
    hopper/*) continue ;;
    *_fast.cu) compile "$f" "${f%_fast.cu}.fast.ptx" --use_fast_math ;;
    *) compile "$f" "${f%.cu}.ptx" ;;
  esac
  case " $FAST " in *" $f "*) compile "$f" "${f%.cu}.fast.ptx" --use_fast_math ;; esac
done

#!/bin/bash
# Makes the PTX of the CUDA kernels here anew; NVCC may be overridden. triton/ has a script of its own.
set -e
cd "$(dirname "$0")"; NVCC=${NVCC:-nvcc}
build() { # FOLDER PTX [FLAGS]
  $NVCC -std=c++17 -ptx -lineinfo -arch=sm_80 "${@:3}" "$1/$1.cu" -o "$1/$2.ptx"
  # names of files without the folders, times and sizes of this machine
  sed -i -E 's|^([[:space:]]*\.file[[:space:]]+[0-9]+ ")[^"]*/|\1|; s|^([[:space:]]*\.file[[:space:]]+[0-9]+ "[^"]*").*|\1|' "$1/$2.ptx"
}
build two_phase clean
build two_phase no_first_two_barriers -DNO_A -DNO_B
build two_phase no_second_barrier -DNO_B
build two_phase no_last_barrier -DNO_D
build layernorm clean
build layernorm racy -DNO_BARRIER
build online_softmax clean
build online_softmax racy -DNO_BARRIER
build online_softmax not_rescaled -DNO_RESCALE
for kernel in attention cross_entropy_backward cross_entropy_online gelu hgemm kl log_sum_exp mlp polynomials rmsnorm top2 welford; do
  build $kernel $kernel
done

// Sums of groups of eight lanes with shuffles of width 8; odd groups sit out. The pattern of Kokkos issue 1958.
// Fixed: the mask of each group names its own lanes.
extern "C" __global__ void groups(const float* __restrict__ x, float* __restrict__ y) {
  int lane = threadIdx.x, group = lane / 8;
  float v = x[lane];
  if (group % 2 == 0) {
    unsigned mask = 0xffu << (8 * group);
    for (int k = 4; k > 0; k /= 2) v += __shfl_down_sync(mask, v, k, 8);
    if (lane % 8 == 0) y[group] = v;
  }
}

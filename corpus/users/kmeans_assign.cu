// expect: proved
// check: --grid 1 --block 32 --arg features=f32[90]=iota --arg nfeatures=3 --arg npoints=30 --arg nclusters=4 --arg membership=s32[30]:out --arg clusters=f32[12]=iota
// Nearest centre for each point, features stored by columns.
#ifndef FLT_MAX
#define FLT_MAX 3.40282347e+38f
#endif

//@ extent features[npoints*nfeatures], clusters[nclusters*nfeatures], membership[npoints];
//@ requires npoints >= 0 && nclusters >= 0 && nfeatures >= 0 && npoints*nfeatures <= 1000000000 && nclusters*nfeatures <= 1000000000;
//@ requires gridDim.x*gridDim.y*blockDim.x <= 2147483647;
__global__ void kmeansPoint(float* features, int nfeatures, int npoints, int nclusters, int* membership, float* clusters) {
  const unsigned int block_id = gridDim.x * blockIdx.y + blockIdx.x;
  const unsigned int point_id = block_id * blockDim.x + threadIdx.x;
  int index = -1;
  if (point_id < npoints) {
    float min_dist = FLT_MAX, dist;
    for (int i = 0; i < nclusters; i++) {
      int cluster_base_index = i * nfeatures;
      float ans = 0.0;
      for (int j = 0; j < nfeatures; j++) {
        int addr = point_id + j * npoints;
        float diff = features[addr] - clusters[cluster_base_index + j];
        ans += diff * diff;
      }
      dist = ans;
      if (dist < min_dist) {
        min_dist = dist;
        index = i;
      }
    }
    membership[point_id] = index;
  }
}

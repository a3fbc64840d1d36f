#define R 3
#define BS 128
//@ extent in[n], out[n];
//@ requires blockDim.x == BS && n >= 0 && gridDim.x*BS <= 2147483647;
__global__ void stencil(const int* in, int* out, int n) {
  __shared__ int tmp[BS + 2*R];
  int g = threadIdx.x + blockIdx.x*blockDim.x;
  int l = threadIdx.x + R;
  tmp[l] = g < n ? in[g] : 0;
  if (threadIdx.x < R) {
    tmp[l - R] = g - R >= 0 && g - R < n ? in[g - R] : 0;
    tmp[l + BS] = g + BS < n ? in[g + BS] : 0;
  }
  __syncthreads();
  int result = 0;
  for (int o = -R; o <= R; o++) result += tmp[l + o];
  if (g < n) out[g] = result;
}

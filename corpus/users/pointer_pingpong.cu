// expect: proved-or-unknown
// check: --grid 1 --block 32 --arg x=f32[32]:inout
// Two buffers whose pointers change places in every round.
#define N 32

//@ extent x[32];
//@ requires blockDim.x == N && gridDim.x == 1;
__global__ void smooth(float* x) {
  __shared__ float first[N], second[N];
  float *src = first, *dst = second;
  int t = threadIdx.x;
  src[t] = x[t];
  __syncthreads();
  for (int round = 0; round < 10; round++) {
    int l = t > 0 ? t - 1 : 0, r = t < N - 1 ? t + 1 : t;
    dst[t] = (src[l] + src[t] + src[r]) / 3.0f;
    __syncthreads();
    float* tmp = src;
    src = dst;
    dst = tmp;
  }
  x[t] = src[t];
}

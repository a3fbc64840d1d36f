// expect: proved
// check: --grid 2 --block 16 --arg pos=f32[128] --arg vel=f32[128]:inout --arg n=32
// All pairs with a tile of positions; float4 has members, shared arrays hold it.
#define TILE 16
struct Acc { float x, y, z; };

__device__ Acc interact(float4 bi, float4 bj, Acc a) {
  float3 r;
  r.x = bj.x - bi.x; r.y = bj.y - bi.y; r.z = bj.z - bi.z;
  float d2 = r.x * r.x + r.y * r.y + r.z * r.z + 0.01f;
  float s = bj.w * rsqrtf(d2 * d2 * d2);
  a.x += r.x * s; a.y += r.y * s; a.z += r.z * s;
  return a;
}

//@ extent pos[n], vel[n];
//@ requires n >= 1 && n % TILE == 0 && blockDim.x == TILE && gridDim.x*blockDim.x == n && n <= 1000000;
__global__ void step(const float4* pos, float4* vel, int n) {
  __shared__ float4 tile[TILE];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 mine = pos[i];
  Acc acc = {0.f, 0.f, 0.f};
  for (int base = 0; base < n; base += TILE) {
    tile[threadIdx.x] = pos[base + threadIdx.x];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < TILE; k++) acc = interact(mine, tile[k], acc);
    __syncthreads();
  }
  float4 v = vel[i];
  vel[i] = make_float4(v.x + acc.x, v.y + acc.y, v.z + acc.z, v.w);
}

// expect: proved
// check: --grid 2 --block 32 --arg x=f32[64]:inout --arg pitch=8 --arg rows=8
// 64-bit addresses from 32-bit parts, with the cast in the right place.
//@ extent x[rows*pitch];
//@ requires 1 <= pitch <= 1000000 && 0 <= rows <= 1000000 && gridDim.x*blockDim.x <= 2147483647;
__global__ void clear_rows(float* x, size_t pitch, int rows) {
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned short c = 0; c < 8; c++) {
    if (i < rows && c < pitch) x[(size_t)i * pitch + c] = 0.0f;
  }
}

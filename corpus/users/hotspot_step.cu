// expect: proved
// check: --grid 2,2 --block 8,8 --arg temp=f32[192] --arg power=f32[192] --arg result=f32[192]:out --arg cols=12 --arg rows=16
// A thermal simulation step in the style of the benchmark suites.
#define IN_RANGE(x, min, max) ((x) >= (min) && (x) <= (max))
#define CLAMP_RANGE(x, min, max) x = (x < (min)) ? min : ((x > (max)) ? max : x)
#define AMB_TEMP (80.0f)

//@ extent temp[rows*cols], power[rows*cols], result[rows*cols];
//@ requires rows >= 1 && cols >= 1 && rows*cols <= 100000000 && rows <= 1000000 && cols <= 1000000;
//@ requires gridDim.x*blockDim.x <= 1000000 && gridDim.y*blockDim.y <= 1000000;
__global__ void calculate_temp(const float* temp, const float* power, float* result, int cols, int rows, float cap, float rx, float ry, float rz) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (!(IN_RANGE(x, 0, cols - 1) && IN_RANGE(y, 0, rows - 1))) return;
  int n = y - 1, s = y + 1, w = x - 1, e = x + 1;
  CLAMP_RANGE(n, 0, rows - 1);
  CLAMP_RANGE(s, 0, rows - 1);
  CLAMP_RANGE(w, 0, cols - 1);
  CLAMP_RANGE(e, 0, cols - 1);
  float c = temp[y * cols + x];
  float delta = cap * (power[y * cols + x] + (temp[s * cols + x] + temp[n * cols + x] - 2.0f * c) * ry +
                       (temp[y * cols + e] + temp[y * cols + w] - 2.0f * c) * rx + (AMB_TEMP - c) * rz);
  result[y * cols + x] = c + delta;
}

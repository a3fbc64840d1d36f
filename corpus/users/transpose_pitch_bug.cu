// expect: refuted bounds,races line 12
// check: --grid 2,2 --block 8,8 --arg in=f32[120] --arg out=f32[120]:out --arg width=12 --arg height=10
// Written with the width where the height belongs.
//@ extent in[width*height], out[width*height];
//@ requires width >= 1 && height >= 1 && width*height <= 1000000 && width <= 10000 && height <= 10000;
//@ requires gridDim.x*blockDim.x <= 100000 && gridDim.y*blockDim.y <= 100000;
__global__ void transpose(const float *in, float *out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        out[x * width + y] = in[y * width + x];
}

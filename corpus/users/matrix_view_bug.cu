// expect: refuted bounds,races line 8,19
// check: --grid 1 --block 8,8 --arg a=f32[60] --arg b=f32[60]:out --arg rows=6 --arg cols=10
// The indices are exchanged, the pitch is not.
struct View
{
    float *data;
    int rows, cols;
    __device__ float &at(int r, int c) { return data[c * cols + r]; }
};

//@ extent a[rows*cols], b[rows*cols];
//@ requires rows >= 1 && cols >= 1 && rows*cols <= 1000000 && gridDim.x*blockDim.x <= 1000000 && gridDim.y*blockDim.y <= 1000000;
__global__ void copy_view(float *a, float *b, int rows, int cols)
{
    View in = {a, rows, cols};
    View out = {b, rows, cols};
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r < rows && c < cols)
        out.at(r, c) = in.at(r, c);
}

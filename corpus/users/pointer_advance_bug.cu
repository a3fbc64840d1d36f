// expect: refuted bounds line 14
// check: --grid 1 --block 8 --arg m=f32[96] --arg v=f32[12] --arg y=f32[8]:out --arg rows=8 --arg cols=12
// The pointer is advanced before it is read: the last element is past the row, and past the matrix in the last row.
//@ extent m[rows*cols], v[cols], y[rows];
//@ requires rows >= 1 && cols >= 1 && rows*cols <= 2147483647 && gridDim.x*blockDim.x <= 2147483647;
__global__ void mat_vec(const float *m, const float *v, float *y, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows)
    {
        const float *p = m + row * cols;
        float sum = 0.0f;
        for (int k = 0; k < cols; ++k)
            sum += *++p * v[k];
        y[row] = sum;
    }
}

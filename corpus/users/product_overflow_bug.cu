// expect: refuted overflow line 9
// The product is one of ints; the cast comes too late.
//@ extent x[rows*pitch];
//@ requires 1 <= pitch <= 1000000 && 1 <= rows <= 1000000 && gridDim.x*blockDim.x <= 1000000;
__global__ void clear_rows(float *x, int pitch, int rows)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows)
        x[(size_t)(i * pitch)] = 0.0f;
}

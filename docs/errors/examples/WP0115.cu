//@ extent y[n];
//@ requires gridDim.x == 1 && stride >= 1;
__global__ void every(float* y, int n, int stride) {
    // With a large stride the product passes 2^31 - 1.
    int i = (int)threadIdx.x * stride;
    if (i < n) y[i] = 1.0f;
}

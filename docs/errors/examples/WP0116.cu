//@ extent y[n];
__global__ void fill(float* y, unsigned n) {
    unsigned i = threadIdx.x;
    //@ assert i < n;
    y[i] = 1.0f;
}

// expect: refuted bounds line 16
// check: --grid 1 --block 16 --arg x=f32[16] --arg out=f32[16]:out --arg n=16
// A break is missing: the last thread falls into the case of the inner ones.
//@ extent x[n], out[n];
//@ requires n >= 2 && gridDim.x == 1 && blockDim.x == n;
__global__ void difference(const float *x, float *out, int n)
{
    int i = threadIdx.x;
    int kind = i == n - 1 ? 2 : 1;
    float d = 0;
    switch (kind)
    {
    case 2:
        d = x[i] - x[i - 1];
    case 1:
        d = x[i + 1] - x[i];
        break;
    default:
        break;
    }
    out[i] = d;
}

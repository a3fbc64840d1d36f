// Polynomials that grow when they are multiplied out.
#define F extern "C" __global__ void
F square40(const float *x, float *y)
{
    int i = threadIdx.x;
    float v = x[i], c = x[i];
    for (int k = 0; k < 40; k++) v = __fadd_rn(__fmul_rn(v, v), c);
    y[i] = v;
}
F square40_fma(const float *x, float *y)
{
    int i = threadIdx.x;
    float v = x[i], c = x[i];
    for (int k = 0; k < 40; k++) v = fmaf(v, v, c);
    y[i] = v;
}
F square40_minus(const float *x, float *y)
{
    int i = threadIdx.x;
    float v = x[i], c = x[i];
    for (int k = 0; k < 40; k++) v = k == 20 ? v * v - c : v * v + c;
    y[i] = v;
}
F binomials(const float *x, const float *z, float *y)
{
    int i = threadIdx.x;
    float v = 1;
    for (int k = 0; k < 30; k++) v *= x[i * 30 + k] + z[i * 30 + k];
    y[i] = v;
}
F binomials_reversed(const float *x, const float *z, float *y)
{
    int i = threadIdx.x;
    float v = 1;
    for (int k = 29; k >= 0; k--) v *= z[i * 30 + k] + x[i * 30 + k];
    y[i] = v;
}
F binomials_minus(const float *x, const float *z, float *y)
{
    int i = threadIdx.x;
    float v = 1;
    for (int k = 29; k >= 0; k--) v *= k == 17 ? x[i * 30 + k] - z[i * 30 + k] : z[i * 30 + k] + x[i * 30 + k];
    y[i] = v;
}

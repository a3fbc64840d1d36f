// expect: refuted bounds line 13
// check: --grid 4 --block 16 --arg ids=s64[4]=[0,2,-1,2] --arg table=f32[60] --arg out=f32[80]:out --arg vocab=3 --arg dim=20
// The padding id is -1, and only the upper end is checked.
//@ extent ids[gridDim.x], table[vocab*dim], out[gridDim.x*dim];
//@ requires 1 <= vocab <= 1000 && 1 <= dim <= 1000;
//@ requires \forall int i; 0 <= i < gridDim.x ==> -1 <= ids[i] < vocab;
__global__ void embedding(const long long *ids, const float *table, float *out, int vocab, int dim)
{
    long long id = ids[blockIdx.x];
    if (id >= vocab)
        id = 0;
    for (int d = threadIdx.x; d < dim; d += blockDim.x)
        out[(long long)blockIdx.x * dim + d] = table[id * dim + d];
}

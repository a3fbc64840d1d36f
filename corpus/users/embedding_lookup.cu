// expect: proved
// check: --grid 4 --block 16 --arg ids=s64[4]=[0,2,1,2] --arg table=f32[60] --arg out=f32[80]:out --arg vocab=3 --arg dim=20
// Ids are 64-bit, as in most frameworks; the contract says that they are in the vocabulary.
using index_t = long long;

//@ extent ids[gridDim.x], table[vocab*dim], out[gridDim.x*dim];
//@ requires 1 <= vocab <= 1000000 && 1 <= dim <= 100000;
//@ requires \forall int i; 0 <= i < gridDim.x ==> 0 <= ids[i] < vocab;
__global__ void embedding(const index_t* ids, const float* table, float* out, int vocab, int dim) {
  const index_t id = ids[blockIdx.x];
  for (index_t d = threadIdx.x; d < dim; d += blockDim.x) out[index_t(blockIdx.x) * dim + d] = table[id * dim + d];
}

// What threads have loaded is distinct, and stays so.
//@ extent in[blockDim.x], out[blockDim.x];
//@ requires gridDim.x == 1;
//@ requires \forall int i; 0 <= i < blockDim.x ==> 0 <= in[i] < blockDim.x;
//@ requires \forall int i, j; 0 <= i < j && j < blockDim.x ==> in[i] != in[j];
__global__ void registers(const int* in, int* out) {
  int t = threadIdx.x;
  int v = in[blockDim.x - 1 - t];
  //@ barrier invariant v != \other(v);
  __syncthreads();
  out[v] = t;
}

// A scatter through elements that are distinct, copied to shared memory first.
//@ extent in[blockDim.x], A[blockDim.x], B[blockDim.x];
//@ requires gridDim.x == 1;
//@ requires \forall int i; 0 <= i < blockDim.x ==> 0 <= in[i] < blockDim.x;
//@ requires \forall int i, j; 0 <= i < blockDim.x && 0 <= j < blockDim.x && i != j ==> in[i] != in[j];
__global__ void distinct(const int* in, int* B) {
  extern __shared__ int A[];
  int t = threadIdx.x;
  A[t] = in[t];
  //@ barrier invariant A[t] != \other(A[t]);
  //@ barrier invariant 0 <= A[t] < blockDim.x;
  __syncthreads();
  B[A[t]] = t;
}

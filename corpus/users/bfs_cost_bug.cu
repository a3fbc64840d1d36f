// expect: refuted races line 15
// check: --grid 1 --block 8 --arg start=s32[9]=[0,2,4,6,7,7,7,7,7] --arg edges=s32[7]=[1,2,3,4,3,4,5] --arg cost=s32[8]:inout --arg n=8 --arg m=7
// Costs are read by one node's thread and written by another's.
//@ extent start[n + 1], edges[m], cost[n];
//@ requires 1 <= n <= 1000000 && 0 <= m <= 1000000 && gridDim.x*blockDim.x <= 2147483647;
//@ requires \forall int i; 0 <= i <= n ==> 0 <= start[i] <= m;
//@ requires \forall int i; 0 <= i < m ==> 0 <= edges[i] < n;
__global__ void relax(const int *start, const int *edges, int *cost, int n, int m)
{
    int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (tid < n)
        for (int i = start[tid]; i < start[tid + 1]; i++)
        {
            int id = edges[i];
            cost[id] = tid;
        }
}

// expect: proved-or-unknown
// check: --grid 1 --block 8 --arg nodes=s32[16]=[0,1,1,1,2,1,3,1,4,1,5,1,6,1,7,0] --arg edges=s32[7]=[1,2,3,4,5,6,7] --arg mask=u8[8]=[1,0,0,0,0,0,0,0] --arg updating=u8[8]:inout --arg visited=u8[8]=[1,0,0,0,0,0,0,0] --arg n=8 --arg m=7
// One level of a breadth-first search; all who reach a node store the same flag.
struct Node {
  int starting;
  int no_of_edges;
};

//@ extent nodes[n], edges[m], mask[n], updating[n], visited[n];
//@ requires 0 <= n <= 1000000 && 0 <= m <= 1000000 && gridDim.x*blockDim.x <= 2147483647;
//@ requires \forall int i; 0 <= i < m ==> 0 <= edges[i] < n;
__global__ void bfs(const Node* nodes, const int* edges, const bool* mask, bool* updating, const bool* visited, int n, int m) {
  int tid = blockIdx.x * blockDim.x + threadIdx.x;
  if (tid < n && mask[tid]) {
    int first = min(max(nodes[tid].starting, 0), m), last = min(first + min(nodes[tid].no_of_edges, 1000), m);
    for (int i = first; i < last; i++) {
      int id = edges[i];
      if (!visited[id]) updating[id] = true;
    }
  }
}

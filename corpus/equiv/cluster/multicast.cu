// C = A B with clusters of two blocks: each loads half of a tile of B by a tensor copy to both blocks (compute capability 9.0).
struct alignas(64) Map {
    unsigned char bytes[128];
};

constexpr int K = 16; // rows of a tile of B, of which each block loads half
constexpr int N = 32; // columns, one for each thread
constexpr int M = 4;  // rows of C of a block

extern "C" __global__ void gemm_plain(const float *a, const float *b, float *c, int k) {
    int row = blockIdx.x * M + threadIdx.x / N, column = threadIdx.x % N;
    float sum = 0.0f;
    for (int i = 0; i < k; i++) {
        sum += a[row * k + i] * b[i * N + column];
    }
    c[row * N + column] = sum;
}

__device__ unsigned shared_address(const void *pointer) {
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}
__device__ unsigned rank() {
    unsigned rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}
__device__ void init(unsigned bar, unsigned count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(count) : "memory");
}
__device__ void expect(unsigned bar, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
}
__device__ void wait(unsigned bar, unsigned parity) {
    asm volatile("{\n.reg .pred p;\nLAB_WAIT_%=:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@p bra DONE_%=;\nbra LAB_WAIT_%=;\nDONE_%=:\n}"
                 ::"r"(bar), "r"(parity) : "memory");
}
__device__ void arrive(unsigned bar, unsigned rank) {
    asm volatile("{\n.reg .b32 remote;\nmapa.shared::cluster.u32 remote, %0, %1;\nmbarrier.arrive.shared::cluster.b64 _, [remote];\n}"
                 ::"r"(bar), "r"(rank) : "memory");
}
__device__ void load(unsigned tile, const Map *map, int x, int y, unsigned bar, unsigned short mask) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
                 " [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(tile), "l"(map), "r"(x), "r"(y), "r"(bar), "h"(mask) : "memory");
}
__device__ void cluster_sync() {
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

template <bool BOTH, unsigned MASK>
__device__ void gemm(const Map &map, const float *a, float *c, int k) {
    __shared__ alignas(128) float tile[K * N];
    __shared__ alignas(8) unsigned long long bars[2];
    unsigned own = rank(), full = shared_address(&bars[0]), empty = shared_address(&bars[1]);
    if (threadIdx.x == 0) {
        init(full, 1);
        init(empty, BOTH ? 2 : 1);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    asm volatile("barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
    float sums[M] = {};
    for (int step = 0; step < k / K; step++) {
        if (threadIdx.x == 0) {
            if (step > 0) {
                wait(empty, (step - 1) & 1);
                asm volatile("fence.proxy.async;" ::: "memory");
            }
            expect(full, K * N * 4);
            load(shared_address(tile) + own * (K / 2 * N * 4), &map, 0, step * K + own * (K / 2), full, MASK);
        }
        __syncthreads();
        wait(full, step & 1);
        for (int row = 0; row < M; row++) {
            for (int i = 0; i < K; i++) {
                sums[row] += a[(blockIdx.x * M + row) * k + step * K + i] * tile[i * N + threadIdx.x];
            }
        }
        __syncthreads();
        if (threadIdx.x == 0 && step + 1 < k / K) {
            arrive(empty, own);
            if (BOTH) {
                arrive(empty, own ^ 1);
            }
        }
    }
    for (int row = 0; row < M; row++) {
        c[(blockIdx.x * M + row) * N + threadIdx.x] = sums[row];
    }
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) gemm_multicast(const __grid_constant__ Map b, const float *a, float *c, int k) {
    gemm<true, 3>(b, a, c, k);
}
// The empty barrier hears of the own block alone.
extern "C" __global__ void __cluster_dims__(2, 1, 1) gemm_own_empty(const __grid_constant__ Map b, const float *a, float *c, int k) {
    gemm<false, 3>(b, a, c, k);
}

// Rows that are split over the blocks of a cluster (compute capability 9.0), against kernels of one block.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// One thread adds a row.
extern "C" __global__ void sum_plain(const float *x, float *y, int n) {
    float sum = 0.0f;
    for (int i = 0; i < n; i++) {
        sum += x[blockIdx.x * n + i];
    }
    y[blockIdx.x] = sum;
}

__device__ float block_sum(float *s, float value) {
    s[threadIdx.x] = value;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            s[threadIdx.x] += s[threadIdx.x + half];
        }
        __syncthreads();
    }
    return s[0];
}

// A cluster adds a row; the first block reads the sums of the others in their shared memory.
extern "C" __global__ void __cluster_dims__(4, 1, 1) sum_cluster(const float *x, float *y, int n) {
    __shared__ float s[32];
    cg::cluster_group cluster = cg::this_cluster();
    unsigned rank = cluster.block_rank();
    unsigned row = blockIdx.x / 4;
    float value = 0.0f;
    for (unsigned i = rank * blockDim.x + threadIdx.x; i < n; i += 4 * blockDim.x) {
        value += x[row * n + i];
    }
    block_sum(s, value);
    cluster.sync();
    if (rank == 0 && threadIdx.x == 0) {
        float sum = 0.0f;
        for (int other = 0; other < 4; other++) {
            sum += *cluster.map_shared_rank(s, other);
        }
        y[row] = sum;
    }
    cluster.sync();
}

// As before, and the first block leaves out the last one.
extern "C" __global__ void __cluster_dims__(4, 1, 1) sum_lost_rank(const float *x, float *y, int n) {
    __shared__ float s[32];
    cg::cluster_group cluster = cg::this_cluster();
    unsigned rank = cluster.block_rank();
    unsigned row = blockIdx.x / 4;
    float value = 0.0f;
    for (unsigned i = rank * blockDim.x + threadIdx.x; i < n; i += 4 * blockDim.x) {
        value += x[row * n + i];
    }
    block_sum(s, value);
    cluster.sync();
    if (rank == 0 && threadIdx.x == 0) {
        float sum = 0.0f;
        for (int other = 0; other < 3; other++) {
            sum += *cluster.map_shared_rank(s, other);
        }
        y[row] = sum;
    }
    cluster.sync();
}

// As before, without the barrier in front of the reads.
extern "C" __global__ void __cluster_dims__(4, 1, 1) sum_no_barrier(const float *x, float *y, int n) {
    __shared__ float s[32];
    cg::cluster_group cluster = cg::this_cluster();
    unsigned rank = cluster.block_rank();
    unsigned row = blockIdx.x / 4;
    cluster.sync();
    float value = 0.0f;
    for (unsigned i = rank * blockDim.x + threadIdx.x; i < n; i += 4 * blockDim.x) {
        value += x[row * n + i];
    }
    block_sum(s, value);
    if (rank == 0 && threadIdx.x == 0) {
        float sum = 0.0f;
        for (int other = 0; other < 4; other++) {
            sum += *cluster.map_shared_rank(s, other);
        }
        y[row] = sum;
    }
    cluster.sync();
}

// One thread: softmax of a row.
extern "C" __global__ void softmax_plain(const float *x, float *y, int n) {
    const float *row = x + blockIdx.x * n;
    float most = row[0];
    for (int i = 1; i < n; i++) {
        most = fmaxf(most, row[i]);
    }
    float sum = 0.0f;
    for (int i = 0; i < n; i++) {
        sum += expf(row[i] - most);
    }
    for (int i = 0; i < n; i++) {
        y[blockIdx.x * n + i] = expf(row[i] - most) / sum;
    }
}

template <int BLOCKS, bool RESCALES>
__device__ void softmax(const float *x, float *y) {
    __shared__ float s[32];
    __shared__ float pair[2];
    cg::cluster_group cluster = cg::this_cluster();
    unsigned rank = cluster.block_rank();
    unsigned at = (blockIdx.x / BLOCKS * BLOCKS + rank) * blockDim.x + threadIdx.x;
    float value = x[at];
    s[threadIdx.x] = value;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            s[threadIdx.x] = fmaxf(s[threadIdx.x], s[threadIdx.x + half]);
        }
        __syncthreads();
    }
    float most = s[0];
    __syncthreads();
    float sum = block_sum(s, expf(value - most));
    if (threadIdx.x == 0) {
        pair[0] = most;
        pair[1] = sum;
    }
    cluster.sync();
    float all = most;
    for (int other = 0; other < BLOCKS; other++) {
        all = fmaxf(all, cluster.map_shared_rank(pair, other)[0]);
    }
    float total = 0.0f;
    for (int other = 0; other < BLOCKS; other++) {
        float *theirs = cluster.map_shared_rank(pair, other);
        total += RESCALES ? theirs[1] * expf(theirs[0] - all) : theirs[1];
    }
    y[at] = expf(value - all) / total;
    cluster.sync();
}

// A row over two blocks, and over eight: maxima and sums of the others are read in their shared memory.
extern "C" __global__ void __cluster_dims__(2, 1, 1) softmax_pair(const float *x, float *y) {
    softmax<2, true>(x, y);
}
extern "C" __global__ void __cluster_dims__(8, 1, 1) softmax_eight(const float *x, float *y) {
    softmax<8, true>(x, y);
}
// The sums of the others are not rescaled to the common maximum.
extern "C" __global__ void __cluster_dims__(2, 1, 1) softmax_no_rescale(const float *x, float *y) {
    softmax<2, false>(x, y);
}

// One thread counts.
extern "C" __global__ void histogram_plain(const int *keys, int *bins, int n) {
    for (int bin = 0; bin < 16; bin++) {
        int count = 0;
        for (int i = 0; i < n; i++) {
            count += keys[i] == bin;
        }
        bins[bin] = count;
    }
}

// Bins distributed over the shared memory of two blocks.
extern "C" __global__ void __cluster_dims__(2, 1, 1) histogram_cluster(const int *keys, int *bins, int n) {
    __shared__ int own[8];
    cg::cluster_group cluster = cg::this_cluster();
    unsigned rank = cluster.block_rank();
    if (threadIdx.x < 8) {
        own[threadIdx.x] = 0;
    }
    cluster.sync();
    for (unsigned i = rank * blockDim.x + threadIdx.x; i < n; i += 2 * blockDim.x) {
        int bin = keys[i];
        atomicAdd(cluster.map_shared_rank(own, bin / 8) + bin % 8, 1);
    }
    cluster.sync();
    if (threadIdx.x < 8) {
        bins[rank * 8 + threadIdx.x] = own[threadIdx.x];
    }
}

// A block writes the tile of its neighbour and reads its own; the barrier of the cluster is in between.
extern "C" __global__ void swap_plain(const float *x, float *y) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned other = (blockIdx.x ^ 1) * blockDim.x + threadIdx.x;
    y[i] = 2.0f * x[other];
}
extern "C" __global__ void __cluster_dims__(2, 1, 1) swap_cluster(const float *x, float *y) {
    __shared__ float tile[32];
    cg::cluster_group cluster = cg::this_cluster();
    cluster.sync();
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float *theirs = cluster.map_shared_rank(tile, cluster.block_rank() ^ 1);
    theirs[threadIdx.x] = 2.0f * x[i];
    cluster.sync();
    y[i] = tile[threadIdx.x];
}

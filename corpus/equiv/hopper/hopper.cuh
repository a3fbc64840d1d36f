// Instructions of Hopper as functions. Addresses of shared memory are numbers of 32 bits.
typedef unsigned int u32;
typedef unsigned long long u64;
struct alignas(64) TensorMap { char bytes[128]; };
#include "wgmma.cuh"

#define DEVICE __device__ __forceinline__
DEVICE u32 shared_address(const void *p) { return (u32)__cvta_generic_to_shared(p); }

// Barriers in shared memory.
DEVICE void init(u32 bar, u32 count) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(count) : "memory"); }
DEVICE void arrive(u32 bar) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory"); }
DEVICE void expect(u32 bar, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
}
DEVICE void wait(u32 bar, u32 parity) {
  asm volatile("{\n.reg .pred P;\nL: mbarrier.try_wait.parity.shared::cta.b64 P, [%0], %1;\n@P bra D;\nbra L;\nD:\n}" ::"r"(bar), "r"(parity) : "memory");
}
DEVICE void fence_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

// Tensor copies.
DEVICE void load2(u32 to, const TensorMap *map, int x, int y, u32 bar) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(to), "l"(map), "r"(x), "r"(y), "r"(bar) : "memory");
}
DEVICE void store2(const TensorMap *map, int x, int y, u32 from) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map), "r"(x), "r"(y), "r"(from) : "memory");
}
DEVICE void commit_stores() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
DEVICE void wait_stores_read() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }
DEVICE void wait_stores() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }
DEVICE void fence_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// Barriers of the block by number.
DEVICE void sync(int id, int threads) { asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory"); }
DEVICE void signal(int id, int threads) { asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory"); }

// Registers of a warp group, and one lane of a warp.
template <int COUNT> DEVICE void give_registers() { asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(COUNT)); }
template <int COUNT> DEVICE void take_registers() { asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(COUNT)); }
DEVICE bool elected() {
  u32 yes;
  asm volatile("{\n.reg .pred P;\nelect.sync _|P, 0xffffffff;\nselp.u32 %0, 1, 0, P;\n}" : "=r"(yes));
  return yes != 0;
}

// The matrix that begins at an address. SWIZZLE is in bytes.
template <int SWIZZLE> DEVICE u64 descriptor(u32 address, u32 leading, u32 stride) {
  constexpr u64 mode = SWIZZLE == 128 ? 1 : SWIZZLE == 64 ? 2 : SWIZZLE == 32 ? 3 : 0;
  return (u64)((address & 0x3ffff) >> 4) | (u64)(leading >> 4) << 16 | (u64)(stride >> 4) << 32 | mode << 62;
}
// Rows of ROW bytes, swizzled over as many: groups of eight rows lie behind each other.
template <int ROW> DEVICE u64 rows(u32 address) { return descriptor<ROW>(address, 16, 8 * ROW); }

// Writes a thread's part of a matrix of 64 rows; `first` is its row and `column` its column in memory with rows of N elements, an even number.
template <class T, int COUNT> DEVICE void write(T *C, const T (&sum)[COUNT], int first, int column, int M, int N) {
  for (int i = 0; i < COUNT; i += 2) {
    int row = first + i / 2 % 2 * 8, at = column + i / 4 * 8;
    if (row < M && at < N) {
      C[row * N + at] = sum[i];
      C[row * N + at + 1] = sum[i + 1];
    }
  }
}

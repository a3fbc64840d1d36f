// Shared between the host program and the kernels.
#ifndef OWN_HEADER_H
#define OWN_HEADER_H

#define TILE_W 16
#define DIV_UP(a, b) (((a) + (b) - 1) / (b))

typedef struct {
  int width;
  int height;
} Size2;

static __host__ __device__ inline int flat(Size2 s, int x, int y) { return y * s.width + x; }

#endif /* OWN_HEADER_H */

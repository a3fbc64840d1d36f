// Two derivatives of a wave field in one kernel, plane by plane: the first phase puts a plane and its halo into a tile and
// differentiates it, the second overwrites the tile with the result times the velocity and differentiates again.
// Halo rows and columns have fewer words than there are threads: threads beyond the last write the last word too, the same value.
// NO_A to NO_D leave one of the four barriers of a plane out.
#define R 4
#define TX 32
#define TY 8

__device__ __forceinline__ float second(const float (*t)[TX + 2 * R], int y, int x)
{
    float d = -2.84722f * t[y][x] * 2.0f;
    d += 1.6f * (t[y][x - 1] + t[y][x + 1] + t[y - 1][x] + t[y + 1][x]);
    d -= 0.2f * (t[y][x - 2] + t[y][x + 2] + t[y - 2][x] + t[y + 2][x]);
    d += 0.0253968f * (t[y][x - 3] + t[y][x + 3] + t[y - 3][x] + t[y + 3][x]);
    d -= 0.00178571f * (t[y][x - 4] + t[y][x + 4] + t[y - 4][x] + t[y + 4][x]);
    return d;
}

extern "C" __global__ void two_phase(const float *p, const float *vel, float *q, int nx, int ny, int planes)
{
    __shared__ float t[TY + 2 * R][TX + 2 * R];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = R + blockIdx.x * TX + tx, y = R + blockIdx.y * TY + ty;
    int hx = min(tx, R - 1), hy = min(ty, R - 1); // which word of a halo this thread fills
    int x0 = blockIdx.x * TX, y0 = blockIdx.y * TY;
    // The corners are not used.
    for (int z = 0; z < planes; z++) {
        const float *f = p + (long)z * nx * ny;
        const float *c = vel + (long)z * nx * ny;
        t[ty + R][tx + R] = f[y * nx + x];
        t[hy][tx + R] = f[(y0 + hy) * nx + x];
        t[TY + R + hy][tx + R] = f[(y0 + TY + R + hy) * nx + x];
        t[ty + R][hx] = f[y * nx + x0 + hx];
        t[ty + R][TX + R + hx] = f[y * nx + x0 + TX + R + hx];
#ifndef NO_A
        __syncthreads();
#endif
        float d = second(t, ty + R, tx + R);
        float up = f[(y0 + hy) * nx + x] * c[(y0 + hy) * nx + x];
        float down = f[(y0 + TY + R + hy) * nx + x] * c[(y0 + TY + R + hy) * nx + x];
        float left = f[y * nx + x0 + hx] * c[y * nx + x0 + hx];
        float right = f[y * nx + x0 + TX + R + hx] * c[y * nx + x0 + TX + R + hx];
#ifndef NO_B
        __syncthreads();
#endif
        t[ty + R][tx + R] = d * c[y * nx + x];
        t[hy][tx + R] = up;
        t[TY + R + hy][tx + R] = down;
        t[ty + R][hx] = left;
        t[ty + R][TX + R + hx] = right;
#ifndef NO_C
        __syncthreads();
#endif
        q[((long)z * ny + y) * nx + x] = second(t, ty + R, tx + R);
#ifndef NO_D
        __syncthreads();
#endif
    }
}

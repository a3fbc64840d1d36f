/* Records the launches of a program: their shape goes to standard error, the bytes of each parameter to launchN.paramI.bin.

   cc -shared -fPIC -I/usr/local/cuda/include -o record_launches.so record_launches.c -ldl
   LD_PRELOAD=./record_launches.so ./program

   It sees launches through the driver and through the runtime, static or shared, so those of PyTorch and Triton too. It does not see
   cooperative launches, parameters in `extra` buffers, and launches on the default stream of each thread. The version of dlsym is
   that of glibc on x86-64. */
#define _GNU_SOURCE
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define REAL(name) ((__typeof__(&name))driver(#name))

static void* real_dlsym(void* handle, const char* name) {
    static void* (*real)(void*, const char*);
    if (!real) real = (void* (*)(void*, const char*))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
    return real(handle, name);
}

static void* driver(const char* name) { return real_dlsym(dlopen("libcuda.so.1", RTLD_NOW), name); }

static void record(CUfunction f, const unsigned* grid, const unsigned* block, unsigned shared, const unsigned* cluster, void** arguments) {
    static int number;
    const char* name = "?";
    char path[64];
    size_t offset, size;
    /* The runtime launches kernels of libraries, which are no functions. */
    int is_kernel = REAL(cuFuncGetName)(&name, f) != CUDA_SUCCESS || !name;
    if (is_kernel) REAL(cuKernelGetName)(&name, (CUkernel)f);
    fprintf(stderr, "%d: %s --grid %u,%u,%u --block %u,%u,%u --smem %u", number, name, grid[0], grid[1], grid[2], block[0], block[1], block[2], shared);
    if (cluster) fprintf(stderr, " --cluster %u,%u,%u", cluster[0], cluster[1], cluster[2]);
    fprintf(stderr, "\n");
    for (int i = 0; arguments; i++) {
        CUresult r = is_kernel ? REAL(cuKernelGetParamInfo)((CUkernel)f, i, &offset, &size) : REAL(cuFuncGetParamInfo)(f, i, &offset, &size);
        if (r != CUDA_SUCCESS) break;
        snprintf(path, sizeof path, "launch%d.param%d.bin", number, i);
        FILE* file = fopen(path, "wb");
        fwrite(arguments[i], size, 1, file);
        fclose(file);
    }
    number++;
}

CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                        unsigned shared, CUstream stream, void** arguments, void** extra) {
    unsigned grid[] = {gx, gy, gz}, block[] = {bx, by, bz};
    record(f, grid, block, shared, NULL, arguments);
    return REAL(cuLaunchKernel)(f, gx, gy, gz, bx, by, bz, shared, stream, arguments, extra);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* c, CUfunction f, void** arguments, void** extra) {
    unsigned grid[] = {c->gridDimX, c->gridDimY, c->gridDimZ}, block[] = {c->blockDimX, c->blockDimY, c->blockDimZ};
    const unsigned* cluster = NULL;
    for (unsigned i = 0; i < c->numAttrs; i++)
        if (c->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) cluster = &c->attrs[i].value.clusterDim.x;
    record(f, grid, block, c->sharedMemBytes, cluster, arguments);
    return REAL(cuLaunchKernelEx)(c, f, arguments, extra);
}

static void* hooked(const char* name);

#undef cuGetProcAddress
CUresult cuGetProcAddress_v2(const char* name, void** function, int version, cuuint64_t flags, CUdriverProcAddressQueryResult* found) {
    CUresult r = REAL(cuGetProcAddress_v2)(name, function, version, flags, found);
    if (r == CUDA_SUCCESS && *function && hooked(name)) *function = hooked(name);
    return r;
}

static void* hooked(const char* name) {
    if (!strcmp(name, "cuLaunchKernel")) return (void*)cuLaunchKernel;
    if (!strcmp(name, "cuLaunchKernelEx")) return (void*)cuLaunchKernelEx;
    if (!strcmp(name, "cuGetProcAddress") || !strcmp(name, "cuGetProcAddress_v2")) return (void*)cuGetProcAddress_v2;
    return NULL;
}

void* dlsym(void* handle, const char* name) { return hooked(name) ? hooked(name) : real_dlsym(handle, name); }

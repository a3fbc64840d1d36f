// What is known of the standard library, of cooperative groups, textures and random numbers, as C++ of our own. Each text that is read sees
// it first. Names of `__cuda` are found where nothing else of that name is.
namespace std {
template <class T, T v> struct integral_constant { static constexpr T value = v; using value_type = T; };
using true_type = integral_constant<bool, true>;
using false_type = integral_constant<bool, false>;
template <class A, class B> struct is_same : false_type {};
template <class A> struct is_same<A, A> : true_type {};
template <class T> struct remove_const { using type = T; };
template <class T> struct remove_const<const T> { using type = T; };
template <class T> struct remove_reference { using type = T; };
template <class T> struct remove_reference<T&> { using type = T; };
template <class T> struct remove_reference<T&&> { using type = T; };
template <class T> struct remove_pointer { using type = T; };
template <class T> struct remove_pointer<T*> { using type = T; };
template <class T> using remove_const_t = typename remove_const<T>::type;
template <class T> using remove_reference_t = typename remove_reference<T>::type;
template <class T> using remove_pointer_t = typename remove_pointer<T>::type;
template <class T> struct is_pointer : false_type {};
template <class T> struct is_pointer<T*> : true_type {};
template <class T> struct is_floating_point : false_type {};
template <> struct is_floating_point<float> : true_type {};
template <> struct is_floating_point<double> : true_type {};
template <class T> struct is_integral : false_type {};
template <> struct is_integral<bool> : true_type {};
template <> struct is_integral<char> : true_type {};
template <> struct is_integral<signed char> : true_type {};
template <> struct is_integral<unsigned char> : true_type {};
template <> struct is_integral<short> : true_type {};
template <> struct is_integral<unsigned short> : true_type {};
template <> struct is_integral<int> : true_type {};
template <> struct is_integral<unsigned int> : true_type {};
template <> struct is_integral<long> : true_type {};
template <> struct is_integral<unsigned long> : true_type {};
template <> struct is_integral<long long> : true_type {};
template <> struct is_integral<unsigned long long> : true_type {};
template <class A, class B> constexpr bool is_same_v = is_same<A, B>::value;
template <class T> constexpr bool is_pointer_v = is_pointer<T>::value;
template <class T> constexpr bool is_integral_v = is_integral<T>::value;
template <class T> constexpr bool is_floating_point_v = is_floating_point<T>::value;
template <bool b, class A, class B> struct conditional { using type = A; };
template <class A, class B> struct conditional<false, A, B> { using type = B; };
template <bool b, class A, class B> using conditional_t = typename conditional<b, A, B>::type;
template <bool b, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> { using type = T; };
template <bool b, class T = void> using enable_if_t = typename enable_if<b, T>::type;
template <class T> struct numeric_limits;
template <> struct numeric_limits<int> {
  static constexpr bool is_signed = true;
  static constexpr int min() { return -2147483647 - 1; }
  static constexpr int lowest() { return -2147483647 - 1; }
  static constexpr int max() { return 2147483647; }
};
template <> struct numeric_limits<unsigned int> {
  static constexpr bool is_signed = false;
  static constexpr unsigned int min() { return 0; }
  static constexpr unsigned int lowest() { return 0; }
  static constexpr unsigned int max() { return 4294967295u; }
};
template <> struct numeric_limits<long long> {
  static constexpr bool is_signed = true;
  static constexpr long long min() { return -9223372036854775807ll - 1; }
  static constexpr long long lowest() { return -9223372036854775807ll - 1; }
  static constexpr long long max() { return 9223372036854775807ll; }
};
template <> struct numeric_limits<unsigned long long> {
  static constexpr bool is_signed = false;
  static constexpr unsigned long long min() { return 0; }
  static constexpr unsigned long long lowest() { return 0; }
  static constexpr unsigned long long max() { return 18446744073709551615ull; }
};
template <> struct numeric_limits<float> {
  static constexpr bool is_signed = true;
  static constexpr float min() { return 1.17549435e-38f; }
  static constexpr float lowest() { return -3.40282347e+38f; }
  static constexpr float max() { return 3.40282347e+38f; }
  static constexpr float epsilon() { return 1.19209290e-07f; }
};
template <> struct numeric_limits<double> {
  static constexpr bool is_signed = true;
  static constexpr double min() { return 2.2250738585072014e-308; }
  static constexpr double lowest() { return -1.7976931348623157e+308; }
  static constexpr double max() { return 1.7976931348623157e+308; }
  static constexpr double epsilon() { return 2.2204460492503131e-16; }
};
template <class T> constexpr const T& min(const T& a, const T& b) { return b < a ? b : a; }
template <class T> constexpr const T& max(const T& a, const T& b) { return a < b ? b : a; }
template <class T> __device__ void swap(T& a, T& b) { T c = a; a = b; b = c; }
template <class T> struct plus { __device__ T operator()(const T& a, const T& b) const { return a + b; } };
template <class T> struct minus { __device__ T operator()(const T& a, const T& b) const { return a - b; } };
template <class T> struct multiplies { __device__ T operator()(const T& a, const T& b) const { return a * b; } };
template <class T> struct less { __device__ bool operator()(const T& a, const T& b) const { return a < b; } };
template <class T> struct greater { __device__ bool operator()(const T& a, const T& b) const { return a > b; } };
}
namespace cooperative_groups {
struct thread_block {
  __device__ void sync() const { __syncthreads(); }
  __device__ unsigned int thread_rank() const {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  }
  __device__ unsigned int size() const { return blockDim.x * blockDim.y * blockDim.z; }
  __device__ unsigned int num_threads() const { return blockDim.x * blockDim.y * blockDim.z; }
  __device__ dim3 group_index() const { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  __device__ dim3 thread_index() const { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  __device__ dim3 group_dim() const { return blockDim; }
};
__device__ thread_block this_thread_block() { return thread_block(); }
__device__ void sync(const thread_block& group) { __syncthreads(); }

// A part of a warp has a mask that is refused: which threads are in it is not followed.
template <unsigned int N> struct thread_block_tile {
  static constexpr unsigned int mask = N == 32 ? 0xffffffffu : 0u;
  __device__ void sync() const { __syncwarp(mask); }
  __device__ unsigned int thread_rank() const {
    return ((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x) % N;
  }
  __device__ unsigned int meta_group_rank() const {
    return ((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x) / N;
  }
  __device__ unsigned int meta_group_size() const { return (blockDim.x * blockDim.y * blockDim.z + N - 1) / N; }
  __device__ unsigned int size() const { return N; }
  __device__ unsigned int num_threads() const { return N; }
  template <class T> __device__ T shfl(T value, int lane) const { return __shfl_sync(mask, value, lane, N); }
  template <class T> __device__ T shfl_down(T value, unsigned int by) const { return __shfl_down_sync(mask, value, by, N); }
  template <class T> __device__ T shfl_up(T value, unsigned int by) const { return __shfl_up_sync(mask, value, by, N); }
  template <class T> __device__ T shfl_xor(T value, unsigned int by) const { return __shfl_xor_sync(mask, value, by, N); }
  __device__ int any(int holds) const { return __any_sync(mask, holds); }
  __device__ int all(int holds) const { return __all_sync(mask, holds); }
  __device__ unsigned int ballot(int holds) const { return __ballot_sync(mask, holds); }
};
template <unsigned int N, class G> __device__ thread_block_tile<N> tiled_partition(const G& group) { return thread_block_tile<N>(); }
template <unsigned int N> __device__ void sync(const thread_block_tile<N>& group) { group.sync(); }
template <unsigned int N, class T, class F> __device__ T reduce(const thread_block_tile<N>& group, T value, const F& f) { return group.shfl(value, 0); }

// The threads that happen to be here together.
struct coalesced_group {
  __device__ void sync() const { __syncwarp(__activemask()); }
  __device__ unsigned int thread_rank() const { unsigned int rank; __unknown_value(&rank); return rank % 32; }
  __device__ unsigned int size() const { unsigned int size; __unknown_value(&size); return size % 32 + 1; }
  __device__ unsigned int num_threads() const { return size(); }
  template <class T> __device__ T shfl(T value, int lane) const { return __shfl_sync(__activemask(), value, lane, 32); }
};
__device__ coalesced_group coalesced_threads() { return coalesced_group(); }

struct grid_group {
  __device__ void sync() const { __grid_barrier(); }
  __device__ unsigned long long thread_rank() const {
    unsigned long long block = ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    return block * (blockDim.x * blockDim.y * blockDim.z) + (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  }
  __device__ unsigned long long size() const {
    return (unsigned long long)gridDim.x * gridDim.y * gridDim.z * (blockDim.x * blockDim.y * blockDim.z);
  }
  __device__ unsigned long long num_threads() const { return size(); }
  __device__ bool is_valid() const { bool valid; int any; __unknown_value(&any); valid = any != 0; return valid; }
};
__device__ grid_group this_grid() { return grid_group(); }
template <class G> __device__ void synchronize(const G& group) { group.sync(); }
__device__ void sync(const grid_group& group) { __grid_barrier(); }
}
namespace __cuda {
// Textures. A fetch is a function of the texture, the type and the coordinates, and nothing else is known of it: contents, filtering and
// what lies outside are the host's. A reference holds which texture the host bound to it.
enum cudaTextureReadMode { cudaReadModeElementType = 0, cudaReadModeNormalizedFloat = 1 };
constexpr int cudaTextureType1D = 0x01;
constexpr int cudaTextureType2D = 0x02;
constexpr int cudaTextureType3D = 0x03;
constexpr int cudaTextureTypeCubemap = 0x0C;
constexpr int cudaTextureType1DLayered = 0xF1;
constexpr int cudaTextureType2DLayered = 0xF2;
constexpr int cudaTextureTypeCubemapLayered = 0xFC;
template <class T, int type = 1, int mode = 0> struct texture { unsigned long long object; };
// What a reference gives, and a number that tells references of other types from it.
template <class T, int mode> struct __texel { using type = T; static constexpr int code = 0; };
template <> struct __texel<unsigned char, 1> { using type = float; static constexpr int code = 1; };
template <> struct __texel<signed char, 1> { using type = float; static constexpr int code = 2; };
template <> struct __texel<char, 1> { using type = float; static constexpr int code = 3; };
template <> struct __texel<short, 1> { using type = float; static constexpr int code = 4; };
template <> struct __texel<unsigned short, 1> { using type = float; static constexpr int code = 5; };
template <> struct __texel<uchar1, 1> { using type = float1; static constexpr int code = 6; };
template <> struct __texel<uchar2, 1> { using type = float2; static constexpr int code = 7; };
template <> struct __texel<uchar4, 1> { using type = float4; static constexpr int code = 8; };
template <> struct __texel<char1, 1> { using type = float1; static constexpr int code = 9; };
template <> struct __texel<char2, 1> { using type = float2; static constexpr int code = 10; };
template <> struct __texel<char4, 1> { using type = float4; static constexpr int code = 11; };
template <> struct __texel<short1, 1> { using type = float1; static constexpr int code = 12; };
template <> struct __texel<short2, 1> { using type = float2; static constexpr int code = 13; };
template <> struct __texel<short4, 1> { using type = float4; static constexpr int code = 14; };
template <> struct __texel<ushort1, 1> { using type = float1; static constexpr int code = 15; };
template <> struct __texel<ushort2, 1> { using type = float2; static constexpr int code = 16; };
template <> struct __texel<ushort4, 1> { using type = float4; static constexpr int code = 17; };
template <class T> __device__ T tex1Dfetch(unsigned long long object, int x) { T value; __texel_of_index(&value, 0, object, x); return value; }
template <class T, int type, int mode> __device__ typename __texel<T, mode>::type tex1Dfetch(const texture<T, type, mode>& of, int x) {
  typename __texel<T, mode>::type value; __texel_of_index(&value, (__texel<T, mode>::code * 256 + type) * 2 + mode + 1, of.object, x); return value;
}
template <class T> __device__ T tex1D(unsigned long long object, float x) { T value; __texel_at(&value, 0, 0, object, x, 0, 0, 0, 0); return value; }
template <class T, int type, int mode> __device__ typename __texel<T, mode>::type tex1D(const texture<T, type, mode>& of, float x) {
  typename __texel<T, mode>::type value; __texel_at(&value, 0, (__texel<T, mode>::code * 256 + type) * 2 + mode + 1, of.object, x, 0, 0, 0, 0); return value;
}
template <class T> __device__ T tex2D(unsigned long long object, float x, float y) { T value; __texel_at(&value, 1, 0, object, x, y, 0, 0, 0); return value; }
template <class T, int type, int mode> __device__ typename __texel<T, mode>::type tex2D(const texture<T, type, mode>& of, float x, float y) {
  typename __texel<T, mode>::type value; __texel_at(&value, 1, (__texel<T, mode>::code * 256 + type) * 2 + mode + 1, of.object, x, y, 0, 0, 0); return value;
}
template <class T> __device__ T tex3D(unsigned long long object, float x, float y, float z) { T value; __texel_at(&value, 2, 0, object, x, y, z, 0, 0); return value; }
template <class T, int type, int mode> __device__ typename __texel<T, mode>::type tex3D(const texture<T, type, mode>& of, float x, float y, float z) {
  typename __texel<T, mode>::type value; __texel_at(&value, 2, (__texel<T, mode>::code * 256 + type) * 2 + mode + 1, of.object, x, y, z, 0, 0); return value;
}
template <class T> __device__ T tex1DLayered(unsigned long long object, float x, int layer) { T value; __texel_at(&value, 3, 0, object, x, 0, 0, 0, layer); return value; }
template <class T, int type, int mode> __device__ typename __texel<T, mode>::type tex1DLayered(const texture<T, type, mode>& of, float x, int layer) {
  typename __texel<T, mode>::type value; __texel_at(&value, 3, (__texel<T, mode>::code * 256 + type) * 2 + mode + 1, of.object, x, 0, 0, 0, layer); return value;
}
template <class T> __device__ T tex2DLayered(unsigned long long object, float x, float y, int layer) { T value; __texel_at(&value, 4, 0, object, x, y, 0, 0, layer); return value; }
template <class T, int type, int mode> __device__ typename __texel<T, mode>::type tex2DLayered(const texture<T, type, mode>& of, float x, float y, int layer) {
  typename __texel<T, mode>::type value; __texel_at(&value, 4, (__texel<T, mode>::code * 256 + type) * 2 + mode + 1, of.object, x, y, 0, 0, layer); return value;
}
template <class T> __device__ T texCubemap(unsigned long long object, float x, float y, float z) { T value; __texel_at(&value, 5, 0, object, x, y, z, 0, 0); return value; }
template <class T, int type, int mode> __device__ typename __texel<T, mode>::type texCubemap(const texture<T, type, mode>& of, float x, float y, float z) {
  typename __texel<T, mode>::type value; __texel_at(&value, 5, (__texel<T, mode>::code * 256 + type) * 2 + mode + 1, of.object, x, y, z, 0, 0); return value;
}
template <class T> __device__ T texCubemapLayered(unsigned long long object, float x, float y, float z, int layer) { T value; __texel_at(&value, 6, 0, object, x, y, z, 0, layer); return value; }
template <class T, int type, int mode> __device__ typename __texel<T, mode>::type texCubemapLayered(const texture<T, type, mode>& of, float x, float y, float z, int layer) {
  typename __texel<T, mode>::type value; __texel_at(&value, 6, (__texel<T, mode>::code * 256 + type) * 2 + mode + 1, of.object, x, y, z, 0, layer); return value;
}
template <class T> __device__ T tex1DLod(unsigned long long object, float x, float level) { T value; __texel_at(&value, 7, 0, object, x, 0, 0, level, 0); return value; }
template <class T, int type, int mode> __device__ typename __texel<T, mode>::type tex1DLod(const texture<T, type, mode>& of, float x, float level) {
  typename __texel<T, mode>::type value; __texel_at(&value, 7, (__texel<T, mode>::code * 256 + type) * 2 + mode + 1, of.object, x, 0, 0, level, 0); return value;
}
template <class T> __device__ T tex2DLod(unsigned long long object, float x, float y, float level) { T value; __texel_at(&value, 8, 0, object, x, y, 0, level, 0); return value; }
template <class T, int type, int mode> __device__ typename __texel<T, mode>::type tex2DLod(const texture<T, type, mode>& of, float x, float y, float level) {
  typename __texel<T, mode>::type value; __texel_at(&value, 8, (__texel<T, mode>::code * 256 + type) * 2 + mode + 1, of.object, x, y, 0, level, 0); return value;
}
template <class T> __device__ T tex3DLod(unsigned long long object, float x, float y, float z, float level) { T value; __texel_at(&value, 9, 0, object, x, y, z, level, 0); return value; }
template <class T, int type, int mode> __device__ typename __texel<T, mode>::type tex3DLod(const texture<T, type, mode>& of, float x, float y, float z, float level) {
  typename __texel<T, mode>::type value; __texel_at(&value, 9, (__texel<T, mode>::code * 256 + type) * 2 + mode + 1, of.object, x, y, z, level, 0); return value;
}
// Generators of random numbers: a state is read and written, and what is drawn may be anything. `sema` gives states their sizes.
struct curandStateXORWOW { unsigned int opaque; };
struct curandStateMRG32k3a { unsigned int opaque; };
struct curandStatePhilox4_32_10 { unsigned int opaque; };
typedef curandStateXORWOW curandState;
typedef curandStateXORWOW curandState_t;
typedef curandStateXORWOW curandStateXORWOW_t;
typedef curandStateMRG32k3a curandStateMRG32k3a_t;
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;
template <class S, class T> __device__ void __drawn(S* state, T* value) { __unknown_value(&state->opaque); __unknown_value(value); }
template <class S> __device__ void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset, S* state) {
  unsigned int first; __unknown_value(&first); state->opaque = first;
}
template <class S> __device__ void skipahead(unsigned long long n, S* state) { __unknown_value(&state->opaque); }
template <class S> __device__ void skipahead_sequence(unsigned long long n, S* state) { __unknown_value(&state->opaque); }
template <class S> __device__ unsigned int curand(S* state) { unsigned int value; __drawn(state, &value); return value; }
template <class S> __device__ float curand_uniform(S* state) { float value; __drawn(state, &value); return value; }
template <class S> __device__ float curand_normal(S* state) { float value; __drawn(state, &value); return value; }
template <class S> __device__ double curand_uniform_double(S* state) { double value; __drawn(state, &value); return value; }
template <class S> __device__ double curand_normal_double(S* state) { double value; __drawn(state, &value); return value; }
template <class S> __device__ float curand_log_normal(S* state, float mean, float deviation) { float value; __drawn(state, &value); return value; }
template <class S> __device__ double curand_log_normal_double(S* state, double mean, double deviation) { double value; __drawn(state, &value); return value; }
template <class S> __device__ unsigned int curand_poisson(S* state, double lambda) { unsigned int value; __drawn(state, &value); return value; }
template <class S> __device__ float2 curand_normal2(S* state) { float2 value; __drawn(state, &value); return value; }
template <class S> __device__ double2 curand_normal2_double(S* state) { double2 value; __drawn(state, &value); return value; }
template <class S> __device__ uint4 curand4(S* state) { uint4 value; __drawn(state, &value); return value; }
template <class S> __device__ float4 curand_uniform4(S* state) { float4 value; __drawn(state, &value); return value; }
template <class S> __device__ float4 curand_normal4(S* state) { float4 value; __drawn(state, &value); return value; }
template <class S> __device__ double2 curand_uniform2_double(S* state) { double2 value; __drawn(state, &value); return value; }
template <class S> __device__ float2 curand_log_normal2(S* state, float mean, float deviation) { float2 value; __drawn(state, &value); return value; }
}

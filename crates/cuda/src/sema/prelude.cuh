// What is known of the standard library and of cooperative groups, as C++ of our own. Each text that is read sees it first.
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
}

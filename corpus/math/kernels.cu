// Kernels of neural networks that call the math library. Every build of one computes the same; the mistakes at
// the end do not compute what the kernel of the first part of their name does.
#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)
#define KERNEL extern "C" __global__ void
constexpr int N = 6;
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif

__device__ float largest(const float* x) {
    float m = x[0];
    for (int i = 1; i < N; i++) m = fmaxf(m, x[i]);
    return m;
}
__device__ float sum_of_exp(const float* x, float m) {
    float s = 0;
    for (int i = 0; i < N; i++) s += expf(x[i] - m);
    return s;
}
KERNEL softmax(const float* x, float* y) {
    x += INDEX * N, y += INDEX * N;
    float m = largest(x), s = sum_of_exp(x, m);
    for (int i = 0; i < N; i++) y[i] = expf(x[i] - m) / s;
}
KERNEL log_softmax(const float* x, float* y) {
    x += INDEX * N, y += INDEX * N;
    float m = largest(x), s = logf(sum_of_exp(x, m));
    for (int i = 0; i < N; i++) y[i] = x[i] - m - s;
}
KERNEL cross_entropy(const float* x, const float* p, float* y) {
    x += INDEX * N, p += INDEX * N;
    float m = largest(x), s = logf(sum_of_exp(x, m)), loss = 0;
    for (int i = 0; i < N; i++) loss -= p[i] * (x[i] - m - s);
    y[INDEX] = loss;
}
KERNEL gelu_tanh(const float* x, float* y) {
    float v = x[INDEX];
    y[INDEX] = 0.5f * v * (1.0f + tanhf(0.7978845608f * (v + 0.044715f * v * v * v)));
}
KERNEL gelu_erf(const float* x, float* y) {
    float v = x[INDEX];
    y[INDEX] = 0.5f * v * (1.0f + erff(v * 0.70710678118f));
}
KERNEL gelu_erfc(const float* x, float* y) {
    float v = x[INDEX];
    y[INDEX] = 0.5f * v * erfcf(v * -0.70710678118f);
}
KERNEL silu(const float* x, float* y) {
    float v = x[INDEX];
    y[INDEX] = v / (1.0f + expf(-v));
}
KERNEL swiglu(const float* x, const float* gate, float* y) {
    float v = gate[INDEX];
    y[INDEX] = x[INDEX] * (v / (1.0f + expf(-v)));
}
KERNEL softplus(const float* x, float* y) { y[INDEX] = log1pf(expf(x[INDEX])); }
KERNEL softplus_log(const float* x, float* y) { y[INDEX] = logf(1.0f + expf(x[INDEX])); }
KERNEL mish(const float* x, float* y) {
    float v = x[INDEX];
    y[INDEX] = v * tanhf(log1pf(expf(v)));
}
KERNEL elu(const float* x, float* y) {
    float v = x[INDEX];
    y[INDEX] = v > 0 ? v : expm1f(v);
}
KERNEL sigmoid_tanh(const float* x, float* y) { y[INDEX] = 0.5f * tanhf(0.5f * x[INDEX]) + 0.5f; }
KERNEL sigmoid(const float* x, float* y) { y[INDEX] = 1.0f / (1.0f + expf(-x[INDEX])); }
KERNEL layer_norm(const float* x, float eps, float* y) {
    x += INDEX * N, y += INDEX * N;
    float mean = 0, var = 0;
    for (int i = 0; i < N; i++) mean += x[i];
    mean /= N;
    for (int i = 0; i < N; i++) var += (x[i] - mean) * (x[i] - mean);
    float r = rsqrtf(var / N + eps);
    for (int i = 0; i < N; i++) y[i] = (x[i] - mean) * r;
}
KERNEL rms_norm(const float* x, float eps, float* y) {
    x += INDEX * N, y += INDEX * N;
    float sum = 0;
    for (int i = 0; i < N; i++) sum += x[i] * x[i];
    float r = 1.0f / sqrtf(sum / N + eps);
    for (int i = 0; i < N; i++) y[i] = x[i] * r;
}
KERNEL group_norm(const float* x, const float* gain, const float* bias, float eps, float* y) {
    // Two channels of three elements are a group.
    x += INDEX * N, y += INDEX * N;
    float sum = 0, squares = 0;
    for (int i = 0; i < N; i++) sum += x[i], squares += x[i] * x[i];
    float mean = sum / N, r = rsqrtf(squares / N - mean * mean + eps);
    for (int i = 0; i < N; i++) y[i] = (x[i] - mean) * r * gain[i / 3] + bias[i / 3];
}
// One query a thread, N keys of two numbers each.
KERNEL attention(const float* q, const float* k, const float* v, float* y) {
    q += INDEX * 2, y += INDEX * 2;
    float m = -INFINITY, s = 0, o[2] = {0, 0};
    for (int i = 0; i < N; i++) {
        float score = (q[0] * k[2 * i] + q[1] * k[2 * i + 1]) * 0.70710678f;
        float larger = fmaxf(m, score), scale = expf(m - larger), p = expf(score - larger);
        s = s * scale + p;
        for (int j = 0; j < 2; j++) o[j] = o[j] * scale + p * v[2 * i + j];
        m = larger;
    }
    for (int j = 0; j < 2; j++) y[j] = o[j] / s;
}
KERNEL attention_two_passes(const float* q, const float* k, const float* v, float* y) {
    q += INDEX * 2, y += INDEX * 2;
    float score[N];
    for (int i = 0; i < N; i++) score[i] = (q[0] * k[2 * i] + q[1] * k[2 * i + 1]) * rsqrtf(2.0f);
    float m = largest(score), s = sum_of_exp(score, m);
    for (int j = 0; j < 2; j++) {
        float o = 0;
        for (int i = 0; i < N; i++) o += expf(score[i] - m) / s * v[2 * i + j];
        y[j] = o;
    }
}
KERNEL rope(const float* x, const float* angle, float* y) {
    float s, c, a = x[2 * INDEX], b = x[2 * INDEX + 1];
    sincosf(angle[INDEX], &s, &c);
    y[2 * INDEX] = a * c - b * s;
    y[2 * INDEX + 1] = a * s + b * c;
}
KERNEL rope_apart(const float* x, const float* angle, float* y) {
    float a = x[2 * INDEX], b = x[2 * INDEX + 1];
    float s = sinf(angle[INDEX]), c = cosf(angle[INDEX]);
    y[2 * INDEX] = a * c - b * s;
    y[2 * INDEX + 1] = a * s + b * c;
}
KERNEL adamw(const float* w, const float* g, const float* m, const float* v, float rate, float t, float* y) {
    float gradient = g[INDEX];
    float m1 = 0.9f * m[INDEX] + 0.1f * gradient, v1 = 0.999f * v[INDEX] + 0.001f * gradient * gradient;
    float mh = m1 / (1.0f - powf(0.9f, t)), vh = v1 / (1.0f - powf(0.999f, t));
    y[INDEX] = w[INDEX] - rate * (mh / (sqrtf(vh) + 1e-8f) + 0.01f * w[INDEX]);
}
// With a step that is an integer, of which the compiler knows that it is a number.
KERNEL adamw_step(const float* w, const float* m, const float* v, float rate, int t, float* y) {
    float mh = m[INDEX] / (1.0f - powf(0.95f, (float)t)), vh = v[INDEX] / (1.0f - powf(0.98f, (float)t));
    y[INDEX] = w[INDEX] - rate * (mh / (sqrtf(vh) + 1e-8f) + 0.01f * w[INDEX]);
}
KERNEL frequencies(const float* i, float* y) { y[INDEX] = powf(10000.0f, i[INDEX] * -0.125f); }
KERNEL squares(const float* x, float* y) { y[INDEX] = powf(x[INDEX], 2.0f); }
KERNEL decibel(const float* x, float* y) { y[INDEX] = 10.0f * log10f(x[INDEX]); }
KERNEL entropy(const float* p, float* y) {
    p += INDEX * N;
    float sum = 0;
    for (int i = 0; i < N; i++) sum -= p[i] * log2f(p[i]);
    y[INDEX] = sum;
}

// Mistakes.
KERNEL entropy_natural(const float* p, float* y) {
    p += INDEX * N;
    float sum = 0;
    for (int i = 0; i < N; i++) sum -= p[i] * logf(p[i]);
    y[INDEX] = sum;
}
KERNEL silu_base_two(const float* x, float* y) {
    float v = x[INDEX];
    y[INDEX] = v / (1.0f + exp2f(-v));
}
KERNEL sigmoid_is_tanh(const float* x, float* y) { y[INDEX] = tanhf(x[INDEX]); }
KERNEL gelu_wrong_root(const float* x, float* y) {
    float v = x[INDEX];
    y[INDEX] = 0.5f * v * (1.0f + erff(v));
}
KERNEL rms_norm_no_eps(const float* x, float eps, float* y) {
    x += INDEX * N, y += INDEX * N;
    float sum = 0;
    for (int i = 0; i < N; i++) sum += x[i] * x[i];
    float r = 1.0f / sqrtf(sum / N);
    for (int i = 0; i < N; i++) y[i] = x[i] * r;
}
KERNEL rope_other_way(const float* x, const float* angle, float* y) {
    float s, c, a = x[2 * INDEX], b = x[2 * INDEX + 1];
    sincosf(angle[INDEX], &s, &c);
    y[2 * INDEX] = a * c + b * s;
    y[2 * INDEX + 1] = b * c - a * s;
}
KERNEL adamw_no_correction(const float* w, const float* g, const float* m, const float* v, float rate, float t, float* y) {
    float gradient = g[INDEX];
    float m1 = 0.9f * m[INDEX] + 0.1f * gradient, v1 = 0.999f * v[INDEX] + 0.001f * gradient * gradient;
    float mh = m1 / (1.0f - powf(0.9f, t)), vh = v1;
    y[INDEX] = w[INDEX] - rate * (mh / (sqrtf(vh) + 1e-8f) + 0.01f * w[INDEX]);
}
KERNEL mish_no_log(const float* x, float* y) {
    float v = x[INDEX];
    y[INDEX] = v * tanhf(expf(v));
}
KERNEL attention_no_rescale(const float* q, const float* k, const float* v, float* y) {
    q += INDEX * 2, y += INDEX * 2;
    float m = -INFINITY, s = 0, o[2] = {0, 0};
    for (int i = 0; i < N; i++) {
        float score = (q[0] * k[2 * i] + q[1] * k[2 * i + 1]) * 0.70710678f;
        float larger = fmaxf(m, score), p = expf(score - larger);
        s = s * expf(m - larger) + p;
        for (int j = 0; j < 2; j++) o[j] = o[j] + p * v[2 * i + j];
        m = larger;
    }
    for (int j = 0; j < 2; j++) y[j] = o[j] / s;
}
KERNEL softplus_base_two(const float* x, float* y) { y[INDEX] = log2f(1.0f + expf(x[INDEX])); }
KERNEL frequencies_short(const float* i, float* y) { y[INDEX] = powf(1000.0f, i[INDEX] * -0.125f); }
KERNEL group_norm_no_eps(const float* x, const float* gain, const float* bias, float eps, float* y) {
    x += INDEX * N, y += INDEX * N;
    float sum = 0, squares = 0;
    for (int i = 0; i < N; i++) sum += x[i], squares += x[i] * x[i];
    float mean = sum / N, r = rsqrtf(squares / N - mean * mean);
    for (int i = 0; i < N; i++) y[i] = (x[i] - mean) * r * gain[i / 3] + bias[i / 3];
}

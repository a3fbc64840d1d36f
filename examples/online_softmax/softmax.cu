// The reference: softmax of a row as it is defined, one thread for each row.
extern "C" __global__ void softmax(const float* x, float* y, int columns) {
    x += blockIdx.x * columns;
    y += blockIdx.x * columns;
    float sum = 0.0f;
    for (int i = 0; i < columns; i++) sum += expf(x[i]);
    for (int i = 0; i < columns; i++) y[i] = expf(x[i]) / sum;
}

// expect: proved
// check: --grid 1 --block 4 --arg text=s8[64] --arg words=s32[4]:out --arg lines=4 --arg width=16
// Counts words with a state machine in a loop.
enum State { OUTSIDE, INSIDE, ESCAPED };

//@ extent text[lines*width], words[lines];
//@ requires lines >= 0 && width >= 0 && lines*width <= 2147483647 && gridDim.x*blockDim.x <= 2147483647;
__global__ void count_words(const char* text, int* words, int lines, int width) {
  int line = blockIdx.x * blockDim.x + threadIdx.x;
  if (line >= lines) return;
  State state = OUTSIDE;
  int count = 0;
  for (int i = 0; i < width; i++) {
    char c = text[line * width + i];
    switch (state) {
      case OUTSIDE:
        if (c == '\\') { state = ESCAPED; break; }
        if (c > ' ') { count++; state = INSIDE; }
        break;
      case INSIDE:
        if (c <= ' ') state = OUTSIDE;
        break;
      case ESCAPED:
        state = OUTSIDE;
        continue;
    }
  }
  words[line] = count;
}

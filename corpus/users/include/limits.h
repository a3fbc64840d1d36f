#ifndef INT_MAX
#define INT_MAX 2147483647
#endif

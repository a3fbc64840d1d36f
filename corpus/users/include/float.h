#ifndef FLT_MAX
#define FLT_MAX 3.40282347e+38f
#endif

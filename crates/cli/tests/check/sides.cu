// Lines to which sides.ptx refers.










  y[i] = x[i] + x[i];







  y[i] = 2 * __bfloat162float(x[i]);







  y[i] = 3 * x[i];



// not proved: a variable template is specialised
template<class T> constexpr int isf=0; template<> constexpr int isf<float> =1;
//@ extent a[n];
//@ requires gridDim.x==1 && blockDim.x==1 && n>=1 && n <= 1000000;
__global__ void k(int* a,int n){ if(n==100000) a[n-1+isf<float>]=1; }

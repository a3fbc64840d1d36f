// not an error: C++ that is not read
template<template<class> class W,class T> struct App{ W<T> w; }; template<class T> struct Box{T v;};
//@ extent o[1];
//@ requires gridDim.x==1 && blockDim.x==1;
__global__ void k(int* o){ App<Box,int> ap; ap.w.v=3; o[0]=ap.w.v; }

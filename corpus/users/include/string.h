// NVRTC has `memset` and `memcpy` itself.

// NVRTC has `printf` itself.

// NVRTC has `assert` itself.

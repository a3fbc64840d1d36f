// NVRTC has the runtime's types itself.

// expect: proved
// check: --grid 1 --block 16 --arg p=f32[112]:inout=iota --arg n=16 --arg box={0:0.0,4:0.0,8:0.0,12:1.0,16:1.0,20:1.0}
// Structures in structures, copied, compared and passed by reference.
struct Vec3 { float x, y, z; };
struct Particle { Vec3 pos; Vec3 vel; int alive; };
struct Box { Vec3 lo, hi; };

__device__ bool inside(const Box& b, const Vec3& p) { return p.x >= b.lo.x && p.x <= b.hi.x && p.y >= b.lo.y && p.y <= b.hi.y; }

__device__ void move(Particle& p, float dt) {
  p.pos.x += dt * p.vel.x;
  p.pos.y += dt * p.vel.y;
  p.pos.z += dt * p.vel.z;
}

//@ extent p[n];
//@ requires 0 <= n <= 100000000 && gridDim.x*blockDim.x <= 2147483647;
__global__ void advance(Particle* p, int n, Box box) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && p[i].alive) {
    Particle q = p[i];
    move(q, 0.1f);
    q.alive = inside(box, q.pos) ? 1 : 0;
    p[i] = q;
  }
}

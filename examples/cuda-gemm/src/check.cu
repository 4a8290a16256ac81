// Runs the kernel against plain loops on the host. Exit code 0 where every element agrees.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "gemm.cuh"

int main() {
  const int m = 256, n = 192, k = 320;
  std::vector<half> a(m * k), b(n * k);
  std::vector<float> c(m * n);
  for (auto& x : a) x = __float2half((std::rand() % 17 - 8) / 8.0f);
  for (auto& x : b) x = __float2half((std::rand() % 17 - 8) / 8.0f);
  half *da, *db;
  float* dc;
  cudaMalloc(&da, a.size() * sizeof(half));
  cudaMalloc(&db, b.size() * sizeof(half));
  cudaMalloc(&dc, c.size() * sizeof(float));
  cudaMemcpy(da, a.data(), a.size() * sizeof(half), cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), b.size() * sizeof(half), cudaMemcpyHostToDevice);
  gemm::kernel<><<<dim3(n / gemm::BN, m / gemm::BM), gemm::kThreads>>>(da, db, dc, n, k);
  cudaMemcpy(c.data(), dc, c.size() * sizeof(float), cudaMemcpyDeviceToHost);
  if (cudaGetLastError() != cudaSuccess) return std::puts("the kernel did not run"), 2;
  int wrong = 0;
  for (int row = 0; row < m; ++row)
    for (int col = 0; col < n; ++col) {
      float sum = 0;  // exact: eighths of eighths, below 2^24
      for (int i = 0; i < k; ++i) sum += __half2float(a[row * k + i]) * __half2float(b[col * k + i]);
      wrong += sum != c[row * n + col];
    }
  std::printf("%d of %d elements differ\n", wrong, m * n);
  return wrong != 0;
}

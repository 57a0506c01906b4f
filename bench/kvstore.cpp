// SPDX-License-Identifier: Apache-2.0
/// \file
/// What a store takes: sums and compression beside the copy rate of this process, and push and pull between 2 and 4
/// processes beside MPI_Allreduce of the same bytes in the same run. The processes are started by mpirun, where it is
/// installed.
#include <strop/strop.hpp>

#include <dlfcn.h>
#include <unistd.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

using namespace strop;

namespace {

/// The best of some calls, in nanoseconds.
template <class F>
double best_of(int calls, F&& f) {
  std::int64_t best = INT64_MAX;
  for (int i = 0; i < calls; ++i) {
    const std::int64_t begin = detail::nanoseconds();
    f();
    best = std::min(best, detail::nanoseconds() - begin);
  }
  return static_cast<double>(std::max<std::int64_t>(best, 1));
}

void local() {
  constexpr std::int64_t n = std::int64_t{1} << 23;
  constexpr double bytes = 4.0 * n;
  const NDArray a = ones({n}), b = ones({n}), c = ones({n}), d = ones({n}), out = zeros({n});
  const double copy = 2 * bytes / best_of(20, [&] { std::memcpy(out.bytes(), a.bytes(), std::size_t{4} * n); });
  std::printf("copy of 32 MB, read and written                     %6.1f GB/s\n", copy);
  KVStore kv = KVStore::create("local");
  kv.init("w", out);
  const double sum = 5 * bytes / best_of(20, [&] {
                       kv.push("w", {a, b, c, d});
                       Engine::global().wait_all();
                     });
  std::printf("push of four arrays of 32 MB, read and written      %6.1f GB/s   %4.2f of the copy rate\n", sum,
              sum / copy);
  const NDArray words = zeros({n / 16}), residual = zeros({n});
  const auto floats = [](const NDArray& of) { return reinterpret_cast<float*>(of.bytes()); };
  const double packs =
      bytes / best_of(20, [&] { detail::quantize_2bit(floats(a), floats(residual), 0.5F, words.bytes(), n); });
  const std::byte* const list = words.bytes();
  const double unpacks = bytes / best_of(20, [&] { detail::dequantize_2bit({&list, 1}, 0.5F, floats(out), n); });
  std::printf("to two bits an element, of its 32 MB                %6.1f GB/s   and back %.1f GB/s\n", packs, unpacks);
}

/// MPI_Allreduce of floats, of the library that the store has opened.
class Allreduce {
 public:
  Allreduce() {
    void* library = nullptr;
    for (const char* name : {"libmpi.so.40", "libmpi.so.80", "libmpi.so"})
      if (library == nullptr) library = ::dlopen(name, RTLD_NOW | RTLD_NOLOAD);
    if (library == nullptr) fail("kvstore: the MPI library is not open");
    function_ = reinterpret_cast<Function*>(::dlsym(library, "MPI_Allreduce"));
    type_ = ::dlsym(library, "ompi_mpi_float");
    sum_ = ::dlsym(library, "ompi_mpi_op_sum");
    world_ = ::dlsym(library, "ompi_mpi_comm_world");
    if (function_ == nullptr || type_ == nullptr || sum_ == nullptr || world_ == nullptr)
      fail("kvstore: the MPI library is not OpenMPI");
  }
  void operator()(const void* from, void* to, std::int64_t n) const {
    if (function_(from, to, static_cast<int>(n), type_, sum_, world_) != 0) fail("kvstore: MPI_Allreduce failed");
  }

 private:
  using Function = int(const void*, void*, int, void*, void*, void*);
  Function* function_;
  void *type_, *sum_, *world_;
};

void between_workers() {
  KVStore kv = KVStore::create("dist_sync");
  const bool first = kv.rank() == 0;
  const Allreduce allreduce;
  if (first)
    std::printf("\n%d processes     push and pull, us     MPI_Allreduce, us     of its goodput\n", kv.num_workers());
  for (std::int64_t bytes = 1 << 10; bytes <= std::int64_t{64} << 20; bytes *= 16) {
    const std::int64_t n = bytes / 4;
    const int calls = bytes < (1 << 20) ? 200 : 10;
    const NDArray gradient = ones({n}), out = zeros({n});
    kv.init(Key(cat(bytes)), out);
    const double ours = best_of(calls, [&] {
      kv.pushpull(Key(cat(bytes)), gradient, out);
      out.wait();
    });
    kv.barrier();
    const double raw = best_of(calls, [&] { allreduce(gradient.bytes(), out.bytes(), n); });
    kv.barrier();
    if (first)
      std::printf("%9lld KB %21.1f %21.1f %17.0f %%\n", static_cast<long long>(bytes >> 10), ours / 1e3, raw / 1e3,
                  100 * raw / ours);
  }
  constexpr std::int64_t rows = 100'000, width = 64;
  const NDArray table = row_sparse_array(ones({rows / 100, width}), arange(0, rows, 100, i64), {rows, width});
  const NDArray whole = ones({rows, width});
  kv.init(Key("table"), zeros({rows, width}, row_sparse));
  kv.init(Key("whole"), zeros({rows, width}));
  const double sparse = best_of(10, [&] { kv.push("table", table); });
  const NDArray out = zeros({rows, width});
  const double full = best_of(10, [&] {
    kv.pushpull("whole", whole, out);
    out.wait();
  });
  kv.barrier();
  if (first)
    std::printf("push of 1 %% of %lld rows of %lld: %.1f us, of all rows %.1f us, %.1f times as long\n",
                static_cast<long long>(rows), static_cast<long long>(width), sparse / 1e3, full / 1e3, full / sparse);
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  try {
    if (argc > 1 && std::strcmp(argv[1], "--worker") == 0) {
      between_workers();
      return 0;
    }
    local();
    std::string self(4096, '\0');
    const auto length = ::readlink("/proc/self/exe", self.data(), self.size());
    self.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
    for (const char* workers : {"2", "4"}) {
      const std::string command = cat("mpirun --oversubscribe ", ::geteuid() == 0 ? "--allow-run-as-root " : "", "-n ",
                                      workers, " '", self, "' --worker");
      if (std::system(command.c_str()) != 0) fail("kvstore: this did not go well: ", command);
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}

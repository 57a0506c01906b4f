// SPDX-License-Identifier: Apache-2.0
/// \file
/// This engine beside MXNet's own, through its C interface, on the same programs in the same run.
/// Usage: mxnet_engine libmxnet.so
#include <dlfcn.h>

#include <cstdint>

#include "engine_programs.hpp"

using namespace engine_peers;

namespace {

using Handle = void*;
struct Context {
  std::int32_t type = 1, id = 0;  // the processor
};
using Function = void (*)(void* run_context, void* parameter);

struct MxNet {
  int (*create)(const std::uint32_t* shape, std::uint32_t ndim, int device, int id, int delay, Handle* out);
  int (*push)(Function f, void* parameter, void (*deleter)(void*), Handle context, Handle* reads, int read_count,
              Handle* writes, int write_count, Handle property, int priority, const char* name);
  int (*wait_all)();

  bool load(const char* path) {
    void* const library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (library == nullptr) {
      std::printf("SKIP MXNet: %s\n", dlerror());
      return false;
    }
    create = reinterpret_cast<decltype(create)>(dlsym(library, "MXNDArrayCreate"));
    push = reinterpret_cast<decltype(push)>(dlsym(library, "MXEnginePushSyncND"));
    wait_all = reinterpret_cast<decltype(wait_all)>(dlsym(library, "MXNDArrayWaitAll"));
    return create != nullptr && push != nullptr && wait_all != nullptr;
  }
};

struct Call {
  const Operation* operation;
  Cell* at;
};

}  // namespace

int main(int argc, char** argv) {
  MxNet mxnet{};
  if (argc < 2 || !mxnet.load(argv[1])) return 0;
  std::vector<Handle> v(cells);
  for (Handle& one : v) {
    const std::uint32_t shape[] = {1};
    if (mxnet.create(shape, 1, 1, 0, 0, &one) != 0) return 1;
  }
  mxnet.wait_all();
  Context processor;
  heading();
  for (const Program& program : programs()) {
    const Time ours = measure_strop(program, 51);
    report(program, "strop", ours, ours);
    std::vector<Call> calls(program.operations.size());
    report(program, "MXNet's engine",
           measure(program, 51,
                   [&](Cell* at) {
                     for (std::size_t i = 0; i < calls.size(); ++i) {
                       const Operation& o = program.operations[i];
                       calls[i] = {&o, at};
                       Handle reads[2], writes[1];
                       int n = 0;
                       // it wants every variable once, and what is updated as written
                       for (int k = 0; k < o.read_count; ++k) {
                         const bool again = k > 0 && o.reads[0] == o.reads[1];
                         if (!again && o.reads[k] != o.write) reads[n++] = v[static_cast<std::size_t>(o.reads[k])];
                       }
                       if (o.write >= 0) writes[0] = v[static_cast<std::size_t>(o.write)];
                       mxnet.push(
                           [](void*, void* call) {
                             const Call& own = *static_cast<Call*>(call);
                             own.operation->apply(own.at);
                           },
                           &calls[i], nullptr, &processor, reads, n, writes, o.write >= 0 ? 1 : 0, nullptr, 0, "add");
                     }
                     mxnet.wait_all();
                   }),
           ours);
  }
}

// SPDX-License-Identifier: Apache-2.0
// What strop/fwd.hpp declares is what strop/strop.hpp defines, under the same key words.
#include <strop/fwd.hpp>

namespace {
using Element = strop::View<float, 2>;
// A header of somebody else's, which only names them.
struct Elsewhere {
  strop::NDArray* scaled(const strop::NDArray& x, strop::Dtype to, const Element& by);
};
}  // namespace

#include <strop/strop.hpp>

namespace {

template <class... T>
constexpr bool defined = ((sizeof(T) > 0) && ...);

static_assert(defined<strop::Error, strop::half, strop::bfloat16, strop::Dtype, strop::DtypeSet, strop::DeviceKind,
                      strop::Device, strop::Shape>);
static_assert(defined<strop::Storage, strop::GradRequest, strop::NDArray, strop::Coordinates, strop::View<float, 2>,
                      strop::CsrView<float>, strop::RowSparseView<float>, strop::stream_scope>);
static_assert(defined<strop::Required<int>, strop::Axes, strop::Range, strop::Note, strop::Share, strop::Resources,
                      strop::Shapes, strop::Types, strop::Storages, strop::Context, strop::Cpu, strop::Cuda,
                      strop::CsrResult<float>, strop::RowSparseResult<float>, strop::Request, strop::Keeps>);
static_assert(defined<strop::Target, strop::Targets, strop::Fallback, strop::FallbackRecord, strop::number::Num<float>,
                      strop::number::Mask<strop::number::Num<float>>>);
static_assert(defined<strop::record, strop::pause, strop::train_mode, strop::predict_mode, strop::Function,
                      strop::GradOptions, strop::GradientCheck, strop::GradientTolerance>);
static_assert(
    defined<strop::optim::Optimizer, strop::optim::Updater, strop::optim::Step, strop::optim::Schedule,
            strop::optim::FactorScheduler, strop::optim::MultiFactorScheduler, strop::optim::PolyScheduler,
            strop::optim::CosineScheduler, strop::optim::Sgd, strop::optim::Nag, strop::optim::Signum,
            strop::optim::Adam, strop::optim::Adamax, strop::optim::AdaGrad, strop::optim::AdaDelta,
            strop::optim::RMSProp, strop::optim::Ftrl, strop::optim::Ftml, strop::optim::Lamb, strop::optim::Lars>);
static_assert(
    defined<strop::Symbol, strop::Variable, strop::NameScope, strop::AttrScope, strop::InputSymbol, strop::GradRequests,
            strop::BindOptions, strop::Inferred<int>, strop::Executor, strop::MemoryPlan, strop::TracedFunction<int>>);
static_assert(
    defined<strop::Engine, strop::EngineKind, strop::EngineOptions, strop::EngineVariable, strop::EngineVariables,
            strop::EngineUses, strop::EngineDone, strop::EngineStep, strop::EngineContext, strop::FailedOperation,
            strop::Trace, strop::TraceNotes, strop::EngineNotes>);
static_assert(defined<strop::DataBatch, strop::DataDesc, strop::DataIter, strop::LastBatch, strop::ArraySources,
                      strop::NDArrayParams, strop::NDArrayIter, strop::CSVParams, strop::CSVIter, strop::MNISTParams,
                      strop::MNISTIter, strop::ImageRecordParams, strop::ImageRecordIter, strop::ResizeIter,
                      strop::PrefetchParams, strop::PrefetchingIter, strop::RecordParams, strop::RecordReader,
                      strop::RecordWriter, strop::RecordLabel, strop::IRHeader, strop::LibSVMIter>);
static_assert(defined<strop::memory::Statistics, strop::memory::Backend, strop::memory::GpuDriver, strop::random::Range,
                      strop::random::Stream>);

// They are the same types, templates included: no second one of that name hides the first.
static_assert(std::is_same_v<decltype(std::declval<strop::NDArray>().view<float, 2>()), Element>);
struct Twice {
  constexpr auto forward(auto x) const { return 2 * x; }
};
static_assert(defined<strop::Op<Twice>>);

}  // namespace

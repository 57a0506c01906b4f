// SPDX-License-Identifier: Apache-2.0
/// \file
/// The types of the public interface in reading order, declared: for headers that only name them. Operators, functions
/// and concepts cannot be declared apart from what they are: they come with strop/strop.hpp.
#pragma once
#include <strop/core/push_macros.def>

#include <strop/core/config.hpp>

#include <cstdint>

namespace strop::inline v0 {

// Elements and shapes: core/
class Error;
struct half;
struct bfloat16;
enum class Dtype : std::uint8_t;
struct DtypeSet;
struct Scalar;
enum class DeviceKind : std::uint8_t;
struct Device;
class Shape;

// Arrays and views of them: tensor/
enum class Storage : std::uint8_t;
enum class GradRequest : std::uint8_t;
class NDArray;
struct Coordinates;
template <class E, int Rank>
class View;
template <class E>
struct CsrView;
template <class E>
struct RowSparseView;
class stream_scope;

// Operators, what they state and what they are given: core/params.hpp, op/
template <class T, class When>
class Op;
template <class T>
struct Required;
struct Axes;
struct Range;  // NOLINT(bugprone-forward-declaration-namespace): not that of random numbers
struct Note;
struct ParamAlias;
struct ParamUpgrade;
enum class ParamKind : std::uint8_t;
struct Share;
struct Resources;
class Shapes;
class Types;
class Storages;
class Context;
class Cpu;
class Cuda;
template <class E>
class CsrResult;
template <class E, int Rank>
class DenseResult;
template <class E>
class RowSparseResult;
enum class Request : std::uint8_t;
enum class Keeps : std::uint8_t;

// Calls: op/
struct Target;
struct Targets;
enum class Fallback : std::uint8_t;
struct FallbackRecord;
struct Argument;
struct Arguments;
struct Cost;

// Shared libraries of operators: library/
class Library;

// The numbers that the body of a map is called with: number/
namespace number {
template <class R>
struct Num;
template <class M>
struct Mask;
}  // namespace number

// Gradients: autograd/
class record;
class pause;
class train_mode;
class predict_mode;
class Function;
struct GradOptions;
struct GradientCheck;
struct GradientTolerance;

// Optimizers: optim/
namespace optim {
class Optimizer;
class Updater;
struct Step;  // NOLINT(bugprone-forward-declaration-namespace): a step of graphs is another one
class Schedule;
struct FactorScheduler;
struct MultiFactorScheduler;
struct PolyScheduler;
struct CosineScheduler;
struct Sgd;
struct Nag;
struct Signum;
struct Adam;
struct Adamax;
struct AdaGrad;
struct AdaDelta;
struct RMSProp;
struct Ftrl;
struct Ftml;
struct Lamb;
struct Lars;
}  // namespace optim

// Data: data/
struct DataBatch;
struct DataDesc;
class DataIter;
class LastBatch;
class ArraySources;
struct NDArrayParams;
class NDArrayIter;
struct CSVParams;
class CSVIter;
struct LibSVMFormat;
struct LibSVMData;
struct LibSVMParams;
class LibSVMIter;
struct MNISTParams;
class MNISTIter;
struct ImageRecordParams;
class ImageRecordIter;
class ResizeIter;
struct PrefetchParams;
class PrefetchingIter;
struct RecordParams;
class RecordReader;
class RecordWriter;
class RecordLabel;
struct IRHeader;

// Arrays that workers share: kvstore/
class KVStore;
class Key;
class Keys;
class KeyedArrays;
struct GradientCompression;
class Transport;

// Symbols: graph/
class Symbol;
struct Variable;
class NameScope;
class AttrScope;
struct InputSymbol;
class GradRequests;
struct BindOptions;
template <class X>
struct Inferred;
class Executor;
class MemoryPlan;
struct Checkpoint;
template <class G>
class TracedFunction;

// The engine, and as members of it Variable, Uses, Done, Step, Context, Bulk: engine/
class Engine;
enum class EngineKind : std::uint8_t;
struct EngineOptions;
class EngineVariable;
class EngineVariables;
struct EngineUses;
class EngineDone;
class EngineStep;
class EngineContext;
class FailedOperation;
class Trace;
class TraceNotes;
class EngineNotes;

// Memory and random numbers: memory/
namespace memory {
struct Statistics;
struct Backend;
struct GpuDriver;
}  // namespace memory
namespace random {
struct Range;  // NOLINT(bugprone-forward-declaration-namespace): not that of parameters
struct Stream;
}  // namespace random

}  // namespace strop::inline v0

#include <strop/core/pop_macros.def>

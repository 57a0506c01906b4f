// SPDX-License-Identifier: Apache-2.0
/// \file
/// Iterators by their names: a plain struct is registered by being named, its parameters come by reflection.
#pragma once
#include <strop/core/push_macros.def>

#include <strop/core/params.hpp>
#include <strop/data/data_iter.hpp>
#include <strop/data/ndarray_iter.hpp>
#include <strop/data/pipeline.hpp>

#include <atomic>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace strop::inline v0 {

/// An iterator that makes batches in a way of its own: a plain struct whose fields say what is read, and `Params`, a
/// plain struct that says how that becomes batches.
template <class T>
concept BatchFormat = std::is_aggregate_v<T> && requires(const T& format, const typename T::Params& params) {
  { format.batches(params) } -> std::same_as<DataIter>;
};

namespace detail {

template <>
struct Text<LastBatch> {
  static constexpr ParamKind kind = ParamKind::enumeration;
  static constexpr std::string_view name = "{'pad', 'discard', 'roll_over'}";
  static constexpr std::string_view words[] = {"pad", "discard", "roll_over"};
  static bool parse(LastBatch& value, std::string_view text) {
    for (const LastBatch::Rule rule : {LastBatch::pad, LastBatch::discard, LastBatch::roll_over})
      if (text == words[rule]) return value = rule, true;
    return false;
  }
  static std::string print(LastBatch value) { return std::string(words[value]); }
};

/// What an iterator takes beside its own fields.
template <class T>
struct BatchParamsOf {
  using type = PipelineParams;
};
template <BatchFormat T>
struct BatchParamsOf<T> {
  using type = typename T::Params;
};

/// What PipelineParams are, for who has no notes of them.
inline constexpr Note pipeline_notes[] = {
    {"batch_size", "records of a batch"},
    {"last_batch_handle", "what becomes of records that do not fill the last batch"},
    {"shuffle_window", "records are drawn from a window of so many; 0: they come as they stand"},
    {"seed", "of the order"},
    {"num_parts", "of how many parts of the records"},
    {"part_index", "this one is read"},
    {"prefetch_buffer", "batches that are made ahead; 0: none"},
};

template <class T>
constexpr std::string_view iterator_name() {
  if constexpr (requires { std::string_view(T::name); })
    return T::name;
  else
    return type_name<T>;
}

}  // namespace detail

/// What the registry knows of an iterator. Its parameters are the fields of two plain structs: of what is read, and of
/// how that becomes batches.
struct IteratorEntry {
  std::string_view name, doc;
  const detail::ParamTable* source;
  const detail::ParamTable* batching;
  std::span<const Note> notes, batching_notes;
  bool custom;  // the program's own, not the library's
  DataIter (*open)(const void* source, const void* batching);
};

/// A parameter of an iterator, as a front end shows it.
struct IteratorParam {
  std::string_view name, type;
  ParamKind kind = ParamKind::string;
  std::string_view doc;
  std::string value;  // the default; empty of a required one
  bool required = false;
  std::span<const std::string_view> words;  // of an enumeration
};

namespace detail {

/// The place of an iterator in the list of all.
struct IteratorSlot {
  const IteratorEntry* entry;
  std::atomic<IteratorSlot*> next{nullptr};
  std::atomic<bool> listed{false};
};
inline constinit std::atomic<IteratorSlot*> iterator_head{nullptr};

inline void enrol_iterator(IteratorSlot& slot) {
  if (slot.listed.exchange(true)) return;
  IteratorSlot* head = iterator_head.load();
  do slot.next.store(head);
  while (!iterator_head.compare_exchange_weak(head, &slot));
}

template <class T>
constexpr bool iterator_stated() {
  static_assert(std::is_aggregate_v<T>,
                "strop: an iterator is a plain struct without constructors: its fields are parameters");
  static_assert(BatchFormat<T> || DataFormat<T>,
                "strop: an iterator says what its records are, open() const and parse(record) const, or has a struct "
                "Params and makes batches itself: DataIter batches(const Params&) const");
  using Params = typename BatchParamsOf<T>::type;
  constexpr bool apart = [] {
    for (const Field& own : ParamsOf<T>::fields)
      for (const Field& other : ParamsOf<Params>::fields)
        if (own.name == other.name) return false;
    return true;
  }();
  static_assert(apart, "strop: a field of an iterator has the name of one of its Params");
  return apart;
}

template <class T>
struct IteratorEntryOf {
  using Params = typename BatchParamsOf<T>::type;
  static DataIter open(const void* source, const void* batching) {
    const T& format = *static_cast<const T*>(source);
    const Params& params = *static_cast<const Params*>(batching);
    if constexpr (BatchFormat<T>)
      return format.batches(params);
    else
      return pipeline(format, params);
  }
  static constexpr std::span<const Note> notes() {
    if constexpr (requires { std::span<const Note>(T::notes); })
      return T::notes;
    else
      return {};
  }
  static constexpr std::string_view doc() {
    if constexpr (requires { std::string_view(T::doc); })
      return T::doc;
    else
      return {};
  }
  static constexpr bool custom() {
    if constexpr (requires { T::of_library; })
      return !T::of_library;
    else
      return true;
  }
  /// Notes of the batching, which stand among the own ones where there are no others.
  static constexpr std::span<const Note> batching_notes() {
    if constexpr (requires { std::span<const Note>(T::batching_notes); })
      return T::batching_notes;
    else if constexpr (std::is_same_v<Params, PipelineParams>)
      return pipeline_notes;
    else
      return notes();
  }
  static constexpr IteratorEntry value{
      iterator_name<T>(), doc(), &param_table<T>, &param_table<Params>, notes(), batching_notes(), custom(), &open};
};
template <class T>
inline constinit IteratorSlot iterator_slot{&IteratorEntryOf<T>::value};

/// Lists a T when the program starts, once it is named.
template <class T>
struct IteratorEnroller {
  IteratorEnroller() { enrol_iterator(iterator_slot<T>); }
  static const IteratorEnroller instance;
};
template <class T>
inline const IteratorEnroller<T> IteratorEnroller<T>::instance{};

template <const auto* Instance>
struct UsesIterator {};

/// Every iterator of the program once, sorted by name. Throws Error where two types have one name.
std::vector<const IteratorEntry*> all_iterators();
/// The iterator of that name. Throws Error with the nearest names where there is none.
const IteratorEntry& find_iterator(std::string_view name);
std::vector<IteratorParam> params_of_iterator(const IteratorEntry& entry);

}  // namespace detail

/// The callable of an iterator, a plain struct that says what records a file has and what becomes of them (DataFormat),
/// or that makes batches itself (BatchFormat). Naming it, `inline constexpr strop::Iterator<Sensor> sensor;`, registers
/// the struct: `strop data`, open_iter() and Python find it by its name, or by the `name` that it states.
///
/// Example: `for (auto& batch : sensor({.path = "a.rec"}, {.batch_size = 32})) use(batch.data[0]);`
template <class T>
class Iterator {
  static_assert(detail::iterator_stated<T>());

 public:
  using Params = typename detail::BatchParamsOf<T>::type;
  using Enrolled = detail::UsesIterator<&detail::IteratorEnroller<T>::instance>;
  /// The batches. Throws Error where a parameter is missing or wrong, and as the iterator does.
  DataIter operator()(const T& source = {}, const Params& params = {}) const {
    (void)&detail::IteratorEnroller<T>::instance;
    constexpr std::string_view name = detail::iterator_name<T>();
    detail::check_params(name, detail::param_table<T>, &source);
    detail::check_params(name, detail::param_table<Params>, &params);
    return detail::IteratorEntryOf<T>::open(&source, &params);
  }
};

/// Opens the iterator of that name; parameters are given as text, by their names. Those of the library are found where
/// <strop/data/iterators.hpp> is included. Throws Error for an unknown name or parameter, with the nearest ones, and as
/// the iterator does.
///
/// Example: `open_iter("CSVIter", {{"data_csv", "a.csv"}, {"data_shape", "(3,)"}, {"batch_size", "4"}})`
DataIter open_iter(std::string_view name, std::span<const std::pair<std::string_view, std::string_view>> params);
inline DataIter open_iter(std::string_view name,
                          std::initializer_list<std::pair<std::string_view, std::string_view>> params) {
  return open_iter(name, std::span<const std::pair<std::string_view, std::string_view>>(params.begin(), params.size()));
}

}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/data/registry_impl.hpp>
#endif

#include <strop/core/pop_macros.def>

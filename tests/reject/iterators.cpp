// SPDX-License-Identifier: Apache-2.0
// reject-first CLASS: strop: an iterator is a plain struct without constructors: its fields are parameters
// reject-first RECORDS: strop: an iterator says what its records are, open() const and parse(record) const, or has a struct Params and makes batches itself: DataIter batches(const Params&) const
// reject-first NAMES: strop: a field of an iterator has the name of one of its Params
#include <strop/data/registry.hpp>
#include <strop/strop.hpp>

#include <cstdint>
#include <string_view>

struct Sensor {
#if defined(CLASS)
  explicit Sensor(int) {}
#endif
#if defined(NAMES)
  std::int64_t batch_size = 0;
#else
  std::int64_t places = 0;
#endif
#if !defined(RECORDS)
  strop::RecordReader open() const { return strop::RecordReader("a.rec"); }
#endif
  strop::Example parse(std::string_view) const { return {}; }
};

inline constexpr strop::Iterator<Sensor> sensor;

// SPDX-License-Identifier: Apache-2.0
// reject-first CLASS: strop: a data format is a plain struct without constructors: its fields are parameters
// reject-first PARSE: strop: a data format says what a record becomes: Example parse(std::string_view record) const
// reject-first OPEN: strop: a data format says which reader yields its records: open() const, or open(num_parts,
#include <strop/data/pipeline.hpp>
#include <strop/strop.hpp>

struct Format {
#if defined(CLASS)
  explicit Format(int) {}
#endif
#if defined(OPEN)
  int open() const { return 0; }
#else
  strop::RecordReader open() const { return strop::RecordReader("a.rec"); }
#endif
#if defined(PARSE)
  strop::Example parse() const { return {}; }
#else
  strop::Example parse(std::string_view) const { return {}; }
#endif
};

void use(const Format& format);
void use(const Format& format) { strop::pipeline(format); }

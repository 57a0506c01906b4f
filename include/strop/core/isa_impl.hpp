// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the processor and its system can run, by cpuid or by what the system says.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/environment.hpp>
#include <strop/core/error.hpp>
#include <strop/core/isa.hpp>

#include <bit>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

namespace strop::inline v0::detail {

// Two lists are one: that of core/isa.hpp, from which names are made, and that of the file.
#if defined(__x86_64__) || defined(__aarch64__)
static_assert(
    [] {
      std::uint64_t needs = 0, bit = 1;
// A macro that is defined is written in a string as what it is, one that is not by its name.
#define STROP_TEXT(macro) #macro
#define STROP_EXTENSION(macro, ...)                                 \
  needs |= std::string_view(STROP_TEXT(macro)) != #macro ? bit : 0; \
  bit <<= 1;
#if defined(__x86_64__)
#include <strop/core/extensions.def>
#else
#include <strop/core/extensions_aarch64.def>
#endif
#undef STROP_EXTENSION
#undef STROP_TEXT
      return needs;
    }() == this_isa.needs,
    "core/isa.hpp and the file of extensions list others");
#endif

/// The lines of core/extensions.def, or of extensions_aarch64.def, that hold here. The compilers' own
/// __builtin_cpu_supports knows another list in every version of each.
STROP_IMPL std::uint64_t present_extensions() {
  std::uint64_t present = 0;
#if defined(__x86_64__)
  // cpuid says what the processor has; the registers are kept only by a system that knows them (Intel SDM, 13.3).
  std::uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0, kept = 0;
  [[maybe_unused]] std::uint32_t unused = 0;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_OSXSAVE) != 0)
    __asm__ volatile("xgetbv" : "=a"(kept), "=d"(unused) : "c"(0));
  enum : std::uint32_t { none = 0, avx = 0x6, avx512 = 0xE6, apx = 0x80000 };  // as they stand in the answer
  constexpr struct {
    std::uint32_t leaf, keeps;
    std::uint8_t subleaf, word, place;
  } extensions[] = {
#define STROP_EXTENSION(macro, leaf, subleaf, word, place, keeps) {leaf, keeps, subleaf, word, place},
#include <strop/core/extensions.def>
#undef STROP_EXTENSION
  };
  // A virtual machine takes a microsecond or more for each cpuid, so neighbouring lines share the answer.
  std::uint32_t words[4]{}, leaf_read = 0, subleaf_read = 0;
  std::uint64_t at = 1;
  for (const auto& e : extensions) {
    if (e.leaf != leaf_read || e.subleaf != subleaf_read) {
      leaf_read = e.leaf, subleaf_read = e.subleaf;
      if (__get_cpuid_count(e.leaf, e.subleaf, &words[0], &words[1], &words[2], &words[3]) == 0)
        for (std::uint32_t& none_of_it : words) none_of_it = 0;
      if (e.leaf == 0x24) words[1] = (2u << (words[1] & 0x1F)) - 1;
    }
    if ((kept & e.keeps) == e.keeps && (words[e.word] >> e.place & 1) != 0) present |= at;
    at <<= 1;
  }
#elif defined(__aarch64__) && defined(__linux__)
  const std::uint64_t words[] = {getauxval(AT_HWCAP), getauxval(AT_HWCAP2)};
  std::uint64_t at = 1;
#define STROP_EXTENSION(macro, word, place)                             \
  present |= (words[word] >> (place) & 1) != 0 ? at : std::uint64_t{0}; \
  at <<= 1;
#include <strop/core/extensions_aarch64.def>
#undef STROP_EXTENSION
#elif defined(__aarch64__)
  present = ~std::uint64_t{0};  // the system does not say
#endif
  return present;
}

/// The highest level that the environment's STROP_ISA allows; every level where it is not set, or names none: that is
/// seen before main, where nothing is said.
STROP_IMPL int allowed_level() {
  const Setting setting = environment({"STROP_ISA"});
  int level = 0;
  for (const std::string_view name : isa_levels) {
    if (name == setting.value) return level;
    ++level;
  }
  return 9;
}

STROP_IMPL bool runs_here(const Isa& isa) {
  static const std::uint64_t present = present_extensions();
  return (isa.needs & ~present) == 0;
}

STROP_IMPL bool preferred(const Isa& a, const Isa& b) {
  static const int allowed = allowed_level();
  if (a.level > allowed || b.level > allowed) return a.level < b.level;
  return a.level > b.level;
}

STROP_IMPL void refuse_isa(std::string_view op, const Isa& isa) {
  static constexpr const char* macros[] = {
#define STROP_EXTENSION(macro, ...) #macro,
#if defined(__x86_64__)
#include <strop/core/extensions.def>
#elif defined(__aarch64__)
#include <strop/core/extensions_aarch64.def>
#endif
#undef STROP_EXTENSION
      ""};
  const int missing = std::countr_zero(isa.needs & ~present_extensions());
  fail(op, ": this program has it for ", isa.name, " with ", macros[missing],
       " alone, which this processor does not run");
}

}  // namespace strop::inline v0::detail

// SPDX-License-Identifier: Apache-2.0
/// \file
/// What follows of shapes that are known in part, forwards and backwards, of every operator of the registry.
#include "inference.hpp"

#include <strop/strop.hpp>
#include <strop/verify.hpp>

#include <doctest/doctest.h>

#include <random>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

using strop::Entry, strop::Shape, strop::cat;
using strop::verify::Row, strop::verify::Subject;

namespace {

/// Of a call.
struct Known {
  std::vector<Shape> in, out;
  friend bool operator==(const Known&, const Known&) = default;
};

/// A row of an operator, and its shapes in full.
struct Call {
  Subject subject;
  strop::Signature names;
  Known whole;

  explicit Call(const Row& row) : subject(row.subject(type_of(row))), names(subject.signature()) {
    for (const strop::NDArray& a : subject.in) whole.in.push_back(a.shape());
    whole.out.assign(names.outputs.size(), Shape::unknown());
    whole = inferred(whole);
  }
  /// What follows, as a graph finds it: until nothing more does.
  Known inferred(Known known) const {
    const strop::detail::CallNames said{subject.entry->name, names.inputs, names.outputs};
    for (;;) {
      const Known before = known;
      strop::Shapes shapes(said, known.in, known.out);
      strop::detail::infer_shapes(*subject.entry, subject.op(), shapes);
      if (known == before) return known;
    }
  }
  Known nothing() const {
    return {std::vector<Shape>(whole.in.size(), Shape::unknown()),
            std::vector<Shape>(whole.out.size(), Shape::unknown())};
  }

 private:
  static strop::Dtype type_of(const Row& row) {
    return strop::detail::find_operator(row.op).dtypes.contains(strop::f32) ? strop::f32 : strop::i64;
  }
};

std::vector<const Entry*> library() {
  std::vector<const Entry*> out;
  for (const Entry* e : strop::detail::all_operators())
    if (e->library && !e->name.starts_with("_grad_")) out.push_back(e);
  return out;
}

bool is_part_of(const std::vector<Shape>& part, const std::vector<Shape>& whole) {
  for (std::size_t i = 0; i < part.size(); ++i) {
    if (!part[i].has_rank()) continue;
    if (part[i].ndim() != whole[i].ndim()) return false;
    for (int axis = 0; axis < part[i].ndim(); ++axis)
      if (part[i][axis] >= 0 && part[i][axis] != whole[i][axis]) return false;
  }
  return true;
}

std::string text(const Known& known) {
  std::string out;
  for (const Shape& s : known.in) out += cat(s, ' ');
  out += "->";
  for (const Shape& s : known.out) out += cat(' ', s);
  return out;
}

/// "weight, bias, output?": those of which something follows; "?" where not all of it does.
std::string found(const std::vector<std::string_view>& names, const std::vector<Shape>& shapes, std::size_t from = 0) {
  std::string out;
  for (std::size_t i = from; i < shapes.size(); ++i)
    if (shapes[i].has_rank()) out += cat(out.empty() ? "" : ", ", names[i], shapes[i].known() ? "" : "?");
  return out;
}
std::string joined(const std::string& a, const std::string& b) { return a + (a.empty() || b.empty() ? "" : ", ") + b; }
std::string given(const std::string& what, const std::string& follows) {
  return follows.empty() ? std::string() : cat("; ", what, " -> ", follows);
}

/// "Convolution: data -> weight, bias, output; output -> data?, weight?, bias; data? -> output?", of the first row:
/// what follows from the first input alone, from the outputs alone, and without the first extent of the first input.
std::string line_of(const Entry& entry) {
  const Call call(strop::verify::rows_of(entry).front());
  const auto& [inputs, outputs] = std::tie(call.names.inputs, call.names.outputs);
  std::string out;
  Known known = call.nothing();
  if (call.whole.in.empty()) return cat(entry.name, ": -> ", found(outputs, call.inferred(known).out));
  known.in[0] = call.whole.in[0];
  known = call.inferred(known);
  out += given(std::string(inputs[0]), joined(found(inputs, known.in, 1), found(outputs, known.out)));
  known = call.nothing();
  known.out = call.whole.out;
  out += given(found(outputs, known.out), found(inputs, call.inferred(known).in));
  known.in = call.whole.in;
  known.out = call.nothing().out;
  if (known.in[0].ndim() > 0) known.in[0][0] = -1;
  known = call.inferred(known);
  out +=
      given(cat(inputs[0], '?'), joined(known.in[0].known() ? std::string(inputs[0]) : "", found(outputs, known.out)));
  return cat(entry.name, ':', out.empty() ? "" : out.substr(1));
}

}  // namespace

TEST_CASE("what follows from shapes that are known in part is part of what they are in full") {
  std::mt19937 random(1);
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  for (const Entry* e : library())
    for (const Row& row : strop::verify::rows_of(*e)) {
      // Slopes that nothing is known of are one for each channel; they may be others.
      const bool supposed = row.op == "LeakyReLU" && row.in.size() == 2;
      const Call call(row);
      std::string wrong;
      for (int i = 0; i < 40 && wrong.empty(); ++i) {
        Known known = call.whole;
        for (std::vector<Shape>* shapes : {&known.in, &known.out})
          for (Shape& shape : *shapes) {
            const unsigned how = below(4);
            if (how == 0) shape = Shape::unknown();
            for (std::int64_t& extent : shape)
              if (how == 1 && below(2) == 0) extent = Shape::unknown_extent;
          }
        if (supposed && known.in[1].ndim() < 2) known.in[1] = call.whole.in[1];
        const std::string from = text(known);
        try {
          known = call.inferred(known);
          if (!is_part_of(known.in, call.whole.in) || !is_part_of(known.out, call.whole.out))
            wrong = cat(from, " gives ", text(known));
        } catch (const strop::Error& error) {
          wrong = cat(from, ": ", error.what());
        }
      }
      CHECK_MESSAGE(wrong.empty(), row.op, " {", row.params, "} ", text(call.whole), ": ", wrong);
    }
}

TEST_CASE("what a map is told of one tensor it knows of all, or what broadcasting leaves of it") {
  for (const Entry* e : library()) {
    if (!e->is_map() || e->infer_shape != nullptr) continue;
    CAPTURE(e->name);
    const Call call(strop::verify::rows_of(*e).front());
    const bool agree = e->same_shape || call.whole.in.size() == 1;
    for (std::size_t i = 0; agree && i < call.whole.in.size() + call.whole.out.size(); ++i) {
      Known known = call.nothing();
      const bool input = i < call.whole.in.size();
      (input ? known.in[i] : known.out[i - call.whole.in.size()]) =
          input ? call.whole.in[i] : call.whole.out[i - call.whole.in.size()];
      CHECK(call.inferred(known) == call.whole);
    }
    Known known = call.whole;
    for (Shape& shape : known.in) shape[0] = -1;
    known.out = call.nothing().out;
    Shape part = call.whole.out[0];
    part[0] = -1;
    CHECK(call.inferred(known).out[0] == part);
  }
}

TEST_CASE("what follows of the shapes of tensor operators is what the golden list says") {
  std::set<std::string> listed, lines;
  for (std::string_view rest = ops_test::inference; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    if (end != 0) listed.emplace(rest.substr(0, end));
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  for (const Entry* e : library())
    if (!e->is_gradient() && !(e->is_map() && e->infer_shape == nullptr)) lines.insert(line_of(*e));
  for (const std::string& line : lines) CHECK_MESSAGE(listed.contains(line), "not in the list: ", line);
  for (const std::string& line : listed) CHECK_MESSAGE(lines.contains(line), "no longer there: ", line);
}

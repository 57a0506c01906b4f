// SPDX-License-Identifier: Apache-2.0
/// \file
/// Constants: maps of arrays of one value are such arrays themselves, and what changes nothing is left out.
#pragma once
#include <strop/core/config.hpp>
#include <strop/graph/passes/known_graph.hpp>
#include <strop/graph/passes/list.hpp>
#include <strop/op/map_run.hpp>
#include <strop/op/names.hpp>
#include <strop/tensor/convert.hpp>
#include <strop/tensor/ndarray.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

namespace strop::inline v0::detail {

/// An array of one value.
struct ConstantOp {
  Shape shape = {};
  Dtype dtype = f32;
  double value = 0;
};

STROP_IMPL void fill_constant(const Call& call, Context&) {
  const NDArray& y = call.out[0];
  if (call.request(0) == Request::null || y.size() == 0) return;
  const Index size = size_of(y.dtype()), bytes = y.size() * size;
  std::byte* const to = y.bytes();
  convert_elements(f64, &static_cast<const ConstantOp*>(call.params)->value, y.dtype(), to, 1);
  for (Index done = size; done < bytes; done *= 2) copy_bytes(to + done, to, std::min(done, bytes - done));
}
constexpr Entry make_constant_entry() {
  Entry e;
  e.name = e.snake = e.qualified = "_constant";
  e.doc = "An array of one value.";
  e.library = true;
  e.inputs = e.min_inputs = 0;
  e.dtypes = any_dtype;
  e.params = &param_table<ConstantOp>;
  e.signature = [](const void*, int, Signature& s) { fill_signature({}, {}, {}, 0, 1, 1, s); };
  e.infer_shape = [](const void* op, Shapes& s) { s.set_out(0, static_cast<const ConstantOp*>(op)->shape); };
  e.infer_type = [](const void* op, Types& t) { t.set_out(0, static_cast<const ConstantOp*>(op)->dtype); };
  e.cpu.run[0] = &fill_constant;
  e.gradient.zero = true;
  return e;
}
inline constexpr Entry constant_entry = make_constant_entry();

class ConstantFolding {
 public:
  explicit ConstantFolding(const KnownGraph& graph) : graph_(graph), made_(graph), known_(graph.graph.values()) {}

  KnownGraph run() {
    for (int n = 0; n < graph_.graph.size(); ++n) {
      made_.keep(n);
      const Node& node = graph_.graph.node(n);
      if (!graph_.is_pure(n) || !is_dense(node)) continue;
      const bool full = node.entry->library && node.inputs.empty();
      if (full)
        known_[graph_.graph.value(n, 0)] = value_made(node);
      else if (const NodeOutput* same = unchanged(n); same != nullptr && !graph_.is_output_of(n))
        made_.replace(graph_.graph.value(n, 0), made_.moved(*same));
      else
        fold(n);
    }
    return made_.finish();
  }

 private:
  int value(const NodeOutput& of) const { return graph_.graph.value(of); }
  bool is_dense(const Node& node) const {
    for (const NodeOutput& in : node.inputs)
      if (!in.node || graph_.storages[value(in)] != dense) return false;
    for (int k = 0; k < node.outputs(); ++k)
      if (graph_.storages[graph_.graph.value(graph_.graph.find(&node), k)] != dense) return false;
    return true;
  }
  static std::optional<double> parameter(const Node& node, std::string_view name) {
    const auto field = node.entry->params->find(name);
    return field ? node.entry->params->number(node.op(), *field) : std::nullopt;
  }
  static std::optional<double> value_made(const Node& node) {
    const std::string_view name = node.entry->name;
    if (name == "_zeros") return 0;
    if (name == "_ones") return 1;
    const std::optional<double> made = name == "_full" ? parameter(node, "value") : std::nullopt;
    return made && std::abs(*made) < 0x1p53 ? made : std::nullopt;  // beyond, it may be a whole number with more digits
  }

  /// The input that a node's result is equal to, bit for bit; null where there is none. Of floating numbers x + 0 is
  /// not x where x is −0.
  const NodeOutput* unchanged(int n) const {
    const Node& node = graph_.graph.node(n);
    const Entry& entry = *node.entry;
    if (!entry.library || !entry.is_map() || node.outputs() != 1) return nullptr;
    const int out = graph_.graph.value(n, 0);
    const Dtype type = graph_.types[out];
    const bool floating_type = is_floating(type);
    const auto is = [](const std::optional<double>& x, double y) { return x && *x == y; };
    const auto neutral = [&](std::string_view what, const std::optional<double>& x, bool right) {
      if (type == i64) return false;  // which doubles do not hold
      if (what == "mul") return is(x, 1);
      if (what == "div") return right && is(x, 1);
      if (what == "sub" || what == "minus") return right && is(x, 0) && !std::signbit(*x);
      return (what == "add" || what == "plus") && is(x, 0) && (!floating_type || std::signbit(*x));
    };
    const auto fits = [&](const NodeOutput& in) {
      return graph_.shapes[value(in)] == graph_.shapes[out] && graph_.shapes[out].known() &&
             graph_.types[value(in)] == type;
    };
    const std::string_view name = entry.name;
    if (node.inputs.size() == 1) {
      const NodeOutput& x = node.inputs[0];
      if (!fits(x)) return nullptr;
      if (name == "_copy") return &x;
      if (!name.starts_with('_') || !name.ends_with("_scalar")) return nullptr;
      return neutral(name.substr(1, name.size() - 8), parameter(node, "scalar"), true) ? &x : nullptr;
    }
    if (node.inputs.size() != 2) return nullptr;
    const auto at = name.find('_');
    if (at == std::string_view::npos || (name.substr(0, at) != "elemwise" && name.substr(0, at) != "broadcast"))
      return nullptr;
    for (const int k : {0, 1})
      if (fits(node.inputs[k]) && neutral(name.substr(at + 1), known_[value(node.inputs[1 - k])], k == 0))
        return &node.inputs[k];
    return nullptr;
  }

  /// A map of constants is run once, on one element.
  void fold(int n) {
    const Node& node = graph_.graph.node(n);
    if (!node.entry->is_map()) return;
    const Index inputs = node.inputs.size(), outputs = node.outputs();
    List<double> room(inputs + outputs), results(outputs);  // 8 bytes each, of any type
    List<MapOperand> x, y;
    const auto operand = [&](int v, Index i) {
      return MapOperand{reinterpret_cast<std::byte*>(&room[i]), graph_.types[v], Shape{1}};
    };
    for (Index i = 0; i < inputs; ++i) {
      const int v = value(node.inputs[i]);
      if (!known_[v]) return;
      x.push_back(operand(v, i));
      convert_elements(f64, &*known_[v], x[i].dtype, x[i].data, 1);
    }
    for (Index k = 0; k < outputs; ++k) {
      const int v = graph_.graph.value(n, static_cast<int>(k));
      if (!graph_.shapes[v].known()) return;
      y.push_back(operand(v, inputs + k));
    }
    run_map(*node.entry, node.op(), Shape{1}, x.span(), y.span());
    for (Index k = 0; k < outputs; ++k) {
      convert_elements(y[k].dtype, y[k].data, f64, &results[k], 1);
      if (!returns(results[k], y[k])) return;
    }
    for (Index k = 0; k < outputs; ++k) {
      const int v = graph_.graph.value(n, static_cast<int>(k));
      known_[v] = results[k];
      const ConstantOp op{graph_.shapes[v], graph_.types[v], results[k]};
      const Ref<Node> constant(new Node);
      constant->name = node.name;
      constant->site = node.site;
      constant->entry = &constant_entry;
      constant->params = Ref(new ParamBox(constant_entry.params, &op));
      constant->signature = signature_of(constant_entry, &op, 0);
      constant->attributes = node.attributes;
      made_.replace(v, {constant, 0});
    }
  }
  /// Whether the double becomes the element that it came from.
  static bool returns(double value, const MapOperand& from) {
    std::byte again[8];
    convert_elements(f64, &value, from.dtype, again, 1);
    return std::memcmp(again, from.data, unsigned_size(size_of(from.dtype))) == 0;
  }

  const KnownGraph& graph_;
  Rewriting made_;
  List<std::optional<double>> known_;  // of each value, where it is one number everywhere
};

STROP_IMPL void fold_constants(KnownGraph& graph) { graph = ConstantFolding(graph).run(); }

}  // namespace strop::inline v0::detail

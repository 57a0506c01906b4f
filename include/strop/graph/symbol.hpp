// SPDX-License-Identifier: Apache-2.0
/// \file
/// Symbol: the handle of a symbolic expression. Operators called on symbols make nodes instead of computing.
#pragma once
#include <strop/fwd.hpp>
#include <strop/graph/naming.hpp>
#include <strop/graph/node.hpp>
#include <strop/op/op.hpp>

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strop::inline v0 {

namespace detail {
struct BoundGraph;
}

using NamedArrays = std::vector<std::pair<std::string, NDArray>>;
using NamedShapes = std::vector<std::pair<std::string, Shape>>;
using NamedTypes = std::vector<std::pair<std::string, Dtype>>;
using NamedStorages = std::vector<std::pair<std::string, Storage>>;
using NamedSymbols = std::vector<std::pair<std::string, Symbol>>;
using NamedDevices = std::vector<std::pair<std::string, Device>>;

namespace detail {
/// Where the name stands among `names`; throws Error with the nearest ones where it does not.
std::size_t place_of_name(const std::vector<std::string>& names, std::string_view name);
}  // namespace detail

/// What inference finds, in the order of list_arguments, list_outputs and list_auxiliary_states; and by name:
/// `net.infer_shape({{"data", {32, 784}}})["fc1_weight"]`.
template <class X>
struct Inferred {
  std::vector<X> args, outputs, aux;
  std::vector<std::string> names;  // of all, in this order
  /// Of the argument, output or auxiliary state of that name. Throws Error where there is none.
  X operator[](std::string_view name) const {
    const std::size_t i = detail::place_of_name(names, name);
    return i < args.size()                    ? args[i]
           : i < args.size() + outputs.size() ? outputs[i - args.size()]
                                              : aux[i - args.size() - outputs.size()];
  }
};

/// What happens to the gradients of arguments: one request for all, or one per name (arguments without one: null).
class GradRequests {
 public:
  GradRequests(GradRequest all) : all_(all) {}
  GradRequests(std::initializer_list<std::pair<std::string_view, GradRequest>> named);
  explicit GradRequests(std::span<const std::pair<std::string_view, GradRequest>> named);
  GradRequest of(std::string_view argument) const;

 private:
  friend struct detail::BoundGraph;
  GradRequest all_ = GradRequest::null;
  detail::List<std::pair<std::string, GradRequest>> named_;
};

/// What bind() and simple_bind() may be told besides: `{.group2ctx = {{"stage2", strop::cpu(1)}}}`.
struct BindOptions {
  /// Where nodes run whose attribute `ctx_group` is one of these names. Of the others a node runs where the first of
  /// its inputs that an operator computes lies, or else on the device of bind(). A value that is read elsewhere is
  /// copied.
  NamedDevices group2ctx = {};
  /// An executor that runs neither now nor at the same time as the new one: the values in between of both lie in the
  /// same memory, which is as large as the larger one needs.
  const Executor* shared = nullptr;
  /// Of simple_bind: arguments whose arrays and gradients are those that `shared` has under these names, as are
  /// auxiliary states then; shapes and types that differ get new ones.
  std::vector<std::string> shared_args = {};
  /// Of simple_bind: storages of arguments that are not as their variables say.
  NamedStorages storages = {};
  /// No value lies where another one has lain, but one computed in place of an input that nobody else reads: branches
  /// never wait for each other's memory where calls go to the engine. The arena is nearly as large as all values.
  bool side_by_side = false;
};

/// One or several outputs of a symbolic graph. Copying shares the graph; nothing is computed until it is bound. Several
/// threads may use it at once, and others that share nodes with it, but for set_attr(), which changes a node for all:
/// nobody else uses the node meanwhile.
///
/// ```cpp
/// auto net = quadratic(strop::var("data"), {.a = 1});
/// auto run = net.bind(strop::cpu(), {{"data", strop::array({1, 2})}});
/// run.forward()[0];   // [1, 4]
/// ```
class Symbol {
 public:
  /// No expression: as an input of an operator, one that becomes a variable of its own.
  Symbol() = default;
  /// Whether there is an expression.
  [[nodiscard]] bool defined() const { return !outputs_.empty(); }
  template <std::same_as<bool> B>
  constexpr explicit operator B() const {
    static_assert(!sizeof(B),
                  "strop: a symbol is no condition: a comparison of symbols is an expression as well, and s.defined() "
                  "asks whether there is one");
    return false;
  }

  /// The name of the node; empty for a group of several.
  std::string name() const;
  /// How many outputs it has.
  std::int64_t size() const { return outputs_.size(); }
  /// One output, by position or by its name in list_outputs(). Throws Error where there is none.
  Symbol operator[](std::int64_t i) const;
  Symbol operator[](std::string_view name) const;

  /// Names of the variables that it is computed from (depth first, inputs in their order), without auxiliary states.
  std::vector<std::string> list_arguments() const { return variables(false); }
  /// Names of the variables that its operators write while they compute, such as running statistics.
  std::vector<std::string> list_auxiliary_states() const { return variables(true); }
  /// Names of its outputs: "fc1_output".
  std::vector<std::string> list_outputs() const;
  /// Every visible output of every node, as a group to take outputs from: `net.get_internals()["fc1_output"]`.
  Symbol get_internals() const;
  /// The inputs of its nodes; empty for a variable.
  Symbol get_children() const;

  /// A parameter or an attribute of the node as text, or its `name`; empty where it has none so called, or the
  /// parameter is as by default and was not given as text.
  std::string attr(std::string_view key) const;
  /// Parameters that were given (as text as they were written, else those that differ from their defaults) and
  /// attributes of the node. An input that was made by itself has those of its operator. `ctx_group`, `lr_mult`,
  /// `wd_mult`, `force_mirroring` and `mirror_stage` stand there by that name and as `__lr_mult__`.
  NamedTexts list_attr() const;
  /// The same of all its nodes that have any, by their names.
  std::vector<std::pair<std::string, NamedTexts>> attr_dict() const;
  /// Sets an attribute of the node, for all that share it, or by `name` what it is called. A variable's `__shape__`,
  /// `__dtype__` and `__storage_type__` are what inference knows of it; there an extent of 0 is an unknown one, as in
  /// MXNet's texts. Throws Error where such a text is none.
  void set_attr(std::string_view key, std::string_view text) const;

  /// The same expression with other expressions in place of its variables: `net({{"data", features}})`.
  Symbol operator()(const NamedSymbols& replacements) const;
  /// The same expression with nodes of its own: attributes that are set here stay here.
  Symbol copy() const;

  /// Shapes of everything from the shapes of some arguments, forwards and backwards until nothing more follows. Throws
  /// Error for a contradiction, naming node, argument and both values, and where something stays unknown.
  Inferred<Shape> infer_shape(const NamedShapes& known) const;
  /// The same, where shapes may stay unknown in part (extents of −1).
  Inferred<Shape> infer_shape_partial(const NamedShapes& known) const;
  /// Element types; arguments of which nothing follows are float32.
  Inferred<Dtype> infer_type(const NamedTypes& known = {}) const;
  /// The same, with nothing where nothing follows.
  Inferred<std::optional<Dtype>> infer_type_partial(const NamedTypes& known = {}) const;
  /// Storages; arguments are dense unless said.
  Inferred<Storage> infer_storage(const NamedStorages& known = {}) const;

  /// Makes it executable with these arrays as arguments and auxiliary states; Executor is in graph/executor.hpp. Throws
  /// Error where one is missing or unknown, or shapes or types contradict each other.
  Executor bind(Device device, const NamedArrays& args) const;
  /// The same with arrays that gradients go to: those of arguments without one are not computed. With groups in the
  /// options, arguments may lie on any of the devices.
  Executor bind(Device device, const NamedArrays& args, const NamedArrays& grads,
                const GradRequests& requests = GradRequest::write, const NamedArrays& aux = {},
                const BindOptions& options = {}) const;
  /// Makes it executable with new arrays of zeros, whose shapes follow from those given. Arguments of floating types
  /// get gradients as requested; those of a group in the options lie on its device.
  Executor simple_bind(Device device, const NamedShapes& shapes, const GradRequests& requests = GradRequest::write,
                       const NamedTypes& types = {}, const BindOptions& options = {}) const;

  /// The symbol as text, in the layout of MXNet's version 1.7: nodes behind their inputs, parameters that differ
  /// from their defaults, attributes under `__key__`. Throws Error where a node is a gradient, its operator is not
  /// found by its name, or a name is not UTF-8.
  std::string to_json() const;
  /// The symbol that such a text describes, of MXNet 1.9 or any earlier version (0.8 on); what older
  /// versions wrote differently is brought up to date. Operators are looked up by name. Throws Error with the line and
  /// column or the node where the text is wrong, and one that names every operator that the program lacks.
  static Symbol from_json(std::string_view text);
  /// to_json() in a file, which is complete or, where an Error is thrown, as it was before.
  void save(const std::string& path) const;
  /// from_json() of a file.
  static Symbol load(const std::string& path);

  // For the layers above.
  explicit Symbol(detail::NodeOutput output) { outputs_.push_back(std::move(output)); }
  explicit Symbol(detail::NodeOutputs outputs) : outputs_(std::move(outputs)) {}
  const detail::NodeOutputs& outputs() const { return outputs_; }

 private:
  std::vector<std::string> variables(bool auxiliary) const;
  detail::Node& only_node(const char* what) const;

  detail::NodeOutputs outputs_;
};

namespace detail {
/// A node of the operator on these inputs; inputs that are missing become variables. `said`: parameters that were given
/// as text, by their names.
/// Throws Error where the shapes of the operator's results follow from the data.
void refuse_found(const Entry& entry);
Symbol build_node(const Entry& entry, Ref<ParamBox> params, std::span<const Symbol> in, std::string_view name,
                  NamedTexts said = {});
}  // namespace detail

/// A variable: an argument of every graph that uses it, or a state where an operator writes it.
Symbol var(std::string_view name, const Variable& options = {});

/// The outputs of several symbols as one.
Symbol group(std::span<const Symbol> symbols);
inline Symbol group(std::initializer_list<Symbol> symbols) {
  return group(std::span<const Symbol>(symbols.begin(), symbols.size()));
}

/// An input of compose(): the next one in order, or one by name.
struct InputSymbol {
  std::string_view name;
  Symbol symbol;
  InputSymbol(Symbol s) : symbol(std::move(s)) {}
  InputSymbol(std::string_view n, Symbol s) : name(n), symbol(std::move(s)) {}
};

/// The operator called `name` on symbols, its parameters as text:
/// `strop::compose("FullyConnected", {data, {"bias", b}}, {{"num_hidden", "10"}}, "fc1")`. Inputs that are not given
/// become variables called `<node>_<input>`. Throws Error for an unknown operator, input or parameter, naming the
/// nearest ones.
Symbol compose(std::string_view name, std::initializer_list<InputSymbol> inputs, Attributes params = {},
               std::string_view node_name = {});

}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/graph/infer_impl.hpp>
#include <strop/graph/json_read_impl.hpp>
#include <strop/graph/json_write_impl.hpp>
#include <strop/graph/symbol_impl.hpp>
#endif

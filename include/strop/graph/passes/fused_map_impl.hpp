// SPDX-License-Identifier: Apache-2.0
/// \file
/// How a fused map is put together, and its loop.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/text.hpp>
#include <strop/graph/passes/fused_map.hpp>
#include <strop/memory/stream.hpp>
#include <strop/number/facts.hpp>
#include <strop/op/gradient_roles.hpp>
#include <strop/op/map_infer.hpp>
#include <strop/op/map_run.hpp>
#include <strop/op/names.hpp>
#include <strop/tensor/convert.hpp>
#include <strop/tensor/element_loops.hpp>

#include <algorithm>
#include <bit>
#include <string>
#include <string_view>
#include <utility>

namespace strop::inline v0::detail {

/// Bytes of all blocks of a call, which stay in a first cache of 32 KiB or more, and of one: a loop has to be worth its
/// call.
inline constexpr Index fused_room = 24 << 10, fused_block_bytes = 8192;
/// Between blocks, so that equal places of two of them do not differ by 4096 bytes, which processors take for one.
inline constexpr Index fused_gap = 64;
inline constexpr int most_fused_places = 256;

STROP_IMPL MapLoop usual_loop(const Entry& entry, const void* op, Dtype stored) {
  const Dtype type = usual_compute_type(stored);
  if (!entry.is_map() || entry.whole != 0 || !entry.dtypes.contains(stored) || compute_type(entry, op, stored) != type)
    return nullptr;
  if (entry.loops.leaves != nullptr && entry.loops.leaves(op, stored)) return nullptr;  // rare: a fused map wraps
  return type == f32 ? entry.loops.f32 : type == f64 ? entry.loops.f64 : entry.loops.i64;
}

STROP_IMPL bool is_costly(const Node& node) {
  const auto operations = node.entry->facts.operations;
  return operations != nullptr && operations(node.op()) >= number::function_operations;
}

/// Results of a step as they would come back from an array: narrowed to its type, and widened again.
STROP_IMPL void round_block(const FusedCode& code, bool doubles, std::byte* block, std::byte* narrow, Index n) {
  const Dtype from = doubles ? f64 : code.computed;
  if (from == i64)
    store_integers(code.stored, reinterpret_cast<const std::int64_t*>(block), narrow, n);
  else
    convert_elements(from, block, code.stored, narrow, n);
  if (code.computed == i64)
    load_integers(code.stored, narrow, reinterpret_cast<std::int64_t*>(block), n);
  else
    convert_elements(code.stored, narrow, code.computed, block, n);
}

/// The loop of a fused map over n contiguous elements.
STROP_IMPL void run_fused(const FusedCode& code, const void* const* in, void* const* out, Index n) {
  alignas(64) std::byte room[fused_room];
  std::byte* place[most_fused_places];
  bool staged[most_fused_places];
  const Index size = size_of(code.computed), bytes = code.block * size;
  const bool past =
      past_caches && !code.cached;  // results that nobody reads soon go round the caches, a block at a time
  past_caches = false;
  std::byte* next = room;
  const auto take = [&] { return std::exchange(next, next + bytes + fused_gap); };
  std::byte* const narrow = code.rounds ? take() : nullptr;
  for (int i = 0; i < code.inputs; ++i) place[i] = static_cast<std::byte*>(const_cast<void*>(in[i]));
  for (int k = 0; k < code.outputs; ++k) {
    staged[k] = past;
    // A result in the memory of an input waits until the input has been read.
    for (int i = 0; i < code.inputs; ++i)
      staged[k] = staged[k] || (in[i] == out[k] && code.last_read[i] > code.first_written[k]);
    place[code.inputs + k] = staged[k] ? take() : static_cast<std::byte*>(out[k]);
  }
  for (int b = 0; b < code.buffers; ++b) place[code.inputs + code.outputs + b] = take();
  place[code.inputs + code.outputs + code.buffers] = unread;

  for (Index at = 0; at < n; at += code.block) {
    const Index count = std::min(code.block, n - at);
    // The next block comes from memory while this one is computed, a part at each step.
    const Index ahead = past ? std::min(code.block, n - at - count) * size : 0;
    const Index part = (ahead / code.steps.size() + 63) / 64 * 64;
    Index asked = 0;
    for (const FusedStep& step : code.steps) {
      for (const Index end = std::min(asked + part, ahead); asked < end; asked += 64)
        for (int i = 0; i < code.inputs; ++i) __builtin_prefetch(place[i] + count * size + asked);
      const void* x[most_fused_inputs * 3];
      void* y[most_fused_outputs];
      const int* operand = code.operands.data() + step.first;
      for (int i = 0; i < step.inputs; ++i) x[i] = place[*operand++];
      for (int k = 0; k < step.outputs; ++k) y[k] = place[*operand++];
      step.loop(step.op, x, y, count);
      if (step.rounds != 0)
        for (int k = 0; k < step.outputs; ++k)
          if ((step.rounds >> k & 1U) != 0)
            round_block(code, step.gives_f64, static_cast<std::byte*>(y[k]), narrow, count);
    }
    for (int i = 0; i < code.inputs; ++i) place[i] += count * size;
    for (int k = 0; k < code.outputs; ++k) {
      std::byte*& here = place[code.inputs + k];
      if (!staged[k])
        here += count * size;
      else if (past)
        memory::stream_part(static_cast<std::byte*>(out[k]) + at * size, here, count * size);
      else
        copy_bytes(static_cast<std::byte*>(out[k]) + at * size, here, count * size);
    }
  }
  if (past) memory::stream_end();
  past_caches = past;
}

template <bool Backward>
void fused_loop(const void* op, const void* const* in, void* const* out, std::int64_t n) {
  const FusedProgram& program = *static_cast<const FusedOp*>(op)->program;
  run_fused(Backward ? program.backward : program.forward, in, out, n);
}

inline constexpr ParamTable fused_table{
    {},
    {},
    sizeof(FusedOp),
    alignof(FusedOp),
    [](const ParamTable&, void* p) { ::new (p) FusedOp{}; },
    [](const ParamTable&, void* to, const void* from) { ::new (to) FusedOp(*static_cast<const FusedOp*>(from)); },
    [](const ParamTable&, void* p) { static_cast<FusedOp*>(p)->~FusedOp(); },
    [](const ParamTable&, void* object, std::size_t) { return object; },
    false};

/// Steps on numbered values, before these have places. Value `zeros` is what a derivative does not depend on.
class FusedCoder {
 public:
  static constexpr int zeros = -1;
  struct Step {
    MapLoop loop;
    const void* op;
    List<int, 4> in, out;
    bool gives_f64 = false, runs = false;
  };

  FusedCoder(const FusedParts& parts, int inputs) : inputs_(inputs), values_(inputs) {
    code_.stored = parts.stored;
    code_.computed = usual_compute_type(parts.stored);
    code_.cached = parts.cached;
  }
  int value() { return values_++; }
  void expect(Index steps) { steps_.reserve(steps_.size() + steps); }
  void step(Step step) { steps_.push_back(std::move(step)); }
  /// A map's loop; its results are new values, of which the first is given back.
  int apply(const Entry& entry, const void* op, List<int, 4> in, Index results) {
    Step made{usual_loop(entry, op, code_.stored), op, std::move(in), {}};
    made.gives_f64 = code_.computed == i64 && entry.loops.i64_gives_f64;
    const int first = values_;
    for (Index k = 0; k < results; ++k) made.out.push_back(value());
    step(std::move(made));
    return first;
  }
  /// a + b, in the type of the loops.
  int sum(int a, int b) {
    static constexpr MapLoop loops[] = {&add_loop<f32>, &add_loop<f64>, &add_loop<i64>};
    const int total = value();
    step({loops[code_.computed == f32 ? 0 : code_.computed == f64 ? 1 : 2], nullptr, {a, b}, {total}});
    return total;
  }
  int zero() {
    const int made = value();
    step({size_of(code_.computed) == 4 ? &clear_loop<4> : &clear_loop<8>, nullptr, {}, {made}});
    return made;
  }

  /// Which inputs the outputs depend on, a bit each; steps that they do not depend on are dropped.
  std::uint64_t depend(const List<int>& outputs) {
    List<bool> read(values_);
    for (int v : outputs) read[v] = true;
    for (Index s = steps_.size(); s-- > 0;) {
      for (int v : steps_[s].out) steps_[s].runs = steps_[s].runs || read[v];
      for (int v : steps_[s].in)
        if (v != zeros) read[v] = read[v] || steps_[s].runs;
    }
    std::uint64_t bits = 0;
    for (int i = 0; i < inputs_; ++i)
      if (read[i]) bits |= std::uint64_t{1} << i;
    return bits;
  }

  /// Gives every value a place. `inputs` are the inputs that are there, in their order. False where there is no room.
  bool place(const List<int>& inputs, const List<int>& outputs, FusedCode& code) {
    code = std::move(code_);
    code.inputs = static_cast<int>(inputs.size());
    code.outputs = static_cast<int>(outputs.size());
    const int buffers_at = code.inputs + code.outputs;
    List<int> at(values_, -1), last(values_, -1), vacant;
    code.last_read = List<int>(code.inputs, -1);
    code.first_written = List<int>(code.outputs, -1);
    for (int i = 0; i < code.inputs; ++i) at[inputs[i]] = i;
    for (int k = 0; k < code.outputs; ++k) at[outputs[k]] = code.inputs + k;
    int n = 0;
    for (Step& step : steps_)
      if (step.runs) {
        for (int v : step.in)
          if (v != zeros) last[v] = n;
        ++n;
      }
    code.steps.reserve(n);
    n = 0;
    for (Step& step : steps_) {
      if (!step.runs) continue;
      FusedStep made{step.loop,
                     step.op,
                     static_cast<int>(code.operands.size()),
                     static_cast<int>(step.in.size()),
                     static_cast<int>(step.out.size()),
                     step.gives_f64};
      for (int v : step.in) {
        code.operands.push_back(v == zeros ? -1 : at[v]);
        if (v != zeros && at[v] < code.inputs) code.last_read[at[v]] = n;
      }
      // A loop reads an element before it writes it: what is read for the last time makes room for the results.
      for (Index i = 0; i < step.in.size(); ++i) {
        const int v = step.in[i];
        if (v == zeros || last[v] != n || at[v] < buffers_at) continue;
        vacant.push_back(at[v]);
        last[v] = -1;
      }
      for (Index k = 0; k < step.out.size(); ++k) {
        const int v = step.out[k];
        if (at[v] < 0) {
          if (vacant.empty()) vacant.push_back(buffers_at + code.buffers++);
          at[v] = vacant.back();
          vacant.pop_back();
        } else {
          code.first_written[at[v] - code.inputs] = n;
        }
        code.operands.push_back(at[v]);
        const bool again = last[v] > n && code.stored != code.computed;
        if (again || step.gives_f64) made.rounds |= std::uint64_t{1} << k, code.rounds = true;
      }
      for (int v : step.out)
        if (last[v] < 0 && at[v] >= buffers_at) vacant.push_back(at[v]);  // nobody reads it
      code.steps.push_back(made);
      ++n;
    }
    const int places = buffers_at + code.buffers + 1;
    for (int& operand : code.operands)
      if (operand == zeros) operand = places - 1;
    // Within the caches a result waits in a block only where it is in the memory of an input.
    const int waiting = code.cached ? std::min(code.inputs, code.outputs) : code.outputs;
    const int blocks = code.buffers + waiting + (code.rounds ? 1 : 0);
    const Index each = fused_room / std::max(blocks, 1) / 64 * 64 - fused_gap;
    code.block = std::min(each, fused_block_bytes) / size_of(code.computed);
    return places <= most_fused_places && each >= 256;
  }

 private:
  template <Dtype Type>
  static void add_loop(const void*, const void* const* in, void* const* out, std::int64_t n) {
    element_loops().add(Type, in[0], in[1], out[0], n);
  }
  template <int Size>
  static void clear_loop(const void*, const void* const*, void* const* out, std::int64_t n) {
    clear_bytes(out[0], n * Size);
  }

  FusedCode code_;
  List<Step> steps_;
  int inputs_, values_;
};

/// The members' loops on values, of which those of the fused map have these numbers.
STROP_IMPL void code_members(const FusedParts& parts, FusedCoder& coder, List<int>& values) {
  coder.expect(parts.members.size());
  for (const FusedMember& member : parts.members) {
    List<int, 4> in;
    for (int v : member.in) in.push_back(values[v]);
    const int results = member.node->outputs();
    const int first = coder.apply(*member.node->entry, member.node->op(), std::move(in), results);
    for (int k = 0; k < results; ++k) values.push_back(first + k);
  }
}

/// The gradient of one member: contributions to the gradients of its inputs, added in the order in which a graph whose
/// maps stand by themselves adds them.
STROP_IMPL void code_gradient(const FusedParts& parts, const FusedMember& member, FusedCoder& coder,
                              const List<int>& values, List<int>& gradients) {
  const Node& node = *member.node;
  const GradientRule& rule = node.entry->gradient;
  bool reached = false;
  for (int k = 0; k < node.outputs(); ++k) reached = reached || gradients[member.first_out + k] >= 0;
  if (!reached || !member.leads || rule.zero) return;
  const Dtype type = usual_compute_type(parts.stored);
  const std::uint64_t kept = node.entry->facts.kept != nullptr ? node.entry->facts.kept(node.op(), type) : every;
  const GradientRoles roles = gradient_roles(rule, node.inputs.size(), node.outputs());
  List<int, 4> in;
  for (const GradientArgument& argument : roles.takes) {
    if (argument.role == Role::head) {
      int& head = gradients[member.first_out + argument.at];
      if (head < 0) head = coder.zero();
      in.push_back(head);
    } else if (argument.role == Role::in) {
      in.push_back(in_mask(kept, argument.at) ? values[member.in[argument.at]] : FusedCoder::zeros);
    } else {
      in.push_back(values[member.first_out + argument.at]);
    }
  }
  int made = coder.apply(*rule.entry, node.op(), std::move(in), roles.gives.size());
  for (int k : roles.gives) {
    const int of = member.in[k];
    if (parts.wanted[of]) gradients[of] = gradients[of] < 0 ? made : coder.sum(gradients[of], made);
    ++made;
  }
}

/// The gradient in the making: its code, the gradients of the inputs (−1 where there is none) and what it reads.
struct FusedBackward {
  FusedCoder coder;
  List<int> gradients;
  std::uint64_t read = 0;
};

/// `from_outputs`: results of the map that are there anyway are read rather than computed again; else only those that
/// cost more than that.
STROP_IMPL FusedBackward code_gradients(const FusedParts& parts, List<int> gradients, int heads, bool from_outputs) {
  const int outs_at = heads + parts.inputs;
  FusedBackward made{FusedCoder(parts, outs_at + static_cast<int>(parts.outputs.size())), {}, 0};
  List<int> values;
  for (int i = 0; i < parts.inputs; ++i) values.push_back(heads + i);
  code_members(parts, made.coder, values);
  for (const FusedMember& member : parts.members)
    for (Index k = 0; k < parts.outputs.size(); ++k)
      if (const int v = parts.outputs[k];
          (member.costly || from_outputs) && v >= member.first_out && v < member.first_out + member.node->outputs())
        values[v] = outs_at + static_cast<int>(k);
  made.coder.expect(parts.members.size());
  for (Index m = parts.members.size(); m-- > 0;) code_gradient(parts, parts.members[m], made.coder, values, gradients);
  List<int> outputs;
  for (int i = 0; i < parts.inputs; ++i)
    if (gradients[i] >= 0) outputs.push_back(gradients[i]);
  made.read = outputs.empty() ? 0 : made.coder.depend(outputs);
  made.gradients = std::move(gradients);
  return made;
}

/// Inputs that an output was computed from.
STROP_IMPL std::uint64_t sources_of(const FusedParts& parts, int output) {
  List<bool> is_source(parts.wanted.size(), false);
  is_source[output] = true;
  for (Index m = parts.members.size(); m-- > 0;) {
    const FusedMember& member = parts.members[m];
    bool needed = false;
    for (int k = 0; k < member.node->outputs(); ++k) needed = needed || is_source[member.first_out + k];
    for (Index i = 0; i < member.in.size() && needed; ++i) is_source[member.in[i]] = true;
  }
  std::uint64_t found = 0;
  for (int i = 0; i < parts.inputs; ++i)
    if (is_source[i]) found |= std::uint64_t{1} << i;
  return found;
}

/// The gradient: a map of the head gradients and of what it reads of inputs and outputs, beyond the caches as little as
/// it can be.
STROP_IMPL bool code_backward(const FusedParts& parts, FusedProgram& program) {
  GradientRule& rule = program.entry.gradient;
  List<int> heads(parts.wanted.size(), -1), inputs, outputs;
  for (Index k = 0; k < parts.outputs.size(); ++k)
    if (parts.wanted[parts.outputs[k]] && !in_mask(parts.inner, static_cast<int>(k))) {
      heads[parts.outputs[k]] = program.heads++;
      rule.heads |= std::uint64_t{1} << k;
    }
  const int outs_at = program.heads + parts.inputs, given = outs_at + static_cast<int>(parts.outputs.size());
  FusedBackward made = code_gradients(parts, heads, program.heads, true);
  if (!parts.cached) {
    FusedBackward other = code_gradients(parts, heads, program.heads, false);
    if (std::popcount(other.read >> program.heads) <= std::popcount(made.read >> program.heads))
      made = std::move(other);
  }
  for (int i = 0; i < parts.inputs; ++i)
    if (made.gradients[i] >= 0) {
      outputs.push_back(made.gradients[i]);
      rule.gives |= std::uint64_t{1} << i;
    }
  rule.zero = outputs.empty();
  if (rule.zero) {
    rule.heads = 0;
    return true;
  }
  for (int i = 0; i < given; ++i) {
    if (i >= program.heads && (made.read >> i & 1U) == 0) continue;
    inputs.push_back(i);
    if (i >= outs_at)
      rule.out |= std::uint64_t{1} << (i - outs_at);
    else if (i >= program.heads)
      rule.in |= std::uint64_t{1} << (i - program.heads);
  }
  rule.entry = &program.gradient_entry;
  return made.coder.place(inputs, outputs, program.backward);
}

STROP_IMPL const FusedProgram& fused_program(const void* op) { return *static_cast<const FusedOp*>(op)->program; }

STROP_IMPL bool is_fused(const Node& node) {
  return node.entry->params == &fused_table && node.entry == &fused_program(node.op()).entry;
}
STROP_IMPL std::uint64_t sources_of(const Node& node, int output) {
  return is_fused(node) ? fused_program(node.op()).sources[output] : every;
}

STROP_IMPL void fused_entry(Entry& e, std::string_view name, const FusedCode& code, MapLoop loop) {
  e.name = e.snake = e.qualified = name;
  e.params = &fused_table;
  e.library = true;
  e.inputs = e.min_inputs = code.inputs;
  e.outputs = e.visible = code.outputs;
  e.dtypes = code.stored;
  (code.computed == f32 ? e.loops.f32 : code.computed == f64 ? e.loops.f64 : e.loops.i64) = loop;
}

STROP_IMPL Ref<Node> fused_node(const FusedParts& parts) {
  const Ref<FusedProgram> program(new FusedProgram);
  List<int> values, inputs, outputs;
  for (int i = 0; i < parts.inputs; ++i) values.push_back(i), inputs.push_back(i);
  FusedCoder coder(parts, parts.inputs);
  code_members(parts, coder, values);
  for (int v : parts.outputs) outputs.push_back(values[v]), program->sources.push_back(sources_of(parts, v));
  coder.depend(outputs);
  if (!coder.place(inputs, outputs, program->forward) || !code_backward(parts, *program)) return {};

  const Node& last = *parts.members.back().node;
  for (const FusedMember& member : parts.members) {
    program->params.push_back(member.node->params);
    program->doc += cat(program->doc.empty() ? "" : ", ", member.node->name);
    for (int v : parts.outputs)
      if (const int k = v - member.first_out; k >= 0 && k < member.node->outputs())
        program->output_names.push_back(member.node.get() == &last ? std::string(element(last.signature.outputs, k))
                                                                   : member.node->output_name(k));
  }
  Entry& entry = program->entry;
  fused_entry(entry, "_fused_maps", program->forward, &fused_loop<false>);
  entry.doc = program->doc;
  entry.signature = [](const void* op, int, Signature& s) {
    const FusedProgram& self = fused_program(op);
    fill_signature({}, {}, {}, self.forward.inputs, self.forward.outputs, self.forward.outputs, s);
    for (Index k = 0; k < self.output_names.size(); ++k) element(s.outputs, k) = self.output_names[k];
  };
  if (!entry.gradient.zero) {
    Entry& gradient = program->gradient_entry;
    fused_entry(gradient, "_backward__fused_maps", program->backward, &fused_loop<true>);
    gradient.order = 1;
    gradient.infer_shape = [](const void*, Shapes& shapes) { infer_gradient_shape(shapes, 0, 0, 0); };
    gradient.signature = [](const void* op, int, Signature& s) {
      const FusedProgram& self = fused_program(op);
      fill_signature({}, {}, {}, self.backward.inputs, self.backward.outputs, self.backward.outputs, s);
    };
  }

  const Ref<Node> node(new Node);
  node->name = last.name;
  node->site = last.site;
  node->entry = &entry;
  const FusedOp op{program};
  node->params = Ref(new ParamBox(&fused_table, &op));
  node->signature = signature_of(entry, &op, parts.inputs);
  node->attributes = last.attributes;
  node->attributes.push_back({"__fused__", program->doc});
  return node;
}

}  // namespace strop::inline v0::detail

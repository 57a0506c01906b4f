// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the command's card says of an operator, for its document: gradient, storages, cost and a call that works.
#include "../card.hpp"

#include "python.hpp"

#include <strop/memory/random.hpp>

#include <array>
#include <optional>

namespace strop::python {
namespace {

nb::object list_of(const auto& values, auto one) {
  nb::list all;
  for (const auto& value : values) all.append(one(value));
  return all;
}
nb::object texts(const std::vector<std::string>& words) {
  return list_of(words, [](const std::string& word) { return to_text(word); });
}

/// The call of the row: its parameters, and how its inputs are made; None where no row says how it is called.
nb::object example_of(const command::Card& card) {
  if (!card.row) return nb::none();
  nb::dict example, params;
  for (const auto& [name, value] : card.call) params[to_text(name)] = to_text(value);
  nb::list inputs;
  const std::vector<std::string> names = card.example_names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const verify::Sample& sample = card.row->in[i];
    nb::dict input;
    input["name"] = to_text(names[i]);
    input["shape"] = nb::steal(shape_tuple(sample.shape));
    input["storage"] = to_text(name_of(sample.storage));
    input["low"] = sample.low;
    input["high"] = sample.high;
    input["positions"] = sample.positions;
    input["elements"] = list_of(sample.elements, [](double element) { return nb::float_(element); });
    inputs.append(input);
  }
  example["params"] = params;
  example["inputs"] = inputs;
  return example;
}

}  // namespace

nb::dict card_of(const Entry& entry) {
  const command::Card card(entry);
  nb::dict all;
  all["gradient"] = to_text(card.gradient());
  all["differentiated"] = texts(card.differentiated());
  const std::optional<int> orders = card.orders();
  all["orders"] = orders ? nb::object(nb::int_(*orders)) : nb::none();
  all["storages"] = texts(card.storages());
  all["cost"] = to_text(card.cost());
  all["example"] = example_of(card);
  return all;
}

nb::tuple with_own_numbers(std::uint64_t seed, nb::callable function) {
  std::array<random::Stream, 64> streams;  // more than an example takes
  for (std::size_t i = 0; i < streams.size(); ++i) streams[i] = {seed, 0, i};
  const random::Replay own(streams);
  const std::uint64_t before = random::detail::streams_taken();
  const nb::object result = function();
  return nb::make_tuple(result, random::detail::streams_taken() != before);
}

}  // namespace strop::python

// SPDX-License-Identifier: Apache-2.0
/// \file
/// Checkpoints as MXNet writes them: a symbol file and, for each epoch, a file of parameters.
#pragma once
#include <strop/graph/symbol.hpp>

#include <string>

namespace strop::inline v0 {

/// A network with the arrays that it was trained to.
struct Checkpoint {
  Symbol symbol;
  NamedArrays args, aux;
};

/// Writes `<prefix>-symbol.json` and `<prefix>-0003.params` (of epoch 3; arrays under `arg:<name>` and `aux:<name>`),
/// which MXNet's `mx.model.load_checkpoint` reads. Each file is complete or, where an Error is thrown, as it was
/// before. Throws Error for a negative epoch, a name that is given twice, and where a file cannot be written.
///
/// ```cpp
/// strop::save_checkpoint("lenet", 3, net, {{"fc1_weight", w}, {"fc1_bias", b}});
/// auto [net, args, aux] = strop::load_checkpoint("lenet", 3);
/// auto run = net.simple_bind(strop::cpu(), {{"data", {1, 784}}}, strop::GradRequest::null);
/// run.copy_params_from(args, aux);
/// ```
void save_checkpoint(const std::string& prefix, int epoch, const Symbol& symbol, const NamedArrays& args,
                     const NamedArrays& aux = {});

/// What save_checkpoint, here or in MXNet, has written. Throws Error where a file is missing or wrong, naming
/// it.
Checkpoint load_checkpoint(const std::string& prefix, int epoch);

}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/graph/checkpoint_impl.hpp>
#endif

// SPDX-License-Identifier: Apache-2.0
/// \file
/// The part of the runtime that calls operators: registry, dispatch, shared libraries, optimizers, stores.
/// strop/source.hpp includes every part.
#pragma once
#include <strop/core/push_macros.def>

#include <strop/strop.hpp>

#include <strop/kvstore/compression_impl.hpp>
#include <strop/kvstore/exchange_impl.hpp>
#include <strop/kvstore/kvstore_impl.hpp>
#include <strop/kvstore/mpi_impl.hpp>
#include <strop/kvstore/reduce_impl.hpp>
#include <strop/kvstore/shards_impl.hpp>
#include <strop/kvstore/state_impl.hpp>
#include <strop/kvstore/stored_impl.hpp>
#include <strop/kvstore/updater_impl.hpp>
#include <strop/library/export_impl.hpp>
#include <strop/library/load_impl.hpp>
#include <strop/library/plugin_impl.hpp>
#include <strop/op/add_impl.hpp>
#include <strop/op/apart_impl.hpp>
#include <strop/op/call_impl.hpp>
#include <strop/op/deferred_impl.hpp>
#include <strop/op/describe_impl.hpp>
#include <strop/op/devices_impl.hpp>
#include <strop/op/dispatch_impl.hpp>
#include <strop/op/execute_impl.hpp>
#include <strop/op/fallback_impl.hpp>
#include <strop/op/higher_impl.hpp>
#include <strop/op/infer_call_impl.hpp>
#include <strop/op/map_infer_impl.hpp>
#include <strop/op/map_run_impl.hpp>
#include <strop/op/map_sparse_impl.hpp>
#include <strop/op/names_impl.hpp>
#include <strop/op/place_impl.hpp>
#include <strop/op/plan_impl.hpp>
#include <strop/op/recent_impl.hpp>
#include <strop/op/recordable_impl.hpp>
#include <strop/op/registry_impl.hpp>
#include <strop/op/stored_pattern_impl.hpp>
#include <strop/optim/adam_impl.hpp>
#include <strop/optim/optimizer_impl.hpp>
#include <strop/optim/schedule_impl.hpp>
#include <strop/optim/updater_impl.hpp>

#include <strop/core/pop_macros.def>

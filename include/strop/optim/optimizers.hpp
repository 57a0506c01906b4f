// SPDX-License-Identifier: Apache-2.0
/// \file
/// Every optimizer of the library, the schedules, and Optimizer and Updater.
#pragma once
#include <strop/core/push_macros.def>

#include <strop/optim/adagrad.hpp>
#include <strop/optim/adam.hpp>
#include <strop/optim/lars.hpp>
#include <strop/optim/optimizer.hpp>
#include <strop/optim/schedule.hpp>
#include <strop/optim/sgd.hpp>

#include <strop/core/pop_macros.def>

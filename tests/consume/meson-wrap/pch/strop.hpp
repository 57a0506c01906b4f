// SPDX-License-Identifier: Apache-2.0
/// \file
/// What is read once for all files of the project.
#include <strop/strop.hpp>

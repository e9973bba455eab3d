// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "cli/verbs.hpp"

namespace entrain::net {

/// `entrain net`: names the verbs below.
std::unique_ptr<cli::Verb> make_net();
/// `entrain net bound`.
std::unique_ptr<cli::Verb> make_bound();
/// `entrain net schedule TOPOLOGY`.
std::unique_ptr<cli::Verb> make_schedule();
/// `entrain net simulate TOPOLOGY`.
std::unique_ptr<cli::Verb> make_simulate();
/// `entrain net tables`.
std::unique_ptr<cli::Verb> make_tables();

}  // namespace entrain::net

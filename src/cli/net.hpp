// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "cli/verb.hpp"

namespace entrain::cli {

/// `entrain net`: says which verbs follow.
std::unique_ptr<Verb> make_net();
/// `entrain net bound`.
std::unique_ptr<Verb> make_net_bound();
/// `entrain net schedule TOPOLOGY`.
std::unique_ptr<Verb> make_net_schedule();
/// `entrain net simulate TOPOLOGY`.
std::unique_ptr<Verb> make_net_simulate();
/// `entrain net tables`.
std::unique_ptr<Verb> make_net_tables();

}  // namespace entrain::cli

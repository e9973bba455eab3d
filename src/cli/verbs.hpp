// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "cli/verb.hpp"

/// The verbs of the tool: make_check() makes `entrain check`. Those of products have headers of
/// their own.
namespace entrain::cli {

std::unique_ptr<Verb> make_align();
std::unique_ptr<Verb> make_apply();
std::unique_ptr<Verb> make_check();
std::unique_ptr<Verb> make_clocks();
std::unique_ptr<Verb> make_compare();
std::unique_ptr<Verb> make_correct();
std::unique_ptr<Verb> make_edges();
std::unique_ptr<Verb> make_export();
std::unique_ptr<Verb> make_fit();
std::unique_ptr<Verb> make_info();
std::unique_ptr<Verb> make_merge();
std::unique_ptr<Verb> make_report();
std::unique_ptr<Verb> make_stragglers();
std::unique_ptr<Verb> make_summarise();

}  // namespace entrain::cli
